//! Kinds that the files of `--from` cover completely, and kinds they leave open.
//!
//! A file without pods does not prove that there are none. A kind is known when a file has objects of it, is a list of
//! that kind alone, be it an empty one, or is a snapshot that says so. Other kinds become a [`Gap`], like a list
//! without permission in a cluster. A snapshot also tells how many objects of each kind it has, so that a missing one
//! is noticed.
//!
//! Most clusters have no object of some kinds, such as DeviceTaintRules, and what `kubectl get` printed of one does not name them.
//! Files with objects of every kind that each cluster with DRA has are such a picture: there, a kind that no object refers to counts as
//! empty, and a warning says so.

use std::collections::{BTreeMap, BTreeSet};

use super::parts::{Part, Parts};
use crate::bundle::SnapshotInfo;
use crate::needs::{Needs, Problem};
use dra_model::{Component, Environment, Gap, Gate, Kind, Object};

/// Coverage of the files, file by file.
pub(super) struct Coverage<'p>(BTreeMap<&'p str, File<'p>>);

/// Kinds that exist in every cluster with devices in use. Without them, files do not represent a cluster.
const IN_EVERY_CLUSTER: [Kind; 5] = [
    Kind::Node,
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::Pod,
];

/// The parts of one file that tell something of a kind.
#[derive(Default)]
struct File<'p>(Vec<&'p Part>);

/// Conclusion from all files together.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Gaps.
    pub(super) gaps: Vec<Gap>,
    /// Snapshots that do not hold what they say.
    pub(super) damaged: Vec<Problem>,
    /// Kinds that no file says anything of, so that they are unknown.
    pub(super) absent: Vec<Kind>,
    /// Kinds that no file says anything of, and that count as empty.
    pub(super) assumed: Vec<Kind>,
}

/// Adds the kinds that `object` refers to.
pub(super) fn refer(object: &Object, kinds: &mut BTreeSet<Kind>) {
    let refers_to_group = match object {
        Object::Pod(pod) => {
            let mut claims = pod.spec.resource_claims.iter();
            if claims.any(|claim| claim.resource_claim_template_name.is_some()) {
                kinds.insert(Kind::ResourceClaimTemplate);
            }
            pod.pod_group().is_some()
        }
        Object::ResourceClaim(claim) => {
            let mut entries = claim.status.reserved_for.iter();
            entries.any(|entry| entry.resource == Kind::PodGroup.plural())
                || claim
                    .metadata
                    .controller()
                    .is_some_and(|owner| owner.kind == Kind::PodGroup.name())
        }
        _ => false,
    };
    if refers_to_group {
        kinds.insert(Kind::PodGroup);
    }
}

impl<'p> Coverage<'p> {
    /// Returns what the parts of the files say.
    pub(super) fn of(parts: &'p Parts) -> Self {
        let mut files: BTreeMap<&str, File<'_>> = BTreeMap::new();
        for part in parts.all().filter(|part| part.tells_something()) {
            files.entry(&part.file).or_default().0.push(part);
        }
        Self(files)
    }

    /// Returns whether there is an object of a kind that is known.
    pub(super) fn has_objects(&self) -> bool {
        let mut parts = self.0.values().flat_map(|file| &file.0);
        parts.any(|part| !part.counted.is_empty())
    }

    /// Returns whether the files show a whole cluster rather than some objects of one.
    fn shows_a_cluster(&self) -> bool {
        let tells = |kind| self.0.values().any(|file| file.tells(kind) == Told::Everything);
        IN_EVERY_CLUSTER.into_iter().all(tells)
    }

    /// Every snapshot with the file that it is in, in the order of the files.
    pub(super) fn snapshots(&self) -> impl Iterator<Item = (&'p str, &'p SnapshotInfo)> + Clone {
        let files = self.0.iter();
        files.flat_map(|(name, file)| file.snapshots().map(move |info| (*name, info)))
    }

