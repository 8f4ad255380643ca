//! The rows of `TestEventHandlers`: what becomes of what changes, and how many claims there are by the metric.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::scene::{Scene, clear, serve_a_marker, wait_for_claim};
use super::{GATES, Working, asked_in, nobody_works, text, told, worker};
use crate::support::cluster::faulty::Fault;
use crate::support::cluster::objects::{Manifest, pod};
use crate::support::cluster::{Cluster, User};
use crate::support::wait::{try_wait, wait_for};

const ROWS: &str = include_str!("../../../data/claim-controller-events.json");
const GAUGE: &str = "dynamic_resource_allocation_resource_claims{";
const CLAIMING: [&str; 2] = ["--controllers", "resourceclaim"];

/// The words of a row, with what makes the source of its claims known.
fn words_of(list: &Value) -> Vec<String> {
    let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    words
        .map(|words| {
            let is_made = words.contains("claim ") && words.contains(" admin");
            format!("{words}{}", if is_made { " made" } else { "" })
        })
        .collect()
}

/// Applies an event of a row: `+` for what is new, `=` for what changes, `-` for what goes.
fn apply(scene: &mut Scene<'_>, event: &str) {
    let (sign, words) = event.split_at(1);
    match sign {
        "+" => _ = scene.create(words),
        "=" => scene.change(words),
        _ => scene.remove(words),
    }
}

/// Returns what the metric says, without what there is none of.
fn gauge(working: &Working) -> Vec<String> {
    let mut lines = working.metric(GAUGE);
    lines.retain(|line| !line.ends_with(" 0"));
    lines.sort();
    lines
}

/// Returns what it has to say of claims in words.
fn counted<'a>(claims: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for words in claims {
        let words: Vec<&str> = words.split(' ').collect();
        let has = |word: &str| words.contains(&word);
        let source = match (has("extended"), has("made")) {
            (true, _) => "extended_resource",
            (_, true) => "resource_claim_template",
            _ => "",
        };
        let (allocated, admin) = (has("allocated"), has("admin"));
        let line = format!("{GAUGE}allocated=\"{allocated}\",admin_access=\"{admin}\",source=\"{source}\"}}");
        *counts.entry(line).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(line, count)| format!("{line} {count}"))
        .collect()
}

fn wait_for_gauge(working: &Working, claims: &BTreeMap<String, String>, name: &str) {
    let expected = counted(claims.values());
    let said = try_wait(|| {
        let said = gauge(working);
        if said == expected { Ok(()) } else { Err(said) }
    });
    assert_eq!(said, Ok(()), "{name} instead of {expected:?}");
}

#[test]
fn event_handlers() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let rows: Vec<Value> = serde_json::from_str(ROWS).expect("JSON");
    let mut seen = 0;
    // Generated claims that somebody else made would end the claim controller, and are counted without it too.
    for (run, are_made) in [false, true].into_iter().enumerate() {
        let controllers: &[&str] = if are_made {
            &["--controllers", "device-taint-eviction"]
        } else {
            &CLAIMING
        };
        let working = Working::start(&user, None, GATES, controllers);
        assert_eq!(working.metric(GAUGE), [""; 0], "nothing is there");
        for (number, row) in rows.iter().enumerate() {
            let (initial, events) = (words_of(&row["initial"]), words_of(&row["events"]));
            let of_claims = |words: &String| {
                let words = words.trim_start_matches(['+', '=', '-']);
                words.starts_with("claim ") || words == "group entry status=c"
            };
            let mut claims = initial.iter().chain(&events);
            let is_made = claims.clone().any(|words| words.ends_with(" made"));
            let is_counted =
                claims.any(|words| words.contains("claim ")) && text(row, "/queued/0") != "group n/g";
            if is_made == are_made && is_counted && initial.iter().chain(&events).all(of_claims) {
                seen += 1;
                count_claims(&cluster, &working, row, &format!("e{run}-{number}"));
            }
        }
        working.end();
    }
    assert_eq!(seen, 20);
}

