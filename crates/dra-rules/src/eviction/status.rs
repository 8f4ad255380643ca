//! The condition `EvictionInProgress` of a DeviceTaintRule, word for word.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Release, Tolerance, evicting_claims, tolerance};
use dra_allocator::devices::rule_matches;
use dra_model::{
    Claim, Cluster, Condition, Key, NO_EFFECT, NO_EXECUTE, Pool, PoolId, Str, TaintRule, TaintSelector, Time,
};

/// The condition's type.
pub const EVICTION_IN_PROGRESS: &str = "EvictionInProgress";

/// Counts in the condition of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleCounts {
    /// Pods that have to go because of the rule, now or once they no longer tolerate it, and are not being deleted yet.
    pub pods: usize,
    /// Namespaces of those pods.
    pub namespaces: usize,
    /// Published devices that the rule selects, those of the newest generation of each pool.
    pub published: usize,
    /// Entries of allocation results that the rule selects: a device that claims share counts for each.
    pub allocated: usize,
    /// Pods that were evicted because of the rule since the controller started.
    pub evicted: usize,
}

/// The condition of `rule`. Its time of transition is `now`; who keeps a condition compares the rest.
///
/// Mirrors `device_taint_eviction.go`, `maybeUpdateRuleStatus`, v1.37.2.
pub fn rule_condition(rule: &TaintRule, counts: RuleCounts, now: Time) -> Condition {
    let RuleCounts {
        pods,
        namespaces,
        published,
        allocated,
        evicted,
    } = counts;
    let (status, reason, mut message) = match rule.spec.taint.effect.as_str() {
        NO_EXECUTE if pods > 0 => {
            let need = if pods == 1 { "pod needs" } else { "pods need" };
            let where_ = different(namespaces);
            (
                "True",
                "PodsPendingEviction",
                format!("{pods} {need} to be evicted in {where_}."),
            )
        }
        NO_EXECUTE if evicted > 0 => ("False", "Completed", String::new()),
        NO_EXECUTE => ("False", "NotStarted", String::new()),
        NO_EFFECT => (
            "False",
            "NoEffect",
            format!(
                "{} selected. {} selected. {} would be evicted in {} if the effect was NoExecute. This information will not be \
                 updated again. Recreate the DeviceTaintRule to trigger an update.",
                several(published, "published device"),
                several(allocated, "allocated device"),
                several(pods, "pod"),
                different(namespaces)
            ),
        ),
        _ => (
            "False",
            "OtherEffect",
            "Eviction only happens for the NoExecute effect.".to_owned(),
        ),
    };
    if evicted > 0 {
        if !message.is_empty() {
            message.push(' ');
        }
        message.push_str(&several(evicted, "pod"));
        message.push_str(EVICTED);
    }
    Condition {
        type_: EVICTION_IN_PROGRESS.into(),
        status: status.into(),
        reason: reason.into(),
        message: message.into(),
        last_transition_time: Some(now),
        last_heartbeat_time: None,
        observed_generation: rule.metadata.generation,
    }
}

const EVICTED: &str = " evicted since starting the controller.";

