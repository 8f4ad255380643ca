//! `kubectl dra status`: a cluster on one screen.

use crate::context::Ctx;
use crate::error::Outcome;
use crate::inspect::findings::Counts;
use crate::inspect::{self, ClusterStatus, GateLine, STATUS_NEEDS};
use crate::output::{Column, Detail, Layout, Report, Table, Tone, UNKNOWN, View};

use super::{Accepts, objects, threads};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

/// Show drivers, devices and claims of a cluster on one screen
///
/// Counts the claims of all namespaces unless `-n` says otherwise; devices are always those of the whole cluster.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

const DRIVERS: &[Column] = &[
    Column::new("DRIVER", ".driver"),
    Column::new("NODES", ".nodes"),
    Column::new("POOLS", ".pools"),
    Column::new("DEVICES", ".devices.total"),
    Column::new("ALLOCATED", ".devices.allocated"),
    Column::new("SHARED", ".devices.shared"),
    Column::new("TAINTED", ".devices.tainted"),
    Column::new("UNHEALTHY", ".devices.unhealthy"),
    Column::new("FREE", ".devices.free"),
];

const CLAIMS: &[Column] = &[Column::new("STATE", ".state"), Column::new("CLAIMS", ".count")];

const GATES: &[Column] = &[
    Column::new("GATE", ".name"),
    Column::new("COMPONENT", ".component"),
    Column::new("ENABLED", ".enabled"),
    Column::new("EVIDENCE", ".evidence"),
];

impl Report for ClusterStatus {
    const KIND: &'static str = "ClusterStatus";

    fn view(&self, detail: Detail) -> View {
        let mut layout = Layout::new();
        let assumed = if self.version_is_assumed { " (assumed)" } else { "" };
        layout.field("Kubernetes", format_args!("{}{assumed}", self.version));
        layout.list(
            "Kubelets",
            self.kubelets
                .iter()
                .map(|kubelet| format!("{} on {}", kubelet.version, nodes(kubelet.nodes))),
        );
        layout.section("Drivers", |section| {
            section.table(drivers(self, detail));
            for remark in remarks(self) {
                section.text(remark);
            }
        });
        match &self.claims {
            None => {
                layout.field("Claims", UNKNOWN);
            }
            Some(claims) => {
                layout.section("Claims", |section| {
                    let mut table = Table::new(CLAIMS, detail);
                    for count in &claims.states {
                        table.row(|row| {
                            row.cell(count.state).cell(count.count);
                        });
                    }
                    section.table(table);
                });
            }
        }
        let more = if self.findings_are_incomplete {
            ", perhaps more"
        } else {
            ""
        };
        let tone = match self.findings {
            Counts { errors: 1.., .. } => Tone::Bad,
            Counts { warnings: 1.., .. } => Tone::Notice,
            Counts { .. } => Tone::Plain,
        };
        let findings = format!(
            "{}{more} (see kubectl dra check)",
            super::words_of(&self.findings)
        );
        layout.toned("Findings", tone, findings);
        if self.gates.is_empty() {
            layout.field("Feature Gates", "defaults of the release (assumed)");
        } else {
            layout.section("Feature Gates", |section| {
                section.table(gates(&self.gates, detail));
                section.text("All others have the defaults of the release (assumed).");
            });
        }
        layout.into()
    }
}

fn nodes(count: usize) -> String {
    crate::output::counted(count, "node", "nodes")
}

fn drivers(status: &ClusterStatus, detail: Detail) -> Table {
    let mut table = Table::new(DRIVERS, detail);
    for driver in &status.drivers {
        let devices = &driver.devices;
        let unless_zero = |tone, count| if count == 0 { Tone::Plain } else { tone };
        table.row(|row| {
            row.cell(&driver.driver)
                .cell(driver.nodes)
                .cell(driver.pools)
                .cell(devices.total);
            if devices.unknown > 0 {
                row.cell(UNKNOWN).cell(UNKNOWN);
            } else {
                row.cell(devices.allocated).cell(devices.shared);
            }
            row.toned(unless_zero(Tone::Notice, devices.tainted), devices.tainted)
                .toned(unless_zero(Tone::Bad, devices.unhealthy), devices.unhealthy);
            if devices.unknown > 0 {
                row.cell(UNKNOWN);
            } else {
                row.cell(devices.free);
            }
        });
    }
    table
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
            "device that no claim holds cannot be given out",
            "devices that no claim holds cannot be given out",
        );
        say(
            devices.unpublished.unwrap_or_default(),
            "device is held but not published any more",
            "devices are held but not published any more",
        );
    }
    remarks
}

fn gates(lines: &[GateLine], detail: Detail) -> Table {
    let mut table = Table::new(GATES, detail);
    for line in lines {
        table.row(|row| {
            row.cell(line.gate)
                .cell(line.component)
                .cell(line.enabled)
                .cell(&line.evidence);
        });
    }
    table
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {} = args;
    let selection = objects::selection(ctx, objects::Default::All);
    // Devices are held by claims of every namespace, so the namespace does not restrict what is read.
    let needs = crate::sources::Needs::kinds(STATUS_NEEDS).with_gates();
    let cluster = ctx.load(needs).await?;
    let report = inspect::status(&cluster, &selection, ctx.now(), &threads::on_all);
    report.warnings.iter().for_each(|warning| ctx.warn(warning));
    ctx.print(report)?;
    Ok(Outcome::Done)
}
