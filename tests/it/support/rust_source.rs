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

/// `text` with comments and the insides of texts blanked, and every line where it was.
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
        code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    code
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

/// `code` with the items blanked that stand behind `#[cfg(test)]`.
pub(crate) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        let mut depth = 0;
        let item_end = rest[at..].char_indices().find_map(|(end, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0 && matches!(c, '}' | ';')).then_some(at + end + 1)
        });
        let end = item_end.unwrap_or(rest.len());
        kept.extend(rest[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}
