//! `kubectl dra taints`: every taint, with the devices, claims and pods that it is about and who tolerates it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::describe::toleration;
use super::{DeviceReference, Inventory, ObjectReference, Selection, Warnings};
use crate::eviction::{
    NO_EXECUTE, Release, RuleSupport, Tolerance, due, pending, rule_matches, tolerance, tolerates,
};
use crate::model::{
    Claim, Cluster, Component, DeviceId, Gate, Key, Kind, Meta, Pod, Slice, Str, Taint, Time, Toleration,
};
use crate::reservation::users;

/// The report.
#[derive(Debug, Serialize)]
pub struct TaintList {
    /// Taints of rules by the rule's name, then those of slices by driver, pool, slice and device.
    pub items: Vec<TaintItem>,
    /// The time that ages count from.
    #[serde(skip)]
    pub now: Time,
    /// What could not be found out.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// Where a taint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TaintSource {
    /// The driver, in a ResourceSlice.
    Slice,
    /// A DeviceTaintRule.
    Rule,
}

/// One taint: of a rule, or of the devices of one slice that have it since the same time.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaintItem {
    /// Where it comes from.
    pub source: TaintSource,
    /// The rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Str>,
    /// The slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Str>,
    /// Its key.
    pub key: Str,
    /// Its value.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub value: Str,
    /// Its effect.
    pub effect: Str,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Time>,
    /// Devices that have it: published ones, and with a rule also those that are only held.
    pub devices: Vec<DeviceReference>,
    /// Claims that hold one of them, by namespace and name.
    pub claims: Vec<Tolerated>,
    /// Pods that use such a claim, or are evicted with it, by namespace and name; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<Vec<Tolerated>>,
}

/// An object that a taint is about, and whether it tolerates it.
///
/// The tolerations are those of the allocation; a pod has those of its claims. A NoExecute taint is tolerated as the eviction
/// controller sees it; with another effect, which evicts nobody, the seconds of a toleration mean nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tolerated {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectReference,
    /// Whether it tolerates the taint.
    pub tolerated: Tolerates,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Of a claim, the tolerations that match the taint, each once. Those without an effect do not stop an eviction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<String>,
    /// When kube-controller-manager evicts the pod, or begins to evict those of the claim, because of the taint; absent when it never
    /// does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
}

/// Whether a taint is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Tolerates {
    /// It is not.
    No,
    /// For some time.
    Until,
    /// For good.
    Forever,
}

/// Kinds that the report is made from.
pub const TAINTS_NEEDS: [Kind; 4] = [
    Kind::ResourceSlice,
    Kind::DeviceTaintRule,
    Kind::ResourceClaim,
    Kind::Pod,
];

