//! An eviction as people read it: how many pods are evicted and what happens to them, then each pod.

use std::collections::{BTreeMap, BTreeSet};

use super::parts::{Fate, STEPS, after, steps};
use super::{SIMULATED, evidence, words};
use crate::output::{Column, Doc, Page, Table, Tone};
use dra_model::{Str, Time, by_number};
use dra_rules::simulation::{BudgetItem, EvictionReport, PodItem, PodVerdict, ReasonItem};

/// Number of pods to print one by one.
const TOLD: usize = 20;

/// An evicted pod.
struct Going<'r> {
    pod: &'r PodItem,
    start: Time,
    /// Budgets that its eviction violates.
    budgets: Vec<&'r BudgetItem>,
}

impl<'r> Going<'r> {
    const COLUMNS: &'r [Column<Self>] = &[
        Column::inner("POD", |going, cell| {
            cell.path(&going.pod.namespace, &going.pod.name);
        }),
        Column::inner("EVICTED", |going, cell| {
            if let Some(at) = going.pod.at {
                cell.text(soon(going.start, at));
            }
        }),
        Column::inner("GONE", |going, cell| match going.pod.gone_at {
            Some(at) => cell.text(soon(going.start, at)),
            None => cell.text(words::STAYS),
        }),
        Column::inner("AFTERWARDS", |going, cell| {
            let fate = Fate::of(going.pod);
            let tone = match fate {
                Fate::Restarts | Fate::Done => Tone::Good,
                Fate::Waits | Fate::Unknown => Tone::Notice,
                Fate::Again | Fate::Lost => Tone::Bad,
            };
            cell.toned(tone, words::afterwards(going.pod, fate, &going.budgets));
        }),
    ];
}

/// Time after the start, or `now`.
fn soon(start: Time, at: Time) -> String {
    if at == start {
        "now".to_owned()
    } else {
        after(start, at)
    }
}

/// The report on `page`.
pub(super) fn of(report: &EvictionReport, page: Page) -> Doc {
    let mut doc = Doc::new();
    let of = |verdict| report.pods.iter().filter(move |pod| pod.verdict == verdict);
    let mut evicted: Vec<&PodItem> = of(PodVerdict::Evicted).collect();
    evicted.sort_by_cached_key(|pod| (pod.at, by_number(&pod.namespace), by_number(&pod.name)));
    let tolerating = of(PodVerdict::Tolerates).count();
    let gone = evicted.iter().filter_map(|pod| pod.gone_at.or(pod.at)).max();
    let end = gone.unwrap_or(report.start);
    head(&mut doc, report, &evicted, page, end);
    let reasons = evicted.iter().flat_map(|pod| &*pod.reasons);
    // A simulated rule has no name that the user knows.
    let (simulated, others): (Vec<&ReasonItem>, Vec<&ReasonItem>) = reasons.partition(|reason| {
        let rule = reason.rule.as_ref();
        rule.is_some_and(|rule| rule.starts_with(SIMULATED))
    });
    let texts = |reasons: &[&ReasonItem], text: fn(&ReasonItem) -> String| -> Vec<String> {
        let texts: BTreeSet<String> = reasons.iter().map(|reason| text(reason)).collect();
        let mut texts: Vec<String> = texts.into_iter().collect();
        texts.sort_by_cached_key(|text| by_number(text));
        texts
    };
    if !others.is_empty() {
        doc.remark(words::because(&texts(&others, ToString::to_string)));
    }
    for taint in texts(&simulated, |reason| reason.taint.to_string()) {
        doc.remark(words::simulated(&taint));
    }
    let mut budgets: BTreeMap<(&Str, &Str), Vec<&BudgetItem>> = BTreeMap::new();
    for budget in report.disruption_budgets.iter().filter(|budget| budget.violated) {
        for pod in &budget.pods {
            budgets.entry((&budget.namespace, pod)).or_default().push(budget);
        }
    }
    if !evicted.is_empty() {
        let going = evicted[..page.told(TOLD, evicted.len())].iter().map(|pod| Going {
            pod,
            start: report.start,
            budgets: budgets
                .get(&(&pod.namespace, &pod.name))
                .cloned()
                .unwrap_or_default(),
        });
        let going: Vec<Going<'_>> = going.collect();
        doc.gap().table(Table::of(Going::COLUMNS, going));
    }
    let rest = evicted.len() - page.told(TOLD, evicted.len());
    if rest > 0 {
        doc.remark(words::not_shown(rest)).gap().table(Table::with(
            STEPS,
            page.detail(),
            &report.start,
            steps(report),
        ));
    }
    doc.gap();
    let mut say = |text: String| {
        doc.remark(text);
    };
    if !report.claims.is_empty() {
        let devices = report.claims.iter().map(|claim| claim.devices.len()).sum();
        say(words::released(report.claims.len(), devices));
    }
    if tolerating > 0 {
        say(words::tolerating(tolerating));
    }
    let mut kept: BTreeMap<&[Str], Vec<String>> = BTreeMap::new();
    for pod in &evicted {
        let filters = pod.replacement.as_ref().map(|other| &*other.not_simulated);
        if let Some(filters) = filters.filter(|filters| !filters.is_empty()) {
            let name = format!("{}/{}", pod.namespace, pod.name);
            kept.entry(filters).or_default().push(name);
        }
    }
    for (filters, pods) in kept {
        say(words::not_simulated(filters, &pods));
    }
    for pod in &report.missed {
        say(words::missed(pod));
    }
    for text in drain(&evicted, report) {
        say(text);
    }
    if !simulated.is_empty() {
        say(words::RULE.to_owned());
    }
    evidence::tolerations(&mut doc, report);
    if page.is_wide() {
        evidence::add(&mut doc, report);
    } else if !evicted.is_empty() {
        doc.gap().more();
    }
    doc
}

