//! Tolerations of taints over time, and eviction times of a claim's pods.

use std::sync::Arc;

use super::Timescale;
use dra_allocator::devices::{DeviceTaint, Origin, Taints};
use dra_model::{AllocatedDevice, Claim, DeviceId, NO_EXECUTE, Str, Taint, Time, Tolerations};

/// Toleration of a NoExecute taint by an allocated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Not at all: the pods are evicted immediately.
    Not,
    /// For so many nanoseconds since the taint was added. Negative after an overflow.
    For(i64),
    /// For good.
    Forever,
}

/// The longest `tolerationSeconds` that fit into 64 bits of nanoseconds, as Go's `time.Duration` counts: of more the eviction
/// controller takes what is left after an overflow.
pub const LONGEST_TOLERATION: i64 = i64::MAX / NANOSECONDS;

/// Of a second.
const NANOSECONDS: i64 = 1_000_000_000;

/// Returns how `tolerations`, which are those of the allocation result, tolerate the NoExecute `taint`.
///
/// Mirrors `device_taint_eviction.go`, `claimEvictionTime`, v1.37.2. Only tolerations whose effect is literally NoExecute count;
/// one with an empty effect lets the scheduler use the device, but does not stop the eviction. Of several the shortest time counts,
/// unless one is for good. Seconds become nanoseconds without a check: beyond [`LONGEST_TOLERATION`] they overflow, mostly into the past.
pub fn tolerance(taint: &Taint, tolerations: &Tolerations) -> Tolerance {
    let mut shortest = None;
    for alike in tolerations.meant_for(taint) {
        let first = &tolerations[alike[0]];
        if first.effect != NO_EXECUTE {
            continue;
        }
        let Some(seconds) = first.toleration_seconds else {
            return Tolerance::Forever;
        };
        shortest = shortest.into_iter().chain([seconds]).min();
    }
    shortest.map_or(Tolerance::Not, |seconds: i64| {
        Tolerance::For(seconds.max(0).wrapping_mul(NANOSECONDS))
    })
}

/// Returns whether tolerations are meant for the NoExecute `taint` and do not count for its eviction, since they have no effect: they only
/// let the scheduler use the device.
pub fn lacks_effect(taint: &Taint, tolerations: &Tolerations) -> bool {
    tolerance(taint, tolerations) == Tolerance::Not && tolerations.tolerate(taint)
}

/// Returns when a taint that was added at `added` takes effect; never where it is tolerated for good.
pub fn due(added: Time, tolerance: Tolerance) -> Option<Time> {
    match tolerance {
        Tolerance::Not => Some(added),
        Tolerance::For(nanoseconds) => Some(added.add_nanoseconds(nanoseconds)),
        Tolerance::Forever => None,
    }
}

/// Time at which the pods of a claim have to go, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// The earliest instant of all taints.
    pub at: Time,
    /// Every taint that is not tolerated for good, in order, each once. Claims that go for the same taints mostly share them.
    pub reasons: Arc<[Origin]>,
}

impl Eviction {
    /// Both together: the earlier instant, for the reasons of both.
    #[must_use]
    pub fn joined(mut self, other: Self) -> Self {
        self.at = self.at.min(other.at);
        if !Arc::ptr_eq(&self.reasons, &other.reasons) {
            let mut reasons = [&self.reasons[..], &other.reasons[..]].concat();
            reasons.sort();
            reasons.dedup();
            self.reasons = reasons.into();
        }
        self
    }

    /// The same, which shares its reasons with `other` where those are the same.
    #[must_use]
    pub fn sharing(mut self, other: Option<&Self>) -> Self {
        if let Some(other) = other.filter(|other| self.has_same_reasons(other)) {
            self.reasons = Arc::clone(&other.reasons);
        }
        self
    }

    fn has_same_reasons(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.reasons, &other.reasons)
            || self.reasons.len() == other.reasons.len()
                && (self.reasons.iter().zip(&*other.reasons)).all(|(one, other)| one.is_same_version(other))
    }

    /// Returns whether instant and reasons are the same, and the reasons' objects have not changed since. Mirrors
    /// `device_taint_eviction.go`, `evictionAndReason.equal`, v1.37.2.
    pub fn is_unchanged(&self, before: &Self) -> bool {
        self.at == before.at && self.has_same_reasons(before)
    }
}

/// Returns when the pods of `claim` have to go, on a clock that was never set; see [`claim_eviction_by`].
pub fn claim_eviction(claim: &Claim, taints: &Taints<'_>, now: Time) -> Option<Eviction> {
    claim_eviction_by(claim, taints, &Timescale::default(), now)
}