fn several(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

fn different(namespaces: usize) -> String {
    if namespaces == 1 {
        "1 namespace".to_owned()
    } else {
        format!("{namespaces} different namespaces")
    }
}

/// The condition that the rule has.
pub fn condition_of(rule: &TaintRule) -> Option<&Condition> {
    let mut conditions = rule.status.conditions.iter();
    conditions.find(|condition| condition.type_ == EVICTION_IN_PROGRESS)
}

/// Returns how many pods the controller had evicted because of the rule when it wrote the condition; it keeps no other record.
pub fn evicted_so_far(condition: &Condition) -> usize {
    let told = || {
        let before = condition.message.strip_suffix(EVICTED)?;
        let before = before
            .strip_suffix(" pods")
            .or_else(|| before.strip_suffix(" pod"))?;
        before.rsplit(' ').next()?.parse().ok()
    };
    told().unwrap_or(0)
}

/// Counts the devices that a rule selects and the pods it evicts, as if its effect were NoExecute. `evicted` is unknown
/// here and 0.
///
/// Mirrors `device_taint_eviction.go`, `countTaintedDevices` and `countPendingPods`, v1.37.2.
pub fn count(cluster: &Cluster, rule: &TaintRule, release: Release) -> RuleCounts {
    let mut counts = RuleCounts::default();
    let mut pods = BTreeSet::new();
    let mut add_claim = |counts: &mut RuleCounts, claim: &Claim| {
        let selected = claim
            .results()
            .iter()
            .filter(|result| rule_matches(rule, &result.id()))
            .count();
        counts.allocated += selected;
        if selected > 0 && evicts(claim, rule) {
            pods.extend(pending(cluster, claim, release));
        }
    };
    let published = |pool: &Pool<'_>| {
        let devices = pool.devices();
        devices
            .filter(|(_, device)| rule_matches(rule, &pool.device_id(&device.name)))
            .count()
    };
    if let Some(id) = only_pool(rule) {
        counts.published = cluster.pool(&id).as_ref().map_or(0, published);
        let claims: BTreeMap<Key, &Arc<Claim>> = cluster
            .allocated_devices_of_pool(&id)
            .map(|(_, claim)| (claim.key(), claim))
            .collect();
        for claim in claims.into_values() {
            add_claim(&mut counts, claim);
        }
    } else {
        counts.published = cluster.pools().map(|pool| published(&pool)).sum();
        for claim in cluster.claims() {
            add_claim(&mut counts, claim);
        }
    }
    counts.namespaces = namespaces(&pods);
    counts.pods = pods.len();
    counts
}

/// The pool to whose devices the rule is restricted. Most rules are about one, and there may be thousands of both.
fn only_pool(rule: &TaintRule) -> Option<PoolId> {
    let TaintSelector {
        driver,
        pool,
        device: _,
    } = rule.spec.device_selector.as_ref()?;
    Some(PoolId::new(driver.as_ref()?, pool.as_ref()?))
}

/// Number of namespaces of `pods`.
pub fn namespaces<'a>(pods: impl IntoIterator<Item = &'a Key>) -> usize {
    pods.into_iter()
        .map(|pod| &pod.namespace)
        .collect::<BTreeSet<&Str>>()
        .len()
}

/// Returns whether the rule, as NoExecute, is a reason for the claim's pods to go one day.
fn evicts(claim: &Claim, rule: &TaintRule) -> bool {
    let mut taint = rule.spec.taint.clone();
    taint.effect = NO_EXECUTE.into();
    claim.results().iter().any(|result| {
        rule_matches(rule, &result.id()) && tolerance(&taint, &result.tolerations) != Tolerance::Forever
    })
}

