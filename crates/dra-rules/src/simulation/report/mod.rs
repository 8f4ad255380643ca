//! Result of an eviction, for readers.

mod items;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;

pub use items::{
    BudgetItem, ClaimItem, EventItem, EvictionReport, Fit, OwnerItem, PodItem, PodVerdict, ReplacementItem,
    RuleItem, StatusItem, Tolerated, TolerationItem,
};

use super::World;
use super::missed::missed;
use super::reason::{ReasonItem, Reasons};
use super::timeline::{Happening, What};
use super::world::{Placement, Replacement};
use crate::controllers::PodRef;
use crate::eviction::{
    Eviction, LONGEST_TOLERATION, Tolerance, condition_of, due, has_to_go, lacks_effect, pending, tolerance,
};
use crate::owners::{Replacing, losses, restarted_with};
use crate::reservation::claim_names;
use dra_allocator::devices::Taints;
use dra_model::{Claim, Cluster, Condition, Key, NO_EXECUTE, Pod, Str, Time};

/// Simulates what happens to `world` until nothing is left to happen, and reports it; with `tolerations` also who tolerates what.
pub fn report(world: &mut World<'_>, with_tolerations: bool) -> EvictionReport {
    let start = world.now;
    let before = world.cluster().clone();
    let mut missed = missed(&before, world.release);
    let tolerations = tolerations(world, with_tolerations);
    let tolerating = tolerating(&tolerations);
    let overflowing = overflowing(&before, &tolerations);
    world.run();
    let evicted = evictions(world.happenings());
    // What hides a pod can go away later.
    if !missed.is_empty() {
        let going: HashSet<&Str, RandomState> = evicted.iter().map(|evicted| &evicted.pod.uid).collect();
        missed.retain(|pod| !going.contains(&pod.uid));
    }
    let mut reasons = Reasons::default();
    let events = world.happenings().iter();
    let mut report = EvictionReport {
        start,
        events: events.map(|event| EventItem::of(event, &mut reasons)).collect(),
        pods: pods(world, &before, &evicted, &tolerating),
        tolerations: with_tolerations.then_some(tolerations),
        missed,
        claims: claims(world.happenings()),
        disruption_budgets: Vec::new(),
        rules: rules(world, &before, start),
        gave_up: world.gave_up(),
        may_be_more: false,
        assumed_gates: Vec::new(),
        warnings: Vec::new(),
    };
    report.add_budgets(&before, &evicted);
    report.warn(world);
    report.warnings.extend(evicted_again(world, &before, &evicted));
    report.warnings.extend(overflowing);
    report
}

struct Evicted<'h> {
    at: Time,
    pod: PodRef,
    eviction: &'h Eviction,
    grace_seconds: i64,
    gone_at: Option<Time>,
}

/// Pods of `before` that `world` has evicted.
pub(super) fn evicted_pods(world: &World<'_>, before: &Cluster) -> BTreeSet<Key> {
    let evicted = evictions(world.happenings()).into_iter();
    let pods = evicted.map(|evicted| evicted.pod);
    let of_before = pods.filter(|pod| {
        let known = before.pod(&pod.key);
        known.is_some_and(|known| known.metadata.uid == pod.uid)
    });
    of_before.map(|pod| pod.key).collect()
}

/// When something happened to objects, by their UIDs.
fn times(happenings: &[Happening], is_it: impl Fn(&What) -> bool) -> HashMap<&Str, Time, RandomState> {
    let found = happenings.iter().filter(|happening| is_it(&happening.what));
    found.map(|happening| (&happening.uid, happening.at)).collect()
}

/// The first eviction of every pod, in the order of time.
fn evictions(happenings: &[Happening]) -> Vec<Evicted<'_>> {
    let mut found: Vec<Evicted<'_>> = Vec::new();
    for happening in happenings {
        if let What::PodDeleted {
            eviction,
            grace_seconds,
        } = &happening.what
        {
            found.push(Evicted {
                at: happening.at,
                pod: PodRef {
                    key: happening.key.clone(),
                    uid: happening.uid.clone(),
                },
                eviction,
                grace_seconds: *grace_seconds,
                gone_at: None,
            });
        }
    }
    let gone = times(happenings, |what| matches!(what, What::PodGone));
    for evicted in &mut found {
        evicted.gone_at = gone.get(&evicted.pod.uid).copied();
    }
    found.sort_by(|a, b| (a.at, &a.pod).cmp(&(b.at, &b.pod)));
    found
}

