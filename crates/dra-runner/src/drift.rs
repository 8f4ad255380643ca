//! Detects that the release, the feature gates or the served API versions are no longer those that the rules were made for.
//!
//! The rules are made once, at the start. A long run checks now and then whether they still fit the cluster, and a change that matters ends
//! the run, so that the next start makes new ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::rules::rules;
use super::telemetry::Telemetry;
use dra_model::{Component, Environment, Gate, Kind};
use dra_rules::controllers::Deviations;
use dra_sources::live::{Facts, Live};
use dra_sources::{Needs, VersionSettings};

/// Checks whether the rules still fit the cluster.
#[derive(Clone, Debug)]
pub struct Recheck {
    /// The time between two checks.
    pub every: Duration,
    /// Versions and gates that the user sets.
    pub versions: VersionSettings,
}

/// A change of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Drift {
    /// No rule depends on it.
    Harmless(String),
    /// The rules no longer fit the cluster, because of these differences.
    Breaking(Vec<String>),
}

/// Checks for drift until it is dropped.
pub(super) struct DriftWatch {
    inbox: mpsc::Receiver<Drift>,
    _task: JoinSet<()>,
}

impl DriftWatch {
    /// Starts to check, if that is wanted. The rules were made of `environment`, those of its release if `as_released`.
    pub(super) fn start(
        live: &Live,
        needs: &Needs,
        environment: &Environment,
        as_released: bool,
        how: Option<Recheck>,
        telemetry: &Arc<Telemetry>,
    ) -> Self {
        let (told, inbox) = mpsc::channel(1);
        let mut task = JoinSet::new();
        if let Some(how) = how {
            let (live, needs, telemetry) = (live.clone(), needs.clone(), Arc::clone(telemetry));
            let mut baseline = Baseline::new(environment.clone(), as_released);
            task.spawn(async move {
                loop {
                    // That the API server cannot be asked is reported by the watches.
                    let facts = live.facts(&needs, &how.versions, &baseline.begun).await.ok();
                    let is_known = facts.is_some();
                    let drift = facts.and_then(|facts| baseline.compare(facts));
                    telemetry.metrics.rechecked(is_known.then_some(baseline.differed));
                    if let Some(drift) = drift {
                        // The run may have ended.
                        _ = told.send(drift).await;
                    }
                    tokio::time::sleep(how.every).await;
                }
            });
        }
        Self { inbox, _task: task }
    }

    /// Waits for a change.
    pub(super) async fn next(&mut self) -> Drift {
        match self.inbox.recv().await {
            Some(drift) => drift,
            // Nothing is checked.
            None => std::future::pending().await,
        }
    }
}

/// The cluster as it was at the start, and at the last check.
struct Baseline {
    begun: Environment,
    as_released: bool,
    /// The versions in which kinds were served at the first check.
    served: Option<BTreeMap<Kind, Option<&'static str>>>,
    /// Versions of the API server that were reported.
    told: BTreeSet<String>,
    /// Is true if something that matters was different at the last check.
    differed: bool,
}

impl Baseline {
    fn new(begun: Environment, as_released: bool) -> Self {
        Self {
            told: begun.git_version.iter().cloned().collect(),
            begun,
            as_released,
            served: None,
            differed: false,
        }
    }

    /// The drift to report after a check that found `facts`. What matters has to be seen twice in a row: while a component restarts, its
    /// pod is not there, and behind one address there may be API servers of two releases.
    fn compare(&mut self, facts: Facts) -> Option<Drift> {
        let differences = self.differences(&facts);
        let again = std::mem::replace(&mut self.differed, !differences.is_empty());
        if !differences.is_empty() {
            return again.then_some(Drift::Breaking(differences));
        }
        let version = facts.environment.git_version?;
        let before = self.begun.git_version.clone()?;
        self.told.insert(version.clone()).then(|| {
            Drift::Harmless(format!(
                "the API server was upgraded from {before} to {version}; the rules are unchanged"
            ))
        })
    }

