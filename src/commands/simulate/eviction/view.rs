//! How people see the report: what happens when, then each pod, claim, budget and rule.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::model::Time;
use crate::output::{Column, Detail, Layout, NONE, Report, Table, Tone, View, human_duration, list_or_none};
use crate::simulation::{EvictionReport, Fit, PodItem, PodVerdict, Replacing, StatusItem, Tolerated};

const PODS: &[Column] = &[
    Column::new("AFTER", ""),
    Column::wide("AT", ""),
    Column::new("POD", ""),
    Column::new("NODE", ""),
    Column::new("GRACE", ""),
    Column::new("OWNER", ""),
    Column::wide("PRIORITY", ""),
    Column::new("REPLACEMENT", ""),
    Column::new("REASONS", ""),
];

const TOLERATING: &[Column] = &[
    Column::new("POD", ""),
    Column::new("NODE", ""),
    Column::new("TAINTS", ""),
];

const TOLERATIONS: &[Column] = &[
    Column::new("POD", ""),
    Column::new("CLAIM", ""),
    Column::new("DEVICE", ""),
    Column::new("TAINT", ""),
    Column::new("TOLERATED", ""),
];

const MISSED: &[Column] = &[
    Column::new("POD", ""),
    Column::new("CLAIM", ""),
    Column::new("WHY", ""),
];

const CLAIMS: &[Column] = &[
    Column::new("AFTER", ""),
    Column::new("CLAIM", ""),
    Column::new("DEVICES", ""),
    Column::new("REMOVED", ""),
];

const BUDGETS: &[Column] = &[
    Column::new("BUDGET", ""),
    Column::new("ALLOWED", ""),
    Column::new("EVICTED", ""),
    Column::new("VIOLATED", ""),
];

const RULES: &[Column] = &[
    Column::new("RULE", ""),
    Column::new("AFTER", ""),
    Column::new("STATUS", ""),
    Column::new("REASON", ""),
    Column::new("MESSAGE", ""),
];

const EVENTS: &[Column] = &[
    Column::new("AFTER", ""),
    Column::new("EVENT", ""),
    Column::new("OBJECT", ""),
    Column::new("DETAIL", ""),
];

const STEPS: &[Column] = &[
    Column::new("AFTER", ""),
    Column::new("DELETED", ""),
    Column::new("GONE", ""),
    Column::new("RELEASED", ""),
    Column::new("LEFT", ""),
];

/// How many nodes a cell names.
const NODES: usize = 3;

/// Longest bar of the graph.
const BAR: usize = 40;

impl Report for EvictionReport {
    const KIND: &'static str = "EvictionReport";

    fn view(&self, detail: Detail) -> View {
        let mut layout = Layout::new();
        layout.field("Start", self.start);
        layout.section("Evicted", |section| {
            section.table(self.evicted(detail));
        });
        layout.section("Timeline", |section| {
            section.table(if detail == Detail::Wide {
                self.all_events()
            } else {
                self.steps()
            });
        });
        layout.section("Claims released", |section| {
            section.table(self.claims_table(detail));
        });
        if let Some(tolerations) = &self.tolerations {
            layout.section("Tolerations", |section| {
                section.table(tolerations_table(tolerations));
            });
        } else {
            layout.section("Tolerating for good", |section| {
                section.table(self.tolerating());
            });
        }
        layout.section("Missed by the controller", |section| {
            let mut table = Table::new(MISSED, detail);
            for pod in &self.missed {
                table.row(|row| {
                    row.cell(format_args!("{}/{}", pod.namespace, pod.name))
                        .cell(&pod.claim)
                        .cell(&pod.why);
                });
            }
            section.table(table);
        });
        layout.section("Disruption budgets", |section| {
            section.table(self.budgets_table());
        });
        layout.section("Rules", |section| {
            section.table(self.rules_table());
        });
        layout.into()
    }
}

impl EvictionReport {
    fn after(&self, at: Time) -> String {
        after(self.start, at)
    }

    fn evicted(&self, detail: Detail) -> Table {
        let mut table = Table::new(PODS, detail);
        for pod in self.pods.iter().filter(|pod| pod.verdict == PodVerdict::Evicted) {
            table.row(|row| {
                row.option(pod.at.map(|at| self.after(at)))
                    .option(pod.at)
                    .cell(format_args!("{}/{}", pod.namespace, pod.name))
                    .option(pod.node.as_ref())
                    .option(pod.grace_period_seconds.map(|seconds| format!("{seconds}s")))
                    .cell(owner(pod))
                    .option(pod.priority)
                    .cell(replacement(pod))
                    .list(&pod.reasons);
            });
        }
        table
    }

