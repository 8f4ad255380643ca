//! A conversion on files: what was planned has changed, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::GATES_ON;
use crate::rehearsal::objects_of;
use crate::support::command::dra;
use crate::support::process::{Invocation, Run};

fn rehearse(from: &str, out: &Path, more: &[&str]) -> Invocation {
    let out = out.to_str().expect("a path");
    dra(&[&["convert", "--from", from, "--out", out], more, &GATES_ON[..]].concat())
}

fn verify(from: &Path, more: &[&str]) -> Run {
    let from = from.to_str().expect("a path");
    dra(&[&["convert", "verify", "--from", from], more, &GATES_ON[..]].concat()).run()
}

/// Every value of a file's objects with where it is, but for those that are in no snapshot.
fn values(path: &str) -> BTreeSet<String> {
    fn add(place: &str, value: &Value, values: &mut BTreeSet<String>) {
        match value {
            Value::Array(elements) if !elements.is_empty() => {
                for (index, element) in elements.iter().enumerate() {
                    add(&format!("{place}[{index}]"), element, values);
                }
            }
            Value::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    add(&format!("{place}.{key}"), value, values);
                }
            }
            _ => {
                values.insert(format!("{place}: {value}"));
            }
        }
    }
    let mut values = BTreeSet::new();
    for object in objects_of(path) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = text(&object["kind"]);
        if !["SnapshotInfo", "Job"].contains(&kind.as_str()) {
            let name = text(&object["metadata"]["name"]);
            add(&format!("{kind} {name} "), &object, &mut values);
        }
    }
    values
}

/// Values that are in one file only, with the sign of the file.
fn changes(old: &str, new: &Path) -> String {
    let (old, new) = (values(old), values(new.to_str().expect("a path")));
    let gone = old.difference(&new).map(|value| format!("-{value}\n"));
    let added = new.difference(&old).map(|value| format!("+{value}\n"));
    gone.chain(added).collect()
}

#[test]
fn only_the_lists_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("converted.json");
    let from = "tests/data/snapshots/downgrade-groups-1.37.yaml";
    let run = rehearse(from, &out, &["-n", "default", "pair-gpu", "mixed", "both-gpu"]).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    insta::assert_snapshot!(changes(from, &out), @r#"
    -ResourceClaim both-gpu .status.reservedFor[0].apiGroup: "scheduling.k8s.io"
    -ResourceClaim both-gpu .status.reservedFor[0].name: "both"
    -ResourceClaim both-gpu .status.reservedFor[0].resource: "podgroups"
    -ResourceClaim both-gpu .status.reservedFor[0].uid: "eee61d0b-920f-46d6-ad95-4b07ab245200"
    -ResourceClaim mixed .status.reservedFor[0].apiGroup: "scheduling.k8s.io"
    -ResourceClaim mixed .status.reservedFor[0].name: "mix"
    -ResourceClaim mixed .status.reservedFor[0].resource: "podgroups"
    -ResourceClaim mixed .status.reservedFor[0].uid: "6f4a5821-05d0-4102-b065-581016e56aec"
    -ResourceClaim mixed .status.reservedFor[1].name: "solo"
    -ResourceClaim mixed .status.reservedFor[1].uid: "3a812c4a-4c53-42d6-9ff6-24d9b0c0ea8d"
    -ResourceClaim pair-gpu .status.reservedFor[0].apiGroup: "scheduling.k8s.io"
    -ResourceClaim pair-gpu .status.reservedFor[0].name: "pair"
    -ResourceClaim pair-gpu .status.reservedFor[0].resource: "podgroups"
    -ResourceClaim pair-gpu .status.reservedFor[0].uid: "7d6c1d3e-5a2e-4c53-bf75-e85f6e66a824"
    +ResourceClaim both-gpu .status.reservedFor[0].name: "both-0"
    +ResourceClaim both-gpu .status.reservedFor[0].resource: "pods"
    +ResourceClaim both-gpu .status.reservedFor[0].uid: "e783629a-6b83-4b3c-8e2b-4ba046c98829"
    +ResourceClaim both-gpu .status.reservedFor[1].name: "both-1"
    +ResourceClaim both-gpu .status.reservedFor[1].resource: "pods"
    +ResourceClaim both-gpu .status.reservedFor[1].uid: "d830cedc-c561-45a1-b548-bd4344616bbc"
    +ResourceClaim mixed .status.reservedFor[0].name: "solo"
    +ResourceClaim mixed .status.reservedFor[0].resource: "pods"
    +ResourceClaim mixed .status.reservedFor[0].uid: "3a812c4a-4c53-42d6-9ff6-24d9b0c0ea8d"
    +ResourceClaim mixed .status.reservedFor[1].name: "mix-0"
    +ResourceClaim mixed .status.reservedFor[1].uid: "adf2c9a6-1128-4591-9711-ac173eb7798f"
    +ResourceClaim pair-gpu .status.reservedFor[0].name: "pair-0"
    +ResourceClaim pair-gpu .status.reservedFor[0].resource: "pods"
    +ResourceClaim pair-gpu .status.reservedFor[0].uid: "cff1f16c-2852-423f-b87f-51f165c2d48d"
    "#);
    let proof = verify(&out, &["-n", "default", "pair-gpu", "mixed", "both-gpu"]);
    assert_eq!(
        (proof.code, proof.stdout.as_str()),
        (Some(0), ""),
        "{}",
        proof.stderr
    );
}

