//! The way to an older release, or to a gate that is off, for one cluster: ordered steps as data.
//!
//! The order was proven with real control planes: 1.37.1 was replaced by 1.36.4 and 1.35.8 on the same data while pods kept running. The
//! numbers are the `order` of findings before a downgrade: 1 groups with generated claims are stopped, gates on; 2 convert; 3 the claim gate
//! is turned off in scheduler and controller-manager; 4 convert again; 5 PodGroups and Workloads are deleted; 6 taint rules are deleted;
//! 7 all gates off; 8 the downgrade itself; 9 the result is verified. 1 to 7 come before the first component is changed.

mod convert;
mod leave;

use std::collections::BTreeMap;

use itertools::Itertools;
use serde::{Deserialize, Serialize};

use super::groups::GroupPlan;
use super::options::{POD_GROUPS, PlanScope};
use crate::script::{Arguments, Command, NoCommand, Script};
use dra_model::{Cluster, Component, ConsumerReference, Gate, Kind, Release};
use dra_rules::reservation::conversion::{ClaimPlan, Kinds, Options, Plan, Target, kind_word};

/// Kinds that the steps need, besides those of the plan.
pub const RUNBOOK_NEEDS: [Kind; 2] = [Kind::Workload, Kind::DeviceTaintRule];

/// One step of a downgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// As `order` of the findings of `check --to-version`. Steps of the same order follow each other.
    #[schemars(range(min = 1))]
    pub order: u32,
    /// What is done.
    pub title: String,
    /// What is done in this cluster, with names and numbers. Absent where the title says all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What happens without it.
    pub why: String,
    /// What no command does, or has to be decided before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub manual: Vec<String>,
    /// Components to restart, every replica, in this order, before the commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentChange>,
    /// Lines for a shell, to be run one after the other.
    pub commands: Vec<String>,
    /// The arguments of each of the commands, in the same order. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Arguments>,
    /// Exit codes other than 0 that a command may exit with before the next one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_exit_codes: Vec<u8>,
    /// Whether a person has to confirm it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub confirm: bool,
    /// Whether there is nothing to do in this cluster.
    pub done: bool,
}

impl Step {
    fn new(order: u32, title: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            order,
            title: title.into(),
            why: why.into(),
            ..Self::default()
        }
    }

    /// Names of `steps`: the order, and a letter where several have the same.
    pub fn names(steps: &[Self]) -> Vec<String> {
        let mut names = Vec::new();
        for same in steps.chunk_by(|one, next| one.order == next.order) {
            let one = |(step, letter): (&Self, char)| format!("{}{letter}", step.order);
            match same {
                [single] => names.push(single.order.to_string()),
                several => names.extend(several.iter().zip('a'..='z').map(one)),
            }
        }
        names
    }

    /// What is done in this cluster, in one line.
    pub fn line(&self) -> &str {
        if self.summary.is_empty() {
            &self.title
        } else {
            &self.summary
        }
    }

    /// The step with these commands. What a name allows no command for has to be done by hand.
    fn run(mut self, commands: Commands) -> Self {
        let (scripts, refused): (Vec<Script>, Vec<NoCommand>) = commands.into_iter().partition_result();
        self.commands = scripts.iter().map(Script::to_string).collect();
        self.runs = scripts.iter().map(Script::arguments).collect();
        self.manual
            .extend(refused.iter().map(NoCommand::to_string).unique());
        self
    }
}

/// The commands of a step, and why there is none for a name.
type Commands = Vec<Result<Script, NoCommand>>;

/// A component that is restarted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentChange {
    /// Its program's name.
    #[schemars(extend("enum" = Component::ALL.map(<&str>::from)))]
    pub component: String,
    /// The release that it is from then on; absent where that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Gates to set; others stay as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("minProperties" = 1))]
    pub feature_gates: BTreeMap<String, bool>,
}

/// The steps from `cluster` to `target`, where `plan`, made with `options` for `scope`, is what has to be converted, and `groups` says
/// what becomes of each group.
pub(in crate::conversion) fn steps(
    cluster: &Cluster,
    target: Target,
    scope: &PlanScope,
    options: &Options,
    plan: &Plan,
    groups: &[GroupPlan],
) -> Vec<Step> {
    let book = Book {
        cluster,
        target,
        scope,
        options,
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

/// Whether PodGroups are no longer served with `target`.
pub(super) fn groups_go(target: Target) -> bool {
    match target {
        Target::Minor(minor) => !Release::of_minor(minor).serves_groups,
        Target::GateOff(gate) => gate == Gate::GenericWorkload,
    }
}

struct Book<'a> {
    cluster: &'a Cluster,
    target: Target,
    scope: &'a PlanScope,
    options: &'a Options,
    plan: &'a Plan,
    groups: &'a [GroupPlan],
}

impl Book<'_> {
    /// Whether PodGroups are no longer served at the end.
    fn groups_go(&self) -> bool {
        groups_go(self.target)
    }

    /// The command with the flag that says where.
    fn scoped(&self, command: Command) -> Command {
        match &self.scope.namespace {
            Some(namespace) => command.namespace(namespace),
            None => command,
        }
    }

    /// `convert` with the flags that make it do what the plan says.
    fn purposeful(&self) -> Command {
        let command = Command::dra("convert");
        let mut command = match self.target {
            Target::Minor(minor) => command.option("--to-version", &format!("1.{minor}")),
            Target::GateOff(gate) => command.option("--disable-gate", gate.name()),
        };
        if self.options.include_generated {
            command = command.arg("--include-generated");
        }
        command = match &self.options.kinds {
            Kinds::PodGroups => command,
            Kinds::All => command.arg("--all-kinds"),
            Kinds::Named(kinds) if kinds.iter().eq([POD_GROUPS]) => command,
            Kinds::Named(kinds) => kinds.iter().fold(command, with_kind),
        };
        self.scoped(command)
    }

    /// Entries of kinds other than PodGroups, with their claims.
    fn foreign(&self) -> Vec<(&ClaimPlan, &ConsumerReference)> {
        self.plan
            .claims
            .iter()
            .flat_map(|claim| claim.kept.iter().map(move |entry| (claim, entry)))
            .collect()
    }

    /// Entries that are left for step 4 are problems before.
    fn leaves_foreign(&self) -> Vec<u8> {
        if self.foreign().is_empty() {
            Vec::new()
        } else {
            vec![1]
        }
    }
}

/// `--kind=KIND`.
fn with_kind(command: Command, kind: impl AsRef<str>) -> Command {
    let kind = kind.as_ref();
    command
        .unless(kind_word(kind).as_deref() != Ok(kind), "a kind", kind)
        .option("--kind", kind)
}
