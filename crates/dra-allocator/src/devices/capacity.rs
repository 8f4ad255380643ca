//! Consumption of a device's capacities by a request.
//!
//! Mirrors `consumable_capacity.go`, v1.37.2. What a request takes of a device depends on neither the node nor the search, so it
//! is worked out once; the search itself only adds and compares integers.

use super::features::Features;
use dra_model::{
    Capacity, Device, DeviceRequest, Format, Quantity, Release, RequestPolicy, RequestRange, Str, lookup,
};

/// Consumption of each capacity of a device by a request, in the order of the device's capacities.
pub(crate) enum Need {
    /// The amounts.
    Amounts(Vec<Quantity>),
    /// The device does not have the capacity that the request names at that place.
    NoSuchCapacity(usize),
    /// The policy of the device's capacity at that place refuses the amount.
    AgainstPolicy(usize),
}

/// Amounts that end the attempt instead of ruling out the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CapacityError(pub(crate) String);

/// Returns whether the device has nothing to be worked out: the request names no amounts, so that it takes the whole device.
pub(crate) fn takes_all(request: &DeviceRequest, device: &Device) -> bool {
    request.capacity.is_none()
        && device
            .capacity
            .iter()
            .all(|(_, capacity)| capacity.request_policy.is_none() && capacity.value.sign() >= 0)
}

/// Name of the capacity of `device` that differs from `name` only in the domain of its `driver`, which one of the two has. A request
/// does not get it: capacities are looked up literally.
///
/// Attributes need no such hint. Selectors and constraints find those of the driver's domain under both names.
pub fn named_otherwise<'d>(device: &'d Device, driver: &str, name: &str) -> Option<&'d Str> {
    let names = device.capacity.iter().map(|(published, _)| published);
    names
        .filter(|published| **published != *name)
        .find(|published| without_domain(driver, published) == without_domain(driver, name))
}

/// `name` without the domain of `driver`, if it has that one.
fn without_domain<'n>(driver: &str, name: &'n str) -> &'n str {
    match name.split_once('/') {
        Some((domain, identifier)) if domain == driver => identifier,
        _ => name,
    }
}

/// Returns what `request` takes of `device`, policies applied. Amounts are not compared with what is free.
///
/// # Errors
/// An amount that cannot be represented or is negative. All capacities are checked for that before any of them may be refused by
/// its policy, as upstream does. Releases in which no amount is an error take what comes of the arithmetic.
pub(crate) fn need(
    request: &DeviceRequest,
    device: &Device,
    features: &Features,
) -> Result<Need, CapacityError> {
    let fractional = features.fractional_capacity_range;
    let release = &features.release;
    let is_strict = !release.capacity_errors_skip;
    let requested = request
        .capacity
        .as_ref()
        .map_or(&[][..], |capacity| &capacity.requests);
    let unknown = |(name, _): &(Str, Quantity)| lookup(&device.capacity, name).is_none();
    if let Some(place) = requested.iter().position(unknown) {
        return Ok(Need::NoSuchCapacity(place));
    }
    let mut amounts = Vec::with_capacity(device.capacity.len());
    for (name, capacity) in &device.capacity {
        let amount = consumed(lookup(requested, name), capacity, fractional, release)
            .map_err(|why| CapacityError(format!("capacity \"{name}\": {why}")))?;
        if is_strict && amount.sign() < 0 {
            return Err(CapacityError(format!(
                "capacity \"{name}\": capacity value is negative"
            )));
        }
        amounts.push(amount);
    }
    let refused = device
        .capacity
        .iter()
        .zip(&amounts)
        .position(|((_, capacity), amount)| {
            violates_policy(amount, capacity.request_policy.as_ref(), fractional)
        });
    Ok(match refused {
        Some(place) => Need::AgainstPolicy(place),
        None => Need::Amounts(amounts),
    })
}

fn consumed(
    requested: Option<&Quantity>,
    capacity: &Capacity,
    fractional: bool,
    release: &Release,
) -> Result<Quantity, String> {
    let policy = capacity.request_policy.as_ref();
    let Some(requested) = requested else {
        let default = policy.and_then(|policy| policy.default.as_ref());
        return Ok(default.unwrap_or(&capacity.value).clone());
    };
    let Some(policy) = policy else {
        return Ok(requested.clone());
    };
    if let Some(range) = &policy.valid_range
        && let Some(min) = &range.min
    {
        return round_up_range(requested, range, min, fractional, release);
    }
    let value = policy.valid_values.iter().find(|value| requested <= value);
    Ok(value.unwrap_or(requested).clone())
}

const NOT_REPRESENTABLE: &str = "capacity request cannot be represented in the device's range arithmetic";

