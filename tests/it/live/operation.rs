//! `run` for long: through restarts, lost rights and dead connections, with its log, its probes and its metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use http::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::cluster::objects::{
    Manifest, claim, claim_spec, gpu, namespace, pod, taint, taint_rule, template,
};
use crate::support::cluster::{Cluster, Component, Options, User};
use crate::support::process::{Process, Screen};
use crate::support::wait::wait_for;

const KINDS: [(&str, &str); 6] = [
    ("", "pods"),
    ("scheduling.k8s.io", "podgroups"),
    ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "resourceclaimtemplates"),
    ("resource.k8s.io", "resourceslices"),
    ("resource.k8s.io", "devicetaintrules"),
];

/// The rights to look at everything but one kind.
fn rights_without(missing: &str) -> Value {
    let rules = KINDS.into_iter().filter(|(_, resource)| *resource != missing);
    rules
        .map(|(group, resource)| {
            json!({"apiGroups": [group], "resources": [resource], "verbs": ["get", "list", "watch"]})
        })
        .collect()
}

/// Arguments of a `run` with probes.
pub(super) const PROBES: [&str; 2] = ["--metrics-address", "127.0.0.1:0"];

/// `run` with probes, and where they are.
pub(super) struct Operated {
    pub(super) process: Process,
    address: String,
}

impl Operated {
    pub(super) fn start(user: &User, more: &[&str]) -> Self {
        let args = ["run", "--log-format", "json"].into_iter().chain(PROBES);
        Self::of(user.kubectl_dra(args).args(more).start())
    }

