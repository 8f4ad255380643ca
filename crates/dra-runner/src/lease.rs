//! The lease of a leader, by the protocol of client-go's leader election.
//!
//! A lease is a record that its holder renews. It has expired when the record has not changed for its duration by the observer's own
//! monotonic clock, whatever times are written in it. Every write is locked to the version that was read, so that of several candidates
//! that find it expired one gets it. A holder that has not renewed it within the deadline, which is shorter than the duration, stops before
//! another one starts.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use dra_model::{Key, Time};
use dra_sources::live::{Error, Live};

/// Validity of a lease after a renewal. These are kube-controller-manager's. Mirrors component-base
/// `config/v1alpha1/defaults.go`, `RecommendedDefaultLeaderElectionConfiguration`, v0.37.1.
const DURATION: Duration = Duration::from_secs(15);

/// Time that a holder tries to renew its lease.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);

/// The pause between two tries.
const RETRY: Duration = Duration::from_secs(2);

/// Maximum time that the record of another holder is believed.
const LONGEST: i64 = 3600;

/// The storage of a lease. Each write returns the lease as it was stored.
trait Store: Send + Sync + 'static {
    fn get(&self) -> impl Future<Output = Result<Option<Value>, Error>> + Send;
    fn create(&self, spec: Value) -> impl Future<Output = Result<Value, Error>> + Send;
    /// Only if it has not been written since `lease` was read.
    fn replace(&self, lease: &Value) -> impl Future<Output = Result<Value, Error>> + Send;
}

/// One lease of a cluster.
struct InCluster {
    live: Live,
    key: Key,
}

impl Store for InCluster {
    async fn get(&self) -> Result<Option<Value>, Error> {
        self.live.lease(&self.key).await
    }

    async fn create(&self, spec: Value) -> Result<Value, Error> {
        self.live.create_lease(&self.key, spec).await
    }

    async fn replace(&self, lease: &Value) -> Result<Value, Error> {
        self.live.replace_lease(&self.key, lease).await
    }
}

/// The record of a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Record {
    holder: String,
    seconds: i64,
    acquired: String,
    renewed: String,
    transitions: i64,
}

impl Record {
    fn of(lease: &Value) -> Self {
        let spec = &lease["spec"];
        let text = |field: &str| spec[field].as_str().unwrap_or_default().to_owned();
        Self {
            holder: text("holderIdentity"),
            seconds: spec["leaseDurationSeconds"].as_i64().unwrap_or(0),
            acquired: text("acquireTime"),
            renewed: text("renewTime"),
            transitions: spec["leaseTransitions"].as_i64().unwrap_or(0),
        }
    }

    fn to_spec(&self) -> Value {
        json!({"holderIdentity": self.holder, "leaseDurationSeconds": self.seconds,
            "acquireTime": self.acquired, "renewTime": self.renewed, "leaseTransitions": self.transitions})
    }
}

/// The protocol, as one candidate sees it.
struct Election<S> {
    store: S,
    identity: String,
    /// The lease as it was read or written last.
    lease: Option<Value>,
    /// Its record, and when that was seen first.
    observed: Option<(Record, Instant)>,
}

impl<S: Store> Election<S> {
    fn new(store: S, identity: String) -> Self {
        Self {
            store,
            identity,
            lease: None,
            observed: None,
        }
    }

    fn is_leader(&self) -> bool {
        let observed = self.observed.as_ref();
        observed.is_some_and(|(record, _)| record.holder == self.identity)
    }

    /// Reports whether the lease is held. Mirrors client-go `tools/leaderelection/leaderelection.go`, `isLeaseValid`, v0.37.1.
    fn is_valid(&self, at: Instant) -> bool {
        self.observed.as_ref().is_some_and(|(record, seen)| {
            let seconds = u64::try_from(record.seconds.clamp(0, LONGEST)).unwrap_or(0);
            *seen + Duration::from_secs(seconds) > at
        })
    }

