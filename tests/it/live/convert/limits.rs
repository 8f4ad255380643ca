//! Plans that are carried out later, and lists that are full.

use serde_json::{Value, json};

use super::{
    GATES, ON, Records, cluster, convert, end_pods, final_pass, groups, is_free, list, member_of, small,
    sorted, turn_off,
};
use crate::support::cluster::objects::{Manifest, claim_spec, gpu, pod, template};
use crate::support::cluster::reference;
use crate::support::schema::assert_schema;

#[test]
fn a_plan_in_a_file_is_carried_out_as_far_as_it_holds() {
    let cluster = cluster();
    groups(&cluster, &["a", "b", "c"], 1);
    let records = Records::new();
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("plan.json");
    let plan = cluster
        .kubectl_dra([
            "convert",
            "plan",
            ON,
            "-o",
            "json",
            "claim/default/a",
            "claim/default/b",
        ])
        .run()
        .exits(0);
    std::fs::write(&file, &plan.stdout).expect("the folder is writable");
    // One more behind the entry of its group, which changes nothing of the claim.
    cluster.run(&[member_of("a", 1)]);
    let untouched = list(&cluster, "claim/c");
    let apply = || {
        let files = [
            format!("--plan={}", file.display()),
            format!("--backup={}", records.backup().display()),
        ];
        cluster
            .kubectl_dra(["convert", "apply", "--yes", ON, "-o", "json"])
            .args(files)
            .run()
            .exits(0)
    };
    let outcomes = |report: &Value| -> Vec<String> {
        let claims = report["claims"].as_array().expect("claims");
        claims
            .iter()
            .map(|claim| {
                [&claim["name"], &claim["outcome"]]
                    .map(|text| text.as_str().unwrap_or_default())
                    .join(" ")
            })
            .collect()
    };
    let result = assert_schema!(&apply().stdout);
    assert_eq!(outcomes(&result), ["a Replanned", "b Converted"]);
    assert_eq!(cluster.reservations_of("claim/a"), ["pods/a-0", "pods/a-1"]);
    assert_eq!(cluster.reservations_of("claim/b"), ["pods/b-0"]);
    assert_eq!(list(&cluster, "claim/c"), untouched);
    // A second time there is nothing to do.
    let again = assert_schema!(&apply().stdout);
    assert_eq!(outcomes(&again), ["a AlreadyDone", "b AlreadyDone"]);
}

#[test]
fn a_list_takes_256_pods_and_no_more_and_a_group_of_as_many_goes_its_way() {
    let cluster = cluster();
    // Who shares a device shares its node.
    for node in cluster.list("node") {
        let room = json!({"pods": "300"});
        let status = json!({"status": {"capacity": room, "allocatable": room}});
        cluster.patch_status(&reference(&node), &status);
    }
    groups(&cluster, &["many"], 257);
    let group = cluster.reservations_of("claim/many");
    assert_eq!(group, ["podgroups/many"]);
    let refused = convert(&cluster, &Records::new().backup(), &["-o", "json"])
        .run()
        .exits(1);
    let refused = assert_schema!(&refused.stdout);
    assert_eq!(refused["claims"][0]["code"], "TooManyConsumers");
    assert_eq!(cluster.reservations_of("claim/many"), group);

    cluster.delete_now("pod/many-256");
    let mut members: Vec<String> = (0..256).map(|member| format!("pods/many-{member}")).collect();
    members.sort();
    let device = cluster.devices_of("claim/many");
    convert(&cluster, &Records::new().backup(), &[]).run().exits(0);
    assert_eq!(sorted(&cluster, "claim/many"), members);
    turn_off(&cluster, &GATES);
    final_pass(&cluster).run().exits(0);
    assert_eq!(sorted(&cluster, "claim/many"), members);
    assert_eq!(cluster.devices_of("claim/many"), device);
    cluster.kubectl_dra(["convert", "verify"]).run().exits(0);

    end_pods(&cluster);
    cluster.wait("claim/many", "it is free", is_free);
    // All devices are there again, that of the group among them.
    cluster.create(&template("one-gpu", claim_spec([gpu()])));
    let others: Vec<Value> = (0..16)
        .map(|number| small(pod(&format!("other-{number}"))).template_claim("gpu", "one-gpu"))
        .collect();
    cluster.run(&others);
    let used: Vec<String> = (0..16)
        .flat_map(|number| cluster.devices_of(&cluster.claim_of(&format!("pod/other-{number}"), "gpu")))
        .collect();
    assert!(used.contains(&device[0]), "{device:?} is not in {used:?}");
}
