//! Many pods that run beside real kubelets, of which nothing is to be said.

#![expect(clippy::print_stderr, reason = "who waits for minutes is told how far it is")]

use std::sync::Arc;
use std::time::Instant;

use dra_allocator::Budget;
use dra_model::Time;
use dra_reports::allocation::Settings;
use dra_reports::explanation::{ClusterVerdict, EXPLAIN_NEEDS, Explanation, explain_pod};
use dra_rules::kubelet::Stage;
use dra_rules::scheduling::in_order;
use dra_sources::{Needs, Request, Unobserved, VersionSettings, load};
use serde_json::json;

use super::{begin, explained, run};
use crate::support::cluster::Options;
use crate::support::cluster::machine::{DRIVER, Machine};
use crate::support::cluster::objects::{Manifest, pod};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

/// Number of pods a node has.
const OF_NODE: usize = 250;

/// Placed by the real scheduler, with claims that the real claim controller made, prepared by the real kubelet's manager and a real driver:
/// `check` finds nothing, nothing waits, and `explain` says of each pod that it runs with its device.
#[test]
#[ignore = "takes minutes: make healthy"]
fn nothing_is_said_of_pods_that_run() {
    let given = std::env::var("KUBECTL_DRA_HEALTHY").ok();
    let pods: usize = given.map_or(500, |given| given.parse().expect("a number of pods"));
    let begun = Instant::now();
    let cluster = begin(&Options::default());
    let machines: Vec<Machine<'_>> = (0..pods.div_ceil(OF_NODE))
        .map(|number| Machine::start(&cluster, &format!("node-{number}"), OF_NODE))
        .collect();
    for machine in &machines {
        let room = json!({"pods": (OF_NODE + 10).to_string(), "cpu": "10k", "memory": "100Ti"});
        cluster.patch_status(
            &format!("node/{}", machine.node),
            &json!({"status": {"capacity": room, "allocatable": room}}),
        );
    }
    let running = || {
        let all = cluster.list("pod/default");
        let is_running = |pod: &&serde_json::Value| pod["status"]["phase"] == "Running";
        all.iter().filter(is_running).count()
    };
    for first in (0..pods).step_by(100) {
        let last = pods.min(first + 100);
        for number in first..last {
            cluster.create(&pod(&format!("p-{number}")).template_claim("gpu", "one"));
        }
        wait_for(&format!("{last} pods run"), || (running() >= last).then_some(()));
        eprintln!("{last} pods run after {:.0?}", begun.elapsed());
    }

    let list = run(&cluster, &["check"], 0).exits(0);
    let list = assert_valid(&list.stdout);
    assert_eq!(list["items"], json!([]), "{list:#}");
    let status = assert_valid(&run(&cluster, &["status"], 0).exits(0).stdout);
    assert_eq!(
        status["podStages"],
        json!([{"stage": "Running", "count": pods, "stuck": 0}]),
        "{status:#}"
    );
    run(&cluster, &["explain", "-A"], 0).exits(0);
    assert_eq!(explained(&cluster, "p-0", 0)["verdict"], "Bound");

    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("snapshot.yaml").display().to_string();
    cluster.kubectl_dra(["snapshot", "--out", &file]).run().exits(0);
    let request = Request {
        names: &[file],
        namespace: "default",
        strict: true,
        versions: &VersionSettings::default(),
        started: None,
    };
    let needs = Needs::kinds(EXPLAIN_NEEDS);
    let state = load(&request, &needs, Arc::new(Unobserved))
        .expect("the snapshot")
        .cluster;
    let now: Time = jiff::Timestamp::now().to_string().parse().expect("a time");
    let budget = Budget::new(1_000_000);
    let settings = Settings {
        nodes: Vec::new(),
        now,
        budget: &budget,
        observer: &(),
        run: &in_order,
        has_fixes: true,
    };
    let begun = Instant::now();
    let mut count = 0;
    for pod in state.pods().filter(|pod| &*pod.metadata.namespace == "default") {
        let report = Explanation::from(explain_pod(&state, pod, &settings));
        let stage = report.stage.as_ref().expect("a stage");
        assert!(
            stage.stage == Stage::Running && stage.stuck.is_none() && report.verdict == ClusterVerdict::Bound,
            "{report:?}"
        );
        let node = pod.node().expect("a node");
        let expected = format!("the pod is running on {node} with {DRIVER}/{node}/gpu-");
        assert!(
            report.summary.to_string().starts_with(&expected),
            "{}",
            report.summary
        );
        count += 1;
    }
    assert_eq!(count, pods);
    eprintln!("{pods} pods explained in {:.1?}", begun.elapsed());
}
