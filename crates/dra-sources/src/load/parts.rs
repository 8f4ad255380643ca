//! Objects by list, and lists of one kind that contradict each other or themselves. A list that claims to be complete, and an object
//! that it lacks, are from two times or clusters and do not form a consistent cluster. A list of a server has no object twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::bundle::SnapshotInfo;
use crate::needs::Problem;
use dra_model::{Key, Kind, Meta, Object, Str};

/// Objects that came together: those of one list, or those beside lists in one file.
#[derive(Default)]
pub(super) struct Part {
    pub(super) file: Arc<str>,
    /// Number of decoded objects.
    objects: usize,
    /// Objects that are there, sound or not, needed or not, of kinds that are known.
    pub(super) counted: BTreeMap<Kind, u64>,
    /// Kind of the list, if it has all objects of one.
    pub(super) listed: Option<Kind>,
    /// Kind of the list, if it is one page of it.
    pub(super) cut: Option<Kind>,
    pub(super) snapshots: Vec<SnapshotInfo>,
    is_closed: bool,
}

impl Part {
    /// Returns whether it says something of a kind that is known.
    pub(super) fn tells_something(&self) -> bool {
        let has_list = self.listed.or(self.cut).is_some();
        has_list || !self.counted.is_empty() || !self.snapshots.is_empty()
    }

    /// Returns whether it has all objects of `kind`, in some namespace at least.
    fn is_of(&self, kind: Kind) -> bool {
        self.listed == Some(kind) || self.snapshots.iter().any(|info| info.knows(kind))
    }

    /// Returns whether it has all of that namespace; of the cluster where it is empty.
    fn has_all(&self, kind: Kind, namespace: &str) -> bool {
        let hidden = |info: &SnapshotInfo| info.gaps_of(kind).iter().any(|gap| gap.hides(kind, namespace));
        self.listed == Some(kind)
            || self
                .snapshots
                .iter()
                .any(|info| info.knows(kind) && !hidden(info))
    }
}

/// All parts, in the order of the text.
#[derive(Default)]
pub(super) struct Parts(Vec<Part>);

/// Why a kind is unknown if files differ in its objects.
const OTHERS: &str = "the files contradict each other";

/// Contradiction between two lists of one kind, in one of them, or between their clusters.
pub(super) struct Contradiction {
    /// The kind, or every kind.
    pub(super) kind: Option<Kind>,
    /// Objects in one of the lists that the other lacks: their existence is unknown.
    pub(super) objects: BTreeSet<Key>,
    /// The first of them.
    pub(super) problem: Problem,
    /// Why the kind is unknown.
    pub(super) reason: &'static str,
}

