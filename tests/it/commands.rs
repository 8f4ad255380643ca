//! The commands that reports print, run as they stand there in real shells, on clusters whose names were made to break out.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::command::dra;
use crate::support::process::{Invocation, write_program};
use crate::support::schema::assert_valid;
use dra_testing::effort::by_effort;
use dra_testing::names::rename;

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/snapshots");

/// Prefix and suffix of every name, and whether every name still gives a command with it.
const AROUND: &[(&str, &str, bool)] = &[
    ("", "$(touch pwned)", true),
    ("`touch pwned`", "", true),
    ("; touch pwned; ", "&& touch pwned #", true),
    ("--all ", "| touch pwned", true),
    ("-n", "-f", true),
    ("'", "\"", true),
    ("\\", "!", true),
    ("\n", "\t\u{1b}[2J\u{202e}", true),
    ("~", "*{a,b}?[c]", false),
    ("=", ">pwned", false),
    ("$IFS", "%s ${HOME}", true),
    ("größe日本", "\u{200b}", true),
    ("a", "\n", false),
    ("a/", "/b", false),
    ("--all=", "", false),
    ("", "-", false),
    ("(", ") & touch pwned <pwned", true),
];

/// The objects of a snapshot, renamed, as a file in `folder`.
fn renamed(folder: &Path, snapshot: &str, begin: &str, end: &str) -> String {
    let text =
        std::fs::read_to_string(Path::new(SNAPSHOTS).join(format!("{snapshot}.yaml"))).expect("a snapshot");
    let mut cluster: Value = serde_saphyr::from_str(&text).expect("YAML");
    let name = |text: &str| format!("{begin}{text}{end}");
    for item in cluster["items"].as_array_mut().expect("items") {
        if item["kind"] != "Snapshot" {
            rename(item, &[], &name);
        }
    }
    let file = folder.join("cluster.json");
    std::fs::write(&file, cluster.to_string()).expect("written");
    file.to_str().expect("UTF-8").to_owned()
}

/// A line and what stands beside it.
#[derive(Debug)]
struct Line {
    text: String,
    runs: Vec<Value>,
}

