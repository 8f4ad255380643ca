//! Values of device attributes.

use std::fmt;

use serde::{Deserialize, Deserializer};

use super::Str;
use super::decode::{Read, field};

/// The value of one attribute of a device.
///
/// Versions are kept as written; comparisons parse them, since an invalid one must not spoil the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeValue {
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `string`
    String(Str),
    /// `version`
    Version(Str),
    /// `bools`, with the gate `DRAListTypeAttributes`
    Bools(Box<[bool]>),
    /// `ints`, with the gate `DRAListTypeAttributes`
    Ints(Box<[i64]>),
    /// `strings`, with the gate `DRAListTypeAttributes`
    Strings(Box<[Str]>),
    /// `versions`, with the gate `DRAListTypeAttributes`
    Versions(Box<[Str]>),
    /// A type that this release does not know.
    Unknown,
}

impl AttributeValue {
    /// Returns whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(
            self,
            Self::Bools(_) | Self::Ints(_) | Self::Strings(_) | Self::Versions(_)
        )
    }
}

impl fmt::Display for AttributeValue {
    /// Lists stand in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: ToString>(f: &mut fmt::Formatter<'_>, values: &[T]) -> fmt::Result {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            write!(f, "[{}]", values.join(", "))
        }
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::String(value) | Self::Version(value) => value.fmt(f),
            Self::Bools(values) => list(f, values),
            Self::Ints(values) => list(f, values),
            Self::Strings(values) | Self::Versions(values) => list(f, values),
            Self::Unknown => f.write_str("<unknown type>"),
        }
    }
}

impl Read<'_> for AttributeValue {}

impl<'de> Deserialize<'de> for AttributeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The API's form: one field for each type, exactly one is set.
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Fields {
            bool: Option<bool>,
            int: Option<i64>,
            #[serde(deserialize_with = "field")]
            string: Option<Str>,
            #[serde(deserialize_with = "field")]
            version: Option<Str>,
            bools: Option<Box<[bool]>>,
            ints: Option<Box<[i64]>>,
            #[serde(deserialize_with = "field")]
            strings: Vec<Str>,
            #[serde(deserialize_with = "field")]
            versions: Vec<Str>,
        }
        Ok(match Fields::deserialize(deserializer)? {
            Fields { int: Some(value), .. } => Self::Int(value),
            Fields {
                bool: Some(value), ..
            } => Self::Bool(value),
            Fields {
                string: Some(value), ..
            } => Self::String(value),
            Fields {
                version: Some(value), ..
            } => Self::Version(value),
            Fields { ints: Some(list), .. } if !list.is_empty() => Self::Ints(list),
            Fields {
                bools: Some(list), ..
            } if !list.is_empty() => Self::Bools(list),
            Fields { strings, .. } if !strings.is_empty() => Self::Strings(strings.into()),
            Fields { versions, .. } if !versions.is_empty() => Self::Versions(versions.into()),
            _ => Self::Unknown,
        })
    }
}
