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

    /// Puts objects below `/registry/`, each at its place there: a thousand in a second, which nothing checks. Each has a revision of its own:
    /// what lists only a part of a revision, such as the API server's cache, is taken to have it all.
    pub(crate) fn store(&self, objects: impl IntoIterator<Item = (String, Value)>) {
        for (place, object) in objects {
            let [key, value] =
                [format!("/registry/{place}"), object.to_string()].map(|text| BASE64_STANDARD.encode(text));
            self.etcd("/v3/kv/put", &json!({"key": key, "value": value}));
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
