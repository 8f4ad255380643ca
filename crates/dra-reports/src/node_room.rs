//! `kubectl dra explain node/NAME`: what could still be scheduled there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::allocation::Settings;
use super::shape::by_name;
use super::stage::{broken_link_text, republishing_text};
use super::warnings::missing;
use super::words::{self, Fit, NodeObstacle, Room};
use super::{DeviceFilter, DeviceItem, Sentence, Warnings, devices};
use dra_allocator::Limits;
use dra_allocator::devices::{ClassSelectors, DeviceState, Unavailable};
use dra_model::{
    CapacityRequirements, Claim, ClaimSpec, Cluster, DeviceClaim, DeviceRequest, Kind, MOST_RESULTS, Meta,
    Node, Quantity, Request, Str,
};
use dra_rules::health::Health;
use dra_rules::kubelet::{BrokenLink, Stages, known_drivers, republishing};
use dra_rules::scheduling::{Scheduler, Start, Verdict, keeps_pods_off, tells_removal, tells_unfit};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct NodeRoom {
    /// The node.
    pub node: Str,
    /// Whether there is room.
    pub verdict: RoomVerdict,
    /// The answer in a sentence.
    pub summary: Sentence,
    /// What keeps pods off the node, whatever they request: it is cordoned, it is being deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<&'static str>,
    /// Taints of the node that pods have to tolerate: `key=value:Effect`. Those with `PreferNoSchedule` keep no pod off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<String>,
    /// The drivers whose devices the node reaches, by name.
    pub drivers: Vec<DriverRoom>,
    /// The classes that such devices belong to, by name.
    pub classes: Vec<ClassRoom>,
    /// Drivers that publish nothing for the node although something shows that they should, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub silent_drivers: Vec<SilentDriver>,
    /// What is missing for an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Whether a request fits on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum RoomVerdict {
    /// A request for some class does.
    Room,
    /// None does.
    Full,
    /// Requests would, but no pod can be scheduled on it.
    Closed,
    /// Unknown.
    Unknown,
}

/// The devices of a driver that a node reaches. `total` is the sum of `free`, `allocated`, `shared`, `blocked` and `unknown`.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq)]
pub struct DriverRoom {
    /// The driver.
    pub driver: Str,
    /// All that are published.
    pub total: usize,
    /// No claim holds them, and a request for any device can get them.
    pub free: usize,
    /// A claim holds all of them.
    pub allocated: usize,
    /// Claims hold shares of them.
    pub shared: usize,
    /// No claim holds them, and such a request cannot get them.
    pub blocked: usize,
    /// Unknown whether a claim holds them.
    pub unknown: usize,
    /// Reported as unhealthy, allocated or not.
    pub unhealthy: usize,
    /// What blocks, with the number of devices. A device may be blocked by several things.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<BlockedCount>,
    /// Why the driver cannot prepare them for pods that start there, if it cannot.
    pub unprepared: Option<String>,
}

/// A driver that publishes nothing for a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SilentDriver {
    /// The driver.
    pub driver: Str,
    /// What is broken first between it and its devices.
    pub reason: String,
}

impl SilentDriver {
    fn of(stages: &Stages<'_>, node: &Node) -> Vec<Self> {
        let drivers = known_drivers(stages.cluster()).into_iter();
        let broken = drivers.filter_map(|driver| {
            let link = stages.broken_link(&driver, node)?;
            let reason = broken_link_text(&link);
            Some(Self { driver, reason })
        });
        broken.collect()
    }
}

/// Devices that one thing blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct BlockedCount {
    /// What blocks.
    pub reason: Unavailable,
    /// How many devices.
    pub devices: usize,
}

impl BlockedCount {
    /// Those of all reasons.
    pub(crate) fn all(counts: BTreeMap<Unavailable, usize>) -> Vec<Self> {
        let counts = counts.into_iter();
        counts.map(|(reason, devices)| Self { reason, devices }).collect()
    }
}

/// What a request for a class can still get on a node.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct ClassRoom {
    /// The class.
    pub class: Str,
    /// Devices of it that the node reaches.
    pub devices: usize,
    /// The largest number of devices that a claim with one request for the class gets, by a dry run of the allocator; absent when it is
    /// unknown.
    pub largest: Option<u64>,
    /// What is left of a shared device that a request for as much gets, where no request without amounts fits: one takes as much as the
    /// driver has as the default.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<Str, Quantity>")]
    pub share: Vec<(Str, Quantity)>,
    /// The number is the most that a claim can have, so that there may be more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_limit: bool,
    /// Reasons why it is unknown.
    pub problem: Option<String>,
}

