//! `kubectl dra status`: a cluster on one screen.

use itertools::Itertools;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{Cell, Column, Doc, Page, Report, Table, Tone, UNKNOWN, View, counted, span, when};
use dra_allocator::devices::Unavailable;
use dra_model::{Kind, Time};
use dra_reports::findings::Counts;
use dra_reports::script::Command;
use dra_reports::stage::StageCount;
use dra_reports::{
    ClusterStatus, DeviceCounts, DriverStatus, GateLine, KubeletCount, STATUS_NEEDS, StateCount,
};

use super::fleet::{self, Answer, Asked, OfCluster};
use super::usage::{self, By};
use super::{Accepts, objects, presence, threads};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT.fleet();

const EXAMPLES: &str = "\
Examples:
  # Show how full the cluster is
  kubectl dra status
  # Show which owners use devices, and which are idle
  kubectl dra status --by owner
  # Show the claims of one namespace
  kubectl dra status -n training
  # Compare clusters
  kubectl dra status --context prod-a --context prod-b";

/// Show drivers, devices, claims and usage on one screen
///
/// Counts the claims of all namespaces by default, and the devices of the whole cluster. Usage is counted in units: a GPU that can be
/// partitioned is one unit, used to the extent of its counters. IDLE counts devices of claims without a running pod.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["use", "usage", "summary", "overview", "capacity"])]
pub(crate) struct Args {
    /// Group usage by
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: By,
}

pub(super) const DRIVERS: &[Column<DriverStatus, Page>] = &[
    Column::inner("DRIVER", |driver, cell| cell.text(&driver.driver)),
    Column::inner_wide("NODES", |driver, cell| cell.text(driver.nodes)),
    Column::inner_wide("POOLS", |driver, cell| cell.text(driver.pools)),
    Column::inner_wide("DEVICES", |driver, cell| cell.text(driver.devices.total)),
    Column::inner_wide("ALLOCATED", |driver, cell| {
        use_of(driver, driver.devices.allocated, cell);
    }),
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
    Column::inner("", |driver, cell| {
        if let Some(used) = &driver.units.used {
            usage::bar(used, driver.units.total, cell);
        }
    }),
    Column::inner("USED", |driver, cell| {
        let used = driver.units.used.as_ref();
        cell.known(used.map(|used| usage::percent(used, driver.units.total)));
    }),
    Column::inner("FREE", |driver, cell| use_of(driver, driver.devices.free, cell)),
    // Largest number of free devices on one node.
    Column::inner("ONE NODE", |driver, cell| {
        cell.known(driver.most_free_on_one_node);
    }),
    Column::inner("SHARED", |driver, cell| {
        cell.unless_zero(Tone::Plain, driver.devices.shared as u64);
    }),
    Column::inner("UNAVAILABLE", |driver, cell| {
        let mut reasons: Vec<_> = driver.unavailable_reasons.iter().collect();
        reasons.sort_by_key(|count| std::cmp::Reverse(count.devices));
        let reasons = reasons.into_iter();
        let reasons = reasons.map(|count| format!("{} {}", count.devices, unavailable(count.reason)));
        let reasons: Vec<String> = reasons.collect();
        match (driver.devices.unavailable, reasons.as_slice()) {
            (_, []) => cell.unless_zero(Tone::Plain, 0),
            // Those in use are no part of the unavailable ones.
            (count, [_]) if count == driver.unavailable_reasons[0].devices => {
                cell.toned(Tone::Notice, &reasons[0]);
            }
            (count, reasons) => cell.toned(Tone::Notice, format_args!("{count}: {}", reasons.join(", "))),
        }
    }),
    Column::inner_wide("TAINTED", |driver, cell| {
        cell.unless_zero(Tone::Notice, driver.devices.tainted as u64);
    }),
    Column::inner("UNHEALTHY", |driver, cell| {
        cell.unless_zero(Tone::Bad, driver.devices.unhealthy as u64);
    }),
];

/// What devices are that cannot be allocated for this reason.
fn unavailable(reason: Unavailable) -> &'static str {
    match reason {
        Unavailable::Tainted => "tainted",
        Unavailable::NodeMissing => "of missing nodes",
        Unavailable::CountersExhausted => "out of counters",
        Unavailable::PoolIncomplete => "in incomplete pools",
        Unavailable::PoolInvalid => "in invalid pools",
        Unavailable::Incompatible | Unavailable::GateOff | Unavailable::SliceIgnored => reason.in_words(),
    }
}

/// A number of devices that is known only when it is known who holds each.
fn use_of<C>(driver: &DriverStatus, count: usize, cell: &mut Cell<'_, C>) {
    cell.known((driver.devices.unknown == 0).then_some(count));
}

