//! What is fed to the program when something went wrong before: files that are cut off, damaged, or say what cannot be.
//!
//! Every command that looks gets every input. It may answer, say what is missing, or give up; it may not panic, hang or stay silent.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::command::dra;

const COMMANDS: [&str; 5] = ["status", "claims", "reserved", "devices", "taints"];
/// Reads what the others read.
const STRICT: [&str; 1] = ["devices"];

/// What the commands say of `input`, which stands in a file of that name unless it is a directory or missing.
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
            let mut args = vec![*command, "-A", "--from", from, "--kubernetes-version", "1.37"];
            args.extend(more);
            if strict {
                args.push("--strict");
            }
            let run = dra(&args).run();
            let code = run
                .code
                .unwrap_or_else(|| panic!("{args:?}: signal {:?}", run.signal));
            assert!(!run.stderr.contains("panicked"), "{args:?}: {}", run.stderr);
            assert!(matches!(code, 0 | 3), "{args:?}: {code}");
            assert!(code == 0 || !run.stderr.is_empty(), "{args:?}: silent failure");
            // That nothing was found is not the point here.
            let stderr: Vec<_> = run
                .stderr
                .lines()
                .filter(|line| !line.starts_with("No "))
                .collect();
            let words = format!("{code}\n{}\n", stderr.join("\n").replace(&folder, ""));
            let words = words.replace("\n\n", "\n");
            match said.iter_mut().find(|(_, known)| *known == words) {
                Some((commands, _)) => commands.push(command),
                None => said.push((vec![command], words)),
            }
        }
        for (commands, words) in said {
            let commands = match commands.len() {
                5 => "all".to_owned(),
                _ => commands.join(" "),
            };
            let strict = if strict { " --strict" } else { "" };
            write!(text, "{commands} {name}{strict}: {words}").expect("text");
        }
    }
    text
}