/// What could still be scheduled on `node`, which is in `cluster`.
pub fn node_room(cluster: &Cluster, node: &Arc<Node>, settings: &Settings<'_>) -> NodeRoom {
    let selectors = ClassSelectors::of(cluster);
    let filter = DeviceFilter {
        node: Some(node.metadata.name.clone()),
        ..DeviceFilter::default()
    };
    let listed = devices(cluster, &filter, &selectors, None);
    let published: Vec<&DeviceItem> = listed
        .items
        .iter()
        .filter(|item| item.published != Some(false))
        .collect();
    let mut unknown = Vec::new();
    for kind in [
        Kind::ResourceSlice,
        Kind::ResourceClaim,
        Kind::DeviceClass,
        Kind::DeviceTaintRule,
    ] {
        unknown.extend(cluster.gap(kind, "").map(missing));
    }
    let scheduler = Scheduler::new(cluster, settings.now);
    let mut of_class: BTreeMap<&Str, Vec<&DeviceItem>> = BTreeMap::new();
    for item in &published {
        for class in item.classes.iter().flatten() {
            of_class.entry(class).or_default().push(item);
        }
    }
    let classes: Vec<ClassRoom> = of_class
        .into_iter()
        .map(|(class, items)| ClassRoom::of(&scheduler, node, class, &items, settings))
        .collect();
    let mut obstacles = Vec::new();
    if node.spec.unschedulable {
        obstacles.push(NodeObstacle::Cordoned);
    }
    let mut taints = node.spec.taints.iter();
    if node.metadata.is_deleting() {
        obstacles.push(NodeObstacle::Deleting);
    } else if taints.any(|taint| tells_removal(&taint.key)) {
        obstacles.push(NodeObstacle::Marked);
    }
    if node.spec.taints.iter().any(|taint| tells_unfit(&taint.key)) {
        obstacles.push(NodeObstacle::Unfit);
    }
    let name = &node.metadata.name;
    let stages = Stages::of(cluster, settings.now);
    let drivers = DriverRoom::of(&published, |driver| {
        let absent = || stages.unselected(driver, node);
        stages.unprepared(driver, node).or_else(absent)
    });
    if !drivers.is_empty() && drivers.iter().all(|room| room.unprepared.is_some()) {
        obstacles.push(NodeObstacle::Unprepared);
    }
    // What is published again within a minute may be of any class.
    let (verdict, room) = match republishing(cluster, name, None, settings.now) {
        Some(since) if obstacles.is_empty() => {
            let why = republishing_text(std::slice::from_ref(name), since, "drivers publish");
            (RoomVerdict::Unknown, Room::Republishing(why))
        }
        _ => verdict(&classes, &obstacles, !unknown.is_empty()),
    };
    let summary = words::room(&room).into();
    let taints = node.spec.taints.iter().filter(|taint| keeps_pods_off(taint));
    NodeRoom {
        node: node.metadata.name.clone(),
        verdict,
        summary,
        obstacles: obstacles.into_iter().map(words::obstacle).collect(),
        taints: taints.map(ToString::to_string).collect(),
        drivers,
        classes,
        silent_drivers: SilentDriver::of(&stages, node),
        unknown,
        warnings: listed.warnings,
    }
}

/// Whether a request fits, and how much room there is.
fn verdict<'c>(
    classes: &'c [ClassRoom],
    obstacles: &[NodeObstacle],
    has_gaps: bool,
) -> (RoomVerdict, Room<'c>) {
    let fits = classes.iter().filter_map(|room| {
        let devices = room.largest?;
        let (class, at_limit, share) = (&room.class, room.at_limit, &room.share);
        (devices > 0 || !share.is_empty()).then_some(Fit {
            class,
            devices,
            share,
            at_limit,
        })
    });
    let fits: Vec<Fit<'_>> = fits.collect();
    let is_unknown = has_gaps || classes.iter().any(|class| class.largest.is_none());
    match (fits.is_empty(), obstacles) {
        (true, _) if is_unknown => (RoomVerdict::Unknown, Room::Unknown),
        (true, _) if classes.is_empty() => (RoomVerdict::Full, Room::NoDevices),
        (true, _) => (RoomVerdict::Full, Room::Full),
        (false, [first, ..]) => (RoomVerdict::Closed, Room::Closed(*first)),
        (false, []) => (RoomVerdict::Room, Room::For(fits)),
    }
}

