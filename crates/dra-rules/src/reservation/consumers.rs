//! Pods that use a claim.

use std::sync::Arc;

use super::{ClaimName, PodGroups, claim_name, is_reserved_for};
use dra_model::{Claim, Cluster, Gap, Kind, Pod};

/// Returns whether none of the pod's containers runs or ever will. Mirrors `resourceclaim/controller.go`, `isPodDone`, v1.37.2: a pod that
/// is being deleted still counts while it has a node, as its containers may run until the kubelet confirms their end.
pub fn is_done(pod: &Pod) -> bool {
    pod.is_terminal() || pod.metadata.is_deleting() && pod.node().is_none()
}

/// Every claim of the pod that has a name by now: those of `spec.resourceClaims`, in order, then the one that the scheduler made
/// for extended resources. Mirrors `resourceclaim/pod.go`, `PodClaims`, v1.37.2, but for the owner of the last one: the kubelet does
/// not check it, and who does asks `owns`.
pub fn claim_names(pod: &Pod) -> impl Iterator<Item = ClaimName<'_>> {
    let named = pod
        .spec
        .resource_claims
        .iter()
        .filter_map(|entry| claim_name(pod, entry).ok());
    let extended = ClaimName::of_extended_resources(pod);
    named.chain(extended.filter(|extended| extended.name().is_some_and(|name| !name.is_empty())))
}

/// Returns whether the pod means this claim by one of its entries, and may: a claim made from a template must be its own or its group's.
pub fn resolves_to(pod: &Pod, claim: &Claim, groups: PodGroups) -> bool {
    claim_names(pod).any(|name| name.resolves_to(claim, groups))
}

/// Returns whether the pod uses the claim on a node, or is about to: it resolves to the claim, has a node and has not ended.
pub fn is_consumer(pod: &Pod, claim: &Claim, groups: PodGroups) -> bool {
    pod.node().is_some() && !pod.is_terminal() && resolves_to(pod, claim, groups)
}

/// Pods that keep the devices of the claim: its consumers, and unscheduled pods with an entry of their own, such as
/// pods that wait for binding conditions. By name; groups count as owners whatever a component's gate says.
///
/// # Errors
/// The gap, when pods of the namespace could not be read.
pub fn users<'a>(cluster: &'a Cluster, claim: &Claim) -> Result<Vec<&'a Arc<Pod>>, &'a Gap> {
    if let Some(gap) = cluster.gap(Kind::Pod, &claim.metadata.namespace) {
        return Err(gap);
    }
    let uses = |pod: &&Arc<Pod>| {
        let bound = pod.node().is_some() || is_reserved_for(pod, claim, PodGroups::Ignored);
        bound && !is_done(pod) && resolves_to(pod, claim, PodGroups::Accepted)
    };
    Ok(cluster.pods_of_claim(&claim.key()).filter(uses).collect())
}

