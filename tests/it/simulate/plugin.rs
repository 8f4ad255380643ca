//! Small states on which the scheduler's plugin for dynamic resources and the claim controller do what is easily got wrong.
//!
//! The files in `tests/data/plugin` are the states; what the components of Kubernetes do on them was seen with their unit tests and on a
//! control plane.

use serde_json::{Value, json};

use super::Manifest;
use crate::support::command::{dra, on_screen};
use crate::support::schema::assert_valid;

const GROUPS: &[&str] = &[
    "--feature-gates",
    "DRAWorkloadResourceClaims=true,GenericWorkload=true",
];

const TOO_FEW: &str =
    "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 0 remaining";

/// A command on a file, and what comes of it.
struct Row<'r> {
    file: &'r str,
    command: &'r [&'r str],
    exit: i32,
    /// Values of the report, by JSON pointer.
    facts: &'r [(&'r str, &'r str)],
    /// Required text of the first line on a terminal.
    first: &'r str,
    /// Required texts of the report.
    says: &'r [&'r str],
    /// Forbidden texts in every form of the answer.
    never: &'r [&'r str],
}

const ROWS: &[Row<'_>] = &[
    Row {
        file: "01-group-claim-elsewhere",
        command: &["explain", "pod/app", GROUPS[0], GROUPS[1]],
        exit: 1,
        facts: &[
            ("/verdict", "DoesNotFit"),
            (
                "/message",
                "0/1 nodes are available: 1 resourceclaim not available on the node.",
            ),
            ("/reasons/0/code", "ReleasedByScheduler"),
            ("/fixes/0/kind", "ReleaseClaim"),
        ],
        first: "claim/default/c0",
        says: &["kube-scheduler deallocates"],
        never: &["kubectl delete", "kubectl annotate"],
    },
    Row {
        file: "02-optional-operations",
        command: &["explain", "pod/app"],
        exit: 1,
        facts: &[
            ("/verdict", "DoesNotFit"),
            ("/nodes/0/reasons/0/code", "NodeOperations"),
            ("/reasons/0/code", "ReleasedByScheduler"),
        ],
        first: "does not declare feature DRAOptionalNodeOperations",
        says: &["DRAOptionalNodeOperations"],
        never: &["allocated elsewhere", "AllocatedElsewhere", "kubectl delete"],
    },
    Row {
        file: "03-template-missing-claim-owned",
        command: &["simulate", "allocation", "pod/app"],
        exit: 1,
        facts: &[
            ("/result", "DoesNotFit"),
            ("/message", "pod \"default/app\": ResourceClaim not created yet"),
        ],
        first: "pod/default/app",
        says: &["resource claim template default/app-res not found"],
        never: &["Fits"],
    },
    Row {
        file: "03-template-missing-claim-owned",
        command: &["explain", "pod/app"],
        exit: 1,
        facts: &[("/verdict", "Waits"), ("/fixes/0/kind", "CreateTemplate")],
        first: "resourceclaimtemplate/default/app-res not found",
        says: &[],
        never: &["kubectl delete"],
    },
    Row {
        file: "04-claim-of-an-earlier-pod",
        command: &["explain", "pod/app"],
        exit: 1,
        facts: &[("/verdict", "Waits"), ("/reasons/0/code", "ClaimNotOwned")],
        first: "its status names claim/default/app-res, which was created for an earlier pod with the same name",
        says: &["the claim controller will create another claim from template/default/tmpl"],
        never: &[
            "kubectl delete",
            "another owner",
            "\"DeleteClaim\"",
            "\"RecreatePod\"",
        ],
    },
    Row {
        file: "04-claim-of-an-earlier-pod",
        command: &["simulate", "allocation", "pod/app"],
        exit: 0,
        facts: &[("/result", "Fits"), ("/exactness", "Exact")],
        first: "pod/default/app",
        says: &["app-res-0"],
        never: &["was not created for"],
    },
    Row {
        file: "05-claim-is-gone",
        command: &["explain", "pod/app"],
        exit: 1,
        facts: &[
            ("/verdict", "Waits"),
            ("/reasons/0/code", "ClaimMissing"),
            ("/fixes/0/kind", "RecreatePod"),
        ],
        first: "its status names claim/default/app-res, which no longer exists",
        says: &[
            "the claim controller will create another claim from template/default/tmpl, under another name",
            "restart kube-controller-manager",
        ],
        never: &["create claim/default/app-res", "CreateClaim"],
    },
    Row {
        file: "05-claim-is-gone",
        command: &["simulate", "allocation", "pod/app"],
        exit: 0,
        facts: &[("/result", "Fits")],
        first: "pod/default/app",
        says: &[],
        never: &[],
    },
    Row {
        file: "06-group-claim-unreserved",
        command: &["explain", "pod/app", GROUPS[0], GROUPS[1]],
        exit: 1,
        facts: &[
            ("/verdict", "DoesNotFit"),
            ("/reasons/0/code", "UnreservedByScheduler"),
            (
                "/fixes/0/message",
                "have the claim controller remove the reservation of claim/default/c0 for pod/default/other, which is gone or has finished",
            ),
        ],
        first: "claim/default/c0",
        says: &[
            "kube-scheduler removes the reservation for podgroup/default/group from claim/default/c0 automatically",
        ],
        never: &["kubectl delete pod/app", "podgroup/group", "ReleasedByScheduler"],
    },
    Row {
        file: "07-evict-extended-1.37.2",
        command: &["simulate", "eviction", "--kubernetes-version", "1.37.2"],
        exit: 0,
        facts: &[
            ("/pods/0/name", "owner"),
            ("/pods/0/verdict", "Evicted"),
            ("/missed/0/name", "not-reserved"),
            ("/missed/1/name", "other-owner"),
        ],
        first: "1 pod would be evicted",
        says: &[],
        never: &["3 pods", "2 pods"],
    },
    Row {
        file: "07-evict-extended-1.37.2",
        command: &["simulate", "eviction"],
        exit: 0,
        facts: &[("/missed/2/name", "owner")],
        first: "",
        says: &["\"pods\": [],"],
        never: &["\"Evicted\""],
    },
    Row {
        file: "08-gang-too-large",
        command: &["explain", "pod/p-0", GROUPS[0], GROUPS[1]],
        exit: 1,
        facts: &[
            ("/verdict", "DoesNotFit"),
            ("/message", TOO_FEW),
            ("/exactness", "Exact"),
        ],
        first: "podgroup/default/pg needs 2 of its pods together, but only 1 fits",
        says: &["pod/default/p-1"],
        never: &["Fits", "kubectl delete"],
    },
    Row {
        file: "08-gang-too-large",
        command: &["explain", "pod/p-1", GROUPS[0], GROUPS[1]],
        exit: 1,
        facts: &[
            ("/verdict", "DoesNotFit"),
            (
                "/message",
                "0/1 nodes are available: 1 cannot allocate all claims.",
            ),
            ("/waiting/helps", "never"),
        ],
        first: "no node has an available device of class any",
        says: &["podgroup/default/pg"],
        never: &["Fits", "kubectl delete", " once "],
    },
    Row {
        file: "08-gang-too-large",
        command: &["simulate", "allocation", "pod/p-0", GROUPS[0], GROUPS[1]],
        exit: 1,
        facts: &[
            ("/result", "DoesNotFit"),
            ("/message", TOO_FEW),
            ("/exactness", "Exact"),
        ],
        first: "pod/default/p-0",
        says: &["podgroup/default/pg needs 2 of its pods together"],
        never: &["Fits"],
    },
    Row {
        file: "08-gang-too-large",
        command: &[
            "simulate",
            "allocation",
            "pod/p-0",
            "pod/p-1",
            GROUPS[0],
            GROUPS[1],
        ],
        exit: 1,
        facts: &[
            ("/result", "DoesNotFit"),
            ("/placements/0/result", "DoesNotFit"),
            ("/placements/1/result", "DoesNotFit"),
        ],
        first: "pod/default/p-0",
        says: &[TOO_FEW],
        never: &["Fits"],
    },
    // Without the gate the pods are placed one by one.
    Row {
        file: "08-gang-too-large",
        command: &["explain", "pod/p-0", "--feature-gates", "GenericWorkload=false"],
        exit: 0,
        facts: &[("/verdict", "Fits")],
        first: "fits",
        says: &[],
        never: &["minCount"],
    },
    Row {
        file: "09-kubelet-may-not-read-the-claim",
        command: &["explain", "pod/app"],
        exit: 1,
        facts: &[("/verdict", "Broken"), ("/stage/stuck/cause", "ClaimUnreadable")],
        first: "is forbidden",
        says: &["the Node authorizer"],
        never: &["kubectl delete"],
    },
];

