//! Files, directories, standard input and bundled examples, decoded into a cluster.
//!
//! One thread reads, others decode; results come together in the order of the text, so the same input gives the same cluster.

mod coverage;
mod decoded;
mod parts;
mod unknown;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;

use dra_model::is_similar;

use super::destination::FileIdentity;
use super::examples;
use super::files;
use super::files::{Limits, ReadError, ReadOptions, Source, read_parallel};
use super::gates::{ControlPlanePod, Kubelets, VersionSettings};
use super::needs::{Loaded, Needs, Observer, Problem};
use dra_model::{
    ClusterBuilder, Condition, Environment, Gap, Kind, NewerFields, Object, Owners, ReleaseEvidence,
    SchedulerProfile, Str, Time, Version,
};

use self::coverage::{Coverage, lacking, refer};
use self::decoded::{Decoded, Hidden, count_ignored, decode};
use self::parts::{Contradiction, Parts};
use self::unknown::UnknownFields;

/// Threads that decode. More do not make the reader faster.
const MOST_WORKERS: usize = 4;

/// Problems and duplicates that are described one by one. A broken file can have thousands, and the first ones are
/// enough.
const DESCRIBED: usize = 20;

/// The reason why files cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A source cannot be read to its end.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A source has nothing in it that is sound.
    #[error("no readable objects: {0}")]
    Malformed(Problem),
    /// The objects take too much memory for the size of the files.
    #[error("the objects in the files take more than {} MiB of memory, the limit for files of this size", limit >> 20)]
    TooMuchMemory {
        /// The limit.
        limit: u64,
    },
    /// No example has this name.
    #[error("unknown example `{0}`")]
    NoExample(String),
    /// An object is malformed or there twice, and the user wants to stop at that.
    #[error("{0}")]
    Strict(Problem),
    /// Objects that no API server would accept or return.
    #[error("{0}")]
    Refused(Refused),
    /// A file for this program says something else than it should.
    #[error("`{file}` is invalid: {message}")]
    Document {
        /// The file.
        file: String,
        /// The problem, with its line.
        message: String,
    },
    /// A manifest has more pods than can be judged.
    #[error("{0}")]
    TooManyPods(Problem),
}

/// Object that no API server would accept or return.
#[derive(Debug, Default)]
pub struct Refused {
    what: &'static str,
    hint: &'static str,
    problems: Vec<Problem>,
    more: usize,
    /// Additional observations about the input.
    beside: Vec<String>,
}

impl Refused {
    /// Problems of manifests that are described.
    const MOST: usize = 100;

    /// Returns what is wrong with manifests: nothing yet.
    pub(super) fn manifests() -> Self {
        Self {
            what: "the API server would reject the manifest",
            hint: "fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server",
            ..Self::default()
        }
    }

    /// An object of a file that is none of any cluster.
    fn stored(problem: Problem) -> Self {
        Self {
            what: "the files contain objects that no API server returns",
            hint: "fix the object in the file, or remove it",
            problems: vec![problem],
            ..Self::default()
        }
    }

    /// With what else was noticed of the input.
    pub(super) fn beside(self, beside: Vec<String>) -> Self {
        Self { beside, ..self }
    }

