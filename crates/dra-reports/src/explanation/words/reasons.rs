//! The sentences of facts: why a node, a pool or a device is ruled out.

use dra_allocator::devices::RuledOut;
use dra_allocator::{ClashingValues, ConstraintName, Shortage, Together};
use dra_cel::Seen;
use dra_model::{Gate, Key, Str, Taint};
use dra_rules::reservation::ClaimNameError;
use dra_rules::scheduling::{ClaimProblem, Lack, NoUse, Obstacle, Plain, Rejection, marked_for_removal};

use super::super::fact::{Allowed, Brief, Evidence, Fact, Lacking, Limited, NotMade, Term};
use super::super::items::Amounts;
use super::{claims, one_or_many, word};
use crate::allocation::words::{claim, of_gang, refused, too_many_consumers};
use crate::listing::some;
use crate::stage::{labels_text, stuck_text, template_missing};

/// That devices in use can be asked for, too.
pub(in super::super) const ADMIN_ACCESS: &str = "to monitor devices that other pods use, request them with adminAccess: true in a namespace labeled \
     resource.kubernetes.io/admin-access=true";

/// A fact in a sentence, about what is the subject's own.
pub(super) fn fact(fact: &Fact) -> String {
    of_reason(None, fact)
}

/// A reason in a sentence. `about` is the claim that it is about.
pub(in super::super) fn of_reason(about: Option<&Key>, fact: &Fact) -> String {
    let own = Key::default();
    let of_claim = || claim(about.unwrap_or(&own));
    match fact {
        Fact::Binding(state) if about.is_some() => format!("{}: {}", of_claim(), state.text()),
        Fact::TooManyConsumers => too_many_consumers(about.unwrap_or(&own)),
        Fact::NodeOperations => format!(
            "{} has devices that skip node operations, but the node does not declare feature {}",
            of_claim(),
            Gate::DRAOptionalNodeOperations
        ),
        Fact::Released(why, group) => {
            let idle = match (group, why) {
                (Some(group), _) => {
                    format!(" and reserved for podgroup/{group}, which has no scheduled pod")
                }
                (None, NoUse::OtherNodes) => " and idle".to_owned(),
                (None, _) => String::new(),
            };
            let why = match why {
                NoUse::OtherNodes => "is allocated elsewhere",
                NoUse::NotReady => "has devices that are not ready",
                NoUse::NodeOperations => {
                    "has devices that skip node operations, but its node does not declare the feature"
                }
            };
            format!(
                "{} {why}{idle}: kube-scheduler deallocates it and retries automatically",
                of_claim()
            )
        }
        Fact::ReservedForGroup(group, knows_groups) => {
            let why = if *knows_groups {
                "other pods of the group have a node, or it is not one of the group's claims".to_owned()
            } else {
                format!(
                    "its gate {} is off, so it does not support claims of PodGroups",
                    Gate::DRAWorkloadResourceClaims
                )
            };
            format!(
                "{} stays reserved for podgroup/{group}, the pod's own group: kube-scheduler does not remove that reservation, because \
                 {why}",
                of_claim()
            )
        }
        Fact::UnreservedByScheduler(group, others) => format!(
            "kube-scheduler removes the reservation for podgroup/{group} from {} automatically, because none of its pods has a node; the \
             claim stays reserved for {}",
            of_claim(),
            others.join(", ")
        ),
        Fact::Obstacle(obstacle) => of_obstacle(obstacle),
        Fact::NoTemplate(template, pod) => template_missing(template, pod),
        Fact::NotMade(why) => not_made(why),
        Fact::Quota(what, refusal) => refused(what, refusal),
        Fact::NotNamed => "the pod's affinity names other nodes".to_owned(),
        Fact::Plain(plain) => self::plain(plain),
        Fact::Error(error) => error.to_string(),
        Fact::NotLookedAt(why) => (*why).to_owned(),
        Fact::AllocatedElsewhere(node) => format!("allocated on {}", elsewhere(node.as_ref())),
        Fact::Binding(state) => state.text(),
        Fact::LeftBehind(left) => format!("{} of an earlier attempt remains", claim(left)),
        Fact::NoSuchResource(name) => format!("the node has no {name}, and no DeviceClass provides it"),
        Fact::NodeResources(reason) => reason.clone(),
        Fact::NotShared(key) => format!(
            "{} is for one pod only, as its devices stand for resources of the node, such as CPU",
            claim(key)
        ),
        Fact::PoolIncomplete(pool, Some(slices)) => format!(
            "pool {pool} is incomplete: {} of {} slices of generation {}",
            slices.there, slices.expected, slices.generation
        ),
        Fact::PoolIncomplete(pool, None) => format!("pool {pool} is incomplete"),
        Fact::PoolInvalid(pool, why) => format!("pool {pool} is invalid: {why}"),
        Fact::NoDevices => "the node has no devices".to_owned(),
        Fact::TooFewDevices {
            wanted,
            free,
            most,
            total,
        } => {
            let some = if most == free {
                most.to_string()
            } else {
                format!("at most {most}")
            };
            match wanted {
                Some(wanted) => format!("requests {wanted}, and {some} of {total} devices are available"),
                None => format!("requests all matching devices, and {some} of {total} are available"),
            }
        }
        Fact::NotListed(devices) => {
            format!("{devices} more devices are unavailable; their reasons are not listed")
        }
        Fact::RuledOut(why, evidence) => ruled_out(*why, evidence),
        Fact::Trouble(trouble) => trouble.to_string(),
        Fact::Together(together) => of_together(together),
        Fact::Gang(gang) => of_gang(gang),
        Fact::Contradicted(word) | Fact::NotBound(word) => self::word(word),
        Fact::Rejected(by) => format!("kube-scheduler: {}", rejections(by)),
        Fact::Stage(fact) => stuck_text(fact),
    }
}

