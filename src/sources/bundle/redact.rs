//! What a snapshot leaves out of objects, so that it can be handed to somebody else.
//!
//! Only what no question of this program depends on may go. Texts stay as they were received wherever no rule applies: values are
//! passed through as raw JSON, so that a redacted snapshot differs from the original in nothing but what the rules name.

use std::fmt::Write as _;

use serde::Deserialize as _;
use serde_json::value::RawValue;

use crate::model::Kind;

/// What happens to a value.
enum Rule {
    /// The member goes.
    Drop,
    /// The value becomes its hash, so that equal ones can still be told.
    Hash,
    /// The value becomes this JSON.
    Replace(&'static str),
    /// Of a map, only the keys of `resource.kubernetes.io` stay.
    ResourceKeys,
    /// Rules for members of an object.
    Members(&'static [(&'static str, Self)]),
    /// A rule for each element of a list.
    Each(&'static Self),
}

use Rule::{Drop, Each, Hash, Members, Replace, ResourceKeys};

const HIDDEN: Rule = Replace(r#""redacted""#);
const HIDDEN_LIST: Rule = Replace(r#"["redacted"]"#);
const METADATA: Rule = Members(&[("managedFields", Drop), ("annotations", ResourceKeys)]);
const CONFIG: Rule = Each(&Members(&[("opaque", Members(&[("parameters", Hash)]))]));
const CLAIM_SPEC: Rule = Members(&[("devices", Members(&[("config", CONFIG)]))]);
const CONTAINERS: Rule = Each(&Members(&[
    ("env", Each(&Members(&[("value", HIDDEN)]))),
    ("command", HIDDEN_LIST),
    ("args", HIDDEN_LIST),
    // Probes and hooks run commands and send headers.
    ("livenessProbe", Drop),
    ("readinessProbe", Drop),
    ("startupProbe", Drop),
    ("lifecycle", Drop),
]));

const ANY: Rule = Members(&[("metadata", METADATA)]);
const CLASS: Rule = Members(&[("metadata", METADATA), ("spec", Members(&[("config", CONFIG)]))]);
const CLAIM: Rule = Members(&[
    ("metadata", METADATA),
    ("spec", CLAIM_SPEC),
    (
        "status",
        Members(&[
            (
                "allocation",
                Members(&[("devices", Members(&[("config", CONFIG)]))]),
            ),
            ("devices", Each(&Members(&[("data", Hash)]))),
        ]),
    ),
]);
const TEMPLATE: Rule = Members(&[
    ("metadata", METADATA),
    ("spec", Members(&[("metadata", METADATA), ("spec", CLAIM_SPEC)])),
]);
const POD: Rule = Members(&[
    ("metadata", METADATA),
    (
        "spec",
        Members(&[
            ("containers", CONTAINERS),
            ("initContainers", CONTAINERS),
            ("ephemeralContainers", CONTAINERS),
        ]),
    ),
]);

/// Whether to leave out what may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redaction {
    /// Leave it out.
    On,
    /// Keep everything as it was received.
    Off,
}

impl Redaction {
    /// Appends the object `json` to `out`, beginning with its `apiVersion` and `kind`, which servers leave out of the items of
    /// a list.
    pub(crate) fn write(
        self,
        kind: Kind,
        api_version: &str,
        json: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), serde_json::Error> {
        let rules = match (self, kind) {
            (Self::Off, _) => &Members(&[]),
            (Self::On, Kind::ResourceClaim) => &CLAIM,
            (Self::On, Kind::ResourceClaimTemplate) => &TEMPLATE,
            (Self::On, Kind::DeviceClass) => &CLASS,
            (Self::On, Kind::Pod) => &POD,
            (Self::On, _) => &ANY,
        };
        let Members(rules) = rules else { return Ok(()) };
        let object: &RawValue = serde_json::from_slice(json)?;
        let members = members(object)?;
        out.extend_from_slice(b"{\"apiVersion\":");
        serde_json::to_writer(&mut *out, api_version)?;
        out.extend_from_slice(b",\"kind\":");
        serde_json::to_writer(&mut *out, kind.name())?;
        let own = |(key, _): &(String, &RawValue)| key != "apiVersion" && key != "kind";
        write_members(rules, members.into_iter().filter(own), false, out)?;
        out.push(b'}');
        Ok(())
    }
}

/// The members of an object in their order, with values as written.
fn members(object: &RawValue) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    struct Visitor;
    impl<'de> serde::de::Visitor<'de> for Visitor {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    use serde::Deserializer as _;
    serde_json::Deserializer::from_str(object.get()).deserialize_map(Visitor)
}

fn write_members<'a>(
    rules: &[(&str, Rule)],
    members: impl Iterator<Item = (String, &'a RawValue)>,
    mut first: bool,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    for (key, value) in members {
        let rule = rules.iter().find(|(name, _)| *name == key).map(|(_, rule)| rule);
        if matches!(rule, Some(Drop)) {
            continue;
        }
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, &key)?;
        out.push(b':');
        write_value(rule, value, out)?;
    }
    Ok(())
}

