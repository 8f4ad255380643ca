//! `kubectl dra convert --from IN --out OUT`: a conversion on the objects of a file, as a rehearsal.
//!
//! The result is a snapshot, which is read again and compared with what was planned before the file of `--out` appears, whole or not
//! at all.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::ValueHint;

use super::args::{PlanningArgs, SelectionArgs, check_kinds, needs};
use super::plan;
use crate::commands::{places, presence, successor};
use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::counted;
use dra_model::{Change, Claim, ClaimPatch, Cluster, Object};
use dra_reports::conversion::{ConversionPlan, plan_of, verification};
use dra_rules::reservation::conversion::Plan;
use dra_sources::Successor;
use dra_sources::destination::{Destination, FileIdentity, Readers};

/// A conversion on files.
// The command that it is part of calls its arguments the same, and groups of arguments need different names.
#[derive(Debug, clap::Args)]
#[group(id = "files")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) selection: SelectionArgs,

    #[command(flatten)]
    pub(super) planning: PlanningArgs,

    /// With `--from`: write the converted objects to this file
    ///
    /// Compressed if the name ends in .gz or .zst. `-` is standard output; the report then goes to standard error.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) out: Option<PathBuf>,

    /// With `--out`: allow overwriting the `--from` file
    ///
    /// It may be the only copy.
    #[arg(long, requires = "out")]
    pub(super) force: bool,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let (names, out) = places(ctx, args.out, args.force)?;
    let kinds = args.selection.kinds();
    let selection = args.selection.selection(ctx)?;
    let before = ctx.load(needs(&selection).with_others()).await?;
    let nothing = presence::demand_claims(ctx, &before, &selection).await?;
    check_kinds(&kinds, &before)?;
    let options = args.planning.options(kinds.clone(), before.environment())?;
    let plan = plan_of(&before, &selection, &options);
    let mut report = ConversionPlan::of(&before, &selection, &options, &plan);
    report.unknown.extend(nothing);
    plan::warn(ctx, &report);
    // The objects have standard output for themselves.
    let print = |report| match &out {
        Destination::Stdout => ctx.print_aside(plan::Planned::from(report)),
        Destination::File(_) => ctx.print(plan::Planned::from(report)),
    };
    if !report.unknown.is_empty() {
        print(report)?;
        return Ok(Outcome::Unknown);
    }
    let after = converted(&before, &plan);
    let successor = Successor {
        names,
        namespace: ctx.namespace_of_bare(),
        before: &before,
        after: &after,
        templates: &BTreeMap::new(),
        at: before.environment().read_at,
    };
    let name = match &out {
        Destination::Stdout => "standard output".to_owned(),
        Destination::File(file) => file.named().display().to_string(),
    };
    successor::write(ctx, &successor, &out, Readers::AsBefore)
        .with_context(|| format!("cannot convert `{}` into `{name}`", names.join(", ")))?;
    let proof = verification(&after, &selection, &kinds);
    let verdict = plan::verdict(&report.summary);
    print(report)?;
    ctx.printer().note(&format!(
        "wrote {name}: {}, {} left",
        if verdict.is_empty() {
            "nothing to convert"
        } else {
            &verdict
        },
        counted(proof.items.len(), "defect", "defects")
    ));
    Ok(Outcome::of(!proof.items.is_empty(), false))
}

/// The cluster once `plan` was carried out.
fn converted(before: &Cluster, plan: &Plan) -> Cluster {
    let mut after = before.clone();
    for planned in &plan.claims {
        let claim = before.claim(&planned.key).map(|claim| Claim::clone(claim));
        if let (Some(mut claim), Some(patch)) = (claim, planned.patch()) {
            patch.apply(&mut claim);
            if let Some(patch) = ClaimPatch::without_finalizer(&claim).filter(|_| patch.releases()) {
                patch.apply(&mut claim);
            }
            after.apply(Change::Put(Object::ResourceClaim(claim.into())));
        }
    }
    after
}

/// The files to read and the file to write. Nothing is read or written before that is settled.
fn places(ctx: &Ctx, out: Option<PathBuf>, force: bool) -> anyhow::Result<(&[String], Destination)> {
    let names = successor::read_twice(ctx)?;
    let out = out.ok_or_else(|| {
        UsageError::new("`--from` also requires `--out FILE`")
            .hint("the converted objects are written to a new file")
    })?;
    let out = Destination::of(&out)?;
    if !force {
        places::check(places::written("--out", &out), &places::from(ctx))
            .map_err(|error| error.hint("name another file, or pass `--force` to overwrite the original"))?;
    }
    if let (Destination::File(_), Some(file), Some(stdout)) =
        (&out, out.identity(), FileIdentity::of_stdout())
        && file == stdout
    {
        return Err(UsageError::new(
            "`--out` names the same file as standard output, which receives the report",
        )
        .hint("redirect standard output elsewhere, or pass `--out -` to write the objects there")
        .into());
    }
    Ok((names, out))
}
