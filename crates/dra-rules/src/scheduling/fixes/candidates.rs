//! Changes that can matter for a node.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::change::{Fix, OtherToleration, Rewording};
use super::edit::change_of_claim;
use crate::owners::{Turn, fails_with, guard, turn};
use crate::reservation::{Origin, has_consumer};
use crate::scheduling::extended::{Unoffered, class_of, is_in_claims, unoffered};
use crate::scheduling::locality::Localities;
use crate::scheduling::plain;
use crate::scheduling::spared::Sparing;
use dra_allocator::devices::{keeps_off, known_names, rule_matches_pool, rules_of_scheduler, slice_device};
use dra_allocator::{attribute_of, value_of};
use dra_cel::{
    AmountWanted, AttributeWanted, DeviceInput, Known, Mistake, Terms, amount_wanted, attribute_wanted,
    guarded, repairs,
};
use dra_model::{
    AllocationMode, AttributeValue, Claim, Cluster, Container, DeviceRequest, Format, Key, Node,
    NodeSelector, Pod, Quantity, Str, Time, is_similar, lookup,
};

/// Changes that are tried on a node: as many more as any search has time for are looked for, and left out.
pub(super) const MOST_CANDIDATES: usize = 10_000;

/// Changes of the node itself, and of what the pod asks of nodes.
fn of_node(node: &Node, pod: &Pod, now: Time) -> Vec<Fix> {
    let mut fixes = Vec::new();
    if node.spec.unschedulable && plain::update(node).is_none() {
        fixes.push(Fix::Uncordon {
            node: node.metadata.name.clone(),
        });
    }
    let (unfit, untolerated): (Vec<_>, Vec<_>) =
        plain::untolerated(pod, node).partition(|taint| plain::tells_unfit(&taint.key));
    // A pod that tolerates one of these would not run.
    if !unfit.is_empty() {
        fixes.push(Fix::RestoreNode {
            node: node.metadata.name.clone(),
        });
    }
    for taint in untolerated {
        let is_left_over = plain::is_left_over(taint, node, now);
        if plain::is_of_controller(&taint.key) && !is_left_over {
            continue;
        }
        let (key, effect) = (taint.key.clone(), taint.effect.clone());
        // The node controller puts this one back for as long as the node has the flag.
        if key != plain::UNSCHEDULABLE || !node.spec.unschedulable {
            fixes.push(Fix::LiftNodeTaint {
                node: node.metadata.name.clone(),
                key: key.clone(),
                effect: effect.clone(),
            });
        }
        // A pod that tolerates one of these is put on a node that is being drained, or is down.
        let is_of_node = matches!(taint.key.as_str(), plain::UNSCHEDULABLE | plain::OUT_OF_SERVICE);
        if !is_of_node && !is_left_over {
            let mut known = pod.spec.tolerations.iter();
            let has_other = known.any(|known| known.key == key);
            let is_reserved = !plain::is_for_devices(taint);
            fixes.push(Fix::TolerateNode {
                key,
                value: taint.value.clone(),
                effect,
                has_other,
                is_reserved,
            });
        }
    }
    for (key, value) in &pod.spec.node_selector {
        if node.metadata.label(key) != Some(value) {
            fixes.push(Fix::DropNodeLabel { key: key.clone() });
        }
    }
    // The DaemonSet controller requires the node of each of its pods.
    let is_daemon = pod
        .metadata
        .controller()
        .is_some_and(|owner| owner.kind == "DaemonSet");
    let excludes = |selector: &NodeSelector| !selector.matches(&node.metadata).unwrap_or(false);
    if !is_daemon && pod.required_affinity().is_some_and(excludes) {
        fixes.push(Fix::DropNodeAffinity);
    }
    fixes
}

