//! Requests of tests to etcd, through its JSON gateway.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::Cluster;
use super::files::ETCD_SOCKET;

impl Cluster {
    /// Forgets all history: no version of an object but the newest is there any more.
    pub(crate) fn compact(&self) {
        let now = self.etcd("/v3/kv/range", &json!({"key": "AA=="}));
        let revision = now["header"]["revision"].as_str().expect("a revision");
        self.etcd(
            "/v3/kv/compaction",
            &json!({"revision": revision, "physical": true}),
        );
    }

    /// Puts objects below `/registry/`, each at its place there: thousands in a second, which nothing checks.
    pub(crate) fn store(&self, objects: impl IntoIterator<Item = (String, Value)>) {
        let mut puts = objects.into_iter().map(|(place, object)| {
            let key = BASE64_STANDARD.encode(format!("/registry/{place}"));
            json!({"requestPut": {"key": key, "value": BASE64_STANDARD.encode(object.to_string())}})
        });
        loop {
            let some: Vec<Value> = puts.by_ref().take(100).collect();
            if some.is_empty() {
                return;
            }
            self.etcd("/v3/kv/txn", &json!({"success": some}));
        }
    }

    fn etcd(&self, path: &str, body: &Value) -> Value {
        // The path of a socket may have 108 characters.
        let mut stream = UnixStream::connect(self.files.path(ETCD_SOCKET)).expect("etcd listens");
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.0\r\nHost: etcd\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("etcd reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("etcd answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        assert!(head.contains(" 200 "), "{path}: {answer}");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {answer}"))
    }
}
