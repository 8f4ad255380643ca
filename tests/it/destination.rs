//! Files that the user names to be written: what is there before, what else it can be, and what the same line reads.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::support::command::{dra, isolated};
use crate::support::process::{Invocation, Run};

const ORIGINAL: &str = "tests/data/snapshots/downgrade-groups-1.37.yaml";
const GATES: &str = "--feature-gates=GenericWorkload=true,DRAWorkloadResourceClaims=true";

/// A folder with a snapshot in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::copy(ORIGINAL, folder.path().join("from.yaml")).expect("a copy of the snapshot");
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns what a conversion of `from` writes, seen from this folder.
    fn convert(&self, from: &str, out: &str) -> Invocation {
        dra(&conversion(from, out)).current_dir(self.folder.path())
    }

    /// The same in a shell, whose script begins the program as `"$0" "$@"`.
    fn convert_in_shell(&self, script: &str, from: &str, out: &str) -> Run {
        let words = ["-c", script, env!("CARGO_BIN_EXE_kubectl-dra")];
        isolated("sh", &[&words[..], &conversion(from, out)].concat())
            .current_dir(self.folder.path())
            .run()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    }
}

fn conversion<'a>(from: &'a str, out: &'a str) -> [&'a str; 10] {
    let version = "--kubernetes-version=1.37";
    [
        "convert", "--from", from, "--out", out, "-n", "default", "pair-gpu", version, GATES,
    ]
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn original() -> String {
    text(Path::new(ORIGINAL))
}

/// Returns what the conversion makes of the original.
fn converted() -> String {
    let place = Place::new();
    place.convert("from.yaml", "out.yaml").run().exits(0);
    text(&place.at("out.yaml"))
}

/// Makes a device, which only an administrator may.
fn device(path: &Path, major: u32, minor: u32) -> bool {
    mknodat(
        CWD,
        path,
        FileType::CharacterDevice,
        Mode::RUSR | Mode::WUSR,
        makedev(major, minor),
    )
    .is_ok()
        && std::fs::OpenOptions::new().write(true).open(path).is_ok()
}

#[track_caller]
fn refused(run: Run, code: i32, words: &[&str]) {
    let run = run.exits(code);
    for word in words {
        assert!(run.stderr.contains(word), "{word}: {run:?}");
    }
}

#[test]
fn a_device_is_written_through_and_stays() {
    let place = Place::new();
    if !device(&place.at("null"), 1, 3) || !device(&place.at("full"), 1, 7) {
        return;
    }
    symlink("null", place.at("link")).expect("a link");
    for out in ["null", "link", "./null"] {
        place.convert("from.yaml", out).run().exits(0);
    }
    refused(
        place.convert("from.yaml", "full").run(),
        3,
        &["cannot write `full`", "No space left"],
    );
    for name in ["null", "full"] {
        assert!(
            place
                .at(name)
                .metadata()
                .expect("metadata")
                .file_type()
                .is_char_device()
        );
    }
    assert_eq!(place.files(), ["from.yaml", "full", "link", "null"]);
}

#[test]
fn a_pipe_is_written_through_and_one_that_nothing_reads_is_an_error() {
    let place = Place::new();
    let pipe = place.at("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || text(&pipe))
    };
    place.convert("from.yaml", "pipe").run().exits(0);
    assert_eq!(reader.join().expect("read"), converted());
    refused(
        place.convert("from.yaml", "pipe").run(),
        3,
        &["nothing reads from it"],
    );
    assert!(pipe.metadata().expect("metadata").file_type().is_fifo());
    assert_eq!(place.files(), ["from.yaml", "pipe"]);
    // What is read twice cannot come out of a pipe, and waiting for it would have no end.
    refused(place.convert("pipe", "out.yaml").run(), 2, &["twice"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.at("folder")).expect("a folder");
    symlink("folder", place.at("to-folder")).expect("a link");
    symlink("b", place.at("a")).expect("a link");
    symlink("a", place.at("b")).expect("a link");
    let _socket = std::os::unix::net::UnixListener::bind(place.at("socket")).expect("a socket");
    let before = place.files();
    for (out, code, why) in [
        ("folder", 2, "it is a directory"),
        ("to-folder", 2, "it is a directory"),
        ("folder/", 2, "it names a directory"),
        ("new/", 2, "it names a directory"),
        (".", 2, "it names a directory"),
        ("..", 2, "it names a directory"),
        ("a", 2, "loop"),
        ("socket", 2, "it is a socket"),
        ("missing/out.yaml", 3, "No such file or directory"),
        ("from.yaml/out.yaml", 3, "Not a directory"),
    ] {
        refused(
            place.convert("from.yaml", out).run(),
            code,
            &["cannot write", why],
        );
        let snapshot = dra(&["snapshot", "--out", out])
            .current_dir(place.folder.path())
            .run();
        refused(snapshot, code, &["cannot write", why]);
    }
    assert_eq!(place.files(), before);
    assert!(
        place
            .at("socket")
            .metadata()
            .expect("metadata")
            .file_type()
            .is_socket()
    );
}

#[test]
fn links_are_followed() {
    let place = Place::new();
    std::fs::create_dir(place.at("folder")).expect("a folder");
    std::fs::write(place.at("folder/old"), "old").expect("a file");
    symlink("folder/middle", place.at("chain")).expect("a link");
    symlink("old", place.at("folder/middle")).expect("a link");
    symlink("folder/new", place.at("dangling")).expect("a link");
    for (link, end) in [("chain", "folder/old"), ("dangling", "folder/new")] {
        place.convert("from.yaml", link).run().exits(0);
        assert_eq!(text(&place.at(end)), converted());
        assert!(place.at(link).is_symlink() && !place.at(end).is_symlink());
    }
    assert!(place.at("folder/middle").is_symlink());
}

#[test]
fn the_original_is_kept_however_it_is_named() {
    let place = Place::new();
    std::fs::create_dir(place.at("folder")).expect("a folder");
    symlink("from.yaml", place.at("link")).expect("a link");
    symlink("link", place.at("link-of-link")).expect("a link");
    std::fs::hard_link(place.at("from.yaml"), place.at("hard")).expect("a link");
    let absolute = place.at("from.yaml").display().to_string();
    for out in [
        "from.yaml",
        "./from.yaml",
        "folder/../from.yaml",
        &absolute,
        "link",
        "link-of-link",
        "hard",
    ] {
        for from in ["from.yaml", "link"] {
            refused(
                place.convert(from, out).run(),
                2,
                &["would overwrite the input", "--force"],
            );
        }
    }
    assert_eq!(text(&place.at("from.yaml")), original());
    assert_eq!(
        place.files(),
        ["folder", "from.yaml", "hard", "link", "link-of-link"]
    );

    place
        .convert("from.yaml", "link")
        .args(["--force"])
        .run()
        .exits(0);
    assert_eq!(text(&place.at("from.yaml")), converted());
    assert!(place.at("link").is_symlink());
    // Where nothing is given up it changes nothing.
    place
        .convert("hard", "other.yaml")
        .args(["--force"])
        .run()
        .exits(0);
    refused(
        dra(&["convert", "--force", "--from", "example:gpus"]).run(),
        2,
        &["--out"],
    );
}

#[test]
fn an_old_file_keeps_its_mode_and_a_new_one_is_private() {
    let place = Place::new();
    let out = place.at("out.yaml");
    let mode = || out.metadata().expect("metadata").mode() & 0o777;
    place.convert("from.yaml", "out.yaml").run().exits(0);
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o664)).expect("permissions");
    place.convert("from.yaml", "out.yaml").run().exits(0);
    assert_eq!(mode(), 0o664);
    assert_eq!(place.files(), ["from.yaml", "out.yaml"]);
}

