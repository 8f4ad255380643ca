//! Origin of a value in `device`, and the resulting size.
//!
//! Mirrors `compile.go`, `sizeEstimator.EstimateSize` (dynamic-resource-allocation v0.37.1), which walks paths of names through the
//! declared types. Names in the domains of attributes are indistinguishable from fields, so a path can lose its way.

use super::amount::Range;

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

/// Domains, and names in a domain, that a device can have.
const MAX_NAMES: u64 = 32;
const MAX_DRIVER: u64 = 63;
const MAX_DOMAIN: u64 = 63;
const MAX_IDENTIFIER: u64 = 32;
/// The most elements or characters that an attribute can have.
const MAX_ATTRIBUTE: u64 = 64;

impl Place {
    /// The size of what is there.
    pub(super) fn size(self) -> Option<Range> {
        let max = match self {
            Self::Nowhere | Self::Lost => return None,
            Self::Device | Self::Capacity => 0,
            Self::AllowMultipleAllocations => 1,
            Self::Driver => MAX_DRIVER,
            Self::DomainName => MAX_DOMAIN,
            Self::Identifier => MAX_IDENTIFIER,
            Self::Attribute => MAX_ATTRIBUTE,
            Self::Attributes | Self::AttributeDomain | Self::Capacities | Self::CapacityDomain => MAX_NAMES,
        };
        Some(Range::up_to(max))
    }
}
