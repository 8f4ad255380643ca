//! Devices of one node beside the requests of a demand: the candidates of each request.
//!
//! Facts that do not change during the search are computed here, once for each request and device, and only when the
//! search asks: an error of a selector counts only where the search reaches the device.

use std::borrow::Cow;
use std::sync::Arc;

use typed_index_collections::{TiSlice, TiVec};

use dra_model::{Device, DeviceId, Node, Quantity, Slice, Str, TOO_MUCH_WORK, Tolerations};

use super::Stop;
use super::constraint::{Rule, Values, attribute_of};
use super::error::{AttemptError, ErrorSubject, Failure, Shown};
use super::index::{AlternativeIx, DeviceIx, SourceIx, ValueIx, ViewIx, stretch};
use super::request::{Alternative, Amount, AttributeSource, ClaimDemand, Demand, RequestDemand, SelectorUse};
use crate::devices::{
    Features, InView, LOOKS_PER_OBJECT, Need, Nodes, PoolDevice, PoolStatus, PoolView, RuledOut,
    SelectorError, Usage, first_unmatched, need, not_allocatable, not_selectable, takes_all, units,
};

/// Reason that excludes a device from an alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// A check rules it out, and the search continues with the next device.
    RuledOut(RuledOut),
    /// The attempt ends where the search meets the device. Boxed, as the search hands on an answer for each device that it tries.
    Trouble(Box<Trouble>),
}

impl From<RuledOut> for Unfit {
    fn from(ruled_out: RuledOut) -> Self {
        Self::RuledOut(ruled_out)
    }
}

impl From<Trouble> for Unfit {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(Box::new(trouble))
    }
}

/// Error that ends the attempt when the search meets it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Trouble {
    /// An expression was not tried, since the command's work on expressions was used up.
    #[error("{}", TOO_MUCH_WORK)]
    NotTried,
    /// The alternative's selector at that place does not compile.
    #[error("{1}")]
    SelectorCompile(usize, Str),
    /// The alternative's selector at that place fails on the device.
    #[error("{1}")]
    SelectorRuntime(usize, Str),
    /// The node selector of the device cannot be evaluated.
    #[error("{0}")]
    NodeSelector(String),
    /// The consumption of the device cannot be computed.
    #[error("{0}")]
    Capacity(String),
    /// The derived attribute of that name does not compile.
    #[error("{1}")]
    AttributeCompile(Str, Str),
    /// The derived attribute of that name fails on the device.
    #[error("{1}")]
    AttributeRuntime(Str, Str),
}

impl Trouble {
    /// The code that reports show.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Capacity(_) => "CapacityError",
            Self::NotTried
            | Self::SelectorCompile(..)
            | Self::SelectorRuntime(..)
            | Self::NodeSelector(_)
            | Self::AttributeCompile(..)
            | Self::AttributeRuntime(..) => "SelectorError",
        }
    }
}

/// Known result of an expression. Untried results stay unknown, even if another thread that shares the
/// expression finds its answer later: the search takes what it asks for a second time to be the same.
#[derive(Clone, Copy, Debug)]
enum Known<T> {
    NotYet,
    NotTried,
    Is(T),
}

/// Consumption of a device's capacities by a share, in their order.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) amounts: Vec<Quantity>,
    /// The amounts in the units of the search.
    units: Box<[i128]>,
}

/// A device by its view and its place there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) view: ViewIx,
    pub(super) device: InView,
}

