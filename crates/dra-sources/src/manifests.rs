//! Manifests to judge: what `-f` names. Objects as a user writes them, before the API server has put in its defaults.
//!
//! What the API server would refuse is refused here too, since an answer about it would be true of nothing. Workloads become the pods that
//! their controllers would make, so that the rest only knows pods.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::decode::{Decoder, group_version, object_name};
use super::files::{Found, RawItem, ReadError, ReadOptions, Source, read};
use super::gone;
use super::load::{LoadError, Refused};
use super::needs::Problem;
use super::upgrade::{UpgradeError, upgrade};
use super::workloads::{Template, templates};
use dra_model::{
    Kind, Looking, Meta, Object, OwnerReference, Pod, Str, Strategy, check_fields, json, uid_of_manifest,
};

/// Content of a manifest.
#[derive(Debug, Default)]
pub struct Manifests {
    /// Its objects, in their order, with the pods of its workloads in their place.
    pub objects: Vec<Object>,
    /// Pods of DaemonSets, one on each matching node.
    pub daemons: Vec<Daemon>,
    /// Its workloads.
    pub workloads: Vec<Workload>,
    /// Objects that are not in the best version of their kind.
    pub old: Vec<Old>,
    /// Ignored objects.
    pub warnings: Vec<String>,
}

/// An object of a manifest in a version that is not the best one of its kind.
#[derive(Debug)]
pub struct Old {
    /// Its place and name, for people.
    pub place: String,
    /// Its kind.
    pub kind: Kind,
    /// Its version.
    pub version: String,
}

/// A workload of a manifest.
#[derive(Debug)]
pub struct Workload {
    /// Its namespace.
    pub namespace: Str,
    /// Reference to it in its pods.
    pub reference: OwnerReference,
    /// What becomes of the pods that it has already.
    pub old_pods: OldPods,
}

/// What becomes of the pods that a workload has already once it makes others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldPods {
    /// They end first.
    End,
    /// They stay until the new ones are ready, as those of a rollout that may have more pods than it wants.
    UntilReady,
    /// They run beside the new ones, as those of an earlier run.
    Stay,
}

impl OldPods {
    /// Mirrors `cronjob/cronjob_controllerv2.go`, `syncCronJob`, v1.37.2. A Rollout of Argo keeps its old pods with each of its strategies.
    fn of(group: &str, kind: &str, spec: &Value) -> Self {
        match (group, kind) {
            ("apps", "Deployment") if surges(spec) => Self::UntilReady,
            ("argoproj.io", "Rollout") => Self::UntilReady,
            // With `Forbid` the earlier run ends before the next one starts.
            ("batch", "CronJob") => match spec["concurrencyPolicy"].as_str() {
                Some("Forbid" | "Replace") => Self::End,
                _ => Self::Stay,
            },
            _ => Self::End,
        }
    }
}

/// A pod of a DaemonSet.
#[derive(Debug)]
pub struct Daemon {
    /// The pod as the template has it, with the name of the DaemonSet.
    pub pod: Arc<Pod>,
    /// Maximum number of copies to simulate together.
    pub most: u64,
}

/// Says what the API server would refuse in an object, which is written in the best version of its kind: one line for
/// each violation, and how many more there are. Of a template of pods it gets the path, which is empty for a single
/// object.
pub type Validate<'v> = &'v dyn Fn(Kind, &Value, &str) -> (Vec<String>, usize);

/// Most pods that the workloads of a command become: each is judged on every node after all those before it.
pub const MOST_PODS: u64 = 1_000;

/// Most memory that the pods of one template take, in bytes.
const MOST_MEMORY: u64 = 64 << 20;

