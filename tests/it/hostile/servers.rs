//! An API server whose lists are not what they should be: pages are followed, what is missing is unknown, and what is no list of the kind is
//! no answer.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::command::dra;
use crate::support::fake::Fake;
use crate::support::process::Run;
use dra_testing::effort::by_effort;

const FITS: &[&str] = &["simulate", "allocation", "claim/default/want"];
const VERIFY: &[&str] = &["convert", "verify"];

/// Serves three claims, of which one has a defect and none is free, with every list of claims changed.
fn server(change: impl Fn(&str, &mut Value) -> u16 + Send + Sync + 'static) -> Fake {
    let text = std::fs::read_to_string("tests/data/hostile/server.json").expect("a file");
    let list: Value = serde_json::from_str(&text).expect("JSON");
    let objects = list["items"].as_array().expect("items").clone();
    Fake::with_lists(objects, move |resource, query, list| match resource {
        "resourceclaims" => change(query, list),
        _ => 200,
    })
}

fn ask(server: &Fake, command: &[&str]) -> Run {
    dra(command).args(server.flags()).run()
}

fn items(list: &mut Value) -> &mut Vec<Value> {
    list["items"].as_array_mut().expect("items")
}

/// One item of the list, at the place where the query goes on.
fn page(query: &str, list: &mut Value) -> usize {
    let at = query
        .split('&')
        .find_map(|part| part.strip_prefix("continue=page"));
    let at: usize = at.map_or(0, |at| at.parse().expect("a number"));
    let all = std::mem::take(items(list));
    let left = all.len() - at - 1;
    items(list).extend(all.into_iter().nth(at));
    if left > 0 {
        list["metadata"]["continue"] = json!(format!("page{}", at + 1));
        list["metadata"]["remainingItemCount"] = json!(left);
    }
    left
}

#[test]
fn pages_are_followed() {
    let server = server(|query, list| {
        page(query, list);
        200
    });
    ask(&server, FITS).exits(1);
    let run = ask(&server, VERIFY).exits(1);
    let whole = self::server(|_, _| 200);
    assert_eq!(run.stdout, ask(&whole, VERIFY).exits(1).stdout);
}

#[test]
fn what_a_list_lacks_is_unknown() {
    let server = server(|query, list| {
        page(query, list);
        list["metadata"]
            .as_object_mut()
            .expect("an object")
            .remove("continue");
        200
    });
    for command in [FITS, VERIFY] {
        let run = ask(&server, command).exits(4);
        let said = run.stdout + &run.stderr;
        assert!(said.contains("the list lacks 2 of its items"), "{said}");
    }
    // Whoever acts waits for a whole list.
    let run = dra(&["run", "--for", "1s"]).args(server.flags()).run().exits(4);
    assert!(
        run.stderr.contains("the list lacks 2 of its items"),
        "{}",
        run.stderr
    );
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("cluster.json");
    dra(&["snapshot", "--out"])
        .args([&out])
        .args(server.flags())
        .run()
        .exits(0);
    dra(&[VERIFY, &["--from"]].concat()).args([&out]).run().exits(4);
}

#[test]
fn a_role_is_offered_only_for_what_is_forbidden() {
    for (status, is_offered) in [(200, false), (403, true)] {
        let server = server(move |_, list| {
            list["metadata"]["remainingItemCount"] = json!(1);
            status
        });
        let run = ask(&server, &["explain", "-n", "default"]).exits(4);
        assert_eq!(run.stderr.contains("ClusterRole"), is_offered, "{}", run.stderr);
    }
}

