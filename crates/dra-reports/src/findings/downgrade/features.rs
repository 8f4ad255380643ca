//! What claims, templates and classes use of features that go away.

use std::sync::Arc;

use super::{Target, gate_on};
use crate::findings::claims::tolerations_of;
use crate::findings::finding::{Subject, claim_key, pod_key, some};
use crate::findings::requests::changed_for;
use crate::findings::{Code, Finding, Look, Severity};
use crate::remedy::{Remedy, end_pods};
use crate::script::delete_pods;
use dra_model::{AllocatedDevice, Claim, ClaimSpec, Gate, Kind, Meta, NO_EXECUTE};
use dra_rules::reservation::{EXTENDED, is_done};
use dra_rules::scheduling::DeviceBinding;

pub(super) fn look(look: &mut Look<'_>, target: &Target) {
    let cluster = look.cluster;
    for claim in cluster.claims() {
        alpha_fields(
            look,
            target,
            Kind::ResourceClaim,
            &claim.metadata,
            &claim.spec,
            claim.results(),
        );
        waits(look, target, claim);
        shares(look, target, claim);
        tolerations(look, target, Kind::ResourceClaim, &claim.metadata, &claim.spec);
        if target.is_older_and(|release| release.keeps_claims_of_extended_resources)
            && target.lacks(Gate::DRAExtendedResource)
            && claim.metadata.annotation(EXTENDED).is_some()
        {
            let message = format!(
                "was made for extended resources: with {} it keeps its devices after the pod has ended, until the pod is deleted",
                target.name()
            );
            look.add(
                finding(
                    Code::ExtendedResources,
                    Kind::ResourceClaim,
                    &claim.metadata,
                    message,
                )
                .remedy(end_of_owner(look, claim)),
            );
        }
    }
    for template in cluster.templates() {
        let spec = &template.spec.spec;
        alpha_fields(
            look,
            target,
            Kind::ResourceClaimTemplate,
            &template.metadata,
            spec,
            &[],
        );
        tolerations(
            look,
            target,
            Kind::ResourceClaimTemplate,
            &template.metadata,
            spec,
        );
    }
    if target.lacks(Gate::DRAExtendedResource) {
        for class in cluster.classes() {
            let Some(resource) = &class.spec.extended_resource_name else {
                continue;
            };
            let message = format!(
                "gives devices for the extended resource {resource}: with {} new pods that ask for it stay pending",
                target.name()
            );
            look.add(
                finding(
                    Code::ExtendedResources,
                    Kind::DeviceClass,
                    &class.metadata,
                    message,
                )
                .advice(gate_on(Gate::DRAExtendedResource)),
            );
        }
    }
}

/// A claim for extended resources goes with the pod that it was made for.
fn end_of_owner(look: &Look<'_>, claim: &Claim) -> Remedy {
    let owner = claim
        .metadata
        .controller()
        .map(|owner| claim.metadata.beside(&owner.name));
    match owner.and_then(|key| look.cluster.pod(&key)) {
        Some(pod) if pod.is_terminal() => end_pods(&pod.metadata.namespace, [pod]),
        Some(pod) => Remedy::by_hand(format!(
            "whoever owns pod/{} deletes it once it has ended",
            pod.key()
        )),
        None => Remedy::by_hand("garbage collection deletes the claim, as its pod is gone"),
    }
}

fn finding(code: Code, kind: Kind, metadata: &Meta, message: String) -> Finding {
    Finding::new(code, Subject::of(kind, metadata), message).order(8)
}

