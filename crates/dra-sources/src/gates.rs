//! Versions and feature gates, from flags, program arguments and metrics.
//!
//! Reading those texts is the same wherever they come from; asking a cluster for them is `live`'s part.

use k8s_openapi::apimachinery::pkg::version::Info;
use serde_json::Value;

use dra_model::{
    Component, Environment, Evidence, Gate, GateState, Node, ReleaseEvidence, Stage, Time, Version, json,
};

/// A release of Kubernetes, as far as rules depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the parts of 1.37")]
pub struct MinorVersion {
    pub major: u32,
    pub minor: u32,
}

/// One `NAME=true` of a `--feature-gates`. Of several with the same name the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSetting {
    /// A gate, or `AllAlpha` or `AllBeta`.
    pub name: String,
    /// True if it is on.
    pub enabled: bool,
}

/// Versions and gates given by the user, overriding the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionSettings {
    /// `--kubernetes-version`.
    pub kubernetes: Option<MinorVersion>,
    /// The patch release in it.
    pub patch: Option<u32>,
    /// Gates of every component.
    pub gates: Vec<GateSetting>,
    /// Gates of kube-scheduler.
    pub scheduler_gates: Vec<GateSetting>,
    /// Gates of kube-controller-manager.
    pub controller_manager_gates: Vec<GateSetting>,
    /// Gates of kube-apiserver.
    pub api_server_gates: Vec<GateSetting>,
    /// Gates of the kubelets.
    pub kubelet_gates: Vec<GateSetting>,
}

