//! What claims, templates and classes use of features that a downgrade removes.

use std::sync::Arc;

use super::Target;
use super::words;
use crate::findings::claims::tolerations_of;
use crate::findings::finding::{Subject, claim_key, pod_key};
use crate::findings::requests::changed_for;
use crate::findings::{Code, Finding, Look};
use crate::remedy::{Remedy, end_pods};
use crate::script::delete_pods;
use dra_model::{AllocatedDevice, Claim, ClaimSpec, Gate, Key, Kind, Meta, NO_EXECUTE};
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
            let message = words::keeps_claim(target);
            look.add(
                finding(Code::ExtendedResources, Subject::claim(claim), message)
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
            let message = words::no_extended_resource(resource, target);
            look.add(
                finding(
                    Code::ExtendedResources,
                    Subject::of(Kind::DeviceClass, &class.metadata),
                    message,
                )
                .advice(words::gate_on(Gate::DRAExtendedResource)),
            );
        }
    }
}

/// A claim for extended resources is deleted with the pod that it was created for.
fn end_of_owner(look: &Look<'_>, claim: &Claim) -> Remedy {
    let owner = claim
        .metadata
        .controller()
        .map(|owner| claim.metadata.beside(&owner.name));
    match owner.and_then(|key| look.cluster.pod(&key)) {
        Some(pod) if pod.is_terminal() => end_pods(look.cluster, &pod.metadata.namespace, [pod]),
        Some(pod) => Remedy::by_hand(words::delete_finished(&pod.key())),
        None => Remedy::by_hand(words::POD_IS_GONE),
    }
}

fn finding(code: Code, subject: Subject, message: String) -> Finding {
    Finding::new(code, subject, message).order(8)
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
        .asked()
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
    let message = words::fields_are_dropped(&dropped, constrained, target);
    look.add(
        finding(Code::AlphaFields, Subject::of(kind, metadata), message)
            .error_if(constrained.is_some())
            .advice(words::without_fields(&changed_for(look, kind, metadata))),
    );
}

/// A claim whose device is not attached yet, with a pod that is pending for it.
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
    let pods: Vec<Key> = look
        .cluster
        .pods_of_claim(&claim.key())
        .filter(|pod| pod.node().is_none() && !is_done(pod))
        .map(|pod| pod.key())
        .collect();
    if pods.is_empty() {
        return;
    }
    let message = words::is_bound_early(&missing, &pods, target);
    let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
    look.add(
        finding(Code::BindingConditions, Subject::claim(claim), message)
            .fix(delete_pods(&claim.metadata.namespace, names))
            .note(words::OR_WAIT_UNTIL_BOUND)
            .joins([claim_key(claim.key())])
            .joins(pods.into_iter().map(pod_key)),
    );
}

/// A share of a device that no slice publishes: others are found in their slice.
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
    let message = words::share_is_whole(&hidden, target);
    look.add(
        finding(Code::SharedDevices, Subject::claim(claim), message)
            .advice(words::gate_on(Gate::DRAConsumableCapacity)),
    );
}

fn tolerations(look: &mut Look<'_>, target: &Target, kind: Kind, metadata: &Meta, spec: &ClaimSpec) {
    if !target.is_older_and(|release| release.omits_tolerations)
        || !tolerations_of(spec).any(|toleration| toleration.effect == NO_EXECUTE)
    {
        return;
    }
    let message = words::tolerations_are_ignored(target);
    look.add(
        finding(Code::Tolerations, Subject::of(kind, metadata), message).advice(words::REMOVE_TOLERATED),
    );
}
