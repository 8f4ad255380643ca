//! Pods that controllers make of workloads: of Kubernetes' own kinds, and of those of other projects that hold templates of pods.
//!
//! Nothing is known of the kinds of other projects but that they hold templates where Kubernetes' own do, in a field that is called so,
//! and how many pods with the fields that Kubernetes' own have for it. What else a kind of them says is written down here.

use serde_json::{Map, Value};

/// A template of pods in a workload.
#[derive(Debug)]
pub(super) struct Template<'w> {
    /// Path: `spec.jobTemplate.spec.template`.
    pub(super) path: String,
    /// Name that distinguishes its pods from those of the workload's other templates: `worker`.
    pub(super) part: String,
    /// Number of pods of it at a time; nothing where there is one on each node.
    pub(super) pods: Option<u64>,
    /// Metadata and spec of the pods.
    pub(super) template: &'w Value,
}

/// The templates of a workload, in the order of its text; none where the object is no workload.
///
/// # Errors
/// A number of pods is none, or a workload of Kubernetes' own has no template where its kind has it.
pub(super) fn templates<'w>(
    workload: &'w Value,
    group: &str,
    kind: &str,
) -> Result<Vec<Template<'w>>, String> {
    let spec = &workload["spec"];
    let at = Place {
        path: "spec".to_owned(),
        part: String::new(),
        pods: 1,
        group,
    };
    let way = own_template(group, kind);
    if !way.is_empty() {
        let mut template = at.own(spec, way)?;
        if kind == "DaemonSet" {
            template.pods = None;
        }
        return Ok(vec![template]);
    }
    let mut found = Vec::new();
    at.look_into(spec, false, &mut found)?;
    Ok(found)
}

/// The fields on the way from the spec of a workload of Kubernetes' own to the template of its pods; none for other kinds.
fn own_template(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "ReplicationController")
        | ("apps", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet")
        | ("batch", "Job") => &["template"],
        ("batch", "CronJob") => &["jobTemplate", "spec", "template"],
        _ => &[],
    }
}

/// Returns what a value is, for errors.
fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A place in a workload.
struct Place<'g> {
    path: String,
    /// The name of the last part of the workload on the way.
    part: String,
    /// Number of copies.
    pods: u64,
    group: &'g str,
}

impl<'g> Place<'g> {
    /// The field `name` of the object here.
    fn below(&self, name: &str) -> Place<'g> {
        Place {
            path: format!("{}.{name}", self.path),
            part: self.part.clone(),
            ..*self
        }
    }

    /// The template at the end of `way`, which begins in the object here.
    fn own<'w>(self, spec: &'w Value, way: &[&str]) -> Result<Template<'w>, String> {
        let (mut place, mut value) = (self.object_in(spec)?, spec);
        for field in way {
            let pods = place.pods.saturating_mul(place.copies(value)?);
            value = &value[field];
            place = Place {
                pods,
                ..place.below(field).object_in(value)?
            };
        }
        place.below("spec").object_in(&value["spec"])?;
        Ok(Template {
            path: place.path,
            part: String::new(),
            pods: Some(place.pods),
            template: value,
        })
    }

    /// Checks that `value`, which is here, is an object.
    fn object_in(self, value: &Value) -> Result<Self, String> {
        match value {
            Value::Object(_) => Ok(self),
            Value::Null => Err(format!("{}: Required value", self.path)),
            other => Err(format!(
                "{}: must be an object, not {}",
                self.path,
                described(other)
            )),
        }
    }

    fn look_into<'w>(
        &self,
        value: &'w Value,
        is_template: bool,
        found: &mut Vec<Template<'w>>,
    ) -> Result<(), String> {
        match value {
            Value::Object(fields) => self.object(value, fields, is_template, found),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let name = |field: &str| item[field].as_str().map(str::to_owned);
                    let part = name("name").or_else(|| name("groupName"));
                    let inner = Place {
                        path: format!("{}[{index}]", self.path),
                        part: part.unwrap_or_else(|| format!("{}{index}", self.part)),
                        ..*self
                    };
                    inner.look_into(item, is_template, found)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn object<'w>(
        &self,
        value: &'w Value,
        fields: &'w Map<String, Value>,
        is_template: bool,
        found: &mut Vec<Template<'w>>,
    ) -> Result<(), String> {
        let spec = &value["spec"];
        let has_pods = spec["containers"].is_array() || spec["resourceClaims"].is_array();
        if is_template && has_pods {
            found.push(Template {
                path: self.path.clone(),
                part: self.part.clone(),
                pods: Some(self.pods),
                template: value,
            });
            return Ok(());
        }
        let copies = self.copies(value);
        for (name, field) in fields {
            if !(field.is_object() || field.is_array()) {
                continue;
            }
            let is_template = name == "template" || name.ends_with("Template") || name.ends_with("emplates");
            let copies = copies.clone().and_then(|copies| {
                let all = self.pods.saturating_mul(copies);
                Ok(all.saturating_mul(self.of_group(name, value)?))
            });
            let inner = Place {
                part: part(name).unwrap_or_else(|| self.part.clone()),
                pods: copies.as_ref().copied().unwrap_or_default(),
                ..self.below(name)
            };
            let before = found.len();
            inner.look_into(field, is_template, found)?;
            // Where there is no template below, such a field may mean something else.
            if found.len() > before {
                copies?;
            }
        }
        Ok(())
    }

    /// Returns how many there are at a time of what an object with these fields describes.
    fn copies(&self, object: &Value) -> Result<u64, String> {
        let number = |field| self.number(object, field);
        let mut copies = number("replicas")?.unwrap_or(1);
        if self.group == "ray.io" {
            if object.get("replicas").is_none() {
                copies = number("minReplicas")?.unwrap_or(copies);
            }
            copies = copies.saturating_mul(number("numOfHosts")?.unwrap_or(1));
        }
        if let Some(at_once) = number("parallelism")? {
            let all = number("completions")?.unwrap_or(at_once);
            copies = copies.saturating_mul(at_once.min(all));
        }
        Ok(copies)
    }

    /// A LeaderWorkerSet has groups of `size` pods: a leader, of a template of its own or of that of the workers, and the workers.
    fn of_group(&self, template: &str, object: &Value) -> Result<u64, String> {
        if self.group != "leaderworkerset.x-k8s.io" || template != "workerTemplate" {
            return Ok(1);
        }
        let size = self.number(object, "size")?.unwrap_or(1);
        let has_leader = object["leaderTemplate"].is_object();
        Ok(size.saturating_sub(u64::from(has_leader)))
    }

    fn number(&self, object: &Value, field: &str) -> Result<Option<u64>, String> {
        let value = &object[field];
        let path = || self.below(field).path;
        match value.as_u64() {
            None if value.is_null() => Ok(None),
            None if value.is_i64() => Err(format!(
                "{}: Invalid value: {value}: must be greater than or equal to 0",
                path()
            )),
            None => Err(format!(
                "{}: must be an integer, not {}",
                path(),
                described(value)
            )),
            number => Ok(number),
        }
    }
}

