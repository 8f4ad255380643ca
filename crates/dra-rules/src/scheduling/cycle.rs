//! One scheduling cycle: from a pod to a verdict for each node.
//!
//! A [`Scheduler`] prepares a cluster once. A [`Cycle`] of it belongs to one pod, or to claims without a pod, and judges nodes one by
//! one: first the plain filters in the scheduler's order, then what the plugin for dynamic resources checks, then the allocator.
//! Mirrors `dynamicresources.go`, `PreEnqueue`, `PreFilter` and `Filter`, v1.37.2. What only the scheduler itself knows, allocations
//! that it has made but not written yet, cannot be seen from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::binding::{Readiness, readiness};
use super::claims::{ClaimProblem, PodClaims, check_requests, pod_claims};
use super::extended::{Extended, NodeShare, in_memory_key};
use super::node_fit::{self, Unfit};
use super::node_share::{self, Held, takes_some};
use super::plain::{Plain, PlainFilters, UNSCHEDULABLE};
use super::requests::{Usage, pod_requests};
use super::score::points;
use super::verdict::{Granted, Judgment, NoUse, Obstacle, Refusal, Unavailable, Verdict};
use crate::reservation::{PodGroups, bind_to, is_reserved_for};
use dra_allocator::devices::Features;
use dra_allocator::{Certainty, Demand, Explanation, Inputs, Limits, Observer, Outcome, Stop};
use dra_model::{
    Claim, Cluster, Component, Gap, Gate, Key, Kind, MOST_CONSUMERS, Meter, Node, Pod, PodGroup, Str, Time,
    go_quote,
};

/// The scheduler's view of a cluster at one instant.
pub struct Scheduler {
    cluster: Cluster,
    inputs: Inputs,
    gates: Gates,
    now: Time,
}

#[derive(Clone, Copy)]
struct Gates {
    extended_resources: bool,
    prioritized_list: bool,
    scores: bool,
    binding_conditions: bool,
    /// True if the release knows node operations that drivers skip. Whether its gate is on does not matter to what is allocated.
    optional_operations: bool,
    generic_workload: bool,
    /// True if devices consume node resources in the form known here.
    node_shares: Option<bool>,
    /// True if the `minCount` of gangs counts: of 1.36 by a gate of its own.
    gangs: bool,
    groups: PodGroups,
}

/// Start of a cycle.
pub enum Start<'a> {
    /// It ends before any node is looked at.
    Obstacle(Obstacle),
    /// Nodes can be judged.
    Cycle(Box<Cycle<'a>>),
    /// Unknown: objects could not be read.
    Unknown(Vec<Gap>),
}

/// The attempt to find a node for one pod, or for claims without a pod.
pub struct Cycle<'a> {
    scheduler: &'a Scheduler,
    pod: Option<(&'a Pod, PlainFilters<'a>)>,
    /// The only nodes that the pod's affinity allows, where it names nodes.
    named: Option<BTreeSet<Str>>,
    claims: Vec<Arc<Claim>>,
    extended: Option<Extended>,
    /// Allocations by the extended resources that a node leaves to the plugin.
    demands: Mutex<BTreeMap<Vec<Str>, Arc<Wanted>>>,
}

/// Claims to allocate together.
struct Wanted {
    keys: Vec<Key>,
    demand: Demand,
}

/// A gang that lacks members.
#[derive(Debug)]
pub struct ShortGang<'c> {
    /// The PodGroup.
    pub group: &'c PodGroup,
    /// Number of members that there are.
    pub members: usize,
    /// Number of members that have to be there.
    pub min_count: usize,
}

