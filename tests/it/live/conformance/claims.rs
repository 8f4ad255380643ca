//! The rows of `TestSyncHandler`: each in a namespace of its own, with the controller started on what is there.

use std::collections::BTreeSet;

use serde_json::Value;

use super::scene::{Scene, clear};
use super::{Working, asked, nobody_works, text, told, worker};
use crate::support::cluster::Cluster;
use crate::support::wait::{try_wait, wait_for};

const ROWS: &str = include_str!("../../../data/claim-controller-cases.json");
type Words = &'static [&'static str];

/// Rows that end otherwise where the controller goes on until all is done, and not only looks once at one item: what is there, which
/// claims, and which statuses.
const TO_THE_END: [(&str, Words, Words, Words); 5] = [
    // The group gets what the pod does not make for itself.
    (
        "skip-create-podgroup-claim-for-pod",
        &["pod entry member", "group entry", "template"],
        &["new for=group"],
        &["group acme=new", "pod acme=new"],
    ),
    (
        "update-pod-status-with-podgroup-claim",
        &[
            "pod entry member",
            "group entry",
            "template",
            "claim c for=group made",
        ],
        &["claim c for=group made"],
        &["group acme=c", "pod acme=c"],
    ),
    // A claim of a pod is not the one that a group's entry means.
    (
        "add-reserved-podgroup",
        &[
            "pod entry member node status=c",
            "group entry status=c",
            "template",
            "claim c for=group made allocated",
        ],
        &["claim c for=group made allocated reserved=group"],
        &["group acme=c", "pod acme=c"],
    ),
    // A template would let them have claims, if anybody made some.
    ("pod-deleted", &["pod entry deleting", "template"], &[], &[]),
    (
        "podgroup-deleted",
        &["group entry deleting", "template"],
        &[],
        &[],
    ),
];

/// Rows that nobody gets to by a start, as their item would not be looked at: what is there first, the end of the event that then
/// comes, if one does, and what comes after it.
const IN_STEPS: [(&str, Words, Option<&str>, Words); 3] = [
    // An item that failed is looked at again, with a claim there now that is not its own.
    (
        "recreate-wrong-owner",
        &["pod entry status=c"],
        Some("resourceclaimtemplate.resource.k8s.io \"t\" not found"),
        &["claim c", "template"],
    ),
    (
        "recreate-wrong-owner-podgroup",
        &["group entry status=c"],
        Some("resourceclaimtemplate.resource.k8s.io \"t\" not found"),
        &["claim c", "template"],
    ),
    // No event tells of the group that is missing, nor does it upstream.
    (
        "skip-create-for-pod-podgroup-does-not-exist",
        &["pod entry member", "template"],
        None,
        &[],
    ),
];

/// The gates of the controllers in the words of the rows, and of the program.
pub(super) const GATES: [(&[&str], &str); 3] = [
    (
        &["admin", "workloads", "groups"],
        "GenericWorkload=true,DRAWorkloadResourceClaims=true",
    ),
    (
        &["admin", "workloads"],
        "GenericWorkload=true,DRAWorkloadResourceClaims=false",
    ),
    (
        &["admin"],
        "GenericWorkload=false,DRAWorkloadResourceClaims=false",
    ),
];

pub(super) fn is_in(gates: &Value, on: &[&str]) -> bool {
    let gates = gates.as_str().unwrap_or_default();
    gates.split_whitespace().all(|gate| match gate.strip_prefix('-') {
        Some(gate) => !on.contains(&gate),
        None => on.contains(&gate),
    })
}

fn words_of(list: &Value) -> Vec<String> {
    let words = list.as_array().into_iter().flatten();
    words
        .map(|word| word.as_str().expect("words").to_owned())
        .collect()
}

/// Expected final row.
struct Expected {
    cached: Vec<String>,
    claims: Vec<String>,
    statuses: Vec<String>,
    /// The text of the event, if there is one.
    event: Option<String>,
    /// Steps after an event.
    after: &'static [&'static str],
}

fn expected(row: &Value) -> Expected {
    let name = text(row, "/name");
    let is_final = row["final"] == true;
    let mut event = row["error"].as_str().filter(|_| !is_final).map(str::to_owned);
    let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut expected = match TO_THE_END.iter().find(|(known, ..)| *known == name) {
        Some((_, cached, claims, statuses)) => Expected {
            cached: strings(cached),
            claims: strings(claims),
            statuses: strings(statuses),
            event: event.take(),
            after: &[],
        },
        None => Expected {
            cached: words_of(&row["cached"]),
            claims: words_of(&row["claims"]),
            statuses: words_of(&row["statuses"]),
            event,
            after: &[],
        },
    };
    if let Some((_, first, event, after)) = IN_STEPS.iter().find(|(known, ..)| *known == name) {
        expected.cached = strings(first);
        expected.event = event.map(str::to_owned);
        expected.after = after;
    }
    expected.claims.sort();
    expected
}

