//! `kubectl dra check`: what is wrong, what keeps a driver from being taken away, what a downgrade breaks.

pub(super) mod blocks;
mod export;
pub(super) mod page;
mod review;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{ValueEnum, ValueHint};
use serde::Serialize;

use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::{Column, Format, Page, Report, SortBy, SortError, Table, Tone, View, counted};
use dra_model::{Cluster, Environment, Gate, Kind, Version};
use dra_reports::Selection;
use dra_reports::conversion::{CONVERSION_NEEDS, DowngradeCost, RUNBOOK_NEEDS, planned};
use dra_reports::findings::{
    self, CheckRequest, Code, Counts, Finding, FindingList, Question, Severity, SuppressionList, Target,
    TargetError, Topic, UnknownCode, Upgrade,
};
use dra_reports::presence::{DRIVER_NEEDS, Mention};
use dra_reports::script::{Command, Script};
use dra_rules::reservation::conversion;
use dra_sources::{GateSetting, Needs, document_of};

use self::page::CodePage;
use super::fleet::{self, Answer, Asked as OfFleet, OfCluster};
use super::{Accepts, duration, objects, presence, threads};

pub(super) const ACCEPTS: Accepts = Accepts::FINDINGS.fleet();

const EXAMPLES: &str = "\
Examples:
  # Find problems in the cluster
  kubectl dra check
  # Explain a code, and how to fix it
  kubectl dra check --explain DRA014
  # Check whether a driver can be removed from a node
  kubectl dra check --driver gpu.example.com --node gpu-node-3
  # Find what an upgrade or downgrade would break
  kubectl dra check --to-version 1.36
  # Fail a pipeline on errors only, and report to a code scanner
  kubectl dra check --fail-on error -o sarif
  # Check several clusters
  kubectl dra check --context prod-a --context prod-b";

/// Find problems, and what an upgrade or downgrade would break
///
/// Checks all namespaces by default. Each finding has a stable code. A finding that involves several objects is confirmed by reading them
/// again; from files it stays `Possible`. Changes nothing: a fix is a command to run yourself, or an instruction.
///
/// Exit code 1: findings at or above the `--fail-on` severity. 4: no such findings, but some checks could not run.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["doctor", "lint", "audit", "validate", "findings"])]
pub(crate) struct Args {
    /// Explain a code such as `DRA001`; needs no cluster
    #[arg(long, value_name = "CODE", value_parser = code, conflicts_with_all = ["suppressions", "only", "skip", "driver", "node", "to_version", "disable_gate"])]
    explain: Option<Code>,

    /// Suppress the findings listed in this file
    ///
    /// Each entry needs a reason and an expiry date.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    suppressions: Option<String>,

    /// Minimum severity for exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY", default_value = "warning")]
    fail_on: FailOn,

    /// Run only these checks, by code or name
    ///
    /// Such as `DRA001` or `device-allocated-twice`.
    #[arg(long, value_name = "CODE", value_parser = code, value_delimiter = ',')]
    only: Vec<Code>,

    /// Skip these checks, by code or name
    #[arg(long, value_name = "CODE", value_parser = code, value_delimiter = ',')]
    skip: Vec<Code>,

    /// Time a claim may keep devices without a running pod
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration, conflicts_with_all = ["driver", "to_version", "disable_gate"])]
    idle: Duration,

    /// Check whether this driver can be uninstalled now
    #[arg(long, value_name = "DRIVER", value_parser = objects::driver_name(), conflicts_with_all = ["to_version", "disable_gate"])]
    driver: Option<String>,

    /// With `--driver`: check only this node
    #[arg(long, value_name = "NODE", value_parser = objects::node_name(), requires = "driver")]
    node: Option<String>,

    /// Check an upgrade or downgrade to this release
    #[arg(long, value_name = "VERSION")]
    to_version: Option<Version>,

    /// Check disabling this feature gate; can be repeated
    #[arg(long, value_name = "GATE", value_delimiter = ',')]
    disable_gate: Vec<String>,

    /// With `--to-version`: feature gates of that control plane
    ///
    /// Such as `DRADeviceTaintRules=true`.
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',', value_parser = gate, requires = "to_version")]
    target_feature_gates: Vec<GateSetting>,
}

/// The default of `--idle`.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// Minimum severity of a bad verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Devices or pods are unusable, or are lost
    Error,
    /// Works, but not as intended
    Warning,
    /// Any finding
    Info,
    /// No finding
    Never,
}

