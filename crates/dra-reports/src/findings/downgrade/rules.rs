//! DeviceTaintRules: without effect, undecodable, or blocking everything.

use super::Target;
use crate::findings::finding::Subject;
use crate::findings::{Code, Finding, Look, Severity};
use crate::script::{delete, save_and_delete, touch};
use dra_allocator::devices::keeps_off;
use dra_model::{Gate, Kind, NO_EXECUTE, NO_SCHEDULE, Release};

pub(super) fn look(look: &mut Look<'_>, target: &Target) {
    let cluster = look.cluster;
    let server = Release::of_minor(cluster.environment().emulated_minor);
    let off = target.lacks(Gate::DRADeviceTaintRules);
    for rule in cluster.rules() {
        let name = &rule.metadata.name;
        let subject = || Subject::of(Kind::DeviceTaintRule, &rule.metadata);
        let taint = &rule.spec.taint;
        let acts = keeps_off(taint);
        let save = || save_and_delete(Kind::DeviceTaintRule, &rule.metadata.key());
        if off {
            let severity = if acts { Severity::Error } else { Severity::Warning };
            let effect = match taint.effect.as_str() {
                NO_EXECUTE => "evicts no pod any more, and new pods get the devices",
                NO_SCHEDULE => "is not enforced any more: new pods get the devices",
                _ => "counts nothing any more",
            };
            let message = format!(
                "{taint} {effect} with {}; the rule is not served, but stays stored",
                target.name()
            );
            look.add(
                Finding::new(Code::TaintRules, subject(), message)
                    .severity(severity)
                    .order(6)
                    .fix(save())
                    .note("taint the devices in their slices or cordon the nodes first"),
            );
        }
        // What cannot read the version does not store it either.
        if server.reads_rules_of_v1beta2 && target.is_older_and(|release| !release.reads_rules_of_v1beta2) {
            let (severity, when) = if off {
                (Severity::Warning, "if it serves resource.k8s.io/v1alpha3, ")
            } else {
                (Severity::Error, "")
            };
            let (message, fix) = if server.stores_rules_of_v1beta2 {
                (
                    format!(
                        "is stored as v1beta2, which {} cannot decode: {when}its scheduler never starts",
                        target.name()
                    ),
                    save(),
                )
            } else {
                (
                    format!(
                        "may be stored as v1beta2, unless it was written on 1.36, which {} cannot decode: {when}its scheduler never starts",
                        target.name()
                    ),
                    touch(Kind::DeviceTaintRule, &rule.metadata.key()),
                )
            };
            look.add(
                Finding::new(Code::TaintRulesStorage, subject(), message)
                    .severity(severity)
                    .order(6)
                    .fix(fix),
            );
        }
        if target.is_older_and(|release| release.bare_rule_is_all) && rule.spec.device_selector.is_none() {
            let (severity, when) = if off {
                (Severity::Warning, "with DRADeviceTaintRules on, ")
            } else if acts {
                (Severity::Error, "")
            } else {
                (Severity::Warning, "once its effect is NoSchedule or NoExecute, ")
            };
            let message = format!(
                "has no deviceSelector, which the scheduler of {} takes for every device: {when}no pod with claims is scheduled",
                target.name()
            );
            look.add(
                Finding::new(Code::TaintRulesNoSelector, subject(), message)
                    .severity(severity)
                    .order(6)
                    .fix(delete(Kind::DeviceTaintRule, [name])),
            );
        }
    }
}
