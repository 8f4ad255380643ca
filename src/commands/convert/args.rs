//! What the subcommands of `convert` have in common: which claims, which entries, and what the conversion prepares for.

use std::collections::BTreeSet;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::commands::objects;
use crate::context::Ctx;
use crate::error::UsageError;
use dra_model::{Environment, Gate, Kind, Version};
use dra_reports::conversion::CONVERSION_NEEDS;
use dra_reports::{Selection, findings};
use dra_rules::reservation::conversion::{Kinds, Options, Release, Target, kind_word};
use dra_sources::Needs;

const ENTRIES: &str = "What is converted, and for what";

/// Claims and kinds of entries.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SelectionArgs {
    /// Only these: `NAME` or `claim/NAMESPACE/NAME`
    #[arg(value_name = "CLAIM")]
    names: Vec<String>,

    /// Entries of this kind, as `jobs.batch`
    ///
    /// Instead of PodGroups. The controller of that kind may object. May be repeated.
    #[arg(long, value_name = "RESOURCE.GROUP", value_parser = kind, help_heading = ENTRIES)]
    kind: Vec<String>,

    /// Entries of every kind
    #[arg(long, conflicts_with = "kind", help_heading = ENTRIES)]
    all_kinds: bool,
}

/// How claims are converted.
#[derive(Debug, Default, clap::Args)]
pub(super) struct PlanningArgs {
    /// Also claims made for a PodGroup
    ///
    /// If only a gate goes off. They are freed when their pods end, but these get no new sandbox and taints do not evict them.
    #[arg(long, help_heading = ENTRIES)]
    include_generated: bool,

    /// Take devices back where no pod uses the claim
    ///
    /// That is where no pod uses it or could begin to, and the object of the entry is gone.
    #[arg(long, help_heading = ENTRIES)]
    release_unused: bool,

    /// Release although this object exists
    ///
    /// With `--release-unused`. Also where it cannot be looked up. May be repeated.
    #[arg(long, value_name = "ENTRY", value_parser = entry, requires = "release_unused", help_heading = ENTRIES)]
    entry: Vec<String>,

    /// Release that the control plane goes back to
    #[arg(long, value_name = "VERSION", help_heading = ENTRIES)]
    to_version: Option<Version>,

    /// Feature gate that is turned off
    ///
    /// May be repeated.
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

/// A gate without which no scheduler reserves for PodGroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupGate {
    Claims,
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

impl ValueEnum for GroupGate {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Claims, Self::Workload]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.gate().name()).help(match self {
            Self::Claims => "Claims of PodGroups; PodGroups stay",
            Self::Workload => "PodGroups altogether",
        }))
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
        _ => Err("kind and name are needed, as in `jobs.batch/render`".to_owned()),
    }
}

impl SelectionArgs {
    /// The claims that are meant.
    pub(super) fn selection(&self, ctx: &Ctx) -> Result<Selection, UsageError> {
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

impl PlanningArgs {
    /// Whether the conversion prepares for something.
    pub(super) fn has_target(&self) -> bool {
        self.to_version.is_some() || !self.disable_gate.is_empty()
    }

    /// What is asked for, of a cluster with this environment.
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
        if version.major != 1 {
            return Err(UsageError::new(format!("there is no Kubernetes {version}")));
        }
        // Whether the release is one to go back to is the same question as for `check`.
        findings::Target::new(environment, Some(version.minor), [], [])
            .map(|_| Some(Target::Minor(version.minor)))
            .map_err(|error| {
                let usage = UsageError::new(format!("`--to-version`: {error}"));
                match error {
                    findings::TargetError::NotOlder { .. } if environment.git_version.is_none() => {
                        usage.hint("`--kubernetes-version` says which release the objects are from")
                    }
                    _ => usage,
                }
            })
    }
}

/// What has to be read for the claims of `selection`.
pub(super) fn needs(selection: &Selection) -> Needs {
    objects::needs(CONVERSION_NEEDS, selection)
        .require(Kind::ResourceClaim)
        .with_gates()
        .pods_after_claims()
}
