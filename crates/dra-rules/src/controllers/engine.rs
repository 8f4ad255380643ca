//! The engine: a cluster, the controllers that look after it, and the jobs that are out.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;

use super::work::{ControllerName, Job, JobId, Notice, Outcome, PodRef, Subject};
use super::{Controller, Observed, Queue, ResourceClaims, TaintEviction};
use crate::eviction::ClockStep;
use dra_model::{Change, Cluster, Object, Str, Time};
#[cfg(test)]
use dra_model::{Key, Kind};

/// Time to remember a deleted object, so that a late response does not bring it back. No request takes as long.
const REMEMBERED: Duration = Duration::from_secs(60);

/// First pause after the API server could not be reached; it doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Source of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The API server told it, in a watch or in answer to a request.
    Watch,
    /// It is made up, and counts whatever its version.
    Simulation,
}

/// The cluster as far as it is known, with both controllers.
///
/// An object counts only if its version is newer than the known one of its UID, whichever way it came: the answer to a
/// write is visible immediately, and the watch's event of the same version is nothing new. Versions of one kind are
/// numbers that can be compared. Mirrors apimachinery `pkg/util/resourceversion/resourceversion.go`,
/// `CompareResourceVersion`, v0.37.1.
#[derive(Clone, Debug)]
pub struct Engine {
    cluster: Cluster,
    claims: Option<ResourceClaims>,
    eviction: Option<TaintEviction>,
    jobs: HashMap<JobId, ControllerName, RandomState>,
    started: u64,
    /// UIDs of objects that are gone, with when that was seen.
    gone: HashMap<Str, Time, RandomState>,
    /// Time of the next cleanup of `gone`.
    forget_at: Option<Time>,
    outage: Option<Outage>,
}

/// The API server could not be reached.
#[derive(Clone, Copy, Debug)]
struct Outage {
    /// Time at which it is tried again.
    until: Time,
    pause: Duration,
    /// True if a job is out that tries it.
    probing: bool,
}

impl Engine {
    /// An engine with the controllers that are there, which stand for `cluster` as it is.
    pub fn new(cluster: Cluster, claims: Option<ResourceClaims>, eviction: Option<TaintEviction>) -> Self {
        Self {
            cluster,
            claims,
            eviction,
            jobs: HashMap::default(),
            started: 0,
            gone: HashMap::default(),
            forget_at: None,
            outage: None,
        }
    }

    /// The cluster as far as it is known.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Records a change unless a newer version is known, and returns what to report; nothing if it is not new.
    pub fn see(&mut self, change: Change, origin: Origin, now: Time) -> Option<Vec<Notice>> {
        if origin != Origin::Simulation && !self.is_news(&change) {
            return None;
        }
        let after = match &change {
            Change::Put(object) => Some(object.clone()),
            Change::Delete(..) => None,
        };
        let before = self.cluster.apply(change);
        if let (Some(before), true) = (&before, origin != Origin::Simulation) {
            let replaced = after
                .as_ref()
                .is_none_or(|after| after.metadata().uid != before.metadata().uid);
            if replaced {
                self.remember(before, now);
            }
        }
        if before.is_none() && after.is_none() {
            return Some(Vec::new());
        }
        let observed = Observed { before, after };
        let mut notices = Vec::new();
        let (cluster, controllers) = self.controllers();
        for controller in controllers {
            notices.extend(controller.observe(cluster, &observed, now));
        }
        Some(notices)
    }

    /// The API server's clock was set, as is seen at `now`, which continues unchanged: pending work keeps its delay.
    pub fn clock_was_set(&mut self, step: ClockStep, now: Time) {
        let (cluster, controllers) = self.controllers();
        for controller in controllers {
            controller.clock_was_set(cluster, step, now);
        }
    }

