//! Credentials: headers, and the files and programs that they come from.
//!
//! Texts that become headers are checked before, so that one that cannot be a header is an error and no panic. Secrets are in no error:
//! a message names where a text comes from and what is wrong with it. Without TLS there are no credentials at all, as in client-go
//! (`tools/clientcmd/client_config.go`, `ClientConfig`, v0.37.1).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderMap, HeaderName, HeaderValue};
use kube::client::AuthError;
use kube::config::AuthInfo;
use secrecy::ExposeSecret as _;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::error::Error;
use super::plugin::{Plugin, Told};

/// A text that is neither shown nor logged.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Lifetime of a token from a file: client-go reads such files once a minute.
const FILE_COUNTS: Duration = Duration::from_secs(60);

/// The largest token file that is read.
const LARGEST_TOKEN: usize = 16 << 20;

/// Authentication header.
#[derive(Clone, Default)]
pub(super) enum Credentials {
    /// Nothing, or what kube adds.
    #[default]
    None,
    /// Always the same.
    Fixed(HeaderValue),
    /// Token in a file, renewed by another process.
    File(Arc<TokenFile>),
    /// Output of a program, until it expires.
    Plugin(Arc<Mutex<Printed>>),
}

/// A token file, and what was last read from it.
pub(super) struct TokenFile {
    path: String,
    read: Mutex<(HeaderValue, Instant)>,
}

/// A plugin, and what it last printed.
pub(super) struct Printed {
    plugin: Plugin,
    told: Told,
}

impl Credentials {
    /// Takes the credentials out of `user` for requests to `server`, and leaves there what the client needs to be built: client
    /// certificates, and an identity provider's configuration.
    pub(super) fn take(user: &mut AuthInfo, server: &str) -> Result<Self, Error> {
        let failed = |message| Error::no_credentials(server, message);
        let (username, password, token) = (user.username.take(), user.password.take(), user.token.take());
        let (token_file, exec) = (user.token_file.take(), user.exec.take());
        if let Some(provider) = &user.auth_provider {
            return match provider.name.as_str() {
                "oidc" => Ok(Self::None),
                name @ ("gcp" | "azure") => Err(failed(format!(
                    "unsupported auth provider `{name}`: use a credential plugin (`exec`)"
                ))),
                _ => Err(failed(
                    "unsupported `auth-provider`: only `oidc` is supported".to_owned(),
                )),
            };
        }
        if let Some(name) = username {
            let password = password
                .as_ref()
                .map(|secret| secret.expose_secret().to_owned())
                .unwrap_or_default();
            return Ok(Self::Fixed(basic(&name, &password)));
        }
        if let Some(token) = token {
            let header =
                bearer(token.expose_secret()).map_err(|wrong| failed(format!("the token {wrong}")))?;
            return Ok(Self::Fixed(header));
        }
        if let Some(path) = token_file {
            let header = read_token(&path).map_err(failed)?;
            let read = Mutex::new((header, Instant::now()));
            return Ok(Self::File(Arc::new(TokenFile { path, read })));
        }
        let Some(exec) = exec else {
            return Ok(Self::None);
        };
        // A certificate of one's own goes before a plugin's credentials.
        if user.client_certificate.is_some() || user.client_certificate_data.is_some() {
            return Ok(Self::None);
        }
        let plugin = Plugin(exec);
        let told = plugin.run()?;
        if let Some((certificate, key)) = &told.certificate {
            user.client_certificate_data = Some(BASE64.encode(certificate.expose()));
            user.client_key_data = secret_of("client-key-data", &BASE64.encode(key.expose())).client_key_data;
        }
        Ok(Self::Plugin(Arc::new(Mutex::new(Printed { plugin, told }))))
    }

    /// The header for a request of this moment.
    pub(super) async fn header(&self) -> Result<Option<HeaderValue>, Error> {
        match self {
            Self::None => Ok(None),
            Self::Fixed(header) => Ok(Some(header.clone())),
            Self::File(file) => {
                let mut read = file.read.lock().await;
                if read.1.elapsed() >= FILE_COUNTS {
                    // A file that is gone or being replaced: the last token may still do.
                    if let Ok(header) = read_token(&file.path) {
                        read.0 = header;
                    }
                    read.1 = Instant::now();
                }
                Ok(Some(read.0.clone()))
            }
            Self::Plugin(printed) => {
                let mut printed = printed.lock().await;
                if printed.told.has_expired() {
                    let plugin = printed.plugin.clone();
                    let told = tokio::task::spawn_blocking(move || plugin.run()).await;
                    printed.told = told.map_err(|error| printed.plugin.failed(error.to_string()))??;
                }
                Ok(printed.told.header.clone())
            }
        }
    }
}

