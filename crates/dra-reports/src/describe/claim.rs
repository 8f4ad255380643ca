//! Everything that is known about a claim.

use serde::Serialize;
use serde_json::Value;

use super::events::{EventItem, events};
use super::identity::{ConditionItem, Identity};
use super::text::toleration;
use super::words;
use crate::listing::selector_terms;
use crate::references::Consumer;
use crate::shape::by_name;
use crate::stage::PodStageItem;
use crate::{
    ClaimNode, DeviceTaintItem, HealthReport, MissingItem, ReservationItem, Selection, Warnings, reserved,
};
use dra_allocator::devices::{Inventory, Origin, Taints};
use dra_model::{
    AllocatedDevice, AllocationMode, Claim, Cluster, Config, Constraint, ConsumerReference, DeviceRequest,
    DeviceStatus, Key, Kind, Quantity, Request, Selector, Str, Time,
};
use dra_rules::eviction::{Release, claim_eviction};
use dra_rules::health::{Health, HealthIndex};
use dra_rules::kubelet::Stages;
use dra_rules::reservation::ClaimState;

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct ClaimDescription {
    /// Name and the like.
    #[serde(flatten)]
    pub identity: Identity,
    /// What `kubectl get resourceclaims` shows.
    pub state: ClaimState,
    /// The consumer that the spec names, as KEP-5194 proposes.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_consumer")]
    #[schemars(with = "Option<Consumer<'_>>")]
    pub spec_reserved_for: Option<ConsumerReference>,
    /// What is requested.
    pub requests: Vec<RequestDescription>,
    /// Conditions on several devices.
    pub constraints: Vec<ConstraintItem>,
    /// Configuration of the claim.
    pub config: Vec<ConfigItem>,
    /// What was given.
    pub allocation: Option<AllocationDescription>,
    /// What drivers report of allocated devices.
    pub device_reports: Vec<DeviceReport>,
    /// Entries of `status.reservedFor`.
    pub reservations: Vec<ReservationItem>,
    /// Pods that use the claim without an entry.
    pub missing: Vec<MissingItem>,
    /// Pods that use it, and how far they are on their nodes.
    pub pods: Vec<PodStageItem>,
    /// When kube-controller-manager evicts its pods because of NoExecute taints. Absent when it does not.
    pub eviction: Option<EvictionItem>,
    /// Oldest first. Absent when they could not be read.
    pub events: Option<Vec<EventItem>>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// A request: one form or a list of alternatives.
#[macro_rules_attribute::apply(report)]
pub struct RequestDescription {
    /// Its name.
    pub name: Str,
    /// The exact request.
    pub exactly: Option<RequestItem>,
    /// Alternatives, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_available: Vec<RequestItem>,
}

/// What is requested.
#[macro_rules_attribute::apply(report)]
pub struct RequestItem {
    /// Name of an alternative.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: Str,
    /// Its class.
    pub device_class_name: Str,
    /// `ExactCount`, `All`, or what the object says.
    pub allocation_mode: Str,
    /// Number of devices.
    pub count: Option<i64>,
    /// With admin access, which takes nothing from other claims.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub admin_access: bool,
    /// CEL expressions that must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selectors: Vec<Str>,
    /// Taints that do not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<String>,
    /// Amounts asked of each device, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Quantity>")]
    pub capacity: Vec<(Str, Quantity)>,
}

/// A condition on the devices of several requests.
#[macro_rules_attribute::apply(report)]
pub struct ConstraintItem {
    /// All devices have the same value of it.
    pub match_attribute: Option<Str>,
    /// All have different values of it.
    pub distinct_attribute: Option<Str>,
    /// Requests that it covers; empty means all.
    pub requests: Vec<Str>,
}

/// Opaque configuration for a driver.
#[macro_rules_attribute::apply(report)]
pub struct ConfigItem {
    /// `FromClass` or `FromClaim`, in an allocation.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub source: Str,
    /// Requests that it applies to. Absent means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Str>,
    /// The driver. Absent for configuration of a kind that this build does not know.
    pub driver: Option<Str>,
    /// As the object has them; those that are nested too deeply for that as text.
    pub parameters: Option<Value>,
}

/// What was given.
#[macro_rules_attribute::apply(report)]
pub struct AllocationDescription {
    /// The only node that can use the devices.
    pub node: Option<Str>,
    /// Which nodes can, if several: a line for each term; one of them must match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_selector: Vec<String>,
    /// When.
    pub allocation_timestamp: Option<Time>,
    /// Every pod may use the claim, as KEP-5194 proposes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reserved_for_any_pod: bool,
    /// In the order of the requests.
    pub devices: Vec<ClaimDevice>,
    /// Of classes and claim.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<ConfigItem>,
}

/// An allocated device.
#[macro_rules_attribute::apply(report)]
pub struct ClaimDevice {
    /// `request` or `request/subrequest`.
    pub request: Str,
    /// Its driver.
    pub driver: Str,
    /// Its pool.
    pub pool: Str,
    /// Its name.
    pub device: Str,
    /// Which share of it.
    #[serde(rename = "shareID")]
    pub share_id: Option<Str>,
    /// With admin access, which takes nothing from other claims.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub admin_access: bool,
    /// What the share takes, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Quantity>")]
    pub consumed_capacity: Vec<(Str, Quantity)>,
    /// Taints that do not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<String>,
    /// What must be true before a pod is bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binding_conditions: Vec<Str>,
    /// What makes binding fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binding_failure_conditions: Vec<Str>,
    /// Whether a slice of the newest generation has it. Absent when slices could not be read.
    pub published: Option<bool>,
    /// Its taints, as far as they are known.
    pub taints: Vec<DeviceTaintItem>,
    /// There may be more taints: slices or rules could not be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub taints_unknown: bool,
    /// The worst of all reports.
    pub health: Option<Health>,
    /// Every report, worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub health_reports: Vec<HealthReport>,
}

/// What a driver reports of an allocated device.
#[macro_rules_attribute::apply(report)]
pub struct DeviceReport {
    /// Its driver.
    pub driver: Str,
    /// Its pool.
    pub pool: Str,
    /// Its name.
    pub device: Str,
    /// Which share of it.
    #[serde(rename = "shareID")]
    pub share_id: Option<Str>,
    /// In the order of the object.
    pub conditions: Vec<ConditionItem>,
    /// Name of the network interface.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub interface_name: Str,
    /// Its addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ips: Vec<Str>,
    /// Its hardware address.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub hardware_address: Str,
}

/// When kube-controller-manager evicts pods because of NoExecute taints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct EvictionItem {
    /// The earliest instant of all taints that are not tolerated for good.
    pub at: Time,
    /// Where the taints come from: `rule/NAME`, `slice/NAME DRIVER/POOL/DEVICE KEY`.
    pub reasons: Vec<String>,
}

