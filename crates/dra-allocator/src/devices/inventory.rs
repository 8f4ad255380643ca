//! Allocated devices with their claims, and the remaining shared counters and capacity.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use super::counters::CounterIndex;
use super::facts::Facts;
use super::features::Features;
use super::judge::RuledOut;
use super::pools::{PoolStatus, PoolView};
use super::reach::Nodes;

use dra_model::{
    AllocatedDevice, Claim, Cluster, Device, DeviceId, Gap, Kind, Node, Pool, Quantity, Slice, Str, lookup,
};

/// A claim that has a device, with the part of its allocation that says so.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// The claim.
    pub claim: &'a Arc<Claim>,
    /// The device in its allocation.
    pub result: &'a AllocatedDevice,
}

impl Holder<'_> {
    /// Returns whether the claim takes something from others.
    pub fn takes(&self) -> bool {
        self.result.takes()
    }
}

/// Allocation state of a device, as far as claims determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, IntoStaticStr)]
pub enum DeviceState {
    /// No claim holds it, apart from admin access.
    Free,
    /// A claim holds all of it.
    Allocated,
    /// Claims hold shares of it.
    Shared,
    /// Claims could not be read.
    Unknown,
}

/// The reason why the scheduler does not allocate a device to an ordinary request, although no claim holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, strum::Display)]
pub enum Unavailable {
    /// The only node that it is for does not exist.
    NodeMissing,
    /// Other devices use up the counters that it needs.
    CountersExhausted,
    /// Devices in use belong to other compatibility groups.
    Incompatible,
    /// Slices of its pool are missing.
    PoolIncomplete,
    /// The slices of its pool contradict each other.
    PoolInvalid,
    /// It takes a feature gate that is off in the scheduler.
    GateOff,
    /// The scheduler does not look for devices in its slice: the slice takes a feature gate that is off, or has shared counters.
    SliceIgnored,
    /// It has a taint that a request has to tolerate.
    Tainted,
}

impl Unavailable {
    /// The word for a reason that rules out the device for every request; none for a reason that depends on the
    /// request.
    fn of(ruled_out: RuledOut) -> Option<Self> {
        match ruled_out {
            RuledOut::CounterExhausted => Some(Self::CountersExhausted),
            RuledOut::Incompatible => Some(Self::Incompatible),
            RuledOut::BindingConditionsOff | RuledOut::NodeOperations | RuledOut::PartitionableDevicesOff => {
                Some(Self::GateOff)
            }
            RuledOut::Tainted => Some(Self::Tainted),
            RuledOut::InUse
            | RuledOut::ClassSelector
            | RuledOut::RequestSelector
            | RuledOut::OtherNode
            | RuledOut::NoSuchCapacity
            | RuledOut::CapacityPolicy
            | RuledOut::CapacityTooSmall
            | RuledOut::CapacityExhausted
            | RuledOut::ConstraintAttribute
            | RuledOut::Constraint => None,
        }
    }

    /// Returns what keeps it from being allocated, for a reader: `counters`.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NodeMissing => "node missing",
            Self::CountersExhausted => "counters",
            Self::Incompatible => "compatibility groups",
            Self::PoolIncomplete => "pool incomplete",
            Self::PoolInvalid => "pool invalid",
            Self::GateOff => "gate off",
            Self::SliceIgnored => "slice ignored",
            Self::Tainted => "taint",
        }
    }
}

/// All allocated devices with their holders.
#[derive(Debug)]
pub struct Inventory<'a> {
    cluster: &'a Cluster,
    /// Only looked up in, never walked: its order cannot reach a result.
    held: HashMap<DeviceId, Vec<Holder<'a>>>,
    consumable_capacity: bool,
    facts: OnceLock<Facts>,
    gap: Option<&'a Gap>,
}

impl<'a> Inventory<'a> {
    /// Returns what the claims of `cluster` hold.
    pub fn of(cluster: &'a Cluster) -> Self {
        let mut held: HashMap<DeviceId, Vec<Holder<'a>>> = HashMap::new();
        for claim in cluster.claims() {
            for result in claim.results() {
                held.entry(result.id())
                    .or_default()
                    .push(Holder { claim, result });
            }
        }
        Self {
            cluster,
            held,
            consumable_capacity: Features::of(cluster.environment()).consumable_capacity,
            facts: OnceLock::new(),
            gap: cluster.gap(Kind::ResourceClaim, ""),
        }
    }

