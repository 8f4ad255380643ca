//! An explanation as it is printed: as JSON, or in the layout of `kubectl describe` where there is no terminal.

use crate::output::{Column, Detail, Layout, Span, Table, Tone, span};
use dra_reports::explanation::{
    AlikeReason, ClusterVerdict, Explanation, FilterCount, FixItem, GetsItem, RISKY,
};

const FILTERS: &[Column<FilterCount>] = &[
    Column::inner("FILTER", |filter, cell| cell.text(filter.plugin)),
    Column::inner("NODES", |filter, cell| cell.text(filter.nodes)),
    Column::inner("MESSAGES", |filter, cell| cell.text(filter.messages.join(", "))),
];

const REASONS: &[Column<AlikeReason, Detail>] = &[
    Column::inner("REQUEST", |reason, cell| cell.option(reason.request.as_ref())),
    Column::inner("CODE", |reason, cell| cell.text(reason.code())),
    Column::inner("DEVICES", |reason, cell| {
        let names: Vec<&str> = reason.devices.iter().map(|name| name.as_str()).collect();
        match (names.as_slice(), cell.context) {
            ([], _) => cell.option(None::<&str>),
            (all, Detail::Wide) => cell.text(all.join(",")),
            (all, Detail::Normal) => cell.text(shortened(all)),
        }
    }),
    Column::inner("REASON", |reason, cell| cell.text(reason.message())),
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
        layout.field("Waiting", waiting.summary.capitalized());
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
                .map(|reason| format!("{}: {}", reason.code(), reason.message())),
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
        nodes(&mut layout, explanation, detail);
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

pub(super) fn plain(text: impl std::fmt::Display) -> Span {
    span(Tone::Plain, text)
}

/// Nodes that are rejected for the same reasons are told together.
fn nodes(layout: &mut Layout, explanation: &Explanation, detail: Detail) {
    let groups = explanation.alike();
    let told = if detail == Detail::Wide {
        groups.len()
    } else {
        TOLD
    };
    let rest: usize = groups.iter().skip(told).map(|(_, names)| names.len()).sum();
    for (reasons, names) in groups.into_iter().take(told) {
        let names: Vec<&str> = names.into_iter().map(|name| name.as_str()).collect();
        layout.section(&format!("Nodes {}", shortened(&names)), |section| {
            section.table(Table::with(REASONS, detail, &detail, reasons));
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
