//! Health of a run: the state of its watches, and the rights that its writes lack.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use dra_model::Kind;
use dra_rules::controllers::Subject;
use dra_sources::live::Trouble;

/// A watch that is interrupted for longer is stale: the objects of its kind may be outdated.
const STALE: Duration = Duration::from_secs(60);

/// The time between two checks whether refused writes are still wanted.
const ASKED: Duration = Duration::from_secs(1);

/// Health of a run, which the probes serve.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Nothing until the watches are begun.
    watches: Option<BTreeMap<Kind, WatchState>>,
    /// The items whose writes were not allowed when they were tried last, with their errors.
    forbidden: BTreeMap<Subject, String>,
    /// Time of the next check whether these are still wanted.
    ask_at: Option<Instant>,
}

#[derive(Clone, Debug)]
enum WatchState {
    /// It has not been open yet.
    Begun,
    InStep,
    Trouble(Trouble),
}

impl Health {
    /// Watches over `kinds` have begun.
    pub(super) fn begin(&self, kinds: impl Iterator<Item = Kind>) {
        self.state().watches = Some(kinds.map(|kind| (kind, WatchState::Begun)).collect());
    }

    /// The watch of `kind` is open.
    pub(super) fn in_step(&self, kind: Kind) {
        self.put(kind, WatchState::InStep);
    }

    /// A watch is interrupted.
    pub(super) fn trouble(&self, trouble: &Trouble) {
        self.put(trouble.kind, WatchState::Trouble(trouble.clone()));
    }

    /// A write of an item was forbidden at `now`: `why` names the right.
    pub(super) fn may_not_write(&self, subject: &Subject, why: &str, now: Instant) {
        let mut state = self.state();
        state.forbidden.insert(subject.clone(), why.to_owned());
        state.ask_at.get_or_insert(now + ASKED);
    }

    /// A write of an item succeeded. Other items may need other rights.
    pub(super) fn may_write(&self, subject: &Subject) {
        self.state().forbidden.remove(subject);
    }

    /// Time at which to call [`Self::ask_whether`]; none if no right is missing.
    pub(super) fn ask_at(&self) -> Option<Instant> {
        self.state().ask_at
    }

    /// Forgets items that are no longer wanted, if a check is due. Their turn in the queue may come much later.
    pub(super) fn ask_whether(&self, now: Instant, is_wanted: impl Fn(&Subject) -> bool) {
        let mut state = self.state();
        if state.ask_at.is_some_and(|at| at <= now) {
            state.forbidden.retain(|subject, _| is_wanted(subject));
            state.ask_at = (!state.forbidden.is_empty()).then(|| now + ASKED);
        }
    }

