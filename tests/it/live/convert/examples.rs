//! The script and the Job of docs/examples, with the rights that the manifest grants and no others. Only exit codes say how it went.

use super::account::{Account, example};
use super::{GATES, Records, cluster, end_pods, groups, is_free, list, several, sorted, turn_off};
use crate::support::cluster::User;
use crate::support::process::Run;
use crate::support::wait::wait_for;

/// Returns what the Job's container runs.
fn script(robot: &User, records: &Records, phase: &str) -> Run {
    robot
        .shell(&format!("sh {} {phase} 1.36", example("pre-downgrade.sh")))
        .env("XDG_STATE_HOME", records.folder.path())
        .run()
}

#[test]
fn the_script_leads_to_a_downgrade_with_the_rights_of_the_manifest() {
    let cluster = cluster();
    groups(&cluster, &["llm"], 2);
    several(&cluster);
    let script_map = format!("--from-file={}", example("pre-downgrade.sh"));
    cluster
        .kubectl([
            "create",
            "configmap",
            "pre-downgrade",
            "-n",
            "kube-system",
            &script_map,
        ])
        .run()
        .exits(0);
    let account = Account::create(&cluster);
    // The Job is one that Kubernetes carries out: its pod waits for the volume only.
    let job_pod = wait_for("the Job's pod", || {
        let pods = cluster.list("pod/kube-system");
        pods.into_iter()
            .find(|pod| pod["metadata"]["labels"]["job-name"] == "pre-downgrade")
    });
    assert_eq!(job_pod["spec"]["serviceAccountName"], "pre-downgrade");

    let robot = &account.user;
    let records = Records::new();
    // Without any one of the rights that are needed before, nothing is written, and the exit code says why.
    let lists = || ["llm", "pair", "mixed", "batch"].map(|name| list(&cluster, &format!("claim/{name}")));
    let before = lists();
    for (missing, code) in [
        ("resourceclaims", 3),
        ("pods", 4),
        ("podgroups", 4),
        ("resourceclaims/status", 3),
        ("resourceclaims/binding", 3),
    ] {
        account.withdraw(missing);
        let run = script(robot, &records, "before");
        assert_eq!(
            run.code,
            Some(code),
            "without {missing}: {}\n{}",
            run.stdout,
            run.stderr
        );
        assert_eq!(lists(), before, "without {missing}");
        account.give_back();
    }

    // Everything but the reservation for a job, which somebody has to decide about.
    let run = script(robot, &records, "before");
    assert_eq!(run.code, Some(1), "{}\n{}", run.stdout, run.stderr);
    assert_eq!(sorted(&cluster, "claim/llm"), ["pods/llm-0", "pods/llm-1"]);
    assert_eq!(sorted(&cluster, "claim/batch"), ["jobs/render", "pods/batch"]);
    cluster.update_status("claim/batch", |claim| {
        let entries = claim["status"]["reservedFor"].as_array_mut().expect("a list");
        entries.retain(|entry| entry["resource"] == "pods");
    });
    let run = script(robot, &records, "before");
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);

    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    let run = script(robot, &records, "final");
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
    turn_off(&cluster, &GATES);
    end_pods(&cluster);
    for name in ["llm", "pair", "mixed", "batch"] {
        cluster.wait(&format!("claim/{name}"), "it is free", is_free);
    }
}
