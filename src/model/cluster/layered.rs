//! An ordered map that forks at the cost of its changes.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::Arc;

/// An ordered map made of a shared base and an overlay of changed and deleted keys.
///
/// A clone shares the base, so forking costs as much as the overlay is large. As long as nobody else shares the base, changes go
/// into it and nothing is stacked: a long-lived map that forks now and then folds its overlay back at the next change.
#[derive(Debug)]
pub(super) struct Layered<K, V> {
    base: Arc<BTreeMap<K, V>>,
    overlay: BTreeMap<K, Option<V>>,
    len: usize,
}

impl<K, V> Default for Layered<K, V> {
    fn default() -> Self {
        Self {
            base: Arc::default(),
            overlay: BTreeMap::new(),
            len: 0,
        }
    }
}

impl<K: Ord + Clone, V: Clone> Clone for Layered<K, V> {
    fn clone(&self) -> Self {
        Self {
            base: Arc::clone(&self.base),
            overlay: self.overlay.clone(),
            len: self.len,
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Layered<K, V> {
    /// Of equal keys the last one stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let base: BTreeMap<K, V> = pairs.into_iter().collect();
        Self {
            len: base.len(),
            base: Arc::new(base),
            overlay: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone, V: Clone> Layered<K, V> {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.overlay.get(key) {
            Some(changed) => changed.as_ref(),
            None => self.base.get(key),
        }
    }

    /// Sets `key` and returns what it replaced.
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = match self.own_base() {
            Some(base) => base.insert(key, value),
            None => match self.overlay.insert(key.clone(), Some(value)) {
                Some(changed) => changed,
                None => self.base.get(&key).cloned(),
            },
        };
        self.len += usize::from(before.is_none());
        before
    }

    /// Removes `key` and returns its value.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let before = match self.own_base() {
            Some(base) => base.remove(key),
            None => match self.overlay.get(key) {
                Some(None) => None,
                Some(Some(_)) => self.overlay.insert(key.clone(), None).flatten(),
                None => {
                    let known = self.base.get(key).cloned();
                    if known.is_some() {
                        self.overlay.insert(key.clone(), None);
                    }
                    known
                }
            },
        };
        self.len -= usize::from(before.is_some());
        before
    }

    /// The base, with the overlay folded in, if nobody shares it.
    fn own_base(&mut self) -> Option<&mut BTreeMap<K, V>> {
        let base = Arc::get_mut(&mut self.base)?;
        for (key, changed) in std::mem::take(&mut self.overlay) {
            match changed {
                Some(value) => base.insert(key, value),
                None => base.remove(&key),
            };
        }
        Some(base)
    }

    /// Entries in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        Merge {
            base: self.base.iter().peekable(),
            overlay: self.overlay.iter().peekable(),
        }
    }

    /// Entries from `first` on, in their order, as long as their keys belong to the stretch that is meant.
    ///
    /// The end is looked for in base and overlay apart: behind it may lie any number of entries that the overlay deletes, which a walk
    /// of both would have to pass before it finds out that the stretch is over.
    pub(super) fn stretch<'a, F>(
        &'a self,
        first: &K,
        belongs: F,
    ) -> impl Iterator<Item = (&'a K, &'a V)> + use<'a, K, V, F>
    where
        F: Fn(&K) -> bool + Clone,
    {
        let is_end = belongs.clone();
        Merge {
            base: self
                .base
                .range(first..)
                .take_while(move |(key, _)| belongs(key))
                .peekable(),
            overlay: self
                .overlay
                .range(first..)
                .take_while(move |(key, _)| is_end(key))
                .peekable(),
        }
    }
}

/// Walks base and overlay side by side; of equal keys the overlay's entry counts.
struct Merge<'a, K, V, B, O>
where
    K: 'a,
    V: 'a,
    B: Iterator<Item = (&'a K, &'a V)>,
    O: Iterator<Item = (&'a K, &'a Option<V>)>,
{
    base: Peekable<B>,
    overlay: Peekable<O>,
}

impl<'a, K, V, B, O> Iterator for Merge<'a, K, V, B, O>
where
    K: Ord,
    B: Iterator<Item = (&'a K, &'a V)>,
    O: Iterator<Item = (&'a K, &'a Option<V>)>,
{
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((changed, _)) = self.overlay.peek() else {
                return self.base.next();
            };
            match self.base.peek() {
                Some((known, _)) if known < changed => return self.base.next(),
                Some((known, _)) if known == changed => {
                    self.base.next();
                }
                _ => {}
            }
            if let Some((key, Some(value))) = self.overlay.next() {
                return Some((key, value));
            }
        }
    }
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
    fn changes_go_into_an_unshared_base() {
        let mut map: Layered<u8, u8> = [(1, 1), (2, 2)].into_iter().collect();
        let fork = map.clone();
        map.insert(3, 3);
        assert_eq!(map.overlay.len(), 1);
        drop(fork);
        map.remove(&1);
        assert_eq!((map.overlay.len(), map.base.len()), (0, 2));
    }
}
