//! Permissions by random roles and bindings on a real API server: our verdict equals its SubjectAccessReview.
//!
//! `KUBECTL_DRA_RBAC_SETS` says how many sets of roles are tried (`make rbac` has 10,000), `KUBECTL_DRA_FUZZ_SEED` which ones.

use std::sync::atomic::{AtomicUsize, Ordering};

use dra_model::{ClusterBuilder, Environment, Kind, Object};
use dra_rules::access::{Access, Answer, Request, User};
use http::Method;
use serde_json::{Value, json};

use crate::support::cluster::objects::{Manifest, claim, claim_spec, gpu, namespace, pod};
use crate::support::cluster::{Cluster, Component, Options};
use crate::support::wait::wait_for;
use dra_testing::effort::by_effort;
/// Sets that exist at the same time.
const TOGETHER: usize = 1_000;
const NAMESPACES: usize = 12;
const THREADS: usize = 12;

const API: &str = "rbac.authorization.k8s.io";
const VERBS: &[&str] = &[
    "get",
    "update",
    "patch",
    "create",
    "associated-node:update",
    "arbitrary-node:update",
    "*",
];
const GROUPS: &[&str] = &["", "resource.k8s.io", "x.example", "*"];
const RESOURCES: &[&str] = &[
    "resourceclaims",
    "resourceclaims/status",
    "resourceclaims/binding",
    "resourceclaims/driver",
    "resourceclaims/*",
    "namespaces",
    "*/status",
    "*/*",
    "*",
];
const NAMES: &[&str] = &["gpu.example.com", "a", "*"];

/// Numbers of a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("a small number")
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn some<'a>(&mut self, of: &[&'a str], most: usize) -> Vec<&'a str> {
        (0..=self.below(most)).map(|_| self.one(of)).collect()
    }

    fn in_hundred(&mut self, cases: usize) -> bool {
        self.below(100) < cases
    }
}

/// Objects of a set, and its questions.
struct Set {
    roles: Vec<(String, Value)>,
    bindings: Vec<(String, Value)>,
    questions: Vec<(User, [String; 6])>,
}

fn collection(plural: &str, namespace: &str) -> String {
    if namespace.is_empty() {
        format!("/apis/{API}/v1/{plural}")
    } else {
        format!("/apis/{API}/v1/namespaces/{namespace}/{plural}")
    }
}

fn rule(random: &mut Random) -> Value {
    let mut rule = json!({
        "verbs": random.some(VERBS, 2),
        "apiGroups": random.some(GROUPS, 2),
        "resources": random.some(RESOURCES, 3),
    });
    if random.in_hundred(30) {
        rule["resourceNames"] = json!(random.some(NAMES, 2));
    }
    rule
}

fn role(random: &mut Random, namespace: &str, name: &str) -> (String, Value) {
    let (kind, plural) = if namespace.is_empty() {
        ("ClusterRole", "clusterroles")
    } else {
        ("Role", "roles")
    };
    let rules: Vec<Value> = (0..=random.below(2)).map(|_| rule(random)).collect();
    let role = json!({"apiVersion": format!("{API}/v1"), "kind": kind,
        "metadata": {"name": name, "namespace": namespace}, "rules": rules});
    (collection(plural, namespace), role)
}

