//! Single objects, asked for because no list or watch has shown them.

use serde_json::value::RawValue;

use super::discovery::{Served, Serving, discover};
use super::error::Error;
use super::request::JSON;
use super::{Live, list};
use crate::model::{Key, Kind, Object};
use crate::sources::decode::Decoder;

impl Live {
    /// The objects of these kinds and names, in their order; nothing where the server says that there is none. That it does not serve a
    /// kind at all says nothing about the object, and is an error.
    ///
    /// # Errors
    /// When it cannot be found out what the server serves. Each object has errors of its own.
    pub async fn objects(
        &self,
        wanted: &[(Kind, &Key)],
    ) -> Result<Vec<Result<Option<Object>, Error>>, Error> {
        let kinds = wanted.iter().map(|(kind, _)| *kind).collect();
        let served = discover(&self.target, &kinds).await?;
        let mut found = Vec::new();
        for (kind, key) in wanted {
            found.push(self.object(&served, *kind, key).await);
        }
        Ok(found)
    }

    pub(super) async fn object(
        &self,
        served: &Served,
        kind: Kind,
        key: &Key,
    ) -> Result<Option<Object>, Error> {
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
        let mut path = list::collection(kind, version, Some(&key.namespace));
        path.push('/');
        list::percent_encode(&key.name, &mut path);
        let json = match self.target.get::<Box<RawValue>>(&path, JSON, &what).await {
            Ok(json) => json,
            Err(error) if error.says_gone(&key.name) => return Ok(None),
            Err(error) => return Err(error),
        };
        let decoded = Decoder::default().decode(kind, kind.group(), version, json.get().as_bytes());
        decoded
            .map(Some)
            .map_err(|error| self.foreign(what, error.to_string()))
    }
}
