//! The commands that several rules advise.
//!
//! How kubectl reads them was looked up in v1.37.2: `resource/builder.go` splits `KIND/NAME` at the only `/` that there may be and takes
//! the name as it is; `label` and `taint` tell objects from changes by `=`, `:` and a final `-` (`util/helpers.go`,
//! `GetResourcesAndPairs`; `taint/taint.go`, `Complete`); values of field selectors escape `\`, `,` and `=` (`fields/selector.go`,
//! `EscapeValue`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Command, NoCommand, Resource, Script, Then};
use dra_model::{Claim, DeviceId, Key, Kind, NO_EXECUTE, NO_SCHEDULE, Pod, PoolId, Str};
use dra_rules::owners::Ending;

/// `kubectl delete KIND/NAME…` of a kind without namespace.
pub fn delete<N: AsRef<str>>(
    resource: impl Into<Resource>,
    names: impl IntoIterator<Item = N>,
) -> Result<Script, NoCommand> {
    Command::kubectl("delete").objects(resource, names).done()
}

/// `kubectl delete KIND/NAME… --namespace=NAMESPACE`.
pub fn delete_in<N: AsRef<str>>(
    namespace: &str,
    resource: impl Into<Resource>,
    names: impl IntoIterator<Item = N>,
) -> Result<Script, NoCommand> {
    Command::kubectl("delete")
        .objects(resource, names)
        .namespace(namespace)
        .done()
}

/// The end of these pods.
pub fn delete_pods<N: AsRef<str>>(
    namespace: &str,
    names: impl IntoIterator<Item = N>,
) -> Result<Script, NoCommand> {
    delete_in(namespace, Kind::Pod, names)
}

/// The end of pods that their owner would recreate if they were deleted.
pub fn end_by_owner(namespace: &str, pods: &[&Arc<Pod>], ending: &Ending) -> Result<Script, NoCommand> {
    match ending {
        Ending::Scale {
            kind,
            owner,
            replicas,
            left,
            is_marked,
        } => {
            let scale = Command::kubectl("scale")
                .object(Resource::called(kind), &owner.name)
                .namespace(namespace)
                .option("--current-replicas", &replicas.to_string())
                .option("--replicas", &left.to_string())
                .done()?;
            if !is_marked {
                return Ok(scale);
            }
            let mark = Command::changing("annotate")
                .objects(Kind::Pod, pods.iter().map(|pod| &pod.metadata.name))
                .namespace(namespace)
                .args(&[
                    "--overwrite",
                    "controller.kubernetes.io/pod-deletion-cost=-2147483648",
                ])
                .done()?;
            Ok(mark.then(Then::And, scale))
        }
        Ending::Fewer {
            job, at_once, left, ..
        } => patch(
            Resource::called("job"),
            Some(namespace),
            &job.name,
            &["--type=json"],
            &json!([
                {"op": "test", "path": "/spec/parallelism", "value": at_once},
                {"op": "replace", "path": "/spec/parallelism", "value": left},
            ]),
        ),
        Ending::Suspend(job) => patch(
            Resource::called("job"),
            Some(namespace),
            &job.name,
            &["--type=merge"],
            &json!({"spec": {"suspend": true}}),
        ),
    }
}

/// A pod without an owner is read, deleted, and created as it was read.
pub fn recreate_pod(key: &Key) -> Result<Script, NoCommand> {
    let read = Command::kubectl("get")
        .about(Kind::Pod, key)
        .args(&["-o", "yaml"])
        .done()?;
    replaced(read)
}

/// What a command prints takes the place of the object.
fn replaced(print: Script) -> Result<Script, NoCommand> {
    let replace = Command::kubectl("replace").args(&["--force", "-f", "-"]).done()?;
    Ok(print.then(Then::Pipe, replace))
}

/// A merge patch of an object of `kind`.
pub fn merge(kind: Kind, key: &Key, document: &Value) -> Result<Script, NoCommand> {
    let command = Command::kubectl("patch").about(kind, key);
    command.arg("--type=merge").patch(document).done()
}

/// The operations of a JSON patch on an object of `kind`.
pub fn change(kind: Kind, key: &Key, operations: Vec<Value>) -> Result<Script, NoCommand> {
    Command::kubectl("patch")
        .about(kind, key)
        .arg("--type=json")
        .patch(&Value::Array(operations))
        .done()
}

/// An object whose spec cannot be changed is read, changed here by the operations of a JSON patch, deleted, and created like this.
///
/// With `--dry-run=client` kubectl patches what it has read and asks the API server for nothing (`patch/patch.go`, `RunPatch`, v1.37.2).
/// Where a `test` among the operations fails it prints nothing, and `replace` ends before it deletes anything.
pub fn remake(kind: Kind, key: &Key, operations: Vec<Value>) -> Result<Script, NoCommand> {
    let read = Command::kubectl("patch")
        .about(kind, key)
        .arg("--type=json")
        .patch(&Value::Array(operations))
        .args(&["--dry-run=client", "-o", "yaml"])
        .done()?;
    replaced(read)
}

