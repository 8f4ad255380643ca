//! Pods that something keeps from the devices of their claims: the driver, the kubelet, or what is wrong with the claims.

use serde_json::json;

use super::{
    begin, codes, ends, explained, is_told_everywhere, message, obey, on, owner, plain, runs, waits_for,
};
use crate::support::cluster::machine::Machine;
use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, pod, pod_group, template};
use crate::support::cluster::{Component, Options};
use crate::support::process::Screen;
use crate::support::schema::assert_valid;
use crate::support::wait::wait_for;

#[test]
fn a_pod_does_not_start_as_something_refuses_its_claim() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 16);

    // The driver fails once, twice, for ever, and is slow.
    for times in [1, 2] {
        let name = format!("fails-{times}");
        machine.write("fail-prepare", &format!("times: {times}\nthe device is busy"));
        cluster.create(&on("node", &name));
        runs(&machine, &cluster, &name);
    }
    // Whatever the driver's words are, they are the driver's.
    let words = "DRA driver gpu.example.com is not registered \u{1b}[31m\nle pilote refuse";
    machine.write("fail-prepare", words);
    cluster.create(&on("node", "refused"));
    let report = waits_for(&machine, &cluster, "refused", "PrepareRefused", 0, &[]);
    assert_eq!(owner(&report), "Driver");
    assert!(message(&report).contains("le pilote refuse"), "{report:#}");
    assert_eq!(codes(&cluster, "refused"), ["DRA081"]);
    let run = cluster
        .kubectl_dra(["explain", "pod/refused"])
        .run_on_screen(80, Screen::Stdout);
    assert!(run.stdout.contains("the driver refuses"), "{:?}", run.stdout);
    assert!(!run.stdout.contains("registered \u{1b}"), "{:?}", run.stdout);
    machine.remove("fail-prepare");
    runs(&machine, &cluster, "refused");
    machine.write("slow-prepare", "4");
    cluster.create(&on("node", "slow"));
    cluster.wait("pod/slow", "it has its node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    let report = explained(&cluster, "slow", 0);
    assert!(report["stage"]["stuck"].is_null(), "{report:#}");
    runs(&machine, &cluster, "slow");
    machine.remove("slow-prepare");

    // Objects that are not as the kubelet needs them: the scheduler was passed by.
    let forced = |name: &str| {
        pod(name)
            .on_node("node")
            .with(json!({"spec": {"terminationGracePeriodSeconds": 1}}))
    };
    cluster.create(&claim("unallocated", claim_spec([gpu()])));
    cluster.create(&forced("unallocated").named_claim("gpu", "unallocated"));
    waits_for(&machine, &cluster, "unallocated", "NotAllocated", 0, &[]);
    cluster.delete_now("pod/unallocated");
    cluster.create(&plain("node", "unallocated").named_claim("gpu", "unallocated"));
    runs(&machine, &cluster, "unallocated");
    cluster.create(&forced("missing").named_claim("gpu", "missing"));
    waits_for(&machine, &cluster, "missing", "ClaimMissing", 0, &[]);
    cluster.create(&claim("missing", claim_spec([gpu()])));
    cluster.delete_now("pod/missing");
    cluster.create(&plain("node", "missing").named_claim("gpu", "missing"));
    runs(&machine, &cluster, "missing");
    cluster.create(&forced("template").template_claim("gpu", "nowhere"));
    waits_for(&machine, &cluster, "template", "TemplateMissing", 0, &[]);
    cluster.create(&template("nowhere", claim_spec([gpu()])));
    cluster.delete_now("pod/template");
    cluster.create(&plain("node", "template").template_claim("gpu", "nowhere"));
    runs(&machine, &cluster, "template");

    // An earlier claim of the same name, whose pod was deleted by force.
    cluster.create(&claim("again", claim_spec([gpu()])));
    cluster.create(&plain("node", "earlier").named_claim("gpu", "again"));
    runs(&machine, &cluster, "earlier");
    cluster.delete_now("pod/earlier");
    cluster.delete("claim/again");
    cluster.wait_gone("claim/again");
    cluster.create(&claim("again", claim_spec([gpu()])));
    cluster.create(&plain("node", "later").named_claim("gpu", "again"));
    let report = waits_for(&machine, &cluster, "later", "EarlierClaim", 0, &[]);
    assert_eq!(owner(&report), "Kubelet");
    assert_eq!(codes(&cluster, "later"), ["DRA082"]);
    // As advised, nothing is done: the kubelet goes on by itself.
    runs(&machine, &cluster, "later");

    // The driver does not take back what another pod of the same claim had, which may not have another user meanwhile.
    cluster.create(&claim("passed-on", claim_spec([gpu()])));
    cluster.create(&plain("node", "leaving").named_claim("gpu", "passed-on"));
    runs(&machine, &cluster, "leaving");
    machine.write("fail-unprepare", "the device does not answer");
    cluster.delete("pod/leaving");
    waits_for(&machine, &cluster, "leaving", "UnprepareFails", 600, &[]);
    cluster.create(&plain("node", "coming").named_claim("gpu", "passed-on"));
    let report = waits_for(&machine, &cluster, "coming", "BeingUnprepared", 0, &[]);
    assert_eq!(owner(&report), "Kubelet");
    assert_eq!(codes(&cluster, "coming"), ["DRA082"]);
    machine.remove("fail-unprepare");
    ends(&machine, &cluster, "leaving");
    runs(&machine, &cluster, "coming");

    // What is not known is shown as it stands.
    machine.block_checkpoint();
    cluster.create(&on("node", "unknown"));
    let report = waits_for(&machine, &cluster, "unknown", "Unrecognized", 0, &[]);
    assert_eq!(owner(&report), "Administrator");
    assert_eq!(report["verdict"], "Unknown", "{report:#}");
    assert!(message(&report).contains("checkpoint"), "{report:#}");
    assert_eq!(codes(&cluster, "unknown"), ["DRA086"]);
    machine.unblock_checkpoint();
    runs(&machine, &cluster, "unknown");
    machine.stop_driver();
}

