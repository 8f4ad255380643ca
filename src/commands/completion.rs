//! `kubectl dra completion`: scripts for shells, and the names of objects for those scripts.

use std::future::{Ready, ready};

use clap::ValueEnum;
use clap_complete::Shell::PowerShell;
use clap_complete::generate;

use crate::context::Ctx;
use crate::error::Outcome;
use dra_model::Slice;

use super::Accepts;
use super::names::Find;
use super::run::{supplement, take_over};
use super::words::{self, Words};

pub(super) const ACCEPTS: Accepts = Accepts::NOTHING;

/// Source of an argument's values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup {
    /// In the program.
    Here(fn() -> Words),
    /// In the cluster, or in files.
    Away(Find),
}

/// Lookups by the argument's value name in help: `[CLAIM]...` gets the names of claims. A new one is one
/// line here.
const LOOKUPS: &[(&str, Lookup)] = &[
    ("AFTER", Lookup::Here(words::sources)),
    ("BEFORE", Lookup::Here(words::sources)),
    ("CLAIM", Lookup::Away(Find::Of("claim"))),
    ("CLASS", Lookup::Away(Find::Of("class"))),
    ("CLUSTER", Lookup::Away(Find::Configured(|names| names.clusters))),
    ("CODE", Lookup::Here(words::codes)),
    ("CONTEXT", Lookup::Away(Find::Configured(|names| names.contexts))),
    (
        "CONTROLLER",
        Lookup::Here(|| words::plain(take_over::controllers())),
    ),
    ("DEVICE", Lookup::Away(Find::Of("device"))),
    ("DEVICE-NAME", Lookup::Away(Find::Published(device_names))),
    (
        "DRIVER",
        Lookup::Away(Find::Published(|slice| vec![slice.spec.driver.to_string()])),
    ),
    ("FIX", Lookup::Here(|| words::plain(take_over::fixes()))),
    ("GATE", Lookup::Here(words::gates)),
    ("GATE=BOOL", Lookup::Here(words::gate_settings)),
    ("GATES", Lookup::Here(words::gate_settings)),
    ("KIND NAME | KIND/NAME", Lookup::Away(Find::Described)),
    (
        "KIND/NAME",
        Lookup::Away(Find::WithKinds(&["pod", "claim", "node"])),
    ),
    ("NAMESPACE", Lookup::Away(Find::Namespaces)),
    ("NODE", Lookup::Away(Find::Of("node"))),
    ("OBJECT", Lookup::Away(Find::WithKinds(&["pod", "claim"]))),
    ("PART", Lookup::Here(|| words::plain(supplement::parts()))),
    ("POD", Lookup::Away(Find::Of("pod"))),
    (
        "POOL",
        Lookup::Away(Find::Published(|slice| vec![slice.spec.pool.name.to_string()])),
    ),
    ("SOURCE", Lookup::Here(words::sources)),
    ("STATE", Lookup::Here(words::states)),
    ("TAINT", Lookup::Away(Find::Taintable)),
    ("TAINT|RULE", Lookup::Away(Find::Taints)),
    ("USER", Lookup::Away(Find::Configured(|names| names.users))),
    ("VERSION", Lookup::Here(words::versions)),
];

/// Names of the devices alone.
fn device_names(slice: &Slice) -> Vec<String> {
    let devices = slice.spec.devices.iter();
    devices.map(|device| device.name.to_string()).collect()
}

/// Returns how to find values of an argument whose value is called `value_name`.
pub(crate) fn lookup(value_name: &str) -> Option<Lookup> {
    LOOKUPS
        .iter()
        .find(|(name, _)| *name == value_name)
        .map(|(_, lookup)| *lookup)
}

const EXAMPLES: &str = "\
Examples:
  # Complete `kubectl dra`, in every shell that completes kubectl
  kubectl dra completion kubectl > ~/.local/bin/kubectl_complete-dra
  chmod +x ~/.local/bin/kubectl_complete-dra
  # Complete `kubectl-dra` in bash
  kubectl dra completion bash \\
    > ~/.local/share/bash-completion/completions/kubectl-dra";

/// Print a shell completion script
///
/// For `kubectl dra …`, save the script for `kubectl` as an executable named `kubectl_complete-dra` in a directory of your
/// PATH; kubectl's own completion runs it. The other scripts complete `kubectl-dra …`, called directly.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell, or kubectl
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
    /// kubectl, which completes plugins in every shell
    Kubectl,
}

const FOR_BASH: &str = include_str!("../../completions/kubectl-dra.bash");
const FOR_ZSH: &str = include_str!("../../completions/_kubectl-dra");
const FOR_FISH: &str = include_str!("../../completions/kubectl-dra.fish");
const FOR_KUBECTL: &str = include_str!("../../completions/kubectl_complete-dra");

pub(super) fn run(ctx: &Ctx, Args { shell }: Args) -> Ready<anyhow::Result<Outcome>> {
    let printed = match shell {
        Shell::Bash => ctx.printer().text(FOR_BASH),
        Shell::Zsh => ctx.printer().text(FOR_ZSH),
        Shell::Fish => ctx.printer().text(FOR_FISH),
        Shell::Powershell => ctx.printer().text(&for_powershell(ctx)),
        Shell::Kubectl => ctx.printer().text(FOR_KUBECTL),
    };
    ready(printed.map(|()| Outcome::Done).map_err(Into::into))
}

/// Commands, flags and values are in this script; the others ask the program, which also knows names.
fn for_powershell(ctx: &Ctx) -> String {
    let mut script = Vec::new();
    // The script completes the program itself: as a plugin it is completed by kubectl.
    generate(PowerShell, &mut ctx.command_line(), "kubectl-dra", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