/// Pods that an eviction of `claim` reaches and that are not being deleted.
pub fn pending(cluster: &Cluster, claim: &Claim, release: Release) -> Vec<Key> {
    cluster
        .pods_of_claim(&claim.key())
        .filter(|pod| {
            let mut claims = evicting_claims(cluster, pod, release);
            !pod.metadata.is_deleting() && claims.any(|found| found.metadata.name == claim.metadata.name)
        })
        .map(|pod| pod.key())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{ClusterBuilder, Environment, Kind, Object, TaintSelector};
    use serde_json::json;

    fn rule(effect: &str) -> TaintRule {
        let mut rule = TaintRule::default();
        rule.spec.taint.effect = effect.into();
        rule.spec.taint.key = "k".into();
        rule.spec.device_selector = Some(TaintSelector::default());
        rule.metadata.generation = 3;
        rule
    }

    #[test]
    fn conditions_are_worded_as_the_controller_does() {
        let now = "2026-11-21T10:00:00Z".parse().unwrap();
        let counts = |pods, namespaces, evicted| RuleCounts {
            pods,
            namespaces,
            evicted,
            ..RuleCounts::default()
        };
        let selected = |published, allocated, pods, namespaces| RuleCounts {
            pods,
            namespaces,
            published,
            allocated,
            evicted: 0,
        };
        // The first five and the two previews are texts that a real control plane wrote.
        for (effect, counts, expected) in [
            (
                "NoExecute",
                counts(5, 2, 0),
                "True PodsPendingEviction 5 pods need to be evicted in 2 different namespaces.",
            ),
            (
                "NoExecute",
                counts(2, 1, 3),
                "True PodsPendingEviction 2 pods need to be evicted in 1 namespace. 3 pods evicted since starting the controller.",
            ),
            (
                "NoExecute",
                counts(0, 0, 4),
                "False Completed 4 pods evicted since starting the controller.",
            ),
            (
                "NoSchedule",
                counts(0, 0, 0),
                "False OtherEffect Eviction only happens for the NoExecute effect.",
            ),
            (
                "None",
                selected(16, 5, 5, 2),
                "False NoEffect 16 published devices selected. 5 allocated devices selected. 5 pods would be evicted in 2 different \
                 namespaces if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule \
                 to trigger an update.",
            ),
            (
                "None",
                selected(1, 1, 1, 1),
                "False NoEffect 1 published device selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if \
                 the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an \
                 update.",
            ),
            (
                "NoExecute",
                counts(1, 1, 1),
                "True PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 1 pod evicted since starting the controller.",
            ),
            ("NoExecute", counts(0, 0, 0), "False NotStarted "),
            (
                "NoSchedule",
                counts(0, 0, 2),
                "False OtherEffect Eviction only happens for the NoExecute effect. 2 pods evicted since starting the controller.",
            ),
            (
                "Later",
                counts(0, 0, 0),
                "False OtherEffect Eviction only happens for the NoExecute effect.",
            ),
        ] {
            let condition = rule_condition(&rule(effect), counts, now);
            assert_eq!(
                format!("{} {} {}", condition.status, condition.reason, condition.message),
                expected
            );
            assert_eq!(evicted_so_far(&condition), counts.evicted, "{expected}");
            assert_eq!(condition.observed_generation, 3);
        }
    }

    #[test]
    fn a_preview_counts_every_pod_that_would_be_evicted_later() {
        let toleration = |seconds: serde_json::Value| json!([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]);
        let mut builder = ClusterBuilder::default();
        let mut add = |kind, json: serde_json::Value| {
            builder.add(Object::from_json(kind, json.to_string().as_bytes()).unwrap());
        };
        for (name, generation) in [("old", 1), ("new", 2)] {
            add(
                Kind::ResourceSlice,
                json!({"metadata": {"name": name}, "spec": {"driver": "d", "pool": {"name": "p", "generation": generation},
                    "devices": [{"name": "a"}, {"name": "b"}]}}),
            );
        }
        for (name, namespace, tolerations, deleting) in [
            ("plain", "n", json!([]), false),
            ("minute", "m", toleration(json!(60)), false),
            ("good", "n", toleration(json!(null)), false),
            ("leaving", "n", json!([]), true),
        ] {
            add(
                Kind::ResourceClaim,
                json!({"metadata": {"namespace": namespace, "name": name}, "status": {
                    "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
                    "allocation": {"devices": {"results": [
                        {"driver": "d", "pool": "p", "device": "a", "tolerations": tolerations},
                        {"driver": "d", "pool": "p", "device": "gone", "tolerations": tolerations}]}}}}),
            );
            let deletion = deleting.then_some("2026-11-21T10:00:00Z");
            add(
                Kind::Pod,
                json!({"metadata": {"namespace": namespace, "name": name, "uid": name, "deletionTimestamp": deletion},
                    "spec": {"nodeName": "x", "resourceClaims": [{"name": "c", "resourceClaimName": name}]}}),
            );
        }
        let cluster = builder.build(Environment::default()).0;
        let release = Release::of(cluster.environment());
        assert_eq!(
            count(&cluster, &rule("None"), release),
            RuleCounts {
                pods: 2,
                namespaces: 2,
                published: 2,
                allocated: 8,
                evicted: 0
            }
        );
        // A rule about one pool looks at that pool alone, and counts the same.
        let of_pool = |pool: &str, device: Option<&str>| {
            let mut rule = rule("None");
            rule.spec.device_selector = Some(TaintSelector {
                driver: Some("d".into()),
                pool: Some(pool.into()),
                device: device.map(Into::into),
            });
            let RuleCounts {
                pods,
                published,
                allocated,
                ..
            } = count(&cluster, &rule, release);
            (pods, published, allocated)
        };
        assert_eq!(of_pool("p", None), (2, 2, 8));
        assert_eq!(of_pool("p", Some("gone")), (2, 0, 4));
        assert_eq!(of_pool("p", Some("b")), (0, 1, 0));
        assert_eq!(of_pool("o", None), (0, 0, 0));
        let mut none = rule("None");
        none.spec.device_selector = None;
        assert_eq!(count(&cluster, &none, release), RuleCounts::default());
    }
}
