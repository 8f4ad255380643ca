//! Tests of the conversion. Where not said otherwise, results are those of `sigs.k8s.io/yaml` v1.6.0, which kubectl uses.

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Content of a text, in a comparable form.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Item {
        json: Value,
        line: u64,
        index: Option<u64>,
    },
    Bad {
        line: u64,
        index: Option<u64>,
        message: String,
    },
    List(ListHead),
}

fn read_with(bytes: &[u8], limits: &Limits) -> (Vec<Seen>, Result<(), ReadError>) {
    let mut text = match Text::open("file".into(), Cursor::new(bytes.to_vec()), 0, limits, None) {
        Ok(text) => text,
        Err(error) => return (Vec::new(), Err(error)),
    };
    if let Err(error) = text.advance() {
        return (Vec::new(), Err(error));
    }
    let mut items = YamlItems::new(text, 0, 0, limits);
    let mut seen = Vec::new();
    loop {
        match items.next_event() {
            Err(error) => return (seen, Err(error)),
            Ok(None) => return (seen, Ok(())),
            Ok(Some(JsonEvent::Item(item))) => seen.push(Seen::Item {
                json: serde_json::from_slice(item.json).unwrap_or_else(|error| {
                    panic!("{error} in {}", String::from_utf8_lossy(item.json));
                }),
                line: item.line,
                index: item.index,
            }),
            Ok(Some(JsonEvent::Bad {
                line, index, message, ..
            })) => {
                seen.push(Seen::Bad { line, index, message });
            }
            Ok(Some(JsonEvent::ListEnd(list))) => seen.push(Seen::List(list.clone())),
        }
    }
}

fn read(text: &str) -> (Vec<Seen>, Result<(), ReadError>) {
    read_with(text.as_bytes(), &Limits::default())
}

fn item(json: &str, line: u64, index: Option<u64>) -> Seen {
    Seen::Item {
        json: serde_json::from_str(json).expect("JSON"),
        line,
        index,
    }
}

fn bad(line: u64, index: Option<u64>, message: &str) -> Seen {
    Seen::Bad {
        line,
        index,
        message: message.to_owned(),
    }
}

/// The one object of a text, or the problem it has.
fn object(text: &str) -> Result<Value, String> {
    match read(text) {
        (seen, Ok(())) => match &*seen {
            [
                Seen::Item {
                    json, index: None, ..
                },
            ] => Ok(json.clone()),
            [
                Seen::Bad {
                    message, index: None, ..
                },
            ] => Err(message.clone()),
            other => panic!("{other:?} in {text}"),
        },
        (seen, Err(error)) => panic!("{error:?} after {seen:?} in {text}"),
    }
}

