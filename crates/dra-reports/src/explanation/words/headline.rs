//! The sentences of answers and causes.

use dra_allocator::{AttemptError, ErrorSubject, Failure};
use dra_model::{Component, Condition, ContainerEnd, Gate, Key, Pod, Str};
use dra_rules::owners::{OwnerName, Queued, Retry, ShutQueue};
use dra_rules::scheduling::{IN_MEMORY_CLAIM, KnownBug, Spared, fixed_in};

use super::super::absence::{Absence, ForNodes, Nearest};
use super::super::diagnosis::{
    Alike, Among, Answer, Beside, Bound, Cause, Compared, Diagnosis, Ending, GangCause, HiddenByPlugin, Lost,
    NoNeed, NoPods, NodeGroup, NotAll, OnNode, Outdated, Overdue, Place, Republishing, RequestsTogether,
    Root, StatusProblem, Unserved, Why,
};
use super::super::fact::{Brief, Evidence, Fact, Speaker};
use super::super::failing_end;
use super::super::items::{DeviceCount, Holding};
use super::reasons::{brief, fact, failing, missing_capacity, of_lacking, of_obstacle, plain, rejections};
use super::{NAMED, available, listed, number, one_or_many, several, which, word};
use crate::allocation::words::{claim, of_gang, pod, too_many_consumers};
use crate::listing::{selector_terms, some};
use crate::stage::{broken_link_text, doing_text, ended_text, republishing_text, stuck_text};
use crate::words::counted;

/// The answer.
pub(in super::super) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Unjudged => String::new(),
        Answer::Open(text) => text.clone(),
        Answer::Hidden(kinds) => {
            format!("unknown which node fits {}", crate::warnings::without(kinds))
        }
        Answer::OpenNode(node) => {
            format!("unknown whether it fits on {node}: that depends on an order only kube-scheduler knows")
        }
        Answer::Obstacle(obstacle) => of_obstacle(obstacle),
        Answer::Error => "an error on one node ends the scheduling attempt for all nodes".to_owned(),
        Answer::Fits(fits, nodes) => format!("fits on {fits} of {nodes} nodes"),
        Answer::Evicted(fits, nodes) => {
            format!("fits on {fits} of {nodes} nodes, but would be evicted immediately")
        }
        Answer::Panics(was, panic) => format!(
            "kube-scheduler {} (kubernetes/kubernetes#{}); without this bug it {}",
            if panic.is_known { "panics" } else { "may panic" },
            panic.issue,
            self::answer(was)
        ),
        Answer::Full(fits, nodes, key) => {
            format!("fits on {fits} of {nodes} nodes, but {}", too_many_consumers(key))
        }
        Answer::GaveUp(Some(why)) => format!("undecided: {why}"),
        Answer::GaveUp(None) => "undecided within the search budget".to_owned(),
        Answer::Nowhere(nodes) => nowhere(*nodes),
        Answer::Gang(gang) => of_gang(gang),
        Answer::KeptByQuota(what, then) => format!(
            "a quota blocks creation of {what}; with the claim, it {}",
            self::answer(then)
        ),
        Answer::Allocated(holding) => allocated(holding),
        Answer::NotNeeded(why, keeps_devices) => no_need(why, *keeps_devices),
        Answer::Ended(phase, end) => format!("the pod has finished: {phase}{}", ended(end.as_ref())),
        Answer::Deleted(finalizers) => {
            let kept = match finalizers.as_slice() {
                [] => String::new(),
                names => format!("; it is gone once finalizer {} is removed", some(names)),
            };
            format!("the pod is being deleted, and is not scheduled any more{kept}")
        }
        Answer::NotGone(fact) => format!("the pod is being deleted, but is not gone: {}", self::fact(fact)),
        Answer::Failed(fact) => format!("the pod is not running: {}", self::fact(fact)),
        Answer::Bound(bound) => of_bound(bound),
        Answer::Attaching(fact) => stuck_text(fact),
        Answer::NoPods(owner, why) => no_pods(owner, why),
        Answer::FewerPods(owner, active, wanted, refused) => {
            format!("{owner} has {active} of {wanted} pods: {}", self::word(refused))
        }
        Answer::Silent(was, scheduler, since) => {
            let since = since.map_or_else(String::new, |since| format!(" since it was created at {since}"));
            let was = self::answer(was);
            format!(
                "{scheduler} has reported nothing about the pod{since}, although it {was}: check that {scheduler} is running, and may read claims, slices and classes"
            )
        }
        Answer::Queued(ShutQueue { name, state, .. }, scheduler) => match state {
            Some(state) => {
                format!("queue {name} of its PodGroup is {state}: {scheduler} schedules no new pods of it")
            }
            None => format!("queue {name} of its PodGroup does not exist: {scheduler} does not schedule it"),
        },
        Answer::NotBound(was, word) => format!(
            "{}, but could not be bound there; {}",
            self::answer(was),
            self::word(word)
        ),
        Answer::Contradicted(was, word) => {
            let said = self::word(word);
            match (&**was, &word.who) {
                (was, _) if was.runs() => format!("{said}; {}", self::answer(was)),
                (Answer::Bound(bound), _) => format!(
                    "the pod is bound to {}, and no reason was found why it does not start; {said}",
                    bound.node
                ),
                (_, Speaker::ClaimController) => {
                    format!("no reason was found why the claim is not created from its template; {said}")
                }
                // It decides, by rules of its own.
                (was, Speaker::OtherScheduler(_)) => {
                    format!("{said}; according to the simulation it {}", self::answer(was))
                }
                (was, _) => format!("according to the simulation it {}; {said}", self::answer(was)),
            }
        }
    }
}

