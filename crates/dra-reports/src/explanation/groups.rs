//! The nodes that are rejected in groups, and what keeps all of them from taking the pod: what people read first.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::absence::{Absence, absence};
use super::diagnosis::{
    Among, Cause, DeviceKind, Diagnosis, Lost, NodeDiagnosis, NodeGroup, NotAll, Place, Reason, Republishing,
    Unserved,
};
use super::fact::{Brief, Evidence, Fact};
use super::items::{Amounts, DeviceCount, FilterCount};
use super::words;
use crate::driver_chain::is_unmatched;
use crate::words::same_pool;
use dra_allocator::devices::{ClassSelectors, DeviceState, Inventory, Match, RuledOut};
use dra_allocator::{AlternativeExplanation, Together, Unfit};
use dra_model::{
    AllocationMode, Claim, Cluster, DeviceRequest, Key, Node, Pod, PoolId, Quantity, Str, Taint, Time,
};
use dra_rules::kubelet::{self, BrokenLink, KeptOff, Stages, fewer_than_alike, offered_by_plugin};
use dra_rules::scheduling::{self, Cycle, Lack, Plain, drivers_named, matches_affinity};

/// How the devices of a node count for each request.
pub(super) fn counts(explanation: &dra_allocator::Explanation<'_>) -> Vec<DeviceCount> {
    let requests = explanation.requests.iter();
    let alternatives = requests.flat_map(|request| {
        let claim = explanation.claim(request.claim);
        let of = move |one| count(explanation, claim.clone(), one);
        request.alternatives.iter().map(of)
    });
    alternatives.collect()
}

/// The same for one request or subrequest.
pub(super) fn count(
    explanation: &dra_allocator::Explanation<'_>,
    claim: Key,
    alternative: &AlternativeExplanation,
) -> DeviceCount {
    let mut count = DeviceCount {
        claim,
        request: alternative.name.clone(),
        wanted: u64::try_from(alternative.wanted)
            .ok()
            .filter(|wanted| *wanted > 0),
        matching: 0,
        in_use: 0,
        tainted: 0,
        blocked: 0,
        usable: 0,
        unknown: 0,
    };
    for (device, unfit) in alternative.devices.iter().enumerate() {
        let place = match unfit {
            Ok(()) => &mut count.usable,
            // Whether a device is in use is looked at before the selectors.
            Err(Unfit::RuledOut(RuledOut::InUse)) => match explanation.is_wanted(alternative, device) {
                Some(true) => &mut count.in_use,
                Some(false) => continue,
                None => &mut count.unknown,
            },
            Err(Unfit::RuledOut(RuledOut::Tainted)) => &mut count.tainted,
            Err(Unfit::RuledOut(why)) if why.is_selected() => &mut count.blocked,
            Err(Unfit::RuledOut(_)) => continue,
            Err(Unfit::Trouble(_)) => &mut count.unknown,
        };
        *place += 1;
    }
    count.matching = count.usable + count.in_use + count.tainted + count.blocked;
    count
}

impl NodeDiagnosis {
    /// The first reason, if it is about the node or about requests together rather than about a single device or request.
    fn general(&self) -> Option<&Reason> {
        let first = self.reasons.first()?;
        (first.request.is_none() || first.fact.is_of_pool()).then_some(first)
    }

    /// The cause. What is in use or tainted has its own numbers.
    fn brief(&self, short: &[DeviceCount]) -> Option<Brief> {
        if let Some(general) = self.general() {
            return Some(general.brief());
        }
        let Some(first) = short.first() else {
            return self.reasons.first().map(Reason::brief);
        };
        let is_told = |fact: &Fact| {
            matches!(
                fact,
                Fact::RuledOut(RuledOut::InUse | RuledOut::Tainted, _)
                    | Fact::TooFewDevices { .. }
                    | Fact::NotListed(_)
            )
        };
        // A device that passes the class came further than one that does not.
        let furthest = |fact: &Fact| match fact {
            Fact::RuledOut(RuledOut::ClassSelector, _) => 0,
            Fact::RuledOut(RuledOut::RequestSelector | RuledOut::OtherNode, _) => 1,
            _ => 2,
        };
        let mut seen: BTreeMap<(i32, Common), (usize, &Reason)> = BTreeMap::new();
        let reasons = self.reasons.iter().filter(|reason| {
            reason.request.as_ref() == Some(&first.request)
                && reason.claim.as_ref() == Some(&first.claim)
                && !is_told(&reason.fact)
        });
        for reason in reasons {
            let rank = furthest(&reason.fact);
            if rank == 2 || first.matching == 0 {
                let (count, most) = seen.entry((rank, reason.in_common())).or_insert((0, reason));
                *count += 1;
                if reason.left() > most.left() {
                    *most = reason;
                }
            }
        }
        let best = seen
            .into_iter()
            .max_by(|((rank, common), (count, _)), ((other, others), (more, _))| {
                rank.cmp(other)
                    .then(count.cmp(more))
                    .then_with(|| others.cmp(common))
            });
        best.map(|(_, (_, reason))| reason.brief())
    }
}

