//! What keeps all nodes from taking the pod: what people read first.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::absence::absence;
use super::diagnosis::{
    Among, Cause, DeviceKind, Diagnosis, HiddenByPlugin, Lost, NodeDiagnosis, NotAll, Place, Reason,
};
use super::fact::{Brief, Evidence, Fact};
use super::groups::{self, counts};
use super::items::{DeviceCount, Holding};
use crate::driver_chain::is_unmatched;
use dra_allocator::devices::{ClassSelectors, DeviceState, Inventory, Match, RuledOut};
use dra_model::{AllocationMode, Claim, Cluster, Component, DeviceRequest, Gate, Key, Pod, Pool, Str, Taint};
use dra_rules::kubelet::users_of_plugin;
use dra_rules::scheduling::{self, Cycle, Plain, matches_affinity};

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

/// That claims of the pod are allocated for different nodes.
fn allocated_apart(claims: &[Arc<Claim>]) -> Option<Cause> {
    let held = claims.iter().filter_map(|claim| {
        let holding = Holding::of(claim)?;
        Some((claim.key(), holding.node.clone()?, holding))
    });
    let held: Vec<(Key, Str, Holding)> = held.collect();
    let nodes: BTreeSet<&Str> = held.iter().map(|(_, node, _)| node).collect();
    (nodes.len() > 1).then_some(Cause::Apart(held))
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
    // No other node helps, and no other device.
    let not_shared = |fact: &&Fact| matches!(fact, Fact::NotShared(_));
    if let Some(fact) = groups::facts(&report.nodes).find(not_shared) {
        return Cause::Alike(Brief::Fact(fact.clone()));
    }
    if let Some(cause) = cause_of_place(report, claims)
        .or_else(|| allocated_nowhere(cluster, claims))
        .or_else(|| allocated_apart(claims))
    {
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
            ([_], Some(fact @ Fact::PoolIncomplete(..))) => fact.into(),
            _ => Cause::Alike(reason.clone()),
        };
    }
    // Nodes that other filters reject may have devices.
    let of_devices = report.lacking_devices();
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
    let Some(first) = report.short().next() else {
        return none;
    };
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
                    among: self.among,
                    others: counts.iter().filter(|count| count.matching > 0).count() - 1,
                    kind,
                    matching: count.matching,
                    in_use: count.in_use,
                    users: self.users(node, &key, name),
                    tainted: count.tainted,
                    taints: taints(node, &key, name),
                    blocked: count.blocked,
                })))
            }
            AllocationMode::Other(_) => None,
        }
    }

    /// What rules out the devices that `counts` are the numbers of; nothing where some are in use, which is then what matters, unless a node has enough
    /// others for this alternative of a request, which are tainted.
    fn lost(&self, counts: &[DeviceCount]) -> Option<Lost> {
        let first = counts.first()?;
        let is_tainted = |count: &DeviceCount| {
            count.request.contains('/')
                && count.tainted > 0
                && count
                    .wanted
                    .is_some_and(|wanted| count.usable + count.tainted >= wanted)
        };
        if counts.iter().any(|count| count.in_use > 0) && !counts.iter().any(is_tainted) {
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

    /// A node that has enough devices for the request, and that other filters reject. Where nodes that the pod selects have such devices, in use or not,
    /// those of others do not matter, and those where more than one thing would have to change matter less.
    fn lost_to_filters(&self, counts_there: &[DeviceCount], wanted: u64) -> Option<(Str, Vec<Plain>)> {
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
            (matches!(first.fact, Fact::Plain(_)) && is_meant(node)).then_some(node)
        });
        let own: BTreeSet<&Str> = cluster
            .slices()
            .filter_map(|slice| slice.spec.node_name.as_ref())
            .collect();
        // Those with devices of their own come first, however many there are without.
        let mut rejected: Vec<_> = rejected.collect();
        rejected.sort_by_key(|node| !own.contains(&node.node));
        let mut lost = rejected.into_iter().take(MOST_REJECTED).filter_map(|node| {
            let found = cluster.node(&node.node)?;
            let read = |explanation: &mut dra_allocator::Explanation<'_>| counts(explanation);
            let counts = self.cycle.explain(found, read).ok()??;
            let is_it = |count: &&DeviceCount| count.claim == *claim && count.request == *name;
            counts.iter().find(is_it).filter(|count| count.usable >= wanted)?;
            // One alternative of several may do.
            let mut others = counts.iter().filter(|count| !count.request.contains('/'));
            let lacks_more = others.any(DeviceCount::is_short);
            let why = self.cycle.rejections(found);
            Some((why.len() > 1 || lacks_more, node.node.clone(), why))
        });
        let (_, node, why) = if has_some {
            lost.find(|(is_more, ..)| !is_more)?
        } else {
            lost.min_by_key(|(is_more, ..)| *is_more)?
        };
        Some((node, why))
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
                if consumers.is_empty() {
                    users.insert(format!("claim/{key}"));
                }
                users.extend(consumers.iter().map(|entry| crate::Consumer(entry).to_string()));
            }
        }
        users
    }
}