#[test]
fn scalars_mean_what_they_mean_to_kubectl() {
    for (text, json) in [
        ("yes", "true"),
        ("Y", "true"),
        ("on", "true"),
        ("oN", "\"oN\""),
        ("n", "false"),
        ("Off", "false"),
        ("TRUE", "true"),
        ("tRue", "\"tRue\""),
        ("'yes'", "\"yes\""),
        ("\"true\"", "\"true\""),
        ("~", "null"),
        ("", "null"),
        ("Null", "null"),
        ("nUll", "\"nUll\""),
        ("''", "\"\""),
        ("0", "0"),
        ("-0", "0"),
        ("+5", "5"),
        ("'5'", "\"5\""),
        ("010", "8"),
        ("08", "8"),
        ("-08", "-8"),
        ("0o17", "15"),
        ("0o8", "\"0o8\""),
        ("0x1F", "31"),
        ("-0x10", "-16"),
        ("0x_1F", "31"),
        ("0xg", "\"0xg\""),
        ("0b11", "3"),
        ("-0b11", "-3"),
        ("0b", "\"0b\""),
        ("1_000", "1000"),
        ("_1", "\"_1\""),
        ("1e3", "1000"),
        ("1E-7", "1e-7"),
        ("1.0", "1"),
        ("1.10", "1.1"),
        ("1.", "1"),
        (".5", "0.5"),
        (".5_0", "0.5"),
        ("._5", "\"._5\""),
        ("-.5", "-0.5"),
        ("+.5e3", "500"),
        (".", "\".\""),
        (".e5", "\".e5\""),
        ("1e", "\"1e\""),
        ("1e400", "\"1e400\""),
        ("-0.0", "-0.0"),
        ("1e21", "1e21"),
        ("123456789.125", "123456789.125"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551616", "18446744073709552000"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775809", "-9223372036854776000"),
        ("2001-12-14", "\"2001-12-14\""),
        ("2026-11-21T10:13:08Z", "\"2026-11-21T10:13:08Z\""),
        ("12:30:45", "\"12:30:45\""),
        ("100m", "\"100m\""),
        ("1Gi", "\"1Gi\""),
        ("1.0.0", "\"1.0.0\""),
        ("<<", "\"<<\""),
        ("!!str 12", "\"12\""),
        ("!!str ~", "\"~\""),
        ("!!str", "\"\""),
        ("! 12", "\"12\""),
        ("!foo 12", "\"12\""),
        ("!!int '12'", "12"),
        ("!!float 1", "1.0"),
        ("!!bool 'yes'", "true"),
        ("!!null ''", "null"),
        ("!!timestamp 2001-12-14", "\"2001-12-14\""),
        ("!<tag:yaml.org,2002:int> 5", "5"),
        ("!!merge x", "\"x\""),
    ] {
        let expected: Value = serde_json::from_str(json).expect("JSON");
        let found = object(&format!("a: {text}")).unwrap_or_else(|message| panic!("{text}: {message}"));
        let (found, expected) = (&found["a"], &expected);
        let equal = found == expected || found.is_number() && found.as_f64() == expected.as_f64();
        assert!(equal, "{text} is {found}, not {expected}");
    }
}

