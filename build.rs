//! Leaves the tables for unwinding and for moving the program out of the released program.
//!
//! Its panics abort (`Cargo.toml`), so nothing ever reads `.eh_frame`, which is a twelfth of the program. The compiler writes it for Linux
//! all the same, and its switch against that, `-Cforce-unwind-tables=no`, can be set for all profiles only, tests included, whose panics
//! unwind. So the linker throws it away: a script of one line, which both GNU ld and LLD add to their own. Only where the C library is
//! glibc: what start-up code of others reads is not known.
//!
//! A program that can be loaded anywhere has a table of all addresses in it, which is 0.6 MB here and is gone through at each start. This one
//! is loaded where it says, as kubectl is: its own code has no unsafe part (`docs/security.md`).

#![expect(
    clippy::disallowed_methods,
    reason = "Cargo talks with build scripts through variables of the environment"
)]

use std::path::Path;

const SCRIPT: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT AFTER .text;\n";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, wanted: &str| std::env::var(name).is_ok_and(|value| value == wanted);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !is("PROFILE", "release") || !is_linux {
        return Ok(());
    }
    let folder = std::env::var("OUT_DIR").map_err(std::io::Error::other)?;
    let script = Path::new(&folder).join("no-unwinding.ld");
    std::fs::write(&script, SCRIPT)?;
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    println!("cargo::rustc-link-arg-bins=-no-pie");
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    Ok(())
}
