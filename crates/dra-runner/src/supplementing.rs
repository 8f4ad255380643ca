//! The supplement: beside the built-in controllers it writes what they never do, or have left undone for long.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::carrying::{Carried, Carrier};
use super::clock::{Clock, Comparison, reached};
use super::done::Done;
use super::events::Recorder;
use super::glance::{Glance, Glances};
use super::ground::{Ground, Recheck, Shift};
use super::lease::{Role, Standing};
use super::limiter::Limiter;
use super::news::News;
use super::office::Office;
use super::probes::Operation;
use super::report::{Failure, Report, Trouble};
use super::rules::rules;
use super::taking_over::finish;
use dra_model::{Change, Key, Time};
use dra_rules::controllers::{
    Deviations, Engine, Job, JobId, Outcome, ResourceClaims, Shadow, Supplement, TaintEviction, Wish, Work,
};
use dra_rules::eviction::{EvictingClaims, Release};
use dra_sources::live::{Live, Persistence};
use dra_sources::{Loaded, Needs};

/// Changes that come within this time are looked at together.
const BATCH: Duration = Duration::from_millis(20);

/// Jobs that may be out at once. There is little to do where the built-in controllers work.
const WORKERS: usize = 8;

/// What to write, and how.
pub struct Supplementing {
    /// What is written.
    pub supplement: Supplement,
    /// From when on something undone is overdue.
    pub overdue: Duration,
    /// Requests per second; 0 without a limit.
    pub qps: u32,
    /// Requests that may be sent at once.
    pub burst: u32,
    /// Whether the rules are those of the release that the cluster is said to be of, bugs included, rather than the newest.
    pub as_released: bool,
    /// The clock of this machine, to be compared with the API server's; absent where another time than the server's is to count.
    pub wall: Option<fn() -> Time>,
    /// Where it is noted how the work goes on.
    pub operation: Arc<Operation>,
    /// How to find out that the rules no longer fit, which ends it.
    pub recheck: Option<Recheck>,
    /// Whether somebody looks on, to be told every second how it stands.
    pub is_viewed: bool,
    /// The lease without which nothing is written; none where this is the only one.
    pub lease: Option<Key>,
    /// Whether the server is to keep nothing.
    pub dry_run: bool,
    /// When to end; never by itself without it.
    pub for_: Option<Duration>,
    /// Becomes true when it has to end.
    pub interruption: watch::Receiver<bool>,
}

/// What the loop waits for.
enum Event {
    Carried(Carried),
    Watched(Result<Vec<Change>, News>),
    Standing(Standing),
    Shift(Shift),
    Due,
    End,
}

/// Why it ends without being told to.
enum End {
    LeaseLost,
    Moved(Vec<String>),
}