impl Scheduler {
    /// Prepares `cluster` as it is `now`.
    pub fn new(cluster: &Cluster, now: Time) -> Self {
        let environment = cluster.environment();
        let on = |gate| environment.enabled(Component::Scheduler, gate);
        // In 1.35 pods have no groups yet, whatever the gate.
        let has_groups = Gate::DRAWorkloadResourceClaims
            .stage_in(environment.emulated_minor)
            .is_some();
        let generic_workload = has_groups && on(Gate::GenericWorkload);
        Self {
            inputs: Inputs::new(cluster, Features::of(environment)),
            gates: Gates {
                extended_resources: on(Gate::DRAExtendedResource),
                prioritized_list: on(Gate::DRAPrioritizedList),
                scores: on(Gate::DRAPrioritizedList) && environment.release().scores,
                binding_conditions: on(Gate::DRADeviceBindingConditions)
                    && on(Gate::DRAResourceClaimDeviceStatus),
                optional_operations: Gate::DRAOptionalNodeOperations
                    .stage_in(environment.emulated_minor)
                    .is_some(),
                generic_workload,
                node_shares: on(Gate::DRANodeAllocatableResources)
                    .then(|| environment.release().node_allocatable_resources),
                gangs: generic_workload
                    && (environment.release().groups_end_early || on(Gate::GangScheduling)),
                groups: PodGroups::of(environment, Component::Scheduler),
            },
            cluster: cluster.clone(),
            now,
        }
    }

    /// The same for `cluster`, which is a fork of this one's with some changes. Costs about as much as the changes.
    #[must_use]
    pub fn fork(&self, cluster: &Cluster) -> Self {
        self.with_inputs(cluster, self.inputs.fork(cluster))
    }

    /// The same for another cluster with the same gates and versions, such as a part of this one's.
    #[must_use]
    pub fn beside(&self, cluster: &Cluster) -> Self {
        self.with_inputs(cluster, self.inputs.beside(cluster))
    }

    fn with_inputs(&self, cluster: &Cluster, inputs: Inputs) -> Self {
        Self {
            cluster: cluster.clone(),
            inputs,
            gates: self.gates,
            now: self.now,
        }
    }

    /// The cluster that this is the view of.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The instant that this is the view at.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Begins the cycle of `pod`.
    pub fn pod<'a>(&'a self, pod: &'a Pod) -> Start<'a> {
        let namespace = &pod.metadata.namespace;
        if self.gates.generic_workload
            && pod.pod_group().is_some()
            && let Some(gap) = self.cluster.gap(Kind::PodGroup, namespace)
        {
            return Start::Unknown(vec![gap.clone()]);
        }
        if let Some(obstacle) = self.not_queued(pod) {
            return Start::Obstacle(obstacle);
        }
        let claims = match pod_claims(&self.cluster, pod, self.gates.groups) {
            PodClaims::Found(claims) => claims,
            PodClaims::Problem(problem) => return Start::Obstacle(Obstacle::Claim(problem)),
            PodClaims::Unknown => return Start::Unknown(self.gaps(&[Kind::ResourceClaim])),
        };
        let named = match named_nodes(pod) {
            Some(names) if names.is_empty() => return Start::Obstacle(Obstacle::AffinityConflict),
            named => named,
        };
        let gaps = self.gaps(&[Kind::DeviceClass]);
        if !gaps.is_empty() {
            return Start::Unknown(self.all_gaps(true));
        }
        let requests = pod_requests(pod);
        let extended = if self.gates.extended_resources {
            Extended::of(&self.cluster, pod, &requests)
        } else {
            None
        };
        if let Some(obstacle) = self.binding_problem(pod) {
            return Start::Obstacle(obstacle);
        }
        let filters = PlainFilters::new(&self.cluster, pod, self.gates.extended_resources);
        self.begin(Some((pod, filters)), named, claims, extended)
    }

