//! The lists of a problem, and the types of the places in them.

use crate::places::places;

places! {
    /// A claim of a demand.
    ClaimIx;
    /// A constraint of a claim.
    ConstraintIx;
    /// An alternative of any request of a demand.
    AlternativeIx;
    /// A request among those of all claims of a demand.
    SlotIx;
    /// Index of a constraint attribute's source.
    SourceIx;
    /// A pool that a node sees.
    ViewIx;
    /// A device of a node, in the order of the search.
    DeviceIx;
    /// A set of elements that an attribute has, or that attributes have in common.
    ValueIx;
    /// A single value of an attribute.
    ElementIx;
    /// Devices that can only be swapped together.
    ComponentIx;
}

/// The places from `first` on, so many.
pub(super) fn stretch<I: From<usize> + Into<usize>>(
    first: I,
    count: usize,
) -> impl DoubleEndedIterator<Item = I> + Clone {
    let first = first.into();
    (first..first + count).map(I::from)
}
