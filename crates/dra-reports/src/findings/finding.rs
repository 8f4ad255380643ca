//! One finding: the object, the problem, its certainty, and the fix.

use std::cmp::Reverse;
use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use strum::Display;

use super::{Code, Severity, words};
pub use crate::listing::some;
use crate::remedy::Remedy;
use crate::script::{Arguments, NoCommand, Script};
use crate::{Sentence, instruction};
use dra_model::{Claim, DeviceId, Key, Kind, Meta, Node, Pod, PoolId, RoleSubject, Slice, Str};

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, Display)]
pub enum Certainty {
    /// It is so: it was read in one list, or its objects were read again after it was found.
    Confirmed,
    /// Objects of different kinds contradict each other. They were listed at different times, so it may only seem so.
    Possible,
}

/// The object of a finding. Devices, pools, drivers and gates are not API objects; they have no UID.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Subject {
    /// Kind of the object, or `Device` (named `DRIVER/POOL/DEVICE`), `Pool` (`DRIVER/POOL`), `Driver`, `FeatureGate`, `Cluster`.
    pub kind: &'static str,
    /// Its namespace. Absent for what lives in none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its UID.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub uid: Str,
}

const DEVICE: &str = "Device";
const POOL: &str = "Pool";

impl Subject {
    /// An object.
    pub(super) fn of(kind: Kind, metadata: &Meta) -> Self {
        Self {
            kind: kind.name(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
        }
    }

    pub(super) fn claim(claim: &Claim) -> Self {
        Self::of(Kind::ResourceClaim, &claim.metadata)
    }

    pub(super) fn pod(pod: &Pod) -> Self {
        Self::of(Kind::Pod, &pod.metadata)
    }

    pub(super) fn node(node: &Node) -> Self {
        Self::of(Kind::Node, &node.metadata)
    }

    pub(super) fn slice(slice: &Slice) -> Self {
        Self::of(Kind::ResourceSlice, &slice.metadata)
    }

    fn named(kind: &'static str, name: String) -> Self {
        Self {
            kind,
            namespace: Str::default(),
            name: name.into(),
            uid: Str::default(),
        }
    }

    pub(super) fn device(id: &DeviceId) -> Self {
        Self::named(DEVICE, id.to_string())
    }

    pub(super) fn pool(id: &PoolId) -> Self {
        Self::named(POOL, id.to_string())
    }

    pub(super) fn driver(driver: &str) -> Self {
        Self::named("Driver", driver.to_owned())
    }

    pub(super) fn gate(name: &str) -> Self {
        Self::named("FeatureGate", name.to_owned())
    }

    pub(super) fn cluster(version: String) -> Self {
        Self::named("Cluster", version)
    }

    /// An issue or pull request of kubernetes/kubernetes.
    pub(super) fn issue(number: u32) -> Self {
        Self::named("Issue", format!("kubernetes/{number}"))
    }

    /// Who writes objects, as it calls itself in their managed fields.
    pub(super) fn manager(name: &str) -> Self {
        Self::named("Manager", name.to_owned())
    }

    /// Whom bindings of roles name.
    pub(super) fn account(subject: &RoleSubject) -> Self {
        let kind = match subject.kind.as_str() {
            "ServiceAccount" => "ServiceAccount",
            "Group" => "Group",
            _ => "User",
        };
        Self {
            namespace: subject.namespace.clone(),
            ..Self::named(kind, subject.name.to_string())
        }
    }

    /// The kind as kubectl writes it in front of a name.
    pub fn resource(&self) -> String {
        self.kind.to_ascii_lowercase()
    }
}

impl fmt::Display for Subject {
    /// `pod/namespace/name`, `device/driver/pool/name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.resource())?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// What can be done about a finding.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, derive_more::Display)]
#[schemars(with = "FixView<'_>")]
pub enum Fix {
    /// A command that can be run unchanged, after which the finding is gone. As JSON it has its arguments beside it.
    Command(Script),
    /// What to do where no command does it.
    Sentence(String),
}

#[derive(Serialize, JsonSchema)]
struct FixView<'a> {
    /// A command, or else a sentence. It is a command where `command` stands beside it.
    fix: &'a str,
    /// A command that can be run unchanged, after which the finding is gone. Absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(flatten)]
    arguments: Option<Arguments>,
}

impl Serialize for Fix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fix = &self.to_string();
        let arguments = match self {
            Self::Command(script) => Some(script.arguments()),
            Self::Sentence(_) => None,
        };
        let command = arguments.as_ref().map(|_| fix.as_str());
        FixView {
            fix,
            command,
            arguments,
        }
        .serialize(serializer)
    }
}

