//! Files that do not say everything: what they leave open is unknown, and nothing is accused or promised because of it.

use std::path::Path;

use serde_json::{Value, json};

use super::{claim, slice};
use crate::support::command::dra;
use crate::support::process::Run;
use dra_testing::effort::some_of;

const NOW: [&str; 4] = ["--now", "2026-11-21T14:00:00Z", "--kubernetes-version", "1.37"];

fn item_list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// A claim that holds a device, reserved for the object.
fn held(resource: &Value) -> Value {
    claim(
        "held",
        &json!({"reservedFor": [resource], "allocation": {"devices": {"results": [
            {"request": "r", "driver": "d", "pool": "p", "device": "g"}]}}}),
    )
}

fn for_a_pod() -> Value {
    held(&json!({"resource": "pods", "name": "trainer", "uid": "t"}))
}

fn for_a_group() -> Value {
    held(&json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "gang", "uid": "g"}))
}

fn pod() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "n", "name": "other", "uid": "o"},
           "spec": {"containers": []}, "status": {"phase": "Running"}})
}

fn node() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node", "uid": "node"}})
}

fn class() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}})
}

/// The answer to a command on files with these texts.
fn ask(args: &[&str], texts: &[String]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let mut line = args.to_vec();
    line.extend(NOW);
    let paths: Vec<String> = (0..texts.len())
        .map(|number| folder.path().join(format!("{number}.yaml")).display().to_string())
        .collect();
    for (path, text) in paths.iter().zip(texts) {
        std::fs::write(Path::new(path), text).expect("a file");
        line.extend(["--from", path]);
    }
    dra(&line).run()
}

fn on(args: &[&str], items: &[Value]) -> Run {
    ask(args, &[item_list(items).to_string()])
}

#[test]
fn a_file_of_claims_makes_no_finding() {
    let run = on(&["check", "-o", "json"], &[for_a_pod()]).exits(4);
    let report: Value = serde_json::from_str(&run.stdout).expect("a report");
    assert_eq!(report["items"], json!([]));
    let run = on(&["check"], &[for_a_pod()]).exits(4);
    for hint in ["kubectl dra snapshot", "kubectl get ", "--complete"] {
        assert!(run.stderr.contains(hint), "{}", run.stderr);
    }
    on(&["convert", "verify"], &[for_a_pod()]).exits(4);
    // The user may know better.
    on(&["check", "--complete"], &[for_a_pod()]).exits(1);
}