    /// One line for each instant, with a bar of the pods that are deleted then.
    fn steps(&self) -> Table {
        #[derive(Default)]
        struct Step {
            deleted: usize,
            gone: usize,
            released: usize,
        }
        let mut steps: BTreeMap<Time, Step> = BTreeMap::new();
        let mut total = 0;
        for event in &self.events {
            let step = match event.type_ {
                "PodDeleted" => &mut steps.entry(event.at).or_default().deleted,
                "PodGone" => &mut steps.entry(event.at).or_default().gone,
                "ClaimReleased" => &mut steps.entry(event.at).or_default().released,
                _ => continue,
            };
            *step += 1;
            total += usize::from(event.type_ == "PodDeleted");
        }
        let mut table = Table::new(STEPS, Detail::Normal);
        let mut left = total;
        for (at, step) in steps {
            left -= step.deleted;
            // The graph falls as pods go.
            let bar = "#".repeat((left * BAR.min(total)).div_ceil(total.max(1)));
            table.row(|row| {
                row.cell(self.after(at))
                    .cell(step.deleted)
                    .cell(step.gone)
                    .cell(step.released)
                    .cell(format!("{left} {bar}").trim_end());
            });
        }
        table
    }

    fn all_events(&self) -> Table {
        let mut table = Table::new(EVENTS, Detail::Normal);
        for event in &self.events {
            table.row(|row| {
                row.cell(self.after(event.at)).cell(event.type_);
                if event.namespace.is_empty() {
                    row.cell(&event.name);
                } else {
                    row.cell(format_args!("{}/{}", event.namespace, event.name));
                }
                let mut details: Vec<String> = event.reasons.iter().map(ToString::to_string).collect();
                details.extend(event.devices.iter().map(ToString::to_string));
                details.extend(event.nodes.iter().map(ToString::to_string));
                if !event.message.is_empty() {
                    details.push(event.message.clone());
                }
                row.cell(if details.is_empty() {
                    NONE.to_owned()
                } else {
                    details.join(", ")
                });
            });
        }
        table
    }

    fn tolerating(&self) -> Table {
        let mut table = Table::new(TOLERATING, Detail::Normal);
        for pod in self
            .pods
            .iter()
            .filter(|pod| pod.verdict == PodVerdict::Tolerates)
        {
            table.row(|row| {
                row.cell(format_args!("{}/{}", pod.namespace, pod.name))
                    .option(pod.node.as_ref())
                    .list(&pod.reasons);
            });
        }
        table
    }

    fn claims_table(&self, detail: Detail) -> Table {
        let mut table = Table::new(CLAIMS, detail);
        for claim in &self.claims {
            table.row(|row| {
                row.cell(self.after(claim.released_at))
                    .cell(format_args!("{}/{}", claim.namespace, claim.name))
                    .cell(list_or_none(&claim.devices))
                    .cell(if claim.deleted_at.is_some() { "yes" } else { "no" });
            });
        }
        table
    }

    fn budgets_table(&self) -> Table {
        let mut table = Table::new(BUDGETS, Detail::Normal);
        for budget in &self.disruption_budgets {
            table.row(|row| {
                row.cell(format_args!("{}/{}", budget.namespace, budget.name))
                    .cell(budget.disruptions_allowed)
                    .cell(list_or_none(&budget.pods));
                match budget.violated_at {
                    Some(at) => row.toned(Tone::Bad, format_args!("after {}", self.after(at))),
                    None => row.cell("no"),
                };
            });
        }
        table
    }

    fn rules_table(&self) -> Table {
        let mut table = Table::new(RULES, Detail::Normal);
        for rule in &self.rules {
            let first = rule.condition.iter();
            for status in first.chain(&rule.timeline) {
                let StatusItem {
                    at,
                    status,
                    reason,
                    message,
                } = status;
                table.row(|row| {
                    row.cell(&rule.name)
                        .option(at.map(|at| self.after(at)))
                        .cell(status)
                        .cell(reason)
                        .cell(if message.is_empty() { NONE } else { message });
                });
            }
        }
        table
    }
}

fn tolerations_table(tolerations: &[crate::simulation::TolerationItem]) -> Table {
    let mut table = Table::new(TOLERATIONS, Detail::Normal);
    for item in tolerations {
        table.row(|row| {
            row.cell(format_args!("{}/{}", item.namespace, item.name))
                .cell(&item.claim)
                .cell(&item.device)
                .cell(&item.taint);
            match (item.tolerated, item.until) {
                (Tolerated::No, _) => row.toned(Tone::Bad, "no"),
                (Tolerated::Forever, _) => row.cell("forever"),
                (Tolerated::Until, until) => row.cell(format_args!(
                    "until {}",
                    until.map_or_else(String::new, |until| until.to_string())
                )),
            };
        });
    }
    table
}

/// How long after the start: `0s`, `20s`, `60m`; a condition from before has no distance.
fn after(start: Time, at: Time) -> String {
    if at < start {
        return "before".to_owned();
    }
    human_duration(SignedDuration::try_from(at.since(start)).unwrap_or(SignedDuration::MAX))
}

/// `replicaset/web (2 of 3)`: how many of the owner's pods go.
fn owner(pod: &PodItem) -> String {
    pod.owner.as_ref().map_or_else(
        || NONE.to_owned(),
        |owner| {
            format!(
                "{}/{} ({} of {})",
                owner.kind.to_lowercase(),
                owner.name,
                owner.evicted,
                owner.pods
            )
        },
    )
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
