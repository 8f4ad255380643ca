//! What the worst files of at most 1 MB cost, for each command: time, memory, and how it ended.
//!
//!     make bench-hostile                          # of the release build
//!     cargo bench --bench hostile -- slices       # only files whose name has "slices" in it
//!
//! Each file is made of as much as fits of something that costs more to answer than to write: as text, and as gzip of up to 64 MB of text.
//! The goal is 10 s and 500 MiB for every file and command; what is above is marked, and ends the benchmark with 1.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark writes files and prints what it found"
)]

mod files;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Bytes of a file.
const MOST: usize = 1_000_000;
/// Bytes of text that a compressed file becomes.
const EXPANDED: [usize; 2] = [8 << 20, 60 << 20];
/// The goals.
const SECONDS: f64 = 10.0;
const MIB: u64 = 500;

/// Each command on what the base has.
fn commands() -> Vec<Vec<&'static str>> {
    [
        "status",
        "claims -A",
        "claims -A -o wide",
        "claims -A -o json",
        "reserved -A",
        "devices",
        "devices --free",
        "taints",
        "check",
        "describe claim k",
        "describe pod p",
        "describe node n",
        "describe device d/n/a",
        "describe pool d/n",
        "describe class c",
        "explain claim/k",
        "explain pod/p",
        "simulate allocation claim/k",
        "simulate allocation pod/p",
        "simulate allocation claim/k --max",
        "simulate eviction --taint d/n/a=x:NoExecute",
        "cel true",
        "convert plan",
        "convert verify",
    ]
    .iter()
    .map(|line| line.split(' ').collect())
    .collect()
}

/// How a run ended.
struct Ran {
    seconds: f64,
    mib: u64,
    code: String,
}

/// Runs the program on a file; it is killed after a minute.
fn run(program: &str, file: &Path, command: &[&str]) -> Ran {
    let output = Command::new("/usr/bin/time")
        .args(["-q", "-f", "%e %M", "timeout", "-s", "KILL", "60", program])
        .args(command)
        .args([
            "--complete",
            "--kubernetes-version",
            "1.37",
            "--now",
            "2026-02-01T00:00:00Z",
            "--from",
        ])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .expect("GNU time is installed as /usr/bin/time");
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default();
    let (seconds, kib) = last
        .split_once(' ')
        .unwrap_or_else(|| panic!("{command:?}: {said}"));
    Ran {
        seconds: seconds.parse().unwrap_or_else(|_| panic!("{command:?}: {said}")),
        mib: kib.parse::<u64>().unwrap_or_default() / 1024,
        code: output
            .status
            .code()
            .map_or("signal".to_owned(), |code| code.to_string()),
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed
        .write_all(text)
        .and_then(|()| packed.finish())
        .expect("memory")
}

fn main() -> ExitCode {
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let program = std::env::var("KUBECTL_DRA_BENCH_PROGRAM")
        .unwrap_or_else(|_| env!("CARGO_BIN_EXE_kubectl-dra").to_owned());
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!(
        "| File | Slowest command | Time | Largest command | Memory | Exit codes |\n|---|---|---:|---|---:|---|"
    );
    let mut missed = 0;
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut answer = |name: &str, extension: &str, content: Vec<u8>| {
        missed += usize::from(!report(&program, folder.path(), name, extension, &content));
    };
    for (name, make) in files::families().into_iter().filter(|(name, _)| wanted(name)) {
        answer(&name, "json", make(MOST - 2_000));
        for size in EXPANDED {
            let packed = gzip(&make(size));
            if packed.len() <= MOST {
                answer(&format!("{name}, {} MB as gzip", size >> 20), "json.gz", packed);
            }
        }
    }
    for (name, make) in files::yaml().into_iter().filter(|(name, _)| wanted(name)) {
        answer(&name, "yaml", make(MOST - 2_000));
    }
    ExitCode::from(u8::from(missed > 0))
}

/// Gives a file to every command, prints its row, and says whether it met the goals.
fn report(program: &str, folder: &Path, name: &str, extension: &str, content: &[u8]) -> bool {
    let file = folder.join(format!("file.{extension}"));
    std::fs::write(&file, content).expect("a file");
    let mut slowest = (0.0, String::new());
    let mut largest = (0, String::new());
    let mut codes = BTreeSet::new();
    for command in commands() {
        let ran = run(program, &file, &command);
        if ran.seconds >= slowest.0 {
            slowest = (ran.seconds, command.join(" "));
        }
        if ran.mib > largest.0 {
            largest = (ran.mib, command.join(" "));
        }
        codes.insert(ran.code);
    }
    let expected = |code: &String| matches!(code.as_str(), "0" | "1" | "2" | "3" | "4");
    let good = slowest.0 <= SECONDS && largest.0 <= MIB && codes.iter().all(expected);
    println!(
        "| {}{name} | `{}` | {:.2} s | `{}` | {} MiB | {} |",
        if good { "" } else { "**missed** " },
        slowest.1,
        slowest.0,
        largest.1,
        largest.0,
        codes.into_iter().collect::<Vec<_>>().join(", ")
    );
    let _ = std::io::stdout().flush();
    good
}
