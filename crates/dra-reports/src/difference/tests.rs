use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::DeviceTaintItem;
use crate::findings::{CheckRequest, check};
use dra_testing::effort::by_effort;
use dra_testing::{Dice, World, holding, now, status};

fn findings_of(cluster: &Cluster) -> FindingList {
    check(cluster, &CheckRequest::now(now()).told_of(cluster, &[]))
}

fn compared(before: &Cluster, after: &Cluster) -> Difference {
    let (findings_before, findings_after) = (findings_of(before), findings_of(after));
    difference(
        State {
            cluster: before,
            findings: &findings_before,
        },
        State {
            cluster: after,
            findings: &findings_after,
        },
        &Selection::default(),
    )
}

/// Which of the states is the newer one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    Forwards,
    Backwards,
}

fn mirrored(word: &str) -> &str {
    match word {
        "New" => "Gone",
        "Gone" => "New",
        "Allocated" => "Deallocated",
        "Deallocated" => "Allocated",
        "Created" => "Deleted",
        "Deleted" => "Created",
        "Got" => "Lost",
        "Lost" => "Got",
        word => word,
    }
}

/// A line for each difference but the findings, in order.
fn lines(report: &Difference, read: Read) -> BTreeSet<String> {
    let held = |held: &Option<Held>| {
        held.as_ref().map_or("none".to_owned(), |held| {
            let devices = held.devices.iter().map(ToString::to_string);
            let node = held.node.as_ref().map_or("?", |node| node.as_str());
            format!("{node}:{}", devices.collect::<Vec<_>>().join(","))
        })
    };
    let word = |word: String| match read {
        Read::Forwards => word,
        Read::Backwards => mirrored(&word).to_owned(),
    };
    let sides = |before: String, after: String| match read {
        Read::Forwards => format!("{before} -> {after}"),
        Read::Backwards => format!("{after} -> {before}"),
    };
    let amounts = |amounts: &[AmountChange]| {
        let texts = amounts.iter().map(|amount| {
            let text = |side: &Option<_>| side.as_ref().map_or("none".to_owned(), ToString::to_string);
            format!(
                "{} {}",
                amount.name,
                sides(text(&amount.before), text(&amount.after))
            )
        });
        texts.collect::<Vec<_>>().join(",")
    };
    let number = |number: Option<i64>| number.map_or("none".to_owned(), |number| number.to_string());
    let taints = |taints: &[DeviceTaintItem]| {
        let taints = taints.iter().map(ToString::to_string);
        taints.collect::<Vec<_>>().join(",")
    };
    let mut lines = BTreeSet::new();
    for pod in &report.pods {
        lines.insert(format!(
            "pod {} {} {} {}",
            pod.name,
            word(format!("{:?}", pod.change)),
            word(format!("{:?}", pod.existence)),
            sides(held(&pod.before), held(&pod.after)),
        ));
    }
    for claim in &report.claims {
        let names = |consumers: &BTreeSet<ConsumerItem>| {
            let names = consumers.iter().map(|consumer| consumer.name.to_string());
            names.collect::<Vec<_>>().join(",")
        };
        lines.insert(format!(
            "claim {} {} {} {}{} {}",
            claim.name,
            word(format!("{:?}", claim.change)),
            word(format!("{:?}", claim.existence)),
            if claim.recreated { "recreated " } else { "" },
            sides(held(&claim.before), held(&claim.after)),
            sides(names(&claim.consumers_removed), names(&claim.consumers_added)),
        ));
    }
    for device in &report.devices {
        lines.insert(format!(
            "device {}/{} {} {} {}",
            device.pool,
            device.device,
            word(format!("{:?}", device.existence)),
            amounts(&device.capacity),
            sides(taints(&device.taints_removed), taints(&device.taints_added)),
        ));
    }
    for pool in &report.pools {
        lines.insert(format!(
            "pool {} {} {} {}",
            pool.pool,
            word(format!("{:?}", pool.existence)),
            sides(number(pool.generation_before), number(pool.generation_after)),
            amounts(&pool.counters),
        ));
    }
    for rule in &report.rules {
        lines.insert(format!(
            "rule {} {}",
            rule.name,
            word(format!("{:?}", rule.existence))
        ));
    }
    for object in &report.objects {
        let existence = word(format!("{:?}", object.existence));
        lines.insert(format!("{} {} {existence}", object.kind, object.name));
    }
    lines
}