#[test]
fn a_list_of_something_else_is_no_answer() {
    type Change = fn(&mut Value) -> u16;
    let changes: [(&str, Change); 6] = [
        ("a `ConfigMapList` of `v1`", |list| {
            *list = json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "7"}, "items": []});
            200
        }),
        ("a `ResourceClaimList` of `resource.k8s.io/v1beta2`", |list| {
            list["apiVersion"] = json!("resource.k8s.io/v1beta2");
            200
        }),
        ("a list without `items`", |list| {
            list.as_object_mut().expect("an object").remove("items");
            200
        }),
        ("invalid `metadata`", |list| {
            list["metadata"] = json!(["7"]);
            200
        }),
        ("206 Partial Content", |list| {
            items(list).clear();
            206
        }),
        ("203 Non Authoritative Information", |list| {
            items(list).clear();
            203
        }),
    ];
    for (told, change) in changes {
        let server = server(move |_, list| change(list));
        for command in [FITS, VERIFY, &["check"], &["status"]] {
            let run = ask(&server, command).exits(3);
            assert!(run.stderr.contains(told), "{command:?}: {}", run.stderr);
            assert!(run.stdout.is_empty(), "{}", run.stdout);
        }
    }
}

#[test]
fn a_list_in_place_of_an_object_is_malformed_from_a_server_too() {
    for value in [json!([]), json!([null]), json!([{"devices": {}}, []])] {
        let server = server(move |_, list| {
            for item in items(list) {
                item["status"] = value.clone();
            }
            200
        });
        let run = ask(&server, FITS).exits(4);
        assert!(
            run.stderr.contains("status: must be an object, not a list"),
            "{}",
            run.stderr
        );
        ask(&server, VERIFY).exits(4);
        assert!(!ask(&server, &["devices", "--free"]).stdout.contains("d0"));
        let folder = tempfile::tempdir().expect("a folder");
        for redaction in [&["--no-redact"][..], &[]] {
            let out = folder.path().join(format!("{}.json", redaction.len()));
            let run = dra(&["snapshot"])
                .args(redaction)
                .args(["--out".as_ref(), out.as_os_str()])
                .args(server.flags())
                .run();
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            dra(&[FITS, &["--from"]].concat()).args([&out]).run().exits(4);
        }
    }
}

/// Fault of an incomplete list.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Some items are left out, and their number stands in the head.
    Lacks,
    /// There is a next page, which is refused with this code.
    NextRefused(u16),
    /// There is a next page, which is that of another kind.
    NextOther,
    /// There is a next page, which is the same one again.
    NextAgain,
    OtherKind,
    OtherVersion,
    NoItems,
    /// Some items are left out, with this status.
    Status(u16),
    OddHead,
    /// An item is no object.
    BadItem,
    /// An item has a list in place of an object.
    ListInItem,
    /// An item says that it is something else.
    OtherItem,
}

impl Fault {
    const ALL: [Self; 14] = [
        Self::Lacks,
        Self::NextRefused(410),
        Self::NextRefused(403),
        Self::NextRefused(400),
        Self::NextOther,
        Self::NextAgain,
        Self::OtherKind,
        Self::OtherVersion,
        Self::NoItems,
        Self::Status(206),
        Self::OddHead,
        Self::BadItem,
        Self::ListInItem,
        Self::OtherItem,
    ];

    /// Makes `list` wrong; `random` says where.
    fn apply(self, random: usize, query: &str, list: &mut Value) -> u16 {
        let at = random % items(list).len().max(1);
        let has_gone_on = query.contains("continue=");
        match self {
            Self::Lacks => {
                let gone = items(list).drain(at..).count();
                list["metadata"]["remainingItemCount"] = json!(gone);
            }
            Self::NextRefused(code) if has_gone_on => {
                *list = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "no"});
                return code;
            }
            Self::NextOther if has_gone_on => {
                *list = json!({"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": []});
            }
            Self::NextRefused(_) | Self::NextOther | Self::NextAgain => {
                items(list).truncate(at);
                list["metadata"]["continue"] = json!("next");
            }
            Self::OtherKind => {
                list["kind"] = json!("SecretList");
                items(list).truncate(at);
            }
            Self::OtherVersion => {
                list["apiVersion"] = json!("example.com/v1");
                items(list).truncate(at);
            }
            Self::NoItems => {
                list.as_object_mut().expect("an object").remove("items");
            }
            Self::Status(code) => {
                items(list).truncate(at);
                return code;
            }
            Self::OddHead => {
                list["metadata"] = json!(["7", "next"]);
                items(list).truncate(at);
            }
            Self::BadItem => {
                items(list)[at] = [json!([]), json!(null), json!(7), json!("item")][random % 4].clone();
            }
            Self::ListInItem => {
                let field = ["metadata", "spec", "status"][random % 3];
                items(list)[at][field] = [json!([]), json!([{}]), json!([null])][random / 3 % 3].clone();
            }
            Self::OtherItem => items(list)[at]["kind"] = json!("Secret"),
        }
        200
    }
}

