//! Tolerations of taints of devices and nodes, found by the taints that they are meant for.

use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use macro_rules_attribute::apply;
use serde::{Deserialize, Deserializer};

use super::{Part, Str, Taint};
use crate::decoded::decoded;
use dra_values::decode::{Read, list};

/// A toleration of taints: of devices in a claim, of nodes in a pod.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct Toleration {
    /// Empty matches every key.
    pub key: Str,
    /// `Exists`, `Equal` or empty, which means `Equal`. A pod's `Lt` and `Gt` match nothing, as the gate
    /// TaintTolerationComparisonOperators is off by default.
    pub operator: Str,
    /// Value to compare with.
    pub value: Str,
    /// Empty matches every effect.
    pub effect: Str,
    /// Time in seconds that a NoExecute taint is tolerated; absent means forever.
    pub toleration_seconds: Option<i64>,
}

/// The taints that a toleration is meant for: their key, value and effect. Empty stands for every key or effect, no value for every
/// value.
type Meaning<'a> = (&'a str, Option<&'a str>, &'a str);

impl Toleration {
    /// Returns which taints it is meant for; none where the operator is unknown.
    fn meaning(&self) -> Option<Meaning<'_>> {
        let value = match self.operator.as_str() {
            "" | "Equal" => Some(self.value.as_str()),
            "Exists" => None,
            _ => return None,
        };
        Some((&self.key, value, &self.effect))
    }
}

/// Returns what a toleration may say to be meant for the taint. Unknown effects are the caller's business.
///
/// Mirrors `resourceclaim/devicetoleration.go`, `ToleratesTaint`, and `core/v1/toleration.go`, `Toleration.ToleratesTaint`,
/// v1.37.2: an empty key with `Equal`, which the API server lets through for devices, matches every key with that value.
fn meanings<'a>(taint: &'a Taint) -> impl Iterator<Item = Meaning<'a>> {
    let either = |text: &'a str| [text, ""].into_iter().take(if text.is_empty() { 1 } else { 2 });
    either(taint.key.as_str()).flat_map(move |key| {
        let values = [None, Some(taint.value.as_str())];
        values.into_iter().flat_map(move |value| {
            let effects = either(taint.effect.as_str());
            effects.map(move |effect| (key, value, effect))
        })
    })
}

/// Tolerations of a request, of an allocated device or of a pod, in their order.
///
/// A list may have far more than the 16 that the API server accepts, and a device as many taints. Who asks about a taint therefore
/// does not walk the list.
/// A copy shares the list, as each device of a claim has the tolerations of its request. None take no memory.
#[derive(Clone, Default)]
pub struct Tolerations(Option<Arc<Grouped>>);

#[derive(Clone, Default)]
struct Grouped {
    list: Vec<Toleration>,
    /// Those with one meaning together, sorted by meaning, equal ones once. Built on first use.
    groups: OnceLock<Groups>,
}

#[derive(Clone, Debug, Default)]
struct Groups {
    /// Places in the list, by group.
    places: Vec<usize>,
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    places: Range<usize>,
    is_for_good: bool,
    fewest_seconds: Option<i64>,
}

/// Tolerations that are meant for the same taints. They differ in their seconds only.
#[derive(Clone, Copy, Debug)]
pub struct Alike<'a> {
    list: &'a [Toleration],
    places: &'a [usize],
    /// One of them says no seconds.
    pub is_for_good: bool,
    /// The fewest seconds that one of them says.
    pub fewest_seconds: Option<i64>,
}

impl<'a> Alike<'a> {
    /// Their effect; empty for every effect.
    pub fn effect(&self) -> &'a str {
        let first = self.places.first();
        first.map_or("", |place| &self.list[*place].effect)
    }

    /// Their places in the list, in no order. Of equal tolerations only the first is reported.
    pub fn places(&self) -> &'a [usize] {
        self.places
    }
}

impl Tolerations {
    /// One more, behind the others.
    pub fn push(&mut self, toleration: Toleration) {
        let grouped = Arc::make_mut(self.0.get_or_insert_default());
        grouped.list.push(toleration);
        grouped.groups = OnceLock::new();
    }

    /// Those that are meant for the taint.
    pub fn meant_for<'a>(&'a self, taint: &'a Taint) -> impl Iterator<Item = Alike<'a>> {
        let grouped = self.0.iter();
        grouped.flat_map(|grouped| meanings(taint).filter_map(|meaning| grouped.alike(meaning)))
    }

    /// Returns whether one of them is meant for the taint.
    pub fn tolerate(&self, taint: &Taint) -> bool {
        self.meant_for(taint).next().is_some()
    }
}

