//! At which step no device is left for a request, counted: published, of the class, selected by the request, reached by a node.

use std::collections::{BTreeMap, BTreeSet};

use dra_allocator::devices::{ClassSelectors, Match, Nodes, SelectableDevice, WantedNode, slice_device};
use dra_allocator::{attribute_of, value_of};
use dra_cel::{AmountWanted, AttributeWanted, DeviceInput, Seen};
use dra_model::{
    AttributeValue, Cluster, Device, DeviceId, DeviceRequest, Kind, NodeSelector, PoolId, Quantity, Slice,
    Str,
};

use dra_rules::scheduling::drivers_named;

/// The first step that leaves no device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// No device is published at all.
    Unpublished(Str),
    /// Of so many that are published, none is of the class, whose driver, if it names one, publishes nothing.
    OtherClasses(Str, usize, Option<Str>),
    /// Of so many of the class, the request selects none.
    Unselected {
        class: Str,
        of_class: usize,
        nearest: Option<Nearest>,
    },
    /// Of so many that the request selects, no node reaches any.
    Unreached {
        class: Str,
        selected: usize,
        /// The pool of the first one.
        pool: PoolId,
        nodes: ForNodes,
    },
}

/// The nodes of devices that no node reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ForNodes {
    /// For this one, which is not there.
    Named(Str),
    /// For those that a selector matches: none does.
    Selected(NodeSelector),
    /// Nothing says which.
    Unknown,
}

/// What a request lacks of the device that comes nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nearest {
    /// It has the most of the amount that the selector compares, and that is too little.
    Amount {
        device: DeviceId,
        /// The capacity, without its domain.
        name: String,
        most: Quantity,
        wanted: Quantity,
    },
    /// The attribute has other values.
    Attribute {
        /// Without its domain.
        name: String,
        wanted: String,
        /// Those that there are.
        there: BTreeSet<Str>,
    },
    /// Selectors want the attribute to have all of these values together.
    Both {
        /// Without its domain.
        name: String,
        values: BTreeSet<String>,
    },
    /// This term of the selector is not true for it, which sees this of it.
    Term {
        device: DeviceId,
        term: String,
        seen: Vec<Seen>,
    },
}

/// Devices of the class whose terms are looked at for the nearest one.
const MOST_EXPLAINED: usize = 512;

/// The first step that leaves no device for `spec`; nothing where there are some at each step, or where that was not found out.
pub(super) fn absence(
    cluster: &Cluster,
    selectors: &ClassSelectors,
    spec: &DeviceRequest,
) -> Option<Absence> {
    let class = &spec.device_class_name;
    let (mut published, mut of_class, mut selected) = (0, Vec::new(), Vec::new());
    for pool in cluster.pools() {
        for (slice, device, selectable) in selectors.devices(&pool) {
            published += 1;
            match selectors.matches(class, &selectable) {
                Match::Yes => {}
                Match::No => continue,
                Match::Error(_) | Match::Unknown => return None,
            }
            let found = Found {
                pool: pool.id.clone(),
                slice,
                device,
            };
            if is_selected(selectors, spec, &selectable)? {
                selected.push(found);
            } else {
                of_class.push(found);
            }
        }
    }
    if let Some(first) = selected.first() {
        let nodes: Vec<WantedNode> = cluster
            .nodes()
            .map(|node| WantedNode::of(cluster, &node.metadata.name))
            .collect();
        let meter = cluster.meter();
        let mut known: Option<&Slice> = None;
        for found in &selected {
            // All devices of a slice are for the same nodes, unless each names its own.
            let is_known = known.is_some_and(|slice| std::ptr::eq(slice, found.slice));
            if is_known && !found.slice.spec.per_device_node_selection {
                continue;
            }
            known = Some(found.slice);
            meter.look(nodes.len());
            if meter.exhausted().is_some() {
                return None;
            }
            for node in &nodes {
                if node.reaches(found.slice, found.device).ok()? {
                    return None;
                }
            }
        }
        let of_first = Nodes::of_device(first.slice, first.device);
        return Some(Absence::Unreached {
            class: class.clone(),
            selected: selected.len(),
            pool: first.pool.clone(),
            nodes: match (of_first.only(), of_first.selector) {
                (Some(name), _) => ForNodes::Named(name.clone()),
                (None, Some(selector)) => ForNodes::Selected(selector.clone()),
                (None, None) => ForNodes::Unknown,
            },
        });
    }
    Some(if published == 0 {
        Absence::Unpublished(class.clone())
    } else if of_class.is_empty() {
        Absence::OtherClasses(class.clone(), published, absent_driver(cluster, class))
    } else {
        Absence::Unselected {
            class: class.clone(),
            nearest: nearest(selectors, spec, &of_class),
            of_class: of_class.len(),
        }
    })
}

