//! The loop that every role shares: it watches a cluster, asks the role what to do, and runs its jobs.
//!
//! One task owns the engine. Deciding never waits for the API server: each job is a task of its own, whose result comes back to the loop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::clock::{Clock, Moment, SkewCheck, reached};
use super::drift::{Drift, DriftWatch, Recheck};
use super::events::{Broadcaster, Recorder};
use super::failure::Failure;
use super::leader_election::{LeaderElection, SETTLING};
use super::lease::{LeaseState, SUPPLEMENT};
use super::message::Message;
use super::preflight::Rival;
use super::rate_limiter::RateLimiter;
use super::status::{JobCounts, Status, StatusTicker};
use super::telemetry::Telemetry;
use super::worker::{JobResult, Worker};
use dra_model::{Change, Cluster, Key, Str, Time};
use dra_rules::controllers::{ControllerName, Engine, Job, Notice, Outcome, Owner, Subject};
use dra_sources::live::{Error, Live, Persistence, Watch};
use dra_sources::{Loaded, Needs};

/// The time for jobs that are under way at the end. No write takes longer at the server.
const LAST_WRITES: Duration = Duration::from_secs(5);

/// The time for the last events.
const LAST_EVENTS: Duration = Duration::from_secs(3);

/// A cluster that was listed and is to be watched from there.
pub struct Listed<'a> {
    /// Its API server.
    pub live: &'a Live,
    /// Kinds to watch.
    pub needs: &'a Needs,
    /// Objects as they were listed.
    pub loaded: Loaded,
    /// Time of the list.
    pub at: Time,
}

impl Listed<'_> {
    /// The clock since the list, with the API server's time where that of this machine counts.
    pub(super) fn clock(&self, wall: Option<fn() -> Time>) -> Clock {
        Clock::set(self.at, wall.map(|_| self.live.server_time().clone()))
    }

    /// Watches the cluster from there, and checks whether its rules still fit, as wanted by `recheck`.
    pub(super) async fn watch(
        &self,
        as_released: bool,
        recheck: Option<Recheck>,
        telemetry: &Arc<Telemetry>,
    ) -> Result<(Watch, DriftWatch), Error> {
        let (live, loaded) = (self.live, &self.loaded);
        let watch = live
            .watch(
                self.needs,
                &loaded.cluster,
                &loaded.resource_versions,
                Persistence::Lasting,
            )
            .await?;
        telemetry.health.begin(watch.kinds());
        let environment = loaded.cluster.environment();
        let drifts = DriftWatch::start(live, self.needs, environment, as_released, recheck, telemetry);
        Ok((watch, drifts))
    }
}

/// Options of a run, whatever its mode.
#[derive(Clone)]
pub struct Options {
    /// Duration of the run; without it, it never ends automatically.
    pub for_: Option<Duration>,
    /// Becomes true when the run has to end.
    pub interruption: watch::Receiver<bool>,
    /// Takes the rules of the cluster's release, bugs included, rather than the newest.
    pub as_released: bool,
    /// The clock of this machine, to be compared with the API server's; absent where another time than the server's counts.
    pub wall: Option<fn() -> Time>,
    /// Health and metrics.
    pub telemetry: Arc<Telemetry>,
    /// Checks whether the rules still fit the cluster; the run ends if they do not.
    pub recheck: Option<Recheck>,
    /// Sends the status every second.
    pub shows_status: bool,
}

/// Options of a run that writes.
pub struct Writing {
    /// Requests per second; 0 without a limit.
    pub qps: u32,
    /// Maximum number of concurrent requests.
    pub burst: u32,
    /// The lease required for writing; none if this is the only writer.
    pub lease: Option<Key>,
    /// Sends each write as a dry run, which the server does not persist.
    pub dry_run: bool,
}

impl Writing {
    /// Nothing is written.
    const NONE: Self = Self {
        qps: 0,
        burst: 0,
        lease: None,
        dry_run: true,
    };
}

