//! Object selection: namespace, labels, and names in kubectl's forms.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::builder::{StringValueParser, TypedValueParser};

use crate::context::{Ctx, Scope};
use crate::error::UsageError;
use dra_model::{Claim, Cluster, Key, Kind, Pod};
use dra_reports::Selection;
use dra_reports::allocation::Target;
use dra_reports::presence::Mention;
use dra_sources::Needs;

use super::presence;

/// Default scope without `-n` and `-A`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Default {
    /// The namespace of the current context, as `kubectl get` does.
    Current,
    /// All namespaces.
    All,
}

/// The namespace to look at; absent for all.
pub(super) fn namespace(ctx: &Ctx, default: Default) -> Option<String> {
    match &ctx.settings().scope {
        Scope::Namespace(namespace) => Some(namespace.clone()),
        Scope::All => None,
        Scope::Unset if default == Default::All => None,
        Scope::Unset => Some(ctx.current_namespace()),
    }
}

/// The namespace of what is to be judged: that of `named`, else the one in which manifests are read.
pub(super) fn judged_in(ctx: &Ctx, named: Option<&Named>) -> String {
    match named {
        Some(named) => named.key().namespace.to_string(),
        None => namespace(ctx, Default::Current).unwrap_or_else(|| ctx.current_namespace()),
    }
}

/// The selection of `-n`, `-A` and `-l`, without names.
pub(super) fn selection(ctx: &Ctx, default: Default) -> Selection {
    Selection {
        namespace: namespace(ctx, default).map(Into::into),
        names: BTreeSet::new(),
        labels: ctx.settings().selector.clone(),
    }
}

/// The same with the claims that `names` are.
pub(super) fn claims(ctx: &Ctx, default: Default, names: &[String]) -> Result<Selection, UsageError> {
    let mut selection = selection(ctx, default);
    for name in names {
        selection.names.insert(claim(ctx, name)?);
    }
    Ok(selection)
}

/// The claim that `name` is: `NAME`, `claim/NAME` or `claim/NAMESPACE/NAME`.
pub(super) fn claim(ctx: &Ctx, name: &str) -> Result<Key, UsageError> {
    namespaced(ctx, Kind::ResourceClaim, "claim", name)
}

/// A pod or a claim that is to be judged.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Judged<P, C> {
    Pod(P),
    Claim(C),
}

/// Name on the command line.
pub(super) type Named = Judged<Key, Key>;

/// Object found in the cluster.
pub(super) type Found<'c> = Judged<&'c Arc<Pod>, &'c Arc<Claim>>;

impl Named {
    /// The pod that `text` is, or else the claim.
    pub(super) fn of(ctx: &Ctx, text: &str) -> Result<Self, UsageError> {
        let kind = text.split('/').next().unwrap_or_default();
        Ok(if is_called(Kind::Pod, "pod", kind) {
            Self::Pod(pod(ctx, text)?)
        } else {
            Self::Claim(claim(ctx, text)?)
        })
    }

    pub(super) fn key(&self) -> &Key {
        match self {
            Self::Pod(key) | Self::Claim(key) => key,
        }
    }

    /// Returns how a report calls it.
    pub(super) fn target(&self) -> Target {
        match self {
            Self::Pod(key) => Target::pod(key),
            Self::Claim(key) => Target::claim(key),
        }
    }

    /// Returns how it is called where it is looked for.
    pub(super) fn mention(&self) -> Mention {
        match self {
            Self::Pod(key) => Mention::Object(Kind::Pod, key.clone()),
            Self::Claim(key) => Mention::Object(Kind::ResourceClaim, key.clone()),
        }
    }

    /// Looks it up.
    ///
    /// # Errors
    /// When it is not there; [`Unread`](crate::error::Unread) where it may well be, so that the answer is unknown.
    pub(super) async fn find<'c>(&self, ctx: &Ctx, cluster: &'c Cluster) -> anyhow::Result<Found<'c>> {
        let found = match self {
            Self::Pod(key) => cluster.pod(key).map(Found::Pod),
            Self::Claim(key) => cluster.claim(key).map(Found::Claim),
        };
        match found {
            Some(found) => Ok(found),
            None => Err(presence::not_found(ctx, cluster, &self.mention()).await),
        }
    }
}

/// The pod that `name` is: `NAME`, `pod/NAME` or `pod/NAMESPACE/NAME`.
pub(super) fn pod(ctx: &Ctx, name: &str) -> Result<Key, UsageError> {
    namespaced(ctx, Kind::Pod, "pod", name)
}

fn namespaced(ctx: &Ctx, kind: Kind, word: &str, name: &str) -> Result<Key, UsageError> {
    let parts: Vec<_> = name.split('/').collect();
    let named = |namespace: &str, name: &str| Key::new(namespace, name);
    let is_kind = |part: &str| is_called(kind, word, part);
    match parts.as_slice() {
        _ if parts.iter().any(|part| part.is_empty()) => {}
        [name] => return Ok(named(&own_namespace(ctx, word)?, name)),
        [kind, name] if is_kind(kind) => return Ok(named(&own_namespace(ctx, word)?, name)),
        [kind, namespace, name] if is_kind(kind) => return Ok(named(namespace, name)),
        [namespace, name] if is_namespace(namespace) => return Ok(named(namespace, name)),
        _ => {}
    }
    if let [other, rest @ ..] = parts.as_slice()
        && kind == Kind::ResourceClaim
        && is_called(Kind::Pod, "pod", other)
    {
        let pod = rest.join("/");
        return Err(UsageError::new(format!("`{name}` is no claim")).hint(format!(
            "to list the claims of a pod, pass `--pod {pod}` to `kubectl dra claims`"
        )));
    }
    Err(UsageError::new(format!("invalid {word} name `{name}`"))
        .hint(format!("use `NAME`, `{word}/NAME` or `{word}/NAMESPACE/NAME`")))
}

