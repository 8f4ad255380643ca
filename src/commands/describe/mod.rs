//! `kubectl dra describe`: everything that is known of one object, in the layout of `kubectl describe`.

mod claim;
mod class;
mod device;
mod node;
mod parts;
mod pod;
mod pool;

use crate::context::Ctx;
use crate::devices::ClassSelectors;
use crate::error::{Outcome, Unread, UsageError};
use crate::inspect::describe::{self, CLAIM_NEEDS, CLASS_NEEDS, DEVICE_NEEDS, NODE_NEEDS, POD_NEEDS};
use crate::inspect::presence::Mention;
use crate::inspect::{DEVICES_NEEDS, Selection, Warnings};
use crate::model::{Cluster, Key, Kind, Str};
use crate::output::Report;
use crate::sources::Needs;

use super::objects::{self, is_called};
use super::{Accepts, presence};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # A pod, with its claims, devices and events
  kubectl dra describe pod notebook -n default
  # A claim of another namespace
  kubectl dra describe claim/training/trainer-1-extra-zp8bf
  # A device, by pool and name
  kubectl dra describe device gpu-node-1/gpu-0
  # What a class selects
  kubectl dra describe class gpu.example.com";

/// Describe one claim, pod, device, node, class or pool
///
/// Shows everything that is known of it as far as devices go, with events. Claims and pods are those of the current namespace unless
/// `-n` or the name says otherwise. Devices are named `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`, pools `POOL` or `DRIVER/POOL`.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// What it is, `claim`, `pod`, `device`, `node`, `class` or `pool`, and its name: `claim NAME`, `claim/NAME`,
    /// `claim/NAMESPACE/NAME`
    #[arg(value_name = "KIND NAME | KIND/NAME", num_args = 1..=2, required = true)]
    object: Vec<String>,
}

/// What can be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Claim,
    Pod,
    Device,
    Node,
    Class,
    Pool,
}

impl What {
    const ALL: [Self; 6] = [
        Self::Claim,
        Self::Pod,
        Self::Device,
        Self::Node,
        Self::Class,
        Self::Pool,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Pod => "pod",
            Self::Device => "device",
            Self::Node => "node",
            Self::Class => "class",
            Self::Pool => "pool",
        }
    }

    /// The kind of Kubernetes object that it is; devices and pools are parts of slices.
    fn kind(self) -> Option<Kind> {
        match self {
            Self::Claim => Some(Kind::ResourceClaim),
            Self::Pod => Some(Kind::Pod),
            Self::Node => Some(Kind::Node),
            Self::Class => Some(Kind::DeviceClass),
            Self::Device | Self::Pool => None,
        }
    }

    fn find(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|what| match what.kind() {
            Some(kind) => is_called(kind, what.word(), text),
            None => text.strip_suffix('s').unwrap_or(text) == what.word(),
        })
    }
}

/// The kinds that can be described.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    What::ALL.into_iter().map(What::word)
}

/// The kind that `text` means.
pub(super) fn kind_called(text: &str) -> Option<&'static str> {
    What::find(text).map(What::word)
}

/// What is described and its name, from `KIND NAME` or `KIND/NAME`.
fn parse(object: &[String]) -> Result<(What, String), UsageError> {
    let (kind, name) = match object {
        [kind, name] => (kind.as_str(), name.as_str()),
        [one] => one.split_once('/').ok_or_else(|| {
            match What::find(one) {
                Some(what) => UsageError::new(format!("a {} has to be named", what.word()))
                    .hint(format!("write `{} NAME`", what.word())),
                None => UsageError::new(format!("say what `{one}` is"))
                    .hint(format!("write `pod {one}`, `claim {one}`, or another of `device`, `node`, `class` and `pool` before it")),
            }
        })?,
        _ => return Err(UsageError::new("one object is described at a time").hint(HINT)),
    };
    let what = What::find(kind)
        .ok_or_else(|| UsageError::new(format!("`{kind}` cannot be described")).hint(HINT))?;
    Ok((what, name.to_owned()))
}

