//! The canonical text of a quantity. Mirrors `quantity.go`, `CanonicalizeBytes`, and `amount.go`.

use std::cmp::Ordering;
use std::fmt::Write;

use super::decimal::Decimal;
use super::{
    Amount, BINARY_SUFFIXES, DECIMAL_SUFFIXES, Format, LEAST_EXPONENT, Quantity, int_at_scale, scale_down,
};

impl Quantity {
    /// The text with the greatest suffix that needs no fraction.
    ///
    /// Upstream drops a suffix that does not exist without a word, so that `1000E` becomes `1`.
    pub(super) fn canonical(&self) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        let mut out = String::new();
        if self.format == Format::BinarySi
            && let Some(rounded) = self.binary_amount()
        {
            let times = write_binary(&rounded, &mut out);
            out.push_str(BINARY_SUFFIXES.get(times as usize).unwrap_or(&""));
            return out;
        }
        let exponent = write_decimal(&self.amount, &mut out);
        if matches!(self.format, Format::DecimalSi | Format::BinarySi) {
            let place = usize::try_from((i64::from(exponent) - i64::from(LEAST_EXPONENT)) / 3);
            let suffix = place.ok().and_then(|place| DECIMAL_SUFFIXES.get(place));
            out.push_str(suffix.unwrap_or(&""));
        } else if exponent != 0 {
            let _ = write!(out, "e{exponent}");
        }
        out
    }

    /// The amount if binary suffixes can show it: an integer of four digits at least.
    fn binary_amount(&self) -> Option<Amount> {
        if self.cmp_int(-1024) == Ordering::Greater && self.cmp_int(1024) == Ordering::Less {
            return None;
        }
        match &self.amount {
            Amount::Int { value, scale } if *scale < 0 => {
                let (value, exact) = scale_down(*value, -i64::from(*scale));
                exact.then_some(Amount::Int { value, scale: 0 })
            }
            amount @ Amount::Int { .. } => Some(amount.clone()),
            Amount::Decimal(decimal) => {
                let mut rounded = Decimal::clone(decimal);
                rounded.round_up(0).then(|| Amount::Decimal(rounded.into()))
            }
        }
    }
}

/// Writes the mantissa and returns the exponent to base 10, a multiple of three.
fn write_decimal(amount: &Amount, out: &mut String) -> i32 {
    match amount {
        Amount::Int { value, scale } => {
            let (mantissa, times) = remove_factors(*value, 10);
            let exponent = scale.wrapping_add(times);
            let (factor, exponent) = match exponent % 3 {
                1 | -2 => (10, exponent.wrapping_sub(1)),
                2 | -1 => (100, exponent.wrapping_sub(2)),
                _ => (1, exponent),
            };
            if let Some(mantissa) = mantissa.checked_mul(factor) {
                let _ = write!(out, "{mantissa}");
                return exponent;
            }
            write_decimal_digits(Decimal::from_int(*value, scale.wrapping_neg()), out)
        }
        Amount::Decimal(decimal) => write_decimal_digits(Decimal::clone(decimal), out),
    }
}

fn write_decimal_digits(mut decimal: Decimal, out: &mut String) -> i32 {
    let mut exponent = decimal.scale().wrapping_neg().wrapping_add(decimal.remove_tens());
    while exponent % 3 != 0 {
        decimal.multiply(10);
        exponent = exponent.wrapping_sub(1);
    }
    decimal.write_digits(out);
    exponent
}

/// Writes the mantissa and returns the exponent to base 1024.
fn write_binary(amount: &Amount, out: &mut String) -> i32 {
    let decimal = match amount {
        Amount::Int { value, scale } => {
            if let Some(value) = int_at_scale(*value, *scale, 0) {
                let (mantissa, times) = remove_factors(value, 1024);
                let _ = write!(out, "{mantissa}");
                return times;
            }
            Decimal::from_int(*value, scale.wrapping_neg())
        }
        Amount::Decimal(decimal) => Decimal::clone(decimal),
    };
    let mut rounded = decimal;
    rounded.round_up(0);
    let times = rounded.remove_kibis();
    rounded.write_digits(out);
    times
}

/// Divides by `base` as often as that is exact.
fn remove_factors(value: i64, base: i64) -> (i64, i32) {
    let mut rest = value.wrapping_abs();
    let mut times = 0;
    while rest >= base && rest % base == 0 {
        rest /= base;
        times += 1;
    }
    (if value < 0 { rest.wrapping_neg() } else { rest }, times)
}
