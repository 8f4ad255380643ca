//! `kubectl dra export`: the state of a cluster as metrics, once or for Prometheus to scrape.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueHint;

use super::run::lease;
use super::run::log::Log;
use super::run::status_line::StatusLine;
use super::service::{self, listening};
use super::{Accepts, duration, judging, places, threads};
use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::{ended_metrics, metrics_text};
use dra_model::{Cluster, Key, Str, Time};
use dra_reports::all_missing;
use dra_reports::allocation::Settings;
use dra_reports::metrics::{METRICS_NEEDS, MetricsOptions, Samples, pending_metrics, state_metrics};
use dra_rules::scheduling::{Run, in_order};
use dra_runner::{Exporter, Listed, Part};
use dra_sources::Needs;
use dra_sources::destination::{Destination, Readers};

pub(super) const ACCEPTS: Accepts = Accepts::NOTHING;

const EXAMPLES: &str = "\
Examples:
  # Print the metrics of a cluster
  kubectl dra export --once
  # Write them for the textfile collector of node_exporter
  kubectl dra export --once --out /var/lib/node_exporter/dra.prom
  # Serve them on port 8080 for Prometheus to scrape
  kubectl dra export --metrics-address :8080
  # Group devices by the node pool of their node
  kubectl dra export --once \\
    --node-pool-label cloud.google.com/gke-nodepool";

/// Export the state of the cluster as metrics for Prometheus
///
/// Watches the cluster and serves /metrics, /healthz and /readyz, or with `--once` prints the metrics and ends. The numbers are those of
/// `status`, `check`, `reserved` and `explain`; docs/reference/metrics.md lists them. Only reads, apart from the Lease.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["metrics", "exporter", "prometheus", "monitor"])]
pub(crate) struct Args {
    /// Print the metrics and end
    #[arg(long, conflicts_with = "recheck")]
    once: bool,

    /// With `--once`: file to write; default: standard output
    ///
    /// It is replaced as a whole. A new file is readable only by you.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "once")]
    out: Option<PathBuf>,

    /// Label of nodes that names the node pool of their devices
    #[arg(long, value_name = "KEY")]
    node_pool_label: Option<String>,

    /// Add metrics of each claim: several series per claim
    #[arg(long)]
    per_claim: bool,

    /// Limit of search steps to find causes of pending pods
    #[arg(long, value_name = "STEPS")]
    budget: Option<u64>,

    #[command(flatten)]
    serving: Serving,
}

/// Flags of the server.
#[derive(Debug, clap::Args)]
struct Serving {
    /// Serve health and metrics here [default: 127.0.0.1:8080]
    ///
    /// Such as `:8080` for all interfaces.
    #[arg(long, value_name = "ADDRESS", value_parser = listening, conflicts_with = "once")]
    metrics_address: Option<SocketAddr>,

    /// Compute metrics at most this often [default: 15s]
    ///
    /// Only if they are scraped, and something has changed or a minute has passed. What takes long is computed less often: it rests for
    /// nine times as long.
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "once")]
    interval: Option<Duration>,

    /// Export only while holding this Lease
    ///
    /// Allows several replicas: the others are ready and export nothing.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = lease, conflicts_with = "once")]
    lease: Option<Key>,

    #[command(flatten)]
    service: service::Flags,
}

/// `--metrics-address` unless it is given: nothing outside the machine reaches it.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

/// `--interval` unless it is given.
const INTERVAL: Duration = Duration::from_secs(15);

/// What to compute.
#[derive(Clone)]
struct Wanted {
    options: MetricsOptions,
    budget: Option<u64>,
}

impl Wanted {
    fn state(&self, cluster: &Cluster, now: Time, run: Run<'_>) -> Samples {
        state_metrics(&judging::metered(cluster), &self.options, now, run)
    }

