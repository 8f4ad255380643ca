//! Which kinds the files of `--from` tell everything of, and which they leave open.
//!
//! That a file has no pods says nothing about pods. A kind is known when a file has objects of it, is a list of that kind alone, be it
//! an empty one, or is a snapshot that says so. What is known no better becomes a [`Gap`], as a list does that may not be read from a
//! cluster. A snapshot also tells how many objects of each kind it has, so that a missing one is noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bundle::SnapshotInfo;
use super::needs::{Needs, Problem};
use crate::model::{Gap, Kind, Str};

/// What the files tell, file by file.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    files: BTreeMap<Arc<str>, File>,
}

/// What one file tells.
#[derive(Debug, Default)]
struct File {
    /// Objects that are there, sound or not.
    objects: BTreeMap<Kind, u64>,
    /// Kinds of which the file has a whole list.
    listed: BTreeSet<Kind>,
    /// Kinds of which the file has one page of several.
    cut: BTreeSet<Kind>,
    snapshots: Vec<SnapshotInfo>,
}

/// What follows from all files together.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// What is not known.
    pub(super) gaps: Vec<Gap>,
    /// Snapshots that do not hold what they say.
    pub(super) damaged: Vec<Problem>,
    /// Kinds that no file says anything of.
    pub(super) absent: Vec<Kind>,
}

impl Coverage {
    /// There are `count` more objects of `kind`.
    pub(super) fn objects(&mut self, file: &Arc<str>, kind: Kind, count: u64) {
        *self.file(file).objects.entry(kind).or_default() += count;
    }

    /// There is a list of `kind` alone; `whole` unless it says that more pages follow.
    pub(super) fn list(&mut self, file: &Arc<str>, kind: Kind, whole: bool) {
        let file = self.file(file);
        let lists = if whole { &mut file.listed } else { &mut file.cut };
        lists.insert(kind);
    }

    /// There is a snapshot.
    pub(super) fn snapshot(&mut self, file: &Arc<str>, info: SnapshotInfo) {
        self.file(file).snapshots.push(info);
    }

    /// Every snapshot with the file that it is in, in the order of the files.
    pub(super) fn snapshots(&self) -> impl Iterator<Item = (&str, &SnapshotInfo)> + Clone {
        let files = self.files.iter();
        files.flat_map(|(name, file)| file.snapshots.iter().map(move |info| (&**name, info)))
    }

    fn file(&mut self, name: &Arc<str>) -> &mut File {
        // Cloned for the first object alone.
        if !self.files.contains_key(name) {
            self.files.insert(Arc::clone(name), File::default());
        }
        self.files.entry(Arc::clone(name)).or_default()
    }

    /// What is missing of `needs`.
    pub(super) fn verdict(&self, needs: &Needs) -> Verdict {
        let mut verdict = Verdict::default();
        for kind in needs.kind_set() {
            let mut told = Vec::new();
            for (name, file) in &self.files {
                told.push(file.tells(kind));
                if let Some((said, found)) = file.miscounts(kind) {
                    let reason = format!("`{name}` is damaged");
                    verdict.gaps.push(hole(kind, reason));
                    verdict.damaged.push(Problem {
                        place: name.to_string(),
                        object: None,
                        message: format!(
                            "is damaged: its snapshot lists {said} {}, and {found} are there",
                            kind.plural()
                        ),
                    });
                }
                if file.cut.contains(&kind) {
                    verdict
                        .gaps
                        .push(hole(kind, format!("`{name}` has one page of several")));
                }
            }
            if told.contains(&Told::Everything) {
                continue;
            }
            let gaps: Vec<Gap> = told.into_iter().filter_map(Told::gaps).flatten().collect();
            if !gaps.is_empty() {
                verdict.gaps.extend(gaps);
            } else if !needs.takes_files_for_whole() {
                verdict.gaps.push(hole(kind, self.silence().to_owned()));
                verdict.absent.push(kind);
            }
        }
        verdict
    }

    fn silence(&self) -> &'static str {
        match self.files.len() {
            0 | 1 => "the file says nothing about them",
            _ => "the files say nothing about them",
        }
    }
}

/// What a file tells of one kind.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// Which objects there are.
    Everything,
    /// That some are missing.
    Gaps(Vec<Gap>),
    /// Nothing.
    Nothing,
}

impl Told {
    fn gaps(self) -> Option<Vec<Gap>> {
        match self {
            Self::Gaps(gaps) => Some(gaps),
            Self::Everything | Self::Nothing => None,
        }
    }
}

impl File {
    fn tells(&self, kind: Kind) -> Told {
        if self.listed.contains(&kind) {
            return Told::Everything;
        }
        if self.snapshots.is_empty() {
            let any = self.objects.get(&kind).is_some_and(|count| *count > 0);
            return if any && !self.cut.contains(&kind) {
                Told::Everything
            } else {
                Told::Nothing
            };
        }
        let mut gaps = Vec::new();
        for info in &self.snapshots {
            let missing = info.gaps_of(kind);
            if missing.is_empty() && info.knows(kind) {
                return Told::Everything;
            }
            gaps.extend(missing);
        }
        if gaps.is_empty() {
            Told::Nothing
        } else {
            Told::Gaps(gaps)
        }
    }

    /// How many objects of `kind` the snapshots in the file say that it has, and how many it has, where these differ.
    fn miscounts(&self, kind: Kind) -> Option<(u64, u64)> {
        if self.snapshots.is_empty() {
            return None;
        }
        let said = self.snapshots.iter().map(|info| info.count_of(kind));
        let said = said.fold(0_u64, u64::saturating_add);
        let found = self.objects.get(&kind).copied().unwrap_or_default();
        (said != found).then_some((said, found))
    }
}

/// Objects of `kind` may be missing in every namespace.
pub(super) fn hole(kind: Kind, reason: String) -> Gap {
    Gap {
        kind,
        namespace: Str::default(),
        except: Str::default(),
        reason,
    }
}

/// What to do about kinds of which nothing is told.
pub(super) fn advice(names: &str, absent: &[Kind]) -> Option<String> {
    if absent.is_empty() {
        return None;
    }
    let kinds: Vec<_> = absent.iter().map(|kind| kind.plural()).collect();
    let kinds = kinds.join(",");
    Some(format!(
        "{names} says nothing about {}, and what depends on them is unknown; save the cluster with `kubectl dra snapshot`, \
         add `kubectl get {kinds} -A -o yaml` with a further --from, or say with --complete that there are none",
        kinds.replace(',', ", ")
    ))
}
