//! Decisions of the real kube-scheduler for a pod, compared with the dry run just before.

use serde_json::{Value, json};

use crate::support::cluster::kubelet::condition;
use crate::support::cluster::objects::{
    Manifest, aligned_spec, claim, claim_spec, class, each_device, first_available, gpu, gpu_class,
    gpu_slice, matching, namespace, nic_class, nic_slice, pod, request, slice, subrequest, taint, taint_rule,
    template,
};
use crate::support::cluster::{Cluster, Options};
use crate::support::command::dra;
use crate::support::schema::assert_valid;
use crate::support::wait::try_wait;

/// A pod to place, with what has to be there before.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) objects: Vec<Value>,
    pub(super) pod: Value,
    /// True if the case is meant to fit. A case that shows nothing of what it is for is a mistake in the test.
    fits: bool,
}

pub(super) fn case(
    name: &'static str,
    fits: bool,
    objects: impl IntoIterator<Item = Value>,
    pod: Value,
) -> Case {
    Case {
        name,
        objects: objects.into_iter().collect(),
        pod,
        fits,
    }
}

/// A pod with a claim of its own for `spec`.
pub(super) fn own(name: &'static str, fits: bool, spec: Value) -> Case {
    case(
        name,
        fits,
        [template(name, spec)],
        small(name).template_claim("claim", name),
    )
}

/// A pod that takes little of its node.
pub(super) fn small(name: &str) -> Value {
    let requests =
        json!([{"name": "main", "image": "pause:3.10", "resources": {"requests": {"cpu": "10m"}}}]);
    pod(name).with(json!({"spec": {"containers": requests}}))
}

pub(super) fn to_node(pod: Value, node: &str) -> Value {
    pod.with(json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": node}}}))
}

/// One GPU that is whole, or halves, or quarters, drawing from the same counters.
fn partitions(node: &str) -> [Value; 2] {
    let device = |name: String, profile: &str, memory: u32| {
        json!({"name": name, "attributes": {"profile": {"string": profile}},
            "consumesCounters": [{"counterSet": "gpu-0", "counters": {"memory": {"value": format!("{memory}Gi")}}}]})
    };
    let mut devices = vec![device("full".to_owned(), "full", 80)];
    devices.extend((0..2).map(|part| device(format!("half-{part}"), "half", 40)));
    devices.extend((0..4).map(|part| device(format!("quarter-{part}"), "quarter", 20)));
    let two = json!({"spec": {"pool": {"resourceSliceCount": 2}}});
    let counters = json!([{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]);
    let mut set = slice("mig.example.com", node, [])
        .with(json!({"metadata": {"name": format!("{node}-counters")}}))
        .with(two.clone());
    set["spec"].as_object_mut().expect("a spec").remove("devices");
    set["spec"]["sharedCounters"] = counters;
    [slice("mig.example.com", node, devices).with(two), set]
}

/// NICs of which several claims can have a share.
fn shares(node: &str) -> Value {
    let policy = json!({"default": "1G", "validRange": {"min": "1G", "max": "8G", "step": "1G"}});
    slice(
        "share.example.com",
        node,
        (0..2).map(|number| {
            json!({"name": format!("nic-{number}"), "allowMultipleAllocations": true,
                "capacity": {"bandwidth": {"value": "10G", "requestPolicy": policy}}})
        }),
    )
}

fn share(amount: &str) -> Value {
    amount_of("share", "bandwidth", amount)
}

fn amount_of(driver: &str, capacity: &str, amount: &str) -> Value {
    request("nic", &format!("{driver}.example.com"))
        .exactly(json!({"capacity": {"requests": {capacity: amount}}}))
}

/// Devices of which all are taken at once. Of a driver of their own: which of the equal nodes is emptied by that is
/// chance, and the devices that later cases ask for on one node must be there whatever it is.
fn bulk(node: &str) -> Value {
    slice(
        "bulk.example.com",
        node,
        (0..6).map(
            |number| json!({"name": format!("port-{number}"), "attributes": {"side": {"int": number / 3}}}),
        ),
    )
}

/// A device for each way to say which amounts of a capacity can be had.
fn policies(node: &str) -> Value {
    let capacities = [
        (
            "values",
            json!({"value": "8G", "requestPolicy": {"default": "1G", "validValues": ["1G", "2G", "4G"]}}),
        ),
        (
            "range",
            json!({"value": "8G", "requestPolicy": {"default": "1G", "validRange": {"min": "1G", "max": "5G"}}}),
        ),
        (
            "fraction",
            json!({"value": "4", "requestPolicy": {"default": "500m", "validRange": {"min": "250m", "max": "2", "step": "250m"}}}),
        ),
        ("all", json!({"value": "8G"})),
    ];
    let devices = capacities.map(|(name, capacity)| {
        json!({"name": name, "allowMultipleAllocations": true, "capacity": {name: capacity}})
    });
    slice("policy.example.com", node, devices)
}

/// A pool of two nodes whose devices draw from the same counters, in a slice of its own.
fn hosts() -> [Value; 2] {
    let spec = |more: Value| {
        json!({"driver": "hosts.example.com", "perDeviceNodeSelection": true,
            "pool": {"name": "hosts", "generation": 1, "resourceSliceCount": 2}})
        .with(more)
    };
    let device = |name: &str, node: &str, links: u32| {
        json!({"name": name, "nodeName": node, "consumesCounters": [
            {"counterSet": "switch", "counters": {"links": {"value": links.to_string()}}}]})
    };
    let counters = json!([{"name": "switch", "counters": {"links": {"value": "4"}}}]);
    [
        ("hosts-counters", spec(json!({"perDeviceNodeSelection": null, "allNodes": true, "sharedCounters": counters}))),
        (
            "hosts-devices",
            spec(json!({"devices": [device("a", "gpu-node-1", 3), device("b", "gpu-node-2", 3), device("c", "gpu-node-2", 1)]})),
        ),
    ]
    .map(|(name, spec)| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec})
    })
}

