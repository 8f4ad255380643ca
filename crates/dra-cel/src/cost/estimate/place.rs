//! Origin of a value in `device`, and the resulting size.
//!
//! Mirrors `compile.go`, `sizeEstimator.EstimateSize` (dynamic-resource-allocation v0.37.1), which walks paths of names through the
//! declared types. Names in the domains of attributes are indistinguishable from fields, so a path can lose its way.

use super::amount::Range;
use crate::release::Release;

/// The end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// No path.
    Nowhere,
    /// A path that leads to nothing declared.
    Lost,
    Device,
    Driver,
    AllowMultipleAllocations,
    Attributes,
    AttributeDomain,
    Attribute,
    Capacities,
    CapacityDomain,
    Capacity,
    DomainName,
    Identifier,
}

impl Place {
    /// Returns where `name` leads from here. `@items`, `@values` and `@keys` stand for members.
    pub(super) fn step(self, name: &str) -> Self {
        match (self, name) {
            (Self::Nowhere, "device") => Self::Device,
            (Self::Device, "driver") => Self::Driver,
            (Self::Device, "allowMultipleAllocations") => Self::AllowMultipleAllocations,
            (Self::Device, "attributes") => Self::Attributes,
            (Self::Device, "capacity") => Self::Capacities,
            (Self::Attributes, "@items" | "@values") => Self::AttributeDomain,
            (Self::Capacities, "@items" | "@values") => Self::CapacityDomain,
            (Self::Attributes | Self::Capacities, "@keys") => Self::DomainName,
            (Self::AttributeDomain | Self::CapacityDomain, "@keys") => Self::Identifier,
            (Self::AttributeDomain, _) => Self::Attribute,
            (Self::CapacityDomain, "@items" | "@values") => Self::Capacity,
            _ => Self::Lost,
        }
    }
}

/// Limits that depend on the release.
#[derive(Debug)]
pub(super) struct Limits {
    /// Of the characters or elements of an attribute.
    pub(super) attribute: u64,
    /// The rules of the release.
    pub(super) release: Release,
}

/// Domains, and names in a domain, that a device can have.
const MAX_NAMES: u64 = 32;
const MAX_DRIVER: u64 = 63;
const MAX_DOMAIN: u64 = 63;
const MAX_IDENTIFIER: u64 = 32;

impl Limits {
    /// The size of what is at `place`.
    pub(super) fn size(&self, place: Place) -> Option<Range> {
        let max = match place {
            Place::Nowhere | Place::Lost => return None,
            Place::Device | Place::Capacity => 0,
            Place::AllowMultipleAllocations => 1,
            Place::Driver => MAX_DRIVER,
            Place::DomainName => MAX_DOMAIN,
            Place::Identifier => MAX_IDENTIFIER,
            Place::Attribute => self.attribute,
            Place::Attributes | Place::AttributeDomain | Place::Capacities | Place::CapacityDomain => {
                MAX_NAMES
            }
        };
        Some(Range::up_to(max))
    }
}