/// What is alike for devices that have different amounts left of the same.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    /// Wanted, and in all.
    Amounts(Quantity, Quantity),
    Brief(Brief),
}

impl Reason {
    /// Available part of a limited amount.
    fn left(&self) -> Option<Quantity> {
        self.fact.amounts().map(|amounts| amounts.left)
    }

    fn in_common(&self) -> Common {
        match self.fact.amounts() {
            Some(Amounts { wanted, total, .. }) => Common::Amounts(wanted, total),
            None => Common::Brief(self.brief()),
        }
    }

    /// As much as is the same for nodes and devices that are alike.
    pub(super) fn brief(&self) -> Brief {
        match &self.fact {
            Fact::AllocatedElsewhere(node) => {
                Brief::Elsewhere(self.claim.clone().unwrap_or_default(), node.clone())
            }
            Fact::PoolIncomplete(_, Some(slices)) => Brief::Slices(slices.there, slices.expected),
            Fact::Together(Together::Requests { requests, .. }) if requests.len() > 1 => {
                Brief::Requests(requests.clone())
            }
            Fact::RuledOut(_, Evidence::Selector(_, terms))
                if terms.iter().any(|term| !term.seen.is_empty()) =>
            {
                Brief::Seen(terms.iter().flat_map(|term| term.seen.iter().cloned()).collect())
            }
            fact @ Fact::RuledOut(..) => match fact.amounts() {
                Some(amounts) => Brief::Amounts(fact.limited(), amounts),
                None => Brief::Fact(fact.clone()),
            },
            Fact::Plain(Plain::NodeResourcesFit(lacks)) => Brief::Lacks(lacks.clone(), false),
            fact => Brief::Fact(fact.clone()),
        }
    }
}

impl Brief {
    /// Without the numbers of a node.
    fn in_common(&self) -> Self {
        match self {
            Self::Lacks(lacks, _) => {
                let mut lacks = lacks.clone();
                for lack in &mut lacks {
                    (lack.left, lack.total) = (Quantity::default(), Quantity::default());
                }
                Self::Lacks(lacks, true)
            }
            other => other.clone(),
        }
    }

    /// For nodes that have it in common: the one of the node that lacks least.
    fn or_more(self, other: Self) -> Self {
        match (self, other) {
            (Self::Lacks(some, at_most), Self::Lacks(others, _)) => {
                let left = |lacks: &[Lack]| lacks.first().map(|lack| lack.left.clone());
                let is_same = some == others;
                let most = if left(&others) > left(&some) { others } else { some };
                Self::Lacks(most, at_most || !is_same)
            }
            (one, _) => one,
        }
    }
}

impl NodeGroup {
    /// The nodes that are rejected, in groups: those that lack least first.
    pub(super) fn of(nodes: &[NodeDiagnosis]) -> Vec<Self> {
        let mut alike: BTreeMap<(Vec<DeviceCount>, Option<Brief>), Self> = BTreeMap::new();
        for node in nodes.iter().filter(|node| !node.fits) {
            let short = node.devices.iter().filter(|count| count.is_short());
            let devices: Vec<DeviceCount> = match node.general() {
                Some(_) => Vec::new(),
                None => short.cloned().collect(),
            };
            let reason = node.brief(&devices);
            let common = reason.as_ref().map(Brief::in_common);
            match alike.entry((devices.clone(), common)) {
                Entry::Vacant(new) => {
                    new.insert(Self {
                        nodes: vec![node.node.clone()],
                        devices,
                        reason,
                    });
                }
                Entry::Occupied(mut group) => {
                    let group = group.get_mut();
                    group.nodes.push(node.node.clone());
                    let most = group.reason.take().zip(reason);
                    group.reason = most.map(|(most, reason)| most.or_more(reason));
                }
            }
        }
        let mut groups: Vec<Self> = alike.into_values().collect();
        // What fails only together lacks no device of its own.
        let lacks = |group: &Self| {
            let first = group.devices.first();
            first.map(|first| {
                (
                    first.matching == 0,
                    first.wanted.unwrap_or(0).abs_diff(first.usable),
                )
            })
        };
        groups.sort_by(|a, b| {
            lacks(a)
                .is_none()
                .cmp(&lacks(b).is_none())
                .then_with(|| lacks(a).cmp(&lacks(b)))
                .then_with(|| b.nodes.len().cmp(&a.nodes.len()))
                .then_with(|| a.nodes.cmp(&b.nodes))
        });
        groups
    }
}

