//! An ordered map that forks at the cost of its changes.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, Hash};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use itertools::Itertools;

/// An unshared map folds so many changes at least into its base at a time.
const FEWEST_FOLDED: usize = 256;
/// One change for so many entries is worth folding.
const ENTRIES_PER_CHANGE: usize = 8;
/// After one question for so many entries it pays to know the place of each.
const ENTRIES_PER_QUESTION: usize = 16;

/// An ordered map made of a shared base and what has changed since.
///
/// A clone shares the base, so forking costs as much as there are changes. As long as no other cluster shares the base, changes are folded
/// into it once there are many: a long-lived map that forks now and then has few.
#[derive(Clone, Debug)]
pub(super) struct Layered<K, V> {
    base: Arc<Base<K, V>>,
    /// Separate, because a cluster has many maps that rarely change.
    changes: Box<Changes<K, V>>,
    len: usize,
}

/// Changes of so many entries that follow one another are kept together: mostly they are changed, and asked for, one after the other.
const PER_PAGE: usize = 32;

/// Changes on top of the base.
#[derive(Clone, Debug)]
struct Changes<K, V> {
    changed: Changed<V>,
    /// Entries whose keys are not in the base.
    added: BTreeMap<K, V>,
}

/// Changes of entries of the base, by place; nothing where the entry is deleted.
#[derive(Clone, Debug)]
struct Changed<V> {
    pages: HashMap<usize, Page<V>, RandomState>,
    len: usize,
}

/// Nothing where the entry is as in the base.
type Page<V> = Box<[Option<Option<V>>; PER_PAGE]>;

impl<V> Default for Changed<V> {
    fn default() -> Self {
        Self {
            pages: HashMap::default(),
            len: 0,
        }
    }
}

#[expect(
    clippy::option_option,
    reason = "the outer one says whether the entry is changed, the inner one whether it is there"
)]
impl<V> Changed<V> {
    fn get(&self, place: usize) -> Option<&Option<V>> {
        if self.len == 0 {
            return None;
        }
        self.pages.get(&(place / PER_PAGE))?[place % PER_PAGE].as_ref()
    }

    fn insert(&mut self, place: usize, value: Option<V>) -> Option<Option<V>> {
        let page = self.pages.entry(place / PER_PAGE);
        let page = page.or_insert_with(|| Box::new([const { None }; PER_PAGE]));
        let before = page[place % PER_PAGE].replace(value);
        self.len += usize::from(before.is_none());
        before
    }

    fn remove(&mut self, place: usize) -> Option<Option<V>> {
        if self.len == 0 {
            return None;
        }
        let before = self.pages.get_mut(&(place / PER_PAGE))?[place % PER_PAGE].take();
        self.len -= usize::from(before.is_some());
        before
    }

    /// In no order.
    fn places(&self) -> impl Iterator<Item = usize> {
        self.pages.iter().flat_map(|(number, page)| {
            let changed = page.iter().enumerate().filter(|(_, change)| change.is_some());
            changed.map(move |(place, _)| number * PER_PAGE + place)
        })
    }
}

/// Entries in the order of their keys.
///
/// Maps of a large cluster are asked some hundred thousand times, each time at another place: looking through a tree, or halving,
/// would wait for memory at every step. So the places of keys are kept by their hash, once a map is asked often.
#[derive(Debug)]
struct Base<K, V> {
    entries: Vec<(K, V)>,
    places: Places,
    /// Start of keys that are pairs with the same first half.
    firsts: Places,
}

/// Number of maps whose last lookup is remembered.
const HINTS: usize = 32;

thread_local! {
    /// Place of the last lookup, by map: the next one is usually the same or its successor. A place that another
    /// map was asked for is only a wrong guess.
    static FOUND: [Cell<usize>; HINTS] = const { [const { Cell::new(0) }; HINTS] };
}

/// Places of keys, or of parts of keys, by hash, once it pays to have them.
#[derive(Debug, Default)]
struct Places {
    /// Questions that were answered by halving.
    asked: AtomicUsize,
    table: OnceLock<(RandomState, HashTable<u32>)>,
}

impl<K, V> Base<K, V> {
    fn of(entries: Vec<(K, V)>) -> Self {
        Self {
            entries,
            places: Places::default(),
            firsts: Places::default(),
        }
    }
}

impl<K: Ord + Hash, V> Base<K, V> {
    fn place(&self, key: &K) -> Option<usize> {
        self.places.find(&self.entries, key, |key| key)
    }

