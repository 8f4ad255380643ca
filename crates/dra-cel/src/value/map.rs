//! Maps.

use std::collections::HashMap;
use std::sync::Arc;

use super::device::{DeviceInput, DeviceMap, Domain};
use super::list::List;
use super::{Cidr, Fault, Text, Value, text};
use dra_values::Quantity;

/// A map, wherever its entries are.
#[derive(Debug, Clone)]
pub(crate) enum Map<'a> {
    /// The variable `device`.
    Device(&'a DeviceInput),
    /// Attributes or capacities by domain. Domains that do not exist are found, and empty.
    Domains(&'a DeviceInput, DeviceMap),
    /// Those of one domain.
    Domain(Option<&'a Domain>, DeviceMap),
    Entries(Arc<Entries<'a>>),
    /// A map that a comprehension is adding to, by its number in the evaluation.
    Mutable(usize),
}

/// Entries in the order in which they were added.
///
/// An entry whose key is NaN is never found by its key, as NaN equals nothing. Where it was copied from another map, its value is
/// missing, because Go copies by looking keys up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entries<'a> {
    entries: Vec<(Value<'a>, Option<Value<'a>>)>,
    /// Positions by key.
    index: HashMap<MapKey, usize>,
    /// Maximum nesting of lists, maps and optionals in a key or value that was ever added.
    nesting: u32,
}

/// A key as Go's maps compare it: by type and value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum MapKey {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    String(Arc<str>),
    Duration(i64),
    /// An instant and its zone.
    Timestamp(i64, u32, Option<i16>),
    Type(&'static str),
    Ip(std::net::IpAddr),
    Cidr(Cidr),
    /// A value that Go compares by its address.
    Address(usize),
    /// The attributes or the capacities of the device.
    Domains(DeviceMap),
    /// Values that never equal another key: NaN, and what Go recreates on each read, such as another list or map of the device.
    Alone,
}

impl MapKey {
    /// The key.
    ///
    /// # Errors
    ///
    /// Values of this type cannot be keys.
    pub(crate) fn of(value: &Value<'_>) -> Result<Self, Unhashable> {
        hashable(value)?;
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Uint(value) => Self::Uint(*value),
            Value::Double(value) if value.is_nan() => Self::Alone,
            // Both zeros are one key.
            Value::Double(value) => Self::Double(if *value == 0.0 { 0 } else { value.to_bits() }),
            Value::String(Text::Shared(text)) => Self::String(Arc::clone(text)),
            Value::String(text) => Self::String(Arc::from(&**text)),
            Value::Duration(value) => Self::Duration(*value),
            // Go makes such a zone anew for each text that has it.
            Value::Timestamp(value) if !value.has_shared_zone() => Self::Alone,
            Value::Timestamp(value) => Self::Timestamp(value.seconds, value.nanos, value.zone),
            Value::Type(name) => Self::Type(name),
            Value::Ip(address) => Self::Ip(**address),
            Value::List(List::Items(items)) => Self::Address(Arc::as_ptr(items) as usize),
            Value::List(List::Concat(concat)) => Self::Address(Arc::as_ptr(concat) as usize),
            Value::Map(Map::Entries(entries)) => Self::Address(Arc::as_ptr(entries) as usize),
            Value::Quantity(amount) => Self::Address(std::ptr::from_ref::<Quantity>(amount) as usize),
            Value::Url(url) => Self::Address(Arc::as_ptr(url) as usize),
            Value::Cidr(cidr) => Self::Cidr(**cidr),
            Value::Optional(Some(value)) => Self::Address(Arc::as_ptr(value) as usize),
            Value::Optional(None) => Self::Address(0),
            // Made once for each device.
            Value::Map(Map::Domains(_, map)) => Self::Domains(*map),
            // The last three never get here.
            Value::List(_) | Value::Map(_) | Value::Semver(_) | Value::Bytes(_) | Value::Format(_) => {
                Self::Alone
            }
        })
    }
}

