//! `kubectl dra convert` itself: on a cluster plan, confirm, back up, write and verify; on files the rehearsal of that.

use crate::context::Ctx;
use crate::error::Outcome;

use super::carry_out::{Work, carry_out, check_records};
use super::files;
use super::writing::{PassesArgs, WritingArgs};

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
    let WholeArgs {
        what,
        passes,
        writing,
    } = args;
    if what.out.is_some() || !ctx.is_live() {
        return files::run(ctx, what).await;
    }
    let files::Args {
        selection,
        planning,
        out: _,
        force: _,
    } = what;
    check_records(ctx, &writing, None)?;
    let kinds = selection.kinds();
    let work = Work {
        selection: selection.selection(ctx)?,
        passes: &passes,
        writing: &writing,
        plan: None,
    };
    carry_out(ctx, work, |environment| Ok(planning.options(kinds, environment)?)).await
}
