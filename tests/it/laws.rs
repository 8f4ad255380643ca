//! Laws that hold for the answer about every pod of every recorded state.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::command::dra;
use dra_testing::effort::{by_effort, some_of, some_rows};

/// Gates of kube-scheduler that an allocation can depend on.
const GATES: [&str; 9] = [
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAListTypeAttributes",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
];

/// Gates that an allocation which needs them shows to be on.
const SHOWN: [&str; 5] = [
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
];

/// A recorded state, its pods as arguments, and its events.
struct State {
    file: String,
    pods: Vec<String>,
    /// Those of them without a node.
    unscheduled: Vec<String>,
    events: Vec<Value>,
}

fn states() -> &'static [State] {
    static STATES: OnceLock<Vec<State>> = OnceLock::new();
    STATES.get_or_init(read_states)
}

fn read_states() -> Vec<State> {
    let mut files: Vec<PathBuf> = ["tests/data/snapshots", "tests/data/field"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("recorded states"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() > 50, "{files:?}");
    files.iter().map(State::of).collect()
}

impl State {
    fn of(path: &PathBuf) -> Self {
        let text = std::fs::read_to_string(path).expect("a recorded state");
        let documents = serde_saphyr::from_multiple::<Value>(&text).expect("YAML");
        let objects = documents.iter().flat_map(|document| {
            let list = document["items"]
                .as_array()
                .or_else(|| document["objects"].as_array());
            list.map_or_else(|| vec![document], |list| list.iter().collect())
        });
        let (mut pods, mut unscheduled, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for object in objects {
            let text = |field: &str| object["metadata"][field].as_str().unwrap_or("default");
            match object["kind"].as_str() {
                Some("Pod") => {
                    let pod = format!("pod/{}/{}", text("namespace"), text("name"));
                    if object["spec"]["nodeName"].is_null() {
                        unscheduled.push(pod.clone());
                    }
                    pods.push(pod);
                }
                Some("Event") => events.push(object.clone()),
                _ => {}
            }
        }
        Self {
            file: path.display().to_string(),
            pods,
            unscheduled,
            events,
        }
    }

    fn explained(&self, pod: &str, gates: Option<&str>) -> (Value, i32) {
        let mut asked = dra(&["explain", pod, "-o", "json", "--from", &self.file]);
        if let Some(gates) = gates {
            asked = asked.args(&[format!("--scheduler-feature-gates={gates}")]);
        }
        let run = asked.run();
        let code = run.code.expect("an exit code");
        (
            serde_json::from_str(&run.stdout)
                .unwrap_or_else(|error| panic!("{}: {error}: {}", run.command, run.stderr)),
            code,
        )
    }
}

/// What the program says of a pod.
struct Answer {
    state: &'static State,
    pod: &'static str,
    report: Value,
    code: i32,
}

/// The answers about some pods of some states, which two laws look at.
fn answers() -> &'static [Answer] {
    static ANSWERS: OnceLock<Vec<Answer>> = OnceLock::new();
    ANSWERS.get_or_init(|| {
        let of_pod = |state: &'static State, pod: &'static String| {
            let (report, code) = state.explained(pod, None);
            Answer {
                state,
                pod,
                report,
                code,
            }
        };
        some_of(states(), 20)
            .flat_map(|state| some_rows(&state.pods, 5).map(move |pod| of_pod(state, pod)))
            .collect()
    })
}

fn verdict(report: &Value) -> &str {
    report["verdict"].as_str().expect("a verdict")
}

/// Law 1: what runs, or can run, has no reason why it does not, and the exit code is that of the verdict.
#[test]
fn the_exit_code_is_that_of_the_verdict_and_no_tick_has_a_reason_beside_it() {
    let mut seen = BTreeSet::new();
    for Answer {
        state,
        pod,
        report,
        code,
    } in answers()
    {
        let verdict = verdict(report);
        let expected = match verdict {
            "Fits" | "Bound" | "Allocated" | "Ended" => 0,
            "Unknown" | "GaveUp" => 4,
            _ => 1,
        };
        assert_eq!(*code, expected, "{} {pod}: {verdict}", state.file);
        let reasons = report["reasons"].as_array().map_or(0, Vec::len);
        let is_tick = matches!(verdict, "Bound" | "Allocated" | "Ended");
        assert!(
            !is_tick || reasons == 0,
            "{} {pod}: {verdict}: {}",
            state.file,
            report["reasons"]
        );
        seen.insert(verdict.to_owned());
    }
    assert!(seen.len() >= by_effort(4, 6, 6), "{seen:?}");
}

/// Law 5: a text of the cluster's events stands with the component that says it, and with how often it does.
#[test]
fn what_an_event_says_is_attributed_to_its_component() {
    let mut said = 0;
    for Answer {
        state, pod, report, ..
    } in answers()
    {
        let told = report["events"].as_array().into_iter().flatten();
        for told in told.filter_map(Value::as_str) {
            let is_it = |event: &&Value| {
                let message = event["message"].as_str().unwrap_or_default();
                let regarding = &event["involvedObject"];
                let name = regarding["name"].as_str().unwrap_or_default();
                pod.ends_with(&format!("/{name}")) && !message.is_empty() && told.contains(message.trim())
            };
            let event = state
                .events
                .iter()
                .find(is_it)
                .unwrap_or_else(|| panic!("{} {pod}: {told}", state.file));
            let components = [&event["source"]["component"], &event["reportingComponent"]];
            let component = components
                .into_iter()
                .filter_map(Value::as_str)
                .find(|name| !name.is_empty());
            let is_attributed = component.is_none_or(|component| told.contains(component));
            assert!(is_attributed, "{} {pod}: {component:?} says: {told}", state.file);
            said += 1;
        }
    }
    assert!(said > by_effort(0, 10, 10), "{said}");
}

/// Law 6: a gate is named as assumed exactly if its other value changes the verdict or the cause, unless something tells how it is set.
#[test]
fn a_gate_is_named_exactly_if_its_other_value_changes_the_verdict_or_the_cause() {
    let states = states();
    let all: Vec<(&State, &String)> = states
        .iter()
        .flat_map(|state| state.unscheduled.iter().map(move |pod| (state, pod)))
        .collect();
    let mut changed = 0;
    for (state, pod) in some_of(&all, 8) {
        let (report, _) = state.explained(pod, None);
        if !matches!(verdict(&report), "Fits" | "DoesNotFit" | "Error") {
            continue;
        }
        let assumed = report["assumedGates"].as_array().into_iter().flatten();
        let of_scheduler = assumed.filter(|gate| gate["component"] == "kube-scheduler");
        let named: BTreeSet<&str> = of_scheduler.filter_map(|gate| gate["name"].as_str()).collect();
        for gate in GATES {
            let [on, off] = [true, false].map(|value| {
                let (report, _) = state.explained(pod, Some(&format!("{gate}={value}")));
                let cause = (verdict(&report) == "DoesNotFit").then(|| {
                    let cause = &report["cause"];
                    if cause.is_null() {
                        &report["summary"]
                    } else {
                        cause
                    }
                    .clone()
                });
                (verdict(&report).to_owned(), cause)
            });
            let is_decided =
                |(verdict, _): &(String, _)| matches!(verdict.as_str(), "Fits" | "DoesNotFit" | "Error");
            if !is_decided(&on) || !is_decided(&off) {
                continue;
            }
            let differs = on != off;
            changed += usize::from(differs);
            let what = format!("{} {pod}: {gate}: {on:?} with it, {off:?} without", state.file);
            assert!(!named.contains(gate) || differs, "{what}: it is named");
            let is_told = named.contains(gate) || SHOWN.contains(&gate) || is_known(state, gate);
            assert!(is_told || !differs, "{what}: it is not named");
        }
    }
    // A few pods may all be without a claim that a gate decides about.
    assert!(changed >= by_effort(0, 1, 1));
}

/// Whether something other than the default tells how kube-scheduler has the gate.
fn is_known(state: &State, gate: &str) -> bool {
    let run = dra(&["status", "-o", "json", "--from", &state.file]).run();
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let mut gates = report["gates"].as_array().into_iter().flatten();
    gates.any(|known| known["gate"] == gate)
}
