//! Values of device attributes.

use super::Str;

/// The value of one attribute of a device.
///
/// Versions are kept as written; whoever compares them parses them, since an invalid one must not spoil the device.
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
}
