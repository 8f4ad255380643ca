//! Health and metrics of a run, which the probes serve.

use tokio::time::Instant;

use super::health::Health;
use super::message::Message;
use super::metrics::{Metrics, labels_of};
use dra_model::{Change, Cluster, Kind, Object, Time};
use dra_rules::controllers::{ControllerName, Engine};
use dra_sources::live::Watched;

/// Health and metrics of a run.
#[derive(Debug, Default)]
pub struct Telemetry {
    pub(super) health: Health,
    pub(super) metrics: Metrics,
    /// Is true if the metrics are served, so that expensive ones are measured.
    is_measured: bool,
}

impl Telemetry {
    /// Telemetry whose metrics are served.
    pub fn measured() -> Self {
        Self {
            is_measured: true,
            ..Self::default()
        }
    }

    /// The watches that see nothing now, with their errors: what is known of their kinds may be wrong.
    pub fn blind(&self) -> Vec<String> {
        self.health.blind(Instant::now())
    }

    /// Begins with the claims of `cluster`.
    pub(super) fn begin(&self, cluster: &Cluster) {
        for claim in cluster.claims() {
            self.metrics.claim_changed(None, Some(labels_of(claim)));
        }
    }

    /// Records what a watch delivers: changes are for the engine, the rest becomes a message.
    pub(super) fn watched(&self, watched: Watched, tell: impl FnOnce(Message)) -> Vec<Change> {
        tell(match watched {
            Watched::Changes(changes) => return changes,
            Watched::Unreadable(object) => {
                self.metrics.unreadable(object.kind);
                Message::Unreadable(object)
            }
            Watched::Newer(fields) => Message::NotRead(fields),
            Watched::Trouble(trouble) => {
                self.health.trouble(&trouble);
                self.metrics.watch(trouble.kind, false);
                Message::WatchInterrupted(trouble)
            }
            Watched::InStep(kind) => {
                self.health.in_step(kind);
                self.metrics.watch(kind, true);
                Message::WatchOpen(kind)
            }
        });
        Vec::new()
    }

    /// Shows `change` to the engine by `see`, and counts the claim that it is about.
    pub(super) fn counting<T>(
        &self,
        engine: &mut Engine,
        change: Change,
        see: impl FnOnce(&mut Engine, Change) -> T,
    ) -> T {
        let claim = match &change {
            Change::Put(Object::ResourceClaim(claim)) => Some(claim.key()),
            Change::Delete(Kind::ResourceClaim, key) => Some(key.clone()),
            _ => None,
        };
        let labels = |engine: &Engine| {
            let claim = claim.as_ref().and_then(|key| engine.cluster().claim(key));
            claim.map(|claim| labels_of(claim))
        };
        let before = labels(engine);
        let seen = see(engine, change);
        self.metrics.claim_changed(before, labels(engine));
        seen
    }

    /// Starts to record what happens in the queues of `engine`, if the metrics are served.
    pub(super) fn begin_queues(&self, engine: &mut Engine) {
        if self.is_measured {
            for controller in ControllerName::ALL {
                if let Some(queue) = engine.queue(controller) {
                    queue.begin_log();
                }
            }
        }
    }

    /// Measures the queues. Call it before jobs are started, and after.
    pub(super) fn measure_queues(&self, engine: &mut Engine, now: Time) {
        if self.is_measured {
            let at = Instant::now();
            for controller in ControllerName::ALL {
                if let Some(queue) = engine.queue(controller) {
                    let depth = queue.depth(now);
                    self.metrics.queues.note(controller, depth, queue.take_log(), at);
                }
            }
        }
    }
}
