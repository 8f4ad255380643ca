//! Can a driver be taken away now: who still has its devices, who waits for them, who could still get one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::finding::{Subject, claim_key, counted, pod_key, some};
use super::reservations::free;
use super::{Code, Finding, Look, Severity};
use crate::remedy::{Remedy, can_taint, end_consumers, end_groups, end_pods};
use crate::script::{Command, NoCommand, Script, delete_in, taint_driver};
use dra_allocator::devices::{ClassSelectors, DeviceState, WantedNode};
use dra_model::{Claim, Class, DeviceId, Kind, Pod, Str, TOO_MUCH_WORK};
use dra_rules::kubelet::{Stage, Stages};
use dra_rules::reservation::{owning_group, users};
use dra_rules::scheduling::drivers_named;

pub(super) fn look(look: &mut Look<'_>, driver: &Str, node: Option<&Str>) {
    let cluster = look.cluster;
    let place = Place(node.map(|name| WantedNode::of(cluster, name)));
    for claim in cluster.claims() {
        in_use(look, driver, &place, claim);
    }
    if look.wants(Code::DriverAwaited) {
        awaited(look, driver, node);
    }
    if node.is_none() && look.wants(Code::DriverWanted) {
        wanted(look, driver);
    }
    if look.wants(Code::DriverPublished) {
        still_given_out(look, driver, &place);
    }
}

/// One node, or all. What cannot be told of a node counts as being there: a driver that is in use must not seem unused.
struct Place(Option<WantedNode>);

impl Place {
    /// Whether the devices of the claim may be used on the node. An allocation without node selector is for every node: then the pods
    /// decide where it is used.
    fn has(&self, look: &Look<'_>, claim: &Claim) -> bool {
        let Some(wanted) = &self.0 else {
            return true;
        };
        let selector = claim
            .status
            .allocation
            .as_ref()
            .and_then(|allocation| allocation.node_selector.as_ref());
        if let Some(selector) = selector {
            return wanted.matches(selector).unwrap_or(true);
        }
        users(look.cluster, claim).map_or(true, |users| {
            users
                .iter()
                .any(|pod| pod.node().is_none_or(|node| node == wanted.name()))
        })
    }
}

fn in_use(look: &mut Look<'_>, driver: &Str, place: &Place, claim: &Claim) {
    let devices: BTreeSet<DeviceId> = claim
        .results()
        .iter()
        .filter(|result| result.driver == *driver)
        .map(dra_model::AllocatedDevice::id)
        .collect();
    if devices.is_empty() || !place.has(look, claim) {
        return;
    }
    let holds = format!("holds {}", some(&devices));
    let about = Subject::of(Kind::ResourceClaim, &claim.metadata);
    let Ok(pods) = users(look.cluster, claim) else {
        let message = format!("{holds}; who uses it is unknown");
        let who = format!(
            "whoever may see the pods of namespace {} ends those that use the claim",
            claim.metadata.namespace
        );
        look.add(Finding::new(Code::DriverInUse, about, message).advice(who));
        return;
    };
    let finding = if pods.is_empty() {
        Finding::new(Code::DriverInUse, about, format!("{holds}, but no pod uses it"))
            .severity(Severity::Warning)
            .remedy(free(look.cluster, claim))
            .look(
                Command::dra("check")
                    .arg("--only=DRA010,DRA011,DRA012,DRA015")
                    .namespace(&claim.metadata.namespace)
                    .done(),
            )
    } else {
        let names: Vec<&str> = pods.iter().map(|pod| pod.metadata.name.as_str()).collect();
        Finding::new(
            Code::DriverInUse,
            about,
            format!(
                "{holds}, used by {}",
                some(names.iter().map(|name| format!("pod/{name}")))
            ),
        )
        .remedy(
            if claim
                .status
                .reserved_for
                .iter()
                .all(dra_model::ConsumerReference::is_pod)
            {
                end_pods(&claim.metadata.namespace, pods.iter().copied())
            } else {
                end_consumers(look.cluster, claim)
            },
        )
    };
    let evidence: Vec<_> = pods.iter().map(|pod| pod_key(pod.key())).collect();
    look.add(finding.joins([claim_key(claim.key())]).joins(evidence));
}

/// Pods for which the kubelet is to call the driver now: without it they neither start nor end until it is back.
fn awaited(look: &mut Look<'_>, driver: &Str, node: Option<&Str>) {
    let stages = Stages::of(look.cluster, look.now);
    let mut found = Vec::new();
    for stage in stages.all() {
        let pod = stage.pod;
        if node.is_some_and(|node| pod.node() != Some(node)) || pod.node().is_none() {
            continue;
        }
        let what = match stage.stage {
            Stage::Reserved | Stage::Unknown => "has yet to get its devices prepared",
            Stage::Unpreparing => "is ending, and has yet to give its devices back",
            Stage::Prepared | Stage::Starting | Stage::Running | Stage::Gone => continue,
        };
        let claims: Vec<_> = stages
            .claims(pod)
            .filter(|claim| claim.results().iter().any(|result| result.driver == *driver))
            .collect();
        if claims.is_empty() {
            continue;
        }
        let message = format!(
            "{what}: without the driver it waits until the driver is back, and for the next try of the kubelet after that"
        );
        found.push(
            Finding::new(Code::DriverAwaited, Subject::of(Kind::Pod, &pod.metadata), message)
                .advice(
                    "wait until the pod runs or is gone before the driver is stopped; pods that run do not notice a driver that is away, and \
                     their slices stay for 30 seconds",
                )
                .look(explain_pod(pod))
                .joins([pod_key(pod.key())])
                .joins(claims.iter().map(|claim| claim_key(claim.key()))),
        );
    }
    for finding in found {
        look.add(finding);
    }
}