/// Carries out the events of a row, all of which are about claims, and compares the metric after each.
fn count_claims(cluster: &Cluster, working: &Working, row: &Value, namespace: &str) {
    let name = text(row, "/name");
    let mut scene = Scene::new(cluster, namespace);
    let mut claims: BTreeMap<String, String> = BTreeMap::new();
    let initial = words_of(&row["initial"])
        .into_iter()
        .map(|words| format!("+{words}"));
    for event in initial.chain(words_of(&row["events"])) {
        apply(&mut scene, &event);
        let (sign, words) = event.split_at(1);
        if let Some(claim) = words.strip_prefix("claim ") {
            let key = claim.split(' ').next().unwrap_or_default().to_owned();
            if sign == "-" {
                claims.remove(&key);
            } else {
                claims.insert(key, words.to_owned());
            }
        }
        wait_for_gauge(working, &claims, name);
    }
    // Nobody writes anything for that.
    let mut written = asked_in(cluster, &scene.namespace);
    written.retain(|request| !request.starts_with("get "));
    assert_eq!(written, [""; 0], "{name}");
    // But a change is looked at.
    if name == "update-claim" {
        scene.change("claim c for=pod allocated reserved=other");
        let done = try_wait(|| {
            let claims = scene.claims();
            if claims == ["claim c for=pod allocated"] {
                Ok(())
            } else {
                Err(claims)
            }
        });
        assert_eq!(done, Ok(()), "{}", working.process.stderr());
    }
    for kind in ["claim", "podgroup"] {
        clear(cluster, kind, &scene.namespace);
    }
    wait_for_gauge(working, &BTreeMap::new(), name);
}

/// Rows in which pods, PodGroups and templates come, change and go.
#[test]
fn what_comes_is_looked_at() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let rows: Vec<Value> = serde_json::from_str(ROWS).expect("JSON");
    let row = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name);
        row.unwrap_or_else(|| panic!("no row {name}"))
    };
    let working = Working::start(&user, None, GATES, &CLAIMING);

    // Pods wait for their templates, and each template is that of its namespace.
    let mut waiting = Scene::new(&cluster, "waiting");
    for event in words_of(&row("new-pods")["events"]) {
        apply(&mut waiting, &event);
    }
    for namespace in ["waiting", "waiting-other"] {
        wait_for("it is looked at", || {
            (!told(&cluster, namespace, "FailedResourceClaimCreation").is_empty()).then_some(())
        });
    }
    for (name, served) in [
        ("new-template-for-pod", "pod/waiting/p"),
        ("new-template-for-pod-other-namespace", "pod/waiting-other/q"),
    ] {
        for event in words_of(&row(name)["events"]) {
            apply(&mut waiting, &event);
        }
        wait_for_claim(&cluster, served);
        serve_a_marker(&cluster, &format!("marker-{name}"), true);
        let of_other = cluster.list("claim/waiting-other").len();
        assert_eq!(of_other, usize::from(name.ends_with("other-namespace")), "{name}");
    }

    // The same for PodGroups.
    let mut group = Scene::new(&cluster, "group");
    for words in words_of(&row("new-template-for-podgroup")["initial"]) {
        group.create(&words);
    }
    wait_for("it is looked at", || {
        (!told(&cluster, "group", "FailedResourceClaimCreation").is_empty()).then_some(())
    });
    for event in words_of(&row("new-template-for-podgroup")["events"]) {
        apply(&mut group, &event);
    }
    wait_for_claim(&cluster, "podgroup/group/g");

    // What the group tells comes to those of its members that have such an entry.
    let mut told_of = Scene::new(&cluster, "told");
    let status = row("podgroup-claim-status-update");
    for words in words_of(&status["initial"]) {
        told_of.create(&words);
    }
    // The controller itself makes the claim that the group's status then names.
    told_of.create("template");
    let made = wait_for_claim(&cluster, "podgroup/told/g");
    for member in ["pod/told/p-1", "pod/told/p-2"] {
        assert_eq!(wait_for_claim(&cluster, member), made);
    }
    serve_a_marker(&cluster, "marker-told", true);
    let written = asked_in(&cluster, "told");
    for nobody in ["/pods/p-3", "/pods/p-4"] {
        assert!(
            written.iter().all(|request| !request.contains(nobody)),
            "{written:#?}"
        );
    }
    assert_eq!(told_of.claims(), ["new for=group"]);
    extended(&cluster, &working);
    working.end();
    without_gates(&cluster, &user, status);
    with_a_later_entry(&cluster, &user);
}

