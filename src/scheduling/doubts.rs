//! What keeps an answer from being the scheduler's own, whatever the rules say: who decides about the pod, bugs of its release, and
//! orders that only the scheduler knows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::profiles::Decider;
use crate::model::{
    AllocationMode, Claim, Cluster, Component, DeviceRequest, Environment, Gate, Pod, PoolId, Version,
};

/// Reasons for which the scheduler may answer otherwise for `pod`, or for claims alone, when `claims` are to be allocated. Each is a
/// sentence without a full stop. None where nothing is to be allocated and kube-scheduler decides.
pub fn doubts(cluster: &Cluster, pod: Option<&Pod>, claims: &[Arc<Claim>]) -> Vec<String> {
    let environment = cluster.environment();
    let mut doubts: Vec<String> = pod
        .and_then(|pod| Decider::of(environment, pod).doubt())
        .into_iter()
        .collect();
    let wanted: Vec<&Claim> = claims
        .iter()
        .filter(|claim| claim.status.allocation.is_none())
        .map(|claim| &**claim)
        .collect();
    if wanted.is_empty() {
        return doubts;
    }
    let facts = Facts::of(cluster, claims, &wanted);
    doubts.extend(
        BUGS.iter()
            .filter_map(|bug| bug.told(environment.version, &facts)),
    );
    doubts
}

/// Pools whose slices of the newest generation disagree on how many there are, with the numbers that they say. The scheduler takes
/// that of the first slice in its list, which has no order. Mirrors `pools_incubating.go`, `GatherPools`, v1.37.1, where it asks
/// whether a pool is complete.
pub fn disagreeing_pools(cluster: &Cluster) -> Vec<(PoolId, BTreeSet<i64>)> {
    let counts = |pool: crate::model::Pool<'_>| {
        let slices = pool.slices.iter();
        let counts: BTreeSet<i64> = slices.map(|slice| slice.spec.pool.resource_slice_count).collect();
        (counts.len() > 1).then_some((pool.id, counts))
    };
    cluster.pools().filter_map(counts).collect()
}

/// What hangs on the order of the scheduler's lists when `claims` are to be allocated, in every release: which devices they get. Each
/// is a sentence without a full stop.
pub fn orders(cluster: &Cluster, claims: &[Arc<Claim>]) -> Vec<String> {
    let wanted: Vec<&Claim> = claims
        .iter()
        .filter(|claim| claim.status.allocation.is_none())
        .map(|claim| &**claim)
        .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut orders: Vec<String> = disagreeing_pools(cluster)
        .into_iter()
        .map(|(pool, counts)| {
            let counts: Vec<String> = counts.iter().map(i64::to_string).collect();
            format!(
                "order decides: the slices of pool {pool} say resourceSliceCount {}, and kube-scheduler takes the number of the first \
                 in its list, which has no fixed order",
                counts.join(" and ")
            )
        })
        .collect();
    let distinct = |claim: &&&Claim| {
        let mut constraints = claim.spec.devices.constraints.iter();
        constraints.any(|constraint| constraint.distinct_attribute.is_some())
    };
    let is_shareable = || {
        let mut devices = cluster.slices().flat_map(|slice| &slice.spec.devices);
        devices.any(|device| device.allow_multiple_allocations)
    };
    if let Some(claim) = wanted.iter().find(distinct)
        && is_shareable()
    {
        orders.push(format!(
            "order decides: claim/{} wants distinct values of an attribute, and some devices can be shared, of which kube-scheduler \
             takes one or the other",
            claim.key()
        ));
    }
    orders
}

/// What of a cluster and of claims the bugs look at.
struct Facts {
    /// Drivers and pools whose slices have counters.
    counters: BTreeSet<PoolId>,
    /// Some device allows several allocations.
    shareable: bool,
    /// Some device does, and draws from counters.
    shareable_partitions: bool,
    rules: bool,
    /// A request wants all devices.
    all: bool,
    constraints: bool,
    /// A constraint wants distinct values among several devices of one request.
    distinct_in_request: bool,
    /// The counts of a claim exceed what fits into 64 bits.
    huge: bool,
    /// Of the claims, one holds devices of several nodes and one is to be allocated.
    mixed: bool,
}

impl Facts {
    fn of(cluster: &Cluster, claims: &[Arc<Claim>], wanted: &[&Claim]) -> Self {
        let environment = cluster.environment();
        let mut facts = Self {
            counters: BTreeSet::new(),
            shareable: false,
            shareable_partitions: false,
            rules: rules_count(cluster, environment),
            all: false,
            constraints: false,
            distinct_in_request: false,
            huge: false,
            mixed: claims.iter().any(|claim| {
                let allocation = claim.status.allocation.as_ref();
                allocation.is_some_and(|allocation| allocation.node_selector.is_none())
            }),
        };
        for slice in cluster.slices() {
            let mut draws = !slice.spec.shared_counters.is_empty();
            for device in &slice.spec.devices {
                draws |= !device.consumes_counters.is_empty();
                facts.shareable |= device.allow_multiple_allocations;
                facts.shareable_partitions |=
                    device.allow_multiple_allocations && !device.consumes_counters.is_empty();
            }
            if draws {
                facts.counters.insert(slice.pool_id());
            }
        }
        for claim in wanted {
            facts.claim(claim);
        }
        facts
    }