#[test]
fn a_released_claim_loses_its_finalizer_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("released.json");
    let from = "tests/data/snapshots/downgrade-groups-1.37.yaml";
    let entry = "--entry=podgroups.scheduling.k8s.io/ended";
    let run = rehearse(
        from,
        &out,
        &["-n", "default", "ended-gpu", "--release-unused", entry],
    )
    .run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    insta::assert_snapshot!(changes(from, &out), @r#"
    -ResourceClaim ended-gpu .metadata.finalizers[0]: "resource.kubernetes.io/delete-protection"
    -ResourceClaim ended-gpu .status.allocation.allocationTimestamp: "2026-11-21T11:13:52Z"
    -ResourceClaim ended-gpu .status.allocation.devices.results[0].device: "gpu-2"
    -ResourceClaim ended-gpu .status.allocation.devices.results[0].driver: "gpu.example.com"
    -ResourceClaim ended-gpu .status.allocation.devices.results[0].pool: "gpu-node-2"
    -ResourceClaim ended-gpu .status.allocation.devices.results[0].request: "gpu"
    -ResourceClaim ended-gpu .status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].key: "metadata.name"
    -ResourceClaim ended-gpu .status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].operator: "In"
    -ResourceClaim ended-gpu .status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].values[0]: "gpu-node-2"
    -ResourceClaim ended-gpu .status.reservedFor[0].apiGroup: "scheduling.k8s.io"
    -ResourceClaim ended-gpu .status.reservedFor[0].name: "ended"
    -ResourceClaim ended-gpu .status.reservedFor[0].resource: "podgroups"
    -ResourceClaim ended-gpu .status.reservedFor[0].uid: "86eb7139-d620-4b0e-a3e1-3208223a60bd"
    +ResourceClaim ended-gpu .status: {}
    "#);
}

