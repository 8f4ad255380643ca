//! Nothing is public for nothing.
//!
//! The compiler reports what a crate does not use, but not what a library offers. Ours have few users: each other, the
//! binary, the benchmarks, the tests in `tests` and the fuzzer. A name that occurs once is not used at all. The search goes by names alone, so of
//! two items with one name it finds neither.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::rust_crate::{Crate, File, rust_files};
use crate::support::rust_source::{find_word, is_public, uses, without_comments_and_texts, words};

/// Items that can be public and have a name.
const ITEMS: [&str; 8] = [
    "fn", "struct", "enum", "const", "static", "type", "trait", "union",
];

/// Items used only by tests, with the reason. The table only shrinks.
const FOR_TESTS: &[(&str, &str)] = &[
    ("spent", "that a computation takes its steps from the meter"),
    (
        "with_looks",
        "that nodes are left out where there is too much to look at",
    ),
];

#[test]
fn everything_public_is_used() {
    let outside = ["benches", "tests/allocator", "tests/cel_case", "tests/fuzz"]
        .iter()
        .flat_map(|folder| rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)))
        .map(|path| std::fs::read_to_string(&path).expect("a source file"));
    let outside: Vec<String> = outside.collect();
    let (kept, found): (Vec<_>, Vec<_>) = unused(
        &Crate::all_files()
            .filter(|file| !file.name.starts_with("crates/dra-testing/"))
            .collect::<Vec<_>>(),
        &outside,
    )
    .into_iter()
    .partition(|item| {
        FOR_TESTS
            .iter()
            .any(|(name, _)| item.ends_with(&format!(" {name}")))
    });
    assert_eq!(
        kept.len(),
        FOR_TESTS.len(),
        "something else uses what `FOR_TESTS` names; take it out"
    );
    assert!(
        found.is_empty(),
        "nothing but tests uses these; delete them, make them private, or put `#[cfg(test)]` in front:\n{}",
        found.join("\n")
    );
}

#[test]
fn what_is_public_for_nothing_is_found() {
    let krate = Crate::new(
        "src",
        [
            (
                "a.rs",
                "pub struct Used; pub struct Lonely; impl Lonely { pub(crate) const fn f(&self) {} pub fn g() {} }\n\
                 impl<T> Display for Lonely {}\npub const TEXT: u8 = 1;\nfn private() {}",
            ),
            ("b.rs", "pub use crate::a::{Lonely, Used as U};\nfn x() { U; Used; a::g() } // TEXT\n"),
            ("c.rs", "pub trait Named {} impl Named for U {} #[cfg(test)] mod tests { fn t() { f() } }"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec(),
    );
    assert_eq!(
        unused(
            &krate.files.iter().collect::<Vec<_>>(),
            &["fn main() { TEXT }".to_owned()]
        ),
        ["src/a.rs:1: struct Lonely", "src/a.rs:1: fn f"]
    );
}

/// Public items whose names occur nowhere but where they are defined, imported and given methods.
fn unused(files: &[&File], outside: &[String]) -> Vec<String> {
    let inside: Vec<String> = files
        .iter()
        .map(|file| without_mere_mentions(&file.code))
        .collect();
    let outside: Vec<String> = outside
        .iter()
        .map(|text| without_mere_mentions(&without_comments_and_texts(text)))
        .collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, word) in inside.iter().chain(&outside).flat_map(|code| words(code)) {
        *seen.entry(word).or_default() += 1;
    }
    // Texts can name a constant to be put into them.
    let is_in_a_text = |keyword: &str, name: &str| {
        let put = [format!("{{{name}}}"), format!("{{{name}:")];
        keyword == "const"
            && put
                .iter()
                .any(|put| files.iter().any(|file| file.text.contains(put)))
    };
    let mut found = Vec::new();
    for (file, code) in files.iter().zip(&inside) {
        for (at, keyword, name) in public_items(code) {
            if seen.get(name) == Some(&1) && !is_in_a_text(keyword, name) {
                let line = code[..at].matches('\n').count() + 1;
                found.push(format!("{}:{line}: {keyword} {name}", file.name));
            }
        }
    }
    found
}

/// `code` without imports, and without the names of the types that get methods or traits.
fn without_mere_mentions(code: &str) -> String {
    let (_, mut code) = uses(code);
    let mut at = 0;
    while let Some(start) = find_word(&code, at, "impl") {
        at = start + "impl".len();
        let begins_item = code[..start].trim_end().ends_with([';', '}', '{', ']'])
            || code[..start].trim().is_empty()
            || code[..start].trim_end().ends_with("unsafe");
        let end = code[at..].find('{').map_or(code.len(), |end| at + end);
        let header = &code[at..end];
        if !begins_item {
            continue;
        }
        // A trait that something implements is in use.
        let named = header.rfind(" for ").map_or(0, |named| named + " for ".len());
        let generics = if named == 0 {
            generics_length(header)
        } else {
            named
        };
        let name = at + generics + header[generics..].len() - header[generics..].trim_start().len();
        let length = code[name..end]
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(end - name);
        code.replace_range(name..name + length, &" ".repeat(length));
    }
    code
}

/// Returns how long the parameters of an `impl` are that `header` begins with.
fn generics_length(header: &str) -> usize {
    if !header.starts_with('<') {
        return 0;
    }
    let mut depth = 0_usize;
    for (at, c) in header.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !header[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    header.len()
}

fn public_items(code: &str) -> Vec<(usize, &'static str, &str)> {
    let mut found = Vec::new();
    for keyword in ITEMS {
        let mut at = 0;
        while let Some(start) = find_word(code, at, keyword) {
            at = start + keyword.len();
            let Some((_, name)) = words(&code[at..]).next() else {
                continue;
            };
            // `pub const fn` is a function.
            let before = code[..start].trim_end();
            let before = ["const", "async", "unsafe"].iter().fold(before, |before, word| {
                before.strip_suffix(word).unwrap_or(before).trim_end()
            });
            if is_public(before) && name != "fn" {
                found.push((start, keyword, name));
            }
        }
    }
    found.sort_unstable();
    found
}
