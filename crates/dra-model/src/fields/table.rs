//! The fields that the API has, type by type, as `fields.txt` lists them, which is generated.
//!
//! Those of `resource.k8s.io` are all there. Other kinds have only the parts that affect devices; other fields are
//! ignored.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::Kind;

/// Type of a field.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    Bool,
    Integer,
    Quantity,
    Time,
    /// Whatever it likes, such as the parameters of a driver.
    Anything,
    List(Box<Shape>),
    Map(Box<Shape>),
    /// The place of its type.
    Object(usize),
}

/// The fields of an object.
#[derive(Debug)]
pub(super) struct Type {
    /// True if there are others that are not looked at.
    pub(super) is_part: bool,
    pub(super) fields: Vec<Field>,
}

/// A field of an object.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// The versions that have it there.
    pub(super) versions: Versions,
    /// True if the newest release has it no more.
    pub(super) is_gone: bool,
}

/// A set of versions of `resource.k8s.io`. Other kinds have every field in each of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Versions(u8);

impl Versions {
    const NAMES: [&'static str; 4] = ["v1", "v1beta2", "v1beta1", "v1alpha3"];
    const ALL: Self = Self(0b1111);

    /// The set of this version only; nothing for an unknown version.
    pub(super) fn of(version: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|name| *name == version)?;
        Some(Self(1 << place))
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let places = 0..Self::NAMES.len();
        places
            .filter(move |place| self.0 & (1 << place) != 0)
            .map(|place| Self::NAMES[place])
    }
}

/// The types, in the order of the file.
static TYPES: LazyLock<Vec<Type>> = LazyLock::new(|| {
    let mut names = BTreeMap::new();
    for (place, (head, _)) in blocks().enumerate() {
        names.extend(head.split_once(' ').map(|(_, name)| (name, place)));
    }
    let read = |(head, fields): (&str, &'static str)| Type {
        is_part: head.starts_with("part"),
        fields: fields.lines().map(|line| Field::read(line, &names)).collect(),
    };
    blocks().map(read).collect()
});

/// The line of each type and those of its fields.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    let blocks = include_str!("fields.txt").split("\n\n").skip(1);
    blocks.filter_map(|block| block.split_once('\n'))
}

/// Returns the fields of objects of `kind`; nothing for a kind whose fields are unknown here.
pub(super) fn shape_of(kind: Kind) -> Option<&'static Shape> {
    static KINDS: LazyLock<BTreeMap<Kind, Shape>> = LazyLock::new(|| {
        let of_kind = |kind: Kind| {
            let group = match kind.group().split('.').next() {
                None | Some("") => "core",
                Some(group) => group,
            };
            let name = format!(" {group}.{}", kind.name());
            let place = blocks().position(|(head, _)| head.ends_with(&name))?;
            Some((kind, Shape::Object(place)))
        };
        Kind::all().filter_map(of_kind).collect()
    });
    KINDS.get(&kind)
}

impl Shape {
    fn read(text: &str, names: &BTreeMap<&str, usize>) -> Self {
        let inner = |marks: [char; 2]| {
            let inner = text.strip_prefix(marks[0])?.strip_suffix(marks[1])?;
            Some(Box::new(Self::read(inner, names)))
        };
        if let Some(element) = inner(['[', ']']) {
            return Self::List(element);
        }
        if let Some(value) = inner(['{', '}']) {
            return Self::Map(value);
        }
        match text {
            "string" => Self::Text,
            "boolean" => Self::Bool,
            "integer" => Self::Integer,
            "quantity" => Self::Quantity,
            "time" => Self::Time,
            name => names
                .get(name)
                .map_or(Self::Anything, |place| Self::Object(*place)),
        }
    }
}

impl Type {
    /// The type that `shape` names; nothing for one that is no object.
    pub(super) fn of(shape: &Shape) -> Option<&'static Self> {
        match shape {
            Shape::Object(place) => TYPES.get(*place),
            _ => None,
        }
    }
}

impl Field {
    fn read(line: &'static str, names: &BTreeMap<&str, usize>) -> Self {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let mut field = Self {
            name: next(),
            shape: Shape::read(next(), names),
            versions: Versions::ALL,
            is_gone: false,
        };
        for word in words {
            match word.split_once('-') {
                Some((_, last)) => field.is_gone = !last.is_empty(),
                None => {
                    let versions = word.split(',').filter_map(Versions::of);
                    field.versions = versions.fold(Versions(0), |all, one| Versions(all.0 | one.0));
                }
            }
        }
        field
    }
}
