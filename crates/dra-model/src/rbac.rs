//! Roles and their bindings: who may do what, as RBAC has it.

use macro_rules_attribute::apply;

use super::{Meta, Str};
use crate::decoded::decoded;

/// `rbac.authorization.k8s.io/v1` Role or ClusterRole.
#[apply(decoded)]
pub struct Role {
    /// Identity; a ClusterRole has no namespace.
    pub metadata: Meta,
    /// Allowed requests. The controller writes the rules of an aggregated ClusterRole here.
    pub rules: Vec<PolicyRule>,
}

/// Permissions of a role: each verb on each resource of each group.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct PolicyRule {
    /// `*` stands for all.
    pub verbs: Vec<Str>,
    /// `*` stands for all, the empty text for the group of pods.
    pub api_groups: Vec<Str>,
    /// `pods`, `pods/status`, `*/status`, or `*` for all with their subresources.
    pub resources: Vec<Str>,
    /// Only objects of these names; of all names where there are none.
    pub resource_names: Vec<Str>,
}

/// `rbac.authorization.k8s.io/v1` RoleBinding or ClusterRoleBinding.
#[apply(decoded)]
pub struct RoleBinding {
    /// Identity; a ClusterRoleBinding has no namespace.
    pub metadata: Meta,
    /// Granted role.
    pub role_ref: RoleReference,
    /// Subjects of the binding.
    pub subjects: Vec<RoleSubject>,
}

/// The role of a binding: a ClusterRole, or a Role in the binding's namespace.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct RoleReference {
    /// `Role` or `ClusterRole`.
    pub kind: Str,
    /// The role's name.
    pub name: Str,
}

/// Subject of a binding.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct RoleSubject {
    /// `User`, `Group` or `ServiceAccount`.
    pub kind: Str,
    /// Of a service account; that of the binding where it is empty.
    pub namespace: Str,
    /// The name.
    pub name: Str,
}
