//! `kubectl dra taints`: every taint of devices, who it is about and who tolerates it.

use std::fmt;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::inspect::{self, Preview, TAINTS_NEEDS, TaintItem, TaintList, Tolerated, Tolerates};
use crate::model::{NO_EFFECT, Time};
use crate::output::{Column, Detail, NONE, Report, Row, SortBy, SortError, Table, Tone, UNKNOWN, View, age};

use super::{Accepts, objects};

pub(super) const ACCEPTS: Accepts = Accepts::LIST;

/// List taints of devices with the claims and pods that they are about
///
/// One row for each DeviceTaintRule, and for each taint that drivers put on devices of a ResourceSlice. TOLERATED names the pods that
/// tolerate the taint, and until when; EVICTED those that kube-controller-manager evicts because of it, and when. Long lists are cut; `-o wide` shows them whole, and how many
/// pods a rule with the effect None would evict with NoExecute. A namespace restricts claims and pods, labels choose rules and slices.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

const COLUMNS: &[Column] = &[
    Column::new("SOURCE", ".source"),
    Column::new("EFFECT", ".effect"),
    Column::new("TAINT", ".key"),
    Column::new("AGE", ".timeAdded"),
    Column::new("DEVICES", ".devices[0].device"),
    Column::new("CLAIMS", ".claims[0].name"),
    Column::new("PODS", ".pods[0].name"),
    Column::new("TOLERATED", ".pods[0].tolerated"),
    Column::new("EVICTED", ".pods[0].due"),
    Column::wide("PREVIEW", ".preview.pods"),
];

/// How many of a list a cell shows before it says how many more there are.
const SHOWN: usize = 3;

impl Report for TaintList {
    const KIND: &'static str = "TaintList";

    fn view(&self, detail: Detail) -> View {
        let mut table = Table::new(COLUMNS, detail);
        for item in &self.items {
            add_row(&mut table, item, self.now, detail);
        }
        table.into()
    }

    fn names(&self) -> Vec<String> {
        let rules = self.items.iter().filter_map(|item| {
            let rule = item.rule.as_ref()?;
            Some(format!("devicetaintrule.resource.k8s.io/{rule}"))
        });
        let mut names: Vec<String> = rules.collect();
        for slice in self.items.iter().filter_map(|item| item.slice.as_ref()) {
            let name = format!("resourceslice.resource.k8s.io/{slice}");
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        names
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.items, COLUMNS)
    }

    fn nothing(&self) -> Option<String> {
        Some("No taints found".to_owned())
    }
}

fn add_row(table: &mut Table, item: &TaintItem, now: Time, detail: Detail) {
    let tone = match item.effect.as_str() {
        "NoExecute" => Tone::Bad,
        "NoSchedule" => Tone::Notice,
        _ => Tone::Plain,
    };
    let shown = if detail == Detail::Wide { usize::MAX } else { SHOWN };
    table.row(|row| {
        row.cell(Source(item)).toned(tone, &item.effect);
        if item.value.is_empty() {
            row.cell(&item.key);
        } else {
            row.cell(format_args!("{}={}", item.key, item.value));
        }
        row.cell(age(now, item.time_added));
        if detail == Detail::Wide {
            cut(row, &item.devices, shown);
        } else {
            let short = item.devices.iter().map(|id| format!("{}/{}", id.pool, id.device));
            cut(row, short, shown);
        }
        cut(row, item.claims.iter().map(|claim| &claim.object), shown);
        match &item.pods {
            None => {
                row.cell(UNKNOWN).cell(UNKNOWN).cell(UNKNOWN);
            }
            Some(pods) => {
                cut(row, pods.iter().map(|pod| &pod.object), shown);
                let tolerating = pods.iter().filter(|pod| pod.tolerated != Tolerates::No);
                cut(row, tolerating.map(Tolerating), shown);
                let evicted = pods.iter().filter_map(|pod| Some(Evicted(pod, pod.due?, now)));
                cut(row, evicted, shown);
            }
        }
        match &item.preview {
            Some(preview) => row.cell(Previewed(preview)),
            None if item.rule.is_some() && item.effect == NO_EFFECT => row.cell(UNKNOWN),
            None => row.cell(NONE),
        };
    });
}

/// `rule/NAME` or `slice/NAME`.
struct Source<'a>(&'a TaintItem);

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.rule, &self.0.slice) {
            (Some(rule), _) => write!(f, "rule/{rule}"),
            (None, Some(slice)) => write!(f, "slice/{slice}"),
            (None, None) => f.write_str(NONE),
        }
    }
}

/// `namespace/name:forever`, `namespace/name:until-2026-11-21T10:13:12Z`.
struct Tolerating<'a>(&'a Tolerated);

impl fmt::Display for Tolerating<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.0.object)?;
        match (self.0.tolerated, self.0.until) {
            (Tolerates::Forever, _) => f.write_str("forever"),
            (_, Some(until)) => write!(f, "until-{until}"),
            (_, None) => f.write_str("for-a-time"),
        }
    }
}

/// `namespace/name:now`, `namespace/name:2026-11-21T10:13:12Z`.
struct Evicted<'a>(&'a Tolerated, Time, Time);

impl fmt::Display for Evicted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(pod, due, now) = self;
        if due <= now {
            write!(f, "{}:now", pod.object)
        } else {
            write!(f, "{}:{due}", pod.object)
        }
    }
}

/// `2 pods in 1 namespace`.
struct Previewed<'a>(&'a Preview);

impl fmt::Display for Previewed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Preview { pods, namespaces, .. } = self.0;
        let plural = |number: &usize| if *number == 1 { "" } else { "s" };
        write!(
            f,
            "{pods} pod{} in {namespaces} namespace{}",
            plural(pods),
            plural(namespaces)
        )
    }
}

/// The first of `values` in a cell, and how many more there are, as kubectl shortens lists.
fn cut<T: fmt::Display>(row: &mut Row<'_>, values: impl IntoIterator<Item = T>, shown: usize) {
    let mut text = String::new();
    let mut more = 0;
    for (index, value) in values.into_iter().enumerate() {
        if index >= shown {
            more += 1;
            continue;
        }
        if index > 0 {
            text.push(',');
        }
        text.push_str(&value.to_string());
    }
    if more > 0 {
        row.cell(format_args!("{text} + {more} more..."));
    } else {
        row.cell(if text.is_empty() { NONE } else { &text });
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {} = args;
    let selection = objects::selection(ctx, objects::Default::All);
    let needs = objects::needs(TAINTS_NEEDS, &selection)
        .with_gates()
        .pods_after_claims();
    let cluster = ctx.load(needs).await?;
    let report = inspect::taints(&cluster, &selection, ctx.now());
    report.warnings.iter().for_each(|warning| ctx.warn(warning));
    ctx.print(report)?;
    Ok(Outcome::Done)
}