fn elsewhere(node: Option<&Str>) -> String {
    node.map_or_else(|| "other nodes".to_owned(), |node| format!("node/{node}"))
}

/// A fact in few words, which are the same for nodes and devices that are alike.
pub(in super::super) fn brief(brief: &Brief) -> String {
    match brief {
        Brief::Amounts(limited, Amounts { wanted, left, total }) => {
            let of = match limited {
                Limited::Devices => String::new(),
                Limited::Counter(name) => format!(" of counter {name}"),
                Limited::Capacity(name) => format!(" of {name}"),
            };
            format!("needs {wanted}{of}, {left} of {total} left")
        }
        Brief::Elsewhere(key, node) => {
            format!("{} is allocated on {}", claim(key), elsewhere(node.as_ref()))
        }
        Brief::Slices(there, all) => format!("pool incomplete: {there} of {all} slices"),
        Brief::Lacks(lacks, at_most) => self::lacks(lacks, *at_most),
        Brief::Seen(all) => {
            let all = all.iter().map(|Seen { name, value, .. }| match value {
                Ok(value) => format!("{name} is {value}"),
                Err(why) => why.to_string(),
            });
            all.collect::<Vec<_>>().join(", ")
        }
        Brief::Requests(requests) => format!("too few for {} together", names(requests).join(" and ")),
        Brief::Fact(Fact::RuledOut(_, Evidence::Lacking(lacking))) => format!(
            "{} of {} lack attribute {}",
            if lacking.is_of_all {
                "devices"
            } else {
                "some devices"
            },
            lacking.driver,
            lacking.constraint.attribute
        ),
        Brief::Fact(fact) => self::fact(fact),
    }
}

/// Which devices lack an attribute, and which have it.
pub(super) fn of_lacking(lacking: &Lacking) -> String {
    let Lacking {
        constraint,
        driver,
        is_of_all,
        others,
        similar,
    } = lacking;
    let attribute = &constraint.attribute;
    let who = if *is_of_all {
        format!("no device of driver {driver} has attribute {attribute}")
    } else {
        format!("the available devices of driver {driver} lack attribute {attribute}")
    };
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" with those of {}", some(others)),
    };
    let similar = match similar {
        Some((name, Some(value))) => format!("; they have {name}, which shares values such as {value}"),
        Some((name, None)) => format!("; they have {name}"),
        None => String::new(),
    };
    format!("{who}, which {} compares{others}{similar}", rule(constraint))
}

/// How the devices of a driver could meet a constraint whose attribute they lack.
pub(in super::super) fn keeps_alignment(lacking: &Lacking) -> Option<String> {
    let (name, value) = lacking.similar.as_ref()?;
    if value.is_none() {
        return Some(format!("to keep the alignment, compare {name} instead"));
    }
    Some(format!(
        "to keep the alignment, use a release of driver {} that publishes {} ({name} seems to be the same), or compare an attribute that \
         all devices have",
        lacking.driver, lacking.constraint.attribute
    ))
}

