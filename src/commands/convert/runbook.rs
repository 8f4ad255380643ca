//! The steps of a downgrade as people read them.

use crate::output::{Column, Doc, Tone};
use dra_reports::conversion::{ComponentChange, ConversionPlan, Decision, GroupPlan, Step};
use dra_reports::script::{Arguments, Script};

pub(in crate::commands) const GROUPS: &[Column<GroupPlan>] = &[
    Column::inner("NAMESPACE", |group, cell| cell.text(&group.namespace)),
    Column::inner("PODGROUP", |group, cell| cell.text(&group.name)),
    Column::inner("DECISION", |group, cell| {
        cell.toned(tone(group.decision), group.decision);
    }),
    Column::inner("PODS", |group, cell| cell.list(&group.pods)),
    Column::inner("NOT SCHEDULED", |group, cell| cell.list(&group.pending)),
    Column::inner("CLAIMS", |group, cell| cell.list(&group.claims)),
    Column::inner("REASON", |group, cell| cell.option(group.reason.as_deref())),
    Column::inner("OWNERS", |group, cell| cell.list(&group.owners)),
];

/// Returns whether something has to be decided about the group.
pub(super) fn blocks(group: &GroupPlan) -> bool {
    group.decision == Decision::Drain || !group.pending.is_empty()
}

/// The steps that `shows` takes, by their names.
pub(super) fn steps(doc: &mut Doc, plan: &ConversionPlan, shows: impl Fn(&str, &Step) -> bool) {
    let names = Step::names(&plan.steps);
    let steps = names.iter().zip(&plan.steps);
    for (name, step) in steps.filter(|(name, step)| shows(name, step)) {
        let done = if step.done { " (nothing to do)" } else { "" };
        doc.section(&format!("Step {name}: {}{done}", step.title), |section| {
            fill(section, step);
        });
    }
}

pub(super) fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Drain => Tone::Bad,
        Decision::KeepRunning => Tone::Good,
        Decision::Leave => Tone::Plain,
    }
}

fn fill(section: &mut Doc, step: &Step) {
    /// The step in which a condition is named that has nothing to do with owners.
    const FINALIZERS: u32 = 5;
    section.field("Why", &step.why);
    if step.done {
        return;
    }
    if step.confirm {
        let first = if step.order == FINALIZERS {
            "finish the manual steps first"
        } else {
            "agree with the owners first"
        };
        section.toned("First", Tone::Notice, first);
    }
    section.any("Manual steps", &step.manual);
    section.any("Restart", step.components.iter().map(change));
    let commands: Vec<(&str, Option<&Arguments>)> = step
        .commands
        .iter()
        .enumerate()
        .map(|(number, command)| (command.as_str(), step.runs.get(number)))
        .collect();
    // A step that needs agreement stops pods, except for the backup that it makes.
    let (run, decide): (Vec<_>, Vec<_>) = commands
        .into_iter()
        .partition(|(_, arguments)| !step.confirm || arguments.is_some_and(only_saves));
    for (title, commands) in [("Run", run), ("Decide", decide)] {
        if commands.is_empty() {
            continue;
        }
        section.section(title, |section| {
            for (command, arguments) in commands {
                match arguments {
                    Some(arguments) => section.command("", &Script::from(arguments)),
                    None => section.verbatim(command),
                };
            }
        });
    }
    if !step.accepted_exit_codes.is_empty() {
        let codes: Vec<String> = step.accepted_exit_codes.iter().map(u8::to_string).collect();
        section.field(
            "Continue",
            format_args!("on exit code 0 or {}", codes.join(" or ")),
        );
    }
}

/// Returns whether the command changes nothing in the cluster.
fn only_saves(arguments: &Arguments) -> bool {
    arguments
        .argv
        .starts_with(&["kubectl", "dra", "snapshot"].map(str::to_owned))
}

/// `kube-scheduler with DRAWorkloadResourceClaims=false`.
fn change(change: &ComponentChange) -> String {
    let version = change.version.as_deref().map(|version| format!(" {version}"));
    let gates: Vec<String> = change
        .feature_gates
        .iter()
        .map(|(gate, enabled)| format!("{gate}={enabled}"))
        .collect();
    let gates = if gates.is_empty() {
        String::new()
    } else {
        format!(" with {}", gates.join(", "))
    };
    format!("{}{}{gates}", change.component, version.unwrap_or_default())
}
