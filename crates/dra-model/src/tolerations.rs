//! Tolerations of taints of devices and nodes, found by the taints that they are meant for.

use std::ops::Deref;
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
    /// That of any value of a key, with an effect.
    pub fn of_key(key: impl Into<Str>, effect: impl Into<Str>) -> Self {
        Self {
            key: key.into(),
            operator: "Exists".into(),
            effect: effect.into(),
            ..Self::default()
        }
    }

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
    /// Places in the list of those that mean something, sorted by meaning and seconds, equal ones once. Built on first use.
    sorted: OnceLock<Vec<usize>>,
}

impl Tolerations {
    /// One more, behind the others.
    pub fn push(&mut self, toleration: Toleration) {
        let grouped = Arc::make_mut(self.0.get_or_insert_default());
        grouped.list.push(toleration);
        grouped.sorted = OnceLock::new();
    }

    /// Places of those that are meant for the taint. Those of one slice differ in their seconds only: the first has the fewest, or none,
    /// which means for good. Of equal tolerations only the first is there.
    pub fn meant_for<'a>(&'a self, taint: &'a Taint) -> impl Iterator<Item = &'a [usize]> {
        let grouped = self.0.iter();
        let alike = grouped.flat_map(|grouped| meanings(taint).map(|meaning| grouped.alike(meaning)));
        alike.filter(|alike| !alike.is_empty())
    }

    /// Returns whether one of them is meant for the taint.
    pub fn tolerate(&self, taint: &Taint) -> bool {
        self.meant_for(taint).next().is_some()
    }
}

impl Grouped {
    fn alike(&self, meaning: Meaning<'_>) -> &[usize] {
        let sorted = self.sorted.get_or_init(|| sorted(&self.list));
        let order = |place: &usize| self.list[*place].meaning().cmp(&Some(meaning));
        let from = &sorted[sorted.partition_point(|place| order(place).is_lt())..];
        &from[..from.partition_point(|place| order(place).is_eq())]
    }
}

fn sorted(list: &[Toleration]) -> Vec<usize> {
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
    places
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
        let sorted = OnceLock::new();
        Self((!list.is_empty()).then(|| Arc::new(Grouped { list, sorted })))
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
                let members = || alike.iter().map(|place| &list[*place]);
                let first = &list[alike[0]];
                prop_assert!(members().all(|one| one.effect == first.effect));
                prop_assert!(members().all(|one| first.toleration_seconds <= one.toleration_seconds));
                found.extend(alike);
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
