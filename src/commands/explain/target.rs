//! Objects named on the command line of `explain`.

use crate::commands::describe;
use crate::commands::objects::{self, Named, is_called};
use crate::commands::presence;
use crate::context::Ctx;
use crate::error::{Absent, NotFound, UsageError};
use dra_model::{Cluster, Key, Kind, OwnerReference, Str};
use dra_reports::explanation::OwnerTarget;
use dra_reports::presence::Mention;
use dra_reports::script::Resource;

/// Objects to explain.
pub(super) enum Wanted {
    /// Everything that waits in a namespace, or in all.
    Everything,
    /// Objects of the manifests of `-f`.
    Manifest,
    /// A pod or a claim.
    Named(Named),
    /// A pod of that name, or else a claim.
    Name(Key),
    /// A node.
    Node(Str),
    /// A driver.
    Driver(Str),
    /// An owner of pods.
    Owner(OwnerTarget),
    /// An owner of pods, if it exists; otherwise the pod or claim with that name in the namespace of the first name.
    OwnerOrName(OwnerTarget, Key),
    /// A part of a slice, or a class, which is described.
    Described(String),
}

/// Kinds of what makes pods: as objects have them, as kubectl writes them, their short names, and the version of those that are built in.
const OWNERS: &[(&str, &str, &str, &str)] = &[
    ("Job", "job", "", "batch/v1"),
    ("CronJob", "cronjob", "cj", "batch/v1"),
    ("Deployment", "deployment", "deploy", "apps/v1"),
    ("StatefulSet", "statefulset", "sts", "apps/v1"),
    ("ReplicaSet", "replicaset", "rs", "apps/v1"),
    ("DaemonSet", "daemonset", "ds", "apps/v1"),
    ("ReplicationController", "replicationcontroller", "rc", "v1"),
    ("Workload", "workload", "wl", ""),
    ("PodGroup", "podgroup", "pg", ""),
    ("ComputeDomain", "computedomain", "", ""),
];

/// Kinds that have no devices and make no pods.
const OTHERS: &[&str] = &[
    "cm",
    "configmap",
    "devicetaintrule",
    "namespace",
    "ns",
    "pvc",
    "quota",
    "resourceclaimtemplate",
    "resourcequota",
    "resourceslice",
    "rule",
    "secret",
    "service",
    "slice",
    "svc",
    "template",
];

/// The kind of what makes pods that a word is, if it is one of those that everybody knows.
fn owner_kind(word: &str) -> Option<&'static str> {
    let plain = word.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_one = |(_, kind, short, _): &&(&str, &'static str, &str, &str)| {
        plain == *kind || plain.strip_suffix('s') == Some(*kind) || !short.is_empty() && plain == *short
    };
    OWNERS.iter().find(is_one).map(|(_, kind, ..)| *kind)
}

/// Returns what a kind is called in front of a name that this command explains.
pub(super) fn resource(kind: &str) -> Option<Resource> {
    match kind {
        "Pod" => Some(Kind::Pod.into()),
        "ResourceClaim" => Some(Kind::ResourceClaim.into()),
        owner => owner_kind(owner).map(Resource::called),
    }
}

/// Returns how an object of a built-in kind is referred to.
pub(super) fn reference(owner: &OwnerTarget) -> Option<OwnerReference> {
    let is_one =
        |(_, kind, _, version): &&(&str, &str, &str, &str)| *kind == owner.kind && !version.is_empty();
    let (kind, _, _, version) = OWNERS.iter().find(is_one)?;
    Some(OwnerReference {
        api_version: (*version).into(),
        kind: (*kind).into(),
        name: owner.key.name.clone(),
        ..OwnerReference::default()
    })
}

