//! One batch of items, decoded: what is needed of it, and what the rest tells.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::parts::Parts;
use super::unknown::UnknownFields;
use crate::decode::{Decoder, group_version};
use crate::files::{Found, ItemBatch, ListHead, Origin, RawItem};
use crate::gates::{ControlPlanePod, Kubelets};
use crate::gone;
use crate::needs::{Needs, Problem};
use crate::recognize::{Recognized, listed, recognize};
use crate::scheduler_config::profiles;
use crate::upgrade::UpgradeError;
use dra_model::{Kind, Object, Owners, SchedulerProfile, Str, json};

/// Content of one batch.
#[derive(Default)]
pub(super) struct Decoded {
    pub(super) objects: Vec<Object>,
    /// Objects that came together.
    pub(super) parts: Parts,
    pub(super) problems: Vec<(Hidden, Problem)>,
    /// Problems of objects that decide nothing.
    pub(super) harmless: Vec<Problem>,
    pub(super) control_plane: Vec<ControlPlanePod>,
    /// The kubelets of nodes that are not needed themselves.
    pub(super) kubelets: Kubelets,
    /// Profiles in the kube-scheduler configurations, one entry each.
    pub(super) profiles: Vec<Vec<SchedulerProfile>>,
    /// Objects of other kinds, which may be owners.
    pub(super) owners: Owners,
    pub(super) ignored: BTreeMap<String, u64>,
    pub(super) versions: Vec<(Kind, String)>,
    /// Versions of objects beside the best one of their kind.
    pub(super) old_versions: BTreeSet<String>,
    /// The memory of the objects.
    pub(super) weight: u64,
    /// Bytes of files that had been read when the batch was full.
    pub(super) read: u64,
    /// Unknown fields, which are ignored.
    pub(super) unknown_fields: UnknownFields,
    /// An object that no API server would return.
    pub(super) refused: Option<Problem>,
}

/// Kinds that a problem makes incomplete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hidden {
    /// An object of any kind.
    Anything,
    /// An object of this kind, in this namespace if it is not empty.
    Of(Kind, Str),
}

thread_local! {
    /// Each thread shares its texts over all its batches.
    static DECODER: RefCell<Decoder> = RefCell::default();
}

/// Decodes what is needed. Objects that say no namespace are put into `namespace`.
pub(super) fn decode(batch: &mut ItemBatch, needs: &Needs, namespace: &Str) -> Decoded {
    let mut decoded = Decoded::default();
    DECODER.with_borrow_mut(|decoder| {
        for found in batch.drain() {
            match found {
                Found::Item(item) => decoded.item(&item, needs, namespace, decoder),
                Found::List { head, origin } => decoded.list(&head, &origin),
                Found::Problem { problem, head } => {
                    // An object of a kind that does not matter may be what it likes.
                    let (version, kind) = head.as_ref().map(|(version, kind)| (&**version, &**kind)).unzip();
                    match recognize(version, kind) {
                        Recognized::Known { kind, .. } => decoded.problem(Some(kind), problem),
                        Recognized::Unclear { kind, .. } => decoded.problem(kind, problem),
                        Recognized::Info => decoded.problem(None, problem),
                        Recognized::Other => decoded.harmless.push(problem),
                    }
                }
            }
        }
        decoded.weight = decoder.take_weight().saturating_add(decoded.owners.weight());
    });
    decoded.read = batch.read;
    decoded
}

