//! `kubectl dra completion`: scripts for shells, and the names of objects for those scripts.

use clap::ValueEnum;
use clap_complete::{Generator, generate};

use crate::context::Ctx;
use crate::error::Outcome;

use super::Accepts;
use super::names::{self, Names};

pub(super) const ACCEPTS: Accepts = Accepts::NOTHING;

/// Finds the names that can stand for an argument, in the cluster or files that the flags typed so far name.
pub(crate) type Lookup = for<'c> fn(&'c Ctx) -> Names<'c>;

/// What is looked up, by the argument's value name in help: `[CLAIM]...` gets the names of claims. A new one is one
/// line here.
const LOOKUPS: &[(&str, Lookup)] = &[
    ("CLAIM", names::claims),
    ("CLASS", names::classes),
    ("CLUSTER", names::clusters),
    ("CONTEXT", names::contexts),
    ("DEVICE", names::devices),
    ("DRIVER", names::drivers),
    ("NAMESPACE", names::namespaces),
    ("NODE", names::nodes),
    ("POD", names::pods),
    ("USER", names::users),
];

/// How to find names for an argument whose value is called `value_name`.
pub(crate) fn lookup(value_name: &str) -> Option<Lookup> {
    LOOKUPS
        .iter()
        .find(|(name, _)| *name == value_name)
        .map(|(_, lookup)| *lookup)
}

/// Print a completion script
///
/// For `kubectl dra …`, save the script for `kubectl` as an executable named `kubectl_complete-dra` in a directory of the
/// PATH; kubectl's own completion calls it. The others complete `kubectl-dra …`, called directly.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Who will read the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// The readers of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// bash, with bash-completion
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// powershell, on any system
    Powershell,
    /// kubectl, which completes its plugins in every shell
    Kubectl,
}

const FOR_KUBECTL: &str = include_str!("../../completions/kubectl_complete-dra");

pub(super) fn run(ctx: &Ctx, Args { shell }: Args) -> anyhow::Result<Outcome> {
    let script = match shell {
        Shell::Bash => script(clap_complete::Shell::Bash, ctx),
        Shell::Zsh => script(clap_complete::Shell::Zsh, ctx),
        Shell::Fish => script(clap_complete::Shell::Fish, ctx),
        Shell::Powershell => script(clap_complete::Shell::PowerShell, ctx),
        Shell::Kubectl => FOR_KUBECTL.to_owned(),
    };
    ctx.printer().text(&script)?;
    Ok(Outcome::Done)
}

fn script(shell: impl Generator, ctx: &Ctx) -> String {
    let mut script = Vec::new();
    // The scripts complete the program itself: as a plugin it is completed by kubectl.
    generate(shell, &mut ctx.command_line(), "kubectl-dra", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
