//! Lists, maps and messages that an expression makes.

use super::{Context, observe};
use crate::cost::{LIST_BASE, MAP_BASE, STRUCT_BASE};
use crate::plan::node::{ListNode, MapEntry, MessageNode};
use crate::value::map::{Entries, Map, hashable};
use crate::value::{Fault, Outcome, Value, text};

/// A value put into a list or map is the same value whenever it is taken out again, which matters where it becomes a key.
fn placed(value: Value<'_>) -> Value<'_> {
    match value {
        Value::List(list) => Value::List(list.placed()),
        other => other,
    }
}

impl<'a> Context<'a> {
    pub(super) fn eval_list(&mut self, list: &'a ListNode) -> Outcome<'a> {
        let outcome = observe!(self.make_list(list));
        self.charge(LIST_BASE)?;
        outcome
    }

    fn make_list(&mut self, list: &'a ListNode) -> Outcome<'a> {
        self.allocate_list(list.elements.len())?;
        let mut items = Vec::with_capacity(list.elements.len());
        for (element, optional) in list.elements.iter().zip(&list.optional) {
            let value = placed(self.eval(element)?);
            Self::bound_nesting(&value)?;
            if !optional {
                items.push(value);
                continue;
            }
            match value {
                Value::Optional(None) => {}
                Value::Optional(Some(value)) => items.push((*value).clone()),
                other => return Err(text::not_optional("list element", &other)),
            }
        }
        Ok(Value::list(items))
    }

    pub(super) fn eval_map(&mut self, map: &'a [MapEntry]) -> Outcome<'a> {
        let outcome = observe!(self.make_map(map));
        self.charge(MAP_BASE)?;
        outcome
    }

    fn make_map(&mut self, map: &'a [MapEntry]) -> Outcome<'a> {
        self.allocate_list(map.len() * 4)?;
        let mut entries = Entries::default();
        for entry in map {
            let key = self.eval(&entry.key)?;
            let mut value = placed(self.eval(&entry.value)?);
            Self::bound_nesting(&key)?;
            Self::bound_nesting(&value)?;
            if entry.optional {
                match value {
                    Value::Optional(None) => {
                        entries.remove(&key);
                        continue;
                    }
                    Value::Optional(Some(inner)) => value = (*inner).clone(),
                    other => {
                        let place = format!("entry '{}'", text::plain(&key));
                        return Err(text::not_optional(&place, &other));
                    }
                }
            }
            hashable(&key)?;
            entries.insert(key, value);
        }
        Ok(Value::Map(Map::of_entries(entries)))
    }

    pub(super) fn eval_message(&mut self, message: &'a MessageNode) -> Outcome<'a> {
        let outcome = observe!(self.make_message(message));
        self.charge(STRUCT_BASE)?;
        outcome
    }

    fn make_message(&mut self, message: &'a MessageNode) -> Outcome<'a> {
        for field in &message.fields {
            let value = self.eval(&field.value)?;
            if field.optional && !matches!(value, Value::Optional(_)) {
                return Err(text::not_optional(&format!("entry '{}'", field.name), &value));
            }
        }
        Err(Fault::error(format!("unknown type '{}'", message.type_name)))
    }
}
