//! How many more copies of a pod or of claims there could be.
//!
//! Copies are packed greedily: each goes to the first node by name that takes it, until none does. That finds the most there can be
//! unless a copy takes a device that a later one needs more. Where the number reaches what the nodes have at most, counted device by
//! device and resource by resource, nothing can beat it, and it is exact; else it is a lower bound.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{Settings, Units, words};
use dra_allocator::Explanation;
use dra_model::{Change, Claim, Cluster, Key, MOST_CONSUMERS, Node, Object, Pod, Str};
use dra_rules::scheduling::{
    Cycle, Granted, Localities, Plain, Refusal, Scheduler, Start, Usage, Verdict, allocatable, allocate,
    generate_claims, place, pod_requests,
};

/// Number of further copies.
#[macro_rules_attribute::apply(report)]
#[derive(Default)]
pub struct Packing {
    /// The number of copies.
    pub copies: u64,
    /// Whether no arrangement has more. Otherwise the number is a lower bound.
    pub exact: bool,
    /// Whether copies take nothing that could run out, so that there can be any number of them; then `copies` are those that were
    /// tried.
    pub unlimited: bool,
    /// Where they go, by node.
    pub nodes: Vec<Placed>,
    /// Reasons that stop the next copy, with the number of nodes, most first.
    pub runs_out: Vec<Exhausted>,
}

/// Copies on one node.
#[macro_rules_attribute::apply(report)]
pub struct Placed {
    /// The node.
    pub node: Str,
    /// Their number.
    pub copies: u64,
}

/// What is used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exhausted {
    /// `Insufficient cpu`, `devices of request gpu`.
    pub what: String,
    /// On how many nodes it stops the next copy.
    pub nodes: u64,
}

/// Most copies that are packed: more are no plan for a cluster.
const MOST_COPIES: u64 = 100_000;

/// Most copies on one node, which nothing but small shares of a device get to: each copy is looked at for the next one.
const MOST_ON_NODE: u64 = 1_000;

/// So many copies that take nothing show that any number fits. The first may take a device that the others share.
const FREE_COPIES: u64 = 2;

/// Packs copies of `units` on `cluster`; of several pods, which are mostly replicas of each other, of the first.
pub fn pack(cluster: &Cluster, units: &Units, settings: &Settings<'_>) -> Packing {
    let first = match units {
        Units::Pods(pods) => Units::Pods(pods.iter().take(1).cloned().collect()),
        Units::Claims(claims) => Units::Claims(claims.clone()),
    };
    let units = &first;
    let mut cluster = cluster.clone();
    let names: Vec<Str> = cluster
        .nodes()
        .map(|node| node.metadata.name.clone())
        .filter(|name| settings.nodes.is_empty() || settings.nodes.contains(name))
        .collect();
    let mut packing = Packing {
        exact: true,
        ..Packing::default()
    };
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let localities = Localities::of(&cluster);
    let whole = Scheduler::new(&cluster, settings.now);
    let (claims, pods) = match units {
        Units::Claims(claims) => (claims.as_slice(), &[][..]),
        Units::Pods(pods) => (&[][..], pods.as_slice()),
    };
    for name in &names {
        let Some(node) = cluster.node(name).cloned() else {
            continue;
        };
        if let Some(why) = cluster.meter().exhausted() {
            packing.exact = false;
            *reasons.entry(why.to_owned()).or_default() += 1;
            continue;
        }
        let mut local = localities.around(&cluster, &node, claims, pods);
        let scheduler = whole.beside(&local);
        let most = most_on(&mut local.clone(), &scheduler, units, &node, settings);
        let filled = fill(&mut local, scheduler, units, &node, packing.copies, settings);
        let copies = filled.copies;
        packing.unlimited |= filled.is_unlimited;
        for claim in local.claims().filter(|claim| claim.status.allocation.is_some()) {
            cluster.apply(Change::Put(Object::ResourceClaim(Arc::clone(claim))));
        }
        packing.exact &= !filled.is_unlimited && most.is_some_and(|most| copies >= most);
        packing.copies += copies;
        if copies > 0 {
            packing.nodes.push(Placed {
                node: name.clone(),
                copies,
            });
        }
        if let Some(reason) = filled.reason {
            *reasons.entry(reason).or_default() += 1;
        }
        if packing.unlimited {
            break;
        }
    }
    packing.runs_out = reasons
        .into_iter()
        .map(|(what, nodes)| Exhausted { what, nodes })
        .collect();
    packing
        .runs_out
        .sort_by(|a, b| b.nodes.cmp(&a.nodes).then_with(|| a.what.cmp(&b.what)));
    packing
}

