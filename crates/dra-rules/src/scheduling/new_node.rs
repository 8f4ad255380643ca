//! Whether one more node of a kind that there is would help.

use std::sync::Arc;

use super::cycle::{Scheduler, Start};
use super::fixes::{Effort, Subject};
use dra_model::{Change, Cluster, Node, Object, Slice, Str};

/// Nodes that are tried.
const MOST_TRIED: usize = 4;

/// Ends the names of a node that is not there, and of its pools.
const NEW: &str = "-new";

/// The label with the name of a node. Mirrors `api/core/v1/well_known_labels.go`, `LabelHostname`.
pub const HOSTNAME: &str = "kubernetes.io/hostname";

/// Returns the first of `nodes` whose copy would take the subject: a node without pods, and with the same labels, taints, resources and
/// devices of its own.
pub fn fits_on_new<'n>(
    scheduler: &Scheduler,
    subject: &Subject,
    nodes: &'n [Str],
    effort: &Effort<'_>,
) -> Option<&'n Str> {
    nodes.iter().take(MOST_TRIED).find(|name| {
        let Some((cluster, new)) = with_copy(scheduler.cluster(), name) else {
            return false;
        };
        let scheduler = scheduler.fork(&cluster);
        let Start::Cycle(cycle) = subject.start(&scheduler) else {
            return false;
        };
        let judged = effort.judge_all(&cycle, &[&new]);
        judged.iter().any(|(_, judgment)| judgment.verdict.fits())
    })
}

/// The cluster with one more node like `name`, and that node.
fn with_copy(cluster: &Cluster, name: &Str) -> Option<(Cluster, Arc<Node>)> {
    let renamed = |name: &Str| Str::from(format!("{name}{NEW}"));
    let mut node = Node::clone(cluster.node(name)?);
    node.metadata.name = renamed(name);
    node.spec.unschedulable = false;
    for (_, value) in node.metadata.labels.iter_mut().filter(|(key, _)| key == HOSTNAME) {
        *value = renamed(name);
    }
    let node = Arc::new(node);
    let mut changed = cluster.clone();
    changed.apply(Change::Put(Object::Node(Arc::clone(&node))));
    let own = cluster
        .slices()
        .filter(|slice| slice.spec.node_name.as_ref() == Some(name));
    for slice in own {
        let mut slice = Slice::clone(slice);
        slice.metadata.name = renamed(&slice.metadata.name);
        slice.spec.node_name = Some(node.metadata.name.clone());
        slice.spec.pool.name = renamed(&slice.spec.pool.name);
        changed.apply(Change::Put(Object::ResourceSlice(Arc::new(slice))));
    }
    Some((changed, node))
}
