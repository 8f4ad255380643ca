//! Feature gates that objects prove to have been on: without the gate, the component that writes a field drops it or
//! never writes it. Messages of kube-scheduler tell whether others are on or off.
//!
//! The API server drops fields of features that are off, the scheduler grants nothing that needs one, and the claim
//! controller makes no claims for groups. What is found is a [`Evidence::Objects`], which any evidence about the
//! component itself overrides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Cluster;
use crate::{
    Claim, Component, DeviceId, Event, Evidence, Gate, GateState, Kind, Pod, PodGroup, ReleaseEvidence,
    Slice, Stage, TaintRule, Version,
};

use Component::{ApiServer, ControllerManager, Kubelet, Scheduler};

/// Reason of the claim controller's event that a claim cannot be made.
pub const CREATION_EVENT: &str = "FailedResourceClaimCreation";

/// Condition of a PodGroup with what came of the first attempt to schedule it (`schedule_one_podgroup.go`, v1.37.2).
const INITIALLY_SCHEDULED: &str = "PodGroupInitiallyScheduled";

impl Cluster {
    /// Finds the gates that were on in the writers of the objects. Called once with all objects of a source, because a
    /// part of them proves less.
    ///
    /// Only what the release has off by default is news. What is alpha in it is off in nearly every cluster, and its traces are more
    /// often left over from a newer release.
    pub fn learn_gates(&mut self) {
        let shown = self.gates_shown();
        let said = self.gates_said();
        let environment = Arc::make_mut(&mut self.environment);
        environment
            .gates
            .retain(|(_, _, state)| !matches!(state.evidence, Evidence::Objects(_)));
        let (minor, compatible) = (environment.emulated_minor, environment.min_compatibility_minor);
        for ((component, gate), (enabled, what)) in &said {
            let differs = gate.default_in(minor, compatible) == Some(!enabled);
            if differs && !gate.is_locked_in(minor) {
                let state = GateState {
                    enabled: *enabled,
                    evidence: Evidence::Objects(what.clone()),
                };
                environment.gates.push((*component, *gate, state));
            }
        }
        for ((component, gate), what) in shown {
            let is_off = gate.default_in(minor, compatible) == Some(false);
            let is_said = said.contains_key(&(component, gate));
            if is_off && gate.stage_in(minor) != Some(Stage::Alpha) && !is_said {
                let evidence = Evidence::Objects(what);
                let enabled = true;
                environment
                    .gates
                    .push((component, gate, GateState { enabled, evidence }));
            }
        }
    }

    /// The same cluster as if `gate` were known to be `enabled` or not in `component`.
    #[must_use]
    pub fn with_gate(&self, component: Component, gate: Gate, enabled: bool) -> Self {
        let mut changed = self.clone();
        let gates = &mut Arc::make_mut(&mut changed.environment).gates;
        gates.retain(|(of, which, _)| (*of, *which) != (component, gate));
        let evidence = Evidence::Flag;
        gates.push((component, gate, GateState { enabled, evidence }));
        changed
    }

    /// The same cluster as if it were of `version`.
    #[must_use]
    pub fn with_release(&self, version: Version) -> Self {
        let mut changed = self.clone();
        Arc::make_mut(&mut changed.environment).assume(version, ReleaseEvidence::Objects);
        changed
    }

    /// Gates that objects show to have been on once, by component, each with the first object by kind and name that does.
    pub fn gates_shown(&self) -> BTreeMap<(Component, Gate), String> {
        self.traces(groups_may_exist(self))
    }