/// A problem to search: one node, its usable devices in the order of the search, and the alternatives of all requests.
pub(super) struct Problem<'a> {
    pub(super) demand: &'a Demand,
    pub(super) features: Features,
    pub(super) node: &'a Node,
    pub(super) views: TiVec<ViewIx, Arc<PoolView>>,
    pub(super) devices: TiVec<DeviceIx, Place>,
    pub(super) alternatives: &'a TiSlice<AlternativeIx, Alternative>,
    /// Number of devices per alternative.
    pub(super) counts: Cow<'a, TiSlice<AlternativeIx, i64>>,
    /// In mode All, the devices; empty if no alternative is.
    pub(super) all: TiVec<AlternativeIx, Box<[DeviceIx]>>,
    /// Fixed verdicts about a device for an alternative, independent of other allocations.
    verdicts: Vec<Known<Result<(), RuledOut>>>,
    /// Consumption of candidates that allow multiple allocations, by alternative and device; empty until there is one.
    shares: Vec<Option<Share>>,
    pub(super) values: Values,
    /// The number of the value, by source and device; none where no constraint can be met with it.
    attributes: Vec<Known<Option<ValueIx>>>,
    /// With what a search for single devices ends where it has tried those before `invalid_at`.
    pub(super) invalid_pool: Option<String>,
    /// The first device of the pools that are sure to come after the invalid one: those with binding conditions, if it has none.
    pub(super) invalid_at: DeviceIx,
    /// What would end the attempt only rules a device out. To find out whether there is a solution beside.
    pub(super) forgives: bool,
    /// Each order of the devices of a request is a way of its own, as releases have it that start over. It changes the work, not the
    /// answer.
    pub(super) permutes: bool,
    /// Work done and allowed so far.
    pub(super) work: Work,
}

/// Work of searches: evaluated devices and comparisons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    done: u64,
    most: u64,
}

impl Work {
    /// Of a search that may look at so much.
    pub(super) fn new(most: u64) -> Self {
        Self { done: 0, most }
    }

    /// Looks at so much more; whether that may still be done.
    #[inline]
    pub(super) fn take(&mut self, looks: u64) -> bool {
        self.done = self.done.saturating_add(looks);
        self.done <= self.most
    }

    /// Returns how much was looked at.
    pub(super) fn done(&self) -> u64 {
        self.done
    }
}

