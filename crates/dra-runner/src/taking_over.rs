//! The take-over mode: what the controllers want is carried out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::carrying::{Carried, Carrier};
use super::clock::{Clock, Comparison, Moment, reached};
use super::done::Done;
use super::events::Recorder;
use super::glance::{Glance, Glances};
use super::ground::{Ground, Recheck, Shift};
use super::lease::{Role, Standing};
use super::limiter::Limiter;
use super::news::News;
use super::office::{Office, SETTLING};
use super::own::Own;
use super::probes::Operation;
use super::report::{Failure, Report, Trouble};
use super::rules::rules;
use dra_model::{Change, Key, Time};
use dra_rules::controllers::{
    ControllerName, Deviations, Engine, Notice, Origin, Outcome, ResourceClaims, TaintEviction,
};
use dra_sources::live::{Live, Persistence, Watch};
use dra_sources::{Loaded, Needs};

/// Changes that come within this time are looked at together.
const BATCH: Duration = Duration::from_millis(5);

/// How long what is under way may take once the end was asked for. No write takes longer at the server.
const LAST_WRITES: Duration = Duration::from_secs(5);

/// How long the last events may take.
const LAST_EVENTS: Duration = Duration::from_secs(3);

/// How to work.
pub struct Working {
    /// Which controllers, and how many jobs of each may be out.
    pub workers: BTreeMap<ControllerName, usize>,
    /// Requests per second of each controller; 0 without a limit.
    pub qps: u32,
    /// Requests of each controller that may be sent at once.
    pub burst: u32,
    /// What is done better than upstream.
    pub deviations: Deviations,
    /// Whether the rules are those of the release that the cluster is said to be of, bugs included, rather than the newest.
    pub as_released: bool,
    /// A rule that would take away more pods evicts nobody.
    pub eviction_limit: Option<usize>,
    /// The clock of this machine, to be compared with the API server's; absent where another time than the server's is to count.
    pub wall: Option<fn() -> Time>,
    /// Where it is noted how the work goes on.
    pub operation: Arc<Operation>,
    /// How to find out that the rules no longer fit, which ends it.
    pub recheck: Option<Recheck>,
    /// Whether somebody looks on, to be told every second how it stands.
    pub is_viewed: bool,
    /// The lease without which nothing is written; none where this is the only writer.
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
    Carried(ControllerName, Carried),
    Watched(Result<Vec<Change>, News>),
    Standing(Standing),
    Shift(Shift),
    Due,
    End,
}

