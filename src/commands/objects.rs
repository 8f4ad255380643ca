//! Which objects a command is about: namespace, labels, and names in kubectl's forms.

use std::collections::BTreeSet;

use crate::context::{Ctx, Scope};
use crate::error::{Unread, UsageError};
use crate::inspect::Selection;
use crate::model::{Key, Kind};
use crate::sources::Needs;

/// What a command looks at when neither `-n` nor `-A` is given.
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
        _ => {}
    }
    Err(UsageError::new(format!("`{name}` does not name a {word}"))
        .hint(format!("write `NAME`, `{word}/NAME` or `{word}/NAMESPACE/NAME`")))
}

/// Whether `part` is one of the ways to write the kind: `claim`, `resourceclaims`, `resourceclaims.resource.k8s.io`.
pub(super) fn is_called(kind: Kind, word: &str, part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    let plain = part
        .strip_suffix(kind.group())
        .and_then(|rest| rest.strip_suffix('.'))
        .unwrap_or(&part);
    let singular = kind.name().to_ascii_lowercase();
    let several = |ending| plain.strip_suffix(ending) == Some(word);
    plain == word || several("s") || several("es") || plain == singular || plain == kind.plural()
}

/// The namespace of names that say none.
fn own_namespace(ctx: &Ctx, word: &str) -> Result<String, UsageError> {
    namespace(ctx, Default::Current).ok_or_else(|| {
        UsageError::new(format!("a {word} cannot be found by its name in all namespaces")).hint(format!(
            "name the namespace with `-n`, or write `{word}/NAMESPACE/NAME`"
        ))
    })
}

/// What has to be read of `kinds` for `selection`: namespaced kinds only where the selection looks.
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

/// Says which claims were asked for by name and are not there.
///
/// # Errors
/// When one is missing.
pub(super) fn check_found(selection: &Selection, cluster: &crate::model::Cluster) -> anyhow::Result<()> {
    if let Some(key) = selection
        .missing_claims(cluster)
        .find(|key| cluster.gap(Kind::ResourceClaim, &key.namespace).is_some())
    {
        let what = format!("claim/{key}");
        return Err(not_found(cluster, Kind::ResourceClaim, &key.namespace, &what));
    }
    let missing: Vec<_> = selection
        .missing_claims(cluster)
        .map(|key| format!("claim/{key}"))
        .collect();
    anyhow::ensure!(missing.is_empty(), "{} not found", missing.join(", "));
    Ok(())
}

/// The error of an object that is to be judged and is not among those that were read: without a verdict, the answer is unknown.
pub(super) fn not_judged(
    cluster: &crate::model::Cluster,
    kind: Kind,
    namespace: &str,
    what: &str,
) -> anyhow::Error {
    let absence = not_found(cluster, kind, namespace, what);
    match cluster.gap(kind, namespace) {
        Some(_) => Unread::new(absence.to_string()).into(),
        None => absence,
    }
}

/// What to say of an object that was asked for and is not among those that were read: what is in a gap may well exist.
pub(super) fn not_found(
    cluster: &crate::model::Cluster,
    kind: Kind,
    namespace: &str,
    what: &str,
) -> anyhow::Error {
    match cluster.gap(kind, namespace) {
        Some(gap) => anyhow::anyhow!("whether {what} exists is unknown: {}", gap.reason),
        None => anyhow::anyhow!("{what} not found"),
    }
}
