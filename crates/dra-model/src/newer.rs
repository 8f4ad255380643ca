//! Fields that came with later releases. An API server of an older one drops them when it reads an object, so that nothing there sees them,
//! whatever a file says that stands for such a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AttributeValue, Claim, ClaimSpec, Kind, Meta, Node, Object, Pod, Slice, Version};

/// A field that the model reads, and the first release that has it. Mirrors the types of `k8s.io/api` from v0.34 on: `resource/v1/types.go`
/// and `core/v1/types.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NewerField {
    /// In which kind.
    pub kind: Kind,
    /// Path, without list indexes.
    pub path: &'static str,
    /// `37` for 1.37.
    pub since: u32,
}

/// Fields that were dropped, and of how many objects.
#[derive(Clone, Debug)]
pub struct NewerFields {
    version: Version,
    /// True if they are only noted.
    keeps: bool,
    found: BTreeMap<NewerField, (String, usize)>,
}

impl NewerFields {
    /// Drops what API servers of `version` drop of `objects`.
    pub fn drop_from(objects: &mut [Object], version: Version) -> Self {
        let mut fields = Self::of(version);
        for object in objects {
            fields.drop_from_one(object);
        }
        fields
    }

    /// The first minor release that has all the fields that `objects` have, where some release that is known here lacks one. Nothing
    /// is dropped.
    pub fn since(objects: &mut [Object]) -> Option<u32> {
        let mut fields = Self {
            keeps: true,
            ..Self::of(Version::minor(0))
        };
        for object in objects {
            fields.drop_from_one(object);
        }
        fields.found.keys().map(|field| field.since).max()
    }

    /// None yet, of a cluster of `version`.
    pub fn of(version: Version) -> Self {
        Self {
            version,
            keeps: false,
            found: BTreeMap::new(),
        }
    }

    /// Drops what API servers drop of one more object. Says whether a field was among it that no object before had.
    pub fn drop_from_one(&mut self, object: &mut Object) -> bool {
        // The newest release has all fields, and most clusters are of a recent one.
        if self.version >= Version::minor(Version::NEWEST_MINOR) {
            return false;
        }
        let before = self.found.len();
        let mut dropped = Dropped {
            version: self.version,
            keeps: self.keeps,
            kind: object.kind(),
            fields: Vec::new(),
        };
        match object {
            Object::ResourceSlice(slice) => dropped.of_slice(Arc::make_mut(slice)),
            Object::ResourceClaim(claim) => dropped.of_claim(Arc::make_mut(claim)),
            Object::ResourceClaimTemplate(template) => {
                dropped.of_spec(
                    &mut Arc::make_mut(template).spec.spec,
                    "spec.spec.devices.requests[].exactly.derivedAttributes",
                    "spec.spec.devices.requests[].firstAvailable[].derivedAttributes",
                );
            }
            Object::Node(node) => dropped.of_node(Arc::make_mut(node)),
            Object::Pod(pod) => dropped.of_pod(Arc::make_mut(pod)),
            _ => {}
        }
        for field in dropped.fields {
            let Meta { namespace, name, .. } = object.metadata();
            let (_, count) = self.found.entry(field).or_insert_with(|| {
                let slash = if namespace.is_empty() { "" } else { "/" };
                (format!("{}/{namespace}{slash}{name}", field.kind), 0)
            });
            *count += 1;
        }
        self.found.len() > before
    }

    /// Returns what to tell the user.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.found.iter().map(|(NewerField { path, since, .. }, (first, count))| {
            let others = match count {
                1 => String::new(),
                count => format!(" ({} more like it)", count - 1),
            };
            format!(
                "`{first}`: ignoring {path}, which exists since Kubernetes 1.{since}: API servers of 1.{} \
                drop it{others}",
                self.version.minor
            )
        })
    }
}

/// The fields that were dropped of one object.
struct Dropped {
    version: Version,
    keeps: bool,
    kind: Kind,
    fields: Vec<NewerField>,
}

impl Dropped {
    /// Drops a field that came with release 1.`since`.
    fn field<T: Default>(&mut self, since: u32, path: &'static str, is_set: bool, value: &mut T) {
        if is_set && self.lacks(since, path) && !self.keeps {
            *value = T::default();
        }
    }

    fn list<T>(&mut self, since: u32, path: &'static str, list: &mut Vec<T>) {
        self.field(since, path, !list.is_empty(), list);
    }

