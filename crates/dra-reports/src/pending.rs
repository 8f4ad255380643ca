//! `kubectl dra explain` of all that waits: pods and claims by what they wait for.
//!
//! Pods that ask for the same are explained once. Those with the same cause are reported together.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::Sentence;
use super::allocation::{Settings, Target};
use super::explanation::{
    ClusterVerdict, Diagnosis, FixItem, Own, Why, explain_claims, explain_pod, is_unused, unmade_owners, why,
};
use dra_model::{CLASS_RESOURCE, Claim, Cluster, Key, Kind, Pod, Str};
use dra_rules::kubelet::Stages;
use dra_rules::reservation::claim_name;
use dra_rules::scheduling::{classes_of_resources, is_extended};

/// Kinds of pods and claims that are explained; the rest is counted. Each takes as long as one `explain`.
const MOST_KINDS: usize = 40;

/// Pods with a node that are looked at.
const MOST_BOUND: usize = 2_000;

/// The report.
#[macro_rules_attribute::apply(report)]
#[derive(Default)]
pub struct ExplanationList {
    /// The namespace that it is about; absent for all.
    pub namespace: Option<Str>,
    /// Pending objects by cause: causes with a tested fix first, and of these the cause with the most pods.
    pub items: Vec<CauseItem>,
    /// Pending pods without claims of devices, which are not explained.
    pub pods_without_devices: usize,
    /// Pods and claims that were not explained, since there are too many different ones.
    pub not_explained: usize,
    /// Information that is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// Pods and claims that are pending for the same cause.
#[macro_rules_attribute::apply(report)]
pub struct CauseItem {
    /// Their verdict.
    pub verdict: ClusterVerdict,
    /// Stable code of the cause.
    pub code: &'static str,
    /// The cause in a sentence. Names of single pods and claims are left out where several have it.
    pub cause: Sentence,
    /// The pending pods, by name.
    pub pods: Vec<Target>,
    /// Claims that no pod uses, by name.
    pub claims: Vec<Target>,
    /// Owners with claims but without pods, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<Target>,
    /// The one that verdict, cause and fix are about; the others ask for the same, or meet the same cause.
    pub explained: Target,
    /// What happens next without any action, if that is known.
    pub next: Option<Sentence>,
    /// Fix for the explained object.
    pub fix: Option<FixItem>,
    /// Whether it passes without any action.
    #[serde(skip)]
    pub passes: bool,
    /// Number of further fixes.
    pub more_fixes: usize,
    /// How many of the pods are not pending.
    #[serde(skip)]
    pub started: Started,
}

/// Numbers of pods that are not pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// They run.
    pub running: usize,
    /// They are being deleted.
    pub terminating: usize,
    /// They failed.
    pub failed: usize,
}

impl Started {
    pub(super) fn of(pod: &Pod) -> Self {
        let phase = pod.status.phase.as_str();
        let is_deleting = pod.metadata.is_deleting();
        Self {
            running: usize::from(!is_deleting && phase == "Running"),
            terminating: usize::from(is_deleting),
            failed: usize::from(!is_deleting && phase == "Failed"),
        }
    }

    /// The sum.
    pub fn count(self) -> usize {
        let Self {
            running,
            terminating,
            failed,
        } = self;
        running + terminating + failed
    }
}

impl std::ops::AddAssign for Started {
    fn add_assign(&mut self, other: Self) {
        self.running += other.running;
        self.terminating += other.terminating;
        self.failed += other.failed;
    }
}

impl CauseItem {
    /// Why what was explained is pending, without the objects that are.
    fn of(explained: Diagnosis) -> Self {
        let cause = explained.why();
        Self {
            verdict: explained.verdict(),
            code: cause.code(),
            cause: why(&cause).into(),
            pods: Vec::new(),
            claims: Vec::new(),
            owners: Vec::new(),
            passes: explained.passes(),
            explained: explained.target,
            next: explained.upcoming.map(Sentence::from),
            more_fixes: explained.fixes.len().saturating_sub(1),
            fix: explained.fixes.into_iter().next(),
            started: Started::default(),
        }
    }

    /// Number.
    pub fn count(&self) -> usize {
        self.pods.len() + self.claims.len() + self.owners.len()
    }

    /// Returns whether something keeps them from running.
    pub fn waits(&self) -> bool {
        matches!(
            self.verdict,
            ClusterVerdict::Waits
                | ClusterVerdict::DoesNotFit
                | ClusterVerdict::Broken
                | ClusterVerdict::Error
        )
    }

