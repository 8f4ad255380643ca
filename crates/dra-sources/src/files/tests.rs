//! Tests of the whole: from sources to objects, with everything that can be wrong with a file.

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;

/// Returns what was found, in a form that compares well and reads well.
fn line(found: &Found<'_>) -> String {
    match found {
        Found::Item(item) => format!(
            "{} {} {} {}",
            item.origin,
            item.api_version.as_deref().unwrap_or("-"),
            item.kind.as_deref().unwrap_or("-"),
            serde_json::from_slice::<Value>(&item.json)
                .map_or_else(|error| error.to_string(), |value| value.to_string()),
        ),
        Found::List { head, origin } => {
            format!(
                "{origin} end of {} with {}",
                head.kind.as_deref().unwrap_or("-"),
                head.items
            )
        }
        Found::Problem { problem, .. } => format!("{problem}"),
    }
}

fn read_all(sources: &[Source], options: &ReadOptions) -> (Vec<String>, Result<Summary, ReadError>) {
    let mut lines = Vec::new();
    let outcome = read(sources, options, |found| {
        lines.push(line(&found));
        Ok::<_, ReadError>(())
    });
    (lines, outcome)
}

fn bundled(bytes: impl Into<Vec<u8>>) -> Source {
    Source::Text {
        name: "file".into(),
        text: bytes.into().into(),
    }
}

fn read_text(text: &str) -> (Vec<String>, Result<Summary, ReadError>) {
    read_all(&[bundled(text)], &ReadOptions::default())
}

fn found(text: &str) -> Vec<String> {
    let (lines, outcome) = read_text(text);
    let summary = outcome.unwrap_or_else(|error| panic!("{error} after {lines:?}"));
    assert_eq!(
        summary.items + summary.lists + summary.problems,
        lines.len() as u64
    );
    lines
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

fn snapshots() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/snapshots");
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the snapshots")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() > 20);
    files
}

#[test]
fn items_of_a_list_of_one_kind_have_that_kind() {
    let pods = [
        "file:1 (items[0]) v1 Pod {\"a\":1}",
        "file:1 (items[1]) v2 Pod {\"apiVersion\":\"v2\"}",
        "file:1 (items[2]) v1 Node {\"kind\":\"Node\"}",
        "file:1 end of PodList with 3",
    ];
    let items = r#""items":[{"a":1},{"apiVersion":"v2"},{"kind":"Node"}]"#;
    let kind = r#""kind":"PodList","apiVersion":"v1""#;
    assert_eq!(found(&format!("{{{kind},{items}}}")), pods);
    // Here the kind is known only by reading ahead.
    assert_eq!(found(&format!("{{{items},{kind}}}")), pods);
    assert_eq!(
        found(&format!("{{{items},{kind}}}").replace("\"items\":", "items: ")),
        pods
    );
}

#[test]
fn items_of_a_list_of_any_kind_say_it_themselves() {
    assert_eq!(
        found(r#"{"apiVersion":"v1","items":[{"kind":"Pod"},{"x":1}],"kind":"List"}"#),
        [
            "file:1 (items[0]) - Pod {\"kind\":\"Pod\"}",
            "file:1 (items[1]) - - {\"x\":1}",
            "file:1 end of List with 2"
        ]
    );
    assert_eq!(
        found(r#"{"items":[{"x":1}]}"#),
        ["file:1 (items[0]) - - {\"x\":1}", "file:1 end of - with 1"]
    );
}

#[test]
fn reading_ahead_finds_the_right_list() {
    let lines = found(concat!(
        r#"{"items":[{"a":1}],"kind":"PodList"}"#,
        r#"{"kind":"Pod"}"#,
        r#"{"items":[{"a":2},{"a":3}],"kind":"NodeList"}"#,
        "\n---\nitems:\n- a: 4\nkind: JobList\n",
    ));
    assert_eq!(
        lines,
        [
            "file:1 (items[0]) - Pod {\"a\":1}",
            "file:1 end of PodList with 1",
            "file:1 - Pod {\"kind\":\"Pod\"}",
            "file:1 (items[0]) - Node {\"a\":2}",
            "file:1 (items[1]) - Node {\"a\":3}",
            "file:1 end of NodeList with 2",
            "file:4 (items[0]) - Job {\"a\":4}",
            "file:3 end of JobList with 1",
        ]
    );
}

#[test]
fn lists_in_lists_are_taken_apart() {
    let json = r#"{"kind":"List","items":[{"kind":"PodList","apiVersion":"v1","items":[{"a":1},7]},
        {"kind":"List","items":[{"kind":"NodeList","items":[
        {"b":2}]}]},{"kind":"PodList"}]}"#;
    let expected = |lines: [u64; 7]| {
        vec![
            format!("file:{} (items[0]) v1 Pod {{\"a\":1}}", lines[0]),
            format!("file:{} (items[1]): not an object", lines[1]),
            format!("file:{} (items[0]) end of PodList with 2", lines[2]),
            format!("file:{} (items[0]) - Node {{\"b\":2}}", lines[3]),
            format!("file:{} (items[0]) end of NodeList with 1", lines[4]),
            format!("file:{} (items[1]) end of List with 1", lines[5]),
            format!("file:{} (items[2]) - PodList {{\"kind\":\"PodList\"}}", lines[6]),
            "file:1 end of List with 3".to_owned(),
        ]
    };
    assert_eq!(found(json), expected([1, 1, 1, 3, 2, 2, 3]));
    // Lines inside an item are unknown in YAML.
    assert_eq!(
        found(&json.replacen("{\"kind\":", "{kind: ", 1)),
        expected([1, 1, 1, 2, 2, 2, 3])
    );
}

