//! Steps 5 to 9: what the older components cannot read goes, then the gates, then the components; and the proof.

use std::collections::BTreeMap;

use super::{Book, Commands, ComponentChange, Step};
use crate::conversion::groups::{Decision, GroupPlan};
use crate::script::{Command, NoCommand, Resource, Script, patch};
use crate::warnings;
use dra_model::{Component, Gate, Kind, Meta, Str};
use dra_rules::reservation::conversion::{Action, Target};

impl Book<'_> {
    /// Objects of `kind` in the namespaces that are looked at, by namespace.
    fn by_namespace<'m>(&self, objects: impl Iterator<Item = &'m Meta>) -> BTreeMap<Str, Vec<&'m Meta>> {
        let mut found: BTreeMap<Str, Vec<&Meta>> = BTreeMap::new();
        for metadata in objects {
            let only = self.scope.namespace.as_ref();
            if only.is_none_or(|only| *only == metadata.namespace) {
                found
                    .entry(metadata.namespace.clone())
                    .or_default()
                    .push(metadata);
            }
        }
        found
    }

    /// What could not be read of `kinds`, for people.
    fn hidden(&self, kinds: &[Kind]) -> Vec<String> {
        let namespace = self.scope.namespace.as_deref().unwrap_or_default();
        kinds
            .iter()
            .filter_map(|kind| self.cluster.gap(*kind, namespace))
            .map(|gap| format!("look yourself: {}", warnings::missing(gap)))
            .collect()
    }

    /// 5: objects that an older server cannot read.
    pub(super) fn delete_groups(&self) -> Vec<Step> {
        let groups = self.by_namespace(self.cluster.pod_groups().map(|group| &group.metadata));
        let workloads = self.by_namespace(self.cluster.workloads().map(|workload| &workload.metadata));
        let mut manual = self.hidden(&[Kind::PodGroup, Kind::Workload]);
        for (namespace, groups) in &groups {
            for group in groups {
                if let Some(owner) = group.controller().filter(|owner| owner.kind != "Workload") {
                    manual.push(format!(
                        "`{}/{}` in namespace `{namespace}` makes PodGroup `{}` again: pause it without ending its pods",
                        owner.kind.to_ascii_lowercase(),
                        owner.name,
                        group.name
                    ));
                }
            }
        }
        manual.push("where scheduling.k8s.io/v1alpha3 is served, delete CompositePodGroups too".to_owned());
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
            commands.add(save.saved_as("groups-before-downgrade.yaml").done());
        }
        for (kind, objects) in [(Kind::Workload, &workloads), (Kind::PodGroup, &groups)] {
            for (namespace, objects) in objects {
                commands.add(delete(kind, namespace, objects));
            }
        }
        let known = self.hidden(&[Kind::PodGroup, Kind::Workload]).is_empty();
        let step = Step {
            order: 5,
            title: "Save and delete Workloads and PodGroups".to_owned(),
            why: "an older API server cannot read them: they are hidden and cannot be deleted, and with GenericWorkload on it never becomes \
                  ready. Before step 2 this takes the devices from running pods"
                .to_owned(),
            manual,
            done: commands.is_empty() && known,
            ..Step::default()
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
                order: 5,
                title: "Take the finalizer from PodGroups whose pods run on".to_owned(),
                why: "it keeps a PodGroup as long as it has pods".to_owned(),
                manual: vec!["only after `kubectl dra convert verify` of step 4 has found nothing: without its PodGroup an entry for it \
                              takes the devices from running pods while the gate is on"
                    .to_owned()],
                // Whose pods have ended meanwhile is gone already.
                accepted_exit_codes: vec![1],
                confirm: true,
                ..Step::default()
            };
            steps.push(step.run(finalizers));
        }
        steps
    }

    /// Whether the group's pods go on while it is deleted.
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
            if taint.effect != "None" {
                manual.push(format!(
                    "DeviceTaintRule `{}` (`{}={}:{}`) is not enforced from here on: have the driver put the taint into its slices, or cordon the \
                     nodes",
                    rule.metadata.name, taint.key, taint.value, taint.effect
                ));
            }
        }
        let names: Vec<_> = rules.iter().map(|rule| &rule.metadata.name).collect();
        let mut commands = Commands::default();
        if !names.is_empty() {
            let save = Command::kubectl("get").args(&["devicetaintrules.resource.k8s.io", "-o", "yaml"]);
            commands.add(save.saved_as("devicetaintrules-before-downgrade.yaml").done());
            let delete = Command::kubectl("delete").objects(Resource::full(Kind::DeviceTaintRule), &names);
            commands.add(delete.arg("--ignore-not-found").done());
        }
        Step {
            order: 6,
            title: "Save and delete DeviceTaintRules".to_owned(),
            why: "1.36 does not serve them by default, and they cannot be deleted there; a 1.35 that serves them cannot read them, and its \
                  scheduler never starts"
                .to_owned(),
            manual,
            done: names.is_empty() && known,
            ..Step::default()
        }
        .run(commands)
    }

    /// 7: the gates go off everywhere.
    pub(super) fn gates_off(&self) -> Step {
        let gates: &[Gate] = if self.groups_go() {
            &[Gate::DRAWorkloadResourceClaims, Gate::GenericWorkload]
        } else {
            &[Gate::DRAWorkloadResourceClaims]
        };
        let change = |component: Component| ComponentChange {
            component: component.name().to_owned(),
            version: None,
            feature_gates: gates.iter().map(|gate| (gate.name().to_owned(), false)).collect(),
        };
        let mut manual = Vec::new();
        let mut commands = Commands::default();
        let mut accepted_exit_codes = Vec::new();
        if self.groups_go() {
            manual.push(
                "take scheduling.k8s.io/v1beta1 and v1alpha3 out of --runtime-config of kube-apiserver"
                    .to_owned(),
            );
        }
        if let Target::Minor(minor) = self.target {
            manual.push(format!(
                "take out of --feature-gates of every component what 1.{minor} does not know: it does not start with it"
            ));
            manual.push(
                "errors of `check` that remain are about something else than groups: solve them as it says"
                    .to_owned(),
            );
            commands.add(
                Command::dra("check")
                    .option("--to-version", &format!("1.{minor}"))
                    .args(&["--fail-on=error", "-o", "wide"])
                    .done(),
            );
            accepted_exit_codes = vec![1, 4];
        }
        Step {
            order: 7,
            title: format!(
                "Switch {} off in every component",
                gates.iter().map(|gate| gate.name()).collect::<Vec<_>>().join(" and ")
            ),
            why: "an older API server never becomes ready with GenericWorkload and groups, and a component does not start with a gate that \
                  it does not know"
                .to_owned(),
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
            ..Step::default()
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
                    component: component.name().to_owned(),
                    version: Some(format!("1.{version}")),
                    feature_gates: BTreeMap::new(),
                });
            }
        }
        let mut manual = vec![
            "no component may be newer than the API server, so that comes last; drain a node before its kubelet is replaced".to_owned(),
        ];
        if server - minor > 1 {
            manual.push("go through each release in between".to_owned());
        }
        Step {
            order: 8,
            title: format!("Replace the components by those of 1.{minor}"),
            why: self.undoing(),
            manual,
            components,
            ..Step::default()
        }
    }

    /// What of the steps before the downgrade can be undone.
    fn undoing(&self) -> String {
        let ends = |group: &GroupPlan| {
            group.decision == Decision::Drain && (group.exists || !group.pods.is_empty())
                || !group.pending.is_empty()
        };
        let ended = self
            .groups
            .iter()
            .any(ends)
            .then_some("pods and PodGroups ended in step 1");
        let mut actions = self.plan.claims.iter().map(|claim| &claim.action);
        let released = actions.any(|action| matches!(action, Action::Release(_)));
        let released = released.then_some("claims released in step 2");
        let lost: Vec<&str> = ended.into_iter().chain(released).collect();
        let groups = self.cluster.pod_groups().next().is_some() || self.cluster.workloads().next().is_some();
        let groups = groups.then_some("PodGroups and Workloads of step 5");
        let rules = self.cluster.rules().next().map(|_| "DeviceTaintRules of step 6");
        let deleted: Vec<&str> = groups.into_iter().chain(rules).collect();
        let mut text = "until here, gates can be switched back and `kubectl dra convert restore` brings lists of claims back".to_owned();
        if !deleted.is_empty() {
            text += &format!(
                "; {} can only be recreated from the saved files, with other UIDs",
                deleted.join(" and ")
            );
        }
        if !lost.is_empty() {
            text += &format!("; {} cannot be brought back", lost.join(" and "));
        }
        text
    }

    /// 9: nothing was lost.
    pub(super) fn prove(&self) -> Step {
        let check = self.scoped(Command::dra("check"));
        Step {
            order: 9,
            title: "Look at what became of it".to_owned(),
            why: "what is found now can still be repaired".to_owned(),
            accepted_exit_codes: if self.foreign().is_empty() {
                vec![4]
            } else {
                vec![1, 4]
            },
            ..Step::default()
        }
        .run(
            [self.verify(), check.arg("--fail-on=error").done()]
                .into_iter()
                .collect(),
        )
    }
}

/// The command that takes the finalizer of PodGroups away, others stay. None where there is none.
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
