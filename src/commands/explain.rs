//! `kubectl dra explain`: why something does not get its devices, and what would help.

mod emit;
mod list;
mod room;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::ValueHint;
use serde::Serialize;

use self::target::Wanted;
use super::objects::{Found, Named};
use super::{Accepts, judging, presence, shown, threads};
use crate::context::{Ctx, SourceSetting};
use crate::error::{Outcome, Unread, UsageError};
use crate::inspect::allocation::Settings;
use crate::inspect::explanation::{
    ClusterVerdict, DeviceCount, EXPLAIN_NEEDS, Explanation, FilterCount, FixItem, GetsItem, Helps,
    NodeExplanation, NodeGroup, RISKY, Reason, explain_claims, explain_new_pods, explain_pod, rests_on,
    unjudged,
};
use crate::inspect::presence::Mention;
use crate::inspect::{CauseItem, RoomVerdict, explain_all, node_room};
use crate::model::{Cluster, Key, Kind, Object, Str};
use crate::output::{Column, Detail, Layout, Report, Screen, Span, Table, Tone, View, span};
use crate::script::{Command, NoCommand, Script, Then};
use crate::sources::Needs;

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # Why a pod waits, and what would help
  kubectl dra explain pod/trainer-0 -n training
  # Carry out the first thing that would help
  kubectl dra explain pod/trainer-0 --emit-fix 1 | kubectl replace --force -f -
  # All that waits, by its cause
  kubectl dra explain -A
  # What could still be scheduled on a node
  kubectl dra explain node/gpu-node-1
  # Why a claim gets no devices
  kubectl dra explain claim/training/big
  # Would the pods of a manifest fit, and if not, why
  kubectl dra explain -f deployment.yaml";

/// Explain why a pod or claim gets no devices, and what would help
///
/// Without an OBJECT everything is explained that waits in the namespace, or with `-A` in all: pods by their cause, with what helps one
/// of them. Of a node it is told what could still be scheduled there.
///
/// Counts nodes under the first filter of the scheduler that rejects them, tells for each node and request which devices are ruled
/// out by what, and looks for the smallest changes after which it would fit. Each such change is tried on a copy of the cluster's
/// state; nothing is changed. Where objects may not be read, what is unknown is named. With `-f` manifests are explained that need not
/// exist. Of several pods, such as the replicas of a Deployment, the first is explained that does not fit once those before it are placed.
///
/// Exit code 0: it fits, or has its node or its devices, nothing waits, or the node has room. 1: it does not fit, the scheduler fails, or the
/// kubelet refuses it, something waits, or the node has no room. 4: not known, or a component of the cluster says otherwise.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// `pod/NAME`, `claim/NAME`, `node/NAME`, or a NAME alone
    ///
    /// With the namespace `pod/NAMESPACE/NAME`; also `pod NAME`. A NAME alone is a pod if there is one, and else a claim. Of a node it is
    /// told what could still be scheduled there. Without it all that waits is explained.
    #[arg(value_name = "KIND/NAME", num_args = 0..=2)]
    target: Vec<String>,

    /// Explain the pods and workloads, or claims, of this file
    ///
    /// May be repeated, `-` is standard input.
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<String>,

    /// Print what this fix makes again, for `kubectl replace`
    ///
    /// Manifests instead of the report, for `kubectl replace --force -f -`.
    #[arg(long, value_name = "NUMBER", conflicts_with = "files")]
    emit_fix: Option<usize>,

    /// Steps that all searches may take together
    #[arg(long, value_name = "STEPS")]
    budget: Option<u64>,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {
        target,
        files,
        emit_fix,
        budget,
    } = args;
    ctx.printer().hold_warnings();
    let target = Wanted::of(ctx, &target, !files.is_empty())?;
    if emit_fix.is_some() && matches!(target, Wanted::Everything(_) | Wanted::Node(_)) {
        let error = UsageError::new("`--emit-fix` needs a pod or a claim");
        return Err(error.hint("write `pod/NAME` or `claim/NAME` before it").into());
    }
    let needs = Needs::kinds(EXPLAIN_NEEDS)
        .with_gates()
        .with_schedulers()
        .pods_after_claims();
    let mut cluster = ctx.load(needs.at_least_in(&target.namespace(ctx))).await?;
    let manifest = judging::add_manifests(ctx, &mut cluster, &files).await?;
    let budget = judging::budget(budget);
    let settings = Settings {
        nodes: Vec::new(),
        now: ctx.now(&cluster),
        budget: &budget,
        observer: &judging::counting(ctx),
        run: &threads::each_node,
    };
    let report = match target {
        Wanted::Everything(namespace) => return everything(ctx, &cluster, namespace, &settings).await,
        Wanted::Node(name) => return room_of(ctx, &cluster, &name, &settings).await,
        Wanted::Manifest => of_manifest(&mut cluster, &manifest, &settings)?,
        Wanted::Named(named) => of_named(ctx, &mut cluster, &named, &settings).await?,
        Wanted::Name(key) => {
            let named = target::taken(ctx, &cluster, key).await?;
            of_named(ctx, &mut cluster, &named, &settings).await?
        }
    };
    if let Some(number) = emit_fix {
        emit::fix(ctx, &report, number).await?;
        return Ok(Outcome::Done);
    }
    for missing in &report.unknown {
        ctx.warn(missing.as_str());
    }
    if report.verdict == ClusterVerdict::Unknown && report.lacks_objects() {
        tell_role(ctx);
    }
    let outcome = match report.verdict {
        ClusterVerdict::Fits | ClusterVerdict::Bound | ClusterVerdict::Allocated | ClusterVerdict::Ended => {
            Outcome::Done
        }
        ClusterVerdict::Waits
        | ClusterVerdict::DoesNotFit
        | ClusterVerdict::Broken
        | ClusterVerdict::Error => Outcome::Findings,
        ClusterVerdict::GaveUp | ClusterVerdict::Unknown => Outcome::Unknown,
    };
    // With manifests the cluster may not have what waits.
    let is_live = manifest.is_empty() && matches!(ctx.settings().source, SourceSetting::Cluster(_));
    ctx.print(Explained { report, is_live })?;
    Ok(outcome)
}

