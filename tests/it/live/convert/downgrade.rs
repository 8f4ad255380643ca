//! Real downgrades: the control plane of 1.37 is replaced by older ones on the same data, with pods running all the time.
//!
//! The older control planes take minutes to build, so `cargo test` leaves these tests out; `make downgrade` runs them, for the
//! releases that `KUBECTL_DRA_DOWNGRADE` names. There is no kubelet, and etcd stays what it is.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::steps::{parse, with_kubelets};
use super::{
    ON, Records, cluster, convert, end_pods, groups, is_free, member_of, named, reserve_for_job, several,
    small, sorted,
};
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, namespace, pod, pod_group, request, taint, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, older, reference};
use crate::support::wait::wait_for;

/// Time that the claim controller needs to deallocate claims of finished pods.
const FREED_WITHIN: Duration = Duration::from_secs(10);

/// The releases that there are, in the order in which they are gone back to.
const RELEASES: [&str; 2] = ["1.36", "1.35"];

/// Groups with a named claim and one that is made for them, and what their pods call that.
const OF_TWO_CLAIMS: [(&str, &str); 2] = [("both", "nic"), ("conv", "net")];

/// A control plane that `minor` can take the place of, if that is to be tried. What takes minutes to build is there when this returns.
fn before(minor: &str) -> Option<Cluster> {
    let wanted = std::env::var("KUBECTL_DRA_DOWNGRADE").unwrap_or_default();
    if !wanted.split(',').any(|wanted| wanted == minor) {
        return None;
    }
    // The way to 1.35 leads over 1.36.
    for built in RELEASES.iter().take_while(|built| **built != minor) {
        older(built);
    }
    older(minor);
    Some(cluster())
}

/// Claims of every kind that a downgrade has to do with, and the pods that use them.
///
/// `llm` is reserved for a group, `plain` and the claim of `own` for pods; that of `sim` was made for its group; `team` lies in another
/// namespace. The others are those of [`several`].
fn populate(cluster: &Cluster) {
    groups(cluster, &["llm"], 3);
    several(cluster);
    let by_template = json!({"name": "gpu", "resourceClaimTemplateName": "one-gpu"});
    cluster.create_all(&[
        namespace("team"),
        claim("team", claim_spec([gpu()])).in_namespace("team"),
        pod_group("team", [named("team")]).in_namespace("team"),
        claim("plain", claim_spec([gpu()])),
        template("one-gpu", claim_spec([gpu()])),
        pod_group("sim", [by_template]),
    ]);
    let of_sim = |name: &str| small(pod(name)).template_claim("gpu", "one-gpu").in_group("sim");
    cluster.run(&[
        member_of("team", 0).in_namespace("team"),
        small(pod("plain-0")).named_claim("gpu", "plain"),
        small(pod("plain-1")).named_claim("gpu", "plain"),
        small(pod("own")).template_claim("gpu", "one-gpu"),
        of_sim("sim-0"),
        of_sim("sim-1"),
    ]);
    cluster.create(&taint_rule(
        "reserved",
        json!({"driver": "absent.example.com"}),
        taint("example.com/reserved", "", "NoSchedule"),
    ));
}

/// Returns what the tool reads, by name, without what says only that something was written; events come and go.
pub(in crate::live) fn state(cluster: &Cluster) -> BTreeMap<String, Value> {
    let dump = cluster.dump();
    let items = dump["items"].as_array().expect("items");
    items
        .iter()
        .filter(|item| item["kind"] != "Event")
        .map(|item| {
            let mut item = item.clone();
            item["metadata"]
                .as_object_mut()
                .map(|metadata| metadata.remove("resourceVersion"));
            (reference(&item), item)
        })
        .collect()
}

/// The paths below `path` at which two objects differ.
fn differences(path: &str, before: &Value, after: &Value, into: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let names: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
            for name in names {
                differences(&format!("{path}.{name}"), &before[name], &after[name], into);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differences(&format!("{path}[{index}]"), one, other, into);
            }
        }
        _ if before == after => {}
        _ => into.push(format!("{path}: {before} -> {after}")),
    }
}

