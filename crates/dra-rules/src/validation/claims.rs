//! Claims, the claims of templates, and classes. Mirrors `resource/validation/validation.go`, `validateDeviceClaim`, v1.37.2, and what it
//! calls, with what `v1/zz_generated.validations.go` adds.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::checker::{Checker, Place, as_text, has, items, text};
use super::parts;
use dra_cel::MAX_COST;
use dra_model::{MOST_ALTERNATIVES, names};

const MOST_REQUESTS: usize = 32;
const MOST_CONSTRAINTS: usize = 32;
const MOST_CONFIG: usize = 32;
const MOST_DERIVED_ATTRIBUTES: usize = 32;

/// What a claim asks for.
pub(super) fn spec(checker: &mut Checker<'_>, at: &Place<'_>) {
    let at = at.child("devices");
    let names = RequestNames::of(items(at.value, "requests"));
    let constrained = constrained_attributes(at.value);
    let mut cost: u64 = 0;
    checker.set(&at.child("requests"), MOST_REQUESTS, "/name", |checker, at| {
        cost = cost.saturating_add(request(checker, at, &constrained));
    });
    checker.list(&at.child("constraints"), MOST_CONSTRAINTS, |checker, at| {
        constraint(checker, at, &names);
    });
    checker.list(&at.child("config"), MOST_CONFIG, |checker, at| {
        names.check(checker, &at.child("requests"));
        parts::configuration(checker, at);
    });
    if cost > MAX_COST {
        checker.forbidden(
            &at,
            "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit",
        );
    }
}

/// The names of requests, with those of their alternatives.
struct RequestNames<'v>(HashMap<&'v str, HashSet<&'v str>>);

impl<'v> RequestNames<'v> {
    fn of(requests: &'v [Value]) -> Self {
        let of_request = |request: &'v Value| {
            let subrequests = items(request, "firstAvailable").iter();
            let names = subrequests.map(|subrequest| text(subrequest, "name"));
            (text(request, "name"), names.collect())
        };
        Self(requests.iter().map(of_request).collect())
    }

    fn has(&self, reference: &str) -> bool {
        match reference.split_once('/') {
            None => self.0.contains_key(reference),
            Some((request, subrequest)) => self
                .0
                .get(request)
                .is_some_and(|names| names.contains(subrequest)),
        }
    }

    /// Looks at references to requests.
    fn check(&self, checker: &mut Checker<'_>, at: &Place<'_>) {
        let why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        checker.set(at, MOST_REQUESTS, "", |checker, at| {
            let reference = at.text();
            if reference.matches('/').count() > 1 {
                return checker.invalid_text(at, reference, why);
            }
            for part in reference.split('/') {
                checker.all_invalid(at, part, names::label(part.as_bytes()));
            }
            if !self.has(reference) {
                checker.invalid_text(at, reference, why);
            }
        });
    }
}

/// The attributes that constraints name, by the request or subrequest that they are for; by the empty text for those of all.
fn constrained_attributes(devices: &Value) -> HashMap<&str, HashSet<&str>> {
    let mut attributes: HashMap<&str, HashSet<&str>> = HashMap::new();
    for constraint in items(devices, "constraints") {
        let attribute = ["matchAttribute", "distinctAttribute"]
            .into_iter()
            .find_map(|field| constraint[field].as_str());
        let Some(attribute) = attribute else { continue };
        let requests = items(constraint, "requests");
        if requests.is_empty() {
            attributes.entry("").or_default().insert(attribute);
        }
        for request in requests {
            attributes.entry(as_text(request)).or_default().insert(attribute);
        }
    }
    attributes
}

type Constrained<'v> = HashMap<&'v str, HashSet<&'v str>>;

