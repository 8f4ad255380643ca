//! What a take-over, or a supplement, needs to be allowed.

use std::collections::BTreeSet;

use dra_model::{Environment, Key, Kind};
use dra_rules::controllers::{ControllerName, Supplement};
use dra_rules::reservation::{PodGroups, asks_for_binding};
use dra_sources::live::Right;

/// The rights that the controllers write with, in all namespaces. Those to read are asked for by reading.
pub fn rights(
    names: impl IntoIterator<Item = ControllerName>,
    environment: &Environment,
    groups: PodGroups,
    lease: Option<&Key>,
) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    let mut add = |verb, kind: Kind, subresource| {
        rights.insert(right(verb, kind.group(), kind.plural(), subresource));
    };
    for name in names {
        match name {
            ControllerName::ResourceClaim => {
                add("create", Kind::ResourceClaim, "");
                add("patch", Kind::ResourceClaim, "");
                add("delete", Kind::ResourceClaim, "");
                add("patch", Kind::ResourceClaim, "status");
                if asks_for_binding(environment) {
                    add("patch", Kind::ResourceClaim, "binding");
                }
                add("patch", Kind::Pod, "status");
                if groups == PodGroups::Accepted {
                    add("patch", Kind::PodGroup, "status");
                }
            }
            ControllerName::DeviceTaintEviction => {
                add("patch", Kind::Pod, "status");
                add("delete", Kind::Pod, "");
                if !environment.not_served.contains(&Kind::DeviceTaintRule) {
                    add("patch", Kind::DeviceTaintRule, "status");
                }
            }
        }
    }
    rights.extend(of_events());
    rights.extend(of_lease(lease));
    rights
}

/// The rights that a supplement writes with, in all namespaces.
pub fn supplement_rights(
    supplement: Supplement,
    environment: &Environment,
    lease: Option<&Key>,
) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    let mut add = |verb, kind: Kind, subresource| {
        rights.insert(right(verb, kind.group(), kind.plural(), subresource));
    };
    if supplement.releases {
        add("patch", Kind::ResourceClaim, "");
        add("patch", Kind::ResourceClaim, "status");
        if asks_for_binding(environment) {
            add("patch", Kind::ResourceClaim, "binding");
        }
    }
    if supplement.evictions {
        add("patch", Kind::Pod, "status");
        add("delete", Kind::Pod, "");
        rights.extend(of_events());
    }
    rights.extend(of_lease(lease));
    rights
}

fn of_events() -> impl Iterator<Item = Right> {
    ["create", "patch"]
        .into_iter()
        .map(|verb| right(verb, "", "events", ""))
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
