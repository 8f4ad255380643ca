//! Message in the pod's condition, from the verdicts for all nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cycle::Cycle;
use super::given_up::remaining_consumers;
use super::verdict::{NoUse, Obstacle, Refusal, Stage, Unavailable, Verdict};
use dra_model::{Cluster, Component, Gate, Node, Pod};

/// Message of kube-scheduler about a pod that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Nothing: the pod is not in the queue, so it has neither condition nor event.
    None,
    /// Reason `Unschedulable`.
    Unschedulable(String),
    /// Reason `SchedulerError`.
    Error(String),
}

impl Message {
    /// The text, if there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Unschedulable(text) | Self::Error(text) => Some(text),
        }
    }
}

/// The message for a pod whose cycle does not begin.
pub fn message_of_obstacle(cluster: &Cluster, pod: Option<&Pod>, obstacle: &Obstacle) -> Message {
    match obstacle.stage() {
        Stage::PreEnqueue => Message::None,
        Stage::Error => Message::Error(format!(
            "running PreFilter plugin \"DynamicResources\": {}",
            obstacle.text()
        )),
        Stage::PreFilter => {
            let nodes: Vec<&Arc<Node>> = cluster.nodes().collect();
            let mut text = format!("{}: {}.", available(nodes.len()), obstacle.text());
            let grouped = cluster
                .environment()
                .enabled(Component::Scheduler, Gate::GenericWorkload)
                && pod.is_some_and(|pod| pod.pod_group().is_some());
            if !grouped {
                let unhelpful = "Preemption is not helpful for scheduling";
                let preemption =
                    preemption_text(pod, &BTreeMap::from([(unhelpful, nodes.len())]), nodes.len());
                let own = cluster
                    .environment()
                    .release()
                    .says_nothing_to_deallocate
                    .then(|| "no new claims to deallocate".to_owned());
                text.push_str(&post_filter(own, preemption));
            }
            Message::Unschedulable(text)
        }
    }
}

/// The message for a pod that fits no node of `verdicts`, which are all nodes; nothing where one fits or a verdict is open.
///
/// Mirrors `types.go`, `FitError.Error`, `default_preemption.go` and `dynamicresources.go`, `PostFilter`, v1.37.2.
pub fn message(cycle: &Cycle<'_>, verdicts: &[(&Arc<Node>, Verdict)]) -> Option<Message> {
    let cluster = cycle.scheduler().cluster();
    if verdicts.is_empty() {
        return Some(Message::Unschedulable(
            "no nodes available to schedule pods".to_owned(),
        ));
    }
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut preemption: BTreeMap<&str, usize> = BTreeMap::new();
    let mut open = false;
    for (node, verdict) in verdicts {
        let mut preempting = "Preemption is not helpful for scheduling";
        let mut count = |reason: String| *reasons.entry(reason).or_default() += 1;
        match verdict {
            Verdict::Error(error) => {
                let text = format!("running \"DynamicResources\" filter plugin: {error}");
                return Some(Message::Error(text));
            }
            Verdict::Fits(_) | Verdict::GaveUp => return None,
            Verdict::NotNamed => count("node(s) didn't satisfy plugin(s) [NodeAffinity]".to_owned()),
            Verdict::Plain(plain) => {
                plain.reasons().into_iter().for_each(count);
                if plain.preemption_may_help() {
                    preempting = "No preemption victims found for incoming pod";
                    open |= cycle.pod().is_some_and(|pod| has_victims(cluster, pod, node));
                }
            }
            Verdict::Refused(refusal) => refusal.reasons().into_iter().for_each(count),
        }
        *preemption.entry(preempting).or_default() += 1;
    }
    let mut text = format!("{}: {}.", available(verdicts.len()), counted(&reasons));
    if !cycle.is_grouped() && !open {
        let preemption = preemption_text(cycle.pod(), &preemption, verdicts.len());
        text.push_str(&post_filter(own_post_filter(cycle, verdicts), preemption));
    }
    Some(Message::Unschedulable(text))
}

/// What it says once it has deallocated a claim.
const DEALLOCATED: &str = "deallocation of ResourceClaim completed";

/// What it says once it has deleted a claim.
const DELETED: &str = "deletion of ResourceClaim completed";

