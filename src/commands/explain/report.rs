//! An explanation as people read it: the answer, then what it rests on, then what would help.

use std::collections::BTreeSet;

use itertools::Itertools as _;

use super::target::resource;
use super::words;
use crate::output::{Cell, Column, Detail, Doc, Page, Span, Table, Tone, counted, span};
use dra_model::Str;
use dra_reports::allocation::Target;
use dra_reports::explanation::{
    AlikeReason, ClusterVerdict, DeviceCount, Explanation, FilterCount, FixItem, Helps, NodeGroupItem,
};
use dra_reports::script::{Command, Script, Then};

const FILTERS: &[Column<FilterCount>] = &[
    Column::inner("FILTER", |filter, cell| cell.text(filter.plugin)),
    Column::inner("NODES", |filter, cell| cell.text(filter.nodes)),
    Column::inner("MESSAGES", |filter, cell| cell.text(filter.messages.join(", "))),
];

const REASONS: &[Column<AlikeReason>] = &[
    Column::inner("REQUEST", |reason, cell| cell.option(reason.request.as_ref())),
    Column::inner("CODE", |reason, cell| cell.text(reason.code())),
    Column::inner("DEVICES", |reason, cell| cell.list(&reason.devices)),
    Column::inner("REASON", |reason, cell| cell.text(reason.message())),
];

/// Nodes that look the same and are named in a table.
const NAMED: usize = 8;

/// What `--emit-fix` can print of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Emits {
    /// Nothing: `-f` is not repeated.
    Nothing,
    /// The command of a fix.
    Command,
    /// The objects that a fix recreates, as the cluster has them, or else its command.
    Objects,
}

/// Consumers of a claim that are printed.
const CONSUMERS: usize = 8;

/// The document.
pub(super) fn doc(explanation: &Explanation, page: Page, emits: Emits) -> Doc {
    let mut doc = Doc::new();
    doc.headline(
        page,
        tone(explanation),
        object(explanation),
        words::headline(explanation, explanation.user.as_ref().map(name)),
    );
    if !explanation.node_groups.is_empty() && !tells_all_of_nodes(explanation) {
        groups(&explanation.node_groups, page, &mut doc);
    }
    if let Some(waiting) = &explanation.waiting {
        doc.gap();
        let text = waiting.summary.capitalized();
        doc.line(2, [span(tone_of_waiting(explanation), text)]);
    }
    let mut more: Vec<(&str, String)> = explanation
        .untold()
        .map(|reason| ("Reason", reason.message().to_string()))
        .collect();
    let mut add = |key, texts: &[String]| more.extend(texts.iter().map(|text| (key, text.clone())));
    if let Some(holds) = &explanation.holds {
        add("Holds", &holds.devices);
        let (told, rest) = holds
            .consumers
            .split_at(page.told(CONSUMERS, holds.consumers.len()));
        add("Reserved for", told);
        if !rest.is_empty() {
            add("Reserved for", &[format!("{} more", rest.len())]);
        }
    }
    // What the rules predict is not a quotation.
    if explanation.said.is_some() {
        add("Scheduler", explanation.said.as_slice());
    } else {
        add("Scheduler would say", explanation.message.as_slice());
    }
    add("Event", &explanation.news);
    add("Unknown", &explanation.untold_unknown);
    add("Note", &explanation.notes);
    if !explanation.not_simulated.is_empty() {
        add("Not simulated", &[explanation.not_simulated.join(", ")]);
    }
    if !more.is_empty() {
        doc.gap();
    }
    for (key, text) in more {
        doc.line(2, [span(Tone::Strong, format!("{key}: ")), plain(text)]);
    }
    // What has its devices needs no node for them.
    if page.is_wide() && explanation.verdict != ClusterVerdict::Allocated {
        doc.titled_if_any("Filters", Table::of(FILTERS, &explanation.filters));
        nodes(&mut doc, explanation, page);
    }
    fixes(explanation, emits, page, &mut doc);
    let (_, rest) = told_fixes(explanation, page);
    let has_nodes = !explanation.filters.is_empty() && explanation.verdict != ClusterVerdict::Allocated;
    if !page.is_wide() && (has_nodes || !rest.is_empty()) {
        doc.gap().more();
    }
    doc
}

pub(super) fn object(explanation: &Explanation) -> String {
    name(&explanation.target)
}