fn set(random: &mut Random, number: usize) -> Set {
    let home = format!("rbac-{}", random.below(NAMESPACES));
    let other = format!("rbac-{}", random.below(NAMESPACES));
    let (local, wide) = (format!("local-{number}"), format!("wide-{number}"));
    let roles = vec![role(random, &home, &local), role(random, "", &wide)];
    let mut bindings = Vec::new();
    for index in 0..=random.below(2) {
        // A binding for the whole cluster would otherwise let every user do everything soon.
        let is_wide = random.in_hundred(40);
        let place = if is_wide {
            ""
        } else if random.in_hundred(70) {
            home.as_str()
        } else {
            other.as_str()
        };
        let subjects: Vec<Value> = (0..=random.below(1))
            .map(|_| subject(random, number, &home, is_wide))
            .collect();
        // Some roles are not there, or are those of another namespace.
        let reference = if !is_wide && random.in_hundred(50) {
            json!({"apiGroup": API, "kind": "Role", "name": local})
        } else if random.in_hundred(95) {
            json!({"apiGroup": API, "kind": "ClusterRole", "name": wide})
        } else {
            json!({"apiGroup": API, "kind": "ClusterRole", "name": format!("nowhere-{number}")})
        };
        let (kind, plural) = if is_wide {
            ("ClusterRoleBinding", "clusterrolebindings")
        } else {
            ("RoleBinding", "rolebindings")
        };
        let binding = json!({"apiVersion": format!("{API}/v1"), "kind": kind,
            "metadata": {"name": format!("b-{number}-{index}"), "namespace": place}, "roleRef": reference, "subjects": subjects});
        bindings.push((collection(plural, place), binding));
    }
    let rules: Vec<&Value> = roles
        .iter()
        .flat_map(|(_, role)| role["rules"].as_array().expect("rules"))
        .collect();
    let questions = (0..4)
        .map(|_| {
            let rule = rules[random.below(rules.len())];
            question(random, number, [&home, &other], rule)
        })
        .collect();
    Set {
        roles,
        bindings,
        questions,
    }
}

fn subject(random: &mut Random, number: usize, home: &str, is_wide: bool) -> Value {
    match random.below(if is_wide { 5 } else { 9 }) {
        0 => json!({"kind": "User", "apiGroup": API, "name": format!("user-{number}")}),
        1 => json!({"kind": "Group", "apiGroup": API, "name": format!("group-{number}")}),
        2 => json!({"kind": "ServiceAccount", "namespace": home, "name": format!("sa-{number}")}),
        3 => {
            json!({"kind": "User", "apiGroup": API, "name": format!("system:serviceaccount:{home}:sa-{number}")})
        }
        4 => json!({"kind": "ServiceAccount", "namespace": "elsewhere", "name": format!("sa-{number}")}),
        5 => json!({"kind": "ServiceAccount", "name": format!("sa-{number}")}),
        6 => json!({"kind": "Group", "apiGroup": API, "name": format!("system:serviceaccounts:{home}")}),
        7 if random.in_hundred(20) => {
            json!({"kind": "Group", "apiGroup": API, "name": "system:serviceaccounts"})
        }
        8 if random.in_hundred(20) => {
            json!({"kind": "Group", "apiGroup": API, "name": "system:authenticated"})
        }
        _ => json!({"kind": "Group", "apiGroup": API, "name": "system:nodes"}),
    }
}