/// Looks at a request, and returns what its computed attributes cost at most.
fn request(checker: &mut Checker<'_>, at: &Place<'_>, constrained: &Constrained<'_>) -> u64 {
    let name = text(at.value, "name");
    parts::label(checker, &at.child("name"));
    let one_of = "exactly one of `exactly` or `firstAvailable` is required";
    let mut cost: u64 = 0;
    let has_subrequests = !items(at.value, "firstAvailable").is_empty();
    match (has(at.value, "exactly"), has_subrequests) {
        (false, false) => checker.required(at, one_of),
        (true, true) => {
            checker.invalid(at, "null", format_args!("{one_of}, but multiple fields are set"));
        }
        (true, false) => cost = wanted(checker, &at.child("exactly"), &[name], constrained),
        (false, true) => {
            let at = at.child("firstAvailable");
            checker.set(&at, MOST_ALTERNATIVES, "/name", |checker, at| {
                parts::label(checker, &at.child("name"));
                let both = format!("{name}/{}", text(at.value, "name"));
                let of_one = wanted(checker, at, &[&both, name], constrained);
                cost = cost.saturating_add(of_one);
            });
        }
    }
    cost
}

/// Looks at what is asked of each device by a request that constraints call by one of `names`.
fn wanted(checker: &mut Checker<'_>, at: &Place<'_>, names: &[&str], constrained: &Constrained<'_>) -> u64 {
    parts::needed(checker, &at.child("deviceClassName"), parts::subdomain);
    parts::selectors(checker, at);
    let cost = derived_attributes(checker, at, names, constrained);
    let at_count = at.child("count");
    let count = at_count.value.as_i64().unwrap_or_default();
    let at_mode = at.child("allocationMode");
    match at_mode.text() {
        "All" if count != 0 => {
            let why = "must not be specified when allocationMode is 'All'";
            checker.invalid(&at_count, count, why);
        }
        "All" => {}
        // Both are what the server defaults.
        "ExactCount" | "" if count >= 0 => {}
        "ExactCount" | "" => checker.invalid(&at_count, count, "must be greater than zero"),
        other => checker.not_supported(&at_mode, other, &["All", "ExactCount"]),
    }
    for toleration in at.child("tolerations").each() {
        parts::toleration(checker, &toleration);
    }
    cost
}

fn derived_attributes(
    checker: &mut Checker<'_>,
    at: &Place<'_>,
    names: &[&str],
    constrained: &Constrained<'_>,
) -> u64 {
    let is_constrained = |attribute: &str| {
        let mut for_it = names.iter().chain([&""]);
        for_it.any(|name| {
            constrained
                .get(name)
                .is_some_and(|attributes| attributes.contains(attribute))
        })
    };
    let mut cost: u64 = 0;
    let at = at.child("derivedAttributes");
    checker.set(&at, MOST_DERIVED_ATTRIBUTES, "/name", |checker, at| {
        parts::needed(checker, &at.child("name"), |checker, at| {
            parts::fully_qualified_name(checker, at);
            if !is_constrained(at.text()) {
                let why = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request";
                checker.invalid_text(at, at.text(), why);
            }
        });
        parts::needed(checker, &at.child("expression"), |checker, at| {
            cost = cost.saturating_add(checker.expression(at, true));
        });
    });
    cost
}

fn constraint(checker: &mut Checker<'_>, at: &Place<'_>, names: &RequestNames<'_>) {
    names.check(checker, &at.child("requests"));
    let mut set = ["matchAttribute", "distinctAttribute"]
        .into_iter()
        .filter(|field| has(at.value, field))
        .peekable();
    if set.peek().is_none() {
        checker.required(
            at,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required",
        );
    }
    for field in set {
        parts::fully_qualified_name(checker, &at.child(field));
    }
}

/// What a class says. Mirrors `resource/validation/validation.go`, `validateDeviceClassSpec`, v1.37.2.
pub(super) fn class(checker: &mut Checker<'_>, at: &Place<'_>) {
    parts::selectors(checker, at);
    checker.list(&at.child("config"), MOST_CONFIG, parts::configuration);
    let at = at.child("extendedResourceName");
    if let Some(name) = at.value.as_str() {
        let is_native = !name.contains('/') || name.contains("kubernetes.io/");
        let of_quota = names::qualified_name(&format!("requests.{name}"));
        if is_native || name.starts_with("requests.") || !of_quota.is_empty() {
            checker.invalid_text(&at, name, "must be a valid extended resource name");
        }
    }
}
