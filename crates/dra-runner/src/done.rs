//! What those who write have done.

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Jobs that were carried out.
    pub carried: u64,
    /// Jobs that were refused, each time.
    pub refused: u64,
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { carried, refused } = self;
        write!(f, "{carried} jobs carried out, {refused} refused")
    }
}
