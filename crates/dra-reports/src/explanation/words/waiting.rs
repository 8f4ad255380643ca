//! The sentences about whether waiting helps.

use std::collections::BTreeSet;

use dra_allocator::{AttemptError, ErrorSubject, Failure};
use dra_model::{Event, Key, PoolId, Str};
use dra_rules::owners::OwnerName;
use dra_rules::scheduling::{Consumer, Kept, Lack, MOST_AHEAD, Rejection, Spared, Uncertain};

use super::super::diagnosis::Never;
use super::headline::{held, never_alike, not_enough};
use super::reasons::{brief, short_of};
use super::{NAMED, listed, one_or_many, several, which};
use crate::allocation::words::pod;
use crate::listing::some;
use crate::words::counted;

/// That waiting will not help, for this reason.
pub(in super::super) fn never(why: &Never) -> String {
    format!("waiting will not help: {}", of_never(why))
}

fn of_never(why: &Never) -> String {
    match why {
        Never::EvenEmpty(_) => "it would not fit on an empty cluster".to_owned(),
        Never::NoNode => "no node meets the pod's other requirements".to_owned(),
        Never::Same(same) => brief(same),
        Never::NoDevice(among, kind) => {
            format!("{} has {}, available or not", which(*among), several(kind))
        }
        Never::AtMost {
            among,
            wanted,
            most,
            kind,
        } => format!(
            "it requests {wanted} {}, and {} has more than {most}",
            several(kind),
            which(*among)
        ),
        Never::NotEnough(among, requests) => not_enough(*among, requests),
        Never::NotAlike(among, alike) => never_alike(alike, *among),
    }
}

/// That too few pods of the group fit in the emptied cluster.
pub(in super::super) fn never_together(group: &Key) -> String {
    format!("waiting will not help: on an empty cluster, too few pods of podgroup/{group} would fit together")
}

/// That no node and no class offers the resource.
pub(in super::super) fn never_offered(resource: &str) -> String {
    format!("waiting will not help: no node and no class offers {resource}")
}

/// That a node is to come whose devices are unknown.
pub(in super::super) fn node_is_coming(event: &Event, added: Option<&Str>) -> String {
    let at = event
        .last_seen()
        .map_or_else(String::new, |at| format!(" at {at}"));
    let node = match added {
        Some(node) => format!("and {node} was added since; its devices are unknown"),
        None => "so a node is being added, and its devices are unknown".to_owned(),
    };
    format!("{} reported {}{at}, {node}", event.component(), event.reason)
}

/// That filters are not simulated which reject nodes.
pub(in super::super) fn not_simulated(by: &[Rejection]) -> String {
    let plugins: BTreeSet<&str> = by.iter().map(|rejection| rejection.filter.plugin()).collect();
    let are = one_or_many(plugins.len(), "is", "are");
    format!("{} {are} not simulated", listed(plugins, "and"))
}

/// That a node is to come beside what else would help.
pub(in super::super) fn or_node_comes(helps: &str, coming: &str) -> String {
    format!("{helps}; {coming}")
}

/// That it is unknown whether waiting helps.
pub(in super::super) fn unknown_wait(why: &str) -> String {
    format!("unknown whether waiting helps: {why}")
}

/// That an error ends every attempt, and what has to change.
pub(in super::super) fn error_ends_all(error: &AttemptError) -> String {
    const ENDS: &str = "every attempt ends with this error";
    match (&error.failure, &error.subject) {
        (Failure::Pool(..), _) => unknown_wait(&format!("{ENDS} until the pool is complete and valid")),
        (Failure::Disabled(gate), _) => {
            format!("waiting will not help: {ENDS} until the claim changes or {gate} is enabled")
        }
        (_, ErrorSubject::ClassSelector(class, ..)) => {
            format!("waiting will not help: {ENDS} until class {class} changes")
        }
        (_, ErrorSubject::Attempt) => format!("waiting will not help: {ENDS}"),
        _ => format!("waiting will not help: {ENDS} until the claim changes"),
    }
}

