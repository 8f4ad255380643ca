//! `kubectl dra convert restore`: restores the lists of a backup, where nothing has changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ValueHint;
use serde::Serialize;

use crate::commands::{objects, presence};
use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use crate::output::{Column, Page, Report, SortBy, SortError, Table, Tone, View, counted, one_line};
use dra_model::{Meta, Str};
use dra_reports::Selection;
use dra_reports::presence::{Absence, absent_namespace};
use dra_reports::script::Command;
use dra_runner::conversion::{self, Entry, Head, Mode, Old, Outcome as ClaimOutcome, Paths, Record, Stop};
use dra_sources::destination::FileIdentity;

use super::carry_out::{Shown, agreed, check, mode, outcome, records, told, tone, unknown, warn_of};
use super::writing::ConsentArgs;

const EXAMPLES: &str = "\
Examples:
  # Undo a conversion
  kubectl dra convert restore --backup FILE";

/// Restore the reservations that a conversion replaced
///
/// Restores an entry only if its object still exists with that UID and no pod that uses the claim would lose its entry. Otherwise
/// reports the difference.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Args {
    /// Only these claims: `NAME`, `claim/NAME` or `claim/NAMESPACE/NAME`
    #[arg(value_name = "CLAIM")]
    pub(super) names: Vec<String>,

    /// Backup written by the conversion; without it, the backups of the cluster are listed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) backup: Option<PathBuf>,

    /// Journal of the conversion; default: the file next to the backup
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) journal: Option<PathBuf>,

    #[command(flatten)]
    pub(super) consent: ConsentArgs,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Some(backup) = args.backup else {
        return Err(no_backup(ctx).await?.into());
    };
    check(ctx, &args.consent)?;
    if !ctx.settings().selector.is_empty() {
        return Err(UsageError::new("`convert restore` does not support `--selector`").into());
    }
    let selection = objects::claims(ctx, objects::Default::All, &args.names)?;
    let journal = args.journal.unwrap_or_else(|| Paths::journal_of(&backup));
    if FileIdentity::of(&backup) == FileIdentity::of(&journal) {
        let error = UsageError::new("`--backup` and `--journal` name the same file");
        return Err(error
            .hint("omit `--journal`: the journal next to the backup is found automatically")
            .into());
    }
    // What a conversion is writing tells half.
    let _lock = conversion::hold(&backup, &journal)?;
    let mut old = conversion::saved(&backup, &journal)?;
    let absences = not_saved(&selection, &old, &backup);
    presence::end_or_warn(ctx, absences)?;
    old.retain(|old| {
        selection.includes(&Meta {
            namespace: old.key.namespace.clone(),
            name: old.key.name.clone(),
            ..Meta::default()
        })
    });
    let live = ctx.live().await?;
    // What is known of the cluster stands in the report.
    ctx.load(dra_sources::Needs::none()).await?;
    let head = Head {
        server: live.server().to_owned(),
        context: live.context().map(str::to_owned),
        restore: true,
        cluster_uid: live.cluster_uid().await?,
        ..Head::default()
    };
    check_cluster(ctx, &journal, &head)?;
    if old.is_empty() {
        ctx.printer().note("The backup has no claims to restore");
        return Ok(Outcome::Done);
    }
    let mode = mode(args.consent.dry_run);
    let mut record = None;
    if mode == Mode::Write {
        if !args.consent.yes {
            let claims = counted(
                old.len(),
                "claim will get its old list",
                "claims will get their old lists",
            );
            ctx.printer().note(&format!(
                "On cluster `{}` ({}): {claims} back, unless changed since",
                one_line(live.name()),
                one_line(live.server())
            ));
            if !agreed(ctx)? {
                return Ok(Outcome::Findings);
            }
        }
        let paths = Paths::choose(None, None, &records(live.name()), &head)?;
        // From here on there is something to finish.
        ctx.ends_by_itself();
        record = Some(Record::open(paths, &head)?);
    }
    let stop = Stop::when(ctx.interruption());
    let shown = Shown(ctx);
    let versions = &ctx.settings().versions;
    let report = conversion::restore(live, &old, versions, mode, record.as_ref(), &stop, &shown).await;
    ctx.end_computing();
    if let Some(record) = record {
        record.close(report.as_ref().is_ok_and(conversion::Report::is_finished));
    }
    finish(ctx, &report?)
}

/// Refuses a journal of another cluster. Where that cannot be known, and the journal names another address, it is said.
fn check_cluster(ctx: &Ctx, journal: &Path, head: &Head) -> anyhow::Result<()> {
    let entries = conversion::read_journal(journal)?;
    conversion::check_cluster(journal, &entries, head)?;
    let elsewhere = entries.iter().find_map(|entry| match entry {
        Entry::Start { head: of, .. } if of.server != head.server && of.is_of_cluster(head).is_none() => {
            Some(&of.server)
        }
        _ => None,
    });
    if let Some(server) = elsewhere {
        ctx.warn(format!(
            "`{}` was written for `{}`. The UID of namespace kube-system is unknown, so it is assumed to be \
            another address of this cluster: only claims with the UIDs of the backup are written",
            journal.display(),
            one_line(server)
        ));
    }
    Ok(())
}

/// Number of backups that are listed.
const LISTED: usize = 10;

