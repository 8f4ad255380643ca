//! Reading a quantity. Mirrors `quantity.go`, `ParseQuantity` and `parseQuantityString`, which accept more than the
//! documented grammar: a lone suffix, sign or dot is zero.

use std::cmp::Ordering;
use std::str::FromStr;
use std::sync::Arc;

use super::decimal::Decimal;
use super::{Amount, BINARY_SUFFIXES, DECIMAL_SUFFIXES, Format, LEAST_EXPONENT, Quantity, Written};
use crate::Str;

/// The reason why a text is not a quantity, in upstream's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text has not the form of a quantity.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// There is no number before the suffix.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// The parts of a quantity's text.
struct Parts<'a> {
    positive: bool,
    /// Sign, digits and dot, as written.
    number: &'a str,
    /// Digits before the dot without leading zeros, `0` for none.
    whole: &'a str,
    /// Digits after the dot.
    fraction: &'a str,
    suffix: &'a str,
}

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    let positive = !text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let significant = unsigned.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(Parts {
            positive,
            number: "0",
            whole: "0",
            fraction: "",
            suffix: "",
        });
    }
    let (whole, rest) = split_digits(significant);
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    let exponent = suffix.trim_start_matches(|letter| "eEinumkKMGTP".contains(letter));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if split_digits(exponent) != (exponent, "") {
        return Err(QuantityError::Format);
    }
    Ok(Parts {
        positive,
        number: &text[..text.len() - suffix.len()],
        whole: if whole.is_empty() { "0" } else { whole },
        fraction,
        suffix,
    })
}

/// The digits at the beginning, and what follows.
fn split_digits(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    text.split_at(text.len() - rest.len())
}

/// The format that a suffix stands for, and its exponent to base 2 for binary suffixes, 10 for others.
fn interpret(suffix: &str) -> Option<(Format, i32)> {
    let place = |suffixes: &[&str]| suffixes.iter().position(|known| *known == suffix);
    if let Some(place) = place(&DECIMAL_SUFFIXES) {
        return Some((Format::DecimalSi, 3 * place as i32 + LEAST_EXPONENT));
    }
    if let Some(place) = place(&BINARY_SUFFIXES) {
        return Some((Format::BinarySi, 10 * place as i32));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // Upstream narrows without a check.
    Some((Format::DecimalExponent, exponent as i32))
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        if text == "0" {
            let amount = Amount::Int { value: 0, scale: 0 };
            return Ok(Self {
                amount,
                format: Format::DecimalSi,
                written: Written::Canonical,
            });
        }
        let parts = split(text)?;
        let (format, exponent) = interpret(parts.suffix).ok_or(QuantityError::Suffix)?;
        if let Some(small) = parse_small(text, &parts, format, exponent)? {
            return Ok(small);
        }
        parse_large(&parts, format, exponent)
    }
}

/// The amount in 64 bits, if it has few enough digits.
fn parse_small(
    text: &str,
    parts: &Parts<'_>,
    format: Format,
    exponent: i32,
) -> Result<Option<Quantity>, QuantityError> {
    let digits = parts.whole.len() + parts.fraction.len();
    let (mantissa, scale) = if format == Format::BinarySi {
        // A binary suffix has about three digits for ten bits.
        let room = 14 - i64::from(exponent) * 3 / 10 - parts.whole.len() as i64;
        if room < 0 || !parts.fraction.is_empty() {
            return Ok(None);
        }
        (1_i64 << exponent, 0)
    } else {
        (1, exponent)
    };
    if digits > 18 {
        return Ok(None);
    }
    let scale = scale.wrapping_sub(parts.fraction.len() as i32);
    if scale < -9 {
        return Ok(None);
    }
    let shifted = format!("{}{}", parts.whole, parts.fraction);
    let value: i64 = shifted.parse().map_err(|_| QuantityError::Numeric)?;
    let Some(absolute) = value.checked_mul(mantissa) else {
        return Ok(None);
    };
    let amount = Amount::Int {
        value: if parts.positive { absolute } else { -absolute },
        scale,
    };
    let canonical = if format == Format::BinarySi {
        value & 7 != 0
    } else {
        scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
    };
    let mut quantity = Quantity {
        amount,
        format,
        written: Written::No,
    };
    if canonical {
        let differs = quantity.canonical() != text;
        quantity.written = if differs {
            Written::As(Str::from(text))
        } else {
            Written::Canonical
        };
    }
    Ok(Some(quantity))
}

fn parse_large(parts: &Parts<'_>, mut format: Format, exponent: i32) -> Result<Quantity, QuantityError> {
    let mut amount = Decimal::parse(parts.number).ok_or(QuantityError::Numeric)?;
    if format == Format::BinarySi {
        amount.multiply(1 << exponent);
    } else {
        amount.shift_scale(exponent);
    }
    if !parts.positive {
        amount.negate();
    }
    if !amount.is_zero() {
        amount.round_up(9);
    }
    if format == Format::BinarySi {
        let max = Decimal::from_int(i64::MAX, 0);
        if amount.compare(&max) == Ordering::Greater {
            amount = max;
        }
        if amount.sign() > 0 && amount.compare(&Decimal::from_int(1, 0)) == Ordering::Less {
            format = Format::DecimalSi;
        }
    }
    if !parts.positive {
        amount.negate();
    }
    Ok(Quantity {
        amount: Amount::Decimal(Arc::new(amount)),
        format,
        written: Written::No,
    })
}
