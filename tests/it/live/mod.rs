//! Tests on a real control plane. How to write one is told in `docs/testing.md`.

mod advice;
mod check;
mod conformance;
mod connections;
mod consumers;
mod convert;
mod eviction;
mod explain;
mod faults;
mod features;
mod lease;
mod manifests;
mod names;
mod operation;
mod placement;
mod reading;
mod rehearsal;
mod remedies;
mod rights;
mod run;
mod scenarios;
mod smoke;
mod snapshot;
mod supplement;
mod take_over;
mod take_over_faults;