/// The driver whose devices alone a class selects.
pub(super) fn only_driver(cluster: &Cluster, class: &Str) -> Option<Str> {
    let mut drivers = drivers_named(cluster.class(class)?).into_iter();
    let (driver, None) = (drivers.next()?, drivers.next()) else {
        return None;
    };
    Some(driver)
}

/// The same, if it publishes nothing.
pub(super) fn absent_driver(cluster: &Cluster, class: &Str) -> Option<Str> {
    let driver = only_driver(cluster, class)?;
    let mut slices = cluster.slices();
    let publishes = slices.any(|slice| slice.spec.driver == driver);
    (!publishes && cluster.gap(Kind::ResourceSlice, "").is_none()).then_some(driver)
}

/// A device that was found.
struct Found<'c> {
    pool: PoolId,
    slice: &'c Slice,
    device: &'c Device,
}

/// Returns whether all selectors of the request select the device; nothing where one fails or was not tried.
fn is_selected(selectors: &ClassSelectors, spec: &DeviceRequest, device: &SelectableDevice) -> Option<bool> {
    for selector in &spec.selectors {
        let selector = selectors.selector(&selector.cel.as_ref()?.expression);
        if !selectors.is_selected(&selector, device).ok()? {
            return Some(false);
        }
    }
    Some(true)
}

/// Returns whether class and selectors of the request are sure to select the device.
pub(super) fn selects(selectors: &ClassSelectors, spec: &DeviceRequest, device: &SelectableDevice) -> bool {
    selectors.matches(&spec.device_class_name, device) == Match::Yes
        && is_selected(selectors, spec, device) == Some(true)
}

/// Returns whether a pool has as many devices as requests with these specs want together, all with the same value of an attribute: then only the
/// counters that they share keep them apart.
pub(super) fn shares_counters(
    cluster: &Cluster,
    selectors: &ClassSelectors,
    specs: &[&DeviceRequest],
    attribute: &str,
) -> bool {
    let wanted = |spec: &DeviceRequest| usize::try_from(spec.count).unwrap_or(usize::MAX);
    cluster.pools().any(|pool| {
        // By value: how many each request selects, and how many are selected at all.
        let mut values: Vec<(&AttributeValue, Vec<usize>, usize)> = Vec::new();
        for (slice, device, selectable) in selectors.devices(&pool) {
            let value = attribute_of(device, &slice.spec.driver, attribute);
            let Some(value) = value.filter(|_| !device.consumes_counters.is_empty()) else {
                continue;
            };
            let selecting = specs.iter().map(|spec| selects(selectors, spec, &selectable));
            let selecting: Vec<bool> = selecting.collect();
            let place = values.iter().position(|(known, ..)| *known == value);
            let place = place.unwrap_or_else(|| {
                values.push((value, vec![0; specs.len()], 0));
                values.len() - 1
            });
            let (_, counts, all) = &mut values[place];
            *all += usize::from(selecting.contains(&true));
            for (count, selects) in counts.iter_mut().zip(selecting) {
                *count += usize::from(selects);
            }
        }
        values.iter().any(|(_, counts, all)| {
            let mut each = counts.iter().zip(specs);
            each.all(|(count, spec)| *count >= wanted(spec))
                && *all
                    >= specs
                        .iter()
                        .map(|spec| wanted(spec))
                        .fold(0, usize::saturating_add)
        })
    })
}

