//! Claims that a pod has yet to get from a template, and what the claim controller does about them.

use std::sync::Arc;

use super::{
    ClaimNameError, PodGroups, bind_to, claim_name, claims_made_for, group_claim_name, group_of_member,
};
use dra_model::{Claim, ClaimTemplate, Cluster, Component, Gap, Gate, Key, Kind, Pod, PodClaim, PodGroup};

/// An entry of a pod whose claim is to come from a template, and that has no claim which the pod may use.
#[derive(Debug)]
pub struct Unmade<'c> {
    /// What the pod has instead.
    pub lacks: Lacks,
    /// The PodGroup that the claim is created for, if the pod only shares it.
    pub group: Option<&'c Arc<PodGroup>>,
    /// Next step of the claim controller.
    pub next: Next<'c>,
}

/// State of a pod in place of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// Its status names none.
    Name,
    /// Its status names a claim that was made for another pod, such as an earlier one of its name, or for none.
    Owner(Key),
    /// Its status names a claim that does not exist.
    Claim(Key),
}

/// Next step of the claim controller for a claim from a template.
#[derive(Debug)]
pub enum Next<'c> {
    /// It finds this claim, which was made for the entry, and names it in the status of the pod.
    Adopt(&'c Arc<Claim>),
    /// It makes one from this template.
    Make(&'c Arc<ClaimTemplate>),
    /// There is no such template.
    NoTemplate(Key),
    /// Nothing, for this reason, in the words of Kubernetes where it has some.
    Nothing(String),
    /// Nothing, as kube-controller-manager has this gate off, in the words of Kubernetes.
    GateOff(Gate, String),
    /// Unknown.
    Unknown(&'c Gap),
}

/// The claims that the pod has yet to get from templates, in the order of its entries.
pub fn unmade<'c, 'p>(
    cluster: &'c Cluster,
    pod: &'p Pod,
) -> impl Iterator<Item = (&'p PodClaim, Unmade<'c>)> {
    let entries = pod.spec.resource_claims.iter();
    entries.filter_map(move |entry| Some((entry, unmade_of(cluster, pod, entry)?)))
}

/// Returns the pending work of the claim controller for the claim of `entry`; nothing if the pod has it, needs none, or
/// another client creates it.
///
/// The controller (`controllers::resource_claim`) does it claim by claim. A claim that the status names and that is not
/// the pod's stays, and another one is created or adopted. The controller notices the deletion of its own claims late:
/// it remembers it for an hour (`claimCache`).
pub fn unmade_of<'c>(cluster: &'c Cluster, pod: &Pod, entry: &PodClaim) -> Option<Unmade<'c>> {
    let environment = cluster.environment();
    let groups = PodGroups::of(environment, Component::ControllerManager);
    let lacks = match claim_name(pod, entry) {
        Err(ClaimNameError::NotCreated { .. }) => Lacks::Name,
        Ok(name) if name.is_generated() => {
            let key = name.key()?;
            match cluster.claim(&key) {
                Some(claim) if name.may_use(claim, groups).is_ok() => return None,
                Some(_) => Lacks::Owner(key),
                None if cluster.gap(Kind::ResourceClaim, &key.namespace).is_some() => return None,
                None => Lacks::Claim(key),
            }
        }
        Ok(_) | Err(ClaimNameError::Unsupported { .. }) => return None,
    };
    let template = pod.metadata.beside(entry.resource_claim_template_name.as_ref()?);
    let (group, next) = match group_of_claim(cluster, pod, entry, groups) {
        Ok(group) => (group, next(cluster, pod, group, entry, template)),
        Err(next) => (None, next),
    };
    Some(Unmade { lacks, group, next })
}

/// The PodGroup that the claim of the entry is created for, if not for the pod.
fn group_of_claim<'c>(
    cluster: &'c Cluster,
    pod: &Pod,
    entry: &PodClaim,
    groups: PodGroups,
) -> Result<Option<&'c Arc<PodGroup>>, Next<'c>> {
    let environment = cluster.environment();
    let needs_groups = environment.release().needs_groups;
    if pod.pod_group().is_none() || groups == PodGroups::Ignored && !needs_groups {
        return Ok(None);
    }
    if let Some(gap) = cluster.gap(Kind::PodGroup, &pod.metadata.namespace) {
        return Err(Next::Unknown(gap));
    }
    let workloads = !needs_groups || environment.enabled(Component::ControllerManager, Gate::GenericWorkload);
    let nothing = |why: &dyn ToString| Next::Nothing(why.to_string());
    let group = group_of_member(cluster, pod, workloads).map_err(|why| nothing(&why))?;
    let consumer = bind_to(pod, group.map(|group| &**group), entry).map_err(|why| nothing(&why))?;
    if !consumer.is_pod_group() {
        return Ok(None);
    }
    if groups == PodGroups::Ignored {
        let gate = Gate::DRAWorkloadResourceClaims;
        let why = format!(
            "claim {} is a PodGroup claim but the {gate} feature is disabled",
            entry.name
        );
        return Err(Next::GateOff(gate, why));
    }
    Ok(group)
}

