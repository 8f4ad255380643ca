//! Scheduler of a pod.

use dra_model::{Environment, Pod, SchedulerProfile, Str};

/// The responsible scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decider {
    /// kube-scheduler, with default configuration or with configuration that does not affect devices.
    KubeScheduler,
    /// kube-scheduler, with a profile that does without these plugins.
    Without(Str, Vec<Str>),
    /// Not kube-scheduler, which has no profile of this name.
    Other(Str),
    /// Another scheduler or kube-scheduler profile, with unknown configuration.
    Unknown(Str),
}

impl Decider {
    /// Returns the scheduler of `pod`. Without the configuration of kube-scheduler, only its default profile is known.
    pub(super) fn of(environment: &Environment, pod: &Pod) -> Self {
        let name = pod.scheduler();
        let profiles = environment.scheduler_profiles.as_ref();
        let mut known = profiles.into_iter().flatten();
        match known.find(|profile| profile.name == name) {
            // Configurations that can be seen may be those of further schedulers. This one is everywhere.
            None if name == SchedulerProfile::DEFAULT => Self::KubeScheduler,
            None if profiles.is_none() => Self::Unknown(name.into()),
            None => Self::Other(name.into()),
            Some(SchedulerProfile { disabled, .. }) if disabled.is_empty() => Self::KubeScheduler,
            Some(SchedulerProfile { disabled, .. }) => Self::Without(name.into(), disabled.clone()),
        }
    }

    /// Returns why the rules of kube-scheduler may not apply to the pod, as a sentence without a full stop.
    pub(super) fn doubt(&self) -> Option<String> {
        Some(match self {
            Self::KubeScheduler => return None,
            Self::Without(name, plugins) => {
                let plugins: Vec<&str> = plugins.iter().map(Str::as_str).collect();
                format!("kube-scheduler profile {name} disables {}", plugins.join(", "))
            }
            Self::Other(name) => format!(
                "scheduler {name} is not a kube-scheduler profile; this answer follows the rules of \
                kube-scheduler"
            ),
            Self::Unknown(name) => format!(
                "scheduler {name} is another scheduler or a kube-scheduler profile whose configuration is \
                unknown; this answer follows the default rules of kube-scheduler"
            ),
        })
    }
}

/// Returns why the rules of kube-scheduler may not apply to the pod or its replacement.
pub fn other_scheduler(environment: &Environment, pod: &Pod) -> Option<String> {
    Decider::of(environment, pod).doubt()
}

/// The scheduler named by the pod, unless it is known to be kube-scheduler.
pub fn foreign_scheduler(environment: &Environment, pod: &Pod) -> Option<Str> {
    match Decider::of(environment, pod) {
        Decider::Other(name) | Decider::Unknown(name) => Some(name),
        Decider::KubeScheduler | Decider::Without(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_of_the_scheduler_that_it_names() {
        let profile = |name: &str, disabled: &[&str]| SchedulerProfile {
            name: name.into(),
            disabled: disabled.iter().map(|&plugin| Str::from(plugin)).collect(),
        };
        let known = Some(vec![
            profile("default-scheduler", &[]),
            profile("packed", &[]),
            profile("bare", &["DynamicResources"]),
        ]);
        let without = Decider::Without("bare".into(), vec!["DynamicResources".into()]);
        for (name, profiles, expected) in [
            ("", None, Decider::KubeScheduler),
            ("default-scheduler", None, Decider::KubeScheduler),
            ("volcano", None, Decider::Unknown("volcano".into())),
            ("", known.clone(), Decider::KubeScheduler),
            ("packed", known.clone(), Decider::KubeScheduler),
            ("bare", known.clone(), without),
            ("volcano", known, Decider::Other("volcano".into())),
            ("", Some(vec![profile("packed", &[])]), Decider::KubeScheduler),
        ] {
            let environment = Environment {
                scheduler_profiles: profiles,
                ..Environment::default()
            };
            let mut pod = Pod::default();
            pod.spec.scheduler_name = name.into();
            let decider = Decider::of(&environment, &pod);
            assert_eq!(decider, expected, "{name}");
            assert_eq!(decider.doubt().is_none(), decider == Decider::KubeScheduler);
        }
    }
}
