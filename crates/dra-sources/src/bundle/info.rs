//! The item of a snapshot that is no object of the cluster: when and how it was read, versions, gates, gaps.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use dra_model::{
    Component, Environment, Evidence, Gap, Gate, GateState, Kind, ReleaseEvidence, SchedulerProfile, Str,
    Time, Version,
};

/// `apiVersion` of the item.
const API_VERSION: &str = "dra.kubectl.io/v1";
/// `kind` of the item.
const KIND: &str = "SnapshotInfo";

/// Returns whether an item is a [`SnapshotInfo`].
pub(crate) fn is_info(api_version: &str, kind: &str) -> bool {
    kind == KIND && api_version.split('/').next() == API_VERSION.split('/').next()
}

/// Metadata of a snapshot.
#[serde_with_macros::skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SnapshotInfo {
    api_version: String,
    kind: String,
    metadata: Name,
    /// The program that wrote it.
    pub tool: String,
    /// Time at which the lists were read.
    pub recorded_at: Option<Time>,
    /// Source: `cluster prod`.
    pub source: String,
    /// The only namespace that was read; all without it.
    pub namespace: Option<String>,
    /// True if what may be secret was left out.
    pub redacted: bool,
    kubernetes: Kubernetes,
    feature_gates: Vec<GateInfo>,
    scheduler_profiles: Option<Vec<ProfileInfo>>,
    /// The lists, in the order of the file.
    pub lists: Vec<ListInfo>,
    gaps: Vec<GapInfo>,
    not_served: Vec<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    old_versions: BTreeSet<String>,
}

/// kubectl wants every item to have a name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Name {
    name: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Kubernetes {
    /// `1.37.1`, as far as rules depend on it.
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_version: Option<String>,
    emulated_minor: Option<u32>,
    min_compatibility_minor: Option<u32>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GateInfo {
    component: String,
    name: String,
    enabled: bool,
    evidence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// A profile of kube-scheduler.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProfileInfo {
    name: String,
    /// Plugins disabled in the profile, out of those that affect devices and nodes.
    disabled: Vec<String>,
}

/// One list of the snapshot. Without its kind or the number of its items it proves nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListInfo {
    /// `v1`, `resource.k8s.io/v1`.
    pub api_version: String,
    /// Kind of the items.
    pub kind: String,
    /// Version of the list; its items are those of this instant.
    #[serde(default)]
    pub resource_version: String,
    /// Number of items.
    pub count: u64,
}