fn explain_pod(pod: &Pod) -> Result<Script, NoCommand> {
    Command::dra("explain")
        .object(Kind::Pod, &pod.metadata.name)
        .namespace(&pod.metadata.namespace)
        .done()
}

/// Claims without devices that ask for a class which only devices of this driver belong to.
fn wanted(look: &mut Look<'_>, driver: &Str) {
    let cluster = look.cluster;
    let selectors = ClassSelectors::of(cluster);
    let mut drivers_of: BTreeMap<Str, BTreeSet<Str>> = BTreeMap::new();
    let mut not_judged: BTreeSet<Str> = BTreeSet::new();
    for pool in cluster.pools() {
        for (_, _, device) in selectors.devices(&pool) {
            let classes = selectors.classes(&device);
            not_judged.extend(classes.not_judged);
            for class in classes.names {
                drivers_of
                    .entry(class)
                    .or_default()
                    .insert(pool.id.driver.clone());
            }
        }
    }
    // While a driver publishes nothing, its classes still say whose devices they are.
    let has_none = |class: &&Arc<Class>| !drivers_of.contains_key(&class.metadata.name);
    let without: Vec<_> = cluster.classes().filter(has_none).collect();
    for class in without {
        let drivers = drivers_of.entry(class.metadata.name.clone()).or_default();
        drivers.extend(drivers_named(class));
    }
    if !not_judged.is_empty() {
        look.found.unknown.add(format!(
            "which drivers have devices of {} is unknown: {TOO_MUCH_WORK}",
            some(&not_judged)
        ));
    }
    let only_this = |class: &Str| {
        !not_judged.contains(class)
            && drivers_of
                .get(class)
                .is_some_and(|drivers| drivers.len() == 1 && drivers.contains(driver))
    };
    let mut found = Vec::new();
    for claim in cluster.claims() {
        if claim.status.allocation.is_some() || claim.metadata.is_deleting() {
            continue;
        }
        // Of alternatives one may be served by another driver.
        let request = claim
            .spec
            .devices
            .requests
            .iter()
            .find(|request| match &request.exactly {
                Some(exactly) => only_this(&exactly.device_class_name),
                None => {
                    !request.first_available.is_empty()
                        && request
                            .first_available
                            .iter()
                            .all(|alternative| only_this(&alternative.device_class_name))
                }
            });
        let Some(request) = request else {
            continue;
        };
        let key = claim.key();
        let pods: Vec<_> = cluster
            .pods_of_claim(&key)
            .filter(|pod| !dra_rules::reservation::is_done(pod))
            .collect();
        let waiting: Vec<_> = pods.iter().map(|pod| pod.key()).collect();
        let waits = if waiting.is_empty() {
            String::new()
        } else {
            format!(
                "; {} for it",
                if waiting.len() == 1 {
                    format!("pod/{} waits", waiting[0].name)
                } else {
                    format!("{} pods wait", waiting.len())
                }
            )
        };
        let message = format!(
            "request {} asks for a class that only devices of {driver} belong to{waits}",
            request.name
        );
        found.push(
            Finding::new(
                Code::DriverWanted,
                Subject::of(Kind::ResourceClaim, &claim.metadata),
                message,
            )
            .remedy(no_longer_wanted(look, claim, pods))
            .joins([claim_key(claim.key())])
            .joins(waiting.into_iter().map(pod_key)),
        );
    }
    for finding in found {
        look.add(finding);
    }
}

/// Ends what waits for the driver. To leave it waiting costs no device.
fn no_longer_wanted(look: &Look<'_>, claim: &Claim, pods: Vec<&Arc<Pod>>) -> Remedy {
    let metadata = &claim.metadata;
    let end = match owning_group(claim) {
        Some(group) => end_groups(look.cluster, &metadata.namespace, [group]),
        None => end_pods(&metadata.namespace, pods),
    };
    let delete = || delete_in(&metadata.namespace, Kind::ResourceClaim, [&metadata.name]);
    let all = match metadata.controller() {
        // What was made for a pod goes with it.
        Some(_) if end.command.is_some() => end,
        _ => end.and(Remedy::command(delete())),
    };
    all.note("or leave it waiting for another driver that serves the class")
}

/// Published devices that no claim holds and that the scheduler can allocate.
fn still_given_out(look: &mut Look<'_>, driver: &Str, place: &Place) {
    let cluster = look.cluster;
    let mut free = Vec::new();
    for pool in cluster.pools().filter(|pool| pool.id.driver == *driver) {
        let facts = look.inventory().pool_facts(&pool);
        for (slice, device) in pool.devices() {
            let here = place
                .0
                .as_ref()
                .is_none_or(|node| node.reaches(slice, device).unwrap_or(true));
            let id = pool.device_id(&device.name);
            let inventory = look.inventory();
            let is_left = device.allow_multiple_allocations || inventory.state(&id) != DeviceState::Allocated;
            if here && is_left && inventory.unavailable(&facts, &id, (slice, device)).is_empty() {
                free.push(id);
            }
        }
    }
    if free.is_empty() {
        return;
    }
    let message = format!(
        "{} can still be allocated, such as {}: taint them first, so that no pod gets one meanwhile",
        counted(free.len(), "device", "devices"),
        free[0],
    );
    let finding = Finding::new(Code::DriverPublished, Subject::driver(driver), message);
    look.add(if can_taint(look.cluster.environment()) {
        let node = place.0.as_ref().map(|node| node.name().as_str());
        finding
            .fix(taint_driver(driver, node))
            .note("keeps new pods off the devices until the DeviceTaintRule is deleted")
    } else {
        finding.advice(format!(
            "whoever runs the driver {driver} has it taint the devices, or an administrator of the cluster cordons the nodes"
        ))
    });
}
