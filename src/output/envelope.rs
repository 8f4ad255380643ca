//! What every report says about itself: the version of its format, its kind, and where its facts come from.

use serde::Serialize;

use super::report::Report;

/// The version of all reports. Fields may be added to it; the ones that are there stay.
const API_VERSION: &str = "dra.kubectl.io/v1";

/// The facts behind a report, filled while they are found out.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope {
    /// The version of Kubernetes whose rules were applied. Absent where none was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kubernetes_version: Option<String>,
    /// The gates that matter to the report, each component's own.
    pub(crate) feature_gates: Vec<GateState>,
    /// Where the objects came from. Absent where none were needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    /// What was said on stderr, for readers who do not see it.
    pub(crate) warnings: Vec<String>,
}

/// One feature gate of one component, with how it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateState {
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) component: String,
    pub(crate) evidence: String,
}

/// Where the objects of a report came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(crate) enum Source {
    /// A running cluster.
    Cluster {
        /// The context of the kubeconfig; absent in a pod.
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        server: String,
    },
    /// Files, directories, standard input or bundled examples, as they were named on the command line.
    Files { names: Vec<String> },
}

/// A report as it is serialized: the envelope's fields first, then its own.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a, R> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    envelope: &'a Envelope,
    #[serde(flatten)]
    report: &'a R,
}

impl<'a, R: Report> Document<'a, R> {
    pub(super) fn new(envelope: &'a Envelope, report: &'a R) -> Self {
        Self {
            api_version: API_VERSION,
            kind: R::KIND,
            envelope,
            report,
        }
    }
}