    /// Gates whose value shows in what kube-scheduler and the claim controller say of pods, each with the value and the first such pod.
    ///
    /// The texts of kube-scheduler are those of the allocator's errors, of `schedule_one_podgroup.go`, `errPodGroupUnschedulable`, and of
    /// `nodeallocatabledynamicresources.go`, `validateNodeAllocatableDRAClaimSharing`, v1.37.2; it judges groups and reports it only with the gate.
    /// The claim controller writes its event only once it has the PodGroup of a member, which it refuses to look up where the gate is off
    /// (`resourceclaim/controller.go`, `syncPod`, v1.37.2).
    fn gates_said(&self) -> BTreeMap<(Component, Gate), (bool, String)> {
        let mut said = BTreeMap::new();
        let needs_groups = self.environment.release().needs_groups;
        let is_of_creation = |event: &&Arc<Event>| event.reason == CREATION_EVENT;
        for group in self.pod_groups() {
            if group
                .status
                .conditions
                .iter()
                .any(|condition| condition.type_ == INITIALLY_SCHEDULED)
            {
                let what = format!("kube-scheduler says so of podgroup/{}", group.metadata.key());
                said.entry((Scheduler, Gate::GenericWorkload))
                    .or_insert((true, what));
            }
        }
        for pod in self.pods() {
            if needs_groups
                && pod.pod_group().is_some()
                && self
                    .events_of(Kind::Pod, &pod.metadata)
                    .iter()
                    .any(is_of_creation)
            {
                let what = format!("the claim controller says so of pod/{}", pod.key());
                said.entry((ControllerManager, Gate::GenericWorkload))
                    .or_insert((true, what));
            }
            let scheduled = pod.condition("PodScheduled");
            let Some(condition) = scheduled.filter(|condition| condition.status == "False") else {
                continue;
            };
            let message = &condition.message;
            let mut say = |gate, enabled| {
                let what = || format!("kube-scheduler says so of pod/{}", pod.key());
                said.entry((Scheduler, gate)).or_insert_with(|| (enabled, what()));
            };
            if message.contains("pod group is unschedulable") {
                say(Gate::GenericWorkload, true);
            }
            if message.contains("has a mapped device and cannot be shared across pods") {
                say(Gate::DRANodeAllocatableResources, true);
            }
            if message.contains("admin access is requested, but the feature is disabled") {
                say(Gate::DRAAdminAccess, false);
            }
            for gate in Gate::said_to_be_off(message) {
                say(gate, false);
            }
        }
        said
    }

    /// Gates that objects have traces of, be they left over or not: what the gates are set to may decide something.
    pub fn gates_in_use(&self) -> BTreeSet<Gate> {
        self.traces(true).into_keys().map(|(_, gate)| gate).collect()
    }

    fn traces(&self, groups_may_exist: bool) -> BTreeMap<(Component, Gate), String> {
        let mut found = Shown {
            cluster: self,
            partitions: BTreeSet::new(),
            groups_may_exist,
            gates: BTreeMap::new(),
        };
        for slice in self.slices() {
            found.slice(slice);
        }
        for class in self.classes() {
            if class.spec.extended_resource_name.is_some() {
                let by = || {
                    format!(
                        "deviceclass/{} declares an extended resource",
                        class.metadata.name
                    )
                };
                found.shows(ApiServer, Gate::DRAExtendedResource, by);
            }
        }
        for rule in self.rules() {
            found.rule(rule);
        }
        for group in self.pod_groups() {
            found.group(group);
        }
        for claim in self.claims() {
            found.claim(claim);
        }
        for pod in self.pods() {
            found.pod(pod);
        }
        found.gates
    }
}

/// Returns whether the cluster may have PodGroups. Where all of them are known and there is none, their traces are left over from other gates
/// or another release.
fn groups_may_exist(cluster: &Cluster) -> bool {
    let environment = cluster.environment();
    let api = environment.gate(ApiServer, Gate::GenericWorkload);
    let claims = Gate::DRAWorkloadResourceClaims;
    if claims.stage_in(environment.emulated_minor).is_none()
        || environment.not_served.contains(&Kind::PodGroup)
        || (!api.enabled && api.evidence.is_of_now())
    {
        return false;
    }
    let is_unread = environment.serves_groups() && cluster.gap(Kind::PodGroup, "").is_some();
    cluster.count(Kind::PodGroup) > 0 || is_unread
}

