//! Paths of backup and journal: given by the user, or in a directory per cluster, so that an unfinished conversion is
//! found.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::journal::{Entry, Head, read_journal};
use super::{RecordError, file};

/// Paths of backup and journal.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The claims as they were.
    pub backup: PathBuf,
    /// The writes.
    pub journal: PathBuf,
}

const BACKUP: &str = ".backup.json";
const JOURNAL: &str = ".journal.jsonl";

impl Paths {
    /// Those that the user named; otherwise next to each other, with a unique name in `folder`. An unfinished
    /// conversion there is continued.
    pub fn choose(
        backup: Option<PathBuf>,
        journal: Option<PathBuf>,
        folder: &Path,
        head: &Head,
    ) -> Result<Self, RecordError> {
        if let Some(named) = Self::named(backup, journal) {
            return Ok(named);
        }
        if let Some(journal) = unfinished(folder, head)? {
            return Ok(Self {
                backup: beside(&journal, JOURNAL, BACKUP),
                journal,
            });
        }
        let stamp = format!(
            "{}-{}",
            Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ"),
            std::process::id()
        );
        let named = |name: &str| Self {
            backup: folder.join(format!("{name}{BACKUP}")),
            journal: folder.join(format!("{name}{JOURNAL}")),
        };
        let mut paths = named(&stamp);
        // Containers that share a directory may have processes with the same ID.
        let mut number = 2;
        while paths.journal.exists() || paths.backup.exists() {
            paths = named(&format!("{stamp}-{number}"));
            number += 1;
        }
        Ok(paths)
    }

    /// Those that the user named; one alone says where the other one lies.
    pub fn named(backup: Option<PathBuf>, journal: Option<PathBuf>) -> Option<Self> {
        match (backup, journal) {
            (Some(backup), Some(journal)) => Some(Self { backup, journal }),
            (Some(backup), None) => Some(Self {
                journal: Self::journal_of(&backup),
                backup,
            }),
            (None, Some(journal)) => Some(Self {
                backup: beside(&journal, JOURNAL, BACKUP),
                journal,
            }),
            (None, None) => None,
        }
    }

    /// The backups of conversions in `folder`, the newest first. Those that are empty have nothing to restore.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn backups(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
        let journals = journals(folder)?.into_iter().rev();
        let backups = journals.map(|journal| beside(&journal, JOURNAL, BACKUP));
        let has_claims = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() > 0);
        Ok(backups.filter(has_claims).collect())
    }

    /// The journal that belongs to a backup, unless the user names another one.
    pub fn journal_of(backup: &Path) -> PathBuf {
        beside(backup, BACKUP, JOURNAL)
    }
}

/// The path with another ending.
fn beside(path: &Path, ending: &str, other: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name
        .strip_suffix(ending)
        .or_else(|| name.strip_suffix(".json"))
        .unwrap_or(&name);
    path.with_file_name(format!("{stem}{other}"))
}

/// The newest journal in `folder` for `head`, if it was interrupted and no process writes it.
fn unfinished(folder: &Path, head: &Head) -> Result<Option<PathBuf>, RecordError> {
    for journal in journals(folder)?.into_iter().rev() {
        let entries = read_journal(&journal)?;
        let is_same = entries.first().is_some_and(
            |entry| matches!(entry, Entry::Start { head: of, .. } if of.is_likely_of_cluster(head) && of.restore == head.restore),
        );
        if is_same {
            let has_ended = matches!(entries.last(), Some(Entry::End { finished: true, .. }));
            let is_busy = File::open(&journal).is_ok_and(|file| file.try_lock_shared().is_err());
            return Ok((!has_ended && !is_busy).then_some(journal));
        }
    }
    Ok(None)
}

/// Journals in `folder`, by age.
fn journals(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut journals: Vec<PathBuf> = match folder.read_dir() {
        Ok(entries) => entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().ends_with(JOURNAL))
            .collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(file("read", folder, source)),
    };
    // Names begin with the time.
    journals.sort();
    Ok(journals)
}

/// Returns the lease holders during the last conversion before the final one for the cluster of `head`, if its journal
/// is in `folder`.
///
/// # Errors
/// When a journal cannot be read.
pub fn holders_before(folder: &Path, head: &Head) -> Result<BTreeMap<String, String>, RecordError> {
    for path in journals(folder)?.into_iter().rev() {
        let mut starts = read_journal(&path)?
            .into_iter()
            .rev()
            .filter_map(|entry| match entry {
                Entry::Start { head, .. } => Some(head),
                _ => None,
            });
        if let Some(of) = starts.find(|of| of.is_likely_of_cluster(head) && !of.is_final && !of.restore) {
            return Ok(of.lease_holders);
        }
    }
    Ok(BTreeMap::new())
}
