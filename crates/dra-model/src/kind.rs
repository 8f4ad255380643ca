//! The kinds of object that the cluster model holds.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Calls a macro with every kind: the type of its objects, how kubectl names one and URLs several, the API group (empty for the core group),
/// the versions, best first (those behind the best one are read where a server offers nothing better), and whether objects live in namespaces.
/// The order is the one in which snapshots list them and reports name them.
macro_rules! kinds {
    ($then:ident) => {
        $then! {
            Namespace(Bare) "namespace" "namespaces" "" ["v1"] false;
            Node(Node) "node" "nodes" "" ["v1"] false;
            DeviceClass(Class) "deviceclass" "deviceclasses" "resource.k8s.io" ["v1", "v1beta2", "v1beta1"] false;
            ResourceSlice(Slice) "resourceslice" "resourceslices" "resource.k8s.io" ["v1", "v1beta2", "v1beta1"] false;
            DeviceTaintRule(TaintRule) "devicetaintrule" "devicetaintrules" "resource.k8s.io" ["v1", "v1beta2", "v1alpha3"] false;
            ResourceClaimTemplate(ClaimTemplate) "resourceclaimtemplate" "resourceclaimtemplates" "resource.k8s.io" ["v1", "v1beta2", "v1beta1"] true;
            ResourceClaim(Claim) "resourceclaim" "resourceclaims" "resource.k8s.io" ["v1", "v1beta2", "v1beta1"] true;
            Pod(Pod) "pod" "pods" "" ["v1"] true;
            PodGroup(PodGroup) "podgroup" "podgroups" "scheduling.k8s.io" ["v1beta1", "v1alpha3", "v1alpha2"] true;
            Workload(Bare) "workload" "workloads" "scheduling.k8s.io" ["v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"] true;
            CompositePodGroup(Bare) "compositepodgroup" "compositepodgroups" "scheduling.k8s.io" ["v1alpha3"] true;
            PodDisruptionBudget(DisruptionBudget) "poddisruptionbudget" "poddisruptionbudgets" "policy" ["v1"] true;
            ResourceQuota(Quota) "resourcequota" "resourcequotas" "" ["v1"] true;
            Event(Event) "event" "events" "" ["v1"] true;
            ClusterRole(Role) "clusterrole" "clusterroles" "rbac.authorization.k8s.io" ["v1"] false;
            ClusterRoleBinding(RoleBinding) "clusterrolebinding" "clusterrolebindings" "rbac.authorization.k8s.io" ["v1"] false;
            Role(Role) "role" "roles" "rbac.authorization.k8s.io" ["v1"] true;
            RoleBinding(RoleBinding) "rolebinding" "rolebindings" "rbac.authorization.k8s.io" ["v1"] true;
        }
    };
}
pub(crate) use kinds;

macro_rules! kind {
    ($($name:ident($object:ident) $singular:literal $plural:literal $group:literal [$($version:literal),+] $namespaced:literal;)+) => {
        /// A kind of object. The order is the one in which snapshots list them and reports name them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(IntoStaticStr, Display, EnumString, VariantArray)]
        #[expect(missing_docs, reason = "each variant is the kind of its name")]
        pub enum Kind {
            $($name),+
        }

        const FACTS: &[Facts] = &[
            $(Facts {
                singular: $singular,
                plural: $plural,
                group: $group,
                versions: &[$($version),+],
                namespaced: $namespaced,
            }),+
        ];
    };
}

kinds!(kind);

struct Facts {
    singular: &'static str,
    plural: &'static str,
    group: &'static str,
    versions: &'static [&'static str],
    namespaced: bool,
}

impl Kind {
    /// Their number.
    pub const COUNT: usize = Self::VARIANTS.len();

    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
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
        self.into()
    }

    /// The kind as kubectl writes it in front of a name: `resourceclaim`.
    pub fn singular(self) -> &'static str {
        self.facts().singular
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
        name.parse::<Self>().is_ok()
    }

    /// The kind of objects with `api_group` and `kind`, if the model holds it.
    pub fn find(api_group: &str, kind: &str) -> Option<Self> {
        // Events are served by two groups with the same content.
        let group = if kind == "Event" && api_group == "events.k8s.io" {
            ""
        } else {
            api_group
        };
        kind.parse().ok().filter(|kind: &Self| kind.group() == group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_group_and_name() {
        for kind in Kind::all() {
            assert_eq!(Kind::find(kind.group(), kind.name()), Some(kind));
        }
        assert_eq!(Kind::find("apps", "Pod"), None);
    }
}
