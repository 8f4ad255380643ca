//! `kubectl dra cel`: what becomes of a selector, in new objects and on the devices that there are.

mod words;

use std::collections::BTreeSet;

use serde::Serialize;

use super::Warnings;
use super::claim_filter::names_device;
use dra_allocator::devices::{
    ClassSelectors, DeviceNode, Match, WantedNode, expressions_of_new_objects, known_names, node_of,
    slice_device,
};
use dra_cel::{DeviceInput, Environment, FailingTerm, Found, Mistake, Program, Refusal, Repair, repairs};
use dra_model::{Cluster, DeviceId, Kind, Str};

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct SelectorReport {
    /// Why the scheduler cannot compile the expression, which ends the scheduling of every claim that has it. Absent if it can.
    pub compile_error: Option<String>,
    /// Answer of the API server to the expression in a new object.
    pub new_objects: NewObjects,
    /// The devices that were asked for, by driver and pool, in a pool in the order in which the scheduler tries them. None if the
    /// expression does not compile.
    pub devices: Vec<SelectedDevice>,
    /// Expressions that may be meant where this one does not compile, is refused or fails on a device. Each was compiled and evaluated, and
    /// does none of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<SelectorHint>,
    /// Whether devices could not be read.
    #[serde(skip)]
    pub incomplete: bool,
    /// Warnings.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// An expression that may be meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SelectorHint {
    /// Differences to the expression, with their reasons.
    #[schemars(length(min = 1))]
    pub messages: Vec<String>,
    /// The expression.
    pub expression: String,
    /// Number of matching devices; it fails on none.
    pub matches: usize,
}

/// The verdict of the API server.
#[macro_rules_attribute::apply(report)]
pub struct NewObjects {
    /// Whether it takes the expression.
    pub accepted: bool,
    /// Why it is refused, without the path of the field.
    pub error: Option<String>,
    /// The worst case that it estimates; absent if the expression does not compile.
    pub max_cost: Option<u64>,
}

/// Result of the expression for a device.
#[macro_rules_attribute::apply(report)]
pub struct SelectedDevice {
    /// The driver.
    pub driver: Str,
    /// The pool.
    pub pool: Str,
    /// The device.
    pub device: Str,
    /// The node, if there is one for the device.
    pub node: Option<Str>,
    /// Nodes that can access the device.
    #[serde(skip)]
    pub nodes: DeviceNode,
    /// The result.
    pub result: Selected,
    /// Why nothing came out.
    pub error: Option<String>,
    /// Cost of the evaluation. The scheduler stops at 1000000.
    pub cost: u64,
    /// The terms that are not true, unless the device matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<FailingItem>,
}

/// Result of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum Selected {
    /// True.
    Match,
    /// False.
    NoMatch,
    /// Nothing, which ends the scheduling of a claim that meets the device.
    Error,
}

/// A term of the expression, as joined by `&&`, that is not true.
#[macro_rules_attribute::apply(report)]
pub struct FailingItem {
    /// The term.
    pub expression: String,
    /// Why it has no value.
    pub error: Option<String>,
    /// Values of the device that it sees.
    pub seen: Vec<SeenItem>,
}

/// A part of the device.
#[macro_rules_attribute::apply(report)]
pub struct SeenItem {
    /// Path in the expression.
    pub expression: String,
    /// The value, as CEL writes it.
    pub value: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
}

impl SelectedDevice {
    /// The device.
    pub fn id(&self) -> DeviceId {
        DeviceId::new(&self.driver, &self.pool, &self.device)
    }
}

/// On which devices to evaluate. The default takes all that are published.
#[derive(Clone, Debug, Default)]
pub struct SelectorFilter {
    /// These: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`; empty means all.
    pub names: Vec<String>,
    /// Of this driver.
    pub driver: Option<Str>,
    /// Of this class.
    pub class: Option<Str>,
    /// That this node reaches.
    pub node: Option<Str>,
}

/// Kinds that the report is made from. With a class or a node in the filter, those too.
pub const CEL_NEEDS: [Kind; 1] = [Kind::ResourceSlice];

