//! kubectl-dra: see, explain, simulate and maintain what Kubernetes Dynamic Resource Allocation does.

pub mod model;
pub mod reservation;

/// Runs the command line `args` and returns the process's exit code.
#[cfg(feature = "cli")]
pub fn main(_args: impl IntoIterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
