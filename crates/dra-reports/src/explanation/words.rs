//! The sentences of explanations. Nothing reads them again.

use dra_allocator::devices::RuledOut;
use dra_allocator::{AttemptError, ConstraintName, ErrorSubject, Failure, Shortage};
use dra_model::{DeviceId, Event, Gate, Key, Str, Taint};
use dra_rules::owners::{Incomplete, OwnerName, Queued};
use dra_rules::reservation::ClaimNameError;
use dra_rules::scheduling::{ClaimProblem, Consumer, Kept, Lack, NoUse, Obstacle, Plain, Spared};

use super::absence::{Absence, ForNodes, Nearest};
use super::diagnosis::{
    Alike, Among, Answer, Bound, Cause, Compared, Condition, DeviceKind, Diagnosis, GangCause, NoPods,
    NotAll, OnNode, Place, Republishing, StatusProblem, Unserved, Warning, Why,
};
use super::fact::{
    Allowed, Brief, Evidence, Fact, Lacking, Limited, Often, Seen, Speaker, Term, Together, Word,
};
use super::items::{Amounts, Holding};
use crate::allocation::words::{claim, of_gang, pod, too_many_consumers};
use crate::listing::{selector_terms, some};
use crate::stage::{broken_link_text, republishing_text, template_missing};

fn claims(keys: &[Key]) -> String {
    let names: Vec<String> = keys.iter().map(claim).collect();
    if names.is_empty() {
        "a claim that is not known".to_owned()
    } else {
        names.join(", ")
    }
}

/// The answer.
pub(super) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Unjudged => String::new(),
        Answer::Unread(text) | Answer::Open(text) => text.clone(),
        Answer::Hidden(kinds) => {
            format!(
                "which node can take it is not known {}",
                crate::warnings::without(kinds)
            )
        }
        Answer::OpenNode(node) => format!("whether it fits on {node} is not known: order decides"),
        Answer::Obstacle(obstacle) => of_obstacle(obstacle),
        Answer::Error => "an error on one node ends the attempt for all".to_owned(),
        Answer::Fits(fits, nodes) => format!("fits on {fits} of {nodes} nodes"),
        Answer::Panics(was, panic) => format!(
            "kube-scheduler {} with a panic (kubernetes/kubernetes#{}); without this bug it {}",
            if panic.is_known { "fails" } else { "may fail" },
            panic.issue,
            self::answer(was)
        ),
        Answer::Full(fits, nodes, key) => {
            format!("fits on {fits} of {nodes} nodes, but {}", too_many_consumers(key))
        }
        Answer::GaveUp(Some(why)) => format!("not decided: {why}"),
        Answer::GaveUp(None) => "not decided within the budget of the search".to_owned(),
        Answer::Nowhere(nodes) => nowhere(*nodes),
        Answer::Gang(gang) => of_gang(gang),
        Answer::KeptByQuota(what, then) => format!(
            "waits, as a quota keeps {what} from being created; with it, it {}",
            self::answer(then)
        ),
        Answer::Allocated(holding) => allocated(holding),
        Answer::Ended(phase) => format!("the pod has ended: {phase}"),
        Answer::NotGone(fact) => format!("the pod is not gone: {}", self::fact(fact)),
        Answer::Failed(fact) => format!("the pod does not run: {}", self::fact(fact)),
        Answer::Bound(bound) => of_bound(bound),
        Answer::Attaching(then, text) => format!("{}, and waits: {text}", self::answer(then)),
        Answer::NoPods(owner, why) => format!("{owner} has no pods{}", no_pods(why)),
        Answer::Contradicted(was, word) => {
            let said = self::word(word);
            match (&**was, &word.who) {
                (Answer::Bound(bound), _) => format!(
                    "the pod is bound to {} and nothing that was read keeps it from starting, but {said}",
                    bound.node
                ),
                (_, Speaker::ClaimController) => {
                    format!("by what was read the claim is only to be made from its template, but {said}")
                }
                (was, _) => format!("by what was read it {}, but {said}", self::answer(was)),
            }
        }
    }
}

fn of_bound(Bound { node, devices, how }: &Bound) -> String {
    let with = if devices.is_empty() {
        String::new()
    } else {
        format!(" with {}", some(devices))
    };
    match how {
        OnNode::Starts => format!("the pod is bound to {node}"),
        OnNode::Runs => format!("the pod runs on {node}{with}"),
        OnNode::Ends(None) => format!("the pod is being ended on {node}"),
        OnNode::Ends(Some(what)) => format!("the pod is being ended on {node}, and {what}"),
        OnNode::Stuck(fact) => format!("the pod is bound to {node}, but {}", self::fact(fact)),
        OnNode::Endangered(fact) => format!("the pod runs on {node}, but {}", self::fact(fact)),
        OnNode::NotEnding(fact) => format!("the pod does not end on {node}: {}", self::fact(fact)),
        OnNode::Hidden(kind) => {
            let kind = kind.plural();
            format!("the pod is bound to {node}; whether it has its devices is not known without {kind}")
        }
        OnNode::Unknown(why) => {
            let why = why.join("; ");
            format!("the pod is bound to {node}; how far it is there is not known: {why}")
        }
    }
}

fn nowhere(nodes: usize) -> String {
    match nodes {
        0 => "there is no node".to_owned(),
        1 => "does not fit on the only node".to_owned(),
        _ => format!("fits on none of {nodes} nodes"),
    }
}