/// Everything that waits.
async fn everything(
    ctx: &Ctx,
    cluster: &Cluster,
    namespace: Option<Str>,
    settings: &Settings<'_>,
) -> anyhow::Result<Outcome> {
    if let Some(namespace) = presence::namespace(ctx) {
        presence::demand_all(ctx, cluster, &[Mention::Namespace(namespace)]).await?;
    }
    let report = explain_all(cluster, namespace.as_ref(), settings);
    for missing in &report.unknown {
        ctx.warn(missing.as_str());
    }
    let outcome = match (report.has_waiting(), report.is_incomplete()) {
        (true, _) => Outcome::Findings,
        (false, true) => Outcome::Unknown,
        (false, false) => Outcome::Done,
    };
    let is_unknown = report.items.iter().any(CauseItem::is_unknown);
    if is_unknown && !cluster.environment().gaps.is_empty() {
        tell_role(ctx);
    }
    ctx.print(report)?;
    Ok(outcome)
}

/// What could still be scheduled on a node.
async fn room_of(
    ctx: &Ctx,
    cluster: &Cluster,
    name: &Str,
    settings: &Settings<'_>,
) -> anyhow::Result<Outcome> {
    let Some(node) = cluster.node(name) else {
        let mention = Mention::Object(Kind::Node, Key::new("", name.clone()));
        return Err(presence::not_found(ctx, cluster, &mention).await);
    };
    let report = node_room(cluster, node, settings);
    report.warnings.iter().for_each(|warning| ctx.warn(warning));
    for missing in &report.unknown {
        ctx.warn(missing.as_str());
    }
    let outcome = match report.verdict {
        RoomVerdict::Room => Outcome::Done,
        RoomVerdict::Full | RoomVerdict::Closed => Outcome::Findings,
        RoomVerdict::Unknown => Outcome::Unknown,
    };
    ctx.print(report)?;
    Ok(outcome)
}

