//! The fields that a redacted snapshot keeps.
//!
//! For the kinds of `resource.k8s.io` these are all fields of the API in every version and release, except metadata.
//! For other kinds these are the fields read by the structs of `model`, listed here with the fields that are kept in a
//! special way. A line is a path; what follows the last dot may be several names in braces. Lists need no sign: a path
//! goes through their elements. `*` stands for any key of a map. A name with `#` behind it is replaced by the hash of
//! its value, so that equal values stay equal; for a name with `?` only its presence is kept.
//! `docs/reference/commands/snapshot.md` shows every field to users. A test compares the two, so that a field of a new release is
//! kept only after it was added.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::value::RawValue;

use dra_model::{Kind, POD_CONDITIONS, field_paths, json};

/// Kept part of a value.
#[derive(Debug, PartialEq)]
pub(super) enum Rule {
    /// All of it, if it is no object.
    Keep,
    /// Its hash.
    Hash,
    /// That it is there.
    Present,
    /// Some of its members.
    Members(Members),
    /// The same for a pod's conditions; only some count.
    Conditions(Members),
}

/// Members that are kept.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Members {
    named: BTreeMap<&'static str, Rule>,
    /// Every member, or each whose name begins so.
    any: Option<(&'static str, Box<Rule>)>,
}

impl Rule {
    /// Returns what is kept of the member `key`; nothing if it goes.
    pub(super) fn of(&self, key: &str) -> Option<&Self> {
        let (Self::Members(members) | Self::Conditions(members)) = self else {
            return None;
        };
        let any = || {
            let (prefix, rule) = members.any.as_ref()?;
            key.starts_with(prefix).then_some(&**rule)
        };
        members.named.get(key).or_else(any)
    }

    /// Returns whether an element of a list is kept at all.
    pub(super) fn takes(&self, element: &RawValue) -> bool {
        #[derive(serde::Deserialize)]
        struct Condition<'a> {
            #[serde(rename = "type", borrow)]
            type_: std::borrow::Cow<'a, str>,
        }
        let Self::Conditions(_) = self else { return true };
        let condition = json::from_str::<Condition<'_>>(element.get());
        // What is no condition is malformed, and stays so.
        condition.map_or(true, |condition| POD_CONDITIONS.contains(&&*condition.type_))
    }

    /// Returns what `paths` keep; a later one says how, where there are two.
    fn of_paths(paths: impl Iterator<Item = Vec<&'static str>>) -> Self {
        let mut rule = Self::Members(Members::default());
        for path in paths {
            rule.add(&path);
        }
        rule
    }

    /// Adds the path `parts`, whose last part carries the sign for what is kept.
    fn add(&mut self, parts: &[&'static str]) {
        let Some((first, rest)) = parts.split_first() else {
            return;
        };
        if !matches!(self, Self::Members(_) | Self::Conditions(_)) {
            *self = Self::Members(Members::default());
        }
        let (Self::Members(members) | Self::Conditions(members)) = self else {
            return;
        };
        let name = first.trim_end_matches(['#', '?']);
        let leaf = match first.as_bytes().last() {
            Some(b'#') => Self::Hash,
            Some(b'?') => Self::Present,
            _ => Self::Keep,
        };
        let next = match name.strip_suffix('*') {
            Some(prefix) => {
                &mut members
                    .any
                    .get_or_insert_with(|| (prefix, Box::new(Self::Keep)))
                    .1
            }
            None => members.named.entry(name).or_insert(Self::Keep),
        };
        if rest.is_empty() {
            *next = leaf;
        } else {
            next.add(rest);
        }
    }
}

