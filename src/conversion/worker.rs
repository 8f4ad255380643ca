//! One claim from its plan to its outcome: sends what `step` says, and reads what `step` asks for.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

use super::executor::needs_of;
use super::record::{self, Entry, Record, RecordError, Write};
use super::step::{Answer, Attempt, Next, Seen, Wants};
use super::{GRACE, Mode, Outcome, Stop, Trouble};
use crate::model::{Claim, Cluster, ConsumerReference, Environment, Key, Str};
use crate::reservation::conversion::{
    Action, ClaimPlan, Options, Restoration, Saved, complete, entry_json, finalizer_patch, plan, restore,
};
use crate::sources::live::{Error, Live, Part};

/// What is wanted of a claim, each time it is looked at.
pub(super) enum Purpose<'a> {
    /// Pods in the place of other entries.
    Convert(&'a Options),
    /// The list that it had.
    Restore(&'a Saved),
}

/// What all workers share.
pub(super) struct Shared<'a> {
    pub(super) live: &'a Live,
    pub(super) environment: &'a Environment,
    pub(super) mode: Mode,
    pub(super) record: Option<&'a Record>,
    pub(super) patience: Duration,
    pub(super) stop: &'a Stop,
    pub(super) traffic: Traffic,
}

/// Claims whose write is in the journal, or on the way there, before its turn: these, and twice as many as may be in flight. They are as
/// many as are written while lines of the journal gather.
const AHEAD: usize = 16;

/// The right to have one request in flight.
type Slot<'a> = Result<SemaphorePermit<'a>, AcquireError>;

/// How much may be under way.
pub(super) struct Traffic {
    at_once: usize,
    /// One for each request in flight. A claim waits for it with its write in the journal already: the way to the disk costs no time
    /// in which the server could work.
    slots: Semaphore,
    /// What ended one write will end all others, so that nothing more is sent.
    given_up: Cell<bool>,
}

impl Traffic {
    /// At most `at_once` requests at the same time.
    pub(super) fn new(at_once: usize) -> Self {
        let at_once = at_once.max(1);
        Self {
            at_once,
            slots: Semaphore::new(at_once),
            given_up: Cell::new(false),
        }
    }

    /// How many claims are to be worked at: those whose request is in flight, and some that are about to send one.
    pub(super) fn claims_at_once(&self) -> usize {
        3 * self.at_once + AHEAD
    }
}

/// A claim and what is to be written to it.
pub(super) struct Task {
    pub(super) key: Key,
    /// As it was read; the patch is locked to its version.
    pub(super) claim: Arc<Claim>,
    pub(super) patch: Value,
    /// The list goes together with the allocation, and the finalizer after it.
    pub(super) releases: bool,
    /// What was planned, for the report.
    pub(super) plan: Option<ClaimPlan>,
}

/// How it went with one claim.
pub(super) struct Done {
    pub(super) task: Task,
    pub(super) outcome: Outcome,
    pub(super) message: Option<String>,
    /// Other claims will fare no better, because of this.
    pub(super) fatal: Option<Trouble>,
}

impl Task {
    pub(super) fn of(claim: &Arc<Claim>, plan: ClaimPlan) -> Option<Self> {
        let (patch, releases) = match &plan.action {
            Action::Convert(patch) => (patch.to_json(), false),
            Action::Release(patch) => (patch.to_json(), true),
            Action::Keep | Action::Refuse(_) => return None,
        };
        Some(Self {
            key: plan.key.clone(),
            claim: Arc::clone(claim),
            patch,
            releases,
            plan: Some(plan),
        })
    }

    /// The list that the patch makes.
    fn after(&self) -> Vec<Value> {
        let operations = self.patch.as_array().into_iter().flatten();
        let list = operations
            .filter(|operation| operation["path"] == "/status/reservedFor")
            .find_map(|operation| operation["value"].as_array());
        list.cloned().unwrap_or_default()
    }

