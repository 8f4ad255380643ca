//! The controllers at work beside a live cluster: watches, answers and timers drive the engine, and what it wants is carried out or noted.
//!
//! One task owns the engine. Deciding never waits for the API server: what has to be asked for is asked by tasks of their own, whose
//! answers come back through a channel.

mod carrying;
mod clock;
pub mod conversion;
mod done;
mod events;
mod glance;
mod ground;
mod health;
mod lease;
mod limiter;
mod looking;
mod metrics;
mod news;
mod office;
mod own;
mod preflight;
mod probes;
mod queues;
mod refusal;
mod report;
mod rights;
mod rules;
mod shadowing;
mod supplementing;
mod taking_over;

pub use done::Done;
pub use glance::Glance;
pub use ground::Recheck;
pub use lease::{Holder, Standing, holder};
pub use news::News;
pub use preflight::{Proof, Rival, may_replace};
pub use probes::{Operation, Probes};
pub use report::{Failure, Report, Trouble, check_gates};
pub use rights::{rights, supplement_rights};
pub use shadowing::{Ending, Happening, Watching, needed, shadow};
pub use supplementing::{Supplementing, supplement};
pub use taking_over::{Working, default_workers, take_over};
