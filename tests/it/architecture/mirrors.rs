//! Each function of Kubernetes that a rule mirrors has one home.
//!
//! Comments say "Mirrors `file.go`, `Function`, v1.37.2". Where the file is left out, it is the one that the `//!` lines of the file or
//! of the module around it name. A rule that stands in two places sooner or later differs from itself.

use std::collections::BTreeMap;

use crate::support::rust_crate::{Crate, File};
use crate::support::rust_source::without_tests;

/// Functions of which parts are mirrored in several places, each with what tells the parts apart. Two places for the same part are
/// no exception but a mistake.
const SPLIT: &[(&str, &str, &str)] = &[
    (
        "allocator_incubating.go",
        "Allocate",
        "`request` has the checks before the search, `result` what is made of its devices",
    ),
    (
        "allocator_incubating.go",
        "allocateDevice",
        "`dra-allocator` has the function, `devices::judge` the gates, which others ask for too",
    ),
    (
        "allocator_incubating.go",
        "isSelectable",
        "`dra-allocator` has the function, `devices::judge` the gate, which others ask for too",
    ),
    (
        "allocator_experimental.go",
        "checkAvailableCounters",
        "`devices::counters` has the amounts, `PoolView::lacks` compares those of a single device",
    ),
    (
        "allocator_experimental.go",
        "checkAndConsumeCompatibilityGroups",
        "`devices::counters` has the groups, `PoolView::lacks` compares those of a single device",
    ),
    (
        "controller.go",
        "handleClaim",
        "the name of a generated claim is in `dra_values::names`, since it is a rule of its own",
    ),
    (
        "controller.go",
        "syncClaim",
        "the controller has the function, `reservation` which entries stay, which others ask for too",
    ),
    (
        "controller.go",
        "syncPod",
        "the controller has the function, `reservation` whom it reserves claims for, which others ask for too",
    ),
    (
        "device_taint_eviction.go",
        "countPendingPods",
        "`eviction` counts in any cluster, the controller among the claims that it keeps by rule; both ask `pending`",
    ),
    (
        "device_taint_eviction.go",
        "maybeUpdateRuleStatus",
        "`eviction` words the condition, the controller says when to write it",
    ),
    (
        "dra_manager.go",
        "GatherAllocatedState",
        "the model says of one result whether it takes the whole device, `devices::allocated` adds results up",
    ),
    (
        "dynamicresources.go",
        "PreFilter",
        "`claims` words what is wrong with a request, `cycle` says what follows for the pod",
    ),
    (
        "pools_incubating.go",
        "buildPool",
        "`devices::pools` has the function, `devices::counters` the words of its errors",
    ),
    (
        "pools_incubating.go",
        "GatherPools",
        "`devices::pools` has the function, as one node sees it; the model still says itself whether all slices are there",
    ),
];

/// That a place mirrors a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Claimed {
    /// Of Kubernetes, with as much of its path as the comment gives.
    go_file: String,
    function: String,
    /// Ours.
    file: String,
    line: usize,
    /// True if the comment is about the whole file.
    is_about_file: bool,
}

impl Claimed {
    fn is_same_function(&self, other: &Self) -> bool {
        self.function == other.function && is_same_file(&self.go_file, &other.go_file)
    }
}

/// Paths are cut in front as it suits the sentence, and the allocator is there three times, by how stable its features are.
fn is_same_file(one: &str, other: &str) -> bool {
    let plain = |path: &str| {
        let stabilities = ["_experimental.go", "_incubating.go", "_stable.go"].into_iter();
        stabilities.fold(path.to_owned(), |path, end| path.replace(end, ".go"))
    };
    let (one, other) = (&*plain(one), &*plain(other));
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || (rest.ends_with('/') && !short.is_empty()))
    };
    ends_with(one, other) || ends_with(other, one)
}

