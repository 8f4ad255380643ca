//! Checks of upstream's other tests of the taint eviction controller, and of its commits: progress of an eviction, in which
//! requests, and what comes in between.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::history::Conditions;
use super::taints::{Data, EVICTION, Scene, evict_a_marker, much_later, now};
use super::{Working, asked, nobody_works, text, worker};
use crate::support::cluster::faulty::{Fault, Gate};
use crate::support::cluster::objects::{Manifest, claim_spec, gpu, gpu_class, pod, template};
use crate::support::wait::{try_wait, wait_for};

const EVICTING: [&str; 2] = ["--controllers", "device-taint-eviction"];
const DELETIONS: &str = "device_taint_eviction_controller_pod_deletions_total";
const DURATIONS: &str = "device_taint_eviction_controller_pod_deletion_duration_seconds";

/// Every order of three things.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The value of a metric without labels.
fn value(working: &Working, name: &str) -> f64 {
    let lines = working.metric(&format!("{name} "));
    let value = lines
        .first()
        .and_then(|line| line.rsplit(' ').next()?.parse().ok());
    value.unwrap_or(0.0)
}

/// Waits until that many evictions have counted.
fn wait_for_deletions(working: &Working, count: u32) {
    wait_for(&format!("{count} evictions"), || {
        (value(working, DELETIONS) >= f64::from(count)).then_some(())
    });
    assert!((value(working, DELETIONS) - f64::from(count)).abs() < 0.5);
    assert!((value(working, &format!("{DURATIONS}_count")) - f64::from(count)).abs() < 0.5);
}

