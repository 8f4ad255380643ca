//! Objects that a release on the way treats differently, because a feature is on by default there, and objects that it cannot read.

use std::collections::BTreeMap;

use super::Upgrade;
use super::words;
use super::writers::removed_in;
use crate::findings::finding::{Subject, claim_key, slice_key};
use crate::findings::{Code, Finding, Look, Severity};
use dra_allocator::devices::keeps_off;
use dra_model::{Claim, Component, DeviceId, Gate, Key, Kind, NO_EXECUTE, NO_SCHEDULE, Taint};

pub(super) fn look(look: &mut Look<'_>, upgrade: &Upgrade) {
    if look.wants(Code::GateDefaults) {
        taints(look, upgrade);
        binding_conditions(look, upgrade);
        extended_resources(look, upgrade);
        partitions(look, upgrade);
        rules(look, upgrade);
    }
    if look.wants(Code::OldCounters)
        && let Some(minor) = upgrade.begins(|release| !release.counters_are_of_slice)
    {
        old_counters(look, upgrade.step(minor));
    }
    if look.wants(Code::WorkloadObjects) {
        workloads(look, upgrade);
    }
    if look.wants(Code::AllocationTolerations) {
        without_tolerations(look, upgrade);
    }
}

fn is_tolerated(claim: &Claim, device: &DeviceId, taint: &Taint) -> bool {
    let mut results = claim.results().iter().filter(|result| result.id() == *device);
    results.all(|result| result.tolerations.tolerate(taint))
}

/// Taints of devices that no component reads yet.
fn taints(look: &mut Look<'_>, upgrade: &Upgrade) {
    let scheduler = upgrade.turns_on(look, Component::Scheduler, Gate::DRADeviceTaints);
    let controller = upgrade.turns_on(look, Component::ControllerManager, Gate::DRADeviceTaints);
    let Some(minor) = scheduler.into_iter().chain(controller).min() else {
        return;
    };
    for pool in look.cluster.pools() {
        for (slice, device) in pool.devices() {
            let id = pool.device_id(&device.name);
            let taints = || device.taints.iter();
            let evicting: Vec<&Taint> = taints().filter(|taint| taint.effect == NO_EXECUTE).collect();
            let held = look.inventory().holders(&id).iter().map(|holder| holder.claim);
            let evicted: Vec<Key> = held
                .filter(|claim| evicting.iter().any(|taint| !is_tolerated(claim, &id, taint)))
                .map(|claim| claim.key())
                .collect();
            if !evicted.is_empty() {
                let message = words::evicted_from(minor, &evicting, &evicted);
                look.add(
                    Finding::new(Code::GateDefaults, Subject::device(&id), message)
                        .severity(Severity::Error)
                        .order(upgrade.step(minor))
                        .ask_driver(&id.driver, words::REMOVE_TAINT)
                        .joins(evicted.into_iter().map(claim_key))
                        .joins([slice_key(slice)]),
                );
            } else if let Some(taint) =
                taints().find(|taint| [NO_EXECUTE, NO_SCHEDULE].contains(&taint.effect.as_str()))
            {
                let message = words::needs_toleration(minor, taint);
                look.add(
                    Finding::new(Code::GateDefaults, Subject::device(&id), message)
                        .order(upgrade.step(minor))
                        .ask_driver(&id.driver, words::REMOVE_TAINT_TO_USE),
                );
            }
        }
    }
}

fn binding_conditions(look: &mut Look<'_>, upgrade: &Upgrade) {
    let Some(minor) = upgrade.turns_on(look, Component::Scheduler, Gate::DRADeviceBindingConditions) else {
        return;
    };
    let slices = look.cluster.slices().filter(|slice| {
        let mut devices = slice.spec.devices.iter();
        devices.any(|device| !device.binding_conditions.is_empty())
    });
    let findings = slices.map(|slice| {
        let subject = Subject::slice(slice);
        Finding::new(Code::GateDefaults, subject, words::binds_later(minor))
            .order(upgrade.step(minor))
            .ask_driver(&slice.spec.driver, words::ATTACH)
    });
    look.add_all(findings);
}

fn extended_resources(look: &mut Look<'_>, upgrade: &Upgrade) {
    let Some(minor) = upgrade.turns_on(look, Component::Scheduler, Gate::DRAExtendedResource) else {
        return;
    };
    let classes = look.cluster.classes();
    let findings = classes.filter_map(|class| {
        let resource = class.spec.extended_resource_name.as_ref()?;
        let subject = Subject::of(Kind::DeviceClass, &class.metadata);
        let message = words::extended_resource(minor, resource);
        Some(
            Finding::new(Code::GateDefaults, subject, message)
                .severity(Severity::Info)
                .order(upgrade.step(minor))
                .advice(words::REMOVE_RESOURCE),
        )
    });
    look.add_all(findings);
}

