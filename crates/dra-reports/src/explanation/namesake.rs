//! What may be meant where something does not exist: an object of a similar name, or of the same name in another namespace, or a driver.

use dra_model::{Cluster, Key, Kind, Str};
use dra_rules::scheduling::drivers_named;

/// Least likeness, by Jaro and Winkler, of two names where one may be meant.
const ALIKE: f64 = 0.9;

/// An object that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Namesake {
    /// One of a similar name.
    Similar(Key),
    /// One of the same name in another namespace.
    Elsewhere(Key),
}

/// The object of `kind` that may be meant by `missing`, which does not exist.
pub(super) fn namesake(cluster: &Cluster, kind: Kind, missing: &Key) -> Option<Namesake> {
    let is_numbered = |key: &Key| differs_in_digits(&key.name, &missing.name);
    let similar = cluster
        .keys(kind)
        .filter(|key| key.namespace == missing.namespace && !is_numbered(key))
        .map(|key| (strsim::jaro_winkler(&key.name, &missing.name), key))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    let elsewhere = || cluster.keys(kind).find(|key| key.name == missing.name);
    similar
        .map(|(_, key)| Namesake::Similar(key.clone()))
        .or_else(|| elsewhere().map(|key| Namesake::Elsewhere(key.clone())))
}

/// Returns whether the names are the same but for digits: `data-1` is another one than `data-0`.
pub(super) fn differs_in_digits(one: &str, other: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> {
        name.chars().filter(|letter| !letter.is_ascii_digit())
    }
    letters(one).eq(letters(other))
}

/// The driver that the selectors of a class name and that publishes nothing, and one of a similar name that does publish devices. The first
/// part tells what devices they are: `cpu` is not meant by `gpu`.
pub(super) fn misspelled_driver(cluster: &Cluster, class: &Str) -> Option<(Str, Str)> {
    let publishing = || cluster.slices().map(|slice| &slice.spec.driver);
    let named = drivers_named(cluster.class(class)?);
    let mut silent = named
        .into_iter()
        .filter(|driver| publishing().all(|other| other != driver));
    silent.find_map(|driver| {
        let lower = driver.to_ascii_lowercase();
        let kind = |name: &str| name.split('.').next().map(str::to_owned);
        let similar = publishing()
            .find(|other| kind(other) == kind(&lower) && strsim::jaro_winkler(other, &lower) >= ALIKE)?;
        Some((driver, similar.clone()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_testing::World;

    #[test]
    fn a_similar_name_comes_before_another_namespace() {
        let spec = json!({"devices": {"requests": []}});
        let cluster = World::default()
            .claim("single-gpu", &spec, &json!({}))
            .claim("two-gpus", &spec, &json!({}))
            .claim("data-1", &spec, &json!({}))
            .build();
        let of =
            |namespace: &str, name: &str| namesake(&cluster, Kind::ResourceClaim, &Key::new(namespace, name));
        let single = Key::new("n", "single-gpu");
        assert_eq!(of("n", "singel-gpu"), Some(Namesake::Similar(single.clone())));
        assert_eq!(of("other", "single-gpu"), Some(Namesake::Elsewhere(single)));
        assert_eq!(of("n", "database"), None);
        assert_eq!(of("other", "singel-gpu"), None);
        assert_eq!(of("n", "data-0"), None);
    }

    #[test]
    fn a_driver_of_other_devices_is_not_meant() {
        let class = |name: &str, driver: &str| {
            let selector = json!({"cel": {"expression": format!("device.driver == '{driver}'")}});
            json!({"metadata": {"name": name}, "spec": {"selectors": [selector]}})
        };
        let cluster = World::default()
            .with(Kind::DeviceClass, &class("misspelled", "cpu.exmaple.com"))
            .with(Kind::DeviceClass, &class("other", "gpu.example.com"))
            .with(
                Kind::ResourceSlice,
                &json!({"metadata": {"name": "s"}, "spec": {"driver": "cpu.example.com", "nodeName": "n",
                    "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": []}}),
            )
            .build();
        let found = misspelled_driver(&cluster, &"misspelled".into());
        assert_eq!(found, Some(("cpu.exmaple.com".into(), "cpu.example.com".into())));
        assert_eq!(misspelled_driver(&cluster, &"other".into()), None);
    }
}
