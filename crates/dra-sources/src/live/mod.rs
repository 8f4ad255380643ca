//! A cluster asked through its API server.
//!
//! [`Live`] is the one reader of the API: it finds out what is served, lists the kinds that a command needs at the same time, and
//! says what it could not read. What is missing becomes a [`Gap`] of the environment rather than an error, unless the command
//! cannot do without it.

mod address;
mod again;
mod asked;
mod connect;
mod credentials;
mod discovery;
mod error;
mod evidence;
mod facts;
mod kubeconfig;
mod lease;
mod list;
mod lookup;
mod names;
mod owners;
mod plugin;
#[doc(hidden)]
pub mod probe;
mod processes;
mod proxy;
mod request;
mod rights;
mod server_time;
mod snapshot;
#[cfg(test)]
mod tests;
mod timing;
mod user;
mod waiting;
mod watch;
mod write;
mod writer;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::{join_all, try_join, try_join3};
use http::HeaderMap;

pub use self::again::Again;
pub use self::connect::{ConfiguredNames, Connection, Impersonation, no_path_segment};
pub use self::credentials::Secret;
pub use self::error::Error;
pub use self::facts::Facts;
pub use self::owners::{OwnersRead, OwnersWanted};
pub use self::processes::end_programs;
pub use self::proxy::check_proxy;
pub use self::request::jittered;
pub use self::rights::{MissingRights, Right};
pub use self::server_time::{Dated, ServerTime};
pub use self::snapshot::{SnapshotRequest, Taken};
pub use self::watch::{Persistence, Trouble, Unreadable, Watch, Watched};
pub use self::writer::Writer;

use self::credentials::Credentials;
use self::discovery::{Served, Serving};
use self::list::{Listed, Listing, Meter, Sink};
use self::timing::Timing;
use super::decode::{Decoder, key_of, name_of};
use super::gates::VersionSettings;
use super::needs::{Loaded, Needs, Observer, Problem, Unobserved, Want};
use dra_model::{
    Cluster, ClusterBuilder, Environment, Gap, Key, Kind, NewerFields, Object, SchedulerProfile, Str, Time,
};

/// A cluster behind its API server.
#[derive(Clone)]
pub struct Live {
    /// Sends requests.
    client: kube::Client,
    credentials: Credentials,
    /// Impersonation headers.
    headers: HeaderMap,
    /// Warning about the connection.
    warning: Option<String>,
    /// Address of the API server, as it may be shown: without user, password and query.
    server: String,
    /// Name of the kubeconfig's context; absent in a pod.
    context: Option<String>,
    /// Limit of a whole request.
    request_timeout: Option<Duration>,
    /// Limits of everything else.
    timing: Timing,
    /// Time in the server's responses.
    server_time: ServerTime,
    /// The version in which claims are written, once it was found out.
    claim_version: Arc<OnceLock<&'static str>>,
}

impl Live {
    /// Resolves the flags and the kubeconfig to a cluster. Nothing is asked of it yet.
    ///
    /// # Errors
    /// Says why the flags lead to no cluster.
    pub async fn connect(flags: &Connection) -> Result<Self, Error> {
        flags.resolve().await
    }

    /// Name of the kubeconfig's context; absent in a pod.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Returns what to know of the connection before believing what comes through it.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Address of the API server, without user, password and query.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The time by the server's clock, as far as its answers tell it.
    pub fn server_time(&self) -> &ServerTime {
        &self.server_time
    }

    /// Returns what the cluster is called for people: its context, else its address.
    pub fn name(&self) -> &str {
        self.context.as_deref().unwrap_or(&self.server)
    }

    /// Reads what `needs` says, as of now (`read_at`); `versions` is what the user knows better.
    ///
    /// # Errors
    /// When the server cannot be asked at all, or not for a kind that is required.
    pub async fn load(
        &self,
        needs: &Needs,
        versions: &VersionSettings,
        read_at: Time,
        observer: Arc<dyn Observer>,
    ) -> Result<Loaded, Error> {
        let (lists, environment, warnings) = self
            .read(needs, versions, read_at, observer, Objects::new)
            .await?;
        Ok(Loaded::of(lists, environment, warnings))
    }

