//! An explanation as it is printed: as JSON, or in the layout of `kubectl describe` where there is no terminal.

use std::collections::BTreeMap;

use crate::output::{Column, Detail, Layout, Span, Table, Tone, span};
use dra_reports::explanation::{
    ClusterVerdict, Explanation, FilterCount, FixItem, GetsItem, NodeExplanation, RISKY, ReasonItem,
};

const FILTERS: &[Column<FilterCount>] = &[
    Column::inner("FILTER", |filter, cell| cell.text(filter.plugin)),
    Column::inner("NODES", |filter, cell| cell.text(filter.nodes)),
    Column::inner("MESSAGES", |filter, cell| cell.text(filter.messages.join(", "))),
];

const REASONS: &[Column<Summary>] = &[
    Column::inner("REQUEST", |summary, cell| cell.text(&summary.request)),
    Column::inner("CODE", |summary, cell| cell.text(summary.code)),
    Column::inner("DEVICES", |summary, cell| cell.text(&summary.devices)),
    Column::inner("REASON", |summary, cell| cell.text(&summary.message)),
];

/// Nodes with different reasons that are told one by one unless `-o wide` asks for all.
const TOLD: usize = 5;

/// Devices of one reason that are named before the rest is counted.
const NAMED: usize = 3;

pub(super) fn layout(explanation: &Explanation, detail: Detail) -> Layout {
    let mut layout = Layout::new();
    layout.field("Object", object(explanation));
    layout.toned(
        "Verdict",
        tone(explanation),
        format!("{:?}: {}", explanation.verdict, explanation.summary),
    );
    if let Some(cause) = explanation.cause.as_ref().filter(|_| !explanation.tells_cause) {
        layout.field("Cause", cause);
    }
    if let Some(message) = &explanation.message {
        layout.field("Scheduler", message);
    }
    if let Some(waiting) = &explanation.waiting {
        layout.field("Waiting", first_upper(&waiting.summary));
    }
    if !explanation.unknown.is_empty() {
        layout.list("Unknown", &explanation.unknown);
    }
    if !explanation.reasons.is_empty() {
        layout.list(
            "Reasons",
            explanation
                .reasons
                .iter()
                .map(|reason| format!("{}: {}", reason.code, reason.message)),
        );
    }
    if let Some(holds) = &explanation.holds {
        layout.list("Holds", &holds.devices);
        layout.list("For", &holds.consumers);
    }
    if !explanation.not_simulated.is_empty() {
        layout.field("Not Simulated", explanation.not_simulated.join(", "));
    }
    if !explanation.notes.is_empty() {
        layout.list("Note", &explanation.notes);
    }
    if !explanation.news.is_empty() {
        layout.list("Events", &explanation.news);
    }
    // What has its devices needs no node for them.
    let is_held = explanation.verdict == ClusterVerdict::Allocated;
    if !explanation.filters.is_empty() && !is_held {
        layout.section("Filters", |section| {
            section.table(Table::new(FILTERS, detail, &explanation.filters));
        });
    }
    if !is_held {
        nodes(&mut layout, &explanation.nodes, detail);
    }
    if !explanation.fixes.is_empty() {
        layout.section("What Would Help", |section| fixes(section, &explanation.fixes));
    }
    layout
}

pub(super) fn object(explanation: &Explanation) -> String {
    let kind = if explanation.target.is_pod() {
        "pod"
    } else {
        "claim"
    };
    format!(
        "{kind}/{}/{}",
        explanation.target.namespace, explanation.target.name
    )
}

pub(super) fn tone(explanation: &Explanation) -> Tone {
    match explanation.verdict {
        ClusterVerdict::Fits | ClusterVerdict::Bound | ClusterVerdict::Allocated => Tone::Good,
        ClusterVerdict::DoesNotFit | ClusterVerdict::Broken | ClusterVerdict::Error => Tone::Bad,
        _ => Tone::Notice,
    }
}

/// The sentence with a capital letter.
pub(super) fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next();
    first
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(characters)
        .collect()
}

pub(super) fn plain(text: impl std::fmt::Display) -> Span {
    span(Tone::Plain, text)
}

