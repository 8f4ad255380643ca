//! The configuration of kube-scheduler, if an object contains it: directly, or as text in a ConfigMap.

use serde::Deserialize;

use super::files::{Found, ReadError, ReadOptions, Source, read};
use dra_model::{SchedulerProfile, Str, json};

const GROUP: &str = "kubescheduler.config.k8s.io/";
const KIND: &str = "KubeSchedulerConfiguration";

/// Plugins whose filters are simulated. Without one of them a profile lets pods where the simulation does not, and
/// without the one for devices, no devices are allocated.
const SIMULATED: [&str; 7] = [
    "DynamicResources",
    "NodeAffinity",
    "NodeName",
    "NodePorts",
    "NodeResourcesFit",
    "NodeUnschedulable",
    "TaintToleration",
];

/// The profiles that the object says kube-scheduler has, if it is its configuration or a ConfigMap with it. A ConfigMap with one that
/// cannot be read is about something else, as far as one can tell.
///
/// # Errors
/// What is wrong with a configuration that is an object of its own.
pub(super) fn profiles(
    api_version: Option<&str>,
    kind: Option<&str>,
    json: &[u8],
) -> Result<Option<Vec<SchedulerProfile>>, serde_json::Error> {
    #[derive(Deserialize)]
    struct ConfigMap {
        #[serde(default)]
        data: std::collections::BTreeMap<String, String>,
    }
    if kind == Some(KIND) && api_version.is_some_and(|version| version.starts_with(GROUP)) {
        return json::from_slice::<Configuration>(json).map(|configuration| Some(configuration.profiles()));
    }
    // Most ConfigMaps are about something else, and their content is private.
    if kind != Some("ConfigMap") || memchr::memmem::find(json, KIND.as_bytes()).is_none() {
        return Ok(None);
    }
    let map = json::from_slice::<ConfigMap>(json).ok();
    Ok(map.and_then(|map| map.data.into_values().find_map(in_text)))
}

/// The profiles in a text that is the configuration of kube-scheduler.
fn in_text(text: String) -> Option<Vec<SchedulerProfile>> {
    if !text.contains(KIND) {
        return None;
    }
    let source = Source::Text {
        name: "configuration".into(),
        text: text.into_bytes().into(),
    };
    let mut found = None;
    let sink = |part: Found<'_>| {
        if let Found::Item(item) = part {
            let (api_version, kind) = (item.api_version.as_deref(), item.kind.as_deref());
            found = found
                .take()
                .or_else(|| profiles(api_version, kind, &item.json).ok().flatten());
        }
        Ok::<_, ReadError>(())
    };
    // A text that cannot be read tells nothing.
    read(&[source], &ReadOptions::default(), sink).ok()?;
    found
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Configuration {
    profiles: Option<Vec<Profile>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Profile {
    scheduler_name: Option<String>,
    plugins: Option<Plugins>,
}

/// Extension points at which a filter can be turned off.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Plugins {
    filter: PluginSet,
    pre_filter: PluginSet,
    multi_point: PluginSet,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PluginSet {
    enabled: Vec<Plugin>,
    disabled: Vec<Plugin>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Plugin {
    name: String,
}

impl Configuration {
    /// Mirrors `apis/config/v1/defaults.go`, `SetDefaults_KubeSchedulerConfiguration`, v1.37.2: without profiles there is the default
    /// one, and a single profile without a name has its name.
    fn profiles(self) -> Vec<SchedulerProfile> {
        let mut profiles = self.profiles.unwrap_or_default();
        if profiles.is_empty() {
            profiles.push(Profile::default());
        }
        profiles.into_iter().map(Profile::told).collect()
    }
}

impl Profile {
    fn told(self) -> SchedulerProfile {
        let name = self.scheduler_name.filter(|name| !name.is_empty());
        SchedulerProfile {
            name: name.as_deref().unwrap_or(SchedulerProfile::DEFAULT).into(),
            disabled: self.plugins.unwrap_or_default().disabled(),
        }
    }
}

impl Plugins {
    /// The simulated plugins that are turned off at a point, and on at none again.
    fn disabled(&self) -> Vec<Str> {
        let sets = [&self.filter, &self.pre_filter, &self.multi_point];
        let any = |list: fn(&PluginSet) -> &Vec<Plugin>, is: &dyn Fn(&str) -> bool| {
            sets.iter()
                .any(|set| list(set).iter().any(|plugin| is(&plugin.name)))
        };
        let is_off = |name: &&&str| {
            any(|set| &set.disabled, &|known| known == **name || known == "*")
                && !any(|set| &set.enabled, &|known| known == **name)
        };
        SIMULATED.iter().filter(is_off).map(|&name| name.into()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kind: &str, api_version: &str, json: &str) -> Option<Vec<(String, Vec<String>)>> {
        let profiles = profiles(Some(api_version), Some(kind), json.as_bytes()).unwrap()?;
        let texts = |list: &[Str]| list.iter().map(ToString::to_string).collect();
        Some(
            profiles
                .iter()
                .map(|profile| (profile.name.to_string(), texts(&profile.disabled)))
                .collect(),
        )
    }

    #[test]
    fn profiles_are_read_from_the_configuration_and_from_a_config_map_with_it() {
        let profile = |name: &str, disabled: &[&str]| {
            let disabled = disabled.iter().map(|&plugin| plugin.to_owned()).collect();
            (name.to_owned(), disabled)
        };
        let api = "kubescheduler.config.k8s.io/v1";
        let default = Some(vec![profile("default-scheduler", &[])]);
        assert_eq!(told(KIND, api, "{}"), default);
        assert_eq!(told(KIND, "example.com/v1", "{}"), None);
        let two = r#"{"profiles":[{"schedulerName":"default-scheduler"},{"schedulerName":"bare","plugins":
            {"multiPoint":{"disabled":[{"name":"*"}],"enabled":[{"name":"NodeName"},{"name":"NodePorts"}]},
             "score":{"disabled":[{"name":"ImageLocality"}]}}}]}"#;
        let off = [
            "DynamicResources",
            "NodeAffinity",
            "NodeResourcesFit",
            "NodeUnschedulable",
            "TaintToleration",
        ];
        let expected = Some(vec![profile("default-scheduler", &[]), profile("bare", &off)]);
        assert_eq!(told(KIND, api, two), expected);
        let text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: a\n";
        let map = serde_json::json!({"data": {"other": "x", "config.yaml": text}}).to_string();
        assert_eq!(told("ConfigMap", "v1", &map), Some(vec![profile("a", &[])]));
        assert_eq!(told("ConfigMap", "v1", r#"{"data":{"x":"y"}}"#), None);
        let broken = r#"{"data":{"x":"kind: KubeSchedulerConfiguration\n\t}"}}"#;
        assert_eq!(told("ConfigMap", "v1", broken), None);
    }
}
