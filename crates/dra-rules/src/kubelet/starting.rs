//! Pods that are on their node and do not run yet: what the kubelet's newest word, its containers and its node say of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cause::{Cause, Evidence};
use super::container::{Waiting, containers, has_run, stage_of};
use super::drivers::Plugin;
use super::halted::halted;
use super::problems::problems;
use super::said::{Said, Unread, has_word};
use super::{PodStage, SILENT_SECONDS, Stage, Stages, Stuck, Unknown, said};
use crate::reservation::{PodGroups, is_reserved_for, owning_group};
use crate::scheduling::skips;
use dra_model::{
    AttributeValue, Claim, Cluster, Component, DeviceId, Event, Gate, Key, Kind, Pod, Str, Time, Version,
};

/// Time that the kubelet needs to mount the volumes of a pod.
pub(super) const MOUNTING_SECONDS: u64 = 60;

/// Seconds within which the kubelet reports again that it changes the group of files: every minute, and the limit for its events lets at least each fifth through.
const OWNERSHIP_SECONDS: u64 = 600;

impl<'c> Stages<'c> {
    /// A pod that is on its node and is not to end.
    pub(super) fn starts(&self, found: &mut PodStage<'c>, node: &Str) {
        let pod = found.pod;
        found.stage = stage_of(pod);
        let problems = problems(self.cluster, pod);
        if let Some(problem) = problems.found.into_iter().next() {
            let evidence = Evidence::Problem(problem.clone());
            let since = pod.status.start_time;
            found.stuck = Some(Stuck::new(Cause::Claim(problem), since, evidence));
            return;
        }
        if let Some(gap) = problems.hidden {
            found.unknown.push(Unknown::Gap(gap));
        }
        if found.stage == Stage::Running {
            found.stuck = self.endangered(pod, node);
            return;
        }
        if let Some(stuck) = self.unresolvable(pod, node) {
            found.stuck = Some(stuck);
            return;
        }
        if let Some(gap) = self.cluster.gap(Kind::Event, &pod.metadata.namespace) {
            found.unknown.push(Unknown::Gap(gap));
        }
        let newest = self.newest(pod);
        let halted = || {
            let halted = containers(pod).find_map(|container| halted(pod, container))?;
            let halted = self.ended_by_kubelet(pod, halted);
            Some(self.not_injected(pod, node, halted))
        };
        // A container that does not run says more than the probe of another.
        let is_told = |said: &Said<'_>| matches!(said, Said::Unhealthy { .. }) && halted().is_some();
        if let Some((event, said)) = &newest
            && let Some(said) = said
            && !is_told(said)
        {
            found.stuck = self.judge(pod, node, event, said);
            // A kubelet that reads the same claim again and again would have got it by now.
            if found.stuck.is_none()
                && matches!(said, Said::NotAllowed { .. })
                && event
                    .first_seen()
                    .is_some_and(|first| self.now.since(first).as_secs() >= SILENT_SECONDS)
            {
                found.unknown.push(Unknown::NotAllowed(&event.message));
            }
            if found.stuck.is_some() {
                found.stage = match event.reason.as_str() {
                    said::PREPARE => Stage::Reserved,
                    said::SANDBOX => Stage::Prepared,
                    _ => found.stage,
                };
                return;
            }
        }
        found.stuck = halted().or_else(|| self.not_ready(node));
        if found.stuck.is_some() {
            return;
        }
        let since = pod.status.start_time.or(pod.metadata.creation_timestamp);
        let is_late = since.is_some_and(|since| self.now.since(since).as_secs() >= SILENT_SECONDS);
        // Without a word of the kubelet, what is known to keep the driver from preparing anything is the reason.
        if found.stage == Stage::Reserved
            && is_late
            && let Some(cause) = self.nodes_missing(pod)
        {
            found.stuck = Some(Stuck {
                cause,
                since,
                evidence: Vec::new(),
            });
            return;
        }
        if found.stage == Stage::Reserved && is_late && newest.is_none() && found.unknown.is_empty() {
            let events = self.cluster.events_of(Kind::Pod, &pod.metadata);
            let is_told = events
                .into_iter()
                .any(|event| event.involved_object.uid == pod.metadata.uid);
            found.unknown.push(if is_told {
                Unknown::Silent
            } else {
                Unknown::NoEvents
            });
        }
        if found.stage == Stage::Reserved && !found.unknown.is_empty() {
            found.stage = Stage::Unknown;
        }
    }

