use serde_json::json;

use super::*;
use dra_allocator::Budget;
use dra_rules::scheduling::in_order;
use dra_testing::{World, holding, now};

/// `family{label="value",…} value`, each on a line.
fn lines(samples: &Samples) -> Vec<String> {
    let mut lines = Vec::new();
    for (facts, samples) in samples.iter() {
        for (values, value) in samples {
            assert_eq!(values.len(), facts.labels.len(), "{}", facts.name);
            let labels = facts.labels.iter().zip(values);
            let labels: Vec<String> = labels.map(|(name, value)| format!("{name}={value}")).collect();
            lines.push(format!("{}{{{}}} {value}", facts.name, labels.join(",")));
        }
    }
    lines
}

fn state(cluster: &Cluster, options: &MetricsOptions) -> Vec<String> {
    lines(&state_metrics(cluster, options, now(), &in_order))
}

fn pending(cluster: &Cluster) -> Vec<String> {
    let budget = Budget::new(1_000_000);
    lines(&pending_metrics(cluster, &Settings::of_test(&budget)))
}

#[track_caller]
fn assert_has(lines: &[String], expected: &[&str]) {
    for line in expected {
        assert!(lines.iter().any(|found| found == line), "{line}: {lines:#?}");
    }
}

/// A node pool with a device that is held, one that is tainted and one that is free, and a class for two of them.
fn world() -> World {
    let selectors = json!([{"cel": {"expression": "device.attributes['d'].model == 'big'"}}]);
    World::default()
        .with(
            Kind::Node,
            &json!({"metadata": {"name": "node-1", "labels": {"pool": "a"}}, "status": {"allocatable": {"pods": "110"}}}),
        )
        .with(
            Kind::DeviceClass,
            &json!({"metadata": {"name": "big"}, "spec": {"selectors": selectors}}),
        )
        .slice(
            "node-1",
            &json!([
                {"name": "held", "attributes": {"model": {"string": "big"}}},
                {"name": "bad", "attributes": {"model": {"string": "small"}}},
                {"name": "free", "attributes": {"model": {"string": "big"}}},
            ]),
        )
        .rule("drain", &json!({"device": "bad"}), "NoSchedule")
        .claim("c", &json!({}), &holding(&["held"], &["gone"]))
}

#[test]
fn devices_are_counted_by_node_pool_and_class() {
    let options = MetricsOptions {
        node_pool_label: Some("pool".into()),
        per_claim: false,
    };
    let lines = state(&world().build(), &options);
    assert_has(
        &lines,
        &[
            "dra_devices{driver=d,node_pool=a,state=allocated} 1",
            "dra_devices{driver=d,node_pool=a,state=free} 1",
            "dra_devices{driver=d,node_pool=a,state=unavailable} 1",
            "dra_devices_unavailable{driver=d,node_pool=a,reason=Tainted} 1",
            "dra_devices_tainted{driver=d,node_pool=a} 1",
            "dra_class_devices{class=big,driver=d,state=allocated} 1",
            "dra_class_devices{class=big,driver=d,state=free} 1",
            "dra_namespace_idle_devices{namespace=n,driver=d} 1",
            "dra_idle_claims{namespace=n} 1",
            "dra_reservations{consumer=Pod,status=Gone} 1",
            "dra_claims{namespace=n,state=allocated,reserved} 1",
        ],
    );
    let plain = state(&world().build(), &MetricsOptions::default());
    assert_has(&plain, &["dra_devices{driver=d,node_pool=,state=free} 1"]);
    assert!(!plain.iter().any(|line| line.contains("claim=")), "{plain:#?}");
}

#[test]
fn claims_have_series_of_their_own_on_demand() {
    let options = MetricsOptions {
        per_claim: true,
        ..MetricsOptions::default()
    };
    assert_has(
        &state(&world().build(), &options),
        &[
            "dra_claim_info{namespace=n,claim=c,state=allocated,reserved,node=node-1} 1",
            "dra_claim_devices{namespace=n,claim=c,driver=d} 1",
        ],
    );
}

#[test]
fn evictions_are_those_that_the_controller_plans() {
    let cluster = world()
        .rule("evict", &json!({"device": "held"}), "NoExecute")
        .pod("gone", &["c"])
        .build();
    assert_has(
        &state(&cluster, &MetricsOptions::default()),
        &["dra_evictions_planned{namespace=n} 1"],
    );
}

#[test]
fn pods_are_counted_by_the_code_of_their_cause() {
    let spec =
        json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "big", "count": 3}}]}});
    let cluster = world()
        .claim("wanted", &spec, &json!({}))
        .claim("alone", &spec, &json!({}))
        .with(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p", "creationTimestamp": "2026-11-21T10:00:00Z"},
                    "spec": {"resourceClaims": [{"name": "r", "resourceClaimName": "wanted"}]},
                    "status": {"phase": "Pending"}}),
        )
        .build();
    assert_eq!(
        pending(&cluster),
        [
            "dra_pending_pods{cause=TooFewDevices} 1",
            "dra_pending_pods_oldest_created_timestamp_seconds{cause=TooFewDevices} 1795255200",
            "dra_pending_claims{cause=TooFewDevices} 1",
            "dra_pending_not_judged{} 0",
            "dra_pending_pods_without_devices{} 0",
        ]
    );
    assert!(pending(&world().without(Kind::Pod).build()).is_empty());
}

#[test]
fn what_could_not_be_read_has_no_number() {
    let lines = state(
        &world().without(Kind::ResourceClaim).without(Kind::Pod).build(),
        &MetricsOptions::default(),
    );
    assert_has(
        &lines,
        &[
            "dra_unread{resource=resourceclaims,namespace=} 1",
            "dra_devices{driver=d,node_pool=,state=unknown} 2",
            "dra_devices{driver=d,node_pool=,state=allocated} 1",
        ],
    );
    for family in [
        "dra_claims",
        "dra_units_used",
        "dra_devices_unhealthy",
        "dra_reservations",
        "dra_namespace_",
    ] {
        assert!(!lines.iter().any(|line| line.starts_with(family)), "{lines:#?}");
    }
}

#[test]
fn series_beyond_the_limit_are_counted() {
    let mut samples = Samples::default();
    for number in 0..5 {
        samples.add(Family::Pools, [format!("driver-{number}").as_str()], 1);
    }
    samples.limit(3);
    assert_eq!(
        lines(&samples),
        [
            "dra_pools{driver=driver-0} 1",
            "dra_pools{driver=driver-1} 1",
            "dra_pools{driver=driver-2} 1",
            "dra_series_omitted{family=dra_pools} 2",
        ]
    );
}

/// As in promtool's rules, and the conventions of Prometheus.
#[test]
fn names_are_those_of_prometheus() {
    for family in Family::ALL {
        let Facts { name, labels, help } = family.facts();
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(name.starts_with("dra_") && is_name(name), "{name}");
        assert!(labels.iter().all(|label| is_name(label)), "{name}");
        assert!(!name.ends_with("_total"), "{name} is a gauge");
        assert!(
            !help.ends_with('.') && !help.contains(['\\', '\n', '"']),
            "{name}: {help}"
        );
        let count = Family::ALL.iter().filter(|other| other.facts().name == *name);
        assert_eq!(count.count(), 1, "{name}");
    }
}
