//! Files, directories, standard input and bundled examples, decoded into a cluster.
//!
//! One thread reads, others decode; results come together in the order of the text, so the same input gives the same cluster.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bundle::{SnapshotInfo, is_info};
use super::decode::{Decoder, group_version};
use super::destination::FileIdentity;
use super::examples;
use super::files;
use super::files::{Found, ItemBatch, RawItem, ReadError, ReadOptions, Source, read_parallel};
use super::gates::{ControlPlanePod, VersionSettings};
use super::needs::{Loaded, Needs, Observer, Problem};
use super::upgrade::UpgradeError;
use crate::model::{ClusterBuilder, Environment, Gap, Kind, Object, Str};

/// Threads that decode. More do not make the reader faster.
const MOST_WORKERS: usize = 4;

/// Problems and duplicates that are described one by one. A broken file can have thousands, of which the first ones say it all.
const DESCRIBED: usize = 20;

/// Why files cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A source cannot be read to its end.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A source has nothing in it that is sound.
    #[error("no object can be read: {0}")]
    Malformed(Problem),
    /// No example has this name.
    #[error("there is no example `{0}`")]
    NoExample(String),
    /// An object is malformed or there twice, and the user wants to stop at that.
    #[error("{0}")]
    Strict(Problem),
}

impl LoadError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.hint(),
            Self::NoExample(_) => {
                let names: Vec<_> = examples::all()
                    .map(|example| format!("`example:{}` ({})", example.name, example.about))
                    .collect();
                Some(format!("examples that exist: {}", names.join(", ")))
            }
            Self::Malformed(_) => None,
            Self::Strict(_) => {
                Some("without --strict the object is left out and the rest is read".to_owned())
            }
        }
    }
}

/// Which files, and how strictly they are read.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The arguments of `--from`: files, directories, `-`, `example:NAME`.
    pub names: &'a [String],
    /// Whether a malformed object or one that is there twice is an error.
    pub strict: bool,
    /// What the user knows of versions and gates.
    pub versions: &'a VersionSettings,
}

