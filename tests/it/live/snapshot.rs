//! Snapshots: the same answers as from the cluster, nothing secret, and a file that others can read.

use std::path::Path;

use dra_testing::effort::{by_effort, some_of};
use serde_json::{Value, json};

use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, namespace, pod};
use crate::support::cluster::scenario;
use crate::support::cluster::{Cluster, Component, Options};

/// Ages count from one instant, since the two runs are not at the same time.
const NOW: &str = "--now=2099-01-01T00:00:00Z";

const QUESTIONS: &[&[&str]] = &[
    &["status"],
    &["claims", "-A"],
    &["claims", "-A", "-o", "wide"],
    &["reserved", "-A"],
    &["devices"],
    &["devices", "-o", "wide"],
    &["taints"],
    &["taints", "-o", "wide"],
];

/// Compares what is printed live and from a snapshot.
fn compare(cluster: &Cluster, what: &str, file: &Path) {
    let from = format!("--from={}", file.display());
    let questions = QUESTIONS
        .iter()
        .map(|words| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    for question in questions.chain(descriptions(cluster)) {
        let live = cluster.kubectl_dra(&question).args([NOW]).run();
        let recorded = cluster.kubectl_dra(&question).args([NOW, from.as_str()]).run();
        assert_eq!(
            without_certainty(&without_flag(&recorded.stdout, &from)),
            without_certainty(&live.stdout),
            "{what}: {question:?}"
        );
        assert_eq!(recorded.stderr, live.stderr, "{what}: {question:?}");
        assert_eq!(recorded.code, live.code, "{what}: {question:?}");
        assert_eq!(live.code, Some(0), "{what}: {question:?}: {}", live.stderr);
    }
}

/// A report whose printed commands do not name the file.
fn without_flag(text: &str, flag: &str) -> String {
    text.replace(&format!(" {flag}"), "")
}

/// All but how sure the findings of a description are: those of a cluster are read again, and a file stays as it is.
fn without_certainty(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines
        .filter(|line| !line.trim_start().starts_with("Certainty:"))
        .collect()
}

/// `describe` of some objects of each kind.
fn descriptions(cluster: &Cluster) -> Vec<Vec<String>> {
    let some = by_effort(1, 4, 4);
    let mut names = Vec::new();
    for kind in ["claim", "pod", "node", "class"] {
        let found = cluster.list(kind);
        assert!(!found.is_empty(), "the scenario has some {kind}");
        names.extend(found.iter().take(some).map(|object| {
            let metadata = &object["metadata"];
            let name = metadata["name"].as_str().expect("a name");
            match metadata["namespace"].as_str() {
                Some(namespace) => format!("{kind}/{namespace}/{name}"),
                None => format!("{kind}/{name}"),
            }
        }));
    }
    for slice in cluster.list("slice").iter().take(some) {
        let spec = &slice["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let pool = format!("{}/{}", text(&spec["driver"]), text(&spec["pool"]["name"]));
        names.extend(
            spec["devices"][0]["name"]
                .as_str()
                .map(|device| format!("device/{pool}/{device}")),
        );
        names.push(format!("pool/{pool}"));
    }
    names
        .into_iter()
        .map(|name| vec!["describe".to_owned(), name])
        .collect()
}

#[test]
fn a_snapshot_gives_the_answers_of_the_cluster() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, extension) in [
        ("podgroups", "json"),
        ("taint-rules", "json.gz"),
        ("stale-reservations", "json.zst"),
    ] {
        let cluster = scenario::named(name).start();
        // Whatever still changes claims and rules would make the two answers differ.
        cluster.stop(Component::ControllerManager);
        let file = directory.path().join(format!("{name}.{extension}"));
        let out = format!("--out={}", file.display());
        let run = cluster.kubectl_dra(["snapshot", &out]).run().exits(0);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.starts_with("wrote "), "{}", run.stderr);
        compare(&cluster, name, &file);
    }
}

