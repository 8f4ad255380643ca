//! Texts before and after, and that nothing else changes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn list(keep: &[bool], add: &[Value]) -> Edit {
    Edit::List {
        path: path(&["status", "reservedFor"]),
        keep: keep.to_vec(),
        add: add.to_vec(),
    }
}

fn pod(name: &str) -> Value {
    json!({"name": name, "resource": "pods", "uid": format!("u{name}")})
}

/// What becomes of `text` when these edits are made to every claim named `c`.
fn edited(text: &str, edits: &[Edit]) -> Result<String, String> {
    rewrite(text, &mut |identity| {
        if identity.name == "c" {
            edits.to_vec()
        } else {
            Vec::new()
        }
    })
    .map_err(|error| error.to_string())
}

#[test]
fn lines_go_and_come_in_block_style() {
    let text = "\
# kept
apiVersion: v1
kind: List
items:
- kind: ResourceClaim
  metadata: {name: c, namespace: n}
  status:
    allocation: {}   # kept
    reservedFor:
    - apiGroup: scheduling.k8s.io
      name: g
      resource: podgroups
      uid: ug
    - name: \"x\"
      resource: 'pods'
      since: 3
      uid: ux
- kind: ResourceClaim
  metadata: {name: d, namespace: n}
";
    let expected = text
        .replace(
            "    - apiGroup: scheduling.k8s.io\n      name: g\n      resource: podgroups\n      uid: ug\n",
            "",
        )
        .replace(
            "      uid: ux\n",
            "      uid: ux\n    - name: \"m\"\n      resource: \"pods\"\n      uid: \"um\"\n",
        );
    assert_eq!(
        edited(text, &[list(&[false, true], &[pod("m")])]).as_deref(),
        Ok(expected.as_str())
    );
}

#[test]
fn indented_sequences_documents_and_other_line_ends_are_kept() {
    let text = "---\r\nkind: ResourceClaim\r\nmetadata:\r\n  name: c\r\nstatus:\r\n  reservedFor:\r\n    -   name: g\r\n        uid: ug\r\n    # behind\r\n---\r\nkind: Pod\r\n";
    let expected = "---\r\nkind: ResourceClaim\r\nmetadata:\r\n  name: c\r\nstatus:\r\n  reservedFor:\r\n    - name: \"m\"\r\n      resource: \"pods\"\r\n      uid: \"um\"\r\n    # behind\r\n---\r\nkind: Pod\r\n";
    assert_eq!(
        edited(text, &[list(&[false], &[pod("m")])]).as_deref(),
        Ok(expected)
    );
    let open = "kind: ResourceClaim\nmetadata: {name: c}\nstatus:\n  reservedFor:\n  - {name: g}";
    assert_eq!(
        edited(open, &[list(&[true], &[pod("m")])]).as_deref(),
        Ok(
            "kind: ResourceClaim\nmetadata: {name: c}\nstatus:\n  reservedFor:\n  - {name: g}\n  - name: \"m\"\n    resource: \"pods\"\n    uid: \"um\"\n"
        )
    );
}

#[test]
fn json_keeps_its_layout() {
    let compact = r#"{"kind":"ResourceClaim","metadata":{"name":"c"},"status":{"reservedFor":[{"name":"g","uid":"ug"}],"allocation":{}}}"#;
    assert_eq!(
        edited(compact, &[list(&[false], &[pod("m"), pod("o")])]).as_deref(),
        Ok(
            r#"{"kind":"ResourceClaim","metadata":{"name":"c"},"status":{"reservedFor":[{"name":"m","resource":"pods","uid":"um"},{"name":"o","resource":"pods","uid":"uo"}],"allocation":{}}}"#
        )
    );
    let pretty = "{\"items\": [\n  {\n    \"kind\": \"ResourceClaim\",\n    \"metadata\": {\"name\": \"c\"},\n    \"status\": {\n      \"reservedFor\": [\n        {\n          \"name\": \"x\",\n          \"since\": 1e3\n        },\n        {\n          \"name\": \"g\"\n        }\n      ]\n    }\n  }\n], \"kind\": \"List\"}\n";
    let expected = pretty.replace(
        "          \"name\": \"g\"\n",
        "          \"name\": \"m\",\n          \"resource\": \"pods\",\n          \"uid\": \"um\"\n",
    );
    assert_eq!(
        edited(pretty, &[list(&[true, false], &[pod("m")])]).as_deref(),
        Ok(expected.as_str())
    );
}