/// The same with the findings.
fn all_lines(report: &Difference, read: Read) -> BTreeSet<String> {
    let mut all = lines(report, read);
    let findings = &report.findings;
    for (word, list) in [("New", &findings.new), ("Gone", &findings.gone)] {
        let word = if read == Read::Forwards {
            word
        } else {
            mirrored(word)
        };
        all.extend(
            list.iter()
                .map(|finding| format!("{} {} {word}", finding.code, finding.object)),
        );
    }
    all
}

#[track_caller]
fn expect(before: World, after: World, expected: &[&str]) -> Difference {
    let report = compared(&before.build(), &after.build());
    let lines = lines(&report, Read::Forwards);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(lines, expected);
    report
}

fn claim(world: World, name: &str, uid: &str, status: &Value) -> World {
    world.with(
        Kind::ResourceClaim,
        &json!({"metadata": {"namespace": "n", "name": name, "uid": uid}, "spec": {}, "status": status}),
    )
}

#[test]
fn each_change_of_a_claim_has_its_word() {
    let free = json!({});
    let (x, y) = (holding(&["x"], &["p"]), holding(&["y"], &["p"]));
    let other_user = holding(&["x"], &["q"]);
    let elsewhere = json!({"allocation": {"devices": {"results": [
        {"request": "r", "driver": "d", "pool": "node-1", "device": "x"}]}},
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "p-uid"}]});
    for (before, after, expected) in [
        (
            Some(("1", &free)),
            Some(("1", &x)),
            &["claim c Allocated Kept none -> node-1:d/node-1/x  -> p"][..],
        ),
        (
            Some(("1", &x)),
            Some(("1", &free)),
            &["claim c Deallocated Kept node-1:d/node-1/x -> none p -> "],
        ),
        (
            Some(("1", &x)),
            Some(("1", &y)),
            &["claim c Moved Kept node-1:d/node-1/x -> node-1:d/node-1/y  -> "],
        ),
        (
            Some(("1", &x)),
            Some(("1", &elsewhere)),
            &["claim c Moved Kept node-1:d/node-1/x -> ?:d/node-1/x  -> "],
        ),
        (
            Some(("1", &x)),
            Some(("1", &other_user)),
            &["claim c Consumers Kept node-1:d/node-1/x -> node-1:d/node-1/x p -> q"],
        ),
        (
            None,
            Some(("1", &free)),
            &["claim c Created New none -> none  -> "],
        ),
        (
            None,
            Some(("1", &x)),
            &["claim c Allocated New none -> node-1:d/node-1/x  -> p"],
        ),
        (
            Some(("1", &free)),
            None,
            &["claim c Deleted Gone none -> none  -> "],
        ),
        (
            Some(("1", &x)),
            None,
            &["claim c Deallocated Gone node-1:d/node-1/x -> none p -> "],
        ),
        (
            Some(("1", &x)),
            Some(("2", &x)),
            &[
                "claim c Allocated New recreated none -> node-1:d/node-1/x  -> p",
                "claim c Deallocated Gone recreated node-1:d/node-1/x -> none p -> ",
            ],
        ),
        (Some(("1", &x)), Some(("1", &x)), &[]),
        // A handwritten object has no UID.
        (Some(("", &x)), Some(("2", &x)), &[]),
    ] {
        let world = |side: Option<(&str, &Value)>| match side {
            Some((uid, status)) => claim(World::default(), "c", uid, status),
            None => World::default(),
        };
        expect(world(before), world(after), expected);
    }
}

