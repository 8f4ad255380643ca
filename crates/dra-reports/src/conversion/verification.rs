//! The proof: is anything left that is not a pod, is every pod listed that uses a claim, does every pod listed use it.

use super::claim::{Entry, Pod};
use super::options::PlanScope;
use crate::{Selection, warnings};
use dra_model::{Claim, Cluster, Key, Kind, Str};
use dra_rules::reservation::conversion::{Defect, DefectCode, Kinds, verify};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct ConversionVerification {
    /// Which claims it covers.
    pub scope: PlanScope,
    /// Claims looked at.
    pub claims: usize,
    /// Defects, by claim. Without any, components that know only pods can work with every list.
    pub items: Vec<VerificationItem>,
    /// What could not be read.
    pub unknown: Vec<String>,
}

/// One defect of a claim's list.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct VerificationItem {
    /// Namespace of the claim.
    pub namespace: Str,
    /// The claim.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The stable name of the defect.
    pub code: DefectCode,
    /// The defect in words.
    pub message: String,
    /// The entry that should not be there.
    pub entry: Option<Entry>,
    /// Whether the entry's kind is one of those selected with `--kind` or `--all-kinds`. It is a defect in any case.
    pub selected: Option<bool>,
    /// The pod that lacks an entry.
    pub pod: Option<Pod>,
}

impl VerificationItem {
    /// The objects that contradict each other, where the defect joins two: the claim, and the pod that lacks an entry or has one.
    pub fn evidence(&self) -> impl Iterator<Item = (Kind, Key)> {
        let listed = self.entry.as_ref().filter(|entry| entry.is_pod());
        let lacking = self.pod.as_ref().map(|pod| &pod.name);
        let pod = listed.map(|entry| &entry.name).or(lacking);
        let key = |name: &Str| Key::new(self.namespace.clone(), name.clone());
        let objects = pod.map(|pod| [(Kind::ResourceClaim, key(&self.name)), (Kind::Pod, key(pod))]);
        objects.into_iter().flatten()
    }

    fn of(claim: &Claim, defect: &Defect, kinds: &Kinds) -> Self {
        let (entry, selected, pod) = match defect {
            Defect::NonPodEntry(entry) => (Some(Entry::of(entry)), Some(kinds.selects(entry)), None),
            Defect::ReservedForAnyPod => (None, Some(*kinds == Kinds::All), None),
            Defect::ConsumerNotListed { pod, uid } => {
                let (name, uid) = (pod.clone(), uid.clone());
                (None, None, Some(Pod { name, uid }))
            }
            Defect::EntryWithoutConsumer(entry, _) => (Some(Entry::of(entry)), None, None),
        };
        Self {
            namespace: claim.metadata.namespace.clone(),
            name: claim.metadata.name.clone(),
            uid: claim.metadata.uid.clone(),
            code: DefectCode::from(defect),
            message: defect.to_string(),
            entry,
            selected,
            pod,
        }
    }
}

/// Verifies the lists of the claims of `selection`. `kinds` are those that were converted; others are defects all the same.
pub fn verification(cluster: &Cluster, selection: &Selection, kinds: &Kinds) -> ConversionVerification {
    let mut report = ConversionVerification {
        scope: PlanScope::of(selection),
        claims: 0,
        items: Vec::new(),
        unknown: Vec::new(),
    };
    let mut note = |gap| {
        let text = warnings::missing(gap);
        if !report.unknown.contains(&text) {
            report.unknown.push(text);
        }
    };
    let namespace = selection.namespace.as_deref().unwrap_or_default();
    if let Some(gap) = cluster.gap(Kind::ResourceClaim, namespace) {
        note(gap);
    }
    for claim in selection.claims(cluster) {
        report.claims += 1;
        match verify(cluster, claim) {
            Ok(defects) => {
                let items = defects
                    .iter()
                    .map(|defect| VerificationItem::of(claim, defect, kinds));
                report.items.extend(items);
            }
            Err(gap) => note(gap),
        }
    }
    report
}
