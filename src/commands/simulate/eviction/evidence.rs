//! All there is to an eviction, as `-o wide` shows it: what happens when, then each pod, claim, budget and rule.

use super::parts::{after, fitting_nodes};
use crate::output::{Cell, Column, Detail, Doc, Table, Tone};
use dra_model::{Str, Time};
use dra_rules::owners::Replacing;
use dra_rules::simulation::{
    BudgetItem, ClaimItem, EventItem, EvictionReport, Fit, MissedPod, OwnerItem, PodItem, PodVerdict,
    StatusItem, Tolerated, TolerationItem,
};

const PODS: &[Column<PodItem, Time>] = &[
    Column::inner("AFTER", |pod, cell| {
        cell.option(pod.at.map(|at| after(*cell.context, at)));
    }),
    Column::inner("AT", |pod, cell| cell.option(pod.at)),
    Column::inner("POD", pod),
    Column::inner("NODE", |pod, cell| cell.option(pod.node.as_ref())),
    Column::inner("GRACE", |pod, cell| {
        cell.option(pod.grace_period_seconds.map(|seconds| format!("{seconds}s")));
    }),
    Column::inner("OWNER", |pod, cell| cell.option(pod.owner.as_ref().map(owner))),
    Column::inner("PRIORITY", |pod, cell| cell.option(pod.priority)),
    Column::inner("REPLACEMENT", |pod, cell| cell.text(replacement(pod))),
    Column::inner("REASONS", |pod, cell| cell.list(&*pod.reasons)),
];

const TOLERATING: &[Column<PodItem>] = &[
    Column::inner("POD", pod),
    Column::inner("NODE", |pod, cell| cell.option(pod.node.as_ref())),
    Column::inner("TAINTS", |pod, cell| cell.list(&*pod.reasons)),
];

const TOLERATIONS: &[Column<TolerationItem>] = &[
    Column::inner("POD", |item, cell| cell.path(&item.namespace, &item.name)),
    Column::inner("CLAIM", |item, cell| cell.text(&item.claim)),
    Column::inner("DEVICE", |item, cell| cell.text(&item.device)),
    Column::inner("TAINT", |item, cell| cell.text(&item.taint)),
    Column::inner("TOLERATED", |item, cell| match (item.tolerated, item.until) {
        (Tolerated::No, _) if item.lacks_effect => cell.toned(Tone::Bad, "no: without effect NoExecute"),
        (Tolerated::No, _) => cell.toned(Tone::Bad, "no"),
        (Tolerated::Forever, _) => cell.text("forever"),
        (Tolerated::Until, Some(until)) => cell.text(format_args!("until {until}")),
        (Tolerated::Until, None) => cell.text("until "),
    }),
];

const MISSED: &[Column<MissedPod>] = &[
    Column::inner("POD", |pod, cell| cell.path(&pod.namespace, &pod.name)),
    Column::inner("CLAIM", |pod, cell| cell.text(&pod.claim)),
    Column::inner("WHY", |pod, cell| cell.text(&pod.why)),
];

const CLAIMS: &[Column<ClaimItem, Time>] = &[
    Column::inner("AFTER", |claim, cell| {
        cell.text(after(*cell.context, claim.released_at));
    }),
    Column::inner("CLAIM", |claim, cell| cell.path(&claim.namespace, &claim.name)),
    Column::inner("DEVICES", |claim, cell| cell.list(&*claim.devices)),
    Column::inner("REMOVED", |claim, cell| {
        cell.text(if claim.deleted_at.is_some() { "yes" } else { "no" });
    }),
];

const BUDGETS: &[Column<BudgetItem, Time>] = &[
    Column::inner("BUDGET", |budget, cell| {
        cell.path(&budget.namespace, &budget.name);
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
        details.extend((!event.message.is_empty()).then(|| event.message.to_string()));
        cell.option((!details.is_empty()).then(|| details.join(", ")));
    }),
];

/// Condition of a rule from a point in time.
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

/// Each pod, event, claim, budget and rule.
pub(super) fn add(doc: &mut Doc, report: &EvictionReport) {
    let (start, detail) = (&report.start, Detail::Wide);
    let of_verdict = |verdict| report.pods.iter().filter(move |pod| pod.verdict == verdict);
    doc.field("Start", start);
    let evicted = of_verdict(PodVerdict::Evicted);
    doc.titled("Evicted", Table::with(PODS, detail, start, evicted));
    doc.titled("Timeline", Table::with(EVENTS, detail, start, &report.events));
    let claims = Table::with(CLAIMS, detail, start, &report.claims);
    doc.titled("Claims Released", claims);
    let tolerating = of_verdict(PodVerdict::Tolerates);
    doc.titled("Tolerating Permanently", Table::of(TOLERATING, tolerating));
    doc.titled("Not Evicted By The Controller", Table::of(MISSED, &report.missed));
    let budgets = Table::with(BUDGETS, detail, start, &report.disruption_budgets);
    doc.titled("Disruption Budgets", budgets);
    doc.section("Rules", |section| {
        let said = report.rules.iter().flat_map(|rule| {
            let all = rule.condition.iter().chain(&rule.timeline);
            all.map(|status| Said {
                rule: &rule.name,
                status,
            })
        });
        section.table(Table::with(Said::COLUMNS, detail, start, said));
    });
}

/// How each taint of each device is tolerated, where the flag asks for it.
pub(super) fn tolerations(doc: &mut Doc, report: &EvictionReport) {
    if let Some(tolerations) = &report.tolerations {
        doc.titled("Tolerations", Table::of(TOLERATIONS, tolerations));
    }
}

fn pod<C>(pod: &PodItem, cell: &mut Cell<'_, C>) {
    cell.path(&pod.namespace, &pod.name);
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
        Fit::Fits => fitting_nodes(&replacement.nodes),
        Fit::DoesNotFit => "does not fit".to_owned(),
        Fit::Unknown => "unknown".to_owned(),
    }
}