/// A mode of `run`, as far as it differs from the others.
pub(super) trait Role {
    /// Changes that arrive within this time are handled together.
    const BATCH: Duration;

    /// Is true for a mode that replaces the built-in controllers.
    const REPLACES: bool;

    /// This replica leads. What others write after `settled`, by the API server's clock, is not by an earlier leader.
    fn lead(&mut self, _settled: Time) {}

    /// The jobs to start now, while so many are under way. Only a replica that `leads` may write.
    fn next_jobs(&mut self, engine: &mut Engine, under_way: usize, leads: bool, now: Time) -> Vec<Job>;

    /// The time at which [`Self::next_jobs`] or [`Self::messages`] may have something new.
    fn next_due(&self, engine: &Engine, leads: bool, now: Time) -> Option<Time>;

    /// Shows a change to the engine.
    fn see(&mut self, engine: &mut Engine, change: Change, now: Time) -> Vec<Notice>;

    /// The rival that the change shows, and the object that it wrote. The engine has not seen the change yet.
    fn rival(&mut self, _engine: &Engine, _change: &Change) -> Option<(Rival, Owner)> {
        None
    }

    /// The engine knows how a job went.
    fn finished(&mut self, _engine: &mut Engine, _job: &Job, _is_done: bool, _now: Time) -> Option<Message> {
        None
    }

    /// Messages after the jobs were started; this many are in progress.
    fn messages(&mut self, engine: &mut Engine, under_way: usize, clock: &Clock) -> Vec<Message>;

    /// The current state.
    fn status(&self, engine: &mut Engine, now: Time) -> Status;
}

/// A run that has ended.
pub(super) struct Ended<R> {
    pub(super) role: R,
    pub(super) clock: Clock,
    pub(super) counts: JobCounts,
    /// Reason why it ended early.
    pub(super) failure: Option<Failure>,
}

impl<R> Ended<R> {
    /// The result of a mode that writes.
    pub(super) fn into_result(self) -> Result<JobCounts, Failure> {
        self.failure.map_or(Ok(self.counts), Err)
    }
}

