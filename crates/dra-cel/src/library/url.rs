//! URLs. Mirrors `library/urls.go` (apiserver v0.37.1) on top of what Go's `net/url` reads and writes.
//!
//! Where unescaping yields bytes that are no UTF-8, they become replacement characters.

mod escape;

use std::fmt;
use std::sync::Arc;

use super::network::parse_address;
use super::{Declaration, overloads};
use crate::eval::Context;
use crate::value::map::{Entries, Map};
use crate::value::{Fault, Outcome, Value};
use dra_values::go_quote;
use escape::{Part, escape, is_escaped, unescape};

/// The parts of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    opaque: String,
    user: Option<(String, Option<String>)>,
    host: String,
    omit_host: bool,
    path: String,
    /// The path as it was written, where that differs from the default way to write it.
    raw_path: String,
    force_query: bool,
    query: String,
    fragment: String,
    raw_fragment: String,
}

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "string_to_url": "url(string) -> kubernetes.URL" => |ctx, [Value::String(text)]| make(ctx, text),
    "is_url_string": "isURL(string) -> bool" => |_, [Value::String(text)]| {
        Ok(Value::Bool(parse_request_uri(text).is_ok()))
    },
    "url_get_scheme": "<kubernetes.URL>.getScheme() -> string" => |_, [Value::Url(url)]| {
        Ok(Value::string(&*url.scheme))
    },
    "url_get_host": "<kubernetes.URL>.getHost() -> string" => |_, [Value::Url(url)]| {
        Ok(Value::string(&*url.host))
    },
    "url_get_hostname": "<kubernetes.URL>.getHostname() -> string" => |_, [Value::Url(url)]| {
        let host = url.split_host().0;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        Ok(Value::string(bare.unwrap_or(host)))
    },
    "url_get_port": "<kubernetes.URL>.getPort() -> string" => |_, [Value::Url(url)]| {
        Ok(Value::string(url.split_host().1))
    },
    "url_get_escaped_path": "<kubernetes.URL>.getEscapedPath() -> string" => |_, [Value::Url(url)]| {
        Ok(Value::string(url.escaped_path()))
    },
    "url_get_query": "<kubernetes.URL>.getQuery() -> map(string, list(string))" => |ctx, [Value::Url(url)]| query(ctx, url),
};

fn make<'a>(ctx: &mut Context<'a>, text: &str) -> Outcome<'a> {
    ctx.allocate(text.len() * 4)?;
    let refused = |error| Fault::error(format!("URL parse error during conversion from string: {error}"));
    parse_request_uri(text).map_err(refused)?;
    Ok(Value::Url(Arc::new(parse_with_fragment(text).map_err(refused)?)))
}

/// Parameters that a query may have before none is read.
const MAX_PARAMETERS: usize = 10_000;

fn query<'a>(ctx: &mut Context<'a>, url: &Url) -> Outcome<'a> {
    ctx.allocate(url.query.len().saturating_mul(32))?;
    let mut values: Vec<(String, Vec<Value<'a>>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    if url.query.matches('&').count() < MAX_PARAMETERS {
        for parameter in url.query.split('&').filter(|parameter| !parameter.is_empty()) {
            // Parameters that cannot be read are left out.
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if parameter.contains(';') {
                continue;
            }
            let (Ok(key), Ok(value)) = (unescape(key, Part::Query), unescape(value, Part::Query)) else {
                continue;
            };
            let place = *places.entry(key.clone()).or_insert_with(|| {
                values.push((key, Vec::new()));
                values.len() - 1
            });
            values[place].1.push(Value::string(value));
        }
    }
    let mut entries = Entries::default();
    for (key, values) in values {
        entries.insert(Value::string(key), Value::list(values));
    }
    Ok(Value::Map(Map::of_entries(entries)))
}

fn parse_error(text: &str, problem: &str) -> String {
    format!("parse {}: {problem}", go_quote(text))
}

