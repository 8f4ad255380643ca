//! What objects mean otherwise in a release on the way: where a bug is mended, those who got used to it see something else.

use super::Upgrade;
use crate::findings::finding::{Subject, some};
use crate::findings::{Code, Finding, Look, Severity};
use dra_rules::scheduling::{Exposure, exposures};

/// What the release that mends a bug does in its place, where that is more than to work.
fn instead(issue: u32) -> Option<(Severity, &'static str)> {
    Some(match issue {
        141_998 => (
            Severity::Info,
            "a DeviceTaintRule without a selector is about no device: what it kept pods from is handed out",
        ),
        141_290 => (
            Severity::Warning,
            "a pod is evicted from a device that it has for an extended resource, once it does not tolerate a NoExecute taint of the device",
        ),
        140_769 => (
            Severity::Warning,
            "a request for all devices fails where one that can be shared is used up, in place of leaving it out",
        ),
        140_442 => (
            Severity::Warning,
            "a negative amount of capacity, or one that 64 bits cannot hold, ends the attempt with an error",
        ),
        140_438 => (
            Severity::Warning,
            "a constraint with distinctAttribute holds for every two devices, also of one request: what fitted may not fit any more",
        ),
        139_732 => (
            Severity::Info,
            "each configuration stands once in the allocation, without requests where it is for all: a driver must not count on one for each",
        ),
        _ => return None,
    })
}

pub(super) fn look(look: &mut Look<'_>, upgrade: &Upgrade) {
    if !look.wants(Code::ChangedMeaning) {
        return;
    }
    for Exposure { bug, fix, by } in exposures(look.cluster) {
        let Some((severity, text)) = instead(bug.issue).filter(|_| upgrade.passes(fix.minor)) else {
            continue;
        };
        let message = format!(
            "from {fix} on {text}. That is about {}; see kubernetes/kubernetes#{}",
            some(&by),
            bug.issue
        );
        look.add(
            Finding::new(Code::ChangedMeaning, Subject::issue(bug.issue), message)
                .severity(severity)
                .order(upgrade.step(fix.minor))
                .advice("the owners of what the message names check that the new meaning is what they want"),
        );
    }
}
