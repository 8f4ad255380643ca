//! Reactions of a take-over to long faults: lost permissions, a lost history of the cluster.

#![expect(
    clippy::print_stderr,
    reason = "how soon it goes on is a figure, and decides nothing"
)]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::operation::Operated;
use super::take_over::{
    assert_sound, at_work, end, end_in_step, make_pod, making_claims, probed, wait_for_claims, worker,
};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, gpu_slice, pod};
use crate::support::cluster::{Cluster, Component};
use crate::support::wait::wait_for;

/// Returns whether a rule of the role is about claims.
fn makes_claims(role: &Value) -> bool {
    let mut rules = role["rules"].as_array().into_iter().flatten();
    rules.any(|rule| rule["resources"] == json!(["resourceclaims"]))
}

/// The ClusterRole of the user who does the work.
fn role(cluster: &Cluster) -> String {
    let mut names = cluster.list("clusterrole").into_iter().filter_map(|role| {
        let name = role["metadata"]["name"].as_str()?;
        let is_it = name.starts_with("worker-") && makes_claims(&role);
        is_it.then(|| format!("clusterrole/{name}"))
    });
    names.next().expect("the user has a role")
}

#[test]
fn items_without_permission_wait_and_the_rest_continues() {
    let cluster = making_claims();
    cluster.add_nodes(["gpu-node-1"]);
    cluster.create(&gpu_slice("gpu-node-1", 8));
    let user = worker(&cluster);
    let take_over = ["--take-over", "--assume-builtin-disabled", "--no-lease"];
    let operated = Operated::start(&user, &take_over);
    cluster.run(&[pod("ends").template_claim("gpu", "one")]);
    let claim = cluster.claim_of("pod/default/ends", "gpu");

    let role = role(&cluster);
    let granted = cluster.get(&role)["rules"].clone();
    cluster.update(&role, |role| {
        for rule in role["rules"].as_array_mut().into_iter().flatten() {
            if rule["resources"] == json!(["resourceclaims"]) {
                rule["verbs"] = json!(["get", "list", "watch", "patch", "delete"]);
            }
        }
    });
    // The API server knows it a little later.
    let mut made = 0;
    wait_for("a claim cannot be made", || {
        make_pod(&cluster, made);
        made += 1;
        operated.ask("/readyz").contains(" 503 ").then_some(())
    });
    let missing = "cannot create resource \"resourceclaims\"";
    operated.wait_for("/readyz", missing);
    // Another item is written, and it is still said that a right is missing.
    cluster.set_phase("pod/default/ends", Phase::Succeeded);
    wait_for("its claim is released", || {
        let claim = cluster.find(&claim);
        claim
            .is_none_or(|claim| claim["status"]["reservedFor"].is_null())
            .then_some(())
    });
    let answer = operated.ask("/readyz");
    assert!(answer.contains(" 503 ") && answer.contains(missing), "{answer}");

    // What is wanted no more is no longer told, long before its turn would come again.
    for number in 0..made {
        cluster.delete_now(&format!("pod/default/p{number}"));
    }
    operated.wait_for("/readyz", " 200 OK");
    make_pod(&cluster, made);
    operated.wait_for("/readyz", missing);

    cluster.update(&role, |role| role["rules"] = granted.clone());
    cluster.wait(&format!("pod/default/p{made}"), "has its claim", |pod| {
        pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].is_string()
    });
    operated.wait_for("/readyz", " 200 OK");
    operated.end();
}

/// Fault of the connection to the API server.
type Wrong = fn(&str) -> Fault;

/// Duration of a fault. Retries with growing pauses are far apart by then.
const LASTS: Duration = Duration::from_secs(15);