/// Returns how each pod that an eviction could reach tolerates the NoExecute taints of its devices, by pod, claim and
/// device. Without `all`, only what must be reported anyway: pods that tolerate a taint forever, and claims that
/// tolerate one for too long.
fn tolerations(world: &World<'_>, all: bool) -> Vec<TolerationItem> {
    let cluster = world.cluster();
    let taints = Taints::of(cluster).where_rules_are(world.release.rules);
    let mut found = Vec::new();
    let mut others = Vec::new();
    for claim in cluster.claims() {
        // Most claims tolerate nothing for good, and what is not told need not be put together.
        if all || tolerates_for_good(claim, &taints) || overflows(claim) {
            tell(world, claim, &taints, |_| true, &mut found);
        } else {
            others.push(claim);
        }
    }
    // Who tolerates one claim's taints for good may go for those of another.
    if !found.is_empty() {
        let told = found.iter();
        let told: HashSet<Key, RandomState> = told
            .map(|item: &TolerationItem| Key::new(item.namespace.clone(), item.name.clone()))
            .collect();
        for claim in others {
            tell(world, claim, &taints, |pod| told.contains(pod), &mut found);
        }
    }
    found.sort_by(|a, b| (&a.namespace, &a.name, &a.claim).cmp(&(&b.namespace, &b.name, &b.claim)));
    found
}

/// Returns whether a NoExecute taint of one of the claim's devices is tolerated for good.
fn tolerates_for_good(claim: &Claim, taints: &Taints<'_>) -> bool {
    claim.results().iter().any(|result| {
        // Who tolerates nothing need not be asked about each taint.
        !result.tolerations.is_empty()
            && taints.of_device(&result.id()).any(|tainted| {
                tainted.taint.effect == NO_EXECUTE
                    && tolerance(tainted.taint, &result.tolerations) == Tolerance::Forever
            })
    })
}

/// Tells how the pods that `are_meant`, and that have to go for the claim unless they tolerate its taints, tolerate these.
fn tell(
    world: &World<'_>,
    claim: &Claim,
    taints: &Taints<'_>,
    are_meant: impl Fn(&Key) -> bool,
    found: &mut Vec<TolerationItem>,
) {
    let of_claim = tolerated(claim, taints, world.now);
    if of_claim.is_empty() {
        return;
    }
    let cluster = world.cluster();
    for pod in pending(cluster, claim, world.release) {
        if are_meant(&pod) {
            let uid = cluster.pod(&pod).map(|pod| pod.metadata.uid.clone());
            found.extend(of_claim.iter().map(|item| TolerationItem {
                name: pod.name.clone(),
                uid: uid.clone().unwrap_or_default(),
                ..item.clone()
            }));
        }
    }
}

/// How the NoExecute taints of the claim's devices are tolerated, by a pod that is yet to be named.
fn tolerated(claim: &Claim, taints: &Taints<'_>, now: Time) -> Vec<TolerationItem> {
    let mut found = Vec::new();
    for result in claim.results() {
        let device = result.id();
        for tainted in taints.of_device(&device) {
            if tainted.taint.effect != NO_EXECUTE {
                continue;
            }
            let tolerance = tolerance(tainted.taint, &result.tolerations);
            let (tolerated, until) = match tolerance {
                Tolerance::Not => (Tolerated::No, None),
                Tolerance::Forever => (Tolerated::Forever, None),
                Tolerance::For(_) => {
                    let added = tainted.taint.time_added.unwrap_or(now);
                    (Tolerated::Until, due(added, tolerance))
                }
            };
            found.push(TolerationItem {
                namespace: claim.metadata.namespace.clone(),
                name: Str::default(),
                uid: Str::default(),
                claim: claim.metadata.name.clone(),
                device: device.clone().into(),
                taint: ReasonItem::of(&tainted.origin),
                tolerated,
                lacks_effect: lacks_effect(tainted.taint, &result.tolerations),
                until,
            });
        }
    }
    found
}

/// Pods that tolerate every taint of their devices for good, with the taints.
fn tolerating(tolerations: &[TolerationItem]) -> BTreeMap<Key, Vec<ReasonItem>> {
    fn pod(item: &TolerationItem) -> (&Str, &Str) {
        (&item.namespace, &item.name)
    }
    let going: HashSet<_> = tolerations
        .iter()
        .filter(|item| item.tolerated != Tolerated::Forever)
        .map(pod)
        .collect();
    // Only looked up in, never walked.
    let mut known = HashSet::new();
    let mut found: BTreeMap<Key, Vec<ReasonItem>> = BTreeMap::new();
    for item in tolerations {
        if !going.contains(&pod(item)) && known.insert((pod(item), &item.taint)) {
            let key = Key::new(item.namespace.clone(), item.name.clone());
            found.entry(key).or_default().push(item.taint.clone());
        }
    }
    found
}