#[test]
fn standard_output_has_the_objects_for_itself() {
    let place = Place::new();
    for out in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        for format in ["-otable", "-ojson"] {
            let run = place.convert("from.yaml", out).args([format]).run().exits(0);
            assert_eq!(run.stdout, converted(), "{out} {format}");
            assert!(
                run.stderr.contains("pair-gpu"),
                "the report is on stderr: {run:?}"
            );
        }
    }
    assert_eq!(place.files(), ["from.yaml"]);
    let file = std::fs::File::create(place.at("redirected")).expect("a file");
    place
        .convert("from.yaml", "/dev/stdout")
        .stdout_to(file)
        .run()
        .exits(0);
    assert_eq!(text(&place.at("redirected")), converted());
    // One file cannot be both, and appending to what is read would never do.
    let file = || {
        std::fs::File::options()
            .append(true)
            .open(place.at("from.yaml"))
            .expect("a file")
    };
    refused(
        place.convert("from.yaml", "-").stdout_to(file()).run(),
        2,
        &["would overwrite the input"],
    );
    let both = std::fs::File::create(place.at("both")).expect("a file");
    refused(
        place.convert("from.yaml", "both").stdout_to(both).run(),
        2,
        &["standard output"],
    );
    assert_eq!(text(&place.at("from.yaml")), original());
}

