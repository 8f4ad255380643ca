//! Gates that keep a component of a release on the way from starting.

use std::collections::BTreeMap;

use super::Upgrade;
use super::words;
use crate::findings::facts::GateFault;
use crate::findings::finding::Subject;
use crate::findings::{Code, Finding, Look, unseen};
use dra_model::{Component, Evidence, Gate};

pub(super) fn look(look: &mut Look<'_>, upgrade: &Upgrade) {
    if !look.wants(Code::UpgradeGates) {
        return;
    }
    let environment = look.cluster.environment();
    let mut named: BTreeMap<(&str, u32, GateFault), Vec<Component>> = BTreeMap::new();
    for component in Component::ALL {
        for gate in Gate::all() {
            let state = environment.gate(component, gate);
            if !state.evidence.is_of_now() {
                continue;
            }
            let default = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
            // What differs from the default was set, and what an argument names is set.
            let differs = default != Some(state.enabled);
            let is_named = differs || matches!(state.evidence, Evidence::Flag);
            for minor in upgrade.minors() {
                let value = gate.default_in(minor, minor.saturating_sub(1));
                let why = match value {
                    None if is_named && gate.stage_in(environment.emulated_minor).is_some() => {
                        GateFault::Unknown
                    }
                    Some(value) if gate.is_locked_in(minor) && value != state.enabled && differs => {
                        GateFault::LockedTo(value)
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
        let message = words::gate_is_refused(name, minor, why, &components);
        look.add(
            Finding::new(Code::UpgradeGates, Subject::gate(name), message)
                .order(upgrade.step(minor))
                .advice(words::remove_gate(name, false)),
        );
    }
    let unseen = unseen(
        environment,
        &[
            Component::ApiServer,
            Component::Scheduler,
            Component::ControllerManager,
        ],
    );
    if !unseen.is_empty() {
        look.found.warnings.add(words::unknown_new_gates(&unseen));
    }
}