#[test]
fn what_had_to_wait_for_the_end_of_a_fault_is_done_soon_after_it() {
    let faults: [(&str, Wrong); 5] = [
        ("every connection is closed", |_| Fault::Close),
        ("everything is answered by 503", |_| {
            Fault::Refusal(503, "", "busy".to_owned())
        }),
        ("everything is answered by 429", |_| {
            Fault::Refusal(429, "Retry-After: 1\r\n", "busy".to_owned())
        }),
        ("no object can be looked up", |path| {
            if path.contains("/namespaces/default/pods/") {
                Fault::Refusal(500, "", "busy".to_owned())
            } else {
                Fault::None
            }
        }),
        ("nothing can be written", |path| {
            if path.starts_with('/') {
                Fault::None
            } else {
                Fault::Refusal(504, "", "busy".to_owned())
            }
        }),
    ];
    let cluster = making_claims();
    cluster.create(&claim("shared", claim_spec([gpu()])));
    let user = worker(&cluster);
    let wrong: Arc<Mutex<Option<Wrong>>> = Arc::default();
    let now = Arc::clone(&wrong);
    let by = user.faulty(move |path, _| {
        let wrong = *now.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.map_or(Fault::None, |wrong| wrong(path))
    });
    let set = |fault| *wrong.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    // A lease is lost after ten seconds.
    let process = at_work(&user, Some(&by), &["--no-lease"]);
    for (number, (what, fault)) in faults.into_iter().enumerate() {
        set(Some(fault));
        make_pod(&cluster, number);
        // Whoever this is for is asked for by a lookup, as no watch knows it.
        let ghost =
            json!({"resource": "pods", "name": format!("ghost-{number}"), "uid": format!("ghost-{number}")});
        cluster.patch_status(
            "claim/default/shared",
            &json!({"status": {"allocation": {}, "reservedFor": [ghost]}}),
        );
        std::thread::sleep(LASTS);
        let is_released = || cluster.get("claim/default/shared")["status"]["reservedFor"].is_null();
        assert!(!is_released(), "{what}\n{}", process.stderr());
        set(None);
        let over = Instant::now();
        let pod = format!("pod/default/p{number}");
        cluster.wait(&pod, "has its claim", |pod| {
            pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].is_string()
        });
        wait_for("what is for nobody is released", || is_released().then_some(()));
        eprintln!(
            "{what}: all is done {:.1} s after the end",
            over.elapsed().as_secs_f64()
        );
    }
    end(process).exits(0);
}

#[test]
fn a_history_that_etcd_has_forgotten_is_made_up_for() {
    let cluster = making_claims();
    cluster.reconfigure(|options| {
        *options = options
            .clone()
            .arg(Component::ApiServer, "--etcd-compaction-interval=1s");
    });
    let user = worker(&cluster);
    let operated = probed(&user, &["--no-lease"]);
    for number in 0..10 {
        make_pod(&cluster, number);
    }
    wait_for_claims(&cluster, 10);
    operated.process.signal(Signal::STOP);
    let version = cluster.get("pod/default/p9")["metadata"]["resourceVersion"].clone();
    let version = version.as_str().expect("a version");
    cluster.delete_now("pod/default/p0");
    for number in 10..20 {
        make_pod(&cluster, number);
    }
    let path = format!("/api/v1/pods?resourceVersion={version}&resourceVersionMatch=Exact&limit=1");
    let mut written = 0;
    wait_for("the history is compacted", || {
        // There has to be something to compact.
        written += 1;
        let label = json!({"metadata": {"labels": {"written": written.to_string()}}});
        cluster.patch("pod/default/p9", &label);
        let answer = cluster.request(&http::Method::GET, &path, &Value::Null);
        (answer.status == 410).then_some(())
    });
    // The API server forgets what it remembers itself.
    cluster.stop(Component::ApiServer);
    cluster.resume(Component::ApiServer);
    operated.process.signal(Signal::CONT);
    wait_for_claims(&cluster, 19);
    wait_for("the claim of the pod that is gone is gone", || {
        (cluster.list("claim").len() == 19).then_some(())
    });
    assert_sound(&cluster, 19, &end_in_step(operated).exits(0).stderr);
}
