//! `run --take-over` under many evictions, with leaders that are killed, behind a history that is gone, and for long.

#![expect(clippy::print_stderr, reason = "who waits for minutes is told how far it is")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::take_over::{OFF, at_work, cluster, end, end_in_step, pinned, probed, shipped, started, worker};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, pod, taint, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::wait::{PATIENCE, try_wait, wait_for};

/// A number that `make` gives.
pub(super) fn number(variable: &str, otherwise: usize) -> usize {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |given| given.parse().expect("a number"))
}

/// Pods that share one claim, which has the GPU of this number on the first node. A claim has 256 consumers at most.
fn crowd(cluster: &Cluster, name: &str, device: usize, tolerates: bool, size: usize) -> Vec<String> {
    let mut request = gpu();
    // One without an effect does not count against evictions.
    let tolerations = json!([{"key": "example.com/broken", "operator": "Exists", "effect": "NoExecute"}]);
    if tolerates {
        request = request.exactly(json!({"tolerations": tolerations}));
    }
    let mut of_pods = Vec::new();
    let mut names = Vec::new();
    for start in (0..size).step_by(250) {
        let shared = format!("{name}-{start}");
        cluster.create(&claim(&shared, claim_spec([request.clone()])));
        let mut consumers = Vec::new();
        for number in start..size.min(start + 250) {
            let pod = pod(&format!("{name}-{number}"))
                .named_claim("gpu", &shared)
                .on_node("gpu-node-1");
            let made = cluster.create(&pod);
            consumers.push(
                json!({"resource": "pods", "name": made["metadata"]["name"], "uid": made["metadata"]["uid"]}),
            );
            names.push(made["metadata"]["name"].as_str().expect("a name").to_owned());
        }
        of_pods.push((shared, consumers));
    }
    for (shared, consumers) in of_pods {
        let mut result = json!({"request": "gpu", "driver": "gpu.example.com", "pool": "gpu-node-1",
            "device": format!("gpu-{device}")});
        if tolerates {
            result["tolerations"] = tolerations.clone();
        }
        let status = json!({"allocation": {"devices": {"results": [result]}}, "reservedFor": consumers});
        cluster.patch_status(&format!("claim/default/{shared}"), &json!({"status": status}));
    }
    names
}

