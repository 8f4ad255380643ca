//! The allocation that a solution makes: devices, configuration, node selector.
//!
//! Mirrors the second part of `allocator_incubating.go`, `Allocate`, and `createNodeSelector`, v1.37.2.

use typed_index_collections::TiSlice;

use dra_model::{
    AllocatedConfig, AllocatedDevice, Allocation, Claim, DeviceAllocation, NodeRequirement, NodeSelector,
    NodeSelectorTerm, Str, Tolerations,
};

use super::candidates::Problem;
use super::index::{ClaimIx, DeviceIx};
use super::request::RequestDemand;
use super::search::Pick;
use crate::devices::Implementation;

/// The allocations of all claims of the problem, whose picks are given claim by claim.
///
/// # Errors
/// The text of an error that ends the attempt.
pub(super) fn allocations(
    problem: &Problem<'_>,
    picks: &TiSlice<ClaimIx, Vec<Pick>>,
) -> Result<Vec<Allocation>, String> {
    let mut shares = 0;
    picks
        .iter_enumerated()
        .map(|(claim, picks)| allocation(problem, claim, picks, &mut shares))
        .collect()
}

fn allocation(
    problem: &Problem<'_>,
    place: ClaimIx,
    picks: &[Pick],
    shares: &mut u32,
) -> Result<Allocation, String> {
    let claim = &problem.demand.claims[place].claim;
    let results = picks
        .iter()
        .map(|pick| result(problem, claim, *pick, shares))
        .collect();
    let node_selector = node_selector(problem, picks)
        .map_err(|why| format!("create NodeSelector for claim {}: {why}", claim.metadata.name))?;
    Ok(Allocation {
        devices: DeviceAllocation {
            results,
            config: config(problem, place, picks),
        },
        node_selector: node_selector.map(Into::into),
        allocation_timestamp: None,
        reserved_for_any_pod: false,
    })
}

fn result(problem: &Problem<'_>, claim: &Claim, pick: Pick, shares: &mut u32) -> AllocatedDevice {
    let alternative = problem.alternative(pick.alternative);
    let spec = alternative.spec(claim);
    let device = problem.device(pick.device);
    let id = problem.device_id(pick.device);
    let mut result = AllocatedDevice {
        request: alternative.name.clone(),
        driver: id.driver,
        pool: id.pool,
        device: id.device,
        admin_access: alternative.admin_access,
        tolerations: if problem.features.release.omits_tolerations {
            Tolerations::default()
        } else {
            spec.tolerations.clone()
        },
        ..AllocatedDevice::default()
    };
    if problem.features.device_binding_and_status {
        result.binding_conditions.clone_from(&device.binding_conditions);
        result
            .binding_failure_conditions
            .clone_from(&device.binding_failure_conditions);
    }
    if problem.features.implementation() == Implementation::Experimental {
        let operations = &problem.slice(pick.device).spec.skip_node_operations;
        result.skip_node_operations.clone_from(operations);
    }
    if problem.pool_device(pick.device).multiple {
        *shares += 1;
        // Upstream draws a random one. It only has to differ from those beside it.
        result.share_id = Some(format!("00000000-0000-4000-8000-{shares:012}").into());
        if let Some(share) = problem.share(pick.alternative, pick.device) {
            let names = device.capacity.iter().map(|(name, _)| name.clone());
            result.consumed_capacity = names.zip(share.amounts.iter().cloned()).collect();
        }
    }
    result
}

