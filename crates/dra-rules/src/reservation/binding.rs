//! Permission to change reservations and allocations.

use dra_model::{Component, Environment, Gate};

/// Returns whether the API server requires the permission `resourceclaims/binding` to change reservations and
/// allocations. Mirrors `resourceclaim/strategy.go`, `AuthorizedForBinding`, v1.37.2.
pub fn asks_for_binding(environment: &Environment) -> bool {
    let gate = Gate::DRAResourceClaimGranularStatusAuthorization;
    let exists = gate.stage_in(environment.emulated_minor).is_some();
    let state = environment.gate(Component::ApiServer, gate);
    exists && (state.enabled || !state.evidence.is_of_now())
}