/// The pod or the claim that is named, or what is missing to explain it.
async fn of_named(
    ctx: &Ctx,
    cluster: &mut Cluster,
    named: &Named,
    settings: &Settings<'_>,
) -> anyhow::Result<Explanation> {
    match existing(ctx, cluster, named, settings).await {
        Err(error) if error.is::<Unread>() => Ok(unjudged(named.target(), &error.to_string())),
        explained => explained,
    }
}

async fn existing(
    ctx: &Ctx,
    cluster: &mut Cluster,
    named: &Named,
    settings: &Settings<'_>,
) -> anyhow::Result<Explanation> {
    let report = match named.find(ctx, cluster).await? {
        Found::Pod(pod) => explain_pod(cluster, pod, settings),
        Found::Claim(claim) => explain_claims(cluster, &[Arc::clone(claim)], settings),
    };
    confirm(ctx, cluster, report, settings).await
}

/// Explains a pod that cannot start once more, with itself and its claims read again: claims are listed before pods, and one that got its
/// devices and its node in between only seems to have no devices.
async fn confirm(
    ctx: &Ctx,
    cluster: &mut Cluster,
    report: Explanation,
    settings: &Settings<'_>,
) -> anyhow::Result<Explanation> {
    let is_live = matches!(ctx.settings().source, SourceSetting::Cluster(_));
    let key = Key::new(report.target.namespace.clone(), report.target.name.clone());
    let pod = cluster.pod(&key).filter(|_| report.target.kind == "Pod");
    let Some(pod) = pod.filter(|_| is_live && report.verdict == ClusterVerdict::Broken) else {
        return Ok(report);
    };
    let objects = rests_on(pod);
    let unread = ctx.read_again(cluster, objects).await?;
    Ok(match cluster.pod(&key) {
        Some(pod) if unread.is_empty() => explain_pod(cluster, pod, settings),
        _ => report,
    })
}

/// The pods of a manifest, or else its claims.
fn of_manifest(
    cluster: &mut Cluster,
    manifest: &[Object],
    settings: &Settings<'_>,
) -> anyhow::Result<Explanation> {
    let pods = manifest.iter().filter_map(|object| match object {
        Object::Pod(pod) => Some(Arc::clone(pod)),
        _ => None,
    });
    if let Some(explained) = explain_new_pods(cluster, &pods.collect::<Vec<_>>(), settings) {
        return Ok(explained);
    }
    let claims: Vec<_> = manifest
        .iter()
        .filter_map(|object| match object {
            Object::ResourceClaim(claim) => Some(Arc::clone(claim)),
            _ => None,
        })
        .collect();
    if claims.is_empty() {
        return Err(UsageError::new("the manifest has neither a pod nor claims").into());
    }
    Ok(explain_claims(cluster, &claims, settings))
}

/// Says which rights would show what is not known.
fn tell_role(ctx: &Ctx) {
    if !ctx.printer().options().quiet {
        ctx.printer().note(&format!("{ROLE_INTRO}\n{ROLE}"));
    }
}

const ROLE_INTRO: &str =
    "to see all that decides, have the administrator of the cluster create this role and bind it to you:";

/// What it takes to read all that decides about devices, on top of the built-in `view`.
const ROLE: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubectl-dra-viewer
rules:
- apiGroups: [resource.k8s.io]
  resources: [deviceclasses, resourceslices, devicetaintrules, resourceclaims, resourceclaimtemplates]
  verbs: [get, list, watch]
- apiGroups: [scheduling.k8s.io]
  resources: [podgroups, workloads, compositepodgroups]
  verbs: [get, list, watch]
- apiGroups: [\"\"]
  resources: [nodes, pods, namespaces, events, resourcequotas]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch]";

const FILTERS: &[Column<FilterCount>] = &[
    Column::inner("FILTER", |filter, cell| cell.text(filter.plugin)),
    Column::inner("NODES", |filter, cell| cell.text(filter.nodes)),
    Column::inner("MESSAGES", |filter, cell| cell.text(filter.messages.join(", "))),
];

const REASONS: &[Column<Summary>] = &[
    Column::inner("REQUEST", |summary, cell| cell.text(&summary.request)),
    Column::inner("CODE", |summary, cell| cell.text(summary.code)),
    Column::inner("DEVICES", |summary, cell| cell.text(&summary.devices)),
    Column::inner("REASON", |summary, cell| cell.text(&summary.message)),
];

