//! Checks of upstream's own tests of the two controllers, on a real API server with only `run --take-over`.
//!
//! The rows are those of `tests/data/claim-controller-cases.json` and `taint-controller-cases.json`, which the tests in memory read too.

mod claims;
mod commits;
mod events;
mod evictions;
mod history;
mod scene;
mod taints;
mod unseen;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::Value;

use super::operation::is_in_step;
use crate::support::cluster::faulty::Faulty;
use crate::support::cluster::{Cluster, Component, Options, User};
use crate::support::process::{Process, Run};
use crate::support::wait::wait_for;

/// All gates of the two controllers.
const GATES: &str = "GenericWorkload=true,DRAWorkloadResourceClaims=true";

/// An API server, and nobody who works on it.
fn nobody_works() -> Cluster {
    Cluster::start(
        &Options::default()
            .gate("GenericWorkload", true)
            .gate("DRAWorkloadResourceClaims", true)
            .without(Component::Scheduler)
            .without(Component::ControllerManager),
    )
}

/// A user who may do everything.
fn worker(cluster: &Cluster) -> User {
    cluster.user("worker").with_role("cluster-admin")
}

/// The controllers at work, and where their metrics are.
struct Working {
    process: Process,
    address: String,
}

impl Working {
    /// Starts them with these gates of `kube-controller-manager`, by way of a proxy if there is one.
    fn start(user: &User, by: Option<&Faulty>, gates: &str, more: &[&str]) -> Self {
        Self::start_when(user, by, gates, more, "-controller for ")
    }

    /// The same, once the log says `told`.
    fn start_when(user: &User, by: Option<&Faulty>, gates: &str, more: &[&str], told: &str) -> Self {
        let args = [
            "run",
            "--take-over",
            "--assume-builtin-disabled",
            "--no-lease",
            "--metrics-address",
            "127.0.0.1:0",
            "--feature-gates",
            gates,
        ];
        let mut invocation = user.kubectl_dra(args).args(more);
        if let Some(by) = by {
            invocation = invocation.args(by.flags());
        }
        let process = invocation.start();
        let address = wait_for("it listens and works", || {
            let stderr = process.stderr();
            if !stderr.contains(told) {
                return None;
            }
            let after = stderr.split("serving metrics and probes on ").nth(1)?;
            let end = after.find(|c: char| !c.is_ascii_digit() && !".:".contains(c))?;
            Some(after[..end].to_owned())
        });
        Self { process, address }
    }

    /// Returns what it answers, header and all.
    fn ask(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: run\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// The lines of a metric.
    fn metric(&self, name: &str) -> Vec<String> {
        let answer = self.ask("/metrics");
        let lines = answer.lines().filter(|line| line.starts_with(name));
        lines.map(str::to_owned).collect()
    }

    /// Waits until the metric says exactly this.
    fn wait_for_metric(&self, name: &str, lines: &[&str]) {
        let mut last = Vec::new();
        wait_for(&format!("{name} is {lines:?}\n{}", self.process.stderr()), || {
            last = self.metric(name);
            (last == lines).then_some(())
        });
    }

    /// Waits until every watch is open and believed. One that is not lets the run end with a warning.
    fn wait_until_in_step(&self) {
        wait_for("every watch is in step", || {
            is_in_step(&self.ask("/metrics")).then_some(())
        });
    }

    fn end(self) -> Run {
        self.process.signal(Signal::INT);
        self.process.finish().exits(0)
    }
}

/// Returns what the worker has asked for that changes something or looks something up, but for what it asks about itself.
fn asked(cluster: &Cluster) -> Vec<String> {
    let mut asked = cluster.requests_of("worker");
    asked.retain(|request| {
        !request.starts_with("watch ")
            && !request.starts_with("list ")
            && !request.contains("/selfsubject")
            && request.contains("/namespaces/")
            && !request.contains("/namespaces/kube-system/")
    });
    asked
}

/// Returns what was asked about the objects of a namespace, but for events.
fn asked_in(cluster: &Cluster, namespace: &str) -> Vec<String> {
    let path = format!("/namespaces/{namespace}/");
    let is_of = |request: &String| request.contains(&path) && !request.contains("/events");
    asked(cluster).into_iter().filter(is_of).collect()
}

/// Events of a reason in a namespace, as their messages.
fn told(cluster: &Cluster, namespace: &str, reason: &str) -> Vec<String> {
    let events = cluster.list(&format!("event/{namespace}"));
    let of_reason = events.iter().filter(|event| event["reason"] == reason);
    of_reason
        .map(|event| event["message"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// A text of the object.
fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
