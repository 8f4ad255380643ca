//! `kubectl dra simulate allocation`: whether it fits, where, and with which devices.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::ValueHint;
use itertools::Itertools;

use super::super::objects::{Found, Named};
use super::super::{explain, judging, objects, presence, threads};
use crate::context::Ctx;
use crate::error::{Outcome, Unread, UsageError};
use crate::output::{Column, Doc, NONE, Page, Report, Table, Tone, View};
use dra_model::{Claim, Cluster, Kind, Object, Pod};
use dra_reports::allocation::{
    self, ALLOCATION_NEEDS, AllocationReport, ClaimAllocation, Exactness, Fit, NodeResult, Placement,
    Settings, Units,
};
use dra_reports::presence::Mention;
use dra_reports::script::{Command, Script};
use dra_rules::scheduling::{TaintDevices, Untaint, WhatIf, WhatIfError};
use dra_sources::Needs;

const EXAMPLES: &str = "\
Examples:
  # Find out where a pending pod fits, and with which devices
  kubectl dra simulate allocation pod/trainer-0 -n training
  # Find out how many more pods of a manifest fit
  kubectl dra simulate allocation -f job.yaml --max
  # Assume that another claim is deallocated
  kubectl dra simulate allocation pod/trainer-0 \\
    --release claim/notebook-gpu
  # Assume that the devices of a node are tainted
  kubectl dra simulate allocation pod/trainer-0 \\
    --taint 'gpu.example.com/gpu-node-1/*=maintenance:NoSchedule'";

/// Simulate where claims and pods fit, with which devices
///
/// Computes the decision of kube-scheduler for each node, device by device, from the current state of the cluster. Claims named together
/// are allocated as if one pod used them. Several pods are placed one after the other; if kube-scheduler could choose between nodes,
/// the first by name is assumed. With `-f`, simulates manifests before they are applied, including the pods of Deployments, Jobs,
/// DaemonSets and other workloads. Changes nothing.
///
/// Each release since 1.34 is simulated with its own rules. Up to 1.35, kube-scheduler iterates over pools in random order: the result is
/// certain, but the devices are one of several possible choices, which the output reports.
///
/// Exit code 0: it fits. 1: it does not fit, or kube-scheduler would fail. 4: unknown, because data is missing or the budget is exhausted.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// `claim/NAME`, `pod/NAME` or `claim/NAMESPACE/NAME`
    #[arg(value_name = "OBJECT")]
    targets: Vec<String>,

    /// Simulate the claims, pods and workloads in this file
    ///
    /// Can be repeated; `-` reads standard input.
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<String>,

    /// Only on this node; can be repeated
    #[arg(long, value_name = "NODE", value_parser = objects::node_name())]
    node: Vec<String>,

    /// Find how many copies fit, and what runs out first
    ///
    /// With several pods, uses the first.
    #[arg(long)]
    max: bool,

    /// Assume that this claim is deallocated
    ///
    /// `NAME` or `claim/NAMESPACE/NAME`; can be repeated.
    #[arg(long, value_name = "CLAIM", help_heading = WHAT_IF)]
    release: Vec<String>,

    /// Assume that drivers add this taint to devices
    ///
    /// `DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT`, `*` for any; can be repeated.
    #[arg(long, value_name = "TAINT", help_heading = WHAT_IF)]
    taint: Vec<TaintDevices>,

    /// Assume that devices lose this taint
    ///
    /// `DRIVER/POOL/DEVICE=KEY[:EFFECT]`, or `rule/NAME`; can be repeated.
    #[arg(long, value_name = "TAINT|RULE", help_heading = WHAT_IF)]
    untaint: Vec<Untaint>,

    /// Assume that the nodes and slices in this file exist
    ///
    /// Can be repeated.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = WHAT_IF)]
    add_node: Vec<String>,

    /// Assume that this node and its slices do not exist
    ///
    /// Can be repeated.
    #[arg(long, value_name = "NODE", value_parser = objects::node_name(), help_heading = WHAT_IF)]
    remove_node: Vec<String>,

    /// Assume that the named pods are not scheduled and have no devices
    ///
    /// Claims that other pods use keep their devices.
    #[arg(long, help_heading = WHAT_IF)]
    as_new: bool,

    /// Limit of search steps
    #[arg(long, value_name = "STEPS")]
    budget: Option<u64>,
}

const WHAT_IF: &str = "What if";

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    if args.targets.is_empty() && args.files.is_empty() {
        return Err(UsageError::new("nothing to simulate")
            .hint("name a claim, a pod or `-f FILE`")
            .into());
    }
    ctx.printer().hold_warnings();
    let mut report = match judged(ctx, &args).await {
        Err(error) if error.is::<Unread>() => unjudged(ctx, &args.targets, &error.to_string())?,
        judged => judged?,
    };
    report.assumed = assumed(&args);
    let outcome = match report.result {
        Fit::Fits => Outcome::Done,
        Fit::DoesNotFit | Fit::Error | Fit::MayError => Outcome::Findings,
        Fit::GaveUp | Fit::Unknown => Outcome::Unknown,
    };
    ctx.answer(report, outcome)
}

