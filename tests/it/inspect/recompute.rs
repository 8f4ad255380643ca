//! Every cell of the listings, recomputed from the objects by a script that shares no code with the program.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::NOW;
use crate::support::command::dra;
use dra_testing::effort::some_of;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn snapshots() -> Vec<PathBuf> {
    let folder = Path::new(DATA).join("snapshots");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of snapshots")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    files
}

/// Returns what the script says of the outputs in `folder`.
fn recompute(folder: &Path) -> Result<String, String> {
    let output = Command::new("python3")
        .arg(Path::new(DATA).join("recompute.py"))
        .arg(folder.join("objects.json"))
        .arg(NOW)
        .arg(folder)
        .output()
        .expect("python3 is there");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(said)
    } else {
        Err(said)
    }
}

/// Writes the objects of `snapshot` and what the commands make of them into `folder`.
fn outputs(snapshot: &Path, folder: &Path) {
    let yaml = std::fs::read_to_string(snapshot).expect("a snapshot");
    let objects: Value = serde_saphyr::from_str(&yaml).expect("YAML");
    std::fs::write(folder.join("objects.json"), objects.to_string()).expect("a file");
    let from = snapshot.to_str().expect("a path in UTF-8");
    for command in ["claims", "reserved", "devices", "taints"] {
        for (format, extension) in [("wide", "txt"), ("json", "json")] {
            let run = dra(&[command, "-A", "-o", format, "--from", from, "--now", NOW])
                .run()
                .exits(0);
            std::fs::write(folder.join(format!("{command}.{extension}")), run.stdout).expect("a file");
        }
    }
}

#[test]
fn every_cell_of_every_snapshot_is_what_the_script_recomputes() {
    let mut failures = Vec::new();
    for snapshot in some_of(&snapshots(), 8) {
        let folder = tempfile::tempdir().expect("a temporary directory");
        outputs(snapshot, folder.path());
        if let Err(said) = recompute(folder.path()) {
            failures.push(format!("{}:\n{said}", snapshot.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_script_finds_a_wrong_cell_a_wrong_field_and_a_missing_row() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let folder = folder.path();
    outputs(&Path::new(DATA).join("snapshots/stale-reservations.yaml"), folder);
    let change = |name: &str, from: &str, to: &str| {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).expect("an output");
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed, "{name} has no `{from}`");
        std::fs::write(&path, changed).expect("a file");
        let said = recompute(folder).expect_err("a difference");
        std::fs::write(&path, text).expect("a file");
        said
    };
    assert_eq!(
        change("reserved.txt", "OtherUID", "Running "),
        "reserved: row 6, STATUS: 'Running', expected 'OtherUID'\n441 cells compared, 1 differences\n"
    );
    assert_eq!(
        change("devices.json", r#""state": "Free""#, r#""state": "Shared""#),
        "devices.items[3].state is 'Shared', expected 'Free'\n441 cells compared, 1 differences\n"
    );
    let claims = std::fs::read_to_string(folder.join("claims.txt")).expect("an output");
    let last = claims.lines().last().expect("a row");
    assert_eq!(
        change("claims.txt", last, ""),
        "claims: 5 rows, expected 6\n441 cells compared, 1 differences\n"
    );
    assert!(recompute(folder).is_ok());
}
