//! Devices of one node beside the requests of a demand: which device is a candidate for which request.
//!
//! What does not change while a solution is searched for is worked out here, once for each request and device, and only when the
//! search asks: an error of a selector counts only where the search reaches the device.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{Device, DeviceId, Node, Quantity, Slice, Toleration};

use super::Stop;
use super::constraint::{Values, attribute_of};
use super::request::{Alternative, Amount, AttributeSource, ClaimDemand, Demand, shown};
use crate::devices::{
    Features, Implementation, LOOKS_PER_OBJECT, Need, Nodes, PoolDevice, PoolStatus, PoolView, SelectorError,
    Usage, is_tolerated, need, takes_all, units,
};

/// What is fixed about a device for an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A selector, the node or the amounts the device has rule it out.
    Unselected,
    /// Selected, but a taint or a missing feature keeps it from being allocated.
    Blocked,
    /// Mode All only: selected, but what allocated claims take of it leaves too little. Noticed after constraints.
    Exhausted,
    /// Can be allocated unless something in the course of the search forbids it.
    Candidate,
}

/// What is known of something that an expression decides. What was not tried stays so, even where another thread that shares the
/// expression finds its answer later: the search takes what it asks for a second time to be the same.
#[derive(Clone, Copy, Debug)]
enum Known<T> {
    NotYet,
    NotTried,
    Is(T),
}

impl<T: Copy> Known<T> {
    /// What is kept of an answer. An error ends the attempt, so it needs no place.
    fn of(answer: &Result<T, Stop>) -> Self {
        match answer {
            Ok(value) => Self::Is(*value),
            Err(Stop::NotTried) => Self::NotTried,
            Err(Stop::Error(_)) => Self::NotYet,
        }
    }
}

/// What a share of a device takes of its capacities, in their order.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) amounts: Vec<Quantity>,
    /// The amounts in the units of the search.
    units: Box<[i128]>,
}

/// A device by its view and its place there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) view: u32,
    pub(super) device: u32,
}

/// A problem to search: one node, its usable devices in the order of the search, and the alternatives of all requests.
pub(super) struct Problem<'a> {
    pub(super) demand: &'a Demand,
    pub(super) features: Features,
    pub(super) node: &'a Node,
    pub(super) views: Vec<Arc<PoolView>>,
    pub(super) devices: Vec<Place>,
    pub(super) alternatives: &'a [Alternative],
    /// How many devices each alternative takes.
    pub(super) counts: Cow<'a, [i64]>,
    /// In mode All, the devices; empty if no alternative is.
    pub(super) all: Vec<Box<[u32]>>,
    verdicts: Vec<Known<Verdict>>,
    /// What candidates that allow several allocations have to give, by alternative and device; empty until there is one.
    shares: Vec<Option<Share>>,
    pub(super) values: Values,
    /// The number of the value, by source and device; none where no constraint can be met with it.
    attributes: Vec<Known<Option<u32>>>,
}

/// Requests and attributes of constraints, times devices of a node: what is found out of a device for one of them is kept. A claim
/// that the API server accepts has some 300 of them at most.
const MOST_ANSWERS: usize = 40_000_000;

/// Upper bound of devices in one claim's allocation. Mirrors `resource/types.go`, `AllocationResultsMaxSize`, v1.37.1.
pub(super) const MAX_RESULTS: i64 = 32;

