//! Inputs that follow changes of the cluster answer like inputs made anew.

use proptest::prelude::*;
use serde_json::json;

use super::agreement::world;
use super::all_features;
use crate::{Inputs, Limits, Outcome};
use dra_model::{Change, Claim, Cluster, Key, Kind, Object};
use dra_testing::effort::by_effort;
use std::sync::Arc;

/// Returns what the inputs say of the claims, as text.
fn answer(inputs: &Inputs, cluster: &Cluster, claims: &[Arc<Claim>]) -> String {
    let demand = inputs.demand(claims);
    let node = cluster.node("node").unwrap();
    match inputs.allocate(node, &demand, Limits::default(), &()).outcome {
        Outcome::Allocated(allocations) => allocations
            .iter()
            .map(|allocation| allocation.to_json().to_string())
            .collect(),
        other => format!("{other:?}"),
    }
}

fn put(kind: Kind, object: &serde_json::Value) -> Change {
    Change::Put(Object::from_json(kind, object.to_string().as_bytes()).unwrap())
}

/// A change of each kind that inputs have to notice.
fn change(choice: u8, cluster: &Cluster) -> Change {
    let slice = |amount: usize| {
        let devices: Vec<_> = (0..amount)
            .map(
                |number| json!({ "name": format!("d{number}"), "attributes": { "kind": { "string": "x" } } }),
            )
            .collect();
        json!({ "metadata": { "name": "p0-devices" }, "spec": {
            "driver": "d", "nodeName": "node", "devices": devices,
            "pool": { "name": "p0", "generation": 1, "resourceSliceCount": cluster.slices().filter(|slice| slice.spec.pool.name == "p0").count() },
        } })
    };
    let rule = || {
        json!({ "metadata": { "name": "rule" }, "spec": {
            "deviceSelector": { "device": "d0" }, "taint": { "key": "k", "effect": "NoSchedule" },
        } })
    };
    let claim = |device: &str| {
        json!({ "metadata": { "namespace": "default", "name": "other" }, "status": { "allocation": { "devices": {
            "results": [{ "request": "r", "driver": "d", "pool": "p0", "device": device }],
        } } } })
    };
    let key = |namespace: &str, name: &str| Key {
        namespace: namespace.into(),
        name: name.into(),
    };
    match choice % 7 {
        0 => Change::Delete(Kind::ResourceClaim, key("default", "used")),
        1 => put(Kind::ResourceClaim, &claim("d0")),
        2 => put(Kind::ResourceClaim, &claim("d1")),
        3 => put(Kind::ResourceSlice, &slice(3)),
        4 => put(Kind::ResourceSlice, &slice(1)),
        5 => put(Kind::DeviceTaintRule, &rule()),
        _ => Change::Delete(Kind::DeviceTaintRule, key("", "rule")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(by_effort(50, 200, 2_000)))]
    #[test]
    fn changed_inputs_answer_like_new_ones(
        bytes in prop::collection::vec(any::<u8>(), 40..300),
        choices in prop::collection::vec(any::<u8>(), 1..6),
    ) {
        let world = world(bytes);
        let mut cluster = world.cluster();
        let claims = world.demanded(&cluster);
        let mut applied = Inputs::new(&cluster, all_features());
        let mut forked = applied.clone();
        let first = applied.clone();
        let before = answer(&applied, &cluster, &claims);
        let unchanged = cluster.clone();
        for choice in choices {
            let change = change(choice, &cluster);
            cluster.apply(change.clone());
            applied.apply(change);
            forked = forked.fork(&cluster);
            let expected = answer(&Inputs::new(&cluster, all_features()), &cluster, &claims);
            prop_assert_eq!(&answer(&applied, &cluster, &claims), &expected);
            prop_assert_eq!(&answer(&forked, &cluster, &claims), &expected);
            prop_assert_eq!(&answer(&first.fork(&cluster), &cluster, &claims), &expected);
        }
        // Those that the changes began with are as they were.
        prop_assert_eq!(answer(&first, &unchanged, &claims), before);
    }
}
