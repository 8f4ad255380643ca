//! Label selectors as users write them: `app=web,tier in (front, back),!canary`.
//!
//! The grammar and its corner cases (empty values, keywords as values, what an omitted operator means) are those of
//! apimachinery `labels/selector.go`, v1.37.2. Selectors with `matchLabels` and `matchExpressions`, as objects hold them,
//! are not read here.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use itertools::Itertools as _;
use thiserror::Error;

use dra_values::names;

/// A parsed selector: the conjunction of its requirements. The default one selects everything.
///
/// ```
/// use dra_model::LabelSelector;
///
/// let selector: LabelSelector = "app in (web, api),!canary".parse()?;
/// let labels = [("app", "web"), ("tier", "front")];
/// let lookup = |key: &str| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
/// assert!(selector.matches(lookup));
/// # Ok::<(), dra_model::LabelSelectorError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, derive_more::Display)]
#[display("{}", requirements.iter().format(","))]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

/// One term of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted, as upstream prints them; empty for the operators without a value.
    values: BTreeSet<String>,
}

/// Condition of a requirement on a label. It is read as requirements of objects write it, which do not have all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
pub enum Operator {
    /// `=`
    #[strum(disabled)]
    Equals,
    /// `==`
    #[strum(disabled)]
    DoubleEquals,
    /// `!=`
    #[strum(disabled)]
    NotEquals,
    /// `in`: one of the values
    In,
    /// `notin`: none of the values, or no such label
    NotIn,
    /// the label is there
    Exists,
    /// the label is not there
    DoesNotExist,
    /// `>`: a number above
    #[strum(serialize = "Gt")]
    GreaterThan,
    /// `<`: a number below
    #[strum(serialize = "Lt")]
    LessThan,
}

/// The reason why a text is not a label selector.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LabelSelectorError {
    /// The grammar wants something else at this place.
    #[error("found `{found}`, expected {expected}")]
    Unexpected {
        /// The token that is there; empty at the end of the text.
        found: String,
        /// Expected tokens.
        expected: &'static str,
    },
    /// A key that no label can have.
    #[error("invalid label key `{0}`: {1}")]
    Key(String, &'static str),
    /// A value that no label can have.
    #[error("invalid label value `{0}`: {1}")]
    Value(String, &'static str),
    /// `>` and `<` compare integers.
    #[error("`{0}` is not an integer; `>` and `<` compare integers")]
    NotAnInteger(String),
}

impl LabelSelector {
    /// Returns whether the selector restricts nothing.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether an object is selected whose label `key` has the value `lookup(key)`.
    pub fn matches<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.matches(lookup(&requirement.key)))
    }
}

impl Requirement {
    fn matches(&self, label: Option<&str>) -> bool {
        let first = self.values.first().map(String::as_str);
        self.operator
            .is_met(label, |value| self.values.contains(value), first)
    }
}

impl Operator {
    /// Returns whether an object with that label, or without one, meets a requirement whose values `are_listed`,
    /// beginning with `first`. Mirrors `labels/selector.go`, `Requirement.Matches`, v1.37.2.
    pub fn is_met(self, label: Option<&str>, are_listed: impl Fn(&str) -> bool, first: Option<&str>) -> bool {
        let is_listed = || label.is_some_and(&are_listed);
        // A label that is no integer is neither greater nor less than anything.
        let compared = |holds: fn(i64, i64) -> bool| {
            let integer = |text: &str| text.parse::<i64>().ok();
            let both = label.and_then(integer).zip(first.and_then(integer));
            both.is_some_and(|(label, bound)| holds(label, bound))
        };
        match self {
            Self::In | Self::Equals | Self::DoubleEquals => is_listed(),
            Self::NotIn | Self::NotEquals => !is_listed(),
            Self::Exists => label.is_some(),
            Self::DoesNotExist => label.is_none(),
            Self::GreaterThan => compared(|label, bound| label > bound),
            Self::LessThan => compared(|label, bound| label < bound),
        }
    }
}

impl FromStr for LabelSelector {
    type Err = LabelSelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut requirements = Parser::new(text).selector()?;
        // Upstream sorts too: equal selectors print the same, whatever the order they were written in.
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values.iter().join(",");
        let key = &self.key;
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A key, a value, or one of the keywords `in` and `notin`.
    Word(&'a str),
    Symbol(&'a str),
    End,
}

impl<'a> Token<'a> {
    fn text(self) -> &'a str {
        match self {
            Token::Word(text) | Token::Symbol(text) => text,
            Token::End => "",
        }
    }
}

/// Recursive descent over the text, one token ahead.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The next token and the text behind it. Symbols are matched longest first; a word ends at a symbol or a blank.
    fn scan(&self) -> (Token<'a>, &'a str) {
        let text = self.rest.trim_start_matches(is_blank);
        if text.is_empty() {
            return (Token::End, text);
        }
        for symbol in ["==", "!=", "=", "!", "(", ")", ",", ">", "<"] {
            if let Some(rest) = text.strip_prefix(symbol) {
                return (Token::Symbol(symbol), rest);
            }
        }
        let end = text
            .find(|c: char| is_blank(c) || "=!(),><".contains(c))
            .unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        (Token::Word(word), rest)
    }

