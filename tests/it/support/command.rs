//! Running the built `kubectl-dra` as its users do, and showing everything it answers.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Compares exit code, stdout and stderr of a command line with an inline snapshot.
///
/// ```ignore
/// dra_snapshot!(["version", "--client"], @"…");
/// dra_snapshot!(Dra::new(&["version"]).env("NO_COLOR", "1"), @"…");
/// ```
macro_rules! dra_snapshot {
    ([$($arg:expr),* $(,)?], @$expected:literal) => {
        dra_snapshot!($crate::support::command::Dra::new(&[$($arg),*]), @$expected)
    };
    ($dra:expr, @$expected:literal) => {
        insta::assert_snapshot!($dra.snapshot(), @$expected)
    };
}
pub(crate) use dra_snapshot;

/// One run of the program, cut off from the user's own cluster, home and terminal.
pub(crate) struct Dra {
    command: Command,
    stdin: Vec<u8>,
    home: TempDir,
}

impl Dra {
    pub(crate) fn new(args: &[&str]) -> Self {
        Self::program(env!("CARGO_BIN_EXE_kubectl-dra"), args)
    }

    /// Another program in the same surroundings.
    pub(crate) fn program(program: &str, args: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("HOME", home.path())
            .env("KUBECONFIG", home.path().join("no-kubeconfig"));
        // Windows programs do not start without the second one.
        for name in ["PATH", "SYSTEMROOT"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        Self {
            command,
            stdin: Vec::new(),
            home,
        }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    #[expect(
        dead_code,
        reason = "the first command that reads standard input is still to come"
    )]
    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    /// Runs the program and waits for its end.
    pub(crate) fn output(mut self) -> Output {
        let pipes = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let text = std::mem::take(&mut self.stdin);
        // Written aside: the program may print more than a pipe holds before it reads.
        let writer = std::thread::spawn(move || {
            // A program that does not read has closed the pipe, which is its right.
            let _ = stdin.write_all(&text);
        });
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("the writer ends");
        output
    }

    /// What a user sees, without what differs from run to run.
    pub(crate) fn snapshot(self) -> String {
        let home = self.home.path().display().to_string();
        let Output {
            status,
            stdout,
            stderr,
        } = self.output();
        let code = status
            .code()
            .map_or_else(|| status.to_string(), |code| code.to_string());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program prints UTF-8");
        format!(
            "exit_code: {code}\n----- stdout -----\n{}\n----- stderr -----\n{}",
            text(stdout),
            text(stderr)
        )
        .replace(&home, "[HOME]")
        .replace(concat!("v", env!("CARGO_PKG_VERSION")), "v[VERSION]")
        .replace(
            concat!("kubectl-dra ", env!("CARGO_PKG_VERSION")),
            "kubectl-dra [VERSION]",
        )
        .replace(&platform(), "[PLATFORM]")
    }
}

fn platform() -> String {
    let os = std::env::consts::OS.replace("macos", "darwin");
    let arch = std::env::consts::ARCH
        .replace("x86_64", "amd64")
        .replace("aarch64", "arm64");
    format!("{os}/{arch}")
}
