//! `kubectl dra report`: a web page with what the other commands print.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::export::sources;
use crate::support::command::{dra, on_screen};
use dra_testing::effort::{by_effort, some_of};

const NOW: &str = "--now=2026-11-21T11:00:00Z";

/// The most bytes of a page.
const MOST: usize = 2_000_000;

/// The page of a source.
fn page(source: &str, more: &[&str]) -> String {
    let args = [&["report", "--from", source, NOW], more].concat();
    dra(&args).run().exits(0).stdout
}

/// `text` without each part from `begin` to `end`.
fn without(text: &str, begin: &str, end: &str) -> String {
    let mut parts = text.split(begin);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once(end).map_or("", |(_, rest)| rest)
    })
}

/// The page without what only makes it look and move.
pub(crate) fn content(page: &str) -> String {
    let page = without(page, "<style>", "</style>\n");
    let page = without(&page, "<script>", "</script>\n");
    without(&page, "<meta http-equiv=", ">\n")
}

/// What people read of it, words separated by single spaces.
fn words(page: &str) -> String {
    let mut text = String::new();
    for (number, part) in content(page).split('<').enumerate() {
        let (tag, after) = match number {
            0 => ("", part),
            _ => part.split_once('>').expect("a tag ends"),
        };
        let is_inline = tag == "/b" || tag.starts_with("b class") || tag == "code" || tag == "/code";
        if !is_inline {
            text.push(' ');
        }
        text.push_str(after);
    }
    let marks = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let text = marks
        .iter()
        .fold(text, |text, (mark, plain)| text.replace(mark, plain));
    plain(&text)
}

/// A key has a colon on a terminal only, and a task a box of its own characters.
fn plain(text: &str) -> String {
    text.replace(':', "")
        .replace("[ ] ", "")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_page_has_a_section_for_each_question() {
    insta::assert_snapshot!(content(&page("example:gpus", &[])));
}

#[test]
fn each_line_of_the_commands_is_on_the_page() {
    let commands: [&[&str]; 6] = [
        &["status"],
        &["status", "--by=owner"],
        &["explain", "-A", "--details"],
        &["check", "--details"],
        &["simulate", "eviction"],
        &["convert", "plan", "--to-version=1.36"],
    ];
    let mut lines = BTreeSet::new();
    for source in some_of(&sources(), 6) {
        let page = words(&page(source, &["--to-version=1.36", "--complete"]));
        for command in commands {
            let args = [command, &["--from", source, NOW, "--complete"]].concat();
            let run = on_screen(dra(&args), 2_000);
            for line in run
                .stdout
                .lines()
                .map(plain)
                // The page has more rows than a terminal, and commands of its own.
                .filter(|line| {
                    let is_command = line.starts_with("More ") || line.starts_with("Pending kubectl ");
                    !is_command && !line.contains(" more ")
                })
            {
                assert!(
                    page.contains(&line),
                    "{source} {command:?}: {line}\nis not in {page}"
                );
                lines.insert(line);
            }
        }
    }
    assert!(lines.len() > 50, "{lines:?}");
}

#[test]
fn a_page_about_one_namespace_has_the_claims_of_that_one() {
    let claims = |more: &[&str]| {
        let page = page("example:gpus", more);
        let (_, claims) = page.split_once("<section id=\"s=claims\"").expect("claims");
        let (claims, _) = claims
            .split_once("<section id=\"s=evictions\"")
            .expect("the next section");
        claims.matches("<tr><td>").count()
    };
    let all = claims(&[]);
    let some = claims(&["-n", "inference"]);
    assert!(some > 0 && some < all, "{some} of {all}");
}

#[test]
fn a_release_that_is_none_to_go_back_to_has_no_plan() {
    let page = words(&page("example:gpus", &["--to-version=1.38"]));
    assert!(page.contains("Downgrade to 1.38"), "{page}");
    assert!(page.contains("--to-version"), "{page}");
}

#[test]
fn a_file_has_what_standard_output_gets_and_is_for_its_owner() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("page.html");
    let out = file.to_str().expect("UTF-8");
    let run = dra(&["report", "--from", "example:gpus", NOW, "--out", out])
        .run()
        .exits(0);
    assert_eq!(run.stdout, "");
    let expected = page("example:gpus", &["--out=-"]);
    assert_eq!(std::fs::read_to_string(&file).expect("the page"), expected);
    let mode = file.metadata().expect("metadata").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let input = folder.path().join("input.json");
    std::fs::write(&input, large(1, 1).to_string()).expect("a file");
    let input = input.to_str().expect("UTF-8");
    dra(&["report", "--from", input, "--out", input]).run().exits(2);
}

