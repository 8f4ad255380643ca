//! What gets in the way of a conversion: refusals, answers that are lost, servers that go away, kills. In the end the claims are right,
//! or the exit code says that they are not and a second run makes them so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{ON, Records, cluster, convert, groups};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::{Cluster, Component};
use crate::support::wait::wait_for;

pub(super) const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// What happens to a write that was tried so often before.
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

fn refusal(code: u16, headers: &'static str) -> Fault {
    Fault::Refusal(code, headers, "not now".to_owned())
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
fn a_kill_at_any_moment_is_followed_by_a_run_that_goes_on() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    killed_at_every_moment(&cluster, &[], NAMES.len(), || reset(&cluster), &|moment| {
        assert_converted(&cluster, moment);
    });
}

#[test]
fn a_kill_between_the_writes_of_a_release_is_followed_by_a_run_that_goes_on() {
    let cluster = cluster();
    let names = ["claim/a", "claim/b"];
    groups(&cluster, &["a", "b"], 1);
    // They would free the claims themselves.
    cluster.stop(Component::ControllerManager);
    cluster.stop(Component::Scheduler);
    for name in ["a", "b"] {
        cluster.delete_now(&format!("pod/{name}-0"));
        cluster.patch(
            &format!("podgroup/{name}"),
            &json!({"metadata": {"finalizers": null}}),
        );
        cluster.delete(&format!("podgroup/{name}"));
    }
    let held = names.map(|name| cluster.get(name));
    let hold = || {
        for (name, claim) in names.iter().zip(&held) {
            cluster.patch(
                name,
                &json!({"metadata": {"finalizers": claim["metadata"]["finalizers"]}}),
            );
            cluster.update_status(name, |now| now["status"] = claim["status"].clone());
        }
    };
    // Two writes for each claim: list and allocation, then the finalizer.
    killed_at_every_moment(&cluster, &["--release-unused"], 4, hold, &|moment| {
        for name in names {
            let claim = cluster.get(name);
            let rest = [
                &claim["status"]["allocation"],
                &claim["status"]["reservedFor"],
                &claim["metadata"]["finalizers"],
            ];
            assert!(rest.iter().all(|rest| rest.is_null()), "{moment}: {claim:#}");
        }
    });
}

/// Kills `convert ARGS…` before each request that it sends, and after each of its `writes` took effect and before its answer; each time a
/// second run makes what `assert_right` wants of what `reset` has made.
fn killed_at_every_moment(
    cluster: &Cluster,
    args: &[&str],
    writes: usize,
    reset: impl Fn(),
    assert_right: &dyn Fn(&str),
) {
    let mut kills = 0;
    for moment in 0.. {
        if moment % 2 == 1 && moment / 2 >= writes {
            continue;
        }
        reset();
        let pid = Arc::new(AtomicU32::new(0));
        let requests = AtomicUsize::new(0);
        let victim = Arc::clone(&pid);
        let client_side = moment % 2 == 0;
        let faulty = cluster.faulty(move |asked, _| {
            let interesting = client_side || is_write(asked);
            if !interesting || requests.fetch_add(1, Ordering::SeqCst) != moment / 2 {
                return Fault::None;
            }
            let raw = wait_for("the process has a number", || {
                i32::try_from(victim.load(Ordering::SeqCst))
                    .ok()
                    .and_then(Pid::from_raw)
            });
            if client_side {
                // The request arrived but is not passed on.
                let _ = kill_process(raw, Signal::KILL);
                return Fault::Close;
            }
            // The server carries it out, and nobody hears the answer.
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(150));
                let _ = kill_process(raw, Signal::KILL);
            });
            Fault::After(0)
        });
        let records = Records::new();
        let process = convert(cluster, &records.backup(), &["--concurrency=1"])
            .args(args)
            .args(faulty.flags())
            .start_unguarded();
        pid.store(process.id(), Ordering::SeqCst);
        let run = process.finish();
        if run.signal.is_some() {
            kills += 1;
        } else if client_side {
            // The run came to its end before that many requests.
            break;
        }
        let again = convert(cluster, &records.backup(), args).run();
        assert_eq!(
            again.code,
            Some(0),
            "moment {moment}: {}\n{}",
            again.stdout,
            again.stderr
        );
        assert_right(&format!("moment {moment}"));
    }
    assert!(kills > writes * 2, "only {kills} kills");
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
    let faulty = cluster.faulty(|asked, _| {
        if is_write(asked) {
            std::thread::sleep(Duration::from_millis(700));
        }
        Fault::None
    });
    let records = Records::new();
    let process = convert(cluster, &records.backup(), &["--concurrency=1"])
        .args(faulty.flags())
        .start_unguarded();
    wait_for("the first write is on its way", || {
        faulty.asked().iter().any(|asked| is_write(asked)).then_some(())
    });
    process.signal(signal);
    let run = process.finish().exits(130);
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
    let faulty = cluster.faulty(|asked, _| {
        if is_write(asked) {
            std::thread::sleep(Duration::from_millis(300));
        }
        Fault::None
    });
    let process = convert(&cluster, &Records::new().backup(), &["--concurrency=1"])
        .args(faulty.flags())
        .start_unguarded();
    wait_for("the first write is on its way", || {
        faulty.asked().iter().any(|asked| is_write(asked)).then_some(())
    });
    cluster.stop(Component::ApiServer);
    std::thread::sleep(Duration::from_secs(1));
    cluster.resume(Component::ApiServer);
    let run = process.finish();
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
    assert_converted(&cluster, "after the restart");
}

#[test]
fn two_conversions_at_once_do_no_harm() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    for round in 0..5 {
        reset(&cluster);
        // Without files of their own they must not share them either.
        let start = || {
            cluster
                .kubectl_dra(["convert", "--yes", ON, "-o", "json"])
                .start_unguarded()
        };
        let (one, two) = (start(), start());
        for run in [one.finish(), two.finish()] {
            assert_eq!(run.code, Some(0), "round {round}: {}\n{}", run.stdout, run.stderr);
        }
        assert_converted(&cluster, &format!("round {round}"));
    }
}
