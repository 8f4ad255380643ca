//! What a terminal shows of a plan: what it costs and what comes next, then each claim, each group and each step.

use super::{Planned, tone};
use crate::commands::convert::runbook;
use crate::commands::shown;
use crate::output::{Layout, Screen, Tone, counted, span};
use dra_reports::conversion::{Decision, GroupPlan, PlannedAction, PlannedClaim, Step};
use dra_reports::script::{Command, Script};

/// Claims and groups that are told one by one.
const TOLD: usize = 20;

/// Where what a line is about begins, behind a word for it.
const HANGING: usize = 10;

pub(super) fn of(planned: &Planned, screen: Screen) -> Layout {
    let Planned {
        plan,
        cost,
        only_blocking,
    } = planned;
    let mut layout = Layout::new();
    if let Some(cost) = cost {
        let target = match (&plan.options.to_version, &plan.options.disable_gate) {
            (Some(version), _) => format!("a downgrade to {version}"),
            (None, Some(gate)) => format!("switching off {gate}"),
            (None, None) => "the change".to_owned(),
        };
        let (tone, head) = if cost.is_nothing() {
            (
                Tone::Good,
                format!("ready for {target}: nothing ends, nothing is converted"),
            )
        } else if cost.ending.is_empty()
            && cost.later == 0
            && cost.refused.is_empty()
            && cost.foreign.is_empty()
        {
            (
                Tone::Notice,
                format!("not yet ready for {target}: no pod has to end"),
            )
        } else {
            (
                Tone::Bad,
                format!("not ready for {target}: something has to be decided"),
            )
        };
        layout.line(2, [span(tone, format!("{} {head}", screen.sign(tone)))]);
        shown::cost(&mut layout, cost);
        next(&mut layout, planned, screen);
        layout.line(0, []);
    }
    let claims: Vec<&PlannedClaim> = planned.claims().collect();
    layout.section("Claims", |section| {
        for claim in claims.iter().take(TOLD) {
            of_claim(section, claim);
        }
        more(section, claims.len(), "claim", "claims");
    });
    if plan.steps.is_empty() {
        return layout;
    }
    let groups = plan.groups.iter();
    let groups: Vec<&GroupPlan> = groups
        .filter(|group| !only_blocking || runbook::blocks(group))
        .collect();
    layout.section("Groups", |section| {
        for group in groups.iter().take(TOLD) {
            of_group(section, group);
        }
        more(section, groups.len(), "group", "groups");
    });
    runbook::steps(&mut layout, plan, *only_blocking, Some(screen));
    layout
}

/// The first command of the first step that is not done.
fn next(layout: &mut Layout, planned: &Planned, screen: Screen) {
    let steps = &planned.plan.steps;
    let names = Step::names(steps);
    let Some((name, step)) = names.iter().zip(steps).find(|(_, step)| !step.done) else {
        return;
    };
    let label = format!("Next: step {name}: ");
    match step.runs.first() {
        Some(arguments) => {
            shown::command(layout, screen, 0, &label, &Script::from(arguments));
        }
        None => {
            layout.line(6, [span(Tone::Plain, format!("{label}{}", step.title))]);
        }
    }
}

/// How many were not told.
fn more(section: &mut Layout, all: usize, one: &'static str, many: &'static str) {
    let Some(rest @ 1..) = all.checked_sub(TOLD) else {
        return;
    };
    let wide = Command::dra("convert").args(&["plan", "-o", "wide"]).done();
    let wide = wide.map(|script| script.to_string()).unwrap_or_default();
    let text = format!("{} more: {wide} lists them", counted(rest, one, many));
    section.line(2, [span(Tone::Plain, text)]);
}

fn of_claim(section: &mut Layout, claim: &PlannedClaim) {
    let word = match claim.action {
        PlannedAction::Convert => "convert",
        PlannedAction::Release => "release",
        PlannedAction::Keep => "keep",
        PlannedAction::Refuse => "refuse",
    };
    let what = match claim.action {
        PlannedAction::Convert | PlannedAction::Release => {
            let entries = claim.remove.iter().map(ToString::to_string);
            let pods: Vec<&str> = claim.add.iter().map(|pod| pod.name.as_str()).collect();
            let entries = entries.collect::<Vec<_>>().join(", ");
            match shown::first(&pods, 4) {
                _ if pods.is_empty() => format!("{entries} goes, no pod uses it"),
                pods => format!("{entries} becomes {pods}"),
            }
        }
        PlannedAction::Keep | PlannedAction::Refuse => {
            let reason = claim.reason.clone();
            reason.unwrap_or_else(|| claim.code.text().to_owned())
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
                span(Tone::Plain, format!("way out: {way_out}")),
            ],
        );
    }
}

fn of_group(section: &mut Layout, group: &GroupPlan) {
    let word = match group.decision {
        Decision::Drain => "end",
        Decision::KeepRunning => "run on",
        Decision::Leave => "leave",
    };
    let pods: Vec<&str> = group.pods.iter().map(|pod| pod.as_str()).collect();
    let mut what = if pods.is_empty() {
        "no running pod".to_owned()
    } else {
        shown::first(&pods, 4)
    };
    if !group.pending.is_empty() {
        let pending: Vec<&str> = group.pending.iter().map(|pod| pod.as_str()).collect();
        what.push_str(&format!("; without a node: {}", shown::first(&pending, 4)));
    }
    if let Some(reason) = &group.reason {
        what.push_str(&format!("; {reason}"));
    }
    let tone = runbook::tone(group.decision);
    told(section, word, tone, &group.namespace, &group.name, &what);
}

fn told(section: &mut Layout, word: &str, tone: Tone, namespace: &str, name: &str, what: &str) {
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
