//! The fields that a redacted snapshot keeps.
//!
//! They are those that the structs of `model` read, in all versions of the API that `upgrade` understands. A line is a path; what follows
//! the last dot may be several names in braces. Lists need no sign: a path goes through their elements. `*` stands for any key of a map.
//! A name with `#` behind it is replaced by the hash of its value, so that equal ones can still be told; of one with `?` only that it is
//! there stays. `docs/commands/snapshot.md` shows the same lines to users.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::value::RawValue;

use dra_model::{Kind, POD_CONDITIONS, json};

/// What is kept of a value.
#[derive(Debug)]
pub(super) enum Rule {
    /// All of it, if it is no object.
    Keep,
    /// Its hash.
    Hash,
    /// That it is there.
    Present,
    /// Some of its members.
    Members(Members),
    /// The same of a pod's conditions, of which only some count.
    Conditions(Members),
}

/// Members that are kept.
#[derive(Debug, Default)]
pub(super) struct Members {
    named: BTreeMap<&'static str, Rule>,
    /// Every member, or each whose name begins so.
    any: Option<(&'static str, Box<Rule>)>,
}

impl Rule {
    /// What is kept of the member `key`; nothing if it goes.
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

    /// Whether an element of a list is kept at all.
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
            Some(prefix) => &mut members.any.get_or_insert_with(|| (prefix, Box::new(leaf))).1,
            None => members.named.entry(name).or_insert(leaf),
        };
        if !rest.is_empty() {
            next.add(rest);
        }
    }
}

