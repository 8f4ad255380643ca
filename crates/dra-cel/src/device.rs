//! A device as selectors see it.
//!
//! It is prepared once and then evaluated by any number of programs. It is what `compile.go`, `DeviceMatches`
//! (dynamic-resource-allocation v0.37.1) builds for each evaluation: maps from domain to identifier to value, where names
//! without a domain are in that of the driver.

use dra_values::{AttributeValue, Quantity, Semver, Str};

/// Device fields that selectors read from a ResourceSlice. Names are as there: `id` or `domain/id`, in order.
#[derive(Debug, Clone, Copy)]
pub struct SliceDevice<'a, C> {
    /// Of the slice.
    pub driver: &'a str,
    /// `attributes`
    pub attributes: &'a [(Str, AttributeValue)],
    /// `capacity`
    pub capacity: &'a [(Str, C)],
    /// `allowMultipleAllocations`
    pub allow_multiple_allocations: bool,
}

/// A device, ready for evaluation.
#[derive(Debug, Clone)]
pub struct DeviceInput {
    pub(crate) driver: Str,
    pub(crate) allow_multiple_allocations: bool,
    pub(crate) attributes: Box<[Domain<Attribute>]>,
    pub(crate) capacities: Box<[Domain<Quantity>]>,
    /// The first attribute by name that cannot be read, and why.
    invalid: Option<(Box<str>, Box<str>)>,
    /// The name of the first attribute that is a list.
    first_list: Option<Box<str>>,
}

/// The values of one domain, by identifier.
#[derive(Debug, Clone)]
pub(crate) struct Domain<T> {
    pub(crate) name: Str,
    pub(crate) entries: Box<[Entry<T>]>,
}

/// A value and its identifier.
#[derive(Debug, Clone)]
pub(crate) struct Entry<T> {
    pub(crate) name: Str,
    pub(crate) value: T,
}

/// The value of an attribute with its versions parsed.
#[derive(Debug, Clone)]
pub(crate) enum Attribute {
    Bool(bool),
    Int(i64),
    String(Str),
    Version(Semver),
    List(AttributeList),
}

/// The values of a list attribute.
#[derive(Debug, Clone)]
pub(crate) enum AttributeList {
    Bools(Box<[bool]>),
    Ints(Box<[i64]>),
    Strings(Box<[Str]>),
    Versions(Box<[Semver]>),
}

impl AttributeList {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bools(items) => items.len(),
            Self::Ints(items) => items.len(),
            Self::Strings(items) => items.len(),
            Self::Versions(items) => items.len(),
        }
    }
}

impl<T> Domain<T> {
    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.entries
            .iter()
            .find(|entry| entry.name == name)
            .map(|entry| &entry.value)
    }
}

/// The domain called `name`.
pub(crate) fn find_domain<'a, T>(domains: &'a [Domain<T>], name: &str) -> Option<&'a Domain<T>> {
    domains.iter().find(|domain| domain.name == name)
}

const UNSUPPORTED: &str = "unsupported attribute value";

impl DeviceInput {
    /// Prepares a device of a slice.
    pub fn of<C: AsRef<Quantity>>(device: SliceDevice<'_, C>) -> Self {
        let attributes = device.attributes.iter();
        let capacities = device.capacity.iter();
        Self::new(
            device.driver,
            attributes.map(|(name, value)| (name.as_str(), value)),
            capacities.map(|(name, capacity)| (name.as_str(), capacity.as_ref())),
            device.allow_multiple_allocations,
        )
    }

