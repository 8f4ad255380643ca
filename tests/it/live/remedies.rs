//! Every pod of the recorded clusters that the scheduler could not place: what `explain` says would help is done on a control plane
//! with the same objects and gates, and the pod must be scheduled then.
//!
//! The explanation is made before the scheduler runs, and must be the one that the file gets, too.

use std::collections::BTreeSet;
use std::time::Duration;

use dra_testing::effort::some_rows;
use serde_json::{Value, json};

use super::features::ALPHA_GATES;
use crate::support::cluster::objects::{claim, claim_spec, class, gpu, template};
use crate::support::cluster::{Cluster, Component, Options, Recorded};
use crate::support::command::dra;
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

const GROUP_GATES: &[&str] = &["GenericWorkload", "DRAWorkloadResourceClaims"];

/// Pods for which nothing can be offered, and why that is so.
const HOPELESS: &[(&str, &str, &str)] = &[
    // The resource is neither the node's nor, with the feature off, that of a class.
    ("downgrade-features-1.35", "new-ext", "NodeResourcesFit"),
    // Every device draws from shared counters, which this release does not know.
    ("downgrade-features-1.35", "new-mig", "PartitionableDevicesOff"),
    ("downgrade-features-1.35", "new-best", "PartitionableDevicesOff"),
];

/// A snapshot file, and the control plane that it was read from.
struct Source {
    file: &'static str,
    /// Gates that were on when the objects were made.
    gates: &'static [&'static str],
    /// The older minor, with its own gates, that they were read with.
    minor: Option<&'static str>,
}

impl Source {
    /// Of the control plane on which the objects are made.
    fn first(&self) -> Options {
        let gates = self.gates.iter();
        let options = gates.fold(Options::default(), |options, gate| options.gate(gate, true));
        options
            .without(Component::Scheduler)
            .without(Component::ControllerManager)
    }

    /// Of the one that is asked, and later schedules.
    fn then(&self) -> Options {
        let Some(minor) = self.minor else {
            let gates = self.gates.iter();
            return gates.fold(Options::default(), |options, gate| options.gate(gate, true));
        };
        let version = format!("--emulated-version=kube={minor}");
        [Component::Scheduler, Component::ControllerManager]
            .into_iter()
            .fold(
                Options::default().emulated_version(minor),
                |options, component| options.arg(component, &version),
            )
    }

    /// Returns what `explain` cannot see by itself: the gates of components other than the API server.
    fn flags(&self) -> Vec<String> {
        let gates = self.gates.iter().map(|gate| format!("{gate}=true"));
        let gates: Vec<String> = gates.collect();
        match self.minor {
            Some(minor) => vec![format!("--kubernetes-version={minor}")],
            None if gates.is_empty() => vec!["--kubernetes-version=1.37".to_owned()],
            None => vec![format!("--feature-gates={}", gates.join(","))],
        }
    }
}

/// A control plane that has the objects of a file again and again.
struct Stage {
    source: Source,
    /// The one that is asked, and later schedules. Before [`Self::maker`], whose etcd it uses.
    cluster: Cluster,
    /// The one on which the objects are made, where another release makes them.
    maker: Option<Cluster>,
}

impl Stage {
    fn new(source: Source) -> Self {
        let maker = source.minor.map(|_| Cluster::start(&source.first()));
        Self {
            cluster: match &maker {
                Some(maker) => maker.beside(&source.then()),
                None => Cluster::start(&source.then()),
            },
            maker,
            source,
        }
    }

    /// Puts in the objects. Neither scheduler nor controllers run.
    fn set(&self, recorded: &Recorded) {
        self.cluster.stop(Component::Scheduler);
        self.cluster.stop(Component::ControllerManager);
        let maker = self.maker.as_ref().unwrap_or(&self.cluster);
        maker.clear();
        maker.restore(recorded);
    }

    fn explain(&self, recorded: &Recorded, pod: &Value) -> Value {
        let name = text(&pod["metadata"]["name"]);
        let namespace = text(&pod["metadata"]["namespace"]);
        let object = format!("pod/{name}");
        let args = ["explain", &object, "-n", &namespace, "-o", "json"];
        let flags = self.source.flags();
        // What was put in just now is as settled as what is recorded.
        let now = jiff::Timestamp::now() + Duration::from_secs(120);
        let now = format!("--now={now:.0}");
        let live = self.cluster.kubectl_dra(args).args(&flags).args([&now]);
        let mut live = assert_valid(&live.run().stdout);
        without_words(&mut live, &[&now]);
        let folder = tempfile::tempdir().expect("a temporary directory");
        let file = folder.path().join("cluster.json");
        std::fs::write(&file, recorded.list().to_string()).expect("the objects are written");
        let from = format!("--from={}", file.display());
        let of_file = [&from, "--complete", &now];
        let mut offline = assert_valid(&dra(&args).args(&flags).args(of_file).run().stdout);
        without_words(&mut offline, &of_file);
        for part in ["verdict", "reasons", "filters", "nodes", "fixes"] {
            assert_eq!(live[part], offline[part], "{part} of {name}");
        }
        live
    }
}