/// Watches the cluster from where `loaded` ended, and does what the controllers want, until it is interrupted.
///
/// # Errors
/// When the cluster can no longer be watched, or another controller is at work beside this one.
pub async fn take_over(
    live: &Live,
    needs: &Needs,
    loaded: Loaded,
    begun: Time,
    working: Working,
    tell: impl FnMut(Report),
) -> Result<Done, Failure> {
    let Working {
        workers,
        qps,
        burst,
        deviations,
        as_released,
        eviction_limit,
        wall,
        operation,
        recheck,
        is_viewed,
        lease,
        dry_run,
        for_,
        mut interruption,
    } = working;
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
    let mut desks = desks(workers, (qps, burst), |limiter| Carrier {
        writer: Arc::clone(&writer),
        limiter,
        recorder: recorder.clone(),
        operation: Arc::clone(&operation),
    });
    let environment = loaded.cluster.environment();
    let mut ground = Ground::watch(live, needs, environment, as_released, recheck, &operation);
    let mut taking = Taking {
        engine: engine(
            loaded,
            (deviations, as_released),
            eviction_limit,
            &desks,
            clock.now(),
        ),
        recorder: recorder.clone(),
        operation: &operation,
        done: Done::default(),
        tell,
    };
    operation.begin_queues(&mut taking.engine);
    let (sender, mut inbox) = mpsc::channel(64);
    let mut own = Own::default();
    let mut glances = Glances::begin(is_viewed);
    let mut office = Office::run_for(live, lease, Role::TakeOver, &clock);
    if office.holds() {
        taking.begin();
        own.alone_from = Some(clock.moment().written.after(SETTLING));
    }
    loop {
        let moment = clock.moment();
        let now = moment.now;
        if let Some(news) = clock.tell(&mut taking.engine) {
            (taking.tell)(Report::News(news));
        }
        let engine = &taking.engine;
        let health = &operation.health;
        health.ask_whether(Instant::now(), |subject| engine.still_wants(subject));
        operation.measure_queues(&mut taking.engine, now);
        for (name, desk) in &mut desks {
            while desk.out < desk.workers
                && office.holds()
                && let Some(job) = taking.engine.next_of(*name, now)
            {
                desk.out += 1;
                own.begins(&job.work);
                let (carrier, sender, name) = (desk.carrier.clone(), sender.clone(), *name);
                tokio::spawn(async move {
                    let carried = carrier.carry(job, moment).await;
                    // Whoever asked may have ended.
                    _ = sender.send((name, carried)).await;
                });
            }
        }
        operation.measure_queues(&mut taking.engine, now);
        taking.tell_of_given_up();
        if let Some(news) = comparison.news(&mut clock) {
            (taking.tell)(Report::News(news));
        }
        if glances.is_time() && office.holds() {
            taking.glance(&desks, now);
        }
        let free = desks
            .iter()
            .filter(|(_, desk)| office.holds() && desk.out < desk.workers)
            .map(|(name, _)| *name);
        let due = taking.engine.next_due_among(free, now);
        let wake = reached(due.map(|due| clock.instant(due)));
        let (over, asked) = (reached(until), reached(operation.health.ask_at()));
        let event = tokio::select! {
            biased;
            () = over => Event::End,
            standing = office.changed() => Event::Standing(standing),
            _ = interruption.wait_for(|interrupted| *interrupted) => Event::End,
            Some((name, carried)) = inbox.recv() => Event::Carried(name, carried),
            watched = watch.next(BATCH) => Event::Watched(operation.note(watched?)),
            shift = ground.shift() => Event::Shift(shift),
            () = glances.next() => Event::Due,
            () = asked => Event::Due,
            () = wake => Event::Due,
        };
        match event {
            Event::End => break,
            Event::Standing(Standing::Held) => {
                taking.begin();
                own.alone_from = Some(clock.moment().written.after(SETTLING));
            }
            Event::Standing(standing @ Standing::Waiting { .. }) => (taking.tell)(Report::Standby(standing)),
            Event::Standing(Standing::Lost) => {
                drop(taking);
                end(watch, desks, inbox, recorder).await;
                let lease = office.key.unwrap_or_default();
                return Err(Failure::LeaseLost { lease });
            }
            Event::Shift(Shift::Harmless(change)) => (taking.tell)(Report::News(News::Changed(change))),
            Event::Shift(Shift::Moved(differences)) => {
                drop(taking);
                end(watch, desks, inbox, recorder).await;
                office.leave().await;
                return Err(Failure::Moved { differences });
            }
            Event::Due => {}
            Event::Watched(Err(news)) => (taking.tell)(Report::News(news)),
            Event::Watched(Ok(changes)) => {
                let moment = clock.moment();
                for change in changes {
                    let rival = own.rival(&taking.engine, |name| desks.contains_key(&name), &change);
                    if let Some((rival, written)) = rival.filter(|_| !dry_run && office.is_settled()) {
                        if let Some(recorder) = &recorder {
                            let lease = office.lease(live).await;
                            recorder.rival(lease, written, &rival.to_string(), moment.written);
                        }
                        drop(taking);
                        end(watch, desks, inbox, recorder).await;
                        office.leave().await;
                        return Err(rival.into());
                    }
                    taking.see(change, Origin::Watch, moment);
                }
            }
            Event::Carried(name, carried) => {
                // Whatever else has come is seen with it.
                let mut all = vec![(name, carried)];
                while let Ok(more) = inbox.try_recv() {
                    all.push(more);
                }
                for (name, carried) in all {
                    if let Some(desk) = desks.get_mut(&name) {
                        desk.out -= 1;
                    }
                    taking.finish(name, carried, clock.moment());
                }
            }
        }
    }
    let done = taking.done;
    drop(taking);
    end(watch, desks, inbox, recorder).await;
    office.leave().await;
    Ok(done)
}

/// A controller's own.
struct Desk {
    workers: usize,
    /// Jobs that are out.
    out: usize,
    carrier: Carrier,
}

fn desks(
    workers: BTreeMap<ControllerName, usize>,
    (qps, burst): (u32, u32),
    carrier: impl Fn(Arc<Limiter>) -> Carrier,
) -> BTreeMap<ControllerName, Desk> {
    let desk = |workers| Desk {
        workers,
        out: 0,
        carrier: carrier(Arc::new(Limiter::new(qps, burst))),
    };
    workers
        .into_iter()
        .map(|(name, workers)| (name, desk(workers)))
        .collect()
}

