//! The end of the time that `--timeout` gives: what was begun is finished, what was done is told, and a second run goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::termios::{LocalModes, tcgetattr};
use serde_json::Value;

use super::faults::{NAMES, assert_converted, is_write, reset};
use super::{ON, Records, cluster, convert, groups, list};
use crate::support::cluster::Cluster;
use crate::support::cluster::faulty::Fault;
use crate::support::process::{Invocation, Process, Run};
use crate::support::wait::wait_for;

/// Said when the time is over, while requests are in flight.
const EXPIRED: &str = "`--timeout` expired";

/// Said at the end.
const IS_OVER: &str = "timed out after";

/// Fate of a request.
type Fate = fn(&str) -> Fault;

/// A conversion whose time ends while its first write is on its way, and whose further requests meet that fate. A machine that is too
/// busy to come that far gets more time.
fn cut_off_while_writing(
    cluster: &Cluster,
    begin: impl Fn(&str, [String; 2]) -> Invocation,
    then: Fate,
) -> Run {
    for limit in ["--timeout=2s", "--timeout=20s", "--timeout=80s"] {
        let told = Arc::new(AtomicBool::new(false));
        let is_told = Arc::clone(&told);
        let writes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&writes);
        let faulty = cluster.faulty(move |asked, _| {
            if is_write(asked) && counted.fetch_add(1, Ordering::SeqCst) == 0 {
                wait_for("the process says that its time is over", || {
                    is_told.load(Ordering::SeqCst).then_some(())
                });
            }
            if counted_any(&counted) {
                then(asked)
            } else {
                Fault::None
            }
        });
        let mut process = begin(limit, faulty.flags()).start_unguarded();
        wait_for("its time is over", || is_over(&mut process).then_some(()));
        told.store(true, Ordering::SeqCst);
        let run = process.finish().exits(3);
        if writes.load(Ordering::SeqCst) > 0 {
            assert_eq!(writes.load(Ordering::SeqCst), 1, "nothing is begun any more");
            return run;
        }
    }
    panic!("80 s are not enough for the first write");
}

fn counted_any(writes: &AtomicUsize) -> bool {
    writes.load(Ordering::SeqCst) > 0
}

fn is_over(process: &mut Process) -> bool {
    process.stderr().contains(EXPIRED) || process.has_ended()
}

/// Returns how many claims came to that.
fn came_to(run: &Run, outcome: &str) -> u64 {
    let report: Value = serde_json::from_str(&run.stdout).expect("a report");
    report["summary"][outcome].as_u64().unwrap_or_default()
}

/// What is said at the end, on a run that wrote.
#[track_caller]
fn tells_how_to_go_on(run: &Run) {
    for words in [
        IS_OVER,
        "while pass 1: writing claims",
        "run it again to continue where it stopped",
        "backup: ",
        "journal: ",
    ] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
}

#[test]
fn a_timeout_lets_requests_in_flight_finish_and_a_second_run_continues() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let groups_before = NAMES.map(|name| list(&cluster, &format!("claim/{name}")));
    // What becomes of the write that is in flight, and what is said of it: one that took effect is never called one that did not.
    let cases: [(&str, Fate, &str); 4] = [
        ("answered", |_| Fault::None, "Converted"),
        (
            "carried out, and the answer is lost",
            |asked| {
                if is_write(asked) {
                    Fault::After(0)
                } else {
                    Fault::None
                }
            },
            "Converted",
        ),
        (
            "lost",
            |asked| {
                if is_write(asked) {
                    Fault::Close
                } else {
                    Fault::None
                }
            },
            "NotTried",
        ),
        (
            "carried out, and then nothing is ever said again",
            |asked| {
                if is_write(asked) {
                    Fault::After(0)
                } else {
                    Fault::Silence
                }
            },
            "Failed",
        ),
    ];
    for (what, then, outcome) in cases {
        let records = Records::new();
        let run = cut_off_while_writing(
            &cluster,
            |limit, flags| {
                convert(
                    &cluster,
                    &records.backup(),
                    &["--concurrency=1", "-o=json", limit],
                )
                .args(flags)
            },
            then,
        );
        tells_how_to_go_on(&run);
        let total = NAMES.len() as u64;
        let others = if outcome == "NotTried" { total } else { total - 1 };
        assert_eq!(
            (came_to(&run, outcome), came_to(&run, "NotTried")),
            (if outcome == "NotTried" { total } else { 1 }, others),
            "{what}: {}",
            run.stdout
        );
        if outcome == "Failed" {
            assert!(
                run.stdout.contains("it is unknown whether it was written"),
                "{}",
                run.stdout
            );
        }
        if what == "answered" {
            // The one that was written comes back.
            let backup = records.backup().display().to_string();
            let restore = ["convert", "restore", "--yes", "-o=json", "--backup", &backup];
            let restored = cluster.kubectl_dra(restore).run().exits(0);
            assert_eq!(came_to(&restored, "Restored"), 1, "{}", restored.stdout);
            let now = NAMES.map(|name| list(&cluster, &format!("claim/{name}")));
            assert_eq!(now, groups_before);
        }
        convert(&cluster, &records.backup(), &[]).run().exits(0);
        assert_converted(&cluster, what);
        reset(&cluster);
    }
}

