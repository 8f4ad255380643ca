//! `kubectl dra describe`: everything that is known of one object, in the form of `kubectl describe`.

mod claim;
mod class;
mod device;
mod node;
mod parts;
mod pod;
mod pool;

use std::collections::BTreeSet;

use itertools::Itertools;
use serde::Serialize;

use crate::context::{Ctx, Scope};
use crate::error::{Outcome, Unread, UsageError};
use crate::output::{Doc, Page, Report, View};
use dra_allocator::devices::ClassSelectors;
use dra_model::{Cluster, Key, Kind, Str, Time};
use dra_reports::Warnings;
use dra_reports::describe::{
    self, CLAIM_NEEDS, CLASS_NEEDS, DEVICE_NEEDS, Identity, NODE_NEEDS, POD_NEEDS, POOL_NEEDS,
};
use dra_reports::findings::{self, CheckRequest, ObjectFindings, Subject};
use dra_reports::presence::Mention;
use dra_reports::script::{Arguments, Script};
use dra_sources::Needs;

use super::objects::{self, is_called};
use super::{Accepts, check, presence, threads};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # Describe a pod with its claims, devices and events
  kubectl dra describe pod notebook -n default
  # Describe a claim in another namespace
  kubectl dra describe claim/training/trainer-1-extra-zp8bf
  # Describe a device by pool and name
  kubectl dra describe device gpu-node-1/gpu-0
  # Describe the devices that a class selects
  kubectl dra describe class gpu.example.com";

/// Describe one claim, pod, device, node, class or pool
///
/// Shows all details that concern devices, with events. Claims and pods are looked up in the current namespace unless `-n` or the name
/// selects another. Devices are named `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`, pools `POOL` or `DRIVER/POOL`.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// `claim`, `pod`, `device`, `node`, `class` or `pool`, and a name: `claim NAME`, `claim/NAME`,
    /// `claim/NAMESPACE/NAME`
    #[arg(value_name = "KIND NAME | KIND/NAME", num_args = 1..=2, required = true)]
    object: Vec<String>,
}

impl Args {
    /// Of one object, as `KIND/NAME`.
    pub(super) fn of(object: String) -> Self {
        Self { object: vec![object] }
    }
}

/// Kinds that can be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Claim,
    Pod,
    Device,
    Node,
    Class,
    Pool,
}

/// Those kinds with their words, and the kinds of Kubernetes objects that they are; devices and pools are parts of slices.
const KINDS: [(What, &str, Option<Kind>); 6] = [
    (What::Claim, "claim", Some(Kind::ResourceClaim)),
    (What::Pod, "pod", Some(Kind::Pod)),
    (What::Device, "device", None),
    (What::Node, "node", Some(Kind::Node)),
    (What::Class, "class", Some(Kind::DeviceClass)),
    (What::Pool, "pool", None),
];

/// The kind that `text` means, with its word.
fn find(text: &str) -> Option<(What, &'static str)> {
    let is_meant = |(_, word, kind): &(What, &str, Option<Kind>)| match kind {
        Some(kind) => is_called(*kind, word, text),
        None => text.strip_suffix('s').unwrap_or(text) == *word,
    };
    let found = KINDS.into_iter().find(is_meant);
    found.map(|(what, word, _)| (what, word))
}

/// The kinds that can be described.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().map(|(_, word, _)| word)
}

/// The kind that `text` means.
pub(crate) fn kind_called(text: &str) -> Option<&'static str> {
    find(text).map(|(_, word)| word)
}

/// Returns what is described and its name, from `KIND NAME` or `KIND/NAME`.
fn parse(scope: &Scope, object: &[String]) -> Result<(What, String), UsageError> {
    let (kind, name) = match object {
        [kind, name] => (kind.as_str(), name.as_str()),
        [one] => one.split_once('/').ok_or_else(|| match find(one) {
            Some((_, word)) => {
                UsageError::new(format!("missing {word} name")).hint(format!("use `{word} NAME`"))
            }
            None => UsageError::new(format!("missing kind of `{one}`")).hint(format!(
                "use `pod {one}` or `claim {one}`; other kinds are `device`, `node`, \
                                  `class` and `pool`"
            )),
        })?,
        _ => return Err(UsageError::new("cannot describe more than one object").hint(HINT)),
    };
    let (what, _) = find(kind).ok_or_else(|| {
        let error = UsageError::new(format!("cannot describe `{kind}`"));
        if is_called(Kind::ResourceSlice, "slice", kind) {
            error.hint("slices belong to pools: use `pool NAME`")
        } else if is_called(Kind::DeviceTaintRule, "rule", kind) {
            error.hint("kubectl dra taints   (lists all rules)")
        } else if objects::is_namespace(kind) && object.len() == 1 {
            // The name of a device has slashes.
            error.hint(format!("use `device {kind}/{name}`; other kinds are {WORDS}"))
        } else if objects::is_namespace(kind) {
            error.hint(HINT)
        } else {
            error.hint(elsewhere(scope, kind, name))
        }
    })?;
    Ok((what, name.to_owned()))
}

