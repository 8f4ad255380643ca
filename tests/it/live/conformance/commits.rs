//! Requirements from commits to the two controllers that none of their test cases covers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::scene::{Scene, serve_a_marker, wait_for_claim};
use super::taints::{Data, Scene as Taints};
use super::{GATES, Working, asked_in, nobody_works, text, told, worker};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::objects::{
    Manifest, claim_spec, gpu, gpu_class, namespace, pod, taint, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::wait::wait_for;

const CLAIMING: [&str; 2] = ["--controllers", "resourceclaim"];

/// It is told to end: nothing comes after that, and the lease is given up. It ends as well where no API server answers any more.
#[test]
fn it_exits_on_request() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    cluster.create(&namespace("leases"));
    cluster.create_all(&[gpu_class(), template("t", claim_spec([gpu()]))]);
    let start = || {
        let args = [
            "run",
            "--take-over",
            "--assume-builtin-disabled",
            "--feature-gates",
            GATES,
            "--lease",
            "leases/run",
        ];
        let process = user.kubectl_dra(args).start();
        wait_for("it works", || {
            process.stderr().contains("-controller for ").then_some(())
        });
        process
    };
    let process = start();
    cluster.create(&pod("first").template_claim("gpu", "t"));
    wait_for_claim(&cluster, "pod/default/first");
    process.signal(Signal::TERM);
    process.finish().exits(0);
    let holder = &cluster.get("lease/leases/run")["spec"]["holderIdentity"];
    assert!(holder.as_str().is_none_or(str::is_empty), "{holder}");
    // The API server writes down the end of a watch once it notices.
    let asked = || {
        let mut asked = cluster.requests_of("worker");
        asked.retain(|request| !request.starts_with("watch "));
        asked
    };
    let before = asked();
    cluster.create(&pod("second").template_claim("gpu", "t"));
    assert_eq!(asked(), before);

    // With an event on its way that nobody takes.
    let process = start();
    wait_for_claim(&cluster, "pod/default/second");
    cluster.create(&pod("third").template_claim("gpu", "missing"));
    cluster.stop(Component::ApiServer);
    process.signal(Signal::TERM);
    let run = process.finish();
    assert_eq!(run.signal, None, "{}", run.stderr);
    cluster.resume(Component::ApiServer);
}

/// The controller makes claims of what templates say, whether it knows it or not.
#[test]
fn a_claim_has_what_its_template_says() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scene = Scene::new(&cluster, "spec");
    scene.create_all(&["template".to_owned(), "pod entry".to_owned()]);
    let by = user.faulty(|path, _| {
        if path.contains("/resourceclaimtemplates") && !path.contains("watch=true") {
            Fault::Replaced(
                r#"{"devices":{"#,
                r#"{"ofTomorrow":{"some":["thing"]},"devices":{"#,
            )
        } else {
            Fault::None
        }
    });
    let working = Working::start(&user, Some(&by), GATES, &CLAIMING);
    wait_for_claim(&cluster, "pod/spec/p");
    working.end();
    let sent = by.sent("POST /apis/resource.k8s.io/v1/namespaces/spec/resourceclaims");
    assert_eq!(sent.len(), 1);
    assert_eq!(
        sent[0]["spec"]["ofTomorrow"],
        json!({"some": ["thing"]}),
        "{:#}",
        sent[0]
    );
}