#[test]
fn the_whole_of_a_cluster_is_in_order_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    for (example, more) in [
        (
            "example:groups",
            &[
                "--include-generated",
                "--disable-gate",
                "DRAWorkloadResourceClaims",
            ][..],
        ),
        ("example:downgrade", &["--all-kinds", "-n", "team"]),
    ] {
        for name in ["out.json", "out.json.gz", "out.json.zst"] {
            let out = folder.path().join(name);
            let off = [
                "--scheduler-feature-gates",
                "DRAWorkloadResourceClaims=false",
                "--kcm-feature-gates",
                "DRAWorkloadResourceClaims=false",
            ];
            let to = out.to_str().expect("a path");
            let run = dra(&[&["convert", "--from", example, "--out", to], more, &off].concat()).run();
            assert_eq!(run.code, Some(0), "{example}: {}\n{}", run.stdout, run.stderr);
            let scope = if example == "example:downgrade" {
                &["-n", "team"][..]
            } else {
                &[]
            };
            let proof = verify(&out, scope);
            assert_eq!(
                proof.code,
                Some(0),
                "{example}: {}\n{}",
                proof.stdout,
                proof.stderr
            );
        }
    }
    // No other file lies beside them.
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 3);
}

#[test]
fn nothing_to_do_is_a_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("copy.json");
    let from = "tests/data/snapshots/downgrade-prepared-1.37.yaml";
    let run = rehearse(from, &out, &[]).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(changes(from, &out), "");
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let from = "tests/data/snapshots/podgroups.yaml";
    let missing = folder.path().join("missing/out.yaml");
    let run = rehearse(from, &missing, &[]).run();
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("cannot write"), "{}", run.stderr);
    let out = folder.path().join("out.yaml");
    for (from, flags, words) in [
        ("-", &[][..], "standard input can be read only once"),
        ("/dev/null", &[], "`/dev/null` is not a regular file"),
        (from, &["--from", "-"], "standard input can be read only once"),
    ] {
        let run = rehearse(from, &out, flags).stdin("").run();
        assert_eq!(run.code, Some(2), "{from}: {}", run.stderr);
        assert!(run.stderr.contains("twice"), "{from}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{from}: {}", run.stderr);
    }
    let run = dra(&["convert", "--from", from]).run();
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(!out.exists());
}

/// A claim that is reserved for a Job, and the pod of it, in YAML with an anchor, an alias and comments.
const ANCHORED: [&str; 2] = [
    "kind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: {name: &c c, namespace: team, uid: u, resourceVersion: '1'}\n\
     spec: {future: [1.5]}\nstatus:\n  allocation: {devices: {}, reservedForAnyPod: true}\n  reservedFor: &list # these\n\
     \x20 - {apiGroup: batch, resource: jobs, name: j, uid: v}\n  - {resource: other, name: o, uid: o, since: *c}\n",
    "kind: Pod\napiVersion: v1\nmetadata: {name: p, namespace: team, uid: up}\n\
     spec: {nodeName: a, resourceClaims: [{name: c, resourceClaimName: c}]}\nstatus: {phase: Running}\n",
];

#[test]
fn files_and_directories_become_one_snapshot_in_any_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let from = folder.path().join("from");
    std::fs::create_dir(&from).expect("a folder");
    for (name, text) in ["claim.yaml", "pod.yaml"].into_iter().zip(ANCHORED) {
        std::fs::write(from.join(name), text).expect("the file is written");
    }
    let at = |name: &str| from.join(name).to_str().expect("a path").to_owned();
    let (claim, pod) = (at("claim.yaml"), at("pod.yaml"));
    for (from, more) in [(at(""), vec![]), (claim, vec!["--from", &pod])] {
        let out = folder.path().join("out.json");
        let more = [&more[..], &["--all-kinds", "--complete"]].concat();
        let run = rehearse(&from, &out, &more).run();
        assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
        let objects = objects_of(out.to_str().expect("a path"));
        let claim = objects.iter().find(|object| object["kind"] == "ResourceClaim");
        let claim = claim.expect("the claim");
        assert_eq!(claim["spec"], json!({"future": [1.5]}));
        assert_eq!(
            claim["status"],
            json!({"allocation": {"devices": {}}, "reservedFor": [{"resource": "pods", "name": "p", "uid": "up"}]})
        );
        // What no file has is known of the copy as it was of the files.
        assert_eq!(verify(&out, &[]).code, Some(0));
    }
}
