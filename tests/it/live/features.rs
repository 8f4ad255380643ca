//! Placements with the features that are off by default, against what the dry run said of the cluster just before.

use serde_json::{Value, json};

use super::placement::case;
use super::placement::{Case, compare_all, own, small, to_node};
use crate::support::cluster::objects::{
    Manifest, claim_spec, class, first_available, matching, request, slice, subrequest, template,
};
use crate::support::cluster::{Cluster, Options};

/// The alpha features of dynamic resource allocation.
pub(super) const ALPHA_GATES: &[&str] = &[
    "DRADerivedAttributes",
    "DRADeviceCompatibilityGroups",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevicesType",
    "DRAResourcePoolStatus",
];

/// Devices with lists: each two neighbors have a root in common.
fn lists(node: &str) -> Value {
    slice(
        "list.example.com",
        node,
        (0..8).map(|number| {
            let roots = [format!("root-{}", number / 2), format!("own-{number}")];
            json!({"name": format!("dev-{number}"), "attributes": {
                "roots": {"strings": roots}, "lanes": {"ints": [number, number + 1]},
                "versions": {"versions": [format!("1.{number}.0")]}, "numa": {"int": number % 2}}})
        }),
    )
}

/// Devices that say with other words where they are, the first of them not beside the second.
fn sockets(node: &str) -> Value {
    slice(
        "socket.example.com",
        node,
        [0, 1, 0, 1].iter().enumerate().map(|(number, socket)| {
            json!({"name": format!("dev-{number}"), "attributes": {"place": {"string": format!("socket-{socket}")}}})
        }),
    )
}

/// Partitions of one device that cannot be mixed as one likes.
fn grouped(node: &str) -> [Value; 2] {
    let pool = json!({"spec": {"pool": {"resourceSliceCount": 2}}});
    let devices = [
        ("time-0", "time", json!(["time"])),
        ("space-0", "space", json!(["space"])),
        ("any-0", "any", json!(["time", "space"])),
        ("none-0", "none", Value::Null),
        ("time-1", "time", json!(["time"])),
    ];
    let devices = devices.map(|(name, mode, groups)| {
        json!({"name": name, "attributes": {"mode": {"string": mode}}, "consumesCounters": [
            {"counterSet": "gpu-0", "counters": {"memory": {"value": "10Gi"}}, "compatibilityGroups": groups}]})
    });
    let counters = json!({"metadata": {"name": format!("{node}-grouped-counters")}, "spec": {"devices": null,
        "sharedCounters": [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]}});
    let of_type = json!({"spec": {"partitionTypeAttribute": "grouped.example.com/mode"}});
    [
        slice("grouped.example.com", node, devices)
            .with(pool.clone())
            .with(of_type),
        slice("grouped.example.com", node, []).with(pool).with(counters),
    ]
}

/// Devices of the network for which a node has nothing to do.
fn remote() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "remote"},
        "spec": {"driver": "remote.example.com", "allNodes": true, "skipNodeOperations": ["*"],
            "devices": [{"name": "lun-0"}, {"name": "lun-1"}],
            "pool": {"name": "remote", "generation": 1, "resourceSliceCount": 1}}})
}

fn set_up(cluster: &Cluster) {
    cluster.add_nodes(["gpu-node-1", "gpu-node-2"]);
    cluster.patch_status(
        "node/gpu-node-1",
        &json!({"status": {"declaredFeatures": ["DRANodeAllocatableResources", "DRAOptionalNodeOperations"]}}),
    );
    for driver in ["list", "socket", "grouped", "remote"] {
        let expression = format!("device.driver == '{driver}.example.com'");
        cluster.create(&class(&format!("{driver}.example.com"), &expression));
    }
    cluster.create_all(&[lists("gpu-node-1"), sockets("gpu-node-1"), remote()]);
    cluster.create_all(&grouped("gpu-node-2"));
}

fn cases() -> Vec<Case> {
    let list = || request("list", "list.example.com");
    let socket = || request("socket", "socket.example.com");
    let mode = |mode: &str| {
        request("part", "grouped.example.com").selecting(&format!(
            "device.attributes['grouped.example.com'].mode == '{mode}'"
        ))
    };
    let derived = |name: &str, expression: &str| json!({"derivedAttributes": [{"name": format!("derived/{name}"), "expression": expression}]});
    let place = "int(device.attributes['socket.example.com'].place.substring(7))";
    let distinct = |attribute: &str| json!({"requests": ["list"], "distinctAttribute": attribute});
    let roots = "list.example.com/roots";
    let lun = || request("lun", "remote.example.com");
    vec![
        own(
            "list-includes",
            true,
            claim_spec([list().selecting("device.attributes['list.example.com'].roots.includes('root-3')")]),
        ),
        own(
            "list-of-numbers",
            true,
            claim_spec([list().selecting("device.attributes['list.example.com'].lanes.includes(1)")]),
        ),
        own(
            "scalar-includes",
            true,
            claim_spec([list().selecting("device.attributes['list.example.com'].numa.includes(1)")]),
        ),
        own(
            "list-in-common",
            true,
            claim_spec([list().count(2)]).constrained(matching(roots, &["list"])),
        ),
        own(
            "list-nothing-in-common",
            false,
            claim_spec([list().count(3)]).constrained(matching(roots, &["list"])),
        ),
        own(
            "list-apart",
            true,
            claim_spec([list().count(2)]).constrained(distinct(roots)),
        ),
        own(
            "derived",
            true,
            claim_spec([socket().count(2).exactly(derived("socket", place))])
                .constrained(matching("derived/socket", &["socket"])),
        ),
        own(
            "derived-list",
            true,
            claim_spec([socket().count(2).exactly(derived(
                "sides",
                "[string(device.attributes['socket.example.com'].place), 'any']",
            ))])
            .constrained(matching("derived/sides", &["socket"])),
        ),
        own(
            "derived-none-left",
            false,
            claim_spec([socket().exactly(derived("socket", place))])
                .constrained(matching("derived/socket", &["socket"])),
        ),
        own(
            "derived-error",
            false,
            claim_spec([list().exactly(derived("gone", "device.attributes['list.example.com'].gone"))])
                .constrained(matching("derived/gone", &["list"])),
        ),
        own("group-time", true, claim_spec([mode("time")])),
        own("group-space", false, claim_spec([mode("space")])),
        own("group-none", false, claim_spec([mode("none")])),
        own("group-any", true, claim_spec([mode("any")])),
        own(
            "group-second-choice",
            true,
            claim_spec([first_available(
                "part",
                [
                    subrequest("space", "grouped.example.com")
                        .selecting("device.attributes['grouped.example.com'].mode == 'space'"),
                    subrequest("time", "grouped.example.com")
                        .selecting("device.attributes['grouped.example.com'].mode == 'time'"),
                ],
            )]),
        ),
        own("skips-node-operations", true, claim_spec([lun()])),
        case(
            "skips-not-there",
            false,
            [template("skips-not-there", claim_spec([lun()]))],
            to_node(
                small("skips-not-there").template_claim("lun", "skips-not-there"),
                "gpu-node-2",
            ),
        ),
    ]
}

#[test]
fn the_scheduler_does_with_alpha_features_what_the_dry_run_says() {
    let gates = ALPHA_GATES.iter();
    let options = gates.fold(Options::default(), |options, gate| options.gate(gate, true));
    let cluster = Cluster::start(&options);
    set_up(&cluster);
    let on: Vec<String> = ALPHA_GATES.iter().map(|gate| format!("{gate}=true")).collect();
    let flag = format!("--feature-gates={}", on.join(","));
    compare_all(&cluster, &cases(), &[&flag]);
}
