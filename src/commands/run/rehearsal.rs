//! `kubectl dra run --from FILE --until DURATION`: the controllers over the objects of a file, on a virtual clock.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::ValueHint;
use itertools::Itertools as _;

use crate::commands::{duration, places, successor};
use crate::context::Ctx;
use crate::error::{Outcome, Unread, UsageError};
use crate::output::{Column, Page, Report, Table, View, counted};
use dra_model::Kind;
use dra_reports::{ControllerTrace, TraceItem, controller_trace};
use dra_rules::simulation::{World, too_much_to_simulate};
use dra_sources::destination::{Destination, Readers};
use dra_sources::{Needs, Successor};

/// Flags of the rehearsal.
// The command that it is part of calls its arguments the same, and groups of arguments need different names.
#[derive(Debug, clap::Args)]
#[group(id = "rehearsal")]
pub(super) struct Args {
    /// With `--from`: rehearse this long on a virtual clock
    ///
    /// The clock starts at the time when the files were written.
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = REHEARSAL)]
    until: Option<Duration>,

    /// With `--from`: write the final objects to this file
    ///
    /// Compressed if the name ends in .gz or .zst. `-` is standard output; the report then goes to standard error.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = REHEARSAL)]
    out: Option<PathBuf>,
}

const REHEARSAL: &str = "Rehearsal on files";

/// Without these there is nothing that the controllers would do.
const DECIDING: [Kind; 2] = [Kind::Pod, Kind::ResourceClaim];

/// Additional kinds for the controllers, and the nodes, which show whether a kubelet exists.
const FURTHER: [Kind; 5] = [
    Kind::PodGroup,
    Kind::ResourceClaimTemplate,
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::Node,
];

impl Args {
    /// Refuses what has a meaning with `--from` only.
    pub(super) fn refuse_live(&self) -> Result<(), UsageError> {
        let flag = match self {
            Self { until: Some(_), .. } => "--until",
            Self { out: Some(_), .. } => "--out",
            _ => return Ok(()),
        };
        let error = UsageError::new(format!("`{flag}` needs `--from`"));
        Err(error.hint(
            "pass a `kubectl dra snapshot` file with `--from`, or remove the flag to watch the cluster",
        ))
    }

    fn time(&self, live_flag: Option<&str>) -> Result<Duration, UsageError> {
        if let Some(flag) = live_flag {
            let error = UsageError::needs_cluster(&format!("`{flag}`"));
            return Err(error.hint("use `--until` to rehearse the controllers on files"));
        }
        self.until.ok_or_else(|| {
            UsageError::new("`run --from` needs `--until`")
                .hint("pass `--until 30m` to rehearse 30 minutes on a virtual clock")
        })
    }
}

const COLUMNS: &[Column<TraceItem>] = &[
    Column::new("AT", ".at", |item, cell| cell.text(item.at)),
    Column::new("CONTROLLER", ".controller", |item, cell| {
        cell.text(item.controller);
    }),
    Column::new("ACTION", ".action", |item, cell| cell.text(item.action)),
    Column::new("OBJECT", ".object", |item, cell| cell.text(&item.object)),
    Column::new("COUNT", ".count", |item, cell| cell.text(item.count)),
    Column::new("DETAIL", ".detail", |item, cell| cell.text(&item.detail)),
];

impl Report for ControllerTrace {
    const KIND: &'static str = "ControllerTrace";

    fn view(&self, _: Page) -> View {
        Table::of(COLUMNS, &self.events).into()
    }

    fn names(&self) -> Vec<String> {
        let objects = self.events.iter().map(|event| event.object.clone());
        objects.unique().collect()
    }

    fn nothing(&self) -> Option<String> {
        Some(format!("The controllers have nothing to do until {}", self.to))
    }
}

/// Rehearses on the files `names`. `live_flag` is a flag that was given and that only a watch understands.
pub(super) async fn run(
    ctx: &Ctx,
    names: &[String],
    args: Args,
    live_flag: Option<&str>,
) -> anyhow::Result<Outcome> {
    let time = args.time(live_flag)?;
    let out = args.out.as_deref().map(Destination::of).transpose()?;
    if let Some(out) = &out {
        places::check(places::written("--out", out), &places::from(ctx))?;
        successor::read_twice(ctx)?;
    }
    let needs = if out.is_some() {
        // What is written says of every kind how much is known of it.
        Needs::everything()
    } else {
        Needs::kinds(DECIDING.into_iter().chain(FURTHER)).with_gates()
    };
    let before = ctx.load(needs).await?;
    if let Some(why) = too_much_to_simulate(&before, &[]) {
        return Err(Unread::new(format!(
            "the rehearsal would take too much memory: {why}; use a file with fewer rules"
        ))
        .into());
    }
    let begin = ctx.now(&before);
    let end = begin.after(time);
    let mut world = World::restarted(before.clone(), begin);
    world.run_until(end);
    ctx.warn_all(world.troubles());
    let report = controller_trace(world.traced(), (begin, end), world.looping());
    match &out {
        // The objects have standard output for themselves.
        Some(Destination::Stdout) => ctx.print_aside(report)?,
        _ => ctx.print(report)?,
    }
    if let Some(out) = &out {
        let successor = Successor {
            names,
            namespace: ctx.namespace_of_bare(),
            before: &before,
            after: world.cluster(),
            templates: &world.templates_of_made(),
            at: Some(end),
        };
        let objects = successor::write(ctx, &successor, out, Readers::Owner)
            .context("cannot write the final state of the rehearsal")?;
        if let Destination::File(file) = out {
            let objects = counted(
                usize::try_from(objects).unwrap_or(usize::MAX),
                "object",
                "objects",
            );
            ctx.printer().note(&format!(
                "wrote {}: {objects}, as of {end}",
                file.named().display()
            ));
        }
    }
    ctx.printer().note("rehearsal only; nothing was changed");
    let is_unknown = world.gave_up() || DECIDING.into_iter().any(|kind| before.gap(kind, "").is_some());
    Ok(Outcome::of(false, is_unknown))
}
