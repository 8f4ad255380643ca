//! Extended resources that device classes stand behind: the claim that the scheduler makes up for them.
//!
//! Mirrors `extendeddynamicresources.go` and `extendedresourcecache.go`, v1.37.2. A container asks for `example.com/gpu: 2`; where
//! the node has no such resource of its own, the scheduler allocates two devices of the class that provides it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::requests::{Amounts, is_sidecar, pod_requests};
use dra_model::names::is_within;
use dra_model::{
    AllocationMode, CLASS_RESOURCE, Claim, Class, Cluster, Component, Container, DeviceRequest, Gate, Key,
    Kind, Meta, Node, OwnerReference, Pod, Quantity, Request, Str, lookup,
};

/// Name of the claim as long as only the scheduler knows it.
pub const IN_MEMORY_CLAIM: &str = "<extended-resources>";

/// Marks the claims that the scheduler made for extended resources.
const ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";

/// The class that provides a resource. Of several with that name the newest counts, and of equally old ones the first by
/// name. In old releases a class that names a resource does not provide the one of its own name.
pub(super) fn class_of<'a>(cluster: &'a Cluster, resource: &str) -> Option<&'a Arc<Class>> {
    if let Some(class) = implicit_class(resource) {
        let replaces = cluster.environment().release().explicit_name_replaces;
        return cluster
            .class(class)
            .filter(|class| !replaces || class.spec.extended_resource_name.is_none());
    }
    let named = cluster.classes().filter(|class| {
        class
            .spec
            .extended_resource_name
            .as_ref()
            .is_some_and(|name| name == resource)
    });
    named.max_by(|a, b| rank(a).cmp(&rank(b)))
}

/// The class that the resource is named after, whether or not there is one.
pub fn implicit_class(resource: &str) -> Option<&str> {
    resource.strip_prefix(CLASS_RESOURCE)
}

/// Of classes with one extended resource that with the greatest rank provides it.
fn rank(class: &Class) -> impl Ord + use<'_> {
    (class.metadata.creation_timestamp, Reverse(&class.metadata.name))
}

/// The classes that name each extended resource. The first provides it, the others do not.
pub fn classes_of_resources(cluster: &Cluster) -> BTreeMap<&Str, Vec<&Arc<Class>>> {
    let mut named: BTreeMap<&Str, Vec<&Arc<Class>>> = BTreeMap::new();
    for class in cluster.classes() {
        if let Some(resource) = &class.spec.extended_resource_name {
            named.entry(resource).or_default().push(class);
        }
    }
    for classes in named.values_mut() {
        classes.sort_by(|a, b| rank(b).cmp(&rank(a)));
    }
    named
}

/// Returns whether a DeviceClass may provide a resource. Mirrors `scheduler/util/utils.go`, `IsDRAExtendedResourceName`.
pub fn is_extended(name: &str) -> bool {
    implicit_class(name).is_some()
        || (name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests."))
}

/// The drivers that a class names: those whose devices each of its selectors can match. None where no selector names drivers.
pub fn drivers_named(class: &Class) -> BTreeSet<Str> {
    let named = class.spec.selectors.iter().filter_map(|selector| {
        let expression = &selector.cel.as_ref()?.expression;
        dra_cel::drivers_wanted(expression)
    });
    named.flatten().map(Str::from).collect()
}

/// Returns whether a claim without devices requests a class that names the driver.
pub fn is_waited_for(cluster: &Cluster, driver: &Str) -> bool {
    let names_driver = |class: &Str| {
        let class = cluster.class(class);
        class.is_some_and(|class| drivers_named(class).contains(driver))
    };
    let waits = |claim: &&Arc<Claim>| claim.status.allocation.is_none() && !claim.metadata.is_deleting();
    let claims = cluster.claims().filter(waits);
    let mut asked = claims.flat_map(|claim| claim.spec.asked());
    asked.any(|request| names_driver(&request.device_class_name))
}

/// An extended resource that a pod wants and that no node and no class offers.
pub struct Unoffered<'c> {
    /// The resource.
    pub resource: Str,
    /// The classes that could: those without a resource which have the domain of the resource, or whose drivers have it. None where the gate
    /// for that is off.
    pub classes: Vec<&'c Arc<Class>>,
}

