//! Every code is found where it is and not where it is not, and what the tests of all families share.

mod worlds;

use serde_json::json;

use self::worlds::*;
use super::*;
use crate::allocation::Settings;
use crate::explanation::{ClusterVerdict, Explanation, explain_claims, explain_new_pods, explain_pod};
use crate::script::Script;
use crate::script::tests::{NASTY, assert_exact, assert_own_flags};
use dra_allocator::Budget;
use dra_model::{Component, Environment, Evidence, Gap, Gate, GateState, Meta};
use dra_testing::effort::{by_effort, some_of};
use dra_testing::{World, called, holding, now, with_names};

/// Everything that is asked of `question`, about all objects.
pub(super) fn ask(cluster: &Cluster, question: Question) -> FindingList {
    let codes = Code::all()
        .filter(|code| code.facts().topic == question.topic())
        .collect();
    check(
        cluster,
        &CheckRequest {
            question,
            codes,
            selection: Selection::default(),
            now: now(),
            idle: IDLE,
            in_part: false,
        },
    )
}

/// `CODE object` of each finding that there is now.
pub(super) fn codes_of(cluster: &Cluster) -> Vec<String> {
    named(&ask(cluster, Question::Now))
}

/// `CODE object` of each finding.
pub(super) fn named(list: &FindingList) -> Vec<String> {
    list.items
        .iter()
        .map(|finding| format!("{} {}", finding.code, finding.object))
        .collect()
}

fn question(code: Code, cluster: &Cluster) -> Question {
    match code.facts().topic {
        Topic::Now => Question::Now,
        Topic::Driver => Question::Driver {
            driver: called("d").into(),
            node: None,
        },
        Topic::Downgrade => {
            Question::Downgrade(Target::new(cluster.environment(), Some(34), [], []).unwrap())
        }
        Topic::Upgrade => Question::Upgrade(Upgrade::new(cluster.environment(), 38, []).unwrap()),
    }
}

#[test]
fn every_code_is_found_in_its_world_only() {
    for code in Code::all() {
        let (bad, good) = worlds(code);
        for (world, expected) in [(bad, true), (good, false)] {
            let cluster = world.build();
            let list = ask(&cluster, question(code, &cluster));
            let found = list.items.iter().any(|finding| finding.code == code);
            assert_eq!(
                found,
                expected,
                "{code} {}: {:?}",
                code.facts().name,
                named(&list)
            );
        }
    }
}

