//! The exporter: watches a cluster, and computes metrics of its state when they are asked for.
//!
//! A scrape starts the computation of parts in which something has changed, and hardly waits for it: a part that takes longer is in the
//! next scrape. Parts that are expensive are computed less often than asked for, see [`REST`]; their age is a metric.

mod latency;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use self::latency::{Latencies, Latency};
use super::clock::Clock;
use super::drift::Drift;
use super::failure::Failure;
use super::leader_election::LeaderElection;
use super::lease::{EXPORT, LeaseState};
use super::manager::{Listed, Options};
use super::message::Message;
use super::probes::Endpoint;
use super::telemetry::Telemetry;
use super::workqueue_metrics::{register, register_as};
use dra_model::{Change, Cluster, Key, Time};
use dra_sources::live::Live;

/// A part that took a time to compute rests for so many times as long, so that all parts together take a fifth of a processor at most.
const REST: u32 = 9;

/// What depends on the time is computed again after this time, even if nothing has changed.
const AGED: Duration = Duration::from_secs(60);

/// The same for expensive parts, as so many times as long as they took: all parts together take a twenty-fifth of a processor at most.
const AGED_REST: u32 = 49;

/// A scrape waits for computations for this time, so that a small cluster's metrics are those of now.
const PATIENCE: Duration = Duration::from_millis(20);

/// The same for parts that were never computed, or are older than [`STALE`] and take less.
const LONG_PATIENCE: Duration = Duration::from_secs(1);

/// More than the time between two scrapes: Prometheus forgets samples after five minutes.
const STALE: Duration = Duration::from_secs(120);

/// Changes that arrive within this time are applied together.
const BATCH: Duration = Duration::from_millis(100);

/// Bounds of latencies, in seconds.
const LATENCIES: [f64; 14] = [
    0.25, 0.5, 1., 2., 5., 10., 20., 30., 60., 120., 300., 600., 1800., 3600.,
];

/// Returns the metrics of a cluster at a time in the text format of OpenMetrics, without its end.
type Compute = dyn Fn(&Cluster, Time) -> String + Send + Sync;

/// Metrics that are computed together.
pub struct Part {
    /// Its name, in metrics of the exporter.
    pub name: &'static str,
    /// Returns them in the text format of OpenMetrics, without its end.
    pub compute: Box<Compute>,
}

/// Serves metrics of a cluster.
pub struct Exporter {
    telemetry: Arc<Telemetry>,
    parts: Vec<Part>,
    every: Duration,
    /// Nothing before the cluster was read.
    state: Mutex<Option<State>>,
    /// Locked during computations, so that there is one at a time.
    computing: tokio::sync::Mutex<()>,
    /// Parts as they were computed last.
    computed: Mutex<Vec<Option<Computed>>>,
    metrics: ExportMetrics,
}

/// A cluster that is watched.
struct State {
    cluster: Cluster,
    clock: Clock,
    /// Number of changes so far.
    changes: u64,
}

/// A part as it was computed.
struct Computed {
    text: String,
    /// Number of changes before.
    changes: u64,
    /// Its start and end.
    time: (Instant, Instant),
}

impl Computed {
    /// Reports whether to compute it again at `now`, after so many `changes`.
    fn is_due(&self, changes: u64, every: Duration, now: Instant) -> bool {
        let (start, end) = self.time;
        let took = end - start;
        let rested = now >= end + took * REST && now >= start + every;
        rested && (changes != self.changes || now >= start + AGED.max(took * AGED_REST))
    }
}

impl Exporter {
    /// Serves `parts`, each computed no more often than `every`.
    pub fn new(parts: Vec<Part>, every: Duration) -> Self {
        Self {
            computing: tokio::sync::Mutex::default(),
            computed: Mutex::new(parts.iter().map(|_| None).collect()),
            parts,
            every,
            telemetry: Arc::default(),
            state: Mutex::default(),
            metrics: ExportMetrics::default(),
        }
    }