/// Requests and attributes of constraints, times devices of a node: what is found out of a device for one of them is kept. A claim
/// that the API server accepts has some 300 of them at most.
const MOST_ANSWERS: usize = 40_000_000;

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
        let views = TiVec::from(views);
        let mut devices = TiVec::with_capacity(views.iter().map(|view| view.devices.len()).sum());
        for (place, view) in views.iter_enumerated() {
            let places = view.devices.keys();
            devices.extend(places.map(|device| Place { view: place, device }));
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
            all: TiVec::new(),
            verdicts,
            shares: Vec::new(),
            values: Values::new(features.list_type_attributes),
            attributes,
            invalid_pool: None,
            invalid_at: DeviceIx(u32::MAX),
            forgives: false,
            permutes: false,
            work: Work::new(demand.meter.left_to_search()),
        };
        problem.work.take((columns * problem.devices.len()) as u64);
        if features.release.pool_is_of_node {
            let mut views = problem.views.iter();
            let invalid = views.find_map(|view| match &view.status {
                PoolStatus::Invalid(why) => Some((view, why)),
                PoolStatus::Usable | PoolStatus::Incomplete => None,
            });
            if let Some((invalid, why)) = invalid {
                problem.invalid_pool = Some(format!("pool {} is invalid: {why}", invalid.id.pool));
                let is_later = |device: &DeviceIx| {
                    problem.view(*device).has_binding_conditions && !invalid.has_binding_conditions
                };
                let later = problem.devices.keys().find(is_later);
                problem.invalid_at = later.unwrap_or_else(|| problem.devices.next_key());
            }
        }
        if demand.takes_all {
            problem.all = vec![Box::default(); demand.alternatives.len()].into();
            demand.check(|number, alternative| problem.count(number, alternative))?;
        }
        Ok(problem)
    }

    /// Returns how many devices the alternative takes.
    fn count(&mut self, number: AlternativeIx, alternative: &Alternative) -> Result<i64, Stop> {
        if alternative.amount == Amount::All {
            let all = self.all_devices(number)?;
            self.counts.to_mut()[number] = all.len() as i64;
            self.all[number] = all.into();
        }
        Ok(self.counts[number])
    }

    fn all_devices(&mut self, alternative: AlternativeIx) -> Result<Vec<DeviceIx>, Stop> {
        let mut all = Vec::new();
        let mut next = DeviceIx(0);
        for view in self.views.clone() {
            let state = match &view.status {
                PoolStatus::Usable => {
                    for device in stretch(next, view.devices.len()) {
                        match self.verdict(alternative, device) {
                            Err(Unfit::RuledOut(why)) if !self.is_among_all(why) => {}
                            Ok(()) | Err(Unfit::RuledOut(_)) => all.push(device),
                            Err(Unfit::Trouble(trouble)) => {
                                return Err(self.stop(alternative, device, *trouble));
                            }
                        }
                    }
                    next = DeviceIx::from(usize::from(next) + view.devices.len());
                    continue;
                }
                PoolStatus::Incomplete => "being updated",
                // Where a pool that misses slices is checked for contradictions, too, what is missing comes first.
                PoolStatus::Invalid(_) if view.misses_slices => "being updated",
                PoolStatus::Invalid(_) => "invalid",
            };
            let what = format!(
                "asks for all devices, but resource pool {} is currently {state}",
                view.id
            );
            let error = self.error_of_request(alternative, String::new());
            return Err(AttemptError {
                failure: Failure::Pool(Box::new((view.id.clone(), what.into()))),
                ..error
            }
            .into());
        }
        Ok(all)
    }

    /// Alternative for the next device of a request, and the first device to try, after `device` was picked for
    /// `alternative`.
    #[inline]
    pub(super) fn after(&self, alternative: AlternativeIx, device: DeviceIx) -> (AlternativeIx, DeviceIx) {
        let next = DeviceIx(device.0 + 1);
        let release = &self.features.release;
        if release.loses_subrequest_in_all && self.alternatives[alternative].is_later_all() {
            return (self.request_of(alternative).first, DeviceIx(0));
        }
        // What a constraint refused may fit once another device is the last one.
        let may_fit_now = || release.starts_over_in_request && self.compares_last(alternative);
        if self.permutes || may_fit_now() {
            return (alternative, DeviceIx(0));
        }
        // Others are in use by then, and what comes before was tried.
        if release.starts_over_in_request && self.pool_device(device).multiple {
            return (alternative, device);
        }
        (alternative, next)
    }

    /// Returns whether the search has to go every way, since its state is not what its picks make it, or devices that look alike are not.
    pub(super) fn needs_plain_search(&self) -> bool {
        let release = &self.features.release;
        let compares_last = || {
            let mut alternatives = self.alternatives.keys();
            alternatives.any(|alternative| self.compares_last(alternative))
        };
        let takes_again = || {
            let mut devices = self.devices.keys();
            release.starts_over_in_request && devices.any(|device| self.pool_device(device).multiple)
        };
        self.invalid_pool.is_some()
            || self.demand.frees_capacity
            || (release.loses_subrequest_in_all && self.alternatives.iter().any(Alternative::is_later_all))
            || compares_last()
            || takes_again()
    }

    /// Returns whether a constraint of the claim compares devices with the last one of each request only.
    fn compares_last(&self, alternative: AlternativeIx) -> bool {
        let mut constraints = self.claim_of(alternative).constraints.iter();
        constraints.any(|constraint| constraint.rule == Rule::DistinctFromLast)
    }

    #[inline]
    pub(super) fn request_of(&self, alternative: AlternativeIx) -> &'a RequestDemand {
        let requests = &self.claim_of(alternative).requests;
        &requests[self.alternatives[alternative].request as usize]
    }

    /// Returns whether a request for all devices asks for a device that is ruled out so, and then fails.
    pub(super) fn is_among_all(&self, why: RuledOut) -> bool {
        let drops_out = why == RuledOut::CapacityExhausted && self.features.release.all_drops_full_devices;
        why.is_selected() && !drops_out
    }

    #[inline]
    pub(super) fn alternative(&self, number: AlternativeIx) -> &'a Alternative {
        &self.alternatives[number]
    }

    #[inline]
    fn claim_of(&self, alternative: AlternativeIx) -> &'a ClaimDemand {
        &self.demand.claims[self.alternatives[alternative].claim]
    }

    #[inline]
    pub(super) fn view(&self, device: DeviceIx) -> &Arc<PoolView> {
        &self.views[self.devices[device].view]
    }

    #[inline]
    pub(super) fn pool_device(&self, device: DeviceIx) -> &PoolDevice {
        &self.view(device).devices[self.devices[device].device]
    }

    #[expect(
        clippy::inline_always,
        reason = "called for each device that a search looks at"
    )]
    #[inline(always)]
    pub(super) fn device(&self, device: DeviceIx) -> &Device {
        self.view(device).device(self.pool_device(device))
    }

    #[inline]
    pub(super) fn slice(&self, device: DeviceIx) -> &Slice {
        self.view(device).slice(self.pool_device(device))
    }

    /// Returns what the device takes of the counters of its pool, if it draws from any.
    #[inline]
    pub(super) fn usage(&self, device: DeviceIx) -> Option<&Usage> {
        self.view(device).counters.usage(self.devices[device].device)
    }

    pub(super) fn device_id(&self, device: DeviceIx) -> DeviceId {
        self.view(device).id.device(&self.device(device).name)
    }

    /// `claim namespace/name, request name`, as kube-scheduler calls it.
    pub(super) fn shown_request(&self, alternative: AlternativeIx) -> String {
        format!(
            "claim {}, request {}",
            Shown(&self.claim_of(alternative).claim.key()),
            self.alternative(alternative).own_name()
        )
    }

    /// An error that is about the request of the alternative.
    pub(super) fn error_of_request(&self, alternative: AlternativeIx, what: String) -> AttemptError {
        AttemptError::of_request(
            self.claim_of(alternative).claim.key(),
            self.alternative(alternative).own_name().into(),
            what,
        )
    }

    /// Returns what is fixed about `device` for `alternative`: nothing keeps it from being taken, unless something does in the course of the
    /// search, or what rules it out first.
    ///
    /// # Errors
    /// What rules it out, or ends the attempt.
    #[inline]
    pub(super) fn verdict(&mut self, alternative: AlternativeIx, device: DeviceIx) -> Result<(), Unfit> {
        let place = self.place(alternative, device);
        match self.verdicts[place] {
            Known::Is(verdict) => return verdict.map_err(Unfit::RuledOut),
            Known::NotTried => return Err(Trouble::NotTried.into()),
            Known::NotYet => {}
        }
        let verdict = self.judge(alternative, device);
        self.verdicts[place] = match &verdict {
            Ok(()) => Known::Is(Ok(())),
            Err(Unfit::RuledOut(why)) => Known::Is(Err(*why)),
            Err(Unfit::Trouble(trouble)) if **trouble == Trouble::NotTried => Known::NotTried,
            // An error ends the attempt, so it needs no place.
            Err(Unfit::Trouble(_)) => Known::NotYet,
        };
        verdict
    }

    /// The checks of one device that do not depend on other devices, in upstream's order.
    fn judge(&mut self, number: AlternativeIx, device: DeviceIx) -> Result<(), Unfit> {
        let alternative = self.alternative(number);
        let spec = alternative.spec(&self.claim_of(number).claim);
        self.select(number, device)?;
        let mut exhausted = false;
        let found = self.device(device);
        let pool_device = self.pool_device(device);
        let takes_all = !pool_device.multiple && pool_device.consumed.is_empty() && takes_all(spec, found);
        if self.features.consumable_capacity && !takes_all {
            let need = need(spec, found, &self.features).map_err(|error| Trouble::Capacity(error.0))?;
            let amounts = match need {
                Need::Amounts(amounts) => amounts,
                Need::NoSuchCapacity(_) => return Err(RuledOut::NoSuchCapacity.into()),
                Need::AgainstPolicy(_) => return Err(RuledOut::CapacityPolicy.into()),
            };
            let share = Share {
                units: amounts.iter().map(units).collect(),
                amounts,
            };
            let values = found.capacity.iter().map(|(_, capacity)| units(&capacity.value));
            let taken = |place: usize| pool_device.consumed.get(place).copied().unwrap_or(0);
            // Other picks may make room for it.
            let may_fit_later =
                self.demand.frees_capacity && pool_device.multiple && alternative.amount != Amount::All;
            let amounts = share.units.iter().zip(values).enumerate();
            for (place, (amount, value)) in amounts.filter(|_| !may_fit_later) {
                if *amount > value {
                    return Err(RuledOut::CapacityTooSmall.into());
                }
                exhausted |= amount.saturating_add(taken(place)) > value;
            }
            if exhausted
                && (alternative.amount != Amount::All || self.features.release.all_drops_full_devices)
            {
                return Err(RuledOut::CapacityExhausted.into());
            }
            if pool_device.multiple {
                let place = self.place(number, device);
                if self.shares.is_empty() {
                    self.shares.resize_with(self.verdicts.len(), || None);
                }
                self.shares[place] = Some(share);
            }
        }
        let found = self.device(device);
        if let Some(why) = not_allocatable(self.features, self.slice(device), found, Some(self.node)) {
            return Err(why.into());
        }
        if self.is_tainted(&spec.tolerations, device) {
            return Err(RuledOut::Tainted.into());
        }
        // What is left counts last where all devices are asked for: a constraint may end the attempt before.
        if exhausted {
            return Err(RuledOut::CapacityExhausted.into());
        }
        Ok(())
    }

    /// Mirrors `allocator_incubating.go`, `isSelectable`, v1.37.2.
    pub(super) fn select(&self, number: AlternativeIx, device: DeviceIx) -> Result<(), Unfit> {
        let found = self.device(device);
        if let Some(why) = not_selectable(self.features, found) {
            return Err(why.into());
        }
        match self.first_unmatched(number, device) {
            Ok(None) => {}
            Ok(Some(selector)) if selector.of_class => return Err(RuledOut::ClassSelector.into()),
            Ok(Some(_)) => return Err(RuledOut::RequestSelector.into()),
            Err((place, error)) => {
                let trouble = match error {
                    SelectorError::NotTried => Trouble::NotTried,
                    SelectorError::Compile(why) => Trouble::SelectorCompile(place, why),
                    SelectorError::Runtime(why) => Trouble::SelectorRuntime(place, why),
                };
                return Err(trouble.into());
            }
        }
        let slice = self.slice(device);
        if slice.spec.per_device_node_selection {
            let nodes = Nodes::of_device(slice, found);
            self.demand.meter.look(nodes.looks());
            if !nodes
                .include(&self.node.metadata)
                .map_err(Trouble::NodeSelector)?
            {
                return Err(RuledOut::OtherNode.into());
            }
        }
        Ok(())
    }

    /// The first selector that does not select the device.
    ///
    /// # Errors
    /// The place of one that fails before, and why.
    #[expect(
        clippy::inline_always,
        reason = "called for each device that a search looks at"
    )]
    #[inline(always)]
    pub(super) fn first_unmatched(
        &self,
        number: AlternativeIx,
        device: DeviceIx,
    ) -> Result<Option<&'a SelectorUse>, (usize, SelectorError)> {
        let numbered = self.view(device).numbered(self.pool_device(device));
        let selectors = &self.alternative(number).selectors;
        let matches = |(_, selector): &(usize, &SelectorUse)| selector.expression.matches(numbered);
        match first_unmatched(selectors.iter().enumerate(), matches) {
            Ok(found) => Ok(found.map(|(_, selector)| selector)),
            Err(((place, _), error)) => Err((place, error)),
        }
    }

    /// The error of kube-scheduler for what ends the attempt at `device`.
    pub(super) fn stop(&self, number: AlternativeIx, device: DeviceIx, trouble: Trouble) -> Stop {
        let alternative = self.alternative(number);
        let selector = |place: usize, device: Option<DeviceId>| {
            let selector = alternative.selectors.get(place);
            let place = selector.map_or(0, |selector| selector.place);
            match &alternative.class {
                Some(class) if selector.is_some_and(|selector| selector.of_class) => {
                    ErrorSubject::ClassSelector(class.metadata.name.clone(), place, device)
                }
                _ => ErrorSubject::ClaimSelector(self.claim_of(number).claim.key(), place, device),
            }
        };
        let error = match trouble {
            Trouble::NotTried => return Stop::NotTried,
            Trouble::SelectorCompile(place, why) => AttemptError {
                subject: selector(place, None),
                failure: Failure::Compile(why),
            },
            Trouble::SelectorRuntime(place, why) => {
                let names_device = self.features.release.selector_errors_name_devices;
                AttemptError {
                    subject: selector(place, names_device.then(|| self.device_id(device))),
                    failure: Failure::of_runtime(why, names_device),
                }
            }
            Trouble::NodeSelector(why) => why.into(),
            Trouble::Capacity(why) => {
                let device: &dyn std::fmt::Display = match alternative.amount {
                    Amount::All => &self.device(device).name,
                    Amount::Exactly(_) => &self.device_id(device),
                };
                self.error_of_request(number, format!("checking capacity for device {device}: {why}"))
            }
            Trouble::AttributeCompile(name, why) => {
                format!("compile derived attribute {name} failed: {why}").into()
            }
            Trouble::AttributeRuntime(name, why) => format!(
                "evaluate derived attribute {name} on device {} failed: {why}",
                self.device_id(device)
            )
            .into(),
        };
        Stop::Error(error)
    }

    fn is_tainted(&self, tolerations: &Tolerations, device: DeviceIx) -> bool {
        let (first, taints) = self.view(device).untolerated(self.device(device), tolerations);
        if taints > 0 {
            self.demand.meter.look(taints / LOOKS_PER_OBJECT);
        }
        first.is_some()
    }

    /// Returns what a share of the device takes of its capacities, in their order, for a candidate that allows several allocations.
    pub(super) fn share(&self, alternative: AlternativeIx, device: DeviceIx) -> Option<&Share> {
        self.shares.get(self.place(alternative, device))?.as_ref()
    }

    /// The same in the units of the search; nothing for other devices.
    #[inline]
    pub(super) fn share_units(&self, alternative: AlternativeIx, device: DeviceIx) -> &[i128] {
        self.share(alternative, device).map_or(&[], |share| &share.units)
    }

    fn place(&self, alternative: AlternativeIx, device: DeviceIx) -> usize {
        usize::from(alternative) * self.devices.len() + usize::from(device)
    }

    /// The number of the device's value of an attribute; none where no constraint can be met with the device.
    ///
    /// # Errors
    /// What ends the attempt, be it an error of a derived attribute.
    pub(super) fn attribute(
        &mut self,
        source: SourceIx,
        device: DeviceIx,
    ) -> Result<Option<ValueIx>, Trouble> {
        let place = usize::from(source) * self.devices.len() + usize::from(device);
        match self.attributes[place] {
            Known::Is(value) => return Ok(value),
            Known::NotTried => return Err(Trouble::NotTried),
            Known::NotYet => {}
        }
        let value = self.value_of(source, device);
        self.attributes[place] = match &value {
            Ok(value) => Known::Is(*value),
            Err(Trouble::NotTried) => Known::NotTried,
            Err(_) => Known::NotYet,
        };
        value
    }

    /// The device's value of an attribute for readers: as it is published, be it a list that no constraint is met with, or else what the
    /// search knows of it.
    pub(super) fn attribute_text(&self, source: SourceIx, device: DeviceIx, value: ValueIx) -> String {
        let view = self.view(device);
        let pool_device = &view.devices[self.devices[device].device];
        match &self.demand.sources[source] {
            AttributeSource::Published(name) => attribute_of(view.device(pool_device), &view.id.driver, name),
            AttributeSource::Derived(..) => None,
        }
        .map_or_else(|| self.values.text(value), ToString::to_string)
    }

    fn value_of(&mut self, source: SourceIx, device: DeviceIx) -> Result<Option<ValueIx>, Trouble> {
        let view = Arc::clone(self.view(device));
        let pool_device = &view.devices[self.devices[device].device];
        Ok(match &self.demand.sources[source] {
            AttributeSource::Published(name) => attribute_of(view.device(pool_device), &view.id.driver, name)
                .and_then(|value| self.values.number(value)),
            AttributeSource::Derived(name, expression) => {
                let value = expression.value(view.numbered(pool_device));
                let value = value.map_err(|error| match error {
                    SelectorError::NotTried => Trouble::NotTried,
                    SelectorError::Compile(why) => Trouble::AttributeCompile(name.clone(), why),
                    SelectorError::Runtime(why) => Trouble::AttributeRuntime(name.clone(), why),
                })?;
                self.values.number(&value)
            }
        })
    }
}
