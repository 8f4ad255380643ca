//! The Tab key in real shells, alone and through kubectl's own completion.
//!
//! Each shell runs at a terminal. A key is pressed, then Enter: what the program is called with is what the user would have got.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::support::go;
use crate::support::process::{Invocation, Process, write_program};
use crate::support::wait::wait_for;
use dra_testing::effort::some_of;

const PROMPT: &str = "ready>";

/// Words typed after `kubectl-dra` or `kubectl dra` before the key, and the resulting arguments.
const TYPED: &[(&str, &str)] = &[
    // Commands and flags.
    ("snap\t", "snapshot"),
    ("simulate ev\t", "simulate eviction"),
    ("help conv\t", "help convert"),
    ("claims --dri\t", "claims --driver"),
    // What the program knows.
    ("claims --from example:gp\t", "claims --from example:gpus"),
    ("check -o sa\t", "check -o sarif"),
    ("check --output=sa\t", "check --output=sarif"),
    (
        "check --explain reservation-mi\t",
        "check --explain reservation-missing",
    ),
    (
        "check --disable-gate DRADeviceTaintR\t",
        "check --disable-gate DRADeviceTaintRules",
    ),
    ("check --to-version 1.3\t6", "check --to-version 1.36"),
    ("run --supplement overdue\t", "run --supplement overdue-release"),
    // Names that are in the cluster.
    (
        "claims --from example:gpus -n trai\t",
        "claims --from example:gpus -n training",
    ),
    (
        "claims --from example:gpus noteb\t",
        "claims --from example:gpus notebook-gpu",
    ),
    (
        "explain --from example:gpus pod/noteb\t",
        "explain --from example:gpus pod/notebook",
    ),
    (
        "explain --from example:gpus claim/sp\t",
        "explain --from example:gpus claim/spare",
    ),
    (
        "describe --from example:gpus pod noteb\t",
        "describe --from example:gpus pod notebook",
    ),
    // A kind is the begin of a word.
    (
        "describe --from example:gpus no\tgpu-node-3",
        "describe --from example:gpus node/gpu-node-3",
    ),
    (
        "describe --from example:gpus device gpu-node-3/rdma7\t",
        "describe --from example:gpus device gpu-node-3/rdma7",
    ),
    (
        "devices --from example:gpus --driver ni\t",
        "devices --from example:gpus --driver nic.example.com",
    ),
    (
        "devices --from example:gpus --node=gpu-node-3\t",
        "devices --from example:gpus --node=gpu-node-3",
    ),
    // Files.
    ("status --from a-fi\t", "status --from a-file.yaml"),
];

/// Location of the bash functions that kubectl's script needs.
const BASH_COMPLETION: &str = "/usr/share/bash-completion/bash_completion";

/// Returns whether `name` `is_there`. If not, the test says that it tries nothing, and fails where all that it can need is said to be installed.
fn is_installed(name: &str, is_there: bool) -> bool {
    if !is_there {
        assert!(
            std::env::var_os("KUBECTL_DRA_TEST_SHELLS").is_none(),
            "{name} is not installed"
        );
        // Straight to the stream, since the test harness hides what the print macros write.
        let _ = writeln!(
            std::io::stderr(),
            "warning: completion was NOT tried in {name}, which is not installed"
        );
    }
    is_there
}

/// The same for the scripts of the program alone: kubectl's script for bash does not complete behind a comma.
const TYPED_ALONE: &[(&str, &str)] = &[(
    "check --only DRA001,reservation-mi\t",
    "check --only DRA001,reservation-missing",
)];

/// A shell with the program, in a folder of its own.
struct Shell {
    name: &'static str,
    folder: TempDir,
}

impl Shell {
    /// The shell called `name`, unless it is not installed.
    ///
    /// # Panics
    /// When it is not installed although all shells are said to be.
    fn find(name: &'static str) -> Option<Self> {
        let mut folders = ["/usr/bin", "/bin", "/usr/local/bin"].iter().map(Path::new);
        if !is_installed(name, folders.any(|folder| folder.join(name).is_file())) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary directory");
        let shell = Self { name, folder };
        let program = env!("CARGO_BIN_EXE_kubectl-dra");
        // Instead of running a command, tell what it is.
        shell.script(
            "kubectl-dra",
            &format!(
                "if [ \"$1\" = __complete ]; then exec {program} \"$@\"; fi\necho \"$*\" >told.new\nmv told.new told\n"
            ),
        );
        shell.script(
            "kubectl_complete-dra",
            &format!("exec {program} __complete \"$@\"\n"),
        );
        fs::write(shell.path("a-file.yaml"), "").expect("the folder can be written");
        Some(shell)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, name: &str, body: &str) {
        write_program(&self.path(name), &format!("#!/bin/sh\n{body}"));
    }

