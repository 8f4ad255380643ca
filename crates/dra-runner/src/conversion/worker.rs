//! One claim from its plan to its outcome: sends what `step` says, and reads what `step` asks for.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

use super::reading::{objects_of, reload};
use super::record::{self, Answered, Entry, Record, RecordError, WriteAction};
use super::step::{Answer, Attempt, Next, Seen, Wants};
use super::task::{Done, Purpose, Task};
use super::{GRACE, Mode, Outcome, Report, Stop, Trouble, Watcher};
use dra_model::{Claim, ClaimPatch, Cluster, ConsumerReference, Environment, Str};
use dra_rules::reservation::conversion::{Action, Options, Restoration, complete, plan, restore};
use dra_sources::live::{Error, Live};

/// State shared by all workers.
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

/// Message about an answer that does not show the write.
const NOT_DONE: &str = "the API server accepted the patch, but its response does not contain the change";

/// The right to have one request in flight.
type Slot<'a> = Result<SemaphorePermit<'a>, AcquireError>;

/// Concurrency limits.
pub(super) struct Traffic {
    at_once: usize,
    /// One for each request in flight. A claim waits for it with its write in the journal already: the way to the disk costs no time
    /// in which the server could work.
    slots: Semaphore,
    /// True if the error of one write applies to all others, so that nothing more is sent.
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

    /// Returns how many claims are to be worked at: those whose request is in flight, and some that are about to send one.
    pub(super) fn claims_at_once(&self) -> usize {
        3 * self.at_once + AHEAD
    }
}

/// Results of many tasks.
#[derive(Default)]
pub(super) struct Written {
    /// Number of claims were written.
    pub(super) count: usize,
    /// UIDs of those that got another list.
    pub(super) listed: Vec<Str>,
    /// The reason why the others were given up, if they were.
    pub(super) failure: Option<Trouble>,
}

