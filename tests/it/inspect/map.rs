//! `kubectl dra devices --map` and `kubectl dra status` on terminals and pipes.

use super::look;
use crate::support::command::{dra_snapshot, is_one_word};
use crate::support::process::{Invocation, Screen};
use dra_testing::effort::some_of;

/// A terminal that shows Unicode, without colour.
fn on_terminal(invocation: Invocation) -> Invocation {
    let terminal = invocation.env("TERM", "xterm").env("LANG", "C.UTF-8");
    terminal.env("NO_COLOR", "1")
}

const WIDTHS: [u16; 4] = [60, 80, 120, 200];

/// Snapshots with devices of all sorts.
const SNAPSHOTS: [&str; 6] = [
    "bound-pods",
    "partitionable",
    "consumable-capacity",
    "device-taints-marked",
    "unschedulable-pods",
    "podgroups",
];

#[test]
fn a_map_is_a_row_for_each_node() {
    let run = on_terminal(look(&["devices", "--map"], "bound-pods")).run_on_screen(80, Screen::Stdout);
    assert_eq!(
        run.stdout,
        "            gpu.example.com  nic.example.com
gpu-node-1  tttttti· 7/8     ····tt·· 2/8
gpu-node-2  idtt···· 4/8     ··tt···· 2/8
gpu-node-3  tttt···· 4/8     tttt···· 4/8

t training  i inference  d default
· free  - blocked  x tainted  ! unhealthy
"
    );
    let ascii = on_terminal(look(&["devices", "--map", "--ascii"], "bound-pods"));
    let ascii = ascii.run_on_screen(80, Screen::Stdout).stdout;
    assert!(ascii.is_ascii() && ascii.contains("tttttti. 7/8"), "{ascii}");
}

#[test]
fn the_signs_are_those_of_the_states_in_the_list() {
    for snapshot in SNAPSHOTS {
        let report = look(&["devices", "-o", "json"], snapshot).run().exits(0).json();
        let mut expected = std::collections::BTreeMap::new();
        for item in report["items"].as_array().expect("items") {
            let blocked = item["unavailable"].as_array();
            let sign = match item["state"].as_str().expect("a state") {
                _ if item["health"] == "Unhealthy" => '!',
                "Allocated" | "Shared" => 'h',
                "Free" if item["published"] == false => '-',
                "Free" if blocked.is_none() => '.',
                "Free" if blocked.is_some_and(|reasons| reasons.iter().all(|reason| reason == "Tainted")) => {
                    'x'
                }
                "Free" => '-',
                _ => '?',
            };
            let node = item["node"].as_str().unwrap_or_default().to_owned();
            let driver = item["driver"].as_str().expect("a driver").to_owned();
            expected
                .entry((node, driver))
                .or_insert_with(String::new)
                .push(sign);
        }
        let map = look(&["devices", "--map"], snapshot).run().exits(0).stdout;
        let mut shown = std::collections::BTreeMap::new();
        for line in map.lines().skip(1).take_while(|line| !line.starts_with("Legend")) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let [node, driver, _, marks] = cells.as_slice() else {
                panic!("{snapshot}: {line}");
            };
            let signs = marks.chars().map(|mark| {
                if mark.is_ascii_alphabetic() && mark != 'x' {
                    'h'
                } else {
                    mark
                }
            });
            shown.insert(
                ((*node).to_owned(), (*driver).to_owned()),
                signs.collect::<String>(),
            );
        }
        assert_eq!(shown, expected, "{snapshot}: {map}");
    }
}

#[test]
fn letters_can_stand_for_owners_and_classes() {
    let by = |by: &str| {
        look(&["devices", "--map", "--by", by], "bound-pods")
            .run()
            .exits(0)
            .stdout
    };
    let owners = by("owner");
    assert!(
        owners.contains("training/Job/sweep") && owners.contains("default/Pod/notebook"),
        "{owners}"
    );
    let classes = by("class");
    assert!(classes.contains("g gpu.example.com: 15"), "{classes}");
}

