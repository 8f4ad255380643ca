//! `-w`: after the table, the rows of what changes, until interrupted.

use std::time::Duration;

use crate::context::Ctx;
use crate::error::UsageError;
use crate::output::{Detail, Format, Page, PrintError, Report, View, Widths};
use dra_model::{Change, Cluster};
use dra_sources::live::{Persistence, Watched};
use dra_sources::{Loaded, Needs};

/// Rows printed below each other, with fixed columns.
pub(super) struct Rows<'c> {
    ctx: &'c Ctx,
    widths: Widths,
}

impl<'c> Rows<'c> {
    pub(super) fn new(ctx: &'c Ctx) -> Self {
        Self {
            ctx,
            widths: Widths::default(),
        }
    }

    /// Prints the rows of `report`, or the report itself where it is not a table that was asked for.
    pub(super) fn show(&mut self, report: impl Report) -> Result<(), PrintError> {
        let detail = match self.ctx.settings().output.format {
            Format::Table => Detail::Normal,
            Format::Wide => Detail::Wide,
            _ => return self.ctx.print(report),
        };
        match report.view(Page::endless(detail, false)) {
            View::Table(table) => self.ctx.printer().rows(&table, &mut self.widths),
            View::Doc(_) => self.ctx.print(report),
        }
    }
}

/// Refuses to watch what does not change.
///
/// # Errors
/// When the source is not a cluster.
pub(super) fn check(ctx: &Ctx) -> Result<(), UsageError> {
    if ctx.settings().output.watch && !ctx.is_live() {
        return Err(
            UsageError::needs_cluster("`--watch`").hint("remove `--from` to watch the current cluster")
        );
    }
    Ok(())
}

/// Hands `show` every change after `loaded`. Changes within `settle` are handed over together.
///
/// # Errors
/// When the cluster can no longer be watched, or nothing be printed. There is no other end.
pub(super) async fn follow(
    ctx: &Ctx,
    needs: &Needs,
    loaded: Loaded,
    settle: Duration,
    mut show: impl FnMut(&mut Cluster, Vec<Change>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut watch = ctx
        .live()
        .await?
        .watch(
            needs,
            &loaded.cluster,
            &loaded.resource_versions,
            Persistence::UntilRefused,
        )
        .await?;
    let mut cluster = loaded.cluster;
    loop {
        match watch.next(settle).await? {
            Watched::Changes(changes) => show(&mut cluster, changes)?,
            Watched::Unreadable(object) => ctx.warn(object.to_string()),
            Watched::Newer(fields) => fields.warnings().for_each(|warning| ctx.warn(warning)),
            Watched::Trouble(trouble) => ctx.warn(trouble.message),
            Watched::InStep(_) => {}
        }
    }
}
