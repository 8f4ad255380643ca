//! Carries out the jobs of a controller against the API server.

use std::sync::Arc;

use tokio::time::Instant;

use super::api_error::outcome_of;
use super::clock::Moment;
use super::events::Recorder;
use super::lookup::{self, Answers};
use super::rate_limiter::RateLimiter;
use super::telemetry::Telemetry;
use dra_model::{Claim, ClaimPatch, Kind, Object, ReservationPatch, Str, Time};
use dra_rules::controllers::{
    Answer, ClaimName, ClaimWrite, Job, Lookup, Outcome, Plan, PodRef, Warning, Work,
};
use dra_rules::eviction::{DISRUPTION_TARGET, disruption};
use dra_sources::live::{Error, Writer};

/// The result of a job.
#[derive(Debug)]
pub(super) struct JobResult {
    pub(super) job: Job,
    /// Objects that the API server answered with, in order.
    pub(super) seen: Vec<Object>,
    pub(super) outcome: Outcome,
    /// Objects that could not be looked up, each with its error.
    pub(super) unanswered: Vec<(String, String)>,
    /// Error, for people.
    pub(super) trouble: Option<String>,
    /// Is true if the error is a missing right.
    pub(super) lacks_right: bool,
}

/// Carries jobs out against the API server.
#[derive(Clone)]
pub(super) struct Worker {
    pub(super) writer: Arc<Writer>,
    pub(super) limiter: Arc<RateLimiter>,
    /// Absent in a dry run.
    pub(super) recorder: Option<Recorder>,
    pub(super) telemetry: Arc<Telemetry>,
}