/// What the devices lack: of a term that none of them meets, what there is instead; otherwise what the device lacks that misses the fewest terms.
fn nearest(selectors: &ClassSelectors, spec: &DeviceRequest, devices: &[Found<'_>]) -> Option<Nearest> {
    let mut looked = Vec::new();
    for found in devices.iter().take(MOST_EXPLAINED) {
        let input = DeviceInput::of(slice_device(&found.slice.spec.driver, found.device));
        let mut failing = Vec::new();
        for selector in &spec.selectors {
            let selector = selectors.selector(&selector.cel.as_ref()?.expression);
            failing.extend(selector.program().ok()?.explain(&input));
        }
        looked.push((found, failing));
    }
    if let Some(both) = contradiction(spec) {
        return Some(both);
    }
    let (_, first) = looked.first()?;
    let is_common = |text: &str| {
        let mut others = looked.iter();
        others.all(|(_, failing)| failing.iter().any(|term| term.text == text))
    };
    let common = first.iter().map(|term| &term.text).find(|text| is_common(text));
    if let Some(term) = common.filter(|_| devices.len() <= MOST_EXPLAINED) {
        let amounts = devices.iter().filter_map(|found| short_of(found, term));
        let largest = amounts.reduce(|largest, other| if other.0 > largest.0 { other } else { largest });
        let largest = largest.map(|(_, nearest)| nearest);
        if let Some(known) = largest.or_else(|| other_values(devices, term)) {
            return Some(known);
        }
    }
    let (found, failing) = looked.iter().min_by_key(|(_, failing)| failing.len())?;
    let mut terms = failing.iter();
    let term = terms
        .clone()
        .find(|term| common == Some(&term.text))
        .or_else(|| terms.next())?;
    Some(Nearest::Term {
        device: found.pool.device(&found.device.name),
        term: term.text.clone(),
        seen: term.seen.clone(),
    })
}

/// An attribute that selectors of the request want to have different values: all selectors have to hold.
fn contradiction(spec: &DeviceRequest) -> Option<Nearest> {
    let mut values: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for selector in &spec.selectors {
        let wanted = dra_cel::attribute_wanted(&selector.cel.as_ref()?.expression);
        if let Some(AttributeWanted { domain, name, value }) = wanted {
            values.entry((domain, name)).or_default().insert(value);
        }
    }
    let mut several = values.into_iter().filter(|(_, values)| values.len() > 1);
    several
        .next()
        .map(|((_, name), values)| Nearest::Both { name, values })
}

/// The device's amount, where the term wants more.
fn short_of<'c>(found: &Found<'c>, term: &str) -> Option<(&'c Quantity, Nearest)> {
    let AmountWanted {
        domain, name, least, ..
    } = dra_cel::amount_wanted(term)?;
    let wanted: Quantity = least.parse().ok()?;
    let full = format!("{domain}/{name}");
    let capacity = value_of(&found.device.capacity, &found.slice.spec.driver, &full)?;
    // A term that wants more than an amount is not true for exactly as much: no device is short of it.
    (capacity.value < wanted).then(|| {
        let nearest = Nearest::Amount {
            device: found.pool.device(&found.device.name),
            name,
            most: capacity.value.clone(),
            wanted,
        };
        (&capacity.value, nearest)
    })
}