#[test]
fn an_open_file_is_written_by_its_number() {
    let place = Place::new();
    std::fs::write(place.at("log"), "before\n").expect("a file");
    let run = |from: &str, redirection: &str| {
        let script = format!("exec \"$0\" \"$@\" {redirection}");
        place.convert_in_shell(&script, from, "/dev/fd/3")
    };
    run("from.yaml", "3>>log").exits(0);
    assert_eq!(text(&place.at("log")), format!("before\n{}", converted()));
    refused(
        run("from.yaml", "3>>from.yaml"),
        2,
        &["would overwrite the input"],
    );
    refused(run("from.yaml", "3>&-"), 3, &["cannot write `/dev/fd/3`"]);
    assert_eq!(text(&place.at("from.yaml")), original());
}

#[test]
fn what_ends_the_writing_leaves_the_old_file() {
    let place = Place::new();
    std::fs::write(place.at("out.yaml"), "old").expect("a file");
    let run = |before: &str| {
        let script = format!("{before} ulimit -f 8; exec \"$0\" \"$@\"");
        place.convert_in_shell(&script, "from.yaml", "out.yaml")
    };
    // A limit on the size of files is a disk that is full, and without the trap the process is killed there.
    let full = run("trap '' XFSZ;").exits(3);
    assert!(
        full.stderr.contains("cannot write") && full.stderr.contains("File too large"),
        "{full:?}"
    );
    assert_eq!(place.files(), ["from.yaml", "out.yaml"]);
    let killed = run("");
    assert!(killed.signal.is_some(), "{killed:?}");
    assert_eq!(text(&place.at("out.yaml")), "old");
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced() {
    let place = Place::new();
    let out = place.at("out.yaml");
    std::fs::write(&out, "old").expect("a file");
    std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o444)).expect("permissions");
    let run = place.convert("from.yaml", "out.yaml").run();
    // An administrator may write everything.
    if run.code == Some(0) {
        assert_eq!(out.metadata().expect("metadata").mode() & 0o777, 0o444);
    } else {
        refused(run, 3, &["cannot write `out.yaml`: Permission denied"]);
        assert_eq!(text(&out), "old");
    }
}

