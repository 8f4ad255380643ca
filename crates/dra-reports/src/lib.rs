//! Rows and reports for the commands that look: what the rules say about a cluster, in the shape that readers get.
//!
//! A report is built from a [`Cluster`](dra_model::Cluster) and the time, and serialized as the JSON output promises. How it looks
//! as a table is the command's business. What could not be read makes a value unknown, and a warning of the report says why.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests read what they made"
    )
)]

#[macro_use]
mod shape;

pub mod allocation;
mod cel;
mod claim_filter;
mod claim_item;
mod claims;
pub mod conversion;
pub mod describe;
mod device_item;
mod device_map;
mod devices;
pub mod difference;
mod driver_chain;
pub mod explanation;
pub mod findings;
mod health;
mod listing;
pub mod metrics;
mod node_room;
mod pending;
pub mod presence;
mod references;
mod remedy;
mod reserved;
pub mod script;
mod select;
mod sentence;
mod shadow;
pub mod stage;
mod status;
mod taints;
mod trace;
mod usage;
mod warnings;
mod words;

pub use cel::{
    CEL_NEEDS, FailingItem, NewObjects, SeenItem, Selected, SelectedDevice, SelectorFilter, SelectorHint,
    SelectorReport, cel,
};
pub use claim_filter::{ClaimFilter, PodFilter, StateFilter, StateFilterError};
pub use claim_item::{ClaimItem, ClaimNode};
pub use claims::{ClaimList, claims};
pub use device_item::{
    CapacityItem, ClassError, CounterItem, DeviceItem, DeviceTaintItem, HolderItem, PodItem,
};
pub use device_map::{DeviceMap, Fold, MapCell, MapHolder, MapRow, Mark};
pub use devices::{DEVICES_NEEDS, DeviceFilter, DeviceList, devices};
pub use driver_chain::{DriverChain, DriverFix, DriverNodes, DriverPod, DriverVerdict, driver_chain};
pub use health::HealthReport;
pub use node_room::{BlockedCount, ClassRoom, DriverRoom, NodeRoom, RoomVerdict, node_room};
pub use pending::{CauseItem, ExplanationList, Started, explain_all};
pub use references::{Consumer, ObjectReference, Owner};
pub use reserved::{AnyPodItem, MissingItem, RESERVED_NEEDS, ReservationItem, ReservationList, reserved};
pub use select::Selection;
pub use sentence::{Sentence, instruction};
pub use shadow::{ShadowItem, ShadowReport, object_of, shadow_report};
pub use status::{
    ClaimCounts, ClusterStatus, DeviceCounts, DriverStatus, GateLine, KubeletCount, STATUS_NEEDS, StateCount,
    status, usage_by,
};
pub use taints::{
    Preview, TAINTS_NEEDS, TaintItem, TaintList, TaintSource, Tolerated, Tolerates, taints, wide_rule,
};
pub use trace::{ControllerTrace, TraceItem, controller_trace};
pub use usage::{DriverUsage, IdleClaim, Units, UsageBy, UsageGroup, UsageItem, UsedAmount};
use warnings::LeftOut;
pub use warnings::{Warnings, all_missing};

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod gate_laws;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod metered;
#[cfg(test)]
mod owner_laws;
