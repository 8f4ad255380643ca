//! `run` for long: through restarts, lost rights and dead connections, with its log, its probes and its metrics.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::cluster::objects::{claim, claim_spec, gpu};
use crate::support::cluster::{Cluster, Component, Options, User};
use crate::support::process::Process;
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

/// `run` with probes, and where they are.
pub(super) struct Operated {
    process: Process,
    address: String,
}

impl Operated {
    pub(super) fn start(user: &User, more: &[&str]) -> Self {
        let args = ["run", "--log-format", "json", "--metrics-address", "127.0.0.1:0"];
        let process = user.kubectl_dra(args).args(more).start();
        let address = wait_for("it listens", || {
            let stderr = process.stderr();
            let after = stderr.split("metrics and probes are at ").nth(1)?;
            let end = after.find(|c: char| !c.is_ascii_digit() && !".:".contains(c))?;
            Some(after[..end].to_owned())
        });
        let operated = Self { process, address };
        operated.wait_for("/readyz", " 200 OK");
        operated
    }

    pub(super) fn ask(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: run\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    pub(super) fn wait_for(&self, path: &str, text: &str) -> String {
        let stderr = self.process.stderr();
        wait_for(&format!("{path} says {text}\n{stderr}"), || {
            let answer = self.ask(path);
            answer.contains(text).then_some(answer)
        })
    }

    pub(super) fn wait_for_log(&self, text: &str) {
        wait_for(&format!("the log says {text}"), || {
            self.process.stderr().contains(text).then_some(())
        });
    }

    /// What is in the log, once it has ended without findings.
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

/// The role in `deploy` is all that is needed, and nothing in it is for nothing.
#[test]
fn the_role_that_is_shipped_lets_run_read_what_it_reads() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/shadow/rbac.yaml");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
    let role = objects.iter().find(|object| object["kind"] == "ClusterRole");
    let rules = &role.expect("a role")["rules"];
    let options = Options::default().gate("GenericWorkload", true).audited();
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
fn run_goes_on_through_a_restart_of_the_api_server_and_a_lost_right() {
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
    let operated = Operated::start(&user, &[]);
    let watched = "kubectl_dra_watch_in_step{resource=\"podgroups\"}";
    operated.wait_for("/metrics", &format!("{watched} 1\n"));
    cluster.reconfigure(|options| options.set_gate(&[Component::ApiServer], gate, false));
    let unready = operated.wait_for("/readyz", "could not find the requested resource");
    assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
    assert!(unready.contains("podgroups: stale for "), "{unready}");
    cluster.reconfigure(|options| options.set_gate(&[Component::ApiServer], gate, true));
    operated.wait_for("/readyz", " 200 OK");
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
    operated.wait_for_log("no answer for 40 s");
    operated.wait_for(
        "/metrics",
        "dynamic_resource_allocation_resource_claims{allocated=\"false\",admin_access=\"false\",source=\"\"} 1\n",
    );
    operated.end();
}