#[test]
fn a_pod_that_moves_shows_both_nodes() {
    let results =
        |pool: &str, device: &str| json!([{"request": "r", "driver": "d", "pool": pool, "device": device}]);
    let pod = |world: World, node: &str, uid: &str, claim: &str| {
        world.with(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": uid},
                    "spec": {"nodeName": node, "resourceClaims": [{"name": "r", "resourceClaimName": claim}]},
                    "status": {"phase": "Running"}}),
        )
    };
    let allocated = |pool: &str, device: &str| status(&results(pool, device), &["p"]);
    let before = || {
        pod(
            claim(World::default(), "c", "1", &allocated("node-1", "x")),
            "node-1",
            "p-uid",
            "c",
        )
    };
    let moved = pod(
        claim(World::default(), "e", "2", &allocated("node-2", "y")),
        "node-2",
        "q-uid",
        "e",
    );
    let report = compared(&before().build(), &moved.build());
    let [change] = report.pods.as_slice() else {
        panic!("{:?}", report.pods);
    };
    assert_eq!(
        serde_json::to_value(change).unwrap(),
        json!({
            "namespace": "n", "name": "p", "existence": "Kept", "recreated": true, "change": "Moved",
            "before": {"node": "node-1", "devices": [{"driver": "d", "pool": "node-1", "device": "x"}]},
            "after": {"node": "node-2", "devices": [{"driver": "d", "pool": "node-2", "device": "y"}]},
        })
    );
    let recreated = pod(
        claim(World::default(), "c", "1", &allocated("node-1", "x")),
        "node-1",
        "q-uid",
        "c",
    );
    let report = compared(&before().build(), &recreated.build());
    assert_eq!(report.pods[0].change, PodChangeKind::Recreated);
    let done = claim(World::default(), "c", "1", &allocated("node-1", "x")).with(
        Kind::Pod,
        &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"},
                "spec": {"nodeName": "node-1", "resourceClaims": [{"name": "r", "resourceClaimName": "c"}]},
                "status": {"phase": "Succeeded"}}),
    );
    expect(before(), done, &["pod p Lost Kept node-1:d/node-1/x -> none"]);
}

#[test]
fn devices_pools_and_rules_are_compared_by_what_they_offer() {
    let device = |name: &str, memory: &str, taints: Value| json!({"name": name, "capacity": {"memory": {"value": memory}}, "taints": taints});
    let hot = json!([{"key": "hot", "effect": "NoSchedule", "timeAdded": "2026-11-21T10:00:00Z"}]);
    let hot_later = json!([{"key": "hot", "effect": "NoSchedule", "timeAdded": "2026-11-21T11:00:00Z"}]);
    let counters = |memory: &str| json!([{"name": "gpu", "counters": {"memory": {"value": memory}}}]);
    let before = World::default()
        .node("node-1", &json!({}))
        .class("d")
        .rule("stays", &json!({"device": "a"}), "NoSchedule")
        .rule("drain", &json!({"device": "a"}), "NoSchedule")
        .rule("old", &json!({"device": "a"}), "NoSchedule")
        .slice_with(
            "node-1",
            &json!({"nodeName": "node-1", "sharedCounters": counters("80Gi"), "devices": [
            device("a", "80Gi", json!([])), device("b", "80Gi", json!([])), device("c", "80Gi", hot.clone()),
            device("same", "80Gi", hot)]}),
        );
    let after = World::default()
        .node("node-2", &json!({}))
        .class("e")
        .rule("stays", &json!({"device": "a"}), "NoSchedule")
        .rule("drain", &json!({"device": "a"}), "NoExecute")
        .rule("new", &json!({"driver": "d"}), "NoSchedule")
        .slice_with("node-1", &json!({"nodeName": "node-1", "sharedCounters": counters("81920Mi"), "devices": [
            device("a", "40Gi", json!([])), device("c", "81920Mi", json!([])), device("same", "80Gi", hot_later)]}))
        .slice_with("node-2", &json!({"driver": "e", "nodeName": "node-2", "devices": [
            device("z", "1Gi", json!([]))]}));
    let report = expect(
        before,
        after,
        &[
            "DeviceClass d Gone",
            "DeviceClass e New",
            "Driver e New",
            "Node node-1 Gone",
            "Node node-2 New",
            "device node-1/a Kept memory 80Gi -> 40Gi  -> ",
            "device node-1/b Gone memory 80Gi -> none  -> ",
            "device node-1/c Kept  hot:NoSchedule -> ",
            "device node-2/z New memory none -> 1Gi  -> ",
            "pool node-2 New none -> 1 ",
            "rule drain Kept",
            "rule new New",
            "rule old Gone",
        ],
    );
    let counts = report.rules.iter().map(|rule| (rule.name.as_str(), rule.devices));
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [("drain", Some(1)), ("new", Some(3)), ("old", Some(1))]
    );
    assert_eq!(
        report.rules[0].previous_taint.as_ref().unwrap().effect,
        "NoSchedule"
    );
}

