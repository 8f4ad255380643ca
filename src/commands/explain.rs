//! `kubectl dra explain`: why something does not get its devices, and what would help.

mod driver;
mod emit;
mod list;
mod report;
mod room;
mod target;
mod words;

use std::sync::Arc;

use clap::ValueHint;
use serde::Serialize;

use self::report::Emits;
use self::target::Wanted;
use super::fleet::{self, Answer};
use super::objects::{self, Found, Named};
use super::{Accepts, ONE_CLUSTER, describe, judging, presence, threads};
use crate::context::{Ctx, SourceSetting};
use crate::error::{NotFound, Outcome, Unread, UsageError};
use crate::output::{Page, Printer, Report, View, folded};
use dra_allocator::{Budget, Observer};
use dra_model::{Cluster, Key, Kind, Object, Pod, Str, Time};
use dra_reports::allocation::{Settings, Target};
use dra_reports::explanation::{
    ClusterVerdict, Diagnosis, EXPLAIN_NEEDS, Explanation, OwnerTarget, explain_claim, explain_claims,
    explain_new_pods, explain_owner, explain_pod, unjudged,
};
use dra_reports::presence::Mention;
use dra_reports::script::Command;
use dra_reports::{
    CauseItem, DriverVerdict, ExplanationList, NodeRoom, RoomVerdict, driver_chain, explain_all, node_room,
};
use dra_rules::kubelet::rests_on;
use dra_rules::owners::{gathers_nodes, is_queued};
use dra_sources::Needs;
use dra_sources::live::OwnersWanted;

pub(super) use report::{name, tone_of};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT.fleet();

const EXAMPLES: &str = "\
Examples:
  # Explain why a pod is pending, and how to fix it
  kubectl dra explain pod/trainer-0 -n training
  # Apply the first fix
  kubectl dra explain pod/trainer-0 --emit-fix 1 |
    kubectl replace --force -f -
  # Explain everything pending, grouped by cause
  kubectl dra explain -A
  # Show what could still be scheduled on a node
  kubectl dra explain node/gpu-node-1
  # Find out why a driver's devices are unavailable
  kubectl dra explain driver/gpu.example.com
  # Explain why a claim is not allocated
  kubectl dra explain claim/training/big
  # Explain whether the pods of a manifest would fit
  kubectl dra explain -f deployment.yaml
  # Explain everything pending in several clusters
  kubectl dra explain -A --context prod-a --context prod-b";

/// Explain why a pod is pending, and how to fix it
///
/// Without a name, explains everything pending in the namespace (`-A`: in all), grouped by cause. For a node, shows what could still be
/// scheduled on it. For a driver, shows where the path from its classes and pods to its devices is broken.
///
/// Counts nodes by the first scheduler filter that rejects them, shows per node and request why devices are excluded, and finds the
/// smallest changes that make it fit. Each fix is tested on a copy of the cluster state; nothing is changed. With `-f`, explains manifests
/// before they are applied: of several pods, such as the replicas of a Deployment, the first that does not fit once the previous ones are
/// placed.
///
/// Exit code 0: it fits, is scheduled or allocated; nothing is pending; the node has room; the driver serves its nodes. 1: it does not
/// fit, kube-scheduler fails or the kubelet rejects it; something is pending; the node has no room; the driver does not publish devices. 4: unknown,
/// or a component of the cluster reports otherwise.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["why", "debug", "diagnose"])]
pub(crate) struct Args {
    /// `pod/NAME`, `claim/NAME`, `node/NAME`, `driver/NAME`, or just NAME
    ///
    /// `pod NAME` and `pod/NAMESPACE/NAME` work too. NAME or NAMESPACE/NAME alone is a pod if it exists, otherwise a claim. Without a name,
    /// explains everything pending.
    #[arg(value_name = "KIND/NAME", num_args = 0..=2)]
    target: Vec<String>,

    /// Explain the pods, workloads or claims in this file
    ///
    /// Can be repeated; `-` reads standard input.
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<String>,

