//! Use of a claim by running pods, or by none.

use super::{PodGroups, is_done, pod_of_entry, resolves_to};
use dra_model::{Claim, Cluster, Kind, Pod};

/// Returns whether containers of the pod run, or may do so: it has begun, and has not ended.
pub fn may_run(pod: &Pod) -> bool {
    !is_done(pod) && !matches!(pod.status.phase.as_str(), "Pending" | "")
}

/// Returns whether a pod runs with the devices of the claim, as [`may_run`] has it: one that it is reserved for, a
/// member of such a group, or one that resolves to it. Nothing if unknown: pods could not be read, or the claim is
/// reserved for another kind.
pub fn runs_with(cluster: &Cluster, claim: &Claim) -> Option<bool> {
    if cluster.gap(Kind::Pod, &claim.metadata.namespace).is_some() {
        return None;
    }
    let mut is_known = true;
    for entry in &claim.status.reserved_for {
        let named = claim.metadata.beside(&entry.name);
        let runs = if entry.is_pod() {
            pod_of_entry(cluster, claim, entry).is_some_and(|pod| may_run(pod))
        } else if entry.is_pod_group() {
            cluster.pods_of_group(&named).any(|pod| may_run(pod))
        } else {
            is_known = false;
            false
        };
        if runs {
            return Some(true);
        }
    }
    // A downgrade leaves pods that run without an entry.
    let key = claim.key();
    let mut pods = cluster.pods_of_claim(&key);
    if pods.any(|pod| may_run(pod) && resolves_to(pod, claim, PodGroups::Accepted)) {
        return Some(true);
    }
    is_known.then_some(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_model::Key;
    use dra_testing::{World, holding};

    #[test]
    fn a_claim_is_idle_unless_a_pod_runs_with_it() {
        let pending = json!({"phase": "Pending"});
        let foreign = json!({"allocation": {"devices": {}}, "reservedFor": [
            {"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "j-uid"}]});
        let other = json!({"allocation": {"devices": {}}, "reservedFor": [
            {"resource": "pods", "name": "runs", "uid": "older"}]});
        let cluster = World::default()
            .pod("runs", &["used"])
            .pod("unlisted", &["without-entry"])
            .pod_with("waits", &["kept"], &pending)
            .pod_with("ended", &["left"], &json!({"phase": "Succeeded"}))
            .claim("used", &json!({}), &holding(&["a"], &["runs"]))
            .claim("without-entry", &json!({}), &holding(&["b"], &[]))
            .claim("kept", &json!({}), &holding(&["c"], &["waits"]))
            .claim("left", &json!({}), &holding(&["d"], &["ended", "gone"]))
            .claim("foreign", &json!({}), &foreign)
            .claim("replaced", &json!({}), &other)
            .build();
        for (claim, expected) in [
            ("used", Some(true)),
            ("without-entry", Some(true)),
            ("kept", Some(false)),
            ("left", Some(false)),
            ("foreign", None),
            ("replaced", Some(false)),
        ] {
            let found = cluster.claim(&Key::new("n", claim)).unwrap();
            assert_eq!(runs_with(&cluster, found), expected, "{claim}");
        }
        let hidden = World::default()
            .claim("used", &json!({}), &holding(&["a"], &["runs"]))
            .without(Kind::Pod)
            .build();
        let claim = hidden.claim(&Key::new("n", "used")).unwrap();
        assert_eq!(runs_with(&hidden, claim), None);
    }
}