#[test]
fn a_map_refuses_what_it_could_only_ignore() {
    for (more, said) in [
        (&["-o", "json"][..], "`--map` does not support `--output`"),
        (&["-o", "name"], "`--map` does not support `--output`"),
        (&["--sort-by", "NODE"], "`--map` does not support `--sort-by`"),
        (&["--no-headers"], "`--map` does not support `--no-headers`"),
        (&["--by", "node"], "the rows of a map are already nodes"),
    ] {
        let args = [&["devices", "--map"], more].concat();
        let run = look(&args, "bound-pods").run().exits(2);
        assert!(run.stderr.contains(said), "{more:?}: {}", run.stderr);
    }
    look(&["devices", "--by", "owner"], "bound-pods").run().exits(2);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for snapshot in SNAPSHOTS {
        for args in [
            &["status"][..],
            &["status", "--by", "owner"],
            &["status", "--by", "node"],
            &["devices", "--map"],
            &["devices", "--map", "--by", "owner"],
            &["explain", "-A"],
            &["explain", "node/gpu-node-1"],
        ] {
            for columns in some_of(&WIDTHS, 1).copied() {
                let run = on_terminal(look(args, snapshot)).run_on_screen(columns, Screen::Stdout);
                for line in run.stdout.lines() {
                    let width = line.chars().count();
                    assert!(
                        width <= columns.into() || is_one_word(line),
                        "{args:?} {snapshot}: {width} of {columns} columns\n{}",
                        run.stdout
                    );
                }
            }
        }
    }
}

#[test]
fn usage_is_grouped_by_the_requested_key() {
    dra_snapshot!(look(&["status", "--by", "owner"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 3 nodes; no findings
    Pending: kubectl dra explain -A --from=tests/data/snapshots/bound-pods.yaml --now=2026-11-21T11:00:00Z

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE
      gpu.example.com   15/24    63%    9      4
      nic.example.com   8/24     33%    16     6
    Usage:
      OWNER                         DRIVER            IN USE   SHARE    PENDING
      training/Pod/trainer-1        gpu.example.com   6        25%      0
      training/Pod/trainer-1        nic.example.com   2        8%       0
      training/Job/sweep            gpu.example.com   4        17%      0
      training/Job/sweep            nic.example.com   4        17%      0
      training/Pod/trainer-0        gpu.example.com   2        8%       0
      training/Pod/trainer-0        nic.example.com   2        8%       0
      default/Pod/notebook          gpu.example.com   1        4%       0
      inference/Pod/web-0           gpu.example.com   1        4%       0
      inference/Pod/web-1           gpu.example.com   1        4%       0
      default/ResourceClaim/spare   <none>            0        <none>   1
    Claims:             1 pending; 8 allocated,reserved
    Pods With Devices:  7 Running

    More: kubectl dra status --by owner --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(look(&["status", "--by", "node"], "bound-pods"), @"
    exit_code: 0
    ----- stdout -----
    Kubernetes v1.37.1 (assumed), 3 nodes; no findings

    Drivers:
      DRIVER            IN USE   USED   FREE   ONE NODE
      gpu.example.com   15/24    63%    9      4
      nic.example.com   8/24     33%    16     6
    Usage:
      NODE         DRIVER            IN USE   SHARE
      gpu-node-1   gpu.example.com   7        88%
      gpu-node-1   nic.example.com   2        25%
      gpu-node-2   gpu.example.com   4        50%
      gpu-node-2   nic.example.com   2        25%
      gpu-node-3   gpu.example.com   4        50%
      gpu-node-3   nic.example.com   4        50%
    Claims:             1 pending; 8 allocated,reserved
    Pods With Devices:  7 Running

    More: kubectl dra status --by node --from tests/data/snapshots/bound-pods.yaml --now 2026-11-21T11:00:00Z --details

    ----- stderr -----
    warning: tests/data/snapshots/bound-pods.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    let run = on_terminal(look(&["status"], "bound-pods")).run_on_screen(80, Screen::Stdout);
    let above: Vec<&str> = run.stdout.lines().take(14).collect();
    assert_eq!(
        above[5..],
        [
            "  DRIVER            IN USE                USED   FREE   ONE NODE",
            "  gpu.example.com   15/24    ██████▎···   63%    9      4",
            "  nic.example.com   8/24     ███▎······   33%    16     6",
            "Usage:",
            "  NAMESPACE   DRIVER            IN USE                SHARE   PENDING",
            "  training    gpu.example.com   12       █████·····   50%     0",
            "              nic.example.com   8        ███▎······   33%",
            "  inference   gpu.example.com   2        ▊·········   8%      0",
            "  default     gpu.example.com   1        ▍·········   4%      1",
        ]
    );
}
