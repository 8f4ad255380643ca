//! Authorization checks. They are declared in every environment, but no expression can get hold of an authorizer, so
//! they only matter for what the checker says. Mirrors `library/authz.go` (apiserver v0.37.1).

use super::{Binding, Declaration, overloads};
use crate::eval::Context;
use crate::value::{Fault, Outcome, Value};

const CHECK: Binding = Binding::Guarded(refuse);

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "authorizer_path":
        "<kubernetes.authorization.Authorizer>.path(string) -> kubernetes.authorization.PathCheck" = CHECK,
    "authorizer_group":
        "<kubernetes.authorization.Authorizer>.group(string) -> kubernetes.authorization.GroupCheck" = CHECK,
    "authorizer_serviceaccount":
        "<kubernetes.authorization.Authorizer>.serviceAccount(string, string) -> kubernetes.authorization.Authorizer" = CHECK,
    "groupcheck_resource":
        "<kubernetes.authorization.GroupCheck>.resource(string) -> kubernetes.authorization.ResourceCheck" = CHECK,
    "resourcecheck_subresource":
        "<kubernetes.authorization.ResourceCheck>.subresource(string) -> kubernetes.authorization.ResourceCheck" = CHECK,
    "resourcecheck_namespace":
        "<kubernetes.authorization.ResourceCheck>.namespace(string) -> kubernetes.authorization.ResourceCheck" = CHECK,
    "resourcecheck_name":
        "<kubernetes.authorization.ResourceCheck>.name(string) -> kubernetes.authorization.ResourceCheck" = CHECK,
    "pathcheck_check":
        "<kubernetes.authorization.PathCheck>.check(string) -> kubernetes.authorization.Decision" = CHECK,
    "resourcecheck_check":
        "<kubernetes.authorization.ResourceCheck>.check(string) -> kubernetes.authorization.Decision" = CHECK,
    "decision_errored": "<kubernetes.authorization.Decision>.errored() -> bool" = CHECK,
    "decision_error": "<kubernetes.authorization.Decision>.error() -> string" = CHECK,
    "decision_allowed": "<kubernetes.authorization.Decision>.allowed() -> bool" = CHECK,
    "decision_reason": "<kubernetes.authorization.Decision>.reason() -> string" = CHECK,
    "authorizer_fieldselector":
        "<kubernetes.authorization.ResourceCheck>.fieldSelector(string) -> kubernetes.authorization.ResourceCheck" = CHECK,
    "authorizer_labelselector":
        "<kubernetes.authorization.ResourceCheck>.labelSelector(string) -> kubernetes.authorization.ResourceCheck" = CHECK,
};

fn refuse<'a>(_: &mut Context<'a>, _: &[Value<'a>]) -> Outcome<'a> {
    Err(Fault::no_such_overload())
}
