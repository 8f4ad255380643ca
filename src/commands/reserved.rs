//! `kubectl dra reserved`: what every entry of `status.reservedFor` really is.

use itertools::Itertools;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{Column, Page, Report, SortBy, SortError, Table, Tone, UNKNOWN, View};
use dra_model::Kind;
use dra_reports::{AnyPodItem, Consumer, MissingItem, RESERVED_NEEDS, ReservationItem, ReservationList};
use dra_rules::reservation::EntryStatus;

use super::{Accepts, objects, presence};

pub(super) const ACCEPTS: Accepts = Accepts::LIST;

const EXAMPLES: &str = "\
Examples:
  # List the consumers of claims in all namespaces
  kubectl dra reserved -A
  # List entries that no pod uses
  kubectl dra reserved -A -o json |
    jq '.items[] | select(.consumer == false)'";

/// List the consumers that ResourceClaims are reserved for
///
/// Prints one row per entry of `status.reservedFor`, which the API server does not validate. STATUS is `Running`, `Pending` or `Done`
/// for a pod, `Group` for a PodGroup, `Gone` or `OtherUID` if the object does not exist or was recreated, `UnknownKind` for
/// other kinds. CONSUMER shows whether a pod uses the claim through the entry. Pods that use a claim without an entry follow with the
/// status `Missing`. Lists the current namespace by default.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["reservation", "reservations", "consumers"])]
pub(crate) struct Args {
    /// Only these claims: `NAME`, `claim/NAME` or `claim/NAMESPACE/NAME`
    #[arg(value_name = "CLAIM")]
    names: Vec<String>,
}

/// A row: an entry, a pod that lacks one, or a claim that every pod may use.
pub(super) struct Line<'l> {
    namespace: &'l str,
    claim: &'l str,
    kind: String,
    name: &'l str,
    uid: &'l str,
    status: &'static str,
    tone: Tone,
    consumer: &'static str,
}

impl<'l> Line<'l> {
    pub(super) const COLUMNS: &'l [Column<Self>] = &[
        Column::new("NAMESPACE", ".namespace", |line, cell| cell.text(line.namespace)),
        Column::new("CLAIM", ".claim", |line, cell| cell.text(line.claim)),
        Column::new("KIND", ".resource", |line, cell| cell.text(&line.kind)),
        Column::new("NAME", ".name", |line, cell| cell.text(line.name)),
        Column::piped("UID", ".uid", |line, cell| cell.text(line.uid)),
        Column::new("STATUS", ".status", |line, cell| {
            cell.toned(line.tone, line.status);
        }),
        Column::new("CONSUMER", ".consumer", |line, cell| cell.text(line.consumer)),
    ];

    fn all(list: &'l ReservationList) -> impl Iterator<Item = Self> {
        let entries = list.items.iter().map(Self::of_entry);
        let missing = list.missing.iter().map(Self::of_missing);
        entries
            .chain(missing)
            .chain(list.any_pod.iter().map(Self::of_any_pod))
    }

    fn of_entry(item: &'l ReservationItem) -> Self {
        let metadata = &item.claim().metadata;
        let entry = item.entry();
        Self {
            namespace: &metadata.namespace,
            claim: &metadata.name,
            kind: Consumer(entry).prefix(),
            name: &entry.name,
            uid: &entry.uid,
            status: item.status.into(),
            tone: match item.status {
                EntryStatus::Running | EntryStatus::Group => Tone::Good,
                EntryStatus::Pending => Tone::Plain,
                EntryStatus::Done | EntryStatus::UnknownKind | EntryStatus::Unknown => Tone::Notice,
                EntryStatus::Gone | EntryStatus::OtherUid => Tone::Bad,
            },
            consumer: consumer(item),
        }
    }

    fn of_missing(item: &'l MissingItem) -> Self {
        Self {
            namespace: &item.namespace,
            claim: &item.claim,
            kind: "pod".to_owned(),
            name: &item.pod,
            uid: &item.pod_uid,
            status: "Missing",
            tone: Tone::Bad,
            consumer: "yes",
        }
    }

    fn of_any_pod(item: &'l AnyPodItem) -> Self {
        let metadata = &item.claim().metadata;
        Self {
            namespace: &metadata.namespace,
            claim: &metadata.name,
            kind: "<any-pod>".to_owned(),
            name: "",
            uid: "",
            status: "",
            tone: Tone::Plain,
            consumer: "",
        }
    }
}

/// Returns whether a pod uses the claim by the entry.
pub(super) fn consumer(item: &ReservationItem) -> &'static str {
    match item.consumer {
        Some(true) => "yes",
        Some(false) => "no",
        None => UNKNOWN,
    }
}

impl Report for ReservationList {
    const KIND: &'static str = "ReservationList";

    fn view(&self, page: Page) -> View {
        Table::list(Line::COLUMNS, page, &(), Line::all(self)).into()
    }

    fn names(&self) -> Vec<String> {
        let claims = self.items.iter().map(|item| &item.claim().metadata.name).dedup();
        claims
            .map(|name| format!("resourceclaim.resource.k8s.io/{name}"))
            .collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.items, Line::COLUMNS)
    }

    fn nothing(&self) -> Option<String> {
        Some(self.warnings.qualify("No reservations found"))
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { names } = args;
    let selection = objects::claims(ctx, objects::Default::Current, &names)?;
    let needs = objects::needs(RESERVED_NEEDS, &selection)
        .require(Kind::ResourceClaim)
        .pods_after_claims();
    let cluster = ctx.load(needs).await?;
    presence::claims_of_list(ctx, &cluster, &selection).await?;
    let report = dra_reports::reserved(&cluster, &selection);
    ctx.warn_all(report.warnings.iter());
    ctx.answer(report, Outcome::Done)
}