/// The values of the attribute, where the term wants another.
fn other_values(devices: &[Found<'_>], term: &str) -> Option<Nearest> {
    let AttributeWanted { domain, name, value } = dra_cel::attribute_wanted(term)?;
    let full = format!("{domain}/{name}");
    let there: BTreeSet<Str> = devices
        .iter()
        .filter_map(
            |found| match attribute_of(found.device, &found.slice.spec.driver, &full)? {
                AttributeValue::String(text) => Some(text.clone()),
                _ => None,
            },
        )
        .collect();
    (!there.is_empty()).then_some(Nearest::Attribute {
        name,
        wanted: value,
        there,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::agreement::world;
    use crate::explanation::words;
    use dra_model::Kind;
    use dra_testing::effort::by_effort;
    use dra_testing::{Dice, World};

    /// What is said of a request for devices of class `d` with these selectors.
    fn told(world: World, selectors: &[&str]) -> Option<String> {
        let selectors: Vec<Value> = selectors
            .iter()
            .map(|expression| json!({"cel": {"expression": expression}}))
            .collect();
        let cluster = world
            .class("d")
            .with(Kind::Node, &json!({"metadata": {"name": "node-1"}}))
            .claim(
                "c",
                &json!({"devices": {"requests": [
                    {"name": "r", "exactly": {"deviceClassName": "d", "selectors": selectors}}]}}),
                &json!({}),
            )
            .build();
        let claim = cluster.claims().next().unwrap();
        let spec = claim.spec.devices.requests[0].exactly.as_ref().unwrap();
        let absence = absence(&cluster, &ClassSelectors::of(&cluster), spec)?;
        Some(words::absent(&absence))
    }

    fn device(name: &str, model: &str, memory: &str) -> Value {
        json!({"name": name, "attributes": {"model": {"string": model}}, "capacity": {"memory": {"value": memory}}})
    }

    fn two() -> World {
        World::default().slice(
            "node-1",
            &json!([device("a", "small", "16Gi"), device("b", "large", "24564Mi")]),
        )
    }

    #[test]
    fn what_some_device_has_is_not_said_to_be_lacking() {
        let memory = "device.capacity['d'].memory.compareTo(quantity('24Gi')) >= 0";
        let world = || {
            World::default().slice(
                "node-1",
                &json!([device("a", "small", "48Gi"), device("b", "large", "16Gi")]),
            )
        };
        for selectors in [
            vec!["device.attributes['d'].model == 'large'", memory],
            vec![memory, "device.attributes['d'].model == 'large'"],
        ] {
            let told = told(world(), &selectors).unwrap();
            assert!(
                told.starts_with("the request selects none of 2 devices of class d; for d/node-1/"),
                "{told}"
            );
        }
        let both = format!("device.attributes['d'].model == 'large' && {memory}");
        let told = told(world(), &[&both]).unwrap();
        assert!(
            !told.contains("the largest is") && !told.contains("published values"),
            "{told}"
        );
    }

    #[test]
    fn the_first_step_without_a_device_is_named_with_its_count() {
        let other = json!({"nodeName": "node-1", "driver": "other", "devices": [{"name": "x"}]});
        let elsewhere = |nodes: Value| {
            let mut slice = json!({"devices": [{"name": "a"}]});
            for (field, value) in nodes.as_object().unwrap() {
                slice[field] = value.clone();
            }
            World::default().slice_with("far", &slice)
        };
        let labelled = json!({"nodeSelector": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]}]}});
        for (world, selectors, expected) in [
            (
                World::default(),
                vec![],
                Some("no devices are published, of class d or any other"),
            ),
            (
                World::default().slice_with("node-1", &other),
                vec![],
                Some("the only published device is not of class d: driver d publishes none"),
            ),
            (
                two(),
                vec!["device.capacity['d'].memory.compareTo(quantity('24Gi')) >= 0"],
                Some(
                    "none of 2 devices of class d has 24Gi of memory: the largest is 24564Mi (d/node-1/b), 12Mi short",
                ),
            ),
            (
                World::default().slice("node-1", &json!([device("b", "large", "24Gi")])),
                vec!["device.capacity['d'].memory.compareTo(quantity('24Gi')) > 0"],
                Some(
                    "the request selects none of 1 device of class d; for d/node-1/b, this is not true: device.capacity['d'].memory.compareTo(quantity('24Gi')) \
                     > 0 (device.capacity[\"d\"].memory is quantity(\"24Gi\"))",
                ),
            ),
            (
                two(),
                vec!["device.attributes['d'].model == 'huge'"],
                Some("none of 2 devices of class d has model huge; published values: large and small"),
            ),
            // One device meets one of the terms, the other none.
            (
                two(),
                vec![
                    "device.attributes['d'].model.startsWith('la') && device.attributes['d'].model.endsWith('x')",
                ],
                Some(
                    "the request selects none of 2 devices of class d; for d/node-1/b, this is not true: device.attributes['d'].model.endsWith('x') \
                     (device.attributes[\"d\"].model is \"large\")",
                ),
            ),
            (
                elsewhere(json!({"nodeName": "node-2"})),
                vec![],
                Some(
                    "no node can access the only device of class d: pool d/far is for node/node-2, which does not exist",
                ),
            ),
            (
                elsewhere(labelled),
                vec![],
                Some(
                    "no node can access the only device of class d: pool d/far is for nodes with rack In [r1], and no node matches",
                ),
            ),
            (elsewhere(json!({"allNodes": true})), vec![], None),
            (two(), vec![], None),
            // What cannot be evaluated is not counted.
            (two(), vec!["device.attributes['d'].missing == 'x'"], None),
        ] {
            assert_eq!(told(world, &selectors).as_deref(), expected, "{selectors:?}");
        }
    }

    /// Whether one of the nodes of [`world`], which are in zones `a` and `b`, is among those of a slice or device.
    fn is_reached(all: bool, name: Option<&Str>, selector: Option<&NodeSelector>) -> bool {
        let zones = selector.iter().flat_map(|selector| &selector.node_selector_terms);
        let mut zones = zones
            .flat_map(|term| &term.match_expressions)
            .flat_map(|zone| &zone.values);
        all || name.is_some_and(|name| ["node-1", "node-2"].contains(&name.as_str()))
            || zones.any(|zone| ["a", "b"].contains(&zone.as_str()))
    }

    fn holds(dice: &mut Dice, met: &mut BTreeSet<&'static str>) -> Result<(), TestCaseError> {
        let least = dice.below(14) as i64;
        let cluster = world(dice).build();
        let (mut published, mut selected, mut reached) = (0, 0, 0);
        for pool in cluster.pools() {
            for (slice, device) in pool.devices() {
                let is_selected = device
                    .attributes
                    .iter()
                    .any(|(_, value)| matches!(value, AttributeValue::Int(id) if *id >= least));
                let spec = &slice.spec;
                let is_reached = if spec.per_device_node_selection {
                    is_reached(
                        device.all_nodes,
                        device.node_name.as_ref(),
                        device.node_selector.as_ref(),
                    )
                } else {
                    is_reached(
                        spec.all_nodes,
                        spec.node_name.as_ref(),
                        spec.node_selector.as_ref(),
                    )
                };
                published += 1;
                selected += usize::from(is_selected);
                reached += usize::from(is_selected && is_reached);
            }
        }
        let expression = format!("device.attributes['d'].id >= {least}");
        let request: DeviceRequest = serde_json::from_value(
            json!({"name": "r", "deviceClassName": "all", "selectors": [{"cel": {"expression": expression}}]}),
        )
        .unwrap();
        let (step, counted) = match absence(&cluster, &ClassSelectors::of(&cluster), &request) {
            None => ("reached", (published, selected)),
            Some(Absence::Unpublished(_)) => ("published", (0, 0)),
            Some(Absence::OtherClasses(_, published, _)) => ("of the class", (published, 0)),
            Some(Absence::Unselected { of_class, .. }) => ("selected", (of_class, 0)),
            Some(Absence::Unreached { selected, .. }) => ("reached by none", (published, selected)),
        };
        let first_zero = match (published, selected, reached) {
            (0, ..) => "published",
            (_, 0, _) => "selected",
            (_, _, 0) => "reached by none",
            _ => "reached",
        };
        prop_assert_eq!(
            (step, counted),
            (first_zero, (published, selected)),
            "{:#?}",
            cluster.slices().collect::<Vec<_>>()
        );
        met.insert(step);
        Ok(())
    }

    #[test]
    fn the_first_number_that_is_zero_is_the_one_that_was_counted() {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(by_effort(
            1_000, 5_000, 50_000,
        )));
        let met = std::cell::RefCell::default();
        runner
            .run(&prop::collection::vec(any::<u8>(), 0..400), |bytes| {
                holds(&mut Dice::of_bytes(bytes), &mut met.borrow_mut())
            })
            .unwrap_or_else(|error| panic!("{error}"));
        let all = ["published", "reached", "reached by none", "selected"];
        assert!(met.into_inner().into_iter().eq(all));
    }
}
