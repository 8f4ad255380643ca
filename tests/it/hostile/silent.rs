//! A server that takes connections and never says anything: each command that asks one ends when its time is over, and says what it was
//! doing.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::support::command::dra;
use crate::support::wait::wait_for;

/// Commands that ask the API server.
const ASKING: [&[&str]; 22] = [
    &["status"],
    &["claims", "-A"],
    &["claims", "-A", "--watch"],
    &["reserved", "-A"],
    &["devices"],
    &["taints"],
    &["check"],
    &["check", "--to-version=1.36"],
    &["describe", "pod/a"],
    &["describe", "node/a"],
    &["explain", "pod/a"],
    &["explain", "-f", "tests/data/snapshots/unschedulable-pods.yaml"],
    &["simulate", "allocation", "claim/a"],
    &["simulate", "eviction"],
    &["cel", "true"],
    &["convert", "plan"],
    &["convert", "verify"],
    &["convert", "--yes"],
    &["diff", "example:gpus"],
    &["report"],
    &["snapshot"],
    &["version"],
];

/// No program accepts what the system has taken already, so every connection stands and nothing comes.
fn silent_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens").to_string();
    (listener, address)
}

#[test]
fn a_timeout_ends_every_command_that_asks_a_silent_server() {
    for scheme in ["http", "https"] {
        for command in ASKING {
            let (_listener, address) = silent_server();
            let server = format!("{scheme}://{address}");
            // On a busy machine the time can be over before the program asks anything, which says so without the server.
            let mut told = ["0.2", "1", "5", "25"].into_iter().map(|seconds| {
                let timeout = format!("--timeout={seconds}s");
                let args = [command, &["--server", &server, &timeout]].concat();
                let run = dra(&args).run().exits(3);
                let expected = format!("error: timed out after {seconds} s (`--timeout`)");
                (run, expected)
            });
            let found = told.find(|(run, expected)| {
                let first = run.stderr.lines().next().unwrap_or_default();
                first == format!("{expected}, while reading {server}")
            });
            let (run, _) = found.unwrap_or_else(|| panic!("{command:?} does not say what takes so long"));
            // `version` knows its own.
            assert!(
                run.stdout.is_empty() || command == ["version"],
                "{command:?}: {}",
                run.stdout
            );
        }
    }
}

#[test]
fn a_snapshot_that_is_cut_off_leaves_no_file_and_the_old_one_as_it_was() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("cluster.yaml.gz");
    let name = out.to_str().expect("UTF-8");
    for old in [None, Some("old")] {
        if let Some(old) = old {
            std::fs::write(&out, old).expect("a file");
        }
        let files = || std::fs::read_dir(folder.path()).expect("a folder").count();
        let before = files();
        let (_listener, address) = silent_server();
        let server = format!("http://{address}");
        let mut runs = ["200ms", "1s", "5s", "25s"].into_iter().map(|time| {
            let timeout = format!("--timeout={time}");
            let command = ["snapshot", "--out", name, &timeout, "--server", &server];
            dra(&command).run().exits(3)
        });
        assert!(runs.any(|run| run.stderr.contains("while reading http://")));
        for signal in [Signal::INT, Signal::TERM] {
            let (listener, address) = silent_server();
            let server = format!("http://{address}");
            let process = dra(&["snapshot", "--out", name, "--server", &server]).start_unguarded();
            let _open = wait_for("the program asks", || listener.accept().ok());
            process.signal(signal);
            process.finish().exits(130);
        }
        assert_eq!(files(), before, "nothing is left behind");
        assert_eq!(std::fs::read_to_string(&out).ok().as_deref(), old);
    }
}
