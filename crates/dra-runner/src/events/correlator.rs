//! Decides which events are sent, counted, aggregated or dropped.
//!
//! Mirrors client-go `tools/record/events_cache.go`, `EventCorrelator` with its default options, v0.37.1.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use foldhash::fast::RandomState;

use super::{Event, Group};
use dra_model::{Key, Time};

/// So many different messages of one reason about one object within [`AGGREGATION_PERIOD`] become one event.
const AGGREGATED: usize = 10;
const AGGREGATION_PERIOD: Duration = Duration::from_secs(600);
const AGGREGATED_PREFIX: &str = "(combined from similar events): ";

/// Events about one object by one source: a burst, then one per period.
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(300);

/// Entries of each memory. What is beyond is forgotten, the oldest first.
const REMEMBERED: usize = 4096;

/// Event to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Correlated {
    /// The message, which may be that of several events.
    pub(super) message: String,
    /// Number of occurrences.
    pub(super) count: u64,
    /// Time of the first one.
    pub(super) first: Time,
    /// The name of the event in the cluster that is to be changed; a new one where there is none.
    pub(super) name: Option<String>,
}

#[derive(Debug)]
struct Similar {
    messages: HashSet<String, RandomState>,
    last: Time,
}

#[derive(Debug)]
struct Known {
    count: u64,
    first: Time,
    name: String,
    used: u64,
}

#[derive(Debug, Default)]
pub(super) struct Correlator {
    similar: HashMap<Group, Similar, RandomState>,
    known: HashMap<(Group, String), Known, RandomState>,
    /// By source and object, when its bucket is full again.
    full: HashMap<(&'static str, &'static str, Key), Time, RandomState>,
    uses: u64,
}

impl Correlator {
    /// Returns what to send for an event, unless it is dropped. `name` is for a new event.
    pub(super) fn correlate(&mut self, event: &Event, name: &str, now: Time) -> Option<Correlated> {
        self.bound();
        let group = &event.group;
        let message = self.aggregate(group, &event.message, now);
        // Events that were put together are one, whatever they say.
        let key_message = if message.starts_with(AGGREGATED_PREFIX) {
            AGGREGATED_PREFIX.to_owned()
        } else {
            message.clone()
        };
        self.uses += 1;
        let known = self.known.entry((group.clone(), key_message));
        let known = known.or_insert_with(|| Known {
            count: 0,
            first: now,
            name: name.to_owned(),
            used: 0,
        });
        known.count += 1;
        known.used = self.uses;
        let correlated = Correlated {
            message,
            count: known.count,
            first: known.first,
            name: (known.count > 1).then(|| known.name.clone()),
        };
        self.takes(group, now).then_some(correlated)
    }

    fn aggregate(&mut self, group: &Group, message: &str, now: Time) -> String {
        let similar = self.similar.entry(group.clone()).or_insert_with(|| Similar {
            messages: HashSet::default(),
            last: now,
        });
        if similar.last.after(AGGREGATION_PERIOD) < now {
            similar.messages.clear();
        }
        similar.last = now;
        similar.messages.insert(message.to_owned());
        if similar.messages.len() < AGGREGATED {
            return message.to_owned();
        }
        // One is forgotten, so that the set stays as large as it may be.
        if let Some(some) = similar.messages.iter().next().cloned() {
            similar.messages.remove(&some);
        }
        format!("{AGGREGATED_PREFIX}{message}")
    }

    /// Reports whether one more event about the object may be sent.
    fn takes(&mut self, group: &Group, now: Time) -> bool {
        let object = (group.component, group.about.kind, group.about.key.clone());
        let full = self.full.entry(object).or_insert(now);
        let next = (*full).max(now).after(REFILL);
        let is_allowed = next.since(now) <= REFILL * BURST;
        if is_allowed {
            *full = next;
        }
        is_allowed
    }

    fn bound(&mut self) {
        forget_oldest(&mut self.known, |known| known.used);
        forget_oldest(&mut self.similar, |similar| similar.last);
        forget_oldest(&mut self.full, |full| *full);
    }
}

/// Forgets the older half of a memory that is full; `age` says when an entry was used last.
fn forget_oldest<K, V, T: Ord>(memory: &mut HashMap<K, V, RandomState>, age: impl Fn(&V) -> T) {
    if memory.len() > REMEMBERED {
        let mut ages: Vec<T> = memory.values().map(&age).collect();
        let middle = ages.len() / 2;
        let (_, limit, _) = ages.select_nth_unstable(middle);
        memory.retain(|_, entry| age(entry) > *limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::ObjectReference;
    use dra_model::Kind;

    fn event(pod: &str, message: &str) -> Event {
        let about = ObjectReference {
            api_version: String::new(),
            kind: Kind::Pod.name(),
            key: Key::new("a", pod),
            uid: format!("uid-{pod}").into(),
        };
        Event {
            group: Group {
                component: "resource_claim",
                about,
                type_: "Warning",
                reason: "FailedResourceClaimCreation",
            },
            message: message.to_owned(),
        }
    }

    fn at(seconds: i64) -> Time {
        Time::from_unix_seconds(1_800_000_000 + seconds)
    }

    #[test]
    fn the_same_again_is_counted() {
        let mut correlator = Correlator::default();
        let first = correlator.correlate(&event("p", "no"), "p.1", at(0)).unwrap();
        assert_eq!((first.count, first.name), (1, None));
        let again = correlator.correlate(&event("p", "no"), "p.2", at(3)).unwrap();
        assert_eq!(
            (again.count, again.name.as_deref(), again.first),
            (2, Some("p.1"), at(0))
        );
        let other = correlator.correlate(&event("q", "no"), "q.1", at(3)).unwrap();
        assert_eq!((other.count, other.name), (1, None));
    }

    #[test]
    fn many_alike_become_one() {
        let mut correlator = Correlator::default();
        let messages: Vec<String> = (0..12)
            .map(|n| {
                let told = correlator.correlate(&event("p", &format!("no {n}")), &format!("p.{n}"), at(n));
                told.unwrap().message
            })
            .collect();
        assert_eq!(messages[8], "no 8");
        assert_eq!(messages[9], "(combined from similar events): no 9");
        let told = correlator
            .correlate(&event("p", "no 12"), "p.12", at(12))
            .unwrap();
        assert_eq!((told.count, told.name.as_deref()), (4, Some("p.9")));
        // After a pause nothing is alike any more.
        let told = correlator
            .correlate(&event("p", "later"), "p.13", at(700))
            .unwrap();
        assert_eq!(told.message, "later");
    }

    #[test]
    fn a_flood_about_one_object_is_cut() {
        let mut correlator = Correlator::default();
        let mut told = |second| {
            correlator
                .correlate(&event("p", "no"), "p.1", at(second))
                .is_some()
        };
        assert_eq!((0..40).filter(|_| told(0)).count(), 25);
        assert!(!told(299));
        assert!(told(300) && !told(300));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut correlator = Correlator::default();
        for pod in 0..20_000 {
            correlator.correlate(&event(&format!("p{pod}"), "no"), "name", at(pod));
        }
        assert!(correlator.known.len() <= REMEMBERED + 1);
        assert!(correlator.similar.len() <= REMEMBERED + 1);
        assert!(correlator.full.len() <= REMEMBERED + 1);
    }
}