/// Nodes with different reasons that are told one by one unless `-o wide` asks for all.
const TOLD: usize = 5;

/// Devices of one reason that are named before the rest is counted.
const NAMED: usize = 3;

/// An explanation, and whether the cluster is there that it is of.
#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    report: Explanation,
    /// Whether `--emit-fix` can write what a fix makes again.
    #[serde(skip)]
    is_live: bool,
}

impl Report for Explained {
    const KIND: &'static str = "Explanation";

    fn screen(&self, screen: Screen) -> View {
        self.report.on(screen, self.is_live).into()
    }

    fn view(&self, detail: Detail) -> View {
        self.report.layout(detail).into()
    }
}

impl Explanation {
    fn on(&self, screen: Screen, is_live: bool) -> Layout {
        let mut layout = Layout::new();
        headline(self, screen, &mut layout);
        if !self.node_groups.is_empty() && !self.tells_all_of_nodes() {
            groups(&self.node_groups, &mut layout);
        }
        if let Some(waiting) = &self.waiting {
            layout.line(0, []);
            let text = first_upper(&waiting.summary);
            layout.line(2, [span(self.tone_of_waiting(), text)]);
        }
        let mut more = Vec::new();
        let told = self.cause.as_ref().unwrap_or(&self.summary);
        let reasons = self
            .reasons
            .iter()
            .filter(|reason| !told.ends_with(&reason.message));
        more.extend(reasons.map(|reason| ("Reason", reason.message.as_str())));
        if let Some(holds) = &self.holds {
            more.extend(holds.devices.iter().map(|device| ("Holds", device.as_str())));
            more.extend(holds.consumers.iter().map(|consumer| ("For", consumer.as_str())));
        }
        more.extend(self.message.iter().map(|text| ("Scheduler", text.as_str())));
        more.extend(self.news().map(|text| ("Event", text.as_str())));
        more.extend(self.unknown.iter().map(|text| ("Unknown", text.as_str())));
        more.extend(self.notes.iter().map(|text| ("Note", text.as_str())));
        let not_simulated = self.not_simulated.join(", ");
        if !not_simulated.is_empty() {
            more.push(("Not simulated", &not_simulated));
        }
        if !more.is_empty() {
            layout.line(0, []);
        }
        for (key, text) in more {
            layout.line(2, [span(Tone::Strong, format!("{key}: ")), plain(text)]);
        }
        short_fixes(self, is_live, screen, &mut layout);
        layout
    }

    fn layout(&self, detail: Detail) -> Layout {
        let mut layout = Layout::new();
        layout.field("Object", self.object());
        layout.toned(
            "Verdict",
            self.tone(),
            format!("{:?}: {}", self.verdict, self.summary),
        );
        if let Some(cause) = self.cause.as_ref().filter(|cause| !self.summary.contains(*cause)) {
            layout.field("Cause", cause);
        }
        if let Some(message) = &self.message {
            layout.field("Scheduler", message);
        }
        if let Some(waiting) = &self.waiting {
            layout.field("Waiting", first_upper(&waiting.summary));
        }
        if !self.unknown.is_empty() {
            layout.list("Unknown", &self.unknown);
        }
        if !self.reasons.is_empty() {
            layout.list(
                "Reasons",
                self.reasons
                    .iter()
                    .map(|reason| format!("{}: {}", reason.code, reason.message)),
            );
        }
        if let Some(holds) = &self.holds {
            layout.list("Holds", &holds.devices);
            layout.list("For", &holds.consumers);
        }
        if !self.not_simulated.is_empty() {
            layout.field("Not Simulated", self.not_simulated.join(", "));
        }
        if !self.notes.is_empty() {
            layout.list("Note", &self.notes);
        }
        let events: Vec<&String> = self.news().collect();
        if !events.is_empty() {
            layout.list("Events", events);
        }
        // What has its devices needs no node for them.
        let is_held = self.verdict == ClusterVerdict::Allocated;
        if !self.filters.is_empty() && !is_held {
            layout.section("Filters", |section| {
                section.table(Table::new(FILTERS, detail, &self.filters));
            });
        }
        if !is_held {
            nodes(&mut layout, &self.nodes, detail);
        }
        if !self.fixes.is_empty() {
            layout.section("What Would Help", |section| fixes(section, &self.fixes));
        }
        layout
    }

