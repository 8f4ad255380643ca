//! Pods with ordinary claims: bound, unschedulable, ended, shared.

use serde_json::{Value, json};

use crate::support::cluster::Cluster;
use crate::support::cluster::Component;
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{
    Manifest, aligned_spec, claim, claim_spec, class, disruption_budget, each_device, gpu, gpu_slice,
    matching, namespace, nic_slice, pod, request, taint, template,
};
use crate::support::wait::wait_for;

/// Pods of three namespaces with template claims, a named claim with driver configuration, a Job's pods,
/// GPUs and NICs aligned by an attribute, a claim that no pod uses (`spare`), a PodDisruptionBudget.
/// Everything is allocated and reserved, and every pod runs.
pub(crate) fn bound_pods(cluster: &Cluster) {
    cluster.add_gpu_nodes(3);
    // It needs all GPUs of a NUMA node, so it comes first.
    let four = gpu()
        .count(4)
        .selecting("device.attributes['gpu.example.com'].numaNode == 0");
    cluster.run(&[
        namespace("training"),
        namespace("inference"),
        template("aligned", aligned_spec()).in_namespace("training"),
        template(
            "four-gpus",
            claim_spec([four]).constrained(matching("gpu.example.com/numaNode", &[])),
        )
        .in_namespace("training"),
        pod("trainer-1")
            .in_namespace("training")
            .template_claim("devices", "aligned")
            .template_claim("extra", "four-gpus"),
    ]);
    let notebook = gpu()
        .selecting("device.attributes['gpu.example.com'].model.startsWith('H100')")
        .selecting("device.capacity['gpu.example.com'].memory.compareTo(quantity('64Gi')) >= 0");
    let time_slicing = json!({"devices": {"config": [{"requests": ["gpu"], "opaque": {
        "driver": "gpu.example.com",
        "parameters": {"apiVersion": "gpu.example.com/v1", "kind": "GpuConfig", "sharing": {"strategy": "TimeSlicing"}}}}]}});
    let web = |name| {
        pod(name)
            .in_namespace("inference")
            .labeled("app", "web")
            .template_claim("gpu", "one-gpu")
    };
    cluster.run(&[
        template("one-gpu", claim_spec([gpu()]))
            .in_namespace("inference")
            .with(json!({"spec": {"metadata": {"labels": {"team": "inference"}}}})),
        claim("notebook-gpu", claim_spec([notebook]).with(time_slicing)),
        claim("spare", claim_spec([gpu()])),
        web("web-0"),
        web("web-1"),
        pod("trainer-0")
            .in_namespace("training")
            .template_claim("devices", "aligned"),
        pod("notebook").named_claim("gpu", "notebook-gpu"),
        disruption_budget("web", "web", 2).in_namespace("inference"),
        sweep_job(),
    ]);
    let placed =
        |pods: &[Value]| pods.len() == 4 && pods.iter().all(|pod| pod["spec"]["nodeName"].is_string());
    wait_for("the job's pods are on nodes", || {
        placed(&cluster.list("pod/training")).then_some(())
    });
    cluster.run_kubelets();
}

fn sweep_job() -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sweep", "namespace": "training"}, "spec": {
        "parallelism": 2, "completions": 2, "template": {"spec": {
            "restartPolicy": "Never",
            "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "aligned"}],
            "containers": [{"name": "main", "image": "pause:3.10", "resources": {
                "requests": {"cpu": "1"}, "claims": [{"name": "devices", "request": "gpu0"}]}}]}}}})
}