    /// Tries once to get the lease, or to keep it; `now` is what is written down. Whether it is held afterwards. Mirrors client-go
    /// `tools/leaderelection/leaderelection.go`, `tryAcquireOrRenew`, v0.37.1.
    ///
    /// # Errors
    /// If that is unknown.
    async fn attempt(&mut self, now: Time) -> Result<bool, Error> {
        let now = micro_time(now);
        let mut record = Record {
            holder: self.identity.clone(),
            seconds: DURATION.as_secs() as i64,
            acquired: now.clone(),
            renewed: now,
            transitions: 0,
        };
        // No other candidate should have written it since.
        if self.is_leader()
            && self.is_valid(Instant::now())
            && let (Some((old, _)), Some(lease)) = (&self.observed, &self.lease)
        {
            record.acquired.clone_from(&old.acquired);
            record.transitions = old.transitions;
            if self.write(lease.clone(), record.clone()).await.is_ok() {
                return Ok(true);
            }
        }
        let Some(lease) = self.store.get().await? else {
            let created = self.store.create(record.to_spec()).await?;
            self.written(created, record);
            return Ok(true);
        };
        let old = Record::of(&lease);
        if self.observed.as_ref().is_none_or(|(known, _)| *known != old) {
            self.observed = Some((old.clone(), Instant::now()));
        }
        self.lease = Some(lease.clone());
        if !old.holder.is_empty() && !self.is_leader() && self.is_valid(Instant::now()) {
            return Ok(false);
        }
        if self.is_leader() {
            record.acquired = old.acquired;
            record.transitions = old.transitions;
        } else {
            record.transitions = old.transitions.saturating_add(1);
        }
        self.write(lease, record).await?;
        Ok(true)
    }

    /// Writes `record` over `lease`, which keeps what it has besides.
    async fn write(&mut self, mut lease: Value, record: Record) -> Result<(), Error> {
        if let (Some(spec), Value::Object(fields)) = (lease["spec"].as_object_mut(), record.to_spec()) {
            spec.extend(fields);
        } else {
            lease["spec"] = record.to_spec();
        }
        let lease = self.store.replace(&lease).await?;
        self.written(lease, record);
        Ok(())
    }

    fn written(&mut self, lease: Value, record: Record) {
        self.lease = Some(lease);
        self.observed = Some((record, Instant::now()));
    }

    /// Gives the lease up, so that the next one need not wait. Mirrors client-go `tools/leaderelection/leaderelection.go`,
    /// `tryRelease`, v0.37.1.
    async fn release(&mut self, now: Time) -> Result<(), Error> {
        let now = micro_time(now);
        while self.is_leader() {
            let Some(lease) = self.store.get().await? else {
                return Ok(());
            };
            let old = Record::of(&lease);
            if old.holder != self.identity {
                return Ok(());
            }
            let free = Record {
                holder: String::new(),
                seconds: 1,
                acquired: now.clone(),
                renewed: now.clone(),
                transitions: old.transitions,
            };
            match self.write(lease, free).await {
                // A renewal that was under way has come true meanwhile.
                Err(Error::Refused { code: 409, .. }) => {}
                ended => return ended,
            }
        }
        Ok(())
    }
}

/// `now` as the API server reads times of leases: with six digits after the seconds, neither more nor fewer.
fn micro_time(now: Time) -> String {
    let whole = Time::from_unix_seconds(now.unix_seconds()).to_string();
    let micros = now.unix_nanoseconds().rem_euclid(1_000_000_000) / 1000;
    format!("{}.{micros:06}Z", whole.trim_end_matches('Z'))
}

/// A name for this process that no other has: that of the machine and 128 random bits. Mirrors
/// `cmd/kube-controller-manager/app/controllermanager.go`, `Run`, v1.37.2.
fn identity() -> String {
    use std::hash::BuildHasher as _;
    // The standard library's hasher is keyed at random, which is all the chance that is needed.
    let random = || std::hash::RandomState::new().hash_one(std::process::id());
    let (first, second) = (random(), random());
    format!(
        "{}_{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        host(),
        first >> 32,
        first >> 16 & 0xffff,
        first & 0xfff | 0x4000,
        second >> 48 & 0x3fff | 0x8000,
        second & 0xffff_ffff_ffff
    )
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    "kubectl-dra".to_owned()
}

/// Suffixes of identities of a supplement and an exporter, so that they are not mistaken for a replica that replaces the built-in controllers.
pub(super) const SUPPLEMENT: &str = "_supplement";
pub(super) const EXPORT: &str = "_export";

/// The holder of a lease, or the last one if it was not released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Identity in the record.
    pub identity: String,
    /// Time since its last renewal, by the time in the record.
    pub renewed: Duration,
}

impl Holder {
    /// Reports whether it replaces the built-in controllers.
    pub fn replaces(&self) -> bool {
        ![SUPPLEMENT, EXPORT]
            .iter()
            .any(|suffix| self.identity.ends_with(suffix))
    }
}

/// Returns the holder of the lease `key` at `now`, if there is one.
///
/// # Errors
/// If the lease cannot be read.
pub async fn holder(live: &Live, key: &Key, now: Time) -> Result<Option<Holder>, Error> {
    let Some(lease) = live.lease(key).await? else {
        return Ok(None);
    };
    let record = Record::of(&lease);
    let renewed: Option<Time> = record.renewed.parse().ok();
    Ok(renewed
        .filter(|_| !record.holder.is_empty())
        .map(|renewed| Holder {
            identity: record.holder,
            renewed: now.since(renewed),
        }))
}