#[test]
fn a_generation_and_counters_are_differences_of_a_pool() {
    let slice = |generation: i64, memory: &str| {
        World::default().slice_with(
            "p",
            &json!({"pool": {"name": "p", "generation": generation, "resourceSliceCount": 1}, "nodeName": "p",
                    "sharedCounters": [{"name": "gpu", "counters": {"memory": {"value": memory}}}]}),
        )
    };
    expect(slice(1, "80Gi"), slice(2, "80Gi"), &["pool p Kept 1 -> 2 "]);
    expect(
        slice(1, "80Gi"),
        slice(1, "40Gi"),
        &["pool p Kept 1 -> 1 gpu/memory 80Gi -> 40Gi"],
    );
}

#[test]
fn what_an_incomplete_pool_lacks_is_unknown() {
    let pool = |count: i64, devices: Value| {
        World::default().slice_with(
            "p",
            &json!({"pool": {"name": "p", "generation": 1, "resourceSliceCount": count}, "nodeName": "p",
                    "devices": devices}),
        )
    };
    let (one, two) = (json!([{"name": "a"}]), json!([{"name": "a"}, {"name": "b"}]));
    let half = expect(pool(1, two.clone()), pool(2, one.clone()), &[]);
    assert_eq!(
        half.unknown,
        ["devices and counters that appeared or vanished in pool/d/p: slices of the pool are missing"]
    );
    // What it has is compared.
    let half = expect(pool(2, one), pool(1, two), &[]);
    assert_eq!(half.unknown.len(), 1);
}

/// A cluster with one object of each kind that is compared.
fn one_of_each() -> World {
    World::default()
        .node("node-1", &json!({}))
        .class("d")
        .slice("node-1", &json!([{"name": "x"}]))
        .rule("drain", &json!({"device": "y"}), "NoSchedule")
        .claim("c", &json!({}), &holding(&["x"], &["p"]))
        .pod("p", &["c"])
}

/// Objects that a state without `kind` may have hidden, as [`lines`] begin with them.
fn begin(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Node => &["Node"],
        Kind::DeviceClass => &["DeviceClass"],
        Kind::ResourceSlice => &["Driver", "device", "pool"],
        Kind::DeviceTaintRule => &["rule"],
        Kind::ResourceClaim => &["claim", "pod"],
        _ => &["pod"],
    }
}

#[test]
fn what_one_state_does_not_show_is_neither_new_nor_gone() {
    let all: Vec<&str> = DIFFERENCE_NEEDS.into_iter().flat_map(begin).copied().collect();
    for kind in DIFFERENCE_NEEDS {
        let hidden = |lines: &BTreeSet<String>| -> BTreeSet<&str> {
            let begun = |word: &&str| lines.iter().any(|line| line.split(' ').next() == Some(*word));
            all.iter().copied().filter(|word| !begun(word)).collect()
        };
        let full = one_of_each().build();
        let empty = World::default().build();
        let unread = World::default().without(kind).build();
        // All of it vanished, and nothing of the kind that could not be read.
        let vanished = lines(&compared(&full, &empty), Read::Forwards);
        assert_eq!(hidden(&vanished), BTreeSet::new());
        for (before, after, when) in [(&full, &unread, "after"), (&unread, &full, "before")] {
            let report = compared(before, after);
            let expected: BTreeSet<&str> = begin(kind).iter().copied().collect();
            assert_eq!(
                hidden(&lines(&report, Read::Forwards)),
                expected,
                "{kind:?} {when}"
            );
            let texts = report.unknown.join("\n");
            assert!(
                texts.contains(when) && texts.contains(kind.plural()),
                "{kind:?}: {texts}"
            );
        }
        // Without another difference the answer is unknown.
        let report = compared(&unread, &unread);
        assert!(report.is_empty() && !report.unknown.is_empty(), "{kind:?}");
    }
}

