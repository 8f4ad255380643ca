//! Expressions of classes and requests: compiled once, evaluated once per device.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::model::{AttributeValue, Device, Str};

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectorError {
    /// It does not compile.
    Compile(String),
    /// It fails on this device.
    Runtime(String),
}

/// What the allocator asks of CEL.
pub trait SelectorEngine: Send + Sync {
    /// Whether `expression` selects the device.
    ///
    /// # Errors
    /// The expression does not compile or fails on the device, both of which end an attempt.
    fn matches(&self, expression: &str, driver: &str, device: &Device) -> Result<bool, SelectorError>;

    /// The attribute that `expression` computes.
    ///
    /// # Errors
    /// As [`SelectorEngine::matches`].
    fn derive(
        &self,
        expression: &str,
        driver: &str,
        device: &Device,
    ) -> Result<AttributeValue, SelectorError>;
}

/// Place of an expression among those of a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExpressionId(u32);

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// The distinct expressions of a demand with their results so far.
pub(super) struct Expressions {
    engine: Arc<dyn SelectorEngine>,
    /// Number of devices that results are kept for.
    devices: usize,
    selectors: Vec<(Str, Box<[AtomicU8]>)>,
    derived: Vec<Str>,
}

impl fmt::Debug for Expressions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.selectors.iter().map(|(text, _)| text))
            .entries(&self.derived)
            .finish()
    }
}

impl Expressions {
    pub(super) fn new(engine: Arc<dyn SelectorEngine>, devices: usize) -> Self {
        Self {
            engine,
            devices,
            selectors: Vec::new(),
            derived: Vec::new(),
        }
    }

    /// The place of the selector `text`.
    pub(super) fn selector(&mut self, text: &Str) -> ExpressionId {
        let place = self.selectors.iter().position(|(known, _)| known == text);
        ExpressionId(place.unwrap_or_else(|| {
            let results = (0..self.devices).map(|_| AtomicU8::new(UNKNOWN)).collect();
            self.selectors.push((text.clone(), results));
            self.selectors.len() - 1
        }) as u32)
    }

    /// The place of the derived attribute `text`.
    pub(super) fn derived_attribute(&mut self, text: &Str) -> ExpressionId {
        let place = self.derived.iter().position(|known| known == text);
        ExpressionId(place.unwrap_or_else(|| {
            self.derived.push(text.clone());
            self.derived.len() - 1
        }) as u32)
    }

    /// The text of a selector.
    pub(super) fn text(&self, id: ExpressionId) -> &Str {
        &self.selectors[id.0 as usize].0
    }

    /// Whether a selector selects the device with that `number`. Errors are not kept: each ends an attempt.
    pub(super) fn matches(
        &self,
        id: ExpressionId,
        number: usize,
        driver: &str,
        device: &Device,
    ) -> Result<bool, SelectorError> {
        let (text, results) = &self.selectors[id.0 as usize];
        match results[number].load(Ordering::Relaxed) {
            NO => return Ok(false),
            YES => return Ok(true),
            _ => {}
        }
        let matches = self.engine.matches(text, driver, device)?;
        results[number].store(if matches { YES } else { NO }, Ordering::Relaxed);
        Ok(matches)
    }

    pub(super) fn derive(
        &self,
        id: ExpressionId,
        driver: &str,
        device: &Device,
    ) -> Result<AttributeValue, SelectorError> {
        self.engine.derive(&self.derived[id.0 as usize], driver, device)
    }
}
