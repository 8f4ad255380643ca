//! The nodes that are rejected in groups, with the numbers of their devices.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::diagnosis::{Beside, Diagnosis, NodeDiagnosis, NodeGroup, Reason};
use super::fact::{Brief, Evidence, Fact};
use super::items::{Amounts, DeviceCount, FilterCount, FixItem};
use crate::words::same_pool;
use dra_allocator::devices::RuledOut;
use dra_allocator::{AlternativeExplanation, Together, Unfit};
use dra_model::{Claim, Cluster, DeviceRequest, Key, PoolId, Quantity};
use dra_rules::scheduling::{Cycle, Lack, Plain};

impl Diagnosis {
    /// The nodes that the plugin for devices rejects.
    pub(super) fn lacking_devices(&self) -> impl Iterator<Item = &NodeDiagnosis> + Clone {
        let nodes = self.nodes.iter();
        nodes.filter(|node| node.plugin == Some("DynamicResources"))
    }

    /// The numbers of requests that have too few devices: on nodes that lack least first.
    pub(super) fn short(&self) -> impl Iterator<Item = &DeviceCount> {
        self.node_groups.iter().flat_map(|group| &group.devices)
    }
}

/// The facts about these nodes.
pub(super) fn facts(nodes: &[NodeDiagnosis]) -> impl Iterator<Item = &Fact> {
    let reasons = nodes.iter().flat_map(|node| &node.reasons);
    reasons.map(|reason| &reason.fact)
}

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
        ..DeviceCount::default()
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
    pub(super) fn general(&self) -> Option<&Reason> {
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
        self.fact.limit().map(|(_, amounts)| amounts.left)
    }

    fn in_common(&self) -> Common {
        match self.fact.limit() {
            Some((_, Amounts { wanted, total, .. })) => Common::Amounts(wanted, total),
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
            fact @ Fact::RuledOut(..) => match fact.limit() {
                Some((limited, amounts)) => Brief::Amounts(limited, amounts),
                None => Brief::Fact(fact.clone()),
            },
            Fact::Plain(Plain::NodeResourcesFit(lacks)) => Brief::Lacks(lacks.clone(), false),
            fact => Brief::Fact(fact.clone()),
        }
    }
}

impl Brief {
    /// Without the numbers of a node, and the names of its pools.
    fn in_common(&self) -> Self {
        match self {
            Self::Lacks(lacks, _) => {
                let mut lacks = lacks.clone();
                for lack in &mut lacks {
                    (lack.left, lack.total) = (Quantity::default(), Quantity::default());
                }
                Self::Lacks(lacks, true)
            }
            Self::Fact(Fact::Together(Together::Constraints(names, Some(clashing)))) => {
                let mut clashing = clashing.clone();
                // Pools of nodes have their names.
                for (device, _) in [&mut clashing.taken, &mut clashing.refused] {
                    device.pool = "*".into();
                }
                Self::Fact(Fact::Together(Together::Constraints(
                    names.clone(),
                    Some(clashing),
                )))
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
            (one, other) if one == other => one,
            (one, _) => one.in_common(),
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
        groups.sort_by_cached_key(|group| {
            let (lacks, nodes) = (lacks(group), &group.nodes);
            (
                lacks.is_none(),
                group.is_of_control_plane(),
                lacks,
                Reverse(nodes.len()),
                nodes.clone(),
            )
        });
        groups
    }

    /// Returns whether the taint of the control plane rejects the nodes: they are not meant for the pod.
    fn is_of_control_plane(&self) -> bool {
        matches!(&self.reason, Some(Brief::Fact(Fact::Plain(Plain::TaintToleration(taint)))) if taint.key == CONTROL_PLANE)
    }
}

/// Key of the taint of the nodes of the control plane. Mirrors `cmd/kubeadm/app/constants/constants.go`, `LabelNodeRoleControlPlane`.
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

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

/// Names pools of devices in use that several nodes publish under one name.
pub(super) fn add_same_pools(report: &mut Diagnosis, cluster: &Cluster) {
    let reasons = report.nodes.iter().flat_map(|node| &node.reasons);
    let in_use = reasons.filter(|reason| matches!(reason.fact, Fact::RuledOut(RuledOut::InUse, _)));
    let pools: BTreeSet<PoolId> = in_use
        .filter_map(|reason| Some(reason.device.as_ref()?.pool_id()))
        .collect();
    for pool in pools.iter().filter_map(|id| cluster.pool(id)) {
        let Some(text) = same_pool(&pool) else { continue };
        report.notes.push(format!("pool/{} {text}", pool.id));
        report.fixes.insert(0, FixItem::name_pools(&pool.id));
        report.add_beside(Beside::SamePool(pool.id.clone()));
    }
}

/// What the request of one of the user's claims asks for.
pub(super) fn spec_of<'c>(cycle: &'c Cycle<'_>, claim: &Key, request: &str) -> Option<&'c DeviceRequest> {
    let mut claims = cycle.user_claims().iter();
    spec(claims.find(|known| known.key() == *claim)?, request)
}

/// What the request asks for; nothing where it has alternatives, as none of them alone is the cause.
pub(super) fn spec<'c>(claim: &'c Claim, name: &str) -> Option<&'c DeviceRequest> {
    let mut requests = claim.spec.devices.requests.iter();
    requests.find(|request| request.name == name)?.exactly.as_ref()
}
