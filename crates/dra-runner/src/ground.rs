//! What `run` goes by may change under it: an upgrade brings another release, other gates, other API versions.
//!
//! The rules are made once, so a long run has to find out when they no longer fit. It asks for that now and then, and a
//! change that matters ends the work: the next start goes by what is true then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::metrics::Look;
use super::probes::Operation;
use super::rules::rules;
use dra_model::{Component, Environment, Gate, Kind};
use dra_rules::controllers::Deviations;
use dra_sources::live::{Facts, Live};
use dra_sources::{Needs, VersionSettings};

/// How often to find out whether the rules still fit.
#[derive(Clone, Debug)]
pub struct Recheck {
    /// The time between two looks.
    pub every: Duration,
    /// What the user knows better than the cluster.
    pub versions: VersionSettings,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// Nothing that decides anything, in words.
    Harmless(String),
    /// The rules no longer fit: what is otherwise, in words.
    Moved(Vec<String>),
}

/// Looks at what the rules rest on until it is dropped.
pub(super) struct Ground {
    inbox: mpsc::Receiver<Shift>,
    task: Option<JoinHandle<()>>,
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Ground {
    /// Begins to look, if that is wanted. `environment` is what the rules were made of, those of its release if `as_released`.
    pub(super) fn watch(
        live: &Live,
        needs: &Needs,
        environment: &Environment,
        as_released: bool,
        how: Option<Recheck>,
        operation: &Arc<Operation>,
    ) -> Self {
        let (told, inbox) = mpsc::channel(1);
        let task = how.map(|how| {
            let (live, needs, operation) = (live.clone(), needs.clone(), Arc::clone(operation));
            let mut looking = Looking::new(environment.clone(), as_released);
            tokio::spawn(async move {
                loop {
                    let facts = live.facts(&needs, &how.versions, &looking.begun).await;
                    let shift = match facts {
                        Ok(facts) => looking.at(facts),
                        // That the API server cannot be asked is told by the watches.
                        Err(_) => {
                            operation.metrics.look(Look::Failed);
                            tokio::time::sleep(how.every).await;
                            continue;
                        }
                    };
                    operation.metrics.look(if looking.differed {
                        Look::Differs
                    } else {
                        Look::Same
                    });
                    if let Some(shift) = shift {
                        // Whoever listened may have ended.
                        _ = told.send(shift).await;
                    }
                    tokio::time::sleep(how.every).await;
                }
            })
        });
        Self { inbox, task }
    }

    /// What has changed, once something has.
    pub(super) async fn shift(&mut self) -> Shift {
        match self.inbox.recv().await {
            Some(shift) => shift,
            // No task looks.
            None => std::future::pending().await,
        }
    }
}

/// What was true when the work began, and at the last look.
struct Looking {
    begun: Environment,
    as_released: bool,
    /// The versions in which kinds were served at the first look.
    served: Option<BTreeMap<Kind, Option<&'static str>>>,
    /// Versions of the API server that were told of.
    told: BTreeSet<String>,
    /// Whether something that matters was otherwise at the last look.
    differed: bool,
}

impl Looking {
    fn new(begun: Environment, as_released: bool) -> Self {
        Self {
            told: begun.git_version.iter().cloned().collect(),
            begun,
            as_released,
            served: None,
            differed: false,
        }
    }

    /// What is to be told after a look that found `facts`. What matters has to be seen twice in a row: while a component restarts, its
    /// pod is not there, and behind one address there may be API servers of two releases.
    fn at(&mut self, facts: Facts) -> Option<Shift> {
        let differences = self.differences(&facts);
        let again = std::mem::replace(&mut self.differed, !differences.is_empty());
        if !differences.is_empty() {
            return again.then_some(Shift::Moved(differences));
        }
        let version = facts.environment.git_version?;
        let before = self.begun.git_version.clone()?;
        self.told.insert(version.clone()).then(|| {
            Shift::Harmless(format!(
                "the API server is {version} now, and was {before}: the rules are the same"
            ))
        })
    }