    /// The newest event of the kubelet about how it starts this very pod, with what it says of devices: nothing where it has got further.
    pub(super) fn newest(&self, pod: &Pod) -> Option<(&'c Arc<Event>, Option<Said<'c>>)> {
        let events = self.cluster.events_of(Kind::Pod, &pod.metadata);
        let attached = events
            .iter()
            .filter(|event| event.reason == "SuccessfulAttachVolume");
        let attached = attached.filter_map(|event| event.last_seen()).max();
        let allocated = self
            .claims(pod)
            .filter_map(|claim| claim.status.allocation.as_ref()?.allocation_timestamp)
            .max();
        let of_start = events.into_iter().filter_map(|event| {
            let is_of_start = event.component() == "kubelet" || event.reason == said::ATTACH;
            if !is_of_start || event.involved_object.uid != pod.metadata.uid {
                return None;
            }
            let seen = event.last_seen();
            if seen
                .zip(allocated)
                .is_some_and(|(seen, allocated)| seen < allocated)
            {
                return None;
            }
            let said = Said::of_event(event);
            let is_progress = matches!(
                event.reason.as_str(),
                "Pulling" | "Pulled" | "Created" | "Started" | "BackOff" | "Failed"
            );
            (said.is_some() || is_progress).then_some((seen, said::step(&event.reason), event, said))
        });
        let mut of_start: Vec<_> = of_start.collect();
        of_start.sort_by_key(|(seen, step, ..)| (*seen, *step));
        let (_, _, event, said) = of_start.pop()?;
        // The kubelet only times out where a volume is not attached: the controller says why.
        if event.reason == said::MOUNT
            && let Some((_, _, attach, why)) = of_start
                .into_iter()
                .rfind(|(seen, _, event, _)| event.reason == said::ATTACH && *seen > attached)
        {
            return Some((attach, why));
        }
        Some((event, said))
    }

    /// Returns what a driver's refusal to prepare `claim` means, in `text`, or nothing where the next try helps.
    fn refused(&self, pod: &'c Arc<Pod>, node: &Str, claim: &str, text: &str, lasts: bool) -> Option<Cause> {
        let (claim, text) = (Str::from(claim), text.to_owned());
        let named = said::claims_named(&text);
        if let Some(uid) = named.iter().find(|uid| self.is_gone(uid)) {
            return Some(Cause::PreparedForDeletedClaim {
                claim,
                uid: Str::from(*uid),
                survivor: self.survivor(node),
                text,
                lasts,
            });
        }
        if let Some((other, holder, ends)) = named.iter().find_map(|uid| self.prepared(pod, node, uid)) {
            return Some(Cause::PreparedForOtherClaim {
                claim,
                other,
                pod: holder,
                ends,
                text,
            });
        }
        // Where it only waits for the pod's own node, its words may be about something else.
        let is_meant = |cause: &Cause| matches!(cause, Cause::NodesMissing { lacks, .. } if !lacks.is_of_node || said::is_of_domain(&text));
        match self.nodes_missing(pod).filter(is_meant) {
            // They get ready one after the other.
            Some(Cause::NodesMissing {
                others,
                lacks,
                kept_off: None,
                taken: None,
                ..
            }) if !lasts && others.is_empty() && lacks.wanted > 0 => None,
            Some(missing) => Some(missing),
            None => Some(Cause::PrepareRefused {
                behind: self.behind(pod, node, &claim, &text),
                claim,
                text,
            }),
        }
    }

