//! How large and how deep an object may be.

/// What a parser refuses to hold or follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// The largest object handed out, in bytes. Larger ones are skipped without being held, and reported.
    pub item_bytes: usize,
    /// The deepest nesting of an object handed out.
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
