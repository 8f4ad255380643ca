//! `kubectl dra run --take-over`: the controllers themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::telling::Telling;
use super::view::Viewing;
use super::{EXTENDED, Run, is_superfluous};
use crate::commands::duration;
use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::counted;
use dra_model::{Component, Key};
use dra_rules::controllers::{ControllerName, Deviations};
use dra_rules::reservation::PodGroups;
use dra_runner::{Failure, Operation, Proof, Watching, Working};

const HEADING: &str = "Take-over";

/// The Lease of a take-over, unless another one is named.
const LEASE: &str = "kubectl-dra-run";

/// How long the built-in controllers are watched before they are replaced.
const OBSERVE: &str = "30s";

/// What the command line says of a take-over.
#[derive(Debug, clap::Args)]
pub(super) struct Flags {
    /// Work instead of the built-in controllers
    ///
    /// They have to be off.
    #[arg(long, conflicts_with = "overdue", help_heading = HEADING)]
    pub(super) take_over: bool,

    /// `resourceclaim`, `device-taint-eviction`
    ///
    /// Only this one of the two.
    #[arg(long, value_name = "CONTROLLER", value_delimiter = ',', value_parser = controller, requires = "take_over", help_heading = HEADING)]
    controllers: Vec<ControllerName>,

    /// Watch first for so long
    ///
    /// Whether the built-in controllers are off is seen by that.
    #[arg(long, value_name = "DURATION", default_value = OBSERVE, value_parser = duration, requires = "take_over", help_heading = HEADING)]
    observe: Duration,

    /// Do not watch first: they are off
    #[arg(long, requires = "take_over", conflicts_with = "observe", help_heading = HEADING)]
    assume_builtin_disabled: bool,

    /// Jobs of a controller at once
    ///
    /// By default `resourceclaim=50,device-taint-eviction=8`.
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',', value_parser = workers, requires = "take_over", help_heading = HEADING)]
    workers: Vec<(ControllerName, usize)>,

    /// Hold a rule that would evict more pods
    ///
    /// Its condition and an event say so.
    #[arg(long, value_name = "NUMBER", requires = "take_over", help_heading = HEADING)]
    eviction_limit: Option<usize>,

    /// Deviations: `extended-resource-eviction`
    ///
    /// What to do better than kube-controller-manager; with a minus what to do as it does although that is wrong, as in
    /// `-terminal-reservations`. docs/commands/run.md lists them. `extended-resource-eviction` has no effect from Kubernetes 1.37.2 on.
    #[arg(long, value_name = "FIX", value_delimiter = ',', value_parser = fix, allow_hyphen_values = true, requires = "take_over", help_heading = HEADING)]
    fix: Vec<Fix>,
}

/// A deviation that is switched on or off.
#[derive(Clone, Copy, Debug)]
struct Fix {
    name: &'static str,
    set: fn(&mut Deviations, bool),
    on: bool,
}

/// Deviations by name, as `docs/commands/run.md` lists them.
type Deviation = (&'static str, fn(&mut Deviations, bool));

const FIXES: [Deviation; 7] = [
    ("terminal-reservations", |all, on| all.terminal_reservations = on),
    ("members-of-groups", |all, on| all.members_of_groups = on),
    ("final-errors", |all, on| all.final_errors = on),
    ("group-statuses", |all, on| all.group_statuses = on),
    ("oldest-claim", |all, on| all.oldest_claim = on),
    ("deleted-claims", |all, on| all.deleted_claims = on),
    (EXTENDED, |all, on| all.extended_resource_eviction = on),
];

fn fix(text: &str) -> Result<Fix, String> {
    let (on, name) = match text.strip_prefix('-') {
        Some(name) => (false, name),
        None => (true, text.strip_prefix('+').unwrap_or(text)),
    };
    let found = FIXES.iter().find(|(known, _)| *known == name);
    let found = found.map(|(name, set)| Fix { name, set: *set, on });
    found.ok_or_else(|| {
        let names = FIXES.map(|(name, _)| name).join(", ");
        format!("no such fix; there are {names}")
    })
}

/// What can stand for `--controllers`.
pub(in crate::commands) fn controllers() -> impl Iterator<Item = &'static str> {
    ControllerName::ALL.into_iter().map(ControllerName::as_str)
}

/// What can stand for `--fix`: what is better than upstream, and with a minus what is as upstream.
pub(in crate::commands) fn fixes() -> impl Iterator<Item = &'static str> {
    FIXES.iter().map(|(name, _)| *name)
}

fn controller(text: &str) -> Result<ControllerName, String> {
    let is_it = |name: &ControllerName| {
        let full = name.as_str();
        text == full || Some(text) == full.strip_suffix("-controller")
    };
    ControllerName::ALL.into_iter().find(is_it).ok_or_else(|| {
        let names = ControllerName::ALL.map(ControllerName::as_str).join(" and ");
        format!("no such controller; there are {names}")
    })
}

fn workers(text: &str) -> Result<(ControllerName, usize), String> {
    let (name, number) = text
        .split_once('=')
        .ok_or("a controller and a number are needed, as in resourceclaim=50")?;
    match number.parse() {
        Ok(number) if number > 0 => Ok((controller(name)?, number)),
        _ => Err("a number of at least 1 is needed".to_owned()),
    }
}

impl Flags {
    fn names(&self) -> Vec<ControllerName> {
        if self.controllers.is_empty() {
            ControllerName::ALL.to_vec()
        } else {
            self.controllers.clone()
        }
    }