fn write_value(rule: Option<&Rule>, value: &RawValue, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let text = value.get();
    match (rule, text.as_bytes().first()) {
        (None | Some(Drop), _) | (Some(_), Some(b'n') | None) => out.extend_from_slice(text.as_bytes()),
        (Some(Hash), _) => {
            let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
            let mut hash = String::with_capacity(64);
            for byte in digest.as_ref() {
                let _ = write!(hash, "{byte:02x}");
            }
            out.extend_from_slice(format!(r#"{{"redacted":"sha256:{hash}"}}"#).as_bytes());
        }
        (Some(Replace(json)), _) => out.extend_from_slice(json.as_bytes()),
        (Some(ResourceKeys), Some(b'{')) => {
            let kept = members(value)?
                .into_iter()
                .filter(|(key, _)| key.starts_with("resource.kubernetes.io/"));
            out.push(b'{');
            write_members(&[], kept, true, out)?;
            out.push(b'}');
        }
        (Some(Members(rules)), Some(b'{')) => {
            out.push(b'{');
            write_members(rules, members(value)?.into_iter(), true, out)?;
            out.push(b'}');
        }
        (Some(Each(rule)), Some(b'[')) => {
            let elements = Vec::<&RawValue>::deserialize(value)?;
            out.push(b'[');
            for (at, element) in elements.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(Some(rule), element, out)?;
            }
            out.push(b']');
        }
        // Not of the kind's shape, so nothing can be said of what is in it.
        (Some(ResourceKeys | Members(_) | Each(_)), Some(_)) => out.extend_from_slice(b"null"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(redaction: Redaction, kind: Kind, json: &str) -> String {
        let mut out = Vec::new();
        redaction.write(kind, "v1", json.as_bytes(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        text
    }

    #[test]
    fn a_pod_keeps_what_answers_need() {
        let pod = r#"{"metadata":{"name":"p","managedFields":[{}],"annotations":{"a":"secret",
            "resource.kubernetes.io/pod-claim-name":"gpu"}},"spec":{"nodeName":"n","containers":[{"name":"c",
            "env":[{"name":"TOKEN","value":"secret"},{"name":"REF","valueFrom":{"secretKeyRef":{"name":"s"}}}],
            "args":["--token=secret"],"livenessProbe":{"httpGet":{}},"resources":{"claims":[{"name":"gpu"}]}}],
            "initContainers":null}}"#;
        assert_eq!(
            redacted(Redaction::On, Kind::Pod, pod),
            concat!(
                r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":"#,
                r#"{"resource.kubernetes.io/pod-claim-name":"gpu"}},"spec":{"nodeName":"n","containers":[{"name":"c","#,
                r#""env":[{"name":"TOKEN","value":"redacted"},{"name":"REF","valueFrom":{"secretKeyRef":{"name":"s"}}}],"#,
                r#""args":["redacted"],"resources":{"claims":[{"name":"gpu"}]}}],"initContainers":null}}"#
            )
        );
    }

    #[test]
    fn opaque_configuration_becomes_its_hash_wherever_it_is() {
        let config = r#""config":[{"opaque":{"driver":"d","parameters":{"k":"secret"}}}]"#;
        // printf '{"k":"secret"}' | sha256sum
        let hash =
            r#"{"redacted":"sha256:c1ef65fd02733f1e0863d8a6ccab1f5f5c1f3dd4e8ef9fd8b4dc667ff486b50e"}"#;
        for (kind, json) in [
            (Kind::DeviceClass, format!(r#"{{"spec":{{{config}}}}}"#)),
            (
                Kind::ResourceClaim,
                format!(r#"{{"spec":{{"devices":{{{config}}}}}}}"#),
            ),
            (
                Kind::ResourceClaim,
                format!(r#"{{"status":{{"allocation":{{"devices":{{{config}}}}}}}}}"#),
            ),
            (
                Kind::ResourceClaim,
                r#"{"status":{"devices":[{"driver":"d","data":{"k":"secret"}}]}}"#.to_owned(),
            ),
            (
                Kind::ResourceClaimTemplate,
                format!(r#"{{"spec":{{"spec":{{"devices":{{{config}}}}}}}}}"#),
            ),
        ] {
            let text = redacted(Redaction::On, kind, &json);
            assert!(!text.contains("secret"), "{text}");
            assert!(text.contains(hash), "{text}");
            assert!(text.contains(r#""driver":"d""#), "{text}");
        }
    }

    #[test]
    fn without_redaction_the_object_stays_as_it_was_received() {
        let json = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","annotations":{"a":"\u00e9 1.10"}},"x":1e400}"#;
        assert_eq!(
            redacted_raw(json),
            r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"a":"\u00e9 1.10"}},"x":1e400}"#
        );
    }

    fn redacted_raw(json: &str) -> String {
        let mut out = Vec::new();
        Redaction::Off
            .write(Kind::Pod, "v1", json.as_bytes(), &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    }
}
