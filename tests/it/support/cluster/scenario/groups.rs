//! Claims that belong to PodGroups. The gates GenericWorkload and DRAWorkloadResourceClaims must be on.

use serde_json::{Value, json};

use super::GROUP_GATES;
use crate::support::cluster::Cluster;
use crate::support::cluster::Component;
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, pod, pod_group, request, template};

/// The entry of `spec.resourceClaims` of a group for a named claim.
fn named(claim: &str) -> Value {
    json!({"name": "gpu", "resourceClaimName": claim})
}

/// The same for a claim that is generated for the group.
fn generated(template: &str) -> Value {
    json!({"name": "gpu", "resourceClaimTemplateName": template})
}

/// Pods `NAME-0` and so on of a group, as `member` makes them.
fn members(name: &str, count: usize, member: impl Fn(Value) -> Value) -> Vec<Value> {
    (0..count)
        .map(|index| member(pod(&format!("{name}-{index}"))))
        .collect()
}

/// `llm-gpus` is reserved for a gang, one of whose members is being deleted; `sim` has a generated claim and
/// a member without a node (`sim-late`); `mixed` is reserved for a group and for a pod outside it, one member
/// has ended and one uses it under another name; members of `pair` have claims of their own besides.
pub(crate) fn podgroups(cluster: &Cluster) {
    cluster.add_gpu_nodes(2);
    let llm = json!({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "llm"},
        "spec": {"podGroupTemplates": [{"name": "workers", "schedulingPolicy": {"gang": {"minCount": 3}},
            "resourceClaims": [named("llm-gpus")]}]}});
    let llm_workers = pod_group("llm-workers", [named("llm-gpus")]).with(json!({"spec": {
        "schedulingPolicy": {"basic": null, "gang": {"minCount": 3}},
        "workloadRef": {"workloadName": "llm", "templateName": "workers"}}}));
    cluster.create_all(&[
        claim("llm-gpus", claim_spec([gpu().count(4)])),
        llm,
        llm_workers,
        template("two-gpus", claim_spec([gpu().count(2)])),
        pod_group("sim", [generated("two-gpus")]),
        claim("mixed", claim_spec([gpu()])),
        pod_group("mix", [named("mixed")]),
        template("own-nic", claim_spec([request("nic", "nic.example.com")])),
        claim("pair-gpu", claim_spec([gpu()])),
        pod_group("pair", [named("pair-gpu")]),
    ]);
    let mut pods = members("llm", 3, |pod| {
        pod.named_claim("gpu", "llm-gpus").in_group("llm-workers")
    });
    pods.extend(members("sim", 2, |pod| {
        pod.template_claim("gpu", "two-gpus").in_group("sim")
    }));
    pods.extend(members("mix", 2, |pod| {
        pod.named_claim("gpu", "mixed").in_group("mix")
    }));
    pods.push(
        pod("mix-other-name")
            .named_claim("device", "mixed")
            .in_group("mix"),
    );
    pods.push(pod("solo").named_claim("gpu", "mixed"));
    pods.extend(members("pair", 2, |pod| {
        pod.named_claim("gpu", "pair-gpu")
            .template_claim("nic", "own-nic")
            .in_group("pair")
    }));
    cluster.run(&pods);
    cluster.set_phase("pod/mix-1", Phase::Succeeded);
    cluster.delete("pod/llm-2");
    let nowhere = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "gpu-node-9"}}});
    cluster.create(
        &pod("sim-late")
            .template_claim("gpu", "two-gpus")
            .in_group("sim")
            .with(nowhere),
    );
    cluster.wait_unschedulable(["pod/sim-late"]);
}

/// Groups after every component was restarted with the gates off, so that PodGroups are no longer served:
/// `llm-gpus` has the stale entry of its group and that of a pod that came later; `conv-gpus` was converted
/// to pod entries before; the claim of `sim` is a generated one.
pub(crate) fn podgroups_gates_off(cluster: &Cluster) {
    cluster.add_gpu_nodes(2);
    cluster.create_all(&[
        claim("llm-gpus", claim_spec([gpu().count(4)])),
        claim("conv-gpus", claim_spec([gpu()])),
        template("two-gpus", claim_spec([gpu().count(2)])),
        pod_group("llm-workers", [named("llm-gpus")]),
        pod_group("conv", [named("conv-gpus")]),
        pod_group("sim", [generated("two-gpus")]),
    ]);
    let mut pods = members("llm", 3, |pod| {
        pod.named_claim("gpu", "llm-gpus").in_group("llm-workers")
    });
    pods.extend(members("conv", 2, |pod| {
        pod.named_claim("gpu", "conv-gpus").in_group("conv")
    }));
    pods.extend(members("sim", 2, |pod| {
        pod.template_claim("gpu", "two-gpus").in_group("sim")
    }));
    cluster.run(&pods);

    let entries = ["conv-0", "conv-1"].map(|name| {
        json!({"resource": "pods", "name": name, "uid": cluster.get(&format!("pod/{name}"))["metadata"]["uid"]})
    });
    cluster.update_status("claim/conv-gpus", |claim| {
        claim["status"]["reservedFor"] = json!(entries);
    });
    cluster.reconfigure(|options| {
        for gate in GROUP_GATES {
            options.set_gate(&Component::GATED, gate, false);
        }
    });
    cluster.run(&[pod("llm-late")
        .named_claim("gpu", "llm-gpus")
        .in_group("llm-workers")]);
}