    fn object(&self) -> String {
        let kind = if self.target.kind == "Pod" { "pod" } else { "claim" };
        format!("{kind}/{}/{}", self.target.namespace, self.target.name)
    }

    fn tone(&self) -> Tone {
        match self.verdict {
            ClusterVerdict::Fits | ClusterVerdict::Bound | ClusterVerdict::Allocated => Tone::Good,
            ClusterVerdict::DoesNotFit | ClusterVerdict::Broken | ClusterVerdict::Error => Tone::Bad,
            _ => Tone::Notice,
        }
    }

    fn tone_of_waiting(&self) -> Tone {
        match self.waiting.as_ref().map(|waiting| waiting.helps) {
            Some(Helps::WhenOneEnds | Helps::WhenEnd | Helps::WhenUntainted) => Tone::Good,
            Some(Helps::Never) => Tone::Bad,
            Some(Helps::Unknown) | None => Tone::Plain,
        }
    }

    /// The events that do not only repeat what the scheduler says now.
    fn news(&self) -> impl Iterator<Item = &String> {
        let said = self.message.as_deref().unwrap_or_default();
        let is_news = move |event: &&String| said.is_empty() || !event.ends_with(said);
        self.events.iter().filter(is_news)
    }

    /// Whether the first line says already what holds for all nodes.
    fn tells_all_of_nodes(&self) -> bool {
        match self.node_groups.as_slice() {
            [only] => only.devices.is_empty() && only.reason == self.cause,
            _ => false,
        }
    }
}

/// The sentence with a capital letter.
fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next();
    first
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(characters)
        .collect()
}

fn plain(text: impl std::fmt::Display) -> Span {
    span(Tone::Plain, text)
}

/// Object, verdict and cause in a sentence.
fn headline(report: &Explanation, screen: Screen, layout: &mut Layout) {
    let tone = report.tone();
    let text = match (report.verdict, &report.cause) {
        (ClusterVerdict::DoesNotFit, cause) => {
            let state = if report.target.kind == "Pod" {
                "waits"
            } else {
                "does not get its devices"
            };
            format!(" {state}: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::Waits, cause) => {
            format!(" waits: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::Error, cause) => {
            format!(" fails: {}", cause.as_ref().unwrap_or(&report.summary))
        }
        (ClusterVerdict::GaveUp | ClusterVerdict::Unknown, _) => format!(" is not known: {}", report.summary),
        // That of a broken pod says whether it does not start, does not end, or runs and is in danger.
        _ => format!(": {}", report.summary),
    };
    let sign = format!("{} ", screen.sign(tone));
    layout.line(
        2,
        [span(tone, sign), span(Tone::Strong, report.object()), plain(text)],
    );
}

/// A line of the table of nodes: a request that has too few devices on a group of them.
struct NodeLine {
    nodes: String,
    /// Whether requests have to be told apart.
    several: bool,
    count: DeviceCount,
}

const NODES: &[Column<NodeLine>] = &[
    Column::inner("NODE", |line, cell| cell.text(&line.nodes)),
    Column::inner("REQUEST", |line, cell| {
        if line.several {
            cell.text(&line.count.request);
        }
    }),
    Column::inner("WANTED", |line, cell| match line.count.wanted {
        Some(wanted) => cell.text(wanted),
        None => cell.text("all"),
    }),
    Column::inner("MATCH", |line, cell| cell.text(line.count.matching)),
    Column::inner("IN USE", |line, cell| cell.text(line.count.in_use)),
    Column::inner("TAINTED", |line, cell| cell.text(line.count.tainted)),
    Column::inner("BLOCKED", |line, cell| {
        cell.unless_zero(Tone::Plain, line.count.blocked);
    }),
    Column::inner("UNKNOWN", |line, cell| {
        cell.unless_zero(Tone::Plain, line.count.unknown);
    }),
    Column::inner("USABLE", |line, cell| cell.text(line.count.usable)),
];

/// Groups of nodes that are told one by one.
const GROUPS: usize = 8;

fn groups(groups: &[NodeGroup], layout: &mut Layout) {
    let counts = groups.iter().flat_map(|group| &group.devices);
    let requests: BTreeSet<_> = counts.map(|count| (&count.claim, &count.request)).collect();
    let several = requests.len() > 1;
    let mut lines = Vec::new();
    // What numbers do not tell, in the order of the groups.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for group in groups.iter().take(GROUPS) {
        let names: Vec<&str> = group.nodes.iter().map(|name| name.as_str()).collect();
        let nodes = folded(&names);
        lines.extend(group.devices.iter().map(|count| NodeLine {
            nodes: nodes.clone(),
            several,
            count: count.clone(),
        }));
        let Some(reason) = group.reason.as_deref() else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, known)) => known.extend(names),
            None => reasons.push((reason, names)),
        }
    }
    layout.line(0, []);
    layout.section("Nodes", |section| {
        section.table(Table::new(NODES, Detail::Normal, &lines));
        for (reason, names) in reasons {
            let names = format!("{}: ", folded(&names));
            section.line(2, [span(Tone::Strong, names), plain(reason)]);
        }
        let rest: usize = groups.iter().skip(GROUPS).map(|group| group.nodes.len()).sum();
        if rest > 0 {
            let rest = crate::output::counted(rest, "more node", "more nodes");
            section.line(2, [plain(format!("{rest}: -o wide"))]);
        }
    });
}