/// What kube-scheduler says once it has deallocated a claim of an earlier attempt, deleted one, or both, or taken back a reservation for a
/// PodGroup.
const CLEANED_UP: [&str; 4] = [
    DEALLOCATED,
    DELETED,
    "deallocation and deletion of ResourceClaims completed",
    "ResourceClaim unreserved for PodGroup",
];

/// Returns whether kube-scheduler says that it has cleaned up after an earlier attempt: what rejected the pod then is gone, and it tries again.
pub fn has_cleaned_up(message: &str) -> bool {
    CLEANED_UP.iter().any(|words| message.contains(words))
}

/// Returns what the plugin for dynamic resources does once no node fits.
fn own_post_filter(cycle: &Cycle<'_>, verdicts: &[(&Arc<Node>, Verdict)]) -> Option<String> {
    let release = cycle.scheduler().cluster().environment().release();
    let older = release.says_nothing_to_deallocate;
    if !cycle.uses_devices() {
        return older.then(|| "no new claims to deallocate".to_owned());
    }
    if !releasable(cycle, verdicts).is_empty() {
        return Some(DEALLOCATED.to_owned());
    }
    if cycle.left_behind().is_some() {
        return Some(DELETED.to_owned());
    }
    older.then(|| "still not schedulable".to_owned())
}

/// The claims that are allocated, of no use on some node and used by no other pod: kube-scheduler deallocates one of
/// them automatically and retries. Of several reasons the one about the claim is preferred over the one about the
/// place.
///
/// Mirrors `dynamicresources.go`, `deallocateOrDeletePodClaims`, v1.37.2.
pub fn releasable(cycle: &Cycle<'_>, verdicts: &[(&Arc<Node>, Verdict)]) -> Vec<Unavailable> {
    let mut found = unavailable(verdicts);
    let cluster = cycle.scheduler().cluster();
    found.retain(|unavailable| {
        let claim = &cycle.user_claims()[unavailable.place];
        // Of two entries, one of the pod and one of its group, the scheduler removes none.
        claim.status.reserved_for.len() <= 1 && remaining_consumers(cluster, cycle.pod(), claim).is_empty()
    });
    found
}

/// The claims that are of no use on some node, in their order.
pub fn unavailable(verdicts: &[(&Arc<Node>, Verdict)]) -> Vec<Unavailable> {
    let mut why: BTreeMap<usize, NoUse> = BTreeMap::new();
    for (_, verdict) in verdicts {
        let Verdict::Refused(Refusal::NotAvailable(found)) = verdict else {
            continue;
        };
        for unavailable in found {
            let known = why.entry(unavailable.place).or_insert(unavailable.why);
            *known = (*known).max(unavailable.why);
        }
    }
    why.into_iter()
        .map(|(place, why)| Unavailable { place, why })
        .collect()
}

/// Returns whether a pod of lower priority runs on the node, so that preemption is tried.
fn has_victims(cluster: &Cluster, pod: &Pod, node: &Node) -> bool {
    cluster
        .pods_of_node(&node.metadata.name)
        .any(|other| !other.is_terminal() && other.priority() < pod.priority())
}

fn preemption_text(pod: Option<&Pod>, reasons: &BTreeMap<&str, usize>, nodes: usize) -> String {
    if pod.is_some_and(|pod| {
        pod.spec
            .preemption_policy
            .as_ref()
            .is_some_and(|policy| policy == "Never")
    }) {
        return "preemption: not eligible due to preemptionPolicy=Never.".to_owned();
    }
    let reasons: BTreeMap<String, usize> = reasons
        .iter()
        .map(|(reason, count)| ((*reason).to_owned(), *count))
        .collect();
    format!("preemption: {}: {}.", available(nodes), counted(&reasons))
}

fn post_filter(own: Option<String>, preemption: String) -> String {
    let texts: Vec<String> = own.into_iter().chain([preemption]).collect();
    format!(" {}", texts.join(", "))
}

fn available(nodes: usize) -> String {
    format!("0/{nodes} nodes are available")
}

/// `2 first reason, 3 second reason`, sorted as text with the numbers, as the scheduler does.
fn counted(reasons: &BTreeMap<String, usize>) -> String {
    let mut texts: Vec<String> = reasons
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    texts.sort();
    texts.join(", ")
}