#[test]
fn eviction() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scenes = Vec::new();
    let scene = |name: &str, initial: &[&str]| {
        let mut scene = Scene::new(&cluster, &data, name);
        for object in initial {
            scene.put(object);
        }
        scene
    };
    // What the watches say of pods, slices and claims.
    let gates: [Gate; 3] = Default::default();
    let by = user.faulty({
        let gates = gates.clone();
        move |path, _| {
            let watches = ["/pods?", "/resourceslices?", "/resourceclaims?"];
            let held = watches.iter().position(|watch| path.contains(watch));
            match held.filter(|_| path.contains("watch=true")) {
                Some(held) => Fault::Held(gates[held].clone()),
                None => Fault::None,
            }
        }
    });

    // All is there when it starts.
    scenes.push(scene("initial", &["pod", "claim", "tainted"]));
    let mut evicted = 1;
    let working = Working::start(&user, Some(&by), super::GATES, &EVICTING);
    wait_for_deletions(&working, evicted);
    let durations = working.metric(DURATIONS);
    assert!(
        durations.iter().any(|line| line.contains("_count 1")),
        "{durations:?}"
    );

    // All comes later, and is seen in any order.
    for (number, order) in ORDERS.iter().enumerate() {
        gates.iter().for_each(Gate::close);
        let scene = scene(&format!("add{number}"), &["pod", "tainted", "claim"]);
        for place in order {
            gates[*place].open_and_pass();
        }
        evicted += 1;
        wait_for_deletions(&working, evicted);
        scenes.push(scene);
    }

    // All is there, but not as it has to be for an eviction.
    for (number, order) in ORDERS.iter().enumerate() {
        let events = ["pod-unscheduled>pod", "slice>tainted", "free>claim"];
        let mut scene = scene(&format!("update{number}"), &["pod-unscheduled", "slice", "free"]);
        for place in order {
            scene.apply(events[*place]);
        }
        evicted += 1;
        wait_for_deletions(&working, evicted);
        scenes.push(scene);
    }

    // A slice of a newer generation hides the taint, and another claim has the name.
    let mut shadowed = scene("delete", &["pod", "shadow", "tainted", "free"]);
    for event in ["-shadow", "-free", "+claim"] {
        shadowed.apply(event);
    }
    evicted += 1;
    wait_for_deletions(&working, evicted);
    scenes.push(shadowed);

    // What the spec says counts for nothing, as the allocation does not say it: so it was allocated by an older release.
    let mut old = scene("old", &["pod", "claim"]);
    let spec = json!({"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com",
        "tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}}]}}});
    let claim = cluster.get("claim/old/c");
    cluster.delete_now("claim/old/c");
    let again = cluster.create(&json!({"apiVersion": claim["apiVersion"], "kind": "ResourceClaim",
        "metadata": {"namespace": "old", "name": "c", "ownerReferences": claim["metadata"]["ownerReferences"]}}).with(spec));
    assert!(again["spec"]["devices"]["requests"][0]["exactly"]["tolerations"].is_array());
    cluster.patch_status("claim/old/c", &json!({"status": claim["status"]}));
    old.put("tainted");
    evicted += 1;
    wait_for_deletions(&working, evicted);
    scenes.push(old);

    let stderr = working.end().stderr;
    let asked = asked(&cluster);
    for scene in &scenes {
        let name = &scene.namespace;
        assert_eq!(scene.pods().len(), 0, "{name}");
        assert_eq!(scene.counts("n/p"), (1, 0), "{name}");
        assert_eq!(scene.asked("n/p", &asked), EVICTION, "{name}\n{stderr}");
    }
    assert_eq!(scenes.len(), 1 + 6 + 6 + 1 + 1);
}

/// Entries of pods that are gone, or that are others, do not save the rest.
#[test]
fn every_consumer_of_a_claim_goes() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scene = Scene::new(&cluster, &data, "many");
    for object in ["pod", "claim", "simple"] {
        scene.put(object);
    }
    let uid = |name: &str| {
        let pod = pod(name)
            .in_namespace("many")
            .on_node("worker")
            .named_claim("gpu", "c");
        text(&cluster.create(&pod), "/metadata/uid").to_owned()
    };
    uid("replaced");
    let live = uid("live");
    let entries: Vec<Value> = [
        ("gone", "00000000-0000-0000-0000-00000000000b"),
        ("replaced", "00000000-0000-0000-0000-00000000000c"),
    ]
    .into_iter()
    .chain([("live", live.as_str())])
    .map(|(name, uid)| json!({"resource": "pods", "name": name, "uid": uid}))
    .collect();
    cluster.update_status("claim/many/c", |claim| {
        let known = claim["status"]["reservedFor"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        claim["status"]["reservedFor"] = json!([entries.clone(), known].concat());
    });
    let working = Working::start(&user, None, super::GATES, &EVICTING);
    scene.put("tainted");
    wait_for_deletions(&working, 2);
    evict_a_marker(&cluster, &data, "marker");
    working.end();
    // On a node that nobody looks after the pod itself stays for its grace period.
    let leaving = |name: &str| {
        cluster
            .find(&format!("pod/many/{name}"))
            .is_none_or(|pod| pod["metadata"]["deletionTimestamp"].is_string())
    };
    assert!(leaving("p") && leaving("live") && !leaving("replaced"));
}

#[test]
fn device_taint_rule() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let conditions = Conditions::watch(&cluster);
    let (held, reached) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    held.close();
    let by = user.faulty({
        let (held, reached) = (held.clone(), Arc::clone(&reached));
        move |path, _| {
            if path.starts_with("DELETE /api/v1/namespaces/slow/") {
                reached.fetch_add(1, Ordering::SeqCst);
                held.wait();
            }
            Fault::None
        }
    });
    let working = Working::start(&user, Some(&by), super::GATES, &EVICTING);
    let mut scenes: Vec<(Scene<'_>, i64)> = [
        ("immediate", "claim", 0),
        ("delayed", "claim-tolerating-30", 30),
        ("slow", "claim-tolerating-30", 30),
    ]
    .into_iter()
    .map(|(name, claim, due)| {
        let mut scene = Scene::new(&cluster, &data, name);
        scene.epoch = much_later();
        for object in ["pod", claim] {
            scene.put(object);
        }
        (scene, due)
    })
    .collect();
    // Rules have a watch of their own, and the first status of a new one is computed at once: all that it is about has to be seen before.
    evict_a_marker(&cluster, &data, "seen");
    for (scene, _) in &mut scenes {
        scene.put("none");
    }
    let counted = "NoEffect 0 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the effect \
                   was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.";
    let pending = "PodsPendingEviction 1 pod needs to be evicted in 1 namespace.";
    let completed = "Completed 1 pod evicted since starting the controller.";
    let wait_until = |scene: &Scene<'_>, expected: &[&str]| {
        let rule = scene.named("evict");
        let told = try_wait(|| {
            let told = conditions.of(&rule);
            if told == expected { Ok(()) } else { Err(told) }
        });
        assert_eq!(
            told,
            Ok(()),
            "{rule} instead of {expected:?}\n{}",
            working.process.stderr()
        );
    };
    // A rule without effect counts whom it would evict.
    for (scene, _) in &scenes {
        wait_until(scene, &[counted]);
    }
    for (scene, _) in &mut scenes {
        scene.apply("none>none-evicts");
    }
    for (scene, _) in &scenes {
        wait_until(scene, &[counted, pending]);
        assert_eq!(scene.counts("n/p"), (0, 0));
    }
    // The time comes.
    for (scene, due) in &mut scenes {
        scene.pass(*due + 20);
    }
    wait_for("the slow one is being deleted", || {
        (reached.load(Ordering::SeqCst) > 0).then_some(())
    });
    for (scene, _) in &scenes[..2] {
        wait_until(scene, &[counted, pending, completed]);
    }
    // Its condition is looked at every 10 s, and has to stay until the pod is gone. The others have had theirs for so long by now.
    std::thread::sleep(Duration::from_secs(3));
    wait_until(&scenes[2].0, &[counted, pending]);
    held.open();
    wait_until(&scenes[2].0, &[counted, pending, completed]);
    assert!(value(&working, &format!("{DURATIONS}_sum")) > 3.0);
    // Nothing is kept of a rule that is gone.
    for (scene, _) in &mut scenes {
        scene.remove("none-evicts");
        scene.put("evict");
    }
    for (scene, _) in &scenes {
        wait_until(scene, &[counted, pending, completed, "NotStarted"]);
    }
    // The marker has counted as well.
    wait_for_deletions(&working, 4);
    working.end();
    let asked = asked(&cluster);
    for (scene, _) in &scenes {
        assert_eq!(scene.counts("n/p"), (1, 0));
        assert_eq!(scene.asked("n/p", &asked), EVICTION);
    }
}

