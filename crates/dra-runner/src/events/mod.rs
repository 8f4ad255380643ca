//! Records events as kube-controller-manager does, without delaying what they are about.

mod correlator;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use self::correlator::{Correlated, Correlator};
use dra_model::{Key, Kind, Str, Time};
use dra_rules::controllers::{ControllerName, Owner, PodRef, Warning};
use dra_sources::live::{Error, Writer};

/// Events in the queue. More are dropped.
const WAITING: usize = 1000;

/// Attempts to send an event that no API server answers, and the pause after each.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

/// The component of the claim controller in events, which is not its name.
const CLAIMS: &str = "resource_claim";

/// An event about an object.
#[derive(Clone, Debug)]
struct Event {
    group: Group,
    message: String,
}

/// The key of similar events: all but the message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Group {
    /// The controller that records it.
    component: &'static str,
    about: ObjectReference,
    type_: &'static str,
    reason: &'static str,
}

impl Group {
    fn controller(&self) -> ControllerName {
        match self.component {
            CLAIMS => ControllerName::ResourceClaim,
            _ => ControllerName::DeviceTaintEviction,
        }
    }
}

/// The object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ObjectReference {
    api_version: String,
    kind: &'static str,
    key: Key,
    uid: Str,
}

/// Records events, which a [`Broadcaster`] sends.
#[derive(Clone)]
pub(super) struct Recorder {
    queue: mpsc::Sender<(Event, Time)>,
    writer: Arc<Writer>,
}

/// Sends recorded events in the background, until all recorders are dropped.
///
/// Mirrors client-go `tools/record/event.go`, `recordToSink`, v0.37.1: core/v1 events with a count, what is refused is dropped, what gets
/// no answer is tried again.
pub(super) struct Broadcaster(JoinHandle<()>);

impl Broadcaster {
    /// Sends what has been recorded, for at most `patience`.
    pub(super) async fn finish(self, patience: Duration) {
        let abort = self.0.abort_handle();
        if tokio::time::timeout(patience, self.0).await.is_err() {
            abort.abort();
        }
    }
}

impl Recorder {
    /// A recorder whose events are sent with `writer`.
    pub(super) fn start(writer: Arc<Writer>) -> (Self, Broadcaster) {
        let (queue, inbox) = mpsc::channel(WAITING);
        let broadcaster = Broadcaster(tokio::spawn(broadcast(Arc::clone(&writer), inbox)));
        (Self { queue, writer }, broadcaster)
    }

    /// A claim could not be made.
    pub(super) fn warn(&self, warning: &Warning, now: Time) {
        let Owner { kind, key, uid } = &warning.about;
        let group = Group {
            component: CLAIMS,
            about: self.reference(*kind, key, uid),
            type_: "Warning",
            reason: "FailedResourceClaimCreation",
        };
        self.record(group, warning.message.clone(), now);
    }

    /// The pod is about to be deleted. Mirrors `device_taint_eviction.go`, `emitPodDeletionEvent`, v1.37.2.
    pub(super) fn evicting(&self, pod: &PodRef, now: Time) {
        self.about_pod(pod, "Marking for deletion", now);
    }

    /// The pod will not be deleted. Mirrors `device_taint_eviction.go`, `emitCancelPodDeletionEvent`, v1.37.2.
    pub(super) fn spared(&self, pod: &PodRef, now: Time) {
        self.about_pod(pod, "Cancelling deletion", now);
    }

    /// No pod is evicted because of the rule.
    pub(super) fn held(&self, rule: &Str, uid: &Str, why: &str, now: Time) {
        let group = Group {
            component: ControllerName::DeviceTaintEviction.into(),
            about: self.reference(Kind::DeviceTaintRule, &Key::new("", rule.clone()), uid),
            type_: "Warning",
            reason: "EvictionHeld",
        };
        self.record(group, why.to_owned(), now);
    }

    /// The run ends, since another controller does the same work: `why`. The event is about the lease, given with its UID, where operators
    /// look for it; without a lease, about the object that the other controller wrote.
    pub(super) fn rival(&self, lease: Option<(Key, Str)>, written: &Owner, why: &str, now: Time) {
        let about = match lease {
            Some((key, uid)) => ObjectReference {
                api_version: "coordination.k8s.io/v1".to_owned(),
                kind: "Lease",
                key,
                uid,
            },
            None => self.reference(written.kind, &written.key, &written.uid),
        };
        let group = Group {
            component: "kubectl-dra",
            about,
            type_: "Warning",
            reason: "AnotherControllerAtWork",
        };
        self.record(group, format!("{why}; kubectl dra run exits"), now);
    }