/// Creates DeviceTaintRules that keep pods off devices, and with the effect `NoExecute` evict them: those that this program prints, with a
/// name that no other rule has and an effect that does something.
fn create_rules(print: Script, effect: &'static str) -> Result<Script, NoCommand> {
    let named = Command::kubectl("patch")
        .args(&["--local", "-f", "-", "--type=merge"])
        .patch(&json!({"metadata": {"name": null, "generateName": "kubectl-dra-"}, "spec": {"taint": {"effect": effect}}}))
        .args(&["-o", "yaml"])
        .done()?;
    let create = Command::kubectl("create").args(&["-f", "-"]).done()?;
    Ok(print.then(Then::Pipe, named).then(Then::Pipe, create))
}

/// Keeps new pods off the devices of a driver, on one node or on all.
pub fn taint_driver(driver: &str, node: Option<&str>) -> Result<Script, NoCommand> {
    let command = Command::dra("simulate")
        .arg("eviction")
        .option("--driver", driver);
    let command = match node {
        Some(node) => command.option("--node", node),
        None => command,
    };
    create_rules(command.arg("--emit-rule").done()?, NO_SCHEDULE)
}

/// Evicts the pods that use a device, and keeps others off it.
pub fn evict_from_device(device: &DeviceId, key: &'static str) -> Result<Script, NoCommand> {
    create_rules(rule_for_device(device, key)?, NO_EXECUTE)
}

/// Keeps new pods off a device.
pub fn keep_off_device(device: &DeviceId, key: &'static str) -> Result<Script, NoCommand> {
    create_rules(rule_for_device(device, key)?, NO_SCHEDULE)
}

/// Prints a DeviceTaintRule for a device.
fn rule_for_device(device: &DeviceId, key: &'static str) -> Result<Script, NoCommand> {
    let print = Command::dra("simulate")
        .arg("eviction")
        .device(device)
        .option("--driver", &device.driver)
        .option("--pool", &device.pool)
        .option("--device", &device.device)
        .option("--key", key)
        .arg("--emit-rule");
    print.done()
}

/// The object is saved into a file, then deleted. Kinds without namespace have an empty one.
pub fn save_and_delete(kind: Kind, key: &Key) -> Result<Script, NoCommand> {
    let delete = Command::kubectl("delete").about(kind, key);
    Ok(save(kind, key)?.then(Then::And, delete.done()?))
}

/// The object is saved into a file.
pub fn save(kind: Kind, key: &Key) -> Result<Script, NoCommand> {
    Command::kubectl("get")
        .about(kind, key)
        .args(&["-o", "yaml"])
        .into_file(kind, &saved(kind, key), YAML)
        .done()
}

/// The object is saved into a file without its finalizers, which [`replace_saved`] would set again.
pub fn save_without_finalizers(kind: Kind, key: &Key) -> Result<Script, NoCommand> {
    Command::kubectl("patch")
        .about(kind, key)
        .arg("--type=merge")
        .patch(&no_finalizers())
        .args(&["--dry-run=client", "-o", "yaml"])
        .into_file(kind, &saved(kind, key), YAML)
        .done()
}

/// A saved object is created, once it is deleted, which it may be already (`replace/replace.go`, `Complete`, v1.37.2).
pub fn replace_saved(kind: Kind, key: &Key) -> Result<Script, NoCommand> {
    Command::kubectl("replace")
        .arg("--force")
        .option(
            "--filename",
            &format!("{}{}{YAML}", Resource::from(kind), saved(kind, key)),
        )
        .done()
}

/// The name of the file of an object, between its kind and its end. Names may hold dots and hyphens, namespaces hyphens only: behind the first dot the
/// namespace ends at the next one, so that no two objects of a runbook share a file.
fn saved(kind: Kind, key: &Key) -> String {
    if kind.is_namespaced() {
        format!(".{}.{}", key.namespace, key.name)
    } else {
        format!("-{}", key.name)
    }
}

/// The end of that name.
const YAML: &str = ".yaml";

/// A merge patch, or with `type_` `json` a list of operations.
pub fn patch(
    resource: impl Into<Resource>,
    namespace: Option<&str>,
    name: &str,
    flags: &[&'static str],
    document: &Value,
) -> Result<Script, NoCommand> {
    let command = Command::kubectl("patch").object(resource, name);
    let command = match namespace {
        Some(namespace) => command.namespace(namespace),
        None => command,
    };
    command.args(flags).patch(document).done()
}

/// Has a Deployment end its old pods before it makes new ones: all of them, or one by one.
pub fn end_before(key: &Key, one_by_one: bool) -> Result<Script, NoCommand> {
    const DEPLOYMENT: Resource = Resource::called("deployment");
    let strategy = if one_by_one {
        json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})
    } else {
        json!({"type": "Recreate", "rollingUpdate": null})
    };
    let document = json!({"spec": {"strategy": strategy}});
    patch(
        DEPLOYMENT,
        Some(&key.namespace),
        &key.name,
        &["--type=merge"],
        &document,
    )
}

/// A write that changes nothing, which makes controllers look at the object again.
pub fn touch(kind: Kind, key: &Key) -> Result<Script, NoCommand> {
    Command::changing("label")
        .about(kind, key)
        .args(&["dra.kubectl.io/checked=again", "--overwrite"])
        .done()
}