/// Reads the files `names`. Objects that say no namespace are put into `namespace`.
///
/// # Errors
/// When a file cannot be read to its end, or the API server would refuse an object in it.
pub fn manifests(names: &[String], namespace: &str, validate: Validate<'_>) -> Result<Manifests, LoadError> {
    let sources: Vec<Source> = names
        .iter()
        .map(|name| Source::from_argument(name.as_ref()))
        .collect();
    let mut reading = Reading {
        found: Manifests::default(),
        decoder: Decoder::default(),
        refused: Refused::manifests(),
        pods: 0,
        seen: HashSet::new(),
        generated: 0,
        too_many: None,
        namespace,
        validate,
    };
    let read = read(&sources, &ReadOptions::default(), |one| {
        match one {
            Found::Item(item) => reading.item(&item),
            Found::List { .. } => {}
            Found::Problem { problem, .. } => reading.refused.add(problem),
        }
        Ok::<(), LoadError>(())
    });
    match read {
        // Why there is nothing says more than that there is nothing.
        Err(LoadError::Read(ReadError::NoObjects { .. })) if !reading.refused.is_empty() => {}
        read => drop(read?),
    }
    match reading.too_many {
        _ if !reading.refused.is_empty() => {
            Err(LoadError::Refused(reading.refused.beside(reading.found.warnings)))
        }
        Some(problem) => Err(LoadError::TooManyPods(problem)),
        None => Ok(reading.found),
    }
}

/// Manifests while they are read.
struct Reading<'r> {
    found: Manifests,
    decoder: Decoder,
    refused: Refused,
    /// Pods of workloads so far.
    pods: u64,
    /// Kinds and names of its objects.
    seen: HashSet<String>,
    /// Number of names that were generated.
    generated: usize,
    /// A workload with more than can be judged.
    too_many: Option<Problem>,
    namespace: &'r str,
    validate: Validate<'r>,
}

