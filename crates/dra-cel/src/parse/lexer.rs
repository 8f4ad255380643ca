//! Tokens of a CEL text. Mirrors the lexer rules of `CEL.g4` (cel-go v0.29) under ANTLR's longest match.

use std::ops::Range;

/// Kinds of tokens, in the order of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dot,
    Comma,
    Minus,
    Exclamation,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
    End,
}

/// A token and where it is, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) range: Range<usize>,
}

/// The tokens of a text, and the places that are none.
#[derive(Debug)]
pub(crate) struct Lexed {
    /// Always ends with [`Token::End`].
    pub(crate) lexemes: Vec<Lexeme>,
    /// Texts that no token begins with.
    pub(crate) errors: Vec<Range<usize>>,
}

/// Match of a rule at a place in the text.
enum Match {
    /// A token up to this place.
    Token(Token, usize),
    /// White space or a comment up to this place.
    Hidden(usize),
    /// No rule matches; the character here is the first that no rule can take.
    Error(usize),
}

/// Splits `source` into tokens. A text that is no token is skipped with the character that ruled the last rule out.
pub(crate) fn lex(source: &str) -> Lexed {
    let bytes = source.as_bytes();
    let mut lexed = Lexed {
        lexemes: Vec::new(),
        errors: Vec::new(),
    };
    let mut position = 0;
    while position < bytes.len() {
        match next(bytes, position) {
            Match::Token(token, end) => {
                lexed.lexemes.push(Lexeme {
                    token,
                    range: position..end,
                });
                position = end;
            }
            Match::Hidden(end) => position = end,
            Match::Error(at) => {
                let end = at + source[at..].chars().next().map_or(0, char::len_utf8);
                lexed.errors.push(position..end);
                position = end;
            }
        }
    }
    lexed.lexemes.push(Lexeme {
        token: Token::End,
        range: position..position,
    });
    lexed
}

fn skip(bytes: &[u8], from: usize, accept: impl Fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take_while(|byte| accept(**byte)).count()
}

fn next(bytes: &[u8], start: usize) -> Match {
    let one = |token| Match::Token(token, start + 1);
    let two = |token| Match::Token(token, start + 2);
    let following = bytes.get(start + 1).copied();
    match bytes[start] {
        b'\t' | b' ' | b'\r' | b'\n' | 0x0c => Match::Hidden(skip(bytes, start, |byte| {
            matches!(byte, b'\t' | b' ' | b'\r' | b'\n' | 0x0c)
        })),
        b'=' if following == Some(b'=') => two(Token::Equals),
        b'!' if following == Some(b'=') => two(Token::NotEquals),
        b'<' if following == Some(b'=') => two(Token::LessEquals),
        b'>' if following == Some(b'=') => two(Token::GreaterEquals),
        b'&' if following == Some(b'&') => two(Token::And),
        b'|' if following == Some(b'|') => two(Token::Or),
        b'/' if following == Some(b'/') => Match::Hidden(skip(bytes, start, |byte| byte != b'\n')),
        b'=' | b'&' | b'|' => Match::Error(start + 1),
        b'<' => one(Token::Less),
        b'>' => one(Token::Greater),
        b'[' => one(Token::LeftBracket),
        b']' => one(Token::RightBracket),
        b'{' => one(Token::LeftBrace),
        b'}' => one(Token::RightBrace),
        b'(' => one(Token::LeftParen),
        b')' => one(Token::RightParen),
        b'.' if following.is_some_and(|byte| byte.is_ascii_digit()) => {
            let digits = skip(bytes, start + 1, |byte| byte.is_ascii_digit());
            Match::Token(Token::Float, exponent(bytes, digits).unwrap_or(digits))
        }
        b'.' => one(Token::Dot),
        b',' => one(Token::Comma),
        b'-' => one(Token::Minus),
        b'!' => one(Token::Exclamation),
        b'?' => one(Token::Question),
        b':' => one(Token::Colon),
        b'+' => one(Token::Plus),
        b'*' => one(Token::Star),
        b'/' => one(Token::Slash),
        b'%' => one(Token::Percent),
        b'"' | b'\'' => match string(bytes, start, false) {
            Ok(end) => Match::Token(Token::String, end),
            Err(at) => Match::Error(at),
        },
        b'`' => {
            let end = skip(bytes, start + 1, |byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'/' | b' ')
            });
            if end > start + 1 && bytes.get(end) == Some(&b'`') {
                Match::Token(Token::EscapedIdentifier, end + 1)
            } else {
                Match::Error(end)
            }
        }
        b'0'..=b'9' => number(bytes, start),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => word(bytes, start),
        _ => Match::Error(start),
    }
}

/// The end of an exponent that begins at `start`.
fn exponent(bytes: &[u8], start: usize) -> Option<usize> {
    if !matches!(bytes.get(start), Some(b'e' | b'E')) {
        return None;
    }
    let digits = start + 1 + usize::from(matches!(bytes.get(start + 1), Some(b'+' | b'-')));
    let end = skip(bytes, digits, |byte| byte.is_ascii_digit());
    (end > digits).then_some(end)
}

fn number(bytes: &[u8], start: usize) -> Match {
    let unsigned = |end: usize| match bytes.get(end) {
        Some(b'u' | b'U') => Match::Token(Token::Uint, end + 1),
        _ => Match::Token(Token::Int, end),
    };
    if bytes[start] == b'0' && bytes.get(start + 1) == Some(&b'x') {
        let end = skip(bytes, start + 2, |byte| byte.is_ascii_hexdigit());
        if end > start + 2 {
            return unsigned(end);
        }
    }
    let whole = skip(bytes, start, |byte| byte.is_ascii_digit());
    if bytes.get(whole) == Some(&b'.') {
        let fraction = skip(bytes, whole + 1, |byte| byte.is_ascii_digit());
        if fraction > whole + 1 {
            return Match::Token(Token::Float, exponent(bytes, fraction).unwrap_or(fraction));
        }
    }
    match exponent(bytes, whole) {
        Some(end) => Match::Token(Token::Float, end),
        None => unsigned(whole),
    }
}

