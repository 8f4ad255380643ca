//! Size and depth limits of an object.

/// Limits of a parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Maximum object size in bytes. Larger objects are skipped without being kept, and reported.
    pub item_bytes: usize,
    /// Maximum nesting depth of an object.
    pub depth: u32,
}

impl Default for JsonLimits {
    fn default() -> Self {
        // An API server refuses requests beyond 3 MiB, etcd values beyond 1.5 MiB; what is larger is not one object.
        // `serde_json` follows 128 levels.
        Self {
            item_bytes: 64 << 20,
            depth: 127,
        }
    }
}