fn alpha_fields(
    look: &mut Look<'_>,
    target: &Target,
    kind: Kind,
    metadata: &Meta,
    spec: &ClaimSpec,
    results: &[AllocatedDevice],
) {
    let derived: Vec<_> = spec
        .devices
        .requests
        .iter()
        .flat_map(|request| request.exactly.iter().chain(&request.first_available))
        .flat_map(|request| &request.derived_attributes)
        .map(|attribute| &attribute.name)
        .filter(|_| target.lacks(Gate::DRADerivedAttributes))
        .collect();
    let constrained = spec.devices.constraints.iter().find_map(|constraint| {
        let attributes = [&constraint.match_attribute, &constraint.distinct_attribute];
        attributes
            .into_iter()
            .flatten()
            .find(|attribute| derived.contains(attribute))
    });
    let skips = results
        .iter()
        .any(|result| !result.skip_node_operations.is_empty())
        && target.lacks(Gate::DRAOptionalNodeOperations);
    let mut dropped = Vec::new();
    if !derived.is_empty() {
        dropped.push("derivedAttributes");
    }
    if skips {
        dropped.push("skipNodeOperations");
    }
    if dropped.is_empty() {
        return;
    }
    let (severity, then) = match constrained {
        Some(attribute) => (
            Severity::Error,
            format!("; the constraint on {attribute} stays and cannot be met, so it is not allocated again"),
        ),
        None => (Severity::Warning, String::new()),
    };
    let message = format!(
        "uses {}, which {} drops{then}",
        dropped.join(" and "),
        target.name()
    );
    look.add(
        finding(Code::AlphaFields, kind, metadata, message)
            .severity(severity)
            .advice(format!(
                "the owner of {} makes it again without: no spec of a claim or a template can be changed",
                changed_for(look, kind, metadata)
            )),
    );
}

/// A claim whose device is not attached yet, with a pod that waits for that.
fn waits(look: &mut Look<'_>, target: &Target, claim: &Arc<Claim>) {
    if !target.lacks(Gate::DRADeviceBindingConditions) {
        return;
    }
    let missing: Vec<_> = claim
        .results()
        .iter()
        .flat_map(|result| DeviceBinding::of(claim, result).missing)
        .collect();
    if missing.is_empty() {
        return;
    }
    let pods: Vec<_> = look
        .cluster
        .pods_of_claim(&claim.key())
        .filter(|pod| pod.node().is_none() && !is_done(pod))
        .map(|pod| pod.key())
        .collect();
    if pods.is_empty() {
        return;
    }
    let message = format!(
        "waits for {}: {} binds {} at once, although the device is not attached",
        some(missing),
        target.name(),
        some(pods.iter().map(|pod| format!("pod/{}", pod.name))),
    );
    let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
    look.add(
        finding(
            Code::BindingConditions,
            Kind::ResourceClaim,
            &claim.metadata,
            message,
        )
        .fix(delete_pods(&claim.metadata.namespace, names))
        .note("waiting until it is bound does, too")
        .joins([claim_key(claim.key())])
        .joins(pods.into_iter().map(pod_key)),
    );
}

/// A share of a device that no slice publishes: of others the slice tells.
fn shares(look: &mut Look<'_>, target: &Target, claim: &Claim) {
    if !target.lacks(Gate::DRAConsumableCapacity) {
        return;
    }
    let hidden: Vec<_> = claim
        .results()
        .iter()
        .filter(|result| result.share_id.is_some() || !result.consumed_capacity.is_empty())
        .map(AllocatedDevice::id)
        .filter(|id| {
            let pool = look.cluster.pool(&id.pool_id());
            pool.is_none_or(|pool| pool.device(&id.device).is_none())
        })
        .collect();
    if hidden.is_empty() {
        return;
    }
    let message = format!(
        "has a share of {}: {} takes that for the whole device",
        some(hidden),
        target.name()
    );
    look.add(
        finding(Code::SharedDevices, Kind::ResourceClaim, &claim.metadata, message)
            .advice(gate_on(Gate::DRAConsumableCapacity)),
    );
}

fn tolerations(look: &mut Look<'_>, target: &Target, kind: Kind, metadata: &Meta, spec: &ClaimSpec) {
    if !target.is_older_and(|release| release.omits_tolerations)
        || !tolerations_of(spec).any(|toleration| toleration.effect == NO_EXECUTE)
    {
        return;
    }
    let message = format!(
        "tolerates NoExecute taints, which {} does not look at: its pods are evicted at once",
        target.name()
    );
    look.add(finding(Code::Tolerations, kind, metadata, message).advice(
        "whoever taints devices lifts NoExecute taints that are tolerated before the downgrade, or counts with the evictions",
    ));
}
