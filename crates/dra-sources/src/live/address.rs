//! Addresses of servers and proxies: for requests, and in a form for display.
//!
//! An address may hold a password (`https://USER:PASSWORD@HOST`) or a token in its query. Nothing but [`Address::read`]
//! sees them: the address in requests, reports, errors and records has neither.

use http::Uri;
use percent_encoding::percent_decode_str;

use super::error::Error;

/// The address of an API server.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Without user, password, query and fragment.
    pub(super) url: Uri,
    /// The user and password that stood in it, decoded.
    pub(super) user: Option<(String, String)>,
}

impl Address {
    /// Reads an address as client-go does; `secure` says whether anything about TLS is configured, which makes an address without a
    /// scheme an `https` one. Mirrors client-go `rest/url_utils.go`, `DefaultServerUrlFor` and `DefaultServerURL`, v0.37.1.
    pub(super) fn read(text: &str, secure: bool) -> Result<Self, Error> {
        let invalid = |message: String| Error::Server {
            server: shown(text),
            message,
        };
        let bare = !text.contains("://");
        let full = match (bare, secure) {
            (false, _) => text.to_owned(),
            (true, true) => format!("https://{text}"),
            (true, false) => format!("http://{text}"),
        };
        // A fragment is never sent.
        let full = full.split('#').next().unwrap_or_default();
        let url: Uri = full
            .parse()
            .map_err(|error| invalid(format!("is not a URL: {error}")))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (url.scheme_str(), url.authority()) else {
            return Err(invalid("is not an `https://HOST:PORT` address".to_owned()));
        };
        let (user, place) = match authority.as_str().rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority.as_str()),
        };
        if authority.host().is_empty() {
            return Err(invalid("is not an `https://HOST:PORT` address".to_owned()));
        }
        if bare && !matches!(url.path(), "" | "/") {
            return Err(invalid(
                "is neither a URL nor `HOST:PORT`: with a path it needs a scheme, as in `https://HOST/PATH`"
                    .to_owned(),
            ));
        }
        // An empty port is the scheme's.
        let place = place.trim_end_matches(':');
        let port = place.rsplit(']').next().and_then(|end| end.split_once(':'));
        if port.is_some_and(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(invalid(
                "has an invalid port: expected a number up to 65535".to_owned(),
            ));
        }
        // Go reads it in the same way, and tells the network what was meant to be a password.
        if url
            .path_and_query()
            .is_some_and(|rest| rest.as_str().contains('@'))
            || text.contains('#') && text.contains('@')
        {
            return Err(invalid(
                "has an `@` after its host: in a password write `/`, `?`, `#` and `@` as %2F, %3F, %23 and %40".to_owned(),
            ));
        }
        let clean = format!("{scheme}://{place}{}", url.path());
        if clean.len() > LONGEST {
            return Err(invalid(format!("has more than {LONGEST} bytes")));
        }
        Ok(Self {
            url: clean
                .parse()
                .map_err(|error| invalid(format!("is not a URL: {error}")))?,
            user: user.map(|user| {
                let (name, password) = user.split_once(':').unwrap_or((user, ""));
                (unescaped(name), unescaped(password))
            }),
        })
    }
}

/// Returns whether what is sent there is encrypted, which credentials need.
pub(super) fn is_secure(url: &Uri) -> bool {
    url.scheme_str() == Some("https")
}

/// Bytes of an address. What is asked of the server is added to it, and both together must stay an address.
const LONGEST: usize = 8 << 10;

/// Returns what may be shown of a configured text that should be an address: neither user nor password, query nor fragment, and nothing behind
/// a space, where in a damaged kubeconfig the next fields can stand.
pub(super) fn shown(text: &str) -> String {
    let text = match text.trim_start().split_once(char::is_whitespace) {
        // The space may stand in a password.
        Some((first, rest)) if rest.contains('@') && !first.contains('@') => "…",
        Some((first, rest)) if !rest.trim().is_empty() => &format!("{first}…"),
        _ => text,
    };
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if scheme.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
            (Some(scheme), rest)
        }
        _ => (None, text),
    };
    let place = match rest.rsplit_once('@') {
        // A password with such a sign, or a query with an `@`: what follows the `@` may be the host or a secret.
        Some((before, _)) if before.contains(['?', '#']) => "…",
        Some((_, place)) => place,
        None => rest,
    };
    let place = place.split(['?', '#']).next().unwrap_or_default();
    let mut short: String = place.chars().take(200).collect();
    if short.len() < place.len() {
        short.push('…');
    }
    match scheme {
        Some(scheme) => format!("{scheme}://{short}"),
        None => short,
    }
}

/// Percent escapes resolved; what is none stays.
fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, secure: bool) -> String {
        match Address::read(text, secure) {
            Ok(address) => address.url.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_address_without_a_scheme_is_secure_where_tls_is_configured() {
        for (text, secure, expected) in [
            ("host:6443", false, "http://host:6443/"),
            ("host:6443", true, "https://host:6443/"),
            ("host", true, "https://host/"),
            ("http://host", true, "http://host/"),
            ("https://host/prefix", false, "https://host/prefix"),
            ("https://host/prefix?token=t#f", false, "https://host/prefix"),
            ("[::1]:6443", true, "https://[::1]:6443/"),
            ("https://u:p@[::1]:6443", true, "https://[::1]:6443/"),
            ("https://host:", true, "https://host/"),
        ] {
            assert_eq!(read(text, secure), expected, "{text}");
        }
        for text in [
            "host/prefix",
            "ftp://host",
            "https://",
            "https://:443",
            "a b",
            "https://host:99999999",
            "https://ho\nst",
            "\u{0}",
        ] {
            assert!(Address::read(text, true).is_err(), "{text:?}");
        }
        assert!(Address::read(&format!("https://host/{}", "x".repeat(9000)), true).is_err());
    }

    #[test]
    fn a_password_goes_no_further() {
        for text in [
            "https://user:hunter2@host:6443",
            "https://hunter2@host:6443",
            "https://user:hun%74er2@host:6443/p?token=hunter2",
            "user:hunter2@host:6443",
            "https://user:hunter2@host:nan",
            "https://user:7/hunter2@host",
            "https://user:7?hunter2@host",
            "https://user:7#hunter2@host",
            "https://user:hunter2/x@host:6443",
            "https://user:hunter2?x@host:6443",
            "https://user:hunter2#x@host:6443",
            "https://user: hunter2@host:6443",
            "https://a@hunter2@host:6443",
            "hunter2://hunter2@host",
            "ftp://user:hunter2@host",
            "https://host?hunter2",
            "https://host:x?hunter2",
            "https://ho st#hunter2",
            "user:hunter2@",
            "https://host:6443/path token: hunter2",
            "https://host\thunter2",
            "https://user@host hunter2",
            "https://user:hunter2 x@host",
            "https://user:hunter2 x@host hunter2",
            "user:hunter2 x@host",
        ] {
            let said = read(text, true);
            assert!(
                !said.replace("hunter2://", "").contains("hunter2"),
                "{text}: {said}"
            );
            assert!(
                !shown(text).replace("hunter2://", "").contains("hunter2"),
                "{text}"
            );
        }
        let address = Address::read("https://us%40er:p%3a%zz@host", true).unwrap();
        assert_eq!(address.user, Some(("us@er".to_owned(), "p:%zz".to_owned())));
    }
}