/// A cluster whose nodes have eight devices each, and so many claims of a hundred namespaces. No two nodes look the same but for the last ten,
/// which are unused. Some devices are tainted, and some pods are pending.
fn large(nodes: usize, claims: usize) -> Value {
    let node = |number: usize| format!("gpu-node-{number}");
    let of_node = (0..nodes).flat_map(|number| {
        let devices: Vec<Value> = (0..8)
            .map(|device| {
                let taints = if (number + device) % 97 == 0 {
                    json!([{"key": "example.com/broken", "effect": "NoExecute", "timeAdded": "2026-11-21T10:00:00Z"}])
                } else {
                    json!([])
                };
                json!({"name": format!("gpu-{device}"), "attributes": {"index": {"int": device}}, "taints": taints})
            })
            .collect();
        [
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node(number), "uid": format!("n{number}")},
                "status": {"conditions": [{"type": "Ready", "status": "True"}],
                    "nodeInfo": {"kubeletVersion": "v1.37.1"}, "allocatable": {"pods": "110"}}}),
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                "metadata": {"name": node(number), "uid": format!("s{number}")},
                "spec": {"driver": "gpu.example.com", "nodeName": node(number), "devices": devices,
                    "pool": {"name": node(number), "generation": 1, "resourceSliceCount": 1}}}),
        ]
    });
    let of_claim = (0..claims).flat_map(|number| {
        let (namespace, pod) = (format!("team-{}", number * 31 % 100), format!("trainer-{number}"));
        let used = nodes.saturating_sub(10).max(1);
        let (place, device) = (number % used, number / used * 3 % 8);
        let is_placed = number < used * 8 && number % 7 > 0;
        let mut claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": pod, "namespace": namespace, "uid": format!("c{number}"), "creationTimestamp": "2026-11-20T00:00:00Z"},
            "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}});
        let mut object = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": pod, "namespace": namespace, "uid": format!("p{number}"), "creationTimestamp": "2026-11-20T00:00:00Z"},
            "spec": {"containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
                "resourceClaims": [{"name": "gpu", "resourceClaimName": pod}]},
            "status": {"phase": "Pending", "resourceClaimStatuses": []}});
        if is_placed {
            claim["status"] = json!({"allocation": {"devices": {"results": [{"request": "gpu", "driver": "gpu.example.com",
                "pool": node(place), "device": format!("gpu-{device}")}]}},
                "reservedFor": [{"resource": "pods", "name": pod, "uid": format!("p{number}")}]});
            object["spec"]["nodeName"] = node(place).into();
            object["status"]["phase"] = "Running".into();
        }
        [claim, object]
    });
    let class = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu.example.com"}, "spec": {}});
    let items: Vec<Value> = std::iter::once(class).chain(of_node).chain(of_claim).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// The file of a large cluster, and the page made of it.
fn large_page(folder: &Path, nodes: usize, claims: usize) -> (PathBuf, String) {
    let file = folder.join("large.json");
    std::fs::write(&file, large(nodes, claims).to_string()).expect("a file");
    let page = page(
        file.to_str().expect("UTF-8"),
        &["--complete", "--kubernetes-version=1.37"],
    );
    (file, page)
}

#[test]
fn a_page_of_a_large_cluster_has_each_node_and_counts_what_it_leaves_out() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (nodes, claims) = by_effort((500, 3_000), (5_000, 100_000), (5_000, 100_000));
    let (file, page) = large_page(folder.path(), nodes, claims);
    assert!(page.len() < MOST, "{} bytes", page.len());
    let words = words(&page);
    let listed = dra(&[
        "claims",
        "-A",
        "-o",
        "name",
        "--from",
        file.to_str().expect("UTF-8"),
    ])
    .run()
    .exits(0);
    let claims = listed.stdout.lines().count();
    let (_, section) = page.split_once("<section id=\"s=claims\"").expect("claims");
    let (section, _) = section
        .split_once("<section id=\"s=evictions\"")
        .expect("the next section");
    let shown = section.matches("<tr><td>").count();
    assert!(shown <= claims);
    let rest = claims - shown;
    assert_eq!(
        words.contains(" more rows More kubectl dra claims"),
        rest > 0,
        "{shown} of {claims}"
    );
    let (_, map) = page.split_once("<section id=\"s=devices\"").expect("devices");
    let (map, _) = map.split_once("</table>").expect("a table");
    let devices: usize = map.matches("gpu-node-").count();
    assert!(devices >= by_effort(400, 4_000, 4_000), "{devices} nodes");
}

/// A browser, and the directory with the programs that `tests/browser/package.json` names. If they are not there, the test says that it tries
/// nothing, and fails with `KUBECTL_DRA_TEST_BROWSER=required`.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/browser/node_modules");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = |name: &str| {
        let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
        places.find(|place| place.is_file())
    };
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(program);
    let found = browser.filter(|_| program("node").is_some() && modules.join("puppeteer-core").exists());
    if found.is_none() {
        assert!(
            std::env::var_os("KUBECTL_DRA_TEST_BROWSER").is_none(),
            "Chromium, Node.js or {} is missing: run `make report-check`",
            modules.display()
        );
        // Straight to the stream, since the test harness hides what the print macros write.
        let _ = writeln!(
            std::io::stderr(),
            "warning: pages were NOT tried in a browser: `make report-check` does"
        );
    }
    Some((found?, modules))
}

#[test]
fn a_browser_shows_searches_and_filters_pages() {
    let Some((browser, modules)) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str, page: String| {
        let file = folder.path().join(name);
        std::fs::write(&file, page).expect("a page");
        file
    };
    let hostile = crate::hostile::page::hostile_page();
    let files = [
        file("gpus.html", page("example:gpus", &[])),
        file("pending.html", page("example:pending", &[])),
        file("stale.html", page("example:stale", &[])),
        file("hostile.html", hostile),
        file("large.html", large_page(folder.path(), 5_000, 10_000).1),
        file(
            "explain.html",
            dra(&[
                "explain",
                "pod/too-many",
                "--from",
                "example:pending",
                "-o",
                "html",
            ])
            .run()
            .stdout,
        ),
    ];
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/report.js");
    let output = Command::new("node")
        .arg(script)
        .arg(browser)
        .args(&files)
        .env("NODE_PATH", modules)
        .output()
        .expect("node starts");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let _ = write!(std::io::stderr(), "{said}");
    assert!(output.status.success(), "{said}");
}
