//! `kubectl dra run` without the right to write: where the built-in controllers do not do what the rules want.

use serde::Serialize;

use dra_model::{Key, Kind, Time};
use dra_rules::controllers::{Counts, Difference, Found};

/// The report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShadowReport {
    /// What was found, the worst first.
    pub items: Vec<ShadowItem>,
    /// When it began.
    pub from: Time,
    /// When it ended.
    pub to: Time,
    /// Writes that the rules wanted and that were done.
    pub fulfilled: u64,
    /// Writes that the rules wanted and gave up, mostly as the object is gone.
    pub given_up: u64,
    /// Writes that the rules want and that are not done yet.
    pub open: usize,
    /// What could not be watched when it ended, so that more may be wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// One finding.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShadowItem {
    /// `Overdue`, `Flapping` or `Unexpected`.
    pub finding: &'static str,
    /// Which controller.
    pub controller: &'static str,
    /// What is written.
    pub write: &'static str,
    /// `pod/NAMESPACE/NAME` and the like.
    pub object: String,
    /// Since when it is wanted, or when it was done first.
    pub since: Time,
    /// When it was done after all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// How often.
    pub count: u64,
}

impl ShadowItem {
    /// The finding in the words of a report.
    pub fn of(found: &Found) -> Self {
        Self {
            finding: found.difference.text(),
            controller: found.wish.controller().as_str(),
            write: found.wish.write(),
            object: object_of(&found.wish.object()),
            since: found.since,
            until: found.until,
            count: found.count,
        }
    }

    /// What it means, in a sentence without a full stop.
    pub fn meaning(&self) -> String {
        let Self {
            controller,
            write,
            object,
            ..
        } = self;
        match self.finding {
            "Overdue" => format!("{controller} should {write} for {object}, and has not"),
            "Flapping" => format!("{controller} keeps repeating {write} for {object}"),
            _ => format!("{controller} did what no rule wants: {write} for {object}"),
        }
    }
}

/// `claim/NAMESPACE/NAME` and the like.
pub fn object_of((kind, Key { namespace, name }): &(Kind, Key)) -> String {
    let short = match kind {
        Kind::ResourceClaim => "claim",
        Kind::DeviceTaintRule => return format!("devicetaintrule/{name}"),
        Kind::PodGroup => "podgroup",
        _ => "pod",
    };
    format!("{short}/{namespace}/{name}")
}

/// The report of what was found between two times.
pub fn shadow_report(found: &[Found], counts: Counts, (from, to): (Time, Time)) -> ShadowReport {
    let rank = |found: &&Found| match found.difference {
        Difference::Unexpected => 0,
        Difference::Overdue => 1,
        Difference::Flapping => 2,
    };
    let mut found: Vec<&Found> = found.iter().collect();
    found.sort_by_key(rank);
    ShadowReport {
        items: found.into_iter().map(ShadowItem::of).collect(),
        from,
        to,
        fulfilled: counts.fulfilled,
        given_up: counts.moot,
        open: counts.open,
        unknown: Vec::new(),
    }
}