/// That these pools cannot be judged; `elsewhere` is why it never fits on the nodes that they do not reach.
pub(in super::super) fn unusable_pools(pools: &[PoolId], elsewhere: Option<&Never>) -> String {
    let (which, is) = one_or_many(pools.len(), ("pool", "is"), ("pools", "are"));
    let names = listed(pools, "and");
    match elsewhere {
        Some(never) => format!(
            "unknown whether waiting helps: {which} {names} {is} incomplete or invalid; elsewhere it will not: {}",
            of_never(never)
        ),
        None => unknown_wait(&format!("{which} {names} {is} incomplete or invalid")),
    }
}

/// Why it is unknown whether waiting helps.
pub(in super::super) fn why_unknown(why: &Uncertain) -> String {
    match why {
        Uncertain::Scheduler(doubt) => doubt.clone(),
        Uncertain::Missing(gaps) => {
            let kinds: Vec<&str> = gaps.iter().map(|gap| gap.kind.plural()).collect();
            format!("{} could not be read", kinds.join(", "))
        }
        Uncertain::Obstacle(text) => text.clone(),
        Uncertain::Error(error) => {
            format!("even with every device available, an error ends the attempt: {error}")
        }
        Uncertain::GaveUp => "the search budget ran out".to_owned(),
        Uncertain::Allocated(claim) => format!("claim/{claim} is already allocated"),
        Uncertain::Pools { .. } => "pools are incomplete or invalid".to_owned(),
        Uncertain::Spared { why, .. } => held(why),
        Uncertain::NotFound(nodes) => format!(
            "it would fit on {} if all other pods finished and no device were tainted, but which pods have to finish is unknown",
            listed(nodes, "and")
        ),
    }
}

/// That only the end of those who are spared would help.
pub(in super::super) fn spared(consumers: &[Consumer], why: &Spared, others: bool) -> String {
    let (hold, belong) = one_or_many(consumers.len(), ("holds", "belongs"), ("hold", "belong"));
    let more = if others { " (and others do)" } else { "" };
    let holders = format!("{} {hold} what it needs{more}", listed(consumers, "and"));
    let text = match why {
        Spared::Kin(owner) if owner.kind == "Deployment" => format!(
            "{holders} and {belong} to the same {owner}: a rollout keeps old pods until new ones are ready, unless maxUnavailable allows \
             otherwise; strategy Recreate, or maxSurge 0 with maxUnavailable 1, deletes them first"
        ),
        Spared::Kin(owner) if owner.kind == "Job" => format!(
            "{holders} and {belong} to the same {owner}: it fits once enough of them complete, unless they wait for it"
        ),
        Spared::Kin(owner) => {
            format!("{holders} and {belong} to the same {owner}, which is not simulated")
        }
        Spared::MaybeKin(one, other) => format!(
            "{holders}; unknown whether {one} and {other} have the same owner, which would not delete them for it"
        ),
        Spared::Group(group) => format!("{holders} and {belong} to the same podgroup/{group}"),
        Spared::Written => format!("{holders}: they are in the manifest, too, and are placed first"),
    };
    unknown_wait(&text)
}

/// That the rollout of the subject's owner keeps old pods that have what it needs, too.
pub(in super::super) fn keeps_own(consumers: &[Consumer], owner: &OwnerName, why: Kept) -> String {
    let (hold, it) = one_or_many(consumers.len(), ("holds", "it"), ("hold", "them"));
    let how = if why == Kept::Paused {
        format!("is paused, which keeps {it}")
    } else {
        format!("keeps {it} until this pod is ready")
    };
    format!(
        "{} {hold} what it needs, too, and the rollout of {owner} {how}",
        some(consumers)
    )
}

