//! Fields that a snapshot keeps, so that it can be shared.
//!
//! Only the fields that an answer of this program can depend on are kept (`fields.rs` says which); everything else is
//! dropped, whatever its name and wherever Kubernetes adds it next. What is kept stays as it was received: values are
//! passed through as raw JSON.

use std::fmt::Write as _;

use serde::de::Error as _;
use serde_json::value::RawValue;

use super::fields::{Rule, owner_rules, rules};
use crate::files::Members;
use dra_model::{Kind, json};

/// Removal of possible secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redaction {
    /// Leave it out.
    On,
    /// Keep everything as it was received.
    Off,
}

impl Redaction {
    /// Appends the object `json` to `out`, beginning with its `apiVersion` and `kind`, which servers leave out of the items of
    /// a list.
    pub fn write(
        self,
        kind: Kind,
        api_version: &str,
        json: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), serde_json::Error> {
        self.write_as(rules(kind), (api_version, kind.name()), json, out)
    }

    /// The same for an object that is only an owner of others, of any version and kind.
    pub fn write_owner(
        self,
        version_and_kind: (&str, &str),
        json: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), serde_json::Error> {
        self.write_as(owner_rules(), version_and_kind, json, out)
    }

    fn write_as(
        self,
        rules: &Rule,
        (api_version, kind): (&str, &str),
        json: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), serde_json::Error> {
        let object = json::from_slice::<&RawValue>(json)?.get().as_bytes();
        if object.first() != Some(&b'{') {
            return Err(serde_json::Error::custom("not an object"));
        }
        out.extend_from_slice(b"{\"apiVersion\":");
        serde_json::to_writer(&mut *out, api_version)?;
        out.extend_from_slice(b",\"kind\":");
        serde_json::to_writer(&mut *out, kind)?;
        match self {
            Self::On => write_members(rules, object, false, out)?,
            Self::Off => {
                let own = |(key, _): &(&[u8], &[u8])| !matches!(*key, b"apiVersion" | b"kind");
                for (key, value) in Members::of(object).filter(own) {
                    write_key(key, false, out);
                    out.extend_from_slice(value);
                }
            }
        }
        out.push(b'}');
        Ok(())
    }
}

/// Writes the members of an object that are kept, in their order, with values as written.
fn write_members(
    rule: &Rule,
    object: &[u8],
    mut first: bool,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    for (key, value) in Members::of(object) {
        let Some(rule) = std::str::from_utf8(key).ok().and_then(|key| rule.of(key)) else {
            continue;
        };
        write_key(key, std::mem::take(&mut first), out);
        write_value(rule, value, out)?;
    }
    Ok(())
}

