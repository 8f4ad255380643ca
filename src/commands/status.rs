//! `kubectl dra status`: a cluster on one screen.

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{Cell, Column, Detail, Layout, Report, Screen, Table, Tone, UNKNOWN, View};
use dra_model::Kind;
use dra_reports::findings::Counts;
use dra_reports::stage::StageCount;
use dra_reports::{ClusterStatus, DriverStatus, GateLine, STATUS_NEEDS, StateCount, UsageItem};

use super::usage::{self, By};
use super::{Accepts, objects, presence, threads};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # How full the cluster is
  kubectl dra status
  # Which owners have devices, and which of them are idle
  kubectl dra status --by owner
  # The claims of one namespace
  kubectl dra status -n training";

/// Show drivers, devices, who uses them, and claims on one screen
///
/// Counts the claims of all namespaces unless `-n` says otherwise; devices are always those of the whole cluster. Use is counted in
/// units: a GPU that can be partitioned is one, whatever number of devices stand for its partitions, and is used as far as its counters are. IDLE
/// are devices of claims with which no pod runs.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// Tell who uses how much by this
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: By,
}

pub(super) const DRIVERS: &[Column<DriverStatus>] = &[
    Column::inner("DRIVER", |driver, cell| cell.text(&driver.driver)),
    Column::inner("NODES", |driver, cell| cell.text(driver.nodes)),
    Column::inner("POOLS", |driver, cell| cell.text(driver.pools)),
    Column::inner("DEVICES", |driver, cell| cell.text(driver.devices.total)),
    Column::inner("ALLOCATED", |driver, cell| {
        use_of(driver, driver.devices.allocated, cell);
    }),
    Column::inner("SHARED", |driver, cell| {
        use_of(driver, driver.devices.shared, cell);
    }),
    Column::inner("TAINTED", |driver, cell| {
        unless_zero(driver.devices.tainted, Tone::Notice, cell);
    }),
    Column::inner("UNHEALTHY", |driver, cell| {
        unless_zero(driver.devices.unhealthy, Tone::Bad, cell);
    }),
    Column::inner("FREE", |driver, cell| use_of(driver, driver.devices.free, cell)),
    Column::inner("ON A NODE", on_a_node),
    Column::inner("USED", used),
];

/// How much is in use, on a terminal.
const USE: &[Column<DriverStatus, Screen>] = &[
    Column::inner("DRIVER", |driver, cell| cell.text(&driver.driver)),
    Column::inner("IN USE", |driver, cell| {
        let DriverStatus { devices, units, .. } = driver;
        match &units.used {
            None => cell.text(UNKNOWN),
            Some(_) if units.are_devices() => {
                let held = devices.allocated + devices.shared;
                cell.text(format_args!("{held}/{}", devices.total));
            }
            Some(used) => cell.text(format_args!("{}/{}", usage::decimal(used), units.total)),
        }
    }),
    Column::inner("USED", used),
    Column::inner("", |driver, cell| {
        if let Some(used) = &driver.units.used {
            let bar = usage::bar(*cell.context, used, driver.units.total);
            cell.text(bar);
        }
    }),
    Column::inner("FREE", |driver, cell| use_of(driver, driver.devices.free, cell)),
    Column::inner("ON A NODE", on_a_node),
    Column::inner("SHARED", |driver, cell| {
        cell.unless_zero(Tone::Plain, driver.devices.shared as u64);
    }),
    Column::inner("TAINTED", |driver, cell| {
        cell.unless_zero(Tone::Notice, driver.devices.tainted as u64);
    }),
    Column::inner("UNHEALTHY", |driver, cell| {
        cell.unless_zero(Tone::Bad, driver.devices.unhealthy as u64);
    }),
];

/// A number of devices that is known only when it is known who holds each.
fn use_of<C>(driver: &DriverStatus, count: usize, cell: &mut Cell<'_, C>) {
    if driver.devices.unknown > 0 {
        cell.text(UNKNOWN);
    } else {
        cell.text(count);
    }
}

/// The largest number of free devices that one node reaches.
fn on_a_node<C>(driver: &DriverStatus, cell: &mut Cell<'_, C>) {
    match driver.most_free_on_one_node {
        Some(most) => cell.text(most),
        None => cell.text(UNKNOWN),
    }
}

/// How much of the hardware is used.
fn used<C>(driver: &DriverStatus, cell: &mut Cell<'_, C>) {
    match &driver.units.used {
        Some(used) => cell.text(usage::percent(used, driver.units.total)),
        None => cell.text(UNKNOWN),
    }
}

/// A number in a tone, unless it is zero.
fn unless_zero(count: usize, tone: Tone, cell: &mut Cell<'_, ()>) {
    cell.toned(if count == 0 { Tone::Plain } else { tone }, count);
}

pub(super) const CLAIMS: &[Column<StateCount>] = &[
    Column::inner("STATE", |count, cell| cell.text(count.state)),
    Column::inner("CLAIMS", |count, cell| cell.text(count.count)),
];

const STAGES: &[Column<StageCount>] = &[
    Column::inner("STAGE", |count, cell| cell.text(count.stage)),
    Column::inner("PODS", |count, cell| cell.text(count.count)),
    Column::inner("STUCK", |count, cell| unless_zero(count.stuck, Tone::Bad, cell)),
];

const GATES: &[Column<GateLine>] = &[
    Column::inner("GATE", |line, cell| cell.text(line.gate)),
    Column::inner("COMPONENT", |line, cell| cell.text(line.component)),
    Column::inner("ENABLED", |line, cell| cell.text(line.enabled)),
    Column::inner("EVIDENCE", |line, cell| cell.text(&line.evidence)),
];

