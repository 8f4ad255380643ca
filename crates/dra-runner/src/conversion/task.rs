//! A claim and what is to be written to it, and what became of that.

use std::sync::Arc;

use super::record::{self, RecordError, Write, WriteAction};
use super::step::Attempt;
use super::{ClaimResult, Outcome, Report, Trouble};
use dra_model::{Claim, ClaimChange, ClaimPatch, ConsumerReference, Key, Str};
use dra_rules::reservation::conversion::{ClaimPlan, Options, Saved};

/// Goal for a claim at each look.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// Pods in the place of other entries.
    Convert(&'a Options),
    /// The list that it had.
    Restore(&'a Saved),
}

impl Purpose<'_> {
    /// Returns what the journal calls such a write.
    pub(super) fn action(self, patch: &ClaimPatch) -> WriteAction {
        match (patch.change(), self) {
            (ClaimChange::Finalizers(_), _) => WriteAction::Finalizer,
            (ClaimChange::Release, _) => WriteAction::Release,
            (ClaimChange::List { .. }, Self::Convert(_)) => WriteAction::Convert,
            (ClaimChange::List { .. }, Self::Restore(_)) => WriteAction::Restore,
        }
    }
}

/// A claim and what is to be written to it.
pub(super) struct Task {
    pub(super) key: Key,
    /// As it was read; the patch is locked to its version.
    pub(super) claim: Arc<Claim>,
    pub(super) patch: ClaimPatch,
    /// Plan, for the report.
    pub(super) plan: Option<ClaimPlan>,
}

/// Result of one claim.
pub(super) struct Done {
    pub(super) task: Task,
    pub(super) outcome: Outcome,
    pub(super) message: Option<String>,
    /// Other claims will fare no better, because of this.
    pub(super) fatal: Option<Trouble>,
}

impl Task {
    /// Returns what `plan` writes to `claim`; nothing where it writes nothing.
    pub(super) fn of(claim: &Arc<Claim>, plan: ClaimPlan) -> Option<Self> {
        let patch = plan.patch()?.clone();
        Some(Self {
            key: plan.key.clone(),
            claim: Arc::clone(claim),
            patch,
            plan: Some(plan),
        })
    }

    /// The line of the journal about the next write.
    pub(super) fn entry(&self, action: WriteAction) -> Write {
        let metadata = &self.claim.metadata;
        Write {
            time: record::time(),
            action,
            namespace: self.key.namespace.clone(),
            name: self.key.name.clone(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
            before: self.list().to_vec(),
            after: self.patch.after().to_vec(),
            patch: self.patch.operations(),
        }
    }

    /// The list as it was read.
    pub(super) fn list(&self) -> &[ConsumerReference] {
        &self.claim.status.reserved_for
    }

    pub(super) fn uid(&self) -> &Str {
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

    /// Writes that cannot be recorded are not sent. An earlier write may have taken effect without a response.
    pub(super) fn ends_unnoted(self, attempt: &Attempt, error: &RecordError) -> Done {
        let trouble = Trouble::from(error);
        let (outcome, what) = if attempt.has_sent() {
            (
                Outcome::Failed,
                "it is unknown whether it was written; not sent again",
            )
        } else {
            (Outcome::NotTried, "not sent")
        };
        let message = format!(
            "{what}, because it could not be recorded first: {}",
            trouble.message
        );
        self.ends(outcome, Some(message)).and_all(trouble)
    }

    pub(super) fn ends_interrupted(self) -> Done {
        self.ends(Outcome::NotTried, Some("interrupted".to_owned()))
    }

    /// It was sent before the run was asked to stop, and the server does not say what became of it.
    pub(super) fn ends_unanswered(self) -> Done {
        let message = "interrupted: it was sent, but the server did not answer, so it is unknown whether it \
                      was written";
        self.ends(Outcome::Failed, Some(message.to_owned()))
    }

    /// The second half of a release does not come about.
    pub(super) fn keeps_finalizer(self, why: &str) -> Done {
        let message = format!("its devices are released, but its finalizer remains: {why}");
        self.ends(Outcome::Failed, Some(message))
    }
}

impl Done {
    /// Returns what ended this ends all others.
    pub(super) fn and_all(self, trouble: Trouble) -> Self {
        Self {
            fatal: Some(trouble),
            ..self
        }
    }

    /// Puts what became of the claim into the report. What a later pass did again is still a conversion.
    pub(super) fn note(self, report: &mut Report) {
        let known = report.claims.get(&self.task.key);
        if self.outcome == Outcome::AlreadyDone && known.is_some_and(|known| known.outcome.is_of_new_list()) {
            return;
        }
        let result = ClaimResult {
            key: self.task.key.clone(),
            claim: Some(self.task.claim),
            plan: self.task.plan,
            outcome: self.outcome,
            message: self.message,
        };
        report.claims.insert(self.task.key, result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{FINALIZER, Kind, Object};

    #[test]
    fn the_journal_calls_a_write_what_it_is_by_then() {
        let json = format!(
            r#"{{"metadata":{{"namespace":"n","name":"c","uid":"u","finalizers":["{FINALIZER}"]}},
                "status":{{"allocation":{{}},"reservedFor":[{{"resource":"podgroups","name":"g","uid":"v"}}]}}}}"#
        );
        let Ok(Object::ResourceClaim(claim)) = Object::from_json(Kind::ResourceClaim, json.as_bytes()) else {
            unreachable!()
        };
        let saved = Saved {
            key: claim.key(),
            uid: "u".into(),
            before: Vec::new(),
            after: Vec::new(),
        };
        let options = Options::default();
        let (convert, restore) = (Purpose::Convert(&options), Purpose::Restore(&saved));
        // A pod that comes before its devices are deallocated turns a release into a conversion.
        let list = ClaimPatch::list(&claim, Vec::new(), Vec::new(), false);
        assert_eq!(convert.action(&ClaimPatch::release(&claim)), WriteAction::Release);
        assert_eq!(convert.action(&list), WriteAction::Convert);
        assert_eq!(restore.action(&list), WriteAction::Restore);
        let patch = ClaimPatch::without_finalizer(&claim).expect("it has one");
        assert_eq!(convert.action(&patch), WriteAction::Finalizer);
    }
}
