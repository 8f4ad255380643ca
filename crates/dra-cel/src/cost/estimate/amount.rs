//! Ranges of sizes and costs, saturating. Mirrors `SizeEstimate` and `CostEstimate` (`checker/cost.go`, cel-go v0.29).

use super::super::{REGEX_FACTOR, STRING_FACTOR};

/// The least and the most that something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    /// Nothing is known.
    pub(super) const ANY: Self = Self {
        min: 0,
        max: u64::MAX,
    };

    pub(super) const fn fixed(value: u64) -> Self {
        Self {
            min: value,
            max: value,
        }
    }

    /// That or anything less.
    pub(super) const fn up_to(max: u64) -> Self {
        Self { min: 0, max }
    }

    /// The beginning of a union; the union itself if it `is_empty`.
    pub(super) fn before_union(is_empty: bool) -> Self {
        let min = if is_empty { 0 } else { u64::MAX };
        Self { min, max: 0 }
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            min: times(self.min, factor),
            max: times(self.max, factor),
        }
    }

    /// The cost of going through a string of this size.
    pub(super) fn traversed(self) -> Self {
        self.times(STRING_FACTOR)
    }

    /// The cost of a regular expression of this size.
    pub(super) fn matched(self) -> Self {
        self.times(REGEX_FACTOR)
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

fn times(value: u64, factor: f64) -> u64 {
    let product = (value as f64 * factor).ceil();
    // Conversion saturates, as the original does by hand.
    product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_saturate() {
        let any = Range::ANY;
        assert_eq!(any.add(any), any);
        assert_eq!(any.times(2.0), any);
        assert_eq!(Range::fixed(3).traversed(), Range::fixed(1));
        assert_eq!(Range::fixed(3).union(Range::fixed(5)), Range { min: 3, max: 5 });
    }
}
