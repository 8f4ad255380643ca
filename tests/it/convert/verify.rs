//! Verification that nothing is left to do.

use super::on;
use crate::support::command::dra_snapshot;

#[test]
fn each_defect_is_named() {
    let version = ["--kubernetes-version", "1.37"];
    dra_snapshot!(on(&["convert", "verify"], "stale-reservations", &version), @r"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM           CODE                   MESSAGE
    default     foreign         NonPodEntry            still reserved for jobs.batch/render
    default     pod-done        EntryWithoutConsumer   reserved for pod done, which has finished
    default     pod-gone        EntryWithoutConsumer   reserved for pod gone, which does not exist
    default     pod-recreated   ConsumerNotListed      pod again uses it without an entry
    default     pod-recreated   EntryWithoutConsumer   reserved for pod again, which was recreated

    ----- stderr -----
    5 defects in 6 claims
    ");
    dra_snapshot!(on(&["convert", "verify", "-n", "team"], "downgrade-groups-1.37", &version), @r"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM      CODE                MESSAGE
    team        team-gpu   NonPodEntry         still reserved for podgroups.scheduling.k8s.io/team
    team        team-gpu   ConsumerNotListed   pod team-0 uses it without an entry

    ----- stderr -----
    2 defects in 1 claim
    ");
}

#[test]
fn pods_with_other_claims_are_no_consumers_any_more() {
    let version = ["--kubernetes-version", "1.36"];
    let claims = [
        "convert",
        "verify",
        "gen-gpu-6lrvq",
        "ended-gpu",
        "conv-gpu",
        "-n",
        "default",
    ];
    dra_snapshot!(on(&claims, "downgrade-groups-1.36", &version), @r"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM           CODE                   MESSAGE
    default     ended-gpu       NonPodEntry            still reserved for podgroups.scheduling.k8s.io/ended
    default     ended-gpu       EntryWithoutConsumer   reserved for pod ended-0, which has finished
    default     gen-gpu-6lrvq   EntryWithoutConsumer   reserved for pod gen-0, which does not use it
    default     gen-gpu-6lrvq   EntryWithoutConsumer   reserved for pod gen-1, which does not use it

    ----- stderr -----
    4 defects in 3 claims
    ");
}

#[test]
fn a_prepared_cluster_is_in_order() {
    for (snapshot, version) in [
        ("downgrade-prepared-1.37", "1.37"),
        ("downgrade-prepared-1.35", "1.35"),
    ] {
        let run = on(
            &["convert", "verify", "-o", "name"],
            snapshot,
            &["--kubernetes-version", version],
        )
        .run();
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    }
}
