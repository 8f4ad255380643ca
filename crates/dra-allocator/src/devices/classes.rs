//! Classes of a device, and devices that match a user's expression.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::features::Features;
use super::selectors::{
    CachedSelector, Numbered, NumberedSlice, SelectorCache, SelectorError, first_unmatched,
};
use dra_model::{CelSelector, Class, Cluster, Device, Pool, Slice, Str};

/// Result of a class's selectors for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// All match.
    Yes,
    /// One does not.
    No,
    /// One could not be evaluated, which keeps the class from being used where the device is.
    Error(String),
    /// One was not tried, as the command has spent its work on expressions.
    Unknown,
}

/// The classes of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceClasses {
    /// Those it belongs to, by name.
    pub names: Vec<Str>,
    /// Those whose selectors fail on it, by name, with the error.
    pub errors: Vec<(Str, String)>,
    /// Devices whose membership is unknown, because the command has spent its work limit on expressions.
    pub not_judged: Vec<Str>,
}

/// A device that selectors can be asked about: its place in a slice.
#[derive(Clone, Debug)]
pub struct SelectableDevice(Arc<NumberedSlice>, u32);

/// Attributes that are compared with those of devices like it in a step; a device that the API server accepts has no more.
const ATTRIBUTES_OF_A_STEP: usize = 32;

/// The selectors of all classes of a cluster, compiled as the scheduler of its release compiles them.
#[derive(Debug)]
pub struct ClassSelectors {
    all: SelectorCache,
    /// By name of the class; nothing for a selector without an expression, which is an error too.
    classes: BTreeMap<Str, Vec<Option<Arc<CachedSelector>>>>,
}

impl ClassSelectors {
    /// Compiles the selectors of the classes of `cluster`.
    pub fn of(cluster: &Cluster) -> Self {
        let known = cluster.environment();
        let all = SelectorCache::new(Features::of(known).selectors(known), cluster.meter());
        let compile = |class: &Class| {
            let selectors = class.spec.selectors.iter();
            let compile = |cel: &CelSelector| all.selector(&cel.expression);
            selectors
                .map(|selector| selector.cel.as_ref().map(compile))
                .collect()
        };
        let classes = cluster
            .classes()
            .map(|class| (class.metadata.name.clone(), compile(class)))
            .collect();
        Self { all, classes }
    }

    /// The selector `expression`, of a class, a request or the user's, compiled once.
    pub fn selector(&self, expression: &Str) -> Arc<CachedSelector> {
        self.all.selector(expression)
    }