/// How a container ended that failed, in parentheses.
fn ended(end: Option<&(Str, ContainerEnd)>) -> String {
    end.map_or_else(String::new, |(container, end)| {
        format!(" ({})", ended_text(container, end))
    })
}

fn no_need(why: &NoNeed, keeps_devices: bool) -> String {
    let why = match why {
        NoNeed::Gone(key) => format!("{}, which it was created for, no longer exists", pod(key)),
        NoNeed::Earlier(key) => format!("it was created for an earlier {}", pod(key)),
        NoNeed::Done(key) => format!(
            "{}, which it was created for, has finished or is being deleted",
            pod(key)
        ),
        NoNeed::Deleted => "it is being deleted, and no pod uses it".to_owned(),
    };
    if keeps_devices {
        format!("it keeps its devices, although {why}")
    } else {
        format!("nothing is allocated for it: {why}")
    }
}

fn of_bound(Bound { node, devices, how }: &Bound) -> String {
    let with = if devices.is_empty() {
        String::new()
    } else {
        format!(" with {}", some(devices))
    };
    match how {
        OnNode::Starts(None) => format!("the pod is bound to {node}"),
        OnNode::Starts(Some(doing)) => format!("the pod is starting on {node}: {}", doing_text(doing)),
        OnNode::Runs(false) => format!("the pod is running on {node}{with}"),
        OnNode::Runs(true) => format!(
            "the pod is running on {node}{with} and still starting: its startup probe has not succeeded yet"
        ),
        OnNode::Ends(ending) => ends(node, ending),
        OnNode::Waits(fact) => format!("the pod is bound to {node} and waits: {}", self::fact(fact)),
        OnNode::Stuck(fact, root) => {
            let (place, but) = match root {
                None => (String::new(), String::new()),
                Some(Root::Unhealthy(root)) => (String::new(), format!("{}; ", self::fact(root))),
                Some(Root::Plugin(users)) => {
                    let users = listed(users.iter().map(pod), "and");
                    (
                        format!(", where {users} may use the same hardware"),
                        String::new(),
                    )
                }
            };
            format!("the pod is bound to {node}{place}, but {but}{}", self::fact(fact))
        }
        OnNode::Endangered(fact) => format!("the pod is running on {node}, but {}", self::fact(fact)),
        OnNode::NotEnding(fact) => format!("the pod is stuck terminating on {node}: {}", self::fact(fact)),
        OnNode::Hidden(kind) => {
            let kind = kind.plural();
            format!(
                "the pod is bound to {node}; unknown whether it has its devices, because {kind} could not be read"
            )
        }
        OnNode::Unknown(why) => {
            let why = why.join("; ");
            format!("the pod is bound to {node}; its progress there is unknown: {why}")
        }
    }
}

/// That a pod is being ended: until when, who evicts it, and what it waits for.
fn ends(node: &str, Ending { due, eviction, waits }: &Ending) -> String {
    let until = due.map_or_else(String::new, |due| format!(", due at {due}"));
    let why = eviction.as_ref().map(condition);
    let why: Vec<String> = waits.iter().cloned().chain(why).collect();
    let why = if why.is_empty() {
        String::new()
    } else {
        format!(": {}", why.join("; "))
    };
    format!("the pod is terminating on {node}{until}{why}")
}