/// The error if no backup is named, with those of the cluster.
async fn no_backup(ctx: &Ctx) -> anyhow::Result<UsageError> {
    let folder = records(ctx.live().await?.name());
    let backups = Paths::backups(&folder)?;
    let error = UsageError::new("`convert restore` needs `--backup FILE`");
    if backups.is_empty() {
        let folder = folder.display();
        return Ok(error.hint(format!(
            "there are no backups in `{folder}`: name the file that the conversion wrote"
        )));
    }
    let restore = Command::dra("convert").arg("restore");
    let commands = backups.iter().map(|backup| {
        let backup = backup.display().to_string();
        // A name that no shell takes is not for a command.
        let command = restore.clone().option("--backup", &backup).done();
        command.map_or(backup, |script| script.to_string())
    });
    let mut lines = vec!["choose one of the backups, the newest first:".to_owned()];
    lines.extend(commands.take(LISTED));
    let more = backups.len().saturating_sub(LISTED);
    if more > 0 {
        lines.push(format!("and {more} more in `{}`", folder.display()));
    }
    Ok(error.hint(lines.join("\n  ")))
}

/// Returns what is to be restored and is not in the backup.
fn not_saved(selection: &Selection, old: &[Old], backup: &Path) -> Vec<Absence> {
    let mut absences = Vec::new();
    let backup = backup.display();
    for key in &selection.names {
        if old.iter().all(|old| old.key != *key) {
            absences.push(Absence {
                message: format!("claim/{key} is not in `{backup}`"),
                name: key.to_string(),
                others: old.iter().map(|old| old.key.to_string()).collect(),
                elsewhere: Vec::new(),
                nouns: ("claim", "claims"),
                selects: false,
            });
        }
    }
    if let Some(namespace) = selection
        .namespace
        .as_ref()
        .filter(|_| selection.names.is_empty())
        && !old.is_empty()
        && old.iter().all(|old| old.key.namespace != *namespace)
    {
        let others: BTreeSet<&Str> = old.iter().map(|old| &old.key.namespace).collect();
        absences.push(Absence {
            message: format!("`{backup}` has no claims in namespace `{namespace}`"),
            ..absent_namespace(namespace, others.iter().map(ToString::to_string))
        });
    }
    absences
}

fn finish(ctx: &Ctx, report: &conversion::Report) -> anyhow::Result<Outcome> {
    warn_of(ctx, "nothing was written", &report.unknown);
    let result = RestorationResult::new(report);
    let verdict = told(&result.summary);
    ctx.print(result)?;
    ctx.printer().note(&verdict);
    outcome(ctx, report, "the restore")
}

/// Result of each claim of a backup.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct RestorationResult {
    /// Number of claims came to each outcome.
    #[schemars(with = "BTreeMap<&str, std::num::NonZeroUsize>")]
    summary: BTreeMap<&'static str, usize>,
    /// By namespace and name.
    claims: Vec<RestoredClaim>,
    /// Objects that could not be read. Nothing was written then.
    unknown: Vec<String>,
    /// True if it was ended before it was finished.
    interrupted: bool,
}

/// Result of a claim of a backup.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct RestoredClaim {
    /// Its namespace.
    namespace: Str,
    /// Its name.
    name: Str,
    /// Outcome.
    #[schemars(extend("enum" = OUTCOMES.map(text)))]
    outcome: &'static str,
    #[serde(skip)]
    tone: Tone,
    /// Reason, if any: for a rejection, the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Possible outcomes of a restore.
const OUTCOMES: [ClaimOutcome; 6] = [
    ClaimOutcome::Converted,
    ClaimOutcome::AlreadyDone,
    ClaimOutcome::Refused,
    ClaimOutcome::Failed,
    ClaimOutcome::NotTried,
    ClaimOutcome::WouldConvert,
];

/// The name of an outcome where an old list was to come back.
fn text(outcome: ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Converted | ClaimOutcome::Replanned => "Restored",
        ClaimOutcome::WouldConvert => "WouldRestore",
        ClaimOutcome::Released
        | ClaimOutcome::AlreadyDone
        | ClaimOutcome::Kept
        | ClaimOutcome::Refused
        | ClaimOutcome::Failed
        | ClaimOutcome::NotTried
        | ClaimOutcome::WouldRelease => outcome.into(),
    }
}

impl RestorationResult {
    fn new(report: &conversion::Report) -> Self {
        let mut summary = BTreeMap::new();
        let mut claims = Vec::new();
        for result in report.claims.values() {
            let outcome = text(result.outcome);
            *summary.entry(outcome).or_default() += 1;
            claims.push(RestoredClaim {
                namespace: result.key.namespace.clone(),
                name: result.key.name.clone(),
                outcome,
                tone: tone(result.outcome),
                message: result.message.clone(),
            });
        }
        Self {
            summary,
            claims,
            unknown: unknown(report),
            interrupted: report.interrupted,
        }
    }
}

pub(in crate::commands) const COLUMNS: &[Column<RestoredClaim>] = &[
    Column::new("NAMESPACE", ".namespace", |claim, cell| {
        cell.text(&claim.namespace);
    }),
    Column::new("CLAIM", ".name", |claim, cell| cell.text(&claim.name)),
    Column::new("OUTCOME", ".outcome", |claim, cell| {
        cell.toned(claim.tone, claim.outcome);
    }),
    Column::new("MESSAGE", ".message", |claim, cell| {
        cell.option(claim.message.as_deref());
    }),
];

impl Report for RestorationResult {
    const KIND: &'static str = "RestorationResult";

    fn view(&self, _: Page) -> View {
        Table::of(COLUMNS, &self.claims).into()
    }

    fn names(&self) -> Vec<String> {
        let name = |claim: &RestoredClaim| format!("resourceclaim.resource.k8s.io/{}", claim.name);
        self.claims.iter().map(name).collect()
    }

    fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
        by.sort(&mut self.claims, COLUMNS)
    }
}
