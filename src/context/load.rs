//! From settings to a cluster: whichever source it is, commands ask for what they need and get a [`Cluster`].

use std::sync::Arc;

use anyhow::Context as _;

use super::{Ctx, Scope, SourceSetting};
use crate::error::UsageError;
use crate::output::{GateState, Progress, Source, one_line};
use dra_model::{Cluster, Component, Environment, Evidence, Gate, Kind, Version};
use dra_sources::live::{self, Live};
use dra_sources::{Loaded, Needs, Observer};

impl Ctx {
    /// Loads what a command needs, and warns of what could not be understood on the way.
    pub(crate) async fn load(&self, needs: Needs) -> anyhow::Result<Cluster> {
        Ok(self.load_to_watch(&needs).await?.cluster)
    }

    /// The same, with the state that a watch continues from.
    pub(crate) async fn load_to_watch(&self, needs: &Needs) -> anyhow::Result<Loaded> {
        let loaded = match &self.settings.source {
            SourceSetting::Cluster(_) => {
                let live = self.live().await?;
                let observer = self.observer(&format!("reading {}", live.name()));
                live.load(needs, &self.settings.versions, self.begun(), observer)
                    .await?
            }
            SourceSetting::Files(names) => self.read_files(names, needs)?,
        };
        if !self.settings.output.watch {
            self.begin_computing();
        }
        let source = match (&self.settings.source, self.live.get()) {
            (SourceSetting::Files(names), _) => Some(Source::Files { names: names.clone() }),
            (SourceSetting::Cluster(_), Some(live)) => Some(Source::Cluster {
                context: live.context().map(str::to_owned),
                server: live.server().to_owned(),
            }),
            (SourceSetting::Cluster(_), None) => None,
        };
        self.note_loaded(&loaded, source, needs);
        Ok(loaded)
    }

    /// Loads one source in the form of `--from` besides what the flags name. The report is about what is loaded last.
    pub(crate) fn load_file(&self, name: &str, needs: &Needs) -> anyhow::Result<Cluster> {
        let names = [name.to_owned()];
        let loaded = self.read_files(&names, needs)?;
        let source = Source::Files { names: names.into() };
        self.note_loaded(&loaded, Some(source), needs);
        Ok(loaded.cluster)
    }

    fn read_files(&self, names: &[String], needs: &Needs) -> anyhow::Result<Loaded> {
        let request = dra_sources::Request {
            names,
            namespace: self.namespace_of_bare(),
            strict: self.settings.strict,
            versions: &self.settings.versions,
            started: self.settings.now.is_none().then_some(self.started),
        };
        // Only they show whether the namespace exists.
        let needs = needs.clone().and(Kind::Namespace);
        let whole = needs.clone().files_are_whole();
        Ok(dra_sources::load(
            &request,
            if self.settings.complete { &whole } else { &needs },
            self.observer(&format!("reading {}", names.join(", "))),
        )?)
    }

    /// Warns of what could not be understood in `source`, and notes it in the report.
    fn note_loaded(&self, loaded: &Loaded, source: Option<Source>, needs: &Needs) {
        self.warn_all(loaded.problems.iter().map(ToString::to_string));
        self.warn_all(&loaded.warnings);
        if self.settings.output.verbosity > 0 {
            for (kind, count) in &loaded.ignored {
                self.printer.note(&format!("ignored: {count} {}", one_line(kind)));
            }
        }
        if needs.wants_gates()
            && let Some(warning) = beyond(loaded.cluster.environment())
        {
            self.warn(warning);
        }
        let environment = loaded.cluster.environment();
        let mut envelope = self.envelope.lock();
        envelope.kubernetes_version = Some(environment.version.to_string());
        envelope.source = source;
        envelope.feature_gates = if needs.wants_gates() {
            known_gates(environment)
        } else {
            Vec::new()
        };
        // A watch changes the cluster, which is cheap as long as no other cluster shares it.
        if !self.settings.output.watch {
            self.keep(loaded.cluster.clone());
        }
    }

    /// The cluster that the connection flags lead to.
    pub(crate) async fn live(&self) -> anyhow::Result<&Live> {
        let SourceSetting::Cluster(connection) = &self.settings.source else {
            let error = UsageError::needs_cluster("this command");
            return Err(error.hint("remove `--from`").into());
        };
        self.live
            .get_or_try_init(async || {
                let live = Live::connect(connection).await?;
                if let Some(warning) = live.warning() {
                    self.warn(warning);
                }
                Ok::<_, live::Error>(live)
            })
            .await
            .context("cannot connect")
    }

    /// The namespace that commands look at unless told otherwise: that of the kubeconfig's context, `default` for files.
    pub(crate) fn current_namespace(&self) -> String {
        match &self.settings.source {
            SourceSetting::Cluster(connection) => connection.current_namespace(),
            SourceSetting::Files(_) => "default".to_owned(),
        }
    }

    /// Returns where objects of files are that say no namespace.
    pub(crate) fn namespace_of_bare(&self) -> &str {
        match &self.settings.scope {
            Scope::Namespace(namespace) => namespace,
            Scope::Unset | Scope::All => "default",
        }
    }

    /// Shows on a terminal how far reading is.
    pub(crate) fn observer(&self, what: &str) -> Arc<dyn Observer> {
        Arc::new(self.progress(what, None))
    }
}

/// Returns what is said of a release that is newer than the newest that this build was compared with.
pub(crate) fn beyond(environment: &Environment) -> Option<String> {
    let version = environment.version;
    let newest = Version::NEWEST_MINOR;
    let minor = version.minor.max(environment.emulated_minor);
    (minor > newest).then(|| {
        format!(
            "Kubernetes {}.{minor} is newer than 1.{newest}, the newest release that this build supports; \
            using the rules of 1.{newest}",
            version.major
        )
    })
}

/// Gates with more evidence than the default.
fn known_gates(environment: &Environment) -> Vec<GateState> {
    let each = Component::ALL
        .into_iter()
        .flat_map(|component| Gate::all().map(move |gate| (component, gate)));
    each.filter_map(|(component, gate)| {
        let state = environment.gate(component, gate);
        (state.evidence != Evidence::Assumed).then(|| GateState {
            name: gate.name().to_owned(),
            enabled: state.enabled,
            component: component.to_string(),
            evidence: state.evidence.to_string(),
        })
    })
    .collect()
}

impl Observer for Progress {
    fn progress(&self, objects: u64, _: u64) {
        self.reach(objects);
    }
}
