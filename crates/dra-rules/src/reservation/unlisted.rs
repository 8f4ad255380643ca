//! Devices of a pod that none of its containers gets.

use super::{ClaimName, claim_name};
use dra_model::{Claim, Cluster, DeviceId, Key, Pod, Str};

/// The reason why devices of a claim reach no container of the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// No container lists the claim under `resources.claims`.
    Claim,
    /// Containers list requests of the claim, and not this one.
    Request(Str),
    /// Only this init container lists the claim, and it has finished.
    Finished(Str),
    /// A container, or the mapping of an extended resource to it, names a request that the claim does not have.
    NoSuchRequest {
        /// The container.
        container: Str,
        /// The request.
        request: Str,
    },
}

/// Devices of a claim that reach no container of the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedDevices {
    /// The claim's name in the pod; empty for the one that stands for extended resources.
    pub entry: Str,
    /// The claim.
    pub claim: Key,
    /// The reason.
    pub why: Unlisted,
    /// The devices, if it is allocated; none where it names a request that is not there, or of a pod that waits for them.
    pub devices: Vec<DeviceId>,
    /// True if a driver may serve the pod as a whole: it reports a network interface, which needs no container that
    /// lists the claim.
    pub is_of_network: bool,
}

/// Returns what the claims of `pod` hold for none of its containers, or name in vain. The kubelet hands a container the devices of the claims and
/// requests that it lists, and of mappings for extended resources, and looks at no others: mirrors `cm/dra/manager.go`, `GetResources`,
/// v1.37.2.
pub fn unlisted(cluster: &Cluster, pod: &Pod) -> Vec<UnlistedDevices> {
    let mut found = Vec::new();
    if pod.spec.containers.is_empty() {
        return found;
    }
    let containers = || pod.spec.init_containers.iter().chain(&pod.spec.containers);
    for entry in &pod.spec.resource_claims {
        let Ok(name) = claim_name(pod, entry) else {
            continue;
        };
        let Some(claim) = name.find(cluster) else { continue };
        let listed = containers().flat_map(|container| {
            let claims = container
                .resources
                .claims
                .iter()
                .filter(|listed| listed.name == entry.name);
            claims.map(|listed| (&container.name, &listed.request))
        });
        let listed: Vec<(&Str, &Str)> = listed.collect();
        let finished = finished(pod, &listed).cloned();
        let before = found.len();
        add(&mut found, pod, &entry.name, claim, listed);
        if let Some(container) = finished
            && found.len() == before
        {
            found.push(UnlistedDevices {
                entry: entry.name.clone(),
                claim: claim.key(),
                why: Unlisted::Finished(container),
                devices: claim.results().iter().map(|result| result.id()).collect(),
                is_of_network: is_of_network(claim),
            });
        }
    }
    let extended = pod.status.extended_resource_claim_status.as_ref();
    if let Some(status) = extended
        && let Some(claim) = ClaimName::of_extended_resources(pod).and_then(|name| name.find(cluster))
    {
        let mappings = status.request_mappings.iter();
        let mapped = mappings.map(|mapping| (&mapping.container_name, &mapping.request_name));
        add(&mut found, pod, &Str::default(), claim, mapped.collect());
    }
    found
}

/// The last of the containers that list a claim, if all of them are init containers that have finished.
fn finished<'p>(pod: &Pod, listed: &[(&'p Str, &Str)]) -> Option<&'p Str> {
    let has_finished = |name: &Str| {
        let mut first = pod.spec.init_containers.iter();
        let mut statuses = pod.status.init_container_statuses.iter();
        first.any(|container| container.name == *name && container.restart_policy.is_none())
            && statuses.any(|status| {
                let end = status.state.terminated.as_ref();
                status.name == *name && end.is_some_and(|end| end.exit_code == 0)
            })
    };
    let (last, _) = listed.last()?;
    listed.iter().all(|(name, _)| has_finished(name)).then_some(last)
}

/// Returns whether a driver reports a network interface.
fn is_of_network(claim: &Claim) -> bool {
    let mut statuses = claim.status.devices.iter();
    statuses.any(|status| status.network_data.is_some())
}

