//! Changes as operations on the objects that people have: what a JSON patch of a claim's spec, or of a pod, has to say.
//!
//! The changes are made as the search makes them, and what differs then is written down, so that a command does what was proven. Each
//! value that goes is tested first: the operations do nothing to an object that says something else by now.

use std::sync::Arc;

use serde_json::{Value, json};

use super::change::Fix;
use dra_model::{
    AllocationMode, ClaimSpec, Cluster, Constraint, Container, DeviceRequest, Key, Pod, Quantity, Resources,
    Selector, Str, Toleration, lookup,
};

/// Edits of a cluster's objects.
pub struct Edited {
    cluster: Cluster,
    pod: Option<Arc<Pod>>,
}

impl Edited {
    /// Makes `fixes` in a fork of `cluster`.
    pub fn by<'f>(
        cluster: &Cluster,
        pod: Option<&Arc<Pod>>,
        fixes: impl IntoIterator<Item = &'f Fix>,
    ) -> Self {
        let mut edited = Self {
            cluster: cluster.clone(),
            pod: pod.cloned(),
        };
        Fix::apply_all(fixes, &mut edited.cluster, &mut edited.pod);
        edited
    }

    /// Returns what the claim asks for then.
    pub fn claim(&self, key: &Key) -> Option<&ClaimSpec> {
        self.cluster.claim(key).map(|claim| &claim.spec)
    }

    /// Returns what the pod is then.
    pub fn pod(&self) -> Option<&Pod> {
        self.pod.as_deref()
    }
}

impl Fix {
    /// The claim whose spec it changes.
    pub fn edits_claim(&self) -> Option<&Key> {
        match self {
            Self::Tolerate { claim, .. }
            | Self::Fewer { claim, .. }
            | Self::LessCapacity { claim, .. }
            | Self::DropTerm { claim, .. }
            | Self::ReplaceTerm { claim, .. }
            | Self::DropConstraint { claim, .. }
            | Self::UseClass { claim, .. } => Some(claim),
            _ => None,
        }
    }

    /// Returns whether it changes the pod.
    pub fn edits_pod(&self) -> bool {
        matches!(
            self,
            Self::TolerateNode { .. }
                | Self::LessResource { .. }
                | Self::DropExtended { .. }
                | Self::UseResource { .. }
                | Self::DropNodeLabel { .. }
                | Self::DropNodeAffinity
        )
    }

    /// Returns whether the API server lets a pod that exists be changed so. Mirrors `core/validation/validation.go`, `ValidatePodUpdate`,
    /// v1.37.2: of what is changed here, tolerations may be added.
    pub fn is_made_in_place(&self) -> bool {
        matches!(self, Self::TolerateNode { .. })
    }
}

/// The operations that make `after` of `before`, which lies at `path` of an object. Nothing where the changes are of another kind.
pub fn change_of_claim(path: &str, before: &ClaimSpec, after: &ClaimSpec) -> Option<Vec<Value>> {
    let mut operations = Vec::new();
    let path = format!("{path}/devices");
    let (old, new) = (&before.devices.requests, &after.devices.requests);
    if old.len() != new.len() {
        return None;
    }
    for (place, (old, new)) in old.iter().zip(new).enumerate() {
        let path = format!("{path}/requests/{place}");
        let mut of_request = Vec::new();
        if let (Some(old), Some(new)) = (&old.exactly, &new.exactly) {
            change_of_request(&format!("{path}/exactly"), old, new, &mut of_request);
        }
        for (place, (old, new)) in old.first_available.iter().zip(&new.first_available).enumerate() {
            change_of_request(
                &format!("{path}/firstAvailable/{place}"),
                old,
                new,
                &mut of_request,
            );
        }
        if !of_request.is_empty() {
            operations.push(test(&format!("{path}/name"), &old.name));
            operations.extend(of_request);
        }
    }
    change_of_constraints(
        &path,
        &before.devices.constraints,
        &after.devices.constraints,
        &mut operations,
    );
    Some(operations)
}

fn test(path: &str, value: &Str) -> Value {
    json!({"op": "test", "path": path, "value": value.as_str()})
}

