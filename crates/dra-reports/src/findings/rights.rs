//! Who may do what with devices: drivers that cannot write their device status, and users who can do what the scheduler does.
//!
//! The API server of 1.36 and later requires additional rights besides that to write the status of a claim
//! (`registry/resource/utils.go`, `AuthorizedForBinding` and `AuthorizedForDeviceStatus`, v1.37.2).

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Lacking;
use super::finding::Subject;
use super::{Code, Finding, Look, words};
use crate::script::Command;
use dra_model::{Cluster, Component, Gap, Gate, Key, Kind, RoleSubject, Str};
use dra_rules::access::{Access, Answer, Holder, Question, Request, User};
use dra_rules::kubelet::{daemon_set_of, is_pod_of};

const GROUP: &str = "resource.k8s.io";
/// How claims are written: PUT and PATCH have a verb each, and a client needs that of the one that it uses.
const WRITES: [&str; 2] = ["update", "patch"];

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    if look.wants(Code::DriverStatusForbidden) && asks_for_rights(cluster) {
        find_drivers(look, Code::DriverStatusForbidden, None);
    }
    let codes = [
        Code::AdminAccessRights,
        Code::ReservationRights,
        Code::TaintRights,
    ];
    if look.wants_any(&codes) && Kind::OF_RIGHTS.into_iter().all(|kind| !look.is_hidden(kind, "")) {
        holders(look);
    }
}

/// Leaves out what is unknown because roles and bindings could not be read, unless it was named: who may do what; and whether drivers can
/// write the status of their devices, where nothing shows that one does.
pub(super) fn leave_out_untold(codes: &mut BTreeSet<Code>, cluster: &Cluster, named: &[Code]) {
    if Kind::OF_RIGHTS
        .into_iter()
        .all(|kind| cluster.gap(kind, "").is_none())
    {
        return;
    }
    // The API server may have answered what roles do not show.
    let is_asked = !cluster.environment().reviews.is_empty();
    let is_written = || {
        let drivers: BTreeSet<&Str> = cluster.slices().map(|slice| &slice.spec.driver).collect();
        drivers
            .into_iter()
            .any(|driver| writes_device_status(cluster, driver))
    };
    codes.retain(|code| {
        let needs_rights = code
            .facts()
            .needs
            .iter()
            .any(|kind| Kind::OF_RIGHTS.contains(kind));
        !needs_rights
            || named.contains(code)
            || match code {
                Code::DriverStatusForbidden => asks_for_rights(cluster) && (is_asked || is_written()),
                Code::UpgradeDriverRights => is_asked || is_written(),
                _ => false,
            }
    });
}

/// Whether the API server requires the rights that are new in 1.36.
pub(super) fn asks_for_rights(cluster: &Cluster) -> bool {
    let environment = cluster.environment();
    let on = |gate| environment.enabled(Component::ApiServer, gate);
    on(Gate::DRAResourceClaimGranularStatusAuthorization) && on(Gate::DRAResourceClaimDeviceStatus)
}

/// Whether a claim or slice shows that a driver writes `status.devices`, and so has to be able to.
pub(super) fn writes_device_status(cluster: &Cluster, driver: &str) -> bool {
    cluster
        .claims()
        .any(|claim| claim.status.devices.iter().any(|device| device.driver == driver))
        || cluster
            .slices()
            .filter(|slice| slice.spec.driver == driver)
            .any(|slice| {
                let mut devices = slice.spec.devices.iter();
                devices.any(|device| !device.binding_conditions.is_empty())
            })
}

/// What is found of a driver.
enum Lack {
    Rights(Lacking),
    /// The driver, and what could not be read. Without a gap its service account is unknown.
    Unknown(Str, Option<Gap>),
}

