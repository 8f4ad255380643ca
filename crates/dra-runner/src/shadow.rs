//! The shadow: what the controllers want is compared with what the built-in ones do, and nothing is written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::comparison::{Comparison, as_written};
use super::failure::Failure;
use super::manager::{Listed, Options, drive};
use super::message::Message;
use super::rules::rules;
use dra_model::{Cluster, Time};
use dra_rules::controllers::{
    ControllerName, Counts, Deviations, Engine, Evidence, Found, ResourceClaims, Shadow, TaintEviction,
};
use dra_sources::live::Error;

/// Result of a shadow.
#[derive(Debug)]
pub struct Ending {
    /// Everything that was found, in order.
    pub found: Vec<Found>,
    /// Numbers of wishes.
    pub counts: Counts,
    /// Start and end.
    pub time: (Time, Time),
    /// Reason why it ended early.
    pub failure: Option<Failure>,
    /// Observations about each controller.
    pub evidence: BTreeMap<ControllerName, Evidence>,
}

/// Watches the cluster from where the list ended, and compares. A write that is undone for longer than `overdue` is a finding.
///
/// # Errors
/// If the cluster can no longer be watched.
pub async fn shadow(
    listed: Listed<'_>,
    overdue: Duration,
    options: Options,
    tell: impl FnMut(Message),
) -> Result<Ending, Error> {
    let (begun, as_released) = (listed.at, options.as_released);
    let telemetry = Arc::clone(&options.telemetry);
    let build = |cluster: Cluster, now| {
        // Where upstream knows its rules to be wrong, following them is a finding.
        let (features, release) = rules(cluster.environment(), Deviations::ON, as_released);
        let claims = ResourceClaims::start(&cluster, features);
        // The counts are those of the controller that works.
        let eviction = TaintEviction::resume(&cluster, release, now);
        let shadow = Shadow::new(overdue, features.groups);
        let engine = Engine::new(cluster, Some(claims), Some(eviction));
        (engine, Comparison::new(shadow, telemetry, false))
    };
    let mut ended = drive(listed, options, None, build, tell).await?;
    let shadow = &ended.role.shadow;
    let found = shadow.found().cloned();
    Ok(Ending {
        found: found.map(|found| as_written(found, &ended.clock)).collect(),
        counts: shadow.counts(),
        evidence: ControllerName::ALL
            .into_iter()
            .map(|name| (name, shadow.evidence(name)))
            .collect(),
        time: (begun, ended.clock.moment().written),
        failure: ended.failure,
    })
}
