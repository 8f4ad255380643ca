//! Rules that crates and manifests cannot express: access to the outside world, and rules for texts and files.
//!
//! That a crate uses only those below it is Cargo's to say, and what the pure ones may not call is in `crates/clippy.toml`. What is checked
//! besides has files of its own.

mod circles;
mod map;
mod mirrors;
mod unused;

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::rust_crate::{Crate, File};
use crate::support::rust_source::{find_word, without_tests};

/// The crates that take state, time and gates as arguments and return values, and what they may be built on: crates that bring nothing
/// from outside with them.
const PURE: &[&str] = &[
    "dra-allocator",
    "dra-cel",
    "dra-model",
    "dra-reports",
    "dra-rules",
    "dra-values",
];
const HARMLESS: &[&str] = &[
    "derive_more",
    "foldhash",
    "hashbrown",
    "itertools",
    "jiff",
    "macro_rules_attribute",
    "regex-automata",
    "regex-syntax",
    "schemars",
    "serde",
    "serde_json",
    "serde_with_macros",
    "strsim",
    "strum",
    "thiserror",
    "typed-index-collections",
];

#[test]
fn pure_crates_are_built_on_nothing_that_touches_the_world() {
    for krate in PURE {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/{krate}/Cargo.toml"));
        let manifest = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{krate}: {error}"));
        let (_, dependencies) = manifest.split_once("\n[dependencies]\n").expect("dependencies");
        let dependencies = dependencies.split("\n[").next().expect("a section");
        let used: BTreeSet<&str> = dependencies
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| !name.is_empty() && !name.starts_with('#'))
            .collect();
        let allowed: BTreeSet<&str> = PURE.iter().chain(HARMLESS).copied().collect();
        let other: Vec<_> = used.difference(&allowed).collect();
        assert!(!used.is_empty() && other.is_empty(), "{krate} uses {other:?}");
    }
}

/// Modules of the standard library that a pure crate does not name, besides what `crates/clippy.toml` has, and words that wait.
const WORLD: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io",
    "std::os",
    "std::path",
    "std::process",
    "std::thread",
    "std::sync::mpsc",
    "ToSocketAddrs",
    "async",
    "await",
];

#[test]
fn pure_crates_name_nothing_of_the_world() {
    let pure = |file: &&File| {
        PURE.iter()
            .any(|krate| file.name.starts_with(&format!("crates/{krate}/")))
    };
    let named: Vec<String> = Crate::all_files()
        .filter(pure)
        .flat_map(|file| {
            let named = WORLD
                .iter()
                .filter(|word| find_word(&file.code, 0, word).is_some());
            named.map(|word| format!("{}: {word}", file.name))
        })
        .collect();
    assert!(named.is_empty(), "{}", named.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let silent: Vec<_> = Crate::all_files()
        .filter(|file| !file.is_test && !file.text.starts_with("//! "))
        .map(|file| file.name.as_str())
        .collect();
    assert!(
        silent.is_empty(),
        "no `//!` in the first line: {}",
        silent.join(", ")
    );
}

#[test]
fn no_sentence_is_compared() {
    let compared: Vec<String> = Crate::all_files()
        .filter(|file| !file.is_test)
        .flat_map(|file| {
            let places = compared_words(&file.code);
            places.into_iter().map(|place| format!("{}: {place}", file.name))
        })
        .collect();
    assert!(
        compared.is_empty(),
        "compare the facts that these sentences are made of:\n{}",
        compared.join("\n")
    );
}

#[test]
fn compared_sentences_are_found() {
    for (code, expected) in [
        ("if text == words::UNUSED {}", 1),
        ("text != &super::words::idle(&key(a), b)", 1),
        ("words::idle(&key(a), b) == text", 1),
        ("notes.contains(&words::UNUSED.to_owned())", 1),
        ("match text { words::UNUSED => 1, _ => 2 }", 1),
        (
            "match cause { Cause::Idle => words::idle(a), _ => words::UNUSED }",
            0,
        ),
        ("let text = words::UNUSED; a == b", 0),
        ("words.contains(&name)", 0),
    ] {
        assert_eq!(compared_words(code).len(), expected, "{code}");
    }
}

/// Names from `words` that stand beside an operator, in a search or in a pattern.
fn compared_words(code: &str) -> Vec<String> {
    const BEFORE: [&str; 7] = [
        "==",
        "!=",
        "contains(",
        "starts_with(",
        "ends_with(",
        "strip_prefix(",
        "strip_suffix(",
    ];
    let code: String = code.split_whitespace().collect();
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.match_indices("words::").filter_map(|(at, _)| {
        let before = code[..at].trim_end_matches(is_path).trim_end_matches('&');
        let after = code[at..].trim_start_matches(is_path);
        let name = &code[at..code.len() - after.len()];
        let behind = match after.strip_prefix('(') {
            Some(arguments) => {
                let mut depth = 1;
                let end = arguments.find(|c| {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    depth == 0
                });
                end.map_or("", |end| &arguments[end + 1..])
            }
            None => after,
        };
        let is_compared = BEFORE.iter().any(|before_it| before.ends_with(before_it))
            || ["==", "!=", "=>"].iter().any(|sign| behind.starts_with(sign));
        is_compared.then(|| name.to_owned())
    });
    words.collect()
}

/// A command with a name in it is built by `script`, which knows how to keep a name a word. Text of a program's own needs no builder.
#[test]
fn no_command_is_put_together_by_hand() {
    let by_hand: Vec<String> = Crate::all_files()
        .filter(|file| !file.is_test && !file.name.starts_with("crates/dra-reports/src/script/"))
        .flat_map(|file| commands_by_hand(&file.name, &without_tests(&file.text)))
        .collect();
    assert!(
        by_hand.is_empty(),
        "a name of whatever kind can be in these commands; build them with `dra_reports::script`:\n{}",
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
