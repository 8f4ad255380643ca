//! Lists.

use std::ops::Deref;
use std::sync::Arc;

use super::Value;

/// A list, wherever its elements are.
#[derive(Debug, Clone)]
pub(crate) enum List<'a> {
    Items(Arc<Elements<'a>>),
    /// Made by `+`: a view of two lists, which copies nothing. Its equality reports errors of elements, which that of other
    /// lists takes for equal.
    Concat(Arc<Concat<'a>>),
    /// An attribute of the device.
    Device(&'a Elements<'a>),
    /// A list that a comprehension is appending to, by its number in the evaluation.
    Mutable(usize),
    /// The same behind another list, as long as it was when it was put there: a part of [`Self::Concat`].
    Seen {
        number: u32,
        len: u32,
    },
}

/// Elements that lie beside each other, with the depth of the deepest.
#[derive(Debug)]
pub(crate) struct Elements<'a> {
    items: Vec<Value<'a>>,
    nesting: u32,
}

impl<'a> From<Vec<Value<'a>>> for Elements<'a> {
    fn from(items: Vec<Value<'a>>) -> Self {
        let nesting = items.iter().map(Value::nesting).max().unwrap_or(0);
        Self { items, nesting }
    }
}

impl<'a> Deref for Elements<'a> {
    type Target = [Value<'a>];

    fn deref(&self) -> &[Value<'a>] {
        &self.items
    }
}

/// Two lists behind each other, neither of them empty.
///
/// Lists made by many `+` are balanced trees: however they came about, an element is found in few steps, and letting go of one
/// takes little stack. Which lists were joined first does not show.
#[derive(Debug)]
pub(crate) struct Concat<'a> {
    left: List<'a>,
    right: List<'a>,
    /// At most twice what Go can count, as each side is at most that.
    len: usize,
    height: u8,
    nesting: u32,
}

impl<'a> Concat<'a> {
    fn of(left: List<'a>, right: List<'a>) -> List<'a> {
        List::Concat(Arc::new(Self {
            len: left.len().saturating_add(right.len()),
            height: 1 + left.height().max(right.height()),
            nesting: left.nesting().max(right.nesting()),
            left,
            right,
        }))
    }

    /// Both lists in their order.
    pub(crate) fn parts(&self) -> [&List<'a>; 2] {
        [&self.left, &self.right]
    }

    /// Joins trees of any height into one whose sides differ by one at most, as AVL trees are joined.
    fn join(left: &List<'a>, right: &List<'a>) -> List<'a> {
        match (left, right) {
            (List::Concat(tall), _) if tall.height > right.height() + 1 => {
                Self::balance(&tall.left, &Self::join(&tall.right, right))
            }
            (_, List::Concat(tall)) if tall.height > left.height() + 1 => {
                Self::balance(&Self::join(left, &tall.left), &tall.right)
            }
            _ => Self::of(left.clone(), right.clone()),
        }
    }

    /// Joins trees whose heights differ by two at most.
    fn balance(left: &List<'a>, right: &List<'a>) -> List<'a> {
        match (left, right) {
            (List::Concat(tall), _) if tall.height > right.height() + 1 => match &tall.right {
                List::Concat(inner) if inner.height > tall.left.height() => Self::of(
                    Self::of(tall.left.clone(), inner.left.clone()),
                    Self::of(inner.right.clone(), right.clone()),
                ),
                inner => Self::of(tall.left.clone(), Self::of(inner.clone(), right.clone())),
            },
            (_, List::Concat(tall)) if tall.height > left.height() + 1 => match &tall.left {
                List::Concat(inner) if inner.height > tall.right.height() => Self::of(
                    Self::of(left.clone(), inner.left.clone()),
                    Self::of(inner.right.clone(), tall.right.clone()),
                ),
                inner => Self::of(Self::of(left.clone(), inner.clone()), tall.right.clone()),
            },
            _ => Self::of(left.clone(), right.clone()),
        }
    }
}

impl<'a> List<'a> {
    pub(crate) fn items(items: Vec<Value<'a>>) -> Self {
        Self::Items(Arc::new(items.into()))
    }

