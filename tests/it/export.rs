//! `kubectl dra export --once`: its metrics are those that Prometheus takes, and its numbers those of the other commands.

mod dashboards;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::command::dra;

/// All examples and recorded states.
pub(crate) fn sources() -> Vec<String> {
    let named = dra(&["status", "--from", "example:"]).run();
    let listed = [named.stdout, named.stderr].concat();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter_map(|line| line.split(' ').next());
    let mut sources: Vec<String> = names.map(|name| format!("example:{name}")).collect();
    assert!(sources.len() > 5, "{listed}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots");
    let files = std::fs::read_dir(folder).expect("recorded states");
    let files = files.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    sources.extend(files.iter().map(|path| path.display().to_string()));
    sources
}

/// The metrics of a source.
fn exported(source: &str, more: &[&str]) -> String {
    let args = [&["export", "--once", "--from", source], more].concat();
    dra(&args).run().exits(0).stdout
}

/// Values by name and labels.
fn samples(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a sample");
            (series, value.parse().expect("a number"))
        })
        .collect()
}

/// The sum of the series of a family that have all of these labels.
fn sum(samples: &BTreeMap<&str, f64>, family: &str, labels: &[(&str, &str)]) -> f64 {
    let has_labels = |series: &str| {
        let of_family = series.strip_prefix(family).unwrap_or("-");
        let is_family = of_family.is_empty() || of_family.starts_with('{');
        is_family
            && labels
                .iter()
                .all(|(name, value)| of_family.contains(&format!("{name}=\"{value}\"")))
    };
    let found = samples.iter().filter(|(series, _)| has_labels(series));
    found.map(|(_, value)| value).sum()
}

/// Reports whether a program of Prometheus is installed. If not, the test says that it tries nothing, and fails with
/// `KUBECTL_DRA_TEST_PROMTOOL=required`.
pub(crate) fn is_installed(name: &str) -> bool {
    let is_there = Command::new(name).arg("--version").output().is_ok();
    if !is_there {
        assert!(
            std::env::var_os("KUBECTL_DRA_TEST_PROMTOOL").is_none(),
            "{name} is not installed"
        );
        // Straight to the stream, since the test harness hides what the print macros write.
        let _ = writeln!(
            std::io::stderr(),
            "warning: metrics were NOT tried with {name}, which is not installed"
        );
    }
    is_there
}

/// What promtool says about `input`, which it accepts; nothing where it is not installed.
fn promtool(args: &[&str], input: &str) -> Option<String> {
    if !is_installed("promtool") {
        return None;
    }
    let mut child = Command::new("promtool")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("promtool reads");
    drop(stdin);
    let output = child.wait_with_output().expect("promtool ends");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "promtool {args:?}: {said}");
    Some(said)
}

#[test]
fn promtool_finds_nothing_wrong_with_any_export() {
    for source in sources() {
        let text = exported(
            &source,
            &["--per-claim", "--node-pool-label", "kubernetes.io/hostname"],
        );
        assert!(text.ends_with("\n# EOF\n"), "{source}: {text}");
        // It tells what it does not like and succeeds all the same.
        if let Some(said) = promtool(&["check", "metrics"], &text) {
            assert_eq!(said, "", "{source}");
        }
    }
}

#[test]
fn each_alert_fires_on_its_condition_alone() {
    let root = env!("CARGO_MANIFEST_DIR");
    for base in ["export", "shadow"] {
        promtool(
            &["check", "rules", &format!("{root}/deploy/{base}/alerts.yaml")],
            "",
        );
    }
    let tests = format!("{root}/tests/data/prometheus/export-alerts.yaml");
    let text = std::fs::read_to_string(&tests).expect("rules and tests");
    let rules = std::fs::read_to_string(format!("{root}/deploy/export/alerts.yaml")).expect("rules");
    let alerts = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    for alert in alerts {
        let name = format!("alertname: {alert}\n");
        let tested = text.split(&name);
        let fires = tested
            .skip(1)
            .any(|after| after.trim_start().starts_with("exp_alerts:"));
        assert!(fires, "{alert} does not fire in {tests}");
    }
    promtool(&["test", "rules", &tests], "");
}

