//! What watches, clocks and queues tell besides changes, for people, probes and metrics.

use tokio::time::Instant;

use super::metrics::labels_of;
use super::probes::Operation;
use dra_model::{Change, Cluster, Kind, Object, Time};
use dra_rules::controllers::{ControllerName, Engine};
use dra_sources::live::{Trouble, Unreadable, Watched};

/// Something to know that changes nothing in the cluster.
#[derive(Debug)]
pub enum News {
    /// A watch is interrupted; it goes on by itself.
    Interrupted(Trouble),
    /// A watch is open, for the first time or again.
    InStep(Kind),
    /// An object cannot be read; what was known of it counts.
    Unreadable(Unreadable),
    /// The clock of this machine is not that of the API server.
    ClockStrays(String),
    /// The clock of the API server was set.
    ClockSet(String),
    /// Something about the cluster is otherwise than it was, and the rules are the same.
    Changed(String),
}

impl Operation {
    /// The work begins with `cluster`, of which these kinds are watched.
    pub(super) fn begin(&self, cluster: &Cluster, kinds: impl Iterator<Item = Kind>) {
        self.health.begin(kinds);
        for object in cluster.objects(Kind::ResourceClaim) {
            if let Object::ResourceClaim(claim) = object {
                self.metrics.claim_changed(None, Some(labels_of(claim)));
            }
        }
    }

    /// Notes what a watch tells. Its changes are for the engine.
    pub(super) fn note(&self, watched: Watched) -> Result<Vec<Change>, News> {
        match watched {
            Watched::Changes(changes) => Ok(changes),
            Watched::Unreadable(object) => {
                self.metrics.unreadable(object.kind);
                Err(News::Unreadable(object))
            }
            Watched::Trouble(trouble) => {
                self.health.trouble(&trouble);
                self.metrics.watch(trouble.kind, false);
                Err(News::Interrupted(trouble))
            }
            Watched::InStep(kind) => {
                self.health.in_step(kind);
                self.metrics.watch(kind, true);
                Err(News::InStep(kind))
            }
        }
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

    /// Measures the queues of `engine` from here on, if somebody can ask.
    pub(super) fn begin_queues(&self, engine: &mut Engine) {
        if self.is_measured {
            for controller in ControllerName::ALL {
                if let Some(queue) = engine.queue(controller) {
                    queue.begin_log();
                }
            }
        }
    }

    /// Notes what has happened in the queues. Call it before jobs are handed out, and after.
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
