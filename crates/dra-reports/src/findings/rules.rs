//! DeviceTaintRules that do more or less than they seem to, and taints without effect.

use serde_json::json;

use super::finding::{Subject, scoped_key};
use super::{Code, Finding, Look, Severity, words};
use crate::script::{NoCommand, Script, delete, merge};
use dra_allocator::devices::{bare_rule_is_about_all, keeps_off, rule_matches, rule_matches_pool};
use dra_model::{
    Component, Gate, Kind, NO_EFFECT, NO_EXECUTE, NO_SCHEDULE, Pool, PoolId, TaintRule, TaintSelector,
};

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    for rule in cluster.rules() {
        of_rule(look, rule);
    }
    if look.wants(Code::TaintEffectUnknown) {
        unknown_effects_of_slices(look);
    }
    if look.wants(Code::RuleSelectsNothing)
        && !look.is_hidden(Kind::ResourceSlice, "")
        && !look.is_hidden(Kind::ResourceClaim, "")
    {
        select_nothing(look);
    }
}

fn subject(rule: &TaintRule) -> Subject {
    Subject::of(Kind::DeviceTaintRule, &rule.metadata)
}

fn is_known(effect: &str) -> bool {
    [NO_EXECUTE, NO_SCHEDULE, NO_EFFECT].contains(&effect)
}

fn of_rule(look: &mut Look<'_>, rule: &TaintRule) {
    let taint = &rule.spec.taint;
    if !is_known(&taint.effect) {
        let message = words::unknown_effect(&taint.effect);
        look.add(
            Finding::new(Code::TaintEffectUnknown, subject(rule), message)
                .fix(set_effect(rule, NO_EFFECT))
                .note(words::MAKES_EFFECT_EXPLICIT),
        );
    }
    match &rule.spec.device_selector {
        None => without_selector(look, rule),
        Some(selector) if *selector == TaintSelector::default() && taint.effect == NO_EXECUTE => {
            let message = words::selects_all(taint);
            look.add(
                Finding::new(Code::RuleSelectsAll, subject(rule), message).fix(set_effect(rule, NO_EFFECT)),
            );
        }
        Some(_) => {}
    }
}

fn set_effect(rule: &TaintRule, effect: &str) -> Result<Script, NoCommand> {
    let change = json!({"spec": {"taint": {"effect": effect}}});
    merge(Kind::DeviceTaintRule, &rule.metadata.key(), &change)
}

/// Without a selector a rule matches no device. The scheduler before 1.37.1 treats it as matching all (`tracker.go`, `applyPatches`).
fn without_selector(look: &mut Look<'_>, rule: &TaintRule) {
    let environment = look.cluster.environment();
    let blocks = bare_rule_is_about_all(environment)
        && environment.enabled(Component::Scheduler, Gate::DRADeviceTaintRules)
        && keeps_off(&rule.spec.taint);
    let severity = if blocks { Severity::Error } else { Severity::Info };
    let message = words::no_selector(blocks).to_owned();
    look.add(
        Finding::new(Code::RuleWithoutSelector, subject(rule), message)
            .severity(severity)
            .fix(delete(Kind::DeviceTaintRule, [&rule.metadata.name])),
    );
}

fn unknown_effects_of_slices(look: &mut Look<'_>) {
    let cluster = look.cluster;
    for slice in cluster.slices() {
        let devices: Vec<_> = slice
            .spec
            .devices
            .iter()
            .filter(|device| device.taints.iter().any(|taint| !is_known(&taint.effect)))
            .collect();
        let Some(first) = devices.first() else {
            continue;
        };
        let taint = first.taints.iter().find(|taint| !is_known(&taint.effect));
        let message = words::unknown_effects(&devices, taint);
        look.add(
            Finding::new(Code::TaintEffectUnknown, Subject::slice(slice), message)
                .ask_driver(&slice.spec.driver, words::PUBLISH_KNOWN_EFFECTS),
        );
    }
}

/// Rules whose selector matches no device, published or only held by a claim.
fn select_nothing(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let pools: Vec<Pool<'_>> = cluster.pools().collect();
    // Devices that are only held are few, those that are published many: the former are compared one by one.
    let unpublished = look.inventory().unpublished();
    for rule in cluster.rules() {
        let Some(selector) = &rule.spec.device_selector else {
            continue;
        };
        let device = selector.device.as_ref();
        let has = |pool: &Pool<'_>| device.is_none_or(|device| pool.device(device).is_some());
        let published = match (&selector.driver, &selector.pool) {
            // Most rules are about one pool, and there may be as many as there are devices.
            (Some(driver), Some(name)) => {
                let id = PoolId::new(driver, name);
                let found = pools.binary_search_by(|pool| pool.id.cmp(&id));
                found.is_ok_and(|place| has(&pools[place]))
            }
            _ => pools
                .iter()
                .any(|pool| rule_matches_pool(rule, &pool.id) && has(pool)),
        };
        let is_about_all = *selector == TaintSelector::default();
        if is_about_all || published || unpublished.iter().any(|device| rule_matches(rule, device)) {
            continue;
        }
        let message = words::selects_nothing(selector, pools.len());
        look.add(
            Finding::new(Code::RuleSelectsNothing, subject(rule), message)
                .fix(delete(Kind::DeviceTaintRule, [&rule.metadata.name]))
                .joins([scoped_key(Kind::DeviceTaintRule, &rule.metadata.name)]),
        );
    }
}
