//! `kubectl dra claims`: what every ResourceClaim holds and who uses it.

use std::time::Duration;

use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::{Cell, Column, Format, Page, Report, SortBy, SortError, Table, Tone, UNKNOWN, View, age};
use dra_model::{Change, Cluster, Key, Kind, Object, Time};
use dra_reports::presence::Mention;
use dra_reports::{ClaimFilter, ClaimItem, ClaimList, PodFilter, Selection, StateFilter, StateFilterError};

use super::shown::folded;
use super::watching::{self, Rows};
use super::{Accepts, objects, presence};

pub(super) const ACCEPTS: Accepts = Accepts::LIST.watch();

const EXAMPLES: &str = "\
Examples:
  # List the claims of the current namespace
  kubectl dra claims
  # List allocated claims without a consumer
  kubectl dra claims -A --state 'allocated,!reserved'
  # Find out which claim has a device
  kubectl dra claims -A --device gpu-node-1/gpu-4
  # List the claims of one pod as JSON
  kubectl dra claims -A --pod training/trainer-0 -o json";

/// List ResourceClaims with their devices and consumers
///
/// Lists the current namespace by default. STATE is the state in `kubectl get resourceclaims`.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["claim", "resourceclaim", "resourceclaims", "rc"])]
pub(crate) struct Args {
    /// Only these claims: `NAME` or `claim/NAMESPACE/NAME`
    #[arg(value_name = "CLAIM")]
    names: Vec<String>,

    /// Only claims in this state, such as `allocated,!reserved`
    ///
    /// `pending`, `allocated`, `reserved` or `deleted`, separated by commas; `!` negates.
    #[arg(long, value_name = "STATE", value_parser = state_filter)]
    state: Option<StateFilter>,

    /// Only claims allocated on this node
    #[arg(long, value_name = "NODE", value_parser = objects::node_name())]
    node: Option<String>,

    /// Only claims with devices of this driver
    #[arg(long, value_name = "DRIVER", value_parser = objects::driver_name())]
    driver: Option<String>,

    /// Only claims with this device, such as `POOL/DEVICE`
    ///
    /// `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`.
    #[arg(long, value_name = "DEVICE", value_parser = objects::device_name())]
    device: Option<String>,

    /// Only claims that this pod uses or consumes
    ///
    /// `NAME`, `NAMESPACE/NAME`, `pod/NAME` or `pod/NAMESPACE/NAME`.
    #[arg(long, value_name = "POD")]
    pod: Option<String>,
}

/// What rows have in common.
pub(super) struct Seen {
    now: Time,
    page: Page,
}

pub(super) const COLUMNS: &[Column<ClaimItem, Seen>] = &[
    Column::new("NAMESPACE", ".namespace", |item, cell| {
        cell.text(&item.claim().metadata.namespace);
    }),
    Column::new("NAME", ".name", |item, cell| {
        cell.text(&item.claim().metadata.name);
    }),
    Column::new("STATE", ".state", state),
    Column::new("NODE", ".node", |item, cell| cell.text(item.node())),
    Column::new("DEVICES", ".devices[0].device", |item, cell| {
        if cell.context.page.is_terminal() {
            let names = item.devices().map(|device| device.to_string());
            cell.list(folded(names, cell.context.page));
        } else {
            cell.list(item.devices());
        }
    }),
    Column::new("CONSUMERS", ".consumers[0].name", |item, cell| {
        cell.text(item.consumers());
    }),
    Column::new("AGE", ".creationTimestamp", |item, cell| {
        cell.text(age(cell.context.now, item.claim().metadata.creation_timestamp));
    }),
    Column::wide("REQUESTS", ".requests[0].name", |item, cell| {
        cell.list(item.requests());
    }),
    Column::wide("CLASSES", ".requests[0].exactly.deviceClassName", |item, cell| {
        cell.list(item.classes());
    }),
    Column::wide("POOLS", ".devices[0].pool", |item, cell| cell.list(item.pools())),
    Column::wide("TAINTS", ".taints[0].key", |item, cell| match item.taints() {
        Some(taints) => cell.list(taints),
        None => cell.text(UNKNOWN),
    }),
    Column::wide("OWNER", ".owner.name", |item, cell| cell.option(item.owner())),
];

impl Report for ClaimList {
    const KIND: &'static str = "ClaimList";

    fn view(&self, page: Page) -> View {
        let seen = Seen { now: self.now, page };
        Table::list(COLUMNS, page, &seen, &self.items).into()
    }

    fn names(&self) -> Vec<String> {
        let name = |item: &ClaimItem| format!("resourceclaim.resource.k8s.io/{}", item.claim().metadata.name);
        self.items.iter().map(name).collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.items, COLUMNS)
    }

    fn nothing(&self) -> Option<String> {
        Some(self.warnings.qualify("No claims found"))
    }
}