/// What `expression` comes to in `cluster`.
pub fn cel(cluster: &Cluster, expression: &str, filter: &SelectorFilter) -> SelectorReport {
    let server = expressions_of_new_objects(cluster.environment());
    let selectors = ClassSelectors::of(cluster);
    let selector = selectors.selector(&expression.into());
    let mut warnings = Warnings::default();
    let gap = cluster.gap(Kind::ResourceSlice, "");
    if let Some(gap) = gap {
        warnings.unknown(words::DEVICES, gap);
    }
    let mut not_judged = false;
    let (compile_error, devices) = match selector.program() {
        Ok(program) => {
            let (devices, some_missing) = evaluate(
                cluster,
                program,
                &selectors,
                filter,
                &mut warnings,
                Shows::Reasons,
            );
            not_judged = some_missing;
            (None, devices)
        }
        Err(error) => (Some(error.to_string()), Vec::new()),
    };
    let fails = |device: &&SelectedDevice| device.result == Selected::Error;
    let matches = |device: &SelectedDevice| device.result == Selected::Match;
    let is_broken = compile_error.is_some() || devices.iter().any(|device| fails(&device));
    let hints = if is_broken || !devices.iter().any(matches) {
        let failing = devices.iter().filter(fails);
        let failing = failing.map(|device| device.driver.to_string()).collect();
        // Values of different types are never equal, which no error shows.
        let is_silent = |found: &Found| {
            matches!(
                found.mistake,
                Mistake::IntCompared
                    | Mistake::BoolCompared
                    | Mistake::StringCompared
                    | Mistake::VersionCompared
                    | Mistake::QuantityCompared
            )
        };
        let is_meant = |found: &Found| is_broken || is_silent(found);
        hints(cluster, expression, &selectors, filter, &failing, is_meant)
    } else {
        Vec::new()
    };
    SelectorReport {
        compile_error,
        new_objects: new_objects(&server, expression),
        devices,
        hints,
        incomplete: gap.is_some() || not_judged,
        warnings,
    }
}

/// How many hints are given.
const MOST_HINTS: usize = 2;

/// Expressions that may be meant by one that does not compile, or fails on devices of the drivers `failing`, without mistakes that all are
/// `meant`. Each is tried as the expression was.
fn hints(
    cluster: &Cluster,
    expression: &str,
    selectors: &ClassSelectors,
    filter: &SelectorFilter,
    failing: &BTreeSet<String>,
    meant: impl Fn(&Found) -> bool,
) -> Vec<SelectorHint> {
    let known = known_names(cluster);
    let server = expressions_of_new_objects(cluster.environment());
    // What matches something is rather meant.
    let mut hints = [Hints::default(), Hints::default()];
    for repair in repairs(expression, &known, failing) {
        let Repair { found, expression } = repair;
        if !found.iter().all(&meant) {
            continue;
        }
        if hints[0].have(&found) {
            continue;
        }
        let selector = selectors.selector(&expression.as_str().into());
        let Ok(program) = selector.program() else { continue };
        if server.admit(&expression).is_err() {
            continue;
        }
        let mut unused = Warnings::default();
        let (devices, some_missing) =
            evaluate(cluster, program, selectors, filter, &mut unused, Shows::Results);
        let fails = devices.iter().any(|device| device.result == Selected::Error);
        if some_missing || fails || devices.is_empty() {
            continue;
        }
        let matches = devices
            .iter()
            .filter(|device| device.result == Selected::Match)
            .count();
        let of = &mut hints[usize::from(matches == 0)];
        if of.have(&found) || of.hints.len() == MOST_HINTS {
            continue;
        }
        of.hints.push(SelectorHint {
            messages: found.iter().map(words::mistake).collect(),
            expression,
            matches,
        });
        of.found.push(found);
        if hints[0].hints.len() == MOST_HINTS {
            break;
        }
    }
    let [matching, others] = hints;
    if matching.hints.is_empty() {
        others.hints
    } else {
        matching.hints
    }
}

/// Hints, and the mistakes that they are without.
#[derive(Default)]
struct Hints {
    hints: Vec<SelectorHint>,
    found: Vec<Vec<Found>>,
}

impl Hints {
    /// Returns whether a hint without some of these mistakes alone is among them: what helps needs no more.
    fn have(&self, found: &[Found]) -> bool {
        let mut all = self.found.iter();
        all.any(|fewer| fewer.iter().all(|one| found.contains(one)))
    }
}