/// The report where what is to be judged, or assumed, could not be read; `why` says what.
fn unjudged(ctx: &Ctx, targets: &[String], why: &str) -> anyhow::Result<AllocationReport> {
    let targets = named(ctx, targets)?;
    let targets = targets.iter().map(Named::target).collect();
    Ok(AllocationReport::unjudged(targets, why))
}

fn named(ctx: &Ctx, targets: &[String]) -> Result<Vec<Named>, UsageError> {
    if let Some(file) = targets.iter().find(|target| objects::is_file(target)) {
        return Err(
            UsageError::new(format!("`{file}` is the name of a file")).hint(format!(
                "pass `-f {file}` for a manifest, or `--from {file}` for a saved cluster"
            )),
        );
    }
    let targets = objects::joined(targets);
    let named = targets.iter().map(|target| Named::of(ctx, target));
    let named: Vec<Named> = named.collect::<Result<_, _>>()?;
    Ok(named.into_iter().unique().collect())
}

async fn judged(ctx: &Ctx, args: &Args) -> anyhow::Result<AllocationReport> {
    let targets = named(ctx, &args.targets)?;
    // Everything relevant in all namespaces; without that permission, the own namespace is still shown.
    let needs = Needs::kinds(ALLOCATION_NEEDS)
        .with_gates()
        .with_schedulers()
        .pods_after_claims()
        .assuming_rare_kinds_empty();
    let namespace = objects::judged_in(ctx, targets.first());
    let mut cluster = ctx.load(needs.at_least_in(Some(&namespace))).await?;
    let mut changes = what_ifs(ctx, &cluster, args)?;
    if args.as_new {
        // A pod that does not exist is reported like any other named object.
        let pods = targets.iter().filter_map(|target| match target {
            Named::Pod(key) if cluster.pod(key).is_some() => Some(WhatIf::Unplace(key.clone())),
            _ => None,
        });
        changes.extend(pods);
    }
    let assumed: Vec<Mention> = changes.iter().filter_map(about).collect();
    presence::demand_all(ctx, &cluster, &assumed).await?;
    let manifest = judging::add_manifests(ctx, &mut cluster, &args.files).await?;
    for change in &changes {
        change.apply(&mut cluster).map_err(|why| -> anyhow::Error {
            match why {
                WhatIfError::Unread { .. } => Unread::new(why.to_string()).into(),
                WhatIfError::NotPublished(_) => UsageError::new(why.to_string()).into(),
                why => why.into(),
            }
        })?;
    }
    let units = units(ctx, &cluster, &targets, &manifest).await?;
    let nodes = args
        .node
        .iter()
        .map(|node| Mention::scoped(Kind::Node, node.as_str()));
    presence::demand_all(ctx, &cluster, &nodes.collect::<Vec<_>>()).await?;
    ctx.printer().note("simulation only; nothing was changed");
    let budget = judging::budget(args.budget);
    let settings = Settings {
        nodes: args.node.iter().map(|name| name.as_str().into()).collect(),
        observer: &judging::counting(ctx),
        ..Settings::new(ctx.now(&cluster), &budget, &threads::each_node)
    };
    let mut report = allocation::allocation(&cluster, &units, &settings);
    if args.max && report.result != Fit::Unknown {
        report.packing = Some(allocation::pack(&cluster, &units, &settings));
    }
    Ok(report)
}

/// Returns what a change that a flag asks for is about.
fn about(change: &WhatIf) -> Option<Mention> {
    Some(match change {
        WhatIf::Release(key) => Mention::Object(Kind::ResourceClaim, key.clone()),
        WhatIf::Untaint(Untaint::Rule(name)) => Mention::scoped(Kind::DeviceTaintRule, name.clone()),
        WhatIf::Untaint(Untaint::Devices { devices, .. }) => Mention::Devices(devices.clone()),
        WhatIf::Taint(taint) => Mention::Devices(taint.devices.clone()),
        WhatIf::RemoveNode(node) => Mention::scoped(Kind::Node, node.clone()),
        WhatIf::Add(_) | WhatIf::Unplace(_) => return None,
    })
}