/// A word of a list of `rule`, or any of `all`.
fn word<'a>(random: &mut Random, rule: &'a Value, list: &str, all: &[&'a str]) -> &'a str {
    match rule[list].as_array() {
        Some(words) if random.in_hundred(85) => {
            let word = words[random.below(words.len())].as_str().expect("a text");
            // What is asked for is a thing and no pattern, mostly.
            if word.contains('*') && random.in_hundred(80) {
                random.one(all)
            } else {
                word
            }
        }
        _ => random.one(all),
    }
}

/// Returns who asks for what: verb, group, resource, subresource, namespace and name. Mostly it is what a rule allows a user.
fn question(
    random: &mut Random,
    number: usize,
    [home, other]: [&str; 2],
    rule: &Value,
) -> (User, [String; 6]) {
    let user = match random.below(5) {
        0 | 1 => User::service_account(home, &format!("sa-{number}")),
        2 => User::service_account(other, &format!("sa-{number}")),
        3 => User {
            name: format!("user-{number}"),
            groups: vec!["system:authenticated".to_owned()],
        },
        _ => User {
            name: format!("somebody-{number}"),
            groups: vec![
                format!("group-{number}"),
                random
                    .one(&["system:nodes", "system:authenticated", "system:unauthenticated"])
                    .to_owned(),
            ],
        },
    };
    let target = word(random, rule, "resources", RESOURCES);
    let (resource, subresource) = target.split_once('/').unwrap_or((target, ""));
    let place = match random.below(4) {
        0 => "",
        1 => other,
        _ => home,
    };
    let name = if rule["resourceNames"].is_array() || random.in_hundred(50) {
        word(random, rule, "resourceNames", NAMES)
    } else {
        ""
    };
    let verb = word(random, rule, "verbs", VERBS);
    let group = word(random, rule, "apiGroups", GROUPS);
    let words = [verb, group, resource, subresource, place, name];
    (user, words.map(str::to_owned))
}

/// Does `work` for each item, on several threads.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

fn review(
    cluster: &Cluster,
    user: &User,
    [verb, group, resource, subresource, namespace, name]: &[String; 6],
) -> bool {
    let attributes = json!({"verb": verb, "group": group, "resource": resource, "subresource": subresource,
        "namespace": namespace, "name": name});
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": user.name, "groups": user.groups, "resourceAttributes": attributes}});
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let response = cluster.request(&Method::POST, path, &review);
    assert_eq!(response.status, 201, "{}", response.body);
    response.body["status"]["allowed"] == true
}

/// All roles and bindings of the API server.
fn known(cluster: &Cluster) -> dra_model::Cluster {
    let mut builder = ClusterBuilder::default();
    for kind in Kind::OF_RIGHTS {
        let list = cluster.request(&Method::GET, &collection(kind.plural(), ""), &Value::Null);
        for item in list.body["items"].as_array().expect("a list") {
            let object = Object::from_json(kind, item.to_string().as_bytes()).expect("an object of RBAC");
            builder.add(object);
        }
    }
    builder.build(Environment::default()).0
}

fn create(cluster: &Cluster, (path, object): &(String, Value)) {
    let response = cluster.request(&Method::POST, path, object);
    assert_eq!(response.status, 201, "{object}: {}", response.body);
}

/// Waits until the authorizer has seen all that was created before: it sees each kind in order.
fn catch_up(cluster: &Cluster, batch: usize) {
    let verb = format!("mark-{batch}");
    let rules = json!([{"verbs": [verb], "apiGroups": ["x.example"], "resources": ["marks"]}]);
    for (place, kinds) in [
        (
            "",
            [
                ("ClusterRole", "clusterroles"),
                ("ClusterRoleBinding", "clusterrolebindings"),
            ],
        ),
        ("rbac-0", [("Role", "roles"), ("RoleBinding", "rolebindings")]),
    ] {
        let metadata = json!({"name": verb, "namespace": place});
        let user = format!("marker{place}");
        let role = json!({"apiVersion": format!("{API}/v1"), "kind": kinds[0].0, "metadata": metadata, "rules": rules});
        let binding = json!({"apiVersion": format!("{API}/v1"), "kind": kinds[1].0, "metadata": metadata,
            "roleRef": {"apiGroup": API, "kind": kinds[0].0, "name": verb},
            "subjects": [{"apiGroup": API, "kind": "User", "name": user}]});
        create(cluster, &(collection(kinds[0].1, place), role));
        create(cluster, &(collection(kinds[1].1, place), binding));
        let user = User {
            name: user,
            groups: Vec::new(),
        };
        let words = [verb.as_str(), "x.example", "marks", "", place, ""].map(str::to_owned);
        wait_for("the authorizer to see what was created", || {
            review(cluster, &user, &words).then_some(())
        });
    }
}

/// A ClusterRole whose rules the controller puts together of others, with somebody who has it.
fn aggregated(cluster: &Cluster) {
    let label = json!({"rbac.test/aggregate": "yes"});
    let rules = json!([{"verbs": ["get"], "apiGroups": ["x.example"], "resources": ["parts"]}]);
    let part = json!({"apiVersion": format!("{API}/v1"), "kind": "ClusterRole", "metadata": {"name": "part", "labels": label}, "rules": rules});
    let whole = json!({"apiVersion": format!("{API}/v1"), "kind": "ClusterRole", "metadata": {"name": "whole"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]}, "rules": []});
    let binding = json!({"apiVersion": format!("{API}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": "whole"},
        "roleRef": {"apiGroup": API, "kind": "ClusterRole", "name": "whole"},
        "subjects": [{"apiGroup": API, "kind": "User", "name": "aggregator"}]});
    for object in [part, whole] {
        create(cluster, &(collection("clusterroles", ""), object));
    }
    create(cluster, &(collection("clusterrolebindings", ""), binding));
    let user = User {
        name: "aggregator".to_owned(),
        groups: Vec::new(),
    };
    let words = ["get", "x.example", "parts", "", "", ""].map(str::to_owned);
    wait_for("the rules of the aggregated role", || {
        review(cluster, &user, &words).then_some(())
    });
    let roles = known(cluster);
    let request = Request {
        verb: "get",
        group: "x.example",
        resource: "parts",
        ..Request::default()
    };
    assert_eq!(Access::of(&roles).allows(&user, &request), Answer::Yes);
}