/// Returns what is kept of objects of `kind`.
pub(super) fn rules(kind: Kind) -> &'static Rule {
    static RULES: LazyLock<BTreeMap<Kind, Rule>> = LazyLock::new(|| {
        let each = Kind::all().map(|kind| {
            let by_hand = METADATA.lines().chain(lines(kind).lines()).flat_map(paths);
            let mut rule = Rule::of_paths(of_the_api(kind).chain(by_hand));
            if kind == Kind::Pod {
                conditions(&mut rule);
            }
            (kind, rule)
        });
        each.collect()
    });
    static NOTHING: Rule = Rule::Keep;
    RULES.get(&kind).unwrap_or(&NOTHING)
}

/// Returns what is kept of objects that are only owners of others.
pub(super) fn owner_rules() -> &'static Rule {
    static RULES: LazyLock<Rule> =
        LazyLock::new(|| Rule::of_paths(METADATA.lines().chain(OWNER.lines()).flat_map(paths)));
    &RULES
}

/// The fields of the table that are kept: not metadata, where anybody puts what they like, and not the type, which is written anyway.
fn of_the_api(kind: Kind) -> impl Iterator<Item = Vec<&'static str>> {
    let is_kept = |path: &Vec<&'static str>| {
        !path.contains(&"metadata") && !matches!(path.as_slice(), ["apiVersion" | "kind"])
    };
    field_paths(kind).into_iter().filter(is_kept)
}

/// Of a pod's conditions only some are kept.
fn conditions(pod: &mut Rule) {
    let Rule::Members(members) = pod else { return };
    let Some(Rule::Members(status)) = members.named.get_mut("status") else {
        return;
    };
    if let Some(Rule::Members(fields)) = status.named.remove("conditions") {
        status.named.insert("conditions", Rule::Conditions(fields));
    }
}

/// The paths of a line.
fn paths(line: &'static str) -> Vec<Vec<&'static str>> {
    let mut paths = vec![Vec::new()];
    let mut rest = line;
    while !rest.is_empty() {
        // An annotation's name has dots of its own.
        let annotation = paths
            .first()
            .is_some_and(|path| path.last() == Some(&"annotations"));
        let end = match rest.find(['.', '{']) {
            Some(at) if rest[at..].starts_with('{') => rest[at..].find('}').map(|close| at + close + 1),
            at => at,
        };
        let (part, after) = match end {
            Some(end) if !annotation => rest.split_at(end),
            _ => (rest, ""),
        };
        let names: Vec<&'static str> = part.trim_matches(['{', '}']).split(',').map(str::trim).collect();
        let longer = |path: &Vec<&'static str>| {
            let path = path.clone();
            names
                .clone()
                .into_iter()
                .map(move |name| path.iter().copied().chain([name]).collect())
        };
        paths = paths.iter().flat_map(longer).collect();
        rest = after.trim_start_matches('.');
    }
    paths.retain(|path| !path.is_empty());
    paths
}