/// Credentials with secrets, made the way a file makes them.
pub(super) fn secret_of(field: &str, text: &str) -> AuthInfo {
    serde_json::from_value(serde_json::json!({ field: text })).unwrap_or_default()
}

/// The header of basic authentication.
pub(super) fn basic(name: &str, password: &str) -> HeaderValue {
    let text = format!("Basic {}", BASE64.encode(format!("{name}:{password}")));
    // Base64 is always a header.
    sensitive(HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Basic")))
}

/// The header of a bearer token, or what is wrong with the token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, String> {
    if token.is_empty() {
        return Err("is empty".to_owned());
    }
    header_text(token)?;
    HeaderValue::from_bytes(format!("Bearer {token}").as_bytes())
        .map(sensitive)
        .map_err(|_| NO_HEADER.to_owned())
}

fn sensitive(mut header: HeaderValue) -> HeaderValue {
    header.set_sensitive(true);
    header
}

const NO_HEADER: &str = "contains a character that is not allowed in an HTTP header";

/// Returns whether `text` can be a header, and if not what is wrong, without a part of it.
pub(super) fn header_text(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        let what = if text.contains(['\n', '\r']) {
            "contains a line break"
        } else if text.contains('\0') {
            "contains a NUL character"
        } else {
            "contains a control character"
        };
        format!("{what}, which is not allowed in an HTTP header")
    })
}

/// The header for the token in a file.
fn read_token(path: &str) -> Result<HeaderValue, String> {
    use std::io::Read as _;
    let read = || {
        let mut text = String::new();
        std::fs::File::open(path)?
            .take(LARGEST_TOKEN as u64 + 1)
            .read_to_string(&mut text)?;
        Ok(text)
    };
    let text =
        read().map_err(|error: std::io::Error| format!("cannot read the token file `{path}`: {error}"))?;
    if text.len() > LARGEST_TOKEN {
        return Err(format!(
            "the token file `{path}` has more than {} MiB",
            LARGEST_TOKEN >> 20
        ));
    }
    bearer(text.trim()).map_err(|wrong| format!("the token in `{path}` {wrong}"))
}

/// The headers of impersonation, and no longer in `user`. `source` names where a text comes from, by its field's name.
pub(super) fn impersonation(user: &mut AuthInfo) -> Result<HeaderMap, (&'static str, String)> {
    let mut headers = HeaderMap::new();
    let mut add = |field: &'static str, name: HeaderName, text: &str| {
        let value = header_text(text).map_err(|wrong| (field, wrong))?;
        headers.append(name, value);
        Ok(())
    };
    if let Some(name) = user.impersonate.take() {
        add("as", HeaderName::from_static("impersonate-user"), &name)?;
    }
    if let Some(uid) = user.impersonate_uid.take() {
        add("as-uid", HeaderName::from_static("impersonate-uid"), &uid)?;
    }
    for group in user.impersonate_groups.take().unwrap_or_default() {
        add("as-groups", HeaderName::from_static("impersonate-group"), &group)?;
    }
    for (key, values) in user.impersonate_user_extra.take().unwrap_or_default() {
        let name = extra_header(&key).ok_or((
            "as-user-extra",
            "has a key that is not a valid HTTP header name".to_owned(),
        ))?;
        for value in values {
            add("as-user-extra", name.clone(), &value)?;
        }
    }
    Ok(headers)
}

/// The header for a key of extra information. Mirrors client-go `transport/round_trippers.go`, `headerKeyEscape`, v0.37.1.
fn extra_header(key: &str) -> Option<HeaderName> {
    let mut name = "impersonate-extra-".to_owned();
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    HeaderName::from_bytes(name.as_bytes()).ok()
}