/// Claims whose end can free something on the node, the pod's own that are allocated elsewhere among them, but for those of `sparing`.
fn releases(
    cluster: &Cluster,
    localities: &Localities,
    node: &Node,
    own: &[Arc<Claim>],
    sparing: &Sparing<'_>,
) -> Vec<Fix> {
    let mut keys = localities.holders(cluster, &node.metadata.name);
    for claim in own {
        if sparing.is_shared(claim) {
            keys.remove(&claim.key());
        } else if claim.status.allocation.is_some() {
            keys.insert(claim.key());
        }
    }
    let fix = |key: Key| {
        let claim = cluster.claim(&key)?;
        let takes = claim.results().iter().any(|result| result.takes());
        // Devices count as in use unless they are known to be idle, or to be so soon.
        let in_use = if sparing.consumers(claim).is_empty() {
            has_consumer(cluster, claim).unwrap_or(true)
        } else {
            !sparing.are_ending(claim)
        };
        (takes && sparing.claim(claim).is_none()).then_some(Fix::Release { claim: key, in_use })
    };
    keys.into_iter().filter_map(fix).collect()
}

/// Taints of the devices that may reach `node`: tolerated by a request, or lifted. One that the selectors of a request do not let it
/// get to counts, too, since another change may.
fn taints(
    cluster: &Cluster,
    localities: &Localities,
    node: &Node,
    pod: Option<&Pod>,
    own: &[Arc<Claim>],
) -> Vec<Fix> {
    let mut fixes = BTreeSet::new();
    let mut found: BTreeSet<(&Str, &Str, &Str)> = BTreeSet::new();
    let rules = rules_of_scheduler(cluster);
    for id in localities.pools(&node.metadata.name) {
        if cluster.pool(id).is_none() {
            continue;
        }
        let slices = cluster.slices_of_pool(id);
        let devices = slices.flat_map(|slice| &slice.spec.devices);
        let taints = devices.flat_map(|device| &device.taints);
        for taint in taints.filter(|taint| keeps_off(taint)) {
            found.insert((&taint.key, &taint.value, &taint.effect));
            fixes.insert(Fix::LiftTaint {
                pool: id.clone(),
                key: taint.key.clone(),
                effect: taint.effect.clone(),
            });
        }
        for rule in rules
            .iter()
            .filter(|rule| rule_matches_pool(rule, id) && keeps_off(&rule.spec.taint))
        {
            let taint = &rule.spec.taint;
            found.insert((&taint.key, &taint.value, &taint.effect));
            fixes.insert(Fix::DeleteRule {
                rule: rule.metadata.name.clone(),
            });
        }
    }
    for claim in own.iter().filter(|claim| claim.status.allocation.is_none()) {
        for (request, spec) in specs(claim) {
            if fixes.len() > MOST_CANDIDATES {
                break;
            }
            for &(key, value, effect) in &found {
                let names = |spec: &DeviceRequest| spec.tolerations.iter().any(|known| known.key == *key);
                let whole = request.split_once('/').map(|(whole, _)| whole);
                let mut siblings = specs(claim).filter(|(name, _)| {
                    let other = name.split_once('/').map(|(whole, _)| whole);
                    whole.is_some() && other == whole
                });
                let of_pod = pod.into_iter().flat_map(|pod| pod.spec.tolerations.iter());
                let mut of_pod = of_pod.filter(|known| known.key == *key).peekable();
                let has_of_pod = of_pod.peek().is_some();
                // Its meaning is copied: that of one value does not open what is kept for another.
                let meant = of_pod.find_map(|known| match known.operator.as_str() {
                    "Exists" => Some(Str::default()),
                    _ => (known.value == *value).then(|| value.clone()),
                });
                let other = if names(spec) {
                    Some(OtherToleration::OfRequest)
                } else if siblings.any(|(_, spec)| names(spec)) {
                    Some(OtherToleration::OfAlternative)
                } else if has_of_pod && meant.is_none() {
                    continue;
                } else {
                    has_of_pod.then_some(OtherToleration::OfPod)
                };
                fixes.insert(Fix::Tolerate {
                    claim: claim.key(),
                    request: request.clone(),
                    key: key.clone(),
                    value: meant.unwrap_or_else(|| value.clone()),
                    effect: effect.clone(),
                    other,
                });
            }
        }
    }
    fixes.into_iter().collect()
}

