//! Scope and options of a plan, as in its file.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Selection;
use dra_model::{Gate, Key, Str};
use dra_rules::reservation::conversion::{Kinds, Options, Release, Target};

/// Which claims a plan or its proof covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlanScope {
    /// The only namespace looked at; absent for all, and where claims were named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Str>,
    /// Claims that were named, as `NAMESPACE/NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// The label selector.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub labels: String,
}

impl PlanScope {
    /// The scope that `selection` is.
    pub fn of(selection: &Selection) -> Self {
        Self {
            namespace: selection.namespace.clone().filter(|_| selection.names.is_empty()),
            claims: selection.names.iter().map(Key::to_string).collect(),
            labels: selection.labels.to_string(),
        }
    }

    /// Whether objects of the namespace are looked at.
    pub(super) fn includes(&self, namespace: &Str) -> bool {
        self.namespace.as_ref().is_none_or(|only| only == namespace)
    }
}

/// How the plan was made, so that the same can be planned again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanOptions {
    /// Kinds that are converted, as `podgroups.scheduling.k8s.io`; `*` for every kind.
    #[schemars(length(min = 1))]
    pub kinds: Vec<String>,
    /// The release of the control plane that comes next, as `1.36`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^1\.[0-9]+$"))]
    pub to_version: Option<String>,
    /// The gate that is turned off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_gate: Option<String>,
    /// Whether claims that were created for a PodGroup are converted.
    pub include_generated: bool,
    /// Whether devices of claims that no pod uses are deallocated.
    pub release_unused: bool,
    /// Entries that may be dropped for that although their object may exist, as `podgroups.scheduling.k8s.io/NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub release_entries: Vec<String>,
}

/// A target in a plan's file that this build does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan is for `{0}`, which is neither a release such as 1.36 nor a known feature gate")]
pub struct UnknownTarget(String);

/// PodGroups as kubectl writes them.
pub(super) const POD_GROUPS: &str = "podgroups.scheduling.k8s.io";
const EVERY_KIND: &str = "*";

impl From<&Options> for PlanOptions {
    fn from(options: &Options) -> Self {
        let Options {
            kinds,
            target,
            include_generated,
            release,
        } = options;
        let (to_version, disable_gate) = match target {
            Some(Target::Minor(minor)) => (Some(format!("1.{minor}")), None),
            Some(Target::GateOff(gate)) => (None, Some(gate.name().to_owned())),
            None => (None, None),
        };
        Self {
            kinds: match kinds {
                Kinds::PodGroups => vec![POD_GROUPS.to_owned()],
                Kinds::Named(kinds) => kinds.iter().cloned().collect(),
                Kinds::All => vec![EVERY_KIND.to_owned()],
            },
            to_version,
            disable_gate,
            include_generated: *include_generated,
            release_unused: *release != Release::Never,
            release_entries: match release {
                Release::Never => Vec::new(),
                Release::Unused { entries } => entries.iter().cloned().collect(),
            },
        }
    }
}

impl PlanOptions {
    /// The options to plan with.
    ///
    /// # Errors
    /// When the target is unknown.
    pub fn to_options(&self) -> Result<Options, UnknownTarget> {
        let minor = |text: &String| {
            let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok());
            minor
                .map(Target::Minor)
                .ok_or_else(|| UnknownTarget(text.clone()))
        };
        let gate = |name: &String| {
            Gate::find(name)
                .map(Target::GateOff)
                .ok_or_else(|| UnknownTarget(name.clone()))
        };
        let kinds: BTreeSet<String> = self.kinds.iter().cloned().collect();
        Ok(Options {
            kinds: if kinds.contains(EVERY_KIND) {
                Kinds::All
            } else {
                Kinds::Named(kinds)
            },
            target: match (&self.to_version, &self.disable_gate) {
                (Some(version), _) => Some(minor(version)?),
                (None, Some(name)) => Some(gate(name)?),
                (None, None) => None,
            },
            include_generated: self.include_generated,
            release: if self.release_unused {
                Release::Unused {
                    entries: self.release_entries.iter().cloned().collect(),
                }
            } else {
                Release::Never
            },
        })
    }
}