/// All forms of an answer: exit code, report, and the lines on a terminal.
fn answer(command: &[&str], from: &str) -> (Option<i32>, Value, String, String) {
    let version: &[&str] = if command.contains(&"--kubernetes-version") {
        &[]
    } else {
        &["--kubernetes-version", "1.37.1"]
    };
    let all = [
        command,
        &["--from", from, "--complete", "--now", "2026-11-25T22:00:30Z"],
        version,
    ]
    .concat();
    let run = dra(&[&all[..], &["-o", "json"]].concat()).run();
    let report = assert_valid(&run.stdout);
    let screen = on_screen(dra(&all), 200);
    let wide = dra(&[&all[..], &["-o", "wide"]].concat()).run();
    let text = [
        run.stdout,
        run.stderr,
        screen.stdout.clone(),
        screen.stderr,
        dra(&all).run().stdout,
        wide.stdout,
    ]
    .concat();
    (run.code, report, screen.stdout, text)
}

#[test]
fn each_state_comes_out_as_the_components_have_it() {
    for row in ROWS {
        let from = format!("tests/data/plugin/{}.yaml", row.file);
        let (exit, report, screen, text) = answer(row.command, &from);
        let about = format!("{} {:?}", row.file, row.command);
        assert_eq!(exit, Some(row.exit), "{about}: {text}");
        for (pointer, expected) in row.facts {
            assert_eq!(
                report.pointer(pointer).and_then(Value::as_str),
                Some(*expected),
                "{about} {pointer}: {report:#}"
            );
        }
        let first = screen.lines().next().unwrap_or_default();
        assert!(first.contains(row.first), "{about}: {screen}");
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in row.says {
            assert!(plain.contains(expected), "{about}: {expected}: {text}");
        }
        for unwanted in row.never {
            assert!(!plain.contains(unwanted), "{about}: {unwanted}: {text}");
        }
    }
}

