//! DeviceTaintRules, to be asked which of them are about a device.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use dra_model::{Cluster, Component, DeviceId, Environment, Gate, PoolId, Str, TaintRule, TaintSelector};

/// Returns whether the rule is about the device, published or not. Without a selector it is about none, with an empty one about all.
///
/// Mirrors `device_taint_eviction.go`, `ruleMatchesDevice`, v1.37.2. The scheduler before 1.37.1 saw a rule without a selector as
/// one about all devices: see [`rules_of_scheduler`].
pub fn rule_matches(rule: &TaintRule, device: &DeviceId) -> bool {
    rule_matches_in_pool(rule, &device.device) && rule_matches_pool(rule, &device.pool_id())
}

/// Returns whether the rule may be about devices of the pool: the first part of [`rule_matches`].
pub fn rule_matches_pool(rule: &TaintRule, pool: &PoolId) -> bool {
    rule.spec.device_selector.as_ref().is_some_and(|selector| {
        fits(selector.driver.as_ref(), &pool.driver) && fits(selector.pool.as_ref(), &pool.pool)
    })
}

/// Returns whether a rule that may be about devices of a pool is about its device `name`: the other part of [`rule_matches`].
pub fn rule_matches_in_pool(rule: &TaintRule, name: &Str) -> bool {
    let selector = rule.spec.device_selector.as_ref();
    selector.is_some_and(|selector| fits(selector.device.as_ref(), name))
}

fn fits(wanted: Option<&Str>, actual: &Str) -> bool {
    wanted.is_none_or(|wanted| wanted == actual)
}

/// Returns whether the scheduler of this release takes a rule without a selector for one about all devices, as those before 1.37.1 do.
pub fn bare_rule_is_about_all(environment: &Environment) -> bool {
    environment.release().bare_rule_is_all
}

/// The rules of `cluster` as its scheduler understands them: none where their feature is off. In 1.34 they had no gate of their own.
pub fn rules_of_scheduler(cluster: &Cluster) -> Vec<Arc<TaintRule>> {
    let environment = cluster.environment();
    let has_own_gate = !environment.release().rules_need_only_taints;
    if has_own_gate && !environment.enabled(Component::Scheduler, Gate::DRADeviceTaintRules) {
        return Vec::new();
    }
    let about_all = bare_rule_is_about_all(environment);
    let understood = |rule: &Arc<TaintRule>| {
        if !about_all || rule.spec.device_selector.is_some() {
            return Arc::clone(rule);
        }
        let mut all = TaintRule::clone(rule);
        all.spec.device_selector = Some(TaintSelector::default());
        Arc::new(all)
    };
    cluster.rules().map(understood).collect()
}

/// Driver, pool and device of a selector; what is absent fits all.
type Selected = (Option<Str>, Option<Str>, Option<Str>);

/// Rules by what they select: a question costs as many look-ups as there are shapes of selectors, eight at most, however many rules
/// there are.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Only looked up in, never walked.
    by_selector: HashMap<Selected, Vec<Arc<TaintRule>>, RandomState>,
    /// Combinations of set selector parts, for every occurring shape.
    shapes: Vec<[bool; 3]>,
}

impl Rules {
    /// An index of `rules`.
    pub fn of<'r>(rules: impl IntoIterator<Item = &'r Arc<TaintRule>>) -> Self {
        let mut index = Self::default();
        for rule in rules {
            let Some(TaintSelector { driver, pool, device }) = &rule.spec.device_selector else {
                continue;
            };
            let shape = [driver.is_some(), pool.is_some(), device.is_some()];
            if !index.shapes.contains(&shape) {
                index.shapes.push(shape);
            }
            index
                .by_selector
                .entry((driver.clone(), pool.clone(), device.clone()))
                .or_default()
                .push(Arc::clone(rule));
        }
        index
    }

    /// The rules that are about `device`, by name.
    pub fn matching(&self, device: &DeviceId) -> Vec<&Arc<TaintRule>> {
        let mut found: Vec<&Arc<TaintRule>> = self.of_each_shape(device).flatten().collect();
        found.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        found
    }

    /// Returns how many rules are about `device`.
    pub fn count(&self, device: &DeviceId) -> usize {
        self.of_each_shape(device).map(Vec::len).sum()
    }

    fn of_each_shape(&self, device: &DeviceId) -> impl Iterator<Item = &Vec<Arc<TaintRule>>> {
        self.shapes.iter().filter_map(|[driver, pool, name]| {
            let part = |is_set: &bool, part: &Str| is_set.then(|| part.clone());
            let selected = (
                part(driver, &device.driver),
                part(pool, &device.pool),
                part(name, &device.device),
            );
            self.by_selector.get(&selected)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dra_model::TaintRuleSpec;

    fn part() -> impl Strategy<Value = Option<Str>> {
        prop::option::of(prop::sample::select(vec!["a", "b"]).prop_map(Str::from))
    }

    proptest! {
        /// The index answers as asking every rule does.
        #[test]
        fn the_index_finds_what_matches(
            selectors in prop::collection::vec(prop::option::of((part(), part(), part())), 0..12),
            device in (0..3usize, 0..3usize, 0..3usize),
        ) {
            let rules: Vec<_> = selectors.into_iter().enumerate().map(|(index, selector)| {
                let mut rule = TaintRule::default();
                rule.metadata.name = format!("{index:02}").into();
                rule.spec = TaintRuleSpec {
                    device_selector: selector.map(|(driver, pool, device)| TaintSelector { driver, pool, device }),
                    ..TaintRuleSpec::default()
                };
                Arc::new(rule)
            }).collect();
            let text = |index: usize| Str::from(["a", "b", "c"][index]);
            let device = DeviceId { driver: text(device.0), pool: text(device.1), device: text(device.2) };
            let expected: Vec<_> = rules.iter().filter(|rule| rule_matches(rule, &device)).collect();
            prop_assert!(
                Rules::of(&rules).matching(&device).into_iter().map(|rule| &rule.metadata.name)
                    .eq(expected.iter().map(|rule| &rule.metadata.name))
            );
        }
    }
}
