//! Whether a driver can be removed now: claims that have its devices, pods that need it, devices that can still be allocated.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::finding::{Subject, claim_key, pod_key};
use super::reservations::free;
use super::{Code, Finding, Look, Severity, words};
use crate::remedy::{Remedy, can_taint, end_consumers, end_groups, end_pods};
use crate::script::{Command, delete_in, taint_driver};
use dra_allocator::devices::{ClassSelectors, DeviceState, WantedNode};
use dra_model::{Claim, Class, DeviceId, Key, Kind, Pod, Str};
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

/// One node, or all. What is unknown of a node counts as being there: a driver that is in use must not seem unused.
struct Place(Option<WantedNode>);

impl Place {
    /// Whether the devices of the claim may be used on the node. An allocation without node selector is for every node: then its pods
    /// determine where it is used.
    fn has(&self, look: &Look<'_>, claim: &Claim) -> bool {
        let Some(wanted) = &self.0 else {
            return true;
        };
        let allocation = claim.status.allocation.as_ref();
        if let Some(selector) = allocation.and_then(|allocation| allocation.node_selector.as_ref()) {
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
    let about = Subject::claim(claim);
    let Ok(pods) = users(look.cluster, claim) else {
        let message = words::driver_in_use(&devices, None);
        let who = crate::words::delete_hidden_pods(&claim.metadata.namespace, &claim.key());
        look.add(Finding::new(Code::DriverInUse, about, message).advice(who));
        return;
    };
    let names: Vec<Key> = pods.iter().map(|pod| pod.key()).collect();
    let finding = Finding::new(
        Code::DriverInUse,
        about,
        words::driver_in_use(&devices, Some(&names)),
    );
    let finding = if pods.is_empty() {
        finding
            .severity(Severity::Warning)
            .remedy(free(look.cluster, claim))
            .look(
                Command::dra("check")
                    .here()
                    .arg("--only=DRA010,DRA011,DRA012,DRA015")
                    .namespace(&claim.metadata.namespace)
                    .done(),
            )
    } else {
        finding.remedy(
            if claim
                .status
                .reserved_for
                .iter()
                .all(dra_model::ConsumerReference::is_pod)
            {
                end_pods(look.cluster, &claim.metadata.namespace, pods.iter().copied())
            } else {
                end_consumers(look.cluster, claim)
            },
        )
    };
    look.add(
        finding
            .joins([claim_key(claim.key())])
            .joins(names.into_iter().map(pod_key)),
    );
}

/// Pods that need the kubelet to call the driver now: without it they neither start nor terminate.
fn awaited(look: &mut Look<'_>, driver: &Str, node: Option<&Str>) {
    let stages = Stages::of(look.cluster, look.request.now);
    for stage in stages.all() {
        let pod = stage.pod;
        if node.is_some_and(|node| pod.node() != Some(node)) || pod.node().is_none() {
            continue;
        }
        let is_ending = match stage.stage {
            Stage::Reserved | Stage::Unknown => false,
            Stage::Unpreparing => true,
            Stage::Prepared | Stage::Starting | Stage::Running | Stage::Gone => continue,
        };
        let claims: Vec<_> = stages
            .claims(pod)
            .filter(|claim| claim.has_device_of(driver))
            .collect();
        if claims.is_empty() {
            continue;
        }
        let message = words::driver_awaited(is_ending);
        let explain = Command::dra("explain").here().about(Kind::Pod, &pod.key());
        look.add(
            Finding::new(Code::DriverAwaited, Subject::pod(pod), message)
                .advice(words::STOP_DRIVER_LATER)
                .look(explain.done())
                .joins([pod_key(pod.key())])
                .joins(claims.iter().map(|claim| claim_key(claim.key()))),
        );
    }
}

/// Claims without devices that need a class which only this driver serves.
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
    // While a driver publishes nothing, its classes still name it.
    let has_none = |class: &&Arc<Class>| !drivers_of.contains_key(&class.metadata.name);
    let without: Vec<_> = cluster.classes().filter(has_none).collect();
    for class in without {
        let drivers = drivers_of.entry(class.metadata.name.clone()).or_default();
        drivers.extend(drivers_named(class));
    }
    if !not_judged.is_empty() {
        look.found.unknown.add(words::classes_not_judged(&not_judged));
    }
    let only_this = |class: &Str| {
        !not_judged.contains(class)
            && drivers_of
                .get(class)
                .is_some_and(|drivers| drivers.len() == 1 && drivers.contains(driver))
    };
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
        let pending: Vec<Key> = pods.iter().map(|pod| pod.key()).collect();
        let message = words::driver_wanted(&request.name, driver, &pending);
        look.add(
            Finding::new(Code::DriverWanted, Subject::claim(claim), message)
                .remedy(no_longer_wanted(look, claim, pods))
                .joins([claim_key(claim.key())])
                .joins(pending.into_iter().map(pod_key)),
        );
    }
}

/// Deletes what is pending for the driver. To leave it pending costs no device.
fn no_longer_wanted(look: &Look<'_>, claim: &Claim, pods: Vec<&Arc<Pod>>) -> Remedy {
    let metadata = &claim.metadata;
    let end = match owning_group(claim) {
        Some(group) => end_groups(look.cluster, &metadata.namespace, [group]),
        None => end_pods(look.cluster, &metadata.namespace, pods),
    };
    let delete = || delete_in(&metadata.namespace, Kind::ResourceClaim, [&metadata.name]);
    let all = match metadata.controller() {
        // What was created for a pod is deleted with it.
        Some(_) if end.command.is_some() => end,
        _ => end.and(Remedy::command(delete())),
    };
    all.note(words::LEAVE_PENDING)
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
    let message = words::still_allocated(&free);
    let finding = Finding::new(Code::DriverPublished, Subject::driver(driver), message);
    look.add(if can_taint(look.cluster.environment()) {
        let node = place.0.as_ref().map(|node| node.name().as_str());
        finding
            .fix(taint_driver(driver, node))
            .note(words::KEEPS_OFF_DRIVER)
    } else {
        finding.ask_driver(driver, words::TAINT_OR_CORDON)
    });
}