/// Why these nodes are rejected.
fn of_group(group: &NodeGroup) -> String {
    let why = match (&group.devices.as_slice(), &group.reason) {
        ([], Some(reason)) => brief(reason),
        ([], None) => "unknown".to_owned(),
        ([first, ..], _) if first.matching + first.unknown == 0 => {
            format!("no device for {}", wanted(first))
        }
        ([first, ..], _) => {
            let lost = [
                (first.in_use, "in use"),
                (first.tainted, "tainted"),
                (first.blocked, "unavailable"),
            ];
            let lost = lost.iter().filter(|(count, _)| *count > 0);
            let lost: Vec<String> = lost.map(|(count, how)| format!("{count} {how}")).collect();
            let lost = if lost.is_empty() {
                String::new()
            } else {
                format!(" ({})", lost.join(", "))
            };
            format!("too few devices for {}{lost}", wanted(first))
        }
    };
    format!("{}: {why}", some(&group.nodes))
}

/// What wants the devices. Requests for extended resources have names that people never see.
fn wanted(count: &DeviceCount) -> String {
    if count.claim.name == IN_MEMORY_CLAIM {
        "the extended resources of the pod".to_owned()
    } else {
        format!("request {}", count.request)
    }
}

fn nowhere(nodes: usize) -> String {
    match nodes {
        0 => "no nodes exist".to_owned(),
        1 => "does not fit on the only node".to_owned(),
        2 => "does not fit on either node".to_owned(),
        _ => format!("does not fit on any of {nodes} nodes"),
    }
}

fn allocated(holding: &Holding) -> String {
    let devices = match holding.devices.as_slice() {
        [] => "no device".to_owned(),
        all => some(
            all.iter()
                .map(|device| device.rsplit('/').next().unwrap_or(device)),
        ),
    };
    let consumers = match holding.consumers.as_slice() {
        [] => "no consumer (idle)".to_owned(),
        all => some(all),
    };
    let node = holding.node.as_ref();
    let place = node.map_or_else(String::new, |node| format!(" on {node}"));
    format!("allocated{place} ({devices}), reserved for {consumers}")
}

/// Why something waits.
pub(crate) fn why(why: &Why) -> String {
    match why {
        Why::Cause(cause) => self::cause(cause),
        Why::Fact(fact) => self::fact(fact),
        Why::Answer(answer) => self::answer(answer),
    }
}

/// The cause, and the known bug that decides.
pub(in super::super) fn cause_with(cause: &Cause, bug: Option<&KnownBug>) -> String {
    let bug = bug.map_or_else(String::new, |bug| {
        format!(
            ", only by a known bug of kube-scheduler before {} (kubernetes/kubernetes#{})",
            fixed_in(bug.fix),
            bug.issue
        )
    });
    format!("{}{bug}", self::cause(cause))
}

