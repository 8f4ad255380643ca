//! What is a subject's own, taken out of why it waits, so that what waits for the same can be put together.

use dra_allocator::{AttemptError, ErrorSubject, Together};
use dra_model::{Cluster, Key, Pod};
use dra_rules::reservation::{ClaimNameError, claim_names};
use dra_rules::scheduling::{ClaimProblem, Obstacle};

use super::diagnosis::{Answer, Beside, Cause, GangCause, NodeGroup, OnNode, Place, Why};
use super::fact::{Brief, Evidence, Fact, NotMade};
use crate::allocation::{Gang, GangLacks};

impl Why {
    /// The same without the keys of what is the pod's own, which others have of their own.
    pub(crate) fn without(mut self, own: &Own) -> Self {
        self.erase(own);
        self
    }

    fn erase(&mut self, own: &Own) {
        match self {
            Self::Cause(cause) => cause.erase(own),
            Self::Fact(fact) => fact.erase(own),
            Self::Answer(answer) => answer.erase(own),
        }
    }
}

/// The keys of a pod and of the claims that were made for it, or of a claim.
pub(crate) struct Own {
    target: Key,
    claims: Vec<Key>,
}

impl Own {
    pub(crate) fn of_pod(cluster: &Cluster, pod: &Pod) -> Self {
        let claims = claim_names(pod).filter_map(|name| name.key());
        let is_own = |key: &Key| {
            let owner = cluster.claim(key).and_then(|claim| claim.metadata.controller());
            owner.is_some_and(|owner| owner.uid == pod.metadata.uid)
        };
        Self {
            target: pod.key(),
            claims: claims.filter(is_own).collect(),
        }
    }

    pub(crate) fn of_claim(key: Key) -> Self {
        Self {
            target: Key::default(),
            claims: vec![key],
        }
    }

    /// Leaves the empty key, which no object has, for one that is the subject's own.
    fn erase_claim(&self, key: &mut Key) {
        if self.claims.contains(key) {
            *key = Key::default();
        }
    }

    fn erase_target(&self, key: &mut Key) {
        if *key == self.target {
            *key = Key::default();
        }
    }
}

impl Answer {
    fn erase(&mut self, own: &Own) {
        match self {
            Self::Obstacle(obstacle) => erase_obstacle(obstacle, own),
            Self::Full(_, _, claim) => own.erase_claim(claim),
            Self::Gang(gang) => gang.erase(own),
            Self::KeptByQuota(_, answer)
            | Self::Panics(answer, _)
            | Self::NotBound(answer, _)
            | Self::Contradicted(answer, _) => {
                answer.erase(own);
            }
            Self::Attaching(fact) => fact.erase(|claim| own.claims.contains(claim)),
            Self::Silent(answer, _, since) => {
                answer.erase(own);
                *since = None;
            }
            Self::NotGone(fact) | Self::Failed(fact) => fact.erase(own),
            Self::Bound(bound) => match &mut bound.how {
                OnNode::Waits(fact)
                | OnNode::Stuck(fact, _)
                | OnNode::Endangered(fact)
                | OnNode::NotEnding(fact) => fact.erase(own),
                _ => {}
            },
            Self::Unjudged
            | Self::Hidden(_)
            | Self::Open(_)
            | Self::OpenNode(_)
            | Self::Error
            | Self::Fits(..)
            | Self::Evicted(..)
            | Self::GaveUp(_)
            | Self::Queued(..)
            | Self::Nowhere(_)
            | Self::Allocated(_)
            | Self::NotNeeded(..)
            | Self::Ended(..)
            | Self::Deleted(_)
            | Self::NoPods(..)
            | Self::FewerPods(..) => {}
        }
    }
}