    /// Returns what keeps the holders from being known.
    pub fn gap(&self) -> Option<&'a Gap> {
        self.gap
    }

    /// The cluster.
    pub fn cluster(&self) -> &'a Cluster {
        self.cluster
    }

    /// Returns who has the device: by namespace and name of the claim, once for each share.
    pub fn holders(&self, device: &DeviceId) -> &[Holder<'a>] {
        self.held.get(device).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the device counts as allocated for counters. Mirrors `allocatedstate.go`, `IsDeviceAllocated`, v1.37.2.
    pub fn is_allocated(&self, device: &DeviceId) -> bool {
        self.holders(device).iter().any(Holder::takes)
    }

    /// The state of the device. One holder without a share has all of it, whatever the others have.
    pub fn state(&self, device: &DeviceId) -> DeviceState {
        let mut takers = self
            .holders(device)
            .iter()
            .filter(|holder| holder.takes())
            .peekable();
        if takers.peek().is_none() {
            // A slice that could not be read may be of a newer generation, which takes the device away.
            let pools_are_known = self.cluster.gap(Kind::ResourceSlice, "").is_none();
            return if self.gap.is_some() || !pools_are_known {
                DeviceState::Unknown
            } else {
                DeviceState::Free
            };
        }
        if takers.any(|holder| holder.result.takes_all(self.consumable_capacity)) {
            DeviceState::Allocated
        } else {
            DeviceState::Shared
        }
    }

    /// Returns what is left of `total`, which the device has of the capacity `name`. A holder without a share takes all of it.
    pub fn capacity_left(&self, device: &DeviceId, name: &Str, total: &Quantity) -> Quantity {
        let mut left = total.clone();
        for holder in self.holders(device).iter().filter(|holder| holder.takes()) {
            if holder.result.takes_all(self.consumable_capacity) {
                left.sub(total);
            } else if let Some(amount) = lookup(&holder.result.consumed_capacity, name) {
                left.sub(amount);
            }
        }
        left
    }

    /// Devices that claims hold and no slice of the newest generation publishes, in order.
    pub fn unpublished(&self) -> Vec<DeviceId> {
        let mut rest: Vec<&DeviceId> = self.held.keys().collect();
        rest.sort();
        // Sorted by pool, so each pool is looked up once.
        let mut missing = Vec::new();
        for of_pool in rest.chunk_by(|a, b| (&a.driver, &a.pool) == (&b.driver, &b.pool)) {
            let pool = of_pool.first().and_then(|id| self.cluster.pool(&id.pool_id()));
            let published: std::collections::HashSet<&Str> = pool
                .iter()
                .flat_map(Pool::devices)
                .map(|(_, device)| &device.name)
                .collect();
            let unknown = of_pool.iter().filter(|id| !published.contains(&id.device));
            missing.extend(unknown.map(|id| (*id).clone()));
        }
        missing
    }

    /// Returns what is left of the pool's shared counters.
    pub fn counters(&self, pool: &Pool<'_>) -> PoolCounters {
        PoolCounters::of(pool, |device| self.is_allocated(device))
    }

    /// Returns why the scheduler does not allocate the device of `pool` to a request for any one device, if no claim holds it: every reason,
    /// in order.
    pub fn unavailable(
        &self,
        pool: &PoolFacts,
        id: &DeviceId,
        (slice, device): (&Slice, &Device),
    ) -> Vec<Unavailable> {
        if self.is_allocated(id) {
            return Vec::new();
        }
        let node = slice.spec.node_name.as_ref();
        if node.is_some_and(|node| self.is_missing(node)) {
            return vec![Unavailable::NodeMissing];
        }
        let of_node = node.and_then(|node| pool.parts.get(node));
        let reasons = match of_node.or(pool.view.as_ref()) {
            Some(view) => self.rules_out(view, pool.is_complete, slice, device),
            None => vec![Unavailable::SliceIgnored],
        };
        // Slices that contradict each other may reach different nodes, which then see no contradiction.
        let is_free = |(view, nodes): &(Arc<PoolView>, Vec<Arc<Node>>)| {
            let reach = Nodes::of_device(slice, device);
            self.rules_out(view, pool.is_complete, slice, device).is_empty()
                && nodes.iter().any(|node| reach.include(&node.metadata) == Ok(true))
        };
        if pool.others.iter().any(is_free) {
            return Vec::new();
        }
        reasons
    }

    /// Returns whether there is no such node, where nodes were read.
    fn is_missing(&self, node: &Str) -> bool {
        self.cluster.node(node).is_none()
            && self.cluster.nodes().next().is_some()
            && self.cluster.gap(Kind::Node, "").is_none()
    }

    /// Returns why the scheduler does not allocate the device on the nodes that see the pool so.
    fn rules_out(
        &self,
        view: &PoolView,
        is_complete: bool,
        slice: &Slice,
        device: &Device,
    ) -> Vec<Unavailable> {
        match view.status {
            PoolStatus::Usable => {}
            // All slices are there, but the scheduler does not count each.
            PoolStatus::Incomplete if is_complete => return vec![Unavailable::SliceIgnored],
            PoolStatus::Incomplete => return vec![Unavailable::PoolIncomplete],
            PoolStatus::Invalid(_) => return vec![Unavailable::PoolInvalid],
        }
        let Some(number) = view.find(slice, device) else {
            return vec![Unavailable::SliceIgnored];
        };
        let features = self.facts().features;
        view.rules_out(number, features)
            .filter_map(Unavailable::of)
            .collect()
    }

    /// Returns the common facts about all devices of `pool`.
    pub fn pool_facts(&self, pool: &Pool<'_>) -> PoolFacts {
        let facts = self.facts();
        let view = facts.pool(&pool.id);
        let is_usable = view
            .as_ref()
            .is_some_and(|view| view.status == PoolStatus::Usable);
        let mut parts = BTreeMap::new();
        if !is_usable {
            let of_nodes = pool.parts();
            let nodes = of_nodes.iter().filter_map(|part| match of_nodes.len() {
                1 => None,
                _ => part.slices.first()?.spec.node_name.as_ref(),
            });
            parts.extend(nodes.filter_map(|node| Some((node.clone(), facts.own_part(&pool.id, node)?))));
        }
        PoolFacts {
            counters: self.counters(pool),
            is_complete: pool.is_complete(),
            others: if is_usable || !parts.is_empty() {
                Vec::new()
            } else {
                facts.views_of_pool(&pool.id)
            },
            parts,
            view,
        }
    }

    fn facts(&self) -> &Facts {
        self.facts
            .get_or_init(|| Facts::new(self.cluster, Features::of(self.cluster.environment())))
    }
}

