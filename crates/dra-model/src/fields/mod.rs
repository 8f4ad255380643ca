//! Fields of objects and their types: for errors that name the field, and for unknown fields.
//!
//! Reading an object skips what the model does not need, and a skipped field can be one that was meant for another
//! version or is spelled wrong. The table here has all fields, so that such a field differs from one that does not
//! matter.

mod table;

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use self::table::{Field, Shape, Type, Versions, shape_of};
use super::{Kind, Quantity, Time};
use dra_values::is_similar;
use dra_values::json::Key;

/// Problem with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldProblem {
    /// This version has no such field there.
    Unknown {
        /// The versions that have it there.
        versions: Vec<&'static str>,
        /// A field that is spelled nearly so.
        similar: Option<&'static str>,
    },
    /// It holds something else than it should.
    Mistyped(String),
}

/// An invalid field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// Path, as the API writes it: `spec.devices[0].basic`.
    pub path: String,
    /// The problem.
    pub problem: FieldProblem,
}

impl FieldFault {
    /// Returns whether its name is that of a known field, but for upper and lower case.
    pub fn is_in_other_letters(&self) -> bool {
        let name = self.path.rsplit('.').next().unwrap_or_default();
        matches!(&self.problem, FieldProblem::Unknown { similar: Some(similar), .. } if similar.eq_ignore_ascii_case(name))
    }

    /// Returns whether the field holds something else than it should.
    pub fn is_mistyped(&self) -> bool {
        matches!(self.problem, FieldProblem::Mistyped(_))
    }
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, problem } = self;
        match problem {
            FieldProblem::Unknown { versions, similar } => {
                write!(f, "unknown field \"{path}\"")?;
                match (versions.as_slice(), similar) {
                    ([], None) => Ok(()),
                    ([], Some(similar)) => write!(f, " (did you mean `{similar}`?)"),
                    ([version], _) => write!(f, " (a field of {version}; did you mean that version?)"),
                    (versions, _) => {
                        let versions = versions.join(", ");
                        write!(f, " (a field of {versions}; did you mean one of these versions?)")
                    }
                }
            }
            FieldProblem::Mistyped(why) => write!(f, "{path}: {why}"),
        }
    }
}

/// Invalid fields of an object.
#[derive(Clone, Debug, Default)]
pub struct FieldFaults {
    /// The first of them, in the order of the text.
    pub list: Vec<FieldFault>,
    /// Number of more.
    pub more: usize,
}

/// Fields to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looking {
    /// Those that the version has in no release.
    ForUnknown,
    /// Those that the version does not have in the newest release, and those that hold something else than they should.
    ForAll,
}

/// Faults of one object that are described.
const MOST: usize = 100;

/// Looks at the fields of an object of `kind`, written in `version`. Nothing is found in one that is not JSON, or whose
/// kind or version is unknown: the decoder reports it.
pub fn check_fields(kind: Kind, version: &str, json: &[u8], looking: Looking) -> FieldFaults {
    let mut found = Found {
        types: looking == Looking::ForAll,
        faults: FieldFaults::default(),
    };
    let version = if kind.group() == Kind::ResourceClaim.group() {
        Versions::of(version)
    } else {
        Versions::of("v1")
    };
    if let (Some(version), Some(shape)) = (version, shape_of(kind)) {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let walk = Walk {
            shape,
            version,
            path: Path::Object,
            found: &mut found,
        };
        // What stops the walk stops the decoder too, which says why.
        let _ = walk.deserialize(&mut deserializer);
    }
    found.faults
}

/// The paths of the fields that hold no object, in any version and release: the names of fields, and `*` for any key of
/// a map. Nothing for a kind whose fields are not all listed here.
pub fn field_paths(kind: Kind) -> Vec<Vec<&'static str>> {
    fn add(shape: &Shape, path: &mut Vec<&'static str>, paths: &mut Vec<Vec<&'static str>>) {
        match shape {
            Shape::List(element) => add(element, path, paths),
            Shape::Map(value) => {
                path.push("*");
                add(value, path, paths);
                path.pop();
            }
            Shape::Object(_) => {
                for field in Type::of(shape).into_iter().flat_map(|of| &of.fields) {
                    path.push(field.name);
                    add(&field.shape, path, paths);
                    path.pop();
                }
            }
            _ => paths.push(path.clone()),
        }
    }
    let mut paths = Vec::new();
    let whole = shape_of(kind).filter(|shape| Type::of(shape).is_some_and(|of| !of.is_part));
    if let Some(shape) = whole {
        add(shape, &mut Vec::new(), &mut paths);
    }
    paths
}