    /// Returns what it is started with, to read `setup` and then wait for keys.
    fn start(&self, setup: &str) -> (Process, fs::File) {
        let (file, line) = match self.name {
            "bash" => (
                ".bashrc",
                format!("PS1='{PROMPT}'\nbind 'set enable-bracketed-paste off'\n{setup}\n"),
            ),
            "zsh" => (
                ".zshrc",
                format!("autoload -U compinit\ncompinit -u\n{setup}\nPS1='{PROMPT}'\n"),
            ),
            "fish" => (
                "config.fish",
                format!("{setup}\nfunction fish_prompt\n  printf '{PROMPT}'\nend\nset fish_greeting\n"),
            ),
            other => panic!("{other}"),
        };
        fs::write(self.path(file), line).expect("the folder can be written");
        let arguments = match self.name {
            "bash" => "--noprofile --rcfile .bashrc -i",
            "zsh" => "-i",
            _ => "--no-config -C 'source config.fish' -i",
        };
        // The terminal belongs to the shell, and shows all that it says.
        let inner = format!("exec {} {arguments} >&0 2>&0", self.name);
        let folder = self.folder.path().display();
        Invocation::new("setsid")
            .args(["-c", "sh", "-c", &inner])
            .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
            .env("HOME", self.folder.path())
            .env("ZDOTDIR", self.folder.path())
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.folder.path())
            .start_at_terminal()
    }

    /// Types each line behind `command`, and compares.
    fn try_all(&self, setup: &str, command: &str, lines: &[(&str, &str)]) {
        let (process, mut keyboard) = self.start(setup);
        let mut prompts = 0;
        let mut wrong = Vec::new();
        for (typed, expected) in lines {
            wait_for(
                &format!("{} waits for a line: {}", self.name, process.stderr()),
                || (process.stderr().matches(PROMPT).count() > prompts).then_some(()),
            );
            prompts = process.stderr().matches(PROMPT).count();
            let told = self.path("told");
            keyboard
                .write_all(format!("{command} {typed}\n").as_bytes())
                .expect("keys can be pressed");
            let got = wait_for(&format!("{}: {typed:?}: {}", self.name, process.stderr()), || {
                fs::read_to_string(&told).ok()
            });
            fs::remove_file(&told).expect("a file of ours");
            if got.trim() != *expected {
                wrong.push(format!("{typed:?}: {:?} instead of {expected:?}", got.trim()));
            }
        }
        assert!(wrong.is_empty(), "{} {command}: {}", self.name, wrong.join("\n"));
    }
}

#[test]
fn the_scripts_complete_the_program_in_each_shell() {
    for (name, script) in [
        ("bash", "kubectl-dra.bash"),
        ("zsh", "_kubectl-dra"),
        ("fish", "kubectl-dra.fish"),
    ] {
        if let Some(shell) = Shell::find(name) {
            let script = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("completions")
                .join(script);
            shell.try_all(
                &format!("source {}", script.display()),
                "kubectl-dra",
                &[TYPED, TYPED_ALONE].concat(),
            );
        }
    }
}

#[test]
fn kubectl_completes_its_plugin_in_each_shell() {
    let kubectl = go::build("kubectl");
    for name in ["bash", "zsh", "fish"] {
        if name == "bash" && !is_installed("bash-completion", Path::new(BASH_COMPLETION).is_file()) {
            continue;
        }
        if let Some(shell) = Shell::find(name) {
            fs::hard_link(&kubectl, shell.path("kubectl"))
                .or_else(|_| fs::copy(&kubectl, shell.path("kubectl")).map(drop))
                .expect("the folder can be written");
            let setup = match name {
                "bash" => format!("source {BASH_COMPLETION}\nsource <(kubectl completion bash)"),
                "zsh" => "source <(kubectl completion zsh)".to_owned(),
                _ => "kubectl completion fish | source".to_owned(),
            };
            // kubectl starts twice for each key.
            let some: Vec<_> = some_of(TYPED, 8).copied().collect();
            shell.try_all(&setup, "kubectl dra", &some);
        }
    }
}