/// The requests, with their claims where there are several.
fn names(requests: &[(Key, Str)]) -> Vec<String> {
    let first = requests.first().map(|(claim, _)| claim);
    let several_claims = requests.iter().any(|(claim, _)| Some(claim) != first);
    requests
        .iter()
        .map(|(key, request)| {
            if several_claims {
                format!("{request} of {}", claim(key))
            } else {
                request.to_string()
            }
        })
        .collect()
}

/// The words of kube-scheduler about filters that are not simulated.
pub(super) fn rejections(by: &[Rejection]) -> String {
    let words: Vec<&str> = by.iter().map(|rejection| rejection.words.as_str()).collect();
    words.join(", or ")
}

fn of_together(together: &Together) -> String {
    match together {
        Together::Constraints(constraints, values) => {
            let names: Vec<String> = constraints.iter().map(constraint_name).collect();
            let must_equal = constraints.iter().any(|constraint| constraint.same);
            let clash = values
                .as_ref()
                .map_or_else(String::new, |values| clash(values, must_equal));
            format!(
                "the remaining devices do not meet {}{clash}; without {} the claims fit",
                names.join(" and "),
                one_or_many(names.len(), "it", "them"),
            )
        }
        Together::Counters(pool, shortage, by) => format!(
            "the devices allocated first{} leave too little of counter {} in pool {pool} for the next; without shared counter limits the \
             claims fit",
            match by.as_slice() {
                [] => String::new(),
                by => format!(" and those of {}", claims(by)),
            },
            short(shortage)
        ),
        Together::Requests {
            requests,
            is_smallest,
        } => match (names(requests).as_slice(), is_smallest) {
            ([one], _) => format!(
                "the remaining devices are not enough for request {one}, although enough are available at first"
            ),
            (all, true) => format!(
                "the remaining devices are not enough for requests {} together; without any one of them the others fit",
                all.join(", ")
            ),
            (all, false) => format!(
                "the remaining devices are not enough for requests {} together; unknown whether fewer of them would fit",
                all.join(", ")
            ),
        },
        Together::NotShown(why) => format!(
            "the remaining devices are not enough for the requests together; the search failed last on {}, which may not be the reason",
            <&str>::from(why)
        ),
        Together::Unknown => {
            "the remaining devices are not enough for the requests together; the limiting factor is unknown"
                .to_owned()
        }
    }
}

/// The values that clash: equal ones do where they have to differ, and where they `must_equal` each other if they are of different types.
fn clash(values: &ClashingValues, must_equal: bool) -> String {
    let ClashingValues {
        taken: (taken, value),
        refused: (refused, other),
    } = values;
    let of_type = if must_equal && value == other {
        " of another type"
    } else {
        ""
    };
    format!(": {taken} has {value}, {refused} has {other}{of_type}")
}

fn constraint_name(constraint: &ConstraintName) -> String {
    format!(
        "constraint #{} of {} ({} {})",
        constraint.place,
        claim(&constraint.claim),
        rule(constraint),
        constraint.attribute
    )
}

fn rule(constraint: &ConstraintName) -> &'static str {
    if constraint.same {
        "matchAttribute"
    } else {
        "distinctAttribute"
    }
}

/// A limited amount with its numbers.
fn short(shortage: &Shortage) -> String {
    let Shortage {
        set,
        name,
        wanted,
        left,
        total,
    } = shortage;
    let of_set = set.as_ref().map_or_else(String::new, |set| format!(" in {set}"));
    format!("{name}{of_set} (needs {wanted}, {left} of {total} left)")
}

