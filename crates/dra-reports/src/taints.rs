//! `kubectl dra taints`: every taint, with the devices, claims and pods that it affects and who tolerates it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::describe::toleration;
use super::{ObjectReference, Selection, Warnings, words};
use dra_allocator::devices::{Inventory, RuleSupport, bare_rule_is_about_all, keeps_off, rule_matches};
use dra_model::{
    Claim, Cluster, Component, DeviceId, Gate, Key, Kind, Meta, NO_EFFECT, NO_EXECUTE, Pod, Slice, Str,
    Taint, TaintRule, Time, Tolerations,
};
use dra_rules::eviction::{
    Release, Tolerance, count, due, lacks_effect, pending, rule_condition, rules_are_guessed, tolerance,
};
use dra_rules::reservation::users;
use dra_rules::scheduling::of_placed;
use dra_rules::simulation::{DeviceReference, drivers_selected};

/// The report.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct TaintList {
    /// Taints of rules by the rule's name, then those of slices by driver, pool, slice and device.
    pub items: Vec<TaintItem>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What is unknown.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Where a taint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum TaintSource {
    /// The driver, in a ResourceSlice.
    Slice,
    /// A DeviceTaintRule.
    Rule,
}

/// One taint: of a rule, or of the devices of one slice that have it since the same time.
#[macro_rules_attribute::apply(report)]
pub struct TaintItem {
    /// Where it comes from.
    pub source: TaintSource,
    /// Name of the DeviceTaintRule.
    pub rule: Option<Str>,
    /// Name of the ResourceSlice.
    pub slice: Option<Str>,
    /// Its key.
    pub key: Str,
    /// Its value.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub value: Str,
    /// Its effect.
    pub effect: Str,
    /// Since when.
    pub time_added: Option<Time>,
    /// Devices that have it: published ones, and with a rule also those that are only held.
    pub devices: Vec<DeviceReference>,
    /// Claims that hold one of the devices, by namespace and name.
    pub claims: Vec<Tolerated>,
    /// Pods that use such a claim, or are evicted with it, by namespace and name; absent when unknown.
    pub pods: Option<Vec<Tolerated>>,
    /// What a rule with the effect None would do with NoExecute, as kube-controller-manager counts. Absent when unknown, and where no
    /// controller counts.
    pub preview: Option<Preview>,
}

impl TaintItem {
    /// How many devices, claims and pods it names.
    fn size(&self) -> usize {
        1 + self.devices.len() + self.claims.len() + self.pods.as_ref().map_or(0, Vec::len)
    }
}

/// What kube-controller-manager counts for a rule with the effect None, as of now: its own count in the rule's status is not updated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Published devices that the rule selects.
    pub published_devices: usize,
    /// Entries of allocation results that the rule selects: a device that claims share counts for each.
    pub allocated_devices: usize,
    /// Pods that would be evicted.
    pub pods: usize,
    /// Namespaces of those pods.
    pub namespaces: usize,
    /// The message of the condition that the rule would get if it were created now.
    pub message: Str,
}

/// An object that a taint affects, and whether it tolerates it.
///
/// The tolerations are those of the allocation; a pod has those of its claims. A NoExecute taint is tolerated as the eviction
/// controller sees it, and so is one of effect None, which previews that; with NoSchedule, which evicts no pod, the seconds of a toleration mean
/// nothing.
#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Tolerated {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// Whether it tolerates the taint: a taint of effect NoExecute or None as the eviction controller sees NoExecute, any other as the scheduler does.
    pub tolerated: Tolerates,
    /// When the toleration ends. In the past when its seconds overflow.
    pub until: Option<Time>,
    /// Of a claim, the tolerations that match the taint, each once. Those without an effect do not stop an eviction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<String>,
    /// Of a claim, whether tolerations of a device match the taint and stop no eviction, as they lack effect NoExecute.
    #[serde(skip)]
    pub lacks_effect: bool,
    /// When kube-controller-manager evicts the pod, or begins to evict those of the claim, because of the taint; absent when it never
    /// does.
    pub due: Option<Time>,
}

/// Whether a taint is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum Tolerates {
    /// It is not.
    No,
    /// For some time.
    Until,
    /// Forever.
    Forever,
}

/// Kinds that the report needs.
pub const TAINTS_NEEDS: [Kind; 4] = [
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaim,
    Kind::Pod,
];

/// Devices, claims and pods that the taints of a report name altogether. Every rule may select every device.
const MOST_LISTED: usize = 1_000_000;

/// Tolerations of a taint that count as one named object.
const TOLERATIONS_PER_OBJECT: usize = 16;