/// Devices that are attached to the node that gets them.
fn attachable() -> Value {
    let device = |number: u32| {
        json!({"name": format!("disk-{number}"), "bindsToNode": true, "bindingConditions": ["example.com/attached"],
            "bindingFailureConditions": ["example.com/attach-failed"]})
    };
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "attachable"},
        "spec": {"driver": "attach.example.com", "allNodes": true, "devices": [device(0), device(1)],
            "pool": {"name": "attachable", "generation": 1, "resourceSliceCount": 1}}})
}

/// Devices that any node reaches, or those that a selector names, or each its own nodes.
fn fabric() -> [Value; 2] {
    let network = |name: &str, reach: Value, devices: Value| {
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": "fabric.example.com", "devices": devices,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}})
        .with(json!({"spec": reach}))
    };
    let named = |node: &str| {
        json!({"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]})
    };
    [
        network(
            "fabric-some",
            json!({"nodeSelector": named("gpu-node-2")}),
            json!([{"name": "port-0"}, {"name": "port-1"}]),
        ),
        network(
            "fabric-each",
            json!({"perDeviceNodeSelection": true}),
            json!([{"name": "link-0", "nodeName": "gpu-node-3"}, {"name": "link-1", "allNodes": true}]),
        ),
    ]
}

/// The nodes of [`objects`].
pub(super) const NODES: [&str; 4] = ["gpu-node-1", "gpu-node-2", "gpu-node-3", "gpu-node-4"];

/// Returns what [`cases`] are about.
pub(super) fn objects() -> Vec<Value> {
    let mut objects = vec![
        gpu_class().with(json!({"spec": {"extendedResourceName": "example.com/gpu"}})),
        nic_class(),
    ];
    for driver in [
        "mig", "share", "bulk", "fabric", "old", "policy", "hosts", "attach",
    ] {
        objects.push(class(
            &format!("{driver}.example.com"),
            &format!("device.driver == '{driver}.example.com'"),
        ));
    }
    objects.push(
        class("tuned", "device.driver == 'gpu.example.com'").with(json!({"spec": {"config": [
            {"opaque": {"driver": "gpu.example.com", "parameters": {"sharing": "none"}}}]}})),
    );
    for node in NODES {
        objects.push(each_device(gpu_slice(node, 8), |device| {
            if device["name"] == "gpu-0" && node != "gpu-node-3" {
                device["taints"] = json!([taint("example.com/unhealthy", "", "NoSchedule")]);
            }
        }));
        objects.push(nic_slice(node, 8));
        objects.extend([shares(node), bulk(node)]);
    }
    objects.extend(partitions("gpu-node-1"));
    objects.extend(fabric());
    objects.extend(hosts());
    objects.extend([attachable(), policies("gpu-node-4")]);
    objects.push(namespace("default-admin").labeled("resource.kubernetes.io/admin-access", "true"));
    objects
}

const H100: &str = "device.attributes['gpu.example.com'].model == 'H100-SXM5-80GB'";

pub(super) fn cases() -> Vec<Case> {
    let exists = |key: &str| json!({"tolerations": [{"key": key, "operator": "Exists"}]});
    let index = |number: u32| format!("device.attributes['gpu.example.com'].index == {number}");
    let profile = |name: &str| format!("device.attributes['mig.example.com'].profile == '{name}'");
    let named_node = |node: &str| {
        json!({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}}}})
    };
    let mig = |name: &str| request("part", "mig.example.com").selecting(&profile(name));
    vec![
        own("one", true, claim_spec([gpu()])),
        case(
            "here",
            true,
            [template("here", claim_spec([gpu()]))],
            to_node(small("here").template_claim("gpu", "here"), "gpu-node-2"),
        ),
        case(
            "by-name",
            true,
            [template("by-name", claim_spec([gpu()]))],
            small("by-name").template_claim("gpu", "by-name").with(named_node("gpu-node-3")),
        ),
        own("two", true, claim_spec([gpu().count(2)])),
        case("named", true, [claim("shared", claim_spec([gpu()]))], small("named").named_claim("gpu", "shared")),
        case("joins", true, [], small("joins").named_claim("gpu", "shared")),
        own("selected", true, claim_spec([gpu().selecting(H100).selecting(&index(6))])),
        own("pair", true, claim_spec([gpu(), request("nic", "nic.example.com")])),
        own("aligned", true, aligned_spec()),
        own(
            "distinct",
            true,
            claim_spec([gpu().count(2)])
                .constrained(json!({"requests": ["gpu"], "distinctAttribute": "gpu.example.com/numaNode"})),
        ),
        own(
            "prefers",
            true,
            claim_spec([first_available(
                "gpu",
                [
                    subrequest("b200", "gpu.example.com").selecting("device.attributes['gpu.example.com'].model == 'B200'"),
                    subrequest("two", "gpu.example.com").with(json!({"count": 2})),
                    subrequest("one", "gpu.example.com"),
                ],
            )]),
        ),
        own("everything", true, claim_spec([request("ports", "bulk.example.com").all().selecting("device.attributes['bulk.example.com'].side == 1")])),
        case(
            "looks-on",
            true,
            [template("looks-on", claim_spec([gpu().all().exactly(json!({"adminAccess": true, "tolerations": [{"operator": "Exists"}]}))]))
                .in_namespace("default-admin")],
            small("looks-on").template_claim("gpu", "looks-on").in_namespace("default-admin"),
        ),
        case(
            "two-claims",
            true,
            [template("gpus", claim_spec([gpu().count(2)])), template("nics", claim_spec([request("nic", "nic.example.com")]))],
            small("two-claims").template_claim("gpus", "gpus").template_claim("nics", "nics"),
        ),
        case(
            "mixed",
            true,
            [template("more", claim_spec([request("nic", "nic.example.com")]))],
            small("mixed").named_claim("shared", "shared").template_claim("more", "more"),
        ),
        own(
            "configured",
            true,
            claim_spec([request("gpu", "tuned")]).with(json!({"devices": {"config": [
                {"requests": ["gpu"], "opaque": {"driver": "gpu.example.com", "parameters": {"mode": "fast"}}}]}})),
        ),
        own("healthy", false, claim_spec([gpu().selecting(&index(0)).count(2)])),
        own("tolerates", true, claim_spec([gpu().selecting(&index(0)).exactly(exists("example.com/unhealthy"))])),
        own("quarter", true, claim_spec([mig("quarter")])),
        own("half", true, claim_spec([mig("half")])),
        own("whole", false, claim_spec([mig("full")])),
        own("other-half", false, claim_spec([mig("half")])),
        own("share-default", true, claim_spec([request("nic", "share.example.com")])),
        own("share", true, claim_spec([share("2500M")])),
        own("share-twice", true, claim_spec([share("7G").count(2)])),
        own("share-too-much", false, claim_spec([share("9G")])),
        case("extended", true, [], small("extended").requesting("example.com/gpu", 2)),
        case("implicit", true, [], small("implicit").requesting("deviceclass.resource.kubernetes.io/nic.example.com", 1)),
        case("extended-too-many", false, [], small("extended-too-many").requesting("example.com/gpu", 9)),
        case(
            "nowhere-by-name",
            false,
            [template("nowhere-by-name", claim_spec([gpu()]))],
            small("nowhere-by-name").template_claim("gpu", "nowhere-by-name").with(named_node("gpu-node-9")),
        ),
        own("fabric", true, claim_spec([request("port", "fabric.example.com").count(2)])),
        own("fabric-far", true, claim_spec([request("link", "fabric.example.com")])),
        own("fabric-all-gone", false, claim_spec([request("link", "fabric.example.com").count(2)])),
        own("missing-class", false, claim_spec([request("tpu", "tpu.example.com")])),
        own("missing-class-in-list", false, claim_spec([first_available("tpu", [subrequest("a", "tpu.example.com")])])),
        own("no-such-model", false, claim_spec([gpu().selecting("device.attributes['gpu.example.com'].model == 'B200'")])),
        own("too-many", false, claim_spec([gpu().count(9)])),
        own(
            "conflict",
            false,
            claim_spec([gpu().count(2)]).constrained(matching("gpu.example.com/uuid", &["gpu"])),
        ),
        own(
            "memory",
            true,
            claim_spec([gpu().exactly(json!({"capacity": {"requests": {"memory": "40Gi"}}}))]),
        ),
        case(
            "too-much-cpu",
            false,
            [template("too-much-cpu", claim_spec([gpu()]))],
            small("too-much-cpu").template_claim("gpu", "too-much-cpu").with(json!({"spec": {"containers": [
                {"name": "main", "image": "pause:3.10", "resources": {"requests": {"cpu": "4000"}}}]}})),
        ),
        case(
            "ruled-out",
            true,
            [
                taint_rule("drain", json!({"driver": "gpu.example.com", "pool": "gpu-node-1"}), taint("example.com/drain", "", "NoSchedule")),
                template("ruled-out", claim_spec([gpu()])),
            ],
            small("ruled-out").template_claim("gpu", "ruled-out"),
        ),
        case(
            "ruled-out-there",
            false,
            [template("ruled-out-there", claim_spec([gpu()]))],
            to_node(small("ruled-out-there").template_claim("gpu", "ruled-out-there"), "gpu-node-1"),
        ),
        case(
            "ruled-out-device",
            true,
            [taint_rule(
                "one-device",
                json!({"driver": "nic.example.com", "pool": "gpu-node-2", "device": "rdma2"}),
                taint("example.com/cable", "", "NoExecute"),
            ), template("ruled-out-device", claim_spec([request("nic", "nic.example.com")]))],
            to_node(small("ruled-out-device").template_claim("nic", "ruled-out-device"), "gpu-node-2"),
        ),
        own("all-but-ruled-out", false, claim_spec([request("nic", "nic.example.com").count(9)])),
        own("value-rounded", true, claim_spec([amount_of("policy", "values", "3G")])),
        own("value-left", true, claim_spec([amount_of("policy", "values", "4G")])),
        own("value-gone", false, claim_spec([amount_of("policy", "values", "1G")])),
        own("value-too-large", false, claim_spec([amount_of("policy", "values", "5G")])),
        own("range", true, claim_spec([amount_of("policy", "range", "1500M")])),
        own("range-raised", true, claim_spec([amount_of("policy", "range", "1M")])),
        own("range-too-large", false, claim_spec([amount_of("policy", "range", "6G")])),
        own("fraction", true, claim_spec([amount_of("policy", "fraction", "600m")])),
        own("fraction-too-large", false, claim_spec([amount_of("policy", "fraction", "2100m")])),
        own("without-policy", true, claim_spec([amount_of("policy", "all", "5G")])),
        own("without-policy-gone", false, claim_spec([amount_of("policy", "all", "5G")])),
        own(
            "default-of-each",
            true,
            claim_spec([request("nic", "policy.example.com").selecting(
                "'fraction' in device.capacity['policy.example.com'] || 'range' in device.capacity['policy.example.com']",
            ).count(2)]),
        ),
        own("other-host", true, claim_spec([request("host", "hosts.example.com")])),
        own("last-link", true, claim_spec([request("host", "hosts.example.com")])),
        own("no-link", false, claim_spec([request("host", "hosts.example.com")])),
        own("attached", true, claim_spec([request("disk", "attach.example.com")])),
        own("attached-first-choice", true, claim_spec([first_available("disk", [
            subrequest("many", "attach.example.com").with(json!({"count": 3})),
            subrequest("one", "attach.example.com"),
            subrequest("nic", "nic.example.com"),
        ])])),
        own("prefers-none", false, claim_spec([first_available("disk", [
            subrequest("many", "attach.example.com").with(json!({"count": 3})),
            subrequest("one", "attach.example.com"),
        ])])),
        case(
            "looks-on-one",
            true,
            [claim("looks-on-one", claim_spec([gpu().selecting(&index(3)).exactly(json!({"adminAccess": true}))]))
                .in_namespace("default-admin")],
            small("looks-on-one").named_claim("gpu", "looks-on-one").in_namespace("default-admin"),
        ),
        own("not-distinct", false, claim_spec([gpu().count(3)])
            .constrained(json!({"requests": ["gpu"], "distinctAttribute": "gpu.example.com/numaNode"}))),
        own(
            "old-driver",
            false,
            claim_spec([request("gpu", "old.example.com")]),
        ),
    ]
}