/// Number of evicted pods, and what happens to their work.
fn head(doc: &mut Doc, report: &EvictionReport, evicted: &[&PodItem], page: Page, end: Time) {
    let is_unsure = report.gave_up || report.may_be_more;
    if evicted.is_empty() {
        if is_unsure {
            doc.verdict(page, Tone::Notice, words::unknown(report.gave_up));
        } else {
            doc.verdict(page, Tone::Good, words::NONE_EVICTED);
        }
        return;
    }
    let mut fates: BTreeMap<Fate, usize> = BTreeMap::new();
    for pod in evicted {
        *fates.entry(Fate::of(pod)).or_default() += 1;
    }
    let within = after(report.start, end);
    let doubt = is_unsure.then_some(report.gave_up);
    let names = |pod: &PodItem, name: &Str| (pod.namespace.clone(), name.clone());
    let own: BTreeSet<_> = evicted.iter().map(|pod| names(pod, &pod.name)).collect();
    let restarted: BTreeSet<_> = evicted
        .iter()
        .flat_map(|pod| pod.restarts.iter().map(|other| names(pod, other)))
        .filter(|other| !own.contains(other))
        .collect();
    let staying = evicted.iter().filter(|pod| pod.gone_at.is_none()).count();
    let text = words::evicted(evicted.len(), &within, fates, (restarted.len(), staying), doubt);
    doc.verdict(page, Tone::Bad, text);
}

/// How `kubectl drain` would treat the same pods. It deletes finished pods whatever their owner is. Mirrors `filters.go` of
/// k8s.io/kubectl, `unreplicatedFilter` and `daemonSetFilter`, v0.37.2.
fn drain(evicted: &[&PodItem], report: &EvictionReport) -> Vec<String> {
    let budgets = report.disruption_budgets.iter();
    let violated: Vec<&BudgetItem> = budgets.filter(|budget| budget.violated).collect();
    let named = |is: fn(&PodItem) -> bool| -> Vec<String> {
        let pods = evicted
            .iter()
            .filter(|pod| Fate::of(pod) != Fate::Done && is(pod));
        pods.map(|pod| format!("{}/{}", pod.namespace, pod.name))
            .collect()
    };
    let bare = named(|pod| pod.owner.is_none());
    let daemons = named(|pod| pod.owner.as_ref().is_some_and(|owner| owner.kind == "DaemonSet"));
    let violated = (!violated.is_empty()).then(|| words::budgets(&violated));
    let refused = (!bare.is_empty()).then(|| words::refused(&bare));
    let ignored = (!daemons.is_empty()).then(|| words::ignored(&daemons));
    violated.into_iter().chain(refused).chain(ignored).collect()
}