fn engine(
    loaded: Loaded,
    (deviations, as_released): (Deviations, bool),
    limit: Option<usize>,
    desks: &BTreeMap<ControllerName, Desk>,
    now: Time,
) -> Engine {
    let cluster = loaded.cluster;
    let (features, release) = rules(cluster.environment(), deviations, as_released);
    let works = |name| desks.contains_key(&name);
    let claims = works(ControllerName::ResourceClaim).then(|| ResourceClaims::start(&cluster, features));
    let eviction =
        works(ControllerName::DeviceTaintEviction).then(|| TaintEviction::start(&cluster, release, now));
    let eviction = match (eviction, limit) {
        (Some(eviction), Some(limit)) => Some(eviction.with_limit(limit)),
        (eviction, _) => eviction,
    };
    Engine::new(cluster, claims, eviction)
}

/// The engine, and who is told what it sees.
struct Taking<'a, T> {
    engine: Engine,
    recorder: Option<Arc<Recorder>>,
    operation: &'a Operation,
    done: Done,
    tell: T,
}

impl<T: FnMut(Report)> Taking<'_, T> {
    /// The work begins.
    fn begin(&mut self) {
        (self.tell)(Report::Started);
    }

    /// Tells what nothing can be done about.
    fn tell_of_given_up(&mut self) {
        for (subject, why) in self.engine.given_up() {
            (self.tell)(Report::Trouble(Trouble {
                controller: subject.controller(),
                subject,
                why: format!("{why}; it is looked at again when something of it changes"),
            }));
        }
    }

    /// Tells those who look on how it stands.
    fn glance(&mut self, desks: &BTreeMap<ControllerName, Desk>, now: Time) {
        let busy = desks.iter().map(|(name, desk)| {
            let queue = self.engine.queue(*name);
            let due = queue.map_or(0, |queue| queue.depth(now));
            (*name, due, desk.out)
        });
        let glance = Glance {
            now,
            wishes: None,
            oldest: Vec::new(),
            busy: busy.collect(),
            done: Some(self.done),
        };
        (self.tell)(Report::Glance(glance));
    }

    fn see(&mut self, change: Change, origin: Origin, moment: Moment) {
        let notices = self
            .operation
            .counting(&mut self.engine, change, |engine, change| {
                engine.see(change, origin, moment.now).unwrap_or_default()
            });
        for Notice::EvictionCancelled(pod) in notices {
            if let Some(recorder) = &self.recorder {
                recorder.spared(&pod, moment.written);
            }
        }
    }

    fn finish(&mut self, controller: ControllerName, carried: Carried, moment: Moment) {
        let Carried {
            id,
            seen,
            subject,
            outcome,
            trouble,
            lacks_right,
        } = carried;
        for object in seen {
            self.see(Change::Put(object), Origin::Answer, moment);
        }
        match outcome {
            Outcome::Done | Outcome::Parked => {
                self.done.carried += 1;
                self.operation.health.may_write(&subject);
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
        self.engine.done(id, outcome, moment.now);
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

/// Nothing new is begun; what is under way ends, and what is to be told is told.
async fn end(
    watch: Watch,
    desks: BTreeMap<ControllerName, Desk>,
    inbox: mpsc::Receiver<(ControllerName, Carried)>,
    recorder: Option<Arc<Recorder>>,
) {
    drop(watch);
    let out = desks.values().map(|desk| desk.out).sum();
    drop(desks);
    finish(out, inbox, recorder).await;
}

/// So many jobs that are out end, and what is to be told is told. Nobody else has the recorder any more but these jobs.
pub(super) async fn finish<T>(mut out: usize, mut inbox: mpsc::Receiver<T>, recorder: Option<Arc<Recorder>>) {
    let last = async {
        while out > 0 && inbox.recv().await.is_some() {
            out -= 1;
        }
    };
    _ = tokio::time::timeout(LAST_WRITES, last).await;
    if let Some(recorder) = recorder.and_then(Arc::into_inner) {
        recorder.finish(LAST_EVENTS).await;
    }
}

/// How many jobs of each controller may be out when nobody says otherwise. Mirrors `pkg/controller/resourceclaim/config/v1alpha1/
/// defaults.go` and `pkg/controller/devicetainteviction/config/v1alpha1/defaults.go`, v1.37.2.
pub const fn default_workers(name: ControllerName) -> usize {
    match name {
        ControllerName::ResourceClaim => 50,
        ControllerName::DeviceTaintEviction => 8,
    }
}
