//! Requests of claims, prepared once for all nodes.
//!
//! Everything that depends on neither node nor devices is looked up here: classes, selectors, which constraints cover which
//! request, and the errors that upstream reports for a request before it looks at devices (`allocator_incubating.go`,
//! `validateDeviceRequest`). These are kept in their place rather than returned, since an error of an earlier request that does
//! depend on the node comes first.

use std::sync::Arc;

use std::collections::HashMap;

use typed_index_collections::{TiSlice, TiVec};

use dra_model::{
    AllocationMode, Claim, Class, DeviceRequest, Gate, Key, MOST_RESULTS, Meter, Request, Selector, Str,
};

use super::constraint::{ConstraintDemand, Rule};
use super::error::{AttemptError, ErrorSubject, Failure};
use super::index::{AlternativeIx, ClaimIx, ConstraintIx, SourceIx, stretch};
use crate::devices::{CachedSelector, DerivedAttribute, Facts};

/// Claims that are to be allocated together, in this order, for one pod.
#[derive(Debug)]
pub struct Demand {
    pub(super) claims: TiVec<ClaimIx, ClaimDemand>,
    /// What the command may spend on expressions and on looking at devices.
    pub(super) meter: Arc<Meter>,
    pub(super) sources: TiVec<SourceIx, AttributeSource>,
    /// The alternatives of all requests, which are known by their places here.
    pub(super) alternatives: TiVec<AlternativeIx, Alternative>,
    /// Number of devices each alternative takes; zero in mode All, where it depends on the node.
    pub(super) counts: TiVec<AlternativeIx, i64>,
    /// Some alternative is in mode All.
    pub(super) takes_all: bool,
    /// Without mode All: the error that ends every attempt.
    pub(super) error: Option<AttemptError>,
    /// Some request is sure to look for a device of its own, and no other one can be served or met by an error before: where nothing
    /// is free, nothing fits.
    pub(super) needs_a_free_device: bool,
    /// It is more than is prepared, so that no search answers it.
    pub(super) is_too_large: bool,
    /// Some amount may make room for others: it is negative, or so large that rounding it up may wrap it. That is no error before 1.37.
    pub(super) frees_capacity: bool,
    /// Shared counters do not limit it. To show what they are worth; the scheduler knows no such thing.
    pub(super) ignores_counters: bool,
}

impl Demand {
    /// Checks the demand and counts what it takes. `count` says how many devices an alternative takes, and is asked in order.
    /// Mirrors the first part of `allocator_incubating.go`, `Allocate`.
    ///
    /// # Errors
    /// What ends the attempt before the search.
    pub(super) fn check<E: From<AttemptError>>(
        &self,
        mut count: impl FnMut(AlternativeIx, &Alternative) -> Result<i64, E>,
    ) -> Result<(), E> {
        for claim in &self.claims {
            let mut total: i64 = 0;
            for request in &claim.requests {
                if let Some(error) = &request.error {
                    return Err(error.clone().into());
                }
                let mut least = i64::MAX;
                for number in request.alternatives() {
                    let alternative = &self.alternatives[number];
                    if let Some(error) = &alternative.error {
                        return Err(error.clone().into());
                    }
                    least = least.min(count(number, alternative)?);
                }
                if least > MOST_RESULTS.saturating_sub(total) {
                    let what = format!(
                        "adding {least} devices exceeds the claim limit of {MOST_RESULTS}, with {total} already accounted for"
                    );
                    let claim = claim.claim.key();
                    return Err(AttemptError::of_request(claim, request.name.clone(), what).into());
                }
                total = total.saturating_add(least);
            }
            if let Some(error) = &claim.constraint_error {
                return Err(error.clone().into());
            }
        }
        Ok(())
    }

    /// The claims, as they were given.
    pub fn claims(&self) -> impl Iterator<Item = &Arc<Claim>> {
        self.claims.iter().map(|demand| &demand.claim)
    }
}

/// One claim.
#[derive(Debug)]
pub(super) struct ClaimDemand {
    pub(super) claim: Arc<Claim>,
    pub(super) requests: Vec<RequestDemand>,
    pub(super) constraints: TiVec<ConstraintIx, ConstraintDemand>,
    /// A constraint of an unknown type.
    pub(super) constraint_error: Option<AttemptError>,
}