/// The filters in the order in which the scheduler runs them.
const ORDER: [&str; 13] = [
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
];

impl FilterCount {
    /// Counts each node under the first filter that rejects it.
    pub(super) fn of(nodes: &[NodeDiagnosis]) -> Vec<Self> {
        let mut counts: BTreeMap<usize, BTreeMap<&str, u64>> = BTreeMap::new();
        for node in nodes {
            let Some(plugin) = node.plugin else { continue };
            let place = ORDER
                .iter()
                .position(|known| *known == plugin)
                .unwrap_or(ORDER.len() - 1);
            let message = node.message.as_deref().unwrap_or_default();
            *counts.entry(place).or_default().entry(message).or_default() += 1;
        }
        counts
            .into_iter()
            .map(|(place, messages)| Self {
                plugin: ORDER[place],
                nodes: messages.values().sum(),
                messages: messages
                    .into_iter()
                    .map(|(message, count)| format!("{count} {message}"))
                    .collect(),
            })
            .collect()
    }
}

/// That a claim of the pod is allocated for a node on which something else keeps the pod from running.
fn cause_of_place(report: &Diagnosis, claims: &[Arc<Claim>]) -> Option<Cause> {
    claims.iter().find_map(|claim| {
        let selector = claim.status.allocation.as_ref()?.node_selector.as_ref()?;
        let place = selector.single_node()?;
        let node = report.nodes.iter().find(|node| node.node == *place)?;
        let why = match node.plugin? {
            "NodeName" => Place::NodeName,
            "NodeAffinity" => Place::NodeAffinity,
            "NodeUnschedulable" => Place::Cordoned,
            "DynamicResources" => {
                let key = claim.key();
                let is_of_it = |reason: &&Reason| {
                    reason.fact == Fact::NodeOperations && reason.claim.as_ref() == Some(&key)
                };
                node.reasons.iter().find(is_of_it)?;
                Place::NodeOperations
            }
            _ => Place::Other(Box::new(node.reasons.first()?.fact.clone())),
        };
        Some(Cause::Allocated(claim.key(), place.clone(), why))
    })
}

/// That a claim of the pod is allocated for labels that no node has.
fn allocated_nowhere(cluster: &Cluster, claims: &[Arc<Claim>]) -> Option<Cause> {
    claims.iter().find_map(|claim| {
        let selector = claim.status.allocation.as_ref()?.node_selector.as_ref()?;
        is_unmatched(cluster, selector).then(|| Cause::AllocatedNowhere(claim.key(), (**selector).clone()))
    })
}

/// Notes pools of devices in use that several nodes publish under one name.
pub(super) fn add_same_pools(report: &mut Diagnosis, cluster: &Cluster) {
    let reasons = report.nodes.iter().flat_map(|node| &node.reasons);
    let in_use = reasons.filter(|reason| matches!(reason.fact, Fact::RuledOut(RuledOut::InUse, _)));
    let pools: BTreeSet<PoolId> = in_use
        .filter_map(|reason| Some(reason.device.as_ref()?.pool_id()))
        .collect();
    let pools = pools.iter().filter_map(|id| cluster.pool(id));
    let texts = pools.filter_map(|pool| Some(format!("pool/{} {}", pool.id, same_pool(&pool)?)));
    report.notes.extend(texts);
}

/// Why no node takes it.
pub(super) fn cause(report: &Diagnosis, cycle: &Cycle<'_>, selectors: &ClassSelectors) -> Cause {
    let claims = cycle.user_claims();
    let all = report.nodes.len();
    let none = Cause::Nowhere(all, report.node_groups.clone());
    if all == 0 {
        return none;
    }
    let cluster = cycle.scheduler().cluster();
    if let Some(cause) = cause_of_place(report, claims).or_else(|| allocated_nowhere(cluster, claims)) {
        return cause;
    }
    if let [only] = report.node_groups.as_slice()
        && only.devices.is_empty()
        && let Some(reason) = &only.reason
    {
        let first = report.nodes.iter().find(|node| node.node == only.nodes[0]);
        let fact = first
            .and_then(|node| node.reasons.first())
            .map(|reason| reason.fact.clone());
        return match (only.nodes.as_slice(), fact) {
            ([node], Some(fact @ Fact::Plain(_))) => Cause::OnNode(node.clone(), fact),
            ([_], Some(fact @ Fact::PoolIncomplete(..))) => Cause::Alike(Brief::Fact(fact)),
            _ => Cause::Alike(reason.clone()),
        };
    }
    // Nodes that other filters reject may have devices.
    let of_devices = report
        .nodes
        .iter()
        .filter(|node| node.plugin == Some("DynamicResources"));
    let among = match of_devices.clone().count() {
        0 => return none,
        judged if judged == all => Among::All,
        left => Among::Left(left),
    };
    let together = |node: &NodeDiagnosis| {
        let first = node.general()?;
        matches!(first.fact, Fact::Together(_)).then(|| Cause::OnNode(node.node.clone(), first.fact.clone()))
    };
    if let Some(cause) = of_devices.clone().find_map(together) {
        return cause;
    }
    let mut short = report.node_groups.iter().flat_map(|group| &group.devices);
    let Some(first) = short.next() else { return none };
    let asked = Asked {
        report,
        cycle,
        selectors,
        among,
        nodes: of_devices.collect(),
    };
    let claim = claims.iter().find(|claim| claim.key() == first.claim);
    claim
        .and_then(|claim| asked.cause(claim, &first.request))
        .unwrap_or(none)
}

