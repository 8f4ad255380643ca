//! `kubectl dra simulate eviction`: pods that current or additional device taints evict.

mod answer;
mod evidence;
mod parts;
mod words;

use std::sync::Arc;

use anyhow::Context as _;
use itertools::Itertools as _;

use crate::context::Ctx;
use crate::error::{Outcome, Unread, UsageError};
use crate::output::{Page, Report, View};
use dra_model::{Change, Cluster, Gap, Key, Kind, NO_EFFECT, NO_EXECUTE, Str, Taint, TaintRule, Time};
use dra_reports::presence::Mention;
use dra_reports::{Selection, all_missing, wide_rule};
use dra_rules::owners::LEADER_WORKER_SET;
use dra_rules::scheduling::{AssumedGate, DevicePattern, TaintDevices, of_placed};
use dra_rules::simulation::{
    DeviceChoice, DryRun, EvictionReport, PodVerdict, World, assumed_gates, put_rule, report, rules_for,
    selects_any, too_much_to_simulate,
};
use dra_sources::live::OwnersWanted;
use dra_sources::{Needs, Unobserved};

use super::super::{judging, objects, presence};

const EXAMPLES: &str = "\
Examples:
  # Simulate the current taints
  kubectl dra simulate eviction
  # Find out which pods are evicted if the devices of a node are tainted
  kubectl dra simulate eviction --node gpu-node-1
  # Test one device, and fail if a pod is evicted
  kubectl dra simulate eviction --pool gpu-node-1 --device gpu-3 \\
    --fail-on-eviction
  # Create the rule without evicting pods yet
  kubectl dra simulate eviction --node gpu-node-1 --emit-rule |
    kubectl apply -f -";

/// Simulate which pods device taints evict, and when
///
/// Runs the controllers on a virtual clock with the current taints and the taints from flags. Reports when and why each pod is deleted,
/// released claims, violated PodDisruptionBudgets, replacement pods, and the condition of each DeviceTaintRule. Changes nothing. `--node`,
/// `--driver`, `--pool` and `--device` together select the devices of a simulated DeviceTaintRule; `--emit-rule` prints it.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// Assume that drivers add this taint to devices
    ///
    /// `DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT`, `*` for any; can be repeated.
    #[arg(long = "taint", value_name = "TAINT")]
    taints: Vec<TaintDevices>,
    /// Add the DeviceTaintRules in this file
    ///
    /// `-` reads standard input; can be repeated.
    #[arg(long = "rule", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    rules: Vec<String>,
    /// Taint the devices of this node
    #[arg(long)]
    node: Option<String>,
    /// Taint the devices of this driver
    #[arg(long)]
    driver: Option<String>,
    /// Taint the devices of this pool
    #[arg(long)]
    pool: Option<String>,
    /// Taint the device with this name
    #[arg(long, value_name = "DEVICE-NAME")]
    device: Option<String>,
    /// Taint of the selected devices
    ///
    /// Tolerations are compared with it.
    #[arg(long, value_name = "KEY[=VALUE]", default_value = "kubectl-dra/simulated", value_parser = key)]
    key: (Str, Str),
    /// Also show which pods tolerate which taint, and until when
    #[arg(long)]
    toleration_report: bool,
    /// Print the simulated DeviceTaintRule as a manifest
    ///
    /// Its effect is None, so that the controller first counts the pods.
    #[arg(long)]
    emit_rule: bool,
    /// Exit with code 1 if a pod is evicted
    #[arg(long)]
    fail_on_eviction: bool,
}

/// Key and value of a taint.
fn key(text: &str) -> Result<(Str, Str), &'static str> {
    match text.split_once('=').unwrap_or((text, "")) {
        ("", _) => Err("the taint needs a key"),
        (key, value) => Ok((key.into(), value.into())),
    }
}

/// Kinds that a verdict requires.
const DECIDING: [Kind; 5] = [
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaim,
    Kind::Pod,
    Kind::PodGroup,
];

/// Kinds that make the picture whole.
const FURTHER: [Kind; 4] = [
    Kind::Node,
    Kind::DeviceClass,
    Kind::ResourceClaimTemplate,
    Kind::PodDisruptionBudget,
];

/// Name of the rules from flags, followed by a number if there are several.
const SIMULATED: &str = "kubectl-dra-simulated";

