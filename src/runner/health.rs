//! Whether `run` does its work: what its watches say of themselves.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::controllers::ControllerName;
use crate::model::Kind;
use crate::sources::live::Trouble;

/// A watch that is interrupted for longer is stale: what is known of its kind may be wrong by now.
const STALE: Duration = Duration::from_secs(60);

/// How each watch stands. The probes ask it while the controllers work.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Nothing until the watches are begun.
    watches: Mutex<Option<BTreeMap<Kind, Standing>>>,
    /// What each controller was not allowed to write, since when it was allowed to write something.
    forbidden: Mutex<BTreeMap<ControllerName, String>>,
}

#[derive(Clone, Debug)]
enum Standing {
    /// It has not been open yet.
    Begun,
    InStep,
    Trouble(Trouble),
}

impl Health {
    /// Watches over `kinds` have begun.
    pub(super) fn begin(&self, kinds: impl Iterator<Item = Kind>) {
        *self.watches() = Some(kinds.map(|kind| (kind, Standing::Begun)).collect());
    }

    /// The watch of `kind` is open.
    pub(super) fn in_step(&self, kind: Kind) {
        self.put(kind, Standing::InStep);
    }

    /// A watch is interrupted.
    pub(super) fn trouble(&self, trouble: &Trouble) {
        self.put(trouble.kind, Standing::Trouble(trouble.clone()));
    }

    /// A controller lacks a right: `why` names it.
    pub(super) fn may_not_write(&self, controller: ControllerName, why: &str) {
        self.forbidden().insert(controller, why.to_owned());
    }

    /// A controller has written something.
    pub(super) fn may_write(&self, controller: ControllerName) {
        self.forbidden().remove(&controller);
    }

    fn forbidden(&self) -> MutexGuard<'_, BTreeMap<ControllerName, String>> {
        self.forbidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, kind: Kind, standing: Standing) {
        if let Some(watches) = &mut *self.watches() {
            watches.insert(kind, standing);
        }
    }

    fn watches(&self) -> MutexGuard<'_, Option<BTreeMap<Kind, Standing>>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What keeps the work from being done at `now`: nothing where it is.
    pub(super) fn why_not_ready(&self, now: Instant) -> Vec<String> {
        let watches = self.watches();
        let Some(watches) = &*watches else {
            return vec!["the cluster is being read".to_owned()];
        };
        let why = |(kind, standing): (&Kind, &Standing)| match standing {
            Standing::InStep => None,
            Standing::Begun => Some(format!("{}: not watched yet", kind.plural())),
            Standing::Trouble(trouble) => {
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
        let forbidden = self.forbidden();
        let forbidden = forbidden
            .iter()
            .map(|(controller, why)| format!("{controller}: {why}"));
        watches.iter().filter_map(why).chain(forbidden).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ready_while_every_watch_is_in_step_or_was_a_moment_ago() {
        let health = Health::default();
        let now = Instant::now();
        assert_eq!(health.why_not_ready(now), ["the cluster is being read"]);
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
        };
        health.trouble(&trouble(false));
        assert!(health.why_not_ready(now + STALE / 2).is_empty());
        let stale = health.why_not_ready(now + STALE);
        assert_eq!(stale, ["pods: stale for 60 s: cannot watch pods"]);
        health.trouble(&trouble(true));
        assert_eq!(
            health.why_not_ready(now),
            ["pods: stale for 0 s: cannot watch pods"]
        );
        health.in_step(Kind::Pod);
        assert!(health.why_not_ready(now).is_empty());

        health.may_not_write(ControllerName::ResourceClaim, "cannot create");
        assert_eq!(
            health.why_not_ready(now),
            ["resourceclaim-controller: cannot create"]
        );
        health.may_write(ControllerName::DeviceTaintEviction);
        assert_eq!(health.why_not_ready(now).len(), 1);
        health.may_write(ControllerName::ResourceClaim);
        assert!(health.why_not_ready(now).is_empty());
    }
}
