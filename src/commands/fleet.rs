//! The same question to one cluster or to several: each of several is read on its own, side by side with others, and one that cannot be
//! read is reported beside the answers of the others.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::context::{Ctx, FleetSetting, Member, SourceSetting};
use crate::error::{Failure, Outcome, TimedOut, message};
use crate::output::{
    Cell, Column, Document, Envelope, Format, Page, Report, SortBy, SortError, Table, UNKNOWN, View,
};
use dra_reports::script::{Carried, carrying};
use dra_sources::LoadError;
use dra_sources::files::SnapshotDirectory;

/// Clusters that are read at a time, unless `--parallel` says otherwise. Each is decoded and judged on all processors.
const PARALLEL: usize = 4;

/// The flags that choose several clusters, as they are typed.
const CHOOSING: [&str; 3] = ["--context", "--fleet", "--parallel"];

/// What a command says about one cluster.
pub(super) struct Answer<R> {
    pub(super) report: R,
    pub(super) outcome: Outcome,
    /// What stderr says below the report, where no other line says it.
    pub(super) note: Option<String>,
}

/// A report on one cluster that there can be several of.
pub(super) trait OfCluster: Report + Send + Sized + 'static {
    /// The table of all clusters.
    const CLUSTERS: &'static [Column<Asked<Self>, Page>];
    /// True if the table follows the reports; otherwise it stands in their place.
    const HAS_BLOCKS: bool;
}

/// A cluster, and what it says.
pub(super) struct Asked<R> {
    cluster: String,
    carried: Arc<Carried>,
    answer: Result<(Envelope, Answer<R>), anyhow::Error>,
}

/// Several clusters, in the order of the command line or of their names.
#[derive(Serialize)]
#[serde(bound(serialize = "R: Report"))]
pub(super) struct Fleet<R> {
    clusters: Vec<Asked<R>>,
}

impl<R> Asked<R> {
    /// The column with its name.
    pub(super) const CLUSTER: Column<Self, Page> =
        Column::inner("CLUSTER", |asked, cell| cell.text(&asked.cluster));

    /// Fills a cell with what `of` finds in the report.
    pub(super) fn known<T: std::fmt::Display>(
        &self,
        cell: &mut Cell<'_, Page>,
        of: impl Fn(&R) -> Option<T>,
    ) {
        match &self.answer {
            Ok((_, answer)) => cell.known(of(&answer.report)),
            // A terminal has little room, and the row says why.
            Err(_) if cell.context.is_terminal() => {}
            Err(_) => cell.text(UNKNOWN),
        }
    }

    /// Fills a cell with what the report says, or why there is none.
    pub(super) fn result(&self, cell: &mut Cell<'_, Page>, of: impl Fn(&R) -> String) {
        match &self.answer {
            Ok((_, answer)) => cell.text(of(&answer.report)),
            Err(error) => cell.text(unread(error)),
        }
    }
}

fn unread(error: &anyhow::Error) -> String {
    format!("not read: {}", message(error))
}

impl<R: Report> Serialize for Asked<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[serde_with_macros::skip_serializing_none]
        #[derive(Serialize)]
        struct Line<'a, D> {
            cluster: &'a str,
            report: Option<D>,
            error: Option<String>,
        }
        let answer = self.answer.as_ref();
        Line {
            cluster: &self.cluster,
            report: answer
                .ok()
                .map(|(envelope, answer)| Document::new(envelope, &answer.report)),
            error: answer.err().map(message),
        }
        .serialize(serializer)
    }
}

impl<R: OfCluster> Report for Fleet<R> {
    const KIND: &'static str = "Fleet";

    fn view(&self, page: Page) -> View {
        Table::with(R::CLUSTERS, page.detail(), &page, &self.clusters).into()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        let mut answers = self
            .clusters
            .iter_mut()
            .filter_map(|asked| asked.answer.as_mut().ok());
        answers.try_for_each(|(_, answer)| answer.report.sort(by))
    }
}

impl<R> Fleet<R> {
    /// The worst of all: a problem, then an unknown answer, which that of a cluster is that could not be read.
    fn outcome(&self) -> Outcome {
        let is = |wanted| {
            let outcome = |asked: &Asked<R>| {
                asked
                    .answer
                    .as_ref()
                    .map_or(Outcome::Unknown, |(_, answer)| answer.outcome)
            };
            self.clusters.iter().any(|asked| outcome(asked) == wanted)
        };
        Outcome::of(is(Outcome::Findings), is(Outcome::Unknown))
    }
}

