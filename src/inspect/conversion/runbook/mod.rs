//! The way to an older release, or to a gate that is off, for one very cluster: ordered steps as data.
//!
//! The order was proven with real control planes: 1.37.1 was replaced by 1.36.4 and 1.35.8 on the same data with pods running all the
//! time. The numbers are those that findings in front of a downgrade have as `order`: 1 groups with generated claims end, gates on;
//! 2 convert; 3 the claim gate goes off in scheduler and controller-manager; 4 convert again; 5 PodGroups and Workloads go; 6 taint
//! rules go; 7 all gates off; 8 the downgrade itself; 9 the proof. 1 to 7 come before the first component is changed.

mod convert;
mod leave;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::groups::GroupPlan;
use super::plan::{ConversionPlan, Entry, PlannedClaim};
use crate::model::{Cluster, Gate, Kind, Str};
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
pub(in crate::inspect::conversion) fn steps(
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

    /// The flags of `convert` that make it do what the plan says.
    fn purpose(&self) -> String {
        let options = &self.plan.options;
        let mut flags = match self.target {
            Target::Minor(minor) => format!(" --to-version 1.{minor}"),
            Target::GateOff(gate) => format!(" --disable-gate {gate}"),
        };
        if options.include_generated {
            flags.push_str(" --include-generated");
        }
        if options.kinds == ["*"] {
            flags.push_str(" --all-kinds");
        } else if options.kinds != ["podgroups.scheduling.k8s.io"] {
            for kind in &options.kinds {
                flags.push_str(" --kind ");
                flags.push_str(&quoted(kind));
            }
        }
        flags + &self.scope()
    }

    /// Entries of kinds other than PodGroups, with their claims.
    fn foreign(&self) -> Vec<(&PlannedClaim, &Entry)> {
        self.plan
            .claims
            .iter()
            .flat_map(|claim| claim.kept.iter().map(move |entry| (claim, entry)))
            .collect()
    }

    /// What is left for step 4 makes the verdict bad before.
    fn leaves_foreign(&self) -> Vec<u8> {
        if self.foreign().is_empty() {
            Vec::new()
        } else {
            vec![1]
        }
    }
}

/// The names as words of a shell.
fn words(names: &[&Str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    quoted.join(" ")
}

/// A word for a shell. Names of Kubernetes need no quotes; what a damaged file says may.
pub(in crate::inspect::conversion) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
