//! DeviceClasses, DeviceTaintRules and the CEL selectors and configuration they share with claims.

use macro_rules_attribute::apply;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Condition, Meta, Str, Taint};
use crate::decoded::decoded;
use dra_values::decode::{Read, field};
use dra_values::json;

/// Prefix of the implicit extended resource of every class. Mirrors
/// `api/resource/v1/types.go`, `ResourceDeviceClassPrefix`.
pub const CLASS_RESOURCE: &str = "deviceclass.resource.kubernetes.io/";

/// `resource.k8s.io` DeviceClass.
#[apply(decoded)]
pub struct Class {
    /// Identity.
    pub metadata: Meta,
    /// Selected devices, and their configuration.
    pub spec: ClassSpec,
}

/// Devices of a class.
#[apply(decoded)]
pub struct ClassSpec {
    /// All must match.
    pub selectors: Vec<Selector>,
    /// Configuration for drivers.
    pub config: Vec<ClassConfig>,
    /// Containers that ask for this resource get a device of the class.
    pub extended_resource_name: Option<Str>,
}

/// Configuration of a class.
#[apply(decoded)]
pub struct ClassConfig {
    /// For the driver.
    pub opaque: Option<Config>,
}

/// Opaque configuration for a driver.
#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    /// Driver.
    #[serde(default, deserialize_with = "field")]
    pub driver: Str,
    /// The JSON as it was read.
    pub parameters: Option<Box<RawValue>>,
}

impl Config {
    /// The parameters for a report; as text where they are no JSON that can be held, such as a number beyond all bounds.
    pub fn parameters_value(&self) -> Option<Value> {
        self.parameters.as_ref().map(|raw| {
            let text = || Value::String(raw.get().to_owned());
            json::from_str(raw.get()).unwrap_or_else(|_| text())
        })
    }
}

impl Read<'_> for Config {}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        let text = |config: &Self| config.parameters.as_ref().map(|raw| raw.get().to_owned());
        self.driver == other.driver && text(self) == text(other)
    }
}

/// A device selector.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct Selector {
    /// The only form there is; an entry without it is an error of the allocation.
    pub cel: Option<CelSelector>,
}

/// A CEL expression over one device.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct CelSelector {
    /// The expression.
    pub expression: Str,
}

/// `resource.k8s.io` DeviceTaintRule.
#[apply(decoded)]
pub struct TaintRule {
    /// Identity.
    pub metadata: Meta,
    /// The taint and where it goes.
    pub spec: TaintRuleSpec,
    /// Status reported by the controller.
    pub status: TaintRuleStatus,
}

/// The taint and where it goes.
#[apply(decoded)]
pub struct TaintRuleSpec {
    /// Absent matches nothing, empty matches every device.
    pub device_selector: Option<TaintSelector>,
    /// The taint.
    pub taint: Taint,
}

/// Devices of a rule: every set field must be equal.
#[apply(decoded)]
#[derive(PartialEq, Eq)]
pub struct TaintSelector {
    /// Driver.
    pub driver: Option<Str>,
    /// Pool.
    pub pool: Option<Str>,
    /// Device.
    pub device: Option<Str>,
}

/// Status of a rule, reported by the controller.
#[apply(decoded)]
pub struct TaintRuleStatus {
    /// `EvictionInProgress`.
    pub conditions: Vec<Condition>,
}
