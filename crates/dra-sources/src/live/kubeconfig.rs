//! The kubeconfig's files: read, merged, and never quoted.
//!
//! kube merges files and knows their shape. It is not asked to read them, since its errors show the lines around a mistake, and those
//! hold tokens, keys and passwords. Here an error names the place (file, line, column and field) and what kind of mistake it is.

use std::path::{Path, PathBuf};

use granit_parser::{Event, Parser};
use kube::config::{Kubeconfig, KubeconfigError};
use serde_saphyr::Error as YamlError;

use super::error::Error;

/// A kubeconfig of more than this is none. That of a person with a thousand clusters has some megabytes.
const LARGEST: u64 = 64 << 20;

/// Kubeconfig files in effect.
pub(super) struct Files {
    pub(super) paths: Vec<PathBuf>,
    /// Named by `--kubeconfig`: the file must exist.
    pub(super) explicit: bool,
}

impl Files {
    /// All files as one: what comes first wins.
    pub(super) fn merged(&self) -> Result<Kubeconfig, Error> {
        let mut merged = Kubeconfig::default();
        for path in &self.paths {
            if !path.exists() {
                if self.explicit {
                    return Err(Error::NoFile { path: path.clone() });
                }
                continue;
            }
            let failed = |message: String| Error::Kubeconfig {
                path: path.clone(),
                message,
            };
            let text = text_of(path).map_err(failed)?;
            for mut document in documents(&text).map_err(failed)? {
                resolve_paths(&mut document, path.parent()).map_err(failed)?;
                merged = merged.merge(document).map_err(|error| {
                    failed(match error {
                        KubeconfigError::KindMismatch => {
                            "its `kind` differs from the previous files".to_owned()
                        }
                        KubeconfigError::ApiVersionMismatch => {
                            "its `apiVersion` differs from the previous files".to_owned()
                        }
                        _ => "it cannot be merged with the previous files".to_owned(),
                    })
                })?;
            }
        }
        Ok(merged)
    }

    pub(super) fn no_cluster(&self, chosen: Option<&str>) -> Error {
        let missing = self.paths.iter().filter(|path| !path.exists()).count();
        Error::NoKubeconfig {
            files: self.to_string(),
            exist: missing < self.paths.len(),
            chosen: chosen.map(str::to_owned),
        }
    }
}

impl std::fmt::Display for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, path) in self.paths.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "`{}`", path.display())?;
        }
        Ok(())
    }
}

/// The text of a file, or why there is none.
fn text_of(path: &Path) -> Result<String, String> {
    use std::io::Read as _;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it has more than {} MiB", LARGEST >> 20));
    }
    decoded(bytes).ok_or_else(|| "it is not UTF-8 or UTF-16 text".to_owned())
}

/// Text in UTF-8, or in UTF-16 with a mark, as PowerShell writes it.
fn decoded(bytes: Vec<u8>) -> Option<String> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16(&units).ok().filter(|_| rest.is_empty())
    };
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes).ok(),
    }
}

fn documents(text: &str) -> Result<Vec<Kubeconfig>, String> {
    serde_saphyr::from_multiple(text).map_err(|error| mistake(text, &error, KUBECONFIG_FIELDS))
}

