//! Taints that are not there: what `--taint`, `--rule` and the selection of devices make of the cluster.

use std::sync::Arc;

use dra_allocator::devices::{Nodes, rule_matches, rule_matches_in_pool, rule_matches_pool};
use dra_model::{
    Change, Cluster, Meta, NO_EFFECT, NO_EXECUTE, NO_SCHEDULE, Object, Pool, PoolId, Str, Taint, TaintRule,
    TaintRuleSpec, TaintSelector, Time,
};

/// Devices to taint; absent fields restrict nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceChoice {
    /// Those that only this node reaches.
    pub node: Option<Str>,
    /// Those of this driver.
    pub driver: Option<Str>,
    /// Those of this pool.
    pub pool: Option<Str>,
    /// The one with this name, in every pool that is left.
    pub device: Option<Str>,
}

impl DeviceChoice {
    /// Returns whether anything is chosen.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The reason why a hypothetical taint makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HypothesisError {
    /// No device of any slice is on the node.
    #[error("no slice publishes devices for node `{0}` only")]
    NoDeviceOnNode(Str),
    /// The API server refuses such an effect.
    #[error(
        "the API server rejects effect `{effect}` of {of}: it accepts `NoExecute`, `NoSchedule` and `None`"
    )]
    Effect {
        /// Tainted object.
        of: String,
        /// The effect.
        effect: Str,
    },
    /// The API server refuses a taint without a key.
    #[error("the API server rejects {0}: its taint has no key")]
    NoKey(String),
}

/// The rule as the API server stores it when it is created, or replaces the one of its name, at `now`.
///
/// Mirrors `registry/resource/devicetaintrule/strategy.go`, `PrepareForUpdate`, v1.37.2: a change of the effect alone sets the time
/// of the taint anew, and a changed spec counts a generation.
///
/// # Errors
/// When the API server would refuse the rule.
pub fn put_rule(cluster: &Cluster, rule: &TaintRule, now: Time) -> Result<Change, HypothesisError> {
    let named = || format!("devicetaintrule/{}", rule.metadata.name);
    check(&rule.spec.taint, named)?;
    let mut stored = rule.clone();
    let taint = &mut stored.spec.taint;
    if let Some(known) = cluster.rule(&rule.metadata.name) {
        let old = &known.spec.taint;
        taint.time_added = if taint.effect != old.effect
            && (taint.time_added.is_none() || taint.time_added == old.time_added)
        {
            Some(now.whole_seconds())
        } else {
            taint.time_added.or(old.time_added)
        };
        let is_same = known.spec.taint == *taint && known.spec.device_selector == stored.spec.device_selector;
        stored.metadata = known.metadata.clone();
        stored.metadata.generation += i64::from(!is_same);
        stored.status = known.status.clone();
    } else {
        taint.time_added = taint.time_added.or(Some(now.whole_seconds()));
        stored.metadata = Meta {
            name: rule.metadata.name.clone(),
            uid: format!("simulated-rule-{}", rule.metadata.name).into(),
            generation: 1,
            creation_timestamp: Some(now.whole_seconds()),
            ..Meta::default()
        };
        stored.status = dra_model::TaintRuleStatus::default();
    }
    Ok(Change::Put(Object::DeviceTaintRule(Arc::new(stored))))
}

fn check(taint: &Taint, what: impl Fn() -> String) -> Result<(), HypothesisError> {
    if taint.key.is_empty() {
        return Err(HypothesisError::NoKey(what()));
    }
    match taint.effect.as_str() {
        NO_EXECUTE | NO_SCHEDULE | NO_EFFECT => Ok(()),
        _ => Err(HypothesisError::Effect {
            of: what(),
            effect: taint.effect.clone(),
        }),
    }
}