/// The taints of `cluster`. Of `selection` the labels choose rules and slices, the namespace claims and pods.
pub fn taints(cluster: &Cluster, selection: &Selection, now: Time) -> TaintList {
    let mut listing = Listing::new(cluster, selection, now);
    listing.warn();
    let mut items = Vec::new();
    let devices = all_devices(cluster, &listing.inventory);
    let (mut listed, mut left_out) = (0, 0);
    let mut add = |item: &dyn Fn() -> TaintItem| {
        if listed + listing.meant.get() / TOLERATIONS_PER_OBJECT > MOST_LISTED {
            left_out += 1;
            return;
        }
        let item = item();
        listed += item.size();
        items.push(item);
    };
    for rule in cluster
        .rules()
        .filter(|rule| selection.has_labels(&rule.metadata))
    {
        let chosen = || devices.iter().filter(|device| rule_matches(rule, device));
        add(&|| TaintItem {
            rule: Some(rule.metadata.name.clone()),
            preview: listing.preview(rule),
            ..listing.item(TaintSource::Rule, &rule.spec.taint, chosen())
        });
    }
    for (slice, taint, devices) in published(cluster, selection) {
        add(&|| TaintItem {
            slice: Some(slice.metadata.name.clone()),
            ..listing.item(TaintSource::Slice, taint, devices.iter())
        });
    }
    listing.warn_of_bugs();
    if left_out > 0 {
        let text = words::taints_left_out(left_out, MOST_LISTED);
        listing.warnings.add(text);
    }
    TaintList {
        items,
        now,
        warnings: listing.warnings,
    }
}

/// That a rule, which names no driver, selects devices of several: pools of different drivers are often called as their node.
pub fn wide_rule(cluster: &Cluster, rule: &TaintRule) -> Option<String> {
    let selector = rule.spec.device_selector.as_ref()?;
    let drivers = selector
        .driver
        .is_none()
        .then(|| drivers_selected(cluster, rule).collect::<BTreeSet<Str>>())?;
    (drivers.len() > 1).then(|| words::wide_rule(&rule.metadata.name, &drivers))
}

/// Published devices by pool and place, and behind those of a pool the ones that are only held.
fn all_devices(cluster: &Cluster, inventory: &Inventory<'_>) -> Vec<DeviceId> {
    let mut devices: Vec<DeviceId> = Vec::new();
    for pool in cluster.pools() {
        devices.extend(pool.devices().map(|(_, device)| pool.device_id(&device.name)));
    }
    devices.extend(inventory.unpublished());
    // Stable: within a pool the order stays.
    devices.sort_by(|a, b| (&a.driver, &a.pool).cmp(&(&b.driver, &b.pool)));
    devices
}

/// Taints of slices, in the order of the slices: those of one slice that are equal are one.
fn published<'a>(
    cluster: &'a Cluster,
    selection: &Selection,
) -> Vec<(&'a Arc<Slice>, &'a Taint, Vec<DeviceId>)> {
    let mut found = Vec::new();
    for pool in cluster.pools() {
        for slice in &pool.slices {
            if !selection.has_labels(&slice.metadata) {
                continue;
            }
            let mut of_slice: Vec<(&Taint, Vec<DeviceId>)> = Vec::new();
            // Only looked up in, never walked.
            let mut places: HashMap<&Taint, usize> = HashMap::new();
            for device in &slice.spec.devices {
                let id = pool.device_id(&device.name);
                for taint in &device.taints {
                    let place = *places.entry(taint).or_insert(of_slice.len());
                    match of_slice.get_mut(place) {
                        // A device may have the same taint twice.
                        Some((_, devices)) if devices.last() == Some(&id) => {}
                        Some((_, devices)) => devices.push(id.clone()),
                        None => of_slice.push((taint, vec![id.clone()])),
                    }
                }
            }
            found.extend(
                of_slice
                    .into_iter()
                    .map(|(taint, devices)| (*slice, taint, devices)),
            );
        }
    }
    found
}

struct Listing<'a> {
    cluster: &'a Cluster,
    selection: &'a Selection,
    inventory: Inventory<'a>,
    release: Release,
    /// Devices that rules do not apply to.
    without_rules: HashSet<DeviceId>,
    /// Tolerations that are meant for the taints.
    meant: Cell<usize>,
    now: Time,
    warnings: Warnings,
}

/// What a claim has to do with a taint, over all of its devices.
struct Held<'a> {
    claim: &'a Claim,
    /// What ends first.
    tolerance: Tolerance,
    tolerations: Vec<String>,
    /// Whether those of a device match the taint and stop no eviction.
    lacks_effect: bool,
    /// The same texts.
    known: HashSet<String>,
    /// The same over the devices whose pods the taint evicts.
    evicts: Option<Tolerance>,
}

