//! Types as the checker and the overload tables see them, and their texts.
//!
//! Mirrors `common/types/types.go` and `checker/format.go` of cel-go v0.29. Types are trees with shared branches, so an
//! expression can describe one of exponential size; code that walks types counts its steps (see [`super::check`]).

use std::fmt::Write;
use std::sync::Arc;

/// A name in the tables or in a source text.
pub(crate) type Name = Arc<str>;

/// A CEL type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::enum_variant_names,
    reason = "the type of types is called `type` in CEL"
)]
pub(crate) enum Type {
    /// Anything, checked when evaluated.
    Dyn,
    /// Anything, as a protocol buffer would carry it. Unlike [`Type::Dyn`] it cannot be iterated over.
    Any,
    Bool,
    Bytes,
    Double,
    Duration,
    /// The type of an expression that did not type-check.
    Error,
    Int,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    Null,
    /// A type that only functions know: optionals, IP addresses.
    Opaque(&'static str, Vec<Type>),
    String,
    /// A type with fields, or one that is declared as such.
    Struct(&'static str),
    Timestamp,
    /// The type of a type, with the type if that is known.
    Type(Option<Arc<Type>>),
    /// A type variable. Those of declarations are letters, those of the checker are numbered.
    Param(Param),
    Uint,
}

/// A type variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Param {
    /// As written in a declaration.
    Declared(char),
    /// Fresh for one use of a declaration.
    Fresh(usize),
}

/// The name of optional types.
pub(crate) const OPTIONAL: &str = "optional_type";

impl Type {
    pub(crate) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(crate) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(crate) fn optional(value: Self) -> Self {
        Self::Opaque(OPTIONAL, vec![value])
    }

    pub(crate) fn type_of(value: Self) -> Self {
        Self::Type(Some(Arc::new(value)))
    }

    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// The type inside an optional, or the type itself, and whether it was an optional.
    pub(crate) fn unwrap_optional(&self) -> (&Self, bool) {
        match self {
            Self::Opaque(OPTIONAL, params) => (params.first().unwrap_or(&Self::Dyn), true),
            _ => (self, false),
        }
    }

    /// The parameters of a type that has some.
    pub(crate) fn params(&self) -> Vec<&Self> {
        match self {
            Self::List(element) => vec![element],
            Self::Map(entry) => vec![&entry.0, &entry.1],
            Self::Opaque(_, params) => params.iter().collect(),
            Self::Type(Some(inner)) => vec![inner],
            _ => Vec::new(),
        }
    }

    /// The same type with other parameters: what `change` makes of each.
    pub(crate) fn with_params(&self, change: impl Fn(&Self) -> Self) -> Self {
        match self {
            Self::List(element) => Self::list(change(element)),
            Self::Map(entry) => Self::map(change(&entry.0), change(&entry.1)),
            Self::Opaque(name, params) => Self::Opaque(name, params.iter().map(change).collect()),
            Self::Type(Some(inner)) => Self::type_of(change(inner)),
            other => other.clone(),
        }
    }

    /// Returns whether both are the same type, as far as `agree` says so of their parameters.
    pub(crate) fn agrees(&self, other: &Self, mut agree: impl FnMut(&Self, &Self) -> bool) -> bool {
        match (self, other) {
            (Self::List(left), Self::List(right)) | (Self::Type(Some(left)), Self::Type(Some(right))) => {
                agree(left, right)
            }
            (Self::Map(left), Self::Map(right)) => agree(&left.0, &right.0) && agree(&left.1, &right.1),
            (Self::Opaque(left_name, left), Self::Opaque(right_name, right)) => {
                left_name == right_name
                    && left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| agree(left, right))
            }
            _ => self == other,
        }
    }

