//! `kubectl dra devices`: every device with its holders, what is left of it, its taints and its health.

use serde::Serialize;

use super::claim_filter::names_device;
use super::nodes::{node_of, reaches};
use super::{
    CapacityItem, ClaimNode, ClassError, CounterItem, DeviceItem, DeviceNode, DeviceState, DeviceTaintItem,
    HealthIndex, HolderItem, Inventory, PoolFacts, Selectors, Warnings, input,
};
use crate::cel::Program;
use crate::eviction::Taints;
use crate::model::{Cluster, Device, DeviceId, Kind, Meta, Pool, PoolId, Quantity, Slice, Str};

/// The report.
#[derive(Debug, Serialize)]
pub struct DeviceList {
    /// By driver and pool; in a pool in the order in which the scheduler tries them, then those that are only held.
    pub items: Vec<DeviceItem>,
    /// What could not be found out.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Which devices to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct DeviceFilter {
    /// These: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`; empty means all.
    pub names: Vec<String>,
    /// Of this pool.
    pub pool: Option<PoolId>,
    /// Of this class.
    pub class: Option<Str>,
    /// That can be given out.
    pub free: bool,
    /// With a taint.
    pub tainted: bool,
    /// That this node reaches.
    pub node: Option<Str>,
    /// That a claim of this namespace holds.
    pub namespace: Option<Str>,
}

/// Kinds that the report is made from.
pub const DEVICES_NEEDS: [Kind; 5] = [
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::DeviceTaintRule,
    Kind::Pod,
];

/// The devices of `cluster` that pass `filter` and that the expression `selects` matches.
///
/// The expression is asked last, as it is the most expensive. With it a device that is not published, of which nothing is known, is
/// not listed.
pub fn devices(
    cluster: &Cluster,
    filter: &DeviceFilter,
    selectors: &Selectors,
    selects: Option<&Program>,
) -> DeviceList {
    let mut listing = Listing::new(cluster, filter);
    let mut items = Vec::new();
    let unpublished = if selects.is_some() {
        Vec::new()
    } else {
        listing.inventory.unpublished()
    };
    let mut unpublished = unpublished.into_iter().peekable();
    for pool in cluster.pools() {
        // Those of pools that nobody publishes any more come where their pool would.
        while let Some(id) = unpublished.next_if(|id| id.pool_id() < pool.id) {
            items.extend(listing.unpublished(id));
        }
        let facts = listing.inventory.pool_facts(&pool);
        for (slice, device) in pool.devices() {
            items.extend(listing.published(&pool, &facts, (slice, device), selectors, selects));
        }
        while let Some(id) = unpublished.next_if(|id| id.pool_id() == pool.id) {
            items.extend(listing.unpublished(id));
        }
    }
    for id in unpublished {
        items.extend(listing.unpublished(id));
    }
    if let Some((device, why, count)) = &listing.failures {
        listing.warnings.add(format!(
            "the selector cannot be evaluated on {count} of the devices, which are left out; on {device}: {why}"
        ));
    }
    DeviceList {
        items,
        warnings: listing.warnings,
    }
}

/// A listing in the making.
struct Listing<'a> {
    filter: &'a DeviceFilter,
    inventory: Inventory<'a>,
    taints: Taints<'a>,
    health: HealthIndex<'a>,
    /// The node that is filtered by; only its name where it is not known.
    node: Option<Meta>,
    /// The first device on which the user's expression fails, why, and on how many it does.
    failures: Option<(DeviceId, String, usize)>,
    warnings: Warnings,
}

