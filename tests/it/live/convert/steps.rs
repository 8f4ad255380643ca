//! Follows a printed runbook to the letter: what it says of components is done to the control plane, what it says to run goes to a shell.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::cluster::{Cluster, Component};

/// One step, as people read it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) order: u32,
    /// The order, and a letter where several steps have the same.
    name: String,
    title: String,
    /// The lines under each label.
    fields: BTreeMap<String, Vec<String>>,
}

/// The steps in what `convert plan` has printed.
pub(super) fn parse(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut label = String::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("Step ") {
            let (name, title) = heading.split_once(": ").expect("number and title");
            let order = name.trim_end_matches(|one: char| one.is_ascii_lowercase());
            steps.push(Step {
                order: order.parse().expect("a number"),
                name: name.to_owned(),
                title: title.trim_end_matches(':').to_owned(),
                fields: BTreeMap::new(),
            });
            continue;
        }
        let Some(step) = steps.last_mut() else { continue };
        let Some(inside) = line.strip_prefix("  ") else {
            panic!("not part of a step: {line:?}");
        };
        let value = if inside.starts_with(' ') {
            inside
        } else {
            let (name, value) = inside.split_once(':').expect("a label");
            name.clone_into(&mut label);
            value
        };
        let lines = step.fields.entry(label.clone()).or_default();
        lines.extend(Some(value.trim().to_owned()).filter(|value| !value.is_empty()));
    }
    steps
}

impl Step {
    fn lines(&self, label: &str) -> &[String] {
        self.fields.get(label).map(Vec::as_slice).unwrap_or_default()
    }

    /// The exit codes with which a command may end.
    fn accepted(&self) -> Vec<i32> {
        match self.lines("Continue") {
            [] => vec![0],
            [codes, ..] => codes
                .trim_start_matches("on exit ")
                .split(" or ")
                .map(|code| code.parse().expect("an exit code"))
                .collect(),
        }
    }

    /// Returns what it says to run, and what it says to run once that is agreed on.
    fn commands(&self) -> Vec<&String> {
        self.lines("Run").iter().chain(self.lines("Decide")).collect()
    }

    /// Does what the step says.
    #[track_caller]
    pub(super) fn follow(&self, cluster: &Cluster) {
        for change in self.lines("Restart") {
            start_again(cluster, change);
        }
        for command in self.commands() {
            let run = with_kubelets(cluster, || cluster.shell(command).run());
            assert!(
                run.code.is_some_and(|code| self.accepted().contains(&code)),
                "step {}: {}\n{command}\nended with {:?}\n{}\n{}",
                self.name,
                self.title,
                run.code,
                run.stdout,
                run.stderr
            );
        }
    }
}

/// Restarts a component as one line says: `kube-scheduler 1.36` or `kube-scheduler with A=false,B=true`.
fn start_again(cluster: &Cluster, change: &str) {
    let (name, change) = change
        .split_once(' ')
        .expect("a component and what becomes of it");
    let Some(component) = Component::GATED
        .into_iter()
        .find(|component| component.name() == name)
    else {
        assert_eq!(name, "kubelet", "the only component that tests do without");
        return;
    };
    cluster.reconfigure(|options| match change.strip_prefix("with ") {
        Some(gates) => {
            for gate in gates.split(", ") {
                let (gate, on) = gate.split_once('=').expect("a gate and its value");
                options.set_gate(&[component], gate, on == "true");
            }
            // Told by hand: scheduling.k8s.io is not served any more.
            if gates.contains("GenericWorkload=false") {
                options.set_runtime_config("");
            }
        }
        None => {
            // Told by hand: no gate that the release does not know.
            options.clear_gates(component);
            options.set_release(component, change);
        }
    });
}

/// Lets pods that are deleted end meanwhile, as kubelets do.
pub(super) fn with_kubelets<T>(cluster: &Cluster, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                cluster.finish_deletions();
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        // The thread ends also when the work fails.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// What is followed is what the JSON says, too.
#[test]
fn the_printed_steps_are_those_for_scripts() {
    use crate::support::command::dra;
    let ask = |format: &[&str]| {
        let args = [
            "convert",
            "plan",
            "--to-version",
            "1.35",
            "--from",
            "tests/data/snapshots/downgrade-groups-1.37.yaml",
            "--kubernetes-version",
            "1.37",
            super::ON,
        ];
        dra(&[&args[..], format].concat()).run().exits(1).stdout
    };
    let printed = parse(&ask(&["--details"]));
    let json: serde_json::Value = serde_json::from_str(&ask(&["-o", "json"])).expect("a report");
    let steps = json["steps"].as_array().expect("steps");
    assert_eq!(printed.len(), steps.len());
    assert!(printed.len() > 9, "{printed:?}");
    let names: std::collections::BTreeSet<&str> = printed.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names.len(), printed.len(), "each name once: {names:?}");
    for (printed, step) in printed.iter().zip(steps) {
        assert_eq!(step["order"], printed.order);
        let texts = |field: &str| -> Vec<String> {
            let values = step[field].as_array().into_iter().flatten();
            values
                .map(|value| value.as_str().expect("a text").to_owned())
                .collect()
        };
        let commands: Vec<String> = printed.commands().into_iter().cloned().collect();
        assert_eq!(commands, texts("commands"), "{}", printed.title);
        let deletes_pods = |line: &String| line.starts_with("kubectl delete pod/");
        assert!(
            !printed.lines("Run").iter().any(deletes_pods),
            "{}",
            printed.title
        );
        assert_eq!(
            printed.lines("Manual steps"),
            texts("manual"),
            "{}",
            printed.title
        );
        let components = step["components"].as_array().map_or(0, Vec::len);
        assert_eq!(printed.lines("Restart").len(), components, "{}", printed.title);
    }
}