/// A finding.
#[macro_rules_attribute::apply(report)]
pub struct Finding {
    /// Stable; `docs/reference/findings` has a page for each.
    pub code: Code,
    /// The finding's name in words.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// How sure it is.
    pub certainty: Certainty,
    /// Its object.
    pub object: Subject,
    /// What is wrong.
    pub message: Sentence,
    /// A command, or else a sentence.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// Condition of the command, or an alternative to it.
    pub fix_note: Option<String>,
    /// What comes before the command: the parts of the note that begin with `first`.
    #[serde(skip)]
    pub first: Vec<String>,
    /// The other parts of the note.
    #[serde(skip)]
    pub rest: Vec<String>,
    /// All that there is to say: what to do where there is no command, and what to know about the command.
    pub note: Option<String>,
    /// A command that shows more and changes nothing.
    pub look: Option<Script>,
    /// For a downgrade: the step to solve it by, from 1 to 8.
    pub order: Option<u32>,
    /// The page that explains it.
    pub docs: String,
    /// Objects that contradict each other, there or not: what is read again to be sure.
    #[serde(skip)]
    pub evidence: Vec<(Kind, Key)>,
}

impl Finding {
    pub(super) fn new(code: Code, object: Subject, message: impl Into<Sentence>) -> Self {
        let facts = code.facts();
        Self {
            code,
            name: facts.name,
            severity: facts.severity,
            certainty: Certainty::Confirmed,
            object,
            message: message.into(),
            fix: None,
            fix_note: None,
            first: Vec::new(),
            rest: Vec::new(),
            note: None,
            look: None,
            order: None,
            docs: code.docs(),
            evidence: Vec::new(),
        }
    }

    pub(super) fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// An error where `is_error`, or else a warning.
    pub(super) fn error_if(self, is_error: bool) -> Self {
        self.severity(if is_error {
            Severity::Error
        } else {
            Severity::Warning
        })
    }

    /// A warning where `is_warning`, or else good to know.
    pub(super) fn warning_if(self, is_warning: bool) -> Self {
        self.severity(if is_warning {
            Severity::Warning
        } else {
            Severity::Info
        })
    }

    /// A command helps. Where a name allows none, that is reported instead.
    pub(super) fn fix(self, fix: Result<Script, NoCommand>) -> Self {
        match fix {
            Ok(script) => Self {
                fix: Some(Fix::Command(script)),
                ..self
            },
            Err(why) => self.advice(why.to_string()),
        }
    }

    /// What can be done.
    pub(super) fn remedy(self, remedy: Remedy) -> Self {
        let text = remedy.text();
        match remedy.command {
            Some(script) => remedy.notes.into_iter().fold(self.fix(Ok(script)), Self::note),
            None => match text {
                Some(text) => self.advice(text),
                None => self,
            },
        }
    }

    /// No command helps: the sentence says what to do.
    pub(super) fn advice(mut self, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        add_note(&mut self.note, &sentence);
        self.fix = Some(Fix::Sentence(sentence));
        self
    }

    /// The driver's owner can help, as the rest of the sentence says.
    pub(super) fn ask_driver(self, driver: &str, what: &str) -> Self {
        self.advice(words::ask_driver(driver, what))
    }

    /// Condition of the command, or an alternative to it.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        match instruction(&note) {
            ("first", condition) => self.first.push(condition.to_owned()),
            _ => self.rest.push(note.clone()),
        }
        add_note(&mut self.fix_note, &note);
        add_note(&mut self.note, &note);
        self
    }

    /// What shows more. A name that allows no command is not reported here, because the finding reports it.
    pub(super) fn look(self, look: Result<Script, NoCommand>) -> Self {
        Self {
            look: look.ok(),
            ..self
        }
    }

    pub(super) fn order(self, order: u32) -> Self {
        Self {
            order: Some(order),
            ..self
        }
    }

    /// The finding joins objects of several kinds.
    pub(super) fn joins(mut self, evidence: impl IntoIterator<Item = (Kind, Key)>) -> Self {
        self.certainty = Certainty::Possible;
        self.evidence.extend(evidence);
        self
    }

    /// Order of a report: by step, worst first, then by code and object.
    pub(crate) fn sort_key(&self) -> impl Ord + use<'_> {
        (self.order, Reverse(self.severity), self.code, &self.object)
    }
}

fn add_note(notes: &mut Option<String>, note: &str) {
    match notes {
        None => *notes = Some(note.to_owned()),
        Some(before) => *before += &format!("; {note}"),
    }
}

/// The claim with that key as evidence.
pub(super) fn claim_key(key: Key) -> (Kind, Key) {
    (Kind::ResourceClaim, key)
}

/// The pod with that key as evidence.
pub(super) fn pod_key(key: Key) -> (Kind, Key) {
    (Kind::Pod, key)
}

/// The slice as evidence.
pub(super) fn slice_key(slice: &Slice) -> (Kind, Key) {
    scoped_key(Kind::ResourceSlice, &slice.metadata.name)
}

/// The object of a kind without namespace as evidence.
pub(super) fn scoped_key(kind: Kind, name: &Str) -> (Kind, Key) {
    (kind, Key::new(Str::default(), name.clone()))
}