/// Asks the cluster, or each of several, and prints what is said.
pub(super) async fn run<A, R, F>(ctx: &Ctx, args: A, ask: F) -> anyhow::Result<Outcome>
where
    A: Clone + Send + 'static,
    R: OfCluster,
    F: AsyncFn(&Ctx, A) -> anyhow::Result<Answer<R>> + Copy + Send + 'static,
{
    let Some(fleet) = &ctx.settings().fleet else {
        let answer = ask(ctx, args).await?;
        ctx.print(answer.report)?;
        if let Some(note) = answer.note {
            ctx.printer().note(&note);
        }
        return Ok(answer.outcome);
    };
    let parallel = ctx.settings().parallel.map_or(PARALLEL, NonZeroUsize::get);
    let slots = Arc::new(Semaphore::new(parallel.min(Semaphore::MAX_PERMITS)));
    let progress = ctx.progress("reading clusters", None);
    let mut asked = Vec::new();
    for member in members(ctx, fleet)? {
        let slot = Arc::clone(&slots).acquire_owned().await?;
        progress.now(&format!("reading {}", member.name));
        let (cluster, carried) = (member.name.clone(), Arc::new(member.carried.clone()));
        let (of_member, args) = (Arc::new(ctx.of_member(member)), args.clone());
        let asking = tokio::spawn({
            let carried = Arc::clone(&carried);
            async move {
                let working = Arc::clone(&of_member);
                let work = move || carrying(carried, || Handle::current().block_on(ask(&working, args)));
                let answer = within(
                    of_member.settings().timeout,
                    &of_member,
                    tokio::task::spawn_blocking(work),
                )
                .await;
                drop(slot);
                answer
            }
        });
        asked.push((cluster, carried, asking));
    }
    let mut clusters = Vec::new();
    for (cluster, carried, asking) in asked {
        let answer = asking.await?;
        clusters.push(Asked {
            cluster,
            carried,
            answer,
        });
    }
    drop(progress);
    // What no cluster can answer is not about any of them.
    let is_usage = |asked: &Asked<R>| {
        asked
            .answer
            .as_ref()
            .is_err_and(|error| Failure::of(error) == Failure::Usage)
    };
    if clusters.iter().all(is_usage)
        && let Some(Asked {
            answer: Err(error), ..
        }) = clusters.pop()
    {
        return Err(error);
    }
    let mut fleet = Fleet { clusters };
    print(ctx, &mut fleet)?;
    Ok(fleet.outcome())
}

/// The answer for a cluster, unless it takes longer than `limit`.
async fn within<R>(
    limit: Option<Duration>,
    ctx: &Ctx,
    work: impl Future<Output = Result<anyhow::Result<Answer<R>>, tokio::task::JoinError>>,
) -> anyhow::Result<(Envelope, Answer<R>)> {
    let limit = limit.unwrap_or(Duration::MAX);
    let doing = |_| TimedOut {
        limit,
        doing: ctx.doing(),
    };
    let answer = timeout(limit, work).await.map_err(doing)???;
    Ok((ctx.envelope(), answer))
}

/// The clusters, each with the flags that lead to it alone.
fn members(ctx: &Ctx, fleet: &FleetSetting) -> anyhow::Result<Vec<Member>> {
    let carried = &ctx.settings().carried;
    let mut members = match fleet {
        FleetSetting::Contexts(members) => members.clone(),
        FleetSetting::Directory(directory) => {
            let found = SnapshotDirectory::of(directory).map_err(LoadError::from)?;
            ctx.warn_all(found.left_out);
            let of_file = |(name, file): (String, String)| {
                let flag = format!("--from={file}");
                let mut carried = carried.clone();
                carried.source.insert(0, flag.clone());
                Member {
                    name,
                    flag,
                    carried,
                    source: SourceSetting::Files(vec![file]),
                }
            };
            found.clusters.into_iter().map(of_file).collect()
        }
    };
    for member in &mut members {
        member.carried.typed = typed_for(&carried.typed, &member.flag);
    }
    Ok(members)
}

/// The words of a command line about several clusters, for the one that `flag` names.
fn typed_for(words: &[String], flag: &str) -> Vec<String> {
    let mut typed = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if !CHOOSING.contains(&name) {
            typed.push(word.clone());
        } else if value.is_none() {
            words.next();
        }
    }
    if !typed.is_empty() {
        let end = typed.iter().position(|word| word == "--").unwrap_or(typed.len());
        typed.insert(end, flag.to_owned());
    }
    typed
}

/// Prints what the clusters say, and warns of what they warn of.
fn print<R: OfCluster>(ctx: &Ctx, fleet: &mut Fleet<R>) -> anyhow::Result<()> {
    let printer = ctx.printer();
    let format = printer.options().format;
    if format == Format::Ndjson {
        if let Some(by) = &printer.options().sort_by {
            fleet.sort(by)?;
        }
        for asked in &fleet.clusters {
            printer.line(asked)?;
        }
    } else {
        let is_document = matches!(format, Format::Json | Format::Yaml);
        let mut has_blocks = false;
        for asked in fleet
            .clusters
            .iter_mut()
            .filter(|_| R::HAS_BLOCKS && !is_document)
        {
            if let Ok((envelope, answer)) = &mut asked.answer {
                printer.heading(&format!("Cluster: {}", asked.cluster), !has_blocks)?;
                carrying(Arc::clone(&asked.carried), || {
                    printer.report(envelope, &mut answer.report)
                })?;
                has_blocks = true;
            }
        }
        if has_blocks {
            printer.heading("All clusters", false)?;
        }
        printer.report(&ctx.envelope(), fleet)?;
    }
    for Asked { cluster, answer, .. } in &fleet.clusters {
        match answer {
            Ok((envelope, _)) => {
                for warning in &envelope.warnings {
                    printer.warning(&format!("{cluster}: {warning}"));
                }
            }
            // On a terminal the table says it.
            Err(error) if !printer.has_screen() => printer.warning(&format!("{cluster}: {}", unread(error))),
            Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_about_all_clusters_becomes_one_about_one() {
        for (typed, expected) in [
            ("check --context a --context=b", "check --context=a"),
            (
                "--fleet dir explain -A --parallel 2 -v=6",
                "explain -A -v=6 --context=a",
            ),
            ("status --fleet=dir -- x", "status --context=a -- x"),
            ("", ""),
        ] {
            let words: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
            assert_eq!(typed_for(&words, "--context=a").join(" "), expected, "{typed}");
        }
    }
}
