//! The commands that look, on objects read from real clusters.
//!
//! Inline snapshots show what people see. `recompute` checks every cell of every snapshot file with a script of its own.

mod cel;
mod claims;
mod describe_devices;
mod describe_objects;
mod devices;
mod diff;
mod forms;
mod map;
mod recompute;
mod reserved;
mod schemas;
mod status;
mod taints;

use crate::support::command::dra;
use crate::support::process::Invocation;

/// The time at which all of them look: some 45 minutes after the objects were read.
const NOW: &str = "2026-11-21T11:00:00Z";

/// A command on the snapshot file of that name.
fn look(args: &[&str], snapshot: &str) -> Invocation {
    let file = format!("tests/data/snapshots/{snapshot}.yaml");
    dra(&[args, &["--from", &file, "--now", NOW]].concat())
}
