//! An explanation as people read it: the answer, then what it rests on, then what would help.

use std::collections::BTreeSet;

use crate::output::{Column, Detail, Doc, Page, Span, Table, Tone, counted, span};
use dra_model::Kind;
use dra_reports::allocation::Target;
use dra_reports::explanation::{
    AlikeReason, ClusterVerdict, DeviceCount, Explanation, FilterCount, FixItem, GetsItem, Helps,
    NodeGroupItem, RISKY,
};
use dra_reports::script::{Command, NoCommand, Script, Then};

const FILTERS: &[Column<FilterCount>] = &[
    Column::inner("FILTER", |filter, cell| cell.text(filter.plugin)),
    Column::inner("NODES", |filter, cell| cell.text(filter.nodes)),
    Column::inner("MESSAGES", |filter, cell| cell.text(filter.messages.join(", "))),
];

const REASONS: &[Column<AlikeReason>] = &[
    Column::inner("REQUEST", |reason, cell| cell.option(reason.request.as_ref())),
    Column::inner("CODE", |reason, cell| cell.text(reason.code())),
    Column::inner("DEVICES", |reason, cell| {
        let names: Vec<&str> = reason.devices.iter().map(|name| name.as_str()).collect();
        cell.list(names);
    }),
    Column::inner("REASON", |reason, cell| cell.text(reason.message())),
];

/// Devices of one reason that are named before the rest is counted.
const NAMED: usize = 3;

/// The document. `is_live` says whether `--emit-fix` can write the objects that a fix recreates.
pub(super) fn doc(explanation: &Explanation, page: Page, is_live: bool) -> Doc {
    let mut doc = Doc::new();
    headline(explanation, page, &mut doc);
    if !explanation.node_groups.is_empty() && !tells_all_of_nodes(explanation) {
        groups(&explanation.node_groups, page, &mut doc);
    }
    if let Some(waiting) = &explanation.waiting {
        doc.gap();
        let text = waiting.summary.capitalized();
        doc.line(2, [span(tone_of_waiting(explanation), text)]);
    }
    let mut more = Vec::new();
    let reasons: Vec<String> = explanation
        .untold()
        .map(|reason| reason.message().to_string())
        .collect();
    more.extend(reasons.iter().map(|reason| ("Reason", reason.as_str())));
    if let Some(holds) = &explanation.holds {
        more.extend(holds.devices.iter().map(|device| ("Holds", device.as_str())));
        more.extend(holds.consumers.iter().map(|consumer| ("For", consumer.as_str())));
    }
    more.extend(
        explanation
            .message
            .iter()
            .map(|text| ("Scheduler", text.as_str())),
    );
    more.extend(explanation.news.iter().map(|text| ("Event", text.as_str())));
    more.extend(
        explanation
            .untold_unknown
            .iter()
            .map(|text| ("Unknown", text.as_str())),
    );
    more.extend(explanation.notes.iter().map(|text| ("Note", text.as_str())));
    let not_simulated = explanation.not_simulated.join(", ");
    if !not_simulated.is_empty() {
        more.push(("Not simulated", &not_simulated));
    }
    if !more.is_empty() {
        doc.gap();
    }
    for (key, text) in more {
        doc.line(2, [span(Tone::Strong, format!("{key}: ")), plain(text)]);
    }
    // What has its devices needs no node for them.
    if page.is_wide() && explanation.verdict != ClusterVerdict::Allocated {
        if !explanation.filters.is_empty() {
            doc.section("Filters", |section| {
                section.table(Table::new(FILTERS, page.detail(), &explanation.filters));
            });
        }
        nodes(&mut doc, explanation, page.detail());
    }
    fixes(explanation, is_live, page, &mut doc);
    doc
}

pub(super) fn object(explanation: &Explanation) -> String {
    name(&explanation.target)
}

