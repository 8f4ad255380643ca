//! `kubectl dra run --take-over`: the controllers themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{EXTENDED, Run, is_superfluous};
use crate::commands::duration;
use crate::error::{Outcome, UsageError};
use crate::output::counted;
use dra_model::{Component, Key};
use dra_rules::controllers::{ControllerName, Deviations};
use dra_rules::reservation::PodGroups;
use dra_runner::{Failure, Options, Proof, TakeOver, Telemetry};
use dra_sources::Loaded;

const HEADING: &str = "Take-over";

/// The Lease of a take-over, unless another one is named.
const LEASE: &str = "kubectl-dra-run";

/// Time to watch the built-in controllers before replacing them.
const OBSERVE: &str = "30s";

/// Flags of a take-over.
#[derive(Debug, clap::Args)]
pub(super) struct Flags {
    /// Run in place of the built-in controllers
    ///
    /// They must be disabled.
    #[arg(long, conflicts_with = "overdue", help_heading = HEADING)]
    pub(super) take_over: bool,

    /// `resourceclaim` or `device-taint-eviction`
    ///
    /// Runs only this controller.
    #[arg(long, value_name = "CONTROLLER", value_delimiter = ',', value_parser = controller, requires = "take_over", help_heading = HEADING)]
    controllers: Vec<ControllerName>,

    /// Watch this long first
    ///
    /// Detects whether the built-in controllers are disabled.
    #[arg(long, value_name = "DURATION", default_value = OBSERVE, value_parser = duration, requires = "take_over", help_heading = HEADING)]
    observe: Duration,

    /// Skip the watch: they are disabled
    #[arg(long, requires = "take_over", conflicts_with = "observe", help_heading = HEADING)]
    assume_builtin_disabled: bool,

    /// Concurrent jobs of a controller
    ///
    /// By default `resourceclaim=50,device-taint-eviction=8`.
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',', value_parser = workers, requires = "take_over", help_heading = HEADING)]
    workers: Vec<(ControllerName, usize)>,

    /// Pause a rule that would evict more pods
    ///
    /// Its condition and an event report it.
    #[arg(long, value_name = "NUMBER", requires = "take_over", help_heading = HEADING)]
    eviction_limit: Option<usize>,

    /// Deviations: `extended-resource-eviction`
    ///
    /// Behaves better than kube-controller-manager; with a minus sign, repeats its wrong behavior, such as
    /// `-terminal-reservations`. docs/reference/commands/run.md lists them. `extended-resource-eviction` has no effect since Kubernetes 1.37.2.
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

/// Deviations by name, as `docs/reference/commands/run.md` lists them.
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
        format!("unknown fix; expected {names}")
    })
}

/// Returns what can stand for `--controllers`.
pub(in crate::commands) fn controllers() -> impl Iterator<Item = &'static str> {
    ControllerName::ALL.into_iter().map(ControllerName::into)
}

/// Returns what can stand for `--fix`: what is better than upstream, and with a minus what is as upstream.
pub(in crate::commands) fn fixes() -> impl Iterator<Item = &'static str> {
    FIXES.iter().map(|(name, _)| *name)
}

fn controller(text: &str) -> Result<ControllerName, String> {
    let is_it = |name: &ControllerName| {
        let full: &str = name.into();
        text == full || Some(text) == full.strip_suffix("-controller")
    };
    ControllerName::ALL.into_iter().find(is_it).ok_or_else(|| {
        let names = controllers().collect::<Vec<_>>().join(" and ");
        format!("unknown controller; expected {names}")
    })
}

fn workers(text: &str) -> Result<(ControllerName, usize), String> {
    let (name, number) = text
        .split_once('=')
        .ok_or("expected CONTROLLER=NUMBER, as in resourceclaim=50")?;
    match number.parse() {
        Ok(number) if number > 0 => Ok((controller(name)?, number)),
        _ => Err("expected a number of at least 1".to_owned()),
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

    /// The controllers, each with its maximum number of concurrent jobs.
    pub(super) fn workers(&self) -> Result<BTreeMap<ControllerName, usize>, UsageError> {
        let names = self.names().into_iter();
        let mut workers: BTreeMap<ControllerName, usize> = names
            .map(|name| (name, dra_runner::default_workers(name)))
            .collect();
        for (name, number) in &self.workers {
            let known = workers.get_mut(name).ok_or_else(|| {
                UsageError::new(format!("`--workers` names {name}, but `--controllers` does not"))
            })?;
            *known = *number;
        }
        Ok(workers)
    }
}

pub(super) async fn run(
    run: &Run<'_>,
    flags: Flags,
    workers: BTreeMap<ControllerName, usize>,
    mut loaded: Loaded,
) -> anyhow::Result<Outcome> {
    let Run { ctx, live, .. } = run;
    let writing = run.writing.writing(LEASE);
    let lease = writing.lease.as_ref();
    let names = flags.names();
    let environment = loaded.cluster.environment();
    dra_runner::check_gates(environment)?;
    if flags.fix.iter().any(|fix| fix.name == EXTENDED) {
        is_superfluous(ctx, environment, "--fix");
    }
    let groups = PodGroups::of(environment, Component::ControllerManager);
    let rights = dra_runner::rights(names.iter().copied(), environment, groups, lease);
    run.check_rights(rights).await?;
    if !flags.assume_builtin_disabled && !is_led(run, lease).await? {
        ctx.printer().note(&format!(
            "watching {} for {} s to see whether the built-in controllers are off",
            live.name(),
            flags.observe.as_secs_f64()
        ));
        let observed = Arc::<Telemetry>::default();
        let options = Options {
            for_: Some(flags.observe),
            // The probes are asked about the work that follows.
            telemetry: Arc::clone(&observed),
            recheck: None,
            shows_status: false,
            ..run.options.clone()
        };
        let overdue = flags.observe.mul_f64(0.6);
        let seen = dra_runner::shadow(run.listed(loaded), overdue, options, |_| {}).await?;
        if *run.options.interruption.borrow() {
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
        loaded = ctx.load_to_watch(run.needs).await?;
    }
    let mut deviations = Deviations::ON;
    for Fix { set, on, .. } in &flags.fix {
        set(&mut deviations, *on);
    }
    let take_over = TakeOver {
        workers,
        deviations,
        eviction_limit: flags.eviction_limit,
    };
    let names: Vec<&str> = names.iter().map(<&str>::from).collect();
    let log = run.log(&names);
    let tell = |message| log.message(message);
    let (listed, options) = (run.listed(loaded), run.options.clone());
    let jobs = dra_runner::take_over(listed, take_over, writing, options, tell).await?;
    Ok(run.end(jobs))
}

/// A lease that was renewed within this time shows that another replica works, or did a moment ago: the built-in controllers are off.
const LATELY: Duration = Duration::from_secs(60);

/// Reports whether another replica leads, which has found out already that the built-in controllers are off.
async fn is_led(run: &Run<'_>, lease: Option<&Key>) -> anyhow::Result<bool> {
    let Some(lease) = lease else { return Ok(false) };
    let holder = dra_runner::holder(run.live, lease, run.ctx.clock()).await?;
    Ok(holder.is_some_and(|holder| {
        let is_led = holder.renewed < LATELY && holder.replaces();
        if is_led {
            run.ctx.printer().note(&format!(
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
            "according to the arguments of {}",
            counted(*pods, "kube-controller-manager", "kube-controller-managers")
        ),
    }
}
