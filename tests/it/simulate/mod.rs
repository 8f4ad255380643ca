//! The commands that simulate, and `explain`, on objects read from real clusters.

mod allocation;
mod doubts;
mod eviction;
mod eviction_history;
mod eviction_input;
mod explain;
mod explain_all;
mod explain_screen;
mod owners;
mod plugin;

use std::path::PathBuf;

use crate::support::command::dra;
use crate::support::process::Invocation;

/// The time at which all of them look.
const NOW: &str = "2026-11-21T11:00:00Z";

/// A command on the snapshot file of that name.
fn on(args: &[&str], snapshot: &str) -> Invocation {
    let file = format!("tests/data/snapshots/{snapshot}.yaml");
    let version = ["--kubernetes-version", "1.37"];
    dra(&[args, &["--from", &file, "--now", NOW], &version].concat())
}

/// A manifest in a folder that goes away with the value.
struct Manifest {
    folder: tempfile::TempDir,
}

impl Manifest {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(folder.path().join("manifest.yaml"), text).expect("the manifest is written");
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("manifest.yaml")
    }
}
