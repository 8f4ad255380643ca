//! Text that would drive a terminal, in every place where a cluster, a file or a user can put it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Map, Value, json};

use crate::support::command::dra;
use crate::support::process::{Invocation, Run, Screen};
use crate::support::wait::wait_for;
use dra_testing::effort::some_of;

/// One of everything that a terminal acts on or hides, and markup for a browser.
pub(super) const HOSTILE: &str = "\u{1b}[2J\u{1b}[31m\u{9b}31m\u{1b}]0;title\u{7}\u{8}\u{7f}\u{202e}\u{2066}\u{61c}\u{ad}\u{34f}\u{180e}\u{2060}\
    \u{3164}\u{2800}\u{feff}\u{fe0f}\u{e0041}\t\u{b}\u{85}\u{2028}\r\n<img src=x onerror=alert(1)>\"'&amp;<script>forged";

/// Fields that say what something is, in words that are known, and those that are numbers or programs: they stay.
const STAY: &[&str] = &[
    "allocatable",
    "allocationMode",
    "apiVersion",
    "capacity",
    "consumedCapacity",
    "cpu",
    "effect",
    "expression",
    "generation",
    "kind",
    "limits",
    "memory",
    "operator",
    "phase",
    "requests",
    "resource",
    "resourceVersion",
    "status",
    "type",
    "version",
];

/// Maps whose keys are names that somebody chose.
const NAMED: &[&str] = &[
    "annotations",
    "labels",
    "matchLabels",
    "attributes",
    "nodeSelector",
];

fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.as_bytes()[4] == b'-' && text.as_bytes()[10] == b'T'
}