/// The answers to inputs, each the content of a file.
fn told(inputs: &[(&str, &str, Vec<u8>)]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
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
fn text_that_is_broken_is_located() {
    let whole = list(&json!([claim("a", &json!({})), claim("b", &json!({}))]));
    let nested = |open: &str, close: &str| {
        let depth = 100_000;
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":{}{}}}",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let bomb = {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let before = format!("*a{}", level - 1);
            writeln!(text, "a{level}: &a{level} [{}]", [before.as_str(); 9].join(", ")).expect("text");
        }
        text
    };
    let zipped = gzip(&whole);
    let inputs = [
        ("empty", "empty.yaml", Vec::new()),
        (
            "only a comment",
            "comment.yaml",
            b"# nothing\n---\n...\n".to_vec(),
        ),
        (
            "JSON that ends early",
            "cut.json",
            whole[..whole.len() / 2].to_vec(),
        ),
        ("JSON with a tail", "tail.json", [&whole[..], b"}"].concat()),
        (
            "YAML that ends early",
            "cut.yaml",
            b"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: resource.k8s.io/v1, kind: [\n".to_vec(),
        ),
        (
            "YAML with a tab",
            "tab.yaml",
            b"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n\tname: x\n".to_vec(),
        ),
        (
            "a key twice",
            "twice.yaml",
            b"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: x, name: y}\n".to_vec(),
        ),
        ("text", "text.yaml", b"nothing of the kind\n".to_vec()),
        ("a number", "number.json", b"17".to_vec()),
        ("no UTF-8", "latin1.json", b"{\"kind\": \"caf\xe9\"}".to_vec()),
        ("no UTF-8 in YAML", "latin1.yaml", b"kind: caf\xe9\n".to_vec()),
        ("bytes", "bytes.yaml", (0..=255).collect()),
        ("nested JSON", "nested.json", nested("[", "]").into_bytes()),
        (
            "nested objects",
            "nested-objects.json",
            nested("{\"a\":", "").into_bytes(),
        ),
        (
            "nested YAML",
            "nested.yaml",
            format!("kind: {}", "[".repeat(100_000)).into_bytes(),
        ),
        ("a YAML bomb", "bomb.yaml", bomb.into_bytes()),
        (
            "gzip that ends early",
            "cut.json.gz",
            zipped[..zipped.len() / 2].to_vec(),
        ),
        ("no gzip", "plain.json.gz", whole.clone()),
        ("no zstd", "plain.json.zst", whole),
    ];
    insta::assert_snapshot!(told(&inputs), @r#"
    ## empty
    all empty.yaml: 3
    error: `empty.yaml` has no objects in it
    hint: save the cluster with `kubectl dra snapshot` or `kubectl get … -o yaml` and look whether that failed
    devices empty.yaml --strict: 3
    error: `empty.yaml` has no objects in it
    hint: save the cluster with `kubectl dra snapshot` or `kubectl get … -o yaml` and look whether that failed
    ## only a comment
    all comment.yaml: 3
    error: `comment.yaml` has no objects in it
    hint: save the cluster with `kubectl dra snapshot` or `kubectl get … -o yaml` and look whether that failed
    devices comment.yaml --strict: 3
    error: `comment.yaml` has no objects in it
    hint: save the cluster with `kubectl dra snapshot` or `kubectl get … -o yaml` and look whether that failed
    ## JSON that ends early
    all cut.json: 3
    error: `cut.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    hint: the file is incomplete: save it again and look whether that failed
    devices cut.json --strict: 3
    error: `cut.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    hint: the file is incomplete: save it again and look whether that failed
    ## JSON with a tail
    all tail.json: 3
    error: `tail.json` is not valid JSON at line 1: unexpected `}` where an object should be
    devices tail.json --strict: 3
    error: `tail.json` is not valid JSON at line 1: unexpected `}` where an object should be
    ## YAML that ends early
    all cut.yaml: 3
    error: `cut.yaml` is not valid YAML at line 4, column 42: unclosed bracket '['
    hint: correct the file or save it again; the items after this line cannot be read
    devices cut.yaml --strict: 3
    error: `cut.yaml` is not valid YAML at line 4, column 42: unclosed bracket '['
    hint: correct the file or save it again; the items after this line cannot be read
    ## YAML with a tab
    all tab.yaml: 3
    error: no object can be read: tab.yaml:1: line 4, column 2: tabs disallowed within this context (block indentation)
    devices tab.yaml --strict: 3
    error: tab.yaml:1: line 4, column 2: tabs disallowed within this context (block indentation)
    hint: without --strict the object is left out and the rest is read
    ## a key twice
    all twice.yaml: 3
    error: no object can be read: twice.yaml:1: line 3: key `name` appears twice
    devices twice.yaml --strict: 3
    error: twice.yaml:1: line 3: key `name` appears twice
    hint: without --strict the object is left out and the rest is read
    ## text
    all text.yaml: 3
    error: no object can be read: text.yaml:1: not an object
    devices text.yaml --strict: 3
    error: text.yaml:1: not an object
    hint: without --strict the object is left out and the rest is read
    ## a number
    all number.json: 3
    error: no object can be read: number.json:1: not an object
    devices number.json --strict: 3
    error: number.json:1: not an object
    hint: without --strict the object is left out and the rest is read
    ## no UTF-8
    all latin1.json: 3
    error: `latin1.json` is not UTF-8: invalid byte 0xe9 at offset 13
    hint: convert it, for example with `iconv -f ISO-8859-1 -t UTF-8 latin1.json`, if it is text at all
    devices latin1.json --strict: 3
    error: `latin1.json` is not UTF-8: invalid byte 0xe9 at offset 13
    hint: convert it, for example with `iconv -f ISO-8859-1 -t UTF-8 latin1.json`, if it is text at all
    ## no UTF-8 in YAML
    all latin1.yaml: 3
    error: `latin1.yaml` is not UTF-8: invalid byte 0xe9 at offset 9
    hint: convert it, for example with `iconv -f ISO-8859-1 -t UTF-8 latin1.yaml`, if it is text at all
    devices latin1.yaml --strict: 3
    error: `latin1.yaml` is not UTF-8: invalid byte 0xe9 at offset 9
    hint: convert it, for example with `iconv -f ISO-8859-1 -t UTF-8 latin1.yaml`, if it is text at all
    ## bytes
    all bytes.yaml: 3
    error: `bytes.yaml` is not UTF-8: invalid byte 0x80 at offset 128
    hint: convert it, for example with `iconv -f ISO-8859-1 -t UTF-8 bytes.yaml`, if it is text at all
    devices bytes.yaml --strict: 3
    error: `bytes.yaml` is not UTF-8: invalid byte 0x80 at offset 128
    hint: convert it, for example with `iconv -f ISO-8859-1 -t UTF-8 bytes.yaml`, if it is text at all
    ## nested JSON
    all nested.json: 0
    warning: nested.json:1 (items[0]): nested more than 127 levels deep
    devices nested.json --strict: 3
    error: nested.json:1 (items[0]): nested more than 127 levels deep
    hint: without --strict the object is left out and the rest is read
    ## nested objects
    all nested-objects.json: 3
    error: `nested-objects.json` is not valid JSON at line 1: the text ends in the middle of an object
    hint: the file is incomplete: save it again and look whether that failed
    devices nested-objects.json --strict: 3
    error: `nested-objects.json` is not valid JSON at line 1: the text ends in the middle of an object
    hint: the file is incomplete: save it again and look whether that failed
    ## nested YAML
    all nested.yaml: 3
    error: no object can be read: nested.yaml:1: line 1, column 269: recursion limit exceeded
    devices nested.yaml --strict: 3
    error: nested.yaml:1: line 1, column 269: recursion limit exceeded
    hint: without --strict the object is left out and the rest is read
    ## a YAML bomb
    all bomb.yaml: 3
    error: no object can be read: bomb.yaml:1: line 7: anchors and aliases add more than 8388608 bytes to the document
    devices bomb.yaml --strict: 3
    error: bomb.yaml:1: line 7: anchors and aliases add more than 8388608 bytes to the document
    hint: without --strict the object is left out and the rest is read
    ## gzip that ends early
    all cut.json.gz: 3
    error: `cut.json.gz` is cut off: its gzip data ends after 0 bytes of text
    hint: copy or download the file again; the part before the damage is not used
    devices cut.json.gz --strict: 3
    error: `cut.json.gz` is cut off: its gzip data ends after 0 bytes of text
    hint: copy or download the file again; the part before the damage is not used
    ## no gzip
    all plain.json.gz: 0
    devices plain.json.gz --strict: 0
    ## no zstd
    all plain.json.zst: 0
    devices plain.json.zst --strict: 0
    "#);
}

#[test]
fn objects_that_cannot_be_are_named() {
    let pods = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|number| json!({"resource": "pods", "name": format!("p{number}"), "uid": format!("u{number}")}))
            .collect()
    };
    let with = |key: &str, value: Value| {
        let mut object = claim("c", &json!({}));
        object[key] = value;
        list(&json!([object]))
    };
    let inputs = [
        ("no objects", "none.json", list(&json!([]))),
        ("items that are no list", "items.json", list(&json!(7))),
        (
            "items that are no objects",
            "scalars.json",
            list(&json!([1, "a", null, []])),
        ),
        ("no kind", "kindless.json", with("kind", Value::Null)),
        (
            "another version",
            "version.json",
            with("apiVersion", json!("resource.k8s.io/v9")),
        ),
        (
            "another group",
            "group.json",
            with("apiVersion", json!("resource.example.com/v1")),
        ),
        ("other kinds", "kinds.json", with("kind", json!("Deployment"))),
        (
            "no name",
            "nameless.json",
            with("metadata", json!({"namespace": "n"})),
        ),
        (
            "metadata of the wrong type",
            "metadata.json",
            with("metadata", json!([])),
        ),
        (
            "a status of the wrong type",
            "status.json",
            with("status", json!({"reservedFor": {"a": 1}})),
        ),
        (
            "a time that is none",
            "time.json",
            with("metadata", json!({"name": "c", "creationTimestamp": "yesterday"})),
        ),
        (
            "two of a name",
            "duplicates.json",
            list(&json!([
                claim("c", &json!({})),
                claim("c", &json!({"reservedFor": pods(1)}))
            ])),
        ),
        (
            "a claim that points to nothing",
            "nothing.json",
            list(&json!([claim(
                "c",
                &json!({"reservedFor": pods(1), "allocation": {"devices": {"results": [
                {"request": "none", "driver": "none", "pool": "none", "device": "none"}]}}})
            )])),
        ),
        (
            "10,000 reservations",
            "reservations.json",
            list(&json!([claim("c", &json!({"reservedFor": pods(10_000)}))])),
        ),
        (
            "half a pool",
            "half.json",
            list(&json!([slice(
                &json!({"pool": {"name": "p", "generation": 1, "resourceSliceCount": 2}})
            )])),
        ),
        (
            "a pool of less than nothing",
            "negative.json",
            list(&json!([slice(
                &json!({"pool": {"name": "p", "generation": -1, "resourceSliceCount": -2}})
            )])),
        ),
        (
            "devices of the wrong type",
            "devices.json",
            list(&json!([slice(&json!({"devices": 7}))])),
        ),
        (
            "two devices of a name",
            "same.json",
            list(&json!([slice(
                &json!({"devices": [{"name": "g"}, {"name": "g"}]})
            )])),
        ),
        (
            "a number that is too large",
            "huge.json",
            String::from_utf8(list(&json!([slice(
                &json!({"pool": {"name": "p", "generation": 77777}})
            )])))
            .expect("UTF-8")
            .replace("77777", "1e400")
            .into_bytes(),
        ),
        (
            "a quantity that is none",
            "quantity.json",
            list(&json!([slice(
                &json!({"devices": [{"name": "g", "capacity": {"m": {"value": "much"}}}]})
            )])),
        ),
        (
            "a quantity beyond all bounds",
            "exponent.json",
            list(&json!([slice(
                &json!({"devices": [{"name": "g", "allowMultipleAllocations": true,
                "capacity": {"m": {"value": "1e99999999999"}, "n": {"value": "1e-99999999999"}}}]})
            )])),
        ),
    ];
    insta::assert_snapshot!(told(&inputs), @r#"
    ## no objects
    all none.json: 0
    devices none.json --strict: 0
    ## items that are no list
    all items.json: 3
    error: `items.json` is not valid JSON at line 1: `items` of the list is no array
    devices items.json --strict: 3
    error: `items.json` is not valid JSON at line 1: `items` of the list is no array
    ## items that are no objects
    all scalars.json: 0
    warning: scalars.json:1 (items[0]): not an object
    warning: scalars.json:1 (items[1]): not an object
    warning: scalars.json:1 (items[2]): not an object
    warning: scalars.json:1 (items[3]): not an object
    devices scalars.json --strict: 3
    error: scalars.json:1 (items[0]): not an object
    hint: without --strict the object is left out and the rest is read
    ## no kind
    all kindless.json: 0
    warning: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    devices kindless.json --strict: 3
    error: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    hint: without --strict the object is left out and the rest is read
    ## another version
    status version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: `resource.k8s.io/v9` is no version of ResourceClaim that can be read; known are v1, v1beta2, v1beta1
    warning: claims and free devices are unknown: resourceclaims of namespace `n` could not be read: 1 malformed object
    claims reserved version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: `resource.k8s.io/v9` is no version of ResourceClaim that can be read; known are v1, v1beta2, v1beta1
    devices version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: `resource.k8s.io/v9` is no version of ResourceClaim that can be read; known are v1, v1beta2, v1beta1
    warning: whether a device is free is unknown: resourceclaims of namespace `n` could not be read: 1 malformed object
    taints version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: `resource.k8s.io/v9` is no version of ResourceClaim that can be read; known are v1, v1beta2, v1beta1
    warning: which claims hold tainted devices is unknown: resourceclaims of namespace `n` could not be read: 1 malformed object
    devices version.json --strict: 3
    error: version.json:1 (items[0]): `ResourceClaim/n/c`: `resource.k8s.io/v9` is no version of ResourceClaim that can be read; known are v1, v1beta2, v1beta1
    hint: without --strict the object is left out and the rest is read
    ## another group
    all group.json: 0
    warning: group.json has no object of a kind that matters, only 1 ResourceClaim of resource.example.com/v1
    devices group.json --strict: 0
    warning: group.json has no object of a kind that matters, only 1 ResourceClaim of resource.example.com/v1
    ## other kinds
    all kinds.json: 0
    warning: kinds.json has no object of a kind that matters, only 1 Deployment of resource.k8s.io/v1
    devices kinds.json --strict: 0
    warning: kinds.json has no object of a kind that matters, only 1 Deployment of resource.k8s.io/v1
    ## no name
    status nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: claims and free devices are unknown: resourceclaims could not be read: 1 malformed object
    claims reserved nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    devices nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: whether a device is free is unknown: resourceclaims could not be read: 1 malformed object
    taints nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: which claims hold tainted devices is unknown: resourceclaims could not be read: 1 malformed object
    devices nameless.json --strict: 3
    error: nameless.json:1 (items[0]): has no `metadata.name`
    hint: without --strict the object is left out and the rest is read
    ## metadata of the wrong type
    status metadata.json: 0
    warning: metadata.json:1 (items[0]): has no `metadata.name`
    warning: claims and free devices are unknown: resourceclaims could not be read: 1 malformed object
    claims reserved metadata.json: 0
    warning: metadata.json:1 (items[0]): has no `metadata.name`
    devices metadata.json: 0
    warning: metadata.json:1 (items[0]): has no `metadata.name`
    warning: whether a device is free is unknown: resourceclaims could not be read: 1 malformed object
    taints metadata.json: 0
    warning: metadata.json:1 (items[0]): has no `metadata.name`
    warning: which claims hold tainted devices is unknown: resourceclaims could not be read: 1 malformed object
    devices metadata.json --strict: 3
    error: metadata.json:1 (items[0]): has no `metadata.name`
    hint: without --strict the object is left out and the rest is read
    ## a status of the wrong type
    status status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: invalid type: map, expected a sequence
    warning: claims and free devices are unknown: resourceclaims of namespace `n` could not be read: 1 malformed object
    claims reserved status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: invalid type: map, expected a sequence
    devices status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: invalid type: map, expected a sequence
    warning: whether a device is free is unknown: resourceclaims of namespace `n` could not be read: 1 malformed object
    taints status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: invalid type: map, expected a sequence
    warning: which claims hold tainted devices is unknown: resourceclaims of namespace `n` could not be read: 1 malformed object
    devices status.json --strict: 3
    error: status.json:1 (items[0]): `ResourceClaim/n/c`: invalid type: map, expected a sequence
    hint: without --strict the object is left out and the rest is read
    ## a time that is none
    status time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: `yesterday` is not an RFC 3339 time
    warning: claims and free devices are unknown: resourceclaims could not be read: 1 malformed object
    claims reserved time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: `yesterday` is not an RFC 3339 time
    devices time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: `yesterday` is not an RFC 3339 time
    warning: whether a device is free is unknown: resourceclaims could not be read: 1 malformed object
    taints time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: `yesterday` is not an RFC 3339 time
    warning: which claims hold tainted devices is unknown: resourceclaims could not be read: 1 malformed object
    devices time.json --strict: 3
    error: time.json:1 (items[0]): `ResourceClaim/c`: `yesterday` is not an RFC 3339 time
    hint: without --strict the object is left out and the rest is read
    ## two of a name
    all duplicates.json: 0
    warning: duplicates.json: `ResourceClaim/n/c`: is there more than once; the last one counts
    devices duplicates.json --strict: 3
    error: duplicates.json: `ResourceClaim/n/c`: is there more than once; the last one counts
    hint: without --strict the object is left out and the rest is read
    ## a claim that points to nothing
    all nothing.json: 0
    devices nothing.json --strict: 0
    ## 10,000 reservations
    all reservations.json: 0
    devices reservations.json --strict: 0
    ## half a pool
    all half.json: 0
    devices half.json --strict: 0
    ## a pool of less than nothing
    all negative.json: 0
    devices negative.json --strict: 0
    ## devices of the wrong type
    status devices.json: 0
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: invalid type: integer `7`, expected a sequence
    warning: devices are unknown: resourceslices could not be read: 1 malformed object
    claims reserved devices.json: 0
    devices devices.json: 0
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: invalid type: integer `7`, expected a sequence
    warning: only devices in use are listed: resourceslices could not be read: 1 malformed object
    taints devices.json: 0
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: invalid type: integer `7`, expected a sequence
    warning: taints of slices are unknown: resourceslices could not be read: 1 malformed object
    devices devices.json --strict: 3
    error: devices.json:1 (items[0]): `ResourceSlice/s`: invalid type: integer `7`, expected a sequence
    hint: without --strict the object is left out and the rest is read
    ## two devices of a name
    all same.json: 0
    devices same.json --strict: 0
    ## a number that is too large
    status huge.json: 0
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: devices are unknown: resourceslices could not be read: 1 malformed object
    claims reserved huge.json: 0
    devices huge.json: 0
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: only devices in use are listed: resourceslices could not be read: 1 malformed object
    taints huge.json: 0
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: taints of slices are unknown: resourceslices could not be read: 1 malformed object
    devices huge.json --strict: 3
    error: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    hint: without --strict the object is left out and the rest is read
    ## a quantity that is none
    status quantity.json: 0
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: devices are unknown: resourceslices could not be read: 1 malformed object
    claims reserved quantity.json: 0
    devices quantity.json: 0
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: only devices in use are listed: resourceslices could not be read: 1 malformed object
    taints quantity.json: 0
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: taints of slices are unknown: resourceslices could not be read: 1 malformed object
    devices quantity.json --strict: 3
    error: quantity.json:1 (items[0]): `ResourceSlice/s`: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    hint: without --strict the object is left out and the rest is read
    ## a quantity beyond all bounds
    all exponent.json: 0
    devices exponent.json --strict: 0
    "#);
}

#[test]
fn places_without_objects_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
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
    hint: check the path; `-` stands for standard input
    devices missing.yaml --strict: 3
    error: cannot open `missing.yaml`: No such file or directory (os error 2)
    hint: check the path; `-` stands for standard input
    ## a folder without files
    all hollow: 3
    error: directory `hollow` has no file that ends in .yaml, .yml or .json, plain, .gz or .zst
    hint: name the files themselves if their names end in something else
    devices hollow --strict: 3
    error: directory `hollow` has no file that ends in .yaml, .yml or .json, plain, .gz or .zst
    hint: name the files themselves if their names end in something else
    ## a folder with other files
    all other: 3
    error: directory `other` has no file that ends in .yaml, .yml or .json, plain, .gz or .zst
    hint: name the files themselves if their names end in something else
    devices other --strict: 3
    error: directory `other` has no file that ends in .yaml, .yml or .json, plain, .gz or .zst
    hint: name the files themselves if their names end in something else
    "#);
}

#[test]
fn a_clock_before_the_creation_makes_no_ages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
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
