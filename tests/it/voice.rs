//! Everything that people read is in the voice of kubectl, rustc and cargo: messages, help, documentation, doc comments, names of tests.
//!
//! The patterns are those of a translated text. Each has a better word, which stands beside it. The words that the glossary rejects are
//! found, too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::rust_source::{without_comments_and_texts, without_tests};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Patterns, and what to write instead. Words of a pattern are separated by spaces, alternatives by `|`.
const BANNED: &[(&str, &str)] = &[
    ("whoever", "the owner of …, any client"),
    ("somebody", "a user, another client"),
    ("nobody", "no pod, no client"),
    ("is|are|was|were|be told", "is reported"),
    ("tells|tell|told of", "reports"),
    ("says|say nothing", "does not contain, is unknown"),
    ("hangs|hang on", "depends on"),
    ("decides|decide about", "determines, affects"),
    ("for ever", "forever, never"),
    ("by itself|themselves", "automatically, separately"),
    ("as it|they stands|stand", "unchanged"),
    ("at once", "immediately, together"),
    ("of|for|with|by whom", "whose; two sentences"),
    (
        "of|for|with|by|without|from which",
        "without …, whose; two sentences",
    ),
    ("mend|mends|mended", "fix"),
    ("goes|go|going|gone|went on", "continue"),
    ("let|lets be", "ignore"),
    ("let|lets it|them be", "ignore"),
    ("taken for", "treated as"),
    ("nothing has", "not found"),
    ("may be missing", "not checked: …"),
    ("no meaning", "does not support"),
    ("can be had", "is available"),
    ("has|have it lifted", "ask the driver's owner to remove it"),
];

/// Where a pattern is right, by file and text.
const RIGHT: &[(&str, &str)] = &[
    ("docs/reference/glossary.md", ""),
    ("", "with which devices"),
    ("", "of which are"),
    ("", "of which is sufficient"),
    ("", "of which must finish"),
    ("", "nothing has changed"),
    ("", "the only place that knows for which"),
];

#[test]
fn no_text_uses_a_banned_pattern_or_a_word_that_the_glossary_rejects() {
    let rejected = rejected_words();
    let mut found = String::new();
    for path in files() {
        let name = name_of(&path);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let words = if path.extension().is_some_and(|ending| ending == "rs") {
            // Texts of tests are compared with output, or describe what must exist.
            let is_test =
                name.starts_with("tests/") || name.contains("/tests/") || name.ends_with("tests.rs");
            let mut words = if is_test { Vec::new() } else { words(&prose(&text)) };
            words.extend(test_names(&text));
            words
        } else {
            words(&text)
        };
        for (pattern, better) in BANNED.iter().copied().chain(
            rejected
                .iter()
                .map(|word| (word.as_str(), "see docs/reference/glossary.md")),
        ) {
            for place in matches(&words, pattern) {
                let around = words[place.saturating_sub(6)..(place + 8).min(words.len())].join(" ");
                if !RIGHT
                    .iter()
                    .any(|(file, part)| name.starts_with(file) && around.contains(part))
                {
                    let _ = writeln!(found, "{name}: \"{pattern}\" in: {around} (write: {better})");
                }
            }
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn patterns_are_found_in_texts_comments_and_test_names() {
    let code = "/// Asked by whoever\n/// reads it, `somebody`.\nfn f() { g(\"it goes on\\\n     for ever\", nobody) }\n\
                #[cfg(test)]\nmod tests {\n    #[test]\n    fn each_is_told() { g(\"whoever\") }\n}\n";
    let mut words = words(&prose(code));
    assert_eq!(matches(&words, "whoever").len(), 1);
    assert_eq!(matches(&words, "somebody").len(), 0);
    assert_eq!(matches(&words, "nobody").len(), 0);
    assert_eq!(matches(&words, "for ever").len(), 1);
    assert_eq!(matches(&words, "goes|go on").len(), 1);
    words.extend(test_names(code));
    assert_eq!(matches(&words, "is|are told").len(), 1);
}

/// Source and documentation.
fn files() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["src", "crates", "docs", "tests", "deploy", "completions"]
        .map(|name| Path::new(ROOT).join(name))
        .into();
    let mut files: Vec<PathBuf> = [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "Makefile",
        "Cargo.toml",
    ]
    .map(|name| Path::new(ROOT).join(name))
    .into();
    while let Some(folder) = folders.pop() {
        let name = name_of(&folder);
        if ["tests/data", "tests/go", "tests/fuzz"].contains(&name.as_str()) {
            continue;
        }
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{name}: {error}")) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if is_read(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Code and documentation, and everything that is installed as it is.
fn is_read(path: &Path) -> bool {
    let name = name_of(path);
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    name.starts_with("deploy/")
        || name.starts_with("completions/")
        || ["rs", "md", "sh", "yaml"].contains(&ending)
}

fn name_of(path: &Path) -> String {
    let name = path.strip_prefix(ROOT).unwrap_or(path).display().to_string();
    name.replace('\\', "/")
}

/// Words in the third column of the glossary.
fn rejected_words() -> BTreeSet<String> {
    let page =
        std::fs::read_to_string(Path::new(ROOT).join("docs/reference/glossary.md")).expect("the glossary");
    let cells = page.lines().filter_map(|row| row.split('|').nth(3));
    let words = cells.skip(2).flat_map(|cell| cell.split(','));
    words
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Comments and texts of Rust code, without those of its tests, and a period for the code between them.
fn prose(text: &str) -> String {
    const MARK: char = '\u{1}';
    let code = without_comments_and_texts(text);
    let marked: String = code
        .chars()
        .zip(text.chars())
        .map(|(code, text)| if code == ' ' && text != ' ' { MARK } else { code })
        .collect();
    let kept = without_tests(&marked);
    let mut prose = String::new();
    for (kept, text) in kept.chars().zip(text.chars()) {
        match kept {
            MARK if text == '/' => prose.push(' '),
            MARK => prose.push(text),
            code if code.is_whitespace() => prose.push(code),
            _ => prose.push('.'),
        }
    }
    prose.replace("\\\n", "")
}

/// Names of the tests in Rust code, each with a period behind it.
fn test_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
        } else if let Some(rest) = line.trim_start_matches("async ").strip_prefix("fn ")
            && std::mem::take(&mut is_test)
        {
            let name = rest.split('(').next().unwrap_or_default();
            names.extend(name.split('_').map(str::to_owned));
            names.push(".".to_owned());
        }
    }
    names
}

/// Words in lower case, with a period for each end of a clause. What stands in backticks is code.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 1 && !part.contains("\n\n") {
            words.push("`".to_owned());
            continue;
        }
        let mut word = String::new();
        for letter in part.chars().chain([' ']) {
            if letter.is_alphanumeric() || letter == '\'' || letter == '_' {
                word.extend(letter.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if !letter.is_whitespace() && words.last().is_none_or(|last| last != ".") {
                words.push(".".to_owned());
            }
        }
    }
    words
}

/// Places in `words` at which the pattern begins.
fn matches(words: &[String], pattern: &str) -> Vec<usize> {
    let parts: Vec<Vec<&str>> = pattern.split(' ').map(|part| part.split('|').collect()).collect();
    let fits = |window: &[String]| {
        window
            .iter()
            .zip(&parts)
            .all(|(word, part)| part.contains(&word.as_str()))
    };
    let windows = words.windows(parts.len()).enumerate();
    windows
        .filter(|(_, window)| fits(window))
        .map(|(place, _)| place)
        .collect()
}