/// Configuration of the classes of the chosen alternatives, each class once, then of the claim.
fn config(problem: &Problem<'_>, place: ClaimIx, picks: &[Pick]) -> Vec<AllocatedConfig> {
    let demand = &problem.demand.claims[place];
    let of_class = |requested: &RequestDemand| {
        requested.alternatives().any(|number| {
            let class = problem.alternative(number).class.as_ref();
            class.is_some_and(|class| !class.spec.config.is_empty())
        })
    };
    if demand.claim.spec.devices.config.is_empty() && !demand.requests.iter().any(of_class) {
        return Vec::new();
    }
    // The alternative chosen for each request. One that takes no device leaves no pick: it is the first then, as upstream's
    // zero value.
    let chosen: Vec<_> = (0..)
        .zip(&demand.requests)
        .map(|(request, requested)| {
            let pick = picks
                .iter()
                .find(|pick| problem.alternatives[pick.alternative].request == request);
            match pick {
                Some(pick) => problem.alternative(pick.alternative),
                None => problem.alternative(requested.first),
            }
        })
        .collect();

    let mut config: Vec<AllocatedConfig> = Vec::new();
    let mut of_class: Vec<(&Str, std::ops::Range<usize>)> = Vec::new();
    for alternative in &chosen {
        let Some(class) = alternative
            .class
            .as_ref()
            .filter(|class| !class.spec.config.is_empty())
        else {
            continue;
        };
        let name = &class.metadata.name;
        if let Some((_, range)) = of_class.iter().find(|(known, _)| *known == name) {
            for entry in &mut config[range.clone()] {
                entry.requests.push(alternative.name.clone());
            }
            continue;
        }
        let start = config.len();
        config.extend(class.spec.config.iter().map(|entry| AllocatedConfig {
            source: "FromClass".into(),
            requests: vec![alternative.name.clone()],
            opaque: entry.opaque.clone(),
        }));
        of_class.push((name, start..config.len()));
    }
    let named = |requests: &[Str]| {
        (0..demand.requests.len())
            .filter(|at| {
                requests.contains(&demand.requests[*at].name) || requests.contains(&chosen[*at].name)
            })
            .count()
    };
    let release = &problem.features.release;
    for entry in &demand.claim.spec.devices.config {
        let times = match named(&entry.requests) {
            _ if entry.requests.is_empty() => 1,
            named if release.repeats_configs => named,
            named => named.min(1),
        };
        config.extend((0..times).map(|_| AllocatedConfig {
            source: "FromClaim".into(),
            requests: entry.requests.clone(),
            opaque: entry.opaque.clone(),
        }));
    }
    if release.keeps_covering_requests {
        return config;
    }
    // What applies to all requests names none.
    for entry in &mut config {
        if named(&entry.requests) == demand.requests.len() {
            entry.requests.clear();
        }
    }
    config
}

/// The terms of the selector that restricts an allocation of the device to nodes; nothing where the device is of one node.
fn terms<'a>(problem: &'a Problem<'_>, device: DeviceIx) -> Option<&'a [NodeSelectorTerm]> {
    let found = problem.device(device);
    let spec = &problem.slice(device).spec;
    let (name, selector) = if spec.per_device_node_selection {
        (&found.node_name, &found.node_selector)
    } else {
        (&spec.node_name, &spec.node_selector)
    };
    if name.is_some() || (found.binds_to_node && problem.features.knows_shares_and_binding()) {
        return None;
    }
    let terms = selector
        .as_ref()
        .map(|selector| selector.node_selector_terms.as_slice());
    Some(terms.unwrap_or_default())
}

fn unsupported(terms: &[NodeSelectorTerm]) -> String {
    format!(
        "unsupported ResourceSlice.NodeSelector with {} terms",
        terms.len()
    )
}

/// Returns why no allocation that has the device can say where it is, unless one of a single node comes before it.
pub(super) fn unsupported_selector(problem: &Problem<'_>, device: DeviceIx) -> Option<String> {
    let terms = terms(problem, device)?;
    (terms.len() > 1).then(|| unsupported(terms))
}

fn node_selector(problem: &Problem<'_>, picks: &[Pick]) -> Result<Option<NodeSelector>, String> {
    let mut term = NodeSelectorTerm::default();
    for pick in picks {
        match terms(problem, pick.device) {
            None => return Ok(Some(NodeSelector::of_node(&problem.node.metadata.name))),
            Some([]) => {}
            Some([added]) => {
                add_requirements(&mut term.match_fields, &added.match_fields);
                add_requirements(&mut term.match_expressions, &added.match_expressions);
            }
            Some(terms) => return Err(unsupported(terms)),
        }
    }
    let restricts = !term.match_fields.is_empty() || !term.match_expressions.is_empty();
    Ok(restricts.then(|| NodeSelector {
        node_selector_terms: vec![term],
    }))
}

fn add_requirements(to: &mut Vec<NodeRequirement>, from: &[NodeRequirement]) {
    for requirement in from {
        let same_values = |a: &[Str], b: &[Str]| {
            a.iter().all(|value| b.contains(value)) && b.iter().all(|value| a.contains(value))
        };
        let known = to.iter().any(|known| {
            known.key == requirement.key
                && known.operator == requirement.operator
                && same_values(&known.values, &requirement.values)
        });
        if !known {
            to.push(requirement.clone());
        }
    }
}
