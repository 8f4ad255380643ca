//! Terminal output of every example and every recorded cluster: no line is wider than the terminal, and a pipe gets the same.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::support::command::{dra, is_one_word, on_screen};
use crate::support::process::{Invocation, Screen};
use dra_testing::effort::by_effort;

/// The widths of terminals that people have. The first is the narrowest that pictures are drawn for.
const WIDTHS: [u16; 4] = [60, 80, 120, 200];

/// The time at which all of them are looked at.
const NOW: &str = "2026-11-21T11:00:00Z";

const EXAMPLES: [&str; 8] = [
    "gpus",
    "pending",
    "stale",
    "taints",
    "groups",
    "partitions",
    "shares",
    "downgrade",
];

/// A cluster to look at: its objects, and the flags that name it.
struct Source {
    name: String,
    flags: Vec<String>,
    objects: Vec<Value>,
}

impl Source {
    /// The examples and the recorded clusters, as JSON in `folder`: that is read much faster than YAML.
    fn all(folder: &Path) -> Vec<Self> {
        let snapshots = std::fs::read_dir("tests/data/snapshots").expect("recorded clusters");
        let mut snapshots: Vec<PathBuf> = snapshots.map(|entry| entry.expect("an entry").path()).collect();
        snapshots.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
        snapshots.sort();
        assert!(snapshots.len() > 20, "{snapshots:?}");
        let mut all: Vec<Self> = snapshots
            .iter()
            .map(|path| {
                let text = std::fs::read_to_string(path).expect("a recorded cluster");
                let list: Value = serde_saphyr::from_str(&text).expect("YAML");
                let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
                Self::of(folder, name, &list)
            })
            .collect();
        for example in EXAMPLES {
            let file = format!("crates/dra-sources/src/examples/{example}.json.zst");
            let file = std::fs::File::open(file).expect("an example");
            let text = zstd::decode_all(file).expect("compressed");
            let list: Value = serde_json::from_slice(&text).expect("JSON");
            let from = format!("example:{example}");
            let mut source = Self::of(folder, from.clone(), &list);
            source.flags = vec!["--from".to_owned(), from];
            all.push(source);
        }
        all
    }

    fn of(folder: &Path, name: String, list: &Value) -> Self {
        let file = folder.join(format!("{}.json", name.replace(':', "-")));
        std::fs::write(&file, list.to_string()).expect("a file");
        let flags = [
            "--from",
            &file.display().to_string(),
            "--kubernetes-version",
            "1.37",
            "--now",
            NOW,
        ];
        let objects = list["items"].as_array().or_else(|| list["objects"].as_array());
        Self {
            name,
            flags: flags.map(str::to_owned).into(),
            objects: objects.cloned().unwrap_or_default(),
        }
    }