fn new_objects(server: &Environment, expression: &str) -> NewObjects {
    match server.admit(expression) {
        Ok(max_cost) => NewObjects {
            accepted: true,
            error: None,
            max_cost: Some(max_cost),
        },
        Err(refusal) => NewObjects {
            accepted: false,
            error: Some(refusal.to_string()),
            max_cost: match refusal {
                Refusal::TooComplex { max_cost } => Some(max_cost),
                Refusal::TooLong | Refusal::Compile { .. } => None,
            },
        },
    }
}

/// What is wanted of devices that do not match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Results,
    Reasons,
}

/// The devices with what comes of the program, and whether some are missing because they were not judged.
fn evaluate(
    cluster: &Cluster,
    program: &Program,
    selectors: &ClassSelectors,
    filter: &SelectorFilter,
    warnings: &mut Warnings,
    shows: Shows,
) -> (Vec<SelectedDevice>, bool) {
    if let Some(class) = &filter.class {
        if let Some(gap) = cluster.gap(Kind::DeviceClass, "") {
            warnings.unknown(words::CLASS, gap);
        } else if cluster.class(class).is_none() {
            warnings.add(words::no_class(class));
        }
    }
    let node = filter.node.as_ref().map(|name| WantedNode::of(cluster, name));
    let mut found = Vec::new();
    let mut not_judged = 0;
    for pool in cluster.pools() {
        if filter
            .driver
            .as_ref()
            .is_some_and(|driver| *driver != pool.id.driver)
        {
            continue;
        }
        for (slice, device, selectable) in selectors.devices(&pool) {
            let id = pool.device_id(&device.name);
            let named = filter.names.is_empty() || filter.names.iter().any(|name| names_device(name, &id));
            if !named {
                continue;
            }
            match node.as_ref().map(|node| node.reaches(slice, device)) {
                None | Some(Ok(true)) => {}
                Some(Ok(false)) => continue,
                Some(Err(why)) => {
                    warnings.add(words::reaches(&id, &why));
                    continue;
                }
            }
            if let Some(class) = &filter.class {
                match selectors.matches(class, &selectable) {
                    Match::Yes => {}
                    Match::No => continue,
                    Match::Error(why) => {
                        warnings.add(words::of_class(&id, class, &why));
                        continue;
                    }
                    Match::Unknown => {
                        not_judged += 1;
                        continue;
                    }
                }
            }
            let seen = DeviceInput::of(slice_device(&slice.spec.driver, device));
            let evaluation = program.evaluate(&seen);
            let (result, error) = match evaluation.result {
                Ok(true) => (Selected::Match, None),
                Ok(false) => (Selected::NoMatch, None),
                Err(error) if error.is_not_tried() => {
                    not_judged += 1;
                    continue;
                }
                Err(error) => (Selected::Error, Some(error.to_string())),
            };
            let failing = match result {
                Selected::NoMatch | Selected::Error if shows == Shows::Reasons => program.explain(&seen),
                _ => Vec::new(),
            };
            let DeviceId {
                driver,
                pool,
                device: name,
            } = id;
            let (node, nodes) = node_of(slice, device);
            found.push(SelectedDevice {
                driver,
                pool,
                device: name,
                node,
                nodes,
                result,
                error,
                cost: evaluation.cost,
                failing: failing.into_iter().map(failing_item).collect(),
            });
        }
    }
    if not_judged > 0 {
        warnings.add(words::not_evaluated(not_judged));
    }
    (found, not_judged > 0)
}