/// The check that rules a device out, with its evidence.
fn ruled_out(why: RuledOut, evidence: &Evidence) -> String {
    match (why, evidence) {
        (RuledOut::InUse, Evidence::Held(by, _)) => format!("in use by {}", claims(by)),
        (RuledOut::InUse, _) => format!("in use by {}", claims(&[])),
        (RuledOut::BindingConditionsOff, _) => "has binding conditions, but the feature is off".to_owned(),
        (RuledOut::ClassSelector, _) => not_selected("of the class", evidence),
        (RuledOut::RequestSelector, _) => not_selected("of the request", evidence),
        (RuledOut::OtherNode, _) => "belongs to other nodes".to_owned(),
        (RuledOut::NoSuchCapacity, Evidence::NoCapacity(name, meant)) => {
            format!("has no {}", missing_capacity(name, meant.as_ref()))
        }
        (RuledOut::NoSuchCapacity, _) => "has no such capacity".to_owned(),
        (RuledOut::CapacityPolicy, Evidence::Amount(name, wanted, allowed)) => {
            format!("requests {wanted} of {name}, {}", self::allowed(allowed))
        }
        (RuledOut::CapacityPolicy, _) => "a capacity's policy does not allow the amount".to_owned(),
        (RuledOut::CapacityTooSmall, Evidence::Short(short)) => format!(
            "has {} of {}, but the request needs {}",
            short.total, short.name, short.wanted
        ),
        (RuledOut::CapacityTooSmall, _) => "has too little of a capacity".to_owned(),
        (RuledOut::CapacityExhausted, Evidence::Held(by, Some(shortage))) => {
            format!("too little left of {}, used by {}", short(shortage), claims(by))
        }
        (RuledOut::CapacityExhausted, Evidence::Held(by, None)) => {
            format!("too little left of a capacity, used by {}", claims(by))
        }
        (RuledOut::CapacityExhausted, _) => "too little left of a capacity".to_owned(),
        (RuledOut::NodeOperations, _) => {
            "skips node operations, which the node or the scheduler does not support".to_owned()
        }
        (RuledOut::PartitionableDevicesOff, _) => "uses shared counters, but the feature is off".to_owned(),
        (RuledOut::CounterExhausted, Evidence::Held(by, Some(shortage))) => {
            let by = if by.is_empty() {
                String::new()
            } else {
                format!(", used by devices of {}", claims(by))
            };
            format!("too little left of counter {}{by}", short(shortage))
        }
        (RuledOut::CounterExhausted, _) => "other devices leave too little of a counter".to_owned(),
        (RuledOut::Incompatible, _) => "devices in use belong to other compatibility groups".to_owned(),
        (RuledOut::Tainted, Evidence::Taints(taints)) => {
            let taint = one_or_many(taints.len(), "taint", "taints");
            format!("untolerated {taint} {}", some(taints))
        }
        (RuledOut::Tainted, _) => "untolerated taint".to_owned(),
        (RuledOut::ConstraintAttribute, Evidence::Lacking(lacking)) => {
            let similar = match &lacking.similar {
                Some((name, Some(value))) => {
                    format!("; it has {name}, whose values other devices have too ({value})")
                }
                Some((name, None)) => format!("; it has {name}"),
                None => String::new(),
            };
            let (attribute, rule) = (&lacking.constraint.attribute, rule(&lacking.constraint));
            format!("has no attribute {attribute}, which {rule} compares{similar}")
        }
        (RuledOut::ConstraintAttribute, _) => "lacks an attribute that a constraint compares".to_owned(),
        (RuledOut::Constraint, _) => "does not meet a constraint".to_owned(),
    }
}

pub(super) fn missing_capacity(name: &Str, meant: Option<&Str>) -> String {
    let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)"));
    format!("capacity {name}{meant}")
}

/// The terms of the selector that are not true, with what they see.
fn not_selected(whose: &str, evidence: &Evidence) -> String {
    let Evidence::Selector(expression, terms) = evidence else {
        return format!("selector {whose} does not match");
    };
    if terms.is_empty() {
        return format!("selector {whose} does not match: {expression}");
    }
    let terms = terms.iter().map(|Term { text, seen }| failing(text, seen));
    format!("selector {whose}: {}", terms.collect::<Vec<_>>().join("; "))
}

/// A term that is not true, with what it sees.
pub(super) fn failing(term: &str, seen: &[Seen]) -> String {
    let seen: Vec<String> = seen
        .iter()
        .map(|Seen { text, value, .. }| match value {
            Ok(value) => format!("{text} is {value}"),
            Err(why) => format!("{text}: {why}"),
        })
        .collect();
    if seen.is_empty() {
        term.to_owned()
    } else {
        format!("{term} ({})", seen.join(", "))
    }
}

/// Which amounts are allowed.
fn allowed(allowed: &Allowed) -> String {
    match allowed {
        Allowed::AtMost(max) => format!("but at most {max} per request is allowed"),
        Allowed::Range(min, step) => {
            let from = min
                .as_ref()
                .map_or_else(String::new, |min| format!(" from {min}"));
            let step = step
                .as_ref()
                .map_or_else(String::new, |step| format!(" in steps of {step}"));
            format!("but only amounts{from}{step} are allowed")
        }
        Allowed::Values(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("but only {} are allowed", values.join(", "))
        }
    }
}