fn next<'c>(
    cluster: &'c Cluster,
    pod: &Pod,
    group: Option<&'c Arc<PodGroup>>,
    entry: &PodClaim,
    template: Key,
) -> Next<'c> {
    let (kind, owner) = match group {
        Some(group) => (Kind::PodGroup, &group.metadata),
        None => (Kind::Pod, &pod.metadata),
    };
    let mut made = claims_made_for(cluster, kind, &owner.namespace, &owner.uid, &entry.name);
    if let Some(claim) = made.next() {
        return Next::Adopt(claim);
    }
    // The group has its claim, so none is made; without the annotation it is not the one of the entry.
    if let Some(group) = group
        && let Ok(name) = group_claim_name(group, entry)
        && let Some(claim) = name.find(cluster)
        && name.may_use(claim).is_ok()
    {
        return Next::Nothing(format!(
            "claim/{} of podgroup/{} has no annotation {} for the entry {}, so the group's pods do not get it",
            claim.key(),
            group.metadata.key(),
            super::ENTRY_ANNOTATION,
            entry.name
        ));
    }
    match cluster.template(&template) {
        Some(template) => Next::Make(template),
        None => match cluster.gap(Kind::ResourceClaimTemplate, &template.namespace) {
            Some(gap) => Next::Unknown(gap),
            None => Next::NoTemplate(template),
        },
    }
}

