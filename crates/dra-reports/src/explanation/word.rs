//! What the cluster's components say themselves, where it contradicts the verdict. They may know what was not read, or what has
//! changed since.

use super::report::{ClusterVerdict, Explanation, Reason};
use dra_model::{Claim, Cluster, Event, Kind, Pod, Str, Time};
use dra_rules::reservation::claim_names;

/// The last word of a component about a pod.
struct Word {
    /// Whose it is.
    who: &'static str,
    said: String,
    /// When; not known of events without a time.
    at: Option<Time>,
}

impl Word {
    fn of(who: &'static str, event: &Event) -> Self {
        Self {
            who,
            said: event.message.trim().to_owned(),
            at: event.last_seen(),
        }
    }

    /// Whether it was said after all that is known to have changed. Without a time it may have been.
    fn is_newer_than(&self, changed: Option<Time>) -> bool {
        match (self.at, changed) {
            (Some(at), Some(changed)) => at >= changed,
            _ => true,
        }
    }

    fn text(&self) -> String {
        let when = self.at.map(|at| format!(" at {at}")).unwrap_or_default();
        format!("{} said{when}: {}", self.who, self.said)
    }
}

/// The newest event about `pod` that is one of those.
fn newest<'c>(cluster: &'c Cluster, pod: &Pod, is_one: impl Fn(&Event) -> bool) -> Option<&'c Event> {
    let events = cluster.events_of(Kind::Pod, &pod.metadata);
    let mut events = events.into_iter().rev().filter(|event| is_one(event));
    events.next().map(|event| &**event)
}

/// Takes back that a pod fits whose scheduler says that it does not, after all that is known to have changed.
pub(super) fn of_scheduler(report: &mut Explanation, cluster: &Cluster, pod: &Pod, claims: &[&Claim]) {
    if report.verdict != ClusterVerdict::Fits {
        return;
    }
    let said = newest(cluster, pod, |event| event.reason == "FailedScheduling");
    let word = said.map(|event| Word::of(SCHEDULER, event)).or_else(|| {
        let condition = pod.status.conditions.iter().find(|condition| {
            condition.type_ == "PodScheduled"
                && condition.status == "False"
                && matches!(condition.reason.as_str(), "Unschedulable" | "SchedulerError")
        })?;
        Some(Word {
            who: SCHEDULER,
            said: condition.message.to_string(),
            at: condition.last_transition_time,
        })
    });
    let Some(word) = word.filter(|word| word.is_newer_than(changed(cluster, pod, claims))) else {
        return;
    };
    let summary = format!("by what was read it {}, but {}", report.summary, word.text());
    report.contradict(
        "SchedulerDisagrees",
        &word,
        summary,
        "the scheduler has not tried again",
    );
    report.message = Some(word.said);
}

const SCHEDULER: &str = "kube-scheduler";

/// When something changed last that the verdict rests on, as far as objects tell: they keep no time of most changes, and of what is
/// gone none at all.
fn changed(cluster: &Cluster, pod: &Pod, claims: &[&Claim]) -> Option<Time> {
    let mut newest: Option<Time> = None;
    let mut see = |time: Option<Time>| newest = newest.max(time);
    see(pod.metadata.creation_timestamp);
    for claim in claims {
        see(claim.metadata.creation_timestamp);
        let allocation = claim.status.allocation.as_ref();
        see(allocation.and_then(|allocation| allocation.allocation_timestamp));
    }
    for class in cluster.classes() {
        see(class.metadata.creation_timestamp);
    }
    for node in cluster.nodes() {
        see(node.metadata.creation_timestamp);
    }
    for slice in cluster.slices() {
        see(slice.metadata.creation_timestamp);
    }
    newest
}

/// Takes back that a pod will start whose kubelet says that it cannot get its devices.
pub(super) fn of_kubelet(report: &mut Explanation, cluster: &Cluster, pod: &Pod, node: &Str) {
    if pod.status.phase == "Running" {
        return;
    }
    let names = claim_names(pod).filter_map(|name| name.key());
    let claims = names.filter_map(|key| cluster.claim(&key));
    let allocated = claims.filter_map(|claim| claim.status.allocation.as_ref()?.allocation_timestamp);
    let word = newest(cluster, pod, is_about_devices).map(|event| Word::of("the kubelet", event));
    let Some(word) = word.filter(|word| word.is_newer_than(allocated.max())) else {
        return;
    };
    let summary = format!(
        "the pod is bound to {node} and nothing that was read keeps it from starting, but {}",
        word.text()
    );
    report.contradict(
        "KubeletDisagrees",
        &word,
        summary,
        "the kubelet has not tried again",
    );
}

/// Whether the kubelet complains about the devices of a pod.
fn is_about_devices(event: &Event) -> bool {
    let names_devices = || {
        let said = event.message.as_str();
        [
            "dynamic resources",
            "resource claim",
            "ResourceClaim",
            "CDI device",
            "DRA",
        ]
        .iter()
        .any(|word| said.contains(word))
    };
    event.type_ == "Warning"
        && match event.reason.as_str() {
            "FailedPrepareDynamicResources" => true,
            "UnexpectedAdmissionError" | "FailedCreatePodSandBox" | "Failed" | "FailedSync" => {
                names_devices()
            }
            _ => false,
        }
}

/// Takes back that the claim controller is to make a claim that it says it cannot make; what it makes it from has `changed` then.
pub(super) fn of_claim_controller(
    report: &mut Explanation,
    cluster: &Cluster,
    pod: &Pod,
    changed: Option<Time>,
) {
    let word = newest(cluster, pod, |event| {
        event.reason == "FailedResourceClaimCreation"
    });
    let word = word.map(|event| Word::of("the claim controller", event));
    let Some(word) = word.filter(|word| word.is_newer_than(changed)) else {
        return;
    };
    let summary = format!(
        "by what was read the claim is only to be made from its template, but {}",
        word.text()
    );
    report.contradict(
        "ClaimControllerDisagrees",
        &word,
        summary,
        "the controller has not tried again",
    );
}

impl Explanation {
    /// Makes the verdict unknown, as `word` contradicts it, and says what may be behind that.
    fn contradict(&mut self, code: &'static str, word: &Word, summary: String, not_yet: &str) {
        self.conclude(ClusterVerdict::Unknown, summary);
        self.reasons.push(Reason::plain(code, word.text()));
        self.notes.push(format!(
            "a possible cause: the state has changed since then, and {not_yet}"
        ));
        // What is known of bugs stands among the notes already.
        if !self.notes.iter().any(|note| note.starts_with("a known bug")) {
            self.notes.push(format!(
                "a possible cause: a bug of this release of {} that is not known here",
                word.who
            ));
        }
        if word.who == SCHEDULER {
            self.notes.push(match self.not_simulated.as_slice() {
                [] => "a possible cause: a plugin or an extender of kube-scheduler that is not simulated"
                    .to_owned(),
                plugins => format!(
                    "a possible cause: filters that are not simulated: {}",
                    plugins.join(", ")
                ),
            });
        }
    }
}
