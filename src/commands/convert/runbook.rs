//! The steps of a downgrade as people read them.

use crate::inspect::conversion::{ComponentChange, ConversionPlan, GroupPlan, Step};
use crate::output::{Column, Detail, Layout, Table, Tone, list_or_none};

use crate::inspect::conversion::Decision;

pub(in crate::commands) const GROUPS: &[Column<GroupPlan>] = &[
    Column::inner("NAMESPACE", |group, cell| cell.text(&group.namespace)),
    Column::inner("PODGROUP", |group, cell| cell.text(&group.name)),
    Column::inner("DECISION", |group, cell| {
        cell.toned(tone(group.decision), group.decision.text());
    }),
    Column::inner("PODS", |group, cell| cell.list(&group.pods)),
    Column::inner("WITHOUT NODE", |group, cell| cell.list(&group.pending)),
    Column::inner("CLAIMS", |group, cell| cell.list(&group.claims)),
    Column::inner("REASON", |group, cell| cell.option(group.reason.as_deref())),
    Column::inner_wide("OWNERS", |group, cell| cell.list(&group.owners)),
];

/// The table of claims, that of groups, and the steps.
pub(super) fn layout(plan: &ConversionPlan, claims: Table, detail: Detail) -> Layout {
    let mut layout = Layout::new();
    layout.section("Claims", |section| {
        section.table(claims);
    });
    layout.section("Groups", |section| {
        section.table(Table::new(GROUPS, detail, &plan.groups));
    });
    for step in &plan.steps {
        let done = if step.done { " (nothing to do)" } else { "" };
        layout.section(&format!("Step {}: {}{done}", step.order, step.title), |section| {
            fill(section, step);
        });
    }
    layout
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Drain => Tone::Bad,
        Decision::KeepRunning => Tone::Good,
        Decision::Leave => Tone::Plain,
    }
}

fn fill(section: &mut Layout, step: &Step) {
    section.field("Why", &step.why);
    if step.done {
        return;
    }
    if step.confirm {
        section.toned("Confirm", Tone::Notice, "look at it before you go on");
    }
    if !step.manual.is_empty() {
        section.list("By hand", &step.manual);
    }
    if !step.components.is_empty() {
        section.list("Start again", step.components.iter().map(change));
    }
    if !step.commands.is_empty() {
        section.section("Run", |commands| {
            // Lines to be copied are not wrapped.
            for command in &step.commands {
                commands.verbatim(command);
            }
        });
    }
    if !step.accepted_exit_codes.is_empty() {
        section.field(
            "Goes on with exit codes",
            list_or_none(std::iter::once(&0).chain(&step.accepted_exit_codes)),
        );
    }
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
        format!(" with {}", gates.join(","))
    };
    format!("{}{}{gates}", change.component, version.unwrap_or_default())
}
