//! Input that asks for much: deep texts, values that double, searches without end, pipes that never deliver.
//!
//! No test measures time: what ends could not have ended by itself, as a pipe delivers nothing or a search has work for years.

use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::list;
use crate::support::command::{dra, isolated};
use crate::support::process::Run;
use crate::support::schema::assert_valid;
use dra_testing::effort::by_effort;

/// A node with devices, a class with this selector, and a claim for one device of the class.
fn with_selector(expression: &str, devices: usize) -> Vec<u8> {
    let devices: Vec<Value> = (0..devices)
        .map(|number| json!({"name": format!("gpu-{number}"), "attributes": {"index": {"int": number}}}))
        .collect();
    let request =
        json!({"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}});
    list(&json!([
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"},
         "spec": {"selectors": [{"cel": {"expression": expression}}]}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
         "spec": {"driver": "d.example.com", "nodeName": "n", "devices": devices,
                  "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "k", "namespace": "default"},
         "spec": {"devices": {"requests": [request]}}},
    ]))
}

fn run_on(content: &[u8], args: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("cluster.json");
    std::fs::write(&path, content).expect("a file");
    let from = path.to_str().expect("a path in UTF-8");
    dra(&[
        args,
        &["--from", from, "--complete", "--kubernetes-version", "1.37"],
    ]
    .concat())
    .run()
}

/// Texts that recursion over what is read, checked, planned, evaluated, cut into terms or let go of would go deep into.
fn deep_texts() -> Vec<(&'static str, String)> {
    const MANY: usize = 40_000;
    let around = |before: &str, middle: &str, after: &str, times: usize| {
        format!("{}{middle}{}", before.repeat(times), after.repeat(times))
    };
    let behind = |first: &str, next: &str, times: usize| format!("{first}{}", next.repeat(times));
    let binds = |value: &dyn Fn(usize) -> String, times: usize| {
        let opened: String = (0..times)
            .map(|number| format!("cel.bind(x{number},{},", value(number)))
            .collect();
        let last = times - 1;
        format!("{opened}x{last}==x{last}{}", ")".repeat(times))
    };
    let nested = |number: usize| {
        let inner = number
            .checked_sub(1)
            .map_or("1".to_owned(), |before| format!("x{before}"));
        around("[", &inner, "]", 100)
    };
    let doubled = |number: usize| match number.checked_sub(1) {
        None => "1".to_owned(),
        Some(before) => format!("{{x{before}:x{before}}}"),
    };
    vec![
        ("sum", behind("1", "+1", MANY)),
        ("relations", behind("1", "<1", MANY)),
        ("parentheses", around("(", "true", ")", MANY)),
        ("negations", around("!(", "true", ")", MANY)),
        ("exclamations", behind("", "!", MANY) + "true"),
        ("selections", behind("device", ".a", MANY)),
        ("optional selections", behind("device", ".?a", MANY / 2)),
        ("indexes", behind("device", "[0]", MANY / 2)),
        ("indexes in indexes", around("a[", "0", "]", MANY)),
        ("calls", behind("a", ".f()", MANY / 2)),
        ("calls in calls", around("f(", "1", ")", MANY)),
        ("conditionals", behind("", "true?1:", MANY / 4) + "1"),
        ("conjunction", behind("true", "&&true", MANY / 4)),
        ("disjunction", behind("true", "||true", MANY / 4)),
        ("lists", around("[", "", "]", MANY)),
        ("maps", around("{1:", "1", "}", MANY / 2)),
        ("macros", around("[1].map(x,", "x", ")", 240)),
        ("macros behind each other", behind("[1]", ".map(x,x)", 4_000)),
        ("values", binds(&nested, 100)),
        ("types", binds(&doubled, 100)),
        ("a sum that is cut off", behind("1", "+1", MANY) + "+"),
        ("calls that are cut off", behind("", "a.b(", 240) + ","),
        ("macros that are cut off", behind("", "[1].map(x,", 240) + "x+"),
        ("too long", "x".repeat(1 << 20)),
    ]
}

#[test]
fn deep_expressions_are_judged_and_overflow_no_stack() {
    let commands = [&["status"][..], &["devices"], &["check"], &["explain", "claim/k"]];
    let stride = by_effort(commands.len(), 1, 1);
    for (place, (name, text)) in deep_texts().into_iter().enumerate() {
        let content = with_selector(&text, 2);
        for command in commands.iter().skip(place % stride).step_by(stride) {
            let run = run_on(&content, command);
            assert!(
                matches!(run.code, Some(0 | 1)),
                "{name}: {command:?}: {:?} {:?}\n{}",
                run.code,
                run.signal,
                run.stderr
            );
        }
    }
}

#[test]
fn a_selector_that_doubles_a_list_is_judged_as_the_scheduler_does() {
    let text = format!("[[1,2,3]]{}.all(x, x.size() > 0)", ".map(x, x+x)".repeat(25));
    let run = run_on(&with_selector(&text, 500), &["devices", "-o", "json"]).exits(0);
    let matching = run.json()["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|device| device["classes"] == json!(["c"]))
        .count();
    assert_eq!(matching, 500);
    let again = run_on(&with_selector(&text, 1), &["explain", "claim/k", "-o", "json"]).exits(0);
    assert_eq!(assert_valid(&again.stdout)["verdict"], "Fits");
}

/// Costs two million steps on each device, which differ in what it reads, and little time: the steps of a search in a text are counted before it
/// begins, by the size of the text and of the regular expression, and this search ends at the first letter.
fn costly_selector() -> String {
    let blank = " ".repeat(4_000);
    format!(
        r#"[1, 2, 3, 4, 5].all(n, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(m, "{blank}".findAll("^\\pL{{100}}").size() == 0)) && device.attributes["d.example.com"].index < 0"#
    )
}

#[test]
fn selectors_that_take_too_much_work_leave_the_answer_unknown() {
    const TOO_MUCH: &str = "selectors exceed the work limit of one command";
    let selector = costly_selector();
    let content = with_selector(&selector, 200);
    // Lists and descriptions end with 0 and warn; verdicts are unknown.
    let commands = [
        (&["check"][..], 4),
        (&["explain", "claim/k"], 4),
        (&["simulate", "allocation", "claim/k"], 4),
        (&["simulate", "allocation", "claim/k", "--max"], 4),
        (&["cel", &selector], 4),
        (&["describe", "class", "c"], 0),
        (&["devices"], 0),
    ];
    for (command, code) in commands {
        for format in [&[][..], &["-o", "json"]] {
            let run = run_on(&content, &[command, format].concat()).exits(code);
            let (out, told) = (&run.stdout, [run.stdout.as_str(), &run.stderr].concat());
            assert!(told.contains(TOO_MUCH), "{command:?}: {told}");
            assert!(
                !out.contains("DoesNotFit") && !out.contains("Error"),
                "{command:?}: {out}"
            );
            if !format.is_empty() {
                assert_valid(out);
            }
        }
    }
    let status = run_on(&content, &["status"]).exits(0);
    assert!(status.stdout.contains("so far"), "{}", status.stdout);
}

/// A claim for 30 of 29 devices that are alike: kube-scheduler tries each subset of them.
fn hopeless() -> Vec<u8> {
    let mut content: Value = serde_json::from_slice(&with_selector("true", 29)).expect("JSON");
    content["items"][3]["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!(30);
    content.to_string().into_bytes()
}

#[test]
fn a_budget_bounds_all_steps_of_a_command() {
    for command in [
        &["simulate", "allocation", "claim/k"][..],
        &["explain", "claim/k"],
    ] {
        for budget in ["0", "1", "1000"] {
            // With ten million steps more for the question whether the scheduler times out this would be told.
            let args = [command, &["--budget", budget, "-o", "json"]].concat();
            let run = run_on(&hopeless(), &args);
            let report = assert_valid(&run.stdout);
            let notes = report["notes"].to_string();
            assert!(!notes.contains("search takes longer"), "{budget}: {report:#}");
            if budget == "0" {
                assert_eq!(run.code, Some(4), "{command:?}: {report:#}");
            }
        }
    }
}

#[test]
fn copies_that_take_nothing_are_unlimited_and_small_shares_are_counted_to_a_limit() {
    let mut content: Value = serde_json::from_slice(&with_selector("true", 1)).expect("JSON");
    let request = |content: &mut Value, name: &str, value: Value| {
        content["items"][3]["spec"]["devices"]["requests"][0]["exactly"][name] = value;
    };
    request(&mut content, "adminAccess", json!(true));
    let packing = |content: &Value, code: i32| {
        let args = ["simulate", "allocation", "claim/k", "--max", "-o", "json"];
        let run = run_on(content.to_string().as_bytes(), &args).exits(code);
        assert_valid(&run.stdout)["packing"].clone()
    };
    let found = packing(&content, 0);
    assert_eq!(found["unlimited"], true, "{found:#}");
    let text = run_on(
        content.to_string().as_bytes(),
        &["simulate", "allocation", "claim/k", "--max"],
    );
    assert!(text.stdout.contains("unlimited"), "{}", text.stdout);

    request(&mut content, "adminAccess", json!(false));
    let device = &mut content["items"][2]["spec"]["devices"][0];
    device["allowMultipleAllocations"] = json!(true);
    let found = packing(&content, 0);
    assert_eq!(found["unlimited"], true, "a share of no capacity: {found:#}");

    let device = &mut content["items"][2]["spec"]["devices"][0];
    device["capacity"] =
        json!({"memory": {"value": "9E", "requestPolicy": {"default": "1", "validRange": {"min": "1"}}}});
    let found = packing(&content, 0);
    assert_eq!(
        (&found["unlimited"], &found["exact"]),
        (&json!(false), &json!(false)),
        "{found:#}"
    );
    assert!(found["copies"].as_u64() >= Some(100), "{found:#}");
}

#[test]
fn a_simulation_with_pods_that_cannot_be_read_ends() {
    // The claim names a pod; pods are a kind that this snapshot says it could not read.
    let items = json!([
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
         "spec": {"driver": "d.example.com", "nodeName": "n", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
                  "devices": [{"name": "a", "taints": [{"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]}]}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
         "metadata": {"name": "k", "namespace": "default", "uid": "1", "finalizers": ["resource.kubernetes.io/delete-protection"]},
         "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
         "status": {"allocation": {"devices": {"results": [{"request": "r", "driver": "d.example.com", "pool": "n", "device": "a"}]}},
                    "reservedFor": [{"resource": "pods", "name": "gone", "uid": "2"}]}},
    ]);
    let content = json!({
        "apiVersion": "v1", "kind": "List", "items": items,
    });
    for now in ["2026-01-01T00:00:00Z", "9999-12-30T22:00:00Z"] {
        let args = [
            "simulate",
            "eviction",
            "--taint",
            "d.example.com/n/a=x:NoExecute",
            "--now",
            now,
            "-o",
            "json",
        ];
        let run = run_on(content.to_string().as_bytes(), &args);
        assert!(
            matches!(run.code, Some(0 | 4)),
            "{now}: {:?}\n{}",
            run.code,
            run.stderr
        );
    }
}

#[test]
fn a_claim_that_no_server_accepts_is_not_judged() {
    let mut content: Value = serde_json::from_slice(&with_selector("true", 2)).expect("JSON");
    let alternatives: Vec<Value> = (0..1_001)
        .map(|number| json!({"name": format!("a{number}"), "deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}))
        .collect();
    let constraints: Vec<Value> = (0..1_000)
        .map(|number| json!({"matchAttribute": format!("d.example.com/a{number}")}))
        .collect();
    let devices = &mut content["items"][3]["spec"]["devices"];
    *devices =
        json!({"requests": [{"name": "r", "firstAvailable": alternatives}], "constraints": constraints});
    let content = content.to_string();
    let run = run_on(content.as_bytes(), &["explain", "claim/k", "-o", "json"]).exits(4);
    assert_eq!(assert_valid(&run.stdout)["verdict"], "GaveUp");
    let run = run_on(
        content.as_bytes(),
        &["simulate", "allocation", "claim/k", "-o", "json"],
    )
    .exits(4);
    assert_eq!(assert_valid(&run.stdout)["result"], "GaveUp");
}

/// A pipe that is open for writing, and that no process writes to.
#[cfg(unix)]
fn silent_pipe(folder: &Path) -> String {
    let pipe = folder.join("claims.yaml");
    let name = pipe.to_str().expect("a path in UTF-8");
    isolated("mkfifo", &[name]).run().exits(0);
    name.to_owned()
}

#[cfg(unix)]
#[test]
fn a_timeout_ends_what_waits_and_what_computes_and_says_what_was_done() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let pipe = silent_pipe(folder.path());
    for command in [&["claims"][..], &["check"], &["convert", "plan"]] {
        let args = [command, &["--from", &pipe, "--timeout", "300ms"]].concat();
        let run = dra(&args).run().exits(3);
        assert_eq!(
            run.stderr.lines().next(),
            Some(format!("error: timed out after 0.3 s (`--timeout`), while reading {pipe}").as_str()),
            "{command:?}"
        );
        assert_eq!(run.stdout, "");
    }
    let endless = u64::MAX.to_string();
    for command in [
        &["simulate", "allocation", "claim/k"][..],
        &["explain", "claim/k"],
    ] {
        let args = [command, &["--budget", &endless, "--timeout=1"]].concat();
        let run = run_on(&endless_search(), &args).exits(3);
        assert!(
            run.stderr.contains("(`--timeout`), while simulating nodes"),
            "{}",
            run.stderr
        );
    }
    // No time is no limit.
    dra(&["claims", "-A", "--from", "example:gpus", "--timeout", "0"])
        .run()
        .exits(0);
    dra(&["claims", "--from", "example:gpus", "--timeout", "soon"])
        .run()
        .exits(2);
}

/// Claims that share small parts of many devices in ways that no counting decides.
pub(super) fn endless_search() -> Vec<u8> {
    let sizes = [31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97];
    let devices: Vec<Value> = (0..40)
        .map(|number| {
            let counter = sizes[number % sizes.len()];
            json!({"name": format!("part-{number}"),
                   "consumesCounters": [{"counterSet": "all", "counters": {
                       "a": {"value": counter.to_string()}, "b": {"value": (128 - counter).to_string()},
                       "c": {"value": (counter * counter % 101).to_string()}}}],
                   "attributes": {"kind": {"int": number % 7}, "other": {"int": number % 5}}})
        })
        .collect();
    let mut content: Value = serde_json::from_slice(&with_selector("true", 0)).expect("JSON");
    let spec = &mut content["items"][2]["spec"];
    spec["devices"] = json!(devices);
    spec["pool"]["resourceSliceCount"] = json!(2);
    let mut counters = content["items"][2].clone();
    counters["metadata"]["name"] = json!("counters");
    counters["spec"]["devices"] = Value::Null;
    counters["spec"]["sharedCounters"] = json!([{"name": "all", "counters": {
        "a": {"value": "1000"}, "b": {"value": "1003"}, "c": {"value": "701"}}}]);
    let requests: Vec<Value> = (0..16)
        .map(|number| {
            json!({"name": format!("r{number}"), "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1,
                   "selectors": [{"cel": {"expression": format!("device.attributes['d.example.com'].kind != {}", number % 7)}}]}})
        })
        .collect();
    content["items"][3]["spec"]["devices"]["requests"] = json!(requests);
    let items = content["items"].as_array_mut().expect("items");
    items.push(counters);
    content.to_string().into_bytes()
}

#[cfg(unix)]
#[test]
fn signals_end_every_command_that_reads_a_silent_pipe() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let pipe = silent_pipe(folder.path());
    let commands = [
        &["status"][..],
        &["claims"],
        &["devices"],
        &["check"],
        &["explain", "pod/a"],
        &["simulate", "eviction"],
        &["simulate", "allocation", "claim/a"],
        &["convert", "plan"],
        &["run", "--until", "1m"],
    ];
    for (number, command) in commands.into_iter().enumerate() {
        let process = dra(&[command, &["--from", &pipe]].concat()).start_unguarded();
        let _open = std::fs::OpenOptions::new()
            .write(true)
            .open(&pipe)
            .expect("the program reads");
        process.signal(if number % 2 == 0 {
            Signal::INT
        } else {
            Signal::TERM
        });
        process.finish().exits(130);
    }
}

#[cfg(unix)]
#[test]
fn completion_reads_no_pipe() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let pipe = silent_pipe(folder.path());
    // No process ever opens the other end, so that reading it would last for ever.
    for from in [pipe.as_str(), "-", folder.path().to_str().expect("UTF-8")] {
        dra(&["__complete", "describe", "claim", "--from", from, ""])
            .run()
            .exits(0);
    }
    dra(&["__complete", "claims", "--kubeconfig", &pipe, ""])
        .run()
        .exits(0);
}

/// A node with devices, and a pod whose claim has requests with alternatives in a ring of constraints that none of them meets.
fn ring(requests: usize, alternatives: usize, devices: usize) -> Vec<u8> {
    let device = |number: usize| json!({"name": format!("d{number}"), "attributes": {"d.example.com/x": {"int": number}, "d.example.com/y": {"int": number}}});
    let alternative = |number: usize| {
        json!({"name": format!("a{number}"), "deviceClassName": "c", "allocationMode": "ExactCount", "count": 1,
            "selectors": [{"cel": {"expression": format!("device.attributes['d.example.com'].x >= {number}")}}]})
    };
    let request = |number: usize| json!({"name": format!("r{number}"), "firstAvailable": (0..alternatives).map(alternative).collect::<Vec<_>>()});
    let constraint = |number: usize| json!({"requests": [format!("r{number}"), format!("r{}", (number + 1) % requests)], "matchAttribute": "d.example.com/y"});
    list(&json!([
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "110"}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
         "spec": {"driver": "d.example.com", "nodeName": "n", "devices": (0..devices).map(device).collect::<Vec<_>>(),
                  "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "want", "namespace": "default"},
         "spec": {"devices": {"requests": (0..requests).map(request).collect::<Vec<_>>(),
                              "constraints": (0..requests).map(constraint).collect::<Vec<_>>()}}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "wp", "namespace": "default", "uid": "wp-uid"},
         "spec": {"containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "x"}]}}],
                  "resourceClaims": [{"name": "x", "resourceClaimName": "want"}]}, "status": {"phase": "Pending"}},
    ]))
}

/// What searches compare counts, not only how many steps they take: a step of such a problem looks at a million things.
#[test]
fn a_ring_of_alternatives_gives_up_within_the_budget_of_the_command() {
    let content = ring(32, 8, 128);
    for args in [
        &["explain", "pod/wp"][..],
        &["explain", "-A"],
        &["explain", "claim/want"],
        &["simulate", "allocation", "pod/wp"],
    ] {
        let run = run_on(&content, &[args, &["--budget", "20000", "-o", "json"]].concat()).exits(4);
        assert!(run.stdout.contains("GaveUp"), "{args:?}: {}", run.stdout);
    }
}