    /// Returns whether the release has no such field, which is noted.
    fn lacks(&mut self, since: u32, path: &'static str) -> bool {
        if self.version >= Version::minor(since) {
            return false;
        }
        let field = NewerField {
            kind: self.kind,
            path,
            since,
        };
        if !self.fields.contains(&field) {
            self.fields.push(field);
        }
        true
    }

    fn of_slice(&mut self, slice: &mut Slice) {
        let spec = &mut slice.spec;
        self.list(37, "spec.skipNodeOperations", &mut spec.skip_node_operations);
        let attribute = &mut spec.partition_type_attribute;
        self.field(37, "spec.partitionTypeAttribute", attribute.is_some(), attribute);
        for device in &mut spec.devices {
            let resources = &mut device.node_allocatable_resources;
            self.list(37, "spec.devices[].nodeAllocatableResources", resources);
            for consumption in &mut device.consumes_counters {
                let path = "spec.devices[].consumesCounters[].compatibilityGroups";
                self.list(37, path, &mut consumption.compatibility_groups);
            }
            for (_, value) in &mut device.attributes {
                let path = match value {
                    AttributeValue::Bools(_) => "spec.devices[].attributes[].bools",
                    AttributeValue::Ints(_) => "spec.devices[].attributes[].ints",
                    AttributeValue::Strings(_) => "spec.devices[].attributes[].strings",
                    AttributeValue::Versions(_) => "spec.devices[].attributes[].versions",
                    _ => continue,
                };
                if self.lacks(36, path) && !self.keeps {
                    *value = AttributeValue::Unknown;
                }
            }
        }
    }

    fn of_claim(&mut self, claim: &mut Claim) {
        self.of_spec(
            &mut claim.spec,
            "spec.devices.requests[].exactly.derivedAttributes",
            "spec.devices.requests[].firstAvailable[].derivedAttributes",
        );
        let results = claim.status.allocation.iter_mut();
        for result in results.flat_map(|allocation| &mut allocation.devices.results) {
            let path = "status.allocation.devices.results[].skipNodeOperations";
            self.list(37, path, &mut result.skip_node_operations);
        }
    }

    fn of_spec(&mut self, spec: &mut ClaimSpec, exact: &'static str, alternative: &'static str) {
        // Many claims share what they ask for, and few of them ask for this.
        if spec.asked().all(|wanted| wanted.derived_attributes.is_empty()) {
            return;
        }
        for request in &mut spec.devices.requests {
            if let Some(wanted) = &mut request.exactly {
                self.list(37, exact, &mut wanted.derived_attributes);
            }
            for wanted in &mut request.first_available {
                self.list(37, alternative, &mut wanted.derived_attributes);
            }
        }
    }

    fn of_node(&mut self, node: &mut Node) {
        self.list(35, "status.declaredFeatures", &mut node.status.declared_features);
    }

