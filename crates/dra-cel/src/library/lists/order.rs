//! Sorting in the very order of Go's `sort.Slice`, which leaves elements that compare equal in no stable order.
//!
//! Pattern-defeating quicksort as in Go's `sort/zsortfunc.go`. Comparisons may be inconsistent; sorting ends regardless.

/// Sorts `items` by `less`.
pub(super) fn sort<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let end = items.len();
    let limit = usize::BITS - end.leading_zeros();
    Sorter { items, less }.sort(0, end, limit);
}

/// Ranges up to this length are sorted by insertion.
const MAX_INSERTION: usize = 12;
/// Ranges from this length on are worth more effort.
const LONG: usize = 50;

/// Hint from the choice of a pivot about a range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Unknown,
    Increasing,
    Decreasing,
}

struct Sorter<'s, T, F> {
    items: &'s mut [T],
    less: F,
}

impl<T, F: Fn(&T, &T) -> bool> Sorter<'_, T, F> {
    fn less(&self, left: usize, right: usize) -> bool {
        (self.less)(&self.items[left], &self.items[right])
    }

    fn swap(&mut self, left: usize, right: usize) {
        self.items.swap(left, right);
    }

    /// Sorts from `start` up to `end`, with `limit` bad pivots left before falling back to a heap.
    fn sort(&mut self, mut start: usize, mut end: usize, mut limit: u32) {
        let mut balanced = true;
        let mut partitioned = true;
        loop {
            let length = end - start;
            if length <= MAX_INSERTION {
                self.insert(start, end);
                return;
            }
            if limit == 0 {
                self.heap(start, end);
                return;
            }
            if !balanced {
                self.scatter(start, end);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.choose(start, end);
            if hint == Hint::Decreasing {
                self.items[start..end].reverse();
                pivot = (end - 1) - (pivot - start);
                hint = Hint::Increasing;
            }
            if balanced && partitioned && hint == Hint::Increasing && self.insert_few(start, end) {
                return;
            }
            if start > 0 && !self.less(start - 1, pivot) {
                start = self.partition_equal(start, end, pivot);
                continue;
            }
            let (middle, already) = self.partition(start, end, pivot);
            partitioned = already;
            let (left, right) = (middle - start, end - middle);
            if left < right {
                balanced = left >= length / 8;
                self.sort(start, middle, limit);
                start = middle + 1;
            } else {
                balanced = right >= length / 8;
                self.sort(middle + 1, end, limit);
                end = middle;
            }
        }
    }

    fn insert(&mut self, start: usize, end: usize) {
        for next in start + 1..end {
            let mut place = next;
            while place > start && self.less(place, place - 1) {
                self.swap(place, place - 1);
                place -= 1;
            }
        }
    }

    fn heap(&mut self, start: usize, end: usize) {
        let length = end - start;
        for root in (0..=(length - 1) / 2).rev() {
            self.sift_down(root, length, start);
        }
        for last in (0..length).rev() {
            self.swap(start, start + last);
            self.sift_down(0, last, start);
        }
    }

    fn sift_down(&mut self, mut root: usize, end: usize, start: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                return;
            }
            if child + 1 < end && self.less(start + child, start + child + 1) {
                child += 1;
            }
            if !self.less(start + root, start + child) {
                return;
            }
            self.swap(start + root, start + child);
            root = child;
        }
    }

    /// Moves what is less than the pivot before it. The second result says whether that was so already.
    fn partition(&mut self, start: usize, end: usize, pivot: usize) -> (usize, bool) {
        self.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        let mut already = true;
        loop {
            while low <= high && self.less(low, start) {
                low += 1;
            }
            while low <= high && !self.less(high, start) {
                high -= 1;
            }
            if low > high {
                break;
            }
            self.swap(low, high);
            low += 1;
            high -= 1;
            already = false;
        }
        self.swap(high, start);
        (high, already)
    }

    /// Moves what equals the pivot, which nothing is less than, to the front.
    fn partition_equal(&mut self, start: usize, end: usize, pivot: usize) -> usize {
        self.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        loop {
            while low <= high && !self.less(start, low) {
                low += 1;
            }
            while low <= high && self.less(start, high) {
                high -= 1;
            }
            if low > high {
                return low;
            }
            self.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Repairs a range that is nearly sorted, or gives up.
    fn insert_few(&mut self, start: usize, end: usize) -> bool {
        let mut next = start + 1;
        for _ in 0..5 {
            while next < end && !self.less(next, next - 1) {
                next += 1;
            }
            if next == end {
                return true;
            }
            if end - start < LONG {
                return false;
            }
            self.swap(next, next - 1);
            if next - start >= 2 {
                for place in (1..next).rev() {
                    if !self.less(place, place - 1) {
                        break;
                    }
                    self.swap(place, place - 1);
                }
            }
            if end - next >= 2 {
                for place in next + 1..end {
                    if !self.less(place, place - 1) {
                        break;
                    }
                    self.swap(place, place - 1);
                }
            }
        }
        false
    }

    /// Breaks patterns that lead to bad pivots, by the same numbers each time.
    fn scatter(&mut self, start: usize, end: usize) {
        let length = end - start;
        let mask = (1_u64 << (usize::BITS - length.leading_zeros())) - 1;
        let mut random = length as u64;
        let middle = start + length / 4 * 2;
        for place in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mut other = (random & mask) as usize;
            if other >= length {
                other -= length;
            }
            self.swap(place, start + other);
        }
    }

    fn choose(&self, start: usize, end: usize) -> (usize, Hint) {
        let length = end - start;
        let quarter = length / 4;
        let mut swaps = 0;
        let [mut first, mut second, mut third] = [start + quarter, start + quarter * 2, start + quarter * 3];
        if length >= LONG {
            first = self.median(first - 1, first, first + 1, &mut swaps);
            second = self.median(second - 1, second, second + 1, &mut swaps);
            third = self.median(third - 1, third, third + 1, &mut swaps);
        }
        let pivot = self.median(first, second, third, &mut swaps);
        let hint = match swaps {
            0 => Hint::Increasing,
            12 => Hint::Decreasing,
            _ => Hint::Unknown,
        };
        (pivot, hint)
    }

    fn median(&self, mut first: usize, mut second: usize, mut third: usize, swaps: &mut u32) -> usize {
        let mut order = |left: &mut usize, right: &mut usize| {
            if self.less(*right, *left) {
                *swaps += 1;
                std::mem::swap(left, right);
            }
        };
        order(&mut first, &mut second);
        order(&mut second, &mut third);
        order(&mut first, &mut second);
        second
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts(mut items in proptest::collection::vec(0_u32..50, 0..300)) {
            let mut expected = items.clone();
            expected.sort_unstable();
            sort(&mut items, |left, right| left < right);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn ends_whatever_the_comparison_says(items in proptest::collection::vec(0_u32..1000, 0..300)) {
            let mut sorted = items.clone();
            sort(&mut sorted, |left, right| (left ^ right) % 3 == 0);
            sorted.sort_unstable();
            let mut expected = items;
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }
}