/// Number of objects the dry run of replacements may look at, which bounds its time to some seconds: 20 replacements in a cluster of
/// 250,000 objects, all of them in one of the usual size.
const OBJECTS_TO_PLACE: usize = 5_000_000;

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    ctx.printer().hold_warnings();
    let selection = objects::selection(ctx, objects::Default::All);
    let needs = Needs::kinds(DECIDING.into_iter().chain(FURTHER))
        .with_gates()
        .pods_after_claims();
    // What happens to one namespace depends on all of them, so the namespace only chooses what is shown.
    let needs = needs.at_least_in(selection.namespace.as_deref());
    let mut cluster = ctx.load(needs).await?;
    let now = ctx.now(&cluster);
    let nothing = presence::demand(ctx, &cluster, &mentions(&args, &selection)).await?;
    ctx.warn_all(&nothing);
    let mut is_empty = !nothing.is_empty();
    let rules = rules(ctx, &args, &cluster, &mut is_empty)?;
    if args.emit_rule {
        anyhow::ensure!(
            !rules.is_empty() || is_empty,
            UsageError::new("`--emit-rule` needs a rule").hint(
                "select devices with `--node`, `--driver`, `--pool` or `--device`, or pass a file with \
                      `--rule`"
            )
        );
        // A manifest has no place for a doubt.
        if is_empty {
            return Ok(Outcome::Unknown);
        }
        ctx.warn_all(rules.iter().filter_map(|rule| wide_rule(&cluster, rule)));
        ctx.printer().manifest(&manifests(&rules))?;
        return Ok(Outcome::Done);
    }
    can_simulate(&cluster, &rules)?;
    let changes = changes(ctx, &args, &cluster, &rules, now)?;
    let namespace = selection.namespace.as_ref();
    let mut report = simulated(&cluster, now, &changes, namespace, args.toleration_report);
    let wanted = owners_wanted(&cluster, &report);
    if ctx.is_live() && !wanted.is_empty() {
        let unread = ctx.learn_owners(&mut cluster, wanted).await?;
        let mut owners = cluster.environment().owners.iter();
        if owners.any(|owner| owner.fails_next || owner.recreates_group) {
            report = simulated(&cluster, now, &changes, namespace, args.toleration_report);
        }
        report.warnings.extend(unread);
    }
    let mut outcome = outcome(ctx, &cluster, namespace, &report, args.fail_on_eviction);
    // That no pod is evicted proves nothing where nothing is selected.
    is_empty |= !ctx.settings().allow_missing && rules.iter().any(|rule| !selects_any(&cluster, rule));
    if outcome == Outcome::Done && is_empty {
        outcome = Outcome::Unknown;
    }
    report.may_be_more = outcome == Outcome::Unknown;
    ctx.warn_all(report.warnings.iter());
    ctx.print(report)?;
    ctx.printer().note("simulation only; nothing was changed");
    Ok(outcome)
}

/// The most owners of evicted pods that are read.
const MOST_OWNERS: usize = 50;

/// The owners of evicted pods that do more than to recreate them: a Job may fail with its pod, and a LeaderWorkerSet recreates a whole group.
fn owners_wanted(cluster: &Cluster, report: &EvictionReport) -> Vec<OwnersWanted> {
    let evicted = report
        .pods
        .iter()
        .filter(|item| item.verdict == PodVerdict::Evicted);
    let owners = evicted.filter_map(|item| {
        let pod = cluster.pod(&Key::new(item.namespace.clone(), item.name.clone()))?;
        let is_grouped = pod.metadata.label(LEADER_WORKER_SET).is_some();
        let owner = pod.metadata.controller()?;
        (is_grouped || owner.kind == "Job").then(|| (item.namespace.clone(), owner.clone()))
    });
    OwnersWanted::above(owners, MOST_OWNERS)
}

/// What the current taints do.
///
/// # Errors
/// When it would take too much memory to find out.
pub(in crate::commands) fn current(
    ctx: &Ctx,
    cluster: &Cluster,
    namespace: Option<&Str>,
) -> Result<EvictionReport, Unread> {
    can_simulate(cluster, &[])?;
    let mut report = simulated(cluster, ctx.now(cluster), &[], namespace, false);
    report.may_be_more = outcome(ctx, cluster, namespace, &report, false) == Outcome::Unknown;
    ctx.warn_all(report.warnings.iter());
    Ok(report)
}

fn can_simulate(cluster: &Cluster, rules: &[TaintRule]) -> Result<(), Unread> {
    match too_much_to_simulate(cluster, rules) {
        None => Ok(()),
        Some(why) => Err(Unread::new(format!(
            "the simulation would need too much memory: {why}; use a file with fewer rules"
        ))),
    }
}