/// Nodes that other filters reject, at most this many, that are searched for devices that would do.
const MOST_REJECTED: usize = 16;

/// Why nodes have too few devices for a request.
struct Asked<'a> {
    report: &'a Diagnosis,
    cycle: &'a Cycle<'a>,
    selectors: &'a ClassSelectors,
    among: Among,
    /// Those that the plugin for devices rejects.
    nodes: Vec<&'a NodeDiagnosis>,
}

impl Asked<'_> {
    /// The cause that holds for all nodes, if there is one; `name` is the request, or one of its subrequests.
    fn cause(&self, claim: &Claim, name: &str) -> Option<Cause> {
        let request_name = name.split_once('/').map_or(name, |(request, _)| request);
        let mut requests = claim.spec.devices.requests.iter();
        let request = requests.find(|request| request.name == request_name)?;
        if let Some(spec) = &request.exactly {
            return self.cause_of(claim, &request.name, spec);
        }
        let alternatives = request.first_available.iter().map(|spec| {
            let name: Str = format!("{}/{}", request.name, spec.name).into();
            Some((spec.name.clone(), self.cause_of(claim, &name, spec)?))
        });
        let alternatives: Option<Vec<_>> = alternatives.collect();
        Some(Cause::Alternatives(request.name.clone(), alternatives?))
    }

    fn cause_of(&self, claim: &Claim, name: &Str, spec: &DeviceRequest) -> Option<Cause> {
        let key = claim.key();
        let count_of = |node: &'_ &NodeDiagnosis| {
            let mut counts = node.devices.iter();
            counts
                .find(|count| count.claim == key && count.request == *name)
                .cloned()
        };
        // The sentence is about every node: those that lack something else besides have to lack this, too.
        let counts: Option<Vec<DeviceCount>> = self.nodes.iter().map(count_of).collect();
        let counts = counts.filter(|counts| counts.iter().all(DeviceCount::is_short))?;
        if counts.iter().all(|count| count.matching + count.unknown == 0)
            && let Some(absence) = absence(self.cycle.scheduler().cluster(), self.selectors, spec)
        {
            return Some(Cause::Absent(absence));
        }
        let kind = DeviceKind::of(spec);
        match spec.allocation_mode {
            AllocationMode::ExactCount => {
                let wanted = counts.first()?.wanted?;
                let lost = self.lost_to_filters(&counts, wanted);
                Some(lost.map_or_else(
                    || Cause::TooFew(self.among, wanted, kind.clone(), self.lost(&counts)),
                    |(node, why)| Cause::Filtered(node, wanted, kind.clone(), why),
                ))
            }
            // On each node it wants another number.
            AllocationMode::All => {
                let (node, count) = self
                    .nodes
                    .iter()
                    .zip(&counts)
                    .filter(|(_, count)| count.matching > 0)
                    .min_by_key(|(_, count)| count.matching - count.usable)?;
                Some(Cause::NotAll(Box::new(NotAll {
                    node: node.node.clone(),
                    others: counts.iter().filter(|count| count.matching > 0).count() - 1,
                    kind,
                    matching: count.matching,
                    in_use: count.in_use,
                    users: self.users(node, &key, name),
                    tainted: count.tainted,
                    blocked: count.blocked,
                })))
            }
            AllocationMode::Other(_) => None,
        }
    }

    /// What rules out the devices that `counts` are the numbers of; nothing where some are in use, which is then what matters.
    fn lost(&self, counts: &[DeviceCount]) -> Option<Lost> {
        let first = counts.first()?;
        if counts.iter().any(|count| count.in_use > 0) {
            return None;
        }
        let is_of_it = |reason: &&Reason| {
            reason.claim.as_ref() == Some(&first.claim) && reason.request.as_ref() == Some(&first.request)
        };
        let reasons = self
            .nodes
            .iter()
            .flat_map(|node| node.reasons.iter().filter(is_of_it));
        let taints = reasons.filter_map(|reason| match &reason.fact {
            Fact::RuledOut(RuledOut::Tainted, Evidence::Taints(taints)) => Some(taints),
            _ => None,
        });
        let taints: BTreeSet<&Vec<Taint>> = taints.collect();
        let tainted = counts.iter().map(|count| count.tainted).sum();
        let mut groups = self.report.node_groups.iter();
        let why = groups.find_map(|group| {
            let mut devices = group.devices.iter();
            devices.find(|count| count.claim == first.claim && count.request == first.request)?;
            let reason = group.reason.as_ref()?;
            matches!(reason, Brief::Amounts(..) | Brief::Fact(Fact::RuledOut(..))).then(|| reason.clone())
        });
        (tainted > 0 || why.is_some()).then(|| Lost {
            tainted,
            taints: taints
                .first()
                .filter(|_| taints.len() == 1)
                .map_or_else(Vec::new, |taints| (*taints).clone()),
            why,
        })
    }

    /// A node that has enough devices for the request, and that another filter rejects. Where nodes that the pod selects have such devices, in use or not,
    /// those of others do not matter.
    fn lost_to_filters(&self, counts_there: &[DeviceCount], wanted: u64) -> Option<(Str, Fact)> {
        if !matches!(self.among, Among::Left(_)) {
            return None;
        }
        let DeviceCount {
            claim, request: name, ..
        } = counts_there.first()?;
        let cluster = self.cycle.scheduler().cluster();
        let has_some = counts_there.iter().any(|count| count.matching > 0);
        let pod = self.cycle.pod().filter(|_| has_some);
        let known = pod.map(|pod| nodes_of_siblings(cluster, pod)).unwrap_or_default();
        let is_meant = |node: &NodeDiagnosis| {
            pod.is_none_or(|pod| {
                let is_selected = |node| matches_affinity(pod, node);
                known.contains(&node.node) || cluster.node(&node.node).is_some_and(|node| is_selected(node))
            })
        };
        let rejected = self.report.nodes.iter().filter_map(|node| {
            let first = node.reasons.first()?;
            (matches!(first.fact, Fact::Plain(_)) && is_meant(node)).then_some((node, &first.fact))
        });
        rejected.take(MOST_REJECTED).find_map(|(node, why)| {
            let usable = |explanation: &mut dra_allocator::Explanation<'_>| {
                let counts = counts(explanation);
                let mut counts = counts.iter();
                let count = counts.find(|count| count.claim == *claim && count.request == *name)?;
                Some(count.usable)
            };
            let found = cluster.node(&node.node)?;
            let usable = self.cycle.explain(found, usable).ok()???;
            (usable >= wanted).then(|| (node.node.clone(), why.clone()))
        })
    }

    /// Consumers of the node's devices that the request would take.
    fn users(&self, node: &NodeDiagnosis, claim: &Key, name: &Str) -> BTreeSet<String> {
        let cluster = self.cycle.scheduler().cluster();
        let mut users = BTreeSet::new();
        for reason in &node.reasons {
            if reason.claim.as_ref() != Some(claim) || reason.request.as_ref() != Some(name) {
                continue;
            }
            let Fact::RuledOut(RuledOut::InUse, Evidence::Held(by, _)) = &reason.fact else {
                continue;
            };
            for key in by {
                let holder = cluster.claim(key);
                let consumers = holder.map_or(&[][..], |claim| claim.status.reserved_for.as_slice());
                match consumers {
                    [] => users.insert(format!("claim/{key}")),
                    [..] => {
                        users.extend(consumers.iter().map(|entry| crate::Consumer(entry).to_string()));
                        false
                    }
                };
            }
        }
        users
    }
}