/// `pod/NAMESPACE/NAME`.
pub(super) fn name(target: &Target) -> String {
    let kind = match target.kind.as_str() {
        "ResourceClaim" => "claim".to_owned(),
        kind => kind.to_ascii_lowercase(),
    };
    format!("{kind}/{}/{}", target.namespace, target.name)
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

/// Why each node is out, by request and device, those with the same reasons together.
fn nodes(doc: &mut Doc, explanation: &Explanation, detail: Detail) {
    for (reasons, names) in explanation.alike() {
        let names: Vec<&str> = names.into_iter().map(|name| name.as_str()).collect();
        doc.section(&format!("Nodes {}", shortened(&names)), |section| {
            section.table(Table::new(REASONS, detail, reasons));
        });
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

fn tone_of_waiting(explanation: &Explanation) -> Tone {
    match explanation.waiting.as_ref().map(|waiting| waiting.helps) {
        Some(
            Helps::WhenOneEnds
            | Helps::WhenEnd
            | Helps::WhenUntainted
            | Helps::WhenDeallocated
            | Helps::WhenUncordoned
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

/// Object, verdict and cause in a sentence.
fn headline(report: &Explanation, page: Page, doc: &mut Doc) {
    let tone = tone(report);
    let text = match (report.verdict, &report.cause) {
        (ClusterVerdict::DoesNotFit, cause) => {
            let state = if report.target.is_claim() {
                "does not get its devices"
            } else {
                "waits"
            };
            format!(" {state}: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::Waits, cause) => {
            format!(" waits: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::Error, cause) => {
            format!(" fails: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::GaveUp | ClusterVerdict::Unknown, _) => format!(" is unknown: {}", report.summary),
        // That of a broken pod says whether it does not start, does not end, or runs and is in danger.
        _ => format!(": {}", report.summary),
    };
    doc.headline(page, tone, object(report), text);
}

/// A line of the table of nodes: a request that has too few devices on a group of them.
struct NodeLine {
    nodes: String,
    /// True if requests must be distinguished.
    several: bool,
    count: DeviceCount,
}

const NODES: &[Column<NodeLine>] = &[
    Column::inner("NODE", |line, cell| cell.text(&line.nodes)),
    Column::inner("REQUEST", |line, cell| {
        if line.several {
            cell.text(&line.count.request);
        }
    }),
    Column::inner("WANTED", |line, cell| match line.count.wanted {
        Some(wanted) => cell.text(wanted),
        None => cell.text("all"),
    }),
    Column::inner("MATCH", |line, cell| cell.text(line.count.matching)),
    Column::inner("IN USE", |line, cell| cell.text(line.count.in_use)),
    Column::inner("TAINTED", |line, cell| cell.text(line.count.tainted)),
    Column::inner("BLOCKED", |line, cell| {
        cell.unless_zero(Tone::Plain, line.count.blocked);
    }),
    Column::inner("UNKNOWN", |line, cell| {
        cell.unless_zero(Tone::Plain, line.count.unknown);
    }),
    Column::inner("USABLE", |line, cell| cell.text(line.count.usable)),
];

/// Number of node groups to print one by one.
const GROUPS: usize = 8;

fn groups(groups: &[NodeGroupItem], page: Page, doc: &mut Doc) {
    let counts = groups.iter().flat_map(|group| &group.devices);
    let requests: BTreeSet<_> = counts.map(|count| (&count.claim, &count.request)).collect();
    let several = requests.len() > 1;
    let mut lines = Vec::new();
    // What numbers do not tell, in the order of the groups.
    let mut reasons: Vec<(&NodeGroupItem, Vec<&str>)> = Vec::new();
    let (told, rest) = groups.split_at(page.told(GROUPS, groups.len()));
    for group in told {
        let names: Vec<&str> = group.nodes.iter().map(|name| name.as_str()).collect();
        let nodes = folded(&names);
        lines.extend(group.devices.iter().map(|count| NodeLine {
            nodes: nodes.clone(),
            several,
            count: count.clone(),
        }));
        match reasons.iter_mut().find(|(known, _)| known.has_reason_of(group)) {
            Some((_, known)) => known.extend(names),
            None => reasons.push((group, names)),
        }
    }
    doc.gap();
    doc.section("Nodes", |section| {
        section.table(Table::new(NODES, page.detail(), &lines));
        for (group, names) in reasons {
            let Some(reason) = &group.reason else { continue };
            let names = format!("{}: ", folded(&names));
            section.line(2, [span(Tone::Strong, names), plain(reason)]);
        }
        let rest: usize = rest.iter().map(|group| group.nodes.len()).sum();
        if rest > 0 {
            section.remark(format_args!(
                "{}: -o wide",
                counted(rest, "more node", "more nodes")
            ));
        }
    });
}

/// What would help, each with its command.
fn fixes(report: &Explanation, is_live: bool, page: Page, doc: &mut Doc) {
    /// Indentation of a fix's text.
    const INDENT: &str = "     ";
    if report.fixes.is_empty() {
        return;
    }
    doc.gap().line(0, [span(Tone::Strong, "What would help:")]);
    for (number, fix) in (1..).zip(&report.fixes) {
        let text = format!(" {} ({})", fix.message, proof(fix));
        doc.line(
            INDENT.len(),
            [span(Tone::Strong, format!("  {number}.")), plain(text)],
        );
        if let Some(command) = &fix.command {
            let emit =
                (is_live && page.is_terminal() && !fix.remakes.is_empty()).then(|| emitting(report, number));
            let is_long = INDENT.len() + command.to_string().chars().count() > page.width();
            match emit {
                Some(Ok(emit)) if is_long => doc.command(INDENT, &emit),
                _ => doc.command(INDENT, command),
            };
        }
        if let Some(note) = &fix.note {
            doc.line(INDENT.len(), [plain(format!("{INDENT}{note}"))]);
        }
        if let Some(look) = &fix.look {
            doc.command(format_args!("{INDENT}see: "), look);
        }
    }
}

/// Returns how sure it is that the fix helps, and what comes of it.
fn proof(fix: &FixItem) -> String {
    let mut proof = match (fix.proven, fix.nodes.as_slice()) {
        (false, _) => "not tested".to_owned(),
        (true, []) => "tested".to_owned(),
        (true, nodes) => {
            let names: Vec<&str> = nodes.iter().map(|name| name.as_str()).collect();
            format!("tested: fits on {}", shortened(&names))
        }
    };
    if fix.proven && !fix.minimal {
        proof.push_str("; a smaller change may exist");
    }
    let more = fix
        .gets
        .iter()
        .map(GetsItem::text)
        .chain(fix.risky.then(|| RISKY.to_owned()));
    for text in more {
        proof.push_str("; ");
        proof.push_str(&text);
    }
    proof
}

/// Returns what carries fix `number` out, as long as it stays what it is.
fn emitting(report: &Explanation, number: usize) -> Result<Script, NoCommand> {
    let kind = if report.target.is_claim() {
        Kind::ResourceClaim
    } else {
        Kind::Pod
    };
    let emit = Command::dra("explain")
        .object(kind, &report.target.name)
        .namespace(&report.target.namespace)
        .option("--emit-fix", &number.to_string())
        .done()?;
    let replace = Command::kubectl("replace").args(&["--force", "-f", "-"]).done()?;
    Ok(emit.then(Then::Pipe, replace))
}