impl DriverRoom {
    fn of(items: &[&DeviceItem], broken: impl Fn(&Str) -> Option<BrokenLink>) -> Vec<Self> {
        let mut drivers: BTreeMap<&Str, (Self, BTreeMap<Unavailable, usize>)> = BTreeMap::new();
        for item in items {
            let (room, reasons) = drivers.entry(&item.driver).or_default();
            room.total += 1;
            room.unhealthy += usize::from(item.health == Some(Health::Unhealthy));
            match item.state {
                DeviceState::Allocated => room.allocated += 1,
                DeviceState::Shared => room.shared += 1,
                DeviceState::Unknown => room.unknown += 1,
                DeviceState::Free if item.unavailable.is_empty() => room.free += 1,
                DeviceState::Free => {
                    room.blocked += 1;
                    for reason in &item.unavailable {
                        *reasons.entry(*reason).or_default() += 1;
                    }
                }
            }
        }
        let rooms = drivers.into_iter().map(|(driver, (room, reasons))| Self {
            driver: driver.clone(),
            reasons: BlockedCount::all(reasons),
            unprepared: broken(driver).as_ref().map(broken_link_text),
            ..room
        });
        rooms.collect()
    }
}

impl ClassRoom {
    fn of(
        scheduler: &Scheduler,
        node: &Arc<Node>,
        class: &Str,
        items: &[&DeviceItem],
        settings: &Settings<'_>,
    ) -> Self {
        let fits =
            |count: u64, amounts: &[(Str, Quantity)]| fits(scheduler, node, class, count, amounts, settings);
        let most = MOST_RESULTS.unsigned_abs().min(items.len() as u64);
        let (largest, problem) = match largest(most, |count| fits(count, &[])) {
            Ok(largest) => (Some(largest), None),
            Err(problem) => (None, Some(problem)),
        };
        let shared = items
            .iter()
            .filter(|item| largest == Some(0) && item.state == DeviceState::Shared);
        let mut shares = shared.map(|item| what_is_left(item));
        // A request for nothing fits everywhere.
        let is_some =
            |share: &[(Str, Quantity)]| !share.is_empty() && share.iter().all(|(_, left)| left.sign() > 0);
        let share = shares.find(|share| is_some(share) && fits(1, share) == Ok(true));
        Self {
            class: class.clone(),
            devices: items.len(),
            share: share.unwrap_or_default(),
            at_limit: largest == Some(MOST_RESULTS.unsigned_abs()),
            largest,
            problem,
        }
    }
}

/// What the shares of a device leave.
fn what_is_left(item: &DeviceItem) -> Vec<(Str, Quantity)> {
    let capacities = item.capacity.iter();
    capacities
        .filter_map(|(name, capacity)| Some((name.clone(), capacity.remaining.clone()?)))
        .collect()
}

/// The largest number up to `most` that fits: with as many devices fewer fit too.
fn largest(most: u64, fits: impl Fn(u64) -> Result<bool, String>) -> Result<u64, String> {
    if most == 0 || fits(most)? {
        return Ok(most);
    }
    let (mut fitting, mut failing) = (0, most);
    while failing - fitting > 1 {
        let middle = fitting.midpoint(failing);
        if fits(middle)? {
            fitting = middle;
        } else {
            failing = middle;
        }
    }
    Ok(fitting)
}

