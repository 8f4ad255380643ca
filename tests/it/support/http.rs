//! Code shared by test servers: requests of a connection, one after the other, and responses.

use std::io::{BufRead, Write as _};
use std::net::TcpStream;

/// A request.
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) target: String,
    /// Each with its value.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    /// The next request of a connection, until the other side ends it.
    pub(crate) fn next(lines: &mut impl BufRead) -> Option<Self> {
        let mut line = String::new();
        if lines.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let mut words = line.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(Ok(0), |(_, length)| length.parse()).ok()?;
        let mut body = vec![0; length];
        lines.read_exact(&mut body).ok()?;
        Some(Self {
            method,
            target,
            headers,
            body,
        })
    }
}

/// Answers with JSON. Each line of `headers` ends in `\r\n`.
pub(crate) fn answer(stream: &mut TcpStream, code: u16, headers: &str, body: &[u8]) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    // In one piece: the kernel holds a second small one back until the first is acknowledged.
    stream.write_all(&[head.as_bytes(), body].concat()).ok()
}
