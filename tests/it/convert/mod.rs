//! `kubectl dra convert` on objects read from real clusters.

mod apply;
mod examples;
mod files;
mod plan;
mod runbook;
mod verify;

use crate::support::command::dra;
use crate::support::process::Invocation;

/// A command on the snapshot file of that name, with everything that the file does not say.
fn on(args: &[&str], snapshot: &str, more: &[&str]) -> Invocation {
    let file = format!("tests/data/snapshots/{snapshot}.yaml");
    dra(&[args, &["--from", &file], more].concat())
}

/// 1.37 with the gates that PodGroups need.
const GATES_ON: [&str; 4] = [
    "--kubernetes-version",
    "1.37",
    "--feature-gates",
    "GenericWorkload=true,DRAWorkloadResourceClaims=true",
];
