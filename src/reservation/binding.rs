//! Who may change reservations and allocations.

use crate::model::{Component, Environment, Gate};

/// The first release that asks for `resourceclaims/binding`.
const BINDING_SINCE: u32 = 36;

/// Whether the API server asks for the right `resourceclaims/binding` of whoever changes reservations and allocations. Mirrors
/// `resourceclaim/strategy.go`, `AuthorizedForBinding`, v1.37.1.
pub fn asks_for_binding(environment: &Environment) -> bool {
    let gate = environment.gate(
        Component::ApiServer,
        Gate::DRAResourceClaimGranularStatusAuthorization,
    );
    let known_off = !gate.enabled && gate.evidence.is_of_now();
    environment.emulated_minor >= BINDING_SINCE && !known_off
}