#[test]
fn the_numbers_are_those_of_the_other_commands() {
    let mut seen: BTreeMap<&str, f64> = BTreeMap::new();
    for source in sources() {
        // Otherwise `explain` assumes more of files than `status`.
        let text = exported(&source, &["--complete"]);
        let samples = samples(&text);
        let mut equal = |what: &'static str, family: &str, labels: &[(&str, &str)], expected: &Value| {
            let expected = expected.as_f64().unwrap_or_default();
            let found = sum(&samples, family, labels);
            assert!(
                (found - expected).abs() < 0.01,
                "{source}: {what} {labels:?}: {found}, not {expected}"
            );
            *seen.entry(what).or_default() += found;
        };
        let json = |args: &[&str]| {
            let run = dra(&[args, &["--from", &source, "--complete", "-o", "json"]].concat()).run();
            let parsed: Value = serde_json::from_str(&run.stdout)
                .unwrap_or_else(|error| panic!("{error}: {source} {args:?}: {}", run.stderr));
            parsed
        };
        let list = |report: &Value, field: &str| report[field].as_array().cloned().unwrap_or_default();
        let status = json(&["status"]);
        for driver in list(&status, "drivers") {
            let label = ("driver", driver["driver"].as_str().expect("a name"));
            let devices = &driver["devices"];
            if devices["unknown"] == 0 {
                for state in ["allocated", "shared", "free", "unavailable"] {
                    equal(
                        "devices",
                        "dra_devices",
                        &[label, ("state", state)],
                        &devices[state],
                    );
                }
            }
            for reason in list(&driver, "unavailableReasons") {
                let labels = [label, ("reason", reason["reason"].as_str().expect("a word"))];
                equal(
                    "unavailable",
                    "dra_devices_unavailable",
                    &labels,
                    &reason["devices"],
                );
            }
            equal("pools", "dra_pools", &[label], &driver["pools"]);
            equal(
                "incomplete",
                "dra_pools_incomplete",
                &[label],
                &driver["incompletePools"],
            );
            equal("units", "dra_units", &[label], &driver["units"]["total"]);
        }
        for state in list(&status["claims"], "states") {
            let label = ("state", state["state"].as_str().expect("a word"));
            equal("claims", "dra_claims", &[label], &state["count"]);
        }
        let all: f64 = ["errors", "warnings", "infos"]
            .iter()
            .map(|level| status["findings"][level].as_f64().expect("a number"))
            .sum();
        equal("findings", "dra_findings", &[], &all.into());
        for usage in list(&status, "usage") {
            let namespace = ("namespace", usage["namespace"].as_str().expect("a name"));
            for used in list(&usage, "drivers") {
                let labels = [namespace, ("driver", used["driver"].as_str().expect("a name"))];
                equal("used", "dra_namespace_devices", &labels, &used["devices"]);
                equal(
                    "idle",
                    "dra_namespace_idle_devices",
                    &labels,
                    &used["idleDevices"],
                );
            }
        }
        for stage in list(&status, "podStages") {
            let label = ("stage", stage["stage"].as_str().expect("a word"));
            equal("stages", "dra_pods_with_devices", &[label], &stage["count"]);
            equal("stuck", "dra_pods_with_devices_stuck", &[label], &stage["stuck"]);
        }
        let entries = list(&json(&["reserved", "-A"]), "items");
        equal("reservations", "dra_reservations", &[], &entries.len().into());
        let explained = json(&["explain", "-A"]);
        let mut codes: BTreeMap<String, usize> = BTreeMap::new();
        for item in list(&explained, "items") {
            let code = item["code"].as_str().expect("a code").to_owned();
            *codes.entry(code).or_default() += item["pods"].as_array().expect("pods").len();
        }
        for (code, pods) in codes {
            let label = ("cause", code.as_str());
            let disturbed = sum(&samples, "dra_disturbed_pods", &[label]);
            let pending = pods as f64 - disturbed;
            equal("pending", "dra_pending_pods", &[label], &pending.into());
        }
    }
    let compared = [
        "devices",
        "unavailable",
        "pools",
        "claims",
        "findings",
        "used",
        "idle",
        "stages",
        "reservations",
        "pending",
    ];
    for what in compared {
        assert!(
            seen.get(what).is_some_and(|sum| *sum > 0.0),
            "no {what}: {seen:?}"
        );
    }
}

/// A file with slices and nothing else, in a folder.
fn only_slices() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("slices.json");
    let slices = r#"{"kind": "ResourceSliceList", "apiVersion": "resource.k8s.io/v1", "metadata": {}, "items": [
        {"metadata": {"name": "s"}, "spec": {"driver": "d", "nodeName": "n", "pool": {"name": "n", "generation": 1,
         "resourceSliceCount": 1}, "devices": [{"name": "a"}, {"name": "b"}]}}]}"#;
    std::fs::write(&file, slices).expect("a file");
    let source = file.display().to_string();
    (folder, source)
}

#[test]
fn what_was_not_read_is_missing_and_never_zero() {
    let (_folder, slices) = only_slices();
    let text = exported(&slices, &[]);
    for line in [
        r#"dra_devices{driver="d",node_pool="",state="unknown"} 2.0"#,
        r#"dra_unread{resource="resourceclaims",namespace=""} 1.0"#,
        r#"dra_unread{resource="pods",namespace=""} 1.0"#,
        r#"dra_unread{resource="nodes",namespace=""} 1.0"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    for missing in [
        "state=\"free\"",
        "dra_claims{",
        "dra_reservations{",
        "dra_pending_",
        "dra_units_used{",
        "dra_devices_unhealthy{",
        "dra_devices_tainted{",
        "dra_class_devices{",
        "dra_namespace_",
        "dra_evictions_planned",
    ] {
        assert!(!text.contains(missing), "{missing}: {text}");
    }
}

#[test]
fn a_file_is_replaced_as_a_whole_and_keeps_its_mode() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("dra.prom");
    std::fs::write(&file, "old").expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    }
    let out = file.display().to_string();
    let printed = exported("example:gpus", &["--out", &out]);
    assert_eq!(printed, "");
    let written = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(written, exported("example:gpus", &[]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a directory").count(), 1);
}

#[test]
fn a_file_is_exported_once() {
    let run = dra(&["export", "--from", "example:gpus"]).run().exits(2);
    assert!(run.stderr.contains("add `--once`"), "{}", run.stderr);
    dra(&["export", "--out", "x.prom", "--from", "example:gpus"])
        .run()
        .exits(2);
    dra(&["export", "--once", "--lease", "a/b", "--from", "example:gpus"])
        .run()
        .exits(2);
}
