//! The `kubectl-dra` binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_dra::main(std::env::args_os())
}
