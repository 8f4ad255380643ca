//! Readiness of an allocated claim's devices, if drivers publish binding conditions.

use std::time::Duration;

use dra_model::{AllocatedDevice, Claim, Condition, DeviceId, DeviceStatus, Str, Time};

/// Default time that kube-scheduler waits for binding conditions. Mirrors
/// `scheduler/apis/config/types_pluginargs.go`, `DynamicResourcesBindingTimeoutDefault`, v1.37.2.
pub const BINDING_TIMEOUT: Duration = Duration::from_secs(600);

/// Conditions that an allocated device waits for before its pod is bound.
#[derive(Debug)]
pub struct DeviceBinding<'a> {
    /// The condition that ends the wait, as the device could not be attached.
    pub failed: Option<&'a Condition>,
    /// Conditions that are not true yet.
    pub missing: Vec<&'a Str>,
    /// What the driver has set of the device.
    told: &'a [Condition],
}

impl<'a> DeviceBinding<'a> {
    /// Returns how far `result`, which is one of the results of `claim`, is. A device without binding conditions waits for nothing, and nothing
    /// can fail then.
    ///
    /// Mirrors `dynamicresources.go`, `isClaimReadyForBinding`, v1.37.2, for one device.
    pub fn of(claim: &'a Claim, result: &'a AllocatedDevice) -> Self {
        if result.binding_conditions.is_empty() {
            return Self {
                failed: None,
                missing: Vec::new(),
                told: &[],
            };
        }
        let conditions = claim
            .status
            .devices
            .iter()
            .find(|status| is_of(status, result))
            .map_or(&[][..], |status| &status.conditions);
        let is_true = |type_: &Str| {
            conditions
                .iter()
                .find(|condition| condition.type_ == *type_ && condition.status == "True")
        };
        Self {
            failed: result.binding_failure_conditions.iter().find_map(is_true),
            missing: result
                .binding_conditions
                .iter()
                .filter(|type_| is_true(type_).is_none())
                .collect(),
            told: conditions,
        }
    }

    /// The conditions that are not true yet as the driver has set them; without a status where it has not.
    pub fn unmet(&self) -> Vec<Condition> {
        let as_set = |type_: &&Str| {
            let set = self.told.iter().find(|condition| condition.type_ == **type_);
            set.cloned().unwrap_or_else(|| Condition {
                type_: Str::clone(type_),
                ..Condition::default()
            })
        };
        self.missing.iter().map(as_set).collect()
    }
}

/// How binding conditions are that are not true yet, with what their driver says of them.
pub fn unmet_text(conditions: &[Condition]) -> String {
    let (unset, set): (Vec<_>, Vec<_>) = conditions.iter().partition(|one| one.status.is_empty());
    let set = set.into_iter().map(|one| {
        let said = [&one.reason, &one.message]
            .into_iter()
            .filter(|text| !text.is_empty());
        let said: Vec<&str> = said.map(Str::as_str).collect();
        let said = if said.is_empty() {
            String::new()
        } else {
            format!(" ({})", said.join(": "))
        };
        format!("{} is {}{said}", one.type_, one.status)
    });
    let names: Vec<&str> = unset.iter().map(|one| one.type_.as_str()).collect();
    let has = if names.len() == 1 { "has" } else { "have" };
    let unset = (!names.is_empty()).then(|| format!("{} {has} not been set", names.join(", ")));
    let texts: Vec<String> = set.chain(unset).collect();
    texts.join("; ")
}

/// Returns whether the scheduler has waited long enough, at `now`, for the binding conditions of `claim`. Without the time of the allocation it
/// never has.
///
/// Mirrors `dynamicresources.go`, `isClaimTimeout`, v1.37.2, with the default timeout, for a claim that has binding conditions.
pub fn binding_timed_out(claim: &Claim, now: Time) -> bool {
    let allocation = claim.status.allocation.as_ref();
    let allocated = allocation.and_then(|allocation| allocation.allocation_timestamp);
    allocated.is_some_and(|at| at.after(BINDING_TIMEOUT) < now)
}

