//! Kinds and fields that old guides write, and what came for them.

use dra_model::{FieldFault, Kind};

/// Returns what came for a kind of an earlier `resource.k8s.io`. Nothing for one that was never there.
///
/// Up to 1.30 drivers had controllers of their own, which Kubernetes 1.31 and 1.32 took out (KEP-3063).
pub(crate) fn kind(group: &str, name: &str) -> Option<&'static str> {
    if group != Kind::ResourceClaim.group() {
        return None;
    }
    Some(match name {
        "ResourceClass" => "was removed in Kubernetes 1.31: use DeviceClass",
        "ResourceClaimParameters" => {
            "was removed in Kubernetes 1.31: use `spec.devices.requests` and `spec.devices.config` of the \
            ResourceClaim"
        }
        "ResourceClassParameters" => {
            "was removed in Kubernetes 1.31: use `spec.selectors` and `spec.config` of the DeviceClass"
        }
        "PodScheduling" | "PodSchedulingContext" => {
            "was removed in Kubernetes 1.32: kube-scheduler allocates claims without it"
        }
        _ => return None,
    })
}

/// Returns what came for a field that the API has no more.
pub(crate) fn field(kind: Kind, fault: &FieldFault) -> Option<&'static str> {
    let of_claims = fault.path.split("spec.resourceClaims[").nth(1)?;
    let is_source = of_claims
        .split_once(']')
        .is_some_and(|(_, rest)| rest == ".source");
    (kind == Kind::Pod && is_source && !fault.is_mistyped()).then_some(
        "since Kubernetes 1.31 use `resourceClaimName` or `resourceClaimTemplateName` directly, without \
        `source`",
    )
}
