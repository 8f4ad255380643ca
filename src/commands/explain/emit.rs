//! `kubectl dra explain --emit-fix N`: the objects of a fix as manifests, or else its command.

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::context::Ctx;
use crate::error::UsageError;
use dra_reports::explanation::{Explanation, FixItem, Remake};

/// Metadata fields that the API server writes and a new object omits.
const WRITTEN: [&str; 6] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Prints the objects that fix `number` recreates, with its changes.
pub(super) async fn fix(ctx: &Ctx, report: &Explanation, number: usize) -> anyhow::Result<()> {
    let fix = chosen(&report.fixes, number)?;
    // A file may have less of an object than the cluster.
    let is_live = ctx.is_live();
    if fix.remakes.is_empty() || !is_live {
        let Some(command) = &fix.command else {
            let note = fix.note.clone();
            let error = UsageError::new(format!("there is no command for fix {number}: {}", fix.message));
            return Err(match note {
                Some(note) => error.hint(note),
                None => error,
            }
            .into());
        };
        return Ok(ctx.printer().text(&format!("{command}\n"))?);
    }
    let live = ctx.live().await?;
    let mut items = Vec::new();
    for remake in &fix.remakes {
        let object = live
            .manifest(remake.kind, &remake.key)
            .await?
            .with_context(|| format!("{} no longer exists: run `explain` again", remake.object()))?;
        items.push(changed(object, remake)?);
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    ctx.printer().manifest(&format!("{list:#}\n"))?;
    Ok(())
}

fn chosen(fixes: &[FixItem], number: usize) -> Result<&FixItem, UsageError> {
    let found = number.checked_sub(1).and_then(|place| fixes.get(place));
    found.ok_or_else(|| match fixes.len() {
        0 => UsageError::new("there is no fix to print").hint("remove `--emit-fix` to see why"),
        1 => UsageError::new(format!("there is no fix {number}; the only fix is 1")),
        all => UsageError::new(format!("there is no fix {number}; fixes are numbered 1 to {all}")),
    })
}

/// The object with the changes, as it is created.
fn changed(mut object: Value, remake: &Remake) -> anyhow::Result<Value> {
    let cannot = || format!("{} has changed: run `explain` again", remake.object());
    let operations = Value::Array(remake.operations.clone());
    let patch: json_patch::Patch = serde_json::from_value(operations).with_context(cannot)?;
    json_patch::patch(&mut object, &patch).with_context(cannot)?;
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| !WRITTEN.contains(&name.as_str()));
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Key, Kind};

    #[test]
    fn an_object_that_says_something_else_by_now_is_not_changed() {
        let remake = Remake {
            kind: Kind::ResourceClaim,
            key: Key::new("n", "c"),
            operations: vec![
                json!({"op": "test", "path": "/spec/devices/requests/0/name", "value": "gpu"}),
                json!({"op": "add", "path": "/spec/devices/requests/0/exactly/count", "value": 1}),
            ],
        };
        let object = |request: &str| {
            json!({
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"namespace": "n", "name": "c", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}},
                "spec": {"devices": {"requests": [{"name": request, "exactly": {"count": 9, "new": "kept"}}]}},
                "status": {},
            })
        };
        assert_eq!(
            changed(object("gpu"), &remake).unwrap(),
            json!({
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"namespace": "n", "name": "c", "labels": {"a": "b"}},
                "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"count": 1, "new": "kept"}}]}},
            })
        );
        let error = changed(object("other"), &remake).unwrap_err();
        assert_eq!(error.to_string(), "claim/n/c has changed: run `explain` again");
    }
}