/// The cause.
fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Nowhere(nodes, groups) => {
            let named = groups.iter().take(NAMED).map(of_group);
            let why = named.collect::<Vec<_>>().join("; ");
            match groups.len().saturating_sub(NAMED) {
                0 if why.is_empty() => nowhere(*nodes),
                0 => format!("{}: {why}", nowhere(*nodes)),
                _ => format!("{}: {why}; others for other reasons", nowhere(*nodes)),
            }
        }
        Cause::Error(error) => of_error(error),
        Cause::TooManyConsumers(key) => too_many_consumers(key),
        Cause::Allocated(key, node, place) => {
            let why = match place {
                Place::NodeName => "but the pod names another node".to_owned(),
                Place::NodeAffinity => "which the pod's node selector or affinity excludes".to_owned(),
                Place::Cordoned => "which is cordoned".to_owned(),
                Place::NodeOperations => format!(
                    "which does not declare feature {}, although its devices skip node operations",
                    Gate::DRAOptionalNodeOperations
                ),
                Place::Other(fact) => format!("which cannot take the pod: {}", self::fact(fact)),
            };
            format!("{} is allocated on node/{node}, {why}", claim(key))
        }
        Cause::AllocatedNowhere(key, selector) => format!(
            "{} is allocated for nodes with {}, and no node matches",
            claim(key),
            selector_terms(selector).join(" or ")
        ),
        Cause::Apart(claims) => {
            let claims = claims.iter().map(|(key, node, holding)| {
                let by = match holding.consumers.as_slice() {
                    [] => String::new(),
                    users => format!(" (used by {})", listed(users, "and")),
                };
                format!("{} on {node}{by}", claim(key))
            });
            format!("its claims are allocated on different nodes: {}", some(claims))
        }
        Cause::Alike(Brief::Fact(Fact::RuledOut(_, Evidence::Lacking(lacking)))) => of_lacking(lacking),
        Cause::Alike(Brief::Fact(Fact::RuledOut(_, Evidence::NoCapacity(name, meant)))) => {
            format!("no device has {}", missing_capacity(name, meant.as_ref()))
        }
        Cause::Alike(brief @ (Brief::Fact(Fact::Plain(_)) | Brief::Lacks(..))) => {
            format!("no node can take the pod: {}", self::brief(brief))
        }
        Cause::Alike(brief) => self::brief(brief),
        Cause::OnNode(node, fact @ Fact::Plain(_)) => {
            format!("{node} cannot take the pod: {}", self::fact(fact))
        }
        Cause::OnNode(node, fact) => format!("on {node}, {}", self::fact(fact)),
        Cause::Absent(absence) => absent(absence),
        Cause::Unserved(found) => unserved(found),
        Cause::SkipsOperations(pools, by, nodes) => {
            let gate = Gate::DRAOptionalNodeOperations;
            let pools = some(pools.iter().map(|pool| format!("pool/{pool}")));
            let nodes = some(nodes);
            let why = match by {
                Component::Kubelet => {
                    format!(
                        "which the kubelets of {nodes} do not support: they do not declare feature {gate}"
                    )
                }
                _ => format!("which {by} does not support: {gate} is off there"),
            };
            format!("devices of {pools} skip node operations, {why}")
        }
        Cause::Besides(cause, known) => besides(cause, known),
        Cause::Republishing(found) => republishing(found),
        Cause::Unoffered(resource, class) => match class {
            Some((class, free)) => format!(
                "no node and no class offers {resource}; class {class} has {} but no extendedResourceName",
                counted(*free, "available device", "available devices")
            ),
            None => format!("no node and no class offers {resource}"),
        },
        Cause::TooFew(among, wanted, kind, lost) => {
            let which = which(*among);
            let lost = lost
                .as_ref()
                .map_or_else(String::new, |lost| format!(": {}", self::lost(lost)));
            format!("{which} has {}{lost}", available(*wanted, kind))
        }
        Cause::Filtered(node, wanted, kind, why) => format!(
            "{node} has {}, but cannot take the pod: {}",
            available(*wanted, kind),
            why.iter().map(plain).collect::<Vec<_>>().join(", ")
        ),
        Cause::Rejected(nodes, by, near) => {
            let (have, them) = one_or_many(nodes.len(), ("has", "it"), ("have", "them"));
            let near = near.as_ref().map_or_else(String::new, |(near, lacking)| {
                let lack = if lacking.is_empty() {
                    String::new()
                } else {
                    let (lack, _) = one_or_many(lacking.len(), ("lacks", ""), ("lack", ""));
                    format!(", where {} {lack} devices for it", listed(lacking, "and"))
                };
                format!(": {}{lack}", super::fixes::kept_near(near))
            });
            format!(
                "{} {have} the devices and resources for it, but kube-scheduler rejects {them}: {}{near}",
                listed(nodes, "and"),
                rejections(by)
            )
        }
        Cause::NotAll(not_all) => of_all(not_all),
        Cause::Alternatives(request, causes) => {
            let causes = causes
                .iter()
                .map(|(name, cause)| format!("{name}: {}", self::cause(cause)));
            format!(
                "no alternative of request {request} fits: {}",
                causes.collect::<Vec<_>>().join("; ")
            )
        }
        Cause::NotAlike(alike) => not_alike(Among::All, "available ", alike),
        Cause::NotEnough(requests) => not_enough(Among::All, requests),
        Cause::Queued(queued) => self::queued(queued),
        Cause::Gang(gang, lacks) => {
            let text = of_gang(gang);
            match lacks {
                None => text,
                Some(GangCause::Why(why)) => format!("{text}: {}", self::why(why)),
                Some(GangCause::Waits(key, obstacle)) => {
                    format!("{text}: {} is pending: {}", pod(key), of_obstacle(obstacle))
                }
            }
        }
        Cause::Status(key, problem) => {
            let why = match problem {
                StatusProblem::Gone => "no longer exists".to_owned(),
                StatusProblem::OfEarlierPod => "was created for an earlier pod with the same name".to_owned(),
                StatusProblem::Of(owner) => format!("was created for {owner}"),
                StatusProblem::NotMade => "was not created for it".to_owned(),
            };
            format!("its status names {}, which {why}", claim(key))
        }
    }
}