    pub(super) fn add(&mut self, problem: Problem) {
        if self.problems.len() < Self::MOST {
            self.problems.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// Counts problems that are not described.
    pub(super) fn add_more(&mut self, count: usize) {
        self.more += count;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        for problem in &self.problems {
            write!(f, "\n{problem}")?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        for text in &self.beside {
            write!(f, "\n{text}")?;
        }
        Ok(())
    }
}

impl LoadError {
    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.missing().and_then(meant_example).or_else(|| error.hint()),
            Self::NoExample(name) => {
                let meant = examples::all().find(|example| is_meant(name, example.name));
                Some(meant.map_or_else(
                    || "list the examples with `--from example:`".to_owned(),
                    |example| format!("did you mean `example:{}`?", example.name),
                ))
            }
            Self::TooMuchMemory { .. } => {
                Some("no cluster compresses this well; if you trust the files, unpack them first".to_owned())
            }
            Self::Malformed(_) | Self::Document { .. } => None,
            Self::Refused(refused) => Some(refused.hint.to_owned()),
            Self::TooManyPods(_) => Some(
                "reduce the number of pods in the manifest; `simulate allocation --max` reports how many \
                copies of a pod fit"
                    .to_owned(),
            ),
            Self::Strict(_) => Some("without --strict the object is skipped".to_owned()),
        }
    }
}

/// The hint for a file that does not exist, where an example may be meant: `exmaple:pending`, `examples:gpus`, `gpus`.
fn meant_example(file: &str) -> Option<String> {
    let (begin, name) = file.split_once(':').unwrap_or(("example", file));
    let is_begin = begin == "example" || begin == "examples" || is_similar("example", begin);
    if !is_begin {
        return None;
    }
    if matches!(name, "" | "example" | "examples") {
        return Some("list the examples with `--from example:`".to_owned());
    }
    let example = examples::all().find(|example| is_meant(name, example.name))?;
    Some(format!("did you mean `example:{}`?", example.name))
}

fn is_meant(written: &str, name: &str) -> bool {
    written == name || name.strip_suffix('s') == Some(written) || is_similar(name, written)
}

/// Files to read, and strictness.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The arguments of `--from`: files, directories, `-`, `example:NAME`.
    pub names: &'a [String],
    /// Namespace of objects without one, as in most manifests.
    pub namespace: &'a str,
    /// True if a malformed object or one that is there twice is an error.
    pub strict: bool,
    /// Versions and gates given by the user.
    pub versions: &'a VersionSettings,
    /// When the run began; nothing where the user says for what time to judge.
    pub started: Option<Time>,
}

/// Reads what `needs` says from files. Namespaces and selectors of `needs` are not applied: a file has been read whole anyway, and
/// the rules see more than what is shown.
///
/// # Errors
/// When a file cannot be read to its end; with `strict` at the first problem.
pub fn load(request: &Request<'_>, needs: &Needs, observer: Arc<dyn Observer>) -> Result<Loaded, LoadError> {
    let sources = sources(request.names)?;
    load_sources(&sources, request, needs, observer)
}

/// The same of other sources than the names of `request` lead to; messages name those.
pub(super) fn load_sources(
    sources: &[Source],
    request: &Request<'_>,
    needs: &Needs,
    observer: Arc<dyn Observer>,
) -> Result<Loaded, LoadError> {
    let bytes = Arc::new(AtomicU64::new(0));
    let options = ReadOptions {
        bytes_read: Some(Arc::clone(&bytes)),
        no_empty_files: true,
        ..ReadOptions::default()
    };
    let size = sources.iter().map(Source::size).sum();
    let mut collected = Collected::default();
    collected.take_left_out(sources, request.strict)?;
    let namespace = Str::from(request.namespace);
    let read = read_parallel(
        sources,
        &options,
        workers(),
        |batch| decode(batch, needs, &namespace),
        |decoded| {
            collected.take(decoded, (&options.limits, size), request.strict)?;
            collected.refuse_other_things(request.names, options.limits.problems)?;
            observer.progress(collected.objects, bytes.load(Ordering::Relaxed));
            Ok::<_, LoadError>(())
        },
    );
    match read {
        Ok(_) => collected.finish(request, needs),
        // Why there is nothing says more than that there is nothing.
        Err(LoadError::Read(ReadError::NoObjects { .. })) if !collected.loaded.problems.is_empty() => {
            Err(LoadError::Malformed(collected.loaded.problems.swap_remove(0)))
        }
        Err(error) => Err(error),
    }
}

/// Returns what one file or example says, as a `T`.
///
/// # Errors
/// When it cannot be read to its end, or is something else.
pub fn document_of<T: DeserializeOwned>(name: &str) -> Result<T, LoadError> {
    let text = files::text(&source(name)?, &ReadOptions::default())?;
    serde_saphyr::from_str(&text).map_err(|error| LoadError::Document {
        file: name.to_owned(),
        message: error.without_snippet().to_string(),
    })
}

