//! Which claims `kubectl dra claims` lists, beyond names and labels.

use std::str::FromStr;

use dra_allocator::devices::WantedNode;
use dra_model::{AllocatedDevice, Claim, Cluster, DeviceId, Key, Kind, Str};
use dra_rules::reservation::{ClaimState, PodGroups, resolves_to};

/// Which claims to list, beyond names and labels. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct ClaimFilter {
    /// In this state.
    pub state: StateFilter,
    /// Allocated for this node.
    pub node: Option<Str>,
    /// With a device of this driver.
    pub driver: Option<Str>,
    /// With this device: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`.
    pub device: Option<String>,
    /// Used by this pod, or reserved for it.
    pub pod: Option<PodFilter>,
}

/// A pod to filter by.
#[derive(Clone, Debug)]
pub struct PodFilter {
    /// Its namespace; without one a pod of that name in the namespace of each claim.
    pub namespace: Option<Str>,
    /// Its name.
    pub name: Str,
}

/// Words of kubectl's states that must be there, or with `!` must not: `allocated,!reserved`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFilter {
    pending: Option<bool>,
    allocated: Option<bool>,
    reserved: Option<bool>,
    deleted: Option<bool>,
}

/// A word that no state has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid state `{0}`: use `pending`, `allocated`, `reserved` or `deleted`; `!STATE` excludes one")]
pub struct StateFilterError(String);

impl StateFilter {
    /// The words that a filter consists of, each also behind `!`.
    pub const WORDS: [&'static str; 4] = ["pending", "allocated", "reserved", "deleted"];

    fn matches(&self, state: ClaimState) -> bool {
        let holds = |wanted: Option<bool>, actual: bool| wanted.is_none_or(|wanted| wanted == actual);
        holds(self.pending, state.is_pending())
            && holds(self.allocated, state.allocated)
            && holds(self.reserved, state.reserved)
            && holds(self.deleted, state.deleted)
    }
}

impl FromStr for StateFilter {
    type Err = StateFilterError;

    fn from_str(text: &str) -> Result<Self, StateFilterError> {
        let mut filter = Self::default();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (word, wanted) = match term.strip_prefix('!') {
                Some(word) => (word, false),
                None => (term, true),
            };
            let part = match word {
                "pending" => &mut filter.pending,
                "allocated" => &mut filter.allocated,
                "reserved" => &mut filter.reserved,
                "deleted" => &mut filter.deleted,
                _ => return Err(StateFilterError(word.to_owned())),
            };
            *part = Some(wanted);
        }
        Ok(filter)
    }
}

impl ClaimFilter {
    /// Kinds, beyond claims, that the filter has to look at.
    pub fn needs(&self) -> impl Iterator<Item = Kind> {
        let nodes = self.node.is_some().then_some(Kind::Node);
        let pods = self.pod.is_some().then_some(Kind::Pod);
        nodes.into_iter().chain(pods)
    }

    /// Whether the claim is listed. `cluster` is asked only for what [`Self::needs`] names.
    ///
    /// # Errors
    /// Why it is unknown whether the claim is for the node that is asked for.
    pub fn matches(&self, cluster: &Cluster, claim: &Claim) -> Result<bool, String> {
        let has_device = |fits: &dyn Fn(&AllocatedDevice) -> bool| claim.results().iter().any(fits);
        let others_match = self.state.matches(ClaimState::of(claim))
            && self
                .driver
                .as_ref()
                .is_none_or(|driver| has_device(&|result| result.driver == *driver))
            && self
                .device
                .as_ref()
                .is_none_or(|name| has_device(&|result| names_device(name, &result.id())))
            && self.pod.as_ref().is_none_or(|pod| is_of_pod(cluster, claim, pod));
        match &self.node {
            Some(node) if others_match => is_for_node(cluster, claim, node),
            _ => Ok(others_match),
        }
    }
}

/// Whether `name` is `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE` of that device. Names of pools may have slashes.
pub(super) fn names_device(name: &str, device: &DeviceId) -> bool {
    let Some(rest) = name.strip_suffix(device.device.as_str()) else {
        return false;
    };
    if rest.is_empty() {
        return true;
    }
    let pool = rest
        .strip_suffix('/')
        .and_then(|rest| rest.strip_suffix(device.pool.as_str()));
    pool.is_some_and(|rest| rest.is_empty() || rest.strip_suffix('/') == Some(&device.driver))
}

/// Whether the allocation is restricted to nodes that include this one.
fn is_for_node(cluster: &Cluster, claim: &Claim, node: &Str) -> Result<bool, String> {
    let allocation = claim.status.allocation.as_ref();
    match allocation.and_then(|allocation| allocation.node_selector.as_ref()) {
        Some(selector) => WantedNode::of(cluster, node).matches(selector),
        None => Ok(false),
    }
}

