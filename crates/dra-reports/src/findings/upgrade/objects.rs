//! Objects that a release on the way treats otherwise, since a feature is on there by default, and objects that it cannot read.

use std::collections::BTreeMap;

use super::Upgrade;
use super::writers::removed_in;
use crate::findings::finding::{Subject, claim_key, counted, some};
use crate::findings::{Code, Finding, Look, Severity};
use dra_allocator::devices::keeps_off;
use dra_model::{Claim, Component, DeviceId, Gate, Kind, NO_EXECUTE, NO_SCHEDULE, Taint, Tolerations};

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

/// A claim with what it asked to tolerate of a device.
fn asked_tolerations<'a>(claim: &'a Claim, request: &str) -> Option<&'a Tolerations> {
    claim.asked_for(request).map(|request| &request.tolerations)
}

/// Claims by the devices that they hold.
fn holders<'a>(look: &Look<'a>) -> BTreeMap<DeviceId, Vec<&'a Claim>> {
    let mut holders: BTreeMap<DeviceId, Vec<&Claim>> = BTreeMap::new();
    for claim in look.cluster.claims() {
        for result in claim.results() {
            holders.entry(result.id()).or_default().push(claim);
        }
    }
    holders
}

fn is_tolerated(claim: &Claim, device: &DeviceId, taint: &Taint) -> bool {
    let mut results = claim.results().iter().filter(|result| result.id() == *device);
    results.all(|result| result.tolerations.tolerate(taint))
}

/// Taints of devices that no component reads yet.
fn taints(look: &mut Look<'_>, upgrade: &Upgrade) {
    let environment = look.cluster.environment();
    let scheduler = upgrade.turns_on(environment, Component::Scheduler, Gate::DRADeviceTaints);
    let controller = upgrade.turns_on(environment, Component::ControllerManager, Gate::DRADeviceTaints);
    let Some(minor) = scheduler.into_iter().chain(controller).min() else {
        return;
    };
    let holders = holders(look);
    let mut found = Vec::new();
    for pool in look.cluster.pools() {
        for (slice, device) in pool.devices() {
            let id = pool.device_id(&device.name);
            let taints = || device.taints.iter();
            let evicting: Vec<&Taint> = taints().filter(|taint| taint.effect == NO_EXECUTE).collect();
            let held = holders.get(&id).map_or(&[][..], Vec::as_slice);
            let evicted: Vec<&&Claim> = held
                .iter()
                .filter(|claim| evicting.iter().any(|taint| !is_tolerated(claim, &id, taint)))
                .collect();
            let evidence = crate::findings::finding::scoped_key(Kind::ResourceSlice, &slice.metadata.name);
            if !evicted.is_empty() {
                let message = format!(
                    "has the taint {}, which is on by default from 1.{minor} on: the pods of {} are evicted at once",
                    some(&evicting),
                    some(evicted.iter().map(|claim| format!("claim/{}", claim.key()))),
                );
                let claims: Vec<_> = evicted.iter().map(|claim| claim_key(claim.key())).collect();
                found.push(
                    Finding::new(Code::GateDefaults, Subject::device(&id), message)
                        .severity(Severity::Error)
                        .order(upgrade.step(minor))
                        .advice(format!(
                            "whoever runs the driver {} takes the taint back, or the owners of the pods end them before",
                            id.driver
                        ))
                        .joins(claims)
                        .joins([evidence]),
                );
            } else if let Some(taint) =
                taints().find(|taint| [NO_EXECUTE, NO_SCHEDULE].contains(&taint.effect.as_str()))
            {
                let message = format!(
                    "has the taint {taint}: from 1.{minor} on, where taints are on by default, it goes only to requests that tolerate it"
                );
                found.push(
                    Finding::new(Code::GateDefaults, Subject::device(&id), message)
                        .severity(Severity::Warning)
                        .order(upgrade.step(minor))
                        .advice(format!(
                            "whoever runs the driver {} takes the taint back where the device is to be used",
                            id.driver
                        )),
                );
            }
        }
    }
    for finding in found {
        look.add(finding);
    }
}

fn binding_conditions(look: &mut Look<'_>, upgrade: &Upgrade) {
    let environment = look.cluster.environment();
    let Some(minor) = upgrade.turns_on(
        environment,
        Component::Scheduler,
        Gate::DRADeviceBindingConditions,
    ) else {
        return;
    };
    let slices = look.cluster.slices().filter(|slice| {
        let mut devices = slice.spec.devices.iter();
        devices.any(|device| !device.binding_conditions.is_empty())
    });
    let findings: Vec<Finding> = slices
        .map(|slice| {
            let message = format!(
                "has devices with bindingConditions: from 1.{minor} on, pods wait until a controller sets them to True in status.devices, and are not \
                 bound before"
            );
            Finding::new(Code::GateDefaults, Subject::of(Kind::ResourceSlice, &slice.metadata), message)
                .severity(Severity::Warning)
                .order(upgrade.step(minor))
                .advice(format!(
                    "whoever runs the driver {} makes sure that what attaches the devices runs, and may write status.devices",
                    slice.spec.driver
                ))
        })
        .collect();
    for finding in findings {
        look.add(finding);
    }
}