fn round_up_range(
    requested: &Quantity,
    range: &RequestRange,
    min: &Quantity,
    fractional: bool,
    release: &Release,
) -> Result<Quantity, String> {
    if requested < min {
        return Ok(min.clone());
    }
    let Some(step) = &range.step else {
        return Ok(requested.clone());
    };
    let too_far = |scale: &str| {
        format!("{NOT_REPRESENTABLE}: rounding request {requested} up to the next step passes {scale}")
    };
    if in_milli(range, fractional) {
        let Some(requested_milli) = exact_milli(requested) else {
            return Err(format!(
                "{NOT_REPRESENTABLE}: request {requested} is not a representable milli value"
            ));
        };
        let (step_milli, min_milli) = (step.milli_value(), min.milli_value());
        let steps = steps_up(requested_milli.wrapping_sub(min_milli), step_milli)?;
        if steps > i64::MAX.wrapping_sub(min_milli).wrapping_div(step_milli) {
            return Err(too_far("the milli-value range"));
        }
        let value = min_milli.wrapping_add(step_milli.wrapping_mul(steps));
        return Ok(if value % 1000 == 0 {
            Quantity::new(value / 1000, step.format())
        } else {
            Quantity::new_milli(value, step.format())
        });
    }
    let is_strict = !release.capacity_errors_skip;
    if is_strict && requested.cmp_int(i64::MAX).is_gt() {
        return Err(format!(
            "{NOT_REPRESENTABLE}: request {requested} exceeds MaxInt64"
        ));
    }
    let (step_int, min_int) = (step.value(), min.value());
    let steps = steps_up(requested.value().wrapping_sub(min_int), step_int)?;
    if is_strict && min_int >= 0 && steps > (i64::MAX - min_int).wrapping_div(step_int) {
        return Err(too_far("MaxInt64"));
    }
    let format = if release.rounds_to_binary {
        Format::BinarySi
    } else {
        step.format()
    };
    Ok(Quantity::new(
        min_int.wrapping_add(step_int.wrapping_mul(steps)),
        format,
    ))
}

/// `added / step`, rounded up where it is positive. The API server refuses a step of zero, which would crash upstream.
fn steps_up(added: i64, step: i64) -> Result<i64, String> {
    if step == 0 {
        return Err("the step of the request policy is zero".to_owned());
    }
    let steps = added.wrapping_div(step);
    Ok(steps.wrapping_add(i64::from(added.wrapping_rem(step) != 0)))
}

fn violates_policy(amount: &Quantity, policy: Option<&RequestPolicy>, fractional: bool) -> bool {
    let Some(policy) = policy else {
        return false;
    };
    // Upstream compares the structs, not the values: an equal amount written otherwise is checked.
    if policy
        .default
        .as_ref()
        .is_some_and(|default| default.same_representation(amount))
    {
        return false;
    }
    if let Some(range) = &policy.valid_range {
        return violates_range(amount, range, fractional);
    }
    !policy.valid_values.is_empty() && !policy.valid_values.contains(amount)
}

fn violates_range(amount: &Quantity, range: &RequestRange, fractional: bool) -> bool {
    if range.max.as_ref().is_some_and(|max| amount > max) {
        return true;
    }
    let Some(step) = &range.step else {
        return false;
    };
    let zero = Quantity::new(0, Format::DecimalSi);
    let min = range.min.as_ref().unwrap_or(&zero);
    let (amount, step, min) = if in_milli(range, fractional) {
        let Some(amount) = exact_milli(amount) else {
            return true;
        };
        (amount, step.milli_value(), min.milli_value())
    } else {
        (amount.value(), step.value(), min.value())
    };
    step == 0 || amount.wrapping_sub(min).wrapping_rem(step) != 0
}

/// Returns whether the range is worked out in thousandths: all its amounts fit, and the step is at least one of them.
fn in_milli(range: &RequestRange, fractional: bool) -> bool {
    let fits = |amount: &Option<Quantity>| amount.as_ref().is_none_or(|amount| exact_milli(amount).is_some());
    fractional
        && fits(&range.min)
        && fits(&range.max)
        && range
            .step
            .as_ref()
            .is_none_or(|step| exact_milli(step).is_some_and(|milli| milli >= 1))
}

fn exact_milli(amount: &Quantity) -> Option<i64> {
    let milli = amount.milli_value();
    (Quantity::new_milli(milli, amount.format()) == *amount).then_some(milli)
}

/// The amount in the units of the search. What passes 128 bits of 10⁻⁹ is more than any sum of amounts that do not.
pub(crate) fn units(amount: &Quantity) -> i128 {
    amount.nanos().unwrap_or(if amount.sign() < 0 {
        i128::MIN / 4
    } else {
        i128::MAX / 4
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_capacity_is_meant_that_differs_in_the_domain_of_the_driver_alone() {
        for (published, name, meant) in [
            (&["d.example/m"][..], "m", Some("d.example/m")),
            (&["m"], "d.example/m", Some("m")),
            (&["a", "d.example/m", "z"], "m", Some("d.example/m")),
            // The request gets it.
            (&["m"], "m", None),
            (&["d.example/m"], "d.example/m", None),
            // Another capacity.
            (&["other.example/m"], "m", None),
            (&["m"], "other.example/m", None),
            (&["other.example/m"], "d.example/m", None),
            (&["n", "d.example/n"], "m", None),
            (&["M"], "d.example/m", None),
            (&["d.example/m"], "example/m", None),
            // An identifier has no domain in it, and no name has two.
            (&["d.example"], "d.example/m", None),
            (&["m"], "d.example/d.example/m", None),
            (&[], "m", None),
            (&["m"], "", None),
        ] {
            let capacity = published
                .iter()
                .map(|name| ((*name).to_owned(), json!({"value": "1"})));
            let capacity = Value::Object(capacity.collect());
            let device: Device = serde_json::from_value(json!({"name": "x", "capacity": capacity})).unwrap();
            let found = named_otherwise(&device, "d.example", name);
            assert_eq!(found.map(|found| &**found), meant, "{name} of {published:?}");
        }
    }
}
