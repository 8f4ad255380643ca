//! `kubectl dra explain` without a name, and of nodes.

use super::on;
use crate::support::command::dra_snapshot;
use crate::support::process::Screen;
use crate::support::schema::assert_valid;

#[test]
fn everything_pending_is_grouped_by_cause() {
    let json = |args: &[&str]| {
        let run = on(&[args, &["-o", "json"]].concat(), "unschedulable-pods").run();
        assert_valid(&run.exits(1).stdout)
    };
    let report = json(&["explain"]);
    assert_eq!(report["kind"], "ExplanationList");
    let items = report["items"].as_array().expect("items");
    let pods: usize = items
        .iter()
        .map(|item| item["pods"].as_array().expect("pods").len())
        .sum();
    assert_eq!(pods, 13, "{report}");
    for item in items {
        // What is told of a group is what `explain` tells of the one that it names.
        let target = &item["explained"];
        let name = format!(
            "pod/{}/{}",
            target["namespace"].as_str().unwrap(),
            target["name"].as_str().unwrap()
        );
        let single = json(&["explain", &name]);
        assert_eq!(item["verdict"], single["verdict"], "{name}");
        assert_eq!(item["fix"], single["fixes"][0], "{name}");
    }
    // Those that a tested change helps come first.
    let proven: Vec<bool> = items.iter().map(|item| item["fix"]["proven"] == true).collect();
    assert!(proven.is_sorted_by(|a, b| a >= b), "{proven:?}");
}

#[test]
fn a_terminal_gets_a_line_for_each_cause() {
    let run = on(&["explain"], "unschedulable-pods")
        .env("TERM", "xterm")
        .env("LANG", "C.UTF-8")
        .env("NO_COLOR", "1")
        .run_on_screen(80, Screen::Stdout)
        .exits(1);
    let first = run.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("× 13 pods are pending: "), "{}", run.stdout);
    assert!(run.stdout.lines().count() < 60, "{}", run.stdout);
}

#[test]
fn nothing_waits_where_everything_has_its_devices() {
    dra_snapshot!(on(&["explain", "-n", "training"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok no pod or claim is pending for devices in namespace training (-A: all namespaces)

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "-A"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    ok 1 claim without a pod fits

    ok claim/default/spare: fits on 3 of 3 nodes

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "-n", "nowhere"], "bound-pods"), @"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: namespace/nowhere not found

    hint: there are 3 namespaces: `default`, `inference`, `training`
    ");
}

#[test]
fn a_node_is_explained_by_its_remaining_room() {
    dra_snapshot!(on(&["explain", "node/mig-node-1"], "partitionable"), @"
    exit_code: 0
    ----- stdout -----
    ok node/mig-node-1: room for 2 of gpu.example.com

    Devices:
      DRIVER            DEVICES   FREE   IN USE   SHARED   BLOCKED   UNHEALTHY
      gpu.example.com   10        2      3        0        5         0
      gpu.example.com: unavailable: 5 counters exhausted
    Requests:
      CLASS             DEVICES   LARGEST REQUEST
      gpu.example.com   10        2
    Not considered:  CPU, memory, ports, other pod requirements

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "no", "gpu-node-2"], "device-taints-marked"), @"
    exit_code: 0
    ----- stdout -----
    ok node/gpu-node-2: room for 8 of nic.example.com

    Devices:
      DRIVER            DEVICES   FREE   IN USE   SHARED   BLOCKED   UNHEALTHY
      gpu.example.com   8         0      4        0        4         0
      nic.example.com   8         8      0        0        0         0
      gpu.example.com: unavailable: 4 tainted
    Requests:
      CLASS             DEVICES   LARGEST REQUEST
      gpu.example.com   8         0
      nic.example.com   8         8
    Not considered:  CPU, memory, ports, other pod requirements

    ----- stderr -----
    ");
    dra_snapshot!(on(&["explain", "node/nope"], "bound-pods"), @"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: node/nope not found

    hint: there are 3 nodes: `gpu-node-1`, `gpu-node-2`, `gpu-node-3`
    ");
}

#[test]
fn the_data_of_a_node_are_as_the_schema_says() {
    for (node, snapshot) in [
        ("node/mig-node-1", "partitionable"),
        ("node/gpu-node-3", "unschedulable-pods"),
        ("node/net-node-1", "consumable-capacity"),
    ] {
        let run = on(&["explain", node, "-o", "json"], snapshot).run();
        let report = assert_valid(&run.stdout);
        for driver in report["drivers"].as_array().expect("drivers") {
            let count = |field: &str| driver[field].as_u64().expect("a number");
            let parts = ["free", "allocated", "shared", "blocked", "unknown"].map(count);
            assert_eq!(count("total"), parts.iter().sum::<u64>(), "{node}: {driver}");
        }
    }
}

#[test]
fn objects_are_named_as_for_kubectl() {
    let explained = |args: &[&str]| on(&[&["explain"], args].concat(), "bound-pods").run().exits(0);
    let full = explained(&["pod/notebook"]);
    for args in [
        &["pod", "notebook"][..],
        &["po/notebook"],
        &["pods", "notebook"],
        &["notebook"],
    ] {
        assert_eq!(explained(args).stdout, full.stdout, "{args:?}");
    }
    dra_snapshot!(on(&["explain", "nope"], "bound-pods"), @"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: pod/default/nope not found, claim/default/nope not found

    hint: instead of `nope`: the only pod is `notebook`
    hint: instead of `nope`: there are 2 claims: `notebook-gpu`, `spare`
    ");
    dra_snapshot!(on(&["explain", "node"], "bound-pods"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `node` needs a name

    hint: write `node NAME`, or no kind and no name for everything pending
    ");
    dra_snapshot!(on(&["explain", "pod/a", "pod/b"], "bound-pods"), @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: only one object can be explained at a time

    hint: write `pod NAME` or `pod/NAME`, or no name for everything pending
    ");
}