    fn claim(&mut self, claim: &Claim) {
        let devices = &claim.spec.devices;
        let mut total: i128 = 0;
        let several = |request: &DeviceRequest| {
            request.allocation_mode != AllocationMode::ExactCount || request.count > 1
        };
        let mut any_several = false;
        for request in &devices.requests {
            let forms = request.exactly.iter().chain(&request.first_available);
            for form in forms {
                self.all |= form.allocation_mode == AllocationMode::All;
                any_several |= several(form);
                total += i128::from(form.count);
            }
        }
        self.huge |= total > i128::from(i64::MAX);
        self.constraints |= !devices.constraints.is_empty();
        let mut constraints = devices.constraints.iter();
        self.distinct_in_request |=
            any_several && constraints.any(|constraint| constraint.distinct_attribute.is_some());
    }

    /// Whether drivers have pools with counters of one name.
    fn shares_pool_names(&self) -> bool {
        let names: BTreeSet<_> = self.counters.iter().map(|pool| &pool.pool).collect();
        names.len() < self.counters.len()
    }
}

fn rules_count(cluster: &Cluster, environment: &Environment) -> bool {
    cluster.rules().next().is_some() && environment.enabled(Component::Scheduler, Gate::DRADeviceTaintRules)
}

/// A bug of kube-scheduler with which it answers otherwise than its rules say.
struct Bug {
    /// First minor release of 1.x that has it.
    since: u32,
    /// Patch releases of 1.x that fixed it, by minor release. Older releases without one never got the fix, newer ones had it from
    /// the beginning.
    fixed: &'static [(u32, u32)],
    /// Whether it can show.
    shows: fn(&Facts) -> bool,
    /// What the scheduler does.
    what: &'static str,
}

/// Bugs that decide about allocations, newest first.
const BUGS: [Bug; 10] = [
    Bug {
        since: 34,
        fixed: &[(34, 12), (35, 9), (36, 5), (37, 1)],
        shows: |facts| facts.huge,
        what: "fails with a panic where the counts of a claim add up to more than 64 bits hold",
    },
    Bug {
        since: 36,
        fixed: &[(36, 4)],
        shows: Facts::shares_pool_names,
        what: "mixes up the counters of two drivers whose pools have one name",
    },
    Bug {
        since: 34,
        fixed: &[(36, 3)],
        shows: |facts| facts.constraints || !facts.counters.is_empty(),
        what: "forgets to give back what a rejected device took of counters and constraints, so that a pod can stay pending that fits",
    },
    Bug {
        since: 36,
        fixed: &[(36, 3)],
        shows: |facts| facts.rules,
        what: "can fail with a panic over DeviceTaintRules, or ignore them",
    },
    Bug {
        since: 35,
        fixed: &[(36, 2)],
        shows: |facts| facts.shareable_partitions,
        what: "does not count shares for counters, so that partitions that exclude each other are granted",
    },
    Bug {
        since: 34,
        fixed: &[(36, 2)],
        shows: |facts| facts.mixed,
        what: "can leave a pod pending for ever that uses a claim for several nodes beside one for a single node",
    },
    Bug {
        since: 35,
        fixed: &[(35, 6), (36, 2)],
        shows: |facts| facts.all && !facts.counters.is_empty(),
        what: "can fail with a panic where a request wants all devices and some draw from counters",
    },
    Bug {
        since: 34,
        fixed: &[(37, 0)],
        shows: |facts| facts.all && facts.shareable,
        what: "leaves out used-up devices where a request wants all of them and some can be shared",
    },
    Bug {
        since: 34,
        fixed: &[(37, 0)],
        shows: |facts| facts.distinct_in_request,
        what: "compares only some of the devices where a constraint wants distinct values within one request",
    },
    Bug {
        since: 34,
        fixed: &[(35, 0)],
        shows: |facts| facts.shareable,
        what: "checks the capacity of the wrong device where devices can be shared, and may fail with a panic",
    },
];

impl Bug {
    /// The release that has the fix, where `version` has not.
    fn fix_for(&self, version: Version) -> Option<Version> {
        let own = self.fixed.iter().find(|(minor, _)| *minor == version.minor);
        let newest = self.fixed.iter().map(|(minor, _)| *minor).max()?;
        let is_open = match own {
            Some((_, patch)) => version.patch < *patch,
            None => version.minor < newest,
        };
        let (minor, patch) = *own.or_else(|| self.fixed.iter().find(|(minor, _)| *minor > version.minor))?;
        let fix = Version {
            major: version.major,
            minor,
            patch,
        };
        (version.minor >= self.since && is_open).then_some(fix)
    }

    fn told(&self, version: Version, facts: &Facts) -> Option<String> {
        let fix = self.fix_for(version)?;
        let what = self.what;
        (self.shows)(facts).then(|| format!("a known bug: kube-scheduler before {fix} {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_ends_with_the_patch_that_fixed_it() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        let bug = |since, fixed| Bug {
            since,
            fixed,
            shows: |_| true,
            what: "",
        };
        for (since, fixed, release, expected) in [
            (34, &[(36, 3)][..], "1.34.9", Some("1.36.3")),
            (34, &[(36, 3)], "1.36.2", Some("1.36.3")),
            (34, &[(36, 3)], "1.36.3", None),
            (34, &[(36, 3)], "1.37.0", None),
            (36, &[(36, 4)], "1.35.8", None),
            (34, &[(34, 12), (37, 1)], "1.34.11", Some("1.34.12")),
            (34, &[(34, 12), (37, 1)], "1.34.12", None),
            (34, &[(34, 12), (37, 1)], "1.37.0", Some("1.37.1")),
            (34, &[(37, 0)], "1.36.6", Some("1.37.0")),
            (34, &[(37, 0)], "1.38.0", None),
        ] {
            let fix = bug(since, fixed).fix_for(version(release));
            assert_eq!(fix, expected.map(version), "{release}");
        }
    }
}