    /// The view of this list with `other` behind it, where both are complete and have elements.
    pub(crate) fn followed_by(&self, other: &Self) -> Self {
        Concat::join(self, other)
    }

    /// The same list with an address of its own, which it keeps wherever it goes.
    pub(crate) fn placed(self) -> Self {
        match self {
            Self::Device(_) => Self::items((0..self.len()).filter_map(|index| self.get(index)).collect()),
            other => other,
        }
    }

    /// The name of its type in Go.
    pub(super) fn go_type(&self) -> &'static str {
        match self {
            Self::Concat(_) => "*types.concatList",
            Self::Mutable(_) | Self::Seen { .. } => "*types.mutableList",
            Self::Items(_) | Self::Device(_) => "*types.baseList",
        }
    }

    /// The number of elements of a list that is complete.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Concat(concat) => concat.len,
            Self::Device(items) => items.len(),
            Self::Mutable(_) => 0,
            Self::Seen { len, .. } => *len as usize,
        }
    }

    /// Returns whether Go can count the elements. It makes lists that it cannot, and then panics at whatever asks for their number.
    pub(crate) fn is_countable(&self) -> bool {
        i64::try_from(self.len()).is_ok()
    }

    /// Returns how deep the tree is in which the elements lie.
    fn height(&self) -> u8 {
        match self {
            Self::Concat(concat) => concat.height,
            _ => 0,
        }
    }

    /// Returns how many lists, maps and optionals an element is at most inside of, this list not counted.
    pub(crate) fn nesting(&self) -> u32 {
        match self {
            Self::Items(items) => items.nesting,
            Self::Concat(concat) => concat.nesting,
            Self::Device(_) | Self::Mutable(_) | Self::Seen { .. } => 0,
        }
    }

    /// The list that an element of this one lies in, and its index there.
    pub(crate) fn part(&self, mut index: usize) -> (&Self, usize) {
        let mut list = self;
        while let Self::Concat(concat) = list {
            let before = concat.left.len();
            if index < before {
                list = &concat.left;
            } else {
                index -= before;
                list = &concat.right;
            }
        }
        (list, index)
    }

    /// An element of a list that is complete.
    pub(crate) fn get(&self, index: usize) -> Option<Value<'a>> {
        let (list, index) = self.part(index);
        match list {
            Self::Items(items) => items.get(index).cloned(),
            Self::Device(items) => items.get(index).map(Value::borrow),
            Self::Concat(_) | Self::Mutable(_) | Self::Seen { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(from: i64, to: i64) -> List<'static> {
        List::items((from..to).map(Value::Int).collect())
    }

    fn all(list: &List<'_>) -> Vec<i64> {
        (0..list.len())
            .map(|index| match list.get(index) {
                Some(Value::Int(number)) => number,
                other => panic!("{index}: {other:?}"),
            })
            .collect()
    }

    #[test]
    fn joined_lists_keep_their_order_and_stay_shallow() {
        let mut appended = numbers(0, 1);
        let mut prepended = numbers(99_999, 100_000);
        for number in 1..100_000 {
            appended = appended.followed_by(&numbers(number, number + 1));
            prepended = numbers(99_999 - number, 100_000 - number).followed_by(&prepended);
        }
        for list in [&appended, &prepended, &prepended.followed_by(&appended)] {
            assert!(list.height() <= 25, "{}", list.height());
        }
        let expected: Vec<i64> = (0..100_000).collect();
        assert_eq!(all(&appended), expected);
        assert_eq!(all(&prepended), expected);
        let uneven = numbers(-2, 0)
            .followed_by(&appended)
            .followed_by(&numbers(100_000, 100_001));
        assert_eq!(all(&uneven), (-2..100_001).collect::<Vec<_>>());
    }

    #[test]
    fn a_doubled_list_costs_one_node_for_each_time() {
        let mut list = numbers(0, 1);
        for _ in 0..62 {
            list = list.followed_by(&list);
        }
        assert!(list.is_countable());
        assert!(matches!(list.get((1 << 62) - 1), Some(Value::Int(0))));
        assert!(list.get(1 << 62).is_none());
        assert!(!list.followed_by(&list).is_countable());
    }
}
