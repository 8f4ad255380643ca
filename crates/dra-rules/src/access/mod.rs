//! Permissions: the rules of RBAC over the roles and bindings of a cluster.
//!
//! RBAC only ever allows, so what one role allows is certain whatever else could not be read, and what none allows is certain only where
//! every role and binding was read. Other authorizers of an API server, such as a webhook, may allow more: that no object shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use dra_model::{Cluster, Gap, Key, Kind, PolicyRule, RoleBinding, RoleReference, RoleSubject, Str};

/// The group of those who may do everything, whatever the roles say. Mirrors `apiserver/pkg/authentication/user/user.go`,
/// `SystemPrivilegedGroup`, v0.37.1.
pub const MASTERS: &str = "system:masters";

/// User.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct User {
    /// `system:serviceaccount:NAMESPACE:NAME` for a service account.
    pub name: String,
    /// All groups, `system:authenticated` among them.
    pub groups: Vec<String>,
}

impl User {
    /// A service account. Mirrors `apiserver/pkg/authentication/serviceaccount/util.go`, `UserInfo`, v0.37.1, with the group that every
    /// authenticated user is in.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ],
        }
    }

    /// Returns whether the subject of a binding in `namespace` (empty: of a ClusterRoleBinding) is this user. Mirrors
    /// `pkg/registry/rbac/validation/rule.go`, `appliesToUser`, v1.37.2.
    fn is(&self, subject: &RoleSubject, namespace: &str) -> bool {
        match subject.kind.as_str() {
            "User" => self.name == subject.name.as_str(),
            "Group" => self.groups.iter().any(|group| group == subject.name.as_str()),
            "ServiceAccount" => {
                let home = home_of(subject, namespace);
                let mut parts = self.name.splitn(4, ':');
                !home.is_empty()
                    && parts.next() == Some("system")
                    && parts.next() == Some("serviceaccount")
                    && parts.next() == Some(home)
                    && parts.next() == Some(&subject.name)
            }
            _ => false,
        }
    }
}

/// The namespace of a service account that a binding in `namespace` names.
fn home_of<'a>(subject: &'a RoleSubject, namespace: &'a str) -> &'a str {
    if subject.namespace.is_empty() {
        namespace
    } else {
        &subject.namespace
    }
}

/// Request of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
#[display("{verb} {}", self.target())]
pub struct Request<'a> {
    /// `update`.
    pub verb: &'a str,
    /// API group; empty for that of pods.
    pub group: &'a str,
    /// `resourceclaims`.
    pub resource: &'a str,
    /// `status`; empty for the object itself.
    pub subresource: &'a str,
    /// Empty for all namespaces, and for what lives in none.
    pub namespace: &'a str,
    /// Empty for objects of any name.
    pub name: &'a str,
}

impl Request<'_> {
    /// `resourceclaims/status`, as a rule names it.
    pub fn target(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}

/// Returns whether a rule allows the request. Mirrors `plugin/pkg/auth/authorizer/rbac/rbac.go`, `RuleAllows`, with what it asks of
/// `pkg/apis/rbac/v1/evaluation_helpers.go`, v1.37.2.
pub fn rule_allows(rule: &PolicyRule, request: &Request<'_>) -> bool {
    let names = |list: &[Str], wanted: &str| list.iter().any(|one| one == "*" || one == wanted);
    let resource = |one: &Str| {
        let is_of = |resource: &str| {
            let rest = one.strip_prefix(resource);
            rest.is_some_and(|rest| match rest.strip_prefix('/') {
                Some(subresource) => !request.subresource.is_empty() && subresource == request.subresource,
                None => rest.is_empty() && request.subresource.is_empty(),
            })
        };
        one == "*" || is_of(request.resource) || !request.subresource.is_empty() && is_of("*")
    };
    names(&rule.verbs, request.verb)
        && names(&rule.api_groups, request.group)
        && rule.resources.iter().any(resource)
        && (rule.resource_names.is_empty() || rule.resource_names.iter().any(|name| name == request.name))
}

/// Answer about a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A role allows it.
    Yes,
    /// No role does.
    No,
    /// No role that could be read does: what is missing.
    Unknown(Gap),
}