#[test]
fn fields_go_and_lists_are_added() {
    let any = |keys: &[&str]| Edit::Remove {
        path: path(&["status", "allocation"]),
        keys: path(keys),
    };
    let release = Edit::Remove {
        path: path(&["status"]),
        keys: path(&["reservedFor", "allocation"]),
    };
    let head = "kind: ResourceClaim\nmetadata:\n  name: c\nstatus:\n";
    for (text, edits, expected) in [
        (
            "  allocation:\n    reservedForAnyPod: true\n    devices: {}\n",
            vec![list(&[], &[pod("m")]), any(&["reservedForAnyPod"])],
            "  allocation:\n    devices: {}\n  reservedFor:\n  - name: \"m\"\n    resource: \"pods\"\n    uid: \"um\"\n",
        ),
        (
            "  allocation:\n    reservedForAnyPod: true\n",
            vec![list(&[], &[pod("m")]), any(&["reservedForAnyPod"])],
            "  allocation:\n    {}\n  reservedFor:\n  - name: \"m\"\n    resource: \"pods\"\n    uid: \"um\"\n",
        ),
        (
            "  allocation: {reservedForAnyPod: true, a: 1}\n",
            vec![any(&["reservedForAnyPod"])],
            "  allocation: {a: 1}\n",
        ),
        (
            "  allocation: {a: 1}\n  reservedFor:\n  - name: g\n",
            vec![release.clone()],
            "  {}\n",
        ),
        (
            "  allocation: {a: 1}\n  reservedFor:\n  - name: g\n  devices: []\n",
            vec![release.clone()],
            "  devices: []\n",
        ),
        (
            "  allocation: {a: 1}\n  reservedFor: []\n",
            vec![list(&[], &[pod("m")])],
            "  allocation: {a: 1}\n  reservedFor: [{\"name\":\"m\",\"resource\":\"pods\",\"uid\":\"um\"}]\n",
        ),
    ] {
        assert_eq!(
            edited(&format!("{head}{text}"), &edits),
            Ok(format!("{head}{expected}")),
            "{text}"
        );
    }
    let json = r#"{"kind":"ResourceClaim","metadata":{"name":"c"},"status":{"allocation":{"a":1},"reservedFor":[]}}"#;
    assert_eq!(
        edited(json, &[release]).as_deref(),
        Ok(r#"{"kind":"ResourceClaim","metadata":{"name":"c"},"status":{}}"#)
    );
}

#[test]
fn what_is_not_understood_is_refused() {
    let head = "kind: ResourceClaim\nmetadata:\n  name: c\n  namespace: n\nstatus:\n";
    for (text, expected) in [
        (
            "  reservedFor: &a\n  - name: g\n",
            "line 1: n/c: it has an anchor, an alias or a tag, which is not changed",
        ),
        (
            "  reservedFor: [a, # why\n    b]\n",
            "line 1: n/c: there is something between its values that is not understood",
        ),
        (
            "  reservedFor:\n  - name: g\n",
            "line 1: n/c: its list is not the one that was read",
        ),
        ("  x: 1\n", "line 1: n/c: what is to be changed is not there"),
    ] {
        assert_eq!(
            edited(&format!("{head}{text}"), &[list(&[false, true], &[])]),
            Err(expected.to_owned()),
            "{text}"
        );
    }
}

proptest! {
    /// Without changes the text stays, whatever it is.
    #[test]
    fn nothing_changes_by_itself(text in "[ -~\n]{0,200}") {
        if let Ok(same) = rewrite(&text, &mut |_| Vec::new()) {
            prop_assert_eq!(same, text);
        }
    }

    /// JSON in any layout has the list that was asked for, and everything else.
    #[test]
    fn lists_are_what_was_asked_for(
        before in proptest::collection::vec("[a-z]{1,3}", 0..5),
        keep in proptest::collection::vec(any::<bool>(), 5),
        add in proptest::collection::vec("[a-z]{1,3}", 0..3),
        pretty in any::<bool>(),
    ) {
        let entries: Vec<Value> = before.iter().map(|name| json!({"name": name, "x": [1, {"y": null}]})).collect();
        let keep = &keep[..entries.len()];
        let add: Vec<Value> = add.iter().map(|name| pod(name)).collect();
        let mut object = json!({"kind": "ResourceClaim", "metadata": {"name": "c"}, "status": {"a": 1, "reservedFor": entries, "z": "}]"}});
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) };
        let text = text.expect("JSON");
        let result = edited(&text, &[list(keep, &add)]).expect("a text");
        let stay = entries.iter().zip(keep).filter(|(_, keep)| **keep).map(|(entry, _)| entry.clone());
        object["status"]["reservedFor"] = stay.chain(add).collect();
        prop_assert_eq!(serde_json::from_str::<Value>(&result).expect("JSON"), object);
    }
}
