//! The reason why kube-scheduler does not take a device for a request: a small code for each of its checks.
//!
//! What a check looked at (the claim that holds the device, the counter, the taint) is looked up where a reader asks for it, so that
//! a search can note millions of codes.

use dra_model::{Device, Node, Slice, Taint, Tolerations};

use super::counters::InView;
use super::features::{Features, Implementation};
use super::pools::{Lack, PoolView};

/// The check that a device does not pass, in the order of `allocator_experimental.go`, `allocateOne` and `allocateDevice`, v1.37.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
pub enum RuledOut {
    /// A claim has the device, be it one that is allocated in the same attempt.
    InUse,
    /// The device wants binding conditions, whose gate is off.
    BindingConditionsOff,
    /// A selector of the class does not select it.
    ClassSelector,
    /// A selector of the request does not select it.
    RequestSelector,
    /// The device itself is not for this node.
    OtherNode,
    /// It does not have a capacity that the request names.
    NoSuchCapacity,
    /// Its policy does not allow the amounts.
    CapacityPolicy,
    /// It has less of a capacity than the request takes, even where no claim shares it.
    CapacityTooSmall,
    /// Claims that share it leave too little of a capacity.
    CapacityExhausted,
    /// It skips node operations, which the scheduler or the node's kubelet does not support.
    NodeOperations,
    /// It draws from shared counters, whose gate is off.
    PartitionableDevicesOff,
    /// Devices in use belong to other compatibility groups.
    Incompatible,
    /// Other devices of the pool leave too little of a counter.
    CounterExhausted,
    /// The request does not tolerate a taint.
    Tainted,
    /// It lacks an attribute that a constraint compares.
    ConstraintAttribute,
    /// Its value of an attribute does not go with those of the devices that were taken before it.
    Constraint,
}

impl RuledOut {
    /// Returns whether a request for all devices asks for the device nevertheless, and then fails: what does not depend on what others hold
    /// decides which devices are all. Mirrors `allocator_experimental.go`, `validateDeviceRequest`, v1.37.2.
    pub fn is_selected(self) -> bool {
        match self {
            Self::BindingConditionsOff
            | Self::ClassSelector
            | Self::RequestSelector
            | Self::OtherNode
            | Self::NoSuchCapacity
            | Self::CapacityPolicy
            | Self::CapacityTooSmall => false,
            Self::InUse
            | Self::CapacityExhausted
            | Self::NodeOperations
            | Self::PartitionableDevicesOff
            | Self::Incompatible
            | Self::CounterExhausted
            | Self::Tainted
            | Self::ConstraintAttribute
            | Self::Constraint => true,
        }
    }

    pub(crate) fn of_lack(lack: Lack) -> Self {
        match lack {
            Lack::Counter(_) => Self::CounterExhausted,
            Lack::Group => Self::Incompatible,
        }
    }
}

/// The gate that keeps the device from being selected. Mirrors `allocator_experimental.go`, `isSelectable`, v1.37.2.
pub(crate) fn not_selectable(features: Features, device: &Device) -> Option<RuledOut> {
    (!features.device_binding_and_status && !device.binding_conditions.is_empty())
        .then_some(RuledOut::BindingConditionsOff)
}

/// The gate that keeps a selected device from being allocated; without a node, those of the scheduler only. Mirrors
/// `allocator_experimental.go`, `allocateDevice`, v1.37.2.
pub(crate) fn not_allocatable(
    features: Features,
    slice: &Slice,
    device: &Device,
    node: Option<&Node>,
) -> Option<RuledOut> {
    let experimental = features.implementation() == Implementation::Experimental;
    if experimental && !slice.spec.skip_node_operations.is_empty() {
        let declares = |node: &Node| {
            let declared = &mut node.status.declared_features.iter();
            declared.any(|feature| *feature == "DRAOptionalNodeOperations")
        };
        if !features.optional_node_operations || !node.is_none_or(declares) {
            return Some(RuledOut::NodeOperations);
        }
    }
    (!features.partitionable_devices && !device.consumes_counters.is_empty())
        .then_some(RuledOut::PartitionableDevicesOff)
}

impl PoolView {
    /// The first taint that keeps the device from a request with such tolerations, and how many taints were looked at. Mirrors
    /// `allocator_experimental.go`, `taintPreventsAllocation`, v1.37.2.
    pub(crate) fn untolerated<'a>(
        &'a self,
        device: &'a Device,
        tolerations: &Tolerations,
    ) -> (Option<&'a Taint>, usize) {
        let mut looked_at = 0;
        let first = self
            .taints(device)
            .inspect(|_| looked_at += 1)
            .find(|taint| !tolerations.tolerate(taint));
        (first, looked_at)
    }

    /// All that rules the device out for a request for any one device without tolerations, before any device is taken.
    pub(crate) fn rules_out(&self, number: InView, features: Features) -> impl Iterator<Item = RuledOut> {
        let found = &self.devices[number];
        let (slice, device) = (self.slice(found), self.device(found));
        let lack = self.lacks(number).map(RuledOut::of_lack);
        let gate =
            not_selectable(features, device).or_else(|| not_allocatable(features, slice, device, None));
        let tainted = self
            .untolerated(device, &Tolerations::default())
            .0
            .map(|_| RuledOut::Tainted);
        [lack, gate, tainted].into_iter().flatten()
    }
}
