//! The sentences around an explanation. Nothing reads them again.

use std::fmt::Display;

use itertools::Itertools as _;

use crate::output::Page;
use dra_reports::explanation::{ClusterVerdict, DeviceCount, Explanation, FixItem, GetsItem, RISKY, Remake};
use dra_rules::scheduling::MOST_AHEAD;

/// Names that are shown before the rest is counted.
const NAMED: usize = 8;

/// The first few names, and how many there are besides.
pub(super) fn shortened(names: &[impl Display], page: Page) -> String {
    let (told, rest) = names.split_at(page.told(NAMED, names.len()));
    let told = told.iter().join(",");
    match rest.len() {
        0 => told,
        rest => format!("{told} and {rest} more"),
    }
}

/// What the headline says of the object; `user` is the pod that a claim waits for.
pub(super) fn headline(report: &Explanation, user: Option<String>) -> String {
    let because = report.cause.as_ref().unwrap_or(&report.summary);
    let (pause, said) = match report.verdict {
        ClusterVerdict::DoesNotFit if report.target.is_claim() && user.is_none() => {
            (",", format!(" gets no devices: {because}"))
        }
        ClusterVerdict::DoesNotFit | ClusterVerdict::Waits => (",", format!(" is pending: {because}")),
        ClusterVerdict::Error => (",", format!(" fails: {because}")),
        // A broken pod may not start, may not terminate, or may be running and in danger: the summary says which.
        _ => ("", format!(": {}", report.summary)),
    };
    match user {
        Some(user) => format!(": {user}, which uses it{pause}{said}"),
        None => said,
    }
}

/// Why nodes have too few devices for a request, or are rejected for another reason.
pub(super) fn why(reason: Option<&impl Display>, count: Option<&DeviceCount>) -> String {
    let counts = count.map_or_else(Vec::new, |count| {
        let all = [
            (count.in_use, "in use"),
            (count.tainted, "tainted"),
            (count.blocked, "unavailable"),
            (count.unknown, "unknown"),
        ];
        let known = all.into_iter().filter(|(number, _)| *number > 0);
        known.map(|(number, what)| format!("{number} {what}")).collect()
    });
    let is_unmatched = count.is_some_and(|count| count.matching == 0);
    match reason {
        Some(reason) if counts.is_empty() => reason.to_string(),
        Some(reason) => format!("{}; {reason}", counts.join(", ")),
        None if is_unmatched => "no device matches".to_owned(),
        None if counts.is_empty() => count.map_or_else(String::new, |count| match count.matching {
            1 => "only 1 matches".to_owned(),
            matching => format!("only {matching} match"),
        }),
        None => counts.join(", "),
    }
}

/// How certain it is that the fix helps, and what else it does.
pub(super) fn proof(fix: &FixItem, page: Page) -> String {
    let mut proof = match (fix.proven, fix.nodes.as_slice()) {
        (false, _) => "not tested".to_owned(),
        (true, []) => "tested".to_owned(),
        (true, nodes) => format!("tested: fits on {}", shortened(nodes, page)),
    };
    if fix.proven && !fix.minimal {
        proof.push_str("; a smaller change may exist");
    }
    proof.push_str(&unless(fix));
    let more = fix
        .gets
        .iter()
        .map(GetsItem::text)
        .chain(fix.risky.then(|| RISKY.to_owned()))
        .chain(recreates(fix));
    for text in more {
        proof.push_str("; ");
        proof.push_str(&text);
    }
    proof
}

/// That other pods may take what the fix makes room for.
pub(super) fn unless(fix: &FixItem) -> String {
    match fix.ahead {
        0 => String::new(),
        1 => ", unless a pod with a higher priority comes first".to_owned(),
        ahead => {
            let least = if ahead < MOST_AHEAD { "" } else { "at least " };
            format!(", unless {least}{ahead} pods with a higher priority come first")
        }
    }
}

/// The objects that the fix deletes and recreates.
pub(super) fn recreates(fix: &FixItem) -> Option<String> {
    let objects: Vec<String> = fix.remakes.iter().map(Remake::object).collect();
    (!objects.is_empty()).then(|| format!("recreates {}", objects.join(" and ")))
}

/// How many fixes are not shown.
pub(super) fn more_fixes(fixes: &[FixItem]) -> String {
    let risky = fixes.iter().filter(|fix| fix.risky).count();
    match (fixes.len(), risky) {
        (all, 0) => format!("{all} more"),
        (all, risky) if all == risky => format!("{all} more, {RISKY}"),
        (all, risky) => format!("{all} more, {risky} of them {RISKY}"),
    }
}
