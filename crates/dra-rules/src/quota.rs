//! Counts of a claim in the ResourceQuotas of its namespace, and the decision of admission.
//!
//! Mirrors `evaluator/core/resource_claims.go`, and `resourcequota/controller.go`, `CheckRequest`, v1.37.2. What the configuration of
//! the API server limits where no quota covers it (`limitedResources`) cannot be seen from outside.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::reservation::{Next, unmade};
use dra_model::{
    AllocationMode, CLASS_RESOURCE, ClaimSpec, ClaimTemplate, Cluster, Component, DeviceRequest, Format,
    Gate, Kind, MOST_RESULTS, Pod, Quantity, Quota, Request, Str, lookup,
};

/// The resource that counts claims. Mirrors `ClaimObjectCountName`.
const CLAIMS: &str = "count/resourceclaims.resource.k8s.io";

/// Suffix of the resource that counts a class's devices. Mirrors `ResourceClaimsPerClass`.
const DEVICES_OF_CLASS: &str = ".deviceclass.resource.k8s.io/devices";

/// Prefix of the name of an extended resource. Mirrors `DefaultResourceRequestsPrefix`.
const REQUESTS: &str = "requests.";

/// Amounts by resource, without zeros.
type Usage = BTreeMap<String, i64>;

/// The quotas of a cluster that limit claims, as admission compares claims with them.
pub struct Quotas<'a> {
    cluster: &'a Cluster,
    /// By namespace.
    of: BTreeMap<&'a Str, Vec<&'a Quota>>,
    /// True if claims count as the extended resources of their classes too.
    extended_resources: bool,
}

/// The reason why admission refuses a claim. Displays as what a sentence says of the claim.
#[derive(Clone, Debug)]
pub struct Refusal<'a> {
    /// The quota that refuses it, the first by name.
    pub quota: &'a Quota,
    reason: Reason<'a>,
}

#[derive(Clone, Debug)]
enum Reason<'a> {
    /// The status does not say yet what is used of this resource, which the quota limits for claims.
    NotCounted(&'a Str),
    Exceeded {
        resource: &'a Str,
        hard: &'a Quantity,
        used: Quantity,
        /// Usage by claims created before this one.
        before: i64,
        wanted: i64,
        counted: Counted,
    },
}

/// How admission counts the devices of a claim.
#[derive(Clone, Copy, Debug)]
enum Counted {
    Exactly,
    /// The most that one of several alternatives requests.
    Most,
    /// All devices of a node, as the most that a claim can get.
    All,
}

/// The quota that a refusal names, in the words of the API server: `exceeded quota: NAME, requested: …`.
pub fn refusing(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("exceeded quota: ")?;
    rest.split(',').next()
}

/// Returns whether the quota that a refusal names has nothing in use of what it limits: the request alone is too large.
pub fn lacks_use(said: &str) -> bool {
    let used = said
        .split_once(", used: ")
        .and_then(|(_, rest)| rest.split_once(", limited: "));
    used.is_some_and(|(used, _)| used.split(',').all(|resource| resource.ends_with("=0")))
}

/// Returns whether a refusal is one of a LimitRange, which its words do not name (`limitranger/admission.go`, v1.37.2).
pub fn is_of_limits(said: &str) -> bool {
    said.contains(" usage per ") || said.contains(" limit to request ratio per ")
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quota = self.quota.metadata.key();
        match &self.reason {
            Reason::NotCounted(resource) => {
                write!(
                    f,
                    "is pending until quota/{quota} reports how much {resource} is used"
                )
            }
            Reason::Exceeded {
                resource,
                hard,
                used,
                before,
                wanted,
                counted,
            } => {
                let (up_to, counted) = match counted {
                    Counted::Exactly => ("", String::new()),
                    Counted::Most => ("up to ", " (of alternatives the largest counts)".to_owned()),
                    Counted::All => ("", format!(" (allocationMode All counts as {MOST_RESULTS})")),
                };
                write!(
                    f,
                    "requests {up_to}{wanted} {resource}{counted}, but quota/{quota} has {used} of {hard} in use"
                )?;
                match before {
                    0 => Ok(()),
                    before => write!(f, ", and claims created before it take {before}"),
                }
            }
        }
    }
}

