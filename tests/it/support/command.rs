//! The built `kubectl-dra` as its users run it without a cluster, and everything it answers.

use super::process::{Invocation, Run, Screen};

/// Compares exit code, stdout and stderr of a command line with an inline snapshot.
///
/// ```ignore
/// dra_snapshot!(["version", "--client"], @"…");
/// dra_snapshot!(dra(&["version"]).env("NO_COLOR", "1"), @"…");
/// ```
macro_rules! dra_snapshot {
    ([$($arg:expr),* $(,)?], @$expected:literal) => {
        dra_snapshot!($crate::support::command::dra(&[$($arg),*]), @$expected)
    };
    ($invocation:expr, @$expected:literal) => {
        insta::assert_snapshot!($crate::support::command::seen($invocation.run()), @$expected)
    };
}
pub(crate) use dra_snapshot;

/// `kubectl-dra ARGS…`, cut off from the user's own cluster, home and terminal.
pub(crate) fn dra(args: &[&str]) -> Invocation {
    isolated(env!("CARGO_BIN_EXE_kubectl-dra"), args)
}

/// Another program in the same surroundings.
pub(crate) fn isolated(program: &str, args: &[&str]) -> Invocation {
    let mut invocation = Invocation::new(program).args(args).at_home();
    // Windows programs do not start without the second one.
    for name in ["PATH", "SYSTEMROOT"] {
        if let Some(value) = std::env::var_os(name) {
            invocation = invocation.env(name, value);
        }
    }
    invocation
}

/// Returns what a user sees, without what differs from run to run.
pub(crate) fn seen(run: Run) -> String {
    let code = run.code.map_or_else(
        || format!("none, but signal {:?}", run.signal),
        |code| code.to_string(),
    );
    let text = format!(
        "exit_code: {code}\n----- stdout -----\n{}\n----- stderr -----\n{}",
        run.stdout, run.stderr
    );
    let home = run.home.as_ref().map(|home| home.path().display().to_string());
    home.map_or(text.clone(), |home| text.replace(&home, "[HOME]"))
        .replace(concat!("v", env!("CARGO_PKG_VERSION")), "v[VERSION]")
        .replace(
            concat!("kubectl-dra ", env!("CARGO_PKG_VERSION")),
            "kubectl-dra [VERSION]",
        )
        .replace(&platform(), "[PLATFORM]")
}

fn platform() -> String {
    let os = std::env::consts::OS.replace("macos", "darwin");
    let arch = std::env::consts::ARCH
        .replace("x86_64", "amd64")
        .replace("aarch64", "arm64");
    format!("{os}/{arch}")
}

/// Runs a program on a screen of so many columns that shows its standard output, without colors.
#[track_caller]
pub(crate) fn on_screen(invocation: Invocation, columns: u16) -> Run {
    invocation
        .env("TERM", "xterm")
        .env("LANG", "C.UTF-8")
        .env("NO_COLOR", "1")
        .run_on_screen(columns, Screen::Stdout)
}

/// Returns whether a line has one word behind its key, which is not broken however long it is, since somebody copies it.
pub(crate) fn is_one_word(line: &str) -> bool {
    let value = line.rsplit(":  ").next().unwrap_or(line);
    let word = value.trim().trim_end_matches(" \\").replace(r"'\''", "");
    let is_quoted =
        |mark: char| word.starts_with(mark) && word.ends_with(mark) && word.matches(mark).count() == 2;
    !word.contains(' ') || is_quoted('`') || is_quoted('\'')
}