    /// Returns whether their outcome is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self.verdict, ClusterVerdict::GaveUp | ClusterVerdict::Unknown)
    }
}

impl ExplanationList {
    /// Returns whether something waits for a cause that is known.
    pub fn has_waiting(&self) -> bool {
        self.items.iter().any(CauseItem::waits)
    }

    /// How many pods and claims are reported.
    pub fn count(&self) -> usize {
        self.items.iter().map(CauseItem::count).sum()
    }

    /// Returns whether there may be more that waits.
    pub fn is_incomplete(&self) -> bool {
        self.not_explained > 0 || !self.unknown.is_empty() || self.items.iter().any(CauseItem::is_unknown)
    }
}

/// What waits together: pods, or claims that no pod uses.
#[derive(Clone)]
enum Unit<'a> {
    Pod(&'a Arc<Pod>),
    Claim(&'a Arc<Claim>),
}

impl Unit<'_> {
    /// Pods come before claims, both by name.
    fn order(&self) -> (bool, Key) {
        match self {
            Self::Pod(pod) => (false, pod.key()),
            Self::Claim(claim) => (true, claim.key()),
        }
    }

    fn own(&self, cluster: &Cluster) -> Own {
        match self {
            Self::Pod(pod) => Own::of_pod(cluster, pod),
            Self::Claim(claim) => Own::of_claim(claim.key()),
        }
    }

    fn explain(&self, cluster: &Cluster, settings: &Settings<'_>) -> Diagnosis {
        match self {
            Self::Pod(pod) => explain_pod(cluster, pod, settings),
            Self::Claim(claim) => explain_claims(cluster, &[Arc::clone(claim)], settings),
        }
    }
}

/// Explains whatever waits in `namespace`, or in all.
pub fn explain_all(cluster: &Cluster, namespace: Option<&Str>, settings: &Settings<'_>) -> ExplanationList {
    let mut list = ExplanationList {
        namespace: namespace.cloned(),
        ..ExplanationList::default()
    };
    for kind in [Kind::Pod, Kind::ResourceClaim] {
        if let Some(gap) = cluster.gap(kind, namespace.map(Str::as_str).unwrap_or_default()) {
            let missing = super::warnings::missing(gap);
            list.unknown.push(missing);
        }
    }
    let is_in = |of: &Str| namespace.is_none_or(|namespace| namespace == of);
    let likeness = Likeness::of(cluster);
    let stages = Stages::of(cluster, settings.now);
    let mut kinds: HashMap<String, Vec<Unit<'_>>, RandomState> = HashMap::default();
    let mut bound = Vec::new();
    for pod in cluster.pods().filter(|pod| is_in(&pod.metadata.namespace)) {
        let is_over = pod.is_terminal() || pod.metadata.is_deleting();
        if pod.node().is_some() || is_over {
            let starts = !is_over && matches!(pod.status.phase.as_str(), "Pending" | "");
            if starts && likeness.needs_devices(pod) || stages.pod(pod).is_some_and(|found| found.is_stuck())
            {
                bound.push(pod);
            }
        } else if likeness.needs_devices(pod) {
            kinds
                .entry(likeness.of_pod(pod))
                .or_default()
                .push(Unit::Pod(pod));
        } else {
            list.pods_without_devices += 1;
        }
    }
    for claim in cluster.claims().filter(|claim| is_in(&claim.metadata.namespace)) {
        if claim.status.allocation.is_none() && !claim.metadata.is_deleting() && is_unused(cluster, claim) {
            let alike = kinds.entry(likeness.of_claim(claim)).or_default();
            alike.push(Unit::Claim(claim));
        }
    }
    // The most frequent first, and of equally frequent ones the first by name.
    let mut alike: Vec<Vec<Unit<'_>>> = kinds.into_values().collect();
    alike.sort_by_cached_key(|units| (Reverse(units.len()), units.first().map(Unit::order)));
    let mut groups = Vec::new();
    for units in alike.iter().take(MOST_KINDS) {
        if let Some(first) = units.first() {
            let explained = first.explain(cluster, settings);
            gather(&mut groups, cluster, explained, units);
        }
    }
    list.not_explained = alike.iter().skip(MOST_KINDS).map(Vec::len).sum();
    for pod in bound.iter().take(MOST_BOUND) {
        let explained = explain_pod(cluster, pod, settings);
        // One that has all that it needs is about to start.
        if explained.verdict() != ClusterVerdict::Bound {
            gather(&mut groups, cluster, explained, &[Unit::Pod(pod)]);
        }
    }
    list.not_explained += bound.len().saturating_sub(MOST_BOUND);
    let unmade = unmade_owners(cluster, namespace, settings.now, |resource| {
        likeness.are_devices(resource)
    });
    let unmade = unmade.into_iter().map(|explained| CauseItem {
        owners: vec![explained.target.clone()],
        ..CauseItem::of(explained)
    });
    list.items = groups.into_iter().map(|(_, item)| item).chain(unmade).collect();
    // Of equal ones the first by name.
    list.items.sort_by_cached_key(|item| {
        let helps = item.fix.as_ref().is_some_and(|fix| fix.proven);
        let changes = item.fix.as_ref().map_or(0, |fix| fix.changes.len());
        let Target { namespace, name, .. } = &item.explained;
        (
            !item.waits(),
            !helps,
            Reverse(item.count()),
            changes,
            (namespace.clone(), name.clone()),
        )
    });
    list
}