impl FailOn {
    /// Returns whether a finding of this severity makes the verdict bad.
    fn includes(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity == Severity::Error,
            Self::Warning => severity >= Severity::Warning,
            Self::Info => true,
            Self::Never => false,
        }
    }
}

/// Reads a code, also without its leading zeros, or the name of a finding.
fn code(text: &str) -> Result<Code, UnknownCode> {
    let lower = text.to_ascii_lowercase();
    let number = lower.strip_prefix("dra").unwrap_or(&lower).parse::<u16>();
    let whole = number.map(|number| format!("DRA{number:03}"));
    text.parse()
        .or_else(|unknown| whole.ok().and_then(|code| code.parse().ok()).ok_or(unknown))
}

/// One `NAME=true`.
fn gate(text: &str) -> Result<GateSetting, String> {
    let parts = text.split_once('=').and_then(|(name, value)| {
        let enabled = value.to_ascii_lowercase().parse().ok()?;
        let name = name.to_owned();
        Some(GateSetting { name, enabled })
    });
    parts.ok_or_else(|| "expected NAME=true or NAME=false".to_owned())
}

pub(super) const COLUMNS: &[Column<Finding>] = &[
    Column::new("SEVERITY", ".severity", |finding, cell| {
        cell.toned(tone(finding.severity), finding.severity);
    }),
    Column::new("CODE", ".code", |finding, cell| cell.text(finding.code)),
    Column::new("CERTAINTY", ".certainty", |finding, cell| {
        cell.text(finding.certainty);
    }),
    Column::new("OBJECT", ".object.name", |finding, cell| {
        cell.text(&finding.object);
    }),
    Column::new("MESSAGE", ".message", |finding, cell| cell.text(&finding.message)),
    Column::wide("NAME", ".name", |finding, cell| cell.text(finding.name)),
    Column::wide("STEP", ".order", |finding, cell| cell.option(finding.order)),
    Column::wide("FIX NOTE", ".fixNote", |finding, cell| {
        cell.option(finding.fix_note.as_deref());
    }),
    Column::wide("FIX", ".fix", |finding, cell| cell.option(finding.fix.as_ref())),
    Column::wide("LOOK", ".look", |finding, cell| {
        cell.option(finding.look.as_ref());
    }),
    Column::wide("DOCS", ".docs", |finding, cell| cell.text(&finding.docs)),
];

/// The findings, and what the command line makes of them.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(with = "FindingList")]
#[serde(transparent)]
pub(super) struct Checked {
    list: FindingList,
    #[serde(skip)]
    fail_on: FailOn,
    #[serde(skip)]
    verdict: String,
    /// Nothing was read again to be sure.
    #[serde(skip)]
    from_file: bool,
    /// In front of a downgrade: what it costs, and the command that prints its steps.
    #[serde(skip)]
    downgrade: Option<Downgrade>,
    /// The command that asks the same again.
    #[serde(skip)]
    again: Command,
}

/// Facts about a downgrade besides the findings.
#[derive(Debug)]
struct Downgrade {
    /// Nothing where not everything was read.
    cost: Option<DowngradeCost>,
    next: Script,
}

impl Downgrade {
    /// Returns what `question` leads to, where it has to do with reservations.
    fn of(cluster: &Cluster, request: &CheckRequest) -> Option<Self> {
        let Question::Downgrade(target) = &request.question else {
            return None;
        };
        let target = target.of_conversion()?;
        let options = conversion::Options {
            target: Some(target),
            ..conversion::Options::default()
        };
        let plan = planned(cluster, &request.selection, &options);
        let command = Command::dra("convert").arg("plan").same_objects();
        let command = match target {
            conversion::Target::Minor(minor) => command.option("--to-version", &format!("1.{minor}")),
            conversion::Target::GateOff(gate) => command.option("--disable-gate", gate.name()),
        };
        Some(Self {
            cost: DowngradeCost::of(cluster, &plan, target),
            next: command.done().ok()?,
        })
    }
}

impl Report for Checked {
    const KIND: &'static str = "FindingList";

    fn view(&self, page: Page) -> View {
        if page.is_for_people() {
            blocks::of(self, page).into()
        } else {
            Table::new(COLUMNS, page.detail(), &self.list.items).into()
        }
    }

