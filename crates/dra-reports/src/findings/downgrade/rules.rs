//! DeviceTaintRules: without effect, undecodable, or blocking everything.

use super::Target;
use super::words;
use crate::findings::finding::Subject;
use crate::findings::{Code, Finding, Look, Severity};
use crate::script::{delete, save_and_delete, touch};
use dra_allocator::devices::keeps_off;
use dra_model::{Gate, Kind, Release};

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
            let message = words::rule_is_off(taint, target);
            look.add(
                Finding::new(Code::TaintRules, subject(), message)
                    .error_if(acts)
                    .order(6)
                    .fix(save())
                    .note(words::TAINT_SLICES_FIRST),
            );
        }
        // What cannot read the version does not store it either.
        if server.reads_rules_of_v1beta2 && target.is_older_and(|release| !release.reads_rules_of_v1beta2) {
            let is_certain = server.stores_rules_of_v1beta2;
            let message = words::rule_is_undecodable(is_certain, off, target);
            let fix = if is_certain {
                save()
            } else {
                touch(Kind::DeviceTaintRule, &rule.metadata.key())
            };
            look.add(
                Finding::new(Code::TaintRulesStorage, subject(), message)
                    .error_if(!off)
                    .order(6)
                    .fix(fix),
            );
        }
        if target.is_older_and(|release| release.bare_rule_is_all) && rule.spec.device_selector.is_none() {
            let (severity, when) = if off {
                (Severity::Warning, words::WITH_RULES)
            } else if acts {
                (Severity::Error, words::ALWAYS)
            } else {
                (Severity::Warning, words::WITH_EFFECT)
            };
            let message = words::bare_rule(when, target);
            look.add(
                Finding::new(Code::TaintRulesNoSelector, subject(), message)
                    .severity(severity)
                    .order(6)
                    .fix(delete(Kind::DeviceTaintRule, [name])),
            );
        }
    }
}
