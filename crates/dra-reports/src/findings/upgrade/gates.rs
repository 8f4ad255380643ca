//! Gates with which a component of a release on the way does not start.

use std::collections::BTreeMap;

use super::Upgrade;
use crate::findings::finding::{Subject, some};
use crate::findings::{Code, Finding, Look};
use dra_model::{Component, Evidence, Gate};

pub(super) fn look(look: &mut Look<'_>, upgrade: &Upgrade) {
    if !look.wants(Code::UpgradeGates) {
        return;
    }
    let environment = look.cluster.environment();
    let mut named: BTreeMap<(&str, u32, String), Vec<Component>> = BTreeMap::new();
    let mut known = Vec::new();
    for component in Component::ALL {
        for gate in Gate::all() {
            let state = environment.gate(component, gate);
            if !state.evidence.is_of_now() {
                continue;
            }
            if !matches!(state.evidence, Evidence::Served(_)) {
                known.push(component);
            }
            let default = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
            // What differs from the default was set, and what an argument names is set.
            let differs = default != Some(state.enabled);
            let is_named = differs || matches!(state.evidence, Evidence::Flag);
            for minor in upgrade.minors() {
                let value = gate.default_in(minor, minor.saturating_sub(1));
                let why = match value {
                    None if is_named && gate.stage_in(environment.emulated_minor).is_some() => {
                        format!("1.{minor} does not know the gate: unrecognized feature gate: {gate}")
                    }
                    Some(value) if gate.is_locked_in(minor) && value != state.enabled && differs => {
                        format!(
                            "1.{minor} locks the gate to {value}: cannot set feature gate {gate} to {}, feature is locked to {value}",
                            state.enabled
                        )
                    }
                    _ => continue,
                };
                named
                    .entry((gate.name(), minor, why))
                    .or_default()
                    .push(component);
                break;
            }
        }
    }
    for ((name, minor, why), components) in named {
        let message = format!(
            "is set in {}, which does not start with it any more: {why}",
            some(&components)
        );
        look.add(
            Finding::new(Code::UpgradeGates, Subject::gate(name), message)
                .order(upgrade.step(minor))
                .advice(format!(
                    "whoever runs the control plane removes {name} from --feature-gates"
                )),
        );
    }
    let unseen = crate::findings::unseen(
        &known,
        &[
            Component::ApiServer,
            Component::Scheduler,
            Component::ControllerManager,
        ],
    );
    if !unseen.is_empty() {
        look.found.warnings.add(format!(
            "the feature gates of {} are not known; a newer release does not start with one that it does not know or has locked",
            unseen.join(", ")
        ));
    }
}
