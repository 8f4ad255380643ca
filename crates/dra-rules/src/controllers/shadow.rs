//! A shadow of the built-in controllers: what they leave undone, do over and over, or do for no reason that the rules know.
//!
//! Nothing is written. What the rules want is noted as a [`Wish`] until its effect shows in the cluster, no matter who
//! causes it, or until the rules no longer want it. A wish that stays is overdue.

mod supplement;
mod wish;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{Display, IntoStaticStr};

use foldhash::fast::RandomState;

pub use self::supplement::Supplement;
pub use self::wish::{ClaimRef, Wish, is_marked};
use self::wish::{Effect, is_there};
use super::work::{ControllerName, Job, JobId, Notice, Outcome, PodRef, Subject, Work, made_for};
use super::{Engine, Observed};
use crate::reservation::{PodGroups, claims_made_for, is_done, resolves_to};
use dra_model::{Change, Claim, Cluster, Condition, Key, Kind, Object, Pod, Time};

/// A wish that was fulfilled and came back more often than this within [`FLAPPING_PERIOD`] is flapping.
const FLAPPING: usize = 5;
const FLAPPING_PERIOD: Duration = Duration::from_secs(60);

/// Time after which an unexplained write is examined again: its reason may arrive later on another watch.
const PATIENCE: Duration = Duration::from_secs(10);

/// Difference between the built-in controllers and the rules.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, IntoStaticStr, Display,
)]
pub enum Difference {
    /// The rules have wanted it for a long time, and it was not done.
    Overdue,
    /// It is done and undone again and again.
    Flapping,
    /// It was done, and no rule wants it.
    Unexpected,
}

impl Difference {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Overdue, Self::Flapping, Self::Unexpected];
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The difference.
    pub difference: Difference,
    /// The wanted or observed write.
    pub wish: Wish,
    /// Since when it is wanted, or when it was done first.
    pub since: Time,
    /// Time at which it came true after all.
    pub until: Option<Time>,
    /// Count.
    pub count: u64,
}

/// A wish that has not come true.
#[derive(Clone, Debug)]
struct Open {
    since: Time,
    /// Time at which it is overdue, or is looked at again.
    check: Time,
    subject: Subject,
    /// The job that stays out until the pod goes, so that its end counts.
    job: Option<JobId>,
    condition: Option<Condition>,
    /// True if the rules have to say that they still want it.
    in_doubt: bool,
    /// True if it was returned to be written.
    handed_out: bool,
}

/// Something that was done.
#[derive(Clone, Debug)]
struct Deed {
    at: Time,
    wish: Wish,
}

/// Number of wishes, and were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Wishes that have not come true yet.
    pub open: usize,
    /// Of those, wishes that are overdue.
    pub overdue: usize,
    /// Wishes that came true.
    pub fulfilled: u64,
    /// Wishes that the rules gave up, mostly as what they were for is gone.
    pub moot: u64,
}

/// Observed work of a controller, done and undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Wishes fulfilled in a way that only such a controller causes.
    pub done: u64,
    /// Wishes that are overdue.
    pub undone: u64,
}

/// The shadow. It receives each change after the engine, and each job before the next one.
#[derive(Clone, Debug)]
pub struct Shadow {
    overdue_after: Duration,
    groups: PodGroups,
    /// Writes of the supplement once overdue.
    supplement: Supplement,
    open: BTreeMap<Wish, Open>,
    of_object: HashMap<(Kind, Key), BTreeSet<Wish>, RandomState>,
    /// Times of fulfilled wishes within the last minute.
    fulfilled: HashMap<Wish, VecDeque<Time>, RandomState>,
    /// Unexplained writes, in order.
    deeds: VecDeque<Deed>,
    /// Subjects whose job was returned and has no result yet.
    asking: HashSet<Subject, RandomState>,
    found: BTreeMap<(Difference, Wish), Found>,
    /// Keys of `found` that are new.
    news: Vec<(Difference, Wish)>,
    counts: Counts,
    /// By controller, wishes that came true and prove that it works.
    proofs: BTreeMap<ControllerName, u64>,
}

impl Shadow {
    /// A shadow that finds what is undone for longer than `overdue_after`.
    pub fn new(overdue_after: Duration, groups: PodGroups) -> Self {
        Self {
            overdue_after,
            groups,
            supplement: Supplement::default(),
            open: BTreeMap::new(),
            of_object: HashMap::default(),
            fulfilled: HashMap::default(),
            deeds: VecDeque::new(),
            asking: HashSet::default(),
            found: BTreeMap::new(),
            news: Vec::new(),
            counts: Counts::default(),
            proofs: BTreeMap::new(),
        }
    }

