//! Kubernetes quantities: exact decimals with a remembered way of writing them.
//!
//! Mirrors `k8s.io/apimachinery/pkg/api/resource` (`quantity.go`, `amount.go`, `suffix.go`, v0.37.1), and mirrors it
//! closely, because its peculiarities show: whether a quantity "is an integer" depends on how it is stored, the
//! canonical text may lose a suffix, and `value` wraps or is zero where it does not fit. An amount that fits into 64
//! bits and a power of ten is kept as such and needs no heap; all others are decimal digits of any length.
//!
//! Equality and order are those of the value: `1Gi` equals `1024Mi`.

mod canonical;
mod decimal;
mod parse;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use decimal::Decimal;
use serde::de::{Deserialize, Deserializer, Visitor};

use super::Str;
use super::decode::Read;
pub use parse::QuantityError;

/// Suffix system of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// `1k`, `1M`, `500m`.
    DecimalSi,
    /// `1Ki`, `1Mi`.
    BinarySi,
    /// `1e3`.
    DecimalExponent,
    /// Never parsed; written like [`Format::DecimalExponent`].
    #[default]
    Unset,
}

/// Suffixes of decimal formats by their exponents to base 10, which are three apart and begin with [`LEAST_EXPONENT`].
const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const LEAST_EXPONENT: i32 = -9;
/// Those of the binary format, by their exponents to base 1024.
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The number of a [`Quantity`].
#[derive(Debug, Clone)]
enum Amount {
    /// `value × 10^scale`.
    Int {
        value: i64,
        scale: i32,
    },
    Decimal(Arc<Decimal>),
}

/// `String()` result that needs no canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Written {
    /// Nothing: the canonical form is computed.
    No,
    /// The text that was parsed, which is the canonical form.
    Canonical,
    /// The text that was parsed, which upstream takes for the canonical form although it is not (`+1`, `1.500`).
    As(Str),
}

/// An exact amount, as Kubernetes' `resource.Quantity`.
#[derive(Debug, Clone, schemars::JsonSchema)]
#[schemars(with = "String")]
pub struct Quantity {
    amount: Amount,
    format: Format,
    written: Written,
}

impl Default for Quantity {
    fn default() -> Self {
        Self::from_scaled(0, 0, Format::Unset)
    }
}

impl Quantity {
    /// `value`, written in `format`.
    pub const fn new(value: i64, format: Format) -> Self {
        Self::from_scaled(value, 0, format)
    }

    /// `value / 1000`, written in `format`.
    pub const fn new_milli(value: i64, format: Format) -> Self {
        Self::from_scaled(value, -3, format)
    }

    /// So many units of 10⁻⁹, written in `format`.
    pub fn from_nanos(nanos: i128, format: Format) -> Self {
        let (mut value, mut scale) = (nanos, -9);
        while scale < 0 && value % 10 == 0 {
            value /= 10;
            scale += 1;
        }
        match i64::try_from(value) {
            Ok(value) => Self::from_scaled(value, scale, format),
            Err(_) => Self {
                amount: Amount::Decimal(Arc::new(Decimal::from_int(value, -scale))),
                format,
                written: Written::No,
            },
        }
    }

    const fn from_scaled(value: i64, scale: i32, format: Format) -> Self {
        Self {
            amount: Amount::Int { value, scale },
            format,
            written: Written::No,
        }
    }

    /// The suffixes that the quantity is written with.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns whether the amount is kept as decimal digits, which upstream does when it does not fit into 64 bits.
    ///
    /// Comparing a 64-bit quantity with such a one turns the left operand into decimal digits too, in place, and
    /// from then on [`Self::as_int`] fails. Callers that can observe this keep track of it.
    pub fn is_decimal(&self) -> bool {
        self.int().is_none()
    }

    /// Returns whether Go's `==` holds for the two structs: same amount in the same form, same format, same cached text.
    ///
    /// Mirrors the comparison in `consumable_capacity.go`, `violatesPolicy`. Decimal amounts are pointers there and
    /// never equal the copies that are compared.
    pub fn same_representation(&self, other: &Self) -> bool {
        self.int().is_some()
            && self.int() == other.int()
            && self.format == other.format
            && self.written == other.written
    }