/// That the owner of the subject keeps those who have what it needs: a claim for one pod, where `is_shared`.
pub(in super::super) fn kept(
    consumers: &[Consumer],
    owner: &OwnerName,
    why: Kept,
    is_shared: bool,
) -> String {
    let (holds, it) = one_or_many(consumers.len(), ("holds", "it"), ("hold", "them"));
    let why = match why {
        Kept::Rollout {
            surge, unavailable, ..
        } => format!(
            ", and the rollout of {owner} keeps {it} until this pod is ready (maxSurge {surge}, maxUnavailable {unavailable}); deleting {it} \
             only makes its controller recreate {it}"
        ),
        Kept::Paused => format!(", and the rollout of {owner} is paused, which keeps {it}"),
        Kept::Surge => format!(
            ", and the rollout of {owner} keeps {it} until this pod is ready: set maxSurge 0 and maxUnavailable 1, which deletes old pods first"
        ),
        Kept::Beside if owner.kind == "DaemonSet" => format!(", and {owner} runs {it} on another node"),
        Kept::Beside => {
            let or = if is_shared {
                "give each pod a claim of its own"
            } else {
                "add a node"
            };
            format!(", and {owner} runs {it} beside this pod: use fewer replicas, or {or}")
        }
        Kept::Circle => format!(
            " and cannot start without it, because {owner} starts its pods when all have nodes: add devices, or use fewer pods"
        ),
    };
    let who = listed(consumers, "and");
    format!("waiting will not help: {who} {holds} what it needs{why}")
}

/// That a higher priority does not help. Mirrors `plugins/dynamicresources/dynamicresources.go`, `PreFilterExtensions`, v1.37.2: removed pods
/// keep their devices in the simulation of preemption.
pub(in super::super) const NO_PREEMPTION: &str =
    "kube-scheduler does not preempt pods for their devices, whatever their priority";

/// That pods with a higher priority wait, too.
pub(in super::super) fn come_first(ahead: &[Key]) -> Option<String> {
    let (wait, come) = one_or_many(ahead.len(), ("waits", "comes"), ("wait", "come"));
    let least = if ahead.len() < MOST_AHEAD { "" } else { "at least " };
    let pods = counted(ahead.len(), "pod", "pods");
    let names = some(ahead.iter().map(pod));
    (!ahead.is_empty()).then(|| {
        format!(
            "{least}{pods} with a higher priority {wait} for such devices, too, and {come} first: {names}"
        )
    })
}

/// That two Jobs may wait for each other.
pub(in super::super) fn held_up(own: &str, other: &str) -> String {
    format!(
        "{own} and {other} both have devices, and pods that wait for more: if the pods of a Job need each other, neither Job ends; suspend one \
         of the two"
    )
}

/// That a rollout deletes those who have what the subject needs.
pub(in super::super) fn rolled_out(
    once_ready: &[Key],
    consumers: &[Consumer],
    owner: &OwnerName,
    nodes: &[Str],
) -> String {
    let awaited = match once_ready {
        [] => ", which does not depend on this pod".to_owned(),
        [one] => format!(", after pod/{one} is ready"),
        more => format!(
            ", after {} are ready",
            some(more.iter().map(|key| format!("pod/{key}")))
        ),
    };
    let deleted = listed(consumers, "or");
    fits_once(
        nodes,
        &format!("the rollout of {owner} deletes {deleted}{awaited}"),
    )
}

/// That it fits once so many of these finish, or are ended where some do not run; `complete` says whether no others would help, and `kept` has the owners that keep some of
/// them running.
pub(in super::super) fn when_finished(
    consumers: &[Consumer],
    (count, all_run): (usize, bool),
    nodes: &[Str],
    complete: bool,
    lacks: &[Lack],
    kept: &BTreeSet<String>,
) -> String {
    let names = |last| listed(consumers, last);
    let (finishes, finish) = if all_run {
        ("finishes", "finish")
    } else {
        ("ends", "end")
    };
    let who = match (consumers.len(), count) {
        (1, _) => format!("{} {finishes}", names("and")),
        (2..=NAMED, 1) => format!("{} {finishes}", names("or")),
        (_, 1) => format!("any one of {} {finishes}", names("and")),
        (all, count) if all == count => format!("{} {finish}", names("and")),
        (all, count) => format!("any {count} of these {all} {finish}: {}", names("and")),
    };
    let others = if complete {
        ""
    } else {
        "; other pods may do as well, but were not tried"
    };
    fits_once(
        nodes,
        &format!("{who}{}{others}{}", lacking(lacks), kept_running(kept)),
    )
}

/// That it fits on these nodes once this is so.
pub(in super::super) fn fits_once(nodes: &[Str], what: &str) -> String {
    format!("fits on {} once {what}", some_of(nodes))
}

