//! `kubectl dra diff`: what differs between two states of a cluster.
//!
//! Each state has its own release, gates and gaps. What a gap of one state may hide is compared in neither: it is unknown, and listed
//! nowhere.

mod claims;
mod devices;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use strum::Display;

use crate::findings::{Code, Finding, FindingList};
use crate::{Selection, Sentence, Warnings};
use dra_model::{Cluster, Kind, Str, Time};

pub use claims::{ClaimChange, ClaimChangeKind, ConsumerItem, Held, PodChange, PodChangeKind};
pub use devices::{AmountChange, DeviceChange, PoolChange, RuleChange};

/// Kinds that are compared; the findings need more.
pub const DIFFERENCE_NEEDS: [Kind; 6] = [
    Kind::Node,
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaim,
    Kind::Pod,
];

/// One of the two states.
#[derive(Clone, Copy, Debug)]
pub struct State<'c> {
    /// Its objects.
    pub cluster: &'c Cluster,
    /// What `check` finds in it.
    pub findings: &'c FindingList,
}

/// The report.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Difference {
    /// The older state.
    pub before: StateItem,
    /// The newer state.
    pub after: StateItem,
    /// The differences in numbers.
    pub summary: Sentence,
    /// Parts that could not be compared. If there are any and nothing differs, the exit code is 4.
    pub unknown: Vec<String>,
    /// Pods that use other devices than before, by namespace and name.
    pub pods: Vec<PodChange>,
    /// Claims that are new or gone, or whose devices or consumers differ, by namespace and name.
    pub claims: Vec<ClaimChange>,
    /// Published devices that are new, gone or changed, by driver, pool and name.
    pub devices: Vec<DeviceChange>,
    /// Pools that are new or gone, or whose generation or counters differ, by driver and name.
    pub pools: Vec<PoolChange>,
    /// DeviceTaintRules that are new, gone or changed, by name.
    pub rules: Vec<RuleChange>,
    /// Nodes, classes and drivers that are new or gone.
    pub objects: Vec<ObjectChange>,
    /// Findings of `check`.
    pub findings: FindingChanges,
}

/// A state.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct StateItem {
    /// Where it was read, such as `file before.json`.
    pub source: String,
    /// The release whose rules were applied to it.
    pub kubernetes_version: String,
    /// The release is not recorded, so that it is not compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub version_is_assumed: bool,
    /// When it was read. Absent if that is not recorded.
    pub read_at: Option<Time>,
}

impl StateItem {
    fn of(cluster: &Cluster) -> Self {
        let environment = cluster.environment();
        Self {
            source: environment.source.clone(),
            kubernetes_version: environment.version.to_string(),
            version_is_assumed: environment.git_version.is_none(),
            read_at: environment.read_at,
        }
    }
}

/// In which of the states something exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, Display)]
pub enum Existence {
    /// Only in the newer one.
    #[strum(serialize = "new")]
    New,
    /// Only in the older one.
    #[strum(serialize = "gone")]
    Gone,
    /// In both.
    #[strum(serialize = "changed")]
    Kept,
}

impl Existence {
    /// Of what is in the states or not; nothing for neither.
    fn of(before: bool, after: bool) -> Option<Self> {
        match (before, after) {
            (false, true) => Some(Self::New),
            (true, false) => Some(Self::Gone),
            (true, true) => Some(Self::Kept),
            (false, false) => None,
        }
    }
}

/// A node, a class or a driver that only one of the states has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ObjectChange {
    /// `Node`, `DeviceClass` or `Driver`.
    pub kind: &'static str,
    /// Its name.
    pub name: Str,
    /// Which state has it.
    pub existence: Existence,
}

/// Findings of the two states, matched by code and object. Their commands are left out: they are about one of the states.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct FindingChanges {
    /// Those that only the newer state has.
    pub new: Vec<Finding>,
    /// Those that only the older state has.
    pub gone: Vec<Finding>,
    /// Number of those in both.
    pub unchanged: usize,
}

impl Difference {
    /// Returns whether nothing differs, as far as is known.
    pub fn is_empty(&self) -> bool {
        let objects = self.pods.len() + self.claims.len() + self.rules.len() + self.objects.len();
        let published = self.devices.len() + self.pools.len();
        let findings = self.findings.new.len() + self.findings.gone.len();
        objects + published + findings == 0 && self.releases().is_none()
    }

    /// The recorded releases, if they differ.
    fn releases(&self) -> Option<(&str, &str)> {
        let (before, after) = (&self.before, &self.after);
        let differ = before.kubernetes_version != after.kubernetes_version;
        let are_known = !before.version_is_assumed && !after.version_is_assumed;
        (differ && are_known).then_some((&before.kubernetes_version, &after.kubernetes_version))
    }
}

/// Compares two states. The namespace of `selection` chooses claims and pods, and has chosen the findings.
pub fn difference(before: State<'_>, after: State<'_>, selection: &Selection) -> Difference {
    let sides = Sides {
        before: before.cluster,
        after: after.cluster,
    };
    let mut unknown = Warnings::default();
    let (devices, pools) = devices::devices(&sides, &mut unknown);
    let findings = findings(before.findings, after.findings, &mut unknown);
    let unreadable = [("before", before), ("after", after)].into_iter();
    let unreadable = unreadable.flat_map(|(when, state)| unreadable_parts(when, state, selection));
    let mut report = Difference {
        before: StateItem::of(before.cluster),
        after: StateItem::of(after.cluster),
        summary: String::new().into(),
        unknown: unreadable.chain(unknown.iter().map(str::to_owned)).collect(),
        pods: claims::pods(&sides, selection),
        claims: claims::claims(&sides, selection),
        devices,
        pools,
        rules: devices::rules(&sides),
        objects: objects(&sides),
        findings,
    };
    report.summary = words::summary(&report);
    report
}

