//! The election of the replica that may write.

use std::time::Duration;

use tokio::time::Instant;

use super::clock::Clock;
use super::lease::{Lease, LeaseState};
use dra_model::{Key, Str};
use dra_sources::live::Live;

/// Time in which writes of an earlier leader may still become visible.
pub(super) const SETTLING: Duration = Duration::from_secs(5);

/// The part of this replica in the election of a leader. Without a lease there is no election, and it leads.
pub(super) struct LeaderElection {
    pub(super) key: Option<Key>,
    lease: Option<Lease>,
    /// Since when this replica leads.
    since: Option<Instant>,
}

impl LeaderElection {
    /// Tries to acquire the lease `key`, if there is one, with an identity that ends with `suffix`.
    pub(super) fn start(live: &Live, key: Option<Key>, suffix: &str, clock: &Clock) -> Self {
        let mut clock = clock.clone();
        let lease = key
            .clone()
            .map(|key| Lease::campaign(live.clone(), key, suffix, move || clock.moment().written));
        Self {
            since: lease.is_none().then(Instant::now),
            key,
            lease,
        }
    }

    pub(super) fn leads(&self) -> bool {
        self.since.is_some()
    }

    /// Reports whether no write of an earlier leader can be seen any more.
    pub(super) fn is_settled(&self) -> bool {
        self.lease.is_none() || self.since.is_some_and(|since| since.elapsed() > SETTLING)
    }

    /// The state of the lease, once that changes.
    pub(super) async fn changed(&mut self) -> LeaseState {
        let Some(lease) = &mut self.lease else {
            return std::future::pending().await;
        };
        if lease.state.changed().await.is_err() {
            return LeaseState::Lost;
        }
        let state = lease.state.borrow_and_update().clone();
        self.since = matches!(state, LeaseState::Held).then(Instant::now);
        state
    }

    /// The lease and its UID, as far as the API server has them.
    pub(super) async fn object(&self, live: &Live) -> Option<(Key, Str)> {
        let key = self.key.as_ref()?;
        let lease = live.lease(key).await.ok().flatten()?;
        let uid = lease["metadata"]["uid"].as_str()?;
        Some((key.clone(), Str::from(uid)))
    }

    /// Releases the lease, so that the next leader need not wait for its end.
    pub(super) async fn leave(self) {
        if let Some(lease) = self.lease {
            lease.release().await;
        }
    }
}
