//! Numbers that stand for a place in a list. Each kind of list has a type of its own, so that a place in one cannot be used in another.

/// Declares types of places in lists, for `TiVec` and `TiSlice`.
macro_rules! places {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl From<usize> for $name {
            // No list has more elements: files with more objects are refused before.
            fn from(place: usize) -> Self {
                Self(place as u32)
            }
        }

        impl From<$name> for usize {
            fn from(place: $name) -> usize {
                place.0 as usize
            }
        }
    )*};
}

pub(crate) use places;
