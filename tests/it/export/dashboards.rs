//! Dashboards, alerts and queries of the documentation: their metrics exist, and Prometheus answers them on recorded clusters.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::{exported, is_installed, only_slices, sources};
use crate::documentation::broken;
use crate::support::prometheus::Prometheus;
use crate::support::wait::wait_for;

const FOLDER: &str = "deploy/export/dashboards";
const DASHBOARDS: [&str; 2] = ["cluster", "fleet"];

/// Families that are documented and that no query uses.
const NOT_USED: &[(&str, &str)] = &[
    ("dra_pending_pods_without_devices", "they are not about devices"),
    ("dra_claim_info", "only with --per-claim"),
    ("dra_claim_devices", "only with --per-claim"),
    ("dra_claim_created_timestamp_seconds", "only with --per-claim"),
    (
        "kubectl_dra_rechecks_total",
        "the exporter exits if the cluster differs",
    ),
    (
        "kubectl_dra_watch_troubles_total",
        "kubectl_dra_watch_in_step is about now",
    ),
    (
        "kubectl_dra_cluster_differs",
        "the exporter exits if the cluster differs",
    ),
];

/// Queries of panels without an answer on a recorded cluster: no exporter that works has these states.
const EMPTY: [&str; 4] = [
    "cluster: Gaps B",
    "cluster: Gaps C",
    "cluster: Gaps D",
    "cluster: Gaps F",
];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}"))
}

fn dashboards() -> [Value; 2] {
    DASHBOARDS.map(|name| serde_json::from_str(&read(&format!("{FOLDER}/{name}.json"))).expect("JSON"))
}

/// A query, with its place.
struct Query {
    place: String,
    expr: String,
    /// The condition of an alert, which `promtool test rules` makes true.
    is_condition: bool,
}

fn queries() -> Vec<Query> {
    let mut queries = Vec::new();
    let mut add = |place: String, expr: &str, is_condition| {
        queries.push(Query {
            place,
            expr: expr.to_owned(),
            is_condition,
        });
    };
    for (dashboard, name) in dashboards().iter().zip(DASHBOARDS) {
        for panel in list(&dashboard["panels"]) {
            for target in list(&panel["targets"]) {
                let place = format!("{name}: {} {}", text(&panel["title"]), text(&target["refId"]));
                add(place, text(&target["expr"]), false);
            }
        }
    }
    let rules: Value = serde_saphyr::from_str(&read("deploy/export/alerts.yaml")).expect("YAML");
    for rule in list(&rules["groups"][0]["rules"]) {
        add(text(&rule["alert"]).to_owned(), text(&rule["expr"]), true);
    }
    let page = read("docs/how-to/monitor.md");
    let (_, questions) = page
        .split_once("| Question | Query |")
        .expect("a table of queries");
    for line in questions
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with('|'))
    {
        for query in line.split('`').skip(1).step_by(2) {
            add(format!("monitor.md: {line}"), query, false);
        }
    }
    queries
}

/// Metrics in a text.
fn families(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = words.filter(|word| word.starts_with("dra_") || word.starts_with("kubectl_dra_"));
    names
        .map(|name| {
            let histogram = [("_bucket", "_duration_seconds"), ("_count", "_duration_seconds")];
            let family = histogram
                .iter()
                .find_map(|(end, family)| name.strip_suffix(end).filter(|rest| rest.ends_with(family)));
            family.unwrap_or(name)
        })
        .collect()
}

#[test]
fn queries_use_the_families_that_are_documented() {
    let page = read("docs/reference/metrics.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: BTreeSet<&str> = rows
        .filter_map(|row| row.split('`').next())
        .filter(|name| name.starts_with("dra_") || name.starts_with("kubectl_dra_"))
        .collect();
    let queries = queries();
    let mut used: BTreeSet<&str> = queries.iter().flat_map(|query| families(&query.expr)).collect();
    for (family, why) in NOT_USED {
        assert!(used.insert(family), "{family} is used, although {why}");
    }
    assert_eq!(used, documented);
}

/// Samples of clusters at a time, in seconds: lines of OpenMetrics.
fn write(samples: &mut String, cluster: &str, page: &str, time: u64) {
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').expect("a sample");
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let comma = if labels == "}" { "" } else { "," };
        // A string takes whatever is written.
        _ = writeln!(
            samples,
            "{name}{{cluster=\"{cluster}\"{comma}{labels} {value} {time}"
        );
    }
}