impl<'a> Listing<'a> {
    fn new(cluster: &'a Cluster, filter: &'a DeviceFilter) -> Self {
        let inventory = Inventory::of(cluster);
        let health = HealthIndex::of(cluster);
        let mut warnings = Warnings::default();
        if let Some(gap) = cluster.gap(Kind::ResourceSlice, "") {
            warnings.unknown("only devices in use are listed", gap);
        }
        if let Some(gap) = inventory.gap() {
            warnings.unknown("whether a device is free is unknown", gap);
        }
        if let Some(gap) = health.gap() {
            warnings.unknown(
                "pods that use a device, and the health they report, are unknown",
                gap,
            );
        }
        if let Some(gap) = cluster.gap(Kind::DeviceTaintRule, "") {
            warnings.unknown("taints of rules are unknown", gap);
        }
        if let Some(gap) = cluster.gap(Kind::DeviceClass, "") {
            warnings.unknown("classes of devices are unknown", gap);
        }
        let node = filter.node.as_ref().map(|name| {
            cluster.node(name).map_or_else(
                || Meta {
                    name: name.clone(),
                    ..Meta::default()
                },
                |node| node.metadata.clone(),
            )
        });
        Self {
            filter,
            inventory,
            taints: Taints::of(cluster),
            health,
            node,
            failures: None,
            warnings,
        }
    }

    fn is_named(&self, id: &DeviceId) -> bool {
        let is_of = |pool: &PoolId| (&pool.driver, &pool.pool) == (&id.driver, &id.pool);
        if !self.filter.pool.as_ref().is_none_or(is_of) {
            return false;
        }
        self.filter.names.is_empty() || self.filter.names.iter().any(|name| names_device(name, id))
    }

    fn published(
        &mut self,
        pool: &Pool<'_>,
        facts: &PoolFacts,
        (slice, device): (&Slice, &Device),
        selectors: &Selectors,
        selects: Option<&Program>,
    ) -> Option<DeviceItem> {
        let id = pool.device_id(&device.name);
        if !self.is_named(&id)
            || self
                .node
                .as_ref()
                .is_some_and(|node| !reaches(node, slice, device))
        {
            return None;
        }
        let unavailable = self.inventory.unavailable(facts, &id, device);
        if self.filter.free && (self.inventory.state(&id) != DeviceState::Free || !unavailable.is_empty()) {
            return None;
        }
        let seen = input(slice, device);
        let found = selectors.classes(&seen);
        if self
            .filter
            .class
            .as_ref()
            .is_some_and(|class| !found.names.contains(class))
        {
            return None;
        }
        let mut item = self.item(id)?;
        if let Some(selects) = selects {
            match selects.evaluate(&seen).result {
                Ok(true) => {}
                Ok(false) => return None,
                Err(why) => {
                    self.failures
                        .get_or_insert_with(|| (item.id(), why.to_string(), 0))
                        .2 += 1;
                    return None;
                }
            }
        }
        let (node, nodes) = node_of(slice, device);
        item.node = node;
        item.nodes = nodes;
        item.classes = found.names;
        item.class_errors = found
            .errors
            .into_iter()
            .map(|(class, error)| ClassError { class, error })
            .collect();
        item.unavailable = unavailable;
        item.published = true;
        item.capacity = self.capacity(&item, device);
        item.counters = facts
            .counters
            .of_device(device)
            .map(|(set, name, balance)| CounterItem::of(set, name, balance))
            .collect();
        Some(item)
    }

    /// A device that is only known from the claims that hold it.
    fn unpublished(&mut self, id: DeviceId) -> Option<DeviceItem> {
        let holders = self.inventory.holders(&id);
        let node = holders
            .first()
            .and_then(|holder| match ClaimNode::of(holder.claim) {
                ClaimNode::One(name) => Some(name.clone()),
                _ => None,
            });
        let elsewhere = self
            .node
            .as_ref()
            .is_some_and(|wanted| node.as_ref() != Some(&wanted.name));
        if !self.is_named(&id) || elsewhere || self.filter.class.is_some() || self.filter.free {
            return None;
        }
        let mut item = self.item(id)?;
        item.nodes = if node.is_some() {
            DeviceNode::One
        } else {
            DeviceNode::Unknown
        };
        item.node = node;
        Some(item)
    }

