//! A sentence for people, which no rule reads again.

use serde::{Serialize, Serializer};

/// What is said to people. It is printed and serialized, and neither compared nor searched: what it says is known where it is made.
///
/// ```compile_fail
/// # use dra_reports::Sentence;
/// let (one, other) = (Sentence::from("a".to_owned()), Sentence::from("b".to_owned()));
/// assert!(one == other);
/// ```
///
/// ```compile_fail
/// # use dra_reports::Sentence;
/// assert!(Sentence::from("waits".to_owned()).contains("waits"));
/// ```
#[derive(Clone, Debug, schemars::JsonSchema, derive_more::Display, derive_more::From)]
#[schemars(with = "String", inline, description = "")]
pub struct Sentence(String);

/// The word that introduces an instruction, and the rest of it: `ask` where another person has to act, `wait`, `first` for what comes before
/// something else, and `fix` for everything else.
pub fn instruction(text: &str) -> (&'static str, &str) {
    let words = ["ask", "wait", "first"].into_iter();
    let mut found = words.filter_map(|word| Some((word, text.strip_prefix(word)?.strip_prefix(' ')?)));
    found.next().unwrap_or(("fix", text))
}

impl Sentence {
    /// The same with a capital letter.
    #[must_use]
    pub fn capitalized(&self) -> Self {
        let mut characters = self.0.chars();
        let first = characters.next().into_iter().flat_map(char::to_uppercase);
        Self(first.chain(characters).collect())
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
