//! Why a pod is stuck at its stage, as a fact. `words` has the sentences.

use dra_model::{ContainerWaiting, Key, Pod, Str, Time};
use dra_rules::kubelet::{Cause, Due, Problem, Stuck, unreachable_registry};
use dra_rules::reservation::may_run;

/// What sentences about a stuck pod say of the pod itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    /// The pod.
    pub(super) pod: Key,
    /// Its node; empty for none.
    pub(super) node: Str,
    /// When it was to be gone, if it is being deleted.
    pub(super) due: Option<Time>,
    /// Whether containers of it may run.
    pub(super) may_run: bool,
    /// Whether it has a single container, so that no other waits for it.
    pub(super) has_one: bool,
}

impl Subject {
    pub(crate) fn of(pod: &Pod) -> Self {
        Self {
            pod: pod.key(),
            node: pod.node().cloned().unwrap_or_default(),
            due: pod.metadata.deletion_timestamp,
            may_run: may_run(pod),
            has_one: pod.spec.containers.len() + pod.spec.init_containers.len() == 1,
        }
    }
}

/// Why a pod is stuck at its stage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StageFact {
    pub(super) cause: Cause,
    pub(super) subject: Subject,
    /// How often the kubelet has told it, and since when, where that is more than once.
    pub(super) told: Option<(i32, Time)>,
}

impl StageFact {
    /// That `cause` keeps `pod` where it is.
    pub(crate) fn new(cause: Cause, pod: &Pod) -> Self {
        Self {
            cause,
            subject: Subject::of(pod),
            told: None,
        }
    }

    /// What keeps `pod` where it is, with how often the kubelet has told it.
    pub(crate) fn of(stuck: &Stuck<'_>, pod: &Pod) -> Self {
        Self {
            told: stuck
                .since
                .map(|since| (stuck.times(), since))
                .filter(|(times, _)| *times > 1),
            ..Self::new(stuck.cause.clone(), pod)
        }
    }

    /// Stable code.
    pub(crate) fn code(&self) -> &'static str {
        self.cause.code()
    }

    /// Takes out what other pods in the same state have of their own: `is_own` knows the claims that were made for the pod alone.
    pub(crate) fn erase(&mut self, is_own: impl Fn(&Key) -> bool) {
        let namespace = self.subject.pod.namespace.clone();
        let pod = std::mem::take(&mut self.subject.pod);
        self.subject.due = None;
        self.told = None;
        if !self.cause.is_of_node() {
            self.subject.node = Str::default();
        }
        // What follows for a pod that runs matters of no other cause.
        self.subject.may_run &= matches!(self.cause, Cause::Claim(Problem::Unusable { .. }));
        let erase = |claim: &mut Str| {
            let is_own = is_own(&Key::new(namespace.clone(), claim.clone()));
            if is_own {
                *claim = Str::default();
            }
            is_own
        };
        match &mut self.cause {
            Cause::EarlierClaim { claim, uid, .. } => {
                if erase(claim) {
                    *uid = ELLIPSIS.into();
                }
            }
            Cause::PreparedForOtherClaim { claim, text, .. } => {
                erase(claim);
                *text = without_ids(text, &pod.name);
            }
            Cause::PreparedForDeletedClaim { claim, uid, text, .. } => {
                if erase(claim) {
                    *uid = ELLIPSIS.into();
                }
                *text = without_ids(text, &pod.name);
            }
            Cause::PrepareRefused { claim, text, .. } | Cause::ClaimUnreadable { claim, text, .. } => {
                let name = claim.clone();
                if erase(claim) {
                    let full = format!("{namespace}/{name}");
                    *text = text.replace(&full, ELLIPSIS).replace(name.as_str(), ELLIPSIS);
                }
                *text = without_ids(text, &pod.name);
            }
            Cause::BeingUnprepared { claim, .. }
            | Cause::PreparationForgotten { claim }
            | Cause::ClaimSkipped { claim, .. } => {
                erase(claim);
            }
            Cause::Claim(Problem::Unusable { claim, .. } | Problem::Missing(claim)) => {
                if is_own(claim) {
                    *claim = Key::default();
                }
            }
            Cause::DevicesUnresolvable { devices, .. } => {
                for device in devices.iter_mut() {
                    if let Some((kind, _)) = device.split_once('=') {
                        *device = format!("{kind}={ELLIPSIS}");
                    }
                }
                devices.dedup();
            }
            Cause::ToBeEvicted { due, .. } => {
                if matches!(due, Due::Later(_)) {
                    *due = Due::Now;
                }
            }
            Cause::ContainerEnds(_, Some(end)) | Cause::ContainersLeft { end, .. } => end.finished_at = None,
            Cause::ContainerNotStarted(container, waiting)
                if let Some((host, error)) = unreachable_registry(&waiting.message) =>
            {
                let message = format!("{host}: {error}");
                *container = Str::default();
                *waiting = ContainerWaiting {
                    reason: "ImagePullBackOff".into(),
                    message: message.into(),
                };
            }
            Cause::ContainerNotStarted(_, waiting) => {
                waiting.message = without_ids(&waiting.message, &pod.name).into();
            }
            Cause::ImageVolumeNotPulled { text, .. } => *text = without_ids(text, &pod.name).into(),
            Cause::PodFailed { message, .. } => {
                *message = message
                    .take()
                    .map(|message| without_ids(&message, &pod.name).into());
            }
            Cause::NotInjected { text, .. }
            | Cause::DriverFails { text, .. }
            | Cause::DriverDown { text, .. }
            | Cause::VolumesNotMounted { text }
            | Cause::OwnershipChanges { text }
            | Cause::NetworkNotReady { text }
            | Cause::SandboxFails { text, .. }
            | Cause::RuntimeDown { text }
            | Cause::ProbeFails { text, .. }
            | Cause::NotReady { text, .. }
            | Cause::KillFails { text, .. }
            | Cause::Unrecognized { text } => *text = without_ids(text, &pod.name),
            Cause::DriverNotRegistered { .. }
            | Cause::NodesMissing { .. }
            | Cause::Claim(_)
            | Cause::ContainerEnds(_, None)
            | Cause::ContainersNotStopped
            | Cause::NotRemoved
            | Cause::ClaimNeverMade { .. }
            | Cause::KubeletTooOld { .. }
            | Cause::DeviceNotPublished { .. }
            | Cause::DeviceUnhealthy { .. }
            | Cause::UnprepareFails { .. }
            | Cause::NodeSilent { .. }
            | Cause::NodeGone { .. }
            | Cause::NodeNotReady { .. }
            | Cause::Finalizers(_)
            | Cause::Binding { .. } => {}
        }
    }
}

