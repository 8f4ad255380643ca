//! `convert` on a real control plane: reservations for PodGroups become pods, whatever gets in the way, and nothing is lost or leaked.

mod account;
mod asking;
mod damage;
pub(super) mod downgrade;
mod examples;
mod faults;
mod kinds;
mod limits;
mod phases;
mod plain;
mod policies;
mod races;
mod releases;
mod rights;
mod steps;
mod timeout;
mod withdrawn;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, pod, pod_group};
use crate::support::cluster::{Cluster, Component, Options, User, reference};
use crate::support::process::Invocation;

const GATES: [&str; 2] = ["GenericWorkload", "DRAWorkloadResourceClaims"];

/// Flags of the operator while the gates are on.
const ON: &str = "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";

/// Flags of the operator once the claim gate is off.
const OFF: [&str; 2] = [
    "--scheduler-feature-gates=DRAWorkloadResourceClaims=false",
    "--kcm-feature-gates=DRAWorkloadResourceClaims=false",
];

/// A control plane that reserves for PodGroups, with GPUs.
fn cluster() -> Cluster {
    let options = GATES
        .iter()
        .fold(Options::default(), |options, gate| options.gate(gate, true));
    let cluster = Cluster::start(&options);
    cluster.add_gpu_nodes(2);
    cluster
}

/// Claims, PodGroups and pods: the claim `NAME` is used by the group `NAME`, whose members are `NAME-0` and so on.
fn groups(cluster: &Cluster, names: &[&str], members: usize) {
    let mut objects = Vec::new();
    for name in names {
        objects.push(claim(name, claim_spec([gpu()])));
        objects.push(pod_group(name, [named(name)]));
    }
    cluster.create_all(&objects);
    let pods: Vec<Value> = names
        .iter()
        .flat_map(|name| (0..members).map(move |member| member_of(name, member)))
        .collect();
    cluster.run(&pods);
}

/// `pair` is used by two groups, `mixed` by a group and a pod, `batch` by a pod and also reserved for a job that is gone.
fn several(cluster: &Cluster) {
    cluster.create_all(&[
        claim("pair", claim_spec([gpu()])),
        pod_group("pair-a", [named("pair")]),
        pod_group("pair-b", [named("pair")]),
        claim("mixed", claim_spec([gpu()])),
        pod_group("mixed", [named("mixed")]),
        claim("batch", claim_spec([gpu()])),
    ]);
    let user = |name: &str, claim: &str| small(pod(name)).named_claim("gpu", claim);
    cluster.run(&[
        user("pair-a-0", "pair").in_group("pair-a"),
        user("pair-b-0", "pair").in_group("pair-b"),
        member_of("mixed", 0),
        user("solo", "mixed"),
        user("batch", "batch"),
    ]);
    reserve_for_job(cluster, "batch");
}

/// Reserves a claim that a pod uses also for the job `render`, which does not exist.
fn reserve_for_job(cluster: &Cluster, claim: &str) {
    let entry = json!({"apiGroup": "batch", "resource": "jobs", "name": "render", "uid": "11111111"});
    cluster.update_status(&format!("claim/{claim}"), |claim| {
        // The pod's entry stays: the claim controller would put it back, at a time that is unknown.
        claim["status"]["reservedFor"]
            .as_array_mut()
            .expect("the pod runs")
            .insert(0, entry.clone());
    });
}

fn named(claim: &str) -> Value {
    json!({"name": "gpu", "resourceClaimName": claim})
}

/// A small member of the group `name` that uses the claim of that name.
fn member_of(name: &str, member: usize) -> Value {
    small(pod(&format!("{name}-{member}")))
        .named_claim("gpu", name)
        .in_group(name)
}

/// A pod of which many fit on a node.
fn small(mut pod: Value) -> Value {
    pod["spec"]["containers"][0]["resources"]["requests"] = json!({"cpu": "10m"});
    pod
}

/// The files of a conversion.
struct Records {
    folder: TempDir,
}

impl Records {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    fn backup(&self) -> PathBuf {
        self.folder.path().join("a.backup.json")
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("a.journal.jsonl")
    }

    /// Returns how many writes are in the journal.
    fn written(&self) -> usize {
        self.in_journal(r#""event":"Write""#)
    }

    /// Returns how many of them were not sent after all.
    fn not_sent(&self) -> usize {
        self.in_journal(r#""answer":"not sent""#)
    }

    /// Returns how often the journal has that text so far.
    fn in_journal(&self, text: &str) -> usize {
        count_in(&self.journal(), text)
    }
}

/// Returns how often a file has that text so far.
fn count_in(file: &Path, text: &str) -> usize {
    let written = std::fs::read_to_string(file).unwrap_or_default();
    written.matches(text).count()
}

/// `convert ARGS…` of somebody who knows that the gates are on.
fn convert(user: &User, records: &Path, args: &[&str]) -> Invocation {
    user.kubectl_dra(["convert", "--yes", ON])
        .args(args)
        .args([format!("--backup={}", records.display())])
}

/// The list of a claim, byte for byte.
fn list(cluster: &Cluster, claim: &str) -> String {
    cluster.get(claim)["status"]["reservedFor"].to_string()
}

/// The entries of a claim in the order of their names.
fn sorted(cluster: &Cluster, claim: &str) -> Vec<String> {
    let mut entries = cluster.reservations_of(claim);
    entries.sort();
    entries
}

/// Returns whether nothing holds the claim: no entry, no devices, no finalizer.
fn is_free(claim: &Value) -> bool {
    let nothing = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    claim["status"]["allocation"].is_null()
        && nothing(&claim["status"]["reservedFor"])
        && nothing(&claim["metadata"]["finalizers"])
}

/// `convert --final` of somebody who has turned the claim gate off.
fn final_pass(cluster: &Cluster) -> Invocation {
    cluster
        .kubectl_dra(["convert", "--yes", "--final", "--settle=1s"])
        .args(OFF)
}

/// Lets every pod end.
fn end_pods(cluster: &Cluster) {
    for pod in cluster.list("pod") {
        cluster.set_phase(&reference(&pod), Phase::Succeeded);
    }
}

/// Turns the claim gate off where entries for PodGroups come from.
fn turn_off(cluster: &Cluster, gates: &[&str]) {
    cluster.reconfigure(|options| {
        for gate in gates {
            options.set_gate(&[Component::Scheduler, Component::ControllerManager], gate, false);
        }
    });
}
