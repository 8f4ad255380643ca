//! As much of Rust's syntax as it takes to see which paths a source file names.
//!
//! Comments, texts and test code are blanked in place, so that offsets and lines stay those of the file. What macros make
//! of their arguments is not known here; the paths in them are seen like any others.

/// A path in code, with the braces of a `use` spelled out.
pub(crate) struct CodePath {
    pub(crate) at: usize,
    pub(crate) text: String,
}

/// All paths in `code`: `a::b::c`, and for `a::{b, c::d}` both `a::b` and `a::c::d`.
pub(crate) fn paths(code: &str) -> Vec<CodePath> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = code[rest..].find(is_word).map(|at| rest + at) {
        let continues = code[..start].trim_end().ends_with("::") || code[..start].ends_with(['.', '\'']);
        let end = path_at(code, start, "", &mut found);
        if continues {
            // The end of a path that began with something else, as in `<T as X>::f` or `x.f`.
            found.retain(|path| path.at < start);
        }
        rest = end;
    }
    found
}

/// Reads one path from `start` on and returns where it ends.
fn path_at(code: &str, start: usize, prefix: &str, found: &mut Vec<CodePath>) -> usize {
    let mut text = prefix.to_owned();
    let mut at = start;
    loop {
        let end = code[at..]
            .find(|c| !is_word(c))
            .map_or(code.len(), |end| at + end);
        text.push_str(&code[at..end]);
        let after = code[end..].trim_start();
        let Some(behind) = after.strip_prefix("::") else {
            found.push(CodePath { at: start, text });
            return end;
        };
        let next = behind.trim_start();
        let next_at = code.len() - next.len();
        if next.starts_with('{') {
            return group_at(code, next_at + 1, &format!("{text}::"), found);
        }
        if !next.starts_with(is_word) {
            found.push(CodePath { at: start, text });
            return code.len() - behind.len();
        }
        text.push_str("::");
        at = next_at;
    }
}

