//! The release that an answer assumes.

use serde::Serialize;

/// A release that affects the answer and is known only from objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssumedRelease {
    /// The version that the answer assumes.
    pub version: String,
    /// The newest release.
    pub newest: String,
    /// The answer in the newest release.
    pub otherwise: String,
}
