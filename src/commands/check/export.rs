//! Findings in the formats of other programs: SARIF, JUnit, annotations of GitHub, Markdown.
//!
//! Each has the findings of the JSON, what could not be found out, and what was suppressed. They are written here rather than by a
//! library for each, which would be larger than all of this; tests read them with such libraries.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Checked;
use crate::output::{counted, markdown_code, markdown_text};
use dra_reports::findings::{Code, Finding, Severity};

/// Returns what is wrong, and what to do, in one text.
fn text_of(finding: &Finding) -> String {
    let mut text = format!("{} {}", finding.object, finding.message);
    if let Some(fix) = &finding.fix {
        let _ = write!(text, "\nfix: {fix}");
    }
    if let Some(note) = &finding.fix_note {
        let _ = write!(text, "\n{note}");
    }
    text
}

/// SARIF 2.1.0. An object of a cluster is a logical location; it is a file as well, since readers of SARIF leave out what has none.
pub(super) fn sarif(report: &Checked) -> String {
    let list = &report.list;
    let level = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let all = list
        .items
        .iter()
        .chain(list.suppressed.iter().map(|item| &item.finding));
    let codes: BTreeMap<Code, usize> = list.checked.codes.iter().copied().zip(0..).collect();
    let rules: Vec<Value> = codes
        .keys()
        .map(|code| {
            let facts = code.facts();
            json!({
                "id": facts.code,
                "name": facts.name,
                "shortDescription": {"text": facts.title},
                "help": {"text": facts.page, "markdown": facts.page},
                "helpUri": code.docs(),
                "defaultConfiguration": {"level": level(facts.severity)},
            })
        })
        .collect();
    let results: Vec<Value> = all
        .enumerate()
        .map(|(place, finding)| {
            let object = finding.object.to_string();
            let mut result = json!({
                "ruleId": finding.code,
                "level": level(finding.severity),
                "message": {"text": text_of(finding)},
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri(&object)},
                        "region": {"startLine": 1},
                    },
                    "logicalLocations": [{
                        "name": finding.object.name,
                        "fullyQualifiedName": object,
                        "kind": "object",
                    }],
                }],
                "partialFingerprints": {"object/v1": format!("{} {object}", finding.code)},
                "properties": {"certainty": finding.certainty, "fix": finding.fix.as_ref().map(ToString::to_string)},
            });
            if let Some(rule) = codes.get(&finding.code) {
                result["ruleIndex"] = json!(rule);
            }
            if let Some(item) = place.checked_sub(list.items.len()).and_then(|place| list.suppressed.get(place)) {
                result["suppressions"] = json!([{
                    "kind": "external",
                    "status": "accepted",
                    "justification": format!("{} (until {})", item.reason, item.expires),
                }]);
            }
            result
        })
        .collect();
    let notes: Vec<Value> = list
        .unknown
        .iter()
        .map(|unknown| json!({"level": "warning", "message": {"text": format!("unknown: {unknown}")}}))
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "kubectl-dra",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "invocations": [{"executionSuccessful": list.unknown.is_empty(), "toolExecutionNotifications": notes}],
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