    /// Returns what the kubelet's word means, unless the objects show that it is over.
    fn judge(&self, pod: &'c Arc<Pod>, node: &Str, event: &'c Event, said: &Said<'_>) -> Option<Stuck<'c>> {
        let namespace = &pod.metadata.namespace;
        let age = event.first_seen().map(|first| self.now.since(first).as_secs());
        let lasts = age.is_some_and(|age| age >= SILENT_SECONDS);
        let is_new = age.is_some_and(|age| age < MOUNTING_SECONDS);
        let cause = match said {
            Said::NotRegistered { driver } => {
                let driver = Str::from(*driver);
                let plugin = self.plugin(&driver, node);
                Cause::DriverNotRegistered { driver, plugin }
            }
            Said::Refused { claim, text } => self.refused(pod, node, claim, text, lasts)?,
            Said::NoAnswer { text } if said::is_unanswered(text) => Cause::DriverDown {
                drivers: self.drivers_named(pod, text),
                text: (*text).to_owned(),
            },
            Said::NoAnswer { text } => {
                let is_left_out = said::is_left_out(text);
                let missing = is_left_out.then(|| self.nodes_missing(pod)).flatten();
                missing.unwrap_or_else(|| Cause::DriverFails {
                    text: (*text).to_owned(),
                    is_left_out,
                })
            }
            Said::NotAllowed { claim } => {
                let claim = self.cluster.claim(&beside(namespace, claim))?;
                // The objects let the pod have it now. If only as a member of its group, the kubelet may not know of groups.
                if is_reserved_for(pod, claim, PodGroups::Ignored) {
                    return None;
                }
                self.too_old(node, Gate::DRAWorkloadResourceClaims.name())
            }
            Said::NotOwner => {
                let of_group = |claim: &Arc<Claim>| owning_group(claim).is_some();
                if !self.claims(pod).any(of_group) {
                    return None;
                }
                self.too_old(node, Gate::DRAWorkloadResourceClaims.name())
            }
            Said::FeatureOff { gate } => self.too_old(node, gate),
            // What the objects contradict is over: the kubelet has yet to try again.
            Said::NotCreated | Said::NotAllocated { .. } => return None,
            Said::NotFetched { claim, text } if text.ends_with(&format!("\"{claim}\" not found")) => {
                return None;
            }
            Said::NotFetched { claim, text } => Cause::ClaimUnreadable {
                claim: (*claim).into(),
                version: kubelet_version(self.cluster, node),
                why: Unread::of(text),
                text: (*text).to_owned(),
            },
            Said::EarlierClaim { claim, uid } => {
                let claim = Str::from(*claim);
                let current = self.cluster.claim(&beside(namespace, &claim));
                if current.is_some_and(|current| current.metadata.uid == *uid) {
                    return None;
                }
                Cause::EarlierClaim {
                    claim,
                    uid: (*uid).into(),
                    lasts,
                }
            }
            Said::BeingUnprepared { claim } => Cause::BeingUnprepared {
                claim: (*claim).into(),
                lasts,
            },
            Said::RuntimeDown { text } => Cause::RuntimeDown {
                text: (*text).to_owned(),
            },
            Said::NoSandbox { text } => Cause::SandboxFails {
                text: (*text).to_owned(),
                device: self.device_named(pod, text),
            },
            Said::NoNetwork { text } => Cause::NetworkNotReady {
                text: (*text).to_owned(),
            },
            // Volumes come with the pod: what they lack is mostly there the next time.
            Said::NotMounted { .. } if is_new => return None,
            Said::NotMounted { text } => Cause::VolumesNotMounted {
                text: (*text).to_owned(),
            },
            // It says so again and again, as long as it does.
            Said::OwnershipChanges { .. }
                if event
                    .last_seen()
                    .is_none_or(|last| self.now.since(last).as_secs() >= OWNERSHIP_SECONDS) =>
            {
                return None;
            }
            Said::OwnershipChanges { text } => Cause::OwnershipChanges {
                text: (*text).to_owned(),
            },
            Said::Unhealthy { text } => Cause::ProbeFails {
                container: event.container().map(Str::from),
                text: (*text).to_owned(),
            },
            Said::Unresolvable { .. } | Said::NotPrepared { .. } => self.lost(pod, node, said)?,
            Said::Else { text } => Cause::Unrecognized {
                text: (*text).to_owned(),
            },
        };
        Some(Stuck::told(cause, event))
    }

    /// Returns the claim with this UID, if it is another pod's that is on the node, with that pod, and since when it is to end.
    fn prepared(&self, pod: &Pod, node: &Str, uid: &str) -> Option<(Key, Key, Option<Time>)> {
        let mut claims = self.cluster.claims();
        let key = claims.find(|claim| claim.metadata.uid == *uid)?.key();
        let users = || self.cluster.pods_of_claim(&key);
        if users().any(|user| user.metadata.uid == pod.metadata.uid) {
            return None;
        }
        let user = users().find(|user| user.node() == Some(node) && !user.is_terminal())?;
        Some((key, user.key(), user.metadata.deletion_timestamp))
    }

    /// The drivers of the pod that a text of gRPC may be about: the name of the socket has that of the driver, where there is one.
    fn drivers_named(&self, pod: &Pod, text: &str) -> Vec<Str> {
        let drivers = self.claims(pod).flat_map(|claim| claim.results());
        let drivers: BTreeSet<&Str> = drivers.map(|result| &result.driver).collect();
        let is_named = |driver: &&&Str| text.contains(driver.as_str());
        let named: Vec<Str> = drivers.iter().filter(is_named).copied().cloned().collect();
        if named.is_empty() {
            drivers.into_iter().cloned().collect()
        } else {
            named
        }
    }

    /// The device of the pod that a text names, by its name or by one that it has on the node, such as that of a network interface.
    fn device_named(&self, pod: &Pod, text: &str) -> Option<DeviceId> {
        let is_named = |name: &str| name.contains(|c: char| c.is_ascii_digit()) && has_word(text, name);
        let mut results = self.claims(pod).flat_map(|claim| claim.results());
        let named = results.find(|result| {
            let id = result.id();
            let pool = self.cluster.pool(&id.pool_id());
            let device = pool.as_ref().and_then(|pool| pool.device(&id.device));
            is_named(&id.device)
                || device.is_some_and(|(_, device)| {
                    let mut attributes = device.attributes.iter();
                    attributes
                        .any(|(_, value)| matches!(value, AttributeValue::String(value) if is_named(value)))
                })
        });
        named.map(|result| result.id())
    }

    /// Returns whether no claim of any namespace has this UID, for all that was read.
    fn is_gone(&self, uid: &str) -> bool {
        let claims = || self.cluster.claims().map(|claim| &claim.metadata.uid).collect();
        self.reads_all
            && self.cluster.gap(Kind::ResourceClaim, "").is_none()
            && !self.claims.get_or_init(claims).contains(&Str::from(uid))
    }

    fn too_old(&self, node: &Str, gate: &str) -> Cause {
        Cause::KubeletTooOld {
            version: kubelet_version(self.cluster, node),
            gate: gate.to_owned(),
            is_told: true,
        }
    }

    /// Returns the feature that the claims of a pod need and that its kubelet has off by default, which then starts containers without devices.
    pub fn feature_off(&self, pod: &Pod) -> Option<Cause> {
        let version = kubelet_version(self.cluster, pod.node()?);
        let minor = version.parse::<Version>().ok()?.minor;
        let extended = pod.status.extended_resource_claim_status.as_ref();
        let gate = match extended {
            Some(_) => Gate::DRAExtendedResource,
            None => Gate::DynamicResourceAllocation,
        };
        let state = self.cluster.environment().gate(Component::Kubelet, gate);
        let is_on = state.enabled && state.evidence.is_of_now();
        let is_needed = extended.is_some() || !pod.spec.resource_claims.is_empty();
        (is_needed && !is_on && gate.default_in(minor, minor) != Some(true)).then(|| Cause::KubeletTooOld {
            version,
            gate: gate.name().to_owned(),
            is_told: false,
        })
    }

    /// The same, where the control plane has the feature on by default: nothing suggests that it was enabled for the kubelet, and no driver has reported that
    /// it prepared a claim of the pod. Such a kubelet ignores claims for extended resources (`kubelet/cm/dra/manager.go`, v1.35.8).
    pub fn lags_behind(&self, pod: &Pod) -> Option<Stuck<'c>> {
        let cause = self.feature_off(pod)?;
        let environment = self.cluster.environment();
        let Cause::KubeletTooOld { gate, .. } = &cause else {
            return None;
        };
        let gate: Gate = gate.parse().ok()?;
        let is_default = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
        let is_prepared = self.claims(pod).any(|claim| !claim.status.devices.is_empty());
        (is_default == Some(true) && !is_prepared).then(|| Stuck {
            cause,
            since: None,
            evidence: Vec::new(),
        })
    }

