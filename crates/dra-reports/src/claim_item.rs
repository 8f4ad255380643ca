//! One claim of a listing: what it holds and who uses it.
//!
//! An item needs only one claim, so that a watch can print what changed. Only the taints need more of the cluster.

use std::fmt;
use std::sync::Arc;

use itertools::Itertools;
use serde::{Serialize, Serializer};

use super::references::{Consumer, Owner, consumers};
use dra_allocator::devices::Taints;
use dra_model::{AllocatedDevice, AllocationMode, Claim, DeviceRequest, PoolId, Request, Str, Taint, Time};
use dra_rules::reservation::ClaimState;

/// One claim. Keeps the claim itself: serialized and shown from there, 100,000 items cost little more than the claims.
#[derive(Clone, Debug, schemars::JsonSchema)]
#[schemars(with = "View<'_>", description = "A ResourceClaim.")]
pub struct ClaimItem {
    claim: Arc<Claim>,
    taints: ClaimTaints,
}

/// Taints of the claim's devices.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ClaimTaints {
    /// No column shows them.
    NotAsked,
    /// Slices or rules could not be read.
    Unknown,
    /// Each once, in the order of the devices.
    Known(Vec<Taint>),
}

/// The node of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
pub enum ClaimNode<'a> {
    /// Not allocated.
    #[display("<none>")]
    None,
    /// Every node can use the devices.
    #[display("<any>")]
    Any,
    /// Only this node can.
    #[display("{_0}")]
    One(&'a Str),
    /// A selector says which nodes can.
    #[display("<several>")]
    Several,
}

impl<'a> ClaimNode<'a> {
    /// The node of `claim`.
    pub fn of(claim: &'a Claim) -> Self {
        let Some(allocation) = &claim.status.allocation else {
            return Self::None;
        };
        match &allocation.node_selector {
            None => Self::Any,
            Some(selector) => selector.single_node().map_or(Self::Several, Self::One),
        }
    }

    /// The only node that can use the devices, if there is one.
    pub fn only(self) -> Option<&'a Str> {
        match self {
            Self::One(name) => Some(name),
            Self::None | Self::Any | Self::Several => None,
        }
    }
}

impl ClaimItem {
    /// The item of one claim, without taints.
    pub fn of(claim: &Arc<Claim>) -> Self {
        Self {
            claim: Arc::clone(claim),
            taints: ClaimTaints::NotAsked,
        }
    }

    /// The same with the taints of its devices.
    #[must_use]
    pub fn with_taints(mut self, taints: &Taints<'_>) -> Self {
        let results = self.claim.results().iter();
        let found = results
            .flat_map(|result| {
                taints
                    .of_device(&result.id())
                    .map(|tainted| tainted.taint.clone())
                    .collect_vec()
            })
            .unique_by(|taint| (taint.key.clone(), taint.value.clone(), taint.effect.clone()))
            .collect();
        self.taints = ClaimTaints::Known(found);
        self
    }

    /// The same with unknown taints.
    #[must_use]
    pub fn with_unknown_taints(mut self) -> Self {
        self.taints = ClaimTaints::Unknown;
        self
    }

    /// The claim.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Its state.
    pub fn state(&self) -> ClaimState {
        ClaimState::of(&self.claim)
    }

    /// Its node.
    pub fn node(&self) -> ClaimNode<'_> {
        ClaimNode::of(&self.claim)
    }

    /// Names of its devices, with `(admin)` behind those that it only looks at.
    pub fn devices(&self) -> impl Iterator<Item = impl fmt::Display> {
        let results = self.claim.results().iter();
        results.map(|result| format!("{}{}", result.device, admin_text(result.admin_access)))
    }

    /// Its consumers in a cell.
    pub fn consumers(&self) -> impl fmt::Display {
        let any_pod = is_for_any_pod(&self.claim).then(|| "<any-pod>".to_owned());
        let named = consumers(&self.claim).map(|consumer| consumer.to_string());
        let all = any_pod.into_iter().chain(named).join(",");
        if all.is_empty() { "<none>".to_owned() } else { all }
    }

    /// What it requests: `gpu`, `gpu:2`, `gpu:all`, `gpu:(large|small:2)`.
    pub fn requests(&self) -> impl Iterator<Item = impl fmt::Display> {
        self.claim.spec.devices.requests.iter().map(request_text)
    }

    /// Classes that it names, in the order of the requests, each once.
    pub fn classes(&self) -> Vec<&Str> {
        let classes = self.claim.spec.asked().map(|request| &request.device_class_name);
        classes.unique().collect()
    }

    /// Pools of its devices, in the order of the devices, each once.
    pub fn pools(&self) -> Vec<PoolId> {
        let results = self.claim.results().iter();
        results.map(|result| result.id().pool_id()).unique().collect()
    }

    /// Taints of its devices; absent when unknown.
    pub fn taints(&self) -> Option<&[Taint]> {
        match &self.taints {
            ClaimTaints::Known(taints) => Some(taints),
            ClaimTaints::NotAsked | ClaimTaints::Unknown => None,
        }
    }

    /// Who manages it.
    pub fn owner(&self) -> Option<Owner> {
        Owner::of(&self.claim.metadata)
    }
}