/// The extended resources of `pod` that no node and no class offers. None where nodes or classes could not be read.
pub fn unoffered<'c>(cluster: &'c Cluster, pod: &Pod) -> Vec<Unoffered<'c>> {
    if cluster.gap(Kind::Node, "").is_some() || cluster.gap(Kind::DeviceClass, "").is_some() {
        return Vec::new();
    }
    let wanted = pod_requests(pod);
    let environment = cluster.environment();
    let gate = environment.gate(Component::Scheduler, Gate::DRAExtendedResource);
    let is_offered = |name: &str| {
        let of_node =
            |node: &Arc<Node>| lookup(&node.status.allocatable, name).is_some_and(|amount| amount.sign() > 0);
        class_of(cluster, name).is_some() || cluster.nodes().any(of_node)
    };
    let missing = wanted
        .iter()
        .filter(|(name, amount)| **amount > 0 && is_extended(name) && !is_offered(name));
    let missing = missing.map(|(name, _)| {
        let classes = cluster.classes().filter(|class| {
            gate.enabled && class.spec.extended_resource_name.is_none() && has_domain_of(class, name)
        });
        Unoffered {
            resource: name.clone(),
            classes: classes.collect(),
        }
    });
    missing.collect()
}

/// Returns whether a class, or a driver that it names, has the domain of a resource: `gpu.example.com` that of `example.com/gpu`.
fn has_domain_of(class: &Class, resource: &str) -> bool {
    let domain = resource.split_once('/').map_or("", |(domain, _)| domain);
    is_within(&class.metadata.name, domain)
        || drivers_named(class)
            .iter()
            .any(|driver| is_within(driver, domain))
}

/// Returns whether one of `claims` requests the devices that an extended resource stands for, as far as names tell.
pub(super) fn is_in_claims(cluster: &Cluster, resource: &str, claims: &[Arc<Claim>]) -> bool {
    let provider = class_of(cluster, resource);
    let mut specs = claims.iter().flat_map(|claim| claim.spec.asked());
    is_extended(resource)
        && specs.any(|spec| match provider {
            Some(class) => class.metadata.name == spec.device_class_name,
            None => cluster
                .class(&spec.device_class_name)
                .is_some_and(|class| has_domain_of(class, resource)),
        })
}

/// Extended resources of a pod.
#[derive(Clone, Debug)]
pub(super) struct Extended {
    /// A claim that an earlier attempt left behind. It has to go first.
    pub(super) left_behind: Option<Arc<Claim>>,
    /// Extended resources that the pod requests.
    wanted: Vec<Str>,
    /// The classes behind them, as far as there are any.
    classes: BTreeMap<Str, Str>,
}

/// Extended resources of a pod that a node leaves to the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeShare {
    /// These are to be allocated; none if the node has them all itself.
    Devices(Vec<Str>),
    /// Neither the node nor a class has this one.
    Nothing(Str),
}

impl Extended {
    /// The extended resources of a pod, if any of them has a class. Mirrors `preFilterExtendedResources`.
    pub(super) fn of(cluster: &Cluster, pod: &Pod, requests: &Amounts) -> Option<Self> {
        let wanted: Vec<Str> = requests
            .iter()
            .filter(|(name, amount)| **amount != 0 && is_extended(name))
            .map(|(name, _)| name.clone())
            .collect();
        let classes: BTreeMap<Str, Str> = wanted
            .iter()
            .filter_map(|name| Some((name.clone(), class_of(cluster, name)?.metadata.name.clone())))
            .collect();
        if classes.is_empty() {
            return None;
        }
        let is_own = |claim: &&Arc<Claim>| {
            claim
                .metadata
                .annotation(ANNOTATION)
                .is_some_and(|value| value == "true")
                && claim
                    .metadata
                    .controller()
                    .is_some_and(|owner| owner.name == pod.metadata.name && owner.uid == pod.metadata.uid)
        };
        let left_behind = cluster.claims_of_owner(&pod.metadata.uid).find(is_own).cloned();
        Some(Self {
            left_behind,
            wanted,
            classes,
        })
    }

