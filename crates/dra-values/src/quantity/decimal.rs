//! Decimal numbers of any length, for the quantities that do not fit into 64 bits.
//!
//! A number is a string of decimal digits and a scale, as in `gopkg.in/inf.v0`, because the scale of a result shows in
//! the approximate float. Scaling by powers of ten, which is nearly all that quantities need, only moves digits. These
//! numbers are rare: nothing here is meant to be fast beyond being linear, which a hostile file of digits needs.

use std::cmp::Ordering;
use std::iter::{repeat, repeat_n};

/// Digits that two operands may be apart before the lesser one no longer counts in a sum.
///
/// Exponents reach 2³¹, and Kubernetes would try to write out all those zeros. No answer exists to be compared with.
const MAX_DISTANCE: i64 = 20_000;

/// `digits × 10^-scale`, negated when `negative`.
#[derive(Debug, Clone, Default)]
pub(super) struct Decimal {
    negative: bool,
    /// Least significant digit first, without leading zeros; empty for zero.
    digits: Vec<u8>,
    scale: i32,
}

impl Decimal {
    /// Of digits that may have zeros in front.
    fn new(negative: bool, mut digits: Vec<u8>, scale: i32) -> Self {
        while digits.pop_if(|digit| *digit == 0).is_some() {}
        Self {
            negative: negative && !digits.is_empty(),
            digits,
            scale,
        }
    }

    pub(super) fn from_int(value: impl Into<i128>, scale: i32) -> Self {
        let value = value.into();
        let text = value.unsigned_abs().to_string();
        let digits = text.bytes().rev().map(|byte| byte - b'0');
        Self::new(value < 0, digits.collect(), scale)
    }

    /// Reads an optional sign and digits with at most one dot. `None` if there is no digit or anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let bytes = fraction.bytes().rev().chain(whole.bytes().rev());
        let digit = |byte: u8| byte.is_ascii_digit().then(|| byte - b'0');
        let digits: Vec<u8> = bytes.map(digit).collect::<Option<_>>()?;
        (!digits.is_empty()).then(|| Self::new(text.starts_with('-'), digits, fraction.len() as i32))
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn sign(&self) -> i32 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    pub(super) fn scale(&self) -> i32 {
        self.scale
    }

    pub(super) fn negate(&mut self) {
        self.negative = !self.negative && !self.digits.is_empty();
    }

    /// Multiplies by `10^exponent` by moving the scale, which wraps as upstream's does.
    pub(super) fn shift_scale(&mut self, exponent: i32) {
        self.scale = self.scale.wrapping_sub(exponent);
    }

