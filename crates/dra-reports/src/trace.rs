//! `kubectl dra run --from FILE --until DURATION`: what the controllers write, in order.

use super::shadow::object_of;
use dra_model::{Key, Kind, Time};
use dra_rules::controllers::{Action, Actor, Traced};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct ControllerTrace {
    /// What was done, in order.
    pub events: Vec<TraceItem>,
    /// When it began.
    pub from: Time,
    /// When it ended.
    pub to: Time,
    /// Objects that are written again and again without end.
    pub loops: Vec<String>,
}

/// Something that was done.
#[macro_rules_attribute::apply(report)]
pub struct TraceItem {
    /// When, on the virtual clock.
    pub at: Time,
    /// Who does it.
    #[schemars(extend("enum" = Actor::ALL.map(<&str>::from)))]
    pub controller: &'static str,
    /// What it does.
    #[schemars(extend("enum" = <Action as strum::VariantNames>::VARIANTS))]
    pub action: &'static str,
    /// What it is done to, such as `pod/NAMESPACE/NAME`.
    pub object: String,
    /// What else is to be said: the claim that is made, the consumer, the devices, the taint, the text of an event.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// How often at that instant.
    #[schemars(range(min = 1))]
    pub count: u64,
}

/// The report of what was done between two times.
pub fn controller_trace<'a>(
    traced: &[Traced],
    (from, to): (Time, Time),
    looping: impl IntoIterator<Item = &'a (Kind, Key)>,
) -> ControllerTrace {
    let item = |traced: &Traced| TraceItem {
        at: traced.at,
        controller: traced.actor.into(),
        action: traced.action.into(),
        object: object_of(&traced.object),
        detail: traced.detail.clone(),
        count: traced.count,
    };
    ControllerTrace {
        events: traced.iter().map(item).collect(),
        from,
        to,
        loops: looping.into_iter().map(object_of).collect(),
    }
}