/// The cause with what else is known of it.
fn besides(cause: &Cause, known: &Beside) -> String {
    let why = self::cause(cause);
    match known {
        Beside::Fault(fault) => format!("{why}; {}", self::cause(fault)),
        Beside::Rejected(by) => format!(
            "kube-scheduler rejects it before it looks at devices: {}; besides, {why}",
            rejections(by)
        ),
        Beside::Outdated(Outdated {
            slice,
            generation,
            current,
            devices,
        }) => format!(
            "{why}; {} in outdated slice {slice} (generation {generation}, current {current}), which kube-scheduler ignores",
            counted(*devices, "more is", "more are")
        ),
        Beside::Held(by) => format!("{why}: {}", held(by)),
        Beside::Kept(owner, _) => {
            let hold = match cause {
                Cause::Allocated(..) | Cause::Alike(Brief::Fact(Fact::NotShared(_))) => "use it",
                _ => "hold them",
            };
            format!("{why}: other pods of {owner} {hold}")
        }
        Beside::Circle(owner, members) => {
            let hold = one_or_many(members.len(), "holds", "hold");
            format!(
                "{why}: {} {hold} them and cannot start without this pod, because {owner} starts its pods when all have nodes",
                listed(members.iter().map(pod), "and")
            )
        }
        Beside::NotRunning(holder, fact) => {
            format!("{why}; {}", super::idle_holder(holder, &stuck_text(fact)))
        }
        Beside::Lasting(holder, fact) => {
            format!("{why}; {}", super::lasting_holder(holder, &stuck_text(fact)))
        }
        Beside::Abandoned(claims) => {
            let names = some(claims.iter().map(claim));
            format!("{why}: held by {names}, which no pod uses")
        }
        Beside::LeftOver(owner) => format!("{why}: pods of {owner}, which has ended, hold them"),
        Beside::Superseded(owner) => format!("{why}; {owner} has a newer pod template than this pod"),
        Beside::NoNode(autoscaler) => format!("{why}; {autoscaler} adds no node for pods with claims"),
        Beside::NotScaledUp(autoscaler) => format!("{why}; {autoscaler} adds no node with such devices"),
        Beside::Deallocated => format!("{why}; kube-scheduler deallocates it automatically"),
        Beside::EvictedAgain(taint) => format!(
            "{why}; a pod that gets one is evicted immediately: it tolerates taint {taint} without effect NoExecute, which does not stop the eviction"
        ),
        Beside::Ending(holder, due) => format!(
            "{why}; {}, whose end is enough, is being deleted, due at {due}",
            pod(holder)
        ),
        Beside::Starting(node, added) => {
            let added = added.map_or_else(String::new, |at| format!(", added at {at}"));
            format!("{why}; the driver is starting on {node}{added}")
        }
        Beside::Others(group) => match &group.reason {
            Some(seen @ Brief::Seen(_)) => format!("{why}; {}: {}", some(&group.nodes), brief(seen)),
            _ => format!("{why}; {}", of_group(group)),
        },
        Beside::Misplaced(taint, nodes) => format!(
            "{why}; devices of {} have device taint {taint}, and the toleration of the pod counts for nodes only",
            some(nodes)
        ),
        Beside::TaintsAll(rule, None) => {
            format!("{why}; devicetaintrule/{rule} taints all devices, as its deviceSelector is empty")
        }
        Beside::TaintsAll(rule, Some(driver)) => {
            format!("{why}; devicetaintrule/{rule} taints all devices of driver {driver}")
        }
        Beside::Hidden(hidden) => {
            let HiddenByPlugin {
                node,
                resource,
                class,
                ..
            } = hidden;
            let free = counted(hidden.free, "available device", "available devices");
            let users = listed(hidden.users.iter().map(pod), "and");
            if users.is_empty() {
                let are = one_or_many(hidden.free, "is", "are");
                format!(
                    "{why}; {free} of class {class} {are} not used for it, because a device plugin offers {resource} on {node}"
                )
            } else {
                format!(
                    "{why}; {free} of class {class} on {node} may be the hardware that {users} have from the device plugin for {resource}"
                )
            }
        }
        Beside::SamePool(pool) => format!(
            "{why}; several nodes publish pool/{pool}, so a device in use on one of them counts as in use on the others, too"
        ),
    }
}

/// That a driver publishes nothing for nodes, and why.
fn unserved(found: &Unserved) -> String {
    let Unserved { driver, nodes, link } = found;
    format!(
        "driver {driver} publishes no devices for {}: {}",
        some(nodes),
        broken_link_text(link)
    )
}

/// That drivers have yet to publish again what the start of a kubelet deleted.
pub(in super::super) fn republishing(found: &Republishing) -> String {
    let Republishing {
        nodes,
        since,
        drivers,
        ..
    } = found;
    let who = match drivers.len() {
        0 => "drivers publish".to_owned(),
        1 => format!("driver {} publishes", some(drivers)),
        _ => format!("drivers {} publish", some(drivers)),
    };
    republishing_text(nodes, *since, &who)
}

/// What rules devices out that are not in use.
fn lost(Lost { tainted, taints, why }: &Lost) -> String {
    let tainted = (*tainted > 0).then(|| {
        let is = if *tainted == 1 { "is" } else { "are" };
        let taints = if taints.is_empty() {
            String::new()
        } else {
            format!(" ({})", some(taints))
        };
        format!("{tainted} {is} tainted{taints}")
    });
    let why = why.as_ref().map(brief);
    tainted.into_iter().chain(why).collect::<Vec<_>>().join(", ")
}