/// A state of the table with these texts in the place of others, and more objects.
fn changed(name: &str, changes: &[(&str, &str)], more: &[Value]) -> Manifest {
    let path = format!("tests/data/plugin/{name}.yaml");
    let mut text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"));
    for (from, to) in changes {
        assert!(text.contains(from), "{name}: {from}");
        text = text.replace(from, to);
    }
    for object in more {
        text.push_str(&format!("- {object}\n"));
    }
    Manifest::new(&text)
}

fn on(from: &Manifest, command: &[&str]) -> (Option<i32>, Value, String) {
    let (exit, report, _, text) = answer(command, &from.path().display().to_string());
    (exit, report, text)
}

/// A pod of namespace `default` with claims of these names, on a node if there is one.
fn member(name: &str, group: &str, claims: &[&str], node: Option<&str>) -> Value {
    let claims: Vec<Value> = claims
        .iter()
        .map(|claim| json!({"name": claim, "resourceClaimName": claim}))
        .collect();
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "name": name, "uid": format!("pod-{name}"), "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "image"}], "resourceClaims": claims,
            "schedulingGroup": {"podGroupName": group}},
        "status": {"phase": if node.is_some() { "Running" } else { "Pending" }}});
    if let Some(node) = node {
        pod["spec"]["nodeName"] = json!(node);
    }
    pod
}

/// A claim for so many devices, which holds these of `worker-0` for a pod.
fn claim(name: &str, count: usize, held: Option<(&str, &str)>) -> Value {
    let mut claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": name, "uid": format!("claim-{name}")},
        "spec": {"devices": {"requests": [{"name": "r", "exactly":
            {"deviceClassName": "any", "allocationMode": "ExactCount", "count": count}}]}}});
    if let Some((device, pod)) = held {
        claim["status"] = json!({
            "allocation": {
                "devices": {"results": [{"request": "r", "driver": "drv.example.com", "pool": "worker-0", "device": device}]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["worker-0"]}]}]}},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": format!("pod-{pod}")}]});
    }
    claim
}

fn group(name: &str, policy: Value) -> Value {
    json!({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
        "metadata": {"namespace": "default", "name": name, "uid": format!("group-{name}")}, "spec": {"schedulingPolicy": policy}})
}

fn gang(min_count: i64) -> Value {
    json!({"gang": {"minCount": min_count}})
}

/// Nodes with so many devices each, and their class.
fn workers(devices: &[usize]) -> Vec<Value> {
    let mut objects = vec![
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any", "uid": "class-any"}, "spec": {}}),
    ];
    for (number, count) in devices.iter().enumerate() {
        let name = format!("worker-{number}");
        let devices: Vec<Value> = (0..*count)
            .map(|device| json!({"name": format!("device-{device}")}))
            .collect();
        objects.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": format!("node-{name}")},
            "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}}}));
        objects.push(
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": format!("{name}-drv"), "uid": format!("slice-{name}")},
            "spec": {"driver": "drv.example.com", "nodeName": name, "devices": devices,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}),
        );
    }
    objects
}

fn world(objects: Vec<Value>) -> Manifest {
    Manifest::new(&json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string())
}

