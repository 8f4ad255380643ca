//! Leases: who of several may work. Read and written whole, each write locked to the version that was read.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::Live;
use super::error::Error;
use super::list::encoded;
use super::request::{JSON, in_time};
use dra_model::{Key, json};

/// Timeout of a request about a lease. The server gets the same timeout, so that an abandoned write does not
/// take effect later. Mirrors client-go `tools/leaderelection/resourcelock/interface.go`, `NewFromKubeconfig`, v0.37.1:
/// half of the deadline of a renewal.
const LIMIT: Duration = Duration::from_secs(5);

impl Live {
    /// The lease as it is; nothing where there is none.
    ///
    /// # Errors
    /// The server's refusal, or that it did not answer within five seconds.
    pub async fn lease(&self, key: &Key) -> Result<Option<Value>, Error> {
        let what = format!("read lease/{key}");
        let path = path(key, true);
        match in_time(LIMIT, &what, self.whole(&path, JSON, &what)).await {
            Ok(text) => self.parsed(what, &text).map(Some),
            Err(error) if error.says_gone(&key.name) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a lease; what the server made of it. After an error it may be there all the same.
    ///
    /// # Errors
    /// As [`Live::lease`].
    pub async fn create_lease(&self, key: &Key, spec: Value) -> Result<Value, Error> {
        let what = format!("create lease/{key}");
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"namespace": key.namespace, "name": key.name}, "spec": spec});
        self.submit_lease(Method::POST, &path(key, false), &lease, what)
            .await
    }

    /// Replaces a lease, if it is still of the version that `lease` says; what the server made of it. After an error it may have been
    /// replaced all the same.
    ///
    /// # Errors
    /// As [`Live::lease`].
    pub async fn replace_lease(&self, key: &Key, lease: &Value) -> Result<Value, Error> {
        let what = format!("update lease/{key}");
        self.submit_lease(Method::PUT, &path(key, true), lease, what)
            .await
    }

    async fn submit_lease(
        &self,
        method: Method,
        path: &str,
        lease: &Value,
        what: String,
    ) -> Result<Value, Error> {
        let path = format!("{path}?timeout={}s", LIMIT.as_secs());
        let body = lease.to_string().into_bytes();
        let asked = self.submit(method, &path, JSON, body, &what);
        let text = in_time(LIMIT, &what, asked).await?;
        self.parsed(what, &text)
    }

    fn parsed(&self, what: String, text: &[u8]) -> Result<Value, Error> {
        json::from_slice(text).map_err(|error| self.foreign(what, error.to_string()))
    }
}

fn path(key: &Key, named: bool) -> String {
    let leases = format!(
        "/apis/coordination.k8s.io/v1/namespaces/{}/leases",
        encoded(&key.namespace)
    );
    if named {
        format!("{leases}/{}", encoded(&key.name))
    } else {
        leases
    }
}