fn allocated(holding: &Holding) -> String {
    const NAMED: usize = 3;
    let names: Vec<&str> = holding
        .devices
        .iter()
        .map(|device| device.rsplit('/').next().unwrap_or(device))
        .collect();
    let devices = match names.as_slice() {
        [] => "no device".to_owned(),
        all if all.len() <= NAMED => all.join(", "),
        all => format!("{} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
    };
    let consumers = match holding.consumers.as_slice() {
        [] => "nobody: it is idle".to_owned(),
        all => {
            let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
            match all.len() - named.len() {
                0 => named.join(", "),
                rest => format!("{} and {rest} more", named.join(", ")),
            }
        }
    };
    let node = holding.node.as_ref();
    let place = node.map_or_else(String::new, |node| format!(" on {node}"));
    format!("allocated{place} ({devices}), used by {consumers}")
}

/// A device and its taint, with the rule that it is from, unless the driver published it.
pub(super) fn tainted(device: &DeviceId, taint: &Taint, rule: Option<&Str>) -> String {
    let by = match rule {
        Some(rule) => format!("rule/{rule}"),
        None => "its driver".to_owned(),
    };
    format!("{device} has the taint {taint} by {by}")
}

/// Why something waits.
pub(crate) fn why(why: &Why) -> String {
    match why {
        Why::Cause(cause) => self::cause(cause),
        Why::Fact(fact) => self::fact(fact),
        Why::Answer(answer) => self::answer(answer),
    }
}

/// The cause.
pub(super) fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Nowhere(nodes) => nowhere(*nodes),
        Cause::Error(error) => of_error(error),
        Cause::TooManyConsumers(key) => too_many_consumers(key),
        Cause::Allocated(key, node, place) => {
            let why = match place {
                Place::NodeName => "while the pod names another node".to_owned(),
                Place::NodeAffinity => "which the pod's node selector or affinity rules out".to_owned(),
                Place::Cordoned => "which is cordoned".to_owned(),
                Place::NodeOperations => format!(
                    "which does not declare the feature {}: its devices skip node operations",
                    Gate::DRAOptionalNodeOperations
                ),
                Place::Other(fact) => format!("which cannot take the pod: {}", self::fact(fact)),
            };
            format!("{} is allocated for node {node}, {why}", claim(key))
        }
        Cause::Alike(Brief::Fact(Fact::RuledOut(_, Evidence::Lacking(lacking)))) => of_lacking(lacking),
        Cause::Alike(brief) => self::brief(brief),
        Cause::OnNode(node, fact) => format!("on {node}, {}", self::fact(fact)),
        Cause::Absent(absence) => absent(absence),
        Cause::Unserved(Unserved { driver, nodes, link }) => format!(
            "driver {driver} publishes no device for {}: {}",
            some(nodes),
            broken_link_text(link)
        ),
        Cause::Republishing(found) => republishing(found),
        Cause::Unoffered(resource, class) => match class {
            Some((class, free)) => format!(
                "no node and no class offers {resource}; class {class} has {} and no extendedResourceName",
                free_devices(*free)
            ),
            None => format!("no node and no class offers {resource}"),
        },
        Cause::TooFew(among, wanted, kind) => {
            let which = which(*among);
            match wanted {
                1 => format!("{which} has a usable {}", one(kind)),
                wanted => format!("{which} has {wanted} usable {}", several(kind)),
            }
        }
        Cause::Filtered(node, wanted, kind, why) => {
            let devices = match wanted {
                1 => format!("a usable {}", one(kind)),
                wanted => format!("{wanted} usable {}", several(kind)),
            };
            format!(
                "{node} has {devices}, but cannot take the pod: {}",
                self::fact(why)
            )
        }
        Cause::NotAll(not_all) => of_all(not_all),
        Cause::Alternatives(request, causes) => {
            let causes = causes
                .iter()
                .map(|(name, cause)| format!("{name}: {}", self::cause(cause)));
            format!(
                "no alternative of request {request} fits: {}",
                causes.collect::<Vec<_>>().join("; ")
            )
        }
        Cause::NotAlike(alike) => match &alike.of {
            Compared::Devices(count, kind) => {
                let (number, kind) = (number(*count), several(kind));
                format!("no {number} usable {kind} of one node {}", do_alike(alike))
            }
            Compared::Requests(requests) => format!(
                "no node has usable devices for requests {} that {}",
                listed(requests),
                do_alike(alike)
            ),
        },
        Cause::NotEnough(requests) => not_enough(Among::All, requests),
        Cause::Kept(cause, owner, _) => format!("{}: other pods of {owner} have them", self::cause(cause)),
        Cause::Queued(queued) => self::queued(queued),
        Cause::Held(cause, by) => format!("{}: {}", self::cause(cause), held(by)),
        Cause::Gang(gang, lacks) => {
            let text = of_gang(gang);
            match lacks.as_deref() {
                None => text,
                Some(GangCause::Cause(cause)) => format!("{text}: {}", self::cause(cause)),
                Some(GangCause::Answer(answer)) => format!("{text}: {}", self::answer(answer)),
                Some(GangCause::Waits(key, obstacle)) => {
                    format!("{text}: {} waits: {}", pod(key), of_obstacle(obstacle))
                }
            }
        }
        Cause::Deallocated(cause) => {
            format!("{}; the scheduler deallocates it by itself", self::cause(cause))
        }
        Cause::NoTemplate(template, key) => no_template(template, key),
        Cause::NotMade(why) => not_made(why),
        Cause::Status(problem) => match problem {
            StatusProblem::Gone(key) => {
                format!("its status names {}, which does not exist any more", claim(key))
            }
            StatusProblem::OfEarlierPod(key) => format!(
                "its status names {}, which was made for an earlier pod of its name",
                claim(key)
            ),
            StatusProblem::Of(key, owner) => {
                format!("its status names {}, which was made for {owner}", claim(key))
            }
            StatusProblem::NotMade(key) => {
                format!("its status names {}, which was not made for it", claim(key))
            }
        },
    }
}