/// Adds `units` to those with the same cause, which is without what is only the own of one; the first one was explained.
fn gather(groups: &mut Vec<(Why, CauseItem)>, cluster: &Cluster, explained: Diagnosis, units: &[Unit<'_>]) {
    let Some(first) = units.first() else { return };
    let verdict = explained.verdict();
    let shared = explained.why().without(&first.own(cluster));
    let is_same = |(known, item): &(Why, CauseItem)| item.verdict == verdict && *known == shared;
    let place = groups.iter().position(is_same).unwrap_or_else(|| {
        groups.push((shared, CauseItem::of(explained)));
        groups.len() - 1
    });
    let (shared, item) = &mut groups[place];
    for unit in units {
        match unit {
            Unit::Pod(pod) => {
                item.pods.push(Target::pod(&pod.key()));
                item.started += Started::of(pod);
            }
            Unit::Claim(claim) => item.claims.push(Target::claim(&claim.key())),
        }
    }
    if item.pods.len() + item.claims.len() > 1 {
        // What comes may be enough for one of them only.
        item.passes = false;
        item.cause = why(shared).into();
    }
}

/// What pods and claims have to have in common to get the same explanation.
struct Likeness<'a> {
    cluster: &'a Cluster,
    /// Resources that classes provide.
    resources: BTreeSet<&'a Str>,
    /// Resources that nodes have.
    of_nodes: BTreeSet<&'a Str>,
    /// Whether these are all.
    knows_nodes: bool,
    /// Namespaces in which something else than the pod decides.
    limited: BTreeSet<&'a Str>,
    /// Whether of some namespaces less is known than of others.
    knows_some_better: bool,
}