const HINT: &str =
    "write `KIND NAME` or `KIND/NAME`, where KIND is `claim`, `pod`, `device`, `node`, `class` or `pool`";

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let (what, name) = parse(&args.object)?;
    match what {
        What::Claim => {
            let key = key(ctx, objects::claim, "claim", &name)?;
            let cluster = ctx
                .load(of_namespace(CLAIM_NEEDS, &key).require(Kind::ResourceClaim))
                .await?;
            let report = describe::claim(&cluster, &key, ctx.now(&cluster));
            let mention = Mention::Object(Kind::ResourceClaim, key);
            print(ctx, &cluster, report, &mention, |report| &report.warnings).await
        }
        What::Pod => {
            let key = key(ctx, objects::pod, "pod", &name)?;
            let cluster = ctx.load(of_namespace(POD_NEEDS, &key).require(Kind::Pod)).await?;
            let report = describe::pod(&cluster, &key, ctx.now(&cluster));
            let mention = Mention::Object(Kind::Pod, key);
            print(ctx, &cluster, report, &mention, |report| &report.warnings).await
        }
        What::Device => {
            let cluster = ctx.load(Needs::kinds(DEVICE_NEEDS)).await?;
            let found = describe::device(&cluster, &name, &ClassSelectors::of(&cluster), ctx.now(&cluster));
            let names = found.iter().map(|device| device.item.id().to_string()).collect();
            let one = only(found, names, "device", &name)?;
            print(ctx, &cluster, one, &Mention::Device(name), |report| {
                &report.warnings
            })
            .await
        }
        What::Pool => {
            let cluster = ctx.load(Needs::kinds(DEVICES_NEEDS)).await?;
            let found = describe::pool(&cluster, &name, &ClassSelectors::of(&cluster), ctx.now(&cluster));
            let names = found
                .iter()
                .map(|pool| format!("{}/{}", pool.driver, pool.pool))
                .collect();
            let one = only(found, names, "pool", &name)?;
            print(ctx, &cluster, one, &Mention::Pool(name), |report| {
                &report.warnings
            })
            .await
        }
        What::Node => {
            let cluster = ctx.load(Needs::kinds(NODE_NEEDS)).await?;
            let selectors = ClassSelectors::of(&cluster);
            let name = Str::from(name.as_str());
            let report = describe::node(&cluster, &name, &selectors, ctx.now(&cluster));
            let mention = Mention::scoped(Kind::Node, name);
            print(ctx, &cluster, report, &mention, |report| &report.warnings).await
        }
        What::Class => {
            let cluster = ctx
                .load(Needs::kinds(CLASS_NEEDS).require(Kind::DeviceClass))
                .await?;
            let report = describe::class(&cluster, &name, &ClassSelectors::of(&cluster), ctx.now(&cluster));
            let mention = Mention::scoped(Kind::DeviceClass, name.as_str());
            print(ctx, &cluster, report, &mention, |report| &report.warnings).await
        }
    }
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

/// Devices are looked up in the whole cluster, everything with a namespace only in the object's own.
fn of_namespace(kinds: impl IntoIterator<Item = Kind>, key: &Key) -> Needs {
    let selection = Selection {
        names: std::iter::once(key.clone()).collect(),
        ..Selection::default()
    };
    objects::needs(kinds, &selection)
}

/// The only one of what was found.
fn only<T>(mut found: Vec<T>, names: Vec<String>, word: &str, name: &str) -> Result<Option<T>, UsageError> {
    if found.len() > 1 {
        let count = found.len();
        return Err(
            UsageError::new(format!("`{name}` is the name of {count} {word}s"))
                .hint(format!("name one of them: {}", names.join(", "))),
        );
    }
    Ok(found.pop())
}

/// Prints the report, or says that what is named by `mention` is not there to be described.
async fn print<R: Report>(
    ctx: &Ctx,
    cluster: &Cluster,
    report: Option<R>,
    mention: &Mention,
    warnings: impl Fn(&R) -> &Warnings,
) -> anyhow::Result<Outcome> {
    let Some(report) = report else {
        let error = presence::not_found(ctx, cluster, mention).await;
        // A description gives no verdict that could be unknown.
        return Err(match error.downcast::<Unread>() {
            Ok(unread) => anyhow::anyhow!("{unread}"),
            Err(error) => error,
        });
    };
    warnings(&report).iter().for_each(|warning| ctx.warn(warning));
    ctx.print(report)?;
    Ok(Outcome::Done)
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
            (&["service/a"], Err("`service` cannot be described")),
            (&["claim"], Err("a claim has to be named")),
        ] {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            let found = parse(&words);
            let found = found
                .as_ref()
                .map(|(what, name)| (*what, name.as_str()))
                .map_err(ToString::to_string);
            assert_eq!(found, expected.map_err(str::to_owned), "{words:?}");
        }
    }
}