/// At which step no device is left.
pub(in super::super) fn absent(absence: &Absence) -> String {
    match absence {
        Absence::Unpublished(class) => {
            format!("no devices are published, of class {class} or any other")
        }
        Absence::OtherClasses(class, published, driver) => {
            let none = match published {
                1 => format!("the only published device is not of class {class}"),
                _ => format!("none of the {published} published devices is of class {class}"),
            };
            let driver = driver
                .as_ref()
                .map_or_else(String::new, |driver| format!(": driver {driver} publishes none"));
            none + &driver
        }
        Absence::Unselected {
            class,
            of_class,
            nearest,
        } => {
            let all = counted(*of_class, "device", "devices");
            match nearest {
                Some(Nearest::Amount {
                    device,
                    name,
                    most,
                    wanted,
                }) => {
                    let mut short = wanted.clone();
                    short.sub(most);
                    format!(
                        "none of {all} of class {class} has {wanted} of {name}: the largest is {most} ({device}), {short} short"
                    )
                }
                Some(Nearest::Attribute { name, wanted, there }) => {
                    let there = listed(there, "and");
                    format!("none of {all} of class {class} has {name} {wanted}; published values: {there}")
                }
                Some(Nearest::Both { name, values }) => format!(
                    "the request selects none of {all} of class {class}: all of its selectors have to hold, and they require {name} to be {} at the same time (one selector with || selects either)",
                    listed(values, "and")
                ),
                Some(Nearest::Term { device, term, seen }) => format!(
                    "the request selects none of {all} of class {class}; for {device}, this is not true: {}",
                    failing(term, seen)
                ),
                None => format!("the request selects none of {all} of class {class}"),
            }
        }
        Absence::Unreached {
            class,
            selected,
            pool,
            nodes,
        } => {
            let nodes = match nodes {
                ForNodes::Named(name) => format!("is for node/{name}, which does not exist"),
                ForNodes::Selected(selector) => format!(
                    "is for nodes with {}, and no node matches",
                    selector_terms(selector).join(" or ")
                ),
                ForNodes::Unknown => "names no node".to_owned(),
            };
            let devices = match selected {
                1 => "the only device".to_owned(),
                selected => format!("any of {selected} devices"),
            };
            format!("no node can access {devices} of class {class}: pool {pool} {nodes}")
        }
    }
}

/// That none of these nodes has enough devices for the requests together.
pub(super) fn not_enough(among: Among, RequestsTogether { requests, same }: &RequestsTogether) -> String {
    match same {
        Some((name, value, count)) => format!(
            "requests {} {} select {name} {value}, and {} has {} such devices",
            listed(requests, "and"),
            if requests.len() == 2 { "both" } else { "all" },
            which(among),
            number(*count)
        ),
        None => format!(
            "{} has enough devices for requests {} together",
            which(among),
            listed(requests, "and")
        ),
    }
}

/// That no devices of these nodes, free or not, share an attribute or differ in it.
pub(in super::super) fn never_alike(alike: &Alike, among: Among) -> String {
    let never = if alike.shares_counters {
        " that can be allocated together: their shared counters never suffice"
    } else {
        ", available or not"
    };
    not_alike(among, "", alike) + never
}

fn not_alike(among: Among, available: &str, alike: &Alike) -> String {
    let devices = match &alike.of {
        Compared::Devices(count, kind) => format!("{} {available}{}", number(*count), several(kind)),
        Compared::Requests(requests) => {
            format!("{available}devices for requests {}", listed(requests, "and"))
        }
    };
    format!("{} has {devices} {}", which(among), do_alike(alike))
}

/// What devices would have to do with an attribute.
fn do_alike(alike: &Alike) -> String {
    let with = if alike.same {
        "with the same"
    } else {
        "with different"
    };
    let lists = alike.lists_of.as_ref().map_or_else(String::new, |driver| {
        format!(
            " (driver {driver} publishes it as a list, which constraints ignore before 1.37 or without gate {})",
            Gate::DRAListTypeAttributes
        )
    });
    format!("{with} {}{lists}", alike.attribute)
}

fn of_all(not_all: &NotAll) -> String {
    let NotAll {
        node,
        among,
        others,
        kind,
        matching,
        in_use,
        users,
        tainted,
        taints: (devices, taints),
        blocked,
    } = not_all;
    let by = if users.is_empty() {
        String::new()
    } else {
        format!(" by {}", listed(users, "and"))
    };
    let with = if taints.is_empty() {
        String::new()
    } else {
        format!(" ({}: {})", some(devices), some(taints))
    };
    let lost = [
        (*in_use, "in use", by.as_str()),
        (*tainted, "tainted", with.as_str()),
        (*blocked, "unavailable", ""),
    ];
    let lost = lost.into_iter().filter(|(count, ..)| *count > 0);
    let lost: Vec<String> = lost
        .map(|(count, how, by)| format!("{count} {} {how}{by}", if count == 1 { "is" } else { "are" }))
        .collect();
    let others = match (others, among) {
        (0, _) => "",
        (_, Among::All) => "; no other node has all of its devices available",
        // Of nodes that other filters reject nothing is said.
        _ => "; no other eligible node has all of its devices available",
    };
    format!(
        "it requests all {matching} {} of {node}, but {}{others}",
        several(kind),
        lost.join(", ")
    )
}

