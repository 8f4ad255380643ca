//! What objects mean otherwise in a release on the way: where a bug is fixed, those who got used to it see something else.

use super::Upgrade;
use super::words;
use crate::findings::finding::Subject;
use crate::findings::{Code, Finding, Look, Severity};
use dra_rules::scheduling::exposures;

/// What the release that fixes a bug does instead, where that is more than to work.
fn instead(issue: u32) -> Option<(Severity, &'static str)> {
    Some(match issue {
        141_998 => (Severity::Info, words::BARE_RULE_MATCHES_NOTHING),
        141_290 => (Severity::Warning, words::EVICTED_TOO),
        140_769 => (Severity::Warning, words::ALL_DEVICES),
        140_442 => (Severity::Warning, words::AMOUNT_OUT_OF_RANGE),
        140_438 => (Severity::Warning, words::DISTINCT_WITHIN_REQUEST),
        139_732 => (Severity::Info, words::CONFIGURED_ONCE),
        _ => return None,
    })
}

pub(super) fn look(look: &mut Look<'_>, upgrade: &Upgrade) {
    if !look.wants(Code::ChangedMeaning) {
        return;
    }
    for exposure in exposures(look.cluster) {
        let (bug, minor) = (exposure.bug, exposure.fix.minor);
        let Some((severity, meaning)) = instead(bug.issue).filter(|_| upgrade.passes(minor)) else {
            continue;
        };
        let message = words::new_meaning(meaning, &exposure);
        look.add(
            Finding::new(Code::ChangedMeaning, Subject::issue(bug.issue), message)
                .severity(severity)
                .order(upgrade.step(minor))
                .advice(words::CHECK_MEANING),
        );
    }
}
