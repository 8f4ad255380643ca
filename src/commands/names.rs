//! Completion of names of objects and contexts.

use crate::context::{Ctx, SourceSetting};
use dra_model::{Kind, Slice};
use dra_sources::Needs;
use dra_sources::live::ConfiguredNames;

use super::{describe, objects};

/// Typed part of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Typed {
    /// The name before it, for an argument of several names.
    pub(crate) before: Option<String>,
    /// Its beginning.
    pub(crate) word: String,
}

/// Names that only the cluster or files know.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Find {
    /// Of a kind that can be described. Of claims and pods with `-A`, or behind `claim/NAMESPACE/`, in the form that names the namespace too.
    Of(&'static str),
    /// Of these kinds, with their kind.
    WithKinds(&'static [&'static str]),
    /// Kinds that can be described, and behind a kind the names of its objects.
    Described,
    Namespaces,
    /// Of what is found in slices.
    Published(fn(&Slice) -> Vec<String>),
    /// Devices that can get a taint, up to the taint.
    Taintable,
    /// Taints that there are: rules, and keys of drivers' taints behind the device.
    Taints,
    /// Of what is found in the kubeconfig.
    Configured(fn(ConfiguredNames) -> Vec<String>),
}

impl Find {
    /// Looks for what may stand for an argument that begins as `typed`.
    pub(crate) async fn names(self, ctx: &Ctx, typed: Typed) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Of(kind) => of_kind(ctx, kind, &typed.word).await,
            Self::WithKinds(kinds) => with_kinds(ctx, kinds, &typed).await,
            Self::Described => described(ctx, typed).await,
            Self::Namespaces => plain(ctx, Kind::Namespace).await,
            Self::Published(names) => published(ctx, names).await,
            Self::Taintable => {
                let devices = device_ids(ctx, "").await?;
                Ok(devices.into_iter().map(|device| format!("{device}=")).collect())
            }
            Self::Taints => taints(ctx).await,
            Self::Configured(names) => match &ctx.settings().source {
                SourceSetting::Cluster(connection) => Ok(names(connection.names()?)),
                SourceSetting::Files(_) => Ok(Vec::new()),
            },
        }
    }
}

/// Objects of these kinds as `KIND/NAME`, or their names behind a kind that stands alone.
async fn with_kinds(ctx: &Ctx, kinds: &[&str], typed: &Typed) -> anyhow::Result<Vec<String>> {
    let before = typed.before.as_deref().and_then(describe::kind_called);
    if let Some(kind) = before.filter(|kind| kinds.contains(kind)) {
        return of_kind(ctx, kind, &typed.word).await;
    }
    let mut found = Vec::new();
    for kind in kinds {
        let begin = format!("{kind}/");
        let word = if begin.starts_with(&typed.word) {
            &begin
        } else {
            &typed.word
        };
        if word.starts_with(&begin) {
            let names = of_kind(ctx, kind, word).await?;
            let with_kind = |name: String| match name.strip_prefix(&begin) {
                Some(_) => name,
                None => format!("{begin}{name}"),
            };
            found.extend(names.into_iter().map(with_kind));
        }
    }
    Ok(found)
}

async fn described(ctx: &Ctx, typed: Typed) -> anyhow::Result<Vec<String>> {
    if let Some(kind) = typed.before {
        return match describe::kind_called(&kind) {
            Some(kind) => of_kind(ctx, kind, &typed.word).await,
            None => Ok(Vec::new()),
        };
    }
    let Some((kind, name)) = typed.word.split_once('/') else {
        return Ok(describe::kinds().map(|kind| format!("{kind}/")).collect());
    };
    let names = match describe::kind_called(kind) {
        Some("claim" | "pod") if name.contains('/') => {
            return of_kind(ctx, kind, &typed.word).await;
        }
        Some(found) => of_kind(ctx, found, name).await?,
        None => Vec::new(),
    };
    let with_kind = |name: String| match name.strip_prefix(kind) {
        Some(rest) if rest.starts_with('/') => name,
        _ => format!("{kind}/{name}"),
    };
    Ok(names.into_iter().map(with_kind).collect())
}

