//! Origin of a claim: its own spec is immutable, so the origin must change for it to request something else.

use std::sync::Arc;

use super::{claim_name, is_group};
use dra_model::{Claim, ClaimTemplate, Cluster, Key, OwnerReference, Pod, PodClaim, Str};

/// Origin of a claim.
#[derive(Debug)]
pub enum Origin<'a> {
    /// A user created the claim.
    Made,
    /// The claim controller created it from this template, and recreates it after a deletion.
    Template(&'a Arc<ClaimTemplate>),
    /// The claim controller made it from a template that is not there, or not to be found: its name where that is known.
    NoTemplate(Option<Key>),
    /// Something else made it: kube-scheduler for the extended resources of a pod, or another controller.
    Owner(&'a OwnerReference),
}

impl<'a> Origin<'a> {
    /// Returns where `claim` comes from.
    ///
    /// The owner is the pod or the PodGroup, and the status of the pod names the claim of each entry. The claim
    /// controller recreates such a claim after a deletion (`resourceclaim/controller.go`, `handleClaim`, v1.37.2).
    pub fn of(cluster: &'a Cluster, claim: &'a Claim) -> Self {
        let Some(owner) = claim.metadata.controller() else {
            return Self::Made;
        };
        let key = claim.metadata.beside(&owner.name);
        let entry_of = |pod: &'a Arc<Pod>| {
            pod.spec.resource_claims.iter().find(|entry| {
                let name = claim_name(pod, entry).ok().and_then(|name| name.name());
                name == Some(&claim.metadata.name)
            })
        };
        let entry = if owner.kind == "Pod" && owner.api_version == "v1" {
            let pod = cluster.pod(&key).filter(|pod| pod.metadata.uid == owner.uid);
            pod.and_then(entry_of)
        } else if is_group(owner) {
            let entry = claim.metadata.annotation(super::ENTRY_ANNOTATION);
            let of_members = || cluster.pods_of_group(&key).find_map(entry_of);
            let group = cluster.pod_group(&key);
            let of_group = group.and_then(|group| {
                let mut entries = group.spec.resource_claims.iter();
                entries.find(|of_group| Some(&of_group.name) == entry)
            });
            of_group.or_else(of_members)
        } else {
            return Self::Owner(owner);
        };
        match entry.and_then(|entry: &PodClaim| entry.resource_claim_template_name.as_ref()) {
            Some(template) => {
                let template = claim.metadata.beside(template);
                match cluster.template(&template) {
                    Some(template) => Self::Template(template),
                    None => Self::NoTemplate(Some(template)),
                }
            }
            None if claim.metadata.annotation(EXTENDED).is_some() => Self::Owner(owner),
            None => Self::NoTemplate(None),
        }
    }

    /// Returns what has to be changed, as messages call it: `template/NAMESPACE/NAME`, or else the claim itself.
    pub fn object(&self, claim: &Key) -> String {
        match self {
            Self::Template(template) => format!("template/{}", template.metadata.key()),
            Self::NoTemplate(Some(template)) => format!("template/{template}"),
            Self::Made | Self::NoTemplate(None) | Self::Owner(_) => format!("claim/{claim}"),
        }
    }
}

/// On claims that kube-scheduler makes for extended resources.
pub const EXTENDED: &str = "resource.kubernetes.io/extended-resource-claim";

/// `Kind NAME` of the owner of an object, for a message.
pub fn manager(owner: &OwnerReference) -> String {
    let name: &Str = &owner.name;
    format!("{} {name}", owner.kind)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, cluster, pod};
    use super::*;
    use dra_model::{Environment, Kind, Object};

    fn origin(claim_json: &str, objects: Vec<Object>) -> String {
        let claim = claim(claim_json);
        let cluster = cluster(objects, Environment::default());
        match Origin::of(&cluster, &claim) {
            Origin::Made => "made".to_owned(),
            Origin::Template(template) => format!("template {}", template.metadata.key()),
            Origin::NoTemplate(template) => format!("no template {template:?}"),
            Origin::Owner(owner) => manager(owner),
        }
    }

    #[test]
    fn a_claim_comes_from_the_template_that_the_entry_of_its_owner_names() {
        let owned = |owner: &str, more: &str| {
            format!(r#"{{"metadata":{{"namespace":"n","name":"p-e-x","ownerReferences":[{owner}]{more}}}}}"#)
        };
        let by_pod = r#"{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}"#;
        let by_driver = r#"{"apiVersion":"example.com/v1","kind":"Domain","name":"d","controller":true}"#;
        let template = || {
            let json = r#"{"metadata":{"namespace":"n","name":"t"},"spec":{"spec":{}}}"#;
            Object::from_json(Kind::ResourceClaimTemplate, json.as_bytes()).unwrap()
        };
        let user = || {
            Object::Pod(pod(r#"{"metadata":{"namespace":"n","name":"p","uid":"u"},
                    "spec":{"resourceClaims":[{"name":"e","resourceClaimTemplateName":"t"}]},
                    "status":{"resourceClaimStatuses":[{"name":"e","resourceClaimName":"p-e-x"}]}}"#))
        };
        assert_eq!(
            origin(r#"{"metadata":{"namespace":"n","name":"c"}}"#, vec![]),
            "made"
        );
        assert_eq!(
            origin(&owned(by_pod, ""), vec![user(), template()]),
            "template n/t"
        );
        assert_eq!(
            origin(&owned(by_pod, ""), vec![user()]),
            "no template Some(Key { namespace: \"n\", name: \"t\" })"
        );
        assert_eq!(origin(&owned(by_pod, ""), vec![template()]), "no template None");
        assert_eq!(origin(&owned(by_driver, ""), vec![template()]), "Domain d");
        let extended = r#","annotations":{"resource.kubernetes.io/extended-resource-claim":"true"}"#;
        assert_eq!(origin(&owned(by_pod, extended), vec![template()]), "Pod p");
    }
}
