//! The heads of lists, which the readers of JSON and YAML fill in.

use std::borrow::Cow;

use serde::Deserialize;

use crate::decode::group_version;
use dra_model::{Kind, json};

/// Metadata of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListHead {
    /// The list's own `apiVersion`.
    pub api_version: Option<String>,
    /// The list's own `kind`, `List` or one for each kind of item.
    pub kind: Option<String>,
    /// `metadata.resourceVersion`: start of a watch.
    pub resource_version: Option<String>,
    /// `metadata.continue`: token for the next page.
    pub continue_token: Option<String>,
    /// `metadata.remainingItemCount`: how many items later pages have.
    pub remaining_items: Option<i64>,
    /// The whole `metadata` as JSON.
    pub metadata: Option<Vec<u8>>,
    /// True if there is an `items`, be it null. Without it nothing tells that the list is empty.
    pub has_items: bool,
    /// True if `items` is null. Go programs write an empty list so; an API server never does.
    pub has_null_items: bool,
    /// `metadata` is not of the shape that it has in a list, or a member is there twice: what it says cannot be relied on.
    pub is_odd: bool,
    /// The number of items so far.
    pub items: u64,
    /// The line the list begins in, from 1.
    pub line: u64,
}

impl ListHead {
    /// Takes over the list's `metadata`.
    pub(crate) fn set_metadata(&mut self, json: &[u8]) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata<'a> {
            #[serde(borrow, default)]
            resource_version: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            r#continue: Option<Cow<'a, str>>,
            #[serde(default)]
            remaining_item_count: Option<i64>,
        }

        match json::from_slice::<Option<Metadata<'_>>>(json) {
            Ok(Some(metadata)) => {
                let filled =
                    |text: Option<Cow<'_, str>>| text.filter(|text| !text.is_empty()).map(Cow::into_owned);
                self.resource_version = filled(metadata.resource_version);
                self.continue_token = filled(metadata.r#continue);
                self.remaining_items = metadata.remaining_item_count;
            }
            Ok(None) => {}
            Err(_) => self.is_odd = true,
        }
        self.is_odd |= self.metadata.is_some();
        self.metadata = Some(json.to_vec());
    }

    /// Returns whether the list says that further pages follow it.
    pub fn is_cut(&self) -> bool {
        self.continue_token.is_some() || self.remaining_items.is_some_and(|count| count != 0)
    }

    /// Returns whether the kind is that of a list.
    pub(crate) fn has_list_kind(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| kind.ends_with("List"))
    }

    /// Returns whether it is a list of a single kind that the model holds.
    pub(crate) fn is_of_known_kind(&self) -> bool {
        let (group, _) = group_version(self.api_version.as_deref().unwrap_or_default());
        self.item_kind()
            .is_some_and(|kind| Kind::find(group, kind).is_some())
    }

    /// Returns what the items are, where one that says `kind` and `api_version` of itself is none: it is of another kind or API group, and one of
    /// the two is of the model.
    pub(crate) fn contradicted_by(&self, kind: Option<&str>, api_version: Option<&str>) -> Option<&str> {
        let listed = self.item_kind()?;
        let groups = api_version.zip(self.api_version.as_deref());
        let is_other = kind.is_some_and(|kind| kind != listed)
            || groups.is_some_and(|(own, listed)| group_version(own).0 != group_version(listed).0);
        (is_other && (Kind::is_name(listed) || kind.is_some_and(Kind::is_name))).then_some(listed)
    }

    /// Returns what the items are, if the list is one of a single kind: `PodList` is a list of `Pod`.
    pub fn item_kind(&self) -> Option<&str> {
        self.kind
            .as_deref()?
            .strip_suffix("List")
            .filter(|kind| !kind.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_one_kind_says_what_its_items_are() {
        for (kind, item_kind) in [
            (Some("PodList"), Some("Pod")),
            (Some("List"), None),
            (Some("Table"), None),
            (None, None),
        ] {
            let list = ListHead {
                kind: kind.map(Into::into),
                ..ListHead::default()
            };
            assert_eq!(list.item_kind(), item_kind, "{kind:?}");
        }
    }

    #[test]
    fn list_metadata_may_be_anything() {
        for (json, expected) in [
            (
                r#"{"resourceVersion":"7","continue":"abc","remainingItemCount":9}"#,
                (Some("7"), Some("abc"), Some(9)),
            ),
            (r#"{"resourceVersion":"","continue":""}"#, (None, None, None)),
            ("{}", (None, None, None)),
            ("null", (None, None, None)),
            ("[1]", (None, None, None)),
            (r#"{"resourceVersion":7}"#, (None, None, None)),
        ] {
            let mut list = ListHead::default();
            list.set_metadata(json.as_bytes());
            let found = (
                list.resource_version.as_deref(),
                list.continue_token.as_deref(),
                list.remaining_items,
            );
            assert_eq!(found, expected, "{json}");
            assert_eq!(list.metadata.as_deref(), Some(json.as_bytes()));
        }
    }
}
