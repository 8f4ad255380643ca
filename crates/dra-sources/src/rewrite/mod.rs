//! Changing single fields in a text of objects, YAML or JSON, and leaving every other byte as it is.
//!
//! `json` and `yaml` find out where the values of an object stand in the text, `edit` says what to replace. Nothing here decodes
//! objects: whoever rewrites a text reads the result with the ordinary reader and compares. What cannot be changed safely, such as a
//! value that is an alias, is an error.

mod edit;
mod json;
mod nodes;
#[cfg(test)]
mod tests;
mod yaml;

use std::ops::Range;

use serde_json::Value;

use self::nodes::Node;

/// What to change in one object.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Elements of the list at `path`; a list that is not there is added.
    List {
        /// Keys from the object down.
        path: Vec<String>,
        /// For each element whether it stays.
        keep: Vec<bool>,
        /// What comes behind them.
        add: Vec<Value>,
    },
    /// Fields of the mapping at `path` go.
    Remove {
        /// Keys from the object down.
        path: Vec<String>,
        /// The fields.
        keys: Vec<String>,
    },
}

/// Which object of a text it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// Its kind; empty where only its list says it.
    pub kind: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
}

/// Why a text cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// It cannot be read.
    #[error("line {line}: {message}")]
    Syntax {
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// An object is written in a way that is not changed.
    #[error("line {line}: {namespace}/{name}: {what}")]
    Unsupported {
        /// Where, from 1.
        line: usize,
        /// Of the object.
        namespace: String,
        /// Of the object.
        name: String,
        /// What about it.
        what: &'static str,
    },
}

/// `text` with the changes that `edits` says for each object in it.
///
/// # Errors
/// When the text cannot be read, or an object that is to be changed is written in a way that is not changed safely.
pub fn rewrite(text: &str, edits: &mut dyn FnMut(&Identity) -> Vec<Edit>) -> Result<String, RewriteError> {
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut visit = |object: &Node| -> Result<(), RewriteError> {
        let identity = identity(object);
        for edit in edits(&identity) {
            let change = edit::change(text, object, &edit).map_err(|what| RewriteError::Unsupported {
                line: line_of(text, object.start),
                namespace: identity.namespace.clone(),
                name: identity.name.clone(),
                what,
            })?;
            changes.extend(change);
        }
        Ok(())
    };
    if json::is_json(text) {
        json::objects(text, &mut visit)?;
    } else {
        // Also JSON values with marks between them.
        yaml::objects(text, &mut visit)?;
    }
    changes.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut at = 0;
    for (range, replacement) in changes {
        if range.start < at {
            return Err(RewriteError::Syntax {
                line: line_of(text, range.start),
                message: "two changes of one object meet".to_owned(),
            });
        }
        out.push_str(&text[at..range.start]);
        out.push_str(&replacement);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

fn identity(object: &Node) -> Identity {
    let text = |path: &[&str]| {
        object
            .find(path)
            .and_then(Node::scalar)
            .unwrap_or_default()
            .to_owned()
    };
    Identity {
        kind: text(&["kind"]),
        namespace: text(&["metadata", "namespace"]),
        name: text(&["metadata", "name"]),
        uid: text(&["metadata", "uid"]),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count()
}
