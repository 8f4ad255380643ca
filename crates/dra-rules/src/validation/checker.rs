//! Values with their paths, and violations: what `field.Path` and `field.Error` are to the API server.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};

use serde_json::Value;

use super::Violations;
use dra_cel::{Environment, Refusal};
use dra_model::go_quote;

/// Path within an object.
#[derive(Clone, Copy)]
enum Path<'p> {
    Root(&'p str),
    Child(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
    Key(&'p Path<'p>, &'p str),
}

/// A value within an object, and where it is; null where there is none.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    path: Path<'p>,
    pub(super) value: &'p Value,
}

impl<'p> Place<'p> {
    pub(super) fn root(path: &'p str, value: &'p Value) -> Self {
        let path = Path::Root(path);
        Self { path, value }
    }

    pub(super) fn child(&'p self, field: &'p str) -> Self {
        let path = Path::Child(&self.path, field);
        let value = &self.value[field];
        Self { path, value }
    }

    pub(super) fn index(&'p self, index: usize) -> Self {
        let path = Path::Index(&self.path, index);
        let value = &self.value[index];
        Self { path, value }
    }

    pub(super) fn key(&'p self, key: &'p str) -> Self {
        let path = Path::Key(&self.path, key);
        let value = &self.value[key];
        Self { path, value }
    }

    /// The items of a list; none where there is no list.
    pub(super) fn each(&'p self) -> impl Iterator<Item = Self> {
        let count = self.value.as_array().map_or(0, Vec::len);
        (0..count).map(|index| self.index(index))
    }

    /// The text; empty where there is none.
    pub(super) fn text(&self) -> &'p str {
        as_text(self.value)
    }
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(path) => f.write_str(path),
            Self::Child(Self::Root(""), name) => f.write_str(name),
            Self::Child(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Self::Key(parent, key) => write!(f, "{parent}[{}]", shortened(key)),
        }
    }
}

/// Collects violations.
pub(super) struct Checker<'c> {
    expressions: &'c Environment,
    found: Vec<String>,
    more: usize,
    /// Results of expressions, many of which are equal: their maximum cost, or the reason for rejection.
    admitted: HashMap<(bool, String), Result<u64, Refusal>>,
}

impl<'c> Checker<'c> {
    /// Violations of an object that are described.
    const MOST: usize = 100;

    pub(super) fn new(expressions: &'c Environment) -> Self {
        Self {
            expressions,
            found: Vec::new(),
            more: 0,
            admitted: HashMap::new(),
        }
    }

    pub(super) fn done(self) -> Violations {
        Violations {
            list: self.found,
            more: self.more,
        }
    }

    fn add(&mut self, at: &Place<'_>, what: fmt::Arguments<'_>) {
        if self.found.len() < Self::MOST {
            self.found.push(format!("{}: {what}", at.path));
        } else {
            self.more += 1;
        }
    }

    pub(super) fn required(&mut self, at: &Place<'_>, why: &str) {
        if why.is_empty() {
            self.add(at, format_args!("Required value"));
        } else {
            self.add(at, format_args!("Required value: {why}"));
        }
    }

    /// `value` as the server shows it: texts in quotes.
    pub(super) fn invalid(&mut self, at: &Place<'_>, value: impl Display, why: impl Display) {
        self.add(at, format_args!("Invalid value: {value}: {why}"));
    }

    pub(super) fn invalid_text(&mut self, at: &Place<'_>, text: &str, why: impl Display) {
        self.invalid(at, quoted(text), why);
    }

    pub(super) fn all_invalid(&mut self, at: &Place<'_>, text: &str, problems: Vec<String>) {
        for problem in problems {
            self.invalid_text(at, text, problem);
        }
    }

    pub(super) fn forbidden(&mut self, at: &Place<'_>, why: &str) {
        self.add(at, format_args!("Forbidden: {why}"));
    }

