//! The role beside the built-in controllers: compares what they do with what the rules want, and writes nothing but a supplement.

use std::sync::Arc;
use std::time::Duration;

use super::clock::Clock;
use super::manager::Role;
use super::message::Message;
use super::status::Status;
use super::telemetry::Telemetry;
use dra_model::{Change, Time};
use dra_rules::controllers::{Engine, Found, Job, Notice, Outcome, Shadow, Wish, Work};

/// Maximum number of concurrent jobs. There is little to do where the built-in controllers work.
const WORKERS: usize = 8;

/// Wishes that the status shows one by one.
const MOST: usize = 5;

/// Compares the built-in controllers with the rules.
pub(super) struct Comparison {
    pub(super) shadow: Shadow,
    pub(super) telemetry: Arc<Telemetry>,
    /// Is true for a supplement, which does not report what it finds.
    pub(super) supplements: bool,
    /// Jobs that wait for a free worker.
    waiting: Vec<Job>,
    /// Is true once the first lookups are answered.
    has_started: bool,
}

impl Comparison {
    pub(super) fn new(shadow: Shadow, telemetry: Arc<Telemetry>, supplements: bool) -> Self {
        Self {
            shadow,
            telemetry,
            supplements,
            waiting: Vec::new(),
            has_started: false,
        }
    }

    /// The job was not tried.
    fn give_back(&mut self, engine: &mut Engine, job: &Job, outcome: Outcome, now: Time) {
        self.shadow.answered(&job.subject);
        engine.done(job.id, outcome, now);
    }
}

impl Role for Comparison {
    const BATCH: Duration = Duration::from_millis(20);
    const REPLACES: bool = false;

    fn next_jobs(&mut self, engine: &mut Engine, under_way: usize, leads: bool, now: Time) -> Vec<Job> {
        self.shadow.doubt(engine, now);
        while let Some(job) = engine.next(now) {
            let Some(job) = self.shadow.take(engine, job, now) else {
                continue;
            };
            if leads || matches!(job.work, Work::Look(_)) {
                self.waiting.push(job);
            } else {
                self.give_back(engine, &job, Outcome::Parked, now);
            }
        }
        self.shadow.judge(engine, now);
        let free = WORKERS.saturating_sub(under_way).min(self.waiting.len());
        self.waiting.drain(..free).collect()
    }

    fn next_due(&self, engine: &Engine, _leads: bool, now: Time) -> Option<Time> {
        let due = [engine.next_due(now), self.shadow.next_due(engine)];
        due.into_iter().flatten().min()
    }

    fn see(&mut self, engine: &mut Engine, change: Change, now: Time) -> Vec<Notice> {
        self.shadow.see(engine, change, now);
        Vec::new()
    }

    fn finished(&mut self, engine: &mut Engine, job: &Job, is_done: bool, now: Time) -> Option<Message> {
        self.shadow.answered(&job.subject);
        // What cannot be sent now goes back to the queue, which knows when to continue.
        if engine.is_cut_off() {
            for job in std::mem::take(&mut self.waiting) {
                self.give_back(engine, &job, Outcome::Unreachable, now);
            }
        }
        is_done.then(|| Message::Supplied(Wish::of(&job.work)))
    }

    fn messages(&mut self, _engine: &mut Engine, under_way: usize, clock: &Clock) -> Vec<Message> {
        let counts = self.shadow.counts();
        self.telemetry.metrics.wishes(counts);
        let found = self.shadow.news();
        // A supplement does not report what the built-in controllers do: that is for a shadow to find.
        if self.supplements {
            return Vec::new();
        }
        let found = found.into_iter().map(|found| {
            self.telemetry.metrics.found(&found);
            Message::Found(as_written(found, clock))
        });
        let started = (under_way == 0 && !self.has_started).then_some(Message::Watching(counts));
        self.has_started |= started.is_some();
        found.chain(started).collect()
    }

    fn status(&self, _engine: &mut Engine, now: Time) -> Status {
        Status {
            now,
            wishes: Some(self.shadow.counts()),
            oldest: self.shadow.oldest(MOST),
            queued: None,
            jobs: None,
        }
    }
}

/// The finding, with times as the API server writes them.
pub(super) fn as_written(found: Found, clock: &Clock) -> Found {
    Found {
        since: clock.written(found.since),
        until: found.until.map(|until| clock.written(until)),
        ..found
    }
}