impl Refusal<'_> {
    /// Returns whether the quota allows less than the claims request, even with nothing in use.
    pub fn is_too_large(&self) -> bool {
        match &self.reason {
            Reason::NotCounted(_) => false,
            Reason::Exceeded {
                hard, before, wanted, ..
            } => Quantity::new(before.saturating_add(*wanted), Format::DecimalSi) > **hard,
        }
    }
}

/// Returns whether a request is for all devices that match.
fn asks_for_all(request: &Request) -> bool {
    let mut asked = request.asked();
    asked.any(|asked| asked.allocation_mode == AllocationMode::All)
}

impl<'a> Quotas<'a> {
    /// The quotas of `cluster`.
    pub fn of(cluster: &'a Cluster) -> Self {
        let environment = cluster.environment();
        let mut quotas = Self {
            cluster,
            of: BTreeMap::new(),
            extended_resources: environment.enabled(Component::ApiServer, Gate::DRAExtendedResource),
        };
        for quota in cluster.quotas() {
            let hard = &mut quota.status.hard.iter();
            if has_no_scopes(quota) && hard.any(|(resource, _)| quotas.is_for_claims(resource)) {
                let namespace = &quota.metadata.namespace;
                quotas.of.entry(namespace).or_default().push(quota);
            }
        }
        quotas
    }

    /// The first of `claims` that admission refuses when they are created in this order in `namespace`, and why.
    pub fn first_refused<'s, T>(
        &self,
        namespace: &Str,
        claims: impl IntoIterator<Item = (T, &'s ClaimSpec)>,
    ) -> Option<(T, Refusal<'a>)> {
        let quotas = self.of.get(namespace)?;
        let mut before = Usage::new();
        claims.into_iter().find_map(|(claim, spec)| {
            let usage = self.usage(spec);
            let mut refusal = quotas
                .iter()
                .find_map(|quota| self.refusal(quota, &usage, &before));
            if let Some(Refusal {
                reason: Reason::Exceeded { counted, .. },
                ..
            }) = &mut refusal
            {
                let requests = || spec.devices.requests.iter();
                if requests().any(|request| request.first_available.len() > 1) {
                    *counted = Counted::Most;
                } else if requests().any(asks_for_all) {
                    *counted = Counted::All;
                }
            }
            for (resource, amount) in usage {
                add(&mut before, resource, amount);
            }
            Some((claim, refusal?))
        })
    }

    /// Returns whether the quota no longer refuses its claim once one of this spec, which it counts, is gone.
    pub fn ends_without(&self, refusal: &Refusal<'_>, spec: &ClaimSpec) -> bool {
        let Reason::Exceeded {
            resource,
            hard,
            used,
            before,
            wanted,
            ..
        } = &refusal.reason
        else {
            return false;
        };
        let freed = self.usage(spec).get(resource.as_str()).copied().unwrap_or(0);
        let mut sum = used.clone();
        sum.add(&Quantity::new(
            before.saturating_add(*wanted).saturating_sub(freed),
            Format::DecimalSi,
        ));
        freed > 0 && sum <= **hard
    }

