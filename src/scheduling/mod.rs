//! From a pod to the nodes that can take it: the plain filters of the scheduler in its order, and what its plugin for dynamic
//! resources checks around the allocator.

mod plain;
mod requests;

pub use plain::{Plain, PlainFilters, not_simulated};
pub use requests::{Amounts, Usage, pod_requests};
