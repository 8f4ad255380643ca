//! Events about an object.

use super::super::Warnings;
use dra_model::{Cluster, Event, Kind, Meta, Str, Time};

/// An event.
#[macro_rules_attribute::apply(report)]
#[derive(PartialEq, Eq)]
pub struct EventItem {
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub type_: Str,
    /// Machine-readable cause.
    pub reason: Str,
    /// Text for people.
    pub message: Str,
    /// Who reports.
    pub source: Str,
    /// How often.
    pub count: i32,
    /// When it was seen first.
    pub first_seen: Option<Time>,
    /// When it was seen last.
    pub last_seen: Option<Time>,
}

impl EventItem {
    fn of(event: &Event) -> Self {
        Self {
            type_: event.type_.clone(),
            reason: event.reason.clone(),
            message: event.message.trim().into(),
            source: event.component().clone(),
            count: event.times(),
            first_seen: event.event_time.or(event.first_timestamp),
            last_seen: event.last_seen(),
        }
    }
}

/// Events about the object, oldest first; absent when they could not be read.
pub(super) fn events(
    cluster: &Cluster,
    kind: Kind,
    metadata: &Meta,
    warnings: &mut Warnings,
) -> Option<Vec<EventItem>> {
    if let Some(gap) = cluster.gap(Kind::Event, &metadata.namespace) {
        warnings.unknown(super::words::UNKNOWN_EVENTS, gap);
        return None;
    }
    let events = cluster.events_of(kind, metadata);
    Some(events.into_iter().map(|event| EventItem::of(event)).collect())
}
