//! Objects of one claim to read again.

use std::collections::BTreeSet;

use dra_model::{Claim, Cluster, ConsumerReference, Environment, Key, Kind, Str};
use dra_rules::reservation::conversion::Saved;
use dra_rules::reservation::owning_group;
use dra_sources::Needs;
use dra_sources::live::{Error, Live};

/// Returns what one claim depends on. Whether the pods of one that was made for a group were given others only these tell.
fn needs_of(claim: &Claim) -> Needs {
    let mut needs = Needs::none().require(Kind::ResourceClaim);
    if owning_group(claim).is_none() {
        needs = needs.named(Kind::ResourceClaim, &claim.metadata.name);
    }
    needs
        .require(Kind::Pod)
        .require(Kind::PodGroup)
        .in_namespace(&claim.metadata.namespace)
        .pods_after_claims()
}

/// Reads the objects that one claim depends on; `known` is the known state of the server.
pub(super) async fn reload(live: &Live, claim: &Claim, known: &Environment) -> Result<Cluster, Error> {
    let cluster = live.reload(&needs_of(claim), known).await?;
    still_served(cluster.environment(), known, live.server())?;
    Ok(cluster)
}

/// An API server that has just started does not offer all kinds yet. Then nothing is known, rather than that there are no objects.
pub(super) fn still_served(now: &Environment, known: &Environment, server: &str) -> Result<(), Error> {
    match now
        .not_served
        .iter()
        .find(|kind| !known.not_served.contains(kind))
    {
        None => Ok(()),
        Some(kind) => Err(Error::Foreign {
            what: format!("list {}", kind.plural()),
            server: server.to_owned(),
            message: "the API server no longer serves them".to_owned(),
        }),
    }
}

/// The UIDs of the objects that the old entries of a claim name, as far as they exist. Those that `cluster` was read with need no request.
pub(super) async fn objects_of(
    live: &Live,
    cluster: &Cluster,
    saved: &Saved,
) -> Result<BTreeSet<Str>, Error> {
    let namespace = &saved.key.namespace;
    let is_known = |entry: &ConsumerReference| {
        let group = cluster.pod_group(&Key::new(namespace.clone(), entry.name.clone()));
        entry.is_pod_group() && group.is_some_and(|group| group.metadata.uid == entry.uid)
    };
    let mut existing = BTreeSet::new();
    for entry in saved.before.iter().filter(|entry| !entry.is_pod()) {
        if is_known(entry) || live.uid_of(entry, namespace).await?.as_ref() == Some(&entry.uid) {
            existing.insert(entry.uid.clone());
        }
    }
    Ok(existing)
}