/// The changes that the flags ask for.
fn what_ifs(ctx: &Ctx, cluster: &Cluster, args: &Args) -> anyhow::Result<Vec<WhatIf>> {
    let released = args
        .release
        .iter()
        .map(|claim| objects::claim(ctx, claim).map(WhatIf::Release));
    let mut changes: Vec<WhatIf> = released.collect::<Result<_, _>>()?;
    changes.extend(args.untaint.iter().cloned().map(WhatIf::Untaint));
    changes.extend(args.taint.iter().cloned().map(WhatIf::Taint));
    changes.extend(
        args.remove_node
            .iter()
            .map(|node| WhatIf::RemoveNode(node.as_str().into())),
    );
    if !args.add_node.is_empty() {
        let namespace = ctx.current_namespace();
        let added = judging::valid_manifests(cluster, &args.add_node, &namespace)?;
        ctx.warn_all(added.warnings);
        for object in added.objects {
            match object.kind() {
                Kind::Node | Kind::ResourceSlice => changes.push(WhatIf::Add(object)),
                kind => ctx.warn(format!(
                    "ignoring {kind} {}: only nodes and slices can be added",
                    object.metadata().key()
                )),
            }
        }
    }
    Ok(changes)
}

fn assumed(args: &Args) -> Vec<String> {
    let flags = [
        ("release", args.release.clone()),
        ("remove-node", args.remove_node.clone()),
        ("add-node", args.add_node.clone()),
    ];
    let texts = flags
        .into_iter()
        .flat_map(|(flag, values)| values.into_iter().map(move |value| format!("--{flag} {value}")));
    let taints = args
        .taint
        .iter()
        .map(|taint| format!("--taint {}={}", taint.devices, taint.taint));
    let untaints = args.untaint.iter().map(|untaint| format!("--untaint {untaint}"));
    let as_new = args.as_new.then(|| "--as-new".to_owned());
    texts.chain(taints).chain(untaints).chain(as_new).collect()
}

/// Objects to simulate: those of the command line, otherwise those of the manifest.
async fn units(
    ctx: &Ctx,
    cluster: &Cluster,
    targets: &[Named],
    manifest: &[Object],
) -> anyhow::Result<Units> {
    let mut claims: Vec<Arc<Claim>> = Vec::new();
    let mut pods: Vec<Arc<Pod>> = Vec::new();
    for target in targets {
        match target.find(ctx, cluster).await? {
            Found::Pod(pod) => pods.push(unbound(ctx, pod)),
            Found::Claim(claim) => claims.push(Arc::clone(claim)),
        }
    }
    if targets.is_empty() {
        for object in manifest {
            match object {
                Object::Pod(pod) => pods.push(unbound(ctx, pod)),
                Object::ResourceClaim(claim) => claims.push(Arc::clone(claim)),
                _ => {}
            }
        }
        if !pods.is_empty() {
            // The claims of a manifest are those that its pods use.
            claims.clear();
        }
    }
    match (claims.is_empty(), pods.is_empty()) {
        (false, true) => Ok(Units::Claims(claims)),
        (true, false) => Ok(Units::Pods(pods)),
        (false, false) => Err(UsageError::new("claims and pods cannot be simulated together")
            .hint("simulate them separately; a pod includes the claims it uses")
            .into()),
        (true, true) => Err(UsageError::new("the manifest contains no claims and no pods").into()),
    }
}

/// A pod that runs is judged as if it were still to be placed, in addition to itself.
fn unbound(ctx: &Ctx, pod: &Arc<Pod>) -> Arc<Pod> {
    if let Some(node) = pod.node() {
        ctx.warn(format!(
            "pod/{} is already bound to {node}, so only that node is simulated; `--as-new` simulates all nodes",
            pod.key()
        ));
    }
    Arc::clone(pod)
}

/// The header of a column for claims with alternatives.
const SCORE: &str = "SCORE";

const NODES: &[Column<NodeResult>] = &[
    Column::inner("NODE", |node, cell| cell.text(&node.node)),
    Column::inner("RESULT", |node, cell| {
        cell.toned(tone(node.result), node.result);
    }),
    Column::inner(SCORE, |node, cell| {
        cell.option(node.score.map(|score| score.normalized.unwrap_or(score.points)));
    }),
    Column::inner("DEVICES", |node, cell| cell.list(devices(&node.claims))),
    Column::inner("REASON", |node, cell| cell.option(node.message.as_deref())),
];

const PLACEMENTS: &[Column<Placement>] = &[
    Column::inner("POD", |pod, cell| cell.path(&pod.namespace, &pod.name)),
    Column::inner("RESULT", |pod, cell| {
        cell.toned(tone(pod.result), pod.result);
    }),
    Column::inner("NODE", |pod, cell| {
        cell.option(pod.node.as_ref());
        if pod.node.is_some() && pod.other_nodes {
            cell.text(" (or others)");
        }
    }),
    Column::inner("DEVICES", |pod, cell| cell.list(devices(&pod.claims))),
    Column::inner("REASON", |pod, cell| cell.option(pod.message.as_deref())),
];

