//! Regular expressions: RE2's syntax on the `regex-automata` engine.
//!
//! [`syntax`] reads the syntax as Go's `regexp/syntax` does and builds the engine's tree. The engine is as RE2 is: linear
//! in the text, leftmost-first, no look-around. The functions mirror `library/regex.go` (apiserver v0.37.1).

mod syntax;

use regex_automata::meta;

use super::Binding::{Guarded, Stepwise};
use super::{Declaration, overloads};
use crate::eval::Context;
use crate::value::{Fault, Outcome, Value};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "string_find_string":
        "<string>.find(string) -> string" => |ctx, [Value::String(text), Value::String(pattern)]| {
        let regex = compile(ctx, pattern).map_err(illegal)?;
        regex.charge(ctx, text)?;
        Ok(regex.find(text))
    },
    "string_find_all_string": "<string>.findAll(string) -> list(string)" = Guarded(find_all),
    "string_find_all_string_int": "<string>.findAll(string, int) -> list(string)" = Stepwise(find_all),
};

fn illegal(error: String) -> Fault {
    Fault::error(format!("Illegal regex: {error}"))
}

fn find_all<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, pattern, limit) = match args {
        [Value::String(text), Value::String(pattern)] => (text, pattern, -1),
        [Value::String(text), Value::String(pattern), Value::Int(limit)] => (text, pattern, *limit),
        _ => return Err(Fault::no_such_overload()),
    };
    let regex = compile(ctx, pattern).map_err(illegal)?;
    regex.find_all(ctx, text, limit)
}

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct Regex {
    engine: meta::Regex,
    /// The engine's effort per character in the worst case.
    weight: u64,
}

/// Memory that the engine may use for one expression.
const MAX_SIZE: usize = 16 << 20;

impl Regex {
    /// Compiles `pattern`, or says what is wrong with it in Go's words.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let tree = syntax::parse(pattern)?;
        let config = meta::Config::new()
            .utf8_empty(true)
            .nfa_size_limit(Some(MAX_SIZE))
            .onepass_size_limit(Some(1 << 20))
            .hybrid_cache_capacity(1 << 21);
        let engine = meta::Builder::new()
            .configure(config)
            .build_from_hir(&tree)
            .map_err(|_| syntax::too_large(pattern))?;
        let weight = 1 + engine.memory_usage() as u64 / 4_096;
        Ok(Self { engine, weight })
    }

    fn charge(&self, ctx: &mut Context<'_>, text: &str) -> Result<(), Fault> {
        ctx.work(self.weight.saturating_mul(1 + text.len() as u64 / 16))
    }

    /// Returns whether the expression matches somewhere in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.engine.is_match(text)
    }

    /// The first match, or the empty string.
    pub(crate) fn find<'a>(&self, text: &str) -> Value<'a> {
        Value::string(self.engine.find(text).map_or("", |found| &text[found.range()]))
    }

    /// The first `limit` matches, or all if that is negative.
    pub(crate) fn find_all<'a>(&self, ctx: &mut Context<'a>, text: &str, limit: i64) -> Outcome<'a> {
        self.charge(ctx, text)?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for next in self.engine.find_iter(text).take(limit) {
            ctx.allocate(next.len())?;
            ctx.allocate_list(1)?;
            found.push(Value::string(&text[next.range()]));
        }
        Ok(Value::list(found))
    }
}

/// Compiles a regular expression that is known only now.
pub(super) fn compile(ctx: &mut Context<'_>, pattern: &str) -> Result<Regex, String> {
    // Compiling is far more than CEL's cost says; the budget ends loops over it.
    ctx.work(2_000 + 20 * pattern.len() as u64)
        .map_err(|fault| fault.message().to_owned())?;
    Regex::new(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_as_re2_does() {
        for (pattern, text, expected) in [
            (r"^\d$", "٣", false),
            (r"^\d$", "7", true),
            (r"\Qa.b\E", "xa.by", true),
            (r"\Qa.b", "a.b", true),
            ("a.b", "a\nb", false),
            ("(?s)a.b", "a\nb", true),
            ("(?i)straße", "STRASSE", false),
            ("(?i)k", "\u{212a}", true),
            ("(?i:A)b", "ab", true),
            ("[^a]", "\n", true),
            ("a$", "a\n", false),
            ("(?m)a$", "a\nb", true),
            (r"\bfoo\b", "éfoo", true),
            (r"\pL+\p{Greek}", "xα", true),
            (r"[[:alpha:]_]{2,3}", "a_", true),
            ("a{,2}", "a{,2}", true),
            ("x*", "", true),
            ("[]a]", "]", true),
            ("[a-]", "-", true),
            (r"\x{1F600}|\x41|\101", "A", true),
            (r"\Ba", "éa", false),
        ] {
            assert_eq!(
                Regex::new(pattern).unwrap().is_match(text),
                expected,
                "{pattern} on {text}"
            );
        }
    }

    #[test]
    fn refuses_in_gos_words() {
        for (pattern, message) in [
            ("(", "missing closing ): `(`"),
            ("a)", "unexpected ): `a)`"),
            ("[a", "missing closing ]: `[a`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("a(?=b)", "invalid or unsupported Perl syntax: `(?=`"),
            (r"(a)\1", r"invalid escape sequence: `\1`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(a{100}){11}", "invalid repeat count: `{11}`"),
            ("[b-a]", "invalid character class range: `b-a`"),
            (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
            (r"\", "trailing backslash at end of expression: ``"),
            (r"\C", r"invalid escape sequence: `\C`"),
            ("(?P<1a$>x)", "invalid named capture: `(?P<1a$>`"),
            ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
        ] {
            let expected = format!("error parsing regexp: {message}");
            assert_eq!(
                Regex::new(pattern).map(|_| ()).unwrap_err(),
                expected,
                "{pattern}"
            );
        }
    }

    #[test]
    fn bombs_end_in_an_error() {
        assert!(Regex::new(&"(".repeat(5_000)).is_err());
        assert!(Regex::new(&r"(\pL{1000})".repeat(900)).is_err());
        assert!(Regex::new(&format!("{}a{}", "(".repeat(900), "*)".repeat(900))).is_err());
    }
}
