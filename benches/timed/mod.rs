//! Programs measured from outside: time and memory as the kernel tells them of a child.

use std::io::Write as _;
use std::process::{Command, Stdio};

const RUNS: usize = 3;

/// What one command took.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    /// Seconds.
    pub(crate) wall: f64,
    /// Seconds of processor time.
    pub(crate) cpu: f64,
    /// Largest resident size.
    pub(crate) peak_kib: u64,
}

/// Runs all commands in turn, and once more, and so on, so that whatever else the machine does hits all of them. Medians of time, and the
/// largest peak. `prepare` is called before each run.
pub(crate) fn measure(
    rows: &[(&str, Vec<String>)],
    environment: &[(&str, String)],
    prepare: impl Fn(),
) -> Vec<Figures> {
    let mut all = vec![Vec::new(); rows.len()];
    for _ in 0..RUNS {
        for ((name, command), figures) in rows.iter().zip(&mut all) {
            prepare();
            figures.push(run(command, environment));
            // Measuring takes minutes.
            let _ = writeln!(std::io::stderr(), "{name}");
        }
    }
    let median = |mut figures: Vec<Figures>| {
        figures.sort_by(|a, b| a.wall.total_cmp(&b.wall));
        let peak_kib = figures
            .iter()
            .map(|figures| figures.peak_kib)
            .max()
            .unwrap_or_default();
        Figures {
            peak_kib,
            ..figures[figures.len() / 2]
        }
    };
    all.into_iter().map(median).collect()
}

/// The table of `rows`, in which `baseline` is what times are compared with.
pub(crate) fn print(rows: &[(&str, Vec<String>)], measured: &[Figures], baseline: usize, called: &str) {
    println!("| Command | Wall | CPU | Peak memory | Wall, to {called} |\n|---|---|---|---|---|");
    for ((name, _), figures) in rows.iter().zip(measured) {
        println!(
            "| `{name}` | {:.2} s | {:.2} s | {} MiB | {:.2} |",
            figures.wall,
            figures.cpu,
            figures.peak_kib / 1024,
            figures.wall / measured[baseline].wall
        );
    }
}

/// GNU time measures what the kernel says of a child, which the standard library does not tell.
fn run(command: &[String], environment: &[(&str, String)]) -> Figures {
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%e %U %S %M"])
        .args(command)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .expect("GNU time is installed as /usr/bin/time");
    let said = String::from_utf8_lossy(&output.stderr);
    // 1 says that something in the cluster is not as it should be, such as a pending pod.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{command:?}: {said}");
    let numbers: Vec<f64> = said
        .lines()
        .last()
        .unwrap_or_default()
        .split(' ')
        .filter_map(|number| number.parse().ok())
        .collect();
    let [wall, user, system, peak] = numbers[..] else {
        panic!("{said}")
    };
    Figures {
        wall,
        cpu: user + system,
        peak_kib: peak as u64,
    }
}