/// Nodes that are rejected for one reason.
struct Rejected<'r> {
    nodes: usize,
    result: &'static str,
    reason: &'r str,
}

impl<'r> Rejected<'r> {
    const COLUMNS: &'r [Column<Self>] = &[
        Column::inner("NODES", |rejected, cell| cell.text(rejected.nodes)),
        Column::inner("RESULT", |rejected, cell| cell.text(rejected.result)),
        Column::inner("REASON", |rejected, cell| cell.text(rejected.reason)),
    ];
}

/// Up to this many nodes are listed one by one unless `-o wide` asks for all.
const LISTED: usize = 20;

impl Report for AllocationReport {
    const KIND: &'static str = "AllocationReport";

    fn view(&self, page: Page) -> View {
        let mut doc = Doc::new();
        doc.list("Object", self.targets.iter().map(explain::name))
            .any("As If", &self.assumed);
        let fits = self.nodes.iter().filter(|node| node.result == Fit::Fits).count();
        let result = match self.result {
            Fit::Fits if !self.nodes.is_empty() => format!("Fits on {fits} of {} nodes", self.nodes.len()),
            result => result.to_string(),
        };
        doc.toned("Result", tone(self.result), result);
        let exactness = match self.exactness {
            Exactness::Exact => None,
            Exactness::OneOf => Some("the fit is certain; the devices are one of several choices"),
            Exactness::MayError => {
                Some("kube-scheduler may hit an error first, depending on an order only it knows")
            }
            Exactness::FitOnly => Some("by the known rules; kube-scheduler may decide otherwise"),
        };
        doc.some("Exactness", exactness)
            .some("Predicted Message", self.message.as_ref())
            .any("Unknown", &self.unknown)
            .filled("Not Simulated", self.not_simulated.join(", "))
            .any("Note", &self.notes);
        if let Some(packing) = &self.packing {
            let copies = match (packing.unlimited, packing.exact) {
                (true, _) => "unlimited: they use no limited resource".to_owned(),
                (false, true) => packing.copies.to_string(),
                (false, false) => format!("at least {}", packing.copies),
            };
            let runs_out = packing.runs_out.iter();
            let placed = packing.nodes.iter();
            doc.field("Copies", copies)
                .list(
                    "Runs Out First",
                    runs_out.map(|one| format!("{} (nodes: {})", one.what, one.nodes)),
                )
                .list(
                    "Copies By Node",
                    placed.map(|placed| format!("{}: {}", placed.node, placed.copies)),
                );
        }
        nodes(&mut doc, &self.nodes, page);
        doc.titled_if_any("Pods", Table::of(PLACEMENTS, &self.placements));
        if let Some(explain) = explain(self) {
            doc.gap().command("More: ", &explain);
        }
        doc.into()
    }
}

fn nodes(doc: &mut Doc, nodes: &[NodeResult], page: Page) {
    let listed = |node: &&NodeResult| page.is_wide() || nodes.len() <= LISTED || node.result == Fit::Fits;
    let has_scores = nodes.iter().any(|node| node.score.is_some());
    let columns = NODES.iter().filter(|column| has_scores || column.header != SCORE);
    let table = Table::of(columns, nodes.iter().filter(listed));
    doc.titled_if_any("Nodes", table);
    let mut rest: BTreeMap<(&str, &'static str), usize> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !listed(node)) {
        *rest
            .entry((node.message.as_deref().unwrap_or(NONE), node.result.into()))
            .or_default() += 1;
    }
    let rejected = rest.into_iter().map(|((reason, result), nodes)| Rejected {
        nodes,
        result,
        reason,
    });
    let table = Table::of(Rejected::COLUMNS, rejected);
    doc.titled_if_any("Other Nodes", table);
}

/// The command that explains why the only object does not fit, unless a manifest has it.
fn explain(report: &AllocationReport) -> Option<Script> {
    let [only] = report.targets.as_slice() else {
        return None;
    };
    let kind = if only.is_pod() {
        Kind::Pod
    } else {
        Kind::ResourceClaim
    };
    let command = Command::dra("explain").here().object(kind, &only.name);
    let command = command.namespace(&only.namespace).done().ok()?;
    (report.result == Fit::DoesNotFit).then_some(command)
}

/// `request:pool/device` of all claims.
fn devices(claims: &[ClaimAllocation]) -> Vec<String> {
    claims
        .iter()
        .flat_map(|claim| claim.devices.iter().cloned())
        .collect()
}

fn tone(fit: Fit) -> Tone {
    match fit {
        Fit::Fits => Tone::Good,
        Fit::DoesNotFit | Fit::Error => Tone::Bad,
        Fit::MayError | Fit::GaveUp | Fit::Unknown => Tone::Notice,
    }
}
