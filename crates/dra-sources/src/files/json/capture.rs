//! Stretches of a text that comes in pieces.

/// A stretch of the text, borrowed while it lies within one piece and copied only when it does not.
#[derive(Debug)]
pub(super) struct Capture {
    limit: usize,
    /// Start of the stretch, or of its part in the current piece. None when nothing is being captured.
    start: Option<usize>,
    /// Its part in earlier pieces.
    kept: Vec<u8>,
    overflown: bool,
}

impl Capture {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            start: None,
            kept: Vec::new(),
            overflown: false,
        }
    }

    /// Begins with the byte at this position of the piece.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.kept.capacity()
    }

    pub(super) fn begin(&mut self, position: usize) {
        self.start = Some(position);
        self.overflown = false;
        self.forget();
    }

    pub(super) fn cancel(&mut self) {
        self.start = None;
        self.forget();
    }

    /// Empties the buffer, and gives it back when one large object has made it large.
    fn forget(&mut self) {
        self.kept.clear();
        self.kept.shrink_to(1 << 20);
    }

    /// Copies the part of `piece` that belongs to the stretch, which continues in the next piece.
    pub(super) fn keep(&mut self, piece: &[u8]) {
        let Some(start) = self.start.replace(0) else {
            self.start = None;
            return;
        };
        let part = piece.get(start..).unwrap_or_default();
        if self.overflown || self.kept.len() + part.len() > self.limit {
            self.overflown = true;
            self.kept = Vec::new();
        } else {
            self.kept.extend_from_slice(part);
        }
    }

    /// The whole stretch, which ends before `end` of `piece`. None when it is longer than the limit.
    pub(super) fn finish<'a>(&'a mut self, piece: &'a [u8], end: usize) -> Option<&'a [u8]> {
        let part = piece.get(self.start.take()?..end)?;
        if self.overflown || self.kept.len() + part.len() > self.limit {
            return None;
        }
        if self.kept.is_empty() {
            return Some(part);
        }
        self.kept.extend_from_slice(part);
        Some(&self.kept)
    }
}
