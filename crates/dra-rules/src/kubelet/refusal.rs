//! What a driver's refusal of a claim goes back to, as far as objects show it: drivers report what fails, and seldom why.

use std::sync::Arc;

use super::Stages;
use super::container::{has_run, is_ready};
use super::drivers::Plugin;
use super::publishing::Refused;
use crate::owners::refused_last;
use dra_model::{Claim, ContainerStatus, Key, Pod, Str, Time};

/// What a driver's refusal of a claim goes back to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behind {
    /// The node rebooted then, after the pod had run: what the driver had prepared is gone.
    Reboot(Time),
    /// The API server rejects the pod of what the driver runs for the claim.
    Helper(Str, Box<Refused>),
    /// The driver's pod of the node runs longer than that of another node, which has prepared claims since.
    OlderPod {
        /// The driver's pod of the node.
        pod: Key,
        /// Since when it runs.
        since: Time,
        /// The other node.
        other: Str,
    },
}

impl Stages<'_> {
    /// Returns what is behind a driver's refusal to prepare `claim` for a pod on `node`.
    pub(super) fn behind(&self, pod: &Pod, node: &Str, claim: &Str) -> Option<Behind> {
        let claim = self.cluster.claim(&pod.metadata.beside(claim))?;
        let mut statuses = pod.status.container_statuses.iter();
        let had_run = |status: &ContainerStatus| status.last_state.terminated.is_some();
        if has_run(pod) || statuses.any(had_run) {
            return self.rebooted(pod, node).map(Behind::Reboot);
        }
        let first = claim.results().iter().next()?;
        self.helper(&first.driver, &claim.metadata.uid).or_else(|| {
            claim
                .results()
                .iter()
                .find_map(|result| self.older_pod(&result.driver, node))
        })
    }

    /// What is called after the UID of a claim was made for it, as the daemon is that shares a GPU by NVIDIA's MPS.
    fn helper(&self, driver: &Str, uid: &Str) -> Option<Behind> {
        let of_claim = self
            .cluster
            .events()
            .filter(|event| !uid.is_empty() && event.involved_object.name.contains(uid.as_str()));
        let refused = Refused::of(refused_last(of_claim)?)?;
        Some(Behind::Helper(driver.clone(), Box::new(refused)))
    }

    /// The driver's pod of `node`, if a newer one of it has prepared a claim elsewhere, and none is prepared here since its start.
    fn older_pod(&self, driver: &Str, node: &Str) -> Option<Behind> {
        let plugin = |node: &Str| match self.plugin(driver, node) {
            Plugin::Ready(pod, ..) => self
                .cluster
                .pod(&pod)?
                .status
                .start_time
                .map(|start| (pod, start)),
            _ => None,
        };
        let (pod, since) = plugin(node)?;
        let has_device = |user: &Pod| {
            let mut claims = self.claims(user);
            claims.any(|claim: &Arc<Claim>| claim.results().iter().any(|result| result.driver == *driver))
        };
        let mut users = self
            .cluster
            .pods()
            .filter(|user| is_ready(user) && has_device(user));
        users.find_map(|user| {
            let other = user.node().filter(|other| *other != node)?;
            let (_, restarted) = plugin(other)?;
            let is_newer = restarted > since && user.status.start_time? >= restarted;
            is_newer.then(|| Behind::OlderPod {
                pod: pod.clone(),
                since,
                other: other.clone(),
            })
        })
    }
}
