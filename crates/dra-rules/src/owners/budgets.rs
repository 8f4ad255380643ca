//! PodDisruptionBudgets that evictions break. The eviction controller deletes pods without asking them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::is_ready;
use dra_model::{
    Cluster, DisruptionBudget, Key, Kind, Operator, Pod, PodRequirement, PodSelector, Str, Time,
};

/// A budget, and the pods that it loses.
#[derive(Clone, Debug)]
pub(crate) struct Loss<'a> {
    /// The budget.
    pub(crate) budget: &'a DisruptionBudget,
    /// Its pods that are evicted, in the order of time.
    pub(crate) pods: Vec<Key>,
    /// Time of the first eviction that the budget would not allow.
    pub(crate) broken_at: Option<Time>,
}

/// Returns the pods that each budget loses to `evictions`, ordered by time. Omits budgets without losses.
///
/// Counts from what the disruption controller allowed last. A pod that is not ready can always be evicted. Replacements
/// are not counted, because the time until they are ready is unknown.
///
/// # Errors
/// Names a budget whose selector the API server would refuse.
pub(crate) fn losses<'a>(cluster: &'a Cluster, evictions: &[(Time, Key)]) -> Result<Vec<Loss<'a>>, String> {
    if cluster.count(Kind::PodDisruptionBudget) == 0 {
        return Ok(Vec::new());
    }
    let mut by_namespace: BTreeMap<&Str, Vec<(Time, &Key)>> = BTreeMap::new();
    for (at, pod) in evictions {
        by_namespace.entry(&pod.namespace).or_default().push((*at, pod));
    }
    let mut losses = Vec::new();
    for (namespace, evictions) in by_namespace {
        for budget in cluster.budgets_in(namespace) {
            let mut loss = Loss {
                budget,
                pods: Vec::new(),
                broken_at: None,
            };
            let mut allowed = i64::from(budget.status.disruptions_allowed);
            for (at, key) in &evictions {
                let Some(pod) = cluster.pod(key) else { continue };
                if !selects(budget, pod)? {
                    continue;
                }
                loss.pods.push(Key::clone(key));
                if is_ready(pod) {
                    if allowed <= 0 && loss.broken_at.is_none() {
                        loss.broken_at = Some(*at);
                    }
                    allowed -= 1;
                }
            }
            if !loss.pods.is_empty() {
                losses.push(loss);
            }
        }
    }
    Ok(losses)
}

/// The budget that lets no eviction end `pod` now; nothing where budgets are not read.
pub fn guard<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Arc<DisruptionBudget>> {
    let mut budgets = cluster.budgets_in(&pod.metadata.namespace);
    budgets.find(|budget| {
        budget.status.disruptions_allowed <= 0 && is_ready(pod) && selects(budget, pod).unwrap_or(false)
    })
}

fn selects(budget: &DisruptionBudget, pod: &Pod) -> Result<bool, String> {
    let selector = budget.spec.selector.as_ref();
    selector
        .map_or(Ok(false), |selector| is_selected(selector, pod))
        .map_err(|requirement| {
            format!(
                "poddisruptionbudget/{}: unknown operator `{}` in its selector",
                budget.metadata.key(),
                requirement.operator
            )
        })
}

/// Returns whether the labels of the pod match the selector.
///
/// # Errors
/// A requirement with an unknown operator.
pub(crate) fn is_selected<'s>(selector: &'s PodSelector, pod: &Pod) -> Result<bool, &'s PodRequirement> {
    let PodSelector {
        match_labels,
        match_expressions,
    } = selector;
    for requirement in match_expressions {
        if !holds(requirement, pod).ok_or(requirement)? {
            return Ok(false);
        }
    }
    Ok(match_labels
        .iter()
        .all(|(key, value)| pod.metadata.label(key) == Some(value)))
}

/// Returns whether the pod meets the requirement. Unknown operators have no answer.
fn holds(requirement: &PodRequirement, pod: &Pod) -> Option<bool> {
    let label = pod.metadata.label(&requirement.key).map(Str::as_str);
    let are_listed = |value: &str| requirement.values.iter().any(|listed| *listed == *value);
    // Selectors of pods compare no numbers.
    let operator = requirement.operator.parse::<Operator>().ok();
    let operator =
        operator.filter(|operator| !matches!(operator, Operator::GreaterThan | Operator::LessThan))?;
    Some(operator.is_met(label, are_listed, None))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::{ClusterBuilder, Environment, Kind, Object};

    fn cluster(selector: &Value, allowed: i32) -> Cluster {
        let mut builder = ClusterBuilder::default();
        let mut add = |kind, json: Value| {
            builder.add(Object::from_json(kind, json.to_string().as_bytes()).unwrap());
        };
        add(
            Kind::PodDisruptionBudget,
            json!({"metadata": {"namespace": "n", "name": "b"}, "spec": {"selector": selector},
                "status": {"disruptionsAllowed": allowed}}),
        );
        for (name, ready) in [("a-0", "True"), ("a-1", "False"), ("a-2", "True")] {
            add(
                Kind::Pod,
                json!({"metadata": {"namespace": "n", "name": name, "labels": {"app": "a"}},
                    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}}),
            );
        }
        builder.build(Environment::default()).0
    }

    fn evictions() -> Vec<(Time, Key)> {
        (0..3)
            .map(|index| {
                (
                    Time::from_unix_seconds(index),
                    Key::new("n", format!("a-{index}")),
                )
            })
            .collect()
    }

    #[test]
    fn a_budget_breaks_with_the_first_pod_that_it_would_keep() {
        let app = json!({"matchLabels": {"app": "a"}});
        for (selector, allowed, pods, broken) in [
            (&app, 2, 3, None),
            // A pod that is not ready does not count.
            (&app, 1, 3, Some(2)),
            (&app, 0, 3, Some(0)),
            (&json!({}), 0, 3, Some(0)),
            (&json!({"matchLabels": {"app": "b"}}), 0, 0, None),
            (&Value::Null, 0, 0, None),
            (
                &json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}),
                0,
                0,
                None,
            ),
        ] {
            let cluster = cluster(selector, allowed);
            let losses = losses(&cluster, &evictions()).unwrap();
            let found = losses
                .first()
                .map_or((0, None), |loss| (loss.pods.len(), loss.broken_at));
            assert_eq!(
                found,
                (pods, broken.map(Time::from_unix_seconds)),
                "{selector} {allowed}"
            );
        }
        let odd = cluster(
            &json!({"matchExpressions": [{"key": "app", "operator": "Like"}]}),
            0,
        );
        assert_eq!(
            losses(&odd, &evictions()).unwrap_err(),
            "poddisruptionbudget/n/b: unknown operator `Like` in its selector"
        );
    }
}
