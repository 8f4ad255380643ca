//! Pods of a snapshot whose owners are read for it: those that wait with devices.

use std::collections::{BTreeMap, BTreeSet};

use super::OwnersWanted;
use dra_model::{Kind, Object, Pod, Str};

/// The most owners that are read.
const MOST: usize = 100;

/// What is above the pods that wait.
#[derive(Debug, Default)]
pub(super) struct WaitingPods {
    /// By namespace, and identity of the owner, or else of the pod.
    wanted: BTreeMap<(Str, Str), OwnersWanted>,
    /// Identities beyond the limit.
    left_out: BTreeSet<(Str, Str)>,
}

/// Returns whether a pod is pending or terminating, and has devices or waits for some.
fn waits_with_devices(pod: &Pod) -> bool {
    let waits = pod.status.phase == "Pending" || pod.metadata.is_deleting();
    let containers = pod.spec.containers.iter();
    let mut limits = containers.flat_map(|container| &container.resources.limits);
    // Extended resources have a domain.
    waits && (!pod.spec.resource_claims.is_empty() || limits.any(|(name, _)| name.contains('/')))
}

impl WaitingPods {
    /// Takes a pod as the API server sent it. What cannot be read is malformed, which others tell.
    pub(super) fn add(&mut self, pod: &[u8]) {
        // Most pods run, and decoding all would double the work.
        let says = |text: &str| memchr::memmem::find(pod, text.as_bytes()).is_some();
        if !says("\"Pending\"") && !says("\"deletionTimestamp\"") {
            return;
        }
        let Ok(Object::Pod(pod)) = Object::from_json(Kind::Pod, pod) else {
            return;
        };
        if !waits_with_devices(&pod) {
            return;
        }
        let (metadata, spec) = (&pod.metadata, &pod.spec);
        let first = metadata.controller().cloned();
        let queued = (!spec.scheduling_gates.is_empty()).then(|| vec![metadata.uid.clone()]);
        if first.is_none() && queued.is_none() {
            return;
        }
        let identity = first.as_ref().map_or(&metadata.uid, |owner| &owner.uid).clone();
        let key = (metadata.namespace.clone(), identity);
        if self.wanted.len() >= MOST && !self.wanted.contains_key(&key) {
            self.left_out.insert(key);
            return;
        }
        self.wanted.entry(key).or_insert(OwnersWanted {
            namespace: metadata.namespace.clone(),
            first,
            queued,
            gathers: !spec.resource_claims.is_empty(),
        });
    }

    /// What to read, and how many owners there are beyond that.
    pub(super) fn wanted(self) -> (Vec<OwnersWanted>, usize) {
        (self.wanted.into_values().collect(), self.left_out.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn wanted(pods: &[Value]) -> (Vec<OwnersWanted>, usize) {
        let mut waiting = WaitingPods::default();
        for pod in pods {
            waiting.add(pod.to_string().as_bytes());
        }
        waiting.wanted()
    }

    fn pod(name: &str, owner: &str, more: (&str, Value)) -> Value {
        let mut pod = json!({"metadata": {"name": name, "namespace": "n", "uid": name}, "status": {"phase": "Pending"},
            "spec": {"resourceClaims": [{"name": "gpu"}], "containers": [{"resources": {}}]}});
        if !owner.is_empty() {
            pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": owner, "controller": true}]);
        }
        *pod.pointer_mut(more.0).expect("a field") = more.1;
        pod
    }

    #[test]
    fn owners_of_pods_that_wait_with_devices_are_wanted_once() {
        let as_it_is = || ("/metadata/namespace", json!("n"));
        let running = ("/status/phase", json!("Running"));
        let without = ("/spec/resourceClaims", json!([]));
        let extended = (
            "/spec",
            json!({"containers": [{"resources": {"limits": {"example.com/gpu": 1}}}]}),
        );
        let gated = ("/spec/containers", json!([]));
        let mut gated = pod("gated", "", gated);
        gated["spec"]["schedulingGates"] = json!([{"name": "kueue.x-k8s.io/admission"}]);
        let mut ending = pod("ending", "d", running.clone());
        ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let (found, left_out) = wanted(&[
            pod("a", "a", as_it_is()),
            pod("b", "a", as_it_is()),
            pod("running", "b", running),
            pod("without", "c", without),
            pod("plain", "", as_it_is()),
            pod("extended", "e", extended),
            ending,
            gated,
        ]);
        let names = found.iter().map(|wanted| {
            let first = wanted.first.as_ref().map_or("", |first| first.name.as_str());
            (first, wanted.queued.is_some(), wanted.gathers)
        });
        assert_eq!(
            names.collect::<Vec<_>>(),
            [
                ("a", false, true),
                ("d", false, true),
                ("e", false, false),
                ("", true, true)
            ]
        );
        assert_eq!(left_out, 0);
    }

    #[test]
    fn there_is_a_limit() {
        let pods: Vec<Value> = (0..2 * MOST)
            .map(|number| {
                let owner = format!("owner-{}", number % (MOST + 7));
                pod(
                    &format!("pod-{number}"),
                    &owner,
                    ("/metadata/namespace", json!("n")),
                )
            })
            .collect();
        let (found, left_out) = wanted(&pods);
        assert_eq!((found.len(), left_out), (MOST, 7));
    }
}