#[test]
fn what_may_be_secret_is_left_out_unless_it_is_asked_for() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    let config =
        json!({"config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"key": "hush-config"}}}]});
    cluster.run(&[
        claim("a", claim_spec([gpu()])).with(json!({"spec": {"devices": config},
            "metadata": {"annotations": {"example.com/note": "hush-annotation"}}})),
        pod("p")
            .named_claim("gpu", "a")
            .with(json!({"spec": {"containers": [{"name": "main", "image": "i",
            "env": [{"name": "TOKEN", "value": "hush-env"}], "args": ["--password=hush-args"],
            "resources": {"claims": [{"name": "gpu"}]}}]}})),
    ]);
    let redacted = cluster.kubectl_dra(["snapshot"]).run().exits(0);
    assert!(!redacted.stdout.contains("hush"), "{}", redacted.stdout);
    // Who wrote stays, what they wrote does not.
    assert!(!redacted.stdout.contains("fieldsV1"));
    assert!(
        redacted.stdout.contains(r#""parameters":{"redacted":"sha256:"#),
        "{}",
        redacted.stdout
    );

    let whole = cluster.kubectl_dra(["snapshot", "--no-redact"]).run().exits(0);
    for secret in [
        "hush-config",
        "hush-annotation",
        "hush-env",
        "hush-args",
        "managedFields",
    ] {
        assert!(whole.stdout.contains(secret), "{secret}");
    }
    // What was received is what is written, field for field.
    let list: Value = serde_json::from_str(&whole.stdout).expect("JSON");
    let items = list["items"].as_array().expect("items");
    let written = items
        .iter()
        .find(|item| item["kind"] == "ResourceClaim")
        .expect("the claim");
    assert_eq!(*written, cluster.get("claim/a"));
    assert_eq!(items[0]["kind"], "SnapshotInfo");
}

#[test]
fn a_snapshot_says_what_it_lacks() {
    let cluster = Cluster::shared();
    let viewer = cluster.user("snapshot-viewer").with_role("view");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("a.json");
    let run = viewer
        .kubectl_dra(["snapshot", "--out"])
        .args([&file])
        .run()
        .exits(0);
    assert!(
        run.stderr
            .contains("warning: resourceslices are missing: user `snapshot-viewer` needs"),
        "{}",
        run.stderr
    );
    let from = format!("--from={}", file.display());
    for question in [["status", NOW], ["devices", NOW]] {
        let live = viewer.kubectl_dra(question).run();
        let recorded = viewer.kubectl_dra(question).args([&from]).run();
        assert_eq!(
            (
                without_flag(&recorded.stdout, &from),
                recorded.stderr,
                recorded.code
            ),
            (live.stdout, live.stderr, live.code)
        );
    }
}

#[test]
fn a_snapshot_of_one_namespace_does_not_pretend_to_know_the_others() {
    let cluster = Cluster::shared();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("a.json");
    cluster
        .kubectl_dra(["snapshot", "-n", "inference", "--out"])
        .args([&file])
        .run()
        .exits(0);
    let from = format!("--from={}", file.display());
    let own = cluster.kubectl_dra(["claims", "-n", "inference", NOW]);
    let recorded = cluster
        .kubectl_dra(["claims", "-n", "inference", NOW, &from])
        .run()
        .exits(0);
    assert_eq!(recorded.stdout, own.run().stdout);
    assert_eq!(recorded.stderr, "");
    let devices = cluster.kubectl_dra(["devices", NOW, &from]).run().exits(0);
    assert!(
        devices
            .stderr
            .contains("the snapshot contains namespace `inference` only"),
        "{}",
        devices.stderr
    );
}

#[cfg(unix)]
#[test]
fn the_file_is_the_users_own_and_replaced_as_a_whole() {
    use std::os::unix::fs::PermissionsExt as _;

    let cluster = Cluster::shared();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("a.json");
    std::fs::write(&file, "before").expect("a file");
    let refused = cluster
        .user("snapshot-rightless")
        .kubectl_dra(["snapshot", "--token=no", "--out"])
        .args([&file])
        .run();
    drop(refused);
    cluster
        .kubectl_dra(["snapshot", "--server=https://127.0.0.1:1", "--out"])
        .args([&file])
        .run()
        .exits(3);
    assert_eq!(
        std::fs::read_to_string(&file)
            .expect("the file is there")
            .len()
            .min(6),
        6
    );
    cluster
        .kubectl_dra(["snapshot", "--out"])
        .args([&file])
        .run()
        .exits(0);
    let mode = std::fs::metadata(&file)
        .expect("the file is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        std::fs::read_dir(directory.path())
            .expect("the folder is there")
            .count(),
        1
    );
}

#[test]
fn kubectl_reads_a_snapshot_too() {
    let cluster = Cluster::start(&Options::default().without(Component::Scheduler));
    cluster.create(&namespace("team"));
    cluster.create(&claim("a", claim_spec([gpu()])).in_namespace("team"));
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("a.json");
    cluster
        .kubectl_dra(["snapshot", "--out"])
        .args([&file])
        .run()
        .exits(0);
    let names = cluster
        .kubectl(["annotate", "--local", "a=b", "-o", "name", "-f"])
        .args([&file])
        .run()
        .exits(0);
    assert!(
        names
            .stdout
            .lines()
            .any(|line| line == "resourceclaim.resource.k8s.io/a"),
        "{}\n{}",
        names.stdout,
        names.stderr
    );
}

/// Who makes YAML of a snapshot keeps the order of its fields or sorts them: its kind stands behind the items in both.
#[test]
fn a_truncated_yaml_copy_is_never_treated_as_complete() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("cluster.json");
    let file = out.to_str().expect("UTF-8");
    cluster.kubectl_dra(["snapshot", "--out", file]).run().exits(0);
    let text = std::fs::read_to_string(&out).expect("the snapshot");
    assert!(
        text.starts_with(r#"{"apiVersion":"v1","items":["#),
        "{}",
        &text[..80]
    );
    assert!(text.ends_with("\n],\"kind\":\"List\",\"metadata\":{}}\n"));
    let mut snapshot: Value = serde_json::from_str(&text).expect("JSON");
    // One that checks out, so that a cut is all that is wrong; a claim stands last.
    let items = snapshot["items"].as_array_mut().expect("items");
    let last = items
        .iter()
        .rposition(|item| item["kind"] == "ResourceClaim")
        .expect("a claim");
    let claim = items.remove(last);
    items.push(claim);
    let yaml = serde_saphyr::to_string(&snapshot).expect("YAML");
    let copy = folder.path().join("copy.yaml");
    let check = |text: &str| {
        std::fs::write(&copy, text).expect("a file");
        let from = format!("--from={}", copy.display());
        let args = ["check", NOW, "--only=DRA010,DRA012,DRA015", from.as_str()];
        cluster.kubectl_dra(args).run()
    };
    check(&yaml).exits(0);
    let end = yaml.rfind("\nkind: List").expect("the kind of the list") + 1;
    let begin = yaml[..end].rfind("apiVersion: resource").expect("the last item");
    let lines = yaml[begin..=end].match_indices('\n').map(|(at, _)| begin + at);
    let cuts: Vec<usize> = lines
        .flat_map(|at| [at - 3, at, at + 1])
        .filter(|cut| *cut <= end + 3)
        .collect();
    assert!(cuts.len() > 30, "{cuts:?}");
    for &cut in some_of(&cuts, 15) {
        let run = check(&yaml[..cut]);
        // What is left of the last item may look suspicious, which is no more than a suspicion.
        assert!(matches!(run.code, Some(1..=4)), "cut at {cut}: {run:?}");
        assert!(!run.stdout.contains("Confirmed"), "cut at {cut}: {run:?}");
        // An allocation that lost its driver is none that an API server has.
        let is_told = matches!(run.code, Some(2 | 3)) || run.stderr.contains("may be truncated");
        assert!(is_told, "cut at {cut}: {run:?}");
    }
    // A JSON that is cut off is none.
    for cut in [1, 2, 5, 20, 40] {
        check(&text[..text.len() - 1 - cut]).exits(3);
    }
}
