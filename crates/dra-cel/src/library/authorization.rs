//! Authorization checks. They are declared in every environment, but no expression can get hold of an authorizer, so
//! they only matter for what the checker says. Mirrors `library/authz.go` (apiserver v0.37.1).

use super::{Declaration, member};
use crate::eval::Context;
use crate::value::{Fault, Outcome, Value};

/// A function of authorizers.
macro_rules! check {
    ($function:literal, $id:literal, $args:literal, $result:literal) => {
        member($function, $id, $args, $result, refuse)
    };
}

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = &[
    check!(
        "path",
        "authorizer_path",
        "kubernetes.authorization.Authorizer, string",
        "kubernetes.authorization.PathCheck"
    ),
    check!(
        "group",
        "authorizer_group",
        "kubernetes.authorization.Authorizer, string",
        "kubernetes.authorization.GroupCheck"
    ),
    check!(
        "serviceAccount",
        "authorizer_serviceaccount",
        "kubernetes.authorization.Authorizer, string, string",
        "kubernetes.authorization.Authorizer"
    ),
    check!(
        "resource",
        "groupcheck_resource",
        "kubernetes.authorization.GroupCheck, string",
        "kubernetes.authorization.ResourceCheck"
    ),
    check!(
        "subresource",
        "resourcecheck_subresource",
        "kubernetes.authorization.ResourceCheck, string",
        "kubernetes.authorization.ResourceCheck"
    ),
    check!(
        "namespace",
        "resourcecheck_namespace",
        "kubernetes.authorization.ResourceCheck, string",
        "kubernetes.authorization.ResourceCheck"
    ),
    check!(
        "name",
        "resourcecheck_name",
        "kubernetes.authorization.ResourceCheck, string",
        "kubernetes.authorization.ResourceCheck"
    ),
    check!(
        "check",
        "pathcheck_check",
        "kubernetes.authorization.PathCheck, string",
        "kubernetes.authorization.Decision"
    ),
    check!(
        "check",
        "resourcecheck_check",
        "kubernetes.authorization.ResourceCheck, string",
        "kubernetes.authorization.Decision"
    ),
    check!(
        "errored",
        "decision_errored",
        "kubernetes.authorization.Decision",
        "bool"
    ),
    check!(
        "error",
        "decision_error",
        "kubernetes.authorization.Decision",
        "string"
    ),
    check!(
        "allowed",
        "decision_allowed",
        "kubernetes.authorization.Decision",
        "bool"
    ),
    check!(
        "reason",
        "decision_reason",
        "kubernetes.authorization.Decision",
        "string"
    ),
    check!(
        "fieldSelector",
        "authorizer_fieldselector",
        "kubernetes.authorization.ResourceCheck, string",
        "kubernetes.authorization.ResourceCheck"
    ),
    check!(
        "labelSelector",
        "authorizer_labelselector",
        "kubernetes.authorization.ResourceCheck, string",
        "kubernetes.authorization.ResourceCheck"
    ),
];

fn refuse<'a>(_: &mut Context<'a>, _: &[Value<'a>]) -> Outcome<'a> {
    Err(Fault::no_such_overload())
}
