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
/// A number of pods is none.
pub(super) fn templates<'w>(
    workload: &'w Value,
    group: &str,
    kind: &str,
) -> Result<Vec<Template<'w>>, String> {
    let mut found = Vec::new();
    let at = Place {
        path: "spec".to_owned(),
        part: String::new(),
        pods: 1,
        group,
    };
    at.look_into(&workload["spec"], false, &mut found)?;
    if group == "apps" && kind == "DaemonSet" {
        for template in &mut found {
            template.pods = None;
        }
    }
    Ok(found)
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

impl Place<'_> {
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

    /// Returns whether the workload is of Kubernetes' own, in which templates hold pods, or other templates of Kubernetes' own.
    fn is_own(&self) -> bool {
        matches!(self.group, "" | "apps" | "batch")
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
        if is_template && (has_pods || (self.is_own() && spec.is_object() && spec.get("template").is_none()))
        {
            found.push(Template {
                path: self.path.clone(),
                part: self.part.clone(),
                pods: Some(self.pods),
                template: value,
            });
            return Ok(());
        }
        let copies = self.pods.saturating_mul(self.copies(fields)?);
        for (name, field) in fields {
            if !(field.is_object() || field.is_array()) {
                continue;
            }
            let is_template = name == "template"
                || (!self.is_own() && (name.ends_with("Template") || name.ends_with("emplates")));
            let inner = Place {
                path: format!("{}.{name}", self.path),
                part: part(name).unwrap_or_else(|| self.part.clone()),
                pods: copies.saturating_mul(self.of_group(name, fields)?),
                ..*self
            };
            inner.look_into(field, is_template, found)?;
        }
        Ok(())
    }

    /// Returns how many there are at a time of what an object with these fields describes.
    fn copies(&self, fields: &Map<String, Value>) -> Result<u64, String> {
        let number = |field| self.number(fields, field);
        let mut copies = number("replicas")?.unwrap_or(1);
        if self.group == "ray.io" {
            if !fields.contains_key("replicas") {
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
    fn of_group(&self, template: &str, fields: &Map<String, Value>) -> Result<u64, String> {
        if self.group != "leaderworkerset.x-k8s.io" || template != "workerTemplate" {
            return Ok(1);
        }
        let size = self.number(fields, "size")?.unwrap_or(1);
        let has_leader = fields.get("leaderTemplate").is_some_and(Value::is_object);
        Ok(size.saturating_sub(u64::from(has_leader)))
    }

    fn number(&self, fields: &Map<String, Value>, field: &str) -> Result<Option<u64>, String> {
        match fields.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                // Elsewhere such a field may mean something else.
                None if value.is_number() => Err(format!(
                    "{}.{field}: Invalid value: {value}: must be greater than or equal to 0",
                    self.path
                )),
                None => Ok(None),
            },
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
        let workload = json!({"metadata": {"name": "w"}, "spec": spec});
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
            json!({"template": {"spec": {}}, "volumeClaimTemplates": [{"spec": {}}]}),
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

    #[test]
    fn a_number_of_pods_that_is_none_is_refused() {
        let workload = json!({"spec": {"replicas": -1, "template": pod()}});
        let error = templates(&workload, "apps", "Deployment").unwrap_err();
        assert_eq!(
            error,
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        );
    }
}