/// Takes words out of the commands of a report.
fn without_words(report: &mut Value, words: &[&str]) {
    match report {
        Value::String(command) => {
            for word in words {
                *command = command.replace(&format!(" {word}"), "");
            }
        }
        Value::Array(values) => {
            values.retain(|value| !words.iter().any(|word| value == word));
            for value in values {
                without_words(value, words);
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                without_words(value, words);
            }
        }
        _ => {}
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let found = text
        .split_once(before)
        .and_then(|(_, rest)| rest.split_once(after));
    found
        .unwrap_or_else(|| panic!("no {before:?} and {after:?} in {text:?}"))
        .0
}

/// Runs a command of an explanation in a shell, as it stands there. Pods that it deletes end, since no kubelet sees to that.
pub(super) fn obey(cluster: &Cluster, command: &str) {
    let shell = cluster.shell(command);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| shell.run().exits(0));
        wait_for(command, || {
            cluster.finish_deletions();
            running.is_finished().then_some(())
        });
    });
}

/// What drivers and users have to do where no command can.
fn act(cluster: &Cluster, kind: &str, target: &str, message: &str) {
    let name = target.rsplit('/').next().unwrap_or_default();
    match kind {
        "CreateClaim" => drop(cluster.create(&claim(name, claim_spec([gpu()])))),
        "CreateTemplate" => drop(cluster.create(&template(name, claim_spec([gpu()])))),
        "CreateClass" => drop(cluster.create(&class(name, "device.driver == 'gpu.example.com'"))),
        // The slices that are missing are none any more.
        "RestoreDriver" => {
            let slices = cluster.list("slice");
            let generation = |slice: &Value| {
                let spec = &slice["spec"];
                let pool = &spec["pool"];
                [&spec["driver"], &pool["name"], &pool["generation"]].map(Value::to_string)
            };
            for slice in slices.iter().filter(|slice| slice["spec"]["driver"] == name) {
                let alike = slices
                    .iter()
                    .filter(|other| generation(other) == generation(slice));
                let count = alike.count();
                cluster.update(&format!("slice/{}", text(&slice["metadata"]["name"])), |slice| {
                    slice["spec"]["pool"]["resourceSliceCount"] = json!(count);
                });
            }
        }
        "LiftTaint" => {
            let taint = between(message, "remove taint ", " from");
            let (key, effect) = taint.rsplit_once(':').expect("a taint");
            for slice in cluster.list("slice") {
                if slice["spec"]["pool"]["name"] != name {
                    continue;
                }
                cluster.update(&format!("slice/{}", text(&slice["metadata"]["name"])), |slice| {
                    for device in slice["spec"]["devices"].as_array_mut().into_iter().flatten() {
                        if let Some(taints) = device["taints"].as_array_mut() {
                            taints.retain(|taint| taint["key"] != key || taint["effect"] != effect);
                        }
                    }
                });
            }
        }
        _ => {}
    }
}

/// Makes the changes of a fix, lets the scheduler run, and waits until the pod has a node.
fn follow(stage: &Stage, pod: &Value, fix: &Value) {
    let cluster = &stage.cluster;
    cluster.resume(Component::ControllerManager);
    match fix["command"].as_str() {
        Some(command) => obey(cluster, command),
        // Then it is said who can do it.
        None => {
            assert!(fix["note"].is_string(), "{fix:#}");
            let single = [fix.clone()];
            for change in fix["changes"].as_array().map_or(&single[..], Vec::as_slice) {
                match change["command"].as_str() {
                    Some(command) => obey(cluster, command),
                    None => act(
                        cluster,
                        &text(&change["kind"]),
                        &text(&change["target"]),
                        &text(&change["message"]),
                    ),
                }
            }
        }
    }
    cluster.resume(Component::Scheduler);
    let name = text(&pod["metadata"]["name"]);
    let reference = format!("pod/{}/{name}", text(&pod["metadata"]["namespace"]));
    let node = wait_for(&format!("{reference} is scheduled after: {fix:#}"), || {
        cluster.finish_deletions();
        cluster.attach_devices();
        cluster.get(&reference)["spec"]["nodeName"]
            .as_str()
            .map(str::to_owned)
    });
    if let Some(foretold) = fix["nodes"].as_array() {
        assert!(
            foretold.contains(&json!(node)),
            "{name} went to {node}, not to one of {foretold:?}"
        );
    }
}