/// Progress of a claim's devices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readiness {
    /// Nothing is to be waited for.
    Ready,
    /// A condition is not true yet.
    Pending {
        /// The condition.
        condition: Str,
        /// The device.
        device: Str,
    },
    /// A condition is not true in time: the condition and its device, as far as they are known.
    TimedOut(Option<(Condition, DeviceId)>),
    /// A failure condition is true.
    Failed {
        /// The condition's reason.
        reason: Str,
        /// The condition's message.
        message: Str,
    },
}

impl Readiness {
    /// Returns what is to be said of it.
    pub fn text(&self) -> String {
        match self {
            Self::Ready => "ready".to_owned(),
            Self::Pending { condition, device } => {
                format!("condition `{condition}` of device {device} is not true yet")
            }
            Self::TimedOut(None) => "the device's binding conditions did not become true in time".to_owned(),
            Self::TimedOut(Some((condition, device))) => {
                let unmet = unmet_text(std::slice::from_ref(condition));
                format!("{device} was not attached in time: {unmet}")
            }
            Self::Failed { reason, message } => format!("binding failed: {reason}: {message}"),
        }
    }

    /// Returns whether the scheduler gives the allocation up.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::TimedOut(_) | Self::Failed { .. })
    }
}

/// Returns how far the devices of `claim` are at `now`: what the first says that is not ready.
pub fn readiness(claim: &Claim, now: Time) -> Readiness {
    for result in claim.results() {
        let binding = DeviceBinding::of(claim, result);
        if let Some(failed) = binding.failed {
            return Readiness::Failed {
                reason: failed.reason.clone(),
                message: failed.message.clone(),
            };
        }
        let Some(condition) = binding.unmet().into_iter().next() else {
            continue;
        };
        if binding_timed_out(claim, now) {
            return Readiness::TimedOut(Some((condition, result.id())));
        }
        return Readiness::Pending {
            condition: condition.type_,
            device: result.device.clone(),
        };
    }
    Readiness::Ready
}

fn is_of(status: &DeviceStatus, result: &AllocatedDevice) -> bool {
    status.driver == result.driver
        && status.pool == result.pool
        && status.device == result.device
        && status.share_id == result.share_id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(conditions: &str) -> Claim {
        serde_json::from_str(&format!(
            r#"{{"status":{{
                "allocation":{{"allocationTimestamp":"2026-11-21T10:00:00Z","devices":{{"results":[
                    {{"request":"r","driver":"d","pool":"p","device":"plain"}},
                    {{"request":"r","driver":"d","pool":"p","device":"x","bindingConditions":["ready","wired"],
                      "bindingFailureConditions":["broken"]}}]}}}},
                "devices":[{{"driver":"d","pool":"p","device":"x","conditions":[{conditions}]}}]}}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn devices_are_ready_once_every_condition_is_true_and_none_failed() {
        let pending = |condition: &str| Readiness::Pending {
            condition: condition.into(),
            device: "x".into(),
        };
        let device = DeviceId {
            driver: "d".into(),
            pool: "p".into(),
            device: "x".into(),
        };
        let unset = Condition {
            type_: "ready".into(),
            ..Condition::default()
        };
        let (early, late) = ("2026-11-21T10:10:00Z", "2026-11-21T10:10:01Z");
        for (conditions, now, expected) in [
            ("", early, pending("ready")),
            ("", late, Readiness::TimedOut(Some((unset, device)))),
            (r#"{"type":"ready","status":"True"}"#, early, pending("wired")),
            (
                r#"{"type":"ready","status":"True"},{"type":"wired","status":"True"}"#,
                late,
                Readiness::Ready,
            ),
            (
                r#"{"type":"broken","status":"True","reason":"Cable","message":"cut"}"#,
                early,
                Readiness::Failed {
                    reason: "Cable".into(),
                    message: "cut".into(),
                },
            ),
        ] {
            assert_eq!(
                readiness(&claim(conditions), now.parse().unwrap()),
                expected,
                "{conditions}"
            );
        }
    }
}