/// The base64 text or the file of a certificate or key, as PEM. `field` is its name in the kubeconfig.
pub(super) fn pem(data: Option<&str>, file: Option<&str>, field: &str) -> Result<Option<Vec<u8>>, String> {
    match (data, file) {
        (Some(data), _) => BASE64
            .decode(data.trim())
            .map(Some)
            .map_err(|_| format!("`{field}-data` is not base64")),
        (None, Some(path)) => {
            #[expect(clippy::disallowed_methods, reason = "a source's credentials")]
            let read = std::fs::read(path);
            read.map(Some)
                .map_err(|error| format!("cannot read `{field}` from `{path}`: {error}"))
        }
        (None, None) => Ok(None),
    }
}

/// Makes the client certificate and key texts of their own that are certainly a certificate and a key.
pub(super) fn check_identity(user: &mut AuthInfo) -> Result<(), String> {
    use rustls_pki_types::pem::PemObject as _;
    use rustls_pki_types::{CertificateDer, PrivateKeyDer};
    let key = user
        .client_key_data
        .as_ref()
        .map(|secret| secret.expose_secret().to_owned());
    let certificate = pem(
        user.client_certificate_data.as_deref(),
        user.client_certificate.as_deref(),
        "client-certificate",
    )?;
    let key = pem(key.as_deref(), user.client_key.as_deref(), "client-key")?;
    let (certificate, key) = match (certificate, key) {
        (None, None) => return Ok(()),
        (Some(_), None) => return Err("there is a `client-certificate` without a `client-key`".to_owned()),
        (None, Some(_)) => return Err("there is a `client-key` without a `client-certificate`".to_owned()),
        (Some(certificate), Some(key)) => (certificate, key),
    };
    if !matches!(CertificateDer::pem_slice_iter(&certificate).next(), Some(Ok(_))) {
        return Err("`client-certificate` contains no PEM certificate".to_owned());
    }
    if PrivateKeyDer::from_pem_slice(&key).is_err() {
        return Err("`client-key` contains no PEM private key".to_owned());
    }
    user.client_certificate = None;
    user.client_key = None;
    user.client_certificate_data = Some(BASE64.encode(&certificate));
    user.client_key_data = secret_of("client-key-data", &BASE64.encode(&key)).client_key_data;
    Ok(())
}

/// Returns why kube could not get a token from the identity provider, without a part of one.
pub(super) fn provider_error(error: &AuthError) -> String {
    use kube::client::oidc_errors::{Error as Oidc, IdTokenError, RefreshError};
    match error {
        AuthError::InvalidBearerToken(_) => format!("the identity token {NO_HEADER}"),
        AuthError::Oidc(Oidc::IdTokenMissing) => "the auth provider `oidc` has no `id-token`".to_owned(),
        AuthError::Oidc(Oidc::IdToken(wrong)) => match wrong {
            IdTokenError::InvalidFormat => "invalid ID token: not a valid JWT token".to_owned(),
            IdTokenError::InvalidBase64(_) => "invalid ID token: its payload is not base64".to_owned(),
            IdTokenError::InvalidJson(_) => "invalid ID token: its payload has no time `exp`".to_owned(),
            IdTokenError::InvalidExpirationTimestamp(_) => "invalid ID token: `exp` is not a time".to_owned(),
        },
        AuthError::Oidc(Oidc::RefreshInit(why)) => {
            format!("the ID token expired and refreshing is not possible: {why}")
        }
        AuthError::Oidc(Oidc::Refresh(why)) => {
            let why = match why {
                RefreshError::InvalidURI(_) => "`idp-issuer-url` is not a URL".to_owned(),
                RefreshError::InvalidMetadata(_) => "the provider's metadata is invalid".to_owned(),
                RefreshError::RequestFailed(status) => format!("the provider responded with {status}"),
                RefreshError::AuthorizationFailure => {
                    "the provider does not accept `client-id` and `client-secret`".to_owned()
                }
                RefreshError::InvalidTokenResponse(_) => "the provider's response is invalid".to_owned(),
                RefreshError::NoIdTokenReceived => "the provider sent no ID token".to_owned(),
                RefreshError::HyperError(_) | RefreshError::HyperUtilError(_) => {
                    "the provider cannot be reached".to_owned()
                }
                RefreshError::HttpError(_) => "the request to the provider cannot be built".to_owned(),
            };
            format!("the ID token expired and refreshing failed: {why}")
        }
        _ => "the credentials of the kubeconfig's user cannot be used".to_owned(),
    }
}
