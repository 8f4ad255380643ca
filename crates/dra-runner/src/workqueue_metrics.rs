//! Metrics of the controllers' queues, under the names that client-go has for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};
use tokio::time::Instant;

use dra_rules::controllers::{ControllerName, QueueEvent, Subject};

type OfQueue = [(&'static str, &'static str); 1];

/// Metrics of the queues. Mirrors client-go `util/workqueue/metrics.go`, `defaultQueueMetrics`, v0.37.1, under the names of
/// component-base `metrics/prometheus/workqueue/metrics.go`.
#[derive(Debug)]
pub(super) struct WorkqueueMetrics {
    depth: Family<OfQueue, Gauge>,
    adds: Family<OfQueue, Counter>,
    retries: Family<OfQueue, Counter>,
    waits: Family<OfQueue, Histogram>,
    works: Family<OfQueue, Histogram>,
    unfinished: Family<OfQueue, Gauge<f64, AtomicU64>>,
    longest: Family<OfQueue, Gauge<f64, AtomicU64>>,
    times: Mutex<BTreeMap<ControllerName, Times>>,
}

/// Start times of the items of a queue.
#[derive(Debug, Default)]
struct Times {
    added: HashMap<Subject, Instant>,
    begun: HashMap<Subject, Instant>,
}

/// From 10 ns to 10 s, with the rounding of Go, so that the bounds have the same names.
fn durations() -> Histogram {
    Histogram::new(std::iter::successors(Some(10e-9), |bound| Some(bound * 10.)).take(10))
}

/// Registers a metric that begins with its default.
pub(super) fn register<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    register_as(registry, name, help, M::default())
}

/// Registers a metric.
pub(super) fn register_as<M: Metric + Clone>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    metric: M,
) -> M {
    registry.register(name, help, metric.clone());
    metric
}

impl WorkqueueMetrics {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let histograms = || Family::new_with_constructor(durations as fn() -> Histogram);
        Self {
            depth: register(registry, "workqueue_depth", "Current depth of workqueue"),
            adds: register(
                registry,
                "workqueue_adds",
                "Total number of adds handled by workqueue",
            ),
            waits: register_as(
                registry,
                "workqueue_queue_duration_seconds",
                "How long in seconds an item stays in workqueue before being requested",
                histograms(),
            ),
            works: register_as(
                registry,
                "workqueue_work_duration_seconds",
                "How long in seconds processing an item from workqueue takes",
                histograms(),
            ),
            unfinished: register(
                registry,
                "workqueue_unfinished_work_seconds",
                "How many seconds of work has done that is in progress and hasn't been observed by work_duration",
            ),
            longest: register(
                registry,
                "workqueue_longest_running_processor_seconds",
                "How many seconds has the longest running processor for workqueue been running",
            ),
            retries: register(
                registry,
                "workqueue_retries",
                "Total number of retries handled by workqueue",
            ),
            times: Mutex::default(),
        }
    }

    /// Records what has happened in a controller's queue until `now`, at which so many items are in it.
    pub(super) fn note(
        &self,
        controller: ControllerName,
        depth: usize,
        events: impl IntoIterator<Item = QueueEvent<Subject>>,
        now: Instant,
    ) {
        let name = name(controller);
        let depth = i64::try_from(depth).unwrap_or(i64::MAX);
        self.depth.get_or_create(&name).set(depth);
        let (adds, retries) = (self.adds.get_or_create(&name), self.retries.get_or_create(&name));
        let (waits, works) = (self.waits.get_or_create(&name), self.works.get_or_create(&name));
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let times = times.entry(controller).or_default();
        let since = |begin: Instant| now.saturating_duration_since(begin).as_secs_f64();
        for event in events {
            match event {
                QueueEvent::Added(item) => {
                    adds.inc();
                    times.added.entry(item).or_insert(now);
                }
                QueueEvent::Begun(item) => {
                    if let Some(added) = times.added.remove(&item) {
                        waits.observe(since(added));
                    }
                    times.begun.insert(item, now);
                }
                QueueEvent::Ended(item) => {
                    if let Some(begun) = times.begun.remove(&item) {
                        works.observe(since(begun));
                    }
                }
                QueueEvent::Delayed => {
                    retries.inc();
                }
            }
        }
    }

    /// Updates what grows with time.
    pub(super) fn refresh(&self, now: Instant) {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        for (controller, times) in &*times {
            let name = name(*controller);
            let ages = times.begun.values();
            let ages = ages.map(|begun| now.saturating_duration_since(*begun).as_secs_f64());
            let (sum, longest) = ages.fold((0., 0_f64), |(sum, longest), age| (sum + age, longest.max(age)));
            self.unfinished.get_or_create(&name).set(sum);
            self.longest.get_or_create(&name).set(longest);
        }
    }
}

/// The name of the queue in kube-controller-manager. Mirrors `pkg/controller/resourceclaim/controller.go`, `NewController`, v1.37.2; the
/// other one has the name of its controller.
fn name(controller: ControllerName) -> OfQueue {
    let name = match controller {
        ControllerName::ResourceClaim => "resource_claim",
        ControllerName::DeviceTaintEviction => controller.into(),
    };
    [("name", name)]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::encoding::text::encode;

    use super::*;
    use dra_model::Key;

    #[test]
    fn a_queue_is_measured_as_client_go_measures_it() {
        let mut registry = Registry::default();
        let queues = WorkqueueMetrics::registered(&mut registry);
        let item = |name: &str| Subject::Claim(Key::new("n", name));
        let (begin, second) = (Instant::now(), Duration::from_secs(1));
        let note = |depth, events: Vec<QueueEvent<Subject>>, at| {
            queues.note(ControllerName::ResourceClaim, depth, events, begin + second * at);
        };
        let (added, begun, ended) = (
            |name| QueueEvent::Added(item(name)),
            |name| QueueEvent::Begun(item(name)),
            |name| QueueEvent::Ended(item(name)),
        );
        note(2, vec![added("a"), added("b"), QueueEvent::Delayed], 0);
        note(1, vec![begun("a")], 2);
        // Again while it is worked on.
        note(2, vec![added("a")], 3);
        note(1, vec![begun("b")], 4);
        note(1, vec![ended("a")], 5);
        queues.refresh(begin + second * 7);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "workqueue_depth{name=\"resource_claim\"} 1\n",
            "workqueue_adds_total{name=\"resource_claim\"} 3\n",
            "workqueue_retries_total{name=\"resource_claim\"} 1\n",
            "workqueue_queue_duration_seconds_sum{name=\"resource_claim\"} 6.0\n",
            "workqueue_queue_duration_seconds_count{name=\"resource_claim\"} 2\n",
            "workqueue_work_duration_seconds_sum{name=\"resource_claim\"} 3.0\n",
            "workqueue_work_duration_seconds_count{name=\"resource_claim\"} 1\n",
            "workqueue_work_duration_seconds_bucket{le=\"1.0\",name=\"resource_claim\"} 0\n",
            "workqueue_work_duration_seconds_bucket{le=\"10.0\",name=\"resource_claim\"} 1\n",
            "workqueue_unfinished_work_seconds{name=\"resource_claim\"} 3.0\n",
            "workqueue_longest_running_processor_seconds{name=\"resource_claim\"} 3.0\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
