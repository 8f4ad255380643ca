//! Arguments shared by commands that use the scheduler's rules: manifests, budgets.

use std::sync::Arc;

use crate::context::Ctx;
use crate::error::UsageError;
use crate::output::counted;
use dra_allocator::devices::expressions_of_new_objects;
use dra_allocator::{Budget, Observer};
use dra_model::{Change, Cluster, Key, Kind, Meter, NewerFields, Object, OwnerReference, Pod, Str};
use dra_reports::presence::Mention;
use dra_rules::owners::Lineage;
use dra_rules::scheduling::{daemon_pods, remove_pod};
use dra_rules::validation::{ADMIN_ACCESS, AdminAccess, admin_access, validate};
use dra_sources::{Daemon, LoadError, MOST_PODS, Manifests, Old, OldPods, Workload, manifests};

use super::{objects, presence};

/// Steps that the searches of a command may take together unless `--budget` says otherwise: what kube-scheduler does in its ten seconds for two nodes.
pub(super) const STEPS: u64 = 20_000_000;

/// The budget of a command.
pub(super) fn budget(steps: Option<u64>) -> Budget {
    Budget::new(steps.unwrap_or(STEPS))
}

/// The cluster with the work of a whole command, for one of several computations.
pub(super) fn metered(cluster: &Cluster) -> Cluster {
    cluster.clone().metered(Meter::default())
}

/// Counts the nodes that are judged where the user sees it.
pub(super) struct Counting<'c>(&'c Ctx);

/// Returns what counts the nodes that are judged from now on.
pub(super) fn counting(ctx: &Ctx) -> Counting<'_> {
    ctx.now_computing("simulating nodes");
    Counting(ctx)
}

impl Observer for Counting<'_> {
    /// The process exits during a search, so searches do not check for it.
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
    let mut found = manifests(files, namespace, &|kind, object, within| {
        let violations = validate(kind, object, within, &expressions);
        (violations.list, violations.more)
    })?;
    let newer = NewerFields::drop_from(&mut found.objects, cluster.environment().version);
    found.warnings.extend(newer.warnings());
    let off = found.old.iter().filter(|old| !serves(cluster, old));
    let off: Vec<String> = off
        .map(|old| {
            format!(
                "{}: the API server does not serve {} by default; write it as {}",
                old.place,
                old.kind.api_version(&old.version),
                old.kind.api_version(old.kind.versions()[0])
            )
        })
        .collect();
    found.warnings.extend(off);
    Ok(found)
}

