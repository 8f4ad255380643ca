//! `kubectl dra check`: problems of a cluster, what keeps a driver in use, what an upgrade or downgrade would break.
//!
//! Each file has the rules of one family, as functions over a cluster that add [`Finding`]s. The codes are in one table, `codes`.
//! A finding that joins several kinds of object is `Possible`, since their lists were taken at different times; [`evidence`] says
//! what to read again, and [`confirmed`] what is left of the findings after that.

mod about;
mod admin;
mod bugs;
mod claims;
mod classes;
mod codes;
mod devices;
mod downgrade;
mod driver;
mod ending;
mod facts;
mod finding;
mod idle;
mod leftovers;
mod nodes;
mod pools;
mod requests;
mod reservations;
mod rights;
mod rules;
mod stages;
mod suppression;
mod target;
#[cfg(test)]
mod tests;
mod upgrade;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;

pub use about::ObjectFindings;
pub use codes::{Code, Facts, Severity, Topic, UnknownCode};
pub use finding::{Certainty, Finding, Fix, Subject, some};
pub use rights::reviews_wanted;
pub use suppression::{StaleSuppression, Suppressed, Suppression, SuppressionList};
pub use target::{Target, TargetError};

pub use upgrade::{Upgrade, UpgradeError};

use super::{Selection, Warnings};
use crate::warnings::{all_missing, are_alike};
use dra_allocator::devices::Inventory;
use dra_model::{Claim, Cluster, Component, Environment, Evidence, Gap, Gate, Key, Kind, Pod, Str, Time};
use dra_rules::reservation::owning_group;
use dra_rules::scheduling::{Run, in_order};

/// The question.
#[derive(Clone, Debug)]
pub enum Question {
    /// Is anything wrong now?
    Now,
    /// Can this driver be removed now, from all nodes or from one?
    Driver {
        /// The driver.
        driver: Str,
        /// Only its devices that this node reaches.
        node: Option<Str>,
    },
    /// What breaks with the control plane that comes next?
    Downgrade(Target),
    /// What breaks on the way up to a newer release?
    Upgrade(Upgrade),
}

impl Question {
    /// Which codes answer it.
    pub fn topic(&self) -> Topic {
        match self {
            Self::Now => Topic::Now,
            Self::Driver { .. } => Topic::Driver,
            Self::Downgrade(_) => Topic::Downgrade,
            Self::Upgrade(_) => Topic::Upgrade,
        }
    }
}

/// What is to be looked for, and where.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// The question.
    pub question: Question,
    /// Findings to look for.
    pub codes: BTreeSet<Code>,
    /// Whose objects are reported. Cluster-scoped objects always are, unless labels are selected.
    pub selection: Selection,
    /// Deadlines are counted to this instant.
    pub now: Time,
    /// For how long a claim may hold devices while no pod runs with it.
    pub idle: Duration,
    /// Only one namespace was read, to describe an object in it: what claims and pods of other namespaces would show is not checked.
    pub in_part: bool,
}

/// For how long a claim may be idle by default: a claim that waits for a person may wait for a day.
pub const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

impl CheckRequest {
    /// Whether the whole cluster is asked about, so that what is not found is nowhere.
    pub fn is_about_all(&self) -> bool {
        let in_part = matches!(&self.question, Question::Driver { node: Some(_), .. });
        self.selection.namespace.is_none() && self.selection.labels.is_empty() && !in_part
    }

    /// Everything that is wrong now, in the whole cluster.
    pub fn now(now: Time) -> Self {
        Self {
            question: Question::Now,
            codes: Code::all()
                .filter(|code| code.facts().topic == Topic::Now)
                .collect(),
            selection: Selection::default(),
            now,
            idle: IDLE,
            in_part: false,
        }
    }

    /// Leaves out the codes that cannot be checked in `cluster`, because few users can read roles and bindings; those `named` stay.
    #[must_use]
    pub fn told_of(mut self, cluster: &Cluster, named: &[Code]) -> Self {
        rights::leave_out_untold(&mut self.codes, cluster, named);
        self
    }

    /// Kinds of object that the findings are found in.
    pub fn needs(&self) -> BTreeSet<Kind> {
        self.codes
            .iter()
            .flat_map(|code| code.facts().needs)
            .copied()
            .collect()
    }
}

/// The report.
#[macro_rules_attribute::apply(report)]
pub struct FindingList {
    /// The question.
    pub scope: Scope,
    /// How many findings there are.
    pub counts: Counts,
    /// Checks that could not run. If there are any and nothing is found, the exit code is 4.
    pub unknown: Vec<String>,
    /// For a downgrade or an upgrade by step, then the worst first, by code and object.
    pub items: Vec<Finding>,
    /// What was looked for, and in how much.
    pub checked: Checked,
    /// Findings that `--suppressions` accepts. They count nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Suppressed>,
    /// Suppressions that have no effect anymore.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale_suppressions: Vec<StaleSuppression>,
    /// What else readers should know.
    #[serde(skip)]
    pub warnings: Warnings,
}

