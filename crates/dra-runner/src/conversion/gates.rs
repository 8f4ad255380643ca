//! Proof that DRAWorkloadResourceClaims is permanently off, as `--final` requires.

use std::collections::BTreeMap;

use super::Error;
use dra_model::{Component, Environment, Evidence, Gate};
use dra_rules::reservation::conversion::ClaimGate;

const COMPONENTS: [(Component, &str, &str); 2] = [
    (
        Component::Scheduler,
        "kube-scheduler",
        "--scheduler-feature-gates",
    ),
    (
        Component::ControllerManager,
        "kube-controller-manager",
        "--kcm-feature-gates",
    ),
];

/// Names of the leases whose holders tell whether a process is still the old one.
pub(super) fn leases() -> impl Iterator<Item = &'static str> {
    COMPONENTS.iter().map(|(_, lease, _)| *lease)
}

/// Judges from what the cluster shows (`bare`), what the user says besides (`told`), and who held the leases before and holds them
/// now.
///
/// # Errors
/// Says what shows that the gate is on, or that nothing shows that it is off.
pub(super) fn judge(
    bare: &Environment,
    told: &Environment,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    claim_gate: ClaimGate,
) -> Result<(), Error> {
    let gate = Gate::DRAWorkloadResourceClaims;
    for (component, name, _) in COMPONENTS {
        // Of several replicas each counts.
        let on = bare.gates.iter().find(|(of, which, state)| {
            *of == component && *which == gate && state.enabled && state.evidence.is_of_now()
        });
        if let Some((_, _, state)) = on {
            let why = format!("{gate} is on in {name} ({})", state.evidence);
            return Err(Error::GateOn(why));
        }
        let shown = bare.gate(component, gate).evidence.is_of_now();
        let same = before.get(name).filter(|holder| now.get(name) == Some(holder));
        if let Some(holder) = same.filter(|_| shown) {
            return Err(Error::GateOn(format!(
                "{name} has not restarted since the gate was turned off: {holder} still holds its lease"
            )));
        }
    }
    if claim_gate == ClaimGate::Off {
        return Ok(());
    }
    for (component, name, flag) in COMPONENTS {
        let state = told.gate(component, gate);
        if state.enabled && state.evidence == Evidence::Flag {
            let why = format!("{gate} is on in {name} ({})", state.evidence);
            return Err(Error::GateOn(why));
        }
        if !state.evidence.is_of_now() {
            return Err(Error::GateUnknown(format!(
                "cannot tell whether {gate} is off in every {name}; confirm it with {flag} {gate}=false"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::GateState;

    type Check<'a> = &'a dyn Fn(&Result<(), Error>) -> bool;
    type States<'a> = &'a [(Component, bool, Evidence)];

    fn environment(states: States<'_>) -> Environment {
        let gate = Gate::DRAWorkloadResourceClaims;
        let states = states.iter().map(|(component, enabled, evidence)| {
            let (enabled, evidence) = (*enabled, evidence.clone());
            (*component, gate, GateState { enabled, evidence })
        });
        Environment {
            gates: states.collect(),
            ..Environment::default()
        }
    }

    #[test]
    fn what_the_cluster_shows_beats_what_the_user_says() {
        use Component::{ControllerManager, Scheduler};
        let pod = |name: &str| Evidence::Arguments(name.to_owned());
        let word = [
            (Scheduler, false, Evidence::Flag),
            (ControllerManager, false, Evidence::Flag),
        ];
        let shown = [(Scheduler, false, pod("a")), (ControllerManager, false, pod("b"))];
        let one_on = [(Scheduler, false, pod("a")), (Scheduler, true, pod("c"))];
        let holders = |holder: &str| {
            let holder = Some(holder).filter(|holder| !holder.is_empty());
            holder
                .map(|holder| ("kube-scheduler".to_owned(), holder.to_owned()))
                .into_iter()
                .collect()
        };
        let off = |verdict: &Result<(), Error>| verdict.is_ok();
        let on = |verdict: &Result<(), Error>| matches!(verdict, Err(Error::GateOn(_)));
        let unknown = |verdict: &Result<(), Error>| matches!(verdict, Err(Error::GateUnknown(_)));
        let cases: [(States<'_>, States<'_>, &str, &str, Check<'_>); 8] = [
            (&[], &word, "", "", &off),
            (&[], &word[..1], "", "", &unknown),
            (&[], &[], "", "", &unknown),
            (&shown, &[], "", "", &off),
            (&one_on, &word, "", "", &on),
            (&shown, &[], "old", "new", &off),
            (&shown, &[], "old", "old", &on),
            // The user's word is about processes that the user knows.
            (&[], &word, "old", "old", &off),
        ];
        for (number, (bare, said, before, now, expected)) in cases.into_iter().enumerate() {
            let told = environment(&[bare, said].concat());
            let verdict = judge(
                &environment(bare),
                &told,
                &holders(before),
                &holders(now),
                ClaimGate::Assumed,
            );
            assert!(expected(&verdict), "case {number}: {verdict:?}");
        }
    }
}
