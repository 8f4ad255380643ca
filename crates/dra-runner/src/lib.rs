//! The controllers at work beside a live cluster: watches, answers and timers drive the engine, and what it wants is carried out or noted.
//!
//! `manager` has the loop that all modes share: [`shadow()`] compares, [`supplement()`] writes what the built-in controllers leave undone,
//! [`take_over()`] replaces them. `export` watches and computes metrics. Other files are named after what client-go and controller-runtime have: `leader_election`, `worker`,
//! `rate_limiter`, `events`, `metrics`, `health`, `probes`. Besides, `drift` detects that the rules no longer fit the cluster, and `rivals`
//! that another controller does the same work.

mod api_error;
mod clock;
mod comparison;
pub mod conversion;
mod drift;
mod events;
mod export;
mod failure;
mod health;
mod leader_election;
mod lease;
mod lookup;
mod manager;
mod message;
mod metrics;
mod preflight;
mod probes;
mod rate_limiter;
mod rights;
mod rivals;
mod rules;
mod shadow;
mod status;
mod supplement;
mod take_over;
mod telemetry;
mod worker;
mod workqueue_metrics;

pub use drift::Recheck;
pub use export::{Exporter, Part};
pub use failure::{Failure, check_gates};
pub use lease::{Holder, holder};
pub use manager::{Listed, Options, Writing};
pub use message::Message;
pub use preflight::{Proof, Rival, may_replace};
pub use probes::{Endpoint, Probes};
pub use rights::{rights, supplement_rights};
pub use rules::needed;
pub use shadow::{Ending, shadow};
pub use status::{JobCounts, Status};
pub use supplement::supplement;
pub use take_over::{TakeOver, default_workers, take_over};
pub use telemetry::Telemetry;