pub(super) const CLAIMS: &[Column<StateCount>] = &[
    Column::inner("STATE", |count, cell| cell.text(count.state)),
    Column::inner("CLAIMS", |count, cell| cell.text(count.count)),
];

const STAGES: &[Column<StageCount>] = &[
    Column::inner("STAGE", |count, cell| cell.text(count.stage)),
    Column::inner("PODS", |count, cell| cell.text(count.count)),
    Column::inner("STUCK", |count, cell| {
        cell.unless_zero(Tone::Bad, count.stuck as u64);
    }),
];

const GATES: &[Column<GateLine>] = &[
    Column::inner("GATE", |line, cell| cell.text(line.gate)),
    Column::inner("COMPONENT", |line, cell| cell.text(line.component)),
    Column::inner("ENABLED", |line, cell| cell.text(line.enabled)),
    Column::inner("EVIDENCE", |line, cell| cell.text(&line.evidence)),
];

impl Report for ClusterStatus {
    const KIND: &'static str = "ClusterStatus";

    fn view(&self, page: Page) -> View {
        doc(self, page).into()
    }
}

fn doc(status: &ClusterStatus, page: Page) -> Doc {
    let detail = page.detail();
    let mut doc = Doc::new();
    headline(status, &mut doc);
    let versions = status.kubelets.iter();
    let versions = versions.map(|kubelet| format!("{} on {}", kubelet.version, nodes(kubelet.nodes)));
    let is_server = |kubelet: &KubeletCount| kubelet.version == *status.version;
    if page.is_wide() || !status.kubelets.iter().all(is_server) {
        doc.list("Kubelets", versions);
    }
    if knows_devices(status) {
        doc.section("Drivers", |section| {
            section.table(Table::with(DRIVERS, detail, &page, &status.drivers));
            for remark in remarks(status) {
                section.text(remark);
            }
        });
    } else {
        doc.field("Drivers", UNKNOWN);
    }
    usage::section("Usage", status.usage_by, status.usage.as_deref(), page, &mut doc);
    usage::idle(status.idle.as_deref(), status.now, page, &mut doc);
    match &status.claims {
        None => doc.field("Claims", UNKNOWN),
        Some(claims) if page.is_wide() => doc.titled("Claims", Table::of(CLAIMS, &claims.states)),
        Some(claims) => {
            let states = claims.states.iter();
            let states = states.map(|count| format!("{} {}", count.count, count.state));
            doc.option(
                "Claims",
                Some(states.format("; ")).filter(|_| !claims.states.is_empty()),
            )
        }
    };
    match status.pod_stages.as_deref() {
        None => doc.field("Pods With Devices", UNKNOWN),
        Some([]) => &mut doc,
        Some(stages) if page.is_wide() => doc.titled("Pods With Devices", Table::of(STAGES, stages)),
        Some(stages) => {
            let stages = stages.iter().map(|count| match count.stuck {
                0 => format!("{} {}", count.count, count.stage),
                stuck => format!("{} {} ({stuck} stuck)", count.count, count.stage),
            });
            doc.field("Pods With Devices", stages.format(", "))
        }
    };
    if !page.is_wide() {
        doc.gap().more();
        return doc;
    }
    if status.gates.is_empty() {
        doc.field("Feature Gates", "release defaults (assumed)");
    } else {
        doc.section("Feature Gates", |section| {
            section.table(Table::of(GATES, &status.gates));
            section.text("All others have release defaults (assumed).");
        });
    }
    doc
}

/// Version, size and findings of the cluster.
fn headline(status: &ClusterStatus, doc: &mut Doc) {
    let assumed = when(status.version_is_assumed, " (assumed)");
    let size: usize = status.kubelets.iter().map(|kubelet| kubelet.nodes).sum();
    let size = match size {
        0 => String::new(),
        size => format!(", {}", nodes(size)),
    };
    let tone = match status.findings {
        Counts { errors: 1.., .. } => Tone::Bad,
        Counts { warnings: 1.., .. } => Tone::Notice,
        Counts { .. } => Tone::Plain,
    };
    let has_findings = status.findings != Counts::default();
    let findings = if has_findings {
        super::words_of(&status.findings)
    } else {
        "no findings".to_owned()
    };
    let incomplete = when(
        status.findings_are_incomplete,
        " so far, some checks were incomplete",
    );
    doc.line(
        2,
        [
            span(Tone::Strong, "Kubernetes "),
            span(Tone::Plain, format!("{}{assumed}{size}; ", status.version)),
            span(tone, findings),
            span(Tone::Plain, incomplete),
        ],
    );
    if (has_findings || status.findings_are_incomplete)
        && let Ok(check) = Command::dra("check").same_objects().done()
    {
        doc.command("Findings: ", &check);
    }
    let mut usage = status.usage.iter().flatten();
    if usage.any(|item| item.pending_claims > 0)
        && let Ok(explain) = Command::dra("explain").arg("-A").here().done()
    {
        doc.command("Pending: ", &explain);
    }
    doc.gap();
}

