//! What `top` shows: a table for each tab, and what a row of it opens.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::commands::devices::map::{self, Line, Picture};
use crate::commands::explain::{self, Topic};
use crate::commands::{judging, status, threads, usage};
use crate::output::{Column, Page, Span, Table, Tone, UNKNOWN, age, counted, span};
use dra_model::{Cluster, Event, Key, Kind, Pod, Str, Time};
use dra_reports::allocation::{Settings, Target};
use dra_reports::{
    CauseItem, ExplanationList, Selection, UsageBy, UsageGroup, UsageItem, all_missing, explain_all,
};

/// Events that are kept: the newest ones.
const EVENTS: usize = 1_000;

/// A list of rows.
#[derive(Debug, Default)]
pub(super) struct Pane {
    pub(super) table: Table,
    /// What each row opens.
    pub(super) opens: Vec<Option<Topic>>,
}

/// All that is shown of one state of the cluster.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// The cluster in a line.
    pub(super) summary: Vec<Span>,
    /// What could not be read, or was not looked at.
    pub(super) unknown: Vec<String>,
    /// What an empty pane says: that it proves nothing where something is unknown. Empty before anything was computed.
    pub(super) nothing: &'static str,
    /// In the order of the tabs.
    pub(super) panes: [Pane; 4],
}

/// What to show.
#[derive(Clone, Debug)]
pub(super) struct Shows {
    pub(super) selection: Selection,
    pub(super) by: UsageBy,
    pub(super) page: Page,
}

impl Shows {
    /// What is shown of `cluster` at `now`.
    pub(super) fn of(&self, cluster: &Cluster, now: Time) -> Data {
        let cluster = &judging::metered(cluster);
        let status = dra_reports::status(cluster, &self.selection, self.by, now, &threads::on_all);
        let pending = self.pending(cluster, now);
        let mut unknown: Vec<String> = all_missing(&cluster.environment().gaps).collect();
        if pending.not_explained > 0 {
            unknown.push(not_explained(pending.not_explained));
        }
        let in_use = match status::in_use(&status) {
            Some(held) => format!("{held}/{}", status::sum(&status, |devices| devices.total)),
            None => UNKNOWN.to_owned(),
        };
        let waiting = pending.items.iter().map(CauseItem::count).sum::<usize>() + pending.not_explained;
        let (tone, waiting) = match waiting {
            0 if pending.is_incomplete() => (Tone::Notice, UNKNOWN.to_owned()),
            0 => (Tone::Plain, waiting.to_string()),
            _ => (Tone::Bad, waiting.to_string()),
        };
        let (incomplete, nothing) = if unknown.is_empty() {
            ("", "nothing")
        } else {
            ("; not everything was read (?)", "nothing among what was read")
        };
        let summary = vec![
            span(Tone::Plain, format!(": {in_use} in use, ")),
            span(tone, format!("{waiting} pending")),
            span(Tone::Plain, format!(", findings: {}", status::findings(&status))),
            span(Tone::Notice, incomplete),
        ];
        let panes = [
            self.nodes(cluster),
            self.usage(status.usage.as_deref()),
            causes(&pending.items),
            self.events(cluster, now),
        ];
        Data {
            summary,
            unknown,
            nothing,
            panes,
        }
    }

    fn pending(&self, cluster: &Cluster, now: Time) -> ExplanationList {
        let budget = judging::budget(None);
        let settings = Settings {
            has_fixes: false,
            ..Settings::new(now, &budget, &threads::each_node)
        };
        explain_all(cluster, self.selection.namespace.as_ref(), &settings)
    }

    fn nodes(&self, cluster: &Cluster) -> Pane {
        let Picture { map, .. } = Picture::of(cluster, self.selection.namespace.as_ref(), self.by_of_map());
        let letters = map::letters(&map.holders);
        let lines = map.rows.iter();
        let lines = lines.flat_map(|row| Line::of(&map, &row.name, row, &letters));
        let lines: Vec<Line<'_>> = lines.collect();
        let opens = lines.iter().map(|line| {
            let name = Str::from(line.nodes);
            cluster.node(&name).map(|_| Topic::Object(format!("node/{name}")))
        });
        let table = Table::with(Line::COLUMNS, self.page.detail(), &self.page, &lines);
        Pane::new(table, opens)
    }

    /// Rows are nodes already.
    fn by_of_map(&self) -> UsageBy {
        match self.by {
            UsageBy::Node => UsageBy::Namespace,
            by => by,
        }
    }