/// Nobody is allocated to, an allocation without consumers stays, and what a pod does not need is not made.
#[test]
fn what_is_left_alone() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut unallocated = Scene::new(&cluster, "unallocated");
    unallocated.create_all(&[
        "pod entry node status=c".to_owned(),
        "template".to_owned(),
        "claim c for=pod made".to_owned(),
    ]);
    let mut emptied = Scene::new(&cluster, "emptied");
    emptied.create_all(&[
        "pod name=o".to_owned(),
        "claim c allocated reserved=o protected".to_owned(),
    ]);
    let mut unneeded = Scene::new(&cluster, "unneeded");
    unneeded.create_all(&["pod entry second".to_owned(), "template".to_owned()]);
    cluster.patch_status(
        "pod/unneeded/p",
        &json!({"status": {"resourceClaimStatuses": [{"name": "acme"}]}}),
    );

    let working = Working::start(&user, None, GATES, &CLAIMING);
    wait_for("the other entry has its claim", || {
        let claims = cluster.list("claim/unneeded");
        let entry = |claim: &Value| {
            claim["metadata"]["annotations"]["resource.kubernetes.io/pod-claim-name"] == "second"
        };
        (claims.len() == 1 && entry(&claims[0])).then_some(())
    });
    cluster.patch_status("claim/emptied/c", &json!({"status": {"reservedFor": null}}));
    serve_a_marker(&cluster, "marker", true);
    working.end();
    assert_eq!(unallocated.claims(), ["claim c for=pod made"]);
    assert_eq!(asked_in(&cluster, "unallocated"), [""; 0]);
    assert_eq!(emptied.claims(), ["claim c allocated protected"]);
    assert_eq!(asked_in(&cluster, "emptied"), [""; 0]);
    assert_eq!(cluster.list("claim/unneeded").len(), 1);
}

/// Every line about an item says which controller looks at it, and events are told there from `-v 3` on.
#[test]
fn what_the_log_says() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let data = Data::read();
    let mut evicted = Taints::new(&cluster, &data, "evicted");
    for object in ["pod", "claim"] {
        evicted.put(object);
    }
    let mut waiting = Scene::new(&cluster, "waiting");
    waiting.create("pod entry");
    let by = user.faulty(|path, before| {
        if before == 0 && path.contains("/namespaces/refused/resourceclaims") && path.starts_with("POST ") {
            Fault::Refusal(422, "", "not today".to_owned())
        } else {
            Fault::None
        }
    });
    for (verbosity, is_told) in [("2", false), ("3", true)] {
        let flags = ["--log-format", "json", "-v", verbosity];
        let working = Working::start_when(&user, Some(&by), GATES, &flags, "\"running\"");
        if is_told {
            evicted.put("tainted");
            cluster.wait_gone("pod/evicted/p");
            let mut refused = Scene::new(&cluster, "refused");
            refused.create_all(&["template".to_owned(), "pod entry".to_owned()]);
            wait_for_claim(&cluster, "pod/refused/p");
        }
        serve_a_marker(&cluster, &format!("marker-{verbosity}"), true);
        wait_for("it has said so", || {
            let told = told(&cluster, "waiting", "FailedResourceClaimCreation");
            (!told.is_empty()).then_some(())
        });
        let log: Vec<Value> = working
            .end()
            .stderr
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect();
        let says = |message: &str, controller: &str, object: &str| {
            log.iter().any(|line| {
                text(line, "/message").contains(message)
                    && line["controller"] == controller
                    && line["object"] == object
            })
        };
        let missing = "resourceclaimtemplate.resource.k8s.io \"t\" not found";
        assert_eq!(
            says(missing, "resourceclaim-controller", "Pod/waiting/p"),
            is_told,
            "{log:#?}"
        );
        let marking = says(
            "Marking for deletion",
            "device-taint-eviction-controller",
            "Pod/evicted/p",
        );
        assert_eq!(marking, is_told, "{log:#?}");
        for line in log.iter().filter(|line| !line["object"].is_null()) {
            let controller = text(line, "/controller");
            assert!(
                ["resourceclaim-controller", "device-taint-eviction-controller"].contains(&controller),
                "{line}"
            );
        }
    }
}

