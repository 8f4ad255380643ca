//! Assumptions of the rules besides objects, checked again while a command relies on them.

use std::collections::BTreeMap;

use super::discovery::Serving;
use super::error::Error;
use super::{Live, evidence};
use crate::{Needs, VersionSettings};
use dra_model::{Environment, Evidence, Kind};

/// Versions, gates, and what is served.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The release, and the gates. Gaps and what else a load finds out are those of that load.
    pub environment: Environment,
    /// Each needed kind, with its served version, if any. Omits kinds without an answer.
    pub served: BTreeMap<Kind, Option<&'static str>>,
}

impl Live {
    /// Returns the current state of a cluster; `known` is the state found by a load with the same `needs` and
    /// `versions`.
    ///
    /// Evidence from objects and the metrics of the API server is taken from `known`: the watches see the objects, and
    /// the metrics are megabytes about gates of the API server that no controller uses.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn facts(
        &self,
        needs: &Needs,
        versions: &VersionSettings,
        known: &Environment,
    ) -> Result<Facts, Error> {
        let survey = self.survey(needs).await?;
        let pods = evidence::static_pods(self, &survey.environment).await?;
        let served = needs
            .wants()
            .filter_map(|(kind, _)| match survey.served.kind(kind) {
                Serving::Version(version) => Some((kind, Some(version))),
                Serving::No => Some((kind, None)),
                Serving::Perhaps(_) => None,
            });
        let served: BTreeMap<Kind, Option<&'static str>> = served.collect();
        let mut environment = Environment {
            read_at: known.read_at,
            source: known.source.clone(),
            scheduler_profiles: known.scheduler_profiles.clone(),
            gaps: known.gaps.clone(),
            not_served: served
                .iter()
                .filter(|(_, version)| version.is_none())
                .map(|(kind, _)| *kind)
                .collect(),
            ..survey.environment
        };
        let stays = known
            .gates
            .iter()
            .filter(|(_, _, state)| matches!(state.evidence, Evidence::Objects(_) | Evidence::Metrics));
        environment.gates = stays.cloned().chain(pods).collect();
        environment.gates.extend(evidence::served(&survey.served));
        // What cannot be understood in the flags has been said.
        drop(versions.apply(&mut environment));
        Ok(Facts { environment, served })
    }
}
