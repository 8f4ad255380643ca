//! What a terminal shows of the findings: the verdict, then a block for each code.

use super::{Checked, tone};
use crate::commands::shown;
use crate::output::{Layout, Screen, Span, Tone, counted, span};
use dra_reports::findings::{Certainty, Code, Finding, Fix};
use dra_reports::script::Command;

/// Findings of one code that are told one by one.
const TOLD: usize = 5;

/// How far what belongs to a finding is indented, and how far what belongs to that.
const INDENT: &str = "    ";
const HANGING: usize = 6;

/// The report on `screen`.
pub(super) fn of(report: &Checked, screen: Screen) -> Layout {
    let mut layout = Layout::new();
    let list = &report.list;
    layout.line(2, [head(report, screen)]);
    if let Some(downgrade) = &report.downgrade {
        match &downgrade.cost {
            Some(cost) => shown::cost(&mut layout, cost),
            None => {
                let text =
                    "  what ends and what is converted is not known, since something could not be read";
                layout.line(4, [span(Tone::Notice, text)]);
            }
        }
        shown::command(&mut layout, screen, 0, "Next: ", &downgrade.next);
    }
    for block in list
        .items
        .chunk_by(|one, next| one.code == next.code && one.order == next.order)
    {
        layout.line(0, []);
        show(&mut layout, screen, 0, block);
    }
    if let Some(first) = list.items.first() {
        layout.line(0, []);
        layout.line(
            2,
            [span(
                Tone::Plain,
                format!("what a code means: {}", about(first.code, "--explain", &[])),
            )],
        );
    }
    if !list.suppressed.is_empty() {
        let number = counted(list.suppressed.len(), "finding is", "findings are");
        layout.line(2, [span(Tone::Plain, format!("{number} suppressed"))]);
    }
    layout
}

/// The verdict, or what was looked for where nothing was found.
fn head(report: &Checked, screen: Screen) -> Span {
    let list = &report.list;
    let worst = list.items.iter().map(|finding| finding.severity).max();
    let tone = match worst {
        Some(severity) => tone(severity),
        None if list.unknown.is_empty() => Tone::Good,
        None => Tone::Notice,
    };
    let text = if worst.is_some() {
        let possible = list
            .items
            .iter()
            .any(|finding| finding.certainty == Certainty::Possible);
        let sure = if possible && report.from_file {
            " (from a file: not confirmed)"
        } else {
            ""
        };
        let counts = &list.counts;
        if report.downgrade.is_some() && counts.errors > 0 {
            format!("not ready: {}{sure}", report.verdict)
        } else {
            format!("{}{sure}", report.verdict)
        }
    } else {
        let seen = &list.checked;
        let numbers = [
            (seen.claims, "claim", "claims"),
            (seen.pods, "pod", "pods"),
            (seen.devices, "device", "devices"),
            (seen.nodes, "node", "nodes"),
        ];
        let read = numbers
            .into_iter()
            .filter_map(|(number, one, many)| Some(counted(number?, one, many)));
        format!(
            "{}: {} on {}",
            report.verdict,
            counted(seen.codes.len(), "check", "checks"),
            read.collect::<Vec<_>>().join(", "),
        )
    };
    span(tone, format!("{} {text}", screen.sign(tone)))
}

/// Blocks of findings, `indent` columns further in than the layout says.
pub(in crate::commands) fn blocks(layout: &mut Layout, screen: Screen, indent: usize, findings: &[Finding]) {
    for block in findings.chunk_by(|one, next| one.code == next.code) {
        show(layout, screen, indent, block);
    }
}

/// Findings of one code. What all of them have in common is told once. The layout puts them `indent` columns further in.
fn show(layout: &mut Layout, screen: Screen, indent: usize, block: &[Finding]) {
    let Some(first) = block.first() else { return };
    let worst = block.iter().map(|finding| finding.severity).max();
    let tone = tone(worst.unwrap_or(first.severity));
    let code: Code = first.code;
    let step = first
        .order
        .map(|step| format!(" (step {step})"))
        .unwrap_or_default();
    layout.line(
        2,
        [
            span(tone, format!("{} {code} {}", screen.sign(tone), first.name)),
            span(Tone::Strong, format!("  {}{step}", code.facts().title)),
        ],
    );
    let told = &block[..block.len().min(TOLD)];
    let is_shared = block.len() > 1 && block.iter().all(|finding| advice(finding) == advice(first));
    for finding in told {
        layout.line(
            HANGING,
            [
                span(Tone::Plain, INDENT),
                span(Tone::Strong, &finding.object),
                span(Tone::Plain, format!(" {}", finding.message)),
            ],
        );
        if !is_shared {
            advise(layout, screen, indent, finding);
        }
    }
    if block.len() > told.len() {
        let rest = counted(block.len() - told.len(), "more", "more");
        layout.line(
            HANGING,
            [span(
                Tone::Plain,
                format!("{INDENT}{rest}: {} lists them", about(code, "--only", WIDE)),
            )],
        );
    }
    if is_shared {
        advise(layout, screen, indent, first);
    }
}

/// How `-o wide` is asked for.
const WIDE: &[&str] = &["-o", "wide"];

/// `check` with a flag that takes a code.
fn about(code: Code, flag: &'static str, more: &[&'static str]) -> String {
    let command = Command::dra("check")
        .option(flag, code.facts().code)
        .args(more)
        .done();
    command.map(|script| script.to_string()).unwrap_or_default()
}

/// All that is said of what to do.
fn advice(finding: &Finding) -> (Option<&Fix>, Option<&String>) {
    (finding.fix.as_ref(), finding.fix_note.as_ref())
}

fn advise(layout: &mut Layout, screen: Screen, indent: usize, finding: &Finding) {
    const FIX: &str = "fix   ";
    const BELOW: &str = "      ";
    let before = INDENT.len() + FIX.len();
    match &finding.fix {
        Some(Fix::Command(script)) => {
            let has_room = shown::command(layout, screen, indent, &format!("{INDENT}{FIX}"), script);
            if !has_room {
                let text = format!("a long command: {} shows it", about(finding.code, "--only", WIDE));
                layout.line(before, [span(Tone::Plain, format!("{INDENT}{FIX}{text}"))]);
            }
        }
        Some(Fix::Sentence(text)) => {
            layout.line(before, [span(Tone::Plain, format!("{INDENT}{FIX}{text}"))]);
        }
        None => {}
    }
    if let Some(note) = &finding.fix_note {
        layout.line(before, [span(Tone::Plain, format!("{INDENT}{BELOW}{note}"))]);
    }
}