/// Returns the position and kind of a mistake in `text`, without quoting anything but names of `fields`.
pub(super) fn mistake(text: &str, error: &YamlError, fields: &[&str]) -> String {
    let what = match error.without_snippet() {
        YamlError::Unexpected { expected, .. } => format!("expected {expected}"),
        YamlError::Eof { .. } => "unexpected end of file".to_owned(),
        YamlError::SerdeMissingField { field, .. } => format!("`{field}` is missing"),
        YamlError::DuplicateMappingKey { .. } => "duplicate field".to_owned(),
        YamlError::SerdeInvalidType { .. }
        | YamlError::SerdeInvalidValue { .. }
        | YamlError::SerdeInvalidLength { .. }
        | YamlError::SerdeUnknownVariant { .. }
        | YamlError::InvalidScalar { .. }
        | YamlError::InvalidBooleanStrict { .. }
        | YamlError::NullIntoString { .. } => "the value has the wrong type".to_owned(),
        YamlError::UnknownAnchor { .. } => "an alias has no anchor".to_owned(),
        YamlError::Budget { .. }
        | YamlError::AliasReplayLimitExceeded { .. }
        | YamlError::AliasExpansionLimitExceeded { .. }
        | YamlError::AliasReplayStackDepthExceeded { .. } => {
            "it exceeds the size or nesting limits of a kubeconfig".to_owned()
        }
        _ => "it is neither valid YAML nor valid JSON".to_owned(),
    };
    let Some(location) = error.location() else {
        return what;
    };
    let (line, column) = (location.line(), location.column());
    let mut place = format!("line {line}, column {column}");
    if let Some(path) = field_at(text, line, column, fields) {
        place = format!("{place}, in `{path}`");
    }
    format!("{place}: {what}")
}

/// Names that an error may show; a mistake can turn any other text of the file into a name.
const KUBECONFIG_FIELDS: &[&str] = &[
    "access-token",
    "apiVersion",
    "args",
    "as",
    "as-groups",
    "as-uid",
    "as-user-extra",
    "auth-provider",
    "certificate-authority",
    "certificate-authority-data",
    "client-certificate",
    "client-certificate-data",
    "client-id",
    "client-key",
    "client-key-data",
    "client-secret",
    "cluster",
    "clusters",
    "command",
    "config",
    "context",
    "contexts",
    "current-context",
    "disable-compression",
    "env",
    "exec",
    "extension",
    "extensions",
    "id-token",
    "idp-certificate-authority",
    "idp-certificate-authority-data",
    "idp-issuer-url",
    "insecure-skip-tls-verify",
    "installHint",
    "interactiveMode",
    "kind",
    "name",
    "namespace",
    "password",
    "preferences",
    "provideClusterInfo",
    "proxy-url",
    "refresh-token",
    "server",
    "tls-server-name",
    "token",
    "tokenFile",
    "user",
    "username",
    "users",
    "value",
];

/// A collection that is open while events are followed.
enum Open {
    /// A mapping, with the key whose value is next.
    Mapping(Option<String>),
    /// A sequence, with the number of items so far.
    Sequence(usize),
}

/// The field at a place of a YAML text, as in `users[1].user.token`: that of the last node that begins there or before.
fn field_at(text: &str, line: u64, column: u64, fields: &[&str]) -> Option<String> {
    let mut open: Vec<Open> = Vec::new();
    let mut path = None;
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        let start = (span.start.line() as u64, span.start.col() as u64 + 1);
        if start > (line, column) {
            break;
        }
        let key = match (&event, open.last()) {
            (Event::Scalar(name, ..), Some(Open::Mapping(None))) => {
                let shown = fields.iter().find(|field| **field == name.as_ref());
                Some((*shown.unwrap_or(&"…")).to_owned())
            }
            _ => None,
        };
        if let Some(key) = key {
            if let Some(Open::Mapping(next)) = open.last_mut() {
                *next = Some(key);
            }
            path = shown(&open);
            continue;
        }
        let (begins, ends) = match &event {
            Event::Scalar(..) | Event::Alias(..) => (None, true),
            Event::MappingStart(..) => (Some(Open::Mapping(None)), false),
            Event::SequenceStart(..) => (Some(Open::Sequence(0)), false),
            Event::MappingEnd | Event::SequenceEnd => {
                open.pop();
                (None, true)
            }
            _ => continue,
        };
        path = shown(&open).or(path);
        if let Some(begun) = begins {
            open.push(begun);
        }
        if ends {
            match open.last_mut() {
                Some(Open::Mapping(next)) => *next = None,
                Some(Open::Sequence(items)) => *items += 1,
                None => {}
            }
        }
    }
    path
}