/// Common facts about all devices of a pool.
#[derive(Clone, Debug)]
pub struct PoolFacts {
    /// Its counters.
    pub counters: PoolCounters,
    is_complete: bool,
    /// Views of nodes that see only a part, if the whole is unusable.
    others: Vec<(Arc<PoolView>, Vec<Arc<Node>>)>,
    /// Views of nodes that see their own slices only, if the pool consists of such parts.
    parts: BTreeMap<Str, Arc<PoolView>>,
    /// None where gates hide all of its slices.
    view: Option<Arc<PoolView>>,
}

/// Total and remainder of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterBalance {
    /// Total.
    pub total: Quantity,
    /// Remainder after allocated devices; negative if they exceed the total.
    pub remaining: Quantity,
}

/// The shared counters of a pool, by counter set and name.
#[derive(Clone, Debug, Default)]
pub struct PoolCounters(BTreeMap<(Str, Str), CounterBalance>);

impl PoolCounters {
    /// The counters of `pool`, less what each of its allocated devices consumes: a device counts once, however many hold it, and only
    /// if it is published. None where the pool is invalid, as the scheduler then counts nothing.
    pub fn of(pool: &Pool<'_>, is_allocated: impl Fn(&DeviceId) -> bool) -> Self {
        let slices: Vec<&Slice> = pool.slices.iter().map(|slice| &***slice).collect();
        if slices.iter().all(|slice| slice.spec.shared_counters.is_empty()) {
            return Self::default();
        }
        let is_taken = |device: &Device| is_allocated(&pool.device_id(&device.name));
        let counted = CounterIndex::new(&slices, false)
            .and_then(|index| index.build(std::iter::empty(), slices.iter().copied(), is_taken));
        let Ok(counters) = counted else {
            return Self::default();
        };
        let sets = slices.iter().flat_map(|slice| &slice.spec.shared_counters);
        let totals = sets.flat_map(|set| set.counters.iter().map(|(_, counter)| &counter.value));
        let balances = counters.names.iter().zip(totals).zip(&counters.available);
        let balances = balances.map(|((name, total), available)| {
            let balance = CounterBalance {
                total: total.clone(),
                remaining: Quantity::from_nanos(*available, total.format()),
            };
            (name.clone(), balance)
        });
        Self(balances.collect())
    }

