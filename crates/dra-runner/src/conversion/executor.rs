//! Passes over all claims: read, plan, back up, write, look again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::gates;
use super::pass::{self, Phase};
use super::preflight;
use super::reading::{reload, still_served};
use super::record::{Entry, Head, Paths, Record, Write, WriteAction, read_journal};
use super::step::Answer;
use super::task::{Purpose, Task};
use super::worker::{Shared, Traffic};
use super::{ClaimResult, Error, Mode, Order, Outcome, Report, Stop, Survey, Trouble, Watcher};
use dra_model::{Claim, ClaimPatch, Cluster, Environment, Key, Kind, Str};
use dra_rules::reservation::conversion::{Action, ClaimGate, ClaimPlan, complete, plan, unbound, verify};
use dra_sources::live::Live;
use dra_sources::{Needs, Unobserved, VersionSettings};

/// Carries orders out on one cluster.
pub struct Executor<'a> {
    live: &'a Live,
    order: &'a Order,
    stop: Stop,
    watcher: &'a dyn Watcher,
}

impl<'a> Executor<'a> {
    /// For `order` on the cluster behind `live`.
    pub fn new(live: &'a Live, order: &'a Order, stop: Stop, watcher: &'a dyn Watcher) -> Self {
        Self {
            live,
            order,
            stop,
            watcher,
        }
    }

    /// Plans for a cluster that was read.
    pub fn plan(&self, cluster: Cluster) -> Survey {
        let planned = self.order.planned.as_ref();
        let is_planned =
            |claim: &Claim| planned.is_some_and(|planned| planned.claims.contains_key(&claim.key()));
        let claims = cluster
            .claims()
            .filter(|claim| (self.order.selects)(claim) || is_planned(claim));
        let mut plan = plan(&cluster, claims.map(|claim| &**claim), &self.order.options);
        if let Some(planned) = planned {
            for claim in &mut plan.claims {
                planned.restrict(claim);
            }
        }
        let namespace = self.order.namespace.as_deref().unwrap_or_default();
        if let Some(gap) = cluster.gap(Kind::ResourceClaim, namespace) {
            plan.unknown.push(gap.clone());
            plan.claims.clear();
        }
        Survey { cluster, plan }
    }

    /// Reads the cluster and plans.
    async fn survey(&self) -> Result<Survey, Error> {
        let now = jiff::Timestamp::now().into();
        let order = self.order;
        let loaded = self
            .live
            .load(&order.needs, &order.versions, now, Arc::new(Unobserved))
            .await?;
        Ok(self.plan(loaded.cluster))
    }

