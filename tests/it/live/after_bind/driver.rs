//! Predictions of `check --driver` for stopping, upgrading and removing a driver.

use std::collections::BTreeSet;

use super::{CLOSING, begin, codes_of_driver, ends, explained, on, runs, waits_for};
use crate::support::cluster::machine::Machine;
use crate::support::cluster::objects::pod;
use crate::support::cluster::{Cluster, Options};

/// The pods that something keeps where they are, much later.
fn hanging(cluster: &Cluster, names: &[&str]) -> Vec<String> {
    let hangs = |name: &&&str| {
        let report = explained(cluster, name, 600);
        report["stage"]["stuck"]["holdsUp"] == true
    };
    names
        .iter()
        .filter(hangs)
        .map(|name| (*name).to_owned())
        .collect()
}

/// The pods whose claims `check --driver` says to hold its devices.
fn holders(cluster: &Cluster, names: &[&str]) -> BTreeSet<String> {
    let claims = codes_of_driver(cluster, "DRA060");
    let holds = |name: &&&str| {
        let claim = cluster.claim_of(&format!("pod/{name}"), "gpu");
        claims.contains(&claim.rsplit('/').next().unwrap_or_default().to_owned())
    };
    let found: BTreeSet<String> = names
        .iter()
        .filter(holds)
        .map(|name| (*name).to_owned())
        .collect();
    assert_eq!(found.len(), claims.len(), "{claims:?}");
    found
}

/// Which pods hang without the driver is foretold: those that wait for it now, and at their end all that hold its devices.
#[test]
fn check_foretells_which_pods_hang_without_the_driver() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 8);
    let names = ["a", "b", "c", "d"];
    for name in ["a", "b", "d"] {
        cluster.create(&on("node", name));
        runs(&machine, &cluster, name);
    }
    cluster.create(&pod("without"));
    assert_eq!(codes_of_driver(&cluster, "DRA063"), [""; 0]);

    // Before it is stopped: one pod has yet to start, another has yet to end, two run.
    machine.write("fail-prepare", "not now");
    cluster.create(&on("node", "c"));
    waits_for(&machine, &cluster, "c", "PrepareRefused", 0, &[]);
    machine.write("fail-unprepare", "not now");
    cluster.delete("pod/d");
    waits_for(&machine, &cluster, "d", "UnprepareFails", 600, &[]);
    let foretold = codes_of_driver(&cluster, "DRA063");
    assert_eq!(foretold, ["c", "d"]);
    machine.stop_driver();
    machine.remove("fail-prepare");
    machine.remove("fail-unprepare");
    let before = ["PrepareRefused", CLOSING[0], CLOSING[1], "UnprepareFails"];
    for name in ["c", "d"] {
        waits_for(&machine, &cluster, name, "DriverNotRegistered", 600, &before);
    }
    assert_eq!(hanging(&cluster, &names), foretold);
    for name in ["a", "b"] {
        assert_eq!(cluster.get(&format!("pod/{name}"))["status"]["phase"], "Running");
    }
    machine.start_driver();
    runs(&machine, &cluster, "c");
    ends(&machine, &cluster, "d");
    assert_eq!(codes_of_driver(&cluster, "DRA063"), [""; 0]);

    // Before it is upgraded, the old one first: one that waits goes on waiting until the new one is there. Nobody else does.
    machine.write("fail-prepare", "not now");
    cluster.create(&on("node", "e"));
    waits_for(&machine, &cluster, "e", "PrepareRefused", 0, &[]);
    let foretold = codes_of_driver(&cluster, "DRA063");
    assert_eq!(foretold, ["e"]);
    machine.stop_driver();
    machine.remove("fail-prepare");
    waits_for(&machine, &cluster, "e", "DriverNotRegistered", 0, &before);
    assert_eq!(hanging(&cluster, &["a", "b", "c", "e"]), foretold);
    machine.publish(10);
    machine.start_driver();
    runs(&machine, &cluster, "e");

    // The new one beside the old one: nobody waits for it, so nobody hangs, whenever a pod comes.
    assert_eq!(codes_of_driver(&cluster, "DRA063"), [""; 0]);
    machine.upgrade_driver();
    cluster.create(&on("node", "f"));
    runs(&machine, &cluster, "f");
    let names = ["a", "b", "c", "e", "f"];
    assert_eq!(hanging(&cluster, &names), [""; 0]);

    // Before it is uninstalled: of all pods that end, those with devices hang.
    let foretold = holders(&cluster, &names);
    assert_eq!(codes_of_driver(&cluster, "DRA063"), [""; 0]);
    machine.stop_driver();
    for name in names.into_iter().chain(["without"]) {
        cluster.delete(&format!("pod/{name}"));
    }
    cluster.delete_now("pod/without");
    for name in names {
        waits_for(
            &machine,
            &cluster,
            name,
            "DriverNotRegistered",
            600,
            &["UnprepareFails"],
        );
    }
    let hang: BTreeSet<String> = cluster
        .list("pod")
        .iter()
        .filter(|pod| pod["metadata"]["namespace"] == "default")
        .filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(hang, foretold);
    machine.start_driver();
    for name in names {
        ends(&machine, &cluster, name);
    }
}
