//! Pods that fit as far as filters are simulated, while kube-scheduler names other filters that reject them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::diagnosis::{Answer, Beside, Cause, Diagnosis, NodeGroup, Warning};
use super::fact::Fact;
use super::items::{FilterCount, FixItem};
use super::{waiting, words};
use crate::remedy::{Remedy, top_owner};
use crate::script::{Command, Resource};
use dra_model::{Cluster, Event, Key, Kind, OwnerReference, Pod, Str};
use dra_rules::scheduling::{Near, Rejection, Unsimulated};

/// PersistentVolumeClaims, which the model does not have.
const VOLUME_CLAIM: &str = "persistentvolumeclaim";

impl Diagnosis {
    /// Says that filters which are not simulated reject the pod on the nodes that it fits on otherwise. False if those that kube-scheduler
    /// names reject fewer nodes: something else is different then.
    pub(super) fn reject(&mut self, cluster: &Cluster, pod: &Pod, by: &[Rejection]) -> bool {
        let fits = self.nodes.iter().filter(|node| node.fits);
        let nodes: Vec<Str> = fits.map(|node| node.node.clone()).collect();
        let rejected = by.iter().fold(0_usize, |all, rejection| {
            all.saturating_add(rejection.nodes.unwrap_or(nodes.len()))
        });
        if nodes.is_empty() || rejected < nodes.len() {
            return false;
        }
        let fact = Fact::Rejected(by.to_vec());
        let mut plugins = by.iter().map(|rejection| rejection.filter.plugin());
        let first = plugins.next();
        let plugin = first.filter(|first| plugins.all(|other| other == *first));
        let message = match by {
            [only] => Some(only.words.clone()),
            _ => None,
        };
        for node in self.nodes.iter_mut().filter(|node| node.fits) {
            node.fits = false;
            node.plugin = plugin;
            node.message.clone_from(&message);
            node.reasons = vec![fact.clone().into()];
        }
        self.filters = FilterCount::of(&self.nodes);
        self.node_groups = NodeGroup::of(&self.nodes);
        self.conclude(Answer::Nowhere(self.nodes.len()));
        let near = self.near(cluster, pod, &nodes, by);
        self.cause = Some(Cause::Rejected(nodes, by.to_vec(), near));
        waiting::add_rejected(self, by);
        self.fixes.extend(fixes(cluster, pod, by));
        true
    }

    /// The pods that the pod has to be near, where kube-scheduler rejects the nodes for that alone, and the nodes near them that lack devices.
    fn near(
        &self,
        cluster: &Cluster,
        pod: &Pod,
        rejected: &[Str],
        by: &[Rejection],
    ) -> Option<(Near, Vec<Str>)> {
        let is_affinity = |rejection: &Rejection| rejection.filter == Unsimulated::PodAffinity;
        let near = Near::of(cluster, pod).filter(|_| by.iter().all(is_affinity))?;
        let is_near = |name: &Str| cluster.node(name).is_some_and(|node| near.leaves(node));
        let lacking = self.lacking_devices().map(|node| &node.node);
        let lacking = lacking.filter(|name| is_near(name)).cloned().collect();
        // It may have been there only since.
        (!rejected.iter().any(is_near)).then_some((near, lacking))
    }

    /// Has the pods of an owner share no claim, where they must not be on one node, or cannot be.
    pub(super) fn share_no_claim(&mut self, pod: &Pod, owner: &OwnerReference, shared: &Key) {
        let is_apart = |rejection: &Rejection| {
            matches!(
                rejection.filter,
                Unsimulated::PodAntiAffinity | Unsimulated::OthersAntiAffinity
            )
        };
        let is_at_fault = match &self.cause {
            Some(Cause::Rejected(_, by, _) | Cause::Besides(_, Beside::Rejected(by))) => {
                by.iter().any(is_apart)
            }
            Some(Cause::Besides(cause, Beside::Kept(..))) => {
                matches!(&**cause, Cause::Allocated(claim, ..) if claim == shared)
                    && self.fixes.iter().all(|fix| !fix.proven)
            }
            _ => false,
        };
        if !is_at_fault {
            return;
        }
        self.fixes.retain(|fix| fix.kind != "RelaxPlacement");
        let is_machine = owner.kind == "VirtualMachineInstance";
        let why = if is_machine {
            words::NO_MIGRATION
        } else {
            words::ON_ONE_NODE
        };
        let fix = FixItem::share_no_claim(pod, shared, why);
        self.fixes.insert(0, fix);
    }