/// The taints of `cluster`. Of `selection` the labels choose rules and slices, the namespace claims and pods.
pub fn taints(cluster: &Cluster, selection: &Selection, now: Time) -> TaintList {
    let mut listing = Listing::new(cluster, selection, now);
    listing.warn();
    let mut items = Vec::new();
    let devices = all_devices(cluster, &listing.inventory);
    for rule in cluster.rules() {
        if !selection.has_labels(&rule.metadata) {
            continue;
        }
        let chosen = devices.iter().filter(|device| rule_matches(rule, device));
        let item = TaintItem {
            rule: Some(rule.metadata.name.clone()),
            ..listing.item(TaintSource::Rule, &rule.spec.taint, chosen)
        };
        items.push(item);
    }
    for (slice, taint, devices) in published(cluster, selection) {
        let item = TaintItem {
            slice: Some(slice.metadata.name.clone()),
            ..listing.item(TaintSource::Slice, taint, devices.iter())
        };
        items.push(item);
    }
    TaintList {
        items,
        now,
        warnings: listing.warnings,
    }
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
            for device in &slice.spec.devices {
                let id = pool.device_id(&device.name);
                for taint in &device.taints {
                    match of_slice.iter_mut().find(|(known, _)| *known == taint) {
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
    /// Devices on which rules are worth nothing.
    without_rules: HashSet<DeviceId>,
    now: Time,
    warnings: Warnings,
}

/// What a claim has to do with a taint, over all of its devices.
struct Held<'a> {
    claim: &'a Claim,
    /// What ends first.
    tolerance: Tolerance,
    tolerations: Vec<String>,
    /// The same over the devices from which the taint evicts pods.
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
            now,
            warnings: Warnings::default(),
        }
    }

    fn warn(&mut self) {
        for (kind, what) in [
            (Kind::ResourceSlice, "taints of slices are unknown"),
            (Kind::DeviceTaintRule, "taints of rules are unknown"),
            (
                Kind::ResourceClaim,
                "which claims hold tainted devices is unknown",
            ),
            (Kind::Pod, "which pods use tainted devices is unknown"),
        ] {
            if let Some(gap) = self.cluster.gap(kind, "") {
                self.warnings.unknown(what, gap);
            }
        }
        let environment = self.cluster.environment();
        let rules = environment.gate(Component::ControllerManager, Gate::DRADeviceTaintRules);
        if !rules.enabled && self.cluster.count(Kind::DeviceTaintRule) > 0 {
            self.warnings.add(format!(
                "{} is off in kube-controller-manager ({}): its rules evict nobody",
                Gate::DRADeviceTaintRules,
                rules.evidence
            ));
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
                    evicts: None,
                });
                held.tolerance = lesser(held.tolerance, own);
                if evicts {
                    held.evicts = Some(held.evicts.map_or(own, |before| lesser(before, own)));
                }
                for text in tolerations
                    .iter()
                    .filter(|one| tolerates(one, taint))
                    .map(toleration)
                {
                    if !held.tolerations.contains(&text) {
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
                    due: self.due(held, taint),
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
        }
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
fn tolerated_by(taint: &Taint, tolerations: &[Toleration]) -> Tolerance {
    if taint.effect == NO_EXECUTE {
        tolerance(taint, tolerations)
    } else if tolerations.iter().any(|toleration| tolerates(toleration, taint)) {
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
                taint.time_added.and_then(|added| due(added, tolerance)),
            ),
        };
        Self {
            object: ObjectReference::of(metadata),
            tolerated,
            until,
            tolerations: Vec::new(),
            due: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{World, json_of, now, status, texts};
    use super::*;

    fn result(device: &str, tolerations: &Value) -> Value {
        json!({"request": "r", "driver": "d", "pool": "node-1", "device": device, "tolerations": tolerations})
    }

    fn tainted(name: &str) -> Value {
        json!({"name": name, "taints": [
            {"key": "k", "effect": "NoExecute", "timeAdded": "2026-11-21T11:00:00Z"},
            {"key": "l", "effect": "NoSchedule", "timeAdded": "2026-11-21T11:00:00Z"}]})
    }

    #[test]
    fn a_row_says_who_tolerates_the_taint_until_when() {
        let for_good = json!([{"operator": "Exists", "effect": "NoExecute"}]);
        let for_a_minute =
            json!([{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]);
        let placed = json!([{"operator": "Exists"}]);
        let cluster = World::default()
            .slice(
                "node-1",
                &json!([tainted("a"), tainted("b"), tainted("c"), {"name": "d"}]),
            )
            .claim(
                "1",
                &json!({}),
                &status(&json!([result("a", &for_good)]), &["good"]),
            )
            .claim(
                "2",
                &json!({}),
                &status(&json!([result("b", &for_a_minute)]), &["good", "both"]),
            )
            .claim("3", &json!({}), &status(&json!([result("c", &placed)]), &[]))
            .pod("good", &["1"])
            .pod("both", &["1", "2"])
            .build();
        let report = taints(&cluster, &Selection::default(), now());
        let tolerated = |name: &str, tolerated: &str| json!({"namespace": "n", "name": name, "uid": format!("{name}-uid"), "tolerated": tolerated});
        let with = |mut object: Value, fields: Value| {
            let fields = fields.as_object().unwrap().clone();
            object.as_object_mut().unwrap().extend(fields);
            object
        };
        let first = with(
            tolerated("1", "Forever"),
            json!({"tolerations": [":NoExecute op=Exists"]}),
        );
        let minute = json!({"until": "2026-11-21T11:01:00Z", "due": "2026-11-21T11:01:00Z"});
        let second = with(
            with(tolerated("2", "Until"), minute.clone()),
            json!({"tolerations": ["k:NoExecute op=Exists for 60s"]}),
        );
        // An empty effect lets the scheduler use the device, and does not keep pods from being evicted.
        let any_effect = json!({"tolerations": ["op=Exists"]});
        let third = with(
            with(tolerated("3", "No"), any_effect.clone()),
            json!({"due": "2026-11-21T11:00:00Z"}),
        );
        let both = with(tolerated("both", "Until"), minute);
        let device = |name: &str| json!({"driver": "d", "pool": "node-1", "device": name});
        assert_eq!(
            json_of(&report),
            json!({"items": [
                {
                    "source": "Slice", "slice": "node-1-slice", "key": "k", "effect": "NoExecute",
                    "timeAdded": "2026-11-21T11:00:00Z",
                    "devices": [device("a"), device("b"), device("c")],
                    "claims": [first, second, third],
                    "pods": [both, tolerated("good", "Forever")],
                },
                {
                    "source": "Slice", "slice": "node-1-slice", "key": "l", "effect": "NoSchedule",
                    "timeAdded": "2026-11-21T11:00:00Z",
                    "devices": [device("a"), device("b"), device("c")],
                    // A NoExecute toleration says nothing about NoSchedule.
                    "claims": [tolerated("1", "No"), tolerated("2", "No"),
                               with(tolerated("3", "Forever"), any_effect)],
                    "pods": [tolerated("both", "No"), tolerated("good", "No")],
                },
            ]})
        );
    }

    #[test]
    fn rules_reach_held_devices_that_nobody_publishes() {
        let cluster = World::default()
            .slice("node-1", &json!([{"name": "a"}, {"name": "b"}]))
            .slice("node-2", &json!([{"name": "a"}]))
            .claim(
                "1",
                &json!({}),
                &status(&json!([result("gone", &json!([]))]), &[]),
            )
            .rule("all", &json!({}), "NoExecute")
            .rule("none", &Value::Null, "NoExecute")
            .rule("one", &json!({"pool": "node-2"}), "None")
            .build();
        let report = taints(&cluster, &Selection::default(), now());
        let rows: Vec<_> = report
            .items
            .iter()
            .map(|item| {
                let devices: Vec<_> = item.devices.iter().map(ToString::to_string).collect();
                format!("{:?} {} {}", item.rule, devices.join(","), item.claims.len())
            })
            .collect();
        assert_eq!(
            rows,
            [
                r#"Some("all") d/node-1/a,d/node-1/b,d/node-1/gone,d/node-2/a 1"#,
                r#"Some("none")  0"#,
                r#"Some("one") d/node-2/a 0"#,
            ]
        );
    }

    #[test]
    fn pods_are_due_as_the_release_evicts_them() {
        let cluster = |minor: u32| {
            World::default()
                .version(minor)
                .slice("node-1", &json!([tainted("a")]))
                .claim(
                    "1",
                    &json!({}),
                    &status(&json!([result("a", &json!([]))]), &["listed"]),
                )
                .claim(
                    "2",
                    &json!({}),
                    &status(&json!([result("gone", &json!([]))]), &["of-gone"]),
                )
                .pod("listed", &["1"])
                .pod("unlisted", &["1"])
                .pod("of-gone", &["2"])
                .rule("all", &json!({}), "NoExecute")
                .rule("later", &json!({}), "NoSchedule")
                .build()
        };
        let due = |minor: u32| -> Vec<String> {
            let report = taints(&cluster(minor), &Selection::default(), now());
            let of_item = |item: &TaintItem| {
                let pods = item.pods.iter().flatten();
                let due: Vec<_> = pods
                    .filter_map(|pod| Some(format!("{} {}", pod.object.name, pod.due?)))
                    .collect();
                format!("{}: {}", item.key, due.join(", "))
            };
            report.items.iter().map(of_item).collect()
        };
        let (of_slice, of_rule) = ("listed 2026-11-21T11:00:00Z", "listed 2026-11-21T11:30:00Z");
        let both = format!("all: {of_rule}, of-gone 2026-11-21T11:30:00Z");
        let of_slices = [format!("k: {of_slice}"), "l: ".to_owned()];
        let rows = |all: &str| [&[all.to_owned(), "later: ".to_owned()], &of_slices[..]].concat();
        assert_eq!(due(37), rows(&both));
        // Release 1.34 put the taints of rules into slices.
        assert_eq!(due(34), rows(&format!("all: {of_rule}")));
    }

    #[test]
    fn a_taint_of_another_time_or_slice_is_another_row() {
        let at = |time: &str| json!({"key": "k", "effect": "NoExecute", "timeAdded": time});
        let (early, late) = (at("2026-11-21T11:00:00Z"), at("2026-11-21T11:00:01Z"));
        let cluster = World::default()
            .slice(
                "node-2",
                &json!([{"name": "a", "taints": [early]}, {"name": "b", "taints": [late, early]}]),
            )
            .slice("node-1", &json!([{"name": "a", "taints": [early, early]}]))
            .build();
        let report = taints(&cluster, &Selection::default(), now());
        let rows: Vec<_> = report
            .items
            .iter()
            .map(|item| {
                let devices: Vec<_> = item.devices.iter().map(ToString::to_string).collect();
                devices.join(",")
            })
            .collect();
        assert_eq!(rows, ["d/node-1/a", "d/node-2/a,d/node-2/b", "d/node-2/b"]);
    }

    #[test]
    fn unread_pods_are_unknown_and_a_namespace_restricts_claims() {
        let world = || {
            World::default().slice("node-1", &json!([tainted("a")])).claim(
                "1",
                &json!({}),
                &status(&json!([result("a", &json!([]))]), &[]),
            )
        };
        let hidden = taints(&world().without(Kind::Pod).build(), &Selection::default(), now());
        assert_eq!(hidden.items[0].pods, None);
        assert_eq!(
            texts(&hidden.warnings),
            ["which pods use tainted devices is unknown: pods could not be read: forbidden"]
        );
        let elsewhere = Selection {
            namespace: Some("m".into()),
            ..Selection::default()
        };
        let restricted = taints(&world().build(), &elsewhere, now());
        assert!(restricted.items[0].claims.is_empty());
        assert_eq!(restricted.items[0].devices.len(), 1);
    }
}
