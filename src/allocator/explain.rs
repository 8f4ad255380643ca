//! Why a request does not get a device: for each device of the node the first thing that rules it out.
//!
//! The order of the checks is that of the search. What one device cannot show, because it takes several requests or devices
//! together (a constraint without a common value, too few devices), is the search's answer, not that of this module.

use crate::model::{DeviceId, DeviceRequest, Key, Node, PoolId, Str, Taint, lookup};

use super::candidates::Problem;
use super::constraint::Rule;
use super::request::AttributeSource;
use super::{Demand, Inputs, Stop};
use crate::devices::{
    Implementation, Lack, Need, Nodes, PoolStatus, SelectorError, is_tolerated, need, units,
};

/// What a node has for one request.
#[derive(Clone, Debug)]
pub struct RequestExplanation {
    /// Pools of the node that cannot be used, in their order.
    pub unusable_pools: Vec<(PoolId, PoolStatus)>,
    /// The request, or each of its subrequests.
    pub alternatives: Vec<AlternativeExplanation>,
}

/// What a node has for one request without alternatives, or for one subrequest.
#[derive(Clone, Debug)]
pub struct AlternativeExplanation {
    /// `request` or `request/subrequest`.
    pub name: Str,
    /// How many devices it takes; in mode All that many are selected.
    pub wanted: i64,
    /// Every device of the node's usable pools, in the order of the search.
    pub devices: Vec<(DeviceId, Fitness)>,
}

impl AlternativeExplanation {
    /// How many devices could be taken, each by itself.
    pub fn free(&self) -> usize {
        self.count(&Fitness::Free)
    }

    /// How many devices could be taken at most: those that could, and those of which it is unknown.
    pub fn most(&self) -> usize {
        self.free() + self.count(&Fitness::NotTried)
    }

    fn count(&self, wanted: &Fitness) -> usize {
        let is_so = |(_, fitness): &&(DeviceId, Fitness)| fitness == wanted;
        self.devices.iter().filter(is_so).count()
    }
}

/// Whether a device can be taken by itself, or what rules it out first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// Nothing rules the device out, as long as no other device is taken.
    Free,
    /// Claims hold it.
    InUse {
        /// Who holds it; none if the allocated state has it from elsewhere.
        claims: Vec<Key>,
    },
    /// The device wants binding conditions, whose gate is off.
    BindingConditionsOff,
    /// A selector of the class does not select it.
    ClassSelector {
        /// Its place in the class.
        place: usize,
        /// The expression.
        expression: Str,
    },
    /// A selector of the request does not select it.
    RequestSelector {
        /// Its place in the request.
        place: usize,
        /// The expression.
        expression: Str,
    },
    /// A selector fails on it. If the search gets there, this ends the attempt.
    SelectorError(String),
    /// An expression was not tried on it, since the command's work on expressions was used up: whether the device can be taken is
    /// unknown.
    NotTried,
    /// The device itself is not for this node.
    OtherNode,
    /// It does not have a capacity that the request names.
    NoSuchCapacity(Str),
    /// Its policy does not allow the amounts.
    CapacityPolicy,
    /// The amounts cannot be worked out. If the search gets there, this ends the attempt.
    CapacityError(String),
    /// Not enough is left of a capacity.
    CapacityExhausted {
        /// The capacity.
        name: Str,
        /// Claims that hold shares.
        claims: Vec<Key>,
    },
    /// It skips node operations, which the scheduler or the node's kubelet does not support.
    NodeOperations,
    /// It draws from shared counters, whose gate is off.
    PartitionableDevicesOff,
    /// Other devices of the pool leave too little of a counter.
    CounterExhausted {
        /// The counter set.
        set: Str,
        /// The counter.
        counter: Str,
    },
    /// Devices in use belong to other compatibility groups.
    Incompatible,
    /// The taint is not tolerated.
    Tainted(Taint),
    /// It lacks an attribute that a constraint compares.
    ConstraintAttribute {
        /// Fully qualified name.
        attribute: Str,
        /// Whether all values have to be the same rather than different.
        same: bool,
    },
}

impl Inputs {
    /// Says for each device of `node` what rules it out for a request of a claim of `demand`; nothing if there is no such request.
    ///
    /// # Errors
    /// What ends an attempt before any device is tried.
    pub fn explain(
        &self,
        node: &Node,
        demand: &Demand,
        claim: usize,
        request: usize,
    ) -> Result<Option<RequestExplanation>, Stop> {
        let mut problem = self.problem(node, demand)?;
        self.facts.selectors.meter().look(problem.devices.len());
        if demand
            .claims
            .get(claim)
            .and_then(|claim| claim.requests.get(request))
            .is_none()
        {
            return Ok(None);
        }
        let (first, count) = problem.alternatives_of(claim, request);
        let unusable_pools = problem
            .views
            .iter()
            .filter(|view| view.status != PoolStatus::Usable)
            .map(|view| (view.id.clone(), view.status.clone()))
            .collect();
        let alternatives = (first..first + count)
            .map(|number| AlternativeExplanation {
                name: problem.alternative(number).name.clone(),
                wanted: problem.counts[number as usize],
                devices: (0..problem.devices.len() as u32)
                    .map(|device| {
                        (
                            problem.device_id(device),
                            self.fitness(&mut problem, claim, number, device),
                        )
                    })
                    .collect(),
            })
            .collect();
        Ok(Some(RequestExplanation {
            unusable_pools,
            alternatives,
        }))
    }

