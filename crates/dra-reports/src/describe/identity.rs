//! What every object has: name, labels, age, owner.

use crate::Owner;
use crate::shape::by_name;
use dra_model::{Condition, Meta, Str, Time};

/// Name, labels, age and owner of an object.
#[macro_rules_attribute::apply(report)]
pub struct Identity {
    /// Its namespace. Absent for cluster-scoped objects.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// By key.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Str>")]
    pub labels: Vec<(Str, Str)>,
    /// Those of `resource.kubernetes.io`, by key.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Str>")]
    pub annotations: Vec<(Str, Str)>,
    /// When it was created.
    pub creation_timestamp: Option<Time>,
    /// When its deletion was requested.
    pub deletion_timestamp: Option<Time>,
    /// What delays the deletion.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<Str>,
    /// Its controlling owner.
    pub owner: Option<Owner>,
}

impl Identity {
    /// The identity in `metadata`.
    pub(super) fn of(metadata: &Meta) -> Self {
        Self {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
            labels: metadata.labels.clone(),
            annotations: metadata.annotations.clone(),
            creation_timestamp: metadata.creation_timestamp,
            deletion_timestamp: metadata.deletion_timestamp,
            finalizers: metadata.finalizers.clone(),
            owner: Owner::of(metadata),
        }
    }
}

/// A condition.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct ConditionItem {
    /// What it is about.
    #[serde(rename = "type")]
    pub type_: Str,
    /// `True`, `False` or `Unknown`.
    pub status: Str,
    /// Machine-readable cause.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: Str,
    /// Text for people.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub message: Str,
    /// When the status changed last.
    pub last_transition_time: Option<Time>,
}

impl ConditionItem {
    pub(super) fn of(condition: &Condition) -> Self {
        Self {
            type_: condition.type_.clone(),
            status: condition.status.clone(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            last_transition_time: condition.last_transition_time,
        }
    }
}
