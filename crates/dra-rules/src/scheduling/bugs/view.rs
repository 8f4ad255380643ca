//! View of a cluster and of claims for the bugs, and the triggers of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use itertools::Itertools as _;

use crate::eviction;
use crate::reservation::claim_name;
use dra_allocator::attribute_of;
use dra_allocator::devices::{ClassSelectors, Match, SelectableDevice, keeps_off, named_otherwise};
use dra_model::{
    AllocationMode, AttributeValue, Capacity, Claim, ClaimSpec, Cluster, Component, Constraint, Device,
    DeviceId, DeviceRequest, Gate, NO_EXECUTE, Pod, Pool, PoolId, Quantity, Slice, Str, lookup,
};

/// Something that asks for devices.
pub(super) struct Ask<'a> {
    pub(super) name: String,
    pub(super) spec: &'a ClaimSpec,
}

impl<'a> Ask<'a> {
    fn requests(&self) -> impl Iterator<Item = &'a DeviceRequest> + use<'a> {
        self.spec.asked()
    }

    /// The amounts of capacities that it asks for, by name.
    fn amounts(&self) -> impl Iterator<Item = &'a (Str, Quantity)> + use<'a> {
        let capacities = self.requests().filter_map(|request| request.capacity.as_ref());
        capacities.flat_map(|capacity| &capacity.requests)
    }

    fn wants_all(&self) -> bool {
        self.requests()
            .any(|request| request.allocation_mode == AllocationMode::All)
    }
}

/// A request by what decides which devices it would get if names of capacities needed no domain: requests that are alike in that are one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CapacityWish<'a> {
    class: &'a Str,
    selectors: Vec<&'a Str>,
    capacities: Vec<&'a Str>,
}

impl<'a> CapacityWish<'a> {
    /// Returns what `request` says, where it names capacities.
    fn of(request: &'a DeviceRequest) -> Option<Self> {
        let capacities = &request.capacity.as_ref()?.requests;
        let selectors = request
            .selectors
            .iter()
            .filter_map(|selector| selector.cel.as_ref());
        (!capacities.is_empty()).then(|| Self {
            class: &request.device_class_name,
            selectors: selectors.map(|cel| &cel.expression).collect(),
            capacities: capacities.iter().map(|(name, _)| name).collect(),
        })
    }

    /// Returns whether `device` has all the capacities, and one of them only with the domain of its driver or only without.
    fn misses(&self, driver: &str, device: &Device) -> bool {
        let has = |name: &&&Str| lookup(&device.capacity, name).is_some();
        let mut others = self.capacities.iter().filter(|name| !has(name)).peekable();
        others.peek().is_some() && others.all(|name| named_otherwise(device, driver, name).is_some())
    }

    /// Returns whether class and selectors may select the device.
    fn may_select(&self, selectors: &ClassSelectors, device: &SelectableDevice) -> bool {
        matches!(selectors.matches(self.class, device), Match::Yes | Match::Unknown)
            && self.selectors.iter().all(|expression| {
                let selector = selectors.selector(expression);
                selectors.is_selected(&selector, device).unwrap_or(true)
            })
    }
}

/// View of a cluster and of claims for the bugs.
pub(super) struct View<'a> {
    pub(super) cluster: &'a Cluster,
    asks: Vec<Ask<'a>>,
    /// Pods to be scheduled.
    pods: Vec<&'a Pod>,
    /// A claim for several nodes is known to be among those of the pods.
    pub(super) is_mixed: bool,
    /// The asks are all that one pod asks for.
    pub(super) is_of_one_pod: bool,
    /// Drivers and pools whose slices have counters.
    counters: BTreeSet<PoolId>,
    /// Devices that allow several allocations, as `driver/pool/name`.
    shareable: Vec<String>,
    /// Those of them that draw from counters.
    shareable_partitions: Vec<String>,
    selectors: OnceLock<ClassSelectors>,
}