    /// Print this fix instead of the report, as objects or commands
    ///
    /// Prints the objects that the fix recreates, for `kubectl replace --force -f -`. With `--from`, and for other fixes, prints the
    /// commands, for `sh`.
    #[arg(long, value_name = "NUMBER", conflicts_with = "files")]
    emit_fix: Option<usize>,

    /// Limit of search steps
    #[arg(long, value_name = "STEPS")]
    budget: Option<u64>,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    ctx.printer().hold_warnings();
    let target = Wanted::of(ctx, &args.target, !args.files.is_empty())?;
    if args.emit_fix.is_some() && matches!(target, Wanted::Everything | Wanted::Node(_) | Wanted::Driver(_)) {
        let error = UsageError::new("`--emit-fix` needs a pod or a claim");
        return Err(error.hint("add `pod/NAME` or `claim/NAME`").into());
    }
    if let Wanted::Everything = target {
        return fleet::run(ctx, args.budget, everything).await;
    }
    if ctx.settings().fleet.is_some() {
        let error = UsageError::new("`explain` with a name or `-f` reads one cluster");
        return Err(error.hint(ONE_CLUSTER).into());
    }
    if let Wanted::Described(object) = target {
        return describe::run(ctx, describe::Args::of(object)).await;
    }
    let mut cluster = load(ctx, &target.namespace(ctx)).await?;
    let manifest = judging::add_manifests(ctx, &mut cluster, &args.files).await?;
    let budget = judging::budget(args.budget);
    let observer = judging::counting(ctx);
    let settings = settings(ctx.now(&cluster), &budget, &observer);
    let report = match target {
        Wanted::Everything | Wanted::Described(_) => return Ok(Outcome::Done),
        Wanted::Driver(name) => return chain_of(ctx, &cluster, &name, &settings).await,
        Wanted::Node(name) => return room_of(ctx, &cluster, &name, &settings).await,
        Wanted::Owner(owner) => of_owner(ctx, &mut cluster, &owner, &settings).await?,
        Wanted::OwnerOrName(owner, key) => match explain_owner(&cluster, &owner, &settings) {
            Some(explained) => explained,
            None => {
                if let Some(other) = target::of_other_kind(&cluster, &owner, &key) {
                    return Err(other.into());
                }
                let named = target::taken(ctx, &cluster, key).await?;
                of_named(ctx, &mut cluster, &named, &settings).await?
            }
        },
        Wanted::Manifest => of_manifest(&mut cluster, &manifest, &settings)?,
        Wanted::Named(named) => of_named(ctx, &mut cluster, &named, &settings).await?,
        Wanted::Name(key) => {
            let named = target::taken(ctx, &cluster, key).await?;
            of_named(ctx, &mut cluster, &named, &settings).await?
        }
    };
    let report = Explanation::from(report);
    if let Some(number) = args.emit_fix {
        emit::fix(ctx, &report, number).await?;
        return Ok(Outcome::Done);
    }
    if report.verdict == ClusterVerdict::Unknown && report.lacks_objects {
        tell_role(ctx, &cluster);
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
    let emits = match &ctx.settings().source {
        _ if !manifest.is_empty() => Emits::Nothing,
        SourceSetting::Cluster(_) => Emits::Objects,
        SourceSetting::Files(names) if names.iter().any(|name| name == "-") => Emits::Nothing,
        SourceSetting::Files(_) => Emits::Command,
    };
    ctx.answer(Explained { report, emits }, outcome)
}

async fn load(ctx: &Ctx, namespace: &str) -> anyhow::Result<Cluster> {
    let needs = Needs::kinds(EXPLAIN_NEEDS)
        .with_gates()
        .with_schedulers()
        .pods_after_claims()
        .optionally(Kind::OF_RIGHTS)
        .optionally([Kind::PodDisruptionBudget])
        .assuming_rare_kinds_empty();
    ctx.load(needs.at_least_in(Some(namespace))).await
}

fn settings<'a>(now: Time, budget: &'a Budget, observer: &'a (dyn Observer + Sync)) -> Settings<'a> {
    Settings {
        observer,
        ..Settings::new(now, budget, &threads::each_node)
    }
}

/// Everything that waits in `namespace`, or in all.
pub(super) fn pending(
    ctx: &Ctx,
    cluster: &Cluster,
    namespace: Option<&Str>,
    budget: Option<u64>,
) -> ExplanationList {
    let budget = judging::budget(budget);
    let observer = judging::counting(ctx);
    let report = explain_all(
        cluster,
        namespace,
        &settings(ctx.now(cluster), &budget, &observer),
    );
    ctx.warn_all(&report.unknown);
    report
}

/// Everything that waits.
async fn everything(ctx: &Ctx, budget: Option<u64>) -> anyhow::Result<Answer<ExplanationList>> {
    let cluster = load(ctx, &objects::judged_in(ctx, None)).await?;
    if let Some(namespace) = objects::namespace(ctx, objects::Default::All) {
        presence::demand_all(ctx, &cluster, &[Mention::Namespace(namespace.into())]).await?;
    }
    let namespace: Option<Str> = objects::namespace(ctx, objects::Default::Current).map(Into::into);
    let report = pending(ctx, &cluster, namespace.as_ref(), budget);
    let outcome = Outcome::of(report.has_waiting(), report.is_incomplete());
    let is_unknown = report.items.iter().any(CauseItem::is_unknown);
    if is_unknown && !cluster.environment().gaps.is_empty() {
        tell_role(ctx, &cluster);
    }
    Ok(Answer {
        report,
        outcome,
        note: None,
    })
}

/// Returns what could still be scheduled on a node.
async fn room(ctx: &Ctx, cluster: &Cluster, name: &Str, settings: &Settings<'_>) -> anyhow::Result<NodeRoom> {
    match cluster.node(name) {
        Some(node) => Ok(node_room(cluster, node, settings)),
        None => {
            let mention = Mention::Object(Kind::Node, Key::new("", name.clone()));
            Err(presence::not_found(ctx, cluster, &mention).await)
        }
    }
}

async fn room_of(
    ctx: &Ctx,
    cluster: &Cluster,
    name: &Str,
    settings: &Settings<'_>,
) -> anyhow::Result<Outcome> {
    let report = room(ctx, cluster, name, settings).await?;
    ctx.warn_all(report.warnings.iter());
    let outcome = match report.verdict {
        RoomVerdict::Room => Outcome::Done,
        RoomVerdict::Full | RoomVerdict::Closed => Outcome::Findings,
        RoomVerdict::Unknown => Outcome::Unknown,
    };
    ctx.answer(report, outcome)
}

/// What is explained of a cluster that is at hand.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub(super) enum Topic {
    /// An object, as it is typed.
    #[display("explain {_0}")]
    Object(String),
    /// Everything pending in a namespace.
    #[display("explain -n {_0}")]
    Namespace(Str),
}