#[test]
fn an_object_that_a_truncated_file_ends_within_is_not_compared() {
    let whole = || claim(World::default(), "c", "1", &holding(&["x"], &["p"]));
    let cut = || claim(World::default(), "c", "1", &json!({})).without(Kind::ResourceClaim);
    expect(whole(), cut(), &[]);
    expect(cut(), whole(), &[]);
}

#[test]
fn a_gap_in_one_namespace_leaves_the_others_compared() {
    let claims = |namespaces: &[&str]| {
        namespaces.iter().fold(World::default(), |world, namespace| {
            world.with(
                Kind::ResourceClaim,
                &json!({"metadata": {"namespace": namespace, "name": "c", "uid": "u"}, "spec": {}}),
            )
        })
    };
    let after = claims(&[]).knowing(|environment| {
        environment.gaps.push(dra_model::Gap {
            namespace: "a".into(),
            ..dra_model::Gap::of_kind(Kind::ResourceClaim, "forbidden".to_owned())
        });
    });
    let report = compared(&claims(&["a", "b"]).build(), &after.build());
    let namespaces: Vec<&str> = report
        .claims
        .iter()
        .map(|claim| claim.namespace.as_str())
        .collect();
    assert_eq!(namespaces, ["b"]);
}

#[test]
fn findings_are_matched_by_code_and_object() {
    let reserved = |name: &str| World::default().claim(name, &json!({}), &holding(&[], &["nobody"]));
    let both = World::default()
        .claim("b", &json!({}), &holding(&[], &["nobody"]))
        .claim("c", &json!({}), &holding(&[], &["nobody"]));
    let report = compared(&reserved("b").build(), &both.build());
    let names = |findings: &[Finding]| -> Vec<String> {
        findings
            .iter()
            .map(|finding| format!("{} {}", finding.code, finding.object))
            .collect()
    };
    assert_eq!(names(&report.findings.new), ["DRA010 resourceclaim/n/c"]);
    assert!(report.findings.gone.is_empty() && report.findings.unchanged > 0);
    assert!(
        report
            .findings
            .new
            .iter()
            .all(|finding| finding.fix.is_none() && finding.look.is_none())
    );
    let unread = reserved("b").without(Kind::Pod).build();
    let report = compared(&reserved("b").build(), &unread);
    assert!(report.findings.gone.is_empty(), "{:?}", report.findings.gone);
    assert!(
        report.unknown.iter().any(|text| text.contains("DRA010")),
        "{:?}",
        report.unknown
    );
}

#[test]
fn only_recorded_releases_are_compared() {
    let of = |version: &str, is_known: bool| {
        let version: dra_model::Version = version.parse().unwrap();
        World::default()
            .knowing(|environment| {
                environment.version = version;
                environment.git_version = is_known.then(|| format!("v{version}"));
            })
            .build()
    };
    let report = compared(&of("1.37.1", true), &of("1.36.4", true));
    assert!(!report.is_empty());
    assert_eq!(report.summary.to_string(), "Kubernetes 1.37.1 became 1.36.4");
    assert!(compared(&of("1.37.1", true), &of("1.36.4", false)).is_empty());
}

