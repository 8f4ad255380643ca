//! Drivers that publish nothing, or too little, for nodes that lack devices.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::absence::{Absence, selects};
use super::diagnosis::{Beside, Cause, Diagnosis, NodeDiagnosis, Republishing, Unserved};
use super::fact::Fact;
use super::groups::spec_of;
use super::items::DeviceCount;
use super::words;
use dra_allocator::devices::{ClassSelectors, Match};
use dra_model::names::is_within;
use dra_model::{Cluster, DeviceRequest, Key, Node, PoolId, Str, Time};
use dra_rules::kubelet::{
    self, BrokenLink, KeptOff, Stages, fewer_than_alike, offered_by_plugin, tells_hardware,
};
use dra_rules::scheduling::{Cycle, HOSTNAME, drivers_named};

/// Returns whether the node reaches no device that the request of `wanted` selects.
fn has_none(node: &NodeDiagnosis, wanted: &DeviceCount) -> bool {
    node.devices.iter().all(|count| {
        count.claim != wanted.claim || count.request != wanted.request || count.matching + count.unknown == 0
    })
}

/// The nodes that the plugin for devices rejects, as their kubelets were started just now and nothing is published for them.
pub(super) fn republishing(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
    now: Time,
) -> Option<Republishing> {
    let cluster = cycle.scheduler().cluster();
    let judged = report.lacking_devices();
    let since = |node: &NodeDiagnosis| kubelet::republishing(cluster, &node.node, None, now);
    let (started, others): (Vec<&NodeDiagnosis>, Vec<_>) = judged.partition(|node| since(node).is_some());
    let first = started.first()?;
    let wanted = report
        .short()
        .find(|wanted| started.iter().all(|node| has_none(node, wanted)));
    let stages = Stages::of(cluster, now);
    let publishes_again = |driver: &Str| {
        let mut nodes = started.iter();
        nodes.any(|node| stages.publishes_again(driver, &node.node))
    };
    let drivers = wanted.and_then(|wanted| {
        let mut drivers = drivers_of(cycle, selectors, &wanted.claim, &wanted.request)?;
        drivers.retain(publishes_again);
        Some(drivers)
    });
    if drivers.as_ref().is_some_and(|drivers| drivers.is_empty()) {
        return None;
    }
    Some(Republishing {
        nodes: started.iter().map(|node| node.node.clone()).collect(),
        since: since(first)?,
        drivers: drivers.unwrap_or_default(),
        is_cause: wanted.is_none_or(|wanted| others.iter().all(|node| has_none(node, wanted))),
    })
}

/// Nodes that are searched for a broken link.
const MOST_LOOKED_AT: usize = 200;

/// The driver that publishes nothing for the nodes that are left, where these have no device for a request, and the request is not the
/// reason, and true; with false, one that publishes nothing for some of them by a fault. A pod that is there and does not do its work says more
/// than a DaemonSet that has none there.
pub(super) fn unserved(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
    now: Time,
) -> Option<(Unserved, bool)> {
    let cause = match report.cause.as_ref()? {
        Cause::Besides(cause, Beside::Held(_) | Beside::Kept(..)) => cause,
        cause => cause,
    };
    let is_of_driver = matches!(
        cause,
        Cause::Nowhere(..)
            | Cause::TooFew(..)
            | Cause::Filtered(..)
            | Cause::Absent(Absence::Unpublished(_) | Absence::OtherClasses(..))
    );
    // Other devices than those that are published may be on a node that the driver was not installed for.
    let is_unselected = matches!(cause, Cause::Absent(Absence::Unselected { .. }));
    if !is_of_driver && !is_unselected {
        return None;
    }
    let judged: Vec<&NodeDiagnosis> = report.lacking_devices().collect();
    let mut short = report.short();
    let everywhere = short.find(|wanted| judged.iter().all(|node| has_none(node, wanted)));
    let some_lack = |wanted: &&DeviceCount| judged.iter().any(|node| has_none(node, wanted));
    let is_cause = everywhere.is_some() && !is_unselected;
    let wanted = everywhere.or_else(|| report.short().find(some_lack))?;
    let cluster = cycle.scheduler().cluster();
    let stages = Stages::of(cluster, now);
    let spec = spec_of(cycle, &wanted.claim, &wanted.request)?;
    let mut found: Option<(u8, Unserved)> = None;
    for driver in drivers_of(cycle, selectors, &wanted.claim, &wanted.request)? {
        let served = LazyCell::new(|| served(cluster, selectors, &driver, spec));
        let is_starting = is_starting(report, &stages, &driver);
        let without = judged.iter().filter(|node| has_none(node, wanted));
        for node in without.take(MOST_LOOKED_AT) {
            let Some(found_node) = cluster.node(&node.node) else {
                continue;
            };
            let Some(link) = stages.broken_link(&driver, found_node) else {
                continue;
            };
            if has_other_hardware(cluster, &driver, &served, found_node) {
                continue;
            }
            let is_like =
                || stages.is_like_served(&driver, found_node) || is_of_other_kind(&link, &driver, found_node);
            let strength = strength(&link, is_like);
            // It is kept off some nodes, and is starting on others.
            if strength == MEANT && is_starting {
                continue;
            }
            if is_unselected && !is_of_other_kind(&link, &driver, found_node) {
                continue;
            }
            match &mut found {
                Some((most, known)) if *most >= strength => {
                    let is_same = std::mem::discriminant(&known.link) == std::mem::discriminant(&link);
                    if known.driver == driver && is_same {
                        known.nodes.push(node.node.clone());
                    }
                }
                _ => {
                    let unserved = Unserved {
                        driver: driver.clone(),
                        nodes: vec![node.node.clone()],
                        link,
                    };
                    found = Some((strength, unserved));
                }
            }
        }
    }
    // Nodes with free devices keep the pod off, and its driver is kept off those that are left.
    let is_meant = matches!(cause, Cause::Filtered(..));
    // Where each node lacks the devices of some driver, drivers have to run together.
    let lacks_some = |node: &&NodeDiagnosis| report.short().any(|wanted| has_none(node, wanted));
    let is_apart = || judged.iter().all(lacks_some);
    // Beside nodes that have devices, only what is hardly meant to be so is worth a word.
    let least = match is_cause {
        true if is_meant => MEANT + 1,
        true => MEANT,
        false if is_apart() => MEANT,
        false => FAULT,
    };
    let (_, found) = found.filter(|(strength, _)| *strength >= least)?;
    Some((found, is_cause))
}