fn partitions(look: &mut Look<'_>, upgrade: &Upgrade) {
    let Some(minor) = upgrade.turns_on(look, Component::Scheduler, Gate::DRAPartitionableDevices) else {
        return;
    };
    let mut drivers: BTreeMap<_, usize> = BTreeMap::new();
    for slice in look.cluster.slices() {
        let devices = slice.spec.devices.iter();
        let partitions = devices
            .filter(|device| !device.consumes_counters.is_empty())
            .count();
        if partitions > 0 {
            *drivers.entry(slice.spec.driver.clone()).or_default() += partitions;
        }
    }
    for (driver, partitions) in drivers {
        let message = words::partitions_are_allocated(minor, partitions);
        look.add(
            Finding::new(Code::GateDefaults, Subject::driver(&driver), message)
                .severity(Severity::Info)
                .order(upgrade.step(minor))
                .advice(words::PARTITIONS_ARE_FINE),
        );
    }
}

/// Rules that exist and have no effect yet.
fn rules(look: &mut Look<'_>, upgrade: &Upgrade) {
    let components = [Component::Scheduler, Component::ControllerManager];
    let turns_on = components
        .into_iter()
        .filter_map(|component| upgrade.turns_on(look, component, Gate::DRADeviceTaintRules));
    let Some(minor) = turns_on.min() else { return };
    let rules = look.cluster.rules().filter(|rule| keeps_off(&rule.spec.taint));
    let findings = rules.map(|rule| {
        let message = words::rule_takes_effect(minor, &rule.spec.taint);
        Finding::new(
            Code::GateDefaults,
            Subject::of(Kind::DeviceTaintRule, &rule.metadata),
            message,
        )
        .order(upgrade.step(minor))
        .fix(crate::script::save_and_delete(
            Kind::DeviceTaintRule,
            &rule.metadata.key(),
        ))
        .note(words::IF_NOT_TO_TAINT)
    });
    look.add_all(findings);
}

/// Counters in the slice of the devices that consume them, as in 1.34.
fn old_counters(look: &mut Look<'_>, step: u32) {
    let slices = look.cluster.slices();
    let old = slices.filter(|slice| !slice.spec.shared_counters.is_empty() && !slice.spec.devices.is_empty());
    let findings = old.map(|slice| {
        let subject = Subject::slice(slice);
        Finding::new(Code::OldCounters, subject, words::OLD_COUNTERS.to_owned())
            .order(step)
            .ask_driver(&slice.spec.driver, words::PUBLISH_COUNTERS)
    });
    look.add_all(findings);
}

/// PodGroups and Workloads of versions that the next release does not know.
fn workloads(look: &mut Look<'_>, upgrade: &Upgrade) {
    let from = look.cluster.environment().emulated_minor;
    let removed = |version| {
        let minor = removed_in(Kind::PodGroup, &format!("scheduling.k8s.io/{version}"))?;
        (minor > from).then_some((minor, version))
    };
    let Some((minor, version)) = ["v1alpha1", "v1alpha2"].into_iter().find_map(removed) else {
        return;
    };
    if !upgrade.passes(minor) {
        return;
    }
    let groups = look
        .cluster
        .pod_groups()
        .map(|group| (Kind::PodGroup, &group.metadata));
    let workloads = look
        .cluster
        .workloads()
        .map(|workload| (Kind::Workload, &workload.metadata));
    let findings = groups.chain(workloads).map(|(kind, metadata)| {
        let message = words::cannot_be_read(minor, version);
        Finding::new(Code::WorkloadObjects, Subject::of(kind, metadata), message)
            .order(upgrade.step(minor))
            .fix(crate::script::save_and_delete(kind, &metadata.key()))
            .note(words::DELETE_ITS_PODS)
            .note(words::RECREATE_LATER)
    });
    look.add_all(findings);
}

/// Allocations of 1.34, which does not record in them what the request tolerates.
fn without_tolerations(look: &mut Look<'_>, upgrade: &Upgrade) {
    let environment = look.cluster.environment();
    let on = environment.enabled(Component::ControllerManager, Gate::DRADeviceTaints);
    let turns_on = upgrade.turns_on(look, Component::ControllerManager, Gate::DRADeviceTaints);
    let Some(minor) = turns_on.or_else(|| {
        upgrade
            .begins(|release| !release.omits_tolerations)
            .filter(|_| on)
    }) else {
        return;
    };
    let findings = look.cluster.claims().filter_map(|claim| {
        let lost = claim.results().iter().filter(|result| {
            let asked = claim.asked_for(&result.request).into_iter();
            let mut asked = asked.flat_map(|request| request.tolerations.iter());
            result.tolerations.is_empty()
                && asked.any(|toleration| toleration.effect.is_empty() || toleration.effect == NO_EXECUTE)
        });
        let lost: Vec<DeviceId> = lost.map(dra_model::AllocatedDevice::id).collect();
        if lost.is_empty() {
            return None;
        }
        let subject = Subject::claim(claim);
        let message = words::tolerations_are_lost(minor, &lost);
        Some(
            Finding::new(Code::AllocationTolerations, subject, message)
                .order(upgrade.step(minor))
                .advice(words::ALLOCATE_AGAIN),
        )
    });
    look.add_all(findings);
}
