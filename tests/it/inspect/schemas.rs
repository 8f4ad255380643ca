//! The JSON of every report is what its schema in `docs/reference/schema` promises.

use super::NOW;
use crate::support::schema::assert_schema;

#[test]
fn reports_are_valid_under_their_schemas() {
    let objects = |snapshot: &str| format!("tests/data/snapshots/{snapshot}.yaml");
    for snapshot in [
        "bound-pods",
        "podgroups",
        "stale-reservations",
        "device-taints-marked",
        "taint-rules-noexecute",
        "consumable-capacity",
        "partitionable",
        "binding-conditions",
        "admin-access",
        "unschedulable-pods",
    ] {
        let from = objects(snapshot);
        for expression in [
            "device.attributes['gpu.example.com'].index == 1",
            "true",
            "device.nothing",
        ] {
            assert_schema!(["cel", expression, "-o", "json", "--from", &from, "--now", NOW]);
        }
        for command in ["status", "claims", "reserved", "devices", "taints"] {
            assert_schema!([command, "-A", "-o", "json", "--from", &from, "--now", NOW]);
        }
    }
    for (snapshot, object) in [
        ("bound-pods", "claim/training/trainer-1-extra-zp8bf"),
        ("bound-pods", "claim/default/notebook-gpu"),
        ("partitionable", "claim/default/best-0-gpu-zzrc5"),
        ("binding-conditions", "claim/default/attached-gpu-5f5qz"),
        ("device-taints-marked", "claim/default/tolerates-20s-gpu-2rgld"),
        ("consumable-capacity", "claim/default/pair-nic-pchl9"),
        ("podgroups", "pod/default/sim-0"),
        ("unschedulable-pods", "pod/default/missing-template"),
        ("extended-resource", "pod/default/mixed"),
        ("consumable-capacity", "device/rdma0"),
        ("partitionable", "device/gpu-0-1g-0"),
        ("stale-reservations", "node/gpu-node-2"),
        ("extended-resource", "class/gpu.example.com"),
        ("unschedulable-pods", "pool/gpu.example.com/gpu-node-4"),
    ] {
        let from = objects(snapshot);
        assert_schema!(["describe", object, "-o", "json", "--from", &from, "--now", NOW]);
    }
}
