//! Small clusters that are part of the program: `--from example:gpus`.
//!
//! Each was read from a real control plane, with pods that the real scheduler placed, and is a snapshot like any other. They let every
//! line of the documentation be tried without a cluster; `README.md` beside this file tells what is in them and how they came to be.

/// A bundled cluster.
pub struct Example {
    /// Name after `example:`.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// A snapshot, compressed.
    pub bytes: &'static [u8],
}

/// Every example, in the order in which they are best looked at.
pub fn all() -> impl Iterator<Item = &'static Example> {
    EXAMPLES.iter()
}

macro_rules! example {
    ($name:literal, $about:literal) => {
        Example {
            name: $name,
            about: $about,
            bytes: include_bytes!(concat!($name, ".json.zst")),
        }
    };
}

const EXAMPLES: &[Example] = &[
    example!("gpus", "three teams using GPUs and NICs, without problems"),
    example!("pending", "pods that are pending, each for a different reason"),
    example!(
        "stuck",
        "pods on a node that do not start, each for a different reason"
    ),
    example!("stale", "reservations for deleted, finished or recreated pods"),
    example!(
        "taints",
        "DeviceTaintRules that keep pods off devices or evict them"
    ),
    example!("groups", "PodGroups that share claims"),
    example!(
        "partitions",
        "a GPU allocated whole or in partitions, with shared counters"
    ),
    example!("shares", "network cards shared by consumable capacity"),
    example!("downgrade", "a 1.37 cluster that is not ready for a downgrade"),
];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::needs::{Needs, Unobserved};
    use crate::{Request, VersionSettings, load};
    use dra_model::Kind;

    #[test]
    fn every_example_is_a_sound_snapshot() {
        for example in all() {
            let names = [format!("example:{}", example.name)];
            let request = Request {
                names: &names,
                namespace: "default",
                strict: true,
                versions: &VersionSettings::default(),
                started: None,
            };
            let loaded = load(&request, &Needs::everything(), Arc::new(Unobserved)).unwrap();
            assert_eq!(loaded.warnings, [""; 0], "{}", example.name);
            assert!(
                loaded.ignored.is_empty(),
                "{}: {:?}",
                example.name,
                loaded.ignored
            );
            let cluster = loaded.cluster;
            assert!(cluster.environment().read_at.is_some(), "{}", example.name);
            for kind in [Kind::Node, Kind::ResourceSlice, Kind::ResourceClaim, Kind::Pod] {
                assert!(cluster.count(kind) > 0, "{}: {kind}", example.name);
            }
        }
    }

    #[test]
    fn examples_are_small() {
        let bytes: usize = all().map(|example| example.bytes.len()).sum();
        assert!(bytes < 100_000, "{bytes}");
    }
}
