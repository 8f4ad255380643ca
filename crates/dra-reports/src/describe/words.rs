//! The sentences of descriptions. Nothing reads them again.

use dra_model::{Key, Kind, Pod, Str};
use dra_rules::reservation::{Unusable, may_run};

/// What is unknown of a claim without a kind.
pub(super) const UNKNOWN_OF_CLAIM: [(Kind, &str); 4] = [
    (
        Kind::ResourceSlice,
        "it is unknown whether its devices are published, and which taints they have",
    ),
    (Kind::DeviceTaintRule, "taints of rules are unknown"),
    (Kind::Node, UNKNOWN_STAGES),
    (Kind::ResourceClaimTemplate, UNKNOWN_STAGES),
];
/// What is unknown of a class without a kind.
pub(super) const UNKNOWN_OF_CLASS: [(Kind, &str); 3] = [
    (Kind::ResourceSlice, "devices of the class are unknown"),
    (
        Kind::ResourceClaim,
        "claims of the class are unknown, and which devices are free",
    ),
    (Kind::ResourceClaimTemplate, "templates of the class are unknown"),
];
/// What is unknown of a pod without a kind.
pub(super) const UNKNOWN_OF_POD: [(Kind, &str); 5] = [
    (Kind::ResourceSlice, "taints of its devices are unknown"),
    (Kind::DeviceTaintRule, "taints of rules are unknown"),
    (Kind::ResourceClaim, "the state of its claims is unknown"),
    (Kind::Node, UNKNOWN_STAGES),
    (Kind::ResourceClaimTemplate, UNKNOWN_STAGES),
];
/// What is unknown of a node without a kind.
pub(super) const UNKNOWN_OF_NODE: [(Kind, &str); 2] = [
    (Kind::Node, "the node itself is unknown"),
    (Kind::ResourceClaimTemplate, UNKNOWN_STAGES),
];
/// What is unknown of the pods of a device without a kind.
pub(super) const UNKNOWN_OF_USERS: [(Kind, &str); 3] = [
    (Kind::Node, UNKNOWN_STAGES),
    (Kind::ResourceClaimTemplate, UNKNOWN_STAGES),
    (Kind::Event, UNKNOWN_STAGES),
];
pub(super) const UNKNOWN_EVENTS: &str = "events are unknown";
const UNKNOWN_STAGES: &str = "not everything that keeps pods from starting or terminating is known";

pub(super) const NO_CLAIM_NEEDED: &str = "no claim is needed";

pub(super) fn claim_not_found(claim: &Key) -> String {
    format!("claim/{claim} not found")
}

pub(super) fn unusable(claim: &Key, why: &Unusable, pod: &Pod) -> String {
    format!("claim/{claim} {why}: {}", why.consequence(may_run(pod)))
}

pub(super) fn claim_is_deleting(claim: &Key) -> String {
    format!("claim/{claim} is being deleted")
}

/// A resource of a container, as the kubelet reports it.
pub(super) fn of_container(container: &Str, resource: &Str, id: &Str) -> String {
    format!("container {container} {resource} {id}")
}