/// Returns whether a text may be the key of a label or taint, or its value.
fn is_of_label(text: &str) -> bool {
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    alphanumeric(bytes.first())
        && alphanumeric(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._/".contains(byte))
}

/// `kubectl label node/NAME… KEY=VALUE…`. Only keys and values that labels can have are given.
pub fn label_nodes(nodes: &[&Str], labels: &[(Str, Str)]) -> Result<Script, NoCommand> {
    let label = Command::changing("label").objects(Kind::Node, nodes);
    let label = labels.iter().fold(label, |label, (key, value)| {
        let change = format!("{key}={value}");
        let is_label = is_of_label(key) && is_of_label(value);
        label.unless(!is_label, "the label of a node", &change).word(
            "the label of a node",
            change.clone(),
            &change,
            None,
        )
    });
    label.done()
}

/// `kubectl taint node node/NAME KEY:EFFECT-`. Only keys and effects that a node of a cluster can have are given.
pub fn lift_node_taint(node: &str, key: &str, effect: &str) -> Result<Script, NoCommand> {
    let is_key = is_of_label(key);
    let is_effect = ["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect);
    let change = format!("{key}:{effect}-");
    Command::changing("taint")
        .arg("node")
        .object(Kind::Node, node)
        .unless(!is_key || !is_effect, "the taint of a node", &change)
        .word("the taint of a node", change.clone(), &change, None)
        .done()
}

/// `FIELD=VALUE` for `--field-selector`, where the value stands for itself.
pub fn field_selector(field: &'static str, value: &str) -> String {
    let mut text = format!("{field}=");
    for character in value.chars() {
        if matches!(character, '\\' | ',' | '=') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// `kubectl dra convert claim/NAMESPACE/NAME`.
pub fn convert_claim(claim: &Claim) -> Command {
    Command::dra("convert").claim(&claim.metadata.namespace, &claim.metadata.name)
}

/// `kubectl describe KIND/NAME --namespace=NAMESPACE`: an object and its events.
pub fn describe(resource: impl Into<Resource>, key: &Key) -> Result<Script, NoCommand> {
    let describe = Command::kubectl("describe").object(resource, &key.name);
    describe.namespace(&key.namespace).done()
}

/// The same of a node.
pub fn describe_node(node: &str) -> Result<Script, NoCommand> {
    Command::kubectl("describe").object(Kind::Node, node).done()
}

/// `kubectl dra describe pool/DRIVER/POOL`. Names of pools may have slashes.
pub fn describe_pool(pool: &PoolId) -> Result<Script, NoCommand> {
    let word = pool.to_string();
    Command::dra("describe")
        .here()
        .part("driver", &pool.driver)
        .unless(!is_pool_name(&pool.pool), "the name of a pool", &pool.pool)
        .whole(format!("pool/{word}"), &word)
        .done()
}

/// `kubectl dra describe device/DRIVER/POOL/DEVICE`.
pub fn describe_device(device: &DeviceId) -> Result<Script, NoCommand> {
    let word = device.to_string();
    Command::dra("describe")
        .here()
        .device(device)
        .whole(format!("device/{word}"), &word)
        .done()
}

/// `kubectl dra simulate eviction --taint=DRIVER/POOL/DEVICE=KEY:NoExecute`.
pub fn taint_device(device: &DeviceId, key: &'static str) -> Result<Script, NoCommand> {
    let word = device.to_string();
    let parts = [&device.driver, &device.pool, &device.device];
    let is_pattern = word.contains('=') || parts.iter().any(|part| part.as_str() == "*");
    Command::dra("simulate")
        .arg("eviction")
        .device(device)
        .unless(is_pattern, "a device", &word)
        .option("--taint", &format!("{word}={key}:NoExecute"))
        .done()
}

/// Whether every part between the slashes says something.
fn is_pool_name(name: &str) -> bool {
    name.split('/').all(|part| !part.is_empty())
}

impl Command {
    /// `KIND/NAME` of an object, and its namespace where it has one.
    #[must_use]
    pub fn about(self, kind: Kind, key: &Key) -> Self {
        let command = self.object(kind, &key.name);
        if kind.is_namespaced() {
            command.namespace(&key.namespace)
        } else {
            command
        }
    }

    /// Checks a name that is a part of a longer one.
    fn part(self, what: &'static str, name: &str) -> Self {
        self.word(
            format!("the name of a {what}"),
            String::new(),
            name,
            super::fault_of_name(name),
        )
    }

    /// Checks the parts of a device's name.
    fn device(self, device: &DeviceId) -> Self {
        self.part("driver", &device.driver)
            .unless(!is_pool_name(&device.pool), "the name of a pool", &device.pool)
            .part("device", &device.device)
    }

    /// An argument that begins with a word of this program, and whose parts were checked.
    fn whole(self, argument: String, word: &str) -> Self {
        self.word("a name", argument, word, super::fault_of_word(word))
    }
}

/// The merge patch that takes every finalizer away.
pub fn no_finalizers() -> Value {
    json!({"metadata": {"finalizers": null}})
}
