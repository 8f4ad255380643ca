//! The part of `JSONPath` that sorting needs: where in an item a value is.

use std::str::FromStr;

use serde_json::Value;
use thiserror::Error;

/// The way from an item to one of its values: `.name`, `{.metadata.name}`, `.devices[0].driver`,
/// `.labels['example.com/team']`, `.labels.example\.com/team`, `.consumers[*].name`.
///
/// kubectl's braces and first dot are optional here too. What selects several values stands for the first that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    /// Counted from the end when negative.
    Index(i64),
    Any,
}

/// The reason why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct PathError(&'static str);

impl Path {
    /// The value in `item`. A `null` is as good as none.
    pub(super) fn find<'v>(&self, item: &'v Value) -> Option<&'v Value> {
        let steps = match self.steps.split_first() {
            // kubectl's objects have their name under `metadata`, the items of reports at the top. Habits work here.
            Some((Step::Field(first), rest)) if first == "metadata" && item.get("metadata").is_none() => rest,
            _ => &self.steps,
        };
        find(steps, item)
    }
}

fn find<'v>(steps: &[Step], value: &'v Value) -> Option<&'v Value> {
    let Some((step, rest)) = steps.split_first() else {
        return (!value.is_null()).then_some(value);
    };
    match step {
        Step::Field(name) => find(rest, value.get(name)?),
        Step::Index(index) => {
            let items = value.as_array()?;
            let from_end = usize::try_from(index.unsigned_abs()).ok()?;
            let index = if *index < 0 {
                items.len().checked_sub(from_end)?
            } else {
                from_end
            };
            find(rest, items.get(index)?)
        }
        Step::Any => match value {
            Value::Array(items) => items.iter().find_map(|item| find(rest, item)),
            Value::Object(fields) => fields.values().find_map(|item| find(rest, item)),
            _ => None,
        },
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let inner = match text.strip_prefix('{') {
            Some(inner) => inner.strip_suffix('}').ok_or(PathError("missing `}`"))?,
            None => text,
        };
        let mut rest = inner.strip_prefix('.').unwrap_or(inner);
        if rest.is_empty() {
            return Err(PathError("it does not name a field"));
        }
        let mut steps = Vec::new();
        loop {
            let step;
            (step, rest) = if let Some(inside) = rest.strip_prefix('[') {
                bracket(inside)?
            } else {
                field(rest)?
            };
            steps.push(step);
            match rest.chars().next() {
                None => return Ok(Self { steps }),
                Some('.') => rest = &rest[1..],
                Some('[') => {}
                Some(_) => return Err(PathError("a `.` or `[` must follow `]`")),
            }
        }
    }
}

/// A field's name up to the next `.` or `[`; a backslash takes the next character as it is.
fn field(text: &str) -> Result<(Step, &str), PathError> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '.' | '[' => {
                end = at;
                break;
            }
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '{' | '}' | ']' | '(' | ')' | '?' | '@' | ',' | ' ' => {
                return Err(PathError(
                    "only fields and indexes are supported, not filters, unions or ranges",
                ));
            }
            '*' if text.len() == 1 => return Ok((Step::Any, "")),
            c => name.push(c),
        }
    }
    if name.is_empty() {
        return Err(PathError("it contains an empty field name or `..`"));
    }
    Ok((Step::Field(name), &text[end..]))
}

/// Returns what stands behind `[`: a quoted name, a number or `*`.
fn bracket(inside: &str) -> Result<(Step, &str), PathError> {
    const UNCLOSED: PathError = PathError("missing `]`");
    for quote in ['\'', '"'] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (name, rest) = quoted
                .split_once(quote)
                .ok_or(PathError("missing closing quote"))?;
            let rest = rest.strip_prefix(']').ok_or(UNCLOSED)?;
            return Ok((Step::Field(name.to_owned()), rest));
        }
    }
    let (index, rest) = inside.split_once(']').ok_or(UNCLOSED)?;
    if index == "*" {
        return Ok((Step::Any, rest));
    }
    let index = index
        .parse()
        .map_err(|_| PathError("expected a number, `*` or a quoted name between `[` and `]`"))?;
    Ok((Step::Index(index), rest))
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use serde_json::json;

    use super::*;

    impl fmt::Display for Path {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for step in &self.steps {
                match step {
                    Step::Field(name) if name.contains(['.', '[', '\'']) => write!(f, "[{name:?}]")?,
                    Step::Field(name) => write!(f, ".{name}")?,
                    Step::Index(index) => write!(f, "[{index}]")?,
                    Step::Any => f.write_str("[*]")?,
                }
            }
            Ok(())
        }
    }

    #[test]
    fn paths_find_what_kubectl_would_find() {
        let item = json!({
            "name": "a",
            "node": null,
            "labels": {"example.com/team": "x", "app": "web"},
            "devices": [{"driver": "d0"}, {"driver": "d1", "pool": "p"}],
        });
        for (path, expected) in [
            ("name", json!("a")),
            (".name", json!("a")),
            ("{.name}", json!("a")),
            ("{name}", json!("a")),
            (".metadata.name", json!("a")),
            (".devices[0].driver", json!("d0")),
            (".devices[-1].driver", json!("d1")),
            (".devices[*].pool", json!("p")),
            (".labels['example.com/team']", json!("x")),
            ("{.labels[\"example.com/team\"]}", json!("x")),
            ("{.metadata.labels.example\\.com/team}", json!("x")),
            (".labels.*", json!("web")),
        ] {
            let parsed: Path = path.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(parsed.find(&item), Some(&expected), "{path}");
        }
        for path in [
            "node",
            "nope",
            ".devices[2]",
            ".devices[-3]",
            ".name[0]",
            ".name.x",
            ".devices.driver",
        ] {
            let parsed: Path = path.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(parsed.find(&item), None, "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in [
            "",
            ".",
            "{}",
            "{.name",
            "a..b",
            "a.",
            "[",
            "a[",
            "a[0",
            "a[x]",
            "a['x",
            "a['x'",
            "a[0]b",
            "a[?(@.x)]",
            "{.a}{.b}",
            "a b",
            "{range .items[*]}",
        ] {
            assert!(path.parse::<Path>().is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_path_prints_to_itself() {
        for path in [".a.b[0]", ".a[*].c", r#".labels["example.com/x"]"#] {
            let parsed: Path = path.parse().expect(path);
            assert_eq!(parsed.to_string(), path);
            assert_eq!(parsed.to_string().parse::<Path>().as_ref(), Ok(&parsed));
        }
    }
}