/// A gang: the devices of the nodes, how many its members want, which of them run, how many it needs; and of each member what `explain`
/// and `simulate` say, and the scheduler.
#[test]
fn members_of_a_gang_are_judged_together() {
    struct Gang<'g> {
        nodes: &'g [usize],
        wanted: &'g [usize],
        bound: usize,
        min_count: i64,
        members: &'g [(&'g str, &'g str)],
    }
    const NO: &str = "DoesNotFit";
    const FITS: &str = "Fits";
    let cannot = "0/1 nodes are available: 1 cannot allocate all claims.";
    let whole = |text: &str| format!("pod group is unschedulable, minCount {text}");
    let two_of_two = whole("(2) cannot be satisfied: 1 scheduled, 0 remaining");
    for gang_of in [
        // Enough for all.
        Gang {
            nodes: &[2],
            wanted: &[1, 1],
            bound: 0,
            min_count: 2,
            members: &[(FITS, ""), (FITS, "")],
        },
        Gang {
            nodes: &[1, 1],
            wanted: &[1, 1],
            bound: 0,
            min_count: 2,
            members: &[(FITS, ""), (FITS, "")],
        },
        // Two of three suffice: the third waits alone.
        Gang {
            nodes: &[2],
            wanted: &[1, 1, 1],
            bound: 0,
            min_count: 2,
            members: &[(FITS, ""), (FITS, ""), (NO, cannot)],
        },
        // Those that had no turn do not get the words in front.
        Gang {
            nodes: &[1],
            wanted: &[1, 1, 1],
            bound: 0,
            min_count: 3,
            members: &[
                (NO, &whole("(3) cannot be satisfied: 1 scheduled, 1 remaining")),
                (NO, cannot),
                (NO, "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"),
            ],
        },
        // A large one that fails is no harm to a small one, in its order.
        Gang {
            nodes: &[1],
            wanted: &[2, 1],
            bound: 0,
            min_count: 1,
            members: &[(NO, cannot), (FITS, "")],
        },
        Gang {
            nodes: &[1],
            wanted: &[2, 1],
            bound: 0,
            min_count: 2,
            members: &[
                (NO, cannot),
                (NO, "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"),
            ],
        },
        // What runs counts.
        Gang {
            nodes: &[2],
            wanted: &[1, 1],
            bound: 1,
            min_count: 2,
            members: &[(FITS, "")],
        },
        Gang {
            nodes: &[1],
            wanted: &[1, 1],
            bound: 1,
            min_count: 2,
            members: &[(NO, cannot)],
        },
        Gang {
            nodes: &[1],
            wanted: &[1, 1],
            bound: 1,
            min_count: 1,
            members: &[(NO, cannot)],
        },
        Gang {
            nodes: &[2],
            wanted: &[1, 1, 1],
            bound: 1,
            min_count: 3,
            members: &[
                (NO, &whole("(3) cannot be satisfied: 2 scheduled, 0 remaining")),
                (NO, cannot),
            ],
        },
        Gang {
            nodes: &[1],
            wanted: &[1, 1],
            bound: 0,
            min_count: 2,
            members: &[(NO, &two_of_two), (NO, cannot)],
        },
    ] {
        let Gang {
            nodes,
            wanted,
            bound,
            min_count,
            members,
        } = gang_of;
        let mut objects = workers(nodes);
        objects.push(group("pg", gang(min_count)));
        for (number, count) in wanted.iter().enumerate() {
            let (pod, own) = (format!("p-{number}"), format!("c-{number}"));
            let (device, runs) = (format!("device-{number}"), number < bound);
            objects.push(claim(&own, *count, runs.then_some((&device, &pod))));
            objects.push(member(&pod, "pg", &[&own], runs.then_some("worker-0")));
        }
        let from = world(objects);
        for (number, (expected, message)) in (bound..).zip(members) {
            let pod = format!("pod/p-{number}");
            let about = format!("{nodes:?} {wanted:?} {bound} {min_count} {pod}");
            for (command, fact) in [
                (&["explain"][..], "verdict"),
                (&["simulate", "allocation"], "result"),
            ] {
                let (exit, report, text) = on(&from, &[command, &[&pod, GROUPS[0], GROUPS[1]]].concat());
                assert_eq!(report[fact], *expected, "{about}: {report:#}");
                assert_eq!(exit, Some(i32::from(*expected != FITS)), "{about}");
                assert_eq!(
                    report["message"].as_str().unwrap_or_default(),
                    *message,
                    "{about}: {report:#}"
                );
                assert_eq!(report["exactness"], "Exact", "{about}: {report:#}");
                assert!(!text.contains("kubectl delete"), "{about}: {text}");
            }
        }
        let (_, alone, _) = on(
            &from,
            &[
                "explain",
                &format!("pod/p-{bound}"),
                "--feature-gates",
                "GenericWorkload=false",
            ],
        );
        assert!(!alone.to_string().contains("minCount"), "{alone:#}");
    }
}

