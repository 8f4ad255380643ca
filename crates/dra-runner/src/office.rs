//! Who of several writers may work.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::clock::Clock;
use super::lease::{Lease, Role, Standing};
use dra_model::{Key, Str};
use dra_sources::live::Live;

/// What was written before the lease was had may be seen for so long.
pub(super) const SETTLING: Duration = Duration::from_secs(5);

/// Whether this one may work.
pub(super) struct Office {
    pub(super) key: Option<Key>,
    lease: Option<Lease>,
    standing: Option<watch::Receiver<Standing>>,
    /// Since when it is held.
    since: Option<Instant>,
}

impl Office {
    /// Asks for the lease, if there is one.
    pub(super) fn run_for(live: &Live, key: Option<Key>, role: Role, clock: &Clock) -> Self {
        let mut clock = clock.clone();
        let lease = key
            .clone()
            .map(|key| Lease::campaign(live.clone(), key, role, move || clock.moment().written));
        Self {
            standing: lease.as_ref().map(Lease::standing),
            since: lease.is_none().then(Instant::now),
            key,
            lease,
        }
    }

    pub(super) fn holds(&self) -> bool {
        self.since.is_some()
    }

    /// Whether nothing that a holder before this one wrote can still come as news. Without a lease there is none before.
    pub(super) fn is_settled(&self) -> bool {
        self.lease.is_none() || self.since.is_some_and(|since| since.elapsed() > SETTLING)
    }

    /// How it stands, once that changes.
    pub(super) async fn changed(&mut self) -> Standing {
        let Some(standing) = &mut self.standing else {
            return std::future::pending().await;
        };
        if standing.changed().await.is_err() {
            return Standing::Lost;
        }
        let standing = standing.borrow_and_update().clone();
        self.since = match standing {
            Standing::Held => Some(Instant::now()),
            _ => None,
        };
        standing
    }

    /// The lease and its UID, as far as the API server can tell them.
    pub(super) async fn lease(&self, live: &Live) -> Option<(Key, Str)> {
        let key = self.key.as_ref()?;
        let lease = live.lease(key).await.ok().flatten()?;
        let uid = lease["metadata"]["uid"].as_str()?;
        Some((key.clone(), Str::from(uid)))
    }

    /// Gives the lease up, so that the next one need not wait for its end.
    pub(super) async fn leave(self) {
        if let Some(lease) = self.lease {
            lease.release().await;
        }
    }
}
