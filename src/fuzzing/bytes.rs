//! Choices from bytes: the same bytes always make the same choices.

/// Bytes that are taken one after the other. At their end everything is zero, so that each input is a valid one.
pub(super) struct Bytes<'a> {
    left: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { left: data }
    }

    /// Returns whether choices are left.
    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.left.split_first() else {
            return 0;
        };
        self.left = rest;
        *first
    }

    /// A number below `bound`, which is not zero.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let wide = bound > 256;
        let number = usize::from(self.byte());
        let number = if wide {
            number << 8 | usize::from(self.byte())
        } else {
            number
        };
        number % bound.max(1)
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// True in one of `in_how_many` cases.
    pub(super) fn one_in(&mut self, in_how_many: usize) -> bool {
        self.below(in_how_many) == in_how_many - 1
    }
}