/// Returns whether the API server serves the version of an object, unless nothing shows that it does and it is off by default. Mirrors
/// `controlplane/instance.go`, `betaAPIGroupVersionsDisabledByDefault`, v1.37.2.
fn serves(cluster: &Cluster, old: &Old) -> bool {
    let (environment, release) = (cluster.environment(), cluster.environment().release());
    let is_new = match old.kind {
        Kind::DeviceTaintRule => release.serves_rules_of_v1,
        kind => kind.group() == Kind::ResourceClaim.group() && release.serves_v1,
    };
    let api_version = old.kind.api_version(&old.version);
    let writes = |object: &Object| {
        let mut writers = object.metadata().managed.old_writers().iter();
        writers.any(|writer| writer.api_version == api_version.as_str())
    };
    !is_new || environment.old_versions.contains(&api_version) || cluster.objects(old.kind).any(writes)
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
    let namespace = objects::judged_in(ctx, None);
    let found = valid_manifests(cluster, files, &namespace)?;
    let makes = |name: &Str| {
        let mut made = found
            .objects
            .iter()
            .filter(|object| object.kind() == Kind::Namespace);
        made.any(|object| object.metadata().name == *name)
    };
    let named: Option<Str> = objects::namespace(ctx, objects::Default::All).map(Into::into);
    if let Some(namespace) = named.filter(|name| !makes(name)) {
        presence::demand_all(ctx, cluster, &[Mention::Namespace(namespace)]).await?;
    }
    ctx.warn_all(found.warnings);
    for workload in &found.workloads {
        replace_workload(ctx, cluster, workload);
    }
    let mut objects = Vec::with_capacity(found.objects.len());
    for object in found.objects {
        let object = match object {
            Object::Pod(pod) => Object::Pod(with_free_name(cluster, pod)),
            object => object,
        };
        replace(ctx, cluster, &object);
        cluster.apply(Change::Put(object.clone()));
        objects.push(object);
    }
    for object in &objects {
        match admin_access(cluster, object) {
            AdminAccess::Granted => {}
            AdminAccess::Refused(why) => {
                let message = format!(
                    "the API server would reject {}/{}: {why}",
                    object.kind(),
                    object.metadata().key()
                );
                let hint = "ask an administrator to add that label to the namespace";
                return Err(UsageError::new(message).hint(hint).into());
            }
            AdminAccess::Unknown(namespace) => ctx.warn(format!(
                "cannot read the label `{ADMIN_ACCESS}: true` of namespace/{namespace}; without it, the API \
                server rejects {}/{}, which requests admin access",
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
            let message = format!("daemonset/{key} has pods on more nodes than one run can simulate");
            let hint = "select fewer nodes with a `nodeSelector` in its template";
            return Err(UsageError::new(message).hint(hint).into());
        }
        for pod in of_set {
            let object = Object::Pod(with_free_name(cluster, pod));
            cluster.apply(Change::Put(object.clone()));
            objects.push(object);
        }
    }
    // An expression about PodGroups or counters is for a cluster that has them.
    cluster.learn_gates();
    Ok(objects)
}

/// Kinds whose pods have unpredictable names, so that names assigned here do not refer to existing pods.
const RANDOM_NAMES: [&str; 6] = [
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "ReplicaSet",
    "ReplicationController",
];

/// The pod, by another name where its controller gives it one that no pod has.
fn with_free_name(cluster: &Cluster, pod: Arc<Pod>) -> Arc<Pod> {
    let has_random_name = |owner: &OwnerReference| RANDOM_NAMES.contains(&owner.kind.as_str());
    if !pod.metadata.controller().is_some_and(has_random_name) {
        return pod;
    }
    let mut pod = Pod::clone(&pod);
    while cluster.pod(&pod.key()).is_some() {
        pod.metadata.name = format!("{}-new", pod.metadata.name).into();
    }
    pod.into()
}

/// Makes room for an object of a manifest whose name is taken.
fn replace(ctx: &Ctx, cluster: &mut Cluster, object: &Object) {
    let (kind, key) = (object.kind(), object.metadata().key());
    let known = cluster.get(kind, &key);
    if kind == Kind::Namespace || known.is_none_or(|known| known.metadata().is_of_manifest()) {
        return;
    }
    ctx.warn(format!(
        "{} exists; simulated as if replaced",
        called(kind.name(), &key)
    ));
    if kind == Kind::Pod {
        remove_pod(cluster, &key);
    }
}

/// Ends the pods that a workload of a manifest has already, but for those that a rollout keeps until the new ones are ready.
fn replace_workload(ctx: &Ctx, cluster: &mut Cluster, workload: &Workload) {
    let Workload {
        namespace, reference, ..
    } = workload;
    let is_old = |pod: &&Arc<Pod>| {
        !pod.metadata.is_of_manifest() && Lineage::of_pod(cluster, pod).has(reference, namespace)
    };
    let old: Vec<Key> = cluster.pods().filter(is_old).map(|pod| pod.key()).collect();
    if old.is_empty() && cluster.environment().owners.find(reference, namespace).is_none() {
        return;
    }
    let name = called(
        &reference.kind,
        &Key::new(namespace.clone(), reference.name.clone()),
    );
    let pods = counted(old.len(), "pod", "pods");
    let how = match workload.old_pods {
        OldPods::UntilReady => format!("a rollout that keeps its {pods} until new ones are ready"),
        OldPods::Stay => format!("another run beside its {pods}"),
        OldPods::End => format!("if replaced, without its {pods}"),
    };
    ctx.warn(format!("{name} exists; simulated as {how}"));
    if workload.old_pods == OldPods::End {
        for pod in old {
            remove_pod(cluster, &pod);
        }
    }
}

fn called(kind: &str, key: &Key) -> String {
    let kind = kind.to_ascii_lowercase();
    if key.namespace.is_empty() {
        format!("{kind}/{}", key.name)
    } else {
        format!("{kind}/{key}")
    }
}

/// The pods of a DaemonSet. If nodes could not be read, one pod only, so that the gap is reported for it.
fn of_daemon_set(ctx: &Ctx, cluster: &Cluster, daemon: &Daemon) -> Vec<Arc<Pod>> {
    let pod = &daemon.pod;
    if cluster.gap(Kind::Node, "").is_some() {
        return vec![Arc::clone(pod)];
    }
    let pods = daemon_pods(cluster, pod);
    if pods.is_empty() {
        ctx.warn(format!(
            "daemonset/{} has no pods: no node matches its node selector, affinity and tolerations",
            pod.key()
        ));
    }
    pods
}
