//! The borders inside the crate, kept as data and checked over the source text.
//!
//! A workspace would have the compiler check them; one package needs this test. Each directory of `src` may use the ones
//! its row names and the outside crates it brings, and the pure core may not touch the world at all. Code that is only
//! compiled for tests is free.

use std::path::{Path, PathBuf};

use crate::support::rust_source::{paths, without_comments_and_texts, without_tests};

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
    /// The shell's part that may print.
    Printing,
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
    "jiff",
    "memchr",
    "serde",
    "serde_json",
    "thiserror",
];

/// The table, pure core above, shell below. Rows only use rows above them.
const TABLE: &[Row] = &[
    pure("model", &[], &[]),
    pure("script", &["model"], &[]),
    pure(
        "cel",
        &["model"],
        &["cel", "regex", "regex_automata", "regex_syntax"],
    ),
    pure("devices", &["model", "cel"], &[]),
    pure("allocator", &["model", "cel", "devices"], &[]),
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
            "cel",
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
            "cel",
            "devices",
            "allocator",
            "reservation",
            "quota",
            "eviction",
            "scheduling",
            "script",
        ],
        &[],
    ),
    shell(
        "sources",
        &["model"],
        &[
            "anyhow",
            "base64",
            "bytes",
            "flate2",
            "futures",
            "granit_parser",
            "http",
            "http_body_util",
            "k8s_openapi",
            "kube",
            "ring",
            "rustix",
            "rustls_pki_types",
            "secrecy",
            "serde_saphyr",
            "tempfile",
            "tokio",
            "tower",
            "zstd",
        ],
    ),
    shell(
        "conversion",
        &["model", "reservation", "sources"],
        &["futures", "tempfile", "tokio"],
    ),
    shell(
        "runtime",
        &["model", "controllers", "sources"],
        &["anyhow", "futures", "http", "k8s_openapi", "kube", "tokio"],
    ),
    Row {
        name: "output",
        // For the order of quantities and for ages; of what a report says it knows nothing.
        uses: &["model"],
        crates: &[
            "colored",
            "comfy_table",
            "dialoguer",
            "indicatif",
            "regex_syntax",
            "serde_saphyr",
            "serde_transcode",
            "terminal_size",
            "unicode_width",
        ],
        kind: Kind::Printing,
    },
    shell(
        "error",
        &[
            "model",
            "cel",
            "devices",
            "allocator",
            "reservation",
            "eviction",
            "scheduling",
            "inspect",
            "sources",
            "conversion",
            "output",
        ],
        &["anyhow", "clap"],
    ),
    shell(
        "context",
        &["model", "sources", "output", "error"],
        &["anyhow", "clap", "kube", "tokio"],
    ),
    shell(
        "commands",
        &[
            "model",
            "cel",
            "devices",
            "allocator",
            "reservation",
            "eviction",
            "scheduling",
            "controllers",
            "simulation",
            "inspect",
            "sources",
            "conversion",
            "runtime",
            "output",
            "error",
            "context",
        ],
        &["anyhow", "clap", "clap_complete"],
    ),
    shell(
        "cli",
        &["model", "output", "error", "context", "commands"],
        &["anyhow", "clap"],
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

/// What the pure core must not name.
const WORLD: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io",
    // Addresses are data, connections are not.
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::ToSocketAddrs",
    "std::net::UdpSocket",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "Timestamp::now",
    "Zoned::now",
];

const PRINTING: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];

