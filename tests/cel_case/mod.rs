//! Cases of selectors, and what an answer has to be.

use std::collections::BTreeMap;
use std::fmt::Write;

use dra_cel::{CompileError, DeviceInput, Environment, Features, Mode, Program};
use dra_model::{AttributeValue, Quantity};
use dra_testing::syntax::without_details;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) expression: String,
    device: Device,
    #[serde(default)]
    list_type_attributes: bool,
    #[serde(default)]
    disable_consumable_capacity: bool,
    /// Kubernetes version.
    #[serde(default = "last_minor")]
    minor: u32,
    /// True if the API server checks it, instead of kube-scheduler.
    #[serde(default)]
    new: bool,
    expect: Expectation,
}

fn last_minor() -> u32 {
    37
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    driver: String,
    #[serde(default)]
    attributes: BTreeMap<String, AttributeValue>,
    #[serde(default)]
    capacity: BTreeMap<String, Capacity>,
    #[serde(default)]
    allow_multiple_allocations: bool,
}

#[derive(Deserialize)]
struct Capacity {
    value: Quantity,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expectation {
    compiles: bool,
    #[serde(default)]
    compile_error: String,
    #[serde(default)]
    matches: bool,
    #[serde(default)]
    runtime_error: String,
    #[serde(default)]
    cost: u64,
    #[serde(default)]
    cost_varies: bool,
    #[serde(default)]
    result_varies: bool,
    max_cost: Option<u64>,
}

impl Case {
    /// The program in the environment that the case asks for.
    pub(crate) fn compile(&self) -> Result<Program, CompileError> {
        let features = Features {
            consumable_capacity: !self.disable_consumable_capacity,
            list_type_attributes: self.list_type_attributes,
        };
        let mode = if self.new { Mode::New } else { Mode::Stored };
        Environment::new(self.minor, features).compile(&self.expression, mode)
    }

    /// The device, prepared for evaluation.
    pub(crate) fn input(&self) -> DeviceInput {
        let device = &self.device;
        let attributes = device
            .attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        let capacity = device.capacity.iter();
        DeviceInput::new(
            &device.driver,
            attributes,
            capacity.map(|(name, capacity)| (name.as_str(), &capacity.value)),
            device.allow_multiple_allocations,
        )
    }
}

/// Returns what differs from the expectation, empty if nothing does.
pub(crate) fn differences(case: &Case) -> String {
    let mut out = String::new();
    let expect = &case.expect;
    let program = match case.compile() {
        Ok(program) => program,
        Err(error) => {
            let text = error.to_string();
            if expect.compiles {
                let _ = writeln!(out, "  does not compile: {text}");
            } else if without_details(&text) != without_details(&expect.compile_error) {
                let _ = writeln!(
                    out,
                    "  compile error: {text}\n  expected:      {}",
                    expect.compile_error
                );
            }
            return out;
        }
    };
    if !expect.compiles {
        let _ = writeln!(out, "  compiles, expected: {}", expect.compile_error);
        return out;
    }
    if let Some(max_cost) = expect.max_cost
        && max_cost.min(i64::MAX as u64) != program.max_cost().min(i64::MAX as u64)
    {
        let _ = writeln!(out, "  estimate {}, expected {max_cost}", program.max_cost());
    }
    let evaluation = program.evaluate(&case.input());
    let expected = if expect.runtime_error.is_empty() {
        Ok(expect.matches)
    } else {
        Err(expect.runtime_error.clone())
    };
    let found = evaluation.result.map_err(|error| error.to_string());
    if found != expected && !expect.result_varies {
        let _ = writeln!(out, "  result   {found:?}\n  expected {expected:?}");
    }
    let cost_fits = if expect.cost_varies {
        evaluation.cost <= expect.cost
    } else {
        evaluation.cost == expect.cost
    };
    if !cost_fits {
        let _ = writeln!(out, "  cost {}, expected {}", evaluation.cost, expect.cost);
    }
    out
}
