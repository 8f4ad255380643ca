//! The shadow mode: what the controllers want is compared with what the built-in ones do, and nothing is written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::clock::{Clock, Comparison, reached};
use super::glance::{Glance, Glances};
use super::ground::{Ground, Recheck, Shift};
use super::looking::{self, Looked};
use super::news::News;
use super::probes::Operation;
use super::rules::rules;
use dra_model::{Component, Environment, Evidence as GateEvidence, Gate, Kind, Time};
use dra_rules::controllers::{
    Answer, ControllerName, Counts, Deviations, Engine, Evidence, Found, JobId, Lookup, Outcome,
    ResourceClaims, Shadow, Subject, TaintEviction, Work,
};
use dra_sources::live::{Error, Live, Persistence};
use dra_sources::{Loaded, Needs};

/// Kinds of object that the controllers look at. Where gates stand beside a kind, the controllers look at it only if one of them is on in
/// kube-controller-manager.
const NEEDS: [(Kind, &[Gate]); 6] = [
    (Kind::Pod, &[]),
    (
        Kind::PodGroup,
        &[Gate::GenericWorkload, Gate::DRAWorkloadResourceClaims],
    ),
    (Kind::ResourceClaim, &[]),
    (Kind::ResourceClaimTemplate, &[]),
    (Kind::ResourceSlice, &[]),
    (Kind::DeviceTaintRule, &[Gate::DRADeviceTaintRules]),
];

/// Kinds of object that the controllers look at, without those that `said` switches off: what the user says of gates, put over nothing.
/// What only seems to be off is looked at, as it may not be.
pub fn needed(said: &Environment) -> Vec<Kind> {
    let is_off = |gate: &Gate| {
        let state = said.gate(Component::ControllerManager, *gate);
        state.evidence == GateEvidence::Flag && !state.enabled
    };
    let needed = NEEDS
        .into_iter()
        .filter(|(_, gates)| gates.is_empty() || !gates.iter().all(is_off));
    needed.map(|(kind, _)| kind).collect()
}

/// Changes that come within this time are looked at together.
const BATCH: Duration = Duration::from_millis(20);

/// Lookups that may be out at once.
const LOOKUPS: usize = 8;

/// How long to watch.
pub struct Watching {
    /// From when on something undone is overdue.
    pub overdue: Duration,
    /// How long; for ever without it.
    pub for_: Option<Duration>,
    /// Becomes true when it has to end.
    pub interruption: watch::Receiver<bool>,
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
}

/// What is to be told while it goes on.
#[derive(Debug)]
pub enum Happening {
    /// The watches are open, and everything that was there has been looked at.
    Started(Counts),
    /// Something was found.
    Found(Found),
    /// How it stands, for those who look on.
    Glance(Glance),
    /// A watch or a clock tells something.
    News(News),
    /// An object could not be looked up, which is tried again.
    LookupFailed {
        /// Who asked.
        controller: ControllerName,
        /// What was asked for.
        lookup: Lookup,
        /// Why there is no answer.
        why: String,
    },
}

/// What came of it.
#[derive(Debug)]
pub struct Ending {
    /// Everything that was found, in order.
    pub found: Vec<Found>,
    /// How many wishes there are, and were.
    pub counts: Counts,
    /// When it began and ended.
    pub time: (Time, Time),
    /// What is otherwise in the cluster, where that has ended it.
    pub moved: Option<Vec<String>>,
    /// Whether each controller works.
    pub evidence: BTreeMap<ControllerName, Evidence>,
}

/// Answers of a job that is out.
struct Answered {
    id: JobId,
    subject: Subject,
    looked: Looked,
}