/// That drivers have yet to publish again what the start of a kubelet deleted.
pub(super) fn republishing(found: &Republishing) -> String {
    let Republishing {
        nodes,
        since,
        drivers,
        ..
    } = found;
    let who = match drivers.len() {
        0 => "drivers publish".to_owned(),
        1 => format!("driver {} publishes", some(drivers)),
        _ => format!("drivers {} publish", some(drivers)),
    };
    republishing_text(nodes, *since, &who)
}

fn free_devices(count: usize) -> String {
    match count {
        1 => "1 free device".to_owned(),
        count => format!("{count} free devices"),
    }
}

/// At which step no device is left.
pub(super) fn absent(absence: &Absence) -> String {
    match absence {
        Absence::Unpublished(class) => {
            format!("no device is published, of class {class} or any other")
        }
        Absence::OtherClasses(class, published) => {
            format!(
                "no device of class {class} is published, of {}",
                devices(*published)
            )
        }
        Absence::Unselected {
            class,
            of_class,
            nearest,
        } => {
            let all = devices(*of_class);
            match nearest {
                Some(Nearest::Amount {
                    device,
                    name,
                    most,
                    wanted,
                }) => {
                    let mut short = wanted.clone();
                    short.sub(most);
                    format!(
                        "none of {all} of class {class} has {wanted} of {name}: the most is {most} ({device}), {short} short"
                    )
                }
                Some(Nearest::Attribute { name, wanted, there }) => {
                    let there: Vec<String> = there.iter().map(ToString::to_string).collect();
                    let there = listed_names(&there, "and");
                    format!("none of {all} of class {class} has {name} {wanted}: there is {there}")
                }
                Some(Nearest::Term { device, term, seen }) => format!(
                    "the request selects none of {all} of class {class}: of {device}, {}",
                    failing(term, seen)
                ),
                None => format!("the request selects none of {all} of class {class}"),
            }
        }
        Absence::Unreached {
            class,
            selected,
            pool,
            nodes,
        } => {
            let nodes = match nodes {
                ForNodes::Named(name) => format!("is for node {name}, which is not there"),
                ForNodes::Selected(selector) => format!(
                    "is for nodes with {}, which no node has",
                    selector_terms(selector).join(" or ")
                ),
                ForNodes::Unknown => "says of no node that it reaches it".to_owned(),
            };
            format!(
                "no node reaches any of {} of class {class}: pool {pool} {nodes}",
                devices(*selected)
            )
        }
    }
}

fn devices(count: usize) -> String {
    match count {
        1 => "1 device".to_owned(),
        count => format!("{count} devices"),
    }
}

/// That none of these nodes has enough devices for the requests together.
pub(super) fn not_enough(among: Among, requests: &[Str]) -> String {
    format!(
        "{} has enough devices for requests {} together",
        which(among),
        listed(requests)
    )
}

/// That no devices of these nodes, free or not, share an attribute or differ in it.
pub(super) fn never_alike(alike: &Alike, among: Among) -> String {
    match &alike.of {
        Compared::Devices(count, kind) => {
            let of_one = match among {
                Among::All => "one node",
                Among::Left(_) => "one node that the other filters leave",
                Among::Other => "another node",
            };
            let (number, kind) = (number(*count), several(kind));
            format!("no {number} {kind} of {of_one} {}", do_alike(alike))
        }
        Compared::Requests(requests) => format!(
            "{} has devices for requests {} that {}",
            which(among),
            listed(requests),
            do_alike(alike)
        ),
    }
}

/// What devices would have to do with an attribute.
fn do_alike(alike: &Alike) -> String {
    let does = if alike.same { "share" } else { "differ in" };
    let lists = alike.lists_of.as_ref().map_or_else(String::new, |driver| {
        format!(
            ", which driver {driver} publishes as a list: no value to a constraint before 1.37, or without the gate {}",
            Gate::DRAListTypeAttributes
        )
    });
    format!("{does} {}{lists}", alike.attribute)
}

fn of_all(not_all: &NotAll) -> String {
    let NotAll {
        node,
        others,
        kind,
        matching,
        in_use,
        users,
        tainted,
        blocked,
    } = not_all;
    let is = |count: u64| if count == 1 { "is" } else { "are" };
    let mut lost = Vec::new();
    if *in_use > 0 {
        let users: Vec<String> = users.iter().cloned().collect();
        let by = match users.as_slice() {
            [] => String::new(),
            users => format!(" by {}", listed_names(users, "and")),
        };
        lost.push(format!("{in_use} {} in use{by}", is(*in_use)));
    }
    if *tainted > 0 {
        lost.push(format!("{tainted} {} tainted", is(*tainted)));
    }
    if *blocked > 0 {
        lost.push(format!("{blocked} {} ruled out", is(*blocked)));
    }
    let others = match others {
        0 => "",
        _ => "; no other node has all of its own free",
    };
    format!(
        "it wants all {matching} {} of {node}, and {}{others}",
        several(kind),
        lost.join(", ")
    )
}

/// That devices in use can be asked for, too.
pub(super) const ADMIN_ACCESS: &str = "a pod that is to see devices which others use asks for them with adminAccess: true, in a namespace \
                                       with the label resource.kubernetes.io/admin-access=true";

/// Nodes of which none has something.
pub(super) fn which(among: Among) -> String {
    match among {
        Among::All => "no node".to_owned(),
        Among::Left(1) => "no node that the other filters leave".to_owned(),
        Among::Left(nodes) => format!("none of the {nodes} nodes that the other filters leave"),
        Among::Other => "no other node".to_owned(),
    }
}