    /// The devices of a pool as in [`Pool::devices`], ready for selectors.
    pub fn devices<'a>(
        &self,
        pool: &Pool<'a>,
    ) -> impl Iterator<Item = (&'a Arc<Slice>, &'a Device, SelectableDevice)> {
        pool.slices.iter().flat_map(move |slice| {
            let numbered = self.all.number(slice);
            (0..)
                .zip(&slice.spec.devices)
                .map(move |(index, device)| (*slice, device, SelectableDevice(Arc::clone(&numbered), index)))
        })
    }

    /// The classes that the device belongs to.
    pub fn classes(&self, device: &SelectableDevice) -> DeviceClasses {
        let mut found = DeviceClasses::default();
        for (name, selectors) in &self.classes {
            match self.all_match(selectors, device) {
                Match::Yes => found.names.push(name.clone()),
                Match::No => {}
                Match::Error(why) => found.errors.push((name.clone(), why)),
                Match::Unknown => found.not_judged.push(name.clone()),
            }
        }
        found
    }

    /// Returns whether the device belongs to the class of that name.
    pub fn matches(&self, class: &str, device: &SelectableDevice) -> Match {
        self.classes
            .get(class)
            .map_or(Match::No, |selectors| self.all_match(selectors, device))
    }

    /// Returns whether the selector selects the device.
    pub fn is_selected(
        &self,
        selector: &CachedSelector,
        SelectableDevice(slice, index): &SelectableDevice,
    ) -> Result<bool, SelectorError> {
        let program = selector.program()?;
        let meter = self.all.meter();
        if meter.is_exhausted() {
            return Err(SelectorError::NotTried);
        }
        // To find what is known of devices like it takes work too: there may be as many selectors as devices.
        let index = *index;
        let device = Numbered { slice, index };
        meter.spend(1 + (device.device().attributes.len() / ATTRIBUTES_OF_A_STEP) as u64);
        selector.answer(program, device)
    }

    fn all_match(&self, selectors: &[Option<Arc<CachedSelector>>], device: &SelectableDevice) -> Match {
        let matches = |(_, selector): &(usize, &Option<Arc<CachedSelector>>)| match selector {
            Some(selector) => self.is_selected(selector, device).map_err(Some),
            None => Err(None),
        };
        let (index, error) = match first_unmatched(selectors.iter().enumerate(), matches) {
            Ok(None) => return Match::Yes,
            Ok(Some(_)) => return Match::No,
            Err(((index, _), error)) => (index, error),
        };
        let why = match error {
            None => "no CEL expression".to_owned(),
            Some(SelectorError::NotTried) => return Match::Unknown,
            Some(SelectorError::Compile(why)) => format!("CEL compile error: {why}"),
            Some(SelectorError::Runtime(why)) => format!("CEL runtime error: {why}"),
        };
        Match::Error(format!("selector #{index}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_model::{Component, Evidence, Gate, GateState};
    use dra_testing::World;

    #[test]
    fn a_class_is_all_of_its_selectors_in_order() {
        let cluster = World::default()
            .class_with("any", &json!([]))
            .class_with("driver", &json!([cel("device.driver == 'd'")]))
            .class_with(
                "fails",
                &json!([cel("device.attributes['d'].missing == 1"), cel("false")]),
            )
            .class_with("future", &json!([{}]))
            .class_with(
                "late",
                &json!([cel("false"), cel("device.attributes['d'].missing == 1")]),
            )
            .class_with("wrong", &json!([cel("device.nothing")]))
            .slice(
                "node-1",
                &json!([{"name": "x", "attributes": {"size": {"int": 1}}}]),
            )
            .build();
        let selectors = ClassSelectors::of(&cluster);
        let pool = cluster.pools().next().unwrap();
        let (_, _, device) = selectors.devices(&pool).next().unwrap();
        let found = selectors.classes(&device);
        assert_eq!(found.names, ["any", "driver"]);
        let errors: Vec<_> = found
            .errors
            .iter()
            .map(|(class, error)| format!("{class}: {}", error.lines().next().unwrap()))
            .collect();
        assert_eq!(errors.len(), 3, "{errors:?}");
        for (error, expected) in errors.iter().zip([
            "fails: selector #0: CEL runtime error: no such key: missing",
            "future: selector #0: no CEL expression",
            "wrong: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:7: undefined field 'nothing'",
        ]) {
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(selectors.matches("driver", &device), Match::Yes);
        assert_eq!(selectors.matches("late", &device), Match::No);
        assert_eq!(selectors.matches("nowhere", &device), Match::No);
    }

    #[test]
    fn devices_that_are_alike_are_judged_once() {
        let spent = |sizes: &[i64]| {
            let devices = sizes
                .iter()
                .map(|size| json!({"name": "x", "attributes": {"size": {"int": size}}}));
            let cluster = World::default()
                .class_with("large", &json!([cel("device.attributes['d'].size > 1")]))
                .slice("node-1", &json!(devices.collect::<Vec<_>>()))
                .build();
            let selectors = ClassSelectors::of(&cluster);
            let pool = cluster.pools().next().unwrap();
            for (_, _, device) in selectors.devices(&pool) {
                selectors.classes(&device);
            }
            cluster.meter().spent()
        };
        let one = spent(&[1]);
        assert!(one > 2, "{one}");
        assert_eq!(spent(&[1, 1, 1]), one + 2);
        assert_eq!(spent(&[1, 2, 1]), one + one + 1);
    }

    #[test]
    fn no_class_can_be_asked_about_a_device_with_lists_where_they_are_unknown() {
        let of = |minor: u32, enabled: bool| {
            let on = GateState {
                enabled,
                evidence: Evidence::Flag,
            };
            let cluster = World::default()
                .version(minor)
                .knowing(|known| {
                    known
                        .gates
                        .push((Component::Scheduler, Gate::DRAListTypeAttributes, on));
                })
                .class("d")
                .slice(
                    "node-1",
                    &json!([{"name": "x", "attributes": {"roots": {"ints": [1, 2]}}}]),
                )
                .build();
            let pool = cluster.pools().next().unwrap();
            let selectors = ClassSelectors::of(&cluster);
            let (_, _, device) = selectors.devices(&pool).next().unwrap();
            selectors.matches("d", &device)
        };
        let fails = Match::Error(
            "selector #0: CEL runtime error: attribute roots: unsupported attribute value".to_owned(),
        );
        assert_eq!(of(37, false), Match::Yes);
        assert_eq!(of(36, true), Match::Yes);
        assert_eq!(of(36, false), fails);
        assert_eq!(of(35, false), fails);
    }

    fn cel(expression: &str) -> serde_json::Value {
        json!({"cel": {"expression": expression}})
    }
}