/// Finds the drivers that can write the status of claims, but lack what the API server of 1.36 requires besides. `later` is the minor release
/// that requires it, and the step of the way there, if that is a later one.
pub(super) fn find_drivers(look: &mut Look<'_>, code: Code, later: Option<(u32, u32)>) {
    for lack in all_that_lack(look.cluster, &Access::of(look.cluster)) {
        let unknown = &mut look.found.unknown;
        match lack {
            Lack::Rights(lacking) => {
                let message = words::cannot_write_status(&lacking, later.map(|(minor, _)| minor));
                let get = Command::kubectl("get").args(&["clusterrolebindings", "-o", "wide"]);
                let finding = Finding::new(code, Subject::driver(&lacking.driver), message)
                    .error_if(lacking.is_shown)
                    .advice(words::add_driver_rule(GROUP, &lacking))
                    .look(get.done());
                look.add(Finding {
                    order: later.map(|(_, step)| step),
                    ..finding
                });
            }
            Lack::Unknown(driver, Some(gap)) => unknown.unknown(&words::unknown_rights(&driver), &gap),
            Lack::Unknown(driver, None) => unknown.add(words::unknown_account(&driver)),
        }
    }
}

fn user(account: &Key) -> User {
    User::service_account(&account.namespace, &account.name)
}

fn request<'a>(
    verb: &'a str,
    resource: &'a str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
) -> Request<'a> {
    Request {
        verb,
        group: GROUP,
        resource,
        subresource,
        namespace,
        name,
    }
}

/// The service accounts that a driver runs with: those of DaemonSets' pods on the nodes that it publishes for, which may create slices and
/// are called like the driver, or are the only ones that may and there is no other driver.
fn accounts(cluster: &Cluster, access: &Access<'_>, driver: &str) -> BTreeSet<Key> {
    let nodes: BTreeSet<&Str> = cluster
        .slices()
        .filter(|slice| slice.spec.driver == driver)
        .filter_map(|slice| slice.spec.node_name.as_ref())
        .collect();
    let default = Str::from("default");
    let mut called = BTreeSet::new();
    let mut others = BTreeSet::new();
    for pod in cluster.pods().filter(|pod| !pod.is_terminal()) {
        if daemon_set_of(pod).is_none() {
            continue;
        }
        if !pod
            .node()
            .is_some_and(|node| nodes.is_empty() || nodes.contains(node))
        {
            continue;
        }
        let account = pod.metadata.beside(match &pod.spec.service_account_name {
            name if name.is_empty() => &default,
            name => name,
        });
        let publishes = request("create", "resourceslices", "", "", "");
        let answer = access.allowed_by_roles(&user(&account), &publishes);
        if is_pod_of(driver, pod) {
            if answer != Answer::No {
                called.insert(account);
            }
        } else if answer == Answer::Yes {
            others.insert(account);
        }
    }
    // Beside another driver the account may be that one's.
    let is_only_driver = || cluster.slices().all(|slice| slice.spec.driver == driver);
    match (called.is_empty(), others.len()) {
        (true, 1) if is_only_driver() => others,
        _ => called,
    }
}

/// What the API server can be asked so that it is certain which drivers can write the status of their devices: what no role that was read
/// allows. More may be asked once that is answered.
pub fn reviews_wanted(cluster: &Cluster, codes: &BTreeSet<Code>) -> BTreeSet<Question> {
    let now = codes.contains(&Code::DriverStatusForbidden) && asks_for_rights(cluster);
    if !now && !codes.contains(&Code::UpgradeDriverRights) {
        return BTreeSet::new();
    }
    let access = Access::of(cluster);
    all_that_lack(cluster, &access);
    access.open_questions()
}

fn all_that_lack(cluster: &Cluster, access: &Access<'_>) -> Vec<Lack> {
    let drivers: BTreeSet<&Str> = cluster.slices().map(|slice| &slice.spec.driver).collect();
    drivers
        .into_iter()
        .filter_map(|driver| of_driver(cluster, access, driver))
        .collect()
}

