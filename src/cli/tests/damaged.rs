//! Damage to a file never makes a verdict good, and never adds a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use dra_testing::damage;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use self::damage::{Damage, Listed};
use super::mutations::{file_of, snapshot};
use crate::error::Outcome;
use crate::fuzzing::program::result_on;
use dra_allocator::devices::{ClassSelectors, DeviceState};
use dra_model::{Cluster, Kind, Time};
use dra_reports::findings::{CheckRequest, check};
use dra_reports::{DeviceFilter, devices};
use dra_sources::{Needs, Request, Unobserved, VersionSettings, load};
use dra_testing::effort::by_effort;

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

/// Returns how a run ends: with an outcome, or with an error, which is no verdict.
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
        started: None,
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

/// A whole snapshot, and what comes of it.
struct Whole {
    list: Value,
    lines: Vec<String>,
    verdicts: Vec<Option<Outcome>>,
    free: BTreeSet<String>,
    accused: BTreeSet<String>,
}

impl Whole {
    fn of(name: &'static str) -> Arc<Self> {
        static KNOWN: Mutex<BTreeMap<&str, Arc<Whole>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap();
        let whole = known.entry(name).or_insert_with(|| {
            let list = snapshot(name);
            let mut lines = lines(&list);
            // What is missing or damaged is no difference.
            lines.push(format!("diff {}", file_of(name).display()));
            let file = written(&list);
            let cluster = cluster(file.path()).unwrap();
            Arc::new(Self {
                verdicts: lines.iter().map(|line| verdict(line, file.path())).collect(),
                lines,
                free: free(&cluster),
                accused: accusations(&cluster),
                list,
            })
        });
        Arc::clone(whole)
    }

    /// Nothing in `damaged` got better; `what` describes the damage.
    fn compare(&self, damaged: &Value, line: Index, what: &str) -> Result<(), TestCaseError> {
        let after = written(damaged);
        for at in [line.index(self.lines.len()), 0, self.lines.len() - 1] {
            let (line, whole) = (&self.lines[at], &self.verdicts[at]);
            let left = verdict(line, after.path());
            let what = format!("{line} on {what}: {whole:?}, then {left:?}");
            prop_assert!(
                left != Some(Outcome::Done) || *whole == Some(Outcome::Done),
                "{}",
                what
            );
            prop_assert!(
                left != Some(Outcome::Findings) || *whole != Some(Outcome::Done),
                "{}",
                what
            );
        }
        let Some(left) = cluster(after.path()) else {
            return Ok(());
        };
        let freed: Vec<_> = free(&left).difference(&self.free).cloned().collect();
        prop_assert!(freed.is_empty(), "{what}: free are {freed:?}");
        let accused: Vec<_> = accusations(&left).difference(&self.accused).cloned().collect();
        prop_assert!(accused.is_empty(), "{what}: accused are {accused:?}");
        Ok(())
    }
}

/// Returns how many files are damaged. `make mutations` says how many.
fn cases() -> u32 {
    match std::env::var_os("KUBECTL_DRA_MUTATIONS") {
        Some(count) => count.to_str().unwrap().parse().unwrap(),
        None => by_effort(10, 50, 2_000),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_lost_or_damaged_makes_a_verdict_good(
        name in proptest::sample::select(&SNAPSHOTS[..]),
        damage in proptest::sample::select(&Damage::ALL[..]),
        at in any::<Index>(),
        line in any::<Index>(),
    ) {
        let whole = Whole::of(name);
        let mut damaged = whole.list.clone();
        let at = at.index(damaged["items"].as_array().unwrap().len());
        if let Some(object) = damage.apply(&mut damaged, at) {
            whole.compare(&damaged, line, &format!("{name} with {damage:?} of {object}"))?;
        }
    }

    #[test]
    fn no_list_in_place_of_an_object_makes_a_verdict_good(
        name in proptest::sample::select(&SNAPSHOTS[..]),
        listed in proptest::sample::select(&Listed::ALL[..]),
        at in any::<usize>(),
        line in any::<Index>(),
    ) {
        let whole = Whole::of(name);
        let mut damaged = whole.list.clone();
        let place = listed.apply(&mut damaged, at).unwrap();
        whole.compare(&damaged, line, &format!("{name} with a list ({listed:?}) at {place}"))?;
    }
}

#[test]
fn a_reservation_for_a_group_proves_nothing_where_groups_are_unread() {
    let mut list = snapshot("podgroups-gates-off");
    let items = list["items"].as_array().unwrap();
    let at = items
        .iter()
        .position(|item| item["kind"] == "Pod" && item["metadata"]["name"] == "llm-late");
    // A table may contain PodGroups, so that the traces of groups would not be left over from other gates.
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