    /// What is otherwise than it was, as far as rules or requests depend on it.
    fn differences(&mut self, facts: &Facts) -> Vec<String> {
        let Facts {
            environment: now,
            served,
        } = facts;
        let before = &self.begun;
        let mut differences = Vec::new();
        let first = self.served.get_or_insert_with(|| served.clone());
        for (kind, version) in served {
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
                (None, Some(version)) => format!("{name} are served now, in {version}"),
                (_, None) => format!("{name} are no longer served"),
                (Some(known), Some(version)) => {
                    format!("{name} are served in {version} now, and were in {known}")
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
                        "the feature gate {gate} of kube-controller-manager is {} now ({}), and was {} ({})",
                        word(is.enabled),
                        is.evidence,
                        word(was.enabled),
                        was.evidence
                    ));
                }
            }
            if differences.len() == count {
                differences.push(format!(
                    "the API server is of Kubernetes {} now, and was of {}",
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

    fn moved(shift: Option<Shift>) -> String {
        match shift {
            Some(Shift::Moved(differences)) => differences.join("; "),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_matters_is_told_when_it_is_seen_twice() {
        let begun = environment("v1.37.1");
        let mut looking = Looking::new(begun.clone(), false);
        let same = || facts(environment("v1.37.1"), Some("v1"));
        assert_eq!(looking.at(same()), None);
        let served = || {
            let mut now = environment("v1.37.1");
            now.not_served.clear();
            facts(now, Some("v1"))
        };
        assert_eq!(looking.at(served()), None);
        assert!(looking.differed);
        assert_eq!(looking.at(same()), None, "it was for a moment");
        assert!(!looking.differed);
        assert_eq!(looking.at(served()), None);
        assert_eq!(
            moved(looking.at(served())),
            "podgroups.scheduling.k8s.io are served now, in v1beta1"
        );

        let mut looking = Looking::new(begun, false);
        for (version, told) in [
            (Some("v1"), ""),
            (Some("v1beta2"), ""),
            (Some("v1beta2"), "are served in v1beta2 now, and were in v1"),
            (None, "devicetaintrules.resource.k8s.io are no longer served"),
        ] {
            let shift = looking.at(facts(environment("v1.37.1"), version));
            match told {
                "" => assert_eq!(shift, None),
                told => assert!(moved(shift).contains(told), "{told}"),
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
        let mut looking = Looking::new(environment("v1.37.1"), false);
        for gate in [Gate::DRAPartitionableDevices, Gate::DRAConsumableCapacity] {
            let now = facts(with(gate), Some("v1"));
            assert_eq!(looking.differences(&now), [""; 0], "{gate}");
        }
        let told = looking.differences(&facts(with(Gate::DRADeviceTaints), Some("v1")));
        let [told] = &told[..] else {
            panic!("{told:?}");
        };
        assert!(
            told.contains(
                "DRADeviceTaints of kube-controller-manager is off now (arguments of kube-system/kcm)"
            ),
            "{told}"
        );
    }

    #[test]
    fn another_release_is_told_once_and_matters_where_its_bugs_count() {
        let of = |minor, text: &str| Environment {
            version: Version::minor(minor),
            ..environment(text)
        };
        let mut looking = Looking::new(of(36, "v1.36.2"), false);
        let look = |looking: &mut Looking, minor, text| looking.at(facts(of(minor, text), Some("v1")));
        let told = look(&mut looking, 37, "v1.37.1");
        assert_eq!(
            told,
            Some(Shift::Harmless(
                "the API server is v1.37.1 now, and was v1.36.2: the rules are the same".to_owned()
            ))
        );
        // Both are behind one address for a while.
        assert_eq!(look(&mut looking, 36, "v1.36.2"), None);
        assert_eq!(look(&mut looking, 37, "v1.37.1"), None);

        let mut looking = Looking::new(of(36, "v1.36.2"), true);
        assert_eq!(look(&mut looking, 37, "v1.37.1"), None);
        assert!(moved(look(&mut looking, 37, "v1.37.1")).contains("is of Kubernetes 1.37"));
    }

    #[test]
    fn a_patch_matters_with_which_more_pods_are_evicted() {
        let of = |patch| Environment {
            version: Version {
                patch,
                ..Version::minor(37)
            },
            ..environment(&format!("v1.37.{patch}"))
        };
        let look = |looking: &mut Looking, patch| looking.at(facts(of(patch), Some("v1")));
        let mut looking = Looking::new(of(0), false);
        assert!(matches!(look(&mut looking, 1), Some(Shift::Harmless(_))));
        assert_eq!(look(&mut looking, 2), None);
        let told = moved(look(&mut looking, 2));
        assert_eq!(
            told,
            "the API server is of Kubernetes 1.37.2 now, and was of 1.37.0"
        );
        let mut looking = Looking::new(of(2), false);
        assert!(matches!(look(&mut looking, 3), Some(Shift::Harmless(_))));
    }
}