/// The nodes that the driver publishes devices for, with whether the request selects one of these.
fn served(
    cluster: &Cluster,
    selectors: &ClassSelectors,
    driver: &Str,
    spec: &DeviceRequest,
) -> BTreeMap<Str, bool> {
    let mut served = BTreeMap::new();
    for pool in cluster.pools().filter(|pool| pool.id.driver == *driver) {
        for (slice, _, device) in selectors.devices(&pool) {
            if let Some(node) = &slice.spec.node_name {
                *served.entry(node.clone()).or_default() |= selects(selectors, spec, &device);
            }
        }
    }
    served
}

/// Returns whether a label that tells hardware apart, or all labels together, say that the node has none of the devices that a request
/// selects: nodes with the same publish others only, and those that publish such ones have others.
fn has_other_hardware(cluster: &Cluster, driver: &str, served: &BTreeMap<Str, bool>, node: &Node) -> bool {
    let tells_apart = |is_alike: &dyn Fn(&Node) -> Option<bool>| {
        let alike = served.iter().filter_map(|(name, is_selected)| {
            let is_alike = is_alike(cluster.node(name)?)?;
            Some((is_alike, *is_selected))
        });
        let alike: BTreeSet<(bool, bool)> = alike.collect();
        let tells_apart = BTreeSet::from([(true, false), (false, true)]).is_subset(&alike);
        tells_apart && !alike.contains(&(true, true))
    };
    let mut telling = labels(node).filter(|(key, _)| tells_hardware(driver, key));
    telling.any(|(key, value)| tells_apart(&|other| Some(other.metadata.label(key)? == value)))
        || tells_apart(&|other| Some(labels(other).eq(labels(node))))
}

/// The labels that nodes can have in common.
fn labels(node: &Node) -> impl Iterator<Item = &(Str, Str)> {
    node.metadata.labels.iter().filter(|(key, _)| key != HOSTNAME)
}

/// Returns whether the driver was started just now on a node that lacks devices.
pub(super) fn is_starting(report: &Diagnosis, stages: &Stages<'_>, driver: &Str) -> bool {
    let driver = BTreeSet::from([driver.clone()]);
    let mut nodes = report
        .lacking_devices()
        .filter_map(|node| stages.cluster().node(&node.node));
    nodes.any(|node| stages.is_starting(&driver, node))
}

/// A pool whose slices contradict each other, of a driver of the first request that nodes have too few devices for.
pub(super) fn invalid_pool(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
) -> Option<(PoolId, Fact)> {
    let reasons = report.nodes.iter().flat_map(|node| &node.reasons);
    let invalid = reasons.filter_map(|reason| match &reason.fact {
        Fact::PoolInvalid(pool, _) => Some((reason, pool)),
        _ => None,
    });
    let mut wanted = invalid.filter(|(reason, pool)| {
        let request = reason.claim.as_ref().zip(reason.request.as_ref());
        let drivers = request.and_then(|(claim, request)| drivers_of(cycle, selectors, claim, request));
        drivers.is_some_and(|drivers| drivers.contains(&pool.driver))
    });
    let (reason, pool) = wanted.next()?;
    Some((pool.clone(), reason.fact.clone()))
}