#[test]
fn groups_that_are_no_gang_share_and_depend_on_nodes() {
    let explain =
        |from: &Manifest, pod: &str, more: &[&str]| on(from, &[&["explain", pod][..], GROUPS, more].concat());
    // A basic group takes what there is, in its order.
    let basic = |devices| {
        let mut objects = workers(&[devices]);
        objects.push(group("pg", json!({"basic": {}})));
        for number in 0..2 {
            objects.push(claim(&format!("c-{number}"), 1, None));
            objects.push(member(
                &format!("p-{number}"),
                "pg",
                &[&format!("c-{number}")],
                None,
            ));
        }
        world(objects)
    };
    assert_eq!(explain(&basic(1), "pod/p-0", &[]).1["verdict"], "Fits");
    let (_, report, text) = explain(&basic(1), "pod/p-1", &[]);
    assert_eq!(report["verdict"], "DoesNotFit", "{report:#}");
    assert!(text.contains("placed together"), "{text}");
    // A claim that all members share is allocated once, and its node is that of all.
    let shared = |pods: i64| {
        let mut objects = workers(&[1, 1]);
        objects.push(group("pg", gang(2)));
        objects.push(claim("shared", 1, None));
        for number in 0..2 {
            let mut pod = member(&format!("p-{number}"), "pg", &["shared"], None);
            pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": pods.to_string()}});
            objects.push(pod);
        }
        world(objects)
    };
    let (_, report, _) = explain(&shared(4), "pod/p-1", &[]);
    assert_eq!(report["verdict"], "Fits", "{report:#}");
    let (_, report, _) = explain(&shared(5), "pod/p-0", &[]);
    assert_eq!(report["message"], TOO_FEW, "{report:#}");
    // Which node the first gets decides.
    let mut objects = workers(&[2, 1]);
    objects.push(group("pg", gang(2)));
    for (number, count) in [1, 2].into_iter().enumerate() {
        objects.push(claim(&format!("c-{number}"), count, None));
        objects.push(member(
            &format!("p-{number}"),
            "pg",
            &[&format!("c-{number}")],
            None,
        ));
    }
    let from = world(objects);
    for command in [&["explain"][..], &["simulate", "allocation"]] {
        let (exit, report, _) = on(&from, &[command, &["pod/p-0"], GROUPS].concat());
        assert_eq!(exit, Some(4), "{report:#}");
        assert!(
            report
                .to_string()
                .contains("depends on the nodes that kube-scheduler chooses"),
            "{report:#}"
        );
    }
    // 1.36 lets every member have its turn, and gangs have a gate of their own there.
    let old = ["--kubernetes-version", "1.36.4"];
    let gates = "DRAWorkloadResourceClaims=true,GenericWorkload=true,GangScheduling=true";
    let small = changed(
        "08-gang-too-large",
        &[("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha2")],
        &[],
    );
    let (_, report, _) = on(
        &small,
        &[&["explain", "pod/p-0", "--feature-gates", gates], &old[..]].concat(),
    );
    assert_eq!(
        report["message"],
        "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled",
        "{report:#}"
    );
    let (_, report, _) = on(&small, &[&["explain", "pod/p-0"], GROUPS, &old[..]].concat());
    assert_eq!(report["verdict"], "Fits", "{report:#}");
    // 1.35 has no PodGroups.
    let (_, report, _) = on(
        &small,
        &[
            "explain",
            "pod/p-0",
            "--feature-gates",
            "GenericWorkload=true",
            "--kubernetes-version",
            "1.35.8",
        ],
    );
    assert_eq!(report["verdict"], "Fits", "{report:#}");
    // The group is gone, or too few of its members are there or in the queue.
    let gone = changed(
        "08-gang-too-large",
        &[(
            "name: pg\n    namespace: default\n    uid: group-pg",
            "name: other\n    namespace: default\n    uid: group-pg",
        )],
        &[],
    );
    let (_, report, _) = explain(&gone, "pod/p-0", &[]);
    assert_eq!(report["verdict"], "Waits", "{report:#}");
    let more = changed("08-gang-too-large", &[("minCount: 2", "minCount: 3")], &[]);
    let (_, report, _) = explain(&more, "pod/p-0", &[]);
    assert_eq!(report["verdict"], "Waits", "{report:#}");
    let waiting = changed(
        "08-gang-too-large",
        &[("resourceClaimName: c-1", "resourceClaimName: none")],
        &[],
    );
    let (_, report, _) = explain(&waiting, "pod/p-0", &[]);
    assert_eq!(
        report["message"],
        "pod group is unschedulable, minCount (2) cannot be satisfied: 0 scheduled, 1 remaining",
        "{report:#}"
    );
    assert!(
        report["cause"]
            .as_str()
            .unwrap_or_default()
            .contains("pod/default/p-1 is pending"),
        "{report:#}"
    );
    // All members have the priority of their group.
    let invalid = changed(
        "08-gang-too-large",
        &[(
            "    schedulerName: default-scheduler\n",
            "    schedulerName: default-scheduler\n    priority: 7\n",
        )],
        &[],
    );
    let (_, report, _) = explain(&invalid, "pod/p-0", &[]);
    assert_eq!(report["verdict"], "Error", "{report:#}");
    assert!(
        report["message"]
            .as_str()
            .unwrap_or_default()
            .contains("the same priority"),
        "{report:#}"
    );
}