async fn of_kind(ctx: &Ctx, kind: &str, word: &str) -> anyhow::Result<Vec<String>> {
    match kind {
        "claim" => namespaced(ctx, Kind::ResourceClaim, kind, word).await,
        "pod" => namespaced(ctx, Kind::Pod, kind, word).await,
        "node" => plain(ctx, Kind::Node).await,
        "class" => plain(ctx, Kind::DeviceClass).await,
        "device" => device_ids(ctx, word).await,
        "pool" => published(ctx, |slice| vec![slice.pool_id().to_string()]).await,
        _ => Ok(Vec::new()),
    }
}

async fn taints(ctx: &Ctx) -> anyhow::Result<Vec<String>> {
    let rules = plain(ctx, Kind::DeviceTaintRule).await?;
    let of_drivers = published(ctx, |slice| {
        let pool = slice.pool_id();
        let of_device = |device: &dra_model::Device| {
            let taints = device.taints.iter();
            let keys = taints.map(|taint| format!("{pool}/{}={}", device.name, taint.key));
            keys.collect::<Vec<_>>()
        };
        slice.spec.devices.iter().flat_map(of_device).collect()
    });
    let mut names: Vec<String> = rules.into_iter().map(|name| format!("rule/{name}")).collect();
    names.extend(of_drivers.await?);
    Ok(names)
}

/// Objects in a namespace: `NAME`; `WORD/NAME` where the user begins like that; `WORD/NAMESPACE/NAME` with `-A`, and where the user has
/// written the namespace.
async fn namespaced(ctx: &Ctx, kind: Kind, word: &str, typed: &str) -> anyhow::Result<Vec<String>> {
    let begun = typed.strip_prefix(word).and_then(|rest| rest.strip_prefix('/'));
    let written = begun
        .and_then(|rest| rest.split_once('/'))
        .map(|(namespace, _)| namespace);
    let namespace = match written {
        Some(written) => Some(written.to_owned()),
        None => objects::namespace(ctx, objects::Default::Current),
    };
    let names = listed(ctx, kind, namespace.as_deref()).await?;
    let shown = |(in_namespace, name): (String, String)| {
        if namespace.is_none() || written.is_some() {
            format!("{word}/{in_namespace}/{name}")
        } else if begun.is_some() {
            format!("{word}/{name}")
        } else {
            name
        }
    };
    Ok(names.into_iter().map(shown).collect())
}

async fn plain(ctx: &Ctx, kind: Kind) -> anyhow::Result<Vec<String>> {
    let names = listed(ctx, kind, None).await?.into_iter();
    Ok(names.map(|(_, name)| name).collect())
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

async fn device_ids(ctx: &Ctx, word: &str) -> anyhow::Result<Vec<String>> {
    let of_pools = |pool: fn(&Slice) -> String| {
        published(ctx, move |slice| {
            let pool = pool(slice);
            let devices = slice.spec.devices.iter();
            devices.map(|device| format!("{pool}/{}", device.name)).collect()
        })
    };
    let whole = of_pools(|slice| slice.pool_id().to_string()).await?;
    if whole.iter().any(|id| id.starts_with(word)) {
        return Ok(whole);
    }
    of_pools(|slice| slice.spec.pool.name.to_string()).await
}

/// Returns what `names` finds in the slices, each once.
async fn published(ctx: &Ctx, names: impl Fn(&Slice) -> Vec<String>) -> anyhow::Result<Vec<String>> {
    let cluster = ctx.load(Needs::kinds([Kind::ResourceSlice])).await?;
    let mut found: Vec<String> = cluster.slices().flat_map(|slice| names(slice)).collect();
    found.sort();
    found.dedup();
    Ok(found)
}