    fn export(&self, format: Format) -> Option<String> {
        Some(match format {
            Format::Sarif => export::sarif(self),
            Format::Junit => export::junit(self),
            Format::Github => export::github(self),
            Format::Markdown => export::markdown(self),
            _ => return None,
        })
    }

    fn names(&self) -> Vec<String> {
        let mut told = BTreeSet::new();
        self.list
            .items
            .iter()
            .map(|finding| &finding.object)
            .filter(|object| told.insert((object.kind, &object.namespace, &object.name)))
            .map(ToString::to_string)
            .collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.list.items, COLUMNS)
    }
}

pub(super) fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Notice,
        Severity::Info => Tone::Plain,
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    if let Some(code) = args.explain {
        return ctx.answer(CodePage::of(code), Outcome::Done);
    }
    ctx.printer().hold_warnings();
    let suppressions = args.suppressions.as_deref().map(document_of).transpose();
    let suppressions = suppressions.context("`--suppressions` needs a list of suppressions")?;
    fleet::run(ctx, (args, suppressions.map(Arc::new)), answer).await
}

async fn answer(
    ctx: &Ctx,
    (args, suppressions): (Args, Option<Arc<SuppressionList>>),
) -> anyhow::Result<Answer<Checked>> {
    let selection = objects::selection(ctx, objects::Default::All);
    let codes = args.codes()?;
    let gates = args.gates()?;
    let mut needs: BTreeSet<_> = codes
        .iter()
        .flat_map(|code| code.facts().needs.iter().chain(code.needed_for_fix()))
        .copied()
        .collect();
    if args.node.is_some() {
        needs.insert(Kind::Node);
    }
    if args.driver.is_some() {
        needs.extend(DRIVER_NEEDS);
    }
    // On a terminal, what it costs comes before the findings.
    let tells_cost = args.is_about_whole_downgrade(&codes) && ctx.printer().has_screen();
    if tells_cost {
        needs.extend(CONVERSION_NEEDS.into_iter().chain(RUNBOOK_NEEDS));
    }
    // No argument of the command names roles and bindings.
    let read: BTreeSet<Kind> = needs
        .iter()
        .filter(|kind| !Kind::OF_RIGHTS.contains(kind))
        .copied()
        .collect();
    let needs = to_read(needs, &codes, &selection);
    let cluster = ctx.load(needs).await?;
    let mut mentions = presence::mentions(&selection, read);
    let driver = args.driver.as_deref();
    mentions.extend(driver.map(|driver| Mention::Driver(driver.into())));
    mentions.extend(presence::scoped(Kind::Node, args.node.as_deref()));
    let nothing = presence::demand(ctx, &cluster, &mentions).await?;
    // No findings about what is not there reassure falsely, whether or not that is an error.
    let unseen: Vec<String> = mentions
        .iter()
        .filter(|mention| matches!(mention, Mention::Driver(_) | Mention::Labels(..)))
        .filter(|mention| !presence::is_there(&cluster, mention))
        .map(ToString::to_string)
        .collect();
    let mut cluster = cluster;
    if ctx.is_live() {
        review::ask(ctx, &mut cluster, &codes).await?;
    }
    let question = args.question(gates, &cluster)?;
    let codes = of_topic(codes, question.topic())?;
    let request = CheckRequest {
        question,
        codes,
        selection,
        now: ctx.now(&cluster),
        idle: args.idle,
        in_part: false,
    }
    .told_of(&cluster, &args.only);
    let mut report = findings::check_by(&cluster, &request, &threads::on_all);
    let downgrade = tells_cost.then(|| Downgrade::of(&cluster, &request)).flatten();
    if ctx.is_live() {
        report = confirm(ctx, cluster, &request, report).await?;
    }
    report.unknown.extend(nothing);
    if let Some(list) = &suppressions {
        report.suppress(&list.items, ctx.begun(), request.is_about_all());
        ctx.warn_all(report.stale_suppressions.iter().map(|stale| stale.text()));
    }
    warn(ctx, &report);
    let is_bad = |finding: &Finding| args.fail_on.includes(finding.severity);
    let outcome = Outcome::of(report.items.iter().any(is_bad), !report.unknown.is_empty());
    let verdict = verdict(&report, &request, &unseen);
    let doubt = incomplete(&report);
    // On a terminal it is the first line of the report.
    let is_told = ctx.printer().has_screen();
    let pending = pending(&report).map_or_else(String::new, |(number, _)| format!("; {number} pending"));
    Ok(Answer {
        outcome,
        note: (!is_told).then(|| format!("{verdict}{doubt}{pending}")),
        report: Checked {
            list: report,
            fail_on: args.fail_on,
            verdict,
            from_file: !ctx.is_live(),
            downgrade,
            again: again(&args),
        },
    })
}