/// Reason why a write stops its plan.
enum Stop {
    /// The API server's refusal, or its silence.
    Failed(Error),
    /// The item is synced again.
    With(Outcome),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Worker {
    /// Carries out the job that was returned at `started`.
    pub(super) async fn run(&self, job: Job, started: Moment) -> JobResult {
        let now = started.written;
        let (mut seen, mut unanswered) = (Vec::new(), Vec::new());
        let carried = match &job.work {
            Work::Look(lookups) => self.look_up(lookups.clone(), &mut unanswered).await,
            Work::Carry(plan) => self.plan(plan, &mut seen, now).await,
            Work::Evict { pod, eviction } => {
                let evicted = self.evict(pod, eviction.at, &mut seen, started).await;
                evicted.map_err(Stop::from)
            }
            Work::SetCondition {
                rule,
                uid,
                condition,
                held,
            } => {
                if let (Some(recorder), Some(held)) = (&self.recorder, held) {
                    recorder.held(rule, uid, held, now);
                }
                self.limiter.wait().await;
                let applied = self.writer.apply_condition(rule, uid, condition).await;
                applied.map_err(Stop::from).map(|rule| {
                    seen.push(rule);
                    Outcome::Done
                })
            }
        };
        let (mut outcome, trouble, lacks_right) = match carried {
            Ok(outcome) | Err(Stop::With(outcome)) => (outcome, None, false),
            Err(Stop::Failed(error)) => {
                let outcome = outcome_of(&error);
                let is_trouble = matches!(outcome, Outcome::Refused(_) | Outcome::Unreachable);
                let trouble = is_trouble.then(|| error.to_string());
                (outcome, trouble, error.lacks_right())
            }
        };
        if self.writer.is_dry_run() {
            // The server kept nothing of its answers.
            seen.clear();
            if matches!(outcome, Outcome::Done) {
                outcome = Outcome::Parked;
            }
        }
        JobResult {
            job,
            seen,
            outcome,
            unanswered,
            trouble,
            lacks_right,
        }
    }

    /// Looks objects up. In an outage of the API server the item keeps its place in the queue.
    async fn look_up(
        &self,
        lookups: Vec<Lookup>,
        unanswered: &mut Vec<(String, String)>,
    ) -> Result<Outcome, Stop> {
        let find = |lookup: Lookup| {
            let (limiter, writer) = (Arc::clone(&self.limiter), Arc::clone(&self.writer));
            async move {
                limiter.wait().await;
                let found = writer.object(lookup.kind, &lookup.key).await;
                (lookup, found)
            }
        };
        let Answers { answers, outage } = lookup::ask(lookups, find).await;
        unanswered.extend(answers.iter().filter_map(|(lookup, answer)| match answer {
            Answer::Failed(why) => Some((format!("{}/{}", lookup.kind.name(), lookup.key), why.clone())),
            Answer::Found(_) | Answer::Absent => None,
        }));
        match outage {
            Some(error) => Err(error.into()),
            None => Ok(Outcome::Answers(answers)),
        }
    }

    async fn plan(&self, plan: &Plan, seen: &mut Vec<Object>, now: Time) -> Result<Outcome, Stop> {
        let created: Vec<&Claim> = plan
            .writes
            .iter()
            .filter_map(|write| match write {
                ClaimWrite::Create { claim, .. } => Some(&**claim),
                _ => None,
            })
            .collect();
        for write in &plan.writes {
            self.write(write, &created, seen, now).await?;
        }
        if let Some(warning) = &plan.warning {
            self.warn(warning, now);
        }
        Ok(Outcome::Done)
    }

    async fn write(
        &self,
        write: &ClaimWrite,
        created: &[&Claim],
        seen: &mut Vec<Object>,
        now: Time,
    ) -> Result<(), Stop> {
        self.limiter.wait().await;
        match write {
            ClaimWrite::Create { claim, template } => {
                match self.writer.create_claim(claim, template).await {
                    Ok(Some(made)) => {
                        self.telemetry.metrics.created(claim, true);
                        seen.push(made);
                    }
                    // The new template is known soon.
                    Ok(None) => return Err(Stop::With(Outcome::Conflict)),
                    Err(error) => return Err(self.not_created(claim, error, seen, now).await),
                }
            }
            ClaimWrite::SetStatuses { of, statuses } => {
                let statuses: Vec<(Str, Str)> = statuses
                    .iter()
                    .filter_map(|(entry, claim)| {
                        let name = match claim {
                            ClaimName::Known(name) => name.clone(),
                            ClaimName::Created(number) => created.get(*number)?.metadata.name.clone(),
                        };
                        Some((entry.clone(), name))
                    })
                    .collect();
                // In a dry run no claim was made that could be named; the server does not ask for it.
                let applied = self
                    .writer
                    .apply_statuses(of.kind, &of.key, &of.uid, &statuses)
                    .await?;
                seen.push(applied);
            }
            ClaimWrite::Reserve { claim, consumer } => {
                let patch = ReservationPatch::add(claim, consumer);
                seen.push(self.writer.reserve(&claim.key(), &patch).await?);
            }
            ClaimWrite::Release {
                claim,
                remaining,
                deallocate,
            } => {
                let patch = ReservationPatch::keep(claim, remaining, *deallocate);
                seen.push(self.writer.reserve(&claim.key(), &patch).await?);
            }
            ClaimWrite::RemoveFinalizer(claim) => {
                let current = newest(seen, claim).filter(|_| !self.writer.is_dry_run());
                let current = current.unwrap_or_else(|| Arc::clone(claim));
                if let Some(patch) = ClaimPatch::without_finalizer(&current) {
                    seen.push(self.writer.patch_claim(&claim.key(), &patch).await?);
                }
            }
            ClaimWrite::Delete(claim) => {
                let (key, uid) = (claim.key(), &claim.metadata.uid);
                match self.writer.delete(Kind::ResourceClaim, &key, uid).await {
                    Ok(()) => {}
                    // Another client has deleted it, which is what was wanted.
                    Err(error) if error.says_gone(&key.name) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// The outcome for a claim that could not be created. If the name is taken, the claim that has it is shown: it may be the one
    /// that was to be made, by an earlier try whose answer got lost or by another writer of the same rules.
    async fn not_created(&self, claim: &Claim, error: Error, seen: &mut Vec<Object>, now: Time) -> Stop {
        if let Error::Refused { code: 409, .. } = error {
            self.limiter.wait().await;
            match self.writer.object(Kind::ResourceClaim, &claim.key()).await {
                Ok(Some(other)) => {
                    seen.push(other);
                    return Stop::With(Outcome::Taken);
                }
                Ok(None) => {}
                Err(error) => return Stop::Failed(error),
            }
        }
        let Error::Refused { message, .. } = &error else {
            return Stop::Failed(error);
        };
        let outcome = outcome_of(&error);
        if matches!(outcome, Outcome::Unreachable) {
            return Stop::Failed(error);
        }
        self.telemetry.metrics.created(claim, false);
        if let Some(warning) = Warning::refused(claim, message) {
            self.warn(&warning, now);
        }
        // Neither 404 nor 409 says that the claim is there or was changed.
        match outcome {
            Outcome::Gone | Outcome::Conflict => Stop::With(Outcome::Refused(error.to_string())),
            _ => Stop::Failed(error),
        }
    }

    fn warn(&self, warning: &Warning, now: Time) {
        if let Some(recorder) = &self.recorder {
            recorder.warn(warning, now);
        }
    }

    /// Evicts a pod whose eviction was due at `due`. Mirrors `device_taint_eviction.go`, `addConditionAndDeletePod`, v1.37.2.
    async fn evict(
        &self,
        pod: &PodRef,
        due: Time,
        seen: &mut Vec<Object>,
        started: Moment,
    ) -> Result<Outcome, Error> {
        let (begun, now) = (Instant::now(), started.written);
        self.limiter.wait().await;
        let found = self.writer.object(Kind::Pod, &pod.key).await?;
        let Some(Object::Pod(current)) = found else {
            return Ok(Outcome::Gone);
        };
        if current.metadata.uid != pod.uid {
            return Ok(Outcome::Gone);
        }
        // Another client has deleted it.
        if current.metadata.is_deleting() {
            return Ok(Outcome::Done);
        }
        if let Some(recorder) = &self.recorder {
            recorder.evicting(pod, now);
        }
        let mut conditions = current.status.conditions.iter();
        let known = conditions.find(|condition| condition.type_ == DISRUPTION_TARGET);
        if let Some(condition) = disruption(known, now) {
            self.limiter.wait().await;
            let changed = self.writer.set_pod_condition(&pod.key, &pod.uid, &condition);
            seen.push(changed.await?);
        }
        self.limiter.wait().await;
        // Where another pod has the name by now, the next try finds it.
        self.writer.delete(Kind::Pod, &pod.key, &pod.uid).await?;
        if !self.writer.is_dry_run() {
            let late = started.now.since(due) + begun.elapsed();
            self.telemetry.metrics.evicted(late);
        }
        Ok(Outcome::Done)
    }
}

/// The claim as the server answered with it last.
fn newest(seen: &[Object], claim: &Claim) -> Option<Arc<Claim>> {
    seen.iter().rev().find_map(|object| match object {
        Object::ResourceClaim(seen) if seen.metadata.uid == claim.metadata.uid => Some(Arc::clone(seen)),
        _ => None,
    })
}
