//! Roles and their bindings: who may do what, as RBAC has it.

use serde::Deserialize;

use super::{Meta, Str};
use dra_values::decode::{interned, interned_list, list, or_default};

/// `rbac.authorization.k8s.io/v1` Role or ClusterRole.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Role {
    /// Identity; a ClusterRole has no namespace.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// Allowed requests. The controller writes the rules of an aggregated ClusterRole here.
    #[serde(deserialize_with = "list")]
    pub rules: Vec<PolicyRule>,
}

/// Permissions of a role: each verb on each resource of each group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyRule {
    /// `*` stands for all.
    #[serde(deserialize_with = "interned_list")]
    pub verbs: Vec<Str>,
    /// `*` stands for all, the empty text for the group of pods.
    #[serde(deserialize_with = "interned_list")]
    pub api_groups: Vec<Str>,
    /// `pods`, `pods/status`, `*/status`, or `*` for all with their subresources.
    #[serde(deserialize_with = "interned_list")]
    pub resources: Vec<Str>,
    /// Only objects of these names; of all names where there are none.
    #[serde(deserialize_with = "interned_list")]
    pub resource_names: Vec<Str>,
}

/// `rbac.authorization.k8s.io/v1` RoleBinding or ClusterRoleBinding.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleBinding {
    /// Identity; a ClusterRoleBinding has no namespace.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// Granted role.
    #[serde(deserialize_with = "or_default")]
    pub role_ref: RoleReference,
    /// Subjects of the binding.
    #[serde(deserialize_with = "list")]
    pub subjects: Vec<RoleSubject>,
}

/// The role of a binding: a ClusterRole, or a Role in the binding's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RoleReference {
    /// `Role` or `ClusterRole`.
    #[serde(deserialize_with = "interned")]
    pub kind: Str,
    /// The role's name.
    #[serde(deserialize_with = "interned")]
    pub name: Str,
}

/// Subject of a binding.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub struct RoleSubject {
    /// `User`, `Group` or `ServiceAccount`.
    #[serde(deserialize_with = "interned")]
    pub kind: Str,
    /// Of a service account; that of the binding where it is empty.
    #[serde(deserialize_with = "interned")]
    pub namespace: Str,
    /// The name.
    #[serde(deserialize_with = "interned")]
    pub name: Str,
}
