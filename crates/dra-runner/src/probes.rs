//! `/healthz`, `/readyz` and `/metrics` over HTTP, for kubelets and Prometheus.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::telemetry::Telemetry;

/// Connections at the same time. The clients are a kubelet and a few collectors of metrics.
const CONNECTIONS: usize = 32;

/// The time for a connection to send its request.
const PATIENCE: Duration = Duration::from_secs(10);

/// State of a program that probes and collectors of metrics ask for.
pub trait Endpoint: Send + Sync + 'static {
    /// Reasons why it is not ready; none if it is.
    fn why_not_ready(&self) -> Vec<String>;

    /// The metrics, in the text format of OpenMetrics.
    fn metrics(self: Arc<Self>) -> impl Future<Output = String> + Send;
}

impl Endpoint for Telemetry {
    fn why_not_ready(&self) -> Vec<String> {
        self.health.why_not_ready(Instant::now())
    }

    async fn metrics(self: Arc<Self>) -> String {
        self.metrics.text()
    }
}

/// Answers probes until it is dropped.
pub struct Probes {
    address: SocketAddr,
    _server: Task,
}

impl Probes {
    /// Listens on `address`; port 0 is any that is free.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub async fn listen(address: SocketAddr, endpoint: Arc<impl Endpoint>) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let server = Task(tokio::spawn(serve(listener, endpoint)));
        Ok(Self {
            address,
            _server: server,
        })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A task that ends when this is dropped.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn serve(listener: TcpListener, endpoint: Arc<impl Endpoint>) {
    // By age.
    let mut connections: VecDeque<Task> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No more files may be open; others will be closed.
            connections.pop_front();
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        connections.retain(|connection| !connection.0.is_finished());
        // A probe sends its request immediately and is answered immediately: the oldest connection is slow.
        while connections.len() >= CONNECTIONS {
            connections.pop_front();
        }
        let endpoint = Arc::clone(&endpoint);
        let connection = tokio::spawn(async move {
            let answer = service_fn(|request| {
                let endpoint = Arc::clone(&endpoint);
                async move { Ok::<_, Infallible>(answer(endpoint, &request).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), answer);
            // A client that disconnects does not want the answer.
            _ = connection.await;
        });
        connections.push_back(Task(connection));
    }
}

async fn answer(endpoint: Arc<impl Endpoint>, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    const PLAIN: &str = "text/plain; charset=utf-8";
    let (status, content_type, body) = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, path) => match path {
            "/healthz" => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
            "/readyz" => {
                let why = endpoint.why_not_ready();
                if why.is_empty() {
                    (StatusCode::OK, PLAIN, "ok\n".to_owned())
                } else {
                    (StatusCode::SERVICE_UNAVAILABLE, PLAIN, why.join("\n") + "\n")
                }
            }
            "/metrics" => (
                StatusCode::OK,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                endpoint.metrics().await,
            ),
            _ => (
                StatusCode::NOT_FOUND,
                PLAIN,
                "not found: use /healthz, /readyz or /metrics\n".to_owned(),
            ),
        },
        _ => (
            StatusCode::METHOD_NOT_ALLOWED,
            PLAIN,
            "method not allowed: use GET\n".to_owned(),
        ),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static(content_type),
    );
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;
    use dra_model::Kind;

    async fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let text = format!("{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Connections above the limit that never finish neither delay probes nor block connections that could stay.
    #[tokio::test]
    async fn who_asks_slowly_delays_no_probe() {
        let any = "127.0.0.1:0".parse().unwrap();
        let probes = Probes::listen(any, Arc::<Telemetry>::default()).await.unwrap();
        let mut slow = Vec::new();
        for _ in 0..CONNECTIONS + 8 {
            let mut stream = TcpStream::connect(probes.address()).await.unwrap();
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHo").await.unwrap();
            slow.push(stream);
        }
        let healthy = ask(probes.address(), "GET /healthz").await;
        assert!(healthy.starts_with("HTTP/1.1 200 OK\r\n"), "{healthy}");
        // Had it been answered only once the others were given up, none of these would be open.
        for mut stream in slow.drain(9..) {
            stream
                .write_all(b"st: x\r\nConnection: close\r\n\r\n")
                .await
                .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        }
        for mut stream in slow {
            // It is closed, with or without a word.
            let mut answer = Vec::new();
            assert_eq!(
                stream.read_to_end(&mut answer).await.unwrap_or(0),
                0,
                "{answer:?}"
            );
        }
    }

    #[tokio::test]
    async fn probes_say_whether_and_why_not() {
        let telemetry = Arc::new(Telemetry::default());
        let any = "127.0.0.1:0".parse().unwrap();
        let probes = Probes::listen(any, Arc::clone(&telemetry)).await.unwrap();
        let address = probes.address();
        assert!(
            Probes::listen(address, Arc::clone(&telemetry)).await.is_err(),
            "the address is taken"
        );

        let healthy = ask(address, "GET /healthz").await;
        assert!(healthy.starts_with("HTTP/1.1 200 OK\r\n"), "{healthy}");
        let unready = ask(address, "GET /readyz?verbose").await;
        assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
        assert!(unready.ends_with("\r\n\r\nreading the cluster\n"), "{unready}");
        telemetry.health.begin([Kind::Pod].into_iter());
        telemetry.health.in_step(Kind::Pod);
        let ready = ask(address, "GET /readyz").await;
        assert!(ready.starts_with("HTTP/1.1 200 OK\r\n"), "{ready}");
        let metrics = ask(address, "GET /metrics").await;
        assert!(
            metrics.contains("# TYPE kubectl_dra_shadow_findings counter\n"),
            "{metrics}"
        );
        assert!(metrics.contains("application/openmetrics-text"), "{metrics}");
        assert!(ask(address, "GET /").await.starts_with("HTTP/1.1 404 "));
        assert!(ask(address, "POST /metrics").await.starts_with("HTTP/1.1 405 "));
        assert!(ask(address, "nonsense").await.starts_with("HTTP/1.1 400 "));
    }
}
