//! An explanation on a terminal.

use std::collections::BTreeSet;

use super::report::{folded, object, plain, shortened, tone};
use crate::commands::shown;
use crate::output::{Column, Detail, Layout, Screen, Table, Tone, span};
use dra_model::Kind;
use dra_reports::explanation::{ClusterVerdict, DeviceCount, Explanation, Helps, NodeGroupItem, RISKY};
use dra_reports::script::{Command, NoCommand, Script, Then};

/// What a terminal shows of it. `is_live` says whether `--emit-fix` can write what a fix makes again.
pub(super) fn on(explanation: &Explanation, screen: Screen, is_live: bool) -> Layout {
    let mut layout = Layout::new();
    headline(explanation, screen, &mut layout);
    if !explanation.node_groups.is_empty() && !tells_all_of_nodes(explanation) {
        groups(&explanation.node_groups, &mut layout);
    }
    if let Some(waiting) = &explanation.waiting {
        layout.line(0, []);
        let text = waiting.summary.capitalized();
        layout.line(2, [span(tone_of_waiting(explanation), text)]);
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
    more.extend(explanation.unknown.iter().map(|text| ("Unknown", text.as_str())));
    more.extend(explanation.notes.iter().map(|text| ("Note", text.as_str())));
    let not_simulated = explanation.not_simulated.join(", ");
    if !not_simulated.is_empty() {
        more.push(("Not simulated", &not_simulated));
    }
    if !more.is_empty() {
        layout.line(0, []);
    }
    for (key, text) in more {
        layout.line(2, [span(Tone::Strong, format!("{key}: ")), plain(text)]);
    }
    short_fixes(explanation, is_live, screen, &mut layout);
    layout
}

fn tone_of_waiting(explanation: &Explanation) -> Tone {
    match explanation.waiting.as_ref().map(|waiting| waiting.helps) {
        Some(Helps::WhenOneEnds | Helps::WhenEnd | Helps::WhenUntainted | Helps::WhenDeallocated) => {
            Tone::Good
        }
        Some(Helps::Never) => Tone::Bad,
        Some(Helps::Unknown) | None => Tone::Plain,
    }
}

/// Whether the first line says already what holds for all nodes.
fn tells_all_of_nodes(explanation: &Explanation) -> bool {
    match explanation.node_groups.as_slice() {
        [only] => only.is_cause,
        _ => false,
    }
}

/// Object, verdict and cause in a sentence.
fn headline(report: &Explanation, screen: Screen, layout: &mut Layout) {
    let tone = tone(report);
    let text = match (report.verdict, &report.cause) {
        (ClusterVerdict::DoesNotFit, cause) => {
            let state = if report.target.is_pod() {
                "waits"
            } else {
                "does not get its devices"
            };
            format!(" {state}: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::Waits, cause) => {
            format!(" waits: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::Error, cause) => {
            format!(" fails: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::GaveUp | ClusterVerdict::Unknown, _) => format!(" is not known: {}", report.summary),
        // That of a broken pod says whether it does not start, does not end, or runs and is in danger.
        _ => format!(": {}", report.summary),
    };
    let sign = format!("{} ", screen.sign(tone));
    layout.line(
        2,
        [span(tone, sign), span(Tone::Strong, object(report)), plain(text)],
    );
}

/// A line of the table of nodes: a request that has too few devices on a group of them.
struct NodeLine {
    nodes: String,
    /// Whether requests have to be told apart.
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

/// Groups of nodes that are told one by one.
const GROUPS: usize = 8;

fn groups(groups: &[NodeGroupItem], layout: &mut Layout) {
    let counts = groups.iter().flat_map(|group| &group.devices);
    let requests: BTreeSet<_> = counts.map(|count| (&count.claim, &count.request)).collect();
    let several = requests.len() > 1;
    let mut lines = Vec::new();
    // What numbers do not tell, in the order of the groups.
    let mut reasons: Vec<(&NodeGroupItem, Vec<&str>)> = Vec::new();
    for group in groups.iter().take(GROUPS) {
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
    layout.line(0, []);
    layout.section("Nodes", |section| {
        section.table(Table::new(NODES, Detail::Normal, &lines));
        for (group, names) in reasons {
            let Some(reason) = &group.reason else { continue };
            let names = format!("{}: ", folded(&names));
            section.line(2, [span(Tone::Strong, names), plain(reason)]);
        }
        let rest: usize = groups.iter().skip(GROUPS).map(|group| group.nodes.len()).sum();
        if rest > 0 {
            let rest = crate::output::counted(rest, "more node", "more nodes");
            section.line(2, [plain(format!("{rest}: -o wide"))]);
        }
    });
}

/// What would help, each with its command where the terminal has room for it.
fn short_fixes(report: &Explanation, is_live: bool, screen: Screen, layout: &mut Layout) {
    let fixes = &report.fixes;
    if fixes.is_empty() {
        return;
    }
    layout.line(0, []);
    layout.line(0, [span(Tone::Strong, "What would help:")]);
    let mut is_cut = false;
    for (number, fix) in (1..).zip(fixes) {
        let mut proof = match (fix.proven, fix.nodes.as_slice()) {
            (false, _) => "not tested".to_owned(),
            (true, []) => "tested".to_owned(),
            (true, nodes) => {
                let names: Vec<&str> = nodes.iter().map(|name| name.as_str()).collect();
                format!("tested: fits on {}", shortened(&names))
            }
        };
        for gets in &fix.gets {
            proof = format!("{proof}; {}", gets.text());
        }
        if fix.risky {
            proof = format!("{proof}; {RISKY}");
        }
        let text = format!(" {} ({proof})", fix.message);
        layout.line(5, [span(Tone::Strong, format!("  {number}.")), plain(text)]);
        if let Some(command) = &fix.command {
            let emit = (is_live && !fix.remakes.is_empty()).then(|| emitting(report, number));
            let line = format!("     {command}");
            if line.chars().count() <= screen.width() && !line.contains('\n') {
                layout.verbatim(&line);
            } else if let Some(Ok(emit)) = emit {
                is_cut |= !shown::command(layout, screen, 0, "     ", &emit);
            } else {
                is_cut = true;
            }
        }
        if let Some(note) = &fix.note {
            layout.line(5, [plain(format!("     {note}"))]);
        }
    }
    if is_cut {
        layout.line(2, [plain("Longer commands, and every device: -o wide")]);
    }
}

/// What carries fix `number` out, as long as it stays what it is.
fn emitting(report: &Explanation, number: usize) -> Result<Script, NoCommand> {
    let kind = if report.target.is_pod() {
        Kind::Pod
    } else {
        Kind::ResourceClaim
    };
    let emit = Command::dra("explain")
        .object(kind, &report.target.name)
        .namespace(&report.target.namespace)
        .option("--emit-fix", &number.to_string())
        .done()?;
    let replace = Command::kubectl("replace").args(&["--force", "-f", "-"]).done()?;
    Ok(emit.then(Then::Pipe, replace))
}