/// Pending pods, each with one cause, named like it. Nodes 1 and 2 have H100s, some of them tainted; node 3
/// has a pool with one of two slices, node 4 one with a slice of an older generation, both of A100s.
/// `wrong-node` may only run on node 2 while its claim is allocated on node 1.
pub(crate) fn unschedulable_pods(cluster: &Cluster) {
    cluster.create_all(&[
        super::super::objects::gpu_class(),
        super::super::objects::nic_class(),
    ]);
    cluster.add_nodes(["gpu-node-1", "gpu-node-2", "gpu-node-3", "gpu-node-4"]);
    let unhealthy = |effect: &str| json!([taint("example.com/unhealthy", "xid-79", effect)]);
    let index = |device: &Value| device["attributes"]["index"]["int"].as_u64().unwrap_or_default();
    let a100 = |slice: Value| {
        each_device(slice, |device| {
            device["attributes"]["model"]["string"] = json!("A100-SXM4-80GB");
        })
    };
    cluster.create_all(&[
        each_device(gpu_slice("gpu-node-1", 8), |device| {
            if index(device) == 7 {
                device["taints"] = unhealthy("NoSchedule");
            }
        }),
        each_device(gpu_slice("gpu-node-2", 8), |device| {
            device["taints"] = unhealthy(if index(device) < 4 {
                "NoSchedule"
            } else {
                "NoExecute"
            });
        }),
        nic_slice("gpu-node-1", 8),
        nic_slice("gpu-node-2", 8),
        a100(gpu_slice("gpu-node-3", 4)).with(json!({"spec": {"pool": {"resourceSliceCount": 2}}})),
        a100(gpu_slice("gpu-node-4", 4)).with(json!({"metadata": {"name": "gpu-node-4-old"}})),
        a100(gpu_slice("gpu-node-4", 1))
            .with(json!({"metadata": {"name": "gpu-node-4-new"}, "spec": {"pool": {"generation": 2}}})),
    ]);
    let h100 = "device.attributes['gpu.example.com'].model == 'H100-SXM5-80GB'";
    let a100 = "device.attributes['gpu.example.com'].model == 'A100-SXM4-80GB'";
    let sixth = "device.attributes['gpu.example.com'].index == 6";
    cluster.run(&[
        template("five", claim_spec([gpu().count(5).selecting(h100)])),
        pod("fills-node-1").template_claim("gpu", "five"),
    ]);
    cluster.run(&[
        claim("on-node-1", claim_spec([gpu().selecting(h100)])),
        pod("holder").named_claim("gpu", "on-node-1"),
    ]);

    let tolerating = json!({"tolerations": [
        {"key": "example.com/unhealthy", "operator": "Exists", "effect": "NoSchedule"}]});
    let causes = [
        (
            "cel-mismatch",
            claim_spec([gpu().selecting("device.attributes['gpu.example.com'].model == 'B200'")]),
        ),
        (
            "cel-error",
            claim_spec([gpu().selecting("device.attributes['gpu.example.com'].firmware == '1.2'")]),
        ),
        ("too-many", claim_spec([gpu().count(9)])),
        ("not-enough-free", claim_spec([gpu().count(3).selecting(h100)])),
        (
            "tainted",
            claim_spec([gpu().count(8).selecting(h100).exactly(tolerating)]),
        ),
        (
            "constraint-conflict",
            claim_spec([gpu().count(2).selecting(h100)])
                .constrained(matching("resource.kubernetes.io/pcieRoot", &["gpu"])),
        ),
        ("missing-class", claim_spec([request("gpu", "tpu.example.com")])),
        ("all-incomplete-pool", claim_spec([gpu().all().selecting(a100)])),
        (
            "old-generation",
            claim_spec([gpu().count(2).selecting(a100)])
                .constrained(matching("gpu.example.com/model", &["gpu"])),
        ),
        (
            "two-requests",
            claim_spec(["a", "b"].map(|name| request(name, "gpu.example.com").selecting(sixth))),
        ),
    ];
    for (cause, spec) in &causes {
        cluster.create_all(&[
            template(cause, spec.clone()),
            pod(cause).template_claim("gpu", cause),
        ]);
    }
    let to_node_2 = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "gpu-node-2"}}});
    cluster.create_all(&[
        pod("wrong-node").named_claim("gpu", "on-node-1").with(to_node_2),
        pod("missing-claim").named_claim("gpu", "nowhere"),
        pod("missing-template").template_claim("gpu", "no"),
    ]);
    for (cause, _) in &causes {
        cluster.wait_unschedulable([&*format!("pod/{cause}")]);
    }
    cluster.wait_unschedulable(["pod/wrong-node"]);
}