    fn entry(&self, action: &str) -> Write {
        let metadata = &self.claim.metadata;
        Write {
            time: record::time(),
            action: action.to_owned(),
            namespace: self.key.namespace.clone(),
            name: self.key.name.clone(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
            before: self.list(),
            after: self.after(),
            patch: self.patch.clone(),
        }
    }

    /// The list as it was read.
    fn list(&self) -> Vec<Value> {
        self.claim.status.reserved_for.iter().map(entry_json).collect()
    }

    fn uid(&self) -> &Str {
        &self.claim.metadata.uid
    }

    pub(super) fn ends(self, outcome: Outcome, message: Option<String>) -> Done {
        Done {
            task: self,
            outcome,
            message,
            fatal: None,
        }
    }

    /// What cannot be noted is not sent. A write before it may have taken effect without an answer.
    fn ends_unnoted(self, attempt: &Attempt, error: &RecordError) -> Done {
        let trouble = Trouble::from(error);
        let (outcome, what) = if attempt.has_sent() {
            (
                Outcome::Failed,
                "whether it was written is not known; not sent again",
            )
        } else {
            (Outcome::NotTried, "not sent")
        };
        let message = format!("{what}, since it could not be noted first: {}", trouble.message);
        self.ends(outcome, Some(message)).and_all(trouble)
    }

    fn ends_interrupted(self) -> Done {
        self.ends(Outcome::NotTried, Some("interrupted".to_owned()))
    }

    /// It was sent before the run was asked to stop, and the server does not say what became of it.
    fn ends_unanswered(self) -> Done {
        let message = "interrupted: it was sent, and whether it was written is not known, since the server does not answer";
        self.ends(Outcome::Failed, Some(message.to_owned()))
    }

    /// The second half of a release does not come about.
    fn keeps_finalizer(self, why: &str) -> Done {
        let message = format!("its devices are free, but its finalizer stays: {why}");
        self.ends(Outcome::Failed, Some(message))
    }
}

impl Done {
    /// What ended this ends all others.
    fn and_all(self, trouble: Trouble) -> Self {
        Self {
            fatal: Some(trouble),
            ..self
        }
    }
}

impl Shared<'_> {
    /// Carries a task through, unless it is over for all of them.
    pub(super) async fn carry_out(&self, purpose: &Purpose<'_>, task: Task) -> Done {
        if self.is_over() {
            return task.ends(Outcome::NotTried, None);
        }
        let done = self.try_out(purpose, task).await;
        if done.fatal.is_some() {
            self.traffic.given_up.set(true);
        }
        done
    }

    fn is_over(&self) -> bool {
        self.traffic.given_up.get() || self.stop.is_asked()
    }

    async fn try_out(&self, purpose: &Purpose<'_>, mut task: Task) -> Done {
        let action = match purpose {
            Purpose::Restore(_) => "Restore",
            Purpose::Convert(_) if task.releases => "Release",
            Purpose::Convert(_) => "Convert",
        };
        let mut attempt = Attempt::new(self.patience, spread(task.uid()));
        let mut written = None;
        let mut next = Next::Send;
        loop {
            next = match next {
                // Nothing is in flight here, so this is where to stop.
                Next::Send if self.stop.is_asked() => return task.ends_interrupted(),
                Next::Look(_) if self.stop.is_asked() && !attempt.is_open() => {
                    return task.ends_interrupted();
                }
                // A write that may have taken effect is not called one that was not tried.
                Next::Look(_) if self.stop.is_asked() => {
                    match self.stop.within_grace(self.look(purpose, &mut task)).await {
                        Some((seen @ (Seen::Gone | Seen::Claim { .. }), claim)) => {
                            written = claim.map(|claim| (claim, None));
                            attempt.looked(seen)
                        }
                        Some((Seen::Unread(_), _)) | None => return task.ends_unanswered(),
                    }
                }
                Next::Send if self.is_over() => return task.ends(Outcome::NotTried, None),
                Next::Send => match self.send(&task, &mut attempt, action, Part::Status, None).await {
                    Ok(Ok((claim, slot))) => {
                        written = Some((claim, Some(slot)));
                        Next::Done { ours: true }
                    }
                    Ok(Err(next)) => next,
                    Err(error) => return task.ends_unnoted(&attempt, &error),
                },
                Next::Look(pause) => {
                    self.stop.or_after(pause).await;
                    match self.stop.unless_asked(self.look(purpose, &mut task)).await {
                        Some((seen, claim)) => {
                            written = claim.map(|claim| (claim, None));
                            attempt.looked(seen)
                        }
                        None => Next::Look(Duration::ZERO),
                    }
                }
                Next::Done { ours } => {
                    let outcome = match (ours, self.mode) {
                        (false, _) => Outcome::AlreadyDone,
                        (true, Mode::Write) if task.releases => Outcome::Released,
                        (true, Mode::Write) if attempt.was_replanned() => Outcome::Replanned,
                        (true, Mode::Write) => Outcome::Converted,
                        (true, _) if task.releases => Outcome::WouldRelease,
                        (true, _) => Outcome::WouldConvert,
                    };
                    // A released claim keeps its finalizer until somebody drops it. It keeps its turn, too, so that no more claims than may
                    // be in flight are between the two writes.
                    if outcome == Outcome::Released
                        && let Some((claim, slot)) = written
                    {
                        return self.drop_finalizer(task, claim, slot).await;
                    }
                    return task.ends(outcome, None);
                }
                Next::Gone => {
                    let message = "the claim does not exist any more".to_owned();
                    return task.ends(Outcome::AlreadyDone, Some(message));
                }
                Next::Refused(why) => return task.ends(Outcome::Refused, Some(why)),
                Next::Fail(why) => return task.ends(Outcome::Failed, Some(why)),
                Next::Stop(trouble) => {
                    let done = task.ends(Outcome::Failed, Some(trouble.message.clone()));
                    return done.and_all(trouble);
                }
            };
        }
    }