/// Who holds what is needed and is spared, in few words.
pub(in super::super) fn held(why: &Spared) -> String {
    match why {
        Spared::Kin(owner) => format!("other pods of {owner} hold them"),
        Spared::MaybeKin(one, other) => {
            format!("they are held by pods that may have the same owner ({one}, {other})")
        }
        Spared::Group(group) => format!("other pods of podgroup/{group} hold them"),
        Spared::Written => "pods of the manifest hold them".to_owned(),
    }
}

/// What the error says, without what is known from the rest of the report, and without advice.
fn of_error(AttemptError { subject, failure }: &AttemptError) -> String {
    let what = match failure {
        Failure::Compile(why) => format!("CEL compile error: {why}"),
        Failure::Runtime(why) | Failure::NoSuchKey(why) => why.to_string(),
        Failure::Pool(pool) => pool.1.to_string(),
        Failure::Disabled(_) | Failure::Other(_) => failure.to_string(),
    };
    let on = |device: &Option<dra_model::DeviceId>| match device {
        Some(device) => format!(" on device {device}"),
        None => String::new(),
    };
    match subject {
        ErrorSubject::Attempt => what,
        ErrorSubject::Request(_, request) => format!("request {request} {what}"),
        ErrorSubject::Subrequest(_, request) => format!("subrequest {request}: {what}"),
        ErrorSubject::RequestSelector(_, request, place) => {
            format!("request {request}, selector #{place} {what}")
        }
        ErrorSubject::Constraint(_, place) => format!("constraint #{place}: {what}"),
        ErrorSubject::ClaimSelector(_, place, device) => format!("selector #{place}{}: {what}", on(device)),
        ErrorSubject::ClassSelector(class, place, device) => {
            format!("class {class}: selector #{place}{}: {what}", on(device))
        }
    }
}

/// What a queue holds back.
fn queued(queued: &Queued) -> String {
    let Queued {
        workload,
        of: _,
        retry,
        reason,
        message,
        since,
        requeued,
    } = queued;
    let state = match retry {
        Retry::Automatic | Retry::WithQueue | Retry::WithName | Retry::WithQuota => "does not admit",
        Retry::WhenActive | Retry::WithTemplate | Retry::WithMapping | Retry::Anew | Retry::Never => {
            "has given up on"
        }
        Retry::WithPods { there, total } => {
            return format!(
                "Kueue waits for all pods of pod group {}: {there} of {total} are there",
                workload.name
            );
        }
    };
    let mut code = String::new();
    if !reason.is_empty() {
        let since = since.map_or_else(String::new, |since| format!(" since {since}"));
        code = format!(" ({reason}{since})");
    }
    let said = if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    };
    let requeued = requeued.map_or_else(String::new, |(count, at)| {
        let times = counted(usize::try_from(count).unwrap_or_default(), "time", "times");
        format!("; it was requeued {times}, and Kueue tries it again after {at}")
    });
    format!("Kueue {state} workload/{}{code}{said}{requeued}", workload.name)
}

/// What a pod lacks whose node others wait for.
pub(in super::super) fn of_member(key: &Key, diagnosis: &Diagnosis) -> String {
    let cause = diagnosis
        .cause
        .as_ref()
        .filter(|cause| !diagnosis.answer.tells(cause));
    let cause = cause.map_or_else(String::new, |cause| format!(": {}", self::cause(cause)));
    let waiting = diagnosis.waiting.as_ref();
    let waiting = waiting.map_or_else(String::new, |waiting| format!("; {}", waiting.summary));
    format!("{} {}{cause}{waiting}", pod(key), answer(&diagnosis.answer))
}

/// Which of the pods of an owner is reported.
pub(in super::super) fn one_of_pods(
    owner: &OwnerName,
    pods: usize,
    looked_at: usize,
    troubled: usize,
) -> String {
    let is_fine = troubled == 0;
    if is_fine && looked_at < pods {
        format!("{owner} has {pods} pods, none of the {looked_at} examined is pending")
    } else if is_fine {
        format!("{owner} has {pods} pods, and none is pending")
    } else {
        let others = match troubled {
            1 => String::new(),
            more => format!("; {} more with one", more - 1),
        };
        format!("first pod with a problem, of the {pods} pods of {owner}{others}")
    }
}