/// The requests of a claim by `request` or `request/subrequest`.
fn specs(claim: &Claim) -> impl Iterator<Item = (Str, &DeviceRequest)> {
    claim.spec.devices.requests.iter().flat_map(|request| {
        let exactly = request.exactly.iter().map(|spec| (request.name.clone(), spec));
        let alternatives = request.first_available.iter();
        let name = |spec: &DeviceRequest| Str::from(format!("{}/{}", request.name, spec.name));
        exactly.chain(alternatives.map(move |spec| (name(spec), spec)))
    })
}

/// Changes of what the claims ask for, wherever that is.
pub(super) fn of_claims(cluster: &Cluster, claims: &[Arc<Claim>], fails: bool) -> Vec<Fix> {
    let mut fixes = Vec::new();
    let names = Names::default();
    for claim in claims.iter().filter(|claim| claim.status.allocation.is_none()) {
        let key = claim.key();
        if let Origin::Template(template) = Origin::of(cluster, claim)
            && change_of_claim("", &claim.spec, &template.spec.spec).is_none_or(|change| !change.is_empty())
        {
            fixes.push(Fix::RenewClaim {
                claim: key.clone(),
                template: template.metadata.key(),
            });
        }
        for (name, spec) in specs(claim) {
            if fixes.len() > MOST_CANDIDATES {
                break;
            }
            of_request(cluster, &key, &name, spec, &mut fixes);
            for rewording in [Rewording::Guarded, Rewording::Corrected, Rewording::Published] {
                let other = |term: &str| match rewording {
                    Rewording::Guarded => fails.then(|| guarded(term))?,
                    Rewording::Corrected => corrected(cluster, &names, term),
                    Rewording::Published => published(cluster, term),
                };
                replaced(&key, &name, spec, rewording, other, &mut fixes);
            }
        }
        for (place, constraint) in claim.spec.devices.constraints.iter().enumerate() {
            let attribute = constraint.attribute().cloned().unwrap_or_default();
            let drop = |instead| Fix::DropConstraint {
                claim: key.clone(),
                place,
                attribute: attribute.clone(),
                instead,
            };
            if constraint.match_attribute.is_some() {
                let others = standard_attributes(cluster).into_iter();
                fixes.extend(
                    others
                        .filter(|other| *other != attribute)
                        .map(|other| drop(Some(other))),
                );
            }
            fixes.push(drop(None));
        }
    }
    fixes
}

/// The domain of the attributes that devices of several drivers have in common. Mirrors `dynamic-resource-allocation/deviceattribute/attribute.go`,
/// `StandardDeviceAttributePrefix`, v1.37.2.
const STANDARD: &str = "resource.kubernetes.io/";

/// The attributes of that domain which devices have.
fn standard_attributes(cluster: &Cluster) -> BTreeSet<Str> {
    let devices = cluster.slices().flat_map(|slice| &slice.spec.devices);
    let names = devices
        .flat_map(|device| &device.attributes)
        .map(|(name, _)| name);
    names.filter(|name| name.starts_with(STANDARD)).cloned().collect()
}

/// Most device counts of a request that are tried.
const MOST_COUNTS: i64 = 32;

fn of_request(cluster: &Cluster, claim: &Key, request: &Str, spec: &DeviceRequest, fixes: &mut Vec<Fix>) {
    let most = match spec.allocation_mode {
        AllocationMode::ExactCount => spec.count - 1,
        _ => MOST_COUNTS,
    };
    for count in (1..=most.min(MOST_COUNTS)).rev() {
        fixes.push(Fix::Fewer {
            claim: claim.clone(),
            request: request.clone(),
            count,
        });
    }
    for (selector, found) in spec.selectors.iter().enumerate() {
        let expression = found
            .cel
            .as_ref()
            .map(|cel| cel.expression.as_str())
            .unwrap_or_default();
        for (place, term) in Terms::of(expression).iter().enumerate() {
            fixes.push(Fix::DropTerm {
                claim: claim.clone(),
                request: request.clone(),
                selector,
                place,
                term: term.to_owned(),
            });
        }
    }
    if cluster.class(&spec.device_class_name).is_none() {
        let classes = cluster.classes();
        for class in classes.filter(|class| may_stand_for(&class.metadata.name, &spec.device_class_name)) {
            fixes.push(Fix::UseClass {
                claim: claim.clone(),
                request: request.clone(),
                class: class.metadata.name.clone(),
            });
        }
    }
}

