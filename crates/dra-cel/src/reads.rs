//! Device fields read by a program.
//!
//! Most selectors read a few values by names that are constants. Devices that agree on those get the same answer, so
//! thousands of devices need few evaluations. What cannot be listed, such as a loop over all attributes, is evaluated
//! for each device.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::plan::node::{Attribute, Fold, Node, Qualifier, QualifierKey, Root};
use super::value::Value;
use super::value::device::{DeviceMap, SliceDevice};
use dra_values::{AttributeValue, Quantity, Str};

/// Programs that read more are evaluated for each device.
const MOST: usize = 8;

/// Everything that a program reads of a device.
#[derive(Debug)]
pub struct Reads(Vec<Read>);

/// One value that a program reads.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Driver,
    AllowMultipleAllocations,
    Value(DeviceMap, Name),
}

/// A name in its domain.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    domain: Str,
    /// Without a slash, as names without domain are.
    plain: bool,
    id: Str,
    /// `domain/id`; absent where no name in a slice is read like that.
    qualified: Option<Str>,
}

/// Readings from one device.
#[derive(Debug)]
pub struct Readings<'a> {
    values: Vec<Reading<'a>>,
    attributes: &'a [(Str, AttributeValue)],
}

/// One value of a device.
#[derive(Debug)]
enum Reading<'a> {
    Absent,
    Text(Cow<'a, str>),
    Flag(bool),
    Attribute(Cow<'a, AttributeValue>),
    Capacity(Cow<'a, Quantity>),
}

/// Readings that are kept. Versions that are not read are among them: one that is none fails every evaluation.
#[derive(Debug)]
pub struct KeptReadings {
    values: Box<[Reading<'static>]>,
    versions: Box<[Str]>,
}

impl Reads {
    /// Returns what the plan with that root reads, if that can be listed.
    pub(super) fn of(root: &Node) -> Option<Self> {
        let mut collector = Collector::default();
        (collector.add_node(root) && collector.reads.len() <= MOST).then_some(Self(collector.reads))
    }

    /// Reads `device`. Nothing where an attribute is of a type that fails evaluation in some versions of
    /// Kubernetes, whether it is read or not.
    pub fn read<'a, C: AsRef<Quantity>>(&self, device: SliceDevice<'a, C>) -> Option<Readings<'a>> {
        let is_unreadable = |(_, value): &(Str, AttributeValue)| match value {
            AttributeValue::Bool(_)
            | AttributeValue::Int(_)
            | AttributeValue::String(_)
            | AttributeValue::Version(_) => false,
            AttributeValue::Bools(_)
            | AttributeValue::Ints(_)
            | AttributeValue::Strings(_)
            | AttributeValue::Versions(_)
            | AttributeValue::Unknown => true,
        };
        if device.attributes.iter().any(is_unreadable) {
            return None;
        }
        let value = |read: &Read| match read {
            Read::Driver => Reading::Text(Cow::Borrowed(device.driver)),
            Read::AllowMultipleAllocations => Reading::Flag(device.allow_multiple_allocations),
            Read::Value(DeviceMap::Attributes, name) => name
                .find(device.driver, device.attributes)
                .map_or(Reading::Absent, |value| Reading::Attribute(Cow::Borrowed(value))),
            Read::Value(DeviceMap::Capacity, name) => name
                .find(device.driver, device.capacity)
                .map_or(Reading::Absent, |value| {
                    Reading::Capacity(Cow::Borrowed(value.as_ref()))
                }),
        };
        Some(Readings {
            values: self.0.iter().map(value).collect(),
            attributes: device.attributes,
        })
    }
}

/// Collects what a plan reads.
#[derive(Default)]
struct Collector {
    reads: Vec<Read>,
    /// The initial values of accumulators that were looked at, by address. Each use of a name that `cel.bind` gives has the value
    /// in it, which can have uses of others in it.
    initial: HashSet<usize>,
}

impl Collector {
    fn add(&mut self, read: Read) -> bool {
        if !self.reads.contains(&read) {
            self.reads.push(read);
        }
        true
    }

    /// Adds what a node reads; false if that is unknown.
    fn add_node(&mut self, node: &Node) -> bool {
        match node {
            Node::Constant(_) | Node::Broken(_) | Node::Known(_) => true,
            Node::Attribute(attribute) | Node::Present(attribute) => self.add_attribute(attribute),
            Node::Lookup(lookup) => self.add_value(lookup.map, &lookup.domain, &lookup.id),
            Node::And(nodes) | Node::Or(nodes) => self.add_nodes(nodes),
            Node::Equal(nodes)
            | Node::NotEqual(nodes)
            | Node::OptionalOr(nodes)
            | Node::OptionalOrValue(nodes) => self.add_nodes(&**nodes),
            Node::NotStrictlyFalse(node) => self.add_node(node),
            Node::Call(call) => self.add_nodes(&call.args),
            Node::Member(member) => self.add_node(&member.value),
            Node::Regex(call) => self.add_nodes(&call.args),
            Node::List(list) => self.add_nodes(&list.elements),
            Node::Map(map) => map
                .iter()
                .all(|entry| self.add_node(&entry.key) && self.add_node(&entry.value)),
            Node::Message(message) => message.fields.iter().all(|field| self.add_node(&field.value)),
            Node::Fold(fold) => self.add_fold(fold),
        }
    }

    fn add_nodes(&mut self, nodes: &[Node]) -> bool {
        nodes.iter().all(|node| self.add_node(node))
    }

    fn add_fold(&mut self, fold: &Fold) -> bool {
        [&fold.range, &fold.condition, &fold.step, &fold.result]
            .into_iter()
            .all(|node| self.add_node(node))
    }

    fn add_attribute(&mut self, attribute: &Attribute) -> bool {
        let root = match &attribute.root {
            Root::Device => self.add_path(&attribute.qualifiers),
            Root::Variable(_) => true,
            Root::Accumulator(_, node) => {
                !self.initial.insert(Arc::as_ptr(node) as usize) || self.add_node(node)
            }
            Root::Operand(node) => self.add_node(node),
            Root::Conditional(conditional) => {
                self.add_node(&conditional.condition)
                    && self.add_attribute(&conditional.truthy)
                    && self.add_attribute(&conditional.falsy)
            }
        };
        root && attribute.qualifiers.iter().all(|qualifier| match &qualifier.key {
            QualifierKey::Constant(_) => true,
            QualifierKey::Computed(attribute) => self.add_attribute(attribute),
        })
    }

    /// Adds what begins at the device itself. Every domain is found, so that only what is in it matters.
    fn add_path(&mut self, path: &[Arc<Qualifier>]) -> bool {
        let name = |place: usize| match path.get(place).map(|qualifier| &qualifier.key) {
            Some(QualifierKey::Constant(Value::String(name))) => Some(&**name),
            _ => None,
        };
        match (name(0), name(1), name(2)) {
            (Some("driver"), ..) => self.add(Read::Driver),
            (Some("allowMultipleAllocations"), ..) => self.add(Read::AllowMultipleAllocations),
            (Some(map), Some(domain), Some(id)) => {
                DeviceMap::called(map).is_some_and(|map| self.add_value(map, domain, id))
            }
            _ => false,
        }
    }

    fn add_value(&mut self, map: DeviceMap, domain: &str, id: &str) -> bool {
        let name = Name {
            // A name is cut at its first slash, so that no domain has one, except the driver as the domain of names without.
            qualified: (!domain.contains('/')).then(|| Str::from(format!("{domain}/{id}"))),
            domain: Str::from(domain),
            plain: !id.contains('/'),
            id: Str::from(id),
        };
        self.add(Read::Value(map, name))
    }
}

impl Name {
    /// The value that expressions find: of a name with and without domain it is the first.
    fn find<'a, T>(&self, driver: &str, values: &'a [(Str, T)]) -> Option<&'a T> {
        let own = self.plain && self.domain == *driver;
        let is_name = |name: &Str| {
            (own && *name == self.id) || self.qualified.as_ref().is_some_and(|qualified| name == qualified)
        };
        values
            .iter()
            .find(|(name, _)| is_name(name))
            .map(|(_, value)| value)
    }
}