#[test]
fn cancel_eviction() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scenes: Vec<Scene<'_>> = ["gone", "free"]
        .into_iter()
        .map(|name| {
            let mut scene = Scene::new(&cluster, &data, name);
            for object in ["pod", "claim-tolerating-60", "tainted"] {
                scene.put(object);
            }
            scene
        })
        .collect();
    let working = Working::start(&user, None, super::GATES, &EVICTING);
    evict_a_marker(&cluster, &data, "first");
    // The pod goes, or the taint with its slice.
    scenes[0].remove("pod");
    scenes[1].remove("tainted");
    wait_for("the other is told that it stays", || {
        (scenes[1].counts("n/p") == (0, 1)).then_some(())
    });
    // When the time comes, nobody is there who had to go.
    scenes[0].move_to(now() - jiff::SignedDuration::from_hours(24));
    evict_a_marker(&cluster, &data, "second");
    wait_for_deletions(&working, 2);
    working.end();
    let asked = asked(&cluster);
    for (scene, told) in scenes.iter().zip([(0, 0), (0, 1)]) {
        assert_eq!(scene.counts("n/p"), told, "{}", scene.namespace);
        assert_eq!(scene.asked("n/p", &asked), [""; 0], "{}", scene.namespace);
    }
    assert_eq!(scenes[1].pods().len(), 1);
}