    fn of_pod(&mut self, pod: &mut Pod) {
        let group = &mut pod.spec.scheduling_group;
        self.field(36, "spec.schedulingGroup", group.is_some(), group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind, an object of it with newer fields, and the first release that has each of them.
    type Newer = (Kind, &'static str, &'static [(u32, &'static str)]);

    const OBJECTS: &[Newer] = &[
        (
            Kind::ResourceSlice,
            r#"{"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"p"},"skipNodeOperations":["*"],
                "partitionTypeAttribute":"d/a","devices":[{"name":"x","nodeAllocatableResources":{"cpu":{}},
                "consumesCounters":[{"counterSet":"c","compatibilityGroups":["g"]}],
                "attributes":{"a":{"bools":[true]},"b":{"ints":[1]},"c":{"strings":["x"]},"d":{"versions":["1.0.0"]},"e":{"int":1}}}]}}"#,
            &[
                (36, "spec.devices[].attributes[].bools"),
                (36, "spec.devices[].attributes[].ints"),
                (36, "spec.devices[].attributes[].strings"),
                (36, "spec.devices[].attributes[].versions"),
                (37, "spec.devices[].consumesCounters[].compatibilityGroups"),
                (37, "spec.devices[].nodeAllocatableResources"),
                (37, "spec.partitionTypeAttribute"),
                (37, "spec.skipNodeOperations"),
            ],
        ),
        (
            Kind::ResourceClaim,
            r#"{"metadata":{"name":"c"},"spec":{"devices":{"requests":[
                {"name":"a","exactly":{"derivedAttributes":[{"name":"d/a","expression":"1"}]}},
                {"name":"b","firstAvailable":[{"name":"x","derivedAttributes":[{"name":"d/a","expression":"1"}]}]}]}},
                "status":{"allocation":{"devices":{"results":[{"skipNodeOperations":["*"]}]}}}}"#,
            &[
                (37, "spec.devices.requests[].exactly.derivedAttributes"),
                (37, "spec.devices.requests[].firstAvailable[].derivedAttributes"),
                (37, "status.allocation.devices.results[].skipNodeOperations"),
            ],
        ),
        (
            Kind::ResourceClaimTemplate,
            r#"{"metadata":{"name":"t"},"spec":{"spec":{"devices":{"requests":[
                {"name":"a","exactly":{"derivedAttributes":[{"name":"d/a","expression":"1"}]}},
                {"name":"b","firstAvailable":[{"name":"x","derivedAttributes":[{"name":"d/a","expression":"1"}]}]}]}}}}"#,
            &[
                (37, "spec.spec.devices.requests[].exactly.derivedAttributes"),
                (
                    37,
                    "spec.spec.devices.requests[].firstAvailable[].derivedAttributes",
                ),
            ],
        ),
        (
            Kind::Node,
            r#"{"metadata":{"name":"n"},"status":{"declaredFeatures":["F"]}}"#,
            &[(35, "status.declaredFeatures")],
        ),
        (
            Kind::Pod,
            r#"{"metadata":{"name":"p"},"spec":{"schedulingGroup":{"podGroupName":"g"}}}"#,
            &[(36, "spec.schedulingGroup")],
        ),
    ];

    #[test]
    fn each_field_goes_before_its_release_and_stays_from_there_on() {
        for (kind, json, fields) in OBJECTS {
            for minor in 33..40 {
                let mut object = Object::from_json(*kind, json.as_bytes()).unwrap();
                let before = format!("{object:?}");
                let version = Version::minor(minor);
                let newer = NewerFields::drop_from(std::slice::from_mut(&mut object), version);
                let dropped = newer
                    .found
                    .keys()
                    .map(|field| (field.since, field.path))
                    .collect::<Vec<_>>();
                let mut expected: Vec<_> = fields
                    .iter()
                    .copied()
                    .filter(|(since, _)| minor < *since)
                    .collect();
                expected.sort_by_key(|(_, path)| *path);
                assert_eq!(dropped, expected, "{kind} 1.{minor}");
                assert_eq!(
                    format!("{object:?}") == before,
                    expected.is_empty(),
                    "{kind} 1.{minor}"
                );
                let again = NewerFields::drop_from(std::slice::from_mut(&mut object), version);
                assert!(
                    again.found.is_empty(),
                    "what is dropped is gone: {kind} 1.{minor}"
                );
            }
        }
    }

    #[test]
    fn fields_show_the_first_release_that_has_all_of_them_and_stay() {
        for (kind, json, fields) in OBJECTS {
            let mut object = Object::from_json(*kind, json.as_bytes()).unwrap();
            let before = format!("{object:?}");
            let since = NewerFields::since(std::slice::from_mut(&mut object));
            assert_eq!(since, fields.iter().map(|(since, _)| *since).max(), "{kind}");
            assert_eq!(format!("{object:?}"), before, "{kind}");
        }
        let mut plain = Object::from_json(Kind::Node, br#"{"metadata":{"name":"n"}}"#).unwrap();
        assert_eq!(NewerFields::since(std::slice::from_mut(&mut plain)), None);
    }

    #[test]
    fn releases_are_those_of_the_table_of_the_api() {
        let table = include_str!("fields/fields.txt");
        let of_devices = |kind: Kind| kind.group() == Kind::ResourceClaim.group();
        for (kind, _, fields) in OBJECTS.iter().filter(|(kind, ..)| of_devices(*kind)) {
            for (since, path) in *fields {
                let name = path.rsplit('.').next().unwrap();
                let is_field = |line: &&str| line.split(' ').next() == Some(name);
                let began = format!(" 1.{since}-");
                let mut lines = table.lines().filter(is_field).peekable();
                assert!(lines.peek().is_some(), "{kind} {path}");
                assert!(lines.all(|line| line.ends_with(&began)), "{kind} {path}");
            }
        }
    }
}
