//! Actions for each claim, with reasons.

use serde_json::json;

use super::{GATES_ON, on};
use crate::support::command::{dra, dra_snapshot};
use crate::support::schema::assert_schema;

#[test]
fn groups_become_pods_and_what_cannot_is_refused() {
    dra_snapshot!(on(&["convert", "plan"], "downgrade-groups-1.37", &GATES_ON), @r"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM            ACTION    CODE                   REMOVE                             ADD             REASON
    default     both-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/both   both-0,both-1   <none>
    default     both-nic-94rpf   Refuse    GeneratedForPodGroup   <none>                             <none>          created for PodGroup both
    default     ended-gpu        Refuse    NoLiveConsumer         <none>                             <none>          reserved for podgroups.scheduling.k8s.io/ended, and no pod uses it
    default     foreign          Keep      KindNotSelected        <none>                             <none>          reserved for jobs.batch only
    default     mixed            Convert   Convertible            podgroups.scheduling.k8s.io/mix    mix-0           <none>
    default     pair-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/pair   pair-0          <none>
    default     raw-gpu          Refuse    UnscheduledMembers     <none>                             <none>          members of PodGroup raw are not scheduled yet: pod raw-late
    default     sim-gpu-2z6cl    Refuse    GeneratedForPodGroup   <none>                             <none>          created for PodGroup sim
    team        team-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/team   team-0          <none>

    ----- stderr -----
    4 claims to convert, 1 claim kept, 4 claims refused
    ");
}

#[test]
fn the_wide_table_says_what_helps() {
    let wide = ["convert", "plan", "-o", "wide"];
    dra_snapshot!(on(&wide, "downgrade-groups-1.37", &GATES_ON), @r"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM            ACTION    CODE                   REMOVE                             ADD             REASON                                                               KEPT               UID                                    VERSION   TO RESOLVE
    default     both-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/both   both-0,both-1   <none>                                                               <none>             64c822e7-2134-4966-90a5-346483dd7189   382       <none>
    default     both-nic-94rpf   Refuse    GeneratedForPodGroup   <none>                             <none>          created for PodGroup both                                            <none>             c86c35c2-a0c6-4462-888a-30717bcbe081   393       delete its pods and the PodGroup while the gates are on, or, if only a feature gate is disabled, convert it with --include-generated
    default     ended-gpu        Refuse    NoLiveConsumer         <none>                             <none>          reserved for podgroups.scheduling.k8s.io/ended, and no pod uses it   <none>             a893f2b7-bdfc-478f-9436-8b0adf583a5c   387       delete the PodGroup while the gate is on, which releases the claim, or use --release-unused
    default     foreign          Keep      KindNotSelected        <none>                             <none>          reserved for jobs.batch only                                         jobs.batch/sweep   50816efd-f072-4ce7-943e-8474bb682b2f   469       ask its owner to remove the entry, or select it with --kind jobs.batch
    default     mixed            Convert   Convertible            podgroups.scheduling.k8s.io/mix    mix-0           <none>                                                               <none>             d05f30dd-9a05-4193-adba-c874376cc58b   354       <none>
    default     pair-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/pair   pair-0          <none>                                                               <none>             05f68e0c-f8b3-4931-bee8-d05efed0cc8b   367       <none>
    default     raw-gpu          Refuse    UnscheduledMembers     <none>                             <none>          members of PodGroup raw are not scheduled yet: pod raw-late          <none>             f3b7218c-68c7-4572-9437-c65dbbd57ba5   293       wait until they are scheduled (--wait), delete them, or turn the gate off first
    default     sim-gpu-2z6cl    Refuse    GeneratedForPodGroup   <none>                             <none>          created for PodGroup sim                                             <none>             6661e984-636c-4bbf-9ebd-7fe11f217b0f   321       delete its pods and the PodGroup while the gates are on, or, if only a feature gate is disabled, convert it with --include-generated
    team        team-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/team   team-0          <none>                                                               <none>             3de129a0-c2de-46a8-a30f-954a38b627dc   431       <none>

    ----- stderr -----
    4 claims to convert, 1 claim kept, 4 claims refused
    ");
}

#[test]
fn a_gate_alone_need_not_refuse_claims_of_groups() {
    let args = [
        "convert",
        "plan",
        "gen-gpu-6lrvq",
        "sim-gpu-2z6cl",
        "-n",
        "default",
        "--disable-gate",
        "DRAWorkloadResourceClaims",
        "--include-generated",
    ];
    dra_snapshot!(on(&args, "downgrade-groups-1.37", &GATES_ON), @r"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM           ACTION   CODE                 REMOVE   ADD      REASON
    default     sim-gpu-2z6cl   Refuse   UnscheduledMembers   <none>   <none>   members of PodGroup sim are not scheduled yet: pod sim-late

    ----- stderr -----
    1 claim refused
    ");
}

#[test]
fn kinds_are_selected() {
    let jobs = ["convert", "plan", "--kind", "jobs.batch"];
    dra_snapshot!(on(&jobs, "downgrade-groups-1.37", &GATES_ON), @r"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM            ACTION    CODE              REMOVE             ADD      REASON
    default     both-gpu         Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only
    default     both-nic-94rpf   Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only
    default     ended-gpu        Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only
    default     foreign          Convert   Convertible       jobs.batch/sweep   <none>   <none>
    default     mixed            Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only
    default     pair-gpu         Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only
    default     raw-gpu          Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only
    default     sim-gpu-2z6cl    Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only
    team        team-gpu         Keep      KindNotSelected   <none>             <none>   reserved for podgroups.scheduling.k8s.io only

    ----- stderr -----
    1 claim to convert, 8 claims kept
    ");
    let all = [
        "convert",
        "plan",
        "foreign",
        "mixed",
        "--all-kinds",
        "-n",
        "default",
    ];
    dra_snapshot!(on(&all, "downgrade-groups-1.37", &GATES_ON), @r"
    exit_code: 0
    ----- stdout -----
    NAMESPACE   CLAIM     ACTION    CODE          REMOVE                            ADD      REASON
    default     foreign   Convert   Convertible   jobs.batch/sweep                  <none>   <none>
    default     mixed     Convert   Convertible   podgroups.scheduling.k8s.io/mix   mix-0    <none>

    ----- stderr -----
    2 claims to convert
    ");
}

#[test]
fn the_older_server_is_repaired_by_the_same_planner() {
    let version = ["--kubernetes-version", "1.36"];
    dra_snapshot!(on(&["convert", "plan"], "downgrade-groups-1.36", &version), @"
    exit_code: 1
    ----- stdout -----
    NAMESPACE   CLAIM            ACTION    CODE                   REMOVE                             ADD      REASON
    default     both-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/both   <none>   the API server does not serve PodGroups, so every pod that uses the claim counts
    default     both-nic-94rpf   Refuse    GeneratedForPodGroup   <none>                             <none>   created for PodGroup both; pods both-0, both-1 may still use its devices, although an older claim controller created other claims for them
    default     ended-gpu        Refuse    NoLiveConsumer         <none>                             <none>   reserved for podgroups.scheduling.k8s.io/ended, and no pod uses it
    default     foreign          Keep      KindNotSelected        <none>                             <none>   reserved for jobs.batch only
    default     mixed            Convert   Convertible            podgroups.scheduling.k8s.io/mix    <none>   the API server does not serve PodGroups, so every pod that uses the claim counts
    default     pair-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/pair   <none>   the API server does not serve PodGroups, so every pod that uses the claim counts
    default     raw-gpu          Refuse    UnscheduledMembers     <none>                             <none>   members of PodGroup raw are not scheduled yet: pod raw-late
    default     sim-gpu-2z6cl    Refuse    GeneratedForPodGroup   <none>                             <none>   created for PodGroup sim; pods sim-0, sim-1 may still use its devices, although an older claim controller created other claims for them
    team        team-gpu         Convert   Convertible            podgroups.scheduling.k8s.io/team   <none>   the API server does not serve PodGroups, so every pod that uses the claim counts

    ----- stderr -----
    warning: assuming that DRAWorkloadResourceClaims is on in kube-scheduler and kube-controller-manager: set it with `--scheduler-feature-gates` and `--kcm-feature-gates`
    4 claims to convert, 1 claim kept, 4 claims refused
    ");
}

#[test]
fn devices_of_pods_that_were_given_other_claims_stay_theirs() {
    for minor in ["1.36", "1.35"] {
        let snapshot = format!("downgrade-groups-{minor}");
        let args = on(
            &["convert", "plan", "--release-unused", "--all-kinds"],
            &snapshot,
            &["--kubernetes-version", minor],
        );
        let run = args.run().exits(1);
        // On 1.35 the pods of the second one still name it.
        for (claim, why) in [
            ("both-nic-94rpf", "pods both-0, both-1 may still use its devices"),
            ("sim-gpu-2z6cl", "created for PodGroup sim"),
        ] {
            let line = run.stdout.lines().find(|line| line.contains(claim));
            let line = line.unwrap_or_else(|| panic!("{claim}: {}", run.stdout));
            assert!(line.contains("GeneratedForPodGroup"), "{minor}: {line}");
            assert!(line.contains(why), "{minor}: {line}");
        }
    }
}

#[test]
fn a_prepared_cluster_needs_nothing() {
    let version = ["--kubernetes-version", "1.37"];
    dra_snapshot!(on(&["convert", "plan"], "downgrade-prepared-1.37", &version), @"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    no claim is reserved for anything other than pods
    ");
}

#[test]
fn what_could_not_be_read_leaves_nothing_planned() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("half.json");
    let claim = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "n", "name": "c", "uid": "u", "resourceVersion": "7"},
        "status": {"allocation": {}, "reservedFor": [
            {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "ug"}]},
    });
    // The pod that cannot be read may be the one that uses the claim.
    let broken = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "n", "name": 3}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [claim, broken]});
    std::fs::write(&file, list.to_string()).expect("the file is written");
    let from = file.to_str().expect("a path");
    let version = ["--kubernetes-version", "1.37"];
    let run = dra(&[&["convert", "plan", "--from", from, "-o", "json"], &version[..]].concat()).run();
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["claims"], json!([]));
    assert_eq!(report["unknown"].as_array().map(Vec::len), Some(1), "{report}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (args, words) in [
        (
            &["--to-version", "1.37"][..],
            "1.37 is not older than this cluster's 1.37",
        ),
        (&["--to-version", "1.30"], "older than 1.34"),
        (
            &["--to-version", "1.36", "--disable-gate", "GenericWorkload"],
            "cannot be used with",
        ),
        (&["--disable-gate", "DRADeviceTaints"], "invalid value"),
        (&["--kind", "pods"], "entries of pods"),
        (&["--entry", "jobs.batch/x"], "--release-unused"),
        (
            &["--release-unused", "--entry", "jobs.batch"],
            "expected KIND/NAME",
        ),
        (&["--all-kinds", "--kind", "jobs.batch"], "cannot be used with"),
    ] {
        let args = [&["convert", "plan"], args].concat();
        let run = on(&args, "podgroups", &["--kubernetes-version", "1.37"]).run();
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
    let run = on(&["convert", "plan", "nothing", "-n", "default"], "podgroups", &[]).run();
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(
        run.stderr.contains("claim/default/nothing not found"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_file_has_the_patch_and_both_lists() {
    let plan = assert_schema!([
        "convert",
        "plan",
        "mixed",
        "-n",
        "default",
        "-o",
        "json",
        "--from",
        "tests/data/snapshots/downgrade-groups-1.37.yaml",
        "--kubernetes-version",
        "1.37",
    ]);
    let claim = &plan["claims"][0];
    let solo = json!({"name": "solo", "resource": "pods", "uid": "3a812c4a-4c53-42d6-9ff6-24d9b0c0ea8d"});
    let mix = json!({"name": "mix-0", "resource": "pods", "uid": "adf2c9a6-1128-4591-9711-ac173eb7798f"});
    assert_eq!(claim["before"].as_array().map(Vec::len), Some(2));
    assert_eq!(claim["after"], json!([solo, mix]));
    assert_eq!(
        claim["patch"],
        json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": claim["resourceVersion"]},
            {"op": "replace", "path": "/status/reservedFor", "value": [solo, mix]},
        ])
    );
}

#[test]
fn reports_are_valid_under_their_schemas() {
    let everything = [
        "--all-kinds",
        "--release-unused",
        "--entry",
        "jobs.batch/sweep",
        "--disable-gate",
        "GenericWorkload",
        "--include-generated",
    ];
    for snapshot in [
        "podgroups",
        "podgroups-gates-off",
        "stale-reservations",
        "downgrade-groups-1.36",
        "downgrade-groups-1.37",
        "bound-pods",
    ] {
        let plain = on(&["convert", "plan", "-o", "json"], snapshot, &[]).run();
        assert_schema!(&plain.stdout);
        let full = on(&["convert", "plan", "-o", "json"], snapshot, &everything).run();
        assert_schema!(&full.stdout);
        let proof = on(&["convert", "verify", "-o", "json"], snapshot, &[]).run();
        assert_schema!(&proof.stdout);
    }
}
