//! Intermediate states of objects.

use std::sync::{Arc, Mutex, PoisonError};

use http::Request;
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::Value;

use super::text;
use crate::support::cluster::Cluster;
use crate::support::cluster::runtime;

/// All that a watch says, from when it was opened until the process ends.
pub(super) struct History(Arc<Mutex<Vec<u8>>>);

impl History {
    /// Opens a watch of a list's path.
    pub(super) fn watch(cluster: &Cluster, path: &str) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let client = cluster.client();
        let request = Request::get(format!("{path}?watch=true&timeoutSeconds=1800"));
        let request = request.body(Body::empty()).expect("a request");
        let kept = Arc::clone(&seen);
        let response = runtime().block_on(client.send(request)).expect("it answers");
        assert!(response.status().is_success(), "{path}: {response:?}");
        runtime().spawn(async move {
            let mut body = response.into_body();
            while let Some(Ok(frame)) = body.frame().await {
                let piece = frame.into_data();
                if let Ok(piece) = piece {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&piece);
                }
            }
            drop(client);
        });
        Self(seen)
    }

    /// The objects as they came.
    pub(super) fn objects(&self) -> Vec<Value> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = seen.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let lines = seen[..whole].split(|byte| *byte == b'\n');
        lines
            .filter(|line| !line.is_empty())
            .map(|line| {
                let mut event: Value = serde_json::from_slice(line).expect("JSON");
                event["object"].take()
            })
            .collect()
    }
}

/// The conditions that DeviceTaintRules had.
pub(super) struct Conditions(History);

impl Conditions {
    pub(super) fn watch(cluster: &Cluster) -> Self {
        Self(History::watch(
            cluster,
            "/apis/resource.k8s.io/v1/devicetaintrules",
        ))
    }

    /// Those of a rule, each as reason and message, and once where it stayed.
    pub(super) fn of(&self, rule: &str) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for object in self.0.objects() {
            let conditions = object["status"]["conditions"].as_array();
            let Some([condition]) = conditions.map(Vec::as_slice) else {
                continue;
            };
            if text(&object, "/metadata/name") != rule {
                continue;
            }
            assert_eq!(condition["type"], "EvictionInProgress");
            let is_pending = condition["reason"] == "PodsPendingEviction";
            assert_eq!(condition["status"] == "True", is_pending, "{condition}");
            let now = format!("{} {}", text(condition, "/reason"), text(condition, "/message"));
            if told.last().is_none_or(|last| last != now.trim_end()) {
                told.push(now.trim_end().to_owned());
            }
        }
        told
    }
}