    #[cfg(test)]
    /// Takes note of a list of all objects of `kind` (of `namespace`, if it is not empty) as they were at `version`. What is known and
    /// not in the list is gone, unless it is newer than the list.
    pub fn see_list(
        &mut self,
        kind: Kind,
        namespace: &str,
        objects: Vec<Object>,
        version: &str,
        now: Time,
    ) -> Vec<Notice> {
        let listed: std::collections::HashSet<Key, RandomState> =
            objects.iter().map(|object| object.metadata().key()).collect();
        let is_gone = |object: &&Object| {
            let metadata = object.metadata();
            let in_scope = namespace.is_empty() || metadata.namespace == namespace;
            in_scope && !listed.contains(&metadata.key()) && !is_newer(&metadata.resource_version, version)
        };
        let gone: Vec<Key> = self
            .cluster
            .objects(kind)
            .filter(is_gone)
            .map(|object| object.metadata().key())
            .collect();
        let mut notices = Vec::new();
        for key in gone {
            notices.extend(
                self.see(Change::Delete(kind, key), Origin::Watch, now)
                    .into_iter()
                    .flatten(),
            );
        }
        for object in objects {
            notices.extend(
                self.see(Change::Put(object), Origin::Watch, now)
                    .into_iter()
                    .flatten(),
            );
        }
        notices
    }

    fn is_news(&self, change: &Change) -> bool {
        let Change::Put(object) = change else {
            return true;
        };
        let metadata = object.metadata();
        let newer_than = |known: &str| is_newer(&metadata.resource_version, known);
        // Whatever is said of an object that is gone is older than its end.
        if self.gone.contains_key(&metadata.uid) {
            return false;
        }
        match self.cluster.get(object.kind(), &metadata.key()) {
            // Another object of the name: the newer one is there now.
            Some(known) => newer_than(&known.metadata().resource_version),
            None => true,
        }
    }

    fn remember(&mut self, gone: &Object, now: Time) {
        self.gone.insert(gone.metadata().uid.clone(), now);
        if self.forget_at.is_none_or(|at| at <= now) {
            self.gone.retain(|_, at| at.after(REMEMBERED) > now);
            self.forget_at = Some(now.after(REMEMBERED));
        }
    }

    /// Returns when there is something to do: `now` if there is already.
    pub fn next_due(&self, now: Time) -> Option<Time> {
        self.next_due_among(ControllerName::ALL, now)
    }

    /// Returns when one of these controllers has something to do.
    pub fn next_due_among(&self, names: impl IntoIterator<Item = ControllerName>, now: Time) -> Option<Time> {
        let due = names.into_iter();
        let due = due.filter_map(|name| self.next_due_of(name, now)).min()?;
        match self.outage {
            Some(outage) if outage.probing => None,
            Some(outage) => Some(due.max(outage.until)),
            None => Some(due),
        }
    }

    /// Returns when one controller has something to do, whether or not the API server can be reached.
    pub fn next_due_of(&self, name: ControllerName, now: Time) -> Option<Time> {
        match name {
            ControllerName::ResourceClaim => self.claims.as_ref()?.next_due(now),
            ControllerName::DeviceTaintEviction => self.eviction.as_ref()?.next_due(now),
        }
    }

    /// The queue of a controller, if that is there.
    pub fn queue(&mut self, name: ControllerName) -> Option<&mut Queue<Subject>> {
        self.controller(name).map(Controller::queue)
    }

    /// The next job of either controller that is due at `now`.
    pub fn next(&mut self, now: Time) -> Option<Job> {
        self.next_of(ControllerName::DeviceTaintEviction, now)
            .or_else(|| self.next_of(ControllerName::ResourceClaim, now))
    }

    /// The next job of one controller that is due at `now`.
    pub fn next_of(&mut self, name: ControllerName, now: Time) -> Option<Job> {
        if self
            .outage
            .is_some_and(|outage| outage.probing || outage.until > now)
        {
            return None;
        }
        let id = JobId(self.started);
        let Self {
            cluster,
            claims,
            eviction,
            ..
        } = self;
        let controller: &mut dyn Controller = match name {
            ControllerName::ResourceClaim => claims.as_mut()?,
            ControllerName::DeviceTaintEviction => eviction.as_mut()?,
        };
        let (subject, work) = controller.next(id, cluster, now)?;
        self.started += 1;
        self.jobs.insert(id, name);
        if let Some(outage) = &mut self.outage {
            outage.probing = true;
        }
        Some(Job {
            id,
            controller: name,
            subject,
            work,
        })
    }

