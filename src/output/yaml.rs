//! YAML, with the crate that writes it named in this file only.
//!
//! `kubectl` and much else read YAML 1.1, where `yes`, `1_000` and `2026-01-01` are no text. serde-saphyr quotes what
//! either version would take for something else (`yaml_serde` and its relatives write these plain), and kube has it in the
//! dependencies already.

use std::io;

use serde::Serialize;
use serde_transcode::Transcoder;

use super::json;

/// Writes `value` to `out` as one document.
///
/// Each type that is serialized in a format of its own makes the program larger, so the way leads over JSON.
pub(super) fn to_writer<T: Serialize>(out: &mut dyn io::Write, value: &T) -> io::Result<()> {
    let mut document = Vec::new();
    json::to_writer(&mut document, value)?;
    let mut reader = serde_json::Deserializer::from_slice(&document);
    let value = Transcoder::new(&mut reader);
    let options = serde_saphyr::ser_options! {
        // No line is folded, however long: what was one line in the cluster is one for `grep`.
        folded_wrap_chars: usize::MAX,
    };
    // The crate's errors hide the inner I/O error, which identifies a closed pipe, so the text is built first.
    let mut text = String::new();
    serde_saphyr::to_fmt_writer_with_options(&mut text, &value, options).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn yaml<T: Serialize>(value: &T) -> String {
        let mut out = Vec::new();
        to_writer(&mut out, value).expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn text_that_looks_like_something_else_is_quoted() {
        for word in [
            "yes",
            "on",
            "n",
            "Off",
            "null",
            "~",
            "true",
            "0x1F",
            "0o17",
            "017",
            "1e3",
            "1_000",
            "1.10",
            "1:30",
            "2026-01-01",
            ".inf",
            "",
            " a",
            "a: b",
            "#",
            "=",
            "<<",
            "-",
            "*x",
            "&x",
            "!x",
            "{}",
            "@x",
            "%x",
            "a #b",
        ] {
            let line = yaml(&[word].as_slice());
            let quoted = line.trim_end().strip_prefix("- ").expect("an item");
            assert!(
                quoted.starts_with(['"', '\'']) && quoted.ends_with(['"', '\'']),
                "{word:?}: {line}"
            );
        }
    }

    #[test]
    fn documents_look_like_kubectls() {
        let long = "word ".repeat(60);
        let value =
            serde_json::json!({"a": [{"b": 1, "c": []}, {"d": {}}], "e": long.trim(), "f": {"g": true}});
        let expected = format!(
            "a:\n- b: 1\n  c: []\n- d: {{}}\ne: {}\nf:\n  g: true\n",
            long.trim()
        );
        assert_eq!(yaml(&value), expected);
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let text = || {
            prop_oneof![
                "[ -~]{0,12}",
                "[a-z0-9:.#-]{0,8}",
                "(a|\n| |\t){0,5}",
                any::<String>()
            ]
        };
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            text().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map(text(), inner, 0..4)
                    .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(value in json()) {
            let text = yaml(&value);
            prop_assert_eq!(serde_saphyr::from_str::<serde_json::Value>(&text).expect(&text), value);
        }
    }
}