/// Kinds that the description needs.
pub const CLAIM_NEEDS: [Kind; 8] = [
    Kind::Node,
    Kind::ResourceClaimTemplate,
    Kind::ResourceClaim,
    Kind::Pod,
    Kind::PodGroup,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::Event,
];

/// Describes the claim `key`, if it exists.
pub fn claim(cluster: &Cluster, key: &Key, now: Time) -> Option<ClaimDescription> {
    let claim = cluster.claim(key)?;
    let selection = Selection {
        names: std::iter::once(key.clone()).collect(),
        ..Selection::default()
    };
    let reservations = reserved(cluster, &selection);
    let mut warnings = reservations.warnings;
    warnings.unknown_in(cluster, &key.namespace, &words::UNKNOWN_OF_CLAIM);
    let events = events(cluster, Kind::ResourceClaim, &claim.metadata, &mut warnings);
    let stages = Stages::of_part(cluster, now);
    let pods = PodStageItem::of(&stages, cluster.pods_of_claim(key));
    let Claim { spec, status, .. } = &**claim;
    Some(ClaimDescription {
        identity: Identity::of(&claim.metadata),
        state: ClaimState::of(claim),
        spec_reserved_for: spec.reserved_for.as_deref().cloned(),
        requests: spec.devices.requests.iter().map(RequestDescription::of).collect(),
        constraints: spec.devices.constraints.iter().map(ConstraintItem::of).collect(),
        config: spec
            .devices
            .config
            .iter()
            .map(|config| ConfigItem::of(config.opaque.as_ref(), Str::default(), &config.requests))
            .collect(),
        allocation: allocation(cluster, claim),
        device_reports: status.devices.iter().map(DeviceReport::of).collect(),
        reservations: reservations.items,
        missing: reservations.missing,
        pods,
        eviction: eviction(cluster, claim, now),
        events,
        now,
        warnings,
    })
}

#[expect(clippy::ref_option, reason = "serde gives the field")]
fn as_consumer<S: serde::Serializer>(
    reference: &Option<ConsumerReference>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    reference.as_ref().map(Consumer).serialize(serializer)
}

/// When the pods of the claim have to go, and why.
pub(super) fn eviction(cluster: &Cluster, claim: &Claim, now: Time) -> Option<EvictionItem> {
    if !Release::of(cluster.environment()).looks_at(claim) {
        return None;
    }
    let taints = Taints::of(cluster);
    let eviction = claim_eviction(claim, &taints, now)?;
    let reasons = eviction.reasons.iter().map(|origin| match origin {
        Origin::Rule(rule) => format!("rule/{}", rule.metadata.name),
        Origin::Slice { slice, device, .. } => {
            let key = origin.taint().map(|taint| taint.key.as_str());
            format!(
                "slice/{} {}/{device} {}",
                slice.metadata.name,
                slice.pool_id(),
                key.unwrap_or_default()
            )
        }
    });
    Some(EvictionItem {
        at: eviction.at,
        reasons: reasons.collect(),
    })
}