    /// Containers that cannot be made as what was prepared for them is lost. The status tells it as long as the pod waits, events for an hour.
    fn unresolvable(&self, pod: &'c Arc<Pod>, node: &Str) -> Option<Stuck<'c>> {
        let (container, waiting, said) = containers(pod).find_map(|container| {
            let waiting = container.state.waiting.as_ref()?;
            Some((container, waiting, Said::of_container(&waiting.message)?))
        })?;
        let evidence = Evidence::Waiting(Waiting::for_reason(container, waiting));
        Some(Stuck::new(self.lost(pod, node, &said)?, None, evidence))
    }

    /// Returns what was prepared and is not there any more.
    fn lost(&self, pod: &Pod, node: &Str, said: &Said<'_>) -> Option<Cause> {
        Some(match said {
            // The runtime class asks for them, and no claim.
            Said::Unresolvable { devices }
                if pod.spec.runtime_class_name.is_some() && said::are_of_runtime(devices) =>
            {
                return None;
            }
            Said::Unresolvable { devices } => Cause::DevicesUnresolvable {
                devices: devices.iter().map(|device| (*device).to_owned()).collect(),
                has_run: self.has_run_here(pod, node),
                rebooted: self.rebooted(pod, node),
                down: self.down(pod, node),
            },
            Said::NotPrepared { claim } => {
                // What has run was prepared.
                let skips = || skips(self.cluster, pod, Some(claim));
                let skips = (!has_run(pod)).then(skips).flatten();
                let claim = Str::from(*claim);
                match skips {
                    Some(skips) => Cause::ClaimSkipped { claim, skips },
                    None => Cause::PreparationForgotten { claim },
                }
            }
            _ => return None,
        })
    }

    /// Returns whether the pod, or another one with one of its claims, has run on the node.
    fn has_run_here(&self, pod: &Pod, node: &Str) -> bool {
        let ran = |pod: &Pod| pod.status.phase == "Running" || has_run(pod);
        let mut keys = self.claims(pod).map(|claim| claim.key());
        ran(pod)
            || keys.any(|key| {
                let mut others = self.cluster.pods_of_claim(&key);
                others.any(|other| other.node() == Some(node) && ran(other))
            })
    }

    /// The first driver of the pod's devices whose pod on the node is there and does not run.
    fn down(&self, pod: &Pod, node: &Str) -> Option<(Str, Plugin)> {
        let claims: Vec<_> = self.claims(pod).collect();
        let results = claims.iter().flat_map(|claim| claim.results());
        let drivers: BTreeSet<&Str> = results.map(|result| &result.driver).collect();
        let mut plugins = drivers
            .into_iter()
            .map(|driver| (driver.clone(), self.plugin(driver, node)));
        plugins.find(|(_, plugin)| {
            matches!(
                plugin,
                Plugin::Crashing(..) | Plugin::Pending(..) | Plugin::Failed(..)
            )
        })
    }

    /// Returns when the node rebooted after the pod started, as the kubelet reports it. An event of another boot is no
    /// evidence.
    pub(super) fn rebooted(&self, pod: &Pod, node: &Str) -> Option<Time> {
        let node = self.cluster.node(node)?;
        let began = pod.status.start_time?;
        let events = self.cluster.events_of(Kind::Node, &node.metadata);
        let reboots = events
            .into_iter()
            .filter(|event| event.reason == "Rebooted" && event.component() == "kubelet")
            .filter_map(|event| event.last_seen());
        reboots.filter(|at| *at >= began).max()
    }
}

/// Returns what a name of a claim in a text of the kubelet means: it leaves out the pod's namespace.
fn beside(namespace: &Str, claim: &str) -> Key {
    Key::new(namespace.clone(), claim)
}

/// The version of a node's kubelet, as far as it is known.
fn kubelet_version(cluster: &Cluster, node: &str) -> Str {
    cluster
        .node(node)
        .map(|node| node.status.node_info.kubelet_version.clone())
        .unwrap_or_default()
}