/// One request: an exact one has one alternative, a prioritized list several.
#[derive(Debug)]
pub(super) struct RequestDemand {
    pub(super) name: Str,
    /// A feature that the request needs is off.
    pub(super) error: Option<AttemptError>,
    pub(super) prioritized: bool,
    /// The first of its alternatives among those of the demand.
    pub(super) first: AlternativeIx,
    /// Number of alternatives it has.
    count: usize,
}

impl RequestDemand {
    /// Its alternatives, in their order.
    pub(super) fn alternatives(&self) -> impl DoubleEndedIterator<Item = AlternativeIx> + Clone + use<> {
        stretch(self.first, self.count)
    }
}

/// Number of devices an alternative asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Exactly(i64),
    All,
}

/// One way to satisfy a request.
#[derive(Debug)]
pub(super) struct Alternative {
    /// Position of its claim in the demand.
    pub(super) claim: ClaimIx,
    /// Position of its request in the claim's spec.
    pub(super) request: u32,
    pub(super) subrequest: Option<usize>,
    /// `request` or `request/subrequest`.
    pub(super) name: Str,
    pub(super) class: Option<Arc<Class>>,
    /// Found before any device is looked at.
    pub(super) error: Option<AttemptError>,
    pub(super) amount: Amount,
    pub(super) admin_access: bool,
    /// Selectors of the class, then those of the request.
    pub(super) selectors: Vec<SelectorUse>,
    /// For each constraint of the claim: where the attribute comes from, if the constraint covers the alternative.
    pub(super) constraints: TiVec<ConstraintIx, Option<SourceIx>>,
}

/// A selector of a class or request.
#[derive(Clone, Debug)]
pub(super) struct SelectorUse {
    pub(super) of_class: bool,
    /// Its place in the list of the class or request.
    pub(super) place: usize,
    pub(super) expression: Arc<CachedSelector>,
}

/// Source of a constraint's attribute.
#[derive(Debug)]
pub(super) enum AttributeSource {
    /// The driver publishes it, under this fully qualified name.
    Published(Str),
    /// The request computes it.
    Derived(Str, Arc<DerivedAttribute>),
}

impl Alternative {
    /// The request's spec in `claim`, which is the claim that the alternative was made for.
    pub(super) fn spec<'a>(&self, claim: &'a Claim) -> &'a DeviceRequest {
        static NONE: std::sync::LazyLock<DeviceRequest> = std::sync::LazyLock::new(DeviceRequest::default);
        let spec = claim
            .spec
            .devices
            .requests
            .get(self.request as usize)
            .and_then(|request| match self.subrequest {
                Some(subrequest) => request.first_available.get(subrequest),
                None => request.exactly.as_ref(),
            });
        spec.unwrap_or_else(|| &NONE)
    }

    /// Returns whether it is in mode All and not the first alternative of its request.
    #[inline]
    pub(super) fn is_later_all(&self) -> bool {
        self.amount == Amount::All && self.subrequest.is_some_and(|subrequest| subrequest > 0)
    }

    /// The name without that of the parent request, as errors name it.
    pub(super) fn own_name(&self) -> &str {
        match self.subrequest {
            Some(_) => self.name.rsplit('/').next().unwrap_or_default(),
            None => &self.name,
        }
    }
}

/// Returns whether a constraint that names `name` covers the request `request` or one of its alternatives.
fn is_of_request(name: &str, request: &str) -> bool {
    name.split('/').next() == Some(request)
}

/// Returns whether the claim asks for an amount that may make room for others, if amounts are not checked.
fn asks_to_free(claim: &Arc<Claim>) -> bool {
    let mut amounts = claim
        .spec
        .asked()
        .filter_map(|request| request.capacity.as_ref())
        .flat_map(|capacity| &capacity.requests);
    // A range with its step stays within the capacity of its device.
    amounts.any(|(_, amount)| amount.sign() < 0 || amount.cmp_int(i64::MAX / 2).is_gt())
}

