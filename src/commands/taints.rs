//! `kubectl dra taints`: every taint of devices, who it is about and who tolerates it.

mod paragraphs;

use std::fmt;

use itertools::Itertools;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{
    Cell, Column, Detail, NONE, Page, Report, SortBy, SortError, Table, Tone, UNKNOWN, View, age,
};
use dra_model::{Kind, NO_EFFECT, Time};
use dra_reports::{Preview, TAINTS_NEEDS, TaintItem, TaintList, Tolerated, Tolerates};

use super::{Accepts, objects, presence};

pub(super) const ACCEPTS: Accepts = Accepts::LIST;

const EXAMPLES: &str = "\
Examples:
  # List the claims and pods affected by device taints
  kubectl dra taints
  # Show how many pods a rule would evict
  kubectl dra taints -o wide";

/// List device taints and the claims and pods they affect
///
/// Prints one row per DeviceTaintRule, and per taint that drivers add to the devices of a ResourceSlice. TOLERATED lists the pods that
/// tolerate the taint, and until when; EVICTED the pods that kube-controller-manager evicts, and when. `-o wide` shows long lists
/// completely, and how many pods a rule with effect None would evict with NoExecute. `-n` selects claims and pods, `-l` rules and slices.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["devicetaintrule", "devicetaintrules", "rule", "rules"])]
pub(crate) struct Args {}

pub(super) const COLUMNS: &[Column<TaintItem, Time>] = &[
    Column::new("SOURCE", ".source", |item, cell| cell.text(source(item))),
    Column::new("EFFECT", ".effect", |item, cell| {
        cell.toned(tone(item), &item.effect);
    }),
    Column::new("TAINT", ".key", taint),
    Column::new("AGE", ".timeAdded", |item, cell| {
        cell.text(age(*cell.context, item.time_added));
    }),
    Column::new("DEVICES", ".devices[0].device", devices),
    Column::new("CLAIMS", ".claims[0].name", |item, cell| {
        cell.list(item.claims.iter().map(|claim| &claim.object));
    }),
    Column::new("PODS", ".pods[0].name", |item, cell| {
        of_pods(item, cell, |pod, _| Some(&pod.object));
    }),
    Column::new("TOLERATED", ".pods[0].tolerated", |item, cell| {
        of_pods(item, cell, |pod, _| tolerating(pod));
    }),
    Column::new("EVICTED", ".pods[0].due", |item, cell| {
        of_pods(item, cell, evicted);
    }),
    Column::wide("PREVIEW", ".preview.pods", preview),
];

impl Report for TaintList {
    const KIND: &'static str = "TaintList";

    fn view(&self, page: Page) -> View {
        // What there is to say of none is said by the printer.
        if page.is_terminal() && !self.items.is_empty() {
            paragraphs::of(self, page).into()
        } else {
            Table::with(COLUMNS, page.detail(), &self.now, &self.items).into()
        }
    }

    fn names(&self) -> Vec<String> {
        let rules = self.items.iter().filter_map(|item| {
            let rule = item.rule.as_ref()?;
            Some(format!("devicetaintrule.resource.k8s.io/{rule}"))
        });
        let slices = self.items.iter().filter_map(|item| item.slice.as_ref()).dedup();
        let slices = slices.map(|slice| format!("resourceslice.resource.k8s.io/{slice}"));
        rules.chain(slices).collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.items, COLUMNS)
    }

    fn nothing(&self) -> Option<String> {
        Some(self.warnings.qualify("No taints found"))
    }
}

fn tone(item: &TaintItem) -> Tone {
    match item.effect.as_str() {
        "NoExecute" => Tone::Bad,
        "NoSchedule" => Tone::Notice,
        _ => Tone::Plain,
    }
}

fn taint(item: &TaintItem, cell: &mut Cell<'_, Time>) {
    cell.text(&item.key);
    if !item.value.is_empty() {
        cell.text(format_args!("={}", item.value));
    }
}

fn devices(item: &TaintItem, cell: &mut Cell<'_, Time>) {
    if cell.detail == Detail::Wide {
        cell.list(&item.devices);
    } else {
        cell.list(item.devices.iter().map(|id| format!("{}/{}", id.pool, id.device)));
    }
}

/// Returns what `part` says of those pods that it says something of.
fn of_pods<'i, T: fmt::Display>(
    item: &'i TaintItem,
    cell: &mut Cell<'_, Time>,
    part: fn(&'i Tolerated, Time) -> Option<T>,
) {
    let now = *cell.context;
    match &item.pods {
        Some(pods) => cell.list(pods.iter().filter_map(|pod| part(pod, now))),
        None => cell.text(UNKNOWN),
    }
}

fn preview(item: &TaintItem, cell: &mut Cell<'_, Time>) {
    match &item.preview {
        Some(preview) => cell.text(previewed(preview)),
        None if item.rule.is_some() && item.effect == NO_EFFECT => cell.text(UNKNOWN),
        None => cell.text(NONE),
    }
}

/// `rule/NAME` or `slice/NAME`.
fn source(item: &TaintItem) -> String {
    match (&item.rule, &item.slice) {
        (Some(rule), _) => format!("rule/{rule}"),
        (None, Some(slice)) => format!("slice/{slice}"),
        (None, None) => NONE.to_owned(),
    }
}

/// `namespace/name:forever`, `namespace/name:until-2026-11-21T10:13:12Z`, of a pod that tolerates the taint.
fn tolerating(pod: &Tolerated) -> Option<String> {
    let object = &pod.object;
    match (pod.tolerated, pod.until) {
        (Tolerates::No, _) => None,
        (Tolerates::Forever, _) => Some(format!("{object}:forever")),
        (Tolerates::Until, Some(until)) => Some(format!("{object}:until-{until}")),
        (Tolerates::Until, None) => Some(format!("{object}:for-a-time")),
    }
}

/// `namespace/name:now`, `namespace/name:2026-11-21T10:13:12Z`, of a pod that is evicted.
fn evicted(pod: &Tolerated, now: Time) -> Option<String> {
    let (object, due) = (&pod.object, pod.due?);
    Some(if due <= now {
        format!("{object}:now")
    } else {
        format!("{object}:{due}")
    })
}

/// `2 pods in 1 namespace`.
fn previewed(preview: &Preview) -> String {
    let Preview { pods, namespaces, .. } = preview;
    let plural = |number: &usize| if *number == 1 { "" } else { "s" };
    format!(
        "{pods} pod{} in {namespaces} namespace{}",
        plural(pods),
        plural(namespaces)
    )
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {} = args;
    let selection = objects::selection(ctx, objects::Default::All);
    let needs = objects::needs(TAINTS_NEEDS, &selection)
        .with_gates()
        .pods_after_claims();
    let cluster = ctx.load(needs).await?;
    let chosen = [Kind::ResourceSlice, Kind::DeviceTaintRule];
    presence::hint(ctx, &cluster, &presence::mentions(&selection, chosen)).await?;
    let report = dra_reports::taints(&cluster, &selection, ctx.now(&cluster));
    ctx.warn_all(report.warnings.iter());
    ctx.answer(report, Outcome::Done)
}