fn nodes(count: usize) -> String {
    counted(count, "node", "nodes")
}

/// Returns what the table has no column for, where there is something to say.
fn remarks(status: &ClusterStatus) -> Vec<String> {
    let mut remarks = Vec::new();
    for driver in &status.drivers {
        let devices = &driver.devices;
        let mut say = |count: usize, one: &str, many: &str| {
            if count > 0 {
                remarks.push(format!("{}: {}", driver.driver, counted(count, one, many)));
            }
        };
        say(
            driver.incomplete_pools,
            "pool is incomplete",
            "pools are incomplete",
        );
        say(
            devices.unpublished.unwrap_or_default(),
            "allocated device is no longer published",
            "allocated devices are no longer published",
        );
        let amounts = usage::amounts(&driver.units);
        if !amounts.is_empty() {
            remarks.push(format!("{}: {} used", driver.driver, amounts.join(", ")));
        }
    }
    remarks
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    fleet::run(ctx, args, answer).await
}

async fn answer(ctx: &Ctx, Args { by }: Args) -> anyhow::Result<Answer<ClusterStatus>> {
    let selection = objects::selection(ctx, objects::Default::All);
    // Devices are held by claims of every namespace, so the namespace does not restrict what is read.
    let needs = dra_sources::Needs::kinds(STATUS_NEEDS).with_gates();
    let cluster = ctx.load(needs).await?;
    let mentions = presence::mentions(&selection, [Kind::ResourceClaim]);
    presence::hint(ctx, &cluster, &mentions).await?;
    let now = ctx.now(&cluster);
    let report = dra_reports::status(&cluster, &selection, by.into(), now, &threads::on_all);
    ctx.warn_all(report.warnings.iter());
    Ok(Answer {
        report,
        outcome: Outcome::Done,
        note: None,
    })
}

/// A row for each cluster. What is unknown of one device is unknown of all.
impl OfCluster for ClusterStatus {
    const CLUSTERS: &'static [Column<Asked<Self>, Page>] = &[
        Asked::CLUSTER,
        Column::inner_wide("KUBERNETES", |asked, cell| {
            asked.known(cell, |status| Some(status.version.clone()));
        }),
        Column::inner("AS OF", |asked, cell| {
            asked.known(cell, |status| {
                Some(Time::from_unix_seconds(status.now.unix_seconds()))
            });
        }),
        Column::inner("DEVICES", |asked, cell| {
            asked.known(cell, |status| {
                knows_devices(status).then(|| sum(status, |devices| devices.total))
            });
        }),
        Column::inner("IN USE", |asked, cell| {
            asked.known(cell, in_use);
        }),
        Column::inner("FREE", |asked, cell| {
            asked.known(cell, |status| held(status, |devices| devices.free));
        }),
        Column::inner_wide("UNAVAILABLE", |asked, cell| {
            asked.known(cell, |status| held(status, |devices| devices.unavailable));
        }),
        Column::inner("PENDING", |asked, cell| {
            asked.known(cell, |status| {
                let usage = status.usage.as_ref()?;
                Some(usage.iter().map(|item| item.pending_claims).sum::<usize>())
            });
        }),
        Column::inner("FINDINGS", |asked, cell| {
            asked.result(cell, findings);
        }),
    ];
    const HAS_BLOCKS: bool = false;
}

/// The findings in words.
pub(super) fn findings(status: &ClusterStatus) -> String {
    let doubt = when(status.findings_are_incomplete, " so far");
    format!("{}{doubt}", super::words_of(&status.findings))
}

/// Devices in use, where it is known who holds each.
pub(super) fn in_use(status: &ClusterStatus) -> Option<usize> {
    held(status, |devices| devices.allocated + devices.shared)
}

/// Whether it is known which devices there are.
fn knows_devices(status: &ClusterStatus) -> bool {
    status.usage.is_some() || !status.drivers.is_empty()
}

/// Devices of all drivers.
pub(super) fn sum(status: &ClusterStatus, of: impl Fn(&DeviceCounts) -> usize) -> usize {
    status.drivers.iter().map(|driver| of(&driver.devices)).sum()
}

/// The same, where it is known who holds each.
fn held(status: &ClusterStatus, of: impl Fn(&DeviceCounts) -> usize) -> Option<usize> {
    let is_known = status.usage.is_some() && sum(status, |devices| devices.unknown) == 0;
    is_known.then(|| sum(status, of))
}