#[test]
fn each_mirrored_function_has_one_home() {
    let found = problems(Crate::all(), SPLIT);
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Words of Kubernetes that decide a rule, and the files that read them. Others ask the rule.
const READ_IN: &[(&str, &[&str])] = &[
    (
        "\"Unhealthy\"",
        &[
            // Of a device.
            "crates/dra-rules/src/health.rs",
            // Of a probe.
            "crates/dra-rules/src/kubelet/said.rs",
        ],
    ),
    (
        "\"Ready\"",
        &[
            // Of a node.
            "crates/dra-model/src/node.rs",
            // Which conditions of pods are read.
            "crates/dra-model/src/pod.rs",
            // Of a device.
            "crates/dra-rules/src/health.rs",
            // Of a pod.
            "crates/dra-rules/src/kubelet/drivers.rs",
            // Of a node that is broken otherwise.
            "crates/dra-rules/src/kubelet/heartbeat.rs",
            // Of a ComputeDomain.
            "crates/dra-rules/src/owners/gathering.rs",
            // Of an admission check of Kueue.
            "crates/dra-rules/src/owners/queued.rs",
            // Of a pod for rollouts and for the eviction API, which take one that says nothing for ready.
            "crates/dra-rules/src/owners/rollout.rs",
        ],
    ),
    (
        "from_secs(600)",
        &[
            "crates/dra-rules/src/scheduling/binding.rs",
            // How long events are gathered.
            "crates/dra-runner/src/events/correlator.rs",
        ],
    ),
];

#[test]
fn words_that_decide_a_rule_are_read_where_the_rule_is() {
    for (word, homes) in READ_IN {
        let files =
            Crate::all_files().filter(|file| !file.is_test && without_tests(&file.text).contains(word));
        let mut found: Vec<&str> = files.map(|file| file.name.as_str()).collect();
        found.sort_unstable();
        assert_eq!(&found, homes, "{word}");
    }
}

#[test]
fn functions_that_are_mirrored_twice_are_found() {
    let krate = Crate::new(
        "src",
        [
            ("a.rs", "//! Mirrors `pkg/x/y.go`, v1.37.2.\n/// Mirrors `one`.\nfn f() {}"),
            ("a/b.rs", "//! B.\n\n/// The same. Mirrors\n/// `two`: what else.\nfn g() {}"),
            ("c.rs", "//! Mirrors `x/y.go`, `one` and `three`.\n/// Mirrors `three`.\nfn h() {}\n/// Mirrors `three`.\nfn i() {}"),
            ("d.rs", "//! Mirrors `z/y.go`, `one`.\n\n// Mirrors `three` (`y.go`, v1).\n// Mirrors nothing."),
            ("f.rs", "//! Mirrors `a_incubating.go`, `six`.\n\n// Mirrors `a_stable.go`, `seven`."),
            ("g.rs", "//! Mirrors `a_experimental.go`, `six`."),
            ("e.rs", "//! E.\n/// Mirrors `four`.\nfn f() {}\n/// Mirrors `strconv.Atoi` and the method `five` of `a/b`.\nfn g() {}"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec(),
    );
    let split = [
        ("y.go", "three", "c has the first half, d the second"),
        ("y.go", "two", "nothing"),
    ];
    assert_eq!(
        problems(&[krate], &split),
        [
            "src/e.rs:2: say in which file of Kubernetes `four` is",
            "`one` of x/y.go has two homes: src/a.rs:2 and src/c.rs:1. Ask the rule where it is written already, or name what is \
             really mirrored; if each has a part of it, say so in `SPLIT` of tests/it/architecture/mirrors.rs",
            "`six` of a_incubating.go has two homes: src/f.rs:1 and src/g.rs:1. Ask the rule where it is written already, or name what \
             is really mirrored; if each has a part of it, say so in `SPLIT` of tests/it/architecture/mirrors.rs",
            "`two` of y.go has one home; take it out of `SPLIT` of tests/it/architecture/mirrors.rs",
        ]
    );
}

fn problems(crates: &[Crate], split: &[(&str, &str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let claimed: Vec<Claimed> = crates
        .iter()
        .flat_map(|krate| all_claimed(&krate.files))
        .collect();
    for claimed in claimed.iter().filter(|claimed| claimed.go_file.is_empty()) {
        // `strconv.Atoi` says where it is.
        if !claimed.function.contains('.') {
            found.push(format!(
                "{}:{}: say in which file of Kubernetes `{}` is",
                claimed.file, claimed.line, claimed.function
            ));
        }
    }
    let mut is_split = vec![false; split.len()];
    let mut seen: Vec<&Claimed> = Vec::new();
    for one in &claimed {
        if seen.iter().any(|other| other.is_same_function(one)) {
            continue;
        }
        seen.push(one);
        let mut homes: Vec<_> = claimed
            .iter()
            .filter(|other| other.is_same_function(one))
            .collect();
        // Parts that stand side by side are one home.
        homes.dedup_by_key(|home| &home.file);
        if homes.len() < 2 {
            continue;
        }
        let exception = split
            .iter()
            .position(|(file, function, _)| *function == one.function && is_same_file(file, &one.go_file));
        if let Some(exception) = exception {
            is_split[exception] = true;
            continue;
        }
        let places: Vec<_> = homes
            .iter()
            .map(|home| format!("{}:{}", home.file, home.line))
            .collect();
        let number = if places.len() == 2 { "two" } else { "several" };
        let go_file = homes
            .iter()
            .map(|home| &home.go_file)
            .min_by_key(|file| file.len());
        found.push(format!(
            "`{}` of {} has {number} homes: {}. Ask the rule where it is written already, or name what is really mirrored; if each \
             has a part of it, say so in `SPLIT` of tests/it/architecture/mirrors.rs",
            one.function,
            go_file.map_or("", |file| file.as_str()),
            places.join(" and "),
        ));
    }
    for ((file, function, _), _) in split.iter().zip(&is_split).filter(|(_, is_split)| !**is_split) {
        found.push(format!(
            "`{function}` of {file} has one home; take it out of `SPLIT` of tests/it/architecture/mirrors.rs"
        ));
    }
    found
}

/// Returns what the files mirror. What a file says of itself is left out where one of its items says it too.
fn all_claimed(files: &[File]) -> Vec<Claimed> {
    let mut found: Vec<Claimed> = Vec::new();
    let mut homes: BTreeMap<&[String], String> = BTreeMap::new();
    // Modules before what is inside them.
    let mut files: Vec<&File> = files.iter().filter(|file| !file.is_test).collect();
    files.sort_by_key(|file| file.module.len());
    for file in files {
        let mut home = (0..=file.module.len())
            .rev()
            .find_map(|length| homes.get(&file.module[..length]))
            .cloned();
        let mut of_file = Vec::new();
        for comment in comments(&file.text) {
            for (go_file, function) in mirrored(&comment.text) {
                if comment.is_about_file && !go_file.is_empty() && !homes.contains_key(&file.module[..]) {
                    homes.insert(&file.module, go_file.clone());
                    home = Some(go_file.clone());
                }
                let Some(function) = function else {
                    continue;
                };
                let is_elsewhere = go_file.is_empty() && !function.contains('.');
                of_file.push(Claimed {
                    go_file: if is_elsewhere {
                        home.clone().unwrap_or_default()
                    } else {
                        go_file
                    },
                    function,
                    file: file.name.clone(),
                    line: comment.line,
                    is_about_file: comment.is_about_file,
                });
            }
        }
        let items: Vec<_> = of_file
            .iter()
            .filter(|claimed| !claimed.is_about_file)
            .cloned()
            .collect();
        found.extend(of_file.into_iter().filter(|claimed| {
            !claimed.is_about_file || !items.iter().any(|item| item.is_same_function(claimed))
        }));
    }
    found.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
    found.dedup();
    found
}

/// Lines of comments that belong together, as one text.
struct Comment {
    line: usize,
    is_about_file: bool,
    text: String,
}

fn comments(text: &str) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    let mut last = "";
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim_start();
        let mark = ["//!", "///", "//"]
            .into_iter()
            .find(|mark| content.starts_with(mark));
        let mark = mark.unwrap_or_default();
        if !mark.is_empty() {
            let text = content[mark.len()..].trim();
            match found.last_mut() {
                Some(comment) if mark == last => {
                    comment.text.push(' ');
                    comment.text.push_str(text);
                }
                _ => found.push(Comment {
                    line,
                    is_about_file: mark == "//!",
                    text: text.to_owned(),
                }),
            }
        }
        last = mark;
    }
    found
}

/// Returns what the sentences of a comment that begin with "Mirrors" name: files, and functions with their files. A file is empty where the
/// sentence has none, and a function absent where it names the file alone.
fn mirrored(comment: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for (at, word) in comment.match_indices("irrors ") {
        let mut go_file = String::new();
        let mut without_file = Vec::new();
        for quoted in quoted(&comment[at + word.len()..]) {
            // A package stands for its files.
            let is_file = quoted.contains('/')
                || std::path::Path::new(quoted)
                    .extension()
                    .is_some_and(|end| end == "go");
            let is_function = quoted
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
                && !quoted.starts_with(|c: char| c.is_ascii_digit());
            if is_file {
                quoted.clone_into(&mut go_file);
                // "`function` (`file.go`)".
                found.extend(
                    without_file
                        .drain(..)
                        .map(|function| (go_file.clone(), Some(function))),
                );
                found.push((go_file.clone(), None));
            } else if is_function && go_file.is_empty() {
                without_file.push(quoted.to_owned());
            } else if is_function {
                found.push((go_file.clone(), Some(quoted.to_owned())));
            }
        }
        found.extend(
            without_file
                .into_iter()
                .map(|function| (String::new(), Some(function))),
        );
    }
    found
}

/// Returns what stands between backticks until the sentence, or the part of it, ends.
fn quoted(sentence: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, c) in sentence.char_indices() {
        let behind = &sentence[at + c.len_utf8()..];
        match (c, open) {
            ('`', None) => open = Some(at + 1),
            ('`', Some(start)) => {
                found.push(&sentence[start..at]);
                open = None;
            }
            ('.' | ':' | ';', None) if behind.is_empty() || behind.starts_with(' ') => break,
            _ => {}
        }
    }
    found
}