impl Reading<'_> {
    fn item(&mut self, item: &RawItem<'_>) {
        let (Some(api_version), Some(name)) = (item.api_version.as_deref(), item.kind.as_deref()) else {
            return self.refuse(item, "has no `apiVersion` and `kind`");
        };
        let mut object: Value = match json::from_slice(&item.json) {
            Ok(object) => object,
            Err(error) => return self.refused.add(item.decode_problem(&error)),
        };
        let (group, version) = group_version(api_version);
        match Kind::find(group, name) {
            Some(kind) => {
                let namespace = kind.is_namespaced().then_some(self.namespace);
                self.identify(&mut object, namespace, name);
                if self.is_first(item, &object["metadata"], group, name) {
                    self.object(item, kind, (group, version), object);
                }
            }
            None => self.workload(item, &object, group, name),
        }
    }

    fn refuse(&mut self, item: &RawItem<'_>, why: impl Into<String>) {
        self.refused.add(item.problem(why));
    }

    fn object(&mut self, item: &RawItem<'_>, kind: Kind, (group, version): (&str, &str), mut object: Value) {
        if !self.is_valid(item, kind, (group, version), &object.to_string(), "") {
            return;
        }
        // What was read from a server has the consumers of a claim and the state of a pod, which a new object does not
        // have.
        if matches!(kind, Kind::Pod | Kind::ResourceClaim)
            && let Some(fields) = object.as_object_mut()
        {
            fields.remove("status");
        }
        let json = object.to_string();
        match self.decoder.decode(kind, group, version, json.as_bytes()) {
            Ok(decoded) => {
                if version != kind.versions()[0] {
                    self.found.old.push(Old {
                        place: format!(
                            "{}: {}",
                            item.origin,
                            object_name(kind, &decoded.metadata().key())
                        ),
                        kind,
                        version: version.to_owned(),
                    });
                }
                self.found.objects.push(decoded);
            }
            Err(error) => self.refused.add(item.undecoded(&error)),
        }
    }

    /// Returns whether the API server would take an object, or pods of the template at the path `within`.
    fn is_valid(
        &mut self,
        item: &RawItem<'_>,
        kind: Kind,
        (group, version): (&str, &str),
        json: &str,
        within: &str,
    ) -> bool {
        let upgraded = match upgrade(kind, group, version, json.as_bytes()) {
            // The fields of a version that is not served are of no interest.
            Err(error @ UpgradeError::UnknownVersion { .. }) => {
                self.refused.add(item.undecoded(&error));
                return false;
            }
            upgraded => upgraded,
        };
        let faults = check_fields(kind, version, json.as_bytes(), Looking::ForAll);
        let mut violations: Vec<String> = Vec::new();
        for mut fault in faults.list {
            let successor = gone::field(kind, &fault);
            if !within.is_empty() {
                fault.path = format!("{within}.{}", fault.path);
            }
            violations.push(match successor {
                Some(successor) => format!("{fault}: {successor}"),
                None => fault.to_string(),
            });
        }
        if violations.is_empty() {
            match upgraded {
                Ok(upgraded) => {
                    if let Ok(object) = json::from_slice(&upgraded) {
                        let more;
                        (violations, more) = (self.validate)(kind, &object, within);
                        self.refused.add_more(more);
                    }
                }
                Err(error) => {
                    self.refused.add(item.undecoded(&error));
                    return false;
                }
            }
        }
        let is_valid = violations.is_empty();
        for violation in violations {
            self.refuse(item, violation);
        }
        self.refused.add_more(faults.more);
        is_valid
    }

    /// Returns whether an object is the first of its name. The API server makes one of both, and nothing says which.
    fn is_first(&mut self, item: &RawItem<'_>, metadata: &Value, group: &str, kind: &str) -> bool {
        let part = |field: &str| metadata[field].as_str().unwrap_or_default();
        let is_first = self
            .seen
            .insert(format!("{group}/{kind}/{}/{}", part("namespace"), part("name")));
        if !is_first {
            self.refuse(item, "appears more than once");
        }
        is_first
    }

    /// Gives an object what the API server would give it and the rules rely on: a namespace, a name, a UID.
    fn identify(&mut self, object: &mut Value, namespace: Option<&str>, kind: &str) {
        if !object["metadata"].is_object() {
            object["metadata"] = json!({});
        }
        let metadata = &mut object["metadata"];
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        // What is no text stays, and is refused.
        if let Some(namespace) = namespace
            && matches!(&metadata["namespace"], Value::Null | Value::String(_))
            && text(&metadata["namespace"]).is_none()
        {
            metadata["namespace"] = json!(namespace);
        }
        if text(&metadata["name"]).is_none()
            && let Some(prefix) = text(&metadata["generateName"])
        {
            metadata["name"] = json!(format!("{prefix}{}", generated(self.generated)));
            self.generated += 1;
        }
        // A manifest that was read from a server has the UID of another object: what is created gets one of its own.
        let part = |name: &str| text(&metadata[name]).unwrap_or_default();
        let uid = uid_of_manifest(&format!("{kind}/{}/{}", part("namespace"), part("name")));
        metadata["uid"] = json!(uid);
        if let Some(fields) = metadata.as_object_mut() {
            fields.remove("deletionTimestamp");
        }
    }

    /// Puts the pods of a workload among the objects.
    fn workload(&mut self, item: &RawItem<'_>, workload: &Value, group: &str, kind: &str) {
        if let Some(successor) = gone::kind(group, kind) {
            return self.refuse(item, format!("{kind} {successor}"));
        }
        let templates = match templates(workload, group, kind) {
            Ok(templates) => templates,
            Err(why) => return self.refuse(item, why),
        };
        if templates.is_empty() {
            let version = item.api_version.as_deref().unwrap_or_default();
            let warning = format!("{}: ignoring {kind} of {version}", item.origin);
            return self.found.warnings.push(warning);
        }
        let mut identified = json!({"metadata": workload["metadata"]});
        self.identify(&mut identified, Some(self.namespace), kind);
        let text = |field: &str| {
            identified["metadata"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let (name, namespace) = (text("name"), text("namespace"));
        if namespace.is_empty() {
            return self.refuse(item, "metadata.namespace: must be a string");
        }
        if name.is_empty() {
            return self.refuse(
                item,
                "metadata.name: Required value: name or generateName is required",
            );
        }
        if !self.is_first(item, &identified["metadata"], group, kind) {
            return;
        }
        let reference = OwnerReference {
            api_version: item.api_version.as_deref().unwrap_or_default().into(),
            kind: kind.into(),
            name: name.as_str().into(),
            uid: text("uid").into(),
            controller: true,
        };
        let before = self.found.objects.len() + self.found.daemons.len();
        let is_one = templates.len() == 1;
        for template in &templates {
            let prefix = if is_one {
                name.clone()
            } else {
                format!("{name}-{}", template.part)
            };
            self.pods_of(item, template, &prefix, (&namespace, &reference));
        }
        self.found.workloads.push(Workload {
            namespace: namespace.into(),
            old_pods: OldPods::of(group, kind, &workload["spec"]),
            reference,
        });
        if before == self.found.objects.len() + self.found.daemons.len() && self.refused.is_empty() {
            self.found
                .warnings
                .push(format!("{}: {kind} has no pods", item.origin));
        }
    }

    fn pods_of(
        &mut self,
        item: &RawItem<'_>,
        template: &Template<'_>,
        prefix: &str,
        (namespace, owner): (&str, &OwnerReference),
    ) {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": template.template["metadata"],
            "spec": template.template["spec"]});
        if !self.is_valid(item, Kind::Pod, ("", "v1"), &pod.to_string(), &template.path) {
            return;
        }
        if !pod["metadata"].is_object() {
            pod["metadata"] = json!({});
        }
        pod["metadata"]["name"] = json!(prefix);
        pod["metadata"]["namespace"] = json!(namespace);
        self.decoder.take_weight();
        let pod = match self
            .decoder
            .decode(Kind::Pod, "", "v1", pod.to_string().as_bytes())
        {
            Ok(Object::Pod(pod)) => {
                let mut pod = Pod::clone(&pod);
                pod.metadata.owner_references = vec![owner.clone()];
                Arc::new(pod)
            }
            Ok(_) => return,
            Err(error) => return self.refused.add(item.undecoded(&error)),
        };
        let most = (MOST_MEMORY / self.decoder.take_weight().max(1)).clamp(1, MOST_PODS);
        let Some(pods) = template.pods else {
            return self.found.daemons.push(Daemon { pod, most });
        };
        self.pods = self.pods.saturating_add(pods);
        if self.pods > MOST_PODS || pods > most {
            let path = &template.path;
            let why = format!("{path}: cannot simulate {pods} pods in one run");
            self.too_many.get_or_insert_with(|| item.problem(why));
            return;
        }
        for number in 0..pods {
            let name = format!("{prefix}-{number}");
            let pod = Pod {
                metadata: Meta {
                    uid: uid_of_manifest(&format!("Pod/{namespace}/{name}")).into(),
                    name: name.into(),
                    ..pod.metadata.clone()
                },
                ..Pod::clone(&pod)
            };
            self.found.objects.push(Object::Pod(Arc::new(pod)));
        }
    }
}

