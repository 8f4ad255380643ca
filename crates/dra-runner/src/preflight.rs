//! Checks that the built-in controllers are off before they are replaced.

use std::collections::BTreeMap;

use thiserror::Error;

use dra_rules::controllers::{ControllerName, Evidence};

/// Evidence that a built-in controller is off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It left so many writes undone.
    Undone(u64),
    /// The arguments of so many kube-controller-managers switch it off: of all that can be seen.
    Arguments(usize),
}

/// Reason why a controller is not replaced.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Rival {
    /// It does its work.
    #[error("the built-in {name} is running: it made {done} of the due writes")]
    Works {
        /// The controller.
        name: ControllerName,
        /// Writes that it was seen to do.
        done: u64,
    },
    /// Its arguments switch it on.
    #[error(
        "the built-in {name} is enabled by kube-controller-manager's arguments: --controllers={arguments}"
    )]
    Runs {
        /// The controller.
        name: ControllerName,
        /// The value of `--controllers`.
        arguments: String,
    },
    /// It did something while it was replaced.
    #[error("another {name} is running: it wrote {object}")]
    Beside {
        /// The controller.
        name: ControllerName,
        /// The object that it wrote.
        object: String,
    },
    /// Nothing was to be done, so that nothing was seen.
    #[error(
        "cannot tell whether the built-in {name} is off: it had nothing to do, and no static pod of \
        kube-controller-manager is visible"
    )]
    Unknown {
        /// The controller.
        name: ControllerName,
    },
}

impl Rival {
    /// Advice for the user.
    pub fn hint(&self) -> String {
        let off = format!(
            "append `,{}` to the value of --controllers of every kube-controller-manager",
            ControllerName::ALL.map(|name| format!("-{name}")).join(",")
        );
        match self {
            Self::Works { .. } | Self::Runs { .. } => off,
            Self::Beside { .. } => {
                format!(
                    "two controllers do not harm claims, but events are duplicated; {off}, or stop the other \
                    `kubectl dra run`"
                )
            }
            Self::Unknown { .. } => {
                format!("{off}; once that is done, --assume-builtin-disabled skips the wait")
            }
        }
    }
}

/// Checks that each of `names` is off, by what was seen of it and by the values of `--controllers` of every kube-controller-manager that can
/// be seen.
///
/// # Errors
/// The first one without evidence that it is off.
pub fn may_replace(
    names: impl IntoIterator<Item = ControllerName>,
    seen: &BTreeMap<ControllerName, Evidence>,
    arguments: &[String],
) -> Result<BTreeMap<ControllerName, Proof>, Rival> {
    let mut proofs = BTreeMap::new();
    for name in names {
        let Evidence { done, undone } = seen.get(&name).copied().unwrap_or_default();
        if done > 0 {
            return Err(Rival::Works { name, done });
        }
        if let Some(on) = arguments.iter().find(|value| name.runs_with(value)) {
            // A controller without work is not off because one replica of several does none.
            return Err(Rival::Runs {
                name,
                arguments: on.clone(),
            });
        }
        let proof = match (undone, arguments.len()) {
            (0, 0) => return Err(Rival::Unknown { name }),
            (0, replicas) => Proof::Arguments(replicas),
            (undone, _) => Proof::Undone(undone),
        };
        proofs.insert(name, proof);
    }
    Ok(proofs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ControllerName::{DeviceTaintEviction, ResourceClaim};

    #[test]
    fn a_controller_is_replaced_only_where_it_is_off() {
        let off =
            "*,bootstrapsigner,tokencleaner,-resourceclaim-controller,-device-taint-eviction-controller";
        let judge = |done, undone, arguments: &[&str]| {
            let seen = BTreeMap::from([(ResourceClaim, Evidence { done, undone })]);
            let arguments: Vec<String> = arguments.iter().map(|&value| value.to_owned()).collect();
            may_replace([ResourceClaim], &seen, &arguments).map(|mut proofs| proofs.remove(&ResourceClaim))
        };
        assert_eq!(judge(0, 3, &[]), Ok(Some(Proof::Undone(3))));
        assert_eq!(judge(0, 0, &[off, off]), Ok(Some(Proof::Arguments(2))));
        assert!(matches!(judge(1, 3, &[]), Err(Rival::Works { done: 1, .. })));
        assert!(matches!(judge(1, 0, &[off]), Err(Rival::Works { .. })));
        // One of three replicas is still as it was.
        assert!(matches!(judge(0, 3, &[off, "*", off]), Err(Rival::Runs { .. })));
        assert!(matches!(judge(0, 0, &[]), Err(Rival::Unknown { .. })));
    }

    #[test]
    fn the_first_word_about_a_controller_counts() {
        for (value, claims, taints) in [
            ("*", true, true),
            ("", false, false),
            ("*,-resourceclaim-controller", false, true),
            ("*,-resource-claim-controller", false, true),
            (
                "-resourceclaim-controller,*,resourceclaim-controller",
                false,
                true,
            ),
            ("device-taint-eviction-controller", false, true),
            ("*, -device-taint-eviction-controller", true, false),
        ] {
            assert_eq!(ResourceClaim.runs_with(value), claims, "{value}");
            assert_eq!(DeviceTaintEviction.runs_with(value), taints, "{value}");
        }
    }
}
