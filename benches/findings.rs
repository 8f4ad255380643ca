//! How long `check` takes on a loaded cluster: 100,000 claims and pods, 40,000 devices, 1,000 taint rules; once for a cluster in order
//! and once for one in which nearly everything is wrong.
//!
//! Loading is not counted; it is the baseline. Objects come in the order in which a server lists them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

mod support;

use dra_model::{Environment, Kind, Time};
use dra_reports::Selection;
use dra_reports::findings::{CheckRequest, Code, Question, Target, Topic, check, check_by};
use serde_json::{Value, json};

use support::{Objects, head, least, row};

const NODES: usize = 5_000;
const DEVICES: usize = 8;
const CLAIMS: usize = 100_000;
const RULES: usize = 1_000;

#[derive(Clone, Copy, PartialEq)]
enum State {
    InOrder,
    Broken,
}

fn main() {
    // `cargo test --benches` and the like only want to know that it runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    head();
    for (state, name) in [(State::InOrder, "in order"), (State::Broken, "broken")] {
        let objects = objects(state);
        let environment = || Environment {
            read_at: Some(Time::from_unix_seconds(0)),
            ..Environment::default()
        };
        let (wall, decoding, cluster) = least(2, || objects.load(environment()));
        drop(objects);
        row(
            &format!("decoding all objects, {name}"),
            0,
            (wall, decoding),
            decoding,
        );
        let now = CheckRequest::now("2026-11-21T12:00:00Z".parse().expect("a time"));
        let target = Target::new(cluster.environment(), Some(35), [], []).expect("an older release");
        let downgrade = CheckRequest {
            question: Question::Downgrade(target),
            codes: Code::all()
                .filter(|code| code.facts().topic == Topic::Downgrade)
                .collect(),
            selection: Selection::default(),
            now: now.now,
            idle: now.idle,
            in_part: false,
        };
        for (what, request) in [("check", &now), ("check --to-version", &downgrade)] {
            let (wall, cpu, findings) = least(5, || check(&cluster, request).items.len());
            row(&format!("{what}, {name}"), findings, (wall, cpu), decoding);
        }
        let (wall, cpu, findings) = least(5, || check_by(&cluster, &now, &on_a_thread_each).items.len());
        row(
            &format!("check on all processors, {name}"),
            findings,
            (wall, cpu),
            decoding,
        );
    }
}

fn on_a_thread_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    std::thread::scope(|scope| {
        for place in 0..count {
            scope.spawn(move || work(place));
        }
    });
}

fn objects(state: State) -> Objects {
    let mut objects = Objects::default();
    let mut add = |kind: Kind, object: &Value| objects.add(kind, object);
    for class in ["gpu", "nic", "any"] {
        let expression = format!("device.driver == '{class}' || device.attributes[device.driver].numa >= 0");
        add(
            Kind::DeviceClass,
            &json!({"metadata": {"name": class}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}),
        );
    }
    for node in 0..NODES {
        let name = format!("node-{node}");
        add(
            Kind::Node,
            &json!({"metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": "t"}}}),
        );
        let devices: Vec<Value> = (0..DEVICES)
            .map(|device| {
                json!({"name": format!("gpu-{device}"), "attributes": {
                    "numa": {"int": device / 4}, "model": {"string": "A100"}, "uuid": {"string": format!("{node}-{device}")}}})
            })
            .collect();
        add(
            Kind::ResourceSlice,
            &json!({"metadata": {"name": format!("{name}-gpu")}, "spec": {
                "driver": "gpu", "nodeName": name, "devices": devices,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}),
        );
    }
    for rule in 0..RULES {
        add(
            Kind::DeviceTaintRule,
            &json!({"metadata": {"name": format!("rule-{rule}")}, "spec": {
                "deviceSelector": {"driver": "gpu", "pool": format!("node-{}", rule * 3)},
                "taint": {"key": "k", "effect": "NoSchedule", "timeAdded": "2026-11-21T11:00:00Z"}}}),
        );
    }
    for number in 0..CLAIMS {
        let namespace = format!("team-{}", number % 100);
        let name = format!("claim-{number}");
        let pod = format!("pod-{number}");
        let allocated = number < NODES * DEVICES || state == State::Broken;
        let node = format!("node-{}", number / DEVICES % NODES);
        let status = if allocated {
            let uid = if state == State::Broken {
                "other"
            } else {
                pod.as_str()
            };
            json!({
                "allocation": {
                    "devices": {"results": [{"request": "r", "driver": "gpu", "pool": node, "device": format!("gpu-{}", number % DEVICES)}]},
                    "nodeSelector": {"nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}},
                "reservedFor": [{"resource": "pods", "name": pod, "uid": uid}]})
        } else {
            json!({})
        };
        let selector = format!(
            "device.attributes['gpu'].model == 'A100' && device.attributes['gpu'].numa == {}",
            number % 10
        );
        add(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": namespace, "name": name, "uid": name}, "spec": {"devices": {"requests": [
                {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
                                          "selectors": [{"cel": {"expression": selector}}]}}]}}, "status": status}),
        );
        let spec = json!({"nodeName": if allocated { node.as_str() } else { "" },
                          "resourceClaims": [{"name": "c", "resourceClaimName": name}]});
        let phase = if allocated { "Running" } else { "Pending" };
        add(
            Kind::Pod,
            &json!({"metadata": {"namespace": namespace, "name": pod, "uid": pod}, "spec": spec, "status": {"phase": phase}}),
        );
    }
    objects.in_order_of_lists()
}
