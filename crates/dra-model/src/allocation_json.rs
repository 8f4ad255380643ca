//! Allocations written as the API server stores them in `status.allocation`.

use serde_json::{Map, Value, json};

use super::{AllocatedConfig, AllocatedDevice, Allocation, NodeRequirement, NodeSelector, Str, Toleration};

impl Allocation {
    /// The JSON of `status.allocation`. Empty fields are left out, as the API server leaves them out.
    pub fn to_json(&self) -> Value {
        let mut devices = Map::new();
        put_list(&mut devices, "results", self.devices.results.iter().map(device));
        put_list(&mut devices, "config", self.devices.config.iter().map(config));
        let mut allocation = Map::new();
        allocation.insert("devices".to_owned(), Value::Object(devices));
        if let Some(selector) = &self.node_selector {
            allocation.insert("nodeSelector".to_owned(), node_selector(selector));
        }
        if let Some(time) = &self.allocation_timestamp {
            allocation.insert("allocationTimestamp".to_owned(), json!(time.to_string()));
        }
        if self.reserved_for_any_pod {
            allocation.insert("reservedForAnyPod".to_owned(), Value::Bool(true));
        }
        Value::Object(allocation)
    }
}

fn device(result: &AllocatedDevice) -> Value {
    let mut map = Map::new();
    for (name, text) in [
        ("request", &result.request),
        ("driver", &result.driver),
        ("pool", &result.pool),
        ("device", &result.device),
    ] {
        map.insert(name.to_owned(), text_value(text));
    }
    if result.admin_access {
        map.insert("adminAccess".to_owned(), Value::Bool(true));
    }
    put_list(&mut map, "tolerations", result.tolerations.iter().map(toleration));
    put_texts(&mut map, "bindingConditions", &result.binding_conditions);
    put_texts(
        &mut map,
        "bindingFailureConditions",
        &result.binding_failure_conditions,
    );
    if let Some(share) = &result.share_id {
        map.insert("shareID".to_owned(), text_value(share));
    }
    if !result.consumed_capacity.is_empty() {
        let amounts = result.consumed_capacity.iter();
        map.insert(
            "consumedCapacity".to_owned(),
            amounts
                .map(|(name, amount)| (name.to_string(), json!(amount.as_stored().to_string())))
                .collect::<Map<_, _>>()
                .into(),
        );
    }
    put_texts(&mut map, "skipNodeOperations", &result.skip_node_operations);
    Value::Object(map)
}

fn config(entry: &AllocatedConfig) -> Value {
    let mut map = Map::new();
    map.insert("source".to_owned(), text_value(&entry.source));
    put_texts(&mut map, "requests", &entry.requests);
    if let Some(opaque) = &entry.opaque {
        let opaque = json!({ "driver": opaque.driver.as_str(), "parameters": opaque.parameters_value() });
        map.insert("opaque".to_owned(), opaque);
    }
    Value::Object(map)
}

fn toleration(toleration: &Toleration) -> Value {
    let mut map = Map::new();
    for (name, text) in [
        ("key", &toleration.key),
        ("operator", &toleration.operator),
        ("value", &toleration.value),
        ("effect", &toleration.effect),
    ] {
        if !text.is_empty() {
            map.insert(name.to_owned(), text_value(text));
        }
    }
    if let Some(seconds) = toleration.toleration_seconds {
        map.insert("tolerationSeconds".to_owned(), json!(seconds));
    }
    Value::Object(map)
}

fn node_selector(selector: &NodeSelector) -> Value {
    let terms = selector.node_selector_terms.iter().map(|term| {
        let mut map = Map::new();
        put_list(
            &mut map,
            "matchExpressions",
            term.match_expressions.iter().map(requirement),
        );
        put_list(&mut map, "matchFields", term.match_fields.iter().map(requirement));
        Value::Object(map)
    });
    json!({ "nodeSelectorTerms": terms.collect::<Vec<_>>() })
}

fn requirement(requirement: &NodeRequirement) -> Value {
    let mut map = Map::new();
    map.insert("key".to_owned(), text_value(&requirement.key));
    map.insert("operator".to_owned(), text_value(&requirement.operator));
    put_texts(&mut map, "values", &requirement.values);
    Value::Object(map)
}

fn text_value(text: &Str) -> Value {
    Value::String(text.to_string())
}

fn put_texts(map: &mut Map<String, Value>, name: &str, texts: &[Str]) {
    put_list(map, name, texts.iter().map(text_value));
}

fn put_list(map: &mut Map<String, Value>, name: &str, values: impl Iterator<Item = Value>) {
    let values: Vec<Value> = values.collect();
    if !values.is_empty() {
        map.insert(name.to_owned(), Value::Array(values));
    }
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
