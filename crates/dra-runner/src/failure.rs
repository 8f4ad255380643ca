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
    #[error("the lease {lease} could not be renewed in time; another process may hold it now")]
    LeaseLost {
        /// The lease.
        lease: Key,
    },
    /// The rules no longer fit the cluster.
    #[error("the cluster has changed since the start: {}", .differences.join("; "))]
    Moved {
        /// Differences, in words.
        differences: Vec<String>,
    },
    /// Without PodGroups it is unknown whether a group is gone, and its devices would be taken from running pods.
    #[error(
        "feature gate {gate} is on in kube-controller-manager, but the API server does not serve PodGroups"
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
                "grant the missing permissions:\n{}",
                rights.manifest("kubectl-dra-run")
            )),
            Self::LeaseLost { .. } => Some(
                "restart it, as a Deployment does: it waits for the lease and compares meanwhile".to_owned(),
            ),
            Self::Moved { .. } => Some(
                "restart it, as a Deployment does: it then uses the new state; --recheck 0s ignores such \
                changes"
                    .to_owned(),
            ),
            Self::NoGroups { gate } => Some(format!(
                "enable scheduling.k8s.io/v1beta1 in the API server, or pass --kcm-feature-gates={gate}=false \
                if the gate is off"
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