/// Runs a role from where the list ended until it is interrupted. `build` makes the engine and the role; without `writing`, a role only
/// looks up.
///
/// # Errors
/// If the cluster can no longer be watched.
pub(super) async fn drive<R: Role>(
    listed: Listed<'_>,
    options: Options,
    writing: Option<Writing>,
    build: impl FnOnce(Cluster, Time) -> (Engine, R),
    tell: impl FnMut(Message),
) -> Result<Ended<R>, Error> {
    let mut interruption = options.interruption;
    let telemetry = options.telemetry;
    let writes = writing.is_some();
    let writing = writing.unwrap_or(Writing::NONE);
    let until = options.for_.map(|time| Instant::now() + time);
    let mut clock = listed.clock(options.wall);
    let writer = Arc::new(listed.live.writer(writing.dry_run).await?);
    let (mut watch, mut drifts) = listed
        .watch(options.as_released, options.recheck, &telemetry)
        .await?;
    let live = listed.live;
    telemetry.begin(&listed.loaded.cluster);
    let (recorder, broadcaster) = (!writing.dry_run)
        .then(|| Recorder::start(Arc::clone(&writer)))
        .unzip();
    let (mut engine, role) = build(listed.loaded.cluster, clock.now());
    telemetry.begin_queues(&mut engine);
    let limiter = || Arc::new(RateLimiter::new(writing.qps, writing.burst));
    let shared = limiter();
    let worker_of = |name| {
        let worker = Worker {
            writer: Arc::clone(&writer),
            // As in kube-controller-manager, a controller does not wait for the requests of another one.
            limiter: if R::REPLACES {
                limiter()
            } else {
                Arc::clone(&shared)
            },
            recorder: recorder.clone(),
            telemetry: Arc::clone(&telemetry),
        };
        (name, worker)
    };
    let workers = BTreeMap::from(ControllerName::ALL.map(worker_of));
    let suffix = if R::REPLACES { "" } else { SUPPLEMENT };
    let mut election = LeaderElection::start(live, writing.lease, suffix, &clock);
    let mut ticker = StatusTicker::new(options.shows_status);
    let mut manager = Manager {
        engine,
        role,
        clock,
        skew: SkewCheck::with(options.wall),
        workers,
        jobs: JoinSet::new(),
        recorder,
        telemetry: Arc::clone(&telemetry),
        writes,
        counts: JobCounts::default(),
        tell,
    };
    if election.leads() {
        manager.lead();
    }
    let failure = loop {
        let wake = reached(manager.start_jobs(election.leads()));
        let (over, asked) = (reached(until), reached(telemetry.health.ask_at()));
        tokio::select! {
            biased;
            () = over => break None,
            state = election.changed() => match state {
                LeaseState::Held => manager.lead(),
                LeaseState::Waiting { holder, trouble } => (manager.tell)(Message::Standby { holder, trouble }),
                LeaseState::Lost => {
                    let lease = election.key.clone().unwrap_or_default();
                    break Some(Failure::LeaseLost { lease });
                }
            },
            _ = interruption.wait_for(|interrupted| *interrupted) => break None,
            () = ticker.tick() => if election.leads() {
                manager.tell_status();
            },
            Some(Ok(result)) = manager.jobs.join_next() => {
                manager.finish(result);
                while let Some(Ok(result)) = manager.jobs.try_join_next() {
                    manager.finish(result);
                }
            }
            watched = watch.next(R::BATCH) => {
                let changes = telemetry.watched(watched?, &mut manager.tell);
                if let Some((rival, written)) = manager.see_all(changes, election.is_settled()) {
                    manager.record_rival(&rival, &written, election.object(live).await);
                    break Some(rival.into());
                }
            }
            drift = drifts.next() => match drift {
                Drift::Harmless(change) => (manager.tell)(Message::ClusterChanged(change)),
                Drift::Breaking(differences) => break Some(Failure::Moved { differences }),
            },
            () = asked => {}
            () = wake => {}
        }
    };
    drop(watch);
    manager.end(broadcaster).await;
    election.leave().await;
    Ok(Ended {
        role: manager.role,
        clock: manager.clock,
        counts: manager.counts,
        failure,
    })
}

/// The engine and the role, with everything that learns what they do.
struct Manager<R, T> {
    engine: Engine,
    role: R,
    clock: Clock,
    skew: SkewCheck,
    workers: BTreeMap<ControllerName, Worker>,
    /// Jobs that are under way.
    jobs: JoinSet<JobResult>,
    /// Absent in a dry run.
    recorder: Option<Recorder>,
    telemetry: Arc<Telemetry>,
    writes: bool,
    counts: JobCounts,
    tell: T,
}

impl<R: Role, T: FnMut(Message)> Manager<R, T> {
    /// This replica leads from now on.
    fn lead(&mut self) {
        if self.writes {
            (self.tell)(Message::Started);
        }
        self.role.lead(self.clock.moment().written.after(SETTLING));
    }

    /// Starts the jobs that are due, and says when the next ones may be.
    fn start_jobs(&mut self, leads: bool) -> Option<Instant> {
        let moment = self.clock.moment();
        let now = moment.now;
        if let Some(message) = self.clock.step(&mut self.engine) {
            (self.tell)(message);
        }
        let engine = &self.engine;
        let still_wants = |subject: &Subject| engine.still_wants(subject);
        self.telemetry.health.ask_whether(Instant::now(), still_wants);
        self.telemetry.measure_queues(&mut self.engine, now);
        let under_way = self.jobs.len();
        for job in self.role.next_jobs(&mut self.engine, under_way, leads, now) {
            if let Some(worker) = self.workers.get(&job.controller).cloned() {
                self.jobs.spawn(async move { worker.run(job, moment).await });
            }
        }
        self.telemetry.measure_queues(&mut self.engine, now);
        let under_way = self.jobs.len();
        let messages = self.role.messages(&mut self.engine, under_way, &self.clock);
        let messages = self.skew.message(&mut self.clock).into_iter().chain(messages);
        messages.for_each(&mut self.tell);
        let due = self.role.next_due(&self.engine, leads, now);
        due.map(|due| self.clock.instant(due))
    }

