//! The integration tests: everything that runs the built `kubectl-dra`, in one program, so that the
//! dependencies link once. `support` holds what the tests share, `live` the tests on a real control plane.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read the clock, the environment and files; the ban protects the library's core"
)]

mod architecture;
mod check;
mod check_formats;
mod check_releases;
mod cli;
mod commands;
mod completion;
mod conformance;
mod convert;
mod credentials;
mod destination;
mod documentation;
mod export;
mod field;
mod field_chain;
mod fields;
mod fleet;
mod hostile;
mod inspect;
mod kubelet_texts;
mod laws;
mod live;
mod manifests;
mod packaging;
mod presence;
mod reassurance;
mod rehearsal;
mod report;
mod run;
mod scheduling;
mod screens;
mod simulate;
mod support;
mod top;
mod variants;
mod voice;
mod words;