/// Between the plan and the last request the pod goes, an API server fails, or another pod takes the name.
#[test]
fn what_comes_between_the_requests_of_an_eviction() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scenes: BTreeMap<&str, Scene<'_>> = BTreeMap::new();
    for name in ["gone", "failing", "replaced"] {
        let mut scene = Scene::new(&cluster, &data, name);
        for object in ["pod", "claim", "simple"] {
            scene.put(object);
        }
        scenes.insert(name, scene);
    }
    let by = user.faulty({
        let admin = (**cluster).clone();
        move |path, before| match (path, before) {
            ("/api/v1/namespaces/gone/pods/p", 0) => {
                admin.delete_now("pod/gone/p");
                Fault::None
            }
            ("/api/v1/namespaces/failing/pods/p", 0) => {
                Fault::Refusal(500, "", "etcdserver: request timed out".to_owned())
            }
            (path, 0) if path.starts_with("DELETE /api/v1/namespaces/replaced/pods/p") => {
                admin.delete_now("pod/replaced/p");
                let pod = pod("p").in_namespace("replaced").on_node("worker");
                admin.create(&pod.named_claim("gpu", "c"));
                Fault::None
            }
            _ => Fault::None,
        }
    });
    let working = Working::start(&user, Some(&by), super::GATES, &EVICTING);
    for scene in scenes.values_mut() {
        scene.put("tainted");
    }
    cluster.wait_gone("pod/failing/p");
    let stays = "the first one went";
    wait_for(stays, || {
        let asked = asked(&cluster);
        let deleted = scenes["replaced"]
            .asked("n/p", &asked)
            .contains(&"delete".to_owned());
        let asked_about = !scenes["gone"].asked("n/p", &asked).is_empty();
        (deleted && asked_about).then_some(())
    });
    evict_a_marker(&cluster, &data, "marker");
    // Nobody else's deletion counts.
    wait_for_deletions(&working, 2);
    let stderr = working.end().stderr;
    let asked = asked(&cluster);
    assert_eq!(scenes["gone"].asked("n/p", &asked), ["get"], "{stderr}");
    assert_eq!(scenes["gone"].counts("n/p"), (0, 0));
    // The proxy answers the first one, so the API server sees the second.
    assert_eq!(scenes["failing"].asked("n/p", &asked), EVICTION, "{stderr}");
    let tries = by
        .asked()
        .into_iter()
        .filter(|path| path == "/api/v1/namespaces/failing/pods/p");
    assert_eq!(tries.count(), 2);
    assert_eq!(scenes["failing"].counts("n/p"), (1, 0));
    // A pod of the same name is another one.
    let survivor = cluster.get("pod/replaced/p");
    assert!(
        survivor["metadata"]["deletionTimestamp"].is_null(),
        "{survivor:#}"
    );
    assert_eq!(scenes["replaced"].counts("n/p"), (1, 0));
}

/// Whoever waits for an answer keeps nobody else from work: evictions, conditions of rules and new claims are apart.
#[test]
fn nothing_waits_for_a_slow_answer() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    cluster.create_all(&[gpu_class(), template("t", claim_spec([gpu()]))]);
    let conditions = Conditions::watch(&cluster);
    let held = Gate::default();
    held.close();
    let reached: Arc<Mutex<Vec<String>>> = Arc::default();
    let by = user.faulty({
        let (held, reached) = (held.clone(), Arc::clone(&reached));
        move |path, _| {
            let is_slow = path.starts_with("DELETE /api/v1/namespaces/slow/")
                || path.contains("/devicetaintrules/evict-slow/status");
            if is_slow {
                reached.lock().expect("no panic").push(path.to_owned());
                held.wait();
            }
            Fault::None
        }
    });
    let working = Working::start(&user, Some(&by), super::GATES, &[]);
    let mut slow = Scene::new(&cluster, &data, "slow");
    for object in ["pod", "claim", "evict"] {
        slow.put(object);
    }
    wait_for("the slow requests are under way", || {
        let reached = reached.lock().expect("no panic");
        let under_way = |word: &str| reached.iter().any(|path| path.contains(word));
        (under_way("DELETE ") && under_way("/status")).then_some(())
    });
    // Another pod is evicted, another rule gets its conditions, and a pod gets its claim.
    evict_a_marker(&cluster, &data, "marker");
    let mut other = Scene::new(&cluster, &data, "other");
    other.put("evict");
    wait_for("the other rule has its condition", || {
        (conditions.of(&other.named("evict")) == ["NotStarted"]).then_some(())
    });
    cluster.create(&pod("new").template_claim("gpu", "t"));
    cluster.wait("pod/default/new", "has its claim", |pod| {
        pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].is_string()
    });
    assert_eq!(slow.pods(), ["n/p going".to_owned()].into());
    assert_eq!(conditions.of(&slow.named("evict")), [""; 0]);
    held.open();
    cluster.wait_gone("pod/slow/p");
    working.end();
}