/// Returns whether the node reaches no device that the request of `wanted` selects.
fn has_none(node: &NodeDiagnosis, wanted: &DeviceCount) -> bool {
    node.devices.iter().all(|count| {
        count.claim != wanted.claim || count.request != wanted.request || count.matching + count.unknown == 0
    })
}

/// The nodes that the plugin for devices rejects, as their kubelets were started just now and nothing is published for them.
pub(super) fn republishing(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
    now: Time,
) -> Option<Republishing> {
    let cluster = cycle.scheduler().cluster();
    let judged = report
        .nodes
        .iter()
        .filter(|node| node.plugin == Some("DynamicResources"));
    let since = |node: &NodeDiagnosis| kubelet::republishing(cluster, &node.node, None, now);
    let (started, others): (Vec<&NodeDiagnosis>, Vec<_>) = judged.partition(|node| since(node).is_some());
    let first = started.first()?;
    let mut short = report.node_groups.iter().flat_map(|group| &group.devices);
    let wanted = short.find(|wanted| started.iter().all(|node| has_none(node, wanted)));
    let claims = cycle.user_claims();
    let drivers = wanted.and_then(|wanted| {
        let claim = claims.iter().find(|claim| claim.key() == wanted.claim)?;
        let class = &spec(claim, &wanted.request)?.device_class_name;
        Some(drivers_of(cluster, selectors, class))
    });
    let stages = Stages::of(cluster, now);
    let drivers = drivers.map(|drivers| {
        let mut again = drivers;
        again.retain(|driver| {
            started
                .iter()
                .any(|node| stages.publishes_again(driver, &node.node))
        });
        again
    });
    if drivers.as_ref().is_some_and(|drivers| drivers.is_empty()) {
        return None;
    }
    Some(Republishing {
        nodes: started.iter().map(|node| node.node.clone()).collect(),
        since: since(first)?,
        drivers: drivers.unwrap_or_default(),
        is_cause: wanted.is_none_or(|wanted| others.iter().all(|node| has_none(node, wanted))),
    })
}

