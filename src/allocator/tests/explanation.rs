//! What rules devices out, one by one.

use serde_json::json;

use super::{FAILS_IF_BAD, KIND_X, World, all_features, exactly};
use crate::allocator::{Fitness, Inputs};
use crate::model::{Key, Kind, Taint};

#[test]
fn each_device_shows_the_first_thing_that_rules_it_out() {
    let mut world = World::new();
    let x = json!({ "kind": { "string": "x" }, "group": { "int": 1 } });
    let draw = |amount: &str| json!([{ "counterSet": "set", "counters": { "units": { "value": amount } } }]);
    world.pool(
        "p",
        &[
            json!({ "name": "free", "attributes": x }),
            json!({ "name": "other-kind" }),
            json!({ "name": "used", "attributes": x }),
            json!({ "name": "tainted", "attributes": x, "taints": [{ "key": "k", "effect": "NoExecute" }] }),
            json!({ "name": "large", "attributes": x, "consumesCounters": draw("3") }),
            json!({ "name": "no-group", "attributes": { "kind": { "string": "x" } } }),
            json!({ "name": "failing", "attributes": { "kind": { "string": "x" }, "bad": { "bool": true } } }),
        ],
        &[json!({ "name": "set", "counters": { "units": { "value": "2" } } })],
    );
    world.add(
        Kind::ResourceClaim,
        json!({
            "metadata": { "namespace": "default", "name": "holder" },
            "status": { "allocation": { "devices": { "results": [
                { "request": "r", "driver": "d", "pool": "p", "device": "used" },
                { "request": "r", "driver": "d", "pool": "p", "device": "free", "adminAccess": true },
            ] } } },
        }),
    );
    let mut request = exactly("r", "x", 2);
    request["exactly"]["selectors"] = json!([{ "cel": { "expression": FAILS_IF_BAD } }]);
    world.claim(&[request], &[json!({ "matchAttribute": "d/group" })]);

    let cluster = world.cluster();
    let inputs = Inputs::new(&cluster, all_features());
    let demand = inputs.demand(&world.demanded(&cluster));
    let node = cluster.node("node").unwrap();
    let explanation = inputs.explain(node, &demand, 0, 0).unwrap().unwrap();
    let [alternative] = explanation.alternatives.as_slice() else {
        panic!("one alternative");
    };
    assert_eq!((alternative.wanted, alternative.free()), (2, 1));
    let of = |name: &str| {
        let found = alternative.devices.iter().find(|(id, _)| id.device == name);
        found.unwrap().1.clone()
    };
    assert_eq!(of("free"), Fitness::Free);
    assert_eq!(
        of("other-kind"),
        Fitness::ClassSelector {
            place: 0,
            expression: KIND_X.into()
        }
    );
    let holder = Key {
        namespace: "default".into(),
        name: "holder".into(),
    };
    assert_eq!(of("used"), Fitness::InUse { claims: vec![holder] });
    assert_eq!(
        of("tainted"),
        Fitness::Tainted(Taint {
            key: "k".into(),
            effect: "NoExecute".into(),
            ..Taint::default()
        })
    );
    assert_eq!(
        of("large"),
        Fitness::CounterExhausted {
            set: "set".into(),
            counter: "units".into()
        }
    );
    assert_eq!(
        of("no-group"),
        Fitness::ConstraintAttribute {
            attribute: "d/group".into(),
            same: true
        }
    );
    assert_eq!(
        of("failing"),
        Fitness::SelectorError("no such key: why".to_owned())
    );
    assert!(inputs.explain(node, &demand, 0, 1).unwrap().is_none());
}