    fn put(&self, kind: Kind, state: WatchState) {
        if let Some(watches) = &mut self.state().watches {
            watches.insert(kind, state);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The watches that see nothing at `now`, with their errors.
    pub(super) fn blind(&self, now: Instant) -> Vec<String> {
        let state = self.state();
        let watches = state.watches.iter().flatten();
        let why = watches.filter_map(|(kind, state)| match state {
            WatchState::Trouble(trouble)
                if trouble.fruitless
                    || trouble.refused
                    || now.saturating_duration_since(trouble.since) >= STALE =>
            {
                Some(format!("{}: {}", kind.plural(), trouble.message))
            }
            WatchState::Begun | WatchState::InStep | WatchState::Trouble(_) => None,
        });
        why.collect()
    }

    /// Reasons why the run is not ready at `now`; none if it is.
    pub(super) fn why_not_ready(&self, now: Instant) -> Vec<String> {
        let state = self.state();
        let Some(watches) = &state.watches else {
            return vec!["reading the cluster".to_owned()];
        };
        let why = |(kind, state): (&Kind, &WatchState)| match state {
            WatchState::InStep => None,
            WatchState::Begun => Some(format!("{}: not watched yet", kind.plural())),
            WatchState::Trouble(trouble) => {
                let stale = now.saturating_duration_since(trouble.since);
                (trouble.refused || stale >= STALE).then(|| {
                    format!(
                        "{}: stale for {} s: {}",
                        kind.plural(),
                        stale.as_secs(),
                        trouble.message
                    )
                })
            }
        };
        // One item of each controller is an example; there may be thousands.
        let mut examples: BTreeMap<_, (&str, usize)> = BTreeMap::new();
        for (subject, why) in &state.forbidden {
            examples.entry(subject.controller()).or_insert((why, 0)).1 += 1;
        }
        let forbidden = examples
            .into_iter()
            .map(|(controller, (why, items))| match items {
                1 => format!("{controller}: {why}"),
                _ => format!("{controller}: {why} (and {} more)", items - 1),
            });
        watches.iter().filter_map(why).chain(forbidden).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::Key;

    #[test]
    fn it_is_ready_while_every_watch_is_in_step_or_was_a_moment_ago() {
        let health = Health::default();
        let now = Instant::now();
        assert_eq!(health.why_not_ready(now), ["reading the cluster"]);
        health.begin([Kind::Pod, Kind::ResourceClaim].into_iter());
        health.in_step(Kind::Pod);
        assert_eq!(health.why_not_ready(now), ["resourceclaims: not watched yet"]);
        health.in_step(Kind::ResourceClaim);
        assert!(health.why_not_ready(now).is_empty());

        let trouble = |refused| Trouble {
            kind: Kind::Pod,
            message: "cannot watch pods".to_owned(),
            since: now,
            refused,
            fruitless: false,
        };
        health.trouble(&trouble(false));
        assert!(health.why_not_ready(now + STALE / 2).is_empty());
        let stale = health.why_not_ready(now + STALE);
        assert_eq!(stale, ["pods: stale for 60 s: cannot watch pods"]);
        // The end of the run tells the same, and what was never seen however short that was.
        assert!(health.blind(now + STALE / 2).is_empty());
        assert_eq!(health.blind(now + STALE), ["pods: cannot watch pods"]);
        health.trouble(&Trouble {
            fruitless: true,
            ..trouble(false)
        });
        assert_eq!(health.blind(now), ["pods: cannot watch pods"]);
        assert!(health.why_not_ready(now).is_empty());
        assert_eq!(health.why_not_ready(now + STALE).len(), 1);
        health.trouble(&trouble(true));
        assert_eq!(
            health.why_not_ready(now),
            ["pods: stale for 0 s: cannot watch pods"]
        );
        health.in_step(Kind::Pod);
        assert!(health.why_not_ready(now).is_empty());
    }

    #[test]
    fn a_written_item_proves_nothing_about_one_without_permission() {
        let health = Health::default();
        let now = Instant::now();
        health.begin(std::iter::empty());
        let [one, two, other] = ["one", "two", "other"].map(|name| Subject::Pod(Key::new("a", name)));
        health.may_not_write(&one, "cannot create", now);
        assert_eq!(
            health.why_not_ready(now),
            ["resourceclaim-controller: cannot create"]
        );
        health.may_not_write(&two, "cannot create either", now + STALE);
        assert_eq!(
            health.why_not_ready(now),
            ["resourceclaim-controller: cannot create (and 1 more)"]
        );
        // The right to something else is still there.
        health.may_write(&other);
        health.may_write(&one);
        assert_eq!(
            health.why_not_ready(now),
            ["resourceclaim-controller: cannot create either"]
        );
        // It is asked once in a while whether it is still wanted, and it is not by then.
        assert_eq!(health.ask_at(), Some(now + ASKED));
        health.ask_whether(now + ASKED / 2, |_| panic!("it is too early"));
        health.ask_whether(now + ASKED, |_| true);
        assert_eq!(health.ask_at(), Some(now + ASKED * 2));
        assert_eq!(health.why_not_ready(now).len(), 1);
        health.ask_whether(now + ASKED * 2, |subject| *subject != two);
        assert!(health.why_not_ready(now).is_empty());
        assert_eq!(health.ask_at(), None);
    }
}