/// Returns what another control plane has made of the objects.
pub(in crate::live) fn changes(
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
) -> Vec<String> {
    let mut found = Vec::new();
    for name in before
        .keys()
        .chain(after.keys().filter(|name| !before.contains_key(*name)))
    {
        let object = |state: &BTreeMap<String, Value>| state.get(name).cloned().unwrap_or(Value::Null);
        differences(name, &object(before), &object(after), &mut found);
    }
    found
}

/// The devices of each claim and the UID of each pod, which must stay what they are as long as the pod runs.
fn lasting(cluster: &Cluster) -> BTreeMap<String, Value> {
    let claims = cluster.list("claim");
    let pods = cluster.list("pod");
    let devices = claims
        .iter()
        .map(|claim| (reference(claim), claim["status"]["allocation"].clone()));
    let uids = pods
        .iter()
        .filter(|pod| pod["status"]["phase"] == "Running")
        .map(|pod| (reference(pod), pod["metadata"]["uid"].clone()));
    devices.chain(uids).collect()
}

/// Waits until every claim is free, and returns how long that took.
#[track_caller]
fn wait_free(cluster: &Cluster) -> Duration {
    let begin = Instant::now();
    let held =
        |claims: &[Value]| -> Vec<Value> { claims.iter().filter(|claim| !is_free(claim)).cloned().collect() };
    let freed = crate::support::wait::try_wait(|| match held(&cluster.list("claim")) {
        held if held.is_empty() => Ok(()),
        held => Err(held),
    });
    if let Err(held) = freed {
        panic!("claims that no pod uses keep their devices: {held:#?}");
    }
    begin.elapsed()
}

/// Waits until scheduler and claim controller have seen everything that was there when they started: they have made, allocated and
/// reserved the claim of a new pod, and freed it when it was gone.
fn settle(cluster: &Cluster) {
    cluster.run(&[small(pod("sentinel")).template_claim("gpu", "one-gpu")]);
    let made = cluster.claim_of("pod/sentinel", "gpu");
    cluster.delete_now("pod/sentinel");
    cluster.wait_gone(&made);
}

#[track_caller]
fn prepared(minor: &str) {
    let Some(cluster) = before(minor) else { return };
    populate(&cluster);
    // Nowhere to run: the runbook waits for such members, or deletes them.
    let nowhere = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}});
    cluster.create(&member_of("llm", 3).with(nowhere));
    let begin = lasting(&cluster);
    let plan = cluster
        .kubectl_dra(["convert", "plan", "--to-version", minor, ON])
        .run()
        .exits(1);
    let steps = parse(&plan.stdout);
    assert!(steps.len() > 9, "{}", plan.stdout);

    let lasts = |when: &str| {
        let now = lasting(&cluster);
        for (name, was) in &begin {
            // Its claim is made for it, so it has to end.
            if !name.contains("sim-") {
                assert_eq!(now.get(name), Some(was), "{name} {when}\n{}", plan.stdout);
            }
        }
    };
    let (before, replacing): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.order < 8);
    for step in before {
        step.follow(&cluster);
        lasts(&format!("after step {}", step.order));
    }
    let old = state(&cluster);
    let (replacing, proof): (Vec<_>, Vec<_>) = replacing.into_iter().partition(|step| step.order == 8);
    for step in replacing {
        step.follow(&cluster);
    }
    settle(&cluster);
    lasts("after the downgrade");
    let found = changes(&old, &state(&cluster));
    let group = |change: &String| minor == "1.35" && change.contains(".spec.schedulingGroup: ");
    let other: Vec<_> = found.iter().filter(|change| !group(change)).collect();
    assert!(other.is_empty(), "the downgrade changed {other:#?}");
    assert_eq!(!found.is_empty(), minor == "1.35", "{found:#?}");
    for step in proof {
        step.follow(&cluster);
    }
    cluster.kubectl_dra(["convert", "verify"]).run().exits(0);

    end_pods(&cluster);
    let took = wait_free(&cluster);
    let _ = writeln!(
        std::io::stderr(),
        "{minor}: every claim is free {took:.1?} after the end of its pods"
    );
    assert!(took < FREED_WITHIN, "{took:?}");
    // The devices serve again.
    cluster.run(&[
        small(pod("later")).named_claim("gpu", "llm"),
        small(pod("later-pair")).named_claim("gpu", "pair"),
    ]);
    cluster.delete("namespace/team");
    with_kubelets(&cluster, || cluster.wait_gone("namespace/team"));
}