/// Prepares claims.
pub(super) struct Preparation<'a> {
    facts: &'a Facts,
    sources: TiVec<SourceIx, AttributeSource>,
    /// The places of `sources`, by the name and the expression that computes it.
    places: HashMap<(Str, Option<Str>), SourceIx>,
    alternatives: TiVec<AlternativeIx, Alternative>,
    /// A claim has more requests and constraints than are prepared.
    is_too_large: bool,
}

/// Requests of a claim times its constraints. One that the API server accepts has 8,192 at most.
const MOST_PAIRS: usize = 1_000_000;

impl<'a> Preparation<'a> {
    pub(super) fn new(facts: &'a Facts) -> Self {
        Self {
            facts,
            sources: TiVec::new(),
            places: HashMap::new(),
            alternatives: TiVec::new(),
            is_too_large: false,
        }
    }

    pub(super) fn demand(mut self, claims: &[Arc<Claim>]) -> Demand {
        let prepared = claims
            .iter()
            .enumerate()
            .map(|(place, claim)| self.claim(place.into(), claim))
            .collect();
        let wanted = self.alternatives.iter().map(|alternative| alternative.amount);
        let mut demand = Demand {
            claims: prepared,
            counts: wanted
                .clone()
                .map(|amount| match amount {
                    Amount::Exactly(count) => count,
                    Amount::All => 0,
                })
                .collect(),
            takes_all: wanted.clone().any(|amount| amount == Amount::All),
            meter: Arc::clone(self.facts.selectors.meter()),
            sources: self.sources,
            alternatives: self.alternatives,
            error: None,
            needs_a_free_device: false,
            is_too_large: self.is_too_large,
            frees_capacity: self.facts.features.release.capacity_errors_skip
                && claims.iter().any(asks_to_free),
            ignores_counters: false,
        };
        if !demand.takes_all {
            let counts = &demand.counts;
            demand.error = demand
                .check(|number, _| Ok::<_, AttemptError>(counts[number]))
                .err();
        }
        let takes_its_own = |alternative: &Alternative| {
            !alternative.admin_access && matches!(alternative.amount, Amount::Exactly(1..))
        };
        let prioritized = |claim: &ClaimDemand| claim.requests.iter().any(|request| request.prioritized);
        demand.needs_a_free_device = demand.error.is_none()
            && !demand.alternatives.is_empty()
            && demand.alternatives.iter().all(takes_its_own)
            && !demand.claims.iter().any(prioritized)
            && !demand.is_too_large;
        demand
    }

    fn claim(&mut self, place: ClaimIx, claim: &Arc<Claim>) -> ClaimDemand {
        let key = claim.key();
        let mut constraints = TiVec::new();
        let mut constraint_error = None;
        for (place, constraint) in claim.spec.devices.constraints.iter().enumerate() {
            let knows_distinct = self.facts.features.knows_shares_and_binding();
            let (rule, attribute) = match (&constraint.match_attribute, &constraint.distinct_attribute) {
                (Some(attribute), _) => (Rule::Match, attribute),
                (None, Some(attribute)) if knows_distinct => (Rule::Distinct, attribute),
                _ => {
                    constraint_error = Some(AttemptError {
                        subject: ErrorSubject::Constraint(key.clone(), place),
                        failure: Failure::Other("empty constraint (unsupported constraint type?)".to_owned()),
                    });
                    break;
                }
            };
            constraints.push(ConstraintDemand {
                rule: if rule == Rule::Distinct {
                    self.distinct_rule(claim, &constraint.requests)
                } else {
                    rule
                },
                attribute: attribute.clone(),
                requests: constraint.requests.clone(),
            });
        }
        let ways = claim.spec.devices.requests.iter();
        let ways = ways
            .map(|request| request.first_available.len().max(1))
            .sum::<usize>();
        if ways.saturating_mul(constraints.len()) > MOST_PAIRS {
            self.is_too_large = true;
            constraints.clear();
        }
        let requests = (0..)
            .zip(&claim.spec.devices.requests)
            .map(|(number, request)| self.request(&key, (place, number), request, &constraints))
            .collect();
        ClaimDemand {
            claim: Arc::clone(claim),
            requests,
            constraints,
            constraint_error,
        }
    }