/// The same object with something hostile at the end of every text. Texts that were equal still are, so names still lead to objects.
fn hostile(value: &Value, field: &str) -> Value {
    match value {
        Value::String(text) if is_time(text) => value.clone(),
        Value::String(text) => Value::from(format!("{text}{HOSTILE}")),
        Value::Array(items) => items.iter().map(|item| hostile(item, field)).collect(),
        Value::Object(fields) => {
            let of = |(name, value): (&String, &Value)| {
                // A list of requests, not of quantities.
                let stays = STAY.contains(&name.as_str())
                    && !(name == "requests" && value.is_array())
                    && !(name == "status" && value.is_object());
                let value = if stays {
                    value.clone()
                } else {
                    hostile(value, name)
                };
                let name = if NAMED.contains(&field) {
                    format!("{name}{HOSTILE}")
                } else {
                    name.clone()
                };
                (name, value)
            };
            Value::Object(fields.iter().map(of).collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}

/// The objects of a recorded cluster, all texts of them hostile.
fn objects(recorded: &str) -> Vec<Value> {
    let file = format!("tests/data/snapshots/{recorded}.yaml");
    let text = std::fs::read_to_string(&file).expect("the recorded cluster");
    let list: Value = serde_saphyr::from_str(&text).expect("YAML");
    let items = list["items"].as_array().expect("a list");
    items
        .iter()
        .map(|item| {
            let mut item = hostile(item, "");
            if let Some(Value::Array(entries)) = item.pointer_mut("/status/reservedFor") {
                entries.push(
                    json!({"apiGroup": format!("g{HOSTILE}"), "resource": format!("r{HOSTILE}"),
                    "name": format!("n{HOSTILE}"), "uid": format!("u{HOSTILE}")}),
                );
            }
            item
        })
        .collect()
}

/// A folder with the clusters, in files whose names are hostile too.
pub(super) struct Clusters {
    folder: tempfile::TempDir,
}

impl Clusters {
    pub(super) fn new(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let clusters = Self { folder };
        for name in names {
            let list = json!({"apiVersion": "v1", "kind": "List", "items": objects(name)});
            std::fs::write(clusters.path(name), list.to_string()).expect("a file");
        }
        clusters
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}{HOSTILE}.json"))
    }

    pub(super) fn command(&self, args: &[String], name: &str) -> Invocation {
        let from = self.path(name).display().to_string();
        dra(&[]).args(args).args([
            "--from",
            &from,
            "--kubernetes-version=1.37",
            "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true",
            "--now=2026-11-22T12:00:00Z",
        ])
    }
}

/// The text without the colours of ours.
fn without_colours(text: &str) -> String {
    [
        "0", "1", "2", "31", "32", "33", "34", "35", "36", "94", "95", "96",
    ]
    .iter()
    .fold(text.to_owned(), |text, colour| {
        text.replace(&format!("\u{1b}[{colour}m"), "")
    })
}

/// Checks that nothing on a screen drives it or hides in it.
#[track_caller]
fn assert_tame(run: &Run, shown: &str) {
    assert!(
        !run.stdout.contains("panicked") && !run.stderr.contains("panicked"),
        "{run:?}"
    );
    assert!(matches!(run.code, Some(0..=4)), "{run:?}");
    let text = without_colours(shown);
    let wild: Vec<char> = text
        .chars()
        .filter(|&c| c != '\n' && (c.is_control() || !c.is_ascii() && HOSTILE.contains(c)))
        .collect();
    assert!(wild.is_empty(), "{}: {wild:?}\n{text:?}", run.command);
}

/// The text without what depends on how wide a screen is: each line of a value has its colour.
fn words(text: &str) -> String {
    without_colours(text)
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect()
}

pub(super) fn args(text: &str) -> Vec<String> {
    // `~` stands for what every name ends in.
    text.split(' ').map(|word| word.replace('~', HOSTILE)).collect()
}

/// Commands that read, each with a recorded cluster that gives it something to say, and whether it has rows and names.
pub(super) const READING: &[(&str, &str, bool)] = &[
    ("status -A", "device-taints-marked", false),
    ("claims -A", "downgrade-groups-1.37", true),
    ("reserved -A", "downgrade-groups-1.37", true),
    ("devices -A", "device-taints-marked", true),
    ("taints -A", "device-taints-marked", true),
    ("check -A", "downgrade-groups-1.37", true),
    ("check -A --to-version=1.36", "downgrade-features-1.37", true),
    (
        "describe claim/default~/pair-gpu~",
        "downgrade-groups-1.37",
        false,
    ),
    ("describe pod/default~/pair-0~", "downgrade-groups-1.37", false),
    ("describe node/gpu-node-1~", "device-taints-marked", false),
    ("describe class/gpu.example.com~", "device-taints-marked", false),
    (
        "describe pool/gpu.example.com~/gpu-node-1~",
        "device-taints-marked",
        false,
    ),
    (
        "describe device/gpu.example.com~/gpu-node-1~/gpu-0~",
        "device-taints-marked",
        false,
    ),
    ("explain pod/default~/cel-error~", "unschedulable-pods", false),
    ("explain -A", "unschedulable-pods", false),
    ("explain node/gpu-node-1~", "device-taints-marked", false),
    ("devices --map", "device-taints-marked", false),
    ("status --by=owner", "device-taints-marked", false),
    ("explain pod/default~/pair-0~", "downgrade-groups-1.37", false),
    ("simulate eviction -A", "device-taints-marked", false),
    (
        "simulate eviction --node=gpu-node-1~ --emit-rule",
        "device-taints-marked",
        false,
    ),
    (
        "simulate allocation pod/default~/pair-0~",
        "downgrade-groups-1.37",
        false,
    ),
    ("convert plan --all-kinds", "downgrade-groups-1.37", true),
    ("convert plan --to-version=1.36", "downgrade-groups-1.37", false),
    ("convert verify --all-kinds", "downgrade-groups-1.37", true),
    ("cel device.driver=='x'", "device-taints-marked", false),
];

#[test]
fn no_command_lets_a_cluster_drive_a_terminal() {
    let clusters = Clusters::new(&[
        "device-taints-marked",
        "downgrade-groups-1.37",
        "downgrade-features-1.37",
        "unschedulable-pods",
    ]);
    for (command, name, has_names) in some_of(READING, 8) {
        let run = |more: &[&str], columns| {
            let args = [args(command), more.iter().map(|&arg| arg.to_owned()).collect()].concat();
            let run = clusters.command(&args, name).run_on_screen(columns, Screen::Both);
            assert_tame(&run, &run.stdout);
            assert!(
                run.stdout.contains("^[[2J")
                    || run.stdout.contains("\\u001b[2J")
                    || run.stdout.contains("\\e[2J")
                    // Its end, where it is too long for the terminal.
                    || run.stdout.contains("forged"),
                "{command}: nothing hostile was read: {}",
                run.stdout
            );
            run.stdout
        };
        for format in ["-otable", "-owide"] {
            let wide = words(&run(&[format], 80));
            for columns in [0, 1] {
                assert_eq!(words(&run(&[format], columns)), wide, "{command} {format}");
            }
        }
        if !command.contains("--emit-rule") && !command.contains("--map") {
            run(&["-ojson"], 0);
            run(&["-oyaml"], 80);
        }
        if *has_names {
            run(&["-oname"], 0);
        }
    }
}

#[test]
fn one_object_is_one_line_wherever_there_are_lines() {
    let clusters = Clusters::new(&["device-taints-marked", "downgrade-groups-1.37"]);
    let all = ["-otable", "-owide", "-oname"];
    for (command, name, rows, formats) in [
        ("claims -A", "downgrade-groups-1.37", "items", &all[..]),
        ("devices -A", "device-taints-marked", "items", &all),
        ("taints -A", "device-taints-marked", "items", &all),
        (
            "convert plan --all-kinds",
            "downgrade-groups-1.37",
            "claims",
            &all,
        ),
    ] {
        let run = |more: &[&str]| {
            let more = more.iter().map(|&flag| flag.to_owned()).collect();
            clusters.command(&[args(command), more].concat(), name).run()
        };
        let report: Value = serde_json::from_str(&run(&["-ojson"]).stdout).expect("JSON");
        let count = report[rows].as_array().expect("rows").len();
        assert!(count > 1, "{command}: {report}");
        for format in formats {
            let text = run(&[*format, "--no-headers"]).stdout;
            let ends = |c: char| {
                matches!(
                    c,
                    '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
                )
            };
            assert_eq!(
                text.trim_end().split(ends).count(),
                count,
                "{command} {format}: {text:?}"
            );
            // All of it is there, and a pipe gets it as it is.
            assert!(
                text.contains("\u{1b}[2J\u{1b}[31m\u{9b}31m"),
                "{command} {format}: {text:?}"
            );
        }
    }
}

#[test]
fn what_a_user_types_drives_no_terminal_either() {
    let clusters = Clusters::new(&["device-taints-marked"]);
    let folder = clusters.folder.path();
    let file = |name: &str, text: &str| {
        let path = folder.join(format!("{name}{HOSTILE}"));
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let broken = file("broken", &format!("kind: [\"{}\"\n: {{", "\u{1b}[2J\u{202e}"));
    let kubeconfig = file(
        "config",
        "clusters: [{name: \"a\\e[2J\", cluster: {server: \"nonsense\\e[2J\"}}]",
    );
    let rule = file("rule", "kind: \"x\\e[2J\"");
    let lines: Vec<Vec<String>> = vec![
        args("cl~aims"),
        args("claims --frm~=x"),
        args("claims -o ~"),
        args("claims --from missing~"),
        args("claims --from example:~"),
        args("claims -A --from example:gpus --sort-by ~"),
        args("claims -A --from example:gpus -l ~"),
        args("claims --now ~ --from example:gpus"),
        args("claims nothing~ --from example:gpus"),
        args("-n n~ claims --from example:gpus"),
        args("describe what~ x --from example:gpus"),
        args("describe claim ~ --from example:gpus"),
        args("explain ~ --from example:gpus"),
        args("cel ~ --from example:gpus"),
        args("convert plan --kind ~ --from example:gpus"),
        args("convert plan --to-version ~ --from example:gpus"),
        args("convert --from example:gpus --out /nonexistent~/x"),
        args("convert apply --plan missing~"),
        args("snapshot --out /nonexistent~/x"),
        args("claims --context x~"),
        args("claims --server nonsense~"),
        args("completion ~"),
        args("help ~"),
        args("~"),
        vec!["claims".into(), "--from".into(), broken],
        vec!["claims".into(), "--kubeconfig".into(), kubeconfig],
        vec![
            "simulate".into(),
            "eviction".into(),
            "--from".into(),
            "example:gpus".into(),
            "--rule".into(),
            rule,
        ],
    ];
    for line in lines {
        for columns in [0, 80] {
            let run = dra(&[]).args(&line).run_on_screen(columns, Screen::Both);
            assert_tame(&run, &run.stdout);
            assert!(!run.stdout.is_empty(), "{line:?} says nothing");
        }
    }
}

#[test]
fn help_and_scripts_lose_no_word_on_the_narrowest_terminal() {
    for line in [
        "help",
        "claims --help",
        "convert --help",
        "completion bash",
        "completion fish",
        "version --client",
    ] {
        let on = |columns| {
            let run = dra(&[]).args(args(line)).run_on_screen(columns, Screen::Both);
            assert_tame(&run, &run.stdout);
            words(&run.stdout)
        };
        let wide = on(80);
        assert!(!wide.is_empty());
        assert_eq!((on(0), on(1)), (wide.clone(), wide), "{line}");
    }
}

#[test]
fn each_stream_is_judged_separately() {
    let clusters = Clusters::new(&["device-taints-marked"]);
    let command = || clusters.command(&args("simulate eviction -A -otable"), "device-taints-marked");
    let piped = command().run();
    let raw = "\u{1b}[2J";
    assert!(piped.stdout.contains(raw), "{piped:?}");

    let out = command().run_on_screen(80, Screen::Stdout);
    assert_tame(&out, &out.stdout);
    assert_eq!(out.stderr, piped.stderr, "a pipe gets what it always gets");

    let err = command().run_on_screen(80, Screen::Stderr);
    assert_tame(&err, &err.stderr);
    assert_eq!(err.stdout, piped.stdout, "a pipe gets what it always gets");

    let missing = || dra(&["claims", "--from"]).args(args("missing~"));
    assert!(missing().run().stderr.contains(raw));
    assert!(missing().run_on_screen(80, Screen::Stdout).stderr.contains(raw));
    let shown = missing().run_on_screen(80, Screen::Stderr);
    assert_tame(&shown, &shown.stderr);
}

#[test]
fn progress_shows_no_name_as_it_is_and_needs_no_width() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let pipe = folder.path().join(format!("pipe{HOSTILE}"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    for columns in [0, 1, 80] {
        // With both ends open, neither side waits for the other.
        let mut objects = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&pipe)
            .expect("a pipe");
        let process = dra(&["claims", "-A", "--kubernetes-version=1.37", "--from"])
            .args([&pipe])
            .env("TERM", "xterm")
            .start_on_screen(columns, Screen::Both);
        if columns == 1 {
            // Nothing has room there, so there is nothing to wait for, only time for it to go wrong.
            std::thread::sleep(std::time::Duration::from_millis(1500));
        } else {
            wait_for("a line that says what takes so long", || {
                process.stdout().contains("reading").then_some(())
            });
        }
        let claim = super::claim("last", &json!({}));
        objects
            .write_all(&super::list(&json!([claim])))
            .expect("the pipe is read");
        drop(objects);
        let run = process.finish().exits(0);
        assert!(run.stdout.contains("last"), "{run:?}");
        let wild = [
            "\u{1b}[2J\u{1b}[31m",
            "\u{9b}",
            "\u{1b}]",
            "\u{7}",
            "\u{202e}",
            "\u{e0041}",
        ];
        assert!(!wild.iter().any(|wild| run.stdout.contains(wild)), "{run:?}");
    }
}

#[test]
fn a_message_cannot_pretend_to_be_another() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let from = folder.path().join("x.json");
    let forged = "x\nerror: all is lost\nwarning: run this";
    let slice = |name: &str| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
               "spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": 7}})
    };
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [slice(forged), slice("sound")]});
    std::fs::write(&from, list.to_string()).expect("a file");
    let from = from.to_str().expect("UTF-8");
    for more in [&[][..], &["--strict"]] {
        let run = dra(&[&["status", "--from", from, "--kubernetes-version=1.37"], more].concat()).run();
        assert!(run.stderr.contains("all is lost"), "{run:?}");
        let lines = run.stderr.lines();
        let told: Vec<_> = lines
            .filter(|line| line.starts_with("error: all") || line.starts_with("warning: run"))
            .collect();
        assert!(told.is_empty(), "{run:?}");
    }
}

