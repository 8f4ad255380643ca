//! The way to an older release, or to a gate that is off, for one very cluster: ordered steps as data.
//!
//! The order was proven with real control planes: 1.37.1 was replaced by 1.36.4 and 1.35.8 on the same data with pods running all the
//! time. The numbers are those that findings in front of a downgrade have as `order`: 1 groups with generated claims end, gates on; 2 convert; 3 the claim
//! gate goes off in scheduler and controller-manager; 4 convert again; 5 PodGroups and Workloads go; 6 taint rules go; 7 all gates off;
//! 8 the downgrade itself; 9 the proof. All of it comes before the first component is changed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::groups::{Decision, GroupPlan};
use super::plan::{ConversionPlan, Entry, PlannedAction};
use crate::inspect::warnings;
use crate::model::{Cluster, Component, Gate, Kind, Meta, Str};
use crate::reservation::conversion::Target;

/// Kinds that the steps are made from, besides those of the plan.
pub const RUNBOOK_NEEDS: [Kind; 2] = [Kind::Workload, Kind::DeviceTaintRule];

/// One step. Several of the same order follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its place.
    pub order: u32,
    /// What is done.
    pub title: String,
    /// What happens without it.
    pub why: String,
    /// What no command can do, or what has to be decided before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub manual: Vec<String>,
    /// Components that are started again, in this order, before the commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentChange>,
    /// Lines for a shell, to be run one after the other.
    pub commands: Vec<String>,
    /// Exit codes other than 0 with which a command may end and the next one follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_exit_codes: Vec<u8>,
    /// Whether somebody should look at it and say yes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    /// Whether there is nothing to do in this cluster.
    pub done: bool,
}

/// A component that is started again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ComponentChange {
    /// Its program's name.
    pub component: String,
    /// The release that it is from then on; absent where that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Gates to set; others stay as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub feature_gates: BTreeMap<String, bool>,
}

/// The steps from `cluster` to `target`, where `plan` is what has to be converted and `groups` says what becomes of each group.
pub(super) fn steps(
    cluster: &Cluster,
    target: Target,
    plan: &ConversionPlan,
    groups: &[GroupPlan],
) -> Vec<Step> {
    let book = Book {
        cluster,
        target,
        plan,
        groups,
    };
    let mut steps = book.drain();
    steps.push(book.convert());
    steps.push(book.claim_gate_off());
    steps.extend(book.convert_again());
    if book.groups_go() {
        steps.extend(book.delete_groups());
    }
    if let Target::Minor(minor) = target {
        steps.push(book.delete_rules());
        steps.push(book.gates_off());
        steps.push(book.downgrade(minor));
    } else {
        steps.push(book.gates_off());
    }
    steps.push(book.prove());
    steps
}

struct Book<'a> {
    cluster: &'a Cluster,
    target: Target,
    plan: &'a ConversionPlan,
    groups: &'a [GroupPlan],
}

/// How the operator tells `convert` that nobody reserves for groups any more.
const GATES_ARE_OFF: &str = "--scheduler-feature-gates DRAWorkloadResourceClaims=false --kcm-feature-gates DRAWorkloadResourceClaims=false";

