//! One request to the API server: its deadline, its errors in words, and bounded repetition.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use http::{HeaderMap, Method, Request, StatusCode, header, request};
use http_body_util::{BodyDataStream, BodyExt as _};
use kube::client::Body;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

use super::Live;
use super::error::{Error, innermost};
use super::timing::Timing;
use dra_model::json;

/// Most of a small answer that is read: documents of discovery, errors.
const SMALL: usize = 64 << 20;

/// Bytes of what is asked for: the most that an address can have, less what the server's own may have.
const LONGEST: usize = 48 << 10;

/// The content type of plain answers.
pub(super) const JSON: &str = "application/json";

impl Live {
    /// Sends `GET path` and returns the answer's head; `what` names the operation in errors.
    pub(super) async fn open(&self, path: &str, accept: &str, what: &str) -> Result<Answer, Error> {
        let request = Request::get(path).header(header::ACCEPT, accept);
        let answer = self.send(request, Body::empty(), what).await?;
        // Any other success is an answer to something else, such as a part of what was asked for.
        match answer.status {
            StatusCode::OK => Ok(answer),
            status => Err(self.foreign(what, format!("it responds with {status}"))),
        }
    }

    /// Sends a request that carries JSON, once, and returns the whole answer. An error may mean that it took effect all the same.
    pub(super) async fn submit(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        json: Vec<u8>,
        what: &str,
    ) -> Result<Vec<u8>, Error> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT, JSON)
            .header(header::CONTENT_TYPE, content_type);
        let (target, sent) = (self.clone(), what.to_owned());
        // As a task of the runtime this runs on the thread that reads the connection; who waits is woken once.
        let answer =
            tokio::spawn(async move { target.send(request, Body::from(json), &sent).await?.small().await });
        joined(what, answer).await
    }

    async fn send(&self, request: request::Builder, body: Body, what: &str) -> Result<Answer, Error> {
        let impossible = |message: String| Error::Impossible {
            what: what.to_owned(),
            message,
        };
        let mut request = request
            .body(body)
            .map_err(|error| impossible(error.to_string()))?;
        if request
            .uri()
            .path_and_query()
            .is_none_or(|asked| asked.as_str().len() > LONGEST)
        {
            let wrong = format!("names and selectors produce a URL of more than {LONGEST} bytes");
            return Err(impossible(wrong));
        }
        // Servers and proxies resolve `..`, so that the answer would be about something else.
        let misleading =
            |part: &str| matches!(part, "." | "..") || part.contains("%2F") || part.contains("%25");
        if request.uri().path().split('/').any(misleading) {
            return Err(impossible(
                "invalid object name: `.`, `..` and names that contain `/` or `%` do not exist".to_owned(),
            ));
        }
        request.headers_mut().extend(self.headers.clone());
        if let Some(header) = self.credentials.header().await? {
            request.headers_mut().insert(header::AUTHORIZATION, header);
        }
        let limit = self.request_timeout.unwrap_or(self.timing.first_byte);
        let deadline = self
            .request_timeout
            .map(|limit| tokio::time::Instant::now() + limit);
        let timed_out = || Error::TimedOut {
            what: what.to_owned(),
            after: limit,
        };
        let sent = tokio::time::Instant::now();
        let response = tokio::time::timeout(limit, self.client.send(request))
            .await
            .map_err(|_| timed_out())?
            .map_err(|error| Error::transport(&error, &self.server, what))?;
        let (head, body) = response.into_parts();
        self.server_time
            .note(sent, tokio::time::Instant::now(), &head.headers);
        tracing::trace!(what, status = head.status.as_u16(), "request");
        let answer = Answer {
            status: head.status,
            headers: head.headers,
            body: body.into_data_stream(),
            what: what.to_owned(),
            deadline,
            limit,
            pause: self.timing.pause,
        };
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(self.refusal(answer).await)
    }

    /// Sends `GET path`, again while that can help, and reads the answer as JSON.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        accept: &str,
        what: &str,
    ) -> Result<T, Error> {
        let mut patience = Patience::new(self.timing);
        let bytes = loop {
            match self.whole(path, accept, what).await {
                Ok(bytes) => break bytes,
                Err(error) => patience.again(error).await?,
            }
        };
        json::from_slice(&bytes).map_err(|error| self.foreign(what, error.to_string()))
    }

    /// The same; nothing where the server says that nothing is there.
    pub(super) async fn find<T: DeserializeOwned>(
        &self,
        path: &str,
        accept: &str,
        what: &str,
    ) -> Result<Option<T>, Error> {
        match self.get(path, accept, what).await {
            Ok(found) => Ok(Some(found)),
            Err(Error::Refused { code: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The error of an answer that no API server gives.
    pub(super) fn foreign(&self, what: impl Into<String>, message: String) -> Error {
        Error::Foreign {
            what: what.into(),
            server: self.server.clone(),
            message,
        }
    }

    /// Sends `GET path` once, and reads the whole answer.
    pub(super) async fn whole(&self, path: &str, accept: &str, what: &str) -> Result<Vec<u8>, Error> {
        self.open(path, accept, what).await?.small().await
    }

    async fn refusal(&self, answer: Answer) -> Error {
        let status = answer.status;
        let what = answer.what.clone();
        let seconds = answer.headers.get(header::RETRY_AFTER);
        let retry_after = seconds
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.parse().ok())
            .map(Duration::from_secs);
        let body = answer.small().await.unwrap_or_default();
        let message = explanation(status, &body);
        if status == StatusCode::UNAUTHORIZED {
            return Error::Unauthorized {
                server: self.server.clone(),
                message,
            };
        }
        Error::Refused {
            what,
            code: status.as_u16(),
            message,
            retry_after,
        }
    }
}

/// Returns what `asked` comes to, if that does not take longer than `limit`.
pub(super) async fn in_time<T>(
    limit: Duration,
    what: &str,
    asked: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let answered = tokio::time::timeout(limit, asked).await;
    answered.unwrap_or_else(|_| {
        Err(Error::TimedOut {
            what: what.to_owned(),
            after: limit,
        })
    })
}

/// Returns what a task came to that asked, which panicked or was ended with the runtime otherwise.
pub(super) async fn joined<T>(what: &str, task: JoinHandle<Result<T, Error>>) -> Result<T, Error> {
    task.await.unwrap_or_else(|error| {
        Err(Error::Cut {
            what: what.to_owned(),
            message: error.to_string(),
        })
    })
}

/// A list: only its items count.
#[derive(serde::Deserialize)]
pub(super) struct Items {
    #[serde(default)]
    pub(super) items: Vec<Box<RawValue>>,
}

/// An answer whose body is still to come.
pub(super) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: BodyDataStream<Body>,
    what: String,
    deadline: Option<tokio::time::Instant>,
    limit: Duration,
    pause: Duration,
}

impl Answer {
    /// Lets the server pause longer within the answer.
    pub(super) fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The next piece of the body, or nothing at its end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let pause = self.pause;
        let paused = tokio::time::Instant::now() + pause;
        let (until, after) = match self.deadline {
            Some(deadline) if deadline < paused => (deadline, self.limit),
            _ => (paused, pause),
        };
        match tokio::time::timeout_at(until, self.body.next()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(piece))) => Ok(Some(piece)),
            Ok(Some(Err(error))) => Err(Error::Cut {
                what: self.what.clone(),
                message: innermost(&error),
            }),
            Err(_) => Err(Error::TimedOut {
                what: self.what.clone(),
                after,
            }),
        }
    }

    /// The body, limited to a reasonable size.
    async fn small(mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > SMALL {
                break;
            }
        }
        Ok(bytes)
    }
}

