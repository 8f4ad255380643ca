//! A snapshot of a live cluster: every kind the model knows, as the API server sends it.

use std::path::Path;
use std::sync::Arc;

use super::list::{Listed, Sink};
use super::waiting::WaitingPods;
use super::{Error, Live};
use crate::bundle::{Compression, Part, Redaction, Snapshot, SnapshotError, SnapshotInfo, add_owner};
use crate::gates::VersionSettings;
use crate::needs::{Needs, Observer};
use dra_model::{Gap, Kind, Time};

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
            needs = needs.optionally(Kind::OF_RIGHTS);
        }
        if let Some(namespace) = request.namespace {
            needs = needs.in_namespace(namespace);
        }
        let redaction = if request.redact {
            Redaction::On
        } else {
            Redaction::Off
        };
        let part = |kind: Kind, version: &'static str| Recorder {
            part: Part::new(
                kind,
                kind.api_version(version),
                redaction,
                request.directory,
                request.compression,
            ),
            waiting: (kind == Kind::Pod).then(WaitingPods::default),
        };
        let (mut listed, mut environment, mut warnings) = self
            .read(&needs, request.versions, request.now, observer, part)
            .await?;
        listed.sort_by_key(|(kind, _)| *kind);

        let malformed = |(kind, listed): &(Kind, Listed<Recorder>)| {
            let broken = listed.sink.part.broken;
            (broken > 0).then(|| Gap::of_kind(*kind, format!("{broken} items of the list were malformed")))
        };
        environment.gaps.extend(listed.iter().filter_map(malformed));
        let unreadable = environment.gaps.clone();
        // A snapshot of one namespace lacks the others.
        if let Some(namespace) = request.namespace {
            let kinds = listed.iter().map(|(kind, _)| *kind);
            let gaps = kinds.filter(|kind| kind.is_namespaced());
            let gaps = gaps.map(|kind| Gap::elsewhere(kind, namespace));
            environment.gaps.extend(gaps);
        }
        environment.gaps.sort();

        let infos = listed
            .iter()
            .map(|(_, listed)| listed.sink.part.info(listed.resource_version.clone()))
            .collect();
        let info = SnapshotInfo::new(&environment, infos, request.redact, request.namespace);
        let waiting = listed
            .iter_mut()
            .find_map(|(_, listed)| listed.sink.waiting.take());
        let owners = self
            .owners_of(waiting.unwrap_or_default(), redaction, &mut warnings)
            .await?;
        let parts = listed.into_iter().map(|(_, listed)| listed.sink.part).collect();
        let snapshot = Snapshot::new(info, parts, &owners, request.directory, request.compression)?;
        Ok(Taken {
            snapshot,
            gaps: unreadable,
            warnings,
        })
    }

    /// Reads what is above pods that wait, as items of the snapshot.
    async fn owners_of(
        &self,
        waiting: WaitingPods,
        redaction: Redaction,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<u8>, Error> {
        let (wanted, left_out) = waiting.wanted();
        let read = self.owners(wanted).await?;
        let mut items = Vec::new();
        for object in read.objects() {
            let version_and_kind = (object.api_version.as_str(), object.kind.as_str());
            add_owner(
                redaction,
                version_and_kind,
                object.json.get().as_bytes(),
                &mut items,
            );
        }
        let missing = read.unread.into_iter();
        warnings.extend(missing.map(|why| format!("owners of pending pods are missing: {why}")));
        if left_out > 0 {
            warnings.push(format!(
                "owners of pending pods are missing: there are {left_out} more than the snapshot takes"
            ));
        }
        Ok(items)
    }
}

/// A list on its way into the snapshot.
struct Recorder {
    part: Part,
    /// Of pods alone.
    waiting: Option<WaitingPods>,
}

impl Sink for Recorder {
    fn item(&mut self, json: &[u8]) {
        self.part.add(json);
        if let Some(waiting) = &mut self.waiting {
            waiting.add(json);
        }
    }

    fn bad(&mut self, _: String, _: String) {
        self.part.broken += 1;
    }
}