    /// The place of the first entry that is not before `key`.
    fn from(&self, key: &K) -> usize {
        self.entries.partition_point(|(known, _)| known < key)
    }
}

impl<A: Ord + Hash, B, V> Base<(A, B), V> {
    /// The place of the first entry whose key begins with `half`; that of the end where there is none.
    fn first_of(&self, half: &A) -> usize {
        let found = self.firsts.find(&self.entries, half, |(half, _)| half);
        found.unwrap_or(self.entries.len())
    }
}

impl Places {
    /// Index of the first of the ordered entries whose key has `wanted` for its `part`; the entries are sorted by it.
    fn find<K, V, P: Ord + Hash>(
        &self,
        entries: &[(K, V)],
        wanted: &P,
        part: impl Fn(&K) -> &P,
    ) -> Option<usize> {
        let is_it = |place: usize| entries.get(place).is_some_and(|(key, _)| part(key) == wanted);
        let hint = (std::ptr::from_ref(self).addr() / size_of::<Self>()) % HINTS;
        let last = FOUND.with(|found| found[hint].get());
        // A part of a key is that of the one before too, where it is not the first that has it.
        let is_first = |place: usize| {
            let before = place.checked_sub(1).and_then(|before| entries.get(before));
            before.is_none_or(|(key, _)| part(key) != wanted)
        };
        let near = [last, last.wrapping_add(1)];
        if let Some(place) = near.into_iter().find(|place| is_it(*place) && is_first(*place)) {
            FOUND.with(|found| found[hint].set(place));
            return Some(place);
        }
        if self.table.get().is_none()
            && self.asked.fetch_add(1, Ordering::Relaxed) < entries.len() / ENTRIES_PER_QUESTION
        {
            let place = entries.partition_point(|(known, _)| part(known) < wanted);
            return is_it(place).then_some(place);
        }
        let (hasher, table) = self.table.get_or_init(|| {
            let hasher = RandomState::default();
            let hash = |place: &u32| hasher.hash_one(part(&entries[*place as usize].0));
            let mut table = HashTable::with_capacity(entries.len());
            let mut before = None;
            for ((key, _), place) in entries.iter().zip(0..) {
                let of_this = part(key);
                if before != Some(of_this) {
                    table.insert_unique(hasher.hash_one(of_this), place, hash);
                }
                before = Some(of_this);
            }
            (hasher, table)
        });
        let place = *table.find(hasher.hash_one(wanted), |place| is_it(*place as usize))? as usize;
        FOUND.with(|found| found[hint].set(place));
        Some(place)
    }
}

/// Reports the values of both, in the order of their keys: together where both have the key.
fn join<'a, K: Ord + 'a, V: 'a>(
    one: impl Iterator<Item = (&'a K, &'a V)>,
    other: impl Iterator<Item = (&'a K, &'a V)>,
    mut report: impl FnMut(Option<&'a V>, Option<&'a V>),
) {
    for both in one.merge_join_by(other, |(a, _), (b, _)| a.cmp(b)) {
        let (one, other) = both.left_and_right();
        report(one.map(|(_, value)| value), other.map(|(_, value)| value));
    }
}

impl<K, V> Default for Layered<K, V> {
    fn default() -> Self {
        Self {
            base: Arc::new(Base::of(Vec::new())),
            changes: Box::new(Changes {
                changed: Changed::default(),
                added: BTreeMap::new(),
            }),
            len: 0,
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Layered<K, V> {
    /// Of equal keys the last one stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut entries: Vec<(K, V)> = pairs.into_iter().collect();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        entries.shrink_to_fit();
        Self {
            len: entries.len(),
            base: Arc::new(Base::of(entries)),
            ..Self::default()
        }
    }
}

impl<K: Ord + Hash, V: Clone> Layered<K, V> {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        match self.base.place(key) {
            Some(place) => self.at(place),
            None => self.changes.added.get(key),
        }
    }

    /// Sets `key` and returns what it replaced.
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = match self.base.place(&key) {
            Some(place) => self.change(place, Some(value)),
            None => self.changes.added.insert(key, value),
        };
        self.len += usize::from(before.is_none());
        self.fold();
        before
    }