/// Reads the paths of a braced group, whose inside begins at `start`, and returns where it ends.
fn group_at(code: &str, start: usize, prefix: &str, found: &mut Vec<CodePath>) -> usize {
    let mut at = start;
    while let Some(next) = code[at..].find(|c| is_word(c) || c == '}').map(|next| at + next) {
        if code[next..].starts_with('}') {
            return next + 1;
        }
        at = path_at(code, next, prefix, found);
    }
    code.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `text` with comments and the insides of texts blanked, and every line where it was. What serde reads as a path in the text of an
/// attribute stays, without its quotes.
pub(crate) fn without_comments_and_texts(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment_length(rest)
        } else if c == '"' {
            quoted_length(rest)
        } else if c == 'r' && !code.ends_with(is_word) && raw_text_length(rest).is_some() {
            raw_text_length(rest).unwrap_or_default()
        } else if c == '\'' {
            character_length(rest)
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        let (blanked, after) = rest.split_at(length);
        if c == '"' && is_path_of_serde(&code, blanked) {
            code.push_str(&blanked.replace('"', " "));
            rest = after;
            continue;
        }
        code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    code
}

/// Returns whether `quoted`, which follows `before`, names a function or a type in an attribute: `with = "a::b"`.
fn is_path_of_serde(before: &str, quoted: &str) -> bool {
    const KEYS: [&str; 10] = [
        "with",
        "deserialize_with",
        "serialize_with",
        "skip_serializing_if",
        "default",
        "from",
        "try_from",
        "into",
        "remote",
        "getter",
    ];
    let is_path = |c: char| is_word(c) || "\":<>, ".contains(c);
    before.trim_end().strip_suffix('=').is_some_and(|key| {
        let key = key.trim_end();
        let start = key.rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
        KEYS.contains(&&key[start..]) && before.trim_end().contains("#[") && quoted.chars().all(is_path)
    })
}

fn comment_length(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw_text_length(text: &str) -> Option<usize> {
    let hashes = text[1..].chars().take_while(|c| *c == '#').count();
    let inside = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(
        inside
            .find(&end)
            .map_or(text.len(), |at| 2 + hashes + at + end.len()),
    )
}

/// The length of a character literal, or of the quote of a lifetime.
fn character_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            let escaped = chars.next().map_or(text.len(), |(at, c)| at + c.len_utf8());
            text[escaped..]
                .find('\'')
                .map_or(text.len(), |end| escaped + end + 1)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

/// `code` with everything blanked that is behind `#[cfg(test)]` or `#[cfg(all(test, …))]`: an item, a field or an arm.
pub(crate) fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = test_mark(rest) {
        kept.push_str(&rest[..at]);
        let end = at + marked_length(&rest[at..]);
        kept.extend(rest[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}

/// The modules of other files that `code` declares behind `#[cfg(test)]`.
pub(crate) fn test_modules(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = test_mark(rest) {
        let end = at + marked_length(&rest[at..]);
        let item = &rest[at..end];
        if let Some(declared) = item.strip_suffix(';')
            && let Some(name) = find_word(declared, 0, "mod").map(|at| declared[at + 3..].trim())
            && name.chars().all(is_word)
        {
            found.push(name.to_owned());
        }
        rest = &rest[end..];
    }
    found
}

fn test_mark(code: &str) -> Option<usize> {
    let marks = ["#[cfg(test)]", "#[cfg(all(test,"];
    marks.iter().filter_map(|mark| code.find(mark)).min()
}

/// Returns how long what begins with an attribute is: an item until its brace closes or its `;`, anything else until its `,`.
fn marked_length(marked: &str) -> usize {
    let mut start = 0;
    while marked[start..].starts_with("#[") {
        let end = matching(marked, start + 1);
        start = end + spaces(&marked[end..]);
    }
    let is_item = ITEMS
        .iter()
        .any(|keyword| find_word(&first_words(&marked[start..]), 0, keyword).is_some());
    let mut depth = 0_usize;
    for (at, c) in marked[start..].char_indices() {
        let end = start + at + c.len_utf8();
        match c {
            '{' | '(' | '[' => depth += 1,
            // The end of what the field is in.
            '}' | ')' | ']' if depth == 0 => return start + at,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        let ends = match c {
            ';' => true,
            '}' => is_item,
            ',' => !is_item,
            _ => false,
        };
        if ends && depth == 0 {
            return end;
        }
    }
    marked.len()
}

/// The words that begin an item, behind its visibility.
const ITEMS: [&str; 14] = [
    "fn",
    "mod",
    "use",
    "impl",
    "struct",
    "enum",
    "const",
    "static",
    "type",
    "trait",
    "unsafe",
    "async",
    "extern",
    "macro_rules",
];

/// Returns what `code` begins with, up to the first sign that no visibility and no keyword has.
fn first_words(code: &str) -> String {
    let end = code.find(|c: char| !(is_word(c) || c.is_whitespace() || "():".contains(c)));
    let words = &code[..end.unwrap_or(code.len())];
    // Of a field only the name is left, and of a method not its arguments.
    let words = words.split(": ").next().unwrap_or_default();
    words.to_owned()
}

/// Returns where the bracket closes that is open at `start`.
fn matching(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code[start..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return start + at + c.len_utf8();
        }
    }
    code.len()
}

fn spaces(code: &str) -> usize {
    code.len() - code.trim_start().len()
}

/// Returns where `word` stands in `code` as a word of its own, from `start` on.
pub(crate) fn find_word(code: &str, start: usize, word: &str) -> Option<usize> {
    code[start..]
        .match_indices(word)
        .map(|(at, _)| start + at)
        .find(|at| !code[..*at].ends_with(is_word) && !code[at + word.len()..].starts_with(is_word))
}

/// All words of `code`, with the places where they begin.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + code[rest..].find(is_word)?;
        let end = code[start..]
            .find(|c| !is_word(c))
            .map_or(code.len(), |end| start + end);
        rest = end;
        Some((start, &code[start..end]))
    })
}

/// Imported names of a `use`.
#[derive(Debug, PartialEq)]
pub(crate) struct Use {
    pub(crate) at: usize,
    /// As it is written, with its braces spelled out; `self` at the end of a group is left off.
    pub(crate) path: String,
    /// The name that stands for it from then on; `*` for all names in it, `_` for none.
    pub(crate) name: String,
}

/// All imports in `code`, and the code with them blanked.
pub(crate) fn uses(code: &str) -> (Vec<Use>, String) {
    let mut found = Vec::new();
    let mut rest = String::with_capacity(code.len());
    let mut at = 0;
    while let Some(start) = find_word(code, at, "use") {
        let after = start + "use".len();
        rest.push_str(&code[at..start]);
        // `impl Trait + use<'a>` imports nothing.
        let end = if code[after..].trim_start().starts_with('<') {
            after
        } else {
            use_tree(code, after, "", &mut found);
            code[after..].find(';').map_or(code.len(), |end| after + end)
        };
        rest.extend(
            code[start..end]
                .chars()
                .map(|c| if c == '\n' { '\n' } else { ' ' }),
        );
        at = end;
    }
    rest.push_str(&code[at..]);
    (found, rest)
}

/// Reads one branch of a `use` and returns where it ends.
fn use_tree(code: &str, start: usize, prefix: &str, found: &mut Vec<Use>) -> usize {
    let start = start + spaces(&code[start..]);
    let mut path = prefix.to_owned();
    let mut at = start;
    loop {
        at += spaces(&code[at..]);
        let rest = &code[at..];
        let Some(next) = rest.chars().next() else {
            return at;
        };
        if next == '{' {
            at += 1;
            loop {
                at += spaces(&code[at..]);
                match code[at..].chars().next() {
                    None => return at,
                    Some('}') => return at + 1,
                    Some(',') => at += 1,
                    Some(_) => at = use_tree(code, at, &path, found),
                }
            }
        } else if next == '*' {
            let path = path.trim_end_matches("::").to_owned();
            let name = "*".to_owned();
            found.push(Use {
                at: start,
                path,
                name,
            });
            return at + 1;
        } else if let Some(root) = rest.strip_prefix("::") {
            at = code.len() - root.len();
        } else if is_word(next) {
            let end = rest.find(|c| !is_word(c)).map_or(code.len(), |end| at + end);
            let after = code[end..].trim_start();
            if let Some(behind) = after.strip_prefix("::") {
                path.push_str(&code[at..end]);
                path.push_str("::");
                at = code.len() - behind.len();
                continue;
            }
            let path = match &code[at..end] {
                "self" if !path.is_empty() => path.trim_end_matches("::").to_owned(),
                word => path + word,
            };
            let (name, end) = match after.strip_prefix("as").filter(|name| !name.starts_with(is_word)) {
                Some(renamed) => {
                    let renamed = renamed.trim_start();
                    let length = renamed.find(|c| !is_word(c)).unwrap_or(renamed.len());
                    (&renamed[..length], code.len() - renamed.len() + length)
                }
                None => (path.rsplit("::").next().unwrap_or_default(), end),
            };
            let name = name.to_owned();
            found.push(Use {
                at: start,
                path,
                name,
            });
            return end;
        } else {
            return at + next.len_utf8();
        }
    }
}

/// The modules that are written inside the file: from where to where, and their names.
pub(crate) fn inline_modules(code: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = find_word(code, at, "mod") {
        at = start + "mod".len();
        let name = code[at..].trim_start();
        let length = name.find(|c| !is_word(c)).unwrap_or(name.len());
        let body = name[length..].trim_start();
        if body.starts_with('{') {
            let open = code.len() - body.len();
            found.push((open..matching(code, open), name[..length].to_owned()));
        }
    }
    found
}

/// The types that other modules can call by another name: `pub type NAME = …`, and the paths that they stand for.
pub(crate) fn public_aliases(code: &str) -> Vec<(usize, String, Vec<String>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = find_word(code, at, "type") {
        at = start + "type".len();
        if !is_public(&code[..start]) {
            continue;
        }
        let name = code[at..].trim_start();
        let length = name.find(|c| !is_word(c)).unwrap_or(name.len());
        let end = code[at..].find(';').map_or(code.len(), |end| at + end);
        let Some((_, meaning)) = code[at..end].split_once('=') else {
            continue;
        };
        let stands_for = paths(meaning).into_iter().map(|path| path.text).collect();
        found.push((start, name[..length].to_owned(), stands_for));
    }
    found
}

/// Returns whether code that ends like `before` goes on with something that other modules see.
pub(crate) fn is_public(before: &str) -> bool {
    let before = before.trim_end();
    if let Some(restricted) = before.strip_suffix(')') {
        return restricted
            .rfind('(')
            .is_some_and(|open| restricted[..open].ends_with("pub"));
    }
    before.ends_with("pub")
}

mod tests {
    use super::*;

    #[test]
    fn imports_are_spelled_out() {
        for (code, expected) in [
            ("use a;", &[("a", "a")][..]),
            ("use a::b as c;", &[("a::b", "c")]),
            ("pub(crate) use ::a::b;", &[("a::b", "b")]),
            ("use crate as c;", &[("crate", "c")]),
            ("use a::*;", &[("a", "*")]),
            (
                "use a::{self, b::{c, d as e}, f::{self as g, *}};",
                &[
                    ("a", "a"),
                    ("a::b::c", "c"),
                    ("a::b::d", "e"),
                    ("a::f", "g"),
                    ("a::f", "*"),
                ],
            ),
            ("fn f() -> impl Sized + use<'a> {}", &[]),
            ("reuse(a);", &[]),
        ] {
            let (found, rest) = uses(code);
            let found: Vec<_> = found
                .iter()
                .map(|found| (&found.path[..], &found.name[..]))
                .collect();
            assert_eq!(found, expected, "{code}");
            assert_eq!(rest.len(), code.len(), "{code}");
        }
    }

    #[test]
    fn only_what_is_for_tests_is_blanked() {
        for (code, expected) in [
            ("a #[cfg(test)] mod tests { x } b", "a b"),
            ("a #[cfg(all(test, unix))] mod tests; b", "a b"),
            ("struct A { #[cfg(test)] a: X, b: Y }", "struct A { b: Y }"),
            ("struct A { b: Y, #[cfg(test)] a: X } c", "struct A { b: Y, } c"),
            (
                "#[cfg(test)] #[rustfmt::skip] pub(crate) fn a() -> B { x } c",
                "c",
            ),
            ("#[cfg(test)] use a::{b, c}; d", "; d"),
            (
                "#[cfg(any(test, fuzzing))] fn f() {}",
                "#[cfg(any(test, fuzzing))] fn f() {}",
            ),
        ] {
            let kept = without_tests(code);
            let kept: Vec<_> = kept.split_whitespace().collect();
            assert_eq!(kept.join(" "), expected, "{code}");
        }
        let declared = test_modules("#[cfg(test)]\nmod a;\nmod b;\n#[cfg(test)]\nmod c { x }");
        assert_eq!(declared, ["a"]);
    }
}
