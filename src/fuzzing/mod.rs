//! Properties of random input, as functions that panic on a violation.
//!
//! Each target takes bytes of any kind, makes an input of them and checks what must hold for every input. A coverage-guided fuzzer
//! calls the targets (`tests/fuzz`, `make fuzz-input`), and so do the tests of this module, with the inputs that are kept in
//! `tests/fuzz/corpus`. Nothing here is part of the program: the module exists in tests and under the fuzzer only.

mod bytes;
mod clusters;
mod commands;
mod files;
pub(crate) mod program;
mod secrets;
mod texts;
mod verdicts;

#[cfg(test)]
#[expect(
    clippy::print_stdout,
    reason = "the test harness shows it for the input that failed"
)]
mod tests;

/// A target: what it is called, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets, by name.
pub const TARGETS: &[Target] = &[
    ("json", verdicts::json),
    ("yaml", verdicts::yaml),
    ("snapshot", verdicts::snapshot),
    ("cluster", verdicts::cluster),
    ("cel", texts::cel),
    ("quantity", texts::quantity),
    ("selectors", texts::selectors),
    ("sanitizer", texts::sanitizer),
    ("command", commands::command),
    ("kubeconfig", secrets::kubeconfig),
    ("address", secrets::address),
    ("redaction", secrets::redaction),
    ("destination", files::destination),
    ("records", files::records),
];

/// Gives `data` to the target called `name`.
///
/// # Panics
/// When there is no such target, or when the program breaks one of its promises.
pub fn run(name: &str, data: &[u8]) {
    let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) else {
        panic!("there is no fuzz target `{name}`");
    };
    target(data);
}
