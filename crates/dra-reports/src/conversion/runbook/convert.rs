//! Steps 1 to 4: groups that cannot go on end, the others' claims become lists of pods, and no component puts an entry back.

use std::collections::{BTreeMap, BTreeSet};

use super::{Book, Commands, ComponentChange, Step, with_kind};
use crate::conversion::groups::{Decision, GroupPlan};
use crate::script::{Command, NoCommand, Resource, Script};
use dra_model::{Component, Gate, Kind, Str};
use dra_rules::reservation::conversion::{Action, ClaimGate, Code};

/// How the operator tells `convert` that no scheduler reserves for groups any more.
const GATES_ARE_OFF: &[&str] = &[
    "--scheduler-feature-gates=DRAWorkloadResourceClaims=false",
    "--kcm-feature-gates=DRAWorkloadResourceClaims=false",
];

impl Book<'_> {
    /// 1: groups that cannot go on end while the gates are on.
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
            manual.push(
                "switch DRAWorkloadResourceClaims on again in kube-scheduler and kube-controller-manager first: without it no controller frees \
                 the claims of these groups"
                    .to_owned(),
            );
        }
        let mut commands = Commands::default();
        let mut paused = BTreeSet::new();
        for group in &drained {
            for owner in &group.owners {
                if !paused.insert((group.namespace.clone(), owner.clone())) {
                    continue;
                }
                match owner.pause(&group.namespace) {
                    Some(command) => commands.add(command),
                    None => manual.push(format!(
                        "pause `{owner}` in namespace `{}`, and what owns it, so that it does not make its pods again",
                        group.namespace
                    )),
                }
            }
        }
        for group in &drained {
            let pods: Vec<_> = group.pods.iter().chain(&group.pending).collect();
            if !pods.is_empty() {
                commands.add(delete(Kind::Pod.into(), &group.namespace, pods));
            }
            if group.exists {
                let podgroups = Resource::full(Kind::PodGroup);
                commands.add(delete(podgroups, &group.namespace, [&group.name]));
            }
            for claim in &group.generated_claims {
                commands.add(
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
            manual.push(
                "scale the controllers of their pods to 0, or the pods come back and are reserved for their group again; go on once nothing is \
                 left in these groups"
                    .to_owned(),
            );
        }
        if !commands.is_empty() {
            // Pods without an owner are gone for good.
            let save = Command::dra("snapshot").args(&["--no-redact", "--out=before-downgrade.json"]);
            let all = std::iter::once(save.done());
            let rest = commands.scripts.drain(..).map(Ok).collect::<Vec<_>>();
            let refused = std::mem::take(&mut commands.refused);
            commands = all.chain(rest).chain(refused.into_iter().map(Err)).collect();
        }
        let first = Step {
            order: 1,
            title: "End the groups that cannot go on, while the gates are on".to_owned(),
            why: "older claim controllers give running pods new claims without devices in the place of one that was made for their \
                  group, converted or not; and without the gate no controller frees claims of groups"
                .to_owned(),
            manual,
            done: commands.is_empty(),
            confirm: !commands.is_empty(),
            ..Step::default()
        }
        .run(commands);
        if pending.is_empty() {
            return vec![first];
        }
        let members = |group: &&GroupPlan| {
            let names: Vec<&str> = group.pending.iter().map(Str::as_str).collect();
            format!(
                "PodGroup `{}/{}`: wait until they have a node, or delete them: `{}`",
                group.namespace,
                group.name,
                names.join("`, `")
            )
        };
        let end = |group: &&GroupPlan| delete(Kind::Pod.into(), &group.namespace, &group.pending);
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
            confirm: true,
            ..Step::default()
        }
        .run(pending.iter().map(end).collect());
        vec![first, second]
    }

    /// 2: named claims become lists of pods.
    pub(super) fn convert(&self) -> Step {
        let to_do = self.plan.claims.iter().any(|claim| match &claim.action {
            Action::Convert(_) | Action::Release(_) => true,
            Action::Refuse(refusal) => refusal.code() == Code::UnscheduledMembers,
            Action::Keep => false,
        });
        Step {
            order: 2,
            title: "Convert reservations for groups into lists of pods".to_owned(),
            why: "an older claim controller never removes the entry of a group: claim, devices and namespace are never freed".to_owned(),
            accepted_exit_codes: self.leaves_foreign(),
            done: !to_do,
            ..Step::default()
        }
        .run(
            [self
                .purposeful()
                .args(&["--wait", "--timeout=10m", "--yes"])
                .done()]
            .into_iter()
            .collect(),
        )
    }

    /// 3: no scheduler reserves for groups any more.
    pub(super) fn claim_gate_off(&self) -> Step {
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
            done: self.plan.gate == ClaimGate::Off,
            ..Step::default()
        }
    }

    /// 4: what came back in between, and what other kinds left.
    pub(super) fn convert_again(&self) -> Vec<Step> {
        let foreign = self.foreign();
        let convert = self.purposeful().args(&["--final", "--settle=30s"]);
        let convert = convert.args(GATES_ARE_OFF).arg("--yes").done();
        let again = Step {
            order: 4,
            title: "Convert what came back in between".to_owned(),
            why: "a scheduling attempt that began before the first conversion binds its pod without any entry, and the controller manager \
                  repairs none of a member of a group"
                .to_owned(),
            accepted_exit_codes: self.leaves_foreign(),
            done: false,
            ..Step::default()
        };
        let mut steps = vec![again.run([convert].into_iter().collect())];
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
                order: 4,
                title: "Remove entries of other kinds whose owner is gone".to_owned(),
                why: "no controller of Kubernetes removes them; from 1.35 down they keep every entry of the claim from being removed".to_owned(),
                manual: foreign
                    .iter()
                    .map(|(claim, entry)| {
                        format!(
                            "ask the owner of `{entry}`, which claim `{}` is reserved for, or make sure that it is gone",
                            claim.key
                        )
                    })
                    .collect(),
                accepted_exit_codes: Vec::new(),
                confirm: true,
                ..Step::default()
            };
            steps.push(step.run([convert].into_iter().collect()));
        }
        let verify = Step {
            order: 4,
            title: "Verify".to_owned(),
            why: "from here on no component repairs a list".to_owned(),
            accepted_exit_codes: self.leaves_foreign(),
            ..Step::default()
        };
        steps.push(verify.run([self.verify()].into_iter().collect()));
        steps
    }

    /// `kubectl dra convert verify`.
    pub(super) fn verify(&self) -> Result<Script, NoCommand> {
        self.scoped(Command::dra("convert").arg("verify")).done()
    }
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
