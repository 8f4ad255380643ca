//! What becomes of each PodGroup: it is stopped, its pods keep running, or the conversion does not affect it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::Display;

use super::options::PlanScope;
use super::words;
use crate::script::{Command, NoCommand, Resource, Script, patch};
use dra_model::{Cluster, Key, Pod, Str};
use dra_rules::reservation::conversion::{Action, ClaimPlan, Plan};
use dra_rules::reservation::{is_done, owning_group};

/// What becomes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Display)]
pub enum Decision {
    /// Its pods are stopped, and it is deleted while the gates are on.
    Drain,
    /// Its claims are converted, and its pods keep running.
    KeepRunning,
    /// It has no claims that have to be converted.
    Leave,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupPlan {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Whether there is such an object; a claim or a pod may name one that is gone.
    pub exists: bool,
    /// What becomes of it.
    pub decision: Decision,
    /// Why it has to be stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Claims that are reserved for it or were created for it, by name.
    pub claims: Vec<Str>,
    /// Those of them that were created for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generated_claims: Vec<Str>,
    /// Its members on a node that have not finished.
    pub pods: Vec<Str>,
    /// Its members without a node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Str>,
    /// Controllers of its pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<PodOwner>,
}

/// The controller of a pod.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, derive_more::Display,
)]
#[display("{}/{name}", kind.to_ascii_lowercase())]
pub struct PodOwner {
    /// `Job`.
    pub kind: Str,
    /// Its name.
    pub name: Str,
}

impl PodOwner {
    /// The command that stops its pods and creates no new ones, where there is one. What a ReplicaSet's Deployment wants is unknown
    /// here.
    pub(super) fn pause(&self, namespace: &str) -> Option<Result<Script, NoCommand>> {
        match self.kind.as_str() {
            "Job" => Some(patch(
                Resource::called("jobs.batch"),
                Some(namespace),
                &self.name,
                &["--type=merge"],
                &json!({"spec": {"suspend": true}}),
            )),
            "StatefulSet" => Some(
                Command::kubectl("scale")
                    .object(Resource::called("statefulsets.apps"), &self.name)
                    .namespace(namespace)
                    .arg("--replicas=0")
                    .done(),
            ),
            _ => None,
        }
    }
}

/// What becomes of the groups of the namespaces in `scope`, whose claims are in `plan`.
pub(super) fn groups(cluster: &Cluster, scope: &PlanScope, plan: &Plan) -> Vec<GroupPlan> {
    let mut claims: BTreeMap<Key, Vec<&ClaimPlan>> = BTreeMap::new();
    let mut generated: BTreeSet<(Key, Str)> = BTreeSet::new();
    for planned in &plan.claims {
        let key = |name: &Str| Key::new(planned.key.namespace.clone(), name.clone());
        let Some(claim) = cluster.claim(&planned.key) else {
            continue;
        };
        let mut named: BTreeSet<&Str> = claim
            .status
            .reserved_for
            .iter()
            .filter(|entry| entry.is_pod_group())
            .map(|entry| &entry.name)
            .collect();
        if let Some(group) = owning_group(claim) {
            named.insert(group);
            generated.insert((key(group), planned.key.name.clone()));
        }
        for group in named {
            claims.entry(key(group)).or_default().push(planned);
        }
    }
    let in_scope = |key: &Key| scope.includes(&key.namespace);
    let existing = cluster.pod_groups().map(|group| group.metadata.key());
    let keys: BTreeSet<Key> = existing.chain(claims.keys().cloned()).filter(in_scope).collect();
    keys.into_iter()
        .map(|key| {
            let claims = claims.get(&key).map(Vec::as_slice).unwrap_or_default();
            group(cluster, &key, claims, &generated)
        })
        .collect()
}

fn group(cluster: &Cluster, key: &Key, claims: &[&ClaimPlan], generated: &BTreeSet<(Key, Str)>) -> GroupPlan {
    let members: Vec<&Pod> = cluster
        .pods_of_group(key)
        .map(|pod| &**pod)
        .filter(|pod| !is_done(pod))
        .collect();
    let names = |bound: bool| -> Vec<Str> {
        members
            .iter()
            .filter(|pod| pod.node().is_some() == bound)
            .map(|pod| pod.metadata.name.clone())
            .collect()
    };
    let ends = claims.iter().find(|claim| must_end(claim));
    let owners: BTreeSet<PodOwner> = members
        .iter()
        .filter_map(|pod| pod.metadata.controller())
        .map(|owner| PodOwner {
            kind: owner.kind.clone(),
            name: owner.name.clone(),
        })
        .collect();
    GroupPlan {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        exists: cluster.pod_group(key).is_some(),
        decision: match ends {
            Some(_) => Decision::Drain,
            None if claims.is_empty() => Decision::Leave,
            None => Decision::KeepRunning,
        },
        reason: ends.map(|claim| words::must_stop(claim)),
        claims: claims.iter().map(|claim| claim.key.name.clone()).collect(),
        generated_claims: claims
            .iter()
            .map(|claim| claim.key.name.clone())
            .filter(|claim| generated.contains(&(key.clone(), claim.clone())))
            .collect(),
        pods: names(true),
        pending: names(false),
        owners: owners.into_iter().collect(),
    }
}

/// Whether the claim can only be freed by stopping its group.
fn must_end(claim: &ClaimPlan) -> bool {
    match &claim.action {
        Action::Refuse(refusal) => refusal.ends_its_group(),
        Action::Convert(_) | Action::Release(_) | Action::Keep => false,
    }
}