fn request_text(request: &Request) -> String {
    let exactly = request.exactly.iter().map(amount_text).join("");
    let alternatives = request.first_available.iter();
    let mut alternatives = alternatives.map(|one| format!("{}{}", one.name, amount_text(one)));
    let alternatives = if request.first_available.is_empty() {
        String::new()
    } else {
        format!(":({})", alternatives.join("|"))
    };
    format!("{}{exactly}{alternatives}", request.name)
}

fn amount_text(request: &DeviceRequest) -> String {
    let admin = admin_text(request.admin_access == Some(true));
    match &request.allocation_mode {
        // The API server sets the count; a handwritten claim without it requests one.
        AllocationMode::ExactCount if request.count <= 1 => admin.to_owned(),
        AllocationMode::ExactCount => format!(":{}{admin}", request.count),
        AllocationMode::All => format!(":all{admin}"),
        AllocationMode::Other(mode) => format!(":{mode}{admin}"),
    }
}

fn admin_text(has_admin_access: bool) -> &'static str {
    if has_admin_access { "(admin)" } else { "" }
}

/// Returns whether every pod may use the claim, as KEP-5194 proposes.
pub(super) fn is_for_any_pod(claim: &Claim) -> bool {
    let allocation = claim.status.allocation.as_ref();
    allocation.is_some_and(|allocation| allocation.reserved_for_any_pod)
}

#[serde_with_macros::skip_serializing_none]
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    /// Its namespace.
    namespace: &'a Str,
    /// Its name.
    name: &'a Str,
    /// Its UID.
    uid: &'a Str,
    /// What `kubectl get resourceclaims` shows.
    state: ClaimState,
    /// The only node that can use the devices. Absent when the claim is not allocated, or several nodes can.
    node: Option<&'a Str>,
    /// What is allocated, in the order of the allocation.
    devices: Vec<DeviceView<'a>>,
    /// The entries of `status.reservedFor`, in its order. `reserved` says what they really are.
    consumers: Vec<Consumer<'a>>,
    /// Its controlling owner.
    owner: Option<Owner>,
    /// When it was created.
    creation_timestamp: Option<Time>,
    /// What is requested.
    requests: Vec<RequestView<'a>>,
    /// Taints of the devices, each once. Absent unless they were requested.
    taints: Option<Vec<TaintView<'a>>>,
    /// The consumer that the spec names, as KEP-5194 proposes.
    spec_reserved_for: Option<Consumer<'a>>,
    /// Every pod may use the claim, as KEP-5194 proposes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reserved_for_any_pod: bool,
}

impl Serialize for ClaimItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Claim { metadata, spec, .. } = &*self.claim;
        View {
            namespace: &metadata.namespace,
            name: &metadata.name,
            uid: &metadata.uid,
            state: self.state(),
            node: self.node().only(),
            devices: self.claim.results().iter().map(DeviceView::of).collect(),
            consumers: consumers(&self.claim).collect(),
            owner: self.owner(),
            creation_timestamp: metadata.creation_timestamp,
            requests: spec.devices.requests.iter().map(RequestView::of).collect(),
            taints: self
                .taints()
                .map(|taints| taints.iter().map(TaintView::of).collect()),
            spec_reserved_for: spec.reserved_for.as_deref().map(Consumer),
            reserved_for_any_pod: is_for_any_pod(&self.claim),
        }
        .serialize(serializer)
    }
}

/// An allocated device.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "AllocatedDevice")]
#[serde(rename_all = "camelCase")]
struct DeviceView<'a> {
    /// `REQUEST` or `REQUEST/SUBREQUEST`.
    request: &'a Str,
    /// Its driver.
    driver: &'a Str,
    /// Its pool.
    pool: &'a Str,
    /// Its name in the pool.
    device: &'a Str,
    /// Which share of a device that allows several allocations.
    #[serde(rename = "shareID", skip_serializing_if = "Option::is_none")]
    share_id: Option<&'a Str>,
    /// With admin access, which takes nothing from other claims.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    admin_access: bool,
}

