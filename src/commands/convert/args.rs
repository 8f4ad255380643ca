//! Arguments shared by the subcommands of `convert`: claims, entries, and the target of the conversion.

use std::collections::BTreeSet;

use clap::ValueEnum;

use crate::commands::{check, objects};
use crate::context::Ctx;
use crate::error::UsageError;
use dra_model::{Cluster, ConsumerReference, Environment, Gate, Kind, Version};
use dra_reports::conversion::CONVERSION_NEEDS;
use dra_reports::{Selection, findings};
use dra_rules::reservation::conversion::{Kinds, Options, Release, Target, kind_word};
use dra_sources::Needs;

const ENTRIES: &str = "Conversion";

/// Claims and kinds of entries.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SelectionArgs {
    /// Only these claims: `NAME` or `claim/NAMESPACE/NAME`
    #[arg(value_name = "CLAIM")]
    names: Vec<String>,

    /// Convert entries of this kind, such as `jobs.batch`
    ///
    /// Instead of PodGroups. The controller of that kind may restore them. Can be repeated.
    #[arg(long, value_name = "RESOURCE.GROUP", value_parser = kind, help_heading = ENTRIES)]
    kind: Vec<String>,

    /// Convert entries of every kind
    #[arg(long, conflicts_with = "kind", help_heading = ENTRIES)]
    all_kinds: bool,
}

/// Planning flags.
#[derive(Debug, Default, clap::Args)]
pub(super) struct PlanningArgs {
    /// Also convert claims created for a PodGroup
    ///
    /// Use it when only a feature gate is disabled. The claims are released when their pods finish, but these pods cannot get a new sandbox,
    /// and taints do not evict them.
    #[arg(long, help_heading = ENTRIES)]
    include_generated: bool,

    /// Release the devices of unused claims
    ///
    /// A claim is unused if no pod uses it or could start using it, and the object of the entry is deleted.
    #[arg(long, help_heading = ENTRIES)]
    release_unused: bool,

    /// Release even though this object exists
    ///
    /// With `--release-unused`. Also if it cannot be looked up. Can be repeated.
    #[arg(long, value_name = "ENTRY", value_parser = entry, requires = "release_unused", help_heading = ENTRIES)]
    entry: Vec<String>,

    /// Release to downgrade to
    #[arg(long, value_name = "VERSION", help_heading = ENTRIES)]
    to_version: Option<Version>,

    /// Feature gate to disable
    ///
    /// Can be repeated.
    #[arg(
        long,
        value_enum,
        value_name = "GATE",
        value_delimiter = ',',
        conflicts_with = "to_version",
        hide_possible_values = true,
        help_heading = ENTRIES,
    )]
    disable_gate: Vec<GroupGate>,
}

/// A gate that kube-scheduler needs to reserve for PodGroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GroupGate {
    /// Claims created for PodGroups; PodGroups remain
    #[value(name = Gate::DRAWorkloadResourceClaims.name())]
    Claims,
    /// PodGroups altogether
    #[value(name = Gate::GenericWorkload.name())]
    Workload,
}

impl GroupGate {
    fn gate(self) -> Gate {
        match self {
            Self::Claims => Gate::DRAWorkloadResourceClaims,
            Self::Workload => Gate::GenericWorkload,
        }
    }
}

/// A kind as kubectl writes it: `jobs.batch`.
fn kind(text: &str) -> Result<String, String> {
    kind_word(text).map_err(str::to_owned)
}

/// One entry: `jobs.batch/render`.
fn entry(text: &str) -> Result<String, String> {
    match text.split_once('/') {
        Some((resource, name)) if !name.is_empty() && !name.contains('/') => {
            Ok(format!("{}/{name}", kind(resource)?))
        }
        _ => Err("expected KIND/NAME, as in `jobs.batch/render`".to_owned()),
    }
}

impl SelectionArgs {
    /// The claims that are meant.
    pub(super) fn selection(&self, ctx: &Ctx) -> Result<Selection, UsageError> {
        if let Some(version) = self.names.iter().find(|name| name.parse::<Version>().is_ok()) {
            return Err(UsageError::new(format!("`{version}` is a release, not a claim"))
                .hint(format!("pass `--to-version {version}`")));
        }
        objects::claims(ctx, objects::Default::All, &self.names)
    }

    /// The kinds of entries that are converted.
    pub(super) fn kinds(&self) -> Kinds {
        if self.all_kinds {
            Kinds::All
        } else if self.kind.is_empty() {
            Kinds::PodGroups
        } else {
            Kinds::Named(self.kind.iter().cloned().collect())
        }
    }
}

/// Refuses a kind that no entry has where another kind has its resource: `jobs` for `jobs.batch`.
pub(super) fn check_kinds(kinds: &Kinds, cluster: &Cluster) -> Result<(), UsageError> {
    let Kinds::Named(named) = kinds else {
        return Ok(());
    };
    let entries = cluster.claims().flat_map(|claim| &claim.status.reserved_for);
    let present: BTreeSet<String> = entries.map(ConsumerReference::group_resource).collect();
    let resource = |kind: &str| kind.split('.').next().unwrap_or_default().to_owned();
    for kind in named.difference(&present) {
        let meant = resource(kind);
        let is_meant = |of: &&String| [&meant, &format!("{meant}s")].contains(&&resource(of));
        if let Some(present) = present.iter().find(is_meant) {
            let error = UsageError::new(format!("no claim is reserved for the kind `{kind}`"));
            return Err(error.hint(format!("did you mean `--kind {present}`?")));
        }
    }
    Ok(())
}

impl PlanningArgs {
    /// Those of a downgrade to `version`.
    pub(super) fn toward(version: Version) -> Self {
        Self {
            to_version: Some(version),
            ..Self::default()
        }
    }

    /// Returns whether the conversion prepares for something.
    pub(super) fn has_target(&self) -> bool {
        self.to_version.is_some() || !self.disable_gate.is_empty()
    }

    /// Returns what is asked for, of a cluster with this environment.
    pub(super) fn options(&self, kinds: Kinds, environment: &Environment) -> Result<Options, UsageError> {
        Ok(Options {
            kinds,
            target: self.target(environment)?,
            include_generated: self.include_generated,
            release: if self.release_unused {
                Release::Unused {
                    entries: self.entry.iter().cloned().collect(),
                }
            } else {
                Release::Never
            },
        })
    }

    fn target(&self, environment: &Environment) -> Result<Option<Target>, UsageError> {
        let gates: BTreeSet<Gate> = self.disable_gate.iter().map(|gate| gate.gate()).collect();
        let Some(version) = self.to_version else {
            // Without PodGroups no controller makes claims for them either.
            return Ok(gates.last().copied().map(Target::GateOff));
        };
        let minor = check::minor(version)?;
        // Whether the release is one to go back to is the same question as for `check`.
        findings::Target::new(environment, Some(minor), [], [])
            .map(|_| Some(Target::Minor(minor)))
            .map_err(|error| check::no_target(environment, &error.to_string(), error.hint()))
    }
}

/// Returns what has to be read for the claims of `selection`.
pub(super) fn needs(selection: &Selection) -> Needs {
    objects::needs(CONVERSION_NEEDS, selection)
        .require(Kind::ResourceClaim)
        .with_gates()
        .pods_after_claims()
}