/// A device of that kind.
pub(super) fn one(kind: &DeviceKind) -> String {
    match kind {
        DeviceKind::Model(model) => model.clone(),
        DeviceKind::Attribute(name, value) => format!("device with {name} {value}"),
        DeviceKind::Class(class) => format!("device of class {class}"),
    }
}

/// Several devices of that kind.
pub(super) fn several(kind: &DeviceKind) -> String {
    match kind {
        DeviceKind::Model(model) => model.clone(),
        DeviceKind::Attribute(name, value) => format!("devices with {name} {value}"),
        DeviceKind::Class(class) => format!("devices of class {class}"),
    }
}

/// A small number in a word.
fn number(count: i64) -> String {
    match count {
        2 => "two".to_owned(),
        count => count.to_string(),
    }
}

fn listed(requests: &[Str]) -> String {
    let names: Vec<String> = requests.iter().map(ToString::to_string).collect();
    listed_names(&names, "and")
}

/// Consumers and nodes that a sentence names.
pub(super) const NAMED: usize = 3;

/// The first few names, and how many there are besides.
pub(super) fn listed_names(names: &[String], last: &str) -> String {
    let rest = names.len().saturating_sub(NAMED);
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., end] if rest == 0 => format!("{} {last} {end}", all.join(", ")),
        _ => format!("{} and {rest} more", names[..NAMED].join(", ")),
    }
}

/// Who holds what is needed and is spared, in few words.
pub(super) fn held(why: &Spared) -> String {
    match why {
        Spared::Kin(owner) => format!("other pods of {owner} have them"),
        Spared::MaybeKin(one, other) => {
            format!("pods have them that may be of its own owner ({one}, {other})")
        }
        Spared::Group(group) => format!("other pods of podgroup/{group} have them"),
        Spared::Written => "pods of the manifest have them".to_owned(),
    }
}

fn no_template(template: &Key, key: &Key) -> String {
    template_missing(template, &pod(key))
}

fn not_made(why: &str) -> String {
    format!("the claim controller makes no claim for it: {why}")
}

/// What keeps the scheduler from looking at nodes, in its words where these do not name what is the subject's own.
pub(super) fn of_obstacle(obstacle: &Obstacle) -> String {
    let own = Key::default();
    match obstacle {
        Obstacle::Claim(ClaimProblem::Name(ClaimNameError::NotCreated { pod })) if *pod == own => {
            "ResourceClaim not created yet".to_owned()
        }
        Obstacle::Claim(ClaimProblem::Name(ClaimNameError::Unsupported { pod, entry })) if *pod == own => {
            format!("spec.resourceClaim {entry}: none of the supported fields are set")
        }
        Obstacle::Claim(ClaimProblem::Missing { claim }) if *claim == own => {
            "could not find its ResourceClaim".to_owned()
        }
        Obstacle::Claim(ClaimProblem::Deleting { claim }) if *claim == own => {
            "its ResourceClaim is being deleted".to_owned()
        }
        Obstacle::Claim(ClaimProblem::Owner { claim, .. }) if *claim == own => {
            "its ResourceClaim was not created for it".to_owned()
        }
        other => other.text(),
    }
}

/// What the error says, without what is known from the rest of the report, and without advice.
fn of_error(AttemptError { subject, failure }: &AttemptError) -> String {
    let what = match failure {
        Failure::Compile(why) => format!("CEL compile error: {why}"),
        Failure::Runtime(why) | Failure::NoSuchKey(why) => why.to_string(),
        Failure::Other(what) => what.clone(),
    };
    let on = |device: &Option<dra_model::DeviceId>| match device {
        Some(device) => format!(" on device {device}"),
        None => String::new(),
    };
    match subject {
        ErrorSubject::Attempt => what,
        ErrorSubject::Request(_, request) => format!("request {request} {what}"),
        ErrorSubject::Subrequest(_, request) => format!("subrequest {request}: {what}"),
        ErrorSubject::RequestSelector(_, request, place) => {
            format!("request {request}, selector #{place} {what}")
        }
        ErrorSubject::Constraint(_, place) => format!("constraint #{place}: {what}"),
        ErrorSubject::ClaimSelector(_, place, device) => format!("selector #{place}{}: {what}", on(device)),
        ErrorSubject::ClassSelector(class, place, device) => {
            format!("class {class}: selector #{place}{}: {what}", on(device))
        }
    }
}

/// What a component said, and when.
fn word(Word { who, said, at, often }: &Word) -> String {
    let when = at.map(|at| format!(" at {at}")).unwrap_or_default();
    let often = often
        .as_ref()
        .map_or_else(String::new, |often| format!(", {}", self::often(often)));
    format!("{} said{when}{often}: {said}", speaker(who))
}

/// How often something was said.
fn often(Often { times, since }: &Often) -> String {
    match since {
        Some(since) => format!("{times} times since {since}"),
        None => format!("{times} times"),
    }
}

/// A warning of the cluster.
pub(super) fn warning(warning: &Warning) -> String {
    let Warning {
        reason,
        message,
        component,
        often,
        last,
    } = warning;
    let Some(often) = often else {
        return format!("{reason}: {message}");
    };
    let who = if component.is_empty() {
        String::new()
    } else {
        format!("{component}, ")
    };
    let last = last.map_or_else(String::new, |last| format!(", last at {last}"));
    format!("{reason} ({who}{}{last}): {message}", self::often(often))
}