    /// Shows a change to the engine, and looks at what it fulfils and at what was done.
    pub fn see(&mut self, engine: &mut Engine, change: Change, now: Time) {
        let (kind, key) = match &change {
            Change::Put(object) => (object.kind(), object.metadata().key()),
            Change::Delete(kind, key) => (*kind, key.clone()),
        };
        let before = engine.cluster().get(kind, &key).cloned();
        let Some(notices) = engine.see(change, super::Origin::Watch, now) else {
            return;
        };
        for Notice::EvictionCancelled(pod) in notices {
            self.close(engine, &Wish::Evict(pod), false, now);
        }
        let after = engine.cluster().get(kind, &key).cloned();
        let mut objects = vec![(kind, key)];
        for object in [&before, &after].into_iter().flatten() {
            if let Object::ResourceClaim(claim) = object
                && let Some((owner, _)) = made_for(claim)
            {
                objects.push((owner.kind, owner.key));
            }
        }
        self.note_deeds(engine, &Observed { before, after }, now);
        for object in objects {
            for wish in self.of_object.get(&object).cloned().unwrap_or_default() {
                self.look_at(engine, &wish, now);
            }
        }
    }

    /// Ends a wish whose effect shows, or whose object is gone.
    fn look_at(&mut self, engine: &mut Engine, wish: &Wish, now: Time) {
        let Some(open) = self.open.get(wish) else { return };
        match wish.effect(engine.cluster(), open.condition.as_ref()) {
            Effect::Missing => {}
            Effect::Shows => self.close(engine, wish, true, now),
            Effect::Moot => self.close(engine, wish, false, now),
        }
    }

    fn close(&mut self, engine: &mut Engine, wish: &Wish, fulfilled: bool, now: Time) {
        let Some(open) = self.open.remove(wish) else {
            return;
        };
        if self.is_found_overdue(wish) {
            self.counts.overdue -= 1;
        }
        let object = wish.object();
        if let Some(wishes) = self.of_object.get_mut(&object) {
            wishes.remove(wish);
            if wishes.is_empty() {
                self.of_object.remove(&object);
            }
        }
        if let Some(found) = self.found.get_mut(&(Difference::Overdue, wish.clone())) {
            found.until.get_or_insert(now);
        }
        if fulfilled {
            if wish.is_proof(engine.cluster()) {
                *self.proofs.entry(wish.controller()).or_default() += 1;
            }
            self.counts.fulfilled += 1;
            self.fulfilled.entry(wish.clone()).or_default().push_back(now);
        } else {
            self.counts.moot += 1;
        }
        if let Some(job) = open.job {
            engine.done(job, if fulfilled { Outcome::Done } else { Outcome::Parked }, now);
        }
    }

    /// Takes a job of the engine. Lookups come back, and so does what a [`Supplement`] writes: carry them out, and tell it to
    /// [`Self::answered`].
    pub fn take(&mut self, engine: &mut Engine, job: Job, now: Time) -> Option<Job> {
        if matches!(job.work, Work::Look(_)) {
            self.asking.insert(job.subject.clone());
            return Some(job);
        }
        let condition = match &job.work {
            Work::SetCondition { condition, .. } => Some(condition.clone()),
            _ => None,
        };
        let wishes = Wish::of(&job.work);
        // Returned items must come up again when they are overdue.
        let stays_out = matches!(job.work, Work::Evict { .. }) && !self.supplement.writes();
        let mut is_open = false;
        for wish in wishes {
            match wish.effect(engine.cluster(), condition.as_ref()) {
                Effect::Missing => {
                    is_open = true;
                    self.want(wish, &job, stays_out.then_some(job.id), condition.clone(), now);
                }
                // It was done before it was known to be wanted.
                effect => self.close(engine, &wish, effect == Effect::Shows, now),
            }
        }
        if let Some(work) = self.overdue_part(&job.work, now) {
            self.asking.insert(job.subject.clone());
            return Some(Job { work, ..job });
        }
        match (stays_out, is_open) {
            (true, true) => {}
            (true, false) => engine.done(job.id, Outcome::Done, now),
            (false, _) => engine.done(job.id, Outcome::Parked, now),
        }
        None
    }

