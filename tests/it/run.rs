//! `run` beside an API server whose watches show nothing: it must not be content.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::command::dra;
use crate::support::fake::{Fake, Watched};
use crate::support::wait::wait_for;

fn world() -> Vec<Value> {
    vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "uid": "u"}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "u",
            "resourceVersion": "7"}, "spec": {"containers": [{"name": "c", "image": "x"}]}}),
    ]
}

const GATES: [&str; 2] = [
    "--scheduler-feature-gates=DRAWorkloadResourceClaims=true",
    "--kcm-feature-gates=DRAWorkloadResourceClaims=true",
];

#[test]
fn silent_watches_are_reported_and_the_answer_is_unknown() {
    const BOOKMARK: &str =
        r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"5"}}}"#;
    let cases: &[(&str, Watched, &str)] = &[
        (
            "ends immediately",
            Watched::Says(""),
            "closes each watch before it reports a change",
        ),
        (
            "ends within the first event",
            Watched::Says(r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"na"#),
            "closes each watch before it reports a change",
        ),
        (
            "an empty line",
            Watched::Says("\n\n"),
            "closes each watch before it reports a change",
        ),
        (
            "no event",
            Watched::Says("{}\n"),
            "closes each watch before it reports a change",
        ),
        (
            "an unknown event",
            Watched::Says("{\"type\":\"CHANGED\",\"object\":{\"metadata\":{\"name\":\"p\"}}}\n"),
            "closes each watch before it reports a change",
        ),
        (
            "an object without a name",
            Watched::Says("{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n"),
            "closes each watch before it reports a change",
        ),
        (
            "HTML",
            Watched::Says("<html><body>Sign in</body></html>"),
            "cannot watch",
        ),
        (
            "a list",
            Watched::Says(r#"{"kind":"PodList","metadata":{"resourceVersion":"100"},"items":[]}"#),
            "watch",
        ),
        (
            "410 as an event",
            Watched::Says(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}"#),
            "closes each watch before it reports a change",
        ),
        (
            "410 as an answer",
            Watched::Refused(410),
            "closes each watch before it reports a change",
        ),
        (
            "bookmarks of the past",
            Watched::Says(BOOKMARK),
            "reports version 5 after 100",
        ),
    ];
    for (name, does, expected) in cases {
        let does = does.clone();
        let server = Fake::with_watches(world(), move |resource, _| match resource {
            "pods" => does.clone(),
            _ => Watched::Quiet,
        });
        let run = dra(&["run", "-o", "json", "--recheck=0s"])
            .args(server.flags())
            .args(GATES)
            .start_unguarded();
        let lists = || {
            let asked = server.asked();
            let lists = asked
                .iter()
                .filter(|asked| asked.starts_with("GET /api/v1/pods") && !asked.contains("watch=true"));
            lists.count()
        };
        wait_for(name, || run.stderr().contains(expected).then_some(()));
        wait_for(&format!("{name}: it is listed anew"), || {
            (lists() >= 3).then_some(())
        });
        run.signal(Signal::INT);
        let run = run.finish().exits(4);
        let report: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {run:?}"));
        assert_eq!(report["items"], json!([]), "{name}");
        let unknown = report["unknown"].to_string();
        assert!(
            unknown.contains("pods: ") && unknown.contains("watch"),
            "{name}: {unknown}"
        );
        assert!(run.stderr.contains("changes were not seen"), "{name}: {run:?}");
    }
}

#[test]
fn a_table_does_not_say_that_all_is_well_where_nothing_was_seen() {
    let server = Fake::with_watches(world(), |_, _| Watched::Says("{"));
    let run = dra(&["run", "--recheck=0s"])
        .args(server.flags())
        .args(GATES)
        .start_unguarded();
    wait_for("a warning", || {
        run.stderr().contains("before it reports a change").then_some(())
    });
    run.signal(Signal::INT);
    let run = run.finish().exits(4);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        said.contains("Cannot tell whether the built-in controllers follow the rules"),
        "{said}"
    );
}

/// Whoever sees nothing of the built-in controllers has not seen that they are off.
#[test]
fn nothing_is_taken_over_where_nothing_is_seen() {
    let server = Fake::with_watches(world(), |_, _| Watched::Says("{"));
    let run = dra(&["run", "--take-over", "--observe=10s", "--recheck=0s"])
        .args(server.flags())
        .args(GATES)
        .run()
        .exits(4);
    assert!(run.stderr.contains("changes were not seen"), "{run:?}");
}

#[test]
fn watches_that_fail_once_or_are_quiet_are_no_trouble() {
    let server = Fake::with_watches(world(), |_, before| match before {
        0 => Watched::Says(""),
        1 => {
            Watched::Says("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"101\"}}}\n")
        }
        _ => Watched::Quiet,
    });
    let run = dra(&["run", "-o", "json", "--recheck=0s"])
        .args(server.flags())
        .args(GATES)
        .start_unguarded();
    wait_for("each kind is watched again", || {
        let asked = server.asked();
        let again = asked
            .iter()
            .filter(|asked| asked.contains("/pods?watch") || asked.contains("resourceVersion=101"));
        (again.count() >= 3).then_some(())
    });
    run.signal(Signal::INT);
    let run = run.finish().exits(0);
    assert!(!run.stdout.contains("unknown"), "{run:?}");
}
