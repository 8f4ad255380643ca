//! The sentences about the differences of two states. Nothing reads them again.

use std::collections::BTreeSet;

use super::{ClaimChangeKind, Difference, Existence, PodChangeKind};
use crate::Sentence;
use crate::findings::Code;
use crate::listing::some;
use crate::words::{counted, qualified};
use dra_model::{Kind, PoolId};

/// The differences that are unknown without a kind.
pub(super) const UNKNOWN: [(Kind, &str); 6] = [
    (Kind::Node, "differences in nodes"),
    (Kind::DeviceClass, "differences in classes"),
    (Kind::ResourceSlice, "differences in devices, pools and drivers"),
    (Kind::DeviceTaintRule, "differences in taint rules"),
    (
        Kind::ResourceClaim,
        "differences in claims and in the devices of pods",
    ),
    (Kind::Pod, "differences in the devices of pods"),
];

/// Something that the state before or after, read from `source`, does not show.
pub(super) fn in_state(when: &str, source: &str, text: &str) -> String {
    format!("{when}, {source}: {text}")
}

pub(super) fn incomplete_pool(pool: &PoolId) -> String {
    format!("devices and counters that appeared or vanished in pool/{pool}: slices of the pool are missing")
}

pub(super) fn findings_not_compared(codes: &BTreeSet<Code>) -> String {
    format!(
        "differences in findings of {}: not fully checked in both states",
        some(codes)
    )
}

/// The differences in numbers.
pub(super) fn summary(report: &Difference) -> Sentence {
    use ClaimChangeKind::{Allocated, Consumers, Created, Deallocated, Deleted, Moved};
    use Existence::{Gone, Kept, New};
    let claims = |kind| count(&report.claims, |claim| claim.change == kind);
    // Pods have the devices of their claims.
    let no_claims = report.claims.is_empty();
    let pods = |kind| count(&report.pods, |pod| no_claims && pod.change == kind);
    let rules = |existence| count(&report.rules, |rule| rule.existence == existence);
    let objects = |kind, existence| {
        count(&report.objects, |object| {
            object.kind == kind && object.existence == existence
        })
    };
    let mut parts = counts(&[
        (claims(Allocated), "claim got devices", "claims got devices"),
        (
            claims(Deallocated),
            "claim lost its devices",
            "claims lost their devices",
        ),
        (claims(Moved), "claim moved", "claims moved"),
        (claims(Created), "claim is new", "claims are new"),
        (claims(Deleted), "claim is gone", "claims are gone"),
        (
            claims(Consumers),
            "claim has other consumers",
            "claims have other consumers",
        ),
        (pods(PodChangeKind::Got), "pod got devices", "pods got devices"),
        (
            pods(PodChangeKind::Lost),
            "pod lost its devices",
            "pods lost their devices",
        ),
        (pods(PodChangeKind::Moved), "pod moved", "pods moved"),
        (
            pods(PodChangeKind::Recreated),
            "pod was recreated",
            "pods were recreated",
        ),
    ]);
    parts.extend(
        [New, Gone, Kept]
            .into_iter()
            .filter_map(|existence| devices(report, existence)),
    );
    let pools = count(&report.pools, |_| report.devices.is_empty());
    parts.extend(counts(&[
        (pools, "pool changed", "pools changed"),
        (rules(New), "taint rule is new", "taint rules are new"),
        (rules(Gone), "taint rule is gone", "taint rules are gone"),
        (rules(Kept), "taint rule changed", "taint rules changed"),
        (objects("Node", New), "node is new", "nodes are new"),
        (objects("Node", Gone), "node is gone", "nodes are gone"),
        (objects("DeviceClass", New), "class is new", "classes are new"),
        (objects("DeviceClass", Gone), "class is gone", "classes are gone"),
        (objects("Driver", New), "driver is new", "drivers are new"),
        (objects("Driver", Gone), "driver is gone", "drivers are gone"),
        (report.findings.new.len(), "finding is new", "findings are new"),
        (report.findings.gone.len(), "finding is gone", "findings are gone"),
    ]));
    let releases = report.releases();
    parts.extend(releases.map(|(before, after)| format!("Kubernetes {before} became {after}")));
    match (parts.is_empty(), report.unknown.is_empty()) {
        (false, _) => parts.join(", "),
        (true, true) => "no differences".to_owned(),
        (true, false) => qualified("no differences"),
    }
    .into()
}

fn count<T>(items: &[T], is_counted: impl Fn(&T) -> bool) -> usize {
    items.iter().filter(|item| is_counted(item)).count()
}

/// Those of the numbers that are not zero, with the words for one or for several.
fn counts(numbers: &[(usize, &str, &str)]) -> Vec<String> {
    let numbers = numbers.iter().filter(|(number, ..)| *number > 0);
    numbers
        .map(|(number, one, many)| counted(*number, one, many))
        .collect()
}

/// The number of devices, and the nodes that they are on if those are known.
fn devices(report: &Difference, existence: Existence) -> Option<String> {
    let devices = report
        .devices
        .iter()
        .filter(|device| device.existence == existence);
    let nodes: BTreeSet<_> = devices.clone().map(|device| device.node.as_ref()).collect();
    let (verb, preposition) = match existence {
        Existence::New => ("appeared", "on"),
        Existence::Gone => ("vanished", "from"),
        Existence::Kept => ("changed", "on"),
    };
    let number = counted(devices.count(), "device", "devices");
    match (nodes.len(), nodes.first()?) {
        (1, Some(node)) => Some(format!("{number} {verb} {preposition} {node}")),
        (several, Some(_)) => Some(format!("{number} {verb} {preposition} {several} nodes")),
        (_, None) => Some(format!("{number} {verb}")),
    }
}
