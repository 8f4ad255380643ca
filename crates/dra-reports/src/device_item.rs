//! One device of a listing, in the shape of the JSON output.

use std::fmt;

use serde::Serialize;

use super::HealthReport;
use super::shape::by_name;
use dra_allocator::devices::{CounterBalance, DeviceNode, DeviceState, DeviceTaint, Holder, Unavailable};
use dra_model::{Cluster, DeviceId, Quantity, Str, Taint, Time};
use dra_rules::health::Health;
use dra_rules::reservation::users;

/// One device.
#[macro_rules_attribute::apply(report)]
pub struct DeviceItem {
    /// Its driver.
    pub driver: Str,
    /// Its pool.
    pub pool: Str,
    /// Its name in the pool.
    pub device: Str,
    /// The only node that reaches it. Absent when several do.
    pub node: Option<Str>,
    /// Which nodes reach it, where it is not one.
    #[serde(skip)]
    pub nodes: DeviceNode,
    /// Classes whose selectors match, by name. Absent when unknown: classes could not be read, or no slice publishes the device.
    pub classes: Option<Vec<Str>>,
    /// Classes whose selectors fail on it, so that it is unknown whether it belongs to them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_errors: Vec<ClassError>,
    /// Whether claims hold it. Admin access takes nothing.
    pub state: DeviceState,
    /// Why the scheduler does not allocate it to an ordinary request, although no claim holds it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// False for a device that a claim holds, but that no slice of the newest generation of its pool has. Absent when unknown.
    pub published: Option<bool>,
    /// Who holds it, by namespace and name, once for each share.
    pub claims: Vec<HolderItem>,
    /// Its taints: those of its slice, then those of rules.
    pub taints: Vec<DeviceTaintItem>,
    /// There may be more taints: rules, or the slice, could not be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub taints_unknown: bool,
    /// The worst of all reports. Absent when no pod reports it.
    pub health: Option<Health>,
    /// Every report, worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub health_reports: Vec<HealthReport>,
    /// What it has, and what is left where several claims may share it. By name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, CapacityItem>")]
    pub capacity: Vec<(Str, CapacityItem)>,
    /// What is left of the shared counters that it consumes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterItem>,
}

/// A class whose selectors fail on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ClassError {
    /// The class.
    pub class: Str,
    /// The error.
    pub error: String,
}

/// A claim that has a device.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct HolderItem {
    /// Namespace of the claim.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
    /// The request that got the device.
    pub request: Str,
    /// Which share of the device.
    #[serde(rename = "shareID")]
    pub share_id: Option<Str>,
    /// What the share takes, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Quantity>")]
    pub consumed_capacity: Vec<(Str, Quantity)>,
    /// With admin access, which takes nothing from other claims.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub admin_access: bool,
    /// Pods that the claim is reserved for, by name; absent when unknown.
    pub pods: Option<Vec<PodItem>>,
}

impl HolderItem {
    pub(super) fn of(cluster: &Cluster, holder: &Holder<'_>) -> Self {
        let Holder { claim, result } = holder;
        let pods = users(cluster, claim).ok().map(|pods| {
            pods.iter()
                .map(|pod| PodItem {
                    name: pod.metadata.name.clone(),
                    uid: pod.metadata.uid.clone(),
                })
                .collect()
        });
        Self {
            namespace: claim.metadata.namespace.clone(),
            name: claim.metadata.name.clone(),
            uid: claim.metadata.uid.clone(),
            request: result.request.clone(),
            share_id: result.share_id.clone(),
            consumed_capacity: result.consumed_capacity.clone(),
            admin_access: result.admin_access,
            pods,
        }
    }
}

/// A pod in the claim's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PodItem {
    /// Its name.
    pub name: Str,
    /// Its UID.
    pub uid: Str,
}

/// A taint of a device.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct DeviceTaintItem {
    /// Its key.
    pub key: Str,
    /// Its value.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub value: Str,
    /// `NoExecute`, `NoSchedule`, `None`, or what the object says.
    pub effect: Str,
    /// Since when.
    pub time_added: Option<Time>,
    /// The DeviceTaintRule that it comes from. Absent when the slice has it.
    pub rule: Option<Str>,
}

impl DeviceTaintItem {
    pub(super) fn of(tainted: &DeviceTaint<'_>) -> Self {
        let rule = tainted.origin.rule().map(|rule| &rule.metadata.name);
        Self::new(tainted.taint, rule)
    }

    /// The taint of the rule with that name, or of a slice.
    pub(super) fn new(taint: &Taint, rule: Option<&Str>) -> Self {
        Self {
            key: taint.key.clone(),
            value: taint.value.clone(),
            effect: taint.effect.clone(),
            time_added: taint.time_added,
            rule: rule.cloned(),
        }
    }
}

impl fmt::Display for DeviceTaintItem {
    /// `key=value:effect`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        write!(f, ":{}", self.effect)
    }
}

/// A capacity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CapacityItem {
    /// What the device has.
    pub total: Quantity,
    /// What its shares leave; absent for a device that only one claim can hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Quantity>,
}

/// A shared counter of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CounterItem {
    /// Its set.
    pub counter_set: Str,
    /// Its name.
    pub name: Str,
    /// What there is.
    pub total: Quantity,
    /// What allocated devices leave of it. Negative when they overdraw it.
    pub remaining: Quantity,
}

impl CounterItem {
    pub(super) fn of(set: &Str, name: &Str, balance: &CounterBalance) -> Self {
        let CounterBalance { total, remaining } = balance.clone();
        Self {
            counter_set: set.clone(),
            name: name.clone(),
            total,
            remaining,
        }
    }
}

impl DeviceItem {
    /// Which device it is.
    pub fn id(&self) -> DeviceId {
        DeviceId::new(&self.driver, &self.pool, &self.device)
    }

    /// Whether there may be classes beyond [`Self::classes`] that it belongs to.
    pub fn classes_unknown(&self) -> bool {
        self.classes.is_none() || !self.class_errors.is_empty()
    }
}
