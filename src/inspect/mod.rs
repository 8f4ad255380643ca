//! Rows and reports for the commands that look: what the rules say about a cluster, in the shape that readers get.
//!
//! A report is built from a [`Cluster`](crate::model::Cluster) and the time, and serialized as the JSON output promises. How it looks
//! as a table is the command's business. What could not be read makes a value unknown, and a warning of the report says why.

mod claim_filter;
mod claims;
mod classes;
mod devices;
mod health;
mod inventory;
mod references;
mod reserved;
mod select;
mod status;
mod taints;
mod warnings;

pub use claim_filter::{ClaimFilter, PodFilter, StateFilter, StateFilterError};
pub use claims::{ClaimItem, ClaimList, ClaimNode, claims};
pub use classes::{DeviceClasses, Match, classes};
pub use devices::{
    CapacityItem, ClassError, CounterItem, DEVICES_NEEDS, DeviceFilter, DeviceItem, DeviceList, DeviceNode,
    DeviceTaintItem, HolderItem, PodItem, devices,
};
pub use health::{Health, HealthIndex, HealthReport};
pub use inventory::{CounterBalance, DeviceState, Holder, Inventory, PoolCounters, PoolFacts, Unavailable};
pub use references::{Consumer, DeviceReference, ObjectReference, Owner};
pub use reserved::{AnyPodItem, MissingItem, RESERVED_NEEDS, ReservationItem, ReservationList, reserved};
pub use select::Selection;
pub use status::{
    ClaimCounts, ClusterStatus, DeviceCounts, DriverStatus, GateLine, KubeletCount, STATUS_NEEDS, StateCount,
    status,
};
pub use taints::{TAINTS_NEEDS, TaintItem, TaintList, TaintSource, Tolerated, Tolerates, taints};
pub use warnings::Warnings;

#[cfg(test)]
mod testing;