/// Refuses values that Go cannot hash.
pub(crate) fn hashable(value: &Value<'_>) -> Result<(), Unhashable> {
    match value {
        Value::Semver(_) | Value::Bytes(_) | Value::Format(_) => Err(Unhashable(value.go_type())),
        _ => Ok(()),
    }
}

/// A type of Go whose values cannot be keys. Looking one up panics, except in a map without entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("runtime error: hash of unhashable type {0}")]
pub(crate) struct Unhashable(&'static str);

impl From<Unhashable> for Fault {
    fn from(unhashable: Unhashable) -> Self {
        Self::panic(unhashable)
    }
}

impl<'a> Entries<'a> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn position(&self, key: &Value<'_>) -> Option<usize> {
        let key = MapKey::of(key).ok().filter(|key| *key != MapKey::Alone)?;
        self.index.get(&key).copied()
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: Value<'a>, value: Value<'a>) {
        self.set(key, Some(value));
    }

    /// Sets what there is for a key: no value is one that Go lost when it copied the entry.
    pub(crate) fn set(&mut self, key: Value<'a>, value: Option<Value<'a>>) {
        let nesting = key.nesting().max(value.as_ref().map_or(0, Value::nesting));
        self.nesting = self.nesting.max(nesting);
        if let Some(position) = self.position(&key) {
            self.entries[position].1 = value;
            return;
        }
        self.index
            .extend(MapKey::of(&key).map(|key| (key, self.entries.len())));
        self.entries.push((key, value));
    }

    pub(crate) fn remove(&mut self, key: &Value<'_>) {
        if let Some(position) = self.position(key) {
            self.entries.remove(position);
            // Without a key of its own for each entry again: a macro may remove many.
            self.index.retain(|_, place| {
                let stays = *place != position;
                *place -= usize::from(*place > position);
                stays
            });
        }
    }

    /// The value of exactly this key.
    fn exact(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        self.position(key)
            .and_then(|position| self.entries[position].1.as_ref())
    }

    /// The value of a key, or of a number of another type that equals it.
    pub(crate) fn find(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        if let Some(value) = self.exact(key) {
            return Some(value);
        }
        match key {
            Value::Double(double) => super::numbers::lossless_int(*double)
                .and_then(|int| self.exact(&Value::Int(int)))
                .or_else(|| {
                    super::numbers::lossless_uint(*double).and_then(|uint| self.exact(&Value::Uint(uint)))
                }),
            Value::Int(int) => u64::try_from(*int)
                .ok()
                .and_then(|uint| self.exact(&Value::Uint(uint))),
            Value::Uint(uint) => i64::try_from(*uint)
                .ok()
                .and_then(|int| self.exact(&Value::Int(int))),
            _ => None,
        }
    }
}

const DEVICE_FIELDS: [&str; 4] = ["allowMultipleAllocations", "attributes", "capacity", "driver"];

impl<'a> Map<'a> {
    pub(crate) fn of_entries(entries: Entries<'a>) -> Self {
        Self::Entries(Arc::new(entries))
    }

    /// Returns how many lists, maps and optionals an entry is at most inside of, this map not counted.
    pub(crate) fn nesting(&self) -> u32 {
        match self {
            Self::Entries(entries) => entries.nesting,
            // The attributes by domain, the domains, and lists of values.
            Self::Device(_) | Self::Domains(..) => 3,
            Self::Domain(..) => 1,
            Self::Mutable(_) => 0,
        }
    }

