//! `kubectl dra convert apply`: a plan that was made before is carried out, as far as it still holds.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueHint;

use crate::context::Ctx;
use crate::error::Outcome;
use dra_model::Str;
use dra_reports::Selection;
use dra_reports::conversion::read_plan;

use super::carry_out::{Work, carry_out, check_records};
use super::writing::{PassesArgs, WritingArgs};

const EXAMPLES: &str = "\
Examples:
  # Apply a reviewed plan
  kubectl dra convert apply --plan plan.json
  # Apply it in a script
  kubectl dra convert apply --plan plan.json --yes";

/// Apply a plan printed by `convert plan -o json`
///
/// Writes only the claims that the plan converts or releases. Lists pods again, and plans changed claims again before writing them: their
/// outcome is `Replanned`. Every claim of the plan has an outcome. Rejects a plan for another cluster.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Args {
    /// The plan; `-` reads standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) plan: PathBuf,

    #[command(flatten)]
    pub(super) passes: PassesArgs,

    #[command(flatten)]
    pub(super) writing: WritingArgs,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let path = args.plan.display();
    check_records(ctx, &args.writing, Some(&args.plan))?;
    let json = read(&args.plan).with_context(|| format!("cannot read `{path}`"))?;
    let plan = read_plan(&json).with_context(|| format!("cannot read `{path}`"))?;
    // Nothing is planned while something is unknown.
    if !plan.unknown.is_empty() {
        let unknown = plan.unknown.iter();
        ctx.warn_all(
            unknown.map(|what| format!("nothing was written: the plan `{path}` is incomplete: {what}")),
        );
        return Ok(Outcome::Unknown);
    }
    let options = plan.options.to_options()?;
    let namespaces: BTreeSet<&Str> = plan.claims.iter().map(|claim| &claim.namespace).collect();
    // Claims that are gone since are no error, so they are selected by the plan alone.
    let mut selection = Selection::default();
    if let (1, Some(&namespace)) = (namespaces.len(), namespaces.first()) {
        selection.namespace = Some(namespace.clone());
    }
    let work = Work {
        selection,
        passes: &args.passes,
        writing: &args.writing,
        plan: Some(&plan),
    };
    carry_out(ctx, work, |_| Ok(options)).await
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
