//! A map that is cheap to clone: what was there at first is shared, what changed since is not.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;

/// A shared map beneath a map of changed entries.
#[derive(Debug)]
pub(crate) struct Overlay<K, V> {
    base: Arc<HashMap<K, V, RandomState>>,
    changed: HashMap<K, V, RandomState>,
}

impl<K, V> Default for Overlay<K, V> {
    fn default() -> Self {
        Self {
            base: Arc::default(),
            changed: HashMap::default(),
        }
    }
}

impl<K: Clone, V: Clone> Clone for Overlay<K, V> {
    fn clone(&self) -> Self {
        Self {
            base: Arc::clone(&self.base),
            changed: self.changed.clone(),
        }
    }
}

impl<K: Eq + Hash, V> Overlay<K, V> {
    pub(crate) fn new(base: HashMap<K, V, RandomState>) -> Self {
        Self {
            base: Arc::new(base),
            changed: HashMap::default(),
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        if !self.changed.is_empty()
            && let Some(changed) = self.changed.get(key)
        {
            return Some(changed);
        }
        self.base.get(key)
    }

    /// Sets an entry, in place where no other clone shares the map.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match Arc::get_mut(&mut self.base) {
            Some(base) => {
                base.extend(self.changed.drain());
                base.insert(key, value);
            }
            None => {
                self.changed.insert(key, value);
            }
        }
    }
}
