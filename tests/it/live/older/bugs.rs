//! Bugs of upstream as they are: 1.36.1 has them, and 1.35.8 has most where the gates are on, 1.36.4 has none of them, and `check` and the
//! dry run say so on each. 1.37.1 leaves pods on tainted devices, which 1.37.2 evicts.

use http::Method;
use serde_json::{Value, json};

use super::{control_plane, findings, is_wanted, version_of};
use crate::live::extended_evictions;
use crate::live::placement::{dry_run, own};
use crate::support::cluster::objects::{Manifest, claim_spec, class, request, slice};
use crate::support::cluster::{Cluster, Component, older};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

const NODE: &str = "gpu-node-1";

/// A release that has bugs, and the gates that bring them to show.
struct Broken {
    release: &'static str,
    gates: &'static [&'static str],
}

const OF_1_36: Broken = Broken {
    release: "1.36.1",
    gates: &[],
};

const OF_1_35: Broken = Broken {
    release: "1.35",
    gates: &["DRAPartitionableDevices", "DRAConsumableCapacity"],
};

/// The release that has none of them.
const MENDED: &str = "1.36";

/// Devices of a driver that draw from counters of their pool, of which there are `total`.
fn drawing(
    driver: &str,
    total: u32,
    devices: impl IntoIterator<Item = (&'static str, u32)>,
    more: &Value,
) -> [Value; 2] {
    let pool = json!({"spec": {"pool": {"resourceSliceCount": 2}}});
    let devices = devices.into_iter().map(|(name, amount)| {
        let counters = json!([{"counterSet": "set", "counters": {"memory": {"value": amount.to_string()}}}]);
        json!({"name": name, "attributes": {"name": {"string": name}}, "consumesCounters": counters})
            .with(more.clone())
    });
    let counters = json!({"metadata": {"name": format!("{driver}-counters")}, "spec": {"devices": null,
        "sharedCounters": [{"name": "set", "counters": {"memory": {"value": total.to_string()}}}]}});
    [
        slice(driver, NODE, devices).with(pool.clone()),
        slice(driver, NODE, []).with(pool).with(counters),
    ]
}

fn of_driver(driver: &str) -> Value {
    class(driver, &format!("device.driver == '{driver}'"))
}

impl Broken {
    /// A control plane with the bugs and one node, if that is to be tried.
    fn start(&self) -> Option<Cluster> {
        if !is_wanted(self.release) {
            return None;
        }
        older(MENDED);
        let gates = self.gates.iter();
        let options = gates.fold(control_plane(self.release), |options, gate| {
            options.gate(gate, true)
        });
        let cluster = Cluster::start(&options);
        cluster.add_nodes([NODE]);
        Some(cluster)
    }

    /// The gates as the tool is told them.
    fn flag(&self) -> Option<String> {
        let on: Vec<_> = self.gates.iter().map(|gate| format!("{gate}=true")).collect();
        (!on.is_empty()).then(|| on.join(","))
    }
}

const NONE: Broken = Broken {
    release: MENDED,
    gates: &[],
};

fn mend(cluster: &Cluster) {
    cluster.reconfigure(|options| {
        for component in Component::GATED {
            options.clear_gates(component);
            options.set_release(component, MENDED);
        }
    });
}

/// Whether `check` tells of the bug, which is to be told or not. The gates of the scheduler are those that it is told, since nothing shows them.
#[track_caller]
fn is_told(cluster: &Cluster, of: &Broken, issue: u32, is_there: bool) {
    let gates = of.flag();
    let flags = gates.iter().flat_map(|gates| ["--feature-gates", gates]);
    let run = cluster
        .kubectl_dra(["check", "--only", "known-bug", "-o", "json"])
        .args(flags)
        .run();
    assert!(!run.stdout.is_empty(), "{}", run.stderr);
    let report = assert_valid(&run.stdout);
    let found = findings(&report);
    let told = found.contains(&format!("DRA090 kubernetes/{issue}"));
    assert_eq!(told, is_there, "{}: {found:?}", version_of(cluster));
}

/// Creates a pod with a claim of its own, and returns it once the scheduler has decided. Before, the dry run is made: it has to say `fits`,
/// and to doubt that for the bug where there is one. Then the real scheduler does so, or the opposite.
#[track_caller]
fn decide(
    cluster: &Cluster,
    of: &Broken,
    name: &'static str,
    spec: Value,
    fits: bool,
    bug: Option<u32>,
) -> Value {
    let case = own(name, fits, spec);
    cluster.create_all(&case.objects);
    let version = version_of(cluster);
    let gates = of.flag();
    cluster.place(&case.pod, |before| {
        let mut flags = vec!["--kubernetes-version", &version];
        flags.extend(gates.iter().flat_map(|gates| ["--feature-gates", gates]));
        let report = dry_run(before, &format!("pod/default/{name}"), &flags);
        assert_eq!(report["result"] == "Fits", fits, "{version}: {report:#}");
        let told = |issue: u32| {
            report["notes"]
                .to_string()
                .contains(&format!("kubernetes/kubernetes#{issue})"))
        };
        assert_eq!(
            report["exactness"] == "FitOnly",
            bug.is_some(),
            "{version}: {report:#}"
        );
        assert!(bug.is_none_or(told), "{version}: {report:#}");
        fits != bug.is_some()
    })
}

#[track_caller]
fn grant_both(of: &Broken) {
    const BUG: u32 = 139_040;
    let Some(cluster) = of.start() else { return };
    let share = json!({"allowMultipleAllocations": true, "capacity": {"bandwidth": {"value": "10G",
        "requestPolicy": {"default": "1G", "validRange": {"min": "1G"}}}}});
    cluster.create(&of_driver("share.example.com"));
    cluster.create_all(&drawing(
        "share.example.com",
        40,
        [("left", 40), ("right", 40)],
        &share,
    ));
    let part = |name: &str| {
        let selector = format!("device.attributes['share.example.com'].name == '{name}'");
        claim_spec([request("part", "share.example.com").selecting(&selector)])
    };
    // Nothing is wrong with the first one, but that is not known before.
    let case = own("first", true, part("left"));
    cluster.create_all(&case.objects);
    cluster.place(&case.pod, |_| true);
    is_told(&cluster, of, BUG, true);
    let granted = decide(&cluster, of, "second", part("right"), false, Some(BUG));
    assert_eq!(granted["spec"]["nodeName"], NODE, "{granted:#}");
    // Forty are there, and eighty are in use.
    let claims = ["pod/first", "pod/second"].map(|pod| cluster.devices_of(&cluster.claim_of(pod, "claim")));
    assert!(claims.iter().all(|devices| devices.len() == 1), "{claims:?}");

    let claim = cluster.claim_of("pod/second", "claim");
    cluster.delete_now("pod/second");
    cluster.wait_gone(&claim);
    mend(&cluster);
    is_told(&cluster, &NONE, BUG, false);
    let refused = decide(&cluster, &NONE, "third", part("right"), false, None);
    assert!(refused["spec"]["nodeName"].is_null(), "{refused:#}");
}

#[track_caller]
fn mix_up(of: &Broken) {
    const BUG: u32 = 140_435;
    let Some(cluster) = of.start() else { return };
    for (driver, amount) in [("few.example.com", 10), ("many.example.com", 40)] {
        cluster.create(&of_driver(driver));
        cluster.create_all(&drawing(driver, amount, [("all", amount)], &json!({})));
    }
    let both = || {
        claim_spec([
            request("few", "few.example.com"),
            request("many", "many.example.com"),
        ])
    };
    cluster.create_all(&own("both", true, both()).objects);
    is_told(&cluster, of, BUG, true);
    cluster.delete("template/both");
    let refused = decide(&cluster, of, "both", both(), true, Some(BUG));
    assert!(refused["spec"]["nodeName"].is_null(), "{refused:#}");

    mend(&cluster);
    is_told(&cluster, &NONE, BUG, false);
    cluster.wait("pod/both", "it is on its node", |pod| {
        pod["spec"]["nodeName"] == NODE
    });
    let claim = cluster.claim_of("pod/both", "claim");
    let devices = cluster.devices_of(&claim);
    assert_eq!(devices.len(), 2, "{devices:?}");
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make known-bugs"]
fn the_scheduler_ends_where_all_devices_with_counters_are_wanted() {
    const BUG: u32 = 138_885;
    let Some(cluster) = OF_1_36.start() else { return };
    cluster.create(&of_driver("parts.example.com"));
    cluster.create_all(&drawing(
        "parts.example.com",
        40,
        [("left", 20), ("right", 20)],
        &json!({}),
    ));
    let all = || claim_spec([request("parts", "parts.example.com").all()]);
    let case = own("all", true, all());
    cluster.create_all(&case.objects);
    is_told(&cluster, &OF_1_36, BUG, true);
    cluster.create(&case.pod);
    let scheduler = cluster.at(Component::Scheduler);
    wait_for("the scheduler is gone", || {
        let answer = scheduler.try_request(&Method::GET, "/healthz", "application/json", Vec::new());
        answer.is_err().then_some(())
    });
    assert!(cluster.get("pod/all")["spec"]["nodeName"].is_null());

    mend(&cluster);
    is_told(&cluster, &NONE, BUG, false);
    cluster.wait("pod/all", "it is on its node", |pod| {
        pod["spec"]["nodeName"] == NODE
    });
    let again = decide(&cluster, &NONE, "again", all(), false, None);
    assert!(again["spec"]["nodeName"].is_null(), "{again:#}");
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make known-bugs"]
fn partitions_of_1_36_1_are_granted_that_exclude_each_other() {
    grant_both(&OF_1_36);
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make known-bugs"]
fn partitions_of_1_35_are_granted_that_exclude_each_other() {
    grant_both(&OF_1_35);
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make known-bugs"]
fn counters_of_two_drivers_are_mixed_up_in_1_36_1() {
    mix_up(&OF_1_36);
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make known-bugs"]
fn counters_of_two_drivers_are_mixed_up_in_1_35() {
    mix_up(&OF_1_35);
}

#[test]
#[ignore = "control planes of older releases take minutes to build: make known-bugs"]
fn pods_of_extended_resources_stay_in_1_37_1() {
    const RELEASE: &str = "1.37.1";
    if is_wanted(RELEASE) {
        extended_evictions::play(&control_plane(RELEASE), false);
    }
}
