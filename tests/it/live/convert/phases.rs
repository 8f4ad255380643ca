//! Claims across gates turned off and on again, with and without a conversion.

use serde_json::{Value, json};

use super::{
    GATES, ON, Records, cluster, convert, end_pods, final_pass, groups, is_free, member_of, small, sorted,
    turn_off,
};
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::objects::{Manifest, claim_spec, gpu, pod, pod_group, template};
use crate::support::cluster::{Component, reference};
use crate::support::wait::wait_for;

#[test]
fn without_a_conversion_the_devices_are_lost() {
    let cluster = cluster();
    groups(&cluster, &["lost", "saved"], 1);
    convert(&cluster, &Records::new().backup(), &["claim/default/saved"])
        .run()
        .exits(0);
    turn_off(&cluster, &GATES);
    end_pods(&cluster);
    cluster.wait("claim/saved", "it is free", is_free);
    let lost = cluster.get("claim/lost");
    assert!(lost["status"]["allocation"].is_object(), "{lost:#}");
    assert!(
        cluster
            .reservations_of("claim/lost")
            .contains(&"podgroups/lost".to_owned()),
        "{lost:#}"
    );
    // The devices of the other serve again.
    cluster.run(&[small(pod("later")).named_claim("gpu", "saved")]);
    assert_eq!(cluster.reservations_of("claim/saved"), ["pods/later"]);
}

#[test]
fn a_claim_made_for_a_group_is_freed_when_its_pods_end() {
    let cluster = cluster();
    let by_template = json!({"name": "gpu", "resourceClaimTemplateName": "one-gpu"});
    cluster.create_all(&[
        template("one-gpu", claim_spec([gpu()])),
        pod_group("sim", [by_template]),
    ]);
    let member = |name: &str| small(pod(name)).template_claim("gpu", "one-gpu").in_group("sim");
    cluster.run(&[member("sim-0"), member("sim-1")]);
    let made = cluster.claim_of("pod/sim-0", "gpu");
    let flags = ["--disable-gate=DRAWorkloadResourceClaims", "--include-generated"];
    convert(&cluster, &Records::new().backup(), &flags).run().exits(0);
    assert_eq!(sorted(&cluster, &made), ["pods/sim-0", "pods/sim-1"]);
    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    final_pass(&cluster).args(flags).run().exits(0);
    end_pods(&cluster);
    cluster.wait(&made, "it is free", is_free);
}

#[test]
fn gates_that_come_back_find_lists_that_are_in_order() {
    let cluster = cluster();
    groups(&cluster, &["a"], 2);
    convert(&cluster, &Records::new().backup(), &[]).run().exits(0);
    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    cluster.reconfigure(|options| {
        let components = [Component::Scheduler, Component::ControllerManager];
        options.set_gate(&components, "DRAWorkloadResourceClaims", true);
    });
    // The next member brings the entry of the group back, beside those of the others.
    cluster.run(&[member_of("a", 2)]);
    assert_eq!(
        sorted(&cluster, "claim/a"),
        ["podgroups/a", "pods/a-0", "pods/a-1"]
    );
    let check = cluster.kubectl_dra(["check", ON, "-o", "json"]).run();
    let findings: Value = serde_json::from_str(&check.stdout).expect("a report");
    let about: Vec<&Value> = findings["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter(|item| item["object"]["kind"] == "ResourceClaim")
        .collect();
    assert!(about.is_empty(), "{about:#?}");
    for pod in cluster.list("pod") {
        cluster.delete_now(&reference(&pod));
    }
    cluster.delete("podgroup/a");
    cluster.wait("claim/a", "it is free", is_free);
}

#[test]
fn what_comes_back_is_converted_again() {
    let cluster = cluster();
    groups(&cluster, &["a"], 2);
    convert(&cluster, &Records::new().backup(), &[]).run().exits(0);
    cluster.run(&[member_of("a", 2)]);
    cluster.wait("claim/a", "the group is back", |claim| {
        claim["status"]["reservedFor"].to_string().contains("podgroups")
    });
    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    final_pass(&cluster).run().exits(0);
    assert_eq!(sorted(&cluster, "claim/a"), ["pods/a-0", "pods/a-1", "pods/a-2"]);
}

#[test]
fn a_member_that_ends_brings_its_group_back_until_the_final_pass() {
    let cluster = cluster();
    groups(&cluster, &["a"], 3);
    let run = convert(&cluster, &Records::new().backup(), &[]).run().exits(0);
    assert!(
        run.stderr.contains("restore the entries of their groups"),
        "{}",
        run.stderr
    );
    cluster.set_phase("pod/a-0", Phase::Succeeded);
    cluster.wait("claim/a", "the group is back", |claim| {
        claim["status"]["reservedFor"].to_string().contains("podgroups")
    });
    let defects = cluster.kubectl_dra(["convert", "verify"]).run().exits(1);
    assert!(
        defects
            .stdout
            .contains("still reserved for podgroups.scheduling.k8s.io/a"),
        "{}",
        defects.stdout
    );
    // The claim controller writes a claim with an ended user without end, once it is reserved for pods.
    cluster.delete_now("pod/a-0");
    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    // That may be in the middle of such a write.
    wait_for("the pod that is gone has no entry", || {
        let entries = cluster.reservations_of("claim/a");
        (!entries.contains(&"pods/a-0".to_owned())).then_some(())
    });
    let last = final_pass(&cluster).run().exits(0);
    assert!(!last.stderr.contains("restore the entries"), "{}", last.stderr);
    assert_eq!(sorted(&cluster, "claim/a"), ["pods/a-1", "pods/a-2"]);
    end_pods(&cluster);
    cluster.wait("claim/a", "it is free", is_free);
}