fn state<C>(item: &ClaimItem, cell: &mut Cell<'_, C>) {
    let state = item.state();
    let tone = match state {
        state if state.deleted => Tone::Notice,
        state if state.reserved => Tone::Good,
        _ => Tone::Plain,
    };
    cell.toned(tone, state);
}

/// Reads states in any case, as the STATE column of other lists has capitals.
fn state_filter(text: &str) -> Result<StateFilter, StateFilterError> {
    text.to_ascii_lowercase().parse()
}

/// A pod to filter by: `NAME` or `NAMESPACE/NAME`, also with `pod/` before it.
fn pod_filter(text: &str) -> Result<PodFilter, UsageError> {
    let name = match text.split_once('/') {
        Some((kind, name)) if objects::is_called(Kind::Pod, "pod", kind) => name,
        _ => text,
    };
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, name),
    };
    if name.is_empty() || name.contains('/') || namespace == Some("") {
        let error = UsageError::new(format!("invalid pod name `{text}`"));
        return Err(error.hint("use `NAME`, `NAMESPACE/NAME`, `pod/NAME` or `pod/NAMESPACE/NAME`"));
    }
    Ok(PodFilter {
        namespace: namespace.map(Into::into),
        name: name.into(),
    })
}

/// Returns what the filter names, as far as it is looked at.
fn mentions(filter: &ClaimFilter) -> Vec<Mention> {
    let node = presence::scoped(Kind::Node, filter.node.clone());
    let pod = filter.pod.as_ref().and_then(|pod| {
        let namespace = pod.namespace.clone()?;
        Some(Mention::Object(Kind::Pod, Key::new(namespace, pod.name.clone())))
    });
    node.into_iter().chain(pod).collect()
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let selection = objects::claims(ctx, objects::Default::Current, &args.names)?;
    let filter = ClaimFilter {
        state: args.state.unwrap_or_default(),
        node: args.node.map(Into::into),
        driver: args.driver.map(Into::into),
        device: args.device,
        pod: args.pod.as_deref().map(pod_filter).transpose()?,
    };
    let show_taints = ctx.settings().output.format == Format::Wide;
    let mut kinds = vec![Kind::ResourceClaim];
    kinds.extend(filter.needs());
    if show_taints {
        kinds.extend([Kind::ResourceSlice, Kind::DeviceTaintRule]);
    }
    watching::check(ctx)?;
    let mut needs = objects::needs(kinds, &selection).require(Kind::ResourceClaim);
    // What the server can leave out need not be sent; which claims are shown is decided here all the same.
    if selection.names.is_empty() && !selection.labels.is_empty() {
        needs = needs.labeled(Kind::ResourceClaim, &selection.labels.to_string());
    } else if let (Some(key), 1) = (selection.names.first(), selection.names.len()) {
        needs = needs.named(Kind::ResourceClaim, &key.name);
    }
    let loaded = ctx.load_to_watch(&needs).await?;
    presence::claims_of_list(ctx, &loaded.cluster, &selection).await?;
    presence::hint(ctx, &loaded.cluster, &mentions(&filter)).await?;
    let rows = |cluster: &Cluster, selection: &Selection, now| {
        dra_reports::claims(cluster, selection, &filter, show_taints, now)
    };
    let report = rows(&loaded.cluster, &selection, ctx.now(&loaded.cluster));
    ctx.warn_all(report.warnings.iter());
    if !ctx.settings().output.watch {
        return ctx.answer(report, Outcome::Done);
    }
    let mut screen = Rows::new(ctx);
    screen.show(report)?;
    watching::follow(ctx, &needs, loaded, Duration::ZERO, |cluster, changes| {
        for change in changes {
            let Some(key) = changed_claim(&change) else {
                cluster.apply(change);
                continue;
            };
            if !selection.names.is_empty() && !selection.names.contains(&key) {
                cluster.apply(change);
                continue;
            }
            let only = Selection {
                names: [key].into(),
                ..selection.clone()
            };
            // As kubectl does, the last row of a claim that goes is the one it had.
            let gone = matches!(change, Change::Delete(..));
            let last = gone.then(|| rows(cluster, &only, ctx.clock()));
            cluster.apply(change);
            let report = last.unwrap_or_else(|| rows(cluster, &only, ctx.clock()));
            if !report.items.is_empty() {
                screen.show(report)?;
            }
        }
        Ok(())
    })
    .await?;
    Ok(Outcome::Done)
}

fn changed_claim(change: &Change) -> Option<Key> {
    match change {
        Change::Put(Object::ResourceClaim(claim)) => Some(claim.key()),
        Change::Delete(Kind::ResourceClaim, key) => Some(key.clone()),
        _ => None,
    }
}