/// Returns when the pods of `claim` are evicted; never, if none of its devices has a NoExecute taint that is not
/// tolerated for good.
///
/// Mirrors `device_taint_eviction.go`, `claimEvictionTime`, v1.37.2; devices with admin access count like others. The
/// API server sets the time of every taint; a handwritten one without it counts as added at `now`. Instants are on the
/// monotonic clock of `timescale`.
pub fn claim_eviction_by(
    claim: &Claim,
    taints: &Taints<'_>,
    timescale: &Timescale,
    now: Time,
) -> Option<Eviction> {
    let mut at: Option<Time> = None;
    let mut reasons = Vec::new();
    each_effect(claim.results(), taints, timescale, now, |instant, origin| {
        at = Some(at.map_or(instant, |at| at.min(instant)));
        reasons.push(origin);
    });
    reasons.sort();
    reasons.dedup();
    at.map(|at| Eviction {
        at,
        reasons: reasons.into(),
    })
}

/// Returns whether the pods of `claim` have to go, now or one day.
pub fn has_to_go(claim: &Claim, taints: &Taints<'_>) -> bool {
    let mut goes = false;
    // When does not matter.
    let (scale, now) = (Timescale::default(), Time::from_unix_seconds(0));
    each_effect(claim.results(), taints, &scale, now, |_, _| goes = true);
    goes
}

/// Returns whether the pods of a claim with these results have to go by `now`.
pub fn has_to_go_by(results: &[AllocatedDevice], taints: &Taints<'_>, now: Time) -> bool {
    let mut goes = false;
    each_effect(results, taints, &Timescale::default(), now, |at, _| {
        goes |= at <= now;
    });
    goes
}

/// The first taint that evicts the pods of a claim with these results, with the device, and its rule, unless the driver set it.
pub fn evicting_taint(
    results: &[AllocatedDevice],
    taints: &Taints<'_>,
) -> Option<(DeviceId, Taint, Option<Str>)> {
    results.iter().find_map(|result| {
        let id = result.id();
        let evicts = |taint: &Taint| {
            taint.effect == NO_EXECUTE && tolerance(taint, &result.tolerations) != Tolerance::Forever
        };
        let found = taints.of_device(&id).find(|found| evicts(found.taint));
        let found = found.map(|DeviceTaint { taint, origin }| {
            let rule = origin.rule().map(|rule| rule.metadata.name.clone());
            (taint.clone(), rule)
        });
        let (taint, rule) = found?;
        Some((id, taint, rule))
    })
}

/// Returns whether the request of the device tolerates a taint that evicts the pods of `claim`: the allocation lacks
/// the toleration.
pub(super) fn goes_despite_request(claim: &Claim, taints: &Taints<'_>) -> bool {
    claim.results().iter().any(|result| {
        let asked = claim.asked_for(&result.request);
        let asked = asked.filter(|asked| !asked.tolerations.is_empty());
        asked.is_some_and(|asked| {
            let id = result.id();
            let mut taints = taints.of_device(&id);
            taints.any(|DeviceTaint { taint, .. }| {
                taint.effect == NO_EXECUTE
                    && asked.tolerations.tolerate(taint)
                    && !result.tolerations.tolerate(taint)
            })
        })
    })
}