    /// The specs of all claims that the claim controller still has to create for the pod.
    pub fn to_be_made(&self, pod: &Pod) -> Vec<&'a ClaimSpec> {
        let templates = self.templates_of(pod);
        templates.map(|template| &template.spec.spec).collect()
    }

    /// Returns what each quota of `namespace` would have to allow for claims of all these specs to be created, where it does not. What is not
    /// counted yet is left out.
    pub fn raised_for<'s>(
        &self,
        namespace: &Str,
        specs: impl IntoIterator<Item = &'s ClaimSpec>,
    ) -> Vec<(&'a Quota, Vec<(&'a Str, Quantity)>)> {
        let mut all = Usage::new();
        for (resource, amount) in specs.into_iter().flat_map(|spec| self.usage(spec)) {
            add(&mut all, resource, amount);
        }
        let quotas = self.of.get(namespace).into_iter().flatten();
        let raised = quotas.map(|quota| {
            let hard = quota.status.hard.iter().filter_map(|(resource, hard)| {
                let mut needed = lookup(&quota.status.used, resource)?.clone();
                needed.add(&Quantity::new(*all.get(resource.as_str())?, Format::DecimalSi));
                (needed > *hard).then_some((resource, needed))
            });
            (*quota, hard.collect::<Vec<_>>())
        });
        raised.filter(|(_, hard)| !hard.is_empty()).collect()
    }

    /// The quotas of `namespace` once they count another claim of this spec.
    pub(crate) fn counting(&self, namespace: &Str, spec: &ClaimSpec) -> Vec<Quota> {
        let usage = self.usage(spec);
        let quotas = self.of.get(namespace).into_iter().flatten();
        let counting = quotas.map(|quota| {
            let mut quota = Quota::clone(quota);
            for (resource, used) in &mut quota.status.used {
                let amount = usage.get(resource.as_str()).copied().unwrap_or(0);
                used.add(&Quantity::new(amount, Format::DecimalSi));
            }
            quota
        });
        counting.collect()
    }

    /// The template of the first claim that the claim controller cannot create for the pod, and why.
    ///
    /// The controller (`controllers::resource_claim`) creates the claims of a pod in the order of its entries, up to the first that
    /// fails. Nothing where objects are hidden that tell which claims exist.
    pub fn refused_of_pod(&self, pod: &Pod) -> Option<(&'a Arc<ClaimTemplate>, Refusal<'a>)> {
        let namespace = &pod.metadata.namespace;
        if !self.of.contains_key(namespace)
            || pod.metadata.is_deleting()
            || self.cluster.gap(Kind::ResourceClaim, namespace).is_some()
        {
            return None;
        }
        let templates = self.templates_of(pod);
        self.first_refused(
            namespace,
            templates.map(|template| (template, &template.spec.spec)),
        )
    }

    /// The templates of the claims that are still to be created for the pod, in the order of its entries.
    fn templates_of(&self, pod: &Pod) -> impl Iterator<Item = &'a Arc<ClaimTemplate>> {
        unmade(self.cluster, pod).filter_map(|(_, unmade)| match unmade.next {
            Next::Make(template) => Some(template),
            _ => None,
        })
    }

    /// Returns what a claim of this spec counts. Mirrors `Usage`, for claims that are not made for extended resources of a pod.
    fn usage(&self, spec: &ClaimSpec) -> Usage {
        let mut of_classes: BTreeMap<&Str, i64> = BTreeMap::new();
        for request in &spec.devices.requests {
            for (class, number) in devices(request) {
                let sum = of_classes.entry(class).or_default();
                *sum = sum.saturating_add(number);
            }
        }
        let mut usage = Usage::from([(CLAIMS.to_owned(), 1)]);
        for (class, number) in of_classes.into_iter().filter(|(_, number)| *number != 0) {
            usage.insert(format!("{class}{DEVICES_OF_CLASS}"), number);
            if !self.extended_resources {
                continue;
            }
            usage.insert(format!("{REQUESTS}{CLASS_RESOURCE}{class}"), number);
            let class = self.cluster.class(class);
            if let Some(resource) = class.and_then(|class| class.spec.extended_resource_name.as_ref()) {
                // Of several classes behind one resource upstream counts whichever comes last; what is certain is the least of them.
                let least = usage.entry(format!("{REQUESTS}{resource}")).or_insert(number);
                *least = number.min(*least);
            }
        }
        usage
    }

    /// Returns why `quota` refuses a claim that counts `usage`, after claims that count `before`.
    ///
    /// Only resources count that the claim takes something of: a quota that is exceeded already refuses no other claim.
    fn refusal(&self, quota: &'a Quota, usage: &Usage, before: &Usage) -> Option<Refusal<'a>> {
        let used = |resource: &str| lookup(&quota.status.used, resource);
        let mut resources = quota.status.hard.iter().map(|(resource, _)| resource);
        if let Some(resource) =
            resources.find(|resource| used(resource).is_none() && self.is_for_claims(resource))
        {
            let reason = Reason::NotCounted(resource);
            return Some(Refusal { quota, reason });
        }
        quota.status.hard.iter().find_map(|(resource, hard)| {
            let wanted = *usage.get(resource.as_str())?;
            let before = before.get(resource.as_str()).copied().unwrap_or(0);
            let zero = || Quantity::new(0, Format::DecimalSi);
            let used = used(resource).cloned().unwrap_or_else(zero);
            let mut sum = used.clone();
            sum.add(&Quantity::new(before.saturating_add(wanted), Format::DecimalSi));
            let reason = Reason::Exceeded {
                resource,
                hard,
                used,
                before,
                wanted,
                counted: Counted::Exactly,
            };
            (sum > *hard).then_some(Refusal { quota, reason })
        })
    }

    /// Returns whether a quota for this resource is one for claims. Mirrors `MatchingResources`.
    fn is_for_claims(&self, resource: &str) -> bool {
        if resource == CLAIMS || resource.ends_with(DEVICES_OF_CLASS) {
            return true;
        }
        let Some(extended) = resource
            .strip_prefix(REQUESTS)
            .filter(|_| self.extended_resources)
        else {
            return false;
        };
        match extended.strip_prefix(CLASS_RESOURCE) {
            Some(class) => self.cluster.class(class).is_some(),
            None => self.cluster.classes().any(|class| {
                let own = class.spec.extended_resource_name.as_ref();
                own.is_some_and(|own| own == extended)
            }),
        }
    }
}