impl Decoded {
    fn item(&mut self, item: &RawItem<'_>, needs: &Needs, namespace: &Str, decoder: &mut Decoder) {
        let (api_version, name) = (item.api_version.as_deref(), item.kind.as_deref());
        if let Some(listed) = &item.listed_as {
            let why = format!(
                "is a `{}` of `{}` in a list of `{listed}`",
                name.unwrap_or_default(),
                api_version.unwrap_or_default()
            );
            return self.problem(None, item.problem(why));
        }
        let (kind, group, version) = match recognize(api_version, name) {
            Recognized::Known { kind, group, version } => (kind, group, version),
            Recognized::Info => {
                match json::from_slice(&item.json) {
                    Ok(info) => self.parts.snapshot(&item.origin.file, info),
                    Err(error) => self.problem(None, item.decode_problem(&error)),
                }
                return;
            }
            Recognized::Other => {
                if let Some(key) = item.repeated_head() {
                    return self.problem(None, item.problem(format!("key `{key}` appears twice")));
                }
                if needs.wants_gates() {
                    match profiles(api_version, name, &item.json) {
                        Ok(profiles) => self.profiles.extend(profiles),
                        Err(why) => {
                            let problem = format!("is not a valid KubeSchedulerConfiguration: {why}");
                            return self.problem(None, item.problem(problem));
                        }
                    }
                }
                let (name, api_version) = (name.unwrap_or_default(), api_version.unwrap_or_default());
                let group = group_version(api_version).0;
                if let Some(successor) = gone::kind(group, name) {
                    return self
                        .harmless
                        .push(item.problem(format!("is ignored: {name} {successor}")));
                }
                self.owners.add(api_version, name, &item.json);
                let name = format!("{name} of {api_version}");
                count_ignored(&mut self.ignored, name, 1);
                return;
            }
            Recognized::Unclear { kind, why } => return self.problem(kind, item.problem(why)),
        };
        self.parts.count(&item.origin.file, kind);
        if kind == Kind::Pod && needs.wants_gates() {
            self.control_plane.extend(ControlPlanePod::of(&item.json));
        }
        if !needs.contains(kind) {
            if kind == Kind::Node
                && let Ok(Object::Node(node)) = Object::from_json(kind, &item.json)
            {
                self.kubelets = self.kubelets.and(Kubelets::of(&node));
            }
            return;
        }
        let problem = match decoder.decode(kind, group, version, &item.json) {
            Ok(mut object) => {
                object.put_into(namespace);
                if let Some(fault) = self.unknown_fields.look(item, version, &object) {
                    self.refused
                        .get_or_insert_with(|| item.problem(fault.to_string()));
                    return;
                }
                if version != kind.versions()[0] {
                    self.old_versions.insert(kind.api_version(version));
                }
                self.objects.push(object);
                self.parts.object(&item.origin.file);
                return;
            }
            Err(error @ UpgradeError::Refused { .. }) => {
                self.refused.get_or_insert_with(|| item.undecoded(&error));
                return;
            }
            Err(UpgradeError::UnknownVersion { .. }) => item.problem(format!(
                "unsupported version `{}` of {kind}; supported: {}",
                api_version.unwrap_or_default(),
                kind.versions().join(", ")
            )),
            Err(error) => item.undecoded(&error),
        };
        self.problem(Some(kind), problem);
    }

    /// A list that ended, whose items came before.
    fn list(&mut self, head: &ListHead, origin: &Origin) {
        let of = listed(head.api_version.as_deref(), head.kind.as_deref());
        self.versions.extend(of.zip(head.resource_version.clone()));
        let name = head.kind.as_deref().unwrap_or_default();
        let problem = |why: &str| Problem {
            place: origin.to_string(),
            object: None,
            message: why.to_owned(),
        };
        // Lists of other kinds tell nothing that matters, and may be in pages.
        let matters = of.is_some() || matches!(name, "" | "List");
        if !head.has_items {
            if let Recognized::Unclear { kind, why } =
                recognize(head.api_version.as_deref(), head.kind.as_deref())
            {
                self.problem(kind, problem(&why));
            }
        } else if name.is_empty() {
            // kubectl writes the kind after the items: what is cut off in between has none.
            self.problem(None, problem("is a list without `kind` and may be truncated"));
        } else if head.is_odd && matters {
            self.problem(
                of,
                problem("is a list with invalid `metadata` or a duplicate `kind`"),
            );
        } else if head.is_cut() && matters {
            let rest = match head.remaining_items {
                Some(count) if count > 0 => format!("{count} more items"),
                _ => "more items".to_owned(),
            };
            self.problem(
                of,
                problem(&format!("is one page of a list: {rest} are on other pages")),
            );
        }
        let is_whole = !head.is_odd && !head.is_cut();
        self.parts
            .end(&origin.file, of.filter(|_| head.has_items), is_whole);
    }

    fn problem(&mut self, kind: Option<Kind>, problem: Problem) {
        let hidden = match kind {
            None => Hidden::Anything,
            Some(kind) if kind.is_namespaced() => Hidden::Of(kind, problem.namespace().into()),
            Some(kind) => Hidden::Of(kind, Str::default()),
        };
        self.problems.push((hidden, problem));
    }
}

/// Counts objects of a kind that does not matter.
pub(super) fn count_ignored(ignored: &mut BTreeMap<String, u64>, kind: String, count: u64) {
    /// A cluster has some hundred kinds. What has more is made up, and would fill the memory with names.
    const MOST: usize = 1000;
    let known = ignored.len() < MOST || ignored.contains_key(&kind);
    let name = if known { kind } else { "of other kinds".to_owned() };
    *ignored.entry(name).or_default() += count;
}