impl ListInfo {
    fn is_of(&self, kind: Kind) -> bool {
        let (group, _) = crate::decode::group_version(&self.api_version);
        Kind::find(group, &self.kind) == Some(kind)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GapInfo {
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    except: String,
    reason: String,
}

impl SnapshotInfo {
    /// Returns what is known in `environment`, of lists that were read.
    pub(crate) fn new(
        environment: &Environment,
        lists: Vec<ListInfo>,
        redacted: bool,
        namespace: Option<&str>,
    ) -> Self {
        let gate = |(component, gate, state): &(Component, Gate, GateState)| {
            let (evidence, detail) = match &state.evidence {
                Evidence::Assumed => ("Assumed", None),
                Evidence::Objects(what) => ("Objects", Some(what.clone())),
                Evidence::Recorded => ("Recorded", None),
                Evidence::Served(what) => ("Served", Some(what.clone())),
                Evidence::Metrics => ("Metrics", None),
                Evidence::Implied(pod) => ("Implied", Some(pod.clone())),
                Evidence::Arguments(pod) => ("Arguments", Some(pod.clone())),
                Evidence::Flag => ("Flag", None),
            };
            GateInfo {
                component: component.to_string(),
                name: gate.name().to_owned(),
                enabled: state.enabled,
                evidence: evidence.to_owned(),
                detail,
            }
        };
        let profile = |profile: &SchedulerProfile| ProfileInfo {
            name: profile.name.to_string(),
            disabled: profile.disabled.iter().map(ToString::to_string).collect(),
        };
        let profiles = environment.scheduler_profiles.as_ref();
        let gap = |gap: &Gap| GapInfo {
            kind: gap.kind.name().to_owned(),
            namespace: gap.namespace.to_string(),
            except: gap.except.to_string(),
            reason: gap.reason.clone(),
        };
        Self {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            metadata: Name {
                name: "snapshot".to_owned(),
            },
            tool: concat!("kubectl-dra v", env!("CARGO_PKG_VERSION")).to_owned(),
            recorded_at: environment.read_at,
            source: environment.source.clone(),
            namespace: namespace.map(str::to_owned),
            redacted,
            kubernetes: Kubernetes {
                version: environment.version.to_string(),
                git_version: environment.git_version.clone(),
                emulated_minor: Some(environment.emulated_minor),
                min_compatibility_minor: Some(environment.min_compatibility_minor),
            },
            feature_gates: environment.gates.iter().map(gate).collect(),
            scheduler_profiles: profiles.map(|profiles| profiles.iter().map(profile).collect()),
            lists,
            gaps: environment.gaps.iter().map(gap).collect(),
            not_served: environment
                .not_served
                .iter()
                .map(|kind| kind.name().to_owned())
                .collect(),
            old_versions: environment.old_versions.clone(),
        }
    }

    /// Returns whether it records the release of the cluster. A hand-written file may contain only the lists.
    pub(crate) fn has_version(&self) -> bool {
        !self.kubernetes.version.is_empty()
    }

    /// Returns whether it tells everything of `kind` but what its gaps hide.
    pub(crate) fn knows(&self, kind: Kind) -> bool {
        let listed = self.lists.iter().any(|list| list.is_of(kind));
        listed || self.not_served.iter().any(|name| kind_of(name) == Some(kind))
    }

    /// Returns how many objects of `kind` the file has.
    pub(crate) fn count_of(&self, kind: Kind) -> u64 {
        let lists = self.lists.iter().filter(|list| list.is_of(kind));
        lists.fold(0, |count, list| count.saturating_add(list.count))
    }

    /// Returns what the snapshot lacks of `kind`.
    pub(crate) fn gaps_of(&self, kind: Kind) -> Vec<Gap> {
        let named = self.gaps.iter().filter(|gap| kind_of(&gap.kind) == Some(kind));
        let mut gaps: Vec<Gap> = named
            .map(|gap| Gap {
                namespace: Str::from(gap.namespace.as_str()),
                except: Str::from(gap.except.as_str()),
                ..Gap::of_kind(kind, gap.reason.clone())
            })
            .collect();
        if let Some(namespace) = self.namespace.as_deref().filter(|_| kind.is_namespaced())
            && !gaps.iter().any(|gap| gap.namespace.is_empty())
        {
            gaps.push(Gap::elsewhere(kind, namespace));
        }
        gaps
    }

    /// Returns what was known when the snapshot was written; `source` is where it was read from now. What is not understood, as when a
    /// newer release of this program wrote it, comes back as warnings.
    pub(crate) fn environment(&self, source: String) -> (Environment, Vec<String>) {
        let mut warnings = Vec::new();
        let mut environment = Environment {
            source,
            read_at: self.recorded_at,
            ..Environment::default()
        };
        match self.kubernetes.version.parse::<Version>() {
            Ok(version) => {
                environment.version = version;
                // A release that was reported without its patch is recorded with 0.
                let is_patch = self.kubernetes.git_version.is_some() || version.patch > 0;
                environment.release_evidence = if is_patch {
                    ReleaseEvidence::Patch
                } else {
                    ReleaseEvidence::Minor
                };
                environment.git_version.clone_from(&self.kubernetes.git_version);
                environment.emulated_minor = self.kubernetes.emulated_minor.unwrap_or(version.minor);
                environment.min_compatibility_minor = self
                    .kubernetes
                    .min_compatibility_minor
                    .unwrap_or_else(|| environment.emulated_minor.saturating_sub(1));
            }
            Err(error) => warnings.push(format!("{error}; assuming Kubernetes {}", environment.version)),
        }
        for info in &self.feature_gates {
            let component = info.component.parse::<Component>();
            // A gate that this build does not know decides nothing in it.
            let (Ok(component), Some(gate)) = (component, Gate::find(&info.name)) else {
                continue;
            };
            let detail = info.detail.clone().unwrap_or_default();
            let evidence = match info.evidence.as_str() {
                // What the objects of the file tell is read from them again.
                "Assumed" | "Objects" => continue,
                "Metrics" => Evidence::Metrics,
                "Served" => Evidence::Served(detail),
                "Implied" => Evidence::Implied(detail),
                "Arguments" => Evidence::Arguments(detail),
                // It was recorded with the file; the reader can override it.
                _ => Evidence::Recorded,
            };
            let enabled = info.enabled;
            let state = GateState { enabled, evidence };
            environment.gates.push((component, gate, state));
        }
        let profile = |profile: &ProfileInfo| SchedulerProfile {
            name: profile.name.as_str().into(),
            disabled: profile.disabled.iter().map(|name| name.as_str().into()).collect(),
        };
        let profiles = self.scheduler_profiles.as_ref();
        environment.scheduler_profiles = profiles.map(|profiles| profiles.iter().map(profile).collect());
        for gap in self.gaps.iter().filter(|gap| kind_of(&gap.kind).is_none()) {
            warnings.push(format!(
                "the snapshot does not contain objects of unknown kind `{}`",
                gap.kind
            ));
        }
        environment.gaps = Kind::all().flat_map(|kind| self.gaps_of(kind)).collect();
        environment.old_versions.clone_from(&self.old_versions);
        environment.not_served = self.not_served.iter().filter_map(|name| kind_of(name)).collect();
        (environment, warnings)
    }
}

fn kind_of(name: &str) -> Option<Kind> {
    Kind::all().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_survives_a_snapshot() {
        let state = |enabled, evidence| GateState { enabled, evidence };
        let gates = vec![
            (
                Component::ApiServer,
                Gate::GenericWorkload,
                state(true, Evidence::Served("x".into())),
            ),
            (
                Component::ApiServer,
                Gate::DRADeviceTaints,
                state(true, Evidence::Metrics),
            ),
            (
                Component::Scheduler,
                Gate::DRADeviceTaints,
                state(false, Evidence::Arguments("p".into())),
            ),
        ];
        let before = Environment {
            version: Version {
                major: 1,
                minor: 37,
                patch: 2,
            },
            release_evidence: ReleaseEvidence::Patch,
            git_version: Some("v1.37.2-eks-1".into()),
            emulated_minor: 36,
            min_compatibility_minor: 35,
            gates: gates.clone(),
            owners: std::sync::Arc::default(),
            scheduler_profiles: Some(vec![SchedulerProfile {
                name: "packed".into(),
                disabled: vec!["NodePorts".into()],
            }]),
            read_at: Some("2026-11-21T10:00:00Z".parse().unwrap()),
            assumed_now: None,
            source: "cluster a".into(),
            gaps: vec![Gap {
                kind: Kind::Pod,
                namespace: Str::default(),
                except: Str::from("team"),
                is_forbidden: false,
                reason: "forbidden".into(),
            }],
            told: Vec::new(),
            not_served: vec![Kind::PodGroup],
            old_versions: BTreeSet::from(["resource.k8s.io/v1beta1".to_owned()]),
            reviews: Vec::new(),
        };
        let json = serde_json::to_string(&SnapshotInfo::new(&before, Vec::new(), true, None)).unwrap();
        let info: SnapshotInfo = serde_json::from_str(&json).unwrap();
        let (after, warnings) = info.environment("file b".into());
        assert_eq!(warnings, [""; 0]);
        assert_eq!(after.source, "file b");
        assert_eq!(
            format!(
                "{:?}",
                Environment {
                    source: before.source.clone(),
                    ..after
                }
            ),
            format!("{before:?}")
        );
    }

    #[test]
    fn a_flag_of_the_writer_does_not_outrank_one_of_the_reader() {
        let flag = GateState {
            enabled: true,
            evidence: Evidence::Flag,
        };
        let before = Environment {
            gates: vec![(Component::Scheduler, Gate::GenericWorkload, flag)],
            ..Environment::default()
        };
        let (after, _) = SnapshotInfo::new(&before, Vec::new(), true, None).environment(String::new());
        assert_eq!(
            after.gates[0].2,
            GateState {
                enabled: true,
                evidence: Evidence::Recorded
            }
        );
    }

    #[test]
    fn what_a_newer_writer_knew_is_a_warning_and_not_an_error() {
        let info: SnapshotInfo = serde_json::from_str(
            r#"{"kubernetes":{"version":"next"},"gaps":[{"kind":"Quark"}],"featureGates":[{"name":"New"}],"more":1}"#,
        )
        .unwrap();
        let (environment, warnings) = info.environment(String::new());
        assert_eq!(environment.version, Version::LATEST);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
    }
}
