//! `/healthz`, `/readyz` and `/metrics` over HTTP, for kubelets and Prometheus.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::health::Health;
use super::metrics::Metrics;

/// Connections at the same time. Those who ask are a kubelet and a few collectors of metrics.
const CONNECTIONS: usize = 32;

/// How long a connection may take to ask something.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the work goes on, as probes see it.
#[derive(Debug, Default)]
pub struct Operation {
    pub(super) health: Health,
    pub(super) metrics: Metrics,
    /// Whether somebody can ask for the metrics, so that what costs something is measured.
    pub(super) is_measured: bool,
}

impl Operation {
    /// An operation whose metrics are asked for.
    pub fn measured() -> Self {
        Self {
            is_measured: true,
            ..Self::default()
        }
    }
}

/// Answers probes until it is dropped.
pub struct Probes {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Probes {
    /// Listens on `address`; port 0 is any that is free.
    ///
    /// # Errors
    /// When nobody can listen there.
    pub async fn listen(address: SocketAddr, operation: Arc<Operation>) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(serve(listener, operation));
        Ok(Self { address, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, operation: Arc<Operation>) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // It is never closed.
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // No more files may be open; others will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let operation = Arc::clone(&operation);
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let response = operation.answer(&request);
                async move { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), answer);
            // Whoever breaks off does not want the answer.
            _ = connection.await;
            drop(permit);
        });
    }
}

impl Operation {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        const PLAIN: &str = "text/plain; charset=utf-8";
        let (status, content_type, body) = match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, path) => match path {
                "/healthz" => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
                "/readyz" => {
                    let why = self.health.why_not_ready(Instant::now());
                    if why.is_empty() {
                        (StatusCode::OK, PLAIN, "ok\n".to_owned())
                    } else {
                        (StatusCode::SERVICE_UNAVAILABLE, PLAIN, why.join("\n") + "\n")
                    }
                }
                "/metrics" => (
                    StatusCode::OK,
                    "application/openmetrics-text; version=1.0.0; charset=utf-8",
                    self.metrics.text(),
                ),
                _ => (
                    StatusCode::NOT_FOUND,
                    PLAIN,
                    "there are /healthz, /readyz and /metrics\n".to_owned(),
                ),
            },
            _ => (
                StatusCode::METHOD_NOT_ALLOWED,
                PLAIN,
                "only GET is known here\n".to_owned(),
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
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;
    use crate::model::Kind;

    async fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let text = format!("{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn probes_say_whether_and_why_not() {
        let operation = Arc::new(Operation::default());
        let any = "127.0.0.1:0".parse().unwrap();
        let probes = Probes::listen(any, Arc::clone(&operation)).await.unwrap();
        let address = probes.address();
        assert!(
            Probes::listen(address, Arc::clone(&operation)).await.is_err(),
            "the address is taken"
        );

        let healthy = ask(address, "GET /healthz").await;
        assert!(healthy.starts_with("HTTP/1.1 200 OK\r\n"), "{healthy}");
        let unready = ask(address, "GET /readyz?verbose").await;
        assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
        assert!(
            unready.ends_with("\r\n\r\nthe cluster is being read\n"),
            "{unready}"
        );
        operation.health.begin([Kind::Pod].into_iter());
        operation.health.in_step(Kind::Pod);
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