    /// The name without parameters, which is what values of the type say of themselves.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Dyn => "dyn",
            Self::Any => "google.protobuf.Any",
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Duration => "google.protobuf.Duration",
            Self::Error => "error",
            Self::Int => "int",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Null => "null_type",
            Self::Opaque(name, _) => name,
            Self::String => "string",
            Self::Struct(name) => name,
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Type(_) => "type",
            Self::Param(_) => "",
            Self::Uint => "uint",
        }
    }

    fn write(&self, out: &mut String, checker_words: bool) {
        match self {
            Self::Param(Param::Declared(letter)) => out.push(*letter),
            Self::Param(Param::Fresh(number)) => {
                let _ = write!(out, "_var{number}");
            }
            Self::Any if checker_words => out.push_str("any"),
            Self::Duration if checker_words => out.push_str("duration"),
            Self::Error if checker_words => out.push_str("!error!"),
            Self::Null if checker_words => out.push_str("null"),
            Self::Timestamp if checker_words => out.push_str("timestamp"),
            _ => {
                out.push_str(self.name());
                let params = self.params();
                for (position, param) in params.iter().enumerate() {
                    out.push_str(if position == 0 { "(" } else { ", " });
                    // Exponentially large types are distinguished by their beginning.
                    if out.len() > MAX_TEXT {
                        return;
                    }
                    param.write(out, checker_words);
                }
                if !params.is_empty() {
                    out.push(')');
                }
            }
        }
    }

    /// The text used in the checker's messages. Mirrors `checker/format.go`, `FormatCELType`.
    pub(crate) fn checker_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, true);
        out
    }

    /// The checker's message about a type in the place of another one.
    pub(crate) fn mismatch(wanted: &Self, found: &Self) -> String {
        format!(
            "expected type '{}' but found '{}'",
            wanted.checker_text(),
            found.checker_text()
        )
    }

    /// The text of Go's `Type.String`.
    pub(crate) fn plain_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, false);
        out
    }
}

/// Length at which the text of a type is cut off.
const MAX_TEXT: usize = 100_000;

/// Reads the notation of the overload tables: `list(A)`, `map(K, V)`, `optional(list(string))`, names of types.
///
/// The tables are constants; a mistake in one yields [`Type::Error`] and fails the tests of the tables.
pub(crate) fn parse_type(text: &'static str) -> Type {
    let text = text.trim();
    if let Some((head, rest)) = text.split_once('(') {
        let params: Vec<Type> = split_top_level(rest.strip_suffix(')').unwrap_or(rest))
            .into_iter()
            .map(parse_type)
            .collect();
        return match (head, params.as_slice()) {
            ("list", [element]) => Type::list(element.clone()),
            ("map", [key, value]) => Type::map(key.clone(), value.clone()),
            ("optional", [value]) => Type::optional(value.clone()),
            ("type", [value]) => Type::type_of(value.clone()),
            _ => Type::Error,
        };
    }
    match text {
        "dyn" => Type::Dyn,
        "any" => Type::Any,
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "duration" => Type::Duration,
        "int" => Type::Int,
        "null" => Type::Null,
        "string" => Type::String,
        "timestamp" => Type::Timestamp,
        "type" => Type::Type(None),
        "uint" => Type::Uint,
        "net.IP" => Type::Opaque("net.IP", Vec::new()),
        "net.CIDR" => Type::Opaque("net.CIDR", Vec::new()),
        _ => match text.chars().next() {
            Some(letter @ 'A'..='Z') if text.len() == 1 => Type::Param(Param::Declared(letter)),
            _ if text.starts_with("kubernetes.") => Type::Struct(text),
            _ => Type::Error,
        },
    }
}

/// Splits at the commas that are not inside parentheses.
pub(crate) fn split_top_level(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (position, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..position].trim());
                start = position + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_notation_and_texts_agree() {
        for (notation, checker, plain) in [
            (
                "map(string, list(dyn))",
                "map(string, list(dyn))",
                "map(string, list(dyn))",
            ),
            (
                "optional(timestamp)",
                "optional_type(timestamp)",
                "optional_type(google.protobuf.Timestamp)",
            ),
            ("null", "null", "null_type"),
            ("net.IP", "net.IP", "net.IP"),
            (
                "kubernetes.Quantity",
                "kubernetes.Quantity",
                "kubernetes.Quantity",
            ),
            ("type(int)", "type(int)", "type(int)"),
            ("any", "any", "google.protobuf.Any"),
        ] {
            assert_eq!(parse_type(notation).checker_text(), checker);
            assert_eq!(parse_type(notation).plain_text(), plain);
        }
    }
}