#[test]
#[expect(clippy::print_stdout, reason = "the seed repeats a run")]
fn random_roles_allow_what_the_api_server_says() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().expect("a number"))
    };
    let sets = number("KUBECTL_DRA_RBAC_SETS").map_or_else(
        || by_effort(60, 300, 10_000),
        |sets| usize::try_from(sets).expect("a small number"),
    );
    let seed = number("KUBECTL_DRA_FUZZ_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.expect("a time after 1970").as_secs()
    });
    println!("{sets} sets of seed {seed}");
    let cluster = Cluster::start(&Options::default().without(Component::Scheduler));
    for number in 0..NAMESPACES {
        cluster.create(&namespace(&format!("rbac-{number}")));
    }
    aggregated(&cluster);
    let mut random = Random(seed);
    let (mut asked, mut allowed) = (0, 0);
    for (batch, first) in (0..sets).step_by(TOGETHER).enumerate() {
        let batch_of_sets: Vec<Set> = (first..sets.min(first + TOGETHER))
            .map(|number| set(&mut random, number))
            .collect();
        let roles: Vec<_> = batch_of_sets.iter().flat_map(|set| &set.roles).collect();
        let bindings: Vec<_> = batch_of_sets.iter().flat_map(|set| &set.bindings).collect();
        each(&roles, |object| create(&cluster, object));
        each(&bindings, |object| create(&cluster, object));
        catch_up(&cluster, batch);
        let roles = known(&cluster);
        let access = Access::of(&roles);
        let questions: Vec<_> = batch_of_sets.iter().flat_map(|set| &set.questions).collect();
        let yes = AtomicUsize::new(0);
        each(&questions, |(user, words)| {
            let [verb, group, resource, subresource, namespace, name] = words.each_ref().map(String::as_str);
            let request = Request {
                verb,
                group,
                resource,
                subresource,
                namespace,
                name,
            };
            let theirs = review(&cluster, user, words);
            let ours = access.allows(user, &request);
            let expected = if theirs { Answer::Yes } else { Answer::No };
            assert_eq!(ours, expected, "seed {seed}: {user:?} {words:?}");
            yes.fetch_add(usize::from(theirs), Ordering::Relaxed);
        });
        asked += questions.len();
        allowed += yes.into_inner();
        // Those of the next batch are judged without these.
        let created: Vec<String> = batch_of_sets
            .iter()
            .flat_map(|set| set.roles.iter().chain(&set.bindings))
            .map(|(path, object)| format!("{path}/{}", object["metadata"]["name"].as_str().expect("a name")))
            .collect();
        each(&created, |path| {
            let response = cluster.request(&Method::DELETE, path, &Value::Null);
            assert!(response.is_success(), "{}", response.body);
        });
    }
    println!("{asked} questions, {allowed} allowed");
    assert!(
        allowed * 20 > asked && allowed * 20 < asked * 19,
        "{allowed} of {asked} are allowed"
    );
}