impl OfCluster for Checked {
    const CLUSTERS: &'static [Column<OfFleet<Self>, Page>] = &[
        OfFleet::CLUSTER,
        Column::inner("RESULT", |asked, cell| {
            asked.result(cell, |checked| {
                format!("{}{}", checked.verdict, incomplete(&checked.list))
            });
        }),
    ];
    const HAS_BLOCKS: bool = true;
}

/// What the command says of the cluster now, without flags.
pub(super) async fn now(ctx: &Ctx, mut cluster: Cluster, selection: Selection) -> anyhow::Result<Checked> {
    let is_live = ctx.is_live();
    if is_live {
        let codes = CheckRequest::now(ctx.now(&cluster)).codes;
        review::ask(ctx, &mut cluster, &codes).await?;
    }
    let (request, mut list) = looked_at(ctx, &cluster, selection);
    if is_live {
        list = confirm(ctx, cluster, &request, list).await?;
    }
    warn(ctx, &list);
    Ok(Checked {
        verdict: verdict(&list, &request, &[]),
        list,
        fail_on: FailOn::Warning,
        from_file: !is_live,
        downgrade: None,
        again: Command::dra("check").same_objects(),
    })
}

/// The findings of `cluster` without flags, as it was read.
pub(super) fn looked_at(ctx: &Ctx, cluster: &Cluster, selection: Selection) -> (CheckRequest, FindingList) {
    let request = CheckRequest {
        selection,
        ..CheckRequest::now(ctx.now(cluster))
    };
    let request = request.told_of(cluster, &[]);
    let list = findings::check_by(cluster, &request, &threads::on_all);
    (request, list)
}

/// Reports checks that could not run.
fn warn(ctx: &Ctx, report: &FindingList) {
    for unknown in &report.unknown {
        ctx.warn(format!("unknown: {unknown}"));
    }
    ctx.warn_all(report.warnings.iter());
}

/// The command that asks the question of `args` again, about all codes.
fn again(args: &Args) -> Command {
    let mut command = Command::dra("check").same_objects();
    if let Some(version) = &args.to_version {
        command = command.option("--to-version", &version.to_string());
    }
    for gate in &args.disable_gate {
        command = command.option("--disable-gate", gate);
    }
    for gate in &args.target_feature_gates {
        command = command.option(
            "--target-feature-gates",
            &format!("{}={}", gate.name, gate.enabled),
        );
    }
    let options = [
        ("--driver", &args.driver),
        ("--node", &args.node),
        ("--suppressions", &args.suppressions),
    ];
    for (flag, value) in options {
        command = value
            .iter()
            .fold(command, |command, value| command.option(flag, value));
    }
    if args.idle == IDLE {
        command
    } else {
        command.option("--idle", &format!("{}s", args.idle.as_secs()))
    }
}

/// Those of `codes` that answer the question.
fn of_topic(mut codes: BTreeSet<Code>, topic: Topic) -> Result<BTreeSet<Code>, UsageError> {
    codes.retain(|code| code.facts().topic == topic);
    if codes.is_empty() {
        let way = if topic == Topic::Upgrade {
            "a newer release, but the checks in `--only` apply to an older one"
        } else {
            "an older release, but the checks in `--only` apply to a newer one"
        };
        return Err(UsageError::new(format!("`--to-version` is {way}")));
    }
    Ok(codes)
}

/// Returns what has to be read of `kinds`: claims, and who uses them, of all namespaces where devices are looked at, other objects only where the
/// selection looks.
fn to_read(mut kinds: BTreeSet<Kind>, codes: &BTreeSet<Code>, selection: &Selection) -> Needs {
    let everywhere = codes.iter().any(|code| code.is_about_devices());
    let of_rights = kinds.len();
    kinds.retain(|kind| !Kind::OF_RIGHTS.contains(kind));
    let is_about_rights = kinds.len() < of_rights;
    let of_devices = [Kind::ResourceClaim, Kind::Pod, Kind::PodGroup];
    let of_devices: Vec<Kind> = of_devices
        .into_iter()
        .filter(|kind| everywhere && kinds.remove(kind))
        .collect();
    let mut needs = objects::needs(kinds, selection);
    if everywhere {
        needs = of_devices.into_iter().fold(needs, Needs::and);
        needs = needs.at_least_in(selection.namespace.as_deref());
    }
    let needs = needs.with_gates().pods_after_claims();
    if is_about_rights {
        needs.optionally(Kind::OF_RIGHTS)
    } else {
        needs
    }
}