/// What a pod has to do with a taint, over all of its claims.
struct Using<'a> {
    pod: &'a Pod,
    /// What ends first.
    tolerance: Tolerance,
    due: Option<Time>,
}

impl<'a> Listing<'a> {
    fn new(cluster: &'a Cluster, selection: &'a Selection, now: Time) -> Self {
        let inventory = Inventory::of(cluster);
        let release = Release::of(cluster.environment());
        let without_rules = match release.rules {
            RuleSupport::PublishedOnly => inventory.unpublished().into_iter().collect(),
            RuleSupport::Off | RuleSupport::On => HashSet::new(),
        };
        Self {
            cluster,
            selection,
            inventory,
            release,
            without_rules,
            meant: Cell::new(0),
            now,
            warnings: Warnings::default(),
        }
    }

    fn warn(&mut self) {
        self.warnings
            .unknown_without(self.cluster, &words::UNKNOWN_TAINTS);
        let environment = self.cluster.environment();
        let rules = environment.gate(Component::ControllerManager, Gate::DRADeviceTaintRules);
        if !rules.enabled && self.cluster.count(Kind::DeviceTaintRule) > 0 {
            self.warnings.add(words::rules_are_off(&rules.evidence));
        }
        // The controller writes the status of each rule.
        let mut all = self.cluster.rules();
        if rules_are_guessed(environment) && all.any(|rule| rule.status.conditions.is_empty()) {
            self.warnings.add(words::rules_are_guessed(&rules.evidence));
        }
        for text in self
            .cluster
            .rules()
            .filter_map(|rule| wide_rule(self.cluster, rule))
        {
            self.warnings.add(text);
        }
        // What only the scheduler takes for a rule about all devices has no devices here.
        let is_bare =
            |rule: &&Arc<TaintRule>| rule.spec.device_selector.is_none() && keeps_off(&rule.spec.taint);
        if bare_rule_is_about_all(environment)
            && environment.enabled(Component::Scheduler, Gate::DRADeviceTaintRules)
            && let Some(rule) = self.cluster.rules().find(is_bare)
        {
            self.warnings.add(words::bare_rule(&rule.metadata.name));
        }
    }

    fn warn_of_bugs(&mut self) {
        for exposure in of_placed(self.cluster, None) {
            if let Some(text) = exposure.of_pods(self.cluster, self.selection.namespace.as_ref()) {
                self.warnings.add(text);
            }
        }
    }