    fn want(
        &mut self,
        wish: Wish,
        job: &Job,
        stays_out: Option<JobId>,
        condition: Option<Condition>,
        now: Time,
    ) {
        if let Some(open) = self.open.get_mut(&wish) {
            open.in_doubt = false;
            open.condition = condition;
            open.job = open.job.or(stays_out);
            return;
        }
        if let Some(times) = self.fulfilled.get(&wish) {
            let recent = times
                .iter()
                .filter(|time| time.after(FLAPPING_PERIOD) > now)
                .count();
            if recent > FLAPPING {
                self.find(Difference::Flapping, &wish, now);
            }
        }
        self.of_object
            .entry(wish.object())
            .or_default()
            .insert(wish.clone());
        let patience = wish.patience(self.overdue_after);
        let open = Open {
            since: now,
            check: now.after(patience),
            subject: job.subject.clone(),
            job: stays_out,
            condition,
            in_doubt: false,
            handed_out: false,
        };
        if self.is_found_overdue(&wish) {
            self.counts.overdue += 1;
        }
        self.open.insert(wish, open);
    }

    fn is_found_overdue(&self, wish: &Wish) -> bool {
        self.found.contains_key(&(Difference::Overdue, wish.clone()))
    }

    fn find(&mut self, difference: Difference, wish: &Wish, since: Time) {
        let key = (difference, wish.clone());
        let found = self.found.entry(key.clone()).or_insert_with(|| Found {
            difference,
            wish: wish.clone(),
            since,
            until: None,
            count: 0,
        });
        found.count += 1;
        if found.count == 1 {
            if difference == Difference::Overdue && self.open.contains_key(wish) {
                self.counts.overdue += 1;
            }
            self.news.push(key);
        }
    }

    /// The wishes that have been open for longest, with since when, and whether they are overdue.
    pub fn oldest(&self, most: usize) -> Vec<(Wish, Time, bool)> {
        let mut oldest: Vec<(&Wish, Time)> =
            self.open.iter().map(|(wish, open)| (wish, open.since)).collect();
        if oldest.len() > most {
            oldest.select_nth_unstable_by_key(most, |(wish, since)| (*since, *wish));
            oldest.truncate(most);
        }
        oldest.sort_unstable_by_key(|(wish, since)| (*since, *wish));
        let oldest = oldest.into_iter();
        oldest
            .map(|(wish, since)| (wish.clone(), since, self.is_found_overdue(wish)))
            .collect()
    }

    /// The lookups of `subject` are answered, or what was to be written for it has been tried.
    pub fn answered(&mut self, subject: &Subject) {
        self.asking.remove(subject);
    }

    /// Returns when something may be overdue, or done without reason. While the API server cannot be reached, only the
    /// engine knows when to continue.
    pub fn next_due(&self, engine: &Engine) -> Option<Time> {
        if engine.is_cut_off() {
            return None;
        }
        let checks = self.open.values().map(|open| open.check).min();
        let deeds = self.deeds.front().map(|deed| deed.at.after(PATIENCE));
        [checks, deeds].into_iter().flatten().min()
    }

    /// Has the engine look again at everything that may be overdue. Take its jobs then, and call [`Self::judge`].
    pub fn doubt(&mut self, engine: &mut Engine, now: Time) {
        // No work was returned, so the rules give no answer.
        if engine.is_cut_off() {
            return;
        }
        for open in self.open.values_mut().filter(|open| open.check <= now) {
            open.check = now.after(PATIENCE);
            // Of a job that is out it is certain that it is wanted, until a notice says otherwise.
            open.in_doubt = true;
            if open.job.is_none() {
                engine.look_again(&open.subject);
            }
        }
    }

    /// Judges what was in doubt: what the rules still want is overdue, the rest is moot.
    pub fn judge(&mut self, engine: &mut Engine, now: Time) {
        if engine.is_cut_off() {
            return;
        }
        let doubtful: Vec<(Wish, bool)> = self
            .open
            .iter()
            .filter(|(_, open)| {
                !self.asking.contains(&open.subject)
                    && (open.in_doubt || open.since.after(self.overdue_after) <= now)
            })
            .map(|(wish, open)| (wish.clone(), open.in_doubt))
            .collect();
        for (wish, in_doubt) in doubtful {
            let still = match &wish {
                Wish::Evict(pod) => engine.plans_to_evict(pod),
                _ => !in_doubt,
            };
            let Some(open) = self.open.get_mut(&wish) else {
                continue;
            };
            open.in_doubt = false;
            let since = open.since;
            let patience = wish.patience(self.overdue_after);
            if !still {
                self.close(engine, &wish, false, now);
            } else if since.after(patience) <= now && !self.is_found_overdue(&wish) {
                self.find(Difference::Overdue, &wish, since);
            }
        }
        while let Some(deed) = self
            .deeds
            .front()
            .filter(|deed| deed.at.after(PATIENCE) <= now)
            .cloned()
        {
            self.deeds.pop_front();
            if !self.is_explained(engine.cluster(), &deed) {
                self.find(Difference::Unexpected, &deed.wish, deed.at);
            }
        }
        self.fulfilled.retain(|_, times| {
            while times
                .front()
                .is_some_and(|time| time.after(FLAPPING_PERIOD) <= now)
            {
                times.pop_front();
            }
            !times.is_empty()
        });
    }