/// Evidence found so far.
struct Shown<'c> {
    cluster: &'c Cluster,
    /// Devices that draw from counters.
    partitions: BTreeSet<DeviceId>,
    groups_may_exist: bool,
    /// With what shows it.
    gates: BTreeMap<(Component, Gate), String>,
}

impl Shown<'_> {
    /// Notes the gate, and those that it needs.
    fn shows(&mut self, component: Component, gate: Gate, what: impl Fn() -> String) {
        for needed in gate.needs() {
            self.gates.entry((component, *needed)).or_insert_with(&what);
        }
        self.gates.entry((component, gate)).or_insert_with(what);
    }

    fn slice(&mut self, slice: &Slice) {
        let name = &slice.metadata.name;
        if !slice.spec.shared_counters.is_empty() {
            let by = || format!("resourceslice/{name} has counters");
            self.shows(ApiServer, Gate::DRAPartitionableDevices, by);
        }
        if slice.spec.per_device_node_selection {
            let by = || format!("resourceslice/{name} selects nodes for each device");
            self.shows(ApiServer, Gate::DRAPartitionableDevices, by);
        }
        if !slice.spec.skip_node_operations.is_empty() {
            let by = || format!("resourceslice/{name} lets node operations be skipped");
            self.shows(ApiServer, Gate::DRAOptionalNodeOperations, by);
        }
        for device in &slice.spec.devices {
            let of_device = |what: &str| format!("device {} of resourceslice/{name} {what}", device.name);
            if !device.consumes_counters.is_empty() {
                let by = || of_device("consumes counters");
                self.shows(ApiServer, Gate::DRAPartitionableDevices, by);
                self.partitions.insert(slice.pool_id().device(&device.name));
            }
            let mut draws = device.consumes_counters.iter();
            if draws.any(|draw| !draw.compatibility_groups.is_empty()) {
                let by = || of_device("has compatibility groups");
                self.shows(ApiServer, Gate::DRADeviceCompatibilityGroups, by);
            }
            if !device.node_allocatable_resources.is_empty() {
                let by = || of_device("takes resources of its node");
                self.shows(ApiServer, Gate::DRANodeAllocatableResources, by);
            }
            if device.allow_multiple_allocations {
                let by = || of_device("allows several allocations");
                self.shows(ApiServer, Gate::DRAConsumableCapacity, by);
            }
            if !device.binding_conditions.is_empty() {
                let by = || of_device("has binding conditions");
                self.shows(ApiServer, Gate::DRADeviceBindingConditions, by);
            }
            if let Some((attribute, _)) = device.attributes.iter().find(|(_, value)| value.is_list()) {
                let by = || of_device(&format!("has a list as attribute {attribute}"));
                self.shows(ApiServer, Gate::DRAListTypeAttributes, by);
            }
            if !device.taints.is_empty() {
                self.shows(ApiServer, Gate::DRADeviceTaints, || of_device("has a taint"));
            }
        }
    }

    fn rule(&mut self, rule: &TaintRule) {
        if !rule.status.conditions.is_empty() {
            let by = || format!("devicetaintrule/{} has conditions", rule.metadata.name);
            self.shows(ControllerManager, Gate::DRADeviceTaintRules, by);
        }
        let by = || format!("devicetaintrule/{} exists", rule.metadata.name);
        // Who has them served means them to be obeyed.
        for component in [ApiServer, Scheduler, ControllerManager] {
            self.shows(component, Gate::DRADeviceTaintRules, by);
        }
    }

    /// The claims of a group cannot be there without the gate, and serve nothing unless the scheduler and the claim controller have
    /// it as well.
    fn group(&mut self, group: &PodGroup) {
        let key = group.metadata.key();
        self.shows(ApiServer, Gate::GenericWorkload, || {
            format!("podgroup/{key} exists")
        });
        if !group.spec.resource_claims.is_empty() {
            for component in [ApiServer, Scheduler, ControllerManager] {
                let by = || format!("podgroup/{key} has claims");
                self.shows(component, Gate::DRAWorkloadResourceClaims, by);
            }
        }
    }

    fn claim(&mut self, claim: &Claim) {
        let key = claim.key();
        let of_claim = |what: &str| format!("claim/{key} {what}");
        if self.groups_may_exist {
            // The scheduler writes the entry for pods that it places, the claim controller for those that name their node.
            if let Some(entry) = claim
                .status
                .reserved_for
                .iter()
                .find(|entry| entry.is_pod_group())
            {
                for component in [Scheduler, ControllerManager] {
                    let by = || of_claim(&format!("is reserved for podgroup/{}", entry.name));
                    self.shows(component, Gate::DRAWorkloadResourceClaims, by);
                }
            }
            let owner = claim.metadata.controller();
            if let Some(owner) = owner.filter(|owner| {
                owner.kind == "PodGroup" && owner.api_version.split('/').next() == Some("scheduling.k8s.io")
            }) {
                let by = || of_claim(&format!("was created for podgroup/{}", owner.name));
                self.shows(ControllerManager, Gate::DRAWorkloadResourceClaims, by);
            }
        }
        if claim
            .metadata
            .annotation("resource.kubernetes.io/extended-resource-claim")
            .is_some_and(|value| *value == "true")
        {
            let by = || of_claim("stands for extended resources");
            self.shows(Scheduler, Gate::DRAExtendedResource, by);
        }
        for request in &claim.spec.devices.requests {
            if !request.first_available.is_empty() {
                let by = || of_claim("has a request with alternatives");
                self.shows(ApiServer, Gate::DRAPrioritizedList, by);
            }
            for wanted in request.asked() {
                if wanted.admin_access == Some(true) {
                    let by = || of_claim("requests admin access");
                    self.shows(ApiServer, Gate::DRAAdminAccess, by);
                }
                if wanted.capacity.is_some() {
                    let by = || of_claim("requests capacity");
                    self.shows(ApiServer, Gate::DRAConsumableCapacity, by);
                }
                if !wanted.derived_attributes.is_empty() {
                    let by = || of_claim("derives attributes");
                    self.shows(ApiServer, Gate::DRADerivedAttributes, by);
                }
            }
        }
        for result in claim.results() {
            let by = |what: &str| of_claim(&format!("is allocated {} {what}", result.id()));
            if result.share_id.is_some() || !result.consumed_capacity.is_empty() {
                self.shows(Scheduler, Gate::DRAConsumableCapacity, || {
                    by("as a shared device")
                });
            }
            if !result.binding_conditions.is_empty() {
                let by = || by("with binding conditions");
                self.shows(Scheduler, Gate::DRADeviceBindingConditions, by);
            }
            if result.admin_access {
                self.shows(Scheduler, Gate::DRAAdminAccess, || by("with admin access"));
            }
            if result.request.contains('/') {
                self.shows(Scheduler, Gate::DRAPrioritizedList, || by("for an alternative"));
            }
            if !result.skip_node_operations.is_empty() {
                let by = || by("without node operations");
                self.shows(Scheduler, Gate::DRAOptionalNodeOperations, by);
            }
            if self.partitions.contains(&result.id()) && !result.admin_access {
                self.shows(Scheduler, Gate::DRAPartitionableDevices, || {
                    by("which consumes counters")
                });
            }
        }
    }

    fn pod(&mut self, pod: &Pod) {
        let key = pod.key();
        if pod.status.extended_resource_claim_status.is_some() {
            let by = || format!("pod/{key} has a claim for extended resources");
            self.shows(Scheduler, Gate::DRAExtendedResource, by);
        }
        let Some(group) = pod.pod_group().filter(|_| self.groups_may_exist) else {
            return;
        };
        // Without the gate the API server drops the field.
        let by = || format!("pod/{key} is of podgroup/{group}");
        self.shows(ApiServer, Gate::GenericWorkload, by);
        // A kubelet without the gate does not let a member start whose claim is reserved for its group alone.
        if pod.status.phase != "Running" {
            return;
        }
        let named = pod
            .status
            .resource_claim_statuses
            .iter()
            .filter_map(|status| status.resource_claim_name.as_ref());
        let named = named.chain(
            pod.spec
                .resource_claims
                .iter()
                .filter_map(|entry| entry.resource_claim_name.as_ref()),
        );
        let accepted = named.into_iter().any(|name| {
            self.cluster
                .claim(&pod.metadata.beside(name))
                .is_some_and(|claim| {
                    let mut entries = claim.status.reserved_for.iter();
                    entries.any(|entry| entry.is_pod_group() && entry.name == *group)
                        && !claim.lists(&pod.metadata.uid)
                })
        });
        if accepted {
            let by = || format!("pod/{key} runs with a claim of its PodGroup");
            self.shows(Kubelet, Gate::DRAWorkloadResourceClaims, by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use crate::{ClusterBuilder, Environment, Gap, Object, Str};

    fn cluster(environment: Environment, objects: &[(Kind, &str)]) -> Cluster {
        let mut builder = ClusterBuilder::default();
        for (kind, json) in objects {
            builder.add(Object::from_json(*kind, json.as_bytes()).unwrap());
        }
        let mut cluster = builder.build(environment).0;
        cluster.learn_gates();
        cluster
    }

    /// `component gate` of what the objects show, but for what the API server shows.
    fn found(environment: Environment, objects: &[(Kind, &str)]) -> Vec<String> {
        let shown = cluster(environment, objects).gates_shown();
        let shown = shown.keys().filter(|(component, _)| *component != ApiServer);
        shown
            .map(|(component, gate)| format!("{component} {gate}"))
            .collect()
    }

    #[test]
    fn a_word_about_the_claims_of_a_member_shows_the_gate_where_groups_are_looked_up_first() {
        let member = (
            Kind::Pod,
            r#"{"metadata":{"namespace":"n","name":"p","uid":"u"},"spec":{"schedulingGroup":{"podGroupName":"g"}}}"#,
        );
        let event = (
            Kind::Event,
            r#"{"metadata":{"namespace":"n","name":"e"},"reason":"FailedResourceClaimCreation",
                "message":"PodResourceClaim gpu: resourceclaimtemplate \"t\" not found",
                "involvedObject":{"kind":"Pod","namespace":"n","name":"p","uid":"u"}}"#,
        );
        for (version, objects, expected) in [
            ("1.37", [member, event].as_slice(), true),
            ("1.37", &[member], false),
            // The claim controller does not look.
            ("1.36", &[member, event], false),
        ] {
            let mut environment = Environment::default();
            environment.assume(version.parse().unwrap(), ReleaseEvidence::Objects);
            let cluster = cluster(environment, objects);
            let gate = cluster
                .environment()
                .gate(ControllerManager, Gate::GenericWorkload);
            assert_eq!(gate.enabled, expected, "{version}");
        }
    }

    #[test]
    fn what_kube_scheduler_reports_only_with_a_gate_shows_it() {
        let tried = (
            Kind::PodGroup,
            r#"{"metadata":{"namespace":"n","name":"g"},"status":{"conditions":[
                {"type":"PodGroupInitiallyScheduled","status":"False","reason":"Unschedulable"}]}}"#,
        );
        let shared = (
            Kind::Pod,
            r#"{"metadata":{"namespace":"n","name":"p"},"status":{"conditions":[{"type":"PodScheduled","status":"False",
                "message":"0/1 nodes are available: 1 node allocatable resource claim c has a mapped device and cannot be shared across pods."}]}}"#,
        );
        for (object, gate) in [
            (tried, Gate::GenericWorkload),
            (shared, Gate::DRANodeAllocatableResources),
        ] {
            let state = |objects: &[(Kind, &str)]| {
                cluster(Environment::default(), objects)
                    .environment()
                    .gate(Scheduler, gate)
                    .enabled
            };
            assert!(!state(&[GROUP]), "{gate}");
            assert!(state(&[object]), "{gate}");
        }
    }

    const GROUP: (Kind, &str) = (Kind::PodGroup, r#"{"metadata":{"namespace":"n","name":"g"}}"#);
    const RESERVED: (Kind, &str) = (
        Kind::ResourceClaim,
        r#"{"metadata":{"namespace":"n","name":"c"},"status":{"allocation":{},"reservedFor":[
            {"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"g","uid":"u"}]}}"#,
    );
    const OWNED: (Kind, &str) = (
        Kind::ResourceClaim,
        r#"{"metadata":{"namespace":"n","name":"d","ownerReferences":[{"apiVersion":"scheduling.k8s.io/v1beta1",
            "kind":"PodGroup","name":"g","uid":"u","controller":true}]}}"#,
    );

    #[test]
    fn each_component_is_shown_by_what_it_writes() {
        let both = [
            "kube-scheduler DRAWorkloadResourceClaims",
            "kube-scheduler GenericWorkload",
            "kube-controller-manager DRAWorkloadResourceClaims",
            "kube-controller-manager GenericWorkload",
        ];
        let claim = |result: &str| {
            format!(
                r#"{{"metadata":{{"namespace":"n","name":"c"}},"status":{{"allocation":{{"devices":{{"results":[
                    {{"driver":"d","pool":"p","device":"x",{result}}}]}}}}}}}}"#
            )
        };
        let slice = (
            Kind::ResourceSlice,
            r#"{"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"p"},"devices":[
                {"name":"x","consumesCounters":[{"counterSet":"a","counters":{}}]}]}}"#,
        );
        let share = claim(r#""request":"r","shareID":"s""#);
        let binding = claim(r#""request":"r","bindingConditions":["b"]"#);
        let alternative = claim(r#""request":"r/s""#);
        let plain = claim(r#""request":"r""#);
        for (objects, expected) in [
            (&[GROUP, RESERVED][..], &both[..]),
            (&[GROUP, OWNED], &both[2..]),
            (&[GROUP], &[]),
            (
                &[(Kind::ResourceClaim, share.as_str())],
                &["kube-scheduler DRAConsumableCapacity"],
            ),
            (
                &[(Kind::ResourceClaim, binding.as_str())],
                &[
                    "kube-scheduler DRADeviceBindingConditions",
                    "kube-scheduler DRAResourceClaimDeviceStatus",
                ],
            ),
            (
                &[(Kind::ResourceClaim, alternative.as_str())],
                &["kube-scheduler DRAPrioritizedList"],
            ),
            (
                &[slice, (Kind::ResourceClaim, plain.as_str())],
                &["kube-scheduler DRAPartitionableDevices"],
            ),
            (&[(Kind::ResourceClaim, plain.as_str())], &[]),
            (
                &[(
                    Kind::Pod,
                    r#"{"metadata":{"namespace":"n","name":"p"},
                        "status":{"extendedResourceClaimStatus":{"resourceClaimName":"c"}}}"#,
                )],
                &["kube-scheduler DRAExtendedResource"],
            ),
            (
                &[(
                    Kind::DeviceTaintRule,
                    r#"{"metadata":{"name":"r"},"status":{"conditions":[{"type":"EvictionInProgress"}]}}"#,
                )],
                &[
                    "kube-scheduler DRADeviceTaintRules",
                    "kube-scheduler DRADeviceTaints",
                    "kube-controller-manager DRADeviceTaintRules",
                    "kube-controller-manager DRADeviceTaints",
                ],
            ),
            (
                &[(
                    Kind::PodGroup,
                    r#"{"metadata":{"namespace":"n","name":"g"},
                        "spec":{"resourceClaims":[{"name":"a","resourceClaimTemplateName":"t"}]}}"#,
                )],
                &both,
            ),
        ] {
            assert_eq!(found(Environment::default(), objects), expected, "{objects:?}");
        }
    }

    #[test]
    fn what_is_left_over_shows_nothing() {
        let of = |minor: u32| Environment {
            emulated_minor: minor,
            ..Environment::default()
        };
        let gap = Gap {
            kind: Kind::PodGroup,
            namespace: Str::default(),
            except: Str::default(),
            is_forbidden: false,
            reason: String::new(),
        };
        assert_eq!(found(of(35), &[GROUP, RESERVED]), [""; 0]);
        assert_eq!(found(of(37), &[RESERVED]), [""; 0]);
        let unread = Environment {
            gaps: vec![gap],
            ..of(37)
        };
        assert_eq!(found(unread, &[RESERVED]).len(), 4);
        let off = GateState {
            enabled: false,
            evidence: Evidence::Metrics,
        };
        let turned_off = Environment {
            gates: vec![(ApiServer, Gate::GenericWorkload, off)],
            ..of(37)
        };
        assert_eq!(found(turned_off, &[GROUP, RESERVED]), [""; 0]);
    }

    #[test]
    fn what_is_on_by_default_is_no_news_and_alpha_is_left_over() {
        let rule = (
            Kind::DeviceTaintRule,
            r#"{"metadata":{"name":"r"},"status":{"conditions":[{"type":"EvictionInProgress"}]}}"#,
        );
        let learned = |minor: u32| {
            let environment = Environment {
                emulated_minor: minor,
                ..Environment::default()
            };
            let cluster = cluster(environment, &[rule]);
            let gates = cluster.environment().gates.iter();
            let texts = gates.map(|(component, gate, _)| format!("{component} {gate}"));
            texts.collect::<Vec<String>>()
        };
        assert_eq!(learned(37), [""; 0]);
        assert_eq!(
            learned(36),
            [
                "kube-apiserver DRADeviceTaintRules",
                "kube-scheduler DRADeviceTaintRules",
                "kube-controller-manager DRADeviceTaintRules"
            ]
        );
        assert_eq!(learned(35), [""; 0]);
    }

    #[test]
    fn the_words_of_kube_scheduler_tell_its_gates() {
        let learned = |minor: u32, message: &str| {
            let environment = Environment {
                emulated_minor: minor,
                ..Environment::default()
            };
            let condition = json!({"type": "PodScheduled", "status": "False", "message": message});
            let pod =
                json!({"metadata": {"namespace": "n", "name": "p"}, "status": {"conditions": [condition]}});
            let cluster = cluster(environment, &[(Kind::Pod, &pod.to_string())]);
            let gates = cluster.environment().gates.iter();
            let texts = gates.map(|(component, gate, state)| format!("{component} {gate} {}", state.enabled));
            texts.collect::<Vec<String>>()
        };
        let list = "claim n/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled";
        assert_eq!(learned(36, list), ["kube-scheduler DRAPrioritizedList false"]);
        // Where the gate is locked, the words are of an earlier release.
        assert_eq!(learned(37, list), [""; 0]);
        let group = "pod group is unschedulable, minCount (2) cannot be satisfied";
        assert_eq!(learned(37, group), ["kube-scheduler GenericWorkload true"]);
        let access = "claim n/c, request r: admin access is requested, but the feature is disabled";
        assert_eq!(learned(35, access), ["kube-scheduler DRAAdminAccess false"]);
        assert_eq!(learned(37, "0/1 nodes are available"), [""; 0]);
    }

    #[test]
    fn evidence_about_the_component_overrides_its_objects() {
        let gate = Gate::DRAWorkloadResourceClaims;
        let off = GateState {
            enabled: false,
            evidence: Evidence::Arguments("p".to_owned()),
        };
        let environment = Environment {
            gates: vec![(ControllerManager, gate, off)],
            ..Environment::default()
        };
        let cluster = cluster(environment, &[GROUP, RESERVED]);
        assert!(!cluster.environment().enabled(ControllerManager, gate));
        let scheduler = cluster.environment().gate(Scheduler, gate);
        assert!(scheduler.enabled);
        assert_eq!(
            scheduler.evidence.to_string(),
            "objects: claim/n/c is reserved for podgroup/g"
        );
    }
}