fn check(source: Source, expected: usize) {
    let file = source.file;
    let all = Recorded::read(file);
    let stage = Stage::new(source);
    let pending = all.pending();
    assert_eq!(pending.len(), expected, "pending pods of {file}");
    for pod in some_rows(&pending, 3) {
        let name = text(&pod["metadata"]["name"]);
        let mut recorded = all.only(pod);
        if file != "binding-conditions" {
            // What waits for its devices has not waited too long.
            recorded.allocate_now();
        }
        stage.set(&recorded);
        let explanation = stage.explain(&recorded, pod);
        let fixes = explanation["fixes"].as_array().expect("fixes");
        if let Some((.., reason)) = HOPELESS.iter().find(|(of, pod, _)| *of == file && *pod == name) {
            // A feature that components lack may be enabled.
            assert!(
                fixes.iter().all(|fix| fix["kind"] == "EnableGate"),
                "{name}: {fixes:#?}"
            );
            assert!(
                explanation["nodes"].to_string().contains(reason),
                "{name}: {explanation:#}"
            );
            continue;
        }
        assert!(
            !fixes.is_empty(),
            "nothing helps {name} of {file}: {explanation:#}"
        );
        // One of each kind, each on the cluster as it was.
        let mut tried = BTreeSet::new();
        for fix in fixes {
            // The release stays as it is here: the dry run has shown that it fits with the gate.
            if fix["kind"] == "EnableGate" || !tried.insert(text(&fix["kind"])) {
                continue;
            }
            if tried.len() > 1 {
                stage.set(&recorded);
            }
            follow(&stage, pod, fix);
        }
    }
}

macro_rules! restored {
    ($($name:ident: $file:literal, $gates:expr, $minor:expr, $pods:literal;)*) => {
        /// The files that are looked at, with the number of their pending pods.
        const FILES: &[(&str, usize)] = &[$(($file, $pods)),*];
        $(
            #[test]
            fn $name() {
                check(Source { file: $file, gates: $gates, minor: $minor }, $pods);
            }
        )*
    };
}

restored! {
    what_explain_says_helps_ordinary_pods: "unschedulable-pods", &[], None, 13;
    what_explain_says_helps_with_binding_conditions: "binding-conditions", &[], None, 1;
    what_explain_says_helps_with_shares: "consumable-capacity", &[], None, 2;
    what_explain_says_helps_with_partitions: "partitionable", &[], None, 2;
    what_explain_says_helps_with_extended_resources: "extended-resource", &[], None, 1;
    what_explain_says_helps_members_of_groups: "podgroups", GROUP_GATES, None, 1;
    what_explain_says_helps_groups_before_a_downgrade: "downgrade-groups-1.37", GROUP_GATES, None, 2;
    what_explain_says_helps_groups_after_a_downgrade: "downgrade-groups-1.36", GROUP_GATES, Some("1.36"), 2;
    what_explain_says_helps_groups_after_two_downgrades: "downgrade-groups-1.35", GROUP_GATES, Some("1.35"), 2;
    what_explain_says_helps_before_a_downgrade: "downgrade-features-1.37", ALPHA_GATES, None, 2;
    what_explain_says_helps_after_a_downgrade: "downgrade-features-1.36", ALPHA_GATES, Some("1.36"), 6;
    what_explain_says_helps_after_two_downgrades: "downgrade-features-1.35", ALPHA_GATES, Some("1.35"), 6;
}

#[test]
fn every_recorded_pod_without_a_node_is_looked_at() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots");
    let files = std::fs::read_dir(folder).expect("the snapshots are there");
    let mut seen = 0;
    for file in files {
        let file = file
            .expect("a folder that can be read")
            .file_name()
            .into_string()
            .expect("a name");
        let Some(name) = file.strip_suffix(".yaml") else {
            continue;
        };
        let pending = Recorded::read(name).pending().len();
        let known = FILES
            .iter()
            .find(|(file, _)| *file == name)
            .map_or(0, |(_, pods)| *pods);
        assert_eq!(pending, known, "pending pods of {name}");
        seen += pending;
    }
    assert!(seen >= 40, "only {seen} pods");
}
