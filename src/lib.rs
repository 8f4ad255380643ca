//! kubectl-dra: see, explain, simulate and maintain what Kubernetes Dynamic Resource Allocation does.
#[cfg(feature = "cli")]
/// placeholder
pub fn main(_args: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
