//! Reasons why a run does not start, or ends early.

use thiserror::Error;

use super::preflight::Rival;
use dra_model::{Component, Environment, Gate, Key, Kind};
use dra_sources::live::{Error as LiveError, MissingRights};

/// Reason why a run does not start, or ends early.
#[derive(Debug, Error)]
pub enum Failure {
    /// The cluster cannot be asked or watched.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// Another controller does the work.
    #[error(transparent)]
    Rival(#[from] Rival),
    /// Rights to write are missing.
    #[error(transparent)]
    Rights(#[from] MissingRights),
    /// Another replica may lead by now.
    #[error("the lease {lease} could not be renewed in time, and another one may hold it by now")]
    LeaseLost {
        /// The lease.
        lease: Key,
    },
    /// The rules no longer fit the cluster.
    #[error("the cluster is no longer as it was when this began: {}", .differences.join("; "))]
    Moved {
        /// Differences, in words.
        differences: Vec<String>,
    },
    /// Without PodGroups it is unknown whether a group is gone, and its devices would be taken from running pods.
    #[error(
        "the feature gate {gate} of kube-controller-manager is on, and the API server serves no PodGroups"
    )]
    NoGroups {
        /// The gate.
        gate: Gate,
    },
}

impl Failure {
    /// Advice for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Live(error) => error.hint(),
            Self::Rival(rival) => Some(rival.hint()),
            Self::Rights(rights) => Some(format!(
                "grant what is missing:\n{}",
                rights.manifest("kubectl-dra-run")
            )),
            Self::LeaseLost { .. } => Some(
                "start it again, as a Deployment does: it waits for the lease, and looks on meanwhile"
                    .to_owned(),
            ),
            Self::Moved { .. } => Some(
                "start it again, as a Deployment does: it goes by what is true then; with --recheck 0s it goes on whatever changes"
                    .to_owned(),
            ),
            Self::NoGroups { gate } => Some(format!(
                "let the API server serve scheduling.k8s.io/v1beta1, or say what is true with --kcm-feature-gates={gate}=false"
            )),
        }
    }
}

/// Checks that the enabled gates fit the served kinds.
///
/// # Errors
/// A gate for PodGroups that are not served.
pub fn check_gates(environment: &Environment) -> Result<(), Failure> {
    let served = !environment.not_served.contains(&Kind::PodGroup);
    let mut gates = [Gate::GenericWorkload, Gate::DRAWorkloadResourceClaims].into_iter();
    let on = gates.find(|gate| environment.enabled(Component::ControllerManager, *gate));
    match on.filter(|_| !served) {
        Some(gate) => Err(Failure::NoGroups { gate }),
        None => Ok(()),
    }
}