    /// Sends the task's patch once, noted before, when it is its turn, which `held` says it is already; the claim as it is then and the
    /// turn, or what to do instead. Nothing is begun once it is over; a finalizer is the rest of what was begun.
    async fn send<'s>(
        &'s self,
        task: &Task,
        attempt: &mut Attempt,
        action: &str,
        part: Part,
        held: Option<Slot<'s>>,
    ) -> Result<Result<(Claim, Slot<'s>), Next>, RecordError> {
        if let Some(record) = self.record {
            record.write(task.entry(action)).await?;
        }
        attempt.sends(task.after());
        if self.mode == Mode::Client {
            return Ok(Err(Next::Done { ours: true }));
        }
        let note = |answer: String| {
            if let Some(record) = self.record {
                record.note(&Entry::Result {
                    time: record::time(),
                    uid: task.uid().clone(),
                    answer,
                });
            }
        };
        let slot = match held {
            Some(slot) => slot,
            None => self.traffic.slots.acquire().await,
        };
        if part == Part::Status && self.is_over() {
            note(record::NOT_SENT.to_owned());
            return Ok(Err(Next::Send));
        }
        let dry_run = self.mode == Mode::Server;
        let patched = self.live.patch_claim(&task.key, part, &task.patch, dry_run);
        let result = self.stop.within_grace(patched).await.unwrap_or_else(|| {
            Err(Error::TimedOut {
                what: format!("patch resourceclaim/{}", task.key),
                after: GRACE,
            })
        });
        note(match &result {
            Ok(written) => format!("{}{}", record::VERSION, written.claim.metadata.resource_version),
            Err(error) => error.to_string(),
        });
        Ok(match result {
            Ok(written) => Ok((written.claim, slot)),
            Err(error) => Err(attempt.answered(Answer::of(&error))),
        })
    }

    /// Reads the claim and, after it, its pods, and plans anew. The task is then what is to be written.
    async fn look(&self, purpose: &Purpose<'_>, task: &mut Task) -> (Seen, Option<Claim>) {
        let (cluster, existing) = match self.read(purpose, &task.claim).await {
            Ok(read) => read,
            Err(error) => return (Seen::Unread(Answer::of(&error)), None),
        };
        let found = cluster
            .claim(&task.key)
            .filter(|claim| claim.metadata.uid == *task.uid());
        let Some(claim) = found else {
            return (Seen::Gone, None);
        };
        let wants = match purpose {
            Purpose::Convert(options) => convert_again(&cluster, claim, options, task),
            Purpose::Restore(saved) => {
                let exists = |entry: &ConsumerReference| existing.contains(&entry.uid);
                match restore(&cluster, saved, &exists) {
                    Ok(Restoration::Write(patch)) => {
                        task.patch = patch;
                        Wants::Write
                    }
                    Ok(Restoration::Nothing) => Wants::Nothing,
                    Ok(Restoration::Refuse(difference)) => Wants::Refused(difference.to_string()),
                    Err(gap) => Wants::Unknown(gap.reason.clone()),
                }
            }
        };
        task.claim = Arc::clone(claim);
        let list = task.list();
        (Seen::Claim { list, wants }, Some(Claim::clone(claim)))
    }

    /// What one claim depends on, and the UIDs of the objects that its old entries name.
    async fn read(&self, purpose: &Purpose<'_>, claim: &Claim) -> Result<(Cluster, BTreeSet<Str>), Error> {
        let _slot = self.traffic.slots.acquire().await;
        let cluster = reload(self.live, claim, self.environment).await?;
        let mut existing = BTreeSet::new();
        if let Purpose::Restore(saved) = purpose {
            existing = objects_of(self.live, &cluster, saved).await?;
        }
        Ok((cluster, existing))
    }

    /// Drops the finalizer of a claim whose devices were taken back. Where it stays it does no harm until the claim is deleted. `held` is
    /// the turn that the claim has already.
    pub(super) async fn drop_finalizer<'s>(
        &'s self,
        mut task: Task,
        claim: Claim,
        mut held: Option<Slot<'s>>,
    ) -> Done {
        task.claim = Arc::new(claim);
        let mut attempt = Attempt::new(self.patience, spread(task.uid()));
        loop {
            // Allocated again: the finalizer is somebody else's now.
            let patch = finalizer_patch(&task.claim).filter(|_| task.claim.status.allocation.is_none());
            let Some(patch) = patch else {
                return task.ends(Outcome::Released, None);
            };
            task.patch = patch;
            let sent = self.send(&task, &mut attempt, "Finalizer", Part::Object, held.take());
            let next = match sent.await {
                Ok(Ok(_)) => return task.ends(Outcome::Released, None),
                Ok(Err(next)) => next,
                Err(error) => {
                    let trouble = Trouble::from(&error);
                    return task.keeps_finalizer(&trouble.message).and_all(trouble);
                }
            };
            match next {
                Next::Look(pause) => self.stop.or_after(pause).await,
                Next::Fail(why) | Next::Refused(why) => return task.keeps_finalizer(&why),
                // Others would be left with theirs, too, so that none is begun.
                Next::Stop(trouble) => return task.keeps_finalizer(&trouble.message).and_all(trouble),
                Next::Gone | Next::Send | Next::Done { .. } => return task.ends(Outcome::Released, None),
            }
            if self.stop.is_asked() {
                return task.keeps_finalizer("interrupted");
            }
            let purpose = Purpose::Convert(&Options::default());
            let read = self.stop.unless_asked(self.read(&purpose, &task.claim)).await;
            let Some(read) = read else {
                return task.keeps_finalizer("interrupted");
            };
            match read {
                Ok((cluster, _)) => match cluster.claim(&task.key) {
                    Some(now) if now.metadata.uid == *task.uid() => task.claim = Arc::clone(now),
                    _ => return task.ends(Outcome::Released, None),
                },
                // What could not be read is tried with the old version, which then is a conflict at worst.
                Err(error) => match attempt.answered(Answer::of(&error)) {
                    Next::Look(_) => {}
                    Next::Stop(trouble) => {
                        return task.keeps_finalizer(&trouble.message).and_all(trouble);
                    }
                    _ => return task.keeps_finalizer(&error.to_string()),
                },
            }
        }
    }
}