/// What came of putting copies on a node.
struct Filled {
    copies: u64,
    is_unlimited: bool,
    /// Reasons that stop the next copy.
    reason: Option<String>,
}

/// Puts copies on `node` until none fits. `scheduler` is that of the cluster as it is.
fn fill(
    cluster: &mut Cluster,
    mut scheduler: Scheduler,
    units: &Units,
    node: &Arc<Node>,
    before: u64,
    settings: &Settings<'_>,
) -> Filled {
    let (mut copies, mut free) = (0, 0);
    let stopped = |copies, reason| Filled {
        copies,
        is_unlimited: false,
        reason: Some(reason),
    };
    loop {
        if settings.observer.cancelled() || before + copies >= MOST_COPIES || copies >= MOST_ON_NODE {
            return stopped(copies, words::MOST_SIMULATED.to_owned());
        }
        if settings.budget.is_spent() {
            return stopped(copies, words::BUDGET.to_owned());
        }
        if let Some(why) = cluster.meter().exhausted() {
            return stopped(copies, why.to_owned());
        }
        settings.observer.begin_node();
        let mut next = cluster.clone();
        match put(&mut next, &mut scheduler, units, node, before + copies, settings) {
            Ok(takes) => {
                *cluster = next;
                free = if takes { 0 } else { free + 1 };
            }
            Err(reason) => return stopped(copies, reason),
        }
        copies += 1;
        if free >= FREE_COPIES {
            return Filled {
                copies,
                is_unlimited: true,
                reason: None,
            };
        }
    }
}

/// Puts one copy of all units on `node`, and says whether it takes anything. `scheduler` follows what changes.
fn put(
    cluster: &mut Cluster,
    scheduler: &mut Scheduler,
    units: &Units,
    node: &Arc<Node>,
    number: u64,
    settings: &Settings<'_>,
) -> Result<bool, String> {
    let mut takes = false;
    match units {
        Units::Claims(claims) => {
            let claims: Vec<_> = claims
                .iter()
                .map(|claim| copy_of_claim(cluster, claim, number))
                .collect();
            *scheduler = scheduler.fork(cluster);
            let granted = grant(&scheduler.claims(&claims), node, settings)?;
            takes |= granted.iter().any(takes_something);
            allocate(cluster, &granted);
        }
        Units::Pods(pods) => {
            for pod in pods {
                let copy = copy_of_pod(cluster, pod, number);
                let made = generate_claims(cluster, &copy).map_err(|why| why.to_string())?;
                *scheduler = scheduler.fork(cluster);
                let granted = grant(&scheduler.pod(&made), node, settings)?;
                if let Some(full) = granted.iter().find(|grant| is_full(cluster, &grant.claim)) {
                    return Err(words::consumers_of(&full.claim));
                }
                // A claim that is there already can only have so many consumers.
                takes |= granted
                    .iter()
                    .any(|grant| grant.existing || takes_something(grant));
                let usage = Usage::of_node(cluster, &node.metadata.name);
                takes |= most_resources(&made, node, &usage).is_some();
                place(cluster, &made, &node.metadata.name, &granted);
            }
        }
    }
    Ok(takes)
}

