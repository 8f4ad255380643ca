//! The facts about a device, each asked in one place: who holds it, what is left of its capacity and of its counters, whether its
//! pool can be used, which nodes reach it, which classes it belongs to, and which taints it has.
//!
//! The allocator, the eviction, the scheduler's plugin, simulations and reports stand on this floor. It looks at one device or pool
//! at a time; which devices serve a claim together is the business of `allocator`.
//!
//! - `facts`, `change`: a cluster prepared for these questions, and its changes;
//! - `features`: the gates that decide which facts count;
//! - `allocated`, `inventory`: what allocated claims take, for the scheduler and for readers;
//! - `capacity`, `counters`: amounts;
//! - `pools`: what a node sees of a pool, and whether it can be used;
//! - `reach`: which nodes reach a device;
//! - `selectors`, `classes`: expressions, and the classes that they make;
//! - `rules`, `taints`: DeviceTaintRules, and the taints of a device;
//! - `judge`: the checks that rule a device out for a request.

mod allocated;
mod capacity;
mod change;
mod classes;
mod counters;
mod facts;
mod features;
mod inventory;
mod judge;
mod overlay;
mod pools;
mod reach;
mod rules;
mod selectors;
mod taints;

pub use capacity::named_otherwise;
pub(crate) use capacity::{Need, need, takes_all, units};
pub use classes::{ClassSelectors, DeviceClasses, Match, SelectableDevice};
pub(crate) use counters::{Compatibility, CounterIx, Counters, InView, SetIx, Usage};
pub use counters::{PoolFault, pool_fault};
pub use facts::Facts;
pub use features::{Features, Implementation, expressions_of_new_objects};
pub use inventory::{
    CounterBalance, DeviceState, Holder, Inventory, PoolCounters, PoolFacts, Unavailable, is_allocated_twice,
};
pub use judge::RuledOut;
pub(crate) use judge::{not_allocatable, not_selectable};
pub use pools::PoolStatus;
pub(crate) use pools::{LOOKS_PER_OBJECT, Lack, PoolDevice, PoolView};
pub use reach::{DeviceNode, Nodes, WantedNode, node_of};
pub use rules::{
    Rules, bare_rule_is_about_all, rule_matches, rule_matches_in_pool, rule_matches_pool, rules_of_scheduler,
};
pub(crate) use selectors::DerivedAttribute;
pub use selectors::{CachedSelector, SelectorError, first_unmatched, known_names, slice_device};
pub use taints::{DeviceTaint, Origin, RuleSupport, Taints, keeps_off, rule_says_unhealthy, says_unhealthy};
