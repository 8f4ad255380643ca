//! `run` beside the real controllers: it finds nothing where they do their work, and what they leave undone where they do not.

#![expect(clippy::print_stderr, reason = "who waits for minutes is told how far it is")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::operation::{Operated, PROBES};
use super::take_over::worker;
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, gpu_class, pod, pod_group, taint, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::process::{Process, Run};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

const GATES: &str = "GenericWorkload=true,DRAWorkloadResourceClaims=true";

/// `run` of a user who may only read, once it has looked at everything.
pub(super) fn looking_on(cluster: &Cluster, more: &[&str]) -> Process {
    let read = ["get", "list", "watch"];
    let rules = json!([
        {"apiGroups": [""], "resources": ["pods"], "verbs": read},
        {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups"], "verbs": read},
        {"apiGroups": ["resource.k8s.io"], "verbs": read,
         "resources": ["resourceclaims", "resourceclaimtemplates", "resourceslices", "devicetaintrules"]},
    ]);
    let user = cluster.user("onlooker").allowed(&rules);
    let process = user.kubectl_dra(["run", "-o", "json"]).args(more).start();
    wait_for("the watches are open", || {
        process.stderr().contains("watching ").then_some(())
    });
    process
}

/// The report once the process is told to end.
pub(super) fn report(process: Process) -> (Run, Value) {
    process.signal(Signal::INT);
    let run = process.finish();
    let report = assert_valid(&run.stdout);
    (run, report)
}

#[test]
fn beside_the_real_controllers_nothing_is_found_and_nothing_is_written() {
    let options = Options::default()
        .gate("GenericWorkload", true)
        .gate("DRAWorkloadResourceClaims", true);
    let cluster = Cluster::start(&options);
    cluster.add_gpu_nodes(4);
    let on = |name: &str, node: u32| {
        let hostname = format!("gpu-node-{node}");
        pod(name).with(json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": hostname}}}))
    };
    cluster.run(&[
        template("one", claim_spec([gpu()])),
        claim("shared", claim_spec([gpu()])),
        pod("before").template_claim("gpu", "one"),
        pod("user-1").named_claim("gpu", "shared"),
        gpu_class().with(
            json!({"metadata": {"name": "extended"}, "spec": {"extendedResourceName": "example.com/gpu"}}),
        ),
        on("extended", 2).requesting("example.com/gpu", 1),
    ]);
    let process = looking_on(
        &cluster,
        &["--overdue", "60s", "--feature-gates", GATES, PROBES[0], PROBES[1]],
    );
    let onlooker = Operated::of(process);

    let member = pod("member").template_claim("gpu", "one").in_group("group");
    let entry = json!({"name": "gpu", "resourceClaimTemplateName": "one"});
    let mut pods: Vec<Value> = (0..10)
        .map(|number| pod(&format!("made-{number}")).template_claim("gpu", "one"))
        .collect();
    pods.extend([
        pod("user-2").named_claim("gpu", "shared"),
        pod_group("group", [entry]),
        member,
        pod("waits").template_claim("gpu", "missing"),
        pod("user-3").named_claim("gpu", "shared").on_node("gpu-node-1"),
    ]);
    // The real controllers stand still until the shadow wants what they will do. Otherwise they may be done before it looks.
    cluster.signal(Component::ControllerManager, Signal::STOP);
    cluster.create_all(&pods);
    onlooker.wait_for_at_least("kubectl_dra_shadow_wishes{state=\"open\"}", 20);
    cluster.signal(Component::ControllerManager, Signal::CONT);
    for number in 0..10 {
        cluster.wait(&format!("pod/default/made-{number}"), "has a node", |pod| {
            pod["spec"]["nodeName"].is_string()
        });
    }
    cluster.run_kubelets();
    cluster.set_phase("pod/default/made-0", Phase::Succeeded);
    cluster.delete_now("pod/default/made-1");
    cluster.delete("pod/default/made-2");
    cluster.delete("pod/default/user-2");
    cluster.finish_deletions();
    // A taint that evicts, also the pod of an extended resource, and a rule about it.
    cluster.create(&taint_rule(
        "broken",
        json!({"pool": "gpu-node-2"}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    std::thread::sleep(Duration::from_secs(25));
    cluster.finish_deletions();
    // What was done for no reason is found 10 s later.
    std::thread::sleep(Duration::from_secs(12));
    assert!(cluster.find("pod/default/extended").is_none());
    // What is wanted is done in the end, however busy the machine is.
    onlooker.wait_for("/metrics", "kubectl_dra_shadow_wishes{state=\"open\"} 0\n");

    let (run, report) = self::report(onlooker.process);
    assert_eq!(
        report["items"],
        json!([]),
        "{report:#}\n{}\n{:#}",
        run.stderr,
        cluster.get("rule/broken")["status"]
    );
    run.exits(0);
    assert!(report["fulfilled"].as_u64().unwrap() >= 20, "{report:#}");
    let written: Vec<String> = cluster
        .requests_of("onlooker")
        .into_iter()
        // The test itself asks whether its rights are there.
        .filter(|request| !request.contains("/selfsubjectaccessreviews"))
        .filter(|request| {
            let mut reads = ["get ", "list ", "watch "].into_iter();
            !reads.any(|verb| request.starts_with(verb))
        })
        .collect();
    assert_eq!(written, [""; 0]);
}

/// Without the rules every eviction would look unexpected, and without PodGroups every group claim.
#[test]
fn a_missing_right_ends_the_run_before_it_can_find_anything() {
    // Without the gate there are no PodGroups, and nobody needs a right to them.
    let cluster = Cluster::start(&Options::default().gate("GenericWorkload", true));
    let kinds = [
        ("", "pods"),
        ("scheduling.k8s.io", "podgroups"),
        ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceclaimtemplates"),
        ("resource.k8s.io", "resourceslices"),
        ("resource.k8s.io", "devicetaintrules"),
    ];
    for (_, missing) in kinds {
        let granted = kinds.into_iter().filter(|(_, resource)| *resource != missing);
        let rules: Vec<Value> = granted
            .map(|(group, resource)| {
                json!({"apiGroups": [group], "resources": [resource], "verbs": ["get", "list", "watch"]})
            })
            .collect();
        let user = cluster.user(&format!("without-{missing}")).allowed(&json!(rules));
        let run = user.kubectl_dra(["run", "--for", "1s"]).run().exits(3);
        assert!(run.stderr.contains(missing), "{missing}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{missing}: {}", run.stdout);
    }
}

#[test]
fn with_the_controllers_off_everything_they_would_do_is_overdue() {
    let off = "--controllers=-resourceclaim-controller,-device-taint-eviction-controller";
    let cluster = Cluster::start(&Options::default().arg(Component::ControllerManager, off));
    cluster.add_gpu_nodes(2);
    let user = |name: &str| pod(name).named_claim("gpu", "shared").on_node("gpu-node-1");
    cluster.create_all(&[
        template("one", claim_spec([gpu()])),
        claim("shared", claim_spec([gpu()])),
    ]);
    cluster.run(&[pod("first").named_claim("gpu", "shared")]);
    let process = looking_on(&cluster, &["--overdue", "3s"]);
    cluster.create_all(&[pod("unmade").template_claim("gpu", "one"), user("unreserved")]);
    let found = || {
        let lines: Vec<String> = process.stderr().lines().map(str::to_owned).collect();
        lines
            .into_iter()
            .filter(|line| line.contains("Overdue: "))
            .collect::<Vec<_>>()
    };
    wait_for("the first are overdue", || (found().len() >= 3).then_some(()));
    let (run, report) = self::report(process);
    run.exits(1);
    let items: Vec<String> = report["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
            format!(
                "{} {} {} {}",
                text("finding"),
                text("controller"),
                text("write"),
                text("object")
            )
        })
        .collect();
    assert_eq!(
        items,
        [
            "Overdue resourceclaim-controller create claim pod/default/unmade",
            "Overdue resourceclaim-controller update status pod/default/unmade",
            "Overdue resourceclaim-controller add reservation claim/default/shared",
        ]
    );

    // What was there before is seen too, and evictions.
    cluster.set_phase("pod/default/first", Phase::Succeeded);
    cluster.create(&taint_rule(
        "broken",
        json!({"pool": "gpu-node-1"}),
        taint("example.com/broken", "", "NoExecute"),
    ));
    let process = looking_on(&cluster, &["--for", "25s", "--overdue", "3s"]);
    let run = process.finish().exits(1);
    let told = assert_valid(&run.stdout)["items"].to_string();
    for write in [
        "create claim",
        "add reservation",
        "remove reservation",
        "update condition",
    ] {
        assert!(told.contains(write), "{write}: {told}");
    }
}

/// Returns how many pods `make shadow` wants.
fn pods_of_all_sorts() -> usize {
    let given = std::env::var("KUBECTL_DRA_SHADOW").ok();
    given.map_or(200, |pods| pods.parse().expect("a number of pods"))
}

#[test]
#[ignore = "takes minutes: make shadow"]
fn beside_many_pods_only_the_known_loop_of_upstream_is_found() {
    let total = pods_of_all_sorts();
    let qps = ["--kube-api-qps=500", "--kube-api-burst=1000"];
    let options = qps
        .into_iter()
        .fold(Options::default(), |options, arg| {
            options.arg(Component::ControllerManager, arg)
        })
        .gate("GenericWorkload", true)
        .gate("DRAWorkloadResourceClaims", true);
    let cluster = Cluster::start(&options);
    cluster.add_gpu_nodes((total / 16).max(4));
    let extended = gpu_class().with(json!({"metadata": {"name": "extended"},
        "spec": {"extendedResourceName": "example.com/gpu"}}));
    let tolerant =
        gpu().exactly(json!({"tolerations": [{"key": "example.com/broken", "operator": "Exists"}]}));
    cluster.create_all(&[
        extended,
        template("one", claim_spec([gpu()])),
        template("two", claim_spec([gpu().count(2)])),
        template("tolerant", claim_spec([tolerant])),
    ]);
    let small = |mut pod: Value| {
        pod["spec"]["containers"][0]["resources"]["requests"] = json!({"cpu": "10m"});
        pod
    };
    let process = looking_on(&cluster, &["--feature-gates", GATES]);

    for number in 0..total {
        let name = format!("p{number}");
        let pod = small(pod(&name));
        match number % 10 {
            0 => {
                cluster.create(&claim(&name, claim_spec([gpu()])));
                cluster.create(&pod.named_claim("gpu", &name));
            }
            1 => {
                // Ten pods share one claim.
                let shared = format!("shared-{}", number / 100);
                if number % 100 == 1 {
                    cluster.create(&claim(&shared, claim_spec([gpu()])));
                }
                cluster.create(&pod.named_claim("gpu", &shared));
            }
            2 => {
                let group = format!("group-{}", number / 50);
                if number % 50 == 2 {
                    let entry = json!({"name": "gpu", "resourceClaimTemplateName": "one"});
                    cluster.create(&pod_group(&group, [entry]));
                }
                cluster.create(&pod.template_claim("gpu", "one").in_group(&group));
            }
            3 => drop(cluster.create(&pod.requesting("example.com/gpu", 1))),
            4 => drop(cluster.create(&pod.template_claim("gpu", "tolerant"))),
            5 => drop(cluster.create(&pod.template_claim("gpu", "two").template_claim("other", "one"))),
            _ => drop(cluster.create(&pod.template_claim("gpu", "one"))),
        }
        if number % 50 == 49 {
            cluster.run_kubelets();
        }
    }
    std::thread::sleep(Duration::from_secs(5));
    cluster.run_kubelets();

    // Lives end in every way; of one shared claim a consumer ends while others go on, which upstream does not get over.
    for number in (6..total).step_by(20) {
        let name = format!("pod/default/p{number}");
        match number % 80 {
            6 => cluster.set_phase(&name, Phase::Succeeded),
            26 => cluster.delete_now(&name),
            46 => cluster.set_phase(&name, Phase::Failed),
            _ => cluster.delete(&name),
        }
    }
    let preset = small(pod("preset"))
        .named_claim("gpu", "shared-0")
        .on_node("gpu-node-1");
    cluster.create(&preset);
    cluster.set_phase("pod/default/p11", Phase::Succeeded);
    cluster.finish_deletions();
    // Not where the loop is: how many pods have to go changes there with each of its turns.
    let looping = &cluster.devices_of("claim/default/shared-0")[0];
    let mut pools = pools_in_use(&cluster).into_iter();
    let mut pools = pools.by_ref().filter(|pool| !looping.contains(pool.as_str()));
    let mut pool = || pools.next().expect("enough nodes have pods");
    let broken = taint("example.com/broken", "", "NoExecute");
    cluster.create(&taint_rule("broken", json!({"pool": pool()}), broken.clone()));
    // A driver says the same of its own devices.
    cluster.update(&format!("slice/{}-gpu.example.com", pool()), |slice| {
        for device in slice["spec"]["devices"].as_array_mut().into_iter().flatten() {
            device["taints"] = json!([broken]);
        }
    });
    std::thread::sleep(Duration::from_secs(15));
    cluster.finish_deletions();
    // Whatever is not done by now is overdue.
    std::thread::sleep(Duration::from_secs(45));

    let (run, report) = self::report(process);
    let items = report["items"].as_array().unwrap();
    let is_known = |item: &Value| {
        item["finding"] == "Flapping"
            && item["write"] == "remove reservation"
            && item["object"] == "claim/default/shared-0"
    };
    assert!(items.iter().all(is_known), "{report:#}\n{}", run.stderr);
    assert_eq!(items.len(), 1, "{report:#}");
    assert!(
        report["fulfilled"].as_u64().unwrap() >= total as u64,
        "{report:#}"
    );
    run.exits(1);
    eprintln!("{total} pods: nothing is found but the known loop");

    // One of the controllers is off from here on.
    cluster.reconfigure(|options| {
        let off = "--controllers=-resourceclaim-controller";
        *options = options.clone().arg(Component::ControllerManager, off);
    });
    let process = looking_on(&cluster, &["--overdue", "10s", "--feature-gates", GATES]);
    let mut undone = BTreeSet::new();
    let (running, later) = (pods_with_own_claims(&cluster), pool());
    for (number, (ended, its_claim)) in running.iter().take(total / 20).enumerate() {
        let name = format!("late-{number}");
        let pod = small(pod(&name));
        match number % 4 {
            0 | 1 => {
                cluster.create(&if number % 4 == 0 {
                    pod.template_claim("gpu", "one")
                } else {
                    pod.template_claim("gpu", "two").template_claim("other", "one")
                });
                undone.insert(format!("create claim pod/default/{name}"));
                undone.insert(format!("update status pod/default/{name}"));
            }
            2 => {
                // Whoever has to go needs no reservation.
                if cluster.devices_of(&format!("claim/default/{its_claim}"))[0]
                    .contains(&format!("/{later}/"))
                {
                    continue;
                }
                let node = cluster.get(&format!("pod/default/{ended}"))["spec"]["nodeName"].clone();
                cluster.create(
                    &pod.named_claim("gpu", its_claim)
                        .on_node(node.as_str().expect("a node")),
                );
                undone.insert(format!("add reservation claim/default/{its_claim}"));
            }
            _ => {
                let phase = if number % 8 == 3 {
                    Phase::Failed
                } else {
                    Phase::Succeeded
                };
                cluster.set_phase(&format!("pod/default/{ended}"), phase);
                undone.insert(format!("remove reservation claim/default/{its_claim}"));
            }
        }
    }
    // The other one does its work.
    cluster.create(&taint_rule("later", json!({"pool": later}), broken.clone()));
    let overdue = |process: &Process| {
        let stderr = process.stderr();
        stderr.lines().filter(|line| line.contains("Overdue: ")).count()
    };
    wait_for("all is overdue", || {
        (overdue(&process) >= undone.len()).then_some(())
    });
    // What else is undone comes as late as the last of it.
    std::thread::sleep(Duration::from_secs(20));
    let (run, report) = self::report(process);
    run.exits(1);
    let items = report["items"].as_array().unwrap();
    for item in items {
        assert_eq!(item["finding"], "Overdue", "{item:#}");
        assert_eq!(item["controller"], "resourceclaim-controller", "{item:#}");
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let told: BTreeSet<String> = items
        .iter()
        .map(|item| format!("{} {}", text(&item["write"]), text(&item["object"])))
        .collect();
    let missing: Vec<&String> = undone.difference(&told).collect();
    assert_eq!(missing, [&""; 0], "{told:#?}");
    eprintln!(
        "{} undone writes are told of, {} in all",
        undone.len(),
        told.len()
    );

    // Nobody takes the one over that works, and anybody the one that does not.
    let user = worker(&cluster);
    let take_over = |controller: &str| {
        let args = [
            "run",
            "--take-over",
            "--observe",
            "30s",
            "--feature-gates",
            GATES,
            "--no-lease",
        ];
        let process = user.kubectl_dra(args).args(["--controllers", controller]).start();
        wait_for("it watches", || {
            process.stderr().contains("watching ").then_some(())
        });
        process
    };
    let process = take_over("device-taint-eviction");
    cluster.create(&taint_rule("last", json!({"pool": pool()}), broken));
    let run = process.finish().exits(3);
    let why = "device-taint-eviction-controller is running";
    assert!(run.stderr.contains(why), "{}", run.stderr);
    let process = take_over("resourceclaim");
    cluster.wait("pod/default/late-0", "has its claim", |pod| {
        pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].is_string()
    });
    process.signal(Signal::INT);
    process.finish().exits(0);
}

/// Pools with devices of pods that have claims of their own and tolerate nothing, in order.
fn pools_in_use(cluster: &Cluster) -> BTreeSet<String> {
    let running = pods_with_own_claims(cluster);
    let claims = running.into_values();
    let devices = claims.flat_map(|claim| cluster.devices_of(&format!("claim/default/{claim}")));
    devices
        .filter_map(|device| {
            device
                .split('/')
                .find(|part| part.starts_with("gpu-node-"))
                .map(str::to_owned)
        })
        .collect()
}

/// Pods that run with one claim from a template, which they share with nobody, and its name.
fn pods_with_own_claims(cluster: &Cluster) -> BTreeMap<String, String> {
    let claims = cluster.list("claim").into_iter();
    let allocated: BTreeSet<String> = claims
        .filter(|claim| claim["status"]["allocation"].is_object())
        .filter_map(|claim| Some(claim["metadata"]["name"].as_str()?.to_owned()))
        .collect();
    let pods = cluster.list("pod").into_iter();
    pods.filter(|pod| pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null())
        .filter(|pod| pod["spec"]["schedulingGroup"].is_null())
        .filter_map(|pod| {
            let entries = pod["spec"]["resourceClaims"].as_array()?;
            let from = entries.first()?["resourceClaimTemplateName"].as_str()?;
            let name = pod["metadata"]["name"].as_str()?.to_owned();
            let claim = pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"].as_str()?;
            let is_its_own = from == "one" && entries.len() == 1 && allocated.contains(claim);
            is_its_own.then(|| (name, claim.to_owned()))
        })
        .collect()
}
