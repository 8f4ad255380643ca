//! The commands that simulate, on objects read from real clusters.

mod eviction;
mod eviction_history;
