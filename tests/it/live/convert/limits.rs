//! Plans that are carried out later, and lists that are full.

use serde_json::{Value, json};

use super::{OFF, ON, Records, cluster, groups, list, member_of, turn_off};
use crate::support::cluster::objects::Manifest;
use crate::support::schema::assert_schema;

#[test]
fn a_plan_in_a_file_is_carried_out_as_far_as_it_holds() {
    let cluster = cluster();
    groups(&cluster, &["a", "b", "c"], 1);
    let records = Records::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
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
    assert!(outcomes(&again).is_empty(), "{again:#}");
}

#[test]
fn a_list_takes_256_pods_and_no_more() {
    let cluster = cluster();
    groups(&cluster, &["many"], 1);
    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    // Who names the node needs no scheduler and no room on it.
    let node = json!({"spec": {"nodeName": cluster.get("pod/many-0")["spec"]["nodeName"]}});
    for member in 1..=256 {
        cluster.create(&member_of("many", member).with(node.clone()));
    }
    let before = list(&cluster, "claim/many");
    let convert = || {
        cluster
            .kubectl_dra(["convert", "--yes", "-o", "json"])
            .args(OFF)
            .run()
    };
    let refused = assert_schema!(&convert().exits(1).stdout);
    assert_eq!(refused["claims"][0]["code"], "TooManyConsumers");
    assert_eq!(list(&cluster, "claim/many"), before);
    cluster.delete_now("pod/many-256");
    convert().exits(0);
    assert_eq!(cluster.reservations_of("claim/many").len(), 256);
}