/// Rules that give `taint` to the chosen devices: one, unless a node is among what is chosen. A rule knows no nodes, so there is one for
/// each pool that only the node reaches, and one for each device of the node in other pools.
///
/// # Errors
/// When there is no device on the node.
pub fn rules_for(
    cluster: &Cluster,
    choice: &DeviceChoice,
    taint: &Taint,
    name: &str,
) -> Result<Vec<TaintRule>, HypothesisError> {
    let selectors = match &choice.node {
        None => vec![TaintSelector {
            driver: choice.driver.clone(),
            pool: choice.pool.clone(),
            device: choice.device.clone(),
        }],
        Some(node) => {
            let selectors = of_node(cluster, node, choice);
            if selectors.is_empty() {
                return Err(HypothesisError::NoDeviceOnNode(node.clone()));
            }
            selectors
        }
    };
    let numbered = selectors.len() > 1;
    Ok(selectors
        .into_iter()
        .enumerate()
        .map(|(index, selector)| TaintRule {
            metadata: Meta {
                name: if numbered {
                    format!("{name}-{}", index + 1).into()
                } else {
                    name.into()
                },
                ..Meta::default()
            },
            spec: TaintRuleSpec {
                device_selector: Some(selector),
                taint: taint.clone(),
            },
            ..TaintRule::default()
        })
        .collect())
}

fn of_node(cluster: &Cluster, node: &Str, choice: &DeviceChoice) -> Vec<TaintSelector> {
    let mut selectors = Vec::new();
    for pool in cluster.pools() {
        let fits = |wanted: &Option<Str>, actual: &Str| wanted.as_ref().is_none_or(|wanted| wanted == actual);
        if !fits(&choice.driver, &pool.id.driver) || !fits(&choice.pool, &pool.id.pool) {
            continue;
        }
        let devices = || pool.devices();
        let on_node: Vec<&Str> = devices()
            .filter(|(slice, device)| Nodes::of_device(slice, device).only() == Some(node))
            .map(|(_, device)| &device.name)
            .filter(|name| fits(&choice.device, name))
            .collect();
        let whole = choice.device.is_none() && on_node.len() == devices().count();
        let PoolId { driver, pool } = &pool.id;
        let selector = |device: Option<Str>| TaintSelector {
            driver: Some(driver.clone()),
            pool: Some(pool.clone()),
            device,
        };
        if on_node.is_empty() {
            continue;
        }
        if whole {
            selectors.push(selector(None));
        } else {
            selectors.extend(on_node.into_iter().map(|name| selector(Some(name.clone()))));
        }
    }
    selectors
}

/// Returns whether the rule selects any device that a slice publishes or a claim holds.
pub fn selects_any(cluster: &Cluster, rule: &TaintRule) -> bool {
    drivers_selected(cluster, rule).next().is_some()
}