/// Many pods go at one instant, and the API server is away for a while: never more than eight are under way, and all go in the end.
#[test]
fn many_simultaneous_evictions_use_few_jobs() {
    const PODS: usize = 60;
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let mut scene = Scene::new(&cluster, &data, "many");
    scene.put("pod");
    scene.put("claim");
    scene.put("simple");
    let pods: Vec<Value> = (1..PODS)
        .map(|number| {
            let pod = pod(&format!("p{number}"))
                .in_namespace("many")
                .on_node("worker")
                .named_claim("gpu", "c");
            cluster.create(&pod.with(json!({"spec": {"terminationGracePeriodSeconds": 0}})))
        })
        .collect();
    cluster.update_status("claim/many/c", |claim| {
        let entries = claim["status"]["reservedFor"].as_array_mut().expect("the first");
        entries.extend(pods.iter().map(
            |pod| json!({"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}),
        ));
    });
    // By how many deletions are under way, and how many there were.
    let (most, under_way, all) = <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let by = user.faulty({
        let (most, all) = (Arc::clone(&most), Arc::clone(&all));
        move |path, _| {
            if path.contains("/namespaces/many/pods/") {
                let done = all.fetch_add(1, Ordering::SeqCst);
                // Nothing answers for a while.
                if (60..80).contains(&done) {
                    return Fault::Close;
                }
                most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let under_way = Arc::clone(&under_way);
                return Fault::Late(Arc::new(move |_| {
                    std::thread::sleep(Duration::from_millis(20));
                    under_way.fetch_sub(1, Ordering::SeqCst);
                }));
            }
            Fault::None
        }
    });
    let working = Working::start(&user, Some(&by), super::GATES, &EVICTING);
    scene.put("tainted");
    wait_for("all are gone", || {
        cluster.list("pod/many").is_empty().then_some(())
    });
    wait_for_deletions(&working, u32::try_from(PODS).expect("few"));
    working.end();
    let most = most.load(Ordering::SeqCst);
    assert!((2..=8).contains(&most), "{most} at once");
    assert!(all.load(Ordering::SeqCst) >= 3 * PODS + 20);
}

/// With its gate off, rules are nobody's business, and taints of slices go on.
#[test]
fn without_their_gate_rules_do_nothing() {
    let data = Data::read();
    let cluster = nobody_works();
    let user = worker(&cluster);
    let conditions = Conditions::watch(&cluster);
    let mut scene = Scene::new(&cluster, &data, "ruled");
    for object in ["pod", "claim", "evict"] {
        scene.put(object);
    }
    let gates = format!("{},DRADeviceTaintRules=false", super::GATES);
    let working = Working::start(&user, None, &gates, &EVICTING);
    evict_a_marker(&cluster, &data, "marker");
    working.end();
    assert_eq!(scene.pods(), ["n/p".to_owned()].into());
    assert_eq!(scene.asked("n/p", &asked(&cluster)), [""; 0]);
    assert_eq!(conditions.of(&scene.named("evict")), [""; 0]);
    let about_rules = |request: &String| request.contains("/devicetaintrules");
    let requests: Vec<String> = cluster
        .requests_of("worker")
        .into_iter()
        .filter(about_rules)
        .collect();
    assert_eq!(requests, [""; 0]);
}