/// Returns the explanation of `topic` as a terminal shows it.
///
/// # Errors
/// When there is no such object any more.
pub(super) async fn text(
    ctx: &Ctx,
    mut cluster: Cluster,
    topic: &Topic,
    now: Time,
    page: Page,
) -> anyhow::Result<String> {
    let budget = judging::budget(None);
    let settings = settings(now, &budget, &());
    let object = match topic {
        Topic::Object(object) => object,
        Topic::Namespace(namespace) => {
            let report = explain_all(&cluster, Some(namespace), &settings);
            let missing = report.unknown.iter().map(String::as_str);
            return Ok(with_warnings(Printer::text_of(&report, page)?, page, missing));
        }
    };
    let explained = match Wanted::of(ctx, std::slice::from_ref(object), false)? {
        Wanted::Node(name) => {
            let report = room(ctx, &cluster, &name, &settings).await?;
            return Ok(with_warnings(
                Printer::text_of(&report, page)?,
                page,
                report.warnings.iter(),
            ));
        }
        Wanted::Owner(owner) => of_owner(ctx, &mut cluster, &owner, &settings).await?,
        Wanted::Named(named) => of_named(ctx, &mut cluster, &named, &settings).await?,
        _ => return Err(UsageError::new(format!("cannot {topic} here")).into()),
    };
    let explained = Explained {
        report: Explanation::from(explained),
        emits: Emits::Nothing,
    };
    Ok(Printer::text_of(&explained, page)?)
}

