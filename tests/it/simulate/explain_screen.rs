//! Terminal output of `explain`: the answer first, and nothing wider than the terminal.

use super::explain::pending;
use super::on;
use crate::support::cluster::Recorded;
use crate::support::command::is_one_word;
use crate::support::process::{Run, Screen};
use dra_testing::effort::some_of;

fn shown(pod: &str, snapshot: &str, columns: u16) -> Run {
    let invocation = on(&["explain", pod], snapshot);
    let terminal = invocation
        .env("TERM", "xterm")
        .env("LANG", "C.UTF-8")
        .env("NO_COLOR", "1");
    terminal.run_on_screen(columns, Screen::Stdout)
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (file, pod) in pending() {
        for columns in some_of(&[60, 80, 120, 200], 1).copied() {
            let run = shown(&format!("pod/{pod}"), &file, columns);
            let text = &run.stdout;
            for line in text.lines() {
                let width = line.chars().count();
                assert!(
                    width <= columns.into() || is_one_word(line),
                    "{file} {pod}: {width} of {columns} columns\n{text}"
                );
            }
            let object = format!("pod/default/{pod}");
            let first = text.lines().next().unwrap_or_default();
            assert!(first.contains(&object), "{file} {pod}: {text}");
        }
    }
}

#[test]
fn the_cause_comes_first() {
    let run = shown("pod/not-enough-free", "unschedulable-pods", 80);
    let above: Vec<&str> = run.stdout.lines().take(10).collect();
    assert_eq!(
        above,
        [
            "× pod/default/not-enough-free is pending: no node has 3 available H100-SXM5-80GB",
            "  devices",
            "",
            "Nodes:",
            "  NODE         WANTED   AVAILABLE   WHY",
            "  gpu-node-1   3        1           6 in use, 1 tainted",
            "  gpu-node-2   3        0           8 tainted",
            "  gpu-node-4   3        0           model is \"A100-SXM4-80GB\"",
            "  gpu-node-3                        pool incomplete: 1 of 2 slices",
            "",
        ],
        "{}",
        run.stdout
    );
}

#[test]
fn the_page_has_our_sentence_beside_the_words_of_the_scheduler() {
    let snapshot = "unschedulable-pods";
    let mut rows = String::new();
    for pod in Recorded::read(snapshot).pending() {
        let name = pod["metadata"]["name"].as_str().expect("a name");
        let conditions = pod["status"]["conditions"].as_array();
        let scheduled = conditions
            .into_iter()
            .flatten()
            .find(|condition| condition["type"] == "PodScheduled");
        let said = scheduled.map_or("nothing", |condition| {
            condition["message"].as_str().unwrap_or("nothing")
        });
        let run = shown(&format!("pod/{name}"), snapshot, 2000);
        let first = run.stdout.lines().next().unwrap_or_default();
        let sentence = first
            .split_once(&format!("pod/default/{name} "))
            .map_or(first, |(_, sentence)| sentence);
        rows.push_str(&format!("| `{name}` | {sentence} | {said} |\n"));
    }
    let page = include_str!("../../../docs/reference/commands/explain.md");
    assert!(
        page.contains(&rows),
        "docs/reference/commands/explain.md has to have these rows:\n{rows}"
    );
}

#[test]
fn a_pod_has_the_short_name_of_kubectl() {
    let [short, long] = ["po/too-many", "pod/too-many"].map(|pod| {
        let run = on(&["explain", pod], "unschedulable-pods").run();
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        // The last line repeats the command as typed.
        run.stdout.replace("explain po/", "explain pod/")
    });
    assert_eq!(short, long);
}