/// Returns the name prefix of pods from a template in the field `name`; nothing if the field does not determine it.
fn part(name: &str) -> Option<String> {
    let plain = ["Template", "GroupSpec", "ReplicaSpecs", "Specs", "Spec"]
        .into_iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let says_nothing = matches!(plain, "spec" | "template" | "job" | "rayCluster" | "");
    (!says_nothing).then(|| plain.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod() -> Value {
        json!({"spec": {"containers": [{"name": "main"}]}})
    }

    #[track_caller]
    fn check(group: &str, kind: &str, spec: Value, expected: &[(&str, &str, Option<u64>)]) {
        let workload = json!({"metadata": {"name": "w"}, "replicas": "outside", "spec": spec});
        let found = templates(&workload, group, kind).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|template| (template.path.as_str(), template.part.as_str(), template.pods))
            .collect();
        assert_eq!(found, expected, "{kind}");
    }

    #[test]
    fn kubernetes_own_kinds_say_how_many_pods() {
        let one = |number| [("spec.template", "", Some(number))];
        check("apps", "Deployment", json!({"template": pod()}), &one(1));
        check(
            "apps",
            "StatefulSet",
            json!({"replicas": 3, "template": pod()}),
            &one(3),
        );
        check(
            "apps",
            "ReplicaSet",
            json!({"replicas": 0, "template": pod()}),
            &one(0),
        );
        check(
            "batch",
            "Job",
            json!({"parallelism": 4, "template": pod()}),
            &one(4),
        );
        check(
            "batch",
            "Job",
            json!({"parallelism": 4, "completions": 2, "template": pod()}),
            &one(2),
        );
        check(
            "apps",
            "DaemonSet",
            json!({"template": pod()}),
            &[("spec.template", "", None)],
        );
        check(
            "batch",
            "CronJob",
            json!({"schedule": "@daily", "jobTemplate": {"spec": {"parallelism": 2, "template": pod()}}}),
            &[("spec.jobTemplate.spec.template", "", Some(2))],
        );
        check("", "Service", json!({"ports": []}), &[]);
        check(
            "apps",
            "StatefulSet",
            json!({"template": {"spec": {"template": {"spec": {}}}}, "volumeClaimTemplates": [{"spec": {}}]}),
            &one(1),
        );
    }

    #[test]
    fn kinds_of_other_projects_have_templates_in_several_places() {
        check(
            "kubeflow.org",
            "MPIJob",
            json!({"mpiReplicaSpecs": {"Launcher": {"template": pod()}, "Worker": {"replicas": 4, "template": pod()}}}),
            &[
                ("spec.mpiReplicaSpecs.Launcher.template", "launcher", Some(1)),
                ("spec.mpiReplicaSpecs.Worker.template", "worker", Some(4)),
            ],
        );
        check(
            "jobset.x-k8s.io",
            "JobSet",
            json!({"replicatedJobs": [
                {"name": "driver", "template": {"spec": {"template": pod()}}},
                {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 3, "completions": 3, "template": pod()}}}]}),
            &[
                ("spec.replicatedJobs[0].template.spec.template", "driver", Some(1)),
                (
                    "spec.replicatedJobs[1].template.spec.template",
                    "workers",
                    Some(6),
                ),
            ],
        );
        check(
            "ray.io",
            "RayCluster",
            json!({"headGroupSpec": {"template": pod()}, "workerGroupSpecs": [
                {"groupName": "small", "replicas": 2, "minReplicas": 1, "template": pod()},
                {"groupName": "large", "minReplicas": 1, "numOfHosts": 4, "template": pod()}]}),
            &[
                ("spec.headGroupSpec.template", "head", Some(1)),
                ("spec.workerGroupSpecs[0].template", "small", Some(2)),
                ("spec.workerGroupSpecs[1].template", "large", Some(4)),
            ],
        );
        check(
            "leaderworkerset.x-k8s.io",
            "LeaderWorkerSet",
            json!({"replicas": 2, "leaderWorkerTemplate": {"size": 4, "leaderTemplate": pod(), "workerTemplate": pod()}}),
            &[
                ("spec.leaderWorkerTemplate.leaderTemplate", "leader", Some(2)),
                ("spec.leaderWorkerTemplate.workerTemplate", "worker", Some(6)),
            ],
        );
        check(
            "leaderworkerset.x-k8s.io",
            "LeaderWorkerSet",
            json!({"leaderWorkerTemplate": {"size": 4, "workerTemplate": pod()}}),
            &[("spec.leaderWorkerTemplate.workerTemplate", "worker", Some(4))],
        );
    }

    #[track_caller]
    fn refused(group: &str, kind: &str, workload: &Value, expected: &str) {
        let error = templates(workload, group, kind).unwrap_err();
        assert_eq!(error, expected, "{kind}: {workload}");
    }

    #[test]
    fn a_number_of_pods_that_is_none_is_refused() {
        for (value, why) in [
            (json!(-1), "Invalid value: -1: must be greater than or equal to 0"),
            (json!(1.5), "must be an integer, not a number with a fraction"),
            (json!("100"), "must be an integer, not a string"),
            (json!([100]), "must be an integer, not a list"),
            (json!({}), "must be an integer, not an object"),
            (json!(true), "must be an integer, not true or false"),
        ] {
            for (group, kind, field) in [
                ("apps", "Deployment", "replicas"),
                ("apps", "StatefulSet", "replicas"),
                ("batch", "Job", "parallelism"),
                ("example.com", "Group", "replicas"),
            ] {
                let workload = json!({"spec": {field: value, "template": pod()}});
                refused(group, kind, &workload, &format!("spec.{field}: {why}"));
            }
            let job = json!({"spec": {"jobTemplate": {"spec": {"parallelism": 2, "completions": value, "template": pod()}}}});
            refused(
                "batch",
                "CronJob",
                &job,
                &format!("spec.jobTemplate.spec.completions: {why}"),
            );
            // What has no pods may call something else so.
            check(
                "example.com",
                "Other",
                json!({"replicas": value, "template": {}}),
                &[],
            );
        }
        check(
            "apps",
            "Deployment",
            json!({"replicas": null, "template": pod()}),
            &[("spec.template", "", Some(1))],
        );
    }

    #[test]
    fn a_workload_of_kubernetes_own_without_its_template_is_refused() {
        let ways: [(&str, &str, &[&str]); 7] = [
            ("", "ReplicationController", &["spec", "template", "spec"]),
            ("apps", "DaemonSet", &["spec", "template", "spec"]),
            ("apps", "Deployment", &["spec", "template", "spec"]),
            ("apps", "ReplicaSet", &["spec", "template", "spec"]),
            ("apps", "StatefulSet", &["spec", "template", "spec"]),
            ("batch", "Job", &["spec", "template", "spec"]),
            (
                "batch",
                "CronJob",
                &["spec", "jobTemplate", "spec", "template", "spec"],
            ),
        ];
        for (group, kind, way) in ways {
            for depth in 1..=way.len() {
                let path = way[..depth].join(".");
                for (value, why) in [
                    (None, "Required value"),
                    (Some(json!(null)), "Required value"),
                    (Some(json!([])), "must be an object, not a list"),
                    (Some(json!([{}])), "must be an object, not a list"),
                    (Some(json!("x")), "must be an object, not a string"),
                    (Some(json!(5)), "must be an object, not a number"),
                ] {
                    let mut workload = json!({});
                    let mut place = &mut workload;
                    for field in &way[..depth - 1] {
                        place[field] = json!({});
                        place = &mut place[field];
                    }
                    if let Some(value) = value {
                        place[way[depth - 1]] = value;
                    }
                    refused(group, kind, &workload, &format!("{path}: {why}"));
                }
            }
        }
    }
}