/// Reads again what findings rest on that join several kinds, and looks again.
pub(super) async fn confirm(
    ctx: &Ctx,
    mut cluster: Cluster,
    request: &CheckRequest,
    report: FindingList,
) -> anyhow::Result<FindingList> {
    let objects = findings::evidence(&report.items);
    if objects.is_empty() {
        return Ok(report);
    }
    let unread = ctx.read_again(&mut cluster, objects).await?;
    Ok(findings::confirmed(
        findings::check_by(&cluster, request, &threads::on_all),
        &report,
        &unread,
    ))
}

/// Feature gates that are disabled, and those of the control plane after a downgrade or an upgrade.
type Gates = (Vec<Gate>, Vec<(Gate, bool)>);

impl Args {
    /// Returns whether every finding of a downgrade is asked for.
    fn is_about_whole_downgrade(&self, codes: &BTreeSet<Code>) -> bool {
        let is_downgrade = self.to_version.is_some() || !self.disable_gate.is_empty();
        let mut all = Code::all().filter(|code| code.facts().topic == Topic::Downgrade);
        is_downgrade && all.all(|code| codes.contains(&code))
    }

    /// The codes that are asked for.
    fn codes(&self) -> Result<BTreeSet<Code>, UsageError> {
        // Whether it goes up or down shows once the release that runs is known.
        let topics: &[Topic] = if self.driver.is_some() {
            &[Topic::Driver]
        } else if !self.disable_gate.is_empty() {
            &[Topic::Downgrade]
        } else if self.to_version.is_some() {
            &[Topic::Downgrade, Topic::Upgrade]
        } else {
            &[Topic::Now]
        };
        for code in self.only.iter().chain(&self.skip) {
            if !topics.contains(&code.facts().topic) {
                let (when, flags) = asks(code.facts().topic);
                let only = Command::dra("check").option("--only", code.facts().code).done();
                let only = only.map(|only| only.to_string()).unwrap_or_default();
                return Err(
                    UsageError::new(format!("{code} is checked only {when}")).hint(format!("{only}{flags}"))
                );
            }
        }
        let codes: BTreeSet<Code> = Code::all()
            .filter(|code| topics.contains(&code.facts().topic))
            .filter(|code| self.only.is_empty() || self.only.contains(code))
            .filter(|code| !self.skip.contains(code))
            .collect();
        if codes.is_empty() {
            return Err(UsageError::new("`--only` and `--skip` exclude every check"));
        }
        Ok(codes)
    }

    fn gates(&self) -> Result<Gates, UsageError> {
        let disabled = self.disable_gate.iter().map(|name| known_gate(name));
        let target = self.target_feature_gates.iter();
        let target = target.map(|setting| Ok((known_gate(&setting.name)?, setting.enabled)));
        Ok((
            disabled.collect::<Result<_, _>>()?,
            target.collect::<Result<_, UsageError>>()?,
        ))
    }

    fn question(&self, (disabled, target): Gates, cluster: &Cluster) -> Result<Question, UsageError> {
        if let Some(driver) = &self.driver {
            return Ok(Question::Driver {
                driver: driver.as_str().into(),
                node: self.node.as_deref().map(Into::into),
            });
        }
        if self.to_version.is_none() && disabled.is_empty() {
            return Ok(Question::Now);
        }
        let environment = cluster.environment();
        let to = self.to_version.map(minor).transpose()?;
        if let Some(minor) = to.filter(|minor| *minor >= environment.emulated_minor && disabled.is_empty()) {
            let upgrade = Upgrade::new(environment, minor, target);
            return upgrade
                .map(Question::Upgrade)
                .map_err(|error| no_target(environment, &error.to_string(), None));
        }
        Target::new(environment, to, disabled, target)
            .map(Question::Downgrade)
            .map_err(|error| match error {
                TargetError::Locked { .. } => UsageError::new(format!("`--disable-gate`: {error}")),
                _ => no_target(environment, &error.to_string(), error.hint()),
            })
    }
}