    /// Removes `key` and returns its value.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let before = match self.base.place(key) {
            Some(place) => self.change(place, None),
            None => self.changes.added.remove(key),
        };
        self.len -= usize::from(before.is_some());
        self.fold();
        before
    }

    fn change(&mut self, place: usize, value: Option<V>) -> Option<V> {
        let value = match (value, Arc::get_mut(&mut self.base)) {
            // No other cluster shares the base: what is written there need not be folded.
            (Some(value), Some(base)) => {
                let in_base = std::mem::replace(&mut base.entries[place].1, value);
                return self.changes.changed.remove(place).unwrap_or(Some(in_base));
            }
            (value, _) => value,
        };
        match self.changes.changed.insert(place, value) {
            Some(before) => before,
            None => Some(self.base.entries[place].1.clone()),
        }
    }

    /// Makes many changes part of the base, if no other cluster shares it.
    fn fold(&mut self) {
        let changes = self.changes.changed.len + self.changes.added.len();
        if changes < FEWEST_FOLDED || changes < self.base.entries.len() / ENTRIES_PER_CHANGE {
            return;
        }
        let Some(base) = Arc::get_mut(&mut self.base) else {
            return;
        };
        let mut changed = std::mem::take(&mut self.changes.changed);
        let mut added = std::mem::take(&mut self.changes.added).into_iter().peekable();
        let mut entries = Vec::with_capacity(self.len);
        for (place, (key, value)) in std::mem::take(&mut base.entries).into_iter().enumerate() {
            while let Some(earlier) = added.next_if(|(other, _)| *other < key) {
                entries.push(earlier);
            }
            if let Some(value) = changed.remove(place).unwrap_or(Some(value)) {
                entries.push((key, value));
            }
        }
        entries.extend(added);
        *base = Base::of(entries);
    }

    /// Entries in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        merged(self.of_base(0, |_| true), self.changes.added.iter())
    }

    /// Reports what differs between two maps: the value of each, where it has one. Of forks of one map that costs as much as their
    /// changes.
    pub(super) fn differences<'a>(
        &'a self,
        other: &'a Self,
        are_same: impl Fn(&V, &V) -> bool,
        mut report: impl FnMut(Option<&'a V>, Option<&'a V>),
    ) {
        let mut compare = |one: Option<&'a V>, other: Option<&'a V>| {
            let are_same = match (one, other) {
                (Some(one), Some(other)) => are_same(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            if !are_same {
                report(one, other);
            }
        };
        if !Arc::ptr_eq(&self.base, &other.base) {
            return join(self.iter(), other.iter(), compare);
        }
        for place in self.changes.changed.places() {
            compare(self.at(place), other.at(place));
        }
        let only_there = |place: &usize| self.changes.changed.get(*place).is_none();
        for place in other.changes.changed.places().filter(only_there) {
            compare(self.at(place), other.at(place));
        }
        join(self.changes.added.iter(), other.changes.added.iter(), compare);
    }

    /// The value at a place of the base.
    fn at(&self, place: usize) -> Option<&V> {
        match self.changes.changed.get(place) {
            Some(changed) => changed.as_ref(),
            None => Some(&self.base.entries[place].1),
        }
    }

    /// Entries from `first` on, in their order, as long as their keys belong to the stretch that is meant.
    ///
    /// The end is looked for in the base and in what was added apart: behind it may lie any number of deleted entries, which a walk of
    /// both would have to pass before it finds out that the stretch is over.
    pub(super) fn stretch<'a, F>(
        &'a self,
        first: &K,
        belongs: F,
    ) -> impl Iterator<Item = (&'a K, &'a V)> + use<'a, K, V, F>
    where
        F: Fn(&K) -> bool + Clone,
    {
        let is_end = belongs.clone();
        let added = self.changes.added.range(first..);
        merged(
            self.of_base(self.base.from(first), belongs),
            added.take_while(move |(key, _)| is_end(key)),
        )
    }

    /// Entries of the base from the place `first` on, as they are now, as long as their keys belong to it.
    fn of_base<F: Fn(&K) -> bool>(
        &self,
        first: usize,
        belongs: F,
    ) -> impl Iterator<Item = (&K, &V)> + use<'_, K, V, F> {
        (first..)
            .zip(&self.base.entries[first..])
            .take_while(move |(_, (key, _))| belongs(key))
            .filter_map(|(place, (key, value))| match self.changes.changed.get(place) {
                Some(changed) => Some((key, changed.as_ref()?)),
                None => Some((key, value)),
            })
    }
}

impl<A: Ord + Hash + Clone, B: Ord + Hash> Layered<(A, B), ()> {
    /// Second halves of the pairs whose first half is that of `first`, which must be the least such pair.
    pub(super) fn members(&self, first: (A, B)) -> impl Iterator<Item = &B> {
        let added = self.changes.added.range(&first..);
        let (half, same) = (first.0.clone(), first.0);
        let base = self.of_base(self.base.first_of(&half), move |(a, _)| *a == half);
        let added = added.take_while(move |((a, _), ())| *a == same);
        merged(base, added).map(|((_, b), ())| b)
    }
}