#[test]
fn finished_members_flap_if_the_controller_reserves_the_claim_for_the_pod() {
    let group = |world: World, claims: &serde_json::Value| {
        let metadata = json!({"namespace": "n", "name": "g", "uid": "g-uid"});
        world.with(
            Kind::PodGroup,
            &json!({"metadata": metadata, "spec": {"resourceClaims": claims}}),
        )
    };
    let of_group = json!([{"name": "c", "resourceClaimName": "c"}]);
    for (workloads, claims, claims_of_group, flaps) in [
        (true, true, Some(json!([])), true),
        // The group becomes the consumer, and its entry stays.
        (true, true, Some(of_group.clone()), false),
        (true, false, Some(of_group.clone()), false),
        (true, false, Some(json!([])), true),
        // Without the group the controller does nothing for its members.
        (true, true, None, false),
        (false, false, Some(json!([])), false),
    ] {
        let spec = json!({"nodeName": "node-1", "schedulingGroup": {"podGroupName": "g"},
                          "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]});
        let world = gate(world(), Gate::GenericWorkload, workloads);
        let world = gate(world, Gate::DRAWorkloadResourceClaims, claims)
            .claim("c", &json!({}), &holding(&["x"], &["p"]))
            .pod("p", &["c"]);
        let world = pod_from(world, "ended", &spec, &json!({"status": {"phase": "Succeeded"}}));
        let world = match &claims_of_group {
            Some(claims) => group(world, claims),
            None => world,
        };
        let found = ask(&world.build(), Question::Now);
        assert_eq!(
            found
                .items
                .iter()
                .any(|finding| finding.code == Code::ReservationFlapping),
            flaps,
            "{workloads} {claims} {claims_of_group:?}: {:?}",
            named(&found)
        );
    }
}

/// The commands of all codes where every name begins and ends like this.
fn fixes(begin: &str, end: &str) -> BTreeMap<Code, Vec<Finding>> {
    with_names(begin, end, || {
        let mut found: BTreeMap<Code, Vec<Finding>> = BTreeMap::new();
        for code in Code::all() {
            let cluster = worlds(code).0.build();
            for finding in ask(&cluster, question(code, &cluster)).items {
                found.entry(finding.code).or_default().push(finding);
            }
        }
        found
    })
}

fn commands(found: &BTreeMap<Code, Vec<Finding>>) -> BTreeMap<Code, Vec<Script>> {
    found
        .iter()
        .map(|(code, findings)| {
            let scripts = findings.iter().filter_map(|finding| match &finding.fix {
                Some(Fix::Command(script)) => Some(script.clone()),
                _ => None,
            });
            (*code, scripts.collect::<Vec<_>>())
        })
        .filter(|(_, scripts)| !scripts.is_empty())
        .collect()
}

#[test]
fn no_name_gets_out_of_the_command_of_any_code() {
    let plain = commands(&fixes("", ""));
    assert!(plain.len() > 26, "{plain:?}");
    let mut scripts = Vec::new();
    for (number, nasty) in some_of(NASTY, 8).enumerate() {
        // Before, behind, or on both sides of each name.
        for (begin, end) in [[(*nasty, ""), ("", *nasty), (*nasty, *nasty)][number % 3]] {
            let found = fixes(begin, end);
            let commands = commands(&found);
            let shell_only = !nasty.contains(['/', '\n', '=', ':', '*', '.', '-']);
            for (code, script) in commands
                .iter()
                .flat_map(|(code, all)| all.iter().map(move |one| (code, one)))
            {
                for run in script.runs() {
                    assert_own_flags(&run.argv);
                }
                assert!(plain.contains_key(code), "{code}");
                scripts.push(script.clone());
            }
            for (code, findings) in &found {
                // A selector with such a driver no longer compiles.
                for finding in findings {
                    let fix = finding.fix.as_ref().map(ToString::to_string).unwrap_or_default();
                    assert_eq!(
                        matches!(finding.fix, Some(Fix::Command(_))),
                        fix.starts_with("kubectl "),
                        "{code}: {fix}"
                    );
                    assert!(
                        !shell_only || !fix.starts_with("no command: "),
                        "{code} {nasty:?}: {fix}"
                    );
                }
            }
        }
    }
    assert!(scripts.len() > by_effort(200, 1_000, 1_000), "{}", scripts.len());
    assert_exact(&scripts);
}

#[test]
fn a_fix_is_a_command_that_changes_something_or_a_sentence() {
    for code in Code::all() {
        let cluster = worlds(code).0.build();
        for finding in ask(&cluster, question(code, &cluster)).items {
            let json = serde_json::to_value(&finding).unwrap();
            match &finding.fix {
                Some(Fix::Command(script)) => {
                    for run in script.runs() {
                        let words: Vec<&str> = run.argv.iter().map(String::as_str).collect();
                        assert!(!words.contains(&"edit"), "{code}: {script}");
                        // Without a terminal `convert` does not ask.
                        assert!(
                            !words.contains(&"convert") || words.contains(&"--yes"),
                            "{code}: {script}"
                        );
                    }
                    let last = &script.runs().last().unwrap().argv;
                    assert!(
                        !["get", "describe"].contains(&last[1].as_str())
                            && !["check", "describe", "simulate"].contains(&last[2].as_str()),
                        "{code} only looks: {script}"
                    );
                    assert_eq!(json["command"], json["fix"], "{code}");
                }
                Some(Fix::Sentence(sentence)) => {
                    assert!(json.get("command").is_none(), "{code}");
                    // What follows is no fix.
                    assert!(!sentence.as_str().starts_with("the kubelet retries"), "{code}");
                    assert!(
                        json["note"].as_str().unwrap().contains(sentence.as_str()),
                        "{code}: {json}"
                    );
                }
                None => panic!("{code} says nothing: {}", finding.message),
            }
        }
    }
}

/// What `convert` refuses is not advised.
#[test]
fn a_claim_is_converted_only_where_the_plan_of_convert_says_so() {
    let with = |member_node: &str| {
        let world = pod_group(gate(
            gate(world(), Gate::GenericWorkload, true),
            Gate::DRAWorkloadResourceClaims,
            true,
        ));
        let world = world.claim("c", &json!({}), &reserved(&json!([group_entry()])));
        member(member(world, "p", "node-1"), "q", member_node)
    };
    for (node, converts) in [("node-1", true), ("", false)] {
        let cluster = with(node).build();
        let target = Target::new(cluster.environment(), Some(36), [], []).unwrap();
        let list = ask(&cluster, Question::Downgrade(target));
        let finding = list
            .items
            .iter()
            .find(|finding| finding.code == Code::GroupReservation)
            .unwrap();
        let fix = finding.fix.as_ref().unwrap().to_string();
        if converts {
            assert_eq!(fix, "kubectl dra convert claim/n/c --yes");
        } else {
            assert_eq!(
                fix,
                "`convert` leaves the claim alone (members of PodGroup g are not scheduled yet: pod q); to resolve: wait until they are scheduled \
                 (--wait), delete them, or turn the gate off first"
            );
        }
    }
}

#[test]
fn templates_and_claims_are_recreated_and_their_owners_named() {
    let fixes = |world: World| -> Vec<String> {
        let list = ask(&world.build(), Question::Now);
        let told = list.items.iter().filter(|finding| {
            [Code::TolerationSeconds, Code::SelectorInvalid, Code::ClassMissing].contains(&finding.code)
        });
        told.map(|finding| finding.fix.as_ref().unwrap().to_string())
            .collect()
    };
    let overflowing = || toleration(9_223_372_037);
    let operations = |path: &str| {
        format!(
            r#"'[{{"op":"test","path":"{path}/devices/requests/0/name","value":"r"}},{{"op":"test","path":"{path}/devices/requests/0/exactly/tolerations/0/tolerationSeconds","value":9223372037}},{{"op":"remove","path":"{path}/devices/requests/0/exactly/tolerations/0/tolerationSeconds"}}]' --dry-run=client -o yaml | kubectl replace --force -f -"#
        )
    };
    assert_eq!(
        fixes(template(world().class("d"), &overflowing())),
        [format!(
            "kubectl patch resourceclaimtemplate/t --namespace=n --type=json -p {}",
            operations("/spec/spec")
        )]
    );
    // An operator that makes a template would put it back.
    let made = world().class("d").with(
        Kind::ResourceClaimTemplate,
        &json!({"metadata": {"namespace": "n", "name": "t", "uid": "t-uid",
                "ownerReferences": owner("example.com/v1", "Domain", "racks")["ownerReferences"]},
            "spec": {"spec": overflowing()}}),
    );
    assert_eq!(
        fixes(made),
        [
            "domain/n/racks creates template/n/t: change its requests there; without tolerationSeconds the taint is tolerated forever"
        ]
    );
    // A claim with devices keeps its requests.
    let held = world()
        .class("d")
        .claim("c", &overflowing(), &holding(&["x"], &["p"]))
        .pod("p", &["c"]);
    assert_eq!(
        fixes(held),
        [
            "claim/n/c is allocated and keeps its devices: delete its pods, and change claim/n/c before they start again; \
             without tolerationSeconds the taint is tolerated forever"
        ]
    );
    // The claim of a pod is no object to change: its template is.
    let spec = json!({"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]});
    let status = json!({"status": {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "p-c-x"}]}});
    let broken = request(&selector("device.nothing"));
    let of_pod = pod_from(template(world().class("d"), &broken), "p", &spec, &status);
    let metadata = json!({"name": "p-c-x", "ownerReferences": owner("v1", "Pod", "p")["ownerReferences"]});
    let told = fixes(claim_with(of_pod, &metadata, &broken, &json!({})));
    let expected =
        "recreate template/n/t with a selector that works: specs of claims and templates are immutable";
    assert_eq!(told, [expected, expected]);
}

#[test]
fn a_claim_that_a_quota_refuses_is_refused_in_every_report() {
    for (used, refused) in [("2", false), ("3", true)] {
        let mut cluster = quota(used)
            .with(
                Kind::Node,
                &json!({"metadata": {"name": "node-1"}, "status": {"allocatable": {"pods": "9"}}}),
            )
            .slice("node-1", &json!([{"name": "x"}, {"name": "y"}]))
            .build();
        let found = codes_of(&cluster);
        assert_eq!(found.contains(&"DRA026 pod/n/p".to_owned()), refused, "{found:?}");
        let budget = Budget::new(1_000);
        let settings = Settings::of_test(&budget);
        let pod = Arc::clone(cluster.pods().next().unwrap());
        let template = cluster.templates().next().unwrap();
        let claim = Arc::new(Claim {
            metadata: Meta {
                namespace: "n".into(),
                name: "c".into(),
                ..Meta::default()
            },
            spec: template.spec.spec.clone(),
            ..Claim::default()
        });
        let there = Explanation::from(explain_pod(&cluster, &pod, &settings));
        let is_to_be_made = there
            .notes
            .iter()
            .any(|note| note.contains("will create the claim from its template"));
        assert_eq!(is_to_be_made, !refused, "{:?}", there.notes);
        let reports = [
            ("the claim from template/n/t", true, there),
            (
                "claim/n/c",
                false,
                explain_claims(&cluster, &[claim], &settings).into(),
            ),
            (
                "the claim from template/n/t",
                false,
                explain_new_pods(&mut cluster, &[pod], &settings)
                    .expect("there is a pod")
                    .into(),
            ),
        ];
        for (claim, waits, report) in reports {
            let reason = report
                .reasons
                .iter()
                .find(|reason| reason.code() == "QuotaExceeded");
            let expected = refused.then(|| {
                format!(
                    "{claim} cannot be created: it requests 2 d.deviceclass.resource.k8s.io/devices, but \
                    quota/n/q has 3 of 4 in use"
                )
            });
            assert_eq!(reason.map(|reason| reason.message().to_string()), expected);
            assert_eq!(report.fixes.iter().any(|fix| fix.kind == "RaiseQuota"), refused);
            let verdict = if refused || waits {
                ClusterVerdict::Waits
            } else {
                ClusterVerdict::Fits
            };
            assert_eq!(report.verdict, verdict, "{}", report.summary);
        }
    }
}

#[test]
fn only_selected_codes_are_checked() {
    for code in Code::all() {
        let cluster = worlds(code).0.build();
        let question = question(code, &cluster);
        let others = Code::all().filter(|other| *other != code && other.facts().topic == question.topic());
        let request = CheckRequest {
            codes: others.collect(),
            question,
            selection: Selection::default(),
            now: now(),
            idle: IDLE,
            in_part: false,
        };
        let list = check(&cluster, &request);
        assert!(list.items.iter().all(|finding| finding.code != code), "{code}");
    }
}

#[test]
fn gangs_need_a_gate_that_only_older_releases_know() {
    let group = |policy: &serde_json::Value| {
        let metadata = json!({"namespace": "n", "name": "g", "uid": "g-uid"});
        world()
            .with(
                Kind::PodGroup,
                &json!({"metadata": metadata, "spec": {"schedulingPolicy": policy}}),
            )
            .build()
    };
    let gang = json!({"gang": {"minCount": 2}});
    let (generic, gangs) = ((Gate::GenericWorkload, true), (Gate::GangScheduling, true));
    for (policy, gates, expected) in [
        (&gang, vec![generic], true),
        (&gang, vec![generic, gangs], false),
        (&gang, vec![], false),
        (&json!({}), vec![generic], false),
    ] {
        let cluster = group(policy);
        let target = Target::new(cluster.environment(), Some(36), [], gates.clone()).unwrap();
        let list = ask(&cluster, Question::Downgrade(target));
        let found = named(&list).contains(&"DRA122 featuregate/GangScheduling".to_owned());
        assert_eq!(found, expected, "{policy} {gates:?}: {:?}", named(&list));
    }
}

fn only(code: Code, world: World) -> FindingList {
    let codes = BTreeSet::from([code]);
    check(
        &world.build(),
        &CheckRequest {
            codes,
            ..CheckRequest::now(now())
        },
    )
}

#[test]
fn joining_findings_stay_possible_until_their_objects_were_read_again() {
    let code = Code::ReservationGone;
    let gone = || only(code, worlds(code).0);
    let before = gone();
    assert_eq!(before.items[0].certainty, Certainty::Possible);
    let objects = evidence(&before.items);
    let named: Vec<String> = objects
        .iter()
        .map(|(kind, key)| format!("{kind} {key}"))
        .collect();
    assert_eq!(named, ["ResourceClaim n/c", "Pod n/p"]);

    let sure = confirmed(gone(), &before, &BTreeSet::new());
    assert_eq!(sure.items[0].certainty, Certainty::Confirmed);
    let unread = BTreeSet::from([(Kind::Pod, Key::new("n", "p"))]);
    let unsure = confirmed(gone(), &before, &unread);
    assert_eq!(unsure.items[0].certainty, Certainty::Possible);
    // The pod was only missing from a list that was taken too early.
    let there = only(code, worlds(code).1);
    assert!(confirmed(there, &before, &BTreeSet::new()).items.is_empty());
}

#[test]
fn a_claim_with_a_foreign_finalizer_is_reported_once_it_holds_nothing() {
    let own = "resource.kubernetes.io/delete-protection";
    let foreign = "gpu.example.com/cleanup";
    let told = |at: &str, finalizers: &[&str]| {
        let metadata = json!({"deletionTimestamp": at, "finalizers": finalizers});
        let list = only(
            Code::DeletionStuck,
            claim_with(world(), &metadata, &json!({}), &json!({})),
        );
        let items = list.items.into_iter();
        items
            .map(|item| {
                let fix = match item.fix {
                    Some(Fix::Command(script)) => script.to_string(),
                    other => format!("{other:?}"),
                };
                format!("{}: {fix}", item.message)
            })
            .collect::<Vec<_>>()
    };
    let late = "2026-11-21T11:00:00Z";
    let [only] = &told(late, &[foreign])[..] else {
        panic!("not found")
    };
    assert!(
        only.starts_with("is being deleted and holds no devices, but keeps the finalizer gpu.example.com/cleanup: kubectl patch"),
        "{only}"
    );
    assert!(
        only.contains(r#"{"op":"test","path":"/metadata/finalizers","value":["gpu.example.com/cleanup"]}"#),
        "{only}"
    );
    assert_eq!(told("2026-11-21T11:59:30Z", &[foreign]), [""; 0]);
    // What Kubernetes set it takes off itself, and the claim controller's is told as such.
    assert_eq!(told(late, &["foregroundDeletion"]), [""; 0]);
    let both = told(late, &[own, foreign]);
    assert!(
        both.len() == 1 && both[0].contains("the claim controller has not removed its finalizer"),
        "{both:?}"
    );
}

#[test]
fn one_kind_alone_is_sure() {
    let code = Code::DeviceAllocatedTwice;
    let list = only(code, worlds(code).0);
    assert_eq!(list.items[0].certainty, Certainty::Confirmed);
    assert!(evidence(&list.items).is_empty());
}

#[test]
fn kinds_that_could_not_be_read_are_reported_and_cause_no_finding() {
    for kind in Kind::all() {
        for code in Code::all().filter(|code| code.facts().topic == Topic::Now) {
            let (_, good) = worlds(code);
            let cluster = good.without(kind).build();
            let list = ask(&cluster, Question::Now);
            assert!(
                list.items.iter().all(|finding| finding.code != code),
                "{code} without {kind}: {:?}",
                named(&list)
            );
            let needed = Code::all().any(|code| {
                let facts = code.facts();
                facts.topic == Topic::Now && facts.needs.contains(&kind)
            });
            assert_eq!(!list.unknown.is_empty(), needed, "{kind}");
        }
    }
}

#[test]
fn claims_are_still_pending_for_a_driver_without_slices() {
    let of_driver = |driver: &str| {
        let selectors = json!([{"cel": {"expression": format!("device.driver == '{driver}' && true")}}]);
        world()
            .class_with("d", &selectors)
            .claim("c", &request(&json!({})), &json!({}))
            .build()
    };
    let question = || question(Code::DriverWanted, &of_driver("d"));
    assert_eq!(
        named(&ask(&of_driver("d"), question())),
        ["DRA061 resourceclaim/n/c"]
    );
    assert_eq!(named(&ask(&of_driver("e"), question())), [""; 0]);
}

#[test]
fn devices_of_half_a_pool_are_not_allocated() {
    let with = |count: u32| {
        let pool = json!({"name": "node-1", "generation": 1, "resourceSliceCount": count});
        let slice = json!({"driver": "d", "nodeName": "node-1", "pool": pool, "devices": [{"name": "x"}]});
        world().slice_with("node-1", &slice).build()
    };
    let question = || question(Code::DriverPublished, &with(1));
    assert_eq!(named(&ask(&with(1), question())), ["DRA062 driver/d"]);
    assert_eq!(named(&ask(&with(2), question())), [""; 0]);
}

#[test]
fn missing_pods_prove_nothing_where_pods_are_hidden() {
    // The objects of the hidden kind are really missing here, as after a refused list.
    let world = device(&json!({}))
        .claim("c", &json!({}), &holding(&["x"], &["p"]))
        .node("node-1", &json!({}))
        .without(Kind::Pod);
    let world = claim_with(
        world,
        &json!({"name": "o", "ownerReferences": owner("v1", "Pod", "p")["ownerReferences"]}),
        &json!({}),
        &json!({}),
    );
    let list = ask(&world.build(), Question::Now);
    assert!(list.items.is_empty(), "{:?}", named(&list));
}

#[test]
fn a_pool_without_devices_may_have_them_in_use_where_claims_are_hidden() {
    let empty = || {
        World::default()
            .node("node-1", &json!({}))
            .slice("node-1", &json!([]))
    };
    let used = || empty().claim("c", &json!({}), &holding(&["x"], &[]));
    let is_found = |world: World| {
        let found = codes_of(&world.build());
        found.iter().any(|finding| finding == "DRA036 pool/d/node-1")
    };
    assert!(is_found(empty()));
    assert!(!is_found(used()));
    let list = ask(&empty().without(Kind::ResourceClaim).build(), Question::Now);
    assert!(!named(&list).contains(&"DRA036 pool/d/node-1".to_owned()));
    assert!(list.checked.incomplete.contains(&Code::PoolWithoutDevices));
}

#[test]
fn a_gap_of_another_namespace_is_none_of_this_one() {
    let hidden = |environment: &mut Environment| {
        environment.gaps.push(Gap {
            kind: Kind::Pod,
            namespace: "other".into(),
            except: Str::default(),
            is_forbidden: false,
            reason: "forbidden".to_owned(),
        });
    };
    let cluster = world().knowing(hidden).build();
    let mut request = CheckRequest {
        question: Question::Now,
        codes: BTreeSet::from([Code::ReservationGone]),
        selection: Selection {
            namespace: Some("n".into()),
            ..Selection::default()
        },
        now: now(),
        idle: IDLE,
        in_part: false,
    };
    assert!(check(&cluster, &request).unknown.is_empty());
    request.codes = BTreeSet::from([Code::ReservationGone, Code::DeviceUnhealthy]);
    assert!(check(&cluster, &request).unknown.is_empty());
    request.selection.namespace = None;
    assert_eq!(
        check(&cluster, &request).unknown,
        ["DRA005 and DRA010 were not fully checked: pods in namespace/other could not be read: forbidden"]
    );
}

#[test]
fn severities_depend_on_the_release() {
    let severity = |world: World, code: Code| {
        let list = ask(&world.build(), Question::Now);
        list.items
            .iter()
            .find(|finding| finding.code == code)
            .map(|finding| finding.severity)
    };
    let foreign = || worlds(Code::ReservationForeign).0;
    assert_eq!(
        severity(foreign(), Code::ReservationForeign),
        Some(Severity::Warning)
    );
    assert_eq!(
        severity(at(foreign(), 35), Code::ReservationForeign),
        Some(Severity::Error)
    );
    let no_selector = || rule(&json!(null), "NoExecute");
    assert_eq!(
        severity(no_selector(), Code::RuleWithoutSelector),
        Some(Severity::Info)
    );
    let older = gate(at(no_selector(), 36), Gate::DRADeviceTaintRules, true);
    assert_eq!(severity(older, Code::RuleWithoutSelector), Some(Severity::Error));
    let full = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("p{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        world().claim("c", &json!({}), &holding(&["x"], &names))
    };
    assert_eq!(severity(full(256), Code::ReservationLimit), Some(Severity::Error));
}

fn downgrade(world: World, to: Option<u32>, disabled: &[Gate], gates: &[(Gate, bool)]) -> Vec<String> {
    let cluster = world.build();
    let target = Target::new(
        cluster.environment(),
        to,
        disabled.iter().copied(),
        gates.iter().copied(),
    );
    ask(&cluster, Question::Downgrade(target.unwrap()))
        .items
        .iter()
        .filter(|finding| !matches!(finding.code, Code::SkippedVersion | Code::FeatureGates))
        .map(|finding| format!("{} {}", finding.severity, finding.name))
        .collect()
}

#[test]
fn a_gate_that_is_turned_off_breaks_what_depends_on_it_and_nothing_else() {
    let rule = || rule(&json!({"driver": "d"}), "NoExecute");
    assert_eq!(
        downgrade(rule(), None, &[Gate::DRADeviceTaintRules], &[]),
        ["Error taint-rules"]
    );
    // A gate takes those with it that need it.
    assert_eq!(
        downgrade(rule(), None, &[Gate::DRADeviceTaints], &[]),
        ["Error taint-rules"]
    );
    assert!(downgrade(rule(), None, &[Gate::DRAPartitionableDevices], &[]).is_empty());
    let partitions = || worlds(Code::Partitions).0;
    assert_eq!(
        downgrade(partitions(), None, &[Gate::DRAPartitionableDevices], &[]),
        ["Warning partitions"]
    );
    let member = || pod_group(member(world(), "p", ""));
    assert!(downgrade(member(), None, &[Gate::DRAWorkloadResourceClaims], &[]).is_empty());
    assert_eq!(
        downgrade(member(), None, &[Gate::GenericWorkload], &[]),
        ["Warning pending-member", "Warning podgroup-objects"]
    );
}

#[test]
fn gates_that_the_target_is_started_with_keep_features() {
    let rule = || rule(&json!({"driver": "d"}), "NoSchedule");
    let on = [(Gate::DRADeviceTaintRules, true)];
    assert_eq!(downgrade(rule(), Some(36), &[], &[]), ["Error taint-rules"]);
    assert!(downgrade(rule(), Some(36), &[], &on).is_empty());
    // There the rule's stored form is not understood.
    assert_eq!(
        downgrade(rule(), Some(35), &[], &on),
        ["Error taint-rules-storage"]
    );
    assert_eq!(
        downgrade(
            pod_group(world()),
            Some(36),
            &[],
            &[(Gate::GenericWorkload, true)]
        ),
        ["Error podgroup-objects"]
    );
    // In 1.34 rules belong to the taints.
    let names = downgrade(rule(), Some(34), &[], &[(Gate::DRADeviceTaints, true)]);
    assert_eq!(names, ["Error taint-rules-storage"]);
}

#[test]
fn only_older_releases_are_targets() {
    let environment = Environment::default();
    let target = |to| Target::new(&environment, Some(to), [], []).map(|target| target.version());
    assert_eq!(target(36), Ok("1.36".to_owned()));
    assert_eq!(
        target(37),
        Err(TargetError::NotOlder {
            minor: 37,
            server: 37
        })
    );
    assert_eq!(
        target(33),
        Err(TargetError::TooOld {
            minor: 33,
            oldest: 34
        })
    );
}

#[test]
fn only_gates_that_were_named_keep_a_component_from_starting() {
    let found = |enabled: bool, evidence: Evidence, gate: Gate| {
        let cluster = world()
            .knowing(|environment| {
                let state = GateState { enabled, evidence };
                environment.gates.push((Component::ApiServer, gate, state));
            })
            .build();
        let target = Target::new(cluster.environment(), Some(34), [], []).unwrap();
        let list = ask(&cluster, Question::Downgrade(target));
        assert!(list.unknown.is_empty(), "{:?}", list.unknown);
        list.items
            .iter()
            .any(|finding| finding.code == Code::FeatureGates)
    };
    let arguments = || Evidence::Arguments("pod".to_owned());
    // On by default in 1.37, unknown to 1.34.
    let rules = Gate::DRADeviceTaintRules;
    assert!(!found(true, Evidence::Metrics, rules));
    assert!(found(false, Evidence::Metrics, rules));
    assert!(found(true, arguments(), rules));
    // Off by default.
    let derived = Gate::DRADerivedAttributes;
    assert!(found(true, Evidence::Metrics, derived));
    assert!(!found(false, Evidence::Metrics, derived));
    assert!(found(false, arguments(), derived));
    // On or off by what the arguments say of others, or by default.
    let implied = || Evidence::Implied("pod".to_owned());
    assert!(!found(false, implied(), derived));
    assert!(!found(true, implied(), rules));
    assert!(!found(true, implied(), derived));
    // Known to both.
    assert!(!found(true, arguments(), Gate::DRADeviceTaints));
}

/// Where PodGroups are not served none can be deleted, and where the gate is off it cannot be turned off first.
#[test]
fn what_groups_left_behind_is_removed_with_what_the_release_supports() {
    let entries = |pods: &[&str]| {
        let pod = |name: &&str| json!({"resource": "pods", "name": name, "uid": format!("{name}-uid")});
        json!(
            std::iter::once(group_entry())
                .chain(pods.iter().map(pod))
                .collect::<Vec<_>>()
        )
    };
    let claim = |pods: &[&str]| world().claim("c", &json!({}), &reserved(&entries(pods)));
    let deleting = |pods: &[&str]| {
        let metadata = json!({"deletionTimestamp": "2026-11-20T00:00:00Z", "finalizers": ["resource.kubernetes.io/delete-protection"]});
        claim_with(world(), &metadata, &json!({}), &reserved(&entries(pods)))
    };
    let convert = "convert claim/n/c --yes";
    let release = r#""path":"/status/allocation"}"#;
    let cases: [(&str, &dyn Fn() -> World, &str, &str); 7] = [
        ("no pod", &|| claim(&[]), "no pod uses it", release),
        (
            "no pod of a claim that goes",
            &|| deleting(&[]),
            "its deletion never finishes",
            release,
        ),
        (
            "a pod",
            &|| member(claim(&[]), "p", "node-1"),
            "pod/n/p has no entry of its own",
            convert,
        ),
        (
            "a pod with an entry",
            &|| member(claim(&["p"]), "p", "node-1"),
            "through its own entry",
            convert,
        ),
        (
            "an entry of a pod that is gone",
            &|| claim(&["gone"]),
            "no pod uses it",
            "release the devices: --release-unused --entry",
        ),
        (
            "a member without a node",
            &|| member(member(claim(&[]), "p", "node-1"), "q", ""),
            "uses it",
            convert,
        ),
        (
            "pods of a claim that goes",
            &|| member(deleting(&[]), "p", "node-1"),
            "its deletion never finishes",
            "wait for its pods to finish",
        ),
    ];
    for (name, world, message, fix) in cases {
        let served = pod_group(gate(world(), Gate::GenericWorkload, true));
        let gate_off = gate(served, Gate::DRAWorkloadResourceClaims, false);
        let not_served = at(world(), 36).knowing(|environment| environment.not_served.push(Kind::PodGroup));
        for (world, why) in [
            (gate_off, "is off in kube-controller-manager"),
            (not_served, "PodGroups are not served"),
        ] {
            let found = ask(&world.build(), Question::Now);
            let finding = found
                .items
                .iter()
                .find(|finding| finding.code == Code::LeftoverGroupReservation);
            let finding = finding.unwrap_or_else(|| panic!("{name}: {:?}", named(&found)));
            let text = finding.message.to_string();
            assert!(text.contains(why) && text.contains(message), "{name}: {text}");
            let said = serde_json::to_string(finding).unwrap().replace("\\\"", "\"");
            assert!(said.contains(fix), "{name}, {why}: {said}");
            for wrong in [
                "delete the PodGroup",
                "gate is on",
                "gates are on",
                "turn the gate off",
            ] {
                assert!(!said.contains(wrong), "{name}, {why}: {said}");
            }
        }
    }
}

#[test]
fn composite_groups_are_found_though_no_older_release_knows_them() {
    let composite = || {
        world().with(
            Kind::CompositePodGroup,
            &json!({"metadata": {"namespace": "n", "name": "racks", "uid": "racks-uid"}}),
        )
    };
    let cluster = composite().build();
    let target = Target::new(cluster.environment(), Some(36), [], []).unwrap();
    let list = ask(&cluster, Question::Downgrade(target));
    assert_eq!(named(&list), ["DRA109 compositepodgroup/n/racks"]);
    let finding = &list.items[0];
    assert_eq!((finding.severity, finding.order), (Severity::Warning, Some(5)));
    assert!(
        finding
            .message
            .to_string()
            .starts_with("has a kind that 1.36 does not know"),
        "{}",
        finding.message
    );
    assert_eq!(
        downgrade(composite(), None, &[Gate::GenericWorkload], &[]),
        ["Warning podgroup-objects"]
    );
    let hidden = composite().without(Kind::CompositePodGroup).build();
    let target = Target::new(hidden.environment(), Some(36), [], []).unwrap();
    let unknown = ask(&hidden, Question::Downgrade(target)).unknown;
    assert!(unknown.iter().any(|text| text.contains("DRA109")), "{unknown:?}");
}
