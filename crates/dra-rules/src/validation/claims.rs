//! Claims, the claims of templates, and classes. Mirrors `resource/validation/validation.go`, `validateDeviceClaim`, v1.37.2, and what it
//! calls, with what `v1/zz_generated.validations.go` adds.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::checker::{Checker, Path, as_text, has, items, text};
use super::parts;
use dra_cel::MAX_COST;
use dra_model::MOST_ALTERNATIVES;

const MOST_REQUESTS: usize = 32;
const MOST_CONSTRAINTS: usize = 32;
const MOST_CONFIG: usize = 32;
const MOST_DERIVED_ATTRIBUTES: usize = 32;

/// What a claim asks for.
pub(super) fn spec(checker: &mut Checker<'_>, at: &Path<'_>, spec: &Value) {
    let devices = &spec["devices"];
    let at = at.child("devices");
    let requests = items(devices, "requests");
    let names = RequestNames::of(requests);
    let constrained = constrained_attributes(devices);
    let mut cost: u64 = 0;
    checker.set(
        &at.child("requests"),
        requests,
        MOST_REQUESTS,
        |request| text(request, "name"),
        |checker, at, request| {
            cost = cost.saturating_add(self::request(checker, at, request, &constrained));
        },
    );
    let constraints = items(devices, "constraints");
    let at_constraints = at.child("constraints");
    if checker.has_room(&at_constraints, constraints.len(), MOST_CONSTRAINTS) {
        for (index, constraint) in constraints.iter().enumerate() {
            self::constraint(checker, &at_constraints.index(index), constraint, &names);
        }
    }
    let configs = items(devices, "config");
    let at_configs = at.child("config");
    if checker.has_room(&at_configs, configs.len(), MOST_CONFIG) {
        for (index, config) in configs.iter().enumerate() {
            let at = at_configs.index(index);
            names.check(checker, &at.child("requests"), items(config, "requests"));
            parts::configuration(checker, &at, config);
        }
    }
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
    fn check(&self, checker: &mut Checker<'_>, at: &Path<'_>, references: &[Value]) {
        let why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        checker.set(
            at,
            references,
            MOST_REQUESTS,
            as_text,
            |checker, at, reference| {
                let reference = as_text(reference);
                if reference.matches('/').count() > 1 {
                    return checker.invalid_text(at, reference, why);
                }
                for part in reference.split('/') {
                    parts::label(checker, at, part);
                }
                if !self.has(reference) {
                    checker.invalid_text(at, reference, why);
                }
            },
        );
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
fn request(checker: &mut Checker<'_>, at: &Path<'_>, request: &Value, constrained: &Constrained<'_>) -> u64 {
    let name = text(request, "name");
    parts::label(checker, &at.child("name"), name);
    let subrequests = items(request, "firstAvailable");
    let one_of = "exactly one of `exactly` or `firstAvailable` is required";
    match (has(request, "exactly"), !subrequests.is_empty()) {
        (false, false) => {
            checker.required(at, one_of);
            0
        }
        (true, true) => {
            checker.invalid(at, "null", format_args!("{one_of}, but multiple fields are set"));
            0
        }
        (true, false) => wanted(
            checker,
            &at.child("exactly"),
            &request["exactly"],
            &[name],
            constrained,
        ),
        (false, true) => {
            let mut cost: u64 = 0;
            checker.set(
                &at.child("firstAvailable"),
                subrequests,
                MOST_ALTERNATIVES,
                |subrequest| text(subrequest, "name"),
                |checker, at, subrequest| {
                    let own = text(subrequest, "name");
                    parts::label(checker, &at.child("name"), own);
                    let both = format!("{name}/{own}");
                    let of_one = wanted(checker, at, subrequest, &[&both, name], constrained);
                    cost = cost.saturating_add(of_one);
                },
            );
            cost
        }
    }
}

/// Looks at what is asked of each device by a request that constraints call by one of `names`.
fn wanted(
    checker: &mut Checker<'_>,
    at: &Path<'_>,
    wanted: &Value,
    names: &[&str],
    constrained: &Constrained<'_>,
) -> u64 {
    let class = text(wanted, "deviceClassName");
    let at_class = at.child("deviceClassName");
    if class.is_empty() {
        checker.required(&at_class, "");
    } else {
        parts::subdomain(checker, &at_class, class);
    }
    parts::selectors(checker, at, wanted);
    let cost = derived_attributes(checker, at, wanted, names, constrained);
    let count = wanted["count"].as_i64().unwrap_or_default();
    let at_count = at.child("count");
    match text(wanted, "allocationMode") {
        "All" if count != 0 => {
            checker.invalid(
                &at_count,
                count,
                "must not be specified when allocationMode is 'All'",
            );
        }
        "All" => {}
        // Both are what the server defaults.
        "ExactCount" | "" if count >= 0 => {}
        "ExactCount" | "" => checker.invalid(&at_count, count, "must be greater than zero"),
        other => checker.not_supported(&at.child("allocationMode"), other, &["All", "ExactCount"]),
    }
    let at = at.child("tolerations");
    for (index, toleration) in items(wanted, "tolerations").iter().enumerate() {
        parts::toleration(checker, &at.index(index), toleration);
    }
    cost
}

fn derived_attributes(
    checker: &mut Checker<'_>,
    at: &Path<'_>,
    wanted: &Value,
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
    checker.set(
        &at.child("derivedAttributes"),
        items(wanted, "derivedAttributes"),
        MOST_DERIVED_ATTRIBUTES,
        |attribute| text(attribute, "name"),
        |checker, at, attribute| {
            let (name, expression) = (text(attribute, "name"), text(attribute, "expression"));
            let (at_name, at_expression) = (at.child("name"), at.child("expression"));
            if name.is_empty() {
                checker.required(&at_name, "");
            } else {
                parts::fully_qualified_name(checker, &at_name, name);
                if !is_constrained(name) {
                    let why = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request";
                    checker.invalid_text(&at_name, name, why);
                }
            }
            if expression.is_empty() {
                checker.required(&at_expression, "");
            } else {
                cost = cost.saturating_add(checker.expression(&at_expression, expression, true));
            }
        },
    );
    cost
}

fn constraint(checker: &mut Checker<'_>, at: &Path<'_>, constraint: &Value, names: &RequestNames<'_>) {
    names.check(checker, &at.child("requests"), items(constraint, "requests"));
    let attributes = ["matchAttribute", "distinctAttribute"];
    let mut set = attributes
        .into_iter()
        .filter(|field| has(constraint, field))
        .peekable();
    if set.peek().is_none() {
        checker.required(
            at,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required",
        );
    }
    for field in set {
        parts::fully_qualified_name(checker, &at.child(field), text(constraint, field));
    }
}

/// What a class says. Mirrors `resource/validation/validation.go`, `validateDeviceClassSpec`, v1.37.2.
pub(super) fn class(checker: &mut Checker<'_>, at: &Path<'_>, spec: &Value) {
    parts::selectors(checker, at, spec);
    let configs = items(spec, "config");
    let at_configs = at.child("config");
    if checker.has_room(&at_configs, configs.len(), MOST_CONFIG) {
        for (index, config) in configs.iter().enumerate() {
            parts::configuration(checker, &at_configs.index(index), config);
        }
    }
    if let Some(name) = spec["extendedResourceName"].as_str() {
        let at = at.child("extendedResourceName");
        let is_native = !name.contains('/') || name.contains("kubernetes.io/");
        let of_quota = dra_model::names::qualified_name(&format!("requests.{name}"));
        if is_native || name.starts_with("requests.") || !of_quota.is_empty() {
            checker.invalid_text(&at, name, "must be a valid extended resource name");
        }
    }
}