/// `pod/NAMESPACE/NAME`.
pub(in crate::commands) fn name(target: &Target) -> String {
    let kind = match target.kind.as_str() {
        "ResourceClaim" => "claim".to_owned(),
        kind => kind.to_ascii_lowercase(),
    };
    format!("{kind}/{}/{}", target.namespace, target.name)
}

pub(super) fn tone(explanation: &Explanation) -> Tone {
    if explanation.has_succeeded {
        return Tone::Good;
    }
    if explanation.passes {
        return Tone::Notice;
    }
    tone_of(explanation.verdict)
}

pub(in crate::commands) fn tone_of(verdict: ClusterVerdict) -> Tone {
    match verdict {
        ClusterVerdict::Fits | ClusterVerdict::Bound | ClusterVerdict::Allocated => Tone::Good,
        ClusterVerdict::DoesNotFit | ClusterVerdict::Broken | ClusterVerdict::Error => Tone::Bad,
        _ => Tone::Notice,
    }
}

pub(super) fn plain(text: impl std::fmt::Display) -> Span {
    span(Tone::Plain, text)
}

/// Why each node is out, by request and device, those with the same reasons together.
fn nodes(doc: &mut Doc, explanation: &Explanation, page: Page) {
    for (reasons, names) in explanation.alike() {
        doc.section(&format!("Nodes {}", words::shortened(&names, page)), |section| {
            section.table(Table::of(REASONS, reasons));
        });
    }
}

/// The names, or where they are many the first and how many more look the same, as a map has it.
pub(super) fn folded(names: &[Str], detail: Detail) -> String {
    match names {
        [first, rest @ ..] if detail == Detail::Normal && rest.len() >= NAMED => {
            format!("{first} +{}", rest.len())
        }
        _ => names.iter().join(","),
    }
}

fn tone_of_waiting(explanation: &Explanation) -> Tone {
    match explanation.waiting.as_ref().map(|waiting| waiting.helps) {
        Some(
            Helps::WhenOneEnds
            | Helps::WhenEnd
            | Helps::WhenUntainted
            | Helps::WhenDeallocated
            | Helps::WhenUncordoned
            | Helps::WhenRestored
            | Helps::WhenPublished,
        ) => Tone::Good,
        Some(Helps::Never | Helps::Kept) => Tone::Bad,
        Some(Helps::Unknown) | None => Tone::Plain,
    }
}

/// Returns whether the first line says already what holds for all nodes.
fn tells_all_of_nodes(explanation: &Explanation) -> bool {
    match explanation.node_groups.as_slice() {
        [only] => only.is_cause,
        _ => false,
    }
}

/// A line of the table of nodes: a request that has too few devices on a group of them, or another reason.
struct NodeLine {
    nodes: String,
    /// True if requests must be distinguished.
    several: bool,
    count: Option<DeviceCount>,
    why: String,
}

impl NodeLine {
    /// A number of devices, where the line is about devices.
    fn number<C>(&self, cell: &mut Cell<'_, C>, of: fn(&DeviceCount) -> u64) {
        match &self.count {
            Some(count) => cell.text(of(count)),
            None => cell.toned(Tone::Nothing, ""),
        }
    }
}

const NODES: &[Column<NodeLine>] = &[
    Column::inner("NODE", |line, cell| cell.text(&line.nodes)),
    Column::inner("REQUEST", |line, cell| {
        if let Some(count) = line.count.as_ref().filter(|_| line.several) {
            cell.text(&count.request);
        }
    }),
    Column::inner("WANTED", |line, cell| match &line.count {
        Some(count) if count.wanted.is_none() => cell.text("all"),
        _ => line.number(cell, |count| count.wanted.unwrap_or_default()),
    }),
    Column::inner_wide("MATCH", |line, cell| line.number(cell, |count| count.matching)),
    Column::inner_wide("IN USE", |line, cell| line.number(cell, |count| count.in_use)),
    Column::inner_wide("TAINTED", |line, cell| line.number(cell, |count| count.tainted)),
    Column::inner_wide("UNAVAILABLE", |line, cell| {
        line.number(cell, |count| count.blocked);
    }),
    Column::inner_wide("UNKNOWN", |line, cell| line.number(cell, |count| count.unknown)),
    Column::inner("AVAILABLE", |line, cell| line.number(cell, |count| count.usable)),
    Column::inner("WHY", |line, cell| cell.text(&line.why)),
];

