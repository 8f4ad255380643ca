//! Pods that wait for each other's nodes.

use std::sync::Arc;

use dra_model::{Claim, ClaimSpec, Cluster, Gathers, Owner, OwnerReference, Pod, Str};

use super::name::OwnerName;
use crate::reservation::claim_names;

/// The reason why what gathers nodes does not let its pods start.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incomplete {
    /// Number of nodes that it is to have; zero for any number.
    pub wanted: i64,
    /// Number of those that are ready.
    pub ready: i64,
    /// Those that it has, with what it says of each.
    pub there: Vec<(Str, Str)>,
    /// True if the pod waits for its own node alone, however many others there are.
    pub is_of_node: bool,
}

/// Returns what gathers the nodes of pods with a claim like one of this pod's.
pub fn gathering<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Owner> {
    let owners = &cluster.environment().owners;
    let mut all = owners.gathering(&pod.metadata.namespace);
    let found = all.find(|(owner, gathers)| is_gathered(cluster, pod, owner, gathers));
    found.map(|(owner, _)| owner)
}

/// Returns whether the configuration of the pod's claims names something that gathers nodes.
pub fn gathers_nodes(cluster: &Cluster, pod: &Pod) -> bool {
    claim_names(pod).any(|name| name.find(cluster).is_some_and(|claim| names_domain(&claim.spec)))
}

/// Returns whether the configuration of a claim names something that gathers nodes, whose controller has written it then.
pub fn names_domain(spec: &ClaimSpec) -> bool {
    has_domain(spec, serde_json::Value::is_string)
}

fn is_gathered(cluster: &Cluster, pod: &Pod, owner: &Owner, gathers: &Gathers) -> bool {
    let is_owned = |references: &[OwnerReference]| references.iter().any(|reference| owner.is(reference));
    let mut templates = pod
        .spec
        .resource_claims
        .iter()
        .filter_map(|entry| entry.resource_claim_template_name.as_ref());
    let of_template = |name: &Str| {
        let template = cluster.template(&pod.metadata.beside(name));
        *name == gathers.template
            || template.is_some_and(|template| {
                is_owned(&template.metadata.owner_references) || names(&template.spec.spec, owner)
            })
    };
    let of_claim =
        |claim: &Arc<Claim>| is_owned(&claim.metadata.owner_references) || names(&claim.spec, owner);
    templates.any(of_template) || claim_names(pod).any(|name| name.find(cluster).is_some_and(of_claim))
}

/// Returns the UID of what gathers nodes that the configuration of a claim names, if that was not read: it may not exist any more.
pub fn unread_domain(cluster: &Cluster, spec: &ClaimSpec) -> Option<String> {
    let is_read = |uid: &str| cluster.environment().owners.iter().any(|owner| owner.uid == *uid);
    let mut named = domains(spec).filter_map(|domain| Some(domain.as_str()?.to_owned()));
    named.find(|uid| !is_read(uid))
}

/// Returns whether the configuration for the driver names the object.
fn names(spec: &ClaimSpec, owner: &Owner) -> bool {
    has_domain(spec, |domain| domain == owner.uid.as_str())
}

/// Returns whether the configuration for a driver names a domain that `is_meant`.
fn has_domain(spec: &ClaimSpec, is_meant: impl Fn(&serde_json::Value) -> bool) -> bool {
    domains(spec).any(|domain| is_meant(&domain))
}

/// The domains that the configuration for drivers names, and null where it names none.
fn domains(spec: &ClaimSpec) -> impl Iterator<Item = serde_json::Value> {
    let configs = spec.devices.config.iter();
    let parameters = configs.filter_map(|config| config.opaque.as_ref()?.parameters_value());
    parameters.map(|parameters| parameters["domainID"].clone())
}