fn overflows(claim: &Claim) -> bool {
    let mut seconds = claim
        .results()
        .iter()
        .flat_map(|result| &result.tolerations)
        .filter_map(|toleration| toleration.toleration_seconds);
    seconds.any(|seconds| seconds > LONGEST_TOLERATION)
}

/// Warnings about tolerations that are longer than Kubernetes can count.
fn overflowing(cluster: &Cluster, tolerations: &[TolerationItem]) -> Vec<String> {
    let claims: BTreeSet<Key> = tolerations
        .iter()
        .filter(|item| item.tolerated == Tolerated::Until)
        .map(|item| Key::new(item.namespace.clone(), item.claim.clone()))
        .collect();
    claims
        .into_iter()
        .filter(|key| cluster.claim(key).is_some_and(|claim| overflows(claim)))
        .map(|key| {
            format!(
                "claim/{key} tolerates a taint for more than {LONGEST_TOLERATION} seconds, which overflows in \
                Kubernetes: its pods may be evicted immediately"
            )
        })
        .collect()
}

/// Why replacements are evicted in their turn: they tolerate a taint for some time only, or in the eyes of kube-scheduler only, or have a claim that is not
/// theirs alone and keeps its device. kube-scheduler does not look at the taints of devices that are allocated (`dynamicresources.go`, `Filter`).
fn evicted_again(world: &World<'_>, before: &Cluster, evicted: &[Evicted<'_>]) -> Vec<String> {
    let taints = Taints::of(before).where_rules_are(world.release.rules);
    let mut kept = BTreeMap::new();
    let (mut lacks, mut tolerates, mut has_choice) = (false, false, false);
    let replaced = evicted
        .iter()
        .filter_map(|evicted| world.replacements.get(&evicted.pod));
    let replaced = replaced
        .filter_map(|replacement| Some((before.pod(&replacement.original.key)?, &replacement.placement)));
    for (pod, placement) in replaced {
        // On another node it may have a device that no taint evicts it from.
        has_choice |= matches!(placement, Some(Placement::Fits { nodes, .. }) if nodes.len() > 1);
        let claims = claim_names(pod).filter_map(|name| name.find(before));
        let claims = claims.filter(|claim| has_to_go(claim, &taints));
        let (own, others): (Vec<&Arc<Claim>>, Vec<_>) = claims.partition(|claim| {
            let owner = claim.metadata.controller();
            owner.is_some_and(|owner| owner.uid == pod.metadata.uid)
        });
        for result in own.iter().flat_map(|claim| claim.results()) {
            let id = result.id();
            let is_without = taints.of_device(&id).any(|found| {
                found.taint.effect == NO_EXECUTE && lacks_effect(found.taint, &result.tolerations)
            });
            let mut tolerations = result.tolerations.iter();
            lacks |= is_without;
            tolerates |= !is_without && tolerations.any(|one| one.toleration_seconds.is_some());
        }
        kept.extend(others.into_iter().map(|claim| (claim.key(), claim)));
    }
    let mut warnings = Vec::new();
    if lacks {
        warnings.push(
            "replacements tolerate the taints without effect NoExecute, so they are scheduled and evicted again and again: \
            set effect NoExecute in the tolerations; the simulation follows the first of them"
                .to_owned(),
        );
    }
    if tolerates {
        let evicted = if has_choice {
            "may be scheduled to such devices, and evicted again"
        } else {
            "are scheduled and evicted again and again"
        };
        warnings.push(format!(
            "replacements tolerate the taints for some time, so they {evicted}; the simulation follows the first of them"
        ));
    }
    warnings.extend(kept.into_iter().map(|(key, claim)| {
        let mut entries = claim.status.reserved_for.iter();
        let user = match entries.find(|entry| entry.is_pod_group()) {
            Some(group) => format!("podgroup/{}/{} exists", key.namespace, group.name),
            None => "a pod uses it".to_owned(),
        };
        format!(
            "claim/{key} keeps its devices as long as {user}, so replacements are evicted again and again: \
            scale their owner down until it is deallocated"
        )
    }));
    warnings
}

