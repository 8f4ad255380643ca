//! Allocations written as the API server stores them in `status.allocation`.

use serde_json::{Map, Value, json};

use super::{AllocatedConfig, AllocatedDevice, Allocation, NodeRequirement, NodeSelector, Str, Toleration};

impl Allocation {
    /// The JSON of `status.allocation`. Empty fields are left out, as the API server leaves them out.
    pub fn to_json(&self) -> Value {
        let results = self.devices.results.iter().map(device);
        let config = self.devices.config.iter().map(config);
        let mut allocation = filled(json!({
            "nodeSelector": self.node_selector.as_ref().map(|selector| node_selector(selector)),
            "allocationTimestamp": self.allocation_timestamp,
            "reservedForAnyPod": self.reserved_for_any_pod.then_some(true),
        }));
        allocation["devices"] = filled(json!({
            "results": results.collect::<Vec<_>>(),
            "config": config.collect::<Vec<_>>(),
        }));
        allocation
    }
}

/// An object without the fields that are empty.
fn filled(mut object: Value) -> Value {
    let is_empty = |field: &Value| [Value::Null, json!([]), json!({})].contains(field);
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, field| !is_empty(field));
    }
    object
}

fn device(result: &AllocatedDevice) -> Value {
    let amounts = result.consumed_capacity.iter();
    let amounts = amounts.map(|(name, amount)| (name.to_string(), json!(amount.as_stored())));
    filled(json!({
        "request": result.request,
        "driver": result.driver,
        "pool": result.pool,
        "device": result.device,
        "adminAccess": result.admin_access.then_some(true),
        "tolerations": result.tolerations.iter().map(toleration).collect::<Vec<_>>(),
        "bindingConditions": result.binding_conditions,
        "bindingFailureConditions": result.binding_failure_conditions,
        "shareID": result.share_id,
        "consumedCapacity": amounts.collect::<Map<_, _>>(),
        "skipNodeOperations": result.skip_node_operations,
    }))
}

fn config(entry: &AllocatedConfig) -> Value {
    filled(json!({
        "source": entry.source,
        "requests": entry.requests,
        "opaque": entry.opaque.as_ref().map(|opaque| {
            json!({ "driver": opaque.driver, "parameters": opaque.parameters_value() })
        }),
    }))
}

fn toleration(toleration: &Toleration) -> Value {
    let text = |text: &Str| (!text.is_empty()).then(|| text.to_string());
    filled(json!({
        "key": text(&toleration.key),
        "operator": text(&toleration.operator),
        "value": text(&toleration.value),
        "effect": text(&toleration.effect),
        "tolerationSeconds": toleration.toleration_seconds,
    }))
}

fn node_selector(selector: &NodeSelector) -> Value {
    let requirements = |list: &[NodeRequirement]| list.iter().map(requirement).collect::<Vec<_>>();
    let terms = selector.node_selector_terms.iter().map(|term| {
        filled(json!({
            "matchExpressions": requirements(&term.match_expressions),
            "matchFields": requirements(&term.match_fields),
        }))
    });
    json!({ "nodeSelectorTerms": terms.collect::<Vec<_>>() })
}

fn requirement(requirement: &NodeRequirement) -> Value {
    filled(json!({
        "key": requirement.key,
        "operator": requirement.operator,
        "values": requirement.values,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_is_written_as_it_was_read() {
        let stored = json!({
            "devices": {
                "results": [{
                    "request": "gpu/large", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0",
                    "adminAccess": true, "shareID": "s", "consumedCapacity": { "memory": "1Gi" },
                    "tolerations": [{ "key": "k", "operator": "Exists", "tolerationSeconds": 3 }],
                    "bindingConditions": ["a"], "bindingFailureConditions": ["b"], "skipNodeOperations": ["c"],
                }],
                "config": [{
                    "source": "FromClaim", "requests": ["gpu"],
                    "opaque": { "driver": "gpu.example.com", "parameters": { "x": [1, 2] } },
                }],
            },
            "nodeSelector": { "nodeSelectorTerms": [{
                "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["node-1"] }],
            }]},
        });
        let read: Allocation = serde_json::from_str(&stored.to_string()).unwrap();
        assert_eq!(read.to_json(), stored);
        assert_eq!(Allocation::default().to_json(), json!({ "devices": {} }));
    }

    #[test]
    fn parameters_that_cannot_be_held_are_shown_as_text() {
        let read: Allocation = serde_json::from_str(
            r#"{"devices": {"config": [{"source": "FromClaim", "opaque": {"driver": "d", "parameters": {"x": 1e999}}}]}}"#,
        )
        .unwrap();
        let shown = read.to_json();
        assert_eq!(
            shown["devices"]["config"][0]["opaque"]["parameters"],
            r#"{"x": 1e999}"#
        );
    }
}
