//! Sufficiency of a node's resources for a pod with its devices.
//!
//! Mirrors `nodeallocatabledynamicresources.go`, v1.37.2.

use super::node_share::{Held, taken};
use super::requests::{Usage, allocatable, amount, pod_requests_with};
use dra_model::{Cluster, Node, Pod, Str};

/// The reason why a pod cannot have its devices.
#[derive(Debug)]
pub(super) enum Unfit {
    /// The scheduler's words, one for each reason it counts.
    Reasons(Vec<String>),
    /// The attempt ends with this error.
    Error(String),
}

/// Returns whether the node has enough for the pod with its devices beside the other pods on it. Mirrors `nodeFitsResources`.
///
/// # Errors
/// Why not.
pub(super) fn check(cluster: &Cluster, pod: &Pod, node: &Node, held: &[Held<'_>]) -> Result<(), Unfit> {
    let share = taken(cluster, pod, held).map_err(Unfit::Error)?;
    if share.is_empty() {
        return Ok(());
    }
    if let Some(resources) = &pod.spec.resources {
        let mut parts = pod.clone();
        parts.spec.resources = None;
        parts.spec.overhead.clear();
        let sum = pod_requests_with(&parts, &share);
        for (name, budget) in &resources.requests {
            if sum.get(name).is_some_and(|wanted| *wanted > amount(name, budget)) {
                return Err(Unfit::Reasons(vec![format!(
                    "pod level request for {name} is insufficient to cover the aggregated container and node-allocatable DRA requests"
                )]));
            }
        }
    }
    let usage = Usage::of_others(cluster, &node.metadata.name, Some(pod));
    let standard = ["cpu", "memory", "ephemeral-storage"];
    let wanted = pod_requests_with(pod, &share);
    let pages = wanted.keys().filter(|name| name.starts_with("hugepages-"));
    let mut reasons = Vec::new();
    for name in standard.into_iter().chain(pages.map(Str::as_str)) {
        let wanted = wanted.get(name).copied().unwrap_or(0);
        let used = usage.requested.get(name).copied().unwrap_or(0);
        let has = allocatable(node, name).unwrap_or(0);
        if wanted > 0 && wanted > has.saturating_sub(used) {
            reasons.push(format!("Insufficient {name}"));
        }
    }
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(Unfit::Reasons(reasons))
    }
}