    fn about_pod(&self, pod: &PodRef, message: &str, now: Time) {
        let group = Group {
            component: ControllerName::DeviceTaintEviction.into(),
            about: self.reference(Kind::Pod, &pod.key, &pod.uid),
            type_: "Normal",
            reason: "DeviceTaintManagerEviction",
        };
        self.record(group, message.to_owned(), now);
    }

    fn reference(&self, kind: Kind, key: &Key, uid: &Str) -> ObjectReference {
        ObjectReference {
            api_version: self.writer.api_version(kind),
            kind: kind.name(),
            key: key.clone(),
            uid: uid.clone(),
        }
    }

    fn record(&self, group: Group, message: String, now: Time) {
        // A full queue drops what comes: an event is never worth waiting for.
        _ = self.queue.try_send((Event { group, message }, now));
    }
}

/// Names for events. No two are the same, also at one instant: the API server would refuse the second event.
#[derive(Debug, Default)]
struct Names {
    last: i128,
}

impl Names {
    /// A name for an event about an object called `about`, as client-go has them.
    fn name(&mut self, about: &str, now: Time) -> String {
        self.last = now.unix_nanoseconds().max(self.last + 1);
        format!("{about}.{:x}", self.last)
    }
}

async fn broadcast(writer: Arc<Writer>, mut inbox: mpsc::Receiver<(Event, Time)>) {
    let mut correlator = Correlator::default();
    let mut names = Names::default();
    while let Some((event, now)) = inbox.recv().await {
        let Group { about, reason, .. } = &event.group;
        tracing::debug!(
            controller = <&str>::from(event.group.controller()),
            object = %format_args!("{}/{}", about.kind, about.key),
            reason = *reason,
            "{}",
            event.message
        );
        let name = names.name(&about.key.name, now);
        let Some(correlated) = correlator.correlate(&event, &name, now) else {
            continue;
        };
        for _ in 0..TRIES {
            match send(&writer, &event.group, &name, &correlated, now).await {
                Err(Error::Unreachable { .. } | Error::Cut { .. } | Error::TimedOut { .. }) => {
                    tokio::time::sleep(PAUSE).await;
                }
                // What is refused is refused.
                Ok(()) | Err(_) => break,
            }
        }
    }
}

async fn send(
    writer: &Writer,
    event: &Group,
    name: &str,
    correlated: &Correlated,
    now: Time,
) -> Result<(), Error> {
    let namespace = namespace_of(&event.about);
    let last = Time::from_unix_seconds(now.unix_seconds()).to_string();
    if let Some(known) = &correlated.name {
        let patch = json!({"count": correlated.count, "lastTimestamp": last, "message": correlated.message});
        match writer.patch_event(namespace, known, &patch).await {
            // The cluster keeps events for an hour.
            Err(Error::Refused { code: 404, .. }) => {}
            done => return done,
        }
    }
    let name = correlated.name.as_deref().unwrap_or(name);
    writer
        .create_event(namespace, &body(event, name, correlated, &last))
        .await
}

/// Events about objects without a namespace are in `default`, as client-go has them.
fn namespace_of(about: &ObjectReference) -> &str {
    match about.key.namespace.as_str() {
        "" => "default",
        namespace => namespace,
    }
}

fn body(event: &Group, name: &str, correlated: &Correlated, last: &str) -> Value {
    let about = &event.about;
    let first = Time::from_unix_seconds(correlated.first.unix_seconds()).to_string();
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": name, "namespace": namespace_of(about)},
        "involvedObject": {
            "apiVersion": about.api_version, "kind": about.kind,
            "namespace": about.key.namespace.as_str(), "name": about.key.name.as_str(), "uid": about.uid.as_str()},
        "type": event.type_, "reason": event.reason, "message": correlated.message, "count": correlated.count,
        "firstTimestamp": first, "lastTimestamp": last,
        "source": {"component": event.component},
        "reportingComponent": event.component, "reportingInstance": ""})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_events_at_one_instant_have_two_names() {
        let mut names = Names::default();
        let now: Time = "2026-11-23T10:00:00Z".parse().unwrap();
        let first = names.name("p", now);
        assert_eq!(first, format!("p.{:x}", now.unix_nanoseconds()));
        let second = names.name("p", now);
        assert_ne!(first, second);
        let later = now.after(Duration::from_secs(1));
        assert_eq!(
            names.name("p", later),
            format!("p.{:x}", later.unix_nanoseconds())
        );
    }
}
