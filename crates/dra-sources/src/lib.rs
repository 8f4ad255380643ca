//! Sources of objects: files, examples and the API server; snapshots, and output files.
//!
//! Sources hand over objects as they were written, one by one; what is in them is decoded into the model by `model`.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read what they made")
)]

pub mod bundle;
mod decode;
pub mod destination;
pub mod examples;
pub mod files;
mod gates;
mod gone;
pub mod live;
mod load;
mod manifests;
mod needs;
mod recognize;
mod scheduler_config;
mod successor;
mod upgrade;
mod workloads;

pub use gates::{GateSetting, MinorVersion, VersionSettings, go_bool};
pub use load::{LoadError, Refused, Request, document_of, files_read, load};
pub use manifests::{Daemon, MOST_PODS, Manifests, Old, OldPods, Validate, Workload, manifests};
pub use needs::{Loaded, Needs, Observer, Problem, Unobserved};
pub use successor::{Successor, SuccessorError};