    /// What is known of a device whether it is published or not.
    fn item(&mut self, id: DeviceId) -> Option<DeviceItem> {
        let taints: Vec<_> = self
            .taints
            .of_device(&id)
            .map(|tainted| DeviceTaintItem::of(&tainted))
            .collect();
        if self.filter.tainted && taints.is_empty() {
            return None;
        }
        let holders = self.inventory.holders(&id);
        let is_held = |namespace: &Str| {
            holders
                .iter()
                .any(|holder| holder.claim.metadata.namespace == *namespace)
        };
        if !self.filter.namespace.as_ref().is_none_or(is_held) {
            return None;
        }
        let state = self.inventory.state(&id);
        let claims = self
            .inventory
            .holders(&id)
            .iter()
            .map(|holder| HolderItem::of(self.inventory.cluster(), holder))
            .collect();
        let health = self.health.health(&self.inventory, &id);
        let health_reports = self.health.reports(&id).to_vec();
        let DeviceId { driver, pool, device } = id;
        Some(DeviceItem {
            driver,
            pool,
            device,
            node: None,
            nodes: DeviceNode::Unknown,
            classes: Vec::new(),
            class_errors: Vec::new(),
            state,
            unavailable: Vec::new(),
            published: false,
            claims,
            taints,
            health,
            health_reports,
            capacity: Vec::new(),
            counters: Vec::new(),
        })
    }