    /// Every counter, by set and name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Str, &CounterBalance)> {
        self.0.iter().map(|((set, name), balance)| (set, name, balance))
    }

    /// The counters that `device` consumes, with what it takes of each.
    pub fn of_device<'s>(
        &'s self,
        device: &'s Device,
    ) -> impl Iterator<Item = (&'s Str, &'s Str, &'s CounterBalance)> {
        device.consumes_counters.iter().flat_map(|consumption| {
            consumption.counters.iter().filter_map(|(name, _)| {
                let key = (consumption.counter_set.clone(), name.clone());
                let balance = self.0.get(&key)?;
                Some((&consumption.counter_set, name, balance))
            })
        })
    }
}

/// Returns whether these results, which all take the device, allocate it more often than it can be: there are as many shares as results
/// if no claim has it as a whole, and no share is allocated twice.
pub fn is_allocated_twice<'r>(takers: impl IntoIterator<Item = &'r AllocatedDevice>) -> bool {
    let mut shares = BTreeSet::new();
    let mut count = 0;
    for taker in takers {
        count += 1;
        shares.extend(&taker.share_id);
    }
    count > 1 && shares.len() < count
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_testing::{World, holding, status};

    fn id(device: &str) -> DeviceId {
        DeviceId {
            driver: "d".into(),
            pool: "node-1".into(),
            device: device.into(),
        }
    }

    fn result(device: &str, more: &Value) -> Value {
        let mut result = json!({"request": "r", "driver": "d", "pool": "node-1", "device": device});
        for (key, value) in more.as_object().unwrap() {
            result[key] = value.clone();
        }
        result
    }

    #[test]
    fn the_state_of_a_device_is_that_of_its_holders() {
        let share = |id: &str| json!({"shareID": id});
        let cluster = World::default()
            .slice("node-1", &json!([{"name": "free"}, {"name": "held"}]))
            .claim("a", &json!({}), &holding(&["held", "twice", "both"], &[]))
            .claim("b", &json!({}), &holding(&["twice"], &[]))
            .claim(
                "c",
                &json!({}),
                &status(
                    &json!([
                        result("looked-at", &json!({"adminAccess": true})),
                        result("held", &json!({"adminAccess": true})),
                        result("shared", &share("1")),
                        result("shared", &share("2")),
                        result("both", &share("3")),
                    ]),
                    &[],
                ),
            )
            .build();
        let inventory = Inventory::of(&cluster);
        for (device, state, holders) in [
            ("free", DeviceState::Free, 0),
            ("looked-at", DeviceState::Free, 1),
            ("held", DeviceState::Allocated, 2),
            ("twice", DeviceState::Allocated, 2),
            ("shared", DeviceState::Shared, 2),
            ("both", DeviceState::Allocated, 2),
        ] {
            assert_eq!(inventory.state(&id(device)), state, "{device}");
            assert_eq!(inventory.holders(&id(device)).len(), holders, "{device}");
        }
        let names: Vec<_> = inventory
            .unpublished()
            .iter()
            .map(|id| id.device.to_string())
            .collect();
        assert_eq!(names, ["both", "looked-at", "shared", "twice"]);
    }

    #[test]
    fn a_device_of_a_node_that_is_gone_cannot_be_allocated() {
        let unavailable = |world: World| {
            let cluster = world.slice("node-1", &json!([{"name": "a"}])).build();
            let inventory = Inventory::of(&cluster);
            let pool = cluster.pool(&id("a").pool_id()).unwrap();
            let facts = inventory.pool_facts(&pool);
            let (slice, device) = pool.devices().next().unwrap();
            inventory.unavailable(&facts, &id("a"), (slice, device))
        };
        let node = |name: &str| World::default().with(Kind::Node, &json!({"metadata": {"name": name}}));
        assert_eq!(unavailable(node("node-1")), []);
        assert_eq!(unavailable(node("node-2")), [Unavailable::NodeMissing]);
        // Nodes that were not read may be there.
        assert_eq!(unavailable(node("node-2").without(Kind::Node)), []);
        assert_eq!(unavailable(World::default()), []);
    }

    #[test]
    fn without_all_claims_only_holding_is_certain() {
        let cluster = World::default()
            .claim("a", &json!({}), &holding(&["held"], &[]))
            .without(Kind::ResourceClaim)
            .build();
        let inventory = Inventory::of(&cluster);
        assert_eq!(inventory.state(&id("held")), DeviceState::Allocated);
        assert_eq!(inventory.state(&id("other")), DeviceState::Unknown);
    }

    /// A pool with two counter sets and devices that consume the first one.
    fn partitioned(held: &[&str]) -> Cluster {
        let consumes = |set: &str, counter: &str, amount: &str| json!([{"counterSet": set, "counters": {counter: {"value": amount}}}]);
        let pool = json!({"name": "node-1", "generation": 1, "resourceSliceCount": 2});
        World::default()
            .slice_with(
                "counters",
                &json!({
                    "nodeName": "node-1",
                    "pool": pool,
                    "sharedCounters": [
                        {"name": "s", "counters": {"memory": {"value": "80Gi"}}},
                        {"name": "t", "counters": {"slots": {"value": "2"}}}],
                }),
            )
            .slice_with(
                "node-1",
                &json!({
                    "nodeName": "node-1",
                    "pool": pool,
                    "devices": [
                        {"name": "whole", "consumesCounters": consumes("s", "memory", "80Gi")},
                        {"name": "half", "consumesCounters": consumes("s", "memory", "40Gi")},
                        {"name": "most", "consumesCounters": consumes("s", "memory", "60Gi")},
                        {"name": "other", "consumesCounters": consumes("t", "slots", "1")},
                        {"name": "plain"}],
                }),
            )
            .claim("a", &json!({}), &holding(held, &[]))
            // Admin access takes nothing.
            .claim(
                "b",
                &json!({}),
                &status(&json!([result("whole", &json!({"adminAccess": true}))]), &[]),
            )
            .build()
    }

    fn exhausted(held: &[&str]) -> (String, Vec<String>) {
        let cluster = partitioned(held);
        let inventory = Inventory::of(&cluster);
        let pool = cluster.pools().next().unwrap();
        let facts = inventory.pool_facts(&pool);
        let balances: Vec<_> = facts
            .counters
            .iter()
            .map(|(set, name, balance)| format!("{set}/{name}={}/{}", balance.remaining, balance.total))
            .collect();
        let refused = pool
            .devices()
            .filter(|(slice, device)| {
                let id = pool.device_id(&device.name);
                inventory.unavailable(&facts, &id, (slice, device)) == [Unavailable::CountersExhausted]
            })
            .map(|(_, device)| device.name.to_string())
            .collect();
        (balances.join(" "), refused)
    }

    #[test]
    fn allocated_devices_use_up_counters_as_upstream_counts() {
        assert_eq!(
            exhausted(&[]),
            ("s/memory=80Gi/80Gi t/slots=2/2".to_owned(), vec![])
        );
        assert_eq!(
            exhausted(&["half"]),
            (
                "s/memory=40Gi/80Gi t/slots=2/2".to_owned(),
                vec!["whole".to_owned(), "most".to_owned()]
            )
        );
        // An overdrawn counter blocks whatever consumes counters of the pool, of another set too.
        assert_eq!(
            exhausted(&["half", "most"]),
            (
                "s/memory=-20Gi/80Gi t/slots=2/2".to_owned(),
                vec!["whole".to_owned(), "other".to_owned()]
            )
        );
    }

    #[test]
    fn pools_that_are_not_whole_keep_their_devices_back() {
        let pool = |count: u32, devices: &Value| {
            World::default()
                .slice_with(
                    "node-1",
                    &json!({
                        "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": count},
                        "devices": devices,
                    }),
                )
                .build()
        };
        for (cluster, expected) in [
            (pool(1, &json!([{"name": "x"}])), vec![]),
            (
                pool(2, &json!([{"name": "x"}])),
                vec![Unavailable::PoolIncomplete],
            ),
            (
                pool(1, &json!([{"name": "x"}, {"name": "y"}, {"name": "y"}])),
                vec![Unavailable::PoolInvalid],
            ),
        ] {
            let inventory = Inventory::of(&cluster);
            let pool = cluster.pools().next().unwrap();
            let facts = inventory.pool_facts(&pool);
            let (slice, device) = pool.device("x").unwrap();
            assert_eq!(inventory.unavailable(&facts, &id("x"), (slice, device)), expected);
        }
    }
}
