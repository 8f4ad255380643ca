//! How people see the report: what happens when, then each pod, claim, budget and rule.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::model::{Str, Time};
use crate::output::{Cell, Column, Detail, Layout, Report, Table, Tone, View, human_duration, list_or_none};
use crate::simulation::{
    BudgetItem, ClaimItem, EventItem, EvictionReport, Fit, MissedPod, OwnerItem, PodItem, PodVerdict,
    Replacing, StatusItem, Tolerated, TolerationItem,
};

const PODS: &[Column<PodItem, Time>] = &[
    Column::inner("AFTER", |pod, cell| {
        cell.option(pod.at.map(|at| after(*cell.context, at)));
    }),
    Column::inner_wide("AT", |pod, cell| cell.option(pod.at)),
    Column::inner("POD", pod),
    Column::inner("NODE", |pod, cell| cell.option(pod.node.as_ref())),
    Column::inner("GRACE", |pod, cell| {
        cell.option(pod.grace_period_seconds.map(|seconds| format!("{seconds}s")));
    }),
    Column::inner("OWNER", |pod, cell| cell.option(pod.owner.as_ref().map(owner))),
    Column::inner_wide("PRIORITY", |pod, cell| cell.option(pod.priority)),
    Column::inner("REPLACEMENT", |pod, cell| cell.text(replacement(pod))),
    Column::inner("REASONS", |pod, cell| cell.list(&pod.reasons)),
];

const TOLERATING: &[Column<PodItem>] = &[
    Column::inner("POD", pod),
    Column::inner("NODE", |pod, cell| cell.option(pod.node.as_ref())),
    Column::inner("TAINTS", |pod, cell| cell.list(&pod.reasons)),
];

const TOLERATIONS: &[Column<TolerationItem>] = &[
    Column::inner("POD", |item, cell| {
        cell.text(format_args!("{}/{}", item.namespace, item.name));
    }),
    Column::inner("CLAIM", |item, cell| cell.text(&item.claim)),
    Column::inner("DEVICE", |item, cell| cell.text(&item.device)),
    Column::inner("TAINT", |item, cell| cell.text(&item.taint)),
    Column::inner("TOLERATED", |item, cell| match (item.tolerated, item.until) {
        (Tolerated::No, _) => cell.toned(Tone::Bad, "no"),
        (Tolerated::Forever, _) => cell.text("forever"),
        (Tolerated::Until, Some(until)) => cell.text(format_args!("until {until}")),
        (Tolerated::Until, None) => cell.text("until "),
    }),
];

const MISSED: &[Column<MissedPod>] = &[
    Column::inner("POD", |pod, cell| {
        cell.text(format_args!("{}/{}", pod.namespace, pod.name));
    }),
    Column::inner("CLAIM", |pod, cell| cell.text(&pod.claim)),
    Column::inner("WHY", |pod, cell| cell.text(&pod.why)),
];

const CLAIMS: &[Column<ClaimItem, Time>] = &[
    Column::inner("AFTER", |claim, cell| {
        cell.text(after(*cell.context, claim.released_at));
    }),
    Column::inner("CLAIM", |claim, cell| {
        cell.text(format_args!("{}/{}", claim.namespace, claim.name));
    }),
    Column::inner("DEVICES", |claim, cell| cell.list(&claim.devices)),
    Column::inner("REMOVED", |claim, cell| {
        cell.text(if claim.deleted_at.is_some() { "yes" } else { "no" });
    }),
];

const BUDGETS: &[Column<BudgetItem, Time>] = &[
    Column::inner("BUDGET", |budget, cell| {
        cell.text(format_args!("{}/{}", budget.namespace, budget.name));
    }),
    Column::inner("ALLOWED", |budget, cell| cell.text(budget.disruptions_allowed)),
    Column::inner("EVICTED", |budget, cell| cell.list(&budget.pods)),
    Column::inner("VIOLATED", |budget, cell| match budget.violated_at {
        Some(at) => cell.toned(Tone::Bad, format_args!("after {}", after(*cell.context, at))),
        None => cell.text("no"),
    }),
];

const EVENTS: &[Column<EventItem, Time>] = &[
    Column::inner("AFTER", |event, cell| cell.text(after(*cell.context, event.at))),
    Column::inner("EVENT", |event, cell| cell.text(event.type_)),
    Column::inner("OBJECT", |event, cell| {
        if !event.namespace.is_empty() {
            cell.text(format_args!("{}/", event.namespace));
        }
        cell.text(&event.name);
    }),
    Column::inner("DETAIL", |event, cell| {
        let mut details: Vec<String> = event.reasons.iter().map(ToString::to_string).collect();
        details.extend(event.devices.iter().map(ToString::to_string));
        details.extend(event.nodes.iter().map(ToString::to_string));
        details.extend((!event.message.is_empty()).then(|| event.message.clone()));
        cell.option((!details.is_empty()).then(|| details.join(", ")));
    }),
];

/// What the condition of a rule says from some time on.
struct Said<'s> {
    rule: &'s Str,
    status: &'s StatusItem,
}

impl<'s> Said<'s> {
    const COLUMNS: &'s [Column<Self, Time>] = &[
        Column::inner("RULE", |said, cell| cell.text(said.rule)),
        Column::inner("AFTER", |said, cell| {
            cell.option(said.status.at.map(|at| after(*cell.context, at)));
        }),
        Column::inner("STATUS", |said, cell| cell.text(&said.status.status)),
        Column::inner("REASON", |said, cell| cell.text(&said.status.reason)),
        Column::inner("MESSAGE", |said, cell| {
            let message = &said.status.message;
            cell.option((!message.is_empty()).then_some(message));
        }),
    ];
}

