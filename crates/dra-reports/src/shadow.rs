//! `kubectl dra run` without the right to write: where the built-in controllers do not do what the rules want.

use dra_model::{Key, Kind, Time};
use dra_rules::controllers::{Action, ControllerName, Counts, Difference, Found};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct ShadowReport {
    /// What was found: unexpected writes, then overdue ones, then flapping ones.
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
    /// Kinds that were not watched at the end, so that findings on them are unknown. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub unknown: Vec<String>,
}

/// One finding.
#[macro_rules_attribute::apply(report)]
pub struct ShadowItem {
    /// What is wrong.
    pub finding: Difference,
    /// Which controller.
    #[schemars(extend("enum" = ControllerName::ALL.map(<&str>::from)))]
    pub controller: &'static str,
    /// The write.
    #[schemars(extend("enum" = Action::of_controllers()))]
    pub write: &'static str,
    /// Object, such as `pod/NAMESPACE/NAME`.
    pub object: String,
    /// Since when it is wanted, or when it was done first.
    pub since: Time,
    /// When it was done after all.
    pub until: Option<Time>,
    /// Number of times.
    #[schemars(range(min = 1))]
    pub count: u64,
}

impl ShadowItem {
    /// The finding in the words of a report.
    pub fn of(found: &Found) -> Self {
        Self {
            finding: found.difference,
            controller: found.wish.controller().into(),
            write: found.wish.write(),
            object: object_of(&found.wish.object()),
            since: found.since,
            until: found.until,
            count: found.count,
        }
    }

    /// Meaning of the finding, in a sentence without a full stop.
    pub fn meaning(&self) -> String {
        let Self {
            controller,
            write,
            object,
            ..
        } = self;
        match self.finding {
            Difference::Overdue => format!("{controller} has not written {write} for {object}"),
            Difference::Flapping => format!("{controller} keeps repeating {write} for {object}"),
            Difference::Unexpected => {
                format!("{controller} wrote {write} for {object}, which no rule requires")
            }
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
