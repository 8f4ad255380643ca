//! `--sort-by`: the items of a report in the order of one of their values.
//!
//! A column sorts by the field that it shows, so the order is the same in every format. Values are compared as what they
//! all are: numbers, quantities, times, else text. Items without the value come last, equal ones keep their order.

use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use dra_model::{Quantity, Time};

use super::path::{Path, PathError};
use super::table::Column;

/// Sort key given by the user: the name of a column or a path into the items of the JSON output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SortBy {
    text: String,
    /// Absent where the text can only be the name of a column, which may have two words.
    path: Option<Path>,
}

/// The reason why items cannot be sorted as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SortError {
    /// The report is not a list.
    #[error("a `{0}` has no items to sort")]
    NotSortable(&'static str),
    /// Neither a column nor a field of any item.
    #[error("cannot sort by `{text}`: no such column or field")]
    NoSuchField {
        text: String,
        columns: Vec<&'static str>,
    },
}

impl FromStr for SortBy {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        let path = match text.parse() {
            Ok(path) => Some(path),
            Err(_) if text.split(' ').all(is_word) => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            text: text.to_owned(),
            path,
        })
    }
}

impl SortBy {
    /// Sorts `items`, which are shown in `columns`.
    pub(crate) fn sort<T: Serialize, R, C>(
        &self,
        items: &mut Vec<T>,
        columns: &[Column<R, C>],
    ) -> Result<(), SortError> {
        let column = columns
            .iter()
            .find(|column| column.header.eq_ignore_ascii_case(&self.text));
        let path_of = |column: &Column<R, C>| column.path?.parse::<Path>().ok();
        let of_column = column.and_then(path_of);
        let path = of_column.as_ref().or(self.path.as_ref());
        let keys: Vec<Option<Value>> = items
            .iter()
            .map(|item| {
                serde_json::to_value(item)
                    .ok()
                    .and_then(|item| path?.find(&item).cloned())
            })
            .collect();
        // A column that is empty today is no mistake of the user; a field that no row has is.
        let known = column.is_some() || columns.iter().any(|column| path_of(column).as_ref() == path);
        if !known && !items.is_empty() && keys.iter().all(Option::is_none) {
            let columns = columns.iter().map(|column| column.header).collect();
            return Err(SortError::NoSuchField {
                text: self.text.clone(),
                columns,
            });
        }
        let mut left: Vec<Option<T>> = items.drain(..).map(Some).collect();
        items.extend(order(keys).filter_map(|place| left[place].take()));
        Ok(())
    }
}

/// The places of `keys` in their order; of equal ones the first comes first, and what has none comes last. Places are sorted instead of
/// items, so that the program has one sort for all kinds of them.
fn order(keys: Vec<Option<Value>>) -> impl Iterator<Item = usize> {
    let reading = Reading::of(&keys);
    let keys = keys.into_iter().map(|key| key.map(|key| reading.key(key)));
    let mut keyed: Vec<(Option<Key>, usize)> = keys.zip(0..).collect();
    keyed.sort_by(|(a, _), (b, _)| (a.is_none(), a).cmp(&(b.is_none(), b)));
    keyed.into_iter().map(|(_, place)| place)
}

/// Type of the texts in a column. It applies to all of them: comparing some as numbers and some as text would not be an
/// order.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Quantities,
    Times,
    Texts,
}

impl Reading {
    fn of(keys: &[Option<Value>]) -> Self {
        let all = |is: fn(&str) -> bool| keys.iter().flatten().filter_map(Value::as_str).all(is);
        if all(|text| quantity(text).is_some()) {
            Self::Quantities
        } else if all(|text| time(text).is_some()) {
            Self::Times
        } else {
            Self::Texts
        }
    }

    fn key(self, value: Value) -> Key {
        match value {
            Value::Bool(value) => Key::Bool(value),
            // A quantity has each of its digits.
            Value::Number(number) => {
                quantity(&number.to_string()).map_or_else(|| Key::Text(number.to_string()), Key::Number)
            }
            Value::String(text) => match self {
                Self::Quantities => quantity(&text).map_or(Key::Text(text), Key::Quantity),
                Self::Times => time(&text).map_or(Key::Text(text), Key::Time),
                Self::Texts => Key::Text(text),
            },
            // Lists and objects have no order of their own; their text at least is the same each time.
            other => Key::Text(other.to_string()),
        }
    }
}

/// Values of different types are in the order of these.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Bool(bool),
    Number(Quantity),
    Quantity(Quantity),
    Time(Time),
    Text(String),
}