/// The files behind the arguments of `--from`, as far as they can be distinguished, each with its name.
pub fn files_read(names: &[String]) -> Vec<(String, FileIdentity)> {
    let mut files = Vec::new();
    for name in names {
        match source(name) {
            Ok(Source::Stdin) => files.extend(FileIdentity::of_stdin().map(|file| (name.clone(), file))),
            Ok(Source::Path(path)) if path.is_dir() => {
                // Directories that cannot be listed are reported when read.
                let inside = files::files_of(&path).unwrap_or_default();
                files.extend(
                    inside
                        .iter()
                        .filter_map(|path| Some((path.display().to_string(), FileIdentity::of(path)?))),
                );
            }
            Ok(Source::Path(path)) => {
                files.extend(FileIdentity::of(&path).map(|file| (name.clone(), file)));
            }
            Ok(Source::Text { .. }) | Err(_) => {}
        }
    }
    files
}

/// Returns what the arguments of `--from` name.
pub(super) fn sources(names: &[String]) -> Result<Vec<Source>, LoadError> {
    names.iter().map(|name| source(name)).collect()
}

/// Returns what an argument of `--from` names.
fn source(name: &str) -> Result<Source, LoadError> {
    let Some(example) = name.strip_prefix("example:") else {
        return Ok(Source::from_argument(OsStr::new(name)));
    };
    let found = examples::all().find(|known| known.name == example);
    let found = found.ok_or_else(|| LoadError::NoExample(example.to_owned()))?;
    Ok(Source::Text {
        name: name.into(),
        text: found.bytes.into(),
    })
}

fn workers() -> NonZeroUsize {
    // Decoding takes about twice as long as reading, so one for each core keeps all of them busy, though the reader needs one too.
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores.clamp(1, MOST_WORKERS)).unwrap_or(NonZeroUsize::MIN)
}

/// All batches together.
#[derive(Default)]
struct Collected {
    builder: ClusterBuilder,
    loaded: Loaded,
    objects: u64,
    /// The memory of the objects.
    weight: u64,
    undescribed: u64,
    /// Problems by the kinds that they make incomplete.
    broken: BTreeMap<Hidden, u64>,
    parts: Parts,
    /// Kinds that an object refers to.
    referred: BTreeSet<Kind>,
    control_plane: Vec<ControlPlanePod>,
    /// The kubelets of nodes that are not among the objects.
    kubelets: Kubelets,
    /// Profiles of kube-scheduler, by the configurations that the files hold.
    profiles: Vec<Vec<SchedulerProfile>>,
    /// Objects of other kinds.
    owners: Owners,
    unknown_fields: UnknownFields,
    /// Versions of objects beside the best one of their kind, which a server served.
    old_versions: BTreeSet<String>,
}

impl Collected {
    fn take(
        &mut self,
        decoded: Decoded,
        (limits, size): (&Limits, u64),
        strict: bool,
    ) -> Result<(), LoadError> {
        if let Some(problem) = decoded.refused {
            return Err(LoadError::Refused(Refused::stored(problem)));
        }
        self.unknown_fields.add_all(decoded.unknown_fields);
        self.weight = self.weight.saturating_add(decoded.weight);
        let limit = limits.memory(decoded.read.max(size));
        if self.weight > limit {
            return Err(LoadError::TooMuchMemory { limit });
        }
        for (hidden, problem) in decoded.problems {
            *self.broken.entry(hidden).or_default() += 1;
            self.problem(problem, strict)?;
        }
        for problem in decoded.harmless {
            self.problem(problem, strict)?;
        }
        self.parts.append(decoded.parts);
        self.objects += decoded.objects.len() as u64;
        for object in decoded.objects {
            refer(&object, &mut self.referred);
            self.builder.add(object);
        }
        self.control_plane.extend(decoded.control_plane);
        self.kubelets = self.kubelets.and(decoded.kubelets);
        self.profiles.extend(decoded.profiles);
        self.owners.extend(decoded.owners);
        self.old_versions.extend(decoded.old_versions);
        for (kind, count) in decoded.ignored {
            count_ignored(&mut self.loaded.ignored, kind, count);
        }
        self.loaded.resource_versions.extend(decoded.versions);
        Ok(())
    }

