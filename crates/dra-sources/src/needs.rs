//! Objects that a command requests from a source, and the result.

use std::collections::{BTreeMap, BTreeSet};

use super::decode::object_name;
use dra_model::{Cluster, Key, Kind, Twin};

/// Objects that a command needs. Sources read nothing else: a list of all pods costs a large cluster seconds.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    wants: BTreeMap<Kind, Want>,
    gates: bool,
    pub(crate) schedulers: bool,
    pub(crate) pods_after_claims: bool,
    pub(crate) whole_files: bool,
    assumes_rare: bool,
}

/// Scope of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Want {
    /// Only objects of this namespace, for kinds that live in namespaces.
    pub(crate) namespace: Option<String>,
    /// Namespace to fall back to if all namespaces are forbidden.
    pub(crate) fallback: Option<String>,
    /// Label selector, as the API server takes it.
    pub(crate) labels: String,
    /// Field selector, as the API server takes it.
    pub(crate) fields: String,
    /// Without these objects there is nothing to say.
    pub(crate) required: bool,
    /// No warning says that they are missing.
    pub(crate) optional: bool,
}

impl Needs {
    /// Nothing but the server's version.
    pub fn none() -> Self {
        Self::default()
    }

    /// These kinds, of the whole cluster.
    pub fn kinds(kinds: impl IntoIterator<Item = Kind>) -> Self {
        kinds.into_iter().fold(Self::none(), Self::and)
    }

    /// Every kind but those of rights.
    pub fn everything() -> Self {
        Self::kinds(Kind::all().filter(|kind| !Kind::OF_RIGHTS.contains(kind)))
            .with_gates()
            .with_schedulers()
            .pods_after_claims()
    }

    /// This kind too, of the whole cluster.
    #[must_use]
    pub fn and(mut self, kind: Kind) -> Self {
        self.wants.entry(kind).or_default();
        self
    }

    /// This kind too, and without it the command fails: a list of claims that may not be read is an error, not an empty table.
    #[must_use]
    pub fn require(mut self, kind: Kind) -> Self {
        self.wants.entry(kind).or_default().required = true;
        self
    }

    /// Every other kind but those of rights too, where they are known: no warning says that they are missing, which is a gap all the same.
    #[must_use]
    pub fn with_others(mut self) -> Self {
        for kind in Self::everything().kind_set() {
            let want = || Want {
                optional: true,
                ..Want::default()
            };
            self.wants.entry(kind).or_insert_with(want);
        }
        self
    }

    /// These kinds too, where they can be read: no warning says that they are missing, which is a gap all the same.
    #[must_use]
    pub fn optionally(mut self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        for kind in kinds {
            self.wants.entry(kind).or_default().optional = true;
        }
        self
    }

    /// Of the kinds wanted so far, only objects of `namespace`. Kinds without namespaces are not affected.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        for (kind, want) in &mut self.wants {
            if kind.is_namespaced() {
                want.namespace = Some(namespace.to_owned());
            }
        }
        self
    }

    /// Of the kinds wanted so far, objects of all namespaces, or at least those of `namespace`, if there is one, where all are forbidden.
    #[must_use]
    pub fn at_least_in(mut self, namespace: Option<&str>) -> Self {
        for (kind, want) in &mut self.wants {
            if kind.is_namespaced() && want.namespace.is_none() {
                want.fallback = namespace.map(str::to_owned);
            }
        }
        self
    }

    /// Of `kind`, only objects that match the label selector. A file's objects are not filtered: callers check the
    /// labels themselves, and this only saves work for the server and the network.
    #[must_use]
    pub fn labeled(mut self, kind: Kind, selector: &str) -> Self {
        selector.clone_into(&mut self.wants.entry(kind).or_default().labels);
        self
    }

    /// Of `kind`, only the object called `name`. Not applied to files either.
    #[must_use]
    pub fn named(mut self, kind: Kind, name: &str) -> Self {
        self.wants.entry(kind).or_default().fields = by_name(name);
        self
    }

    /// The feature gates of every component as well, with the best evidence there is.
    #[must_use]
    pub fn with_gates(mut self) -> Self {
        self.gates = true;
        self
    }

    /// The profiles of kube-scheduler as well, where its configuration can be seen.
    #[must_use]
    pub fn with_schedulers(mut self) -> Self {
        self.schedulers = true;
        self
    }

    /// Pods are listed once all claims were, so that a pod that uses a claim is not missed.
    #[must_use]
    pub fn pods_after_claims(mut self) -> Self {
        self.pods_after_claims = true;
        self
    }

    /// Files that are read instead of a cluster are complete, because the user says so: kinds missing from them have no
    /// objects.
    #[must_use]
    pub fn files_are_whole(mut self) -> Self {
        self.whole_files = true;
        self
    }

    /// Of kinds that rarely decide, files that are read instead of a cluster say enough by having none: the cluster counts as having none.
    #[must_use]
    pub fn assuming_rare_kinds_empty(mut self) -> Self {
        self.assumes_rare = true;
        self
    }

    pub(crate) fn assumes_empty(&self, kind: Kind) -> bool {
        const RARE: [Kind; 8] = [
            Kind::DeviceTaintRule,
            Kind::ResourceClaimTemplate,
            Kind::PodGroup,
            Kind::CompositePodGroup,
            Kind::Workload,
            Kind::ResourceQuota,
            Kind::PodDisruptionBudget,
            Kind::Event,
        ];
        self.assumes_rare && RARE.contains(&kind)
    }

    pub(crate) fn wants(&self) -> impl Iterator<Item = (Kind, &Want)> {
        self.wants.iter().map(|(kind, want)| (*kind, want))
    }

    pub(crate) fn kind_set(&self) -> BTreeSet<Kind> {
        self.wants.keys().copied().collect()
    }

    pub(crate) fn contains(&self, kind: Kind) -> bool {
        self.wants.contains_key(&kind)
    }

    /// Returns whether no warning says that objects of `kind` are missing.
    pub(crate) fn is_optional(&self, kind: Kind) -> bool {
        self.wants.get(&kind).is_some_and(|want| want.optional)
    }

    /// Returns whether the gates of the components are asked for.
    pub fn wants_gates(&self) -> bool {
        self.gates
    }
}