    pub(super) fn too_long(&mut self, at: &Place<'_>, most: usize) {
        self.add(at, format_args!("Too long: may not be more than {most} bytes"));
    }

    pub(super) fn duplicate(&mut self, at: &Place<'_>, text: &str) {
        self.add(at, format_args!("Duplicate value: {}", quoted(text)));
    }

    pub(super) fn not_found(&mut self, at: &Place<'_>, text: &str, why: &str) {
        self.add(at, format_args!("Not found: {}{why}", quoted(text)));
    }

    pub(super) fn not_supported(&mut self, at: &Place<'_>, text: &str, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(|one| quoted(one)).collect();
        let supported = supported.join(", ");
        self.add(
            at,
            format_args!(
                "Unsupported value: {}: supported values: {supported}",
                quoted(text)
            ),
        );
    }

    /// Returns whether a list is no longer than it may be. The server looks no further into one that is.
    pub(super) fn has_room(&mut self, at: &Place<'_>, count: usize, most: usize) -> bool {
        if count > most {
            self.add(
                at,
                format_args!("Too many: {count}: must have at most {most} items"),
            );
        }
        count <= most
    }

    /// Looks at each item of a list that may have `most`. Returns whether it has no more.
    pub(super) fn list(
        &mut self,
        at: &Place<'_>,
        most: usize,
        mut look: impl FnMut(&mut Self, &Place<'_>),
    ) -> bool {
        let has_room = self.has_room(at, at.each().count(), most);
        if has_room {
            at.each().for_each(|item| look(self, &item));
        }
        has_room
    }

    /// Looks at each item of a list that may have `most`, and that may not have two with the same text at the pointer `key`.
    pub(super) fn set(
        &mut self,
        at: &Place<'_>,
        most: usize,
        key: &str,
        look: impl FnMut(&mut Self, &Place<'_>),
    ) {
        if !self.list(at, most, look) {
            return;
        }
        let mut seen = HashSet::new();
        for item in at.each() {
            let key = item.value.pointer(key).map_or("", as_text);
            if !seen.insert(key) {
                self.duplicate(&item, key);
            }
        }
    }

    /// Looks at a selector, and at an expression that computes an attribute. Returns what it costs at most.
    pub(super) fn expression(&mut self, at: &Place<'_>, is_attribute: bool) -> u64 {
        let expression = at.text();
        let key = (is_attribute, expression.to_owned());
        let expressions = self.expressions;
        let admitted = self.admitted.entry(key).or_insert_with(|| {
            if is_attribute {
                expressions.admit_attribute(expression)
            } else {
                expressions.admit(expression)
            }
        });
        match admitted.clone() {
            Ok(cost) => cost,
            Err(refusal) => {
                self.add(at, format_args!("{refusal}"));
                match refusal {
                    Refusal::TooComplex { max_cost } => max_cost,
                    Refusal::TooLong | Refusal::Compile { .. } => 0,
                }
            }
        }
    }
}

/// The longest text that a violation shows.
const SHOWN: usize = 200;

fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= SHOWN {
        return text.into();
    }
    let shown: String = text.chars().take(SHOWN).collect();
    format!("{shown}...").into()
}

fn quoted(text: &str) -> String {
    go_quote(&shortened(text))
}

/// The text of a field; empty where it has none.
pub(super) fn text<'v>(object: &'v Value, field: &str) -> &'v str {
    object[field].as_str().unwrap_or_default()
}

/// Returns whether a field is set.
pub(super) fn has(object: &Value, field: &str) -> bool {
    !object[field].is_null()
}

/// The items of a list; none where there is no list.
pub(super) fn items<'v>(object: &'v Value, field: &str) -> &'v [Value] {
    object[field].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn as_text(item: &Value) -> &str {
    item.as_str().unwrap_or_default()
}

/// The entries of a map.
pub(super) fn entries(map: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let entries = map.as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.as_str(), value))
}