    /// Says that filters which are not simulated reject the pod on all nodes that are left for the filter for devices, which comes behind
    /// them, where it does not fit as far as filters are simulated: what helps against that reason alone is not enough.
    pub(super) fn reject_besides(&mut self, cluster: &Cluster, pod: &Pod, by: Vec<Rejection>) {
        let left = self.lacking_devices().count();
        let rejected = by
            .iter()
            .filter_map(|rejection| rejection.nodes)
            .fold(0_usize, usize::saturating_add);
        let is_before_nodes = by.iter().any(|rejection| rejection.nodes.is_none());
        if !is_before_nodes && (left == 0 || rejected < left) {
            return;
        }
        if self.cause.is_none() {
            return;
        }
        waiting::add_rejected(self, &by);
        for fix in &mut self.fixes {
            fix.proven = false;
        }
        self.fixes.splice(..0, fixes(cluster, pod, &by));
        self.add_beside(Beside::Rejected(by));
    }
}

/// What to look at where these filters reject nodes: those that reject most first.
fn fixes(cluster: &Cluster, pod: &Pod, by: &[Rejection]) -> Vec<FixItem> {
    let mut filters: BTreeMap<Unsimulated, usize> = BTreeMap::new();
    for rejection in by {
        let nodes = filters.entry(rejection.filter).or_default();
        *nodes = nodes.saturating_add(rejection.nodes.unwrap_or(usize::MAX));
    }
    let mut filters: Vec<(Unsimulated, usize)> = filters.into_iter().collect();
    filters.sort_by_key(|(_, nodes)| Reverse(*nodes));
    let filters = filters.into_iter();
    filters.map(|(filter, _)| fix(cluster, pod, filter)).collect()
}

/// What to look at where this filter rejects nodes. It is not simulated, so nothing can be proven to help.
pub(super) fn fix(cluster: &Cluster, pod: &Pod, filter: Unsimulated) -> FixItem {
    let own = format!("pod/{}", pod.key());
    let namespace = &pod.metadata.namespace;
    let claims = &pod.spec.volumes.claims;
    let key = |name: &Str| format!("{VOLUME_CLAIM}/{}", Key::new(namespace.clone(), name.clone()));
    let of_pod = |path: &'static str| {
        let get = Command::kubectl("get").object(Kind::Pod, &pod.metadata.name);
        get.namespace(namespace).args(&["-o", path])
    };
    let (target, look) = match filter {
        Unsimulated::PodTopologySpread => (own, of_pod("jsonpath={.spec.topologySpreadConstraints}")),
        Unsimulated::PodAffinity | Unsimulated::PodAntiAffinity => (own, of_pod("jsonpath={.spec.affinity}")),
        Unsimulated::OthersAntiAffinity => {
            let get = Command::kubectl("get").args(&["pods", "--all-namespaces", "-o", "wide"]);
            (own, get)
        }
        _ if claims.is_empty() => (own, of_pod("jsonpath={.spec.volumes}")),
        _ => {
            let describe =
                Command::kubectl("describe").objects(Resource::called(VOLUME_CLAIM), claims.iter());
            let names: Vec<String> = claims.iter().map(key).collect();
            (names.join(", "), describe.namespace(namespace))
        }
    };
    let users = match filter {
        Unsimulated::VolumeRestrictions | Unsimulated::DeletedVolumeClaim => users(cluster, pod),
        _ => Vec::new(),
    };
    let near = Near::of(cluster, pod).filter(|_| filter == Unsimulated::PodAffinity);
    let (message, how) = match near {
        Some(near) => {
            let first = near.pods.first().and_then(|first| cluster.pod(first));
            words::fixes::near(
                &target,
                &near,
                first.and_then(|pod| top_owner(cluster, pod)).as_ref(),
            )
        }
        None => words::fixes::placement(filter, &target, &users),
    };
    let mut remedy = Remedy::by_hand(how);
    if let Unsimulated::VolumeBinding = filter
        && let Some(event) = warning(cluster, pod)
    {
        remedy = remedy.note(words::warning(&Warning::of(event)));
    }
    FixItem::unproven("RelaxPlacement", target, message, remedy).look(look.done())
}

/// Other pods with a node that use a volume claim of the pod.
fn users(cluster: &Cluster, pod: &Pod) -> Vec<Key> {
    let claims = &pod.spec.volumes.claims;
    let is_user = |other: &&std::sync::Arc<Pod>| {
        other.node().is_some()
            && !other.is_terminal()
            && other
                .spec
                .volumes
                .claims
                .iter()
                .any(|claim| claims.contains(claim))
    };
    let users = cluster.pods_in(&pod.metadata.namespace).filter(is_user);
    users.map(|other| other.key()).collect()
}

/// The last warning about a volume claim of the pod.
fn warning<'c>(cluster: &'c Cluster, pod: &Pod) -> Option<&'c Event> {
    let is_about = |event: &&Event| {
        let object = &event.involved_object;
        event.type_ == "Warning"
            && object.kind == "PersistentVolumeClaim"
            && object.namespace == pod.metadata.namespace
            && pod.spec.volumes.claims.contains(&object.name)
    };
    let events = cluster.events().map(|event| &**event).filter(is_about);
    events.max_by_key(|event| event.last_seen())
}