/// An allocation without what the scheduler takes from the clock or at random.
pub(super) fn comparable(allocation: &Value) -> Value {
    let mut allocation = allocation.clone();
    if let Some(fields) = allocation.as_object_mut() {
        fields.remove("allocationTimestamp");
    }
    for result in allocation["devices"]["results"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        if result["shareID"].is_string() {
            result["shareID"] = json!("random");
        }
    }
    allocation
}

/// The dry run of `pod` on what the cluster looks like, with further flags.
pub(super) fn dry_run(cluster: &Value, pod: &str, more: &[&str]) -> Value {
    let mut cluster = cluster.clone();
    // The pod is held back by a gate until the dry run was made.
    for object in cluster["items"].as_array_mut().expect("a list") {
        if object["kind"] == "Pod" && !object["spec"]["schedulingGates"].is_null() {
            object["spec"]["schedulingGates"] = json!([]);
        }
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("cluster.json");
    std::fs::write(&file, cluster.to_string()).expect("the cluster is written");
    let from = file.display().to_string();
    let args = [
        "simulate",
        "allocation",
        pod,
        "-o",
        "json",
        "--complete",
        "--from",
        &from,
    ];
    let run = dra(&[&args, more].concat()).run();
    assert!(!run.stdout.is_empty(), "{pod}: {}", run.stderr);
    assert_valid(&run.stdout)
}

#[test]
fn the_scheduler_does_what_the_dry_run_says() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_nodes(NODES);
    cluster.create_all(&objects());
    let cases = cases();
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    compare_all(&cluster, &cases, &[]);
}