impl VersionSettings {
    /// Puts what the user knows over what the source knows. Returns a warning for each gate that decides nothing here, since it may
    /// be misspelt.
    pub fn apply(&self, environment: &mut Environment) -> Vec<String> {
        if let Some(MinorVersion { major, minor }) = self.kubernetes {
            let is_told = environment.release_evidence >= ReleaseEvidence::Minor;
            if !is_told || (environment.version.major, environment.version.minor) != (major, minor) {
                let newest = Version::LATEST;
                let version = Version {
                    major,
                    minor,
                    // Of a release that is known without its patch, the one that was compared stands for all.
                    patch: if minor == newest.minor { newest.patch } else { 0 },
                };
                environment.assume(version, ReleaseEvidence::Minor);
            }
            environment.emulated_minor = minor;
            if let Some(patch) = self.patch {
                environment.release_evidence = ReleaseEvidence::Patch;
                if patch != environment.version.patch {
                    environment.version.patch = patch;
                    environment.git_version = None;
                }
            }
        }
        let mut warnings = Vec::new();
        for component in Component::ALL {
            let own = match component {
                Component::ApiServer => &self.api_server_gates,
                Component::Scheduler => &self.scheduler_gates,
                Component::ControllerManager => &self.controller_manager_gates,
                Component::Kubelet => &self.kubelet_gates,
            };
            // What is said of one component is more than what is said of all.
            let settings: Vec<GateSetting> = self.gates.iter().chain(own).cloned().collect();
            let is_known =
                |name: &str| Gate::find(name).is_some() || STAGES.iter().any(|(stage, _)| *stage == name);
            for setting in settings.iter().filter(|setting| !is_known(&setting.name)) {
                let warning = format!(
                    "ignoring feature gate `{}`: it does not affect devices",
                    setting.name
                );
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            let minor = environment.emulated_minor;
            for gate in Gate::all() {
                if let Some(enabled) = setting_of(&settings, gate, minor) {
                    let default = gate.default_in(minor, environment.min_compatibility_minor);
                    if gate.is_locked_in(minor) && default != Some(enabled) {
                        let state = if enabled { "off" } else { "on" };
                        let warning =
                            format!("feature gate {gate} is locked in 1.{minor}: it is always {state}");
                        if !warnings.contains(&warning) {
                            warnings.push(warning);
                        }
                        continue;
                    }
                    let evidence = Evidence::Flag;
                    let state = GateState { enabled, evidence };
                    environment.gates.push((component, gate, state));
                }
            }
        }
        warnings
    }
}

/// Names in `--feature-gates` that stand for all gates of a stage.
const STAGES: [(&str, Stage); 2] = [("AllAlpha", Stage::Alpha), ("AllBeta", Stage::Beta)];

/// Returns what `settings` say of `gate` in the release 1.`minor`. A gate's own name wins over its stage. Mirrors `feature_gate.go`,
/// `SetFromMap` and `setUnsetAlphaGates`, v0.37.1.
fn setting_of(settings: &[GateSetting], gate: Gate, minor: u32) -> Option<bool> {
    let stage = gate.stage_in(minor)?;
    let last = |name: &str| {
        let setting = settings.iter().rev().find(|setting| setting.name == name)?;
        Some(setting.enabled)
    };
    let of_stage = || STAGES.iter().find(|(_, whole)| *whole == stage);
    last(gate.name()).or_else(|| last(of_stage()?.0))
}

/// The gates of a component by the arguments it runs with: those that are set, and the defaults of its release for all others.
fn from_arguments(
    arguments: &[String],
    image: &str,
    server: &Environment,
    pod: &str,
) -> Vec<(Gate, GateState)> {
    let own = image_version(image).unwrap_or(server.version);
    let same_release = own.minor == server.version.minor;
    let number = |name: &str| last_value(arguments, name).and_then(|value| minor_of(&value));
    let minor = number("--emulated-version").unwrap_or(own.minor);
    let min_compatibility =
        number("--min-compatibility-version").unwrap_or(if same_release && minor == own.minor {
            server.min_compatibility_minor
        } else {
            minor.saturating_sub(1)
        });
    let settings: Vec<GateSetting> = values(arguments, "--feature-gates")
        .iter()
        .flat_map(|value| settings(value))
        .collect();
    Gate::all()
        .filter_map(|gate| {
            let enabled =
                setting_of(&settings, gate, minor).or_else(|| gate.default_in(minor, min_compatibility))?;
            let is_named = settings.iter().any(|setting| setting.name == gate.name());
            let evidence = if is_named {
                Evidence::Arguments
            } else {
                Evidence::Implied
            };
            let evidence = evidence(pod.to_owned());
            Some((gate, GateState { enabled, evidence }))
        })
        .collect()
}

/// The settings in the value of one `--feature-gates`. What is not understood is left out: a component that runs understood it.
fn settings(value: &str) -> Vec<GateSetting> {
    value
        .trim_matches(['"', '\''])
        .split(',')
        .filter_map(|setting| {
            let (name, value) = setting.trim().split_once('=')?;
            // `kube:` names the component, which is the only one with these gates.
            let name = name.strip_prefix("kube:").unwrap_or(name).trim();
            let enabled = go_bool(value.trim())?;
            Some(GateSetting {
                name: name.to_owned(),
                enabled,
            })
        })
        .collect()
}

/// Returns what Go's `strconv.ParseBool` reads, in which kubectl's flags and feature gates are written.
pub fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// The values of a flag in a program's arguments, in order. Where a shell starts the program, the command is one argument with
/// blanks in it.
fn values(arguments: &[String], flag: &str) -> Vec<String> {
    let words: Vec<&str> = arguments
        .iter()
        .flat_map(|argument| {
            // A value may hold blanks of its own, but then the argument begins with its flag.
            if argument.starts_with('-') {
                vec![argument.as_str()]
            } else {
                argument.split_whitespace().collect()
            }
        })
        .collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.strip_prefix(flag) {
            Some("") => found.extend(words.get(at + 1).map(|&value| value.to_owned())),
            Some(rest) => found.extend(rest.strip_prefix('=').map(str::to_owned)),
            None => {}
        }
    }
    found
}

fn last_value(arguments: &[String], flag: &str) -> Option<String> {
    values(arguments, flag).pop()
}

/// 36, of `1.36` or `kube=1.36`.
fn minor_of(value: &str) -> Option<u32> {
    let kube = value.split(',').find_map(|part| match part.split_once('=') {
        Some(("kube", version)) => Some(version),
        Some(_) => None,
        None => Some(part),
    })?;
    kube.parse::<Version>().ok().map(|version| version.minor)
}