impl Book<'_> {
    /// Whether PodGroups are not served any more at the end.
    fn groups_go(&self) -> bool {
        match self.target {
            Target::Minor(minor) => minor < 37,
            Target::GateOff(gate) => gate == Gate::GenericWorkload,
        }
    }

    /// The flags of `convert` that say what it is for and where.
    fn scope(&self) -> String {
        let namespace = self.plan.scope.namespace.as_ref();
        namespace.map_or_else(String::new, |namespace| format!(" -n {}", quoted(namespace)))
    }

    fn purpose(&self) -> String {
        let mut flags = match self.target {
            Target::Minor(minor) => format!(" --to-version 1.{minor}"),
            Target::GateOff(gate) => format!(" --disable-gate {gate}"),
        };
        if self.plan.options.include_generated {
            flags.push_str(" --include-generated");
        }
        flags + &self.scope()
    }

    /// Entries of kinds other than PodGroups, with their claims.
    fn foreign(&self) -> Vec<(&super::PlannedClaim, &Entry)> {
        self.plan
            .claims
            .iter()
            .flat_map(|claim| claim.kept.iter().map(move |entry| (claim, entry)))
            .collect()
    }

    /// 1: groups that cannot go on end while the gates are on.
    fn drain(&self) -> Vec<Step> {
        let drained: Vec<_> = self
            .groups
            .iter()
            .filter(|group| group.decision == Decision::Drain)
            .collect();
        let pending: Vec<_> = self
            .groups
            .iter()
            .filter(|group| group.decision != Decision::Drain && !group.pending.is_empty())
            .collect();
        let mut manual: Vec<String> = Vec::new();
        if !drained.is_empty() && self.plan.claim_gate == "Off" {
            manual.push(
                "switch DRAWorkloadResourceClaims on again in kube-scheduler and kube-controller-manager first: without it nobody frees \
                 the claims of these groups"
                    .to_owned(),
            );
        }
        let mut commands = Vec::new();
        let mut paused = BTreeSet::new();
        for group in &drained {
            for owner in &group.owners {
                if !paused.insert((group.namespace.clone(), owner.clone())) {
                    continue;
                }
                match owner.pause(&group.namespace) {
                    Some(command) => commands.push(command),
                    None => manual.push(format!(
                        "pause {owner} in namespace {}, and what owns it, so that it does not make its pods again",
                        group.namespace
                    )),
                }
            }
        }
        for group in &drained {
            let namespace = quoted(&group.namespace);
            let pods: Vec<_> = group.pods.iter().chain(&group.pending).collect();
            if !pods.is_empty() {
                commands.push(format!(
                    "kubectl delete pods -n {namespace} {} --ignore-not-found",
                    words(&pods)
                ));
            }
            if group.exists {
                commands.push(format!(
                    "kubectl delete podgroups.scheduling.k8s.io -n {namespace} {} --ignore-not-found",
                    quoted(&group.name)
                ));
            }
            for claim in &group.generated_claims {
                commands.push(format!(
                    "kubectl wait --for=delete -n {namespace} resourceclaim/{claim} --timeout=2m"
                ));
            }
        }
        if !commands.is_empty() {
            // Pods without an owner are gone for good.
            commands.insert(
                0,
                "kubectl dra snapshot --no-redact --out before-downgrade.json".to_owned(),
            );
        }
        let first = Step {
            order: 1,
            title: "End the groups that cannot go on, while the gates are on".to_owned(),
            why: "older claim controllers give running pods new claims without devices in the place of one that was made for their \
                  group, converted or not; and without the gate nobody frees claims of groups"
                .to_owned(),
            manual,
            done: commands.is_empty(),
            commands,
            ..Step::default()
        };
        if pending.is_empty() {
            return vec![first];
        }
        let members = |group: &&GroupPlan| {
            let names: Vec<&str> = group.pending.iter().map(Str::as_str).collect();
            format!(
                "{}: wait until they have a node, or delete them: {}",
                format_args!("PodGroup {}/{}", group.namespace, group.name),
                names.join(", ")
            )
        };
        let delete = |group: &&GroupPlan| {
            format!(
                "kubectl delete pods -n {} {} --ignore-not-found",
                quoted(&group.namespace),
                words(&group.pending.iter().collect::<Vec<_>>())
            )
        };
        let second = Step {
            order: 1,
            title: "Let members that have no node yet be scheduled, or delete them".to_owned(),
            why: "the scheduler reserves for the group when it binds them; afterwards they are scheduled one by one, without their group"
                .to_owned(),
            manual: pending
                .iter()
                .map(members)
                .chain(["do not start, scale or restart members of groups from here to the end".to_owned()])
                .collect(),
            commands: pending.iter().map(delete).collect(),
            confirm: true,
            ..Step::default()
        };
        vec![first, second]
    }

    /// 2: named claims become lists of pods.
    fn convert(&self) -> Step {
        let to_do = self.plan.claims.iter().any(|claim| {
            claim.action == PlannedAction::Convert
                || claim.action == PlannedAction::Release
                || claim.code == "UnscheduledMembers"
        });
        Step {
            order: 2,
            title: "Convert reservations for groups into lists of pods".to_owned(),
            why: "an older claim controller never removes the entry of a group: claim, devices and namespace are never freed".to_owned(),
            commands: vec![format!(
                "kubectl dra convert{} --wait --timeout 10m --yes",
                self.purpose()
            )],
            accepted_exit_codes: self.leaves_foreign(),
            done: !to_do,
            ..Step::default()
        }
    }

    /// What is left for step 4 makes the verdict bad before.
    fn leaves_foreign(&self) -> Vec<u8> {
        if self.foreign().is_empty() {
            Vec::new()
        } else {
            vec![1]
        }
    }

    /// 3: nobody reserves for groups any more.
    fn claim_gate_off(&self) -> Step {
        let change = |component: Component| ComponentChange {
            component: component.name().to_owned(),
            version: None,
            feature_gates: BTreeMap::from([
                (Gate::DRAWorkloadResourceClaims.name().to_owned(), false),
                (Gate::GenericWorkload.name().to_owned(), true),
            ]),
        };
        Step {
            order: 3,
            title: "Switch DRAWorkloadResourceClaims off in scheduler and controller manager".to_owned(),
            why: "with the gate on, new members and members that end put the entry of the group back".to_owned(),
            manual: vec![
                "restart every replica, and wait until the old processes have ended and their leases were taken over".to_owned(),
                "GenericWorkload stays on: with it off PodGroups cannot be deleted in step 5".to_owned(),
            ],
            components: vec![change(Component::Scheduler), change(Component::ControllerManager)],
            done: self.plan.claim_gate == "Off",
            ..Step::default()
        }
    }

    /// 4: what came back in between, and what other kinds left.
    fn convert_again(&self) -> Vec<Step> {
        let foreign = self.foreign();
        let mut steps = vec![Step {
            order: 4,
            title: "Convert what came back in between".to_owned(),
            why: "a scheduling attempt that began before the first conversion binds its pod without any entry, and the controller manager \
                  repairs none of a member of a group"
                .to_owned(),
            commands: vec![format!(
                "kubectl dra convert{} --final --settle 30s {GATES_ARE_OFF} --yes",
                self.purpose()
            )],
            accepted_exit_codes: self.leaves_foreign(),
            done: false,
            ..Step::default()
        }];
        let kinds: BTreeSet<String> = foreign
            .iter()
            .filter_map(|(_, entry)| Some(entry.to_string().split_once('/')?.0.to_owned()))
            .collect();
        if !kinds.is_empty() {
            let claims: BTreeSet<String> = foreign
                .iter()
                .map(|(claim, _)| quoted(&format!("claim/{}/{}", claim.namespace, claim.name)))
                .collect();
            let kinds: Vec<String> = kinds
                .iter()
                .map(|kind| format!("--kind {}", quoted(kind)))
                .collect();
            steps.push(Step {
                order: 4,
                title: "Remove entries of other kinds whose owner is gone".to_owned(),
                why: "no controller of Kubernetes removes them; from 1.35 down they keep every entry of the claim from being removed".to_owned(),
                manual: foreign
                    .iter()
                    .map(|(claim, entry)| {
                        format!(
                            "ask the owner of {entry}, which claim {}/{} is reserved for, or make sure that it is gone",
                            claim.namespace, claim.name
                        )
                    })
                    .collect(),
                commands: vec![format!(
                    "kubectl dra convert {} {} {GATES_ARE_OFF} --yes",
                    claims.into_iter().collect::<Vec<_>>().join(" "),
                    kinds.join(" ")
                )],
                accepted_exit_codes: Vec::new(),
                confirm: true,
                ..Step::default()
            });
        }
        steps.push(Step {
            order: 4,
            title: "Verify".to_owned(),
            why: "from here on nobody repairs a list".to_owned(),
            commands: vec![format!("kubectl dra convert verify{}", self.scope())],
            accepted_exit_codes: self.leaves_foreign(),
            ..Step::default()
        });
        steps
    }

    /// Objects of `kind` in the namespaces that are looked at, by namespace.
    fn by_namespace<'m>(&self, objects: impl Iterator<Item = &'m Meta>) -> BTreeMap<Str, Vec<&'m Meta>> {
        let mut found: BTreeMap<Str, Vec<&Meta>> = BTreeMap::new();
        for metadata in objects {
            let only = self.plan.scope.namespace.as_ref();
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
        let namespace = self.plan.scope.namespace.as_deref().unwrap_or_default();
        kinds
            .iter()
            .filter_map(|kind| self.cluster.gap(*kind, namespace))
            .map(|gap| format!("look yourself: {}", warnings::missing(gap)))
            .collect()
    }

    /// 5: objects that an older server cannot read.
    fn delete_groups(&self) -> Vec<Step> {
        let groups = self.by_namespace(self.cluster.pod_groups().map(|group| &group.metadata));
        let workloads = self.by_namespace(self.cluster.workloads().map(|workload| &workload.metadata));
        let mut manual = self.hidden(&[Kind::PodGroup, Kind::Workload]);
        for (namespace, groups) in &groups {
            for group in groups {
                if let Some(owner) = group.controller().filter(|owner| owner.kind != "Workload") {
                    manual.push(format!(
                        "{}/{} in namespace {namespace} makes PodGroup {} again: pause it without ending its pods",
                        owner.kind.to_ascii_lowercase(),
                        owner.name,
                        group.name
                    ));
                }
            }
        }
        manual.push("where scheduling.k8s.io/v1alpha3 is served, delete CompositePodGroups too".to_owned());
        let delete = |kind: Kind, objects: &BTreeMap<Str, Vec<&Meta>>| -> Vec<String> {
            objects
                .iter()
                .map(|(namespace, objects)| {
                    let names: Vec<_> = objects.iter().map(|metadata| &metadata.name).collect();
                    format!(
                        "kubectl delete {}.{} -n {} {} --ignore-not-found --wait=false",
                        kind.plural(),
                        kind.group(),
                        quoted(namespace),
                        words(&names)
                    )
                })
                .collect()
        };
        let mut commands = Vec::new();
        let everything: Vec<_> = [(Kind::PodGroup, &groups), (Kind::Workload, &workloads)]
            .into_iter()
            .filter(|(_, objects)| !objects.is_empty())
            .map(|(kind, _)| format!("{}.{}", kind.plural(), kind.group()))
            .collect();
        if !everything.is_empty() {
            commands.push(format!(
                "kubectl get {} -A -o yaml > groups-before-downgrade.yaml",
                everything.join(",")
            ));
        }
        commands.extend(delete(Kind::Workload, &workloads));
        commands.extend(delete(Kind::PodGroup, &groups));
        let known = self.hidden(&[Kind::PodGroup, Kind::Workload]).is_empty();
        let mut steps = vec![Step {
            order: 5,
            title: "Save and delete Workloads and PodGroups".to_owned(),
            why: "an older API server cannot read them: they are hidden and cannot be deleted, and with GenericWorkload on it never becomes \
                  ready. Before step 2 this takes the devices from running pods"
                .to_owned(),
            manual,
            done: commands.is_empty() && known,
            commands,
            ..Step::default()
        }];
        let finalizers: Vec<String> = groups
            .iter()
            .flat_map(|(namespace, groups)| groups.iter().map(move |group| (namespace, *group)))
            .filter(|(namespace, group)| self.runs_on(namespace, &group.name))
            .filter_map(|(namespace, group)| strip_finalizer(namespace, group))
            .collect();
        if !finalizers.is_empty() {
            steps.push(Step {
                order: 5,
                title: "Take the finalizer from PodGroups whose pods run on".to_owned(),
                why: "it keeps a PodGroup as long as it has pods".to_owned(),
                manual: vec!["only after `kubectl dra convert verify` of step 4 has found nothing: without its PodGroup an entry for it \
                              takes the devices from running pods while the gate is on"
                    .to_owned()],
                commands: finalizers,
                // Whose pods have ended meanwhile is gone already.
                accepted_exit_codes: vec![1],
                confirm: true,
                ..Step::default()
            });
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
    fn delete_rules(&self) -> Step {
        let rules: Vec<_> = self.cluster.rules().collect();
        let mut manual = self.hidden(&[Kind::DeviceTaintRule]);
        let known = manual.is_empty();
        for rule in &rules {
            let taint = &rule.spec.taint;
            if taint.effect != "None" {
                manual.push(format!(
                    "DeviceTaintRule {} ({}={}:{}) is not enforced from here on: have the driver put the taint into its slices, or cordon the \
                     nodes",
                    rule.metadata.name, taint.key, taint.value, taint.effect
                ));
            }
        }
        let names: Vec<_> = rules.iter().map(|rule| &rule.metadata.name).collect();
        let mut commands = Vec::new();
        if !names.is_empty() {
            commands.push(
                "kubectl get devicetaintrules.resource.k8s.io -o yaml > devicetaintrules-before-downgrade.yaml".to_owned(),
            );
            commands.push(format!(
                "kubectl delete devicetaintrules.resource.k8s.io {} --ignore-not-found",
                words(&names)
            ));
        }
        Step {
            order: 6,
            title: "Save and delete DeviceTaintRules".to_owned(),
            why: "1.36 does not serve them by default, and they cannot be deleted there; a 1.35 that serves them cannot read them, and its \
                  scheduler never starts"
                .to_owned(),
            manual,
            done: names.is_empty() && known,
            commands,
            ..Step::default()
        }
    }

    /// 7: the gates go off everywhere.
    fn gates_off(&self) -> Step {
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
        let mut commands = Vec::new();
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
            commands.push(format!(
                "kubectl dra check --to-version 1.{minor} --fail-on error -o wide"
            ));
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
            commands,
            accepted_exit_codes,
            ..Step::default()
        }
    }

    /// 8: the components, from one release to the one before.
    fn downgrade(&self, minor: u32) -> Step {
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
            why: "everything before this can still be undone".to_owned(),
            manual,
            components,
            ..Step::default()
        }
    }

    /// 9: nothing was lost.
    fn prove(&self) -> Step {
        Step {
            order: 9,
            title: "Look at what became of it".to_owned(),
            why: "what is found now can still be repaired".to_owned(),
            commands: vec![
                format!("kubectl dra convert verify{}", self.scope()),
                format!("kubectl dra check{} --fail-on error", self.scope()),
            ],
            accepted_exit_codes: if self.foreign().is_empty() {
                vec![4]
            } else {
                vec![1, 4]
            },
            ..Step::default()
        }
    }
}

/// The command that takes the finalizer of PodGroups away, others stay. None where there is none.
fn strip_finalizer(namespace: &Str, group: &Meta) -> Option<String> {
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
    Some(format!(
        "kubectl patch podgroups.scheduling.k8s.io {} -n {} --type json -p {}",
        quoted(&group.name),
        quoted(namespace),
        quoted(&change.to_string())
    ))
}

/// The names as words of a shell.
fn words(names: &[&Str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    quoted.join(" ")
}

/// A word for a shell. Names of Kubernetes need no quotes; what a damaged file says may.
pub(super) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
