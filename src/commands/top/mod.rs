//! `kubectl dra top`: nodes, use, pending objects and events on a terminal, as they change.

mod data;
mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::data::{Data, Shows};
use self::view::{Action, View};
use super::usage::By;
use super::{Accepts, explain, objects};
use crate::context::{Ctx, SourceSetting};
use crate::error::{Outcome, UsageError};
use crate::output::{FullScreen, Tone, span};
use dra_model::{Cluster, Kind, Time};
use dra_reports::STATUS_NEEDS;
use dra_reports::explanation::EXPLAIN_NEEDS;
use dra_sources::live::{Persistence, Watch, Watched};
use dra_sources::{Loaded, Needs};

pub(super) const ACCEPTS: Accepts = Accepts::NOTHING;

const EXAMPLES: &str = "\
Examples:
  # Watch nodes, use, pending objects and events
  kubectl dra top
  # Group use by the Jobs and Deployments behind it
  kubectl dra top --by owner
  # Look at what a file has
  kubectl dra top --from example:gpus";

/// Watch nodes, use, pending objects and events in a live view
///
/// Enter explains what the selected row is about, `/` filters, `s` sorts, `?` lists all keys, and `q` quits. Only reads.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["live", "tui", "dashboard"])]
pub(crate) struct Args {
    /// Group usage by
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: By,
}

/// Changes that arrive within this time are shown together.
const SETTLE: Duration = Duration::from_millis(200);

/// A state that took a time to compute is computed again after so many times as long.
const REST: u32 = 4;

/// Ages are drawn again after this time.
const TICK: Duration = Duration::from_secs(5);

/// What is computed in the background.
struct Computing {
    task: JoinHandle<Data>,
    start: Instant,
    now: Time,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Some(page) = ctx.printer().screen() else {
        let error = UsageError::new("`top` needs a terminal");
        return Err(error.hint("kubectl dra status   (prints the state once)").into());
    };
    // They would be printed into the picture.
    ctx.printer().hold_warnings();
    let shows = Shows {
        selection: objects::selection(ctx, objects::Default::All),
        by: args.by.into(),
        page,
    };
    let needs = Needs::kinds(STATUS_NEEDS.into_iter().chain(EXPLAIN_NEEDS))
        .with_gates()
        .with_schedulers()
        .pods_after_claims();
    let loaded = ctx.load_to_watch(&needs).await?;
    let (watch, name) = match &ctx.settings().source {
        SourceSetting::Cluster(_) => {
            let live = ctx.live().await?;
            let Loaded {
                cluster,
                resource_versions,
                ..
            } = &loaded;
            let watch = live
                .watch(&needs, cluster, resource_versions, Persistence::Lasting)
                .await?;
            (Some(watch), live.name().to_owned())
        }
        SourceSetting::Files(names) => (None, names.join(", ")),
    };
    ctx.end_computing();
    show(ctx, &shows, loaded.cluster, watch, View::new(name, page)).await?;
    Ok(Outcome::Done)
}

async fn show(
    ctx: &Ctx,
    shows: &Shows,
    mut cluster: Cluster,
    mut watch: Option<Watch>,
    mut view: View,
) -> anyhow::Result<()> {
    let mut screen = ctx.printer().full_screen()?;
    let mut keys = FullScreen::keys()?;
    let mut troubles: BTreeMap<Kind, String> = BTreeMap::new();
    let is_live = watch.is_some();
    let time = |cluster: &Cluster| if is_live { ctx.clock() } else { ctx.now(cluster) };
    let compute = |cluster: &Cluster| {
        let now = time(cluster);
        let (shows, cluster) = (shows.clone(), cluster.clone());
        Computing {
            task: tokio::task::spawn_blocking(move || shows.of(&cluster, now)),
            start: Instant::now(),
            now,
        }
    };
    let mut computing = Some(compute(&cluster));
    let mut computed: Option<Time> = None;
    // Whether something has changed since, and when to compute it at the earliest.
    let (mut is_changed, mut due) = (false, Instant::now());
    loop {
        view.state = match (troubles.values().next(), computed) {
            (Some(trouble), _) => span(Tone::Bad, trouble),
            (None, None) => span(Tone::Plain, "reading"),
            (None, Some(time)) => {
                let time = Time::from_unix_seconds(time.unix_seconds()).to_string();
                let clock = time.split_once('T').map_or(time.as_str(), |(_, clock)| clock);
                span(Tone::Plain, format!("as of {clock}"))
            }
        };
        let (columns, lines) = screen.size()?;
        screen.draw(&view.draw(columns, lines))?;
        tokio::select! {
            biased;
            key = keys.recv() => match key.map_or(Action::Quit, |key| view.press(key)) {
                Action::Draw => {}
                Action::Quit => return Ok(()),
                Action::Explain(topic) => {
                    let title = topic.to_string();
                    view.show(title.clone(), "explaining ...");
                    screen.draw(&view.draw(columns, lines))?;
                    let page = shows.page.sized(columns);
                    let text = explain::text(ctx, cluster.clone(), &topic, time(&cluster), page).await;
                    match text {
                        Ok(text) => view.show(title, &text),
                        Err(error) => view.tell(title, &format!("{error:#}")),
                    }
                }
            },
            result = finished(&mut computing) => {
                let (data, start, now) = result?;
                view.update(data);
                computed = Some(now);
                due = Instant::now() + start.elapsed() * REST;
            }
            watched = next(&mut watch) => match watched? {
                Watched::Changes(changes) => {
                    for change in changes {
                        cluster.apply(change);
                    }
                    is_changed = true;
                }
                Watched::Trouble(trouble) => _ = troubles.insert(trouble.kind, trouble.message),
                Watched::InStep(kind) => _ = troubles.remove(&kind),
                Watched::Unreadable(object) => ctx.warn(object.to_string()),
                Watched::Newer(fields) => fields.warnings().for_each(|warning| ctx.warn(warning)),
            },
            () = tokio::time::sleep_until(due), if is_changed && computing.is_none() => {
                is_changed = false;
                computing = Some(compute(&cluster));
            }
            () = tokio::time::sleep(TICK) => {}
        }
    }
}

/// Waits for what is computed, if anything is. Cancelling loses nothing.
async fn finished(computing: &mut Option<Computing>) -> anyhow::Result<(Data, Instant, Time)> {
    let Some(Computing { task, start, now }) = computing else {
        return std::future::pending().await;
    };
    let (start, now) = (*start, *now);
    let data = task.await;
    *computing = None;
    Ok((data.context("cannot compute what to show")?, start, now))
}

/// Waits for the next message of a watch, if there is one. Cancelling loses nothing.
async fn next(watch: &mut Option<Watch>) -> Result<Watched, dra_sources::live::Error> {
    match watch {
        Some(watch) => watch.next(SETTLE).await,
        None => std::future::pending().await,
    }
}
