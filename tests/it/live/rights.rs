//! Output without some permissions: it names the missing permission, and calls nothing missing that it
//! may not see. `docs/reference/permissions.md` has the least rights of each command, which are tried here one by one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::support::cluster::faulty::Fault;
use crate::support::cluster::objects::namespace;
use crate::support::cluster::{Cluster, User, scenario};
use crate::support::process::Run;
use crate::support::wait::wait_for;
use dra_testing::effort::{some_of, some_pairs};

/// Groups of the resources.
fn group_of(resource: &str) -> &'static str {
    match resource {
        "deviceclasses"
        | "resourceslices"
        | "devicetaintrules"
        | "resourceclaimtemplates"
        | "resourceclaims" => "resource.k8s.io",
        "podgroups" | "workloads" | "compositepodgroups" => "scheduling.k8s.io",
        "poddisruptionbudgets" => "policy",
        _ => "",
    }
}

fn rules(resources: &[&str]) -> Value {
    resources
        .iter()
        .map(
            |resource| json!({"apiGroups": [group_of(resource)], "resources": [resource], "verbs": ["list"]}),
        )
        .collect()
}

/// Objects of the shared cluster.
struct Known {
    namespace: String,
    pod: String,
    claim: String,
    node: String,
    class: String,
    pool: String,
    device: String,
}

impl Known {
    fn of(cluster: &Cluster) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let pods = cluster.list("pod");
        let pod = pods
            .iter()
            .find(|pod| pod["spec"]["nodeName"].is_string() && pod["spec"]["resourceClaims"].is_array())
            .expect("a bound pod with claims");
        let namespace = text(&pod["metadata"]["namespace"]);
        let claims = cluster.list("claim");
        let claim = claims
            .iter()
            .find(|claim| claim["metadata"]["namespace"] == namespace.as_str())
            .expect("a claim");
        let slice = cluster
            .list("slice")
            .into_iter()
            .find(|slice| {
                slice["spec"]["devices"]
                    .as_array()
                    .is_some_and(|devices| !devices.is_empty())
            })
            .expect("a slice");
        let pool = format!(
            "{}/{}",
            text(&slice["spec"]["driver"]),
            text(&slice["spec"]["pool"]["name"])
        );
        Self {
            pod: format!("pod/{namespace}/{}", text(&pod["metadata"]["name"])),
            claim: format!("claim/{namespace}/{}", text(&claim["metadata"]["name"])),
            namespace,
            node: text(&cluster.list("node")[0]["metadata"]["name"]),
            class: text(&cluster.list("class")[0]["metadata"]["name"]),
            device: format!("{pool}/{}", text(&slice["spec"]["devices"][0]["name"])),
            pool,
        }
    }

    /// The arguments of a command of the table.
    fn arguments(&self, command: &str) -> Vec<Vec<String>> {
        let lines: Vec<String> = match command {
            "status" | "devices" | "taints" | "simulate eviction" | "version" => vec![command.to_owned()],
            "claims" | "claims -o wide" | "reserved" | "convert plan" | "convert verify" => {
                vec![format!("{command} -A")]
            }
            "describe claim" => vec![format!("describe {}", self.claim)],
            "describe pod" => vec![format!("describe {}", self.pod)],
            "describe device" => vec![format!("describe device/{}", self.device)],
            "describe pool" => vec![format!("describe pool/{}", self.pool)],
            "describe node" => vec![format!("describe node/{}", self.node)],
            "describe class" => vec![format!("describe class/{}", self.class)],
            "explain" => vec![format!("explain {}", self.claim)],
            "simulate allocation" => vec![format!("simulate allocation {}", self.claim)],
            "cel" => vec!["cel true".to_owned()],
            "snapshot" => vec!["snapshot".to_owned()],
            other => panic!("`{other}` of docs/reference/permissions.md is not tried"),
        };
        // Answers are compared, so they are of one instant.
        let words = |line: String| {
            let words = line.split(' ').chain(["--now=2099-01-01T00:00:00Z"]);
            words.map(str::to_owned).collect()
        };
        lines.into_iter().map(words).collect()
    }
}