/// Pods that want `example.com/gpu`, which a class provides, or the implicit resource of the class; the
/// scheduler makes claims for them. `mixed` has an ordinary claim, too, and `too-many` does not fit.
pub(crate) fn extended_resource(cluster: &Cluster) {
    cluster.add_nodes(["gpu-node-1", "gpu-node-2"]);
    let extended = json!({"spec": {"extendedResourceName": "example.com/gpu"}});
    let second = json!({"name": "side", "image": "pause:3.10", "resources": {
        "requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}});
    let mut two_containers = pod("two-containers").requesting("example.com/gpu", 1);
    two_containers["spec"]["containers"]
        .as_array_mut()
        .expect("pods have containers")
        .push(second);
    cluster.run(&[
        class("gpu.example.com", "device.driver == 'gpu.example.com'").with(extended),
        gpu_slice("gpu-node-1", 8),
        gpu_slice("gpu-node-2", 8),
        pod("explicit").requesting("example.com/gpu", 2),
        pod("implicit").requesting("deviceclass.resource.kubernetes.io/gpu.example.com", 1),
        two_containers,
        template("one", claim_spec([gpu()])),
        pod("mixed")
            .requesting("example.com/gpu", 1)
            .template_claim("gpu", "one"),
    ]);
    cluster.create(&pod("too-many").requesting("example.com/gpu", 9));
    cluster.wait_unschedulable(["pod/too-many"]);
}

/// A namespace with the admin-access label, where one claim has all devices of the node and another one
/// device, though a pod of another namespace uses a device, too.
pub(crate) fn admin_access(cluster: &Cluster) {
    cluster.add_gpu_nodes(1);
    let admin = |request: Value| claim_spec([request.exactly(json!({"adminAccess": true}))]);
    let monitoring = |object: Value| object.in_namespace("monitoring");
    cluster.run(&[
        namespace("monitoring").labeled("resource.kubernetes.io/admin-access", "true"),
        template("one", claim_spec([gpu()])),
        pod("user").template_claim("gpu", "one"),
        monitoring(claim("all-gpus", admin(gpu().all()))),
        monitoring(template("one-admin", admin(gpu()))),
        monitoring(pod("exporter").named_claim("gpus", "all-gpus")),
        monitoring(pod("probe").template_claim("gpu", "one-admin")),
    ]);
}

/// One claim that four pods use (`shared`), one with a single user (`tool`), two generated ones. All pods run.
pub(crate) fn shared_claims(cluster: &Cluster) {
    cluster.add_gpu_nodes(2);
    cluster.create_all(&[
        claim("shared", claim_spec([gpu()])),
        claim("tool", claim_spec([gpu()])),
        template("one", claim_spec([gpu()])),
    ]);
    let sharing = |name| pod(name).named_claim("gpu", "shared");
    cluster.run(&[
        sharing("reader-0"),
        sharing("reader-1"),
        sharing("reader-2"),
        sharing("done"),
        pod("only-user").named_claim("gpu", "tool"),
        pod("generated-done").template_claim("gpu", "one"),
        pod("generated-running").template_claim("gpu", "one"),
    ]);
}

/// What follows in [`shared_claims`] when three pods end and `reader-2` is being deleted. The claims of
/// ended pods are freed; `shared` keeps changing, since the claim controller takes away and adds again the
/// entry of `done` for as long as that pod exists.
pub(crate) fn end_shared_claims(cluster: &Cluster) {
    let generated = cluster.claim_of("pod/generated-done", "gpu");
    cluster.set_phase("pod/done", Phase::Succeeded);
    cluster.set_phase("pod/only-user", Phase::Failed);
    cluster.set_phase("pod/generated-done", Phase::Succeeded);
    cluster.delete("pod/reader-2");
    cluster.wait("claim/tool", "it is freed", |claim| {
        claim["status"]["allocation"].is_null()
    });
    cluster.wait_gone(&generated);
}

/// What a cluster looks like while its claim controller is away, plus an entry that is never removed:
/// entries of a pod that is gone (`pod-gone`), of one that was created again (`pod-recreated`), of one that
/// ended (`pod-done`), of an unknown kind (`foreign`), an allocated claim without entries
/// (`unreserved`), a claim that is being deleted (`deleting`).
///
/// Scheduler and controller manager stay stopped.
pub(crate) fn stale_reservations(cluster: &Cluster) {
    cluster.add_gpu_nodes(2);
    let users = [
        ("pod-gone", "gone"),
        ("pod-recreated", "again"),
        ("pod-done", "done"),
        ("unreserved", "u"),
        ("foreign", "f"),
        ("deleting", "d"),
    ];
    let using = |(name, user): &(&str, &str)| pod(user).named_claim("gpu", name);
    cluster.create_all(&users.map(|(name, _)| claim(name, claim_spec([gpu()]))));
    cluster.run(&users.each_ref().map(using));
    cluster.stop(Component::ControllerManager);
    cluster.stop(Component::Scheduler);
    for pod in ["pod/gone", "pod/again", "pod/u"] {
        cluster.delete_now(pod);
    }
    cluster.run(&[pod("again")
        .named_claim("gpu", "pod-recreated")
        .on_node("gpu-node-1")]);
    cluster.set_phase("pod/done", Phase::Succeeded);
    cluster.update_status("claim/unreserved", |claim| {
        claim["status"]["reservedFor"] = Value::Null;
    });
    cluster.update_status("claim/foreign", |claim| {
        let entries = claim["status"]["reservedFor"]
            .as_array_mut()
            .expect("the claim is reserved");
        entries.push(json!({"apiGroup": "batch", "resource": "jobs", "name": "render",
            "uid": "5a3f6a52-8f0e-4d7e-9d43-1f0c2b0f6c11"}));
    });
    cluster.delete("claim/deleting");
}
