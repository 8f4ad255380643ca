//! The take-over: what the controllers want is carried out, instead of the built-in ones.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clock::Clock;
use super::failure::Failure;
use super::manager::{Listed, Options, Role, Writing, drive};
use super::message::Message;
use super::preflight::Rival;
use super::rivals::Rivals;
use super::rules::rules;
use super::status::{JobCounts, Status};
use dra_model::{Change, Cluster, Time};
use dra_rules::controllers::{
    ControllerName, Deviations, Engine, Job, Notice, Origin, Owner, ResourceClaims, TaintEviction,
};

/// Options of a take-over.
pub struct TakeOver {
    /// Controllers to replace, each with its maximum number of concurrent jobs.
    pub workers: BTreeMap<ControllerName, usize>,
    /// Deviations from upstream.
    pub deviations: Deviations,
    /// A rule that would evict more pods evicts none.
    pub eviction_limit: Option<usize>,
}

/// Watches the cluster from where the list ended, and does what the controllers want, until it is interrupted.
///
/// # Errors
/// If the cluster can no longer be watched, the lease is lost, or another controller does the same work.
pub async fn take_over(
    listed: Listed<'_>,
    take_over: TakeOver,
    writing: Writing,
    options: Options,
    tell: impl FnMut(Message),
) -> Result<JobCounts, Failure> {
    let as_released = options.as_released;
    let build = |cluster: Cluster, now| {
        let engine = take_over.engine(cluster, as_released, now);
        let role = Replacement {
            workers: take_over.workers,
            rivals: Rivals::default(),
        };
        (engine, role)
    };
    drive(listed, options, Some(writing), build, tell)
        .await?
        .into_result()
}

impl TakeOver {
    fn engine(&self, cluster: Cluster, as_released: bool, now: Time) -> Engine {
        let (features, release) = rules(cluster.environment(), self.deviations, as_released);
        let works = |name| self.workers.contains_key(&name);
        let claims = works(ControllerName::ResourceClaim).then(|| ResourceClaims::start(&cluster, features));
        let eviction = works(ControllerName::DeviceTaintEviction).then(|| {
            let eviction = TaintEviction::start(&cluster, release, now);
            match self.eviction_limit {
                Some(limit) => eviction.with_limit(limit),
                None => eviction,
            }
        });
        Engine::new(cluster, claims, eviction)
    }
}

/// The role instead of the built-in controllers.
struct Replacement {
    workers: BTreeMap<ControllerName, usize>,
    rivals: Rivals,
}

impl Role for Replacement {
    const BATCH: Duration = Duration::from_millis(5);
    const REPLACES: bool = true;

    fn lead(&mut self, settled: Time) {
        self.rivals.alone_from = Some(settled);
    }

    fn next_jobs(&mut self, engine: &mut Engine, _under_way: usize, leads: bool, now: Time) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (name, workers) in self.workers.iter().filter(|_| leads) {
            while engine.jobs_of(*name) < *workers
                && let Some(job) = engine.next_of(*name, now)
            {
                self.rivals.begins(&job.work);
                jobs.push(job);
            }
        }
        jobs
    }

    fn next_due(&self, engine: &Engine, leads: bool, now: Time) -> Option<Time> {
        let free = self
            .workers
            .iter()
            .filter(|(name, workers)| leads && engine.jobs_of(**name) < **workers);
        engine.next_due_among(free.map(|(name, _)| *name), now)
    }

    fn see(&mut self, engine: &mut Engine, change: Change, now: Time) -> Vec<Notice> {
        engine.see(change, Origin::Watch, now).unwrap_or_default()
    }

    fn rival(&mut self, engine: &Engine, change: &Change) -> Option<(Rival, Owner)> {
        let works = |name| self.workers.contains_key(&name);
        self.rivals.rival(engine, works, change)
    }

    fn messages(&mut self, engine: &mut Engine, _under_way: usize, _clock: &Clock) -> Vec<Message> {
        let given_up = engine.given_up().into_iter();
        given_up
            .map(|(subject, why)| Message::Failed {
                controller: subject.controller(),
                object: subject.to_string(),
                why: format!("{why}; it is retried when it changes"),
            })
            .collect()
    }

    fn status(&self, engine: &mut Engine, now: Time) -> Status {
        let (mut due, mut under_way) = (0, 0);
        for name in self.workers.keys() {
            due += engine.queue(*name).map_or(0, |queue| queue.depth(now));
            under_way += engine.jobs_of(*name);
        }
        Status {
            now,
            wishes: None,
            oldest: Vec::new(),
            queued: Some((due, under_way)),
            jobs: None,
        }
    }
}

/// Default maximum number of concurrent jobs of a controller. Mirrors `pkg/controller/resourceclaim/config/
/// v1alpha1/defaults.go` and `pkg/controller/devicetainteviction/config/v1alpha1/defaults.go`, v1.37.2.
pub const fn default_workers(name: ControllerName) -> usize {
    match name {
        ControllerName::ResourceClaim => 50,
        ControllerName::DeviceTaintEviction => 8,
    }
}
