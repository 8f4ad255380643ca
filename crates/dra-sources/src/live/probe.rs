//! Code in this directory that random input reaches without a server: for the fuzz targets.

use std::path::PathBuf;

use super::address::{Address, shown};
use super::credentials::{bearer, header_text};
use super::{Connection, Error};
use crate::live::no_path_segment;

/// Reads the kubeconfig at `path` as far as it says how to reach a cluster: no plugin runs, nothing is sent.
pub fn configured(path: PathBuf) -> Result<(), Error> {
    let connection = Connection {
        kubeconfig: Some(path),
        ..Connection::default()
    };
    connection.names()?;
    connection.configuration().map(drop)
}

/// Returns what is shown of an address, right or wrong.
pub fn address(text: &str) -> Vec<String> {
    let read = |secure| match Address::read(text, secure) {
        Ok(address) => address.url.to_string(),
        Err(error) => error.to_string(),
    };
    vec![shown(text), read(false), read(true)]
}

/// Returns what is said of a token, or of a name to act as, that cannot be sent.
pub fn headers(text: &str) -> Vec<String> {
    let wrong = [
        bearer(text).err(),
        header_text(text).err(),
        no_path_segment(text).map(str::to_owned),
    ];
    wrong.into_iter().flatten().collect()
}
