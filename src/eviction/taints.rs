//! Which taints a device has: those its driver published and those of DeviceTaintRules.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Cluster, Device, DeviceId, Slice, Taint, TaintRule, Toleration};

/// Whether the toleration is meant for the taint. Effects that nobody knows are the caller's business.
///
/// Mirrors `resourceclaim/devicetoleration.go`, `ToleratesTaint`, v1.37.1: an empty key with `Equal`, which the API server lets
/// through, matches every key with that value.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let fits = |wanted: &str, actual: &str| wanted.is_empty() || wanted == actual;
    fits(&toleration.effect, &taint.effect)
        && fits(&toleration.key, &taint.key)
        && match toleration.operator.as_str() {
            "" | "Equal" => toleration.value == taint.value,
            "Exists" => true,
            _ => false,
        }
}

/// Whether the rule is about the device, published or not. Without a selector it is about none, with an empty one about all.
///
/// Mirrors `device_taint_eviction.go`, `ruleMatchesDevice`, v1.37.1. The scheduler before 1.37.1 saw a rule without a selector as
/// one about all devices; that is left to those who imitate it.
pub fn rule_matches(rule: &TaintRule, device: &DeviceId) -> bool {
    let fits =
        |wanted: &Option<crate::model::Str>, actual| wanted.as_ref().is_none_or(|wanted| wanted == actual);
    rule.spec.device_selector.as_ref().is_some_and(|selector| {
        fits(&selector.driver, &device.driver)
            && fits(&selector.pool, &device.pool)
            && fits(&selector.device, &device.device)
    })
}

/// A taint of a device, with where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct DeviceTaint<'a> {
    /// The taint.
    pub taint: &'a Taint,
    /// Where it comes from.
    pub origin: Origin<'a>,
}

/// Where a taint comes from. Ordered as the controller orders the reasons of an eviction: rules by name, then the taints of
/// slices by device and place.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// A rule.
    Rule(&'a Arc<TaintRule>),
    /// The driver, in a slice.
    Slice {
        /// The slice.
        slice: &'a Arc<Slice>,
        /// The device in it.
        device: &'a Device,
        /// Which of the device's taints.
        index: usize,
    },
}

impl Ord for Origin<'_> {
    /// Mirrors `device_taint_eviction.go`, `trackedTaint.Compare`, v1.37.1.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Rule(rule), Self::Rule(other)) => rule.metadata.name.cmp(&other.metadata.name),
            (Self::Rule(_), Self::Slice { .. }) => Ordering::Less,
            (Self::Slice { .. }, Self::Rule(_)) => Ordering::Greater,
            (
                Self::Slice { slice, device, index },
                Self::Slice {
                    slice: other_slice,
                    device: other_device,
                    index: other_index,
                },
            ) => slice
                .pool_id()
                .cmp(&other_slice.pool_id())
                .then_with(|| device.name.cmp(&other_device.name))
                .then(index.cmp(other_index)),
        }
    }
}

impl PartialOrd for Origin<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Origin<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Origin<'_> {}

/// All taints of a cluster, to be asked per device.
#[derive(Debug, Default)]
pub struct Taints<'a> {
    /// Devices that their driver tainted.
    published: BTreeMap<DeviceId, (&'a Arc<Slice>, &'a Device)>,
    /// All rules, by name.
    rules: Vec<&'a Arc<TaintRule>>,
}

impl<'a> Taints<'a> {
    /// The taints of `cluster`. Of each pool only the newest generation that is known counts, complete or not: mirrors
    /// `device_taint_eviction.go`, `pool.getDevice`, v1.37.1.
    pub fn of(cluster: &'a Cluster) -> Self {
        let mut published = BTreeMap::new();
        for pool in cluster.pools() {
            for (slice, device) in pool.devices() {
                if !device.taints.is_empty() {
                    published
                        .entry(pool.device_id(&device.name))
                        .or_insert((slice, device));
                }
            }
        }
        Self {
            published,
            rules: cluster.rules().collect(),
        }
    }

