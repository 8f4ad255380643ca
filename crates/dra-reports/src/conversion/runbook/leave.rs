//! Steps 5 to 9: what older components cannot read is deleted, gates are turned off, components are replaced, and the result is verified.

use std::collections::BTreeMap;

use super::{Book, Commands, ComponentChange, Step};
use crate::conversion::groups::{Decision, GroupPlan};
use crate::conversion::words::{self, Undoing};
use crate::script::{Command, NoCommand, Resource, Script, patch};
use dra_model::{Component, Gate, Kind, Meta, NO_EFFECT, Str};
use dra_rules::reservation::conversion::{Action, Target};

impl Book<'_> {
    /// Objects of `kind` in the namespaces that are looked at, by namespace.
    fn by_namespace<'m>(&self, objects: impl Iterator<Item = &'m Meta>) -> BTreeMap<Str, Vec<&'m Meta>> {
        let mut found: BTreeMap<Str, Vec<&Meta>> = BTreeMap::new();
        for metadata in objects {
            if self.scope.includes(&metadata.namespace) {
                found
                    .entry(metadata.namespace.clone())
                    .or_default()
                    .push(metadata);
            }
        }
        found
    }

    /// What could not be read of `kinds`.
    fn hidden(&self, kinds: &[Kind]) -> Vec<String> {
        let namespace = self.scope.namespace.as_deref().unwrap_or_default();
        kinds
            .iter()
            .filter_map(|kind| self.cluster.gap(*kind, namespace))
            .map(words::look_up)
            .collect()
    }

    /// 5: objects that an older server cannot read.
    pub(super) fn delete_groups(&self) -> Vec<Step> {
        let groups = self.by_namespace(self.cluster.pod_groups().map(|group| &group.metadata));
        let workloads = self.by_namespace(self.cluster.workloads().map(|workload| &workload.metadata));
        let mut manual = self.hidden(&[Kind::PodGroup, Kind::Workload]);
        for group in groups.values().flatten() {
            if let Some(owner) = group.controller().filter(|owner| owner.kind != "Workload") {
                manual.push(words::pause_owner(group, owner));
            }
        }
        manual.push(words::DELETE_COMPOSITES.to_owned());
        let delete = |kind: Kind, namespace: &Str, objects: &[&Meta]| {
            Command::kubectl("delete")
                .objects(
                    Resource::full(kind),
                    objects.iter().map(|metadata| &metadata.name),
                )
                .namespace(namespace)
                .args(&["--ignore-not-found", "--wait=false"])
                .done()
        };
        let mut commands = Commands::default();
        let everything = match (groups.is_empty(), workloads.is_empty()) {
            (false, false) => Some("podgroups.scheduling.k8s.io,workloads.scheduling.k8s.io"),
            (false, true) => Some("podgroups.scheduling.k8s.io"),
            (true, false) => Some("workloads.scheduling.k8s.io"),
            (true, true) => None,
        };
        if let Some(everything) = everything {
            let save = Command::kubectl("get").args(&[everything, "-A", "-o", "yaml"]);
            commands.push(save.saved_as("groups-before-downgrade.yaml").done());
        }
        for (kind, objects) in [(Kind::Workload, &workloads), (Kind::PodGroup, &groups)] {
            for (namespace, objects) in objects {
                commands.push(delete(kind, namespace, objects));
            }
        }
        let known = self.hidden(&[Kind::PodGroup, Kind::Workload]).is_empty();
        let step = Step {
            summary: words::delete_groups(
                groups.values().map(Vec::len).sum(),
                workloads.values().map(Vec::len).sum(),
            ),
            manual,
            done: commands.is_empty() && known,
            ..Step::new(5, words::DELETE_GROUPS, words::WHY_DELETE_GROUPS)
        };
        let mut steps = vec![step.run(commands)];
        let finalizers: Commands = groups
            .iter()
            .flat_map(|(namespace, groups)| groups.iter().map(move |group| (namespace, *group)))
            .filter(|(namespace, group)| self.runs_on(namespace, &group.name))
            .filter_map(|(namespace, group)| strip_finalizer(namespace, group))
            .collect();
        if !finalizers.is_empty() {
            let step = Step {
                summary: words::drop_finalizers(finalizers.len()),
                manual: vec![words::DROP_AFTER_VERIFY.to_owned()],
                // A group whose pods have finished meanwhile is gone already.
                accepted_exit_codes: vec![1],
                confirm: true,
                ..Step::new(5, words::DROP_FINALIZER, words::WHY_DROP_FINALIZER)
            };
            steps.push(step.run(finalizers));
        }
        steps
    }

    /// Whether the group's pods keep running while it is deleted.
    fn runs_on(&self, namespace: &Str, name: &Str) -> bool {
        self.groups
            .iter()
            .filter(|group| group.namespace == *namespace && group.name == *name)
            .any(|group| group.decision != Decision::Drain && !group.pods.is_empty())
    }

    /// 6: rules that an older server does not serve, or cannot read.
    pub(super) fn delete_rules(&self) -> Step {
        let rules: Vec<_> = self.cluster.rules().collect();
        let mut manual = self.hidden(&[Kind::DeviceTaintRule]);
        let known = manual.is_empty();
        for rule in &rules {
            let taint = &rule.spec.taint;
            if taint.effect != NO_EFFECT {
                manual.push(words::not_enforced(&rule.metadata.name, taint));
            }
        }
        let names: Vec<_> = rules.iter().map(|rule| &rule.metadata.name).collect();
        let mut commands = Commands::default();
        if !names.is_empty() {
            let save = Command::kubectl("get").args(&["devicetaintrules.resource.k8s.io", "-o", "yaml"]);
            commands.push(save.saved_as("devicetaintrules-before-downgrade.yaml").done());
            let delete = Command::kubectl("delete").objects(Resource::full(Kind::DeviceTaintRule), &names);
            commands.push(delete.arg("--ignore-not-found").done());
        }
        Step {
            summary: words::delete_rules(
                names.len(),
                rules
                    .iter()
                    .filter(|rule| rule.spec.taint.effect != NO_EFFECT)
                    .count(),
            ),
            manual,
            done: names.is_empty() && known,
            ..Step::new(6, words::DELETE_RULES, words::WHY_DELETE_RULES)
        }
        .run(commands)
    }

    /// 7: the gates are turned off everywhere.
    pub(super) fn gates_off(&self) -> Step {
        let gates: &[Gate] = if self.groups_go() {
            &[Gate::DRAWorkloadResourceClaims, Gate::GenericWorkload]
        } else {
            &[Gate::DRAWorkloadResourceClaims]
        };
        let change = |component: Component| ComponentChange {
            component: component.to_string(),
            version: None,
            feature_gates: gates.iter().map(|gate| (gate.name().to_owned(), false)).collect(),
        };
        let mut manual = Vec::new();
        let mut commands = Commands::default();
        let mut accepted_exit_codes = Vec::new();
        if self.groups_go() {
            manual.push(words::REMOVE_GROUP_APIS.to_owned());
        }
        if let Target::Minor(minor) = self.target {
            manual.push(words::remove_unknown_gates(minor));
            manual.push(words::SOLVE_THE_REST.to_owned());
            commands.push(
                Command::dra("check")
                    .option("--to-version", &format!("1.{minor}"))
                    .args(&["--fail-on=error", "-o", "wide"])
                    .done(),
            );
            accepted_exit_codes = vec![1, 4];
        }
        Step {
            manual,
            components: [
                Component::ApiServer,
                Component::Scheduler,
                Component::ControllerManager,
                Component::Kubelet,
            ]
            .map(change)
            .into(),
            accepted_exit_codes,
            ..Step::new(7, words::gates_off(gates), words::WHY_GATES_OFF)
        }
        .run(commands)
    }

    /// 8: the components, from one release to the one before.
    pub(super) fn downgrade(&self, minor: u32) -> Step {
        let server = self.cluster.environment().emulated_minor;
        let mut components = Vec::new();
        for version in (minor..server).rev() {
            // None may be newer than the API server.
            for component in [
                Component::Kubelet,
                Component::Scheduler,
                Component::ControllerManager,
                Component::ApiServer,
            ] {
                components.push(ComponentChange {
                    component: component.to_string(),
                    version: Some(format!("1.{version}")),
                    feature_gates: BTreeMap::new(),
                });
            }
        }
        let mut manual = vec![words::APISERVER_LAST.to_owned()];
        if server - minor > 1 {
            manual.push(words::EACH_RELEASE.to_owned());
        }
        Step {
            manual,
            components,
            ..Step::new(
                8,
                words::replace_components(minor),
                words::undoing(&self.undoing()),
            )
        }
    }

    /// What of the steps before the downgrade cannot be undone.
    fn undoing(&self) -> Undoing {
        let ends = |group: &GroupPlan| {
            group.decision == Decision::Drain && (group.exists || !group.pods.is_empty())
                || !group.pending.is_empty()
        };
        let mut actions = self.plan.claims.iter().map(|claim| &claim.action);
        let cluster = self.cluster;
        Undoing {
            stopped: self.groups.iter().any(ends),
            released: actions.any(|action| matches!(action, Action::Release(_))),
            groups: cluster.pod_groups().next().is_some() || cluster.workloads().next().is_some(),
            rules: cluster.rules().next().is_some(),
        }
    }

    /// 9: the result is verified.
    pub(super) fn prove(&self) -> Step {
        let check = self.scoped(Command::dra("check"));
        Step {
            accepted_exit_codes: if self.foreign().is_empty() {
                vec![4]
            } else {
                vec![1, 4]
            },
            ..Step::new(9, words::CHECK_RESULT, words::WHY_CHECK_RESULT)
        }
        .run(vec![self.verify(), check.arg("--fail-on=error").done()])
    }
}

/// The command that removes the finalizer of PodGroups and keeps others. None where there is none.
fn strip_finalizer(namespace: &Str, group: &Meta) -> Option<Result<Script, NoCommand>> {
    const PROTECTION: &str = "scheduling.k8s.io/podgroup-protection";
    let rest: Vec<&str> = group
        .finalizers
        .iter()
        .map(Str::as_str)
        .filter(|name| *name != PROTECTION)
        .collect();
    if rest.len() == group.finalizers.len() {
        return None;
    }
    let change = if rest.is_empty() {
        serde_json::json!([{"op": "remove", "path": "/metadata/finalizers"}])
    } else {
        serde_json::json!([{"op": "replace", "path": "/metadata/finalizers", "value": rest}])
    };
    Some(patch(
        Resource::full(Kind::PodGroup),
        Some(namespace),
        &group.name,
        &["--type=json"],
        &change,
    ))
}