    /// Returns what the release makes of a constraint on distinct values of those requests.
    fn distinct_rule(&self, claim: &Claim, requests: &[Str]) -> Rule {
        let release = &self.facts.features.release;
        if release.compares_distinct_with_nothing {
            return Rule::Present;
        }
        let takes_one = |spec: &DeviceRequest| {
            matches!(spec.allocation_mode, AllocationMode::ExactCount) && spec.count <= 1
        };
        let is_covered = |request: &Request| {
            requests.is_empty() || requests.iter().any(|name| is_of_request(name, &request.name))
        };
        let mut covered = claim
            .spec
            .devices
            .requests
            .iter()
            .filter(|request| is_covered(request));
        // The last device of a request is its only one then.
        let one_each = covered.all(|request| request.asked().all(takes_one));
        if release.compares_distinct_per_request && !one_each {
            Rule::DistinctFromLast
        } else {
            Rule::Distinct
        }
    }

    /// Prepares a request, which is known by the positions of its claim and of itself there.
    fn request(
        &mut self,
        claim: &Key,
        place: (ClaimIx, u32),
        request: &Request,
        constraints: &TiSlice<ConstraintIx, ConstraintDemand>,
    ) -> RequestDemand {
        let prioritized = !request.first_available.is_empty();
        let first = self.alternatives.next_key();
        let none = DeviceRequest::default();
        let exactly = (!prioritized).then(|| request.exactly.as_ref().unwrap_or(&none));
        let ways = (0..)
            .zip(&request.first_available)
            .map(|(subrequest, spec)| (Some(subrequest), spec))
            .chain(exactly.map(|spec| (None, spec)));
        for (subrequest, spec) in ways {
            let name = match subrequest {
                Some(_) => Str::from(format!("{}/{}", request.name, spec.name)),
                None => request.name.clone(),
            };
            let mut alternative = self.alternative(claim, &request.name, name, spec, constraints);
            (alternative.claim, alternative.request) = place;
            alternative.subrequest = subrequest;
            // The answers of the first one also apply to it.
            if self.facts.features.release.loses_subrequest_in_all
                && subrequest == Some(1)
                && alternative.error.is_none()
                && alternative.amount == Amount::All
                && self.alternatives[first].amount == Amount::All
            {
                alternative
                    .selectors
                    .clone_from(&self.alternatives[first].selectors);
            }
            self.alternatives.push(alternative);
        }
        RequestDemand {
            name: request.name.clone(),
            error: self.gate_error(claim, request),
            prioritized,
            first,
            count: self.alternatives.len() - usize::from(first),
        }
    }

    fn gate_error(&self, claim: &Key, request: &Request) -> Option<AttemptError> {
        if !self.facts.features.prioritized_list && !request.first_available.is_empty() {
            return Some(AttemptError {
                subject: ErrorSubject::Request(claim.clone(), request.name.clone()),
                failure: Failure::Disabled(Gate::DRAPrioritizedList),
            });
        }
        if !self.facts.features.refuses_amounts() {
            return None;
        }
        let subject = if request
            .exactly
            .as_ref()
            .is_some_and(|spec| spec.capacity.is_some())
        {
            ErrorSubject::Request(claim.clone(), request.name.clone())
        } else {
            let subrequest = request
                .first_available
                .iter()
                .find(|spec| spec.capacity.is_some())?;
            ErrorSubject::Subrequest(claim.clone(), subrequest.name.clone())
        };
        Some(AttemptError {
            subject,
            failure: Failure::Disabled(Gate::DRAConsumableCapacity),
        })
    }