    /// Unread files in directories may contain any kind.
    fn take_left_out(&mut self, sources: &[Source], strict: bool) -> Result<(), LoadError> {
        for source in sources {
            let Source::Path(path) = source else { continue };
            // Directories that cannot be listed are reported when read.
            let left_out = if path.is_dir() {
                files::left_out(path)
            } else {
                Ok(Vec::new())
            };
            for (path, why) in left_out.unwrap_or_default() {
                *self.broken.entry(Hidden::Anything).or_default() += 1;
                let problem = Problem {
                    place: path.display().to_string(),
                    object: None,
                    message: why.to_owned(),
                };
                self.problem(problem, strict)?;
            }
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem, strict: bool) -> Result<(), LoadError> {
        if strict {
            return Err(LoadError::Strict(problem));
        }
        if self.loaded.problems.len() < DESCRIBED {
            self.loaded.problems.push(problem);
        } else {
            self.undescribed += 1;
        }
        Ok(())
    }

    /// A file with almost nothing but problems is not a file of objects, and reading all of them would take forever.
    fn refuse_other_things(&self, names: &[String], limit: u64) -> Result<(), LoadError> {
        if self.undescribed <= limit {
            return Ok(());
        }
        let file = names.join(", ").into();
        Err(ReadError::TooManyProblems { file, limit }.into())
    }

    fn finish(mut self, request: &Request<'_>, needs: &Needs) -> Result<Loaded, LoadError> {
        let names = request.names.join(", ");
        let mut environment = self.environment(&names, request, needs);
        // Each configuration belongs to one kube-scheduler; there may be several with their own profiles.
        let profiles: Vec<SchedulerProfile> = std::mem::take(&mut self.profiles).concat();
        if !profiles.is_empty() {
            environment
                .scheduler_profiles
                .get_or_insert_default()
                .extend(profiles);
        }
        environment.owners = Arc::new(std::mem::take(&mut self.owners));
        environment.old_versions.append(&mut self.old_versions);
        let warnings = request.versions.apply(&mut environment);
        let coverage = Coverage::of(&self.parts);
        let knows_any = coverage.has_objects();
        let mut covered = coverage.verdict(needs, &environment, &self.referred);
        if self.broken.contains_key(&Hidden::Anything) {
            // What could not be understood hides every kind anyway, and says better why.
            covered.gaps.retain(|gap| !covered.absent.contains(&gap.kind));
        }
        for problem in covered.damaged {
            self.problem(problem, request.strict)?;
        }
        environment.told.clone_from(&covered.absent);
        let assumed = if needs.whole_files {
            &[]
        } else {
            covered.assumed.as_slice()
        };
        self.loaded
            .warnings
            .extend(lacking(&names, assumed, &covered.absent));
        let contradictions = self.parts.contradictions(self.builder.objects());
        environment.gaps.retain(|gap| !needs.contains(gap.kind));
        for Contradiction {
            kind,
            objects,
            problem,
            reason,
        } in contradictions
        {
            // What may not exist is no part of the picture, and its kind is unknown.
            self.builder
                .retain(|object| Some(object.kind()) != kind || !objects.contains(&object.metadata().key()));
            let kinds = kind.map_or_else(|| needs.kind_set(), |kind| [kind].into());
            environment.gaps.extend(
                kinds
                    .into_iter()
                    .map(|kind| Gap::of_kind(kind, reason.to_owned())),
            );
            self.problem(problem, request.strict)?;
        }
        environment.gaps.extend(covered.gaps);
        environment.gaps.extend(self.forgotten(needs));
        self.loaded.warnings.extend(warnings);
        self.loaded.warnings.extend(self.unknown_fields.warnings());

        let mut builder = std::mem::take(&mut self.builder);
        if environment.read_at.is_none()
            && let Some(started) = request.started
            && let Some(newest) = newest_time(builder.objects(), self.kubelets, started)
        {
            environment.assumed_now = Some(newest);
            // Where nodes are not needed, times are only ages.
            if needs.contains(Kind::Node) {
                self.loaded.warnings.push(format!(
                    "{names} does not record when it was read; assuming {newest}, the newest time of its objects (--now)"
                ));
            }
        }
        let newer = NewerFields::drop_from(builder.objects_mut(), environment.version);
        self.loaded.warnings.extend(newer.warnings());
        for (kind, one, other) in builder.with_same_uid() {
            let reason = "several objects share one UID".to_owned();
            environment.gaps.push(Gap::of_kind(kind, reason));
            self.problem(Problem::same_uid(kind, &one, &other, &names), request.strict)?;
        }
        environment.gaps.sort();
        environment.gaps.dedup();
        let (mut cluster, twins) = builder.build(environment);
        cluster.learn_gates();
        for twin in twins {
            self.problem(Problem::duplicate(&twin, &names), request.strict)?;
        }
        if !knows_any && !self.loaded.ignored.is_empty() {
            let kinds = self.loaded.ignored.iter();
            let kinds: Vec<_> = kinds
                .map(|(kind, count)| format!("{count} {kind}"))
                .take(3)
                .collect();
            self.loaded.warnings.push(format!(
                "no DRA objects found in {names}, only {}",
                kinds.join(", ")
            ));
        }
        if self.undescribed > 0 {
            self.loaded.warnings.push(format!(
                "{} more problems like these in {names}",
                self.undescribed
            ));
        }
        Ok(Loaded {
            cluster,
            ..self.loaded
        })
    }

    /// Returns the kinds that unreadable parts make incomplete. A problem of an object of unknown kind can hide an
    /// object of any kind.
    fn forgotten(&mut self, needs: &Needs) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for (hidden, count) in std::mem::take(&mut self.broken) {
            match hidden {
                Hidden::Of(kind, namespace) => {
                    let objects = if count == 1 { "object" } else { "objects" };
                    let reason = format!("{count} malformed {objects}");
                    gaps.push(Gap {
                        namespace,
                        ..Gap::of_kind(kind, reason)
                    });
                }
                Hidden::Anything => {
                    let parts = if count == 1 { "part" } else { "parts" };
                    let reason = format!("{count} {parts} of the input may be of any kind");
                    gaps.extend(
                        needs
                            .kind_set()
                            .into_iter()
                            .map(|kind| Gap::of_kind(kind, reason.clone())),
                    );
                }
            }
        }
        gaps
    }