/// Reads what `needs` says from files. Namespaces and selectors of `needs` are not applied: a file has been read whole anyway, and
/// the rules see more than what is shown.
///
/// # Errors
/// When a file cannot be read to its end; with `strict` at the first problem.
pub fn load(request: &Request<'_>, needs: &Needs, observer: Arc<dyn Observer>) -> Result<Loaded, LoadError> {
    let sources = request
        .names
        .iter()
        .map(|name| source(name))
        .collect::<Result<Vec<_>, _>>()?;
    let bytes = Arc::new(AtomicU64::new(0));
    let options = ReadOptions {
        bytes_read: Some(Arc::clone(&bytes)),
        ..ReadOptions::default()
    };
    let mut collected = Collected::default();
    let read = read_parallel(
        &sources,
        &options,
        workers(),
        |batch| decode(batch, needs),
        |decoded| {
            collected.take(decoded, request.strict)?;
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

/// The text of one file or example, unpacked.
///
/// # Errors
/// When it cannot be read to its end.
pub fn text_of(name: &str) -> Result<String, LoadError> {
    Ok(files::text(&source(name)?, &ReadOptions::default())?)
}

/// The files behind the arguments of `--from`, as far as they can be told apart from others; with each what to call it.
pub fn files_read(names: &[String]) -> Vec<(String, FileIdentity)> {
    let mut files = Vec::new();
    for name in names {
        match source(name) {
            Ok(Source::Stdin) => files.extend(FileIdentity::of_stdin().map(|file| (name.clone(), file))),
            Ok(Source::Path(path)) if path.is_dir() => {
                // What cannot be listed is told when it is read.
                let inside = files::files_of(&path, ReadOptions::default().recursive).unwrap_or_default();
                files.extend(
                    inside
                        .iter()
                        .filter_map(|path| Some((path.display().to_string(), FileIdentity::of(path)?))),
                );
            }
            Ok(Source::Path(path)) => {
                files.extend(FileIdentity::of(&path).map(|file| (name.clone(), file)));
            }
            Ok(Source::Text { .. } | Source::Bundled { .. }) | Err(_) => {}
        }
    }
    files
}

fn source(name: &str) -> Result<Source, LoadError> {
    let Some(example) = name.strip_prefix("example:") else {
        return Ok(Source::from_argument(OsStr::new(name)));
    };
    let found = examples::all().find(|known| known.name == example);
    let found = found.ok_or_else(|| LoadError::NoExample(example.to_owned()))?;
    Ok(Source::Bundled {
        name: name.into(),
        bytes: found.bytes,
    })
}

fn workers() -> NonZeroUsize {
    // Decoding takes about twice as long as reading, so one for each core keeps all of them busy, though the reader needs one too.
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores.clamp(1, MOST_WORKERS)).unwrap_or(NonZeroUsize::MIN)
}

/// What one batch became.
#[derive(Default)]
struct Decoded {
    objects: Vec<Object>,
    problems: Vec<(Option<(Kind, Str)>, Problem)>,
    infos: Vec<(String, SnapshotInfo)>,
    control_plane: Vec<ControlPlanePod>,
    ignored: BTreeMap<String, u64>,
    /// Objects of kinds that are known, whether they are needed or not.
    known: u64,
    versions: Vec<(Kind, String)>,
}

thread_local! {
    /// Each thread shares its texts over all its batches.
    static DECODER: RefCell<Decoder> = RefCell::default();
}

fn decode(batch: &ItemBatch, needs: &Needs) -> Decoded {
    let mut decoded = Decoded::default();
    DECODER.with_borrow_mut(|decoder| {
        for found in batch.iter() {
            match found {
                Found::Item(item) => decoded.item(&item, needs, decoder),
                Found::List { head, .. } => {
                    let kind = head.item_kind().and_then(|kind| {
                        let (group, _) = group_version(head.api_version.as_deref().unwrap_or_default());
                        Kind::find(group, kind)
                    });
                    decoded.versions.extend(kind.zip(head.resource_version.clone()));
                }
                Found::Problem(problem) => decoded.problems.push((None, problem.into())),
            }
        }
    });
    decoded
}

impl Decoded {
    fn item(&mut self, item: &RawItem<'_>, needs: &Needs, decoder: &mut Decoder) {
        let (Some(api_version), Some(name)) = (item.api_version, item.kind) else {
            let missing = if item.kind.is_none() { "kind" } else { "apiVersion" };
            self.problems
                .push((None, item.problem(format!("has no `{missing}`")).into()));
            return;
        };
        let (group, version) = group_version(api_version);
        let Some(kind) = Kind::find(group, name) else {
            if is_info(api_version, name) {
                match serde_json::from_slice(item.json) {
                    Ok(info) => self.infos.push((item.origin.file.to_string(), info)),
                    Err(error) => self.problems.push((None, item.decode_problem(&error).into())),
                }
            } else {
                *self
                    .ignored
                    .entry(format!("{name} of {api_version}"))
                    .or_default() += 1;
            }
            return;
        };
        self.known += 1;
        if kind == Kind::Pod && needs.wants_gates() {
            self.control_plane.extend(ControlPlanePod::of(item.json));
        }
        if !needs.contains(kind) {
            return;
        }
        let problem = match decoder.decode(kind, group, version, item.json) {
            Ok(object) => {
                self.objects.push(object);
                return;
            }
            Err(UpgradeError::Json(error)) => item.decode_problem(&error),
            Err(UpgradeError::UnknownVersion(_)) => item.problem(format!(
                "`{api_version}` is no version of {kind} that can be read; {} {}",
                if kind.versions().len() == 1 {
                    "known is"
                } else {
                    "known are"
                },
                kind.versions().join(", ")
            )),
            Err(error) => item.problem(error.to_string()),
        };
        let problem = Problem::from(problem);
        let namespace = problem.namespace().into();
        self.problems.push((Some((kind, namespace)), problem));
    }
}

/// All batches together.
#[derive(Default)]
struct Collected {
    builder: ClusterBuilder,
    loaded: Loaded,
    objects: u64,
    known: u64,
    undescribed: u64,
    /// Objects that could not be decoded, by kind and namespace.
    broken: BTreeMap<(Kind, Str), u64>,
    infos: Vec<(String, SnapshotInfo)>,
    control_plane: Vec<ControlPlanePod>,
}

impl Collected {
    fn take(&mut self, decoded: Decoded, strict: bool) -> Result<(), LoadError> {
        let Decoded {
            objects,
            problems,
            infos,
            control_plane,
            ignored,
            known,
            versions,
        } = decoded;
        self.known += known;
        for (of, problem) in problems {
            if let Some(of) = of {
                *self.broken.entry(of).or_default() += 1;
            }
            self.problem(problem, strict)?;
        }
        self.objects += objects.len() as u64;
        for object in objects {
            self.builder.add(object);
        }
        self.infos.extend(infos);
        self.control_plane.extend(control_plane);
        for (kind, count) in ignored {
            *self.loaded.ignored.entry(kind).or_default() += count;
        }
        self.loaded.resource_versions.extend(versions);
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

    fn finish(mut self, request: &Request<'_>, needs: &Needs) -> Result<Loaded, LoadError> {
        let names = request.names.join(", ");
        let mut environment = self.environment(&names, request, needs);
        for ((kind, namespace), count) in std::mem::take(&mut self.broken) {
            let objects = if count == 1 { "object" } else { "objects" };
            let reason = format!("{count} malformed {objects}");
            environment.gaps.push(Gap {
                kind,
                namespace,
                except: Str::default(),
                reason,
            });
        }
        environment.gaps.sort();
        let warnings = request.versions.apply(&mut environment);
        self.loaded.warnings.extend(warnings);

        let (cluster, duplicates) = std::mem::take(&mut self.builder).build(environment);
        for (kind, key) in duplicates {
            self.problem(Problem::duplicate(kind, &key, &names), request.strict)?;
        }
        if self.known == 0 && !self.loaded.ignored.is_empty() {
            let kinds = self.loaded.ignored.iter();
            let kinds: Vec<_> = kinds
                .map(|(kind, count)| format!("{count} {kind}"))
                .take(3)
                .collect();
            self.loaded.warnings.push(format!(
                "{names} has no object of a kind that matters, only {}",
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

    /// What the files tell of their cluster. A snapshot says it itself; of other files the control plane's pods may say something.
    fn environment(&mut self, names: &str, request: &Request<'_>, needs: &Needs) -> Environment {
        let source = source_name(request.names);
        // Of several snapshots, the newest is closest to the truth.
        self.infos.sort_by_key(|(_, info)| info.recorded_at);
        if let Some((file, info)) = self.infos.last() {
            let (environment, warnings) = info.environment(source);
            self.loaded.warnings.extend(warnings);
            if self.infos.len() > 1 {
                let count = self.infos.len();
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
            environment.version = version;
            environment.emulated_minor = version.minor;
            environment.min_compatibility_minor = version.minor.saturating_sub(1);
        } else if needs.wants_gates() && request.versions.kubernetes.is_none() {
            self.loaded.warnings.push(format!(
                "{names} does not say which release of Kubernetes it is from; assuming {}.{} (see --kubernetes-version)",
                environment.version.major, environment.version.minor
            ));
        }
        environment.gates = self
            .control_plane
            .iter()
            .flat_map(|pod| pod.gates(&environment))
            .collect();
        environment
    }
}

/// What the files are called for people.
fn source_name(names: &[String]) -> String {
    match names {
        [name] if name == "-" => "standard input".to_owned(),
        [name] if name.starts_with("example:") => name.clone(),
        [name] => format!("file {name}"),
        _ => format!("files {}", names.join(", ")),
    }
}