/// Returns whether devices of class `name` may be what is meant by a class that is `missing`: classes of different vendors, and the channels
/// and daemons of NVIDIA's ComputeDomains beside GPUs, have nothing in common.
fn may_stand_for(name: &str, missing: &str) -> bool {
    let vendor = |name: &'_ str| name.split_once('.').map(|(_, vendor)| vendor.to_owned());
    let is_same_vendor = match (vendor(name), vendor(missing)) {
        (Some(one), Some(other)) => one == other || one == missing || other == name,
        _ => true,
    };
    let is_of_domain = |name: &str| name.starts_with("compute-domain");
    is_same_vendor && is_of_domain(name) == is_of_domain(missing)
}

/// Terms that `other` has something else for.
fn replaced(
    claim: &Key,
    request: &Str,
    spec: &DeviceRequest,
    rewording: Rewording,
    other: impl Fn(&str) -> Option<String>,
    fixes: &mut Vec<Fix>,
) {
    for (selector, found) in spec.selectors.iter().enumerate() {
        let Some(cel) = &found.cel else { continue };
        let terms = Terms::of(&cel.expression);
        for (place, term) in terms.iter().enumerate() {
            let Some(replacement) = other(term) else { continue };
            let Some(expression) = terms.with(place, &replacement) else {
                continue;
            };
            fixes.push(Fix::ReplaceTerm {
                claim: claim.clone(),
                request: request.clone(),
                selector,
                term: term.to_owned(),
                replacement,
                rewording,
                expression: expression.into(),
            });
        }
    }
}

/// The term with the names that devices have, where it has others that no device has, or with values of their types.
fn corrected(cluster: &Cluster, names: &Names, term: &str) -> Option<String> {
    const NAMES: &[Mistake] = &[
        Mistake::CapacityAsAttribute,
        Mistake::AttributeAsCapacity,
        Mistake::DomainLeftOut,
        Mistake::WrongDomain,
        Mistake::Misspelt,
    ];
    const VALUES: &[Mistake] = &[
        Mistake::VersionCut,
        Mistake::QuantityCompared,
        Mistake::VersionCompared,
        Mistake::IntCompared,
        Mistake::BoolCompared,
        Mistake::StringCompared,
    ];
    let first = names.first(cluster);
    let (known, mistakes) = if first.has_all(term) {
        (first, VALUES)
    } else {
        (names.all(cluster), NAMES)
    };
    let mut repairs = repairs(term, known, &BTreeSet::new()).into_iter();
    let repair = repairs.find(|repair| repair.found.iter().all(|found| mistakes.contains(&found.mistake)))?;
    Some(repair.expression)
}

/// The term with a value that devices have, where none has the one that it wants: the text that is most like it, or the least amount
/// that is enough, or else the largest.
fn published(cluster: &Cluster, term: &str) -> Option<String> {
    let devices = || {
        let slices = cluster.slices();
        slices.flat_map(|slice| {
            slice
                .spec
                .devices
                .iter()
                .map(move |device| (&slice.spec.driver, device))
        })
    };
    if let Some(AttributeWanted { domain, name, value }) = attribute_wanted(term) {
        let full = format!("{domain}/{name}");
        let mut best = None;
        for (driver, device) in devices() {
            let Some(AttributeValue::String(text)) = attribute_of(device, driver, &full) else {
                continue;
            };
            if **text == *value {
                return None;
            }
            let is_slip = is_similar(text, &value);
            if is_slip || has_words(text, &value) || has_words(&value, text) {
                let candidate = (!is_slip, text.len(), text);
                best = Some(best.map_or(candidate, |best: (bool, usize, &Str)| best.min(candidate)));
            }
        }
        let (_, _, text) = best?;
        let other = with_value(term, &value, text)?;
        let is_it = |wanted: AttributeWanted| wanted.name == name && wanted.value == **text;
        return attribute_wanted(&other).is_some_and(is_it).then_some(other);
    }
    let AmountWanted {
        domain,
        name,
        least,
        is_exact,
    } = amount_wanted(term)?;
    let full = format!("{domain}/{name}");
    let wanted: Quantity = least.parse().ok()?;
    let (mut enough, mut largest) = (None, None);
    for (driver, device) in devices() {
        let Some(capacity) = value_of(&device.capacity, driver, &full) else {
            continue;
        };
        let there = &capacity.value;
        match there.cmp(&wanted) {
            Ordering::Equal => return None,
            Ordering::Greater if !is_exact => return None,
            Ordering::Greater => enough = Some(enough.map_or(there, |enough| there.min(enough))),
            Ordering::Less => largest = Some(largest.map_or(there, |largest| there.max(largest))),
        }
    }
    with_value(term, &least, &enough.or(largest)?.to_string())
}

