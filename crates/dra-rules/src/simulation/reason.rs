//! The reason why a pod has to go, for readers.

use std::sync::Arc;

use serde::Serialize;

use crate::eviction::Eviction;
use dra_allocator::devices::Origin;
use dra_model::{DeviceId, Str};

/// A taint that makes a pod go.
#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[schemars(rename = "TaintReason")]
#[serde(rename_all = "camelCase")]
pub struct ReasonItem {
    /// The DeviceTaintRule, if it is one.
    pub rule: Option<Str>,
    /// The ResourceSlice, if the driver set the taint.
    pub slice: Option<Str>,
    /// The device in the slice.
    pub device: Option<DeviceReference>,
    /// The taint: `key=value:effect`.
    pub taint: Str,
}

/// The taints of evictions, and what they are as reasons.
type SharedReasons = (Arc<[Origin]>, Arc<[ReasonItem]>);

/// Makes reasons of taints: once for all pods that follow one another and go for the same ones.
#[derive(Default)]
pub(super) struct Reasons(Option<SharedReasons>);

impl Reasons {
    /// All taints of an eviction.
    pub(super) fn all(&mut self, eviction: &Eviction) -> Arc<[ReasonItem]> {
        if let Some((of, items)) = &self.0
            && Arc::ptr_eq(of, &eviction.reasons)
        {
            return Arc::clone(items);
        }
        let items: Arc<[ReasonItem]> = eviction.reasons.iter().map(ReasonItem::of).collect();
        self.0 = Some((Arc::clone(&eviction.reasons), Arc::clone(&items)));
        items
    }
}

/// A device.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, derive_more::Display,
)]
#[display("{driver}/{pool}/{device}")]
pub struct DeviceReference {
    /// Its driver.
    pub driver: Str,
    /// Its pool.
    pub pool: Str,
    /// Its name in the pool.
    pub device: Str,
}

impl From<DeviceId> for DeviceReference {
    fn from(id: DeviceId) -> Self {
        let DeviceId { driver, pool, device } = id;
        Self { driver, pool, device }
    }
}

impl ReasonItem {
    /// The taint as a reason.
    pub fn of(origin: &Origin) -> Self {
        let taint = origin.taint().map(ToString::to_string);
        let taint = taint.unwrap_or_default().into();
        match origin {
            Origin::Rule(rule) => Self {
                rule: Some(rule.metadata.name.clone()),
                slice: None,
                device: None,
                taint,
            },
            Origin::Slice { slice, device, .. } => Self {
                rule: None,
                slice: Some(slice.metadata.name.clone()),
                device: Some(slice.pool_id().device(device).into()),
                taint,
            },
        }
    }
}

impl std::fmt::Display for ReasonItem {
    /// `rule/NAME`, or `slice/NAME DEVICE KEY=VALUE`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.rule, &self.slice, &self.device) {
            (Some(rule), ..) => write!(f, "rule/{rule}"),
            (None, Some(slice), Some(device)) => {
                let taint = self.taint.rsplit_once(':').map_or("", |(taint, _)| taint);
                write!(f, "slice/{slice} {} {taint}", device.device)
            }
            _ => f.write_str(&self.taint),
        }
    }
}

/// The taints that evict a pod, one after the other.
pub(super) fn reasons(eviction: &Eviction) -> String {
    let reasons = eviction.reasons.iter();
    let reasons: Vec<String> = reasons.map(|origin| ReasonItem::of(origin).to_string()).collect();
    reasons.join(", ")
}
