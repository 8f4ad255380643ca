//! An eviction as people read it: how many pods end and what becomes of them, then each pod.

use std::collections::{BTreeMap, BTreeSet};

use super::parts::{STEPS, after, fitting_nodes, steps};
use super::{SIMULATED, evidence};
use crate::output::{Column, Doc, Page, Table, Tone, counted, width_of};
use dra_model::{Str, Time};
use dra_reports::findings::some;
use dra_rules::owners::Replacing;
use dra_rules::simulation::{BudgetItem, EvictionReport, Fit, OwnerItem, PodItem, PodVerdict};

/// Number of pods to print one by one.
const TOLD: usize = 20;

/// Width of the time bar of a pod, and its minimum where the text needs the room.
const BAR: usize = 10;
const LEAST_BAR: usize = 4;

/// Fate of an evicted pod's workload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// Another pod takes its place, and fits.
    Restarts,
    /// Another pod takes its place, and waits.
    Waits,
    Unknown,
    /// It had ended already.
    Done,
    /// No other pod takes its place.
    Lost,
}

impl Fate {
    fn of(pod: &PodItem) -> Self {
        match &pod.replacement {
            Some(replacement) => match replacement.fits {
                Fit::Fits => Self::Restarts,
                Fit::DoesNotFit => Self::Waits,
                Fit::Unknown => Self::Unknown,
            },
            None => match pod.replacing {
                Some(Replacing::AtOnce | Replacing::OnceGone | Replacing::Unknown) => Self::Unknown,
                Some(Replacing::Ended) => Self::Done,
                Some(Replacing::Never) | None => Self::Lost,
            },
        }
    }
}

/// A pod that has to go, in what it shares with the others.
struct Going<'r> {
    pod: &'r PodItem,
    page: Page,
    start: Time,
    /// Time at which the last one is gone.
    end: Time,
    budgets: Vec<&'r BudgetItem>,
    /// Columns of the picture.
    bar: usize,
}

impl<'r> Going<'r> {
    const COLUMNS: &'r [Column<Self>] = &[
        Column::inner("POD", |going, cell| {
            cell.text(going.name());
        }),
        Column::inner("ENDS", |going, cell| {
            if let Some(at) = going.pod.at {
                cell.text(after(going.start, at));
            }
        }),
        Column::inner("GONE", |going, cell| {
            if let Some(at) = going.pod.gone_at.or(going.pod.at) {
                cell.text(after(going.start, at));
            }
        }),
        Column::inner("", |going, cell| {
            let gone = going.pod.gone_at.or(going.pod.at).unwrap_or(going.start);
            let seconds = |at: Time| {
                at.unix_seconds()
                    .saturating_sub(going.start.unix_seconds())
                    .max(0) as u64
            };
            let bar = going.page.bar(seconds(gone), seconds(going.end), going.bar);
            cell.text(bar);
        }),
        Column::inner("THEN", |going, cell| {
            let fate = Fate::of(going.pod);
            let tone = match fate {
                Fate::Restarts | Fate::Done => Tone::Good,
                Fate::Waits | Fate::Unknown => Tone::Notice,
                Fate::Lost => Tone::Bad,
            };
            cell.toned(tone, going.then());
        }),
    ];

    fn name(&self) -> String {
        format!("{}/{}", self.pod.namespace, self.pod.name)
    }

    /// Returns what follows for the pod, and for its budgets.
    fn then(&self) -> String {
        let budgets = self.budgets.iter();
        let broken = budgets.map(|budget| format!("; breaks PDB {}", budget.name));
        let broken: String = broken.collect();
        format!("{}{broken}", then(self.pod, Fate::of(self.pod)))
    }
}

