//! What the commands that ask the scheduler's rules have in common: manifests, budgets.

use crate::allocator::{Budget, Observer};
use crate::context::Ctx;
use crate::inspect::presence::Mention;
use crate::model::{Change, Claim, Cluster, Kind, Object, Str};
use crate::scheduling::with_defaults;
use crate::sources::manifests;

use super::presence;

/// Steps that the searches of a command may take together unless `--budget` says otherwise: what kube-scheduler does in its ten seconds for two nodes.
pub(super) const STEPS: u64 = 20_000_000;

/// The budget of a command.
pub(super) fn budget(steps: Option<u64>) -> Budget {
    Budget::new(steps.unwrap_or(STEPS))
}

/// Counts the nodes that are judged where the user sees it.
pub(super) struct Counting<'c>(&'c Ctx);

/// What counts the nodes that are judged from now on.
pub(super) fn counting(ctx: &Ctx) -> Counting<'_> {
    ctx.now_computing("judging nodes");
    Counting(ctx)
}

impl Observer for Counting<'_> {
    /// The process ends while a search goes on, so that no search has to ask.
    fn cancelled(&self) -> bool {
        false
    }

    fn begin_node(&self) {
        self.0.count_computed();
    }
}

/// Puts the objects of the manifests `files` into `cluster`, and returns them as they are then.
///
/// # Errors
/// A file cannot be read, or the namespace of `-n` does not exist, so that nothing can be created in it.
pub(super) async fn add_manifests(
    ctx: &Ctx,
    cluster: &mut Cluster,
    files: &[String],
) -> anyhow::Result<Vec<Object>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let namespace = match &ctx.settings().scope {
        crate::context::Scope::Namespace(namespace) => namespace.clone(),
        _ => ctx.current_namespace(),
    };
    let found = manifests(files, &namespace)?;
    let makes = |name: &Str| {
        let mut made = found
            .objects
            .iter()
            .filter(|object| object.kind() == Kind::Namespace);
        made.any(|object| object.metadata().name == *name)
    };
    if let Some(namespace) = presence::namespace(ctx).filter(|name| !makes(name)) {
        presence::demand_all(ctx, cluster, &[Mention::Namespace(namespace)]).await?;
    }
    for warning in found.warnings {
        ctx.warn(warning);
    }
    let mut objects = Vec::with_capacity(found.objects.len());
    for object in found.objects {
        let object = match object {
            Object::ResourceClaim(claim) => {
                let mut claim = Claim::clone(&claim);
                with_defaults(&mut claim);
                Object::ResourceClaim(claim.into())
            }
            object => object,
        };
        cluster.apply(Change::Put(object.clone()));
        objects.push(object);
    }
    // Whoever writes of PodGroups or counters asks about a cluster that has them.
    cluster.learn_gates();
    Ok(objects)
}
