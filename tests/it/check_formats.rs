//! `kubectl dra check` for terminals and for other programs: each form holds the findings of the JSON.

use std::collections::BTreeSet;

use quick_junit::{Report, TestCaseStatus};
use serde_json::Value;

use crate::support::command::{dra, dra_snapshot, is_one_word};
use crate::support::process::Screen;
use crate::support::schema::assert_valid;

const EXAMPLES: [&str; 3] = ["example:stale", "example:pending", "example:gpus"];

const SUPPRESSIONS: &str = "\
apiVersion: dra.kubectl.io/v1
kind: SuppressionList
items:
- code: DRA013
  object: resourceclaim/default/foreign
  reason: the render service removes its own entries
  expires: 2999-01-31
- code: reservation-missing
  object: pod/*
  reason: was repaired
  expires: 2001-01-31
- code: DRA001
  object: '*'
  reason: known
  expires: 2999-01-31
";

/// A file with suppressions.
fn suppressions(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("accepted.yaml");
    std::fs::write(&file, text).expect("the file can be written");
    let name = file.to_str().expect("UTF-8").to_owned();
    (folder, name)
}

/// Returns what `check` prints of an example in a format.
fn printed(example: &str, format: &str, more: &[&str]) -> String {
    let args = [&["check", "--from", example, "-o", format], more].concat();
    let run = dra(&args).run();
    assert!(run.code == Some(0) || run.code == Some(1), "{}", run.stderr);
    run.stdout
}

/// `DRA014 pod/default/again` of each finding of the JSON.
fn findings(items: &Value) -> BTreeSet<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = items.as_array().into_iter().flatten();
    items
        .map(|item| {
            let object = &item["object"];
            let parts = [
                text(&object["kind"]).to_lowercase(),
                text(&object["namespace"]),
                text(&object["name"]),
            ];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            format!("{} {}", text(&item["code"]), parts.join("/"))
        })
        .collect()
}

/// The schema of SARIF 2.1.0 as OASIS publishes it.
fn sarif_schema() -> Value {
    let text = include_str!("../data/sarif-2.1.0.schema.json");
    let mut schema: Value = serde_json::from_str(text).expect("JSON");
    // One of its patterns has a bracket too many, which is no regular expression here. No language is written.
    for part in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][part]["properties"]["language"];
        language.as_object_mut().expect("an object").remove("pattern");
    }
    schema
}

#[test]
fn sarif_is_valid_and_has_the_findings_of_the_json() {
    let schema = jsonschema::validator_for(&sarif_schema()).expect("a schema");
    let (_folder, file) = suppressions(SUPPRESSIONS);
    for example in EXAMPLES {
        let more = ["--suppressions", &file];
        let json = assert_valid(&printed(example, "json", &more));
        let sarif: Value = serde_json::from_str(&printed(example, "sarif", &more)).expect("JSON");
        let errors: Vec<String> = schema
            .iter_errors(&sarif)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{example}");
        let run = &sarif["runs"][0];
        let results = run["results"].as_array().expect("results");
        let of = |suppressed: bool| {
            let results = results
                .iter()
                .filter(|result| result["suppressions"].is_array() == suppressed);
            results
                .map(|result| {
                    let rule = result["ruleIndex"].as_u64().expect("a rule") as usize;
                    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
                    let location = &result["locations"][0]["logicalLocations"][0];
                    let object = location["fullyQualifiedName"].as_str().expect("an object");
                    format!("{} {object}", result["ruleId"].as_str().expect("a code"))
                })
                .collect::<BTreeSet<String>>()
        };
        assert_eq!(of(false), findings(&json["items"]), "{example}");
        let suppressed = json["suppressed"].as_array().into_iter().flatten();
        let suppressed: Vec<Value> = suppressed.map(|item| item["finding"].clone()).collect();
        assert_eq!(of(true), findings(&suppressed.into()), "{example}");
    }
}

#[test]
fn junit_can_be_read_and_fails_where_the_exit_code_does() {
    let (_folder, file) = suppressions(SUPPRESSIONS);
    for example in EXAMPLES {
        for fail_on in ["error", "info"] {
            let more = ["--suppressions", &file, "--fail-on", fail_on];
            let json = assert_valid(&printed(example, "json", &more));
            let text = printed(example, "junit", &more);
            let report =
                Report::deserialize_from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let cases: Vec<_> = report
                .test_suites
                .iter()
                .flat_map(|suite| &suite.test_cases)
                .collect();
            assert_eq!(report.tests, cases.len());
            let fails = |severity: &Value| fail_on == "info" || severity == "Error";
            let failed: BTreeSet<String> = cases
                .iter()
                .filter(|case| matches!(case.status, TestCaseStatus::NonSuccess { .. }))
                .map(|case| case.name.to_string())
                .collect();
            let items = json["items"].as_array().expect("items");
            let bad: Vec<Value> = items
                .iter()
                .filter(|item| fails(&item["severity"]))
                .cloned()
                .collect();
            let expected: BTreeSet<String> = findings(&bad.clone().into())
                .iter()
                .map(|finding| {
                    let (code, object) = finding.split_once(' ').expect("a code and an object");
                    let item = bad.iter().find(|item| item["code"] == code).expect("the finding");
                    format!("{code} {}: {object}", item["name"].as_str().expect("a name"))
                })
                .collect();
            assert_eq!(failed, expected, "{example} {fail_on}");
            assert_eq!(report.failures, bad.len());
            let codes = json["checked"]["codes"].as_array().expect("codes").len();
            let found: BTreeSet<&str> = items.iter().filter_map(|item| item["code"].as_str()).collect();
            let skipped = json["suppressed"].as_array().map_or(0, Vec::len);
            assert_eq!(cases.len(), codes - found.len() + items.len() + skipped);
        }
    }
}

#[test]
fn annotations_and_markdown_have_a_line_for_each_finding() {
    for example in EXAMPLES {
        let json = assert_valid(&printed(example, "json", &[]));
        let count = json["items"].as_array().expect("items").len();
        let github = printed(example, "github", &[]);
        assert_eq!(github.lines().count(), count, "{github}");
        for (line, item) in github.lines().zip(json["items"].as_array().expect("items")) {
            let (head, message) = line[2..].split_once("::").expect("a command and its text");
            let (level, title) = head.split_once(" title=").expect("a title");
            let severity = item["severity"].as_str().expect("a severity").to_lowercase();
            assert_eq!(level, severity.replace("info", "notice"), "{line}");
            assert!(
                title.starts_with(item["code"].as_str().expect("a code")),
                "{line}"
            );
            let name = item["object"]["name"].as_str().expect("a name");
            assert!(message.contains(name) && !message.contains('\n'), "{line}");
        }
        let markdown = printed(example, "markdown", &[]);
        let rows = markdown.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(rows, if count == 0 { 0 } else { count + 1 }, "{markdown}");
    }
}

#[test]
fn what_stands_in_a_message_is_no_markup_of_a_format() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("hostile.json");
    let name = "x\"/><failure>|`a`::error::\n%0A&\u{1}<script>";
    let claim = serde_json::json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "n", "name": name, "uid": "u"}, "spec": {},
        "status": {"allocation": {}, "reservedFor": [{"apiGroup": "batch", "resource": "jobs", "name": name, "uid": "j"}]}});
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [claim]});
    std::fs::write(&file, list.to_string()).expect("the file can be written");
    let from = file.to_str().expect("UTF-8");
    let printed = |format: &str| {
        dra(&["check", "--only", "DRA013", "--from", from, "-o", format])
            .run()
            .exits(1)
            .stdout
    };
    let report = Report::deserialize_from_str(&printed("junit")).expect("XML");
    assert_eq!(report.failures, 1);
    assert!(report.test_suites[0].test_cases[0].name.contains("<script>"));
    assert_eq!(printed("github").lines().count(), 1);
    let markdown = printed("markdown");
    assert!(
        !markdown.contains("<script>") || markdown.contains("``"),
        "{markdown}"
    );
    assert_eq!(
        markdown.lines().filter(|line| line.starts_with("| ")).count(),
        2,
        "{markdown}"
    );
    assert!(serde_json::from_str::<Value>(&printed("sarif")).is_ok());
}

#[test]
fn accepted_findings_count_nowhere_and_stale_suppressions_are_reported() {
    let (folder, _) = suppressions(SUPPRESSIONS);
    let check = |more: &[&str]| {
        let args = [
            &[
                "check",
                "--from",
                "example:stale",
                "--suppressions",
                "accepted.yaml",
            ],
            more,
        ]
        .concat();
        dra(&args).current_dir(folder.path())
    };
    dra_snapshot!(check(&["--only", "DRA001,DRA013,DRA014", "-o", "name"]), @"
    exit_code: 1
    ----- stdout -----
    pod/default/again

    ----- stderr -----
    warning: the suppression of DRA014 for pod/* has expired: the finding is reported again
    warning: the suppression of DRA001 for * is stale: it matches no finding; remove it
    1 error in all namespaces
    ");
    dra_snapshot!(check(&["--only", "DRA013"]), @"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    No findings in all namespaces
    ");
    for text in [
        SUPPRESSIONS.replace("DRA013", "DRA999"),
        SUPPRESSIONS.replace("2001-01-31", "2001-02-30"),
        SUPPRESSIONS.replace("reason: known", "why: known"),
        "a: [".to_owned(),
    ] {
        let (folder, _) = suppressions(&text);
        let run = dra(&[
            "check",
            "--from",
            "example:stale",
            "--suppressions",
            "accepted.yaml",
        ])
        .current_dir(folder.path())
        .run()
        .exits(3);
        assert!(
            run.stderr.contains("`accepted.yaml` is invalid: "),
            "{}",
            run.stderr
        );
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_terminal_gets_the_verdict_first_and_a_block_for_each_code() {
    let seen = |columns, example: &str| {
        let run = dra(&["check", "--from", example])
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .run_on_screen(columns, Screen::Stdout);
        run.stdout
    };
    insta::assert_snapshot!(seen(80, "example:stale"), @r#"
    × 2 errors, 5 warnings in all namespaces (read from a file, not confirmed)

    × DRA014 reservation-missing  A pod uses a claim that is not reserved for it
        pod/default/again is on node/gpu-node-1 and uses
          claim/default/pod-recreated, which is not reserved for it: the pod keeps
          running until its sandbox is recreated, but its devices may be allocated
          to others
        fix   no controller recreates pod/default/again: delete it, and apply its
              original manifest again, without spec.nodeName

    × DRA018 pod-on-other-node  A pod is on a node that cannot reach its devices
        pod/default/again is on node/gpu-node-1, which cannot reach the devices of
          claim/default/pod-recreated
        fix   no controller recreates pod/default/again: delete it, and apply its
              original manifest again, without spec.nodeName

    ‼ DRA010 reservation-gone  A claim is reserved for a pod or PodGroup that does
      not exist
        resourceclaim/default/pod-gone is reserved for pod/default/gone, which does
          not exist: its devices stay allocated, unused, until the claim controller
          removes the entry
        fix   kubectl label resourceclaim/pod-gone --namespace=default \
                dra.kubectl.io/checked=again --overwrite

    ‼ DRA011 reservation-ended  A claim is reserved for a pod that has finished
        resourceclaim/default/pod-done is reserved for pod/default/done, which has
          finished: its devices stay allocated, unused, until the claim controller
          removes the entry
        fix   kubectl label resourceclaim/pod-done --namespace=default \
                dra.kubectl.io/checked=again --overwrite

    ‼ DRA012 reservation-replaced  A claim is reserved for an earlier pod or
      PodGroup of the same name
        resourceclaim/default/pod-recreated is reserved for an earlier
          pod/default/again with UID 37b74c3f-02d8-41d0-b320-7809f957c516: its
          devices stay allocated, unused, until the claim controller removes the
          entry
        fix   kubectl label resourceclaim/pod-recreated --namespace=default \
                dra.kubectl.io/checked=again --overwrite

    ‼ DRA013 reservation-foreign  A claim is reserved for a consumer that is neither
      a pod nor a PodGroup
        resourceclaim/default/foreign is reserved for jobs.batch/default/render,
          which no controller of Kubernetes removes: its devices stay allocated
          until its owner removes the entry
        fix   kubectl dra convert claim/default/foreign --kind=jobs.batch --yes

    ‼ DRA015 reservation-none  A claim holds devices without a consumer
        resourceclaim/default/unreserved holds 1 device but is reserved for no
          consumer: no pod on a node uses it, and no controller deallocates it
        fix   kubectl patch resourceclaim/unreserved --namespace=default \
                --subresource=status --type=json -p \
                '[{"op":"replace","path":"/metadata/resourceVersion","value":"306"},{"op":"remove","path":"/status/allocation"}]'

    More: kubectl dra check --explain=DRA014
    "#);
    insta::assert_snapshot!(seen(80, "example:gpus"), @"
    √ No findings in all namespaces: 61 checks on 9 claims, 7 pods, 48 devices, 3
      nodes
    ");
    for columns in [60, 80, 120, 200] {
        for example in EXAMPLES {
            let text = seen(columns, example);
            let too_long = text
                .lines()
                .find(|line| line.chars().count() > usize::from(columns) && !is_one_word(line));
            assert_eq!(too_long, None, "{example} {columns}");
        }
    }
}

#[test]
fn the_page_of_a_code_is_part_of_the_program() {
    dra_snapshot!(["check", "--explain", "reservation-missing"], @"
    exit_code: 0
    ----- stdout -----
    DRA014: A pod uses a claim that is not reserved for it

    `reservation-missing`, Error unless noted otherwise. Reported by `kubectl dra check`.

    What it means

    A pod is on a node and references an allocated claim that is not reserved for it. The kubelet does not start a pod without a reservation; a running pod keeps running until its sandbox is recreated. The claim's devices are freed when the reserved pods finish; two pods may then share them.

    This happens to pods that were placed on a node by hand (`spec.nodeName`), and when `status.reservedFor` was changed.

    What to do

    Replace the pod; the scheduler reserves the claim for a pod that it places. The fix deletes the pod if a controller recreates it. Recreate a pod without a controller from its manifest, without `spec.nodeName`. If the claim controller runs, it adds the reservation automatically for pods that are not members of a PodGroup.

    see https://github.com/kubectl-dra/kubectl-dra/blob/main/docs/reference/findings/DRA014.md

    ----- stderr -----
    ");
    let run = dra(&["check", "--explain", "DRA014", "-o", "json"]).run();
    assert_valid(&run.stdout);
    for wrong in [
        &["--explain", "DRA999"][..],
        &["--explain", "DRA014", "--only", "DRA013"],
    ] {
        dra(&[&["check"], wrong].concat()).run().exits(2);
    }
}