/// The release in an image's tag: `registry.k8s.io/kube-scheduler:v1.37.2`.
fn image_version(image: &str) -> Option<Version> {
    let name = image.split('@').next()?;
    let (_, tag) = name.rsplit_once(':')?;
    tag.starts_with('v').then(|| tag.parse().ok())?
}

/// What kubelets show of the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kubelets {
    /// The newest release.
    pub(crate) newest: Option<Version>,
    /// When one whose node is ready reported last.
    pub(crate) reported: Option<Time>,
}

impl Kubelets {
    /// That of one node.
    pub(crate) fn of(node: &Node) -> Self {
        let ready = node.ready().filter(|ready| ready.status == "True");
        Self {
            newest: node.status.node_info.kubelet_version.parse().ok(),
            reported: ready.and_then(|ready| ready.last_heartbeat_time),
        }
    }

    /// Those of both.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            newest: self.newest.max(other.newest),
            reported: self.reported.max(other.reported),
        }
    }
}

/// Component and arguments of a static control plane pod.
#[derive(Clone, Debug)]
pub(crate) struct ControlPlanePod {
    component: Component,
    name: String,
    image: String,
    arguments: Vec<String>,
}

impl ControlPlanePod {
    /// Reads a pod, if it is one of the control plane: in kube-system, with the label that kubeadm and others give it.
    pub(crate) fn of(json: &[u8]) -> Option<Self> {
        // Most pods are none of the control plane, and decoding each twice would double the work.
        memchr::memmem::find(json, b"\"kube-system\"")?;
        memchr::memmem::find(json, b"\"component\"")?;
        let pod: Value = json::from_slice(json).ok()?;
        let metadata = &pod["metadata"];
        let label = metadata["labels"]["component"]
            .as_str()
            .filter(|_| metadata["namespace"] == "kube-system")?;
        let component: Component = label.parse().ok()?;
        let container = match pod["spec"]["containers"].as_array()?.as_slice() {
            [only] => only,
            several => several.iter().find(|container| container["name"] == label)?,
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let arguments = ["command", "args"].map(|field| container[field].as_array());
        let arguments = arguments.into_iter().flatten().flatten();
        let arguments: Vec<String> = arguments.map(text).collect::<Option<_>>()?;
        // A snapshot leaves the arguments out, and nothing is not the same as none.
        if arguments.iter().all(|argument| argument == "redacted") {
            return None;
        }
        Some(Self {
            component,
            name: text(&metadata["name"])?,
            image: text(&container["image"]).unwrap_or_default(),
            arguments,
        })
    }

    /// The release of the API server among `pods`, if its image tells; the lowest where several are running.
    pub(crate) fn version_of(pods: &[Self]) -> Option<Version> {
        let servers = pods.iter().filter(|pod| pod.component == Component::ApiServer);
        servers.filter_map(|pod| image_version(&pod.image)).min()
    }

    /// The value of `--controllers` of kube-controller-manager, or its default; nothing for other components. The last one counts.
    pub(crate) fn controllers(&self) -> Option<String> {
        let is_it = self.component == Component::ControllerManager;
        is_it.then(|| last_value(&self.arguments, "--controllers").unwrap_or_else(|| "*".to_owned()))
    }

    /// The gates of the component.
    pub(crate) fn gates(&self, server: &Environment) -> impl Iterator<Item = (Component, Gate, GateState)> {
        let place = format!("kube-system/{}", self.name);
        let component = self.component;
        from_arguments(&self.arguments, &self.image, server, &place)
            .into_iter()
            .map(move |(gate, state)| (component, gate, state))
    }
}

/// How a line of metrics about a feature gate begins.
pub(crate) const FEATURE: &str = "kubernetes_feature_enabled{";

/// One line of metrics: `kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 1`.
pub(crate) fn from_metric(line: &str) -> Option<(Gate, bool)> {
    let (labels, value) = line.strip_prefix(FEATURE)?.split_once('}')?;
    let name = labels
        .split(',')
        .find_map(|label| label.trim().strip_prefix("name=\"")?.strip_suffix('"'))?;
    Some((Gate::find(name)?, value.trim() == "1"))
}

/// An environment with the versions that `/version` answers with. Numbers are texts, and some vendors write `37+`.
///
/// Builds without a version number say `v0.0.0-master`; then the numbers beside it count.
pub(crate) fn environment(answer: Info) -> Result<Environment, dra_model::InvalidVersion> {
    let numbers: Version = format!("{}.{}", answer.major, answer.minor).parse()?;
    let named = answer.git_version.parse::<Version>();
    let version = named
        .ok()
        .filter(|named| (named.major, named.minor) == (numbers.major, numbers.minor));
    let digits = |text: String| {
        text.trim_end_matches(|c: char| !c.is_ascii_digit())
            .parse::<u32>()
            .ok()
    };
    let emulated_minor = answer.emulation_minor.and_then(digits).unwrap_or(numbers.minor);
    Ok(Environment {
        version: version.unwrap_or(numbers),
        release_evidence: ReleaseEvidence::Patch,
        git_version: Some(answer.git_version).filter(|text| !text.is_empty()),
        emulated_minor,
        min_compatibility_minor: answer
            .min_compatibility_minor
            .and_then(digits)
            .unwrap_or_else(|| emulated_minor.saturating_sub(1)),
        ..Environment::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(list: &[&str]) -> Vec<String> {
        list.iter().map(|&argument| argument.to_owned()).collect()
    }

    fn state(found: &[(Gate, GateState)], gate: Gate) -> Option<bool> {
        found
            .iter()
            .find(|(of, _)| *of == gate)
            .map(|(_, state)| state.enabled)
    }

    #[test]
    fn arguments_say_what_is_set_and_the_release_the_rest() {
        let server = Environment::default();
        for (list, image, expected) in [
            (&["kube-scheduler"][..], "kube-scheduler:v1.37.1", Some(false)),
            (
                &["kube-scheduler", "--feature-gates=GenericWorkload=true"],
                "kube-scheduler:v1.37.1",
                Some(true),
            ),
            (
                &["--feature-gates", "X=true,GenericWorkload=1"],
                "kube-scheduler:v1.37.1",
                Some(true),
            ),
            (&["--feature-gates=kube:GenericWorkload=true"], "", Some(true)),
            (
                &[
                    "--feature-gates=GenericWorkload=true",
                    "--feature-gates=GenericWorkload=false",
                ],
                "",
                Some(false),
            ),
            (
                &["--feature-gates=AllBeta=true"],
                "kube-scheduler:v1.37.1",
                Some(true),
            ),
            (
                &["--feature-gates=AllBeta=true"],
                "kube-scheduler:v1.36.4",
                Some(false),
            ),
            (
                &["--feature-gates=AllAlpha=true"],
                "r.io:5000/kube-scheduler:v1.36.4@sha256:abc",
                Some(true),
            ),
            (
                &["--feature-gates=GenericWorkload=false,AllBeta=true"],
                "",
                Some(false),
            ),
            (
                &["--feature-gates=AllBeta=true", "--emulated-version=kube=1.36"],
                "",
                Some(false),
            ),
            (
                &[
                    "sh",
                    "-c",
                    "exec kube-scheduler --feature-gates=GenericWorkload=true --v=2",
                ],
                "",
                Some(true),
            ),
            (&["kube-scheduler"], "kube-scheduler:v1.34.2", None),
        ] {
            let found = from_arguments(&arguments(list), image, &server, "kube-system/kube-scheduler-a");
            assert_eq!(state(&found, Gate::GenericWorkload), expected, "{list:?} {image}");
        }
    }

    #[test]
    fn a_static_pod_is_found_by_namespace_and_label() {
        let pod = |namespace: &str, component: &str, command: &str| {
            let json = format!(
                r#"{{"metadata":{{"name":"p","namespace":"{namespace}","labels":{{"component":"{component}"}}}},
                    "spec":{{"containers":[{{"name":"{component}","image":"r.io/x:v1.36.2","command":["{command}"],
                    "args":["--feature-gates=GenericWorkload=true"]}},{{"name":"other"}}]}}}}"#
            );
            ControlPlanePod::of(json.as_bytes())
        };
        let found = pod("kube-system", "kube-apiserver", "kube-apiserver").unwrap();
        assert_eq!(
            ControlPlanePod::version_of(std::slice::from_ref(&found))
                .unwrap()
                .to_string(),
            "1.36.2"
        );
        let gates: Vec<_> = found.gates(&Environment::default()).collect();
        let (component, _, state) = gates
            .iter()
            .find(|(_, gate, _)| *gate == Gate::GenericWorkload)
            .unwrap();
        assert_eq!((*component, state.enabled), (Component::ApiServer, true));
        assert!(pod("default", "kube-apiserver", "kube-apiserver").is_none());
        assert!(pod("kube-system", "etcd", "etcd").is_none());
        let redacted =
            br#"{"metadata":{"name":"p","namespace":"kube-system","labels":{"component":"kube-scheduler"}},
            "spec":{"containers":[{"name":"kube-scheduler","command":["redacted"]}]}}"#;
        assert!(ControlPlanePod::of(redacted).is_none());
    }