    /// Prepares a device of `driver`. Names are qualified as in a ResourceSlice: `id` or `domain/id`.
    ///
    /// An attribute that cannot be read is remembered and fails every evaluation, as it does upstream.
    pub fn new<'a>(
        driver: &str,
        attributes: impl IntoIterator<Item = (&'a str, &'a AttributeValue)>,
        capacities: impl IntoIterator<Item = (&'a str, &'a Quantity)>,
        allow_multiple_allocations: bool,
    ) -> Self {
        let mut invalid: Option<(&str, String)> = None;
        let mut first_list: Option<&str> = None;
        let mut read = Vec::new();
        for (name, value) in attributes {
            if value.is_list() && first_list.is_none_or(|other| name < other) {
                first_list = Some(name);
            }
            match read_attribute(value) {
                Ok(value) => read.push((name, value)),
                Err(message) => {
                    if invalid.as_ref().is_none_or(|(other, _)| name < *other) {
                        invalid = Some((name, message));
                    }
                }
            }
        }
        Self {
            driver: Str::from(driver),
            allow_multiple_allocations,
            attributes: by_domain(driver, read),
            capacities: by_domain(
                driver,
                capacities
                    .into_iter()
                    .map(|(name, quantity)| (name, quantity.clone()))
                    .collect(),
            ),
            invalid: invalid.map(|(name, message)| (name.into(), message.into())),
            first_list: first_list.map(Into::into),
        }
    }

    /// Returns whether every version of Kubernetes can evaluate expressions on the device.
    pub fn is_readable(&self) -> bool {
        self.invalid.is_none() && self.first_list.is_none()
    }

    /// Returns why no expression can be evaluated on the device. Which of several attributes is named varies upstream.
    ///
    /// Lists are unknown to Kubernetes before 1.36, and to that with the gate off.
    pub(crate) fn problem(&self, takes_lists: bool) -> Option<String> {
        if self.first_list.is_none() && self.invalid.is_none() {
            return None;
        }
        let list = self.first_list.as_deref().filter(|_| !takes_lists);
        let list = list.map(|name| (name, UNSUPPORTED));
        let invalid = self.invalid.as_ref().map(|(name, why)| (&**name, &**why));
        let (name, why) = list.into_iter().chain(invalid).min()?;
        Some(format!("attribute {name}: {why}"))
    }
}

fn read_attribute(value: &AttributeValue) -> Result<Attribute, String> {
    let version = |text: &Str| {
        text.parse::<Semver>()
            .map_err(|error| format!("parse semantic version: {error}"))
    };
    Ok(match value {
        AttributeValue::Bool(value) => Attribute::Bool(*value),
        AttributeValue::Int(value) => Attribute::Int(*value),
        AttributeValue::String(value) => Attribute::String(value.clone()),
        AttributeValue::Version(value) => Attribute::Version(version(value)?),
        AttributeValue::Bools(values) => Attribute::List(AttributeList::Bools(values.clone())),
        AttributeValue::Ints(values) => Attribute::List(AttributeList::Ints(values.clone())),
        AttributeValue::Strings(values) => Attribute::List(AttributeList::Strings(values.clone())),
        AttributeValue::Versions(values) => Attribute::List(AttributeList::Versions(
            values.iter().map(version).collect::<Result<_, _>>()?,
        )),
        AttributeValue::Unknown => return Err(UNSUPPORTED.to_owned()),
    })
}

/// Sorts values into domains and by identifier, so that iteration has an order.
fn by_domain<T>(driver: &str, values: Vec<(&str, T)>) -> Box<[Domain<T>]> {
    let mut qualified: Vec<_> = values
        .into_iter()
        .map(|(name, value)| {
            let (domain, id) = name.split_once('/').unwrap_or((driver, name));
            (domain, id, value)
        })
        .collect();
    qualified
        .sort_by(|(domain, id, _), (other_domain, other_id, _)| (domain, id).cmp(&(other_domain, other_id)));
    // A name may be there with and without the driver's domain. Upstream keeps whichever its map yields last.
    qualified
        .dedup_by(|(domain, id, _), (other_domain, other_id, _)| domain == other_domain && id == other_id);
    let mut domains: Vec<(&str, Vec<Entry<T>>)> = Vec::new();
    for (domain, id, value) in qualified {
        let entry = Entry {
            name: Str::from(id),
            value,
        };
        match domains.last_mut() {
            Some((name, entries)) if *name == domain => entries.push(entry),
            _ => domains.push((domain, vec![entry])),
        }
    }
    domains
        .into_iter()
        .map(|(name, entries)| Domain {
            name: Str::from(name),
            entries: entries.into_boxed_slice(),
        })
        .collect()
}
