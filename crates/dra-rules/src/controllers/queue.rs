//! Work with due times and retries, as data.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, Hash};
use std::time::Duration;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use dra_model::Time;

/// First delay of an item that failed; it doubles with each further failure.
const FIRST_RETRY: Duration = Duration::from_millis(5);
/// Longest delay of an item that fails.
const LONGEST_RETRY: Duration = Duration::from_secs(1000);
/// Over all items, so much time passes from retry to retry …
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// … after this many at the same time.
const RETRY_BURST: u32 = 100;

/// Events of an item in a queue, for latency metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueEvent<K> {
    /// It is to be worked on.
    Added(K),
    /// The item is being worked on.
    Begun(K),
    /// The work on it is done.
    Ended(K),
    /// A turn at a later instant was requested, usually a retry.
    Delayed,
}

/// A queue of work items. A queued item exists once, however often it was pushed, and an item in progress is not
/// returned again.
///
/// Mirrors client-go `util/workqueue`, the rate limited delaying queue with its default limits for controllers, v0.37.1. Items
/// without a delay come in the order in which they were pushed, delayed ones when they are due: no order of hashes is ever seen.
///
/// An item is looked for by its hash when it is added; from then on it is known by its place, as each look would wait for memory in a
/// long queue.
#[derive(Clone, Debug)]
pub struct Queue<K> {
    /// Items that wait, are worked on, or have failed. Nothing where a place is free.
    items: Vec<Option<Item<K>>>,
    free: Vec<u32>,
    hasher: RandomState,
    /// Places of items by their hash. Only looked up in, never walked.
    places: HashTable<u32>,
    /// Items ready to be worked on, first come, first served.
    ready: VecDeque<u32>,
    by_due: BTreeMap<(Time, u64), u32>,
    /// Index of the item returned last, which is usually the next one used.
    last: u32,
    /// Number of items in `ready`, or to be put there once the work on them is done.
    dirty: usize,
    pushed: u64,
    /// Time at which the bucket of retries is full again.
    retries_full: Option<Time>,
    /// Events since the last query, if requested.
    log: Option<Vec<QueueEvent<K>>>,
}

/// State of an item.
#[derive(Clone, Debug)]
struct Item<K> {
    key: K,
    hash: u64,
    /// In `ready`, or to be put there once the work on it is done.
    is_dirty: bool,
    /// Being worked on.
    is_processing: bool,
    /// Time at which it is due, if it is delayed, with a number that keeps the order of those due together.
    delayed: Option<(Time, u64)>,
    failures: u32,
}

impl<K> Item<K> {
    fn is_idle(&self) -> bool {
        !self.is_dirty && !self.is_processing && self.delayed.is_none() && self.failures == 0
    }
}

impl<K> Default for Queue<K> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
            hasher: RandomState::default(),
            places: HashTable::new(),
            ready: VecDeque::new(),
            by_due: BTreeMap::new(),
            last: 0,
            dirty: 0,
            pushed: 0,
            retries_full: None,
            log: None,
        }
    }
}

impl<K: Clone + Eq + Hash> Queue<K> {
    /// Returns how many items are to be worked on at `now`, or once more when the work on them is done.
    pub fn depth(&mut self, now: Time) -> usize {
        self.add_due(now);
        self.dirty
    }

    /// Remembers from here on what happens, until it is [taken](Self::take_log). What is there counts as just added.
    pub fn begin_log(&mut self) {
        let there = self.ready.iter().filter_map(|place| self.item(*place));
        self.log = Some(there.map(|item| QueueEvent::Added(item.key.clone())).collect());
    }

    /// Returns what has happened since this was asked last, in order; nothing unless that [is remembered](Self::begin_log).
    pub fn take_log(&mut self) -> Vec<QueueEvent<K>> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note(&mut self, event: impl FnOnce() -> QueueEvent<K>) {
        if let Some(log) = &mut self.log {
            log.push(event());
        }
    }

    fn item(&self, place: u32) -> Option<&Item<K>> {
        self.items.get(place as usize)?.as_ref()
    }

    fn item_mut(&mut self, place: u32) -> Option<&mut Item<K>> {
        self.items.get_mut(place as usize)?.as_mut()
    }

    /// The place of the item, if it is known.
    fn place(&self, key: &K) -> Option<u32> {
        if self.item(self.last).is_some_and(|item| item.key == *key) {
            return Some(self.last);
        }
        self.place_of(key, self.hasher.hash_one(key))
    }

    fn place_of(&self, key: &K, hash: u64) -> Option<u32> {
        let is_it = |place: &u32| self.item(*place).is_some_and(|item| item.key == *key);
        self.places.find(hash, is_it).copied()
    }

    /// The place of the item, which it gets here if it has none.
    fn place_for(&mut self, key: K) -> u32 {
        let hash = self.hasher.hash_one(&key);
        if let Some(known) = self.place_of(&key, hash) {
            return known;
        }
        let item = Some(Item {
            key,
            hash,
            is_dirty: false,
            is_processing: false,
            delayed: None,
            failures: 0,
        });
        let place = match self.free.pop() {
            Some(place) => {
                self.items[place as usize] = item;
                place
            }
            None => {
                self.items.push(item);
                (self.items.len() - 1) as u32
            }
        };
        let items = &self.items;
        let hash_of = |place: &u32| items[*place as usize].as_ref().map_or(0, |item| item.hash);
        self.places.insert_unique(hash, place, hash_of);
        place
    }

