//! Numbers as `golang.org/x/text/message` writes them for American English.

use std::fmt::Write;

/// Maximum number of digits that Go's format parser accepts in a number.
const MAX_NUMBER: u64 = 1_000_000;

const UNREADABLE: &str = "%!(NOVERB)";

const DEFAULT_PRECISION: u64 = 6;

/// The name of a number that has no digits.
fn special(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some("NaN"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ => None,
    }
}

/// `%.2f`: groups of three digits, and as many decimals as the precision says.
///
/// Upstream keeps the precision in a byte as the least and in 16 bits as the greatest number of decimals.
pub(super) fn write_fixed(value: f64, precision: Option<u64>, out: &mut String) {
    let precision = precision.unwrap_or(DEFAULT_PRECISION);
    if precision / 10 > MAX_NUMBER {
        out.push_str(UNREADABLE);
        return;
    }
    if let Some(name) = special(value) {
        out.push_str(name);
        return;
    }
    let least = usize::from(precision as u8);
    // No double has more decimals than this.
    let digits = match precision as u16 as i16 {
        most @ 0.. => format!("{:.*}", usize::from(most.unsigned_abs()).min(1_100), value.abs()),
        _ => format!("{}", value.abs()),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    if value < 0.0 {
        out.push('-');
    }
    for (position, digit) in whole.char_indices() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    let decimals = decimals.trim_end_matches('0');
    if least > 0 || !decimals.is_empty() {
        let _ = write!(out, ".{decimals:0<least$}");
    }
}

/// `%.20e`: always six decimals, padded to the width on the left.
pub(super) fn write_scientific(value: f64, width: Option<u64>, out: &mut String) {
    let width = width.unwrap_or(DEFAULT_PRECISION);
    if width / 10 > MAX_NUMBER {
        out.push_str(UNREADABLE);
        return;
    }
    let text = special(value).map_or_else(|| scientific(value), str::to_owned);
    let width = usize::from(width as u16);
    for _ in text.chars().count()..width {
        out.push(' ');
    }
    out.push_str(&text);
}

fn scientific(value: f64) -> String {
    let text = format!("{:.6e}", value.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if value < 0.0 { "-" } else { "" };
    let (exponent_sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ("⁻", exponent),
        None => ("", exponent),
    };
    let exponent = format!("{exponent:0>2}");
    let digit = |digit: char| SUPERSCRIPTS.get(digit.to_digit(10)? as usize);
    let raised: String = exponent.chars().filter_map(digit).collect();
    format!("{sign}{digits}×10{exponent_sign}{raised}")
}

const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_numbers_are_grouped() {
        for (value, precision, expected) in [
            (1_234_567.891, None, "1,234,567.891000"),
            (-1_234_567.885, Some(2), "-1,234,567.89"),
            (2.5, Some(0), "2"),
            (3.5, Some(0), "4"),
            (0.25, Some(1), "0.2"),
            (-0.0, None, "0.000000"),
            (-0.4, Some(0), "-0"),
            (999_999.999_6, Some(3), "1,000,000.000"),
            (f64::NEG_INFINITY, Some(2), "-∞"),
            (1e-5, Some(30), "0.000010000000000000000818030539"),
            (1.5, Some(100_000_000), "%!(NOVERB)"),
        ] {
            let mut out = String::new();
            write_fixed(value, precision, &mut out);
            assert_eq!(out, expected);
        }
        let mut out = String::new();
        write_fixed(1.5, Some(2_000_000), &mut out);
        assert_eq!(out.len(), 130);
    }

    #[test]
    fn scientific_numbers_are_padded() {
        for (value, width, expected) in [
            (1_234_567.891, None, "1.234568×10⁰⁶"),
            (-0.000_123_45, Some(2), "-1.234500×10⁻⁰⁴"),
            (0.0, None, "0.000000×10⁰⁰"),
            (1e100, None, "1.000000×10¹⁰⁰"),
            (f64::INFINITY, None, "     ∞"),
            (1.5, Some(20), "       1.500000×10⁰⁰"),
        ] {
            let mut out = String::new();
            write_scientific(value, width, &mut out);
            assert_eq!(out, expected);
        }
    }
}