/// The minor release of `--to-version`.
pub(super) fn minor(version: Version) -> Result<u32, UsageError> {
    match version.major {
        1 => Ok(version.minor),
        _ => Err(UsageError::new(format!("unknown Kubernetes release {version}"))),
    }
}

/// The error of a `--to-version` that nothing leads to from a cluster with this environment, whose own release may be assumed.
pub(super) fn no_target(environment: &Environment, error: &str, hint: Option<String>) -> UsageError {
    let usage = UsageError::new(format!("`--to-version`: {error}"));
    match hint {
        Some(hint) => usage.hint(hint),
        None if environment.git_version.is_none() => {
            usage.hint("set the current release with `--kubernetes-version`")
        }
        None => usage,
    }
}

/// When a topic is checked, and the flags for it.
fn asks(topic: Topic) -> (&'static str, &'static str) {
    match topic {
        Topic::Now => ("without `--driver`, `--to-version` and `--disable-gate`", ""),
        Topic::Driver => ("with `--driver`", " --driver DRIVER"),
        Topic::Downgrade => (
            "with an older `--to-version`, or with `--disable-gate`",
            " --to-version VERSION",
        ),
        Topic::Upgrade => ("with a newer `--to-version`", " --to-version VERSION"),
    }
}

fn known_gate(name: &str) -> Result<Gate, UsageError> {
    Gate::find(name).ok_or_else(|| UsageError::new(format!("`{name}` is not a feature gate for DRA")))
}

/// Returns how many checks lacked objects, as the end of a verdict.
fn incomplete(report: &FindingList) -> String {
    let seen = &report.checked;
    match seen.incomplete.len() {
        _ if report.unknown.is_empty() || seen.is_nothing() => String::new(),
        0 => "; some checks were incomplete".to_owned(),
        incomplete => format!(
            "; {incomplete} of {} were incomplete",
            counted(seen.codes.len(), "check", "checks")
        ),
    }
}

/// The pods with claims that are pending, counted, and the command that explains them.
fn pending(report: &FindingList) -> Option<(String, Script)> {
    let number = counted(
        report.checked.pending_pods?,
        "pod with claims is",
        "pods with claims are",
    );
    Some((number, Command::dra("explain").arg("-A").here().done().ok()?))
}

/// Returns what the report comes to, with what it covers. Nothing of `unseen` was found.
fn verdict(report: &FindingList, request: &CheckRequest, unseen: &[String]) -> String {
    let place = match &request.selection.namespace {
        Some(namespace) => format!("namespace `{namespace}`"),
        None => "all namespaces".to_owned(),
    };
    let about = match &request.question {
        Question::Now => String::new(),
        Question::Driver { driver, node } => {
            let node = node.as_ref().map(|node| format!(" on node `{node}`"));
            format!(" before removing driver `{driver}`{}", node.unwrap_or_default())
        }
        Question::Downgrade(target) => {
            let version = report
                .scope
                .to_version
                .as_ref()
                .map(|_| format!(" before a downgrade to {}", target.version()));
            let gates: Vec<_> = target.disabled().map(Gate::name).collect();
            let without = if gates.is_empty() {
                String::new()
            } else {
                format!(
                    " {} {}",
                    if version.is_some() {
                        "without"
                    } else {
                        "before disabling"
                    },
                    gates.join(", ")
                )
            };
            format!("{}{without}", version.unwrap_or_default())
        }
        Question::Upgrade(upgrade) => match upgrade.path().as_slice() {
            [_] => format!(" before an upgrade to {}", upgrade.version()),
            path => format!(
                " before an upgrade to {} via {}",
                upgrade.version(),
                path[..path.len() - 1].join(", ")
            ),
        },
    };
    let Counts {
        errors: 0,
        warnings: 0,
        infos: 0,
    } = report.counts
    else {
        return format!("{} in {place}{about}", super::words_of(&report.counts));
    };
    if unseen.is_empty() && report.checked.is_nothing() {
        let checks = report.checked.codes.len();
        format!("Nothing checked in {place}{about}: none of {checks} checks could run")
    } else if unseen.is_empty() {
        format!("No findings in {place}{about}")
    } else {
        format!("Nothing checked in {place}: {} not found", unseen.join(", "))
    }
}