    fn fitness(&self, problem: &mut Problem<'_>, claim: usize, number: u32, device: u32) -> Fitness {
        let alternative = problem.alternative(number);
        let demand = problem.demand;
        let spec = alternative.spec(&demand.claims[claim].claim);
        if !alternative.admin_access && problem.pool_device(device).dedicated {
            return Fitness::InUse {
                claims: self.holders(problem, device),
            };
        }
        unselected(problem, number, device)
            .or_else(|| self.lacks_capacity(problem, spec, device))
            .or_else(|| blocked(problem, device))
            .or_else(|| exhausts_counters(problem, device))
            .or_else(|| {
                let mut taints = problem.view(device).taints(problem.device(device));
                let taint = taints.find(|taint| !is_tolerated(&spec.tolerations, taint));
                taint.cloned().map(Fitness::Tainted)
            })
            .or_else(|| lacks_attribute(problem, claim, number, device))
            .unwrap_or(Fitness::Free)
    }

    fn holders(&self, problem: &Problem<'_>, device: u32) -> Vec<Key> {
        let device = problem.device_id(device);
        self.facts.takers(&device).map(|claim| claim.key()).collect()
    }

    fn lacks_capacity(&self, problem: &Problem<'_>, spec: &DeviceRequest, device: u32) -> Option<Fitness> {
        if !problem.features.consumable_capacity {
            return None;
        }
        let found = problem.device(device);
        let requested = spec
            .capacity
            .as_ref()
            .map_or(&[][..], |capacity| &capacity.requests);
        let unknown = requested
            .iter()
            .find(|(name, _)| lookup(&found.capacity, name).is_none());
        if let Some((name, _)) = unknown {
            return Some(Fitness::NoSuchCapacity(name.clone()));
        }
        let amounts = match need(spec, found, problem.features.fractional_capacity_range) {
            Err(error) => return Some(Fitness::CapacityError(error.0)),
            Ok(Need::Unsatisfiable) => return Some(Fitness::CapacityPolicy),
            Ok(Need::Amounts(amounts)) => amounts,
        };
        let taken = problem.pool_device(device).consumed();
        for (place, ((name, capacity), amount)) in found.capacity.iter().zip(&amounts).enumerate() {
            let taken = taken.get(place).copied().unwrap_or(0);
            if taken.saturating_add(units(amount)) > units(&capacity.value) {
                return Some(Fitness::CapacityExhausted {
                    name: name.clone(),
                    claims: self.holders(problem, device),
                });
            }
        }
        None
    }
}

fn unselected(problem: &Problem<'_>, number: u32, device: u32) -> Option<Fitness> {
    let alternative = problem.alternative(number);
    let found = problem.device(device);
    if problem.features.hides_binding_conditions(found) {
        return Some(Fitness::BindingConditionsOff);
    }
    let view = problem.view(device);
    let expressions = &problem.demand.expressions;
    for selector in &alternative.selectors {
        let (place, expression) = (selector.place, expressions.text(selector.expression).clone());
        let numbered = view.numbered(problem.pool_device(device));
        match expressions.matches(selector.expression, numbered) {
            Ok(true) => {}
            Ok(false) if selector.of_class => return Some(Fitness::ClassSelector { place, expression }),
            Ok(false) => return Some(Fitness::RequestSelector { place, expression }),
            Err(SelectorError::NotTried) => return Some(Fitness::NotTried),
            Err(SelectorError::Compile(why) | SelectorError::Runtime(why)) => {
                return Some(Fitness::SelectorError(why.to_string()));
            }
        }
    }
    let slice = problem.slice(device);
    if slice.spec.per_device_node_selection {
        match Nodes::of_device(slice, found).include(&problem.node.metadata) {
            Ok(true) => {}
            Ok(false) => return Some(Fitness::OtherNode),
            Err(why) => return Some(Fitness::SelectorError(why)),
        }
    }
    None
}

fn blocked(problem: &Problem<'_>, device: u32) -> Option<Fitness> {
    let skips = !problem.slice(device).spec.skip_node_operations.is_empty();
    if skips && problem.features.implementation() == Implementation::Experimental {
        let declared = &problem.node.status.declared_features;
        let supported = declared
            .iter()
            .any(|feature| *feature == "DRAOptionalNodeOperations");
        if !problem.features.optional_node_operations || !supported {
            return Some(Fitness::NodeOperations);
        }
    }
    if problem.features.hides_counters(problem.device(device)) {
        return Some(Fitness::PartitionableDevicesOff);
    }
    None
}

fn exhausts_counters(problem: &Problem<'_>, device: u32) -> Option<Fitness> {
    let view = problem.view(device);
    Some(match view.lacks(problem.devices[device as usize].device)? {
        Lack::Group => Fitness::Incompatible,
        Lack::Counter(counter) => {
            let (set, counter) = view.counters.names[counter as usize].clone();
            Fitness::CounterExhausted { set, counter }
        }
    })
}

fn lacks_attribute(problem: &mut Problem<'_>, claim: usize, number: u32, device: u32) -> Option<Fitness> {
    let constraints = &problem.demand.claims[claim].constraints;
    for (constraint, source) in constraints.iter().zip(&problem.alternative(number).constraints) {
        let Some(source) = source else { continue };
        match problem.attribute(*source, device) {
            Ok(Some(_)) => {}
            Ok(None) => {
                return Some(Fitness::ConstraintAttribute {
                    attribute: match &problem.demand.sources[*source as usize] {
                        AttributeSource::Published(name) | AttributeSource::Derived(name, _) => name.clone(),
                    },
                    same: constraint.rule == Rule::Match,
                });
            }
            Err(Stop::Error(why)) => return Some(Fitness::SelectorError(why)),
            Err(Stop::NotTried) => return Some(Fitness::NotTried),
        }
    }
    None
}
