//! Proxy for the API server.
//!
//! client-go takes the kubeconfig's `proxy-url`, else what Go's `http.ProxyFromEnvironment` says. The rules here are those of
//! `golang.org/x/net/http/httpproxy`: `NO_PROXY` is asked about the server, and the local machine never needs a proxy.

use std::ffi::OsString;
use std::net::IpAddr;

use http::Uri;
use ipnet::IpNet;

use super::address::shown;
use super::error::Error;

/// The proxy for requests to `server`: the kubeconfig's, else the environment's.
pub(super) fn for_server(configured: Option<&str>, server: &Uri) -> Result<Option<Uri>, Error> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let either = |upper: &str, lower: &str| {
        let value = variable(upper).or_else(|| variable(lower));
        // What is ignored would be passed by.
        value
            .map(OsString::into_string)
            .transpose()
            .map_err(|value| Error::Proxy {
                proxy: shown(&value.to_string_lossy()),
            })
    };
    let address = match configured {
        Some(address) => Some(address.to_owned()),
        None if bypasses(&either("NO_PROXY", "no_proxy")?.unwrap_or_default(), server) => None,
        None if server.scheme_str() == Some("http") => either("HTTP_PROXY", "http_proxy")?,
        None => either("HTTPS_PROXY", "https_proxy")?,
    };
    let Some(address) = address else { return Ok(None) };
    let invalid = || Error::Proxy {
        proxy: shown(&address),
    };
    let full = if address.contains("://") {
        address.clone()
    } else {
        format!("http://{address}")
    };
    let proxy: Uri = full.parse().map_err(|_| invalid())?;
    match proxy.scheme_str() {
        Some("http" | "https" | "socks5") if proxy.host().is_some() => Ok(Some(proxy)),
        _ => Err(invalid()),
    }
}

/// Returns whether an address is that of a proxy; else what is wrong with it, without a password. Mirrors client-go
/// `tools/clientcmd/helpers.go`, `parseProxyURL`, v0.37.1.
pub fn check_proxy(address: &str) -> Result<(), String> {
    match address.split_once("://") {
        Some(("http" | "https" | "socks5", rest)) if !rest.is_empty() => Ok(()),
        Some((scheme, _)) if scheme.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
            Err(format!("scheme `{scheme}` is not http, https or socks5"))
        }
        _ => Err("expected a URL such as http://proxy:8080".to_owned()),
    }
}

/// Returns whether `server` is reached directly. `list` is what `NO_PROXY` holds.
fn bypasses(list: &str, server: &Uri) -> bool {
    let host = without_brackets(server.host().unwrap_or_default()).to_ascii_lowercase();
    let default_port = if server.scheme_str() == Some("http") {
        80
    } else {
        443
    };
    let port = server.port_u16().unwrap_or(default_port);
    let address: Option<IpAddr> = host.parse().ok();
    if is_local(&host) {
        return true;
    }
    list.split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .any(|entry| {
            let entry = entry.to_ascii_lowercase();
            if entry == "*" {
                return true;
            }
            if entry.contains('/') {
                let network = entry.parse::<IpNet>();
                return network
                    .is_ok_and(|network| address.is_some_and(|address| network.contains(&address)));
            }
            let (name, wanted_port) = split_port(&entry);
            if wanted_port.is_some_and(|wanted| wanted != port) {
                return false;
            }
            if let Ok(listed) = name.parse::<IpAddr>() {
                return address == Some(listed);
            }
            // `example.com` covers itself and what is below, `.example.com` and `*.example.com` only what is below.
            let below = name.trim_start_matches('*');
            match below.strip_prefix('.') {
                Some(_) => host.ends_with(below),
                None => host == below || host.strip_suffix(below).is_some_and(|rest| rest.ends_with('.')),
            }
        })
}

/// Returns whether a host is the local machine.
pub(super) fn is_local(host: &str) -> bool {
    let host = without_brackets(host);
    let address: Option<IpAddr> = host.parse().ok();
    host.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}

/// An address of IPv6 without the brackets that set it apart from a port.
fn without_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

fn split_port(entry: &str) -> (&str, Option<u16>) {
    let bare = |text: &'_ str| text.len() >= 2 && text.starts_with('[') && text.ends_with(']');
    match entry.rsplit_once(':') {
        // More than one colon is an address of IPv6, unless it stands in brackets.
        Some((name, port)) if !name.contains(':') || bare(name) => match port.parse() {
            Ok(port) => (without_brackets(name), Some(port)),
            Err(_) => (entry, None),
        },
        _ => (without_brackets(entry), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_is_asked_about_the_server() {
        for (list, server, expected) in [
            ("", "https://api.example.com:6443", false),
            ("", "https://127.0.0.1:6443", true),
            ("", "https://localhost", true),
            ("", "https://[::1]:6443", true),
            ("*", "https://api.example.com", true),
            ("example.com", "https://api.example.com", true),
            ("example.com", "https://example.com", true),
            ("example.com", "https://myexample.com", false),
            (".example.com", "https://example.com", false),
            ("*.example.com", "https://api.example.com", true),
            ("EXAMPLE.com,", "https://api.Example.com", true),
            ("api.example.com:6443", "https://api.example.com:6443", true),
            ("api.example.com:443", "https://api.example.com:6443", false),
            ("api.example.com:443", "https://api.example.com", true),
            ("10.0.0.0/8, 192.168.1.1", "https://10.20.30.40:6443", true),
            ("10.0.0.0/8, 192.168.1.1", "https://192.168.1.1", true),
            ("10.0.0.0/8, 192.168.1.1", "https://192.168.1.2", false),
            ("0.0.0.0/0", "https://192.168.1.2", true),
            ("fd00::/8", "https://[fd12::1]:6443", true),
            ("fd12::1", "https://[fd12::1]:6443", true),
            ("[fd12::1]:6443", "https://[fd12::1]:6443", true),
            ("10.0.0.0/99,nonsense/x", "https://10.0.0.1", false),
        ] {
            let server: Uri = server.parse().unwrap();
            assert_eq!(bypasses(list, &server), expected, "{list} {server}");
        }
    }

    #[test]
    fn a_proxy_of_the_kubeconfig_is_used_even_for_the_local_machine() {
        let server: Uri = "https://127.0.0.1:6443".parse().unwrap();
        let proxy = for_server(Some("socks5://proxy.example.com:1080"), &server).unwrap();
        assert_eq!(proxy.unwrap().port_u16(), Some(1080));
        let error = for_server(Some("ftp://me:secret@proxy.example.com"), &server)
            .unwrap_err()
            .to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