/// Returns whether `part` stands in `whole` between other signs than letters and digits: `H100` in `NVIDIA H100 80GB`, not `gpu-1` in `gpu-12`.
fn has_words(whole: &str, part: &str) -> bool {
    let is_end = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
    let stands_at = |place: usize| {
        is_end(whole[..place].chars().next_back()) && is_end(whole[place + part.len()..].chars().next())
    };
    !part.is_empty() && whole.match_indices(part).any(|(place, _)| stands_at(place))
}

/// The term with another value, which is the last text in it.
fn with_value(term: &str, value: &str, other: &str) -> Option<String> {
    let place = term.rfind(value).filter(|_| !value.is_empty())?;
    let (before, behind) = (&term[..place], &term[place + value.len()..]);
    Some(format!("{before}{other}{behind}"))
}

/// The names that devices have. Those of all devices are only needed where the first ones lack a name.
#[derive(Default)]
struct Names {
    first: OnceCell<Known>,
    all: OnceCell<Known>,
}

impl Names {
    /// Those of one device of each driver.
    fn first(&self, cluster: &Cluster) -> &Known {
        self.first.get_or_init(|| {
            let mut drivers = BTreeSet::new();
            let mut known = Known::default();
            for slice in cluster.slices() {
                let driver = &slice.spec.driver;
                if let Some(device) = slice.spec.devices.first()
                    && drivers.insert(driver)
                {
                    known.add(&DeviceInput::of(slice_device(driver, device)));
                }
            }
            known
        })
    }

    fn all(&self, cluster: &Cluster) -> &Known {
        self.all.get_or_init(|| known_names(cluster))
    }
}

/// Less of extended resources that classes stand behind, and none of those whose devices the claims request, too.
fn of_extended(cluster: &Cluster, pod: &Pod, own: &[Arc<Claim>]) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
        for (resource, amount) in &container.resources.requests {
            if is_in_claims(cluster, resource, own) {
                fixes.push(Fix::DropExtended {
                    container: container.name.clone(),
                    resource: resource.clone(),
                });
            }
            if class_of(cluster, resource).is_none() {
                continue;
            }
            for count in (1..amount.value().min(MOST_COUNTS + 1)).rev() {
                fixes.push(Fix::LessResource {
                    container: Some(container.name.clone()),
                    resource: resource.clone(),
                    amount: Quantity::new(count, Format::DecimalSi),
                });
            }
        }
    }
    fixes
}

/// Less of what the node itself has too little of: as much as is left for the container that asks for the most, if that is half of it at
/// least. With less than that hardly any program would do.
fn of_resources(cluster: &Cluster, pod: &Pod, node: &Node) -> Vec<Fix> {
    let less = |lack: plain::Lack| {
        // What the pod asks for as a whole counts instead of what its containers ask for.
        let whole = pod.spec.resources.as_ref();
        if let Some(wanted) = whole.and_then(|whole| lookup(&whole.requests, &lack.resource)) {
            return Some(Fix::LessResource {
                container: None,
                amount: lack.without_shortage(wanted)?,
                resource: lack.resource,
            });
        }
        let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
        let (wanted, container) = containers
            .filter_map(|one| Some((lookup(&one.resources.requests, &lack.resource)?, one)))
            .max_by_key(|(wanted, _)| *wanted)?;
        let amount = lack.without_shortage(wanted)?;
        Some(Fix::LessResource {
            container: Some(container.name.clone()),
            resource: lack.resource,
            amount,
        })
    };
    let lacks = plain::lacks(cluster, pod, node).into_iter();
    lacks.filter_map(less).collect()
}

