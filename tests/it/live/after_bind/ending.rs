//! Pods that are to end, or have ended, and what keeps them.

use serde_json::json;

use super::{
    begin, codes_of, codes_of_driver, ends, explained, is_told_by, is_told_of_all, message, obey, on, owner,
    plain, run, runs, waits_for,
};
use crate::support::cluster::Options;
use crate::support::cluster::machine::{Host as _, Machine};
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu};
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

#[test]
fn a_pod_that_does_not_terminate_is_reported_with_the_reason() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 8);
    for name in ["failing", "gone", "easy"] {
        cluster.create(&on("node", name));
    }
    for name in ["failing", "gone", "easy"] {
        runs(&machine, &cluster, name);
    }
    let served = codes_of_driver(&cluster, "DRA063");
    assert_eq!(served, [""; 0]);

    cluster.delete("pod/easy");
    ends(&machine, &cluster, "easy");

    machine.write("fail-unprepare", "the device does not answer");
    cluster.delete("pod/failing");
    let report = waits_for(&machine, &cluster, "failing", "UnprepareFails", 600, &[]);
    assert_eq!(owner(&report), "Driver");
    assert_eq!(report["stage"]["stage"], "Unpreparing");
    is_told_of_all(&machine, &cluster, "failing", "UnprepareFails", 600);
    assert_eq!(codes_of(&cluster, "Pod", "failing", 600), ["DRA084"]);
    // It needs the driver now; the other one runs and does not.
    assert_eq!(codes_of_driver(&cluster, "DRA063"), ["failing"]);
    machine.remove("fail-unprepare");
    ends(&machine, &cluster, "failing");

    machine.stop_driver();
    cluster.delete("pod/gone");
    // The slices go half a minute after the driver.
    let report = waits_for(
        &machine,
        &cluster,
        "gone",
        "DriverNotRegistered",
        600,
        &["UnprepareFails"],
    );
    assert_eq!(owner(&report), "Driver");
    machine.start_driver();
    ends(&machine, &cluster, "gone");
}

/// A pod whose containers end by themselves is not told to have ended before its devices are given back, as a Job notices.
#[test]
fn a_pod_that_completes_waits_for_its_driver() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 4);
    let end = |name: &str| {
        cluster.patch(
            &format!("pod/{name}"),
            &json!({"metadata": {"annotations": {"kubelet.test/ends": "yes"}}}),
        );
    };
    let succeeds = |machine: &Machine<'_>, name: &str| {
        machine.wait_for(&format!("{name} succeeds"), || {
            (cluster.get(&format!("pod/{name}"))["status"]["phase"] == "Succeeded").then_some(())
        });
    };
    for name in ["easy", "failing", "gone"] {
        cluster.create(&on("node", name).with(json!({"spec": {"restartPolicy": "Never"}})));
        runs(&machine, &cluster, name);
    }
    end("easy");
    succeeds(&machine, "easy");
    let report = explained(&cluster, "easy", 600);
    assert!(report["stage"]["stuck"].is_null(), "{report:#}");

    machine.write("fail-unprepare", "the device does not answer");
    end("failing");
    let report = waits_for(&machine, &cluster, "failing", "UnprepareFails", 600, &[]);
    assert_eq!(report["stage"]["stage"], "Unpreparing");
    assert_eq!(codes_of_driver(&cluster, "DRA063"), ["failing"]);
    machine.remove("fail-unprepare");
    succeeds(&machine, "failing");

    machine.stop_driver();
    end("gone");
    // The slices go half a minute after the driver.
    let report = waits_for(
        &machine,
        &cluster,
        "gone",
        "DriverNotRegistered",
        600,
        &["UnprepareFails"],
    );
    assert_eq!(report["stage"]["stage"], "Unpreparing");
    machine.start_driver();
    succeeds(&machine, "gone");

    // The kubelet is not there: nothing is expected of it, whatever there is of drivers.
    machine.stop_kubelet();
    cluster.create(&on("node", "silent"));
    cluster.wait("pod/silent", "it has its node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    let heard = |ready: &str| {
        let now = crate::support::cluster::kubelet::now();
        let condition = json!({"type": "Ready", "status": ready, "reason": "Test", "message": "", "lastTransitionTime": now});
        cluster.patch_status("node/node", &json!({"status": {"conditions": [condition]}}));
    };
    heard("Unknown");
    let report = waits_for(&machine, &cluster, "silent", "NodeSilent", 0, &[]);
    assert_eq!(owner(&report), "Administrator");
    heard("True");
    machine.start_kubelet();
    runs(&machine, &cluster, "silent");
}