    fn alternative(
        &mut self,
        claim: &Key,
        request: &Str,
        name: Str,
        spec: &DeviceRequest,
        constraints: &TiSlice<ConstraintIx, ConstraintDemand>,
    ) -> Alternative {
        // Each field is named with the place that reads it: a new field does not compile until it is handled.
        let DeviceRequest {
            name: spec_name,
            device_class_name,
            selectors: own_selectors,
            allocation_mode,
            count,
            admin_access,
            // `Problem::judge`, for each device.
            tolerations: _,
            capacity: _,
            // `source`, where a constraint compares it.
            derived_attributes: _,
        } = spec;
        let own_name = if spec_name.is_empty() { request } else { spec_name };
        let class = self.facts.cluster.class(device_class_name).cloned();
        let error = self
            .spec_error(spec, class.as_deref())
            .map(|(selector, what)| AttemptError {
                subject: match selector {
                    Some(place) => ErrorSubject::RequestSelector(claim.clone(), own_name.clone(), place),
                    None => ErrorSubject::Request(claim.clone(), own_name.clone()),
                },
                failure: Failure::Other(what),
            });
        let mut selectors = Vec::new();
        if error.is_none() {
            let of_class = class.as_ref().map_or(&[][..], |class| &class.spec.selectors);
            self.add_selectors(&mut selectors, true, of_class);
            self.add_selectors(&mut selectors, false, own_selectors);
        }
        let constraints = constraints
            .iter()
            .map(|constraint| {
                constraint
                    .covers(request, &name)
                    .then(|| self.source(spec, &constraint.attribute))
            })
            .collect();
        Alternative {
            claim: ClaimIx(0),
            request: 0,
            subrequest: None,
            name,
            class,
            error,
            amount: match allocation_mode {
                AllocationMode::All => Amount::All,
                _ => Amount::Exactly(*count),
            },
            // Subrequests have no admin access.
            admin_access: spec_name.is_empty() && *admin_access == Some(true),
            selectors,
            constraints,
        }
    }

    fn source(&mut self, spec: &DeviceRequest, attribute: &Str) -> SourceIx {
        // Of two derived attributes with the same name the last one counts, as in a Go map.
        let derived = spec
            .derived_attributes
            .iter()
            .rfind(|derived| derived.name == *attribute);
        let expression = derived.map(|derived| &derived.expression);
        let next = self.sources.next_key();
        let key = (attribute.clone(), expression.cloned());
        *self.places.entry(key).or_insert_with(|| {
            let name = attribute.clone();
            self.sources.push(match expression {
                Some(text) => AttributeSource::Derived(name, self.facts.selectors.derived_attribute(text)),
                None => AttributeSource::Published(name),
            });
            next
        })
    }

    fn add_selectors(&mut self, uses: &mut Vec<SelectorUse>, of_class: bool, selectors: &[Selector]) {
        for (place, selector) in selectors.iter().enumerate() {
            let text = selector.cel.as_ref().map(|cel| cel.expression.clone());
            uses.push(SelectorUse {
                of_class,
                place,
                expression: self.facts.selectors.selector(&text.unwrap_or_default()),
            });
        }
    }

    /// Returns the problem of a request before any device is evaluated, with its selector.
    fn spec_error(&self, spec: &DeviceRequest, class: Option<&Class>) -> Option<(Option<usize>, String)> {
        if !spec.derived_attributes.is_empty() && !self.facts.features.derived_attributes {
            let what = "cannot handle request with derived attributes, the feature is disabled";
            return Some((None, what.to_owned()));
        }
        if let Some(place) = spec.selectors.iter().position(|selector| selector.cel.is_none()) {
            let what = "CEL expression empty (unsupported selector type?)";
            return Some((Some(place), what.to_owned()));
        }
        if !self.facts.features.admin_access && spec.name.is_empty() && spec.admin_access.is_some() {
            let what = "admin access is requested, but the feature is disabled";
            return Some((None, what.to_owned()));
        }
        if spec.device_class_name.is_empty() {
            let what = "missing device class name (unsupported request type?)";
            return Some((None, what.to_owned()));
        }
        if class.is_none() {
            let what = format!(
                "could not retrieve device class {0}: deviceclass.resource.k8s.io \"{0}\" not found",
                spec.device_class_name
            );
            return Some((None, what));
        }
        if let AllocationMode::Other(mode) = &spec.allocation_mode {
            return Some((None, format!("unsupported count mode {mode}")));
        }
        None
    }
}