    /// Forgets the item at `place` if there is nothing to know of it.
    fn leave(&mut self, place: u32) {
        let Some(item) = self.item(place).filter(|item| item.is_idle()) else {
            return;
        };
        if let Ok(entry) = self.places.find_entry(item.hash, |other| *other == place) {
            entry.remove();
        }
        self.items[place as usize] = None;
        self.free.push(place);
    }

    /// Adds `item`, to be worked on as soon as possible.
    pub fn add(&mut self, item: K) {
        let place = self.place_for(item);
        self.add_at(place);
    }

    fn add_at(&mut self, place: u32) {
        let Some(item) = self.item_mut(place).filter(|item| !item.is_dirty) else {
            return;
        };
        item.is_dirty = true;
        let waits = !item.is_processing;
        self.dirty += 1;
        if waits {
            self.ready.push_back(place);
        }
        self.log_of(place, QueueEvent::Added);
    }

    fn log_of(&mut self, place: u32, event: fn(K) -> QueueEvent<K>) {
        if self.log.is_some()
            && let Some(key) = self.item(place).map(|item| item.key.clone())
        {
            self.note(|| event(key));
        }
    }

    /// Adds `item`, to be worked on at `due`; immediately if that is not after `now`. Of several instants the first one
    /// counts, but an item that is due immediately can be due again later.
    pub fn push(&mut self, item: K, due: Time, now: Time) {
        let place = self.place_for(item);
        self.push_at(place, due, now);
    }

    fn push_at(&mut self, place: u32, due: Time, now: Time) {
        self.note(|| QueueEvent::Delayed);
        if due <= now {
            self.add_at(place);
            return;
        }
        self.pushed += 1;
        let delayed = (due, self.pushed);
        let Some(item) = self.item_mut(place) else {
            return;
        };
        if item.delayed.is_some_and(|known| known.0 <= due) {
            return;
        }
        if let Some(known) = item.delayed.replace(delayed) {
            self.by_due.remove(&known);
        }
        self.by_due.insert(delayed, place);
    }

    /// Adds `item` again after a failure, later each time.
    pub fn retry(&mut self, item: K, now: Time) {
        let place = self.place_for(item);
        let reserved = self.reserve(now);
        let Some(item) = self.item_mut(place) else {
            return;
        };
        let own = FIRST_RETRY
            .saturating_mul(1_u32.checked_shl(item.failures).unwrap_or(u32::MAX))
            .min(LONGEST_RETRY);
        item.failures = item.failures.saturating_add(1);
        self.push_at(place, now.after(own.max(reserved)), now);
    }

    /// Returns the delay of the next retry that all items share: a token bucket, stored as the time at which it is
    /// full.
    fn reserve(&mut self, now: Time) -> Duration {
        let full = self.retries_full.map_or(now, |full| full.max(now));
        let full = full.after(RETRY_INTERVAL);
        self.retries_full = Some(full);
        full.since(now).saturating_sub(RETRY_INTERVAL * RETRY_BURST)
    }

    /// Returns whether `item` failed, and has not succeeded or turned out to need nothing since.
    pub fn has_failed(&self, item: &K) -> bool {
        let known = self.place(item).and_then(|place| self.item(place));
        known.is_some_and(|item| item.failures > 0)
    }

    /// Forgets the failures of `item`.
    pub fn forget(&mut self, item: &K) {
        if let Some(place) = self.place(item)
            && let Some(item) = self.item_mut(place)
        {
            item.failures = 0;
            self.leave(place);
        }
    }

