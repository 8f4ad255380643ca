//! Values while an expression is evaluated.
//!
//! A value borrows from the device and the program where it can; what is computed is shared. Copying a value never
//! copies its content. [`list`] and [`map`] hold the containers, [`equality`] and [`numbers`] compare and compute,
//! [`convert`] turns types into each other, [`time`] knows durations and timestamps, [`text`] prints as Go does.

pub(crate) mod convert;
pub(crate) mod equality;
pub(crate) mod fault;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod numbers;
pub(crate) mod text;
pub(crate) mod time;

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use crate::ast::Literal;
use crate::library::format::NamedFormat;
use crate::library::network::Cidr;
use crate::library::url::Url;
use dra_values::{Quantity, Semver};
pub(crate) use fault::{Fault, Outcome};
use list::List;
use map::Map;
use time::Timestamp;

/// A value of any type.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'a>),
    Bytes(Arc<[u8]>),
    /// Nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    List(List<'a>),
    Map(Map<'a>),
    /// A type, by its name.
    Type(&'static str),
    Optional(Option<Arc<Value<'a>>>),
    Quantity(Amount<'a>),
    Semver(Version<'a>),
    Ip(Arc<IpAddr>),
    Cidr(Arc<Cidr>),
    Url(Arc<Url>),
    Format(&'static NamedFormat),
}

/// A string that is borrowed or shared.
#[derive(Debug, Clone)]
pub(crate) enum Text<'a> {
    Borrowed(&'a str),
    Shared(Arc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

/// A quantity.
///
/// In Go, `add` and `sub` return a pointer where all other functions return a value, and equality refuses pointers on
/// its right side. The difference is kept because it shows.
#[derive(Debug, Clone)]
pub(crate) enum Amount<'a> {
    Borrowed(&'a Quantity),
    Shared(Arc<Quantity>),
    Pointer(Arc<Quantity>),
}

impl Deref for Amount<'_> {
    type Target = Quantity;

    fn deref(&self) -> &Quantity {
        match self {
            Self::Borrowed(quantity) => quantity,
            Self::Shared(quantity) | Self::Pointer(quantity) => quantity,
        }
    }
}

/// A semantic version.
#[derive(Debug, Clone)]
pub(crate) enum Version<'a> {
    Borrowed(&'a Semver),
    Shared(Arc<Semver>),
}

impl Deref for Version<'_> {
    type Target = Semver;

    fn deref(&self) -> &Semver {
        match self {
            Self::Borrowed(version) => version,
            Self::Shared(version) => version,
        }
    }
}

impl<'a> Value<'a> {
    pub(crate) fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(Text::Shared(text.into()))
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(List::items(items))
    }

    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// Returns how many lists, maps and optionals are at most inside of each other here, this value included.
    pub(crate) fn nesting(&self) -> u32 {
        let (mut value, mut around) = (self, 0);
        while let Self::Optional(Some(inner)) = value {
            value = inner;
            around += 1;
        }
        around
            + match value {
                Self::List(list) => 1 + list.nesting(),
                Self::Map(map) => 1 + map.nesting(),
                _ => 0,
            }
    }

    /// The value of a constant of the program.
    pub(crate) fn of_literal(literal: &Literal) -> Value<'static> {
        match literal {
            Literal::Null => Value::Null,
            Literal::Bool(value) => Value::Bool(*value),
            Literal::Int(value) => Value::Int(*value),
            Literal::Uint(value) => Value::Uint(*value),
            Literal::Double(value) => Value::Double(*value),
            Literal::String(value) => Value::String(Text::Shared(Arc::clone(value))),
            Literal::Bytes(value) => Value::Bytes(Arc::clone(value)),
        }
    }

    /// The same value without touching reference counts, where that can be.
    #[inline]
    pub(crate) fn borrow(&'a self) -> Value<'a> {
        match self {
            Self::String(text) => Value::String(Text::Borrowed(text)),
            Self::Quantity(Amount::Shared(quantity)) => Value::Quantity(Amount::Borrowed(quantity)),
            Self::Semver(version) => Value::Semver(Version::Borrowed(version)),
            other => other.clone(),
        }
    }

    /// The name of the value's type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// The name of the Go type behind the value, which some messages show.
    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::String(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::Duration(_) => "types.Duration",
            Self::Timestamp(_) => "types.Timestamp",
            Self::List(List::Concat(_)) => "*types.concatList",
            Self::List(List::Mutable(_) | List::Seen { .. }) => "*types.mutableList",
            Self::List(_) => "*types.baseList",
            Self::Map(Map::Attributes(_) | Map::Capacities(_)) => "cel.mapper",
            Self::Map(Map::Mutable(_)) => "*types.mutableMap",
            Self::Map(_) => "*types.baseMap",
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Quantity(Amount::Pointer(_)) => "*cel.Quantity",
            Self::Quantity(_) => "cel.Quantity",
            Self::Semver(_) => "cel.Semver",
            Self::Ip(_) => "cel.IP",
            Self::Cidr(_) => "cel.CIDR",
            Self::Url(_) => "cel.URL",
            Self::Format(_) => "cel.Format",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_small_and_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Value<'static>>();
        assert!(size_of::<Value<'_>>() <= 24, "{}", size_of::<Value<'_>>());
        assert!(size_of::<Outcome<'_>>() <= 24, "{}", size_of::<Outcome<'_>>());
    }
}
