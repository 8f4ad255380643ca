//! Shape of the structs that reports consist of.

use serde::{Serialize, Serializer};

use dra_model::Str;

/// Makes a struct a part of a report: its fields are called as in the API, values that are absent are left out, and its schema is generated.
macro_rules! report {
    ($($struct:tt)*) => {
        #[serde_with_macros::skip_serializing_none]
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase")]
        $($struct)*
    };
}

/// Pairs as a map, for `serialize_with`.
pub(crate) fn by_name<T: Serialize, S: Serializer>(
    pairs: &[(Str, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}