/// A subject that may do something by one binding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// With the namespace, where it is a service account.
    pub subject: RoleSubject,
    /// The binding; without a namespace it is a ClusterRoleBinding, and holds everywhere.
    pub binding: Key,
}

impl fmt::Display for Holder {
    /// `service account ns/name`, `user jane`, `group ops`; with the namespace it is restricted to.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RoleSubject {
            kind,
            namespace,
            name,
        } = &self.subject;
        match kind.as_str() {
            "ServiceAccount" => write!(f, "service account {namespace}/{name}")?,
            "Group" => write!(f, "group {name}")?,
            _ => write!(f, "user {name}")?,
        }
        if self.binding.namespace.is_empty() {
            return Ok(());
        }
        write!(f, " in namespace {}", self.binding.namespace)
    }
}

/// A question, as the API server can be asked it: who, and verb, API group, resource, subresource, namespace and name.
pub type Question = (User, [String; 6]);

/// The roles and bindings of a cluster, to be asked.
#[derive(Debug)]
pub struct Access<'a> {
    cluster: &'a Cluster,
    /// Requests that no role allows and that the API server was not asked about.
    open: Mutex<BTreeSet<Question>>,
    by_namespace: BTreeMap<&'a str, Vec<&'a Arc<RoleBinding>>>,
}

impl<'a> Access<'a> {
    /// Returns what `cluster` has of them.
    pub fn of(cluster: &'a Cluster) -> Self {
        let mut by_namespace: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for binding in cluster.role_bindings() {
            let namespace = binding.metadata.namespace.as_str();
            by_namespace.entry(namespace).or_default().push(binding);
        }
        Self {
            cluster,
            open: Mutex::default(),
            by_namespace,
        }
    }

    /// Returns what it was asked, and no role was found to allow: another authorizer may, or a role that could not be read.
    pub fn open_questions(self) -> BTreeSet<Question> {
        self.open.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether every role and binding is there that can decide in `namespace` (empty: in any).
    pub fn gap(&self, namespace: &str) -> Option<&'a Gap> {
        Kind::OF_RIGHTS
            .into_iter()
            .find_map(|kind| self.cluster.gap(kind, namespace))
    }

    /// Returns whether `user` may do it, by what the API server said, or else by roles. What they do not allow is noted as an open question.
    pub fn allows(&self, user: &User, request: &Request<'_>) -> Answer {
        let words = [
            request.verb,
            request.group,
            request.resource,
            request.subresource,
            request.namespace,
            request.name,
        ];
        let mut reviews = self.cluster.environment().reviews.iter();
        if let Some(review) = reviews.find(|review| review.user == user.name && review.request == words) {
            return if review.allowed { Answer::Yes } else { Answer::No };
        }
        let answer = self.allowed_by_roles(user, request);
        if answer != Answer::Yes {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.insert((user.clone(), words.map(str::to_owned)));
        }
        answer
    }

    /// Returns whether a role allows it. Mirrors `pkg/registry/rbac/validation/rule.go`, `VisitRulesFor`, v1.37.2: a binding of a namespace counts
    /// for requests in that namespace only.
    pub fn allowed_by_roles(&self, user: &User, request: &Request<'_>) -> Answer {
        if user.groups.iter().any(|group| group == MASTERS) {
            return Answer::Yes;
        }
        let applies = |binding: &RoleBinding, namespace: &str| {
            binding.subjects.iter().any(|one| user.is(one, namespace))
        };
        let everywhere = self
            .cluster
            .cluster_role_bindings()
            .any(|binding| applies(binding, "") && self.role_allows(&binding.role_ref, "", request));
        let here = || {
            let bindings = self.by_namespace.get(request.namespace).into_iter().flatten();
            let mut bindings = bindings.filter(|_| !request.namespace.is_empty());
            bindings.any(|binding| {
                applies(binding, request.namespace)
                    && self.role_allows(&binding.role_ref, request.namespace, request)
            })
        };
        if everywhere || here() {
            return Answer::Yes;
        }
        let decides = |kind: &Kind| !request.namespace.is_empty() || !kind.is_namespaced();
        let mut kinds = Kind::OF_RIGHTS.into_iter().filter(decides);
        let gap = kinds.find_map(|kind| self.cluster.gap(kind, request.namespace));
        gap.map_or(Answer::No, |gap| Answer::Unknown(gap.clone()))
    }

