//! Why a run does not begin, or ends early.

use thiserror::Error;

use super::preflight::Rival;
use dra_model::{Component, Environment, Gate, Key, Kind};
use dra_sources::live::{Error as LiveError, MissingRights};

/// Why nothing, or nothing more, is written.
#[derive(Debug, Error)]
pub enum Failure {
    /// The cluster cannot be asked or watched.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// Somebody else does the work.
    #[error(transparent)]
    Rival(#[from] Rival),
    /// The user may not write.
    #[error(transparent)]
    Rights(#[from] MissingRights),
    /// Another one may work by now.
    #[error("the lease {lease} could not be renewed in time, and another one may hold it by now")]
    LeaseLost {
        /// The lease.
        lease: Key,
    },
    /// The rules no longer fit the cluster.
    #[error("the cluster is no longer as it was when this began: {}", .differences.join("; "))]
    Moved {
        /// What is otherwise, in words.
        differences: Vec<String>,
    },
    /// Without PodGroups nobody can tell whether a group is gone, and its devices would be taken from running pods.
    #[error(
        "the feature gate {gate} of kube-controller-manager is on, and the API server serves no PodGroups"
    )]
    NoGroups {
        /// The gate.
        gate: Gate,
    },
}

impl Failure {
    /// What the user can do about it.
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

/// Whether the gates that are set fit what is served.
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