/// Claims of which a downgrade makes other things, and the pods that use them: what [`populate`] adds.
///
/// The group `saved` was converted, `over` has ended, of `half` one member, and `sweep` is reserved for a pod and a job that is gone. `both` and `conv` have two
/// claims, a named one and one that was made for the group; that of `conv` was converted. Both are returned.
fn populate_for_repair(cluster: &Cluster) -> [String; 2] {
    groups(cluster, &["saved", "over"], 1);
    groups(cluster, &["half"], 2);
    cluster.create_all(&[
        template("one-nic", claim_spec([request("nic", "nic.example.com")])),
        claim("sweep", claim_spec([gpu()])),
    ]);
    cluster.run(&[small(pod("sweep")).named_claim("gpu", "sweep")]);
    reserve_for_job(cluster, "sweep");
    let made = OF_TWO_CLAIMS.map(|(name, second)| {
        let by_template = json!({"name": second, "resourceClaimTemplateName": "one-nic"});
        let member = format!("{name}-0");
        cluster.run(&[
            claim(name, claim_spec([gpu()])),
            pod_group(name, [named(name), by_template]),
            small(pod(&member))
                .named_claim("gpu", name)
                .template_claim(second, "one-nic")
                .in_group(name),
        ]);
        cluster.claim_of(&format!("pod/{member}"), second)
    });
    let saved = ["claim/default/saved"];
    convert(cluster, &Records::new().backup(), &saved).run().exits(0);
    let generated = [
        &made[1],
        "--disable-gate=DRAWorkloadResourceClaims",
        "--include-generated",
    ];
    convert(cluster, &Records::new().backup(), &generated)
        .run()
        .exits(0);
    for ended in ["pod/over-0", "pod/half-0"] {
        cluster.set_phase(ended, Phase::Succeeded);
    }
    made
}

/// Returns how often `text` has a line with all of `words`.
fn lines_with(text: &str, words: &[&str]) -> usize {
    let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
    text.lines().filter(has_all).count()
}

