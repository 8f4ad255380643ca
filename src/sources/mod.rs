//! Provisional: files only, read whole.

pub mod files;
mod needs;

pub use needs::{Loaded, Needs, Observer, Problem, Unobserved};

use crate::model::{Cluster, ClusterBuilder, Environment, Interner, Kind, Object, with_interner};

/// Reads the files `names`.
pub fn load_files(names: &[String]) -> anyhow::Result<Cluster> {
    use anyhow::Context;
    let mut builder = ClusterBuilder::default();
    let mut interner = Interner::default();
    for name in names {
        #[expect(clippy::disallowed_methods, reason = "provisional")]
        let text = std::fs::read_to_string(name).with_context(|| format!("cannot read `{name}`"))?;
        let list: serde_json::Value = if name.ends_with(".json") {
            serde_json::from_str(&text)?
        } else {
            serde_saphyr::from_str(&text).with_context(|| format!("cannot read `{name}`"))?
        };
        for item in list["items"].as_array().into_iter().flatten() {
            let api = item["apiVersion"].as_str().unwrap_or_default();
            let group = api.split_once('/').map_or("", |(group, _)| group);
            let Some(kind) = Kind::find(group, item["kind"].as_str().unwrap_or_default()) else {
                continue;
            };
            let json = item.to_string();
            let object = with_interner(&mut interner, || Object::from_json(kind, json.as_bytes()))?;
            builder.add(object);
        }
    }
    let environment = Environment {
        source: names.join(" "),
        ..Environment::default()
    };
    Ok(builder.build(environment).0)
}