    /// Returns who holds the leases of scheduler and controller manager, as far as that can be read.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn lease_holders(&self) -> Result<BTreeMap<String, String>, Error> {
        let mut holders = BTreeMap::new();
        for name in gates::leases() {
            if let Some(holder) = self.live.lease_holder(name).await? {
                holders.insert(name.to_owned(), holder);
            }
        }
        Ok(holders)
    }

    /// Returns what is asked before anything is written: that the gate is off where this is the final phase (`before` are the lease holders of
    /// the last run before it), that the rights are there, and that the server would accept a write.
    ///
    /// # Errors
    /// Says what is missing.
    pub async fn preflight(&self, survey: &Survey, before: &BTreeMap<String, String>) -> Result<(), Error> {
        if let Phase::Final { .. } = self.order.phase {
            let now = jiff::Timestamp::now().into();
            let needs = Needs::none().with_gates();
            // What the user says of gates must not hide what the cluster shows.
            let bare = self
                .live
                .load(&needs, &VersionSettings::default(), now, Arc::new(Unobserved))
                .await?;
            gates::judge(
                bare.cluster.environment(),
                survey.cluster.environment(),
                before,
                &self.lease_holders().await?,
                ClaimGate::of(&survey.cluster),
            )?;
        }
        let tasks = self.tasks(survey, &BTreeSet::new());
        if self.order.mode != Mode::Client {
            preflight::check(self.live, survey.cluster.environment(), &tasks).await?;
        }
        Ok(())
    }

    /// Returns how many claims a run before, which `paths` record, took the devices from before it was ended, so that their finalizers are left.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn half_released(survey: &Survey, paths: &Paths) -> Result<usize, Error> {
        if !paths.journal.exists() {
            return Ok(0);
        }
        let entries = read_journal(&paths.journal)?.into_iter();
        let writes: Vec<Write> = entries.filter_map(Entry::into_write).collect();
        Ok(half_released(&survey.cluster, &writes).count())
    }

    /// Returns what the beginning of the journal says.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn head(&self) -> Result<Head, Error> {
        Ok(Head {
            server: self.live.server().to_owned(),
            context: self.live.context().map(str::to_owned),
            is_final: matches!(self.order.phase, Phase::Final { .. }),
            restore: false,
            cluster_uid: self.live.cluster_uid().await?,
            lease_holders: self.lease_holders().await?,
        })
    }

    /// Writes what `first`, read just now, and the passes after it plan; without it the cluster is read again. A dry run has no
    /// `record`.
    ///
    /// # Errors
    /// When nothing could be begun. What ends a run that has written is in the report.
    pub async fn apply(&self, first: Option<Survey>, record: Option<&mut Record>) -> Result<Report, Error> {
        let mut report = Report::default();
        match self.passes(first, record, &mut report).await {
            Err(error) if report.claims.is_empty() => Err(error),
            Err(error) => {
                report.failure = Some(Trouble::from(&error));
                Ok(report)
            }
            Ok(()) => Ok(report),
        }
    }

    async fn passes(
        &self,
        first: Option<Survey>,
        mut record: Option<&mut Record>,
        report: &mut Report,
    ) -> Result<(), Error> {
        let begin = Instant::now();
        let mut converted: BTreeSet<Str> = BTreeSet::new();
        let survey = match first {
            Some(survey) => Some(survey),
            None => self.survey_patiently(None).await?,
        };
        let Some(mut survey) = survey else {
            report.interrupted = true;
            return Ok(());
        };
        if let Some(record) = &record {
            converted.extend(record.earlier().iter().map(|write| write.uid.clone()));
            report.failure = self.finish_releases(&survey, record, report).await;
            if report.failure.is_some() {
                report.passes = 1;
                self.note_others(&survey, report);
                for task in self.tasks(&survey, &converted) {
                    task.ends(Outcome::NotTried, None).note(report);
                }
                return Ok(());
            }
        }
        loop {
            report.passes += 1;
            report.unknown.clone_from(&survey.plan.unknown);
            if !report.unknown.is_empty() {
                return Ok(());
            }
            let tasks = self.tasks(&survey, &converted);
            self.note_others(&survey, report);
            let waiting = self.waiting(&survey, report);
            if let Some(record) = record.as_deref_mut().filter(|_| !tasks.is_empty()) {
                let message = match self.stop.unless_asked(self.back_up(&tasks, record)).await {
                    Some(Ok(())) => None,
                    Some(Err(error)) => {
                        let trouble = Trouble::from(&error);
                        let message =
                            format!("not sent, because it is not in the backup: {}", trouble.message);
                        report.failure = Some(trouble);
                        Some(message)
                    }
                    None => {
                        report.interrupted = true;
                        Some("interrupted".to_owned())
                    }
                };
                if let Some(message) = message {
                    for task in tasks {
                        task.ends(Outcome::NotTried, Some(message.clone())).note(report);
                    }
                    return Ok(());
                }
            }
            let tried = tasks.len();
            self.watcher.pass(report.passes, tried);
            let shared = self.shared(&survey, record.as_deref());
            let purpose = Purpose::Convert(&self.order.options);
            let work = tasks.into_iter().map(|task| (purpose, task));
            let written = shared.carry_all(work, report, self.watcher).await;
            converted.extend(written.listed);
            report.failure = written.failure;
            report.interrupted = self.stop.is_asked();
            if report.failure.is_some() || report.interrupted || self.order.mode != Mode::Write {
                return Ok(());
            }
            let seen = pass::Seen {
                number: report.passes,
                wrote: written.count,
                waiting,
                elapsed: begin.elapsed(),
            };
            let next = pass::next(self.order.phase, self.order.wait, seen);
            if next.is_none() && tried == 0 {
                break;
            }
            // After a last pass that wrote, or met with writes of others, one more look tells what is there.
            if let Some(pause) = next {
                self.watcher.waits(pause);
                self.stop.or_after(pause).await;
                report.interrupted = self.stop.is_asked();
                if report.interrupted {
                    return Ok(());
                }
            }
            let again = self.survey_patiently(Some(survey.cluster.environment())).await?;
            let Some(again) = again else {
                report.interrupted = true;
                return Ok(());
            };
            survey = again;
            if next.is_none() {
                self.waiting(&survey, report);
                break;
            }
        }
        match self.stop.unless_asked(self.verify(&survey, report)).await {
            Some(done) => done,
            None => {
                report.interrupted = true;
                Ok(())
            }
        }
    }

    fn shared<'s>(&'s self, survey: &'s Survey, record: Option<&'s Record>) -> Shared<'s> {
        Shared {
            live: self.live,
            environment: survey.cluster.environment(),
            mode: self.order.mode,
            record,
            patience: self.order.patience,
            stop: &self.stop,
            traffic: Traffic::new(self.order.at_once),
        }
    }

    /// Puts the claims into the backup that are about to be written.
    async fn back_up(&self, tasks: &[Task], record: &mut Record) -> Result<(), Error> {
        let keys = tasks.iter().map(|task| task.key.clone()).collect();
        let namespace = self.order.namespace.as_deref();
        let claims = self.live.claims_as_sent(namespace, &keys).await?;
        Ok(record.back_up(claims)?)
    }

    /// Reads again, also when the server is away for a while; nothing when asked to stop. `known` is what it served before.
    async fn survey_patiently(&self, known: Option<&Environment>) -> Result<Option<Survey>, Error> {
        let begin = Instant::now();
        loop {
            let Some(read) = self.stop.unless_asked(self.survey()).await else {
                return Ok(None);
            };
            let read = match (read, known) {
                (Ok(survey), Some(known)) => {
                    let served = still_served(survey.cluster.environment(), known, self.live.server());
                    served.map(|()| survey).map_err(Error::from)
                }
                (read, _) => read,
            };
            match read {
                Err(Error::Live(error))
                    if matches!(Answer::of(&error), Answer::Unclear { .. })
                        && begin.elapsed() < self.order.patience =>
                {
                    self.stop.or_after(Duration::from_secs(1)).await;
                }
                other => return other.map(Some),
            }
        }
    }

    /// Returns what is to be written: what was planned, and the entries that claims converted before lack.
    fn tasks(&self, survey: &Survey, converted: &BTreeSet<Str>) -> Vec<Task> {
        let cluster = &survey.cluster;
        let planned = survey.plan.claims.iter().filter_map(|planned| {
            let claim = cluster.claim(&planned.key)?;
            Task::of(claim, planned.clone())
        });
        let is_final = matches!(self.order.phase, Phase::Final { .. });
        let lacking = cluster
            .claims()
            .filter(|claim| (self.order.selects)(claim))
            .filter(|claim| is_final || converted.contains(&claim.metadata.uid))
            .filter_map(|claim| Task::of(claim, complete(cluster, claim).ok()??));
        planned.chain(lacking).collect()
    }

    /// Takes over what the plan says of claims that are not written.
    fn note_others(&self, survey: &Survey, report: &mut Report) {
        for planned in &survey.plan.claims {
            let (outcome, message) = match &planned.action {
                Action::Keep => (Outcome::Kept, None),
                Action::Refuse(refusal) => (Outcome::Refused, Some(refusal.to_string())),
                Action::Convert(_) | Action::Release(_) => continue,
            };
            let Some(claim) = survey.cluster.claim(&planned.key) else {
                continue;
            };
            let result = ClaimResult {
                key: planned.key.clone(),
                claim: Some(Arc::clone(claim)),
                plan: Some(planned.clone()),
                outcome,
                message,
            };
            report.claims.insert(planned.key.clone(), result);
        }
        // A claim that was rejected before and has nothing to convert was converted by another client.
        let planned: BTreeSet<&Key> = survey.plan.claims.iter().map(|planned| &planned.key).collect();
        for (key, result) in &mut report.claims {
            if result.outcome == Outcome::Refused && result.plan.is_some() && !planned.contains(key) {
                result.outcome = Outcome::AlreadyDone;
                result.message = None;
            }
        }
        let Some(of_file) = &self.order.planned else {
            return;
        };
        let existing = |key: &Key| Some(survey.cluster.claim(key)?.metadata.uid.clone());
        for (key, outcome, message) in of_file.absent(existing) {
            if !planned.contains(key) {
                report.claims.entry(key.clone()).or_insert_with(|| ClaimResult {
                    key: key.clone(),
                    claim: None,
                    plan: None,
                    outcome,
                    message: Some(message),
                });
            }
        }
    }

    /// Returns how many claims wait for pods to get their nodes.
    fn waiting(&self, survey: &Survey, report: &mut Report) -> usize {
        report.unbound.clear();
        let is_written = |key: &Key| {
            let claim = survey.cluster.claim(key);
            claim.is_some_and(|claim| (self.order.selects)(claim))
        };
        let refused = survey.plan.claims.iter().filter(|planned| match &planned.action {
            Action::Refuse(refusal) => refusal.waits_for_nodes() && is_written(&planned.key),
            Action::Convert(_) | Action::Release(_) | Action::Keep => false,
        });
        let refused = refused.count();
        if survey.plan.gate.may_be_on() {
            for (key, result) in &report.claims {
                let pods = unbound(&survey.cluster, key);
                if result.outcome.is_of_new_list() && !pods.is_empty() {
                    report.unbound.insert(key.clone(), pods);
                }
            }
        }
        refused + report.unbound.len()
    }

    /// Drops the finalizers of claims that a run before took the devices from and then was ended. What keeps one of them for good keeps
    /// all others, and is returned.
    async fn finish_releases(
        &self,
        survey: &Survey,
        record: &Record,
        report: &mut Report,
    ) -> Option<Trouble> {
        let mut failure = None;
        let shared = self.shared(survey, Some(record));
        for (claim, patch) in half_released(&survey.cluster, record.earlier()) {
            let task = Task {
                key: claim.key(),
                claim: Arc::clone(claim),
                plan: Some(ClaimPlan::of(claim, Action::Release(patch.clone()))),
                patch,
            };
            let done = if failure.is_some() || self.stop.is_asked() {
                task.ends(Outcome::NotTried, None)
            } else {
                shared.drop_finalizer(task, Claim::clone(claim), None).await
            };
            failure = failure.or_else(|| done.fatal.clone());
            done.note(report);
        }
        failure
    }

    /// Returns what is wrong with the lists of the selected claims now. Claims and pods were listed one after the other, so each defect is
    /// looked for a second time: a pod that got its entry and its node in between only seems to lack the entry.
    async fn verify(&self, survey: &Survey, report: &mut Report) -> Result<(), Error> {
        let environment = survey.cluster.environment();
        for claim in survey
            .cluster
            .claims()
            .filter(|claim| (self.order.selects)(claim))
        {
            let defects = match verify(&survey.cluster, claim) {
                Ok(defects) if defects.is_empty() => continue,
                Ok(defects) => defects,
                Err(gap) => {
                    if !report.unknown.contains(gap) {
                        report.unknown.push(gap.clone());
                    }
                    continue;
                }
            };
            let key = claim.key();
            let cluster = reload(self.live, claim, environment).await?;
            let Some(now) = cluster
                .claim(&key)
                .filter(|now| now.metadata.uid == claim.metadata.uid)
            else {
                continue;
            };
            match verify(&cluster, now) {
                Ok(still) => report.defects.extend(
                    defects
                        .into_iter()
                        .filter(|defect| still.contains(defect))
                        .map(|defect| (key.clone(), defect)),
                ),
                Err(gap) => report.unknown.push(gap.clone()),
            }
        }
        Ok(())
    }
}

/// Claims that earlier writes took the devices from, and that still have their finalizer, with the write that drops it.
fn half_released<'c>(
    cluster: &'c Cluster,
    earlier: &'c [Write],
) -> impl Iterator<Item = (&'c Arc<Claim>, ClaimPatch)> {
    let releases = earlier
        .iter()
        .filter(|write| write.action == WriteAction::Release);
    releases.filter_map(|write| {
        let claim = cluster.claim(&Key::new(write.namespace.clone(), write.name.clone()))?;
        let is_free = claim.status.allocation.is_none() && claim.status.reserved_for.is_empty();
        let patch = ClaimPatch::without_finalizer(claim)?;
        (claim.metadata.uid == write.uid && is_free).then_some((claim, patch))
    })
}
