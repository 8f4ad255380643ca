//! Older releases for real: where their schedulers put pods, what their bugs do, and what upgrades change.
//!
//! Their control planes take minutes to build, so `cargo test` leaves these tests out; `make older`, `make known-bugs` and `make upgrade`
//! run them.

mod bugs;
mod placement;
mod upgrade;

use http::Method;
use serde_json::Value;

use crate::support::cluster::{Cluster, Component, Options, older};

/// A control plane of an older release, which is built if need be.
fn control_plane(release: &str) -> Options {
    older(release);
    let mut options = Options::default();
    for component in Component::GATED {
        options.set_release(component, release);
    }
    options
}

/// Returns whether a release is to be tried: what `KUBECTL_DRA_RELEASES` names.
fn is_wanted(release: &str) -> bool {
    let wanted = std::env::var("KUBECTL_DRA_RELEASES").unwrap_or_default();
    wanted.split(',').any(|wanted| wanted == release)
}

/// The release that the API server says it is, as `v1.36.4`.
fn version_of(cluster: &Cluster) -> String {
    let version = cluster.request(&Method::GET, "/version", &Value::Null).body;
    version["gitVersion"].as_str().expect("a version").to_owned()
}

/// Returns what `check` finds, as `CODE NAME` each, in order of these.
fn findings(report: &Value) -> Vec<String> {
    let items = report["items"].as_array().expect("items");
    let mut found: Vec<_> = items
        .iter()
        .map(|item| {
            let name = item["object"]["name"].as_str().unwrap_or_default();
            format!("{} {name}", item["code"].as_str().unwrap_or_default())
        })
        .collect();
    found.sort();
    found
}
