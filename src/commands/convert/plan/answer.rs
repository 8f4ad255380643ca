//! A plan as people read it: what it costs and what comes next, then each claim, each group and each step.

use super::{COLUMNS, Planned, Shown, tone};
use crate::commands::convert::runbook;
use crate::commands::shown;
use crate::output::{Doc, Page, Table, Tone, counted, span};
use dra_model::Str;
use dra_reports::conversion::{
    ConversionPlan, Decision, DowngradeCost, GroupPlan, PlannedAction, PlannedClaim, Step,
};
use dra_reports::findings::some;
use dra_reports::script::Script;

/// Number of claims and groups to print one by one.
const TOLD: usize = 20;

/// Column of a line's text, after its label.
const HANGING: usize = 10;

pub(super) fn of(planned: &Planned, page: Page) -> Doc {
    let Planned { plan, cost, shown } = planned;
    let mut doc = Doc::new();
    if let Shown::Step(name) = shown {
        runbook::steps(&mut doc, plan, |of, _| of == name);
        return doc;
    }
    let is_checklist = !page.is_wide() && matches!(shown, Shown::All);
    if let Some(cost) = cost {
        headline(&mut doc, page, plan, cost);
        if is_checklist {
            checklist(&mut doc, plan, cost);
            return doc;
        }
        shown::cost(&mut doc, cost);
        next(&mut doc, plan);
        doc.gap();
    }
    let claims: Vec<&PlannedClaim> = planned.claims().collect();
    let groups = plan.groups.iter();
    let groups: Vec<&GroupPlan> = groups
        .filter(|group| !matches!(shown, Shown::Blocking) || runbook::blocks(group))
        .collect();
    let longest = claims.len().max(groups.len());
    let is_whole = page.told(TOLD, longest) == longest;
    // Lines as long as they are have room for tables.
    let has_tables = page.is_wide() && !page.is_terminal();
    doc.section("Claims", |section| {
        if has_tables {
            section.table(Table::new(COLUMNS, page.detail(), claims));
        } else {
            let more = |rest: &[_]| counted(rest.len(), "more claim", "more claims");
            section.first(
                page,
                TOLD,
                &claims,
                |section, claim| of_claim(section, claim),
                more,
            );
        }
    });
    if !plan.steps.is_empty() {
        doc.section("Groups", |section| {
            if has_tables {
                section.table(Table::new(runbook::GROUPS, page.detail(), groups));
            } else {
                let more = |rest: &[_]| counted(rest.len(), "more group", "more groups");
                section.first(
                    page,
                    TOLD,
                    &groups,
                    |section, group| of_group(section, group),
                    more,
                );
            }
        });
        runbook::steps(&mut doc, plan, |_, step| {
            !matches!(shown, Shown::Blocking) || !step.done && step.confirm
        });
    }
    if !is_whole {
        doc.gap().more();
    }
    doc
}

/// Whether the cluster is ready, and how many decisions are left.
fn headline(doc: &mut Doc, page: Page, plan: &ConversionPlan, cost: &DowngradeCost) {
    let target = match (&plan.options.to_version, &plan.options.disable_gate) {
        (Some(version), _) => format!("a downgrade to {version}"),
        (None, Some(gate)) => format!("disabling {gate}"),
        (None, None) => "the change".to_owned(),
    };
    let to_decide = plan.steps.iter().filter(|step| !step.done && step.confirm);
    let decisions = to_decide.count() + usize::from(!cost.refused.is_empty());
    let (tone, head) = if cost.is_nothing() {
        (
            Tone::Good,
            format!("ready for {target}: no pods stop, no claims to convert"),
        )
    } else if cost.ending.is_empty() && cost.later == 0 && cost.refused.is_empty() && cost.foreign.is_empty()
    {
        (
            Tone::Notice,
            format!("not yet ready for {target}: no pods need to stop"),
        )
    } else {
        let decisions = counted(decisions, "decision", "decisions");
        (Tone::Bad, format!("not ready for {target}: {decisions}"))
    };
    doc.verdict(page, tone, head);
}

