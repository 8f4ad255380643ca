//! Backups and journals that were damaged, that are full disks' or others', on a real control plane: what is not certain is refused and
//! told, and every claim has a row that is true.

use serde_json::Value;

use super::faults::{NAMES, assert_converted, reset};
use super::{ON, Records, cluster, convert, groups, list};
use crate::support::cluster::Cluster;
use crate::support::cluster::faulty::Fault;
use crate::support::process::Run;
use crate::support::wait::wait_for;

fn outcomes(run: &Run) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let report: Value = serde_json::from_str(&run.stdout).expect("a report");
    let claims = report["claims"].as_array().expect("claims");
    claims
        .iter()
        .map(|claim| format!("{} {}", text(&claim["name"]), text(&claim["outcome"])))
        .collect()
}

fn all(outcome: &str) -> Vec<String> {
    NAMES.iter().map(|name| format!("{name} {outcome}")).collect()
}

fn lists(cluster: &Cluster) -> Vec<String> {
    NAMES
        .iter()
        .map(|name| list(cluster, &format!("claim/{name}")))
        .collect()
}

#[test]
fn a_damaged_journal_restores_what_it_knows_and_refuses_the_rest() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let before = lists(&cluster);
    let records = Records::new();
    convert(&cluster, &records.backup(), &["--concurrency=1"])
        .run()
        .exits(0);
    let converted = lists(&cluster);
    let whole = std::fs::read_to_string(records.journal()).expect("the journal");
    let backup = records.backup().display().to_string();
    let restore = |more: &[&str]| {
        cluster
            .kubectl_dra(["convert", "restore", "--yes", "--backup", &backup, "-o", "json"])
            .args(more)
            .run()
    };
    // Of no conversion, and of another one.
    for journal in [
        "",
        "{\"event\":\"Start\",\"time\":\"2026-11-21T12:00:00.000Z\",\"server\":\"https://b\",\"final\":false,\"restore\":false,\"leaseHolders\":{}}\n",
    ] {
        std::fs::write(records.journal(), journal).expect("written");
        let run = restore(&[]).exits(1);
        assert_eq!(outcomes(&run), all("Refused"), "{journal:?}");
        assert!(
            run.stdout.contains("the complete journal with `--journal`"),
            "{}",
            run.stdout
        );
        assert_eq!(lists(&cluster), converted);
    }
    // No journal at all.
    for content in [Some(&b"\0\xffgarbage"[..]), Some(b"one line"), None] {
        match content {
            Some(content) => std::fs::write(records.journal(), content).expect("written"),
            None => std::fs::remove_file(records.journal()).expect("removed"),
        }
        let run = restore(&[]).exits(3);
        assert!(run.stderr.contains("a.journal.jsonl"), "{}", run.stderr);
    }
    // Up to the second write.
    let second = whole
        .match_indices("{\"event\":\"Write\"")
        .nth(2)
        .expect("a third write")
        .0;
    for cut in [second, second + 40] {
        std::fs::write(records.journal(), &whole[..cut]).expect("written");
        let rehearsed = restore(&["--dry-run=server"]).exits(1);
        let outcomes = outcomes(&rehearsed);
        assert_eq!(
            outcomes
                .iter()
                .filter(|row| row.ends_with(" WouldRestore"))
                .count(),
            2,
            "{outcomes:?}"
        );
        assert_eq!(
            outcomes.iter().filter(|row| row.ends_with(" Refused")).count(),
            2,
            "{outcomes:?}"
        );
    }
    // A backup that lost a claim.
    std::fs::write(records.journal(), &whole).expect("written");
    let text = std::fs::read_to_string(records.backup()).expect("the backup");
    let mut cut: Value = serde_json::from_str(&text).expect("JSON");
    let lost = cut["items"].as_array_mut().expect("items").remove(0);
    std::fs::write(records.backup(), cut.to_string()).expect("written");
    let rehearsed = restore(&["--dry-run=server"]).exits(1);
    let row = format!("{} Refused", lost["metadata"]["name"].as_str().expect("a name"));
    assert!(outcomes(&rehearsed).contains(&row), "{:?}", outcomes(&rehearsed));
    for content in ["", &text[..text.len() / 2], "{}"] {
        std::fs::write(records.backup(), content).expect("written");
        let run = restore(&[]).exits(3);
        assert!(run.stderr.contains("a.backup.json"), "{}", run.stderr);
    }
    assert_eq!(lists(&cluster), converted, "nothing was written");
    // Whole again.
    std::fs::write(records.backup(), &text).expect("written");
    let run = restore(&[]).exits(0);
    assert_eq!(outcomes(&run), all("Restored"));
    assert_eq!(lists(&cluster), before);
    // What is as it was needs no journal.
    std::fs::write(records.journal(), "").expect("written");
    assert_eq!(outcomes(&restore(&[]).exits(0)), all("AlreadyDone"));
}