/// Watches the cluster from where `loaded` ended, and compares.
///
/// # Errors
/// When the cluster can no longer be watched.
pub async fn shadow(
    live: &Live,
    needs: &Needs,
    loaded: Loaded,
    begun: Time,
    watching: Watching,
    mut tell: impl FnMut(Happening),
) -> Result<Ending, Error> {
    let Watching {
        overdue,
        for_,
        mut interruption,
        as_released,
        wall,
        operation,
        recheck,
        is_viewed,
    } = watching;
    let mut clock = Clock::set(begun, wall.map(|_| live.server_time().clone()));
    let mut comparison = Comparison::with(wall);
    let metrics = &operation.metrics;
    let until = for_.map(|time| Instant::now() + time);
    let mut watch = live
        .watch(
            needs,
            &loaded.cluster,
            &loaded.resource_versions,
            Persistence::Lasting,
        )
        .await?;
    let cluster = loaded.cluster;
    operation.begin(&cluster, watch.kinds());
    let mut ground = Ground::watch(
        live,
        needs,
        cluster.environment(),
        as_released,
        recheck,
        &operation,
    );
    // Where upstream knows its rules to be wrong, following them is a finding.
    let (features, release) = rules(cluster.environment(), Deviations::ON, as_released);
    let claims = ResourceClaims::start(&cluster, features);
    // Whoever looks on takes the counts of the one that works.
    let eviction = TaintEviction::resume(&cluster, release, clock.now());
    let mut engine = Engine::new(cluster, Some(claims), Some(eviction));
    operation.begin_queues(&mut engine);
    let mut shadow = Shadow::new(overdue, features.groups);
    let (sender, mut inbox) = mpsc::channel::<Answered>(LOOKUPS);
    let mut waiting = Vec::new();
    let mut out = 0_usize;
    let mut started = false;
    let mut moved = None;
    let mut glances = Glances::begin(is_viewed);
    loop {
        let now = clock.now();
        if let Some(news) = clock.tell(&mut engine) {
            tell(Happening::News(news));
        }
        operation.measure_queues(&mut engine, now);
        shadow.doubt(&mut engine, now);
        while let Some(job) = engine.next(now) {
            waiting.extend(shadow.take(&mut engine, job, now));
        }
        while out < LOOKUPS
            && let Some(job) = waiting.pop()
        {
            let Work::Look(lookups) = job.work else { continue };
            out += 1;
            let (live, sender) = (live.clone(), sender.clone());
            tokio::spawn(async move {
                let answered = Answered {
                    id: job.id,
                    subject: job.subject,
                    looked: ask(&live, lookups).await,
                };
                // Whoever asked may have ended.
                _ = sender.send(answered).await;
            });
        }
        shadow.judge(&mut engine, now);
        for found in shadow.news() {
            metrics.found(&found);
            tell(Happening::Found(written(found, &clock)));
        }
        metrics.wishes(shadow.counts());
        operation.measure_queues(&mut engine, now);
        if let Some(news) = comparison.news(&mut clock) {
            tell(Happening::News(news));
        }
        if !started && out == 0 {
            started = true;
            tell(Happening::Started(shadow.counts()));
        }
        if glances.is_time() {
            tell(Happening::Glance(Glance::of(&shadow, now)));
        }
        let due = [engine.next_due(now), shadow.next_due(&engine)]
            .into_iter()
            .flatten()
            .min();
        let wake = reached(due.map(|due| clock.instant(due)));
        let end = reached(until);
        tokio::select! {
            biased;
            () = end => break,
            _ = interruption.wait_for(|interrupted| *interrupted) => break,
            Some(answered) = inbox.recv() => {
                out -= 1;
                for (lookup, answer) in &answered.looked.answers {
                    if let Answer::Failed(why) = answer {
                        tell(Happening::LookupFailed {
                            controller: answered.subject.controller(),
                            lookup: lookup.clone(),
                            why: why.clone(),
                        });
                    }
                }
                shadow.answered(&answered.subject);
                let outcome = match answered.looked.outage {
                    Some(_) => Outcome::Unreachable,
                    None => Outcome::Answers(answered.looked.answers),
                };
                engine.done(answered.id, outcome, clock.now());
            }
            watched = watch.next(BATCH) => match operation.note(watched?) {
                Ok(changes) => {
                    let now = clock.now();
                    for change in changes {
                        operation.counting(&mut engine, change, |engine, change| {
                            shadow.see(engine, change, now);
                        });
                    }
                }
                Err(news) => tell(Happening::News(news)),
            },
            shift = ground.shift() => match shift {
                Shift::Harmless(change) => tell(Happening::News(News::Changed(change))),
                Shift::Moved(differences) => {
                    moved = Some(differences);
                    break;
                }
            },
            () = glances.next() => {}
            () = wake => {}
        }
    }
    Ok(Ending {
        found: (shadow.found().cloned())
            .map(|found| written(found, &clock))
            .collect(),
        counts: shadow.counts(),
        time: (begun, clock.moment().written),
        moved,
        evidence: ControllerName::ALL
            .into_iter()
            .map(|name| (name, shadow.evidence(name)))
            .collect(),
    })
}

/// What was found, with times as the API server writes them.
fn written(found: Found, clock: &Clock) -> Found {
    Found {
        since: clock.written(found.since),
        until: found.until.map(|until| clock.written(until)),
        ..found
    }
}

/// What there is of these.
async fn ask(live: &Live, lookups: Vec<Lookup>) -> Looked {
    let kinds = lookups.iter().map(|lookup| lookup.kind).collect();
    // Each time anew: the cluster may serve other kinds by now.
    let finder = match live.finder(&kinds).await {
        Ok(finder) => Arc::new(finder),
        Err(error) => return Looked::failed(lookups, error),
    };
    let find = |lookup: Lookup| {
        let finder = Arc::clone(&finder);
        async move {
            let found = finder.object(lookup.kind, &lookup.key).await;
            (lookup, found)
        }
    };
    looking::ask(lookups, find).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::GateState;

    #[test]
    fn what_the_user_switches_off_is_not_looked_at() {
        let said = |gates: &[Gate], evidence: GateEvidence| {
            let off = |gate: &Gate| {
                let state = GateState {
                    enabled: false,
                    evidence: evidence.clone(),
                };
                (Component::ControllerManager, *gate, state)
            };
            let said = Environment {
                gates: gates.iter().map(off).collect(),
                ..Environment::default()
            };
            NEEDS.len() - needed(&said).len()
        };
        let groups = [Gate::GenericWorkload, Gate::DRAWorkloadResourceClaims];
        assert_eq!(said(&[Gate::DRADeviceTaintRules], GateEvidence::Flag), 1);
        assert_eq!(said(&groups, GateEvidence::Flag), 1);
        // Members of PodGroups are still told from other pods.
        assert_eq!(said(&groups[1..], GateEvidence::Flag), 0);
        assert_eq!(said(&[], GateEvidence::Flag), 0);
        assert_eq!(said(&groups, GateEvidence::Assumed), 0);
    }
}