/// Returns whether the node has a label that the DaemonSet of the driver requires, with another value: it is of another kind, such as of another
/// accelerator. Labels of all nodes tell nothing, nor does one that keeps the driver off the node.
fn is_of_other_kind(link: &BrokenLink, driver: &str, node: &Node) -> bool {
    let BrokenLink::NoPod(_, Some(KeptOff::Labels(labels))) = link else {
        return false;
    };
    let is_general = |key: &str| {
        key.split_once('/')
            .is_some_and(|(domain, _)| is_within(domain, "kubernetes.io"))
    };
    let is_off = |value: &str| matches!(value, "" | "false" | "no" | "none" | "off" | "disabled");
    let has_other = |(key, value): &(Str, Str)| {
        let own = node.metadata.label(key);
        !is_general(key) && own.is_some_and(|own| own != value && !is_off(own))
    };
    offered_by_plugin(node, driver).next().is_none() && labels.iter().any(has_other)
}

/// That a node has too few devices for a request, and another one of the same type more of the driver.
pub(super) fn lost_devices(
    report: &Diagnosis,
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
) -> Option<String> {
    let cluster = cycle.scheduler().cluster();
    let is_short = |count: &&DeviceCount| {
        count.matching > 0 && count.wanted.is_some_and(|wanted| wanted > count.matching)
    };
    let mut counts = report.nodes.iter().flat_map(|node| &node.devices);
    let short = counts.find(is_short)?;
    let lacking = report.nodes.iter().filter(|node| {
        let mut counts = node.devices.iter();
        counts.any(|count| is_short(&count) && count.claim == short.claim && count.request == short.request)
    });
    let nodes: Vec<&Str> = lacking
        .filter_map(|node| Some(&cluster.node(&node.node)?.metadata.name))
        .collect();
    let mut drivers = drivers_of(cycle, selectors, &short.claim, &short.request)?.into_iter();
    drivers.find_map(|driver| {
        let [(node, own), (other, most)] = fewer_than_alike(cluster, &driver, nodes.iter().copied())?;
        Some(words::lost_devices(node, &driver, own, other, most))
    })
}

/// The strength of a link that is most likely meant to be so.
const MEANT: u8 = 0;

/// The least strength of a link that is hardly meant to be so.
const FAULT: u8 = 2;

/// How likely a link is the reason, rather than how it is meant to be: a driver runs on nodes without devices of it, and is kept off others by
/// their labels, unless the node `is_alike`: a machine of a type that has devices. The pod may be on the node, so a taint of it is no sign that
/// devices are not to be used there.
fn strength(link: &BrokenLink, is_alike: impl Fn() -> bool) -> u8 {
    match link {
        BrokenLink::NoPod(_, kept_off)
            if kept_off.as_ref().is_none_or(KeptOff::is_unselected) && !is_alike() =>
        {
            MEANT
        }
        BrokenLink::Silent(_) if !is_alike() => 1,
        BrokenLink::Silent(_) | BrokenLink::NoDevices(_) => FAULT,
        BrokenLink::NotReady(..) | BrokenLink::NoPod(..) => 2,
        BrokenLink::Refused(_)
        | BrokenLink::Unselected(..)
        | BrokenLink::Crashing(..)
        | BrokenLink::Circle(..)
        | BrokenLink::Pending(..)
        | BrokenLink::Failed(..)
        | BrokenLink::Forbidden(..) => 3,
    }
}

/// The drivers whose devices are of the class of a request: those that it names, or else those that publish some.
fn drivers_of(
    cycle: &Cycle<'_>,
    selectors: &ClassSelectors,
    claim: &Key,
    request: &str,
) -> Option<BTreeSet<Str>> {
    let cluster = cycle.scheduler().cluster();
    let class = &spec_of(cycle, claim, request)?.device_class_name;
    let mut drivers = cluster
        .class(class)
        .map(|class| drivers_named(class))
        .unwrap_or_default();
    if drivers.is_empty() {
        for pool in cluster.pools() {
            if selectors
                .devices(&pool)
                .any(|(_, _, device)| selectors.matches(class, &device) == Match::Yes)
            {
                drivers.insert(pool.id.driver.clone());
            }
        }
    }
    Some(drivers)
}