fn time(text: &str) -> Option<Time> {
    // The shortest one is `2026-01-01T00:00:00Z`; the check spares the parser ordinary names.
    if text.len() < 20 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn quantity(text: &str) -> Option<Quantity> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const COLUMNS: &[Column<()>] = &[
        Column::new("NAME", ".name", |(), _| {}),
        Column::new("AGE", ".created", |(), _| {}),
        Column::new("WAY OUT", ".wayOut", |(), _| {}),
    ];

    /// The positions of `values`, as the field `x` of items, after sorting.
    fn order(values: Vec<Value>) -> Vec<usize> {
        let by: SortBy = ".x".parse().expect("a path");
        let mut items: Vec<Value> = values
            .into_iter()
            .enumerate()
            .map(|(at, x)| json!({"x": x, "at": at}))
            .collect();
        by.sort(&mut items, COLUMNS).expect("a field");
        let position = |item: &Value| {
            item["at"]
                .as_u64()
                .and_then(|at| usize::try_from(at).ok())
                .expect("a position")
        };
        items.iter().map(position).collect()
    }

    #[test]
    fn values_are_compared_as_what_they_are() {
        for (what, values, expected) in [
            ("numbers", json!([10, 9, -1, 2.5]), vec![2, 3, 1, 0]),
            (
                "big numbers",
                json!([9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64]),
                vec![1, 0],
            ),
            (
                "quantities",
                json!(["1Gi", "500Mi", "2", "100m", "1e3", "1G"]),
                vec![3, 2, 4, 1, 5, 0],
            ),
            ("numbers as text", json!(["10", "9"]), vec![1, 0]),
            (
                "times",
                json!([
                    "2026-01-02T00:00:00Z",
                    "2026-01-02T00:30:00+01:00",
                    "2025-01-01T00:00:00.5Z"
                ]),
                vec![2, 1, 0],
            ),
            ("text", json!(["b", "B", "a10", "a9"]), vec![1, 2, 3, 0]),
            ("text and quantities", json!(["b", "10", "9"]), vec![1, 2, 0]),
            ("truth", json!([true, false]), vec![1, 0]),
            ("missing", json!([null, "b", null, "a"]), vec![3, 1, 0, 2]),
            ("types", json!(["a", 1, true, [1]]), vec![2, 1, 3, 0]),
            ("equal ones stay", json!(["a", "a", "a"]), vec![0, 1, 2]),
        ] {
            let Value::Array(values) = values else {
                panic!("{what}: a list")
            };
            assert_eq!(order(values), expected, "{what}");
        }
    }

    #[test]
    fn a_column_sorts_by_its_field_even_when_nothing_is_in_it() {
        let mut items = vec![json!({"name": "b"}), json!({"name": "a"})];
        for (text, first) in [
            ("NAME", "a"),
            ("name", "a"),
            (".metadata.name", "a"),
            ("AGE", "b"),
            (".created", "b"),
        ] {
            items.sort_by_key(|item| std::cmp::Reverse(item["name"].to_string()));
            text.parse::<SortBy>()
                .expect(text)
                .sort(&mut items, COLUMNS)
                .expect(text);
            assert_eq!(items[0]["name"], first, "{text}");
        }
    }

    #[test]
    fn a_column_may_have_two_words() {
        let mut items = vec![json!({"wayOut": "b"}), json!({}), json!({"wayOut": "a"})];
        let by: SortBy = "way out".parse().expect("the name of a column");
        by.sort(&mut items, COLUMNS).expect("a column");
        assert_eq!(items[0]["wayOut"], "a");
        let other: SortBy = "no way".parse().expect("words as columns have");
        assert!(other.sort(&mut items, COLUMNS).is_err());
        for text in ["", " ", "a  b", "a b[", ".a b"] {
            text.parse::<SortBy>().expect_err(text);
        }
    }

    #[test]
    fn a_field_that_no_item_has_is_an_error_unless_there_is_no_item() {
        let by: SortBy = ".nope".parse().expect("a path");
        let error = by
            .sort(&mut vec![json!({"name": "b"})], COLUMNS)
            .expect_err("no such field");
        assert_eq!(
            error,
            SortError::NoSuchField {
                text: ".nope".to_owned(),
                columns: vec!["NAME", "AGE", "WAY OUT"]
            }
        );
        assert_eq!(by.sort(&mut Vec::<Value>::new(), COLUMNS), Ok(()));
    }

    proptest! {
        #[test]
        fn any_values_have_an_order(values in prop::collection::vec("[0-9a-zA-Z.+-]{0,6}|[0-9]{1,3}[KMG]i", 0..12)) {
            let values: Vec<Value> = values.into_iter().map(Value::from).collect();
            let mut positions = order(values.clone());
            let sorted: Vec<Value> = positions.iter().map(|at| values[*at].clone()).collect();
            prop_assert_eq!(order(sorted), (0..values.len()).collect::<Vec<_>>());
            positions.sort_unstable();
            prop_assert_eq!(positions, (0..values.len()).collect::<Vec<_>>());
        }
    }
}