    /// A `run` that was started with [`PROBES`], once it is ready.
    pub(super) fn of(process: Process) -> Self {
        let address = wait_for("it listens", || {
            let stderr = process.stderr();
            let after = stderr.split("serving metrics and probes on ").nth(1)?;
            let end = after.find(|c: char| !c.is_ascii_digit() && !".:".contains(c))?;
            Some(after[..end].to_owned())
        });
        let operated = Self { process, address };
        operated.wait_for("/readyz", " 200 OK");
        operated
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn ask(&self, path: &str) -> String {
        ask(&self.address, path)
    }

    pub(super) fn wait_for(&self, path: &str, text: &str) -> String {
        let stderr = self.process.stderr();
        wait_for(&format!("{path} says {text}\n{stderr}"), || {
            let answer = self.ask(path);
            answer.contains(text).then_some(answer)
        })
    }

    /// Waits until every watch is open and believed.
    pub(super) fn wait_until_in_step(&self) {
        wait_for("every watch is in step", || {
            is_in_step(&self.ask("/metrics")).then_some(())
        });
    }

    /// Waits until a metric has at least this value.
    pub(super) fn wait_for_at_least(&self, metric: &str, least: u64) {
        let stderr = self.process.stderr();
        wait_for(&format!("{metric} is {least}\n{stderr}"), || {
            let metrics = self.ask("/metrics");
            let value = metrics.lines().find_map(|line| line.strip_prefix(metric))?;
            let value: u64 = value.trim().parse().expect("a number");
            (value >= least).then_some(())
        });
    }

    pub(super) fn wait_for_log(&self, text: &str) {
        wait_for(&format!("the log says {text}"), || {
            self.process.stderr().contains(text).then_some(())
        });
    }

    /// Returns what is in the log, once it has ended without findings.
    pub(super) fn end(self) -> Vec<Value> {
        self.process.signal(Signal::INT);
        let run = self.process.finish().exits(0);
        let lines = run.stderr.lines();
        lines
            .map(|line| {
                let line: Value =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                assert!(
                    line["level"].is_string() && line["timestamp"].is_string(),
                    "{line}"
                );
                line
            })
            .collect()
    }
}

/// Returns whether the metrics say that every watch is open and believed.
pub(super) fn is_in_step(metrics: &str) -> bool {
    let mut watches = metrics
        .lines()
        .filter(|line| line.starts_with("kubectl_dra_watch_in_step{"));
    watches.all(|line| line.ends_with(" 1"))
}

/// Returns the answer of a server at `address`.
pub(super) fn ask(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: run\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// The role in `deploy` is all that is needed, and nothing in it is for nothing.
#[test]
fn the_role_that_is_shipped_lets_run_read_what_it_reads() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/shadow/rbac.yaml");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
    let role = objects.iter().find(|object| object["kind"] == "ClusterRole");
    let rules = &role.expect("a role")["rules"];
    let options = Options::default().gate("GenericWorkload", true);
    let cluster = Cluster::start(&options);
    let user = cluster.user("operator").allowed(rules);
    Operated::start(&user, &[]).end();
    let requests = cluster.requests_of("operator");
    for (_, resource) in KINDS {
        for verb in ["list", "watch"] {
            let asks =
                |request: &&String| request.starts_with(verb) && request.contains(&format!("/{resource}"));
            assert!(
                requests.iter().any(|request| asks(&request)),
                "{verb} {resource}: {requests:#?}"
            );
        }
    }
    let granted = rules.as_array().expect("rules").iter();
    let granted = granted.flat_map(|rule| rule["resources"].as_array().expect("resources"));
    assert_eq!(granted.count(), KINDS.len());
}

#[test]
fn run_continues_through_a_restart_of_the_api_server_and_a_lost_permission() {
    let cluster = Cluster::start(&Options::default());
    let user = cluster.user("operator").allowed(&rights_without(""));
    let operated = Operated::start(&user, &["-v", "2"]);
    let claims = |number: usize| {
        format!(
            "dynamic_resource_allocation_resource_claims{{allocated=\"false\",admin_access=\"false\",source=\"\"}} {number}\n"
        )
    };
    cluster.create(&claim("one", claim_spec([gpu()])));
    operated.wait_for("/metrics", &claims(1));

    cluster.stop(Component::ApiServer);
    operated.wait_for_log("cannot reach the API server");
    cluster.resume(Component::ApiServer);
    cluster.create(&claim("two", claim_spec([gpu()])));
    operated.wait_for("/metrics", &claims(2));
    operated.wait_for("/readyz", " 200 OK");

    let role = cluster
        .list("clusterrole")
        .into_iter()
        .find_map(|role| {
            let name = role["metadata"]["name"].as_str()?;
            name.starts_with("operator-")
                .then(|| format!("clusterrole/{name}"))
        })
        .expect("the user has a role");
    cluster.update(&role, |role| role["rules"] = rights_without("resourceclaims"));
    // The watch that is open goes on to its end.
    let unready = operated.wait_for("/readyz", " 503 ");
    assert!(
        unready.contains("\r\n\r\nresourceclaims: stale for "),
        "{unready}"
    );
    assert!(unready.contains("forbidden"), "{unready}");
    let metrics = operated.ask("/metrics");
    assert!(
        metrics.contains("kubectl_dra_watch_in_step{resource=\"resourceclaims\"} 0\n"),
        "{metrics}"
    );
    assert!(metrics.contains(&claims(2)), "what is known stays: {metrics}");

    cluster.delete("claim/default/one");
    cluster.update(&role, |role| role["rules"] = rights_without(""));
    operated.wait_for("/metrics", &claims(1));
    operated.wait_for("/readyz", " 200 OK");
    let log = operated.end();
    let refused = |line: &Value| line["refused"] == true && line["resource"] == "resourceclaims";
    assert!(log.iter().any(refused), "{log:#?}");
}

#[test]
fn a_kind_that_is_no_longer_served_is_waited_for() {
    let gate = "GenericWorkload";
    let cluster = Cluster::start(&Options::default().gate(gate, true));
    let user = cluster.user("operator").allowed(&rights_without(""));
    // It would end.
    let operated = Operated::start(&user, &["--recheck", "0s"]);
    let watched = "kubectl_dra_watch_in_step{resource=\"podgroups\"}";
    operated.wait_for("/metrics", &format!("{watched} 1\n"));
    cluster.reconfigure(|options| options.set_gate(&[Component::ApiServer], gate, false));
    let unready = operated.wait_for("/readyz", "could not find the requested resource");
    assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
    assert!(unready.contains("podgroups: stale for "), "{unready}");
    cluster.reconfigure(|options| options.set_gate(&[Component::ApiServer], gate, true));
    operated.wait_for("/readyz", " 200 OK");
    // A watch that the second API server closed may not be open again, and would let the run end with a warning.
    operated.wait_until_in_step();
    operated.end();
}

#[test]
fn dead_connections_are_noticed_and_replaced() {
    let cluster = Cluster::start(&Options::default());
    let user = cluster.user("operator").allowed(&rights_without(""));
    let tunnel = cluster.tunnel();
    let proxy = format!("--proxy-url=http://{}", tunnel.address());
    let operated = Operated::start(&user, &[&proxy]);
    tunnel.forget_connections();
    cluster.create(&claim("one", claim_spec([gpu()])));
    operated.wait_for_log("no response for 40 s");
    operated.wait_for(
        "/metrics",
        "dynamic_resource_allocation_resource_claims{allocated=\"false\",admin_access=\"false\",source=\"\"} 1\n",
    );
    // The watches are opened one after the other, and one that is not open yet lets the run end with a warning.
    operated.wait_until_in_step();
    operated.end();
}

/// The gates of kube-controller-manager are evidence only where it is a static pod, so the kinds that are served stand for an upgrade here.
#[test]
fn a_cluster_that_changes_ends_it_once_that_is_sure() {
    let gate = "GenericWorkload";
    let cluster = Cluster::start(&Options::default());
    let user = cluster.user("operator").allowed(&rights_without(""));
    let operated = Operated::start(&user, &["--recheck", "1s"]);
    operated.wait_for("/metrics", "kubectl_dra_rechecks_total{outcome=\"same\"} ");
    assert!(
        operated
            .ask("/metrics")
            .contains("kubectl_dra_cluster_differs 0\n")
    );
    // A restart alone is no change.
    cluster.stop(Component::ApiServer);
    cluster.resume(Component::ApiServer);
    operated.wait_for("/readyz", " 200 OK");

    cluster.reconfigure(|options| options.set_gate(&[Component::ApiServer], gate, true));
    let run = operated.process.finish().exits(3);
    for told in [
        "the cluster has changed since the start",
        "podgroups.scheduling.k8s.io are now served in v1beta1",
        "restart it",
    ] {
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
}

/// The names of the metrics in a text, with their labels. Buckets have their bounds.
fn metrics(text: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, BTreeSet<String>> {
    let mut metrics: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((series, _)) = line.rsplit_once(' ') else {
            continue;
        };
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        if !is_wanted(series) {
            continue;
        }
        let labels = labels.trim_end_matches('}').split(',').map(|label| {
            let (label, value) = label.split_once('=').unwrap_or((label, ""));
            let value = value.trim_matches('"');
            match (label, value.parse::<f64>()) {
                ("le", Ok(bound)) => format!("le={bound:e}"),
                ("name", _) => format!("name={value}"),
                _ => label.to_owned(),
            }
        });
        metrics.entry(name.to_owned()).or_default().extend(labels);
    }
    metrics
}

/// What kube-controller-manager has of the two controllers is here under the same names, with the same labels and buckets.
#[test]
fn metrics_are_named_as_those_of_kube_controller_manager() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    cluster.create(&namespace("kubectl-dra"));
    let work = || {
        cluster.run(&[pod("a").template_claim("gpu", "one")]);
        cluster.create(&taint_rule(
            "broken",
            json!({"pool": "gpu-node-1"}),
            taint("example.com/broken", "", "NoExecute"),
        ));
        cluster.wait("pod/default/a", "is being deleted", |pod| {
            pod["metadata"]["deletionTimestamp"].is_string()
        });
        cluster.finish_deletions();
        cluster.delete("rule/broken");
    };
    cluster.create(&template("one", claim_spec([gpu()])));
    work();
    let is_ours = |series: &str| {
        ["resourceclaim", "resource_claim", "device_taint_eviction"]
            .iter()
            .any(|name| {
                series.starts_with(&format!("dynamic_resource_allocation_{name}")) || series.starts_with(name)
            })
            || (series.starts_with("workqueue_")
                && ["resource_claim\"", "device-taint-eviction-controller\""]
                    .iter()
                    .any(|name| series.contains(&format!("name=\"{name}"))))
    };
    let theirs = cluster
        .at(Component::ControllerManager)
        .request(&Method::GET, "/metrics", &Value::Null);
    let theirs = metrics(theirs.body.as_str().expect("a text"), is_ours);
    assert!(theirs.len() > 10, "{theirs:#?}");

    cluster.stop(Component::ControllerManager);
    let user = cluster
        .user("worker")
        .allowed(&super::take_over::shipped("take-over", "ClusterRole"));
    let operated = Operated::start(&user, &["--take-over", "--assume-builtin-disabled", "--no-lease"]);
    work();
    let ours = metrics(&operated.ask("/metrics"), is_ours);
    operated.end();
    for (name, labels) in &theirs {
        assert_eq!(ours.get(name), Some(labels), "{name}: {ours:#?}");
    }
}

/// What is wanted and overdue is seen on a terminal, below what is told, and nowhere else.
#[test]
fn on_a_terminal_it_shows_how_it_stands() {
    let options = Options::default().arg(
        Component::ControllerManager,
        "--controllers=-resourceclaim-controller",
    );
    let cluster = Cluster::start(&options);
    cluster.create(&template("one", claim_spec([gpu()])));
    cluster.create(&pod("waits").template_claim("gpu", "one"));
    let user = cluster.user("onlooker").allowed(&rights_without(""));
    let run = || user.kubectl_dra(["run", "--overdue", "3s"]);
    for no_color in [false, true] {
        let run = run().env("TERM", "xterm");
        let run = if no_color { run.env("NO_COLOR", "1") } else { run };
        let process = run.start_on_screen(60, Screen::Stderr);
        for shown in [
            " wanted, 0 overdue, 0 done",
            // The claim, and the status that is to name it.
            "2 overdue, 0 done, 2 findings",
            "  overdue  ",
        ] {
            wait_for(shown, || process.stderr().contains(shown).then_some(()));
        }
        process.signal(Signal::INT);
        let run = process.finish().exits(1);
        assert!(
            run.stderr.contains("Overdue: resourceclaim-controller"),
            "{:?}",
            run.stderr
        );
        assert!(!run.stderr.contains("computing"), "{:?}", run.stderr);
        assert!(!no_color || !run.stderr.contains("\u{1b}[3"), "{:?}", run.stderr);
        assert!(!run.stdout.contains('\u{1b}'), "{:?}", run.stdout);
    }
    let silent = |process: Process| {
        wait_for("it is overdue", || {
            process.stderr().contains("Overdue: ").then_some(())
        });
        process.signal(Signal::INT);
        let run = process.finish().exits(1);
        assert!(!run.stderr.contains(" overdue, "), "{:?}", run.stderr);
    };
    silent(run().env("TERM", "dumb").start_on_screen(60, Screen::Stderr));
    silent(run().start());
}

/// Nothing is written where the cluster cannot be what the controllers need.
#[test]
fn without_what_the_rules_need_nothing_begins() {
    let gates = "GenericWorkload=true,DRAWorkloadResourceClaims=true";
    let cluster = Cluster::start(&Options::default());
    let run = ["run", "--take-over", "--assume-builtin-disabled", "--no-lease"];
    let without_groups = cluster
        .kubectl_dra(run)
        .args(["--feature-gates", gates])
        .run()
        .exits(3);
    let told = "feature gate GenericWorkload is on in kube-controller-manager, but the API server does not serve PodGroups";
    assert!(without_groups.stderr.contains(told), "{}", without_groups.stderr);

    let none = "resource.k8s.io/v1=false,resource.k8s.io/v1beta1=false,resource.k8s.io/v1beta2=false,resource.k8s.io/v1alpha3=false";
    cluster.reconfigure(|options| options.set_runtime_config(none));
    let without_claims = cluster.kubectl_dra(run).run().exits(3);
    assert!(
        without_claims.stderr.contains("does not serve them"),
        "{}",
        without_claims.stderr
    );
}