#[test]
fn what_is_reserved_for_the_pods_own_group_is_given_up_or_not() {
    let name = "01-group-claim-elsewhere";
    let explain = |from: &Manifest, more: &[&str]| on(from, &[&["explain", "pod/app"], more].concat());
    let own = ["ReleasedByScheduler", "ReservedForGroup", "UnreservedByScheduler"];
    let code = |report: &Value| {
        let reasons = report["reasons"].as_array().cloned().unwrap_or_default();
        let codes = reasons
            .iter()
            .filter_map(|reason| reason["code"].as_str().map(str::to_owned));
        codes
            .filter(|code| own.contains(&code.as_str()))
            .collect::<Vec<_>>()
    };
    let plain = || changed(name, &[], &[]);
    // A member that has a node keeps it; so does a scheduler that does not know claims of groups.
    let active = changed(name, &[], &[member("other", "group", &["c0"], Some("node-a"))]);
    let ended = {
        let mut pod = member("other", "group", &["c0"], Some("node-a"));
        pod["status"]["phase"] = json!("Succeeded");
        changed(name, &[], &[pod])
    };
    let idle = changed(
        name,
        &[(
            "    reservedFor:\n    - apiGroup: scheduling.k8s.io\n      name: group\n      resource: podgroups\n      uid: group-group\n",
            "",
        )],
        &[],
    );
    let older = changed(
        name,
        &[(
            "      uid: group-group\n- apiVersion: v1\n",
            "      uid: group-older\n- apiVersion: v1\n",
        )],
        &[],
    );
    let gate_off = [
        "--feature-gates",
        "DRAWorkloadResourceClaims=false,GenericWorkload=true",
    ];
    for (from, gates, expected) in [
        (plain(), GROUPS, "ReleasedByScheduler"),
        (active, GROUPS, "ReservedForGroup"),
        (ended, GROUPS, "ReleasedByScheduler"),
        (idle, GROUPS, "ReleasedByScheduler"),
        (older, GROUPS, "ReservedForGroup"),
        (plain(), &gate_off, "ReservedForGroup"),
    ] {
        let (exit, report, text) = explain(&from, gates);
        assert_eq!(exit, Some(1), "{report:#}");
        assert_eq!(code(&report), [expected], "{report:#}");
        for unwanted in [
            "kubectl delete pod/app",
            "kubectl delete podgroup",
            "pod/default/app ends",
        ] {
            assert!(!text.contains(unwanted), "{expected}: {unwanted}: {text}");
        }
    }
    // Another consumer that runs has to end, and is the only one.
    let name = "06-group-claim-unreserved";
    let mut other = member("other", "none", &["c0"], Some("node-z"));
    other["spec"]
        .as_object_mut()
        .expect("a spec")
        .remove("schedulingGroup");
    let (_, report, text) = explain(&changed(name, &[], &[other]), GROUPS);
    assert_eq!(code(&report), ["UnreservedByScheduler"], "{report:#}");
    assert!(
        text.contains("kubectl delete pod/other --namespace=default"),
        "{text}"
    );
    assert!(!text.contains("kubectl delete pod/app"), "{text}");
}