    fn peek(&self) -> Token<'a> {
        self.scan().0
    }

    fn next(&mut self) -> Token<'a> {
        let (token, rest) = self.scan();
        self.rest = rest;
        token
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, LabelSelectorError> {
        let mut requirements = Vec::new();
        if self.peek() == Token::End {
            return Ok(requirements);
        }
        loop {
            let expected = if requirements.is_empty() {
                "a key, `!` or the end of the selector"
            } else {
                "a key after `,`"
            };
            match self.peek() {
                Token::Word(_) | Token::Symbol("!") => requirements.push(self.requirement()?),
                other => return Err(unexpected(other, expected)),
            }
            match self.next() {
                Token::End => return Ok(requirements),
                Token::Symbol(",") => {}
                other => return Err(unexpected(other, "`,` or the end of the selector")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, LabelSelectorError> {
        let mut token = self.next();
        let negated = token == Token::Symbol("!");
        if negated {
            token = self.next();
        }
        let Token::Word(key) = token else {
            return Err(unexpected(token, "a key"));
        };
        if let Err(why) = check_key(key) {
            return Err(LabelSelectorError::Key(key.to_owned(), why));
        }
        let operator = if negated {
            Operator::DoesNotExist
        } else if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            Operator::Exists
        } else {
            self.operator()?
        };
        let values = match operator {
            Operator::Exists | Operator::DoesNotExist => BTreeSet::new(),
            Operator::In | Operator::NotIn => self.set()?,
            _ => BTreeSet::from([self.value()?.to_owned()]),
        };
        for value in &values {
            if let Err(why) = check_value(value) {
                return Err(LabelSelectorError::Value(value.clone(), why));
            }
            let ordered = matches!(operator, Operator::GreaterThan | Operator::LessThan);
            if ordered && value.parse::<i64>().is_err() {
                return Err(LabelSelectorError::NotAnInteger(value.clone()));
            }
        }
        Ok(Requirement {
            key: key.to_owned(),
            operator,
            values,
        })
    }

    fn operator(&mut self) -> Result<Operator, LabelSelectorError> {
        Ok(match self.next() {
            Token::Word("in") => Operator::In,
            Token::Word("notin") => Operator::NotIn,
            Token::Symbol("=") => Operator::Equals,
            Token::Symbol("==") => Operator::DoubleEquals,
            Token::Symbol("!=") => Operator::NotEquals,
            Token::Symbol(">") => Operator::GreaterThan,
            Token::Symbol("<") => Operator::LessThan,
            other => return Err(unexpected(other, "`=`, `==`, `!=`, `in`, `notin`, `>` or `<`")),
        })
    }

    /// The value behind `=` and its relatives; `key=` means the empty value.
    fn value(&mut self) -> Result<&'a str, LabelSelectorError> {
        match self.peek() {
            Token::End | Token::Symbol(",") => Ok(""),
            Token::Word(_) => Ok(self.next().text()),
            symbol @ Token::Symbol(_) => Err(unexpected(symbol, "a value")),
        }
    }

    /// The values between parentheses. An omitted value, as in `(a,)`, `(,a)` and `()`, is the empty one.
    fn set(&mut self) -> Result<BTreeSet<String>, LabelSelectorError> {
        let open = self.next();
        if open != Token::Symbol("(") {
            return Err(unexpected(open, "`(`"));
        }
        let mut values = BTreeSet::new();
        loop {
            if let Token::Word(value) = self.peek() {
                self.next();
                values.insert(value.to_owned());
            } else {
                values.insert(String::new());
            }
            match self.next() {
                Token::Symbol(",") => {}
                Token::Symbol(")") => return Ok(values),
                other => return Err(unexpected(other, "`,` or `)`")),
            }
        }
    }
}

fn unexpected(found: Token<'_>, expected: &'static str) -> LabelSelectorError {
    LabelSelectorError::Unexpected {
        found: found.text().to_owned(),
        expected,
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Mirrors apimachinery `content.IsLabelKey`: an optional DNS subdomain and `/`, then a name.
fn check_key(key: &str) -> Result<(), &'static str> {
    let name = match key.split_once('/') {
        None => key,
        Some((prefix, name)) => {
            if !names::subdomain(prefix.as_bytes()).is_empty() {
                return Err("the prefix before `/` must be a lowercase DNS name");
            }
            name
        }
    };
    if name.is_empty() {
        return Err("the name must not be empty");
    }
    check_value(name)
}

/// Mirrors apimachinery `content.IsLabelValue`.
fn check_value(value: &str) -> Result<(), &'static str> {
    if value.len() > 63 {
        return Err("it must not be longer than 63 characters");
    }
    if !names::label_value(value).is_empty() {
        return Err(
            "only letters, digits, `-`, `_` and `.` are allowed, and it must start and end with a letter or \
            digit",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LABELS: [(&str, &str); 5] = [
        ("app", "web"),
        ("empty", ""),
        ("size", "10"),
        ("in", "notin"),
        ("example.com/zone", "a.b_c-d"),
    ];

    fn lookup(key: &str) -> Option<&'static str> {
        LABELS
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
    }

    #[test]
    fn selectors_match_as_kubectl_matches() {
        for (selector, expected) in [
            ("", true),
            ("  ", true),
            ("app", true),
            ("!app", false),
            ("! app", false),
            ("nope", false),
            ("!nope", true),
            ("app=web", true),
            ("app==web", true),
            ("app = web", true),
            ("app=api", false),
            ("app!=api", true),
            ("app!=web", false),
            ("nope!=web", true),
            ("nope=web", false),
            ("app in (web)", true),
            ("app in (api, web)", true),
            ("app in(api,web)", true),
            ("app in (api)", false),
            ("nope in (api)", false),
            ("app notin (api)", true),
            ("app notin (web,api)", false),
            ("nope notin (api)", true),
            ("empty=", true),
            ("empty=,app", true),
            ("empty in ()", true),
            ("empty in (,)", true),
            ("empty in (a,)", true),
            ("empty in (,a)", true),
            ("empty in (a,,b)", true),
            ("empty in (a,b)", false),
            ("app in (,)", false),
            ("size>9", true),
            ("size>10", false),
            ("size<11", true),
            ("app<11", false),
            ("nope>1", false),
            ("in=notin", true),
            ("in in (in, notin)", true),
            ("in", true),
            ("example.com/zone=a.b_c-d", true),
            ("app=web,size,!nope", true),
            ("app=web,size,nope", false),
            ("app=web\t,\n size", true),
        ] {
            let parsed: LabelSelector = selector
                .parse()
                .unwrap_or_else(|error| panic!("{selector:?}: {error}"));
            assert_eq!(parsed.matches(lookup), expected, "{selector:?}");
        }
    }

    #[test]
    fn what_kubectl_refuses_is_refused_with_the_place() {
        for (selector, message) in [
            (",", "found `,`, expected a key, `!` or the end of the selector"),
            ("app,", "found ``, expected a key after `,`"),
            ("app,,size", "found `,`, expected a key after `,`"),
            ("!", "found ``, expected a key"),
            ("!!app", "found `!`, expected a key"),
            ("!app=web", "found `=`, expected `,` or the end of the selector"),
            (
                "app web",
                "found `web`, expected `=`, `==`, `!=`, `in`, `notin`, `>` or `<`",
            ),
            ("app===web", "found `=`, expected a value"),
            ("app=(web)", "found `(`, expected a value"),
            (
                "app=web size",
                "found `size`, expected `,` or the end of the selector",
            ),
            ("app in web", "found `web`, expected `(`"),
            ("app in", "found ``, expected `(`"),
            ("app in (", "found ``, expected `,` or `)`"),
            ("app in (a b)", "found `b`, expected `,` or `)`"),
            ("app in (a", "found ``, expected `,` or `)`"),
            ("app in (=)", "found `=`, expected `,` or `)`"),
            (
                "size>ten",
                "`ten` is not an integer; `>` and `<` compare integers",
            ),
            ("size>", "`` is not an integer; `>` and `<` compare integers"),
            (
                "Example.com/zone",
                "invalid label key `Example.com/zone`: the prefix before `/` must be a lowercase DNS name",
            ),
            (
                "/zone",
                "invalid label key `/zone`: the prefix before `/` must be a lowercase DNS name",
            ),
            (
                "example.com/",
                "invalid label key `example.com/`: the name must not be empty",
            ),
        ] {
            let error = selector.parse::<LabelSelector>().expect_err(selector);
            assert_eq!(error.to_string(), message, "{selector:?}");
        }
        for selector in [
            "-app",
            "app-",
            "a/b/c",
            "app=-x",
            "app in (a,b$)",
            "café",
            "a..b/x",
            "app=\u{7f}",
        ] {
            assert!(selector.parse::<LabelSelector>().is_err(), "{selector:?}");
        }
        let long = "a".repeat(64);
        assert!(long.parse::<LabelSelector>().is_err());
        assert!(format!("app={long}").parse::<LabelSelector>().is_err());
    }

    #[test]
    fn the_order_in_which_a_selector_is_written_does_not_show() {
        let selector: LabelSelector = "z notin (b,a),a>1,!m,b==2".parse().expect("valid");
        assert_eq!(selector.to_string(), "a>1,b==2,!m,z notin (a,b)");
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_parses_prints_to_itself(text in "[a-c=!()<>, \tinot1/-]{0,24}") {
            if let Ok(selector) = text.parse::<LabelSelector>() {
                prop_assert_eq!(selector.to_string().parse::<LabelSelector>(), Ok(selector));
            }
        }
    }
}
