//! The files of `tests/data/hostile`: nothing in them makes a verdict good, or a device free.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::command::dra;
use crate::support::process::Run;

const FITS: &[&str] = &["simulate", "allocation", "claim/default/want"];

/// Returns what a command says of files of the folder.
fn ask(command: &[&str], files: &[&str]) -> Run {
    let paths: Vec<String> = files
        .iter()
        .map(|file| format!("tests/data/hostile/{file}"))
        .collect();
    let mut args = command.to_vec();
    for path in &paths {
        args.extend(["--from", path]);
    }
    dra(&args).run()
}

/// Nothing fits, no device is free, and a warning says why.
#[track_caller]
fn is_unknown(files: &[&str], why: &str) {
    for command in [FITS, &["convert", "verify"]] {
        let run = ask(command, files).exits(4);
        assert!(run.stderr.contains(why), "{command:?}: {}", run.stderr);
    }
    let run = ask(&["devices", "--free"], files);
    assert!(!run.stdout.contains("d0"), "{}", run.stdout);
    assert!(
        run.stderr
            .contains("No devices found; some objects could not be read"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains(why), "{}", run.stderr);
}

#[test]
fn a_list_in_place_of_an_object_is_malformed() {
    is_unknown(&["status-list.json"], "status: must be an object, not a list");
    is_unknown(
        &["allocation-list.json"],
        "status.allocation: must be an object, not a list",
    );
}

#[test]
fn a_file_with_nothing_in_it_is_an_error_wherever_it_lies() {
    let run = ask(FITS, &["folder-empty-file/"]).exits(3);
    assert!(
        run.stderr.contains("devicetaintrules.yaml` contains no objects"),
        "{}",
        run.stderr
    );
    let zstd = |text: &[u8]| zstd::encode_all(text, 1).expect("memory");
    for (name, text) in [
        ("a.yaml", Vec::new()),
        ("z.yml", b" \n\t\n".to_vec()),
        ("z.json", b"\n".to_vec()),
        ("z.ndjson", Vec::new()),
        ("a.yaml", b"# nothing\n".to_vec()),
        ("a.yaml", b"---\n".to_vec()),
        ("a.yaml", b"---\n# nothing\n---\n...\n".to_vec()),
        ("a.yaml", b"null\n".to_vec()),
        ("a.json", b"null".to_vec()),
        ("a.yaml", b"~\n---\nnull\n".to_vec()),
        ("a.yaml", b"\xef\xbb\xbf".to_vec()),
        ("a.yaml.gz", super::gzip(b"")),
        ("a.yaml", super::gzip(b"# nothing")),
        ("a.json.zst", zstd(b"")),
        ("z.json.gz", Vec::new()),
    ] {
        let folder = with_cluster();
        std::fs::write(folder.path().join(name), &text).expect("a file");
        let run = fits_in(folder.path()).exits(3);
        let told = format!("{name}` contains no objects");
        assert!(run.stderr.contains(&told), "{name} {text:?}: {}", run.stderr);
    }
}

#[test]
fn unread_files_of_a_directory_may_be_of_any_kind() {
    let run = ask(FITS, &["folder-ndjson/"]).exits(1);
    assert!(!run.stderr.contains("not read"), "{}", run.stderr);
    assert!(
        !ask(&["devices", "--free"], &["folder-ndjson/"])
            .stdout
            .contains("d0")
    );
    fits_in(with_cluster().path()).exits(0);
    let names = [
        "claims.txt",
        "claims",
        "claims.json.xz",
        "claims.yaml.bz2",
        "claims.json~",
        "claims.json.bak",
        "README.md",
        ".gitignore",
        "claims.gz",
    ];
    for name in names {
        let folder = with_cluster();
        std::fs::write(folder.path().join(name), "").expect("a file");
        let run = fits_in(folder.path()).exits(4);
        let told = format!("{name}: not read: it is not a .yaml");
        assert!(run.stderr.contains(&told), "{name}: {}", run.stderr);
    }
    for name in ["more", "more.yaml", ".git"] {
        let folder = with_cluster();
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        let run = fits_in(folder.path()).exits(4);
        let told = format!("{name}: subdirectory, not read");
        assert!(run.stderr.contains(&told), "{name}: {}", run.stderr);
    }
    let folder = with_cluster();
    std::fs::write(folder.path().join("claims.txt"), "").expect("a file");
    let from = folder.path().display().to_string();
    dra(&[FITS, &["--strict", "--from", &from]].concat())
        .run()
        .exits(3);
}

/// A folder with a cluster in which `want` fits.
fn with_cluster() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = "tests/data/hostile/folder-empty-file/cluster.json";
    std::fs::copy(cluster, folder.path().join("cluster.json")).expect("a copy");
    folder
}

