//! `kubectl dra cel`: try a CEL selector on the devices of a cluster.

mod alike;

use std::fmt::Write;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{Cell, Column, Doc, Page, Report, Table, Tone, View};
use dra_cel::MAX_COST;
use dra_model::{Kind, Str};
use dra_reports::presence::Mention;
use dra_reports::{CEL_NEEDS, FailingItem, Selected, SelectedDevice, SelectorFilter, SelectorReport};
use dra_rules::scheduling::DevicePattern;
use dra_sources::Needs;

use super::devices::node;
use super::{Accepts, objects, presence};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = r#"Examples:
  # List the devices that match an expression
  kubectl dra cel 'device.driver == "gpu.example.com"'
  # Show which terms do not match the devices of one driver
  kubectl dra cel 'device.attributes["gpu.example.com"].index < 2' \
    --driver gpu.example.com -o wide
  # Test one device
  kubectl dra cel \
    'device.attributes["gpu.example.com"].model.startsWith("H100")' \
    gpu-node-1/gpu-0"#;

/// Test a CEL selector: is it valid, and which devices match?
///
/// Prints the errors of Kubernetes: whether the API server accepts the expression in a new object, with its estimated maximum cost;
/// whether kube-scheduler can compile it; and for each device whether it matches and at what cost. An expression that fails on a device
/// does not skip the device: it stops the scheduling of the claim. Hints suggest tested corrections. Exit code 1: the expression is
/// rejected, does not compile, or fails on a device.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// The expression, as in a device class or a request of a claim
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,

    /// Only these devices: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`
    #[arg(value_name = "DEVICE")]
    names: Vec<String>,

    /// Only devices of this class
    #[arg(long, value_name = "CLASS", value_parser = objects::class_name())]
    class: Option<String>,

    /// Only devices of this driver
    #[arg(long, value_name = "DRIVER", value_parser = objects::driver_name())]
    driver: Option<String>,

    /// Only devices of this node
    #[arg(long, value_name = "NODE", value_parser = objects::node_name())]
    node: Option<String>,
}

const COLUMNS: &[Column<SelectedDevice>] = &[
    Column::inner("NODE", |item, cell| {
        cell.text(node(item.node.as_ref(), item.nodes));
    }),
    Column::inner("DEVICE", |item, cell| cell.text(item.id())),
    Column::inner("RESULT", |item, cell| result(item.result, cell)),
    Column::inner("COST", |item, cell| cell.text(item.cost)),
    Column::inner("WHY", |item, cell| cell.option(why(item))),
];

fn result(result: Selected, cell: &mut Cell<'_, ()>) {
    match result {
        Selected::Match => cell.toned(Tone::Good, "Match"),
        Selected::NoMatch => cell.text("NoMatch"),
        Selected::Error => cell.toned(Tone::Bad, "Error"),
    }
}

impl Report for SelectorReport {
    const KIND: &'static str = "SelectorReport";

    fn view(&self, page: Page) -> View {
        let mut doc = head(self);
        if page.is_wide() {
            doc.table(Table::of(COLUMNS, &self.devices));
        } else {
            doc.table(alike::table(self, page));
        }
        for hint in &self.hints {
            alike::hint(&mut doc, page, hint, self.devices.len());
        }
        doc.into()
    }
}

/// Answers of the API server and the scheduler, and the number of matching devices.
fn head(report: &SelectorReport) -> Doc {
    let mut doc = Doc::new();
    match (&report.new_objects.error, report.new_objects.max_cost) {
        (None, Some(max_cost)) => doc.toned(
            "New Objects",
            Tone::Good,
            format_args!("accepted, costs at most {max_cost} of {MAX_COST}"),
        ),
        (None, None) => doc.toned("New Objects", Tone::Good, "accepted"),
        (Some(error), Some(max_cost)) => doc.toned(
            "New Objects",
            Tone::Bad,
            format_args!("rejected, may cost {max_cost} of {MAX_COST}: {error}"),
        ),
        // The scheduler's answer shows the details.
        (Some(_), None) if report.compile_error.is_some() => doc.toned("New Objects", Tone::Bad, "rejected"),
        (Some(error), None) => doc.toned("New Objects", Tone::Bad, "rejected").text(error),
    };
    if let Some(error) = &report.compile_error {
        doc.toned("Scheduler", Tone::Bad, "does not compile").text(error);
        return doc;
    }
    doc.toned("Scheduler", Tone::Good, "compiles");
    let count = |result| {
        let devices = report.devices.iter();
        devices.filter(|device| device.result == result).count()
    };
    let mut summary = format!("{} of {} match", count(Selected::Match), report.devices.len());
    if count(Selected::Error) > 0 {
        let _ = write!(summary, ", {} fail", count(Selected::Error));
    }
    doc.field("Devices", summary);
    doc
}

/// The terms that are not true with what they saw, or the error.
fn why(item: &SelectedDevice) -> Option<String> {
    let terms: Vec<String> = item.failing.iter().map(term).collect();
    if terms.is_empty() {
        item.error.clone()
    } else {
        Some(terms.join("; "))
    }
}

/// `a == b (a is 1)`.
fn term(item: &FailingItem) -> String {
    let mut text = item.expression.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut notes: Vec<String> = item.error.iter().cloned().collect();
    notes.extend(item.seen.iter().filter_map(|seen| {
        let value = seen.value.as_ref()?;
        Some(format!("{} is {value}", seen.expression))
    }));
    if !notes.is_empty() {
        let _ = write!(text, " ({})", notes.join(", "));
    }
    text
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let filter = SelectorFilter {
        names: args.names,
        driver: args.driver.map(Into::into),
        class: args.class.map(Into::into),
        node: args.node.map(Into::into),
    };
    let class = filter.class.as_ref().map(|_| Kind::DeviceClass);
    let node = filter.node.as_ref().map(|_| Kind::Node);
    let needs = Needs::kinds(CEL_NEEDS.into_iter().chain(class).chain(node)).with_gates();
    let cluster = ctx.load(needs).await?;
    let of_driver = |driver: Str| Mention::Devices(DevicePattern::of_driver(driver));
    let mut mentions: Vec<Mention> = filter.names.iter().cloned().map(Mention::Device).collect();
    mentions.extend(presence::scoped(Kind::DeviceClass, filter.class.clone()));
    mentions.extend(presence::scoped(Kind::Node, filter.node.clone()));
    mentions.extend(filter.driver.clone().map(of_driver));
    let nothing = presence::demand(ctx, &cluster, &mentions).await?;
    let mut report = dra_reports::cel(&cluster, &args.expression, &filter);
    report.incomplete |= !nothing.is_empty();
    ctx.warn_all(&nothing);
    ctx.warn_all(report.warnings.iter());
    let fails = report
        .devices
        .iter()
        .any(|device| device.result == Selected::Error);
    let is_bad = report.compile_error.is_some() || !report.new_objects.accepted || fails;
    let outcome = Outcome::of(is_bad, report.incomplete);
    ctx.answer(report, outcome)
}