    /// Returns the state of the cluster in the files. A snapshot records it; in other files the control plane's pods
    /// may show it.
    fn environment(&mut self, names: &str, request: &Request<'_>, needs: &Needs) -> Environment {
        let source = source_name(request.names);
        // Of several snapshots, the newest is closest to the truth.
        let coverage = Coverage::of(&self.parts);
        let told = coverage.snapshots().filter(|(_, info)| info.has_version());
        let count = told.clone().count();
        if let Some((file, info)) = told.max_by_key(|(_, info)| info.recorded_at) {
            let (environment, warnings) = info.environment(source);
            self.loaded.warnings.extend(warnings);
            if count > 1 {
                self.loaded.warnings.push(format!(
                    "{names} hold {count} snapshots; versions, feature gates and time are those of `{file}`"
                ));
            }
            return environment;
        }
        let mut environment = Environment {
            source,
            ..Environment::default()
        };
        let named = ControlPlanePod::version_of(&self.control_plane);
        if let Some(version) = named {
            environment.assume(version, ReleaseEvidence::Patch);
        } else if request.versions.kubernetes.is_none() {
            let assumed = match self.shown_release() {
                Some((version, why)) => {
                    environment.assume(version, ReleaseEvidence::Objects);
                    format!("{version}, {why}")
                }
                None => format!("{}.{}", environment.version.major, environment.version.minor),
            };
            let warning = format!(
                "{names} does not record a Kubernetes version; assuming {assumed} (--kubernetes-version)"
            );
            self.loaded
                .warnings
                .extend(needs.wants_gates().then_some(warning));
        }
        environment.gates = self
            .control_plane
            .iter()
            .flat_map(|pod| pod.gates(&environment))
            .collect();
        environment
    }