impl Wanted {
    /// Returns what `words` name; `has_files` says whether there are manifests.
    ///
    /// # Errors
    /// When they name nothing that can be explained.
    pub(super) fn of(ctx: &Ctx, words: &[String], has_files: bool) -> Result<Self, UsageError> {
        let words = objects::joined(words);
        match words.as_slice() {
            [] if has_files => Ok(Self::Manifest),
            [] => Ok(Self::Everything),
            [one] => Self::of_one(ctx, one),
            [kind, name] if is_node(kind) && !name.contains('/') => Ok(Self::Node(name.as_str().into())),
            [kind, name] if is_driver(kind) && !name.contains('/') => Ok(Self::Driver(name.as_str().into())),
            [kind, name] if owner_kind(kind).is_some() && !name.contains('/') => {
                Self::of_one(ctx, &format!("{kind}/{name}"))
            }
            [kind, name] if is_kind(kind) && name.split('/').count() == 2 => {
                Self::of_one(ctx, &format!("{kind}/{name}"))
            }
            _ => Err(UsageError::new("only one object can be explained at a time")
                .hint("write `pod NAME` or `pod/NAME`, or no name for everything pending")),
        }
    }

    fn of_one(ctx: &Ctx, word: &str) -> Result<Self, UsageError> {
        if let Some((first, _)) = word.split_once(',') {
            return Err(UsageError::new("only one object can be explained at a time")
                .hint(format!("name one of them, such as `{first}`")));
        }
        match word.split_once('/') {
            Some((kind, name)) if is_node(kind) && !name.is_empty() && !name.contains('/') => {
                Ok(Self::Node(name.into()))
            }
            Some((kind, name)) if is_driver(kind) && !name.is_empty() && !name.contains('/') => {
                Ok(Self::Driver(name.into()))
            }
            Some((kind, name)) => match describe::kind_called(kind) {
                Some("device" | "class" | "pool") => Ok(Self::Described(word.to_owned())),
                Some(_) => Named::of(ctx, word).map(Self::Named),
                None if OTHERS.contains(&kind.to_ascii_lowercase().as_str()) => {
                    Err(UsageError::new(format!("`explain` does not take the kind `{kind}`")).hint(
                        "use `pod/NAME`, `claim/NAME`, `node/NAME`, `driver/NAME` or a workload such as `deployment/NAME`",
                    ))
                }
                None => Self::of_owner(ctx, kind, name),
            },
            None if objects::is_file(word) => {
                Err(UsageError::new(format!("`{word}` is the name of a file")).hint(format!(
                    "pass `-f {word}` for a manifest, or `--from {word}` for a saved cluster"
                )))
            }
            None if is_kind(word) => Err(UsageError::new(format!("`{word}` needs a name")).hint(format!(
                "write `{word} NAME`, or no kind and no name for everything pending"
            ))),
            None => objects::pod(ctx, word).map(Self::Name),
        }
    }

    /// `KIND/NAME` and `KIND/NAMESPACE/NAME` of what makes pods, which may be of any kind; or `NAMESPACE/NAME`, as reports name pods.
    fn of_owner(ctx: &Ctx, kind: &str, name: &str) -> Result<Self, UsageError> {
        let known = owner_kind(kind);
        let parts: Vec<&str> = name.split('/').collect();
        let is_empty = kind.is_empty() || parts.iter().any(|part| part.is_empty());
        let target = |key: Key| OwnerTarget {
            kind: known.unwrap_or(kind).to_owned(),
            key,
        };
        match parts.as_slice() {
            [name] if !is_empty => {
                let namespace = objects::namespace(ctx, objects::Default::Current);
                match (known, namespace) {
                    (Some(_), Some(namespace)) => Ok(Self::Owner(target(Key::new(namespace, *name)))),
                    (Some(kind), None) => Err(UsageError::new(format!("a {kind} name needs a namespace"))
                        .hint(format!("use `-n NAMESPACE`, or write `{kind}/NAMESPACE/NAME`"))),
                    (None, namespace) => {
                        let namespace = namespace.unwrap_or_else(|| ctx.current_namespace());
                        Ok(Self::OwnerOrName(
                            target(Key::new(namespace, *name)),
                            Key::new(kind, *name),
                        ))
                    }
                }
            }
            [namespace, name] if !is_empty => Ok(Self::Owner(target(Key::new(*namespace, *name)))),
            _ => Err(UsageError::new(format!("invalid object name `{kind}/{name}`"))
                .hint("use `KIND/NAME` or `KIND/NAMESPACE/NAME`")),
        }
    }