/// What gathers nodes and lacks some.
fn gathering(owner: &OwnerName, incomplete: &Incomplete, missing: &[Key]) -> String {
    let Incomplete { wanted, there } = incomplete;
    let nodes: Vec<String> = there
        .iter()
        .map(|(name, status)| match status.as_str() {
            "" => name.to_string(),
            status => format!("{name}: {status}"),
        })
        .collect();
    let nodes = if nodes.is_empty() {
        String::new()
    } else {
        format!(" ({})", listed_names(&nodes, "and"))
    };
    let names: Vec<String> = missing.iter().map(pod).collect();
    let rest = match names.len() {
        0 => String::new(),
        1 => format!("; {} has no node yet", listed_names(&names, "and")),
        _ => format!("; {} have no node yet", listed_names(&names, "and")),
    };
    format!(
        "{owner} has {} of {wanted} nodes{nodes}, and starts no pod before it has all{rest}",
        there.len()
    )
}

/// What a queue holds back.
fn queued(queued: &Queued) -> String {
    let Queued {
        workload,
        gave_up,
        reason,
        message,
        since,
    } = queued;
    let state = if *gave_up { "has given up on" } else { "holds back" };
    let mut code = String::new();
    if !reason.is_empty() {
        let since = since.map_or_else(String::new, |since| format!(" since {since}"));
        code = format!(" ({reason}{since})");
    }
    let said = if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    };
    format!("Kueue {state} workload/{}{code}{said}", workload.name)
}

/// What a pod lacks whose node others wait for.
pub(super) fn of_member(key: &Key, diagnosis: &Diagnosis) -> String {
    let cause = diagnosis
        .cause
        .as_ref()
        .filter(|cause| !diagnosis.answer.tells(cause));
    let cause = cause.map_or_else(String::new, |cause| format!(": {}", self::cause(cause)));
    let waiting = diagnosis.waiting.as_ref();
    let waiting = waiting.map_or_else(String::new, |waiting| format!("; {}", waiting.summary));
    format!("{} {}{cause}{waiting}", pod(key), answer(&diagnosis.answer))
}

/// Pods that wait for the subject.
pub(super) fn circle(kind: &str, name: &str, keys: &[Key]) -> String {
    let names: Vec<String> = keys.iter().map(pod).collect();
    let wait = if names.len() == 1 { "waits" } else { "wait" };
    format!(
        "{} {wait} for this pod: {kind} {name} starts no pod before all have nodes",
        listed_names(&names, "and")
    )
}

/// What a node lacks beside devices.
pub(super) fn lacking(lacks: &[Lack]) -> String {
    let one = |lack: &Lack| {
        let Lack {
            resource,
            wanted,
            left,
            total,
        } = lack;
        format!("{resource}: wants {wanted}, {left} of {total} left")
    };
    if lacks.is_empty() {
        return String::new();
    }
    let all: Vec<String> = lacks.iter().map(one).collect();
    format!(" ({})", all.join("; "))
}

/// That the owner of the subject keeps those who have what it needs.
pub(super) fn kept(consumers: &[Consumer], owner: &OwnerName, why: Kept) -> String {
    let names: Vec<String> = consumers.iter().map(ToString::to_string).collect();
    let (holds, it) = if names.len() == 1 {
        ("holds", "it")
    } else {
        ("hold", "them")
    };
    let who = listed_names(&names, "and");
    match why {
        Kept::Rollout { surge, unavailable } => format!(
            "waiting never helps: {who} {holds} what it needs, and the rollout of {owner} keeps {it} until this pod is ready (maxSurge \
             {surge}, maxUnavailable {unavailable}); deleting {it} only has {it} made again"
        ),
        Kept::Beside => format!(
            "waiting never helps: {who} {holds} what it needs, and {owner} wants {it} beside this pod: it takes fewer replicas, or more \
             devices"
        ),
    }
}

/// That a rollout ends those who have what the subject needs.
pub(super) fn rolled_out(consumers: &[Consumer], owner: &OwnerName, have: &str) -> String {
    let names: Vec<String> = consumers.iter().map(ToString::to_string).collect();
    format!(
        "waiting helps: {have} enough when the rollout of {owner} has ended {}, which it does without waiting for this pod",
        listed_names(&names, "or")
    )
}

/// Which of the pods of an owner is told of.
pub(super) fn one_of_pods(owner: &OwnerName, pods: usize, looked_at: usize, is_fine: bool) -> String {
    if is_fine && looked_at < pods {
        format!("{owner} has {pods} pods, and of {looked_at} that were looked at none waits")
    } else if is_fine {
        format!("{owner} has {pods} pods, none of which waits")
    } else {
        format!("it is the first of the {pods} pods of {owner} that waits")
    }
}

fn no_pods(why: &NoPods) -> String {
    match why {
        NoPods::Queued(queued) => format!(": {}", self::queued(queued)),
        NoPods::Suspended => ", as it is suspended: spec.suspend is true".to_owned(),
        NoPods::Says(said) => format!(": {}", condition(said)),
        NoPods::Refused(word) => format!(": {}", self::word(word)),
        NoPods::Ended(said) => format!(", as it has ended: {}", condition(said)),
        NoPods::Zero => ", as it is to have none: spec.replicas is 0".to_owned(),
        NoPods::Unknown => "; why is not known".to_owned(),
    }
}

fn condition(said: &Condition) -> String {
    let Condition {
        type_,
        reason,
        message,
        since,
    } = said;
    let since = since.map_or_else(String::new, |since| format!(" since {since}"));
    match (reason.as_str(), message.as_str()) {
        ("", "") => format!("{type_}{since}"),
        (reason, "") => format!("{type_}{since}, {reason}"),
        ("", message) => format!("{type_}{since}: {message}"),
        (reason, message) => format!("{type_}{since}, {reason}: {message}"),
    }
}