/// Returns whether the word in front of a name is a namespace, as in tables, and no kind of object.
pub(super) fn is_namespace(word: &str) -> bool {
    const OWNERS: [&str; 9] = [
        "deployment",
        "deploy",
        "statefulset",
        "sts",
        "daemonset",
        "replicaset",
        "job",
        "cronjob",
        "workload",
    ];
    let lower = word.to_ascii_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let is_word = |known: &str| lower == known || singular == known;
    let is_kind = Kind::all().any(|kind| is_called(kind, kind.singular(), word));
    let is_ours = [
        "claim", "class", "device", "pool", "driver", "slice", "template", "rule",
    ]
    .into_iter()
    .any(is_word);
    // `jobs.batch` is one too.
    !is_kind && !is_ours && !OWNERS.into_iter().any(is_word) && !lower.contains('.')
}

/// Returns whether a word is the name of a file rather than of an object.
pub(crate) fn is_file(word: &str) -> bool {
    let ends = [".yaml", ".yml", ".json", ".gz", ".zst"];
    word.starts_with(['.', '/']) || ends.iter().any(|end| word.ends_with(end))
}

/// Reads a driver to select by: `NAME`, or `driver/NAME` as it is printed.
pub(super) fn driver_name() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|text| bare(text, &["driver"]))
}

/// Reads a node to select by: `NAME` or `node/NAME`.
pub(super) fn node_name() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|text| named_node(&text).map_or_else(|| text.clone(), str::to_owned))
}

/// Returns the name of a node that is written as `node/NAME`.
pub(super) fn named_node(text: &str) -> Option<&str> {
    let (kind, name) = text.split_once('/')?;
    let is_name = !name.is_empty() && !name.contains('/');
    (is_name && is_called(Kind::Node, "node", kind)).then_some(name)
}

/// Reads a class to select by: `NAME`, `class/NAME` or `deviceclass/NAME`.
pub(super) fn class_name() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|text| bare(text, &["class", "deviceclass", "deviceclass.resource.k8s.io"]))
}

/// Reads a device: `DEVICE`, `POOL/DEVICE`, `DRIVER/POOL/DEVICE`, or `device/DRIVER/POOL/DEVICE` as it is printed.
pub(super) fn device_name() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|text| {
        let is_printed = text.split('/').count() == 4;
        match text.strip_prefix("device/") {
            Some(rest) if is_printed => rest.to_owned(),
            _ => text,
        }
    })
}

/// A name without one of these kinds in front. Such names have no slash of their own.
fn bare(text: String, kinds: &[&str]) -> String {
    match text.split_once('/') {
        Some((kind, name)) if kinds.contains(&kind) && !name.is_empty() => name.to_owned(),
        _ => text,
    }
}

/// `KIND NAME` as `KIND/NAME`, as kubectl takes both.
pub(super) fn joined(words: &[String]) -> Vec<String> {
    let is_kind =
        |word: &str| is_called(Kind::Pod, "pod", word) || is_called(Kind::ResourceClaim, "claim", word);
    match words {
        [kind, names @ ..]
            if is_kind(kind) && !names.is_empty() && names.iter().all(|name| !name.contains('/')) =>
        {
            names.iter().map(|name| format!("{kind}/{name}")).collect()
        }
        words => words.to_vec(),
    }
}

/// Returns the short name of a kind.
fn short_name(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Pod => Some("po"),
        Kind::Node => Some("no"),
        Kind::ResourceClaim => Some("rc"),
        _ => None,
    }
}

/// Returns whether `part` is one of the ways to write the kind: `claim`, `resourceclaims`, `resourceclaims.resource.k8s.io`, `po` for a pod.
pub(super) fn is_called(kind: Kind, word: &str, part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    let plain = part
        .strip_suffix(kind.group())
        .and_then(|rest| rest.strip_suffix('.'))
        .unwrap_or(&part);
    let singular = kind.singular();
    let several = |ending| plain.strip_suffix(ending) == Some(word);
    plain == word
        || several("s")
        || several("es")
        || plain == singular
        || plain == kind.plural()
        || short_name(kind) == Some(plain)
}

/// The namespace of names that say none.
fn own_namespace(ctx: &Ctx, word: &str) -> Result<String, UsageError> {
    namespace(ctx, Default::Current).ok_or_else(|| {
        UsageError::new(format!("a {word} cannot be found by name across all namespaces"))
            .hint(format!("pass `-n NAMESPACE`, or use `{word}/NAMESPACE/NAME`"))
    })
}

/// Returns what has to be read of `kinds` for `selection`: namespaced kinds only where the selection looks.
pub(super) fn needs(kinds: impl IntoIterator<Item = Kind>, selection: &Selection) -> Needs {
    let needs = Needs::kinds(kinds);
    let mut namespaces: BTreeSet<&str> = selection.names.iter().map(|key| key.namespace.as_str()).collect();
    if namespaces.is_empty() {
        namespaces.extend(selection.namespace.as_deref());
    }
    match namespaces.first() {
        Some(namespace) if namespaces.len() == 1 => needs.in_namespace(namespace),
        _ => needs,
    }
}
