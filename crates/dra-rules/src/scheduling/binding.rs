//! Whether the devices of an allocated claim are ready, where drivers publish binding conditions.

use std::time::Duration;

use dra_model::{AllocatedDevice, Claim, Condition, DeviceStatus, Str, Time};

/// How long the scheduler waits for binding conditions unless it is configured otherwise.
pub const BINDING_TIMEOUT: Duration = Duration::from_secs(600);

/// How far the devices of a claim are.
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
    /// A condition is not true in time.
    TimedOut,
    /// A failure condition is true.
    Failed {
        /// The condition's reason.
        reason: Str,
        /// The condition's message.
        message: Str,
    },
}

impl Readiness {
    /// What is to be said of it.
    pub fn text(&self) -> String {
        match self {
            Self::Ready => "ready".to_owned(),
            Self::Pending { condition, device } => {
                format!("condition `{condition}` of device {device} is not true yet")
            }
            Self::TimedOut => "their binding conditions did not become true in time".to_owned(),
            Self::Failed { reason, message } => format!("binding failed: {reason}: {message}"),
        }
    }

    /// Whether the scheduler gives the allocation up.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::TimedOut | Self::Failed { .. })
    }
}

/// How far the devices of `claim` are at `now`. Mirrors `dynamicresources.go`, `isClaimReadyForBinding` and `isClaimTimeout`,
/// v1.37.2, with the default timeout.
pub fn readiness(claim: &Claim, now: Time) -> Readiness {
    let waits = |result: &&AllocatedDevice| !result.binding_conditions.is_empty();
    for result in claim.results().iter().filter(waits) {
        let status = claim.status.devices.iter().find(|status| is_of(status, result));
        let conditions = status.map_or(&[][..], |status| status.conditions.as_slice());
        let is_true = |name: &Str| {
            let of_name = |condition: &&Condition| condition.type_ == *name && condition.status == "True";
            conditions.iter().find(of_name)
        };
        if let Some(failed) = result.binding_failure_conditions.iter().find_map(is_true) {
            return Readiness::Failed {
                reason: failed.reason.clone(),
                message: failed.message.clone(),
            };
        }
        if let Some(condition) = result
            .binding_conditions
            .iter()
            .find(|name| is_true(name).is_none())
        {
            let allocated = claim
                .status
                .allocation
                .as_ref()
                .and_then(|a| a.allocation_timestamp);
            if allocated.is_some_and(|at| at.after(BINDING_TIMEOUT) < now) {
                return Readiness::TimedOut;
            }
            return Readiness::Pending {
                condition: condition.clone(),
                device: result.device.clone(),
            };
        }
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
        let (early, late) = ("2026-11-21T10:10:00Z", "2026-11-21T10:10:01Z");
        for (conditions, now, expected) in [
            ("", early, pending("ready")),
            ("", late, Readiness::TimedOut),
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
