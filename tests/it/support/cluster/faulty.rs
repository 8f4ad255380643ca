//! A bad way to a good API server: a proxy that passes requests on with a user's credentials, except where a test tells it to refuse,
//! to break off, or to say nothing.

use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::{Value, json};

use super::User;
use super::api::runtime;
use crate::support::http::{Asked, answer};
use crate::support::wait::wait_for;

/// Fault of a request.
#[derive(Clone)]
pub(crate) enum Fault {
    /// Nothing: the real answer.
    None,
    /// An answer that the API server gives itself, with a `Status` object; the text goes to the headers, each line ending in `\r\n`.
    Refusal(u16, &'static str, String),
    /// Any text with status 200.
    Text(String),
    /// The first part of the real answer, in percent, then the connection ends.
    Cut(usize),
    /// The first part of the real answer, in percent, as if it were the whole.
    Short(usize),
    /// The real answer as it comes, for so long at most, then the connection ends.
    Passing(Duration),
    /// The first part of the real answer, in percent, then nothing more.
    Stall(usize),
    /// The connection is closed without an answer.
    Close,
    /// Nothing is ever said.
    Silence,
    /// The real answer after this was replaced by that.
    Replaced(&'static str, &'static str),
    /// The server does as it was asked, but this is what is answered: an error of that code, or nothing for code 0.
    After(u16),
    /// The real answer as it comes, but nothing of it while the gate is closed.
    Held(Gate),
    /// The real answer, by a clock that is so many seconds ahead of this machine's; behind it where that is negative. No other answer says
    /// what time it is.
    Dated(i64),
    /// The server does as it was asked, but its answer goes on only once this has returned, which is told the status.
    Late(Arc<dyn Fn(u16) + Send + Sync>),
}

/// Lets a watch through, or holds back what it says. It is open at first.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    closed: Arc<AtomicBool>,
    /// Number of pieces came through.
    passed: Arc<AtomicUsize>,
}

impl Gate {
    /// From now on, nothing that the API server says comes through.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// All that was held back comes, and what follows.
    pub(crate) fn open(&self) {
        self.closed.store(false, Ordering::SeqCst);
    }

    /// The same, and waits until something came, which has to be there.
    pub(crate) fn open_and_pass(&self) {
        let before = self.passed.load(Ordering::SeqCst);
        self.open();
        wait_for("something comes through", || {
            (self.passed.load(Ordering::SeqCst) > before).then_some(())
        });
    }

    /// Waits until it is open, for as long as that takes.
    pub(crate) fn wait(&self) {
        runtime().block_on(self.opened());
    }

    async fn opened(&self) {
        while self.closed.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Says what happens to the request for a path with its query, which was asked for so often before. Before the path of a request that
/// is no `GET` stands its method: `PATCH /apis/…`.
type Script = dyn Fn(&str, usize) -> Fault + Send + Sync;

/// Bodies of requests, each with its method and path.
type Sent = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// The proxy. It serves until the test process ends.
pub(crate) struct Faulty {
    address: String,
    log: Arc<Mutex<Vec<String>>>,
    sent: Sent,
}

impl Faulty {
    /// The program's flags that lead here.
    pub(crate) fn flags(&self) -> [String; 2] {
        [
            "--kubeconfig=/dev/null".to_owned(),
            format!("--server={}", self.address),
        ]
    }

    /// The paths that were asked for, with their queries.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what was sent with requests whose method and path begin so.
    pub(crate) fn sent(&self, start: &str) -> Vec<Value> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let bodies = sent.iter().filter(|(path, _)| path.starts_with(start));
        bodies
            .map(|(_, body)| serde_json::from_slice(body).expect("JSON"))
            .collect()
    }
}

impl User {
    /// Starts a proxy in front of the API server, for which whoever asks is this user.
    pub(crate) fn faulty(&self, script: impl Fn(&str, usize) -> Fault + Send + Sync + 'static) -> Faulty {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("it listens"));
        let faulty = Faulty {
            address,
            log: Arc::default(),
            sent: Arc::default(),
        };
        let connections = Connections {
            client: self.client(),
            script: Arc::new(script),
            log: Arc::clone(&faulty.log),
            sent: Arc::clone(&faulty.sent),
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Small writes are not held back until earlier ones are acknowledged.
                let _ = stream.set_nodelay(true);
                let connections = connections.clone();
                std::thread::spawn(move || connections.serve(stream));
            }
        });
        faulty
    }
}

#[derive(Clone)]
struct Connections {
    client: kube::Client,
    script: Arc<Script>,
    log: Arc<Mutex<Vec<String>>>,
    sent: Sent,
}

