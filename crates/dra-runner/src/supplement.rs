//! The supplement: beside the built-in controllers it writes what they never do, or have left undone for long.

use std::sync::Arc;
use std::time::Duration;

use super::comparison::Comparison;
use super::failure::Failure;
use super::manager::{Listed, Options, Writing, drive};
use super::message::Message;
use super::rules::rules;
use super::status::JobCounts;
use dra_model::Cluster;
use dra_rules::controllers::{Deviations, Engine, ResourceClaims, Shadow, Supplement, TaintEviction};
use dra_rules::eviction::{EvictingClaims, Release};

/// Watches the cluster from where the list ended, and writes what has been undone for longer than `overdue`, until it is interrupted.
///
/// # Errors
/// If the cluster can no longer be watched, or the lease is lost.
pub async fn supplement(
    listed: Listed<'_>,
    supplement: Supplement,
    overdue: Duration,
    writing: Writing,
    options: Options,
    tell: impl FnMut(Message),
) -> Result<JobCounts, Failure> {
    let as_released = options.as_released;
    let telemetry = Arc::clone(&options.telemetry);
    let build = |cluster: Cluster, now| {
        let (features, release) = rules(cluster.environment(), Deviations::ON, as_released);
        // What a pod's own claims want of it is left to the built-in controller.
        let release = Release {
            claims: EvictingClaims::OfExtendedResources,
            ..release
        };
        let claims = supplement
            .releases
            .then(|| ResourceClaims::start(&cluster, features));
        let eviction = supplement
            .evictions
            .then(|| TaintEviction::resume(&cluster, release, now));
        let shadow = Shadow::new(overdue, features.groups).supplementing(supplement);
        let engine = Engine::new(cluster, claims, eviction);
        (engine, Comparison::new(shadow, telemetry, true))
    };
    drive(listed, options, Some(writing), build, tell)
        .await?
        .into_result()
}
