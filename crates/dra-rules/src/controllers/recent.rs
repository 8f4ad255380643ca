//! The last few UIDs of something.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use dra_model::Str;

/// Remembers the UIDs that were added or asked for last, up to a limit.
///
/// Mirrors `uid_cache.go`, `uidCache`, v1.37.2, an LRU cache: asking for a UID keeps it.
#[derive(Clone, Debug)]
pub struct RecentUids {
    limit: usize,
    used: HashMap<Str, u64, RandomState>,
    /// Uses in their order. One that was followed by another of the same UID no longer counts.
    uses: VecDeque<(u64, Str)>,
    clock: u64,
}

impl Default for RecentUids {
    /// With the limit of upstream.
    fn default() -> Self {
        Self {
            limit: 500,
            used: HashMap::default(),
            uses: VecDeque::new(),
            clock: 0,
        }
    }
}

impl RecentUids {
    /// Remembers `uid`, and forgets the one that was not used for longest if that makes too many.
    pub fn add(&mut self, uid: &Str) {
        self.clock += 1;
        self.used.insert(uid.clone(), self.clock);
        self.uses.push_back((self.clock, uid.clone()));
        while let Some((use_, oldest)) = self.uses.front() {
            let counts = self.used.get(oldest) == Some(use_);
            if counts && self.used.len() <= self.limit {
                break;
            }
            if counts {
                self.used.remove(oldest);
            }
            self.uses.pop_front();
        }
        if self.uses.len() > 4 * self.limit {
            let used = &self.used;
            self.uses.retain(|(use_, uid)| used.get(uid) == Some(use_));
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
