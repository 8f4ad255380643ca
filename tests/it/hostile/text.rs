//! Texts that are cut off, damaged, compressed or not JSON or YAML at all.

use std::fmt::Write as _;

use serde_json::json;

use super::{claim, gzip, list, told};

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
    insta::assert_snapshot!(told(&inputs), @"
    ## empty
    all empty.yaml: 3
    error: `empty.yaml` contains no objects
    hint: save the cluster again with `kubectl dra snapshot` or `kubectl get … -o yaml`, and check that the command succeeded
    devices empty.yaml --strict: 3
    error: `empty.yaml` contains no objects
    hint: save the cluster again with `kubectl dra snapshot` or `kubectl get … -o yaml`, and check that the command succeeded
    ## only a comment
    all comment.yaml: 3
    error: `comment.yaml` contains no objects
    hint: save the cluster again with `kubectl dra snapshot` or `kubectl get … -o yaml`, and check that the command succeeded
    devices comment.yaml --strict: 3
    error: `comment.yaml` contains no objects
    hint: save the cluster again with `kubectl dra snapshot` or `kubectl get … -o yaml`, and check that the command succeeded
    ## JSON that ends early
    all cut.json: 3
    error: `cut.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    hint: the file is incomplete: save it again, and check that the command succeeded
    devices cut.json --strict: 3
    error: `cut.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    hint: the file is incomplete: save it again, and check that the command succeeded
    ## JSON with a tail
    all tail.json: 3
    error: `tail.json` is not valid JSON at line 1: expected an object, found `}`
    devices tail.json --strict: 3
    error: `tail.json` is not valid JSON at line 1: expected an object, found `}`
    ## YAML that ends early
    all cut.yaml: 3
    error: `cut.yaml` is not valid YAML at line 4, column 42: unclosed bracket '['
    hint: fix the file or save it again; the items after this line cannot be read
    devices cut.yaml --strict: 3
    error: `cut.yaml` is not valid YAML at line 4, column 42: unclosed bracket '['
    hint: fix the file or save it again; the items after this line cannot be read
    ## YAML with a tab
    all tab.yaml: 3
    error: no readable objects: tab.yaml:1: line 4, column 2: tabs disallowed within this context (block indentation)
    devices tab.yaml --strict: 3
    error: tab.yaml:1: line 4, column 2: tabs disallowed within this context (block indentation)
    hint: without --strict the object is skipped
    ## a key twice
    all twice.yaml: 3
    error: no readable objects: twice.yaml:1: line 3: key `name` appears twice
    devices twice.yaml --strict: 3
    error: twice.yaml:1: line 3: key `name` appears twice
    hint: without --strict the object is skipped
    ## text
    all text.yaml: 3
    error: no readable objects: text.yaml:1: not an object
    devices text.yaml --strict: 3
    error: text.yaml:1: not an object
    hint: without --strict the object is skipped
    ## a number
    all number.json: 3
    error: no readable objects: number.json:1: not an object
    devices number.json --strict: 3
    error: number.json:1: not an object
    hint: without --strict the object is skipped
    ## no UTF-8
    all latin1.json: 3
    error: `latin1.json` is not UTF-8: invalid byte 0xe9 at offset 13
    hint: if it is text, convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`
    devices latin1.json --strict: 3
    error: `latin1.json` is not UTF-8: invalid byte 0xe9 at offset 13
    hint: if it is text, convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`
    ## no UTF-8 in YAML
    all latin1.yaml: 3
    error: `latin1.yaml` is not UTF-8: invalid byte 0xe9 at offset 9
    hint: if it is text, convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`
    devices latin1.yaml --strict: 3
    error: `latin1.yaml` is not UTF-8: invalid byte 0xe9 at offset 9
    hint: if it is text, convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`
    ## bytes
    all bytes.yaml: 3
    error: `bytes.yaml` is not UTF-8: invalid byte 0x80 at offset 128
    hint: if it is text, convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`
    devices bytes.yaml --strict: 3
    error: `bytes.yaml` is not UTF-8: invalid byte 0x80 at offset 128
    hint: if it is text, convert it, for example with `iconv -f ISO-8859-1 -t UTF-8`
    ## nested JSON
    status nested.json: 0
    warning: nested.json:1 (items[0]): nested more than 127 levels deep
    warning: devices are unknown; claims and free devices are unknown; the health of devices in use is unknown; taints of rules are unknown; only nodes named in slices are known; some checks were incomplete: resourceslices, resourceclaims, pods, devicetaintrules, nodes, namespaces, deviceclasses, resourceclaimtemplates, podgroups, resourcequotas, events could not be read: 1 part of the input may be of any kind
    claims, reserved nested.json: 0
    warning: nested.json:1 (items[0]): nested more than 127 levels deep
    devices nested.json: 0
    warning: nested.json:1 (items[0]): nested more than 127 levels deep
    warning: only devices in use are listed; whether a device is free is unknown; pods that use a device, and the health they report, are unknown; taints of rules are unknown; classes of devices are unknown: resourceslices, resourceclaims, pods, devicetaintrules, deviceclasses could not be read: 1 part of the input may be of any kind
    taints nested.json: 0
    warning: nested.json:1 (items[0]): nested more than 127 levels deep
    warning: taints of slices are unknown; taints of rules are unknown; it is unknown which claims hold tainted devices; it is unknown which pods use tainted devices: resourceslices, devicetaintrules, resourceclaims, pods could not be read: 1 part of the input may be of any kind
    check nested.json: 4
    warning: nested.json:1 (items[0]): nested more than 127 levels deep
    warning: unknown: 61 codes from DRA001 to DRA090 were not fully checked: namespaces, nodes, deviceclasses, resourceslices, devicetaintrules, resourceclaimtemplates, resourceclaims, pods, podgroups, resourcequotas, events could not be read: 1 part of the input may be of any kind
    Nothing checked in all namespaces: none of 61 checks could run
    simulate eviction nested.json: 4
    warning: nested.json:1 (items[0]): nested more than 127 levels deep
    warning: resourceslices, devicetaintrules, resourceclaims, pods, podgroups, poddisruptionbudgets could not be read: 1 part of the input may be of any kind
    devices nested.json --strict: 3
    error: nested.json:1 (items[0]): nested more than 127 levels deep
    hint: without --strict the object is skipped
    ## nested objects
    all nested-objects.json: 3
    error: `nested-objects.json` is not valid JSON at line 1: the text ends in the middle of an object
    hint: the file is incomplete: save it again, and check that the command succeeded
    devices nested-objects.json --strict: 3
    error: `nested-objects.json` is not valid JSON at line 1: the text ends in the middle of an object
    hint: the file is incomplete: save it again, and check that the command succeeded
    ## nested YAML
    all nested.yaml: 3
    error: no readable objects: nested.yaml:1: line 1, column 269: recursion limit exceeded
    devices nested.yaml --strict: 3
    error: nested.yaml:1: line 1, column 269: recursion limit exceeded
    hint: without --strict the object is skipped
    ## a YAML bomb
    all bomb.yaml: 3
    error: no readable objects: bomb.yaml:1: line 7: anchors and aliases add more than 8388608 bytes to the document
    devices bomb.yaml --strict: 3
    error: bomb.yaml:1: line 7: anchors and aliases add more than 8388608 bytes to the document
    hint: without --strict the object is skipped
    ## gzip that ends early
    all cut.json.gz: 3
    error: `cut.json.gz` is truncated: its gzip data ends after 0 bytes of text
    hint: copy or download the file again; none of it was used
    devices cut.json.gz --strict: 3
    error: `cut.json.gz` is truncated: its gzip data ends after 0 bytes of text
    hint: copy or download the file again; none of it was used
    ## no gzip
    status, claims, reserved, devices, taints, simulate eviction plain.json.gz: 0
    check plain.json.gz: 1
    2 errors in all namespaces
    devices plain.json.gz --strict: 0
    ## no zstd
    status, claims, reserved, devices, taints, simulate eviction plain.json.zst: 0
    check plain.json.zst: 1
    2 errors in all namespaces
    devices plain.json.zst --strict: 0
    ");
}
