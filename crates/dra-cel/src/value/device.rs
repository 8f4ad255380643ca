//! A device as selectors see it.
//!
//! It is prepared once and then evaluated by any number of programs. It is what `compile.go`, `DeviceMatches`
//! (dynamic-resource-allocation v0.37.1) builds for each evaluation: maps from domain to identifier to value, where names
//! without a domain are in that of the driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::list::List;
use super::{Amount, Value, Version};
use dra_values::{AttributeValue, Quantity, Str};

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

/// Map of a device by domain and identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DeviceMap {
    Attributes,
    Capacity,
}

impl DeviceMap {
    /// The field of the device.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Attributes => "attributes",
            Self::Capacity => "capacity",
        }
    }

    pub(crate) fn called(name: &str) -> Option<Self> {
        [Self::Attributes, Self::Capacity]
            .into_iter()
            .find(|map| map.name() == name)
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Attributes => Self::Capacity,
            Self::Capacity => Self::Attributes,
        }
    }
}

/// A device, ready for evaluation.
#[derive(Debug, Clone)]
pub struct DeviceInput {
    pub(crate) driver: Str,
    pub(crate) allow_multiple_allocations: bool,
    attributes: Box<[Domain]>,
    capacities: Box<[Domain]>,
    /// The first attribute by name that cannot be read, and why.
    invalid: Option<(Box<str>, Box<str>)>,
    /// The name of the first attribute that is a list.
    first_list: Option<Box<str>>,
}

/// The values of one domain, by identifier.
#[derive(Debug, Clone)]
pub(crate) struct Domain {
    pub(crate) name: Str,
    pub(crate) entries: Box<[(Str, Value<'static>)]>,
}

impl Domain {
    #[inline]
    pub(crate) fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        let (_, value) = self.entries.iter().find(|(known, _)| *known == *name)?;
        Some(match value {
            Value::List(List::Items(items)) => Value::List(List::Device(items)),
            value => value.borrow(),
        })
    }
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
        let attributes: Vec<_> = attributes.into_iter().collect();
        let lists = attributes.iter().filter(|(_, value)| value.is_list());
        let first_list = lists.map(|(name, _)| *name).min();
        let (mut read, mut invalid) = (Vec::new(), Vec::new());
        for (name, value) in attributes {
            match read_attribute(value) {
                Ok(value) => read.push((name, value)),
                Err(message) => invalid.push((name, message)),
            }
        }
        let invalid = invalid.into_iter().min_by_key(|(name, _)| *name);
        let capacities = capacities.into_iter().map(|(name, quantity)| {
            let quantity = Arc::new(quantity.clone());
            (name, Value::Quantity(Amount::Shared(quantity)))
        });
        Self {
            driver: Str::from(driver),
            allow_multiple_allocations,
            attributes: by_domain(driver, read),
            capacities: by_domain(driver, capacities.collect()),
            invalid: invalid.map(|(name, message)| (name.into(), message.into())),
            first_list: first_list.map(Into::into),
        }
    }

    #[inline]
    pub(crate) fn domains(&self, map: DeviceMap) -> &[Domain] {
        match map {
            DeviceMap::Attributes => &self.attributes,
            DeviceMap::Capacity => &self.capacities,
        }
    }

    /// The domain called `name`.
    #[inline]
    pub(crate) fn domain(&self, map: DeviceMap, name: &str) -> Option<&Domain> {
        self.domains(map).iter().find(|domain| domain.name == *name)
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

/// The value of an attribute, with its versions parsed.
fn read_attribute(value: &AttributeValue) -> Result<Value<'static>, String> {
    let string = |text: &Str| Value::string(text.as_str());
    let version = |text: &Str| match text.parse() {
        Ok(version) => Ok(Value::Semver(Version::Shared(Arc::new(version)))),
        Err(error) => Err(format!("parse semantic version: {error}")),
    };
    Ok(match value {
        AttributeValue::Bool(value) => Value::Bool(*value),
        AttributeValue::Int(value) => Value::Int(*value),
        AttributeValue::String(value) => string(value),
        AttributeValue::Version(value) => version(value)?,
        AttributeValue::Bools(values) => Value::list(values.iter().copied().map(Value::Bool).collect()),
        AttributeValue::Ints(values) => Value::list(values.iter().copied().map(Value::Int).collect()),
        AttributeValue::Strings(values) => Value::list(values.iter().map(string).collect()),
        AttributeValue::Versions(values) => {
            Value::list(values.iter().map(version).collect::<Result<_, _>>()?)
        }
        AttributeValue::Unknown => return Err(UNSUPPORTED.to_owned()),
    })
}

/// Sorts values into domains and by identifier, so that iteration has an order.
fn by_domain(driver: &str, values: Vec<(&str, Value<'static>)>) -> Box<[Domain]> {
    let mut domains: BTreeMap<&str, BTreeMap<&str, Value<'static>>> = BTreeMap::new();
    for (name, value) in values {
        let (domain, id) = name.split_once('/').unwrap_or((driver, name));
        // A name may be there with and without the driver's domain. Upstream keeps whichever its map yields last.
        domains.entry(domain).or_default().entry(id).or_insert(value);
    }
    let domains = domains.into_iter();
    domains
        .map(|(name, entries)| Domain {
            name: Str::from(name),
            entries: entries
                .into_iter()
                .map(|(id, value)| (Str::from(id), value))
                .collect(),
        })
        .collect()
}