/// Returns whether a rollout of a Deployment with this spec may make a new pod before it ends an old one.
fn surges(spec: &Value) -> bool {
    let strategy = Strategy::of(&spec["strategy"], spec["replicas"].as_i64());
    matches!(strategy, Strategy::RollingUpdate { surge: 1.., .. })
}

/// The end of a name that the API server would generate. It has the letters and the length of the server's, so that hardly any object has
/// such a name: one that is created with `generateName` never replaces another.
fn generated(number: usize) -> String {
    const LETTERS: &[u8; 27] = b"xzbcdfghjklmnpqrstvw2456789";
    let letter = |place: u32| char::from(LETTERS[number / LETTERS.len().pow(place) % LETTERS.len()]);
    (0..5).rev().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_not_served_is_refused_whatever_its_fields() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("claim.yaml");
        let claim = r"
apiVersion: resource.k8s.io/v1alpha3
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [{name: r, deviceClassName: gpu}]}}
";
        std::fs::write(&file, claim).unwrap();
        let found = manifests(&[file.display().to_string()], "team", &|_, _, _| (Vec::new(), 0));
        let error = found.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("unsupported version `v1alpha3`"), "{error}");
        assert!(!error.contains("unknown field"), "{error}");
    }

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
        let found = manifests(&[file.display().to_string()], "team", &|_, _, _| (Vec::new(), 0)).unwrap();
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
                "ResourceClaim team/tool-xxxxx"
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
