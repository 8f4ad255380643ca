//! Results of an attempt when the command's work on expressions runs out, step by step.

use serde_json::{Value, json};

use super::{FAILS_IF_BAD, World, all_features, exactly};
use crate::devices::RuledOut;
use crate::{AlternativeExplanation, Inputs, Limits, Outcome, Stop, Trouble, Unfit};
use dra_model::{Meter, Str};

/// The names of the devices and what is said of them.
type Explained = Result<(Vec<Str>, AlternativeExplanation), Stop>;

/// The outcome and the explanation for each number of steps from none to enough, then those without a limit.
fn by_steps(world: &World, limits: Limits, mut look: impl FnMut(Outcome, Explained)) -> Outcome {
    let judge = |meter: Meter| {
        let cluster = world.cluster().metered(meter);
        let node = cluster.node("node").unwrap();
        let claims = world.demanded(&cluster);
        let inputs = Inputs::new(&cluster, all_features());
        let outcome = inputs
            .allocate(node, &inputs.demand(&claims), limits, &())
            .outcome;
        let spent = cluster.meter().spent();
        let demand = inputs.demand(&claims);
        let explained = inputs.explain(node, &demand).map(|explanation| {
            let one = explanation.requests[0].alternatives[0].clone();
            let names = (0..one.devices.len()).map(|device| explanation.device_id(device).device);
            (names.collect(), one)
        });
        (outcome, spent, explained)
    };
    let (whole, enough, _) = judge(Meter::new(u64::MAX));
    assert!(enough > 0, "no expression was evaluated");
    for steps in 0..=enough + 1 {
        let (outcome, _, explained) = judge(Meter::new(steps));
        if steps > enough {
            assert_eq!(format!("{outcome:?}"), format!("{whole:?}"));
        }
        look(outcome, explained);
    }
    whole
}

/// Four devices, three of them match the selector.
fn world(request: Value, constraints: &[Value]) -> World {
    let mut world = World::new();
    let device = |name: &str, group: u8| json!({ "name": name, "attributes": { "kind": { "string": "x" }, "group": { "int": group } } });
    let other = json!({ "name": "other", "attributes": { "kind": { "string": "y" } } });
    world.pool("p", &[other, device("a", 1), device("b", 2), device("c", 2)], &[]);
    world.claim(&[request], constraints);
    world
}

#[test]
fn an_attempt_without_the_work_for_its_expressions_has_no_answer() {
    let all = json!({ "name": "r", "exactly": { "deviceClassName": "x", "allocationMode": "All" } });
    let mut derived = exactly("r", "x", 2);
    derived["exactly"]["derivedAttributes"] =
        json!([{ "name": "d/computed", "expression": r#"device.attributes["d"].group"# }]);
    let mut failing = exactly("r", "x", 4);
    failing["exactly"]["selectors"] = json!([{ "cel": { "expression": FAILS_IF_BAD } }]);
    let worlds = [
        (world(exactly("r", "x", 3), &[]), "Allocated"),
        (world(exactly("r", "x", 4), &[]), "DoesNotFit"),
        (world(all, &[]), "Allocated"),
        (
            world(derived, &[json!({ "matchAttribute": "d/computed" })]),
            "Allocated",
        ),
        (world(failing, &[]), "DoesNotFit"),
    ];
    for (number, (world, expected)) in worlds.iter().enumerate() {
        for limits in [Limits::default(), Limits::pruned(10_000)] {
            let mut gave_up = 0;
            let whole = by_steps(world, limits, |outcome, _| match outcome {
                Outcome::GaveUp => gave_up += 1,
                other => assert!(format!("{other:?}").starts_with(expected), "{number}: {other:?}"),
            });
            assert!(format!("{whole:?}").starts_with(expected), "{number}: {whole:?}");
            assert!(gave_up > 0, "{number}");
        }
    }
}

#[test]
fn a_device_that_was_not_tried_is_neither_free_nor_ruled_out() {
    let mut unknown = 0;
    by_steps(
        &world(exactly("r", "x", 4), &[]),
        Limits::default(),
        |_, explained| {
            let (names, one) = explained.unwrap();
            assert!(one.free() <= 3 && one.most() >= 3);
            for (name, unfit) in names.iter().zip(&one.devices) {
                match unfit {
                    Ok(()) => assert_ne!(*name, "other"),
                    Err(Unfit::RuledOut(RuledOut::ClassSelector)) => assert_eq!(*name, "other"),
                    Err(Unfit::Trouble(trouble)) if **trouble == Trouble::NotTried => unknown += 1,
                    other => panic!("{other:?}"),
                }
            }
        },
    );
    assert!(unknown > 0);
    // What asks for all devices cannot even be counted.
    let all = json!({ "name": "r", "exactly": { "deviceClassName": "x", "allocationMode": "All" } });
    let mut stopped = 0;
    by_steps(&world(all, &[]), Limits::default(), |_, explained| {
        stopped += usize::from(explained.is_err_and(|stop| stop == Stop::NotTried));
    });
    assert!(stopped > 0);
}
