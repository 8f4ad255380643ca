//! What is lost or damaged in a file never makes a verdict good, and makes no finding.

#[path = "../../../tests/support/damage.rs"]
mod damage;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use self::damage::Damage;
use super::mutations::snapshot;
use crate::devices::{ClassSelectors, DeviceState};
use crate::error::Outcome;
use crate::fuzzing::program::result_on;
use crate::inspect::findings::{CheckRequest, check};
use crate::inspect::{DeviceFilter, devices};
use crate::model::{Cluster, Kind, Time};
use crate::sources::{Needs, Request, Unobserved, VersionSettings, load};

const SNAPSHOTS: [&str; 10] = [
    "bound-pods",
    "unschedulable-pods",
    "stale-reservations",
    "taint-rules-noexecute",
    "consumable-capacity",
    "partitionable",
    "podgroups",
    "podgroups-gates-off",
    "binding-conditions",
    "shared-claims",
];

/// Verdicts on a whole cluster.
const LINES: [&str; 7] = [
    "check",
    "check --to-version 1.36",
    "check --driver gpu.example.com",
    "convert plan",
    "convert plan --release-unused",
    "convert verify --all-kinds",
    "simulate eviction --fail-on-eviction",
];

const NOW: &str = "2026-11-21T14:00:00Z";

/// How a run ends: with an outcome, or with an error, which is no verdict.
fn verdict(line: &str, file: &Path) -> Option<Outcome> {
    let line = format!("{line} --now {NOW} --kubernetes-version 1.37");
    result_on(&line, file).ok()
}

/// The lines above, and those about some of the pods and claims of the whole list.
fn lines(list: &Value) -> Vec<String> {
    let named = |kind: &str, verb: &str| {
        let of_kind = list["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|item| item["kind"] == kind);
        let lines = of_kind.map(|item| {
            let text = |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
            format!("{verb}/{}/{}", text("namespace"), text("name"))
        });
        lines.take(3).collect::<Vec<_>>()
    };
    let mut lines: Vec<String> = LINES.map(str::to_owned).to_vec();
    lines.extend(named("Pod", "explain pod"));
    lines.extend(named("Pod", "simulate allocation pod"));
    lines.extend(named("ResourceClaim", "simulate allocation claim"));
    lines
}

fn written(list: &Value) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::with_suffix(".json").unwrap();
    std::fs::write(file.path(), list.to_string()).unwrap();
    file
}

fn cluster(file: &Path) -> Option<Cluster> {
    let request = Request {
        names: &[file.display().to_string()],
        namespace: "default",
        strict: false,
        versions: &VersionSettings::default(),
    };
    Some(
        load(&request, &Needs::everything(), Arc::new(Unobserved))
            .ok()?
            .cluster,
    )
}

fn free(cluster: &Cluster) -> BTreeSet<String> {
    let list = devices(
        cluster,
        &DeviceFilter::default(),
        &ClassSelectors::of(cluster),
        None,
    );
    let free = list.items.iter().filter(|item| item.state == DeviceState::Free);
    free.map(|item| format!("{}/{}/{}", item.driver, item.pool, item.device))
        .collect()
}

fn accusations(cluster: &Cluster) -> BTreeSet<String> {
    let now: Time = NOW.parse().unwrap();
    let found = check(cluster, &CheckRequest::now(now)).items;
    found
        .iter()
        .map(|finding| format!("{} {}", finding.code, finding.object))
        .collect()
}

proptest! {
    // Each case reads the file six times; `PROPTEST_CASES` asks for more.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 5, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_lost_or_damaged_makes_a_verdict_good(
        name in proptest::sample::select(&SNAPSHOTS[..]),
        damage in proptest::sample::select(&Damage::ALL[..]),
        at in any::<Index>(),
        line in any::<Index>(),
    ) {
        let whole = snapshot(name);
        let mut damaged = whole.clone();
        let at = at.index(whole["items"].as_array().unwrap().len());
        let Some(object) = damage.apply(&mut damaged, at) else {
            return Ok(());
        };
        let (before, after) = (written(&whole), written(&damaged));
        let lines = lines(&whole);
        for line in [&lines[line.index(lines.len())], &lines[0]] {
            let whole = verdict(line, before.path());
            let left = verdict(line, after.path());
            let what = format!("{line} on {name} with {damage:?} of {object}: {whole:?}, then {left:?}");
            prop_assert!(left != Some(Outcome::Done) || whole == Some(Outcome::Done), "{}", what);
            prop_assert!(left != Some(Outcome::Findings) || whole != Some(Outcome::Done), "{}", what);
        }
        let (Some(whole), Some(left)) = (cluster(before.path()), cluster(after.path())) else {
            return Ok(());
        };
        let freed: Vec<_> = free(&left).difference(&free(&whole)).cloned().collect();
        prop_assert!(freed.is_empty(), "{name} with {damage:?} of {object}: free are {freed:?}");
        let known = accusations(&whole);
        let accused: Vec<_> = accusations(&left).difference(&known).cloned().collect();
        prop_assert!(accused.is_empty(), "{name} with {damage:?} of {object}: accused are {accused:?}");
    }
}

#[test]
fn a_reservation_for_a_group_proves_nothing_where_groups_are_unread() {
    let mut list = snapshot("podgroups-gates-off");
    let items = list["items"].as_array().unwrap();
    let at = items
        .iter()
        .position(|item| item["kind"] == "Pod" && item["metadata"]["name"] == "llm-late");
    // A table may hold PodGroups, by which the traces of groups would not be left over from other gates.
    Damage::Table.apply(&mut list, at.unwrap()).unwrap();
    let file = written(&list);
    assert_eq!(
        verdict("explain pod/default/llm-0", file.path()),
        Some(Outcome::Unknown)
    );
}

#[test]
fn a_whole_snapshot_has_no_gaps() {
    for name in SNAPSHOTS {
        let file = written(&snapshot(name));
        let cluster = cluster(file.path()).unwrap();
        assert_eq!(cluster.environment().gaps, [], "{name}");
        assert!(Kind::all().all(|kind| cluster.gap(kind, "").is_none()), "{name}");
    }
}