/// What happens at one instant.
struct Step {
    at: Time,
    deleted: usize,
    gone: usize,
    released: usize,
    /// How many pods are still to be deleted, as a number and as a bar.
    left: String,
}

const STEPS: &[Column<Step, Time>] = &[
    Column::inner("AFTER", |step, cell| cell.text(after(*cell.context, step.at))),
    Column::inner("DELETED", |step, cell| cell.text(step.deleted)),
    Column::inner("GONE", |step, cell| cell.text(step.gone)),
    Column::inner("RELEASED", |step, cell| cell.text(step.released)),
    Column::inner("LEFT", |step, cell| cell.text(&step.left)),
];

/// How many nodes a cell names.
const NODES: usize = 3;

/// Longest bar of the graph.
const BAR: usize = 40;

impl Report for EvictionReport {
    const KIND: &'static str = "EvictionReport";

    fn view(&self, detail: Detail) -> View {
        let mut layout = Layout::new();
        let start = &self.start;
        let of = |verdict| self.pods.iter().filter(move |pod| pod.verdict == verdict);
        layout.field("Start", start);
        layout.section("Evicted", |section| {
            section.table(Table::with(PODS, detail, start, of(PodVerdict::Evicted)));
        });
        layout.section("Timeline", |section| {
            section.table(if detail == Detail::Wide {
                Table::with(EVENTS, detail, start, &self.events)
            } else {
                Table::with(STEPS, detail, start, self.steps())
            });
        });
        layout.section("Claims released", |section| {
            section.table(Table::with(CLAIMS, detail, start, &self.claims));
        });
        if let Some(tolerations) = &self.tolerations {
            layout.section("Tolerations", |section| {
                section.table(Table::new(TOLERATIONS, detail, tolerations));
            });
        } else {
            layout.section("Tolerating for good", |section| {
                section.table(Table::new(TOLERATING, detail, of(PodVerdict::Tolerates)));
            });
        }
        layout.section("Missed by the controller", |section| {
            section.table(Table::new(MISSED, detail, &self.missed));
        });
        layout.section("Disruption budgets", |section| {
            section.table(Table::with(BUDGETS, detail, start, &self.disruption_budgets));
        });
        layout.section("Rules", |section| {
            let said = self.rules.iter().flat_map(|rule| {
                let all = rule.condition.iter().chain(&rule.timeline);
                all.map(|status| Said {
                    rule: &rule.name,
                    status,
                })
            });
            section.table(Table::with(Said::COLUMNS, detail, start, said));
        });
        layout.into()
    }
}

impl EvictionReport {
    /// One line for each instant, with a bar of the pods that are deleted then.
    fn steps(&self) -> impl Iterator<Item = Step> {
        let mut steps: BTreeMap<Time, Step> = BTreeMap::new();
        let mut total = 0;
        for event in &self.events {
            let count: fn(&mut Step) -> &mut usize = match event.type_ {
                "PodDeleted" => |step| &mut step.deleted,
                "PodGone" => |step| &mut step.gone,
                "ClaimReleased" => |step| &mut step.released,
                _ => continue,
            };
            let step = steps.entry(event.at).or_insert(Step {
                at: event.at,
                deleted: 0,
                gone: 0,
                released: 0,
                left: String::new(),
            });
            *count(step) += 1;
            total += usize::from(event.type_ == "PodDeleted");
        }
        let mut left = total;
        steps.into_values().map(move |step| {
            left -= step.deleted;
            // The graph falls as pods go.
            let bar = "#".repeat((left * BAR.min(total)).div_ceil(total.max(1)));
            let left = format!("{left} {bar}").trim_end().to_owned();
            Step { left, ..step }
        })
    }
}

fn pod<C>(pod: &PodItem, cell: &mut Cell<'_, C>) {
    cell.text(format_args!("{}/{}", pod.namespace, pod.name));
}

/// How long after the start: `0s`, `20s`, `60m`; a condition from before has no distance.
fn after(start: Time, at: Time) -> String {
    if at < start {
        return "before".to_owned();
    }
    human_duration(SignedDuration::try_from(at.since(start)).unwrap_or(SignedDuration::MAX))
}

/// `replicaset/web (2 of 3)`: how many of the owner's pods go.
fn owner(owner: &OwnerItem) -> String {
    let OwnerItem {
        kind,
        name,
        evicted,
        pods,
        ..
    } = owner;
    format!("{}/{name} ({evicted} of {pods})", kind.to_lowercase())
}

fn replacement(pod: &PodItem) -> String {
    let Some(replacement) = &pod.replacement else {
        return match pod.replacing {
            Some(Replacing::Unknown | Replacing::AtOnce | Replacing::OnceGone) => "unknown",
            _ => "none",
        }
        .to_owned();
    };
    match replacement.fits {
        Fit::Fits if replacement.nodes.len() > NODES => format!("fits on {} nodes", replacement.nodes.len()),
        Fit::Fits => format!("fits on {}", list_or_none(&replacement.nodes)),
        Fit::DoesNotFit => "does not fit".to_owned(),
        Fit::Unknown => "unknown".to_owned(),
    }
}
