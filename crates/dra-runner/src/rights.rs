//! The rights that a take-over or a supplement needs.

use std::collections::BTreeSet;

use dra_model::{Environment, Key, Kind};
use dra_rules::controllers::{ControllerName, Supplement};
use dra_rules::reservation::{PodGroups, asks_for_binding};
use dra_sources::live::Right;

/// Rights for an eviction.
fn eviction() -> [Right; 2] {
    [
        Right::of("patch", Kind::Pod, "status"),
        Right::of("delete", Kind::Pod, ""),
    ]
}

/// Rights for releasing a claim.
fn release(environment: &Environment) -> Vec<Right> {
    let patch = |subresource| Right::of("patch", Kind::ResourceClaim, subresource);
    let mut writes = vec![patch(""), patch("status")];
    if asks_for_binding(environment) {
        writes.push(patch("binding"));
    }
    writes
}

/// The rights that the controllers write with, in all namespaces. Those to read are asked for by reading.
pub fn rights(
    names: impl IntoIterator<Item = ControllerName>,
    environment: &Environment,
    groups: PodGroups,
    lease: Option<&Key>,
) -> BTreeSet<Right> {
    let mut writes = Vec::new();
    for name in names {
        match name {
            ControllerName::ResourceClaim => {
                writes.extend(release(environment));
                writes.extend([
                    Right::of("create", Kind::ResourceClaim, ""),
                    Right::of("delete", Kind::ResourceClaim, ""),
                    Right::of("patch", Kind::Pod, "status"),
                ]);
                if groups == PodGroups::Accepted {
                    writes.push(Right::of("patch", Kind::PodGroup, "status"));
                }
            }
            ControllerName::DeviceTaintEviction => {
                writes.extend(eviction());
                if !environment.not_served.contains(&Kind::DeviceTaintRule) {
                    writes.push(Right::of("patch", Kind::DeviceTaintRule, "status"));
                }
            }
        }
    }
    collected(writes, true, lease)
}

/// The rights that a supplement writes with, in all namespaces.
pub fn supplement_rights(
    supplement: Supplement,
    environment: &Environment,
    lease: Option<&Key>,
) -> BTreeSet<Right> {
    let mut writes = Vec::new();
    if supplement.releases {
        writes.extend(release(environment));
    }
    if supplement.evictions {
        writes.extend(eviction());
    }
    collected(writes, supplement.evictions, lease)
}

/// Adds the rights to record events and to hold the lease.
fn collected(mut rights: Vec<Right>, records_events: bool, lease: Option<&Key>) -> BTreeSet<Right> {
    if records_events {
        rights.extend(["create", "patch"].map(|verb| Right::of(verb, Kind::Event, "")));
    }
    if let Some(lease) = lease {
        rights.extend(["get", "create", "update"].map(|verb| Right {
            verb,
            group: "coordination.k8s.io",
            resource: "leases",
            subresource: "",
            namespace: lease.namespace.to_string(),
        }));
    }
    rights.into_iter().collect()
}