    /// Notes what only these controllers do, where the rules did not want it.
    fn note_deeds(&mut self, engine: &Engine, change: &Observed, now: Time) {
        let wish = match (&change.before, &change.after) {
            (None, Some(Object::ResourceClaim(claim))) => Wish::made(claim),
            (Some(Object::ResourceClaim(before)), Some(Object::ResourceClaim(after))) => {
                self.taken_away(engine.cluster(), before, after)
            }
            (Some(Object::Pod(before)), Some(Object::Pod(after)))
                if !is_marked(before) && is_marked(after) =>
            {
                let pod = PodRef::of(after);
                (!engine.plans_to_evict(&pod)).then_some(Wish::Evict(pod))
            }
            _ => None,
        };
        if let Some(wish) = wish.filter(|wish| !self.was_wanted(wish)) {
            self.deeds.push_back(Deed { at: now, wish });
        }
    }

    fn was_wanted(&self, wish: &Wish) -> bool {
        self.open.contains_key(wish) || self.fulfilled.contains_key(wish)
    }

    /// Returns what a claim lost that a pod on a node still needs.
    fn taken_away(&self, cluster: &Cluster, before: &Claim, after: &Claim) -> Option<Wish> {
        if before.metadata.uid != after.metadata.uid {
            return None;
        }
        let mut gone = before
            .status
            .reserved_for
            .iter()
            .filter(|entry| !after.status.reserved_for.contains(entry));
        let victim = gone.find(|entry| {
            let pod = cluster.pod(&before.metadata.beside(&entry.name));
            pod.is_some_and(|pod| pod.metadata.uid == entry.uid && self.needs(pod, after))
        })?;
        Some(Wish::Release(ClaimRef::of(after), victim.uid.clone()))
    }

    fn needs(&self, pod: &Pod, claim: &Claim) -> bool {
        pod.node().is_some() && !is_done(pod) && resolves_to(pod, claim, self.groups)
    }

    /// Returns whether what was done has a reason by now, or has been undone.
    fn is_explained(&self, cluster: &Cluster, deed: &Deed) -> bool {
        if self.was_wanted(&deed.wish) {
            return true;
        }
        match &deed.wish {
            Wish::Create(owner, entry) => {
                let mut made = claims_made_for(cluster, owner.kind, &owner.key.namespace, &owner.uid, entry);
                let entries = match cluster.get(owner.kind, &owner.key) {
                    Some(Object::Pod(pod)) => &pod.spec.resource_claims,
                    Some(Object::PodGroup(group)) => &group.spec.resource_claims,
                    // The garbage collector takes care of it.
                    _ => return true,
                };
                let has_entry = entries
                    .iter()
                    .any(|known| known.name == *entry && known.resource_claim_template_name.is_some());
                let first = made.next();
                first.is_none() || !is_there(cluster, owner) || has_entry && made.next().is_none()
            }
            Wish::Release(reference, consumer) => {
                let Some(claim) = cluster.claim(&reference.key) else {
                    return true;
                };
                let mut pods = cluster.pods_of_claim(&reference.key);
                let needed = pods.any(|pod| pod.metadata.uid == *consumer && self.needs(pod, claim));
                claim.metadata.uid != reference.uid || claim.lists(consumer) || !needed
            }
            _ => false,
        }
    }

    /// Returns what was found since this was asked last.
    pub fn news(&mut self) -> Vec<Found> {
        let news = std::mem::take(&mut self.news);
        news.iter()
            .filter_map(|key| self.found.get(key))
            .cloned()
            .collect()
    }

    /// Everything that was found, in order.
    pub fn found(&self) -> impl Iterator<Item = &Found> {
        self.found.values()
    }

    /// Returns whether the controller works, as far as that was seen.
    pub fn evidence(&self, name: ControllerName) -> Evidence {
        let is_overdue = |wish: &&Wish| {
            let key = (Difference::Overdue, (*wish).clone());
            wish.controller() == name && self.found.contains_key(&key)
        };
        Evidence {
            done: self.proofs.get(&name).copied().unwrap_or(0),
            undone: self.open.keys().filter(is_overdue).count() as u64,
        }
    }

    /// Returns how many wishes there are, and were.
    pub fn counts(&self) -> Counts {
        Counts {
            open: self.open.len(),
            ..self.counts
        }
    }
}

#[cfg(test)]
mod tests;
