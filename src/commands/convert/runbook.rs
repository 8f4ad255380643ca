//! The steps of a downgrade as people read them.

use crate::inspect::conversion::{ComponentChange, ConversionPlan, GroupPlan, Step};
use crate::output::{Column, Detail, Layout, Table, Tone, list_or_none};

use crate::inspect::conversion::Decision;

const GROUPS: &[Column] = &[
    Column::new("NAMESPACE", ".namespace"),
    Column::new("PODGROUP", ".name"),
    Column::new("DECISION", ".decision"),
    Column::new("PODS", ".pods[0]"),
    Column::new("WITHOUT NODE", ".pending[0]"),
    Column::new("CLAIMS", ".claims[0]"),
    Column::new("REASON", ".reason"),
    Column::wide("OWNERS", ".owners[0].name"),
];

/// The table of claims, that of groups, and the steps.
pub(super) fn layout(plan: &ConversionPlan, claims: Table, detail: Detail) -> Layout {
    let mut layout = Layout::new();
    layout.section("Claims", |section| {
        section.table(claims);
    });
    let mut groups = Table::new(GROUPS, detail);
    for group in &plan.groups {
        add_row(&mut groups, group);
    }
    layout.section("Groups", |section| {
        section.table(groups);
    });
    for step in &plan.steps {
        let done = if step.done { " (nothing to do)" } else { "" };
        layout.section(&format!("Step {}: {}{done}", step.order, step.title), |section| {
            fill(section, step);
        });
    }
    layout
}

fn add_row(table: &mut Table, group: &GroupPlan) {
    let tone = match group.decision {
        Decision::Drain => Tone::Bad,
        Decision::KeepRunning => Tone::Good,
        Decision::Leave => Tone::Plain,
    };
    table.row(|row| {
        row.cell(&group.namespace)
            .cell(&group.name)
            .toned(tone, group.decision.text())
            .cell(list_or_none(&group.pods))
            .cell(list_or_none(&group.pending))
            .cell(list_or_none(&group.claims))
            .option(group.reason.as_deref())
            .cell(list_or_none(&group.owners));
    });
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