#[test]
fn claims_that_need_what_a_node_does_not_declare() {
    let name = "02-optional-operations";
    let explain =
        |from: &Manifest, version: &str| on(from, &["explain", "pod/app", "--kubernetes-version", version]);
    // Declared, on another node, and in a release that does not know it.
    let declared = changed(
        name,
        &[(
            "    conditions:\n",
            "    declaredFeatures: [DRAOptionalNodeOperations]\n    conditions:\n",
        )],
        &[],
    );
    assert_eq!(explain(&declared, "1.37.1").1["verdict"], "Fits");
    assert_eq!(explain(&changed(name, &[], &[]), "1.36.4").1["verdict"], "Fits");
    let elsewhere = changed(
        name,
        &[(
            "          - key: metadata.name\n            operator: In\n            values:\n            - node\n",
            "          - key: metadata.name\n            operator: In\n            values:\n            - gone\n",
        )],
        &[],
    );
    let (_, report, text) = explain(&elsewhere, "1.37.1");
    assert_eq!(
        report["nodes"][0]["reasons"][0]["code"], "AllocatedElsewhere",
        "{report:#}"
    );
    assert!(!text.contains("DRAOptionalNodeOperations"), "{text}");
    // Others use the claim as well: nothing is released.
    let shared = changed(
        name,
        &[(
            "    - name: app\n      resource: pods\n      uid: pod-app\n",
            "    - name: app\n      resource: pods\n      uid: pod-app\n    - name: b\n      resource: pods\n      uid: pod-b\n",
        )],
        &[],
    );
    let (_, report, text) = explain(&shared, "1.37.1");
    assert_eq!(
        report["nodes"][0]["reasons"][0]["code"], "NodeOperations",
        "{report:#}"
    );
    assert!(!text.contains("ReleasedByScheduler"), "{text}");
}

#[test]
fn claims_that_are_not_made_yet() {
    let annotated = (
        "    name: app-res\n    namespace: default\n    ownerReferences:",
        "    name: app-res\n    namespace: default\n    annotations:\n      resource.kubernetes.io/pod-claim-name: res\n    ownerReferences:",
    );
    let adopted = changed("03-template-missing-claim-owned", &[annotated], &[]);
    for version in ["1.34.3", "1.35.8", "1.36.4", "1.37.1"] {
        let (exit, report, _) = on(
            &adopted,
            &[
                "simulate",
                "allocation",
                "pod/app",
                "--kubernetes-version",
                version,
            ],
        );
        assert_eq!(
            (exit, report["result"].as_str()),
            (Some(0), Some("Fits")),
            "{version}: {report:#}"
        );
        let (_, report, text) = on(&adopted, &["explain", "pod/app", "--kubernetes-version", version]);
        assert_eq!(report["verdict"], "Waits");
        assert!(!text.contains("app-res not found"), "{text}");
        assert!(
            text.contains(
                "will name claim/default/app-res, which was created for the pod, in the pod's status"
            ),
            "{text}"
        );
    }
    // The annotation of another entry, or on what another pod owns, is none.
    for change in [
        ("pod-claim-name: res", "pod-claim-name: other"),
        (
            "      uid: pod-app\n    uid: claim",
            "      uid: pod-old\n    uid: claim",
        ),
    ] {
        let both = (annotated.0, annotated.1.replace(change.0, change.1));
        let mut changes = vec![(both.0, both.1.as_str())];
        if change.0.contains("uid") {
            changes.push(change);
        }
        let from = changed("03-template-missing-claim-owned", &changes, &[]);
        let (exit, report, _) = on(&from, &["simulate", "allocation", "pod/app"]);
        assert_eq!(
            (exit, report["result"].as_str()),
            (Some(1), Some("DoesNotFit")),
            "{change:?}: {report:#}"
        );
    }
    // Of an earlier pod, of another one, and of none; with a claim beside it that is to be adopted; without the template.
    let name = "04-claim-of-an-earlier-pod";
    for (changes, expected, fits) in [
        (vec![], "created for an earlier pod with the same name", true),
        (
            vec![(
                "      name: app\n      uid: pod-old",
                "      name: other\n      uid: pod-other",
            )],
            "created for Pod other",
            true,
        ),
        (
            vec![(
                "    ownerReferences:\n    - apiVersion: v1\n      controller: true\n      kind: Pod\n      name: app\n      uid: pod-old\n",
                "",
            )],
            "was not created for it",
            true,
        ),
        (
            vec![(
                "    name: tmpl\n    namespace: default",
                "    name: gone\n    namespace: default",
            )],
            "resourceclaimtemplate/default/tmpl not found",
            false,
        ),
    ] {
        let from = changed(name, &changes, &[]);
        let (exit, report, text) = on(&from, &["explain", "pod/app"]);
        assert_eq!(
            (exit, report["verdict"].as_str()),
            (Some(1), Some("Waits")),
            "{report:#}"
        );
        assert!(text.contains(expected), "{expected}: {text}");
        assert!(!text.contains("kubectl delete"), "{text}");
        let (exit, report, _) = on(&from, &["simulate", "allocation", "pod/app"]);
        assert_eq!(exit == Some(0), fits, "{report:#}");
    }
    // A claim that is gone, whose template is gone, too; and one that is named rather than made.
    let name = "05-claim-is-gone";
    let both = changed(
        name,
        &[(
            "    name: tmpl\n    namespace: default",
            "    name: gone\n    namespace: default",
        )],
        &[],
    );
    let (_, report, text) = on(&both, &["explain", "pod/app"]);
    assert_eq!(report["fixes"][0]["kind"], "CreateTemplate", "{report:#}");
    assert!(!text.contains("create claim/default/app-res"), "{text}");
    let named = changed(
        name,
        &[("resourceClaimTemplateName: tmpl", "resourceClaimName: app-res")],
        &[],
    );
    let (_, report, _) = on(&named, &["explain", "pod/app"]);
    assert_eq!(report["fixes"][0]["kind"], "CreateClaim", "{report:#}");
    // With a node, the kubelet looks for it.
    let bound = changed(
        name,
        &[(
            "    schedulerName: default-scheduler",
            "    nodeName: node-a\n    schedulerName: default-scheduler",
        )],
        &[],
    );
    let (_, report, text) = on(&bound, &["explain", "pod/app"]);
    assert_eq!(report["verdict"], "Broken", "{report:#}");
    assert!(!text.contains("create the claim"), "{text}");
}