    /// Begins a cycle of `claims` alone, as if a pod without other demands used them all.
    pub fn claims<'a>(&'a self, claims: &[Arc<Claim>]) -> Start<'a> {
        for claim in claims {
            if claim.metadata.is_deleting() {
                let problem = ClaimProblem::Deleting { claim: claim.key() };
                return Start::Obstacle(Obstacle::Claim(problem));
            }
        }
        self.begin(None, None, claims.to_vec(), None)
    }

    fn begin<'a>(
        &'a self,
        pod: Option<(&'a Pod, PlainFilters<'a>)>,
        named: Option<BTreeSet<Str>>,
        claims: Vec<Arc<Claim>>,
        extended: Option<Extended>,
    ) -> Start<'a> {
        let gaps = self.all_gaps(pod.is_some());
        for claim in &claims {
            if claim.status.allocation.is_none()
                && !gaps.iter().any(|gap| gap.kind == Kind::DeviceClass)
                && let Err(problem) = check_requests(&self.cluster, claim, self.gates.prioritized_list)
            {
                return Start::Obstacle(Obstacle::Request(problem));
            }
        }
        if !gaps.is_empty() {
            return Start::Unknown(gaps);
        }
        Start::Cycle(Box::new(Cycle {
            scheduler: self,
            pod,
            named,
            claims,
            extended,
            demands: Mutex::default(),
        }))
    }

    /// The PodGroup that the pod is a member of for the scheduler, if there is one.
    pub(super) fn group_of(&self, pod: &Pod) -> Option<&Arc<PodGroup>> {
        let name = pod.pod_group().filter(|_| self.gates.generic_workload)?;
        self.cluster.pod_group(&pod.metadata.beside(name))
    }

    /// The members of `group` that the scheduler of `pod`, which is one, knows: those that have a node, and those that it is to place.
    pub(super) fn members_of<'a>(&'a self, group: &Key, pod: &'a Pod) -> impl Iterator<Item = &'a Arc<Pod>> {
        let is_known = move |member: &&Arc<Pod>| {
            !member.is_terminal() && (member.node().is_some() || is_of_same_scheduler(member, pod))
        };
        self.cluster.pods_of_group(group).filter(is_known)
    }

    /// Returns how many members of the group have to have a node for any to get one.
    pub(super) fn min_count(&self, group: &PodGroup) -> usize {
        let gang = group.spec.scheduling_policy.gang.as_ref();
        match gang.filter(|_| self.gates.gangs) {
            Some(gang) => usize::try_from(gang.min_count).unwrap_or(0),
            None => 1,
        }
    }

    /// Mirrors `scheduling_gates.go`, `PreEnqueue`, and `gangscheduling.go`, `preEnqueueHierarchiesDisabled`, v1.37.2.
    fn not_queued(&self, pod: &Pod) -> Option<Obstacle> {
        if !pod.spec.scheduling_gates.is_empty() {
            let names = pod.spec.scheduling_gates.iter().map(|gate| gate.name.clone());
            return Some(Obstacle::Gated(names.collect()));
        }
        let name = pod.pod_group().filter(|_| self.gates.gangs)?;
        let Some(group) = self.group_of(pod) else {
            return Some(Obstacle::Group(format!(
                "waiting for pods's pod group {} to appear in scheduling queue",
                go_quote(name)
            )));
        };
        group.spec.scheduling_policy.gang.as_ref()?;
        // Members that could not be read may make up what is missing.
        if self.cluster.gap(Kind::Pod, &pod.metadata.namespace).is_some() {
            return None;
        }
        self.short_gang(pod)?;
        Some(Obstacle::Group(
            "waiting for minCount pods from a gang to appear in scheduling queue".to_owned(),
        ))
    }

    /// The gang of the pod, if it has fewer members than have to be there.
    pub fn short_gang(&self, pod: &Pod) -> Option<ShortGang<'_>> {
        let group = self.group_of(pod).filter(|_| self.gates.gangs)?;
        let members = self.members_of(&group.metadata.key(), pod).count();
        let min_count = self.min_count(group);
        (members < min_count).then_some(ShortGang {
            group,
            members,
            min_count,
        })
    }

    /// Mirrors `podResourceClaimBindings`.
    fn binding_problem(&self, pod: &Pod) -> Option<Obstacle> {
        if self.gates.groups == PodGroups::Ignored {
            return None;
        }
        let group = self.gates.groups.group_of(&self.cluster, pod);
        let mut entries = pod.spec.resource_claims.iter();
        entries.find_map(|entry| {
            let problem = bind_to(pod, group.map(|group| &**group), entry).err()?;
            Some(Obstacle::Binding(problem.to_string()))
        })
    }

    fn gaps(&self, kinds: &[Kind]) -> Vec<Gap> {
        let hidden = kinds.iter().filter_map(|kind| self.cluster.gap(*kind, ""));
        hidden.cloned().collect()
    }

    /// Returns what has to be known of the cluster before a node can be judged.
    fn all_gaps(&self, with_pod: bool) -> Vec<Gap> {
        let mut kinds = vec![
            Kind::Node,
            Kind::DeviceClass,
            Kind::ResourceSlice,
            Kind::ResourceClaim,
        ];
        let environment = self.cluster.environment();
        if environment.enabled(Component::Scheduler, Gate::DRADeviceTaintRules)
            && !environment.not_served.contains(&Kind::DeviceTaintRule)
        {
            kinds.push(Kind::DeviceTaintRule);
        }
        if with_pod {
            kinds.push(Kind::Pod);
        }
        self.gaps(&kinds)
    }
}