/// Mirrors `url.ParseRequestURI`: an absolute URL, or an absolute path.
pub(super) fn parse_request_uri(text: &str) -> Result<Url, String> {
    parse(text, true).map_err(|problem| parse_error(text, &problem))
}

/// Mirrors `url.Parse`.
fn parse_with_fragment(text: &str) -> Result<Url, String> {
    let (front, fragment) = text.split_once('#').unwrap_or((text, ""));
    let mut url = parse(front, false).map_err(|problem| parse_error(front, &problem))?;
    if !fragment.is_empty() {
        url.fragment = unescape(fragment, Part::Fragment).map_err(|problem| parse_error(text, &problem))?;
        if escape(&url.fragment, Part::Fragment) != fragment {
            fragment.clone_into(&mut url.raw_fragment);
        }
    }
    Ok(url)
}

fn parse(text: &str, request: bool) -> Result<Url, String> {
    let mut url = Url::default();
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && request {
        return Err("empty url".to_owned());
    }
    if text == "*" {
        text.clone_into(&mut url.path);
        return Ok(url);
    }
    let (scheme, mut rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    if rest.ends_with('?') && rest.matches('?').count() == 1 {
        url.force_query = true;
        rest = &rest[..rest.len() - 1];
    } else if let Some((front, query)) = rest.split_once('?') {
        rest = front;
        query.clone_into(&mut url.query);
    }
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".to_owned());
        }
        if begins_like_a_scheme(rest) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let may_have_host = !url.scheme.is_empty() || (!request && !rest.starts_with("///"));
    if may_have_host && let Some(behind) = rest.strip_prefix("//") {
        let end = behind.find('/').unwrap_or(behind.len());
        rest = &behind[end..];
        url.parse_authority(&behind[..end])?;
    } else if !url.scheme.is_empty() && rest.starts_with('/') {
        url.omit_host = true;
    }
    url.path = unescape(rest, Part::Path)?;
    if escape(&url.path, Part::Path) != rest {
        rest.clone_into(&mut url.raw_path);
    }
    Ok(url)
}

fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if position > 0 => {}
            b':' if position == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..position], &text[position + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn is_optional_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_user_info(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte))
}

impl Url {
    fn parse_authority(&mut self, authority: &str) -> Result<(), String> {
        let Some((user, host)) = authority.rsplit_once('@') else {
            self.host = self.parse_host(authority)?;
            return Ok(());
        };
        self.host = self.parse_host(host)?;
        if !is_user_info(user) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        self.user = Some(match user.split_once(':') {
            None => (unescape(user, Part::User)?, None),
            Some((name, password)) => (unescape(name, Part::User)?, Some(unescape(password, Part::User)?)),
        });
        Ok(())
    }

    fn parse_host(&self, host: &str) -> Result<String, String> {
        let check_port = |port: &str| {
            if is_optional_port(port) {
                Ok(())
            } else {
                Err(format!("invalid port {} after host", go_quote(port)))
            }
        };
        match host.rfind('[') {
            Some(0) => {
                let close = host.rfind(']').ok_or("missing ']' in host")?;
                let port = &host[close + 1..];
                check_port(port)?;
                let port = unescape(port, Part::Host)?;
                let name = &host[1..close];
                let name = match name.find("%25") {
                    Some(zone) => {
                        unescape(&name[..zone], Part::Host)? + &unescape(&name[zone..], Part::Zone)?
                    }
                    None => unescape(name, Part::Host)?,
                };
                let parsed = parse_address(&name).map_err(|error| format!("invalid host: {error}"))?;
                if parsed.address.is_ipv4() {
                    return Err("invalid IP-literal".to_owned());
                }
                return Ok(format!("[{name}]{port}"));
            }
            Some(_) => return Err("invalid IP-literal".to_owned()),
            None => {}
        }
        // Only the schemes of the web have but one colon in a host with a port.
        let colon = if matches!(self.scheme.as_str(), "http" | "https") {
            host.find(':')
        } else {
            host.rfind(':')
        };
        if let Some(colon) = colon {
            check_port(&host[colon..])?;
        }
        unescape(host, Part::Host)
    }

