//! DeviceClasses, DeviceTaintRules and the CEL selectors and configuration they share with claims.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Condition, Meta, Str, Taint};
use dra_values::decode::{interned, interned_option, list, or_default};
use dra_values::json;

/// Prefix of the implicit extended resource of every class. Mirrors
/// `api/resource/v1/types.go`, `ResourceDeviceClassPrefix`.
pub const CLASS_RESOURCE: &str = "deviceclass.resource.kubernetes.io/";

/// `resource.k8s.io` DeviceClass.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Class {
    /// Identity.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// Selected devices, and their configuration.
    #[serde(deserialize_with = "or_default")]
    pub spec: ClassSpec,
}

/// Devices of a class.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClassSpec {
    /// All must match.
    #[serde(deserialize_with = "list")]
    pub selectors: Vec<Selector>,
    /// Configuration for drivers.
    #[serde(deserialize_with = "list")]
    pub config: Vec<ClassConfig>,
    /// Containers that ask for this resource get a device of the class.
    #[serde(deserialize_with = "interned_option")]
    pub extended_resource_name: Option<Str>,
}

/// Configuration of a class.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClassConfig {
    /// For the driver.
    pub opaque: Option<Config>,
}

/// Opaque configuration for a driver.
#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    /// Driver.
    #[serde(default, deserialize_with = "interned")]
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

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        let text = |config: &Self| config.parameters.as_ref().map(|raw| raw.get().to_owned());
        self.driver == other.driver && text(self) == text(other)
    }
}

/// A device selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Selector {
    /// The only form there is; an entry without it is an error of the allocation.
    pub cel: Option<CelSelector>,
}

/// A CEL expression over one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CelSelector {
    /// The expression.
    #[serde(deserialize_with = "interned")]
    pub expression: Str,
}

/// `resource.k8s.io` DeviceTaintRule.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaintRule {
    /// Identity.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Meta,
    /// The taint and where it goes.
    #[serde(deserialize_with = "or_default")]
    pub spec: TaintRuleSpec,
    /// Status reported by the controller.
    #[serde(deserialize_with = "or_default")]
    pub status: TaintRuleStatus,
}

/// The taint and where it goes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaintRuleSpec {
    /// Absent matches nothing, empty matches every device.
    pub device_selector: Option<TaintSelector>,
    /// The taint.
    #[serde(deserialize_with = "or_default")]
    pub taint: Taint,
}

/// Devices of a rule: every set field must be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TaintSelector {
    /// Driver.
    #[serde(deserialize_with = "interned_option")]
    pub driver: Option<Str>,
    /// Pool.
    #[serde(deserialize_with = "interned_option")]
    pub pool: Option<Str>,
    /// Device.
    #[serde(deserialize_with = "interned_option")]
    pub device: Option<Str>,
}

/// Status of a rule, reported by the controller.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaintRuleStatus {
    /// `EvictionInProgress`.
    #[serde(deserialize_with = "list")]
    pub conditions: Vec<Condition>,
}
