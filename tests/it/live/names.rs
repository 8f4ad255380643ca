//! Names that no object has, given to each command: no request goes elsewhere because of them, and the answer is an error.

use crate::support::cluster::Cluster;
use crate::support::cluster::faulty::Fault;
use crate::support::process::{Run, Screen};
use dra_testing::effort::{by_effort, some_pairs};

/// Returns what stands for a name, or for a namespace and a name.
fn odd_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "..",
        ".",
        "../x",
        "x/..",
        "../..",
        "../../../../version",
        "a%2Fb",
        "..%2F..%2Fversion",
        "%2e%2e",
        "-A",
        "--all-namespaces",
        "",
        "/",
        "/x",
        "x/",
        "//",
        "a/b/c/d",
        "a b",
        "a?limit=1",
        "a#b",
        "a&b=c",
        "a\\..\\b",
        "a\u{1b}[2Jb",
        "a\r\nHost: elsewhere",
        "a\u{7f}\u{9b}31m",
        "\u{202e}gpj",
        "UPPER",
        "größe",
        "日本",
        "*",
        "a,b",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("a".repeat(300));
    names.push("a".repeat(70_000));
    names
}

/// Commands that take a name, which stands for `~`.
const COMMANDS: [&str; 17] = [
    "claims claim/~",
    "reserved claim/~",
    "describe claim/~",
    "describe pod/~",
    "describe node/~",
    "describe class/~",
    "describe pool/~",
    "describe device/~",
    "explain pod/~",
    "explain claim/~",
    "simulate allocation claim/~",
    "simulate allocation pod/~",
    "simulate eviction --node=~",
    "convert plan claim/~",
    "convert verify claim/~",
    "convert --yes claim/~",
    "explain -- ~",
];

#[track_caller]
fn assert_tame(run: &Run, what: &str) {
    assert_eq!(run.signal, None, "{what}");
    assert!(
        !run.stdout.contains("panicked") && !run.stderr.contains("panicked"),
        "{what}: {run:?}"
    );
    // What is typed behind `--` is a name, so that nothing succeeds; `--node` of a simulation is only a filter.
    assert!(matches!(run.code, Some(2 | 3)), "{what}: {run:?}");
    let wild = |c: char| c != '\n' && (c.is_control() || ['\u{202e}', '\u{9b}'].contains(&c));
    let shown = run
        .stdout
        .replace("\u{1b}[0m", "")
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[31m", "");
    assert!(!shown.contains(wild), "{what}: {shown:?}");
    assert!(shown.contains("error:"), "{what}: {shown:?}");
}

/// Returns whether a path leads where the tool asks, whoever resolves it, with names as they are.
fn is_plain(asked: &str) -> bool {
    let path = asked.split_once(' ').map_or(asked, |(_, path)| path);
    let path = path.split('?').next().unwrap_or_default();
    let is_root = ["/api/", "/apis/", "/version", "/metrics"]
        .iter()
        .any(|root| path.starts_with(root))
        || path == "/api"
        || path == "/apis";
    let is_resolved = path.split('/').any(|part| {
        [".", "..", "%2e%2e", "%2E%2E"].contains(&part) || part.contains("%2F") || part.contains("%25")
    });
    is_root && !is_resolved && path.is_ascii() && !path.contains("//")
}

#[test]
fn no_name_leads_a_request_elsewhere() {
    let cluster = Cluster::shared();
    let witness = cluster.faulty(|_, _| Fault::None);
    let mut asked = 0;
    for (command, name) in some_pairs(&COMMANDS, &odd_names()) {
        let words = command.split(' ').map(|word| word.replace('~', name));
        // The flags stand first, since behind `--` all words are names.
        let run = cluster
            .kubectl_dra(witness.flags())
            .args(words)
            .run_on_screen(120, Screen::Both);
        let short: String = name.chars().take(30).collect();
        let what = format!("{command} {short:?}");
        assert_tame(&run, &what);
        let all = witness.asked();
        for path in &all[asked..] {
            assert!(is_plain(path), "{what}: {path}");
        }
        asked = all.len();
    }
    let least = by_effort(10, 100, 100);
    assert!(asked > least, "only {asked} requests");
}

#[test]
fn no_namespace_leads_a_request_elsewhere() {
    let cluster = Cluster::shared();
    let witness = cluster.faulty(|_, _| Fault::None);
    let commands = [
        "claims",
        "reserved",
        "convert plan",
        "check",
        "describe claim/x",
        "explain pod/x",
    ];
    let mut names = odd_names();
    names.retain(|name| !name.is_empty());
    for (command, name) in some_pairs(&commands, &names) {
        let run = cluster
            .kubectl_dra(command.split(' '))
            .args([format!("--namespace={name}")])
            .args(witness.flags())
            .run_on_screen(120, Screen::Both);
        let short: String = name.chars().take(30).collect();
        let what = format!("{command} -n {short:?}");
        assert!(!run.stdout.contains("panicked"), "{what}: {run:?}");
        // A list of a namespace that does not exist is empty, as kubectl has it.
        assert!(matches!(run.code, Some(0 | 2 | 3 | 4)), "{what}: {run:?}");
    }
    for path in witness.asked() {
        assert!(is_plain(&path), "{path}");
    }
}
