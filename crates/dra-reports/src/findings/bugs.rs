//! Known bugs of the control plane that the objects and gates of a cluster can bring to show.

use super::finding::{Subject, some};
use super::{Code, Finding, Look, Severity};
use dra_model::ReleaseEvidence;
use dra_rules::scheduling::{Exposure, Harm, exposures, fixed_in, vendor};

pub(super) fn look(look: &mut Look<'_>) {
    if !look.wants(Code::KnownBug) {
        return;
    }
    let environment = look.cluster.environment();
    let own = environment.version;
    let is_patch_known = environment.release_evidence == ReleaseEvidence::Patch;
    let vendor = vendor(look.cluster);
    for Exposure { bug, fix, by } in exposures(look.cluster) {
        let fix = fixed_in(fix);
        let depends_on_patch = !is_patch_known && bug.depends_on_patch(own.minor);
        let release = if depends_on_patch {
            format!("{} before {fix}, if this is one,", bug.component)
        } else {
            format!("{} before {fix}", bug.component)
        };
        let severity = match bug.harm {
            _ if depends_on_patch => Severity::Info,
            Harm::Outage | Harm::Panic => Severity::Error,
            Harm::Pending => Severity::Warning,
            Harm::Status => Severity::Info,
        };
        let mut message = format!("{release} {}: {} can bring it to show", bug.what, some(&by));
        if let Some(vendor) = &vendor {
            message = format!("{message}; {vendor}");
        }
        look.add(
            Finding::new(Code::KnownBug, Subject::issue(bug.issue), message)
                .severity(severity)
                .advice(format!(
                    "whoever runs the control plane updates it to {fix} or later; see kubernetes/kubernetes#{}",
                    bug.issue
                )),
        );
    }
}
