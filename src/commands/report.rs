//! `kubectl dra report`: a cluster on one web page.

use std::fmt::Display;
use std::path::PathBuf;

use clap::ValueHint;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{Detail, Doc, Page, Part, Report};
use dra_model::{Cluster, Kind, Meta, Version, by_number};
use dra_reports::script::{Command, Script};
use dra_reports::{ClaimFilter, ClaimItem, Selection, UsageBy, UsageItem, claims, status, usage_by};
use dra_sources::Needs;
use dra_sources::destination::{Destination, Readers};

use super::convert::plan::Planned;
use super::devices::map::Picture;
use super::simulate::eviction;
use super::{Accepts, check, explain, judging, objects, places, presence, threads, usage};

pub(super) const ACCEPTS: Accepts = Accepts::NOTHING;

const EXAMPLES: &str = "\
Examples:
  # Save a web page about the cluster
  kubectl dra report --out cluster.html
  # Save a page about one namespace
  kubectl dra report -n training --out training.html
  # Make the page of a snapshot
  kubectl dra report --from cluster.json.zst --out cluster.html";

/// Write a web page about the cluster, in one file
///
/// Contains what `status`, `explain -A`, `check`, `devices --map`, `claims -A`, `simulate eviction` and `convert plan` print, and usage by
/// namespace and owner. Covers all namespaces by default. The page loads nothing, and can be searched and filtered: the address of a view
/// shows that view to others. It contains names and messages of the cluster. Changes nothing.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["html", "page", "web"])]
pub(crate) struct Args {
    /// File to write; default: standard output
    ///
    /// It is replaced as a whole. A new file is readable only by you.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,

    /// Release of the downgrade to plan [default: the previous one]
    #[arg(long, value_name = "VERSION")]
    to_version: Option<Version>,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { out, to_version } = args;
    let out = places::out(ctx, out.as_deref())?;
    let selection = objects::selection(ctx, objects::Default::All);
    let needs = Needs::everything().optionally(Kind::OF_RIGHTS);
    let needs = needs.at_least_in(selection.namespace.as_deref());
    let cluster = ctx.load(needs).await?;
    let mentions = presence::mentions(&selection, [Kind::ResourceClaim]);
    presence::demand_all(ctx, &cluster, &mentions).await?;
    let sections = Sections {
        ctx,
        cluster: &cluster,
        selection: &selection,
    };
    let mut parts = sections.status();
    parts.push(sections.pending());
    parts.push(sections.findings().await?);
    parts.push(sections.map());
    parts.push(sections.claims());
    parts.push(sections.evictions());
    parts.push(sections.downgrade(to_version));
    let page = ctx.web_page("kubectl dra report", &cluster, &parts);
    match &out {
        Destination::Stdout => ctx.printer().text(&page)?,
        Destination::File(file) => {
            file.write(Readers::AsBefore, |out| out.write_all(page.as_bytes()))?;
            ctx.printer().note(&format!("wrote {}", file.named().display()));
        }
    }
    Ok(Outcome::Done)
}

/// The sections of the page. Each is the report of a command, with as much work as the command alone may do.
struct Sections<'c> {
    ctx: &'c Ctx,
    cluster: &'c Cluster,
    selection: &'c Selection,
}