/// The question.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq)]
pub struct Scope {
    /// The only namespace whose objects are reported. Absent for all. Objects without namespace always are.
    pub namespace: Option<Str>,
    /// The driver that is to be removed.
    pub driver: Option<Str>,
    /// The node that it is to be removed from. Absent for all.
    pub node: Option<Str>,
    /// The release to go to.
    pub to_version: Option<String>,
    /// The releases on the way up to it, one after the other. Absent for a downgrade.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Feature gates that are to be turned off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_gates: Vec<&'static str>,
}

/// What was looked for, and in how much.
#[macro_rules_attribute::apply(report)]
#[derive(Default, PartialEq, Eq)]
pub struct Checked {
    /// The codes.
    pub codes: BTreeSet<Code>,
    /// Those of them that were not checked, or only on a part of the objects, because some could not be read.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub incomplete: BTreeSet<Code>,
    /// The number of claims; absent where they were not read, as of the others.
    pub claims: Option<usize>,
    /// The number of pods.
    pub pods: Option<usize>,
    /// The number of devices in all slices.
    pub devices: Option<usize>,
    /// The number of nodes.
    pub nodes: Option<usize>,
    /// The number of pods with claims that have no node yet, where it is asked what is wrong now; absent where there are none, or where pods
    /// were not read. `explain -A` says why.
    pub pending_pods: Option<usize>,
}

impl Checked {
    fn of(
        cluster: &Cluster,
        codes: &BTreeSet<Code>,
        incomplete: BTreeSet<Code>,
        pending_in: Option<&Selection>,
    ) -> Self {
        let is_pending = |pod: &&Arc<Pod>| {
            pod.node().is_none()
                && !pod.is_terminal()
                && !pod.metadata.is_deleting()
                && !pod.spec.resource_claims.is_empty()
                && pending_in.is_some_and(|selection| selection.includes(&pod.metadata))
        };
        let pending = cluster.pods().filter(is_pending).count();
        // Absence is known only of what some rule looked for, and could see.
        let is_read = |kind: Kind| {
            let is_wanted = codes.iter().any(|code| code.facts().needs.contains(&kind));
            cluster.count(kind) > 0 || is_wanted && cluster.gap(kind, "").is_none()
        };
        let count = |kind| is_read(kind).then(|| cluster.count(kind));
        Self {
            codes: codes.clone(),
            incomplete,
            claims: count(Kind::ResourceClaim),
            pods: count(Kind::Pod),
            devices: is_read(Kind::ResourceSlice)
                .then(|| cluster.slices().map(|slice| slice.spec.devices.len()).sum()),
            nodes: count(Kind::Node),
            pending_pods: (pending > 0).then_some(pending),
        }
    }

    /// Whether no check could run: all lack objects, and none was read.
    pub fn is_nothing(&self) -> bool {
        let read = [self.claims, self.pods, self.devices, self.nodes];
        self.incomplete == self.codes && read.iter().all(|count| count.unwrap_or(0) == 0)
    }
}

/// Numbers of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "FindingCounts")]
pub struct Counts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// The rest.
    pub infos: usize,
}

impl Counts {
    /// The numbers of `findings`.
    pub fn of(findings: &[Finding]) -> Self {
        let number = |severity| {
            findings
                .iter()
                .filter(|finding| finding.severity == severity)
                .count()
        };
        Self {
            errors: number(Severity::Error),
            warnings: number(Severity::Warning),
            infos: number(Severity::Info),
        }
    }
}

/// Checks everything in `request`.
pub fn check(cluster: &Cluster, request: &CheckRequest) -> FindingList {
    check_by(cluster, request, &in_order)
}