/// The DaemonSet of the driver, with a pod of it on the only node.
fn driver_pod(cluster: &Cluster) {
    let selector = json!({"app": "gpu"});
    let spec = json!({"nodeName": "gpu-node-1", "serviceAccountName": "plugin", "containers": [{"name": "plugin", "image": "x"}]});
    let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "gpu-kubelet-plugin", "namespace": "drivers"},
        "spec": {"selector": {"matchLabels": selector}, "template": {"metadata": {"labels": selector},
            "spec": {"nodeSelector": {"nowhere": "yes"}, "containers": spec["containers"]}}}});
    let path = "/apis/apps/v1/namespaces/drivers/daemonsets";
    let set = cluster.request(&Method::POST, path, &set);
    assert_eq!(set.status, 201, "{}", set.body);
    // Without its controller, nothing deletes the pod of a node that the set does not select.
    let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "gpu-kubelet-plugin",
        "uid": set.body["metadata"]["uid"], "controller": true}]);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plugin", "namespace": "drivers", "labels": selector,
        "ownerReferences": owner}, "spec": spec});
    cluster.stop(Component::ControllerManager);
    cluster.create(&pod);
}

#[test]
fn a_driver_without_the_right_of_1_36_is_found_before_its_write_is_refused() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    cluster.run(&[
        claim("one", claim_spec([gpu()])),
        pod("user").named_claim("gpu", "one"),
    ]);
    cluster.create(&namespace("drivers"));
    let group = "resource.k8s.io";
    let driver = cluster.service_account("drivers", "plugin").allowed(&json!([
        {"apiGroups": [group], "resources": ["resourceslices"], "verbs": ["create"]},
        {"apiGroups": [group], "resources": ["resourceclaims/status"], "verbs": ["patch"]},
    ]));
    driver_pod(&cluster);
    let reading = json!({"apiGroups": ["", group], "resources": ["pods", "resourceclaims", "resourceslices"], "verbs": ["list", "get"]});
    let reviewing = json!({"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]});
    let asker = cluster.user("asker").allowed(&json!([reading, reviewing]));
    let blind = cluster.user("blind").allowed(&json!([reading]));

    let result = cluster.get("claim/one")["status"]["allocation"]["devices"]["results"][0].clone();
    let status = |ready: &str| {
        let condition = json!({"type": "Ready", "status": ready, "reason": "Test", "message": "", "lastTransitionTime": "2026-11-21T12:00:00Z"});
        json!({"status": {"devices": [{"driver": result["driver"], "pool": result["pool"], "device": result["device"],
            "conditions": [condition]}]}})
    };
    let path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/one/status";
    let write = |ready: &str| {
        driver.request_as(
            &Method::PATCH,
            path,
            "application/merge-patch+json",
            &status(ready),
        )
    };
    let check = |user: &crate::support::cluster::User| {
        let run = user
            .kubectl_dra(["check", "--only", "DRA091", "-o", "json", "--fail-on", "warning"])
            .run();
        let code = run.code;
        let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
        (report, code)
    };

    let refused = write("True");
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.body["message"]
            .to_string()
            .contains("resourceclaims/driver"),
        "{}",
        refused.body
    );
    for user in [&*cluster, &asker] {
        let (report, code) = check(user);
        let items = report["items"].as_array().expect("items");
        assert_eq!((items.len(), code), (1, Some(1)), "{report:#}");
        assert_eq!(items[0]["object"]["name"], "gpu.example.com");
        assert_eq!(items[0]["severity"], "Warning");
        assert!(
            items[0]["message"]
                .to_string()
                .contains("serviceaccount/drivers/plugin"),
            "{report:#}"
        );
    }
    let (report, code) = check(&blind);
    assert_eq!(
        (report["items"].as_array().map(Vec::len), code),
        (Some(0), Some(4)),
        "{report:#}"
    );

    let driver = driver.allowed(
        &json!([{"apiGroups": [group], "resources": ["resourceclaims/driver"],
        "resourceNames": ["gpu.example.com"], "verbs": ["arbitrary-node:patch"]}]),
    );
    let written = driver.request_as(
        &Method::PATCH,
        path,
        "application/merge-patch+json",
        &status("True"),
    );
    assert_eq!(written.status, 200, "{}", written.body);
    for user in [&*cluster, &asker] {
        let (report, code) = check(user);
        assert_eq!(
            (report["items"].as_array().map(Vec::len), code),
            (Some(0), Some(0)),
            "{report:#}"
        );
    }
}