#[test]
fn whole_floats_are_written_as_integers() {
    for (text, json) in [
        ("1e3", "1000"),
        ("1.0", "1"),
        ("-2.0", "-2"),
        ("1e20", "100000000000000000000"),
    ] {
        let limits = Limits::default();
        let mut input = Text::open(
            "f".into(),
            Cursor::new(format!("a: {text}").into_bytes()),
            0,
            &limits,
            None,
        )
        .expect("text");
        assert!(input.advance().expect("text"));
        let mut items = YamlItems::new(input, 0, 0, &limits);
        match items.next_event().expect("no error") {
            Some(JsonEvent::Item(item)) => {
                assert_eq!(item.json, format!("{{\"a\":{json}}}").as_bytes());
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn keys_are_what_they_are_to_kubectl() {
    for (text, key) in [
        ("yes", "true"),
        ("'y'", "y"),
        ("no", "false"),
        ("010", "8"),
        ("1.10", "1.1"),
        ("1e5", "100000"),
        ("1e6", "1e+06"),
        ("1234567.0", "1.234567e+06"),
        ("1e-7", "1e-07"),
        ("0.0001", "0.0001"),
        (".inf", ".inf"),
        (".NaN", ".nan"),
        ("\"1\"", "1"),
        ("!!str 1", "1"),
        ("2001-12-14", "2001-12-14"),
        ("a b", "a b"),
        ("? a\n", "a"),
    ] {
        let value = object(&format!("{text}: x")).unwrap_or_else(|message| panic!("{text}: {message}"));
        assert_eq!(value, serde_json::json!({ key: "x" }), "{text}");
    }
}

#[test]
fn notations_all_become_json() {
    for (text, json) in [
        ("a: 'it''s'", r#"{"a":"it's"}"#),
        (r#"a: "\x41\u263a\U0001F600\t\"\\""#, r#"{"a":"A☺😀\t\"\\"}"#),
        (r#"a: "\0\x01\e""#, r#"{"a":"\u0000\u0001\u001b"}"#),
        ("a: |\n  x\n  y\n", r#"{"a":"x\ny\n"}"#),
        ("a: >\n  x\n  y\n", r#"{"a":"x y\n"}"#),
        ("a: >-\n  x\n\n  y\n", r#"{"a":"x\ny"}"#),
        ("a: |+\n  x\n\n", r#"{"a":"x\n\n"}"#),
        ("a: b\n  c\n  d", r#"{"a":"b c d"}"#),
        ("a: \"b\\\n  c\"", r#"{"a":"bc"}"#),
        ("a:\n- b\n- c", r#"{"a":["b","c"]}"#),
        ("a:\n  - b\n  -\n  - - c", r#"{"a":["b",null,["c"]]}"#),
        ("a: {b}", r#"{"a":{"b":null}}"#),
        ("a: [b: c, d, ]", r#"{"a":[{"b":"c"},"d"]}"#),
        ("{a: 1, 'b':2, \"c\":3}", r#"{"a":1,"b":2,"c":3}"#),
        ("a: b #c\nd: e#f", r#"{"a":"b","d":"e#f"}"#),
        ("a: &x 1\nb: *x", r#"{"a":1,"b":1}"#),
        ("a: &x {c: [1]}\nb: *x", r#"{"a":{"c":[1]},"b":{"c":[1]}}"#),
        ("a: &x 1\nb: &x 2\nc: *x", r#"{"a":1,"b":2,"c":2}"#),
        ("x: &a\nz: *a", r#"{"x":null,"z":null}"#),
        ("&k a: 1\nb: *k", r#"{"a":1,"b":"a"}"#),
        ("b: &k c\nd: {*k : 1}", r#"{"b":"c","d":{"c":1}}"#),
        (
            "a: !!map {b: c}\nd: !!seq [e]\nf: !g {}",
            r#"{"a":{"b":"c"},"d":["e"],"f":{}}"#,
        ),
    ] {
        let expected: Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(object(text), Ok(expected), "{text}");
    }
}

#[test]
fn merge_keys_follow_the_order_of_the_text() {
    for (text, json) in [
        (
            "a: &x {c: 1}\nb:\n  <<: *x\n  d: 2",
            r#"{"a":{"c":1},"b":{"c":1,"d":2}}"#,
        ),
        (
            "a: &x {c: 1}\nb:\n  <<: *x\n  c: 5",
            r#"{"a":{"c":1},"b":{"c":5}}"#,
        ),
        // YAML would have the explicit key win; kubectl does not.
        (
            "a: &x {c: 1}\nb:\n  c: 5\n  <<: *x\n  d: 2",
            r#"{"a":{"c":1},"b":{"c":1,"d":2}}"#,
        ),
        ("b:\n  <<: [{c: 1}, {c: 2, d: 3}]", r#"{"b":{"c":1,"d":3}}"#),
        ("b: {<<: {a: 1}, <<: {a: 2}}", r#"{"b":{"a":2}}"#),
        ("b: {<<: {}}", r#"{"b":{}}"#),
        ("b: {!!merge <<: {a: 1}}", r#"{"b":{"a":1}}"#),
        ("b: {'<<': {a: 1}}", r#"{"b":{"<<":{"a":1}}}"#),
        ("<<: {a: 1, kind: X}\nb: 2", r#"{"a":1,"kind":"X","b":2}"#),
        (
            "b:\n  <<: &y {c: {<<: {d: 1}}}\n  e: *y",
            r#"{"b":{"c":{"d":1},"e":{"c":{"d":1}}}}"#,
        ),
    ] {
        let expected: Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(object(text), Ok(expected), "{text}");
    }
}

#[test]
fn documents_with_a_fault_are_named() {
    for (text, message) in [
        ("a: 1\na: 2", "line 2: key `a` appears twice"),
        ("x: {b: 1, b: 2}", "key `b` appears twice"),
        ("1: a\n'1': b", "line 2: key `1` appears twice"),
        ("~: a", "a key is null"),
        ("[a]: b", "a key is a mapping or a sequence"),
        (
            "a: &x {b: c}\nd: {*x : e}",
            "line 2: a key is a mapping or a sequence",
        ),
        (
            "18446744073709551615: a",
            "key `18446744073709551615` is out of range",
        ),
        ("a: .inf", "infinity and not-a-number have no JSON form"),
        ("a: !!int abc", "`abc` is not a value of `!!int`"),
        ("a: !!int 1.5", "`1.5` is not a value of `!!int`"),
        ("a: !!null x", "`x` is not a value of `!!null`"),
        ("a: !!timestamp abc", "`abc` is not a value of `!!timestamp`"),
        (
            "a: !!binary aGk=",
            "`!!binary` is not supported: write the base64 text without the tag",
        ),
        ("a: *x", "alias `*x` has no anchor"),
        (
            "a: &x [*x]",
            "an alias refers to a value that contains it, or that could not be read",
        ),
        ("b: {<<: 5}", "`<<` needs a mapping or a sequence of mappings"),
        ("b: {<<: [5]}", "`<<` needs a mapping or a sequence of mappings"),
        (
            "<<: {a: b}\nitems: [{}]",
            "line 2: `<<` cannot stand next to `items`",
        ),
        ("- a\n- b", "not an object"),
        ("just some text", "not an object"),
        ("5", "not an object"),
    ] {
        assert_eq!(object(text), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn many_keys_are_compared_as_well_as_few() {
    for count in [1, 10, 23, 24, 25, 1000] {
        let keys: String = (0..count)
            .map(|number| format!("k{number}: {{k{number}: 1}}\n"))
            .collect();
        assert_eq!(
            object(&keys).map(|value| value.as_object().map(serde_json::Map::len)),
            Ok(Some(count))
        );
        for repeated in [0, count / 2, count - 1] {
            let message = format!("line {}: key `k{repeated}` appears twice", count + 1);
            assert_eq!(object(&format!("{keys}k{repeated}: 2")), Err(message));
        }
    }
}

#[test]
fn documents_and_lists_follow_each_other() {
    let (seen, end) = read(concat!(
        "# only a comment\n---\n",
        "kind: Pod\nspec: {items: [1]}\n",
        "---\n---\n# nothing\n---\n",
        "apiVersion: v1\nitems:\n- kind: A\n  a: 1\n\n-   kind: B\n- {kind: C}\nkind: List\nmetadata:\n  resourceVersion: '7'\n",
        "--- # the next\n\nkind: PodList\nitems: []\n",
        "...\n---\nkind: PodList\n",
        "---\nkind: Pod # the last\n...\n",
    ));
    assert!(end.is_ok(), "{end:?}");
    let list = |kind: &str, items, line| ListHead {
        kind: Some(kind.into()),
        items,
        line,
        has_items: items > 0,
        ..ListHead::default()
    };
    assert_eq!(
        seen,
        [
            item(r#"{"kind":"Pod","spec":{"items":[1]}}"#, 3, None),
            item(r#"{"kind":"A","a":1}"#, 11, Some(0)),
            item(r#"{"kind":"B"}"#, 14, Some(1)),
            item(r#"{"kind":"C"}"#, 15, Some(2)),
            Seen::List(ListHead {
                api_version: Some("v1".into()),
                resource_version: Some("7".into()),
                metadata: Some(br#"{"resourceVersion":"7"}"#.to_vec()),
                ..list("List", 3, 9)
            }),
            Seen::List(ListHead {
                has_items: true,
                ..list("PodList", 0, 21)
            }),
            Seen::List(list("PodList", 0, 25)),
            item(r#"{"kind":"Pod"}"#, 27, None),
        ]
    );
}

#[test]
fn a_bad_item_does_not_harm_the_others() {
    let (seen, end) = read(concat!(
        "items:\n",
        "- a: &x {b: 1}\n",
        "- a: 1\n  a: 2\n  c: [{}, {}]\n",
        "- [1, {}]\n",
        "- 5\n",
        "-\n",
        "- *x\n",
        "- d: *nothing\n",
        "- e: *x\n",
        "- f: {g: .nan}\n",
        "- h: i\n",
        "kind: List\n",
        "kind: Twice\n",
        "x: {y: z}\n",
    ));
    assert!(end.is_ok(), "{end:?}");
    assert_eq!(
        seen,
        [
            item(r#"{"a":{"b":1}}"#, 2, Some(0)),
            bad(3, Some(1), "line 4: key `a` appears twice"),
            bad(6, Some(2), "not an object"),
            bad(7, Some(3), "not an object"),
            bad(8, Some(4), "not an object"),
            item(r#"{"b":1}"#, 9, Some(5)),
            bad(10, Some(6), "alias `*nothing` has no anchor"),
            item(r#"{"e":{"b":1}}"#, 11, Some(7)),
            bad(12, Some(8), "infinity and not-a-number have no JSON form"),
            item(r#"{"h":"i"}"#, 13, Some(9)),
            bad(13, None, "line 15: key `kind` appears twice"),
            Seen::List(ListHead {
                kind: Some("List".into()),
                items: 10,
                has_items: true,
                line: 1,
                ..ListHead::default()
            }),
        ]
    );
}

#[test]
fn a_malformed_document_does_not_harm_the_next() {
    let (seen, end) = read("a: b: c\n---\nd: e\n---\nf: [\n---\ng: h\n---\n\ti: @j\n");
    assert!(end.is_ok(), "{end:?}");
    let [first, second, third, fourth, fifth] = &*seen else {
        panic!("{seen:?}")
    };
    assert!(
        matches!(
            first,
            Seen::Bad {
                line: 1,
                index: None,
                ..
            }
        ),
        "{first:?}"
    );
    assert_eq!(*second, item(r#"{"d":"e"}"#, 3, None));
    assert!(
        matches!(
            third,
            Seen::Bad {
                line: 5,
                index: None,
                ..
            }
        ),
        "{third:?}"
    );
    assert_eq!(*fourth, item(r#"{"g":"h"}"#, 7, None));
    assert!(
        matches!(fifth, Seen::Bad { line: 9, index: None, message } if message.starts_with("line 9, column"))
    );
}

#[test]
fn a_malformed_list_is_an_error() {
    let (seen, end) = read("items:\n- a: 1\n- b: c: d\n- e: 2\n---\nf: 3\n");
    assert_eq!(seen, [item(r#"{"a":1}"#, 2, Some(0))]);
    assert!(
        matches!(
            end,
            Err(ReadError::Yaml {
                line: 3,
                column: 7,
                ..
            })
        ),
        "{end:?}"
    );
    let (seen, end) = read("items:\n- a: 1\n- b: \"c\n");
    assert_eq!(seen, [item(r#"{"a":1}"#, 2, Some(0))]);
    assert!(matches!(end, Err(ReadError::Yaml { .. })), "{end:?}");
}

#[test]
fn billions_of_laughs_are_refused() {
    let mut text = "items:\n- a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        let line = format!("  a{level}: &a{level} [{aliases}]\n");
        text.push_str(&line);
    }
    let limits = Limits {
        alias_bytes: 1 << 20,
        ..Limits::default()
    };
    let (seen, end) = read_with(format!("{text}- b: c\n").as_bytes(), &limits);
    assert!(end.is_ok(), "{end:?}");
    let message = "anchors and aliases add more than 1048576 bytes to the document";
    assert!(
        matches!(&seen[0], Seen::Bad { line: 2, index: Some(0), message: found } if found.ends_with(message))
    );
    assert_eq!(seen[1], item(r#"{"b":"c"}"#, 12, Some(1)));
}

#[test]
fn anchors_nested_in_anchors_are_counted() {
    let text: String = (0..100)
        .map(|level| format!("{}a{level}: &x{level}\n", " ".repeat(level)))
        .collect();
    let text = format!("{text}{}{}", " ".repeat(101), "b".repeat(1000));
    let limits = Limits {
        alias_bytes: 10_000,
        ..Limits::default()
    };
    let (seen, _) = read_with(text.as_bytes(), &limits);
    assert!(
        matches!(&*seen, [Seen::Bad { message, .. }] if message.contains("anchors and aliases")),
        "{seen:?}"
    );
}

#[test]
fn limits_on_an_object_are_problems_of_that_object() {
    let limits = Limits {
        item_bytes: 100,
        depth: 5,
        values: 20,
        ..Limits::default()
    };
    let text = format!(
        "items:\n- a: {}\n- b: [{}]\n- c: [[[[[]]]]]\n- d:\n    - - - - - e\n- f: [[[[]]]]\n",
        "x".repeat(200),
        "1, ".repeat(30)
    );
    let (seen, end) = read_with(text.as_bytes(), &limits);
    assert!(end.is_ok(), "{end:?}");
    assert_eq!(
        seen[..5],
        [
            bad(2, Some(0), "larger than the 100 bytes an object may have"),
            bad(3, Some(1), "more than 20 values in one object"),
            bad(4, Some(2), "nested more than 5 levels deep"),
            bad(5, Some(3), "line 6: nested more than 5 levels deep"),
            item(r#"{"f":[[[[]]]]}"#, 7, Some(4)),
        ]
    );
}

#[test]
fn nesting_without_end_is_refused() {
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
    ] {
        let (seen, _) = read(&text);
        assert!(matches!(&*seen, [Seen::Bad { .. }]), "{seen:?}");
        let (_, end) = read(&format!("items:\n- {text}"));
        assert!(matches!(end, Err(ReadError::Yaml { .. })), "{end:?}");
    }
}

#[test]
fn a_value_without_end_is_given_up() {
    let limits = Limits {
        item_bytes: 1 << 20,
        ..Limits::default()
    };
    for start in [
        "items:\n- a: \"",
        "items:\n- a: ",
        "items:\n- a: |\n   ",
        "a: '",
        "# ",
    ] {
        let (seen, end) = read_with(&[start.as_bytes(), &vec![b'x'; 4 << 20]].concat(), &limits);
        assert!(
            matches!(end, Err(ReadError::ValueTooLarge { .. })),
            "{start}: {end:?} after {} events",
            seen.len()
        );
    }
}

#[test]
fn an_object_without_end_is_given_up() {
    let limits = Limits {
        item_bytes: 1 << 10,
        values: 100,
        ..Limits::default()
    };
    let (seen, end) = read_with(
        &[&b"items:\n- a: [1"[..], &b",1".repeat(1 << 20)].concat(),
        &limits,
    );
    assert_eq!(seen, []);
    assert!(
        matches!(end, Err(ReadError::ValueTooLarge { line: 2, .. })),
        "{end:?}"
    );
}

#[test]
fn text_that_cannot_be_read_ends_everything() {
    let (seen, end) = read_with(b"items:\n- a: 1\n- b: caf\xe9\n", &Limits::default());
    assert_eq!(seen, []);
    assert!(
        matches!(end, Err(ReadError::NotUtf8 { offset: 22, .. })),
        "{end:?}"
    );
}

#[test]
fn a_truncated_value_is_never_returned() {
    let text = format!("items:\n- a: 1\n- b: {}", "1".repeat(1 << 20));
    let mut compressed = zstd::encode_all(text.as_bytes(), 1).expect("in memory");
    compressed.truncate(compressed.len() - 3);
    let (seen, end) = read_with(&compressed, &Limits::default());
    assert!(seen.len() <= 1, "{} events", seen.len());
    assert!(
        matches!(end, Err(ReadError::TruncatedCompression { .. })),
        "{end:?}"
    );
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // Never whole, since whole numbers become integers.
        any::<i32>().prop_map(|number| Value::from((f64::from(number) + 0.5) / 64.0)),
        r"[ -~ü日😀\n\t]{0,20}".prop_map(Value::from),
        prop::sample::select(vec![
            "yes",
            "n",
            "~",
            "null",
            "1",
            "010",
            "0x1",
            "1e3",
            ".5",
            "",
            "<<",
            "2026-11-21",
            "- a",
            "a: b",
            "#",
            "*a",
            "&a",
            "!a",
            "|"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z0-9/. -]{1,8}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_yaml(value in value()) {
        let text = format!("{{\"a\": {value:#}}}");
        prop_assert_eq!(object(&text), Ok(serde_json::json!({ "a": value })), "{}", text);
    }

    #[test]
    fn anything_at_all_ends(text in r#"([-a-c:#&*!|>'"{}\[\],?% \n\t~<1.ü]|items:\n|- |\n  |---\n){0,60}"#) {
        let limits = Limits { item_bytes: 200, depth: 4, values: 50, alias_bytes: 300, ..Limits::default() };
        let _ = read_with(text.as_bytes(), &limits);
    }
}
