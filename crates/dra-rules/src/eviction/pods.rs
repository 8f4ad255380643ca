//! Pods that an eviction of a claim reaches, with their times.

use std::sync::Arc;

use super::due::goes_despite_request;
use super::{EvictingClaims, Eviction, Release, has_to_go};
use crate::reservation::{ClaimName, PodGroups, claim_name, is_reserved_for, owns, pod_of_entry};
use dra_allocator::devices::Taints;
use dra_model::{Claim, Cluster, Pod, PodClaim};

/// The pods that the controller looks at when something changes for `claim`, in the order of `status.reservedFor`; of a group by
/// name. A pod may come more than once.
///
/// Mirrors `device_taint_eviction.go`, `handlePods`, v1.37.2: a pod is found by name and must have the entry's UID; a group's
/// members are found by the group's name, whatever its UID; entries of other kinds name no pods.
pub fn consumers<'a>(cluster: &'a Cluster, claim: &Claim, release: Release) -> Vec<&'a Arc<Pod>> {
    let mut pods = Vec::new();
    for entry in &claim.status.reserved_for {
        if entry.is_pod() {
            match pod_of_entry(cluster, claim, entry) {
                Some(pod) => pods.push(pod),
                None if release.stops_at_missing_pod => break,
                None => {}
            }
        } else if entry.is_pod_group() && release.groups == PodGroups::Accepted {
            pods.extend(cluster.pods_of_group(&claim.metadata.beside(&entry.name)));
        }
    }
    pods
}

/// The allocated claims whose eviction is one of `pod` too: those that it names, may use and is listed for, in the order of its
/// spec, and last the one for its extended resources where that counts, if the pod owns it. None for a pod without a node.
///
/// Mirrors `device_taint_eviction.go`, `podEvictionTime`, v1.37.2. The phase does not matter: a finished pod of a group goes too.
pub fn evicting_claims<'a>(
    cluster: &'a Cluster,
    pod: &'a Pod,
    release: Release,
) -> impl Iterator<Item = &'a Arc<Claim>> {
    let (groups, claims) = (release.groups, release.claims);
    let is_placed = pod.node().is_some();
    let entries: &[PodClaim] = if is_placed && claims.has_named() {
        &pod.spec.resource_claims
    } else {
        &[]
    };
    let named = entries.iter().filter_map(|entry| claim_name(pod, entry).ok());
    let extended = (is_placed && claims.has_extended())
        .then(|| ClaimName::of_extended_resources(pod))
        .flatten();
    let named = named.map(|meant| (meant, false));
    let extended = extended.map(|meant| (meant, true));
    named.chain(extended).filter_map(move |(meant, must_own)| {
        let claim = meant.find(cluster)?;
        let counts = claim.status.allocation.is_some()
            && meant.may_use(claim, groups).is_ok()
            && (!must_own || owns(pod, claim, groups))
            && is_reserved_for(pod, claim, groups);
        counts.then_some(claim)
    })
}

/// The running pods that stay on a device for extended resources although its taint would evict them, each with the claim: before
/// 1.37.2 the controller does not look at it (kubernetes/kubernetes#141290). By namespace and name; none of a later release.
pub fn passed_over(cluster: &Cluster) -> Vec<(&Arc<Pod>, &Arc<Claim>)> {
    let release = Release::of(cluster.environment());
    if !release.evicts || release.claims.has_extended() {
        return Vec::new();
    }
    let of_extended = Release {
        claims: EvictingClaims::OfExtendedResources,
        ..release
    };
    let runs = |pod: &&Arc<Pod>| {
        let extended = &pod.status.extended_resource_claim_status;
        extended.is_some() && !pod.is_terminal() && !pod.metadata.is_deleting()
    };
    let mut found: Vec<_> = (cluster.pods().filter(runs))
        .filter_map(|pod| Some((pod, evicting_claims(cluster, pod, of_extended).next()?)))
        .collect();
    if !found.is_empty() {
        let taints = Taints::of(cluster).where_rules_are(release.rules);
        found.retain(|(pod, claim)| {
            let mut named = evicting_claims(cluster, pod, release);
            has_to_go(claim, &taints) && !named.any(|claim| has_to_go(claim, &taints))
        });
        found.sort_by_key(|(pod, _)| pod.key());
    }
    found
}