impl Sections<'_> {
    /// The cluster for the next section, whose work is shown.
    fn begin(&self, name: &str) -> Cluster {
        self.ctx.now_computing(name);
        judging::metered(self.cluster)
    }

    /// Status and usage. The latter has more groups, so it stands apart.
    fn status(&self) -> Vec<Part> {
        let cluster = self.begin("status");
        let now = self.ctx.now(&cluster);
        let mut status = status(
            &cluster,
            self.selection,
            UsageBy::Namespace,
            now,
            &threads::on_all,
        );
        self.ctx.warn_all(status.warnings.iter());
        let of_namespaces = status.usage.replace(Vec::new());
        let of_owners = usage_by(&cluster, self.selection, UsageBy::Owner);
        let command = Command::dra("status").same_objects();
        let by_owner = command.clone().option("--by", "owner");
        vec![
            Part::of("status", "Status", &status, all_of(command)),
            Part::with(
                "usage",
                "Usage",
                usage(of_namespaces, of_owners),
                all_of(by_owner),
            ),
        ]
    }

    fn pending(&self) -> Part {
        let cluster = self.begin("pending pods");
        let report = explain::pending(self.ctx, &cluster, self.selection.namespace.as_ref(), None);
        Part::of(
            "pending",
            "Pending",
            &report,
            all_of(self.of_all_namespaces("explain")),
        )
    }

    async fn findings(&self) -> anyhow::Result<Part> {
        let cluster = self.begin("findings");
        let report = check::now(self.ctx, cluster, self.selection.clone()).await?;
        let command = Command::dra("check").same_objects();
        Ok(Part::of("findings", "Findings", &report, all_of(command)))
    }

    fn map(&self) -> Part {
        let cluster = self.begin("device map");
        let picture = Picture::of(&cluster, self.selection.namespace.as_ref(), UsageBy::Namespace);
        let warnings = &picture.devices.warnings;
        self.ctx.warn_all(warnings.iter());
        let command = Command::dra("devices").arg("--map").same_objects();
        Part::of(
            "devices",
            "Devices",
            &picture,
            command.option("--output", "wide").done().ok(),
        )
    }

    fn claims(&self) -> Part {
        let cluster = self.begin("claims");
        let now = self.ctx.now(&cluster);
        let mut report = claims(&cluster, self.selection, &ClaimFilter::default(), false, now);
        self.ctx.warn_all(report.warnings.iter());
        // Those that nothing uses come first: there may be more claims than the page has room for.
        let order = |claim: &ClaimItem| {
            let Meta { namespace, name, .. } = &claim.claim().metadata;
            (claim.state().reserved, by_number(namespace), by_number(name))
        };
        report.items.sort_by_cached_key(order);
        let command = self.of_all_namespaces("claims");
        Part::of("claims", "Claims", &report, command.done().ok())
    }

    fn evictions(&self) -> Part {
        let cluster = self.begin("evictions");
        let report = eviction::current(self.ctx, &cluster, self.selection.namespace.as_ref());
        let command = Command::dra("simulate").arg("eviction").same_objects();
        or_why("evictions", "Evictions".to_owned(), report, all_of(command))
    }

    fn downgrade(&self, to: Option<Version>) -> Part {
        let cluster = self.begin("downgrade");
        let running = cluster.environment().emulated_minor;
        let to = to.unwrap_or(Version {
            major: 1,
            minor: running.saturating_sub(1),
            patch: 0,
        });
        let release = format!("{}.{}", to.major, to.minor);
        let command = Command::dra("convert").arg("plan").same_objects();
        let command = command.option("--to-version", &release);
        let title = format!("Downgrade to {release}");
        let plan = Planned::toward(self.ctx, &cluster, self.selection, to);
        or_why("downgrade", title, plan, all_of(command))
    }

    /// A command that is about the current namespace by default, for the namespaces of the page.
    fn of_all_namespaces(&self, verb: &'static str) -> Command {
        let command = Command::dra(verb).same_objects();
        match self.selection.namespace {
            Some(_) => command,
            None => command.arg("-A"),
        }
    }
}

/// The command that prints all of a section.
fn all_of(command: Command) -> Option<Script> {
    command.arg("--details").done().ok()
}

/// A section that shows a report, or why there is none.
fn or_why<R: Report, E: Display>(
    name: &'static str,
    title: String,
    report: Result<R, E>,
    more: Option<Script>,
) -> Part {
    match report {
        Ok(report) => Part::of(name, title, &report, more),
        Err(why) => {
            let mut doc = Doc::new();
            doc.text(why);
            Part::with(name, title, doc, more)
        }
    }
}

/// Usage by namespace and by owner.
fn usage(of_namespaces: Option<Vec<UsageItem>>, of_owners: Option<Vec<UsageItem>>) -> Doc {
    let page = Page::web(Detail::Normal);
    let mut doc = Doc::new();
    for (title, by, items) in [
        ("By namespace", UsageBy::Namespace, &of_namespaces),
        ("By owner", UsageBy::Owner, &of_owners),
    ] {
        usage::section(title, by, items.as_deref(), page, &mut doc);
    }
    doc
}