#[test]
fn one_backup_is_for_one_conversion_at_a_time() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let records = Records::new();
    let goes_on = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = std::sync::Arc::clone(&goes_on);
    let faulty = cluster.faulty(move |asked, _| {
        if super::faults::is_write(asked) {
            wait_for("the others were refused", || {
                told.load(std::sync::atomic::Ordering::SeqCst).then_some(())
            });
        }
        Fault::None
    });
    let first = convert(&cluster, &records.backup(), &[])
        .args(faulty.flags())
        .start_unguarded();
    wait_for("it writes", || (records.written() > 0).then_some(()));
    let other = records.folder.path().join("other.jsonl").display().to_string();
    let backup = records.backup().display().to_string();
    let second = convert(&cluster, &records.backup(), &["--journal", &other])
        .run()
        .exits(3);
    let third = convert(&cluster, &records.backup(), &[]).run().exits(3);
    let restore = cluster
        .kubectl_dra(["convert", "restore", "--yes", "--backup", &backup])
        .run()
        .exits(3);
    for run in [second, third, restore] {
        assert!(
            run.stderr.contains("belongs to a running conversion") && run.stderr.contains(&backup),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("choose other files"), "{}", run.stderr);
    }
    assert!(!records.folder.path().join("other.jsonl").exists());
    // A kill leaves no lock.
    first.signal(rustix::process::Signal::KILL);
    goes_on.store(true, std::sync::atomic::Ordering::SeqCst);
    drop(first.finish());
    convert(&cluster, &records.backup(), &[]).run().exits(0);
    assert_converted(&cluster, "after the kill");
}

#[test]
fn a_disk_that_is_full_leaves_no_claim_without_a_row() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let before = lists(&cluster);
    let limited = |records: &Records, blocks: u64| {
        let program = env!("CARGO_BIN_EXE_kubectl-dra");
        let backup = records.backup().display().to_string();
        // Writes beyond the limit fail as those on a full disk do.
        let line = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {program} convert --yes {ON} -o json --backup={backup}"
        );
        cluster.shell(&line).run()
    };
    // No room for the backup.
    let records = Records::new();
    let run = limited(&records, 0).exits(3);
    assert_eq!(outcomes(&run), all("NotTried"), "{}", run.stdout);
    assert!(run.stderr.contains("free some space"), "{}", run.stderr);
    assert_eq!(lists(&cluster), before);
    let left: Vec<_> = records
        .folder
        .path()
        .read_dir()
        .expect("a folder")
        .map(|file| file.expect("a file").file_name())
        .collect();
    assert!(left.len() <= 1, "{left:?}");
    // Less and less room for the journal, beside a backup that is there: a shell's blocks have 512 bytes, or 1024.
    let size = |records: &Records| records.journal().metadata().map_or(0, |metadata| metadata.len());
    let whole = {
        let records = Records::new();
        convert(&cluster, &records.backup(), &["-o", "json"])
            .run()
            .exits(0);
        reset(&cluster);
        records.backup().metadata().expect("a backup").len()
    };
    let mut seen = std::collections::BTreeSet::new();
    for room in [0, 512, 1024, 2048, 3072] {
        reset(&cluster);
        let records = Records::new();
        // A journal of earlier runs fills the disk but for this much.
        let line = "{\"event\":\"Start\",\"time\":\"2026-11-21T12:00:00.000Z\",\"server\":\"https://b\"}\n";
        let blocks = 2 * whole.div_ceil(512) + 8;
        let full = usize::try_from(blocks * 512 - room).expect("a size");
        let earlier = line.repeat(full / line.len());
        std::fs::write(records.journal(), &earlier).expect("written");
        let run = limited(&records, blocks);
        if run.code == Some(0) {
            continue;
        }
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        let rows = outcomes(&run);
        assert_eq!(rows.len(), NAMES.len(), "{rows:?}");
        for (name, row) in NAMES.iter().zip(&rows) {
            let pods = cluster.reservations_of(&format!("claim/{name}"))
                == [format!("pods/{name}-0"), format!("pods/{name}-1")];
            seen.insert(pods);
            assert_eq!(row == &format!("{name} Converted"), pods, "{rows:?}");
            assert!(pods || row == &format!("{name} NotTried"), "{rows:?}");
        }
        assert!(size(&records) <= blocks * 1024);
        convert(&cluster, &records.backup(), &[]).run().exits(0);
        assert_converted(&cluster, "with room again");
    }
    assert!(seen.contains(&false), "the disk was never full");
}
