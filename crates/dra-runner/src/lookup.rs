//! Looks up what the caches of the watches do not have.

use futures::{StreamExt as _, stream};

use super::api_error::is_outage;
use dra_model::Object;
use dra_rules::controllers::{Answer, Lookup};
use dra_sources::live::Error;

/// Maximum number of concurrent lookups of one item: an item with hundreds of entries should neither wait for as many
/// sequential responses nor flood the API server.
const AT_ONCE: usize = 8;

/// Answers to the lookups of an item.
pub(super) struct Answers {
    /// In the order of the lookups; of an outage, up to the one that showed it.
    pub(super) answers: Vec<(Lookup, Answer)>,
    /// Error of the API server as a whole, which is not the item's fault.
    pub(super) outage: Option<Error>,
}

/// Looks these objects up together, each with `find`.
pub(super) async fn ask<F>(lookups: Vec<Lookup>, find: impl Fn(Lookup) -> F) -> Answers
where
    F: Future<Output = (Lookup, Result<Option<Object>, Error>)>,
{
    let mut asked = std::pin::pin!(stream::iter(lookups).map(find).buffered(AT_ONCE));
    let mut answers = Vec::new();
    while let Some((lookup, found)) = asked.next().await {
        let answer = match found {
            Ok(Some(object)) => Answer::Found(object),
            Ok(None) => Answer::Absent,
            Err(error) if is_outage(&error) => {
                answers.push((lookup, Answer::Failed(error.to_string())));
                let outage = Some(error);
                return Answers { answers, outage };
            }
            Err(error) => Answer::Failed(error.to_string()),
        };
        answers.push((lookup, answer));
    }
    Answers {
        answers,
        outage: None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use dra_model::{Key, Kind};

    fn lookups(names: &[&str]) -> Vec<Lookup> {
        let lookup = |name: &&str| Lookup {
            kind: Kind::Pod,
            key: Key::new("n", *name),
        };
        names.iter().map(lookup).collect()
    }

    fn refused(code: u16) -> Error {
        Error::Refused {
            what: "read".to_owned(),
            code,
            message: "no".to_owned(),
            retry_after: None,
        }
    }

    /// Returns reports about pods of these names, whether that was an outage, and the requested names: those called
    /// `forbidden` may not be read, at `busy` the API server is unavailable, others do not exist. The first answer
    /// comes last.
    async fn looked(names: &[&str]) -> (Vec<String>, bool, Vec<String>) {
        let begun = Mutex::new(Vec::new());
        let looked = ask(lookups(names), |lookup| {
            let name = lookup.key.name.to_string();
            let is_first = {
                let mut begun = begun.lock().unwrap();
                begun.push(name.clone());
                begun.len() == 1
            };
            async move {
                if is_first {
                    tokio::task::yield_now().await;
                }
                let found = match name.as_str() {
                    "forbidden" => Err(refused(403)),
                    "busy" => Err(refused(429)),
                    _ => Ok(None),
                };
                (lookup, found)
            }
        })
        .await;
        let told = looked.answers.iter().map(|(lookup, answer)| {
            let answer = match answer {
                Answer::Absent => "absent",
                Answer::Found(_) => "found",
                Answer::Failed(_) => "failed",
            };
            format!("{} {answer}", lookup.key.name)
        });
        (
            told.collect(),
            looked.outage.is_some(),
            begun.into_inner().unwrap(),
        )
    }

    #[tokio::test]
    async fn lookups_go_out_together_and_come_back_in_their_order() {
        let (told, is_outage, begun) = looked(&["a", "forbidden", "c"]).await;
        assert_eq!(told, ["a absent", "forbidden failed", "c absent"]);
        assert!(!is_outage);
        assert_eq!(begun, ["a", "forbidden", "c"]);
        let many: Vec<String> = (0..20).map(|number| format!("p-{number:02}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let (told, _, begun) = looked(&many).await;
        assert_eq!((told.len(), begun.len()), (20, 20));
        assert!(told.is_sorted());
    }

    #[tokio::test]
    async fn an_outage_is_no_answer_and_ends_the_asking() {
        let mut names = vec!["a", "busy"];
        names.extend(["later"; 20]);
        let (told, is_outage, begun) = looked(&names).await;
        assert_eq!(told, ["a absent", "busy failed"]);
        assert!(is_outage);
        assert!(begun.len() < names.len(), "{begun:?}");
    }
}