    fn tell_status(&mut self) {
        let status = Status {
            jobs: self.writes.then_some(self.counts),
            ..self.role.status(&mut self.engine, self.clock.now())
        };
        (self.tell)(Message::Status(status));
    }

    /// Sees changes up to one that shows a rival, if that is news.
    fn see_all(&mut self, changes: Vec<Change>, is_settled: bool) -> Option<(Rival, Owner)> {
        let is_news = is_settled && self.recorder.is_some();
        let moment = self.clock.moment();
        for change in changes {
            let rival = self.role.rival(&self.engine, &change);
            if rival.is_some() && is_news {
                return rival;
            }
            self.see(change, moment);
        }
        None
    }

    fn see(&mut self, change: Change, moment: Moment) {
        let see = |engine: &mut Engine, change| self.role.see(engine, change, moment.now);
        let notices = self.telemetry.counting(&mut self.engine, change, see);
        for Notice::EvictionCancelled(pod) in notices {
            if let Some(recorder) = &self.recorder {
                recorder.spared(&pod, moment.written);
            }
        }
    }

    fn record_rival(&mut self, rival: &Rival, written: &Owner, lease: Option<(Key, Str)>) {
        let now = self.clock.moment().written;
        if let Some(recorder) = &self.recorder {
            recorder.rival(lease, written, &rival.to_string(), now);
        }
    }

    /// Takes in the result of a job.
    fn finish(&mut self, result: JobResult) {
        let moment = self.clock.moment();
        for object in result.seen {
            self.see(Change::Put(object), moment);
        }
        let health = &self.telemetry.health;
        let is_done = matches!(result.outcome, Outcome::Done | Outcome::Parked);
        if is_done || matches!(result.outcome, Outcome::Gone) {
            health.may_write(&result.job.subject);
        }
        if let Some(why) = result.trouble.as_ref().filter(|_| result.lacks_right) {
            health.may_not_write(&result.job.subject, why, Instant::now());
        }
        self.counts.carried_out += u64::from(is_done);
        self.counts.refused += u64::from(matches!(result.outcome, Outcome::Refused(_)));
        let controller = result.job.controller;
        if self.writes {
            self.telemetry.metrics.job(controller, &result.outcome);
        }
        self.engine.done(result.job.id, result.outcome, moment.now);
        let message = self
            .role
            .finished(&mut self.engine, &result.job, is_done, moment.now);
        let failed = |(object, why)| Message::Failed {
            controller,
            object,
            why,
        };
        let failures: Vec<(String, String)> = if self.writes {
            result
                .trouble
                .map(|why| (result.job.subject.to_string(), why))
                .into_iter()
                .collect()
        } else {
            result.unanswered
        };
        let messages = message.into_iter().chain(failures.into_iter().map(failed));
        messages.for_each(&mut self.tell);
    }
    /// Waits for the writes and the events that are under way.
    async fn end(&mut self, broadcaster: Option<Broadcaster>) {
        if self.writes {
            let last = async { while self.jobs.join_next().await.is_some() {} };
            _ = timeout(LAST_WRITES, last).await;
        }
        // The broadcaster ends once no recorder is left.
        self.jobs.abort_all();
        self.workers.clear();
        self.recorder = None;
        if let Some(broadcaster) = broadcaster {
            broadcaster.finish(LAST_EVENTS).await;
        }
    }
}