    /// Every subject that a binding allows it: in any namespace where the request names none, unless `only_everywhere`.
    pub fn holders(&self, request: &Request<'_>, only_everywhere: bool) -> Vec<Holder> {
        let mut holders = Vec::new();
        let mut add = |binding: &RoleBinding, namespace: &str| {
            if !self.role_allows(&binding.role_ref, namespace, request) {
                return;
            }
            for subject in &binding.subjects {
                let mut subject = subject.clone();
                if subject.kind == "ServiceAccount" {
                    subject.namespace = home_of(&subject, namespace).into();
                } else {
                    subject.namespace = Str::default();
                }
                holders.push(Holder {
                    subject,
                    binding: binding.metadata.key(),
                });
            }
        };
        for binding in self.cluster.cluster_role_bindings() {
            add(binding, "");
        }
        if !only_everywhere {
            for (namespace, bindings) in &self.by_namespace {
                if request.namespace.is_empty() || request.namespace == *namespace {
                    for binding in bindings {
                        add(binding, namespace);
                    }
                }
            }
        }
        holders.sort();
        holders
    }

    /// A role that is not there allows nothing. Mirrors `pkg/registry/rbac/validation/rule.go`, `GetRoleReferenceRules`, v1.37.2.
    fn role_allows(&self, reference: &RoleReference, namespace: &str, request: &Request<'_>) -> bool {
        let role = match reference.kind.as_str() {
            "ClusterRole" => self.cluster.cluster_role(&reference.name),
            "Role" => self.cluster.role(&Key::new(namespace, reference.name.clone())),
            _ => None,
        };
        role.is_some_and(|role| role.rules.iter().any(|rule| rule_allows(rule, request)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_testing::World;

    fn role(world: World, kind: Kind, namespace: &str, name: &str, rule: &Value) -> World {
        let metadata = json!({"namespace": namespace, "name": name});
        world.with(kind, &json!({"metadata": metadata, "rules": [rule]}))
    }

    fn binding(world: World, namespace: &str, role: (&str, &str), subject: &Value) -> World {
        let kind = if namespace.is_empty() {
            Kind::ClusterRoleBinding
        } else {
            Kind::RoleBinding
        };
        let metadata = json!({"namespace": namespace, "name": "b"});
        world.with(
            kind,
            &json!({"metadata": metadata, "roleRef": {"kind": role.0, "name": role.1}, "subjects": [subject]}),
        )
    }

    fn rule() -> Value {
        json!({"verbs": ["update"], "apiGroups": ["g"], "resources": ["claims/status"]})
    }

    const REQUEST: Request<'_> = Request {
        verb: "update",
        group: "g",
        resource: "claims",
        subresource: "status",
        namespace: "n",
        name: "c",
    };

    #[test]
    fn a_rule_allows_what_each_of_its_lists_names() {
        let rule = |change: Value| -> PolicyRule {
            let mut rule = rule();
            for (key, value) in change.as_object().unwrap() {
                rule[key] = value.clone();
            }
            serde_json::from_value(rule).unwrap()
        };
        for (change, expected) in [
            (json!({}), true),
            (json!({"verbs": ["*"]}), true),
            (json!({"verbs": ["get", "update"]}), true),
            (json!({"verbs": ["upd*"]}), false),
            (json!({"verbs": []}), false),
            (json!({"apiGroups": ["*"]}), true),
            (json!({"apiGroups": [""]}), false),
            (json!({"resources": ["*"]}), true),
            (json!({"resources": ["*/status"]}), true),
            (json!({"resources": ["claims/*"]}), false),
            (json!({"resources": ["*/*"]}), false),
            (json!({"resources": ["claims"]}), false),
            (json!({"resources": ["claims/binding"]}), false),
            (json!({"resourceNames": ["c"]}), true),
            (json!({"resourceNames": ["d", "c"]}), true),
            (json!({"resourceNames": ["*"]}), false),
            (json!({"resourceNames": []}), true),
        ] {
            assert_eq!(rule_allows(&rule(change.clone()), &REQUEST), expected, "{change}");
        }
        // Without a name nothing is allowed for some names only.
        let named = rule(json!({"resourceNames": ["c"]}));
        assert!(!rule_allows(&named, &Request { name: "", ..REQUEST }));
        let bare = Request {
            subresource: "",
            ..REQUEST
        };
        assert!(!rule_allows(&rule(json!({"resources": ["*/status"]})), &bare));
    }

    #[test]
    fn a_binding_names_users_groups_and_service_accounts() {
        let account = User::service_account("a", "driver");
        for (subject, everywhere, here) in [
            (
                json!({"kind": "ServiceAccount", "namespace": "a", "name": "driver"}),
                true,
                true,
            ),
            (
                json!({"kind": "ServiceAccount", "namespace": "b", "name": "driver"}),
                false,
                false,
            ),
            // Without a namespace it is that of the binding, and a ClusterRoleBinding has none.
            (json!({"kind": "ServiceAccount", "name": "driver"}), false, false),
            (
                json!({"kind": "User", "name": "system:serviceaccount:a:driver"}),
                true,
                true,
            ),
            (json!({"kind": "User", "name": "driver"}), false, false),
            (
                json!({"kind": "Group", "name": "system:serviceaccounts"}),
                true,
                true,
            ),
            (
                json!({"kind": "Group", "name": "system:serviceaccounts:a"}),
                true,
                true,
            ),
            (
                json!({"kind": "Group", "name": "system:serviceaccounts:b"}),
                false,
                false,
            ),
            (
                json!({"kind": "Group", "name": "system:authenticated"}),
                true,
                true,
            ),
            (json!({"kind": "Group", "name": "system:nodes"}), false, false),
            (json!({"kind": "Robot", "name": "driver"}), false, false),
        ] {
            for (namespace, expected) in [("", everywhere), ("n", here)] {
                let world = role(World::default(), Kind::ClusterRole, "", "r", &rule());
                let cluster = binding(world, namespace, ("ClusterRole", "r"), &subject).build();
                let answer = Access::of(&cluster).allows(&account, &REQUEST);
                assert_eq!(answer == Answer::Yes, expected, "{subject} in {namespace:?}");
            }
        }
        let local = json!({"kind": "ServiceAccount", "name": "driver"});
        let world = role(World::default(), Kind::Role, "n", "r", &rule());
        let cluster = binding(world, "n", ("Role", "r"), &local).build();
        let own = User::service_account("n", "driver");
        assert_eq!(Access::of(&cluster).allows(&own, &REQUEST), Answer::Yes);
        let elsewhere = Request {
            namespace: "",
            ..REQUEST
        };
        assert_eq!(Access::of(&cluster).allows(&own, &elsewhere), Answer::No);
        let holders = Access::of(&cluster).holders(&elsewhere, false);
        assert_eq!(holders.len(), 1);
        assert_eq!(holders[0].to_string(), "service account n/driver in namespace n");
        assert!(Access::of(&cluster).holders(&elsewhere, true).is_empty());
    }

    #[test]
    fn what_could_not_be_read_may_allow_it() {
        let user = User::service_account("a", "driver");
        let world = || {
            let world = role(World::default(), Kind::ClusterRole, "", "r", &rule());
            binding(
                world,
                "",
                ("ClusterRole", "r"),
                &json!({"kind": "User", "name": "jane"}),
            )
        };
        for kind in Kind::OF_RIGHTS {
            let cluster = world().without(kind).build();
            let access = Access::of(&cluster);
            assert!(
                matches!(access.allows(&user, &REQUEST), Answer::Unknown(_)),
                "{kind}"
            );
            let jane = User {
                name: "jane".to_owned(),
                groups: Vec::new(),
            };
            assert_eq!(access.allows(&jane, &REQUEST), Answer::Yes, "{kind}");
            let everywhere = Request {
                namespace: "",
                ..REQUEST
            };
            let is_unknown = matches!(access.allows(&user, &everywhere), Answer::Unknown(_));
            assert_eq!(is_unknown, !kind.is_namespaced(), "{kind}");
        }
        let cluster = world().build();
        assert_eq!(Access::of(&cluster).allows(&user, &REQUEST), Answer::No);
        let master = User {
            name: "root".to_owned(),
            groups: vec![MASTERS.to_owned()],
        };
        assert_eq!(Access::of(&cluster).allows(&master, &REQUEST), Answer::Yes);
    }
}
