//! `kubectl dra convert verify`: whether every list of consumers is what components that know pods only can work with.

use std::collections::BTreeSet;

use itertools::Itertools;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{Column, Page, Report, SortBy, SortError, Table, Tone, View, counted};
use dra_model::{Cluster, Key, Kind};
use dra_reports::Selection;
use dra_reports::conversion::{ConversionVerification, VerificationItem, verification};
use dra_rules::reservation::conversion::Kinds;

use crate::commands::presence;

use super::args::{SelectionArgs, needs};

const EXAMPLES: &str = "\
Examples:
  # Verify that only pod reservations remain
  kubectl dra convert verify
  # Verify a file
  kubectl dra convert verify --from after.json";

/// Verify that claims are reserved only for pods that use them
///
/// Prints one row per defect: `NonPodEntry` and `ReservedForAnyPod` for a reservation of any other kind; `ConsumerNotListed` for a
/// scheduled pod that uses the claim without an entry of its own; `EntryWithoutConsumer` for an entry of a pod that does not exist, has
/// finished or uses another claim. Covers all namespaces by default.
///
/// Exit code 1: defects found. 4: no defects found, but some objects could not be read.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,
}

pub(in crate::commands) const COLUMNS: &[Column<VerificationItem>] = &[
    Column::new("NAMESPACE", ".namespace", |item, cell| cell.text(&item.namespace)),
    Column::new("CLAIM", ".name", |item, cell| cell.text(&item.name)),
    Column::new("CODE", ".code", |item, cell| {
        cell.toned(Tone::Bad, item.code);
    }),
    Column::new("MESSAGE", ".message", |item, cell| cell.text(&item.message)),
    Column::wide("UID", ".uid", |item, cell| cell.text(&item.uid)),
];

impl Report for ConversionVerification {
    const KIND: &'static str = "ConversionVerification";

    fn view(&self, page: Page) -> View {
        Table::new(COLUMNS, page.detail(), &self.items).into()
    }

    fn names(&self) -> Vec<String> {
        let claims = self.items.iter().map(|item| &item.name).dedup();
        claims
            .map(|name| format!("resourceclaim.resource.k8s.io/{name}"))
            .collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.items, COLUMNS)
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { selection } = args;
    let kinds = selection.kinds();
    let selection = selection.selection(ctx)?;
    let cluster = ctx.load(needs(&selection)).await?;
    let nothing = presence::demand_claims(ctx, &cluster, &selection).await?;
    let mut report = verification(&cluster, &selection, &kinds);
    if ctx.is_live() {
        report = confirm(ctx, cluster, &selection, &kinds, report).await?;
    }
    report.unknown.extend(nothing);
    for unknown in &report.unknown {
        ctx.warn(format!("unknown: {unknown}"));
    }
    let outcome = Outcome::of(!report.items.is_empty(), !report.unknown.is_empty());
    let looked_at = counted(report.claims, "claim", "claims");
    let verdict = match outcome {
        Outcome::Done => format!("{looked_at} verified"),
        _ => format!(
            "{} in {looked_at}",
            counted(report.items.len(), "defect", "defects")
        ),
    };
    ctx.print(report)?;
    ctx.printer().note(&verdict);
    Ok(outcome)
}

/// Reads claims with defects again, and the pods that these are about: claims and pods were listed one after the other, and a pod
/// that got its entry and its node in between only seems to lack the entry.
async fn confirm(
    ctx: &Ctx,
    mut cluster: Cluster,
    selection: &Selection,
    kinds: &Kinds,
    report: ConversionVerification,
) -> anyhow::Result<ConversionVerification> {
    let objects: BTreeSet<(Kind, Key)> = report.items.iter().flat_map(VerificationItem::evidence).collect();
    if objects.is_empty() {
        return Ok(report);
    }
    let unread = ctx.read_again(&mut cluster, objects).await?;
    let mut confirmed = verification(&cluster, selection, kinds);
    if !unread.is_empty() {
        let objects = counted(unread.len(), "object", "objects");
        confirmed
            .unknown
            .push(format!("{objects} could not be read again"));
    }
    // What could not be read again makes no finding.
    confirmed
        .items
        .retain(|item| !item.evidence().any(|object| unread.contains(&object)));
    Ok(confirmed)
}