/// Places one pod after the other, and compares each with the dry run made just before, which gets further flags.
pub(super) fn compare_all(cluster: &Cluster, cases: &[Case], flags: &[&str]) {
    let mut wrong = Vec::new();
    for case in cases {
        cluster.create_all(&case.objects);
        let namespace = case.pod["metadata"]["namespace"].as_str().unwrap_or("default");
        let name = format!("pod/{namespace}/{}", case.name);
        let mut report = Value::Null;
        let placed = cluster.place(&case.pod, |before| {
            report = dry_run(before, &name, flags);
            report["result"] == "Fits"
        });
        if (report["result"] == "Fits") != case.fits {
            wrong.push(format!("{name} shows nothing of what it is for: {report:#}"));
            continue;
        }
        let difference = if case.fits {
            compare(cluster, &placed, &report)
        } else {
            compare_message(cluster, &name, &report)
        };
        wrong.extend(difference.map(|difference| format!("{name}: {difference}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns whether the pod went to one of the nodes of the dry run, with the devices that it foretold for that node.
pub(super) fn compare(cluster: &Cluster, placed: &Value, report: &Value) -> Option<String> {
    let node = placed["spec"]["nodeName"].as_str()?;
    let nodes = report["nodes"].as_array().expect("nodes");
    let foretold = nodes
        .iter()
        .find(|one| one["node"] == node && one["result"] == "Fits");
    let Some(foretold) = foretold else {
        return Some(format!("went to {node}, which should not take it: {nodes:#?}"));
    };
    for granted in foretold["claims"].as_array().expect("claims") {
        let claim = claim_of(cluster, placed, granted);
        let (real, ours) = (
            comparable(&claim["status"]["allocation"]),
            comparable(&granted["allocation"]),
        );
        if real != ours {
            let name = &claim["metadata"]["name"];
            return Some(format!("claim {name} on {node}:\n  real {real}\n  ours {ours}"));
        }
    }
    None
}

/// The real claim of a placed pod that the dry run grants devices to.
pub(super) fn claim_of(cluster: &Cluster, placed: &Value, granted: &Value) -> Value {
    let namespace = granted["namespace"].as_str().expect("a namespace");
    let name = match granted["name"].as_str().expect("a name") {
        "<extended-resources>" => {
            let reference = format!(
                "pod/{namespace}/{}",
                placed["metadata"]["name"].as_str().expect("a name")
            );
            let pod = cluster.wait(&reference, "its claim is known", |pod| {
                pod["status"]["extendedResourceClaimStatus"]["resourceClaimName"].is_string()
            });
            let status = &pod["status"]["extendedResourceClaimStatus"];
            status["resourceClaimName"].as_str().expect("a name").to_owned()
        }
        name => name.to_owned(),
    };
    cluster.get(&format!("claim/{namespace}/{name}"))
}

/// Returns whether the scheduler says what the dry run foretold.
pub(super) fn compare_message(cluster: &Cluster, pod: &str, report: &Value) -> Option<String> {
    let foretold = report["message"].as_str().unwrap_or_default();
    let said = |pod: &Value| {
        let condition = condition(pod, "PodScheduled").cloned().unwrap_or_default();
        condition["message"].as_str().unwrap_or_default().to_owned()
    };
    // It may have said something else before it had seen everything.
    let agreed = try_wait(|| {
        let real = said(&cluster.get(pod));
        if !real.is_empty() && real == foretold {
            Ok(())
        } else {
            Err(real)
        }
    });
    let real = agreed.err()?;
    Some(format!("\n  real {real}\n  ours {foretold}"))
}
