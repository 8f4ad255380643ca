//! `run --from FILE --until DURATION`: what the controllers would do, held against what real control planes did.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;

use dra_model::Time;
use dra_sources::files::{Found, ReadError, ReadOptions, Source, read};
use serde_json::{Value, json};

use crate::support::command::{dra, dra_snapshot};
use crate::support::schema::assert_valid;

fn path(snapshot: &str) -> String {
    format!("tests/data/snapshots/{snapshot}.yaml")
}

/// The objects of a file, as they stand in it.
pub(crate) fn objects_of(path: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    read(
        &[Source::Path(PathBuf::from(path))],
        &ReadOptions::default(),
        |found| {
            if let Found::Item(item) = found {
                objects.push(serde_json::from_slice(&item.json).expect("JSON"));
            }
            Ok::<_, ReadError>(())
        },
    )
    .expect("the file");
    objects
}

fn objects(snapshot: &str) -> Vec<Value> {
    objects_of(&path(snapshot))
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// The objects without those of some kinds.
fn without(objects: Vec<Value>, kinds: &[&str]) -> Vec<Value> {
    let stays = |object: &Value| object["kind"].as_str().is_none_or(|kind| !kinds.contains(&kind));
    objects.into_iter().filter(stays).collect()
}

fn file(objects: &[Value]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::with_suffix(".json").expect("a temporary file");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    write!(file, "{list}").expect("a written file");
    file
}

/// A rehearsal: its report, and the objects at the end.
fn rehearse(from: &str, now: &str, until: &str, version: &str) -> (Value, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("end.json");
    let out = out.to_str().expect("UTF-8");
    let run = dra(&[
        "run",
        "--from",
        from,
        "--until",
        until,
        "--now",
        now,
        "--kubernetes-version",
        version,
        "--out",
        out,
        "-o",
        "json",
    ])
    .run();
    assert_eq!(run.code, Some(0), "{from}: {}", run.stderr);
    (assert_valid(&run.stdout), objects_of(out))
}

/// `ACTION OBJECT DETAIL`, once for each event.
fn lines(report: &Value) -> Vec<String> {
    let events = report["events"].as_array().expect("events").iter();
    events
        .map(|event| {
            let text = |field: &str| event[field].as_str().unwrap_or_default();
            format!("{} {} {}", text("action"), text("object"), text("detail"))
                .trim_end()
                .to_owned()
        })
        .collect()
}

#[test]
fn what_is_settled_stays_as_it_is() {
    for (snapshot, version) in [
        ("admin-access", "1.37"),
        ("binding-conditions", "1.37"),
        ("bound-pods", "1.37"),
        ("consumable-capacity", "1.37"),
        ("device-taints-before", "1.37"),
        ("downgrade-features-1.35", "1.35"),
        ("downgrade-features-1.36", "1.36"),
        ("downgrade-features-1.37", "1.37"),
        ("downgrade-groups-1.37", "1.37"),
        ("downgrade-prepared-1.35", "1.35"),
        ("downgrade-prepared-1.37", "1.37"),
        ("extended-resource", "1.37"),
        ("partitionable", "1.37"),
        ("podgroups-gates-off", "1.37"),
        ("shared-claims-before", "1.37"),
        ("taint-rules-none", "1.37"),
    ] {
        let (report, end) = rehearse(&path(snapshot), "2026-11-21T12:00:00Z", "30m", version);
        assert_eq!(lines(&report), [""; 0], "{snapshot}");
        // Every object is there as it was.
        let objects = |objects: Vec<Value>| -> BTreeSet<String> {
            // Jobs decide nothing about devices, so that no snapshot has them.
            let objects = without(objects, &["SnapshotInfo", "Job"]).into_iter();
            objects.map(|object| object.to_string()).collect()
        };
        let (end, start) = (objects(end), objects(self::objects(snapshot)));
        let changed: Vec<&String> = end.symmetric_difference(&start).collect();
        assert!(changed.is_empty(), "{snapshot}: {changed:#?}");
    }
}

#[test]
fn what_is_undone_is_done_and_nothing_else() {
    let ended = "ended-gpu pods ended-0";
    for (snapshot, version, now, expected) in [
        // No kubelet confirmed the end of this pod.
        ("podgroups", "1.37", "2026-11-21T12:00:00Z", vec!["remove pod pod/default/llm-2".to_owned()]),
        (
            "unschedulable-pods",
            "1.37",
            "2026-11-21T12:00:00Z",
            vec![
                "emit event pod/default/missing-template FailedResourceClaimCreation: PodResourceClaim gpu: resource claim template \
                 \"no\": resourceclaimtemplate.resource.k8s.io \"no\" not found"
                    .to_owned(),
            ],
        ),
        // The pod that tolerates the taint for an hour has time.
        ("taint-rules-noexecute-later", "1.37", "2026-11-21T10:14:42Z", vec![]),
        (
            "stale-reservations",
            "1.37",
            "2026-11-21T12:00:00Z",
            [
                "add reservation claim/default/pod-recreated pods again",
                "remove reservation claim/default/pod-done pods done",
                "deallocate claim/default/pod-done gpu.example.com/gpu-node-1/gpu-1",
                "remove finalizer claim/default/pod-done",
                "remove reservation claim/default/pod-gone pods gone",
                "deallocate claim/default/pod-gone gpu.example.com/gpu-node-1/gpu-0",
                "remove finalizer claim/default/pod-gone",
                "remove reservation claim/default/pod-recreated pods again",
            ]
            .map(str::to_owned)
            .to_vec(),
        ),
        // Both releases reserve for a pod that has ended, again and again.
        ("downgrade-groups-1.36", "1.36", "2026-11-21T12:00:00Z", circle(ended)),
        ("downgrade-groups-1.35", "1.35", "2026-11-21T12:00:00Z", circle(ended)),
    ] {
        let (report, _) = rehearse(&path(snapshot), now, "30m", version);
        assert_eq!(lines(&report), expected, "{snapshot}");
    }
}

fn circle(what: &str) -> Vec<String> {
    vec![
        format!("remove reservation claim/default/{what}"),
        format!("add reservation claim/default/{what}"),
    ]
}

/// By claim that no controller made: whether it is allocated, and the UIDs of its consumers. By owner and entry, how many claims were
/// made for it.
pub(crate) type Claims = (
    BTreeMap<String, (bool, BTreeSet<String>)>,
    BTreeMap<String, usize>,
);

pub(crate) fn claims(objects: &[Value]) -> Claims {
    let (mut named, mut made) = Claims::default();
    for claim in of_kind(objects, "ResourceClaim") {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &claim["metadata"];
        let entries = claim["status"]["reservedFor"].as_array().into_iter().flatten();
        let uids = entries.map(|entry| text(&entry["uid"])).collect();
        let name = format!("{}/{}", text(&metadata["namespace"]), text(&metadata["name"]));
        if let Some(entry) = metadata["annotations"].get("resource.kubernetes.io/pod-claim-name") {
            let owner = format!("{} {}", text(&metadata["ownerReferences"][0]["uid"]), text(entry));
            *made.entry(owner).or_default() += 1;
            if claim["status"]["allocation"].is_null() {
                continue;
            }
        }
        named.insert(name, (claim["status"]["allocation"].is_object(), uids));
    }
    (named, made)
}

#[test]
fn ended_and_deleted_pods_free_what_the_real_controller_freed() {
    let after = objects("shared-claims");
    let mut scene = without(objects("shared-claims-before"), &["Pod"]);
    scene.extend(of_kind(&after, "Pod").into_iter().cloned());
    let file = file(&scene);
    // Before any kubelet lets a pod go.
    let (report, end) = rehearse(
        file.path().to_str().expect("UTF-8"),
        "2026-11-21T00:00:00Z",
        "0s",
        "1.37",
    );
    let (mut ours, mut real) = (claims(&end), claims(&after));
    // Its entry of the ended pod is taken out and put in again for ever.
    assert_eq!(report["loops"], json!(["claim/default/shared"]));
    for claims in [&mut ours, &mut real] {
        let (_, uids) = claims.0.get_mut("default/shared").expect("the claim");
        let ended = of_kind(&after, "Pod")
            .into_iter()
            .find(|pod| pod["metadata"]["name"] == "done");
        uids.remove(
            ended.expect("the pod")["metadata"]["uid"]
                .as_str()
                .expect("a UID"),
        );
    }
    assert_eq!(ours, real);
}

/// Returns when each pod was evicted, by the pods that are being deleted for a taint.
pub(crate) fn evicted(objects: &[Value]) -> BTreeMap<String, Time> {
    let pods = of_kind(objects, "Pod").into_iter().filter(|pod| {
        let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        // The pod is marked first, and deleted then.
        pod["metadata"]["deletionTimestamp"].is_string()
            && conditions.any(|condition| condition["reason"] == "DeletionByDeviceTaintManager")
    });
    pods.map(|pod| {
        let metadata = &pod["metadata"];
        let text = |field: &str| metadata[field].as_str().expect("text");
        let end: Time = text("deletionTimestamp").parse().expect("a time");
        let grace = metadata["deletionGracePeriodSeconds"].as_i64().expect("seconds");
        let name = format!("pod/{}/{}", text("namespace"), text("name"));
        (name, end.add_nanoseconds(-grace * 1_000_000_000))
    })
    .collect()
}

/// Returns when the report evicts which pod.
fn evictions(report: &Value) -> BTreeMap<String, Time> {
    let events = report["events"].as_array().expect("events").iter();
    let evictions = events.filter(|event| event["action"] == "evict pod");
    evictions
        .map(|event| {
            let text = |field: &str| event[field].as_str().expect("text");
            (text("object").to_owned(), text("at").parse().expect("a time"))
        })
        .collect()
}

/// The same pods, each at its instant. The controller takes less than a second, and objects have whole ones.
fn assert_same(ours: &BTreeMap<String, Time>, real: &BTreeMap<String, Time>) {
    assert!(!real.is_empty());
    assert!(ours.keys().eq(real.keys()), "{ours:?} {real:?}");
    for (pod, at) in real {
        assert!(at.since(ours[pod]).as_secs() <= 1, "{pod}: {at}, {}", ours[pod]);
    }
}

#[test]
fn taints_evict_whom_the_real_controller_evicted() {
    for (snapshot, until) in [("device-taints-marked", "8s"), ("device-taints-after", "30s")] {
        let real = objects(snapshot);
        let mut scene = without(objects("device-taints-before"), &["ResourceSlice"]);
        scene.extend(of_kind(&real, "ResourceSlice").into_iter().cloned());
        let added = of_kind(&real, "ResourceSlice")
            .into_iter()
            .flat_map(|slice| slice["spec"]["devices"].as_array().into_iter().flatten())
            .find_map(|device| device["taints"][0]["timeAdded"].as_str())
            .expect("a taint");
        let file = file(&scene);
        let (report, end) = rehearse(file.path().to_str().expect("UTF-8"), added, until, "1.37");
        assert_same(&evictions(&report), &evicted(&real));
        // A snapshot that was taken earlier tells the same as the end of the rehearsal.
        if until == "8s" {
            assert_same(&evicted(&end), &evicted(&real));
        }
    }
}

#[test]
fn a_controller_that_starts_amid_evictions_continues_them() {
    let (report, end) = rehearse(
        &path("device-taints-marked"),
        "2026-11-21T10:13:30Z",
        "30s",
        "1.37",
    );
    let mut real = evicted(&objects("device-taints-after"));
    real.retain(|pod, _| !evicted(&objects("device-taints-marked")).contains_key(pod));
    assert_same(&evictions(&report), &real);
    // By then kubelets have let the others go.
    assert_same(&evicted(&end), &real);
}

#[test]
fn every_snapshot_is_rehearsed() {
    let source = include_str!("rehearsal.rs");
    let folder = std::fs::read_dir("tests/data/snapshots").expect("the snapshots");
    let mut count = 0;
    for file in folder {
        let name = file.expect("a file").file_name();
        let name = name.to_str().expect("UTF-8");
        if let Some(snapshot) = name.strip_suffix(".yaml") {
            count += 1;
            let quoted = format!("\"{snapshot}\"");
            assert!(source.contains(&quoted), "{snapshot} is not rehearsed");
        }
    }
    assert_eq!(count, 26);
}

#[test]
fn a_rule_evicts_and_says_what_the_real_controller_said() {
    let early = objects("taint-rules-noexecute");
    let later = objects("taint-rules-noexecute-later");
    let rule = |objects: &[Value]| {
        let rules = of_kind(objects, "DeviceTaintRule").into_iter();
        let mut found = rules
            .filter(|rule| rule["metadata"]["name"] == "drain-all")
            .cloned();
        found.next().expect("the rule")
    };
    let mut drain = rule(&early);
    let added = drain["spec"]["taint"]["timeAdded"]
        .as_str()
        .expect("a time")
        .to_owned();
    drain["status"] = Value::Null;
    let mut scene = objects("taint-rules-none");
    scene.retain(|object| object["metadata"]["name"] != "drain-all");
    scene.push(drain);
    let file = file(&scene);
    let name = file.path().to_str().expect("UTF-8");
    let (report, end) = rehearse(name, &added, "3s", "1.37");
    assert_same(&evictions(&report), &evicted(&early));
    assert_eq!(rule(&end)["status"], rule(&early)["status"]);
    let (report, end) = rehearse(name, &added, "60s", "1.37");
    assert_eq!(rule(&end)["status"], rule(&later)["status"]);
    assert_eq!(evictions(&report).len(), 4);
    // A controller that starts in between comes to the same.
    let (_, end) = rehearse(
        &path("taint-rules-noexecute"),
        "2026-11-21T10:13:42Z",
        "60s",
        "1.37",
    );
    assert_eq!(rule(&end)["status"], rule(&later)["status"]);
    let running = |objects: &[Value]| -> BTreeSet<String> {
        let pods = of_kind(objects, "Pod").into_iter();
        pods.map(|pod| pod["metadata"]["name"].to_string()).collect()
    };
    assert_eq!(running(&end), running(&later));
}

#[test]
fn a_downgrade_leaves_what_the_real_controllers_left() {
    for (release, drops_membership) in [("1.36", false), ("1.35", true)] {
        let real = objects(&format!("downgrade-groups-{release}"));
        let mut scene = without(
            objects("downgrade-groups-1.37"),
            &["PodGroup", "Workload", "DeviceTaintRule", "SnapshotInfo"],
        );
        if drops_membership {
            for pod in scene.iter_mut().filter(|object| object["kind"] == "Pod") {
                pod["spec"]
                    .as_object_mut()
                    .expect("a spec")
                    .remove("schedulingGroup");
            }
        }
        let file = file(&scene);
        let (_, end) = rehearse(
            file.path().to_str().expect("UTF-8"),
            "2026-11-21T12:00:00Z",
            "0s",
            release,
        );
        let (mut ours, mut real) = (claims(&end), claims(&real));
        // Its entry of the ended pod is taken out and put in again for ever.
        let ended = of_kind(&scene, "Pod")
            .into_iter()
            .find(|pod| pod["metadata"]["name"] == "ended-0");
        let ended = ended.expect("the pod")["metadata"]["uid"]
            .as_str()
            .expect("a UID");
        for claims in [&mut ours, &mut real] {
            claims
                .0
                .get_mut("default/ended-gpu")
                .expect("the claim")
                .1
                .remove(ended);
        }
        assert_eq!(ours.0, real.0, "{release}");
        // Pods whose claim belongs to their PodGroup get one of their own if the controller, at its start, sees them before the
        // claims. That happened in one of the two.
        let of_groups: Vec<&Value> = of_kind(&scene, "ResourceClaim")
            .into_iter()
            .filter(|claim| claim["metadata"]["ownerReferences"][0]["kind"] == "PodGroup")
            .map(|claim| &claim["metadata"]["name"])
            .collect();
        let names_one = |pod: &&Value| {
            let mut statuses = pod["status"]["resourceClaimStatuses"]
                .as_array()
                .into_iter()
                .flatten();
            statuses.any(|status| of_groups.contains(&&status["resourceClaimName"]))
        };
        let may_get_another: BTreeSet<String> = of_kind(&scene, "Pod")
            .into_iter()
            .filter(names_one)
            .map(|pod| pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned())
            .collect();
        let more = real
            .1
            .iter()
            .filter(|(owner, count)| ours.1.get(*owner) != Some(*count));
        let more: BTreeSet<&str> = more.filter_map(|(owner, _)| owner.split(' ').next()).collect();
        assert!(
            more.iter().all(|owner| may_get_another.contains(*owner)),
            "{release}: {more:?}"
        );
        assert_eq!(more.is_empty(), release == "1.35");
        assert!(ours.1.keys().all(|owner| real.1.contains_key(owner)), "{release}");
    }
}

#[test]
fn the_trace_is_shown_in_every_form() {
    let from = path("stale-reservations");
    let run = |more: &[&str]| {
        let fixed = [
            "run",
            "--from",
            &from,
            "--now",
            "2026-11-21T12:00:00Z",
            "--kubernetes-version",
            "1.37",
        ];
        dra(&[&fixed, more].concat())
    };
    dra_snapshot!(run(&["--until", "30m"]), @r"
    exit_code: 0
    ----- stdout -----
    AT                     CONTROLLER                 ACTION               OBJECT                        COUNT   DETAIL
    2026-11-21T12:00:00Z   resourceclaim-controller   add reservation      claim/default/pod-recreated   1       pods again
    2026-11-21T12:00:00Z   resourceclaim-controller   remove reservation   claim/default/pod-done        1       pods done
    2026-11-21T12:00:00Z   resourceclaim-controller   deallocate           claim/default/pod-done        1       gpu.example.com/gpu-node-1/gpu-1
    2026-11-21T12:00:00Z   resourceclaim-controller   remove finalizer     claim/default/pod-done        1
    2026-11-21T12:00:00Z   resourceclaim-controller   remove reservation   claim/default/pod-gone        1       pods gone
    2026-11-21T12:00:00Z   resourceclaim-controller   deallocate           claim/default/pod-gone        1       gpu.example.com/gpu-node-1/gpu-0
    2026-11-21T12:00:00Z   resourceclaim-controller   remove finalizer     claim/default/pod-gone        1
    2026-11-21T12:00:00Z   resourceclaim-controller   remove reservation   claim/default/pod-recreated   1       pods again

    ----- stderr -----
    rehearsal only; nothing was changed
    ");
    dra_snapshot!(run(&["--until", "30m", "-o", "name"]), @r"
    exit_code: 0
    ----- stdout -----
    claim/default/pod-recreated
    claim/default/pod-done
    claim/default/pod-gone

    ----- stderr -----
    rehearsal only; nothing was changed
    ");
    dra_snapshot!(run(&["--until", "30m", "-o", "yaml", "-q"]), @r#"
    exit_code: 0
    ----- stdout -----
    apiVersion: dra.kubectl.io/v1
    kind: ControllerTrace
    kubernetesVersion: "1.37.2"
    featureGates: []
    source:
      type: Files
      names:
      - tests/data/snapshots/stale-reservations.yaml
    warnings: []
    events:
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: add reservation
      object: claim/default/pod-recreated
      detail: pods again
      count: 1
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: remove reservation
      object: claim/default/pod-done
      detail: pods done
      count: 1
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: deallocate
      object: claim/default/pod-done
      detail: gpu.example.com/gpu-node-1/gpu-1
      count: 1
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: remove finalizer
      object: claim/default/pod-done
      count: 1
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: remove reservation
      object: claim/default/pod-gone
      detail: pods gone
      count: 1
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: deallocate
      object: claim/default/pod-gone
      detail: gpu.example.com/gpu-node-1/gpu-0
      count: 1
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: remove finalizer
      object: claim/default/pod-gone
      count: 1
    - at: "2026-11-21T12:00:00Z"
      controller: resourceclaim-controller
      action: remove reservation
      object: claim/default/pod-recreated
      detail: pods again
      count: 1
    from: "2026-11-21T12:00:00Z"
    to: "2026-11-21T12:30:00Z"
    loops: []

    ----- stderr -----
    "#);
    let loops = |more: &[&str]| {
        let from = path("downgrade-groups-1.35");
        let fixed = [
            "run",
            "--from",
            &from,
            "--now",
            "2026-11-21T12:00:00Z",
            "--kubernetes-version",
            "1.35",
            "--until",
            "1h",
        ];
        dra(&[&fixed, more].concat())
    };
    dra_snapshot!(loops(&[]), @r"
    exit_code: 0
    ----- stdout -----
    AT                     CONTROLLER                 ACTION               OBJECT                    COUNT   DETAIL
    2026-11-21T12:00:00Z   resourceclaim-controller   remove reservation   claim/default/ended-gpu   10      pods ended-0
    2026-11-21T12:00:00Z   resourceclaim-controller   add reservation      claim/default/ended-gpu   10      pods ended-0

    ----- stderr -----
    warning: the claim controller keeps rewriting claim/default/ended-gpu because of a finished pod that still exists: its entries may be either
    rehearsal only; nothing was changed
    ");
    // The same input gives the same bytes.
    assert_eq!(
        loops(&["-o", "json"]).run().stdout,
        loops(&["-o", "json"]).run().stdout
    );
}

#[test]
fn flags_that_mean_nothing_together_are_refused() {
    let from = path("bound-pods");
    dra_snapshot!(["run", "--until", "30m"], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--until` needs `--from`

    hint: pass a `kubectl dra snapshot` file with `--from`, or remove the flag to watch the cluster
    ");
    dra_snapshot!(["run", "--out", "end.json"], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--out` needs `--from`

    hint: pass a `kubectl dra snapshot` file with `--from`, or remove the flag to watch the cluster
    ");
    dra_snapshot!(["run", "--from", &from], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `run --from` needs `--until`

    hint: pass `--until 30m` to rehearse 30 minutes on a virtual clock
    ");
    dra_snapshot!(["run", "--from", &from, "--until", "30m", "--for", "10m"], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--for` needs a cluster and cannot be used with `--from`

    hint: use `--until` to rehearse the controllers on files
    ");
    dra_snapshot!(["run", "--from", &from, "--until", "30m", "--overdue", "10s"], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--overdue` needs a cluster and cannot be used with `--from`

    hint: use `--until` to rehearse the controllers on files
    ");
    dra_snapshot!(["run", "--from", &from, "--until", "30m", "--supplement", "overdue-release"], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--supplement` needs a cluster and cannot be used with `--from`

    hint: use `--until` to rehearse the controllers on files
    ");
    dra_snapshot!(["run", "--take-over", "--supplement", "overdue-release"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--take-over` cannot be used with `--supplement`

    hint: kubectl dra run --take-over
    ");
    dra_snapshot!(["run", "--supplement", "overdue-release,evictions"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `evictions` for `--supplement`: expected extended-resource-eviction or overdue-release

    hint: kubectl dra run --supplement PART
    ");
    dra_snapshot!(["run", "--no-lease"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `run` needs --take-over|--supplement PART

    hint: kubectl dra run --for 10m
    ");
    dra_snapshot!(["run", "--from", "-", "--until", "30m", "--out", "end.json"], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--out` reads the files of `--from` twice, but standard input can be read only once

    hint: save the input to a file first
    ");
    dra_snapshot!(["run", "--from", &from, "--until", "30m", "--out", &from], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--out` would overwrite the input `--from tests/data/snapshots/bound-pods.yaml`

    hint: name another file to write
    ");
    dra_snapshot!(["run", "--from", &from, "--until", "soon"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `soon` for `--until`: expected a duration such as 30s or 1m30s

    hint: kubectl dra run --from tests/data/snapshots/bound-pods.yaml --until 10m
    ");
}

#[test]
fn the_end_keeps_what_this_program_does_not_know() {
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "n", "uid": "c",
            "finalizers": ["example.com/mine", "resource.kubernetes.io/delete-protection"], "annotations": {"a": "b"}},
        "spec": {"devices": {}, "quark": {"spin": 0.50}},
        "status": {"allocation": {"devices": {}}, "quark": true, "reservedFor": [
            {"resource": "pods", "name": "gone", "uid": "1"}, {"resource": "batches", "name": "kept", "uid": "2", "color": "red"}]}});
    let template = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "n", "uid": "t"},
        "spec": {"metadata": {"labels": {"l": "v"}, "annotations": {"example.com/a": "b"}}, "spec": {"devices": {"requests": [
            {"name": "r", "exactly": {"deviceClassName": "c", "charm": 1}}]}}}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "p", "labels": {"x": "y"}},
        "spec": {"containers": [], "quark": 1, "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}});
    let file = file(&[claim, template, pod]);
    let name = file.path().to_str().expect("UTF-8");
    let (report, end) = rehearse(name, "2026-11-21T12:00:00Z", "1m", "1.37");
    assert_eq!(lines(&report).len(), 3);
    let claims = of_kind(&end, "ResourceClaim");
    assert_eq!(
        *claims[0],
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "n", "uid": "c",
            "finalizers": ["example.com/mine", "resource.kubernetes.io/delete-protection"], "annotations": {"a": "b"}},
        "spec": {"devices": {}, "quark": {"spin": 0.50}},
        "status": {"allocation": {"devices": {}}, "quark": true, "reservedFor": [
            {"resource": "batches", "name": "kept", "uid": "2", "color": "red"}]}})
    );
    let made = claims[1];
    assert_eq!(
        made["spec"],
        json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "charm": 1}}]}})
    );
    assert_eq!(made["metadata"]["labels"], json!({"l": "v"}));
    assert_eq!(
        made["metadata"]["annotations"],
        json!({"example.com/a": "b", "resource.kubernetes.io/pod-claim-name": "gpu"})
    );
    let pod = of_kind(&end, "Pod")[0];
    assert_eq!(pod["spec"]["quark"], 1);
    assert_eq!(
        pod["status"]["resourceClaimStatuses"],
        json!([{"name": "gpu", "resourceClaimName": made["metadata"]["name"]}])
    );
    // The end is a beginning, in which nothing is left to do, at the time that it says.
    let info = of_kind(&end, "SnapshotInfo")[0];
    assert_eq!(info["recordedAt"], "2026-11-21T12:01:00Z");
    let again = self::file(&end);
    let run = dra(&[
        "run",
        "--from",
        again.path().to_str().expect("UTF-8"),
        "--until",
        "1h",
        "-o",
        "json",
    ])
    .run();
    let report = assert_valid(&run.stdout);
    assert_eq!(
        (&report["from"], &report["events"]),
        (&json!("2026-11-21T12:01:00Z"), &json!([]))
    );
}

#[test]
fn the_parameters_of_a_template_are_copied_as_they_are_written() {
    let parameters = r#"{"sharing": 2.50, "kind" : "Config"}"#;
    let template = r#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "n", "uid": "t"},
        "spec": {"spec": {"devices": {"config": [{"opaque": {"driver": "gpu.example.com", "parameters": PARAMETERS}}]}}}}"#;
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "p"},
        "spec": {"containers": [], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}}"#;
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (from, out) = (path("start.json"), path("end.json"));
    let start = format!("{}\n{pod}", template.replace("PARAMETERS", parameters));
    std::fs::write(&from, start).expect("a written file");
    let now = "2026-11-21T12:00:00Z";
    let args = [
        "--from",
        &from,
        "--until",
        "1m",
        "--now",
        now,
        "--complete",
        "--out",
        &out,
    ];
    dra(&["run"]).args(args).run().exits(0);
    let end = std::fs::read_to_string(out).expect("the end");
    assert_eq!(end.matches(parameters).count(), 2, "{end}");
}