/// Returns what `owner`, which gathers nodes, lacks; nothing where it is complete.
pub fn incomplete(owner: &Owner) -> Option<Incomplete> {
    // One that wants no number of nodes waits for none.
    let gathers = owner.gathers.as_ref().filter(|gathers| gathers.wanted > 0)?;
    let is_ready = |(_, status): &&(Str, Str)| status.is_empty() || *status == "Ready";
    let ready = gathers.there.iter().filter(is_ready).count();
    let ready = i64::try_from(ready).unwrap_or(i64::MAX);
    let has_all = ready >= gathers.wanted;
    let is_ready = if owner.state.is_empty() {
        has_all
    } else {
        owner.state == "Ready"
    };
    (!is_ready).then(|| Incomplete {
        wanted: gathers.wanted,
        ready,
        there: gathers.there.clone(),
        is_of_node: false,
    })
}

/// Returns what `owner` lacks on a node whose pods wait for that alone: where it waits for no number of nodes, or where the node stays behind
/// others, or behind the last one to come. Drivers before 25.8 report no status of nodes, and wait for all; those since wait for the pod's own node
/// (`cmd/compute-domain-kubelet-plugin/computedomain.go`, `isCurrentNodeReadyInStatus`, of NVIDIA's driver), which may wait for the number of nodes
/// first, if its feature `IMEXDaemonsWithDNSNames` is off.
pub fn unready(owner: &Owner, node: &Str) -> Option<Incomplete> {
    let gathers = owner.gathers.as_ref()?;
    let mut there = gathers.there.iter();
    let own = there.clone().find(|(name, _)| name == node);
    let keeps = match own.map_or("", |(_, status)| status.as_str()) {
        "Ready" => false,
        "" => gathers.wanted == 0,
        _ => {
            let has_all = i64::try_from(gathers.there.len()).is_ok_and(|there| there >= gathers.wanted);
            has_all || there.any(|(_, status)| *status == "Ready")
        }
    };
    keeps.then(|| Incomplete {
        wanted: gathers.wanted,
        is_of_node: true,
        ..Incomplete::default()
    })
}

/// The other pods whose nodes are gathered with that of `pod`.
pub fn gathered_with<'c>(cluster: &'c Cluster, pod: &Pod, owner: &Owner) -> Vec<&'c Arc<Pod>> {
    let Some(gathers) = &owner.gathers else {
        return Vec::new();
    };
    let is_one = |other: &&Arc<Pod>| {
        other.metadata.uid != pod.metadata.uid
            && !other.is_terminal()
            && is_gathered(cluster, other, owner, gathers)
    };
    cluster.pods_in(&pod.metadata.namespace).filter(is_one).collect()
}

/// Returns what has made all the pods whose nodes are gathered with that of `pod`, with the number of pods that it runs at a time, if these are
/// fewer than the nodes that `owner` waits for. What has a controller itself may not be the only one.
pub fn too_few_pods(cluster: &Cluster, pod: &Pod, owner: &Owner) -> Option<(OwnerName, i64)> {
    let maker = cluster.owner(&pod.metadata)?;
    let others = gathered_with(cluster, pod, owner);
    let mut made_by = others.iter().map(|other| other.metadata.controller());
    let is_only = made_by.all(|other| other.is_some_and(|other| maker.is(other)));
    let there = i64::try_from(others.len() + 1).ok()?;
    let runs = maker.at_once.or(maker.replicas)?.max(there);
    let has_too_few = is_only && maker.controller.is_none() && runs < owner.gathers.as_ref()?.wanted;
    has_too_few.then(|| (maker.into(), runs))
}

/// Returns the pods with a node that cannot start before `pod` has one, and what gathers their nodes with its node; nothing if no pod
/// waits for it.
pub fn waiting_for<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<(OwnerName, Vec<&'c Arc<Pod>>)> {
    let owner = gathering(cluster, pod)?;
    incomplete(owner)?;
    let mut others = gathered_with(cluster, pod, owner);
    others.retain(|other| other.node().is_some() && other.status.phase == "Pending");
    (!others.is_empty()).then(|| (owner.into(), others))
}