/// The drivers of the devices that the rule selects, some of them repeatedly: of those that slices publish, and those that claims hold.
pub fn drivers_selected(cluster: &Cluster, rule: &TaintRule) -> impl Iterator<Item = Str> {
    let is_of = move |pool: &Pool<'_>| {
        let mut devices = pool.devices();
        rule_matches_pool(rule, &pool.id)
            && devices.any(|(_, device)| rule_matches_in_pool(rule, &device.name))
    };
    let published = cluster.pools().filter(is_of).map(|pool| pool.id.driver);
    let held = cluster.allocated_devices().map(|(device, _)| device);
    let held = held.filter(move |device| rule_matches(rule, device));
    published.chain(held.map(|device| device.driver.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_model::{ClusterBuilder, Environment, Kind};

    fn cluster() -> Cluster {
        let mut builder = ClusterBuilder::default();
        for (name, driver, pool, node) in [
            ("s", "d", "p", "node"),
            ("t", "e", "p", "node"),
            ("u", "d", "q", "other"),
        ] {
            let json = json!({"metadata": {"name": name}, "spec": {"driver": driver, "pool": {"name": pool},
                "nodeName": node, "devices": [{"name": "a"}, {"name": "b"}]}});
            builder.add(Object::from_json(Kind::ResourceSlice, json.to_string().as_bytes()).unwrap());
        }
        let mixed = json!({"metadata": {"name": "m"}, "spec": {"driver": "d", "pool": {"name": "r"}, "perDeviceNodeSelection": true,
            "devices": [{"name": "a", "nodeName": "node"}, {"name": "b", "nodeName": "other"}]}});
        builder.add(Object::from_json(Kind::ResourceSlice, mixed.to_string().as_bytes()).unwrap());
        let rule = json!({"metadata": {"name": "known", "uid": "u", "generation": 4}, "spec": {"deviceSelector": {},
            "taint": {"key": "k", "effect": "None", "timeAdded": "2026-11-21T09:00:00Z"}}});
        builder.add(Object::from_json(Kind::DeviceTaintRule, rule.to_string().as_bytes()).unwrap());
        builder.build(Environment::default()).0
    }

    fn now() -> Time {
        "2026-11-21T10:00:00.5Z".parse().unwrap()
    }

    fn taint(effect: &str) -> Taint {
        Taint {
            key: "k".into(),
            effect: effect.into(),
            ..Taint::default()
        }
    }

    fn selected(choice: &DeviceChoice) -> Vec<String> {
        let rules = rules_for(&cluster(), choice, &taint("NoExecute"), "r").unwrap();
        rules
            .iter()
            .map(|rule| {
                let selector = rule.spec.device_selector.clone().unwrap();
                let text = |part: Option<Str>| part.map_or("*".to_owned(), |part| part.to_string());
                format!(
                    "{} {}/{}/{}",
                    rule.metadata.name,
                    text(selector.driver),
                    text(selector.pool),
                    text(selector.device)
                )
            })
            .collect()
    }

    #[test]
    fn a_node_is_its_pools_and_the_devices_of_others() {
        let node = |node: &str| DeviceChoice {
            node: Some(node.into()),
            ..DeviceChoice::default()
        };
        assert_eq!(selected(&node("node")), ["r-1 d/p/*", "r-2 d/r/a", "r-3 e/p/*"]);
        let choice = DeviceChoice {
            driver: Some("e".into()),
            ..node("node")
        };
        assert_eq!(selected(&choice), ["r e/p/*"]);
        let choice = DeviceChoice {
            device: Some("b".into()),
            driver: Some("d".into()),
            ..node("node")
        };
        assert_eq!(selected(&choice), ["r d/p/b"]);
        let choice = DeviceChoice {
            device: Some("b".into()),
            ..DeviceChoice::default()
        };
        assert_eq!(selected(&choice), ["r */*/b"]);
        let missing = rules_for(&cluster(), &node("gone"), &taint("NoExecute"), "r");
        assert_eq!(
            missing.unwrap_err(),
            HypothesisError::NoDeviceOnNode("gone".into())
        );
    }

    #[test]
    fn a_rule_is_stored_as_the_api_server_does() {
        let cluster = cluster();
        let stored = |effect: &str, name: &str, added: Option<&str>| {
            let mut rule = TaintRule::default();
            rule.metadata.name = name.into();
            rule.spec.device_selector = Some(TaintSelector::default());
            rule.spec.taint = taint(effect);
            rule.spec.taint.time_added = added.map(|time| time.parse().unwrap());
            let Ok(Change::Put(Object::DeviceTaintRule(rule))) = put_rule(&cluster, &rule, now()) else {
                panic!("no rule");
            };
            let added = rule.spec.taint.time_added.unwrap();
            format!("{} {} {added}", rule.metadata.uid, rule.metadata.generation)
        };
        assert_eq!(
            stored("NoExecute", "new", None),
            "simulated-rule-new 1 2026-11-21T10:00:00Z"
        );
        assert_eq!(
            stored("NoExecute", "new", Some("2026-01-01T00:00:00Z")),
            "simulated-rule-new 1 2026-01-01T00:00:00Z"
        );
        // The same again changes nothing; a change of the effect sets the time anew, unless it comes with one.
        assert_eq!(stored("None", "known", None), "u 4 2026-11-21T09:00:00Z");
        assert_eq!(stored("NoExecute", "known", None), "u 5 2026-11-21T10:00:00Z");
        assert_eq!(
            stored("NoExecute", "known", Some("2026-11-21T09:00:00Z")),
            "u 5 2026-11-21T10:00:00Z"
        );
        assert_eq!(
            stored("NoExecute", "known", Some("2026-11-21T08:00:00Z")),
            "u 5 2026-11-21T08:00:00Z"
        );
        let without = put_rule(&cluster, &TaintRule::default(), now());
        assert!(matches!(without, Err(HypothesisError::NoKey(_))));
    }
}
