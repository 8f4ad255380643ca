//! `kubectl dra convert` itself: on a cluster plan, confirm, back up, write and verify; on files the rehearsal of that.

use crate::context::Ctx;
use crate::error::Outcome;

use super::carry_out::{Work, carry_out, check_records};
use super::files;
use super::writing::{PassesArgs, WritingArgs};
use dra_model::Environment;

/// Flags of a whole conversion.
#[derive(Debug, clap::Args)]
pub(super) struct WholeArgs {
    #[command(flatten)]
    what: files::Args,

    #[command(flatten)]
    passes: PassesArgs,

    #[command(flatten)]
    writing: WritingArgs,
}

pub(super) async fn run(ctx: &Ctx, args: WholeArgs) -> anyhow::Result<Outcome> {
    let what = args.what;
    if what.out.is_some() || !ctx.is_live() {
        return files::run(ctx, what).await;
    }
    check_records(ctx, &args.writing, None)?;
    let kinds = what.selection.kinds();
    let work = Work {
        selection: what.selection.selection(ctx)?,
        passes: &args.passes,
        writing: &args.writing,
        plan: None,
    };
    let options = |environment: &Environment| Ok(what.planning.options(kinds, environment)?);
    carry_out(ctx, work, options).await
}
