//! Gates without evidence about their current value, and the effect of the other value.

use serde::Serialize;

use dra_model::{Cluster, Component, Environment, Evidence, Gate, GateState, Stage};

/// A gate that affects the answer and is known only from a default or from objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssumedGate {
    /// The component.
    pub component: &'static str,
    /// The gate.
    pub name: &'static str,
    /// What the answer takes it for.
    pub enabled: bool,
    /// Evidence: `assumed` for the default of the release, or an object.
    pub evidence: String,
    /// Evidence that the API server has it on, although the answer assumes off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_in_api_server: Option<String>,
    /// The answer with the other value.
    pub otherwise: String,
}

impl AssumedGate {
    /// The gate of `hanging`; with the other value the answer would be `otherwise`.
    pub fn new(hanging: &Hanging, otherwise: String) -> Vec<Self> {
        let of_component = |(component, state): &(Component, GateState)| Self {
            component: component.into(),
            name: hanging.gate.name(),
            enabled: state.enabled,
            evidence: state.evidence.to_string(),
            on_in_api_server: hanging.on_in_api_server.clone().filter(|_| !state.enabled),
            otherwise: otherwise.clone(),
        };
        hanging.states.iter().map(of_component).collect()
    }

    /// The same for people.
    pub fn text(&self) -> String {
        let Self {
            component,
            name,
            enabled,
            evidence,
            on_in_api_server,
            otherwise,
        } = self;
        let word = |on: bool| if on { "on" } else { "off" };
        let why = match evidence.strip_prefix("objects: ") {
            Some(what) => format!("as {what}"),
            None => "the default of the release".to_owned(),
        };
        let why = match on_in_api_server {
            Some(what) => format!("{why}, although the API server enables it: {what}"),
            None => why,
        };
        format!(
            "this depends on {name}, assumed {} in {component} ({why}): if it is {}, {otherwise}",
            word(*enabled),
            word(!*enabled)
        )
    }
}

/// A gate that can affect an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hanging {
    /// The gate.
    pub gate: Gate,
    /// Components with an unknown value, and the assumed value.
    states: Vec<(Component, GateState)>,
    /// Evidence that the API server had it on once.
    on_in_api_server: Option<String>,
}

impl Hanging {
    /// Those of `gates` that objects of `cluster` use, and whose current value is unknown in some of the `components`.
    /// Stable gates count as known: they are not turned off.
    pub fn of(cluster: &Cluster, gates: &[Gate], components: &[Component]) -> Vec<Self> {
        let environment = cluster.environment();
        let shown = cluster.gates_shown();
        let used = cluster.gates_in_use();
        let hanging = |gate: &Gate| {
            let states = components.iter().filter_map(|component| {
                let state = unsure(environment, *component, *gate)?;
                // What is on by default and was made use of is on.
                let is_seen = state.evidence == Evidence::Assumed && shown.contains_key(&(*component, *gate));
                (!state.enabled || !is_seen).then_some((*component, state))
            });
            Self {
                gate: *gate,
                states: states.collect(),
                on_in_api_server: shown.get(&(Component::ApiServer, *gate)).cloned(),
            }
        };
        let hanging = gates.iter().filter(|gate| used.contains(*gate)).map(hanging);
        hanging.filter(|hanging| !hanging.states.is_empty()).collect()
    }

    /// The same of each single component, where there are several.
    pub fn of_each(&self) -> Vec<Self> {
        let single = |state: &(Component, GateState)| Self {
            states: vec![state.clone()],
            ..self.clone()
        };
        match self.states.as_slice() {
            [_] => Vec::new(),
            states => states.iter().map(single).collect(),
        }
    }

    /// The components that lack the gate, although the API server has had it on.
    pub fn lacking(&self) -> impl Iterator<Item = Component> {
        let off = self.states.iter().filter(|(_, state)| !state.enabled);
        off.filter(|_| self.on_in_api_server.is_some())
            .map(|(component, _)| *component)
    }

    /// The cluster with the other value.
    #[must_use]
    pub fn otherwise(&self, cluster: &Cluster) -> Cluster {
        let mut other = cluster.clone();
        for (component, state) in &self.states {
            other = other.with_gate(*component, self.gate, !state.enabled);
            // Claims of groups need groups.
            if self.gate == Gate::DRAWorkloadResourceClaims && !state.enabled {
                other = other.with_gate(*component, Gate::GenericWorkload, true);
            }
        }
        other
    }
}

/// The state of `gate` in `component`, where it is a guess: a default that may have been changed, or, against the default, what
/// objects show of the past.
fn unsure(environment: &Environment, component: Component, gate: Gate) -> Option<GateState> {
    let stage = gate.stage_in(environment.emulated_minor)?;
    let default = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
    let state = environment.gate(component, gate);
    let is_guess = match state.evidence {
        Evidence::Assumed => true,
        Evidence::Objects(_) => default != Some(state.enabled),
        _ => false,
    };
    (stage != Stage::Stable && is_guess).then_some(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{ClusterBuilder, Kind, Object};

    #[test]
    fn a_gate_in_use_is_uncertain_without_evidence() {
        let mut builder = ClusterBuilder::default();
        for (kind, json) in [
            (Kind::PodGroup, r#"{"metadata":{"namespace":"n","name":"g"}}"#),
            (
                Kind::ResourceClaim,
                r#"{"metadata":{"namespace":"n","name":"c"},"status":{"allocation":{},"reservedFor":[
                    {"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"g","uid":"u"}]}}"#,
            ),
        ] {
            builder.add(Object::from_json(kind, json.as_bytes()).unwrap());
        }
        let mut cluster = builder.build(Environment::default()).0;
        cluster.learn_gates();
        let gates = [Gate::DRAWorkloadResourceClaims, Gate::DRAPartitionableDevices];
        let controller = [Component::ControllerManager];
        let hanging = Hanging::of(&cluster, &gates, &controller);
        let [groups] = hanging.as_slice() else {
            panic!("{hanging:?}");
        };
        assert_eq!(groups.gate, Gate::DRAWorkloadResourceClaims);
        let told = AssumedGate::new(groups, "pods stay".to_owned());
        let texts: Vec<String> = told.iter().map(AssumedGate::text).collect();
        assert_eq!(
            texts,
            [
                "this depends on DRAWorkloadResourceClaims, assumed on in kube-controller-manager (as \
                claim/n/c is reserved for podgroup/g): if it is off, pods stay"
            ]
        );
        let other = groups.otherwise(&cluster);
        let gate = Gate::DRAWorkloadResourceClaims;
        assert!(!other.environment().enabled(Component::ControllerManager, gate));
        assert!(other.environment().enabled(Component::Scheduler, gate));
        let known = cluster.with_gate(Component::ControllerManager, gate, true);
        assert_eq!(Hanging::of(&known, &gates, &controller), []);
    }
}
