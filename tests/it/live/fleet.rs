//! Several real clusters in one command.

use serde_json::Value;

use crate::support::cluster::{Cluster, Options};
use crate::support::schema::assert_valid;

#[test]
fn status_of_two_contexts_is_the_status_of_each() {
    let clusters = [
        Cluster::start(&Options::default()),
        Cluster::start(&Options::default()),
    ];
    for (cluster, nodes) in clusters.iter().zip([1, 2]) {
        cluster.add_gpu_nodes(nodes);
    }
    // One kubeconfig with the context `test` of each under another name.
    let mut merged: Option<Value> = None;
    for (cluster, name) in clusters.iter().zip(["a", "b"]) {
        let text = std::fs::read_to_string(cluster.kubeconfig()).expect("a kubeconfig");
        let mut config: Value = serde_saphyr::from_str(&text).expect("YAML");
        for list in ["clusters", "users", "contexts"] {
            config[list][0]["name"] = name.into();
        }
        for field in ["cluster", "user"] {
            config["contexts"][0]["context"][field] = name.into();
        }
        match &mut merged {
            None => merged = Some(config),
            Some(merged) => {
                for list in ["clusters", "users", "contexts"] {
                    let more = config[list][0].clone();
                    merged[list].as_array_mut().expect("a list").push(more);
                }
            }
        }
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("config");
    std::fs::write(&config, merged.expect("both").to_string()).expect("a file");
    let ask = |args: &[&str]| {
        let ask = clusters[0].kubectl_dra(["status"]).args(args);
        ask.args(["--kubeconfig".as_ref(), config.as_os_str()])
            .run()
            .exits(0)
    };

    let run = ask(&["--context", "a", "--context", "b", "-o", "json"]);
    let report = assert_valid(&run.stdout);
    for (place, name) in ["a", "b"].into_iter().enumerate() {
        let of_fleet = &report["clusters"][place];
        assert_eq!(of_fleet["cluster"], name);
        let alone = ask(&["--context", name, "-o", "json"]).json();
        assert_eq!(of_fleet["report"], alone);
        assert_eq!(alone["source"]["context"], name);
    }
    let devices = |place: usize| &report["clusters"][place]["report"]["drivers"][0]["devices"]["total"];
    assert_eq!((devices(0), devices(1)), (&8.into(), &16.into()));
    let table = ask(&["--context", "a", "--context", "b"]).stdout;
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert_eq!((rows[1][0], rows[2][0]), ("a", "b"), "{table}");
}
