//! Answers about waiting, against the Go library: random problems without a solution, and their results.
//!
//! Each allocated claim gets a pod that uses it; once more, some of these pods are gone. Where waiting never helps, the library may find nothing with every other claim, taint and
//! rule gone; where it helps when some have ended, the library has to find devices without what they hold. Which cases is said as
//! `dra_testing::random_cases` says.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test program with an output of its own"
)]

#[expect(dead_code, reason = "answers are compared with the oracle alone")]
#[path = "allocator/case.rs"]
mod case;
#[path = "it/support/go.rs"]
mod go;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

use case::Case;
use dra_allocator::Budget;
use dra_allocator::devices::Features;
use dra_model::{Cluster, Component, Gate, Kind, Object, Time};
use dra_rules::scheduling::{
    Consumer, Effort, Ends, Scheduler, Subject, Waiting, emptied, in_order, waiting,
};
use dra_testing::effort::by_effort;
use dra_testing::random_cases;
use serde_json::{Value, json};

const NAME: &str = "waiting_helps_as_the_go_library_says";

fn main() -> ExitCode {
    random_cases::run(NAME, by_effort(6_000, 6_000, 100_000), fuzz)
}

const DEALLOCATED: &str = "deallocated";

/// Answer for a case, and the expected answer of the library.
struct Said {
    word: &'static str,
    case: Value,
    allocated: bool,
}

/// Compares what is said of `count` cases, as far as they have no solution, and says whether all agree and enough was said.
fn fuzz(count: u64, seed: u64) -> bool {
    let oracle = go::build("oracle");
    let generated = Command::new(&oracle)
        .args(["generate", "--expect"])
        .args(["--seed", &seed.to_string(), "--count", &count.to_string()])
        .stderr(Stdio::null())
        .output()
        .expect("the oracle can be started");
    let text = String::from_utf8(generated.stdout).expect("the oracle writes text");
    let said: Vec<Said> = text.lines().flat_map(of_case).collect();
    let mut answering = Command::new(&oracle)
        .arg("expect")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the oracle can be started");
    let mut input = answering.stdin.take().expect("it is a pipe");
    let output = BufReader::new(answering.stdout.take().expect("it is a pipe"));
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut different = 0;
    std::thread::scope(|scope| {
        let said = &said;
        scope.spawn(move || {
            for one in said {
                writeln!(input, "{}", one.case).expect("the oracle reads");
            }
        });
        for (one, line) in said.iter().zip(output.lines()) {
            let answer: Value = serde_json::from_str(&line.expect("the oracle writes text")).expect("JSON");
            let outcome = answer["expect"]["outcome"].as_str().unwrap_or_default();
            if outcome == "timeout" {
                continue;
            }
            *counts.entry(one.word).or_default() += 1;
            if (outcome == "allocated") != one.allocated {
                different += 1;
                println!(
                    "{}: {} is {outcome} for the library: {}",
                    one.word, one.case["name"], one.case
                );
            }
        }
    });
    let answered = answering.wait().expect("the oracle ends").success();
    println!("compared, by what was said: {counts:?}; {different} different");
    let enough = [
        ("never", 10),
        ("one ends", 50),
        ("some end", 300),
        (DEALLOCATED, 600),
        ("untainted", 1_000),
    ]
    .into_iter()
    .all(|(word, part)| counts.get(word).copied().unwrap_or(0) >= count / part);
    if !enough {
        println!("too few of some kind: this shows too little");
    }
    generated.status.success() && answered && enough && different == 0
}

/// Returns what is said of the case of that line; nothing where it has a solution, or where nothing can be said.
fn of_case(line: &str) -> Vec<Said> {
    let mut json: Value = serde_json::from_str(line).expect("JSON");
    if json["expect"]["outcome"] != "nofit" {
        return Vec::new();
    }
    json["expect"] = Value::Null;
    let own: BTreeSet<String> = texts(&json["claims"]).collect();
    let node = json["node"].clone();
    if let Some(objects) = json["objects"].as_array_mut() {
        objects.retain(|object| object["kind"] != "Node" || object["metadata"]["name"] == node);
        for object in objects.iter_mut().filter(|object| is_held(object, &own)) {
            let user = object["metadata"]["name"].clone();
            object["status"]["reservedFor"] =
                json!([{"resource": "pods", "name": user, "uid": format!("uid-{}", name(object))}]);
        }
    }
    let Ok(case) = Case::read(&json.to_string()) else {
        return Vec::new();
    };
    let of_world = |has_gone| of_world(&case, &json, &own, has_gone);
    let mut said = of_world(false);
    said.extend(of_world(true).into_iter().filter(|said| said.word == DEALLOCATED));
    said
}

