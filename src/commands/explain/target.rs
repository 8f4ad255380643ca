//! What the command line of `explain` names.

use crate::commands::describe;
use crate::commands::objects::{self, Named, is_called};
use crate::commands::presence;
use crate::context::Ctx;
use crate::error::{Absent, UsageError};
use dra_model::{Cluster, Key, Kind, Str};
use dra_reports::presence::Mention;
use dra_reports::script::{Command, Resource};

/// What is to be explained.
pub(super) enum Wanted {
    /// Everything that waits in a namespace, or in all.
    Everything(Option<Str>),
    /// What the manifests of `-f` have.
    Manifest,
    /// A pod or a claim.
    Named(Named),
    /// A pod of that name, or else a claim.
    Name(Key),
    /// A node.
    Node(Str),
    /// A driver.
    Driver(Str),
}

impl Wanted {
    /// What `words` name; `has_files` says whether there are manifests.
    ///
    /// # Errors
    /// When they name nothing that can be explained.
    pub(super) fn of(ctx: &Ctx, words: &[String], has_files: bool) -> Result<Self, UsageError> {
        let words = objects::joined(words);
        match words.as_slice() {
            [] if has_files => Ok(Self::Manifest),
            [] => Ok(Self::Everything(
                objects::namespace(ctx, objects::Default::Current).map(Into::into),
            )),
            [one] => Self::of_one(ctx, one),
            [kind, name] if is_node(kind) && !name.contains('/') => Ok(Self::Node(name.as_str().into())),
            [kind, name] if is_driver(kind) && !name.contains('/') => Ok(Self::Driver(name.as_str().into())),
            _ => Err(UsageError::new("one object is explained at a time")
                .hint("write `pod NAME` or `pod/NAME`; without a name everything that waits is explained")),
        }
    }

    fn of_one(ctx: &Ctx, word: &str) -> Result<Self, UsageError> {
        match word.split_once('/') {
            Some((kind, name)) if is_node(kind) && !name.is_empty() && !name.contains('/') => {
                Ok(Self::Node(name.into()))
            }
            Some((kind, name)) if is_driver(kind) && !name.is_empty() && !name.contains('/') => {
                Ok(Self::Driver(name.into()))
            }
            Some((kind, name)) => match describe::kind_called(kind) {
                Some(what @ ("device" | "class" | "pool")) => {
                    let error = UsageError::new(format!("a {what} waits for nothing"));
                    let command = Command::dra("describe")
                        .object(Resource::called(what), name)
                        .done();
                    Err(match command {
                        Ok(command) => error.hint(format!("{command} tells about it")),
                        Err(_) => error,
                    })
                }
                // As tables have it.
                None if objects::is_namespace(kind) && !name.is_empty() && !name.contains('/') => {
                    Ok(Self::Name(Key::new(kind, name)))
                }
                _ => Named::of(ctx, word).map(Self::Named),
            },
            None if is_kind(word) => Err(UsageError::new(format!("`{word}` needs a name")).hint(format!(
                "write `{word} NAME`; without any name everything that waits is explained"
            ))),
            None => objects::pod(ctx, word).map(Self::Name),
        }
    }

    /// The namespace of which objects are needed at least.
    pub(super) fn namespace(&self, ctx: &Ctx) -> String {
        match self {
            Self::Named(named) => objects::judged_in(ctx, Some(named)),
            Self::Name(key) => key.namespace.to_string(),
            Self::Everything(_) | Self::Manifest | Self::Node(_) | Self::Driver(_) => {
                objects::judged_in(ctx, None)
            }
        }
    }
}

fn is_node(word: &str) -> bool {
    is_called(Kind::Node, "node", word)
}

fn is_driver(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "driver" | "drivers")
}

fn is_kind(word: &str) -> bool {
    is_node(word)
        || is_driver(word)
        || is_called(Kind::Pod, "pod", word)
        || is_called(Kind::ResourceClaim, "claim", word)
}

/// The pod that a name alone means, or else the claim. Says which was taken.
///
/// # Errors
/// When there is neither.
pub(super) async fn taken(ctx: &Ctx, cluster: &Cluster, key: Key) -> anyhow::Result<Named> {
    let pod = Mention::Object(Kind::Pod, key.clone());
    let claim = Mention::Object(Kind::ResourceClaim, key.clone());
    let there = |mention| presence::is_there(cluster, mention);
    let name = &key.name;
    match (there(&pod), there(&claim)) {
        (true, true) => {
            let note = format!("`{name}` is pod/{key}; claim/{name} for the claim of that name");
            ctx.printer().note(&note);
            Ok(Named::Pod(key))
        }
        (true, false) => {
            ctx.printer().note(&format!("`{name}` is pod/{key}"));
            Ok(Named::Pod(key))
        }
        (false, true) => {
            if cluster.gap(Kind::Pod, &key.namespace).is_some() {
                ctx.warn(format!(
                    "whether there is pod/{key} is not known, so `{name}` is taken for the claim"
                ));
            } else {
                ctx.printer()
                    .note(&format!("`{name}` is claim/{key}, as there is no such pod"));
            }
            Ok(Named::Claim(key))
        }
        (false, false) => {
            let of_pod = presence::not_found(ctx, cluster, &pod).await.downcast::<Absent>();
            let of_claim = presence::not_found(ctx, cluster, &claim)
                .await
                .downcast::<Absent>();
            Err(match (of_pod, of_claim) {
                (Ok(Absent(mut both)), Ok(Absent(claims))) => {
                    // Where the namespace is not there, both say so.
                    both.extend(
                        claims
                            .into_iter()
                            .filter(|absence| !both.contains(absence))
                            .collect::<Vec<_>>(),
                    );
                    Absent(both).into()
                }
                (Err(unread), _) | (_, Err(unread)) => unread,
            })
        }
    }
}