/// Resources that nothing offers: one of a similar name that is offered, and classes that could offer them.
fn of_unoffered(cluster: &Cluster, pod: &Pod) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for Unoffered { resource, classes } in unoffered(cluster, pod) {
        let of_classes = cluster
            .classes()
            .filter_map(|class| class.spec.extended_resource_name.as_ref());
        let of_nodes = cluster
            .nodes()
            .flat_map(|node| &node.status.allocatable)
            .map(|(name, _)| name);
        let similar = of_classes
            .chain(of_nodes)
            .find(|offered| is_similar(offered, &resource));
        if let Some(instead) = similar {
            let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
            let wants = |one: &&Container, name: &str| lookup(&one.resources.requests, name).is_some();
            let wanting = containers.filter(|one| wants(one, &resource) && !wants(one, instead));
            fixes.extend(wanting.map(|container| Fix::UseResource {
                container: container.name.clone(),
                resource: resource.clone(),
                instead: instead.clone(),
            }));
        }
        fixes.extend(classes.into_iter().map(|class| Fix::OfferResource {
            class: class.metadata.name.clone(),
            resource: resource.clone(),
        }));
    }
    fixes.truncate(MOST_CANDIDATES);
    fixes
}

/// Most amounts of a capacity that are tried.
const MOST_AMOUNTS: usize = 16;

/// Smaller amounts of capacity, as large as the devices that reach the node have, allow, or have left.
fn of_capacity(cluster: &Cluster, localities: &Localities, node: &Node, claims: &[Arc<Claim>]) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for claim in claims.iter().filter(|claim| claim.status.allocation.is_none()) {
        for (name, spec) in specs(claim) {
            for (capacity, wanted) in spec.capacity.iter().flat_map(|capacity| &capacity.requests) {
                let mut amounts = amounts(cluster, localities, node, capacity);
                amounts.retain(|amount| amount < wanted && amount.sign() > 0);
                let largest = amounts.into_iter().rev().take(MOST_AMOUNTS);
                fixes.extend(largest.map(|amount| Fix::LessCapacity {
                    claim: claim.key(),
                    request: name.clone(),
                    capacity: capacity.clone(),
                    amount,
                }));
            }
        }
    }
    fixes
}

fn amounts(cluster: &Cluster, localities: &Localities, node: &Node, name: &Str) -> BTreeSet<Quantity> {
    let mut amounts = BTreeSet::new();
    for id in localities.pools(&node.metadata.name) {
        let Some(pool) = cluster.pool(id) else { continue };
        for (_, device) in pool.devices() {
            let Some(capacity) = lookup(&device.capacity, name) else {
                continue;
            };
            let mut left = capacity.value.clone();
            for claim in cluster.claims_of_device(&pool.device_id(&device.name)) {
                let results = claim.results().iter();
                let of_device = results.filter(|result| {
                    result.device == device.name && result.pool == id.pool && result.driver == id.driver
                });
                let taken = of_device.filter_map(|result| lookup(&result.consumed_capacity, name));
                taken.for_each(|taken| left.sub(taken));
            }
            amounts.insert(left);
            amounts.insert(capacity.value.clone());
            if let Some(policy) = &capacity.request_policy {
                amounts.extend(policy.valid_values.iter().cloned());
                amounts.extend(policy.valid_range.iter().filter_map(|range| range.max.clone()));
            }
        }
    }
    amounts
}