/// Names of the node's devices that their taints keep from the request, and these taints.
fn taints(node: &NodeDiagnosis, claim: &Key, name: &Str) -> (BTreeSet<Str>, BTreeSet<Taint>) {
    let (mut devices, mut taints) = (BTreeSet::new(), BTreeSet::new());
    for reason in &node.reasons {
        if reason.claim.as_ref() == Some(claim)
            && reason.request.as_ref() == Some(name)
            && let Fact::RuledOut(RuledOut::Tainted, Evidence::Taints(found)) = &reason.fact
        {
            devices.extend(reason.device.as_ref().map(|id| id.device.clone()));
            taints.extend(found.iter().cloned());
        }
    }
    (devices, taints)
}

/// An extended resource of the pod that nothing offers, and how many devices are free of the class that could offer it and has most.
pub(super) fn unoffered(cluster: &Cluster, pod: &Pod, selectors: &ClassSelectors) -> Option<Cause> {
    let unoffered = scheduling::unoffered(cluster, pod).into_iter().next()?;
    let inventory = Inventory::of(cluster);
    let counts = unoffered.classes.iter().map(|class| {
        let name = &class.metadata.name;
        (name.clone(), free(&inventory, selectors, cluster.pools(), name))
    });
    let most = counts.max_by_key(|(name, free)| (*free, std::cmp::Reverse(name.clone())));
    let most = most.filter(|(_, free)| *free > 0);
    Some(Cause::Unoffered(unoffered.resource, most))
}

/// How many devices of the class are free in the pools.
fn free<'c>(
    inventory: &Inventory<'c>,
    selectors: &ClassSelectors,
    pools: impl Iterator<Item = Pool<'c>>,
    class: &Str,
) -> usize {
    let free_of = |pool: Pool<'_>| {
        let facts = inventory.pool_facts(&pool);
        let free = selectors.devices(&pool).filter(|(slice, device, selectable)| {
            let id = pool.device_id(&device.name);
            inventory.state(&id) == DeviceState::Free
                && inventory.unavailable(&facts, &id, (slice, device)).is_empty()
                && selectors.matches(class, selectable) == Match::Yes
        });
        free.count()
    };
    pools.map(free_of).sum()
}

/// A node that has too little of an extended resource of a device plugin, though as many devices are free there as the pod wants of the class that provides
/// it elsewhere. Mirrors `noderesources/fit.go`, `shouldDelegateResourceToDRA`, v1.37.2.
pub(super) fn hidden_by_plugin(
    report: &Diagnosis,
    cluster: &Cluster,
    selectors: &ClassSelectors,
) -> Option<HiddenByPlugin> {
    let environment = cluster.environment();
    if !environment.enabled(Component::Scheduler, Gate::DRAExtendedResource) {
        return None;
    }
    let classes = scheduling::classes_of_resources(cluster);
    let inventory = LazyCell::new(|| Inventory::of(cluster));
    report.nodes.iter().find_map(|node| {
        let lacks = node.reasons.iter().find_map(|reason| match &reason.fact {
            Fact::Plain(Plain::NodeResourcesFit(lacks)) => Some(lacks),
            _ => None,
        })?;
        // What else it lacks keeps the pod off without a device plugin, too.
        let [lack] = lacks.as_slice() else { return None };
        let class = classes.get(&lack.resource)?.first()?.metadata.name.clone();
        let of_node = |pool: &Pool<'_>| {
            let mut slices = pool.slices.iter();
            slices.all(|slice| slice.spec.node_name.as_ref() == Some(&node.node))
        };
        let free = free(&inventory, selectors, cluster.pools().filter(of_node), &class);
        let is_enough = i64::try_from(free).is_ok_and(|free| free >= lack.wanted.value());
        let of_cluster = cluster.node(&node.node)?;
        (is_enough && lack.total.value() > 0).then(|| HiddenByPlugin {
            users: users_of_plugin(cluster, of_cluster, &lack.resource),
            node: node.node.clone(),
            resource: lack.resource.clone(),
            class,
            free,
        })
    })
}

/// The nodes that pods of the owner of `pod` have, or had.
pub(super) fn nodes_of_siblings<'c>(cluster: &'c Cluster, pod: &Pod) -> BTreeSet<&'c Str> {
    let siblings = cluster
        .pods()
        .filter(|other| other.metadata.is_sibling(&pod.metadata));
    siblings.filter_map(|other| other.node()).collect()
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