fn of_driver(cluster: &Cluster, access: &Access<'_>, driver: &Str) -> Option<Lack> {
    let is_shown = writes_device_status(cluster, driver);
    let unknown = |gap: Option<Gap>| is_shown.then(|| Lack::Unknown(driver.clone(), gap));
    let accounts = accounts(cluster, access, driver);
    if accounts.is_empty() {
        return unknown(None);
    }
    // Where its claims are, and whether some of them are for several nodes: there the driver is on none that counts.
    let mut places: BTreeMap<Str, bool> = BTreeMap::new();
    for claim in cluster.claims().filter(|claim| claim.has_device_of(driver)) {
        let allocation = claim.status.allocation.as_ref();
        let selector = allocation.and_then(|allocation| allocation.node_selector.as_ref());
        let is_local = selector.is_some_and(|selector| selector.single_node().is_some());
        *places.entry(claim.metadata.namespace.clone()).or_default() |= !is_local;
    }
    if places.is_empty() {
        let by_node = cluster.slices().filter(|slice| slice.spec.driver == *driver);
        let is_local = by_node.into_iter().all(|slice| slice.spec.node_name.is_some());
        places.insert(Str::default(), !is_local);
    }
    let mut lacking = Lacking {
        driver: driver.clone(),
        accounts: BTreeSet::new(),
        namespaces: Vec::new(),
        verbs: Vec::new(),
        is_shown,
    };
    for (namespace, anywhere) in &places {
        let mut wanted = Vec::new();
        let mut intends = BTreeSet::new();
        for account in &accounts {
            let user = user(account);
            for verb in WRITES {
                match access.allows(&user, &request(verb, "resourceclaims", "status", namespace, "")) {
                    Answer::Yes => {}
                    Answer::No => continue,
                    Answer::Unknown(gap) => {
                        return unknown(Some(gap));
                    }
                }
                let associated = format!("associated-node:{verb}");
                let arbitrary = format!("arbitrary-node:{verb}");
                let verbs = if *anywhere {
                    vec![arbitrary]
                } else {
                    vec![associated, arbitrary]
                };
                for verb in &verbs {
                    match access.allows(
                        &user,
                        &request(verb, "resourceclaims", "driver", namespace, driver),
                    ) {
                        Answer::Yes => return None,
                        Answer::No => {}
                        Answer::Unknown(gap) => {
                            return unknown(Some(gap));
                        }
                    }
                }
                intends.insert(account.clone());
                wanted.extend(verbs);
            }
        }
        if intends.is_empty() {
            continue;
        }
        lacking.accounts.extend(intends);
        lacking.verbs.extend(wanted);
        if !namespace.is_empty() {
            lacking.namespaces.push(namespace.clone());
        }
    }
    lacking.verbs.sort();
    lacking.verbs.dedup();
    (!lacking.accounts.is_empty()).then_some(Lack::Rights(lacking))
}

/// Whether a subject is part of Kubernetes, or may do everything anyway: those are no finding.
fn is_expected(holder: &Holder, masters: &BTreeSet<(Str, Str)>) -> bool {
    let subject = &holder.subject;
    // These groups hold all users, and are not part of Kubernetes.
    let all = ["system:authenticated", "system:unauthenticated"];
    let is_all = all.contains(&subject.name.as_str()) || subject.name.starts_with("system:serviceaccount");
    let own = subject.name.starts_with("system:") && !is_all;
    let of_controller = subject.kind == "ServiceAccount" && subject.namespace == "kube-system";
    own || of_controller || masters.contains(&(subject.namespace.clone(), subject.name.clone()))
}

/// Who can do what lets them take devices of others.
fn holders(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let access = Access::of(cluster);
    let masters = masters(&access);
    let of = |verbs: &[&str], group: &str, resource: &str, subresource: &str, everywhere: bool| {
        let mut found = BTreeSet::new();
        for verb in verbs {
            let request = Request {
                verb,
                group,
                resource,
                subresource,
                ..Request::default()
            };
            let holders = access.holders(&request, everywhere).into_iter();
            found.extend(holders.filter(|holder| !is_expected(holder, &masters)));
        }
        found
    };
    let environment = cluster.environment();
    let on = |gate| environment.enabled(Component::ApiServer, gate);
    if on(Gate::DRAAdminAccess) && look.wants(Code::AdminAccessRights) {
        let labels = of(&["update", "patch", "create"], "", "namespaces", "", true);
        let mut claims = of(&["create"], GROUP, "resourceclaims", "", false);
        claims.extend(of(&["create"], GROUP, "resourceclaimtemplates", "", false));
        let both = both(&labels, &claims);
        tell(look, Code::AdminAccessRights, &both);
    }
    let mut writers = of(&WRITES, GROUP, "resourceclaims", "status", false);
    if on(Gate::DRAResourceClaimGranularStatusAuthorization) {
        let binding = of(&WRITES, GROUP, "resourceclaims", "binding", true);
        writers = both(&writers, &binding);
    }
    tell(look, Code::ReservationRights, &writers);
    if on(Gate::DRADeviceTaintRules) {
        let verbs = ["create", "update", "patch"];
        let tainters = of(&verbs, GROUP, "devicetaintrules", "", true);
        tell(look, Code::TaintRights, &tainters);
    }
}