impl<'a> View<'a> {
    pub(super) fn new(cluster: &'a Cluster, asks: Vec<Ask<'a>>, pods: Vec<&'a Pod>) -> Self {
        let mut view = Self {
            cluster,
            asks,
            pods,
            is_mixed: false,
            is_of_one_pod: false,
            counters: BTreeSet::new(),
            shareable: Vec::new(),
            shareable_partitions: Vec::new(),
            selectors: OnceLock::new(),
        };
        for slice in cluster.slices() {
            let mut draws = !slice.spec.shared_counters.is_empty();
            for device in &slice.spec.devices {
                draws |= !device.consumes_counters.is_empty();
                if device.allow_multiple_allocations {
                    let name = || format!("device/{}/{}", slice.pool_id(), device.name);
                    view.shareable.push(name());
                    if !device.consumes_counters.is_empty() {
                        view.shareable_partitions.push(name());
                    }
                }
            }
            if draws {
                view.counters.insert(slice.pool_id());
            }
        }
        view
    }

    fn asking(&self, does: impl Fn(&Ask<'a>) -> bool) -> Vec<String> {
        let asks = self.asks.iter().filter(|ask| does(ask));
        asks.map(|ask| ask.name.clone()).collect()
    }

    /// `found`, where a claim or template asks for devices at all.
    fn where_asked(&self, found: impl Iterator<Item = String>) -> Vec<String> {
        found.filter(|_| !self.asks.is_empty()).collect()
    }

    /// The pools that are so, where a claim or template asks for all devices.
    fn where_all_is_asked(&self, is_so: impl Fn(&Pool<'_>) -> bool) -> Vec<String> {
        if !self.asks.iter().any(Ask::wants_all) {
            return Vec::new();
        }
        let pools = self.cluster.pools().filter(is_so);
        pools.map(|pool| format!("pool/{}", pool.id)).collect()
    }

    pub(super) fn rules(&self) -> Vec<String> {
        let rules = self.cluster.rules();
        self.where_asked(rules.map(|rule| format!("devicetaintrule/{}", rule.metadata.name)))
    }

    pub(super) fn bare_rules(&self) -> Vec<String> {
        let rules = self.cluster.rules();
        let bare = rules.filter(|rule| rule.spec.device_selector.is_none() && keeps_off(&rule.spec.taint));
        self.where_asked(bare.map(|rule| format!("devicetaintrule/{}", rule.metadata.name)))
    }

    pub(super) fn huge_counts(&self) -> Vec<String> {
        self.asking(|ask| {
            let total: i128 = ask.requests().map(|request| i128::from(request.count)).sum();
            total > i128::from(i64::MAX)
        })
    }

    pub(super) fn all_of_broken_pools(&self) -> Vec<String> {
        let is_invalid = |part: &Pool<'_>| !part.duplicate_devices().is_empty();
        self.where_all_is_asked(|pool| !pool.is_complete() || pool.parts().iter().any(is_invalid))
    }

    pub(super) fn all_of_shareable(&self) -> Vec<String> {
        if self.shareable.is_empty() {
            return Vec::new();
        }
        self.asking(Ask::wants_all)
    }

    pub(super) fn odd_capacities(&self) -> Vec<String> {
        const NANOS_OF_A_MILLI: i128 = 1_000_000;
        self.asking(|ask| {
            ask.amounts().any(|(_, amount)| {
                let fits = amount.nanos().is_some_and(|nanos| {
                    nanos % NANOS_OF_A_MILLI == 0 && nanos / NANOS_OF_A_MILLI <= i128::from(i64::MAX)
                });
                amount.sign() < 0 || !fits
            })
        })
    }

    /// Returns who asks for an amount that is kept as decimal digits, such as `1.5Gi`, of a capacity whose policy neither fixes the amounts nor
    /// rounds them: only then does the library count with the amount of the claim itself. It adds what the pod takes of the device by
    /// other requests.
    pub(super) fn amounts_that_change(&self) -> Vec<String> {
        let requests: Vec<_> = self.asks.iter().flat_map(Ask::requests).collect();
        let is_single = requests.len() < 2 && !requests.iter().any(|request| wants_several(request));
        if self.is_of_one_pod && is_single {
            return Vec::new();
        }
        let of_digits = |ask: &Ask<'a>| {
            ask.amounts()
                .filter(|(_, amount)| amount.is_decimal())
                .map(|(name, _)| name)
                .collect::<BTreeSet<&Str>>()
        };
        // Hardly anybody writes such an amount, and clusters have many devices.
        let mut wanted: BTreeSet<&Str> = self.asks.iter().flat_map(of_digits).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let keeps = |capacity: &Capacity| {
            let policy = capacity.request_policy.as_ref();
            policy.is_some_and(|policy| {
                let range = policy.valid_range.as_ref();
                policy.valid_values.is_empty() && range.is_none_or(|range| range.step.is_none())
            })
        };
        let devices = self.cluster.slices().flat_map(|slice| &slice.spec.devices);
        let kept = devices.flat_map(|device| &device.capacity);
        let kept: BTreeSet<&Str> = kept
            .filter(|(_, capacity)| keeps(capacity))
            .map(|(name, _)| name)
            .collect();
        wanted.retain(|name| kept.contains(name));
        self.asking(|ask| !of_digits(ask).is_disjoint(&wanted))
    }

    /// Returns who asks for a capacity of devices that name it with the domain of their driver where the request does not, or the other way around.
    pub(super) fn capacities_named_otherwise(&self) -> Vec<String> {
        let wishes = self.asks.iter().flat_map(Ask::requests);
        let mut wishes: BTreeMap<CapacityWish<'_>, bool> = wishes
            .filter_map(|request| Some((CapacityWish::of(request)?, false)))
            .collect();
        if wishes.is_empty() {
            return Vec::new();
        }
        let selectors = || self.selectors.get_or_init(|| ClassSelectors::of(self.cluster));
        for pool in self.cluster.pools() {
            let driver = &pool.id.driver;
            let is_missed = |(_, device): (_, &Device)| wishes.keys().any(|wish| wish.misses(driver, device));
            // Of few pools, so that selectors are seldom asked.
            if !pool.devices().any(is_missed) {
                continue;
            }
            for (_, device, selectable) in selectors().devices(&pool) {
                for (wish, is_exposed) in wishes.iter_mut().filter(|(_, is_exposed)| !**is_exposed) {
                    *is_exposed = wish.misses(driver, device) && wish.may_select(selectors(), &selectable);
                }
            }
        }
        let is_exposed = |request| {
            let wish = CapacityWish::of(request)?;
            wishes.get(&wish).copied()
        };
        self.asking(|ask| ask.requests().any(|request| is_exposed(request) == Some(true)))
    }

    /// Pools with a counter whose amount is kept as decimal digits, such as `1.5Gi`.
    pub(super) fn counters_that_change(&self) -> Vec<String> {
        if self.counters.is_empty() {
            return Vec::new();
        }
        let changes = |slice: &&Arc<Slice>| {
            let sets = slice.spec.shared_counters.iter().map(|set| &set.counters);
            let draws = slice
                .spec
                .devices
                .iter()
                .flat_map(|device| &device.consumes_counters);
            let mut counters = sets.chain(draws.map(|draw| &draw.counters)).flatten();
            counters.any(|(_, counter)| counter.value.is_decimal())
        };
        let slices = self.cluster.slices().filter(changes);
        let pools: BTreeSet<PoolId> = slices.map(|slice| slice.pool_id()).collect();
        self.where_asked(pools.iter().map(|pool| format!("pool/{pool}")))
    }

    pub(super) fn distinct_in_request(&self) -> Vec<String> {
        self.asking(|ask| {
            let mut constraints = ask.spec.devices.constraints.iter();
            ask.requests().any(wants_several)
                && constraints.any(|constraint| constraint.distinct_attribute.is_some())
        })
    }

    /// Pools with counters whose name a pool of another driver with counters has too.
    pub(super) fn pools_of_one_name(&self) -> Vec<String> {
        let same = |one: &&PoolId| {
            let mut others = self.counters.iter();
            others.any(|other| other.pool == one.pool && other.driver != one.driver)
        };
        let pools = self.counters.iter().filter(same);
        self.where_asked(pools.map(|pool| format!("pool/{pool}")))
    }

    pub(super) fn can_leak(&self) -> Vec<String> {
        let environment = self.cluster.environment();
        let partitions = environment.enabled(Component::Scheduler, Gate::DRAPartitionableDevices);
        if partitions && !self.counters.is_empty() {
            return self.asking(|_| true);
        }
        // What is rejected after its constraints are is a share that does not fit any more.
        let shares = environment.enabled(Component::Scheduler, Gate::DRAConsumableCapacity);
        if !shares || self.shareable.is_empty() {
            return Vec::new();
        }
        self.asking(|ask| !ask.spec.devices.constraints.is_empty())
    }

    /// Returns who has a configuration that names several requests, each itself or by an alternative. One that names none is for all of them, and
    /// is written once.
    pub(super) fn repeated_configs(&self) -> Vec<String> {
        self.asking(|ask| {
            let devices = &ask.spec.devices;
            let is_named = |named: &[Str], request: &Str| {
                let main = |name: &Str| name.split('/').next() == Some(&**request);
                named.iter().any(main)
            };
            devices.config.iter().any(|config| {
                let named = devices
                    .requests
                    .iter()
                    .filter(|request| is_named(&config.requests, &request.name));
                named.count() > 1
            })
        })
    }

    /// Devices that can be shared, and who asks for amounts or for several devices in one request: device n of a request is compared with
    /// number n of its slice, which may not exist.
    pub(super) fn compared_by_number(&self) -> Vec<String> {
        let mut found = self.where_asked(self.shareable.iter().cloned());
        found.extend(self.asking(|ask| {
            let mut requests = ask.requests();
            requests.any(|request| wants_several(request) || request.capacity.is_some())
        }));
        found
    }

    pub(super) fn shareable_partitions(&self) -> Vec<String> {
        self.where_asked(self.shareable_partitions.iter().cloned())
    }

    pub(super) fn mixed_pods(&self) -> Vec<String> {
        let is_mixed = |pod: &Pod| {
            let claims: Vec<_> = pod
                .spec
                .resource_claims
                .iter()
                .filter_map(|entry| claim_name(pod, entry).ok()?.key())
                .collect();
            let claims = || claims.iter().filter_map(|key| self.cluster.claim(key));
            claims().any(|claim| is_for_several_nodes(claim))
                && claims().any(|claim| claim.status.allocation.is_none())
        };
        let pods = self.pods.iter().filter(|pod| self.is_mixed || is_mixed(pod));
        pods.map(|pod| format!("pod/{}", pod.key())).collect()
    }

    pub(super) fn all_with_counters(&self) -> Vec<String> {
        if self.counters.is_empty() || !self.asks.iter().any(Ask::wants_all) {
            return Vec::new();
        }
        let wants_all = |request: &&DeviceRequest| request.allocation_mode == AllocationMode::All;
        let all = self.asks.iter().flat_map(Ask::requests).filter(wants_all);
        let classes = all.map(|request| &request.device_class_name);
        let selecting = self.classes_selecting(classes, &self.counters, |_, device| {
            !device.consumes_counters.is_empty()
        });
        self.asking(|ask| {
            let mut all = ask.requests().filter(wants_all);
            all.any(|request| selecting.get(&request.device_class_name) == Some(&true))
        })
    }

    /// Returns whether each of these `classes` may select a device of `pools` that satisfies `is_one`. Unknown counts
    /// as selected.
    fn classes_selecting(
        &self,
        classes: impl Iterator<Item = &'a Str>,
        pools: &BTreeSet<PoolId>,
        is_one: impl Fn(&PoolId, &Device) -> bool,
    ) -> BTreeMap<Str, bool> {
        let selectors = self.selectors.get_or_init(|| ClassSelectors::of(self.cluster));
        let mut classes: BTreeMap<Str, bool> = classes.map(|class| (class.clone(), false)).collect();
        for pool in pools.iter().filter_map(|pool| self.cluster.pool(pool)) {
            for (_, device, selectable) in selectors.devices(&pool) {
                if !is_one(&pool.id, device) {
                    continue;
                }
                for (class, has) in classes.iter_mut().filter(|(_, has)| !**has) {
                    let matches = selectors.matches(class, &selectable);
                    *has = matches!(matches, Match::Yes | Match::Unknown);
                }
            }
        }
        classes
    }

    /// Returns who may get another share of a device that draws from counters and that claims hold only as shares without any amount.
    pub(super) fn bare_shares(&self) -> Vec<String> {
        if self.shareable_partitions.is_empty() || self.asks.is_empty() {
            return Vec::new();
        }
        let mut held: BTreeMap<DeviceId, bool> = BTreeMap::new();
        for result in self.cluster.claims().flat_map(|claim| claim.results()) {
            if result.share_id.is_some() {
                *held.entry(result.id()).or_insert(true) &= result.consumed_capacity.is_empty();
            }
        }
        held.retain(|_, is_bare| *is_bare);
        let pools = held.keys().map(DeviceId::pool_id).collect();
        let requests = self.asks.iter().flat_map(Ask::requests);
        let classes = requests.map(|request| &request.device_class_name);
        let selecting = self.classes_selecting(classes, &pools, |pool, device| {
            !device.consumes_counters.is_empty()
                && device.allow_multiple_allocations
                && held.contains_key(&pool.device(&device.name))
        });
        self.asking(|ask| {
            let mut requests = ask.requests();
            requests.any(|request| selecting.get(&request.device_class_name) == Some(&true))
        })
    }

    /// Returns who has a constraint that compares an attribute which some device has as a list.
    pub(super) fn lists_compared(&self) -> Vec<String> {
        let constraints = self.asks.iter().flat_map(|ask| &ask.spec.devices.constraints);
        let compared: BTreeSet<&Str> = constraints.filter_map(Constraint::attribute).collect();
        if compared.is_empty() {
            return Vec::new();
        }
        let is_list = |name: &str| {
            self.cluster.slices().any(|slice| {
                let mut devices = slice.spec.devices.iter();
                devices.any(|device| {
                    attribute_of(device, &slice.spec.driver, name).is_some_and(AttributeValue::is_list)
                })
            })
        };
        let lists: BTreeSet<&Str> = compared.into_iter().filter(|name| is_list(name)).collect();
        self.asking(|ask| {
            let mut constraints = ask.spec.devices.constraints.iter();
            constraints.any(|constraint| constraint.attribute().is_some_and(|name| lists.contains(name)))
        })
    }

    /// Incomplete and invalid pools with counters, where a request wants all devices.
    pub(super) fn all_beside_broken_counters(&self) -> Vec<String> {
        let broken = self.all_of_broken_pools();
        let counters: BTreeSet<String> = self.counters.iter().map(|pool| format!("pool/{pool}")).collect();
        broken
            .into_iter()
            .filter(|pool| counters.contains(pool))
            .collect()
    }

    /// Returns who has an alternative after the first one that wants all devices.
    pub(super) fn all_as_later_alternative(&self) -> Vec<String> {
        self.asking(|ask| {
            ask.spec.devices.requests.iter().any(|request| {
                let mut later = request.first_available.iter().skip(1);
                later.any(|alternative| alternative.allocation_mode == AllocationMode::All)
            })
        })
    }

    /// Pools with slices for different nodes, where a request wants all devices.
    pub(super) fn all_of_pools_for_several_nodes(&self) -> Vec<String> {
        self.where_all_is_asked(|pool| {
            let slices = pool.slices.iter();
            !slices
                .map(|slice| (&slice.spec.node_name, &slice.spec.node_selector))
                .all_equal()
        })
    }

    /// Pods that are evicted although their request tolerates the taint, and who asks for devices with such a toleration.
    pub(super) fn tolerations_lost(&self) -> Vec<String> {
        let mut found = if self.is_of_one_pod {
            Vec::new()
        } else {
            super::with_taints(self.cluster, eviction::evicted_despite_request(self.cluster))
        };
        found.extend(self.asking(|ask| {
            let mut tolerations = ask.requests().flat_map(|request| request.tolerations.iter());
            tolerations.any(|toleration| toleration.effect.is_empty() || toleration.effect == NO_EXECUTE)
        }));
        found
    }

    pub(super) fn claims_in_use(&self) -> Vec<String> {
        self.asking(|_| true)
    }

    pub(super) fn classes_with_config(&self) -> Vec<String> {
        let classes = self.cluster.classes();
        let classes = classes.filter(|class| !class.spec.config.is_empty());
        self.where_asked(classes.map(|class| format!("deviceclass/{}", class.metadata.name)))
    }
}

/// Returns whether the claim's devices can be used on more than one node.
pub(in crate::scheduling) fn is_for_several_nodes(claim: &Claim) -> bool {
    claim.status.allocation.as_ref().is_some_and(|allocation| {
        let selector = allocation.node_selector.as_ref();
        selector.is_none_or(|selector| selector.single_node().is_none())
    })
}

/// Returns whether a request can get more than one device.
fn wants_several(request: &DeviceRequest) -> bool {
    request.allocation_mode != AllocationMode::ExactCount || request.count > 1
}