/// What the API server says of a claim that it does not let the claim controller create (`resourceclaim/controller.go`, `handleClaim`,
/// v1.37.2): `create ResourceClaim : WHY`, since the name of a claim that is made from a template is empty.
pub fn refused_creation(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("create ResourceClaim ")?;
    let (_, why) = rest.split_once(": ")?;
    Some(why.trim())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, cluster, group, pod};
    use super::*;
    use dra_model::{Environment, Object, Version};

    const OWN: &str = r#"{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}"#;
    const EARLIER: &str = r#"{"apiVersion":"v1","kind":"Pod","name":"p","uid":"earlier","controller":true}"#;
    const OF_GROUP: &str = r#"{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","name":"g","uid":"gu","controller":true}"#;
    const ANNOTATION: &str = r#""annotations":{"resource.kubernetes.io/pod-claim-name":"e"}"#;

    fn template() -> Object {
        let json = r#"{"metadata":{"namespace":"n","name":"t"},"spec":{"spec":{}}}"#;
        Object::from_json(Kind::ResourceClaimTemplate, json.as_bytes()).unwrap()
    }

    fn made(name: &str, owner: &str, more: &str) -> Object {
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(",{more}")
        };
        Object::ResourceClaim(claim(&format!(
            r#"{{"metadata":{{"namespace":"n","name":"{name}","ownerReferences":[{owner}]{more}}}}}"#
        )))
    }

    fn of_group(claims: &str, status: &str) -> Object {
        Object::PodGroup(group(&format!(
            r#"{{"metadata":{{"namespace":"n","name":"g","uid":"gu"}},"spec":{{"resourceClaims":[{claims}]}},"status":{{{status}}}}}"#
        )))
    }

    /// Returns what is lacking, and what is done about it, for a pod whose status has this.
    fn told(status: &str, member: bool, objects: Vec<Object>, environment: Environment) -> String {
        let in_group = if member {
            r#","schedulingGroup":{"podGroupName":"g"}"#
        } else {
            ""
        };
        let pod = pod(&format!(
            r#"{{"metadata":{{"namespace":"n","name":"p","uid":"u"}},
                "spec":{{"resourceClaims":[{{"name":"e","resourceClaimTemplateName":"t"}}]{in_group}}},
                "status":{{"resourceClaimStatuses":[{status}]}}}}"#
        ));
        let cluster = cluster(objects, environment);
        let Some((_, Unmade { lacks, group, next })) = unmade(&cluster, &pod).next() else {
            return "made".to_owned();
        };
        let lacks = match lacks {
            Lacks::Name => "no name".to_owned(),
            Lacks::Owner(key) => format!("{key} of another"),
            Lacks::Claim(key) => format!("{key} gone"),
        };
        let next = match next {
            Next::Adopt(claim) => format!("adopt {}", claim.metadata.name),
            Next::Make(template) => format!("make from {}", template.metadata.name),
            Next::NoTemplate(key) => format!("no template {key}"),
            Next::Nothing(why) | Next::GateOff(_, why) => why,
            Next::Unknown(gap) => format!("unknown without {}", gap.kind.plural()),
        };
        let whose = group.map_or_else(String::new, |group| format!(" for {}", group.metadata.name));
        format!("{lacks}: {next}{whose}")
    }

    fn gates(minor: u32, gates: &[(Gate, bool)]) -> Environment {
        dra_testing::of_release(Version::minor(minor), Component::ControllerManager, gates)
    }

    #[test]
    fn a_claim_is_the_pods_by_its_owner_and_the_annotation() {
        let named = r#"{"name":"e","resourceClaimName":"c"}"#;
        let alone = |status: &str, objects| told(status, false, objects, Environment::default());
        for (status, objects, expected) in [
            ("", vec![template()], "no name: make from t"),
            ("", vec![], "no name: no template n/t"),
            // What the pod owns is only its own by the annotation.
            ("", vec![made("c", OWN, "")], "no name: no template n/t"),
            ("", vec![made("c", OWN, ""), template()], "no name: make from t"),
            ("", vec![made("c", OWN, ANNOTATION)], "no name: adopt c"),
            (
                "",
                vec![made("c", EARLIER, ANNOTATION), template()],
                "no name: make from t",
            ),
            // Once the status names it, the owner decides alone.
            (named, vec![made("c", OWN, "")], "made"),
            (
                named,
                vec![made("c", EARLIER, ANNOTATION), template()],
                "n/c of another: make from t",
            ),
            (
                named,
                vec![made("c", EARLIER, ANNOTATION)],
                "n/c of another: no template n/t",
            ),
            (
                named,
                vec![made("c", "", ""), template()],
                "n/c of another: make from t",
            ),
            (
                named,
                vec![made("c", EARLIER, ""), made("d", OWN, ANNOTATION), template()],
                "n/c of another: adopt d",
            ),
            (named, vec![template()], "n/c gone: make from t"),
            (named, vec![made("d", OWN, ANNOTATION)], "n/c gone: adopt d"),
            (named, vec![made("d", OWN, "")], "n/c gone: no template n/t"),
            // No claim is needed.
            (r#"{"name":"e"}"#, vec![], "made"),
        ] {
            assert_eq!(alone(status, objects), expected, "{status}");
        }
    }

    #[test]
    fn claims_of_groups_are_made_for_the_group_where_it_is_known() {
        let entry = r#"{"name":"e","resourceClaimTemplateName":"t"}"#;
        let named = r#"{"name":"e","resourceClaimName":"c"}"#;
        let in_status = format!(r#""resourceClaimStatuses":[{named}]"#);
        let (workload, claims) = (Gate::GenericWorkload, Gate::DRAWorkloadResourceClaims);
        let on = || gates(37, &[(workload, true), (claims, true)]);
        let off = "claim e is a PodGroup claim but the DRAWorkloadResourceClaims feature is disabled";
        for (environment, status, objects, expected) in [
            (
                on(),
                "",
                vec![of_group(entry, ""), template()],
                "no name: make from t for g",
            ),
            (
                on(),
                "",
                vec![of_group("", ""), template()],
                "no name: make from t",
            ),
            (
                on(),
                "",
                vec![of_group(entry, ""), made("c", OF_GROUP, ANNOTATION)],
                "no name: adopt c for g",
            ),
            (
                on(),
                "",
                vec![of_group(entry, &in_status), made("c", OF_GROUP, ""), template()],
                "no name: claim/n/c of podgroup/n/g has no annotation resource.kubernetes.io/pod-claim-name \
                for the entry e, so the group's pods do not get it for g",
            ),
            (
                on(),
                named,
                vec![of_group(entry, &in_status), made("c", OF_GROUP, "")],
                "made",
            ),
            (
                on(),
                named,
                vec![of_group(entry, &in_status), template()],
                "n/c gone: make from t for g",
            ),
            (
                on(),
                "",
                vec![template()],
                "no name: podgroup.scheduling.k8s.io \"g\" not found",
            ),
            (
                gates(37, &[(workload, true), (claims, false)]),
                "",
                vec![of_group(entry, ""), template()],
                &format!("no name: {off}"),
            ),
            (
                gates(37, &[(workload, false), (claims, false)]),
                "",
                vec![of_group(entry, ""), template()],
                "no name: Pod is a member of PodGroup g but GenericWorkload feature is disabled",
            ),
            // Before 1.37 a controller that makes no claims for groups takes the pod for any other.
            (
                gates(36, &[(workload, true), (claims, false)]),
                named,
                vec![
                    of_group(entry, &in_status),
                    made("c", OF_GROUP, ANNOTATION),
                    template(),
                ],
                "n/c of another: make from t",
            ),
            (gates(34, &[]), "", vec![template()], "no name: make from t"),
        ] {
            assert_eq!(told(status, true, objects, environment), expected);
        }
    }

    #[test]
    fn what_could_not_be_read_is_unknown() {
        let hidden = |kind| Environment {
            gaps: vec![Gap {
                kind,
                namespace: "n".into(),
                except: "".into(),
                is_forbidden: false,
                reason: "forbidden".to_owned(),
            }],
            ..gates(
                37,
                &[
                    (Gate::GenericWorkload, true),
                    (Gate::DRAWorkloadResourceClaims, true),
                ],
            )
        };
        let named = r#"{"name":"e","resourceClaimName":"c"}"#;
        for (kind, status, member, expected) in [
            (
                Kind::ResourceClaimTemplate,
                "",
                false,
                "no name: unknown without resourceclaimtemplates",
            ),
            (Kind::PodGroup, "", true, "no name: unknown without podgroups"),
            (Kind::ResourceClaim, named, false, "made"),
        ] {
            assert_eq!(told(status, member, vec![], hidden(kind)), expected);
        }
    }
}