/// Nodes that are rejected for the same reasons are told together.
fn nodes(layout: &mut Layout, nodes: &[NodeExplanation], detail: Detail) {
    let mut alike: BTreeMap<Vec<Summary>, Vec<&str>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !node.fits && !node.reasons.is_empty()) {
        alike
            .entry(summaries(&node.reasons, detail))
            .or_default()
            .push(&node.node);
    }
    let mut groups: Vec<_> = alike.into_iter().collect();
    // The largest groups first, and those with most to say of DynamicResources.
    groups.sort_by(|(a, of_a), (b, of_b)| {
        of_b.len()
            .cmp(&of_a.len())
            .then_with(|| of_a.cmp(of_b))
            .then_with(|| a.cmp(b))
    });
    let told = if detail == Detail::Wide {
        groups.len()
    } else {
        TOLD
    };
    let rest: usize = groups.iter().skip(told).map(|(_, names)| names.len()).sum();
    for (reasons, names) in groups.into_iter().take(told) {
        layout.section(&format!("Nodes {}", shortened(&names)), |section| {
            section.table(Table::new(REASONS, detail, reasons));
        });
    }
    if rest > 0 {
        layout.field(
            "Other Nodes",
            format!(
                "{}: -o wide",
                crate::output::counted(rest, "more node", "more nodes")
            ),
        );
    }
}

/// Reasons that only differ in the device.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Summary {
    request: String,
    code: &'static str,
    devices: String,
    message: String,
}

fn summaries(reasons: &[ReasonItem], detail: Detail) -> Vec<Summary> {
    let mut grouped: Vec<(&ReasonItem, Vec<&str>)> = Vec::new();
    for reason in reasons {
        let same = |(known, _): &&mut (&ReasonItem, Vec<&str>)| {
            known.code == reason.code && known.request == reason.request && known.message == reason.message
        };
        let device = reason
            .device
            .as_deref()
            .map(|id| id.rsplit('/').next().unwrap_or(id));
        match grouped.iter_mut().find(same) {
            Some((_, devices)) => devices.extend(device),
            None => grouped.push((reason, device.into_iter().collect())),
        }
    }
    grouped
        .into_iter()
        .map(|(reason, devices)| Summary {
            request: reason.request.as_deref().unwrap_or("<none>").to_owned(),
            code: reason.code,
            devices: match devices.as_slice() {
                [] => "<none>".to_owned(),
                all if detail == Detail::Wide => all.join(","),
                all => shortened(all),
            },
            message: reason.message.clone(),
        })
        .collect()
}

/// The names, or where they are many the first and how many more look the same, as a map has it.
pub(super) fn folded(names: &[&str]) -> String {
    match names {
        [first, rest @ ..] if rest.len() >= NAMED => format!("{first} +{}", rest.len()),
        _ => names.join(","),
    }
}

/// The first few names, and how many there are besides.
pub(super) fn shortened(names: &[&str]) -> String {
    let rest = names.len().saturating_sub(NAMED);
    let first = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(",");
    if rest == 0 {
        first
    } else {
        format!("{first} and {rest} more")
    }
}

fn fixes(layout: &mut Layout, fixes: &[FixItem]) {
    for (number, fix) in (1..).zip(fixes) {
        let read = |text: String| (false, text);
        let mut lines = vec![read(fix.message.clone())];
        if let Some(command) = &fix.command {
            lines.push((true, command.to_string()));
        }
        lines.extend(fix.note.clone().map(read));
        lines.extend(fix.gets.iter().map(GetsItem::text).map(read));
        lines.extend(fix.risky.then(|| read(RISKY.to_owned())));
        lines.extend(fix.look.iter().map(|look| (true, format!("see: {look}"))));
        let mut proof = if fix.proven { "tested" } else { "not tested" }.to_owned();
        if !fix.nodes.is_empty() {
            let names: Vec<&str> = fix.nodes.iter().map(|name| name.as_str()).collect();
            proof.push_str(": fits on ");
            proof.push_str(&shortened(&names));
        }
        if fix.proven && !fix.minimal {
            proof.push_str("; a smaller change may exist");
        }
        lines.push(read(proof));
        layout.lines(&number.to_string(), lines);
    }
}
