//! What a take-over needs to be allowed.

use std::collections::BTreeSet;

use crate::controllers::ControllerName;
use crate::model::{Environment, Key, Kind};
use crate::reservation::{PodGroups, asks_for_binding};
use crate::sources::live::Right;

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
    for verb in ["create", "patch"] {
        rights.insert(right(verb, "", "events", ""));
    }
    for verb in ["get", "create", "update"] {
        rights.extend(lease.map(|lease| Right {
            namespace: lease.namespace.to_string(),
            ..right(verb, "coordination.k8s.io", "leases", "")
        }));
    }
    rights
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