#[test]
fn records_are_neither_the_plan_nor_each_other() {
    let place = Place::new();
    let at = |name: &str| place.at(name).display().to_string();
    let plan = dra(&[
        "convert",
        "plan",
        "--from",
        "from.yaml",
        "-ojson",
        "--kubernetes-version=1.37",
        GATES,
    ])
    .current_dir(place.folder.path())
    .run()
    .stdout;
    std::fs::write(place.at("plan.json"), &plan).expect("a file");
    symlink("plan.json", place.at("link")).expect("a link");
    std::fs::write(place.at("x.backup.json"), &plan).expect("a file");
    mknodat(CWD, place.at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let before = place.files();
    let same = "would overwrite the input";
    for (line, why) in [
        ("apply --plan plan.json --backup plan.json", same),
        ("apply --plan plan.json --backup ./plan.json", same),
        ("apply --plan plan.json --backup link", same),
        ("apply --plan link --journal plan.json", same),
        // Its backup lies beside the journal.
        ("apply --plan x.backup.json --journal x.journal.jsonl", same),
        (
            "apply --plan plan.json --backup new --journal new",
            "name the same file",
        ),
        (
            "apply --plan plan.json --backup new/a --journal ./new/a",
            "name the same file",
        ),
        ("apply --plan plan.json --backup pipe", "discards its content"),
        ("apply --plan plan.json --journal pipe", "discards its content"),
        ("apply --plan plan.json --journal -", "discards its content"),
        (
            "apply --plan plan.json --backup /dev/null",
            "discards its content",
        ),
        ("apply --plan plan.json --journal .", "it names a directory"),
        ("--backup new --journal ./new", "name the same file"),
        ("--backup pipe", "discards its content"),
        ("restore --backup plan.json --journal link", "name the same file"),
    ] {
        let run = dra(&["convert", "--yes"]);
        let run = run.args(line.split(' ')).current_dir(place.folder.path()).run();
        refused(run, 2, &[why]);
    }
    let piped = dra(&[
        "convert",
        "apply",
        "--yes",
        "--plan",
        "-",
        "--backup",
        &at("plan.json"),
    ]);
    let input = std::fs::File::open(place.at("plan.json")).expect("the plan");
    refused(piped.run_with_stdin(input), 2, &[same]);
    assert_eq!(place.files(), before);
    assert_eq!(text(&place.at("plan.json")), plan);
}

#[test]
fn what_leads_to_the_cluster_is_not_written_over() {
    let place = Place::new();
    std::fs::write(place.at("config"), "apiVersion: v1\nkind: Config\n").expect("a file");
    std::fs::write(place.at("ca.crt"), "x").expect("a file");
    let run = |args: &[&str]| {
        dra(args)
            .env("KUBECONFIG", place.at("config"))
            .current_dir(place.folder.path())
            .run()
    };
    for args in [
        &["snapshot", "--out", "config"][..],
        &["snapshot", "--kubeconfig", "config", "--out", "./config"],
        &["snapshot", "--certificate-authority", "ca.crt", "--out", "ca.crt"],
        &["convert", "--yes", "--backup", "config"],
    ] {
        refused(run(args), 2, &["would overwrite the input"]);
    }
    assert_eq!(text(&place.at("ca.crt")), "x");
}

/// `convert restore` without a backup lists those of the cluster.
#[test]
fn backups_of_a_cluster_are_listed_newest_first() {
    let state = tempfile::tempdir().expect("a directory");
    let restore = || {
        let args = [
            "convert",
            "restore",
            "-s",
            "http://127.0.0.1:1",
            "--kubeconfig",
            "/dev/null",
        ];
        let run = dra(&args).env("XDG_STATE_HOME", state.path()).run().exits(2);
        assert!(run.stderr.contains("needs `--backup FILE`"), "{}", run.stderr);
        run.stderr
    };
    let none = restore();
    let (_, folder) = none.split_once("there are no backups in `").expect("the folder");
    let (folder, _) = folder.split_once('`').expect("the folder");
    std::fs::create_dir_all(folder).expect("the folder");
    for (name, backup) in [
        ("20260101T000000000Z-1", "{}"),
        ("20260102T000000000Z-1", "{}"),
        ("20260103T000000000Z-1", ""),
    ] {
        let file = |ending: &str| format!("{folder}/{name}{ending}");
        std::fs::write(file(".backup.json"), backup).expect("a backup");
        std::fs::write(file(".journal.jsonl"), "").expect("a journal");
    }
    let listed = restore();
    let commands: Vec<&str> = listed
        .lines()
        .filter(|line| line.contains("--backup="))
        .map(str::trim)
        .collect();
    let command = |name: &str| {
        format!(
            "kubectl dra convert restore --backup={folder}/{name}.backup.json --kubeconfig=/dev/null --server=http://127.0.0.1:1"
        )
    };
    assert_eq!(
        commands,
        [command("20260102T000000000Z-1"), command("20260101T000000000Z-1")]
    );
}