    fn working(&self, names: &[ControllerName], ctx: &Ctx, run: Run<'_>) -> anyhow::Result<Working> {
        let Run {
            writing,
            for_,
            operation,
            recheck,
            ..
        } = run;
        let mut workers: BTreeMap<ControllerName, usize> = names
            .iter()
            .map(|name| (*name, dra_runner::default_workers(*name)))
            .collect();
        for (name, number) in &self.workers {
            let known = workers.get_mut(name).ok_or_else(|| {
                UsageError::new(format!("`--workers` names {name}, and `--controllers` does not"))
            })?;
            *known = *number;
        }
        let mut deviations = Deviations::ON;
        for Fix { set, on, .. } in &self.fix {
            set(&mut deviations, *on);
        }
        Ok(Working {
            workers,
            qps: writing.kube_api_qps,
            burst: writing.kube_api_burst,
            deviations,
            eviction_limit: self.eviction_limit,
            as_released: ctx.settings().versions.kubernetes.is_some(),
            wall: ctx.wall(),
            operation,
            recheck,
            is_viewed: false,
            lease: writing.lease(LEASE),
            dry_run: writing.dry_run,
            for_,
            interruption: ctx.interruption(),
        })
    }
}

pub(super) async fn run(ctx: &Ctx, flags: Flags, run: Run<'_>) -> anyhow::Result<Outcome> {
    let Run {
        writing,
        needs,
        format,
        ..
    } = run;
    let (lease, dry_run) = (writing.lease(LEASE), writing.dry_run);
    let names = flags.names();
    let noted = Arc::clone(&run.operation);
    let mut working = flags.working(&names, ctx, run)?;
    let mut loaded = ctx.load_to_watch(needs).await?;
    ctx.ends_by_itself();
    let live = ctx.live().await?;
    let viewing = Viewing::begin(ctx, live.name());
    working.is_viewed = viewing.is_seen();
    let environment = loaded.cluster.environment();
    dra_runner::check_gates(environment)?;
    if flags.fix.iter().any(|fix| fix.name == EXTENDED) {
        is_superfluous(ctx, environment, "--fix");
    }
    let groups = PodGroups::of(environment, Component::ControllerManager);
    let wanted = dra_runner::rights(names.iter().copied(), environment, groups, lease.as_ref());
    if let Some(missing) = live.missing_rights(wanted).await? {
        return Err(Failure::from(missing).into());
    }
    if !flags.assume_builtin_disabled && !is_led(ctx, lease.as_ref()).await? {
        ctx.printer().note(&format!(
            "watching {} for {} s: are the built-in controllers off?",
            live.name(),
            flags.observe.as_secs_f64()
        ));
        let observed = Arc::<Operation>::default();
        let watching = Watching {
            overdue: flags.observe.mul_f64(0.6),
            for_: Some(flags.observe),
            interruption: ctx.interruption(),
            as_released: ctx.settings().versions.kubernetes.is_some(),
            wall: ctx.wall(),
            // The probes are asked about the work that follows.
            operation: Arc::clone(&observed),
            recheck: None,
            is_viewed: false,
        };
        let seen = dra_runner::shadow(live, needs, loaded, ctx.clock(), watching, |_| {}).await?;
        if *ctx.interruption().borrow() {
            return Ok(Outcome::Done);
        }
        // What was not seen proves nothing.
        if super::written(ctx, &observed) == Outcome::Unknown {
            return Ok(Outcome::Unknown);
        }
        let arguments = live.built_in_controllers().await?;
        let proofs = dra_runner::may_replace(names.iter().copied(), &seen.evidence, &arguments)
            .map_err(Failure::from)?;
        for (name, proof) in proofs {
            ctx.printer()
                .note(&format!("the built-in {name} is off: {}", words(&proof)));
        }
        loaded = ctx.load_to_watch(needs).await?;
    }
    let telling = Telling {
        ctx,
        format,
        cluster: live.name(),
        viewing: &viewing,
    };
    let words: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let tell = |report| telling.report(report, &words, dry_run);
    let done = dra_runner::take_over(live, needs, loaded, ctx.clock(), working, tell).await?;
    viewing.clear();
    ctx.printer().note(&done.to_string());
    Ok(super::written(ctx, &noted))
}

/// A lease that was renewed within this time shows that another replica works, or did a moment ago: the built-in controllers are off.
const LATELY: Duration = Duration::from_secs(60);

/// Whether another replica has found out already that the built-in controllers are off.
async fn is_led(ctx: &Ctx, lease: Option<&Key>) -> anyhow::Result<bool> {
    let Some(lease) = lease else { return Ok(false) };
    let holder = dra_runner::holder(ctx.live().await?, lease, ctx.clock()).await?;
    Ok(holder.is_some_and(|holder| {
        let is_led = holder.renewed < LATELY && holder.replaces();
        if is_led {
            ctx.printer().note(&format!(
                "lease {lease} is held by {}: the built-in controllers are off",
                holder.identity
            ));
        }
        is_led
    }))
}

fn words(proof: &Proof) -> String {
    match proof {
        Proof::Undone(writes) => {
            let writes = usize::try_from(*writes).unwrap_or(usize::MAX);
            format!("{} undone", counted(writes, "write is", "writes are"))
        }
        Proof::Arguments(pods) => format!(
            "the arguments of {} say so",
            counted(*pods, "kube-controller-manager", "kube-controller-managers")
        ),
    }
}
