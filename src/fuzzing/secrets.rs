//! Targets for secrets: credentials in errors and addresses, and redacted fields of snapshots.

use serde_json::{Value, json};

use dra_model::Kind;
use dra_sources::bundle::Redaction;
use dra_sources::live::probe;

use super::bytes::Bytes;
use super::clusters::SmallCluster;
use super::program::file;

/// Stands where a secret would; the second is how base64 begins it.
const PLANTS: [&str; 2] = ["PLANT", "UExBTl"];

fn assert_no_plant(text: &str) {
    for plant in PLANTS {
        assert!(!text.contains(plant), "a secret in {text:?}");
    }
}

const KUBECONFIG: &str = "\
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: there, user: me, namespace: team}
clusters:
- name: there
  cluster:
    server: https://admin:PLANTurl@127.0.0.1:6443/path
    certificate-authority-data: UExBTlQgYXV0aG9yaXR5
    proxy-url: socks5://u:PLANTproxy@127.0.0.1:1080
users:
- name: me
  user:
    token: PLANTtoken
    username: someone
    password: \"PLANTpassword\"
    client-certificate-data: UExBTlQgY2VydGlmaWNhdGU=
    client-key-data: UExBTlQga2V5
    as: other
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: no-such-plugin-anywhere
      args: [--secret, PLANTargument]
      env: [{name: SECRET, value: PLANTenvironment}]
- name: provider
  user:
    auth-provider: {name: oidc, config: {id-token: PLANTid, refresh-token: PLANTrefresh, client-secret: PLANTclient}}
";

/// A kubeconfig that is damaged anywhere: its error tells no secret.
pub(super) fn kubeconfig(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut text = KUBECONFIG.as_bytes().to_vec();
    if bytes.one_in(3) {
        let value: Value = serde_saphyr::from_str(KUBECONFIG).expect("YAML");
        text = value.to_string().into_bytes();
    }
    while !bytes.is_empty() && !text.is_empty() {
        let at = bytes.below(65_536) % text.len();
        // Within a secret a change would make another one.
        let around =
            String::from_utf8_lossy(&text[at.saturating_sub(24)..(at + 6).min(text.len())]).into_owned();
        if PLANTS.iter().any(|plant| around.contains(plant)) {
            continue;
        }
        match bytes.below(4) {
            0 => text[at] = bytes.byte(),
            1 => {
                text.remove(at);
            }
            2 => {
                text.truncate(at);
            }
            _ => {
                let inserted = bytes.byte();
                text.insert(at, inserted);
            }
        }
    }
    let path = file("kubeconfig", &text);
    if let Err(error) = probe::configured(path.into()) {
        let mut told = error.to_string();
        told += &error.hint().unwrap_or_default();
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
        while let Some(error) = cause {
            told += &error.to_string();
            cause = error.source();
        }
        assert_no_plant(&told);
    }
}

/// Addresses with a password, and texts that become headers.
pub(super) fn address(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if PLANTS.iter().any(|plant| text.contains(plant)) {
        // Text in a place without secrets may be printed.
        return;
    }
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at));
    let (before, after) = text.split_at(middle.unwrap_or_default());
    for address in [
        format!("https://{before}:PLANT@{after}"),
        format!("{before}:PLANT@{after}"),
        format!("https://host/?{before}=PLANT{after}"),
        format!("https://host/#PLANT{text}"),
        text.to_string(),
    ] {
        for told in probe::address(&address) {
            assert_no_plant(&told);
        }
    }
    for token in [format!("PLANT{text}"), format!("{text}PLANT"), text.to_string()] {
        for told in probe::headers(&token) {
            assert_no_plant(&told);
        }
    }
}

/// Fields that no rule knows, anywhere in an object: none of them reaches a snapshot.
pub(super) fn redaction(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let plants: Vec<(usize, u8)> = (0..=bytes.below(6))
        .map(|_| (bytes.below(512), bytes.byte()))
        .collect();
    let cluster = SmallCluster::of(&mut bytes);
    for mut item in cluster.items {
        let (Some(api_version), Some(kind)) = (
            item["apiVersion"].as_str().map(str::to_owned),
            item["kind"]
                .as_str()
                .and_then(|name| Kind::all().find(|kind| kind.name() == name)),
        ) else {
            continue;
        };
        for (at, how) in &plants {
            let places = places(&item, true);
            plant(&mut item, &mut (at % places.max(1)), *how, true);
        }
        let mut copy = Vec::new();
        Redaction::On
            .write(kind, &api_version, item.to_string().as_bytes(), &mut copy)
            .expect("an object");
        let copy = String::from_utf8(copy).expect("UTF-8");
        serde_json::from_str::<Value>(&copy).expect("JSON");
        assert!(!copy.contains("PLANT"), "{item} became {copy}");
    }
}

/// Returns whether the keys of the object called `name` are the user's.
fn is_map(name: &str) -> bool {
    matches!(
        name,
        "labels" | "annotations" | "attributes" | "capacity" | "counters" | "allocatable" | "requests"
    )
}

/// Returns how many objects in `value` have fields that the API names.
fn places(value: &Value, named: bool) -> usize {
    match value {
        Value::Array(items) => items.iter().map(|item| places(item, true)).sum(),
        Value::Object(fields) => {
            let inside = fields
                .iter()
                .map(|(key, value)| places(value, !is_map(key) || value.is_array()));
            usize::from(named) + inside.sum::<usize>()
        }
        _ => 0,
    }
}

/// Puts a field into the object that is number `at` of those.
fn plant(value: &mut Value, at: &mut usize, how: u8, named: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, at, how, true)),
        Value::Object(fields) => {
            for (key, value) in &mut *fields {
                let named = !is_map(key) || value.is_array();
                plant(value, at, how, named);
            }
            if !named || *at == usize::MAX {
                return;
            }
            if *at > 0 {
                *at -= 1;
                return;
            }
            *at = usize::MAX;
            let name = ["password", "secretRef", "volumes", "env", "tokenPLANT", "zz"][usize::from(how) % 6];
            let secret = match how % 3 {
                0 => json!("PLANT"),
                1 => json!({"name": "PLANT", "value": ["PLANT"]}),
                _ => json!([{"PLANT": 1}]),
            };
            fields.insert(name.to_owned(), secret);
        }
        _ => {}
    }
}