/// Watches end for so long that only a new list shows which pods are gone.
#[test]
fn deletions_during_an_interruption_are_noticed() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scene = Scene::new(&cluster, "gone");
    scene.create_all(&[
        "pod entry status=c".to_owned(),
        "claim c for=pod allocated reserved=pod protected".to_owned(),
    ]);
    let (is_away, is_back, expired) = <(Arc<AtomicBool>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
    let by = user.faulty({
        let (is_away, is_back, expired) = (Arc::clone(&is_away), Arc::clone(&is_back), Arc::clone(&expired));
        move |path, _| {
            let is_watch = path.starts_with("/api/v1/pods?") && path.contains("watch=true");
            if is_away.load(Ordering::SeqCst) {
                return Fault::Close;
            }
            if is_watch && expired.swap(false, Ordering::SeqCst) {
                return Fault::Refusal(410, "", "too old resource version".to_owned());
            }
            // Watches do not outlive the time without an API server. Before it each has to show that it works, on a busy machine too.
            if path.contains("watch=true") && !is_back.load(Ordering::SeqCst) {
                Fault::Passing(std::time::Duration::from_secs(2))
            } else {
                Fault::None
            }
        }
    });
    let working = Working::start(&user, Some(&by), GATES, &CLAIMING);
    is_away.store(true, Ordering::SeqCst);
    expired.store(true, Ordering::SeqCst);
    // Every watch has ended by then, as it may not go on for more than two seconds.
    std::thread::sleep(std::time::Duration::from_secs(4));
    scene.remove("pod entry");
    is_back.store(true, Ordering::SeqCst);
    is_away.store(false, Ordering::SeqCst);
    wait_for("its reservation goes", || {
        (scene.claims() == ["claim c for=pod"]).then_some(())
    });
    assert!(!expired.load(Ordering::SeqCst));
    working.wait_until_in_step();
    working.end();
}

/// Which pods are gone is remembered of five hundred, and those without claims do not count.
#[test]
fn pods_without_claims_are_not_remembered() {
    const MANY: usize = 510;
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scene = Scene::new(&cluster, "plain");
    let working = Working::start(&user, None, GATES, &CLAIMING);
    // By name, so that the claim is not the pod's.
    scene.create("claim c allocated protected");
    let consumer = cluster.create(&pod("consumer").in_namespace("plain").named_claim("gpu", "c"));
    cluster.delete_now("pod/plain/consumer");
    std::thread::scope(|scope| {
        for part in 0..6 {
            let cluster = &cluster;
            scope.spawn(move || {
                for number in (0..MANY).filter(|number| number % 6 == part) {
                    let name = format!("p{number}");
                    cluster.create(&pod(&name).in_namespace("plain"));
                    cluster.delete_now(&format!("pod/plain/{name}"));
                }
            });
        }
    });
    serve_a_marker(&cluster, "marker", false);
    let entry = json!({"resource": "pods", "name": "consumer", "uid": consumer["metadata"]["uid"]});
    cluster.patch_status("claim/plain/c", &json!({"status": {"reservedFor": [entry]}}));
    wait_for("its reservation goes", || {
        (scene.claims() == ["claim c"]).then_some(())
    });
    working.end();
    let mut gets = asked_in(&cluster, "plain");
    gets.retain(|request| request.starts_with("get "));
    assert_eq!(gets, [""; 0]);
}

/// Names of pods and entries can run together, and every pod has its own claim still.
#[test]
fn every_pod_has_a_claim_of_its_own() {
    const ROUNDS: usize = 20;
    let cluster = nobody_works();
    let user = worker(&cluster);
    cluster.create_all(&[gpu_class(), template("t", claim_spec([gpu()]))]);
    let working = Working::start(&user, None, GATES, &CLAIMING);
    for number in 0..ROUNDS {
        cluster.create(&pod(&format!("n{number}-a-b")).template_claim("c", "t"));
        cluster.create(&pod(&format!("n{number}-a")).template_claim("b-c", "t"));
    }
    let mut names = std::collections::BTreeSet::new();
    for number in 0..ROUNDS {
        for (name, entry) in [(format!("n{number}-a-b"), "c"), (format!("n{number}-a"), "b-c")] {
            let made = wait_for_claim(&cluster, &format!("pod/default/{name}"));
            let claim = cluster.get(&format!("claim/default/{made}"));
            assert_eq!(claim["metadata"]["ownerReferences"][0]["name"], name.as_str());
            assert_eq!(
                claim["metadata"]["annotations"]["resource.kubernetes.io/pod-claim-name"],
                entry
            );
            assert!(made.starts_with(&format!("n{number}-a-b-c-")), "{made}");
            names.insert(made);
        }
    }
    working.end();
    assert_eq!(names.len(), 2 * ROUNDS);
    assert_eq!(cluster.list("claim").len(), 2 * ROUNDS);
}