/// Returns whether others get less because of what is granted: neither access for administrators nor a share of no amount takes anything.
fn takes_something(granted: &Granted) -> bool {
    granted.allocation.devices.results.iter().any(|result| {
        let is_empty_share = result.share_id.is_some()
            && result
                .consumed_capacity
                .iter()
                .all(|(_, amount)| amount.is_zero());
        result.takes() && !is_empty_share
    })
}

/// Returns whether no other consumer can be added to the claim's `status.reservedFor`.
fn is_full(cluster: &Cluster, claim: &Key) -> bool {
    cluster
        .claim(claim)
        .is_some_and(|claim| claim.status.reserved_for.len() >= MOST_CONSUMERS)
}

fn grant(start: &Start<'_>, node: &Node, settings: &Settings<'_>) -> Result<Vec<Granted>, String> {
    match start {
        Start::Unknown(_) => Err("unknown".to_owned()),
        Start::Obstacle(obstacle) => Err(obstacle.text()),
        Start::Cycle(cycle) => match judge(cycle, node, settings) {
            Verdict::Fits(granted) => Ok(granted),
            verdict => Err(reason(cycle, node, &verdict)),
        },
    }
}

fn judge(cycle: &Cycle<'_>, node: &Node, settings: &Settings<'_>) -> Verdict {
    let judgment = cycle.judge(node, settings.budget.limits(u64::MAX), settings.observer);
    settings.budget.spend(judgment.work);
    judgment.verdict
}

/// What stops a copy, in few words.
fn reason(cycle: &Cycle<'_>, node: &Node, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Plain(Plain::NodeResourcesFit(lacks)) => {
            let names: Vec<&str> = lacks.iter().map(|lack| lack.resource.as_str()).collect();
            names.join(", ")
        }
        Verdict::Refused(Refusal::CannotAllocate { invalid_pools: false }) => {
            let short = |explanation: &mut Explanation<'_>| {
                let requests = explanation.requests.iter();
                let short = requests.filter(|request| {
                    let mut alternatives = request.alternatives.iter();
                    !alternatives.any(|one| one.reaches(one.most()))
                });
                let names = short.map(|request| words::devices_for(&request.name));
                names.collect::<Vec<String>>()
            };
            let names = cycle.explain(node, short).ok().flatten().unwrap_or_default();
            if names.is_empty() {
                words::TOGETHER.to_owned()
            } else {
                names.join(", ")
            }
        }
        Verdict::Plain(plain) => plain.reasons().join(", "),
        Verdict::Refused(refusal) => refusal.reasons().join(", "),
        Verdict::NotNamed => "node(s) didn't satisfy plugin(s) [NodeAffinity]".to_owned(),
        Verdict::Error(error) => error.to_string(),
        Verdict::GaveUp => words::UNDECIDED.to_owned(),
        Verdict::Fits(_) => String::new(),
    }
}

/// More copies than this cannot be on `node`, counting each device and each resource separately; nothing where no such count is known.
fn most_on(
    cluster: &mut Cluster,
    scheduler: &Scheduler,
    units: &Units,
    node: &Arc<Node>,
    settings: &Settings<'_>,
) -> Option<u64> {
    let mut bounds = Vec::new();
    match units {
        Units::Claims(claims) => {
            let claims: Vec<_> = claims
                .iter()
                .map(|claim| copy_of_claim(cluster, claim, u64::MAX))
                .collect();
            let scheduler = scheduler.fork(cluster);
            bounds.push(most_devices(&scheduler.claims(&claims), node, settings));
        }
        Units::Pods(pods) => {
            for pod in pods {
                let copy = copy_of_pod(cluster, pod, u64::MAX);
                let made = generate_claims(cluster, &copy).ok()?;
                let scheduler = scheduler.fork(cluster);
                bounds.push(most_devices(&scheduler.pod(&made), node, settings));
                let usage = Usage::of_node(cluster, &node.metadata.name);
                bounds.push(most_resources(&made, node, &usage));
            }
        }
    }
    bounds.into_iter().flatten().min()
}