    /// Returns what a node with these `allocatable` amounts leaves to the plugin. Mirrors `filterExtendedResources`.
    pub(super) fn on_node(&self, allocatable: &[(Str, Quantity)]) -> NodeShare {
        let mut devices = Vec::new();
        for name in &self.wanted {
            let own = lookup(allocatable, name);
            if self.classes.contains_key(name) && own.is_none_or(|amount| amount.value() == 0) {
                devices.push(name.clone());
            } else if own.is_none() {
                return NodeShare::Nothing(name.clone());
            }
        }
        NodeShare::Devices(devices)
    }

    /// The claim for those resources that a node leaves to the plugin. Mirrors `createRequestsAndMappings`.
    pub(super) fn claim(&self, pod: &Pod, resources: &[Str]) -> Claim {
        let mut requests = Vec::new();
        for resource in resources {
            if let Some(class) = self.classes.get(resource) {
                requests.extend(requests_for(pod, resource, class));
            }
        }
        requests.sort_by(|a: &Request, b: &Request| a.name.cmp(&b.name));
        let mut claim = Claim {
            metadata: Meta {
                namespace: pod.metadata.namespace.clone(),
                name: IN_MEMORY_CLAIM.into(),
                owner_references: vec![OwnerReference {
                    api_version: "v1".into(),
                    kind: "Pod".into(),
                    name: pod.metadata.name.clone(),
                    uid: pod.metadata.uid.clone(),
                    controller: true,
                }],
                ..Meta::default()
            },
            ..Claim::default()
        };
        claim.spec.devices.requests = requests;
        claim
    }
}

/// Key of the claim in reports.
pub(super) fn in_memory_key(pod: &Pod) -> Key {
    Key::new(pod.metadata.namespace.clone(), IN_MEMORY_CLAIM)
}

/// The requests of one resource. Ordinary init containers run before the others and use again what those get; only the largest of
/// them asks for more.
fn requests_for(pod: &Pod, resource: &Str, class: &Str) -> Vec<Request> {
    let containers: Vec<&Container> = pod
        .spec
        .init_containers
        .iter()
        .chain(&pod.spec.containers)
        .collect();
    let short_lived = |place: usize| place < pod.spec.init_containers.len() && !is_sidecar(containers[place]);
    let amounts: Vec<i64> = containers
        .iter()
        .map(|container| amount(container, resource))
        .collect();
    let mut all = Vec::new();
    let mut largest: Option<(usize, i64)> = None;
    for place in (0..containers.len()).filter(|place| short_lived(*place)) {
        let reusable = (place..containers.len()).filter(|other| !short_lived(*other));
        let reused = reusable.fold(0_i64, |sum, other| sum.saturating_add(amounts[other]));
        let more = amounts[place].saturating_sub(reused);
        if amounts[place] != 0 && more > 0 && largest.is_none_or(|(_, most)| most < more) {
            largest = Some((place, more));
        }
    }
    if let Some((place, count)) = largest {
        all.push(request(containers[place], place, resource, class, count));
    }
    for place in (0..containers.len()).filter(|place| !short_lived(*place)) {
        if amounts[place] != 0 {
            all.push(request(containers[place], place, resource, class, amounts[place]));
        }
    }
    all
}

fn amount(container: &Container, resource: &str) -> i64 {
    // The API server copies limits into absent requests; a manifest that never met it may lack them.
    lookup(&container.resources.requests, resource)
        .or_else(|| lookup(&container.resources.limits, resource))
        .map_or(0, Quantity::value)
}

