//! Manifests to judge: what `-f` names. Objects as a user writes them, before the API server has put in its defaults.
//!
//! Workloads become the pods that their controllers would make, so that the rest only knows pods.

use serde_json::{Value, json};

use super::decode::{Decoder, group_version};
use super::files::{Found, RawItem, ReadOptions, Source, read};
use super::load::LoadError;
use super::needs::Problem;
use crate::model::{Kind, Object, uid_of_manifest};

/// What a manifest says.
#[derive(Debug, Default)]
pub struct Manifests {
    /// Its objects, in their order, with the pods of its workloads in their place.
    pub objects: Vec<Object>,
    /// What is left out.
    pub warnings: Vec<String>,
}

/// Most pods that one workload becomes: a typing error should not take all memory.
const MOST_REPLICAS: u64 = 10_000;

/// Reads the files `names`. Objects that say no namespace are put into `namespace`.
///
/// # Errors
/// When a file cannot be read to its end or an object in it is malformed.
pub fn manifests(names: &[String], namespace: &str) -> Result<Manifests, LoadError> {
    let sources: Vec<Source> = names
        .iter()
        .map(|name| Source::from_argument(name.as_ref()))
        .collect();
    let mut found = Manifests::default();
    let mut decoder = Decoder::default();
    read(&sources, &ReadOptions::default(), |one| match one {
        Found::Item(item) => found.item(&item, namespace, &mut decoder),
        Found::List { .. } => Ok(()),
        Found::Problem(problem) => Err(LoadError::Strict(problem.into())),
    })?;
    Ok(found)
}

impl Manifests {
    fn item(&mut self, item: &RawItem<'_>, namespace: &str, decoder: &mut Decoder) -> Result<(), LoadError> {
        let malformed = |why: String| LoadError::Strict(Problem::from(item.problem(why)));
        let (Some(api_version), Some(name)) = (item.api_version, item.kind) else {
            return Err(malformed("has no `apiVersion` and `kind`".to_owned()));
        };
        let mut object: Value = serde_json::from_slice(item.json)
            .map_err(|error| LoadError::Strict(Problem::from(item.decode_problem(&error))))?;
        let (group, version) = group_version(api_version);
        if let Some(kind) = Kind::find(group, name) {
            identify(&mut object, kind.is_namespaced().then_some(namespace), name);
            let json = object.to_string();
            let decoded = decoder.decode(kind, group, version, json.as_bytes());
            self.objects
                .push(decoded.map_err(|error| malformed(error.to_string()))?);
            return Ok(());
        }
        let Some(pods) = pods(&object, group, name, namespace) else {
            self.warnings
                .push(format!("{}: {name} of {api_version} is left out", item.origin));
            return Ok(());
        };
        if pods.is_empty() {
            self.warnings.push(format!("{}: {name} has no pods", item.origin));
        }
        for pod in pods {
            let decoded = decoder.decode(Kind::Pod, "", "v1", pod.to_string().as_bytes());
            self.objects
                .push(decoded.map_err(|error| malformed(error.to_string()))?);
        }
        Ok(())
    }
}

/// Gives an object what the API server would give it and the rules rely on: a namespace, a name, a UID.
fn identify(object: &mut Value, namespace: Option<&str>, kind: &str) {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    let metadata = &mut object["metadata"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if let Some(namespace) = namespace
        && text(&metadata["namespace"]).is_none()
    {
        metadata["namespace"] = json!(namespace);
    }
    if text(&metadata["name"]).is_none()
        && let Some(prefix) = text(&metadata["generateName"])
    {
        metadata["name"] = json!(format!("{prefix}0"));
    }
    if text(&metadata["uid"]).is_none() {
        let part = |name: &str| text(&metadata[name]).unwrap_or_default();
        let uid = uid_of_manifest(&format!("{kind}/{}/{}", part("namespace"), part("name")));
        metadata["uid"] = json!(uid);
    }
}

/// The pods of a workload; nothing for other kinds.
fn pods(workload: &Value, group: &str, kind: &str, namespace: &str) -> Option<Vec<Value>> {
    let spec = &workload["spec"];
    let number = |field: &str| spec[field].as_u64();
    let (replicas, first) = match (group, kind) {
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") | ("", "ReplicationController") => {
            (number("replicas").unwrap_or(1), 0)
        }
        ("batch", "Job") => {
            let at_once = number("parallelism").unwrap_or(1);
            (number("completions").map_or(at_once, |all| at_once.min(all)), 0)
        }
        _ => return None,
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let name = text(&workload["metadata"]["name"]).unwrap_or_default();
    let namespace = text(&workload["metadata"]["namespace"]).unwrap_or_else(|| namespace.to_owned());
    let template = &spec["template"];
    let pod = |number: u64| {
        let mut pod = template.clone();
        pod["apiVersion"] = json!("v1");
        pod["kind"] = json!("Pod");
        if !pod["metadata"].is_object() {
            pod["metadata"] = json!({});
        }
        pod["metadata"]["name"] = json!(format!("{name}-{}", number + first));
        pod["metadata"]["namespace"] = json!(namespace);
        identify(&mut pod, Some(&namespace), "Pod");
        pod
    };
    Some((0..replicas.min(MOST_REPLICAS)).map(pod).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_become_their_pods() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.yaml");
        std::fs::write(
            &file,
            r"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template: {metadata: {labels: {a: b}}, spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: t}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: sweep, namespace: batch}
spec: {parallelism: 5, completions: 1, template: {spec: {}}}
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {generateName: tool-}
spec: {devices: {requests: [{name: r, deviceClassName: gpu}]}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
",
        )
        .unwrap();
        let found = manifests(&[file.display().to_string()], "team").unwrap();
        let names: Vec<_> = found
            .objects
            .iter()
            .map(|object| format!("{} {}", object.kind(), object.metadata().key()))
            .collect();
        assert_eq!(
            names,
            [
                "Pod team/web-0",
                "Pod team/web-1",
                "Pod batch/sweep-0",
                "ResourceClaim team/tool-0"
            ]
        );
        assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
        let [.., Object::ResourceClaim(claim)] = found.objects.as_slice() else {
            panic!("{:?}", found.objects);
        };
        let exactly = claim.spec.devices.requests[0].exactly.as_ref().unwrap();
        assert_eq!(exactly.device_class_name, "gpu");
    }
}