    #[test]
    fn an_older_scheduler_beside_a_newer_server_has_its_own_defaults() {
        let found = from_arguments(&[], "kube-scheduler:v1.35.2", &Environment::default(), "p");
        assert_eq!(state(&found, Gate::DRADeviceTaints), Some(false));
        assert_eq!(found[0].1.evidence, Evidence::Implied("p".to_owned()));
    }

    #[test]
    fn flags_outrank_everything_and_misspelt_gates_are_named() {
        let setting = |name: &str, enabled| GateSetting {
            name: name.to_owned(),
            enabled,
        };
        let settings = VersionSettings {
            kubernetes: Some(MinorVersion { major: 1, minor: 36 }),
            gates: vec![setting("DRADeviceTaints", false), setting("DRADeviceTaint", true)],
            scheduler_gates: vec![setting("DRADeviceTaints", true)],
            ..VersionSettings::default()
        };
        let mut environment = Environment::default();
        let metrics = GateState {
            enabled: true,
            evidence: Evidence::Metrics,
        };
        environment
            .gates
            .push((Component::ApiServer, Gate::DRADeviceTaints, metrics));
        let warnings = settings.apply(&mut environment);
        assert_eq!(
            warnings,
            ["ignoring feature gate `DRADeviceTaint`: it does not affect devices"]
        );
        assert!(!environment.enabled(Component::ApiServer, Gate::DRADeviceTaints));
        assert!(environment.enabled(Component::Scheduler, Gate::DRADeviceTaints));
        assert_eq!((environment.version.minor, environment.emulated_minor), (36, 36));
        assert_eq!(environment.min_compatibility_minor, 35);
        assert!(!environment.enabled(Component::Scheduler, Gate::DRADeviceTaintRules));
    }