/// Those who can write the status of claims, are no drivers, and cannot allocate and reserve claims on 1.36 and later.
pub(super) fn schedulers_that_lack(cluster: &Cluster) -> Vec<Finding> {
    let access = Access::of(cluster);
    if access.gap("").is_some() {
        return Vec::new();
    }
    let drivers: BTreeSet<&Str> = cluster.slices().map(|slice| &slice.spec.driver).collect();
    let of_drivers: BTreeSet<Key> = drivers
        .into_iter()
        .flat_map(|driver| accounts(cluster, &access, driver))
        .collect();
    let masters = masters(&access);
    let mut lacking: BTreeMap<RoleSubject, Vec<&str>> = BTreeMap::new();
    for verb in WRITES {
        let may_bind = access.holders(&request(verb, "resourceclaims", "binding", "", ""), true);
        for holder in access.holders(&request(verb, "resourceclaims", "status", "", ""), false) {
            let account = Key::new(holder.subject.namespace.clone(), holder.subject.name.clone());
            let is_driver = holder.subject.kind == "ServiceAccount" && of_drivers.contains(&account);
            let may = may_bind.iter().any(|other| other.subject == holder.subject);
            if is_driver || may || is_expected(&holder, &masters) {
                continue;
            }
            let verbs = lacking.entry(holder.subject).or_default();
            if !verbs.contains(&verb) {
                verbs.push(verb);
            }
        }
    }
    let finding = |(subject, verbs): (RoleSubject, Vec<&str>)| {
        let message = words::cannot_bind(&verbs);
        Finding::new(Code::UpgradeBindingRights, Subject::account(&subject), message)
            .advice(words::add_binding_rule(GROUP, &verbs))
    };
    lacking.into_iter().map(finding).collect()
}

/// Those who can do everything.
fn masters(access: &Access<'_>) -> BTreeSet<(Str, Str)> {
    let everything = Request {
        verb: "*",
        group: "*",
        resource: "*",
        subresource: "*",
        ..Request::default()
    };
    let holders = access.holders(&everything, true).into_iter();
    holders
        .map(|holder| (holder.subject.namespace, holder.subject.name))
        .collect()
}

/// Those of `some` whose subject is one of `others` too. One that is restricted to a namespace stays so.
fn both(some: &BTreeSet<Holder>, others: &BTreeSet<Holder>) -> BTreeSet<Holder> {
    let is_other = |holder: &&Holder| others.iter().any(|other| other.subject == holder.subject);
    some.iter().filter(is_other).cloned().collect()
}

fn tell(look: &mut Look<'_>, code: Code, holders: &BTreeSet<Holder>) {
    let mut by_subject: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for holder in holders {
        let binding = if holder.binding.namespace.is_empty() {
            format!("clusterrolebinding/{}", holder.binding.name)
        } else {
            format!("rolebinding/{}", holder.binding)
        };
        by_subject.entry(&holder.subject).or_default().insert(binding);
    }
    for (subject, bindings) in by_subject {
        let message = words::can(code, &bindings);
        look.add(
            Finding::new(code, Subject::account(subject), message)
                .advice(words::REVOKE)
                .look(
                    Command::kubectl("get")
                        .args(&["clusterrolebindings,rolebindings", "-A", "-o", "wide"])
                        .done(),
                ),
        );
    }
}