/// What has a finalizer stays after its end, until whoever set it has removed it: for ever, if that was a driver's controller which is gone.
#[test]
fn what_has_ended_stays_for_a_finalizer_and_goes_as_advised() {
    let cluster = begin(&Options::default());
    let machine = Machine::start(&cluster, "node", 4);
    let finalizer = "gpu.example.com/cleanup";
    let kept = |name: &str| on("node", name).with(json!({"metadata": {"finalizers": [finalizer]}}));
    for name in ["kept", "late"] {
        cluster.create(&kept(name));
        runs(&machine, &cluster, name);
    }
    cluster.delete("pod/kept");
    let told = waits_for(&machine, &cluster, "kept", "Finalizers", 600, &["UnprepareFails"]);
    assert_eq!(told["stage"]["stage"], "Gone", "{told:#}");
    assert_eq!(told["verdict"], "Broken", "{told:#}");
    assert_eq!(owner(&told), "Administrator");
    assert!(message(&told).contains(finalizer), "{told:#}");
    assert_eq!(codes_of(&cluster, "Pod", "kept", 600), ["DRA021"]);
    is_told_by(&cluster, "pod/kept", "Finalizers", 600);
    obey(&cluster, &told);
    ends(&machine, &cluster, "kept");

    // As long as the driver does not take the devices back, that is what it waits for; the finalizer comes after it.
    machine.write("fail-unprepare", "the device does not answer");
    cluster.delete("pod/late");
    let told = waits_for(&machine, &cluster, "late", "UnprepareFails", 600, &[]);
    assert_eq!(told["stage"]["stage"], "Unpreparing", "{told:#}");
    machine.remove("fail-unprepare");
    let told = waits_for(&machine, &cluster, "late", "Finalizers", 600, &["UnprepareFails"]);
    obey(&cluster, &told);
    ends(&machine, &cluster, "late");

    // A claim of that kind keeps the next pod from its claim of that name.
    let claimed = claim("named", claim_spec([gpu()])).with(json!({"metadata": {"finalizers": [finalizer]}}));
    cluster.create(&claimed);
    cluster.create(&plain("node", "first").named_claim("gpu", "named"));
    runs(&machine, &cluster, "first");
    cluster.delete("claim/named");
    cluster.delete("pod/first");
    ends(&machine, &cluster, "first");
    let check = || {
        let run = run(&cluster, &["check", "--only=DRA021"], 600);
        let report = assert_valid(&run.stdout);
        let items = report["items"].as_array().expect("items").clone();
        items
            .into_iter()
            .find(|item| item["object"]["kind"] == "ResourceClaim")
    };
    let found = wait_for("the claim is told to stay", || {
        check().filter(|item| {
            let message = item["message"].as_str().unwrap_or_default();
            message.contains("keeps the finalizer gpu.example.com/cleanup")
        })
    });
    let command = found["fix"].as_str();
    let command = command.unwrap_or_else(|| panic!("no command: {found:#}"));
    cluster.shell(command).run().exits(0);
    cluster.wait_gone("claim/named");
    cluster.create(&claim("named", claim_spec([gpu()])));
    cluster.create(&plain("node", "second").named_claim("gpu", "named"));
    runs(&machine, &cluster, "second");
}