/// An identifier, a keyword, or a string with a prefix.
fn word(bytes: &[u8], start: usize) -> Match {
    let end = skip(bytes, start, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if matches!(bytes.get(end), Some(b'"' | b'\'')) {
        let (is_bytes, raw) = match &bytes[start..end] {
            [b'r' | b'R'] => (false, true),
            [b'b' | b'B'] => (true, false),
            [b'b' | b'B', b'r' | b'R'] => (true, true),
            _ => return Match::Token(keyword(&bytes[start..end]), end),
        };
        if let Ok(string_end) = string(bytes, end, raw) {
            return Match::Token(if is_bytes { Token::Bytes } else { Token::String }, string_end);
        }
        // The prefix alone is an identifier; `br` may still be `b` before nothing that is a string.
    }
    Match::Token(keyword(&bytes[start..end]), end)
}

fn keyword(text: &[u8]) -> Token {
    match text {
        b"in" => Token::In,
        b"true" => Token::True,
        b"false" => Token::False,
        b"null" => Token::Null,
        _ => Token::Identifier,
    }
}

/// The end of the string whose quotes begin at `start`, or where it stops being one.
fn string(bytes: &[u8], start: usize, raw: bool) -> Result<usize, usize> {
    let quote = bytes[start];
    let tripled = [quote; 3];
    if bytes[start..].starts_with(&tripled) {
        let mut position = start + 3;
        while position < bytes.len() {
            if bytes[position..].starts_with(&tripled) {
                return Ok(position + 3);
            }
            if bytes[position] == b'\\' && !raw {
                match escape(bytes, position) {
                    Ok(end) => position = end,
                    Err(_) => break,
                }
            } else {
                position += 1;
            }
        }
        // Two of the quotes are an empty string.
        return Ok(start + 2);
    }
    let mut position = start + 1;
    loop {
        match bytes.get(position) {
            None | Some(b'\n' | b'\r') => return Err(position),
            Some(byte) if *byte == quote => return Ok(position + 1),
            Some(b'\\') if !raw => position = escape(bytes, position)?,
            Some(_) => position += 1,
        }
    }
}

/// The end of the escape sequence at `start`, or where it stops being one.
fn escape(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let digits = |count: usize, accept: fn(u8) -> bool| {
        let end = skip(&bytes[..bytes.len().min(start + 2 + count)], start + 2, accept);
        if end == start + 2 + count {
            Ok(end)
        } else {
            Err(end)
        }
    };
    match bytes.get(start + 1) {
        Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`') => {
            Ok(start + 2)
        }
        Some(b'x' | b'X') => digits(2, |byte| byte.is_ascii_hexdigit()),
        Some(b'u') => digits(4, |byte| byte.is_ascii_hexdigit()),
        Some(b'U') => digits(8, |byte| byte.is_ascii_hexdigit()),
        Some(b'0'..=b'3') => digits(2, |byte| matches!(byte, b'0'..=b'7')),
        _ => Err(start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(Token, &str)> {
        let lexed = lex(source);
        lexed
            .lexemes
            .iter()
            .map(|lexeme| (lexeme.token, &source[lexeme.range.clone()]))
            .collect()
    }

    #[test]
    fn takes_the_longest_match() {
        assert_eq!(
            texts("1.5e3 1. 2u 0xFFu 0x .5 a.b<=1// x"),
            [
                (Token::Float, "1.5e3"),
                (Token::Int, "1"),
                (Token::Dot, "."),
                (Token::Uint, "2u"),
                (Token::Uint, "0xFFu"),
                (Token::Int, "0"),
                (Token::Identifier, "x"),
                (Token::Float, ".5"),
                (Token::Identifier, "a"),
                (Token::Dot, "."),
                (Token::Identifier, "b"),
                (Token::LessEquals, "<="),
                (Token::Int, "1"),
                (Token::End, ""),
            ]
        );
    }

    #[test]
    fn reads_every_form_of_string() {
        for source in [
            r#""a\n\x41\u00e9\101""#,
            r#"'it"s'"#,
            "\"\"\"a\n\"b\"\"\"",
            r#"r"\d""#,
            r"R'''\'''",
            "''",
        ] {
            assert_eq!(texts(source)[0], (Token::String, source), "{source}");
        }
        for source in [r#"b"\xff""#, "B'a'", r#"br"\d""#] {
            assert_eq!(texts(source)[0], (Token::Bytes, source), "{source}");
        }
        assert_eq!(texts("\"\"\"a")[0], (Token::String, "\"\""));
    }

    #[test]
    fn skips_what_is_no_token_with_the_character_behind() {
        for (source, skipped) in [
            ("device == \"dra\\.x\"", vec!["\"dra\\.", "\""]),
            ("a = 'x'", vec!["= "]),
            ("a # b", vec!["#"]),
            ("é", vec!["é"]),
            ("'abc", vec!["'abc"]),
            ("`a$`", vec!["`a$", "`"]),
            ("a & b", vec!["& "]),
        ] {
            let errors: Vec<_> = lex(source)
                .errors
                .into_iter()
                .map(|range| &source[range])
                .collect();
            assert_eq!(errors, skipped, "{source}");
        }
    }
}
