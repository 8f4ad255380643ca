//! A snapshot of a live cluster: every kind the model knows, as the API server sends it.

use std::path::Path;
use std::sync::Arc;

use futures::future::try_join3;

use super::list::{Listed, Meter, Sink};
use super::{Error, Lists, Live};
use crate::bundle::{Compression, Part, Redaction, Snapshot, SnapshotError, SnapshotInfo};
use crate::gates::VersionSettings;
use crate::needs::{Needs, Observer};
use dra_model::{Environment, Gap, Kind, Time};

/// Content and form of a snapshot.
#[derive(Clone, Debug)]
pub struct SnapshotRequest<'a> {
    /// Only this namespace, besides what lives in none.
    pub namespace: Option<&'a str>,
    /// True if roles and their bindings are read too.
    pub rights: bool,
    /// True if what may be secret is left out.
    pub redact: bool,
    /// Compression.
    pub compression: Compression,
    /// Directory for temporary files.
    pub directory: &'a Path,
    /// The time of the snapshot.
    pub now: Time,
    /// Versions and gates given by the user.
    pub versions: &'a VersionSettings,
}

/// A snapshot, and what could not be read for it.
#[derive(Debug)]
pub struct Taken {
    /// To be saved.
    pub snapshot: Snapshot,
    /// Data that could not be read.
    pub gaps: Vec<Gap>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Live {
    /// Reads everything into temporary files.
    ///
    /// # Errors
    /// When the cluster cannot be asked, or the files not be written.
    pub async fn snapshot(
        &self,
        request: &SnapshotRequest<'_>,
        observer: Arc<dyn Observer>,
    ) -> Result<Taken, SnapshotError> {
        let mut needs = Needs::everything();
        if request.rights {
            needs = needs.with_rights();
        }
        if let Some(namespace) = request.namespace {
            needs = needs.in_namespace(namespace);
        }
        let redaction = if request.redact {
            Redaction::On
        } else {
            Redaction::Off
        };
        let part = |kind: Kind, version: &'static str| {
            Part::new(
                kind,
                kind.api_version(version),
                redaction,
                request.directory,
                request.compression,
            )
        };
        let (lists, mut environment, mut warnings) = self.parts(&needs, observer, part).await?;
        environment.read_at = Some(request.now);
        warnings.extend(request.versions.apply(&mut environment));
        let Lists {
            mut listed,
            gaps,
            not_served,
        } = lists;
        environment.not_served = not_served;
        listed.sort_by_key(|(kind, _)| *kind);

        let malformed = |(kind, listed): &(Kind, Listed<Part>)| {
            let broken = listed.sink.broken();
            (broken > 0).then(|| Gap::of_kind(*kind, format!("{broken} items of the list were malformed")))
        };
        let mut unreadable = gaps;
        unreadable.extend(listed.iter().filter_map(malformed));
        environment.gaps.clone_from(&unreadable);
        if let Some(namespace) = request.namespace {
            environment
                .gaps
                .extend(elsewhere(namespace, listed.iter().map(|(kind, _)| *kind)));
        }
        environment.gaps.sort();

        let infos = listed
            .iter()
            .map(|(_, listed)| listed.sink.info(listed.resource_version.clone()))
            .collect();
        let info = SnapshotInfo::new(&environment, infos, request.redact, request.namespace);
        let parts = listed.into_iter().map(|(_, listed)| listed.sink).collect();
        let snapshot = Snapshot::new(info, parts, request.directory, request.compression)?;
        Ok(Taken {
            snapshot,
            gaps: unreadable,
            warnings,
        })
    }

    async fn parts(
        &self,
        needs: &Needs,
        observer: Arc<dyn Observer>,
        part: impl Fn(Kind, &'static str) -> Part,
    ) -> Result<(Lists<Part>, Environment, Vec<String>), Error> {
        let survey = self.survey(needs).await?;
        let meter = Arc::new(Meter::new(observer));
        let lists = self.lists(needs, &survey.served, &meter, part);
        let (lists, gates, scheduler_profiles) =
            try_join3(lists, self.gates(needs, &survey), self.schedulers(needs)).await?;
        let environment = Environment {
            gates,
            scheduler_profiles,
            source: format!("cluster {}", self.name()),
            ..survey.environment
        };
        Ok((lists, environment, survey.warnings))
    }
}

/// Returns what a snapshot of one namespace lacks about the others.
fn elsewhere(namespace: &str, kinds: impl Iterator<Item = Kind>) -> impl Iterator<Item = Gap> {
    let namespaced = kinds.filter(|kind| kind.is_namespaced());
    namespaced.map(move |kind| Gap::elsewhere(kind, namespace))
}

impl Sink for Part {
    fn item(&mut self, json: &[u8]) {
        self.add(json);
    }

    fn bad(&mut self, _: String, _: String) {
        Self::bad(self);
    }
}
