//! Tokens of a CEL text. Mirrors the lexer rules of `CEL.g4` (cel-go v0.29) under ANTLR's longest match.

use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

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

/// Rules of the lexer, each for a token or for what is skipped. Of those that match the same text the first counts.
const RULES: &[(Option<Token>, &str)] = &[
    (None, r"[\t \r\n\f]+|//[^\n]*"),
    (Some(Token::Equals), "=="),
    (Some(Token::NotEquals), "!="),
    (Some(Token::In), "in"),
    (Some(Token::Less), "<"),
    (Some(Token::LessEquals), "<="),
    (Some(Token::GreaterEquals), ">="),
    (Some(Token::Greater), ">"),
    (Some(Token::And), "&&"),
    (Some(Token::Or), r"\|\|"),
    (Some(Token::LeftBracket), r"\["),
    (Some(Token::RightBracket), r"\]"),
    (Some(Token::LeftBrace), r"\{"),
    (Some(Token::RightBrace), r"\}"),
    (Some(Token::LeftParen), r"\("),
    (Some(Token::RightParen), r"\)"),
    (Some(Token::Dot), r"\."),
    (Some(Token::Comma), ","),
    (Some(Token::Minus), "-"),
    (Some(Token::Exclamation), "!"),
    (Some(Token::Question), r"\?"),
    (Some(Token::Colon), ":"),
    (Some(Token::Plus), r"\+"),
    (Some(Token::Star), r"\*"),
    (Some(Token::Slash), "/"),
    (Some(Token::Percent), "%"),
    (Some(Token::True), "true"),
    (Some(Token::False), "false"),
    (Some(Token::Null), "null"),
    (
        Some(Token::Float),
        r"[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+",
    ),
    (Some(Token::Int), "[0-9]+|0x[0-9a-fA-F]+"),
    (Some(Token::Uint), "(?:[0-9]+|0x[0-9a-fA-F]+)[uU]"),
    (Some(Token::String), "COOKED|[rR](?:RAW)"),
    (Some(Token::Bytes), "[bB](?:COOKED|[rR](?:RAW))"),
    (Some(Token::Identifier), "[a-zA-Z_][a-zA-Z0-9_]*"),
    (Some(Token::EscapedIdentifier), "`[a-zA-Z0-9_.\\-/ ]+`"),
];

/// A string in quotes, which may hold escape sequences. Three quotes may stand around one that has quotes and line breaks in it.
const COOKED: &str = r"Q(?:[^Q\\\n\r]|ESCAPE)*Q|QQQ(?:Q{0,2}(?:[^Q\\]|ESCAPE))*QQQ";

/// A string in quotes whose backslashes mean nothing.
const RAW: &str = r"Q[^Q\n\r]*Q|QQQ(?:Q{0,2}[^Q])*QQQ";

const ESCAPE: &str =
    r#"\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"#;

/// An automaton for the rules, with what is known of its states so far.
static AUTOMATON: LazyLock<Option<(DFA, Mutex<Cache>)>> = LazyLock::new(|| {
    let quoted = |string: &str| [string.replace('Q', "\""), string.replace('Q', "'")].join("|");
    let (cooked, raw) = (quoted(COOKED).replace("ESCAPE", ESCAPE), quoted(RAW));
    let rules = RULES
        .iter()
        .map(|(_, rule)| rule.replace("COOKED", &cooked).replace("RAW", &raw));
    let dfa = DFA::builder()
        .configure(DFA::config().match_kind(MatchKind::All))
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .thompson(thompson::Config::new().utf8(false))
        .build_many(&rules.collect::<Vec<_>>())
        .ok()?;
    let cache = Mutex::new(dfa.create_cache());
    Some((dfa, cache))
});

/// Splits `source` into tokens. A text that is no token is skipped with the character that ruled the last rule out.
pub(crate) fn lex(source: &str) -> Lexed {
    let mut lexed = Lexed {
        lexemes: Vec::new(),
        errors: Vec::new(),
    };
    let mut position = 0;
    if let Some((dfa, cache)) = &*AUTOMATON {
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        while position < source.len() {
            let start = position;
            match longest(dfa, &mut cache, source, start) {
                Ok((rule, end)) => {
                    position = end;
                    let range = start..end;
                    lexed
                        .lexemes
                        .extend(RULES[rule].0.map(|token| Lexeme { token, range }));
                }
                Err(at) => {
                    position = at + source[at..].chars().next().map_or(0, char::len_utf8);
                    lexed.errors.push(start..position);
                }
            }
        }
    }
    lexed.lexemes.push(Lexeme {
        token: Token::End,
        range: position..position,
    });
    lexed
}

/// The rule that matches most of the text from `start` on, and the end of its match; where no rule matches, the place at which the last
/// one is ruled out.
fn longest(dfa: &DFA, cache: &mut Cache, source: &str, start: usize) -> Result<(usize, usize), usize> {
    let input = Input::new(source).range(start..).anchored(Anchored::Yes);
    let mut state = dfa.start_state_forward(cache, &input).map_err(|_| start)?;
    let mut found = Err(source.len());
    for at in start..=source.len() {
        state = match source.as_bytes().get(at) {
            Some(byte) => dfa.next_state(cache, state, *byte),
            None => dfa.next_eoi_state(cache, state),
        }
        .map_err(|_| at)?;
        // The automaton says one byte later that there was a match.
        if state.is_match() {
            found = Ok((dfa.match_pattern(cache, state, 0).as_usize(), at));
        } else if state.is_dead() {
            return found.or(Err(at));
        }
    }
    found
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