    /// Namespace whose objects are needed at least.
    pub(super) fn namespace(&self, ctx: &Ctx) -> String {
        match self {
            Self::Named(named) => objects::judged_in(ctx, Some(named)),
            Self::Name(key) => key.namespace.to_string(),
            Self::Owner(owner) => owner.key.namespace.to_string(),
            _ => objects::judged_in(ctx, None),
        }
    }
}

fn is_node(word: &str) -> bool {
    is_called(Kind::Node, "node", word)
}

fn is_driver(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "driver" | "drivers")
}

fn is_kind(word: &str) -> bool {
    is_node(word)
        || is_driver(word)
        || owner_kind(word).is_some()
        || is_called(Kind::Pod, "pod", word)
        || is_called(Kind::ResourceClaim, "claim", word)
}

/// That what has this name is of other kinds than the word before it, where that word is not the namespace of such a pod or claim either.
pub(super) fn of_other_kind(cluster: &Cluster, owner: &OwnerTarget, key: &Key) -> Option<NotFound> {
    let mut kinds = [Kind::Pod, Kind::ResourceClaim].into_iter();
    if kinds.any(|kind| presence::is_there(cluster, &Mention::Object(kind, key.clone()))) {
        return None;
    }
    let all = cluster.environment().owners.iter();
    let named = all.filter(|known| known.key == owner.key);
    let named: Vec<String> = named
        .map(|known| format!("`{}/{}`", known.kind.to_lowercase(), known.key))
        .collect();
    (!named.is_empty()).then(|| NotFound {
        message: format!("no object of kind `{}` is called {}", owner.kind, owner.key.name),
        hint: format!("there is {}", named.join(", ")),
    })
}

/// The pod that a name alone means, or else the claim. Says which was taken.
///
/// # Errors
/// When there is neither.
pub(super) async fn taken(ctx: &Ctx, cluster: &Cluster, key: Key) -> anyhow::Result<Named> {
    let pod = Mention::Object(Kind::Pod, key.clone());
    let claim = Mention::Object(Kind::ResourceClaim, key.clone());
    let there = |mention| presence::is_there(cluster, mention);
    let name = &key.name;
    match (there(&pod), there(&claim)) {
        (true, true) => {
            let note = format!("`{name}` is pod/{key}; for the claim, write claim/{name}");
            ctx.printer().note(&note);
            Ok(Named::Pod(key))
        }
        (true, false) => {
            ctx.printer().note(&format!("`{name}` is pod/{key}"));
            Ok(Named::Pod(key))
        }
        (false, true) => {
            if cluster.gap(Kind::Pod, &key.namespace).is_some() {
                ctx.warn(format!(
                    "unknown whether pod/{key} exists; `{name}` is treated as the claim"
                ));
            } else {
                ctx.printer()
                    .note(&format!("`{name}` is claim/{key}; there is no such pod"));
            }
            Ok(Named::Claim(key))
        }
        (false, false) => {
            let of_pod = presence::not_found(ctx, cluster, &pod).await.downcast::<Absent>();
            let of_claim = presence::not_found(ctx, cluster, &claim)
                .await
                .downcast::<Absent>();
            Err(match (of_pod, of_claim) {
                (Ok(Absent(mut both)), Ok(Absent(claims))) => {
                    // Where the namespace is not there, both say so.
                    both.extend(
                        claims
                            .into_iter()
                            .filter(|absence| !both.contains(absence))
                            .collect::<Vec<_>>(),
                    );
                    Absent(both).into()
                }
                (Err(unread), _) | (_, Err(unread)) => unread,
            })
        }
    }
}
