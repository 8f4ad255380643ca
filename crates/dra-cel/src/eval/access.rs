//! Variables, selections and indexes. Mirrors `interpreter/attributes.go` (cel-go v0.29).
//!
//! Each step into a value costs one, and the variable itself costs one at the end. An optional on the way makes the
//! whole optional, and a missing step then ends it without a cost.

use super::{Context, countable, observe};
use crate::plan::node::{Attribute, Lookup, Qualifier, QualifierKey, Root};
use crate::value::map::Map;
use crate::value::{Fault, Outcome, Text, Value, numbers, text};

impl<'a> Context<'a> {
    pub(super) fn eval_lookup(&mut self, lookup: &'a Lookup) -> Outcome<'a> {
        for _ in 0..4 {
            self.charge(1)?;
        }
        let domain = self.device.domain(lookup.map, &lookup.domain);
        domain
            .and_then(|domain| domain.get(&lookup.id))
            .ok_or_else(|| Fault::error(format!("no such key: {}", lookup.id)))
    }

    pub(super) fn eval_attribute(&mut self, attribute: &'a Attribute) -> Outcome<'a> {
        let outcome = observe!(self.resolve(attribute));
        if !matches!(attribute.root, Root::Conditional(_)) {
            self.charge(1)?;
        }
        outcome
    }

    /// `has(…)` costs nothing itself, and one less than that behind a conditional.
    pub(super) fn eval_present(&mut self, attribute: &'a Attribute) -> Outcome<'a> {
        let outcome = observe!(self.resolve(attribute));
        if matches!(attribute.root, Root::Conditional(_)) {
            self.refund()?;
        }
        match outcome? {
            Value::Optional(value) => Ok(Value::Bool(value.is_some())),
            other => Ok(other),
        }
    }

    /// The value of an attribute, with the cost of its qualifiers.
    fn resolve(&mut self, attribute: &'a Attribute) -> Outcome<'a> {
        let value = match &attribute.root {
            Root::Device => Value::Map(Map::Device(self.device)),
            Root::Variable(slot) => self.read(*slot)?,
            Root::Accumulator(slot, init) => {
                self.initialize(*slot, init)?;
                self.read(*slot)?
            }
            Root::Operand(node) => self.eval(node)?,
            Root::Conditional(conditional) => {
                return match self.eval(&conditional.condition)? {
                    Value::Bool(true) => self.resolve(&conditional.truthy),
                    Value::Bool(false) => self.resolve(&conditional.falsy),
                    _ => Err(Fault::no_such_overload()),
                };
            }
        };
        self.qualify(value, &attribute.qualifiers)
    }

    fn read(&self, slot: usize) -> Outcome<'a> {
        match self.slots.get(slot) {
            Some(Some(outcome)) => outcome.clone(),
            _ => Err(Fault::error("no such attribute(s)")),
        }
    }

    fn qualify(&mut self, value: Value<'a>, qualifiers: &'a [std::sync::Arc<Qualifier>]) -> Outcome<'a> {
        let (mut value, mut optional) = match value {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(value)) if self.release.opens_optionals => (through_go(&value), true),
            Value::Optional(Some(value)) => ((*value).clone(), true),
            other => (other, false),
        };
        for qualifier in qualifiers {
            optional |= qualifier.optional;
            let outcome = observe!(self.step(value, qualifier, optional));
            // A step that finds nothing optional, or fails to look for it, is not counted.
            if !optional || matches!(outcome, Ok(Some(_))) {
                self.charge(1)?;
            }
            match outcome? {
                Some(next) => value = next,
                None => return Ok(Value::Optional(None)),
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }

    /// One step into `value`. `None` if there is nothing and that is no error.
    fn step(
        &mut self,
        value: Value<'a>,
        qualifier: &'a Qualifier,
        optional: bool,
    ) -> Result<Option<Value<'a>>, Fault> {
        let key = match &qualifier.key {
            QualifierKey::Constant(key) => key.borrow(),
            QualifierKey::Computed(attribute) => match self.resolve(attribute)? {
                key if key.can_be_index() => key,
                Value::Map(Map::Device(_)) => {
                    return Err(Fault::error("invalid qualifier type: map[string]interface {}"));
                }
                other => {
                    return Err(Fault::error(format!(
                        "invalid qualifier type: {}",
                        other.go_type()
                    )));
                }
            },
        };
        let found = self.step_by_key(&value, &key, optional || qualifier.presence)?;
        // For the last step of `has(…)`, whether there is something; inside an optional that is known by its being there.
        Ok(if qualifier.presence && !optional {
            Some(Value::Bool(found.is_some()))
        } else {
            found
        })
    }

    fn step_by_key(
        &self,
        value: &Value<'a>,
        key: &Value<'a>,
        test: bool,
    ) -> Result<Option<Value<'a>>, Fault> {
        let found = match value {
            Value::Map(map) => map.look_up(key)?,
            Value::List(list) => {
                countable(value)?;
                let index = list_index(key)?;
                let element = match usize::try_from(index) {
                    Ok(index) => self.list_get(list, index)?,
                    Err(_) => None,
                };
                if element.is_none() && !test {
                    return Err(Fault::error(format!("index out of bounds: {}", text::plain(key))));
                }
                element
            }
            _ => None,
        };
        match found {
            None if !test => Err(Map::no_such_key(key)),
            found => Ok(found),
        }
    }
}

/// Returns what becomes of a value that is taken as one of Go and made one of CEL again. Mirrors `applyQualifiers` (`interpreter/attributes.go`,
/// cel-go v0.26).
fn through_go<'a>(value: &Value<'a>) -> Value<'a> {
    match value {
        Value::Optional(None) => Value::Null,
        Value::Optional(Some(value)) => through_go(value),
        Value::Type(name) => Value::String(Text::Borrowed(name)),
        other => other.clone(),
    }
}

/// The index that a value stands for. Mirrors `IndexOrError`.
fn list_index(key: &Value<'_>) -> Result<i64, Fault> {
    let refused = || Fault::error(format!("unsupported index value {} in list", text::plain(key)));
    match key {
        Value::Int(index) => Ok(*index),
        Value::Double(index) => numbers::lossless_int(*index).ok_or_else(refused),
        Value::Uint(index) => i64::try_from(*index).map_err(|_| refused()),
        other => Err(Fault::error(format!(
            "unsupported index type '{}' in list",
            other.type_name()
        ))),
    }
}