/// An extended resource of the pod that nothing offers, and how many devices are free of the class that could offer it and has most.
pub(super) fn unoffered(cluster: &Cluster, pod: &Pod, selectors: &ClassSelectors) -> Option<Cause> {
    let unoffered = scheduling::unoffered(cluster, pod).into_iter().next()?;
    let inventory = Inventory::of(cluster);
    let free = |class: &Str| {
        let pools = cluster.pools();
        let devices = pools.flat_map(|pool| {
            let facts = inventory.pool_facts(&pool);
            let free = selectors.devices(&pool).filter(|(slice, device, selectable)| {
                let id = pool.device_id(&device.name);
                inventory.state(&id) == DeviceState::Free
                    && inventory.unavailable(&facts, &id, (slice, device)).is_empty()
                    && selectors.matches(class, selectable) == Match::Yes
            });
            std::iter::repeat_n((), free.count())
        });
        devices.count()
    };
    let counts = unoffered.classes.iter().map(|class| {
        let name = &class.metadata.name;
        (name.clone(), free(name))
    });
    let most = counts.max_by_key(|(name, free)| (*free, std::cmp::Reverse(name.clone())));
    let most = most.filter(|(_, free)| *free > 0);
    Some(Cause::Unoffered(unoffered.resource, most))
}

/// Nodes that are searched for a broken link.
const MOST_LOOKED_AT: usize = 200;

/// The driver that publishes nothing for the nodes that are left, where these have no device for a request, and the request is not the
/// reason, and true; with false, one that publishes nothing for some of them by a fault. A pod that is there and does not do its work says more
/// than a DaemonSet that has none there.
pub(super) fn unserved(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
    now: Time,
) -> Option<(Unserved, bool)> {
    let cause = match report.cause.as_ref()? {
        Cause::Held(cause, _) | Cause::Kept(cause, ..) => cause,
        cause => cause,
    };
    let is_of_driver = matches!(
        cause,
        Cause::Nowhere(..)
            | Cause::TooFew(..)
            | Cause::Filtered(..)
            | Cause::Absent(Absence::Unpublished(_) | Absence::OtherClasses(..))
    );
    // Other devices than those that are published may be on a node that the driver was not installed for.
    let is_unselected = matches!(cause, Cause::Absent(Absence::Unselected { .. }));
    if !is_of_driver && !is_unselected {
        return None;
    }
    let judged: Vec<&NodeDiagnosis> = report
        .nodes
        .iter()
        .filter(|node| node.plugin == Some("DynamicResources"))
        .collect();
    let short = || report.node_groups.iter().flat_map(|group| &group.devices);
    let everywhere = short().find(|wanted| judged.iter().all(|node| has_none(node, wanted)));
    let somewhere = || short().find(|wanted| judged.iter().any(|node| has_none(node, wanted)));
    let is_cause = everywhere.is_some() && !is_unselected;
    let wanted = everywhere.or_else(somewhere)?;
    let cluster = cycle.scheduler().cluster();
    let claim = cycle
        .user_claims()
        .iter()
        .find(|claim| claim.key() == wanted.claim)?;
    let class = &spec(claim, &wanted.request)?.device_class_name;
    let stages = Stages::of(cluster, now);
    let mut found: Option<(u8, Unserved)> = None;
    for driver in drivers_of(cluster, selectors, class) {
        let without = judged.iter().filter(|node| has_none(node, wanted));
        for node in without.take(MOST_LOOKED_AT) {
            let Some(found_node) = cluster.node(&node.node) else {
                continue;
            };
            let Some(link) = stages.broken_link(&driver, found_node) else {
                continue;
            };
            let is_like =
                || stages.is_like_served(&driver, found_node) || is_of_other_kind(&link, &driver, found_node);
            let strength = strength(&link, is_like);
            if is_unselected && !is_of_other_kind(&link, &driver, found_node) {
                continue;
            }
            match &mut found {
                Some((most, known)) if *most >= strength => {
                    let is_same = std::mem::discriminant(&known.link) == std::mem::discriminant(&link);
                    if known.driver == driver && is_same {
                        known.nodes.push(node.node.clone());
                    }
                }
                _ => {
                    let unserved = Unserved {
                        driver: driver.clone(),
                        nodes: vec![node.node.clone()],
                        link,
                    };
                    found = Some((strength, unserved));
                }
            }
        }
    }
    // Nodes with free devices keep the pod off, and its driver is kept off those that are left.
    let is_meant = matches!(cause, Cause::Filtered(..));
    // Where each node lacks the devices of some driver, drivers have to run together.
    let is_apart = || {
        judged
            .iter()
            .all(|node| short().any(|wanted| has_none(node, wanted)))
    };
    // Beside nodes that have devices, only what is hardly meant to be so is worth a word.
    let least = match is_cause {
        true if is_meant => MEANT + 1,
        true => MEANT,
        false if is_apart() => MEANT,
        false => FAULT,
    };
    let (_, found) = found.filter(|(strength, _)| *strength >= least)?;
    Some((found, is_cause))
}