    /// The capacities of the device with what its shares leave. Somebody who holds all of it leaves nothing.
    fn capacity(&self, item: &DeviceItem, device: &Device) -> Vec<(Str, CapacityItem)> {
        let holders = self.inventory.holders(&item.id());
        let left = |name: &Str, total: &Quantity| {
            if !device.allow_multiple_allocations {
                return None;
            }
            let mut left = total.clone();
            for holder in holders.iter().filter(|holder| holder.takes()) {
                if holder.result.share_id.is_none() {
                    left.sub(total);
                    continue;
                }
                let consumed = &holder.result.consumed_capacity;
                if let Some((_, amount)) = consumed.iter().find(|(known, _)| known == name) {
                    left.sub(amount);
                }
            }
            Some(left)
        };
        device
            .capacity
            .iter()
            .map(|(name, capacity)| {
                let item = CapacityItem {
                    total: capacity.value.clone(),
                    remaining: left(name, &capacity.value),
                };
                (name.clone(), item)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Health;
    use super::super::testing::{World, holding, json_of, status, texts};
    use super::*;

    fn list(cluster: &Cluster, filter: &DeviceFilter) -> DeviceList {
        devices(cluster, filter, &Selectors::of(cluster), None)
    }

    fn names(list: &DeviceList) -> Vec<String> {
        list.items.iter().map(|item| item.id().to_string()).collect()
    }

    #[test]
    fn an_item_has_the_promised_fields() {
        let cluster = World::default()
            .class("d")
            .class_with("odd", &json!([{}]))
            .slice(
                "node-1",
                &json!([{"name": "g0", "taints": [{"key": "k", "value": "v", "effect": "NoSchedule",
                                                   "timeAdded": "2026-11-21T11:00:00Z"}],
                         "capacity": {"memory": {"value": "80Gi"}}}]),
            )
            .rule("drain", &json!({}), "NoExecute")
            .claim("c", &json!({}), &holding(&["g0"], &["p"]))
            .pod("p", &["c"])
            .build();
        assert_eq!(
            json_of(&list(&cluster, &DeviceFilter::default())),
            json!({"items": [{
                "driver": "d", "pool": "node-1", "device": "g0", "node": "node-1",
                "classes": ["d"], "classErrors": [{"class": "odd", "error": "selector #0: no CEL expression"}],
                "state": "Allocated", "published": true,
                "claims": [{"namespace": "n", "name": "c", "uid": "c-uid", "request": "r",
                            "pods": [{"name": "p", "uid": "p-uid"}]}],
                "taints": [{"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-11-21T11:00:00Z"},
                           {"key": "drain", "effect": "NoExecute", "timeAdded": "2026-11-21T11:30:00Z",
                            "rule": "drain"}],
                "capacity": {"memory": {"total": "80Gi"}},
            }]})
        );
    }

    #[test]
    fn shares_leave_what_they_do_not_take() {
        let share = |id: &str, amount: &str| {
            json!({"request": "r", "driver": "d", "pool": "node-1", "device": "x", "shareID": id,
                   "consumedCapacity": {"bandwidth": amount}})
        };
        let world = |results: &Value| {
            World::default()
                .slice(
                    "node-1",
                    &json!([{"name": "x", "allowMultipleAllocations": true,
                             "capacity": {"bandwidth": {"value": "10G"}, "vfs": {"value": "4"}}}]),
                )
                .claim("c", &json!({}), &status(results, &[]))
                .build()
        };
        let capacity = |results: &Value| {
            let list = list(&world(results), &DeviceFilter::default());
            (list.items[0].state, json_of(&list.items[0].capacity))
        };
        let of = |bandwidth: &str, vfs: &str| json!([["bandwidth", {"total": "10G", "remaining": bandwidth}], ["vfs", {"total": "4", "remaining": vfs}]]);
        assert_eq!(capacity(&json!([])), (DeviceState::Free, of("10G", "4")));
        assert_eq!(
            capacity(&json!([share("1", "3G"), share("2", "2500M")])),
            (DeviceState::Shared, of("4500M", "4"))
        );
        // A holder without a share has everything.
        let whole = json!([{"request": "r", "driver": "d", "pool": "node-1", "device": "x"}]);
        assert_eq!(capacity(&whole), (DeviceState::Allocated, of("0", "0")));
    }

    #[test]
    fn devices_come_by_pool_and_place_and_held_ones_are_never_lost() {
        let held = |pool: &str, device: &str| {
            status(
                &json!([{"request": "r", "driver": "d", "pool": pool, "device": device}]),
                &[],
            )
        };
        let cluster = World::default()
            .slice("b", &json!([{"name": "g2"}, {"name": "g10"}, {"name": "g1"}]))
            .slice("d", &json!([{"name": "g0"}]))
            .claim("1", &json!({}), &held("a", "old"))
            .claim("2", &json!({}), &held("b", "g0"))
            .claim("3", &json!({}), &held("c", "old"))
            .claim("4", &json!({}), &held("e", "old"))
            .build();
        let report = list(&cluster, &DeviceFilter::default());
        assert_eq!(
            names(&report),
            [
                "d/a/old", "d/b/g2", "d/b/g10", "d/b/g1", "d/b/g0", "d/c/old", "d/d/g0", "d/e/old"
            ]
        );
        let unpublished: Vec<_> = report
            .items
            .iter()
            .filter(|item| !item.published)
            .map(|item| {
                (
                    item.device.as_str(),
                    item.node.as_ref().map(Str::as_str),
                    item.state,
                )
            })
            .collect();
        let allocated = DeviceState::Allocated;
        assert_eq!(
            unpublished,
            [
                ("old", Some("node-1"), allocated),
                ("g0", Some("node-1"), allocated),
                ("old", Some("node-1"), allocated),
                ("old", Some("node-1"), allocated),
            ]
        );
    }

    fn of_kind(name: &str) -> Value {
        json!({"name": name, "attributes": {"kind": {"string": "g"}}})
    }

    #[test]
    fn devices_are_chosen_by_name_class_state_taint_and_node() {
        let zone = json!({"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["a"]}]}]});
        let cluster = World::default()
            .class("d")
            .class_with(
                "g",
                &json!([{"cel": {"expression": "device.attributes['d'].kind == 'g'"}}]),
            )
            .slice(
                "node-1",
                &json!([of_kind("g0"), of_kind("g1"), {"name": "h0", "attributes": {"kind": {"int": 1}}}]),
            )
            .slice_with(
                "fabric",
                &json!({"nodeSelector": zone, "devices": [{"name": "g0"}]}),
            )
            .slice_with("open", &json!({"allNodes": true, "devices": [{"name": "g0"}]}))
            .slice_with(
                "mixed",
                &json!({"perDeviceNodeSelection": true, "devices": [
                    {"name": "h0", "nodeName": "node-2"}, {"name": "h1", "allNodes": true}, {"name": "h2"}]}),
            )
            .rule("drain", &json!({"pool": "node-1", "device": "g1"}), "NoExecute")
            .claim("c", &json!({}), &holding(&["g0", "gone"], &[]))
            .node("node-1", &json!({"zone": "a"}))
            .node("node-2", &json!({}))
            .build();
        let base = DeviceFilter::default;
        for (filter, expected) in [
            (
                DeviceFilter {
                    names: vec!["g1".to_owned(), "d/open/g0".to_owned(), "node-1/gone".to_owned()],
                    ..base()
                },
                vec!["d/node-1/g1", "d/node-1/gone", "d/open/g0"],
            ),
            (
                DeviceFilter {
                    class: Some("g".into()),
                    ..base()
                },
                vec!["d/node-1/g0", "d/node-1/g1"],
            ),
            (
                DeviceFilter {
                    free: true,
                    node: Some("node-1".into()),
                    ..base()
                },
                vec![
                    "d/fabric/g0",
                    "d/mixed/h1",
                    "d/node-1/g1",
                    "d/node-1/h0",
                    "d/open/g0",
                ],
            ),
            (
                DeviceFilter {
                    node: Some("node-2".into()),
                    ..base()
                },
                vec!["d/mixed/h0", "d/mixed/h1", "d/open/g0"],
            ),
            (
                DeviceFilter {
                    tainted: true,
                    ..base()
                },
                vec!["d/node-1/g1"],
            ),
        ] {
            assert_eq!(names(&list(&cluster, &filter)), expected, "{filter:?}");
        }
        let nodes: Vec<_> = list(&cluster, &base())
            .items
            .iter()
            .map(|item| (item.pool.to_string(), item.nodes))
            .collect();
        assert_eq!(
            nodes,
            [
                ("fabric".to_owned(), DeviceNode::Several),
                ("mixed".to_owned(), DeviceNode::One),
                ("mixed".to_owned(), DeviceNode::Any),
                ("mixed".to_owned(), DeviceNode::Unknown),
                ("node-1".to_owned(), DeviceNode::One),
                ("node-1".to_owned(), DeviceNode::One),
                ("node-1".to_owned(), DeviceNode::One),
                ("node-1".to_owned(), DeviceNode::One),
                ("open".to_owned(), DeviceNode::Any),
            ]
        );
        let selectors = Selectors::of(&cluster);
        let expression = selectors.compile("device.attributes['d'].kind == 'g'").unwrap();
        let chosen = devices(&cluster, &base(), &selectors, Some(&expression));
        assert_eq!(names(&chosen), ["d/node-1/g0", "d/node-1/g1"]);
        assert_eq!(
            texts(&chosen.warnings),
            [
                "the selector cannot be evaluated on 5 of the devices, which are left out; on d/fabric/g0: no such key: kind"
            ]
        );
    }

    #[test]
    fn what_could_not_be_read_is_unknown() {
        let world = || {
            World::default()
                .slice("node-1", &json!([{"name": "g0"}, {"name": "g1"}]))
                .claim("c", &json!({}), &holding(&["g0"], &["p"]))
        };
        let no_pods = list(&world().without(Kind::Pod).build(), &DeviceFilter::default());
        assert_eq!(no_pods.items[0].claims[0].pods, None);
        assert_eq!(no_pods.items[0].health, Some(Health::Unknown));
        assert_eq!(no_pods.items[1].health, None);
        let no_claims = list(
            &world().without(Kind::ResourceClaim).build(),
            &DeviceFilter::default(),
        );
        let states: Vec<_> = no_claims.items.iter().map(|item| item.state).collect();
        assert_eq!(states, [DeviceState::Allocated, DeviceState::Unknown]);
        assert_eq!(
            texts(&no_claims.warnings),
            ["whether a device is free is unknown: resourceclaims could not be read: forbidden"]
        );
        let free = DeviceFilter {
            free: true,
            ..DeviceFilter::default()
        };
        let unsure = list(&world().without(Kind::ResourceClaim).build(), &free);
        assert!(unsure.items.is_empty());
    }
}
