//! Tests of the push parser: what it finds in a text must not depend on how the text is cut.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::files::fault::Fault;
use crate::files::list_head::ListHead;

/// Content of a text, in a comparable form.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Item {
        json: String,
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

fn read_in_pieces<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    limits: JsonLimits,
) -> (Vec<Seen>, Result<(), JsonError>) {
    let mut items = JsonItems::new(limits);
    let mut seen = Vec::new();
    for piece in pieces {
        let mut feed = items.feed(piece);
        loop {
            match feed.next_event() {
                Err(error) => return (seen, Err(error)),
                Ok(None) => break,
                Ok(Some(JsonEvent::Item(item))) => seen.push(Seen::Item {
                    json: String::from_utf8_lossy(item.json).into_owned(),
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
    (seen, items.finish())
}

fn read(text: &str) -> (Vec<Seen>, Result<(), JsonError>) {
    let whole = read_in_pieces([text.as_bytes()], JsonLimits::default());
    for size in [1, 2, 5, 64] {
        let pieces = read_in_pieces(text.as_bytes().chunks(size), JsonLimits::default());
        assert_eq!(pieces.0, whole.0, "{text} in pieces of {size}");
        match (&pieces.1, &whole.1) {
            (Err(a), Err(b)) if matches!(a.kind, JsonErrorKind::Truncated { .. }) => {
                assert_eq!(a.kind, b.kind);
            }
            (a, b) => assert_eq!(a, b, "{text} in pieces of {size}"),
        }
    }
    whole
}

fn item(json: &str, line: u64, index: Option<u64>) -> Seen {
    Seen::Item {
        json: json.to_owned(),
        line,
        index,
    }
}

fn list(
    kind: Option<&str>,
    api_version: Option<&str>,
    metadata: Option<&str>,
    items: u64,
    line: u64,
) -> Seen {
    let mut head = ListHead {
        kind: kind.map(Into::into),
        api_version: api_version.map(Into::into),
        items,
        line,
        has_items: true,
        ..ListHead::default()
    };
    if let Some(metadata) = metadata {
        head.set_metadata(metadata.as_bytes());
    }
    Seen::List(head)
}

#[test]
fn lists_are_cut_into_items_whatever_the_order_of_their_keys() {
    let metadata = r#"{"resourceVersion":"12","continue":"abc"}"#;
    let expected = vec![
        item(r#"{"a":1}"#, 1, Some(0)),
        item(r#"{"b":["]"]}"#, 1, Some(1)),
        list(Some("PodList"), Some("v1"), Some(metadata), 2, 1),
    ];
    let items = r#""items":[{"a":1},{"b":["]"]}]"#;
    let kind = r#""kind":"PodList""#;
    let version = r#""apiVersion":"v1""#;
    let metadata = format!(r#""metadata":{metadata}"#);
    for order in [
        [items, kind, version, &metadata],
        [kind, version, &metadata, items],
        [&metadata, items, version, kind],
    ] {
        let text = format!("{{{}}}", order.join(","));
        let (seen, end) = read(&text);
        assert_eq!(seen, expected, "{text}");
        assert_eq!(end, Ok(()));
    }
}

#[test]
fn single_objects_and_lists_follow_each_other() {
    let (seen, end) = read(concat!(
        "{\"kind\":\"Pod\",\"spec\":{\"items\":[{}]}}\n",
        "{ \"kind\" : \"List\" , \"items\" : [ ] }{}\n\n",
        "{\"items\":\n[{\n}\n,\n{}]}\n",
        "{\"items\":{}}",
    ));
    assert_eq!(end, Ok(()));
    assert_eq!(
        seen,
        [
            item(r#"{"kind":"Pod","spec":{"items":[{}]}}"#, 1, None),
            list(Some("List"), None, None, 0, 2),
            item("{}", 2, None),
            item("{\n}", 5, Some(0)),
            item("{}", 8, Some(1)),
            list(None, None, None, 2, 4),
            item(r#"{"items":{}}"#, 9, None),
        ]
    );
}

#[test]
fn a_list_without_items_is_an_empty_list() {
    for text in [
        r#"{"kind":"PodList","items":null}"#,
        r#"{"items":null,"kind":"PodList"}"#,
    ] {
        let Seen::List(head) = list(Some("PodList"), None, None, 0, 1) else {
            panic!("a list");
        };
        let empty = ListHead {
            has_null_items: true,
            ..head
        };
        assert_eq!(read(text).0, [Seen::List(empty)], "{text}");
    }
    // Truncated items do not mean that there are none.
    let Seen::List(head) = list(Some("PodList"), None, None, 0, 1) else {
        panic!("a list");
    };
    let without = ListHead {
        has_items: false,
        ..head
    };
    assert_eq!(read(r#"{"kind":"PodList"}"#).0, [Seen::List(without)]);
}

#[test]
fn the_envelope_is_read_as_json() {
    let (seen, end) =
        read(r#"{"it\u0065ms":[{}],"kin\u0064":"P\u006fdList","x":"\"items\":[","y":-1.5e3,"kind":null}"#);
    assert_eq!(end, Ok(()));
    let Seen::List(head) = list(None, None, None, 1, 1) else {
        panic!("a list");
    };
    // Which of two kinds counts, readers disagree on.
    let odd = ListHead { is_odd: true, ..head };
    assert_eq!(seen, [item("{}", 1, Some(0)), Seen::List(odd)]);
}

#[test]
fn what_is_not_an_object_is_named_and_stepped_over() {
    let (seen, end) = read("{\"items\":[1,\n{},null,\n\"x\",[{}],{}]}");
    assert_eq!(end, Ok(()));
    let bad = |line, index| Seen::Bad {
        line,
        index: Some(index),
        message: Fault::NotAnObject.to_string(),
    };
    assert_eq!(
        seen,
        [
            bad(1, 0),
            item("{}", 2, Some(1)),
            bad(2, 2),
            bad(3, 3),
            bad(3, 4),
            item("{}", 3, Some(5)),
            list(None, None, None, 6, 1)
        ]
    );
}

#[test]
fn too_large_and_too_deep_objects_are_named_and_stepped_over() {
    let limits = JsonLimits {
        item_bytes: 40,
        depth: 4,
    };
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(100));
    let deep = r#"{"a":[[[[1]]]]}"#;
    let fits = r#"{"a":[[[1]]]}"#;
    let bad = |index, fault: Fault| Seen::Bad {
        line: 1,
        index,
        message: fault.to_string(),
    };
    let too_large = |index| bad(index, Fault::TooLarge { limit: 40 });
    let too_deep = |index| bad(index, Fault::TooDeep { limit: 4 });
    let text = format!(r#"{{"items":[{large},{deep},{fits}]}}{large}{deep}{fits}"#);
    for size in [1, 7, 64, 1000] {
        let (seen, end) = read_in_pieces(text.as_bytes().chunks(size), limits);
        assert_eq!(end, Ok(()));
        let expected = [
            too_large(Some(0)),
            too_deep(Some(1)),
            item(fits, 1, Some(2)),
            list(None, None, None, 3, 1),
            too_large(None),
            too_deep(None),
            item(fits, 1, None),
        ];
        assert_eq!(seen, expected, "in pieces of {size}");
    }
}

#[test]
fn what_is_larger_than_the_limit_is_not_held() {
    let limits = JsonLimits {
        item_bytes: 1000,
        depth: 10,
    };
    let mut items = JsonItems::new(limits);
    let mut held = 0;
    for piece in
        std::iter::once(&br#"{"items":[{"a":""#[..]).chain(std::iter::repeat_n(&[b'x'; 500][..], 5000))
    {
        assert!(items.feed(piece).next_event().expect("no error").is_none());
        held = held.max(items.held());
    }
    assert!(held <= 2 * limits.item_bytes, "{held} bytes held");
    assert!(items.finish().is_err());
}

#[test]
fn a_text_that_ends_early_says_where() {
    for (text, inside, line) in [
        ("{", "an object", 1),
        ("{}\n{\"kind\":\"Po", "an object", 2),
        ("{\"items\":[{},\n{\"a\"", "`items`, in or after item 1", 2),
        ("{\"items\":[{}", "`items`, in or after item 1", 1),
        ("{\"items\":[{}],", "a list", 1),
        ("{\"items\":[{}]", "a list", 1),
    ] {
        let error = read(text).1.expect_err(text);
        assert_eq!(
            error.kind,
            JsonErrorKind::Truncated {
                inside: inside.to_owned()
            },
            "{text}"
        );
        assert_eq!((error.line, error.offset), (line, text.len() as u64), "{text}");
    }
}

#[test]
fn a_text_that_is_not_json_says_where() {
    for (text, found, expected, line, offset) in [
        ("[{}]", b'[', "an object", 1, 0),
        ("{}\nx", b'x', "an object", 2, 3),
        ("{a:1}", b'a', "a key or `}`", 1, 1),
        ("{\"a\" 1}", b'1', "`:`", 1, 5),
        ("{\"a\":}", b'}', "a value", 1, 5),
        ("{\"a\":1 2}", b'2', "`,` or `}`", 1, 7),
        ("{\"a\":1,}", b'}', "a key", 1, 7),
        ("{\"items\":[{}\n{}]}", b'{', "`,` or `]`", 2, 13),
        ("{\"items\":[{},]}", b']', "an object", 1, 13),
        ("{\"items\":[x]}", b'x', "an object", 1, 10),
        ("{\"items\":[\u{fc}]}", 0xc3, "an object", 1, 10),
    ] {
        let error = read(text).1.expect_err(text);
        assert_eq!(
            error.kind,
            JsonErrorKind::Unexpected { found, expected },
            "{text}"
        );
        assert_eq!((error.line, error.offset), (line, offset), "{text}");
    }
}

#[test]
fn an_error_is_a_sentence() {
    let error = read("{\"items\":[{}\n{}]}").1.expect_err("malformed");
    assert_eq!(error.to_string(), "expected `,` or `]`, found `{`");
    let error = read("{\"items\":[\u{0}]}").1.expect_err("malformed");
    assert_eq!(error.to_string(), r"expected an object, found `\x00`");
}

#[test]
fn a_list_with_metadata_beyond_reason_is_refused() {
    let text = format!(r#"{{"items":[],"metadata":{{"x":"{}"}}}}"#, "x".repeat(2 << 20));
    let error = read_in_pieces(text.as_bytes().chunks(1 << 16), JsonLimits::default())
        .1
        .expect_err("too large");
    assert_eq!(
        error.kind,
        JsonErrorKind::HeadTooLarge {
            key: "metadata",
            limit: 1 << 20
        }
    );
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        r#"[a-z"\\{}\[\]:, \n\u{fc}\u{1f600}]{0,12}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("items".to_owned()),
        Just("kind".to_owned()),
        r#"[a-z"\\{}]{0,6}"#
    ]
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(key(), value(), 0..6).prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// A list's text.
fn list_text() -> impl Strategy<Value = String> {
    let rest = prop::collection::btree_map("[a-h]{1,3}", value(), 0..4);
    (
        prop::collection::vec(object(), 0..12),
        rest,
        0..5_usize,
        any::<bool>(),
    )
        .prop_map(|(items, rest, place, pretty)| {
            let mut members: Vec<(String, Value)> = rest.into_iter().collect();
            members.insert(place.min(members.len()), ("items".to_owned(), json!(items)));
            let members: Vec<String> = members
                .into_iter()
                .map(|(key, value)| {
                    let value = if pretty {
                        format!("{value:#}")
                    } else {
                        value.to_string()
                    };
                    format!("{}:{value}", Value::from(key))
                })
                .collect();
            format!("{{{}}}", members.join(if pretty { ",\n" } else { "," }))
        })
}

/// Cuts `text` at `cuts`, each a position modulo its length.
fn cut<'a>(text: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(text.len());
    let mut start = 0;
    cuts.into_iter()
        .map(|end| &text[std::mem::replace(&mut start, end)..end])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_items_are_those_serde_json_finds(text in list_text(), cuts in prop::collection::vec(any::<usize>(), 0..9)) {
        let (seen, end) = read_in_pieces(cut(text.as_bytes(), &cuts), JsonLimits::default());
        prop_assert_eq!(end, Ok(()));
        let Value::Array(items) = serde_json::from_str::<Value>(&text).expect("a list")["items"].take() else { panic!("no items in {text}") };
        let (last, found) = seen.split_last().expect("a list");
        prop_assert!(matches!(last, Seen::List(list) if list.items == items.len() as u64));
        let found: Vec<Value> = found.iter().map(|seen| match seen {
            Seen::Item { json, .. } => serde_json::from_str(json).expect("an item is JSON"),
            other => panic!("{other:?} in {text}"),
        }).collect();
        prop_assert_eq!(found, items);
    }

    #[test]
    fn a_truncated_list_is_an_error(text in list_text(), end in any::<prop::sample::Index>(), cuts in prop::collection::vec(any::<usize>(), 0..5)) {
        let end = end.index(text.len());
        prop_assume!(end > 0);
        let (_, result) = read_in_pieces(cut(&text.as_bytes()[..end], &cuts), JsonLimits::default());
        prop_assert!(result.is_err());
    }

    #[test]
    fn anything_at_all_is_an_error_or_objects(bytes in prop::collection::vec(any::<u8>(), 0..200), cuts in prop::collection::vec(any::<usize>(), 0..5)) {
        let _ = read_in_pieces(cut(&bytes, &cuts), JsonLimits { item_bytes: 50, depth: 3 });
    }

    #[test]
    fn anything_that_looks_like_json_is_the_same_however_it_is_cut(text in r#"([{}\[\]:,"\\ \na1]|"items":|"a"|"kind":"List"){0,60}"#, cuts in prop::collection::vec(any::<usize>(), 0..5)) {
        let limits = JsonLimits { item_bytes: 20, depth: 3 };
        let whole = read_in_pieces([text.as_bytes()], limits);
        let pieces = read_in_pieces(cut(text.as_bytes(), &cuts), limits);
        prop_assert_eq!(whole, pieces);
    }
}