    /// Moves what is due to what is to be worked on.
    fn add_due(&mut self, now: Time) {
        while let Some(entry) = self.by_due.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let place = entry.remove();
            if let Some(item) = self.item_mut(place) {
                item.delayed = None;
            }
            self.add_at(place);
        }
    }

    /// The next item that is due at `now`. Say [`Self::done`] once the work is done.
    pub fn pop(&mut self, now: Time) -> Option<K> {
        self.add_due(now);
        let place = self.ready.pop_front()?;
        self.log_of(place, QueueEvent::Begun);
        self.dirty -= 1;
        self.last = place;
        let item = self.item_mut(place)?;
        item.is_dirty = false;
        item.is_processing = true;
        Some(item.key.clone())
    }

    /// The work on `item` is done. If it was added meanwhile, its turn comes again.
    pub fn done(&mut self, item: &K) {
        let Some(place) = self.end(item) else { return };
        if self.item(place).is_some_and(|item| item.is_dirty) {
            self.ready.push_back(place);
        } else {
            self.leave(place);
        }
    }

    /// Marks `item` as no longer in progress.
    fn end(&mut self, item: &K) -> Option<u32> {
        let place = self.place(item)?;
        let item = self.item_mut(place).filter(|item| item.is_processing)?;
        item.is_processing = false;
        self.log_of(place, QueueEvent::Ended);
        Some(place)
    }

    /// The work on `item` was not done, through no fault of its own, as far as that is known. It is queued behind the
    /// others: an item that no server can work on must not hold up the others.
    pub fn put_back(&mut self, item: &K) {
        let Some(place) = self.end(item) else { return };
        if self.item(place).is_some_and(|item| item.is_dirty) {
            self.ready.push_back(place);
        } else {
            self.add_at(place);
        }
    }

    /// Returns when there is something to do: `now` if there is already, else when the first delayed item is due.
    pub fn next_due(&self, now: Time) -> Option<Time> {
        if self.ready.is_empty() {
            self.by_due.keys().next().map(|(due, _)| (*due).max(now))
        } else {
            Some(now)
        }
    }

    /// Number of items that wait, due or not.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ready.len() + self.by_due.len()
    }

    /// Returns whether nothing waits.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Time {
        Time::from_unix_seconds(0).add_nanoseconds(milliseconds * 1_000_000)
    }

    #[test]
    fn items_come_once_in_order_and_when_they_are_due() {
        let mut queue = Queue::default();
        queue.push("late", at(20), at(0));
        queue.push("b", at(0), at(0));
        queue.push("a", at(0), at(0));
        queue.push("b", at(0), at(0));
        queue.push("soon", at(10), at(0));
        queue.push("late", at(5), at(0));
        queue.push("late", at(30), at(0));
        // Due now, and again later.
        queue.push("a", at(40), at(0));
        assert_eq!(queue.len(), 5);
        assert_eq!(queue.next_due(at(0)), Some(at(0)));
        assert_eq!((queue.pop(at(0)), queue.pop(at(0))), (Some("b"), Some("a")));
        queue.done(&"a");
        queue.done(&"b");
        assert_eq!((queue.pop(at(0)), queue.next_due(at(0))), (None, Some(at(5))));
        assert_eq!(
            [queue.pop(at(12)), queue.pop(at(12)), queue.pop(at(12))],
            [Some("late"), Some("soon"), None]
        );
        assert_eq!(queue.next_due(at(50)), Some(at(50)));
        assert_eq!(queue.pop(at(50)), Some("a"));
        assert!(queue.is_empty());
    }

    #[test]
    fn an_item_that_is_worked_on_waits_for_the_end() {
        let mut queue = Queue::default();
        queue.add("a");
        assert_eq!(queue.pop(at(0)), Some("a"));
        queue.add("a");
        queue.add("a");
        assert_eq!(queue.pop(at(0)), None);
        queue.done(&"a");
        assert_eq!((queue.pop(at(0)), queue.pop(at(0))), (Some("a"), None));
    }

    #[test]
    fn failures_double_the_delay_up_to_a_limit() {
        let mut queue = Queue::default();
        let mut now = at(0);
        let mut delays = Vec::new();
        for _ in 0..20 {
            queue.retry("a", now);
            let due = queue.next_due(now).unwrap();
            delays.push(due.since(now).as_millis());
            now = due;
            assert_eq!(queue.pop(now), Some("a"));
            queue.done(&"a");
        }
        assert_eq!(delays[..5], [5, 10, 20, 40, 80]);
        assert_eq!(delays[17..], [655_360, 1_000_000, 1_000_000]);
        queue.forget(&"a");
        queue.retry("a", now);
        assert_eq!(queue.next_due(now), Some(now.after(FIRST_RETRY)));
    }

    #[test]
    fn events_of_the_queue_are_reported_to_metrics() {
        use QueueEvent::{Added, Begun, Delayed, Ended};
        let mut queue = Queue::default();
        queue.add("a");
        assert_eq!(queue.take_log(), []);
        queue.begin_log();
        queue.add("a");
        queue.push("later", at(10), at(0));
        assert_eq!(queue.take_log(), [Added("a"), Delayed]);
        assert_eq!((queue.depth(at(0)), queue.depth(at(10))), (1, 2));
        assert_eq!((queue.pop(at(10)), queue.depth(at(10))), (Some("a"), 1));
        // Its turn comes again.
        queue.add("a");
        assert_eq!(queue.depth(at(10)), 2);
        queue.done(&"a");
        queue.done(&"a");
        assert_eq!(
            queue.take_log(),
            [Added("later"), Begun("a"), Added("a"), Ended("a")]
        );
        assert_eq!(queue.pop(at(10)), Some("later"));
        queue.put_back(&"later");
        queue.retry("late", at(10));
        assert_eq!(
            queue.take_log(),
            [Begun("later"), Ended("later"), Added("later"), Delayed]
        );
    }

    #[test]
    fn many_simultaneous_failures_are_spread() {
        let mut queue = Queue::default();
        for item in 0..103 {
            queue.retry(item, at(0));
        }
        let due: Vec<_> = queue.by_due.keys().map(|(due, _)| *due).collect();
        assert_eq!(due[99..], [at(5), at(100), at(200), at(300)]);
    }
}
