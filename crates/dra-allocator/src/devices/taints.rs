//! Taints of a device: published by its driver or added by DeviceTaintRules.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Rules;
use dra_model::{Cluster, Device, DeviceId, NO_EXECUTE, NO_SCHEDULE, PoolId, Slice, Str, Taint, TaintRule};

/// Returns whether the taint keeps pods that do not tolerate it off the device.
pub fn keeps_off(taint: &Taint) -> bool {
    taint.effect == NO_SCHEDULE || taint.effect == NO_EXECUTE
}

/// Words in the name or value of taints that report a broken device, or an unknown
/// state.
const UNHEALTHY: [&str; 14] = [
    "unhealth",
    "health",
    "fault",
    "fail",
    "broken",
    "degrad",
    "defect",
    "dead",
    "lost",
    "xid",
    "sxid",
    "ecc",
    "error",
    "unmonitored",
];

/// Returns whether the taint says that the device is unhealthy, by its name without the domain or by its value, as far as words tell: no API
/// does. NVIDIA's driver has `gpu.nvidia.com/xid`, `gpu.nvidia.com/gpu-lost` and `gpu.nvidia.com/unmonitored`.
pub fn says_unhealthy(taint: &Taint) -> bool {
    let name = taint.key.rsplit('/').next().unwrap_or_default();
    let words = |text: &str| {
        let lower = text.to_ascii_lowercase();
        let mut words = lower.split(|one: char| !one.is_ascii_alphanumeric());
        words.any(|word| UNHEALTHY.iter().any(|known| word.starts_with(known)))
    };
    words(name) || words(&taint.value)
}

/// The same of the taint of a rule: only of a device that it names.
pub fn rule_says_unhealthy(rule: &TaintRule) -> bool {
    let selector = rule.spec.device_selector.as_ref();
    selector.is_some_and(|selector| selector.device.is_some()) && says_unhealthy(&rule.spec.taint)
}

/// A taint of a device, with where it comes from.
#[derive(Clone, Debug)]
pub struct DeviceTaint<'a> {
    /// The taint.
    pub taint: &'a Taint,
    /// Origin.
    pub origin: Origin,
}

impl DeviceTaint<'_> {
    /// Returns whether it says that the device is unhealthy.
    pub fn says_unhealthy(&self) -> bool {
        match &self.origin {
            Origin::Rule(rule) => rule_says_unhealthy(rule),
            Origin::Slice { .. } => says_unhealthy(self.taint),
        }
    }
}

/// Origin of a taint. Ordered, and equal, as the controller orders the reasons of an eviction: rules by name, then the
/// taints of slices by device and place.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A rule.
    Rule(Arc<TaintRule>),
    /// The driver, in a slice.
    Slice {
        /// The slice.
        slice: Arc<Slice>,
        /// Name of the device in it.
        device: Str,
        /// Index in the device's taints.
        index: usize,
    },
}

impl Origin {
    /// The rule, unless the driver set the taint.
    pub fn rule(&self) -> Option<&Arc<TaintRule>> {
        match self {
            Self::Rule(rule) => Some(rule),
            Self::Slice { .. } => None,
        }
    }

    /// The taint.
    pub fn taint(&self) -> Option<&Taint> {
        match self {
            Self::Rule(rule) => Some(&rule.spec.taint),
            Self::Slice { slice, device, index } => {
                let mut devices = slice.spec.devices.iter();
                devices.find(|found| found.name == *device)?.taints.get(*index)
            }
        }
    }

    /// The pool, unless it is a rule, and where the taint is in it.
    fn place(&self) -> (Option<PoolId>, &Str, usize) {
        match self {
            Self::Rule(rule) => (None, &rule.metadata.name, 0),
            Self::Slice { slice, device, index } => (Some(slice.pool_id()), device, *index),
        }
    }

    /// Returns whether both are the same taint of the same version of an object: what upstream compares.
    pub fn is_same_version(&self, other: &Self) -> bool {
        self == other
            && match (self, other) {
                (Self::Rule(rule), Self::Rule(other)) => Arc::ptr_eq(rule, other),
                (Self::Slice { slice, .. }, Self::Slice { slice: other, .. }) => Arc::ptr_eq(slice, other),
                _ => false,
            }
    }
}