/// The command that describes an object of another kind.
fn elsewhere(scope: &Scope, kind: &str, name: &str) -> String {
    if matches!(kind.to_ascii_lowercase().as_str(), "driver" | "drivers") {
        let object = format!("driver/{name}");
        return Script::typed(["explain", &object]).to_string();
    }
    let kind = if is_called(Kind::ResourceClaimTemplate, "template", kind) {
        "resourceclaimtemplate"
    } else {
        kind
    };
    let mut argv = ["kubectl", "describe", kind, name].map(str::to_owned).to_vec();
    if let Scope::Namespace(namespace) = scope {
        argv.push(format!("--namespace={namespace}"));
    }
    let script = Vec::new();
    Script::from(&Arguments { argv, script }).to_string()
}

const WORDS: &str = "`claim`, `pod`, `node`, `class` and `pool`";

const HINT: &str =
    "use `KIND NAME` or `KIND/NAME`; KIND is `claim`, `pod`, `device`, `node`, `class` or `pool`";

/// Description of an object.
trait Description: Serialize {
    /// The `kind` of the document.
    const KIND: &'static str;

    /// All but the end.
    fn doc(&self) -> Doc;

    /// Returns what it cannot say.
    fn warnings(&self) -> &Warnings;

    /// Returns those whose findings belong to it, as [`Subject`] is printed.
    fn subjects(&self) -> BTreeSet<String>;

    /// Returns what waits, if it does, so that `explain` tells why.
    fn why(&self) -> Option<(Kind, &Identity)> {
        None
    }
}

/// A description with the findings of its object at the end.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Described<D> {
    #[serde(flatten)]
    description: D,
    #[serde(flatten)]
    found: ObjectFindings,
}

impl<D: Description> Report for Described<D> {
    const KIND: &'static str = D::KIND;

    fn view(&self, page: Page) -> View {
        let mut doc = self.description.doc();
        parts::findings(&mut doc, page, &self.found);
        if let Some((kind, identity)) = self.description.why() {
            parts::why(&mut doc, kind, identity);
        }
        doc.into()
    }
}

/// Kinds that affect claims and pods of a namespace, in addition to those of the description.
const CHECKED: [Kind; 3] = [Kind::DeviceClass, Kind::ResourceQuota, Kind::Namespace];

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let (what, name) = parse(&ctx.settings().scope, &args.object)?;
    match what {
        What::Claim => {
            let key = key(ctx, objects::claim, "claim", &name)?;
            namespaced(ctx, Kind::ResourceClaim, key, &CLAIM_NEEDS, describe::claim).await
        }
        What::Pod => {
            let key = key(ctx, objects::pod, "pod", &name)?;
            namespaced(ctx, Kind::Pod, key, &POD_NEEDS, describe::pod).await
        }
        What::Device => {
            let cluster = load(ctx, Needs::kinds(DEVICE_NEEDS)).await?;
            let selectors = ClassSelectors::of(&cluster);
            let found = describe::device(&cluster, &name, &selectors, ctx.now(&cluster));
            let one = only(found, |device| device.item.id().to_string(), "device", &name)?;
            print(ctx, cluster, one, &Mention::Device(name), &DEVICE_NEEDS, None).await
        }
        What::Pool => {
            let cluster = load(ctx, Needs::kinds(POOL_NEEDS)).await?;
            let selectors = ClassSelectors::of(&cluster);
            let found = describe::pool(&cluster, &name, &selectors, ctx.now(&cluster));
            let one = only(
                found,
                |pool| format!("{}/{}", pool.driver, pool.pool),
                "pool",
                &name,
            )?;
            print(ctx, cluster, one, &Mention::Pool(name), &POOL_NEEDS, None).await
        }
        What::Node => {
            let cluster = load(ctx, Needs::kinds(NODE_NEEDS)).await?;
            let selectors = ClassSelectors::of(&cluster);
            let name = Str::from(name);
            let report = describe::node(&cluster, &name, &selectors, ctx.now(&cluster));
            let mention = Mention::scoped(Kind::Node, name);
            print(ctx, cluster, report, &mention, &NODE_NEEDS, None).await
        }
        What::Class => {
            let cluster = load(ctx, Needs::kinds(CLASS_NEEDS).require(Kind::DeviceClass)).await?;
            let selectors = ClassSelectors::of(&cluster);
            let report = describe::class(&cluster, &name, &selectors, ctx.now(&cluster));
            let mention = Mention::scoped(Kind::DeviceClass, name);
            print(ctx, cluster, report, &mention, &CLASS_NEEDS, None).await
        }
    }
}