#[test]
fn a_restore_that_timed_out_is_continued() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let before = NAMES.map(|name| list(&cluster, &format!("claim/{name}")));
    let records = Records::new();
    convert(&cluster, &records.backup(), &[]).run().exits(0);
    let backup = records.backup().display().to_string();
    let restore = ["convert", "restore", "--yes", "-o=json", "--backup", &backup];
    // All that may be on their way are: the first is held, and the others wait for nothing.
    let told = Arc::new(AtomicBool::new(false));
    let is_told = Arc::clone(&told);
    let faulty = cluster.faulty(move |asked, _| {
        if is_write(asked) {
            wait_for("the process says that its time is over", || {
                is_told.load(Ordering::SeqCst).then_some(())
            });
        }
        Fault::None
    });
    let mut process = cluster
        .kubectl_dra(restore)
        .args(["--timeout=3s"])
        .args(faulty.flags())
        .start_unguarded();
    wait_for("its time is over", || is_over(&mut process).then_some(()));
    told.store(true, Ordering::SeqCst);
    let run = process.finish().exits(3);
    assert!(run.stderr.contains(IS_OVER), "{}", run.stderr);
    cluster.kubectl_dra(restore).run().exits(0);
    let now = NAMES.map(|name| list(&cluster, &format!("claim/{name}")));
    assert_eq!(now, before);
}

#[test]
fn before_anything_is_written_the_end_of_the_time_is_the_end() {
    let cluster = cluster();
    groups(&cluster, &["a"], 2);
    let before = list(&cluster, "claim/a");
    let silent: [(&str, &str); 4] = [
        (
            "selfsubjectaccessreviews",
            "asking the API server for permission to write claims",
        ),
        (
            "dryRun=All",
            "asking the API server for permission to write claims",
        ),
        ("/resourceclaims", "reading http://"),
        ("/podgroups", "reading http://"),
    ];
    for (part, doing) in silent {
        let records = Records::new();
        let faulty = cluster.faulty(move |asked, _| {
            let path = asked.split('?').next().unwrap_or_default();
            if path.ends_with(part) || asked.ends_with(part) {
                Fault::Silence
            } else {
                Fault::None
            }
        });
        let run = convert(&cluster, &records.backup(), &["--timeout=3s"])
            .args(faulty.flags())
            .run()
            .exits(3);
        assert!(run.stderr.contains(IS_OVER), "{part}: {}", run.stderr);
        // A busy machine may not come as far as that.
        let came_there = faulty.asked().iter().any(|asked| asked.contains(part));
        assert!(
            !came_there || run.stderr.contains(doing),
            "{part}: {}",
            run.stderr
        );
        assert!(
            !records.backup().exists() && !records.journal().exists(),
            "{part}"
        );
        assert_eq!(list(&cluster, "claim/a"), before, "{part}");
    }
    // A question waits for no answer either, and the terminal is as it was before.
    let (process, keyboard) = cluster
        .kubectl_dra(["convert", ON, "--timeout=3s"])
        .start_at_terminal();
    let modes = |keyboard: &std::fs::File| tcgetattr(keyboard).expect("a terminal").local_modes;
    let run = process.finish().exits(3);
    assert!(run.stderr.contains(IS_OVER), "{}", run.stderr);
    assert!(
        modes(&keyboard).contains(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHO),
        "keys go one by one still"
    );
    if run.stderr.contains("Write?") {
        assert!(
            run.stderr.contains("\u{1b}[?25h"),
            "there is no cursor: {:?}",
            run.stderr
        );
    }
    assert_eq!(list(&cluster, "claim/a"), before);
}

#[test]
fn a_conversion_that_waits_ends_although_no_answer_comes_any_more() {
    let cluster = cluster();
    groups(&cluster, &["a"], 2);
    let records = Records::new();
    let faulty = cluster.faulty({
        let written = AtomicBool::new(false);
        move |asked, _| {
            if is_write(asked) {
                written.store(true, Ordering::SeqCst);
                return Fault::None;
            }
            if written.load(Ordering::SeqCst) {
                Fault::Silence
            } else {
                Fault::None
            }
        }
    });
    let run = convert(
        &cluster,
        &records.backup(),
        &["--wait", "--timeout=3s", "-o=json"],
    )
    .args(faulty.flags())
    .run()
    .exits(3);
    assert!(run.stderr.contains(IS_OVER), "{}", run.stderr);
    if records.written() > 0 {
        assert_eq!(came_to(&run, "Converted"), 1, "{}", run.stdout);
    }
}
