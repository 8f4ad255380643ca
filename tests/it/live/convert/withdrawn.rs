//! Rights and credentials that the API server stops to accept in the middle of a conversion. What was written stays, the exit code and
//! the message say why the rest was not, and a second run that has them does it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use serde_json::Value;

use super::account::Account;
use super::faults::{NAMES, assert_converted, is_write, reset};
use super::{GATES, Records, cluster, convert, end_pods, groups, is_free, turn_off};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::{Cluster, User};
use crate::support::process::Run;
use crate::support::wait::wait_for;

/// Number of claims written before.
const DONE: usize = 2;

/// A conversion by `user`, of which the write after the first [`DONE`] is in the journal but does not get to the API server before
/// `withdraw` returns. Nothing if it did not get so far.
fn halfway(user: &User, records: &Records, withdraw: impl FnOnce()) -> Option<Run> {
    let withdrawn = Arc::new(AtomicBool::new(false));
    let goes_on = Arc::clone(&withdrawn);
    let writes = AtomicUsize::new(0);
    let proxy = user.faulty(move |asked, _| {
        if is_write(asked) && writes.fetch_add(1, Ordering::SeqCst) >= DONE {
            wait_for("what is to be withdrawn is", || {
                goes_on.load(Ordering::SeqCst).then_some(())
            });
        }
        Fault::None
    });
    let mut process = convert(user, &records.backup(), &["--concurrency=1"])
        .args(proxy.flags())
        .start_unguarded();
    // The journal has a write when the one before it may still be on its way.
    let is_held = || records.written() > DONE && records.in_journal(r#""event":"Result""#) >= DONE;
    wait_for(
        "the write to be held is in the journal, and the answers before it",
        || (is_held() || process.has_ended()).then_some(()),
    );
    if !is_held() {
        return None;
    }
    withdraw();
    withdrawn.store(true, Ordering::SeqCst);
    Some(process.finish())
}

/// Checks that `run` was ended, and why, and lets `user` finish what it left.
#[track_caller]
fn assert_ended_and_finish(cluster: &Cluster, records: &Records, run: Run, words: &[&str], user: &User) {
    let run = run.exits(3);
    assert!(
        run.stderr.contains("to continue where it stopped"),
        "{}",
        run.stderr
    );
    for words in words {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    for outcome in ["Converted: 2 claims", "Failed: 1 claim", "NotTried: 1 claim"] {
        assert!(run.stderr.contains(outcome), "{outcome}: {}", run.stderr);
    }
    // No other write is even tried, though the next one may have been in the journal.
    assert_eq!(records.written() - records.not_sent(), DONE + 1, "{}", run.stderr);
    let is_left =
        |name: &&&str| cluster.reservations_of(&format!("claim/{name}")) == [format!("podgroups/{name}")];
    assert_eq!(NAMES.iter().filter(is_left).count(), NAMES.len() - DONE);

    let again = convert(user, &records.backup(), &[]).run().exits(0);
    let continued = "continuing the conversion";
    assert!(again.stderr.contains(continued), "{}", again.stderr);
    assert_converted(cluster, "after the second run");
    cluster.kubectl_dra(["convert", "verify"]).run().exits(0);
}

/// No device is lost: without the gates every claim is free once its pods have ended, and serves others.
#[track_caller]
fn assert_no_leak(cluster: &Cluster) {
    turn_off(cluster, &GATES);
    end_pods(cluster);
    for name in NAMES {
        cluster.wait(&format!("claim/{name}"), "it is free", is_free);
    }
}

#[test]
fn a_revoked_permission_ends_the_run_and_a_second_one_continues() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let account = Account::create(&cluster);
    // The server answers the second one like an invalid value.
    for (right, words) in [
        (
            "resourceclaims/status",
            r#"cannot patch resource "resourceclaims/status" in API group "resource.k8s.io""#,
        ),
        (
            "resourceclaims/binding",
            r#"requires resource="resourceclaims/binding", verb="patch" permission"#,
        ),
    ] {
        reset(&cluster);
        let records = Records::new();
        let run =
            halfway(&account.user, &records, || account.withdraw(right)).expect("nothing ends it before");
        account.give_back();
        let words = [words, "ask for the missing permission"];
        assert_ended_and_finish(&cluster, &records, run, &words, &account.user);
    }
    assert_no_leak(&cluster);
}

#[test]
fn an_expired_token_ends_the_run_and_a_second_one_continues() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    let account = Account::create(&cluster);
    let expires = |lifetime: u64| {
        reset(&cluster);
        let user = account.passing(Duration::from_secs(lifetime));
        let records = Records::new();
        let expired = || {
            wait_for("the token has expired", || {
                let claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
                let answer = user.request(&Method::GET, claims, &Value::Null);
                (answer.status == 401).then_some(())
            });
        };
        halfway(&user, &records, expired).map(|run| (records, run))
    };
    // A busy machine gets more time to begin in.
    let ended = [10, 30, 90].into_iter().find_map(expires);
    let (records, run) = ended.expect("a conversion begins in time");
    let words = ["rejected the credentials", "log in again"];
    assert_ended_and_finish(&cluster, &records, run, &words, &account.user);
    assert_no_leak(&cluster);
}