/// The nodes that pods of the owner of `pod` have, or had.
pub(super) fn nodes_of_siblings<'c>(cluster: &'c Cluster, pod: &Pod) -> BTreeSet<&'c Str> {
    let siblings = cluster
        .pods()
        .filter(|other| other.metadata.is_sibling(&pod.metadata));
    siblings.filter_map(|other| other.node()).collect()
}

/// A pool whose slices contradict each other, of a driver of the first request that nodes have too few devices for.
pub(super) fn invalid_pool(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
) -> Option<(PoolId, Fact)> {
    let reasons = report.nodes.iter().flat_map(|node| &node.reasons);
    let invalid = reasons.filter_map(|reason| match &reason.fact {
        Fact::PoolInvalid(pool, _) => Some((reason, pool)),
        _ => None,
    });
    let cluster = cycle.scheduler().cluster();
    let mut wanted = invalid.filter(|(reason, pool)| {
        let mut claims = cycle.user_claims().iter();
        let claim = claims.find(|claim| Some(claim.key()) == reason.claim);
        let spec = claim
            .zip(reason.request.as_ref())
            .and_then(|(claim, request)| spec(claim, request));
        spec.is_some_and(|spec| {
            drivers_of(cluster, selectors, &spec.device_class_name).contains(&pool.driver)
        })
    });
    let (reason, pool) = wanted.next()?;
    Some((pool.clone(), reason.fact.clone()))
}

/// Returns whether the node has a label that the DaemonSet of the driver requires, with another value: it is of another kind, such as of another
/// accelerator. Labels of all nodes tell nothing, nor does one that keeps the driver off the node.
fn is_of_other_kind(link: &BrokenLink, driver: &str, node: &Node) -> bool {
    let BrokenLink::NoPod(_, Some(KeptOff::Labels(labels))) = link else {
        return false;
    };
    let is_general = |key: &str| {
        let domain = key.split_once('/').map(|(domain, _)| domain);
        domain.is_some_and(|domain| domain == "kubernetes.io" || domain.ends_with(".kubernetes.io"))
    };
    let is_off = |value: &str| matches!(value, "" | "false" | "no" | "none" | "off" | "disabled");
    let has_other = |(key, value): &(Str, Str)| {
        let own = node.metadata.label(key);
        !is_general(key) && own.is_some_and(|own| own != value && !is_off(own))
    };
    offered_by_plugin(node, driver).next().is_none() && labels.iter().any(has_other)
}

/// That a node has too few devices for a request, and another one of the same type more of the driver.
pub(super) fn lost_devices(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
) -> Option<String> {
    let cluster = cycle.scheduler().cluster();
    let is_short = |count: &&DeviceCount| {
        count.matching > 0 && count.wanted.is_some_and(|wanted| wanted > count.matching)
    };
    let mut counts = report.nodes.iter().flat_map(|node| &node.devices);
    let short = counts.find(is_short)?;
    let claims = cycle.user_claims();
    let claim = claims.iter().find(|claim| claim.key() == short.claim)?;
    let class = &spec(claim, &short.request)?.device_class_name;
    let lacking = report.nodes.iter().filter(|node| {
        let mut counts = node.devices.iter();
        counts.any(|count| is_short(&count) && count.claim == short.claim && count.request == short.request)
    });
    let nodes: Vec<&Str> = lacking
        .filter_map(|node| Some(&cluster.node(&node.node)?.metadata.name))
        .collect();
    drivers_of(cluster, selectors, class)
        .into_iter()
        .find_map(|driver| {
            let [(node, own), (other, most)] = fewer_than_alike(cluster, &driver, nodes.iter().copied())?;
            Some(words::lost_devices(node, &driver, own, other, most))
        })
}

/// The strength of a link that is most likely meant to be so.
const MEANT: u8 = 0;

/// The least strength of a link that is hardly meant to be so.
const FAULT: u8 = 2;