fn request(container: &Container, place: usize, resource: &Str, class: &Str, count: i64) -> Request {
    let resources = &container.resources;
    let mut names: Vec<&Str> = resources
        .requests
        .iter()
        .chain(&resources.limits)
        .map(|(name, _)| name)
        .collect();
    names.sort();
    names.dedup();
    let index = names
        .iter()
        .position(|name| *name == resource)
        .unwrap_or_default();
    Request {
        name: format!("container-{place}-request-{index}").into(),
        exactly: Some(DeviceRequest {
            device_class_name: class.clone(),
            allocation_mode: AllocationMode::ExactCount,
            count,
            ..DeviceRequest::default()
        }),
        first_available: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::requests::pod_requests;
    use super::*;
    use dra_model::{ClusterBuilder, Environment, Kind, Object, Version};

    fn cluster() -> Cluster {
        cluster_of(Environment::default())
    }

    fn cluster_of(environment: Environment) -> Cluster {
        let mut builder = ClusterBuilder::default();
        for class in [
            r#"{"metadata":{"name":"old","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"extendedResourceName":"x.io/gpu"}}"#,
            r#"{"metadata":{"name":"b","creationTimestamp":"2026-02-01T00:00:00Z"},"spec":{"extendedResourceName":"x.io/gpu"}}"#,
            r#"{"metadata":{"name":"c","creationTimestamp":"2026-02-01T00:00:00Z"},"spec":{"extendedResourceName":"x.io/gpu"}}"#,
        ] {
            builder.add(Object::from_json(Kind::DeviceClass, class.as_bytes()).unwrap());
        }
        builder.build(environment).0
    }

    #[test]
    fn the_newest_class_stands_behind_a_name_that_several_have() {
        let cluster = cluster();
        let class = |name: &str| class_of(&cluster, name).map(|class| class.metadata.name.to_string());
        assert_eq!(class("x.io/gpu").as_deref(), Some("b"));
        assert_eq!(
            class("deviceclass.resource.kubernetes.io/old").as_deref(),
            Some("old")
        );
        assert_eq!(class("x.io/other"), None);
        let named = classes_of_resources(&cluster)
            .remove(&Str::from("x.io/gpu"))
            .unwrap();
        let named: Vec<_> = named.iter().map(|class| class.metadata.name.as_str()).collect();
        assert_eq!(named, ["b", "c", "old"]);
    }

    #[test]
    fn a_class_that_names_a_resource_keeps_its_own_name_or_not() {
        let mut cluster = cluster();
        let class = |cluster: &Cluster, name: &str| class_of(cluster, name).is_some();
        let own = "deviceclass.resource.kubernetes.io/old";
        assert!(class(&cluster, own) && class(&cluster, "x.io/gpu"));
        cluster = cluster_of(Environment {
            version: Version::minor(34),
            ..Environment::default()
        });
        assert!(!class(&cluster, own) && class(&cluster, "x.io/gpu"));
    }

    #[test]
    fn init_containers_use_again_what_later_containers_get() {
        let cluster = cluster();
        let pod: Pod = serde_json::from_str(
            r#"{"metadata":{"namespace":"n","name":"p","uid":"u"},"spec":{
                "initContainers":[
                    {"name":"small","resources":{"requests":{"x.io/gpu":"1"}}},
                    {"name":"large","resources":{"requests":{"cpu":"1","x.io/gpu":"5"}}},
                    {"name":"side","restartPolicy":"Always","resources":{"requests":{"x.io/gpu":"1"}}}],
                "containers":[{"name":"main","resources":{"requests":{"a.io/other":"1","x.io/gpu":"2"}}}]}}"#,
        )
        .unwrap();
        let extended = Extended::of(&cluster, &pod, &pod_requests(&pod)).unwrap();
        let claim = extended.claim(&pod, &["x.io/gpu".into()]);
        let requests: Vec<_> = claim
            .spec
            .devices
            .requests
            .iter()
            .map(|request| (request.name.to_string(), request.exactly.as_ref().unwrap().count))
            .collect();
        let expected = [
            ("container-1-request-1", 2),
            ("container-2-request-0", 1),
            ("container-3-request-1", 2),
        ];
        assert_eq!(requests, expected.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!(extended.on_node(&[]), NodeShare::Nothing("a.io/other".into()));
        let amount = |value: i64| value.to_string().parse::<Quantity>().unwrap();
        let other = ("a.io/other".into(), amount(1));
        assert_eq!(
            extended.on_node(std::slice::from_ref(&other)),
            NodeShare::Devices(vec!["x.io/gpu".into()])
        );
        assert_eq!(
            extended.on_node(&[other, ("x.io/gpu".into(), amount(4))]),
            NodeShare::Devices(vec![])
        );
    }
}