    /// Multiplies the digits by `factor`, which is not zero, and leaves the scale.
    pub(super) fn multiply(&mut self, factor: u64) {
        let mut carry = 0_u128;
        for digit in &mut self.digits {
            let product = u128::from(*digit) * u128::from(factor) + carry;
            *digit = (product % 10) as u8;
            carry = product / 10;
        }
        while carry > 0 {
            self.digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }

    /// Rounds away from zero so that `scale` digits follow the point, and says whether that changed the value.
    pub(super) fn round_up(&mut self, scale: i32) -> bool {
        let shift = i64::from(scale) - i64::from(self.scale);
        if shift >= 0 {
            if self.is_zero() || shift <= MAX_DISTANCE {
                self.rescale(scale);
            }
            return true;
        }
        let unit = Self::from_int(self.sign(), scale);
        let dropped = shift.unsigned_abs().min(self.digits.len() as u64) as usize;
        let exact = self.digits.drain(..dropped).all(|digit| digit == 0);
        self.scale = scale;
        if !exact {
            *self = std::mem::take(self).add(unit);
        }
        exact
    }

    /// Appends zeros until `scale` digits follow the point, which are not fewer than now.
    fn rescale(&mut self, scale: i32) {
        if !self.is_zero() {
            let zeros = i64::from(scale) - i64::from(self.scale);
            self.digits.splice(..0, repeat_n(0, zeros as usize));
        }
        self.scale = scale;
    }

    /// Position of the first digit relative to the point.
    fn magnitude(&self) -> i64 {
        self.digits.len() as i64 - i64::from(self.scale)
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.is_zero() {
            return by_sign;
        }
        let longest = self.digits.len().max(other.digits.len());
        let [left, right] =
            [self, other].map(|number| number.digits.iter().rev().chain(repeat(&0)).take(longest));
        let by_magnitude = self.magnitude().cmp(&other.magnitude());
        let absolute = by_magnitude.then_with(|| left.cmp(right));
        if self.negative {
            absolute.reverse()
        } else {
            absolute
        }
    }

    /// The sum at the greater of the two scales.
    pub(super) fn add(mut self, mut other: Self) -> Self {
        let scale = self.scale.max(other.scale);
        for (operand, opposite) in [(&self, &other), (&other, &self)] {
            let zeros = i64::from(scale) - i64::from(operand.scale);
            if !operand.is_zero() && zeros > MAX_DISTANCE + opposite.digits.len() as i64 {
                return operand.clone();
            }
        }
        self.rescale(scale);
        other.rescale(scale);
        let signed = |number: &Self, place| {
            let digit = number.digits.get(place).map_or(0, |digit| *digit as i8);
            if number.negative { -digit } else { digit }
        };
        let places = 0..self.digits.len().max(other.digits.len());
        let sums = places.map(|place| signed(&self, place) + signed(&other, place));
        // The sum of the first digits that differ from zero has the sign of all: with other signs, what follows is less.
        let negative = sums
            .clone()
            .rev()
            .find(|sum| *sum != 0)
            .is_some_and(|sum| sum < 0);
        let mut digits = Vec::with_capacity(sums.len() + 1);
        let mut carry = 0;
        for sum in sums {
            let sum = if negative { -sum } else { sum } + carry;
            digits.push(sum.rem_euclid(10) as u8);
            carry = sum.div_euclid(10);
        }
        digits.push(carry as u8);
        Self::new(negative, digits, scale)
    }

    /// Takes the factor ten out of the digits as often as it is there, and returns how often.
    pub(super) fn remove_tens(&mut self) -> i32 {
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        zeros as i32
    }

    /// Takes the factor 1,024 out of the digits as often as it is there, and returns how often.
    pub(super) fn remove_kibis(&mut self) -> i32 {
        let mut times = 0;
        while !self.is_zero() {
            let mut quotient = vec![0; self.digits.len()];
            let mut remainder = 0_u32;
            for (position, digit) in self.digits.iter().enumerate().rev() {
                let value = remainder * 10 + u32::from(*digit);
                quotient[position] = (value / 1024) as u8;
                remainder = value % 1024;
            }
            if remainder != 0 {
                break;
            }
            *self = Self::new(self.negative, quotient, self.scale);
            times += 1;
        }
        times
    }

    /// The digits as an integer, reduced to 64 bits as a conversion in Go would.
    pub(super) fn unscaled_wrapping(&self) -> i64 {
        self.divide_floor(0).0
    }

    /// The digits as an integer, if 128 bits hold it.
    pub(super) fn unscaled_exact(&self) -> Option<i128> {
        let absolute = self.digits.iter().rev().try_fold(0_i128, |value, digit| {
            value.checked_mul(10)?.checked_add(i128::from(*digit))
        })?;
        Some(if self.negative { -absolute } else { absolute })
    }

    /// Compares the digits, taken as an integer, with `i64::MAX`.
    pub(super) fn unscaled_below_max(&self) -> bool {
        let exact = self.unscaled_exact();
        self.negative || exact.is_some_and(|unscaled| unscaled < i128::from(i64::MAX))
    }

    /// `floor(digits / 10^exponent)` and whether a remainder was left, the quotient reduced to 64 bits.
    pub(super) fn divide_floor(&self, exponent: usize) -> (i64, bool) {
        let (dropped, kept) = self.digits.split_at(exponent.min(self.digits.len()));
        let remains = dropped.iter().any(|digit| *digit > 0);
        let absolute = kept.iter().rev().fold(0_i64, |value, digit| {
            value.wrapping_mul(10).wrapping_add(i64::from(*digit))
        });
        let floor = if self.negative {
            absolute.wrapping_neg().wrapping_sub(i64::from(remains))
        } else {
            absolute
        };
        (floor, remains)
    }

    /// The digits as the nearest float.
    pub(super) fn unscaled_float(&self) -> f64 {
        let mut text = String::new();
        self.write_digits(&mut text);
        text.parse().unwrap_or(f64::NAN)
    }

    /// Writes the digits as an integer.
    pub(super) fn write_digits(&self, out: &mut String) {
        if self.digits.is_empty() {
            out.push('0');
            return;
        }
        if self.negative {
            out.push('-');
        }
        out.extend(self.digits.iter().rev().map(|digit| char::from(b'0' + digit)));
    }
}
