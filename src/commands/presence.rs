//! Existence of the objects named on the command line: otherwise a typo would pass as a clean result.

use std::collections::BTreeSet;

use itertools::Itertools;

use crate::context::{Ctx, SourceSetting};
use crate::error::{Absent, Unread, instead};
use dra_model::{Change, Cluster, Key, Kind, Str};
use dra_reports::Selection;
use dra_reports::presence::{Absence, Mention, Presence, absent_namespace, namespaces, presence};

/// Ends the command if something that is named is not there, unless `--allow-missing` makes it a warning.
///
/// Returns what selects nothing, one text each: the verdict is unknown because of it.
///
/// # Errors
/// [`Absent`], with what may have been meant. Of what may well be there the command itself says what it cannot know.
pub(super) async fn demand(
    ctx: &Ctx,
    cluster: &Cluster,
    mentions: &[Mention],
) -> anyhow::Result<Vec<String>> {
    let mut absences = Vec::new();
    let mut absent_namespaces = BTreeSet::new();
    for mention in mentions {
        // Where there is no namespace, nothing can be in it.
        if let Mention::Object(_, key) = mention
            && absent_namespaces.contains(&key.namespace)
        {
            continue;
        }
        match found(ctx, cluster, mention).await? {
            Presence::There | Presence::Unknown(_) => {}
            Presence::Absent(absence) => {
                if let Mention::Namespace(name) = mention {
                    absent_namespaces.insert(name.clone());
                }
                absences.push(absence);
            }
        }
    }
    if ctx.settings().allow_missing {
        warn(ctx, &absences);
        return Ok(Vec::new());
    }
    let (selects, named): (Vec<_>, Vec<_>) = absences.into_iter().partition(|absence| absence.selects);
    end_or_warn(ctx, named)?;
    Ok(selects.iter().map(told).collect())
}

/// The same for the claims that a command is about: those that are named must have been read.
///
/// # Errors
/// As those of [`demand`], and where a claim that is named may well be there.
pub(super) async fn demand_claims(
    ctx: &Ctx,
    cluster: &Cluster,
    selection: &Selection,
) -> anyhow::Result<Vec<String>> {
    for key in &selection.names {
        let mention = Mention::Object(Kind::ResourceClaim, key.clone());
        if let Presence::Unknown(why) = presence(cluster, &mention) {
            anyhow::bail!(unknown(&mention, &why));
        }
    }
    demand(ctx, cluster, &mentions(selection, [Kind::ResourceClaim])).await
}

/// The same for what has no verdict to be unknown: what selects nothing is an error with the exit code for it.
///
/// # Errors
/// As those of [`demand`], and [`Unread`].
pub(super) async fn demand_all(ctx: &Ctx, cluster: &Cluster, mentions: &[Mention]) -> anyhow::Result<()> {
    match demand(ctx, cluster, mentions).await?.first() {
        Some(nothing) => Err(Unread::new(nothing.as_str()).into()),
        None => Ok(()),
    }
}

fn told(absence: &Absence) -> String {
    format!("{absence}; {}", instead(absence))
}

/// Ends the command where something is absent, or warns with `--allow-missing`.
///
/// # Errors
/// [`Absent`].
pub(super) fn end_or_warn(ctx: &Ctx, absences: Vec<Absence>) -> anyhow::Result<()> {
    if absences.is_empty() {
        return Ok(());
    }
    if ctx.settings().allow_missing {
        warn(ctx, &absences);
        return Ok(());
    }
    Err(Absent(absences).into())
}

/// Returns whether a mention is there, as far as was read.
pub(super) fn is_there(cluster: &Cluster, mention: &Mention) -> bool {
    presence(cluster, mention) == Presence::There
}

/// Warns of what is named and not there: a list of nothing is a list, but seldom what is meant.
pub(super) async fn hint(ctx: &Ctx, cluster: &Cluster, mentions: &[Mention]) -> anyhow::Result<()> {
    // Of labels a server sends what matches, and nothing of what there is.
    let telling = mentions
        .iter()
        .filter(|mention| !matches!(mention, Mention::Labels(..)));
    for mention in telling {
        if let Presence::Absent(absence) = found(ctx, cluster, mention).await? {
            warn(ctx, &[absence]);
        }
    }
    Ok(())
}

/// The claims of a list: those that are named must be there, and of a namespace or labels without any it is said that there are none.
///
/// # Errors
/// As those of [`demand`].
pub(super) async fn claims_of_list(
    ctx: &Ctx,
    cluster: &Cluster,
    selection: &Selection,
) -> anyhow::Result<()> {
    if selection.names.is_empty() {
        hint(ctx, cluster, &mentions(selection, [Kind::ResourceClaim])).await
    } else {
        demand_claims(ctx, cluster, selection).await.map(drop)
    }
}

