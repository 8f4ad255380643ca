//! What drivers publish: pools that are incomplete or contradict themselves, and nodes that fell out.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Subject, counted, scoped_key, some};
use super::{Code, Finding, Look};
use crate::devices::pool_fault;
use crate::model::{Cluster, Component, Gate, Kind, Pool, Slice, Str};
use crate::script::{Command, delete, describe_pool, field_selector};

/// The label by which nodes are peers: machines of one type have the same devices.
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let codes = [
        Code::PoolIncomplete,
        Code::PoolOutdated,
        Code::PoolInvalid,
        Code::DeviceDuplicate,
    ];
    if look.wants_any(&codes) {
        for pool in cluster.pools() {
            of_pool(look, &pool);
        }
    }
    if look.is_hidden(Kind::Node, "") || look.is_hidden(Kind::ResourceSlice, "") {
        return;
    }
    if look.wants(Code::NodeMissing) {
        for slice in cluster.slices() {
            node_is_missing(look, slice);
        }
    }
    if look.wants(Code::NodeWithoutSlices) {
        nodes_without_slices(look);
    }
}

fn of_pool(look: &mut Look<'_>, pool: &Pool<'_>) {
    let about = || Subject::pool(&pool.id);
    let describe = || describe_pool(&pool.id);
    let there = pool.slices.len();
    // A slice that could not be read may be the one that is missing.
    let all_are_known = !look.is_hidden(Kind::ResourceSlice, "");
    if all_are_known && !pool.is_complete() {
        let message = format!(
            "has {} of generation {} instead of {}: the scheduler allocates none of its devices, and ends requests for all devices with \
             an error. The driver is publishing it, or has stopped in between",
            counted(there, "slice", "slices"),
            pool.generation,
            pool.expected_slices,
        );
        look.add(
            Finding::new(Code::PoolIncomplete, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
    if !pool.outdated.is_empty() {
        let names: Vec<&str> = pool
            .outdated
            .iter()
            .map(|slice| slice.metadata.name.as_str())
            .collect();
        let message = format!(
            "has {} of generations before {}: {}. The scheduler does not look at {}; the driver should have deleted {}",
            counted(names.len(), "slice", "slices"),
            pool.generation,
            some(&names),
            if names.len() == 1 { "it" } else { "them" },
            if names.len() == 1 { "it" } else { "them" },
        );
        look.add(Finding::new(Code::PoolOutdated, about(), message).fix(delete(Kind::ResourceSlice, names)));
    }
    let counts: BTreeSet<i64> = pool
        .slices
        .iter()
        .map(|slice| slice.spec.pool.resource_slice_count)
        .collect();
    if counts.len() > 1 {
        let message = format!(
            "its slices disagree about how many there are: {}. Which one counts depends on the node",
            counts.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
        );
        look.add(
            Finding::new(Code::PoolInvalid, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
    let environment = look.cluster.environment();
    if all_are_known
        && environment.enabled(Component::Scheduler, Gate::DRAPartitionableDevices)
        && let Some(fault) = pool_fault(pool.slices.iter().map(|slice| &***slice))
    {
        let message = format!("is invalid, and the scheduler allocates none of its devices: {fault}");
        look.add(
            Finding::new(Code::PoolInvalid, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
    let duplicates = pool.duplicate_devices();
    if !duplicates.is_empty() {
        let message = format!(
            "has more than one device of the name {}: where a node reaches several of one name, the scheduler allocates no device of the pool",
            some(duplicates)
        );
        look.add(
            Finding::new(Code::DeviceDuplicate, about(), message)
                .advice(driver_publishes(pool))
                .look(describe()),
        );
    }
}

/// What slices say is the driver's to say.
fn driver_publishes(pool: &Pool<'_>) -> String {
    format!(
        "whoever runs the driver {} has it publish the pool again: look at the logs of its pods",
        pool.id.driver
    )
}

/// The nodes that a slice names, for itself or for its devices.
fn named_nodes(slice: &Slice) -> BTreeSet<&Str> {
    let of_devices = slice
        .spec
        .devices
        .iter()
        .filter(|_| slice.spec.per_device_node_selection)
        .filter_map(|device| device.node_name.as_ref());
    slice
        .spec
        .node_name
        .iter()
        .chain(of_devices)
        .filter(|name| !name.is_empty())
        .collect()
}

fn node_is_missing(look: &mut Look<'_>, slice: &Slice) {
    let gone: Vec<&Str> = named_nodes(slice)
        .into_iter()
        .filter(|name| look.cluster.node(name).is_none())
        .collect();
    if gone.is_empty() {
        return;
    }
    let message = format!(
        "publishes {} of {} for {}, which {} not exist",
        counted(slice.spec.devices.len(), "device", "devices"),
        slice.spec.driver,
        some(gone.iter().map(|name| format!("node/{name}"))),
        if gone.len() == 1 { "does" } else { "do" },
    );
    let nodes: Vec<_> = gone.iter().map(|name| scoped_key(Kind::Node, name)).collect();
    look.add(
        Finding::new(
            Code::NodeMissing,
            Subject::of(Kind::ResourceSlice, &slice.metadata),
            message,
        )
        .fix(delete(Kind::ResourceSlice, [&slice.metadata.name]))
        .joins(nodes)
        .joins([scoped_key(Kind::ResourceSlice, &slice.metadata.name)]),
    );
}

/// Nodes of an instance type of which at least half, and at least two, have slices of a driver that they lack.
fn nodes_without_slices(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let served = drivers_of_nodes(cluster);
    let mut types: BTreeMap<&Str, Vec<&Str>> = BTreeMap::new();
    for node in cluster.nodes() {
        if let Some(type_) = node.metadata.label(INSTANCE_TYPE) {
            types.entry(type_).or_default().push(&node.metadata.name);
        }
    }
    let mut found = Vec::new();
    for (type_, nodes) in &types {
        let mut having: BTreeMap<&Str, usize> = BTreeMap::new();
        for driver in nodes.iter().filter_map(|node| served.get(node)).flatten() {
            *having.entry(driver).or_default() += 1;
        }
        for (driver, with) in having {
            if with < 2 || with * 2 < nodes.len() || with == nodes.len() {
                continue;
            }
            let without = nodes
                .iter()
                .filter(|node| !served.get(*node).is_some_and(|drivers| drivers.contains(driver)));
            for node in without {
                let Some(object) = cluster.node(node) else {
                    continue;
                };
                let message = format!(
                    "has no ResourceSlice of {driver}, as {with} of the {} nodes of type {type_} have",
                    nodes.len()
                );
                found.push(
                    Finding::new(
                        Code::NodeWithoutSlices,
                        Subject::of(Kind::Node, &object.metadata),
                        message,
                    )
                    .advice(format!(
                        "whoever runs the driver {driver} finds out why it does not serve the node: is its pod there, and what do its logs say?"
                    ))
                    .look(
                        Command::kubectl("get")
                            .args(&["pods", "-A"])
                            .option("--field-selector", &field_selector("spec.nodeName", node))
                            .done(),
                    )
                    .joins([scoped_key(Kind::Node, node)]),
                );
            }
        }
    }
    for finding in found {
        look.add(finding);
    }
}

/// Drivers that publish something for a node by its name, or by a selector that only it fits.
fn drivers_of_nodes(cluster: &Cluster) -> BTreeMap<&Str, BTreeSet<&Str>> {
    let mut drivers: BTreeMap<&Str, BTreeSet<&Str>> = BTreeMap::new();
    for slice in cluster.slices() {
        let single = slice
            .spec
            .node_selector
            .as_ref()
            .and_then(|selector| selector.single_node());
        for node in named_nodes(slice).into_iter().chain(single) {
            drivers.entry(node).or_default().insert(&slice.spec.driver);
        }
    }
    drivers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::codes_of;
    use crate::devices::testing::World;

    #[test]
    fn peers_are_nodes_of_one_type_of_which_most_have_the_driver() {
        let node =
            |world: World, name: &str, type_: &str| world.node(name, &json!({(super::INSTANCE_TYPE): type_}));
        let world = |nodes: &[(&str, &str)], slices: &[&str]| {
            let world = nodes
                .iter()
                .fold(World::default(), |world, (name, type_)| node(world, name, type_));
            let world = slices
                .iter()
                .fold(world, |world, name| world.slice(name, &json!([{"name": "x"}])));
            codes_of(&world.build())
        };
        let all = [("a", "t"), ("b", "t"), ("c", "t")];
        assert_eq!(world(&all, &["a", "b"]), ["DRA035 node/c"]);
        assert!(world(&all, &["a", "b", "c"]).is_empty());
        // One is no majority, and a node of another type no peer.
        assert!(world(&all, &["a"]).is_empty());
        assert!(world(&[("a", "t"), ("b", "t"), ("c", "u")], &["a", "b"]).is_empty());
    }
}