impl Grouped {
    fn alike(&self, meaning: Meaning<'_>) -> Option<Alike<'_>> {
        let Groups { places, groups } = self.groups.get_or_init(|| Groups::of(&self.list));
        let meaning_of = |group: &Group| self.list[places[group.places.start]].meaning();
        let found = groups
            .binary_search_by(|group| meaning_of(group).cmp(&Some(meaning)))
            .ok()?;
        let group = &groups[found];
        Some(Alike {
            list: &self.list,
            places: &places[group.places.clone()],
            is_for_good: group.is_for_good,
            fewest_seconds: group.fewest_seconds,
        })
    }
}

impl Groups {
    fn of(list: &[Toleration]) -> Self {
        let mut places: Vec<usize> = (0..list.len())
            .filter(|place| list[*place].meaning().is_some())
            .collect();
        let order = |place: &usize| {
            let one = &list[*place];
            (one.meaning(), one.toleration_seconds, &one.value, &one.operator)
        };
        // Of equal ones the first stays.
        places.sort_unstable_by(|a, b| order(a).cmp(&order(b)).then(a.cmp(b)));
        places.dedup_by(|a, b| list[*a] == list[*b]);
        let mut start = 0;
        let groups = places
            .chunk_by(|a, b| list[*a].meaning() == list[*b].meaning())
            .map(|alike| {
                let seconds = || alike.iter().map(|place| list[*place].toleration_seconds);
                let group = Group {
                    places: start..start + alike.len(),
                    is_for_good: seconds().any(|seconds| seconds.is_none()),
                    fewest_seconds: seconds().flatten().min(),
                };
                start += alike.len();
                group
            })
            .collect();
        Self { places, groups }
    }
}

impl Part for Tolerations {
    fn absent() -> &'static Self {
        static ABSENT: Tolerations = Tolerations(None);
        &ABSENT
    }
}

impl Deref for Tolerations {
    type Target = [Toleration];

    fn deref(&self) -> &[Toleration] {
        self.0.as_ref().map_or(&[], |grouped| &grouped.list)
    }
}

impl<'a> IntoIterator for &'a Tolerations {
    type Item = &'a Toleration;
    type IntoIter = std::slice::Iter<'a, Toleration>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<Toleration> for Tolerations {
    fn from_iter<I: IntoIterator<Item = Toleration>>(tolerations: I) -> Self {
        Self::from(Vec::from_iter(tolerations))
    }
}

impl From<Vec<Toleration>> for Tolerations {
    fn from(list: Vec<Toleration>) -> Self {
        let groups = OnceLock::new();
        Self((!list.is_empty()).then(|| Arc::new(Grouped { list, groups })))
    }
}

impl std::fmt::Debug for Tolerations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.iter().as_slice().fmt(f)
    }
}

impl Read<'_> for Tolerations {}

impl<'de> Deserialize<'de> for Tolerations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        list(deserializer).map(Vec::into)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn toleration(key: &str, operator: &str, value: &str, effect: &str) -> Toleration {
        Toleration {
            key: key.into(),
            operator: operator.into(),
            value: value.into(),
            effect: effect.into(),
            toleration_seconds: None,
        }
    }

    fn taint(key: &str, value: &str, effect: &str) -> Taint {
        Taint {
            key: key.into(),
            value: value.into(),
            effect: effect.into(),
            time_added: None,
        }
    }

    #[test]
    fn tolerations_match_as_in_kubernetes() {
        let taint = taint("k", "v", "NoExecute");
        for (key, operator, value, effect, expected) in [
            ("k", "Equal", "v", "NoExecute", true),
            ("k", "", "v", "NoExecute", true),
            ("k", "Equal", "w", "NoExecute", false),
            ("k", "Exists", "", "NoExecute", true),
            ("k", "Exists", "w", "", true),
            ("", "Exists", "", "", true),
            ("", "Equal", "v", "", true),
            ("", "Equal", "", "", false),
            ("j", "Exists", "", "", false),
            ("k", "Exists", "", "NoSchedule", false),
            ("k", "Like", "v", "", false),
            ("k", "Gt", "v", "", false),
        ] {
            let tolerations = Tolerations::from_iter([toleration(key, operator, value, effect)]);
            assert_eq!(
                tolerations.tolerate(&taint),
                expected,
                "{key} {operator} {value} {effect}"
            );
        }
    }

    /// The same as upstream writes it, for one toleration.
    fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
        let fits = |wanted: &str, actual: &str| wanted.is_empty() || wanted == actual;
        fits(&toleration.effect, &taint.effect)
            && fits(&toleration.key, &taint.key)
            && match toleration.operator.as_str() {
                "" | "Equal" => toleration.value == taint.value,
                "Exists" => true,
                _ => false,
            }
    }

    fn text() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["", "a", "b"])
    }

    fn any_toleration() -> impl Strategy<Value = Toleration> {
        let operator = prop::sample::select(vec!["", "Equal", "Exists", "Like"]);
        let seconds = prop::option::of(-1_i64..3);
        (text(), operator, text(), text(), seconds).prop_map(|(key, operator, value, effect, seconds)| {
            Toleration {
                toleration_seconds: seconds,
                ..toleration(key, operator, value, effect)
            }
        })
    }

    proptest! {
        #[test]
        fn looking_up_finds_what_comparing_finds(
            list in prop::collection::vec(any_toleration(), 0..40), key in text(), value in text(), effect in text(),
        ) {
            let taint = taint(key, value, effect);
            let tolerations: Tolerations = list.iter().cloned().collect();
            let mut found: Vec<usize> = Vec::new();
            for alike in tolerations.meant_for(&taint) {
                let members = || alike.places().iter().map(|place| &list[*place]);
                prop_assert!(members().all(|one| one.effect == *alike.effect()));
                let seconds = || members().map(|one| one.toleration_seconds);
                prop_assert_eq!(alike.is_for_good, seconds().any(|seconds| seconds.is_none()));
                prop_assert_eq!(alike.fewest_seconds, seconds().flatten().min());
                found.extend(alike.places());
            }
            found.sort_unstable();
            let expected: Vec<usize> = (0..list.len())
                .filter(|place| tolerates(&list[*place], &taint) && !list[..*place].contains(&list[*place]))
                .collect();
            prop_assert_eq!(tolerations.tolerate(&taint), !expected.is_empty());
            prop_assert_eq!(found, expected);
        }
    }
}
