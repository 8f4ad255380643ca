//! Hostile input: files that are truncated, damaged, or contradict themselves.
//!
//! Every command that looks gets every input. It may answer, say what is missing, or give up; it may not panic, hang or stay silent.

mod absent;
mod computing;
mod given;
mod objects;
mod packed;
pub(crate) mod page;
mod servers;
mod silent;
mod terminal;
mod text;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::command::dra;

const COMMANDS: [&str; 7] = [
    "status",
    "claims",
    "reserved",
    "devices",
    "taints",
    "check",
    "simulate eviction",
];
/// Reads what the others read.
const STRICT: [&str; 1] = ["devices"];

/// Returns what the commands say of `input`, which stands in a file of that name unless it is a directory or missing.
fn answers(title: &str, path: &Path, more: &[&str]) -> String {
    let from = path.to_str().expect("a path in UTF-8");
    let name = path.file_name().expect("a name").to_str().expect("UTF-8");
    let folder = format!("{}/", path.parent().expect("a folder").display());
    let mut text = format!("## {title}\n");
    for strict in [false, true] {
        // The same words of several commands are shown once.
        let mut said: Vec<(Vec<&str>, String)> = Vec::new();
        let commands = if strict { &STRICT[..] } else { &COMMANDS };
        for command in commands {
            let mut args: Vec<_> = command.split(' ').collect();
            // That a file says nothing about a kind is another matter; see `absent`.
            args.extend(["-A", "--from", from, "--complete", "--kubernetes-version", "1.37"]);
            args.extend(more);
            if strict {
                args.push("--strict");
            }
            let run = dra(&args).run();
            let code = run
                .code
                .unwrap_or_else(|| panic!("{args:?}: signal {:?}", run.signal));
            assert!(!run.stderr.contains("panicked"), "{args:?}: {}", run.stderr);
            // 1 and 4: a verdict, with its reasons on stdout.
            assert!(matches!(code, 0 | 1 | 3 | 4), "{args:?}: {code}");
            assert!(
                code == 0 || !run.stderr.is_empty() || !run.stdout.is_empty(),
                "{args:?}: silent failure"
            );
            // That nothing was found or changed is not the point here.
            let is_told =
                |line: &&str| !line.starts_with("No ") && *line != "simulation only; nothing was changed";
            let stderr: Vec<_> = run.stderr.lines().filter(is_told).collect();
            let words = format!("{code}\n{}\n", stderr.join("\n").replace(&folder, ""));
            let words = words.replace("\n\n", "\n");
            match said.iter_mut().find(|(_, known)| *known == words) {
                Some((commands, _)) => commands.push(command),
                None => said.push((vec![command], words)),
            }
        }
        for (commands, words) in said {
            let commands = match commands.len() {
                count if count == COMMANDS.len() => "all".to_owned(),
                _ => commands.join(", "),
            };
            let strict = if strict { " --strict" } else { "" };
            write!(text, "{commands} {name}{strict}: {words}").expect("text");
        }
    }
    text
}

/// The answers to inputs, each the content of a file.
fn told(inputs: &[(&str, &str, Vec<u8>)]) -> String {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut text = String::new();
    for (title, name, content) in inputs {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        text += &answers(title, &path, &[]);
    }
    text
}

fn list(items: &Value) -> Vec<u8> {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
        .to_string()
        .into_bytes()
}

fn claim(name: &str, status: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
           "metadata": {"namespace": "n", "name": name, "uid": name, "creationTimestamp": "2026-11-21T11:00:00Z"},
           "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
           "status": status})
}

fn slice(spec: &Value) -> Value {
    let mut slice = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"driver": "d", "nodeName": "node", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                 "devices": [{"name": "g"}]}});
    for (key, value) in spec.as_object().expect("an object") {
        slice["spec"][key] = value.clone();
    }
    slice
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn places_without_objects_are_reported() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let folder = folder.path();
    std::fs::create_dir(folder.join("hollow")).expect("a folder");
    std::fs::create_dir(folder.join("other")).expect("a folder");
    std::fs::write(folder.join("other/notes.txt"), "x").expect("a file");
    let mut text = answers("missing", &folder.join("missing.yaml"), &[]);
    text += &answers("a folder without files", &folder.join("hollow"), &[]);
    text += &answers("a folder with other files", &folder.join("other"), &[]);
    insta::assert_snapshot!(text, @r#"
    ## missing
    all missing.yaml: 3
    error: cannot open `missing.yaml`: No such file or directory (os error 2)
    hint: check the path; `-` reads standard input
    devices missing.yaml --strict: 3
    error: cannot open `missing.yaml`: No such file or directory (os error 2)
    hint: check the path; `-` reads standard input
    ## a folder without files
    all hollow: 3
    error: directory `hollow` contains no .yaml, .yml, .json, .ndjson or .jsonl files (plain, .gz or .zst)
    hint: name files with other extensions explicitly
    devices hollow --strict: 3
    error: directory `hollow` contains no .yaml, .yml, .json, .ndjson or .jsonl files (plain, .gz or .zst)
    hint: name files with other extensions explicitly
    ## a folder with other files
    all other: 3
    error: directory `other` contains no .yaml, .yml, .json, .ndjson or .jsonl files (plain, .gz or .zst)
    hint: name files with other extensions explicitly
    devices other --strict: 3
    error: other/notes.txt: not read: it is not a .yaml, .yml, .json, .ndjson or .jsonl file (plain, .gz or .zst); name it with another --from, or move it out of the directory
    hint: without --strict the object is skipped
    "#);
}

#[test]
fn a_clock_before_the_creation_makes_no_ages() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("claims.json");
    std::fs::write(&file, list(&json!([claim("c", &json!({}))]))).expect("a file");
    let from = file.to_str().expect("UTF-8");
    for now in ["1970-01-01T00:00:00Z", "-009999-01-02T01:59:59Z"] {
        let run = dra(&["claims", "-A", "--from", from, &format!("--now={now}")])
            .run()
            .exits(0);
        let row = run.stdout.lines().nth(1).unwrap_or_default();
        assert!(row.ends_with("<invalid>"), "{now}: {}", run.stdout);
    }
}
