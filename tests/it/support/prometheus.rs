//! A real Prometheus: the program of Debian's package.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;
use tempfile::TempDir;

use super::cluster::free_port;
use super::command::isolated;
use super::process::Process;

/// A Prometheus, with its data as long as it runs.
pub(crate) struct Prometheus {
    _process: Process,
    _folder: TempDir,
    address: String,
}

impl Prometheus {
    /// Scrapes `target` each second.
    pub(crate) fn scraping(target: &str) -> Self {
        let config = format!(
            "global: {{scrape_interval: 1s}}\nscrape_configs:\n  - job_name: export\n    static_configs: [{{targets: [\"{target}\"]}}]\n"
        );
        Self::start(folder(), &config)
    }

    /// Has these samples, which are lines of OpenMetrics with times.
    pub(crate) fn with(samples: &str) -> Self {
        let folder = folder();
        let file = folder.path().join("samples");
        std::fs::write(&file, format!("{samples}# EOF\n")).expect("a file");
        isolated("promtool", &["tsdb", "create-blocks-from", "openmetrics"])
            .args([file, folder.path().join("data")])
            .run()
            .exits(0);
        Self::start(folder, "")
    }

    fn start(folder: TempDir, config: &str) -> Self {
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config).expect("a file");
        // It reports no address that it has chosen itself.
        let address = format!("127.0.0.1:{}", free_port());
        let process = isolated("prometheus", &[])
            .args([
                format!("--config.file={}", file.display()),
                format!("--storage.tsdb.path={}", folder.path().join("data").display()),
                format!("--web.listen-address={address}"),
            ])
            .start_unguarded();
        Self {
            _process: process,
            _folder: folder,
            address,
        }
    }

    /// The answer of the API; nothing while it does not answer.
    pub(crate) fn ask(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: prometheus\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        serde_json::from_str(body).ok()
    }

    /// The answer to a query, for a time in seconds or for now.
    pub(crate) fn query(&self, query: &str, time: Option<u64>) -> Option<Value> {
        let mut path = "/api/v1/query?query=".to_owned();
        for byte in query.bytes() {
            // A string takes whatever is written.
            _ = write!(path, "%{byte:02X}");
        }
        if let Some(time) = time {
            _ = write!(path, "&time={time}");
        }
        self.ask(&path)
    }

    /// The values of a query, by the values of its labels.
    pub(crate) fn values(&self, query: &str) -> Option<BTreeMap<String, f64>> {
        let answer = self.query(query, None)?;
        let results = answer["data"]["result"].as_array()?.iter();
        let values = results.map(|result| {
            let labels = result["metric"].as_object()?.values();
            let labels: Option<Vec<&str>> = labels.map(Value::as_str).collect();
            let value = result["value"][1].as_str()?.parse().ok()?;
            Some((labels?.join("/"), value))
        });
        values.collect()
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a directory")
}