impl Parts {
    fn open(&mut self, file: &Arc<str>) -> &mut Part {
        let goes_on = self
            .0
            .last()
            .is_some_and(|part| !part.is_closed && part.file == *file);
        if !goes_on {
            self.0.push(Part {
                file: Arc::clone(file),
                ..Part::default()
            });
        }
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// There is an object of `kind`, whether it becomes one of the model or not.
    pub(super) fn count(&mut self, file: &Arc<str>, kind: Kind) {
        *self.open(file).counted.entry(kind).or_default() += 1;
    }

    /// All parts.
    pub(super) fn all(&self) -> impl Iterator<Item = &Part> {
        self.0.iter()
    }

    /// An object follows.
    pub(super) fn object(&mut self, file: &Arc<str>) {
        self.open(file).objects += 1;
    }

    /// What a snapshot says of itself follows.
    pub(super) fn snapshot(&mut self, file: &Arc<str>, info: SnapshotInfo) {
        self.open(file).snapshots.push(info);
    }

    /// A list of `kind`, if of any, ends; `whole` unless it says that more pages follow.
    pub(super) fn end(&mut self, file: &Arc<str>, kind: Option<Kind>, whole: bool) {
        let part = self.open(file);
        (part.listed, part.cut) = if whole { (kind, None) } else { (None, kind) };
        part.is_closed = true;
    }

    /// Adds those that come later.
    pub(super) fn append(&mut self, later: Self) {
        for part in later.0 {
            let open = self.open(&part.file);
            open.objects += part.objects;
            for (kind, count) in part.counted {
                *open.counted.entry(kind).or_default() += count;
            }
            open.snapshots.extend(part.snapshots);
            (open.listed, open.cut) = (part.listed, part.cut);
            open.is_closed = part.is_closed;
        }
    }

    /// Returns what they contradict each other in; `objects` are those of all parts, in their order.
    pub(super) fn contradictions(&self, objects: &[Object]) -> Vec<Contradiction> {
        let of_part = || {
            let mut rest = objects;
            self.0.iter().map(move |part| {
                let (own, later) = rest.split_at(part.objects.min(rest.len()));
                rest = later;
                (part, own)
            })
        };
        let mut found: Vec<_> = two_clusters(of_part()).into_iter().collect();
        for kind in Kind::all() {
            if !of_part().any(|(part, _)| part.is_of(kind)) {
                continue;
            }
            let is_some = |objects: &[Object]| objects.iter().any(|object| object.kind() == kind);
            let parts = of_part().filter(|(part, objects)| part.is_of(kind) || is_some(objects));
            let parts: Vec<_> = parts.collect();
            found.extend(repeated(kind, &parts));
            if parts.len() > 1 {
                found.extend(lacking(kind, &parts));
            }
        }
        found
    }
}

/// An object that a list of all has twice: whatever lists one twice may have left out another.
fn repeated(kind: Kind, parts: &[(&Part, &[Object])]) -> Option<Contradiction> {
    let mut whole = parts.iter().filter(|(part, _)| part.is_of(kind));
    whole.find_map(|(part, objects)| {
        let of_kind = objects.iter().filter(|object| object.kind() == kind);
        let mut metadata: Vec<&Meta> = of_kind.map(Object::metadata).collect();
        // Servers list in order, which costs nothing.
        metadata.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        let same = metadata
            .windows(2)
            .find(|pair| (&pair[0].namespace, &pair[0].name) == (&pair[1].namespace, &pair[1].name))?;
        let key = same[0].key();
        Some(Contradiction {
            kind: Some(kind),
            problem: Problem::repeated(kind, &key, &part.file),
            objects: BTreeSet::new(),
            reason: "a list contains an object more than once",
        })
    })
}

/// The objects that one part has and another one, which has all, has not.
fn lacking(kind: Kind, parts: &[(&Part, &[Object])]) -> Option<Contradiction> {
    let mut seen: BTreeMap<Key, BTreeSet<usize>> = BTreeMap::new();
    for (number, (part, objects)) in parts.iter().enumerate() {
        for object in objects.iter().filter(|object| object.kind() == kind) {
            let key = object.metadata().key();
            // A manifest beside the lists adds its objects: no list can have what was never created.
            if part.has_all(kind, &key.namespace) || !object.metadata().is_only_written() {
                seen.entry(key).or_default().insert(number);
            }
        }
    }
    let mut all: HashMap<Str, Vec<usize>> = HashMap::new();
    let mut found: Option<Contradiction> = None;
    for (key, having) in seen {
        let all = all.entry(key.namespace.clone()).or_insert_with(|| {
            let whole = parts.iter().enumerate();
            whole
                .filter(|(_, (part, _))| part.has_all(kind, &key.namespace))
                .map(|(number, _)| number)
                .collect()
        });
        let (Some(has), Some(lacks)) = (having.first(), all.iter().find(|number| !having.contains(number)))
        else {
            continue;
        };
        let contradiction = found.get_or_insert_with(|| Contradiction {
            kind: Some(kind),
            objects: BTreeSet::new(),
            reason: OTHERS,
            problem: Problem::lacking(kind, &key, &parts[*has].0.file, &parts[*lacks].0.file),
        });
        contradiction.objects.insert(key);
    }
    found
}

/// Namespaces that each cluster has once, for as long as it is there.
const EVERLASTING: [&str; 2] = ["kube-system", "default"];

/// Two parts with different UIDs of a namespace that is never made anew.
fn two_clusters<'p>(parts: impl Iterator<Item = (&'p Part, &'p [Object])>) -> Option<Contradiction> {
    let mut first: BTreeMap<&str, (&Str, &Part)> = BTreeMap::new();
    for (part, objects) in parts {
        for object in objects.iter().filter(|object| object.kind() == Kind::Namespace) {
            let metadata = object.metadata();
            if metadata.uid.is_empty() || !EVERLASTING.contains(&metadata.name.as_str()) {
                continue;
            }
            let (uid, known) = *first.entry(&metadata.name).or_insert((&metadata.uid, part));
            if *uid != metadata.uid {
                return Some(Contradiction {
                    kind: None,
                    objects: BTreeSet::new(),
                    reason: OTHERS,
                    problem: Problem::of_another_cluster(&metadata.key(), &known.file, &part.file),
                });
            }
        }
    }
    None
}