/// Number of node groups to print one by one.
const GROUPS: usize = 8;

fn groups(groups: &[NodeGroupItem], page: Page, doc: &mut Doc) {
    let counts = groups.iter().flat_map(|group| &group.devices);
    let requests: BTreeSet<_> = counts.map(|count| (&count.claim, &count.request)).collect();
    let several = requests.len() > 1;
    let mut lines = Vec::new();
    let (told, rest) = groups.split_at(page.told(GROUPS, groups.len()));
    for group in told {
        // The reason is that of the first request.
        let line = |count: Option<&DeviceCount>, is_first: bool| NodeLine {
            nodes: folded(&group.nodes, page.detail()),
            several,
            count: count.cloned(),
            why: words::why(group.reason.as_ref().filter(|_| is_first), count),
        };
        if group.devices.is_empty() {
            lines.push(line(None, true));
        }
        let counts = group.devices.iter().enumerate();
        lines.extend(counts.map(|(number, count)| line(Some(count), number == 0)));
    }
    doc.gap();
    doc.section("Nodes", |section| {
        section.table(Table::new(NODES, page.detail(), &lines));
        let rest: usize = rest.iter().map(|group| group.nodes.len()).sum();
        if rest > 0 {
            section.remark(counted(rest, "more node", "more nodes"));
        }
    });
}

/// Fixes that are shown with their commands.
const FIXES: usize = 3;

/// Fixes with their commands.
fn fixes(report: &Explanation, emits: Emits, page: Page, doc: &mut Doc) {
    /// Indentation of a fix's text.
    const INDENT: &str = "     ";
    if report.fixes.is_empty() {
        return;
    }
    doc.gap().line(0, [span(Tone::Strong, "Fix:")]);
    let (told, rest) = told_fixes(report, page);
    let mut notes = BTreeSet::new();
    for (number, fix) in (1..).zip(told) {
        let text = format!(" {} ({})", fix.message, words::proof(fix, page));
        doc.line(
            INDENT.len(),
            [span(Tone::Strong, format!("  {number}.")), plain(text)],
        );
        // What several fixes share is printed once, where each of them names the object that it recreates.
        if let Some(note) = &fix.note
            && (notes.insert(note) || words::recreates(fix).is_none())
        {
            doc.hanging(INDENT.len(), format!("{INDENT}{note}"));
        }
        if let Some(command) = &fix.command {
            let is_long = INDENT.len() + command.to_string().chars().count() > page.width();
            let is_emitted = is_long && emits != Emits::Nothing && page.is_terminal();
            let has_objects = emits == Emits::Objects && !fix.remakes.is_empty();
            let emit = is_emitted.then(|| emitting(report, number, has_objects));
            match emit.flatten() {
                Some(emit) => doc.command(INDENT, &emit),
                _ => doc.command(INDENT, command),
            };
        }
        if let Some(look) = &fix.look {
            doc.command(format_args!("{INDENT}see: "), look);
        }
    }
    if !rest.is_empty() {
        doc.hanging(2, format!("  {}", words::more_fixes(rest)));
    }
}

/// The fixes that are shown, and the others.
fn told_fixes(report: &Explanation, page: Page) -> (&[FixItem], &[FixItem]) {
    let safe = report.fixes.iter().filter(|fix| !fix.risky).count();
    // Where all are risky, the first ones are shown with that.
    let few = if safe == 0 { FIXES } else { FIXES.min(safe) };
    report.fixes.split_at(page.told(few, report.fixes.len()))
}

/// Returns the command that applies fix `number`, by its objects or by its command, if it can be written.
fn emitting(report: &Explanation, number: usize, has_objects: bool) -> Option<Script> {
    let emit = Command::dra("explain")
        .object(resource(&report.target.kind)?, &report.target.name)
        .namespace(&report.target.namespace)
        .option("--emit-fix", &number.to_string())
        .here()
        .done()
        .ok()?;
    let reader = if has_objects {
        Command::kubectl("replace")
            .args(&["--force", "-f", "-"])
            .done()
            .ok()?
    } else {
        Script::shell()
    };
    Some(emit.then(Then::Pipe, reader))
}