/// The same on the threads of `run`. How many there are shows nowhere in the report.
pub fn check_by(cluster: &Cluster, request: &CheckRequest, run: Run<'_>) -> FindingList {
    const NOW: [fn(&mut Look<'_>); 15] = [
        devices::look,
        reservations::look,
        claims::look,
        requests::look,
        pools::look,
        nodes::look,
        classes::look,
        admin::look,
        idle::look,
        ending::look,
        rules::look,
        leftovers::look,
        bugs::look,
        rights::look,
        stages::look,
    ];
    let shared = Shared {
        cluster,
        inventory: OnceLock::new(),
        group_claims: OnceLock::new(),
    };
    let mut look = Look::new(&shared, request);
    look.note_gaps();
    match &request.question {
        Question::Now => {
            let families: Vec<OnceLock<Found>> = NOW.iter().map(|_| OnceLock::new()).collect();
            run(NOW.len(), &|place| {
                families[place].get_or_init(|| {
                    let mut look = Look::new(&shared, request);
                    NOW[place](&mut look);
                    look.found
                });
            });
            for family in families {
                look.found.extend(family.into_inner().unwrap_or_default());
            }
        }
        Question::Driver { driver, node } => driver::look(&mut look, driver, node.as_ref()),
        Question::Downgrade(target) => downgrade::look(&mut look, target),
        Question::Upgrade(upgrade) => upgrade::look(&mut look, upgrade),
    }
    look.report()
}

/// Objects to read again, claims before pods so that an absence is conclusive, each once.
pub fn evidence(findings: &[Finding]) -> BTreeSet<(Kind, Key)> {
    findings
        .iter()
        .filter(|finding| finding.certainty == Certainty::Possible)
        .flat_map(|finding| finding.evidence.iter().cloned())
        .collect()
}

/// `again`, found in objects that were read again, with certainty: what was found `before` too is confirmed unless one of its
/// objects could not be read again.
#[must_use]
pub fn confirmed(again: FindingList, before: &FindingList, unread: &BTreeSet<(Kind, Key)>) -> FindingList {
    let known: BTreeSet<_> = before
        .items
        .iter()
        .map(|finding| (finding.code, &finding.object))
        .collect();
    let items = again
        .items
        .into_iter()
        .map(|mut finding| {
            let seen_twice = known.contains(&(finding.code, &finding.object));
            if seen_twice && !finding.evidence.iter().any(|object| unread.contains(object)) {
                finding.certainty = Certainty::Confirmed;
            }
            finding
        })
        .collect();
    FindingList { items, ..again }
}

/// Claims by namespace and the name of a group's entry.
type GroupClaims<'a> = BTreeMap<(Str, Str), Vec<&'a Arc<Claim>>>;

/// The entry that a claim was generated for: the claim is called GROUP-ENTRY-SUFFIX.
fn entry_of<'a>(claim: &'a Claim, group: &str) -> Option<&'a str> {
    let rest = claim.metadata.name.strip_prefix(group)?.strip_prefix('-')?;
    Some(rest.rsplit_once('-')?.0)
}

/// What several families of rules look at, made by the first that does.
struct Shared<'a> {
    cluster: &'a Cluster,
    inventory: OnceLock<Inventory<'a>>,
    group_claims: OnceLock<GroupClaims<'a>>,
}

/// What was found.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
    incomplete: BTreeSet<Code>,
    unknown: Warnings,
    warnings: Warnings,
}

impl Found {
    fn extend(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.incomplete.extend(other.incomplete);
        self.unknown.extend(other.unknown);
        self.warnings.extend(other.warnings);
    }
}

/// A cluster being looked at, with what was found so far.
struct Look<'a> {
    cluster: &'a Cluster,
    request: &'a CheckRequest,
    shared: &'a Shared<'a>,
    found: Found,
}

impl<'a> Look<'a> {
    fn new(shared: &'a Shared<'a>, request: &'a CheckRequest) -> Self {
        Self {
            cluster: shared.cluster,
            request,
            shared,
            found: Found::default(),
        }
    }

    fn wants(&self, code: Code) -> bool {
        self.request.codes.contains(&code)
    }

    fn wants_any(&self, codes: &[Code]) -> bool {
        codes.iter().any(|code| self.wants(*code))
    }

    fn add(&mut self, finding: Finding) {
        if self.wants(finding.code) {
            self.found.findings.push(finding);
        }
    }