/// The rows of the documented table: commands with the resources that they list.
fn documented() -> Vec<(String, Vec<&'static str>)> {
    let page = include_str!("../../../docs/reference/permissions.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let resources: Vec<&str> = cells[2].split(", ").filter(|name| *name != "none").collect();
        let commands = cells[1]
            .split(", ")
            .map(|command| command.trim_matches('`').to_owned());
        commands
            .map(move |command| (command, resources.clone()))
            .collect::<Vec<_>>()
    })
    .collect()
}

/// Words that say of something that it is not there.
fn lies(run: &Run) -> Option<&'static str> {
    ["not found", "does not exist", "Missing", "no such", "Fits on"]
        .into_iter()
        .find(|words| run.stdout.contains(words) || run.stderr.contains(words))
}

/// Returns whether somebody with fewer rights got the same answer. Lists have other versions whenever another test writes something.
fn same(run: &Run, all: &Run) -> bool {
    let unversioned = |text: &str| -> String {
        let mut parts = text.split("\"resourceVersion\":\"");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            text + part.trim_start_matches(|c: char| c.is_ascii_digit())
        })
    };
    run.code == all.code && unversioned(&run.stdout) == unversioned(&all.stdout)
}

fn names_the_gap(run: &Run, resource: &str) -> bool {
    let said = format!("{}{}", run.stdout, run.stderr);
    [&format!("to list {resource}"), "cannot list", "could not be read"]
        .iter()
        .any(|words| said.contains(*words))
        && said.contains(resource)
}

#[test]
fn the_documented_rights_are_enough_and_each_of_them_is_needed() {
    let cluster = Cluster::shared();
    let known = Known::of(cluster);
    let mut number = 0;
    let mut user = |resources: &[&str]| {
        number += 1;
        let user = cluster.user(&format!("least-{number}"));
        if resources.is_empty() {
            user
        } else {
            user.allowed(&rules(resources))
        }
    };
    for (command, resources) in documented() {
        let enough = user(&resources);
        for arguments in known.arguments(&command) {
            let all = cluster.kubectl_dra(&arguments).run();
            let run = enough.kubectl_dra(&arguments).run();
            assert_eq!(run.code, all.code, "{command}: {run:?}");
            assert!(
                !names_the_gap(&run, "") && lies(&run) == lies(&all),
                "{command}: {}{}",
                run.stdout,
                run.stderr
            );
        }
        for left_out in some_of(&resources, 1) {
            let rest: Vec<&str> = resources.iter().copied().filter(|one| one != left_out).collect();
            let less = user(&rest);
            for arguments in known.arguments(&command) {
                let run = less.kubectl_dra(&arguments).run();
                // What nothing in this cluster depends on is not missed.
                let all = enough.kubectl_dra(&arguments).run();
                if same(&run, &all) {
                    continue;
                }
                let what = format!("{command} without {left_out}: {}{}", run.stdout, run.stderr);
                assert!(names_the_gap(&run, left_out), "{what}");
                assert_eq!(lies(&run), None, "{what}");
            }
        }
    }
}

/// Commands about things that are there.
fn questions(known: &Known) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = documented()
        .into_iter()
        .filter(|(command, _)| command != "version")
        .flat_map(|(command, _)| known.arguments(&command))
        .collect();
    for line in [
        format!("explain {}", known.pod),
        format!("simulate allocation {}", known.pod),
        format!("simulate allocation {} --release {}", known.claim, known.claim),
        format!("simulate allocation {} --remove-node {}", known.claim, known.node),
        format!("reserved {}", known.claim),
        format!("claims {}", known.claim),
        "check".to_owned(),
    ] {
        all.push(line.split(' ').map(str::to_owned).collect());
    }
    all
}