/// Reads what one claim depends on, from a server of which `known` is known.
pub(super) async fn reload(live: &Live, claim: &Claim, known: &Environment) -> Result<Cluster, Error> {
    let cluster = live.reload(&needs_of(claim), known).await?;
    still_served(cluster.environment(), known, live.server())?;
    Ok(cluster)
}

/// An API server that has just started does not offer all kinds yet. Then nothing is known, rather than that there are no objects.
pub(super) fn still_served(now: &Environment, known: &Environment, server: &str) -> Result<(), Error> {
    match now
        .not_served
        .iter()
        .find(|kind| !known.not_served.contains(kind))
    {
        None => Ok(()),
        Some(kind) => Err(Error::Foreign {
            what: format!("list {}", kind.plural()),
            server: server.to_owned(),
            message: "it does not serve them any more".to_owned(),
        }),
    }
}

/// Plans a claim anew; the task is then what is to be written.
fn convert_again(cluster: &Cluster, claim: &Arc<Claim>, options: &Options, task: &mut Task) -> Wants {
    let fresh = plan(cluster, [&**claim], options);
    if let Some(gap) = fresh.unknown.first() {
        return Wants::Unknown(gap.reason.clone());
    }
    let planned = match fresh.claims.into_iter().next() {
        // Only completed: the claim has no entry of another kind.
        None => match complete(cluster, claim) {
            Ok(None) => return Wants::Nothing,
            Ok(Some(planned)) => planned,
            Err(gap) => return Wants::Unknown(gap.reason.clone()),
        },
        Some(planned) => planned,
    };
    let wants = match &planned.action {
        Action::Keep => Wants::Nothing,
        Action::Refuse(refusal) => Wants::Refused(refusal.to_string()),
        Action::Convert(patch) => {
            task.patch = patch.to_json();
            task.releases = false;
            Wants::Write
        }
        Action::Release(patch) => {
            task.patch = patch.to_json();
            task.releases = true;
            Wants::Write
        }
    };
    task.plan = Some(planned);
    wants
}

/// The UIDs of the objects that the old entries of a claim name, as far as they exist. Those that `cluster` was read with need no request.
pub(super) async fn objects_of(
    live: &Live,
    cluster: &Cluster,
    saved: &Saved,
) -> Result<BTreeSet<Str>, Error> {
    let namespace = &saved.key.namespace;
    let is_known = |entry: &ConsumerReference| {
        let group = cluster.pod_group(&Key::new(namespace.clone(), entry.name.clone()));
        entry.is_pod_group() && group.is_some_and(|group| group.metadata.uid == entry.uid)
    };
    let mut existing = BTreeSet::new();
    for entry in saved.before.iter().filter(|entry| !entry.is_pod()) {
        if is_known(entry) || live.uid_of(entry, namespace).await?.as_ref() == Some(&entry.uid) {
            existing.insert(entry.uid.clone());
        }
    }
    Ok(existing)
}

/// A number that differs between claims and is the same each time.
fn spread(uid: &Str) -> u32 {
    uid.bytes().fold(0, |sum: u32, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte))
    })
}
