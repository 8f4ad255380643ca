//! `export` on a real control plane, scraped by a real Prometheus.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::Value;

use super::operation::{Operated, PROBES};
use super::take_over::shipped;
use crate::export::is_installed;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, namespace, pod, template};
use crate::support::cluster::{Cluster, Options, User};
use crate::support::prometheus::Prometheus;
use crate::support::wait::wait_for;

const LEASE: &str = "kubectl-dra/kubectl-dra-export";

/// A user with the rights in `deploy`.
fn exporter(cluster: &Cluster, name: &str) -> User {
    let user = cluster.user(name).allowed(&shipped("export", "ClusterRole"));
    user.allowed_in("kubectl-dra", &shipped("export", "Role"))
}

fn start(user: &User, more: &[&str]) -> Operated {
    let args = ["export", "--log-format", "json", "--interval", "0s"];
    Operated::of(
        user.kubectl_dra(args.into_iter().chain(PROBES))
            .args(more)
            .start(),
    )
}

/// What the queries have to return, by `status`.
fn expected(status: &Value) -> [BTreeMap<String, f64>; 3] {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let number = |value: &Value| value.as_f64().expect("a number");
    let mut devices = BTreeMap::new();
    for driver in list(&status["drivers"]) {
        for state in ["allocated", "free", "shared", "unavailable"] {
            let name = format!("{}/{state}", text(&driver["driver"]));
            devices.insert(name, number(&driver["devices"][state]));
        }
    }
    let mut used = BTreeMap::new();
    for usage in list(&status["usage"]) {
        for of in list(&usage["drivers"]) {
            let name = format!("{}/{}", text(&of["driver"]), text(&usage["namespace"]));
            used.insert(name, number(&of["devices"]));
        }
    }
    let claims = list(&status["claims"]["states"]);
    let claims = claims
        .iter()
        .map(|state| (text(&state["state"]), number(&state["count"])));
    [devices, used, claims.collect()]
}

const QUERIES: [&str; 3] = [
    "sum by (driver, state) (dra_devices)",
    "sum by (driver, namespace) (dra_namespace_devices)",
    "sum by (state) (dra_claims)",
];

#[test]
fn prometheus_scrapes_what_status_reports() {
    if !is_installed("prometheus") {
        return;
    }
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(2);
    cluster.create(&namespace("kubectl-dra"));
    let user = exporter(&cluster, "exporter");
    let exporter = start(&user, &[]);
    exporter.wait_for("/metrics", "\ndra_devices{");
    let prometheus = Prometheus::scraping(exporter.address());
    cluster.create_all(&[
        claim("shared", claim_spec([gpu()])),
        template("two", claim_spec([gpu().count(2)])),
        pod("a").named_claim("gpu", "shared"),
        pod("b")
            .named_claim("gpu", "shared")
            .template_claim("more", "two"),
        claim("unused", claim_spec([gpu()])),
    ]);
    cluster.wait_scheduled(["pod/a", "pod/b"]);
    // Claims and pods are watched apart: a start that is seen before the allocation does not count.
    exporter.wait_for("/metrics", "\ndra_claim_allocation_duration_seconds_count 2\n");
    cluster.run_kubelets();
    cluster.create(&template("many", claim_spec([gpu().count(9)])));
    cluster.create(&pod("pending").template_claim("gpu", "many"));
    cluster.wait_unschedulable(["pod/pending"]);

    let status = cluster.kubectl_dra(["status", "-o", "json"]).run().json();
    for (query, expected) in QUERIES.into_iter().zip(expected(&status)) {
        assert!(
            expected.values().any(|value| *value > 0.0),
            "{query}: {expected:?}"
        );
        wait_for(&format!("{query} is {expected:?}"), || {
            (prometheus.values(query)? == expected).then_some(())
        });
    }
    let pending = BTreeMap::from([("TooFewDevices".to_owned(), 1.0)]);
    wait_for("the pending pod has its cause", || {
        (prometheus.values("sum by (cause) (dra_pending_pods)")? == pending).then_some(())
    });
    // Both claims of the pods were allocated, and both pods have started since.
    for family in [
        "dra_claim_allocation_duration_seconds_count",
        "dra_pod_start_duration_seconds_count",
    ] {
        wait_for(&format!("{family} is 2"), || {
            let values = prometheus.values(&format!("sum({family})"))?;
            (values.values().copied().eq([2.0])).then_some(())
        });
    }
    // On a busy machine a scrape may take longer than Prometheus waits.
    wait_for("the last scrape succeeded", || {
        let targets = prometheus.ask("/api/v1/targets")?;
        let target = &targets["data"]["activeTargets"][0];
        (target["health"] == "up" && target["lastError"] == "").then_some(())
    });
    exporter.end();
}

/// The rights in `deploy` are all that is needed, and none is for nothing.
#[test]
fn the_rights_that_are_shipped_are_those_that_export_uses() {
    let options = Options::default().gate("GenericWorkload", true);
    let cluster = Cluster::start(&options);
    cluster.create(&namespace("kubectl-dra"));
    let user = exporter(&cluster, "exporter");
    let exporter = start(&user, &["--lease", LEASE]);
    exporter.wait_for("/metrics", "dra_checks_incomplete 0");
    let metrics = exporter.ask("/metrics");
    assert!(!metrics.contains("dra_unread{"), "{metrics}");
    // Since it leads, it is ready once every watch is open.
    exporter.wait_for("/readyz", " 200 OK");
    exporter.end();
    let requests = cluster.requests_of("exporter");
    let rules = shipped("export", "ClusterRole");
    for rule in rules.as_array().expect("rules") {
        let resources = rule["resources"].as_array().into_iter().flatten();
        for resource in resources.map(|resource| resource.as_str().expect("text")) {
            for verb in ["list", "watch"] {
                let asks =
                    |request: &String| request.starts_with(verb) && request.contains(&format!("/{resource}"));
                assert!(requests.iter().any(asks), "{verb} {resource}: {requests:#?}");
            }
        }
    }
}

#[test]
fn one_replica_exports_and_the_next_takes_its_place() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    cluster.create(&namespace("kubectl-dra"));
    let user = exporter(&cluster, "exporter");
    let first = start(&user, &["--lease", LEASE]);
    first.wait_for("/metrics", "\ndra_devices{");
    let second = start(&user, &["--lease", LEASE]);
    second.wait_for_log("_export holds the lease");
    let metrics = second.ask("/metrics");
    assert!(
        !metrics.contains("dra_devices") && metrics.contains("\nkubectl_dra_export_leader 0\n"),
        "{metrics}"
    );
    second.wait_for("/readyz", " 200 OK");
    first.process.signal(Signal::TERM);
    first.process.finish().exits(0);
    second.wait_for("/metrics", "\ndra_devices{");
    second.end();
}
