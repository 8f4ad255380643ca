//! Values while an expression is evaluated.
//!
//! A value borrows from the device and the program where it can; what is computed is shared. Copying a value never
//! copies its content. [`list`] and [`map`] hold the containers, [`equality`] and [`numbers`] compare and compute,
//! [`convert`] turns types into each other, [`time`] knows durations and timestamps, [`text`] prints as Go does.

pub(crate) mod convert;
pub(crate) mod device;
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

/// Something of the device or the program, or shared by values.
#[derive(Debug)]
pub(crate) enum Held<'a, T: ?Sized> {
    Borrowed(&'a T),
    Shared(Arc<T>),
}

impl<T: ?Sized> Clone for Held<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(held) => Self::Borrowed(held),
            Self::Shared(held) => Self::Shared(Arc::clone(held)),
        }
    }
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(held) => held,
            Self::Shared(held) => held,
        }
    }
}

/// A string.
pub(crate) type Text<'a> = Held<'a, str>;

/// A semantic version.
pub(crate) type Version<'a> = Held<'a, Semver>;

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

    /// Returns whether something can be indexed by a value of the type.
    pub(crate) fn can_be_index(&self) -> bool {
        matches!(
            self,
            Self::String(_) | Self::Int(_) | Self::Uint(_) | Self::Bool(_) | Self::Double(_)
        )
    }

    /// Returns whether the type is one of the API server's rather than of CEL.
    pub(crate) fn is_of_api_server(&self) -> bool {
        matches!(
            self,
            Self::Quantity(_)
                | Self::Semver(_)
                | Self::Ip(_)
                | Self::Cidr(_)
                | Self::Url(_)
                | Self::Format(_)
        )
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
        self.names().0
    }

    /// The name of the Go type behind the value, which some messages show.
    pub(crate) fn go_type(&self) -> &'static str {
        self.names().1
    }

    /// The name of the Go type that the value holds.
    pub(crate) fn native_type(&self) -> &'static str {
        self.names().2
    }

    /// What the value's type is called: in CEL, in Go, and in Go once it is taken out.
    #[inline]
    fn names(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Null => ("null_type", "types.Null", "structpb.NullValue"),
            Self::Bool(_) => ("bool", "types.Bool", "bool"),
            Self::Int(_) => ("int", "types.Int", "int64"),
            Self::Uint(_) => ("uint", "types.Uint", "uint64"),
            Self::Double(_) => ("double", "types.Double", "float64"),
            Self::String(_) => ("string", "types.String", "string"),
            Self::Bytes(_) => ("bytes", "types.Bytes", "[]uint8"),
            Self::Duration(_) => ("google.protobuf.Duration", "types.Duration", "time.Duration"),
            Self::Timestamp(_) => ("google.protobuf.Timestamp", "types.Timestamp", "time.Time"),
            Self::List(list) => ("list", list.go_type(), "[]ref.Val"),
            Self::Map(map) => ("map", map.go_type(), "map[ref.Val]ref.Val"),
            Self::Type(_) => ("type", "*types.Type", "string"),
            Self::Optional(Some(value)) => ("optional_type", "*types.Optional", value.native_type()),
            Self::Optional(None) => ("optional_type", "*types.Optional", "<nil>"),
            Self::Quantity(Amount::Pointer(_)) => {
                ("kubernetes.Quantity", "*cel.Quantity", "*resource.Quantity")
            }
            Self::Quantity(_) => ("kubernetes.Quantity", "cel.Quantity", "*resource.Quantity"),
            Self::Semver(_) => ("kubernetes.Semver", "cel.Semver", "semver.Version"),
            Self::Ip(_) => ("net.IP", "cel.IP", "netip.Addr"),
            Self::Cidr(_) => ("net.CIDR", "cel.CIDR", "netip.Prefix"),
            Self::Url(_) => ("kubernetes.URL", "cel.URL", "*url.URL"),
            Self::Format(_) => ("kubernetes.NamedFormat", "cel.Format", "cel.Format"),
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