/// That pods of a Job have failed, the last one of them, and the indexes that are given up.
pub(in super::super) fn failures(owner: &OwnerName, failed: i64, last: &Pod, indexes: &str) -> String {
    let failed = failed_pods(owner, failed, &last.key(), failing_end(last).as_ref());
    match indexes {
        "" => failed,
        indexes => format!("{failed}; it does not run indexes {indexes} again"),
    }
}

fn failed_pods(owner: &OwnerName, failed: i64, last: &Key, end: Option<&(Str, ContainerEnd)>) -> String {
    let pods = counted(usize::try_from(failed).unwrap_or_default(), "pod", "pods");
    format!("{pods} of {owner} failed, the last {}{}", pod(last), ended(end))
}

/// That a StatefulSet creates its pods one after another.
pub(in super::super) fn next_pod(
    owner: &OwnerName,
    active: usize,
    wanted: Option<i64>,
    in_order: Option<bool>,
) -> String {
    let unless = match in_order {
        Some(_) => "",
        None => "unless spec.podManagementPolicy is Parallel, ",
    };
    let has = has_pods(owner, active, wanted);
    format!("{has}: {unless}it creates the next one once all of them are ready")
}

/// That a StatefulSet makes no other pod of a name before one is gone. Mirrors `statefulset/stateful_set_control.go`, `processReplica`, v1.37.2.
pub(in super::super) fn replacement(
    owner: &OwnerName,
    active: usize,
    wanted: Option<i64>,
    pod: &str,
) -> String {
    let has = has_pods(owner, active, wanted);
    format!("{has}: it creates the replacement of {pod} once this pod is gone")
}

fn has_pods(owner: &OwnerName, active: usize, wanted: Option<i64>) -> String {
    let of = wanted.map_or_else(String::new, |wanted| format!(" of {wanted}"));
    format!("{owner} has {active}{of} pods")
}

/// That an owner has ended.
pub(in super::super) fn owner_ended(owner: &OwnerName, said: &Condition) -> String {
    format!("{owner} has finished: {}", condition(said))
}

fn no_pods(owner: &OwnerName, why: &NoPods) -> String {
    let why = match why {
        NoPods::Queued(queued) => format!(": {}", self::queued(queued)),
        NoPods::Managed(by) => format!(" here: {by} runs it, not the Job controller (spec.managedBy)"),
        NoPods::Suspended(None) => ": it is suspended: set spec.suspend to false to run it".to_owned(),
        NoPods::Suspended(Some(queue)) => {
            format!(": it is suspended until Kueue admits it from LocalQueue {queue}")
        }
        NoPods::Says(said) => format!(": {}", condition(said)),
        NoPods::Refused(word) => format!(": {}", self::word(word)),
        NoPods::Ended(said, overdue) => {
            let overdue = overdue.as_ref().map(self::overdue).unwrap_or_default();
            format!(": it has finished: {}{overdue}", condition(said))
        }
        NoPods::Zero(field) => format!(": spec.{field} is 0"),
        NoPods::Failed {
            failed,
            limit,
            last,
            end,
            rejected,
        } => {
            let failed = failed_pods(owner, *failed, last, end.as_ref());
            let rejected = rejected
                .as_ref()
                .map_or_else(String::new, |fact| format!(" ({})", stuck_text(fact)));
            return format!("{failed}{rejected}; it retries after a delay, up to backoffLimit {limit}");
        }
        NoPods::Unknown(None) => "; the reason is unknown".to_owned(),
        NoPods::Unknown(Some(word)) => format!("; the last warning about it is of {}", self::word(word)),
    };
    format!("{owner} has no pods{why}")
}

/// The deadline that has ended a Job.
fn overdue(Overdue { seconds, unplaced }: &Overdue) -> String {
    let unplaced = unplaced.as_ref().map_or_else(String::new, |(key, said)| {
        format!("; no node was found for {} until then: {}", pod(key), word(said))
    });
    format!(" (activeDeadlineSeconds {seconds}){unplaced}")
}

fn condition(said: &Condition) -> String {
    let Condition {
        type_,
        reason,
        message,
        last_transition_time,
        ..
    } = said;
    let since = last_transition_time.map_or_else(String::new, |since| format!(" since {since}"));
    match (reason.as_str(), message.as_str()) {
        ("", "") => format!("{type_}{since}"),
        (reason, "") => format!("{type_}{since}, {reason}"),
        ("", message) => format!("{type_}{since}: {message}"),
        (reason, message) => format!("{type_}{since}, {reason}: {message}"),
    }
}
