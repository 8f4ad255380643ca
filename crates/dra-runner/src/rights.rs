//! The rights that a take-over or a supplement needs.

use std::collections::BTreeSet;

use dra_model::{Environment, Key, Kind};
use dra_rules::controllers::{ControllerName, Supplement};
use dra_rules::reservation::{PodGroups, asks_for_binding};
use dra_sources::live::Right;

/// A verb, and the kind and subresource that it is for.
type Write = (&'static str, Kind, &'static str);

/// Writes of an eviction.
const EVICTION: [Write; 2] = [("patch", Kind::Pod, "status"), ("delete", Kind::Pod, "")];

/// Writes that release a claim.
fn release(environment: &Environment) -> Vec<Write> {
    let patch = |subresource| ("patch", Kind::ResourceClaim, subresource);
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
                    ("create", Kind::ResourceClaim, ""),
                    ("delete", Kind::ResourceClaim, ""),
                    ("patch", Kind::Pod, "status"),
                ]);
                if groups == PodGroups::Accepted {
                    writes.push(("patch", Kind::PodGroup, "status"));
                }
            }
            ControllerName::DeviceTaintEviction => {
                writes.extend(EVICTION);
                if !environment.not_served.contains(&Kind::DeviceTaintRule) {
                    writes.push(("patch", Kind::DeviceTaintRule, "status"));
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
        writes.extend(EVICTION);
    }
    collected(writes, supplement.evictions, lease)
}

fn collected(writes: Vec<Write>, records_events: bool, lease: Option<&Key>) -> BTreeSet<Right> {
    let writes = writes.into_iter();
    let writes =
        writes.map(|(verb, kind, subresource)| right(verb, kind.group(), kind.plural(), subresource));
    let events = ["create", "patch"].map(|verb| right(verb, "", "events", ""));
    let events = events.into_iter().filter(|_| records_events);
    writes.chain(events).chain(of_lease(lease)).collect()
}

fn of_lease(lease: Option<&Key>) -> impl Iterator<Item = Right> {
    let of = |lease: &Key| {
        let namespace = lease.namespace.to_string();
        ["get", "create", "update"].map(|verb| Right {
            namespace: namespace.clone(),
            ..right(verb, "coordination.k8s.io", "leases", "")
        })
    };
    lease.map(of).into_iter().flatten()
}

fn right(
    verb: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
) -> Right {
    Right {
        verb,
        group,
        resource,
        subresource,
        namespace: String::new(),
    }
}
