//! Completion of the program's own words.

use dra_model::{Gate, Version};
use dra_reports::StateFilter;
use dra_reports::findings::Code;
use dra_sources::examples;

/// Words that can stand for an argument, each with what it means.
pub(crate) type Words = Vec<(String, Option<String>)>;

/// Codes and names of findings.
pub(super) fn codes() -> Words {
    let of_code = |code: Code| {
        let facts = code.facts();
        let title = Some(facts.title.to_owned());
        [
            (facts.code.to_owned(), title.clone()),
            (facts.name.to_owned(), title),
        ]
    };
    Code::all().flat_map(of_code).collect()
}

/// Releases whose rules are built in.
pub(super) fn versions() -> Words {
    (Version::OLDEST_MINOR..=Version::NEWEST_MINOR)
        .rev()
        .map(|minor| (format!("1.{minor}"), None))
        .collect()
}

/// Feature gates that decide something about devices.
pub(super) fn gates() -> Words {
    plain(Gate::all().map(Gate::name))
}

/// The same, switched on and off.
pub(super) fn gate_settings() -> Words {
    let settings = |gate: Gate| ["true", "false"].map(|value| (format!("{}={value}", gate.name()), None));
    Gate::all().flat_map(settings).collect()
}

/// States of claims, and their opposites.
pub(super) fn states() -> Words {
    let states = StateFilter::WORDS;
    let opposites = states.iter().map(|state| format!("!{state}"));
    let words = states.iter().map(|state| (*state).to_owned()).chain(opposites);
    words.map(|word| (word, None)).collect()
}

/// Clusters that come with the program.
pub(super) fn sources() -> Words {
    examples::all()
        .map(|example| {
            (
                format!("example:{}", example.name),
                Some(example.about.to_owned()),
            )
        })
        .collect()
}

/// Words that need no explanation.
pub(super) fn plain(words: impl Iterator<Item = &'static str>) -> Words {
    words.map(|word| (word.to_owned(), None)).collect()
}
