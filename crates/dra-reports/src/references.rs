//! How reports name objects, devices, owners and consumers.

use std::fmt;

use serde::Serialize;

use dra_model::{Claim, ConsumerReference, Meta, OwnerReference, Str};

/// An object of a namespace.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema, derive_more::Display,
)]
#[display("{namespace}/{name}")]
pub struct ObjectReference {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

impl ObjectReference {
    /// The object with that metadata.
    pub fn of(metadata: &Meta) -> Self {
        Self {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
        }
    }
}

/// The object that manages another one: its controlling owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, derive_more::Display)]
#[display("{kind}/{name}")]
pub struct Owner {
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

impl Owner {
    /// The controller among the owners.
    pub fn of(metadata: &Meta) -> Option<Self> {
        let OwnerReference { kind, name, uid, .. } = metadata.controller()?;
        Some(Self {
            kind: kind.clone(),
            name: name.clone(),
            uid: uid.clone(),
        })
    }
}

/// The consumer that an entry of `status.reservedFor` names.
#[derive(Clone, Copy, Debug, schemars::JsonSchema)]
#[schemars(with = "View<'_>")]
pub struct Consumer<'a>(pub &'a ConsumerReference);

impl Consumer<'_> {
    /// `Pod` and `PodGroup`; of other kinds only the resource is known: `jobs.batch`.
    pub fn kind(self) -> String {
        if self.0.is_pod() {
            "Pod".to_owned()
        } else if self.0.is_pod_group() {
            "PodGroup".to_owned()
        } else {
            self.0.group_resource()
        }
    }

    /// The kind as kubectl writes it in front of a name: `pod`, `podgroup`, `jobs.batch`.
    pub fn prefix(self) -> String {
        let mut kind = self.kind();
        kind.make_ascii_lowercase();
        kind
    }
}

impl fmt::Display for Consumer<'_> {
    /// `pod/name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The usual case without a detour.
        if self.0.is_pod() {
            f.write_str("pod")?;
        } else {
            write!(f, "{}", self.prefix())?;
        }
        write!(f, "/{}", self.0.name)
    }
}

#[derive(Serialize, schemars::JsonSchema)]
struct View<'a> {
    /// `Pod`, `PodGroup`, or resource and group of anything else, as in `jobs.batch`.
    kind: String,
    /// Its name.
    name: &'a Str,
    /// Its UID.
    uid: &'a Str,
}

impl Serialize for Consumer<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        View {
            kind: self.kind(),
            name: &self.0.name,
            uid: &self.0.uid,
        }
        .serialize(serializer)
    }
}

/// The consumers that `status.reservedFor` of the claim names.
pub(super) fn consumers(claim: &Claim) -> impl Iterator<Item = Consumer<'_>> {
    claim.status.reserved_for.iter().map(Consumer)
}
