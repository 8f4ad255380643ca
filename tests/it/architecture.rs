//! The borders inside the crate, kept as data and checked over the source text.
//!
//! A workspace would have the compiler check them; one package needs this test. Each directory of `src` may use the ones
//! its row names and the outside crates it brings, and the pure core may not touch the world at all. Code that is only
//! compiled for tests is free. What is checked besides has files of its own.

mod circles;
mod map;
mod mirrors;
mod unused;

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::rust_crate::{Crate, File, Named};
use crate::support::rust_source::{find_word, without_tests};

/// What a directory or a file at the top of `src` may use.
struct Row {
    name: &'static str,
    /// Of ours.
    uses: &'static [&'static str],
    /// Outside crates, besides those that all may use.
    crates: &'static [&'static str],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Takes state, time and gates as arguments and returns values.
    Pure,
    Shell,
}

impl Row {
    fn must_not_use(&self, name: &str) -> bool {
        name != self.name && TABLE.iter().any(|row| row.name == name) && !self.uses.contains(&name)
    }

    fn allowed(&self) -> String {
        if self.uses.is_empty() {
            return "nothing of ours".to_owned();
        }
        let quoted: Vec<_> = self.uses.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    }
}

const fn pure(name: &'static str, uses: &'static [&'static str], crates: &'static [&'static str]) -> Row {
    Row {
        name,
        uses,
        crates,
        kind: Kind::Pure,
    }
}

const fn shell(name: &'static str, uses: &'static [&'static str], crates: &'static [&'static str]) -> Row {
    Row {
        name,
        uses,
        crates,
        kind: Kind::Shell,
    }
}

/// Crates that bring nothing from outside with them.
const EVERYWHERE: &[&str] = &[
    "foldhash",
    "hashbrown",
    "itertools",
    "jiff",
    "memchr",
    "serde",
    "serde_json",
    "thiserror",
    "typed_index_collections",
];

/// The table, pure core above, shell below. Rows only use rows above them.
const TABLE: &[Row] = &[
    pure("model", &[], &[]),
    pure("access", &["model"], &[]),
    pure("script", &["model"], &[]),
    pure("cel", &["model"], &["regex_automata", "regex_syntax"]),
    pure("validation", &["model", "cel"], &[]),
    pure("devices", &["model", "cel"], &[]),
    pure("allocator", &["model", "devices"], &[]),
    pure("reservation", &["model"], &[]),
    pure("quota", &["model", "reservation"], &[]),
    pure("eviction", &["model", "devices", "reservation"], &[]),
    pure(
        "scheduling",
        &["model", "cel", "devices", "allocator", "reservation"],
        &[],
    ),
    pure(
        "controllers",
        &["model", "devices", "reservation", "eviction"],
        &[],
    ),
    pure(
        "simulation",
        &[
            "model",
            "devices",
            "allocator",
            "reservation",
            "eviction",
            "scheduling",
            "controllers",
        ],
        &[],
    ),
    pure(
        "inspect",
        &[
            "model",
            "access",
            "cel",
            "devices",
            "allocator",
            "reservation",
            "quota",
            "eviction",
            "controllers",
            "scheduling",
            "script",
        ],
        &[],
    ),
    shell(
        "sources",
        &["model"],
        &[
            "base64",
            "bytes",
            "flate2",
            "futures",
            "granit_parser",
            "http",
            "http_body_util",
            "kube",
            "ring",
            "rustix",
            "rustls_pki_types",
            "secrecy",
            "serde_saphyr",
            "tempfile",
            "tokio",
            "tower",
            "tracing",
            "zstd",
        ],
    ),
    shell(
        "runner",
        &["model", "reservation", "eviction", "controllers", "sources"],
        &[
            "bytes",
            "futures",
            "http",
            "http_body_util",
            "hyper",
            "hyper_util",
            "prometheus_client",
            "rustix",
            "tokio",
            "tracing",
        ],
    ),
    shell(
        "conversion",
        &["model", "reservation", "sources"],
        &["futures", "tokio"],
    ),
    // It needs the model for the order of quantities and for ages; it knows nothing of what a report says.
    shell(
        "output",
        &["model"],
        &[
            "colored",
            "comfy_table",
            "dialoguer",
            "indicatif",
            "regex_syntax",
            "rustix",
            "serde_saphyr",
            "serde_transcode",
            "terminal_size",
            "tracing",
            "unicode_width",
        ],
    ),
    shell(
        "error",
        &["inspect", "sources", "conversion", "runner", "output"],
        &["anyhow", "clap", "strsim"],
    ),
    shell(
        "context",
        &["model", "sources", "output"],
        &["anyhow", "clap", "tokio"],
    ),
    shell(
        "commands",
        &[
            "model",
            "cel",
            "validation",
            "devices",
            "allocator",
            "reservation",
            "controllers",
            "scheduling",
            "simulation",
            "inspect",
            "script",
            "sources",
            "conversion",
            "runner",
            "output",
            "error",
            "context",
        ],
        &["anyhow", "clap", "clap_complete", "json_patch", "tracing"],
    ),
    shell(
        "cli",
        &["model", "sources", "output", "error", "context", "commands"],
        &["anyhow", "clap", "strsim"],
    ),
    // In tests and under the fuzzer only.
    shell(
        "fuzzing",
        &[
            "model",
            "cel",
            "script",
            "sources",
            "conversion",
            "output",
            "error",
            "context",
            "commands",
            "cli",
        ],
        &[
            "anyhow",
            "clap",
            "rustix",
            "serde_saphyr",
            "tempfile",
            "tokio",
            "zstd",
        ],
    ),
    shell(
        "lib",
        &["output", "error", "context", "commands", "cli"],
        &["anyhow", "clap", "tokio"],
    ),
    // The binary is a crate of its own, which sees the library only, and chooses the allocator.
    shell("main", &[], &["kubectl_dra", "mimalloc"]),
];

/// What the pure core must not name, and why.
const WORLD: &[(&str, &str)] = &[
    ("std::env", "settings are arguments"),
    ("std::fs", "files are read in `sources`"),
    (
        "std::path",
        "files are read in `sources`, and a path can ask the disk",
    ),
    ("std::io", "the core neither reads nor prints"),
    ("std::os", "the core is the same on every system"),
    // Addresses are data, connections are not.
    ("std::net::TcpListener", "connections are made in `sources`"),
    ("std::net::TcpStream", "connections are made in `sources`"),
    ("std::net::ToSocketAddrs", "connections are made in `sources`"),
    ("std::net::UdpSocket", "connections are made in `sources`"),
    (
        "std::process",
        "programs are run in `sources`, and only `main` exits",
    ),
    ("std::time::Instant", "the time is an argument"),
    ("std::time::SystemTime", "the time is an argument"),
    ("Timestamp::now", "the time is an argument"),
    ("Zoned::now", "the time is an argument"),
    (
        "TimeZone::system",
        "the time zone of this machine is no part of a cluster",
    ),
    ("std::thread", "threads belong to the caller"),
    ("std::sync::mpsc", "threads belong to the caller"),
    ("std::sync::Condvar", "threads belong to the caller"),
    ("std::sync::Barrier", "threads belong to the caller"),
    ("std::hash::RandomState", "the same input gives the same bytes"),
    (
        "std::collections::hash_map::RandomState",
        "the same input gives the same bytes",
    ),
];

/// What the pure core must not say, since it neither waits nor runs beside itself.
const WAITING: &[&str] = &["async", "await"];

/// Ways to bring code that no guard reads, or names that no guard follows.
const UNSEEN: &[&str] = &["include!", "extern crate", "#[path", "macro_use"];

/// Ways past the printer.
const PRINTING: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];

/// Ways to end the process.
const EXITS: &[&str] = &[
    "std::process::exit",
    "std::process::abort",
    "std::process::ExitCode::exit_process",
];

/// The process's streams.
const STREAMS: &[&str] = &[
    "std::io::stdout",
    "std::io::stderr",
    "std::io::Stdout",
    "std::io::Stderr",
    "tokio::io::stdout",
    "tokio::io::stderr",
    "rustix::stdio",
    "ProgressDrawTarget::stdout",
    "ProgressDrawTarget::stderr",
];

/// Who may name the process's streams, and for what.
const STREAM_USERS: &[(&str, &str)] = &[
    ("context.rs", "whether they are terminals"),
    ("output/printer.rs", "the one way out"),
    (
        "output/progress.rs",
        "what a library draws of text that was escaped",
    ),
    (
        "output/prompt.rs",
        "what a library asks with text that was escaped",
    ),
    (
        "sources/destination/identity.rs",
        "which file they are redirected to",
    ),
];

#[test]
fn every_file_keeps_to_its_directorys_row() {
    let found = violations(Crate::ours(), &dependencies());
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_permit_is_used() {
    let found = unused_permits(TABLE, &uses_of(Crate::ours(), &dependencies()));
    assert!(
        found.is_empty(),
        "take these permits out of the table of tests/it/architecture.rs:\n{}",
        found.join("\n")
    );
}

#[test]
fn permits_that_are_not_used_are_found() {
    let krate = made_up(&[
        ("b/mod.rs", "use crate::a::X; use kube::Client;"),
        ("b/c.rs", "use tower::Service;"),
    ]);
    let crates = ["kube", "tower", "zstd"].map(str::to_owned);
    let table = [
        shell("a", &[], &["zstd"]),
        shell("b", &["a", "model"], &["kube", "tower"]),
    ];
    assert_eq!(
        unused_permits(&table, &uses_of(&krate, &crates)),
        ["`a` does not use the crate `zstd`", "`b` does not use `model`"]
    );
}

#[test]
fn nothing_is_printed_past_the_gate() {
    let found = streams_named(Crate::ours());
    let past: Vec<_> = found
        .iter()
        .filter(|(file, _)| STREAM_USERS.iter().all(|(user, _)| user != file))
        .map(|(file, what)| format!("{file}:{what}: hand the text to the `Printer` of `output`"))
        .collect();
    assert!(past.is_empty(), "{}", past.join("\n"));
    for (user, _) in STREAM_USERS {
        assert!(
            found.iter().any(|(file, _)| file == user),
            "{user} names no stream; take it out of `STREAM_USERS`"
        );
    }
}

#[test]
fn what_names_the_streams_is_found() {
    for (text, expected) in [
        ("use std::io; fn f() { io::stdout().write_all(b) }", 1),
        ("use std as s; fn f() { s::io::stderr() }", 1),
        ("use std::io::{self, Write, stderr};", 1),
        ("indicatif::ProgressDrawTarget::stderr()", 1),
        ("fn stdout() {} mod io { fn f() { super::stdout() } }", 0),
    ] {
        let found = streams_named(&made_up(&[("commands/a.rs", text)]));
        assert_eq!(found.len(), expected, "{text}: {found:?}");
    }
}

/// The file, and the line with the stream that it names.
fn streams_named(krate: &Crate) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (file, named) in all_named(krate) {
        for meaning in krate.meanings(&file.module_at(named.at), &named.path) {
            let path = meaning.path.join("::");
            if let Some(stream) = STREAMS.iter().find(|stream| is_inside(&path, stream)) {
                found.insert((
                    file.name.clone(),
                    format!("{}: names `{stream}`", file.line(named.at)),
                ));
            }
        }
    }
    found
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let silent: Vec<_> = Crate::ours()
        .files
        .iter()
        .filter(|file| !file.is_test && !file.text.starts_with("//! "))
        .map(|file| file.name.as_str())
        .collect();
    assert!(
        silent.is_empty(),
        "no `//!` in the first line: {}",
        silent.join(", ")
    );
}

/// A command with a name in it is built by `script`, which knows how to keep a name a word. Text of a program's own needs no builder.
#[test]
fn no_command_is_put_together_by_hand() {
    let by_hand: Vec<String> = Crate::ours()
        .files
        .iter()
        .filter(|file| !file.is_test && !file.name.starts_with("script/"))
        .flat_map(|file| commands_by_hand(&file.name, &without_tests(&file.text)))
        .collect();
    assert!(
        by_hand.is_empty(),
        "a name of whatever kind can be in these commands; build them with `crate::script`:\n{}",
        by_hand.join("\n")
    );
}

#[test]
fn commands_that_are_put_together_by_hand_are_found() {
    for (text, expected) in [
        (r#"format!("kubectl delete pod {name}")"#, 1),
        (r#"format!("run `kubectl dra convert {}` then", claim)"#, 1),
        (r#"format!("x: {} > y; kubectl get {name}")"#, 1),
        (r#"format!("kubectl patch x -p '{{}}'")"#, 0),
        (
            r#"format!("choose one with `kubectl config use-context`: {names}")"#,
            0,
        ),
        (r#"Command::kubectl("get")"#, 0),
        ("/// `kubectl get {x}`", 0),
    ] {
        assert_eq!(commands_by_hand("a.rs", text).len(), expected, "{text}");
    }
}

/// Texts in `code` that begin like a command and go on with a placeholder.
fn commands_by_hand(name: &str, code: &str) -> Vec<String> {
    /// The name of a subcommand of this program.
    const OWN: &str = "kubectl dra {name}";
    let mut found = Vec::new();
    for (number, line) in (1..).zip(code.lines()) {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("kubectl ") {
            let rest = &line[at..];
            let end = rest.find(['`', '"']).unwrap_or(rest.len());
            let command = rest[..end].replace("{{", "").replace("}}", "");
            if command.contains('{') && command != OWN {
                found.push(format!("{name}:{number}: {command}"));
            }
        }
    }
    found
}

#[test]
fn rows_only_use_rows_above_them() {
    for (index, row) in TABLE.iter().enumerate() {
        for used in row.uses {
            assert!(
                TABLE[..index].iter().any(|above| above.name == *used),
                "`{}` uses `{used}`",
                row.name
            );
        }
    }
}

#[test]
fn what_the_table_forbids_is_found() {
    let crates = dependencies();
    for (file, text, expected) in [
        ("eviction/a.rs", "use crate::model::Str;", ""),
        (
            "eviction/a.rs",
            "use crate::cel::Program;",
            "eviction/a.rs:1: `eviction` may use `model`, `devices`, `reservation`, not `cel`",
        ),
        (
            "model/a.rs",
            "fn f() {\n    crate::output::age()\n}",
            "model/a.rs:2: `model` may use nothing of ours, not `output`",
        ),
        (
            "eviction/a.rs",
            "use crate::{\n    model::{Str, cel},\n    scheduling,\n};",
            "eviction/a.rs:3: `eviction` may use `model`, `devices`, `reservation`, not `scheduling`",
        ),
        (
            "eviction/a.rs",
            "// crate::cel\n/* crate::cel */ let s = \"crate::cel\"; let r = r#\"crate::cel\"#; let c = '\"';",
            "",
        ),
        (
            "eviction/a.rs",
            "let c = '\"'; crate::cel::f(); let d = '\"';",
            "eviction/a.rs:1: `eviction` may use `model`, `devices`, `reservation`, not `cel`",
        ),
        (
            "eviction/a.rs",
            "fn f<'a>(x: &'a str) { crate::cel::f() }",
            "eviction/a.rs:1: `eviction` may use `model`, `devices`, `reservation`, not `cel`",
        ),
        (
            "eviction/a.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::cel::x;\n}",
            "",
        ),
        (
            "eviction/a.rs",
            "#[cfg(test)]\nmod tests;\nuse crate::cel::x;",
            "eviction/a.rs:3: `eviction` may use `model`, `devices`, `reservation`, not `cel`",
        ),
        ("eviction/tests.rs", "use crate::cel::x;", ""),
        ("eviction/tests/b.rs", "use crate::cel::x;", ""),
        (
            "eviction/a.rs",
            "use super::super::cel;",
            "eviction/a.rs:1: `eviction` may use `model`, `devices`, `reservation`, not `cel`\n\
             eviction/a.rs:1: say `crate::…` instead of climbing out with `super`",
        ),
        (
            "eviction/mod.rs",
            "use super::cel;",
            "eviction/mod.rs:1: `eviction` may use `model`, `devices`, `reservation`, not `cel`\n\
             eviction/mod.rs:1: say `crate::…` instead of climbing out with `super`",
        ),
        ("eviction/a.rs", "use super::b;", ""),
        ("eviction/a/b.rs", "use super::super::c;", ""),
        (
            "model/a.rs",
            "use std::net::{IpAddr, TcpStream};",
            "model/a.rs:1: the pure core must not use `std::net::TcpStream`: connections are made in `sources`",
        ),
        (
            "model/a.rs",
            "use kube::Client;",
            "model/a.rs:1: `model` must not use the crate `kube`",
        ),
        (
            "model/a.rs",
            "#[derive(clap::Args)]",
            "model/a.rs:1: `model` must not use the crate `clap`",
        ),
        ("model/a.rs", "let kube = 1; other::kube::x();", ""),
        ("model/a.rs", "use serde::Deserialize;", ""),
        (
            "model/a.rs",
            "#[serde(default, deserialize_with = \"crate::output::read\")]",
            "model/a.rs:1: `model` may use nothing of ours, not `output`",
        ),
        ("sources/live.rs", "use kube::Client;", ""),
        (
            "commands/a.rs",
            "use comfy_table::Table;",
            "commands/a.rs:1: `commands` must not use the crate `comfy_table`",
        ),
        (
            "commands/a.rs",
            "println!(\"x\");",
            "commands/a.rs:1: `println!` goes past the gate of `output`; use its `Printer`",
        ),
        (
            "commands/a.rs",
            "eprintln!(\"x\");",
            "commands/a.rs:1: `eprintln!` goes past the gate of `output`; use its `Printer`",
        ),
        (
            "output/a.rs",
            "println!(\"x\");",
            "output/a.rs:1: `println!` goes past the gate of `output`; use its `Printer`",
        ),
        (
            "model/a.rs",
            "use std::{thread as t, path::Path};",
            "model/a.rs:1: the pure core must not use `std::path`: files are read in `sources`, and a path can ask the disk\n\
             model/a.rs:1: the pure core must not use `std::thread`: threads belong to the caller",
        ),
        (
            "model/a.rs",
            "use std as s;\nfn f() { s::env::vars() }",
            "model/a.rs:2: the pure core must not use `std::env`: settings are arguments",
        ),
        (
            "model/a.rs",
            "use std::time;\nfn f() { time::Instant::now() }",
            "model/a.rs:2: the pure core must not use `std::time::Instant`: the time is an argument",
        ),
        (
            "model/a.rs",
            "use jiff::{Timestamp as T};\nfn f() { T::now() }",
            "model/a.rs:2: the pure core must not use `Timestamp::now`: the time is an argument",
        ),
        (
            "model/a.rs",
            "fn f() { x.await }",
            "model/a.rs:1: the pure core must not use `await`",
        ),
        (
            "eviction/a.rs",
            "use crate as c;\nfn f() { c::cel::g() }",
            "eviction/a.rs:2: `eviction` may use `model`, `devices`, `reservation`, not `cel`",
        ),
        (
            "eviction/a.rs",
            "pub(in crate::eviction) use crate::{model::{self, Str}, cel::{self}};",
            "eviction/a.rs:1: `eviction` may use `model`, `devices`, `reservation`, not `cel`",
        ),
        (
            "eviction/a.rs",
            "use crate::model::*;",
            "eviction/a.rs:1: name what you import: no guard sees what `*` brings with it",
        ),
        ("eviction/a.rs", "mod b { use super::super::c; }", ""),
        (
            "model/a.rs",
            "extern crate std as s;",
            "model/a.rs:1: no guard sees what `extern crate` brings; declare a `mod` or import by name",
        ),
        (
            "model/a.rs",
            "let x = std::fs::read(p);",
            "model/a.rs:1: the pure core must not use `std::fs`: files are read in `sources`",
        ),
        (
            "model/a.rs",
            "use std::{collections::BTreeMap, io};",
            "model/a.rs:1: the pure core must not use `std::io`: the core neither reads nor prints",
        ),
        (
            "model/a.rs",
            "let now = Timestamp::now();",
            "model/a.rs:1: the pure core must not use `Timestamp::now`: the time is an argument",
        ),
        (
            "commands/a.rs",
            "std::process::exit(1)",
            "commands/a.rs:1: only `main` ends the process",
        ),
        (
            "lib.rs",
            "use std::process; fn f() { process::abort() }",
            "lib.rs:1: only `main` ends the process",
        ),
        (
            "nowhere/a.rs",
            "",
            "nowhere/a.rs:1: `nowhere` is not in the table of tests/it/architecture.rs",
        ),
    ] {
        let found = violations(&made_up(&[(file, text)]), &crates).join("\n");
        assert_eq!(found, expected, "{file}: {text}");
    }
}

/// The outside crates of all programs, as code names them.
fn dependencies() -> Vec<String> {
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let manifest = manifest.expect("the manifest is there");
    let mut is_inside = false;
    let lines = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            is_inside = line.ends_with("dependencies]");
        }
        is_inside
    });
    // The binary sees the library as an outside crate.
    ["kubectl_dra".to_owned()]
        .into_iter()
        .chain(
            lines
                .filter_map(|line| line.split_once(" = "))
                .map(|(name, _)| name.replace('-', "_")),
        )
        .collect()
}

#[test]
fn what_another_folder_hands_on_counts_as_used() {
    let output = (
        "output/mod.rs",
        "mod load;\npub(crate) use crate::context::{Ctx, files as api};\npub(crate) use self::load::Loaded;\n\
         pub type Shown = Vec<crate::context::Table>;",
    );
    let load = (
        "output/load.rs",
        "pub use crate::context::files::Loaded; pub use kube::Client;",
    );
    let over = "`error` may use `inspect`, `sources`, `conversion`, `runner`, `output`, not `context`, which `output` hands on";
    for (text, expected) in [
        ("use crate::output::Ctx;", format!("error.rs:1: {over}")),
        (
            "use crate::output;\nfn f() { output::api::f() }",
            format!("error.rs:2: {over}"),
        ),
        ("use crate::output::Loaded as L;", format!("error.rs:1: {over}")),
        (
            "\nfn f(shown: crate::output::Shown) {}",
            format!("error.rs:2: {over}"),
        ),
        (
            "use crate::output::load::Client;",
            "error.rs:1: `error` must not use the crate `kube`, which `output` hands on".to_owned(),
        ),
        ("use crate::output::{Printer, print};", String::new()),
    ] {
        let files = [("context/mod.rs", ""), ("error.rs", text), output, load];
        let found = violations(&made_up(&files), &dependencies());
        let found: Vec<_> = found
            .into_iter()
            .filter(|found| found.starts_with("error"))
            .collect();
        assert_eq!(found.join("\n"), expected, "{text}");
    }
}

/// A folder of ours or an outside crate that a file uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Used {
    Folder(String),
    Crate(String),
}

/// That the folder `row` uses something, first seen at a place.
struct Edge {
    row: String,
    used: Used,
    place: String,
    /// The folder that hands on what is used, if it is not named itself.
    over: Option<String>,
}

fn all_named(krate: &Crate) -> impl Iterator<Item = (&File, &Named)> {
    krate
        .files
        .iter()
        .flat_map(|file| file.named.iter().map(move |named| (file, named)))
}

/// Whether `path` is `outer` or inside it. What is called as in an outside crate counts wherever the crate keeps it.
fn is_inside(path: &str, outer: &str) -> bool {
    let is_same = |path: &str| {
        path.strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    is_same(path)
        || (!outer.starts_with("std::")
            && path
                .match_indices("::")
                .any(|(at, colons)| is_same(&path[at + colons.len()..])))
}

/// Everything that the files use outside their own folders, each once for a file.
fn uses_of(krate: &Crate, crates: &[String]) -> Vec<Edge> {
    let mut found: Vec<Edge> = Vec::new();
    let mut seen = BTreeSet::new();
    for (file, named) in all_named(krate) {
        let mut add = |used: Used, over: Option<&str>| {
            if seen.insert((file.name.clone(), used.clone(), over.map(str::to_owned))) {
                found.push(Edge {
                    row: file.folder().to_owned(),
                    used,
                    place: format!("{}:{}", file.name, file.line(named.at)),
                    over: over.map(str::to_owned),
                });
            }
        };
        for meaning in krate.meanings(&file.module_at(named.at), &named.path) {
            let mut over: Option<&str> = None;
            let folders = meaning.through.iter().filter_map(|module| module.first());
            for folder in folders.filter(|folder| *folder != file.folder()) {
                if over != Some(folder) {
                    add(Used::Folder(folder.clone()), over);
                }
                over = Some(folder);
            }
            let [first, inside @ ..] = &meaning.path[..] else {
                continue;
            };
            // Of the root itself, or a folder that is not there.
            if let Some(name) = inside.first()
                && first == "crate"
                && meaning.through.last().is_some_and(Vec::is_empty)
            {
                add(Used::Folder(name.clone()), over);
            }
            if crates.contains(first) {
                add(Used::Crate(first.clone()), over);
            }
        }
    }
    found
}

/// What the table permits and no file does.
fn unused_permits(table: &[Row], edges: &[Edge]) -> Vec<String> {
    let mut found = Vec::new();
    for row in table {
        let is_used = |used: Used| edges.iter().any(|edge| edge.row == row.name && edge.used == used);
        for name in row.uses {
            if !is_used(Used::Folder((*name).to_owned())) {
                found.push(format!("`{}` does not use `{name}`", row.name));
            }
        }
        for name in row.crates {
            if !is_used(Used::Crate((*name).to_owned())) {
                found.push(format!("`{}` does not use the crate `{name}`", row.name));
            }
        }
    }
    found
}

fn violations(krate: &Crate, crates: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for edge in uses_of(krate, crates) {
        let Some(row) = TABLE.iter().find(|row| row.name == edge.row) else {
            continue;
        };
        let over = edge
            .over
            .map(|over| format!(", which `{over}` hands on"))
            .unwrap_or_default();
        match edge.used {
            Used::Folder(name) if row.must_not_use(&name) => {
                found.push(format!(
                    "{}: `{}` may use {}, not `{name}`{over}",
                    edge.place,
                    row.name,
                    row.allowed()
                ));
            }
            Used::Crate(name) if !row.crates.contains(&&name[..]) && !EVERYWHERE.contains(&&name[..]) => {
                found.push(format!(
                    "{}: `{}` must not use the crate `{name}`{over}",
                    edge.place, row.name
                ));
            }
            _ => {}
        }
    }
    for file in &krate.files {
        found.extend(violations_in(krate, file));
    }
    found
}

/// What is wrong in a file whatever the others do.
fn violations_in(krate: &Crate, file: &File) -> Vec<String> {
    let name = file.folder();
    let Some(row) = TABLE.iter().find(|row| row.name == name) else {
        return vec![format!(
            "{}:1: `{name}` is not in the table of tests/it/architecture.rs",
            file.name
        )];
    };
    let mut found = BTreeSet::new();
    let mut report = |at: usize, what: String| {
        found.insert((file.line(at), what));
    };
    for named in &file.named {
        let module = file.module_at(named.at);
        let segments = named.path.split("::").skip_while(|segment| *segment == "self");
        let climbs = segments.take_while(|segment| *segment == "super").count();
        // Up and down inside the folder is no other folder's business.
        if climbs > 0 && climbs >= module.len() && name != "lib" {
            report(
                named.at,
                "say `crate::…` instead of climbing out with `super`".to_owned(),
            );
        }
        if named.is_glob {
            report(
                named.at,
                "name what you import: no guard sees what `*` brings with it".to_owned(),
            );
        }
        for meaning in krate.meanings(&module, &named.path) {
            let path = meaning.path.join("::");
            if name != "main" && EXITS.iter().any(|exit| is_inside(&path, exit)) {
                report(named.at, "only `main` ends the process".to_owned());
            } else if row.kind == Kind::Pure {
                for (world, why) in WORLD.iter().filter(|(world, _)| is_inside(&path, world)) {
                    report(named.at, format!("the pure core must not use `{world}`: {why}"));
                }
            }
        }
    }
    for printing in PRINTING {
        for (at, _) in file.code.match_indices(printing) {
            let begins_here = !file.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if begins_here {
                report(
                    at,
                    format!("`{printing}` goes past the gate of `output`; use its `Printer`"),
                );
            }
        }
    }
    for unseen in UNSEEN {
        for (at, _) in file.code.match_indices(unseen) {
            report(
                at,
                format!("no guard sees what `{unseen}` brings; declare a `mod` or import by name"),
            );
        }
    }
    if row.kind == Kind::Pure {
        for waiting in WAITING {
            let mut at = 0;
            while let Some(start) = find_word(&file.code, at, waiting) {
                report(start, format!("the pure core must not use `{waiting}`"));
                at = start + waiting.len();
            }
        }
    }
    found
        .into_iter()
        .map(|(line, what)| format!("{}:{line}: {what}", file.name))
        .collect()
}

fn made_up(files: &[(&str, &str)]) -> Crate {
    let files = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Crate::new(files.collect())
}