/// Decides whether to ask again after an error, for a limited time and with growing pauses.
pub(super) struct Patience {
    timing: Timing,
    delay: Duration,
    waited: Duration,
    cuts: u32,
}

impl Patience {
    pub(super) fn new(timing: Timing) -> Self {
        Self {
            timing,
            delay: timing.first_delay,
            waited: Duration::ZERO,
            cuts: 0,
        }
    }

    /// Waits if asking again can help; else hands `error` back.
    pub(super) async fn again(&mut self, error: Error) -> Result<(), Error> {
        let asked = match &error {
            Error::Refused { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        // Each cut may have cost a whole list, so there is one more try only.
        if matches!(error, Error::Cut { .. }) {
            self.cuts += 1;
        }
        let pause = self.delay.max(asked).min(self.timing.longest_delay);
        if !error.is_transient() || self.cuts > 1 || self.waited + pause > self.timing.patience {
            return Err(error);
        }
        tokio::time::sleep(pause).await;
        self.waited += pause;
        self.delay *= 2;
        Ok(())
    }
}

/// A pause between a half and the whole of `longest`, so that those who failed together do not come back together.
pub fn jittered(longest: Duration) -> Duration {
    use std::hash::BuildHasher as _;
    // The standard library's hasher is keyed at random, which is all the chance that is needed.
    let random = std::hash::RandomState::new().hash_one(0_u8) as u32;
    longest.mul_f64(0.5 + f64::from(random) / f64::from(u32::MAX) / 2.0)
}

/// The server's own words for a refusal, from a `Status` object or from plain text.
fn explanation(status: StatusCode, body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Status {
        #[serde(default)]
        message: String,
    }
    let said = match json::from_slice::<Status>(body) {
        Ok(status) => status.message,
        // Proxies answer with pages of HTML, which are of no help.
        Err(_) if body.trim_ascii_start().starts_with(b"<") => String::new(),
        Err(_) => {
            let text = String::from_utf8_lossy(&body[..body.len().min(300)]);
            text.lines().next().unwrap_or_default().trim().to_owned()
        }
    };
    match said {
        // A redirect target would receive the credentials.
        _ if status.is_redirection() => format!("{status}, and redirects are not followed"),
        said if said.is_empty() => status.to_string(),
        said => said,
    }
}