fn shown(open: &[Open]) -> Option<String> {
    let mut path = String::new();
    for one in open {
        match one {
            Open::Mapping(Some(key)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Open::Mapping(None) => {}
            Open::Sequence(items) => path.push_str(&format!("[{items}]")),
        }
    }
    (!path.is_empty()).then_some(path)
}

/// Relative paths are relative to the directory of their file. Mirrors client-go `tools/clientcmd/loader.go`,
/// `ResolveLocalPaths`, v0.37.1.
fn resolve_paths(config: &mut Kubeconfig, folder: Option<&Path>) -> Result<(), String> {
    let Some(folder) = folder else { return Ok(()) };
    let resolve = |path: &mut Option<String>| {
        if let Some(text) = path
            .as_mut()
            .filter(|text| !text.is_empty() && Path::new(text.as_str()).is_relative())
        {
            let full = folder.join(text.as_str()).into_os_string().into_string();
            *text = full
                .map_err(|_| "it contains a relative path, and its own directory is not UTF-8".to_owned())?;
        }
        Ok::<_, String>(())
    };
    for cluster in config
        .clusters
        .iter_mut()
        .filter_map(|named| named.cluster.as_mut())
    {
        resolve(&mut cluster.certificate_authority)?;
    }
    for user in config
        .auth_infos
        .iter_mut()
        .filter_map(|named| named.auth_info.as_mut())
    {
        resolve(&mut user.client_certificate)?;
        resolve(&mut user.client_key)?;
        resolve(&mut user.token_file)?;
        // A name without a slash is looked up in PATH.
        if let Some(exec) = &mut user.exec
            && exec
                .command
                .as_ref()
                .is_some_and(|command| command.contains(std::path::MAIN_SEPARATOR))
        {
            resolve(&mut exec.command)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "hunter2";

    /// Returns what is said of a kubeconfig that cannot be read.
    fn said(text: &str) -> String {
        documents(text).expect_err(text)
    }

    #[test]
    fn a_mistake_is_placed_and_not_quoted() {
        let cases = [
            // A bad indentation right below a token.
            (
                format!("users:\n- name: u\n  user:\n    token: {SECRET}\n   x: {SECRET}\n"),
                "line 5",
            ),
            (
                format!("users:\n- name: u\n  user:\n    token: [{SECRET}\n"),
                "users[0].user.token",
            ),
            (
                format!("users:\n- name: u\n  user:\n    token: [{SECRET}]\n"),
                "users[0].user.token",
            ),
            (
                format!("users:\n- name: u\n  user:\n    password: {{a: {SECRET}}}\n"),
                "users[0].user.password",
            ),
            (
                format!("users:\n- name: u\n  user:\n    client-key-data: \"{SECRET}\n"),
                "users[0].user.client-key-data",
            ),
            (
                format!("users:\n- name: u\n  user:\n    exec:\n      env: {SECRET}\n"),
                "users[0].user.exec.env",
            ),
            (
                format!(
                    "users:\n- name: u\n  user:\n    exec:\n      env:\n      - name: A\n        value: [{SECRET}]\n"
                ),
                "users[0].user.exec",
            ),
            (
                format!(
                    "users:\n- name: u\n  user:\n    auth-provider:\n      name: oidc\n      config: {SECRET}\n"
                ),
                "users[0].user.auth-provider.config",
            ),
            (
                format!("clusters:\n- name: c\n  cluster:\n    proxy-url: {{http://u:{SECRET}@p: 1}}\n"),
                "clusters[0].cluster.proxy-url",
            ),
            (
                format!("clusters:\n- name: c\n  cluster:\n    insecure-skip-tls-verify: {SECRET}\n"),
                "clusters[0].cluster.insecure-skip-tls-verify",
            ),
            (
                format!("{{\"users\": [{{\"name\": \"u\", \"user\": {{\"token\": {{\"{SECRET}\": 1}}}}}}]}}"),
                "users[0].user.token",
            ),
            (
                format!("{{\"users\": [{{\"name\": \"u\", \"user\": {{\"token\": \"{SECRET}"),
                "line 1, column 44",
            ),
            (
                format!("users:\n- user:\n    token: {SECRET}\n"),
                "`name` is missing",
            ),
            (
                format!("users:\n- name: u\n  user:\n    token: {SECRET}\n    token: {SECRET}\n"),
                "duplicate field",
            ),
            (
                format!("users:\n- name: u\n  user:\n    {SECRET}: {SECRET}\n    {SECRET}: {SECRET}\n"),
                "duplicate field",
            ),
            (
                format!("users:\n- name: u\n  user:\n    token: *{SECRET}\n"),
                "line 4",
            ),
            (
                format!("users:\n- name: u\n  user:\n    exec:\n      interactiveMode: {SECRET}\n"),
                "users[0].user.exec",
            ),
            (format!("- {SECRET}"), "line 1"),
            (SECRET.to_owned(), "line 1"),
            (format!("users: {SECRET}"), "users"),
            (format!("a: b\n%{SECRET}\n\t{SECRET}: &"), "line"),
            (format!("token: !!{SECRET} {SECRET}\nusers: !{SECRET} x"), "line"),
        ];
        for (text, expected) in cases {
            let said = said(&text);
            assert!(said.contains(expected), "{text}\n{said}");
            assert!(!said.contains(SECRET), "{said}");
        }
    }

    #[test]
    fn whatever_a_file_is_cut_or_bent_to_no_secret_is_said() {
        let whole = format!(
            "apiVersion: v1\nclusters:\n- name: c\n  cluster:\n    server: https://{SECRET}@h\n    proxy-url: http://a:{SECRET}@b\n\
             users:\n- name: u\n  user:\n    token: {SECRET}\n    password: \"{SECRET}\"\n    client-key-data: {SECRET}\n    exec:\n\
             \x20     command: x\n      env: [{{name: A, value: {SECRET}}}]\n      args: [--password, {SECRET}]\n"
        );
        let mut bad = 0;
        for at in 0..whole.len() {
            for (cut, put) in [
                (whole.len(), ""),
                (at, "\t"),
                (at, "["),
                (at, "{"),
                (at, "\""),
                (at, "*"),
                (at, "&"),
                (at, ": "),
                (at, "\n"),
                (at, "!!int "),
                (at, "%"),
                (at, "\u{0}"),
            ] {
                let text = if cut == at {
                    format!("{}{put}{}", &whole[..at], &whole[at..])
                } else {
                    whole[..at].to_owned()
                };
                if let Err(said) = documents(&text) {
                    bad += 1;
                    assert!(
                        !said.contains(&SECRET[..3]) && !said.contains(&SECRET[4..]),
                        "{text}\n{said}"
                    );
                }
            }
        }
        assert!(bad > 300, "{bad}");
    }

    #[test]
    fn paths_start_at_the_file() {
        let mut config = documents(
            "clusters: [{name: c, cluster: {certificate-authority: ca.crt}}]\nusers: [{name: u, user: {tokenFile: /t, client-key: k, exec: {command: bin/x}}}]",
        )
        .unwrap()
        .remove(0);
        resolve_paths(&mut config, Some(Path::new("/etc/kube"))).unwrap();
        let cluster = config.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.certificate_authority.as_deref(), Some("/etc/kube/ca.crt"));
        let user = config.auth_infos[0].auth_info.as_ref().unwrap();
        assert_eq!(user.token_file.as_deref(), Some("/t"));
        assert_eq!(user.client_key.as_deref(), Some("/etc/kube/k"));
        assert_eq!(
            user.exec.as_ref().unwrap().command.as_deref(),
            Some("/etc/kube/bin/x")
        );
    }
}
