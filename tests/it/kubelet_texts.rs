//! The texts of kubelets of several releases, as their modules have them.
//!
//! `tests/data/kubelet-texts.tsv` has each text that can get into an event about how a pod starts, since when and up to when there is one, an
//! example, and what it is taken for, which the unit tests of `crates/dra-rules/src/kubelet/said.rs` check.

use crate::support::go::{RELEASES, module};
use std::collections::BTreeSet;

const TABLE: &str = include_str!("../data/kubelet-texts.tsv");

/// The body of a function or method; nothing where the release does not have it.
fn body<'t>(text: &'t str, function: &str) -> &'t str {
    let is_it = |line: &&str| {
        let name = line
            .strip_prefix("func ")
            .map(|rest| match rest.strip_prefix('(') {
                Some(method) => method.split_once(") ").map_or("", |(_, rest)| rest),
                None => rest,
            });
        name.is_some_and(|name| {
            name.strip_prefix(function)
                .is_some_and(|rest| rest.starts_with('('))
        })
    };
    let Some(line) = text.lines().find(is_it) else {
        return "";
    };
    let (_, rest) = text.split_once(line).expect("the line is there");
    rest.split_once("\n}\n").map_or(rest, |(body, _)| body)
}

/// The texts of errors that a function makes.
fn errors(body: &str) -> BTreeSet<&str> {
    let makers = ["fmt.Errorf(", "errors.New("];
    let calls = makers.iter().flat_map(|maker| body.split(maker).skip(1));
    let texts = calls.filter_map(|call| {
        let quote = call.chars().next().filter(|quote| matches!(quote, '"' | '`'))?;
        call[1..].split(quote).next()
    });
    texts.collect()
}

#[test]
fn the_table_has_the_texts_of_every_release() {
    let rows: Vec<Vec<&str>> = TABLE
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect())
        .collect();
    let places: BTreeSet<(&str, &str)> = rows.iter().map(|row| (row[2], row[3])).collect();
    for (release, patch) in RELEASES {
        let kubernetes = module("k8s.io/kubernetes", &format!("v1.{patch}"));
        let library = module("k8s.io/dynamic-resource-allocation", &format!("v0.{patch}"));
        for (file, function) in &places {
            let folder = if file.starts_with("pkg/") {
                &kubernetes
            } else {
                &library
            };
            let text =
                std::fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let known: BTreeSet<&str> = rows
                .iter()
                .filter(|row| (row[2], row[3]) == (*file, *function) && (row[0]..=row[1]).contains(&release))
                .map(|row| row[4])
                .collect();
            assert_eq!(errors(body(&text, function)), known, "{function} of {release}");
        }
    }
}