    /// Waits until this replica holds the lease `key`, if there is one, reads the cluster with `load`, and watches it until it is interrupted.
    /// `at` is the time now.
    ///
    /// # Errors
    /// If the cluster can no longer be watched, its versions or gates change, or the lease is lost.
    pub async fn run<'l, E: From<Failure>>(
        &self,
        (live, key, at): (&Live, Option<Key>, Time),
        load: impl AsyncFnOnce() -> Result<Listed<'l>, E>,
        options: Options,
        mut tell: impl FnMut(Message),
    ) -> Result<(), E> {
        let clock = Clock::set(at, options.wall.map(|_| live.server_time().clone()));
        let mut election = LeaderElection::start(live, key, EXPORT, &clock);
        let mut interruption = options.interruption.clone();
        while !election.leads() {
            tokio::select! {
                biased;
                _ = interruption.wait_for(|interrupted| *interrupted) => {
                    election.leave().await;
                    return Ok(());
                }
                state = election.changed() => match state {
                    LeaseState::Held => {}
                    LeaseState::Waiting { holder, trouble } => tell(Message::Standby { holder, trouble }),
                    LeaseState::Lost => return Err(lost(&election).into()),
                }
            }
        }
        self.metrics.leader.set(1);
        let listed = load().await?;
        let watched = self.watch(listed, &mut election, options, tell).await;
        election.leave().await;
        Ok(watched?)
    }

    async fn watch(
        &self,
        listed: Listed<'_>,
        election: &mut LeaderElection,
        options: Options,
        mut tell: impl FnMut(Message),
    ) -> Result<(), Failure> {
        let mut interruption = options.interruption;
        let clock = listed.clock(options.wall);
        let (mut watch, mut drifts) = listed
            .watch(options.as_released, options.recheck, &self.telemetry)
            .await?;
        let mut latencies = Latencies::since(listed.at);
        *self.state() = Some(State {
            cluster: listed.loaded.cluster,
            clock,
            changes: 0,
        });
        tell(Message::Started);
        loop {
            tokio::select! {
                biased;
                _ = interruption.wait_for(|interrupted| *interrupted) => return Ok(()),
                state = election.changed() => if state == LeaseState::Lost {
                    return Err(lost(election));
                },
                watched = watch.next(BATCH) => {
                    let changes = self.telemetry.watched(watched?, &mut tell);
                    self.apply(changes, &mut latencies);
                }
                drift = drifts.next() => match drift {
                    Drift::Harmless(change) => tell(Message::ClusterChanged(change)),
                    Drift::Breaking(differences) => return Err(Failure::Moved { differences }),
                },
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn computed(&self) -> MutexGuard<'_, Vec<Option<Computed>>> {
        self.computed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply(&self, changes: Vec<Change>, latencies: &mut Latencies) {
        let mut state = self.state();
        let Some(state) = &mut *state else { return };
        let now = state.clock.moment().written;
        for change in changes {
            match latencies.see(&state.cluster, &change, now) {
                Some(Latency::Allocation(time)) => self.metrics.allocations.observe(time.as_secs_f64()),
                Some(Latency::Start(time)) => self.metrics.starts.observe(time.as_secs_f64()),
                None => {}
            }
            state.cluster.apply(change);
            state.changes += 1;
        }
    }

    /// Computes the parts that are due at `now`, one after the other.
    async fn compute(self: Arc<Self>, now: Instant) {
        let _one = self.computing.lock().await;
        for (place, part) in self.parts.iter().enumerate() {
            let Some((cluster, changes, time)) = self.due(place, now) else {
                continue;
            };
            let exporter = Arc::clone(&self);
            let computing = tokio::task::spawn_blocking(move || {
                let start = Instant::now();
                let text = (exporter.parts[place].compute)(&cluster, time);
                Computed {
                    text,
                    changes,
                    time: (now, now + start.elapsed()),
                }
            });
            // It is only cancelled at the end of the program, and does not panic.
            if let Ok(new) = computing.await {
                self.metrics.computed(part.name, &new, time);
                self.computed()[place] = Some(new);
            }
        }
    }

    /// The time that a scrape at `now` waits.
    fn patience(&self, now: Instant) -> Duration {
        let is_awaited = |part: &Option<Computed>| {
            part.as_ref().is_none_or(
                |Computed {
                     time: (start, end), ..
                 }| { now >= *start + STALE && *end - *start < LONG_PATIENCE },
            )
        };
        if self.computed().iter().any(is_awaited) {
            LONG_PATIENCE
        } else {
            PATIENCE
        }
    }

    /// The metrics as they were computed last.
    fn text(&self) -> String {
        let computed = self.computed();
        let mut text: String = computed.iter().flatten().map(|part| part.text.as_str()).collect();
        drop(computed);
        // A string takes whatever is written.
        _ = encode_registry(&mut text, &self.metrics.registry);
        self.telemetry.metrics.finish(text)
    }

    /// The cluster, the number of changes so far and the cluster's time, if a part is due.
    fn due(&self, place: usize, now: Instant) -> Option<(Cluster, u64, Time)> {
        let mut state = self.state();
        let state = state.as_mut()?;
        let is_due = self.computed()[place]
            .as_ref()
            .is_none_or(|computed| computed.is_due(state.changes, self.every, now));
        is_due.then(|| {
            let time = state.clock.moment().written;
            (state.cluster.clone(), state.changes, time)
        })
    }
}

fn lost(election: &LeaderElection) -> Failure {
    Failure::LeaseLost {
        lease: election.key.clone().unwrap_or_default(),
    }
}

impl Endpoint for Exporter {
    fn why_not_ready(&self) -> Vec<String> {
        // A replica that waits for the lease is ready to get it.
        if self.metrics.leader.get() == 0 {
            return Vec::new();
        }
        self.telemetry.why_not_ready()
    }

    async fn metrics(self: Arc<Self>) -> String {
        let now = Instant::now();
        let patience = self.patience(now);
        // It continues if a scrape does not wait for its end.
        let computing = tokio::spawn(Arc::clone(&self).compute(now));
        _ = tokio::time::timeout(patience, computing).await;
        self.text()
    }
}

type OfPart = [(&'static str, &'static str); 1];

/// Metrics of the exporter itself, and what it has observed.
#[derive(Debug)]
struct ExportMetrics {
    registry: Registry,
    allocations: Histogram,
    starts: Histogram,
    leader: Gauge,
    durations: Family<OfPart, Gauge<f64, AtomicU64>>,
    times: Family<OfPart, Gauge<f64, AtomicU64>>,
}

impl Default for ExportMetrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        let to = &mut registry;
        Self {
            allocations: register_as(
                to,
                "dra_claim_allocation_duration_seconds",
                "Time from the creation of a claim to its allocation, since the start of the exporter",
                Histogram::new(LATENCIES),
            ),
            starts: register_as(
                to,
                "dra_pod_start_duration_seconds",
                "Time from the last allocation of the claims of a pod until it runs, since the start of the exporter",
                Histogram::new(LATENCIES),
            ),
            leader: register(to, "kubectl_dra_export_leader", "Whether this replica exports"),
            durations: register(
                to,
                "kubectl_dra_export_computation_seconds",
                "Duration of the last computation of a part of the metrics",
            ),
            times: register(
                to,
                "kubectl_dra_export_computed_timestamp_seconds",
                "Time of the state that a part of the metrics was computed from",
            ),
            registry,
        }
    }
}

