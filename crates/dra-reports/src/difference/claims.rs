//! Claims and pods whose devices differ between two states.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Existence, Sides, joined};
use crate::references::consumers;
use crate::{ClaimNode, Selection};
use dra_model::{Claim, Cluster, Key, Kind, Str};
use dra_rules::reservation::users;
use dra_rules::simulation::DeviceReference;

/// Devices of a claim or a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct Held {
    /// Node of the pod, or the only node of the allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Str>,
    /// By driver, pool and name, once for each share.
    pub devices: Vec<DeviceReference>,
}

impl Held {
    /// What the claim holds; nothing unless it is allocated.
    fn of(claim: &Claim) -> Option<Self> {
        claim.status.allocation.as_ref()?;
        let mut held = Self {
            node: ClaimNode::of(claim).only().cloned(),
            devices: Vec::new(),
        };
        held.add(claim);
        Some(held)
    }

    fn add(&mut self, claim: &Claim) {
        let results = claim.results().iter();
        self.devices.extend(results.map(|result| result.id().into()));
        self.devices.sort();
    }
}

/// Difference in a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub enum ClaimChangeKind {
    /// It is allocated, and was not, or did not exist.
    Allocated,
    /// It was allocated, and is not, or does not exist.
    Deallocated,
    /// It is allocated other devices, or another node.
    Moved,
    /// It is new and not allocated.
    Created,
    /// It is gone and was not allocated.
    Deleted,
    /// It has the same devices for other consumers.
    Consumers,
}

/// A claim that differs.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct ClaimChange {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// Which states have it.
    pub existence: Existence,
    /// The other state has a claim of this name with another UID: the claim was deleted and recreated. Each of the two has its own item.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recreated: bool,
    /// The difference.
    pub change: ClaimChangeKind,
    /// What it held. Absent if it was not allocated.
    pub before: Option<Held>,
    /// What it holds. Absent if it is not allocated.
    pub after: Option<Held>,
    /// Entries of `status.reservedFor` that are new.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub consumers_added: BTreeSet<ConsumerItem>,
    /// Entries of `status.reservedFor` that are gone.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub consumers_removed: BTreeSet<ConsumerItem>,
}

/// A consumer of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct ConsumerItem {
    /// `Pod`, `PodGroup`, or resource and group of anything else, as in `jobs.batch`.
    pub kind: String,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

fn consumers_of(claim: Option<&Claim>) -> BTreeSet<ConsumerItem> {
    let consumers = claim.into_iter().flat_map(consumers);
    let items = consumers.map(|consumer| ConsumerItem {
        kind: consumer.kind(),
        name: consumer.0.name.clone(),
        uid: consumer.0.uid.clone(),
    });
    items.collect()
}

/// The claims of `selection` that differ.
pub(super) fn claims(sides: &Sides<'_>, selection: &Selection) -> Vec<ClaimChange> {
    let [before, after] = sides.both().map(|cluster| {
        let claims = selection.claims(cluster).into_iter();
        claims.map(|claim| (claim.metadata.key(), &**claim))
    });
    let mut changes = Vec::new();
    for (key, (before, after)) in joined(before, after) {
        if !sides.are_read(Kind::ResourceClaim, &key.namespace) {
            continue;
        }
        match (before, after) {
            (Some(one), Some(other)) if are_different(&one.metadata.uid, &other.metadata.uid) => {
                changes.extend(claim_change(before, None, true));
                changes.extend(claim_change(None, after, true));
            }
            _ => changes.extend(claim_change(before, after, false)),
        }
    }
    changes
}

/// Returns whether the UIDs show two objects. An object in a handwritten file has none.
fn are_different(one: &Str, other: &Str) -> bool {
    one != other && !one.is_empty() && !other.is_empty()
}

fn claim_change(before: Option<&Claim>, after: Option<&Claim>, recreated: bool) -> Option<ClaimChange> {
    let existence = Existence::of(before.is_some(), after.is_some())?;
    let claim = after.or(before)?;
    let (held_before, held_after) = (before.and_then(Held::of), after.and_then(Held::of));
    let (used, uses) = (consumers_of(before), consumers_of(after));
    let change = match (&held_before, &held_after) {
        (None, Some(_)) => ClaimChangeKind::Allocated,
        (Some(_), None) => ClaimChangeKind::Deallocated,
        (Some(before), Some(after)) if before != after => ClaimChangeKind::Moved,
        _ => match existence {
            Existence::New => ClaimChangeKind::Created,
            Existence::Gone => ClaimChangeKind::Deleted,
            Existence::Kept if used != uses => ClaimChangeKind::Consumers,
            Existence::Kept => return None,
        },
    };
    Some(ClaimChange {
        namespace: claim.metadata.namespace.clone(),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone(),
        existence,
        recreated,
        change,
        before: held_before,
        after: held_after,
        consumers_added: uses.difference(&used).cloned().collect(),
        consumers_removed: used.difference(&uses).cloned().collect(),
    })
}

/// Difference in the devices of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub enum PodChangeKind {
    /// It uses devices, and used none.
    Got,
    /// It used devices, and uses none.
    Lost,
    /// It uses other devices, or runs on another node.
    Moved,
    /// Another pod of its name uses the same devices.
    Recreated,
}

/// A pod whose devices differ.
#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PodChange {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Which states have a pod of that name.
    pub existence: Existence,
    /// The states have pods of that name with different UIDs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recreated: bool,
    /// The difference.
    pub change: PodChangeKind,
    /// What it used. Absent if it used no claim with devices.
    pub before: Option<Held>,
    /// What it uses. Absent if it uses no claim with devices.
    pub after: Option<Held>,
}

/// The pods in the namespaces of `selection` that use other devices. Nothing is known of a namespace whose claims or pods could not be read.
pub(super) fn pods(sides: &Sides<'_>, selection: &Selection) -> Vec<PodChange> {
    let [before, after] = sides.both().map(|cluster| held_by_pods(cluster, selection));
    let are_read = |namespace: &str| {
        let mut kinds = [Kind::ResourceClaim, Kind::Pod].into_iter();
        kinds.all(|kind| sides.are_read(kind, namespace))
    };
    let all = joined(before, after).into_iter();
    let known = all.filter(|(key, _)| are_read(&key.namespace));
    known
        .filter_map(|(key, (before, after))| {
            let [one, other] = sides.both().map(|cluster| cluster.pod(&key));
            let recreated = one
                .zip(other)
                .is_some_and(|(one, other)| are_different(&one.metadata.uid, &other.metadata.uid));
            let change = match (&before, &after) {
                (None, _) => PodChangeKind::Got,
                (_, None) => PodChangeKind::Lost,
                (Some(before), Some(after)) if before != after => PodChangeKind::Moved,
                _ if recreated => PodChangeKind::Recreated,
                _ => return None,
            };
            Some(PodChange {
                existence: Existence::of(one.is_some(), other.is_some())?,
                namespace: key.namespace,
                name: key.name,
                recreated,
                change,
                before,
                after,
            })
        })
        .collect()
}

/// The pods that use allocated claims of `selection`, each with all devices of them.
fn held_by_pods(cluster: &Cluster, selection: &Selection) -> BTreeMap<Key, Held> {
    let mut held: BTreeMap<Key, Held> = BTreeMap::new();
    let claims = selection.claims(cluster).into_iter();
    for claim in claims.filter(|claim| claim.status.allocation.is_some()) {
        for pod in users(cluster, claim).unwrap_or_default() {
            let of_pod = held.entry(pod.key()).or_default();
            of_pod.node = pod.node().cloned();
            of_pod.add(claim);
        }
    }
    held
}
