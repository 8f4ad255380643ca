//! Requests of tests to etcd, through its JSON gateway.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::Cluster;

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

    fn etcd(&self, path: &str, body: &Value) -> Value {
        // The path of a socket may have 108 characters.
        let mut stream = UnixStream::connect(self.files.path("etcd.sock")).expect("etcd listens");
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