/// A line for each step that is left.
fn checklist(doc: &mut Doc, plan: &ConversionPlan, cost: &DowngradeCost) {
    let names = Step::names(&plan.steps);
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let task = |doc: &mut Doc, name: &str, is_decision: bool, text: &str| {
        let mut spans = vec![span(Tone::Strong, format!("{name:<width$}  "))];
        if is_decision {
            spans.push(span(Tone::Bad, "decide: "));
        }
        spans.push(span(Tone::Plain, text));
        doc.task(width + 2, spans);
    };
    for (name, step) in names.iter().zip(&plan.steps).filter(|(_, step)| !step.done) {
        // What cannot be converted is met there.
        if step.order == CONVERSION && !cost.refused.is_empty() {
            let names: Vec<String> = cost.refused.iter().map(|key| format!("claim/{key}")).collect();
            let text = format!("`convert` refuses {}", some(&names));
            task(doc, name, true, &text);
        }
        task(doc, name, step.confirm, step.line());
    }
    next(doc, plan);
    if let Some(name) = names.first() {
        doc.remark(format_args!("One step: --step {name}; checklist: -o markdown"));
    }
    doc.more();
}

/// The step that converts claims.
const CONVERSION: u32 = 2;

/// The first command of the first step that is not done.
fn next(doc: &mut Doc, plan: &ConversionPlan) {
    let steps = &plan.steps;
    let names = Step::names(steps);
    let Some((name, step)) = names.iter().zip(steps).find(|(_, step)| !step.done) else {
        return;
    };
    let label = format!("Next: step {name}: ");
    match step.runs.first() {
        Some(arguments) => {
            doc.command(label, &Script::from(arguments));
        }
        None => {
            doc.hanging(6, format!("{label}{}", step.title));
        }
    }
}

fn of_claim(section: &mut Doc, claim: &PlannedClaim) {
    let word = match claim.action {
        PlannedAction::Convert => "convert",
        PlannedAction::Release => "release",
        PlannedAction::Keep => "keep",
        PlannedAction::Refuse => "refuse",
    };
    let what = match claim.action {
        PlannedAction::Convert | PlannedAction::Release => {
            let entries = claim.remove.iter().map(ToString::to_string);
            let pods: Vec<&Str> = claim.add.iter().map(|pod| &pod.name).collect();
            let entries = entries.collect::<Vec<_>>().join(", ");
            match shown::first(&pods, 4) {
                _ if pods.is_empty() => format!("{entries} is removed: no pod uses the claim"),
                pods => format!("{entries} becomes {pods}"),
            }
        }
        PlannedAction::Keep | PlannedAction::Refuse => {
            let reason = claim.reason.clone();
            reason.unwrap_or_else(|| claim.code.to_string())
        }
    };
    told(
        section,
        word,
        tone(claim.action),
        &claim.namespace,
        &claim.name,
        &what,
    );
    if let Some(way_out) = &claim.way_out {
        section.line(
            HANGING,
            [
                span(Tone::Plain, " ".repeat(HANGING)),
                span(Tone::Plain, format!("to resolve: {way_out}")),
            ],
        );
    }
}

fn of_group(section: &mut Doc, group: &GroupPlan) {
    let word = match group.decision {
        Decision::Drain => "stop",
        Decision::KeepRunning => "running",
        Decision::Leave => "leave",
    };
    let mut what = if group.pods.is_empty() {
        "no running pod".to_owned()
    } else {
        shown::first(&group.pods, 4)
    };
    if !group.pending.is_empty() {
        what.push_str(&format!("; not scheduled: {}", shown::first(&group.pending, 4)));
    }
    if let Some(reason) = &group.reason {
        what.push_str(&format!("; {reason}"));
    }
    let tone = runbook::tone(group.decision);
    told(section, word, tone, &group.namespace, &group.name, &what);
}

fn told(section: &mut Doc, word: &str, tone: Tone, namespace: &str, name: &str, what: &str) {
    section.line(
        HANGING,
        [
            span(tone, word),
            span(Tone::Plain, " ".repeat(HANGING.saturating_sub(word.len()).max(1))),
            span(Tone::Strong, format!("{namespace}/{name}")),
            span(Tone::Plain, format!(": {what}")),
        ],
    );
}