/// For how long a scheduler has tried in vain, where it has more than once.
pub(super) fn tried(event: &Event) -> Option<String> {
    let often = Often::of(event)?;
    let last = event
        .last_seen()
        .map_or_else(String::new, |last| format!(", last at {last}"));
    Some(format!(
        "its scheduler has tried in vain {}{last}",
        self::often(&often)
    ))
}

/// A component that says something.
fn speaker(who: &Speaker) -> String {
    match who {
        Speaker::Scheduler => "kube-scheduler".to_owned(),
        Speaker::OtherScheduler(name) => format!("scheduler {name}"),
        Speaker::Kubelet => "the kubelet".to_owned(),
        Speaker::ClaimController => "the claim controller".to_owned(),
        Speaker::Component(name) => name.to_string(),
    }
}

/// That another scheduler decides by rules of its own.
pub(super) fn has_other_rules(name: &str) -> String {
    format!(
        "a possible cause: a rule or a bug of scheduler {name}, whose rules are not simulated: its log says more"
    )
}

/// That the state may have changed since a component said something.
pub(super) fn may_have_changed(who: &Speaker) -> String {
    let not_yet = match who {
        Speaker::Scheduler | Speaker::OtherScheduler(_) => "the scheduler",
        Speaker::Kubelet => "the kubelet",
        Speaker::ClaimController | Speaker::Component(_) => "the controller",
    };
    format!("a possible cause: the state has changed since then, and {not_yet} has not tried again")
}

/// That a component may have a bug.
pub(super) fn may_be_a_bug(who: &Speaker) -> String {
    let who = speaker(who);
    format!("a possible cause: a bug of this release of {who} that is not known here")
}

/// That something of the scheduler may decide which is not simulated.
pub(super) fn may_not_be_simulated(filters: &[String]) -> String {
    if filters.is_empty() {
        "a possible cause: a plugin or an extender of kube-scheduler that is not simulated".to_owned()
    } else {
        let filters = filters.join(", ");
        format!("a possible cause: filters that are not simulated: {filters}")
    }
}

/// A reason in a sentence. `about` is the claim that it is about.
pub(super) fn of_reason(about: Option<&Key>, fact: &Fact) -> String {
    let of_claim = || about.map_or_else(String::new, claim);
    match fact {
        Fact::Binding(state) => format!("{}: {}", of_claim(), state.text()),
        Fact::TooManyConsumers => about.map_or_else(String::new, too_many_consumers),
        Fact::NodeOperations => format!(
            "{} has devices that skip node operations, for which the node does not declare the feature {}",
            of_claim(),
            Gate::DRAOptionalNodeOperations
        ),
        Fact::Released(why, group) => {
            let idle = match (group, why) {
                (Some(group), _) => {
                    format!(", and reserved for podgroup/{group}, of which no pod has a node")
                }
                (None, NoUse::OtherNodes) => " and idle".to_owned(),
                (None, _) => String::new(),
            };
            let why = match why {
                NoUse::OtherNodes => "is allocated elsewhere",
                NoUse::NotReady => "has devices that are not ready",
                NoUse::NodeOperations => {
                    "has devices that skip node operations, for which its node declares no feature"
                }
            };
            format!(
                "{} {why}{idle}: the scheduler deallocates it by itself and tries again",
                of_claim()
            )
        }
        Fact::ReservedForGroup(group, knows_groups) => {
            let why = if *knows_groups {
                "others of its pods have a node, or it is not one of the group's claims".to_owned()
            } else {
                format!(
                    "it does not know claims of PodGroups, as its gate {} is off",
                    Gate::DRAWorkloadResourceClaims
                )
            };
            format!(
                "{} stays reserved for podgroup/{group}, which the pod is a member of: the scheduler does not take that back, as {why}",
                of_claim()
            )
        }
        Fact::UnreservedByScheduler(group, others) => format!(
            "the scheduler removes the reservation of podgroup/{group} from {} by itself, as none of its pods has a node; {} keeps the \
             claim",
            of_claim(),
            others.join(", ")
        ),
        other => self::fact(other),
    }
}

/// A fact in a sentence.
fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Obstacle(obstacle) => of_obstacle(obstacle),
        Fact::NoTemplate(template, pod) => no_template(template, pod),
        Fact::NotMade(why) => not_made(why),
        Fact::Quota(what, refusal) => format!("{what} cannot be created: it {refusal}"),
        Fact::NotNamed => "the pod's affinity names other nodes".to_owned(),
        Fact::Plain(Plain::TaintToleration(taint)) => format!("untolerated taint {taint}"),
        Fact::Plain(plain) => plain.reasons().join(", "),
        Fact::Error(error) => error.to_string(),
        Fact::NotLookedAt(why) => (*why).to_owned(),
        Fact::AllocatedElsewhere(node) => format!("allocated for {}", elsewhere(node.as_ref())),
        Fact::Binding(state) => state.text(),
        Fact::LeftBehind => "a claim is left from an earlier attempt".to_owned(),
        Fact::NoSuchResource(name) => format!("the node has no {name}, and no DeviceClass provides it"),
        Fact::NodeResources(reason) => reason.clone(),
        Fact::PoolIncomplete(pool, Some(slices)) => format!(
            "pool {pool} is incomplete: {} of {} slices of generation {}",
            slices.there, slices.expected, slices.generation
        ),
        Fact::PoolIncomplete(pool, None) => format!("pool {pool} is incomplete"),
        Fact::PoolInvalid(pool, why) => format!("pool {pool} is invalid: {why}"),
        Fact::NoDevices => "the node reaches no devices that can be used".to_owned(),
        Fact::TooFewDevices {
            wanted,
            free,
            most,
            total,
        } => {
            let some = if most == free {
                most.to_string()
            } else {
                format!("at most {most}")
            };
            match wanted {
                Some(wanted) => format!("wants {wanted}, and {some} of {total} devices could be taken"),
                None => format!("wants all devices that match, and {some} of {total} could be taken"),
            }
        }
        Fact::NotListed(devices) => {
            format!("{devices} more devices are ruled out, for reasons that are not listed")
        }
        Fact::RuledOut(why, evidence) => ruled_out(*why, evidence),
        Fact::Trouble(trouble) => trouble.to_string(),
        Fact::Together(together) => of_together(together),
        Fact::Gang(gang) => of_gang(gang),
        Fact::Contradicted(word) => self::word(word),
        Fact::Gathering(owner, incomplete, missing) => gathering(owner, incomplete, missing),
        Fact::Stage(_, text) => text.clone(),
        Fact::NodeOperations
        | Fact::TooManyConsumers
        | Fact::Released(..)
        | Fact::ReservedForGroup(..)
        | Fact::UnreservedByScheduler(..) => of_reason(Some(&Key::default()), fact),
    }
}

