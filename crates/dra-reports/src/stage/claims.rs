//! What keeps a pod on a node from the devices of its claims, by the objects alone.

use std::collections::BTreeSet;

use dra_model::{Claim, Cluster, Gap, Key, Kind, Pod, PodClaim};
use dra_rules::reservation::{ClaimName, ClaimNameError, Next, PodGroups, Unusable, claim_name, unmade_of};

/// Something that is wrong with a claim of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What kind of problem, in one word that stays.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) text: String,
    /// The claim, where it has a name.
    pub(crate) claim: Option<Key>,
}

/// What was found of the claims of a pod.
#[derive(Debug, Default)]
pub(crate) struct Problems<'c> {
    /// What is wrong, in the order of the pod's claims.
    pub(crate) found: Vec<Problem>,
    /// What hides whether something is.
    pub(crate) hidden: Option<&'c Gap>,
}

/// Why a pod that has its node cannot use the devices of its claims: what the kubelet looks at before it asks a driver, which
/// [`Unusable`] has of one claim.
pub(crate) fn problems<'c>(cluster: &'c Cluster, pod: &Pod) -> Problems<'c> {
    let groups = PodGroups::of_kubelets(cluster.environment());
    let own = pod.spec.resource_claims.iter();
    let own = own.map(|entry| (claim_name(pod, entry), Some(entry)));
    let extended = ClaimName::of_extended_resources(pod).map(|name| (Ok(name), None));
    // Without PodGroups it is not known whether traces of them are left over.
    let unread_groups = || {
        cluster
            .gap(Kind::PodGroup, "")
            .filter(|_| PodGroups::of_kubelets_is_guessed(cluster.environment()))
    };
    let mut problems = Problems::default();
    for (name, entry) in own.chain(extended) {
        let name = match name {
            Ok(name) => name,
            Err(why) => {
                problems.found.extend(uncreated(cluster, pod, &why, entry));
                continue;
            }
        };
        let Some(key) = name.key() else { continue };
        match cluster.claim(&key) {
            Some(claim) => {
                let problem = unusable(pod, &name, claim, groups);
                if problem.is_none() && unusable(pod, &name, claim, PodGroups::Ignored).is_some() {
                    problems.hidden = problems.hidden.or_else(unread_groups);
                }
                problems.found.extend(problem);
            }
            None => match cluster.gap(Kind::ResourceClaim, &key.namespace) {
                Some(gap) => problems.hidden = Some(gap),
                None => problems.found.push(Problem {
                    code: "ClaimMissing",
                    text: format!("claim/{key} not found"),
                    claim: Some(key),
                }),
            },
        }
    }
    problems
}

/// The pod and its claims: what `problems` joins, to be read again where they were listed at different times.
pub fn rests_on(pod: &Pod) -> BTreeSet<(Kind, Key)> {
    let own = pod.spec.resource_claims.iter();
    let own = own.filter_map(|entry| claim_name(pod, entry).ok()?.key());
    let extended = ClaimName::of_extended_resources(pod).and_then(|name| name.key());
    let claims = own.chain(extended).map(|key| (Kind::ResourceClaim, key));
    claims.chain([(Kind::Pod, pod.key())]).collect()
}

/// Why there is no claim for an entry of the pod. The scheduler, which would have waited for it, was passed by.
fn uncreated(cluster: &Cluster, pod: &Pod, why: &ClaimNameError, entry: Option<&PodClaim>) -> Vec<Problem> {
    let plain = |code, text| Problem {
        code,
        text,
        claim: None,
    };
    let mut problems = vec![plain("ClaimNotCreated", why.to_string())];
    if let Some(Next::NoTemplate(template)) =
        entry.and_then(|entry| Some(unmade_of(cluster, pod, entry)?.next))
    {
        problems.insert(
            0,
            plain(
                "TemplateMissing",
                template_missing(&template, &format!("pod/{}", pod.key())),
            ),
        );
    }
    problems
}

/// That there is no template for claims of the pod.
pub(crate) fn template_missing(template: &Key, pod: &str) -> String {
    format!("resource claim template {template} not found, from which claims of {pod} are made")
}

/// Why the pod cannot use the claim.
fn unusable(pod: &Pod, name: &ClaimName<'_>, claim: &Claim, groups: PodGroups) -> Option<Problem> {
    let why = Unusable::of(pod, name, claim, groups)?;
    let code = match why {
        Unusable::NotOwned(_) => "ClaimNotOwned",
        Unusable::NotAllocated => "NotAllocated",
        Unusable::NotReserved => "NotReserved",
    };
    Some(Problem {
        code,
        text: format!("claim/{} {why}: {}", claim.key(), why.consequence(pod)),
        claim: Some(claim.key()),
    })
}
