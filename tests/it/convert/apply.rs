//! `convert apply`: each claim of a plan has a row that decides the exit code, and a plan of another cluster is refused.

use serde_json::{Value, json};

use crate::support::command::dra;
use crate::support::fake::{Fake, Watched};
use crate::support::process::Run;
use crate::support::schema::assert_schema;

/// A claim that is allocated and reserved for a Job.
fn claim(name: &str) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": name, "uid": format!("uid-{name}"), "resourceVersion": "5"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}}]}},
        "status": {
            "allocation": {"devices": {"results": [{"request": "r", "driver": "d.example.com", "pool": "p", "device": name}]}},
            "reservedFor": [{"apiGroup": "batch", "resource": "jobs", "name": "render", "uid": "job-render"}]}})
}

/// A running pod that uses the claim.
fn pod(claim: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "name": format!("{claim}-0"), "uid": format!("pod-{claim}"), "resourceVersion": "5"},
        "spec": {"nodeName": "n0", "resourceClaims": [{"name": "r", "resourceClaimName": claim}], "containers": [{"name": "c"}]},
        "status": {"phase": "Running"}})
}

fn namespace(name: &str, uid: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": uid, "resourceVersion": "5"}})
}

/// `used` can be converted, and `stuck` cannot, since no pod uses it.
fn objects() -> Vec<Value> {
    vec![claim("used"), pod("used"), claim("stuck")]
}

fn server(objects: Vec<Value>) -> Fake {
    Fake::with_watches(objects, |_, _| Watched::Quiet)
}

fn changed(mut objects: Vec<Value>, name: &str, change: impl Fn(&mut Value)) -> Vec<Value> {
    let mut found = objects
        .iter_mut()
        .filter(|object| object["metadata"]["name"] == name);
    change(found.next().expect("an object of that name"));
    objects
}

fn without(mut objects: Vec<Value>, name: &str) -> Vec<Value> {
    objects.retain(|object| object["metadata"]["name"] != name);
    objects
}

/// The plan for `objects`.
fn plan(objects: Vec<Value>, more: &[&str]) -> Value {
    let server = server(objects);
    let run = dra(&[&["convert", "plan", "-o", "json"], more].concat())
        .args(server.flags())
        .run();
    assert!(run.code < Some(2), "{}", run.stderr);
    assert_schema!(&run.stdout)
}

/// Carries `plan` out on `server`.
fn apply(plan: &Value, server: &Fake, more: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("written");
    dra(&[&["convert", "apply", "--yes", "-o", "json"], more].concat())
        .args([format!("--plan={}", file.display())])
        .args(server.flags())
        .run()
}

fn rows(run: &Run) -> Vec<String> {
    let report = assert_schema!(&run.stdout);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let claims = report["claims"].as_array().expect("claims");
    claims
        .iter()
        .map(|claim| [&claim["name"], &claim["outcome"]].map(text).join(" "))
        .collect()
}

fn writes(server: &Fake) -> Vec<String> {
    let is_write = |asked: &String| asked.starts_with("PATCH") && !asked.contains("dryRun");
    server.asked().into_iter().filter(is_write).collect()
}