/// Describes a claim or a pod. Devices are looked up in the whole cluster, everything with a namespace only in the object's own.
async fn namespaced<D: Description>(
    ctx: &Ctx,
    kind: Kind,
    key: Key,
    needs: &[Kind],
    describe: fn(&Cluster, &Key, Time) -> Option<D>,
) -> anyhow::Result<Outcome> {
    let kinds: Vec<Kind> = needs.iter().chain(&CHECKED).copied().collect();
    let needs = Needs::kinds(kinds.iter().copied());
    let cluster = load(ctx, needs.in_namespace(&key.namespace).require(kind)).await?;
    let report = describe(&cluster, &key, ctx.now(&cluster));
    let mention = Mention::Object(kind, key.clone());
    print(ctx, cluster, report, &mention, &kinds, Some(&key.namespace)).await
}

/// Reads what a description needs. What is found also depends on gates, and on pods that came with their claims. A file has the gates that
/// are known of it anyway.
async fn load(ctx: &Ctx, needs: Needs) -> anyhow::Result<Cluster> {
    let needs = needs.pods_after_claims();
    ctx.load(if ctx.is_live() { needs.with_gates() } else { needs })
        .await
}

/// The key of a namespaced object, whose name may come without the kind that is known already.
fn key(
    ctx: &Ctx,
    find: fn(&Ctx, &str) -> Result<Key, UsageError>,
    word: &str,
    name: &str,
) -> Result<Key, UsageError> {
    find(ctx, name).or_else(|_| find(ctx, &format!("{word}/{name}")))
}

/// The only one of what was found.
fn only<T>(
    mut found: Vec<T>,
    called: impl Fn(&T) -> String,
    word: &str,
    name: &str,
) -> Result<Option<T>, UsageError> {
    if found.len() > 1 {
        let count = found.len();
        let names = found.iter().map(called).join(", ");
        return Err(UsageError::new(format!("{count} {word}s are named `{name}`"))
            .hint(format!("name one of them: {names}")));
    }
    Ok(found.pop())
}

/// Prints the description and the findings of its subjects, or why what is named by `mention` is not there to be described; namespaced objects
/// were read only in `namespace`.
async fn print<D: Description>(
    ctx: &Ctx,
    cluster: Cluster,
    description: Option<D>,
    mention: &Mention,
    kinds: &[Kind],
    namespace: Option<&Str>,
) -> anyhow::Result<Outcome> {
    let Some(description) = description else {
        let error = presence::not_found(ctx, &cluster, mention).await;
        // A description gives no verdict that could be unknown.
        return Err(match error.downcast::<Unread>() {
            Ok(unread) => anyhow::anyhow!("{unread}"),
            Err(error) => error,
        });
    };
    let mut warnings = description.warnings().clone();
    for gap in kinds
        .iter()
        .filter_map(|kind| cluster.gap(*kind, namespace.map_or("", |name| name)))
    {
        warnings.unknown_besides("some findings could not be determined", gap);
    }
    ctx.warn_all(warnings.iter());
    let subjects = description.subjects();
    let is_meant = |subject: &Subject| subjects.contains(&subject.to_string());
    let request = CheckRequest::told_by(kinds, namespace.cloned(), ctx.now(&cluster));
    let mut list = findings::check_by(&cluster, &request, &threads::on_all).about(is_meant);
    if ctx.is_live() {
        list = check::confirm(ctx, cluster, &request, list).await?;
    }
    ctx.answer(
        Described {
            description,
            found: ObjectFindings::of(list, is_meant),
        },
        Outcome::Done,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_understood_as_kubectl_understands_them() {
        for (words, expected) in [
            (&["claim", "a"][..], Ok((What::Claim, "a"))),
            (&["claims/a"], Ok((What::Claim, "a"))),
            (&["resourceclaims.resource.k8s.io/n/a"], Ok((What::Claim, "n/a"))),
            (&["pods", "a"], Ok((What::Pod, "a"))),
            (&["device/d/p/x"], Ok((What::Device, "d/p/x"))),
            (&["devices", "x"], Ok((What::Device, "x"))),
            (&["node/a"], Ok((What::Node, "a"))),
            (&["class/a"], Ok((What::Class, "a"))),
            (&["classes", "a"], Ok((What::Class, "a"))),
            (&["deviceclass/a"], Ok((What::Class, "a"))),
            (&["pool/d/p"], Ok((What::Pool, "d/p"))),
            (&["service/a"], Err("cannot describe `service`")),
            (&["claim"], Err("missing claim name")),
        ] {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            let found = parse(&Scope::Unset, &words);
            let found = found
                .as_ref()
                .map(|(what, name)| (*what, name.as_str()))
                .map_err(ToString::to_string);
            assert_eq!(found, expected.map_err(str::to_owned), "{words:?}");
        }
    }
}