/// State of a lease that this replica tries to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LeaseState {
    /// Another replica holds it, or none.
    Waiting {
        /// Identity of the holder, if it is known.
        holder: String,
        /// Error of the last attempt.
        trouble: Option<String>,
    },
    /// This replica holds it.
    Held,
    /// This replica held it and no longer does: what needs it has to end.
    Lost,
}

/// A lease that is wanted. It is not given up when this is dropped, as after a crash; see [`Lease::release`].
pub(super) struct Lease {
    /// The state, now and whenever it changes.
    pub(super) state: watch::Receiver<LeaseState>,
    end: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Lease {
    /// Starts to acquire the lease `key`, and to renew it once it is held. The identity ends with `suffix`. `now` is the time to be written
    /// down.
    pub(super) fn campaign(
        live: Live,
        key: Key,
        suffix: &str,
        now: impl FnMut() -> Time + Send + 'static,
    ) -> Self {
        let identity = identity() + suffix;
        Self::among(InCluster { live, key }, identity, RETRY, RENEW_DEADLINE, now)
    }

    fn among(
        store: impl Store,
        identity: String,
        retry: Duration,
        deadline: Duration,
        now: impl FnMut() -> Time + Send + 'static,
    ) -> Self {
        let (told, state) = watch::channel(LeaseState::Waiting {
            holder: String::new(),
            trouble: None,
        });
        let (end, ended) = watch::channel(false);
        let candidate = Candidate {
            election: Election::new(store, identity),
            retry,
            deadline,
            now,
            told,
        };
        let task = tokio::spawn(candidate.run(ended));
        Self { state, end, task }
    }

    /// Releases the lease, if it is held. What needs it must have ended before.
    pub(super) async fn release(self) {
        // Without a receiver the task has ended already.
        _ = self.end.send(true);
        _ = self.task.await;
    }
}

/// A candidate for a lease.
struct Candidate<S, N> {
    election: Election<S>,
    retry: Duration,
    deadline: Duration,
    now: N,
    told: watch::Sender<LeaseState>,
}

impl<S: Store, N: FnMut() -> Time + Send> Candidate<S, N> {
    async fn run(mut self, mut ended: watch::Receiver<bool>) {
        let is_ended = tokio::select! {
            _ = ended.wait_for(|ended| *ended) => true,
            () = self.lead() => false,
        };
        self.told.send_replace(LeaseState::Lost);
        if is_ended {
            let now = (self.now)();
            // Others find it expired otherwise.
            _ = tokio::time::timeout(self.deadline, self.election.release(now)).await;
        }
    }

    /// Holds the lease from when it is acquired until it is lost.
    async fn lead(&mut self) {
        self.acquire().await;
        self.told.send_replace(LeaseState::Held);
        self.renew().await;
    }

    /// Tries until it has the lease. Mirrors client-go `tools/leaderelection/leaderelection.go`, `acquire`, v0.37.1.
    async fn acquire(&mut self) {
        loop {
            let now = (self.now)();
            let trouble = match self.election.attempt(now).await {
                Ok(true) => return,
                Ok(false) => None,
                Err(error) => Some(error.to_string()),
            };
            let observed = self.election.observed.as_ref();
            let holder = observed
                .map(|(record, _)| record.holder.clone())
                .unwrap_or_default();
            let state = LeaseState::Waiting { holder, trouble };
            self.told.send_if_modified(|known| {
                let is_news = *known != state;
                *known = state;
                is_news
            });
            tokio::time::sleep(dra_sources::live::jittered(self.retry * 2)).await;
        }
    }

    /// Renews the lease until that fails for the deadline. Mirrors client-go `tools/leaderelection/leaderelection.go`, `renew`, v0.37.1.
    async fn renew(&mut self) {
        loop {
            let until = Instant::now() + self.deadline;
            loop {
                let now = (self.now)();
                match tokio::time::timeout_at(until, self.election.attempt(now)).await {
                    Ok(Ok(true)) => break,
                    // Another replica has it, or the time is over.
                    Ok(Ok(false)) | Err(_) => return,
                    Ok(Err(_)) => tokio::time::sleep(self.retry).await,
                }
                if Instant::now() >= until {
                    return;
                }
            }
            tokio::time::sleep(self.retry).await;
        }
    }
}

#[cfg(test)]
mod tests;