/// Pods come all the time while the program starts, again and again: none is between its list and its watch.
#[test]
fn nothing_is_lost_between_list_and_watch() {
    const STARTS: usize = 6;
    let cluster = nobody_works();
    let user = worker(&cluster);
    cluster.create_all(&[gpu_class(), template("t", claim_spec([gpu()]))]);
    let mut made = 0;
    for _ in 0..STARTS {
        let is_starting = AtomicBool::new(true);
        let (working, count) = std::thread::scope(|scope| {
            let making = scope.spawn(|| {
                let mut count = 0;
                while is_starting.load(Ordering::SeqCst) {
                    cluster.create(&pod(&format!("p{}", made + count)).template_claim("gpu", "t"));
                    count += 1;
                }
                count
            });
            let working = Working::start(&user, None, GATES, &CLAIMING);
            is_starting.store(false, Ordering::SeqCst);
            (working, making.join().expect("it makes pods"))
        });
        made += count;
        wait_for("every pod has its claim", || {
            let pods = cluster.list("pod");
            let mut names = pods
                .iter()
                .map(|pod| text(pod, "/status/resourceClaimStatuses/0/resourceClaimName"));
            names.all(|name| !name.is_empty()).then_some(())
        });
        working.end();
    }
    assert_eq!(cluster.list("claim").len(), made);
}

/// Objects are read and written in the versions that an older API server has, and without the group nothing begins.
#[test]
fn an_older_api_server_is_spoken_to_in_its_versions() {
    let options = Options::default()
        .emulated_version("1.36")
        .without(Component::Scheduler)
        .without(Component::ControllerManager);
    let cluster = Cluster::start(&options);
    let user = worker(&cluster);
    let gates = "GenericWorkload=false,DRAWorkloadResourceClaims=false,DRADeviceTaintRules=true";
    cluster.create_all(&[gpu_class(), template("t", claim_spec([gpu()]))]);
    let working = Working::start(&user, None, gates, &[]);
    let created = cluster.create(
        &pod("p")
            .template_claim("gpu", "t")
            .on_node("worker")
            .with(json!({"spec": {"terminationGracePeriodSeconds": 0}})),
    );
    let made = wait_for_claim(&cluster, "pod/default/p");
    let uid = &created["metadata"]["uid"];
    cluster.patch_status(
        &format!("claim/default/{made}"),
        &json!({"status": {"allocation": {"devices": {"results": [
            {"driver": "d.example.com", "pool": "worker", "device": "instance", "request": "gpu"}]}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": uid}]}}),
    );
    let mut rule = taint_rule(
        "evict",
        json!({"driver": "d.example.com"}),
        taint("example.com/broken", "", "NoExecute"),
    );
    rule["apiVersion"] = json!("resource.k8s.io/v1beta2");
    let path = "/apis/resource.k8s.io/v1beta2/devicetaintrules";
    let answer = cluster.request(&http::Method::POST, path, &rule);
    assert!(answer.is_success(), "{answer:?}");
    cluster.wait_gone("pod/default/p");
    wait_for("the rule has its condition", || {
        let rule = cluster
            .request(&http::Method::GET, &format!("{path}/evict"), &Value::Null)
            .body;
        let condition = &rule["status"]["conditions"][0];
        (condition["reason"] == "Completed").then_some(())
    });
    working.end();
    drop(cluster);

    let cluster = Cluster::start(&options.runtime_config(
        "resource.k8s.io/v1=false,resource.k8s.io/v1beta2=false,resource.k8s.io/v1beta1=false",
    ));
    let user = worker(&cluster);
    let run = user
        .kubectl_dra(["run", "--take-over", "--assume-builtin-disabled", "--no-lease"])
        .run()
        .exits(3);
    assert!(run.stderr.contains("resource.k8s.io"), "{}", run.stderr);
    assert!(
        cluster
            .requests_of("worker")
            .iter()
            .all(|request| !super::super::take_over::is_write(request))
    );
}