fn most_devices(start: &Start<'_>, node: &Node, settings: &Settings<'_>) -> Option<u64> {
    let Start::Cycle(cycle) = start else {
        return Some(0);
    };
    match judge(cycle, node, settings) {
        Verdict::Fits(_) => {}
        Verdict::GaveUp => return None,
        _ => return Some(0),
    }
    let most = |explanation: &mut Explanation<'_>| {
        let bounds = explanation.requests.iter().filter_map(|request| {
            let [one] = request.alternatives.as_slice() else {
                return None;
            };
            let wanted = u64::try_from(one.wanted).ok().filter(|wanted| *wanted > 0)?;
            // A device that several claims share does not run out by being taken.
            let shared = (0..one.devices.len()).any(|device| explanation.is_shareable(device));
            (!shared).then(|| one.most() as u64 / wanted)
        });
        bounds.min()
    };
    cycle.explain(node, most).ok()??
}

fn most_resources(pod: &Pod, node: &Node, usage: &Usage) -> Option<u64> {
    let mut requests = pod_requests(pod);
    requests.insert("pods".into(), 1);
    let bounds = requests
        .iter()
        .filter(|(_, wanted)| **wanted > 0)
        .filter_map(|(name, wanted)| {
            // Where the node has none of it, the devices of a class may stand in.
            let has = allocatable(node, name).filter(|has| *has > 0)?;
            let used = if name == "pods" {
                i64::try_from(usage.pods).unwrap_or(i64::MAX)
            } else {
                usage.requested.get(name).copied().unwrap_or(0)
            };
            u64::try_from(has.saturating_sub(used) / wanted).ok()
        });
    bounds.min()
}

/// A claim like `claim`, not allocated.
fn copy_of_claim(cluster: &mut Cluster, claim: &Claim, number: u64) -> Arc<Claim> {
    let mut copy = claim.clone();
    copy.metadata.name = format!("{}-copy-{number}", claim.metadata.name).into();
    copy.metadata.uid = format!("{}/copy/{number}", claim.metadata.uid).into();
    copy.status = dra_model::ClaimStatus::default();
    let copy = Arc::new(copy);
    cluster.apply(Change::Put(Object::ResourceClaim(Arc::clone(&copy))));
    copy
}

/// A pod like `pod`, without a node. Claims of its templates are its own; claims that it names are copied as long as no pod holds
/// them, and shared otherwise.
fn copy_of_pod(cluster: &mut Cluster, pod: &Pod, number: u64) -> Arc<Pod> {
    let mut copy = pod.clone();
    copy.metadata.name = format!("{}-copy-{number}", pod.metadata.name).into();
    copy.metadata.uid = format!("{}/copy/{number}", pod.metadata.uid).into();
    copy.spec.node_name = None;
    let statuses = std::mem::take(&mut copy.status).resource_claim_statuses;
    for entry in copy.spec.resource_claims.iter_mut() {
        let key = |name: &Str| pod.metadata.beside(name);
        // The claim of a template may be known while the template is not.
        let template = entry.resource_claim_template_name.as_ref().map(key);
        let made = statuses.iter().find(|status| status.name == entry.name);
        let made = made
            .and_then(|status| status.resource_claim_name.as_ref())
            .map(key);
        let source = match (template, made) {
            (Some(template), _) if cluster.template(&template).is_some() => continue,
            (Some(_), Some(made)) => made,
            _ => continue,
        };
        if let Some(claim) = cluster.claim(&source).cloned() {
            entry.resource_claim_name = Some(copy_of_claim(cluster, &claim, number).metadata.name.clone());
            entry.resource_claim_template_name = None;
        }
    }
    Arc::new(copy)
}