    fn pending(&self, cluster: &Cluster, now: Time, run: Run<'_>) -> Samples {
        let budget = judging::budget(self.budget);
        let settings = Settings {
            has_fixes: false,
            ..Settings::new(now, &budget, run)
        };
        pending_metrics(&judging::metered(cluster), &settings)
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let wanted = Wanted {
        options: MetricsOptions {
            node_pool_label: args.node_pool_label.map(Str::from),
            per_claim: args.per_claim,
        },
        budget: args.budget,
    };
    if args.once {
        once(ctx, &wanted, args.out).await
    } else {
        serve(ctx, wanted, args.serving).await
    }
}

fn needs() -> Needs {
    Needs::kinds(METRICS_NEEDS)
        .with_gates()
        .with_schedulers()
        .pods_after_claims()
}

async fn once(ctx: &Ctx, wanted: &Wanted, out: Option<PathBuf>) -> anyhow::Result<Outcome> {
    let out = places::out(ctx, out.as_deref())?;
    let cluster = ctx.load(needs()).await?;
    if ctx.is_live() {
        all_missing(&cluster.environment().gaps).for_each(|missing| ctx.warn(missing));
    }
    let now = ctx.now(&cluster);
    let state = metrics_text(wanted.state(&cluster, now, &threads::on_all));
    let pending = wanted.pending(&cluster, now, &threads::each_node);
    let text = ended_metrics(state + &metrics_text(pending));
    ctx.end_computing();
    match &out {
        Destination::Stdout => ctx.printer().text(&text)?,
        Destination::File(file) => file.write(Readers::AsBefore, |out| out.write_all(text.as_bytes()))?,
    }
    Ok(Outcome::Done)
}

async fn serve(ctx: &Ctx, wanted: Wanted, serving: Serving) -> anyhow::Result<Outcome> {
    let service = serving.service;
    if !ctx.is_live() {
        return Err(UsageError::needs_cluster("`export` without `--once`")
            .hint("add `--once` to print the metrics of a file")
            .into());
    }
    ctx.printer().begin_log(service.log_format);
    let pending = wanted.clone();
    // On one thread, as an exporter has time.
    let parts = vec![
        Part {
            name: "state",
            compute: Box::new(move |cluster, now| metrics_text(wanted.state(cluster, now, &in_order))),
        },
        Part {
            name: "pending",
            compute: Box::new(move |cluster, now| metrics_text(pending.pending(cluster, now, &in_order))),
        },
    ];
    let exporter = Arc::new(Exporter::new(parts, serving.interval.unwrap_or(INTERVAL)));
    let address = serving.metrics_address.unwrap_or(ADDRESS);
    // They are served until this function returns.
    let _probes = service::probes(ctx, address, Arc::clone(&exporter)).await?;
    ctx.ends_by_itself();
    let live = ctx.live().await?;
    let status_line = StatusLine::begin(ctx, live.name());
    let log = Log {
        ctx,
        format: service.log_format,
        cluster: live.name(),
        status_line: &status_line,
        names: &["exporting metrics"],
        dry_run: false,
    };
    let tell = |message| log.message(message);
    let options = service.options(ctx, Arc::default());
    let needs = needs();
    let load = async || {
        Ok::<_, anyhow::Error>(Listed {
            live,
            needs: &needs,
            loaded: ctx.load_to_watch(&needs).await?,
            at: ctx.clock(),
        })
    };
    exporter
        .run((live, serving.lease, ctx.clock()), load, options, tell)
        .await?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::generated;
    use dra_reports::metrics::{Facts, Family};

    const PAGE: &str = "docs/reference/metrics.md";

    #[expect(clippy::disallowed_methods, reason = "tests read files")]
    fn page() -> String {
        let path = format!("{}/{PAGE}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the page")
    }

    #[test]
    fn the_page_describes_each_family() {
        const BEGIN: &str = "<!-- families -->\n";
        const END: &str = "<!-- end of families -->\n";
        let page = page();
        let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
        let (_, after) = rest.split_once(END).expect("where it ends");
        let mut table = "\n| Family | Labels | Meaning |\n|---|---|---|\n".to_owned();
        for family in Family::ALL {
            let Facts { name, labels, help } = family.facts();
            let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
            writeln!(table, "| `{name}` | {} | {help} |", labels.join(", ")).expect("a string");
        }
        generated::check(PAGE, &format!("{before}{BEGIN}{table}\n{END}{after}"));
    }
}
