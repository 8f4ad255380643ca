//! How fast objects come out of files: `cargo bench --bench sources`.
//!
//! Text is made by repeating the objects of `tests/data/snapshots`, so that it is as varied as a real cluster. Each line
//! is the best of some runs; ratios are to `serde_json`, measured in the same process on the same text. Pass a number to
//! use that many MB of JSON (100 by default), and a file to measure that instead.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads files and clocks and prints"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dra_sources::files::{
    Found, ItemBatch, JsonEvent, JsonItems, JsonLimits, ReadError, ReadOptions, Source, read, read_parallel,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

fn main() {
    // Cargo passes `--bench`.
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let argument = arguments.next();
    let megabytes = argument
        .as_deref()
        .map_or(Some(100), |argument| argument.parse().ok());
    let directory = tempfile::tempdir().expect("a temporary directory");
    let Some(megabytes) = megabytes else {
        let path = PathBuf::from(argument.unwrap_or_default());
        return measure_files(&[("file", path)]);
    };

    let objects = objects();
    let indented = json_list(&objects, megabytes << 20, true);
    let compact = json_list(&objects, megabytes << 20, false);
    println!("splitter, in memory, 256 KiB at a time");
    for (name, text) in [("indented JSON", &indented), ("compact JSON", &compact)] {
        let split_time = best(5, || split(text));
        let ignored = best(3, || serde_json::from_slice::<IgnoredAny>(text).expect("JSON"));
        let value = best(1, || {
            serde_json::from_slice::<serde_json::Value>(text).expect("JSON")
        });
        report(name, "JsonItems", text.len(), split_time, value);
        report(name, "serde_json IgnoredAny", text.len(), ignored, value);
        report(name, "serde_json Value", text.len(), value, value);
    }

    let file = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::File::create(&path)
            .and_then(|mut file| file.write_all(bytes))
            .expect("a file");
        path
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&indented).expect("in memory");
    let yaml = yaml_list(&objects, megabytes << 18);
    measure_files(&[
        ("indented JSON", file("indented.json", &indented)),
        ("compact JSON", file("compact.json", &compact)),
        (
            "gzip of indented JSON",
            file("indented.json.gz", &gzip.finish().expect("in memory")),
        ),
        (
            "zstd of indented JSON",
            file(
                "indented.json.zst",
                &zstd::encode_all(&*indented, 3).expect("in memory"),
            ),
        ),
        ("YAML, a quarter of the size", file("list.yaml", &yaml)),
    ]);
}

/// Times whole files, in MB of what is on the disk.
fn measure_files(files: &[(&str, PathBuf)]) {
    println!("files, from the page cache");
    for (name, path) in files {
        let size = std::fs::metadata(path).expect("a file").len() as usize;
        let sources = [Source::Path(path.clone())];
        let options = ReadOptions::default();
        let reading = best(2, || {
            read(&sources, &options, |found| {
                black_box(found);
                Ok::<_, ReadError>(())
            })
            .expect("readable")
        });
        let workers = NonZeroUsize::new(2).expect("not zero");
        let decoding = best(2, || {
            read_parallel(&sources, &options, workers, decode, |count| {
                black_box(count);
                Ok::<_, ReadError>(())
            })
            .expect("readable")
        });
        report(name, "read", size, reading, decoding);
        report(name, "read and decode names, 2 threads", size, decoding, decoding);
    }
    println!("peak memory of the process {} MiB", peak_memory());
}

fn split(text: &[u8]) -> usize {
    let mut items = JsonItems::new(JsonLimits::default());
    let mut count = 0;
    for piece in text.chunks(256 << 10) {
        let mut feed = items.feed(piece);
        while let Some(event) = feed.next_event().expect("a list") {
            count += usize::from(matches!(event, JsonEvent::Item(_)));
        }
    }
    items.finish().expect("complete");
    count
}

/// Decodes what every kind has, to have a decoder to compare with.
fn decode(batch: &mut ItemBatch) -> usize {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        metadata: Metadata<'a>,
    }
    #[derive(Deserialize)]
    struct Metadata<'a> {
        #[serde(borrow)]
        name: std::borrow::Cow<'a, str>,
    }

    let name_length = |found: &Found<'_>| match found {
        Found::Item(item) => {
            serde_json::from_slice::<Object<'_>>(&item.json).map_or(0, |object| object.metadata.name.len())
        }
        Found::List { .. } | Found::Problem { .. } => 0,
    };
    batch.drain().map(|found| name_length(&found)).sum()
}

fn objects() -> Vec<serde_json::Value> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots");
    let mut objects = Vec::new();
    read(&[Source::Path(directory)], &ReadOptions::default(), |found| {
        if let Found::Item(item) = found {
            objects.push(serde_json::from_slice(&item.json).expect("an object"));
        }
        Ok::<_, ReadError>(())
    })
    .expect("the snapshots");
    objects
}

/// A list as kubectl prints it.
fn json_list(objects: &[serde_json::Value], size: usize, indented: bool) -> Vec<u8> {
    let texts: Vec<String> = objects
        .iter()
        .map(|object| {
            if !indented {
                return object.to_string();
            }
            let mut text = Vec::new();
            let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
            let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
            serde::Serialize::serialize(object, &mut serializer).expect("in memory");
            String::from_utf8(text).expect("text").replace('\n', "\n        ")
        })
        .collect();
    let (start, between) = if indented {
        ("    \"items\": [\n        ", ",\n        ")
    } else {
        ("\"items\":[", ",")
    };
    let mut list = format!("{{\"apiVersion\":\"v1\",{start}");
    let mut texts = texts.iter().cycle();
    while list.len() < size {
        list.push_str(texts.next().expect("objects"));
        list.push_str(between);
    }
    list.push_str("{}],\"kind\":\"List\"}");
    list.into_bytes()
}

/// A list as people and kubectl write it, by the text of the snapshots.
fn yaml_list(objects: &[serde_json::Value], size: usize) -> Vec<u8> {
    let mut list = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    while list.len() < size {
        for object in objects {
            list.push('-');
            yaml(object, 2, &mut list);
        }
    }
    list.into_bytes()
}

fn yaml(value: &serde_json::Value, indent: usize, out: &mut String) {
    match value {
        serde_json::Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            for (key, value) in members {
                let _ = write!(out, "{:indent$}{key}:", "");
                yaml(value, indent + 2, out);
            }
        }
        serde_json::Value::Array(elements) if !elements.is_empty() => {
            out.push('\n');
            for element in elements {
                let _ = write!(out, "{:indent$}-", "");
                yaml(element, indent + 2, out);
            }
        }
        // Scalars of JSON are scalars of YAML.
        scalar => {
            let _ = writeln!(out, " {scalar}");
        }
    }
}

fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let time = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

fn report(what: &str, how: &str, bytes: usize, seconds: f64, baseline: f64) {
    let speed = bytes as f64 / seconds / 1e6;
    println!(
        "  {what:28} {how:34} {speed:8.0} MB/s  {seconds:7.3} s  x{:.1}",
        baseline / seconds
    );
}

/// The most memory the process had, where the system says so.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or_default()
        / 1024
}
