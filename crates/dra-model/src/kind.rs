//! The kinds of object that the cluster model holds.

use std::fmt;

/// A kind of object. The order is the one in which snapshots list them and reports name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `core/v1` Namespace.
    Namespace,
    /// `core/v1` Node.
    Node,
    /// `resource.k8s.io` DeviceClass.
    DeviceClass,
    /// `resource.k8s.io` ResourceSlice.
    ResourceSlice,
    /// `resource.k8s.io` DeviceTaintRule.
    DeviceTaintRule,
    /// `resource.k8s.io` ResourceClaimTemplate.
    ResourceClaimTemplate,
    /// `resource.k8s.io` ResourceClaim.
    ResourceClaim,
    /// `core/v1` Pod.
    Pod,
    /// `scheduling.k8s.io` PodGroup.
    PodGroup,
    /// `scheduling.k8s.io` Workload.
    Workload,
    /// `scheduling.k8s.io` CompositePodGroup.
    CompositePodGroup,
    /// `policy/v1` PodDisruptionBudget.
    PodDisruptionBudget,
    /// `core/v1` ResourceQuota.
    ResourceQuota,
    /// `core/v1` Event.
    Event,
    /// `rbac.authorization.k8s.io` ClusterRole.
    ClusterRole,
    /// `rbac.authorization.k8s.io` ClusterRoleBinding.
    ClusterRoleBinding,
    /// `rbac.authorization.k8s.io` Role.
    Role,
    /// `rbac.authorization.k8s.io` RoleBinding.
    RoleBinding,
}

struct Facts {
    kind: Kind,
    name: &'static str,
    plural: &'static str,
    group: &'static str,
    versions: &'static [&'static str],
    namespaced: bool,
}

/// Versions are listed best first; those behind the best one are read where a server offers nothing better.
const FACTS: [Facts; 18] = [
    facts(Kind::Namespace, "Namespace", "namespaces", "", &["v1"], false),
    facts(Kind::Node, "Node", "nodes", "", &["v1"], false),
    facts(
        Kind::DeviceClass,
        "DeviceClass",
        "deviceclasses",
        RESOURCE,
        RESOURCE_VERSIONS,
        false,
    ),
    facts(
        Kind::ResourceSlice,
        "ResourceSlice",
        "resourceslices",
        RESOURCE,
        RESOURCE_VERSIONS,
        false,
    ),
    facts(
        Kind::DeviceTaintRule,
        "DeviceTaintRule",
        "devicetaintrules",
        RESOURCE,
        &["v1", "v1beta2", "v1alpha3"],
        false,
    ),
    facts(
        Kind::ResourceClaimTemplate,
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        RESOURCE,
        RESOURCE_VERSIONS,
        true,
    ),
    facts(
        Kind::ResourceClaim,
        "ResourceClaim",
        "resourceclaims",
        RESOURCE,
        RESOURCE_VERSIONS,
        true,
    ),
    facts(Kind::Pod, "Pod", "pods", "", &["v1"], true),
    facts(
        Kind::PodGroup,
        "PodGroup",
        "podgroups",
        SCHEDULING,
        &["v1beta1", "v1alpha3", "v1alpha2"],
        true,
    ),
    facts(
        Kind::Workload,
        "Workload",
        "workloads",
        SCHEDULING,
        &["v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"],
        true,
    ),
    facts(
        Kind::CompositePodGroup,
        "CompositePodGroup",
        "compositepodgroups",
        SCHEDULING,
        &["v1alpha3"],
        true,
    ),
    facts(
        Kind::PodDisruptionBudget,
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        "policy",
        &["v1"],
        true,
    ),
    facts(
        Kind::ResourceQuota,
        "ResourceQuota",
        "resourcequotas",
        "",
        &["v1"],
        true,
    ),
    facts(Kind::Event, "Event", "events", "", &["v1"], true),
    facts(
        Kind::ClusterRole,
        "ClusterRole",
        "clusterroles",
        RBAC,
        &["v1"],
        false,
    ),
    facts(
        Kind::ClusterRoleBinding,
        "ClusterRoleBinding",
        "clusterrolebindings",
        RBAC,
        &["v1"],
        false,
    ),
    facts(Kind::Role, "Role", "roles", RBAC, &["v1"], true),
    facts(
        Kind::RoleBinding,
        "RoleBinding",
        "rolebindings",
        RBAC,
        &["v1"],
        true,
    ),
];

const RESOURCE: &str = "resource.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const SCHEDULING: &str = "scheduling.k8s.io";
const RESOURCE_VERSIONS: &[&str] = &["v1", "v1beta2", "v1beta1"];

const fn facts(
    kind: Kind,
    name: &'static str,
    plural: &'static str,
    group: &'static str,
    versions: &'static [&'static str],
    namespaced: bool,
) -> Facts {
    Facts {
        kind,
        name,
        plural,
        group,
        versions,
        namespaced,
    }
}

impl Kind {
    /// Their number.
    pub const COUNT: usize = FACTS.len();

    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|facts| facts.kind)
    }

    /// The kinds that say who may do what. They are read only where a command needs them: they are no state of devices, and few users may read them.
    pub const OF_RIGHTS: [Self; 4] = [
        Self::ClusterRole,
        Self::ClusterRoleBinding,
        Self::Role,
        Self::RoleBinding,
    ];

    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// The kind as objects carry it: `ResourceClaim`.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The kind as URLs carry it: `resourceclaims`.
    pub fn plural(self) -> &'static str {
        self.facts().plural
    }

    /// API group; empty for the core group.
    pub fn group(self) -> &'static str {
        self.facts().group
    }

    /// Versions that can be read, best first.
    pub fn versions(self) -> &'static [&'static str] {
        self.facts().versions
    }

    /// The `apiVersion` of objects in `version`: `resource.k8s.io/v1`.
    pub fn api_version(self, version: &str) -> String {
        match self.group() {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        }
    }

    /// Returns whether objects live in namespaces.
    pub fn is_namespaced(self) -> bool {
        self.facts().namespaced
    }

    /// Returns whether a kind of the model has this name, in whichever API group.
    pub fn is_name(name: &str) -> bool {
        FACTS.iter().any(|facts| facts.name == name)
    }

    /// The kind of objects with `api_group` and `kind`, if the model holds it.
    pub fn find(api_group: &str, kind: &str) -> Option<Self> {
        // Events are served by two groups with the same content.
        let group = if kind == "Event" && api_group == "events.k8s.io" {
            ""
        } else {
            api_group
        };
        FACTS
            .iter()
            .find(|facts| facts.name == kind && facts.group == group)
            .map(|facts| facts.kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stand_at_the_place_of_their_kind() {
        for kind in Kind::all() {
            assert_eq!(kind.facts().kind, kind);
            assert_eq!(Kind::find(kind.group(), kind.name()), Some(kind));
        }
        assert_eq!(Kind::find("apps", "Pod"), None);
    }
}