    /// The name of its type in Go.
    pub(super) fn go_type(&self) -> &'static str {
        match self {
            Self::Domains(..) => "cel.mapper",
            Self::Mutable(_) => "*types.mutableMap",
            _ => "*types.baseMap",
        }
    }

    /// The number of entries of a map that is complete.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Device(_) => DEVICE_FIELDS.len(),
            Self::Domains(device, map) => device.domains(*map).len(),
            Self::Domain(domain, _) => domain.map_or(0, |domain| domain.entries.len()),
            Self::Entries(entries) => entries.len(),
            // Upstream's mutable maps do not count what is added.
            Self::Mutable(_) => 0,
        }
    }

    /// Returns whether the map has the key. The maps by domain have no more than the domains that exist.
    ///
    /// # Errors
    ///
    /// The key cannot be looked up.
    pub(crate) fn contains(&self, key: &Value<'_>) -> Result<bool, Unhashable> {
        Ok(match (self, key) {
            (Self::Domains(device, map), Value::String(name)) => device.domain(*map, name).is_some(),
            (Self::Domains(..), _) => false,
            _ => self.look_up(key)?.is_some(),
        })
    }

    /// The value of any key of a map that is complete.
    ///
    /// # Errors
    ///
    /// The key cannot be looked up.
    pub(crate) fn look_up(&self, key: &Value<'_>) -> Result<Option<Value<'a>>, Unhashable> {
        if let Self::Entries(entries) = self
            && entries.len() > 0
        {
            hashable(key)?;
        }
        Ok(self.find(key))
    }

    /// The value of a key that some map has, in a map that is complete.
    pub(crate) fn find(&self, key: &Value<'_>) -> Option<Value<'a>> {
        let native;
        let name = match key {
            Value::String(name) => Some(&**name),
            // Go converts a key to a string where its type can be one, and where that is what the map has.
            _ if matches!(self, Self::Domain(_, DeviceMap::Capacity)) => {
                native = super::convert::native_string(key);
                native.as_deref()
            }
            _ => None,
        };
        match self {
            Self::Entries(entries) => entries.find(key).cloned(),
            Self::Domains(device, map) => {
                let domain = name.and_then(|name| device.domain(*map, name));
                Some(Value::Map(Map::Domain(domain, *map)))
            }
            Self::Device(device) => device_field(device, name?),
            Self::Domain(domain, _) => domain.and_then(|domain| domain.get(name?)),
            Self::Mutable(_) => None,
        }
    }

    /// The keys of a map that is complete.
    pub(crate) fn keys(&self) -> Vec<Value<'a>> {
        let text = |name: &'a str| Value::String(Text::Borrowed(name));
        match self {
            Self::Device(_) => DEVICE_FIELDS.iter().map(|name| text(name)).collect(),
            Self::Domains(device, map) => device.domains(*map).iter().map(|of| text(&of.name)).collect(),
            Self::Domain(domain, _) => domain.map_or_else(Vec::new, |domain| {
                domain.entries.iter().map(|(name, _)| text(name)).collect()
            }),
            Self::Entries(entries) => entries.entries.iter().map(|(key, _)| key.clone()).collect(),
            Self::Mutable(_) => Vec::new(),
        }
    }

    /// The keys of a map that is complete, with their values as far as there are any.
    pub(crate) fn entries(&self) -> Vec<(Value<'a>, Option<Value<'a>>)> {
        match self {
            Self::Entries(entries) => entries.entries.clone(),
            _ => {
                let with_value = |key| {
                    let value = self.find(&key);
                    (key, value)
                };
                self.keys().into_iter().map(with_value).collect()
            }
        }
    }

    /// The same as Go finds them when it goes through the keys and looks each up: NaN is not found.
    pub(crate) fn looked_up(&self) -> impl Iterator<Item = (Value<'a>, Option<Value<'a>>)> {
        self.entries().into_iter().map(|(key, value)| {
            let is_lost = matches!(key, Value::Double(number) if number.is_nan());
            (key, value.filter(|_| !is_lost))
        })
    }

    /// Returns what reading the value of a key that is not there comes to.
    pub(crate) fn no_such_key(key: &Value<'_>) -> Fault {
        Fault::error(format!("no such key: {}", text::plain(key)))
    }
}

/// A field of the variable `device`.
pub(crate) fn device_field<'a>(device: &'a DeviceInput, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "driver" => Value::String(Text::Borrowed(device.driver.as_str())),
        "allowMultipleAllocations" => Value::Bool(device.allow_multiple_allocations),
        _ => Value::Map(Map::Domains(device, DeviceMap::called(name)?)),
    })
}