    fn item<'d>(
        &self,
        source: TaintSource,
        taint: &Taint,
        devices: impl Iterator<Item = &'d DeviceId>,
    ) -> TaintItem {
        let mut references = Vec::new();
        let mut claims: BTreeMap<Key, Held<'_>> = BTreeMap::new();
        for device in devices {
            references.push(DeviceReference::from(device.clone()));
            let evicts = self.evicts(source, taint, device);
            for holder in self.inventory.holders(device) {
                let metadata = &holder.claim.metadata;
                let elsewhere = |wanted: &Str| *wanted != metadata.namespace;
                if self.selection.namespace.as_ref().is_some_and(elsewhere) {
                    continue;
                }
                let tolerations = &holder.result.tolerations;
                let own = tolerated_by(taint, tolerations);
                let held = claims.entry(metadata.key()).or_insert_with(|| Held {
                    claim: holder.claim,
                    tolerance: own,
                    tolerations: Vec::new(),
                    lacks_effect: false,
                    known: HashSet::new(),
                    evicts: None,
                });
                held.tolerance = lesser(held.tolerance, own);
                held.lacks_effect |= taint.effect == NO_EXECUTE && lacks_effect(taint, tolerations);
                if evicts {
                    held.evicts = Some(held.evicts.map_or(own, |before| lesser(before, own)));
                }
                let mut places: Vec<usize> = tolerations.meant_for(taint).flatten().copied().collect();
                self.meant.set(self.meant.get() + places.len());
                places.sort_unstable();
                for text in places.into_iter().map(|place| toleration(&tolerations[place])) {
                    if held.known.insert(text.clone()) {
                        held.tolerations.push(text);
                    }
                }
            }
        }
        TaintItem {
            source,
            rule: None,
            slice: None,
            key: taint.key.clone(),
            value: taint.value.clone(),
            effect: taint.effect.clone(),
            time_added: taint.time_added,
            devices: references,
            claims: claims
                .values()
                .map(|held| Tolerated {
                    tolerations: held.tolerations.clone(),
                    lacks_effect: held.lacks_effect,
                    due: self
                        .due(held, taint)
                        .filter(|_| self.release.looks_at(held.claim)),
                    ..Tolerated::of(&held.claim.metadata, taint, held.tolerance)
                })
                .collect(),
            pods: self.pods(claims.values(), taint).map(|pods| {
                let pods = pods.values().map(|using| Tolerated {
                    due: using.due,
                    ..Tolerated::of(&using.pod.metadata, taint, using.tolerance)
                });
                pods.collect()
            }),
            preview: None,
        }
    }

    /// What the rule would do if its effect was not None.
    fn preview(&self, rule: &TaintRule) -> Option<Preview> {
        let is_known = [Kind::ResourceSlice, Kind::ResourceClaim, Kind::Pod]
            .into_iter()
            .all(|kind| self.cluster.gap(kind, "").is_none());
        if rule.spec.taint.effect != NO_EFFECT || self.release.rules != RuleSupport::On || !is_known {
            return None;
        }
        let counts = count(self.cluster, rule, self.release);
        Some(Preview {
            published_devices: counts.published,
            allocated_devices: counts.allocated,
            pods: counts.pods,
            namespaces: counts.namespaces,
            message: rule_condition(rule, counts, self.now).message,
        })
    }

    /// Whether the controller evicts pods because the device has the taint.
    fn evicts(&self, source: TaintSource, taint: &Taint, device: &DeviceId) -> bool {
        let counts = match source {
            TaintSource::Slice => true,
            TaintSource::Rule => {
                self.release.rules != RuleSupport::Off && !self.without_rules.contains(device)
            }
        };
        counts && self.release.evicts && taint.effect == NO_EXECUTE
    }

    /// When the pods of the claim have to go because of the taint. The API server sets the time of every taint; one without counts
    /// from now on.
    fn due(&self, held: &Held<'_>, taint: &Taint) -> Option<Time> {
        due(taint.time_added.unwrap_or(self.now), held.evicts?)
    }

    /// Pods that use the claims, and those that are evicted with them; absent when pods could not be read.
    fn pods<'c>(
        &self,
        claims: impl Iterator<Item = &'c Held<'c>>,
        taint: &Taint,
    ) -> Option<BTreeMap<Key, Using<'_>>> {
        let mut pods: BTreeMap<Key, Using<'_>> = BTreeMap::new();
        for held in claims {
            let using = |pod| Using {
                pod,
                tolerance: held.tolerance,
                due: None,
            };
            for pod in users(self.cluster, held.claim).ok()? {
                let found = pods.entry(pod.key()).or_insert_with(|| using(pod));
                found.tolerance = lesser(found.tolerance, held.tolerance);
            }
            let Some(instant) = self.due(held, taint) else {
                continue;
            };
            for key in pending(self.cluster, held.claim, self.release) {
                let Some(pod) = self.cluster.pod(&key) else {
                    continue;
                };
                let found = pods.entry(key).or_insert_with(|| using(pod));
                found.due = Some(found.due.map_or(instant, |before| before.min(instant)));
            }
        }
        Some(pods)
    }
}

/// How an allocation with these tolerations tolerates the taint, whatever its effect.
fn tolerated_by(taint: &Taint, tolerations: &Tolerations) -> Tolerance {
    if taint.effect == NO_EXECUTE {
        tolerance(taint, tolerations)
    } else if taint.effect == NO_EFFECT {
        // It previews what the taint would evict.
        let effect = NO_EXECUTE.into();
        tolerance(
            &Taint {
                effect,
                ..taint.clone()
            },
            tolerations,
        )
    } else if tolerations.tolerate(taint) {
        Tolerance::Forever
    } else {
        Tolerance::Not
    }
}

/// The tolerance that ends first.
fn lesser(a: Tolerance, b: Tolerance) -> Tolerance {
    let ends = |tolerance: Tolerance| match tolerance {
        Tolerance::Not => (0, 0),
        Tolerance::For(nanoseconds) => (0, nanoseconds),
        Tolerance::Forever => (1, 0),
    };
    if ends(b) < ends(a) { b } else { a }
}

impl Tolerated {
    fn of(metadata: &Meta, taint: &Taint, tolerance: Tolerance) -> Self {
        let (tolerated, until) = match tolerance {
            Tolerance::Not => (Tolerates::No, None),
            Tolerance::Forever => (Tolerates::Forever, None),
            Tolerance::For(_) => (
                Tolerates::Until,
                taint
                    .time_added
                    .filter(|_| taint.effect == NO_EXECUTE)
                    .and_then(|added| due(added, tolerance)),
            ),
        };
        Self {
            object: ObjectReference::of(metadata),
            tolerated,
            until,
            tolerations: Vec::new(),
            lacks_effect: false,
            due: None,
        }
    }
}

#[cfg(test)]
mod tests;