/// What happens in the cluster after `changes`.
fn simulated(
    cluster: &Cluster,
    now: Time,
    changes: &[Change],
    namespace: Option<&Str>,
    has_tolerations: bool,
) -> EvictionReport {
    let mut dry_run = DryRun::new(OBJECTS_TO_PLACE, judging::STEPS);
    let mut world = World::new(cluster.clone(), now, Some(&mut dry_run));
    for change in changes {
        world.apply(change.clone());
    }
    let mut report = report(&mut world, has_tolerations);
    // The process ends soon: a large world need not be taken apart before.
    std::mem::forget(world);
    if let Some(namespace) = namespace {
        report.only_in(namespace);
    }
    if !report.gave_up {
        report.assumed_gates = assumed_gates(cluster, changes, now, namespace, &report);
        let texts = report.assumed_gates.iter().map(AssumedGate::text);
        report.warnings.extend(texts);
    }
    let mut changed = cluster.clone();
    for change in changes {
        changed.apply(change.clone());
    }
    let bugs = of_placed(&changed, None);
    let texts = bugs
        .iter()
        .filter_map(|exposure| exposure.of_pods(&changed, namespace));
    report.warnings.extend(texts);
    let wide = changed.rules().filter_map(|rule| wide_rule(&changed, rule));
    report.warnings.extend(wide);
    report
}

impl Report for EvictionReport {
    const KIND: &'static str = "EvictionReport";

    fn view(&self, page: Page) -> View {
        answer::of(self, page).into()
    }
}

/// Returns what the flags name.
fn mentions(args: &Args, selection: &Selection) -> Vec<Mention> {
    let text = |part: &Option<String>| part.as_deref().map(Str::from);
    let chosen = DevicePattern {
        driver: text(&args.driver),
        pool: text(&args.pool),
        device: text(&args.device),
    };
    let namespace = selection.namespace.clone().map(Mention::Namespace);
    let node = args.node.as_deref().map(|node| Mention::scoped(Kind::Node, node));
    let chosen = (!chosen.is_any()).then_some(Mention::Devices(chosen));
    let tainted = args
        .taints
        .iter()
        .map(|taint| Mention::Devices(taint.devices.clone()));
    namespace
        .into_iter()
        .chain(node)
        .chain(chosen)
        .chain(tainted)
        .collect()
}

/// The rules that the flags add, as they would be sent to the API server.
fn rules(ctx: &Ctx, args: &Args, cluster: &Cluster, is_empty: &mut bool) -> anyhow::Result<Vec<TaintRule>> {
    let mut rules = Vec::new();
    for file in &args.rules {
        rules.extend(read_rules(ctx, file)?);
    }
    let text = |part: &Option<String>| part.as_deref().map(Str::from);
    let choice = DeviceChoice {
        node: text(&args.node),
        driver: text(&args.driver),
        pool: text(&args.pool),
        device: text(&args.device),
    };
    if !choice.is_empty() {
        let (key, value) = args.key.clone();
        let taint = Taint {
            key,
            value,
            effect: NO_EXECUTE.into(),
            time_added: None,
        };
        match rules_for(cluster, &choice, &taint, SIMULATED) {
            Ok(made) => rules.extend(made),
            Err(why) => {
                ctx.warn(why.to_string());
                *is_empty |= !ctx.settings().allow_missing;
            }
        }
    }
    Ok(rules)
}

fn read_rules(ctx: &Ctx, file: &str) -> anyhow::Result<Vec<TaintRule>> {
    let names = [file.to_owned()];
    let request = dra_sources::Request {
        names: &names,
        namespace: ctx.namespace_of_bare(),
        strict: true,
        versions: &ctx.settings().versions,
        started: None,
    };
    let needs = Needs::kinds([Kind::DeviceTaintRule]);
    let loaded = dra_sources::load(&request, &needs, Arc::new(Unobserved))
        .with_context(|| format!("cannot read rules from {file}"))?;
    let rules: Vec<TaintRule> = loaded.cluster.rules().map(|rule| (**rule).clone()).collect();
    anyhow::ensure!(
        !rules.is_empty(),
        UsageError::new(format!("{file} contains no DeviceTaintRule"))
    );
    Ok(rules)
}

