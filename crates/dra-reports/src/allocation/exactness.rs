//! How far an answer is the scheduler's own, and why no further.

use std::sync::Arc;

use serde::Serialize;

use super::words;
use dra_allocator::{Certainty, Choice};
use dra_model::{Node, Pod, Str};
use dra_rules::scheduling::{Judgment, KnownBug, Panic, Scheduler, Start, Verdict, doubts, orders, unlike};

/// Exactness of an answer, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub enum Exactness {
    /// Per node, device for device.
    #[default]
    Exact,
    /// Whether something fits is certain. Which devices it gets is one of several choices: only the scheduler's order of pools
    /// decides.
    OneOf,
    /// In some orders of pools the scheduler meets an error first, which ends its attempt.
    MayError,
    /// By the known rules; the scheduler may decide otherwise.
    FitOnly,
}

/// Exactness of an answer.
#[derive(Default)]
pub(crate) struct Trust {
    /// In a word.
    pub(crate) exactness: Exactness,
    /// Why no further: sentences without a full stop.
    pub(crate) notes: Vec<String>,
    /// The known bugs that some of these are about.
    pub(crate) bugs: Vec<KnownBug>,
    /// The bug that stops the scheduler when it looks at the pod.
    pub(crate) panic: Option<Panic>,
}

impl Trust {
    /// What is to be said before any node is judged.
    pub(crate) fn of(scheduler: &Scheduler, start: &Start<'_>, pod: Option<&Pod>) -> Self {
        let claims = match start {
            Start::Cycle(cycle) => cycle.user_claims(),
            Start::Obstacle(_) | Start::Unknown(_) => &[],
        };
        let cluster = scheduler.cluster();
        let mut trust = Self::default();
        trust.lower(Exactness::FitOnly, unlike(cluster));
        let told = doubts(cluster, pod, claims);
        trust.bugs = told.bugs;
        trust.panic = told.panic;
        trust.lower(Exactness::FitOnly, told.doubts);
        trust.lower(Exactness::OneOf, orders(cluster, claims));
        trust.notes.extend(told.notes);
        trust
    }

    /// Takes in how sure the answers for nodes are.
    pub(crate) fn see<'n>(&mut self, answers: impl Iterator<Item = (&'n Arc<Node>, &'n Judgment)>) {
        let mut choices: Vec<(&Str, &[Choice])> = Vec::new();
        let mut errors: Vec<(&Str, &str)> = Vec::new();
        let mut differing: Vec<(&Str, &str)> = Vec::new();
        for (node, judgment) in answers {
            let name = &node.metadata.name;
            match &judgment.certainty {
                Certainty::Sure => {}
                Certainty::OneOf(open) => choices.push((name, open)),
                Certainty::MayError(error) => errors.push((name, error)),
                Certainty::MayDiffer(why) => differing.push((name, why)),
            }
        }
        if let [(first, open), ..] = choices.as_slice() {
            let note = words::open_devices(first, choices.len(), open);
            self.lower(Exactness::OneOf, vec![note]);
        }
        if let [(first, error), ..] = errors.as_slice() {
            let note = words::may_error(first, errors.len(), error);
            self.lower(Exactness::MayError, vec![note]);
        }
        if let [(first, why), ..] = differing.as_slice() {
            let note = words::may_differ(first, differing.len(), why);
            self.lower(Exactness::FitOnly, vec![note]);
        }
    }

    /// Takes in that kube-scheduler may run out of time, which has a message of its own. The note on it says so.
    pub(crate) fn see_time(&mut self, is_feared: bool) {
        if is_feared {
            self.exactness = self.exactness.max(Exactness::FitOnly);
        }
    }

    pub(super) fn lower(&mut self, to: Exactness, reasons: Vec<String>) {
        if !reasons.is_empty() {
            self.exactness = self.exactness.max(to);
            self.notes.extend(reasons);
        }
    }
}

/// Returns whether it may fit on the node or not, for all that is known.
pub(crate) fn is_open(judgment: &Judgment) -> bool {
    matches!(judgment.certainty, Certainty::MayDiffer(_)) && !matches!(judgment.verdict, Verdict::GaveUp)
}

/// Returns whether the attempt may end with an error on the node.
pub(crate) fn may_error(judgment: &Judgment) -> bool {
    matches!(judgment.certainty, Certainty::MayError(_))
}
