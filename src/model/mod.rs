//! The cluster as data: slim objects, their identities, quantities, versions and time.
//!
//! Objects are read straight from JSON into structs that hold only what a rule or a column needs. [`Cluster`] keeps them with the
//! indexes derived from them. The model knows nothing of where objects come from or how they are shown; it uses no other directory
//! of the crate.

mod allocation_json;
mod attribute;
mod claim;
mod claim_patch;
mod class;
mod cluster;
mod decode;
mod environment;
mod fields;
mod index;
mod kind;
mod labels;
mod meta;
mod meter;
pub(crate) mod names;
mod node;
mod node_selector;
mod pod;
mod quantity;
mod quote;
mod rbac;
mod release;
mod repeated;
mod semver;
mod slice;
mod text;
mod time;
mod tolerations;
mod version;

pub use attribute::AttributeValue;
pub(crate) use claim::MOST_RESULTS;
pub use claim::{
    AllocatedConfig, AllocatedDevice, Allocation, AllocationMode, CapacityRequirements, Claim, ClaimConfig,
    ClaimSpec, ClaimStatus, ClaimTemplate, ClaimTemplateSpec, Constraint, ConsumerReference,
    DerivedAttribute, DeviceAllocation, DeviceClaim, DeviceRequest, DeviceStatus, FINALIZER, NetworkData,
    Request,
};
pub use claim_patch::{ClaimChange, ClaimPatch, ReservationPatch};
pub use class::{
    CLASS_RESOURCE, CelSelector, Class, ClassConfig, ClassSpec, Config, Selector, TaintRule, TaintRuleSpec,
    TaintRuleStatus, TaintSelector,
};
pub use cluster::{Change, Cluster, ClusterBuilder, Object, Pool, Twin};
pub use decode::{UnknownFields, lookup, with_interner};
pub use environment::{
    AccessReview, Component, Environment, Evidence, Gap, Gate, GateState, SchedulerProfile, Stage,
};
pub use fields::{FieldFault, FieldFaults, FieldProblem, Looking, check_fields, is_similar};
pub(crate) use index::places;
pub use kind::Kind;
pub(crate) use labels::Operator;
pub use labels::{LabelSelector, LabelSelectorError};
pub use meta::{Condition, Key, Managed, Meta, OwnerReference, Writer, uid_of_manifest, uid_of_simulation};
pub use meter::{Meter, TOO_MANY_LOOKS, TOO_MUCH_WORK};
pub use node::{
    DisruptionBudget, DisruptionBudgetSpec, DisruptionBudgetStatus, Event, EventSeries, EventSource,
    IntOrPercent, Node, NodeInfo, NodeSpec, NodeStatus, ObjectReference, PodRequirement, PodSelector, Quota,
    QuotaSpec, QuotaStatus, ScopeRequirement, ScopeSelector,
};
pub use node_selector::{InvalidNodeSelector, NodeRequirement, NodeSelector, NodeSelectorTerm};
pub use pod::{
    Affinity, Bare, Container, ContainerClaim, ContainerEnd, ContainerPort, ContainerStatus,
    ExtendedResourceClaim, Gang, Named, NodeAffinity, POD_CONDITIONS, Pod, PodClaim, PodClaimStatus,
    PodGroup, PodGroupSpec, PodGroupStatus, PodGroupWorkload, PodSpec, PodStatus, PreferredTerm,
    RequestMapping, ResourceHealth, ResourceStatus, Resources, SchedulingGroup, SchedulingPolicy,
};
pub use quantity::{Format, Quantity, QuantityError};
pub use quote::go_quote;
pub use rbac::{PolicyRule, Role, RoleBinding, RoleReference, RoleSubject};
pub use release::Release;
pub use repeated::{Part, Repeated};
pub use semver::{Semver, SemverError};
pub use slice::{
    Capacity, Counter, CounterConsumption, CounterSet, Device, DeviceId, NO_EFFECT, NO_EXECUTE, NO_SCHEDULE,
    PoolId, PoolPart, RequestPolicy, RequestRange, Slice, SliceSpec, Taint,
};
pub use text::{Interner, Str};
pub use time::Time;
pub use tolerations::{Toleration, Tolerations};
pub use version::{InvalidVersion, Version};
