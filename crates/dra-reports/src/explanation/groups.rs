//! The nodes that are rejected in groups, and what keeps all of them from taking the pod: what people read first.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::absence::absence;
use super::diagnosis::{Among, Cause, DeviceKind, Diagnosis, NodeDiagnosis, NodeGroup, Place, Reason};
use super::fact::{Brief, Evidence, Fact, Together};
use super::items::{Amounts, DeviceCount, FilterCount};
use dra_allocator::devices::{ClassSelectors, RuledOut};
use dra_allocator::{AlternativeExplanation, Unfit};
use dra_model::{AllocationMode, Claim, DeviceRequest, Key, Quantity};
use dra_rules::scheduling::Cycle;

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
    /// What is left of an amount that is short.
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
                Some(amounts) => Brief::Amounts(amounts),
                None => Brief::Fact(fact.clone()),
            },
            fact => Brief::Fact(fact.clone()),
        }
    }
}

impl NodeGroup {
    /// The nodes that are rejected, in groups: those that lack least first.
    pub(super) fn of(nodes: &[NodeDiagnosis]) -> Vec<Self> {
        let mut alike: BTreeMap<(Vec<DeviceCount>, Option<Brief>), Vec<_>> = BTreeMap::new();
        for node in nodes.iter().filter(|node| !node.fits) {
            let short = node.devices.iter().filter(|count| count.is_short());
            let short: Vec<DeviceCount> = match node.general() {
                Some(_) => Vec::new(),
                None => short.cloned().collect(),
            };
            let brief = node.brief(&short);
            alike.entry((short, brief)).or_default().push(node.node.clone());
        }
        let mut groups: Vec<Self> = alike
            .into_iter()
            .map(|((devices, reason), nodes)| Self {
                nodes,
                devices,
                reason,
            })
            .collect();
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
const ORDER: [&str; 7] = [
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
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

/// Why no node takes it.
pub(super) fn cause(report: &Diagnosis, cycle: &Cycle<'_>, selectors: &ClassSelectors) -> Cause {
    let claims = cycle.user_claims();
    let all = report.nodes.len();
    let none = Cause::Nowhere(all);
    if all == 0 {
        return none;
    }
    if let Some(cause) = cause_of_place(report, claims) {
        return cause;
    }
    if let [only] = report.node_groups.as_slice()
        && only.devices.is_empty()
        && let Some(reason) = &only.reason
    {
        return Cause::Alike(reason.clone());
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
    let is_same = |other: &DeviceCount| other.claim == first.claim && other.request == first.request;
    // The sentence is about every node: those that lack something else besides have to lack this, too.
    let lacks = |node: &NodeDiagnosis| {
        node.devices
            .iter()
            .any(|count| is_same(count) && count.is_short())
    };
    let spec = claims
        .iter()
        .find(|claim| claim.key() == first.claim)
        .and_then(|claim| spec(claim, &first.request));
    let has_none = |node: &NodeDiagnosis| {
        let mut counts = node.devices.iter();
        counts.all(|count| !is_same(count) || count.matching + count.unknown == 0)
    };
    if let Some(spec) = spec
        && of_devices.clone().all(has_none)
        && let Some(absence) = absence(cycle.scheduler().cluster(), selectors, spec)
    {
        return Cause::Absent(absence);
    }
    match (spec, first.wanted) {
        // What takes all devices wants another number on each node.
        (Some(spec), Some(wanted))
            if spec.allocation_mode == AllocationMode::ExactCount && of_devices.clone().all(lacks) =>
        {
            Cause::TooFew(among, wanted, DeviceKind::of(spec))
        }
        _ => none,
    }
}

/// What the request asks for; nothing where it has alternatives, none of which alone is the cause.
pub(super) fn spec<'c>(claim: &'c Claim, name: &str) -> Option<&'c DeviceRequest> {
    let mut requests = claim.spec.devices.requests.iter();
    requests.find(|request| request.name == name)?.exactly.as_ref()
}