    fn usage(&self, items: Option<&[UsageItem]>) -> Pane {
        // That there is none because it is unknown is among what is unknown.
        let lines = items.map_or_else(Vec::new, usage::lines);
        let opens: Vec<Option<Topic>> = lines.iter().map(|line| opened(line.group())).collect();
        Pane::new(usage::table_of(self.by, lines, self.page), opens)
    }

    /// The newest events about claims, and about pods with devices.
    fn events(&self, cluster: &Cluster, now: Time) -> Pane {
        let has_devices = |pod: &Pod| {
            !pod.spec.resource_claims.is_empty() || pod.status.extended_resource_claim_status.is_some()
        };
        let concerns = |event: &Event| {
            let object = &event.involved_object;
            let is_in = |namespace: &Str| object.namespace == *namespace;
            let key = Key::new(object.namespace.clone(), object.name.clone());
            self.selection.namespace.as_ref().is_none_or(is_in)
                && match object.kind.as_str() {
                    "Pod" => cluster.pod(&key).is_some_and(|pod| has_devices(pod)),
                    kind => [Kind::ResourceClaim, Kind::PodGroup, Kind::DeviceTaintRule]
                        .iter()
                        .any(|known| known.name() == kind),
                }
        };
        let mut events: Vec<&Arc<Event>> = cluster.events().filter(|event| concerns(event)).collect();
        events.sort_by_key(|event| Reverse(event.last_seen()));
        events.truncate(EVENTS);
        let opens = events.iter().map(|event| {
            let is_explained = matches!(event.involved_object.kind.as_str(), "Pod" | "ResourceClaim");
            is_explained.then(|| Topic::Object(explain::name(&target(event))))
        });
        let table = Table::with(EVENT_COLUMNS, self.page.detail(), &now, events.iter().copied());
        Pane::new(table, opens)
    }
}

impl Pane {
    fn new(table: Table, opens: impl IntoIterator<Item = Option<Topic>>) -> Self {
        Self {
            table: table.without_empty_columns().sanitized(),
            opens: opens.into_iter().collect(),
        }
    }
}

/// That so many pods and claims are pending for causes which were not looked for.
fn not_explained(count: usize) -> String {
    let objects = counted(
        count,
        "pending object is not explained",
        "pending objects are not explained",
    );
    format!("{objects}, because their requests differ too much")
}

/// What the use of a group opens.
fn opened(group: &UsageGroup) -> Option<Topic> {
    match group {
        UsageGroup::Namespace(name) => Some(Topic::Namespace(name.clone())),
        UsageGroup::Node(name) => Some(Topic::Object(format!("node/{name}"))),
        UsageGroup::Owner {
            namespace,
            kind,
            name,
        } => Some(Topic::Object(explain::name(&Target {
            kind: kind.clone(),
            namespace: namespace.clone(),
            name: name.clone(),
        }))),
        UsageGroup::Class(_) | UsageGroup::Nodes | UsageGroup::Unknown => None,
    }
}

const CAUSES: &[Column<CauseItem>] = &[
    Column::inner("COUNT", |item, cell| cell.text(item.count())),
    Column::inner("VERDICT", |item, cell| {
        cell.toned(explain::tone_of(item.verdict), format_args!("{:?}", item.verdict));
    }),
    Column::inner("FIRST", |item, cell| cell.text(explain::name(&item.explained))),
    Column::inner("CAUSE", |item, cell| cell.text(&item.cause)),
];

fn causes(items: &[CauseItem]) -> Pane {
    let opens = items
        .iter()
        .map(|item| Some(Topic::Object(explain::name(&item.explained))));
    Pane::new(Table::of(CAUSES, items), opens)
}

/// The object of an event.
fn target(event: &Event) -> Target {
    let object = &event.involved_object;
    Target {
        kind: object.kind.clone(),
        namespace: object.namespace.clone(),
        name: object.name.clone(),
    }
}

const EVENT_COLUMNS: &[Column<Arc<Event>, Time>] = &[
    Column::inner("AGE", |event, cell| {
        cell.text(age(*cell.context, event.last_seen()));
    }),
    Column::inner("COUNT", |event, cell| cell.text(event.times())),
    Column::inner("REASON", |event, cell| {
        let tone = if event.type_.as_str() == "Normal" {
            Tone::Plain
        } else {
            Tone::Notice
        };
        cell.toned(tone, &event.reason);
    }),
    Column::inner("OBJECT", |event, cell| cell.text(explain::name(&target(event)))),
    Column::inner("MESSAGE", |event, cell| cell.text(event.message.trim())),
];