/// What is left of the base and what was added, in the order of their keys. No key is in both.
fn merged<'a, K: Ord + 'a, V: 'a>(
    base: impl Iterator<Item = (&'a K, &'a V)>,
    added: impl Iterator<Item = (&'a K, &'a V)>,
) -> impl Iterator<Item = (&'a K, &'a V)> {
    base.merge_by(added, |(known, _), (added, _)| known < added)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is changed, before and after forks, a layered map reads like a plain one.
        #[test]
        fn reads_like_a_plain_map(
            base in prop::collection::btree_map(0u8..40, 0u8..9, 0..30),
            changes in prop::collection::vec((0u8..40, prop::option::of(0u8..9), any::<bool>()), 0..60),
            from in 0u8..40,
            to in 0u8..40,
        ) {
            let mut plain = base.clone();
            let mut layered: Layered<u8, u8> = base.into_iter().collect();
            let mut forks = Vec::new();
            for (key, value, fork) in changes {
                if fork {
                    forks.push((layered.clone(), plain.clone()));
                } else if forks.len() > 2 {
                    forks.clear();
                }
                let before = match value {
                    Some(value) => layered.insert(key, value),
                    None => layered.remove(&key),
                };
                let expected = match value {
                    Some(value) => plain.insert(key, value),
                    None => plain.remove(&key),
                };
                prop_assert_eq!(before, expected);
            }
            forks.push((layered, plain));
            for ((one, plain_one), (other, plain_other)) in forks.iter().zip(&forks[1..]) {
                let mut found = Vec::new();
                one.differences(other, |a, b| a == b, |a, b| found.push((a.copied(), b.copied())));
                found.sort_unstable();
                let keys = (0..40).map(|key| (plain_one.get(&key).copied(), plain_other.get(&key).copied()));
                let mut expected: Vec<_> = keys.filter(|(a, b)| a != b).collect();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
            for (layered, plain) in forks {
                prop_assert_eq!(layered.len(), plain.len());
                prop_assert!(layered.iter().eq(plain.iter()));
                let stretch = plain.range(from..).take_while(|(key, _)| **key < to);
                prop_assert!(layered.stretch(&from, |key| *key < to).eq(stretch));
                for key in 0..40 {
                    prop_assert_eq!(layered.get(&key), plain.get(&key));
                }
            }
        }
    }

    #[test]
    fn the_end_of_a_stretch_is_found_without_passing_what_is_deleted_behind_it() {
        let mut map: Layered<u32, ()> = (0..1_000).map(|key| (key, ())).collect();
        let _fork = map.clone();
        for key in 0..999 {
            map.remove(&key);
        }
        let asked = std::cell::Cell::new(0);
        let found = map.stretch(&10, |key| {
            asked.set(asked.get() + 1);
            *key <= 10
        });
        assert_eq!(found.count(), 0);
        assert!(asked.get() <= 4, "{}", asked.get());
    }

    #[test]
    fn many_changes_go_into_an_unshared_base() {
        let mut map: Layered<usize, usize> = (0..FEWEST_FOLDED).map(|key| (2 * key, 0)).collect();
        let mut plain: BTreeMap<usize, usize> = map.iter().map(|(key, value)| (*key, *value)).collect();
        let fork = map.clone();
        for key in 0..2 * FEWEST_FOLDED {
            change(&mut map, &mut plain, key);
        }
        assert!(changes(&map) >= FEWEST_FOLDED, "{}", changes(&map));
        assert_eq!(fork.len(), FEWEST_FOLDED);
        drop(fork);
        change(&mut map, &mut plain, 1);
        assert_eq!(changes(&map), 0);
        assert!(map.iter().eq(&plain));
        for key in 0..2 * FEWEST_FOLDED {
            change(&mut map, &mut plain, key);
            assert_eq!(map.get(&(key / 2)), plain.get(&(key / 2)));
        }
    }

    /// Every third key is deleted, the others change or are new.
    fn change(map: &mut Layered<usize, usize>, plain: &mut BTreeMap<usize, usize>, key: usize) {
        if key.is_multiple_of(3) {
            assert_eq!(map.remove(&key), plain.remove(&key));
        } else {
            assert_eq!(map.insert(key, key), plain.insert(key, key));
        }
    }

    fn changes(map: &Layered<usize, usize>) -> usize {
        map.changes.changed.len + map.changes.added.len()
    }
}