/// Returns why an object that was asked for is not there to be shown: [`Unread`] where it may well be.
pub(super) async fn not_found(ctx: &Ctx, cluster: &Cluster, mention: &Mention) -> anyhow::Error {
    // What lies in a namespace that does not exist was looked for in the wrong place.
    let in_namespace = match mention {
        Mention::Object(_, key) if !key.namespace.is_empty() => {
            Some(Mention::Namespace(key.namespace.clone()))
        }
        _ => None,
    };
    for mention in in_namespace.iter().chain([mention]) {
        match found(ctx, cluster, mention).await {
            Ok(Presence::Absent(absence)) => return Absent(vec![absence]).into(),
            Ok(Presence::Unknown(why)) if !matches!(mention, Mention::Namespace(_)) => {
                return Unread::new(unknown(mention, &why)).into();
            }
            Ok(Presence::There | Presence::Unknown(_)) => {}
            Err(error) => return error,
        }
    }
    // A device that a claim holds is there, and still cannot be shown where its slice may not be read.
    match cluster.gap(Kind::ResourceSlice, "") {
        Some(gap) => Unread::new(unknown(mention, &gap.reason)).into(),
        None => anyhow::anyhow!("{mention} not found"),
    }
}

fn unknown(mention: &Mention, why: &str) -> String {
    format!("cannot tell whether {mention} exists: {why}")
}

fn warn(ctx: &Ctx, absences: &[Absence]) {
    for absence in absences {
        ctx.warn(told(absence));
    }
}

/// Returns what a selection among objects of these kinds names: namespaces, claims, labels.
pub(super) fn mentions(selection: &Selection, kinds: impl IntoIterator<Item = Kind>) -> Vec<Mention> {
    let Selection {
        namespace,
        names,
        labels,
    } = selection;
    // Names decide for themselves.
    let namespace = namespace.iter().filter(|_| names.is_empty());
    let namespaces = names.iter().map(|key| &key.namespace).chain(namespace).unique();
    let mut mentions: Vec<Mention> = namespaces.cloned().map(Mention::Namespace).collect();
    let named = names.iter().cloned();
    mentions.extend(named.map(|key| Mention::Object(Kind::ResourceClaim, key)));
    if !labels.is_empty() {
        mentions.push(Mention::Labels(selection.clone(), kinds.into_iter().collect()));
    }
    mentions
}

/// An object of a kind without namespaces, if there is a name for one.
pub(super) fn scoped(kind: Kind, name: Option<impl Into<Str>>) -> Option<Mention> {
    name.map(|name| Mention::scoped(kind, name))
}

/// Returns whether a mention is there, after a look at what the command did not have to read.
async fn found(ctx: &Ctx, cluster: &Cluster, mention: &Mention) -> anyhow::Result<Presence> {
    let known = presence(cluster, mention);
    match (mention, known, &ctx.settings().source) {
        (Mention::Namespace(name), Presence::Unknown(_) | Presence::Absent(_), SourceSetting::Cluster(_)) => {
            namespace_of_server(ctx, name).await
        }
        (Mention::Namespace(name), Presence::Unknown(why), SourceSetting::Files(_)) => {
            // A file need not have the Namespaces. Where it has objects of others, this one is not what it is about.
            let others = namespaces(cluster);
            Ok(if others.is_empty() {
                Presence::Unknown(why)
            } else {
                Presence::Absent(absent_namespace(name, others.iter().map(ToString::to_string)))
            })
        }
        (Mention::Object(kind, key), Presence::Absent(mut absence), SourceSetting::Cluster(_))
            if kind.is_namespaced() =>
        {
            // Other namespaces were not read; without permission there, nothing is reported.
            if let Ok(places) = ctx.live().await?.namespaces_with(*kind, &key.name).await {
                let word = absence.nouns.0;
                absence.elsewhere = places
                    .into_iter()
                    .filter(|place| *place != key.namespace.as_str())
                    .map(|place| format!("{word}/{place}/{}", key.name))
                    .collect();
            }
            Ok(Presence::Absent(absence))
        }
        (_, known, _) => Ok(known),
    }
}

/// Asks the server, which may return one namespace even without permission to list them.
async fn namespace_of_server(ctx: &Ctx, name: &Str) -> anyhow::Result<Presence> {
    let live = ctx.live().await?;
    let key = Key::new("", name.clone());
    let again = live.read_again(BTreeSet::from([(Kind::Namespace, key)])).await?;
    match again.changes.first() {
        Some(Change::Put(_)) => return Ok(Presence::There),
        Some(Change::Delete(..)) => {}
        None => {
            return Ok(Presence::Unknown(
                "no permission to read the Namespace".to_owned(),
            ));
        }
    }
    let others = live.names(Kind::Namespace, None).await.unwrap_or_default();
    let others = others.into_iter().map(|(_, name)| name);
    Ok(Presence::Absent(absent_namespace(name, others)))
}