/// Every command in a report: each object with `argv` or `script`, with the text that it stands beside.
fn lines(value: &Value, found: &mut Vec<Line>) {
    match value {
        Value::Object(fields) => {
            let runs =
                |fields: &serde_json::Map<String, Value>| match (fields.get("argv"), fields.get("script")) {
                    (Some(argv), None) => vec![json!({"argv": argv})],
                    (None, Some(script)) => script.as_array().expect("a list").clone(),
                    (None, None) => Vec::new(),
                    both => panic!("{both:?}"),
                };
            let text = fields
                .get("command")
                .or_else(|| fields.get("fix"))
                .and_then(Value::as_str);
            let own = runs(fields);
            if let Some(text) = text {
                assert_eq!(text.starts_with("kubectl "), !own.is_empty(), "{text}");
                if !own.is_empty() {
                    found.push(Line {
                        text: text.to_owned(),
                        runs: own,
                    });
                }
            }
            if let Some(commands) = fields.get("commands").and_then(Value::as_array) {
                let all = fields
                    .get("runs")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                assert_eq!(commands.len(), all.len());
                for (command, run) in commands.iter().zip(all) {
                    found.push(Line {
                        text: command.as_str().expect("a line").to_owned(),
                        runs: runs(run.as_object().expect("an object")),
                    });
                }
            }
            for (field, value) in fields {
                if !["argv", "script", "runs"].contains(&field.as_str()) {
                    lines(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| lines(value, found)),
        _ => {}
    }
}

/// Runs `lines` in each shell, with programs on `PATH` that note their arguments, and compares.
fn assert_exact(lines: &[Line]) {
    const NOTE: &str = "#!/bin/sh\n\
                        case \" $* \" in *' - '*) cat > /dev/null;; esac\n\
                        printf '%s\\0' \"${0##*/}\" \"$@\" '' >> \"$NOTED\"\n";
    let text: String = lines.iter().map(|line| format!("{}\n", line.text)).collect();
    assert!(
        text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')),
        "not safe on a terminal: {text}"
    );
    assert_eq!(text.lines().count(), lines.len());
    let mut expected = String::new();
    let mut files = BTreeSet::new();
    for run in lines.iter().flat_map(|line| &line.runs) {
        for argument in run["argv"].as_array().expect("arguments") {
            expected.push_str(argument.as_str().expect("a text"));
            expected.push('\0');
        }
        expected.push('\0');
        files.extend(run["stdout"].as_str().map(str::to_owned));
    }
    for shell in ["/bin/sh", "/bin/bash"]
        .into_iter()
        .filter(|shell| Path::new(shell).exists())
    {
        let folder = tempfile::tempdir().expect("a folder");
        let (programs, work) = (folder.path().join("bin"), folder.path().join("work"));
        std::fs::create_dir(&programs).expect("a folder");
        std::fs::create_dir(&work).expect("a folder");
        for program in ["kubectl", "kubectl-dra"] {
            write_program(&programs.join(program), NOTE);
        }
        let script = folder.path().join("lines");
        std::fs::write(&script, &text).expect("written");
        let noted = folder.path().join("noted");
        let path = format!("{}:/usr/bin:/bin", programs.display());
        let run = Invocation::new(shell)
            .args([script.to_str().expect("UTF-8")])
            .env("PATH", &path)
            .env("NOTED", noted.to_str().expect("UTF-8"))
            .env("HOME", folder.path().to_str().expect("UTF-8"))
            .current_dir(&work)
            .run();
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{shell}: {text}");
        let noted = std::fs::read_to_string(&noted).expect("what was noted");
        for (number, (noted, expected)) in noted.split("\0\0").zip(expected.split("\0\0")).enumerate() {
            assert_eq!(noted, expected, "{shell}: run {number}");
        }
        assert_eq!(noted, expected, "{shell}");
        let created: BTreeSet<String> = work
            .read_dir()
            .expect("a folder")
            .map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"))
            .collect();
        assert_eq!(created, files, "{shell}");
    }
}

/// Returns what the program says of `args`, and the commands in it.
fn ask(args: &[&str]) -> (Value, Vec<Line>) {
    let run = dra(&[args, &["--now", "2026-11-21T14:00:00Z", "-o", "json"]].concat()).run();
    assert!(!run.stdout.is_empty(), "{args:?}: {}", run.stderr);
    let report = assert_valid(&run.stdout);
    let mut found = Vec::new();
    lines(&report, &mut found);
    (report, found)
}

/// The commands of every report on a snapshot whose names are like this, by what printed them.
fn all_lines(snapshot: &str, begin: &str, end: &str) -> BTreeMap<String, Vec<Line>> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = renamed(folder.path(), snapshot, begin, end);
    let driver = format!("--driver={begin}gpu.example.com{end}");
    let mut all: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    let mut keep = |label: &str, lines: Vec<Line>| all.entry(label.to_owned()).or_default().extend(lines);
    for args in [
        &["check"][..],
        &["check", "--to-version", "1.34"],
        &["check", "--to-version", "1.36"],
        &["check", &driver],
    ] {
        let args = [args, &["--from", &file, "--kubernetes-version", "1.37"]].concat();
        let (report, _) = ask(&args);
        for item in report["items"].as_array().expect("items") {
            let mut found = Vec::new();
            lines(item, &mut found);
            keep(item["code"].as_str().expect("a code"), found);
        }
    }
    for kinds in [&[][..], &["--all-kinds"]] {
        let args = [
            "convert",
            "plan",
            "--to-version",
            "1.35",
            "--from",
            &file,
            "--kubernetes-version",
            "1.37",
        ];
        let (_, found) = ask(&[&args[..], kinds].concat());
        keep("plan", found);
    }
    if !begin.contains('/') {
        let text = std::fs::read_to_string(&file).expect("a file");
        let cluster: Value = serde_json::from_str(&text).expect("JSON");
        let pods = cluster["items"]
            .as_array()
            .expect("items")
            .iter()
            .filter(|item| item["kind"] == "Pod");
        for pod in pods.filter(|pod| pod["spec"]["nodeName"].is_null()) {
            let text = |field: &str| pod["metadata"][field].as_str().expect("a name").to_owned();
            let target = format!("pod/{}/{}", text("namespace"), text("name"));
            let (report, _) = ask(&["explain", "--from", &file, &target]);
            for fix in report["fixes"].as_array().expect("fixes") {
                let mut found = Vec::new();
                lines(fix, &mut found);
                keep(fix["kind"].as_str().expect("a kind"), found);
            }
        }
    }
    all
}

#[test]
fn printed_commands_run_with_exactly_the_arguments_that_are_meant() {
    let snapshots = [
        "stale-reservations",
        "unschedulable-pods",
        "downgrade-groups-1.37",
        "podgroups-gates-off",
        "taint-rules-noexecute",
    ];
    let mut names = BTreeSet::new();
    let stride = by_effort(snapshots.len(), 1, 1);
    for (place, snapshot) in snapshots.into_iter().enumerate() {
        let plain: BTreeSet<String> = all_lines(snapshot, "", "")
            .into_iter()
            .filter(|(_, lines)| !lines.is_empty())
            .map(|(label, _)| label)
            .collect();
        assert!(!plain.is_empty(), "{snapshot}");
        // With small effort each name is tried in one of the snapshots.
        let some = AROUND.iter().skip(place % stride).step_by(stride);
        for (begin, end, always) in some {
            let found = all_lines(snapshot, begin, end);
            let told: BTreeSet<String> = found
                .iter()
                .filter(|(_, lines)| !lines.is_empty())
                .map(|(label, _)| label.clone())
                .collect();
            // The steps of a plan have commands without names. Taints of nodes have keys, and kinds of others are selected by their name.
            // Under other names of drivers classes select nothing, so that other changes help a pod.
            if *always {
                let is_finding = |label: &&String| label.starts_with("DRA");
                let lost: Vec<_> = plain.difference(&told).filter(is_finding).collect();
                assert!(
                    lost.len() * 2 < plain.iter().filter(is_finding).count().max(1),
                    "{snapshot} {begin:?} {end:?}: {lost:?}"
                );
            }
            let lines: Vec<Line> = found.into_values().flatten().collect();
            for argument in lines
                .iter()
                .flat_map(|line| &line.runs)
                .flat_map(|run| run["argv"].as_array().expect("arguments"))
            {
                let argument = argument.as_str().expect("a text");
                assert!(
                    !begin.starts_with('-')
                        || !argument.starts_with(begin)
                        || argument == "-n"
                        || argument == "-",
                    "{argument}"
                );
                if argument.contains(begin) && argument.contains(end) {
                    names.insert(argument.to_owned());
                }
            }
            assert_exact(&lines);
        }
    }
    assert!(names.len() > by_effort(100, 500, 500), "{}", names.len());
}

#[test]
fn what_the_api_server_lets_in_does_not_get_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cluster.json");
    let claim = json!({
        "apiVersion": "v1", "kind": "List",
        "items": [
            {
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"namespace": "n", "name": "c", "uid": "u"},
                "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
                "status": {
                    "allocation": {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}},
                    "reservedFor": [
                        {"resource": "foo$(touch pwned)", "name": "a", "uid": "v"},
                        {"resource": "pods", "name": "--all", "uid": "w"},
                    ],
                },
            },
            {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "n", "name": "user", "uid": "x"},
                "spec": {"nodeName": "node", "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
                "status": {"phase": "Running"},
            },
        ],
    });
    std::fs::write(&file, claim.to_string()).expect("written");
    let file = file.to_str().expect("UTF-8");
    let (report, lines) = ask(&["check", "--from", file]);
    let fix = |code: &str| {
        let items = report["items"].as_array().expect("items").iter();
        items
            .filter(|item| item["code"] == code)
            .map(|item| item["fix"].clone())
            .next()
    };
    assert_eq!(
        fix("DRA013"),
        Some(json!(
            "kubectl dra convert claim/n/c '--kind=foo$(touch pwned)' --yes"
        ))
    );
    assert_exact(&lines);
    // Our own parser takes it for what it is.
    let plan = dra(&[
        "convert",
        "plan",
        "claim/n/c",
        "--kind=foo$(touch pwned)",
        "--from",
        file,
        "-o",
        "json",
    ])
    .run();
    let plan: Value = serde_json::from_str(&plan.stdout).expect("a plan");
    assert_eq!(plan["options"]["kinds"], json!(["foo$(touch pwned)"]));
    assert_ne!(plan["claims"][0]["action"], "Keep");
}
