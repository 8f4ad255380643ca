//! The plan as a file, and the proof.

use serde_json::{Value, json};

use super::*;
use crate::Selection;
use dra_model::Gate;
use dra_rules::reservation::conversion::{Code, Kinds, Options, Release, Target};
use dra_testing::{World, holding, json_of};

fn world() -> World {
    let mut status = holding(&["g0"], &["a"]);
    let job = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "v", "since": 3});
    status["reservedFor"].as_array_mut().expect("a list").push(job);
    World::default()
        .claim("c", &json!({}), &status)
        .pod("a", &["c"])
        .pod("b", &["c"])
}

fn all_kinds() -> Options {
    Options {
        kinds: Kinds::All,
        ..Options::default()
    }
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let cluster = world().build();
    let plan = planned(&cluster, &Selection::default(), &all_kinds());
    assert_eq!(plan.summary.convert, 1);
    let claim = &plan.claims[0];
    assert_eq!(claim.before.len(), 2);
    let mut file = json_of(&plan);
    let written = &file["claims"][0];
    assert_eq!(written["before"][1]["since"], 3);
    assert_eq!(written["after"], written["patch"][1]["value"]);
    file["apiVersion"] = json!("dra.kubectl.io/v1");
    file["kind"] = json!("ConversionPlan");
    // Whatever else a later version may add.
    file["claims"][0]["later"] = json!(1);
    assert_eq!(read_plan(file.to_string().as_bytes()).expect("a plan"), plan);
}

#[test]
fn words_of_a_plan_that_this_build_does_not_know_are_refused() {
    let cluster = world().build();
    let mut file = json_of(&planned(&cluster, &Selection::default(), &all_kinds()));
    file["apiVersion"] = json!("dra.kubectl.io/v1");
    file["kind"] = json!("ConversionPlan");
    for (pointer, value, expected) in [
        (
            "/claimGate",
            json!("Perhaps"),
            "unknown variant `Perhaps`, expected one of `Off`, `On`, `Assumed`",
        ),
        (
            "/claims/0/action",
            json!("Delete"),
            "unknown variant `Delete`, expected one of `Convert`, `Release`",
        ),
        (
            "/claims/0/code",
            json!("PodGroupUidMismatch"),
            "unknown variant `PodGroupUidMismatch`, expected one of `Convertible`",
        ),
        (
            "/claims/0/after/0",
            json!("pods/a"),
            "invalid type: string \"pods/a\", expected a reference to a consumer",
        ),
    ] {
        let mut other = file.clone();
        *other.pointer_mut(pointer).expect("a field") = value;
        let error = read_plan(other.to_string().as_bytes())
            .expect_err(pointer)
            .to_string();
        assert!(error.starts_with(&format!("not a plan: {expected}")), "{error}");
    }
}

/// The names in reports and in files are the same.
#[test]
fn codes_are_read_as_they_are_written() {
    for code in [
        Code::Convertible,
        Code::UnreservedConsumer,
        Code::Releasable,
        Code::KindNotSelected,
        Code::GeneratedForPodGroup,
        Code::TooManyConsumers,
        Code::ClaimDeleting,
        Code::NoLiveConsumer,
        Code::PodGroupUidMismatch,
        Code::PodGroupGone,
        Code::UnscheduledMembers,
        Code::UnknownKindUnused,
    ] {
        assert_eq!(json!(code), code.to_string());
        assert_eq!(
            serde_json::from_value::<Code>(json!(code.to_string())).expect("a code"),
            code
        );
    }
}

#[test]
fn other_files_are_not_plans() {
    for (file, expected) in [
        (
            "{}",
            "`apiVersion: `, `kind: ` is not a plan: expected `dra.kubectl.io/v1`, `ConversionPlan`",
        ),
        (
            r#"{"apiVersion":"dra.kubectl.io/v2","kind":"ConversionPlan"}"#,
            "`apiVersion: dra.kubectl.io/v2`, `kind: ConversionPlan` is not a plan: expected `dra.kubectl.io/v1`, `ConversionPlan`",
        ),
        (
            r#"{"apiVersion":"dra.kubectl.io/v1","kind":"ConversionPlan"}"#,
            "not a plan: missing field `scope` at line 1 column 58",
        ),
        (
            "[]",
            "not a plan: invalid type: sequence, expected struct Head at line 1 column 2",
        ),
        ("{", "not a plan: EOF while parsing an object at line 1 column 1"),
    ] {
        let error = read_plan(file.as_bytes()).expect_err("no plan");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn options_survive_the_file() {
    let named = Kinds::Named(["jobs.batch".to_owned()].into());
    for (kinds, target, entries) in [
        (Kinds::All, None, None),
        (named.clone(), Some(Target::Minor(35)), Some(vec![])),
        (
            named,
            Some(Target::GateOff(Gate::GenericWorkload)),
            Some(vec!["jobs.batch/j".to_owned()]),
        ),
    ] {
        let options = Options {
            kinds,
            target,
            include_generated: target.is_some(),
            release: entries.map_or(Release::Never, |entries| Release::Unused {
                entries: entries.into_iter().collect(),
            }),
        };
        let written = PlanOptions::from(&options);
        let read = written.to_options().expect("options");
        assert_eq!(format!("{read:?}"), format!("{options:?}"));
    }
    let unknown = PlanOptions {
        to_version: Some("2.0".to_owned()),
        ..PlanOptions::default()
    };
    assert!(unknown.to_options().is_err());
}

#[test]
fn nothing_is_planned_while_something_is_unknown() {
    for kind in [Kind::Pod, Kind::ResourceClaim] {
        let cluster = world().without(kind).build();
        let plan = planned(&cluster, &Selection::default(), &all_kinds());
        assert_eq!((plan.claims.len(), plan.unknown.len()), (0, 1), "{kind}");
        let report = verification(&cluster, &Selection::default(), &Kinds::All);
        assert_eq!(report.unknown.len(), 1, "{kind}");
    }
}

#[test]
fn a_defect_says_what_it_is_about() {
    let cluster = world().build();
    let report = verification(&cluster, &Selection::default(), &Kinds::PodGroups);
    let common = |code: &str, message: &str| -> Value {
        json!({"namespace": "n", "name": "c", "uid": "c-uid", "code": code, "message": message})
    };
    let mut job = common("NonPodEntry", "still reserved for jobs.batch/j");
    job["entry"] = json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "v"});
    job["selected"] = json!(false);
    let mut pod = common("ConsumerNotListed", "pod b uses it without an entry");
    pod["pod"] = json!({"name": "b", "uid": "b-uid"});
    assert_eq!(
        json_of(&report),
        json!({"scope": {}, "claims": 1, "items": [job, pod], "unknown": []})
    );
}
