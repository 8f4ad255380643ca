//! `kubectl dra devices`: every device, who holds it, and how it is.

pub(super) mod map;
mod pools;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use itertools::{Either, Itertools};

use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::{
    Cell, Column, Format, NONE, Page, Report, SortBy, SortError, Table, Tone, UNKNOWN, View, when,
};
use dra_allocator::devices::{ClassSelectors, DeviceNode, DeviceState};
use dra_model::{Cluster, Kind, Str};
use dra_reports::presence::Mention;
use dra_reports::{
    CapacityItem, CounterItem, DEVICES_NEEDS, DeviceFilter, DeviceItem, DeviceList, DeviceMap,
};
use dra_rules::health::Health;
use dra_sources::Needs;

use self::map::Picture;
use super::usage::By;
use super::watching::{self, Rows};
use super::{Accepts, objects, presence};

pub(super) const ACCEPTS: Accepts = Accepts::LIST.watch();

const EXAMPLES: &str = r#"Examples:
  # List all devices with their consumers
  kubectl dra devices
  # List free devices of a class on a node
  kubectl dra devices --free --class gpu.example.com --node gpu-node-3
  # Draw a map of devices and their consumers
  kubectl dra devices --map
  # List the devices that match a CEL expression
  kubectl dra devices \
    --selector 'device.attributes["gpu.example.com"].index < 4'
  # Show all columns of one device
  kubectl dra devices gpu-node-1/gpu-0 -o wide"#;

/// List devices with consumers, remaining capacity, taints and health
///
/// Lists the devices of the whole cluster, or with `-n` the devices allocated to claims of that namespace. STATE is `Free`, `Allocated`
/// or `Shared`, followed by the reason if kube-scheduler does not allocate a free device to an ordinary request: `NodeMissing` (known with
/// `--free`, which reads nodes), `CountersExhausted`, `Incompatible`, `PoolIncomplete`, `PoolInvalid`, `GateOff`, `SliceIgnored`, `Tainted`;
/// or by `Unpublished` if an allocated device is no longer published. CAPACITY and COUNTERS show what remains of the total.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["device", "resourceslice", "resourceslices", "slice", "slices", "gpu", "gpus", "nic", "nics"])]
pub(crate) struct Args {
    /// Only these devices: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`
    #[arg(value_name = "DEVICE", value_parser = objects::device_name())]
    names: Vec<String>,

    /// Only devices of this driver
    #[arg(long, value_name = "DRIVER", value_parser = objects::driver_name())]
    driver: Option<String>,

    /// Only devices of this class
    #[arg(long, value_name = "CLASS", value_parser = objects::class_name())]
    class: Option<String>,

    /// Only devices that match this CEL expression
    #[arg(long, value_name = "CEL")]
    selector: Option<String>,

    /// Only devices that can be allocated
    ///
    /// Unallocated, and available to a request for any device.
    #[arg(long)]
    free: bool,

    /// Only tainted devices
    #[arg(long)]
    tainted: bool,

    /// Only devices of this node
    #[arg(long, value_name = "NODE", value_parser = objects::node_name())]
    node: Option<String>,

    /// Draw a map: one row per node, one letter per device
    ///
    /// The letter stands for the device's consumer.
    #[arg(long)]
    map: bool,

    /// Meaning of the letters in the map
    #[arg(long, value_enum, value_name = "WHAT", requires = "map", default_value_t)]
    by: By,
}

pub(super) const COLUMNS: &[Column<DeviceItem>] = &[
    Column::new("NODE", ".node", |item, cell| {
        cell.text(node(item.node.as_ref(), item.nodes));
    }),
    Column::new("DEVICE", ".device", |item, cell| cell.text(item.id())),
    Column::new("STATE", ".state", |item, cell| {
        cell.toned(state_tone(item), State(item));
    }),
    Column::new("CLASSES", ".classes[0]", |item, cell| {
        cell.list(known_and_more(classes(item), item.classes_unknown()));
    }),
    Column::new("CLAIMS", ".claims[0].name", holders),
    Column::new("PODS", ".claims[0].pods[0].name", pods),
    Column::new("TAINTS", ".taints[0].key", |item, cell| {
        cell.list(known_and_more(&item.taints, item.taints_unknown));
    }),
    Column::new("HEALTH", ".health", health),
    Column::wide("CAPACITY", ".capacity", capacity),
    Column::wide("COUNTERS", ".counters[0].remaining", |item, cell| {
        cell.list(item.counters.iter().map(Counter));
    }),
];

impl Report for DeviceList {
    const KIND: &'static str = "DeviceList";

    fn view(&self, page: Page) -> View {
        let pools = page.is_terminal().then(|| pools::of(self, page)).flatten();
        pools
            .unwrap_or_else(|| Table::new(COLUMNS, page.detail(), &self.items))
            .into()
    }

    fn names(&self) -> Vec<String> {
        self.items
            .iter()
            .map(|item| format!("device/{}", item.id()))
            .collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.items, COLUMNS)
    }

    fn nothing(&self) -> Option<String> {
        Some(self.warnings.qualify("No devices found"))
    }
}