/// Returns what the flags change in the cluster.
fn changes(
    ctx: &Ctx,
    args: &Args,
    cluster: &Cluster,
    rules: &[TaintRule],
    now: Time,
) -> anyhow::Result<Vec<Change>> {
    let usage = |why: dra_rules::simulation::HypothesisError| UsageError::new(why.to_string());
    // Several taints may go to one slice, so each is added to what the one before left.
    let mut changed = cluster.clone();
    let mut changes = Vec::new();
    for taint in &args.taints {
        let mut taint = taint.clone();
        // Objects have whole seconds.
        taint.taint.time_added = Some(Time::from_unix_seconds(now.unix_seconds()));
        let tainted = match taint.changes(&changed) {
            // That there is no such device was said.
            Err(_) if !presence::is_there(cluster, &Mention::Devices(taint.devices.clone())) => continue,
            tainted => tainted.map_err(|why| UsageError::new(why.to_string()))?,
        };
        for change in tainted {
            changed.apply(change.clone());
            changes.push(change);
        }
    }
    for rule in rules {
        changes.push(put_rule(&changed, rule, now).map_err(usage)?);
        if rule.spec.device_selector.is_none() {
            ctx.warn(format!(
                "devicetaintrule/{} has no deviceSelector, so it matches no device",
                rule.metadata.name
            ));
        } else if !selects_any(cluster, rule) {
            ctx.warn(format!(
                "devicetaintrule/{} matches no published or allocated device",
                rule.metadata.name
            ));
        }
    }
    // One update for each slice, as a driver publishes it: the last one.
    let object = |change: &Change| match change {
        Change::Put(object) => (object.kind(), object.metadata().key()),
        Change::Delete(kind, key) => (*kind, key.clone()),
    };
    let mut last: Vec<Change> = changes.into_iter().rev().unique_by(object).collect();
    last.reverse();
    Ok(last)
}

fn outcome(
    ctx: &Ctx,
    cluster: &Cluster,
    namespace: Option<&Str>,
    report: &EvictionReport,
    fail_on_eviction: bool,
) -> Outcome {
    let kinds = DECIDING.into_iter().chain([Kind::PodDisruptionBudget]);
    let gaps: Vec<&Gap> = kinds
        .filter_map(|kind| {
            let scope = if kind.is_namespaced() { namespace } else { None };
            cluster.gap(kind, scope.map_or("", Str::as_str))
        })
        .collect();
    let decides = gaps.iter().any(|gap| gap.kind != Kind::PodDisruptionBudget);
    all_missing(gaps).for_each(|missing| ctx.warn(missing));
    if decides || report.gave_up {
        Outcome::Unknown
    } else if fail_on_eviction && report.evicts() {
        Outcome::Findings
    } else {
        Outcome::Done
    }
}

/// The rules as manifests with the effect None: the controller then counts whom NoExecute would evict, and evicts no pod.
fn manifests(rules: &[TaintRule]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let documents = rules.iter().map(|rule| {
        let mut text = format!(
            "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata:\n  name: {}\nspec:\n",
            quoted(&rule.metadata.name)
        );
        if let Some(selector) = &rule.spec.device_selector {
            let parts = [
                ("driver", &selector.driver),
                ("pool", &selector.pool),
                ("device", &selector.device),
            ];
            let lines: String = parts
                .into_iter()
                .filter_map(|(name, part)| Some(format!("    {name}: {}\n", quoted(part.as_ref()?))))
                .collect();
            if lines.is_empty() {
                text.push_str("  deviceSelector: {}\n");
            } else {
                text.push_str("  deviceSelector:\n");
                text.push_str(&lines);
            }
        }
        let taint = &rule.spec.taint;
        text.push_str(&format!("  taint:\n    key: {}\n", quoted(&taint.key)));
        if !taint.value.is_empty() {
            text.push_str(&format!("    value: {}\n", quoted(&taint.value)));
        }
        text.push_str(&format!(
            "    # The controller counts the pods. To evict them, change this to {NO_EXECUTE}.\n    effect: {NO_EFFECT}\n"
        ));
        text
    });
    documents.collect::<Vec<_>>().join("---\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_begin_with_the_effect_none() {
        let mut rule = TaintRule::default();
        rule.metadata.name = "r".into();
        rule.spec.device_selector = Some(dra_model::TaintSelector {
            driver: Some("d".into()),
            ..dra_model::TaintSelector::default()
        });
        rule.spec.taint.key = "k".into();
        assert_eq!(
            manifests(&[rule]),
            "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata:\n  name: \"r\"\nspec:\n  deviceSelector:\n    driver: \
             \"d\"\n  taint:\n    key: \"k\"\n    # The controller counts the pods. To evict them, change this to NoExecute.\n    \
             effect: None\n"
        );
    }
}