impl ExportMetrics {
    fn computed(&self, part: &'static str, computed: &Computed, now: Time) {
        let (start, end) = computed.time;
        let labels = [("part", part)];
        self.durations
            .get_or_create(&labels)
            .set((end - start).as_secs_f64());
        self.times
            .get_or_create(&labels)
            .set(now.unix_nanoseconds() as f64 / 1e9);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn exporter(every: Duration) -> (Arc<Exporter>, Arc<AtomicUsize>) {
        let computed = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&computed);
        let part = Part {
            name: "part",
            compute: Box::new(move |_, _| {
                let number = counting.fetch_add(1, Ordering::SeqCst);
                format!("# TYPE number gauge\nnumber {number}\n")
            }),
        };
        (Arc::new(Exporter::new(vec![part], every)), computed)
    }

    fn set(exporter: &Exporter, changes: u64) {
        let now: Time = "2026-11-23T10:00:00Z".parse().unwrap();
        *exporter.state() = Some(State {
            cluster: Cluster::default(),
            clock: Clock::set(now, None),
            changes,
        });
    }

    #[tokio::test]
    async fn nothing_is_computed_unless_something_has_changed_or_aged() {
        let every = Duration::from_secs(10);
        // However long a computation takes here, it has rested for long enough then.
        let hour = Duration::from_secs(60 * 60);
        let (exporter, computed) = exporter(every);
        let start = Instant::now();
        let count = async |at: Instant, expected: usize| {
            Arc::clone(&exporter).compute(at).await;
            let text = exporter.text();
            assert!(text.ends_with("# EOF\n"), "{text}");
            assert_eq!(computed.load(Ordering::SeqCst), expected, "{text}");
            text
        };
        // Before the cluster was read there is nothing to say about it.
        assert!(!count(start, 0).await.contains("number "));
        set(&exporter, 0);
        assert!(count(start, 1).await.contains("\nnumber 0\n"));
        count(start + every * 2, 1).await;
        set(&exporter, 1);
        assert!(count(start + hour, 2).await.contains("\nnumber 1\n"));
        // Not again within the interval.
        set(&exporter, 2);
        count(start + hour + every / 2, 2).await;
        count(start + hour * 2, 3).await;
        count(start + hour * 2 + AGED / 2, 3).await;
        count(start + hour * 3, 4).await;
    }

