//! `kubectl dra describe`: everything that is known about one object.

mod claim;
mod class;
mod device;
mod events;
mod identity;
mod node;
mod pod;
mod pool;
mod text;
mod words;

pub use claim::{
    AllocationDescription, CLAIM_NEEDS, ClaimDescription, ClaimDevice, ConfigItem, ConstraintItem,
    DeviceReport, EvictionItem, RequestDescription, RequestItem, claim,
};
pub use class::{CLASS_NEEDS, ClassDescription, ClassDevices, DeviceError, class};
pub use device::{DEVICE_NEEDS, DeviceDescription, device};
pub use events::EventItem;
pub use identity::{ConditionItem, Identity};
pub use node::{NODE_NEEDS, NodeDescription, PoolItem, node};
pub use pod::{ContainerItem, POD_NEEDS, PodClaimDescription, PodDescription, Reserved, pod};
pub use pool::{POOL_NEEDS, PoolDescription, SliceItem, pool};
pub use text::{attribute, toleration};
