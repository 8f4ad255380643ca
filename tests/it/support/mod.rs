//! Test support: running programs, snapshots of their output, schemas, source text, the test cluster, waiting.

pub(crate) mod cluster;
pub(crate) mod command;
pub(crate) mod fake;
pub(crate) mod generated;
pub(crate) mod go;
pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod prometheus;
pub(crate) mod rust_crate;
pub(crate) mod rust_source;
pub(crate) mod schema;
pub(crate) mod wait;
