//! A conversion on files: what was planned has changed, and not a byte of anything else.

use std::fmt::Write as _;
use std::path::Path;

use super::GATES_ON;
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

/// Lines that are in one text only, with the sign of the text: what is left by a longest common subsequence.
fn changes(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            common[a * width + b] = if old[a] == new[b] {
                common[(a + 1) * width + b + 1] + 1
            } else {
                common[(a + 1) * width + b].max(common[a * width + b + 1])
            };
        }
    }
    let mut text = String::new();
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            (a, b) = (a + 1, b + 1);
        } else if a < old.len()
            && (b == new.len() || common[(a + 1) * width + b] >= common[a * width + b + 1])
        {
            let _ = writeln!(text, "-{}", old[a]);
            a += 1;
        } else {
            let _ = writeln!(text, "+{}", new[b]);
            b += 1;
        }
    }
    text
}

#[test]
fn only_the_lists_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("converted.yaml");
    let from = "tests/data/snapshots/downgrade-groups-1.37.yaml";
    let run = rehearse(from, &out, &["-n", "default", "pair-gpu", "mixed", "both-gpu"]).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (old, new) = (
        std::fs::read_to_string(from).expect("the snapshot"),
        std::fs::read_to_string(&out).expect("the file that was written"),
    );
    insta::assert_snapshot!(changes(&old, &new), @r#"
    -    - apiGroup: scheduling.k8s.io
    -      resource: podgroups
    -      name: both
    -      uid: eee61d0b-920f-46d6-ad95-4b07ab245200
    +    - name: "both-0"
    +      resource: "pods"
    +      uid: "e783629a-6b83-4b3c-8e2b-4ba046c98829"
    +    - name: "both-1"
    +      resource: "pods"
    +      uid: "d830cedc-c561-45a1-b548-bd4344616bbc"
    -    - apiGroup: scheduling.k8s.io
    -      resource: podgroups
    -      name: mix
    -      uid: "6f4a5821-05d0-4102-b065-581016e56aec"
    +    - name: "mix-0"
    +      resource: "pods"
    +      uid: "adf2c9a6-1128-4591-9711-ac173eb7798f"
    -    - apiGroup: scheduling.k8s.io
    -      resource: podgroups
    -      name: pair
    -      uid: "7d6c1d3e-5a2e-4c53-bf75-e85f6e66a824"
    +    - name: "pair-0"
    +      resource: "pods"
    +      uid: "cff1f16c-2852-423f-b87f-51f165c2d48d"
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
    let out = folder.path().join("released.yaml");
    let from = "tests/data/snapshots/downgrade-groups-1.37.yaml";
    let entry = "--entry=podgroups.scheduling.k8s.io/ended";
    let run = rehearse(
        from,
        &out,
        &["-n", "default", "ended-gpu", "--release-unused", entry],
    )
    .run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (old, new) = (
        std::fs::read_to_string(from).expect("the snapshot"),
        std::fs::read_to_string(&out).expect("the file that was written"),
    );
    let changes = changes(&old, &new);
    for gone in [
        "-    finalizers:\n",
        "-    - resource.kubernetes.io/delete-protection\n",
        "-    reservedFor:\n",
    ] {
        assert!(changes.contains(gone), "{gone:?} in {changes}");
    }
    // Nothing is left of the status, which YAML has to be told.
    let added: Vec<&str> = changes.lines().filter(|line| line.starts_with('+')).collect();
    assert_eq!(added, ["+    {}"], "{changes}");
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
    let out = folder.path().join("copy.yaml");
    let from = "tests/data/snapshots/downgrade-prepared-1.37.yaml";
    let run = rehearse(from, &out, &[]).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(
        std::fs::read(from).expect("the snapshot"),
        std::fs::read(out).expect("the copy")
    );
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
        ("-", &[][..], "read twice"),
        ("tests/data/snapshots", &[], "is a directory"),
        (from, &["--from", from], "one `--from` at a time"),
    ] {
        let run = rehearse(from, &out, flags).stdin("").run();
        assert_eq!(run.code, Some(2), "{from}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{from}: {}", run.stderr);
    }
    let run = dra(&["convert", "--from", from]).run();
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    // What is written in a way that is not changed is named, and not written.
    let anchored = folder.path().join("anchored.yaml");
    std::fs::write(
        &anchored,
        "kind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: {name: c, namespace: team, uid: u, resourceVersion: '1'}\n\
         status:\n  allocation: {}\n  reservedFor: &list\n  - {apiGroup: batch, resource: jobs, name: j, uid: v}\n---\n\
         kind: Pod\napiVersion: v1\nmetadata: {name: p, namespace: team, uid: up}\n\
         spec: {nodeName: a, resourceClaims: [{name: c, resourceClaimName: c}]}\nstatus: {phase: Running}\n",
    )
    .expect("the file is written");
    let run = rehearse(anchored.to_str().expect("a path"), &out, &["--all-kinds"]).run();
    assert_eq!(run.code, Some(3), "{}\n{}", run.stdout, run.stderr);
    assert!(
        run.stderr.contains("line 1: team/c: it has an anchor"),
        "{}",
        run.stderr
    );
    assert!(!out.exists());
}