/// What would help, each with its command where the terminal has room for it.
fn short_fixes(report: &Explanation, is_live: bool, screen: Screen, layout: &mut Layout) {
    let fixes = &report.fixes;
    if fixes.is_empty() {
        return;
    }
    layout.line(0, []);
    layout.line(0, [span(Tone::Strong, "What would help:")]);
    let mut is_cut = false;
    // What several fixes have to say is said once.
    let mut noted = BTreeSet::new();
    for (number, fix) in (1..).zip(fixes) {
        let mut proof = match (fix.proven, fix.nodes.as_slice()) {
            (false, _) => "not tested".to_owned(),
            (true, []) => "tested".to_owned(),
            (true, nodes) => {
                let names: Vec<&str> = nodes.iter().map(|name| name.as_str()).collect();
                format!("tested: fits on {}", shortened(&names))
            }
        };
        for gets in &fix.gets {
            proof = format!("{proof}; {}", gets.text());
        }
        if fix.risky {
            proof = format!("{proof}; {RISKY}");
        }
        let text = format!(" {} ({proof})", fix.message);
        layout.line(5, [span(Tone::Strong, format!("  {number}.")), plain(text)]);
        let mut is_told = true;
        if let Some(command) = &fix.command {
            let emit = (is_live && !fix.remakes.is_empty()).then(|| emitting(report, number));
            let line = format!("     {command}");
            if line.chars().count() <= screen.width() && !line.contains('\n') {
                layout.verbatim(&line);
            } else if let Some(Ok(emit)) = emit {
                is_told = shown::command(layout, screen, 0, "     ", &emit);
            } else {
                is_told = false;
            }
        }
        is_cut |= !is_told;
        if let Some(note) = fix.note.as_ref().filter(|note| is_told && noted.insert(*note)) {
            layout.line(5, [plain(format!("     {note}"))]);
        }
    }
    if is_cut {
        layout.line(2, [plain("Longer commands, and every device: -o wide")]);
    }
}

/// What carries fix `number` out, as long as it stays what it is.
fn emitting(report: &Explanation, number: usize) -> Result<Script, NoCommand> {
    let kind = if report.target.kind == "Pod" {
        Kind::Pod
    } else {
        Kind::ResourceClaim
    };
    let emit = Command::dra("explain")
        .object(kind, &report.target.name)
        .namespace(&report.target.namespace)
        .option("--emit-fix", &number.to_string())
        .done()?;
    let replace = Command::kubectl("replace").args(&["--force", "-f", "-"]).done()?;
    Ok(emit.then(Then::Pipe, replace))
}