    /// The release that the objects show, where one of them has a kubelet: no kubelet is newer than its control plane, and most are of
    /// its release. Fields that an older control plane drops show a newer one.
    fn shown_release(&mut self) -> Option<(Version, &'static str)> {
        let objects = self.builder.objects_mut();
        let newest = self.kubelets.and(kubelets(objects)).newest?;
        let fields = NewerFields::since(objects).map(Version::minor);
        let oldest = Version::minor(Version::OLDEST_MINOR);
        Some(match fields.filter(|fields| *fields > newest) {
            Some(fields) => (fields, "the first release with all the fields of its objects"),
            None if newest < oldest => (
                oldest,
                "because its kubelets are older than any supported release",
            ),
            None => (newest, "the version of its newest kubelet"),
        })
    }
}

/// Seconds after which the kubelet of a node that is ready has reported again: at most eight minutes (`kubelet_node_status.go`,
/// `updateNodeStatus`, v1.37.2), and some for the clocks.
const REPORTING_SECONDS: u64 = 600;

/// The kubelets of the nodes among `objects`.
fn kubelets(objects: &[Object]) -> Kubelets {
    let nodes = objects.iter().filter_map(|object| match object {
        Object::Node(node) => Some(Kubelets::of(node)),
        _ => None,
    });
    nodes.fold(Kubelets::default(), Kubelets::and)
}

/// The newest time of `objects` before `started`, where the kubelets of ready nodes show that the objects were read long before that, or by a
/// clock that is ahead of this one.
fn newest_time(objects: &[Object], others: Kubelets, started: Time) -> Option<Time> {
    let reported = kubelets(objects).and(others).reported?;
    let is_ahead = reported.since(started).as_secs() >= REPORTING_SECONDS;
    if !is_ahead && started.since(reported).as_secs() < REPORTING_SECONDS {
        return None;
    }
    let of_condition =
        |condition: &Condition| condition.last_heartbeat_time.max(condition.last_transition_time);
    let times = objects.iter().flat_map(|object| {
        let (event, conditions) = match object {
            Object::Event(event) => (event.last_seen(), &[][..]),
            Object::Node(node) => (None, node.status.conditions.as_slice()),
            Object::Pod(pod) => (None, pod.status.conditions.as_slice()),
            _ => (None, &[][..]),
        };
        let newest = conditions.iter().filter_map(of_condition).max();
        [object.metadata().creation_timestamp, event, newest]
    });
    let times = times.flatten().chain([reported]);
    let is_past = |time: &Time| {
        if is_ahead {
            time.since(reported).as_secs() < REPORTING_SECONDS
        } else {
            *time <= started
        }
    };
    times.filter(is_past).max()
}

/// Returns what the files are called for people.
fn source_name(names: &[String]) -> String {
    match names {
        [name] if name == "-" => "standard input".to_owned(),
        [name] if name.starts_with("example:") => name.clone(),
        [name] => format!("file {name}"),
        _ => format!("files {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ready_nodes_have_not_reported_for_long_is_old() {
        let newest = |ready: &str, started: &str| {
            let node = format!(
                r#"{{"metadata":{{"name":"n"}},"status":{{"conditions":[{{"type":"Ready","status":"{ready}",
                    "lastHeartbeatTime":"2026-11-28T09:55:00Z"}}]}}}}"#
            );
            let event = r#"{"metadata":{"name":"e"},"lastTimestamp":"2026-11-28T09:57:00Z"}"#;
            // Of a machine whose clock is ahead.
            let pod = r#"{"metadata":{"name":"p","creationTimestamp":"2027-01-01T00:00:00Z"}}"#;
            let all = [
                (Kind::Node, node.as_str()),
                (Kind::Event, event),
                (Kind::Pod, pod),
            ];
            let objects = all.map(|(kind, json)| Object::from_json(kind, json.as_bytes()).unwrap());
            newest_time(&objects, Kubelets::default(), started.parse().unwrap()).map(|time| time.to_string())
        };
        let two_days_later = "2026-11-30T10:00:00Z";
        assert_eq!(
            newest("True", two_days_later).as_deref(),
            Some("2026-11-28T09:57:00Z")
        );
        assert_eq!(newest("True", "2026-11-28T10:00:00Z"), None);
        // Read by a clock that is ahead of this one.
        assert_eq!(
            newest("True", "2026-11-28T01:00:00Z"),
            newest("True", two_days_later)
        );
        // A node that was lost may be in a cluster of now.
        assert_eq!(newest("Unknown", two_days_later), None);
    }
}
