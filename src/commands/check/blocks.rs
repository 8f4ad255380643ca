//! Findings as a document: the verdict, then a block for each code.

use super::{Checked, tone};
use crate::commands::shown;
use crate::output::{Doc, Page, Tone, counted, span, when};
use dra_reports::findings::{Certainty, Code, Finding, Fix};
use dra_reports::instruction;
use dra_reports::script::Command;

/// Number of findings of one code to print one by one.
const TOLD: usize = 5;

/// Indentation of a finding's details, and of their details.
const INDENT: &str = "    ";
const HANGING: usize = 6;

/// The report on `page`.
pub(super) fn of(report: &Checked, page: Page) -> Doc {
    let mut doc = Doc::new();
    let list = &report.list;
    head(&mut doc, report, page);
    if let Some(downgrade) = &report.downgrade {
        match &downgrade.cost {
            Some(cost) => shown::cost(&mut doc, cost),
            None => {
                let text = "  which pods stop and which claims are converted is unknown: some objects could not be \
                    read";
                doc.line(4, [span(Tone::Notice, text)]);
            }
        }
        doc.command("Next: ", &downgrade.next);
    }
    let mut blocks: Vec<&[Finding]> = list
        .items
        .chunk_by(|one, next| one.code == next.code && one.order == next.order)
        .collect();
    // New pods must be kept off the devices before those that use them are deleted.
    blocks.sort_by_key(|block| block.iter().all(|finding| finding.code != Code::DriverPublished));
    for block in blocks {
        doc.gap();
        show(&mut doc, page, block, &report.again);
    }
    if let Some(first) = list.items.first()
        && let Ok(command) = Command::dra("check")
            .option("--explain", first.code.facts().code)
            .done()
    {
        doc.gap().command("More: ", &command);
    }
    if !list.suppressed.is_empty() {
        let number = counted(list.suppressed.len(), "finding is", "findings are");
        doc.remark(format_args!("{number} suppressed"));
    }
    if let Some((number, explain)) = super::pending(list) {
        doc.command(format_args!("{number} pending: "), &explain);
    }
    doc
}

/// The verdict, or what was looked for where nothing was found.
fn head(doc: &mut Doc, report: &Checked, page: Page) {
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
        let sure = when(possible && report.from_file, " (read from a file, not confirmed)");
        let counts = &list.counts;
        let doubt = super::incomplete(list);
        let ready = when(report.downgrade.is_some() && counts.errors > 0, "not ready: ");
        format!("{ready}{}{sure}{doubt}", report.verdict)
    } else if list.checked.is_nothing() {
        report.verdict.clone()
    } else {
        let seen = &list.checked;
        let numbers = [
            (seen.claims, "claim", "claims"),
            (seen.pods, "pod", "pods"),
            (seen.devices, "device", "devices"),
            (seen.nodes, "node", "nodes"),
        ];
        let read: Vec<String> = numbers
            .into_iter()
            .filter_map(|(number, one, many)| Some(counted(number?, one, many)))
            .collect();
        let on = if read.is_empty() { "" } else { " on " };
        format!(
            "{}: {}{on}{}{}",
            report.verdict,
            counted(seen.codes.len(), "check", "checks"),
            read.join(", "),
            super::incomplete(list),
        )
    };
    doc.verdict(page, tone, text);
}

/// Blocks of findings.
pub(in crate::commands) fn add(doc: &mut Doc, page: Page, findings: &[Finding]) {
    for block in findings.chunk_by(|one, next| one.code == next.code) {
        show(doc, page, block, &Command::dra("check").here());
    }
}

/// Findings of one code. Common parts are printed once. `again` asks for all findings.
fn show(doc: &mut Doc, page: Page, block: &[Finding], again: &Command) {
    let Some(first) = block.first() else { return };
    let worst = block.iter().map(|finding| finding.severity).max();
    let tone = tone(worst.unwrap_or(first.severity));
    let code: Code = first.code;
    let step = first
        .order
        .map(|step| format!(" (step {step})"))
        .unwrap_or_default();
    doc.line(
        2,
        [
            span(tone, format!("{} {code} {}", page.sign(tone), first.name)),
            span(Tone::Strong, format!("  {}{step}", code.facts().title)),
        ],
    );
    let is_shared = block.len() > 1 && block.iter().all(|finding| advice(finding) == advice(first));
    let (told, rest) = block.split_at(page.told(TOLD, block.len()));
    for finding in told {
        doc.line(
            HANGING,
            [
                span(Tone::Plain, INDENT),
                span(Tone::Strong, &finding.object),
                span(Tone::Plain, format!(" {}", finding.message)),
            ],
        );
        if !is_shared {
            advise(doc, finding);
        }
    }
    let all = again.clone().option("--only", code.facts().code).arg("--details");
    if !rest.is_empty()
        && let Ok(all) = all.done()
    {
        doc.command(format_args!("{INDENT}{} more: ", rest.len()), &all);
    }
    if is_shared {
        advise(doc, first);
    }
}

/// All that is said of what to do.
fn advice(finding: &Finding) -> (Option<&Fix>, Option<&String>) {
    (finding.fix.as_ref(), finding.fix_note.as_ref())
}

fn advise(doc: &mut Doc, finding: &Finding) {
    const LABEL: usize = 6;
    let before = INDENT.len() + LABEL;
    for condition in &finding.first {
        doc.hanging(before, format_args!("{INDENT}{:<LABEL$}{condition}", "first"));
    }
    match &finding.fix {
        Some(Fix::Command(script)) => {
            doc.command(format_args!("{INDENT}{:<LABEL$}", "fix"), script);
        }
        Some(Fix::Sentence(text)) => {
            let (label, text) = instruction(text);
            doc.hanging(before, format!("{INDENT}{label:<LABEL$}{text}"));
        }
        None => {}
    }
    if !finding.rest.is_empty() {
        let note = finding.rest.join("; ");
        doc.hanging(before, format!("{INDENT}{:LABEL$}{note}", ""));
    }
}
