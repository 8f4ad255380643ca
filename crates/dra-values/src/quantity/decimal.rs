//! Decimal numbers of any length, for the quantities that do not fit into 64 bits.
//!
//! A number is a string of decimal digits and a scale, as in `gopkg.in/inf.v0`, because the scale of a result shows in
//! the approximate float. Scaling by powers of ten, which is nearly all that quantities need, only moves digits. These
//! numbers are rare: nothing here is meant to be fast beyond being linear.

use std::cmp::Ordering;

/// Digits that two operands may be apart before the lesser one no longer counts in a sum.
///
/// Exponents reach 2³¹, and Kubernetes would try to write out all those zeros. No answer exists to be compared with.
const MAX_DISTANCE: i64 = 20_000;

/// `digits × 10^-scale`, negated when `negative`.
#[derive(Debug, Clone)]
pub(super) struct Decimal {
    negative: bool,
    /// Least significant digit first, without leading zeros; empty for zero.
    digits: Vec<u8>,
    scale: i32,
}

impl Decimal {
    pub(super) fn from_int(value: impl Into<i128>, scale: i32) -> Self {
        let value = value.into();
        let mut rest = value.unsigned_abs();
        let mut digits = Vec::new();
        while rest > 0 {
            digits.push((rest % 10) as u8);
            rest /= 10;
        }
        Self {
            negative: value < 0,
            digits,
            scale,
        }
    }

    /// Reads an optional sign and digits with at most one dot. `None` if there is no digit or anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, number) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] | rest => (false, rest),
        };
        let mut digits = Vec::with_capacity(number.len());
        let mut dot = None;
        for &byte in number {
            match byte {
                b'0'..=b'9' => digits.push(byte - b'0'),
                b'.' if dot.is_none() => dot = Some(digits.len()),
                _ => return None,
            }
        }
        if digits.is_empty() {
            return None;
        }
        let scale = dot.map_or(0, |position| (digits.len() - position) as i32);
        digits.reverse();
        let mut parsed = Self {
            negative,
            digits,
            scale,
        };
        parsed.trim();
        Some(parsed)
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.negative = false;
        }
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

    /// Multiplies the digits by `factor` and leaves the scale.
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
        self.trim();
    }

    /// Rounds away from zero so that `scale` digits follow the point, and says whether that changed the value.
    pub(super) fn round_up(&mut self, scale: i32) -> bool {
        let shift = i64::from(scale) - i64::from(self.scale);
        if shift >= 0 {
            if self.is_zero() || shift <= MAX_DISTANCE {
                self.rescale(shift);
                self.scale = scale;
            }
            return true;
        }
        let dropped = shift.unsigned_abs().min(self.digits.len() as u64) as usize;
        let exact = self.digits.drain(..dropped).all(|digit| digit == 0);
        self.scale = scale;
        if !exact {
            self.increment();
        }
        exact
    }

    fn increment(&mut self) {
        for digit in &mut self.digits {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.push(1);
    }

    /// Appends `shift` zeros to the digits.
    fn rescale(&mut self, shift: i64) {
        if !self.is_zero() && shift > 0 {
            self.digits.splice(..0, std::iter::repeat_n(0, shift as usize));
        }
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
        let absolute = self.magnitude().cmp(&other.magnitude()).then_with(|| {
            let longest = self.digits.len().max(other.digits.len());
            let own = self
                .digits
                .iter()
                .rev()
                .chain(std::iter::repeat(&0))
                .take(longest);
            own.cmp(
                other
                    .digits
                    .iter()
                    .rev()
                    .chain(std::iter::repeat(&0))
                    .take(longest),
            )
        });
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
        self.rescale(i64::from(scale) - i64::from(self.scale));
        other.rescale(i64::from(scale) - i64::from(other.scale));
        self.scale = scale;
        other.scale = scale;
        if self.negative == other.negative || self.is_zero() || other.is_zero() {
            let negative = if self.is_zero() {
                other.negative
            } else {
                self.negative
            };
            let mut sum = add_digits(&self.digits, &other.digits);
            sum.shrink_to_fit();
            return Self {
                negative,
                digits: sum,
                scale,
            };
        }
        let (greater, lesser) = match cmp_digits(&self.digits, &other.digits) {
            Ordering::Less => (other, self),
            _ => (self, other),
        };
        let digits = subtract_digits(&greater.digits, &lesser.digits);
        let mut difference = Self {
            negative: greater.negative,
            digits,
            scale,
        };
        difference.trim();
        difference
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
            self.digits = quotient;
            self.trim();
            times += 1;
        }
        times
    }

    /// The digits as an integer, reduced to 64 bits as a conversion in Go would.
    pub(super) fn unscaled_wrapping(&self) -> i64 {
        let absolute = self.digits.iter().rev().fold(0_u64, |value, digit| {
            value.wrapping_mul(10).wrapping_add(u64::from(*digit))
        });
        if self.negative {
            absolute.wrapping_neg() as i64
        } else {
            absolute as i64
        }
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
        self.unscaled().compare(&Self::from_int(i64::MAX, 0)) == Ordering::Less
    }

    fn unscaled(&self) -> Self {
        Self {
            scale: 0,
            ..self.clone()
        }
    }

    /// `floor(digits / 10^exponent)` and whether a remainder was left, the quotient reduced to 64 bits.
    pub(super) fn divide_floor(&self, exponent: usize) -> (i64, bool) {
        let dropped = exponent.min(self.digits.len());
        let exact = self.digits[..dropped].iter().all(|digit| *digit == 0);
        let quotient = Self {
            negative: self.negative,
            digits: self.digits[dropped..].to_vec(),
            scale: 0,
        };
        let truncated = quotient.unscaled_wrapping();
        let floor = if self.negative && !exact {
            truncated.wrapping_sub(1)
        } else {
            truncated
        };
        (floor, !exact)
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

fn cmp_digits(left: &[u8], right: &[u8]) -> Ordering {
    left.len()
        .cmp(&right.len())
        .then_with(|| left.iter().rev().cmp(right.iter().rev()))
}

fn add_digits(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut sum = Vec::with_capacity(left.len().max(right.len()) + 1);
    let mut carry = 0;
    for position in 0..left.len().max(right.len()) {
        let digit = left.get(position).unwrap_or(&0) + right.get(position).unwrap_or(&0) + carry;
        sum.push(digit % 10);
        carry = digit / 10;
    }
    if carry > 0 {
        sum.push(carry);
    }
    sum
}

/// `left - right`, where `left` is not the lesser.
fn subtract_digits(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut difference = Vec::with_capacity(left.len());
    let mut borrow = 0;
    for (position, digit) in left.iter().enumerate() {
        let subtrahend = right.get(position).unwrap_or(&0) + borrow;
        borrow = u8::from(*digit < subtrahend);
        difference.push(digit + 10 * borrow - subtrahend);
    }
    difference
}