impl<'a> DeviceView<'a> {
    fn of(result: &'a AllocatedDevice) -> Self {
        Self {
            request: &result.request,
            driver: &result.driver,
            pool: &result.pool,
            device: &result.device,
            share_id: result.share_id.as_ref(),
            admin_access: result.admin_access,
        }
    }
}

/// A request of a claim: one form or a list of alternatives.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "Request")]
#[serde(rename_all = "camelCase")]
struct RequestView<'a> {
    /// Its name.
    name: &'a Str,
    /// The exact request.
    #[serde(skip_serializing_if = "Option::is_none")]
    exactly: Option<AlternativeView<'a>>,
    /// Alternatives, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first_available: Vec<AlternativeView<'a>>,
}

impl<'a> RequestView<'a> {
    fn of(request: &'a Request) -> Self {
        Self {
            name: &request.name,
            exactly: request.exactly.as_ref().map(AlternativeView::of),
            first_available: request.first_available.iter().map(AlternativeView::of).collect(),
        }
    }
}

/// What is requested.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "RequestAlternative")]
#[serde(rename_all = "camelCase")]
struct AlternativeView<'a> {
    /// Name of an alternative.
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    /// Its class.
    device_class_name: &'a Str,
    /// `ExactCount`, `All`, or what the object says.
    allocation_mode: &'a str,
    /// Number of devices, in mode `ExactCount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
    /// With admin access, which takes nothing from other claims.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    admin_access: bool,
}

impl<'a> AlternativeView<'a> {
    fn of(request: &'a DeviceRequest) -> Self {
        let (allocation_mode, count) = match &request.allocation_mode {
            AllocationMode::ExactCount => ("ExactCount", Some(request.count.max(1))),
            AllocationMode::All => ("All", None),
            AllocationMode::Other(mode) => (mode.as_str(), None),
        };
        Self {
            name: &request.name,
            device_class_name: &request.device_class_name,
            allocation_mode,
            count,
            admin_access: request.admin_access == Some(true),
        }
    }
}

/// A taint.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "Taint")]
struct TaintView<'a> {
    /// Its key.
    key: &'a str,
    /// Its value.
    #[serde(skip_serializing_if = "str::is_empty")]
    value: &'a str,
    /// Its effect.
    effect: &'a str,
}

