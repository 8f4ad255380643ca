//! Names of objects without the objects: for completion, and to say where something is that was looked for elsewhere.

use std::borrow::Cow;

use super::error::Error;
use super::request::Items;
use super::{Live, list};
use crate::files::named;
use crate::needs::by_name;
use dra_model::Kind;

/// The metadata alone: the server then does not send what is not looked at.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

impl Live {
    /// Names of the objects of `kind`, in one namespace or in all, in order; with their namespaces.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn names(&self, kind: Kind, namespace: Option<&str>) -> Result<Vec<(String, String)>, Error> {
        self.named(kind, namespace, "").await
    }

    /// The namespaces with an object of `kind` of that name, in order.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn namespaces_with(&self, kind: Kind, name: &str) -> Result<Vec<String>, Error> {
        let query = format!("?fieldSelector={}", list::encoded(&by_name(name)));
        let found = self.named(kind, None, &query).await?;
        Ok(found.into_iter().map(|(namespace, _)| namespace).collect())
    }

    async fn named(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        query: &str,
    ) -> Result<Vec<(String, String)>, Error> {
        for version in kind.versions() {
            let path = list::collection(kind, version, namespace) + query;
            let what = list::name(kind, namespace);
            if let Some(found) = self.find::<Items>(&path, METADATA, &what).await? {
                let text = |text: Option<Cow<'_, str>>| text.unwrap_or_default().into_owned();
                let named = found.items.iter().filter_map(|item| named(item.get().as_bytes()));
                return Ok(named
                    .map(|found| (text(found.namespace), text(found.name)))
                    .collect());
            }
        }
        Ok(Vec::new())
    }
}
