//! `kubectl dra reserved`: what every entry of `status.reservedFor` really is.

use crate::context::Ctx;
use crate::error::Outcome;
use crate::inspect::{self, Consumer, RESERVED_NEEDS, ReservationItem, ReservationList};
use crate::model::Kind;
use crate::output::{Column, Detail, Report, SortBy, SortError, Table, Tone, UNKNOWN, View};
use crate::reservation::EntryStatus;

use super::{Accepts, objects};

pub(super) const ACCEPTS: Accepts = Accepts::LIST;

/// List who ResourceClaims are reserved for, and what that really is
///
/// One row for each entry of `status.reservedFor`: the API server looks none of them up. STATUS is `Running`, `Pending` or `Done`
/// for a pod, `Group` for a PodGroup, `Gone` or `OtherUID` where the object does not exist or was replaced, `UnknownKind` for
/// anything else. CONSUMER says whether a pod uses the claim by the entry. Behind the entries come pods that use a claim without
/// one, with the status `Missing`. Shows the current namespace unless `-n` or `-A` says otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these claims: `NAME`, `claim/NAME` or `claim/NAMESPACE/NAME`
    #[arg(value_name = "CLAIM")]
    names: Vec<String>,
}

const COLUMNS: &[Column] = &[
    Column::new("NAMESPACE", ".namespace"),
    Column::new("CLAIM", ".claim"),
    Column::new("KIND", ".resource"),
    Column::new("NAME", ".name"),
    Column::new("UID", ".uid"),
    Column::new("STATUS", ".status"),
    Column::new("CONSUMER", ".consumer"),
];

impl Report for ReservationList {
    const KIND: &'static str = "ReservationList";

    fn view(&self, detail: Detail) -> View {
        let mut table = Table::new(COLUMNS, detail);
        for item in &self.items {
            add_row(&mut table, item);
        }
        for item in &self.missing {
            table.row(|row| {
                row.cell(&item.namespace)
                    .cell(&item.claim)
                    .cell("pod")
                    .cell(&item.pod)
                    .cell(&item.pod_uid)
                    .toned(Tone::Bad, "Missing")
                    .cell("yes");
            });
        }
        for item in &self.any_pod {
            let metadata = &item.claim().metadata;
            table.row(|row| {
                row.cell(&metadata.namespace)
                    .cell(&metadata.name)
                    .cell("<any-pod>");
            });
        }
        table.into()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for item in &self.items {
            let name = format!("resourceclaim.resource.k8s.io/{}", item.claim().metadata.name);
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
        Some("No reservations found".to_owned())
    }
}

fn add_row(table: &mut Table, item: &ReservationItem) {
    let metadata = &item.claim().metadata;
    let entry = item.entry();
    let tone = match item.status {
        EntryStatus::Running | EntryStatus::Group => Tone::Good,
        EntryStatus::Pending => Tone::Plain,
        EntryStatus::Done | EntryStatus::UnknownKind | EntryStatus::Unknown => Tone::Notice,
        EntryStatus::Gone | EntryStatus::OtherUid => Tone::Bad,
    };
    table.row(|row| {
        row.cell(&metadata.namespace)
            .cell(&metadata.name)
            .cell(Consumer(entry).prefix())
            .cell(&entry.name)
            .cell(&entry.uid)
            .toned(tone, item.status.text())
            .cell(match item.consumer {
                Some(true) => "yes",
                Some(false) => "no",
                None => UNKNOWN,
            });
    });
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { names } = args;
    let selection = objects::claims(ctx, objects::Default::Current, &names)?;
    let needs = objects::needs(RESERVED_NEEDS, &selection)
        .require(Kind::ResourceClaim)
        .pods_after_claims();
    let cluster = ctx.load(needs).await?;
    objects::check_found(&selection, &cluster)?;
    let report = inspect::reserved(&cluster, &selection);
    report.warnings.iter().for_each(|warning| ctx.warn(warning));
    ctx.print(report)?;
    Ok(Outcome::Done)
}