#[test]
fn completion_offers_no_name_that_cannot_be_typed() {
    let clusters = Clusters::new(&["downgrade-groups-1.37"]);
    let path = clusters.path("downgrade-groups-1.37");
    let good = folder_with_one_claim(clusters.folder.path());
    for (from, offered) in [(path.as_path(), false), (good.as_path(), true)] {
        let from = from.display().to_string();
        let run = dra(&["__complete", "claims", "-A", "--from", &from, ""]).run();
        assert_eq!(run.stdout.contains("claim"), offered, "{run:?}");
        assert!(!run.stdout.contains("forged"), "{run:?}");
    }
}

fn folder_with_one_claim(folder: &Path) -> PathBuf {
    let path = folder.join("good.json");
    let claim = super::claim("good", &json!({}));
    std::fs::write(&path, super::list(&json!([claim]))).expect("a file");
    path
}

/// Returns what stands on a screen after `text`: lines, of which the last is open.
fn screen_after(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut row = 0;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\u{1b}[") {
            let end = after
                .find(|c: char| c.is_ascii_alphabetic())
                .expect("a whole sequence");
            let (number, letter) = (&after[..end], &after[end..=end]);
            match letter {
                "K" => lines[row].clear(),
                "A" => row = row.saturating_sub(number.parse().unwrap_or(1)),
                "B" => row = (row + number.parse().unwrap_or(1)).min(lines.len() - 1),
                "m" | "h" | "l" => {}
                other => panic!("`{other}` is no sequence of a progress line: {text:?}"),
            }
            rest = &after[end + 1..];
            continue;
        }
        match next {
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(String::new());
                }
            }
            '\r' => {}
            shown => lines[row].push(shown),
        }
        rest = &rest[next.len_utf8()..];
    }
    lines
}

