//! Versions and feature gates from the API server and the static pods.
//!
//! Every request here may be forbidden or return nothing, as on managed clusters that show no control plane. Then there
//! is no evidence, and the defaults of the release are assumed.

use futures::future::try_join;
use serde_json::value::RawValue;

use super::Live;
use super::discovery::Served;
use super::error::Error;
use super::request::{Items, JSON};
use crate::gates::{ControlPlanePod, FEATURE, environment, from_metric};
use crate::scheduler_config::profiles;
use dra_model::{Component, Environment, Evidence, Gate, GateState, Kind, SchedulerProfile};

/// States with their evidence, as the environment holds them.
pub(super) type Gates = Vec<(Component, Gate, GateState)>;

/// Namespaces and labels of control planes of kubeadm, kops, kind and others.
const CONTROL_PLANE: &str = "/api/v1/namespaces/kube-system/pods?labelSelector=component%20in%20%28kube-apiserver%2C\
                             kube-scheduler%2Ckube-controller-manager%29";

/// Conventional places of scheduler configurations.
const CONFIG_MAPS: &str = "/api/v1/namespaces/kube-system/configmaps";

/// The metric comes after some megabytes of others at most; a server that sends more is not worth waiting for.
const METRICS_LIMIT: usize = 256 << 20;

/// The server's versions, and a warning where it does not tell them.
pub(super) async fn version(live: &Live) -> Result<(Environment, Vec<String>), Error> {
    let what = "ask the API server for its version";
    let assumed = |why: &str| {
        let environment = Environment::default();
        let warning = format!("{why}; assuming Kubernetes {}", environment.version);
        Ok((environment, vec![warning]))
    };
    match live.get("/version", JSON, what).await {
        Ok(answer) => match environment(answer) {
            Ok(environment) => Ok((environment, Vec::new())),
            Err(error) => assumed(&format!("the API server's version is invalid: {error}")),
        },
        Err(Error::Refused { code: 403 | 404, .. }) => assumed("the API server does not report its version"),
        Err(error) => Err(error),
    }
}

/// Returns what is known of gates because something is served.
pub(super) fn served(served: &Served) -> Gates {
    // Mirrors `storage_scheduling.go`, `NewRESTStorage`, v1.37.2: without the gate there is no storage. The other way round the API
    // version may just not be enabled.
    let version = Kind::PodGroup
        .versions()
        .iter()
        .find(|version| served.has(Kind::PodGroup, version));
    let Some(version) = version else {
        return Gates::new();
    };
    let evidence = Evidence::Served(format!("podgroups.{}/{version}", Kind::PodGroup.group()));
    let state = GateState {
        enabled: true,
        evidence,
    };
    vec![(Component::ApiServer, Gate::GenericWorkload, state)]
}

/// The profiles of kube-scheduler, where a ConfigMap holds its configuration, as it does for schedulers that run as Deployments. Static
/// pods have theirs in a file, which no API shows.
///
/// # Errors
/// When the server cannot be asked at all.
pub(super) async fn schedulers(live: &Live) -> Result<Option<Vec<SchedulerProfile>>, Error> {
    let maps = items(live, CONFIG_MAPS, "list the ConfigMaps of kube-system").await?;
    let of_map = |map: &RawValue| {
        profiles(Some("v1"), Some("ConfigMap"), map.get().as_bytes())
            .ok()
            .flatten()
    };
    let maps = maps.iter().filter_map(|map| of_map(map));
    let found: Vec<SchedulerProfile> = maps.flatten().collect();
    Ok((!found.is_empty()).then_some(found))
}

/// All evidence there is.
pub(super) async fn gates(live: &Live, server: &Environment, offered: &Served) -> Result<Gates, Error> {
    let (mut gates, metrics) = try_join(static_pods(live, server), metrics(live)).await?;
    gates.extend(metrics);
    gates.extend(served(offered));
    Ok(gates)
}

impl Live {
    /// The value of `--controllers` of each kube-controller-manager that can be seen.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn built_in_controllers(&self) -> Result<Vec<String>, Error> {
        let pods = control_plane(self).await?;
        Ok(pods.iter().filter_map(ControlPlanePod::controllers).collect())
    }
}