/// Writes a key that is between its quotes as it was written.
fn write_key(key: &[u8], is_first: bool, out: &mut Vec<u8>) {
    if !is_first {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(key);
    out.extend_from_slice(b"\":");
}

fn write_value(rule: &Rule, value: &[u8], out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    match (rule, value.first()) {
        (_, Some(b'n') | None) => out.extend_from_slice(value),
        (Rule::Hash, _) => {
            let digest = ring::digest::digest(&ring::digest::SHA256, value);
            let mut hash = String::with_capacity(64);
            for byte in digest.as_ref() {
                let _ = write!(hash, "{byte:02x}");
            }
            out.extend_from_slice(format!(r#"{{"redacted":"sha256:{hash}"}}"#).as_bytes());
        }
        // What holds for a field holds for each element of its list.
        (_, Some(b'[')) => {
            let elements: Vec<&RawValue> = json::from_slice(value)?;
            out.push(b'[');
            let mut first = true;
            for element in elements.into_iter().filter(|element| rule.takes(element)) {
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                write_value(rule, element.get().as_bytes(), out)?;
            }
            out.push(b']');
        }
        (Rule::Members(_) | Rule::Conditions(..), Some(b'{')) => {
            out.push(b'{');
            write_members(rule, value, true, out)?;
            out.push(b'}');
        }
        (Rule::Present | Rule::Keep, Some(b'{')) => out.extend_from_slice(b"{}"),
        (Rule::Keep, Some(_)) | (_, Some(b't' | b'f' | b'-' | b'0'..=b'9')) => {
            out.extend_from_slice(value);
        }
        // Not of the field's shape. It stays of the wrong shape, so that it is malformed in the copy as well, without its text.
        (Rule::Members(_) | Rule::Conditions(..) | Rule::Present, Some(_)) => {
            out.extend_from_slice(br#""redacted""#);
        }
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
            "resource.kubernetes.io/pod-claim-name":"gpu"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"secret",
            "env":[{"name":"TOKEN","value":"secret"},{"name":"REF","valueFrom":{"secretKeyRef":{"name":"secret"}}}],
            "args":["--token=secret"],"livenessProbe":{"httpGet":{}},"resources":{"claims":[{"name":"gpu"}]}}],
            "volumes":[{"name":"secret","csi":{"volumeAttributes":{"password":"secret"}}},
                {"name":"secret","persistentVolumeClaim":{"claimName":"secret"}}],
            "imagePullSecrets":[{"name":"secret"}],"affinity":{"podAffinity":{"x":"secret"}},
            "topologySpreadConstraints":[{"topologyKey":"secret"}],"initContainers":null},
            "status":{"phase":"Running","message":"m","conditions":[{"type":"Ready","message":"m"},{"type":"Other","message":"secret"}],
            "containerStatuses":[{"name":"c","state":{"terminated":{"message":"secret"}}}]}}"#;
        assert_eq!(
            redacted(Redaction::On, Kind::Pod, pod),
            concat!(
                r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":"#,
                r#"{"resource.kubernetes.io/pod-claim-name":"gpu"}},"spec":{"nodeName":"n","containers":[{"name":"c","#,
                r#""resources":{"claims":[{"name":"gpu"}]}}],"volumes":[{},{"persistentVolumeClaim":{}}],"#,
                r#""affinity":{"podAffinity":{}},"topologySpreadConstraints":[{}],"initContainers":null},"#,
                r#""status":{"phase":"Running","message":"m","conditions":[{"type":"Ready","message":"m"}],"#,
                r#""containerStatuses":[{"name":"c","state":{"terminated":{}}}]}}"#
            )
        );
    }

    #[test]
    fn what_is_not_of_a_fields_shape_stays_malformed_without_its_text() {
        let pod = r#"{"metadata":"secret","spec":{"nodeName":{"a":"secret"},"containers":"secret","priority":"secret-kept",
            "volumes":{"persistentVolumeClaim":"secret"}},"status":["secret",{"phase":"x","y":"secret"}]}"#;
        let text = redacted(Redaction::On, Kind::Pod, pod);
        assert_eq!(
            text.replace("secret-kept", ""),
            concat!(
                r#"{"apiVersion":"v1","kind":"Pod","metadata":"redacted","spec":{"nodeName":{},"containers":"redacted","priority":"","#,
                r#""volumes":{"persistentVolumeClaim":"redacted"}},"status":["redacted",{"phase":"x"}]}"#
            )
        );
    }

    #[test]
    fn an_owner_is_read_alike_from_the_copy() {
        use dra_model::Owners;
        let conditions = r#"[{"type":"Suspended","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]"#;
        let template = r#"{"spec":{"nodeSelector":{"a":"b"},"resourceClaims":[{"name":"gpu","resourceClaimName":"claim","resourceClaimTemplateName":"template"}],
            "containers":[{"name":"c","image":"secret","resources":{"requests":{"memory":"1Gi"},"limits":{"example.com/gpu":1}}}]}}"#;
        for (version, kind, spec, status) in [
            (
                "apps/v1",
                "Deployment",
                r#""replicas":3,"paused":true,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"50%","maxUnavailable":0}}"#,
                "",
            ),
            ("apps/v1", "Deployment", r#""strategy":{"type":"Recreate"}"#, ""),
            ("apps/v1", "ReplicaSet", r#""replicas":1"#, r#""replicas":2,"#),
            ("apps/v1", "DaemonSet", "", ""),
            (
                "apps/v1",
                "StatefulSet",
                r#""podManagementPolicy":"OrderedReady","updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}}"#,
                r#""updateRevision":"r","#,
            ),
            (
                "batch/v1",
                "Job",
                r#""backoffLimit":2,"activeDeadlineSeconds":60"#,
                r#""failed":2,"failedIndexes":"1,3","#,
            ),
            (
                "batch/v1",
                "Job",
                r#""podFailurePolicy":{"rules":[{"action":"FailJob"}]}"#,
                "",
            ),
            (
                "batch/v1",
                "Job",
                r#""backoffLimitPerIndex":1,"suspend":true"#,
                "",
            ),
            (
                "kueue.x-k8s.io/v1beta1",
                "Workload",
                r#""active":false"#,
                r#""admissionChecks":[{"name":"c","state":"Retry","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}],"#,
            ),
            (
                "resource.nvidia.com/v1beta1",
                "ComputeDomain",
                r#""numNodes":2,"channel":{"resourceClaimTemplate":{"name":"t"}}"#,
                r#""status":"NotReady","nodes":[{"name":"n","status":"Ready","ipAddress":"secret"}],"#,
            ),
            ("example.com/v1", "Other", "", r#""phase":"Waiting","#),
        ] {
            let comma = if spec.is_empty() { "" } else { "," };
            let json = format!(
                r#"{{"metadata":{{"name":"o","namespace":"n","uid":"u","annotations":{{"a":"secret"}},"creationTimestamp":"2026-01-01T00:00:00Z",
                "ownerReferences":[{{"apiVersion":"a/v1","kind":"K","name":"k","uid":"v","controller":true}}]}},
                "spec":{{{spec}{comma}"template":{template}}},"status":{{{status}"conditions":{conditions}}}}}"#
            );
            let mut copy = Vec::new();
            Redaction::On
                .write_owner((version, kind), json.as_bytes(), &mut copy)
                .unwrap();
            let read = |json: &[u8]| {
                let mut owners = Owners::default();
                owners.add(version, kind, json);
                format!("{owners:?}")
            };
            assert_eq!(read(&copy), read(json.as_bytes()), "{kind}");
            assert!(!String::from_utf8(copy).unwrap().contains("secret"), "{kind}");
        }
    }

    /// Every text of every recorded object replaced by one of its own: none reaches the copy but those of fields on the list.
    #[test]
    fn a_text_reaches_the_copy_only_by_a_field_on_the_list() {
        use serde_json::{Value, json};
        fn plant(value: &mut Value, path: &mut Vec<String>, planted: &mut Vec<(String, Vec<String>)>) {
            match value {
                Value::String(text) => {
                    *text = format!("planted-{}-", planted.len());
                    planted.push((text.clone(), path.clone()));
                }
                Value::Array(elements) => elements
                    .iter_mut()
                    .for_each(|element| plant(element, path, planted)),
                Value::Object(members) => {
                    // Fields of the next release, of every kind.
                    if !path.iter().any(|part| part == "futureList") {
                        members.insert("futureText".to_owned(), json!("x"));
                        members.insert("futureList".to_owned(), json!(["x", {"name": "x"}]));
                    }
                    for (key, value) in members {
                        path.push(key.clone());
                        plant(value, path, planted);
                        path.pop();
                    }
                }
                _ => {}
            }
        }
        let mut count = 0;
        for (kind, _, mut item) in recorded() {
            let mut planted = Vec::new();
            plant(&mut item, &mut Vec::new(), &mut planted);
            let text = redacted(Redaction::On, kind, &item.to_string());
            for (secret, path) in planted {
                let listed = listed(kind, &path);
                assert_eq!(text.contains(&secret), listed, "{kind} {path:?}");
                count += 1;
            }
        }
        assert!(count > 10_000, "{count}");
    }

    /// All recorded objects, with their kinds and versions.
    fn recorded() -> Vec<(Kind, String, serde_json::Value)> {
        use serde_json::Value;
        let mut all = Vec::new();
        for file in
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/snapshots")).unwrap()
        {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            #[expect(clippy::disallowed_methods, reason = "tests read files")]
            let text = std::fs::read_to_string(&path).unwrap();
            let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
            for mut document in documents {
                let items = match document.get_mut("items").map(Value::take) {
                    Some(Value::Array(items)) => items,
                    _ => vec![document],
                };
                for item in items {
                    let api_version = item["apiVersion"].as_str().unwrap_or_default().to_owned();
                    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
                    if let Some(kind) = Kind::find(group, item["kind"].as_str().unwrap_or_default()) {
                        all.push((kind, api_version, item));
                    }
                }
            }
        }
        all
    }

    /// Commands see nothing but what the decoder makes of objects: where that is the same, every answer is.
    #[test]
    fn the_copy_says_the_same_as_the_original() {
        use serde_json::Value;
        fn without_parameters(value: &mut Value) {
            match value {
                Value::Array(elements) => elements.iter_mut().for_each(without_parameters),
                Value::Object(members) => {
                    for (key, value) in members {
                        if key == "opaque" {
                            value["parameters"] = Value::Null;
                        }
                        without_parameters(value);
                    }
                }
                _ => {}
            }
        }
        let mut count = 0;
        for (kind, api_version, mut original) in recorded() {
            let (group, version) = crate::decode::group_version(&api_version);
            let mut copy = Vec::new();
            let text = original.to_string();
            Redaction::On
                .write(kind, &api_version, text.as_bytes(), &mut copy)
                .unwrap();
            let mut copy: Value = serde_json::from_slice(&copy).unwrap();
            without_parameters(&mut original);
            without_parameters(&mut copy);
            let decode = |value: &Value| {
                let object = crate::decode::Decoder::default().decode(
                    kind,
                    group,
                    version,
                    value.to_string().as_bytes(),
                );
                format!("{object:?}")
            };
            assert_eq!(decode(&copy), decode(&original), "{kind}");
            count += 1;
        }
        assert!(count > 500, "{count}");
    }

    /// Returns whether the text at `path` is on the list, and not only as its hash.
    fn listed(kind: Kind, path: &[String]) -> bool {
        let mut rule = rules(kind);
        for part in path {
            match rule.of(part) {
                // The planted text is no type of a condition.
                None | Some(Rule::Conditions(_)) => return false,
                Some(next) => rule = next,
            }
        }
        matches!(rule, Rule::Keep)
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
