//! Served version of each kind.
//!
//! One request to `/apis` with the header for aggregated discovery answers for all groups (Kubernetes 1.30 and later, and 1.34 is
//! the oldest release this build knows). Where something between here and the server does not pass the header on, the documents
//! of the groups are read one by one.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResource, GroupVersionForDiscovery};
use serde::Deserialize;

use super::Live;
use super::error::Error;
use super::request::JSON;
use dra_model::Kind;

/// Header that requests all groups in one document, and accepts the plain list of groups.
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// Name of the discovery operation, for errors.
const WHAT: &str = "discover the served kinds";

/// Kinds served by an API server.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    /// Group, resource and version of all that is served.
    versions: BTreeSet<(String, String, String)>,
    /// Groups whose resources could not be found out.
    unknown: BTreeSet<String>,
}

/// Serving of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serving {
    /// In this version, the best of those that are served.
    Version(&'static str),
    /// Not at all.
    No,
    /// Discovery does not say; this is the best version to try.
    Perhaps(&'static str),
}

impl Served {
    /// Returns how `kind` is served.
    pub(super) fn kind(&self, kind: Kind) -> Serving {
        let best = kind.versions()[0];
        // Every API server serves the kinds of the core group.
        if kind.group().is_empty() {
            return Serving::Version(best);
        }
        if self.unknown.contains(kind.group()) {
            return Serving::Perhaps(best);
        }
        let found = kind.versions().iter().find(|version| self.has(kind, version));
        found.map_or(Serving::No, |version| Serving::Version(version))
    }

    /// The version in which a kind is served, or the best one to try.
    pub(super) fn version(&self, kind: Kind) -> &'static str {
        match self.kind(kind) {
            Serving::Version(version) | Serving::Perhaps(version) => version,
            Serving::No => kind.versions()[0],
        }
    }

    /// The versions beside the best one of a kind that are served.
    pub(super) fn old_versions(&self) -> BTreeSet<String> {
        let all =
            Kind::all().flat_map(|kind| kind.versions()[1..].iter().map(move |version| (kind, version)));
        all.filter(|(kind, version)| self.has(*kind, version))
            .map(|(kind, version)| kind.api_version(version))
            .collect()
    }

    /// Returns whether a kind is served in exactly this version.
    pub(super) fn has(&self, kind: Kind, version: &str) -> bool {
        let [group, resource] = [kind.group(), kind.plural()].map(str::to_owned);
        self.versions.contains(&(group, resource, version.to_owned()))
    }
}

/// Asks `live` what it serves of the groups of `kinds`.
pub(super) async fn discover(live: &Live, kinds: &BTreeSet<Kind>) -> Result<Served, Error> {
    let groups: BTreeSet<&str> = kinds
        .iter()
        .map(|kind| kind.group())
        .filter(|group| !group.is_empty())
        .collect();
    if groups.is_empty() {
        return Ok(Served::default());
    }
    match live.get::<Document>("/apis", AGGREGATED, WHAT).await {
        Ok(Document {
            kind,
            items,
            groups: listed,
        }) => match (&*kind, items, listed) {
            ("APIGroupDiscoveryList", Some(items), _) => Ok(aggregated(items, &groups)),
            ("APIGroupList", _, Some(listed)) => one_by_one(live, listed, &groups).await,
            _ => Err(live.foreign(WHAT, format!("a `{kind}` without API groups"))),
        },
        // Users may be denied discovery and still be allowed to list.
        Err(Error::Refused { code: 403, .. }) => Ok(Served {
            unknown: groups.into_iter().map(str::to_owned).collect(),
            ..Served::default()
        }),
        Err(error) => Err(error),
    }
}

/// The two documents that `/apis` answers with: an `APIGroupDiscoveryList` with items, or an `APIGroupList` with groups.
#[derive(Deserialize)]
struct Document {
    kind: String,
    items: Option<Vec<AggregatedGroup>>,
    groups: Option<Vec<APIGroup>>,
}

/// A group of an `APIGroupDiscoveryList`. The type of kube refuses `"verbs": null`, which servers write for a resource that has
/// nothing but subresources, and one foreign group would make all of them unknown.
#[derive(Deserialize)]
struct AggregatedGroup {
    #[serde(default)]
    metadata: Named,
    #[serde(default)]
    versions: Vec<AggregatedVersion>,
}

#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct AggregatedVersion {
    version: String,
    #[serde(default)]
    resources: Vec<AggregatedResource>,
    #[serde(default)]
    freshness: String,
}