pub(super) fn holders<C>(item: &DeviceItem, cell: &mut Cell<'_, C>) {
    cell.list(item.claims.iter().map(Holder));
}

pub(super) fn health<C>(item: &DeviceItem, cell: &mut Cell<'_, C>) {
    match item.health {
        Some(health) => cell.toned(health_tone(health), health),
        None => cell.text(NONE),
    }
}

pub(super) fn capacity<C>(item: &DeviceItem, cell: &mut Cell<'_, C>) {
    cell.list(capacities(item));
}

/// The capacities of a device.
pub(super) fn capacities(item: &DeviceItem) -> impl Iterator<Item = Capacity<'_>> {
    let all = item.capacity.iter();
    all.map(|(name, capacity)| Capacity(name, capacity))
}

/// The classes of a device, as far as they are known.
pub(super) fn classes(item: &DeviceItem) -> &[Str] {
    item.classes.as_deref().unwrap_or_default()
}

/// The known values of a list, and behind them `<unknown>` where there may be more.
pub(super) fn known_and_more<T: fmt::Display>(
    known: impl IntoIterator<Item = T>,
    more: bool,
) -> impl Iterator<Item = String> {
    let known = known.into_iter().map(|value| value.to_string());
    known.chain(more.then(|| UNKNOWN.to_owned()))
}

/// The node of a device, or which nodes reach it.
pub(super) fn node(name: Option<&Str>, nodes: DeviceNode) -> String {
    match nodes {
        DeviceNode::One => name.map_or_else(|| NONE.to_owned(), ToString::to_string),
        DeviceNode::Any => "<any>".to_owned(),
        DeviceNode::Several => "<several>".to_owned(),
        DeviceNode::Unknown => UNKNOWN.to_owned(),
    }
}

fn state_tone(item: &DeviceItem) -> Tone {
    match item.state {
        _ if item.published != Some(true) || !item.unavailable.is_empty() => Tone::Notice,
        DeviceState::Free => Tone::Good,
        DeviceState::Unknown => Tone::Notice,
        DeviceState::Allocated | DeviceState::Shared => Tone::Plain,
    }
}

/// The tone of a device's health.
pub(super) fn health_tone(health: Health) -> Tone {
    match health {
        Health::Unhealthy | Health::BindingFailed => Tone::Bad,
        Health::BindingPending | Health::Unknown => Tone::Notice,
        Health::Healthy => Tone::Good,
    }
}

/// Pods behind all holders, each once. One unknown makes the cell unknown.
fn pods(item: &DeviceItem, cell: &mut Cell<'_, ()>) {
    let mut names: Vec<String> = Vec::new();
    for holder in &item.claims {
        let Some(pods) = &holder.pods else {
            cell.text(UNKNOWN);
            return;
        };
        for pod in pods {
            names.push(format!("{}/{}", holder.namespace, pod.name));
        }
    }
    cell.list(names.into_iter().unique());
}

/// `Free`, `Allocated,Unpublished`.
pub(super) struct State<'a>(pub(super) &'a DeviceItem);

impl fmt::Display for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.state.into())?;
        for reason in &self.0.unavailable {
            write!(f, ",{reason}")?;
        }
        if self.0.published == Some(false) {
            f.write_str(",Unpublished")?;
        }
        Ok(())
    }
}

/// `namespace/name`, with `(admin)` behind a claim with admin access.
#[derive(derive_more::Display)]
#[display("{}/{}{}", _0.namespace, _0.name, when(_0.admin_access, "(admin)"))]
struct Holder<'a>(&'a dra_reports::HolderItem);

/// `memory=80Gi`, and where it is shared what is left of it: `bandwidth=2G/10G`.
pub(super) struct Capacity<'a>(&'a Str, &'a CapacityItem);

impl fmt::Display for Capacity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, CapacityItem { total, remaining }) = self;
        match remaining {
            Some(remaining) => write!(f, "{name}={remaining}/{total}"),
            None => write!(f, "{name}={total}"),
        }
    }
}

