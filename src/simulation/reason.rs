//! Why a pod has to go, for readers.

use serde::Serialize;

use crate::devices::Origin;
use crate::eviction::Eviction;
use crate::model::{DeviceId, Str};

/// A taint that makes a pod go.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonItem {
    /// The rule, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Str>,
    /// The slice, if the driver set the taint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Str>,
    /// The device in the slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceItem>,
    /// The taint: `key=value:effect`.
    pub taint: String,
}

/// A device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct DeviceItem {
    /// Its driver.
    pub driver: Str,
    /// Its pool.
    pub pool: Str,
    /// Its name.
    pub device: Str,
}

impl std::fmt::Display for DeviceItem {
    /// `driver/pool/device`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.driver, self.pool, self.device)
    }
}

impl From<DeviceId> for DeviceItem {
    fn from(id: DeviceId) -> Self {
        let DeviceId { driver, pool, device } = id;
        Self { driver, pool, device }
    }
}

impl ReasonItem {
    /// The taint as a reason.
    pub fn of(origin: &Origin) -> Self {
        let taint = origin.taint().map(ToString::to_string).unwrap_or_default();
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
                device: Some(DeviceItem {
                    driver: slice.spec.driver.clone(),
                    pool: slice.spec.pool.name.clone(),
                    device: device.clone(),
                }),
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

/// The taints for which a pod goes, one behind the other.
pub(super) fn reasons(eviction: &Eviction) -> String {
    let reasons = eviction.reasons.iter();
    let reasons: Vec<String> = reasons.map(|origin| ReasonItem::of(origin).to_string()).collect();
    reasons.join(", ")
}