impl Cause {
    fn erase(&mut self, own: &Own) {
        match self {
            Self::Error(error) => erase_error(error, own),
            Self::Allocated(claim, _, place) => {
                own.erase_claim(claim);
                if let Place::Other(fact) = place {
                    fact.erase(own);
                }
            }
            Self::Apart(claims) => {
                for (claim, ..) in claims {
                    own.erase_claim(claim);
                }
            }
            Self::Alike(brief) => brief.erase(own),
            Self::OnNode(_, fact) => fact.erase(own),
            Self::Besides(cause, known) => {
                cause.erase(own);
                match known {
                    Beside::Fault(fault) => fault.erase(own),
                    Beside::Others(group) => group.erase(own),
                    _ => {}
                }
            }
            Self::Alternatives(_, causes) => {
                for (_, cause) in causes {
                    cause.erase(own);
                }
            }
            Self::Gang(gang, lacks) => {
                gang.erase(own);
                match lacks {
                    Some(GangCause::Why(why)) => why.erase(own),
                    Some(GangCause::Waits(pod, obstacle)) => {
                        own.erase_target(pod);
                        erase_obstacle(obstacle, own);
                    }
                    None => {}
                }
            }
            Self::TooManyConsumers(claim) | Self::AllocatedNowhere(claim, _) | Self::Status(claim, _) => {
                own.erase_claim(claim);
            }
            Self::Nowhere(_, groups) => {
                for group in groups {
                    group.erase(own);
                }
            }
            Self::Absent(_)
            | Self::SkipsOperations(..)
            | Self::Unserved(_)
            | Self::Republishing(_)
            | Self::Unoffered(..)
            | Self::TooFew(..)
            | Self::Filtered(..)
            | Self::Rejected(..)
            | Self::NotAll(_)
            | Self::NotAlike(_)
            | Self::NotEnough(_)
            | Self::Queued(_) => {}
        }
    }
}

impl NodeGroup {
    fn erase(&mut self, own: &Own) {
        for count in &mut self.devices {
            own.erase_claim(&mut count.claim);
        }
        if let Some(reason) = &mut self.reason {
            reason.erase(own);
        }
    }
}

impl Brief {
    fn erase(&mut self, own: &Own) {
        match self {
            Self::Elsewhere(claim, _) => own.erase_claim(claim),
            Self::Requests(requests) => {
                for (claim, _) in requests {
                    own.erase_claim(claim);
                }
            }
            Self::Fact(fact) => fact.erase(own),
            Self::Amounts(..) | Self::Slices(..) | Self::Lacks(..) | Self::Seen(_) => {}
        }
    }
}

impl Fact {
    fn erase(&mut self, own: &Own) {
        match self {
            Self::Obstacle(obstacle) => erase_obstacle(obstacle, own),
            Self::NoTemplate(_, pod) => own.erase_target(pod),
            // It is the pod's own.
            Self::LeftBehind(claim) => *claim = Key::default(),
            Self::NotShared(claim) => own.erase_claim(claim),
            Self::NotMade(NotMade::Silent(since)) => *since = None,
            Self::Error(error) => erase_error(error, own),
            Self::Together(Together::Constraints(constraints, _)) => {
                for constraint in constraints {
                    own.erase_claim(&mut constraint.claim);
                }
            }
            Self::Together(Together::Requests { requests, .. }) => {
                for (claim, _) in requests {
                    own.erase_claim(claim);
                }
            }
            Self::RuledOut(_, Evidence::Lacking(lacking)) => own.erase_claim(&mut lacking.constraint.claim),
            Self::Gang(gang) => gang.erase(own),
            Self::Stage(fact) => fact.erase(|claim| own.claims.contains(claim)),
            _ => {}
        }
    }
}

impl Gang {
    fn erase(&mut self, own: &Own) {
        if let GangLacks::Fits(_, pod, _) = &mut self.lacks {
            own.erase_target(pod);
        }
    }
}

fn erase_obstacle(obstacle: &mut Obstacle, own: &Own) {
    match obstacle {
        Obstacle::Claim(ClaimProblem::Name(
            ClaimNameError::NotCreated { pod } | ClaimNameError::Unsupported { pod, .. },
        )) => own.erase_target(pod),
        Obstacle::Claim(
            ClaimProblem::Missing { claim }
            | ClaimProblem::Deleting { claim }
            | ClaimProblem::Owner { claim, .. },
        ) => own.erase_claim(claim),
        _ => {}
    }
}

fn erase_error(error: &mut AttemptError, own: &Own) {
    match &mut error.subject {
        ErrorSubject::Request(claim, _)
        | ErrorSubject::Subrequest(claim, _)
        | ErrorSubject::RequestSelector(claim, ..)
        | ErrorSubject::Constraint(claim, _)
        | ErrorSubject::ClaimSelector(claim, ..) => own.erase_claim(claim),
        ErrorSubject::Attempt | ErrorSubject::ClassSelector(..) => {}
    }
}
