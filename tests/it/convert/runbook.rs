//! The steps of a downgrade, for the very cluster.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{GATES_ON, on};
use crate::support::command::{dra_snapshot, on_screen};
use crate::support::process::Invocation;
use crate::support::schema::assert_schema;

/// The plan for a target as JSON, valid under its schema.
fn plan(snapshot: &str, target: &[&str], more: &[&str]) -> Value {
    let args = [&["convert", "plan", "-o", "json"], target].concat();
    let run = on(&args, snapshot, more).run();
    assert_schema!(&run.stdout)
}

/// Order and title of each step, with whether it is done.
fn outline(plan: &Value) -> Vec<String> {
    plan["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| {
            let done = if step["done"] == true { " (done)" } else { "" };
            format!(
                "{} {}{done}",
                step["order"],
                step["title"].as_str().expect("a title")
            )
        })
        .collect()
}

#[test]
fn a_downgrade_is_printed_step_by_step() {
    let args = ["convert", "plan", "--to-version", "1.36"];
    dra_snapshot!(on(&args, "downgrade-groups-1.37", &GATES_ON), @"
    exit_code: 1
    ----- stdout -----
    x not ready for a downgrade to 1.36: 4 decisions
      [ ] 1a  decide: Stop groups default/both, default/gen, default/sim (6 running pods, 1 pending); delete group default/ended
      [ ] 1b  decide: Schedule or delete pod/default/raw-late
      [ ] 2   Convert 4 claims while their pods run; 1 more after step 1b
      [ ] 3   Turn DRAWorkloadResourceClaims off in kube-scheduler and kube-controller-manager
      [ ] 4a  Convert entries that were added in between
      [ ] 4b  decide: Ask the owner of jobs.batch/default/sweep (claim/default/foreign) to remove its entry
      [ ] 4c  Verify
      [ ] 5a  Save and delete 9 PodGroups and 1 Workload
      [ ] 5b  decide: Remove the finalizer from 5 PodGroups with running pods
      [ ] 6   Save and delete 3 DeviceTaintRules (2 enforced)
      [ ] 7   Turn DRAWorkloadResourceClaims and GenericWorkload off in every component
      [ ] 8   Replace the components with those of 1.36
      [ ] 9   Verify the result
    Next: step 1a: kubectl dra snapshot --no-redact --out=before-downgrade.json
    One step: --step 1a; checklist: -o markdown
    More: kubectl dra convert plan --to-version 1.36 --from tests/data/snapshots/downgrade-groups-1.37.yaml --kubernetes-version 1.37 --feature-gates GenericWorkload=true,DRAWorkloadResourceClaims=true --details

    ----- stderr -----
    4 claims to convert, 1 claim kept, 5 claims refused
    ");
    let details = on(
        &[&args[..], &["--details"]].concat(),
        "downgrade-groups-1.37",
        &GATES_ON,
    );
    insta::assert_snapshot!(on_screen(details, 240).stdout, @r#"
    × not ready for a downgrade to 1.36: 4 decisions
      stop     4 groups (6 running pods, 1 pending) to resolve with their owners: default/both, default/ended, default/gen, default/sim
      convert  4 claims while their pods run; 1 more once raw-late is scheduled
      ask      1 claim reserved for other kinds (see `convert --kind`): default/foreign
      delete   3 taint rules (2 enforced today), 9 PodGroups, 1 Workload
    Next: step 1a: kubectl dra snapshot --no-redact --out=before-downgrade.json

    Claims:
      convert   default/both-gpu: podgroups.scheduling.k8s.io/both becomes both-0, both-1
      refuse    default/both-nic-94rpf: created for PodGroup both, and the older claim controller creates new, unallocated claims for its running pods
                to resolve: delete its pods and the PodGroup while the gates are on, then recreate the workload with named or per-pod claims
      refuse    default/ended-gpu: reserved for podgroups.scheduling.k8s.io/ended, and no pod uses it
                to resolve: delete the PodGroup while the gate is on, which releases the claim, or use --release-unused
      keep      default/foreign: reserved for jobs.batch only
                to resolve: ask its owner to remove the entry, or select it with --kind jobs.batch
      refuse    default/gen-gpu-6lrvq: created for PodGroup gen, and the older claim controller creates new, unallocated claims for its running pods
                to resolve: delete its pods and the PodGroup while the gates are on, then recreate the workload with named or per-pod claims
      convert   default/mixed: podgroups.scheduling.k8s.io/mix becomes mix-0
      convert   default/pair-gpu: podgroups.scheduling.k8s.io/pair becomes pair-0
      refuse    default/raw-gpu: members of PodGroup raw are not scheduled yet: pod raw-late
                to resolve: wait until they are scheduled (--wait), delete them, or turn the gate off first
      refuse    default/sim-gpu-2z6cl: created for PodGroup sim, and the older claim controller creates new, unallocated claims for its running pods
                to resolve: delete its pods and the PodGroup while the gates are on, then recreate the workload with named or per-pod claims
      convert   team/team-gpu: podgroups.scheduling.k8s.io/team becomes team-0
    Groups:
      stop      default/both: both-0, both-1; claim/default/both-nic-94rpf: created for PodGroup both, and the older claim controller creates new, unallocated claims for its running pods
      leave     default/conv: conv-0, conv-1
      stop      default/ended: no running pod; claim/default/ended-gpu: reserved for podgroups.scheduling.k8s.io/ended, and no pod uses it
      stop      default/gen: gen-0, gen-1; claim/default/gen-gpu-6lrvq: created for PodGroup gen, and the older claim controller creates new, unallocated claims for its running pods
      running   default/mix: mix-0
      running   default/pair: pair-0
      running   default/raw: raw-0, raw-1; not scheduled: raw-late
      stop      default/sim: sim-0, sim-1; not scheduled: sim-late; claim/default/sim-gpu-2z6cl: created for PodGroup sim, and the older claim controller creates new, unallocated claims for its running pods
      running   team/team: team-0
    Step 1a: Stop groups that cannot be kept, while the gates are on:
      Why:           older claim controllers create new claims without devices for the running pods, even if the PodGroup's claim was converted; without the gate, no controller deallocates claims of PodGroups
      First:         agree with the owners first
      Manual steps:  scale the controllers of their pods to 0, or the pods are recreated and reserved for their group again; continue when these groups have no pods left
      Run:
        kubectl dra snapshot --no-redact --out=before-downgrade.json
      Decide:
        kubectl delete pod/both-0 pod/both-1 --namespace=default --ignore-not-found
        kubectl delete podgroups.scheduling.k8s.io/both --namespace=default --ignore-not-found
        kubectl wait --for=delete resourceclaim/both-nic-94rpf --namespace=default --timeout=2m
        kubectl delete podgroups.scheduling.k8s.io/ended --namespace=default --ignore-not-found
        kubectl delete pod/gen-0 pod/gen-1 --namespace=default --ignore-not-found
        kubectl delete podgroups.scheduling.k8s.io/gen --namespace=default --ignore-not-found
        kubectl wait --for=delete resourceclaim/gen-gpu-6lrvq --namespace=default --timeout=2m
        kubectl delete pod/sim-0 pod/sim-1 pod/sim-late --namespace=default --ignore-not-found
        kubectl delete podgroups.scheduling.k8s.io/sim --namespace=default --ignore-not-found
        kubectl wait --for=delete resourceclaim/sim-gpu-2z6cl --namespace=default --timeout=2m
    Step 1b: Schedule members that have no node yet, or delete them:
      Why:           the scheduler reserves claims for the group when it binds its members; afterwards members are scheduled one by one, without their group
      First:         agree with the owners first
      Manual steps:  podgroup/default/raw: wait until these pods have a node, or delete them; scale down the controller of one that is recreated: pod/default/raw-late
                     do not start, scale up or restart other members of groups from here until the end
      Decide:
        kubectl delete pod/raw-late --namespace=default --ignore-not-found
    Step 2: Convert reservations for groups into lists of pods:
      Why:       an older claim controller never removes the entry of a PodGroup: without this step the claim is never deallocated, and its namespace is never deleted
      Run:
        kubectl dra convert --to-version=1.36 --wait --timeout=10m --yes
      Continue:  on exit code 0 or 1
    Step 3: Turn DRAWorkloadResourceClaims off in kube-scheduler and kube-controller-manager:
      Why:           with the gate on, the entry of the group is added again whenever a member starts or finishes
      Manual steps:  restart every replica, and wait until the old processes have exited and their leases were taken over
                     keep GenericWorkload on: without it PodGroups cannot be deleted in step 5
      Restart:       kube-scheduler with DRAWorkloadResourceClaims=false, GenericWorkload=true
                     kube-controller-manager with DRAWorkloadResourceClaims=false, GenericWorkload=true
    Step 4a: Convert entries that were added in between:
      Why:       a scheduling attempt that began before the first conversion binds its pod without any entry, and kube-controller-manager adds none for a member of a group
      Run:
        kubectl dra convert --to-version=1.36 --final --settle=30s --scheduler-feature-gates=DRAWorkloadResourceClaims=false --kcm-feature-gates=DRAWorkloadResourceClaims=false --yes
      Continue:  on exit code 0 or 1
    Step 4b: Remove entries of other kinds whose owner is gone:
      Why:           no Kubernetes controller removes them; in 1.35 and earlier, they keep all entries of the claim from being removed
      First:         agree with the owners first
      Manual steps:  claim/default/foreign is reserved for jobs.batch/default/sweep: ask its owner to remove the entry, or make sure that it is gone
      Decide:
        kubectl dra convert claim/default/foreign --kind=jobs.batch --scheduler-feature-gates=DRAWorkloadResourceClaims=false --kcm-feature-gates=DRAWorkloadResourceClaims=false --yes
    Step 4c: Verify:
      Why:       after this step, no component repairs a list
      Run:
        kubectl dra convert verify
      Continue:  on exit code 0 or 1
    Step 5a: Save and delete Workloads and PodGroups:
      Why:           an older API server cannot read them: they are hidden and cannot be deleted, and with GenericWorkload on it never becomes ready. Before step 2, this takes the devices from running pods
      Manual steps:  where scheduling.k8s.io/v1alpha3 is served, delete CompositePodGroups too
      Run:
        kubectl get podgroups.scheduling.k8s.io,workloads.scheduling.k8s.io -A -o yaml > groups-before-downgrade.yaml
        kubectl delete workloads.scheduling.k8s.io/wl --namespace=default --ignore-not-found --wait=false
        kubectl delete podgroups.scheduling.k8s.io/both podgroups.scheduling.k8s.io/conv podgroups.scheduling.k8s.io/ended podgroups.scheduling.k8s.io/gen podgroups.scheduling.k8s.io/mix podgroups.scheduling.k8s.io/pair \
          podgroups.scheduling.k8s.io/raw podgroups.scheduling.k8s.io/sim --namespace=default --ignore-not-found --wait=false
        kubectl delete podgroups.scheduling.k8s.io/team --namespace=team --ignore-not-found --wait=false
    Step 5b: Remove the finalizer from PodGroups whose pods keep running:
      Why:           the finalizer keeps a PodGroup as long as it has pods
      First:         finish the manual steps first
      Manual steps:  only after `kubectl dra convert verify` of step 4 has found nothing: an entry for a PodGroup that is gone takes the devices from running pods while the gate is on
      Decide:
        kubectl patch podgroups.scheduling.k8s.io/conv --namespace=default --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
        kubectl patch podgroups.scheduling.k8s.io/mix --namespace=default --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
        kubectl patch podgroups.scheduling.k8s.io/pair --namespace=default --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
        kubectl patch podgroups.scheduling.k8s.io/raw --namespace=default --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
        kubectl patch podgroups.scheduling.k8s.io/team --namespace=team --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
      Continue:      on exit code 0 or 1
    Step 6: Save and delete DeviceTaintRules:
      Why:           1.36 does not serve them by default, so they cannot be deleted there; a 1.35 that serves them cannot read them, and its scheduler never starts
      Manual steps:  from here on devicetaintrule/drain-node-4 (example.com/maintenance:NoExecute) is not enforced: ask the driver's owner to taint the devices in their slices, or cordon the nodes
                     from here on devicetaintrule/no-new-nic (example.com/reserved:NoSchedule) is not enforced: ask the driver's owner to taint the devices in their slices, or cordon the nodes
      Run:
        kubectl get devicetaintrules.resource.k8s.io -o yaml > devicetaintrules-before-downgrade.yaml
        kubectl delete devicetaintrules.resource.k8s.io/drain-node-4 devicetaintrules.resource.k8s.io/no-new-nic devicetaintrules.resource.k8s.io/preview --ignore-not-found
    Step 7: Turn DRAWorkloadResourceClaims and GenericWorkload off in every component:
      Why:           an older API server never becomes ready with GenericWorkload and groups, and a component does not start with an unknown gate
      Manual steps:  remove scheduling.k8s.io/v1beta1 and v1alpha3 from --runtime-config of kube-apiserver
                     remove gates unknown to 1.36 from --feature-gates, or components will not start
                     remaining errors of `check` are not about groups: resolve them as it says
      Restart:       kube-apiserver with DRAWorkloadResourceClaims=false, GenericWorkload=false
                     kube-scheduler with DRAWorkloadResourceClaims=false, GenericWorkload=false
                     kube-controller-manager with DRAWorkloadResourceClaims=false, GenericWorkload=false
                     kubelet with DRAWorkloadResourceClaims=false, GenericWorkload=false
      Run:
        kubectl dra check --to-version=1.36 --fail-on=error -o wide
      Continue:      on exit code 0 or 1 or 4
    Step 8: Replace the components with those of 1.36:
      Why:           until here, gates can be turned on again, and `kubectl dra convert restore` restores the lists of claims; PodGroups and Workloads of step 5 and DeviceTaintRules of step 6 can only be recreated from the saved files, with
                     other UIDs; pods and PodGroups stopped in step 1 cannot be restored
      Manual steps:  no component may be newer than the API server, so replace that last; drain a node before you replace its kubelet
      Restart:       kubelet 1.36
                     kube-scheduler 1.36
                     kube-controller-manager 1.36
                     kube-apiserver 1.36
    Step 9: Verify the result:
      Why:       problems that are found now can still be repaired
      Run:
        kubectl dra convert verify
        kubectl dra check --fail-on=error
      Continue:  on exit code 0 or 1 or 4
    "#);
}

#[test]
fn a_gate_that_goes_off_takes_fewer_steps() {
    let args = [
        "convert",
        "plan",
        "--disable-gate",
        "DRAWorkloadResourceClaims",
        "--details",
    ];
    insta::assert_snapshot!(on_screen(on(&args, "podgroups", &GATES_ON), 240).stdout, @"
    × not ready for disabling DRAWorkloadResourceClaims: 1 decision
      stop     1 group (2 running pods, 1 pending) to resolve with their owners: default/sim
      convert  3 claims while their pods run
    Next: step 1: kubectl dra snapshot --no-redact --out=before-downgrade.json

    Claims:
      convert   default/llm-gpus: podgroups.scheduling.k8s.io/llm-workers becomes llm-0, llm-1, llm-2
      convert   default/mixed: podgroups.scheduling.k8s.io/mix becomes mix-0, mix-other-name
      convert   default/pair-gpu: podgroups.scheduling.k8s.io/pair becomes pair-0, pair-1
      refuse    default/sim-gpu-579qp: created for PodGroup sim
                to resolve: delete its pods and the PodGroup while the gates are on, or, if only a feature gate is disabled, convert it with --include-generated
    Groups:
      running   default/llm-workers: llm-0, llm-1, llm-2
      running   default/mix: mix-0, mix-other-name
      running   default/pair: pair-0, pair-1
      stop      default/sim: sim-0, sim-1; not scheduled: sim-late; claim/default/sim-gpu-579qp: created for PodGroup sim
    Step 1: Stop groups that cannot be kept, while the gates are on:
      Why:           older claim controllers create new claims without devices for the running pods, even if the PodGroup's claim was converted; without the gate, no controller deallocates claims of PodGroups
      First:         agree with the owners first
      Manual steps:  scale the controllers of their pods to 0, or the pods are recreated and reserved for their group again; continue when these groups have no pods left
      Run:
        kubectl dra snapshot --no-redact --out=before-downgrade.json
      Decide:
        kubectl delete pod/sim-0 pod/sim-1 pod/sim-late --namespace=default --ignore-not-found
        kubectl delete podgroups.scheduling.k8s.io/sim --namespace=default --ignore-not-found
        kubectl wait --for=delete resourceclaim/sim-gpu-579qp --namespace=default --timeout=2m
    Step 2: Convert reservations for groups into lists of pods:
      Why:  an older claim controller never removes the entry of a PodGroup: without this step the claim is never deallocated, and its namespace is never deleted
      Run:
        kubectl dra convert --disable-gate=DRAWorkloadResourceClaims --wait --timeout=10m --yes
    Step 3: Turn DRAWorkloadResourceClaims off in kube-scheduler and kube-controller-manager:
      Why:           with the gate on, the entry of the group is added again whenever a member starts or finishes
      Manual steps:  restart every replica, and wait until the old processes have exited and their leases were taken over
                     keep GenericWorkload on: without it PodGroups cannot be deleted in step 5
      Restart:       kube-scheduler with DRAWorkloadResourceClaims=false, GenericWorkload=true
                     kube-controller-manager with DRAWorkloadResourceClaims=false, GenericWorkload=true
    Step 4a: Convert entries that were added in between:
      Why:  a scheduling attempt that began before the first conversion binds its pod without any entry, and kube-controller-manager adds none for a member of a group
      Run:
        kubectl dra convert --disable-gate=DRAWorkloadResourceClaims --final --settle=30s --scheduler-feature-gates=DRAWorkloadResourceClaims=false --kcm-feature-gates=DRAWorkloadResourceClaims=false --yes
    Step 4b: Verify:
      Why:  after this step, no component repairs a list
      Run:
        kubectl dra convert verify
    Step 7: Turn DRAWorkloadResourceClaims off in every component:
      Why:      an older API server never becomes ready with GenericWorkload and groups, and a component does not start with an unknown gate
      Restart:  kube-apiserver with DRAWorkloadResourceClaims=false
                kube-scheduler with DRAWorkloadResourceClaims=false
                kube-controller-manager with DRAWorkloadResourceClaims=false
                kubelet with DRAWorkloadResourceClaims=false
    Step 9: Verify the result:
      Why:       problems that are found now can still be repaired
      Run:
        kubectl dra convert verify
        kubectl dra check --fail-on=error
      Continue:  on exit code 0 or 4
    ");
    let all = plan(
        "podgroups",
        &["--disable-gate", "GenericWorkload", "--include-generated"],
        &GATES_ON,
    );
    let orders: Vec<_> = all["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| &step["order"])
        .collect();
    assert_eq!(json!(orders), json!([1, 1, 2, 3, 4, 4, 5, 5, 7, 9]));
}

#[test]
fn what_is_prepared_is_done() {
    let version = ["--kubernetes-version", "1.37"];
    let gates = [
        "--feature-gates",
        "GenericWorkload=false,DRAWorkloadResourceClaims=false",
    ];
    let ready = plan(
        "downgrade-prepared-1.37",
        &["--to-version", "1.35"],
        &[version, gates].concat(),
    );
    insta::assert_snapshot!(outline(&ready).join("\n"), @"
    1 Stop groups that cannot be kept, while the gates are on (done)
    2 Convert reservations for groups into lists of pods (done)
    3 Turn DRAWorkloadResourceClaims off in kube-scheduler and kube-controller-manager (done)
    4 Convert entries that were added in between
    4 Verify
    5 Save and delete Workloads and PodGroups (done)
    6 Save and delete DeviceTaintRules (done)
    7 Turn DRAWorkloadResourceClaims and GenericWorkload off in every component
    8 Replace the components with those of 1.35
    9 Verify the result
    ");
    let components = &ready["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .find(|step| step["order"] == 8)
        .expect("step 8")["components"];
    let versions: Vec<_> = components
        .as_array()
        .expect("components")
        .iter()
        .map(|change| &change["version"])
        .collect();
    assert_eq!(
        json!(versions),
        json!(["1.36", "1.36", "1.36", "1.36", "1.35", "1.35", "1.35", "1.35"]),
        "each release in between, the API server last"
    );
}

#[test]
fn each_group_is_drained_kept_or_left() {
    let plan = plan("downgrade-groups-1.37", &["--to-version", "1.36"], &GATES_ON);
    let decisions: BTreeMap<String, String> = plan["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| {
            let text = |field: &str| group[field].as_str().expect("a text").to_owned();
            (
                format!("{}/{}", text("namespace"), text("name")),
                text("decision"),
            )
        })
        .collect();
    insta::assert_debug_snapshot!(decisions, @r#"
    {
        "default/both": "Drain",
        "default/conv": "Leave",
        "default/ended": "Drain",
        "default/gen": "Drain",
        "default/mix": "KeepRunning",
        "default/pair": "KeepRunning",
        "default/raw": "KeepRunning",
        "default/sim": "Drain",
        "team/team": "KeepRunning",
    }
    "#);
}

#[test]
fn commands_are_lines_for_a_shell() {
    for target in ["1.36", "1.35", "1.34"] {
        let plan = plan("downgrade-groups-1.37", &["--to-version", target], &GATES_ON);
        let steps = plan["steps"].as_array().expect("steps");
        let commands: Vec<&str> = steps
            .iter()
            .flat_map(|step| step["commands"].as_array().expect("commands"))
            .map(|command| command.as_str().expect("a command"))
            .collect();
        assert!(commands.len() > 15, "{commands:?}");
        for command in commands {
            let check = Invocation::new("/bin/sh").args(["-n", "-c", command]).run();
            assert_eq!(check.code, Some(0), "{command}: {}", check.stderr);
            assert!(command.starts_with("kubectl "), "{command}");
        }
    }
}

#[test]
fn steps_are_for_whole_namespaces() {
    let named = plan(
        "podgroups",
        &["llm-gpus", "-n", "default", "--to-version", "1.36"],
        &GATES_ON,
    );
    assert_eq!(named.get("steps"), None);
    let one = plan(
        "downgrade-groups-1.37",
        &["-n", "team", "--to-version", "1.36"],
        &GATES_ON,
    );
    assert_eq!(one["groups"].as_array().map(Vec::len), Some(1));
    let commands = one["steps"].to_string();
    assert!(
        commands.contains("convert --to-version=1.36 --namespace=team --wait"),
        "{commands}"
    );
}

#[test]
fn one_step_is_printed_with_its_commands() {
    let step = |name: &str| {
        let args = ["convert", "plan", "--to-version", "1.36", "--step", name];
        on(&args, "downgrade-groups-1.37", &GATES_ON).run()
    };
    dra_snapshot!(on(
        &["convert", "plan", "--to-version", "1.36", "--step", "4b"],
        "downgrade-groups-1.37",
        &GATES_ON
    ), @"
    exit_code: 1
    ----- stdout -----
    Step 4b: Remove entries of other kinds whose owner is gone:
      Why:           no Kubernetes controller removes them; in 1.35 and earlier, they keep all entries of the claim from being removed
      First:         agree with the owners first
      Manual steps:  claim/default/foreign is reserved for jobs.batch/default/sweep: ask its owner to remove the entry, or make sure that it is gone
      Decide:
        kubectl dra convert claim/default/foreign --kind=jobs.batch --scheduler-feature-gates=DRAWorkloadResourceClaims=false --kcm-feature-gates=DRAWorkloadResourceClaims=false --yes

    ----- stderr -----
    4 claims to convert, 1 claim kept, 5 claims refused
    ");
    let run = step("1c").exits(2);
    assert!(run.stderr.contains("the plan has no step `1c`"), "{}", run.stderr);
    assert!(
        run.stderr.contains("steps: 1a, 1b, 2, 3, 4a, 4b, 4c"),
        "{}",
        run.stderr
    );
    let run = on(
        &["convert", "plan", "--step", "1a"],
        "downgrade-groups-1.37",
        &GATES_ON,
    )
    .run();
    assert!(run.exits(2).stderr.contains("--to-version"));
}

#[test]
fn a_checklist_is_markdown_for_an_issue() {
    let args = ["convert", "plan", "--to-version", "1.36", "-o", "markdown"];
    dra_snapshot!(on(&args, "downgrade-groups-1.37", &GATES_ON), @"
    exit_code: 1
    ----- stdout -----
    × not ready for a downgrade to 1.36: 4 decisions  

    - [ ] **1a**  decide: Stop groups default/both, default/gen, default/sim (6 running pods, 1 pending); delete group default/ended
    - [ ] **1b**  decide: Schedule or delete pod/default/raw-late
    - [ ] **2**   Convert 4 claims while their pods run; 1 more after step 1b
    - [ ] **3**   Turn DRAWorkloadResourceClaims off in kube-scheduler and kube-controller-manager
    - [ ] **4a**  Convert entries that were added in between
    - [ ] **4b**  decide: Ask the owner of jobs.batch/default/sweep (claim/default/foreign) to remove its entry
    - [ ] **4c**  Verify
    - [ ] **5a**  Save and delete 9 PodGroups and 1 Workload
    - [ ] **5b**  decide: Remove the finalizer from 5 PodGroups with running pods
    - [ ] **6**   Save and delete 3 DeviceTaintRules (2 enforced)
    - [ ] **7**   Turn DRAWorkloadResourceClaims and GenericWorkload off in every component
    - [ ] **8**   Replace the components with those of 1.36
    - [ ] **9**   Verify the result

    Next: step 1a:

    ```sh
    kubectl dra snapshot --no-redact --out=before-downgrade.json
    ```

    One step: --step 1a; checklist: -o markdown  

    More: `kubectl dra convert plan --to-version 1.36 -o markdown --from tests/data/snapshots/downgrade-groups-1.37.yaml --kubernetes-version 1.37 --feature-gates GenericWorkload=true,DRAWorkloadResourceClaims=true --details`

    ----- stderr -----
    4 claims to convert, 1 claim kept, 5 claims refused
    ");
}