fn allocation(cluster: &Cluster, claim: &Claim) -> Option<AllocationDescription> {
    let allocation = claim.status.allocation.as_ref()?;
    let node = ClaimNode::of(claim).only().cloned();
    let selector = allocation.node_selector.as_ref().filter(|_| node.is_none());
    let inventory = Inventory::of(cluster);
    let health = HealthIndex::of(cluster);
    let taints = Taints::of(cluster);
    let devices = claim
        .results()
        .iter()
        .map(|result| ClaimDevice::of(result, &inventory, &health, &taints))
        .collect();
    Some(AllocationDescription {
        node,
        node_selector: selector
            .map(|selector| selector_terms(selector))
            .unwrap_or_default(),
        allocation_timestamp: allocation.allocation_timestamp,
        reserved_for_any_pod: allocation.reserved_for_any_pod,
        devices,
        config: allocation
            .devices
            .config
            .iter()
            .map(|config| ConfigItem::of(config.opaque.as_ref(), config.source.clone(), &config.requests))
            .collect(),
    })
}

impl RequestDescription {
    fn of(request: &Request) -> Self {
        Self {
            name: request.name.clone(),
            exactly: request.exactly.as_ref().map(RequestItem::of),
            first_available: request.first_available.iter().map(RequestItem::of).collect(),
        }
    }
}

impl RequestItem {
    fn of(request: &DeviceRequest) -> Self {
        let (allocation_mode, count) = match &request.allocation_mode {
            AllocationMode::ExactCount => ("ExactCount".into(), Some(request.count.max(1))),
            AllocationMode::All => ("All".into(), None),
            AllocationMode::Other(mode) => (mode.clone(), None),
        };
        Self {
            name: request.name.clone(),
            device_class_name: request.device_class_name.clone(),
            allocation_mode,
            count,
            admin_access: request.admin_access == Some(true),
            selectors: expressions(&request.selectors),
            tolerations: request.tolerations.iter().map(toleration).collect(),
            capacity: request
                .capacity
                .as_ref()
                .map(|capacity| capacity.requests.clone())
                .unwrap_or_default(),
        }
    }
}

/// The CEL expressions of the selectors, and `<unknown>` for one of another kind.
pub(super) fn expressions(selectors: &[Selector]) -> Vec<Str> {
    let expression = |selector: &Selector| {
        let cel = selector.cel.as_ref();
        cel.map_or_else(|| "<unknown>".into(), |cel| cel.expression.clone())
    };
    selectors.iter().map(expression).collect()
}

impl ConstraintItem {
    fn of(constraint: &Constraint) -> Self {
        Self {
            match_attribute: constraint.match_attribute.clone(),
            distinct_attribute: constraint.distinct_attribute.clone(),
            requests: constraint.requests.clone(),
        }
    }
}

impl ConfigItem {
    pub(super) fn of(config: Option<&Config>, source: Str, requests: &[Str]) -> Self {
        Self {
            source,
            requests: requests.to_vec(),
            driver: config.map(|config| config.driver.clone()),
            parameters: config.and_then(Config::parameters_value),
        }
    }
}

impl ClaimDevice {
    fn of(
        result: &AllocatedDevice,
        inventory: &Inventory<'_>,
        health: &HealthIndex<'_>,
        taints: &Taints<'_>,
    ) -> Self {
        let cluster = inventory.cluster();
        let id = result.id();
        let published = cluster.gap(Kind::ResourceSlice, "").is_none().then(|| {
            cluster
                .pool(&id.pool_id())
                .is_some_and(|pool| pool.device(&id.device).is_some())
        });
        Self {
            request: result.request.clone(),
            driver: result.driver.clone(),
            pool: result.pool.clone(),
            device: result.device.clone(),
            share_id: result.share_id.clone(),
            admin_access: result.admin_access,
            consumed_capacity: result.consumed_capacity.clone(),
            tolerations: result.tolerations.iter().map(toleration).collect(),
            binding_conditions: result.binding_conditions.clone(),
            binding_failure_conditions: result.binding_failure_conditions.clone(),
            published,
            taints: taints
                .of_device(&id)
                .map(|tainted| DeviceTaintItem::of(&tainted))
                .collect(),
            taints_unknown: published.is_none() || cluster.gap(Kind::DeviceTaintRule, "").is_some(),
            health: health.health(inventory, &id),
            health_reports: HealthReport::all(health, &id),
        }
    }
}

impl DeviceReport {
    fn of(status: &DeviceStatus) -> Self {
        let network = status.network_data.clone().unwrap_or_default();
        Self {
            driver: status.driver.clone(),
            pool: status.pool.clone(),
            device: status.device.clone(),
            share_id: status.share_id.clone(),
            conditions: status.conditions.iter().map(ConditionItem::of).collect(),
            interface_name: network.interface_name,
            ips: network.ips,
            hardware_address: network.hardware_address,
        }
    }
}