impl Shared<'_> {
    /// Executes tasks, up to the allowed concurrency, and records each result in `report`.
    pub(super) async fn carry_all<'p>(
        &self,
        work: impl Iterator<Item = (Purpose<'p>, Task)>,
        report: &mut Report,
        watcher: &dyn Watcher,
    ) -> Written {
        let one = async |(purpose, task): (Purpose<'p>, Task)| self.carry_out(purpose, task).await;
        let mut work = futures::stream::iter(work)
            .map(&one)
            .buffer_unordered(self.traffic.claims_at_once());
        let mut written = Written::default();
        while let Some(done) = work.next().await {
            if done.outcome != Outcome::NotTried {
                watcher.done();
            }
            if done.fatal.is_some() {
                written.failure.clone_from(&done.fatal);
            }
            if done.outcome.is_of_new_list() {
                written.listed.push(done.task.uid().clone());
            }
            written.count += usize::from(done.outcome.is_written());
            done.note(report);
        }
        written
    }

    /// Carries a task through, unless it is over for all of them.
    async fn carry_out(&self, purpose: Purpose<'_>, task: Task) -> Done {
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

    async fn try_out(&self, purpose: Purpose<'_>, mut task: Task) -> Done {
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
                Next::Send if self.is_over() => return task.ends(Outcome::NotTried, None),
                Next::Send => match self.send(&task, &mut attempt, purpose, None).await {
                    Ok(Ok((claim, slot))) => {
                        written = Some((claim, Some(slot)));
                        Next::Done { ours: true }
                    }
                    Ok(Err(next)) => next,
                    Err(error) => return task.ends_unnoted(&attempt, &error),
                },
                Next::Look(pause) => {
                    let is_asked = self.stop.is_asked();
                    let seen = if is_asked {
                        self.stop.within_grace(self.look(purpose, &mut task)).await
                    } else {
                        self.stop.or_after(pause).await;
                        self.stop.unless_asked(self.look(purpose, &mut task)).await
                    };
                    match seen {
                        // A write that may have taken effect is not called one that was not tried.
                        Some(Seen::Unread(_)) | None if is_asked => return task.ends_unanswered(),
                        Some(seen) => {
                            let is_there = matches!(seen, Seen::Claim { .. });
                            written = is_there.then(|| (Claim::clone(&task.claim), None));
                            attempt.looked(seen)
                        }
                        None => Next::Look(Duration::ZERO),
                    }
                }
                Next::Done { ours } => {
                    let outcome = match (ours, self.mode) {
                        (false, _) => Outcome::AlreadyDone,
                        (true, Mode::Write) if task.patch.releases() => Outcome::Released,
                        (true, Mode::Write) if attempt.was_replanned() => Outcome::Replanned,
                        (true, Mode::Write) => Outcome::Converted,
                        (true, Mode::Server | Mode::Client) if task.patch.releases() => Outcome::WouldRelease,
                        (true, Mode::Server | Mode::Client) => Outcome::WouldConvert,
                    };
                    // A released claim keeps its finalizer until it is removed. It keeps its turn, too, so that no more
                    // claims than may be in flight are between the two writes.
                    if outcome == Outcome::Released
                        && let Some((claim, slot)) = written
                    {
                        return self.drop_finalizer(task, claim, slot).await;
                    }
                    return task.ends(outcome, None);
                }
                Next::Gone => {
                    let message = "the claim no longer exists".to_owned();
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
        purpose: Purpose<'_>,
        held: Option<Slot<'s>>,
    ) -> Result<Result<(Claim, Slot<'s>), Next>, RecordError> {
        let action = purpose.action(&task.patch);
        if let Some(record) = self.record {
            record.write(task.entry(action)).await?;
        }
        attempt.sends(task.patch.after().to_vec());
        if self.mode == Mode::Client {
            return Ok(Err(Next::Done { ours: true }));
        }
        let note = |answer: Answered| {
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
        if action != WriteAction::Finalizer && self.is_over() {
            note(Answered::NotSent);
            return Ok(Err(Next::Send));
        }
        let dry_run = self.mode == Mode::Server;
        let patched = self.live.patch_claim(&task.key, &task.patch, dry_run);
        let result = self.stop.within_grace(patched).await.unwrap_or_else(|| {
            Err(Error::TimedOut {
                what: format!("patch resourceclaim/{}", task.key),
                after: GRACE,
            })
        });
        let is_done = |claim: &Claim| claim.metadata.uid == *task.uid() && task.patch.is_done_in(claim);
        note(match &result {
            Ok(written) if !is_done(written) => Answered::Otherwise(NOT_DONE.to_owned()),
            Ok(written) => Answered::Version(written.metadata.resource_version.to_string()),
            Err(error) => Answered::Otherwise(error.to_string()),
        });
        Ok(match result {
            Ok(written) if !is_done(&written) => Err(Next::Fail(NOT_DONE.to_owned())),
            Ok(written) => Ok((written, slot)),
            Err(error) => Err(attempt.answered(Answer::of(&error))),
        })
    }

    /// Reads the claim and, after it, its pods, and plans anew. The task is then what is to be written.
    async fn look(&self, purpose: Purpose<'_>, task: &mut Task) -> Seen {
        let (cluster, existing) = match self.read(purpose, &task.claim).await {
            Ok(read) => read,
            Err(error) => return Seen::Unread(Answer::of(&error)),
        };
        let found = cluster
            .claim(&task.key)
            .filter(|claim| claim.metadata.uid == *task.uid());
        let Some(claim) = found else {
            return Seen::Gone;
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
        let list = task.list().to_vec();
        Seen::Claim { list, wants }
    }

    /// Returns what one claim depends on, and the UIDs of the objects that its old entries name.
    async fn read(&self, purpose: Purpose<'_>, claim: &Claim) -> Result<(Cluster, BTreeSet<Str>), Error> {
        let _slot = self.traffic.slots.acquire().await;
        let cluster = reload(self.live, claim, self.environment).await?;
        let mut existing = BTreeSet::new();
        if let Purpose::Restore(saved) = purpose {
            existing = objects_of(self.live, &cluster, saved).await?;
        }
        Ok((cluster, existing))
    }

    /// Drops the finalizer of a claim whose devices were deallocated. Where it stays it does no harm until the claim is deleted. `held` is
    /// the turn that the claim has already.
    pub(super) async fn drop_finalizer<'s>(
        &'s self,
        mut task: Task,
        claim: Claim,
        mut held: Option<Slot<'s>>,
    ) -> Done {
        let options = Options::default();
        let purpose = Purpose::Convert(&options);
        task.claim = Arc::new(claim);
        let mut attempt = Attempt::new(self.patience, spread(task.uid()));
        loop {
            // Allocated again: the finalizer belongs to another client now.
            let is_free = task.claim.status.allocation.is_none();
            let Some(patch) = ClaimPatch::without_finalizer(&task.claim).filter(|_| is_free) else {
                return task.ends(Outcome::Released, None);
            };
            task.patch = patch;
            let sent = self.send(&task, &mut attempt, purpose, held.take());
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
            let read = self.stop.unless_asked(self.read(purpose, &task.claim)).await;
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
                    Next::Send | Next::Done { .. } | Next::Gone | Next::Refused(_) | Next::Fail(_) => {
                        return task.keeps_finalizer(&error.to_string());
                    }
                },
            }
        }
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
        Action::Convert(patch) | Action::Release(patch) => {
            task.patch = patch.clone();
            Wants::Write
        }
    };
    task.plan = Some(planned);
    wants
}

/// A number that differs between claims and is the same each time.
fn spread(uid: &Str) -> u32 {
    uid.bytes().fold(0, |sum: u32, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte))
    })
}