impl Readings<'_> {
    /// The same for readings that are alike. Others may have it too.
    pub fn code(&self) -> u64 {
        let mut hasher = FixedState::default().build_hasher();
        for value in &self.values {
            match value {
                Reading::Absent => hasher.write_u8(0),
                Reading::Text(text) => text.hash(&mut hasher),
                Reading::Flag(flag) => flag.hash(&mut hasher),
                Reading::Attribute(value) => match &**value {
                    AttributeValue::Int(number) => number.hash(&mut hasher),
                    AttributeValue::Bool(flag) => flag.hash(&mut hasher),
                    AttributeValue::String(text) | AttributeValue::Version(text) => text.hash(&mut hasher),
                    _ => hasher.write_u8(1),
                },
                Reading::Capacity(quantity) => quantity.as_int().hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// Returns whether a program that reads this finds the same in `kept`.
    pub fn are(&self, kept: &KeptReadings) -> bool {
        let mut values = self.values.iter().zip(&kept.values);
        values.all(|(value, kept)| value.is(kept)) && self.versions().eq(&kept.versions)
    }

    /// Keeps the readings.
    pub fn keep(&self) -> KeptReadings {
        KeptReadings {
            values: self.values.iter().map(Reading::keep).collect(),
            versions: self.versions().cloned().collect(),
        }
    }

    fn versions(&self) -> impl Iterator<Item = &Str> {
        self.attributes.iter().filter_map(|(_, value)| match value {
            AttributeValue::Version(text) => Some(text),
            _ => None,
        })
    }
}

impl Reading<'_> {
    /// Returns whether no program can tell them apart.
    fn is(&self, kept: &Reading<'_>) -> bool {
        match (self, kept) {
            (Self::Absent, Reading::Absent) => true,
            (Self::Text(text), Reading::Text(kept)) => text == kept,
            (Self::Flag(flag), Reading::Flag(kept)) => flag == kept,
            (Self::Attribute(value), Reading::Attribute(kept)) => value == kept,
            (Self::Capacity(quantity), Reading::Capacity(kept)) => quantity.same_representation(kept),
            _ => false,
        }
    }

    fn keep(&self) -> Reading<'static> {
        match self {
            Self::Absent => Reading::Absent,
            Self::Text(text) => Reading::Text(Cow::Owned(text.clone().into_owned())),
            Self::Flag(flag) => Reading::Flag(*flag),
            Self::Attribute(value) => Reading::Attribute(Cow::Owned(value.clone().into_owned())),
            Self::Capacity(quantity) => Reading::Capacity(Cow::Owned(quantity.clone().into_owned())),
        }
    }
}