#[test]
fn prometheus_answers_each_query_on_a_recorded_cluster() {
    if !is_installed("prometheus") {
        return;
    }
    // The time of a step of each subquery.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.expect("a time after 1970").as_secs() / 600 * 600;
    let before = |minutes: u64| now - 60 * minutes;
    let mut samples = String::new();
    let (_folder, slices) = only_slices();
    let sources = [sources(), vec![slices]].concat();
    for source in &sources {
        let page = exported(source, &[]);
        for time in [before(4), now] {
            write(&mut samples, source, &page, time);
        }
    }
    let mut clusters: Vec<&str> = sources.iter().map(String::as_str).collect();
    // What an exporter served beside a real control plane.
    clusters.push("served");
    for (file, time) in [("before", before(4)), ("after", now)] {
        write(
            &mut samples,
            "served",
            &read(&format!("tests/data/prometheus/{file}.prom")),
            time,
        );
    }
    write(&mut samples, "silent", &exported(&sources[0], &[]), before(60));
    let prometheus = Prometheus::with(&samples);
    wait_for("Prometheus has its data", || {
        let answer = prometheus.query("dra_cluster_info", Some(now))?;
        (!list(&answer["data"]["result"]).is_empty()).then_some(())
    });
    let mut wrong = String::new();
    for Query {
        place,
        expr,
        is_condition,
    } in queries()
    {
        let is_answered = clusters.iter().any(|cluster| {
            let expr = expr
                .replace("=~\"$cluster\"", "=~\".*\"")
                .replace("$cluster", cluster)
                .replace("$driver", ".*")
                .replace("$__rate_interval", "10m");
            assert!(!expr.contains('$'), "{place}: {expr}");
            let answer = prometheus.query(&expr, Some(now)).expect("an answer");
            assert_eq!(answer["status"], "success", "{place}: {answer}");
            !list(&answer["data"]["result"]).is_empty()
        });
        let is_empty = EMPTY.contains(&place.as_str());
        if !is_condition && is_answered == is_empty {
            _ = writeln!(wrong, "{place}: answered: {is_answered}: {expr}");
        }
    }
    assert_eq!(wrong, "");
}

/// The place of a panel on the 24 columns of a dashboard.
fn cells(panel: &Value) -> impl Iterator<Item = (u64, u64)> {
    let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().expect("a number"));
    (x..x + w).flat_map(move |column| (y..y + h).map(move |line| (column, line)))
}

#[test]
fn panels_have_a_place_a_description_and_links_that_lead_somewhere() {
    for (dashboard, name) in dashboards().iter().zip(DASHBOARDS) {
        let variables: Vec<&str> = list(&dashboard["templating"]["list"])
            .iter()
            .map(|variable| text(&variable["name"]))
            .collect();
        let (mut ids, mut taken) = (BTreeSet::new(), BTreeSet::new());
        for panel in list(&dashboard["panels"]) {
            let title = format!("{name}: {}", text(&panel["title"]));
            assert!(
                ids.insert(panel["id"].as_u64()),
                "{title}: its id is that of another one"
            );
            for cell in cells(panel) {
                assert!(cell.0 < 24 && taken.insert(cell), "{title}: {cell:?} is taken");
            }
            if panel["type"] != "row" {
                assert!(
                    text(&panel["description"]).ends_with('.'),
                    "{title}: no description"
                );
                assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
            }
        }
        let whole = dashboard.to_string();
        for named in whole.split('$').skip(1) {
            let named = named.trim_start_matches('{');
            let end = named.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (variable, _) = named.split_at(end.expect("a text ends with a quote"));
            assert!(
                variables.contains(&variable) || variable.starts_with("__"),
                "{name}: ${variable} is not a variable"
            );
        }
        let mut links = 0;
        for url in whole
            .split("\"url\":\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            let url = url.replace("${__value.raw}", "DRA001");
            if let Some(link) = url.strip_prefix("/d/kubectl-dra-") {
                let (other, _) = link.split_once('?').expect("variables");
                assert!(DASHBOARDS.contains(&other), "{name}: {url}");
            } else {
                assert_eq!(broken(Path::new("README.md"), &url), None, "{name}: {url}");
            }
            links += 1;
        }
        assert!(links > 3, "{name}");
        assert_eq!(dashboard["uid"], format!("kubectl-dra-{name}"));
    }
}
