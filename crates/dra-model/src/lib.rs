//! The cluster as data: slim objects, their identities, quantities, versions and time.
//!
//! Objects are read straight from JSON into structs that hold only what a rule or a column needs. [`Cluster`] keeps them with the
//! indexes derived from them. The model knows nothing of where objects come from or how they are shown. What its fields consist of is
//! in `dra-values`, and handed on here.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read what they made")
)]

mod allocation_json;
mod claim;
mod claim_patch;
mod class;
mod cluster;
mod decoded;
mod environment;
mod fields;
mod kind;
mod labels;
mod meta;
mod newer;
mod node;
mod node_selector;
mod owners;
mod pod;
mod rbac;
mod release;
mod slice;
mod tolerations;
mod version;

pub use claim::{
    AllocatedConfig, AllocatedDevice, Allocation, AllocationMode, CapacityRequirements, Claim, ClaimConfig,
    ClaimSpec, ClaimStatus, ClaimTemplate, ClaimTemplateSpec, Constraint, ConsumerReference,
    DerivedAttribute, DeviceAllocation, DeviceClaim, DeviceRequest, DeviceStatus, FINALIZER, NetworkData,
    Request,
};
pub use claim::{MOST_ALTERNATIVES, MOST_CONSUMERS, MOST_RESULTS};
pub use claim_patch::{ClaimChange, ClaimPatch, ReservationPatch};
pub use class::{
    CLASS_RESOURCE, CelSelector, Class, ClassConfig, ClassSpec, Config, Selector, TaintRule, TaintRuleSpec,
    TaintRuleStatus, TaintSelector,
};
pub use cluster::evidence::CREATION_EVENT;
pub use cluster::{Change, Cluster, ClusterBuilder, Object, Pool, Twin};
pub use environment::{
    AccessReview, Component, Environment, Evidence, Gap, Gate, GateState, ReleaseEvidence, SchedulerProfile,
    Stage,
};
pub use fields::{FieldFault, FieldFaults, FieldProblem, Looking, check_fields, field_paths};
pub use kind::Kind;
pub use labels::Operator;
pub use labels::{LabelSelector, LabelSelectorError};
pub use meta::{Condition, Key, Managed, Meta, OwnerReference, Writer, uid_of_manifest, uid_of_simulation};
pub use newer::{NewerField, NewerFields};
pub use node::{
    DisruptionBudget, DisruptionBudgetSpec, DisruptionBudgetStatus, Event, EventSeries, EventSource,
    INSTANCE_TYPE, Node, NodeInfo, NodeSpec, NodeStatus, ObjectReference, PodRequirement, PodSelector, Quota,
    QuotaSpec, QuotaStatus, ScopeRequirement, ScopeSelector,
};
pub use node_selector::{InvalidNodeSelector, NodeRequirement, NodeSelector, NodeSelectorTerm};
pub use owners::{Gathers, Owner, Owners, Strategy};
pub use pod::{
    Affinity, Bare, Container, ContainerClaim, ContainerEnd, ContainerPort, ContainerStatus,
    ContainerWaiting, ExtendedResourceClaim, Gang, Named, NodeAffinity, POD_CONDITIONS, Pod, PodAffinity,
    PodAffinityTerm, PodClaim, PodClaimStatus, PodGroup, PodGroupSpec, PodGroupStatus, PodSpec, PodStatus,
    RequestMapping, ResourceHealth, ResourceStatus, Resources, SchedulingGroup, SchedulingPolicy,
};
pub use rbac::{PolicyRule, Role, RoleBinding, RoleReference, RoleSubject};
pub use release::Release;
pub use slice::{
    Capacity, Counter, CounterConsumption, CounterSet, Device, DeviceId, NO_EFFECT, NO_EXECUTE, NO_SCHEDULE,
    NodeAllocatable, NodeMapping, NodeOverhead, PoolId, PoolPart, RequestPolicy, RequestRange, Slice,
    SliceSpec, Taint,
};
pub use tolerations::{Toleration, Tolerations};
pub use version::{InvalidVersion, Version};

pub use dra_values::{
    AttributeValue, Format, Interner, Meter, Part, Quantity, QuantityError, Repeated, Semver, SemverError,
    Str, TOO_MANY_LOOKS, TOO_MUCH_SEARCH, TOO_MUCH_WORK, Time, UnknownFields, by_number, go_quote,
    is_similar, json, lookup, names, with_interner,
};
