//! The sentences of a simulated eviction. Nothing reads them again.

use std::collections::BTreeMap;

use super::parts::{Fate, fitting_nodes};
use crate::output::counted;
use dra_model::Str;
use dra_reports::findings::some;
use dra_rules::owners::Replacing;
use dra_rules::simulation::{BudgetItem, MissedPod, OwnerItem, PodItem};

/// That a pod is not gone in the time that is simulated.
pub(super) const STAYS: &str = "stays";

/// That no pod is evicted.
pub(super) const NONE_EVICTED: &str = "no pod would be evicted";

/// Why the number of pods is not certain.
fn doubt(gave_up: bool) -> &'static str {
    if gave_up {
        "the simulation gave up"
    } else {
        "see the warnings"
    }
}

/// That it is unknown whether a pod is evicted.
pub(super) fn unknown(gave_up: bool) -> String {
    format!("unknown whether a pod would be evicted: {}", doubt(gave_up))
}

/// How many pods are evicted, and what happens to their work.
pub(super) fn evicted(
    pods: usize,
    within: &str,
    mut fates: BTreeMap<Fate, usize>,
    (restarted, staying): (usize, usize),
    doubt_of: Option<bool>,
) -> String {
    let done = fates.remove(&Fate::Done).unwrap_or(0);
    let running = pods - done;
    let fates: Vec<String> = fates.into_iter().map(|(fate, count)| many(fate, count)).collect();
    let mut parts = Vec::new();
    if running > 0 {
        let pods = counted(running, "pod", "pods");
        parts.push(format!(
            "{pods} would be evicted within {within}: {}",
            fates.join("; ")
        ));
    }
    if staying > 0 {
        let stay = if staying == 1 { "stays" } else { "stay" };
        parts.push(format!(
            "{staying} {stay} terminating, with devices, until the node responds"
        ));
    }
    if done > 0 {
        let pods = counted(done, "finished pod", "finished pods");
        parts.push(format!("{pods} would be deleted"));
    }
    if restarted > 0 {
        let pods = counted(restarted, "more pod is", "more pods are");
        parts.push(format!("{pods} recreated with the group of an evicted one"));
    }
    if let Some(gave_up) = doubt_of {
        parts.push(format!("more are possible: {}", doubt(gave_up)));
    }
    parts.join("; ")
}

fn many(fate: Fate, count: usize) -> String {
    let (is, stay) = if count == 1 {
        ("is", "stays")
    } else {
        ("are", "stay")
    };
    match fate {
        Fate::Restarts => format!("{count} {is} recreated"),
        Fate::Again => format!("{count} {is} recreated and evicted again"),
        Fate::Waits => format!("{count} {is} recreated but {stay} pending"),
        Fate::Unknown => format!("{count} may be recreated"),
        Fate::Done => format!("{count} already finished"),
        Fate::Lost => format!("{count} {is} not recreated"),
    }
}

/// What happens after one pod is evicted.
pub(super) fn afterwards(pod: &PodItem, fate: Fate, budgets: &[&BudgetItem]) -> String {
    let owner = pod.owner.as_ref().map(named).unwrap_or_default();
    let then = match fate {
        Fate::Restarts | Fate::Again => {
            let replacement = pod.replacement.as_ref();
            let nodes = replacement.map(|replacement| fitting_nodes(&replacement.nodes));
            let nodes = nodes.unwrap_or_default();
            let again = if fate == Fate::Again {
                ", and is evicted again"
            } else {
                ""
            };
            format!("{owner} recreates it: {nodes}{again}")
        }
        Fate::Waits => format!("{owner} recreates it, but no node fits"),
        Fate::Unknown if pod.gone_at.is_none() && pod.replacing == Some(Replacing::OnceGone) => {
            format!("{owner} recreates it once it is gone")
        }
        Fate::Unknown => format!("unknown whether {owner} recreates it, or where it fits"),
        Fate::Done => "already finished".to_owned(),
        Fate::Lost if pod.owner.is_none() => "not recreated (no controller)".to_owned(),
        Fate::Lost => format!("not recreated by {owner}"),
    };
    let violated: String = budgets
        .iter()
        .map(|budget| format!("; violates PDB {}", budget.name))
        .collect();
    let group = match pod.restarts.as_slice() {
        [] => String::new(),
        others => format!("; its group is recreated, too: {}", some(others)),
    };
    format!("{then}{group}{violated}")
}

fn named(owner: &OwnerItem) -> String {
    format!("{}/{}", owner.kind.to_lowercase(), owner.name)
}

/// The existing taints that evict pods.
pub(super) fn because(taints: &[String]) -> String {
    format!("because of {}", some(taints))
}

/// The taint of the flags.
pub(super) fn simulated(taint: &str) -> String {
    format!("simulated taint {taint} (change with --key)")
}

/// How many pods are not shown.
pub(super) fn not_shown(pods: usize) -> String {
    counted(pods, "more pod", "more pods")
}

/// How many devices become available.
pub(super) fn released(claims: usize, devices: usize) -> String {
    format!(
        "{} {}",
        counted(claims, "claim releases", "claims release"),
        counted(devices, "device", "devices")
    )
}

/// Filters that could keep new pods off the nodes that they fit on.
pub(super) fn not_simulated(filters: &[Str], pods: &[String]) -> String {
    let filters: Vec<&str> = filters.iter().map(Str::as_str).collect();
    format!(
        "Not simulated: {}; these filters may keep {} from fitting",
        filters.join(", "),
        some(pods)
    )
}

/// How many pods stay.
pub(super) fn tolerating(pods: usize) -> String {
    if pods == 1 {
        "1 pod tolerates the taints forever and stays on its node".to_owned()
    } else {
        format!("{pods} pods tolerate the taints forever and stay on their nodes")
    }
}

/// That the controller never evicts a pod, and why.
pub(super) fn missed(pod: &MissedPod) -> String {
    format!("not evicted: pod/{}/{} ({})", pod.namespace, pod.name, pod.why)
}

/// That device taints ignore budgets.
pub(super) fn budgets(violated: &[&BudgetItem]) -> String {
    let budgets: Vec<String> = violated
        .iter()
        .map(|budget| {
            format!(
                "{}/{} allows {} and loses {}",
                budget.namespace,
                budget.name,
                budget.disruptions_allowed,
                budget.pods.len()
            )
        })
        .collect();
    format!(
        "Device taints ignore PodDisruptionBudgets: {}. `kubectl drain` would wait.",
        some(&budgets)
    )
}

/// Pods that `kubectl drain` refuses to delete.
pub(super) fn refused(pods: &[String]) -> String {
    format!(
        "`kubectl drain` would refuse pods without a controller, unless --force is given: {}",
        some(pods)
    )
}

/// Pods that `kubectl drain` ignores.
pub(super) fn ignored(pods: &[String]) -> String {
    format!("`kubectl drain --ignore-daemonsets` would ignore: {}", some(pods))
}

/// How to get the rule of the flags.
pub(super) const RULE: &str =
    "To create the rule without evicting pods, append: `--emit-rule | kubectl apply -f -`";