#[derive(Deserialize)]
struct AggregatedResource {
    resource: String,
}

/// An `APIResourceList`. An answer without resources is another one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Resources {
    kind: String,
    group_version: String,
    resources: Option<Vec<APIResource>>,
}

fn aggregated(items: Vec<AggregatedGroup>, wanted: &BTreeSet<&str>) -> Served {
    let mut served = Served::default();
    for group in items {
        let name = group.metadata.name;
        if !wanted.contains(name.as_str()) {
            continue;
        }
        for version in group.versions {
            if version.freshness == "Stale" {
                served.unknown.insert(name.clone());
            }
            for resource in version.resources {
                let served_in = (name.clone(), resource.resource, version.version.clone());
                served.versions.insert(served_in);
            }
        }
    }
    served
}

async fn one_by_one(live: &Live, groups: Vec<APIGroup>, wanted: &BTreeSet<&str>) -> Result<Served, Error> {
    let mut served = Served::default();
    for group in groups
        .into_iter()
        .filter(|group| wanted.contains(group.name.as_str()))
    {
        for GroupVersionForDiscovery { version, .. } in group.versions {
            let group_version = format!("{}/{version}", group.name);
            let path = format!("/apis/{group_version}");
            match live.get::<Resources>(&path, JSON, WHAT).await {
                Ok(Resources {
                    kind,
                    group_version: said,
                    resources: Some(resources),
                }) if kind == "APIResourceList" && said == group_version => {
                    for resource in resources {
                        let served_in = (group.name.clone(), resource.name, version.clone());
                        served.versions.insert(served_in);
                    }
                }
                Err(error) if error.is_fatal() => return Err(error),
                // What is served is then found out by asking for it.
                Ok(_) | Err(_) => {
                    served.unknown.insert(group.name.clone());
                }
            }
        }
    }
    Ok(served)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::json;

    fn document(json: &str) -> Served {
        let wanted = BTreeSet::from(["resource.k8s.io", "scheduling.k8s.io"]);
        let document: Document = json::from_str(json).unwrap();
        assert_eq!(document.kind, "APIGroupDiscoveryList");
        aggregated(document.items.unwrap(), &wanted)
    }

    #[test]
    fn the_best_version_that_serves_the_resource_is_chosen() {
        // As a 1.36 server answers: the group's best version does not serve rules.
        let served = document(
            r#"{"kind":"APIGroupDiscoveryList","items":[
                {"metadata":{"name":"resource.k8s.io"},"versions":[
                    {"version":"v1","freshness":"Current","resources":[{"resource":"resourceclaims"}]},
                    {"version":"v1beta2","resources":[{"resource":"resourceclaims"},{"resource":"devicetaintrules"}]}]},
                {"metadata":{"name":"scheduling.k8s.io"},"versions":[
                    {"version":"v1","resources":[{"resource":"priorityclasses"}]}]}]}"#,
        );
        assert_eq!(served.kind(Kind::ResourceClaim), Serving::Version("v1"));
        assert_eq!(served.kind(Kind::DeviceTaintRule), Serving::Version("v1beta2"));
        assert_eq!(served.kind(Kind::PodGroup), Serving::No);
        assert_eq!(served.kind(Kind::Pod), Serving::Version("v1"));
    }

    #[test]
    fn resources_without_verbs_of_other_groups_do_not_matter() {
        // As an adapter of metrics answers, whose resources have subresources alone.
        let served = document(
            r#"{"kind":"APIGroupDiscoveryList","items":[
                {"metadata":{"name":"custom.metrics.k8s.io"},"versions":[{"version":"v1beta1","resources":[
                    {"resource":"pods","responseKind":{"group":"","version":"","kind":""},"scope":"Namespaced",
                     "singularResource":"","verbs":null,"subresources":[{"subresource":"x","verbs":null}]}]}]},
                {"metadata":{"name":"resource.k8s.io"},"versions":[
                    {"version":"v1","resources":[{"resource":"resourceclaims"}]}]}]}"#,
        );
        assert_eq!(served.kind(Kind::ResourceClaim), Serving::Version("v1"));
    }

    #[test]
    fn a_stale_group_is_unknown_rather_than_not_served() {
        let served = document(
            r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"scheduling.k8s.io"},"versions":[
                {"version":"v1beta1","freshness":"Stale"}]}]}"#,
        );
        assert_eq!(served.kind(Kind::PodGroup), Serving::Perhaps("v1beta1"));
        assert_eq!(served.kind(Kind::ResourceClaim), Serving::No);
    }
}
