//! Lists.

use std::sync::Arc;

use super::{Text, Value, Version};
use crate::cel::device::AttributeList;

/// A list, wherever its elements are.
#[derive(Debug, Clone)]
pub(crate) enum List<'a> {
    Items(Arc<Vec<Value<'a>>>),
    /// Made by `+`. Its equality reports errors of elements, which that of other lists takes for equal.
    Concat(Arc<Vec<Value<'a>>>),
    /// An attribute of the device.
    Device(&'a AttributeList),
    /// A list that a comprehension is appending to, by its number in the evaluation.
    Mutable(usize),
}

impl<'a> List<'a> {
    /// The same list with an address of its own, which it keeps wherever it goes.
    pub(crate) fn placed(self) -> Self {
        match self {
            Self::Device(_) => Self::Items(Arc::new(
                (0..self.len()).filter_map(|index| self.get(index)).collect(),
            )),
            other => other,
        }
    }

    /// The number of elements of a list that is complete.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Items(items) | Self::Concat(items) => items.len(),
            Self::Device(list) => list.len(),
            Self::Mutable(_) => 0,
        }
    }

    /// An element of a list that is complete.
    pub(crate) fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Items(items) | Self::Concat(items) => items.get(index).cloned(),
            Self::Device(list) => match list {
                AttributeList::Bools(items) => items.get(index).map(|item| Value::Bool(*item)),
                AttributeList::Ints(items) => items.get(index).map(|item| Value::Int(*item)),
                AttributeList::Strings(items) => items
                    .get(index)
                    .map(|item| Value::String(Text::Borrowed(item.as_str()))),
                AttributeList::Versions(items) => items
                    .get(index)
                    .map(|item| Value::Semver(Version::Borrowed(item))),
            },
            Self::Mutable(_) => None,
        }
    }
}