/// Returns whether the row is about what only the API server has, or refuses, or about a gate that this API server knows no more.
fn is_elsewhere(row: &Value) -> bool {
    ["later", "made", "answered", "refused"]
        .iter()
        .any(|field| !row[*field].is_null())
        || text(row, "/name") == "create-adminaccess-feature-disabled"
}

fn compare(cluster: &Cluster, scene: &Scene<'_>, expected: &Expected) -> Result<(), String> {
    let (claims, statuses) = (scene.claims(), scene.statuses());
    if claims != expected.claims {
        return Err(format!("claims are {claims:?} instead of {:?}", expected.claims));
    }
    if statuses != expected.statuses {
        return Err(format!(
            "statuses are {statuses:?} instead of {:?}",
            expected.statuses
        ));
    }
    let told = told(cluster, &scene.namespace, "FailedResourceClaimCreation");
    match &expected.event {
        Some(event) if !told.iter().any(|told| told.contains(event)) => {
            Err(format!("{event} is not in {told:?}"))
        }
        // Some rows leave a pod without template beside what they are about.
        None if told
            .iter()
            .any(|told| !told.contains("resourceclaimtemplate.resource.k8s.io \"t\" not found")) =>
        {
            Err(format!("{told:?}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn sync_handler() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let rows: Vec<Value> = serde_json::from_str(ROWS).expect("JSON");
    let rows: Vec<&Value> = rows.iter().filter(|row| !is_elsewhere(row)).collect();
    assert_eq!(rows.len(), 56 - 11);
    let mut seen = BTreeSet::new();
    for (run, (on, gates)) in GATES.iter().enumerate() {
        let mut scenes = Vec::new();
        for (number, row) in rows
            .iter()
            .enumerate()
            .filter(|(_, row)| is_in(&row["gates"], on))
        {
            let mut scene = Scene::new(&cluster, &format!("c{run}-{number}"));
            let expected = expected(row);
            scene.create_all(&expected.cached);
            seen.insert(number);
            scenes.push((text(row, "/name"), scene, expected));
        }
        let working = Working::start(&user, None, gates, &["--controllers", "resourceclaim"]);
        for (name, scene, expected) in scenes
            .iter_mut()
            .filter(|(.., expected)| !expected.after.is_empty())
        {
            let event = expected.event.as_deref().expect("what to wait for");
            wait_for(&format!("{name}: {event}"), || {
                let told = told(&cluster, &scene.namespace, "FailedResourceClaimCreation");
                told.iter().any(|told| told.ends_with(event)).then_some(())
            });
            for words in expected.after {
                scene.create(words);
            }
        }
        let check = || {
            let wrong: Vec<String> = scenes
                .iter()
                .filter_map(|(name, scene, expected)| {
                    let why = compare(&cluster, scene, expected).err()?;
                    Some(format!("{name} in {}: {why}", scene.namespace))
                })
                .collect();
            if wrong.is_empty() { Ok(()) } else { Err(wrong) }
        };
        let done = try_wait(check);
        assert_eq!(done, Ok(()), "with {gates}\n{}", working.process.stderr());
        // Whoever would do too much has done it by now, as everything else is done.
        working.wait_for_metric("workqueue_depth", &["workqueue_depth{name=\"resource_claim\"} 0"]);
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert_eq!(check(), Ok(()), "with {gates}");
        let stderr = working.end().stderr;
        let asked = asked(&cluster);
        for (name, scene, _) in &scenes {
            // Nobody asks about what needs nothing.
            let quiet = [
                "nop",
                "nop-podgroup",
                "no-volumes",
                "stay-reserved-seen",
                "no-such-pod",
                "no-such-podgroup",
            ];
            let path = format!("/namespaces/{}/", scene.namespace);
            let of_row: Vec<&String> = asked
                .iter()
                .filter(|request| request.contains(&path) && !request.contains("/events"))
                .collect();
            assert!(
                !quiet.contains(name) || of_row.is_empty(),
                "{name}: {of_row:?}\n{stderr}"
            );
            // Two entries are told of by one write.
            if *name == "flapping-resourceclaim-statuses" {
                let statuses = of_row.iter().filter(|request| request.contains("/status"));
                assert_eq!(statuses.count(), 1, "{of_row:?}");
            }
        }
        // The next gates have nothing to do with these.
        for (_, scene, _) in &scenes {
            for kind in ["pod", "podgroup", "template", "claim"] {
                clear(&cluster, kind, &scene.namespace);
            }
        }
    }
    assert_eq!(seen.len(), rows.len());
}
