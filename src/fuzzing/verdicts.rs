//! Targets for whole clusters: every command ends on every input, and what was cut out of an input makes no verdict better.

use serde_json::{Value, json};

use super::bytes::Bytes;
use super::clusters::{self, MOST, SmallCluster};
use super::program::{Run, file, run};
use super::texts::assert_harmless;
use dra_sources::examples;

/// The commands that read a file and say something about it. `{}` is the name of an object.
const COMMANDS: &[&str] = &[
    "check",
    "check --to-version 1.36",
    "check --to-version 1.35 -o json",
    "convert plan",
    "convert plan --to-version 1.36",
    "convert plan --release-unused --all-kinds",
    "convert verify",
    "convert verify --all-kinds -o json",
    "simulate allocation claim/a/{}",
    "simulate allocation pod/a/{} -o json",
    "simulate allocation pod/a/{} --max",
    "explain pod/{} -n a",
    "explain claim/{} -n a -o json",
    "simulate eviction --fail-on-eviction",
    "simulate eviction --taint d/a/a=k:NoExecute --fail-on-eviction -o json",
    "status",
    "status -o json",
    "claims -A",
    "claims -A -o wide",
    "claims -A -o name",
    "reserved -A",
    "reserved -A -o yaml",
    "devices",
    "devices -o json",
    "devices --free -o name",
    "taints -o wide",
    "describe claim {} -n a",
    "describe pod {} -n a",
    "describe node {}",
    "describe class {}",
    "describe device {}",
    "describe pool {}",
    "cel true",
    "run --until 30m",
    "run --until 2h -o json",
];

/// Number of [`COMMANDS`], from the first one on, that give a verdict.
const VERDICTS: usize = 15;

/// Searches of small clusters take a few hundred steps.
const BUDGET: &str = "20000";

/// Bytes that stand in a file as they are.
pub(super) fn json(data: &[u8]) {
    any_command(data, "input.json");
}

/// The same in a file that says it is YAML.
pub(super) fn yaml(data: &[u8]) {
    any_command(data, "input.yaml");
}

fn any_command(data: &[u8], name: &str) {
    let Some((&choice, content)) = data.split_first() else {
        return;
    };
    let path = file(name, content);
    let command = COMMANDS[usize::from(choice) % COMMANDS.len()];
    judge(command, "a", &path, choice >= 128);
}

/// A small cluster through one command; then the same with something missing.
pub(super) fn cluster(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let verdict = bytes.below(VERDICTS);
    let other = bytes.below(COMMANDS.len());
    let name = bytes.pick(&["a", "b", "c"]);
    let (way, place) = (bytes.below(5), bytes.below(64));
    let cluster = SmallCluster::of(&mut bytes);
    let whole = file("cluster.json", &cluster.snapshot());
    judge(COMMANDS[other], name, &whole, true);
    let command = COMMANDS[verdict];
    let before = judge(command, name, &whole, false);
    let free = free_devices(&whole);

    let mut items = cluster.items.clone();
    let mut lists = cluster.lists();
    let mut gaps = Vec::new();
    match way {
        // An object less than the snapshot counts.
        0 => {
            items.remove(place % items.len());
        }
        // A kind less, and nothing that says it was read.
        1 => {
            let (_, kind, _) = MOST[place % MOST.len()];
            items.retain(|item| item["kind"] != kind);
            lists.retain(|list| list["kind"] != kind);
        }
        // An object that cannot be understood.
        2 => {
            let place = place % items.len();
            items[place]["metadata"] = Value::from("damaged");
        }
        // A kind that could not be read, with the reason.
        3 => {
            let (_, kind, _) = MOST[place % MOST.len()];
            items.retain(|item| item["kind"] != kind);
            lists.retain(|list| list["kind"] != kind);
            gaps.push(json!({"kind": kind, "reason": "forbidden"}));
        }
        // An object that does not say what it is.
        _ => {
            let place = place % items.len();
            items[place]["kind"] = Value::Null;
        }
    }
    let damaged = clusters::snapshot(&items, &lists, &gaps);
    let path = file("damaged.json", &damaged);
    let after = judge(command, name, &path, false);
    assert!(
        before.code == 0 || after.code != 0,
        "`{command}` for {name} ended with {} and ends with 0 after way {way} at {place}\n--- whole\n{}{}\n--- damaged\n{}{}",
        before.code,
        before.stdout,
        before.stderr,
        after.stdout,
        after.stderr,
    );
    for device in free_devices(&path) {
        assert!(
            free.contains(&device),
            "{device} is free after way {way} at {place}, and was not before"
        );
    }
}

/// A recorded cluster with one thing changed.
pub(super) fn snapshot(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let examples: Vec<_> = examples::all().collect();
    let example = bytes.pick(&examples);
    let command = COMMANDS[bytes.below(COMMANDS.len())];
    let mut text = zstd::decode_all(example.bytes).expect("an example of ours");
    while !bytes.is_empty() {
        let at =
            (usize::from(bytes.byte()) << 16 | usize::from(bytes.byte()) << 8 | usize::from(bytes.byte()))
                % text.len();
        match bytes.below(4) {
            0 => text[at] = bytes.byte(),
            1 => {
                text.remove(at);
            }
            2 => {
                let end = (at + bytes.below(2000)).min(text.len());
                text.drain(at..end);
            }
            _ => {
                let inserted = bytes.byte();
                text.insert(at, inserted);
            }
        }
        if text.is_empty() {
            return;
        }
    }
    let path = file("snapshot.json", &text);
    judge(command, "a", &path, true);
}

/// Runs `command` on `path`: it ends with a code of the documented ones, says something when it failed, and drives no terminal.
fn judge(command: &str, name: &str, path: &str, terminal: bool) -> Run {
    let mut args: Vec<String> = command.split(' ').map(|word| word.replace("{}", name)).collect();
    args.extend(["--from".to_owned(), path.to_owned()]);
    if command.starts_with("simulate allocation") || command.starts_with("explain") {
        args.extend(["--budget".to_owned(), BUDGET.to_owned()]);
    }
    let run = run(args.iter().map(String::as_str), terminal);
    assert!(run.code <= 4, "{args:?} ended with {}", run.code);
    assert!(
        run.code == 0 || !run.stdout.is_empty() || !run.stderr.is_empty(),
        "{args:?} failed silently"
    );
    if terminal {
        assert_harmless(&run.stdout);
        assert_harmless(&run.stderr);
    } else if command.ends_with("-o json") && run.code != 2 && run.code != 3 {
        assert!(
            serde_json::from_str::<Value>(&run.stdout).is_ok(),
            "{args:?} printed no JSON: {}",
            run.stdout
        );
    }
    run
}

/// The devices that are free without doubt.
fn free_devices(path: &str) -> Vec<String> {
    let run = judge("devices -o json", "", path, false);
    let Ok(report) = serde_json::from_str::<Value>(&run.stdout) else {
        return Vec::new();
    };
    let items = report["items"].as_array().cloned().unwrap_or_default();
    items
        .iter()
        .filter(|item| item["state"] == "Free")
        .map(|item| format!("{}/{}/{}", item["driver"], item["pool"], item["device"]))
        .collect()
}
