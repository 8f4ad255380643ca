//! How long evaluating selectors takes, next to cel-go in the same run.
//!
//! `cargo bench --bench cel`, or `--no-default-features` to build less. The Go side is `target/oracle` (`make target/oracle`); without
//! it there are only the figures of this engine. Both sides give the least of their runs, which on a shared machine says more than the
//! median, on one thread. The output is the table of `docs/internals/performance.md`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

#[expect(dead_code, reason = "a benchmark compares nothing")]
#[path = "../tests/cel_case/mod.rs"]
mod cel_case;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cel_case::Case;
use dra_cel::{DeviceInput, Program};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HOT: &str = r#"{
    "name": "hot",
    "expression": "device.attributes[\"d\"].model == \"A100\" && device.capacity[\"d\"].memory.compareTo(quantity(\"40Gi\")) >= 0",
    "device": {"driver": "d", "attributes": {"model": {"string": "A100"}}, "capacity": {"memory": {"value": "80Gi"}}},
    "expect": {"compiles": true, "matches": true}
}"#;

/// How long each measurement is repeated.
const EACH: Duration = Duration::from_secs(2);

/// The least time of a call of `run`, of which `size` are measured at a time.
fn least(size: u32, mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut least = f64::INFINITY;
    while least.is_infinite() || start.elapsed() < EACH {
        let before = Instant::now();
        for _ in 0..size {
            run();
        }
        least = least.min(before.elapsed().as_secs_f64() * 1e9 / f64::from(size));
    }
    least
}

fn evaluate_all(prepared: &[(Program, DeviceInput)]) {
    for (program, device) in prepared {
        black_box(program.evaluate(black_box(device)));
    }
}

/// Returns what the oracle measures, by name.
fn oracle(root: &Path, cases: &Path) -> Option<Vec<(String, f64)>> {
    let output = Command::new(root.join("target/oracle"))
        .args(["bench", "--run", "^cel/", "--time", "2s", "--cel-cases"])
        .arg(cases)
        .env("GOMAXPROCS", "1")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            Some((line["name"].as_str()?.to_owned(), line["least"].as_f64()?))
        })
        .collect()
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file: PathBuf = root.join("tests/data/cases/cel.jsonl");
    let text = std::fs::read_to_string(&file).expect("the cases are readable");
    let cases: Vec<Case> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a case"))
        .collect();
    let hot: Case = serde_json::from_str(HOT).expect("a case");
    let hot_program = hot.compile().expect("it compiles");
    let hot_device = hot.input();
    assert_eq!(hot_program.evaluate(&hot_device).result, Ok(true));
    let prepared: Vec<(Program, DeviceInput)> = cases
        .iter()
        .filter_map(|case| Some((case.compile().ok()?, case.input())))
        .collect();
    let count = prepared.len() as f64;

    let go = oracle(root, &file).unwrap_or_default();
    let measured = [
        (
            "cel/hot",
            "a model and 40Gi of memory",
            least(1_000, || {
                black_box(hot_program.evaluate(black_box(&hot_device)));
            }),
        ),
        (
            "cel/cases",
            "mean of the cases that compile",
            least(1, || evaluate_all(&prepared)) / count,
        ),
    ];
    println!("| One evaluation | kubectl-dra | cel-go | Ratio |\n|---|---:|---:|---:|");
    for (name, what, ns) in measured {
        let (other, ratio) = match go.iter().find(|(other, _)| other == name) {
            Some((_, other)) => (format!("{other:.0} ns"), format!("{:.1}", other / ns)),
            None => (String::new(), String::new()),
        };
        println!("| `{name}`, {what} | {ns:.0} ns | {other} | {ratio} |");
    }
}
