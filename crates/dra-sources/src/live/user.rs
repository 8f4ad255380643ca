//! The user of a kubeconfig, with the flags that say who asks.

use kube::config::AuthInfo;

use super::connect::{Connection, given};
use super::credentials::{Secret, bearer, secret_of};
use super::error::Error;

/// Applies the flags that say who is asking.
pub(super) fn override_credentials(flags: &Connection, user: &mut AuthInfo) -> Result<(), Error> {
    if let Some(token) = &flags.token {
        bearer(token.expose()).map_err(|wrong| Error::Flag {
            flag: "--token",
            message: wrong,
        })?;
        user.token = secret_of("token", token.expose()).token;
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
        user.username = None;
        user.password = None;
    }
    if let Some(name) = given(flags.username.as_deref()) {
        let password = flags.password.as_ref().map(Secret::expose).unwrap_or_default();
        *user = AuthInfo {
            token: None,
            token_file: None,
            exec: None,
            auth_provider: None,
            ..user.clone()
        };
        user.username = Some(name.to_owned());
        user.password = secret_of("password", password).password;
    }
    if let Some(path) = &flags.client_certificate {
        user.client_certificate = Some(path.to_string_lossy().into_owned());
        user.client_certificate_data = None;
    }
    if let Some(path) = &flags.client_key {
        user.client_key = Some(path.to_string_lossy().into_owned());
        user.client_key_data = None;
    }
    let flags = &flags.impersonate;
    if let Some(name) = given(flags.user.as_deref()) {
        user.impersonate = Some(name.to_owned());
        // Another user does not belong to the groups of the user in the file.
        user.impersonate_uid = None;
        user.impersonate_groups = None;
        user.impersonate_user_extra = None;
    }
    if let Some(uid) = given(flags.uid.as_deref()) {
        user.impersonate_uid = Some(uid.to_owned());
    }
    if !flags.groups.is_empty() {
        user.impersonate_groups = Some(flags.groups.clone());
    }
    for (key, value) in &flags.extra {
        let extras = user.impersonate_user_extra.get_or_insert_default();
        extras.entry(key.clone()).or_default().push(value.clone());
    }
    let impersonates = user.impersonate_uid.is_some()
        || user.impersonate_groups.is_some()
        || user.impersonate_user_extra.is_some();
    if impersonates && user.impersonate.is_none() {
        return Err(Error::Flag {
            flag: "--as",
            message: "is needed with `--as-group`, `--as-uid` and `--as-user-extra`".to_owned(),
        });
    }
    Ok(())
}

/// Returns whether a user has something that would say who asks.
pub(super) fn has_credentials(user: &AuthInfo) -> bool {
    user.token.is_some()
        || user.token_file.is_some()
        || user.username.is_some()
        || user.exec.is_some()
        || user.auth_provider.is_some()
        || user.client_certificate.is_some()
        || user.client_certificate_data.is_some()
}