/// Whether a claim with one request for `count` devices of `class`, with such amounts of their capacity, fits on `node`.
///
/// # Errors
/// Reasons why it is unknown.
fn fits(
    scheduler: &Scheduler,
    node: &Arc<Node>,
    class: &Str,
    count: u64,
    amounts: &[(Str, Quantity)],
    settings: &Settings<'_>,
) -> Result<bool, String> {
    let capacity = (!amounts.is_empty()).then(|| CapacityRequirements {
        requests: amounts.to_vec(),
    });
    let request = DeviceRequest {
        device_class_name: class.clone(),
        count: i64::try_from(count).unwrap_or(i64::MAX),
        capacity,
        ..DeviceRequest::default()
    };
    let spec = ClaimSpec {
        devices: DeviceClaim {
            requests: vec![Request {
                name: "room".into(),
                exactly: Some(request),
                ..Request::default()
            }],
            ..DeviceClaim::default()
        }
        .into(),
        ..ClaimSpec::default()
    };
    let claim = Claim {
        metadata: Meta {
            name: "room".into(),
            ..Meta::default()
        },
        spec,
        ..Claim::default()
    };
    let claims = [Arc::new(claim)];
    let cycle = match scheduler.claims(&claims) {
        Start::Cycle(cycle) => cycle,
        Start::Obstacle(obstacle) => return Err(obstacle.text()),
        Start::Unknown(gaps) => {
            let texts: Vec<String> = gaps.iter().map(missing).collect();
            return Err(texts.join(", "));
        }
    };
    let judgment = cycle.judge(node, Limits::steps(settings.budget.left()), settings.observer);
    settings.budget.spend(judgment.work);
    match judgment.verdict {
        Verdict::Fits(_) => Ok(true),
        Verdict::GaveUp => Err(words::GAVE_UP.to_owned()),
        Verdict::Error(error) => Err(error.to_string()),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_allocator::Budget;
    use dra_testing::{World, holding, json_of};

    fn room(cluster: &Cluster) -> NodeRoom {
        let budget = Budget::new(100_000);
        let settings = Settings::of_test(&budget);
        let node = cluster.nodes().next().unwrap();
        node_room(cluster, node, &settings)
    }

    #[test]
    fn the_largest_number_is_found_whatever_it_is() {
        for most in 0..40 {
            for wanted in 0..=most {
                assert_eq!(
                    largest(most, |count| Ok(count <= wanted)),
                    Ok(wanted),
                    "{wanted} of {most}"
                );
            }
        }
        assert!(largest(8, |_| Err("no".to_owned())).is_err());
    }

    #[test]
    fn what_fits_on_a_node_is_found_by_the_allocator() {
        let consumes = |amount: &str| json!([{"counterSet": "s", "counters": {"memory": {"value": amount}}}]);
        let pool = json!({"name": "node-1", "generation": 1, "resourceSliceCount": 2});
        let world = World::default()
            .node("node-1", &json!({}))
            .class("d")
            .slice_with(
                "counters",
                &json!({"nodeName": "node-1", "pool": pool, "sharedCounters": [
                    {"name": "s", "counters": {"memory": {"value": "80Gi"}}}]}),
            )
            .slice_with(
                "node-1",
                &json!({"nodeName": "node-1", "pool": pool, "devices": [
                    {"name": "a", "consumesCounters": consumes("40Gi")},
                    {"name": "b", "consumesCounters": consumes("40Gi")},
                    {"name": "c", "consumesCounters": consumes("40Gi")},
                    {"name": "d", "taints": [{"key": "k", "effect": "NoSchedule"}]},
                    {"name": "e"}]}),
            )
            .claim("held", &json!({}), &holding(&["e"], &[]));
        let report = room(&world.build());
        // Three devices are free, and any two of them use up the counter.
        assert_eq!(
            json_of(&report),
            json!({
                "node": "node-1", "verdict": "Room", "summary": "room for 2 of d",
                "drivers": [{"driver": "d", "total": 5, "free": 3, "allocated": 1, "shared": 0, "blocked": 1,
                             "unknown": 0, "unhealthy": 0, "reasons": [{"reason": "Tainted", "devices": 1}]}],
                "classes": [{"class": "d", "devices": 5, "largest": 2}],
            })
        );
    }

    #[test]
    fn a_node_is_full_or_closed_or_unknown() {
        let world = || {
            World::default()
                .class("d")
                .slice("node-1", &json!([{"name": "a"}]))
        };
        let full = world()
            .node("node-1", &json!({}))
            .claim("held", &json!({}), &holding(&["a"], &[]))
            .build();
        assert_eq!(room(&full).verdict, RoomVerdict::Full);
        let closed = world()
            .with(
                Kind::Node,
                &json!({"metadata": {"name": "node-1"}, "spec": {"unschedulable": true}}),
            )
            .build();
        assert_eq!(room(&closed).verdict, RoomVerdict::Closed);
        let unknown = world()
            .node("node-1", &json!({}))
            .without(Kind::ResourceClaim)
            .build();
        assert_eq!(room(&unknown).verdict, RoomVerdict::Unknown);
        let none = World::default().node("node-1", &json!({})).build();
        assert_eq!(
            room(&none).summary.to_string(),
            "no device of any class is available to it"
        );
    }
}