    /// The host and the port.
    fn split_host(&self) -> (&str, &str) {
        match self.host.rfind(':') {
            Some(colon) if is_optional_port(&self.host[colon..]) => {
                (&self.host[..colon], &self.host[colon + 1..])
            }
            _ => (&self.host, ""),
        }
    }

    fn escaped_path(&self) -> String {
        match as_written(&self.raw_path, &self.path, Part::Path) {
            Some(written) => written.to_owned(),
            None if self.path == "*" => self.path.clone(),
            None => escape(&self.path, Part::Path),
        }
    }

    fn escaped_fragment(&self) -> String {
        match as_written(&self.raw_fragment, &self.fragment, Part::Fragment) {
            Some(written) => written.to_owned(),
            None => escape(&self.fragment, Part::Fragment),
        }
    }
}

/// The text as it was written, if that needs no more escapes and stands for `text`.
fn as_written<'r>(raw: &'r str, text: &str, part: Part) -> Option<&'r str> {
    let is_same = is_escaped(raw, part) && unescape(raw, part).is_ok_and(|unescaped| unescaped == text);
    is_same.then_some(raw)
}

/// Returns whether the first segment of a path could be read as a scheme.
fn begins_like_a_scheme(path: &str) -> bool {
    path.split('/')
        .next()
        .is_some_and(|segment| segment.contains(':'))
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
        }
        if self.opaque.is_empty() {
            let has_host = !self.host.is_empty() || self.user.is_some();
            if has_host || (!self.scheme.is_empty() && !self.omit_host && !self.path.is_empty()) {
                out.push_str("//");
            }
            if let Some((name, password)) = &self.user {
                out.push_str(&escape(name, Part::User));
                if let Some(password) = password {
                    out.push(':');
                    out.push_str(&escape(password, Part::User));
                }
                out.push('@');
            }
            out.push_str(&escape(&self.host, Part::Host));
            let path = self.escaped_path();
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                out.push('/');
            }
            if out.is_empty() && begins_like_a_scheme(&path) {
                out.push_str("./");
            }
            out.push_str(&path);
        } else {
            out.push_str(&self.opaque);
        }
        if self.force_query || !self.query.is_empty() {
            out.push('?');
            out.push_str(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            out.push_str(&self.escaped_fragment());
        }
        formatter.write_str(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_urls() {
        for (text, written) in [
            (
                "https://user:p%40w@example.com:80/a%20b/?x=1&y#frag",
                "https://user:p%40w@example.com:80/a%20b/?x=1&y#frag",
            ),
            ("HTTP://h/a b", "http://h/a%20b"),
            ("mailto:a@b", "mailto:a@b"),
            ("/path:with/colon", "/path:with/colon"),
            ("http://[fe80::1%25en0]:8080/", "http://[fe80::1%25en0]:8080/"),
            ("file:///etc/x", "file:///etc/x"),
            ("x:/a", "x:/a"),
            ("http://h/%2f?", "http://h/%2f?"),
        ] {
            assert_eq!(
                parse_with_fragment(text).map(|url| url.to_string()),
                Ok(written.to_owned())
            );
        }
    }

    #[test]
    fn refuses_in_gos_words() {
        for (text, problem) in [
            ("::", "missing protocol scheme"),
            ("", "empty url"),
            ("a", "invalid URI for request"),
            ("http://a b", "invalid character \" \" in host name"),
            ("http://h:x", "invalid port \":x\" after host"),
            ("http://h/%zz", "invalid URL escape \"%zz\""),
            ("http://h/\u{7f}", "net/url: invalid control character in URL"),
            ("http://[::1", "missing ']' in host"),
            ("http://[x]", "invalid host: ParseAddr(\"x\"): unable to parse IP"),
            ("http://u ser@h/", "net/url: invalid userinfo"),
        ] {
            assert_eq!(
                parse_request_uri(text).unwrap_err(),
                format!("parse {}: {problem}", go_quote(text))
            );
        }
    }
}