/// The objects of the two states.
struct Sides<'c> {
    before: &'c Cluster,
    after: &'c Cluster,
}

impl<'c> Sides<'c> {
    fn both(&self) -> [&'c Cluster; 2] {
        [self.before, self.after]
    }

    /// Returns whether both states show all objects of `kind` in `namespace`. Where one does not, objects that both have are not compared
    /// either: what is left of a truncated file ends within one of them.
    fn are_read(&self, kind: Kind, namespace: &str) -> bool {
        let mut clusters = self.both().into_iter();
        clusters.all(|cluster| cluster.gap(kind, namespace).is_none())
    }
}

/// What each state has under the same key, in the order of the keys. Of several things under one key in a state, the first counts.
fn joined<K: Ord, T>(
    before: impl IntoIterator<Item = (K, T)>,
    after: impl IntoIterator<Item = (K, T)>,
) -> BTreeMap<K, (Option<T>, Option<T>)> {
    let mut all: BTreeMap<K, (Option<T>, Option<T>)> = BTreeMap::new();
    for (key, one) in before {
        all.entry(key).or_default().0.get_or_insert(one);
    }
    for (key, one) in after {
        all.entry(key).or_default().1.get_or_insert(one);
    }
    all
}

/// Nodes, classes and drivers that only one of the states has.
fn objects(sides: &Sides<'_>) -> Vec<ObjectChange> {
    let names = |kind: Kind, cluster: &Cluster| -> BTreeSet<Str> {
        match kind {
            Kind::ResourceSlice => cluster.pools().map(|pool| pool.id.driver).collect(),
            kind => cluster.keys(kind).map(|key| key.name.clone()).collect(),
        }
    };
    let kinds = [
        (Kind::Node, Kind::Node.name()),
        (Kind::DeviceClass, Kind::DeviceClass.name()),
        (Kind::ResourceSlice, "Driver"),
    ];
    let mut changes = Vec::new();
    for (source, kind) in kinds
        .into_iter()
        .filter(|(source, _)| sides.are_read(*source, ""))
    {
        let [before, after] = sides.both().map(|cluster| names(source, cluster));
        for name in before.symmetric_difference(&after) {
            let existence = if after.contains(name) {
                Existence::New
            } else {
                Existence::Gone
            };
            changes.push(ObjectChange {
                kind,
                name: name.clone(),
                existence,
            });
        }
    }
    changes
}

/// Code and object of a finding.
type FindingKey<'f> = (Code, &'static str, &'f Str, &'f Str, &'f Str);

fn findings(before: &FindingList, after: &FindingList, unknown: &mut Warnings) -> FindingChanges {
    fn by_key(list: &FindingList) -> BTreeMap<FindingKey<'_>, Vec<&Finding>> {
        let mut all: BTreeMap<FindingKey<'_>, Vec<&Finding>> = BTreeMap::new();
        for finding in &list.items {
            let object = &finding.object;
            let key = (
                finding.code,
                object.kind,
                &object.namespace,
                &object.name,
                &object.uid,
            );
            all.entry(key).or_default().push(finding);
        }
        all
    }
    let is_compared = |code: Code| {
        let mut lists = [before, after].into_iter().map(|list| &list.checked);
        lists.all(|checked| checked.codes.contains(&code) && !checked.incomplete.contains(&code))
    };
    let (before, after) = (by_key(before), by_key(after));
    let mut changes = FindingChanges::default();
    let mut not_compared = BTreeSet::new();
    for (key, (before, after)) in joined(before, after) {
        let (code, ..) = key;
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let in_both = before.len().min(after.len());
        if is_compared(code) {
            changes.unchanged += in_both;
            changes.gone.extend(before.into_iter().skip(in_both).map(bare));
            changes.new.extend(after.into_iter().skip(in_both).map(bare));
        } else if before.len() != after.len() {
            not_compared.insert(code);
        }
    }
    for list in [&mut changes.new, &mut changes.gone] {
        list.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
    }
    if !not_compared.is_empty() {
        unknown.add(words::findings_not_compared(&not_compared));
    }
    changes
}

/// The finding without what can be done about it.
fn bare(finding: &Finding) -> Finding {
    Finding {
        fix: None,
        fix_note: None,
        first: Vec::new(),
        rest: Vec::new(),
        note: None,
        look: None,
        ..finding.clone()
    }
}

/// The parts that `state` does not show, in sentences.
fn unreadable_parts(when: &str, state: State<'_>, selection: &Selection) -> Vec<String> {
    let State { cluster, findings } = state;
    let environment = cluster.environment();
    let incomplete: BTreeSet<Kind> = findings
        .checked
        .incomplete
        .iter()
        .flat_map(|code| code.facts().needs)
        .copied()
        .collect();
    let mut warnings = Warnings::default();
    let namespace = selection.namespace.as_deref().unwrap_or_default();
    for gap in &environment.gaps {
        let what = words::UNKNOWN.iter().find(|(kind, _)| *kind == gap.kind);
        match what {
            Some((_, what)) if gap.hides(gap.kind, namespace) => warnings.unknown(what, gap),
            _ if incomplete.contains(&gap.kind) => warnings.unknown(crate::words::MORE_FINDINGS, gap),
            _ => {}
        }
    }
    let texts = warnings.iter();
    texts
        .map(|text| words::in_state(when, &environment.source, text))
        .collect()
}