/// That no claim is made from a template.
fn not_made(why: &NotMade) -> String {
    match why {
        NotMade::Rule(why) => format!("the claim controller does not create its claim: {why}"),
        NotMade::GateOff(gate) => format!(
            "kube-controller-manager does not create its claim, which needs {gate}: the gate is off there"
        ),
        NotMade::Refused(why) => format!("the API server does not accept its claim: {why}"),
        NotMade::Silent(since) => {
            let since = since.map_or_else(String::new, |since| format!(" since {since}"));
            format!(
                "the claim controller has neither created its claim nor reported a problem{since}: kube-controller-manager may not be running"
            )
        }
    }
}

/// What keeps the scheduler from looking at nodes, in its words where these do not name what is the subject's own.
pub(super) fn of_obstacle(obstacle: &Obstacle) -> String {
    let own = Key::default();
    match obstacle {
        Obstacle::Claim(ClaimProblem::Name(ClaimNameError::NotCreated { pod })) if *pod == own => {
            "ResourceClaim not created yet".to_owned()
        }
        Obstacle::Claim(ClaimProblem::Name(ClaimNameError::Unsupported { pod, entry })) if *pod == own => {
            format!("spec.resourceClaim {entry}: none of the supported fields are set")
        }
        Obstacle::Claim(ClaimProblem::Missing { claim }) if *claim == own => {
            "could not find its ResourceClaim".to_owned()
        }
        Obstacle::Claim(ClaimProblem::Deleting { claim }) if *claim == own => {
            "its ResourceClaim is being deleted".to_owned()
        }
        Obstacle::Claim(ClaimProblem::Owner { claim, .. }) if *claim == own => {
            "its ResourceClaim was not created for it".to_owned()
        }
        other => other.text(),
    }
}

/// Why a filter rejects a node: in the scheduler's words where they say it, with what they leave out.
pub(super) fn plain(plain: &Plain) -> String {
    match plain {
        Plain::TaintToleration(taint) => untolerated(taint),
        Plain::NodeUnschedulable => "cordoned".to_owned(),
        Plain::NodeAffinity(lacks) if !lacks.is_empty() => format!(
            "no node label {}, which nodeSelector requires",
            labels_text(lacks)
        ),
        Plain::NodePorts(port) => format!("port {port} of the node is in use"),
        Plain::NodeResourcesFit(lacks) => self::lacks(lacks, false),
        Plain::NodeName | Plain::NodeAffinity(_) => plain.reasons().join(", "),
    }
}

/// What nodes have too little of. `at_most` says that others have less left.
fn lacks(lacks: &[Lack], at_most: bool) -> String {
    let at_most = if at_most { "at most " } else { "" };
    let one = |lack: &Lack| format!("{}: {}", lack.reason(), short_of(lack, at_most));
    lacks.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The numbers of a resource that a node has too little of.
pub(super) fn short_of(lack: &Lack, at_most: &str) -> String {
    let Lack {
        wanted, left, total, ..
    } = lack;
    format!("needs {wanted}, {at_most}{left} of {total} left")
}

/// The taint of a node, or the state of the node behind it.
fn untolerated(taint: &Taint) -> String {
    if let Some(marked) = marked_for_removal(taint) {
        return format!("the cluster autoscaler marked the node for removal at {marked} (taint {taint})");
    }
    let why = match taint.key.as_str() {
        "node.kubernetes.io/unreachable" => "the node is unreachable: its kubelet has stopped reporting",
        "node.kubernetes.io/not-ready" => "the node is not ready",
        "node.kubernetes.io/memory-pressure" => "the node is short of memory",
        "node.kubernetes.io/disk-pressure" => "the node is short of disk space",
        "node.kubernetes.io/pid-pressure" => "the node is short of process IDs",
        "node.kubernetes.io/network-unavailable" => "the network of the node is not ready",
        "node.cloudprovider.kubernetes.io/uninitialized" => "the cloud provider has not initialized the node",
        "node.cloudprovider.kubernetes.io/shutdown" => "the node is shut down",
        "ToBeDeletedByClusterAutoscaler" => "the cluster autoscaler is about to delete the node",
        "karpenter.sh/unregistered" => "Karpenter has not registered the node",
        "karpenter.sh/disrupted" => "Karpenter is about to delete the node",
        _ => return format!("untolerated taint {taint}"),
    };
    format!("{why} (taint {taint})")
}