#[test]
fn computing_is_shown_on_a_terminal_only_and_leaves_nothing_there() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let from = folder.path().join("cluster.json");
    std::fs::write(&from, super::computing::endless_search()).expect("a file");
    let budget = format!("--budget={}", u64::MAX);
    for command in [&["explain"][..], &["simulate", "allocation"]] {
        let endless = |more: &[&str]| {
            dra(command)
                .args([
                    "claim/k",
                    "--complete",
                    "--kubernetes-version=1.37",
                    &budget,
                    "--from",
                ])
                .args([&from])
                .args(more)
                .env("TERM", "xterm")
        };
        for shown in [Screen::Both, Screen::Stderr] {
            let process = endless(&[]).start_on_screen(80, shown);
            let seen = || match shown {
                Screen::Both => process.stdout(),
                _ => process.stderr(),
            };
            wait_for("a line that says what takes so long", || {
                seen().contains("simulating nodes").then_some(())
            });
            process.signal(rustix::process::Signal::INT);
            let run = process.finish().exits(130);
            let (screen, piped) = match shown {
                Screen::Both => (run.stdout, String::new()),
                _ => (run.stderr, run.stdout),
            };
            let left = screen_after(&screen).concat();
            let said = if command == ["explain"] {
                ""
            } else {
                "simulation only; nothing was changed"
            };
            assert_eq!(left.trim(), said, "{screen:?}");
            assert_eq!(piped, "", "no part of a report");
        }
        // Quiet runs, and those whose standard error is a pipe, show nothing of it.
        let quiet = endless(&["-q", "--timeout=3s"])
            .run_on_screen(80, Screen::Stderr)
            .exits(3);
        let first = quiet.stderr.lines().next().unwrap_or_default();
        assert!(
            without_colours(first).starts_with("error: timed out after 3 s"),
            "{quiet:?}"
        );
        let piped = endless(&["--timeout=3s"]).run().exits(3);
        assert!(piped.stderr.contains("error: timed out after 3 s"), "{piped:?}");
        assert!(
            !piped.stderr.contains(['\r', '\u{1b}']) && piped.stdout.is_empty(),
            "{piped:?}"
        );
        let out_only = endless(&["--timeout=3s"])
            .run_on_screen(80, Screen::Stdout)
            .exits(3);
        assert!(
            !out_only.stderr.contains(['\r', '\u{1b}']) && out_only.stdout.is_empty(),
            "{out_only:?}"
        );
    }
}
