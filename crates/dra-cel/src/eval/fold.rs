//! Comprehensions. Mirrors `evalFold` and `folder` (`interpreter/interpretable.go`, cel-go v0.29).
//!
//! The accumulator gets its first value when it is first read, in the loop or in the result: that is what makes
//! `cel.bind` lazy. If that value is an empty list or map, it grows in place afterwards.

use std::sync::Arc;

use super::{Context, Slot, countable, observe};
use crate::plan::node::{Fold, Node};
use crate::value::list::List;
use crate::value::map::Map;
use crate::value::{Fault, Outcome, Value};

impl<'a> Context<'a> {
    pub(super) fn initialize(&mut self, slot: usize, init: &'a Arc<Node>) -> Result<(), Fault> {
        if !matches!(self.slots.get(slot), Some(None)) {
            return Ok(());
        }
        let first = match observe!(self.eval(init)) {
            Ok(Value::List(list)) if self.list_len(&list) == 0 => {
                self.note_accumulator(slot, true);
                Ok(Value::List(self.new_list()))
            }
            Ok(Value::Map(map)) if map.len() == 0 => {
                self.note_accumulator(slot, true);
                Ok(Value::Map(self.new_map()))
            }
            first => first,
        };
        self.set(slot, Some(first));
        Ok(())
    }

    fn set(&mut self, slot: usize, value: Slot<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    pub(super) fn eval_fold(&mut self, fold: &'a Fold) -> Outcome<'a> {
        let range = self.eval(&fold.range)?;
        countable(&range)?;
        self.set(fold.accumulator, None);
        self.note_accumulator(fold.accumulator, false);
        match (&range, fold.variable2) {
            (Value::List(list), second) => self.fold_list(fold, list, second)?,
            (Value::Map(map), second) => self.fold_map(fold, map, second)?,
            (other, Some(_)) => {
                let message = format!("unsupported comprehension range type: {}", other.go_type());
                return Err(Fault::error(message));
            }
            (other, None) => {
                let message = format!("got '{}', expected iterable type", other.go_type());
                return Err(Fault::error(message));
            }
        }
        let result = self.eval(&fold.result)?;
        Ok(self.finish(fold.accumulator, result))
    }

    /// One round. `false` ends the loop.
    fn fold_step(&mut self, fold: &'a Fold) -> Result<bool, Fault> {
        self.work(1)?;
        if let Ok(Value::Bool(false)) = observe!(self.eval(&fold.condition)) {
            return Ok(false);
        }
        let next = observe!(self.eval(&fold.step));
        self.set(fold.accumulator, Some(next));
        Ok(true)
    }

    fn fold_list(&mut self, fold: &'a Fold, list: &List<'a>, second: Option<usize>) -> Result<(), Fault> {
        let mut length = self.list_len(list);
        let mut index = 0;
        while index < length {
            let Some(element) = self.list_get(list, index)? else {
                break;
            };
            if let Some(second) = second {
                self.set(fold.variable, Some(Ok(Value::Int(index as i64))));
                self.set(second, Some(Ok(element)));
            } else {
                self.set(fold.variable, Some(Ok(element)));
            }
            if !self.fold_step(fold)? {
                break;
            }
            index += 1;
            if second.is_some() {
                // With two variables, a list that grows meanwhile has its new elements visited too.
                length = self.list_len(list);
            }
        }
        Ok(())
    }

    fn fold_map(&mut self, fold: &'a Fold, map: &Map<'a>, second: Option<usize>) -> Result<(), Fault> {
        for (key, value) in map.entries() {
            if let Some(second) = second {
                let value = value.ok_or_else(|| Map::no_such_key(&key));
                self.set(second, Some(value));
            }
            self.set(fold.variable, Some(Ok(key)));
            if !self.fold_step(fold)? {
                break;
            }
        }
        Ok(())
    }
}
