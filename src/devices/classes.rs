//! Which classes a device belongs to, and which devices an expression selects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::features::Features;
use crate::cel::{DeviceInput, Environment, Mode, Program};
use crate::model::{Class, Cluster, Device, Meter, Slice, Str};

/// What the selectors of a class say of a device.
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
    /// Those of which it is not known whether it belongs to them, as the command has spent its work on expressions.
    pub not_judged: Vec<Str>,
}

/// The selectors of all classes of a cluster, compiled as the scheduler of its release compiles them.
#[derive(Debug)]
pub struct ClassSelectors {
    environment: Environment,
    meter: Arc<Meter>,
    /// By name of the class; a selector without an expression is an error too.
    classes: BTreeMap<Str, Vec<Result<Program, String>>>,
}

impl ClassSelectors {
    /// Compiles the selectors of the classes of `cluster`.
    pub fn of(cluster: &Cluster) -> Self {
        let known = cluster.environment();
        let environment = Features::of(known).selectors(known);
        let compile = |class: &Class| {
            let selectors = class.spec.selectors.iter().map(|selector| {
                let cel = selector
                    .cel
                    .as_ref()
                    .ok_or_else(|| "no CEL expression".to_owned())?;
                environment
                    .compile(&cel.expression, Mode::Stored)
                    .map(|program| program.metered(cluster.meter()))
                    .map_err(|error| format!("CEL compile error: {error}"))
            });
            selectors.collect()
        };
        let classes = cluster
            .classes()
            .map(|class| (class.metadata.name.clone(), compile(class)))
            .collect();
        Self {
            environment,
            meter: Arc::clone(cluster.meter()),
            classes,
        }
    }

    /// Compiles an expression of the user's.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(&self, expression: &str) -> Result<Program, crate::cel::CompileError> {
        let program = self.environment.compile(expression, Mode::Stored)?;
        Ok(program.metered(&self.meter))
    }

    /// The classes that the device belongs to.
    pub fn classes(&self, device: &DeviceInput) -> DeviceClasses {
        let mut found = DeviceClasses::default();
        for (name, selectors) in &self.classes {
            match all_match(selectors, device) {
                Match::Yes => found.names.push(name.clone()),
                Match::No => {}
                Match::Error(why) => found.errors.push((name.clone(), why)),
                Match::Unknown => found.not_judged.push(name.clone()),
            }
        }
        found
    }

    /// Whether the device belongs to the class of that name.
    pub fn matches(&self, class: &str, device: &DeviceInput) -> Match {
        self.classes
            .get(class)
            .map_or(Match::No, |selectors| all_match(selectors, device))
    }
}

/// Mirrors `allocator_incubating.go`, `selectorsMatch`, v1.37.1: the first selector that does not match or fails decides.
fn all_match(selectors: &[Result<Program, String>], device: &DeviceInput) -> Match {
    for (index, selector) in selectors.iter().enumerate() {
        let program = match selector {
            Ok(program) => program,
            Err(why) => return Match::Error(format!("selector #{index}: {why}")),
        };
        match program.evaluate(device).result {
            Ok(true) => {}
            Ok(false) => return Match::No,
            Err(why) if why.is_not_tried() => return Match::Unknown,
            Err(why) => return Match::Error(format!("selector #{index}: CEL runtime error: {why}")),
        }
    }
    Match::Yes
}

/// The device as expressions see it.
pub fn input(slice: &Slice, device: &Device) -> DeviceInput {
    DeviceInput::of(&slice.spec.driver, device)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::devices::testing::World;
    use crate::model::{Component, Evidence, Gate, GateState};

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
        let slice = cluster.slices().next().unwrap();
        let device = input(slice, &slice.spec.devices[0]);
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
            let slice = cluster.slices().next().unwrap();
            ClassSelectors::of(&cluster).matches("d", &input(slice, &slice.spec.devices[0]))
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