/// A device is given out again while the kubelet still has it prepared for a pod that was deleted by force.
#[test]
fn a_pod_waits_for_the_device_of_one_that_was_deleted_by_force() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 1);
    machine.write("exclusive", "");
    cluster.create(&on("node", "first"));
    runs(&machine, &cluster, "first");
    let claim = cluster.claim_of("pod/first", "gpu");
    // Or the kubelet might be done before the second pod is there.
    machine.write("fail-unprepare", "not yet");
    cluster.delete_now("pod/first");
    cluster.wait_gone(&claim);
    cluster.create(&on("node", "second"));
    let report = waits_for(&machine, &cluster, "second", "PreparedForDeletedClaim", 0, &[]);
    assert_eq!(owner(&report), "Kubelet");
    assert_eq!(codes(&cluster, "second"), ["DRA082"]);
    let described = cluster
        .kubectl_dra(["describe", "device/gpu-0", "-o", "json"])
        .run();
    let device = assert_valid(&described.stdout);
    assert_eq!(
        device["pods"][0]["stuck"]["cause"], "PreparedForDeletedClaim",
        "{device:#}"
    );
    // As advised, nothing is done: the kubelet goes on by itself.
    machine.remove("fail-unprepare");
    runs(&machine, &cluster, "second");

    // A driver that does not answer in time is told apart from one that refuses.
    machine.publish(2);
    machine.write("slow-prepare", "3600");
    cluster.create(&on("node", "third"));
    let report = waits_for(&machine, &cluster, "third", "DriverFails", 0, &[]);
    assert_eq!(owner(&report), "Driver");
    assert_eq!(codes(&cluster, "third"), ["DRA081"]);
    machine.remove("slow-prepare");
    machine.stop_driver();
    machine.start_driver();
    runs(&machine, &cluster, "third");
}

/// The kubelet of the test has its gates at their defaults, and so does not know claims of PodGroups.
#[test]
fn a_kubelet_without_a_feature_is_reported() {
    let options = Options::default()
        .gate("GenericWorkload", true)
        .gate("DRAWorkloadResourceClaims", true);
    let cluster = begin(&options);
    let machine = Machine::start(&cluster, "node", 4);
    let entry = json!({"name": "gpu", "resourceClaimTemplateName": "one"});
    cluster.create(&pod_group("group", [entry]));
    cluster.create(&on("node", "member").in_group("group"));
    let report = waits_for(&machine, &cluster, "member", "KubeletTooOld", 0, &[]);
    assert_eq!(owner(&report), "Administrator");
    assert!(
        message(&report).contains("DRAWorkloadResourceClaims"),
        "{report:#}"
    );
}

/// The claim controller reserves claims for pods that passed the scheduler by. Where it does not, the kubelet refuses them.
#[test]
fn a_pod_does_not_start_with_a_claim_that_is_not_reserved_for_it() {
    let cluster = begin(&Options::default());
    let mut machine = Machine::start(&cluster, "node", 4);
    for name in ["shared", "own"] {
        cluster.create(&claim(name, claim_spec([gpu()])));
    }
    cluster.create(&plain("node", "holder").named_claim("gpu", "shared"));
    runs(&machine, &cluster, "holder");
    cluster.stop(Component::ControllerManager);

    // A pod that was put on the node by hand.
    let bypassing = plain("node", "bypassing").named_claim("gpu", "shared");
    cluster.create(&bypassing.clone().on_node("node"));
    // A pod whose reservation somebody took away before the kubelet came to it.
    let robbed = plain("node", "robbed").named_claim("gpu", "own");
    machine.stop_kubelet();
    cluster.create(&robbed);
    cluster.wait("pod/robbed", "it has its node", |pod| {
        pod["spec"]["nodeName"].is_string()
    });
    cluster.update_status("claim/own", |claim| claim["status"]["reservedFor"] = json!(null));
    machine.start_kubelet();

    for (name, manifest) in [("bypassing", bypassing), ("robbed", robbed)] {
        let refused = wait_for(&format!("the kubelet refuses {name}"), || {
            let report = explained(&cluster, name, 0);
            let events = report["events"].as_array().into_iter().flatten();
            let mut texts = events.filter_map(|event| event.as_str());
            texts
                .any(|text| text.contains("is not allowed to use ResourceClaim"))
                .then_some(report)
        });
        assert_eq!(refused["stage"]["stuck"]["cause"], "NotReserved", "{refused:#}");
        assert_eq!(refused["stage"]["stage"], "Reserved", "{refused:#}");
        assert_eq!(owner(&refused), "User");
        assert!(
            message(&refused).contains("is not reserved for the pod"),
            "{refused:#}"
        );
        assert_eq!(codes(&cluster, name), ["DRA014"]);
        is_told_everywhere(&machine, &cluster, name, "NotReserved", 0);
        obey(&cluster, &refused);
        assert!(
            cluster.find(&format!("pod/{name}")).is_none(),
            "the command waits for the end"
        );
        // As the note says: it is made again as it was at first.
        let note = refused["stage"]["stuck"]["note"].as_str().unwrap_or_default();
        assert!(note.contains("without spec.nodeName"), "{refused:#}");
        cluster.create(&manifest);
        runs(&machine, &cluster, name);
        assert_eq!(codes(&cluster, name), [""; 0]);
    }
    cluster.resume(Component::ControllerManager);
    machine.stop_driver();
}