/// What is kept of objects of `kind`.
pub(super) fn rules(kind: Kind) -> &'static Rule {
    static RULES: LazyLock<BTreeMap<Kind, Rule>> = LazyLock::new(|| {
        let each = Kind::all().map(|kind| {
            let mut rule = Rule::Members(Members::default());
            for line in METADATA.lines().chain(lines(kind).lines()) {
                for path in paths(line.trim()) {
                    rule.add(&path);
                }
            }
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
pub(super) const METADATA: &str = "\
metadata.{name, namespace, generateName, uid, resourceVersion, generation, finalizers}
metadata.{creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds}
metadata.labels.*
metadata.annotations.resource.kubernetes.io/*
metadata.ownerReferences.{apiVersion, kind, name, uid, controller}";

/// What is kept of objects of `kind` besides.
pub(super) fn lines(kind: Kind) -> &'static str {
    match kind {
        Kind::Namespace | Kind::CompositePodGroup => "",
        Kind::Workload => MANAGED,
        Kind::Node => NODE,
        Kind::DeviceClass => CLASS,
        Kind::ResourceSlice => SLICE,
        Kind::DeviceTaintRule => RULE,
        Kind::ResourceClaimTemplate => TEMPLATE,
        Kind::ResourceClaim => CLAIM,
        Kind::Pod => POD,
        Kind::PodGroup => GROUP,
        Kind::PodDisruptionBudget => BUDGET,
        Kind::ResourceQuota => QUOTA,
        Kind::Event => EVENT,
        Kind::ClusterRole | Kind::Role => ROLE,
        Kind::ClusterRoleBinding | Kind::RoleBinding => BINDING,
    }
}

const MANAGED: &str = "metadata.managedFields.{manager, apiVersion, subresource, time}";

const ROLE: &str = "\
rules.{verbs, apiGroups, resources, resourceNames}";

const BINDING: &str = "\
roleRef.{kind, name}
subjects.{kind, namespace, name}";

const QUOTA: &str = "\
spec.scopes
spec.scopeSelector.matchExpressions.scopeName
status.{hard, used}.*";

const NODE: &str = "\
spec.unschedulable
spec.taints.{key, value, effect, timeAdded}
status.allocatable.*
status.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}
status.nodeInfo.kubeletVersion
status.declaredFeatures";

const CLASS: &str = "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.extendedResourceName
spec.selectors.cel.expression
spec.config.opaque.{driver, parameters#}";

const SLICE: &str = "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.{driver, nodeName, allNodes, perDeviceNodeSelection, partitionTypeAttribute, skipNodeOperations}
spec.pool.{name, generation, resourceSliceCount}
spec.nodeSelector.nodeSelectorTerms.{matchExpressions, matchFields}.{key, operator, values}
spec.sharedCounters.name
spec.sharedCounters.counters.*.value
spec.devices.{name, nodeName, allNodes, bindsToNode, bindingConditions, bindingFailureConditions, allowMultipleAllocations}
spec.devices.attributes.*.{bool, int, string, version, bools, ints, strings, versions}
spec.devices.capacity.*.value
spec.devices.capacity.*.requestPolicy.{default, validValues}
spec.devices.capacity.*.requestPolicy.validRange.{min, max, step}
spec.devices.consumesCounters.{counterSet, compatibilityGroups}
spec.devices.consumesCounters.counters.*.value
spec.devices.nodeSelector.nodeSelectorTerms.{matchExpressions, matchFields}.{key, operator, values}
spec.devices.taints.{key, value, effect, timeAdded}
spec.devices.nodeAllocatableResources.*.mapping.{capacityKey, capacityMultiplier, deviceMultiplier}
spec.devices.nodeAllocatableResources.*.overhead.{perPod, perContainer}
spec.devices.nodeAllocatableResourceMappings.*?
spec.devices.basic.{nodeName, allNodes, bindsToNode, bindingConditions, bindingFailureConditions, allowMultipleAllocations}
spec.devices.basic.attributes.*.{bool, int, string, version, bools, ints, strings, versions}
spec.devices.basic.capacity.*.value
spec.devices.basic.capacity.*.requestPolicy.{default, validValues}
spec.devices.basic.capacity.*.requestPolicy.validRange.{min, max, step}
spec.devices.basic.consumesCounters.{counterSet, compatibilityGroups}
spec.devices.basic.consumesCounters.counters.*.value
spec.devices.basic.nodeSelector.nodeSelectorTerms.{matchExpressions, matchFields}.{key, operator, values}
spec.devices.basic.taints.{key, value, effect, timeAdded}
spec.devices.basic.nodeAllocatableResources.*.mapping.{capacityKey, capacityMultiplier, deviceMultiplier}
spec.devices.basic.nodeAllocatableResources.*.overhead.{perPod, perContainer}
spec.devices.basic.nodeAllocatableResourceMappings.*?";

const RULE: &str = "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.deviceSelector.{driver, pool, device, deviceClassName}
spec.deviceSelector.selectors.cel.expression
spec.taint.{key, value, effect, timeAdded}
status.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}";

const TEMPLATE: &str = "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.metadata.{name, namespace, generateName, finalizers}
spec.metadata.labels.*
spec.metadata.ownerReferences.{apiVersion, kind, name, uid, controller}
spec.spec.devices.requests.{name, deviceClassName, allocationMode, count, adminAccess}
spec.spec.devices.requests.selectors.cel.expression
spec.spec.devices.requests.tolerations.{key, operator, value, effect, tolerationSeconds}
spec.spec.devices.requests.capacity.requests.*
spec.spec.devices.requests.derivedAttributes.{name, expression}
spec.spec.devices.requests.{exactly, firstAvailable}.{name, deviceClassName, allocationMode, count, adminAccess}
spec.spec.devices.requests.{exactly, firstAvailable}.selectors.cel.expression
spec.spec.devices.requests.{exactly, firstAvailable}.tolerations.{key, operator, value, effect, tolerationSeconds}
spec.spec.devices.requests.{exactly, firstAvailable}.capacity.requests.*
spec.spec.devices.requests.{exactly, firstAvailable}.derivedAttributes.{name, expression}
spec.spec.devices.constraints.{requests, matchAttribute, distinctAttribute}
spec.spec.devices.config.requests
spec.spec.devices.config.opaque.{driver, parameters#}
spec.spec.reservedFor.{apiGroup, resource, name, uid}";

const CLAIM: &str = "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.devices.requests.{name, deviceClassName, allocationMode, count, adminAccess}
spec.devices.requests.selectors.cel.expression
spec.devices.requests.tolerations.{key, operator, value, effect, tolerationSeconds}
spec.devices.requests.capacity.requests.*
spec.devices.requests.derivedAttributes.{name, expression}
spec.devices.requests.{exactly, firstAvailable}.{name, deviceClassName, allocationMode, count, adminAccess}
spec.devices.requests.{exactly, firstAvailable}.selectors.cel.expression
spec.devices.requests.{exactly, firstAvailable}.tolerations.{key, operator, value, effect, tolerationSeconds}
spec.devices.requests.{exactly, firstAvailable}.capacity.requests.*
spec.devices.requests.{exactly, firstAvailable}.derivedAttributes.{name, expression}
spec.devices.constraints.{requests, matchAttribute, distinctAttribute}
spec.devices.config.requests
spec.devices.config.opaque.{driver, parameters#}
spec.reservedFor.{apiGroup, resource, name, uid}
status.reservedFor.{apiGroup, resource, name, uid}
status.allocation.{allocationTimestamp, reservedForAnyPod}
status.allocation.nodeSelector.nodeSelectorTerms.{matchExpressions, matchFields}.{key, operator, values}
status.allocation.devices.results.{request, driver, pool, device, shareID, adminAccess, skipNodeOperations}
status.allocation.devices.results.{bindingConditions, bindingFailureConditions}
status.allocation.devices.results.tolerations.{key, operator, value, effect, tolerationSeconds}
status.allocation.devices.results.consumedCapacity.*
status.allocation.devices.config.{source, requests}
status.allocation.devices.config.opaque.{driver, parameters#}
status.devices.{driver, pool, device, shareID, data#}
status.devices.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}
status.devices.networkData.{interfaceName, ips, hardwareAddress}";

const POD: &str = "\
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
spec.affinity.{podAffinity?, podAntiAffinity?}
spec.tolerations.{key, operator, value, effect, tolerationSeconds}
spec.topologySpreadConstraints?
spec.volumes.{persistentVolumeClaim?, ephemeral?}
status.{phase, startTime}
status.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}
status.resourceClaimStatuses.{name, resourceClaimName}
status.extendedResourceClaimStatus.resourceClaimName
status.extendedResourceClaimStatus.requestMappings.{containerName, resourceName, requestName}
status.{containerStatuses, initContainerStatuses}.name
status.{containerStatuses, initContainerStatuses}.allocatedResourcesStatus.name
status.{containerStatuses, initContainerStatuses}.allocatedResourcesStatus.resources.{resourceID, health, message}
status.{containerStatuses, initContainerStatuses}.state.waiting.{reason, message}
status.{containerStatuses, initContainerStatuses}.state.terminated.{exitCode, finishedAt}";

const GROUP: &str = "\
metadata.managedFields.{manager, apiVersion, subresource, time}
spec.resourceClaims.{name, resourceClaimName, resourceClaimTemplateName}
spec.workloadRef.{workloadName, templateName}
spec.podGroupTemplateRef.workload.{workloadName, podGroupTemplateName}
spec.schedulingPolicy.gang.minCount
spec.{priority, parentCompositePodGroupName}
spec.schedulingConstraints?
status.conditions.{type, status, reason, message, lastTransitionTime, observedGeneration}
status.resourceClaimStatuses.{name, resourceClaimName}";

const BUDGET: &str = "\
spec.{minAvailable, maxUnavailable}
spec.selector.matchLabels.*
spec.selector.matchExpressions.{key, operator, values}
status.{disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods}";

const EVENT: &str = "\
involvedObject.{kind, namespace, name, uid}
{reason, message, type, reportingComponent, firstTimestamp, lastTimestamp, eventTime, count}
source.component
series.{count, lastObservedTime}";

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

    #[test]
    fn the_documentation_shows_every_line() {
        let page = include_str!("../../../../docs/commands/snapshot.md");
        for line in METADATA
            .lines()
            .chain(Kind::all().flat_map(|kind| lines(kind).lines()))
        {
            assert!(page.contains(&format!("    {line}\n")), "{line}");
        }
    }
}
