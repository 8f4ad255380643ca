//! Permissions that roles do not show: the API server is asked.

use std::collections::BTreeSet;

use crate::context::Ctx;
use dra_model::Cluster;
use dra_reports::findings::{self, Code};

/// Asks the API server what no role allows the drivers that are suspected to lack it: another authorizer may, or roles could not be read.
pub(super) async fn ask(ctx: &Ctx, cluster: &mut Cluster, codes: &BTreeSet<Code>) -> anyhow::Result<()> {
    /// Each answer can lead to another question: the rights for slices, then two verbs on the status, each with two on the driver.
    const ROUNDS: usize = 8;
    /// Of one round; a cluster has few drivers.
    const MOST: usize = 200;
    for _ in 0..ROUNDS {
        let questions = findings::reviews_wanted(cluster, codes);
        if questions.is_empty() || questions.len() > MOST {
            break;
        }
        let questions = questions
            .into_iter()
            .map(|(user, request)| (user.name, user.groups, request));
        match ctx.live().await?.review(questions).await? {
            Some(reviews) => cluster.learn_reviews(reviews),
            None => break,
        }
    }
    Ok(())
}
