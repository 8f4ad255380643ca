//! Shape of the structs that reports consist of.

/// Makes a struct a part of a report: its fields are called as in the API, values that are absent are left out, and its schema is generated.
macro_rules! report {
    ($($struct:tt)*) => {
        #[serde_with_macros::skip_serializing_none]
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase")]
        $($struct)*
    };
}