/// An object as the path of a URI.
fn uri(object: &str) -> String {
    let mut uri = String::with_capacity(object.len());
    for byte in object.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// JUnit, as CI servers read it: a test for each check, and one for each finding, which fails where the exit code would say so.
pub(super) fn junit(report: &Checked) -> String {
    const CLASS: &str = "kubectl-dra check";
    let list = &report.list;
    let mut cases = String::new();
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    let mut case = |name: &str, body: &str| {
        tests += 1;
        let (class, name) = (xml(CLASS), xml(name));
        if body.is_empty() {
            let _ = writeln!(cases, "    <testcase classname=\"{class}\" name=\"{name}\"/>");
        } else {
            let _ = writeln!(
                cases,
                "    <testcase classname=\"{class}\" name=\"{name}\">{body}</testcase>"
            );
        }
    };
    let named = |finding: &Finding| format!("{} {}: {}", finding.code, finding.name, finding.object);
    for code in &list.checked.codes {
        if !list.items.iter().any(|finding| finding.code == *code) {
            let body = if list.checked.incomplete.contains(code) {
                skipped += 1;
                "<skipped message=\"not checked, or only on a part of the objects\"/>"
            } else {
                ""
            };
            case(&format!("{code} {}", code.facts().name), body);
        }
    }
    for finding in &list.items {
        let (message, text) = (
            xml(&finding.message.to_string()),
            escaped(&text_of(finding), false),
        );
        if report.fail_on.includes(finding.severity) {
            failures += 1;
            let kind = finding.severity;
            let body = format!("<failure type=\"{kind}\" message=\"{message}\">{text}</failure>");
            case(&named(finding), &body);
        } else {
            case(&named(finding), &format!("<system-out>{text}</system-out>"));
        }
    }
    for item in &list.suppressed {
        skipped += 1;
        let reason = xml(&format!("suppressed until {}: {}", item.expires, item.reason));
        case(&named(&item.finding), &format!("<skipped message=\"{reason}\"/>"));
    }
    for unknown in &list.unknown {
        let text = xml(unknown);
        case(
            &format!("unknown: {unknown}"),
            &format!("<error type=\"Unknown\" message=\"{text}\"/>"),
        );
    }
    let errors = list.unknown.len();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"{CLASS}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n  \
         <testsuite name=\"{CLASS}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" disabled=\"0\" skipped=\"{skipped}\">\n\
         {cases}  </testsuite>\n</testsuites>\n"
    )
}

/// Text between quotes in XML. Characters that XML 1.0 cannot have become U+FFFD.
fn xml(text: &str) -> String {
    escaped(text, true)
}

/// The same; between `quotes` a line feed is written out, as readers make a space of it there.
fn escaped(text: &str, quotes: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if !quotes => safe.push(c),
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push_str("&#9;"),
            '\r' => safe.push_str("&#13;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Commands of a workflow of GitHub, which shows each finding at the run.
pub(super) fn github(report: &Checked) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut lines = String::new();
    for finding in &report.list.items {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let title = property(&format!("{} {}", finding.code, finding.name));
        let _ = writeln!(lines, "::{level} title={title}::{}", data(&text_of(finding)));
    }
    for unknown in &report.list.unknown {
        let _ = writeln!(lines, "::warning title=unknown::{}", data(unknown));
    }
    for item in &report.list.suppressed {
        let finding = &item.finding;
        let title = property(&format!("{} {} (suppressed)", finding.code, finding.name));
        let why = format!(
            "{}\nsuppressed until {}: {}",
            text_of(finding),
            item.expires,
            item.reason
        );
        let _ = writeln!(lines, "::debug::{} {}", title, data(&why));
    }
    lines
}

/// Markdown for a comment or an issue.
pub(super) fn markdown(report: &Checked) -> String {
    let list = &report.list;
    let mut text = format!(
        "## Findings of kubectl-dra\n\n{}\n",
        markdown_text(&report.verdict)
    );
    if !list.items.is_empty() {
        text.push_str("\n| Severity | Code | Object | Message | Fix |\n|---|---|---|---|---|\n");
        for finding in &list.items {
            let fix = finding
                .fix
                .as_ref()
                .map(|fix| markdown_code(&fix.to_string()))
                .unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | [{}]({}) {} | {} | {} | {fix} |",
                finding.severity,
                finding.code,
                finding.docs,
                finding.name,
                markdown_code(&finding.object.to_string()),
                markdown_text(&finding.message.to_string()),
            );
        }
    }
    if !list.unknown.is_empty() {
        text.push_str("\nUnknown:\n\n");
        for unknown in &list.unknown {
            let _ = writeln!(text, "- {}", markdown_text(unknown));
        }
    }
    if !list.suppressed.is_empty() {
        let number = counted(list.suppressed.len(), "finding", "findings");
        let _ = writeln!(text, "\nSuppressed: {number}\n");
        for item in &list.suppressed {
            let (finding, reason) = (&item.finding, markdown_text(&item.reason));
            let object = markdown_code(&finding.object.to_string());
            let _ = writeln!(
                text,
                "- {} {object} until {}: {reason}",
                finding.code, item.expires
            );
        }
    }
    text
}