fn elsewhere(node: Option<&Str>) -> String {
    node.map_or_else(|| "other nodes".to_owned(), |node| format!("node {node}"))
}

/// A fact in few words, which are the same for nodes and devices that are alike.
pub(super) fn brief(brief: &Brief) -> String {
    match brief {
        Brief::Amounts(limited, Amounts { wanted, left, total }) => {
            let of = match limited {
                Limited::Devices => String::new(),
                Limited::Counter(name) => format!(" of counter {name}"),
                Limited::Capacity(name) => format!(" of {name}"),
            };
            format!("wants {wanted}{of}, {left} of {total} left")
        }
        Brief::Elsewhere(key, node) => {
            format!("{} is allocated for {}", claim(key), elsewhere(node.as_ref()))
        }
        Brief::Slices(there, all) => format!("pool incomplete, {there} of {all} slices"),
        Brief::Seen(all) => {
            let all = all.iter().map(|Seen { name, value, .. }| match value {
                Ok(value) => format!("{name} is {value}"),
                Err(why) => why.clone(),
            });
            all.collect::<Vec<_>>().join(", ")
        }
        Brief::Requests(requests) => format!("too few for {} together", names(requests).join(" and ")),
        Brief::Fact(Fact::RuledOut(_, Evidence::Lacking(lacking))) => format!(
            "no attribute {} in devices of {}",
            lacking.constraint.attribute, lacking.driver
        ),
        Brief::Fact(fact) => self::fact(fact),
    }
}

/// Which devices lack an attribute, and which have it.
fn of_lacking(lacking: &Lacking) -> String {
    let Lacking {
        constraint,
        driver,
        is_of_all,
        others,
        similar,
    } = lacking;
    let attribute = &constraint.attribute;
    let who = if *is_of_all {
        format!("no device of driver {driver} has attribute {attribute}")
    } else {
        format!("the devices of driver {driver} that could be taken lack attribute {attribute}")
    };
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" with those of {}", some(others)),
    };
    let similar = similar.as_ref().map_or_else(String::new, |(name, value)| {
        format!("; they have {name}, with values such as {value} in common")
    });
    format!("{who}, which {} compares{others}{similar}", rule(constraint))
}

/// How the devices of a driver could meet a constraint whose attribute they lack.
pub(super) fn keeps_alignment(lacking: &Lacking) -> Option<String> {
    let (name, _) = lacking.similar.as_ref()?;
    Some(format!(
        "to keep the alignment, look for a release of driver {} that publishes {}, as {name} seems to be the same, or compare an \
         attribute that all of the devices have",
        lacking.driver, lacking.constraint.attribute
    ))
}

/// The requests, with their claims where there are several.
fn names(requests: &[(Key, Str)]) -> Vec<String> {
    let first = requests.first().map(|(claim, _)| claim);
    let several_claims = requests.iter().any(|(claim, _)| Some(claim) != first);
    requests
        .iter()
        .map(|(key, request)| {
            if several_claims {
                format!("{request} of {}", claim(key))
            } else {
                request.to_string()
            }
        })
        .collect()
}

fn of_together(together: &Together) -> String {
    match together {
        Together::Constraints(constraints, values) => {
            let names: Vec<String> = constraints.iter().map(constraint_name).collect();
            let clash = values.as_ref().map_or_else(String::new, |[(taken, value), (refused, other)]| {
                format!(": {taken} has {value}, {refused} has {other}")
            });
            format!(
                "the devices that are left do not meet {}{clash}; without {} the claims fit",
                names.join(" and "),
                if names.len() == 1 { "it" } else { "these" },
            )
        }
        Together::Counters(pool, shortage) => format!(
            "the devices that are taken first leave too little of counter {} in pool {pool} for the next; without the limits of shared \
             counters the claims fit",
            short(shortage)
        ),
        Together::Requests { requests, is_smallest } => match (names(requests).as_slice(), is_smallest) {
            ([one], _) => format!(
                "the devices that are left do not suffice for request {one}, although there are enough that could be taken first"
            ),
            (all, true) => format!(
                "the devices that are left do not suffice for requests {} together; without any one of these the others fit",
                all.join(", ")
            ),
            (all, false) => format!(
                "the devices that are left do not suffice for requests {} together; whether fewer of these would fit was not found out",
                all.join(", ")
            ),
        },
        Together::NotShown(why) => format!(
            "the devices that are left do not suffice for the requests together; the search came furthest before {}, but that this is the \
             reason was not shown",
            why.code()
        ),
        Together::Unknown => "the devices that are left do not suffice for the requests together; which limit is the reason was not \
                              found out"
            .to_owned(),
    }
}