impl Connections {
    /// Answers the requests of a connection, until the other side or a fault ends it.
    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream.try_clone().ok()?);
        let mut stream = stream;
        loop {
            let Asked {
                method,
                target: path,
                mut headers,
                body,
            } = Asked::next(&mut lines)?;
            headers.retain(|(name, _)| ["accept", "content-type"].contains(&name.as_str()));
            let (method, path) = (method.as_str(), path.as_str());
            let asked = if method == "GET" {
                path.to_owned()
            } else {
                format!("{method} {path}")
            };
            if !body.is_empty() {
                let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
                sent.push((asked.clone(), body.clone()));
            }
            let forward = || self.forward(method, path, &headers, &body);
            match (self.script)(&asked, self.count(&asked)) {
                Fault::Silence => {
                    // Until the other side gives up.
                    let _ = lines.read(&mut [0]);
                    return None;
                }
                Fault::Close => return None,
                Fault::Refusal(code, headers, message) => {
                    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code});
                    answer(&mut stream, code, headers, status.to_string().as_bytes())?;
                }
                Fault::Text(text) => answer(&mut stream, 200, "", text.as_bytes())?,
                Fault::After(0) => {
                    forward()?;
                    return None;
                }
                Fault::After(code) => {
                    forward()?;
                    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                        "message": "etcdserver: request timed out", "code": code});
                    answer(&mut stream, code, "", status.to_string().as_bytes())?;
                }
                Fault::Passing(limit) => {
                    return self.pass(path, &headers, &mut stream, "", Some(limit), &Gate::default());
                }
                Fault::Held(gate) => return self.pass(path, &headers, &mut stream, "", None, &gate),
                Fault::None if path.contains("watch=true") => {
                    return self.pass(path, &headers, &mut stream, "", None, &Gate::default());
                }
                Fault::Dated(ahead) if path.contains("watch=true") => {
                    return self.pass(path, &headers, &mut stream, &date(ahead), None, &Gate::default());
                }
                Fault::Dated(ahead) => {
                    let (status, body) = forward()?;
                    answer(&mut stream, status.as_u16(), &date(ahead), &body)?;
                }
                Fault::None => {
                    let (status, body) = forward()?;
                    answer(&mut stream, status.as_u16(), "", &body)?;
                }
                Fault::Late(wait) => {
                    let (status, body) = forward()?;
                    wait(status.as_u16());
                    answer(&mut stream, status.as_u16(), "", &body)?;
                }
                Fault::Replaced(from, to) => {
                    let (status, body) = forward()?;
                    let text = String::from_utf8(body).expect("JSON is UTF-8");
                    assert!(text.contains(from), "{from} is not in {text}");
                    answer(
                        &mut stream,
                        status.as_u16(),
                        "",
                        text.replace(from, to).as_bytes(),
                    )?;
                }
                Fault::Short(percent) => {
                    let (status, body) = forward()?;
                    answer(
                        &mut stream,
                        status.as_u16(),
                        "",
                        &body[..body.len() * percent / 100],
                    )?;
                }
                fault @ (Fault::Cut(percent) | Fault::Stall(percent)) => {
                    let (_, body) = forward()?;
                    let part = &body[..body.len() * percent / 100];
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
                    stream.write_all(head.as_bytes()).ok()?;
                    stream
                        .write_all(format!("{:x}\r\n", part.len()).as_bytes())
                        .ok()?;
                    stream.write_all(part).ok()?;
                    stream.write_all(b"\r\n").ok()?;
                    if matches!(fault, Fault::Stall(_)) {
                        let _ = lines.read(&mut [0]);
                    }
                    return None;
                }
            }
        }
    }

    /// Passes an answer on as it comes.
    fn pass(
        &self,
        path: &str,
        headers: &[(String, String)],
        stream: &mut TcpStream,
        more: &str,
        limit: Option<Duration>,
        gate: &Gate,
    ) -> Option<()> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Body::empty())
            .expect("what was asked for can be asked again");
        let passing = async {
            let response = self.client.send(request).await.ok()?;
            let code = response.status().as_u16();
            let head = format!(
                "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n{more}\r\n"
            );
            stream.write_all(head.as_bytes()).ok()?;
            let mut body = response.into_body();
            while let Some(Ok(frame)) = body.frame().await {
                let Ok(piece) = frame.into_data() else { continue };
                gate.opened().await;
                stream
                    .write_all(format!("{:x}\r\n", piece.len()).as_bytes())
                    .ok()?;
                stream.write_all(&piece).ok()?;
                stream.write_all(b"\r\n").ok()?;
                gate.passed.fetch_add(1, Ordering::SeqCst);
            }
            stream.write_all(b"0\r\n\r\n").ok()
        };
        // Whoever asked closes the connection, or the time is over.
        runtime().block_on(async {
            match limit {
                Some(limit) => tokio::time::timeout(limit, passing).await.ok().flatten(),
                None => passing.await,
            }
        });
        None
    }

    /// Notes the request; how often there was one like it.
    fn count(&self, path: &str) -> usize {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let before = log.iter().filter(|known| *known == path).count();
        log.push(path.to_owned());
        before
    }

    /// The real answer, unless the API server is away.
    fn forward(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Option<(StatusCode, Vec<u8>)> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Body::from(body.to_vec()))
            .expect("what was asked for can be asked again");
        runtime().block_on(async {
            let response = self.client.send(request).await.ok()?;
            let status = response.status();
            let body = response.into_body().collect_bytes().await.ok()?;
            Some((status, body.to_vec()))
        })
    }
}

/// The header that tells the time, which is that of this machine and so many seconds more.
fn date(ahead: i64) -> String {
    let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(ahead);
    format!("Date: {}\r\n", time.strftime("%a, %d %b %Y %H:%M:%S GMT"))
}