/// Nodes that are rejected for the same reasons are told together.
fn nodes(layout: &mut Layout, nodes: &[NodeExplanation], detail: Detail) {
    let mut alike: BTreeMap<Vec<Summary>, Vec<&str>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !node.fits && !node.reasons.is_empty()) {
        alike
            .entry(summaries(&node.reasons, detail))
            .or_default()
            .push(&node.node);
    }
    let mut groups: Vec<_> = alike.into_iter().collect();
    // The largest groups first, and those with most to say of DynamicResources.
    groups.sort_by(|(a, of_a), (b, of_b)| {
        of_b.len()
            .cmp(&of_a.len())
            .then_with(|| of_a.cmp(of_b))
            .then_with(|| a.cmp(b))
    });
    let told = if detail == Detail::Wide {
        groups.len()
    } else {
        TOLD
    };
    let rest: usize = groups.iter().skip(told).map(|(_, names)| names.len()).sum();
    for (reasons, names) in groups.into_iter().take(told) {
        layout.section(&format!("Nodes {}", shortened(&names)), |section| {
            section.table(Table::new(REASONS, detail, reasons));
        });
    }
    if rest > 0 {
        layout.field(
            "Other Nodes",
            format!(
                "{}: -o wide",
                crate::output::counted(rest, "more node", "more nodes")
            ),
        );
    }
}

/// Reasons that only differ in the device.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Summary {
    request: String,
    code: &'static str,
    devices: String,
    message: String,
}

fn summaries(reasons: &[Reason], detail: Detail) -> Vec<Summary> {
    let mut grouped: Vec<(&Reason, Vec<&str>)> = Vec::new();
    for reason in reasons {
        let same = |(known, _): &&mut (&Reason, Vec<&str>)| {
            known.code == reason.code && known.request == reason.request && known.message == reason.message
        };
        let device = reason
            .device
            .as_deref()
            .map(|id| id.rsplit('/').next().unwrap_or(id));
        match grouped.iter_mut().find(same) {
            Some((_, devices)) => devices.extend(device),
            None => grouped.push((reason, device.into_iter().collect())),
        }
    }
    grouped
        .into_iter()
        .map(|(reason, devices)| Summary {
            request: reason.request.as_deref().unwrap_or("<none>").to_owned(),
            code: reason.code,
            devices: match devices.as_slice() {
                [] => "<none>".to_owned(),
                all if detail == Detail::Wide => all.join(","),
                all => shortened(all),
            },
            message: reason.message.clone(),
        })
        .collect()
}

/// The names, or where they are many the first and how many more look the same, as a map has it.
fn folded(names: &[&str]) -> String {
    match names {
        [first, rest @ ..] if rest.len() >= NAMED => format!("{first} +{}", rest.len()),
        _ => names.join(","),
    }
}

/// The first few names, and how many there are besides.
fn shortened(names: &[&str]) -> String {
    let rest = names.len().saturating_sub(NAMED);
    let first = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(",");
    if rest == 0 {
        first
    } else {
        format!("{first} and {rest} more")
    }
}

fn fixes(layout: &mut Layout, fixes: &[FixItem]) {
    for (number, fix) in (1..).zip(fixes) {
        let read = |text: String| (false, text);
        let mut lines = vec![read(fix.message.clone())];
        if let Some(command) = &fix.command {
            lines.push((true, command.to_string()));
        }
        lines.extend(fix.note.clone().map(read));
        lines.extend(fix.gets.iter().map(GetsItem::text).map(read));
        lines.extend(fix.risky.then(|| read(RISKY.to_owned())));
        lines.extend(fix.look.iter().map(|look| (true, format!("see: {look}"))));
        let mut proof = if fix.proven { "tested" } else { "not tested" }.to_owned();
        if !fix.nodes.is_empty() {
            let names: Vec<&str> = fix.nodes.iter().map(|name| name.as_str()).collect();
            proof.push_str(": fits on ");
            proof.push_str(&shortened(&names));
        }
        if fix.proven && !fix.minimal {
            proof.push_str("; a smaller change may exist");
        }
        lines.push(read(proof));
        layout.lines(&number.to_string(), lines);
    }
}
