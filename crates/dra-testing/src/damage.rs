//! Possible damage to the objects of a file: one is lost, a kind is lost, one is damaged, one comes twice, a list stands in the
//! place of an object in it.
//!
//! Each function takes a `kind: List` as JSON and changes it. None of them makes a good verdict of a bad one, as long as the file says
//! how much of it there is, or what is damaged is noticed; that is what tests and fuzz targets use them for.

use serde_json::{Value, json};

/// Damage of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The object is left out, and the numbers of the file stay.
    Lost,
    /// Every object of its kind is left out, and what the file says of the kind.
    KindLost,
    /// Its kind is written in small letters.
    SmallKind,
    /// Its kind is written in plural.
    PluralKind,
    /// It has no kind.
    NoKind,
    /// It has no API version.
    NoVersion,
    /// Its version is none that was ever served.
    OtherVersion,
    /// It has no name.
    NoName,
    /// Its status and specification are texts.
    WrongTypes,
    /// It is nested deeper than anything that is read.
    TooDeep,
    /// It is a number.
    Scalar,
    /// A second one of its name says something else.
    Twin,
    /// It is in a list of its own without end.
    Page,
    /// It is packed into a table, as a server answers who asks for one.
    Table,
}

impl Damage {
    /// Every damage.
    pub const ALL: [Self; 14] = [
        Self::Lost,
        Self::KindLost,
        Self::SmallKind,
        Self::PluralKind,
        Self::NoKind,
        Self::NoVersion,
        Self::OtherVersion,
        Self::NoName,
        Self::WrongTypes,
        Self::TooDeep,
        Self::Scalar,
        Self::Twin,
        Self::Page,
        Self::Table,
    ];

    /// Does it to the item number `at` of `list`, and says to what it was done; to nothing where the item is not an object of a
    /// cluster.
    pub fn apply(self, list: &mut Value, at: usize) -> Option<String> {
        let items = list["items"].as_array_mut()?;
        let item = items.get(at)?.clone();
        if item["kind"] == "SnapshotInfo" {
            return None;
        }
        let kind = item["kind"].as_str()?.to_owned();
        let name = format!(
            "{kind}/{}/{}",
            item["metadata"]["namespace"], item["metadata"]["name"]
        );
        match self {
            Self::Lost => {
                items.remove(at);
            }
            Self::KindLost => without_kind(items, &kind),
            Self::SmallKind => items[at]["kind"] = json!(kind.to_lowercase()),
            Self::PluralKind => items[at]["kind"] = json!(format!("{kind}s")),
            Self::NoKind => remove(&mut items[at], "kind"),
            Self::NoVersion => remove(&mut items[at], "apiVersion"),
            Self::OtherVersion => {
                let version = item["apiVersion"].as_str().unwrap_or_default();
                let group = version.split_once('/').map(|(group, _)| format!("{group}/"));
                items[at]["apiVersion"] = json!(format!("{}v9", group.unwrap_or_default()));
            }
            Self::NoName => remove(&mut items[at]["metadata"], "name"),
            Self::WrongTypes => {
                items[at]["metadata"]["labels"] = json!(7);
                items[at]["spec"] = json!("spec");
                items[at]["status"] = json!("status");
            }
            Self::TooDeep => items[at]["deep"] = (0..200).fold(json!(1), |inner, _| json!([inner])),
            Self::Scalar => items[at] = json!(7),
            Self::Twin => {
                let mut twin = item;
                twin["metadata"]["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
                twin["metadata"]["labels"] = json!({"example.com/twin": "true"});
                items.push(twin);
            }
            Self::Page => {
                items[at] = json!({"apiVersion": item["apiVersion"], "kind": format!("{kind}List"),
                    "metadata": {"continue": "more"}, "items": []});
            }
            Self::Table => {
                items[at] =
                    json!({"apiVersion": "meta.k8s.io/v1", "kind": "Table", "rows": [{"object": item}]});
            }
        }
        Some(name)
    }
}

/// Replacement of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A list of nothing.
    Empty,
    /// One of the values that the object has.
    Values,
    /// One with the object in it.
    Within,
    /// One of `null`.
    Null,
}

impl Listed {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Empty, Self::Values, Self::Within, Self::Null];

    /// Puts a list in the place of the object number `at` of all in the items of `list`, however deep, and says where that was.
    pub fn apply(self, list: &mut Value, at: usize) -> Option<String> {
        let mut places = Vec::new();
        objects(&list["items"], "/items", &mut places);
        let place = places.get(at % places.len().max(1))?;
        let object = list.pointer_mut(place)?;
        let old = object.take();
        *object = match self {
            Self::Empty => json!([]),
            Self::Values => old.as_object()?.values().cloned().collect(),
            Self::Within => json!([old]),
            Self::Null => json!([null]),
        };
        Some(place.clone())
    }
}

/// Where in `value` objects are, `value` being at `place`.
fn objects(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(place.to_owned());
            for (key, value) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                objects(value, &format!("{place}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                objects(value, &format!("{place}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn remove(object: &mut Value, key: &str) {
    if let Some(fields) = object.as_object_mut() {
        fields.remove(key);
    }
}

fn without_kind(items: &mut Vec<Value>, kind: &str) {
    items.retain(|item| item["kind"] != kind);
    for item in items.iter_mut().filter(|item| item["kind"] == "SnapshotInfo") {
        if let Some(lists) = item["lists"].as_array_mut() {
            lists.retain(|list| list["kind"] != kind);
        }
    }
}