fn fits_in(folder: &Path) -> Run {
    let from = folder.display().to_string();
    dra(&[FITS, &["--from", &from]].concat()).run()
}

/// The file, changed.
fn changed(file: &str, change: impl FnOnce(&mut Vec<Value>)) -> tempfile::NamedTempFile {
    let text = std::fs::read_to_string(format!("tests/data/hostile/{file}")).expect("a file");
    let mut list: Value = serde_json::from_str(&text).expect("JSON");
    change(list["items"].as_array_mut().expect("items"));
    let file = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
    std::fs::write(file.path(), list.to_string()).expect("a file");
    file
}

#[test]
fn what_names_no_device_is_in_no_api_server() {
    let file = "result-without-device.json";
    for command in [FITS, &["devices", "--free"], &["convert", "verify"]] {
        let run = ask(command, &[file]).exits(2);
        let told = "results[0].device: Required value: no API server accepts a result without driver, pool and device";
        assert!(run.stderr.contains(told), "{command:?}: {}", run.stderr);
    }
    let results = |items: &mut Vec<Value>| {
        let holder = items.iter_mut().find(|item| item["metadata"]["name"] == "holder");
        holder.expect("the claim")["status"]["allocation"]["devices"]["results"].take()
    };
    let put = |items: &mut Vec<Value>, results: Value| {
        let holder = items.iter_mut().find(|item| item["metadata"]["name"] == "holder");
        holder.expect("the claim")["status"]["allocation"]["devices"]["results"] = results;
    };
    for field in ["driver", "pool", "device"] {
        for value in [Value::Null, json!("")] {
            let file = changed(file, |items| {
                let mut list = results(items);
                let sound = json!({"request": "r", "driver": "d.example.com", "pool": "p", "device": "d0"});
                list[0] = sound.clone();
                let mut lacking = sound;
                lacking[field] = value.clone();
                list.as_array_mut().expect("a list").push(lacking);
                put(items, list);
            });
            let run = dra(&[FITS, &["--from", file.path().to_str().expect("UTF-8")]].concat())
                .run()
                .exits(2);
            let told = format!("results[1].{field}: Required value");
            assert!(run.stderr.contains(&told), "{field}: {}", run.stderr);
        }
    }
    let file = changed(file, |items| {
        let slice = items
            .iter_mut()
            .find(|item| item["kind"] == "ResourceSlice")
            .expect("a slice");
        slice["spec"]["devices"] = json!([{"name": "d0"}, {}]);
    });
    let run = dra(&["devices", "--from", file.path().to_str().expect("UTF-8")])
        .run()
        .exits(2);
    assert!(
        run.stderr.contains("spec.devices[1].name: Required value"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_claim_that_is_in_no_api_server_is_refused_and_defaults_are_filled_in() {
    type Change = fn(&mut Value);
    let of = |name: &'static str, change: Change| {
        let file = changed("snapshot-older.json", move |items| {
            let claims = items.iter_mut().filter(|item| item["kind"] == "ResourceClaim");
            for claim in claims {
                claim["metadata"]["name"] = json!(name);
                change(claim);
            }
        });
        let from = file.path().to_str().expect("UTF-8");
        dra(&["simulate", "allocation", "claim/default/want", "--from", from]).run()
    };
    let refused: [(Change, &str); 3] = [
        (
            |claim| {
                claim["status"] = json!({"reservedFor": [{"resource": "pods", "name": "p", "uid": "p"}]});
            },
            "status.allocation: Required value: no API server accepts a claim with consumers",
        ),
        (
            |claim| claim["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!(-1),
            "spec.devices.requests[0]: Invalid value: no API server accepts a request for less than one device",
        ),
        (
            |claim| {
                let alternative = json!({"name": "a", "deviceClassName": "c", "count": -1});
                claim["spec"]["devices"]["requests"] =
                    json!([{"name": "r", "firstAvailable": [alternative]}]);
            },
            "spec.devices.requests[0]: Invalid value: no API server accepts a request for less than one device",
        ),
    ];
    for (change, told) in refused {
        let run = of("want", change).exits(2);
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    // As the API server fills it in, each asks for one device.
    let defaults: [Change; 4] = [
        |request| drop(request.as_object_mut().expect("an object").remove("count")),
        |request| request["count"] = json!(null),
        |request| request["count"] = json!(0),
        |request| *request = json!({"deviceClassName": request["deviceClassName"]}),
    ];
    let expected = of("want", |claim| claim["status"] = json!({}));
    assert!(expected.stdout.contains("d0"), "{}", expected.stdout);
    for change in defaults {
        let file = changed("snapshot-older.json", |items| {
            for claim in items.iter_mut().filter(|item| item["kind"] == "ResourceClaim") {
                claim["metadata"]["name"] = json!("want");
                claim["status"] = json!({});
                change(&mut claim["spec"]["devices"]["requests"][0]["exactly"]);
            }
        });
        let from = file.path().to_str().expect("UTF-8");
        let run = dra(&["simulate", "allocation", "claim/default/want", "--from", from]).run();
        assert_eq!(
            (run.code, &run.stdout),
            (expected.code, &expected.stdout),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn an_object_that_no_api_server_stores_is_refused() {
    let selected = json!({"deviceClassName": "c"});
    let objects = [
        (
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "o"},
                   "spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                            "devices": [{"name": "d0", "taints": [{"key": "k"}]}]}}),
            "spec.devices[0].taints[0].effect: Required value",
        ),
        (
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "o"},
                   "spec": {"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}),
            "spec: Invalid value",
        ),
        (
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "o"},
                   "spec": {"driver": "d", "nodeName": "n", "allNodes": true,
                            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}),
            "spec: Invalid value",
        ),
        (
            json!({"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "o"},
                   "spec": {"deviceSelector": {"driver": "d"}, "taint": {"effect": "NoSchedule"}}}),
            "spec.taint.key: Required value",
        ),
        (
            json!({"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "o"},
                   "spec": {"deviceSelector": {"driver": "d"}}}),
            "spec.taint.key: Required value",
        ),
        (
            json!({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "o", "namespace": "n"},
                   "spec": {"schedulingPolicy": {"gang": {}}}}),
            "spec.schedulingPolicy.gang.minCount: Invalid value",
        ),
        (
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "o", "namespace": "n"},
                   "spec": {"devices": {"requests": [{"name": "r", "exactly": selected}]}},
                   "status": {"allocation": {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p"}]}}}}),
            "status.allocation.devices.results[0].device: Required value",
        ),
        (
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "o", "namespace": "n"},
                   "spec": {"devices": {"requests": [{"name": "r", "exactly": selected}]}}, "Status": {}}),
            r#"unknown field "Status" (did you mean `status`?)"#,
        ),
    ];
    for (object, told) in objects {
        let file = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
        std::fs::write(file.path(), object.to_string()).expect("a file");
        let from = file.path().to_str().expect("UTF-8");
        let run = dra(&["status", "-A", "--complete", "--from", from])
            .run()
            .exits(2);
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
}

#[test]
fn an_item_that_is_none_of_its_typed_list_is_malformed() {
    const CLAIMS: &str = r#""apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimList""#;
    const PODS: &str = r#""apiVersion": "v1", "kind": "PodList""#;
    const OTHERS: &str = r#""apiVersion": "v1", "kind": "ConfigMapList""#;
    let named = r#""metadata": {"namespace": "default", "name": "odd", "uid": "odd"}"#;
    let verify = |text: &str| {
        let file = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
        std::fs::write(file.path(), text).expect("a file");
        let from = file.path().to_str().expect("UTF-8");
        let cluster = "tests/data/hostile/folder-empty-file/cluster.json";
        dra(&[
            "convert",
            "verify",
            "--complete",
            "--from",
            cluster,
            "--from",
            from,
        ])
        .run()
    };
    for (list, own) in [
        (CLAIMS, r#""apiVersion": "v1", "kind": "ConfigMap""#),
        (CLAIMS, r#""kind": "ConfigMap""#),
        (CLAIMS, r#""apiVersion": "example.com/v1""#),
        (CLAIMS, r#""apiVersion": "v1", "kind": "Pod""#),
        (CLAIMS, r#""kind": "claim""#),
        (
            PODS,
            r#""apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim""#,
        ),
        (PODS, r#""kind": "PodTemplate""#),
        (
            OTHERS,
            r#""apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim""#,
        ),
    ] {
        // Servers write first what an object is, and others where they like.
        for item in [format!("{{{own}, {named}}}"), format!("{{{named}, {own}}}")] {
            for text in [
                format!(r#"{{{list}, "items": [{item}]}}"#),
                format!(r#"{{"items": [{item}], {list}}}"#),
                format!(
                    r#"{{"apiVersion": "v1", "kind": "List", "items": [{{{list}, "items": [{item}]}}]}}"#
                ),
            ] {
                let run = verify(&text);
                assert_eq!(run.code, Some(4), "{text}: {}{}", run.stdout, run.stderr);
            }
        }
    }
    // A list of all pods has those of the cluster, too.
    let text = std::fs::read_to_string("tests/data/hostile/folder-empty-file/cluster.json").expect("a file");
    let cluster: Value = serde_json::from_str(&text).expect("JSON");
    let objects = cluster["items"].as_array().expect("items").iter();
    let pods: Vec<String> = objects
        .filter(|object| object["kind"] == "Pod")
        .map(|pod| format!("{pod}, "))
        .collect();
    let pods = pods.concat();
    for text in [
        format!(r#"{{{PODS}, "items": [{pods}{{"apiVersion": "v1", "kind": "Pod", {named}}}]}}"#),
        format!(r#"{{{PODS}, "items": [{pods}{{{named}, "kind": "Pod", "apiVersion": "v1"}}]}}"#),
        format!(r#"{{{PODS}, "items": [{pods}{{{named}, "kind": null}}]}}"#),
        format!(r#"{{{OTHERS}, "items": [{{"apiVersion": "v1", "kind": "Secret", {named}}}]}}"#),
    ] {
        let run = verify(&text);
        assert_eq!(run.code, Some(0), "{text}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn lists_that_contradict_each_other_make_no_cluster() {
    let (older, newer) = ("snapshot-older.json", "snapshot-newer.json");
    ask(&["convert", "verify"], &[older]).exits(0);
    ask(&["convert", "verify"], &[newer]).exits(1);
    for files in [[older, newer], [newer, older]] {
        for command in [&["convert", "verify"][..], &["check"]] {
            let run = ask(command, &files);
            assert_eq!(
                run.code,
                Some(4),
                "{command:?} {files:?}: {}{}",
                run.stdout,
                run.stderr
            );
        }
        let run = ask(&["convert", "verify"], &files).exits(4);
        let told = "snapshot-older.json: `Pod/default/user`: exists, but not in `tests/data/hostile/snapshot-newer.json`, which lists all pods";
        assert!(run.stderr.contains(told), "{}", run.stderr);
        ask(&["convert", "verify", "--strict"], &files).exits(3);
    }
    // The same twice contradicts nothing.
    ask(&["convert", "verify"], &[older, older]).exits(0);
}

#[test]
fn what_one_list_lacks_is_added_to_no_cluster() {
    let older = "tests/data/hostile/snapshot-older.json";
    for (kind, name) in [
        ("ResourceSlice", "s9"),
        ("ResourceClaim", "other"),
        ("Node", "n9"),
        ("Pod", "other"),
    ] {
        let later = changed("snapshot-older.json", |items| {
            for item in items.iter_mut().filter(|item| item["kind"] == kind) {
                item["metadata"]["name"] = json!(name);
                item["metadata"]["uid"] = json!(format!("{name}-uid"));
            }
        });
        let later = later.path().display().to_string();
        for files in [[older, &later], [&later, older]] {
            let run = dra(&["check", "--from", files[0], "--from", files[1]]).run();
            assert_eq!(run.code, Some(4), "{kind}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn what_a_complete_list_lacks_is_in_no_other_file() {
    let older = "tests/data/hostile/snapshot-older.json";
    for (kind, name) in [
        ("ResourceSlice", "s9"),
        ("ResourceClaim", "other"),
        ("Node", "n9"),
        ("Pod", "other"),
    ] {
        let plain = changed("snapshot-older.json", |items| {
            items.retain(|item| item["kind"] == kind);
            for item in items {
                item["metadata"]["name"] = json!(name);
                item["metadata"]["uid"] = json!(format!("{name}-uid"));
            }
        });
        let plain = plain.path().display().to_string();
        for files in [[older, &plain], [&plain, older]] {
            let run = dra(&["check", "--from", files[0], "--from", files[1]]).run();
            assert_eq!(run.code, Some(4), "{kind}: {}{}", run.stdout, run.stderr);
            let told = format!("exists, but not in `{older}`, which lists all");
            assert!(run.stderr.contains(&told), "{kind}: {}", run.stderr);
            assert!(!run.stdout.contains("Confirmed"), "{kind}: {}", run.stdout);
        }
    }
    // What it has as well contradicts nothing.
    let same = changed("snapshot-older.json", |items| {
        items.retain(|item| item["kind"] == "Pod");
    });
    let same = same.path().display().to_string();
    dra(&["convert", "verify", "--from", older, "--from", &same])
        .run()
        .exits(0);
}

#[test]
fn a_list_that_has_an_object_twice_may_lack_another() {
    for kind in ["ResourceClaim", "Pod"] {
        let twice = changed("snapshot-older.json", |items| {
            let at = items
                .iter()
                .position(|item| item["kind"] == kind)
                .expect("an object");
            let again = items[at].clone();
            items.push(again);
            let lists = items[0]["lists"].as_array_mut().expect("lists");
            let list = lists
                .iter_mut()
                .find(|list| list["kind"] == kind)
                .expect("a list");
            list["count"] = json!(list["count"].as_u64().expect("a number") + 1);
        });
        let from = twice.path().to_str().expect("UTF-8");
        let run = dra(&["convert", "verify", "--from", from]).run().exits(4);
        assert!(
            run.stderr.contains("appears more than once in a list of all"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_snapshot_that_does_not_say_how_much_it_lists_proves_nothing() {
    for field in ["count", "kind", "apiVersion"] {
        for value in [None, Some(json!(null)), Some(json!([]))] {
            let file = changed("snapshot-older.json", |items| {
                let list = items[0]["lists"][0].as_object_mut().expect("a list");
                list.remove(field);
                list.extend(value.clone().map(|value| (field.to_owned(), value)));
            });
            let from = file.path().to_str().expect("UTF-8");
            dra(&["convert", "verify", "--from", from]).run().exits(4);
        }
    }
}

#[test]
fn lists_of_two_clusters_make_none() {
    let of = |namespace: &str, uid: &str| {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "uid": uid}}]});
        let file = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
        std::fs::write(file.path(), list.to_string()).expect("a file");
        file
    };
    // Others than the first two come and go.
    for (namespace, uid, is_told) in [
        ("kube-system", "a", false),
        ("kube-system", "b", true),
        ("default", "b", true),
        ("team", "b", false),
    ] {
        let files = [of(namespace, "a"), of(namespace, uid)];
        let paths = files
            .each_ref()
            .map(|file| format!("--from={}", file.path().display()));
        let run = dra(&["convert", "verify"]).args(paths).run().exits(4);
        let told = format!(
            "`Namespace/{namespace}`: has a different UID in `{}`: the files are from different clusters",
            files[0].path().display()
        );
        assert_eq!(
            run.stderr.contains(&told),
            is_told,
            "{namespace} {uid}: {}",
            run.stderr
        );
    }
}

#[test]
fn an_invalid_scheduler_configuration_is_reported() {
    let folder = with_cluster();
    let file = folder.path().join("scheduler.yaml");
    for (profiles, code) in [
        ("[{schedulerName: other}]", 0),
        ("{}", 4),
        ("[[]]", 4),
        ("[{schedulerName: 1}]", 4),
    ] {
        let text = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: {profiles}\n"
        );
        std::fs::write(&file, text).expect("a file");
        let run = fits_in(folder.path()).exits(code);
        let is_told = run.stderr.contains("is not a valid KubeSchedulerConfiguration: ");
        assert_eq!(is_told, code == 4, "{profiles}: {}", run.stderr);
    }
}

#[test]
fn fields_that_came_later_than_the_release_count_for_nothing() {
    let at = |file: &str, version: &str| {
        ask(
            &[FITS, &["--complete", "--kubernetes-version", version]].concat(),
            &[file],
        )
    };
    for version in ["1.34", "1.35", "1.36"] {
        let run = at("newer-field-slice.json", version).exits(0);
        let told = format!(
            "`ResourceSlice/s0`: ignoring spec.skipNodeOperations, which exists since Kubernetes 1.37: API servers of {version} drop it"
        );
        assert!(run.stderr.contains(&told), "{}", run.stderr);
        let run = at("newer-field-request.json", version).exits(1);
        let told = "`ResourceClaim/default/want`: ignoring spec.devices.requests[].exactly.derivedAttributes, which exists since Kubernetes 1.37";
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    for file in ["newer-field-slice.json", "newer-field-request.json"] {
        let run = at(file, "1.37");
        assert!(!run.stderr.contains("which exists since"), "{}", run.stderr);
    }
}

#[test]
fn a_manifest_loses_fields_that_came_later_than_the_release() {
    let list = std::fs::read_to_string("tests/data/hostile/newer-field-request.json").expect("a file");
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let items = list["items"].as_array().expect("items");
    let mut claim = items
        .iter()
        .find(|item| item["kind"] == "ResourceClaim")
        .expect("a claim")
        .clone();
    claim["metadata"] = json!({"name": "new", "namespace": "default"});
    let manifest = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
    std::fs::write(manifest.path(), claim.to_string()).expect("a file");
    let file = manifest.path().to_str().expect("UTF-8");
    let run = ask(
        &[
            "simulate",
            "allocation",
            "-f",
            file,
            "--complete",
            "--kubernetes-version",
            "1.36",
        ],
        &["newer-field-request.json"],
    )
    .exits(1);
    assert!(
        run.stderr
            .contains("`ResourceClaim/default/new`: ignoring spec.devices.requests[]"),
        "{}",
        run.stderr
    );
}
