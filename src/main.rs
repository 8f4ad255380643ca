//! The `kubectl-dra` binary: everything is in the library.

use std::process::ExitCode;

/// Threads decode objects that another one keeps; the C library's allocator takes a sixth of that time for itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kubectl_dra::main(std::env::args_os())
}