/// Returns what is said of the case where each allocated claim of others has its pod, or where `has_gone` pods that are gone.
fn of_world(case: &Case, json: &Value, own: &BTreeSet<String>, has_gone: bool) -> Vec<Said> {
    let cluster = with_users(case, json, own, has_gone);
    // What 1.37 has locked on is in no case, and decides nothing there.
    let features = Features {
        device_status: case.features.device_status,
        ..Features::of(cluster.environment())
    };
    if features != case.features {
        return Vec::new();
    }
    let subject = Subject::Claims(case.claims.iter().map(|claim| claim.key()).collect());
    if case.claims.iter().any(|claim| claim.status.allocation.is_some()) {
        return Vec::new();
    }
    let scheduler = Scheduler::new(&cluster, Time::from_unix_seconds(1_800_000_000));
    let budget = Budget::new(2_000_000);
    let effort = Effort {
        trials: 0,
        most_changes: 0,
        most_found: 0,
        fails: false,
        budget: &budget,
        observer: &(),
        run: &in_order,
    };
    let empty = emptied(&scheduler, &subject);
    let with = |word, allocated, keep: &dyn Fn(&str) -> bool, untainted| Said {
        word,
        allocated,
        case: without(json, own, keep, untainted),
    };
    match waiting(&scheduler, &empty, &subject, &effort) {
        Waiting::Never(_) => vec![with("never", false, &|_| false, true)],
        Waiting::Untainted(_) => vec![with("untainted", true, &|_| true, true)],
        Waiting::Deallocated { claims, .. } => {
            let is_kept = |name: &str| claims.iter().all(|claim| claim.name != name);
            vec![with(DEALLOCATED, true, &is_kept, false)]
        }
        Waiting::Ends(Ends { consumers, count, .. }) => {
            let word = if count == 1 { "one ends" } else { "some end" };
            let names: Vec<&str> = consumers.iter().map(pod_name).collect();
            // Any so many of them suffice: the first, and the last.
            [&names[..count], &names[names.len() - count..]]
                .into_iter()
                .map(|ended| with(word, true, &|name| !ended.contains(&name), false))
                .collect()
        }
        // The library knows neither the state of nodes nor owners.
        Waiting::Uncordoned(_)
        | Waiting::NodesUntainted(_)
        | Waiting::Restored(_)
        | Waiting::Kept(_)
        | Waiting::Abandoned { .. }
        | Waiting::RolledOut { .. }
        | Waiting::Unknown(_) => Vec::new(),
    }
}

fn pod_name(consumer: &Consumer) -> &str {
    let (Consumer::Pod(key) | Consumer::PodGroup(key)) = consumer;
    key.name.as_str()
}

fn texts(list: &Value) -> impl Iterator<Item = String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned))
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

fn key(object: &Value) -> String {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    format!("{namespace}/{}", name(object))
}

/// Returns whether it is an allocated claim of others.
fn is_held(object: &Value, own: &BTreeSet<String>) -> bool {
    object["kind"] == "ResourceClaim"
        && object["status"]["allocation"].is_object()
        && !own.contains(&key(object))
}

/// The cluster of the case with its gates and a pod for each claim of others, but for some whose pods are gone where `has_gone`.
fn with_users(case: &Case, json: &Value, own: &BTreeSet<String>, has_gone: bool) -> Cluster {
    let mut cluster = case.cluster.clone();
    for object in json["objects"].as_array().into_iter().flatten() {
        let is_gone = has_gone && name(object).bytes().fold(0, u8::wrapping_add) % 4 == 0;
        if is_held(object, own) && !is_gone {
            let pod = json!({
                "metadata": {"name": name(object), "namespace": object["metadata"]["namespace"],
                    "uid": format!("uid-{}", name(object))},
                "spec": {"containers": [{"name": "main"}]},
                "status": {"phase": "Running"},
            });
            let pod = Object::from_json(Kind::Pod, pod.to_string().as_bytes()).expect("a pod");
            cluster.apply(dra_model::Change::Put(pod));
        }
    }
    let features = case.features;
    let gates = [
        (Gate::DRAAdminAccess, features.admin_access),
        (Gate::DRADeviceCompatibilityGroups, features.compatibility_groups),
        (Gate::DRAConsumableCapacity, features.consumable_capacity),
        (Gate::DRADerivedAttributes, features.derived_attributes),
        (
            Gate::DRADeviceBindingConditions,
            features.device_binding_and_status,
        ),
        (
            Gate::DRAResourceClaimDeviceStatus,
            features.device_binding_and_status,
        ),
        (Gate::DRADeviceTaints, features.device_taints),
        (Gate::DRADeviceTaintRules, features.device_taints),
        (
            Gate::DRAFractionalCapacityRange,
            features.fractional_capacity_range,
        ),
        (Gate::DRAListTypeAttributes, features.list_type_attributes),
        (Gate::DRAOptionalNodeOperations, features.optional_node_operations),
        (Gate::DRAPartitionableDevices, features.partitionable_devices),
        (Gate::DRAPrioritizedList, features.prioritized_list),
    ];
    for (gate, on) in gates {
        cluster = cluster.with_gate(Component::Scheduler, gate, on);
    }
    cluster
}

/// The case with those allocations of others only whose claim `keep` names, and without taints where `untainted`.
fn without(json: &Value, own: &BTreeSet<String>, keep: &dyn Fn(&str) -> bool, untainted: bool) -> Value {
    let mut json = json.clone();
    let Some(objects) = json["objects"].as_array_mut() else {
        return json;
    };
    objects.retain(|object| !(untainted && object["kind"] == "DeviceTaintRule"));
    for object in objects {
        let claim = name(object).to_owned();
        if is_held(object, own) && !keep(&claim) {
            object["status"] = json!({});
        }
        if untainted && object["kind"] == "ResourceSlice" {
            for device in object["spec"]["devices"].as_array_mut().into_iter().flatten() {
                if let Some(device) = device.as_object_mut() {
                    device.remove("taints");
                }
            }
        }
    }
    json
}