    /// The amount as integer and exponent to base 10, if it is kept as such.
    fn int(&self) -> Option<(i64, i32)> {
        match self.amount {
            Amount::Int { value, scale } => Some((value, scale)),
            Amount::Decimal(_) => None,
        }
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match &self.amount {
            Amount::Int { value, .. } => value.signum() as i32,
            Amount::Decimal(decimal) => decimal.sign(),
        }
    }

    /// Returns whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// The value as an integer, if it is kept in 64 bits without fraction. Mirrors `AsInt64`.
    pub fn as_int(&self) -> Option<i64> {
        let (value, scale) = self.int().filter(|(_, scale)| *scale >= 0)?;
        scale_up(value, i64::from(scale))
    }

    /// The value rounded up to an integer, away from zero where it fits 64 bits. Mirrors `Value`: what does not fit
    /// becomes zero or wraps.
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// The value times 1,000, rounded and wrapped like [`Self::value`].
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    fn scaled_value(&self, scale: i32) -> i64 {
        match &self.amount {
            Amount::Int { value, scale: own } => int_at_scale(*value, *own, scale).unwrap_or(0),
            Amount::Decimal(decimal) => {
                let distance = i64::from(decimal.scale()) + i64::from(scale);
                match distance.cmp(&0) {
                    Ordering::Equal => decimal.unscaled_wrapping(),
                    Ordering::Less => {
                        // The power of ten is a float turned integer, which on amd64 saturates to the least integer.
                        let power = scale_up(1, -distance).unwrap_or(i64::MIN);
                        decimal.unscaled_wrapping().wrapping_mul(power)
                    }
                    Ordering::Greater if distance < 19 && decimal.unscaled_below_max() => {
                        let divisor = 10_i64.pow(distance as u32);
                        let unscaled = decimal.unscaled_wrapping();
                        unscaled / divisor + i64::from(unscaled % divisor != 0)
                    }
                    Ordering::Greater => {
                        let (floor, remainder) = decimal.divide_floor(distance as usize);
                        floor.wrapping_add(i64::from(remainder))
                    }
                }
            }
        }
    }

    /// The value in units of 10⁻⁹, which are the finest there are; absent where 128 bits do not hold it.
    ///
    /// Sums and comparisons of many quantities are cheaper in these units.
    pub fn nanos(&self) -> Option<i128> {
        match &self.amount {
            // Nearly all are whole.
            Amount::Int { value, scale: 0 } => Some(i128::from(*value) * 1_000_000_000),
            Amount::Int { value, scale } => scale_to_nanos(i128::from(*value), i64::from(*scale) + 9),
            Amount::Decimal(decimal) => {
                scale_to_nanos(decimal.unscaled_exact()?, 9 - i64::from(decimal.scale()))
            }
        }
    }

    /// The nearest float, give or take the rounding errors of `AsApproximateFloat64`.
    pub fn as_approximate_float(&self) -> f64 {
        let (base, exponent) = match &self.amount {
            Amount::Int { value, scale } => (*value as f64, *scale),
            Amount::Decimal(decimal) => (decimal.unscaled_float(), decimal.scale().wrapping_neg()),
        };
        if exponent == 0 {
            base
        } else {
            base * pow10(exponent)
        }
    }

    /// Compares with an integer.
    pub fn cmp_int(&self, other: i64) -> Ordering {
        self.cmp(&Self::new(other, Format::Unset))
    }

    /// The amount as the API server keeps it: it is sent as text, and read again. So `3000000000` of any format is `3G` there.
    #[must_use]
    pub fn as_stored(&self) -> Self {
        self.to_string().parse().unwrap_or_else(|_| self.clone())
    }

    /// Adds `other` in place. Zero takes the format of what is added to it.
    pub fn add(&mut self, other: &Self) {
        self.accumulate(other, false);
    }

    /// Subtracts `other` in place. Zero takes the format of what is subtracted from it.
    pub fn sub(&mut self, other: &Self) {
        self.accumulate(other, true);
    }