/// `set/name=remaining/total`.
#[derive(derive_more::Display)]
#[display("{}/{}={}/{}", _0.counter_set, _0.name, _0.remaining, _0.total)]
pub(super) struct Counter<'a>(pub(super) &'a CounterItem);

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    if args.map {
        accepts_map(ctx, args.by)?;
    }
    let is_named = |(word, _): &(&str, &str)| args.names.iter().any(|name| name == word);
    if let Some((word, flag)) = SWITCHES.into_iter().find(is_named) {
        let error = UsageError::new(format!("`{word}` is a flag, not a device"));
        let command = dra_reports::script::Command::dra("devices")
            .arg(flag)
            .same_objects()
            .done()?;
        return Err(error.hint(command.to_string()).into());
    }
    // Other commands print nodes as `node/NAME`.
    let names = args.names.into_iter();
    let (of_nodes, names): (Vec<_>, Vec<_>) = names.partition_map(|name| match objects::named_node(&name) {
        Some(node) => Either::Left(node.to_owned()),
        None => Either::Right(name),
    });
    let node = match (of_nodes.as_slice(), args.node) {
        ([], node) => node,
        ([named], None) => Some(named.clone()),
        _ => {
            return Err(UsageError::new("cannot list the devices of more than one node")
                .hint("name one node, or none for all devices")
                .into());
        }
    };
    let filter = DeviceFilter {
        names,
        driver: args.driver.map(Into::into),
        pool: None,
        class: args.class.map(Into::into),
        free: args.free,
        tainted: args.tainted,
        node: node.map(Into::into),
        namespace: objects::namespace(ctx, objects::Default::All).map(Into::into),
    };
    let nodes = (filter.node.is_some() || filter.free).then_some(Kind::Node);
    // Claims of other namespaces hold devices too, so the namespace does not restrict what is read.
    let needs = Needs::kinds(DEVICES_NEEDS.into_iter().chain(nodes)).pods_after_claims();
    watching::check(ctx)?;
    let loaded = ctx.load_to_watch(&needs).await?;
    let named: Vec<Mention> = filter.names.iter().cloned().map(Mention::Device).collect();
    presence::demand_all(ctx, &loaded.cluster, &named).await?;
    let chosen = [
        filter.driver.clone().map(Mention::Driver),
        presence::scoped(Kind::DeviceClass, filter.class.clone()),
        presence::scoped(Kind::Node, filter.node.clone()),
        filter.namespace.clone().map(Mention::Namespace),
    ];
    let chosen: Vec<Mention> = chosen.into_iter().flatten().collect();
    presence::hint(ctx, &loaded.cluster, &chosen).await?;
    let selector: Option<Str> = args.selector.map(Into::into);
    if let Some(expression) = &selector {
        let compiled = ClassSelectors::of(&loaded.cluster).selector(expression);
        compiled.program().map_err(|error| {
            UsageError::new(format!(
                "`--selector` is not a CEL expression for devices: {error}"
            ))
        })?;
    }
    let rows = |cluster: &Cluster| {
        // What was spent on rows that are shown already is not missing now.
        cluster.meter().renew();
        let selectors = ClassSelectors::of(cluster);
        let selects = selector.as_ref().map(|expression| selectors.selector(expression));
        dra_reports::devices(cluster, &filter, &selectors, selects.as_deref())
    };
    let report = rows(&loaded.cluster);
    ctx.warn_all(report.warnings.iter());
    if args.map {
        let map = DeviceMap::of(&loaded.cluster, &report, args.by.into());
        return ctx.answer(Picture { devices: report, map }, Outcome::Done);
    }
    if !ctx.settings().output.watch {
        return ctx.answer(report, Outcome::Done);
    }
    let mut screen = Rows::new(ctx);
    let mut shown = Shown::default();
    shown.changed(&report);
    screen.show(report)?;
    watching::follow(ctx, &needs, loaded, SETTLE, |cluster, changes| {
        for change in changes {
            cluster.apply(change);
        }
        let mut report = rows(cluster);
        let changed = shown.changed(&report);
        report
            .items
            .retain(|item| changed.contains(&item.id().to_string()));
        if !report.items.is_empty() {
            screen.show(report)?;
        }
        Ok(())
    })
    .await?;
    Ok(Outcome::Done)
}

/// Flags that are typed as if they were devices, with the commands that were meant.
const SWITCHES: [(&str, &str); 3] = [("free", "--free"), ("tainted", "--tainted"), ("map", "--map")];

/// Rejects flags that a map would ignore.
fn accepts_map(ctx: &Ctx, by: By) -> Result<(), UsageError> {
    let settings = ctx.settings();
    let output = &settings.output;
    let is_for_people = matches!(output.format, Format::Table | Format::Wide | Format::Html);
    let refused = [
        ("--output", !is_for_people),
        ("--sort-by", output.sort_by.is_some()),
        ("--no-headers", output.no_headers),
        ("--watch", output.watch),
    ];
    if let Some((flag, _)) = refused.into_iter().find(|(_, given)| *given) {
        let error = UsageError::new(format!("`--map` does not support `{flag}`"));
        return Err(error.hint("remove `--map`: the list has the same data"));
    }
    if matches!(by, By::Node) {
        let error = UsageError::new("the rows of a map are already nodes");
        return Err(error.hint("use `--by namespace`, `owner` or `class`"));
    }
    Ok(())
}

/// Changes that come within this time are shown together: a device's row depends on objects of several kinds, which change at the
/// same time.
const SETTLE: Duration = Duration::from_millis(200);

/// Last displayed state of each device.
#[derive(Default)]
struct Shown(BTreeMap<String, String>);

impl Shown {
    /// Takes over how devices look now, and returns those that look different from before.
    fn changed(&mut self, report: &DeviceList) -> BTreeSet<String> {
        // A report is data that can always be written.
        let look = |item: &DeviceItem| serde_json::to_string(item).unwrap_or_default();
        let now: BTreeMap<_, _> = report
            .items
            .iter()
            .map(|item| (item.id().to_string(), look(item)))
            .collect();
        let before = std::mem::replace(&mut self.0, now);
        let differs = |(id, look): &(&String, &String)| before.get(*id) != Some(*look);
        self.0.iter().filter(differs).map(|(id, _)| id.clone()).collect()
    }
}
