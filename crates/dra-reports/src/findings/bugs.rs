//! Known bugs of the control plane that the objects and gates of a cluster can trigger.

use super::finding::Subject;
use super::{Code, Finding, Look, Severity, words};
use dra_model::ReleaseEvidence;
use dra_rules::scheduling::{Harm, exposures, fixed_in, vendor};

pub(super) fn look(look: &mut Look<'_>) {
    if !look.wants(Code::KnownBug) {
        return;
    }
    let environment = look.cluster.environment();
    let own = environment.version;
    let is_patch_known = environment.release_evidence == ReleaseEvidence::Patch;
    let vendor = vendor(look.cluster);
    for exposure in exposures(look.cluster) {
        let bug = exposure.bug;
        let fix = fixed_in(exposure.fix);
        let depends_on_patch = !is_patch_known && bug.depends_on_patch(own.minor);
        let severity = match bug.harm {
            _ if depends_on_patch => Severity::Info,
            Harm::Outage | Harm::Panic => Severity::Error,
            Harm::Pending => Severity::Warning,
            Harm::Status => Severity::Info,
        };
        let message = words::known_bug(&exposure, &fix, !depends_on_patch, vendor.as_deref());
        look.add(
            Finding::new(Code::KnownBug, Subject::issue(bug.issue), message)
                .severity(severity)
                .advice(words::update_to(&fix, bug.issue)),
        );
    }
}