/// Changes between plan and apply, the flags of the plan, then the rows, the exit code and the number of writes.
type Case<'a> = (&'a str, Vec<Value>, &'a [&'a str], [&'a str; 2], i32, usize);

const ALL: &[&str] = &["--all-kinds"];

#[test]
fn each_claim_of_a_plan_has_a_row_that_decides() {
    let recreated = |name: &str| {
        changed(objects(), name, |claim| {
            claim["metadata"]["uid"] = json!("another");
        })
    };
    let freed = |name: &str| changed(objects(), name, |claim| claim["status"] = json!({}));
    let foreign = || {
        changed(recreated("used"), "stuck", |claim| {
            claim["metadata"]["uid"] = json!("other");
        })
    };
    let cases: Vec<Case<'_>> = vec![
        (
            "nothing",
            objects(),
            ALL,
            ["stuck Refused", "used Converted"],
            1,
            1,
        ),
        (
            "nothing, kind not selected",
            objects(),
            &[],
            ["stuck Kept", "used Kept"],
            1,
            0,
        ),
        (
            "nothing, one kind",
            objects(),
            &["--kind=jobs.batch"],
            ["stuck Refused", "used Converted"],
            1,
            1,
        ),
        (
            "the claim to convert is recreated",
            recreated("used"),
            ALL,
            ["stuck Refused", "used Refused"],
            1,
            0,
        ),
        (
            "the claim to refuse is recreated",
            recreated("stuck"),
            ALL,
            ["stuck Refused", "used Converted"],
            1,
            1,
        ),
        (
            "all claims are recreated",
            foreign(),
            ALL,
            ["stuck Refused", "used Refused"],
            1,
            0,
        ),
        (
            "all claims are recreated and have nothing to convert",
            changed(
                changed(foreign(), "used", |claim| claim["status"] = json!({})),
                "stuck",
                |claim| {
                    claim["status"] = json!({});
                },
            ),
            ALL,
            ["stuck Refused", "used Refused"],
            1,
            0,
        ),
        (
            "one claim is recreated and has nothing to convert",
            changed(recreated("stuck"), "stuck", |claim| claim["status"] = json!({})),
            ALL,
            ["stuck AlreadyDone", "used Converted"],
            0,
            1,
        ),
        (
            "the claim to refuse is freed",
            freed("stuck"),
            ALL,
            ["stuck AlreadyDone", "used Converted"],
            0,
            1,
        ),
        (
            "the claim to refuse is deleted",
            without(objects(), "stuck"),
            ALL,
            ["stuck AlreadyDone", "used Converted"],
            0,
            1,
        ),
        (
            "the claim to convert is deleted",
            without(objects(), "used"),
            ALL,
            ["stuck Refused", "used AlreadyDone"],
            1,
            0,
        ),
        (
            "the claim to convert is freed",
            freed("used"),
            ALL,
            ["stuck Refused", "used AlreadyDone"],
            1,
            0,
        ),
        (
            "all claims are deleted",
            vec![pod("used")],
            ALL,
            ["stuck Refused", "used Refused"],
            1,
            0,
        ),
        (
            "a pod uses the claim to refuse",
            [objects(), vec![pod("stuck")]].concat(),
            ALL,
            ["stuck Refused", "used Converted"],
            1,
            1,
        ),
    ];
    for (what, then, kinds, expected, code, written) in cases {
        let plan = plan(objects(), kinds);
        for mode in ["--dry-run=client", "--dry-run=server", "--dry-run=none"] {
            let server = server(then.clone());
            let run = apply(&plan, &server, &[mode]);
            assert_eq!(run.code, Some(code), "{what}, {mode}: {}", run.stderr);
            let is_dry = mode != "--dry-run=none";
            let expected = expected.map(|row| {
                if is_dry {
                    row.replace("Converted", "WouldConvert")
                } else {
                    row.to_owned()
                }
            });
            assert_eq!(rows(&run), expected, "{what}, {mode}");
            let written = if is_dry { 0 } else { written };
            assert_eq!(
                writes(&server).len(),
                written,
                "{what}, {mode}: {:?}",
                writes(&server)
            );
        }
    }
}

#[test]
fn a_plan_of_another_cluster_is_refused() {
    let of = |uid: &str| [objects(), vec![namespace("kube-system", uid)]].concat();
    let planned = plan(of("a"), ALL);
    assert_eq!(planned["clusterUid"], "a");
    for (what, then) in [
        ("the same claims", of("b")),
        (
            "other claims",
            [vec![claim("third")], vec![namespace("kube-system", "b")]].concat(),
        ),
        ("none", vec![namespace("kube-system", "b")]),
    ] {
        let server = server(then);
        let run = apply(&planned, &server, &[]).exits(3);
        assert!(
            run.stderr.contains("the plan is for another cluster"),
            "{what}: {}",
            run.stderr
        );
        assert!(
            run.stderr.contains("UID a") && run.stderr.contains("UID b"),
            "{what}: {}",
            run.stderr
        );
        assert!(run.stdout.is_empty(), "{what}: {}", run.stdout);
        assert_eq!(writes(&server), Vec::<String>::new(), "{what}");
    }
    // A plan without claims as well.
    let empty = plan(vec![namespace("kube-system", "a")], ALL);
    apply(&empty, &server(of("b")), &[]).exits(3);
    assert!(rows(&apply(&empty, &server(of("a")), &[]).exits(0)).is_empty());
    // Another address of the same cluster, where the claims are gone.
    let gone = apply(&planned, &server(vec![namespace("kube-system", "a")]), &[]).exits(0);
    assert_eq!(rows(&gone), ["stuck AlreadyDone", "used AlreadyDone"]);
    // Where the namespace may not be read, the UIDs of the claims decide.
    for (planned, then) in [(plan(objects(), ALL), of("b")), (planned, objects())] {
        let run = apply(&planned, &server(then), &[]).exits(1);
        assert_eq!(rows(&run), ["stuck Refused", "used Converted"]);
    }
}

#[test]
fn a_patch_that_is_not_answered_with_its_result_failed() {
    let planned = plan(objects(), ALL);
    let told = "its response does not contain the change";
    let answers: [fn(&mut Value); 3] = [
        |claim| claim["status"]["reservedFor"] = objects()[0]["status"]["reservedFor"].clone(),
        |claim| claim["metadata"]["uid"] = json!("another"),
        |claim| claim["status"] = json!({}),
    ];
    for answer in answers {
        for mode in ["--dry-run=server", "--dry-run=none"] {
            let server = Fake::with_answers(objects(), move |method, claim| {
                if method == "PATCH" {
                    answer(claim);
                }
            });
            let run = apply(&planned, &server, &[mode]);
            let said = run.stdout.clone() + &run.stderr;
            assert_ne!(run.code, Some(0), "{said}");
            assert!(said.contains(told), "{mode}: {said}");
            if mode == "--dry-run=none" {
                assert_eq!(rows(&run), ["stuck Refused", "used Failed"]);
            }
        }
    }
}

