//! `kubectl dra explain`: why something does not get its devices, and what would help.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::ValueHint;

use super::objects::{Found, Named};
use super::{Accepts, judging, objects, threads};
use crate::context::Ctx;
use crate::error::{Outcome, Unread, UsageError};
use crate::inspect::allocation::Settings;
use crate::inspect::explanation::{
    ClusterVerdict, EXPLAIN_NEEDS, Explanation, FilterCount, FixItem, NodeExplanation, Reason,
    explain_claims, explain_new_pods, explain_pod, unjudged,
};
use crate::model::{Cluster, Object};
use crate::output::{Column, Detail, Layout, Report, Table, Tone, View};
use crate::sources::Needs;

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

/// Explain why a pod or a claim does not get its devices, and what would help
///
/// Counts nodes under the first filter of the scheduler that rejects them, tells for each node and request which devices are ruled
/// out by what, and looks for the smallest changes after which it would fit. Each such change is tried on a copy of the cluster's
/// state; nothing is changed. Where objects may not be read, what is unknown is named. With `-f` manifests are explained that need not
/// exist. Of several pods, such as the replicas of a Deployment, the first is explained that does not fit once those before it are placed.
///
/// Exit code 0: it fits, or has its node or its devices. 1: it does not fit, the scheduler fails, or the kubelet refuses it. 4: not
/// known, or a component of the cluster says otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to explain: `pod/NAME` or `claim/NAME`, or with the namespace `pod/NAMESPACE/NAME`
    #[arg(value_name = "OBJECT", required_unless_present = "files")]
    target: Option<String>,

    /// Explain the pods and workloads, or else the claims, of this manifest; may be repeated, `-` is standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<String>,

    /// Steps that all searches of the command may take together; what is undecided then is given up
    #[arg(long, value_name = "STEPS")]
    budget: Option<u64>,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {
        target,
        files,
        budget,
    } = args;
    let target = target.map(|target| named(ctx, &target)).transpose()?;
    let needs = Needs::kinds(EXPLAIN_NEEDS)
        .with_gates()
        .with_schedulers()
        .pods_after_claims();
    let mut cluster = ctx
        .load(needs.at_least_in(&objects::judged_in(ctx, target.as_ref())))
        .await?;
    let manifest = judging::add_manifests(ctx, &mut cluster, &files).await?;
    let budget = judging::budget(budget);
    let settings = Settings {
        nodes: Vec::new(),
        now: ctx.now(&cluster),
        budget: &budget,
        observer: &judging::counting(ctx),
        run: &threads::each_node,
    };
    let report = match &target {
        Some(named) => match existing(ctx, &cluster, named, &settings).await {
            Err(error) if error.is::<Unread>() => unjudged(named.target(), &error.to_string()),
            explained => explained?,
        },
        None => of_manifest(&mut cluster, &manifest, &settings)?,
    };
    for missing in &report.unknown {
        ctx.warn(missing.as_str());
    }
    if report.verdict == ClusterVerdict::Unknown && report.lacks_objects() && !ctx.printer().options().quiet {
        ctx.printer().note(&format!("{ROLE_INTRO}\n{ROLE}"));
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
    ctx.print(report)?;
    Ok(outcome)
}

/// What the command line names.
fn named(ctx: &Ctx, target: &str) -> Result<Named, UsageError> {
    if target.contains('/') {
        return Named::of(ctx, target);
    }
    Err(UsageError::new(format!("`{target}` may be a pod or a claim"))
        .hint(format!("write `pod/{target}` or `claim/{target}`")))
}

async fn existing(
    ctx: &Ctx,
    cluster: &Cluster,
    named: &Named,
    settings: &Settings<'_>,
) -> anyhow::Result<Explanation> {
    Ok(match named.find(ctx, cluster).await? {
        Found::Pod(pod) => explain_pod(cluster, pod, settings),
        Found::Claim(claim) => explain_claims(cluster, &[Arc::clone(claim)], settings),
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

impl Report for Explanation {
    const KIND: &'static str = "Explanation";

    fn view(&self, detail: Detail) -> View {
        let mut layout = Layout::new();
        let kind = if self.target.kind == "Pod" { "pod" } else { "claim" };
        layout.field(
            "Object",
            format!("{kind}/{}/{}", self.target.namespace, self.target.name),
        );
        let tone = match self.verdict {
            ClusterVerdict::Fits | ClusterVerdict::Bound | ClusterVerdict::Allocated => Tone::Good,
            ClusterVerdict::DoesNotFit | ClusterVerdict::Broken | ClusterVerdict::Error => Tone::Bad,
            _ => Tone::Notice,
        };
        layout.toned("Verdict", tone, format!("{:?}: {}", self.verdict, self.summary));
        if let Some(message) = &self.message {
            layout.field("Scheduler", message);
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
        // What the scheduler says now stands above already.
        let said = self.message.as_deref().unwrap_or_default();
        let is_news = |event: &&String| said.is_empty() || !event.ends_with(said);
        let events: Vec<&String> = self.events.iter().filter(is_news).collect();
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
        layout.into()
    }
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
    let rest = groups.len().saturating_sub(told);
    for (reasons, names) in groups.into_iter().take(told) {
        layout.section(&format!("Nodes {}", shortened(&names)), |section| {
            section.table(Table::new(REASONS, detail, reasons));
        });
    }
    if rest > 0 {
        layout.field(
            "Other Nodes",
            format!("{rest} more kinds of reasons; `-o wide` tells all"),
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
        let mut lines = vec![fix.message.clone()];
        if let Some(command) = &fix.command {
            lines.push(command.to_string());
        }
        lines.extend(fix.note.clone());
        lines.extend(fix.look.iter().map(|look| format!("see: {look}")));
        let proof = match (fix.proven, fix.minimal) {
            (true, true) => "proven; nothing smaller suffices",
            (true, false) => "sufficient, not proven smallest",
            (false, _) => "not proven",
        };
        lines.push(match fix.nodes.as_slice() {
            [] => format!("({proof})"),
            nodes => {
                let names: Vec<&str> = nodes.iter().map(|name| name.as_str()).collect();
                format!("({proof}; then on {})", shortened(&names))
            }
        });
        layout.list(&number.to_string(), lines);
    }
}
