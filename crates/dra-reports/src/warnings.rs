//! What a report cannot say, said once.

use std::collections::{BTreeMap, BTreeSet};

use crate::words;
use dra_model::{Cluster, Gap, Key, Kind, Str};
use dra_rules::kubelet::beside_driver;

/// Warnings in order of appearance, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings(Vec<Warning>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Warning {
    text: String,
    /// What is unknown, where the text says that.
    what: Vec<String>,
    /// Gaps of one place and one reason, which are why.
    gaps: Vec<Gap>,
}

impl Warning {
    /// Adds that `what` is unknown, and that `gap` is why.
    fn tell(&mut self, what: &str, gap: &Gap) {
        if !self.what.iter().any(|known| known == what) {
            self.what.push(what.to_owned());
        }
        if !self.gaps.contains(gap) {
            self.gaps.push(gap.clone());
        }
        let what = self.what.join("; ");
        let gaps: Vec<&Gap> = self.gaps.iter().collect();
        self.text = format!("{what}: {}", words::missing(&gaps));
    }
}

impl Warnings {
    /// Adds a warning, unless it is there already.
    pub fn add(&mut self, text: String) {
        self.push(Warning {
            text,
            ..Warning::default()
        });
    }

    fn push(&mut self, warning: Warning) {
        if !self.0.iter().any(|known| known.text == warning.text) {
            self.0.push(warning);
        }
    }

    /// Adds that `what` is unknown because of `gap`. All that is missing in one place for one reason is reported in one warning.
    pub fn unknown(&mut self, what: &str, gap: &Gap) {
        let is_alike = |known: &&mut Warning| known.gaps.first().is_some_and(|known| are_alike(known, gap));
        if let Some(warning) = self.0.iter_mut().find(is_alike) {
            warning.tell(what, gap);
        } else {
            let mut warning = Warning::default();
            warning.tell(what, gap);
            self.push(warning);
        }
    }

    /// Adds what is unknown without each of `kinds` that could not be read.
    pub fn unknown_without(&mut self, cluster: &Cluster, kinds: &[(Kind, &str)]) {
        self.unknown_in(cluster, "", kinds);
    }

    /// Adds what is unknown without each of `kinds` that could not be read in the namespace.
    pub fn unknown_in(&mut self, cluster: &Cluster, namespace: &str, kinds: &[(Kind, &str)]) {
        for (kind, what) in kinds {
            let namespace = if kind.is_namespaced() { namespace } else { "" };
            if let Some(gap) = cluster.gap(*kind, namespace) {
                self.unknown(what, gap);
            }
        }
    }

    /// Adds that, unless a warning reports the gap already.
    pub fn unknown_besides(&mut self, what: &str, gap: &Gap) {
        if !self.0.iter().any(|warning| warning.gaps.contains(gap)) {
            self.unknown(what, gap);
        }
    }

    /// Adds which pods may have devices that count as free, from device plugins: `free` has the drivers and nodes of such devices.
    pub(super) fn beside_plugins(&mut self, cluster: &Cluster, free: BTreeSet<(Str, Str)>) {
        let mut held: BTreeMap<Str, (Vec<Str>, Vec<Key>)> = BTreeMap::new();
        for (driver, name) in free {
            let node = cluster.node(&name).into_iter();
            let used = node.flat_map(|node| beside_driver(cluster, node, &driver));
            let pods: Vec<Key> = used.flat_map(|(.., users)| users).collect();
            if !pods.is_empty() {
                let (nodes, all) = held.entry(driver).or_default();
                nodes.push(name);
                all.extend(pods);
            }
        }
        for (driver, (nodes, pods)) in &held {
            self.add(words::beside_plugins(driver, nodes, pods));
        }
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Self) {
        for warning in other.0 {
            self.push(warning);
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|warning| warning.text.as_str())
    }

    /// `nothing`, what is said of a list without rows, or that there may be some where something is missing.
    pub fn qualify(&self, nothing: &str) -> String {
        if self.0.iter().any(|warning| !warning.gaps.is_empty()) {
            words::qualified(nothing)
        } else {
            nothing.to_owned()
        }
    }

    /// Whether there is none.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Objects that a filter leaves out because it is unknown whether it holds for them.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// The first one, and why.
    first: Option<(String, String)>,
    count: usize,
}

impl LeftOut {
    /// Leaves out one more.
    pub(super) fn add(&mut self, object: &dyn std::fmt::Display, why: impl std::fmt::Display) {
        self.first
            .get_or_insert_with(|| (object.to_string(), why.to_string()));
        self.count += 1;
    }

    /// Says so, where there is any. `what` is asked of each of the `objects`.
    pub(super) fn warn(self, what: &str, objects: &str, warnings: &mut Warnings) {
        if let Some((object, why)) = self.first {
            warnings.add(words::left_out(what, self.count, objects, &object, &why));
        }
    }
}

/// What is missing, as a sentence without a full stop.
pub(super) fn missing(gap: &Gap) -> String {
    words::missing(&[gap])
}

/// What is missing, in sentences: those of the same place and for the same reason together, in their order.
pub fn all_missing<'g>(gaps: impl IntoIterator<Item = &'g Gap>) -> impl Iterator<Item = String> {
    alike(gaps).into_iter().map(|gaps| words::missing(&gaps))
}

/// The kinds, with why they could not be read.
pub(super) fn without(gaps: &[Gap]) -> String {
    let texts = alike(gaps).into_iter().map(|gaps| words::without(&gaps));
    texts.collect::<Vec<_>>().join("; ")
}

/// Gaps of the same place and for the same reason together, in their order.
fn alike<'g>(gaps: impl IntoIterator<Item = &'g Gap>) -> Vec<Vec<&'g Gap>> {
    let mut alike: Vec<Vec<&Gap>> = Vec::new();
    for gap in gaps {
        let is_alike = |known: &&mut Vec<&Gap>| known.first().is_some_and(|known| are_alike(known, gap));
        match alike.iter_mut().find(is_alike) {
            Some(known) => known.push(gap),
            None => alike.push(vec![gap]),
        }
    }
    alike
}

/// Whether both are of one place and one reason.
pub(super) fn are_alike(one: &Gap, other: &Gap) -> bool {
    one.namespace == other.namespace && one.except == other.except && one.reason == other.reason
}

#[cfg(test)]
/// The texts of the warnings.
pub(super) fn texts(warnings: &Warnings) -> Vec<&str> {
    warnings.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Kind, Str};

    #[test]
    fn a_gap_is_reported_once_with_what_depends_on_it() {
        let mut warnings = Warnings::default();
        let gap = |kind, namespace: &str| Gap {
            kind,
            namespace: namespace.into(),
            except: Str::default(),
            is_forbidden: false,
            reason: "forbidden".to_owned(),
        };
        warnings.unknown("who uses the claims is unknown", &gap(Kind::Pod, "team"));
        warnings.unknown("who uses the claims is unknown", &gap(Kind::Pod, "team"));
        warnings.unknown("health is unknown", &gap(Kind::Pod, ""));
        warnings.unknown("taints are unknown", &gap(Kind::ResourceSlice, ""));
        warnings.unknown("taints are unknown", &gap(Kind::Pod, ""));
        warnings.unknown_besides("more is unknown", &gap(Kind::ResourceSlice, ""));
        let texts: Vec<_> = warnings.iter().collect();
        assert_eq!(
            texts,
            [
                "who uses the claims is unknown: pods in namespace/team could not be read: forbidden",
                "health is unknown; taints are unknown: pods, resourceslices could not be read: forbidden",
            ]
        );
    }
}