    fn accumulate(&mut self, other: &Self, negate: bool) {
        self.written = Written::No;
        if self.is_zero() {
            self.format = other.format;
        }
        if let (Some(own), Some((addend, scale))) = (self.int(), other.int()) {
            let addend = if negate { addend.wrapping_neg() } else { addend };
            if let Some((value, scale)) = add_ints(own, (addend, scale)) {
                self.amount = Amount::Int { value, scale };
                return;
            }
        }
        let mut addend = other.to_decimal();
        if negate {
            addend.negate();
        }
        self.amount = Amount::Decimal(Arc::new(self.to_decimal().add(addend)));
    }

    fn to_decimal(&self) -> Decimal {
        match &self.amount {
            Amount::Int { value, scale } => Decimal::from_int(*value, scale.wrapping_neg()),
            Amount::Decimal(decimal) => Decimal::clone(decimal),
        }
    }
}

/// `value × 10^exponent`, if that is an integer of 128 bits.
fn scale_to_nanos(value: i128, exponent: i64) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    let power = 10_i128.checked_pow(u32::try_from(exponent.unsigned_abs()).ok()?)?;
    if exponent >= 0 {
        value.checked_mul(power)
    } else {
        (value % power == 0).then_some(value / power)
    }
}

/// `value × 10^exponent`, if it fits.
fn scale_up(value: i64, exponent: i64) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    value.checked_mul(10_i64.checked_pow(u32::try_from(exponent).ok()?)?)
}

/// `value × 10^-exponent` rounded away from zero, and whether that is exact.
fn scale_down(value: i64, exponent: i64) -> (i64, bool) {
    if exponent > 18 {
        return (value.signum(), value == 0);
    }
    let divisor = 10_i64.pow(exponent as u32);
    let remainder = value % divisor;
    (value / divisor + remainder.signum(), remainder == 0)
}

/// Mirrors `AsScaledInt64`.
fn int_at_scale(value: i64, own: i32, scale: i32) -> Option<i64> {
    let distance = i64::from(own) - i64::from(scale);
    if distance < 0 {
        Some(scale_down(value, -distance).0)
    } else {
        scale_up(value, distance)
    }
}

/// Mirrors `int64Amount.Add`: the sum at the lesser scale, if everything fits.
fn add_ints((left, left_scale): (i64, i32), (right, right_scale): (i64, i32)) -> Option<(i64, i32)> {
    if right == 0 {
        return Some((left, left_scale));
    }
    if left == 0 {
        return Some((right, right_scale));
    }
    let distance = i64::from(left_scale) - i64::from(right_scale);
    if distance >= 0 {
        Some((scale_up(left, distance)?.checked_add(right)?, right_scale))
    } else {
        Some((left.checked_add(scale_up(right, -distance)?)?, left_scale))
    }
}

/// Go's `math.Pow10`, which multiplies or divides two entries of its tables.
fn pow10(exponent: i32) -> f64 {
    let entry = |exponent: i32| -> f64 { format!("1e{exponent}").parse().unwrap_or(f64::NAN) };
    match exponent {
        0..=308 => entry(exponent / 32 * 32) * entry(exponent % 32),
        -323..=-1 => entry(exponent / 32 * 32) / entry(-(exponent % 32)),
        309.. => f64::INFINITY,
        _ => 0.0,
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.nanos(), other.nanos()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.to_decimal().compare(&other.to_decimal()),
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Written::As(text) => f.pad(text),
            _ => f.pad(&self.canonical()),
        }
    }
}

impl serde::Serialize for Quantity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Read<'_> for Quantity {}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct QuantityVisitor;

        impl Visitor<'_> for QuantityVisitor {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
                text.trim().parse().map_err(E::custom)
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Quantity, E> {
                self.visit_str(&format!("{number:?}"))
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<Quantity, E> {
                Ok(Quantity::default())
            }
        }

        deserializer.deserialize_any(QuantityVisitor)
    }
}

#[cfg(test)]
mod tests;