fn constraint_name(constraint: &ConstraintName) -> String {
    format!(
        "constraint #{} of {} ({} {})",
        constraint.place,
        claim(&constraint.claim),
        rule(constraint),
        constraint.attribute
    )
}

fn rule(constraint: &ConstraintName) -> &'static str {
    if constraint.same {
        "matchAttribute"
    } else {
        "distinctAttribute"
    }
}

/// A limited amount with its numbers.
fn short(shortage: &Shortage) -> String {
    let Shortage {
        set,
        name,
        wanted,
        left,
        total,
    } = shortage;
    let of_set = set.as_ref().map_or_else(String::new, |set| format!(" in {set}"));
    format!("{name}{of_set} (wants {wanted}, {left} of {total} left)")
}

/// What rules a device out, with what the check looked at.
fn ruled_out(why: RuledOut, evidence: &Evidence) -> String {
    match why {
        RuledOut::InUse => match evidence {
            Evidence::Held(by, _) => format!("in use by {}", claims(by)),
            _ => format!("in use by {}", claims(&[])),
        },
        RuledOut::BindingConditionsOff => "has binding conditions, whose feature is off".to_owned(),
        RuledOut::ClassSelector => not_selected("of the class", evidence),
        RuledOut::RequestSelector => not_selected("of the request", evidence),
        RuledOut::OtherNode => "is for other nodes".to_owned(),
        RuledOut::NoSuchCapacity => match evidence {
            Evidence::NoCapacity(name, Some(meant)) => {
                format!("has no capacity {name} (did you mean {meant}?)")
            }
            Evidence::NoCapacity(name, None) => format!("has no capacity {name}"),
            _ => "has no such capacity".to_owned(),
        },
        RuledOut::CapacityPolicy => match evidence {
            Evidence::Amount(name, wanted, allowed) => {
                format!("wants {wanted} of {name}, {}", self::allowed(allowed))
            }
            _ => "the policy of a capacity does not allow the amount".to_owned(),
        },
        RuledOut::CapacityTooSmall => match evidence {
            Evidence::Short(Shortage {
                name, wanted, total, ..
            }) => format!("has {total} of {name}, and the request takes {wanted}"),
            _ => "has too little of a capacity".to_owned(),
        },
        RuledOut::CapacityExhausted => match evidence {
            Evidence::Held(by, Some(shortage)) => {
                format!(
                    "too little is left of {}, used by {}",
                    short(shortage),
                    claims(by)
                )
            }
            Evidence::Held(by, None) => format!("too little is left of a capacity, used by {}", claims(by)),
            _ => "too little is left of a capacity".to_owned(),
        },
        RuledOut::NodeOperations => {
            "skips node operations, which node or scheduler do not support".to_owned()
        }
        RuledOut::PartitionableDevicesOff => "draws from shared counters, whose feature is off".to_owned(),
        RuledOut::CounterExhausted => match evidence {
            Evidence::Held(by, Some(shortage)) => {
                let by = if by.is_empty() {
                    String::new()
                } else {
                    format!(", drawn by devices of {}", claims(by))
                };
                format!("too little is left of counter {}{by}", short(shortage))
            }
            _ => "other devices leave too little of a counter".to_owned(),
        },
        RuledOut::Incompatible => "devices in use belong to other compatibility groups".to_owned(),
        RuledOut::Tainted => match evidence {
            Evidence::Taint(taint) => format!("untolerated taint {taint}"),
            _ => "untolerated taint".to_owned(),
        },
        RuledOut::ConstraintAttribute => match evidence {
            Evidence::Lacking(lacking) => {
                let Lacking {
                    constraint, similar, ..
                } = lacking;
                let similar = similar.as_ref().map_or_else(String::new, |(name, value)| {
                    format!("; it has {name}, of which other devices have values ({value})")
                });
                format!(
                    "has no attribute {}, which {} compares{similar}",
                    constraint.attribute,
                    rule(constraint)
                )
            }
            _ => "lacks an attribute that a constraint compares".to_owned(),
        },
        RuledOut::Constraint => "does not meet a constraint".to_owned(),
    }
}

/// The terms of the selector that are not true, with what they see.
fn not_selected(whose: &str, evidence: &Evidence) -> String {
    let Evidence::Selector(expression, terms) = evidence else {
        return format!("selector {whose} does not match");
    };
    if terms.is_empty() {
        return format!("selector {whose} does not match: {expression}");
    }
    let terms = terms.iter().map(|Term { text, seen }| failing(text, seen));
    format!("selector {whose}: {}", terms.collect::<Vec<_>>().join("; "))
}

/// A term that is not true, with what it sees.
fn failing(term: &str, seen: &[Seen]) -> String {
    let seen: Vec<String> = seen
        .iter()
        .map(|Seen { path, value, .. }| match value {
            Ok(value) => format!("{path} is {value}"),
            Err(why) => format!("{path}: {why}"),
        })
        .collect();
    if seen.is_empty() {
        term.to_owned()
    } else {
        format!("{term} ({})", seen.join(", "))
    }
}

/// Which amounts are allowed.
fn allowed(allowed: &Allowed) -> String {
    match allowed {
        Allowed::AtMost(max) => format!("at most {max} per claim allowed"),
        Allowed::Range(min, step) => {
            let from = min
                .as_ref()
                .map_or_else(String::new, |min| format!(" from {min}"));
            let step = step
                .as_ref()
                .map_or_else(String::new, |step| format!(" in steps of {step}"));
            format!("allowed are amounts{from}{step}")
        }
        Allowed::Values(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("allowed are {}", values.join(", "))
        }
    }
}
