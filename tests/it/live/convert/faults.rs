//! Faults during a conversion: rejections, lost responses, unavailable servers, kills. In the end the claims are right,
//! or the exit code says that they are not and a second run makes them so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicUsize, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{ON, Records, cluster, convert, groups};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::{Cluster, Component};
use crate::support::wait::wait_for;
use dra_testing::effort::by_effort;

pub(super) const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Fault of a write, by attempt.
type Script = fn(usize) -> Fault;

/// Brings the groups' entries back.
pub(super) fn reset(cluster: &Cluster) {
    for name in NAMES {
        let group = cluster.get(&format!("podgroup/{name}"));
        cluster.update_status(&format!("claim/{name}"), |claim| {
            claim["status"]["reservedFor"] = json!([{"apiGroup": "scheduling.k8s.io", "resource": "podgroups",
                "name": name, "uid": group["metadata"]["uid"]}]);
        });
    }
}

#[track_caller]
pub(super) fn assert_converted(cluster: &Cluster, what: &str) {
    for name in NAMES {
        assert_eq!(
            cluster.reservations_of(&format!("claim/{name}")),
            [format!("pods/{name}-0"), format!("pods/{name}-1")],
            "{what}"
        );
    }
}

pub(super) fn is_write(asked: &str) -> bool {
    asked.starts_with("PATCH ") && !asked.contains("dryRun")
}

pub(super) fn refusal(code: u16, headers: &'static str) -> Fault {
    Fault::Refusal(code, headers, "not now".to_owned())
}

pub(super) fn refusal_with(code: u16, message: &str) -> Fault {
    Fault::Refusal(code, "", message.to_owned())
}

#[test]
fn writes_that_meet_trouble_are_done_once_and_all_the_same() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let cases: [(&str, Script); 6] = [
        ("429 with Retry-After", |before| {
            if before == 0 {
                refusal(429, "Retry-After: 1\r\n")
            } else {
                Fault::None
            }
        }),
        ("storm of 409", |before| {
            if before < 4 { refusal(409, "") } else { Fault::None }
        }),
        ("500 before the write", |before| {
            if before == 0 {
                refusal(500, "")
            } else {
                Fault::None
            }
        }),
        ("500 after the write took effect", |before| {
            if before == 0 {
                Fault::After(500)
            } else {
                Fault::None
            }
        }),
        ("no answer after the write took effect", |before| {
            if before == 0 { Fault::After(0) } else { Fault::None }
        }),
        ("no answer before the write", |before| {
            if before == 0 { Fault::Close } else { Fault::None }
        }),
    ];
    for (what, script) in cases {
        reset(&cluster);
        let faulty = cluster.faulty(move |asked, before| {
            if is_write(asked) {
                script(before)
            } else {
                Fault::None
            }
        });
        let run = convert(&cluster, &Records::new().backup(), &["-o", "json"])
            .args(faulty.flags())
            .run();
        assert_eq!(run.code, Some(0), "{what}: {}\n{}", run.stdout, run.stderr);
        assert_converted(&cluster, what);
        let after = what.contains("took effect");
        let writes = faulty.asked().iter().filter(|asked| is_write(asked)).count();
        if after {
            assert_eq!(writes, NAMES.len(), "{what}: no write is sent twice");
        }
    }
}

#[test]
fn a_kill_at_any_moment_is_followed_by_a_run_that_continues() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    killed_at_every_moment(&cluster, &[], NAMES.len(), || reset(&cluster), &|moment| {
        assert_converted(&cluster, moment);
    });
}

/// Time at which a conversion is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// Its request of that number got no farther than the proxy.
    Request(usize),
    /// Its write of that number took effect, and it did not hear so.
    Answer(usize),
}

/// Kills `convert ARGS…` before each request that it sends (with small effort before some), and after each of its `writes` took effect and before its answer; each time a
/// second run makes what `assert_right` wants of what `reset` has made.
pub(super) fn killed_at_every_moment(
    cluster: &Cluster,
    args: &[&str],
    writes: usize,
    reset: impl Fn(),
    assert_right: &dyn Fn(&str),
) {
    let is_killed = |moment: Moment| {
        reset();
        let records = Records::new();
        let killed = killed_at(cluster, &records, args, moment);
        let again = convert(cluster, &records.backup(), args).run();
        assert_eq!(
            again.code,
            Some(0),
            "{moment:?}: {}\n{}",
            again.stdout,
            again.stderr
        );
        assert_right(&format!("{moment:?}"));
        killed
    };
    let stride = by_effort(4, 1, 1);
    let requests = (0..)
        .step_by(stride)
        .take_while(|number| is_killed(Moment::Request(*number)));
    let requests = requests.count();
    // It reads, too.
    assert!(requests * stride > writes, "only {requests} kills");
    for number in 0..writes {
        assert!(is_killed(Moment::Answer(number)), "there is no write {number}");
    }
}