/// Gates by the arguments of static pods.
pub(super) async fn static_pods(live: &Live, server: &Environment) -> Result<Gates, Error> {
    let pods = control_plane(live).await?;
    Ok(pods
        .iter()
        .flat_map(|pod| pod.gates(server).collect::<Vec<_>>())
        .collect())
}

/// The control plane's pods, as far as they can be seen.
async fn control_plane(live: &Live) -> Result<Vec<ControlPlanePod>, Error> {
    let pods = items(live, CONTROL_PLANE, "list the control plane's pods").await?;
    let pods = pods.iter();
    Ok(pods
        .filter_map(|pod| ControlPlanePod::of(pod.get().as_bytes()))
        .collect())
}

/// The items of a list; none where it may not be read.
async fn items(live: &Live, path: &str, what: &str) -> Result<Vec<Box<RawValue>>, Error> {
    let list = perhaps(live.get::<Items>(path, JSON, what).await)?;
    Ok(list.map(|list| list.items).unwrap_or_default())
}

async fn metrics(live: &Live) -> Result<Gates, Error> {
    let what = "read the API server's metrics";
    let Some(mut answer) = perhaps(live.open("/metrics", "text/plain", what).await)? else {
        return Ok(Gates::new());
    };
    let (mut reader, mut bytes) = (MetricsReader::default(), 0);
    while let Some(Some(piece)) = perhaps(answer.next().await)? {
        bytes += piece.len();
        if reader.take(&piece) || bytes > METRICS_LIMIT {
            break;
        }
    }
    let state = |enabled| GateState {
        enabled,
        evidence: Evidence::Metrics,
    };
    let found = reader.found.into_iter();
    Ok(found
        .map(|(gate, enabled)| (Component::ApiServer, gate, state(enabled)))
        .collect())
}

/// Picks the lines about features from metrics, which come in pieces of any size. These lines stand together.
#[derive(Default)]
struct MetricsReader {
    /// The beginning of a line whose end has not come yet.
    text: Vec<u8>,
    found: Vec<(Gate, bool)>,
    has_begun: bool,
}

impl MetricsReader {
    /// Returns whether the lines about features are over. Most of these are about gates that nothing here depends on.
    fn take(&mut self, piece: &[u8]) -> bool {
        let begun = self.text.len();
        self.text.extend_from_slice(piece);
        let Some(last) = memchr::memrchr(b'\n', piece) else {
            return false;
        };
        let whole: Vec<u8> = self.text.drain(..=begun + last).collect();
        let is_feature = |line: &&[u8]| line.starts_with(FEATURE.as_bytes());
        let mut features = whole.split(|byte| *byte == b'\n').filter(is_feature).peekable();
        if features.peek().is_none() {
            return self.has_begun;
        }
        self.has_begun = true;
        let features = features.filter_map(|line| from_metric(std::str::from_utf8(line).ok()?));
        self.found.extend(features);
        false
    }
}

/// Nothing where a question was refused or came to nothing; an error where the server cannot be asked at all.
fn perhaps<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error, Error::Foreign { .. }) || !error.is_fatal() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_across_pieces_and_no_further_than_needed() {
        let metrics = "# HELP x\nother 1\nkubernetes_feature_enabled{name=\"DRADeviceTaints\",stage=\"\"} 1\n\
                       kubernetes_feature_enabled{name=\"EventedPLEG\",stage=\"ALPHA\"} 0\n\
                       kubernetes_feature_enabled{name=\"GenericWorkload\",stage=\"BETA\"} 0\nlater 1\nmore 1\n";
        for size in 1..80 {
            let mut reader = MetricsReader::default();
            let mut pieces = metrics.as_bytes().chunks(size);
            assert!(pieces.any(|piece| reader.take(piece)) || size > 6, "{size}");
            assert_eq!(
                reader.found,
                [(Gate::DRADeviceTaints, true), (Gate::GenericWorkload, false)],
                "{size}"
            );
        }
    }
}
