//! Single objects, asked for because no list or watch has shown them.

use serde_json::Value;
use serde_json::value::RawValue;

use super::asked::mistaken;
use super::discovery::{Served, Serving, discover};
use super::error::Error;
use super::request::JSON;
use super::{Live, list};
use crate::decode::Decoder;
use dra_model::{Key, Kind, Object, json};

impl Live {
    /// The object as the server has it, with the kind and the version that it is served in; nothing where the server says that there is
    /// none.
    ///
    /// # Errors
    /// When the server cannot be asked, or does not serve the kind.
    pub async fn manifest(&self, kind: Kind, key: &Key) -> Result<Option<Value>, Error> {
        let served = discover(self, &[kind].into()).await?;
        let Some((_, json)) = self.text(&served, kind, key).await? else {
            return Ok(None);
        };
        let what = format!("read {}/{key}", list::resource(kind));
        let object = json::from_str(json.get());
        object
            .map(Some)
            .map_err(|error| self.foreign(what, error.to_string()))
    }

    /// The object; nothing if the server reports that it does not exist. An unserved kind proves nothing about the
    /// object, and is an error.
    pub(super) async fn object(
        &self,
        served: &Served,
        kind: Kind,
        key: &Key,
    ) -> Result<Option<Object>, Error> {
        let Some((version, json)) = self.text(served, kind, key).await? else {
            return Ok(None);
        };
        let decoded = Decoder::default().decode(kind, kind.group(), version, json.get().as_bytes());
        let what = format!("read {}/{key}", list::resource(kind));
        decoded
            .map(Some)
            .map_err(|error| self.foreign(what, error.to_string()))
    }

    /// The text of an object, with the version that it is in.
    async fn text<'s>(
        &self,
        served: &'s Served,
        kind: Kind,
        key: &Key,
    ) -> Result<Option<(&'s str, Box<RawValue>)>, Error> {
        let what = format!("read {}/{key}", list::resource(kind));
        let version = match served.kind(kind) {
            Serving::Version(version) | Serving::Perhaps(version) => version,
            Serving::No => {
                return Err(Error::Refused {
                    what,
                    code: 404,
                    message: "the API server does not serve this kind".to_owned(),
                    retry_after: None,
                });
            }
        };
        let path = list::object(kind, version, key);
        match self.get::<Box<RawValue>>(&path, JSON, &what).await {
            Ok(json) => match mistaken(
                json.get().as_bytes(),
                &kind.api_version(version),
                kind.name(),
                key,
            ) {
                None => Ok(Some((version, json))),
                Some(why) => Err(self.foreign(what, why)),
            },
            Err(error) if error.says_gone(&key.name) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