    /// The taints of `device`, those of its slice first. A rule needs no published device.
    pub fn of_device(&self, device: &DeviceId) -> impl Iterator<Item = DeviceTaint<'a>> {
        let published = self.published.get(device).map(|(slice, device)| {
            let taints = device.taints.iter().enumerate();
            taints.map(|(index, taint)| DeviceTaint {
                taint,
                origin: Origin::Slice { slice, device, index },
            })
        });
        let rules = self
            .rules
            .iter()
            .filter(move |rule| rule_matches(rule, device))
            .map(|rule| DeviceTaint {
                taint: &rule.spec.taint,
                origin: Origin::Rule(rule),
            });
        published.into_iter().flatten().chain(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClusterBuilder, Environment, Kind, Object};

    #[test]
    fn tolerations_match_as_in_kubernetes() {
        let taint = Taint {
            key: "k".into(),
            value: "v".into(),
            effect: "NoExecute".into(),
            time_added: None,
        };
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
        ] {
            let toleration = Toleration {
                key: key.into(),
                operator: operator.into(),
                value: value.into(),
                effect: effect.into(),
                toleration_seconds: None,
            };
            assert_eq!(
                tolerates(&toleration, &taint),
                expected,
                "{key} {operator} {value} {effect}"
            );
        }
    }

    fn rule(name: &str, selector: &str) -> Object {
        let json = format!(
            r#"{{"metadata":{{"name":"{name}"}},"spec":{{{selector}"taint":{{"key":"{name}","effect":"NoExecute"}}}}}}"#
        );
        Object::from_json(Kind::DeviceTaintRule, json.as_bytes()).unwrap()
    }

    fn slice(name: &str, generation: u32, taint: &str) -> Object {
        let json = format!(
            r#"{{"metadata":{{"name":"{name}"}},"spec":{{"driver":"d","nodeName":"n",
                "pool":{{"name":"p","generation":{generation},"resourceSliceCount":9}},
                "devices":[{{"name":"x","taints":[{{"key":"{taint}","effect":"NoExecute"}},{{"key":"{taint}-2"}}]}},
                           {{"name":"y"}}]}}}}"#
        );
        Object::from_json(Kind::ResourceSlice, json.as_bytes()).unwrap()
    }

    fn device(driver: &str, pool: &str, device: &str) -> DeviceId {
        DeviceId {
            driver: driver.into(),
            pool: pool.into(),
            device: device.into(),
        }
    }

    #[test]
    fn slices_of_the_newest_generation_and_matching_rules_taint_a_device() {
        let mut builder = ClusterBuilder::default();
        for object in [
            slice("old", 1, "outdated"),
            slice("new", 2, "broken"),
            rule("absent", ""),
            rule("all", r#""deviceSelector":{},"#),
            rule("by-device", r#""deviceSelector":{"device":"x"},"#),
            rule("by-driver", r#""deviceSelector":{"driver":"d"},"#),
            rule("by-pool", r#""deviceSelector":{"driver":"d","pool":"q"},"#),
        ] {
            builder.add(object);
        }
        let cluster = builder.build(Environment::default()).0;
        let taints = Taints::of(&cluster);
        let keys = |id: &DeviceId| -> Vec<String> {
            taints
                .of_device(id)
                .map(|found| found.taint.key.to_string())
                .collect()
        };
        assert_eq!(
            keys(&device("d", "p", "x")),
            ["broken", "broken-2", "all", "by-device", "by-driver"]
        );
        assert_eq!(keys(&device("d", "p", "y")), ["all", "by-driver"]);
        // No slice publishes these.
        assert_eq!(
            keys(&device("d", "q", "x")),
            ["all", "by-device", "by-driver", "by-pool"]
        );
        assert_eq!(keys(&device("e", "p", "z")), ["all"]);

        let mut origins: Vec<_> = taints
            .of_device(&device("d", "p", "x"))
            .map(|found| found.origin)
            .collect();
        origins.sort();
        let order: Vec<_> = origins
            .iter()
            .map(|origin| match origin {
                Origin::Rule(rule) => rule.metadata.name.to_string(),
                Origin::Slice { index, .. } => index.to_string(),
            })
            .collect();
        assert_eq!(order, ["all", "by-device", "by-driver", "0", "1"]);
    }
}