/// A text with what it cannot say below it.
fn with_warnings<'w>(mut text: String, page: Page, warnings: impl Iterator<Item = &'w str>) -> String {
    for warning in warnings {
        text.push_str(&folded(&format!("warning: {warning}"), page.width(), 0));
        text.push('\n');
    }
    text
}

/// The way from the classes of a driver to its devices.
async fn chain_of(
    ctx: &Ctx,
    cluster: &Cluster,
    name: &Str,
    settings: &Settings<'_>,
) -> anyhow::Result<Outcome> {
    let Some(report) = driver_chain(cluster, name, settings.now) else {
        return Err(presence::not_found(ctx, cluster, &Mention::Driver(name.clone())).await);
    };
    let outcome = match report.verdict {
        DriverVerdict::Serves => Outcome::Done,
        DriverVerdict::Broken => Outcome::Findings,
        DriverVerdict::Unknown => Outcome::Unknown,
    };
    ctx.answer(report, outcome)
}

/// The pod or the claim that is named, or what is missing to explain it.
async fn of_named(
    ctx: &Ctx,
    cluster: &mut Cluster,
    named: &Named,
    settings: &Settings<'_>,
) -> anyhow::Result<Diagnosis> {
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
) -> anyhow::Result<Diagnosis> {
    let mut report = explained(cluster, &named.find(ctx, cluster).await?, settings);
    if let Some(unread) = learn_above(ctx, cluster, &report).await? {
        report = explained(cluster, &named.find(ctx, cluster).await?, settings);
        if learn_ended(ctx, cluster, &report).await? {
            report = explained(cluster, &named.find(ctx, cluster).await?, settings);
        }
        report.lack(unread);
    }
    confirm(ctx, cluster, named, report, settings).await
}

fn explained(cluster: &Cluster, found: &Found<'_>, settings: &Settings<'_>) -> Diagnosis {
    match found {
        Found::Pod(pod) => explain_pod(cluster, pod, settings),
        Found::Claim(claim) => explain_claim(cluster, claim, settings),
    }
}

/// The pod that a diagnosis is about, where there is more to read of it.
fn pod_of<'c>(ctx: &Ctx, cluster: &'c Cluster, report: &Diagnosis) -> Option<&'c Arc<Pod>> {
    let pod = report.pod().and_then(|key| cluster.pod(&key));
    pod.filter(|_| ctx.is_live())
}

/// Explains a pod that cannot start once more, with itself and its claims read again: claims are listed before pods, and one that got its
/// devices and its node in between only seems to have no devices.
async fn confirm(
    ctx: &Ctx,
    cluster: &mut Cluster,
    named: &Named,
    report: Diagnosis,
    settings: &Settings<'_>,
) -> anyhow::Result<Diagnosis> {
    let pod = pod_of(ctx, cluster, &report);
    let Some(pod) = pod.filter(|_| report.verdict() == ClusterVerdict::Broken) else {
        return Ok(report);
    };
    let objects = rests_on(pod);
    let unread = ctx.read_again(cluster, objects).await?;
    Ok(match named.find(ctx, cluster).await {
        Ok(found) if unread.is_empty() => explained(cluster, &found, settings),
        _ => report,
    })
}

/// An owner of pods.
async fn of_owner(
    ctx: &Ctx,
    cluster: &mut Cluster,
    owner: &OwnerTarget,
    settings: &Settings<'_>,
) -> anyhow::Result<Diagnosis> {
    let wanted = OwnersWanted {
        namespace: owner.key.namespace.clone(),
        first: target::reference(owner),
        queued: Some(Vec::new()),
        gathers: owner.kind == "computedomain",
    };
    let unread = ctx.learn_owners(cluster, vec![wanted]).await?;
    if let Some(mut explained) = explain_owner(cluster, owner, settings) {
        if let Some(more) = learn_above(ctx, cluster, &explained).await? {
            explained = explain_owner(cluster, owner, settings).unwrap_or(explained);
            if learn_ended(ctx, cluster, &explained).await? {
                explained = explain_owner(cluster, owner, settings).unwrap_or(explained);
            }
            explained.lack(more);
        }
        explained.lack(unread);
        return Ok(explained);
    }
    let OwnerTarget { kind, key } = owner;
    let target = Target::owner(kind, key);
    match cluster.gap(Kind::Pod, &key.namespace) {
        Some(gap) => {
            let why = format!("cannot tell whether {kind}/{key} has pods: {}", gap.reason);
            Ok(unjudged(target, &why))
        }
        None => {
            let everything = Command::dra("explain").arg("-A").here().done()?;
            let message = format!("{kind}/{key} not found, and no pod belongs to it");
            let hint = format!("check name and namespace (-n), or explain everything: {everything}");
            Err(NotFound { message, hint }.into())
        }
    }
}

