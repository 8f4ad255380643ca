//! Device classes with one extended resource.

use std::sync::Arc;

use serde_json::json;

use super::finding::Subject;
use super::{Code, Finding, Look, words};
use crate::remedy::Remedy;
use crate::script::{change, touch};
use crate::words::shared_resource;
use dra_model::{Class, Component, Gate, Kind, Str};
use dra_rules::scheduling::classes_of_resources;

pub(super) fn look(look: &mut Look<'_>) {
    let environment = look.cluster.environment();
    // Without the gate the names mean nothing.
    if look.wants(Code::ExtendedResourceShared)
        && environment.enabled(Component::Scheduler, Gate::DRAExtendedResource)
    {
        for (resource, classes) in classes_of_resources(look.cluster) {
            if let [first, others @ ..] = classes.as_slice()
                && !others.is_empty()
            {
                shared(look, resource, first, others);
            }
        }
    }
}

/// Classes with one extended resource: the scheduler uses the first.
fn shared(look: &mut Look<'_>, resource: &Str, first: &Class, others: &[&Arc<Class>]) {
    let message = shared_resource(resource, first, others);
    let without = others.iter().map(|class| {
        let operations = vec![
            json!({"op": "test", "path": "/spec/extendedResourceName", "value": resource}),
            json!({"op": "remove", "path": "/spec/extendedResourceName"}),
        ];
        Remedy::command(change(Kind::DeviceClass, &class.metadata.key(), operations))
    });
    // The scheduler's cache loses the name with any class that gives it up (`extendedresourcecache.go`, `updateResourceName2class`,
    // v1.37.2), until it sees the class that keeps it again.
    let again = Remedy::command(touch(Kind::DeviceClass, &first.metadata.key()));
    let remedy = without.fold(Remedy::default(), Remedy::and).and(again);
    look.add(
        Finding::new(
            Code::ExtendedResourceShared,
            Subject::of(Kind::DeviceClass, &first.metadata),
            message,
        )
        .remedy(remedy.note(words::RESOURCE_IS_TAKEN)),
    );
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::ask;
    use super::super::{Code, Fix, Question};
    use dra_model::{Component, Evidence, Gate, GateState, Kind};
    use dra_testing::World;

    fn world(classes: &[(&str, &str, &str)]) -> World {
        classes.iter().fold(World::default(), |world, (name, created, resource)| {
            world.with(
                Kind::DeviceClass,
                &json!({"metadata": {"name": name, "creationTimestamp": created}, "spec": {"extendedResourceName": resource}}),
            )
        })
    }

    #[test]
    fn the_class_in_use_is_reported_with_all_that_are_ignored() {
        let (old, new) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
        let found = |world: World| -> Vec<(String, String)> {
            let list = ask(&world.build(), Question::Now);
            let told = list.items.iter().map(|finding| {
                let Some(Fix::Command(script)) = &finding.fix else {
                    panic!("{finding:?}")
                };
                (
                    format!("{} {}", finding.object, finding.message),
                    script.to_string(),
                )
            });
            told.collect()
        };
        let patch = |name: &str| {
            format!(
                "kubectl patch deviceclass/{name} --type=json -p \
                 '[{{\"op\":\"test\",\"path\":\"/spec/extendedResourceName\",\"value\":\"x.io/gpu\"}},\
                 {{\"op\":\"remove\",\"path\":\"/spec/extendedResourceName\"}}]'"
            )
        };
        let three = [
            ("a", old, "x.io/gpu"),
            ("b", new, "x.io/gpu"),
            ("c", old, "x.io/gpu"),
            ("d", new, "x.io/nic"),
        ];
        assert_eq!(
            found(world(&three)),
            [(
                "deviceclass/b provides x.io/gpu, which deviceclass/a, deviceclass/c provide too: kube-scheduler uses this class, the newest, \
                 and ignores the others"
                    .to_owned(),
                format!(
                    "{} && {} && kubectl label deviceclass/b dra.kubectl.io/checked=again --overwrite",
                    patch("a"),
                    patch("c")
                )
            )]
        );
        // Of equal age, as classes of one manifest are.
        let found_of_equals = found(world(&[("a", old, "x.io/gpu"), ("b", old, "x.io/gpu")]));
        assert!(
            found_of_equals[0]
                .0
                .starts_with("deviceclass/a provides x.io/gpu, which deviceclass/b provides too")
                && found_of_equals[0].0.contains("the first by name"),
            "{found_of_equals:?}"
        );
        let off = world(&three).knowing(|environment| {
            let state = GateState {
                enabled: false,
                evidence: Evidence::Flag,
            };
            environment
                .gates
                .push((Component::Scheduler, Gate::DRAExtendedResource, state));
        });
        assert!(found(off).is_empty());
        assert_eq!(Code::ExtendedResourceShared.facts().code, "DRA070");
    }
}