    /// Returns what is missing of `needs`. `referred` are the kinds that an object refers to.
    pub(super) fn verdict(
        &self,
        needs: &Needs,
        environment: &Environment,
        referred: &BTreeSet<Kind>,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        // A snapshot says itself what was read.
        let is_picture = self.snapshots().next().is_none() && self.shows_a_cluster();
        for kind in needs.kind_set() {
            let mut told = Vec::new();
            for (name, file) in &self.0 {
                told.push(file.tells(kind));
                if let Some((said, found)) = file.miscounts(kind) {
                    let reason = format!("`{name}` is damaged");
                    verdict.gaps.push(Gap::of_kind(kind, reason));
                    verdict.damaged.push(Problem {
                        place: (*name).to_owned(),
                        object: None,
                        message: format!(
                            "is damaged: its snapshot lists {said} {}, but contains {found}",
                            kind.plural()
                        ),
                    });
                }
                if file.is_cut(kind) {
                    verdict.gaps.push(Gap::of_kind(
                        kind,
                        format!("`{name}` contains only one page of a list"),
                    ));
                }
            }
            if told.contains(&Told::Everything) {
                continue;
            }
            let gaps = told.into_iter().flat_map(|told| match told {
                Told::Gaps(gaps) => gaps,
                Told::Everything | Told::Nothing => Vec::new(),
            });
            let gaps: Vec<Gap> = gaps.collect();
            if !gaps.is_empty() {
                verdict.gaps.extend(gaps);
            } else if (is_picture && !IN_EVERY_CLUSTER.contains(&kind) && !Kind::OF_RIGHTS.contains(&kind)
                || needs.assumes_empty(kind) && self.snapshots().next().is_none())
                && (!referred.contains(&kind) || cannot_exist(kind, environment))
            {
                verdict.assumed.push(kind);
            } else if Kind::OF_RIGHTS.contains(&kind) || !needs.whole_files {
                // Every cluster has roles: files without roles do not contain them.
                let files = if self.0.len() > 1 { "files do" } else { "file does" };
                let silence = format!("the {files} not contain them");
                verdict.gaps.push(Gap::of_kind(kind, silence));
                if !needs.is_optional(kind) {
                    verdict.absent.push(kind);
                }
            }
        }
        verdict
    }
}

/// Returns whether the cluster cannot have objects of `kind`: what refers to one is left over from another release or from other gates.
fn cannot_exist(kind: Kind, environment: &Environment) -> bool {
    let gate = environment.gate(Component::ApiServer, Gate::GenericWorkload);
    kind == Kind::PodGroup && (!environment.serves_groups() || (!gate.enabled && gate.evidence.is_of_now()))
}

/// Coverage of one kind by a file.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// All objects.
    Everything,
    /// That some are missing.
    Gaps(Vec<Gap>),
    /// Nothing.
    Nothing,
}

impl<'p> File<'p> {
    fn snapshots(&self) -> impl Iterator<Item = &'p SnapshotInfo> + Clone + use<'_, 'p> {
        self.0.iter().flat_map(|part| &part.snapshots)
    }

    fn count(&self, kind: Kind) -> u64 {
        self.0.iter().filter_map(|part| part.counted.get(&kind)).sum()
    }

    /// Returns whether one page of a list of the kind is in the file.
    fn is_cut(&self, kind: Kind) -> bool {
        self.0.iter().any(|part| part.cut == Some(kind))
    }

    fn tells(&self, kind: Kind) -> Told {
        if self.0.iter().any(|part| part.listed == Some(kind)) {
            return Told::Everything;
        }
        if self.snapshots().next().is_none() {
            return if self.count(kind) > 0 && !self.is_cut(kind) {
                Told::Everything
            } else {
                Told::Nothing
            };
        }
        let mut gaps = Vec::new();
        for info in self.snapshots() {
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

    /// Returns how many objects of `kind` the snapshots in the file say that it has, and how many it has, where these differ.
    fn miscounts(&self, kind: Kind) -> Option<(u64, u64)> {
        self.snapshots().next()?;
        let said = self.snapshots().map(|info| info.count_of(kind));
        let said = said.fold(0_u64, u64::saturating_add);
        let found = self.count(kind);
        (said != found).then_some((said, found))
    }
}

/// Returns what is said of kinds that files have no object of: what was assumed, and what to do about those that are unknown.
pub(super) fn lacking(names: &str, assumed: &[Kind], absent: &[Kind]) -> Option<String> {
    let list = |kinds: &[Kind]| {
        let kinds: Vec<_> = kinds.iter().map(|kind| kind.plural()).collect();
        kinds.join(", ")
    };
    let rest = match (assumed, absent) {
        ([], []) => return None,
        (assumed, []) => {
            return Some(format!(
                "{names} contains no {}; assuming that the cluster has none (a `kubectl dra snapshot` file \
                records this)",
                list(assumed)
            ));
        }
        ([], _) => String::new(),
        (assumed, _) => format!("; assuming that the cluster has no {}", list(assumed)),
    };
    Some(format!(
        "{names} does not contain {}; results that depend on them are unknown{rest}. Save everything with \
        `kubectl dra snapshot`, add `kubectl get -A -o yaml` output with another --from, or pass --complete \
        if there are none",
        list(absent)
    ))
}