/// Random lists that are not whole, of one kind each: no verdict is better than that on the whole cluster. `make mutations` says how many.
#[test]
fn no_live_list_that_is_not_whole_makes_a_verdict_good() {
    const SNAPSHOTS: [&str; 5] = [
        "bound-pods",
        "unschedulable-pods",
        "stale-reservations",
        "taint-rules-noexecute",
        "podgroups",
    ];
    const RESOURCES: [&str; 6] = [
        "pods",
        "nodes",
        "resourceclaims",
        "resourceslices",
        "deviceclasses",
        "devicetaintrules",
    ];
    const LINES: [&[&str]; 5] = [
        &["check"],
        &["check", "--to-version", "1.36"],
        &["convert", "plan"],
        &["convert", "verify", "--all-kinds"],
        &["simulate", "eviction", "--fail-on-eviction"],
    ];
    let count = match std::env::var("KUBECTL_DRA_MUTATIONS") {
        Ok(count) => count.parse().expect("a number"),
        Err(_) => by_effort(14, 100, 1_000),
    };
    let plain = |list: &mut Value| {
        // A server leaves out of the items what the list says.
        for item in items(list) {
            let fields = item.as_object_mut().expect("an object");
            fields.retain(|key, _| key != "kind" && key != "apiVersion");
        }
    };
    let worlds: Vec<Vec<Value>> = SNAPSHOTS
        .iter()
        .map(|name| {
            let text =
                std::fs::read_to_string(format!("tests/data/snapshots/{name}.yaml")).expect("a snapshot");
            let list: Value = serde_saphyr::from_str(&text).expect("YAML");
            list["items"].as_array().expect("items").clone()
        })
        .collect();
    let mut whole: HashMap<(usize, usize), Option<i32>> = HashMap::new();
    let ask = |server: &Fake, line: &[&str]| {
        let run = dra(line)
            .args(["-A", "--now", "2026-11-21T14:00:00Z"])
            .args(server.flags())
            .run();
        assert!(!run.stderr.contains("panicked"), "{line:?}: {}", run.stderr);
        run.code
    };
    for number in 0..count {
        // Every fault comes as often as every other one; the rest is mixed by a fixed generator, so that a failure comes again.
        let mut state = number as u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let fault = Fault::ALL[number % Fault::ALL.len()];
        let (world, line, resource, place) = (
            random() % worlds.len(),
            random() % LINES.len(),
            random() % RESOURCES.len(),
            random(),
        );
        let before = *whole.entry((world, line)).or_insert_with(|| {
            let server = Fake::with_lists(worlds[world].clone(), move |_, _, list| {
                plain(list);
                200
            });
            ask(&server, LINES[line])
        });
        let server = Fake::with_lists(worlds[world].clone(), move |listed, query, list| {
            plain(list);
            // An empty list lacks nothing that could be left out.
            if listed == RESOURCES[resource] && !items(list).is_empty() {
                fault.apply(place, query, list)
            } else {
                200
            }
        });
        let after = ask(&server, LINES[line]);
        let what = format!(
            "{number}: {fault:?} of {} on {}, {:?}: {before:?}, then {after:?}",
            RESOURCES[resource], SNAPSHOTS[world], LINES[line]
        );
        assert!(matches!(after, Some(0 | 1 | 3 | 4)), "{what}");
        assert!(after != Some(0) || before == Some(0), "{what}");
        assert!(after != Some(1) || before != Some(0), "{what}");
    }
}
