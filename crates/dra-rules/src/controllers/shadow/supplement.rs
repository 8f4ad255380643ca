//! Supplement of the built-in controllers: does the overdue part of what they leave undone.

use std::sync::Arc;

use super::wish::ClaimRef;
use super::{Shadow, Wish};
use crate::controllers::work::{ClaimWrite, Ending, Plan, Work};
use dra_model::{Claim, ConsumerReference, Time};

/// Writes of a supplement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supplement {
    /// Evictions.
    pub evictions: bool,
    /// Removals of reservations and of finalizers, and deallocations.
    pub releases: bool,
    /// True if each write is tried once, as what is tried is not kept.
    pub once: bool,
}

impl Supplement {
    /// Returns whether anything is written.
    pub(super) fn writes(self) -> bool {
        self.evictions || self.releases
    }
}

impl Shadow {
    /// The same, and returns what `supplement` writes when it is overdue.
    #[must_use]
    pub fn supplementing(self, supplement: Supplement) -> Self {
        Self { supplement, ..self }
    }

    /// Returns what is to be written of this work, which the rules want at `now`.
    pub(super) fn overdue_part(&mut self, work: &Work, now: Time) -> Option<Work> {
        let part = match work {
            Work::Evict { pod, .. } if self.supplement.evictions => self
                .is_overdue(&Wish::Evict(pod.clone()), now)
                .then(|| work.clone()),
            Work::Carry(plan) if self.supplement.releases => self.overdue_releases(plan, now),
            _ => None,
        }?;
        for wish in Wish::of(&part) {
            if let Some(open) = self.open.get_mut(&wish) {
                open.handed_out = true;
            }
        }
        Some(part)
    }

    /// The first writes of the plan, as far as all that they do is overdue.
    fn overdue_releases(&self, plan: &Plan, now: Time) -> Option<Work> {
        let mut writes = Vec::new();
        for write in &plan.writes {
            let wishes = Wish::of_write(write);
            let is_young = |wish: &Wish| self.open.contains_key(wish) && !self.is_overdue(wish, now);
            match write {
                ClaimWrite::Release { .. } | ClaimWrite::RemoveFinalizer(_)
                    if !wishes.iter().any(is_young) =>
                {
                    writes.push(write.clone());
                }
                // Devices are freed together with the last consumer, so both have to be overdue.
                ClaimWrite::Release { claim, remaining, .. } => {
                    let young = |uid| is_young(&Wish::Release(ClaimRef::of(claim), uid));
                    let stays = |entry: &&ConsumerReference| {
                        remaining.iter().any(|kept| kept.uid == entry.uid) || young(entry.uid.clone())
                    };
                    writes.extend(release(claim, claim.status.reserved_for.iter().filter(stays)));
                    break;
                }
                _ => break,
            }
        }
        let mut wanted = writes.iter().flat_map(Wish::of_write);
        let is_overdue = wanted.any(|wish| self.is_overdue(&wish, now));
        is_overdue.then_some(Work::Carry(Plan {
            writes,
            warning: None,
            ending: Ending::Done,
        }))
    }

    fn is_overdue(&self, wish: &Wish, now: Time) -> bool {
        self.open.get(wish).is_some_and(|open| {
            let patience = wish.patience(self.overdue_after);
            open.since.after(patience) <= now && !(self.supplement.once && open.handed_out)
        })
    }
}

/// The removal of all but these, unless none goes or none stays.
fn release<'a>(claim: &Arc<Claim>, stays: impl Iterator<Item = &'a ConsumerReference>) -> Option<ClaimWrite> {
    let remaining: Vec<ConsumerReference> = stays.cloned().collect();
    let before = claim.status.reserved_for.len();
    let goes = !remaining.is_empty() && remaining.len() < before;
    goes.then(|| ClaimWrite::Release {
        claim: Arc::clone(claim),
        remaining,
        deallocate: false,
    })
}