impl<'a> Likeness<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            resources: classes_of_resources(cluster).into_keys().collect(),
            knows_nodes: cluster.gap(Kind::Node, "").is_none(),
            of_nodes: cluster
                .nodes()
                .flat_map(|node| &node.status.allocatable)
                .filter(|(_, amount)| amount.sign() > 0)
                .map(|(name, _)| name)
                .collect(),
            limited: cluster.quotas().map(|quota| &quota.metadata.namespace).collect(),
            knows_some_better: cluster
                .environment()
                .gaps
                .iter()
                .any(|gap| !gap.namespace.is_empty() || !gap.except.is_empty()),
        }
    }

    /// Returns whether an extended resource is one that classes provide, or that nothing does: a class may have been to provide it.
    fn are_devices(&self, resource: &Str) -> bool {
        self.resources.contains(resource)
            || resource.starts_with(CLASS_RESOURCE)
            || self.knows_nodes && is_extended(resource) && !self.of_nodes.contains(resource)
    }

    /// Returns whether the pod has claims, or devices as extended resources.
    fn needs_devices(&self, pod: &Pod) -> bool {
        let spec = &pod.spec;
        let containers = spec.containers.iter().chain(&spec.init_containers);
        let mut amounts = containers.flat_map(|container| {
            let resources = &container.resources;
            resources.requests.iter().chain(&resources.limits)
        });
        !spec.resource_claims.is_empty() || amounts.any(|(name, _)| self.are_devices(name))
    }

    /// All that determines the answer for a pod without a node, in a text. What decides without being needed here only makes more of them.
    fn of_pod(&self, pod: &Pod) -> String {
        let mut key = format!("{:?}", pod.spec);
        let mut says_namespace = self.knows_some_better || self.limited.contains(&pod.metadata.namespace);
        for entry in &*pod.spec.resource_claims {
            let claim = claim_name(pod, entry).ok().and_then(|name| {
                let name = name.name()?;
                self.cluster.claim(&pod.metadata.beside(name))
            });
            let own = claim.filter(|claim| {
                let owner = claim.metadata.controller();
                let is_own = owner.is_some_and(|owner| owner.uid == pod.metadata.uid);
                is_own && claim.status.allocation.is_none() && !claim.metadata.is_deleting()
            });
            match own {
                // One that was made for the pod alone differs from others only in what it asks for.
                Some(claim) => {
                    let _ = write!(key, "|{:?}", claim.spec);
                }
                None => {
                    says_namespace = true;
                    let _ = write!(key, "|{:?}", claim.map(|claim| claim.key()));
                }
            }
        }
        if says_namespace || pod.pod_group().is_some() || pod.status.extended_resource_claim_status.is_some()
        {
            let _ = write!(key, "|{}", pod.metadata.namespace);
        }
        // What the scheduler has said already can contradict what is computed.
        let scheduled = pod
            .status
            .conditions
            .iter()
            .find(|condition| condition.type_ == "PodScheduled");
        let said = scheduled.map(|condition| (condition.status.as_str(), condition.message.is_empty()));
        let _ = write!(key, "|{said:?}");
        if pod.status.extended_resource_claim_status.is_some() {
            let _ = write!(key, "|{}", pod.metadata.name);
        }
        key
    }

    fn of_claim(&self, claim: &Claim) -> String {
        let mut key = format!("claim|{:?}", claim.spec);
        if self.knows_some_better || self.limited.contains(&claim.metadata.namespace) {
            let _ = write!(key, "|{}", claim.metadata.namespace);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_allocator::Budget;
    use dra_testing::{World, holding};

    fn explained(cluster: &Cluster, namespace: Option<&str>) -> ExplanationList {
        let budget = Budget::new(1_000_000);
        let settings = Settings::of_test(&budget);
        explain_all(cluster, namespace.map(Str::from).as_ref(), &settings)
    }

    fn spec(count: usize) -> Value {
        json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d", "count": count}}]}})
    }

    /// A pod that waits, with a claim of its own for `count` devices.
    fn waiting(world: World, namespace: &str, name: &str, count: usize) -> World {
        let uid = format!("{name}-uid");
        let owner =
            json!([{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": true}]);
        world
            .with(
                Kind::Pod,
                &json!({
                    "metadata": {"namespace": namespace, "name": name, "uid": uid},
                    "spec": {"resourceClaims": [{"name": "r", "resourceClaimTemplateName": "t"}]},
                    "status": {"phase": "Pending",
                               "resourceClaimStatuses": [{"name": "r", "resourceClaimName": format!("{name}-r")}]},
                }),
            )
            .with(
                Kind::ResourceClaim,
                &json!({"metadata": {"namespace": namespace, "name": format!("{name}-r"), "uid": format!("{name}-r-uid"),
                                     "ownerReferences": owner},
                        "spec": spec(count)}),
            )
    }

    fn world() -> World {
        World::default()
            .with(
                Kind::Node,
                &json!({"metadata": {"name": "node-1"}, "status": {"allocatable": {"pods": "110"}}}),
            )
            .class("d")
            .slice("node-1", &json!([{"name": "a"}, {"name": "b"}]))
    }

    fn told(list: &ExplanationList) -> Vec<(String, usize)> {
        let items = list.items.iter();
        items.map(|item| (item.cause.to_string(), item.count())).collect()
    }

    #[test]
    fn pods_with_the_same_requests_are_reported_together_and_judged_once() {
        let mut world = world();
        for number in 0..60 {
            world = waiting(world, "n", &format!("replica-{number}"), 3);
        }
        for namespace in ["a", "b"] {
            world = waiting(world, namespace, "other", 4);
        }
        let cluster = world.build();
        let list = explained(&cluster, None);
        let three = "no node has 3 available devices of class d".to_owned();
        let four = "no node has 4 available devices of class d".to_owned();
        assert_eq!(told(&list), [(three.clone(), 60), (four, 2)]);
        assert_eq!(list.not_explained, 0);
        assert!(list.has_waiting() && !list.is_incomplete());
        let fix = list.items[0].fix.as_ref().unwrap();
        assert!(fix.proven, "{fix:?}");
        assert_eq!(told(&explained(&cluster, Some("n"))), [(three, 60)]);
    }

    #[test]
    fn what_differs_is_explained_up_to_a_limit() {
        let mut world = world();
        for count in 0..MOST_KINDS + 5 {
            world = waiting(world, "n", &format!("p{count:02}"), count + 3);
        }
        // Two of a kind come before the others.
        world = waiting(world, "n", "z", MOST_KINDS + 5);
        let list = explained(&world.build(), None);
        assert_eq!(list.not_explained, 5);
        assert!(list.is_incomplete());
        assert_eq!(list.items[0].count(), 2);
    }

    #[test]
    fn only_what_is_pending_for_devices_is_reported() {
        let shared = json!({"metadata": {"namespace": "n", "name": "user", "uid": "u"},
            "spec": {"resourceClaims": [{"name": "r", "resourceClaimName": "shared"}]}, "status": {"phase": "Pending"}});
        let plain = json!({"metadata": {"namespace": "n", "name": "plain", "uid": "p"}, "status": {"phase": "Pending"}});
        let ended = json!({"metadata": {"namespace": "n", "name": "ended", "uid": "e"},
            "spec": {"resourceClaims": [{"name": "r", "resourceClaimName": "nowhere"}]}, "status": {"phase": "Failed"}});
        let wants = |name: &str, resource: &str| {
            json!({"metadata": {"namespace": "n", "name": name, "uid": name}, "status": {"phase": "Pending"},
                   "spec": {"containers": [{"name": "c", "resources": {"limits": {resource: "1"}}}]}})
        };
        let cluster = world()
            .with(Kind::Pod, &shared)
            .with(Kind::Pod, &plain)
            // A resource of nodes, and one that nothing provides.
            .with(Kind::Pod, &wants("of-node", "pods"))
            .with(Kind::Pod, &wants("of-nothing", "example.com/gpu"))
            .with(Kind::Pod, &ended)
            .pod("runs", &["held"])
            .claim("held", &spec(1), &holding(&["a"], &["runs"]))
            .claim("shared", &spec(1), &json!({}))
            .claim("unused", &spec(2), &json!({}))
            .build();
        let list = explained(&cluster, None);
        let names: Vec<_> = list
            .items
            .iter()
            .map(|item| (item.verdict, item.pods.len(), item.claims.len()))
            .collect();
        assert_eq!(
            names,
            [
                (ClusterVerdict::DoesNotFit, 0, 1),
                (ClusterVerdict::DoesNotFit, 1, 0),
                (ClusterVerdict::Fits, 1, 0)
            ]
        );
        assert_eq!(list.pods_without_devices, 2);
    }

    #[test]
    fn pods_that_the_kubelet_does_not_start_wait_too() {
        let cluster = world()
            .pod_with("refused", &["other"], &json!({"phase": "Pending"}))
            .pod_with("starting", &["own"], &json!({"phase": "Pending"}))
            .claim("own", &spec(1), &holding(&["a"], &["starting"]))
            .claim("other", &spec(1), &holding(&["b"], &[]))
            .build();
        let list = explained(&cluster, None);
        let told: Vec<_> = list
            .items
            .iter()
            .map(|item| (item.verdict, item.explained.name.as_str()))
            .collect();
        assert_eq!(told, [(ClusterVerdict::Broken, "refused")]);
    }

    #[test]
    fn what_could_not_be_read_keeps_nothing_from_being_known_to_wait() {
        let hidden = world().without(Kind::Pod).build();
        let list = explained(&hidden, None);
        assert!(!list.has_waiting() && list.is_incomplete());
        let nothing = explained(&world().build(), None);
        assert!(!nothing.has_waiting() && !nothing.is_incomplete());
    }

    #[test]
    fn a_kind_that_could_not_be_read_anywhere_keeps_no_namespaces_apart() {
        let mut world = world().without(Kind::ResourceQuota);
        for number in 0..=MOST_KINDS {
            world = waiting(world, &format!("n-{number}"), "replica", 3);
        }
        let list = explained(&world.build(), None);
        assert_eq!(
            told(&list),
            [(
                "no node has 3 available devices of class d".to_owned(),
                MOST_KINDS + 1
            )]
        );
        assert_eq!(list.not_explained, 0);
    }
}