    #[tokio::test]
    async fn a_scrape_does_not_wait_for_a_long_computation() {
        let (end, ends) = std::sync::mpsc::channel();
        let ends = Mutex::new(ends);
        let part = Part {
            name: "part",
            compute: Box::new(move |_, _| {
                _ = ends.lock().map(|ends| ends.recv());
                "number 1\n".to_owned()
            }),
        };
        let exporter = Arc::new(Exporter::new(vec![part], Duration::ZERO));
        set(&exporter, 0);
        let text = Arc::clone(&exporter).metrics().await;
        assert!(!text.contains("number 1\n"), "{text}");
        end.send(()).unwrap();
        // It waits for the computation that continues.
        let text = Arc::clone(&exporter).metrics().await;
        assert!(text.starts_with("number 1\n"), "{text}");
    }

    #[test]
    fn only_what_is_missing_or_old_is_awaited() {
        let (exporter, _) = exporter(Duration::ZERO);
        let start = Instant::now();
        assert_eq!(exporter.patience(start), LONG_PATIENCE);
        for (took, age, expected) in [
            (LONG_PATIENCE / 2, STALE / 2, PATIENCE),
            (LONG_PATIENCE / 2, STALE, LONG_PATIENCE),
            // Not there in time, however long it is awaited.
            (LONG_PATIENCE, STALE, PATIENCE),
        ] {
            exporter.computed()[0] = Some(Computed {
                text: String::new(),
                changes: 0,
                time: (start, start + took),
            });
            assert_eq!(exporter.patience(start + age), expected, "{took:?} {age:?}");
        }
    }

    #[test]
    fn what_takes_long_rests_for_long() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let computed = Computed {
            text: String::new(),
            changes: 0,
            time: (start, start + second * 20),
        };
        let is_due = |changes, seconds| computed.is_due(changes, second, start + second * seconds);
        assert!(!is_due(1, 199) && is_due(1, 200));
        // Unless something has changed, for longer.
        assert!(!is_due(0, 979) && is_due(0, 980));
    }
}
