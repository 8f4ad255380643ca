//! Work with due times and retries, as data.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use foldhash::fast::RandomState;

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
#[derive(Clone, Debug)]
pub struct Queue<K> {
    /// Items that wait, are worked on, or have failed. Only looked up in, never walked.
    items: HashMap<K, Item, RandomState>,
    /// Items ready to be worked on, first come, first served.
    ready: VecDeque<K>,
    by_due: BTreeMap<(Time, u64), K>,
    /// Number of items in `ready`, or to be put there once the work on them is done.
    dirty: usize,
    pushed: u64,
    /// Time at which the bucket of retries is full again.
    retries_full: Option<Time>,
    /// Events since the last query, if requested.
    log: Option<Vec<QueueEvent<K>>>,
}

/// State of an item.
#[derive(Clone, Debug, Default)]
struct Item {
    /// In `ready`, or to be put there once the work on it is done.
    is_dirty: bool,
    /// Being worked on.
    is_processing: bool,
    /// Time at which it is due, if it is delayed, with a number that keeps the order of those due together.
    delayed: Option<(Time, u64)>,
    failures: u32,
}

impl<K> Default for Queue<K> {
    fn default() -> Self {
        Self {
            items: HashMap::default(),
            ready: VecDeque::new(),
            by_due: BTreeMap::new(),
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
        self.log = Some(self.ready.iter().cloned().map(QueueEvent::Added).collect());
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

    /// Forgets the item if there is nothing to know of it.
    fn leave(&mut self, item: &K) {
        let is_idle = |known: &Item| {
            !known.is_dirty && !known.is_processing && known.delayed.is_none() && known.failures == 0
        };
        if self.items.get(item).is_some_and(is_idle) {
            self.items.remove(item);
        }
    }

    /// Adds `item`, to be worked on as soon as possible.
    pub fn add(&mut self, item: K) {
        let known = self.items.entry(item.clone()).or_default();
        if known.is_dirty {
            return;
        }
        known.is_dirty = true;
        let waits = !known.is_processing;
        self.dirty += 1;
        self.note(|| QueueEvent::Added(item.clone()));
        if waits {
            self.ready.push_back(item);
        }
    }

    /// Adds `item`, to be worked on at `due`; immediately if that is not after `now`. Of several instants the first one
    /// counts, but an item that is due immediately can be due again later.
    pub fn push(&mut self, item: K, due: Time, now: Time) {
        self.note(|| QueueEvent::Delayed);
        if due <= now {
            return self.add(item);
        }
        self.pushed += 1;
        let delayed = (due, self.pushed);
        let known = self.items.entry(item.clone()).or_default();
        if known.delayed.is_some_and(|known| known.0 <= due) {
            return;
        }
        if let Some(before) = known.delayed.replace(delayed) {
            self.by_due.remove(&before);
        }
        self.by_due.insert(delayed, item);
    }

    /// Adds `item` again after a failure, later each time.
    pub fn retry(&mut self, item: K, now: Time) {
        let reserved = self.reserve(now);
        let known = self.items.entry(item.clone()).or_default();
        let own = FIRST_RETRY
            .saturating_mul(1_u32.checked_shl(known.failures).unwrap_or(u32::MAX))
            .min(LONGEST_RETRY);
        known.failures = known.failures.saturating_add(1);
        self.push(item, now.after(own.max(reserved)), now);
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
        self.items.get(item).is_some_and(|known| known.failures > 0)
    }

    /// Forgets the failures of `item`.
    pub fn forget(&mut self, item: &K) {
        if let Some(known) = self.items.get_mut(item) {
            known.failures = 0;
            self.leave(item);
        }
    }

    /// Moves what is due to what is to be worked on.
    fn add_due(&mut self, now: Time) {
        while let Some(entry) = self.by_due.first_entry().filter(|entry| entry.key().0 <= now) {
            let item = entry.remove();
            if let Some(known) = self.items.get_mut(&item) {
                known.delayed = None;
            }
            self.add(item);
        }
    }

    /// The next item that is due at `now`. Say [`Self::done`] once the work is done.
    pub fn pop(&mut self, now: Time) -> Option<K> {
        self.add_due(now);
        let item = self.ready.pop_front()?;
        self.note(|| QueueEvent::Begun(item.clone()));
        self.dirty -= 1;
        let known = self.items.get_mut(&item)?;
        known.is_dirty = false;
        known.is_processing = true;
        Some(item)
    }

    /// The work on `item` is done. If it was added meanwhile, its turn comes again.
    pub fn done(&mut self, item: &K) {
        if self.end(item) {
            self.leave(item);
        }
    }

    /// Marks `item` as no longer in progress. Returns whether it was, and its turn does not come again anyway.
    fn end(&mut self, item: &K) -> bool {
        let Some(known) = self.items.get_mut(item).filter(|known| known.is_processing) else {
            return false;
        };
        known.is_processing = false;
        let waits = known.is_dirty;
        self.note(|| QueueEvent::Ended(item.clone()));
        if waits {
            self.ready.push_back(item.clone());
        }
        !waits
    }

    /// The work on `item` was not done, through no fault of its own, as far as that is known. It is queued behind the
    /// others: an item that no server can work on must not hold up the others.
    pub fn put_back(&mut self, item: &K) {
        if self.end(item) {
            self.add(item.clone());
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