/// Columns that words leave to the picture, as far as it can give some up.
fn room(going: &[Going<'_>], page: Page) -> usize {
    /// Instants, and the space between all columns.
    const OTHERS: usize = 20;
    let names = going.iter().map(|one| width_of(&one.name())).max();
    let fates = going.iter().map(|one| width_of(&one.then())).max();
    let words = names.unwrap_or(0) + fates.unwrap_or(0);
    page.width().saturating_sub(words + OTHERS).clamp(LEAST_BAR, BAR)
}

/// Returns what follows for the pod.
fn then(pod: &PodItem, fate: Fate) -> String {
    let owner = pod.owner.as_ref().map(named).unwrap_or_default();
    match fate {
        Fate::Restarts => {
            let nodes = pod
                .replacement
                .as_ref()
                .map(|replacement| fitting_nodes(&replacement.nodes));
            format!("{owner}: {}", nodes.unwrap_or_default())
        }
        Fate::Waits => format!("{owner}: waits, fits nowhere"),
        Fate::Unknown => format!("{owner}: unknown whether it fits"),
        Fate::Done => "had ended already".to_owned(),
        Fate::Lost if pod.owner.is_none() => "lost: no controller".to_owned(),
        Fate::Lost => format!("lost: {owner} makes no other"),
    }
}

fn named(owner: &OwnerItem) -> String {
    format!("{}/{}", owner.kind.to_lowercase(), owner.name)
}

/// The report on `page`.
pub(super) fn of(report: &EvictionReport, page: Page) -> Doc {
    let mut doc = Doc::new();
    let of = |verdict| report.pods.iter().filter(move |pod| pod.verdict == verdict);
    let evicted: Vec<&PodItem> = of(PodVerdict::Evicted).collect();
    let tolerating = of(PodVerdict::Tolerates).count();
    let gone = evicted.iter().filter_map(|pod| pod.gone_at.or(pod.at)).max();
    let end = gone.unwrap_or(report.start);
    head(&mut doc, report, &evicted, page, end);
    let reasons = evicted
        .iter()
        .flat_map(|pod| &*pod.reasons)
        .map(ToString::to_string);
    // Rules that do not exist tell nothing by their names.
    let (simulated, others): (BTreeSet<String>, BTreeSet<String>) =
        reasons.partition(|reason| reason.starts_with(&format!("rule/{SIMULATED}")));
    if !others.is_empty() {
        doc.remark(format_args!("because of {}", some(&others)));
    }
    if !simulated.is_empty() {
        let text = "as if the devices that the flags choose were tainted (--key: with another taint)";
        doc.remark(text);
    }
    let mut budgets: BTreeMap<(&Str, &Str), Vec<&BudgetItem>> = BTreeMap::new();
    for budget in report.disruption_budgets.iter().filter(|budget| budget.violated) {
        for pod in &budget.pods {
            budgets.entry((&budget.namespace, pod)).or_default().push(budget);
        }
    }
    if !evicted.is_empty() {
        let going = evicted[..page.told(TOLD, evicted.len())].iter().map(|pod| Going {
            bar: BAR,
            pod,
            page,
            start: report.start,
            end,
            budgets: budgets
                .get(&(&pod.namespace, &pod.name))
                .cloned()
                .unwrap_or_default(),
        });
        let mut going: Vec<Going<'_>> = going.collect();
        let bar = room(&going, page);
        for one in &mut going {
            one.bar = bar;
        }
        doc.gap().table(Table::new(Going::COLUMNS, page.detail(), going));
    }
    let rest = evicted.len() - page.told(TOLD, evicted.len());
    if rest > 0 {
        let rest = counted(rest, "more pod", "more pods");
        doc.remark(format_args!("and {rest}: -o wide lists them"))
            .gap()
            .table(Table::with(STEPS, page.detail(), &report.start, steps(report)));
    }
    doc.gap();
    let mut say = |text: String| {
        doc.remark(text);
    };
    if !report.claims.is_empty() {
        let devices = report.claims.iter().map(|claim| claim.devices.len()).sum();
        say(format!(
            "{} {}",
            counted(report.claims.len(), "claim releases", "claims release"),
            counted(devices, "device", "devices")
        ));
    }
    if tolerating > 0 {
        let pods = counted(tolerating, "pod tolerates", "pods tolerate");
        say(format!("{pods} the taints for good, and stays"));
    }
    for pod in &report.missed {
        say(format!(
            "the controller misses pod/{}/{}: {}",
            pod.namespace, pod.name, pod.why
        ));
    }
    for text in drain(&evicted, report) {
        say(text);
    }
    if !evicted.is_empty() && !page.is_wide() {
        say("the conditions of rules, and every event: -o wide".to_owned());
    }
    if !simulated.is_empty() {
        say("as a rule that evicts no pod yet: add `--emit-rule | kubectl apply -f -`".to_owned());
    }
    evidence::tolerations(&mut doc, report, page);
    if page.is_wide() {
        evidence::add(&mut doc, report);
    }
    doc
}

/// How many pods end, and what becomes of their work.
fn head(doc: &mut Doc, report: &EvictionReport, evicted: &[&PodItem], page: Page, end: Time) {
    let unsure = if report.gave_up {
        "the simulation gave up"
    } else {
        "see the warnings"
    };
    let is_unsure = report.gave_up || report.may_be_more;
    if evicted.is_empty() {
        let (tone, text) = if is_unsure {
            (
                Tone::Notice,
                format!("cannot tell whether pods are evicted: {unsure}"),
            )
        } else {
            (Tone::Good, "no pod ends".to_owned())
        };
        doc.verdict(page, tone, text);
        return;
    }
    let mut fates: BTreeMap<Fate, usize> = BTreeMap::new();
    for pod in evicted {
        *fates.entry(Fate::of(pod)).or_default() += 1;
    }
    let fates: Vec<String> = fates
        .into_iter()
        .map(|(fate, count)| match fate {
            Fate::Restarts => format!("{count} can restart"),
            Fate::Waits => format!("{count} would wait for devices"),
            Fate::Unknown => format!("{count} may be recreated (unknown)"),
            Fate::Done => format!("{count} had ended already"),
            Fate::Lost => format!("{count} {} lost", if count == 1 { "is" } else { "are" }),
        })
        .collect();
    let within = after(report.start, end);
    let pods = counted(evicted.len(), "pod ends", "pods end");
    let more = if is_unsure {
        format!(", and perhaps more: {unsure}")
    } else {
        String::new()
    };
    let fates = fates.join(", ");
    doc.verdict(
        page,
        Tone::Bad,
        format_args!("{pods} within {within}: {fates}{more}"),
    );
}

/// Returns how `kubectl drain` would go about the same pods.
fn drain(evicted: &[&PodItem], report: &EvictionReport) -> Vec<String> {
    let mut texts = Vec::new();
    let broken: Vec<&BudgetItem> = report
        .disruption_budgets
        .iter()
        .filter(|budget| budget.violated)
        .collect();
    if !broken.is_empty() {
        let budgets: Vec<String> = broken
            .iter()
            .map(|budget| {
                format!(
                    "{}/{} allows {} and loses {}",
                    budget.namespace,
                    budget.name,
                    budget.disruptions_allowed,
                    budget.pods.len()
                )
            })
            .collect();
        texts.push(format!(
            "Device taints ignore PodDisruptionBudgets: {}. `kubectl drain` would wait there.",
            some(&budgets)
        ));
    }
    let named = |pods: &mut dyn Iterator<Item = &&PodItem>| -> Vec<String> {
        pods.map(|pod| format!("{}/{}", pod.namespace, pod.name))
            .collect()
    };
    let bare = named(&mut evicted.iter().filter(|pod| pod.owner.is_none()));
    if !bare.is_empty() {
        texts.push(format!(
            "`kubectl drain` would refuse pods without a controller, unless --force is given: {}",
            some(&bare)
        ));
    }
    let is_daemon = |pod: &&&PodItem| pod.owner.as_ref().is_some_and(|owner| owner.kind == "DaemonSet");
    let daemons = named(&mut evicted.iter().filter(is_daemon));
    if !daemons.is_empty() {
        texts.push(format!(
            "`kubectl drain --ignore-daemonsets` would leave pods of DaemonSets alone: {}",
            some(&daemons)
        ));
    }
    texts
}