/// The most owners of pods that fixes end, which are read.
const MOST_ENDED: usize = 8;

/// Reads what is above a pod that waits, where that may matter, and above pods that fixes end, unless a file has it. Returns what could not be
/// read above the pod itself; nothing where nothing was asked for.
async fn learn_above(
    ctx: &Ctx,
    cluster: &mut Cluster,
    report: &Diagnosis,
) -> anyhow::Result<Option<Vec<String>>> {
    let Some(pod) = pod_of(ctx, cluster, report) else {
        return Ok(None);
    };
    let above = OwnersWanted {
        namespace: pod.metadata.namespace.clone(),
        first: pod.metadata.controller().cloned(),
        queued: is_queued(pod).then(|| vec![pod.metadata.uid.clone()]),
        gathers: gathers_nodes(cluster, pod),
    };
    let asks = above.first.is_some() || above.queued.is_some() || above.gathers;
    let above = Some(above).filter(|_| asks && report.asks_for_owners());
    let has_learned = learn_ended(ctx, cluster, report).await?;
    if above.is_none() && !has_learned {
        return Ok(None);
    }
    ctx.learn_owners(cluster, above.into_iter().collect())
        .await
        .map(Some)
}

/// Reads what is above pods that fixes end, unless it was read before, and returns whether there was something to read. Pods that might be of the
/// explained pod's owner do not end for it: once that was read, further ones may.
async fn learn_ended(ctx: &Ctx, cluster: &mut Cluster, report: &Diagnosis) -> anyhow::Result<bool> {
    let unknown = |key| {
        let metadata = &cluster.pod(key)?.metadata;
        let controller = metadata.controller()?;
        let known = cluster.environment().owners.find(controller, &metadata.namespace);
        known
            .is_none()
            .then(|| (metadata.namespace.clone(), controller.clone()))
    };
    let wanted = OwnersWanted::above(report.ended().iter().filter_map(unknown), MOST_ENDED);
    if !ctx.is_live() || wanted.is_empty() {
        return Ok(false);
    }
    // Without them the advice is only less exact.
    ctx.learn_owners(cluster, wanted).await?;
    Ok(true)
}

/// The pods of a manifest, or else its claims.
fn of_manifest(
    cluster: &mut Cluster,
    manifest: &[Object],
    settings: &Settings<'_>,
) -> anyhow::Result<Diagnosis> {
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
        return Err(UsageError::new("no pods or claims in the manifest").into());
    }
    Ok(explain_claims(cluster, &claims, settings))
}

/// Prints the permissions that would make missing data visible.
fn tell_role(ctx: &Ctx, cluster: &Cluster) {
    let is_forbidden = cluster.environment().gaps.iter().any(|gap| gap.is_forbidden);
    if ctx.is_live() && is_forbidden && !ctx.printer().options().quiet {
        ctx.printer().note(&format!("{ROLE_INTRO}\n{ROLE}"));
    }
}

const ROLE_INTRO: &str = "for a full answer, ask an administrator for this role:";

/// Permissions to read everything that affects devices, in addition to the built-in `view`.
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

/// An explanation, and whether the cluster is there that it is of.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Explained {
    #[serde(flatten)]
    report: Explanation,
    /// What `--emit-fix` can print.
    #[serde(skip)]
    emits: Emits,
}

impl Report for Explained {
    const KIND: &'static str = "Explanation";

    fn view(&self, page: Page) -> View {
        report::doc(&self.report, page, self.emits).into()
    }
}