/// A claim is in no scope. Mirrors `generic/evaluator.go`, `Matches` with `MatchesNoScopeFunc`.
fn has_no_scopes(quota: &Quota) -> bool {
    quota.spec.scopes.is_empty() && quota.spec.scope_selector.match_expressions.is_empty()
}

/// Returns what a request counts by class: of alternatives, the most that one of them asks of the class.
fn devices(request: &Request) -> BTreeMap<&Str, i64> {
    let number = |request: &DeviceRequest| match request.allocation_mode {
        // What the API server defaults is not there in a manifest.
        AllocationMode::ExactCount => request.count.max(1),
        AllocationMode::All => MOST_RESULTS,
        AllocationMode::Other(_) => 0,
    };
    let mut most: BTreeMap<&Str, i64> = BTreeMap::new();
    let alternatives = if request.first_available.is_empty() {
        request.exactly.as_slice()
    } else {
        &request.first_available
    };
    for alternative in alternatives {
        let known = most.entry(&alternative.device_class_name).or_default();
        *known = number(alternative).max(*known);
    }
    most
}

fn add(usage: &mut Usage, resource: String, amount: i64) {
    let sum = usage.entry(resource).or_default();
    *sum = sum.saturating_add(amount);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::{Evidence, GateState, Key, Object};
    use dra_testing::World;

    const GPU: &str = "gpu.deviceclass.resource.k8s.io/devices";

    /// Two classes; the first provides `example.com/gpu`.
    fn world() -> World {
        World::default().class_with("nic", &json!([])).with(
            Kind::DeviceClass,
            &json!({"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}),
        )
    }

    fn without_extended_resources(world: World) -> World {
        world.knowing(|environment| {
            let off = GateState {
                enabled: false,
                evidence: Evidence::Flag,
            };
            let gate = (Component::ApiServer, Gate::DRAExtendedResource, off);
            environment.gates.push(gate);
        })
    }

    fn with_quota(world: World, hard: &Value, used: &Value) -> World {
        world.with(
            Kind::ResourceQuota,
            &json!({"metadata": {"namespace": "n", "name": "q"}, "status": {"hard": hard, "used": used}}),
        )
    }

    fn claim_spec(requests: &Value) -> ClaimSpec {
        let json = json!({"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}});
        let object = Object::from_json(Kind::ResourceClaim, json.to_string().as_bytes());
        let Ok(Object::ResourceClaim(claim)) = object else {
            panic!("not a claim: {json}");
        };
        claim.spec.clone()
    }

    fn gpus(count: i64) -> Value {
        json!([{"name": "r", "exactly": {"deviceClassName": "gpu", "count": count}}])
    }

    #[test]
    fn a_claim_counts_as_itself_its_devices_and_extended_resources() {
        let exactly = |more: Value| {
            let mut request = json!({"deviceClassName": "nic"});
            for (key, value) in more.as_object().unwrap() {
                request[key] = value.clone();
            }
            json!({"name": "r", "exactly": request})
        };
        let list = json!({"name": "r", "firstAvailable": [
            {"name": "a", "deviceClassName": "nic", "count": 3},
            {"name": "b", "deviceClassName": "nic", "count": 2},
            {"name": "c", "deviceClassName": "gpu", "count": 2}]});
        let plain = without_extended_resources(world()).build();
        let nic = "nic.deviceclass.resource.k8s.io/devices";
        for (requests, expected) in [
            (json!([]), vec![]),
            (json!([exactly(json!({}))]), vec![(nic, 1)]),
            (json!([exactly(json!({"count": 2}))]), vec![(nic, 2)]),
            (json!([exactly(json!({"adminAccess": true}))]), vec![(nic, 1)]),
            (
                json!([exactly(json!({"allocationMode": "All"}))]),
                vec![(nic, 32)],
            ),
            (
                json!([exactly(json!({"allocationMode": "Later", "count": 2}))]),
                vec![],
            ),
            (json!([list.clone()]), vec![(GPU, 2), (nic, 3)]),
            (
                json!([list, exactly(json!({"count": 2}))]),
                vec![(GPU, 2), (nic, 5)],
            ),
        ] {
            let mut usage = Quotas::of(&plain).usage(&claim_spec(&requests));
            assert_eq!(usage.remove(CLAIMS), Some(1), "{requests}");
            let found: Vec<_> = usage
                .iter()
                .map(|(name, amount)| (name.as_str(), *amount))
                .collect();
            assert_eq!(found, expected, "{requests}");
        }
        let cluster = world().build();
        let usage = Quotas::of(&cluster).usage(&claim_spec(&gpus(2)));
        let names: Vec<_> = usage.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                CLAIMS,
                GPU,
                "requests.deviceclass.resource.kubernetes.io/gpu",
                "requests.example.com/gpu"
            ]
        );
    }

    #[test]
    fn a_quota_refuses_what_would_exceed_it_and_no_other_claim() {
        let counted = "requests 2 gpu.deviceclass.resource.k8s.io/devices, but quota/n/q has 3 of 4 in use";
        let missing =
            "is pending until quota/n/q reports how much nic.deviceclass.resource.k8s.io/devices is used";
        let nic = "nic.deviceclass.resource.k8s.io/devices";
        let asked = "requests.example.com/gpu";
        let implicit = "requests.deviceclass.resource.kubernetes.io/gpu";
        for (hard, used, expected) in [
            (json!({GPU: "4"}), json!({GPU: "2"}), None),
            (json!({GPU: "4"}), json!({GPU: "3"}), Some(counted)),
            // Whatever is used too much of already, the claim takes none of it.
            (json!({nic: "1", GPU: "4"}), json!({nic: "3", GPU: "1"}), None),
            (json!({nic: "1", GPU: "4"}), json!({GPU: "1"}), Some(missing)),
            (
                json!({CLAIMS: "1"}),
                json!({CLAIMS: "1"}),
                Some("requests 1 count/resourceclaims.resource.k8s.io, but quota/n/q has 1 of 1 in use"),
            ),
            (
                json!({asked: "1"}),
                json!({asked: "0"}),
                Some("requests 2 requests.example.com/gpu, but quota/n/q has 0 of 1 in use"),
            ),
            (
                json!({implicit: "1"}),
                json!({implicit: "0"}),
                Some(
                    "requests 2 requests.deviceclass.resource.kubernetes.io/gpu, but quota/n/q has 0 of 1 in use",
                ),
            ),
            (json!({"requests.cpu": "0", "pods": "0"}), json!({}), None),
        ] {
            let refusal = |world: World| {
                let cluster = with_quota(world, &hard, &used).build();
                let (spec, quotas) = (claim_spec(&gpus(2)), Quotas::of(&cluster));
                let refused = quotas.first_refused(&"n".into(), [((), &spec)]);
                assert!(quotas.first_refused(&"m".into(), [((), &spec)]).is_none());
                refused.map(|((), refusal)| refusal.to_string())
            };
            assert_eq!(refusal(world()).as_deref(), expected, "{hard} {used}");
            let of_claims = hard.get(asked).or(hard.get(implicit)).is_none();
            let expected = expected.filter(|_| of_claims);
            let plain = refusal(without_extended_resources(world()));
            assert_eq!(plain.as_deref(), expected, "{hard} {used}");
        }
    }

    #[test]
    fn what_alone_is_more_than_a_quota_is_too_large_and_all_counts_as_the_most() {
        let all = json!([{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}]);
        let counted = "(allocationMode All counts as 32), but quota/n/q has 0 of 8 in use";
        for (requests, used, is_too_large, expected) in [
            (all, "0", true, counted),
            (gpus(9), "0", true, "requests 9 gpu"),
            (gpus(8), "1", false, "requests 8 gpu"),
        ] {
            let cluster = with_quota(world(), &json!({GPU: "8"}), &json!({GPU: used})).build();
            let (spec, quotas) = (claim_spec(&requests), Quotas::of(&cluster));
            let ((), refusal) = quotas.first_refused(&"n".into(), [((), &spec)]).unwrap();
            assert_eq!(refusal.is_too_large(), is_too_large, "{refusal}");
            assert!(refusal.to_string().contains(expected), "{refusal}");
        }
    }

    #[test]
    fn a_quota_counts_the_claims_that_are_made() {
        let cluster = with_quota(world(), &json!({GPU: "4"}), &json!({GPU: "1", CLAIMS: "7"})).build();
        let counting = Quotas::of(&cluster).counting(&"n".into(), &claim_spec(&gpus(2)));
        let used = |resource: &str| lookup(&counting[0].status.used, resource).unwrap().to_string();
        assert_eq!((used(GPU).as_str(), used(CLAIMS).as_str()), ("3", "8"));
    }

    #[test]
    fn a_quota_with_scopes_limits_no_claim() {
        let refuses = |spec: &Value| {
            let quota = json!({"metadata": {"namespace": "n", "name": "q"}, "spec": spec,
                               "status": {"hard": {CLAIMS: "0"}, "used": {CLAIMS: "0"}}});
            let cluster = world().with(Kind::ResourceQuota, &quota).build();
            let refused = Quotas::of(&cluster).first_refused(&"n".into(), [((), &claim_spec(&gpus(1)))]);
            refused.is_some()
        };
        assert!(refuses(&json!({"scopes": [], "scopeSelector": null})));
        assert!(!refuses(&json!({"scopes": ["NotTerminating"]})));
        let of_class = json!({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]});
        assert!(!refuses(
            &json!({"scopeSelector": {"matchExpressions": [of_class]}})
        ));
    }

    #[test]
    fn the_first_claim_of_a_pod_that_cannot_be_created_is_reported() {
        let template = |world: World, name: &str| {
            world.with(
                Kind::ResourceClaimTemplate,
                &json!({"metadata": {"namespace": "n", "name": name},
                        "spec": {"spec": {"devices": {"requests": gpus(2)}}}}),
            )
        };
        let with = |used: &str, deleted: bool| {
            let mut metadata = json!({"namespace": "n", "name": "p", "uid": "p-uid"});
            if deleted {
                metadata["deletionTimestamp"] = json!("2026-11-21T11:00:00Z");
            }
            let entries =
                ["one", "two", "three"].map(|name| json!({"name": name, "resourceClaimTemplateName": name}));
            let world = template(template(template(world(), "one"), "two"), "three");
            with_quota(world, &json!({GPU: "4"}), &json!({GPU: used})).with(
                Kind::Pod,
                &json!({"metadata": metadata, "spec": {"nodeName": "a", "resourceClaims": entries}}),
            )
        };
        let made = |world: World, entry: &str| {
            world.with(
                Kind::ResourceClaim,
                &json!({"metadata": {"namespace": "n", "name": format!("p-{entry}-x"), "uid": entry,
                    "annotations": {"resource.kubernetes.io/pod-claim-name": entry},
                    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p-uid", "controller": true}]}}),
            )
        };
        let refused = |world: World| {
            let cluster = world.build();
            let pod = cluster.pod(&Key::new("n", "p")).unwrap();
            let (template, refusal) = Quotas::of(&cluster).refused_of_pod(pod)?;
            Some(format!("{} {refusal}", template.metadata.name))
        };
        let asks = format!("requests 2 {GPU}, but quota/n/q has");
        let after = "of 4 in use, and claims created before it take";
        assert_eq!(
            refused(with("0", false)).unwrap(),
            format!("three {asks} 0 {after} 4")
        );
        assert_eq!(
            refused(with("1", false)).unwrap(),
            format!("two {asks} 1 {after} 2")
        );
        assert_eq!(
            refused(with("3", false)).unwrap(),
            format!("one {asks} 3 of 4 in use")
        );
        // The quota counts the first, though the pod does not name it yet.
        let second = refused(made(with("3", false), "one")).unwrap();
        assert_eq!(second, format!("two {asks} 3 of 4 in use"));
        assert_eq!(refused(with("3", true)), None);
        assert_eq!(refused(with("3", false).without(Kind::ResourceClaim)), None);
    }
}