#[test]
fn objects_that_cannot_be_read_are_gaps_of_the_end_too() {
    let pod = |name: &str, spec: &Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "n", "uid": name}, "spec": spec});
    let whole = pod("p", &json!({"containers": []}));
    let odd = pod("odd", &json!({"resourceClaims": "none"}));
    let nameless = json!({"apiVersion": "v1", "kind": "Pod", "metadata": "none"});
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "n", "uid": "c"},
        "spec": {}, "status": {"allocation": {}, "reservedFor": [{"resource": "pods", "name": "odd", "uid": "odd"}]}});
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("end.json.zst");
    let out = out.to_str().expect("UTF-8");
    let file = file(&[whole, odd, nameless, claim]);
    let from = file.path().to_str().expect("UTF-8");
    let run = dra(&[
        "run",
        "--from",
        from,
        "--until",
        "876000h",
        "--now",
        "2026-11-21T12:00:00Z",
        "--out",
        out,
    ])
    .run();
    // Whether the consumer is there cannot be known, so that nothing is done.
    assert_eq!((run.code, run.stdout.as_str()), (Some(4), ""), "{}", run.stderr);
    let again = dra(&["run", "--from", out, "--until", "1h", "-q"]).run();
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (Some(4), ""),
        "{}",
        again.stderr
    );
    let end = objects_of(out);
    assert_eq!(
        of_kind(&end, "ResourceClaim")[0]["status"]["reservedFor"][0]["name"],
        "odd"
    );
}

#[test]
fn wrong_flags_of_run_fail_before_any_request() {
    for (args, told) in [
        (
            &["--take-over", "--controllers", "nodes"][..],
            "unknown controller; expected resourceclaim-controller and device-taint-eviction-controller",
        ),
        (
            &["--take-over", "--workers", "resourceclaim=0"],
            "expected a number of at least 1",
        ),
        (
            &[
                "--take-over",
                "--controllers",
                "resourceclaim",
                "--workers",
                "device-taint-eviction=1",
            ],
            "`--workers` names device-taint-eviction-controller, but `--controllers` does not",
        ),
        (
            &["--take-over", "--supplement", "overdue-release"],
            "cannot be used with",
        ),
        (&["--until", "30m"], "--from"),
        (&["--workers", "resourceclaim=1"], "--take-over"),
    ] {
        let run = dra(&["run"]).args(args).run().exits(2);
        assert!(run.stderr.contains(told), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
}
