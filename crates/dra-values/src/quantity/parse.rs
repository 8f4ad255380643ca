//! Reading a quantity. Mirrors `quantity.go`, `ParseQuantity` and `parseQuantityString`, which accept more than the
//! documented grammar: a lone suffix, sign or dot is zero.

use std::cmp::Ordering;
use std::str::FromStr;
use std::sync::Arc;

use super::decimal::Decimal;
use super::{Amount, Format, Quantity, Written};
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

fn skip(text: &str, from: usize, accept: impl Fn(u8) -> bool) -> usize {
    from + text.as_bytes()[from..]
        .iter()
        .take_while(|byte| accept(**byte))
        .count()
}

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    let positive = !text.starts_with('-');
    let start = usize::from(text.starts_with(['-', '+']));
    let digits_start = skip(text, start, |byte| byte == b'0');
    if digits_start == text.len() {
        return Ok(Parts {
            positive,
            number: "0",
            whole: "0",
            fraction: "",
            suffix: "",
        });
    }
    let digits_end = skip(text, digits_start, |byte| byte.is_ascii_digit());
    let digits = &text[digits_start..digits_end];
    let whole = if digits.is_empty() { "0" } else { digits };
    let mut position = digits_end;
    let mut fraction = "";
    if text.as_bytes().get(position) == Some(&b'.') {
        let fraction_end = skip(text, position + 1, |byte| byte.is_ascii_digit());
        fraction = &text[position + 1..fraction_end];
        position = fraction_end;
    }
    let number = &text[..position];
    let letters_end = skip(text, position, |byte| b"eEinumkKMGTP".contains(&byte));
    let exponent_start =
        letters_end + usize::from(matches!(text.as_bytes().get(letters_end), Some(b'-' | b'+')));
    if skip(text, exponent_start, |byte| byte.is_ascii_digit()) < text.len() {
        return Err(QuantityError::Format);
    }
    Ok(Parts {
        positive,
        number,
        whole,
        fraction,
        suffix: &text[position..],
    })
}

/// The format that a suffix stands for, and its exponent to base 2 for binary suffixes, 10 for others.
fn interpret(suffix: &str) -> Option<(Format, i32)> {
    let decimal = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        "Ki" => return Some((Format::BinarySi, 10)),
        "Mi" => return Some((Format::BinarySi, 20)),
        "Gi" => return Some((Format::BinarySi, 30)),
        "Ti" => return Some((Format::BinarySi, 40)),
        "Pi" => return Some((Format::BinarySi, 50)),
        "Ei" => return Some((Format::BinarySi, 60)),
        _ => {
            let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            // Upstream narrows without a check.
            return Some((Format::DecimalExponent, exponent as i32));
        }
    };
    Some((Format::DecimalSi, decimal))
}

/// Upstream's overflow check refuses the least integer unless it is multiplied by one.
fn multiply(value: i64, factor: i64) -> Option<i64> {
    if factor == i64::MIN && value > 1 {
        None
    } else {
        value.checked_mul(factor)
    }
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
    let Some(absolute) = multiply(value, mantissa) else {
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