fn pods(
    world: &World<'_>,
    before: &Cluster,
    evicted: &[Evicted<'_>],
    tolerating: &BTreeMap<Key, Vec<ReasonItem>>,
) -> Vec<PodItem> {
    let owners = Owners::of(before, evicted);
    let again: BTreeSet<&PodRef> = evicted.iter().map(|evicted| &evicted.pod).collect();
    let replacements: BTreeMap<&PodRef, (&PodRef, &Replacement)> = world
        .replacements
        .iter()
        .map(|(reference, replacement)| (&replacement.original, (reference, replacement)))
        .collect();
    let mut reasons = Reasons::default();
    let mut items = Vec::with_capacity(evicted.len());
    for evicted in evicted {
        let Some(pod) = before.pod(&evicted.pod.key) else {
            continue;
        };
        if pod.metadata.uid != evicted.pod.uid {
            continue;
        }
        items.push(PodItem {
            at: Some(evicted.at),
            gone_at: evicted.gone_at,
            grace_period_seconds: Some(evicted.grace_seconds),
            reasons: reasons.all(evicted.eviction),
            replacing: Some(Replacing::of(before, pod)),
            restarts: restarted_with(before, pod)
                .into_iter()
                .map(|other| other.metadata.name.clone())
                .collect(),
            replacement: replacements
                .get(&evicted.pod)
                .map(|found| ReplacementItem::of(pod, *found, again.contains(found.0))),
            ..PodItem::of(pod, PodVerdict::Evicted, &owners)
        });
    }
    let mut leaving: HashSet<Key, RandomState> = HashSet::default();
    if !tolerating.is_empty() {
        let keys = items
            .iter()
            .map(|pod: &PodItem| Key::new(pod.namespace.clone(), pod.name.clone()));
        leaving.extend(keys);
    }
    for (key, reasons) in tolerating {
        if let Some(pod) = before.pod(key).filter(|_| !leaving.contains(key)) {
            items.push(PodItem {
                reasons: reasons.as_slice().into(),
                ..PodItem::of(pod, PodVerdict::Tolerates, &owners)
            });
        }
    }
    items
}

/// Pods of owners, and how many of them go.
struct Owners {
    pods: BTreeMap<Str, usize>,
    evicted: BTreeMap<Str, usize>,
}

impl Owners {
    fn of(before: &Cluster, evicted: &[Evicted<'_>]) -> Self {
        let going: HashSet<&Key, RandomState> = evicted.iter().map(|evicted| &evicted.pod.key).collect();
        let mut owners = Self {
            pods: BTreeMap::new(),
            evicted: BTreeMap::new(),
        };
        for pod in before.pods() {
            let Some(owner) = pod.metadata.controller() else {
                continue;
            };
            if !pod.is_terminal() && !pod.metadata.is_deleting() {
                *owners.pods.entry(owner.uid.clone()).or_default() += 1;
                if going.contains(&pod.key()) {
                    *owners.evicted.entry(owner.uid.clone()).or_default() += 1;
                }
            }
        }
        owners
    }
}

impl PodItem {
    fn of(pod: &Arc<Pod>, verdict: PodVerdict, owners: &Owners) -> Self {
        let count = |counts: &BTreeMap<Str, usize>, uid: &Str| counts.get(uid).copied().unwrap_or(0);
        Self {
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
            node: pod.node().cloned(),
            verdict,
            at: None,
            gone_at: None,
            grace_period_seconds: None,
            reasons: Arc::default(),
            priority: pod.spec.priority,
            owner: pod.metadata.controller().map(|owner| OwnerItem {
                kind: owner.kind.clone(),
                name: owner.name.clone(),
                uid: owner.uid.clone(),
                pods: count(&owners.pods, &owner.uid),
                evicted: count(&owners.evicted, &owner.uid),
            }),
            replacing: None,
            replacement: None,
            restarts: Vec::new(),
        }
    }
}

fn claims(happenings: &[Happening]) -> Vec<ClaimItem> {
    let removed = times(happenings, |what| matches!(what, What::ClaimDeleted));
    let mut found: Vec<ClaimItem> = Vec::new();
    for happening in happenings {
        if let What::ClaimReleased { devices } = &happening.what {
            found.push(ClaimItem {
                namespace: happening.key.namespace.clone(),
                name: happening.key.name.clone(),
                uid: happening.uid.clone(),
                released_at: happening.at,
                deleted_at: removed.get(&happening.uid).copied(),
                devices: Arc::clone(devices),
            });
        }
    }
    found.sort_by(|a, b| (a.released_at, &a.namespace, &a.name).cmp(&(b.released_at, &b.namespace, &b.name)));
    found
}

fn rules(world: &World<'_>, before: &Cluster, start: Time) -> Vec<RuleItem> {
    let written: Vec<(&Key, Time, &Condition)> = world
        .happenings()
        .iter()
        .filter_map(|happening| match &happening.what {
            What::RuleStatus { condition } => Some((&happening.key, happening.at, &**condition)),
            _ => None,
        })
        .collect();
    before
        .rules()
        .map(|rule| {
            let key = rule.metadata.key();
            let of_rule = written.iter().filter(|(of, ..)| **of == key);
            let (first, later): (Vec<_>, Vec<_>) = of_rule.partition(|(_, at, _)| *at == start);
            let item = |entry: &&(&Key, Time, &Condition)| StatusItem {
                at: Some(entry.1),
                ..StatusItem::of(entry.2)
            };
            RuleItem {
                name: rule.metadata.name.clone(),
                condition: first
                    .last()
                    .map(item)
                    .or_else(|| condition_of(rule).map(StatusItem::of)),
                timeline: later.iter().map(item).collect(),
            }
        })
        .collect()
}

impl EvictionReport {
    /// Leaves out what happens in other namespaces. Rules and their conditions stay.
    pub fn only_in(&mut self, namespace: &Str) {
        let here = |of: &Str| of == namespace;
        self.events
            .retain(|event| event.namespace.is_empty() || here(&event.namespace));
        self.pods.retain(|pod| here(&pod.namespace));
        if let Some(tolerations) = &mut self.tolerations {
            tolerations.retain(|item| here(&item.namespace));
        }
        self.missed.retain(|pod| here(&pod.namespace));
        self.claims.retain(|claim| here(&claim.namespace));
        self.disruption_budgets.retain(|budget| here(&budget.namespace));
    }

    /// Returns whether a pod has to go.
    pub fn evicts(&self) -> bool {
        self.pods.iter().any(|pod| pod.verdict == PodVerdict::Evicted)
    }

    fn add_budgets(&mut self, before: &Cluster, evicted: &[Evicted<'_>]) {
        let evicted: Vec<(Time, Key)> = evicted
            .iter()
            .map(|evicted| (evicted.at, evicted.pod.key.clone()))
            .collect();
        match losses(before, &evicted) {
            Ok(losses) => {
                self.disruption_budgets = losses
                    .into_iter()
                    .map(|loss| BudgetItem {
                        namespace: loss.budget.metadata.namespace.clone(),
                        name: loss.budget.metadata.name.clone(),
                        uid: loss.budget.metadata.uid.clone(),
                        disruptions_allowed: loss.budget.status.disruptions_allowed,
                        pods: loss.pods.into_iter().map(|pod| pod.name).collect(),
                        violated: loss.broken_at.is_some(),
                        violated_at: loss.broken_at,
                    })
                    .collect();
            }
            Err(why) => self
                .warnings
                .push(format!("{why}: violated disruption budgets are unknown")),
        }
    }

    fn warn(&mut self, world: &World<'_>) {
        let mut owners = BTreeSet::new();
        for pod in &self.pods {
            let Some(owner) = pod.owner.as_ref().filter(|_| pod.verdict == PodVerdict::Evicted) else {
                continue;
            };
            if owner.evicted == owner.pods && owner.pods > 0 && owners.insert(&owner.uid) {
                let of = format!("{}/{}/{}", owner.kind.to_lowercase(), pod.namespace, owner.name);
                self.warnings.push(if owner.pods == 1 {
                    format!("the only pod of {of} would be evicted")
                } else {
                    format!("all {} pods of {of} would be evicted", owner.pods)
                });
            }
        }
        self.warnings.extend(world.troubles());
        let mut staying: BTreeMap<&Str, usize> = BTreeMap::new();
        for pod in &self.pods {
            if let Some(node) = &pod.node
                && pod.verdict == PodVerdict::Evicted
                && pod.gone_at.is_none()
            {
                *staying.entry(node).or_default() += 1;
            }
        }
        for (node, pods) in staying {
            let pods = if pods == 1 {
                "1 deleted pod stays there".to_owned()
            } else {
                format!("{pods} deleted pods stay there")
            };
            self.warnings.push(format!(
                "node/{node} is not responding: {pods}, with claims, until it responds or is marked out \
                of service"
            ));
        }
    }
}