impl Ord for Origin {
    /// Mirrors `device_taint_eviction.go`, `trackedTaint.Compare`, v1.37.2.
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Origin {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Origin {}

/// Support of the eviction controller for DeviceTaintRules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSupport {
    /// Nothing: they neither evict nor get a status.
    Off,
    /// They evict, as long as a slice publishes the device: 1.34 patched slices with them. They get no status.
    PublishedOnly,
    /// They evict by the names in allocation results, and get a status.
    On,
}

/// All taints of a cluster, to be asked per device.
#[derive(Debug)]
pub struct Taints<'a> {
    cluster: &'a Cluster,
    /// Every device that its driver tainted, where they were gathered.
    gathered: Option<BTreeMap<DeviceId, (&'a Arc<Slice>, &'a Device)>>,
    rules: Cow<'a, Rules>,
    support: RuleSupport,
}

impl<'a> Taints<'a> {
    /// The taints of `cluster`, gathered for many questions. Of each pool only the newest generation that is known counts, complete
    /// or not: mirrors `device_taint_eviction.go`, `pool.getDevice`, v1.37.2.
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
            cluster,
            gathered: Some(published),
            rules: Cow::Owned(Rules::of(cluster.rules())),
            support: RuleSupport::On,
        }
    }

    /// The taints of the slices of `cluster` and of `rules`, for few questions.
    pub fn lookup(cluster: &'a Cluster, rules: &'a Rules) -> Self {
        Self {
            cluster,
            gathered: None,
            rules: Cow::Borrowed(rules),
            support: RuleSupport::On,
        }
    }

    /// Only what rules are worth in a release.
    #[must_use]
    pub fn where_rules_are(self, support: RuleSupport) -> Self {
        Self { support, ..self }
    }

    /// The taints of `device`, those of its slice first, then those of rules by name. A rule needs no published device.
    pub fn of_device(&self, device: &DeviceId) -> impl Iterator<Item = DeviceTaint<'_>> {
        let published = match &self.gathered {
            Some(devices) => devices.get(device).copied(),
            None => self.published(device),
        };
        let published = published.map(|(slice, device)| {
            let taints = device.taints.iter().enumerate();
            taints.map(|(index, taint)| DeviceTaint {
                taint,
                origin: Origin::Slice {
                    slice: Arc::clone(slice),
                    device: device.name.clone(),
                    index,
                },
            })
        });
        let rules = match self.support {
            RuleSupport::On => self.rules.matching(device),
            RuleSupport::PublishedOnly if self.published(device).is_some() => self.rules.matching(device),
            RuleSupport::PublishedOnly | RuleSupport::Off => Vec::new(),
        };
        let rules = rules.into_iter().map(|rule| DeviceTaint {
            taint: &rule.spec.taint,
            origin: Origin::Rule(Arc::clone(rule)),
        });
        published.into_iter().flatten().chain(rules)
    }

    /// Returns how many taints `device` has at most.
    pub fn count(&self, device: &DeviceId) -> usize {
        let published = self.published(device);
        published.map_or(0, |(_, device)| device.taints.len()) + self.rules.count(device)
    }

    fn published(&self, device: &DeviceId) -> Option<(&'a Arc<Slice>, &'a Device)> {
        self.cluster.pool(&device.pool_id())?.device(&device.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{ClusterBuilder, Environment, Kind, Object};

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

        // Release 1.34 tainted only what a slice publishes.
        let rules = Rules::of(cluster.rules());
        let worth = |support| {
            let taints = Taints::lookup(&cluster, &rules).where_rules_are(support);
            ["x", "z"].map(|name| taints.of_device(&device("d", "p", name)).count())
        };
        assert_eq!(worth(RuleSupport::On), [5, 2]);
        assert_eq!(worth(RuleSupport::PublishedOnly), [5, 0]);
        assert_eq!(worth(RuleSupport::Off), [2, 0]);

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
