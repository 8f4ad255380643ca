//! How long `convert` takes to plan on a loaded cluster: 10,000 claims, each reserved for a PodGroup of 20 pods.
//!
//! Prints the best of several runs beside a baseline of the same run, which walks over the same claims and pods and writes down who is
//! a member: the least that any planner has to do. The ratio of both says more than either on a machine that is busy with something else.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

use std::time::{Duration, Instant};

use dra_model::{
    Cluster, ClusterBuilder, Component, Environment, Evidence, Gate, GateState, Interner, Kind, Object,
    with_interner,
};
use dra_reports::Selection;
use dra_reports::conversion::{planned, verification};
use dra_rules::reservation::conversion::{Kinds, Options, plan};
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CLAIMS: usize = 10_000;
const MEMBERS: usize = 20;

fn main() {
    let cluster = cluster();
    let options = Options::default();
    let (baseline, pods) = best(|| {
        let mut written = String::new();
        let mut pods = 0;
        for claim in cluster.claims() {
            for pod in cluster.pods_of_claim(&claim.key()) {
                pods += 1;
                written.push_str(&pod.metadata.name);
                written.push_str(&pod.metadata.uid);
            }
        }
        assert!(written.len() > pods);
        pods
    });
    assert_eq!(pods, CLAIMS * MEMBERS);
    println!("{:<28} {baseline:>10.1?}", "walk over claims and pods");
    let show = |name: &str, (time, claims): (Duration, usize)| {
        assert_eq!(claims, CLAIMS);
        let ratio = time.as_secs_f64() / baseline.as_secs_f64();
        println!("{name:<28} {time:>10.1?} {ratio:>6.1} times the walk");
    };
    show(
        "plan",
        best(|| {
            let claims = cluster.claims().map(|claim| &**claim);
            plan(&cluster, claims, &options).claims.len()
        }),
    );
    let everything = Selection::default();
    show(
        "plan as a report",
        best(|| planned(&cluster, &everything, &options).claims.len()),
    );
    show(
        "verify",
        best(|| verification(&cluster, &everything, &Kinds::PodGroups).claims),
    );
}

fn best(mut work: impl FnMut() -> usize) -> (Duration, usize) {
    let mut best = Duration::MAX;
    let mut result = 0;
    for _ in 0..7 {
        let start = Instant::now();
        result = work();
        best = best.min(start.elapsed());
    }
    (best, result)
}

fn cluster() -> Cluster {
    let mut builder = ClusterBuilder::default();
    // As every source does it.
    let mut interner = Interner::default();
    let mut add = |kind: Kind, object: &Value| {
        let json = object.to_string();
        let decode = || Object::from_json(kind, json.as_bytes());
        builder.add(with_interner(&mut interner, decode).expect("an object"));
    };
    for number in 0..CLAIMS {
        let namespace = format!("team-{}", number % 100);
        let (claim, group) = (format!("claim-{number}"), format!("group-{number}"));
        let group_uid = format!("9a3c1f4e-0000-4000-8000-{number:012}");
        add(
            Kind::PodGroup,
            &json!({"metadata": {"namespace": namespace, "name": group, "uid": group_uid}}),
        );
        add(
            Kind::ResourceClaim,
            &json!({
                "metadata": {"namespace": namespace, "name": claim, "uid": format!("c1f4e9a3-0000-4000-8000-{number:012}"),
                    "resourceVersion": number.to_string()},
                "status": {"allocation": {"devices": {"results": []}}, "reservedFor": [
                    {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": group, "uid": group_uid}]},
            }),
        );
        for member in 0..MEMBERS {
            let place = number * MEMBERS + member;
            add(
                Kind::Pod,
                &json!({
                    "metadata": {"namespace": namespace, "name": format!("{group}-{member}"),
                        "uid": format!("4e9a3c1f-0000-4000-8000-{place:012}")},
                    "spec": {"nodeName": format!("node-{}", place % 5000), "schedulingGroup": {"podGroupName": group},
                        "resourceClaims": [{"name": "devices", "resourceClaimName": claim}]},
                    "status": {"phase": "Running"},
                }),
            );
        }
    }
    let on = || GateState {
        enabled: true,
        evidence: Evidence::Flag,
    };
    let mut environment = Environment::default();
    environment
        .gates
        .push((Component::ApiServer, Gate::GenericWorkload, on()));
    for component in [Component::Scheduler, Component::ControllerManager] {
        environment
            .gates
            .push((component, Gate::DRAWorkloadResourceClaims, on()));
    }
    builder.build(environment).0
}