/// All changes that can matter for `node`, cheapest first. `cluster` is the part of the cluster around the node, or all of it.
pub(super) fn all(
    cluster: &Cluster,
    localities: &Localities,
    node: &Node,
    pod: Option<&Pod>,
    own: &[Arc<Claim>],
    (of_claims, sparing): (&[Fix], &Sparing<'_>),
    now: Time,
) -> Vec<Fix> {
    let mut fixes = releases(cluster, localities, node, own, sparing);
    fixes.extend_from_slice(of_claims);
    fixes.extend(of_capacity(cluster, localities, node, own));
    fixes.extend(taints(cluster, localities, node, pod, own));
    if let Some(pod) = pod {
        fixes.extend(of_node(node, pod, now));
        fixes.extend(of_extended(cluster, pod, own));
        fixes.extend(of_resources(cluster, pod, node));
        fixes.extend(of_unoffered(cluster, pod));
    }
    let namespace = own.first().map(|claim| &claim.metadata.namespace);
    fixes.sort_by_cached_key(|fix| rank(cluster, namespace, fix));
    fixes.dedup();
    fixes
}

/// Whether it runs, a budget guards it, it is in another namespace, who creates it again, its priority, and its turn among the pods of a Job.
pub(super) type Harm = (bool, bool, bool, u8, i32, Option<Turn>);

/// A pod that no controller creates again, or an unknown user.
const NOT_AGAIN: u8 = 2;

/// How much is lost with the users of a claim that is to be deallocated, least first: nothing where they do not run; then what no disruption
/// budget guards; what is in the namespace of the claims that need it; pods of Jobs, which run again; those that no controller creates again;
/// among those, of the lowest priority; and of a Job those that it would end first.
fn harm(cluster: &Cluster, fix: &Fix, namespace: Option<&Str>) -> Harm {
    let Fix::Release { claim, .. } = fix else {
        return Harm::default();
    };
    let users: Vec<&Arc<Pod>> = cluster.pods_of_claim(claim).collect();
    let is_waiting = |pod: &Pod| {
        let mut statuses = pod.status.container_statuses.iter();
        pod.status.phase != "Running" || statuses.any(|status| status.state.waiting.is_some())
    };
    let of_owner = |pod: &Arc<Pod>| match pod.metadata.controller() {
        Some(_) if fails_with(cluster, pod) => NOT_AGAIN,
        Some(owner) if owner.kind == "Job" => 0,
        Some(_) => 1,
        None => NOT_AGAIN,
    };
    (
        users.is_empty() || !users.iter().all(|pod| is_waiting(pod)),
        users.iter().any(|pod| guard(cluster, pod).is_some()),
        namespace != Some(&claim.namespace),
        users.iter().map(|pod| of_owner(pod)).max().unwrap_or(NOT_AGAIN),
        users.iter().map(|pod| pod.priority()).max().unwrap_or_default(),
        users
            .iter()
            .filter(|pod| of_owner(pod) == 0)
            .map(|pod| turn(pod))
            .max(),
    )
}

/// Cheapest first, for claims in `namespace`; of several device counts the largest first.
pub(super) fn rank(
    cluster: &Cluster,
    namespace: Option<&Str>,
    fix: &Fix,
) -> (super::ClassOfFix, i64, Harm, Fix) {
    let less = match fix {
        Fix::Fewer { count, .. } => -count,
        Fix::LessCapacity { amount, .. } | Fix::LessResource { amount, .. } => {
            amount.value().saturating_neg()
        }
        _ => 0,
    };
    let class = if fix.tolerates_for_admin(cluster) {
        // What watches devices watches broken ones, too.
        super::ClassOfFix::Same
    } else {
        fix.class()
    };
    (class, less, harm(cluster, fix, namespace), fix.clone())
}

impl Fix {
    /// Returns whether a request with admin access tolerates a device taint: it takes no device from others.
    pub fn tolerates_for_admin(&self, cluster: &Cluster) -> bool {
        let Self::Tolerate { claim, request, .. } = self else {
            return false;
        };
        cluster.claim(claim).is_some_and(|claim| {
            specs(claim).any(|(name, spec)| name == *request && spec.admin_access == Some(true))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_whole_words() {
        for (whole, part, expected) in [
            ("NVIDIA H100 80GB HBM3", "NVIDIA H100", true),
            ("H100-SXM5", "H100", true),
            ("gpu-12 gpu-1", "gpu-1", true),
            ("gpu-12", "gpu-1", false),
            ("1g.10gb", "g.10gb", false),
            ("any", "", false),
        ] {
            assert_eq!(has_words(whole, part), expected, "{part} in {whole}");
        }
    }
}