    /// Lists what `needs` says, and finds out the state of the server; with warnings about that.
    async fn read<S: Sink>(
        &self,
        needs: &Needs,
        versions: &VersionSettings,
        read_at: Time,
        observer: Arc<dyn Observer>,
        sink: impl Fn(Kind, &'static str) -> S,
    ) -> Result<(Vec<(Kind, Listed<S>)>, Environment, Vec<String>), Error> {
        let mut survey = self.survey(needs).await?;
        let meter = Arc::new(Meter::new(observer));
        let lists = self.lists(needs, &survey.served, &meter, sink);
        let (lists, gates, scheduler_profiles) =
            try_join3(lists, self.gates(needs, &survey), self.schedulers(needs)).await?;
        let mut environment = Environment {
            gates,
            scheduler_profiles,
            read_at: Some(read_at),
            source: format!("cluster {}", self.name()),
            not_served: lists.not_served,
            gaps: lists.gaps,
            ..survey.environment
        };
        survey.warnings.extend(versions.apply(&mut environment));
        Ok((lists.listed, environment, survey.warnings))
    }

    /// Reads what `needs` says as of now, of a server whose versions and gates are known already.
    ///
    /// # Errors
    /// As [`Live::load`].
    pub async fn reload(&self, needs: &Needs, known: &Environment) -> Result<Cluster, Error> {
        let served = discovery::discover(self, &needs.kind_set()).await?;
        let meter = Arc::new(Meter::new(Arc::new(Unobserved)));
        let lists = self.lists(needs, &served, &meter, Objects::new).await?;
        let environment = Environment {
            not_served: lists.not_served,
            gaps: lists.gaps,
            ..known.clone()
        };
        Ok(Loaded::of(lists.listed, environment, Vec::new()).cluster)
    }

    /// Returns what the server is and serves.
    async fn survey(&self, needs: &Needs) -> Result<Survey, Error> {
        let mut kinds = needs.kind_set();
        if needs.wants_gates() {
            // Whether these are served is evidence about gates, even without permission to read them.
            kinds.insert(Kind::PodGroup);
        }
        let (version, served) = try_join(evidence::version(self), discovery::discover(self, &kinds)).await?;
        let (mut environment, warnings) = version;
        environment.old_versions = served.old_versions();
        Ok(Survey {
            environment,
            served,
            warnings,
        })
    }

    async fn gates(&self, needs: &Needs, survey: &Survey) -> Result<evidence::Gates, Error> {
        if !needs.wants_gates() {
            return Ok(evidence::served(&survey.served));
        }
        evidence::gates(self, &survey.environment, &survey.served).await
    }

    async fn schedulers(&self, needs: &Needs) -> Result<Option<Vec<SchedulerProfile>>, Error> {
        if !needs.schedulers {
            return Ok(None);
        }
        evidence::schedulers(self).await
    }

    /// Lists every wanted kind into sinks of its own.
    async fn lists<S: Sink>(
        &self,
        needs: &Needs,
        served: &Served,
        meter: &Arc<Meter>,
        sink: impl Fn(Kind, &'static str) -> S,
    ) -> Result<Lists<S>, Error> {
        let one = async |kind: Kind, want: &Want| (kind, self.one(kind, want, served, meter, &sink).await);
        // Pods that are listed after the claims include every pod that was there when a claim was written.
        let (first, later): (Vec<_>, Vec<_>) = needs
            .wants()
            .partition(|(kind, _)| !(needs.pods_after_claims && *kind == Kind::Pod));
        let mut answers = join_all(first.iter().map(|(kind, want)| one(*kind, want))).await;
        answers.extend(join_all(later.iter().map(|(kind, want)| one(*kind, want))).await);

        let mut lists = Lists {
            listed: Vec::new(),
            gaps: Vec::new(),
            not_served: Vec::new(),
        };
        for (kind, answer) in answers {
            let (listed, gaps) = answer?;
            if listed.is_none() && gaps.is_empty() {
                lists.not_served.push(kind);
            }
            lists.listed.extend(listed.map(|listed| (kind, listed)));
            lists.gaps.extend(gaps);
        }
        Ok(lists)
    }

    /// Lists one kind, with the gaps where not all of it could be read. Where there are neither, there are no such objects.
    async fn one<S: Sink>(
        &self,
        kind: Kind,
        want: &Want,
        served: &Served,
        meter: &Arc<Meter>,
        sink: &impl Fn(Kind, &'static str) -> S,
    ) -> Result<(Option<Listed<S>>, Vec<Gap>), Error> {
        let namespace = want.namespace.as_deref();
        let (versions, certain): (Vec<&'static str>, bool) = match served.kind(kind) {
            Serving::No => (Vec::new(), false),
            Serving::Version(version) => (vec![version], true),
            Serving::Perhaps(_) => (kind.versions().to_vec(), false),
        };
        let ask = async |version: &'static str, namespace: Option<&str>| {
            let listing = Listing {
                kind,
                version,
                namespace,
                want,
            };
            list::list(self, listing, meter, || sink(kind, version)).await
        };
        for version in versions {
            let error = match ask(version, namespace).await {
                Ok(listed) => {
                    let gaps = lack(kind, namespace, listed.lacks.as_ref());
                    return Ok((Some(listed), gaps));
                }
                // Another version may be there. What is served for certain is not found by accident, and may hold objects.
                Err(Error::Refused { code: 404, .. }) if !certain => continue,
                Err(error) => error,
            };
            if error.is_fatal() {
                return Err(error);
            }
            let forbidden = matches!(error, Error::Refused { code: 403, .. });
            let gap = Gap {
                namespace: namespace.map(Str::from).unwrap_or_default(),
                is_forbidden: forbidden,
                ..Gap::of_kind(kind, reason(kind, namespace, &error))
            };
            if let Some(fallback) = want.fallback.as_deref().filter(|_| forbidden) {
                match ask(version, Some(fallback)).await {
                    Ok(listed) => {
                        let gap = Gap {
                            except: fallback.into(),
                            ..gap
                        };
                        let mut gaps = lack(kind, Some(fallback), listed.lacks.as_ref());
                        gaps.push(gap);
                        return Ok((Some(listed), gaps));
                    }
                    Err(error) if error.is_fatal() => return Err(error),
                    Err(_) => {}
                }
            }
            return if want.required {
                Err(error)
            } else {
                Ok((None, vec![gap]))
            };
        }
        if !is_essential(kind) {
            return Ok((None, Vec::new()));
        }
        let error = Error::Refused {
            what: list::name(kind, namespace),
            code: 404,
            message: "the API server does not serve them".to_owned(),
            retry_after: None,
        };
        if want.required {
            return Err(error);
        }
        Ok((None, vec![Gap::of_kind(kind, error.to_string())]))
    }
}

/// Returns whether every cluster with device claims serves the kind. Where it is not served, pods may name such objects all the same, and it is
/// unknown whether these exist.
fn is_essential(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::ResourceClaim | Kind::ResourceClaimTemplate | Kind::ResourceSlice | Kind::DeviceClass
    )
}

impl Loaded {
    /// Makes a cluster of the lists.
    fn of(lists: Vec<(Kind, Listed<Objects>)>, mut environment: Environment, warnings: Vec<String>) -> Self {
        let mut loaded = Self {
            warnings,
            ..Self::default()
        };
        let mut builder = ClusterBuilder::default();
        for (kind, listed) in lists {
            // Without a version a watch lists everything itself before it begins.
            let version = if listed.lacks.is_none() {
                listed.resource_version
            } else {
                String::new()
            };
            loaded.resource_versions.insert(kind, version);
            let sink = listed.sink;
            // What cannot be read is missing, and a verdict that depends on it is unknown.
            if let Some(first) = sink.problems.first().filter(|_| sink.broken > 0) {
                let reason = format!(
                    "{} could not be read, the first because it {}",
                    sink.broken, first.message
                );
                environment.gaps.push(Gap::of_kind(kind, reason));
            }
            loaded.problems.extend(sink.problems);
            for object in sink.objects {
                builder.add(object);
            }
        }
        environment.gaps.sort();
        let newer = NewerFields::drop_from(builder.objects_mut(), environment.version);
        loaded.warnings.extend(newer.warnings());
        let (mut cluster, _) = builder.build(environment);
        cluster.learn_gates();
        loaded.cluster = cluster;
        loaded
    }
}

/// State found before the lists.
struct Survey {
    environment: Environment,
    served: Served,
    warnings: Vec<String>,
}

/// All lists of a load.
struct Lists<S> {
    listed: Vec<(Kind, Listed<S>)>,
    gaps: Vec<Gap>,
    not_served: Vec<Kind>,
}

/// Returns what a list says that it lacks.
fn lack(kind: Kind, namespace: Option<&str>, lacks: Option<&String>) -> Vec<Gap> {
    let gap = |lacks: &String| Gap {
        namespace: namespace.map(Str::from).unwrap_or_default(),
        ..Gap::of_kind(kind, lacks.clone())
    };
    lacks.map(gap).into_iter().collect()
}

/// Returns why a kind is missing, with the permission to read it.
fn reason(kind: Kind, namespace: Option<&str>, error: &Error) -> String {
    let Some((403, message)) = error.refusal() else {
        return error.to_string();
    };
    let resource = list::resource(kind);
    let role = match namespace {
        Some(namespace) if kind.is_namespaced() => format!("a Role in `{namespace}`"),
        _ => "a ClusterRole".to_owned(),
    };
    // The server's words repeat the user, the resource and the scope; only the user is news.
    let user = message
        .split("User ")
        .nth(1)
        .and_then(|rest| rest.split('"').nth(1));
    match user {
        Some(user) => format!("user `{user}` needs {role} to list {resource}"),
        None => format!("you need {role} to list {resource}"),
    }
}

/// The decoded objects of one list.
struct Objects {
    kind: Kind,
    version: &'static str,
    decoder: Decoder,
    objects: Vec<Object>,
    problems: Vec<Problem>,
    broken: u64,
    unread: Unread,
}

/// Objects of a list that could not be read.
#[derive(Default)]
struct Unread {
    keys: BTreeSet<Key>,
    /// True if there are some whose name could not be read either.
    nameless: bool,
}

impl Unread {
    fn add(&mut self, json: &[u8]) {
        match key_of(json).filter(|key| !key.name.is_empty()) {
            Some(key) => drop(self.keys.insert(key)),
            None => self.nameless = true,
        }
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty() && !self.nameless
    }
}

/// Problems of a list that are described one by one. The others are counted.
const DESCRIBED: usize = 20;

impl Objects {
    fn new(kind: Kind, version: &'static str) -> Self {
        Self {
            kind,
            version,
            decoder: Decoder::default(),
            objects: Vec::new(),
            problems: Vec::new(),
            broken: 0,
            unread: Unread::default(),
        }
    }

    fn problem(&mut self, object: Option<String>, message: String) {
        self.broken += 1;
        if self.problems.len() < DESCRIBED {
            self.problems.push(Problem {
                place: list::name(self.kind, None),
                object,
                message,
            });
        }
    }
}

impl Sink for Objects {
    fn item(&mut self, json: &[u8]) {
        match self
            .decoder
            .decode(self.kind, self.kind.group(), self.version, json)
        {
            Ok(object) => self.objects.push(object),
            Err(error) => {
                self.unread.add(json);
                let name = name_of(json, self.kind);
                self.problem(name, error.to_string());
            }
        }
    }

    fn bad(&mut self, name: String, message: String) {
        self.unread.nameless = true;
        self.problem(Some(name), message);
    }
}