/// Where the walk is: steps on the stack, so that nothing is written for a field that is as it should be.
#[derive(Clone, Copy)]
enum Path<'p> {
    Object,
    Field(&'p Path<'p>, &'p str),
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object => Ok(()),
            Self::Field(Self::Object, name) => f.write_str(name),
            Self::Field(before, name) => write!(f, "{before}.{name}"),
            Self::Key(before, key) => write!(f, "{before}[{key}]"),
            Self::Index(before, index) => write!(f, "{before}[{index}]"),
        }
    }
}

struct Found {
    types: bool,
    faults: FieldFaults,
}

impl Found {
    fn add(&mut self, path: Path<'_>, problem: impl FnOnce() -> FieldProblem) {
        if self.faults.list.len() == MOST {
            self.faults.more += 1;
            return;
        }
        self.faults.list.push(FieldFault {
            path: path.to_string(),
            problem: problem(),
        });
    }
}

/// Looks at one value.
struct Walk<'f> {
    shape: &'static Shape,
    version: Versions,
    path: Path<'f>,
    found: &'f mut Found,
}

impl Walk<'_> {
    fn mistyped(&mut self, found: &str) {
        if self.found.types {
            let expected = self.shape.words();
            self.found.add(self.path, || {
                FieldProblem::Mistyped(format!("must be {expected}, not {found}"))
            });
        }
    }

    fn number(mut self, is_integer: bool) {
        match self.shape {
            Shape::Quantity => {}
            Shape::Integer if is_integer => {}
            Shape::Integer => self.mistyped("an out-of-range number"),
            _ => self.mistyped("a number"),
        }
    }
}

impl Shape {
    fn words(&self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Bool => "true or false",
            Self::Integer => "an integer",
            Self::Quantity => "a quantity",
            Self::Time => "an RFC 3339 time",
            Self::Anything => "anything",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Object(_) => "an object",
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.shape {
            Shape::Anything => {
                deserializer.deserialize_ignored_any(IgnoredAny)?;
                Ok(())
            }
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shape.words())
    }

    /// `null` means absent everywhere.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(mut self, _: bool) -> Result<(), E> {
        if !matches!(self.shape, Shape::Bool) {
            self.mistyped("true or false");
        }
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.number(true);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.number(i64::try_from(number).is_ok());
        Ok(())
    }

    fn visit_f64<E>(mut self, number: f64) -> Result<(), E> {
        if number.fract() != 0.0 && matches!(self.shape, Shape::Integer) {
            self.mistyped("a number with a fraction");
            return Ok(());
        }
        self.number(false);
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        if !self.found.types {
            return Ok(());
        }
        match self.shape {
            Shape::Text => {}
            Shape::Quantity => {
                if let Err(error) = text.trim().parse::<Quantity>() {
                    self.found
                        .add(self.path, || FieldProblem::Mistyped(error.to_string()));
                }
            }
            Shape::Time => {
                if text.parse::<Time>().is_err() {
                    self.mistyped("a different string");
                }
            }
            _ => self.mistyped("a string"),
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let Shape::List(shape) = self.shape else {
            self.mistyped("a list");
            IgnoredAny.visit_seq(items)?;
            return Ok(());
        };
        let before = self.path;
        for index in 0.. {
            let walk = self.at(shape, Path::Index(&before, index));
            if items.next_element_seed(walk)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let (fields, is_whole): (&'static [Field], bool) = match (self.shape, Type::of(self.shape)) {
            (_, Some(of)) => (&of.fields, !of.is_part),
            (Shape::Map(_), None) => (&[], true),
            _ => {
                self.mistyped("an object");
                IgnoredAny.visit_map(map)?;
                return Ok(());
            }
        };
        let before = self.path;
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            if let Shape::Map(shape) = self.shape {
                map.next_value_seed(self.at(shape, Path::Key(&before, &key)))?;
                continue;
            }
            let path = Path::Field(&before, &key);
            match fields.iter().find(|field| field.name == key) {
                Some(field) if self.has(field) => map.next_value_seed(self.at(&field.shape, path))?,
                other => {
                    map.next_value::<IgnoredAny>()?;
                    if !is_whole {
                        continue;
                    }
                    let of_others = other.filter(|field| !field.versions.has(self.version));
                    let versions = of_others.map_or_else(Vec::new, |field| field.versions.names().collect());
                    let similar = if versions.is_empty() {
                        self.similar(fields, &key)
                    } else {
                        None
                    };
                    self.found
                        .add(path, || FieldProblem::Unknown { versions, similar });
                }
            }
        }
        Ok(())
    }
}

