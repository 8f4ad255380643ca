//! Object metadata and the identities built from it.

use std::fmt;
use std::num::NonZeroU32;

use macro_rules_attribute::apply;
use serde::Deserialize;

use super::{Str, Time};
use crate::decoded::decoded;
use dra_values::decode::{field, lookup, or_default, shared};

/// Namespace and name of a namespaced object. Orders by namespace, then name, as kubectl lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("{namespace}/{name}")]
pub struct Key {
    /// The namespace.
    pub namespace: Str,
    /// The name.
    pub name: Str,
}

impl Key {
    /// The key of the object `name` in `namespace`.
    pub fn new(namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

/// The part of `metadata` that questions about devices need.
#[apply(decoded)]
pub struct Meta {
    /// Empty for cluster-scoped objects.
    pub namespace: Str,
    /// The name.
    #[serde(deserialize_with = "or_default")]
    pub name: Str,
    /// Prefix of a generated name; empty if the name was given.
    #[serde(deserialize_with = "or_default")]
    pub generate_name: Str,
    /// Identity over time: a recreated object of the same name has another one.
    #[serde(deserialize_with = "or_default")]
    pub uid: Str,
    /// Version that a write locks on.
    #[serde(deserialize_with = "or_default")]
    pub resource_version: Str,
    /// Counts changes of the spec, where the kind keeps such a count.
    pub generation: i64,
    /// Time at which the object was created.
    pub creation_timestamp: Option<Time>,
    /// Set once deletion was asked for.
    pub deletion_timestamp: Option<Time>,
    /// Grace period of that deletion, in seconds.
    pub deletion_grace_period_seconds: Option<i64>,
    /// Sorted by key.
    pub labels: Vec<(Str, Str)>,
    /// Annotations of `resource.kubernetes.io` and some others, sorted by key: no rule reads another one.
    #[serde(deserialize_with = "resource_annotations")]
    pub annotations: Vec<(Str, Str)>,
    /// Owners, in the order of the object.
    pub owner_references: Vec<OwnerReference>,
    /// Finalizers that delay the deletion.
    pub finalizers: Vec<Str>,
    /// Writer of the object.
    #[serde(rename = "managedFields", deserialize_with = "managed")]
    pub managed: Managed,
}

/// The used part of an object's managed fields. It takes few bytes, as there are many objects.
#[derive(Clone, Debug, Default)]
pub struct Managed {
    /// The second since the Unix epoch in which kube-controller-manager set fields of the status last that are still its own.
    pub status_set_by_built_in: Option<NonZeroU32>,
    /// True if the object has managed fields at all: what kubectl prints has none unless it is asked.
    pub is_known: bool,
    #[expect(
        clippy::box_collection,
        reason = "few objects have any, and there are many objects"
    )]
    old_writers: Option<Box<Vec<Writer>>>,
}

impl Managed {
    /// Those who wrote it last through a version of the API that goes, and who have not written the same through another one since.
    pub fn old_writers(&self) -> &[Writer] {
        self.old_writers.as_deref().map_or(&[], Vec::as_slice)
    }
}

/// A manager that wrote an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Name of the manager.
    pub manager: Str,
    /// Group and version that it used.
    pub api_version: Str,
    /// Time at which it did last.
    pub time: Option<Time>,
}

/// API versions that will no longer be served.
const OLD_VERSIONS: [&str; 5] = [
    "resource.k8s.io/v1alpha3",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1beta2",
    "scheduling.k8s.io/v1alpha1",
    "scheduling.k8s.io/v1alpha2",
];

/// The manager of what kube-controller-manager writes: the name of its program.
const BUILT_IN: &str = "kube-controller-manager";

/// Prefix of UIDs that this program creates.
const WRITTEN: &str = "manifest/";
const MADE_UP: &str = "made/";

/// The UID of an object that stands in a manifest only.
pub fn uid_of_manifest(object: &str) -> String {
    format!("{WRITTEN}{object}")
}

/// The UID of an object that only a simulation has made.
pub fn uid_of_simulation(object: &str) -> String {
    format!("{MADE_UP}{object}")
}

impl Meta {
    /// Returns whether only a simulation has made the object.
    pub fn is_made_up(&self) -> bool {
        self.uid.starts_with(MADE_UP)
    }

    /// Returns whether the object is in no cluster: what the API server has created has a UID of its own.
    pub fn is_only_written(&self) -> bool {
        self.uid.is_empty() || self.uid.starts_with(WRITTEN) || self.is_made_up()
    }

    /// Returns whether the object is a manifest's, or was made for one: it can neither be waited for nor ended.
    pub fn is_of_manifest(&self) -> bool {
        self.uid.starts_with(WRITTEN) || self.is_made_up()
    }