impl<'a> Problem<'a> {
    /// Checks the demand against the pools of the node and counts what it takes.
    ///
    /// # Errors
    /// What ends the attempt before the search.
    pub(super) fn new(
        demand: &'a Demand,
        features: Features,
        node: &'a Node,
        views: Vec<Arc<PoolView>>,
    ) -> Result<Self, Stop> {
        if let Some(error) = &demand.error {
            return Err(error.clone().into());
        }
        let mut devices = Vec::with_capacity(views.iter().map(|view| view.devices.len()).sum());
        for (place, view) in (0..).zip(&views) {
            devices.extend((0..view.devices.len() as u32).map(|device| Place { view: place, device }));
        }
        let columns = demand.alternatives.len() + demand.sources.len();
        if demand.is_too_large || columns.saturating_mul(devices.len()) > MOST_ANSWERS {
            return Err(Stop::NotTried);
        }
        let verdicts = vec![Known::NotYet; demand.alternatives.len() * devices.len()];
        let attributes = vec![Known::NotYet; demand.sources.len() * devices.len()];
        let mut problem = Self {
            demand,
            features,
            node,
            views,
            devices,
            alternatives: &demand.alternatives,
            counts: Cow::Borrowed(&demand.counts),
            all: Vec::new(),
            verdicts,
            shares: Vec::new(),
            values: Values::new(features.list_type_attributes),
            attributes,
        };
        if demand.takes_all {
            problem.all = vec![Box::default(); demand.alternatives.len()];
            demand.check(|number, alternative| problem.count(number, alternative))?;
        }
        Ok(problem)
    }

    /// How many devices the alternative takes.
    fn count(&mut self, number: u32, alternative: &Alternative) -> Result<i64, Stop> {
        let place = number as usize;
        if alternative.amount == Amount::All {
            let all = self.all_devices(number)?;
            self.counts.to_mut()[place] = all.len() as i64;
            self.all[place] = all.into();
        }
        Ok(self.counts[place])
    }

    fn all_devices(&mut self, alternative: u32) -> Result<Vec<u32>, Stop> {
        let mut all = Vec::new();
        let mut next = 0;
        for view in self.views.clone() {
            let state = match &view.status {
                PoolStatus::Usable => {
                    for device in next..next + view.devices.len() as u32 {
                        if self.verdict(alternative, device)? != Verdict::Unselected {
                            all.push(device);
                        }
                    }
                    next += view.devices.len() as u32;
                    continue;
                }
                PoolStatus::Incomplete => "being updated",
                PoolStatus::Invalid(_) => "invalid",
            };
            let error = format!(
                "{}: asks for all devices, but resource pool {} is currently {state}",
                self.shown_request(alternative),
                view.id
            );
            return Err(error.into());
        }
        Ok(all)
    }

    /// The first of the alternatives of a request, and their number.
    pub(super) fn alternatives_of(&self, claim: usize, request: usize) -> (u32, u32) {
        let Range { start, end } = self.demand.claims[claim].requests[request].alternatives;
        (start, end - start)
    }