/// Watches the cluster from where `loaded` ended, and writes what is overdue, until it is interrupted.
///
/// # Errors
/// When the cluster can no longer be watched, or the lease is lost.
pub async fn supplement(
    live: &Live,
    needs: &Needs,
    loaded: Loaded,
    begun: Time,
    how: Supplementing,
    tell: impl FnMut(Report),
) -> Result<Done, Failure> {
    let Supplementing {
        supplement,
        overdue,
        qps,
        burst,
        as_released,
        wall,
        operation,
        recheck,
        is_viewed,
        lease,
        dry_run,
        for_,
        mut interruption,
    } = how;
    let until = for_.map(|time| Instant::now() + time);
    let mut clock = Clock::set(begun, wall.map(|_| live.server_time().clone()));
    let mut comparison = Comparison::with(wall);
    let writer = Arc::new(live.writer(dry_run).await?);
    let mut watch = live
        .watch(
            needs,
            &loaded.cluster,
            &loaded.resource_versions,
            Persistence::Lasting,
        )
        .await?;
    operation.begin(&loaded.cluster, watch.kinds());
    let recorder = (!dry_run).then(|| Arc::new(Recorder::start(Arc::clone(&writer))));
    let carrier = Carrier {
        writer,
        limiter: Arc::new(Limiter::new(qps, burst)),
        recorder: recorder.clone(),
        operation: Arc::clone(&operation),
    };
    let environment = loaded.cluster.environment();
    let mut ground = Ground::watch(live, needs, environment, as_released, recheck, &operation);
    let (mut engine, shadow) = beside(loaded, supplement, overdue, as_released, clock.now());
    operation.begin_queues(&mut engine);
    let mut supplying = Supplying {
        engine,
        shadow,
        operation: &operation,
        out: HashMap::new(),
        done: Done::default(),
        tell,
    };
    let (sender, mut inbox) = mpsc::channel(WORKERS);
    let mut waiting = Vec::new();
    let mut glances = Glances::begin(is_viewed);
    let mut office = Office::run_for(live, lease, Role::Supplement, &clock);
    if office.holds() {
        (supplying.tell)(Report::Started);
    }
    let ended = loop {
        let moment = clock.moment();
        let now = moment.now;
        if let Some(news) = clock.tell(&mut supplying.engine) {
            (supplying.tell)(Report::News(news));
        }
        let engine = &supplying.engine;
        let health = &operation.health;
        health.ask_whether(Instant::now(), |subject| engine.still_wants(subject));
        operation.measure_queues(&mut supplying.engine, now);
        waiting.extend(supplying.wanted(office.holds(), now));
        while supplying.out.len() < WORKERS
            && let Some(job) = waiting.pop()
        {
            supplying.out.insert(job.id, Wish::of(&job.work));
            let (carrier, sender) = (carrier.clone(), sender.clone());
            tokio::spawn(async move {
                // Whoever asked may have ended.
                _ = sender.send(carrier.carry(job, moment).await).await;
            });
        }
        operation.metrics.wishes(supplying.shadow.counts());
        operation.measure_queues(&mut supplying.engine, now);
        if let Some(news) = comparison.news(&mut clock) {
            (supplying.tell)(Report::News(news));
        }
        if glances.is_time() && office.holds() {
            let done = Some(supplying.done);
            let glance = Glance {
                done,
                ..Glance::of(&supplying.shadow, now)
            };
            (supplying.tell)(Report::Glance(glance));
        }
        let due = [
            supplying.engine.next_due(now),
            supplying.shadow.next_due(&supplying.engine),
        ];
        let due = due.into_iter().flatten().min();
        let wake = reached(due.map(|due| clock.instant(due)));
        let (over, asked) = (reached(until), reached(operation.health.ask_at()));
        let event = tokio::select! {
            biased;
            () = over => Event::End,
            standing = office.changed() => Event::Standing(standing),
            _ = interruption.wait_for(|interrupted| *interrupted) => Event::End,
            Some(carried) = inbox.recv() => Event::Carried(carried),
            watched = watch.next(BATCH) => Event::Watched(operation.note(watched?)),
            shift = ground.shift() => Event::Shift(shift),
            () = glances.next() => Event::Due,
            () = asked => Event::Due,
            () = wake => Event::Due,
        };
        match event {
            Event::End => break Ok(()),
            Event::Standing(Standing::Held) => (supplying.tell)(Report::Started),
            Event::Standing(standing @ Standing::Waiting { .. }) => {
                (supplying.tell)(Report::Standby(standing));
            }
            Event::Standing(Standing::Lost) => break Err(End::LeaseLost),
            Event::Shift(Shift::Harmless(change)) => (supplying.tell)(Report::News(News::Changed(change))),
            Event::Shift(Shift::Moved(differences)) => break Err(End::Moved(differences)),
            Event::Due => {}
            Event::Watched(Err(news)) => (supplying.tell)(Report::News(news)),
            Event::Watched(Ok(changes)) => {
                let now = clock.now();
                for change in changes {
                    supplying.see(change, now);
                }
            }
            Event::Carried(carried) => {
                supplying.finish(carried, clock.now());
                // What cannot be sent now goes back to the queue, which knows when to go on.
                if supplying.engine.is_cut_off() {
                    for job in waiting.drain(..) {
                        supplying.give_back(&job, Outcome::Unreachable, clock.now());
                    }
                }
            }
        }
    };
    let (done, out) = (supplying.done, supplying.out.len());
    drop((watch, supplying, carrier));
    finish(out, inbox, recorder).await;
    if let Err(End::LeaseLost) = ended {
        let lease = office.key.unwrap_or_default();
        return Err(Failure::LeaseLost { lease });
    }
    office.leave().await;
    match ended {
        Err(End::Moved(differences)) => Err(Failure::Moved { differences }),
        _ => Ok(done),
    }
}