    fn add_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    fn inventory(&self) -> &Inventory<'a> {
        self.shared.inventory.get_or_init(|| Inventory::of(self.cluster))
    }

    /// Allocated claims that were created for PodGroups, by namespace and entry of the group's `spec.resourceClaims`.
    fn group_claims(&self) -> &GroupClaims<'a> {
        self.shared.group_claims.get_or_init(|| {
            let mut claims = GroupClaims::new();
            let allocated = self
                .cluster
                .claims()
                .filter(|claim| claim.status.allocation.is_some());
            for claim in allocated {
                if let Some(entry) = owning_group(claim).and_then(|group| entry_of(claim, group)) {
                    let key = (claim.metadata.namespace.clone(), entry.into());
                    claims.entry(key).or_default().push(claim);
                }
            }
            claims
        })
    }

    /// Whether objects of `kind` in `namespace` (empty: anywhere) may not have been read, so that an absence is not conclusive.
    fn is_hidden(&self, kind: Kind, namespace: &str) -> bool {
        self.cluster.gap(kind, namespace).is_some()
    }

    /// Whether something that began at `since` has lasted for so many seconds. What has no time began long ago.
    fn has_lasted(&self, since: Option<Time>, seconds: u64) -> bool {
        since.is_none_or(|since| self.request.now.since(since).as_secs() >= seconds)
    }

    /// A kind that could not be read makes the answer of every finding that needs it unknown.
    fn note_gaps(&mut self) {
        let request = self.request;
        let namespace = request.selection.namespace.as_deref().unwrap_or_default();
        // Of one place and one reason each.
        let mut hidden: Vec<(BTreeSet<Code>, BTreeSet<&Gap>)> = Vec::new();
        for kind in request.needs() {
            for code in &request.codes {
                let of_devices = kind == Kind::ResourceClaim && code.is_about_devices();
                let everywhere = !kind.is_namespaced() || of_devices && !request.in_part;
                let within = if everywhere { "" } else { namespace };
                // The API server was asked in their place.
                let is_asked = Kind::OF_RIGHTS.contains(&kind)
                    && matches!(code, Code::DriverStatusForbidden | Code::UpgradeDriverRights)
                    && !self.cluster.environment().reviews.is_empty();
                if code.facts().needs.contains(&kind)
                    && !is_asked
                    && let Some(gap) = self.cluster.gap(kind, within)
                {
                    let is_alike = |known: &&mut (_, BTreeSet<&Gap>)| {
                        known.1.first().is_some_and(|known| are_alike(known, gap))
                    };
                    if let Some((codes, gaps)) = hidden.iter_mut().find(is_alike) {
                        codes.insert(*code);
                        gaps.insert(gap);
                    } else {
                        hidden.push((BTreeSet::from([*code]), BTreeSet::from([gap])));
                    }
                }
            }
        }
        for (codes, gaps) in hidden {
            let what = words::not_checked(&codes);
            self.found.incomplete.extend(codes);
            for missing in all_missing(gaps) {
                self.found.unknown.add(format!("{what}: {missing}"));
            }
        }
    }

    fn report(self) -> FindingList {
        let request = self.request;
        let mut items = self.found.findings;
        let selection = &request.selection;
        if let Some(namespace) = &selection.namespace {
            items.retain(|finding| match &finding.object {
                object if object.kind == Kind::Namespace.name() => object.name == *namespace,
                object => object.namespace.is_empty() || object.namespace == *namespace,
            });
        }
        if !selection.labels.is_empty() {
            items.retain(|finding| has_labels(self.cluster, selection, &finding.object));
        }
        items.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let mut scope = Scope {
            namespace: selection.namespace.clone(),
            ..Scope::default()
        };
        match &request.question {
            Question::Now => {}
            Question::Driver { driver, node } => {
                scope.driver = Some(driver.clone());
                scope.node.clone_from(node);
            }
            Question::Downgrade(target) => {
                scope.to_version = target.older.then(|| target.version());
                scope.disabled_gates = target.disabled().map(|gate| gate.name()).collect();
            }
            Question::Upgrade(upgrade) => {
                scope.to_version = Some(upgrade.version());
                scope.path = upgrade.path();
            }
        }
        FindingList {
            scope,
            counts: Counts::of(&items),
            unknown: self.found.unknown.iter().map(str::to_owned).collect(),
            items,
            checked: Checked::of(
                self.cluster,
                &request.codes,
                self.found.incomplete,
                matches!(request.question, Question::Now).then_some(&request.selection),
            ),
            suppressed: Vec::new(),
            stale_suppressions: Vec::new(),
            warnings: self.found.warnings,
        }
    }
}

/// Whether the gates of the component are known. That something is served shows one gate, and not what else it was started with.
fn is_seen(environment: &Environment, component: Component) -> bool {
    Gate::all()
        .map(|gate| environment.gate(component, gate).evidence)
        .any(|evidence| evidence.is_of_now() && !matches!(evidence, Evidence::Served(_)))
}

/// The names of those of `components` whose gates are unknown.
fn unseen(environment: &Environment, components: &[Component]) -> Vec<&'static str> {
    let unseen = components
        .iter()
        .filter(|component| !is_seen(environment, **component));
    unseen.map(<&str>::from).collect()
}

fn has_labels(cluster: &Cluster, selection: &Selection, object: &Subject) -> bool {
    let key = Key::new(object.namespace.clone(), object.name.clone());
    let kind = Kind::all().find(|kind| kind.name() == object.kind);
    let found = kind.and_then(|kind| cluster.get(kind, &key));
    found.is_some_and(|object| selection.has_labels(object.metadata()))
}
