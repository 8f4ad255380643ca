//! Pods that do not terminate, because the kubelet needs a driver that is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::finding::{Subject, claim_key, pod_key, scoped_key};
use super::stages::stages;
use super::{Code, Finding, Look, words};
use crate::stage::pods_on;
use dra_model::{Claim, Cluster, Key, Kind, Node, Pod, Str};
use dra_rules::kubelet::{
    ENDING_SECONDS, Heartbeat, Stages, daemon_set_of, is_called_like, needs_unprepare, republishing,
};
use dra_rules::reservation::{PodGroups, claim_names};

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    if !look.wants(Code::DriverGone)
        || look.is_hidden(Kind::Node, "")
        || look.is_hidden(Kind::ResourceSlice, "")
    {
        return;
    }
    let stages = stages(look);
    let stuck: Vec<_> = cluster.pods().filter(|pod| is_stuck(look, pod)).collect();
    for pod in stuck {
        let Some(node) = pod.node().and_then(|name| cluster.node(name)) else {
            continue;
        };
        // A kubelet that is silent terminates nothing, with or without drivers.
        if Heartbeat::of(node).is_silent() {
            continue;
        }
        of_pod(look, &stages, pod, node);
    }
}

/// Whether its grace period is over, and the kubelet has not terminated it. The kubelet has drivers unprepare devices before it reports the pod
/// as finished (`kubelet.go`, `SyncTerminatingPod`, v1.37.2), so a finished pod is kept by another component.
fn is_stuck(look: &Look<'_>, pod: &Pod) -> bool {
    let metadata = &pod.metadata;
    metadata.is_deleting()
        && !pod.is_terminal()
        && look.has_lasted(metadata.deletion_timestamp, ENDING_SECONDS)
}

/// What the pod's claims hold, by the driver that has to unprepare it.
fn held<'a>(cluster: &'a Cluster, pod: &Pod) -> BTreeMap<&'a Str, BTreeSet<Key>> {
    let mut held: BTreeMap<&Str, BTreeSet<Key>> = BTreeMap::new();
    let claims = claim_names(pod).filter_map(|name| {
        let claim: &Arc<Claim> = name.find(cluster)?;
        name.may_use(claim, PodGroups::Accepted).is_ok().then_some(claim)
    });
    for claim in claims {
        for result in claim.results().iter().filter(|result| needs_unprepare(result)) {
            held.entry(&result.driver).or_default().insert(claim.key());
        }
    }
    held
}

fn of_pod(look: &mut Look<'_>, stages: &Stages<'_>, pod: &Arc<Pod>, node: &Node) {
    let cluster = look.cluster;
    let name = &node.metadata.name;
    for (driver, claims) in held(cluster, pod) {
        // What a driver publishes for several nodes does not show which of them its plugin runs on.
        if stages.publishes_for(driver, name) != Some(false)
            || republishing(cluster, name, Some(driver), look.request.now).is_some()
        {
            continue;
        }
        if let Some(gap) = cluster.gap(Kind::Pod, "") {
            let what = words::driver_may_be_gone(&pod.key(), name, driver);
            look.found.unknown.unknown(&what, gap);
            continue;
        }
        let mut neighbours = cluster.pods_of_node(name);
        if neighbours.any(|other| may_be_of_driver(look, driver, other)) {
            continue;
        }
        let message = words::driver_is_gone(pod, name, driver, &claims);
        look.add(
            Finding::new(Code::DriverGone, Subject::pod(pod), message)
                .advice(words::restore_driver(driver, name))
                .look(pods_on(name))
                .joins(claims.into_iter().map(claim_key))
                .joins([pod_key(pod.key()), scoped_key(Kind::Node, name)]),
        );
    }
}