/// Objects of a small cluster, any of which may be there or not.
fn objects(dice: &mut Dice) -> Vec<(Kind, Value)> {
    let mut objects = Vec::new();
    for number in 1..=2 {
        let node = format!("node-{number}");
        if !dice.one_in(4) {
            objects.push((Kind::Node, json!({"metadata": {"name": node}})));
        }
        if dice.one_in(4) {
            continue;
        }
        let mut devices = Vec::new();
        for name in ["x", "y", "z"] {
            let mut device =
                json!({"name": name, "capacity": {"memory": {"value": dice.of(&["80Gi", "40Gi"])}}});
            if dice.one_in(4) {
                device["taints"] = json!([{"key": "hot", "effect": dice.of(&["NoSchedule", "NoExecute"])}]);
            }
            if !dice.one_in(4) {
                devices.push(device);
            }
        }
        let pool = json!({"name": node, "generation": 1 + dice.below(2), "resourceSliceCount": 1 + usize::from(dice.one_in(5))});
        let counters = json!([{"name": "gpu", "counters": {"memory": {"value": dice.of(&["1Gi", "2Gi"])}}}]);
        objects.push((
            Kind::ResourceSlice,
            json!({"metadata": {"name": format!("{node}-slice")}, "spec": {
                "driver": dice.of(&["d", "d", "e"]), "pool": pool, "nodeName": node, "devices": devices,
                "sharedCounters": counters}}),
        ));
    }
    for name in ["a", "b", "c", "e"] {
        if !dice.one_in(3) {
            let pods = if dice.one_in(2) { vec!["p"] } else { vec!["p", "q"] };
            let status = if dice.one_in(3) {
                json!({})
            } else {
                holding(&[dice.of(&["x", "y", "z"])], &pods)
            };
            let uid = format!("{name}-{}", dice.below(2));
            objects.push((
                Kind::ResourceClaim,
                json!({"metadata": {"namespace": "n", "name": name, "uid": uid}, "spec": {}, "status": status}),
            ));
        }
    }
    for name in ["p", "q"] {
        if !dice.one_in(3) {
            let claims = ["a", "b", "c", "e"].map(|claim| json!({"name": claim, "resourceClaimName": claim}));
            let uid = if dice.one_in(3) {
                "other".to_owned()
            } else {
                format!("{name}-uid")
            };
            objects.push((
                Kind::Pod,
                json!({"metadata": {"namespace": "n", "name": name, "uid": uid},
                       "spec": {"nodeName": dice.of(&["node-1", "node-2"]), "resourceClaims": claims},
                       "status": {"phase": dice.of(&["Running", "Running", "Succeeded"])}}),
            ));
        }
    }
    if dice.one_in(2) {
        objects.push((
            Kind::DeviceTaintRule,
            json!({"metadata": {"name": "drain"}, "spec": {
                "deviceSelector": {"device": dice.of(&["x", "y"])},
                "taint": {"key": "drain", "effect": dice.of(&["NoSchedule", "NoExecute"])}}}),
        ));
    }
    if dice.one_in(2) {
        objects.push((
            Kind::DeviceClass,
            json!({"metadata": {"name": "gpu"}, "spec": {}}),
        ));
    }
    objects
}

fn built<'o>(objects: impl IntoIterator<Item = &'o (Kind, Value)>) -> World {
    let add = |world: World, (kind, object): &(Kind, Value)| world.with(*kind, object);
    objects.into_iter().fold(World::default(), add)
}

fn holds(dice: &mut Dice) -> Result<(), TestCaseError> {
    let (before, after) = (objects(dice), objects(dice));
    let (one, other) = (built(&before).build(), built(&after).build());
    // The order of objects and what no rule reads make no difference.
    let mut same = before.clone();
    for (_, object) in &mut same {
        object["metadata"]["resourceVersion"] = json!("99");
        object["metadata"]["labels"] = json!({"example.com/unrelated": "yes"});
        object["metadata"]["annotations"] = json!({"example.com/unrelated": "yes"});
    }
    let report = compared(&one, &built(same.iter().rev()).build());
    prop_assert!(report.is_empty(), "{:?}", all_lines(&report, Read::Forwards));

    let (forwards, backwards) = (compared(&one, &other), compared(&other, &one));
    let all = all_lines(&forwards, Read::Forwards);
    prop_assert_eq!(&all, &all_lines(&backwards, Read::Backwards));
    prop_assert_eq!(forwards.is_empty(), all.is_empty());
    prop_assert_eq!(forwards.findings.unchanged, backwards.findings.unchanged);

    // What is reported without a kind is so with it.
    for kind in DIFFERENCE_NEEDS {
        let rest = after.iter().filter(|(of, _)| *of != kind);
        let partial = compared(&one, &built(rest).without(kind).build());
        let partial_lines = all_lines(&partial, Read::Forwards);
        prop_assert!(
            partial_lines.is_subset(&all),
            "{kind:?}: {partial_lines:#?} of {all:#?}"
        );
    }
    Ok(())
}

#[test]
fn differences_are_symmetric_and_never_made_of_gaps() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(by_effort(50, 5_000, 50_000)));
    let bytes = prop::collection::vec(any::<u8>(), 256);
    runner
        .run(&bytes, |bytes| holds(&mut Dice::of_bytes(bytes)))
        .unwrap_or_else(|error| panic!("{error}"));
}
