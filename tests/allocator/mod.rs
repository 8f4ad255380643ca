//! Code shared by the tests of the allocator against the Go library.

pub(crate) mod case;
