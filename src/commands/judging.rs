//! What the commands that ask the scheduler's rules have in common: manifests, budgets.

use std::sync::Arc;

use crate::allocator::{Budget, Observer};
use crate::context::Ctx;
use crate::devices::expressions_of_new_objects;
use crate::error::UsageError;
use crate::inspect::presence::Mention;
use crate::model::{Change, Claim, Cluster, Kind, Object, Pod, Str};
use crate::scheduling::{daemon_pods, with_defaults};
use crate::sources::{Daemon, LoadError, MOST_PODS, Manifests, manifests};
use crate::validation::{ADMIN_ACCESS, AdminAccess, admin_access, validate};

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

/// Reads the manifests `files`, which are those of objects that the API server of `cluster` would take.
///
/// # Errors
/// A file cannot be read, or the API server would refuse what is in it.
pub(super) fn valid_manifests(
    cluster: &Cluster,
    files: &[String],
    namespace: &str,
) -> Result<Manifests, LoadError> {
    let expressions = expressions_of_new_objects(cluster.environment());
    manifests(files, namespace, &|kind, object, within| {
        let violations = validate(kind, object, within, &expressions);
        (violations.list, violations.more)
    })
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
    let found = valid_manifests(cluster, files, &namespace)?;
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
    for object in &objects {
        match admin_access(cluster, object) {
            AdminAccess::Granted => {}
            AdminAccess::Refused(why) => {
                let message = format!("the API server would refuse {}/{}: {why}", object.kind(), object.metadata().key());
                let hint = "an administrator of the cluster gives the namespace that label";
                return Err(UsageError::new(message).hint(hint).into());
            }
            AdminAccess::Unknown(namespace) => ctx.warn(format!(
                "whether namespace/{namespace} has the label `{ADMIN_ACCESS}: true` is not known, without which the API server refuses {}/{}, as it asks for admin access",
                object.kind(),
                object.metadata().key()
            )),
        }
    }
    let mut pods = objects.iter().filter(|object| object.kind() == Kind::Pod).count();
    for daemon in &found.daemons {
        let of_set = of_daemon_set(ctx, cluster, daemon);
        pods = pods.saturating_add(of_set.len());
        if of_set.len() as u64 > daemon.most || pods as u64 > MOST_PODS {
            let key = daemon.pod.key();
            let message = format!("daemonset/{key} has a pod on more nodes than can be judged at once");
            let hint = "ask about fewer nodes, with a `nodeSelector` in its template";
            return Err(UsageError::new(message).hint(hint).into());
        }
        for pod in of_set {
            let object = Object::Pod(pod);
            cluster.apply(Change::Put(object.clone()));
            objects.push(object);
        }
    }
    // Whoever writes of PodGroups or counters asks about a cluster that has them.
    cluster.learn_gates();
    Ok(objects)
}

/// The pods of a DaemonSet. Where nodes could not be read, its pod alone, so that what is unknown is told of it.
fn of_daemon_set(ctx: &Ctx, cluster: &Cluster, daemon: &Daemon) -> Vec<Arc<Pod>> {
    let pod = &daemon.pod;
    if cluster.gap(Kind::Node, "").is_some() {
        return vec![Arc::clone(pod)];
    }
    let pods = daemon_pods(cluster, pod);
    if pods.is_empty() {
        ctx.warn(format!(
            "daemonset/{} has no pods: no node takes it by its selector, its affinity and its tolerations",
            pod.key()
        ));
    }
    pods
}