#[test]
fn lists_without_end_are_refused() {
    let open = r#"{"kind":"List","items":["#.repeat(12);
    let lines = found(&format!("{open}{}", "]}".repeat(12)));
    assert_eq!(
        lines[0],
        "file:1 (items[0]): lists are nested more than 8 levels deep"
    );
}

#[test]
fn an_anchored_list_is_a_list() {
    let lines = found("kind: List\nitems: &all\n- kind: Pod\n");
    assert_eq!(
        lines,
        [
            "file:1 (items[0]) - Pod {\"kind\":\"Pod\"}",
            "file:1 end of List with 1"
        ]
    );
}

#[test]
fn json_and_yaml_are_detected_by_their_text() {
    for (text, expected) in [
        (r#"{"kind":"A"}"#, &["file:1 - A {\"kind\":\"A\"}"][..]),
        ("\n\n {\n\"kind\":\"A\"}", &["file:3 - A {\"kind\":\"A\"}"]),
        ("{kind: A}", &["file:1 - A {\"kind\":\"A\"}"]),
        ("{ # comment\n kind: A}", &["file:1 - A {\"kind\":\"A\"}"]),
        ("# comment\n{\"kind\": \"A\"}", &["file:2 - A {\"kind\":\"A\"}"]),
        ("\u{feff}kind: A", &["file:1 - A {\"kind\":\"A\"}"]),
        ("\u{feff}{\"kind\":\"A\"}", &["file:1 - A {\"kind\":\"A\"}"]),
        ("--- {\"kind\":\"A\"}", &["file:1 - A {\"kind\":\"A\"}"]),
        (
            "kind: A\r\nx: z\r\n",
            &["file:1 - A {\"kind\":\"A\",\"x\":\"z\"}"],
        ),
        (
            "{\"kind\":\"A\"}\n---\n{\"kind\":\"B\"}\n---\nkind: C\n",
            &[
                "file:1 - A {\"kind\":\"A\"}",
                "file:3 - B {\"kind\":\"B\"}",
                "file:5 - C {\"kind\":\"C\"}",
            ],
        ),
        ("{\"kind\":\"A\"}\n# end\n", &["file:1 - A {\"kind\":\"A\"}"]),
    ] {
        assert_eq!(found(text), expected, "{text:?}");
    }
}

#[test]
fn a_source_without_objects_is_an_error() {
    for text in ["", "\n\n", "# only a comment\n", "---\n---\n", "null\n"] {
        let (lines, outcome) = read_text(text);
        assert_eq!(lines, [""; 0]);
        assert!(matches!(outcome, Err(ReadError::NoObjects { .. })), "{outcome:?}");
    }
    let (lines, outcome) = read_text("just some text");
    assert_eq!(lines, ["file:1: not an object"]);
    assert!(matches!(outcome, Err(ReadError::NoObjects { .. })), "{outcome:?}");
    assert_eq!(
        found(r#"{"kind":"List","items":[]}"#),
        ["file:1 end of List with 0"]
    );
}

#[test]
fn errors_name_the_file_the_place_and_a_way_out() {
    let truncated = gzip("apiVersion: v1\n".repeat(1000).as_bytes());
    for (source, message, hint) in [
        (
            bundled(&truncated[..truncated.len() - 4]),
            "`file` is truncated: its gzip data ends after",
            Some("copy or download the file again"),
        ),
        (
            bundled(r#"{"items":[{},"#),
            "`file` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 1",
            Some("the file is incomplete"),
        ),
        (
            bundled("{\"items\":[{}\n}"),
            "`file` is not valid JSON at line 2: expected `,` or `]`, found `}`",
            None,
        ),
        (
            bundled(r#"[{"kind":"Pod"}]"#),
            "`file` is not valid JSON at line 1: expected an object, found `[`",
            Some("make a list of it: `jq"),
        ),
        (
            bundled("items:\n- a: b: c\n"),
            "`file` is not valid YAML at line 2, column 7: ",
            Some("fix the file"),
        ),
        (
            bundled(b"kind: \xff".to_vec()),
            "`file` is not UTF-8: invalid byte 0xff at offset 6",
            Some("convert it, for example with `iconv"),
        ),
        (
            bundled(b"\xff\xfek\0i\0".to_vec()),
            "`file` is in UTF-16, not UTF-8",
            Some("in PowerShell"),
        ),
        (
            Source::Path("/nonexistent/x.yaml".into()),
            "cannot open `/nonexistent/x.yaml`",
            Some("check the path; `-` reads standard input"),
        ),
        (
            Source::Path("https://example.com/x.yaml".into()),
            "cannot open `https://example.com/x.yaml`",
            Some("download it, or pipe it to `--from -`"),
        ),
    ] {
        let (_, outcome) = read_all(&[source], &ReadOptions::default());
        let error = outcome.expect_err(message);
        assert!(error.to_string().starts_with(message), "{error}");
        match (error.hint(), hint) {
            (Some(found), Some(expected)) => assert!(found.contains(expected), "{found}"),
            (None, None) => {}
            (found, _) => panic!("{found:?}, not {hint:?}"),
        }
    }
}

#[test]
fn files_and_directories_are_read_in_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    fs::write(path.join("b.json"), r#"{"kind":"B"}"#).expect("a file");
    fs::write(path.join("a.yaml.gz"), gzip(b"kind: A\n")).expect("a file");
    fs::write(
        path.join("c.yml.zst"),
        zstd::encode_all(&b"kind: C\n"[..], 1).expect("in memory"),
    )
    .expect("a file");
    fs::write(path.join("empty.yaml"), "# nothing").expect("a file");
    // The name does not say how it is compressed.
    fs::write(path.join("d.yaml"), gzip(b"kind: D\n")).expect("a file");
    fs::create_dir(path.join("sub")).expect("a directory");
    fs::write(path.join("sub/e.yaml"), "kind: E").expect("a file");
    fs::write(path.join("single"), "kind: F").expect("a file");

    let kinds = |sources: &[Source]| {
        let mut kinds = String::new();
        let summary = read(sources, &ReadOptions::default(), |found| {
            if let Found::Item(item) = found {
                kinds.push_str(item.kind.as_deref().unwrap_or("-"));
            }
            Ok::<_, ReadError>(())
        })
        .expect("readable");
        (kinds, summary.files)
    };
    let whole = Source::Path(path.to_owned());
    assert_eq!(kinds(std::slice::from_ref(&whole)), ("ABCD".to_owned(), 5));
    assert_eq!(
        kinds(&[Source::Path(path.join("single")), whole.clone()]),
        ("FABCD".to_owned(), 6)
    );
    let options = ReadOptions {
        no_empty_files: true,
        ..ReadOptions::default()
    };
    let error = read(&[whole], &options, |_| Ok::<_, ReadError>(())).expect_err("an empty file");
    assert!(
        matches!(&error, ReadError::NoObjects { file } if file.ends_with("empty.yaml")),
        "{error}"
    );
}

#[test]
fn the_sink_can_stop_reading() {
    let mut count = 0;
    let outcome = read(
        &[bundled(r#"{"kind":"A"}{"kind":"B"}{"kind":"C"}"#)],
        &ReadOptions::default(),
        |_| {
            count += 1;
            if count == 2 {
                Err(ReadError::NoObjects {
                    file: "enough".into(),
                })
            } else {
                Ok(())
            }
        },
    );
    assert_eq!(count, 2);
    assert_eq!(
        outcome.expect_err("stopped").to_string(),
        "`enough` contains no objects"
    );
}

#[test]
fn snapshots_hold_the_objects_that_they_hold() {
    for path in snapshots() {
        let mut kinds = std::collections::BTreeMap::<String, usize>::new();
        let summary = read(&[Source::Path(path.clone())], &ReadOptions::default(), |found| {
            match found {
                Found::Item(item) => {
                    let value: Value = serde_json::from_slice(&item.json).expect("an item is JSON");
                    assert_eq!(value["kind"].as_str(), item.kind.as_deref(), "{}", item.origin);
                    assert_eq!(
                        value["apiVersion"].as_str(),
                        item.api_version.as_deref(),
                        "{}",
                        item.origin
                    );
                    let is_info = item.kind.as_deref() == Some("SnapshotInfo");
                    assert!(is_info || value["metadata"]["uid"].is_string(), "{}", item.origin);
                    *kinds.entry(item.kind.expect("a kind").into_owned()).or_default() += 1;
                }
                Found::List { head, .. } => assert_eq!(head.kind.as_deref(), Some("List")),
                Found::Problem { problem, .. } => panic!("{problem}"),
            }
            Ok::<_, ReadError>(())
        })
        .expect("readable");
        assert_eq!(summary.lists, 1);
        // An item of these files begins with a dash in the first column and nothing else does.
        let text = fs::File::open(&path)
            .and_then(std::io::read_to_string)
            .expect("readable");
        assert_eq!(
            summary.items as usize,
            text.matches("\n- ").count(),
            "{}",
            path.display()
        );
        for (kind, count) in kinds {
            assert_eq!(
                count,
                text.matches(&format!("\n  kind: {kind}\n")).count(),
                "{kind} in {}",
                path.display()
            );
        }
    }
}

#[test]
fn threads_give_the_same_results_in_the_same_order() {
    // More than three batches for each worker, with lists and problems in between.
    let padding = "padding ".repeat(250);
    let pods = format!(r#"{{"kind":"Pod","spec":"{padding}"}},"#).repeat(800);
    let json = bundled(format!(r#"{{"kind":"List","items":[{pods}7]}}"#).repeat(5));
    let yaml = Source::Path(snapshots().swap_remove(0));
    let sources = [json.clone(), yaml, json];
    let options = ReadOptions::default();
    let (expected, summary) = read_all(&sources, &options);
    let summary = summary.expect("readable");
    for workers in [1, 3] {
        let workers = NonZeroUsize::new(workers).expect("not zero");
        let mut lines = Vec::new();
        let decode = |batch: &mut ItemBatch| batch.drain().map(|found| line(&found)).collect::<Vec<_>>();
        let collect = |batch: Vec<String>| {
            lines.extend(batch);
            Ok::<_, ReadError>(())
        };
        assert_eq!(
            read_parallel(&sources, &options, workers, decode, collect).expect("readable"),
            summary
        );
        assert_eq!(lines, expected);
    }
}

#[test]
fn threads_end_when_something_fails() {
    let text = format!("{}{{", r#"{"kind":"Pod","spec":"padding"}"#.repeat(60_000));
    let two = NonZeroUsize::new(2).expect("not zero");
    let options = ReadOptions::default();
    let source = bundled(text);

    let mut count = 0;
    let collect = |length| {
        count += length;
        Ok::<_, ReadError>(())
    };
    let outcome = read_parallel(
        std::slice::from_ref(&source),
        &options,
        two,
        |batch: &mut ItemBatch| batch.len(),
        collect,
    );
    assert!(matches!(outcome, Err(ReadError::Json { .. })), "{outcome:?}");
    assert_eq!(count, 60_000, "everything before the error is collected");

    let collect = |_| {
        Err(ReadError::NoObjects {
            file: "enough".into(),
        })
    };
    let outcome = read_parallel(
        std::slice::from_ref(&source),
        &options,
        two,
        |batch: &mut ItemBatch| batch.len(),
        collect,
    );
    assert!(matches!(outcome, Err(ReadError::NoObjects { .. })), "{outcome:?}");
}

#[test]
#[should_panic(expected = "a worker's panic")]
fn a_panic_in_a_worker_is_not_swallowed() {
    let text = r#"{"kind":"Pod"}"#.repeat(10_000);
    let one = NonZeroUsize::MIN;
    let decode = |_: &mut ItemBatch| panic!("a worker's panic");
    let _ = read_parallel(&[bundled(text)], &ReadOptions::default(), one, decode, |()| {
        Ok::<_, ReadError>(())
    });
}

#[test]
fn memory_does_not_grow_with_the_text() {
    // Counts the largest returned piece and the batches, which is all that is ever held.
    let item = format!(r#"{{"kind":"Pod","spec":"{}"}}"#, "x".repeat(1000));
    let text = format!(
        r#"{{"kind":"List","items":[{}{item}]}}"#,
        format!("{item},").repeat(5_000)
    );
    let mut largest = 0;
    let decode = |batch: &mut ItemBatch| batch.bytes();
    read_parallel(
        &[bundled(text)],
        &ReadOptions::default(),
        NonZeroUsize::MIN,
        decode,
        |bytes| {
            largest = largest.max(bytes);
            Ok::<_, ReadError>(())
        },
    )
    .expect("readable");
    assert!(largest < 2 << 20, "{largest}");
}
