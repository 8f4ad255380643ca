//! Header of every report: the version of its format, its kind, and the source of its facts.

use serde::Serialize;

use super::report::Report;

/// The version of all reports. Fields may be added to it; the ones that are there stay.
const API_VERSION: &str = "dra.kubectl.io/v1";

/// The facts behind a report, filled while they are found out.
#[serde_with_macros::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope {
    /// The version of Kubernetes whose rules were applied. Absent where none was needed.
    #[schemars(regex(pattern = r"^[0-9]+\.[0-9]+"))]
    pub(crate) kubernetes_version: Option<String>,
    /// The feature gates that matter to the report, each component's own.
    pub(crate) feature_gates: Vec<GateState>,
    /// Source of the objects. Absent if none were needed.
    pub(crate) source: Option<Source>,
    /// Warnings on standard error, for readers who do not see it.
    pub(crate) warnings: Vec<String>,
}

/// One feature gate of one component, with how it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateState {
    /// Its name.
    pub(crate) name: String,
    /// True if it is on.
    pub(crate) enabled: bool,
    /// The component whose gate this is: they can differ.
    pub(crate) component: String,
    /// Evidence of the state.
    pub(crate) evidence: String,
}

/// Source of a report's objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(crate) enum Source {
    /// A running cluster.
    Cluster {
        /// The context of the kubeconfig; absent in a pod.
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// The address of the API server.
        server: String,
    },
    /// Files, directories, standard input or bundled examples, as they were named on the command line.
    Files {
        /// Their names.
        #[schemars(length(min = 1))]
        names: Vec<String>,
    },
}

/// A report as it is serialized: the envelope's fields first, then its own.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document<'a, R> {
    /// The version of all reports. Fields may be added to it; the ones that are there stay.
    #[schemars(extend("const" = API_VERSION))]
    api_version: &'static str,
    /// Kind of the report, and the name of its schema.
    kind: &'static str,
    #[serde(flatten)]
    envelope: &'a Envelope,
    #[serde(flatten)]
    report: &'a R,
}

impl<'a, R: Report> Document<'a, R> {
    pub(crate) fn new(envelope: &'a Envelope, report: &'a R) -> Self {
        Self {
            api_version: API_VERSION,
            kind: R::KIND,
            envelope,
            report,
        }
    }
}