/// The field selector of the objects called `name`.
///
/// Mirrors apimachinery `pkg/fields/selector.go`, `EscapeValue`, v0.37.1.
pub(crate) fn by_name(name: &str) -> String {
    let escaped = name.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
    format!("metadata.name={escaped}")
}

/// A cluster as it was read, and what was noticed on the way.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Objects and environment.
    pub cluster: Cluster,
    /// Objects that could not be read, or that came twice.
    pub problems: Vec<Problem>,
    /// Warnings about the result.
    pub warnings: Vec<String>,
    /// Kinds in the source that were not asked for and that are none of the model's, with their numbers; for `-v`.
    pub ignored: BTreeMap<String, u64>,
    /// Version of each list, for watches.
    pub resource_versions: BTreeMap<Kind, String>,
}

/// An object that could not be read, or that came twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Place: `gpus.yaml:120`, or the request to the API server.
    pub place: String,
    /// Object, if known: `ResourceClaim/default/gpu`.
    pub object: Option<String>,
    /// The problem.
    pub message: String,
}

impl Problem {
    pub(crate) fn duplicate(twin: &Twin, place: &str) -> Self {
        let message = if twin.contradicts {
            "appears more than once with different content; the last one is used, and results that depend on \
            it are unknown"
        } else {
            "appears more than once with the same content"
        };
        Self::about(twin.kind, &twin.key, place, message.to_owned())
    }

    pub(crate) fn repeated(kind: Kind, key: &Key, place: &str) -> Self {
        let kinds = kind.plural();
        let message = format!("appears more than once in a list of all {kinds}: the list may lack others");
        Self::about(kind, key, place, message)
    }

    pub(crate) fn same_uid(kind: Kind, one: &Key, other: &Key, place: &str) -> Self {
        let one = object_name(kind, one);
        let message = format!("has the same UID as `{one}`: one of them is wrong");
        Self::about(kind, other, place, message)
    }

    pub(crate) fn lacking(kind: Kind, key: &Key, has: &str, lacks: &str) -> Self {
        let message = if has == lacks {
            format!("is in one list of all {0}, but not in another", kind.plural())
        } else {
            format!("exists, but not in `{lacks}`, which lists all {}", kind.plural())
        };
        let message = format!("{message}: the files are from different times or clusters");
        Self::about(kind, key, has, message)
    }

    pub(crate) fn of_another_cluster(namespace: &Key, one: &str, other: &str) -> Self {
        let message = format!("has a different UID in `{one}`: the files are from different clusters");
        Self::about(Kind::Namespace, namespace, other, message)
    }

    fn about(kind: Kind, key: &Key, place: &str, message: String) -> Self {
        Self {
            place: place.to_owned(),
            object: Some(object_name(kind, key)),
            message,
        }
    }

    /// The namespace of the object, as far as it is known; empty otherwise.
    pub(crate) fn namespace(&self) -> &str {
        let parts: Vec<&str> = self.object.as_deref().unwrap_or_default().split('/').collect();
        if let [_, namespace, _] = parts.as_slice() {
            namespace
        } else {
            ""
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(object) = &self.object {
            write!(f, "`{object}`: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Receives the progress of reading, from any thread. The default does nothing.
pub trait Observer: Send + Sync {
    /// So many objects and bytes were read so far, of all kinds together.
    fn progress(&self, _objects: u64, _bytes: u64) {}
}

/// Nothing is observed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