/// Returns whether any pod consumes the claim.
///
/// # Errors
/// The gap, when pods of the namespace could not be read.
pub fn has_consumer<'a>(cluster: &'a Cluster, claim: &Claim) -> Result<bool, &'a Gap> {
    match cluster.gap(Kind::Pod, &claim.metadata.namespace) {
        Some(gap) => Err(gap),
        None => Ok(cluster
            .pods_of_claim(&claim.key())
            .any(|pod| is_consumer(pod, claim, PodGroups::Accepted))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, cluster, pod};
    use super::*;
    use dra_model::{Environment, Object};

    #[test]
    fn pods_end_by_phase_or_by_deletion_before_they_are_bound() {
        let deleted = r#""deletionTimestamp":"2026-11-21T10:13:06Z""#;
        for (metadata, node, phase, done) in [
            ("", "a", "Running", false),
            ("", "", "Pending", false),
            ("", "a", "Succeeded", true),
            ("", "a", "Failed", true),
            ("", "a", "Unknown", false),
            (deleted, "a", "Running", false),
            (deleted, "", "Pending", true),
        ] {
            let pod = pod(&format!(
                r#"{{"metadata":{{{metadata}}},"spec":{{"nodeName":"{node}"}},"status":{{"phase":"{phase}"}}}}"#
            ));
            assert_eq!(is_done(&pod), done, "{metadata} {node} {phase}");
        }
    }

    #[test]
    fn a_pod_uses_what_it_names_and_what_was_made_for_it() {
        let pod = pod(r#"{"metadata":{"namespace":"n","name":"p","uid":"u"},
                "spec":{"nodeName":"a","schedulingGroup":{"podGroupName":"g"},"resourceClaims":[
                    {"name":"waiting","resourceClaimTemplateName":"t"},
                    {"name":"named","resourceClaimName":"shared"},
                    {"name":"made","resourceClaimTemplateName":"t"},
                    {"name":"none","resourceClaimTemplateName":"t"}]},
                "status":{"phase":"Running","extendedResourceClaimStatus":{"resourceClaimName":"extended"},
                    "resourceClaimStatuses":[{"name":"made","resourceClaimName":"made"},{"name":"none"}]}}"#);
        let names: Vec<_> = claim_names(&pod)
            .filter_map(|name| name.name())
            .map(ToString::to_string)
            .collect();
        assert_eq!(names, ["shared", "made", "extended"]);

        let owned = |name: &str, owner: &str| {
            claim(&format!(
                r#"{{"metadata":{{"namespace":"n","name":"{name}","ownerReferences":[{owner}]}}}}"#
            ))
        };
        let by_pod = r#"{"kind":"Pod","name":"p","uid":"u","controller":true}"#;
        let by_older = r#"{"kind":"Pod","name":"p","uid":"older","controller":true}"#;
        let by_group =
            r#"{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","name":"g","controller":true}"#;
        for (name, owner, accepted, ignored) in [
            ("shared", "", true, true),
            ("made", by_pod, true, true),
            ("made", by_older, false, false),
            ("made", by_group, true, false),
            ("extended", by_older, true, true),
            ("other", by_pod, false, false),
        ] {
            let claim = owned(name, owner);
            assert_eq!(
                is_consumer(&pod, &claim, PodGroups::Accepted),
                accepted,
                "{name} {owner}"
            );
            assert_eq!(
                is_consumer(&pod, &claim, PodGroups::Ignored),
                ignored,
                "{name} {owner}"
            );
        }
    }

    #[test]
    fn users_are_bound_or_reserved_and_have_not_ended() {
        let with = |name: &str, node: &str, phase: &str| {
            Object::Pod(pod(&format!(
                r#"{{"metadata":{{"namespace":"n","name":"{name}","uid":"{name}"}},
                    "spec":{{"nodeName":"{node}","resourceClaims":[{{"name":"c","resourceClaimName":"c"}}]}},
                    "status":{{"phase":"{phase}"}}}}"#
            )))
        };
        let objects = [
            with("bound", "a", "Running"),
            with("ended", "a", "Failed"),
            with("reserved", "", "Pending"),
            with("unbound", "", "Pending"),
        ];
        let claim = claim(
            r#"{"metadata":{"namespace":"n","name":"c"},
                "status":{"reservedFor":[{"resource":"pods","name":"reserved","uid":"reserved"}]}}"#,
        );
        let known = cluster(objects.clone(), Environment::default());
        let names: Vec<_> = users(&known, &claim)
            .unwrap()
            .iter()
            .map(|pod| pod.metadata.name.to_string())
            .collect();
        assert_eq!(names, ["bound", "reserved"]);
        assert_eq!(has_consumer(&known, &claim), Ok(true));

        let gap = Gap {
            kind: Kind::Pod,
            namespace: "n".into(),
            except: "".into(),
            is_forbidden: false,
            reason: "forbidden".to_owned(),
        };
        let hidden = cluster(
            objects,
            Environment {
                gaps: vec![gap.clone()],
                ..Environment::default()
            },
        );
        assert_eq!(users(&hidden, &claim).err(), Some(&gap));
        assert_eq!(has_consumer(&hidden, &claim), Err(&gap));
    }
}