    /// Returns where an object of this name is, in the same namespace.
    pub fn beside(&self, name: &Str) -> Key {
        Key::new(self.namespace.clone(), name.clone())
    }

    /// The prefix of the name, where the name is generated.
    pub fn generate_name(&self) -> Option<&str> {
        Some(self.generate_name.as_str()).filter(|prefix| !prefix.is_empty())
    }

    /// Namespace and name.
    pub fn key(&self) -> Key {
        self.beside(&self.name)
    }

    /// The owner that manages this object. Mirrors `metav1.GetControllerOf`.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller)
    }

    /// Returns whether both have the same controller.
    pub fn is_sibling(&self, other: &Self) -> bool {
        let same =
            |one: &OwnerReference, other: &OwnerReference| one.uid == other.uid && one.name == other.name;
        let of_other = other.controller();
        self.controller()
            .is_some_and(|own| of_other.is_some_and(|other| same(own, other)))
    }

    /// Returns whether deletion was asked for.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The value of label `key`.
    pub fn label(&self, key: &str) -> Option<&Str> {
        lookup(&self.labels, key)
    }

    /// The value of the annotation `key`: one of `resource.kubernetes.io`, the group of a pod of another scheduler, or what updates a node says.
    pub fn annotation(&self, key: &str) -> Option<&Str> {
        lookup(&self.annotations, key)
    }
}

/// Annotations of other domains that a rule reads.
const READ: [&str; 6] = [
    "kueue.x-k8s.io/pod-group-fast-admission",
    "kueue.x-k8s.io/pod-group-total-count",
    "machineconfiguration.openshift.io/state",
    "pod-group-name",
    "scheduling.k8s.io/group-name",
    "weave.works/kured-reboot-in-progress",
];

fn resource_annotations<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(Str, Str)>, D::Error> {
    struct Annotations;
    impl<'de> serde::de::Visitor<'de> for Annotations {
        type Value = Vec<(Str, Str)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of strings")
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut list = Vec::new();
            while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
                if key.starts_with("resource.kubernetes.io/") || READ.contains(&key.as_ref()) {
                    let value = map
                        .next_value::<Option<std::borrow::Cow<'_, str>>>()?
                        .unwrap_or_default();
                    list.push((shared(&key), shared(&value)));
                } else {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
            list.sort();
            list.shrink_to_fit();
            Ok(list)
        }
    }
    deserializer.deserialize_any(Annotations)
}

fn managed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Managed, D::Error> {
    /// An entry of managed fields, without the fields.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Entry<'a> {
        #[serde(borrow)]
        manager: Option<std::borrow::Cow<'a, str>>,
        #[serde(borrow)]
        api_version: Option<std::borrow::Cow<'a, str>>,
        #[serde(borrow)]
        subresource: Option<std::borrow::Cow<'a, str>>,
        time: Option<Time>,
    }
    impl Entry<'_> {
        fn is_old(&self) -> bool {
            self.api_version
                .as_deref()
                .is_some_and(|version| OLD_VERSIONS.contains(&version))
        }

        /// Returns whether `newer` says that the same manager uses another version by now.
        fn is_superseded_by(&self, newer: &Self) -> bool {
            self.manager == newer.manager
                && self.subresource == newer.subresource
                && self.api_version != newer.api_version
                && self.time <= newer.time
        }
    }
    struct Entries;
    impl<'de> serde::de::Visitor<'de> for Entries {
        type Value = Managed;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of managed fields")
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(Managed::default())
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut managed = Managed::default();
            let mut entries = Vec::new();
            while let Some(entry) = seq.next_element::<Entry<'_>>()? {
                managed.is_known = true;
                if entry.manager.as_deref() == Some(BUILT_IN)
                    && entry.subresource.as_deref() == Some("status")
                {
                    let second = entry
                        .time
                        .and_then(|time| u32::try_from(time.unix_seconds()).ok());
                    let last = &mut managed.status_set_by_built_in;
                    *last = (*last).max(second.and_then(NonZeroU32::new));
                }
                entries.push(entry);
            }
            let old = |entry: &&Entry<'_>| {
                entry.is_old() && !entries.iter().any(|newer| entry.is_superseded_by(newer))
            };
            let writers: Vec<Writer> = entries
                .iter()
                .filter(old)
                .map(|entry| Writer {
                    manager: shared(entry.manager.as_deref().unwrap_or_default()),
                    api_version: shared(entry.api_version.as_deref().unwrap_or_default()),
                    time: entry.time,
                })
                .collect();
            managed.old_writers = (!writers.is_empty()).then(|| Box::new(writers));
            Ok(managed)
        }
    }
    deserializer.deserialize_any(Entries)
}