#[test]
fn a_plan_writes_the_claims_that_it_names_and_no_others() {
    let of = |field: &str, value: &str| {
        let mut planned = plan(objects(), ALL);
        let claims = planned["claims"].as_array_mut().expect("claims").iter_mut();
        for claim in claims.filter(|claim| claim["name"] == "used") {
            claim[field] = json!(value);
        }
        planned
    };
    for (field, value) in [("namespace", "kube-system"), ("name", "other")] {
        let server = server(objects());
        let run = apply(&of(field, value), &server, &[]).exits(1);
        let expected = [format!(
            "{} AlreadyDone",
            of(field, value)["claims"][1]["name"].as_str().expect("a name")
        )];
        assert!(rows(&run).contains(&expected[0]), "{:?}", rows(&run));
        assert_eq!(writes(&server), Vec::<String>::new(), "{field}");
    }
    for (field, value) in [
        ("namespace", ""),
        ("namespace", "a.b"),
        ("namespace", "../../"),
        ("name", ""),
        ("name", "../../nodes/n"),
        ("name", "a?b"),
        ("name", "A"),
    ] {
        let server = server(objects());
        let run = apply(&of(field, value), &server, &[]).exits(3);
        let told = format!("not a plan: claims[1].{field}: Invalid value: \"{value}\"");
        assert!(run.stderr.contains(&told), "{}", run.stderr);
        assert_eq!(server.asked(), Vec::<String>::new(), "{field}");
    }
}

#[test]
fn a_plan_that_lacks_something_is_unknown() {
    let mut plan = plan(objects(), ALL);
    plan["claims"] = json!([]);
    plan["unknown"] = json!(["pods are missing: forbidden"]);
    let run = apply(&plan, &server(objects()), &[]).exits(4);
    assert!(run.stderr.contains("pods are missing"), "{}", run.stderr);
}

#[test]
fn a_journal_of_another_cluster_is_not_restored_from() {
    let of = |uid: &str| [objects(), vec![namespace("kube-system", uid)]].concat();
    let folder = tempfile::tempdir().expect("a folder");
    let backup = format!("--backup={}", folder.path().join("a.backup.json").display());
    let first = server(of("a"));
    let convert = dra(&["convert", "--yes", "--all-kinds", &backup]).args(first.flags());
    assert_eq!(convert.run().code, Some(1), "one claim is refused");
    let converted = |objects: Vec<Value>| {
        let of_pod = json!([{"resource": "pods", "name": "used-0", "uid": "pod-used"}]);
        changed(objects, "used", |claim| {
            claim["status"]["reservedFor"] = of_pod.clone();
            claim["metadata"]["resourceVersion"] = json!("6");
        })
    };
    let restore = |server: &Fake| {
        dra(&["convert", "restore", "--yes", &backup])
            .args(server.flags())
            .run()
    };
    // Whatever address leads to it.
    for then in [converted(of("b")), vec![namespace("kube-system", "b")]] {
        let other = server(then);
        let run = restore(&other).exits(3);
        assert!(
            run.stderr.contains("is the journal of another cluster"),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr.contains("UID a") && run.stderr.contains("UID b"),
            "{}",
            run.stderr
        );
        assert_eq!(writes(&other), Vec::<String>::new());
    }
    let other = server(of("b"));
    let again = dra(&["convert", "--yes", "--all-kinds", &backup]).args(other.flags());
    let again = again.run().exits(3);
    assert!(
        again.stderr.contains("is the journal of another cluster"),
        "{}",
        again.stderr
    );
    assert_eq!(writes(&other), Vec::<String>::new());
    // Where the namespace may not be read, another address is told, and the UIDs of the claims decide.
    let foreign = changed(converted(objects()), "used", |claim| {
        claim["metadata"]["uid"] = json!("other");
    });
    let other = server(foreign);
    let run = restore(&other).exits(1);
    assert!(
        run.stderr
            .contains("is assumed to be another address of this cluster"),
        "{}",
        run.stderr
    );
    assert_eq!(writes(&other), Vec::<String>::new());
    let by_proxy = server(converted(of("a")));
    let run = restore(&by_proxy);
    assert!(!run.stderr.contains("address"), "{}", run.stderr);
    assert!(
        run.stdout.contains("Refused") || run.stdout.contains("Restored"),
        "{}{}",
        run.stdout,
        run.stderr
    );
}