impl<'a> Cycle<'a> {
    /// The claims that the pod names, without the one for extended resources.
    pub fn user_claims(&self) -> &[Arc<Claim>] {
        &self.claims
    }

    /// The pod, if the cycle has one.
    pub fn pod(&self) -> Option<&'a Pod> {
        self.pod.as_ref().map(|(pod, _)| *pod)
    }

    /// The scheduler's view that the cycle belongs to.
    pub fn scheduler(&self) -> &'a Scheduler {
        self.scheduler
    }

    /// Returns whether kube-scheduler runs the steps after failed filters for this pod alone. For members of a PodGroup
    /// it runs them for the whole group.
    pub fn is_grouped(&self) -> bool {
        self.scheduler.gates.generic_workload && self.pod().is_some_and(|pod| pod.pod_group().is_some())
    }

    /// A claim for extended resources that an earlier attempt left behind.
    pub fn left_behind(&self) -> Option<&Arc<Claim>> {
        self.extended.as_ref()?.left_behind.as_ref()
    }

    /// Returns whether there is anything for the plugin for dynamic resources to do.
    pub fn uses_devices(&self) -> bool {
        !self.claims.is_empty() || self.extended.is_some()
    }

    /// Returns whether pods wait for the binding conditions of their devices.
    pub fn awaits_binding_conditions(&self) -> bool {
        self.scheduler.gates.binding_conditions
    }

    /// Returns how far the devices of the claims are that were allocated before, where they are not ready.
    pub fn not_ready(&self) -> Vec<(&Arc<Claim>, Readiness)> {
        if !self.scheduler.gates.binding_conditions {
            return Vec::new();
        }
        let claims = self
            .claims
            .iter()
            .map(|claim| (claim, readiness(claim, self.scheduler.now)));
        claims.filter(|(_, state)| *state != Readiness::Ready).collect()
    }

    /// Claims that can take no further consumer: the scheduler finds out only when it writes, and tries again and again.
    pub fn full_claims(&self) -> impl Iterator<Item = &Arc<Claim>> {
        let groups = self.scheduler.gates.groups;
        self.claims.iter().filter(move |claim| {
            let reserved = self.pod().is_some_and(|pod| is_reserved_for(pod, claim, groups));
            !reserved && claim.status.reserved_for.len() >= MOST_CONSUMERS
        })
    }

    /// Judges `node`.
    pub fn judge(&self, node: &Node, limits: Limits, observer: &dyn Observer) -> Judgment {
        if self
            .named
            .as_ref()
            .is_some_and(|names| !names.contains(&node.metadata.name))
        {
            return Verdict::NotNamed.into();
        }
        if let Some((pod, filters)) = &self.pod {
            let usage = Usage::of_others(&self.scheduler.cluster, &node.metadata.name, Some(pod));
            if let Some(plain) = filters.reject(node, &usage) {
                return Verdict::Plain(plain).into();
            }
        }
        let wanted = match self.wanted(node) {
            Ok(wanted) => wanted,
            Err(refusal) => return Verdict::Refused(refusal).into(),
        };
        let unavailable = match self.unavailable(node) {
            Ok(unavailable) => unavailable,
            Err(error) => return Verdict::Error(error.into()).into(),
        };
        if let Some(claim) = self.not_shared(&unavailable) {
            return Verdict::Refused(Refusal::NotShared(claim)).into();
        }
        let (mut steps, mut work) = (0, 0);
        let mut certainty = Certainty::Sure;
        let mut granted = self.existing();
        if let Some(wanted) = wanted {
            let attempt = self
                .scheduler
                .inputs
                .allocate(node, &wanted.demand, limits, observer);
            (steps, work, certainty) = (attempt.steps, attempt.work, attempt.certainty);
            let verdict = match attempt.outcome {
                Outcome::Allocated(allocations) => {
                    let new = wanted.keys.iter().zip(allocations);
                    granted.extend(new.map(|(claim, allocation)| Granted {
                        claim: claim.clone(),
                        allocation,
                        existing: false,
                    }));
                    None
                }
                Outcome::DoesNotFit { invalid_pools } => {
                    Some(Verdict::Refused(Refusal::CannotAllocate { invalid_pools }))
                }
                Outcome::Error(error) => Some(Verdict::Error(error)),
                Outcome::GaveUp => Some(Verdict::GaveUp),
            };
            if let Some(verdict) = verdict {
                return Judgment {
                    certainty,
                    steps,
                    work,
                    ..verdict.into()
                };
            }
        }
        if let (Some(is_known), Some((pod, _))) = (self.scheduler.gates.node_shares, &self.pod) {
            let cluster = &self.scheduler.cluster;
            let held: Vec<Held<'_>> = granted
                .iter()
                .map(|granted| (&granted.claim, &granted.allocation))
                .collect();
            if !is_known && takes_some(cluster, &held) {
                let why = "its devices consume node resources, which is not simulated for this release";
                certainty = Certainty::MayDiffer(why.to_owned());
            } else if let Err(unfit) = node_fit::check(cluster, pod, node, &held) {
                let verdict = match unfit {
                    Unfit::Reasons(reasons) => Verdict::Refused(Refusal::NodeResources(reasons)),
                    Unfit::Error(why) => Verdict::Error(why.into()),
                };
                return Judgment {
                    certainty,
                    steps,
                    work,
                    ..verdict.into()
                };
            }
        }
        if !unavailable.is_empty() {
            // What could be allocated beside does not matter, unless an error ends the attempt.
            let is_sure = !matches!(certainty, Certainty::MayError(_));
            return Judgment {
                certainty: if is_sure { Certainty::Sure } else { certainty },
                steps,
                work,
                ..Verdict::Refused(Refusal::NotAvailable(unavailable)).into()
            };
        }
        let scores = self.scheduler.gates.scores;
        Judgment {
            points: scores.then(|| points(&self.claims, &granted)).flatten(),
            verdict: Verdict::Fits(granted),
            certainty,
            steps,
            work,
        }
    }

    /// The plain filters that reject `node`, in the scheduler's order; the taint that goes with the flag of a cordoned node is not another one.
    pub fn rejections(&self, node: &Node) -> Vec<Plain> {
        let Some((pod, filters)) = &self.pod else {
            return Vec::new();
        };
        let usage = Usage::of_others(&self.scheduler.cluster, &node.metadata.name, Some(pod));
        let is_of_flag = |plain: &Plain| {
            node.spec.unschedulable
                && matches!(plain, Plain::TaintToleration(taint) if taint.key == UNSCHEDULABLE)
        };
        let all = filters.rejections(node, &usage);
        all.filter(|plain| !is_of_flag(plain)).collect()
    }

    /// Returns what is left of the work that expressions may take.
    pub fn meter(&self) -> &Meter {
        self.scheduler.cluster().meter()
    }

    /// Reads what `node` has for the claims that are to be allocated, device by device; nothing where there are none.
    ///
    /// # Errors
    /// What ends an attempt on the node before any device is tried.
    pub fn explain<T>(
        &self,
        node: &Node,
        read: impl FnOnce(&mut Explanation<'_>) -> T,
    ) -> Result<Option<T>, Stop> {
        let Ok(Some(wanted)) = self.wanted(node) else {
            return Ok(None);
        };
        let mut explanation = self.scheduler.inputs.explain(node, &wanted.demand)?;
        Ok(Some(read(&mut explanation)))
    }

    /// Returns what the claims got that are allocated already, in their order.
    fn existing(&self) -> Vec<Granted> {
        let existing = |claim: &Arc<Claim>| {
            Some(Granted {
                claim: claim.key(),
                allocation: claim.status.allocation.clone()?,
                existing: true,
            })
        };
        self.claims.iter().filter_map(existing).collect()
    }

    /// That a claim is a part of the node that others have.
    fn not_shared(&self, unavailable: &[Unavailable]) -> Option<Key> {
        let Gates {
            node_shares, groups, ..
        } = self.scheduler.gates;
        let (pod, _) = self.pod.as_ref().filter(|_| node_shares == Some(true))?;
        let is_available = |place: &usize| unavailable.iter().all(|other| other.place != *place);
        let claims = self.claims.iter().enumerate();
        let cluster = &self.scheduler.cluster;
        let mut claims = claims.filter(|(place, _)| is_available(place));
        let (_, claim) = claims.find(|(_, claim)| node_share::is_of_others(cluster, pod, claim, groups))?;
        Some(claim.key())
    }

    /// The claims that are allocated, but of no use on `node`.
    fn unavailable(&self, node: &Node) -> Result<Vec<Unavailable>, String> {
        let mut unavailable = Vec::new();
        for (place, claim) in self.claims.iter().enumerate() {
            let Some(allocation) = &claim.status.allocation else {
                continue;
            };
            let elsewhere = match &allocation.node_selector {
                Some(selector) => {
                    selector.check().map_err(|invalid| invalid.why().to_owned())?;
                    !selector.matches(&node.metadata).unwrap_or(false)
                }
                None => false,
            };
            let skips = || {
                let mut results = allocation.devices.results.iter();
                self.scheduler.gates.optional_operations
                    && results.any(|result| !result.skip_node_operations.is_empty())
            };
            let declares = || {
                let mut declared = node.status.declared_features.iter();
                declared.any(|feature| *feature == Gate::DRAOptionalNodeOperations.name())
            };
            let failed = || {
                self.scheduler.gates.binding_conditions
                    && readiness(claim, self.scheduler.now).is_unavailable()
            };
            let why = if elsewhere {
                NoUse::OtherNodes
            } else if skips() && !declares() {
                NoUse::NodeOperations
            } else if failed() {
                NoUse::NotReady
            } else {
                continue;
            };
            unavailable.push(Unavailable { place, why });
        }
        Ok(unavailable)
    }

    /// Returns what is to be allocated on `node`; nothing where all claims are allocated.
    fn wanted(&self, node: &Node) -> Result<Option<Arc<Wanted>>, Refusal> {
        let mut share = None;
        if let (Some(extended), Some((pod, _))) = (&self.extended, &self.pod) {
            if extended
                .left_behind
                .as_ref()
                .is_some_and(|claim| !claim.spec.devices.requests.is_empty())
            {
                return Err(Refusal::LeftBehind);
            }
            match extended.on_node(&node.status.allocatable) {
                NodeShare::Nothing(name) => return Err(Refusal::NoSuchResource(name)),
                NodeShare::Devices(names) if names.is_empty() && self.claims.is_empty() => return Ok(None),
                NodeShare::Devices(names) => share = Some((extended, *pod, names)),
            }
        }
        let unallocated = self
            .claims
            .iter()
            .filter(|claim| claim.status.allocation.is_none());
        let mut claims: Vec<Arc<Claim>> = unallocated.cloned().collect();
        if claims.is_empty() && share.is_none() {
            return Ok(None);
        }
        let key = share
            .as_ref()
            .map_or_else(Vec::new, |(_, _, names)| names.clone());
        let mut demands = self.demands.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = demands.get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let mut keys: Vec<Key> = claims.iter().map(|claim| claim.key()).collect();
        if let Some((extended, pod, names)) = share {
            claims.push(Arc::new(extended.claim(pod, &names)));
            keys.push(in_memory_key(pod));
        }
        let wanted = Arc::new(Wanted {
            keys,
            demand: self.scheduler.inputs.demand(&claims),
        });
        demands.insert(key, Arc::clone(&wanted));
        Ok(Some(wanted))
    }
}

/// Returns whether the same scheduler places both pods.
fn is_of_same_scheduler(one: &Pod, other: &Pod) -> bool {
    one.scheduler() == other.scheduler()
}

/// The nodes that the pod's affinity names, if every term of it names some. Mirrors `node_affinity.go`, `PreFilter`.
fn named_nodes(pod: &Pod) -> Option<BTreeSet<Str>> {
    let mut all: Option<BTreeSet<Str>> = None;
    for term in &pod.required_affinity()?.node_selector_terms {
        let mut of_term: Option<BTreeSet<Str>> = None;
        for field in &term.match_fields {
            if field.key == "metadata.name" && field.operator == "In" {
                let names: BTreeSet<Str> = field.values.iter().cloned().collect();
                of_term = Some(match of_term {
                    Some(known) => known.intersection(&names).cloned().collect(),
                    None => names,
                });
            }
        }
        all.get_or_insert_default().extend(of_term?);
    }
    all
}