#[test]
fn what_devices_take_of_their_node_counts() {
    let gate = |on: bool| format!("DRANodeAllocatableResources={on},DRAConsumableCapacity=true");
    let stated = |field: &str, resources: Value, cpu: &str, status: Value| {
        let mut objects = workers(&[1]);
        let slice = objects
            .iter_mut()
            .find(|object| object["kind"] == "ResourceSlice")
            .expect("a slice");
        slice["spec"]["devices"][0][field] = resources;
        let mut own = claim("c", 1, None);
        own["status"] = status;
        let mut pod = member("p", "none", &["c"], None);
        pod["spec"]
            .as_object_mut()
            .expect("a spec")
            .remove("schedulingGroup");
        pod["spec"]["containers"][0]["resources"] =
            json!({"requests": {"cpu": cpu}, "claims": [{"name": "c"}]});
        objects.extend([own, pod]);
        world(objects)
    };
    let state = |resources, cpu: &str, status| stated("nodeAllocatableResources", resources, cpu, status);
    let mapped = || json!({"cpu": {"mapping": {"deviceMultiplier": "6"}}});
    let overhead = |amount: &str| json!({"memory": {"overhead": {"perPod": amount, "perContainer": "1Gi"}}});
    let held = |pod: &str| claim("c", 1, Some(("device-0", pod)))["status"].clone();
    let shared = "node allocatable resource claim c has a mapped device and cannot be shared across pods";
    for (resources, cpu, status, is_on, expected) in [
        (mapped(), "2", json!({}), true, None),
        (mapped(), "3", json!({}), true, Some("Insufficient cpu")),
        (mapped(), "3", json!({}), false, None),
        (overhead("31Gi"), "1", json!({}), true, None),
        (
            overhead("32Gi"),
            "1",
            json!({}),
            true,
            Some("Insufficient memory"),
        ),
        (mapped(), "1", held("other"), true, Some(shared)),
        (mapped(), "1", held("other"), false, None),
        (mapped(), "3", held("p"), true, Some("Insufficient cpu")),
        (overhead("1Gi"), "1", held("other"), true, None),
    ] {
        let from = state(resources.clone(), cpu, status);
        for (command, fact) in [
            (&["explain"][..], "verdict"),
            (&["simulate", "allocation"], "result"),
        ] {
            let gates = gate(is_on);
            let (exit, report, _) = on(
                &from,
                &[command, &["pod/p", "--feature-gates", gates.as_str()]].concat(),
            );
            let about = format!("{resources} {cpu} {is_on} {command:?}: {report:#}");
            let verdict = if expected.is_some() { "DoesNotFit" } else { "Fits" };
            assert_eq!(report[fact], verdict, "{about}");
            assert_eq!(exit, Some(i32::from(expected.is_some())), "{about}");
            if let Some(expected) = expected {
                assert_eq!(report["nodes"][0]["message"], expected, "{about}");
            }
        }
    }
    // 1.36 says it in another form.
    let gates = gate(true);
    let old = stated("nodeAllocatableResourceMappings", mapped(), "3", json!({}));
    let (exit, report, _) = on(
        &old,
        &[
            "explain",
            "pod/p",
            "--feature-gates",
            &gates,
            "--kubernetes-version",
            "1.36.4",
        ],
    );
    assert_eq!(
        (exit, report["verdict"].as_str()),
        (Some(4), Some("Unknown")),
        "{report:#}"
    );
}
