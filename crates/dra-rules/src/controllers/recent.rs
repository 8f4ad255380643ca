//! The last few UIDs of something.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use dra_model::Str;

/// Remembers the UIDs that were added or asked for last, up to a limit.
///
/// Mirrors `uid_cache.go`, `uidCache`, v1.37.2, an LRU cache: asking for a UID keeps it.
#[derive(Clone, Debug)]
pub struct RecentUids {
    limit: usize,
    used: HashMap<Str, u64, RandomState>,
    /// The last use of each, in their order.
    uses: BTreeMap<u64, Str>,
    clock: u64,
}

impl Default for RecentUids {
    /// With the limit of upstream.
    fn default() -> Self {
        Self {
            limit: 500,
            used: HashMap::default(),
            uses: BTreeMap::new(),
            clock: 0,
        }
    }
}

impl RecentUids {
    /// Remembers `uid`, and forgets the one that was not used for longest if that makes too many.
    pub fn add(&mut self, uid: &Str) {
        self.clock += 1;
        if let Some(before) = self.used.insert(uid.clone(), self.clock) {
            self.uses.remove(&before);
        }
        self.uses.insert(self.clock, uid.clone());
        if self.uses.len() > self.limit
            && let Some((_, oldest)) = self.uses.pop_first()
        {
            self.used.remove(&oldest);
        }
    }

    /// Returns whether `uid` is remembered.
    pub fn has(&mut self, uid: &Str) -> bool {
        let known = self.used.contains_key(uid);
        if known {
            self.add(uid);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays() {
        let mut recent = RecentUids {
            limit: 2,
            ..RecentUids::default()
        };
        let uid = |text: &str| Str::from(text);
        recent.add(&uid("a"));
        recent.add(&uid("b"));
        recent.add(&uid("b"));
        assert!(recent.has(&uid("a")));
        recent.add(&uid("c"));
        assert!(recent.has(&uid("a")) && recent.has(&uid("c")));
        assert!(!recent.has(&uid("b")));
    }
}