#[test]
fn what_may_not_be_read_is_not_said_to_be_absent() {
    let cluster = Cluster::shared();
    let known = Known::of(cluster);
    let get_only = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]}]);
    let users: Vec<User> = vec![
        cluster.user("absence-rightless"),
        cluster.user("namespaced").with_role_in(&known.namespace, "view"),
        cluster.user("elsewhere").with_role_in("kube-system", "view"),
        cluster.user("getter").allowed(&get_only),
    ];
    for (user, arguments) in some_pairs(&users, &questions(&known)) {
        let run = user.kubectl_dra(arguments).run();
        if same(&run, &cluster.kubectl_dra(arguments).run()) {
            continue;
        }
        let what = format!("{arguments:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(lies(&run), None, "{what}");
        assert!(matches!(run.code, Some(0 | 3 | 4)), "{what}");
        assert!(
            names_the_gap(&run, "") || arguments[0] == "claims" || arguments[0] == "reserved",
            "{what}"
        );
        let verdict = ["explain", "simulate", "check"].contains(&arguments[0].as_str());
        assert!(!verdict || matches!(run.code, Some(3 | 4)), "{what}");
    }
}

#[test]
fn a_pod_that_is_bound_is_not_accused_of_claims_that_may_not_be_read() {
    let cluster = Cluster::shared();
    let known = Known::of(cluster);
    let user = cluster
        .user("pods-only")
        .allowed_in(&known.namespace, &rules(&["pods"]));
    let run = user.kubectl_dra(["explain", &known.pod]).run().exits(4);
    assert!(run.stdout.contains("bound to"), "{}", run.stdout);
    assert!(!run.stdout.contains("ClaimMissing"), "{}", run.stdout);
    assert!(
        names_the_gap(&run, "resourceclaims"),
        "{}{}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn a_request_that_fails_hides_what_it_asked_for() {
    let cluster = Cluster::shared();
    let known = Known::of(cluster);
    let kinds = [
        "resourceclaims",
        "resourceclaimtemplates",
        "pods",
        "nodes",
        "deviceclasses",
        "resourceslices",
        "devicetaintrules",
        "podgroups",
    ];
    for (kind, arguments) in some_pairs(&kinds, &questions(&known)) {
        let kind = *kind;
        let faulty = cluster.faulty(move |path, _| {
            let path = path.split('?').next().unwrap_or_default();
            if path.ends_with(&format!("/{kind}")) {
                Fault::Refusal(
                    404,
                    "",
                    "the server could not find the requested resource".to_owned(),
                )
            } else {
                Fault::None
            }
        });
        let run = cluster.kubectl_dra(arguments).args(faulty.flags()).run();
        let what = format!("{kind}, {arguments:?}: {}{}", run.stdout, run.stderr);
        // What the server says of the request is not said of the object.
        let run = Run {
            stdout: run.stdout.replace("could not find", ""),
            stderr: run.stderr.replace("could not find", ""),
            ..run
        };
        let uses = names_the_gap(&run, kind);
        assert!(!uses || lies(&run).is_none(), "{what}");
        assert!(run.code.is_some_and(|code| code <= 4), "{what}");
    }
}

/// A fault that a server has for one kind, and flags with which it shows soon.
type Trouble = (&'static str, fn() -> Fault, &'static [&'static str]);

/// Kinds that no verdict on a claim or pod that exists depends on.
const NOT_DECIDING: [&str; 2] = ["events", "resourcequotas"];

const TROUBLES: [Trouble; 4] = [
    (
        "500",
        || Fault::Refusal(500, "", "etcdserver: request timed out".to_owned()),
        &[],
    ),
    (
        "503",
        || Fault::Refusal(503, "", "apiserver not ready".to_owned()),
        &[],
    ),
    // Long enough for every answer of a server on a busy machine.
    ("no answer", || Fault::Silence, &["--request-timeout=15s"]),
    ("a closed connection", || Fault::Close, &[]),
];

/// Returns what is wrong with what a command says while one kind cannot be read, against what it says else.
fn wrong(kind: &str, arguments: &[String], run: &Run, all: &Run) -> Option<&'static str> {
    if run.stderr.contains("panicked") {
        return Some("it panics");
    }
    if same(run, all) {
        return None;
    }
    if lies(run).is_some() && lies(run) != lies(all) {
        return Some("it calls something missing");
    }
    let code = run.code?;
    let verdict = ["explain", "simulate", "check"].contains(&arguments[0].as_str());
    // What is printed beside the verdict does not decide it.
    let decides = !NOT_DECIDING.contains(&kind);
    if verdict && decides && !matches!(code, 1 | 3 | 4) {
        return Some("its verdict depends on what could not be read");
    }
    if code != all.code? && !matches!(code, 3 | 4) {
        return Some("its verdict is another one");
    }
    if code == 3 && !run.stderr.contains("error: ") || code != 3 && !names_the_gap(run, kind) {
        return Some("it does not say what it could not read");
    }
    None
}

#[test]
fn a_server_that_fails_for_one_kind_makes_no_verdict_better_and_no_object_missing() {
    let cluster = Cluster::shared();
    let known = Known::of(cluster);
    let kinds = [
        "resourceclaims",
        "resourceclaimtemplates",
        "pods",
        "nodes",
        "deviceclasses",
        "resourceslices",
        "devicetaintrules",
        "podgroups",
        "resourcequotas",
        "poddisruptionbudgets",
        "events",
    ];
    let mut questions = questions(&known);
    for arguments in &mut questions {
        arguments.push("--now=2099-01-01T00:00:00Z".to_owned());
        arguments.dedup();
    }
    let direct: Vec<Run> = questions
        .iter()
        .map(|arguments| cluster.kubectl_dra(arguments).run())
        .collect();
    // Each kind meets each fault, and each command each kind: a transient fault is waited for, so not all of them one by one.
    let mut cases = Vec::new();
    for (column, kind) in kinds.into_iter().enumerate() {
        for (row, arguments) in questions.iter().enumerate() {
            cases.push((
                kind,
                &TROUBLES[(column + row) % TROUBLES.len()],
                arguments,
                &direct[row],
            ));
        }
    }
    let some: Vec<_> = some_of(&cases, 60).collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                while let Some((kind, (name, fault, flags), arguments, all)) =
                    some.get(next.fetch_add(1, Ordering::SeqCst))
                {
                    let (kind, fault) = (*kind, *fault);
                    let faulty = cluster.faulty(move |path, _| {
                        let path = path.split('?').next().unwrap_or_default();
                        if path.ends_with(&format!("/{kind}")) {
                            fault()
                        } else {
                            Fault::None
                        }
                    });
                    let run = cluster
                        .kubectl_dra(*arguments)
                        .args(*flags)
                        .args(faulty.flags())
                        .run();
                    let is_asked = |path: &String| {
                        let path = path.split('?').next().unwrap_or_default();
                        path.ends_with(&format!("/{kind}"))
                    };
                    if !faulty.asked().iter().any(is_asked) {
                        continue;
                    }
                    if let Some(wrong) = wrong(kind, arguments, &run, all) {
                        found.lock().unwrap_or_else(PoisonError::into_inner).push(format!(
                            "{wrong}: {kind}, {name}, {arguments:?}: {:?} (else {:?})\n{}{}",
                            run.code, all.code, run.stdout, run.stderr
                        ));
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(
        found.is_empty(),
        "{} of {}:\n{}",
        found.len(),
        cases.len(),
        found.join("\n")
    );
}

/// `check` lists everything, and reads once more what its findings rest on.
#[test]
fn check_is_sure_with_the_right_to_read_once_more_and_suspects_without() {
    let cluster = scenario::named("stale-reservations").start();
    let everything: Vec<&str> = documented()
        .into_iter()
        .find(|(command, _)| command == "snapshot")
        .expect("a row")
        .1;
    let reads = |resources: &[&str]| -> Value {
        let listed = rules(&everything);
        let read = resources.iter().map(
            |resource| json!({"apiGroups": [group_of(resource)], "resources": [resource], "verbs": ["get"]}),
        );
        listed
            .as_array()
            .into_iter()
            .flatten()
            .cloned()
            .chain(read)
            .collect()
    };
    let check = |user: &User| {
        let run = user.kubectl_dra(["check", "-o", "json"]).run().exits(1);
        let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let items = report["items"].as_array().expect("items");
        let code = |item: &Value| item["code"].as_str().unwrap_or_default().to_owned();
        let (sure, rest): (Vec<&Value>, Vec<&Value>) =
            items.iter().partition(|item| item["certainty"] == "Confirmed");
        let codes = |items: Vec<&Value>| items.into_iter().map(code).collect::<Vec<_>>();
        (codes(sure), codes(rest), run.stderr)
    };
    let user = cluster.user("checks-all").allowed(&reads(&everything));
    // What changes between two reads stays possible: the controllers first have to come to rest.
    let mut all = wait_for("every finding is sure", || {
        let (sure, rest, _) = check(&user);
        rest.is_empty().then_some(sure)
    });
    assert!(all.len() > 4, "{all:?}");
    all.sort();
    for (number, left_out) in ["resourceclaims", "pods", "podgroups"].iter().enumerate() {
        let others: Vec<&str> = everything.iter().copied().filter(|one| one != left_out).collect();
        let user = cluster
            .user(&format!("checks-less-{number}"))
            .allowed(&reads(&others));
        let (sure, rest, stderr) = check(&user);
        // Nothing that was found is lost.
        let mut found = [sure, rest.clone()].concat();
        found.sort();
        assert_eq!(found, all, "without {left_out}: {stderr}");
        // No finding here rests on a group.
        assert_eq!(
            rest.is_empty(),
            *left_out == "podgroups",
            "without {left_out}: {rest:?}"
        );
        if !rest.is_empty() {
            assert!(
                stderr.contains("findings are not confirmed"),
                "without {left_out}: {stderr}"
            );
        }
    }
}

#[test]
fn a_missing_name_is_reported_with_permission_for_one_namespace() {
    let cluster = Cluster::shared();
    let known = Known::of(cluster);
    let (_, name) = known.pod.rsplit_once('/').expect("a namespace and a name");
    let tells = |user: &User, args: &[&str], code: i32, text: &str| {
        let run = user.kubectl_dra(args).run();
        assert_eq!(run.code, Some(code), "{args:?}: {}{}", run.stdout, run.stderr);
        assert!(
            run.stderr.contains(text),
            "{args:?}: {text}: {}{}",
            run.stdout,
            run.stderr
        );
    };
    let admin = cluster.user("sees-all").with_role("cluster-admin");
    let nearly = format!("{}x", known.namespace);
    let meant = format!("`{}`", known.namespace);
    tells(&admin, &["convert", "verify", "-n", &nearly], 3, &meant);
    tells(
        &admin,
        &["convert", "plan", "-n", &nearly, "--to-version=1.36"],
        3,
        &meant,
    );
    tells(&admin, &["check", "-n", &nearly], 3, &meant);
    tells(&admin, &["simulate", "eviction", "-n", &nearly], 3, &meant);
    tells(&admin, &["claims", "-n", &nearly], 0, &meant);
    tells(&admin, &["snapshot", "-n", &nearly], 3, &meant);
    tells(
        &admin,
        &["check", "--driver", "gpu.exmple.com"],
        4,
        "`gpu.example.com`",
    );
    tells(
        &admin,
        &[
            "check",
            "--driver",
            "gpu.exmple.com",
            "--allow-missing",
            "--fail-on=never",
        ],
        0,
        "warning",
    );
    let quiet = "quiet".to_owned();
    cluster.create(&namespace(&quiet));
    let elsewhere = format!("pod/{quiet}/{name}");
    tells(
        &admin,
        &["describe", &elsewhere],
        3,
        &format!("pod/{}/{name}", known.namespace),
    );
    tells(
        &admin,
        &["explain", &elsewhere],
        3,
        &format!("pod/{}/{name}", known.namespace),
    );

    // A namespace without anything, in which somebody may look who may not even read the Namespace.
    let claims = rules(&["resourceclaims", "pods"]);
    for user in [
        cluster.user("quiet-viewer").with_role_in(&quiet, "view"),
        cluster.user("quiet-lister").allowed_in(&quiet, &claims),
    ] {
        let run = user.kubectl_dra(["claims", "-n", &quiet]).run().exits(0);
        assert!(!run.stderr.contains("not found"), "{}", run.stderr);
        let verified = user.kubectl_dra(["convert", "verify", "-n", &quiet]).run();
        assert_ne!(verified.code, Some(3), "{}{}", verified.stdout, verified.stderr);
        tells(&user, &["claims", "-n", &quiet, "absent"], 3, "claim/");
    }
}
