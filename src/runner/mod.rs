//! The controllers at work beside a live cluster: watches, answers and timers drive the engine, and what it wants is carried out or noted.
//!
//! One task owns the engine. Deciding never waits for the API server: what has to be asked for is asked by tasks of their own, whose
//! answers come back through a channel.

mod clock;
mod health;
#[expect(dead_code, reason = "its user is the mode that writes")]
mod lease;
mod metrics;
mod probes;
mod shadowing;

pub use probes::{Operation, Probes};
pub use shadowing::{Ending, Happening, NEEDS, Watching, shadow};
