//! What tests share: the test cluster, running programs, waiting.

pub(crate) mod cluster;
pub(crate) mod go;
pub(crate) mod process;
pub(crate) mod wait;