/// In place of what differs from pod to pod.
const ELLIPSIS: &str = "…";

/// Shorter ones are hardly the ID of a sandbox, a container or an object.
const SHORTEST_ID: usize = 12;

/// What a kubelet, a container runtime or a driver says of a pod, without the name of the pod and without IDs.
fn without_ids(text: &str, name: &str) -> String {
    let text = if name.is_empty() {
        text.to_owned()
    } else {
        text.replace(name, ELLIPSIS)
    };
    let is_of_id = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, word) = rest.split_at(start);
        let end = word
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        // An ID may have more behind it: `9c14e1a6-bddf-4ada-a12f-f80818cbfa2d-gpu-1`.
        let id = match word.find(|c: char| !is_of_id(c)) {
            Some(other) => word[..other].rfind('-').unwrap_or_default(),
            None => word.len(),
        };
        let (id, more) = word.split_at(id);
        let is_id = id.len() >= SHORTEST_ID && id.contains(|c: char| c.is_ascii_digit());
        out.push_str(before);
        out.push_str(if is_id { ELLIPSIS } else { id });
        out.push_str(more);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::stuck_text;
    use dra_model::{Kind, Object};
    use serde_json::json;

    fn pod(number: usize, node: &str) -> std::sync::Arc<Pod> {
        let pod = json!({
            "metadata": {"namespace": "n", "name": format!("web-{number}"), "uid": format!("uid-{number}")},
            "spec": {"nodeName": node},
        });
        match Object::from_json(Kind::Pod, pod.to_string().as_bytes()).unwrap() {
            Object::Pod(pod) => pod,
            _ => unreachable!(),
        }
    }

    /// The sentence about what keeps pods of `node` where they are; that of the first of two where they have it in common.
    fn shared(node: [&str; 2], cause: impl Fn(usize) -> Cause) -> [String; 2] {
        [0, 1].map(|number| {
            let mut fact = StageFact::new(cause(number), &pod(number, node[number]));
            fact.told = Some([(2, Time::from_unix_seconds(60)), (3, Time::from_unix_seconds(90))][number]);
            fact.erase(|claim| claim.name.starts_with("own-"));
            stuck_text(&fact)
        })
    }

    /// A cause of the first or second pod, the nodes of both, and what they share.
    type Row<'a> = (&'a dyn Fn(usize) -> Cause, [&'a str; 2], &'a str);

    #[test]
    fn pods_share_what_only_differs_in_names_and_ids_of_their_own() {
        let claim = |number: usize| Str::from(format!("own-{number}"));
        let uid = |number: usize| format!("{number}c14e1a6-bddf-4ada-a12f-f80818cbfa2d");
        let of_one = ["node-1", "node-1"];
        let of_two = ["node-1", "node-2"];
        let causes: [Row<'_>; 8] = [
            (
                &|number| Cause::PrepareRefused {
                    claim: claim(number),
                    text: format!("claim n/own-{number}: link is up"),
                    behind: None,
                },
                of_two,
                "the driver refuses to prepare its claim: claim …: link is up",
            ),
            (
                &|number| Cause::DevicesUnresolvable {
                    devices: vec![
                        format!("k8s.gpu.example.com/gpu={}-gpu-0", uid(number)),
                        format!("k8s.gpu.example.com/gpu={}-gpu-{number}", uid(number)),
                    ],
                    has_run: true,
                    rebooted: None,
                    down: None,
                },
                of_two,
                "the container runtime cannot find k8s.gpu.example.com/gpu=…",
            ),
            // One registry, whatever the images and containers are called.
            (
                &|number| {
                    let waiting = ContainerWaiting {
                        reason: ["ErrImagePull", "ImagePullBackOff"][number].into(),
                        message: format!(
                            r#"failed to pull image "r.io/{number}:1": failed to do request: Head "https://r.io/v2/{number}/manifests/1": dial tcp 10.0.0.1:443: i/o timeout"#
                        )
                        .into(),
                    };
                    Cause::ContainerNotStarted(["main", "app"][number].into(), waiting)
                },
                of_two,
                "a container has not started: ImagePullBackOff: r.io: dial tcp 10.0.0.1:443: i/o timeout",
            ),
            (
                &|number| Cause::SandboxFails {
                    text: format!(
                        r#"sandbox "{number}edf9d781223" of web-{number}_n({}): no image a:1"#,
                        uid(number)
                    ),
                    device: None,
                },
                of_two,
                "the container runtime fails to create its sandbox, after its devices were prepared: sandbox \"…\" of …_n(…): no image a:1",
            ),
            (
                &|number| Cause::PreparedForDeletedClaim {
                    claim: claim(number),
                    uid: uid(number).into(),
                    survivor: None,
                    text: format!("in use by {}", uid(number)),
                    lasts: true,
                },
                of_one,
                "the driver refuses to prepare its claim: its records still assign the devices to a deleted claim (UID …); driver: in use by …",
            ),
            (
                &|number| Cause::Claim(Problem::Missing(Key::new("n", claim(number)))),
                of_two,
                "its claim not found",
            ),
            (
                &|_| Cause::ContainersNotStopped,
                of_one,
                "the kubelet on node-1 has not stopped its containers",
            ),
            (
                &|number| Cause::PreparationForgotten { claim: claim(number) },
                of_one,
                "the kubelet on node-1 has no record of preparing its claim, as after a restart without its checkpoint; it does not \
                 prepare claims again for a pod that already has a sandbox",
            ),
        ];
        for (cause, nodes, expected) in causes {
            assert_eq!(shared(nodes, cause), [expected; 2]);
        }
    }

    #[test]
    fn pods_do_not_share_what_lies_with_their_node_or_with_a_claim_of_several() {
        let nodes = ["node-1", "node-2"];
        let [one, other] = shared(nodes, |_| Cause::ContainersNotStopped);
        assert_ne!(one, other);
        let [one, other] = shared(["node-1", "node-1"], |number| Cause::PrepareRefused {
            claim: format!("shared-{number}").into(),
            text: "busy".to_owned(),
            behind: None,
        });
        assert_ne!(one, other);
    }

    #[test]
    fn what_is_no_id_stays() {
        for text in [
            "exit code 137 at 2026-11-25T22:41:46Z",
            "image sha256:abcdef: not found in registry-1.example.com",
            "feedbeef-cafe-face",
            "dial tcp 10.96.0.1:443",
        ] {
            assert_eq!(without_ids(text, "web-0"), text);
        }
    }
}