/// Whether a pod on the node may be the driver's: it runs, uses no claims itself, and is named like it.
fn may_be_of_driver(look: &Look<'_>, driver: &str, pod: &Pod) -> bool {
    if pod.is_terminal() || is_stuck(look, pod) || !pod.spec.resource_claims.is_empty() {
        return false;
    }
    let metadata = &pod.metadata;
    let names = [
        Some(&metadata.name),
        Some(&metadata.namespace),
        daemon_set_of(pod),
    ];
    names
        .into_iter()
        .flatten()
        .any(|name| is_called_like(driver, name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::ask;
    use super::super::{Code, FindingList, Question};
    use dra_model::Kind;
    use dra_testing::{World, status};

    fn world(more: &Value, ready: &str, phase: &str) -> World {
        let results = json!([{"request": "r", "driver": "gpu.example.com", "pool": "node-1", "device": "x"}]);
        let mut metadata = json!({"namespace": "n", "name": "p", "uid": "p-uid", "deletionTimestamp": "2026-11-21T11:00:00Z"});
        for (key, value) in more.as_object().unwrap() {
            metadata[key] = value.clone();
        }
        World::default()
            .with(
                Kind::Node,
                &json!({"metadata": {"name": "node-1"}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}),
            )
            .claim("c", &json!({}), &status(&results, &["p"]))
            .with(
                Kind::Pod,
                &json!({"metadata": metadata, "status": {"phase": phase},
                    "spec": {"nodeName": "node-1", "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}}),
            )
    }

    fn asked(world: World) -> FindingList {
        let mut list = ask(&world.build(), Question::Now);
        list.items.retain(|finding| finding.code == Code::DriverGone);
        list
    }

    fn is_found(world: World) -> bool {
        !asked(world).items.is_empty()
    }

    fn other_pod(world: World, name: &str, node: &str) -> World {
        world.with(
            Kind::Pod,
            &json!({"metadata": {"namespace": "kube-system", "name": name, "uid": name}, "spec": {"nodeName": node}}),
        )
    }

    #[test]
    fn a_pod_is_reported_only_if_its_driver_is_known_to_be_gone() {
        let plain = json!({});
        let gone = || world(&plain, "True", "Running");
        let list = asked(gone());
        assert_eq!(
            list.items[0].message.to_string(),
            "should have terminated at 2026-11-21T11:00:00Z. It is on node/node-1 with devices of driver gpu.example.com (claim/n/c), where \
             the driver has no ResourceSlice and no pod: the kubelet needs the driver to unprepare the devices, and retries forever"
        );
        // Its time is not over, the kubelet has ended it, or is not there to do so. Who else holds it does not matter.
        let early = json!({"deletionTimestamp": "2026-11-21T11:59:30Z"});
        assert!(!is_found(world(&early, "True", "Running")));
        assert!(!is_found(world(&plain, "True", "Succeeded")));
        assert!(!is_found(world(&plain, "Unknown", "Running")));
        // A kubelet that says itself that its node is not ready still ends pods.
        assert!(is_found(world(&plain, "False", "Running")));
        let of_job = json!({"finalizers": ["batch.kubernetes.io/job-tracking"]});
        assert!(is_found(world(&of_job, "True", "Running")));
        // The driver has a slice there, or one that says nothing of nodes; slices of other nodes and drivers do not count.
        let slice = |more: Value| {
            let mut spec = json!({"driver": "gpu.example.com", "devices": []});
            for (key, value) in more.as_object().unwrap() {
                spec[key] = value.clone();
            }
            is_found(gone().slice_with("pool", &spec))
        };
        assert!(!slice(json!({"nodeName": "node-1"})));
        assert!(!slice(json!({"allNodes": true})));
        assert!(slice(json!({"nodeName": "node-2"})));
        assert!(slice(json!({"nodeName": "node-1", "driver": "nic.example.com"})));
        // A pod that may be its own.
        assert!(!is_found(other_pod(gone(), "dra-example-driver-x7k2p", "node-1")));
        assert!(is_found(other_pod(gone(), "dra-example-driver-x7k2p", "node-2")));
        assert!(is_found(other_pod(gone(), "kube-proxy-x7k2p", "node-1")));
        // Hidden pods may be the driver's.
        let hidden = asked(gone().knowing(|environment| {
            environment.gaps.push(dra_model::Gap {
                kind: Kind::Pod,
                namespace: "kube-system".into(),
                except: "".into(),
                is_forbidden: false,
                reason: "forbidden".to_owned(),
            });
        }));
        assert!(hidden.items.is_empty());
        assert!(
            hidden.unknown.iter().any(|text| text.contains("pod/n/p")),
            "{:?}",
            hidden.unknown
        );
    }
}