/// What belongs to the extended resources of a pod is freed when it ends, and nobody writes for it before that.
fn extended(cluster: &Cluster, working: &Working) {
    let mut scenes = Vec::new();
    for name in ["running", "ended", "failed", "removed", "both"] {
        let mut scene = Scene::new(cluster, name);
        let entry = if name == "both" { "entry status=c " } else { "" };
        scene.create(&format!("pod {entry}extended running"));
        scene.create("claim x for=pod extended allocated reserved=pod protected");
        if name == "both" {
            scene.create("claim c for=pod allocated reserved=pod protected");
        }
        scenes.push(scene);
    }
    serve_a_marker(cluster, "marker-extended", true);
    for scene in &scenes {
        // A claim that a pod tells of may be seen after the pod.
        let mut written = asked_in(cluster, &scene.namespace);
        written.retain(|request| !request.starts_with("get "));
        assert_eq!(written, [""; 0], "{}", scene.namespace);
    }
    for (scene, phase) in scenes
        .iter_mut()
        .zip(["", "Succeeded", "Failed", "", "Succeeded"])
    {
        match scene.namespace.as_str() {
            "running" => {}
            "removed" => scene.remove("pod extended running"),
            namespace => {
                cluster.patch_status(
                    &format!("pod/{namespace}/p"),
                    &json!({"status": {"phase": phase}}),
                );
            }
        }
    }
    // Of the pod that is gone, the garbage collector takes the claim.
    for (scene, left) in scenes.iter().zip([
        Some("claim x for=pod allocated reserved=pod protected"),
        None,
        None,
        Some("claim x for=pod"),
        None,
    ]) {
        let left: Vec<String> = left.into_iter().map(str::to_owned).collect();
        let done = try_wait(|| {
            let claims = scene.claims();
            if claims == left { Ok(()) } else { Err(claims) }
        });
        assert_eq!(done, Ok(()), "{} {}", scene.namespace, working.process.stderr());
        let written = asked_in(cluster, &scene.namespace);
        assert!(
            written.iter().all(|request| !request.contains("/pods/p/status")),
            "{written:#?}"
        );
    }
    assert_eq!(asked_in(cluster, "running"), [""; 0]);
}

/// Where the gates are off, nobody looks at PodGroups.
fn without_gates(cluster: &Cluster, user: &User, status: &Value) {
    for (number, gates) in [
        "GenericWorkload=true,DRAWorkloadResourceClaims=false",
        "GenericWorkload=false,DRAWorkloadResourceClaims=false",
    ]
    .into_iter()
    .enumerate()
    {
        let before = cluster.requests_of("worker").len();
        let working = Working::start(user, None, gates, &CLAIMING);
        let mut scene = Scene::new(cluster, &format!("off{number}"));
        for words in words_of(&status["initial"]) {
            scene.create(&words);
        }
        scene.create("claim c for=group");
        for event in words_of(&status["events"]) {
            apply(&mut scene, &event);
        }
        serve_a_marker(cluster, &format!("marker-off{number}"), false);
        working.end();
        let written = asked_in(cluster, &scene.namespace);
        assert_eq!(written, [""; 0], "{gates}");
        let requests = cluster.requests_of("worker").split_off(before);
        // The end of a watch of the run before is written down once the API server notices. What is watched is listed first.
        let mut of_groups = requests
            .iter()
            .filter(|request| request.contains("/podgroups") && !request.starts_with("watch "));
        // Members are still told from other pods where there may be some.
        assert_eq!(of_groups.next().is_some(), number == 0, "{gates}: {requests:#?}");
    }
}

/// An entry of a later release says neither the name of a claim nor of a template. Only that pod waits.
fn with_a_later_entry(cluster: &Cluster, user: &User) {
    let mut scene = Scene::new(cluster, "later");
    scene.create_all(&["pod entry".to_owned(), "template".to_owned()]);
    cluster.create(&pod("odd").in_namespace("later").named_claim("odd", "of-tomorrow"));
    let by = user.faulty(|path, before| {
        if path.starts_with("/api/v1/pods") && !path.contains("watch=true") && before == 0 {
            Fault::Replaced(
                r#""resourceClaimName":"of-tomorrow""#,
                r#""resourceOfTomorrow":"of-tomorrow""#,
            )
        } else {
            Fault::None
        }
    });
    let working = Working::start(user, Some(&by), GATES, &CLAIMING);
    wait_for_claim(cluster, "pod/later/p");
    wait_for("the odd one is told of", || {
        let told = told(cluster, "later", "FailedResourceClaimCreation");
        let is_it = |told: &String| told.contains("none of the supported fields are set");
        told.iter().any(is_it).then_some(())
    });
    working.end();
}