#[test]
fn every_file_keeps_to_its_directorys_row() {
    let mut violations = Vec::new();
    let crates = dependencies();
    for file in sources() {
        violations.extend(violations_in(&file.name, &file.text, &crates));
    }
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

/// Who may name the process's streams, and for what.
const STREAMS: &[&str] = &[
    // Whether they are terminals.
    "context.rs",
    // The one way out, and what a library draws or asks past it, of text that was escaped.
    "output/printer.rs",
    "output/progress.rs",
    "output/prompt.rs",
    // Which file they are redirected to.
    "sources/destination/identity.rs",
];

#[test]
fn nothing_is_printed_past_the_gate() {
    let mut found = Vec::new();
    for file in sources() {
        if is_test(&file.name) || STREAMS.contains(&file.name.as_str()) {
            continue;
        }
        let code = without_tests(&without_comments_and_texts(&file.text));
        for stream in ["io::stdout", "io::stderr", "Target::stdout", "Target::stderr"] {
            if code.contains(stream) {
                found.push(format!("{}: {stream}", file.name));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let silent: Vec<_> = sources()
        .into_iter()
        .filter(|file| !is_test(&file.name) && !file.text.starts_with("//! "))
        .map(|file| file.name)
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
    let by_hand: Vec<String> = sources()
        .into_iter()
        .filter(|file| !is_test(&file.name) && !file.name.starts_with("script/"))
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
            "eviction/a.rs:1: say `crate::…` instead of climbing out with `super`",
        ),
        (
            "eviction/mod.rs",
            "use super::cel;",
            "eviction/mod.rs:1: say `crate::…` instead of climbing out with `super`",
        ),
        ("eviction/a.rs", "use super::b;", ""),
        ("eviction/a/b.rs", "use super::super::c;", ""),
        (
            "model/a.rs",
            "use std::net::{IpAddr, TcpStream};",
            "model/a.rs:1: the pure core must not use `std::net::TcpStream`",
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
        ("sources/live.rs", "use kube::Client;", ""),
        (
            "commands/a.rs",
            "use comfy_table::Table;",
            "commands/a.rs:1: `commands` must not use the crate `comfy_table`",
        ),
        (
            "commands/a.rs",
            "println!(\"x\");",
            "commands/a.rs:1: `println!` is for `output` only",
        ),
        (
            "commands/a.rs",
            "eprintln!(\"x\");",
            "commands/a.rs:1: `eprintln!` is for `output` only",
        ),
        ("output/a.rs", "println!(\"x\");", ""),
        (
            "model/a.rs",
            "let x = std::fs::read(p);",
            "model/a.rs:1: the pure core must not use `std::fs`",
        ),
        (
            "model/a.rs",
            "use std::{collections::BTreeMap, io};",
            "model/a.rs:1: the pure core must not use `std::io`",
        ),
        (
            "model/a.rs",
            "let now = Timestamp::now();",
            "model/a.rs:1: the pure core must not use `Timestamp::now`",
        ),
        (
            "commands/a.rs",
            "std::process::exit(1)",
            "commands/a.rs:1: only `main` ends the process",
        ),
        (
            "nowhere/a.rs",
            "",
            "nowhere/a.rs:1: `nowhere` is not in the table of tests/it/architecture.rs",
        ),
    ] {
        let found = violations_in(file, text, &crates).join("\n");
        assert_eq!(found, expected, "{file}: {text}");
    }
}

struct Source {
    /// From `src`, with `/`.
    name: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(&root)
                    .expect("a path below src")
                    .display()
                    .to_string();
                let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
                found.push(Source {
                    name: name.replace('\\', "/"),
                    text,
                });
            }
        }
    }
    found
}

/// The outside crates of the library, as code names them.
fn dependencies() -> Vec<String> {
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let manifest = manifest.expect("the manifest is there");
    let lines = manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name.replace('-', "_"))
        .collect()
}

/// How many modules the file's module is below the root of the crate.
fn depth(file: &str) -> usize {
    let module = file.strip_suffix("/mod.rs").unwrap_or(file);
    module.split('/').count()
}

/// Whether a file is only compiled for tests, by the names that such files have.
fn is_test(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}

fn violations_in(file: &str, text: &str, crates: &[String]) -> Vec<String> {
    let first = file.split('/').next().unwrap_or(file);
    let name = first.strip_suffix(".rs").unwrap_or(first);
    let Some(row) = TABLE.iter().find(|row| row.name == name) else {
        return vec![format!(
            "{file}:1: `{name}` is not in the table of tests/it/architecture.rs"
        )];
    };
    if is_test(file) {
        return Vec::new();
    }
    let code = without_tests(&without_comments_and_texts(text));
    let mut violations = Vec::new();
    let mut report = |at: usize, what: String| {
        let line = code[..at].matches('\n').count() + 1;
        violations.push(format!("{file}:{line}: {what}"));
    };
    for path in paths(&code) {
        let segments: Vec<&str> = path.text.split("::").collect();
        match segments[..] {
            ["crate", used, ..] if row.must_not_use(used) => {
                report(
                    path.at,
                    format!("`{}` may use {}, not `{used}`", row.name, row.allowed()),
                );
            }
            // Out of the directory, that is; up and down inside it is no other folder's business.
            ["super", ..]
                if segments.iter().take_while(|segment| **segment == "super").count() >= depth(file) =>
            {
                report(
                    path.at,
                    "say `crate::…` instead of climbing out with `super`".to_owned(),
                );
            }
            // A single word is a module or a variable, unless it is imported.
            [krate, ref inside @ ..] if crates.iter().any(|name| name == krate) => {
                let named = !inside.is_empty() || code[..path.at].trim_end().ends_with("use");
                if named && !row.crates.contains(&krate) && !EVERYWHERE.contains(&krate) {
                    report(
                        path.at,
                        format!("`{}` must not use the crate `{krate}`", row.name),
                    );
                }
            }
            _ => {}
        }
        if path.text.starts_with("std::process::exit") && row.name != "lib" {
            report(path.at, "only `main` ends the process".to_owned());
        } else if row.kind == Kind::Pure {
            for world in WORLD {
                let inside = path
                    .text
                    .strip_prefix(world)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
                if inside || (path.text.ends_with(world) && !world.starts_with("std")) {
                    report(path.at, format!("the pure core must not use `{world}`"));
                }
            }
        }
    }
    for printing in PRINTING {
        for (at, _) in code.match_indices(printing) {
            let begins_here = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if begins_here && row.kind != Kind::Printing {
                report(at, format!("`{printing}` is for `output` only"));
            }
        }
    }
    if row.kind == Kind::Pure {
        for (at, _) in code.match_indices("async fn") {
            report(at, "the pure core must not use `async fn`".to_owned());
        }
    }
    violations
}
