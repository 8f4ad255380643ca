//! The sentences about selectors. Nothing reads them again.

use std::fmt::Display;

use dra_cel::{Found, Mistake};
use dra_model::{DeviceId, TOO_MUCH_WORK};

/// What is unknown without slices.
pub(super) const DEVICES: &str = "devices are unknown";

/// What is unknown without classes.
pub(super) const CLASS: &str = "devices of the class are unknown";

/// That a class does not exist.
pub(super) fn no_class(class: &str) -> String {
    format!("deviceclass/{class} not found")
}

/// That it is unknown whether the node can access a device.
pub(super) fn reaches(device: &DeviceId, why: &impl Display) -> String {
    format!("unknown whether the node can access {device}: {why}")
}

/// That it is unknown whether a class selects a device.
pub(super) fn of_class(device: &DeviceId, class: &str, why: &impl Display) -> String {
    format!("unknown whether {device} is of class {class}: {why}")
}

/// That the work was used up.
pub(super) fn not_evaluated(devices: usize) -> String {
    format!("{devices} devices were not evaluated and are left out: {TOO_MUCH_WORK}")
}

/// A mistake, and what to write.
pub(super) fn mistake(found: &Found) -> String {
    let name = &found.name;
    match found.mistake {
        Mistake::CapacityAsAttribute => format!("`{name}` is a capacity, not an attribute"),
        Mistake::AttributeAsCapacity => format!("`{name}` is an attribute, not a capacity"),
        Mistake::DomainLeftOut => {
            format!("`{name}` needs its domain, as in [\"DOMAIN\"].{name}")
        }
        Mistake::MapLeftOut => {
            format!("write the map and the domain of `{name}`")
        }
        Mistake::WrongDomain => format!("no device has it in this domain, but some have `{name}`"),
        Mistake::DeviceLeftOut => format!("write device.{name}: `{name}` is a field of the device"),
        Mistake::Misspelt => format!("no device has this name: did you mean `{name}`?"),
        Mistake::FunctionMisspelt => format!("no function has this name: did you mean `{name}`?"),
        Mistake::QuantityCompared => {
            format!("`{name}` is a quantity: use compareTo()")
        }
        Mistake::VersionCompared => {
            format!("`{name}` is a version: use compareTo()")
        }
        Mistake::VersionCut => format!("a version has three numbers: write `{name}`"),
        Mistake::IntCompared => format!("`{name}` is an int: compare it with a number, without quotes"),
        Mistake::BoolCompared => format!("`{name}` is a bool: compare it with true or false, without quotes"),
        Mistake::StringCompared => format!("`{name}` is a string: put the value in quotes"),
        Mistake::HalfOperator => format!("the operator is `{name}`"),
        Mistake::Missing => {
            format!("not every device has `{name}`: use `.?` and orValue for a default")
        }
        Mistake::Absent => format!("no device has `{name}`: use `.?` and orValue for a default"),
        Mistake::OtherDrivers => format!("only devices of driver `{name}` have it"),
    }
}