/// How likely a link is the reason, rather than how it is meant to be: a driver runs on nodes without devices of it, and is kept off others by
/// their labels, unless the node `is_alike`: a machine of a type that has devices. The pod may be on the node, so a taint of it is no sign that
/// devices are not to be used there.
fn strength(link: &BrokenLink, is_alike: impl Fn() -> bool) -> u8 {
    match link {
        BrokenLink::NoPod(_, kept_off)
            if kept_off.as_ref().is_none_or(KeptOff::is_unselected) && !is_alike() =>
        {
            MEANT
        }
        BrokenLink::Silent(_) if !is_alike() => 1,
        BrokenLink::Silent(_) | BrokenLink::NoDevices(_) => FAULT,
        BrokenLink::NotReady(..) | BrokenLink::NoPod(..) => 2,
        BrokenLink::Refused(_)
        | BrokenLink::Unselected(..)
        | BrokenLink::Crashing(..)
        | BrokenLink::Circle(..)
        | BrokenLink::Pending(..)
        | BrokenLink::Failed(..)
        | BrokenLink::Forbidden(..) => 3,
    }
}

/// The drivers whose devices are of the class: those that it names, or else those that publish some.
fn drivers_of(cluster: &Cluster, selectors: &ClassSelectors, class: &Str) -> BTreeSet<Str> {
    let mut drivers = cluster
        .class(class)
        .map(|class| drivers_named(class))
        .unwrap_or_default();
    if drivers.is_empty() {
        for pool in cluster.pools() {
            if selectors
                .devices(&pool)
                .any(|(_, _, device)| selectors.matches(class, &device) == Match::Yes)
            {
                drivers.insert(pool.id.driver.clone());
            }
        }
    }
    drivers
}

/// What the request asks for; nothing where it has alternatives, as none of them alone is the cause.
pub(super) fn spec<'c>(claim: &'c Claim, name: &str) -> Option<&'c DeviceRequest> {
    let mut requests = claim.spec.devices.requests.iter();
    requests.find(|request| request.name == name)?.exactly.as_ref()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::allocation::Settings;
    use crate::explanation::{Explanation, explain_pod};
    use dra_allocator::Budget;
    use dra_model::Kind;
    use dra_testing::{World, holding};

    fn node(world: World, name: &str, unschedulable: bool) -> World {
        world.with(
            Kind::Node,
            &json!({"metadata": {"name": name}, "spec": {"unschedulable": unschedulable},
                    "status": {"allocatable": {"pods": "110"}}}),
        )
    }

    /// The cause for a pod with a claim that has this request, on two nodes: one with four devices, two of them in use by pod `user`, and
    /// one without.
    fn cause(request: &Value, is_cordoned: bool) -> String {
        let devices = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]);
        let world = node(node(World::default(), "node-1", is_cordoned), "node-2", false);
        let cluster = world
            .class("d")
            .slice("node-1", &devices)
            .claim("held", &json!({}), &holding(&["a", "b"], &["user"]))
            .pod("user", &["held"])
            .claim("c", &json!({"devices": {"requests": [request]}}), &json!({}))
            .with(
                Kind::Pod,
                &json!({"metadata": {"namespace": "n", "name": "p", "uid": "u"},
                        "spec": {"resourceClaims": [{"name": "r", "resourceClaimName": "c"}]}}),
            )
            .build();
        let budget = Budget::new(1_000_000);
        let pod = cluster.pods().find(|pod| pod.metadata.name == "p").unwrap();
        let known = explain_pod(&cluster, pod, &Settings::of_test(&budget));
        Explanation::from(known).cause.unwrap().to_string()
    }

    #[test]
    fn the_cause_names_what_is_lost() {
        let exactly = |spec: Value| json!({"name": "r", "exactly": spec});
        let all = json!({"deviceClassName": "d", "allocationMode": "All"});
        let three = json!({"deviceClassName": "d", "count": 3});
        let either = json!({"name": "r", "firstAvailable": [
            {"name": "many", "deviceClassName": "d", "count": 5}, {"name": "some", "deviceClassName": "d", "count": 3}]});
        for (request, is_cordoned, expected) in [
            (
                exactly(all),
                false,
                "it requests all 4 devices of class d of node-1, but 2 are in use by pod/user",
            ),
            (
                exactly(three),
                false,
                "no node has 3 available devices of class d",
            ),
            (
                exactly(json!({"deviceClassName": "d", "count": 2})),
                true,
                "node-1 has 2 available devices of class d, but cannot take the pod: cordoned",
            ),
            (
                either,
                false,
                "no alternative of request r fits: many: no node has 5 available devices of class d; some: no node has 3 available devices of \
                 class d",
            ),
        ] {
            assert_eq!(cause(&request, is_cordoned), expected);
        }
    }
}
