//! Steps 1 to 4: groups that cannot be kept are stopped, the others' claims become lists of pods, and no component adds an entry again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Book, Commands, ComponentChange, Step, with_kind};
use crate::conversion::groups::{Decision, GroupPlan};
use crate::conversion::words;
use crate::script::{Command, NoCommand, Resource, Script};
use dra_model::{Component, Gate, Key, Kind};
use dra_rules::reservation::conversion::{Action, ClaimGate, Code};

/// Flags that confirm to `convert` that no scheduler reserves for groups anymore.
const GATES_ARE_OFF: &[&str] = &[
    "--scheduler-feature-gates=DRAWorkloadResourceClaims=false",
    "--kcm-feature-gates=DRAWorkloadResourceClaims=false",
];

impl Book<'_> {
    /// 1: groups that cannot be kept are stopped while the gates are on.
    pub(super) fn drain(&self) -> Vec<Step> {
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
        if !drained.is_empty() && self.plan.gate == ClaimGate::Off {
            manual.push(words::GATE_ON_FIRST.to_owned());
        }
        let mut commands = Commands::default();
        let mut paused = BTreeSet::new();
        for group in &drained {
            for owner in &group.owners {
                if !paused.insert((group.namespace.clone(), owner.clone())) {
                    continue;
                }
                match owner.pause(&group.namespace) {
                    Some(command) => commands.push(command),
                    None => manual.push(words::pause(&owner.kind, &group.namespace, &owner.name)),
                }
            }
        }
        for group in &drained {
            let pods: Vec<_> = group.pods.iter().chain(&group.pending).collect();
            if !pods.is_empty() {
                commands.push(delete(Kind::Pod.into(), &group.namespace, pods));
            }
            if group.exists {
                let podgroups = Resource::full(Kind::PodGroup);
                commands.push(delete(podgroups, &group.namespace, [&group.name]));
            }
            for claim in &group.generated_claims {
                commands.push(
                    Command::kubectl("wait")
                        .arg("--for=delete")
                        .object(Kind::ResourceClaim, claim)
                        .namespace(&group.namespace)
                        .arg("--timeout=2m")
                        .done(),
                );
            }
        }
        if !drained.is_empty() {
            manual.push(words::SCALE_DOWN.to_owned());
        }
        if !commands.is_empty() {
            // Pods without a controller are not recreated.
            let save = Command::dra("snapshot").args(&["--no-redact", "--out=before-downgrade.json"]);
            commands.insert(0, save.done());
        }
        let first = Step {
            summary: words::stop(&stopped(&drained)),
            manual,
            done: commands.is_empty(),
            confirm: !commands.is_empty(),
            ..Step::new(1, words::STOP_GROUPS, words::WHY_STOP_GROUPS)
        }
        .run(commands);
        if pending.is_empty() {
            return vec![first];
        }
        let members = |group: &&GroupPlan| {
            let key = Key::new(group.namespace.clone(), group.name.clone());
            words::members_are_pending(&key, &group.pending)
        };
        let end = |group: &&GroupPlan| delete(Kind::Pod.into(), &group.namespace, &group.pending);
        let second = Step {
            summary: words::schedule(&pods_of(&pending)),
            manual: pending
                .iter()
                .map(members)
                .chain([words::LEAVE_MEMBERS_ALONE.to_owned()])
                .collect(),
            confirm: true,
            ..Step::new(1, words::SCHEDULE_OR_DELETE, words::WHY_SCHEDULE)
        }
        .run(pending.iter().map(end).collect());
        vec![first, second]
    }

    /// 2: named claims become lists of pods.
    pub(super) fn convert(&self) -> Step {
        let count = |is: fn(&Action) -> bool| {
            let actions = self.plan.claims.iter().map(|claim| &claim.action);
            actions.filter(|action| is(action)).count()
        };
        let converting = words::Converting {
            converted: count(|action| matches!(action, Action::Convert(_))),
            released: count(|action| matches!(action, Action::Release(_))),
            later: count(
                |action| matches!(action, Action::Refuse(refusal) if refusal.code() == Code::UnscheduledMembers),
            ),
        };
        let summary = words::converting(&converting);
        Step {
            done: summary.is_empty(),
            summary,
            accepted_exit_codes: self.leaves_foreign(),
            ..Step::new(2, words::CONVERT, words::WHY_CONVERT)
        }
        .run(vec![
            self.purposeful()
                .args(&["--wait", "--timeout=10m", "--yes"])
                .done(),
        ])
    }

    /// 3: no scheduler reserves for groups anymore.
    pub(super) fn claim_gate_off(&self) -> Step {
        let change = |component: Component| ComponentChange {
            component: component.to_string(),
            version: None,
            feature_gates: BTreeMap::from([
                (Gate::DRAWorkloadResourceClaims.name().to_owned(), false),
                (Gate::GenericWorkload.name().to_owned(), true),
            ]),
        };
        Step {
            manual: vec![
                words::RESTART_REPLICAS.to_owned(),
                words::KEEP_GENERIC_WORKLOAD.to_owned(),
            ],
            components: vec![change(Component::Scheduler), change(Component::ControllerManager)],
            done: self.plan.gate == ClaimGate::Off,
            ..Step::new(3, words::CLAIM_GATE_OFF, words::WHY_CLAIM_GATE_OFF)
        }
    }

    /// 4: entries that were added in between, and those of other kinds.
    pub(super) fn convert_again(&self) -> Vec<Step> {
        let foreign = self.foreign();
        let convert = self.purposeful().args(&["--final", "--settle=30s"]);
        let convert = convert.args(GATES_ARE_OFF).arg("--yes").done();
        let again = Step {
            accepted_exit_codes: self.leaves_foreign(),
            ..Step::new(4, words::CONVERT_AGAIN, words::WHY_CONVERT_AGAIN)
        };
        let mut steps = vec![again.run(vec![convert])];
        let kinds: BTreeSet<String> = foreign.iter().map(|(_, entry)| entry.group_resource()).collect();
        if !kinds.is_empty() {
            let claims: BTreeSet<_> = foreign
                .iter()
                .map(|(claim, _)| (&claim.key.namespace, &claim.key.name))
                .collect();
            let convert = claims
                .into_iter()
                .fold(Command::dra("convert"), |command, (namespace, name)| {
                    command.claim(namespace, name)
                });
            let convert = kinds.iter().fold(convert, with_kind);
            let convert = convert.args(GATES_ARE_OFF).arg("--yes").done();
            let step = Step {
                summary: words::ask_owners(&foreign),
                manual: foreign
                    .iter()
                    .map(|(claim, entry)| words::ask_owner(entry, &claim.key))
                    .collect(),
                confirm: true,
                ..Step::new(4, words::REMOVE_FOREIGN, words::WHY_REMOVE_FOREIGN)
            };
            steps.push(step.run(vec![convert]));
        }
        let verify = Step {
            accepted_exit_codes: self.leaves_foreign(),
            ..Step::new(4, words::VERIFY, words::WHY_VERIFY)
        };
        steps.push(verify.run(vec![self.verify()]));
        steps
    }

    /// `kubectl dra convert verify`.
    pub(super) fn verify(&self) -> Result<Script, NoCommand> {
        self.scoped(Command::dra("convert").arg("verify")).done()
    }
}

/// What stopping these groups comes to.
fn stopped(groups: &[&GroupPlan]) -> words::Stopped {
    let mut stopped = words::Stopped::default();
    for group in groups {
        let name = format!("{}/{}", group.namespace, group.name);
        stopped.running += group.pods.len();
        stopped.pending += group.pending.len();
        if group.pods.is_empty() && group.pending.is_empty() {
            stopped.without_pods.push(name);
        } else {
            stopped.with_pods.push(name);
        }
    }
    stopped
}

/// Members of these groups that are not scheduled.
fn pods_of(groups: &[&GroupPlan]) -> Vec<String> {
    let pods = groups.iter().flat_map(|group| {
        let pods = group.pending.iter();
        pods.map(|pod| format!("pod/{}/{pod}", group.namespace))
    });
    pods.collect()
}

/// `kubectl delete`, of what may be gone meanwhile.
fn delete<N: AsRef<str>>(
    resource: Resource,
    namespace: &str,
    names: impl IntoIterator<Item = N>,
) -> Result<Script, NoCommand> {
    Command::kubectl("delete")
        .objects(resource, names)
        .namespace(namespace)
        .arg("--ignore-not-found")
        .done()
}