    /// Differences from the start, as far as rules or requests depend on them.
    fn differences(&mut self, facts: &Facts) -> Vec<String> {
        let now = &facts.environment;
        let before = &self.begun;
        let mut differences = Vec::new();
        let first = self.served.get_or_insert_with(|| facts.served.clone());
        for (kind, version) in &facts.served {
            let known = if before.not_served.contains(kind) {
                None
            } else {
                // Of a kind that could not be looked at first, any version is as good.
                first.get(kind).copied().flatten().or(*version).or(Some(""))
            };
            if known == *version {
                continue;
            }
            let name = format!("{}.{}", kind.plural(), kind.group());
            differences.push(match (known, version) {
                (None, Some(version)) => format!("{name} are now served in {version}"),
                (_, None) => format!("{name} are no longer served"),
                (Some(known), Some(version)) => {
                    format!("{name} are now served in {version}, previously {known}")
                }
            });
        }
        let rules_of = |environment| rules(environment, Deviations::ON, self.as_released);
        if rules_of(before) != rules_of(now) {
            let count = differences.len();
            for gate in Gate::all() {
                let of = |environment: &Environment| environment.gate(Component::ControllerManager, gate);
                let (was, is) = (of(before), of(now));
                if was.enabled != is.enabled {
                    let word = |on| if on { "on" } else { "off" };
                    differences.push(format!(
                        "feature gate {gate} of kube-controller-manager is now {} ({}), previously {} ({})",
                        word(is.enabled),
                        is.evidence,
                        word(was.enabled),
                        was.evidence
                    ));
                }
            }
            if differences.len() == count {
                differences.push(format!(
                    "the API server is now Kubernetes {}, previously {}",
                    now.version, before.version
                ));
            }
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Evidence, GateState, Version};

    fn environment(version: &str) -> Environment {
        Environment {
            git_version: Some(version.to_owned()),
            not_served: vec![Kind::PodGroup],
            ..Environment::default()
        }
    }

    fn facts(environment: Environment, rules: Option<&'static str>) -> Facts {
        let groups = (!environment.not_served.contains(&Kind::PodGroup)).then_some("v1beta1");
        Facts {
            environment,
            served: BTreeMap::from([
                (Kind::Pod, Some("v1")),
                (Kind::PodGroup, groups),
                (Kind::DeviceTaintRule, rules),
            ]),
        }
    }

    fn moved(drift: Option<Drift>) -> String {
        match drift {
            Some(Drift::Breaking(differences)) => differences.join("; "),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn relevant_changes_are_reported_when_seen_twice() {
        let begun = environment("v1.37.1");
        let mut baseline = Baseline::new(begun.clone(), false);
        let same = || facts(environment("v1.37.1"), Some("v1"));
        assert_eq!(baseline.compare(same()), None);
        let served = || {
            let mut now = environment("v1.37.1");
            now.not_served.clear();
            facts(now, Some("v1"))
        };
        assert_eq!(baseline.compare(served()), None);
        assert!(baseline.differed);
        assert_eq!(baseline.compare(same()), None, "it was for a moment");
        assert!(!baseline.differed);
        assert_eq!(baseline.compare(served()), None);
        assert_eq!(
            moved(baseline.compare(served())),
            "podgroups.scheduling.k8s.io are now served in v1beta1"
        );

        let mut baseline = Baseline::new(begun, false);
        for (version, told) in [
            (Some("v1"), ""),
            (Some("v1beta2"), ""),
            (Some("v1beta2"), "are now served in v1beta2"),
            (None, "devicetaintrules.resource.k8s.io are no longer served"),
        ] {
            let drift = baseline.compare(facts(environment("v1.37.1"), version));
            match told {
                "" => assert_eq!(drift, None),
                told => assert!(moved(drift).contains(told), "{told}"),
            }
        }
    }

    #[test]
    fn a_gate_matters_where_a_rule_goes_by_it() {
        let with = |gate| {
            let mut now = environment("v1.37.1");
            let evidence = Evidence::Arguments("kube-system/kcm".to_owned());
            let before = now.enabled(Component::ControllerManager, gate);
            let state = GateState {
                enabled: !before,
                evidence,
            };
            now.gates.push((Component::ControllerManager, gate, state));
            now
        };
        let mut baseline = Baseline::new(environment("v1.37.1"), false);
        for gate in [Gate::DRAPartitionableDevices, Gate::DRAConsumableCapacity] {
            let now = facts(with(gate), Some("v1"));
            assert_eq!(baseline.differences(&now), [""; 0], "{gate}");
        }
        let told = baseline.differences(&facts(with(Gate::DRADeviceTaints), Some("v1")));
        let [told] = &told[..] else {
            panic!("{told:?}");
        };
        assert!(
            told.contains(
                "DRADeviceTaints of kube-controller-manager is now off (arguments of kube-system/kcm)"
            ),
            "{told}"
        );
    }

    #[test]
    fn another_release_is_reported_once_and_matters_where_its_bugs_count() {
        let of = |minor, text: &str| Environment {
            version: Version::minor(minor),
            ..environment(text)
        };
        let mut baseline = Baseline::new(of(36, "v1.36.2"), false);
        let look =
            |baseline: &mut Baseline, minor, text| baseline.compare(facts(of(minor, text), Some("v1")));
        let told = look(&mut baseline, 37, "v1.37.1");
        assert_eq!(
            told,
            Some(Drift::Harmless(
                "the API server was upgraded from v1.36.2 to v1.37.1; the rules are unchanged".to_owned()
            ))
        );
        // Both are behind one address for a while.
        assert_eq!(look(&mut baseline, 36, "v1.36.2"), None);
        assert_eq!(look(&mut baseline, 37, "v1.37.1"), None);

        let mut baseline = Baseline::new(of(36, "v1.36.2"), true);
        assert_eq!(look(&mut baseline, 37, "v1.37.1"), None);
        assert!(moved(look(&mut baseline, 37, "v1.37.1")).contains("is now Kubernetes 1.37"));
    }

    #[test]
    fn a_patch_release_that_evicts_more_pods_matters() {
        let of = |patch| Environment {
            version: Version {
                patch,
                ..Version::minor(37)
            },
            ..environment(&format!("v1.37.{patch}"))
        };
        let look = |baseline: &mut Baseline, patch| baseline.compare(facts(of(patch), Some("v1")));
        let mut baseline = Baseline::new(of(0), false);
        assert!(matches!(look(&mut baseline, 1), Some(Drift::Harmless(_))));
        assert_eq!(look(&mut baseline, 2), None);
        let told = moved(look(&mut baseline, 2));
        assert_eq!(told, "the API server is now Kubernetes 1.37.2, previously 1.37.0");
        let mut baseline = Baseline::new(of(2), false);
        assert!(matches!(look(&mut baseline, 3), Some(Drift::Harmless(_))));
    }
}