impl Report for ClusterStatus {
    const KIND: &'static str = "ClusterStatus";

    fn screen(&self, screen: Screen) -> View {
        let drivers = |section: &mut Layout| {
            section.table(Table::with(USE, Detail::Normal, &screen, &self.drivers));
        };
        let users = |section: &mut Layout, items: &[UsageItem]| {
            usage::screen(self.usage_by, items, screen, section);
        };
        layout(self, Detail::Normal, drivers, users)
    }

    fn view(&self, detail: Detail) -> View {
        let drivers = |section: &mut Layout| {
            section.table(Table::new(DRIVERS, detail, &self.drivers));
        };
        let users = |section: &mut Layout, items: &[UsageItem]| usage::table(self.usage_by, items, section);
        layout(self, detail, drivers, users)
    }
}

/// The report with what `drivers` shows of the drivers, and `users` of who uses them.
fn layout(
    status: &ClusterStatus,
    detail: Detail,
    drivers: impl FnOnce(&mut Layout),
    users: impl FnOnce(&mut Layout, &[UsageItem]),
) -> View {
    let mut layout = Layout::new();
    let assumed = if status.version_is_assumed {
        " (assumed)"
    } else {
        ""
    };
    layout.field("Kubernetes", format_args!("{}{assumed}", status.version));
    layout.list(
        "Kubelets",
        status
            .kubelets
            .iter()
            .map(|kubelet| format!("{} on {}", kubelet.version, nodes(kubelet.nodes))),
    );
    layout.section("Drivers", |section| {
        drivers(section);
        for remark in remarks(status) {
            section.text(remark);
        }
    });
    match &status.usage {
        None => {
            layout.field("Usage", UNKNOWN);
        }
        Some(items) if items.is_empty() => {}
        Some(items) => {
            layout.section("Usage", |section| users(section, items));
        }
    }
    match &status.idle {
        None => {
            layout.field("Idle", UNKNOWN);
        }
        Some(idle) => usage::idle(idle, status.now, detail, &mut layout),
    }
    match &status.claims {
        None => {
            layout.field("Claims", UNKNOWN);
        }
        Some(claims) => {
            layout.section("Claims", |section| {
                section.table(Table::new(CLAIMS, detail, &claims.states));
            });
        }
    }
    match &status.pod_stages {
        None => {
            layout.field("Pods With Devices", UNKNOWN);
        }
        Some(stages) if stages.is_empty() => {}
        Some(stages) => {
            layout.section("Pods With Devices", |section| {
                section.table(Table::new(STAGES, detail, stages));
            });
        }
    }
    let more = if status.findings_are_incomplete {
        ", perhaps more"
    } else {
        ""
    };
    let tone = match status.findings {
        Counts { errors: 1.., .. } => Tone::Bad,
        Counts { warnings: 1.., .. } => Tone::Notice,
        Counts { .. } => Tone::Plain,
    };
    let mut findings = format!("{}{more}", super::words_of(&status.findings));
    let is_clean = matches!(
        status.findings,
        Counts {
            errors: 0,
            warnings: 0,
            infos: 0
        }
    );
    if !is_clean || status.findings_are_incomplete {
        findings.push_str(" (see kubectl dra check)");
    }
    layout.toned("Findings", tone, findings);
    if status.gates.is_empty() {
        layout.field("Feature Gates", "defaults of the release (assumed)");
    } else {
        layout.section("Feature Gates", |section| {
            section.table(Table::new(GATES, detail, &status.gates));
            section.text("All others have the defaults of the release (assumed).");
        });
    }
    layout.into()
}

fn nodes(count: usize) -> String {
    crate::output::counted(count, "node", "nodes")
}

/// What the table has no column for, where there is something to say.
fn remarks(status: &ClusterStatus) -> Vec<String> {
    let mut remarks = Vec::new();
    for driver in &status.drivers {
        let devices = &driver.devices;
        let mut say = |count: usize, one: &str, many: &str| {
            if count > 0 {
                remarks.push(format!(
                    "{}: {}",
                    driver.driver,
                    crate::output::counted(count, one, many)
                ));
            }
        };
        say(
            driver.incomplete_pools,
            "pool is incomplete",
            "pools are incomplete",
        );
        say(
            devices.unavailable,
            "device that no claim holds cannot be allocated",
            "devices that no claim holds cannot be allocated",
        );
        say(
            devices.unpublished.unwrap_or_default(),
            "device is held but not published any more",
            "devices are held but not published any more",
        );
        let amounts = usage::amounts(&driver.units);
        if !amounts.is_empty() {
            remarks.push(format!("{}: {} used", driver.driver, amounts.join(", ")));
        }
    }
    remarks
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { by } = args;
    let selection = objects::selection(ctx, objects::Default::All);
    // Devices are held by claims of every namespace, so the namespace does not restrict what is read.
    let needs = dra_sources::Needs::kinds(STATUS_NEEDS).with_gates();
    let cluster = ctx.load(needs).await?;
    presence::hint(
        ctx,
        &cluster,
        &presence::mentions(&selection, [Kind::ResourceClaim]),
    )
    .await?;
    let report = dra_reports::status(
        &cluster,
        &selection,
        by.into(),
        ctx.now(&cluster),
        &threads::on_all,
    );
    report.warnings.iter().for_each(|warning| ctx.warn(warning));
    ctx.print(report)?;
    Ok(Outcome::Done)
}