/// One owner of an object.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerReference {
    /// Group and version, as written.
    pub api_version: Str,
    /// Kind of the owner.
    pub kind: Str,
    /// Name of the owner, in the same namespace.
    #[serde(deserialize_with = "or_default")]
    pub name: Str,
    /// UID of the owner.
    #[serde(deserialize_with = "or_default")]
    pub uid: Str,
    /// True if this owner manages the object.
    pub controller: bool,
}

/// A condition, as conditions of claims' devices, rules, pods and groups look alike.
#[apply(decoded)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// Type of the condition.
    #[serde(rename = "type", deserialize_with = "field")]
    pub type_: Str,
    /// `True`, `False` or `Unknown`.
    pub status: Str,
    /// Machine-readable cause.
    pub reason: Str,
    /// Text for people.
    #[serde(deserialize_with = "or_default")]
    pub message: Str,
    /// Time at which the status changed last.
    pub last_transition_time: Option<Time>,
    /// Time at which the kubelet last reported the condition, which only those of nodes have.
    pub last_heartbeat_time: Option<Time>,
    /// Generation that the condition speaks of; 0 where it says none.
    pub observed_generation: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_that_wrote_through_an_old_version_and_not_since_is_kept() {
        let writers = |entries: serde_json::Value| -> Vec<String> {
            let meta: Meta = serde_json::from_value(serde_json::json!({"managedFields": entries})).unwrap();
            let writers = meta.managed.old_writers().iter();
            writers
                .map(|writer| format!("{} {}", writer.manager, writer.api_version))
                .collect()
        };
        let entry = |manager: &str, version: &str, subresource: &str, day: u32| {
            serde_json::json!({"manager": manager, "apiVersion": version, "subresource": subresource, "operation": "Update",
                "time": format!("2026-11-{day:02}T00:00:00Z"), "fieldsV1": {"f:spec": {}}})
        };
        let (old, new) = ("resource.k8s.io/v1beta1", "resource.k8s.io/v1");
        assert_eq!(
            writers(serde_json::json!([
                entry("a", old, "", 1),
                entry("b", new, "", 1)
            ])),
            ["a resource.k8s.io/v1beta1"]
        );
        assert!(
            writers(serde_json::json!([
                entry("a", old, "", 1),
                entry("a", new, "", 2)
            ]))
            .is_empty()
        );
        assert_eq!(
            writers(serde_json::json!([
                entry("a", old, "", 3),
                entry("a", new, "", 2)
            ]))
            .len(),
            1
        );
        assert_eq!(
            writers(serde_json::json!([
                entry("a", old, "status", 1),
                entry("a", new, "", 2)
            ]))
            .len(),
            1
        );
        assert!(writers(serde_json::json!([entry("a", "v1", "", 1)])).is_empty());
        assert!(!Meta::default().managed.is_known);
    }

    #[test]
    fn metadata_keeps_only_annotations_that_a_rule_reads() {
        let meta: Meta = serde_json::from_str(
            r#"{"name":"c","namespace":"n","annotations":{"x":"y","resource.kubernetes.io/pod-claim-name":"gpu"},
                "labels":null,"ownerReferences":[{"kind":"Pod","name":"p","uid":"u","controller":true}]}"#,
        )
        .unwrap();
        assert_eq!(meta.annotations.len(), 1);
        assert_eq!(
            meta.annotation("resource.kubernetes.io/pod-claim-name"),
            Some(&Str::from("gpu"))
        );
        assert_eq!(meta.controller().map(|owner| owner.name.as_str()), Some("p"));
        assert_eq!(meta.key().to_string(), "n/c");
    }

    #[test]
    fn of_managed_fields_it_is_kept_when_the_built_in_controllers_set_the_status_last() {
        let read = |fields: &str| {
            let text = format!(r#"{{"name":"c","managedFields":{fields}}}"#);
            let meta: Meta = serde_json::from_str(&text).unwrap();
            meta.managed.status_set_by_built_in.map(NonZeroU32::get)
        };
        let by = |manager: &str, subresource: &str, time: &str| {
            format!(
                r#"{{"manager":"{manager}","operation":"Update","subresource":"{subresource}","time":"{time}",
                "fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{}}}}}}"#
            )
        };
        assert_eq!(read("null"), None);
        assert_eq!(read("[]"), None);
        let of_others = [
            by("kube-scheduler", "status", "2026-11-23T10:00:03Z"),
            by("kube-controller-manager", "", "2026-11-23T10:00:02Z"),
        ];
        assert_eq!(read(&format!("[{}]", of_others.join(","))), None);
        let its_own = [
            by("kube-controller-manager", "status", "2026-11-23T10:00:01Z"),
            by("kube-controller-manager", "status", "2026-11-23T10:00:00Z"),
        ];
        let last = read(&format!("[{},{}]", of_others[0], its_own.join(",")));
        let second = "2026-11-23T10:00:01Z".parse::<Time>().unwrap().unix_seconds();
        assert_eq!(last.map(i64::from), Some(second));
    }
}