impl<'a> TaintView<'a> {
    fn of(taint: &'a Taint) -> Self {
        Self {
            key: &taint.key,
            value: &taint.value,
            effect: &taint.effect,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{ClaimFilter, ClaimList, Selection, claims};
    use super::*;
    use crate::warnings::texts;
    use dra_model::Kind;
    use dra_testing::{World, holding, json_of, now, status};

    fn list(world: World, show_taints: bool) -> ClaimList {
        claims(
            &world.build(),
            &Selection::default(),
            &ClaimFilter::default(),
            show_taints,
            now(),
        )
    }

    fn only(spec: &Value, status: &Value) -> ClaimItem {
        let mut items = list(World::default().claim("c", spec, status), false).items;
        assert_eq!(items.len(), 1);
        items.remove(0)
    }

    fn cell<T: fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
        values
            .into_iter()
            .map(|value| value.to_string())
            .collect::<Vec<_>>()
            .join(",")
    }

    #[test]
    fn an_item_has_the_promised_fields() {
        let results = json!([
            {"request": "gpu", "driver": "d", "pool": "p", "device": "g0"},
            {"request": "nic/fast", "driver": "e", "pool": "p", "device": "n0", "shareID": "s"},
            {"request": "look", "driver": "d", "pool": "p", "device": "g1", "adminAccess": true},
        ]);
        let mut status = status(&results, &["a"]);
        let entries = status["reservedFor"].as_array_mut().unwrap();
        entries
            .push(json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u"}));
        entries.push(json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "v"}));
        let spec = json!({"devices": {"requests": [
            {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}},
        ]}});
        let item = only(&spec, &status);
        assert_eq!(
            json_of(&item),
            json!({
                "namespace": "n", "name": "c", "uid": "c-uid", "state": "allocated,reserved", "node": "node-1",
                "devices": [
                    {"request": "gpu", "driver": "d", "pool": "p", "device": "g0"},
                    {"request": "nic/fast", "driver": "e", "pool": "p", "device": "n0", "shareID": "s"},
                    {"request": "look", "driver": "d", "pool": "p", "device": "g1", "adminAccess": true},
                ],
                "consumers": [
                    {"kind": "Pod", "name": "a", "uid": "a-uid"},
                    {"kind": "PodGroup", "name": "g", "uid": "u"},
                    {"kind": "jobs.batch", "name": "j", "uid": "v"},
                ],
                "creationTimestamp": "2026-11-21T11:00:00Z",
                "requests": [{"name": "gpu", "exactly":
                    {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}}],
            })
        );
        assert_eq!(cell(item.devices()), "g0,n0,g1(admin)");
        assert_eq!(cell(item.pools()), "d/p,e/p");
        assert_eq!(item.consumers().to_string(), "pod/a,podgroup/g,jobs.batch/j");
    }

    #[test]
    fn requests_and_classes_are_abbreviated() {
        let exactly = |class: &str, more: Value| {
            let mut request = json!({"deviceClassName": class, "allocationMode": "ExactCount", "count": 1});
            for (key, value) in more.as_object().unwrap() {
                request[key] = value.clone();
            }
            request
        };
        let item = only(
            &json!({"devices": {"requests": [
                {"name": "one", "exactly": exactly("a", json!({}))},
                {"name": "two", "exactly": exactly("b", json!({"count": 2}))},
                {"name": "all", "exactly": exactly("a", json!({"allocationMode": "All", "adminAccess": true}))},
                {"name": "odd", "exactly": exactly("a", json!({"allocationMode": "Half"}))},
                {"name": "best", "firstAvailable": [
                    exactly("c", json!({"name": "large"})), exactly("b", json!({"name": "small", "count": 2}))]},
                {"name": "future"},
            ]}}),
            &json!({}),
        );
        assert_eq!(
            cell(item.requests()),
            "one,two:2,all:all(admin),odd:Half,best:(large|small:2),future"
        );
        assert_eq!(cell(item.classes()), "a,b,c");
    }

    #[test]
    fn nodes_and_consumers_are_shown_as_far_as_they_are_known() {
        let zone = json!({"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["a"]}]}]});
        for (status, node) in [
            (json!({}), "<none>"),
            (json!({"allocation": {}}), "<any>"),
            (holding(&[], &[]), "node-1"),
            (json!({"allocation": {"nodeSelector": zone}}), "<several>"),
        ] {
            assert_eq!(only(&json!({}), &status).node().to_string(), node, "{status}");
        }
        let many = only(&json!({}), &holding(&[], &["a", "b", "c", "d", "e"]));
        assert_eq!(many.consumers().to_string(), "pod/a,pod/b,pod/c,pod/d,pod/e");
        assert_eq!(only(&json!({}), &json!({})).consumers().to_string(), "<none>");
    }

    #[test]
    fn the_shapes_of_kep_5194_are_shown() {
        let job = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "u"});
        let item = only(
            &json!({"reservedFor": job}),
            &json!({"allocation": {"reservedForAnyPod": true}}),
        );
        assert_eq!(item.consumers().to_string(), "<any-pod>");
        let json = json_of(&item);
        assert_eq!(json["reservedForAnyPod"], true);
        assert_eq!(json["specReservedFor"]["kind"], "jobs.batch");
    }

    #[test]
    fn taints_are_those_of_all_devices_or_unknown() {
        let world = || {
            World::default()
                .slice(
                    "node-1",
                    &json!([{"name": "g0", "taints": [{"key": "hot", "value": "very", "effect": "NoSchedule"}]},
                            {"name": "g1", "taints": [{"key": "hot", "value": "very", "effect": "NoSchedule"}]}]),
                )
                .rule("drain", &json!({"device": "g1"}), "NoExecute")
                .claim("c", &json!({}), &holding(&["g0", "g1"], &[]))
        };
        let known = list(world(), true);
        let taints = known.items[0].taints().unwrap();
        assert_eq!(cell(taints), "hot=very:NoSchedule,drain:NoExecute");
        assert_eq!(
            json_of(&known.items[0])["taints"],
            json!([{"key": "hot", "value": "very", "effect": "NoSchedule"}, {"key": "drain", "effect": "NoExecute"}])
        );
        let unknown = list(world().without(Kind::DeviceTaintRule), true);
        assert_eq!(unknown.items[0].taints(), None);
        assert_eq!(
            texts(&unknown.warnings),
            ["taints of devices are unknown: devicetaintrules could not be read: forbidden"]
        );
        let not_asked = list(world().without(Kind::DeviceTaintRule), false);
        assert!(not_asked.warnings.is_empty());
    }
}
