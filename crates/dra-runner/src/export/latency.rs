//! Times that claims and pods take, as watches see them.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;

use dra_model::{Change, Claim, Cluster, Kind, Meta, Object, Pod, Str, Time};
use dra_rules::reservation::claim_names;

/// Time that something took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latency {
    /// A claim, from its creation to its allocation.
    Allocation(Duration),
    /// A pod, from the last allocation of its claims until it ran.
    Start(Duration),
}

/// Allocations that were seen.
#[derive(Debug)]
pub(super) struct Latencies {
    /// Older objects that are seen for the first time may have changed long before.
    begun: Time,
    /// Time of each allocation, by UID of the claim. Only looked up in.
    allocated: HashMap<Str, Time, RandomState>,
}

impl Latencies {
    pub(super) fn since(begun: Time) -> Self {
        Self {
            begun,
            allocated: HashMap::default(),
        }
    }

    /// Returns the time that ends with a change, which is seen at `now` and not in `cluster` yet.
    pub(super) fn see(&mut self, cluster: &Cluster, change: &Change, now: Time) -> Option<Latency> {
        match change {
            Change::Put(Object::ResourceClaim(claim)) => self.claim(cluster, claim, now),
            Change::Put(Object::Pod(pod)) => self.pod(cluster, pod, now),
            Change::Delete(Kind::ResourceClaim, key) => {
                self.allocated.remove(&cluster.claim(key)?.metadata.uid);
                None
            }
            _ => None,
        }
    }

    fn claim(&mut self, cluster: &Cluster, claim: &Claim, now: Time) -> Option<Latency> {
        let uid = &claim.metadata.uid;
        let Some(allocation) = &claim.status.allocation else {
            self.allocated.remove(uid);
            return None;
        };
        let before = cluster
            .claim(&claim.key())
            .filter(|before| before.metadata.uid == *uid);
        let is_news = before.map_or(self.is_new(&claim.metadata), |before| {
            before.status.allocation.is_none()
        });
        if !is_news {
            return None;
        }
        let at = allocation.allocation_timestamp.unwrap_or(now);
        self.allocated.insert(uid.clone(), at);
        let created = claim.metadata.creation_timestamp?;
        Some(Latency::Allocation(at.since(created)))
    }

    fn pod(&self, cluster: &Cluster, pod: &Pod, now: Time) -> Option<Latency> {
        let is_running = |pod: &Pod| pod.status.phase == "Running";
        let before = cluster
            .pod(&pod.key())
            .filter(|before| before.metadata.uid == pod.metadata.uid);
        let is_news = before.map_or(self.is_new(&pod.metadata), |before| !is_running(before));
        if !is_running(pod) || !is_news {
            return None;
        }
        let allocated = claim_names(pod).map(|name| {
            let claim = cluster.claim(&pod.metadata.beside(name.name()?))?;
            self.allocated.get(&claim.metadata.uid).copied()
        });
        // Without the time of one allocation it is unknown which was the last.
        let last = allocated.collect::<Option<Vec<Time>>>()?.into_iter().max()?;
        Some(Latency::Start(now.since(last)))
    }

    fn is_new(&self, metadata: &Meta) -> bool {
        metadata
            .creation_timestamp
            .is_some_and(|created| created >= self.begun)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn put(kind: Kind, object: &Value) -> Change {
        Change::Put(Object::from_json(kind, object.to_string().as_bytes()).unwrap())
    }

    fn claim(uid: &str, allocation: Value) -> Change {
        put(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": "n", "name": "c", "uid": uid, "creationTimestamp": "2026-11-23T10:00:00Z"},
                    "status": {"allocation": allocation}}),
        )
    }

    fn pod(phase: &str) -> Change {
        put(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p", "creationTimestamp": "2026-11-23T10:00:00Z"},
                    "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
                    "status": {"phase": phase}}),
        )
    }

    /// The times that end with `changes`, one a second after `begun`.
    fn seen(begun: &str, changes: impl IntoIterator<Item = Change>) -> Vec<Option<Latency>> {
        let begun: Time = begun.parse().unwrap();
        let mut latencies = Latencies::since(begun);
        let mut cluster = Cluster::default();
        let changes = changes.into_iter().zip(1..);
        changes
            .map(|(change, second)| {
                let now = begun.after(Duration::from_secs(second));
                let latency = latencies.see(&cluster, &change, now);
                cluster.apply(change);
                latency
            })
            .collect()
    }

    #[test]
    fn times_end_with_the_allocation_and_with_the_start() {
        let [allocation, start] = [Latency::Allocation, Latency::Start]
            .map(|of| move |seconds| Some(of(Duration::from_secs(seconds))));
        let recorded = json!({"allocationTimestamp": "2026-11-23T10:00:03Z"});
        assert_eq!(
            seen(
                "2026-11-23T09:59:59Z",
                [
                    claim("c", Value::Null),
                    pod("Pending"),
                    claim("c", json!({})),
                    claim("c", json!({})),
                    pod("Running"),
                    pod("Running"),
                    // Deallocated and allocated again.
                    claim("c", Value::Null),
                    claim("c", json!({})),
                ]
            ),
            [
                None,
                None,
                allocation(2),
                None,
                start(2),
                None,
                None,
                allocation(7)
            ]
        );
        // The scheduler's own time counts where there is one.
        assert_eq!(
            seen(
                "2026-11-23T10:00:00Z",
                [
                    claim("c", Value::Null),
                    claim("c", recorded.clone()),
                    pod("Running")
                ]
            ),
            [None, allocation(3), start(0)]
        );
        // An old claim that is seen for the first time, and one of the same name, have been allocated at an unknown time.
        assert_eq!(
            seen(
                "2026-11-23T10:00:01Z",
                [claim("c", json!({})), claim("d", recorded), pod("Running")]
            ),
            [None, None, None]
        );
    }
}
