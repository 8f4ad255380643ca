//! Compressed files of several parts, with something behind them, cut off, or that ask for much memory: all of it is read, or the file
//! is refused.

use serde_json::json;

use super::gzip;
use crate::support::command::dra;
use crate::support::process::Run;

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory")
}

/// A zstd frame that asks for a window of that size.
fn zstd_with_window(bytes: &[u8], log: u32) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("memory");
    encoder.window_log(log).expect("a window");
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn claims_of(name: &str, content: &[u8]) -> Run {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file");
    let path = path.to_str().expect("UTF-8");
    dra(&[
        "claims",
        "-A",
        "-o",
        "name",
        "--kubernetes-version=1.37",
        "--from",
        path,
    ])
    .run()
}

fn documents(names: &[&str]) -> Vec<u8> {
    let claims = names
        .iter()
        .map(|name| format!("---\n{}\n", super::claim(name, &json!({}))));
    claims.collect::<String>().into_bytes()
}

type Pack = fn(&[u8]) -> Vec<u8>;

#[test]
fn all_parts_of_a_compressed_file_are_read() {
    let yaml = documents(&["one", "two", "three"]);
    let json = super::list(&json!([
        super::claim("one", &json!({})),
        super::claim("two", &json!({})),
        super::claim("three", &json!({}))
    ]));
    let packs: [(&str, Pack); 2] = [("gz", gzip), ("zst", zstd)];
    for (ending, pack) in packs {
        for (format, text) in [("yaml", &yaml), ("json", &json)] {
            for cut in [1, text.len() / 3, text.len() / 2, text.len() - 1] {
                let parts = [pack(&text[..cut]), pack(b""), pack(&text[cut..])].concat();
                let run = claims_of(&format!("x.{format}.{ending}"), &parts).exits(0);
                for name in ["one", "two", "three"] {
                    assert!(
                        run.stdout.contains(&format!("/{name}\n")),
                        "{ending} {cut}: {}",
                        run.stdout
                    );
                }
            }
        }
    }
}

#[test]
fn a_part_that_is_cut_off_or_something_behind_it_is_refused() {
    let text = documents(&["one", "two", "three"]);
    let half = text.len() / 2;
    let packs: [(&str, Pack); 2] = [("gz", gzip), ("zst", zstd)];
    for (ending, pack) in packs {
        let first = pack(&text[..half]);
        let second = pack(&text[half..]);
        let whole = [first.clone(), second.clone()].concat();
        // The first part alone is a whole file, of which nothing tells that there was more.
        let cuts = (1..first.len()).chain(first.len() + 1..whole.len());
        for cut in cuts.step_by(7).chain([first.len() + 4, whole.len() - 1]) {
            let run = claims_of(&format!("x.yaml.{ending}"), &whole[..cut]).exits(3);
            assert!(run.stdout.is_empty(), "{ending} at {cut}: {}", run.stdout);
            assert!(
                run.stderr.starts_with("error: "),
                "{ending} at {cut}: {}",
                run.stderr
            );
        }
        for garbage in [&b"x"[..], b"garbage behind it", &[0; 512], b"\x1f", b"\x28\xb5"] {
            let run = claims_of(&format!("x.yaml.{ending}"), &[&whole, garbage].concat()).exits(3);
            assert!(run.stdout.is_empty(), "{ending} {garbage:?}: {}", run.stdout);
        }
    }
}

#[test]
fn a_window_larger_than_the_limit_is_refused_with_a_way_out() {
    let text = documents(&["one"]);
    // A window is as large as the text at most where that is known, so it is not told here.
    claims_of("x.yaml.zst", &zstd_with_window(&text, 27)).exits(0);
    for log in [28, 30, 31] {
        let run = claims_of("x.yaml.zst", &zstd_with_window(&text, log)).exits(3);
        for words in ["needs more than 128 MiB of memory", "zstd -d --long=31"] {
            assert!(run.stderr.contains(words), "{log}: {}", run.stderr);
        }
        // Also where it is not the first part.
        let later = [zstd(&text), zstd_with_window(&documents(&["two"]), log)].concat();
        let run = claims_of("x.yaml.zst", &later).exits(3);
        assert!(
            run.stderr.contains("needs more than 128 MiB"),
            "{log}: {}",
            run.stderr
        );
    }
}