/// The controllers that want what may be written, and the shadow that knows since when.
fn beside(
    loaded: Loaded,
    supplement: Supplement,
    overdue: Duration,
    as_released: bool,
    now: Time,
) -> (Engine, Shadow) {
    let cluster = loaded.cluster;
    let (features, release) = rules(cluster.environment(), Deviations::ON, as_released);
    // What a pod's own claims want of it is left to the built-in controller.
    let release = Release {
        claims: EvictingClaims::OfExtendedResources,
        ..release
    };
    let claims = supplement
        .releases
        .then(|| ResourceClaims::start(&cluster, features));
    let eviction = supplement
        .evictions
        .then(|| TaintEviction::resume(&cluster, release, now));
    let shadow = Shadow::new(overdue, features.groups).supplementing(supplement);
    (Engine::new(cluster, claims, eviction), shadow)
}

/// The engine, its shadow, and who is told what is written.
struct Supplying<'a, T> {
    engine: Engine,
    shadow: Shadow,
    operation: &'a Operation,
    /// What the jobs that are out write.
    out: HashMap<JobId, Vec<Wish>>,
    done: Done,
    tell: T,
}

impl<T: FnMut(Report)> Supplying<'_, T> {
    /// The jobs that are to be carried out now. Who may not write only asks.
    fn wanted(&mut self, may_write: bool, now: Time) -> Vec<Job> {
        let mut wanted = Vec::new();
        self.shadow.doubt(&mut self.engine, now);
        while let Some(job) = self.engine.next(now) {
            let Some(job) = self.shadow.take(&mut self.engine, job, now) else {
                continue;
            };
            if may_write || matches!(job.work, Work::Look(_)) {
                wanted.push(job);
            } else {
                self.give_back(&job, Outcome::Parked, now);
            }
        }
        self.shadow.judge(&mut self.engine, now);
        // What somebody else does is not told: it is a shadow's to find.
        drop(self.shadow.news());
        wanted
    }

    /// The job was not tried.
    fn give_back(&mut self, job: &Job, outcome: Outcome, now: Time) {
        self.shadow.answered(&job.subject);
        self.engine.done(job.id, outcome, now);
    }

    fn see(&mut self, change: Change, now: Time) {
        let Self {
            engine,
            shadow,
            operation,
            ..
        } = self;
        operation.counting(engine, change, |engine, change| shadow.see(engine, change, now));
    }

    fn finish(&mut self, carried: Carried, now: Time) {
        let Carried {
            id,
            seen,
            subject,
            outcome,
            trouble,
            lacks_right,
        } = carried;
        for object in seen {
            self.see(Change::Put(object), now);
        }
        let wishes = self.out.remove(&id).unwrap_or_default();
        let controller = subject.controller();
        match outcome {
            Outcome::Done | Outcome::Parked => {
                self.done.carried += 1;
                self.operation.health.may_write(&subject);
                (self.tell)(Report::Supplied(wishes));
            }
            Outcome::Gone => self.operation.health.may_write(&subject),
            Outcome::Refused(_) => self.done.refused += 1,
            _ => {}
        }
        if let Some(why) = trouble.as_ref().filter(|_| lacks_right) {
            let now = Instant::now();
            self.operation.health.may_not_write(&subject, why, now);
        }
        self.operation.metrics.job(controller, &outcome);
        self.shadow.answered(&subject);
        self.engine.done(id, outcome, now);
        if let Some(why) = trouble {
            let trouble = Trouble {
                controller,
                subject,
                why,
            };
            (self.tell)(Report::Trouble(trouble));
        }
    }
}