    /// Items that were given up since this was asked last, with why.
    pub fn given_up(&mut self) -> Vec<(Subject, String)> {
        self.claims
            .as_mut()
            .map(ResourceClaims::given_up)
            .unwrap_or_default()
    }

    /// Returns whether the failed work for `subject` still has to be done, as far as that is known before its next
    /// turn.
    pub fn still_wants(&self, subject: &Subject) -> bool {
        let controller: Option<&dyn Controller> = match subject.controller() {
            ControllerName::ResourceClaim => self.claims.as_ref().map(|one| one as _),
            ControllerName::DeviceTaintEviction => self.eviction.as_ref().map(|one| one as _),
        };
        controller.is_some_and(|controller| controller.still_wants(&self.cluster, subject))
    }

    /// Returns whether the pod has to go, now or later.
    pub fn plans_to_evict(&self, pod: &PodRef) -> bool {
        self.eviction
            .as_ref()
            .is_some_and(|eviction| eviction.has_plan(pod))
    }

    /// Looks at `subject` again as soon as possible.
    pub fn look_again(&mut self, subject: &Subject) {
        if let Some(queue) = self.queue(subject.controller()) {
            queue.add(subject.clone());
        }
    }

    /// The cluster, and the running controllers. Evictions come first, because a released claim has no pods to evict.
    fn controllers(&mut self) -> (&Cluster, impl Iterator<Item = &mut dyn Controller>) {
        let Self {
            cluster,
            claims,
            eviction,
            ..
        } = self;
        let eviction = eviction.iter_mut().map(|one| one as &mut dyn Controller);
        let claims = claims.iter_mut().map(|one| one as &mut dyn Controller);
        (cluster, eviction.chain(claims))
    }

    fn controller(&mut self, name: ControllerName) -> Option<&mut dyn Controller> {
        match name {
            ControllerName::ResourceClaim => self.claims.as_mut().map(|one| one as _),
            ControllerName::DeviceTaintEviction => self.eviction.as_mut().map(|one| one as _),
        }
    }

    /// How a job went. What the API server answered with has been [seen](Self::see) before.
    pub fn done(&mut self, id: JobId, outcome: Outcome, now: Time) {
        let Some(name) = self.jobs.remove(&id) else {
            return;
        };
        if matches!(outcome, Outcome::Unreachable) {
            self.is_out(now);
        } else {
            self.outage = None;
        }
        if let Some(controller) = self.controller(name) {
            controller.done(id, outcome, now);
        }
    }

    /// Returns whether the API server could not be reached, and has not been since.
    pub fn is_cut_off(&self) -> bool {
        self.outage.is_some()
    }

    fn is_out(&mut self, now: Time) {
        let pause = match self.outage {
            // Jobs that went out together fail together.
            Some(outage) if !outage.probing => return,
            Some(outage) => (outage.pause * 2).min(LONGEST_PAUSE),
            None => FIRST_PAUSE,
        };
        self.outage = Some(Outage {
            until: now.after(pause),
            pause,
            probing: false,
        });
    }

    /// Returns how many jobs of a controller are out.
    pub fn jobs_of(&self, name: ControllerName) -> usize {
        self.jobs.values().filter(|of| **of == name).count()
    }
}

/// Returns whether the version `one` is newer than `known`. Versions that are no numbers are newer where they differ.
fn is_newer(one: &str, known: &str) -> bool {
    let number = |text: &str| text.parse::<u128>().ok();
    match (number(one), number(known)) {
        (Some(one), Some(known)) => one > known,
        _ => one != known,
    }
}

#[cfg(test)]
mod tests;