fn is_of_pod(cluster: &Cluster, claim: &Claim, pod: &PodFilter) -> bool {
    let namespace = &claim.metadata.namespace;
    if pod.namespace.as_ref().is_some_and(|wanted| wanted != namespace) {
        return false;
    }
    let is_reserved = claim
        .status
        .reserved_for
        .iter()
        .any(|entry| entry.is_pod() && entry.name == pod.name);
    let key = Key::new(namespace.clone(), pod.name.clone());
    is_reserved
        || cluster
            .pod(&key)
            .is_some_and(|pod| resolves_to(pod, claim, PodGroups::Accepted))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_testing::{World, holding, status};

    fn listed(cluster: &Cluster, filter: &ClaimFilter) -> Vec<String> {
        cluster
            .claims()
            .filter(|claim| filter.matches(cluster, claim) == Ok(true))
            .map(|claim| claim.metadata.name.to_string())
            .collect()
    }

    fn world() -> Cluster {
        let zone: Value = json!({"allocation": {
            "devices": {"results": [{"request": "r", "driver": "e", "pool": "a/b", "device": "x"}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "zone", "operator": "In", "values": ["a"]}]}]}}});
        World::default()
            .claim("free", &json!({}), &json!({}))
            .claim("held", &json!({}), &holding(&["g0"], &["gone"]))
            .claim("idle", &json!({}), &status(&json!([]), &[]))
            .claim("zone", &json!({}), &zone)
            .pod("user", &["free", "zone"])
            .node("node-1", &json!({}))
            .node("node-2", &json!({"zone": "a"}))
            .build()
    }

    #[test]
    fn every_word_is_understood() {
        for word in StateFilter::WORDS {
            assert!(word.parse::<StateFilter>().is_ok(), "{word}");
            assert!(format!("!{word}").parse::<StateFilter>().is_ok(), "!{word}");
        }
    }

    #[test]
    fn states_are_chosen_by_words() {
        let cluster = world();
        for (text, expected) in [
            ("", vec!["free", "held", "idle", "zone"]),
            ("pending", vec!["free"]),
            ("allocated", vec!["held", "idle", "zone"]),
            ("allocated,reserved", vec!["held"]),
            ("allocated, !reserved", vec!["idle", "zone"]),
            ("deleted", vec![]),
        ] {
            let filter = ClaimFilter {
                state: text.parse().unwrap(),
                ..ClaimFilter::default()
            };
            assert_eq!(listed(&cluster, &filter), expected, "{text}");
        }
        assert_eq!(
            "allocated,!bound".parse::<StateFilter>(),
            Err(StateFilterError("bound".to_owned()))
        );
    }

    #[test]
    fn claims_are_chosen_by_what_they_hold_and_who_uses_them() {
        let cluster = world();
        let base = ClaimFilter::default;
        let pod = |namespace: Option<&str>, name: &str| {
            Some(PodFilter {
                namespace: namespace.map(Str::from),
                name: name.into(),
            })
        };
        for (filter, expected) in [
            (
                ClaimFilter {
                    node: Some("node-1".into()),
                    ..base()
                },
                vec!["held", "idle"],
            ),
            (
                ClaimFilter {
                    node: Some("node-2".into()),
                    ..base()
                },
                vec!["zone"],
            ),
            (
                ClaimFilter {
                    node: Some("node-3".into()),
                    ..base()
                },
                vec![],
            ),
            (
                ClaimFilter {
                    driver: Some("d".into()),
                    ..base()
                },
                vec!["held"],
            ),
            (
                ClaimFilter {
                    device: Some("a/b/x".to_owned()),
                    ..base()
                },
                vec!["zone"],
            ),
            (
                ClaimFilter {
                    pod: pod(None, "user"),
                    ..base()
                },
                vec!["free", "zone"],
            ),
            (
                ClaimFilter {
                    pod: pod(Some("n"), "gone"),
                    ..base()
                },
                vec!["held"],
            ),
            (
                ClaimFilter {
                    pod: pod(Some("m"), "user"),
                    ..base()
                },
                vec![],
            ),
        ] {
            assert_eq!(listed(&cluster, &filter), expected, "{filter:?}");
        }
    }

    #[test]
    fn labels_of_an_unknown_node_are_not_guessed() {
        let cluster = world();
        let filter = ClaimFilter {
            node: Some("node-3".into()),
            ..ClaimFilter::default()
        };
        let found: Vec<_> = cluster
            .claims()
            .map(|claim| filter.matches(&cluster, claim))
            .collect();
        let unknown = Err("the node's labels are unknown".to_owned());
        assert_eq!(found, [Ok(false), Ok(false), Ok(false), unknown]);
    }

    #[test]
    fn a_device_is_named_in_three_ways() {
        let device = DeviceId {
            driver: "d".into(),
            pool: "a/b".into(),
            device: "x".into(),
        };
        for (name, expected) in [
            ("x", true),
            ("a/b/x", true),
            ("d/a/b/x", true),
            ("b/x", false),
            ("/x", false),
            ("d/x", false),
            ("e/a/b/x", false),
            ("/a/b/x", false),
            ("xx", false),
            ("", false),
        ] {
            assert_eq!(names_device(name, &device), expected, "{name}");
        }
    }
}
