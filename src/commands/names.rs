//! Names of objects and contexts, for whoever presses the Tab key.

use std::future::Future;
use std::pin::Pin;

use crate::context::{Ctx, Scope, SourceSetting};
use crate::model::{Cluster, Kind};
use crate::sources::Needs;

/// Names that are still being looked for.
pub(crate) type Names<'c> = Pin<Box<dyn Future<Output = anyhow::Result<Vec<String>>> + 'c>>;

/// Names of claims; with `-A` in the form that names the namespace too.
pub(super) fn claims(ctx: &Ctx) -> Names<'_> {
    Box::pin(namespaced(ctx, Kind::ResourceClaim, "claim"))
}

/// Names of pods.
pub(super) fn pods(ctx: &Ctx) -> Names<'_> {
    Box::pin(namespaced(ctx, Kind::Pod, "pod"))
}

/// Names of nodes.
pub(super) fn nodes(ctx: &Ctx) -> Names<'_> {
    Box::pin(plain(ctx, Kind::Node))
}

/// Names of device classes.
pub(super) fn classes(ctx: &Ctx) -> Names<'_> {
    Box::pin(plain(ctx, Kind::DeviceClass))
}

/// Names of namespaces.
pub(super) fn namespaces(ctx: &Ctx) -> Names<'_> {
    Box::pin(plain(ctx, Kind::Namespace))
}

/// Drivers that publish devices.
pub(super) fn drivers(ctx: &Ctx) -> Names<'_> {
    Box::pin(published(ctx, |cluster| {
        cluster
            .slices()
            .map(|slice| slice.spec.driver.to_string())
            .collect()
    }))
}

/// Devices as `DRIVER/POOL/DEVICE`.
pub(super) fn devices(ctx: &Ctx) -> Names<'_> {
    Box::pin(published(ctx, |cluster| {
        let of_slice = |slice: &crate::model::Slice| {
            let pool = slice.pool_id();
            slice
                .spec
                .devices
                .iter()
                .map(|device| format!("{pool}/{}", device.name))
                .collect::<Vec<_>>()
        };
        cluster.slices().flat_map(|slice| of_slice(slice)).collect()
    }))
}

/// Contexts of the kubeconfig.
pub(super) fn contexts(ctx: &Ctx) -> Names<'_> {
    configured(ctx, |names| names.contexts)
}

/// Clusters of the kubeconfig.
pub(super) fn clusters(ctx: &Ctx) -> Names<'_> {
    configured(ctx, |names| names.clusters)
}

/// Users of the kubeconfig.
pub(super) fn users(ctx: &Ctx) -> Names<'_> {
    configured(ctx, |names| names.users)
}

async fn namespaced(ctx: &Ctx, kind: Kind, word: &str) -> anyhow::Result<Vec<String>> {
    let namespace = match &ctx.settings().scope {
        Scope::All => None,
        Scope::Namespace(namespace) => Some(namespace.clone()),
        Scope::Unset => Some(ctx.current_namespace()),
    };
    let names = listed(ctx, kind, namespace.as_deref()).await?;
    let shown = |(in_namespace, name): (String, String)| match &namespace {
        Some(_) => name,
        None => format!("{word}/{in_namespace}/{name}"),
    };
    Ok(names.into_iter().map(shown).collect())
}

async fn plain(ctx: &Ctx, kind: Kind) -> anyhow::Result<Vec<String>> {
    Ok(listed(ctx, kind, None)
        .await?
        .into_iter()
        .map(|(_, name)| name)
        .collect())
}

/// Namespaces and names of the objects of `kind`.
async fn listed(ctx: &Ctx, kind: Kind, namespace: Option<&str>) -> anyhow::Result<Vec<(String, String)>> {
    match &ctx.settings().source {
        SourceSetting::Cluster(_) => Ok(ctx.live().await?.names(kind, namespace).await?),
        SourceSetting::Files(_) => {
            let cluster = ctx.load(Needs::kinds([kind])).await?;
            let keys = cluster.versions(kind).into_keys();
            let chosen = keys.filter(|key| namespace.is_none_or(|namespace| key.namespace == namespace));
            Ok(chosen
                .map(|key| (key.namespace.to_string(), key.name.to_string()))
                .collect())
        }
    }
}

async fn published(ctx: &Ctx, names: impl Fn(&Cluster) -> Vec<String>) -> anyhow::Result<Vec<String>> {
    let cluster = ctx.load(Needs::kinds([Kind::ResourceSlice])).await?;
    let mut names = names(&cluster);
    names.sort();
    names.dedup();
    Ok(names)
}

fn configured(ctx: &Ctx, names: fn(crate::sources::live::ConfiguredNames) -> Vec<String>) -> Names<'_> {
    Box::pin(async move {
        match &ctx.settings().source {
            SourceSetting::Cluster(connection) => Ok(names(connection.names()?)),
            SourceSetting::Files(_) => Ok(Vec::new()),
        }
    })
}
