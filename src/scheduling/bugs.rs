//! Known bugs of kube-scheduler in dealing with devices: which patch releases have them, what exposes a cluster, and where they were
//! reported. What a bug does is not imitated unless the table says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::devices::{ClassSelectors, Match, keeps_off};
use crate::model::{
    AllocationMode, Claim, ClaimSpec, Cluster, Component, DeviceRequest, Gate, Pod, PoolId, Str, Version,
};
use crate::reservation::claim_name;

/// What comes of a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// The status of claims is not as it should be.
    Status,
    /// Pods stay pending that could run.
    Pending,
    /// Devices are handed out that should not be, or the scheduler ends.
    Outage,
}

/// A bug of kube-scheduler with which it answers otherwise than its rules say.
#[derive(Debug)]
pub struct Bug {
    /// Where it was reported or mended: an issue or pull request of kubernetes/kubernetes.
    pub issue: u32,
    /// First minor release of 1.x that has it.
    since: u32,
    /// Patch releases of 1.x that fixed it, by minor release. Older releases without one never got the fix, newer ones had it from
    /// the beginning.
    fixed: &'static [(u32, u32)],
    /// It shows only with all of these on in the scheduler. A gate that the release does not have yet does not count.
    gates: &'static [Gate],
    /// What comes of it.
    pub harm: Harm,
    /// The allocator does the same in these releases, so that its answer is the scheduler's all the same; or nothing is granted otherwise.
    is_imitated: bool,
    /// What can make it show.
    shows: fn(&View<'_>) -> Vec<String>,
    /// What the scheduler does, after its name.
    pub what: &'static str,
}

/// The bugs, newest first.
const BUGS: &[Bug] = &[
    Bug {
        issue: 141_998,
        since: 34,
        fixed: &[(37, 1)],
        gates: &[Gate::DRADeviceTaints, Gate::DRADeviceTaintRules],
        harm: Harm::Outage,
        is_imitated: true,
        shows: |view| view.bare_rules(),
        what: "takes a DeviceTaintRule without a selector for one about every device, so that no pod with claims is scheduled",
    },
    Bug {
        issue: 141_922,
        since: 34,
        fixed: &[(34, 12), (35, 9), (36, 5), (37, 1)],
        gates: &[],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.huge_counts(),
        what: "fails with a panic where the counts of a claim add up to more than 64 bits hold",
    },
    Bug {
        issue: 141_898,
        since: 34,
        fixed: &[(38, 0)],
        gates: &[],
        harm: Harm::Pending,
        is_imitated: true,
        shows: |view| view.all_of_broken_pools(),
        what: "gives a pod up on every node where a request wants all devices and a pool of one node is incomplete or invalid",
    },
    Bug {
        issue: 140_769,
        since: 34,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: true,
        shows: |view| view.all_of_shareable(),
        what: "leaves out used-up devices where a request wants all of them and some can be shared",
    },
    Bug {
        issue: 140_442,
        since: 34,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: true,
        shows: |view| view.odd_capacities(),
        what: "takes a negative amount of capacity, or one that 64 bits cannot hold, for one that can be served",
    },
    Bug {
        issue: 140_438,
        since: 34,
        fixed: &[(37, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: true,
        shows: |view| view.distinct_in_request(),
        what: "compares only some of the devices where a constraint wants distinct values within one request",
    },
    Bug {
        issue: 140_435,
        since: 35,
        fixed: &[(36, 4)],
        gates: &[Gate::DRAPartitionableDevices],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.pools_of_one_name(),
        what: "mixes up the counters of two drivers whose pools have one name",
    },
    Bug {
        issue: 140_431,
        since: 34,
        fixed: &[(36, 3)],
        gates: &[],
        harm: Harm::Pending,
        is_imitated: false,
        shows: |view| view.can_leak(),
        what: "forgets to give back what a rejected device took of counters and constraints, so that a pod can stay pending that fits",
    },
    Bug {
        issue: 139_732,
        since: 34,
        fixed: &[(37, 0)],
        gates: &[],
        harm: Harm::Status,
        is_imitated: true,
        shows: |view| view.repeated_configs(),
        what: "writes a configuration into the allocation once for each request that it is for",
    },
    Bug {
        issue: 139_681,
        since: 36,
        fixed: &[(36, 3)],
        gates: &[Gate::DRADeviceTaints, Gate::DRADeviceTaintRules],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.rules(),
        what: "can fail with a panic over DeviceTaintRules, or ignore them",
    },
    Bug {
        issue: 139_040,
        since: 34,
        fixed: &[(36, 2)],
        gates: &[Gate::DRAPartitionableDevices, Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.shareable_partitions(),
        what: "does not count shares for counters, so that partitions that exclude each other are granted",
    },
    Bug {
        issue: 139_016,
        since: 35,
        fixed: &[(35, 6), (36, 2)],
        gates: &[Gate::DRAPrioritizedList],
        harm: Harm::Pending,
        is_imitated: false,
        shows: |view| view.mixed_pods(),
        what: "can leave a pod pending for ever that uses an allocated claim for several nodes beside one that has no devices yet",
    },
    Bug {
        issue: 138_885,
        since: 35,
        fixed: &[(35, 6), (36, 2)],
        gates: &[Gate::DRAPartitionableDevices],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.all_with_counters(),
        what: "can fail with a panic where a request wants all devices and some draw from counters",
    },
    Bug {
        issue: 136_566,
        since: 34,
        fixed: &[(34, 4), (35, 1)],
        gates: &[],
        harm: Harm::Outage,
        is_imitated: true,
        shows: |view| view.claims_in_use(),
        what: "can give one device to two claims when it schedules many pods in a short time",
    },
    Bug {
        issue: 135_098,
        since: 34,
        fixed: &[(34, 2)],
        gates: &[],
        harm: Harm::Status,
        is_imitated: true,
        shows: |view| view.classes_with_config(),
        what: "does not write into the allocation which requests the configuration of a class is for",
    },
    Bug {
        issue: 133_706,
        since: 34,
        fixed: &[(35, 0)],
        gates: &[Gate::DRAConsumableCapacity],
        harm: Harm::Outage,
        is_imitated: false,
        shows: |view| view.shareable(),
        what: "checks the capacity of the wrong device where devices can be shared, and may fail with a panic",
    },
];

impl Bug {
    /// The release that has the fix, where `version` has not.
    pub fn fix_for(&self, version: Version) -> Option<Version> {
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

    /// Whether a release of 1.`minor` has it, and one of them is fixed: then the patch decides.
    pub fn depends_on_patch(&self, minor: u32) -> bool {
        self.fixed
            .iter()
            .any(|(fixed, patch)| *fixed == minor && *patch > 0)
    }

    fn applies(&self, cluster: &Cluster) -> Option<Version> {
        let environment = cluster.environment();
        let on = |gate: &Gate| {
            let exists = gate.stage_in(environment.emulated_minor).is_some();
            !exists || environment.enabled(Component::Scheduler, *gate)
        };
        self.fix_for(environment.version)
            .filter(|_| self.gates.iter().all(on))
    }
}

/// A bug that a cluster can meet.
#[derive(Debug)]
pub struct Exposure {
    /// Which.
    pub bug: &'static Bug,
    /// The release that has the fix; that of a minor release which is not out yet ends in 0.
    pub fix: Version,
    /// What can make it show, as `claim/NAMESPACE/NAME`.
    pub by: Vec<String>,
}

/// The bugs that kube-scheduler of the release of `cluster` has and that its objects can bring to show: claims that have no devices yet,
/// templates, pods, pools, rules and classes.
pub fn exposures(cluster: &Cluster) -> Vec<Exposure> {
    let claims = cluster
        .claims()
        .filter(|claim| claim.status.allocation.is_none() && !claim.metadata.is_deleting());
    let claims = claims.map(|claim| Ask {
        name: format!("claim/{}", claim.key()),
        spec: &claim.spec,
    });
    let templates = cluster.templates().map(|template| Ask {
        name: format!("template/{}", template.metadata.key()),
        spec: &template.spec.spec,
    });
    let pods = cluster
        .pods()
        .filter(|pod| pod.node().is_none() && !pod.is_terminal());
    let view = View::new(
        cluster,
        claims.chain(templates).collect(),
        pods.map(|pod| &**pod).collect(),
    );
    exposed(&view)
}

fn exposed(view: &View<'_>) -> Vec<Exposure> {
    BUGS.iter()
        .filter_map(|bug| {
            let fix = bug.applies(view.cluster)?;
            let by = (bug.shows)(view);
            (!by.is_empty()).then_some(Exposure { bug, fix, by })
        })
        .collect()
}

/// What is said of the bugs that bear on the answer for `pod`, or for claims alone, where `wanted` are to be allocated: those with which
/// the scheduler may answer otherwise, and those that its answer shows.
#[derive(Debug, Default)]
pub struct Told {
    /// The answer may be another one.
    pub doubts: Vec<String>,
    /// The answer is the scheduler's, bug and all.
    pub notes: Vec<String>,
}

/// The bugs that bear on an answer. `mixed` says that a claim of the pod is allocated for several nodes.
pub(super) fn told(cluster: &Cluster, pod: Option<&Pod>, wanted: &[&Claim], mixed: bool) -> Told {
    let asks = wanted.iter().map(|claim| Ask {
        name: format!("claim/{}", claim.key()),
        spec: &claim.spec,
    });
    let view = View {
        is_mixed: mixed,
        ..View::new(cluster, asks.collect(), pod.into_iter().collect())
    };
    let mut told = Told::default();
    for Exposure { bug, fix, .. } in exposed(&view) {
        // Races and what a status says are nothing that one answer shows.
        if bug.harm == Harm::Status || bug.issue == 136_566 {
            continue;
        }
        let text = format!(
            "a known bug: kube-scheduler before {} {} (kubernetes/kubernetes#{}){}",
            fixed_in(fix),
            bug.what,
            bug.issue,
            vendor(cluster).map_or_else(String::new, |vendor| format!("; {vendor}")),
        );
        if bug.is_imitated {
            told.notes.push(text);
        } else {
            told.doubts.push(text);
        }
    }
    told
}

/// `1.36.2`; a minor release that is not out yet, and that this program was not compared with, without a patch.
pub fn fixed_in(fix: Version) -> String {
    if fix.minor > Version::NEWEST_MINOR {
        format!("{}.{}", fix.major, fix.minor)
    } else {
        fix.to_string()
    }
}

/// That the release is a vendor's build, whose bugs are not known.
pub fn vendor(cluster: &Cluster) -> Option<String> {
    let environment = cluster.environment();
    let said = environment.git_version.as_deref()?;
    let own = environment.version;
    let plain = said.trim_start_matches('v') == own.to_string();
    (!plain).then(|| format!("{said} counts as {own}, and may have fixes of its vendor"))
}

/// Something that asks for devices.
struct Ask<'a> {
    name: String,
    spec: &'a ClaimSpec,
}

impl<'a> Ask<'a> {
    fn requests(&self) -> impl Iterator<Item = &'a DeviceRequest> + use<'a> {
        let requests = self.spec.devices.requests.iter();
        requests.flat_map(|request| request.exactly.iter().chain(&request.first_available))
    }

    fn wants_all(&self) -> bool {
        self.requests()
            .any(|request| request.allocation_mode == AllocationMode::All)
    }
}

/// What of a cluster and of claims the bugs look at.
struct View<'a> {
    cluster: &'a Cluster,
    asks: Vec<Ask<'a>>,
    /// Pods to be scheduled.
    pods: Vec<&'a Pod>,
    /// A claim for several nodes is known to be among those of the pods.
    is_mixed: bool,
    /// Drivers and pools whose slices have counters.
    counters: BTreeSet<PoolId>,
    /// Devices that allow several allocations, as `driver/pool/name`.
    shareable: Vec<String>,
    /// Those of them that draw from counters.
    shareable_partitions: Vec<String>,
    selectors: OnceLock<ClassSelectors>,
    /// Whether a class selects a device that draws from counters, as far as it was asked.
    with_counters: OnceLock<BTreeMap<Str, bool>>,
}

impl<'a> View<'a> {
    fn new(cluster: &'a Cluster, asks: Vec<Ask<'a>>, pods: Vec<&'a Pod>) -> Self {
        let mut view = Self {
            cluster,
            asks,
            pods,
            is_mixed: false,
            counters: BTreeSet::new(),
            shareable: Vec::new(),
            shareable_partitions: Vec::new(),
            selectors: OnceLock::new(),
            with_counters: OnceLock::new(),
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

    /// `found`, where somebody asks for devices at all.
    fn where_asked(&self, found: Vec<String>) -> Vec<String> {
        if self.asks.is_empty() { Vec::new() } else { found }
    }

    fn rules(&self) -> Vec<String> {
        let rules = self.cluster.rules();
        self.where_asked(
            rules
                .map(|rule| format!("devicetaintrule/{}", rule.metadata.name))
                .collect(),
        )
    }

    fn bare_rules(&self) -> Vec<String> {
        let rules = self.cluster.rules();
        let rules = rules.filter(|rule| rule.spec.device_selector.is_none() && keeps_off(&rule.spec.taint));
        self.where_asked(
            rules
                .map(|rule| format!("devicetaintrule/{}", rule.metadata.name))
                .collect(),
        )
    }

    fn huge_counts(&self) -> Vec<String> {
        self.asking(|ask| {
            let total: i128 = ask.requests().map(|request| i128::from(request.count)).sum();
            total > i128::from(i64::MAX)
        })
    }

    fn all_of_broken_pools(&self) -> Vec<String> {
        if !self.asks.iter().any(Ask::wants_all) {
            return Vec::new();
        }
        let broken = self
            .cluster
            .pools()
            .filter(|pool| !pool.is_complete() || !pool.duplicate_devices().is_empty());
        broken.map(|pool| format!("pool/{}", pool.id)).collect()
    }

    fn all_of_shareable(&self) -> Vec<String> {
        if self.shareable.is_empty() {
            return Vec::new();
        }
        self.asking(Ask::wants_all)
    }

    fn odd_capacities(&self) -> Vec<String> {
        const NANOS_OF_A_MILLI: i128 = 1_000_000;
        self.asking(|ask| {
            let amounts = ask
                .requests()
                .filter_map(|request| request.capacity.as_ref())
                .flat_map(|capacity| &capacity.requests);
            amounts.into_iter().any(|(_, amount)| {
                let fits = amount.nanos().is_some_and(|nanos| {
                    nanos % NANOS_OF_A_MILLI == 0 && nanos / NANOS_OF_A_MILLI <= i128::from(i64::MAX)
                });
                amount.sign() < 0 || !fits
            })
        })
    }

    fn distinct_in_request(&self) -> Vec<String> {
        self.asking(|ask| {
            let mut constraints = ask.spec.devices.constraints.iter();
            let several = |request: &DeviceRequest| {
                request.allocation_mode != AllocationMode::ExactCount || request.count > 1
            };
            ask.requests().any(several)
                && constraints.any(|constraint| constraint.distinct_attribute.is_some())
        })
    }

    /// Pools with counters whose name a pool of another driver with counters has too.
    fn pools_of_one_name(&self) -> Vec<String> {
        let same = |one: &&PoolId| {
            let mut others = self.counters.iter();
            others.any(|other| other.pool == one.pool && other.driver != one.driver)
        };
        let pools = self.counters.iter().filter(same);
        self.where_asked(pools.map(|pool| format!("pool/{pool}")).collect())
    }

    fn can_leak(&self) -> Vec<String> {
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

    /// Who has several requests, and a configuration that is for more than one.
    fn repeated_configs(&self) -> Vec<String> {
        self.asking(|ask| {
            let devices = &ask.spec.devices;
            let is_for_several = |requests: &[Str]| requests.len() != 1;
            devices.requests.len() > 1
                && devices
                    .config
                    .iter()
                    .any(|config| is_for_several(&config.requests))
        })
    }

    fn shareable(&self) -> Vec<String> {
        self.where_asked(self.shareable.clone())
    }

    fn shareable_partitions(&self) -> Vec<String> {
        self.where_asked(self.shareable_partitions.clone())
    }

    fn mixed_pods(&self) -> Vec<String> {
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

    fn all_with_counters(&self) -> Vec<String> {
        if self.counters.is_empty() || !self.asks.iter().any(Ask::wants_all) {
            return Vec::new();
        }
        let with_counters = self.with_counters.get_or_init(|| self.classes_with_counters());
        self.asking(|ask| {
            ask.requests().any(|request| {
                request.allocation_mode == AllocationMode::All
                    && with_counters
                        .get(&request.device_class_name)
                        .copied()
                        .unwrap_or_default()
            })
        })
    }

    /// Whether each class that somebody wants all devices of has one that draws from counters. What could not be told counts as one.
    fn classes_with_counters(&self) -> BTreeMap<Str, bool> {
        let selectors = self.selectors.get_or_init(|| ClassSelectors::of(self.cluster));
        let all = self.asks.iter().flat_map(Ask::requests);
        let all = all.filter(|request| request.allocation_mode == AllocationMode::All);
        let mut classes: BTreeMap<Str, bool> = all
            .map(|request| (request.device_class_name.clone(), false))
            .collect();
        for pool in self.counters.iter().filter_map(|pool| self.cluster.pool(pool)) {
            for (_, device, selectable) in selectors.devices(&pool) {
                if device.consumes_counters.is_empty() {
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

    fn claims_in_use(&self) -> Vec<String> {
        self.asking(|_| true)
    }

    fn classes_with_config(&self) -> Vec<String> {
        let classes = self.cluster.classes();
        let classes = classes.filter(|class| !class.spec.config.is_empty());
        self.where_asked(
            classes
                .map(|class| format!("deviceclass/{}", class.metadata.name))
                .collect(),
        )
    }
}

/// Whether the claim's devices can be used on more than one node.
pub(super) fn is_for_several_nodes(claim: &Claim) -> bool {
    claim.status.allocation.as_ref().is_some_and(|allocation| {
        let selector = allocation.node_selector.as_ref();
        selector.is_none_or(|selector| selector.single_node().is_none())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::devices::testing::World;
    use crate::model::{Evidence, GateState, Kind};

    #[test]
    fn a_bug_ends_with_the_patch_that_fixed_it() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        let bug = |since, fixed| Bug {
            issue: 1,
            since,
            fixed,
            gates: &[],
            harm: Harm::Pending,
            is_imitated: false,
            shows: |_| Vec::new(),
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
            (34, &[(34, 2)], "1.35.0", None),
            (34, &[(37, 0)], "1.36.6", Some("1.37.0")),
            (34, &[(37, 0)], "1.38.0", None),
        ] {
            let fix = bug(since, fixed).fix_for(version(release));
            assert_eq!(fix, expected.map(version), "{release}");
        }
    }

    fn at(world: World, release: &str, gates: &[(Gate, bool)]) -> Cluster {
        let world = world.knowing(|environment| {
            environment.version = release.parse().unwrap();
            environment.git_version = Some(format!("v{release}"));
            environment.emulated_minor = environment.version.minor;
            environment.min_compatibility_minor = environment.version.minor - 1;
            for (gate, enabled) in gates {
                let state = GateState {
                    enabled: *enabled,
                    evidence: Evidence::Flag,
                };
                environment.gates.push((Component::Scheduler, *gate, state));
            }
        });
        world.build()
    }

    fn request(more: Value) -> Value {
        let mut exactly = json!({"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1});
        for (key, value) in more.as_object().unwrap() {
            exactly[key] = value.clone();
        }
        json!({"name": "r", "exactly": exactly})
    }

    fn asking(world: World, request: Value, more: Value) -> World {
        let mut devices = json!({"requests": [request]});
        for (key, value) in more.as_object().unwrap() {
            devices[key] = value.clone();
        }
        world
            .class("d")
            .claim("c", &json!({"devices": devices}), &json!({}))
    }

    fn plain(world: World) -> World {
        asking(world, request(json!({})), json!({}))
    }

    fn of_all(world: World) -> World {
        asking(
            world,
            request(json!({"allocationMode": "All", "count": 0})),
            json!({}),
        )
    }

    fn slice(devices: Value) -> World {
        World::default().slice("p", &devices)
    }

    fn draws() -> Value {
        json!([{"counterSet": "s", "counters": {"c": {"value": "1"}}}])
    }

    /// Counters in a pool of the name `p` of this driver.
    fn partitions(world: World, driver: &str, pool: &str) -> World {
        let spec = json!({"driver": driver, "nodeName": "node-1", "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
                          "devices": [{"name": "x", "consumesCounters": draws()}]});
        let metadata = json!({"name": format!("{driver}-{pool}")});
        world.with(Kind::ResourceSlice, &json!({"metadata": metadata, "spec": spec}))
    }

    fn rule(selector: Value) -> World {
        plain(World::default().rule("rule", &selector, "NoSchedule"))
    }

    fn allocated(world: World, name: &str, terms: Value) -> World {
        let mut status = json!({"allocation": {"devices": {"results": [
            {"request": "r", "driver": "d", "pool": "p", "device": "x"}]}}});
        if !terms.is_null() {
            status["allocation"]["nodeSelector"] = json!({"nodeSelectorTerms": [terms]});
        }
        world.claim(name, &json!({}), &status)
    }

    fn mixed(terms: Value) -> World {
        let world = plain(allocated(World::default(), "shared", terms));
        let claims: Vec<_> = ["shared", "c"]
            .into_iter()
            .map(|name| json!({"name": name, "resourceClaimName": name}))
            .collect();
        let metadata = json!({"namespace": "n", "name": "p", "uid": "p-uid"});
        world.with(
            Kind::Pod,
            &json!({"metadata": metadata, "spec": {"resourceClaims": claims}}),
        )
    }

    fn configured(requests: Value) -> World {
        let config = json!([{"requests": requests, "opaque": {"driver": "d", "parameters": {}}}]);
        let second = json!({"name": "q", "exactly": {"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1}});
        let devices = json!({"requests": [request(json!({})), second], "config": config});
        World::default()
            .class("d")
            .claim("c", &json!({"devices": devices}), &json!({}))
    }

    fn class(config: Value) -> World {
        let metadata = json!({"name": "k"});
        plain(World::default()).with(
            Kind::DeviceClass,
            &json!({"metadata": metadata, "spec": {"config": config}}),
        )
    }

    fn distinct(count: i64) -> World {
        let constraints = json!([{"distinctAttribute": "d/a"}]);
        asking(
            World::default(),
            request(json!({"count": count})),
            json!({"constraints": constraints}),
        )
    }

    /// A world that has the bug and one that has not, otherwise alike; releases that are the last to have it, and the first without.
    struct Row {
        issue: u32,
        has: fn() -> World,
        has_not: fn() -> World,
        by: &'static str,
        last: &'static [&'static str],
        first_without: &'static [&'static str],
        gates: &'static [(Gate, bool)],
    }

    const TAINT_RULES: &[(Gate, bool)] = &[(Gate::DRADeviceTaints, true), (Gate::DRADeviceTaintRules, true)];
    const SHARES: &[(Gate, bool)] = &[(Gate::DRAConsumableCapacity, true)];
    const PARTITIONS: &[(Gate, bool)] = &[(Gate::DRAPartitionableDevices, true)];
    const BOTH: &[(Gate, bool)] = &[
        (Gate::DRAConsumableCapacity, true),
        (Gate::DRAPartitionableDevices, true),
    ];

    const ROWS: &[Row] = &[
        Row {
            issue: 141_998,
            has: || rule(Value::Null),
            has_not: || rule(json!({"driver": "d"})),
            by: "devicetaintrule/rule",
            last: &["1.34.13", "1.35.10", "1.36.6", "1.37.0"],
            first_without: &["1.37.1"],
            gates: TAINT_RULES,
        },
        Row {
            issue: 141_922,
            has: || {
                let second = json!({"name": "q", "exactly": {"deviceClassName": "d", "allocationMode": "ExactCount", "count": 1}});
                let first = request(json!({"count": i64::MAX}));
                World::default().class("d").claim(
                    "c",
                    &json!({"devices": {"requests": [first, second]}}),
                    &json!({}),
                )
            },
            has_not: || asking(World::default(), request(json!({"count": i64::MAX})), json!({})),
            by: "claim/n/c",
            last: &["1.34.11", "1.35.8", "1.36.4", "1.37.0"],
            first_without: &["1.34.12", "1.35.9", "1.36.5", "1.37.1"],
            gates: &[],
        },
        Row {
            issue: 141_898,
            has: || {
                let spec = json!({"nodeName": "node-1", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 2}});
                of_all(World::default().slice_with("p", &spec))
            },
            has_not: || of_all(slice(json!([{"name": "x"}]))),
            by: "pool/d/p",
            last: &["1.34.13", "1.35.10", "1.36.6", "1.37.2"],
            first_without: &["1.38.0"],
            gates: &[],
        },
        Row {
            issue: 140_769,
            has: || of_all(slice(json!([{"name": "x", "allowMultipleAllocations": true}]))),
            has_not: || of_all(slice(json!([{"name": "x"}]))),
            by: "claim/n/c",
            last: &["1.34.13", "1.35.10", "1.36.6"],
            first_without: &["1.37.0"],
            gates: SHARES,
        },
        Row {
            issue: 140_442,
            has: || {
                asking(
                    World::default(),
                    request(json!({"capacity": {"requests": {"m": "-1"}}})),
                    json!({}),
                )
            },
            has_not: || {
                asking(
                    World::default(),
                    request(json!({"capacity": {"requests": {"m": "1Gi"}}})),
                    json!({}),
                )
            },
            by: "claim/n/c",
            last: &["1.34.13", "1.35.10", "1.36.6"],
            first_without: &["1.37.0"],
            gates: SHARES,
        },
        Row {
            issue: 140_438,
            has: || distinct(3),
            has_not: || distinct(1),
            by: "claim/n/c",
            last: &["1.34.13", "1.35.10", "1.36.6"],
            first_without: &["1.37.0"],
            gates: SHARES,
        },
        Row {
            issue: 140_435,
            has: || plain(partitions(partitions(World::default(), "d", "p"), "e", "p")),
            has_not: || plain(partitions(partitions(World::default(), "d", "p"), "e", "q")),
            by: "pool/d/p",
            last: &["1.35.10", "1.36.3"],
            first_without: &["1.36.4", "1.37.0"],
            gates: PARTITIONS,
        },
        Row {
            issue: 140_431,
            has: || plain(partitions(World::default(), "d", "p")),
            has_not: || plain(slice(json!([{"name": "x"}]))),
            by: "claim/n/c",
            last: &["1.34.13", "1.35.10", "1.36.2"],
            first_without: &["1.36.3", "1.37.0"],
            gates: PARTITIONS,
        },
        Row {
            issue: 139_732,
            has: || configured(json!([])),
            has_not: || configured(json!(["r"])),
            by: "claim/n/c",
            last: &["1.34.13", "1.35.10", "1.36.6"],
            first_without: &["1.37.0"],
            gates: &[],
        },
        Row {
            issue: 139_681,
            has: || rule(json!({"driver": "d"})),
            has_not: || plain(World::default()),
            by: "devicetaintrule/rule",
            last: &["1.36.0", "1.36.2"],
            first_without: &["1.35.10", "1.36.3", "1.37.0"],
            gates: TAINT_RULES,
        },
        Row {
            issue: 139_040,
            has: || {
                let device =
                    json!([{"name": "x", "allowMultipleAllocations": true, "consumesCounters": draws()}]);
                plain(slice(device))
            },
            has_not: || {
                let devices = json!([{"name": "x", "allowMultipleAllocations": true}, {"name": "y", "consumesCounters": draws()}]);
                plain(slice(devices))
            },
            by: "device/d/p/x",
            last: &["1.35.10", "1.36.1"],
            first_without: &["1.36.2", "1.37.0"],
            gates: BOTH,
        },
        Row {
            issue: 139_016,
            has: || mixed(Value::Null),
            has_not: || {
                mixed(
                    json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}),
                )
            },
            by: "pod/n/p",
            last: &["1.35.5", "1.36.1"],
            first_without: &["1.34.13", "1.35.6", "1.36.2", "1.37.0"],
            gates: &[],
        },
        Row {
            issue: 138_885,
            has: || of_all(partitions(World::default(), "d", "p")),
            // The class selects devices of another driver.
            has_not: || of_all(partitions(World::default(), "e", "p")),
            by: "claim/n/c",
            last: &["1.35.5", "1.36.1"],
            first_without: &["1.34.13", "1.35.6", "1.36.2", "1.37.0"],
            gates: PARTITIONS,
        },
        Row {
            issue: 136_566,
            has: || plain(World::default()),
            has_not: World::default,
            by: "claim/n/c",
            last: &["1.34.3", "1.35.0"],
            first_without: &["1.34.4", "1.35.1", "1.36.0"],
            gates: &[],
        },
        Row {
            issue: 135_098,
            has: || class(json!([{"opaque": {"driver": "d", "parameters": {}}}])),
            has_not: || class(json!([])),
            by: "deviceclass/k",
            last: &["1.34.1"],
            first_without: &["1.34.2", "1.35.0"],
            gates: &[],
        },
        Row {
            issue: 133_706,
            has: || plain(slice(json!([{"name": "x", "allowMultipleAllocations": true}]))),
            has_not: || plain(slice(json!([{"name": "x"}]))),
            by: "device/d/p/x",
            last: &["1.34.0", "1.34.13"],
            first_without: &["1.35.0", "1.36.0"],
            gates: SHARES,
        },
    ];

    #[test]
    fn every_bug_is_found_where_it_is_and_not_where_it_is_not() {
        let issues: Vec<u32> = ROWS.iter().map(|row| row.issue).collect();
        assert_eq!(issues, BUGS.iter().map(|bug| bug.issue).collect::<Vec<_>>());
        for row in ROWS {
            let found = |world: World, release: &str, gates: &[(Gate, bool)]| {
                let cluster = at(world, release, gates);
                let mut exposures = exposures(&cluster).into_iter();
                exposures.find(|exposure| exposure.bug.issue == row.issue)
            };
            for release in row.last {
                let exposure = found((row.has)(), release, row.gates);
                let Some(exposure) = exposure else {
                    panic!("{} is not found in {release}", row.issue);
                };
                assert_eq!(exposure.by[0], row.by, "{} in {release}", row.issue);
                assert!(
                    found((row.has_not)(), release, row.gates).is_none(),
                    "{} in {release}",
                    row.issue
                );
                for gate in BUGS.iter().find(|bug| bug.issue == row.issue).unwrap().gates {
                    let minor = release.parse::<Version>().unwrap().minor;
                    if gate.stage_in(minor).is_some() && !gate.is_locked_in(minor) {
                        let off: Vec<_> = row
                            .gates
                            .iter()
                            .copied()
                            .filter(|(of, _)| of != gate)
                            .chain([(*gate, false)])
                            .collect();
                        assert!(
                            found((row.has)(), release, &off).is_none(),
                            "{} without {gate}",
                            row.issue
                        );
                    }
                }
            }
            for release in row.first_without {
                assert!(
                    found((row.has)(), release, row.gates).is_none(),
                    "{} in {release}",
                    row.issue
                );
            }
        }
    }

    #[test]
    fn a_build_of_a_vendor_counts_as_its_upstream_patch() {
        for (said, told) in [
            ("v1.36.2", None),
            (
                "v1.36.2-gke.1234000",
                Some("v1.36.2-gke.1234000 counts as 1.36.2, and may have fixes of its vendor"),
            ),
            (
                "v1.36.2+k3s1",
                Some("v1.36.2+k3s1 counts as 1.36.2, and may have fixes of its vendor"),
            ),
        ] {
            let world = rule(json!({"driver": "d"})).knowing(|environment| {
                environment.version = said.parse().unwrap();
                environment.emulated_minor = environment.version.minor;
                environment.git_version = Some(said.to_owned());
                for (gate, enabled) in TAINT_RULES {
                    let state = GateState {
                        enabled: *enabled,
                        evidence: Evidence::Flag,
                    };
                    environment.gates.push((Component::Scheduler, *gate, state));
                }
            });
            let cluster = world.build();
            assert_eq!(vendor(&cluster).as_deref(), told, "{said}");
            assert!(
                exposures(&cluster)
                    .iter()
                    .any(|exposure| exposure.bug.issue == 139_681),
                "{said}"
            );
            let claims: Vec<_> = cluster.claims().collect();
            let claims: Vec<&Claim> = claims.iter().map(|claim| &***claim).collect();
            let doubts = super::told(&cluster, None, &claims, false).doubts;
            let expected = "a known bug: kube-scheduler before 1.36.3 can fail with a panic over DeviceTaintRules, or ignore them \
                            (kubernetes/kubernetes#139681)";
            assert!(doubts[0].starts_with(expected), "{doubts:?}");
            assert_eq!(doubts[0].len() > expected.len(), told.is_some(), "{doubts:?}");
        }
    }
}