#[test]
fn without_groups_none_is_released() {
    let gates = [
        "--feature-gates",
        "GenericWorkload=true,DRAWorkloadResourceClaims=true",
    ];
    let plan = |items: &[Value], more: &[&str]| {
        let args = [
            &["convert", "plan", "--release-unused", "-o", "json"],
            &gates[..],
            more,
        ]
        .concat();
        on(&args, items)
    };
    let releases = |run: &Run| run.stdout.contains("\"Release\"");
    let all_but_groups = [for_a_group(), pod(), node(), class(), slice(&json!({}))];
    let run = plan(&all_but_groups, &[]).exits(4);
    assert!(!releases(&run), "{}", run.stdout);
    assert!(releases(&plan(&all_but_groups, &["--complete"])));
    let groups = json!({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroupList", "items": []});
    let run = ask(
        &[&["convert", "plan", "--release-unused", "-o", "json"], &gates[..]].concat(),
        &[item_list(&all_but_groups).to_string(), groups.to_string()],
    );
    assert!(
        releases(&run),
        "an empty list of groups says that there are none: {}",
        run.stdout
    );
}

#[test]
fn without_claims_no_device_is_free() {
    let state = |items: &[Value], more: &[&str]| {
        let run = on(&[&["devices", "-o", "json"], more].concat(), items).exits(0);
        run.json()["items"][0]["state"].as_str().map(str::to_owned)
    };
    let slices = [slice(&json!({}))];
    assert_eq!(state(&slices, &[]).as_deref(), Some("Unknown"));
    assert_eq!(state(&slices, &["--complete"]).as_deref(), Some("Free"));
    let empty = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimList", "items": null});
    let run = ask(
        &["devices", "-o", "json"],
        &[item_list(&slices).to_string(), empty.to_string()],
    );
    assert_eq!(run.exits(0).json()["items"][0]["state"], "Free");
}

#[test]
fn rules_seldom_decide_and_claims_always_do() {
    let wanted = claim("wanted", &json!({}));
    let fits = |items: &[Value], more: &[&str], code: i32| {
        let args = [&["simulate", "allocation", "claim/n/wanted", "-o", "json"], more].concat();
        let run = on(&args, items).exits(code);
        let report: Value = serde_json::from_str(&run.stdout).expect("a report");
        report["result"].clone()
    };
    let rest = [node(), class(), slice(&json!({"nodeName": "node"}))];
    let with_claim: Vec<Value> = std::iter::once(wanted).chain(rest.clone()).collect();
    // Rules seldom decide: that there are none is assumed, with a word.
    assert_eq!(fits(&with_claim, &[], 0), "Fits");
    let waits = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "n", "name": "waits"},
        "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "wanted"}], "containers": [{"name": "main"}]}});
    let without_claim: Vec<Value> = std::iter::once(waits).chain(rest).collect();
    on(&["explain", "pod/n/waits"], &without_claim).exits(4);
    on(&["explain", "pod/n/waits", "--complete"], &without_claim).exits(1);
}

/// Everything that is there but cannot be understood, beside a claim that nothing is wrong with.
#[test]
fn what_is_not_understood_is_not_forgotten() {
    let sound = "apiVersion: v1\nkind: List\nitems: []\n---\n";
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let pages =
        |kind: &str| format!("{{apiVersion: v1, kind: {kind}, metadata: {{continue: abc}}, items: []}}");
    let texts = [
        "{apiVersion: v1, metadata: {name: a}}".to_owned(),
        "{kind: Pod, metadata: {name: a}}".to_owned(),
        "{apiVersion: v1, kind: pod, metadata: {name: a}}".to_owned(),
        "{apiVersion: v1, kind: Pods, metadata: {name: a}}".to_owned(),
        "{apiVersion: v1, kind: Pod}".to_owned(),
        "{apiVersion: resource.k8s.io/v9, kind: ResourceClaim, metadata: {name: a}}".to_owned(),
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: 7}".to_owned(),
        format!("{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {deep}}}"),
        "{apiVersion: v1, kind: ConfigMap, kind: Pod, metadata: {name: a}}".to_owned(),
        "apiVersion: v1\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n".to_owned(),
        pages("List"),
        pages("PodList"),
        "{apiVersion: v1, kind: List, metadata: {remainingItemCount: 5}, items: []}".to_owned(),
        "{apiVersion: v1, kind: List, items: {}}".to_owned(),
        "{apiVersion: v1, kind: List}".to_owned(),
        "{apiVersion: v1, kind: PodList}".to_owned(),
        "{apiVersion: v1, kind: List, items: [{metadata: {name: a}}]}".to_owned(),
        "{apiVersion: v1, kind: List, items: [7]}".to_owned(),
        "{apiVersion: v1, kind: PodList, items: [{metadata: {name: a}, spec: 7}]}".to_owned(),
        "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [{kind: Pod}]}]}"
            .to_owned(),
        "{apiVersion: meta.k8s.io/v1, kind: Table, rows: []}".to_owned(),
        "{apiVersion: meta.k8s.io/v1, kind: PartialObjectMetadata, metadata: {name: a}}".to_owned(),
        "{apiVersion: v1, kind: Status, status: Failure}".to_owned(),
        "NAME   READY   STATUS\na      1/1     Running\n".to_owned(),
        "just text".to_owned(),
        "a: b: c".to_owned(),
        "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u}}\n---\n\
         {apiVersion: v1, kind: Pod, metadata: {name: b, uid: u}}"
            .to_owned(),
        "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n\
         {apiVersion: v1, kind: Pod, metadata: {name: a, labels: {a: b}}}"
            .to_owned(),
    ];
    for text in texts {
        let run = ask(&["check", "--complete"], &[format!("{sound}{text}")]);
        assert_eq!(run.code, Some(4), "{text}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("warning"), "{text}: {}", run.stderr);
    }
    // The same once more says nothing new, and other kinds decide nothing.
    for text in [
        "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: a}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: 7}",
        "{apiVersion: example.com/v1, kind: pod, metadata: {name: a}}",
        "{apiVersion: v1, kind: ConfigMapList, metadata: {continue: abc}, items: []}",
        "# only a comment",
        "---\n---\n",
    ] {
        let run = ask(&["check", "--complete"], &[format!("{sound}{text}")]);
        assert_eq!(run.code, Some(0), "{text}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_snapshot_that_lost_an_object_says_which_kind_and_how_many() {
    let text = std::fs::read_to_string("tests/data/snapshots/stale-reservations.yaml").expect("a snapshot");
    let list: Value = serde_saphyr::from_str(&text).expect("YAML");
    for (kind, plural) in [
        ("Pod", "pods"),
        ("ResourceClaim", "resourceclaims"),
        ("Node", "nodes"),
    ] {
        let mut cut = list.clone();
        let items = cut["items"].as_array_mut().expect("items");
        let at = items.iter().position(|item| item["kind"] == kind).expect("one");
        let said = items.iter().filter(|item| item["kind"] == kind).count();
        items.remove(at);
        let run = ask(&["convert", "verify", "--all-kinds"], &[cut.to_string()]);
        assert!(matches!(run.code, Some(1 | 4)), "{kind}: {}", run.stdout);
        let run = ask(&["status"], &[cut.to_string()]).exits(0);
        let told = format!(
            "is damaged: its snapshot lists {said} {plural}, but contains {}",
            said - 1
        );
        assert!(run.stderr.contains(&told), "{}", run.stderr);
    }
}

#[test]
fn a_snapshot_of_one_namespace_leaves_the_others_unknown() {
    let info = json!({"apiVersion": "dra.kubectl.io/v1", "kind": "SnapshotInfo", "metadata": {"name": "snapshot"},
        "namespace": "n", "lists": [
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "count": 1},
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "count": 0}]});
    let run = on(&["devices", "-o", "json"], &[info, slice(&json!({}))]).exits(0);
    let report: Value = serde_json::from_str(&run.stdout).expect("a report");
    assert_eq!(report["items"][0]["state"], "Unknown");
    assert!(run.stderr.contains("outside namespace/n"), "{}", run.stderr);
}

#[test]
fn a_few_bytes_that_unpack_to_much_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    // Few large objects: many small ones would take the time for reading them.
    let label = "0123456789".repeat(20_000);
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"a": label}}})
            .to_string();
    let text = object.repeat((80 << 20) / object.len()).into_bytes();
    let packed = [
        ("bomb.json.zst", zstd::encode_all(&text[..], 1).expect("memory")),
        ("bomb.json.gz", super::gzip(&text)),
    ];
    for (name, bytes) in some_of(&packed, 1) {
        assert!(bytes.len() < 1 << 20, "{name}: {}", bytes.len());
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        let run = dra(&["status", "--from", path.to_str().expect("UTF-8")])
            .run()
            .exits(3);
        assert!(
            run.stderr.contains("unpacks to more than 64 MiB"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("unpack it with"), "{}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn blocking_and_endless_files_are_not_read_with_a_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("a.yaml");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let run = dra(&["status", "--from", folder.path().to_str().expect("UTF-8")])
        .run()
        .exits(3);
    assert!(run.stderr.contains("is a socket, not a file"), "{}", run.stderr);
    let run = dra(&["status", "--from", "/dev/zero"]).run().exits(3);
    assert!(run.stderr.contains("is not text"), "{}", run.stderr);
}

/// What `kubectl get` prints of several kinds does not name those of which there are none.
#[test]
fn a_picture_of_a_cluster_has_none_of_what_nothing_refers_to() {
    let text = std::fs::read_to_string("tests/data/snapshots/bound-pods.yaml").expect("a snapshot");
    let mut list: Value = serde_saphyr::from_str(&text).expect("YAML");
    let items = list["items"].as_array_mut().expect("items");
    items.retain(|item| item["kind"] != "SnapshotInfo");
    let fits = ["simulate", "allocation", "claim/default/spare"];
    let run = ask(&fits, &[list.to_string()]).exits(0);
    assert!(
        run.stderr.contains("contains no devicetaintrules"),
        "{}",
        run.stderr
    );
    ask(&["check"], &[list.to_string()]).exits(0);
    for kind in ["Node", "Pod", "ResourceClaim", "DeviceClass", "ResourceSlice"] {
        let mut less = list.clone();
        less["items"]
            .as_array_mut()
            .expect("items")
            .retain(|item| item["kind"] != kind);
        ask(&["check"], &[less.to_string()]).exits(4);
    }
}