    #[inline]
    pub(super) fn alternative(&self, number: u32) -> &'a Alternative {
        &self.alternatives[number as usize]
    }

    fn claim_of(&self, alternative: u32) -> &'a ClaimDemand {
        &self.demand.claims[self.alternatives[alternative as usize].claim as usize]
    }

    #[inline]
    pub(super) fn view(&self, device: u32) -> &Arc<PoolView> {
        &self.views[self.devices[device as usize].view as usize]
    }

    #[inline]
    pub(super) fn pool_device(&self, device: u32) -> &PoolDevice {
        &self.view(device).devices[self.devices[device as usize].device as usize]
    }

    #[inline]
    pub(super) fn device(&self, device: u32) -> &Device {
        self.view(device).device(self.pool_device(device))
    }

    #[inline]
    pub(super) fn slice(&self, device: u32) -> &Slice {
        self.view(device).slice(self.pool_device(device))
    }

    /// What the device takes of the counters of its pool, if it draws from any.
    #[inline]
    pub(super) fn usage(&self, device: u32) -> Option<Usage<'_>> {
        self.view(device)
            .counters
            .usage(self.devices[device as usize].device)
    }

    pub(super) fn device_id(&self, device: u32) -> DeviceId {
        let id = &self.view(device).id;
        DeviceId {
            driver: id.driver.clone(),
            pool: id.pool.clone(),
            device: self.device(device).name.clone(),
        }
    }

    /// `claim namespace/name, request name`, as errors begin.
    pub(super) fn shown_request(&self, alternative: u32) -> String {
        format!(
            "claim {}, request {}",
            shown(&self.claim_of(alternative).claim.key()),
            self.alternative(alternative).own_name()
        )
    }

    /// What is fixed about `device` for `alternative`.
    ///
    /// # Errors
    /// What ends the attempt.
    #[inline]
    pub(super) fn verdict(&mut self, alternative: u32, device: u32) -> Result<Verdict, Stop> {
        let place = self.place(alternative, device);
        match self.verdicts[place] {
            Known::Is(verdict) => return Ok(verdict),
            Known::NotTried => return Err(Stop::NotTried),
            Known::NotYet => {}
        }
        let verdict = self.judge(alternative, device);
        self.verdicts[place] = Known::of(&verdict);
        verdict
    }

    fn judge(&mut self, number: u32, device: u32) -> Result<Verdict, Stop> {
        let alternative = self.alternative(number);
        let spec = alternative.spec(&self.claim_of(number).claim);
        if !self.is_selected(number, device)? {
            return Ok(Verdict::Unselected);
        }
        let mut exhausted = false;
        let found = self.device(device);
        let pool_device = self.pool_device(device);
        let takes_all = !pool_device.multiple && pool_device.consumed().is_empty() && takes_all(spec, found);
        if self.features.consumable_capacity && !takes_all {
            let amounts = need(spec, found, self.features.fractional_capacity_range).map_err(|error| {
                let device: &dyn std::fmt::Display = match alternative.amount {
                    Amount::All => &found.name,
                    Amount::Exactly(_) => &self.device_id(device),
                };
                format!(
                    "{}: checking capacity for device {device}: {}",
                    self.shown_request(number),
                    error.0
                )
            })?;
            let Need::Amounts(amounts) = amounts else {
                return Ok(Verdict::Unselected);
            };
            let share = Share {
                units: amounts.iter().map(units).collect(),
                amounts,
            };
            let values = found.capacity.iter().map(|(_, capacity)| units(&capacity.value));
            let taken = |place: usize| pool_device.consumed().get(place).copied().unwrap_or(0);
            let mut fits_when_free = true;
            for (place, (amount, value)) in share.units.iter().zip(values).enumerate() {
                fits_when_free &= *amount <= value;
                exhausted |= amount.saturating_add(taken(place)) > value;
            }
            match alternative.amount {
                Amount::All if !fits_when_free => return Ok(Verdict::Unselected),
                Amount::Exactly(_) if exhausted => return Ok(Verdict::Unselected),
                _ => {}
            }
            if pool_device.multiple {
                let place = self.place(number, device);
                if self.shares.is_empty() {
                    self.shares.resize_with(self.verdicts.len(), || None);
                }
                self.shares[place] = Some(share);
            }
        }
        Ok(if self.is_blocked(&spec.tolerations, device) {
            Verdict::Blocked
        } else if exhausted {
            Verdict::Exhausted
        } else {
            Verdict::Candidate
        })
    }

    /// Mirrors `allocator_incubating.go`, `isSelectable`, v1.37.1.
    fn is_selected(&self, number: u32, device: u32) -> Result<bool, Stop> {
        let found = self.device(device);
        if self.features.hides_binding_conditions(found) {
            return Ok(false);
        }
        let alternative = self.alternative(number);
        let view = self.view(device);
        let numbered = view.numbered(self.pool_device(device));
        for selector in &alternative.selectors {
            let matches = self
                .demand
                .expressions
                .matches(selector.expression, numbered)
                .map_err(|error| {
                    let of = match &alternative.class {
                        Some(class) if selector.of_class => format!("class {}", class.metadata.name),
                        _ => format!("claim {}", shown(&self.claim_of(number).claim.key())),
                    };
                    let place = selector.place;
                    match error {
                        SelectorError::NotTried => Stop::NotTried,
                        SelectorError::Compile(why) => {
                            Stop::Error(format!("{of}: selector #{place}: CEL compile error: {why}"))
                        }
                        SelectorError::Runtime(why) => Stop::Error(format!(
                            "{of}: selector #{place} on device {}: CEL runtime error: {why}{}",
                            self.device_id(device),
                            advice(&why)
                        )),
                    }
                })?;
            if !matches {
                return Ok(false);
            }
        }
        let slice = self.slice(device);
        if slice.spec.per_device_node_selection {
            let nodes = Nodes::of_device(slice, found);
            self.demand.expressions.meter().look(nodes.looks());
            return Ok(nodes.include(&self.node.metadata)?);
        }
        Ok(true)
    }

    fn is_blocked(&self, tolerations: &[Toleration], device: u32) -> bool {
        let experimental = self.features.implementation() == Implementation::Experimental;
        if experimental && !self.slice(device).spec.skip_node_operations.is_empty() {
            let declared = &self.node.status.declared_features;
            let supported = declared
                .iter()
                .any(|feature| *feature == "DRAOptionalNodeOperations");
            if !self.features.optional_node_operations || !supported {
                return true;
            }
        }
        let found = self.device(device);
        if self.features.hides_counters(found) {
            return true;
        }
        let mut taints = 0;
        let is_blocked = self.view(device).taints(found).any(|taint| {
            taints += 1;
            !is_tolerated(tolerations, taint)
        });
        if taints > 0 {
            let compared = taints * (1 + tolerations.len());
            self.demand.expressions.meter().look(compared / LOOKS_PER_OBJECT);
        }
        is_blocked
    }

    /// What a share of the device takes of its capacities, in their order, for a candidate that allows several allocations.
    pub(super) fn share(&self, alternative: u32, device: u32) -> Option<&Share> {
        self.shares.get(self.place(alternative, device))?.as_ref()
    }

    /// The same in the units of the search; nothing for other devices.
    #[inline]
    pub(super) fn share_units(&self, alternative: u32, device: u32) -> &[i128] {
        self.share(alternative, device).map_or(&[], |share| &share.units)
    }

    fn place(&self, alternative: u32, device: u32) -> usize {
        alternative as usize * self.devices.len() + device as usize
    }

    /// The number of the device's value of an attribute; none where no constraint can be met with the device.
    ///
    /// # Errors
    /// What ends the attempt, be it an error of a derived attribute.
    pub(super) fn attribute(&mut self, source: u32, device: u32) -> Result<Option<u32>, Stop> {
        let place = source as usize * self.devices.len() + device as usize;
        match self.attributes[place] {
            Known::Is(value) => return Ok(value),
            Known::NotTried => return Err(Stop::NotTried),
            Known::NotYet => {}
        }
        let value = self.value_of(source, device);
        self.attributes[place] = Known::of(&value);
        value
    }

    fn value_of(&mut self, source: u32, device: u32) -> Result<Option<u32>, Stop> {
        let view = Arc::clone(self.view(device));
        let pool_device = &view.devices[self.devices[device as usize].device as usize];
        Ok(match &self.demand.sources[source as usize] {
            AttributeSource::Published(name) => attribute_of(view.device(pool_device), &view.id.driver, name)
                .and_then(|value| self.values.number(value)),
            AttributeSource::Derived(name, expression) => {
                let value = self
                    .demand
                    .expressions
                    .derive(*expression, view.numbered(pool_device))
                    .map_err(|error| match error {
                        SelectorError::NotTried => Stop::NotTried,
                        SelectorError::Compile(why) => {
                            Stop::Error(format!("compile derived attribute {name} failed: {why}"))
                        }
                        SelectorError::Runtime(why) => Stop::Error(format!(
                            "evaluate derived attribute {name} on device {} failed: {why}",
                            self.device_id(device)
                        )),
                    })?;
                self.values.number(&value)
            }
        })
    }
}

/// What upstream adds to errors about missing keys. Mirrors `cel/errors.go`, `EnhanceRuntimeError`.
fn advice(error: &str) -> &'static str {
    if error.contains("no such key:") {
        ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
    } else {
        ""
    }
}