fn failing_item(term: FailingTerm) -> FailingItem {
    FailingItem {
        expression: term.text,
        error: term.result.err().map(|error| error.to_string()),
        seen: term
            .seen
            .into_iter()
            .map(|seen| {
                let (value, error) = match seen.value {
                    Ok(value) => (Some(value), None),
                    Err(error) => (None, Some(error.to_string())),
                };
                SeenItem {
                    expression: seen.text,
                    value,
                    error,
                }
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dra_testing::{World, json_of};

    fn world() -> Cluster {
        World::default()
            .class_with(
                "big",
                &json!([{"cel": {"expression": "device.attributes['d'].size > 1"}}]),
            )
            .slice(
                "node-1",
                &json!([
                    {"name": "a", "attributes": {"size": {"int": 1}}},
                    {"name": "b", "attributes": {"size": {"int": 2}}},
                    {"name": "c"},
                ]),
            )
            .build()
    }

    fn results(report: &SelectorReport) -> Vec<(&str, Selected)> {
        report
            .devices
            .iter()
            .map(|device| (device.device.as_str(), device.result))
            .collect()
    }

    #[test]
    fn each_device_matches_or_not_or_fails() {
        let report = cel(
            &world(),
            "device.attributes['d'].size == 2",
            &SelectorFilter::default(),
        );
        assert_eq!(
            json_of(&report),
            json!({
                "newObjects": {"accepted": true, "maxCost": 5},
                "devices": [
                    {"driver": "d", "pool": "node-1", "device": "a", "node": "node-1", "result": "NoMatch", "cost": 5,
                     "failing": [{"expression": "device.attributes['d'].size == 2",
                                  "seen": [{"expression": "device.attributes[\"d\"].size", "value": "1"}]}]},
                    {"driver": "d", "pool": "node-1", "device": "b", "node": "node-1", "result": "Match", "cost": 5},
                    {"driver": "d", "pool": "node-1", "device": "c", "node": "node-1", "result": "Error",
                     "error": "no such key: size", "cost": 5,
                     "failing": [{"expression": "device.attributes['d'].size == 2", "error": "no such key: size",
                                  "seen": [{"expression": "device.attributes[\"d\"].size", "error": "no such key: size"}]}]},
                ],
                "hints": [{"messages": ["not every device has `size`: use `.?` and orValue for a default"],
                           "expression": "device.attributes[\"d\"].?size.orValue(0) == 2", "matches": 1}],
            })
        );
    }

    #[test]
    fn devices_are_chosen_by_name_class_driver_and_node() {
        let chosen = |filter: SelectorFilter| {
            let report = cel(&world(), "true", &filter);
            results(&report)
                .into_iter()
                .map(|(name, _)| name.to_owned())
                .collect::<Vec<_>>()
        };
        let filter = SelectorFilter::default;
        assert_eq!(chosen(filter()), ["a", "b", "c"]);
        let names = vec!["node-1/a".to_owned(), "c".to_owned()];
        assert_eq!(chosen(SelectorFilter { names, ..filter() }), ["a", "c"]);
        let class = Some("big".into());
        assert_eq!(chosen(SelectorFilter { class, ..filter() }), ["b"]);
        let driver = Some("other".into());
        assert_eq!(chosen(SelectorFilter { driver, ..filter() }), [""; 0]);
        let node = Some("node-2".into());
        assert_eq!(chosen(SelectorFilter { node, ..filter() }), [""; 0]);
    }

    #[test]
    fn what_may_be_meant_was_tried() {
        let hints = |expression: &str| cel(&world(), expression, &SelectorFilter::default()).hints;
        let missing = "not every device has `size`: use `.?` and orValue for a default";
        assert_eq!(
            hints("device.attributes['d'].size == 2"),
            [SelectorHint {
                messages: vec![missing.to_owned()],
                expression: "device.attributes[\"d\"].?size.orValue(0) == 2".to_owned(),
                matches: 1,
            }]
        );
        let domain = "`size` needs its domain, as in [\"DOMAIN\"].size";
        assert_eq!(
            hints("device.attributes.size == 2"),
            [SelectorHint {
                messages: vec![domain.to_owned(), missing.to_owned()],
                expression: "device.attributes[\"d\"].?size.orValue(0) == 2".to_owned(),
                matches: 1,
            }]
        );
        assert_eq!(hints("device.nothing"), []);
        assert_eq!(hints("device.attributes['d'].?size.orValue(0) == 2"), []);
    }

    #[test]
    fn what_is_refused_says_why() {
        let cluster = world();
        let refused = |expression: &str| cel(&cluster, expression, &SelectorFilter::default());
        let report = refused("device.nothing");
        let text = "compilation failed: ERROR: <input>:1:7: undefined field 'nothing'";
        assert!(
            report
                .compile_error
                .as_ref()
                .is_some_and(|error| error.starts_with(text))
        );
        assert!(report.devices.is_empty());
        let error = report.new_objects.error.unwrap_or_default();
        assert!(
            error.starts_with(&format!("Invalid value: \"device.nothing\": {text}")),
            "{error}"
        );
        assert_eq!(report.new_objects.max_cost, None);

        let report = refused("lists.range(1000).all(x, lists.range(1000).all(y, x * y >= 0))");
        assert_eq!(report.compile_error, None);
        assert_eq!(
            report.new_objects.error.as_deref(),
            Some("Forbidden: too complex, exceeds cost limit")
        );
        assert!(report.new_objects.max_cost > Some(1_000_000));
    }
}
