//! What a driver's refusal of a claim goes back to, as far as objects show it: drivers report what fails, and seldom why.

use std::sync::Arc;

use super::container::{has_run, is_ready};
use super::drivers::{Plugin, daemon_set_of, is_called_plugin, is_pod_of};
use super::publishing::Refused;
use super::{Stages, said};
use crate::owners::refused_last;
use crate::reservation::users;
use dra_model::{ContainerStatus, Key, Pod, Str, Time};

/// What a driver's refusal of a claim goes back to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behind {
    /// The driver prepares it for one pod only, and this other one uses it, too.
    Shared(Key),
    /// The node rebooted then, after the pod had run: what the driver had prepared is gone.
    Reboot(Time),
    /// The API server rejects the pod of what the driver runs for the claim.
    Helper(Str, Box<Refused>),
    /// The driver's pod of the node runs longer than something that it depends on.
    OlderPod {
        /// The driver's pod of the node.
        pod: Key,
        /// Since when it runs.
        since: Time,
        /// What is newer.
        newer: Newer,
    },
}

/// What is newer than a driver's pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Newer {
    /// The driver's pod of this other node, which has prepared claims since its start.
    Elsewhere(Str),
    /// This pod on the node, which installs what the driver makes available to containers, and its start.
    Installer(Key, Time),
}

/// Words in names of what installs a vendor's kernel driver and programs on nodes.
const INSTALLERS: [&str; 2] = ["toolkit", "driver"];

impl<'c> Stages<'c> {
    /// Returns what is behind a driver's refusal to prepare `claim` for a pod on `node` in the words of `text`.
    pub(super) fn behind(&self, pod: &Pod, node: &Str, claim: &Str, text: &str) -> Option<Behind> {
        let claim = self.cluster.claim(&pod.metadata.beside(claim))?;
        if said::is_of_sharing(text)
            && let Some(other) = users(self.cluster, claim)
                .ok()?
                .into_iter()
                .find(|other| other.metadata.uid != pod.metadata.uid)
        {
            return Some(Behind::Shared(other.key()));
        }
        let mut statuses = pod.status.container_statuses.iter();
        let had_run = |status: &ContainerStatus| status.last_state.terminated.is_some();
        if has_run(pod) || statuses.any(had_run) {
            return self.rebooted(pod, node).map(Behind::Reboot);
        }
        let first = claim.results().iter().next()?;
        let mut drivers = claim.results().iter().map(|result| &result.driver);
        let installed = || {
            let lacks_edits = said::lacks_edits(text);
            lacks_edits
                .then(|| self.installed_since(&first.driver, node))
                .flatten()
        };
        self.helper(&first.driver, &claim.metadata.uid)
            .or_else(|| drivers.find_map(|driver| self.older_pod(driver, node)))
            .or_else(installed)
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
        let (pod, since) = self.ready_since(driver, node)?;
        self.users(driver).find_map(|user| {
            let other = user.node().filter(|other| *other != node)?;
            let (_, restarted) = self.ready_since(driver, other)?;
            let is_newer = restarted > since && user.status.start_time? >= restarted;
            is_newer.then(|| Behind::OlderPod {
                pod: pod.clone(),
                since,
                newer: Newer::Elsewhere(other.clone()),
            })
        })
    }

    /// The driver's pod of `node`, if what installs files for it there has started since, and no claim is prepared there since that.
    fn installed_since(&self, driver: &Str, node: &Str) -> Option<Behind> {
        let (pod, since) = self.ready_since(driver, node)?;
        let starts = self.cluster.pods_of_node(node).filter_map(|other| {
            let set = daemon_set_of(other).filter(|set| !is_called_plugin(set))?;
            let installs = INSTALLERS.iter().any(|word| set.contains(word)) && is_pod_of(driver, other);
            let start = other.status.start_time.filter(|start| *start > since)?;
            (installs && is_ready(other)).then(|| (start, other.key()))
        });
        let (start, other) = starts.max()?;
        let mut users = self.users(driver);
        let is_newer = |user: &Arc<Pod>| user.node() == Some(node) && user.status.start_time >= Some(start);
        (!users.any(is_newer)).then_some(Behind::OlderPod {
            pod,
            since,
            newer: Newer::Installer(other, start),
        })
    }

    /// The driver's pod of `node`, if it is ready, and when it started.
    fn ready_since(&self, driver: &Str, node: &Str) -> Option<(Key, Time)> {
        let Plugin::Ready(pod, ..) = self.plugin(driver, node) else {
            return None;
        };
        let start = self.cluster.pod(&pod)?.status.start_time?;
        Some((pod, start))
    }

    /// The ready pods that have devices of the driver.
    fn users<'s>(&'s self, driver: &'s Str) -> impl Iterator<Item = &'c Arc<Pod>> + 's {
        let has_device = move |user: &Pod| self.claims(user).any(|claim| claim.has_device_of(driver));
        self.cluster
            .pods()
            .filter(move |user| is_ready(user) && has_device(user))
    }
}