/// Every NoExecute taint of a claim's devices that is not tolerated for good, with when it takes effect.
fn each_effect(
    results: &[AllocatedDevice],
    taints: &Taints<'_>,
    timescale: &Timescale,
    now: Time,
    mut tell: impl FnMut(Time, Origin),
) {
    for result in results {
        for DeviceTaint { taint, origin } in taints.of_device(&result.id()) {
            if taint.effect != NO_EXECUTE {
                continue;
            }
            let added = taint.time_added.map_or(now, |written| timescale.read(written));
            if let Some(instant) = due(added, tolerance(taint, &result.tolerations)) {
                tell(instant, origin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Cluster, ClusterBuilder, Environment, Kind, Object, Toleration};

    const ADDED: &str = "2026-11-21T10:00:00Z";

    fn taint() -> Taint {
        Taint {
            key: "k".into(),
            effect: NO_EXECUTE.into(),
            time_added: Some(ADDED.parse().unwrap()),
            ..Taint::default()
        }
    }

    fn toleration(effect: &str, seconds: Option<i64>) -> Toleration {
        Toleration {
            key: "k".into(),
            operator: "Exists".into(),
            effect: effect.into(),
            toleration_seconds: seconds,
            ..Toleration::default()
        }
    }

    #[test]
    fn tolerations_delay_as_seen_on_a_real_control_plane() {
        let second = 1_000_000_000;
        for (tolerations, expected) in [
            (vec![], Tolerance::Not),
            (vec![toleration("NoExecute", None)], Tolerance::Forever),
            (
                vec![toleration("NoExecute", Some(20))],
                Tolerance::For(20 * second),
            ),
            (
                vec![
                    toleration("NoExecute", Some(20)),
                    toleration("NoExecute", Some(5)),
                ],
                Tolerance::For(5 * second),
            ),
            (
                vec![toleration("NoExecute", Some(5)), toleration("NoExecute", None)],
                Tolerance::Forever,
            ),
            (vec![toleration("NoExecute", Some(-5))], Tolerance::For(0)),
            // The scheduler is satisfied with these, eviction is not.
            (vec![toleration("", None)], Tolerance::Not),
            (vec![toleration("NoSchedule", None)], Tolerance::Not),
            // 9,000,000,000 s wait, more overflow into the past.
            (
                vec![toleration("NoExecute", Some(9_000_000_000))],
                Tolerance::For(9_000_000_000 * second),
            ),
            (
                vec![toleration("NoExecute", Some(i64::MAX))],
                Tolerance::For(-second),
            ),
        ] {
            let tolerations = Tolerations::from_iter(tolerations);
            assert_eq!(tolerance(&taint(), &tolerations), expected, "{tolerations:?}");
        }
        let past = Tolerations::from_iter([toleration("NoExecute", Some(9_300_000_000))]);
        let past = tolerance(&taint(), &past);
        assert!(matches!(past, Tolerance::For(nanoseconds) if nanoseconds < 0));
        let added = ADDED.parse().unwrap();
        assert!(due(added, past).unwrap() < added);
        assert_eq!(due(added, Tolerance::Forever), None);
    }

    fn cluster(taints: &str, rules: &[(&str, &str)]) -> Cluster {
        let mut builder = ClusterBuilder::default();
        let slice = format!(
            r#"{{"metadata":{{"name":"s"}},"spec":{{"driver":"d","pool":{{"name":"p"}},
                "devices":[{{"name":"x","taints":[{taints}]}}]}}}}"#
        );
        builder.add(Object::from_json(Kind::ResourceSlice, slice.as_bytes()).unwrap());
        for (name, spec) in rules {
            let rule = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#);
            builder.add(Object::from_json(Kind::DeviceTaintRule, rule.as_bytes()).unwrap());
        }
        builder.build(Environment::default()).0
    }

    fn claim(results: &str) -> Claim {
        serde_json::from_str(&format!(
            r#"{{"metadata":{{"name":"c"}},"status":{{"allocation":{{"devices":{{"results":[{results}]}}}}}}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn a_claim_goes_at_the_earliest_instant_for_every_reason() {
        let cluster = cluster(
            &format!(
                r#"{{"key":"late","effect":"NoExecute","timeAdded":"2026-11-21T10:05:00Z"}},
                   {{"key":"other","effect":"NoSchedule","timeAdded":"{ADDED}"}},
                   {{"key":"tolerated","effect":"NoExecute","timeAdded":"{ADDED}"}}"#
            ),
            &[
                (
                    "drain",
                    r#"{"deviceSelector":{},"taint":{"key":"drain","effect":"NoExecute","timeAdded":"2026-11-21T10:01:00Z"}}"#,
                ),
                (
                    "preview",
                    r#"{"deviceSelector":{},"taint":{"key":"drain","effect":"None","timeAdded":"2026-11-21T09:00:00Z"}}"#,
                ),
            ],
        );
        let taints = Taints::of(&cluster);
        let now = "2026-11-21T11:00:00Z".parse().unwrap();
        let claim = claim(
            r#"{"driver":"d","pool":"p","device":"x","adminAccess":true,"tolerations":[
                    {"key":"tolerated","operator":"Exists","effect":"NoExecute"},
                    {"key":"drain","operator":"Exists","effect":"NoExecute","tolerationSeconds":30}]},
               {"driver":"d","pool":"p","device":"gone"}"#,
        );
        let eviction = claim_eviction(&claim, &taints, now).unwrap();
        // The second device has no toleration for the rule, which is one reason all the same.
        assert_eq!(eviction.at.to_string(), "2026-11-21T10:01:00Z");
        let reasons: Vec<_> = eviction
            .reasons
            .iter()
            .map(|origin| match origin {
                Origin::Rule(rule) => rule.metadata.name.to_string(),
                Origin::Slice { index, .. } => format!("#{index}"),
            })
            .collect();
        assert_eq!(reasons, ["drain", "#0"]);
    }

    #[test]
    fn a_claim_without_a_counting_taint_stays() {
        let cluster = cluster(
            r#"{"key":"k","effect":"NoSchedule"},{"key":"k","effect":"Later"}"#,
            &[],
        );
        let taints = Taints::of(&cluster);
        let now = ADDED.parse().unwrap();
        let of = |results: &str| claim_eviction(&claim(results), &taints, now);
        assert_eq!(of(r#"{"driver":"d","pool":"p","device":"x"}"#), None);
        assert_eq!(of(""), None);
    }
}
