//! What the tests of the allocator against the Go library share.

pub(crate) mod case;