/// Requests that the API server is at, and the most there were.
#[derive(Default)]
struct InFlight {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl InFlight {
    fn begin(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    /// The first ones stay until as many are there as may be.
    fn end(&self, wait_for_more: bool) {
        while wait_for_more && self.most.load(Ordering::SeqCst) < WORKERS {
            std::thread::yield_now();
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Evictions that may be under way at once.
const WORKERS: usize = 8;

#[test]
#[ignore = "takes minutes: make evict-many"]
fn pods_that_are_due_together_are_evicted_eight_at_a_time_and_no_others() {
    let total = number("KUBECTL_DRA_EVICTIONS", 10_000);
    let cluster = cluster(false);
    cluster.add_gpu_nodes(1);
    let due = crowd(&cluster, "due", 0, false, total);
    let elsewhere = crowd(&cluster, "elsewhere", 1, false, total / 10);
    let tolerant = crowd(&cluster, "tolerant", 0, true, total / 10);
    let user = worker(&cluster);
    let in_flight = Arc::new(InFlight::default());
    let counted = Arc::clone(&in_flight);
    let by = user.faulty(move |path, _| {
        if !path.contains("/namespaces/default/pods/") {
            return Fault::None;
        }
        counted.begin();
        let counted = Arc::clone(&counted);
        Fault::Late(Arc::new(move |_| counted.end(true)))
    });
    let process = at_work(&user, Some(&by), &["--controllers", "device-taint-eviction"]);
    cluster.create(&taint_rule(
        "broken",
        json!({"pool": "gpu-node-1", "device": "gpu-0"}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    let is_leaving = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_string();
    let mut left = total;
    // As long as some go, more is waited for.
    while left > 0 {
        let before = left;
        let next = try_wait(|| {
            let pods = cluster.list("pod");
            let is_due = |pod: &&Value| pod["metadata"]["name"].to_string().starts_with("\"due-");
            let staying = pods.iter().filter(is_due).filter(|pod| !is_leaving(pod)).count();
            if staying < before {
                Ok(staying)
            } else {
                Err(staying)
            }
        });
        left = next
            .unwrap_or_else(|left| panic!("none of {left} went within {PATIENCE:?}\n{}", process.stderr()));
    }
    cluster.wait("rule/broken", "tells of the evictions", |rule| {
        let told = &rule["status"]["conditions"][0];
        told["reason"] == "Completed" && told["message"].to_string().contains(&total.to_string())
    });
    end(process).exits(0);
    let gone: BTreeSet<String> = cluster
        .list("pod")
        .iter()
        .filter(|pod| is_leaving(pod))
        .map(|pod| pod["metadata"]["name"].as_str().expect("a name").to_owned())
        .collect();
    let wrong: Vec<&String> = gone.iter().filter(|name| !due.contains(name)).collect();
    assert_eq!(
        wrong,
        [&""; 0],
        "of {} and {}: {:#}",
        elsewhere.len(),
        tolerant.len(),
        cluster.get("claim/default/tolerant-0")
    );
    assert_eq!(gone, due.iter().cloned().collect());
    let deletes: Vec<String> = by
        .asked()
        .into_iter()
        .filter(|path| path.starts_with("DELETE "))
        .collect();
    let once: BTreeSet<&String> = deletes.iter().collect();
    assert_eq!((deletes.len(), once.len()), (total, total));
    assert_eq!(in_flight.most.load(Ordering::SeqCst), WORKERS);
    eprintln!("{total} pods were evicted");
}

/// Parts of a pod's claim that must not change while leaders change.
#[derive(Debug, PartialEq, Eq)]
struct Kept {
    claim: String,
    allocation: String,
}

fn claims_by_pod(cluster: &Cluster) -> BTreeMap<String, Vec<Value>> {
    let mut by_pod: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for claim in cluster.list("claim") {
        let owner = claim["metadata"]["ownerReferences"][0]["name"].as_str();
        let owner = owner.expect("a pod has it").to_owned();
        by_pod.entry(owner).or_default().push(claim);
    }
    by_pod
}

/// Waits until exactly these pods are there, each running with one claim that is reserved for it alone.
fn settled(
    cluster: &Cluster,
    pods: &BTreeSet<String>,
    stderr: impl Fn() -> String,
) -> BTreeMap<String, Kept> {
    let settled = try_wait(|| {
        let mut kept = BTreeMap::new();
        let mut claims = claims_by_pod(cluster);
        let there = cluster.list("pod");
        let names: BTreeSet<String> = there
            .iter()
            .filter_map(|pod| Some(pod["metadata"]["name"].as_str()?.to_owned()))
            .collect();
        if names != *pods {
            return Err(format!("pods {names:?}, wanted {pods:?}"));
        }
        for pod in there {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            assert!(
                pod["metadata"]["deletionTimestamp"].is_null(),
                "nobody deletes {name}"
            );
            let of_pod = claims.remove(&name).unwrap_or_default();
            let [claim] = &of_pod[..] else {
                return Err(format!("{name} has {} claims", of_pod.len()));
            };
            let reserved = &claim["status"]["reservedFor"];
            let is_reserved = reserved.as_array().is_some_and(|entries| entries.len() == 1)
                && reserved[0]["uid"] == pod["metadata"]["uid"];
            let named = &pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"];
            if !is_reserved || *named != claim["metadata"]["name"] || pod["spec"]["nodeName"].is_null() {
                return Err(format!("{name} names {named}: {claim:#}"));
            }
            kept.insert(
                name,
                Kept {
                    claim: claim["metadata"]["uid"].to_string(),
                    allocation: claim["status"]["allocation"]["devices"]["results"].to_string(),
                },
            );
        }
        if claims.is_empty() {
            Ok(kept)
        } else {
            Err(format!("claims of nobody: {claims:#?}"))
        }
    });
    settled.unwrap_or_else(|last: String| panic!("{last}\n{}", stderr()))
}

#[test]
#[ignore = "takes minutes: make kill-leaders"]
fn leaders_that_are_killed_lose_no_reservation_and_make_no_claim_twice() {
    let kills = number("KUBECTL_DRA_KILLS", 50);
    let cluster = cluster(false);
    // Four pods come in each round, and stay for two.
    cluster.add_gpu_nodes(2);
    cluster.create(&template("one", claim_spec([gpu()])));
    let user = worker(&cluster);
    let mut leader = at_work(&user, None, &[]);
    let mut next = started(&user, None, &[], "holds the lease");
    let mut pods: BTreeSet<String> = BTreeSet::new();
    let mut known: BTreeMap<String, Kept> = BTreeMap::new();
    for round in 0..kills {
        let make = |number: usize| {
            let name = format!("p{round}-{number}");
            let node = 1 + u32::from(number % 2 == 1);
            cluster.create(&pinned(&name, node).template_claim("gpu", "one"));
            name
        };
        // The leader is killed at another point of its work each time.
        for number in 0..4 {
            pods.insert(make(number));
            if number == round % 4 {
                leader.signal(Signal::KILL);
            }
        }
        let old = round.checked_sub(2).map(|round| format!("p{round}-"));
        let is_old = |name: &String| old.as_ref().is_some_and(|old| name.starts_with(old));
        for name in pods.iter().filter(|name| is_old(name)) {
            cluster.delete_now(&format!("pod/default/{name}"));
        }
        pods.retain(|name| !is_old(name));
        drop(leader);
        leader = next;
        wait_for("the next one works", || {
            leader.stderr().contains("-controller for ").then_some(())
        });
        next = started(&user, None, &[], "holds the lease");
        let now = settled(&cluster, &pods, || leader.stderr());
        for (name, kept) in &known {
            assert!(!pods.contains(name) || now[name] == *kept, "{name}: {now:#?}");
        }
        known = now;
        cluster.run_kubelets();
    }
    end(leader).exits(0);
    end(next).exits(0);
    eprintln!("{kills} leaders were killed");
}

/// Returns how often the user has listed all pods.
fn lists_of_pods(cluster: &Cluster) -> usize {
    let requests = cluster.requests_of("worker");
    let lists = requests
        .iter()
        .filter(|request| request.starts_with("list /api/v1/pods"));
    lists.count()
}

#[test]
#[ignore = "takes minutes: make forget-history"]
fn a_history_that_is_gone_is_listed_anew_and_nothing_is_lost() {
    let cluster = cluster(false);
    cluster.add_gpu_nodes(2);
    cluster.create(&template("one", claim_spec([gpu()])));
    let user = worker(&cluster);
    let operated = probed(&user, &["--no-lease", "-v", "2"]);
    let process = &operated.process;
    let mut pods: BTreeSet<String> = BTreeSet::new();
    let make = |name: &str| {
        cluster.create(&pinned(name, 1).template_claim("gpu", "one"));
        name.to_owned()
    };
    // Open watches need no history.
    pods.insert(make("before"));
    cluster.compact();
    for name in ["a", "b", "c"] {
        pods.insert(make(name));
    }
    settled(&cluster, &pods, || process.stderr());

    // It stands still with its connections cut, while pods come and go. Then neither etcd nor the caches of the API server know what
    // happened.
    let lists = lists_of_pods(&cluster);
    assert_eq!(lists, 1, "at its beginning");
    let restart = || {
        cluster.stop(Component::ApiServer);
        cluster.resume(Component::ApiServer);
    };
    process.signal(Signal::STOP);
    // It ends itself where it misses that another pod has the name.
    cluster.stop(Component::Scheduler);
    restart();
    for name in ["a", "b"] {
        cluster.delete_now(&format!("pod/default/{name}"));
        pods.remove(name);
    }
    // The same name is another pod.
    pods.insert(make("a"));
    pods.insert(make("late"));
    cluster.compact();
    restart();
    cluster.resume(Component::Scheduler);
    process.signal(Signal::CONT);
    settled(&cluster, &pods, || process.stderr());
    wait_for("all pods are listed anew", || {
        (lists_of_pods(&cluster) > lists).then_some(())
    });
    end_in_step(operated).exits(0);
}

/// Pods that each thread of the soak test has at a time.
const AT_A_TIME: usize = 50;

#[test]
#[ignore = "takes minutes: make soak-run"]
fn memory_stays_flat_while_pods_come_and_go() {
    let minutes = number("KUBECTL_DRA_SOAK_MINUTES", 2);
    let total = number("KUBECTL_DRA_SOAK_PODS", 20_000);
    // The garbage collector deletes the claims.
    let options = ["--kube-api-qps=2000", "--kube-api-burst=2000", OFF]
        .into_iter()
        .fold(Options::default(), |options, arg| {
            options.arg(Component::ControllerManager, arg)
        });
    let cluster = Cluster::start(&options.without(Component::Scheduler));
    cluster.create_all(&[gpu_class(), template("one", claim_spec([gpu()]))]);
    let user = cluster
        .user("worker")
        .allowed(&shipped("take-over", "ClusterRole"));
    let gates = "GenericWorkload=false,DRAWorkloadResourceClaims=false";
    let process = user
        .kubectl_dra(["run", "--take-over", "--assume-builtin-disabled", "--no-lease"])
        .args(["--feature-gates", gates, "--kube-api-qps", "0"])
        .start();
    wait_for("it has begun", || {
        process.stderr().contains("-controller for ").then_some(())
    });

    let (begun, lasts) = (Instant::now(), Duration::from_secs(60 * minutes as u64));
    let come = AtomicUsize::new(0);
    let mut samples = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut there = VecDeque::new();
                while begun.elapsed() < lasts {
                    let number = come.fetch_add(1, Ordering::SeqCst);
                    // Evenly over the time.
                    let at = lasts.mul_f64(number as f64 / total as f64);
                    std::thread::sleep(at.saturating_sub(begun.elapsed()));
                    let name = format!("p{number}");
                    cluster.create(&pod(&name).template_claim("gpu", "one"));
                    there.push_back(name);
                    if there.len() > AT_A_TIME
                        && let Some(oldest) = there.pop_front()
                    {
                        cluster.delete_now(&format!("pod/default/{oldest}"));
                    }
                }
                for name in there {
                    cluster.delete_now(&format!("pod/default/{name}"));
                }
            });
        }
        for sample in 1..=20 {
            std::thread::sleep((lasts * sample / 20).saturating_sub(begun.elapsed()));
            let (resident, come) = (process.resident(), come.load(Ordering::SeqCst));
            eprintln!(
                "{:>5} s {come:>7} pods {:>6.1} MiB",
                begun.elapsed().as_secs(),
                resident as f64 / f64::from(1 << 20)
            );
            samples.push(resident);
        }
    });
    wait_for("all claims are gone", || {
        cluster.list("claim").is_empty().then_some(())
    });
    let run = end(process).exits(0);
    eprintln!(
        "{} pods; {}",
        come.load(Ordering::SeqCst),
        run.stderr.lines().last().unwrap_or_default()
    );
    // Memory that grows with what is gone would have doubled from the second quarter to the last one, or more.
    let second = samples[5..10].iter().max().expect("samples");
    let last = samples[15..].iter().max().expect("samples");
    assert!(*last <= second + second / 3 + (16 << 20), "{samples:?} bytes");
}
