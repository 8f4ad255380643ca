//! Releases that something cuts off between their two writes: the devices are free, and the finalizer is to go, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::faults::{is_write, killed_at_every_moment, refusal};
use super::{Records, cluster, convert, count_in, groups, is_free};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::{Cluster, Component};
use crate::support::wait::wait_for;

const CLAIMS: [&str; 2] = ["claim/a", "claim/b"];
const RELEASE: &str = "--release-unused";

/// Claims that no pod uses and no controller frees.
struct Held {
    cluster: Cluster,
    claims: [Value; CLAIMS.len()],
}

impl Held {
    fn new() -> Self {
        let cluster = cluster();
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
        let claims = CLAIMS.map(|name| cluster.get(name));
        Self { cluster, claims }
    }

    /// Gives the claims their devices back.
    fn hold(&self) {
        for (name, claim) in CLAIMS.iter().zip(&self.claims) {
            self.cluster.patch(
                name,
                &json!({"metadata": {"finalizers": claim["metadata"]["finalizers"]}}),
            );
            self.cluster
                .update_status(name, |now| now["status"] = claim["status"].clone());
        }
    }

    /// Returns how many are free, how many have only their finalizer, and how many are held.
    fn states(&self) -> [usize; 3] {
        let mut states = [0; 3];
        for name in CLAIMS {
            let claim = self.cluster.get(name);
            let state = if is_free(&claim) {
                0
            } else {
                1 + usize::from(claim["status"]["allocation"].is_object())
            };
            states[state] += 1;
        }
        states
    }
}

fn is_of_status(asked: &str) -> bool {
    is_write(asked) && asked.contains("/status?")
}

#[test]
fn a_kill_between_the_writes_of_a_release_is_followed_by_a_run_that_continues() {
    let held = Held::new();
    // Two writes for each claim: list and allocation, then the finalizer.
    killed_at_every_moment(&held.cluster, &[RELEASE], 4, || held.hold(), &|moment| {
        assert_eq!(held.states(), [2, 0, 0], "{moment}");
    });
}

#[test]
fn no_claim_loses_its_devices_while_as_many_as_are_written_concurrently_keep_their_finalizers() {
    let held = Held::new();
    let faulty = held.cluster.faulty(|_, _| Fault::None);
    convert(
        &held.cluster,
        &Records::new().backup(),
        &["--concurrency=1", RELEASE],
    )
    .args(faulty.flags())
    .run()
    .exits(0);
    let asked = faulty.asked();
    let writes = asked.iter().filter(|asked| is_write(asked));
    let parts: Vec<bool> = writes.map(|asked| is_of_status(asked)).collect();
    assert_eq!(parts, [true, false, true, false]);
}

#[test]
fn a_release_is_finished_though_another_claim_has_ended_the_run() {
    let held = Held::new();
    let records = Records::new();
    let journal = records.journal();
    let before = AtomicUsize::new(0);
    let faulty = held.cluster.faulty(move |asked, _| {
        if !is_of_status(asked) {
            return Fault::None;
        }
        if before.fetch_add(1, Ordering::SeqCst) > 0 {
            return refusal(403, "");
        }
        // It is heard of once the other one has ended the run.
        let journal = journal.clone();
        Fault::Late(Arc::new(move |_| {
            wait_for("the refusal of the other is in the journal", || {
                (count_in(&journal, "not now") == 1).then_some(())
            });
        }))
    });
    let run = convert(&held.cluster, &records.backup(), &["--concurrency=2", RELEASE])
        .args(faulty.flags())
        .run()
        .exits(3);
    for words in [
        "Failed: 1 claim, Released: 1 claim",
        "ask for the missing permission",
    ] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    assert_eq!(held.states(), [1, 0, 1]);
}

#[test]
fn a_finalizer_that_may_not_be_removed_ends_the_run_and_a_later_one_continues() {
    let held = Held::new();
    let records = Records::new();
    let run = || convert(&held.cluster, &records.backup(), &["--concurrency=2", RELEASE]);
    for (writes, what) in [
        (3, "between the writes of a release"),
        (1, "where an earlier run was ended there"),
    ] {
        let journal = records.journal();
        let before = AtomicUsize::new(0);
        let faulty = held.cluster.faulty(move |asked, _| {
            if !is_write(asked) {
                return Fault::None;
            }
            if !is_of_status(asked) {
                return refusal(403, "");
            }
            if before.fetch_add(1, Ordering::SeqCst) == 0 {
                return Fault::None;
            }
            // The other one would have to be written again, once the run has ended.
            wait_for("the refusal of the finalizer is in the journal", || {
                (count_in(&journal, "not now") == 1).then_some(())
            });
            refusal(409, "")
        });
        let ended = run().args(faulty.flags()).run().exits(3);
        for words in [
            "Failed: 1 claim, NotTried: 1 claim",
            "the conversion was interrupted",
            "ask for the missing permission",
        ] {
            assert!(ended.stderr.contains(words), "{what}: {words}: {}", ended.stderr);
        }
        assert!(
            ended
                .stdout
                .contains("its devices are released, but its finalizer remains"),
            "{what}: {}",
            ended.stdout
        );
        let asked = faulty.asked();
        assert_eq!(
            asked.iter().filter(|asked| is_write(asked)).count(),
            writes,
            "{what}"
        );
        assert_eq!(held.states(), [0, 1, 1], "{what}");
    }
    run().run().exits(0);
    assert_eq!(held.states(), [2, 0, 0]);
}
