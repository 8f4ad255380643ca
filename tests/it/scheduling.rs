//! The rules of `scheduling` on real clusters: what they say of each pod that kube-scheduler could not place.

use std::path::Path;
use std::sync::Arc;

use dra_allocator::Limits;
use dra_model::{Cluster, Pod};
use dra_rules::scheduling::{Message, Scheduler, Start, Verdict, message, message_of_obstacle};
use dra_sources::{GateSetting, MinorVersion, Needs, Request, Unobserved, VersionSettings, load};

/// The version and the gates that a snapshot's `README.md` tells, since these files do not.
fn versions(file: &str) -> VersionSettings {
    let groups = ["podgroups", "downgrade-groups-1.37"].contains(&file);
    let alpha = file == "downgrade-features-1.37";
    let on = |name: &str| GateSetting {
        name: name.to_owned(),
        enabled: true,
    };
    let mut gates = Vec::new();
    if groups {
        gates.extend([on("GenericWorkload"), on("DRAWorkloadResourceClaims")]);
    }
    if alpha {
        gates.push(on("AllAlpha"));
    }
    let minor = [("-1.35", 35), ("-1.36", 36)]
        .iter()
        .find(|(ending, _)| file.ends_with(ending));
    VersionSettings {
        kubernetes: minor.map(|(_, minor)| MinorVersion {
            major: 1,
            minor: *minor,
        }),
        gates,
        ..VersionSettings::default()
    }
}

/// Reads one of the snapshots.
fn snapshot(path: &Path, file: &str) -> Cluster {
    let names = [path.display().to_string()];
    let request = Request {
        names: &names,
        namespace: "default",
        strict: true,
        versions: &versions(file),
        started: None,
    };
    let loaded = load(&request, &Needs::everything(), Arc::new(Unobserved));
    loaded
        .unwrap_or_else(|why| panic!("{}: {why}", path.display()))
        .cluster
}

/// Returns what the scheduler may say of `pod`; nothing where a node fits. Of several errors it tells the one that it meets first, and it
/// looks at nodes in parallel.
fn said(scheduler: &Scheduler, pod: &Pod) -> Vec<Message> {
    match scheduler.pod(pod) {
        Start::Obstacle(obstacle) => vec![message_of_obstacle(scheduler.cluster(), Some(pod), &obstacle)],
        Start::Unknown(gaps) => panic!("{gaps:?}"),
        Start::Cycle(cycle) => {
            let nodes = scheduler.cluster().nodes();
            let verdicts: Vec<(_, Verdict)> = nodes
                .map(|node| (node, cycle.judge(node, Limits::default(), &()).verdict))
                .collect();
            let is_error = |(_, verdict): &&(_, Verdict)| matches!(verdict, Verdict::Error(_));
            if verdicts.iter().any(|one| is_error(&one)) {
                let errors = verdicts.iter().filter(is_error).cloned();
                return errors.filter_map(|one| message(&cycle, &[one])).collect();
            }
            message(&cycle, &verdicts).into_iter().collect()
        }
    }
}

/// Pods whose condition says what was true before the objects of the snapshot became what they are, with what is true now.
const STALE: &[(&str, &str, &[Message])] = &[
    // Its devices were given up meanwhile, and it got others.
    ("downgrade-features-1.36", "waits", &[]),
    // The claim of its group counts for nothing any more.
    ("downgrade-groups-1.35", "sim-late", &[Message::None]),
];

#[test]
fn the_message_of_every_unschedulable_pod_is_the_scheduler_s() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the snapshots are there")
        .map(|entry| entry.expect("a folder that can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    let (mut compared, mut wrong) = (0, Vec::new());
    for path in files {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let cluster = snapshot(&path, &file);
        // What waits for binding conditions has not waited long when the newest pod was created.
        let created = |pod: &Arc<Pod>| pod.metadata.creation_timestamp;
        let Some(now) = cluster.pods().filter_map(created).max() else {
            continue;
        };
        let scheduler = Scheduler::new(&cluster, now);
        for pod in cluster
            .pods()
            .filter(|pod| pod.node().is_none() && !pod.is_terminal())
        {
            let mut conditions = pod.status.conditions.iter();
            let condition = conditions.find(|condition| condition.type_ == "PodScheduled");
            let real = match condition {
                None => Message::None,
                Some(condition) if condition.reason == "SchedulerError" => {
                    Message::Error(condition.message.to_string())
                }
                Some(condition) => Message::Unschedulable(condition.message.to_string()),
            };
            let ours = said(&scheduler, pod);
            compared += 1;
            let name = pod.metadata.name.to_string();
            let stale = STALE.iter().find(|(of, pod, _)| *of == file && *pod == name);
            let agrees = match stale {
                Some((.., expected)) => ours == *expected,
                // A pod without a condition fits, and only waits for its devices to get ready.
                None if ours.is_empty() => real == Message::None,
                None => ours.contains(&real),
            };
            if !agrees {
                wrong.push(format!("{file} {name}:\n  real {real:?}\n  ours {ours:?}"));
            }
        }
    }
    assert!(compared > 30, "only {compared} pods compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