/// That kube-scheduler deallocates these claims.
pub(in super::super) fn deallocated(claims: &[&Key]) -> String {
    let names = listed(claims.iter().map(|key| format!("claim/{key}")), "and");
    format!("kube-scheduler deallocates {names}, which it does automatically")
}

/// That kube-scheduler deletes this claim.
pub(in super::super) fn deleted(claim: &Key) -> String {
    format!("kube-scheduler deletes claim/{claim}, which it does automatically")
}

/// The same of a pod that is evicted as soon as it has devices.
pub(in super::super) fn but_evicted(summary: &str) -> String {
    format!("{summary}, but would be evicted immediately")
}

/// That the claim controller deallocates these claims.
pub(in super::super) fn released(claims: &[Key]) -> String {
    let names = some(claims.iter().map(|key| format!("claim/{key}")));
    let whose = one_or_many(claims.len(), "its", "their");
    format!("the claim controller deallocates {names}: {whose} pods are gone or have finished")
}

/// That no controller deallocates these claims, and pods do not use them.
pub(in super::super) fn unreleased(claims: &[Key]) -> String {
    let names = some(claims.iter().map(|key| format!("claim/{key}")));
    let hold = one_or_many(claims.len(), "holds", "hold");
    format!(
        "waiting will not help: {names} {hold} what it needs, and no controller of Kubernetes takes that back"
    )
}

/// That StatefulSets recreate these pods, which are being deleted.
pub(in super::super) fn recreated(pods: &[Key]) -> String {
    let (its, needs) = one_or_many(
        pods.len(),
        ("its StatefulSet recreates it", "it needs"),
        ("their StatefulSets recreate them", "they need"),
    );
    format!(
        "{}: {its} once it is gone, and {needs} a device again",
        some(pods.iter().map(pod))
    )
}

/// That owners keep pods running for whose end something waits.
fn kept_running(owners: &BTreeSet<String>) -> String {
    if owners.is_empty() {
        return String::new();
    }
    let (keeps, it) = one_or_many(
        owners.len(),
        ("keeps its pods", "it is"),
        ("keep their pods", "they are"),
    );
    format!(
        "; {} {keeps} running until {it} scaled down or deleted",
        some(owners)
    )
}

/// That devices have no taints.
pub(in super::super) const UNTAINTED: &str = "the taints of devices are removed";

/// That nodes have no taints.
pub(in super::super) const NODES_UNTAINTED: &str =
    "the pod tolerates the taints of the node, or they are removed";

/// That nodes are uncordoned.
pub(in super::super) const UNCORDONED: &str = "uncordoned";

/// That so many nodes can run pods again.
pub(in super::super) fn ready_again(nodes: usize) -> &'static str {
    one_or_many(nodes, "it is ready again", "they are ready again")
}

/// That it may fit once drivers have published their devices again.
pub(in super::super) fn when_published(nodes: &[Str]) -> String {
    format!(
        "may fit on {} once drivers publish their devices again, normally within a minute",
        some_of(nodes)
    )
}

/// When drivers that were started just now have published.
pub(in super::super) fn when_driver_started(nodes: &[Str]) -> String {
    format!(
        "may fit on {} once the driver there has published its devices",
        some_of(nodes)
    )
}

fn some_of(nodes: &[Str]) -> String {
    let one_of = if nodes.len() > NAMED { "one of " } else { "" };
    format!("{one_of}{}", listed(nodes, "or"))
}

/// Resources other than devices that a node lacks, in parentheses; nothing where there are none.
fn lacking(lacks: &[Lack]) -> String {
    if lacks.is_empty() {
        return String::new();
    }
    let one = |lack: &Lack| format!("{}: {}", lack.resource, short_of(lack, ""));
    let all: Vec<String> = lacks.iter().map(one).collect();
    format!(" ({})", all.join("; "))
}

/// That these pods cannot start before the subject has a node.
pub(in super::super) fn waiting_for(owner: &OwnerName, keys: &[Key], is_gated: bool) -> String {
    let circle = if is_gated {
        "; if its gate is kept until they are ready, waiting will not help"
    } else {
        ""
    };
    format!(
        "{} cannot start without this pod: the pods of {owner} do not start until all have nodes{circle}",
        listed(keys.iter().map(pod), "and")
    )
}
