//! The condition of a pod that has to go.

use std::sync::LazyLock;

use dra_model::{Condition, Pod, Time};

/// Type of the condition of a pod that has to go.
pub const DISRUPTION_TARGET: &str = "DisruptionTarget";

/// Reason of the condition `DisruptionTarget` of pods that the controller deletes.
pub const MARKED: &str = "DeletionByDeviceTaintManager";

/// The condition without its time. Pods that go together share its texts.
static DISRUPTION: LazyLock<Condition> = LazyLock::new(|| Condition {
    type_: DISRUPTION_TARGET.into(),
    status: "True".into(),
    reason: MARKED.into(),
    message: "Device Taint manager: deleting due to NoExecute taint".into(),
    ..Condition::default()
});

/// The condition of `pod` that says who evicts it, and why.
pub fn eviction_of(pod: &Pod) -> Option<&Condition> {
    pod.condition(DISRUPTION_TARGET)
        .filter(|condition| condition.status == "True")
}

/// The condition that a pod gets before it is deleted; nothing where it has it. Mirrors `pkg/api/v1/pod/util.go`,
/// `UpdatePodCondition`, v1.37.2: the time changes with the status.
pub fn disruption(known: Option<&Condition>, now: Time) -> Option<Condition> {
    let mut condition = Condition {
        last_transition_time: Some(now.whole_seconds()),
        ..DISRUPTION.clone()
    };
    if let Some(known) = known.filter(|known| known.status == condition.status) {
        condition.last_transition_time = known.last_transition_time;
        if known.reason == condition.reason && known.message == condition.message {
            return None;
        }
    }
    Some(condition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_is_there_is_not_written_again() {
        let at = |seconds: i64| Time::from_unix_seconds(1_800_000_000 + seconds);
        let first = disruption(None, at(0)).unwrap();
        assert_eq!(first.last_transition_time, Some(at(0)));
        assert_eq!(disruption(Some(&first), at(9)), None);
        let other = Condition {
            reason: "PreemptionByScheduler".into(),
            ..first.clone()
        };
        // The status does not change, so the time stays.
        let changed = disruption(Some(&other), at(9)).unwrap();
        assert_eq!(changed, first);
        let was_false = Condition {
            status: "False".into(),
            ..first.clone()
        };
        let changed = disruption(Some(&was_false), at(9)).unwrap();
        assert_eq!(changed.last_transition_time, Some(at(9)));
    }
}
