//! The gates that components are started with, and the releases in between.

use std::collections::BTreeMap;

use super::Target;
use super::words::{self, OldGate};
use crate::findings::finding::Subject;
use crate::findings::{Code, Finding, Look, Severity, is_seen, unseen};
use dra_model::{Component, Evidence, Gate, Release};

pub(super) fn look(look: &mut Look<'_>, target: &Target) {
    if !target.older {
        return;
    }
    if look.wants(Code::FeatureGates) {
        gates(look, target);
    }
    let environment = look.cluster.environment();
    if environment.emulated_minor - target.minor > 1 {
        look.add(
            Finding::new(
                Code::SkippedVersion,
                Subject::cluster(format!("1.{}", environment.emulated_minor)),
                words::skips_releases(target),
            )
            .advice(words::downgrade_first(environment.emulated_minor - 1)),
        );
    }
}

/// Gates that the target does not know, or that keep its API server from becoming ready.
fn gates(look: &mut Look<'_>, target: &Target) {
    let environment = look.cluster.environment();
    let mut named: BTreeMap<&str, (Gate, Vec<Component>)> = BTreeMap::new();
    for component in Component::ALL {
        for gate in Gate::all() {
            let state = environment.gate(component, gate);
            // Flags cannot be read off objects either: they may have been changed since.
            if !state.evidence.is_of_now() {
                continue;
            }
            // An argument that names a gate is an error even if it switches it off. Elsewhere only what differs from the default must have
            // been named: what is on by default need not be removed from the flags.
            let default = gate.default_in(environment.emulated_minor, environment.min_compatibility_minor);
            let is_named = match state.evidence {
                Evidence::Arguments(_) => true,
                // AllAlpha turns on what the target knows, and nothing else.
                Evidence::Implied(_) => state.enabled && default == Some(false) && target.knows(gate),
                Evidence::Flag => state.enabled,
                _ => default != Some(state.enabled),
            };
            if is_named {
                named
                    .entry(gate.name())
                    .or_insert((gate, Vec::new()))
                    .1
                    .push(component);
            }
        }
    }
    for (name, (gate, components)) in named {
        let why = if !target.knows(gate) {
            OldGate::Unknown
        } else if gate == Gate::GenericWorkload
            && environment.enabled(components[0], gate)
            && environment.serves_groups()
            && target.is_older_and(|release| !release.serves_groups)
        {
            OldGate::NeverReady
        } else {
            continue;
        };
        let message = words::old_gate(name, &components, &why, target);
        look.add(
            Finding::new(Code::FeatureGates, Subject::gate(name), message)
                .order(7)
                .advice(words::remove_gate(name, gate == Gate::GenericWorkload)),
        );
    }
    // Gangs come with GenericWorkload where they need no gate of their own.
    let needs_gate = |release: &Release| !release.groups_end_early;
    let has_gangs = || {
        let mut groups = look.cluster.pod_groups();
        groups.any(|group| group.spec.scheduling_policy.gang.is_some())
    };
    if !needs_gate(&Release::of_minor(environment.emulated_minor))
        && target.is_older_and(needs_gate)
        && !target.lacks(Gate::GenericWorkload)
        && target.lacks(Gate::GangScheduling)
        && has_gangs()
    {
        let gate = Gate::GangScheduling;
        let message = words::needs_gang_gate(target);
        look.add(
            Finding::new(Code::FeatureGates, Subject::gate(gate.name()), message)
                .severity(Severity::Warning)
                .order(8)
                .advice(words::gate_on(gate)),
        );
    }
    if !is_seen(environment, Component::ApiServer) {
        look.found.unknown.add(words::UNKNOWN_APISERVER_GATES.to_owned());
    }
    let unseen = unseen(environment, &[Component::Scheduler, Component::ControllerManager]);
    if !unseen.is_empty() {
        look.found.warnings.add(words::unknown_old_gates(&unseen, target));
    }
}