impl Walk<'_> {
    /// Returns whether there is the field in the version, and in the newest release where only that counts.
    fn has(&self, field: &Field) -> bool {
        field.versions.has(self.version) && !(self.found.types && field.is_gone)
    }

    /// The field that was probably meant by `name`: one letter is wrong, missing or extra, two are swapped, or the case
    /// differs.
    fn similar(&self, fields: &[Field], name: &str) -> Option<&'static str> {
        let known = fields.iter().filter(|field| self.has(field));
        let mut similar = known.filter(|field| is_similar(field.name, name));
        similar.next().map(|field| field.name)
    }

    fn at<'w>(&'w mut self, shape: &'static Shape, path: Path<'w>) -> Walk<'w> {
        Walk {
            shape,
            version: self.version,
            path,
            found: &mut *self.found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Kind, version: &str, json: &str) -> Vec<String> {
        let faults = check_fields(kind, version, json.as_bytes(), Looking::ForAll);
        faults.list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fields_of_other_versions_and_misspelled_ones_are_named() {
        let old = r#"{"metadata":{"name":"a"},"spec":{"driver":"d","devices":[{"name":"x","basic":{"attributes":{"a":{"strng":"b"}}}}]}}"#;
        assert_eq!(
            found(Kind::ResourceSlice, "v1", old),
            [r#"unknown field "spec.devices[0].basic" (a field of v1beta1; did you mean that version?)"#]
        );
        assert_eq!(
            found(Kind::ResourceSlice, "v1beta1", old),
            [r#"unknown field "spec.devices[0].basic.attributes[a].strng" (did you mean `string`?)"#]
        );
        let new = r#"{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassname":"gpu","color":1}}]}}}"#;
        assert_eq!(
            found(Kind::ResourceClaim, "v1beta2", new),
            [
                r#"unknown field "spec.devices.requests[0].exactly.deviceClassname" (did you mean `deviceClassName`?)"#,
                r#"unknown field "spec.devices.requests[0].exactly.color""#
            ]
        );
        assert_eq!(
            found(Kind::ResourceClaim, "v1beta1", new),
            [
                r#"unknown field "spec.devices.requests[0].exactly" (a field of v1, v1beta2; did you mean one of these versions?)"#
            ]
        );
        let pod =
            r#"{"spec":{"nonsense":1,"resourceClaims":[{"name":"a","source":{"resourceClaimName":"b"}}]}}"#;
        assert_eq!(
            found(Kind::Pod, "v1", pod),
            [r#"unknown field "spec.resourceClaims[0].source""#]
        );
    }

    #[test]
    fn fields_with_another_type_are_named() {
        let slice = r#"{"spec":{"pool":{"generation":1.5,"resourceSliceCount":"1"},"allNodes":"yes","devices":[{"name":1,
            "capacity":{"memory":{"value":"10Gb"},"slots":4},"taints":{}}, null]}}"#;
        assert_eq!(
            found(Kind::ResourceSlice, "v1", slice),
            [
                "spec.pool.generation: must be an integer, not a number with a fraction",
                "spec.pool.resourceSliceCount: must be an integer, not a string",
                "spec.allNodes: must be true or false, not a string",
                "spec.devices[0].name: must be a string, not a number",
                "spec.devices[0].capacity[memory].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                "spec.devices[0].capacity[slots]: must be an object, not a number",
                "spec.devices[0].taints: must be a list, not an object",
            ]
        );
        let unknown = check_fields(Kind::ResourceSlice, "v1", slice.as_bytes(), Looking::ForUnknown);
        assert!(unknown.list.is_empty(), "{unknown:?}");
    }

    #[test]
    fn a_field_that_one_release_had_is_stored_and_not_created() {
        let slice = r#"{"spec":{"devices":[{"name":"a","nodeAllocatableResourceMappings":{"cpu":{"capacityKey":"k"}}}]}}"#;
        let unknown = check_fields(Kind::ResourceSlice, "v1", slice.as_bytes(), Looking::ForUnknown);
        assert!(unknown.list.is_empty(), "{unknown:?}");
        assert_eq!(
            found(Kind::ResourceSlice, "v1", slice),
            [r#"unknown field "spec.devices[0].nodeAllocatableResourceMappings""#]
        );
    }

    #[test]
    fn every_type_that_a_field_names_is_in_the_table() {
        let table = include_str!("fields.txt");
        let named = |word: &str| table.lines().any(|line| line.ends_with(&format!(" {word}")));
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        let words = lines.filter_map(|line| line.split(' ').nth(1));
        for word in words.map(|word| word.trim_matches(['[', ']', '{', '}'])) {
            let is_type = word.contains('.') && word.chars().all(|letter| letter != '-');
            assert!(!is_type || named(word), "{word}");
        }
    }

    #[test]
    fn a_bounded_number_of_faults_is_described() {
        let many = (0..1000).map(|number| format!(r#""f{number}":1"#));
        let json = format!("{{{}}}", many.collect::<Vec<_>>().join(","));
        let faults = check_fields(Kind::DeviceClass, "v1", json.as_bytes(), Looking::ForUnknown);
        assert_eq!((faults.list.len(), faults.more), (MOST, 900));
    }
}