/// `add` also replaces a member that is there.
fn set(path: &str, value: impl Into<Value>) -> Value {
    json!({"op": "add", "path": path, "value": value.into()})
}

fn remove(path: &str) -> Value {
    json!({"op": "remove", "path": path})
}

/// A name as a part of a JSON pointer (RFC 6901).
fn part(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn change_of_request(path: &str, old: &DeviceRequest, new: &DeviceRequest, operations: &mut Vec<Value>) {
    if old.device_class_name != new.device_class_name {
        let path = format!("{path}/deviceClassName");
        operations.push(test(&path, &old.device_class_name));
        operations.push(set(&path, new.device_class_name.as_str()));
    }
    if old.allocation_mode != new.allocation_mode && new.allocation_mode == AllocationMode::ExactCount {
        operations.push(set(&format!("{path}/allocationMode"), "ExactCount"));
    }
    if old.count != new.count || old.allocation_mode != new.allocation_mode {
        operations.push(set(&format!("{path}/count"), new.count));
    }
    let amounts = |request: &DeviceRequest| -> Vec<(Str, Quantity)> {
        let capacity = request.capacity.as_ref();
        capacity.map_or_else(Vec::new, |capacity| capacity.requests.clone())
    };
    let before = amounts(old);
    for (name, amount) in amounts(new) {
        if lookup(&before, &name) != Some(&amount) {
            let path = format!("{path}/capacity/requests/{}", part(&name));
            operations.push(set(&path, amount.to_string()));
        }
    }
    add_tolerations(path, &old.tolerations, &new.tolerations, operations);
    change_of_selectors(path, &old.selectors, &new.selectors, operations);
}

/// Tolerations that were added at the end, and those that are for good now.
fn add_tolerations(path: &str, old: &[Toleration], new: &[Toleration], operations: &mut Vec<Value>) {
    for (place, (old, new)) in old.iter().zip(new).enumerate() {
        if let (Some(seconds), None) = (old.toleration_seconds, new.toleration_seconds) {
            let path = format!("{path}/tolerations/{place}/tolerationSeconds");
            operations.push(json!({"op": "test", "path": path, "value": seconds}));
            operations.push(remove(&path));
        }
    }
    for (number, toleration) in new.iter().enumerate().skip(old.len()) {
        let mut value = json!({"key": toleration.key.as_str(), "operator": toleration.operator.as_str(),
                               "effect": toleration.effect.as_str()});
        if !toleration.value.is_empty() {
            value["value"] = toleration.value.as_str().into();
        }
        operations.push(if number == 0 {
            set(&format!("{path}/tolerations"), json!([value]))
        } else {
            set(&format!("{path}/tolerations/-"), value)
        });
    }
}

fn expression(selector: &Selector) -> Option<&Str> {
    selector.cel.as_ref().map(|cel| &cel.expression)
}

/// Selectors that lost a term, or were removed.
fn change_of_selectors(path: &str, old: &[Selector], new: &[Selector], operations: &mut Vec<Value>) {
    // Behind what goes, places move up: the last is looked at first.
    let are_as_many = old.len() == new.len();
    let kept = kept(old, new, |old, new| {
        let (Some(old), Some(new)) = (expression(old), expression(new)) else {
            return expression(old) == expression(new);
        };
        // What is left of an expression is made of its terms.
        let terms = dra_cel::Terms::of(old);
        let is_left = |term: &str| terms.iter().any(|known| known == term);
        are_as_many || old == new || dra_cel::Terms::of(new).iter().all(is_left)
    });
    for (place, selector) in old.iter().enumerate().rev() {
        let path = format!("{path}/selectors/{place}");
        let (Some(before), after) = (
            expression(selector),
            kept[place].and_then(|kept| expression(&new[kept])),
        ) else {
            continue;
        };
        if after == Some(before) {
            continue;
        }
        operations.push(test(&format!("{path}/cel/expression"), before));
        operations.push(match after {
            Some(after) => set(&format!("{path}/cel/expression"), after.as_str()),
            None => remove(&path),
        });
    }
}

/// Constraints with some removed, or with other attributes.
fn change_of_constraints(path: &str, old: &[Constraint], new: &[Constraint], operations: &mut Vec<Value>) {
    let same = |a: &Constraint, b: &Constraint| {
        a.match_attribute == b.match_attribute
            && a.distinct_attribute == b.distinct_attribute
            && a.requests == b.requests
    };
    if old.len() == new.len() {
        for (place, (old, new)) in old
            .iter()
            .zip(new)
            .enumerate()
            .filter(|(_, (old, new))| !same(old, new))
        {
            let path = format!("{path}/constraints/{place}/matchAttribute");
            operations.extend(old.match_attribute.iter().map(|attribute| test(&path, attribute)));
            operations.extend(
                new.match_attribute
                    .iter()
                    .map(|attribute| set(&path, attribute.as_str())),
            );
        }
        return;
    }
    let kept = kept(old, new, same);
    for (place, constraint) in old.iter().enumerate().rev() {
        if kept[place].is_some() {
            continue;
        }
        let path = format!("{path}/constraints/{place}");
        if let Some(attribute) = &constraint.match_attribute {
            operations.push(test(&format!("{path}/matchAttribute"), attribute));
        }
        if let Some(attribute) = &constraint.distinct_attribute {
            operations.push(test(&format!("{path}/distinctAttribute"), attribute));
        }
        operations.push(remove(&path));
    }
}

/// Returns where in `new` each item of `old` is, in the same order; nothing for those that went.
fn kept<T>(old: &[T], new: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut places: Vec<Option<usize>> = Vec::new();
    for item in old {
        let found = new.get(next).is_some_and(|new| same(item, new));
        places.push(found.then_some(next));
        next += usize::from(found);
    }
    places
}

/// The operations that make `after` of the pod `before`.
pub fn change_of_pod(before: &Pod, after: &Pod) -> Vec<Value> {
    let mut operations = Vec::new();
    add_tolerations(
        "/spec",
        &before.spec.tolerations,
        &after.spec.tolerations,
        &mut operations,
    );
    for (key, value) in &before.spec.node_selector {
        if lookup(&after.spec.node_selector, key).is_none() {
            let path = format!("/spec/nodeSelector/{}", part(key));
            operations.push(test(&path, value));
            operations.push(remove(&path));
        }
    }
    if before.required_affinity().is_some() && after.required_affinity().is_none() {
        operations.push(remove(
            "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution",
        ));
    }
    if let (Some(before), Some(after)) = (&before.spec.resources, &after.spec.resources) {
        operations.extend(change_of_resources("/spec", before, after));
    }
    let lists = [
        ("containers", &before.spec.containers, &after.spec.containers),
        (
            "initContainers",
            &before.spec.init_containers,
            &after.spec.init_containers,
        ),
    ];
    for (list, before, after) in lists {
        for (place, (old, new)) in before.iter().zip(after).enumerate() {
            change_of_container(&format!("/spec/{list}/{place}"), old, new, &mut operations);
        }
    }
    operations
}

fn change_of_container(path: &str, old: &Container, new: &Container, operations: &mut Vec<Value>) {
    let of_container = change_of_resources(path, &old.resources, &new.resources);
    if !of_container.is_empty() {
        operations.push(test(&format!("{path}/name"), &old.name));
        operations.extend(of_container);
    }
}

fn change_of_resources(path: &str, old: &Resources, new: &Resources) -> Vec<Value> {
    let mut operations = Vec::new();
    let lists = [
        ("requests", &old.requests, &new.requests),
        ("limits", &old.limits, &new.limits),
    ];
    for (list, old, new) in lists {
        let lost = old.iter().filter(|(name, _)| lookup(new, name).is_none());
        operations.extend(lost.map(|(name, _)| remove(&format!("{path}/resources/{list}/{}", part(name)))));
        for (name, amount) in new {
            if lookup(old, name) != Some(amount) {
                let path = format!("{path}/resources/{list}/{}", part(name));
                operations.push(set(&path, amount.to_string()));
            }
        }
    }
    operations
}