#[track_caller]
fn unprepared(minor: &str) {
    let Some(cluster) = before(minor) else { return };
    populate(&cluster);
    let generated = cluster.claim_of("pod/sim-0", "gpu");
    let [both, conv] = populate_for_repair(&cluster);
    cluster.reconfigure(|options| {
        options.set_runtime_config("");
        for component in Component::GATED {
            options.clear_gates(component);
            options.set_release(component, minor);
        }
    });
    settle(&cluster);
    // The older claim controller adds the pods and leaves the groups.
    let sorted = |claim: &str| sorted(&cluster, claim);
    let shows = |claim: &str, wanted: &[&str]| {
        wait_for(&format!("{claim} is reserved for {wanted:?}"), || {
            (sorted(claim) == wanted).then_some(())
        });
    };
    shows(
        "claim/llm",
        &["podgroups/llm", "pods/llm-0", "pods/llm-1", "pods/llm-2"],
    );
    shows("claim/mixed", &["podgroups/mixed", "pods/mixed-0", "pods/solo"]);
    shows("claim/team/team", &["podgroups/team", "pods/team-0"]);
    shows("claim/both", &["podgroups/both", "pods/both-0"]);
    shows("claim/conv", &["podgroups/conv", "pods/conv-0"]);
    shows("claim/saved", &["pods/saved-0"]);
    shows("claim/sweep", &["jobs/render", "pods/sweep"]);
    told_of_other_claims(&cluster, &both, &conv);

    // Where pods still run the tool only has to take away what is no pod.
    for (claim, flags) in [("llm", &[][..]), ("sweep", &["--all-kinds"])] {
        let run = cluster
            .kubectl_dra(["convert", "--yes", &format!("claim/default/{claim}")])
            .args(flags)
            .run()
            .exits(0);
        assert!(run.stdout.contains("Converted"), "{}", run.stdout);
    }
    assert_eq!(sorted("claim/llm"), ["pods/llm-0", "pods/llm-1", "pods/llm-2"]);
    assert_eq!(sorted("claim/sweep"), ["pods/sweep"]);
    // The claim controller adds and removes the entry of the pod that has ended without end, and `convert` may see either.
    let run = cluster
        .kubectl_dra(["convert", "--yes", "claim/default/half"])
        .run();
    assert!(matches!(run.code, Some(0 | 1)), "{}\n{}", run.stdout, run.stderr);
    let half = sorted("claim/half");
    let lives = "pods/half-1".to_owned();
    assert!(
        half.contains(&lives) && !half.contains(&"podgroups/half".to_owned()),
        "{half:?}"
    );

    end_pods(&cluster);
    for claim in ["llm", "plain", "saved", "sweep", "half"] {
        let claim = &format!("claim/{claim}");
        cluster.wait(claim, "it is free", is_free);
    }
    // All others leak: 1.36 leaves what is no pod, 1.35 leaves everything.
    let leaks = |entries: &[&str], pods: &[&str]| -> Vec<String> {
        let pods = if minor == "1.35" { pods } else { &[] };
        entries
            .iter()
            .chain(pods)
            .map(|&entry| entry.to_owned())
            .collect()
    };
    let all = [
        (
            "claim/mixed",
            leaks(&["podgroups/mixed"], &["pods/mixed-0", "pods/solo"]),
        ),
        (
            "claim/pair",
            leaks(
                &["podgroups/pair-a", "podgroups/pair-b"],
                &["pods/pair-a-0", "pods/pair-b-0"],
            ),
        ),
        ("claim/batch", leaks(&["jobs/render"], &["pods/batch"])),
        ("claim/team/team", leaks(&["podgroups/team"], &["pods/team-0"])),
        ("claim/both", leaks(&["podgroups/both"], &["pods/both-0"])),
        ("claim/conv", leaks(&["podgroups/conv"], &["pods/conv-0"])),
        // Nothing lets the claim controller look at it again.
        (&conv, vec!["pods/conv-0".to_owned()]),
    ];
    for (claim, entries) in &all {
        shows(claim, &entries.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(cluster.get(claim)["status"]["allocation"].is_object(), "{claim}");
    }
    // The last of these has a pod that had ended before, whose entry comes and goes.
    for (claim, entry) in [
        (&*generated, "podgroups/sim"),
        (&both, "podgroups/both"),
        ("claim/over", "podgroups/over"),
    ] {
        let held = cluster.get(claim);
        assert!(held["status"]["allocation"].is_object(), "{held:#}");
        assert!(sorted(claim).contains(&entry.to_owned()), "{held:#}");
    }
    cluster.delete("namespace/team");
    cluster.wait("namespace/team", "its claim keeps it", |namespace| {
        let conditions = namespace["status"]["conditions"].as_array();
        let remains = |condition: &Value| {
            condition["type"] == "NamespaceFinalizersRemaining" && condition["status"] == "True"
        };
        conditions.is_some_and(|conditions| conditions.iter().any(remains))
    });

    // Where PodGroups are not served no scheduler reserves for one. Whether the job is gone the user has to say.
    let release = |entry: &[&str]| {
        cluster
            .kubectl_dra(["convert", "--yes", "--all-kinds", "--release-unused"])
            .args(entry)
            .run()
    };
    let groups = release(&[]).exits(1);
    assert_eq!(
        lines_with(&groups.stdout, &[" Released "]),
        8,
        "{}",
        groups.stdout
    );
    assert!(groups.stdout.contains("UnknownKindUnused"), "{}", groups.stdout);
    // What has entries of pods only is the claim controller's, which any write wakes up.
    let ended = cluster.kubectl_dra(["convert", "verify"]).run().exits(1);
    let what = ["EntryWithoutConsumer", "pod conv-0, which has ended"];
    assert_eq!(lines_with(&ended.stdout, &what), 1, "{}", ended.stdout);
    cluster.patch(&conv, &json!({"metadata": {"labels": {"seen": "yes"}}}));
    cluster.wait(&conv, "it is free", is_free);
    let job = release(&["--entry=jobs.batch/render"]).exits(0);
    assert_eq!(lines_with(&job.stdout, &[" Released "]), 1, "{}", job.stdout);
    wait_free(&cluster);
    cluster.wait_gone("namespace/team");
    cluster.kubectl_dra(["convert", "verify"]).run().exits(0);
    cluster.run(&[small(pod("later")).named_claim("gpu", "mixed")]);
}

/// The running pods of `both` and `conv` are told of other claims, which no scheduler allocates. The tool says so, and takes no device away
/// from them.
#[track_caller]
fn told_of_other_claims(cluster: &Cluster, both: &str, conv: &str) {
    for ((group, second), old) in OF_TWO_CLAIMS.into_iter().zip([both, conv]) {
        let new = wait_for("the pod has another claim", || {
            let now = cluster.claim_of(&format!("pod/{group}-0"), second);
            (now != old).then_some(now)
        });
        let new = cluster.wait(&new, "it exists", |claim| claim.is_object());
        assert!(new["status"]["allocation"].is_null(), "{new:#}");
    }
    let plan = cluster
        .kubectl_dra(["convert", "plan", "-o", "wide"])
        .run()
        .exits(1);
    let told = ["GeneratedForPodGroup", "in use by pod both-0", "end pod both-0"];
    assert_eq!(lines_with(&plan.stdout, &told), 1, "{}", plan.stdout);
    let defects = cluster.kubectl_dra(["convert", "verify"]).run().exits(1);
    let told = ["EntryWithoutConsumer", "pod conv-0, which does not use it"];
    assert_eq!(lines_with(&defects.stdout, &told), 1, "{}", defects.stdout);

    let findings = cluster.kubectl_dra(["check"]).run().exits(1);
    for ((group, _), old) in OF_TWO_CLAIMS.into_iter().zip([both, conv]) {
        let told = [
            "DRA019",
            &format!("pod/default/{group}-0"),
            &format!("created after {old}"),
        ];
        assert_eq!(lines_with(&findings.stdout, &told), 1, "{}", findings.stdout);
    }

    let before = [both, conv].map(|claim| cluster.get(claim)["status"].clone());
    for more in [&[][..], &["--include-generated"]] {
        let run = cluster
            .kubectl_dra(["convert", "--yes", "--release-unused", both])
            .args(more)
            .run()
            .exits(1);
        assert!(run.stdout.contains("Refused"), "{}", run.stdout);
    }
    let after = [both, conv].map(|claim| cluster.get(claim)["status"].clone());
    assert_eq!(after, before);
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make downgrade"]
fn the_runbook_leads_to_1_36_without_a_loss() {
    prepared("1.36");
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make downgrade"]
fn the_runbook_leads_to_1_35_without_a_loss() {
    prepared("1.35");
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make downgrade"]
fn without_the_runbook_1_36_leaks_and_is_repaired() {
    unprepared("1.36");
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make downgrade"]
fn without_the_runbook_1_35_leaks_and_is_repaired() {
    unprepared("1.35");
}
