//! Items of a source: undecoded objects, and problems.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::json;
use super::list_head::ListHead;
use crate::needs::Problem;
use crate::upgrade::UpgradeError;

/// Source of an object. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file as the user named it, or `stdin`.
    pub file: Arc<str>,
    /// The line the object begins in, from 1. Of the decompressed text, if the file is compressed.
    pub line: u64,
    /// The object's place in its list, from 0. None for an object outside of a list.
    pub index: Option<u64>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.index {
            Some(index) => write!(f, " (items[{index}])"),
            None => Ok(()),
        }
    }
}

/// The text an object was written in. Decoding errors count lines in [`RawItem::json`], which is that text only for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Returns the object's own text.
    Json,
    /// The object was converted.
    Yaml,
}

/// One complete object, not decoded.
#[derive(Debug, Clone)]
pub struct RawItem<'a> {
    /// A JSON object from `{` to `}`. In YAML it was converted; in JSON it is as found, so it can still be malformed.
    pub json: Cow<'a, [u8]>,
    /// Its `apiVersion`, or what its list says of its items.
    pub api_version: Option<Cow<'a, str>>,
    /// Its `kind`, or what its list says of its items.
    pub kind: Option<Cow<'a, str>>,
    /// Item type of its list, if it contradicts the object, see `ListHead::contradicted_by`.
    pub listed_as: Option<Cow<'a, str>>,
    /// Source.
    pub origin: Origin,
    /// Format.
    pub format: Format,
}

impl<'a> RawItem<'a> {
    /// The object with the item kind of its list, if it has none itself.
    pub(crate) fn kind_from<'b>(self, list: Option<&'b ListHead>) -> RawItem<'b>
    where
        'a: 'b,
    {
        match list.and_then(|list| Some((list, list.item_kind()?))) {
            Some((list, kind)) => RawItem {
                listed_as: list
                    .contradicted_by(self.kind.as_deref(), self.api_version.as_deref())
                    .map(Cow::Borrowed),
                kind: self.kind.or(Some(kind.into())),
                api_version: self
                    .api_version
                    .or(list.api_version.as_deref().map(Cow::Borrowed)),
                ..self
            },
            None => self,
        }
    }

    /// What is known of the object beside its text.
    pub(super) fn without_text(self) -> RawItem<'static> {
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        RawItem {
            json: Cow::default(),
            api_version: owned(self.api_version),
            kind: owned(self.kind),
            listed_as: owned(self.listed_as),
            origin: self.origin,
            format: self.format,
        }
    }

    /// `kind/namespace/name`, as far as the object tells.
    pub fn name(&self) -> Option<String> {
        json::name(&self.json, self.kind.as_deref())
    }

    /// The problem that this object could not be used.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem {
            place: self.origin.to_string(),
            object: self.name(),
            message: message.into(),
        }
    }

    /// A member that says what the object is and is there twice, so that readers differ in what it is.
    pub(crate) fn repeated_head(&self) -> Option<&'static str> {
        json::repeated_head(&self.json)
    }

    /// `apiVersion` and `kind` as far as they are known.
    pub(crate) fn head(&self) -> Option<(String, String)> {
        let head = self.api_version.as_deref().zip(self.kind.as_deref());
        head.map(|(version, kind)| (version.to_owned(), kind.to_owned()))
    }

    /// The problem that this object does not become one of the model.
    pub(crate) fn undecoded(&self, error: &UpgradeError) -> Problem {
        match error {
            UpgradeError::Json(error) => self.decode_problem(error),
            UpgradeError::Fields { fields, error } => self.decode_problem_in_words(error, fields),
            error => self.problem(error.to_string()),
        }
    }

    /// The problem that this object could not be decoded, at the line the decoder stopped.
    pub fn decode_problem(&self, error: &serde_json::Error) -> Problem {
        let text = error.to_string();
        // The position is that in the object; in YAML it means nothing, in JSON the line is named by the origin.
        let position = format!(" at line {} column {}", error.line(), error.column());
        self.decode_problem_in_words(
            error,
            &without_types(text.strip_suffix(&position).unwrap_or(&text)),
        )
    }

    /// The same in other words than the decoder's.
    fn decode_problem_in_words(&self, error: &serde_json::Error, words: &str) -> Problem {
        let mut origin = self.origin.clone();
        if self.format == Format::Json {
            origin.line += (error.line() as u64).saturating_sub(1);
        }
        Problem {
            place: origin.to_string(),
            ..self.problem(words)
        }
    }
}

/// Returns what the decoder says, without the names of types of this program.
fn without_types(text: &str) -> Cow<'_, str> {
    const NAMED: [&str; 3] = [
        "expected struct ",
        "expected enum ",
        "expected internally tagged enum ",
    ];
    let found = NAMED.into_iter().find_map(|named| text.rsplit_once(named));
    let Some((before, behind)) = found else {
        return Cow::Borrowed(text);
    };
    let rest = behind.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
    Cow::Owned(format!("{before}expected an object{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(json: &str, format: Format) -> RawItem<'_> {
        let origin = Origin {
            file: "a.json".into(),
            line: 10,
            index: Some(3),
        };
        RawItem {
            json: json.as_bytes().into(),
            api_version: None,
            kind: Some("Pod".into()),
            listed_as: None,
            origin,
            format,
        }
    }

    #[test]
    fn a_problem_names_file_line_and_object() {
        let json = "{\"metadata\":\n{\"name\":\"a\",\"namespace\":\"b\"}}";
        assert_eq!(
            item(json, Format::Json).problem("no status").to_string(),
            "a.json:10 (items[3]): `Pod/b/a`: no status"
        );
        assert_eq!(
            item("{}", Format::Json).problem("no status").to_string(),
            "a.json:10 (items[3]): no status"
        );
    }

    #[test]
    fn a_decoding_problem_names_the_line_in_the_file() {
        let json = "{\"metadata\":{},\n\"spec\":\n[1,}";
        let error = serde_json::from_str::<serde_json::Value>(json).expect_err("malformed");
        let problem = item(json, Format::Json).decode_problem(&error);
        assert_eq!(problem.to_string(), "a.json:12 (items[3]): expected value");
        let problem = item(json, Format::Yaml).decode_problem(&error);
        assert_eq!(problem.to_string(), "a.json:10 (items[3]): expected value");
    }
}
