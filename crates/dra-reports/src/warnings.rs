//! What a report cannot say, said once.

use dra_model::{Gap, Str};

/// Warnings in the order in which they came up, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings(Vec<String>);

impl Warnings {
    /// Adds a warning, unless it is there already.
    pub fn add(&mut self, warning: String) {
        if !self.0.contains(&warning) {
            self.0.push(warning);
        }
    }

    /// Says that `what` is unknown because of `gap`.
    pub fn unknown(&mut self, what: &str, gap: &Gap) {
        self.add(format!("{what}: {}", Missing(gap)));
    }

    /// Says so, unless a warning tells of the gap already.
    pub fn unknown_besides(&mut self, what: &str, gap: &Gap) {
        let told = Missing(gap).to_string();
        if !self.0.iter().any(|warning| warning.ends_with(&told)) {
            self.unknown(what, gap);
        }
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Self) {
        for warning in other.0 {
            self.add(warning);
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether there is none.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Objects that a filter leaves out because it is unknown whether it holds for them.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// The first one, and why.
    first: Option<(String, String)>,
    count: usize,
}

impl LeftOut {
    /// Leaves out one more.
    pub(super) fn add(&mut self, object: &dyn std::fmt::Display, why: impl std::fmt::Display) {
        self.first
            .get_or_insert_with(|| (object.to_string(), why.to_string()));
        self.count += 1;
    }

    /// Says so, where there is any. `what` is asked of each of the `objects`.
    pub(super) fn warn(self, what: &str, objects: &str, warnings: &mut Warnings) {
        if let Some((object, why)) = self.first {
            let count = self.count;
            warnings.add(format!(
                "{what} is unknown for {count} of the {objects}, which are left out; for {object}: {why}"
            ));
        }
    }
}

/// What is missing, as a sentence without a full stop.
pub(super) fn missing(gap: &Gap) -> String {
    Missing(gap).to_string()
}

/// A gap as a sentence without a full stop.
struct Missing<'a>(&'a Gap);

impl std::fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gap {
            kind,
            namespace,
            except,
            reason,
        } = self.0;
        write!(f, "{} ", kind.plural())?;
        if *namespace != Str::default() {
            write!(f, "of namespace `{namespace}` ")?;
        } else if *except != Str::default() {
            write!(f, "of namespaces other than `{except}` ")?;
        }
        write!(f, "could not be read: {reason}")
    }
}

#[cfg(test)]
/// The texts of the warnings.
pub(super) fn texts(warnings: &Warnings) -> Vec<&str> {
    warnings.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::Kind;

    #[test]
    fn a_gap_is_told_once_with_what_depends_on_it() {
        let mut warnings = Warnings::default();
        let gap = |namespace: &str| Gap {
            kind: Kind::Pod,
            namespace: namespace.into(),
            except: Str::default(),
            reason: "forbidden".to_owned(),
        };
        warnings.unknown("who uses the claims is unknown", &gap("team"));
        warnings.unknown("who uses the claims is unknown", &gap("team"));
        warnings.unknown("health is unknown", &gap(""));
        let texts: Vec<_> = warnings.iter().collect();
        assert_eq!(
            texts,
            [
                "who uses the claims is unknown: pods of namespace `team` could not be read: forbidden",
                "health is unknown: pods could not be read: forbidden",
            ]
        );
    }
}