    fn kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    /// The command lines that are tried on it.
    fn lines(&self) -> Vec<Vec<String>> {
        let mut lines: Vec<Vec<String>> = LINES.iter().map(|line| words(line)).collect();
        let named = |object: &Value| {
            let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
            (text("namespace"), text("name"))
        };
        let mut about = |line: &str, object: &Value| {
            let (namespace, name) = named(object);
            let mut line = words(&line.replace("NAME", &name));
            if !namespace.is_empty() {
                line.extend(["-n".to_owned(), namespace]);
            }
            lines.push(line);
        };
        for (kind, line) in [
            ("ResourceClaim", "describe claim/NAME"),
            ("Node", "describe node/NAME"),
            ("Node", "explain node/NAME"),
            ("DeviceClass", "describe class/NAME"),
            ("Node", "simulate eviction --node NAME"),
        ] {
            for object in self.kind(kind).take(1) {
                about(line, object);
            }
        }
        let (placed, pending): (Vec<&Value>, Vec<&Value>) = self
            .kind("Pod")
            .partition(|pod| pod["spec"]["nodeName"].is_string());
        for pod in placed.iter().take(1).chain(pending.iter().take(4)) {
            about("describe pod/NAME", pod);
        }
        for pod in pending {
            about("explain pod/NAME", pod);
            about("simulate allocation pod/NAME", pod);
        }
        let slice = self.kind("ResourceSlice").find_map(|slice| {
            let spec = &slice["spec"];
            let device = spec["devices"].get(0)?["name"].as_str()?;
            Some((spec["driver"].as_str()?, spec["pool"]["name"].as_str()?, device))
        });
        if let Some((driver, pool, device)) = slice {
            lines.push(words(&format!("describe device/{driver}/{pool}/{device}")));
            lines.push(words(&format!("simulate eviction --driver {driver}")));
            lines.push(words(&format!("check --driver {driver}")));
        }
        for expression in EXPRESSIONS {
            lines.push(vec!["cel".to_owned(), (*expression).to_owned()]);
        }
        lines
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

const LINES: &[&str] = &[
    "status",
    "claims -A",
    "reserved -A",
    "devices",
    "devices --map",
    "devices --map --by owner",
    "status --by owner",
    "explain -A",
    "taints",
    "check",
    "check --to-version 1.36",
    "convert plan",
    "convert plan --to-version 1.36",
    "convert plan --to-version 1.36 --only-blocking",
];

const EXPRESSIONS: &[&str] = &[
    "device.attributes[\"gpu.example.com\"].model == \"H100-SXM5-80GB\" && device.attributes[\"gpu.example.com\"].index < 3",
    "device.attributes[\"gpu.example.com\"].memory > 40",
];

/// Every line on the narrowest terminal and on another one, by turns; the examples on all of them. With small effort some of that, with
/// full effort every line on every terminal.
#[test]
fn no_line_is_wider_than_the_terminal() {
    assert_narrow(|source, number| {
        if by_effort(number % 8 != 0, false, false) {
            Vec::new()
        } else if by_effort(false, source.name.starts_with("example:"), true) {
            WIDTHS.into()
        } else {
            vec![WIDTHS[0], WIDTHS[1 + number % (WIDTHS.len() - 1)]]
        }
    });
}

/// What a screen prints to be typed next can be typed: it is read without an error of usage, and about the same cluster.
#[test]
fn every_printed_command_works_when_pasted() {
    const QUESTIONS: &[&str] = &[
        "check",
        "check -A",
        "check --to-version 1.36",
        "check --to-version 1.36 -n default",
        "check --disable-gate DRADeviceTaints",
        "check --driver gpu.example.com",
        "check --driver gpu.example.com --node gpu-node-1",
        "status",
        "status -n default",
        "explain -A",
        "convert plan",
        "convert plan --to-version 1.36",
        "convert plan --to-version 1.36 --only-blocking",
    ];
    let folder = tempfile::tempdir().expect("a temporary directory");
    let sources = Source::all(folder.path());
    let mut pasted = BTreeSet::new();
    for source in sources
        .iter()
        .filter(|source| source.name.starts_with("example:"))
    {
        let pods = source
            .lines()
            .into_iter()
            .filter(|line| line.iter().any(|word| word.starts_with("pod/")));
        let lines = QUESTIONS.iter().map(|line| words(line)).chain(pods.take(9));
        for line in lines {
            let screen = on_screen(dra(&[]).args(&line).args(&source.flags), 80).stdout;
            let from = source.flags.last().map(|from| format!("--from={from}"));
            for command in printed_commands(&screen) {
                let verb = command.first().map_or("", String::as_str);
                let writes = verb == "convert" && !["plan", "verify"].contains(&command[1].as_str());
                if writes {
                    continue;
                }
                // Documentation, and checks of the cluster that a plan changes, are about no file.
                let is_about_file = ["check", "status", "explain", "describe"].contains(&verb)
                    && !command.iter().any(|word| {
                        ["--explain", "--fail-on", "--emit-fix"]
                            .iter()
                            .any(|flag| word.starts_with(flag))
                    });
                assert!(
                    !is_about_file
                        || from.iter().any(|from| command.contains(from))
                        || command.contains(&"--from".to_owned()),
                    "{line:?} prints {command:?}\n{screen}"
                );
                if pasted.insert(command.clone()) {
                    let run = dra(&[]).args(&command).run();
                    assert!(
                        run.code.is_some_and(|code| code != 2),
                        "{line:?} of {} prints {command:?}, which fails:\n{}",
                        source.name,
                        run.stderr
                    );
                }
            }
        }
    }
    assert!(pasted.len() > 60, "{pasted:?}");
}

#[test]
fn the_headline_counts_what_the_list_below_it_has() {
    let first = |from: &str| shown("explain -A", from).lines().next().map(str::to_owned);
    for (from, expected) in [
        ("stale", "× 1 running pod has a problem: 1 cause"),
        ("gpus", "√ 1 claim without a pod fits"),
        ("pending", "× 13 pods are pending: 13 causes"),
        ("taints", "√ no pod or claim is pending for devices"),
    ] {
        assert_eq!(first(from).as_deref(), Some(expected));
    }
}

#[test]
fn commands_of_everything_pending_are_printed_whole() {
    let list = data(dra(&["explain", "-A", "--from", "example:pending", "-o", "json"]));
    let joined = |text: &str| {
        text.replace("\\\n", " ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let screen = joined(&shown("explain -A --details", "pending"));
    let items = list["items"].as_array().expect("items");
    let commands: Vec<&str> = items
        .iter()
        .filter_map(|item| item["fix"]["command"].as_str())
        .collect();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        assert!(screen.contains(&joined(command)), "{command}\n{screen}");
    }
}

#[test]
fn a_check_without_objects_says_that_nothing_was_checked() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("saved.yaml").display().to_string();
    let template = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\nspec: {spec: {}}\n";
    std::fs::write(&file, template).expect("a file");
    let screen = on_screen(dra(&["check", "--from", &file]), 80).stdout;
    let first = screen.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("‼ Nothing checked in all namespaces: none of "),
        "{screen}"
    );
}

/// The arguments of each `kubectl dra` that stands at the end of a line, with the lines that `\` joins to it.
fn printed_commands(screen: &str) -> Vec<Vec<String>> {
    let mut joined = String::new();
    for line in screen.lines() {
        match line.strip_suffix('\\') {
            Some(begin) if joined.ends_with(' ') => joined.push_str(begin.trim_start()),
            Some(begin) => joined.push_str(begin),
            None if joined.ends_with(' ') => {
                joined.push_str(line.trim_start());
                joined.push('\n');
            }
            None => {
                joined.push_str(line);
                joined.push('\n');
            }
        }
    }
    let commands = joined.lines().filter_map(|line| line.split_once("kubectl dra "));
    let commands = commands.filter(|(before, _)| !before.ends_with('`'));
    commands
        .map(|(_, command)| crate::documentation::words(command))
        .collect()
}

/// Tries each line of each source, which has a number, at the widths that `choose` says.
#[track_caller]
fn assert_narrow(choose: impl Fn(&Source, usize) -> Vec<u16>) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let sources = Source::all(folder.path());
    let mut tried = BTreeSet::new();
    let mut jobs: Vec<(&Source, Vec<String>, u16)> = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        for (number, line) in source.lines().into_iter().enumerate() {
            tried.insert(line[0].clone());
            let widths = choose(source, place + number).into_iter();
            jobs.extend(widths.map(|columns| (source, line.clone(), columns)));
        }
    }
    for command in [
        "status", "claims", "reserved", "devices", "taints", "check", "explain", "describe", "simulate",
        "cel", "convert",
    ] {
        assert!(tried.contains(command), "{command}");
    }
    let count = jobs.len();
    let jobs = Mutex::new(jobs.into_iter());
    let wrong = Mutex::new(Vec::new());
    let shown = Mutex::new(0_usize);
    let work = || {
        loop {
            let job = jobs.lock().expect("no thread panicked").next();
            let Some((source, line, columns)) = job else {
                return;
            };
            let run = on_screen(dra(&[]).args(&line).args(&source.flags), columns);
            let code = run.code.unwrap_or(-1);
            if run.signal.is_some() || ![0, 1, 3, 4].contains(&code) {
                let line = format!("{} {line:?}: exit {code}\n{}", source.name, run.stderr);
                wrong.lock().expect("no thread panicked").push(line);
            }
            *shown.lock().expect("no thread panicked") += usize::from(!run.stdout.is_empty());
            let wide: Vec<&str> = run
                .stdout
                .lines()
                .filter(|line| line.width() > columns.into() && !is_one_word(line))
                .collect();
            if !wide.is_empty() {
                let text = format!(
                    "{} {} at {columns}:\n{}",
                    source.name,
                    line.join(" "),
                    wide.join("\n")
                );
                wrong.lock().expect("no thread panicked").push(text);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |count| count.get().min(4)) {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().expect("no thread panicked");
    let mut text = String::new();
    for wrong in wrong.iter().take(20) {
        let _ = writeln!(text, "{wrong}");
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{text}", wrong.len());
    let shown = shown.into_inner().expect("no thread panicked");
    assert!(shown * 10 > count * 8, "only {shown} of {count} show something");
}

/// Without the commands of fixes that are too long for a terminal, which shows how to print them instead.
fn without_long_fixes(text: &str) -> String {
    let joined = text.replace(" \\\n", " ");
    let is_kept = |line: &&str| {
        let is_long = line.starts_with("     kubectl ") && line.width() > 80;
        !line.contains(" --emit-fix=") && !is_long
    };
    joined.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// What is no list is one document: a terminal and a pipe tell the same, in other lines, and every object that they name is in the JSON.
#[test]
fn every_page_prints_the_same() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let sources = Source::all(folder.path());
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        for (number, line) in source.lines().into_iter().enumerate() {
            let is_list = match line[0].as_str() {
                "claims" | "reserved" | "devices" | "taints" | "check" => true,
                // There is no JSON of a part of a plan.
                "convert" => line.len() == 2 || line.len() == 5,
                _ => false,
            };
            if is_list || by_effort((place + number) % 16 != 0, (place + number) % 4 != 0, false) {
                continue;
            }
            let ask = || {
                let asked = dra(&[]).args(&line).args(&source.flags);
                asked
                    .env("LANG", "C.UTF-8")
                    .env("TERM", "xterm")
                    .env("NO_COLOR", "1")
            };
            let title = format!("{} {}", source.name, line.join(" "));
            let terminal = ask().run_on_screen(80, Screen::Stdout).stdout;
            let pipe = ask().run().stdout;
            if pipe.is_empty() {
                // What is asked for is refused.
                continue;
            }
            let both = [&terminal, &pipe].map(|text| told(&without_long_fixes(text)));
            if both[0] != both[1] {
                let [terminal, pipe] = both;
                let on = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
                    one.difference(other).cloned().collect::<Vec<_>>().join(" ")
                };
                let (more, less) = (on(&terminal, &pipe), on(&pipe, &terminal));
                wrong.push(format!(
                    "{title}: on a terminal only: {more}; in a pipe only: {less}"
                ));
            }
            let json = data(ask().args(["-o", "json"])).to_string();
            let objects = told(&pipe);
            let objects = objects.iter().filter(|word| is_object(word));
            for object in objects {
                let name = object.rsplit('/').next().unwrap_or_default();
                if !json.contains(name) {
                    wrong.push(format!("{title}: the JSON lacks {object}"));
                }
            }
            compared += 1;
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared >= by_effort(20, 80, 320), "{compared}");
}

/// The words of a page, wherever they stand in it. Pictures tell nothing.
fn told(page: &str) -> BTreeSet<String> {
    let is_drawn = |word: &&str| word.chars().all(|one| !one.is_ascii());
    // An expression goes on in the next line behind its parenthesis.
    let page: Vec<&str> = page.split('(').map(str::trim_start).collect();
    let page = page.join("(");
    // A column that is the same in all rows is in one line above them.
    let page = page.replace("All rows: ", "");
    let words = page.split(|one: char| one.is_whitespace() || one == ',');
    let words = words.filter(|word| !matches!(*word, "" | "\\") && !is_drawn(word));
    words.map(str::to_owned).collect()
}

/// Returns whether a word is `KIND/NAME` or longer.
fn is_object(word: &str) -> bool {
    let is_of_a_name = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "/-.".contains(one);
    let starts_with_a_letter = word.starts_with(|one: char| one.is_ascii_lowercase());
    word.contains('/')
        && starts_with_a_letter
        && word.ends_with(char::is_alphanumeric)
        && word.chars().all(is_of_a_name)
}

/// The JSON that it prints, whatever its verdict.
fn data(invocation: Invocation) -> Value {
    let run = invocation.run();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// Returns what a terminal of 80 columns shows.
fn shown(line: &str, from: &str) -> String {
    let from = format!("example:{from}");
    on_screen(dra(&["--from", &from]).args(words(line)), 80).stdout
}

#[test]
fn devices_stand_below_their_pools_and_those_alike_share_a_row() {
    insta::assert_snapshot!(shown("devices", "gpus"), @"
      DEVICES       USED BY                              PODS
    gpu-node-1 / gpu.example.com: 7 of 8 in use
      gpu-0…3       training/trainer-1-extra-zp8bf       trainer-1
      gpu-4,gpu-5   training/trainer-1-devices-nkw6l     trainer-1
      gpu-6         inference/web-1-gpu-txq68            web-1
      gpu-7         Free
    gpu-node-2 / gpu.example.com: 4 of 8 in use
      gpu-0         inference/web-0-gpu-bw6jz            web-0
      gpu-1         default/notebook-gpu                 notebook
      gpu-2,gpu-3   training/sweep-glg98-devices-m9x2c   sweep-glg98
      gpu-4…7       Free
    gpu-node-3 / gpu.example.com: 4 of 8 in use
      gpu-0,gpu-1   training/trainer-0-devices-w8cxl     trainer-0
      gpu-2,gpu-3   training/sweep-krgjp-devices-875gq   sweep-krgjp
      gpu-4…7       Free
    gpu-node-1 / nic.example.com: 2 of 8 in use
      rdma0…3       Free
      rdma4,rdma5   training/trainer-1-devices-nkw6l     trainer-1
      rdma6,rdma7   Free
    gpu-node-2 / nic.example.com: 2 of 8 in use
      rdma0,rdma1   Free
      rdma2,rdma3   training/sweep-glg98-devices-m9x2c   sweep-glg98
      rdma4…7       Free
    gpu-node-3 / nic.example.com: 4 of 8 in use
      rdma0,rdma1   training/trainer-0-devices-w8cxl     trainer-0
      rdma2,rdma3   training/sweep-krgjp-devices-875gq   sweep-krgjp
      rdma4…7       Free
    ");
    insta::assert_snapshot!(shown("devices --free", "gpus"), @"
      DEVICES               USED BY
    gpu-node-1 / gpu.example.com: 1 device
      gpu-7                 Free
    gpu-node-2 / gpu.example.com: 4 devices
      gpu-4…7               Free
    gpu-node-3 / gpu.example.com: 4 devices
      gpu-4…7               Free
    gpu-node-1 / nic.example.com: 6 devices
      rdma0…3,rdma6,rdma7   Free
    gpu-node-2 / nic.example.com: 6 devices
      rdma0,rdma1,rdma4…7   Free
    gpu-node-3 / nic.example.com: 4 devices
      rdma4…7               Free
    ");
    insta::assert_snapshot!(shown("devices", "partitions"), @"
      DEVICES                   USED BY                     PODS
    mig-node-1 / gpu.example.com: 3 of 10 in use, 2 free
      gpu-0                     Blocked(counters)
      gpu-0-1g-0                default/small-0-gpu-6cmjw   small-0
      gpu-0-1g-1                default/best-1-gpu-2629t    best-1
      gpu-0-1g-2,gpu-0-1g-3     Free
      gpu-0-1g-4…6,gpu-0-3g-0   Blocked(counters)
      gpu-0-3g-4                default/best-0-gpu-zzrc5    best-0
    ");
    // Devices of a pool do not stand together any more.
    let sorted = shown("devices --sort-by STATE", "gpus");
    assert!(sorted.starts_with("NODE "), "{sorted}");
    assert_eq!(sorted.matches("gpu-node-2/gpu-7 ").count(), 1, "{sorted}");
}

#[test]
fn each_claim_of_a_shared_device_has_a_row() {
    let shown = shown("devices", "shares");
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let is_below = |row: &&Vec<&str>| matches!(row.as_slice(), [claim, _] if claim.starts_with("default/"));
    assert_eq!(rows.iter().filter(is_below).count(), 4, "{shown}");
    assert!(!shown.contains('…'), "{shown}");
}

#[test]
fn a_pending_pod_is_described_with_the_command_that_explains_it() {
    for (line, object) in [
        ("describe pod/too-many", "pod/too-many"),
        (
            "describe claim/too-many-gpu-g4ndh",
            "resourceclaim/too-many-gpu-g4ndh",
        ),
    ] {
        let screen = shown(line, "pending");
        let expected = ["explain", object, "--namespace=default", "--from=example:pending"];
        assert!(screen.contains("Why: "), "{screen}");
        assert_eq!(
            printed_commands(&screen).last().expect("a command"),
            &expected,
            "{screen}"
        );
    }
    let running = shown("describe pod/notebook", "gpus");
    assert!(!running.contains("Why: "), "{running}");
}

#[test]
fn a_description_ends_with_what_check_finds_of_its_object() {
    insta::assert_snapshot!(ending("describe pod/again", "stale", "Findings:"), @r"
    Findings:
      × DRA014 reservation-missing  A pod uses a claim that is not reserved for it
          pod/default/again is on node/gpu-node-1 and uses
            claim/default/pod-recreated, which is not reserved for it: the pod keeps
            running until its sandbox is recreated, but its devices may be allocated
            to others
          fix   no controller recreates pod/default/again: delete it, and apply its
                original manifest again, without spec.nodeName
      × DRA018 pod-on-other-node  A pod is on a node that cannot reach its devices
          pod/default/again is on node/gpu-node-1, which cannot reach the devices of
            claim/default/pod-recreated
          fix   no controller recreates pod/default/again: delete it, and apply its
                original manifest again, without spec.nodeName
      ‼ DRA012 reservation-replaced  A claim is reserved for an earlier pod or
        PodGroup of the same name
          resourceclaim/default/pod-recreated is reserved for an earlier
            pod/default/again with UID 37b74c3f-02d8-41d0-b320-7809f957c516: its
            devices stay allocated, unused, until the claim controller removes the
            entry
          fix   kubectl label resourceclaim/pod-recreated --namespace=default \
                  dra.kubectl.io/checked=again --overwrite
    ");
    assert_eq!(
        ending("describe pod/notebook", "gpus", "Findings:"),
        "Findings:     <none>"
    );
    let mut told = BTreeSet::new();
    for example in EXAMPLES {
        let from = format!("example:{example}");
        let list = data(dra(&["check", "-o", "json", "--from", &from]));
        for finding in list["items"].as_array().expect("findings") {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let object = &finding["object"];
            let kind = match object["kind"].as_str() {
                Some("Pod") => "pod",
                Some("ResourceClaim") => "claim",
                Some("Node") => "node",
                Some("DeviceClass") => "class",
                Some("Device") => "device",
                Some("Pool") => "pool",
                _ => continue,
            };
            let namespace = match object["namespace"].as_str() {
                Some(namespace) => format!("{namespace}/"),
                None => String::new(),
            };
            let name = format!("{kind}/{namespace}{}", text(&object["name"]));
            let described = data(dra(&["describe", &name, "-o", "json", "--from", &from]));
            let found = described["findings"].as_array().expect("findings");
            let found = found.iter().filter(|found| found["object"] == *object);
            let found: Vec<&Value> = found.filter(|found| found["code"] == finding["code"]).collect();
            assert!(
                found.contains(&finding),
                "{example}: {name}: {finding:#} among {found:#?}"
            );
            told.insert(kind);
        }
    }
    for kind in ["pod", "claim", "node", "pool"] {
        assert!(told.contains(kind), "no example has a finding of a {kind}");
    }
}

/// Returns what a terminal of 80 columns shows from the line on that begins so.
fn ending(line: &str, from: &str, begin: &str) -> String {
    let shown = shown(line, from);
    let lines = shown.lines().skip_while(|line| !line.starts_with(begin));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns what the first three lines of a terminal of 80 columns say.
fn head(line: &str, from: &str) -> String {
    let shown = shown(line, from);
    let lines: Vec<&str> = shown.lines().take(3).map(str::trim).collect();
    lines.join(" ")
}

#[test]
fn the_first_three_lines_of_explain_hold_verdict_and_cause() {
    let mut tried = 0;
    for example in EXAMPLES {
        let from = format!("example:{example}");
        let list = data(dra(&["explain", "-A", "-o", "json", "--from", &from]));
        let items = list["items"].as_array().expect("causes").iter();
        for pod in items.flat_map(|item| item["pods"].as_array().into_iter().flatten()) {
            let text = |field: &str| pod[field].as_str().expect("a name").to_owned();
            let name = format!("pod/{}/{}", text("namespace"), text("name"));
            let report = data(dra(&["explain", &name, "-o", "json", "--from", &from]));
            let said = report["cause"]
                .as_str()
                .or(report["summary"].as_str())
                .expect("a cause");
            let word = match report["verdict"].as_str() {
                Some("DoesNotFit" | "Waits") => "is pending",
                Some("Error") => "fails",
                _ => continue,
            };
            let head = head(&format!("explain {name}"), example);
            // What is longer than the lines goes on below them.
            let begin: String = said.chars().take(140).collect();
            assert!(
                head.contains(&format!("{name} {word}: ")) && head.contains(&begin),
                "{head}"
            );
            tried += 1;
        }
    }
    assert!(tried > 12, "{tried}");
}

#[test]
fn the_first_three_lines_of_findings_and_evictions_hold_verdict_and_cause() {
    for example in EXAMPLES {
        let from = format!("example:{example}");
        for line in ["check", "check --to-version 1.36"] {
            let list = data(dra(&["-o", "json", "--from", &from]).args(words(line)));
            let head = head(line, example);
            let Some(first) = list["items"].get(0) else {
                assert!(head.contains("No findings"), "{example}: {line}: {head}");
                continue;
            };
            let errors = list["counts"]["errors"].as_u64().expect("a number");
            let is_counted = errors == 0 || head.contains(&format!("{errors} error"));
            let code = first["code"].as_str().expect("a code");
            // What a downgrade costs stands above its findings.
            let cause = [code, " stop ", " convert ", " ask ", " delete "];
            let is_told = cause.iter().any(|cause| head.contains(cause));
            assert!(is_counted && is_told, "{example}: {line}: {head}");
        }
    }
    for (line, example, verdict, cause) in [
        (
            "simulate eviction",
            "taints",
            "2 pods would be evicted within 60m: 2 are not recreated",
            "because of rule/drain-all",
        ),
        (
            "simulate eviction --node gpu-node-2",
            "gpus",
            "3 pods would be evicted within 30s",
            "simulated taint",
        ),
        ("simulate eviction", "gpus", "no pod would be evicted", ""),
    ] {
        let head = head(line, example);
        assert!(head.contains(verdict) && head.contains(cause), "{line}: {head}");
    }
}

#[test]
fn warnings_stand_below_the_answer_where_both_are_seen() {
    let invocation = dra(&["check", "--to-version", "1.36", "--from", "example:stale"]);
    let seen = invocation
        .env("TERM", "xterm")
        .env("LANG", "C.UTF-8")
        .env("NO_COLOR", "1");
    let seen = seen.run_on_screen(80, Screen::Both).stdout;
    let answer = seen.find("before a downgrade to 1.36").expect("an answer");
    let warning = seen.find("warning: ").expect("a warning");
    assert!(answer < warning, "{seen}");
}

#[test]
fn what_is_said_of_errors_ends_where_the_terminal_does() {
    for line in [
        "nodes",
        "explain pod/five",
        "explain gpu-node-1",
        "check --foo",
        "simulate eviction --node nope",
        "status --by nothing",
        "check --only nope --driver nope",
        "claims -n nope",
    ] {
        for columns in [60, 80] {
            let invocation = dra(&["--from", "example:pending"]).args(words(line));
            let invocation = invocation
                .env("TERM", "xterm")
                .env("LANG", "C.UTF-8")
                .env("NO_COLOR", "1");
            let said = invocation.run_on_screen(columns, Screen::Stderr).stderr;
            assert!(said.lines().count() > 1, "{line}: {said}");
            for one in said.lines().map(left) {
                assert!(one.width() <= columns.into(), "{line} at {columns}: {one}");
            }
        }
    }
    let invocation = dra(&["status", "--from", "example:nothing"])
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    let said = invocation.run_on_screen(60, Screen::Stderr).stderr;
    insta::assert_snapshot!(said.replace('\r', ""), @"
    error: unknown example `nothing`

    hint: list the examples with `--from example:`
    ");
}

/// Returns what is left of a line once what was drawn anew on it is gone.
fn left(line: &str) -> &str {
    const ERASED: &str = "\u{1b}[2K";
    let line = line.trim_end_matches('\r');
    let line = line.rsplit(ERASED).next().unwrap_or_default();
    line.rsplit('\r').next().unwrap_or_default()
}

#[test]
fn a_command_is_copied_whole_from_a_wide_report() {
    let args = ["explain", "pod/too-many", "--from", "example:pending"];
    let report = data(dra(&args).args(["-o", "json"]));
    let command = report["fixes"][0]["command"].as_str().expect("a command");
    let shown = on_screen(dra(&args).args(["-o", "wide"]), 80).stdout;
    assert!(shown.lines().any(|line| line.trim_start() == command), "{shown}");
}

#[test]
fn the_fate_of_pods_is_not_cut_for_a_picture() {
    let shown = shown("simulate eviction --node gpu-node-2", "gpus");
    assert!(
        shown.contains("not recreated (no controller); violates PDB web"),
        "{shown}"
    );
}

#[test]
fn rules_that_are_only_simulated_are_not_named() {
    let node = shown("simulate eviction --node gpu-node-2", "gpus");
    assert!(!node.contains("kubectl-dra-simulated"), "{node}");
    assert!(node.contains("--emit-rule | kubectl apply -f -"), "{node}");
    let there = shown("simulate eviction", "taints");
    assert!(there.contains("\nbecause of rule/drain-all\n"), "{there}");
    assert!(!there.contains("--emit-rule"), "{there}");
}

#[test]
fn a_pod_in_danger_is_not_said_to_be_kept_from_starting() {
    let again = shown("explain pod/again", "stale");
    assert!(!again.contains("does not start"), "{again}");
    assert_eq!(again.matches("is not reserved for the pod").count(), 1, "{again}");
    assert!(
        again.contains("no controller recreates pod/default/again"),
        "{again}"
    );
}

#[test]
fn devices_are_called_by_a_model_and_described_by_other_attributes() {
    let cause = |pod: &str| {
        let shown = shown(&format!("explain pod/{pod}"), "partitions");
        let first = shown.lines().take_while(|line| !line.is_empty());
        first.map(str::trim).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        cause("whole"),
        "× pod/default/whole is pending: no node has an available device with profile full: needs 80Gi of counter memory, 20Gi of 80Gi left"
    );
}

#[test]
fn claims_and_reservations_stand_below_their_namespace() {
    insta::assert_snapshot!(shown("claims -A", "gpus"), @"
    All rows: AGE 0s
      NAME                       STATE       NODE        DEVICES     CONSUMERS
    default
      notebook-gpu               allocated,  gpu-node-2  gpu-1       pod/notebook
                                 reserved
      spare                      pending     <none>      <none>      <none>
    inference
      web-0-gpu-bw6jz            allocated,  gpu-node-2  gpu-0       pod/web-0
                                 reserved
      web-1-gpu-txq68            allocated,  gpu-node-1  gpu-6       pod/web-1
                                 reserved
    training
      sweep-glg98-devices-m9x2c  allocated,  gpu-node-2  gpu-2,      pod/sweep-glg98
                                 reserved                rdma2,
                                                         gpu-3,
                                                         rdma3
      sweep-krgjp-devices-875gq  allocated,  gpu-node-3  gpu-2,      pod/sweep-krgjp
                                 reserved                rdma2,
                                                         gpu-3,
                                                         rdma3
      trainer-0-devices-w8cxl    allocated,  gpu-node-3  gpu-0,      pod/trainer-0
                                 reserved                rdma0,
                                                         gpu-1,
                                                         rdma1
      trainer-1-devices-nkw6l    allocated,  gpu-node-1  gpu-4,      pod/trainer-1
                                 reserved                rdma4,
                                                         gpu-5,
                                                         rdma5
      trainer-1-extra-zp8bf      allocated,  gpu-node-1  gpu-0…3     pod/trainer-1
                                 reserved
    ");
    insta::assert_snapshot!(shown("reserved -A", "stale"), @"
      CLAIM           KIND         NAME     STATUS        CONSUMER
    default
      deleting        pod          d        Running       yes
      foreign         pod          f        Running       yes
      foreign         jobs.batch   render   UnknownKind   yes
      pod-done        pod          done     Done          no
      pod-gone        pod          gone     Gone          no
      pod-recreated   pod          again    OtherUID      no
      pod-recreated   pod          again    Missing       yes
    ");
    let sorted = shown("claims -A --sort-by NODE", "gpus");
    assert!(sorted.contains("\nNAMESPACE  NAME "), "{sorted}");
}

#[test]
fn each_taint_says_whom_it_evicts_and_when() {
    insta::assert_snapshot!(shown("taints", "taints"), @"
    × rule/drain-all taints 16 devices with example.com/maintenance=all:NoExecute
      since 30s
        devices: gpu-node-1/gpu-0…7, gpu-node-2/gpu-0…7
        evicts 2 pods: default/tolerates-15s now, default/tolerates-1h in 59m
        used by 3 pods: batch/q, default/p-0, default/p-1

    · rule/drain-node-1 taints 8 devices with example.com/maintenance:None since 36s
        devices: gpu-node-1/gpu-0…7
        tolerated by 1 pod: default/tolerates-1h for a time
        used by 2 pods: batch/q, default/p-0
        with NoExecute it would evict 1 pod in 1 namespace

    · rule/empty-selector taints 32 devices with example.com/everything:None since
      36s
        devices: gpu-node-1/gpu-0…7, gpu-node-2/gpu-0…7, gpu-node-1/rdma0…7 and
          those of 1 more pool
        tolerated by 1 pod: default/tolerates-15s for a time
        used by 4 pods: batch/q, default/p-0, default/p-1, default/tolerates-1h
        with NoExecute it would evict 2 pods in 1 namespace

    ‼ rule/no-new taints 2 devices with example.com/reserved:NoSchedule since 36s
        devices: gpu-node-1/rdma7, gpu-node-2/rdma7
        no pod and no claim uses them

    · rule/no-selector taints 0 devices with example.com/nothing:None since 36s
        with NoExecute it would not evict any pod
    ");
}

#[test]
fn what_a_downgrade_costs_comes_first() {
    let top = |line: &str| {
        let shown = shown(line, "downgrade");
        shown.lines().take(9).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(top("check --to-version 1.36"), @"
    × not ready: 12 errors, 14 warnings in all namespaces before a downgrade to 1.36
      (read from a file, not confirmed)
      stop     4 groups (6 running pods, 1 pending) to resolve with their owners:
               default/both, default/ended, default/gen, default/sim
      convert  4 claims while their pods run; 1 more once raw-late is scheduled
      ask      1 claim reserved for other kinds (see `convert --kind`):
               default/foreign
      delete   3 taint rules (2 enforced today), 9 PodGroups, 1 Workload
    Next: kubectl dra convert plan --to-version=1.36 --from=example:downgrade
    ");
    insta::assert_snapshot!(top("convert plan --to-version 1.36"), @"
    × not ready for a downgrade to 1.36: 4 decisions
      [ ] 1a  decide: Stop groups default/both, default/gen, default/sim (6 running
              pods, 1 pending); delete group default/ended
      [ ] 1b  decide: Schedule or delete pod/default/raw-late
      [ ] 2   Convert 4 claims while their pods run; 1 more after step 1b
      [ ] 3   Turn DRAWorkloadResourceClaims off in kube-scheduler and
              kube-controller-manager
      [ ] 4a  Convert entries that were added in between
      [ ] 4b  decide: Ask the owner of jobs.batch/default/sweep
    ");
    insta::assert_snapshot!(top("check --disable-gate DRAWorkloadResourceClaims"), @r"
    × not ready: 9 errors, 1 warning in all namespaces before disabling
      DRAWorkloadResourceClaims (read from a file, not confirmed)
      stop     3 groups (4 running pods, 1 pending) to resolve with their owners:
               default/both, default/ended, default/sim
      convert  4 claims while their pods run; 1 more once raw-late is scheduled
      ask      1 claim reserved for other kinds (see `convert --kind`):
               default/foreign
    Next: kubectl dra convert plan --disable-gate=DRAWorkloadResourceClaims \
            --from=example:downgrade
    ");
    // It is about the whole, and about reservations.
    let part = top("check --to-version 1.36 --only DRA101");
    assert!(!part.contains("\n  stop"), "{part}");
    let other = top("check --disable-gate DRADeviceTaints");
    assert!(!other.contains("\nNext: "), "{other}");
    let blocking = shown("convert plan --to-version 1.36 --only-blocking", "downgrade");
    let steps = blocking.lines().filter_map(|line| line.strip_prefix("Step "));
    let steps: Vec<&str> = steps
        .map(|step| step.split(':').next().unwrap_or_default())
        .collect();
    assert_eq!(steps, ["1a", "1b", "4b", "5b"], "{blocking}");
    assert!(!blocking.contains("  convert   "), "{blocking}");
    let refused = dra(&[
        "convert",
        "plan",
        "--only-blocking",
        "-o",
        "json",
        "--from",
        "example:downgrade",
    ])
    .run();
    let refused = refused.exits(2).stderr;
    assert!(refused.contains("the whole plan"), "{refused}");
}

#[test]
fn a_selector_that_fails_gets_hints_that_were_tried() {
    let cel = |expression: &str, flags: &[&str]| {
        let line = dra(&["--from", "example:gpus", "cel", expression]).args(flags);
        on_screen(line, 80).stdout
    };
    insta::assert_snapshot!(cel("device.attributes[\"gpu.example.com\"].memory > 40", &[]), @r#"
    New Objects:  accepted, costs at most 5 of 1000000
    Scheduler:    compiles
    Devices:      0 of 48 match, 48 fail
    DRIVER            RESULT   COUNT   DEVICES                WHY
    gpu.example.com   Error    24      gpu-node-1…3/gpu-0…7   no such key: memory
    nic.example.com   Error    24      gpu-node-1…3/rdma0…7   no such key: memory

    hint: `memory` is a capacity, not an attribute; `memory` is a quantity: use
          compareTo(); only devices of driver `gpu.example.com` have it
        device.driver == "gpu.example.com" &&
        device.capacity["gpu.example.com"].memory.compareTo(quantity("40")) > 0
          tested: matches 24 of 48, no errors

    hint: `memory` is a capacity, not an attribute; `memory` is a quantity: use
          compareTo(); not every device has `memory`: use `.?` and orValue for a
          default
        device.capacity["gpu.example.com"].?memory.orValue(quantity("0")).compareTo(
        quantity("40")) > 0
          tested: matches 24 of 48, no errors
    "#);
    insta::assert_snapshot!(cel("device.attributes.model == \"H100-SXM5-80GB\"", &["--driver", "gpu.example.com"]), @r#"
    New Objects:  rejected
    Scheduler:    does not compile
    compilation failed: ERROR: <input>:1:25: found no matching overload for '_==_'
    applied to '(map(string, dyn), string)'
     | device.attributes.model == "H100-SXM5-80GB"
     | ........................^

    hint: `model` needs its domain, as in ["DOMAIN"].model
        device.attributes["gpu.example.com"].model == "H100-SXM5-80GB"
          tested: matches 24 devices, no errors
    "#);
    insta::assert_snapshot!(cel("device.memory > 40", &["--driver", "gpu.example.com"]), @r#"
    New Objects:  rejected
    Scheduler:    does not compile
    compilation failed: ERROR: <input>:1:7: undefined field 'memory'
     | device.memory > 40
     | ......^

    hint: write the map and the domain of `memory`; `memory` is a quantity: use
          compareTo()
        device.capacity["gpu.example.com"].memory.compareTo(quantity("40")) > 0
          tested: matches 24 devices, no errors
    "#);
    insta::assert_snapshot!(cel("device.attributes['gpu.example.com'].modle == 'H100-SXM5-80GB'", &["--driver", "gpu.example.com"]), @r#"
    New Objects:  accepted, costs at most 6 of 1000000
    Scheduler:    compiles
    Devices:      0 of 24 match, 24 fail
    DRIVER            RESULT   COUNT   DEVICES                WHY
    gpu.example.com   Error    24      gpu-node-1…3/gpu-0…7   no such key: modle

    hint: no device has this name: did you mean `model`?
        device.attributes["gpu.example.com"].model == 'H100-SXM5-80GB'
          tested: matches 24 of 24, no errors
    "#);
    // Each hint is what it says, when it is tried once more.
    let driver = ["--driver", "gpu.example.com"];
    let mut hints = 0;
    for wrong in [
        "device.attributes['gpu.example.com'].memory > quantity('40Gi')",
        "device.capacity['gpu.example.com'].model == 'H100-SXM5-80GB'",
        "device.attributes.model == 'H100-SXM5-80GB'",
        "device.attributes['gpu.example.com/model'] == 'H100-SXM5-80GB'",
        "device.capacity['gpu.example.com'].memory > 40",
        "device.attributes['gpu.example.com'].driverVersion >= '1.0.0'",
        "device.attributes['gpu.example.com'].firmware == '1'",
        "device.memory > 40",
        "device.model == 'H100-SXM5-80GB'",
        "device.attributes['gpu.example.com'].modle == 'H100-SXM5-80GB'",
        "device.capacity['gpu.example.com'].memroy > 40",
    ] {
        let ask = |expression: &str| {
            let args = ["cel", expression, "--from", "example:gpus", "-o", "json"];
            let run = dra(&[&args[..], &driver].concat()).run();
            let report: Value = serde_json::from_str(&run.stdout).expect("a report");
            (run.code, report)
        };
        let (code, report) = ask(wrong);
        assert_eq!(code, Some(1), "{wrong}");
        let given = report["hints"]
            .as_array()
            .unwrap_or_else(|| panic!("{wrong}: {report}"));
        for hint in given {
            hints += 1;
            let (code, tried) = ask(hint["expression"].as_str().expect("an expression"));
            assert_eq!(code, Some(0), "{hint}");
            let devices = tried["devices"].as_array().expect("devices").iter();
            let matching = devices.filter(|device| device["result"] == "Match").count();
            assert_eq!(hint["matches"], matching, "{hint}");
        }
    }
    assert!(hints >= 11, "{hints}");
}
