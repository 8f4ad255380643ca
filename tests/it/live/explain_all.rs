//! `explain` of everything that waits, and of nodes, against what the real scheduler does.

use serde_json::{Value, json};

use super::placement::{small, to_node};
use crate::support::cluster::objects::{Manifest, claim_spec, gpu, namespace, template};
use crate::support::cluster::{Cluster, Options};
use crate::support::schema::assert_valid;

/// Returns what `explain` tells of everything, with the exit code.
fn explained(cluster: &Cluster, code: i32) -> Value {
    let run = cluster
        .kubectl_dra(["explain", "-A", "-o", "json"])
        .run()
        .exits(code);
    assert_valid(&run.stdout)
}

/// The largest request for GPUs that fits on a node.
fn largest(cluster: &Cluster, node: &str) -> u64 {
    let run = cluster
        .kubectl_dra(["explain", &format!("node/{node}"), "-o", "json"])
        .run();
    let report = assert_valid(&run.stdout);
    let classes = report["classes"].as_array().expect("classes");
    let gpus = classes.iter().find(|class| class["class"] == "gpu.example.com");
    gpus.expect("GPUs")["largest"].as_u64().expect("a number")
}

#[test]
fn what_waits_is_what_the_scheduler_leaves_pending() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(2);
    let nodes = cluster.list("node");
    let names: Vec<String> = nodes
        .iter()
        .map(|node| node["metadata"]["name"].as_str().expect("a name").to_owned())
        .collect();
    let of = |name: &str, count: u32, namespace: &str| {
        [
            template(name, claim_spec([gpu().count(count)])).in_namespace(namespace),
            small(name).template_claim("gpu", name).in_namespace(namespace),
        ]
    };
    assert_eq!(explained(&cluster, 0)["items"], json!([]));

    // Three of the eight GPUs of the first node are taken.
    let [held, first] = of("three", 3, "default");
    cluster.run(&[held, to_node(first, &names[0])]);
    let room = largest(&cluster, &names[0]);
    assert_eq!((room, largest(&cluster, &names[1])), (5, 8));

    // As many as are told get there, and no more.
    let [fitting, pod] = of("all-that-is-left", room as u32, "default");
    cluster.run(&[fitting, to_node(pod, &names[0])]);
    assert_eq!(largest(&cluster, &names[0]), 0);
    let [one, pod] = of("one-more", 1, "default");
    cluster.create_all(&[one, to_node(pod, &names[0])]);

    // Replicas of two namespaces that ask for the same wait for the same.
    cluster.create_all(&[namespace("team")]);
    for namespace in ["default", "team"] {
        cluster.create_all(&[template("nine", claim_spec([gpu().count(9)])).in_namespace(namespace)]);
        for number in 0..3 {
            let name = format!("nine-{number}");
            cluster.create_all(&[small(&name).template_claim("gpu", "nine").in_namespace(namespace)]);
        }
    }
    let all = ["default", "team"]
        .map(|namespace| (0..3).map(move |number| format!("pod/{namespace}/nine-{number}")));
    let waiting: Vec<String> = all
        .into_iter()
        .flatten()
        .chain(["pod/default/one-more".to_owned()])
        .collect();
    cluster.wait_unschedulable(waiting.iter().map(String::as_str));
    let report = explained(&cluster, 1);
    let items = report["items"].as_array().expect("items");
    let mut counts: Vec<usize> = items
        .iter()
        .map(|item| item["pods"].as_array().expect("pods").len())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 6], "{report}");
    let mut told: Vec<String> = items
        .iter()
        .flat_map(|item| item["pods"].as_array().expect("pods"))
        .map(|pod| {
            format!(
                "pod/{}/{}",
                pod["namespace"].as_str().unwrap(),
                pod["name"].as_str().unwrap()
            )
        })
        .collect();
    told.sort_unstable();
    let mut expected = waiting;
    expected.sort_unstable();
    assert_eq!(told, expected);
}