/// Of every object.
const METADATA: &str = "\
metadata.{name, namespace, generateName, uid, resourceVersion, generation, finalizers}
metadata.{creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds}
metadata.labels.*
metadata.annotations.resource.kubernetes.io/*
metadata.annotations.scheduling.k8s.io/group-name
metadata.annotations.machineconfiguration.openshift.io/state
metadata.annotations.weave.works/kured-reboot-in-progress
metadata.annotations.kueue.x-k8s.io/pod-group-fast-admission
metadata.annotations.kueue.x-k8s.io/pod-group-total-count
metadata.ownerReferences.{apiVersion, kind, name, uid, controller}";

/// Returns what is kept of objects of `kind` besides, and of what the table has in another way.
fn lines(kind: Kind) -> &'static str {
    match kind {
        Kind::Namespace | Kind::CompositePodGroup => "",
        Kind::Workload | Kind::DeviceTaintRule => "metadata.managedFields.{manager, apiVersion, subresource, time}",
        Kind::Node => "\
spec.unschedulable
spec.taints.{key, value, effect, timeAdded}
status.allocatable.*
status.conditions.{type, status, reason, message, lastTransitionTime, lastHeartbeatTime, observedGeneration}
status.nodeInfo.{kubeletVersion, containerRuntimeVersion}
status.declaredFeatures",
        Kind::DeviceClass => "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.config.opaque.parameters#",
        Kind::ResourceSlice => "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.devices.nodeAllocatableResourceMappings.*?
spec.devices.basic.nodeAllocatableResourceMappings.*?",
        // `reservedFor` is that of KEP-5194, which no release has.
        Kind::ResourceClaimTemplate => "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.metadata.{name, namespace, generateName, finalizers}
spec.metadata.labels.*
spec.metadata.ownerReferences.{apiVersion, kind, name, uid, controller}
spec.spec.devices.config.opaque.parameters#
spec.spec.reservedFor.{apiGroup, resource, name, uid}",
        Kind::ResourceClaim => "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.devices.config.opaque.parameters#
spec.reservedFor.{apiGroup, resource, name, uid}
status.allocation.reservedForAnyPod
status.allocation.devices.config.opaque.parameters#
status.devices.data#",
        Kind::Pod => "\
spec.{nodeName, schedulerName, serviceAccountName, hostNetwork, priority, preemptionPolicy, terminationGracePeriodSeconds, restartPolicy}
spec.resourceClaims.{name, resourceClaimName, resourceClaimTemplateName}
spec.schedulingGroup.podGroupName
spec.schedulingGates.name
spec.{containers, initContainers}.{name, restartPolicy}
spec.{containers, initContainers}.ports.{containerPort, hostPort, hostIP, protocol}
spec.{containers, initContainers}.resources.{requests, limits}.*
spec.{containers, initContainers}.resources.claims.{name, request}
spec.resources.{requests, limits}.*
spec.resources.claims.{name, request}
spec.overhead.*
spec.nodeSelector.*
spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.{matchExpressions, matchFields}.{key, operator, values}
spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.weight
spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.preference.{matchExpressions, matchFields}.{key, operator, values}
spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.{topologyKey, namespaces, namespaceSelector?}
spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.labelSelector.matchLabels.*
spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.labelSelector.matchExpressions.{key, operator, values}
spec.affinity.podAntiAffinity?
spec.tolerations.{key, operator, value, effect, tolerationSeconds}
spec.topologySpreadConstraints?
spec.runtimeClassName?
spec.volumes.{persistentVolumeClaim?, ephemeral?}
status.{phase, startTime, reason, message, nominatedNodeName}
status.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}
status.resourceClaimStatuses.{name, resourceClaimName}
status.extendedResourceClaimStatus.resourceClaimName
status.extendedResourceClaimStatus.requestMappings.{containerName, resourceName, requestName}
status.{containerStatuses, initContainerStatuses}.{name, restartCount}
status.{containerStatuses, initContainerStatuses}.allocatedResourcesStatus.name
status.{containerStatuses, initContainerStatuses}.allocatedResourcesStatus.resources.{resourceID, health, message}
status.{containerStatuses, initContainerStatuses}.state.waiting.{reason, message}
status.{containerStatuses, initContainerStatuses}.{state, lastState}.terminated.{exitCode, reason, finishedAt}",
        Kind::PodGroup => "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.resourceClaims.{name, resourceClaimName, resourceClaimTemplateName}
spec.workloadRef.{workloadName, templateName}
spec.podGroupTemplateRef.workload.{workloadName, podGroupTemplateName}
spec.schedulingPolicy.gang.minCount
spec.{priority, parentCompositePodGroupName}
spec.schedulingConstraints?
status.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}
status.resourceClaimStatuses.{name, resourceClaimName}",
        Kind::PodDisruptionBudget => "\
spec.{minAvailable, maxUnavailable}
spec.selector.matchLabels.*
spec.selector.matchExpressions.{key, operator, values}
status.{disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods}",
        Kind::ResourceQuota => "\
spec.scopes
spec.scopeSelector.matchExpressions.scopeName
status.{hard, used}.*",
        Kind::Event => "\
involvedObject.{kind, namespace, name, uid, fieldPath}
{reason, message, type, reportingComponent, firstTimestamp, lastTimestamp, eventTime, count}
source.component
series.{count, lastObservedTime}",
        Kind::ClusterRole | Kind::Role => "\
rules.{verbs, apiGroups, resources, resourceNames}",
        Kind::ClusterRoleBinding | Kind::RoleBinding => "\
roleRef.{kind, name}
subjects.{kind, namespace, name}",
    }
}

/// What `Owners::add` of the model reads. Pod templates are where these kinds have them.
const OWNER: &str = "\
spec.{replicas, parallelism, completions, startupPolicy, podManagementPolicy, suspend, active, paused, numNodes, backoffLimit, backoffLimitPerIndex, activeDeadlineSeconds, queue}
spec.podFailurePolicy?
spec.strategy.type
spec.strategy.rollingUpdate.{maxSurge, maxUnavailable}
spec.updateStrategy.type
spec.updateStrategy.rollingUpdate.partition
spec.channel.resourceClaimTemplate.name
spec.leaderWorkerTemplate.restartPolicy
spec.template.spec.{containers, initContainers}.name
spec.template.spec.{containers, initContainers}.resources.{requests, limits}.*
spec.template.spec.nodeName
spec.template.spec.nodeSelector.*
spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.{matchExpressions, matchFields}.{key, operator, values}
spec.template.spec.tolerations.{key, operator, value, effect}
spec.template.spec.resourceClaims.{name, resourceClaimName, resourceClaimTemplateName}
spec.jobTemplate.spec.template.spec.resourceClaims.{name, resourceClaimName, resourceClaimTemplateName}
status.{replicas, updateRevision, failed, failedIndexes, status, phase, jobDeploymentStatus, state, message}
status.nodes.{name, status}
status.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}
status.admissionChecks.{name, state, message, lastTransitionTime}
status.requeueState.{count, requeueAt}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_for_several_paths() {
        assert_eq!(
            paths("a.{b, c#}.d.*"),
            [["a", "b", "d", "*"], ["a", "c#", "d", "*"]]
        );
        assert_eq!(paths("{a, b}"), [["a"], ["b"]]);
        assert_eq!(
            paths("metadata.annotations.resource.kubernetes.io/*"),
            [["metadata", "annotations", "resource.kubernetes.io/*"]]
        );
        assert!(paths("").is_empty());
    }

    /// The lines of the page about `kind`, with those about every object.
    fn shown(kind: Kind) -> Vec<&'static str> {
        let page = include_str!("../../../../docs/reference/commands/snapshot.md");
        let (_, section) = page.split_once("## What is kept").expect("the section");
        let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
        let mut lines = Vec::new();
        let mut is_about = false;
        for paragraph in section.split("\n\n") {
            if paragraph.starts_with("    ") {
                lines.extend(paragraph.lines().map(str::trim).filter(|_| is_about));
            } else {
                let mut words = paragraph.split(|letter: char| !letter.is_alphanumeric());
                let names = [format!("{kind}s"), format!("{kind}es")];
                is_about = paragraph == "Of every object:"
                    || words.any(|word| names.iter().any(|name| name == word));
            }
        }
        lines
    }

    #[test]
    fn the_documentation_shows_what_is_kept() {
        let page = include_str!("../../../../docs/reference/commands/snapshot.md");
        let (_, section) = page.split_once("Of owners:\n\n").expect("the section");
        let (section, _) = section.split_once("\n\n").expect("its end");
        let of_owners = section.lines().map(str::trim);
        assert_eq!(
            Rule::of_paths(METADATA.lines().chain(of_owners).flat_map(paths)),
            *owner_rules()
        );
        for kind in Kind::all() {
            let paths = shown(kind).into_iter().flat_map(paths);
            let mut shown = Rule::of_paths(paths);
            if kind == Kind::Pod {
                conditions(&mut shown);
            }
            assert_eq!(shown, *rules(kind), "{kind}");
        }
    }
}