/// Returns whether `convert ARGS…` got as far as `moment`, where it was killed.
fn killed_at(cluster: &Cluster, records: &Records, args: &[&str], moment: Moment) -> bool {
    let pid = Arc::new(AtomicU32::new(0));
    let victim = Arc::clone(&pid);
    let kill = move || {
        let raw = wait_for("the process has a number", || {
            i32::try_from(victim.load(Ordering::SeqCst))
                .ok()
                .and_then(Pid::from_raw)
        });
        // It is a child that has not been waited for, so the number is still its own.
        let _ = kill_process(raw, Signal::KILL);
    };
    // The answer of the API server to a write that was carried out.
    let answered = Arc::new(AtomicU16::new(0));
    let carried_out = Arc::clone(&answered);
    let before = AtomicUsize::new(0);
    let faulty = cluster.faulty(move |asked, _| match moment {
        Moment::Request(number) if before.fetch_add(1, Ordering::SeqCst) == number => {
            kill();
            Fault::Close
        }
        Moment::Answer(number) if is_write(asked) && before.fetch_add(1, Ordering::SeqCst) == number => {
            let (kill, carried_out) = (kill.clone(), Arc::clone(&carried_out));
            Fault::Late(Arc::new(move |status| {
                carried_out.store(status, Ordering::SeqCst);
                kill();
            }))
        }
        _ => Fault::None,
    });
    let process = convert(cluster, &records.backup(), &["--concurrency=1"])
        .args(args)
        .args(faulty.flags())
        .start_unguarded();
    pid.store(process.id(), Ordering::SeqCst);
    let run = process.finish();
    let is_killed = run.signal == Some(Signal::KILL.as_raw());
    if !is_killed {
        // The run came to its end before.
        assert_eq!(run.code, Some(0), "{moment:?}: {}\n{}", run.stdout, run.stderr);
    } else if let Moment::Answer(_) = moment {
        assert_eq!(answered.load(Ordering::SeqCst), 200, "{moment:?}");
    }
    is_killed
}

#[test]
fn a_signal_lets_what_is_in_flight_finish_and_nothing_begin() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    for signal in [Signal::INT, Signal::TERM] {
        reset(&cluster);
        interrupted_by(&cluster, signal);
    }
}

fn interrupted_by(cluster: &Cluster, signal: Signal) {
    let told = Arc::new(AtomicBool::new(false));
    let goes_on = Arc::clone(&told);
    let faulty = cluster.faulty(move |asked, _| {
        if is_write(asked) {
            wait_for("the process knows of the signal", || {
                goes_on.load(Ordering::SeqCst).then_some(())
            });
        }
        Fault::None
    });
    let writes = || faulty.asked().iter().filter(|asked| is_write(asked)).count();
    let records = Records::new();
    let process = convert(cluster, &records.backup(), &["--concurrency=1"])
        .args(faulty.flags())
        .start_unguarded();
    wait_for(
        "the first write is on its way, and the others are to follow",
        || (writes() == 1 && records.written() == NAMES.len()).then_some(()),
    );
    process.signal(signal);
    wait_for("the process says that it knows of the signal", || {
        process
            .stderr()
            .contains("interrupted: finishing requests in flight")
            .then_some(())
    });
    told.store(true, Ordering::SeqCst);
    let run = process.finish().exits(130);
    assert_eq!((writes(), records.not_sent()), (1, NAMES.len() - 1));
    let done = NAMES
        .iter()
        .filter(|name| cluster.reservations_of(&format!("claim/{name}")).len() == 2)
        .count();
    assert_eq!(done, 1, "{}", run.stdout);
    assert!(
        run.stdout.contains("Converted") && run.stdout.contains("NotTried"),
        "{}",
        run.stdout
    );
    convert(cluster, &records.backup(), &[]).run().exits(0);
    assert_converted(cluster, "after the second run");
}

#[test]
fn an_api_server_that_restarts_is_waited_for() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    // They end when the API server goes while they are still starting.
    cluster.stop(Component::ControllerManager);
    cluster.stop(Component::Scheduler);
    let away = Arc::new(AtomicBool::new(false));
    let goes_on = Arc::clone(&away);
    let faulty = cluster.faulty(move |asked, _| {
        if is_write(asked) {
            wait_for("the API server is away", || {
                goes_on.load(Ordering::SeqCst).then_some(())
            });
        }
        Fault::None
    });
    let mut process = convert(&cluster, &Records::new().backup(), &["--concurrency=1"])
        .args(faulty.flags())
        .start_unguarded();
    wait_for("the first write is on its way", || {
        faulty.asked().iter().any(|asked| is_write(asked)).then_some(())
    });
    cluster.stop(Component::ApiServer);
    let before = faulty.asked().len();
    away.store(true, Ordering::SeqCst);
    wait_for(
        "what became of the write is asked for while no server answers",
        || {
            let asked = faulty.asked();
            asked[before..].iter().any(|asked| !is_write(asked)).then_some(())
        },
    );
    assert!(!process.has_ended());
    cluster.resume(Component::ApiServer);
    let run = process.finish();
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
    assert_converted(&cluster, "after the restart");
}

#[test]
fn two_concurrent_conversions_do_no_harm() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    for round in 0..5 {
        reset(&cluster);
        let begun = AtomicUsize::new(0);
        let faulty = cluster.faulty(move |asked, _| {
            if is_write(asked) {
                begun.fetch_add(1, Ordering::SeqCst);
                // One process sends no two at once.
                wait_for("both are about to write", || {
                    (begun.load(Ordering::SeqCst) > 1).then_some(())
                });
            }
            Fault::None
        });
        // Without files of their own they must not share them either.
        let start = || {
            cluster
                .kubectl_dra(["convert", "--yes", ON, "-o", "json", "--concurrency=1"])
                .args(faulty.flags())
                .start_unguarded()
        };
        let journals = [start(), start()].map(|process| {
            let run = process.finish();
            assert_eq!(run.code, Some(0), "round {round}: {}\n{}", run.stdout, run.stderr);
            run.json()["journal"].clone()
        });
        assert!(
            journals[0].is_string() && journals[0] != journals[1],
            "{journals:?}"
        );
        // Each has sent all that it had planned before the other began.
        let writes = faulty.asked().iter().filter(|asked| is_write(asked)).count();
        assert!(writes >= 2 * NAMES.len(), "round {round}: {writes} writes");
        assert_converted(&cluster, &format!("round {round}"));
    }
}