fn extended_resources(look: &mut Look<'_>, upgrade: &Upgrade) {
    let environment = look.cluster.environment();
    let Some(minor) = upgrade.turns_on(environment, Component::Scheduler, Gate::DRAExtendedResource) else {
        return;
    };
    let classes = look.cluster.classes();
    let findings: Vec<Finding> = classes
        .filter_map(|class| {
            let resource = class.spec.extended_resource_name.as_ref()?;
            let message = format!(
                "gives devices for the extended resource {resource} from 1.{minor} on: pods that ask for it get a claim on nodes where no device \
                 plugin offers it"
            );
            Some(
                Finding::new(Code::GateDefaults, Subject::of(Kind::DeviceClass, &class.metadata), message)
                    .severity(Severity::Info)
                    .order(upgrade.step(minor))
                    .advice("an administrator takes extendedResourceName away where that is not meant to be"),
            )
        })
        .collect();
    for finding in findings {
        look.add(finding);
    }
}

fn partitions(look: &mut Look<'_>, upgrade: &Upgrade) {
    let environment = look.cluster.environment();
    let Some(minor) = upgrade.turns_on(environment, Component::Scheduler, Gate::DRAPartitionableDevices)
    else {
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
        let message = format!(
            "publishes {} that draw from counters: they are handed out from 1.{minor} on",
            counted(partitions, "device", "devices")
        );
        look.add(
            Finding::new(Code::GateDefaults, Subject::driver(&driver), message)
                .severity(Severity::Info)
                .order(upgrade.step(minor))
                .advice("nothing has to be done, unless other devices of the same hardware are handed out already: those stay until their pods end"),
        );
    }
}

/// Rules that are there and do nothing yet.
fn rules(look: &mut Look<'_>, upgrade: &Upgrade) {
    let environment = look.cluster.environment();
    let components = [Component::Scheduler, Component::ControllerManager];
    let turns_on = components
        .into_iter()
        .filter_map(|component| upgrade.turns_on(environment, component, Gate::DRADeviceTaintRules));
    let Some(minor) = turns_on.min() else { return };
    let rules = look.cluster.rules().filter(|rule| keeps_off(&rule.spec.taint));
    let findings: Vec<Finding> = rules
        .map(|rule| {
            let message = format!(
                "does nothing now, and from 1.{minor} on taints the devices that it selects with {}",
                rule.spec.taint
            );
            Finding::new(
                Code::GateDefaults,
                Subject::of(Kind::DeviceTaintRule, &rule.metadata),
                message,
            )
            .severity(Severity::Warning)
            .order(upgrade.step(minor))
            .fix(crate::script::save_and_delete(
                Kind::DeviceTaintRule,
                &rule.metadata.key(),
            ))
            .note("where the devices are not to be tainted")
        })
        .collect();
    for finding in findings {
        look.add(finding);
    }
}

/// Counters beside the devices that draw from them, as 1.34 has it.
fn old_counters(look: &mut Look<'_>, step: u32) {
    let slices = look.cluster.slices();
    let old = slices.filter(|slice| !slice.spec.shared_counters.is_empty() && !slice.spec.devices.is_empty());
    let findings: Vec<Finding> = old
        .map(|slice| {
            let message = "has counters and devices in one slice, as only 1.34 has it: from 1.35 on the scheduler allocates none of its devices, \
                           and the API server refuses to write the slice";
            Finding::new(Code::OldCounters, Subject::of(Kind::ResourceSlice, &slice.metadata), message)
                .order(step)
                .advice(format!(
                    "whoever runs the driver {} brings it to a version that publishes counters in slices of their own",
                    slice.spec.driver
                ))
        })
        .collect();
    for finding in findings {
        look.add(finding);
    }
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
    let findings: Vec<Finding> = groups
        .chain(workloads)
        .map(|(kind, metadata)| {
            let message = format!(
                "is stored as scheduling.k8s.io/{version}, which 1.{minor} cannot read: with GenericWorkload on its API server is never ready"
            );
            Finding::new(Code::WorkloadObjects, Subject::of(kind, metadata), message)
                .order(upgrade.step(minor))
                .fix(crate::script::save_and_delete(kind, &metadata.key()))
                .note("end its pods first, and make it again in the new release")
        })
        .collect();
    for finding in findings {
        look.add(finding);
    }
}

/// Allocations of 1.34, which does not write into them what the request tolerates.
fn without_tolerations(look: &mut Look<'_>, upgrade: &Upgrade) {
    let environment = look.cluster.environment();
    let on = environment.enabled(Component::ControllerManager, Gate::DRADeviceTaints);
    let turns_on = upgrade.turns_on(environment, Component::ControllerManager, Gate::DRADeviceTaints);
    let Some(minor) = turns_on.or_else(|| {
        upgrade
            .begins(|release| !release.omits_tolerations)
            .filter(|_| on)
    }) else {
        return;
    };
    let findings: Vec<Finding> = look
        .cluster
        .claims()
        .filter_map(|claim| {
            let lost = claim.results().iter().filter(|result| {
                let asked = asked_tolerations(claim, &result.request);
                let mut asked = asked.into_iter().flat_map(|tolerations| tolerations.iter());
                result.tolerations.is_empty() && asked.any(|toleration| toleration.effect.is_empty() || toleration.effect == NO_EXECUTE)
            });
            let lost: Vec<DeviceId> = lost.map(dra_model::AllocatedDevice::id).collect();
            if lost.is_empty() {
                return None;
            }
            let message = format!(
                "tolerates taints of {}, but was allocated by 1.34, which does not write that into the allocation: from 1.{minor} on a taint \
                 with the effect NoExecute evicts its pods all the same",
                some(&lost)
            );
            Some(
                Finding::new(Code::AllocationTolerations, Subject::of(Kind::ResourceClaim, &claim.metadata), message)
                    .order(upgrade.step(minor))
                    .advice("the owners of its pods end them, so that it is allocated anew by 1.35 or later; or its devices stay without taints"),
            )
        })
        .collect();
    for finding in findings {
        look.add(finding);
    }
}