    #[test]
    fn metrics_and_versions_are_read_as_servers_write_them() {
        let line = r#"kubernetes_feature_enabled{name="DRADeviceTaints",stage=""} 1"#;
        assert_eq!(from_metric(line), Some((Gate::DRADeviceTaints, true)));
        assert_eq!(
            from_metric(r#"kubernetes_feature_enabled{name="Other",stage=""} 1"#),
            None
        );
        assert_eq!(from_metric("# HELP kubernetes_feature_enabled"), None);
        let answer = |json: &str| environment(serde_json::from_str(json).unwrap());
        let emulating = answer(
            r#"{"major":"1","minor":"37","emulationMajor":"1","emulationMinor":"36","minCompatibilityMinor":"35",
                "gitVersion":"v1.37.1"}"#,
        )
        .unwrap();
        assert_eq!(emulating.version.to_string(), "1.37.1");
        assert_eq!(
            (emulating.emulated_minor, emulating.min_compatibility_minor),
            (36, 35)
        );
        let unnumbered =
            answer(r#"{"major":"1","minor":"36+","gitVersion":"v0.0.0-master+$Format:%H$"}"#).unwrap();
        assert_eq!(unnumbered.version.to_string(), "1.36.0");
        assert_eq!(
            (unnumbered.emulated_minor, unnumbered.min_compatibility_minor),
            (36, 35)
        );
        assert!(answer("{}").is_err());
    }
}