/// The running pods that are evicted for a taint which the request of the device tolerates, each with the claim: kube-scheduler
/// before 1.35 copies no toleration into the allocation, which is all that the controller looks at (kubernetes/kubernetes#134479). By
/// namespace and name.
pub fn evicted_despite_request(cluster: &Cluster) -> Vec<(&Arc<Pod>, &Arc<Claim>)> {
    let release = Release::of(cluster.environment());
    if !release.evicts {
        return Vec::new();
    }
    let taints = Taints::of(cluster).where_rules_are(release.rules);
    let runs = |pod: &&Arc<Pod>| pod.node().is_some() && !pod.is_terminal() && !pod.metadata.is_deleting();
    let mut found: Vec<_> = (cluster.pods().filter(runs))
        .filter_map(|pod| {
            let mut claims = evicting_claims(cluster, pod, release);
            Some((pod, claims.find(|claim| goes_despite_request(claim, &taints))?))
        })
        .collect();
    found.sort_by_key(|(pod, _)| pod.key());
    found
}

/// Returns when `pod` has to go, and why; never, if none of its claims does. `of_claim` says it of an allocated claim.
pub fn pod_eviction(
    cluster: &Cluster,
    pod: &Pod,
    release: Release,
    of_claim: impl FnMut(&Arc<Claim>) -> Option<Eviction>,
) -> Option<Eviction> {
    evicting_claims(cluster, pod, release)
        .filter_map(of_claim)
        .reduce(Eviction::joined)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::eviction::claim_eviction;
    use dra_model::{ClusterBuilder, Component, Environment, Gate, Key, Kind, Object, Time, Version};

    const TAINTED: &str = "2026-11-21T10:00:00Z";

    fn release(groups: PodGroups) -> Release {
        Release {
            groups,
            ..Release::of(&Environment::default())
        }
    }

    fn slice() -> (Kind, Value) {
        let taint = |time: &str| json!([{"key": "k", "effect": "NoExecute", "timeAdded": time}]);
        (
            Kind::ResourceSlice,
            json!({"metadata": {"name": "s"}, "spec": {"driver": "d", "pool": {"name": "p"}, "devices": [
                {"name": "bad", "taints": taint(TAINTED)},
                {"name": "worse", "taints": taint("2026-11-21T09:00:00Z")},
                {"name": "good"},
            ]}}),
        )
    }

    fn entry(resource: &str, name: &str, uid: &str) -> Value {
        let group = if resource == "podgroups" {
            "scheduling.k8s.io"
        } else {
            ""
        };
        json!({"apiGroup": group, "resource": resource, "name": name, "uid": uid})
    }

    fn claim(name: &str, device: &str, owner: Option<Value>, entries: &[Value]) -> (Kind, Value) {
        let owners: Vec<_> = owner.into_iter().collect();
        (
            Kind::ResourceClaim,
            json!({"metadata": {"namespace": "n", "name": name, "ownerReferences": owners},
                "status": {"reservedFor": entries, "allocation": {"devices": {"results": [
                    {"driver": "d", "pool": "p", "device": device}]}}}}),
        )
    }

    /// A running pod with these entries of `spec.resourceClaims`; claims of templates are recorded under the entry's name.
    fn pod(name: &str, more: &Value, claims: &[&str], templates: &[&str]) -> (Kind, Value) {
        let named = claims
            .iter()
            .map(|claim| json!({"name": claim, "resourceClaimName": claim}));
        let made = templates
            .iter()
            .map(|claim| json!({"name": claim, "resourceClaimTemplateName": "t"}));
        let statuses: Vec<_> = templates
            .iter()
            .map(|claim| json!({"name": claim, "resourceClaimName": claim}))
            .collect();
        let mut object = json!({"metadata": {"namespace": "n", "name": name, "uid": format!("{name}-uid")},
            "spec": {"nodeName": "node", "resourceClaims": named.chain(made).collect::<Vec<_>>()},
            "status": {"phase": "Running", "resourceClaimStatuses": statuses}});
        for part in ["spec", "status"] {
            for (key, value) in more[part].as_object().into_iter().flatten() {
                object[part][key] = value.clone();
            }
        }
        (Kind::Pod, object)
    }

    fn cluster(objects: impl IntoIterator<Item = (Kind, Value)>) -> Cluster {
        let mut builder = ClusterBuilder::default();
        for (kind, json) in objects {
            builder.add(Object::from_json(kind, json.to_string().as_bytes()).unwrap());
        }
        builder.build(Environment::default()).0
    }

    /// Pods that have to go, with the instant.
    fn leaving(cluster: &Cluster, groups: PodGroups) -> Vec<String> {
        leaving_by(cluster, release(groups))
    }

    fn leaving_by(cluster: &Cluster, release: Release) -> Vec<String> {
        let taints = Taints::of(cluster);
        let now: Time = "2026-11-21T12:00:00Z".parse().unwrap();
        let of_claim = |claim: &Arc<Claim>| claim_eviction(claim, &taints, now);
        cluster
            .pods()
            .filter_map(|pod| {
                let eviction = pod_eviction(cluster, pod, release, of_claim)?;
                Some(format!("{} {}", pod.metadata.name, eviction.at))
            })
            .collect()
    }

    #[test]
    fn a_pod_goes_with_the_first_of_its_claims_that_it_may_use() {
        let owned = |uid: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": uid, "controller": true});
        let both = [entry("pods", "both", "both-uid")];
        let cluster = cluster([
            slice(),
            claim("bad", "bad", None, &both),
            claim("worse", "worse", None, &both),
            claim("good", "good", None, &[entry("pods", "fine", "fine-uid")]),
            // A reservation counts by its UID, whatever else it says.
            claim("odd", "bad", None, &[entry("jobs", "else", "odd-uid")]),
            claim("other-uid", "bad", None, &[entry("pods", "replaced", "older")]),
            claim("unreserved", "bad", None, &[]),
            claim(
                "own",
                "bad",
                Some(owned("owner-uid")),
                &[entry("pods", "owner", "owner-uid")],
            ),
            claim(
                "foreign",
                "bad",
                Some(owned("else")),
                &[entry("pods", "intruder", "intruder-uid")],
            ),
            pod("both", &Value::Null, &["bad", "worse", "missing"], &[]),
            pod("fine", &Value::Null, &["good"], &[]),
            pod("odd", &Value::Null, &["odd"], &[]),
            pod("replaced", &Value::Null, &["other-uid"], &[]),
            pod("without-entry", &Value::Null, &["unreserved"], &[]),
            pod("owner", &Value::Null, &[], &["own"]),
            pod("intruder", &Value::Null, &[], &["foreign"]),
            pod(
                "extended",
                &json!({"status": {"extendedResourceClaimStatus": {"resourceClaimName": "bad"}}}),
                &[],
                &[],
            ),
        ]);
        assert_eq!(
            leaving(&cluster, PodGroups::Ignored),
            [
                "both 2026-11-21T09:00:00Z",
                "odd 2026-11-21T10:00:00Z",
                "owner 2026-11-21T10:00:00Z"
            ]
        );
    }

    /// Pods with claims for extended resources, each reserved for it unless its name says otherwise.
    fn extended_pods() -> Cluster {
        let status =
            |claim: &str| json!({"status": {"extendedResourceClaimStatus": {"resourceClaimName": claim}}});
        let owner = |pod: &str| {
            Some(
                json!({"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": format!("{pod}-uid"), "controller": true}),
            )
        };
        let held = |name: &str, device: &str, owner: Option<Value>| {
            let user = name.strip_suffix("-x").unwrap();
            let entries = match user {
                "unreserved" => Vec::new(),
                user => vec![entry("pods", user, &format!("{user}-uid"))],
            };
            claim(name, device, owner, &entries)
        };
        let unbound = json!({"spec": {"nodeName": ""}, "status": status("unbound-x")["status"]});
        let ended = json!({"status": {"phase": "Succeeded", "extendedResourceClaimStatus": {"resourceClaimName": "ended-x"}}});
        let both = [entry("pods", "both", "both-uid")];
        cluster([
            slice(),
            claim("bad", "bad", None, &both),
            held("both-x", "worse", owner("both")),
            held("extended-x", "bad", owner("extended")),
            held("healthy-x", "good", owner("healthy")),
            held("intruder-x", "bad", owner("other")),
            held("nobodys-x", "bad", None),
            held("unreserved-x", "bad", owner("unreserved")),
            held("unbound-x", "bad", owner("unbound")),
            held("ended-x", "bad", owner("ended")),
            pod("both", &status("both-x"), &["bad"], &[]),
            pod("extended", &status("extended-x"), &[], &[]),
            pod("healthy", &status("healthy-x"), &[], &[]),
            pod("intruder", &status("intruder-x"), &[], &[]),
            pod("nobodys", &status("nobodys-x"), &[], &[]),
            pod("unreserved", &status("unreserved-x"), &[], &[]),
            pod("unbound", &unbound, &[], &[]),
            pod("ended", &ended, &[], &[]),
            pod("empty", &status(""), &[], &[]),
        ])
    }

    #[test]
    fn the_claim_for_extended_resources_counts_from_1_37_2_on_if_the_pod_owns_it() {
        let cluster = extended_pods();
        let by = |claims| {
            let release = release(PodGroups::Ignored);
            leaving_by(&cluster, Release { claims, ..release })
        };
        let earlier = "both 2026-11-21T09:00:00Z";
        let others = [format!("ended {TAINTED}"), format!("extended {TAINTED}")];
        assert_eq!(by(EvictingClaims::Named), [format!("both {TAINTED}")]);
        for claims in [EvictingClaims::All, EvictingClaims::OfExtendedResources] {
            assert_eq!(by(claims), [&[earlier.to_owned()], &others[..]].concat());
        }
        assert_eq!(leaving(&cluster, PodGroups::Ignored), by(EvictingClaims::All));
    }

    #[test]
    fn the_rules_condition_counts_pods_of_extended_resources_where_they_are_evicted() {
        let cluster = extended_pods();
        let rule = dra_model::TaintRule {
            spec: serde_json::from_value(
                json!({"deviceSelector": {"driver": "d", "device": "bad"}, "taint": {"key": "k", "effect": "NoExecute"}}),
            )
            .unwrap(),
            ..Default::default()
        };
        let pods = |claims| {
            let release = Release {
                claims,
                ..release(PodGroups::Ignored)
            };
            crate::eviction::count(&cluster, &rule, release).pods
        };
        // `both` by the claim that it names, `extended` and `ended` by that of their extended resources.
        assert_eq!((pods(EvictingClaims::Named), pods(EvictingClaims::All)), (1, 3));
    }

    #[test]
    fn pods_stay_before_1_37_2_that_only_their_extended_resources_would_evict() {
        let names = |release: &str, gates: &[(Gate, bool)]| -> Vec<String> {
            let version: Version = release.parse().unwrap();
            let environment = dra_testing::of_release(version, Component::ControllerManager, gates);
            let objects = extended_pods();
            let mut builder = ClusterBuilder::default();
            for slice in objects.slices() {
                builder.add(Object::ResourceSlice(Arc::clone(slice)));
            }
            for pod in objects.pods() {
                builder.add(Object::Pod(Arc::clone(pod)));
            }
            for claim in objects.claims() {
                builder.add(Object::ResourceClaim(Arc::clone(claim)));
            }
            let cluster = builder.build(environment).0;
            let found = passed_over(&cluster).into_iter();
            found.map(|(pod, _)| pod.metadata.name.to_string()).collect()
        };
        let on = [(Gate::DRADeviceTaints, true)];
        for (release, gates, expected) in [
            ("1.37.2", &[][..], &[][..]),
            ("1.37.1", &[], &["extended"]),
            ("1.37.1", &[(Gate::DRADeviceTaints, false)], &[]),
            ("1.36.6", &[], &["extended"]),
            // The controller is alpha there.
            ("1.35.10", &[], &[]),
            ("1.35.10", &on, &["extended"]),
            ("1.34.13", &on, &["extended"]),
        ] {
            assert_eq!(names(release, gates), expected, "{release} {gates:?}");
        }
    }

    #[test]
    fn only_the_node_matters_of_a_pods_state() {
        let reserved = |pods: &[&str]| -> Vec<Value> {
            pods.iter()
                .map(|name| entry("pods", name, &format!("{name}-uid")))
                .collect()
        };
        let cluster = cluster([
            slice(),
            claim("bad", "bad", None, &reserved(&["running", "done", "unbound"])),
            pod("running", &Value::Null, &["bad"], &[]),
            pod("done", &json!({"status": {"phase": "Succeeded"}}), &["bad"], &[]),
            pod("unbound", &json!({"spec": {"nodeName": ""}}), &["bad"], &[]),
        ]);
        let at = |name: &str| format!("{name} {TAINTED}");
        assert_eq!(leaving(&cluster, PodGroups::Ignored), [at("done"), at("running")]);
    }

    #[test]
    fn members_of_a_group_go_where_groups_are_known() {
        let member = json!({"spec": {"schedulingGroup": {"podGroupName": "g"}}});
        let cluster = cluster([
            slice(),
            // The group's UID is not compared.
            claim("bad", "bad", None, &[entry("podgroups", "g", "any")]),
            pod("member", &member, &["bad"], &[]),
            pod("stranger", &Value::Null, &["bad"], &[]),
        ]);
        assert_eq!(
            leaving(&cluster, PodGroups::Accepted),
            [format!("member {TAINTED}")]
        );
        assert!(leaving(&cluster, PodGroups::Ignored).is_empty());
        let claim = cluster.claim(&Key::new("n", "bad")).unwrap();
        let found = |groups| consumers(&cluster, claim, release(groups)).len();
        assert_eq!((found(PodGroups::Accepted), found(PodGroups::Ignored)), (1, 0));
    }

    #[test]
    fn a_missing_pod_hides_others_up_to_1_35() {
        let cluster = cluster([
            slice(),
            claim(
                "bad",
                "bad",
                None,
                &[
                    entry("jobs", "j", "j"),
                    entry("pods", "first", "first-uid"),
                    entry("pods", "gone", "gone-uid"),
                    entry("pods", "second", "second-uid"),
                    entry("pods", "second", "older"),
                    entry("pods", "third", "third-uid"),
                ],
            ),
            pod("first", &Value::Null, &["bad"], &[]),
            pod("second", &Value::Null, &["bad"], &[]),
            pod("third", &Value::Null, &["bad"], &[]),
        ]);
        let claim = cluster.claim(&Key::new("n", "bad")).unwrap();
        let names = |minor: u32| -> Vec<String> {
            let release = Release::of(&Environment {
                version: Version::minor(minor),
                ..Environment::default()
            });
            let pods = consumers(&cluster, claim, release);
            pods.iter().map(|pod| pod.metadata.name.to_string()).collect()
        };
        assert_eq!(names(36), ["first", "second", "third"]);
        assert_eq!(names(35), ["first"]);
    }
}