/// Adds what is missing of one claim, which containers list with these requests; an empty one stands for all.
fn add(found: &mut Vec<UnlistedDevices>, pod: &Pod, entry: &Str, claim: &Claim, listed: Vec<(&Str, &Str)>) {
    let mut push = |why, devices| {
        found.push(UnlistedDevices {
            entry: entry.clone(),
            claim: claim.key(),
            why,
            devices,
            is_of_network: is_of_network(claim),
        });
    };
    let devices_of = |is_one: &dyn Fn(&str) -> bool| -> Vec<DeviceId> {
        let results = claim.results().iter();
        let results = results.filter(|result| is_one(result.base_request()));
        results.map(|result| result.id()).collect()
    };
    if listed.is_empty() {
        let all = devices_of(&|_| true);
        if !all.is_empty() || pod.node().is_none() {
            push(Unlisted::Claim, all);
        }
        return;
    }
    let requests = &claim.spec.devices.requests;
    for (container, request) in &listed {
        if !request.is_empty() && requests.iter().all(|known| known.name != **request) {
            let why = Unlisted::NoSuchRequest {
                container: (*container).clone(),
                request: (*request).clone(),
            };
            push(why, Vec::new());
        }
    }
    if listed.iter().any(|(_, request)| request.is_empty()) {
        return;
    }
    for request in requests {
        if listed.iter().any(|(_, listed)| **listed == request.name) {
            continue;
        }
        let devices = devices_of(&|of| of == request.name.as_str());
        if !devices.is_empty() {
            push(Unlisted::Request(request.name.clone()), devices);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::Kind;
    use dra_testing::World;

    fn of(containers: &Value, status: &Value) -> Vec<(Unlisted, usize)> {
        let request = |name: &str| json!({"name": name, "exactly": {"deviceClassName": "d"}});
        let result = |request: &str, device: &str| json!({"request": request, "driver": "d", "pool": "p", "device": device});
        let world = World::default().claim(
            "c",
            &json!({"devices": {"requests": [request("a"), request("b")]}}),
            &json!({"allocation": {"devices": {"results": [result("a", "x"), result("b/first", "y")]}}}),
        );
        let spec = json!({"nodeName": "node-1", "containers": containers,
            "resourceClaims": if status.is_null() { json!([{"name": "e", "resourceClaimName": "c"}]) } else { json!([]) }});
        let world = world.with(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p-uid"}, "spec": spec, "status": status}),
        );
        let cluster = world.build();
        let pod = cluster.pods().next().unwrap();
        let found = unlisted(&cluster, pod).into_iter();
        found.map(|one| (one.why, one.devices.len())).collect()
    }

    #[test]
    fn devices_are_missed_that_no_container_lists() {
        let container = |claims: Value| json!({"name": "main", "resources": {"claims": claims}});
        let missing = |request: &str| Unlisted::NoSuchRequest {
            container: "main".into(),
            request: request.into(),
        };
        for (containers, expected) in [
            (json!([container(json!([]))]), vec![(Unlisted::Claim, 2)]),
            (
                json!([container(json!([{"name": "other"}]))]),
                vec![(Unlisted::Claim, 2)],
            ),
            (json!([container(json!([{"name": "e"}]))]), vec![]),
            (
                json!([container(json!([{"name": "e", "request": "a"}]))]),
                vec![(Unlisted::Request("b".into()), 1)],
            ),
            (
                json!([container(
                    json!([{"name": "e", "request": "a"}, {"name": "e", "request": "b"}])
                )]),
                vec![],
            ),
            (
                json!([container(json!([{"name": "e"}, {"name": "e", "request": "z"}]))]),
                vec![(missing("z"), 0)],
            ),
            // Of a pod without containers only a part was read.
            (json!([]), vec![]),
        ] {
            assert_eq!(of(&containers, &Value::Null), expected, "{containers}");
        }
        let mapped = |request: &str| {
            json!({"extendedResourceClaimStatus": {"resourceClaimName": "c", "requestMappings": [
                {"containerName": "main", "resourceName": "example.com/gpu", "requestName": request}]}})
        };
        let containers = json!([container(json!([]))]);
        assert_eq!(
            of(&containers, &mapped("z")),
            [
                (missing("z"), 0),
                (Unlisted::Request("a".into()), 1),
                (Unlisted::Request("b".into()), 1)
            ]
        );
        assert_eq!(
            of(&containers, &mapped("a")),
            [(Unlisted::Request("b".into()), 1)]
        );
    }
}
