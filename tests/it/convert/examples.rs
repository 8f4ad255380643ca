//! The script and the Job of docs/examples: what they do for each exit code, and which rights they ask for.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::process::{Invocation, Run, write_program};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples");

/// Runs the script with a kubectl that ends with `convert` and `verify`, and writes down what it was asked.
fn run(args: &[&str], convert: i32, verify: i32) -> (Run, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let kubectl = folder.path().join("kubectl");
    let log = folder.path().join("log");
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {}\ncase \"$*\" in *verify*) exit {verify} ;; *) exit {convert} ;; esac\n",
        log.display()
    );
    write_program(&kubectl, &script);
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let run = Invocation::new(Path::new(EXAMPLES).join("pre-downgrade.sh"))
        .args(args)
        .env("PATH", path)
        .run();
    (run, std::fs::read_to_string(log).unwrap_or_default())
}

#[test]
fn the_script_goes_by_exit_codes() {
    for (convert, verify, expected) in [
        (0, 0, 0),
        (0, 1, 1),
        // What was left by the conversion may have ended meanwhile.
        (1, 0, 0),
        (1, 1, 1),
        (0, 4, 4),
        (2, 0, 2),
        (3, 0, 3),
        (4, 0, 4),
        (130, 0, 130),
    ] {
        let (run, log) = run(&["before", "1.36"], convert, verify);
        assert_eq!(run.code, Some(expected), "{convert} {verify}: {}", run.stderr);
        assert_eq!(log.contains("verify"), convert < 2, "{log}");
    }
    for args in [
        &[][..],
        &["after", "1.36"],
        &["before"],
        &["final", "1.36", "more"],
    ] {
        let (run, log) = run(args, 0, 0);
        assert_eq!((run.code, log.as_str()), (Some(2), ""), "{args:?}");
    }
}

#[test]
fn the_last_phase_says_that_the_gates_are_off() {
    let (_, log) = run(&["final", "1.35"], 0, 0);
    assert_eq!(
        log,
        "dra convert --to-version 1.35 --final --settle 30s --yes --scheduler-feature-gates DRAWorkloadResourceClaims=false \
         --kcm-feature-gates DRAWorkloadResourceClaims=false\ndra convert verify\n"
    );
}

#[test]
fn the_job_asks_for_no_right_too_many() {
    let text =
        std::fs::read_to_string(Path::new(EXAMPLES).join("pre-downgrade-job.yaml")).expect("the manifest");
    let documents: Vec<Value> = text
        .split("\n---\n")
        .map(|document| serde_saphyr::from_str(document).expect("YAML"))
        .collect();
    let kinds: Vec<&str> = documents
        .iter()
        .map(|document| document["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(
        kinds,
        [
            "ServiceAccount",
            "ClusterRole",
            "ClusterRoleBinding",
            "PersistentVolumeClaim",
            "Job"
        ]
    );
    let rules = documents[1]["rules"].as_array().expect("rules");
    let writes: Vec<&Value> = rules
        .iter()
        .filter(|rule| rule["verbs"] != json!(["get", "list"]) && rule["verbs"] != json!(["get"]))
        .map(|rule| &rule["resources"][0])
        .collect();
    assert_eq!(
        json!(writes),
        json!(["resourceclaims/status", "resourceclaims/binding"])
    );
    assert!(!text.contains("\"*\"") && !text.contains("['*']"));
    let pod = &documents[4]["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], documents[0]["metadata"]["name"]);
    assert_eq!(pod["containers"][0]["command"][1], "/script/pre-downgrade.sh");
}
