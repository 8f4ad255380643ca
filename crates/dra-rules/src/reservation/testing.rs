//! Objects for the tests of the rules, written as JSON.

use std::sync::Arc;

use dra_model::{Claim, Cluster, ClusterBuilder, Environment, Kind, Object, Pod, PodGroup};

pub(crate) fn pod(json: &str) -> Arc<Pod> {
    match Object::from_json(Kind::Pod, json.as_bytes()).unwrap() {
        Object::Pod(pod) => pod,
        _ => unreachable!(),
    }
}

pub(crate) fn group(json: &str) -> Arc<PodGroup> {
    match Object::from_json(Kind::PodGroup, json.as_bytes()).unwrap() {
        Object::PodGroup(group) => group,
        _ => unreachable!(),
    }
}

pub(crate) fn claim(json: &str) -> Arc<Claim> {
    match Object::from_json(Kind::ResourceClaim, json.as_bytes()).unwrap() {
        Object::ResourceClaim(claim) => claim,
        _ => unreachable!(),
    }
}

pub(crate) fn cluster(objects: impl IntoIterator<Item = Object>, environment: Environment) -> Cluster {
    let mut builder = ClusterBuilder::default();
    for object in objects {
        builder.add(object);
    }
    builder.build(environment).0
}
