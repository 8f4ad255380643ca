//! Conditions over several devices of a claim: all the same, or all different.
//!
//! Older releases compare fewer values with one another, and forget some when they backtrack: see [`Rule`].
//!
//! Mirrors `matchAttributeConstraint` and `distinctAttributeConstraint` of `allocator_incubating.go`, `constraint.go` and their
//! experimental counterparts, v1.37.2. Upstream compares scalars, and with list attributes the sets of their elements. Here every
//! value is a set of numbered elements, a scalar being a set of one, which makes both the same and a state of the search a few
//! numbers.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use typed_index_collections::TiVec;

use super::index::{ElementIx, ValueIx};
use dra_model::{AttributeValue, Device, Str, lookup};

/// Condition of a constraint on the devices it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A value in common.
    Match,
    /// No two with a value in common.
    Distinct,
    /// No value in common with the last device of each request. A request that gives one device back has none to compare with.
    DistinctFromLast,
    /// A value, whatever it is.
    Present,
}

/// A constraint of a claim.
#[derive(Clone, Debug)]
pub(super) struct ConstraintDemand {
    pub(super) rule: Rule,
    /// Fully qualified name.
    pub(super) attribute: Str,
    /// Requests and subrequests that it covers; empty means all.
    pub(super) requests: Vec<Str>,
}

impl ConstraintDemand {
    /// Returns whether the request, by its own name and that of its alternative, is covered.
    pub(super) fn covers(&self, request: &str, alternative: &str) -> bool {
        self.requests.is_empty()
            || self
                .requests
                .iter()
                .any(|name| name == request || name == alternative)
    }
}

/// The attribute as the driver publishes it. Mirrors `allocator_experimental.go`, `lookupStaticAttribute`, v1.37.2.
pub fn attribute_of<'a>(device: &'a Device, driver: &str, name: &str) -> Option<&'a AttributeValue> {
    value_of(&device.attributes, driver, name)
}

/// The attribute or capacity `DOMAIN/NAME` of a device: a name of the driver's own domain is also found without it.
pub fn value_of<'a, T>(values: &'a [(Str, T)], driver: &str, name: &str) -> Option<&'a T> {
    lookup(values, name).or_else(|| {
        let (domain, id) = name.split_once('/')?;
        (domain == driver).then(|| lookup(values, id))?
    })
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Element {
    Bool(bool),
    Int(i64),
    String(Str),
    Version(Str),
}

/// A number for each value of an attribute and each set that values have in common.
#[derive(Default)]
pub(super) struct Values {
    elements: TiVec<ElementIx, Element>,
    element_numbers: HashMap<Element, ElementIx, RandomState>,
    sets: TiVec<ValueIx, Box<[ElementIx]>>,
    set_numbers: HashMap<Box<[ElementIx]>, ValueIx, RandomState>,
    /// True if lists are values. Without, a list is as odd as an unknown type: it can be the first of a set, and nothing can join.
    lists: bool,
}

/// The number of `item` among `items`; adds it if necessary.
fn number_of<I: From<usize> + Copy, T: Clone + Eq + Hash>(
    items: &mut TiVec<I, T>,
    numbers: &mut HashMap<T, I, RandomState>,
    item: T,
) -> I {
    *numbers
        .entry(item)
        .or_insert_with_key(|item| items.push_and_get_key(item.clone()))
}

impl Values {
    pub(super) fn new(lists: bool) -> Self {
        Self {
            lists,
            ..Self::default()
        }
    }

    /// The number of `value`; none where no constraint can be met with it.
    pub(super) fn number(&mut self, value: &AttributeValue) -> Option<ValueIx> {
        let mut elements: Vec<ElementIx> = Vec::new();
        let mut add = |element| {
            elements.push(number_of(&mut self.elements, &mut self.element_numbers, element));
        };
        match value {
            AttributeValue::Bool(value) => add(Element::Bool(*value)),
            AttributeValue::Int(value) => add(Element::Int(*value)),
            AttributeValue::String(value) => add(Element::String(value.clone())),
            AttributeValue::Version(value) => add(Element::Version(value.clone())),
            _ if !self.lists => {}
            AttributeValue::Bools(list) => list.iter().for_each(|value| add(Element::Bool(*value))),
            AttributeValue::Ints(list) => list.iter().for_each(|value| add(Element::Int(*value))),
            AttributeValue::Strings(list) => list.iter().cloned().map(Element::String).for_each(add),
            AttributeValue::Versions(list) => list.iter().cloned().map(Element::Version).for_each(add),
            AttributeValue::Unknown => return None,
        }
        // A derived attribute can be an empty list, which is no value, as `attributeAsSet` has it.
        if self.lists && elements.is_empty() {
            return None;
        }
        elements.sort_unstable();
        elements.dedup();
        Some(self.intern(elements.into()))
    }

    fn intern(&mut self, set: Box<[ElementIx]>) -> ValueIx {
        number_of(&mut self.sets, &mut self.set_numbers, set)
    }

    /// The elements of a value.
    pub(super) fn elements(&self, value: ValueIx) -> &[ElementIx] {
        &self.sets[value]
    }

    /// A value for readers.
    pub(super) fn text(&self, value: ValueIx) -> String {
        let elements = self.elements(value).iter();
        let texts: Vec<String> = elements
            .map(|element| match &self.elements[*element] {
                Element::Bool(value) => value.to_string(),
                Element::Int(value) => value.to_string(),
                Element::String(value) | Element::Version(value) => value.to_string(),
            })
            .collect();
        texts.join(", ")
    }

    /// Returns what two values have in common, if anything.
    pub(super) fn common(&mut self, a: ValueIx, b: ValueIx) -> Option<ValueIx> {
        let (left, right) = (self.elements(a), self.elements(b));
        if a == b {
            return (!left.is_empty()).then_some(a);
        }
        if left.len() == 1 && right.len() == 1 {
            return None;
        }
        let common: Box<[ElementIx]> = left
            .iter()
            .copied()
            .filter(|element| right.contains(element))
            .collect();
        (!common.is_empty()).then(|| self.intern(common))
    }

    /// Returns whether a device with value `new` may stand beside one with value `known` under a distinct constraint. Without lists an
    /// odd value may only come first.
    fn distinct(&self, new: ValueIx, known: ValueIx) -> bool {
        let (new, known) = (self.elements(new), self.elements(known));
        !new.is_empty() && !new.iter().any(|element| known.contains(element))
    }
}

/// The devices of a constraint at one point of the search.
#[derive(Clone, Debug)]
pub(super) struct ConstraintState {
    rule: Rule,
    /// `Match`: what all devices so far have in common, after each of them. Otherwise the value of each.
    pub(super) values: Vec<ValueIx>,
    /// `DistinctFromLast`: what is compared with, by the place of the request in its claim.
    last: Vec<(u32, ValueIx)>,
}

impl ConstraintState {
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            rule,
            values: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Adds a device with that value for the request at that place of its claim. Returns whether the constraint allows it; the state
    /// is unchanged if not.
    pub(super) fn add(&mut self, value: ValueIx, request: u32, values: &mut Values) -> bool {
        let added = self.admits(value, values);
        self.values.extend(added);
        if self.rule == Rule::DistinctFromLast && added.is_some() {
            self.last.retain(|(of, _)| *of != request);
            self.last.push((request, value));
        }
        added.is_some()
    }

    /// Returns what is noted of a device with that value, if the constraint allows it.
    pub(super) fn admits(&self, value: ValueIx, values: &mut Values) -> Option<ValueIx> {
        let Some(last) = self.values.last() else {
            return Some(value);
        };
        match self.rule {
            Rule::Match => return values.common(*last, value),
            Rule::Distinct => self.values.iter().all(|known| values.distinct(value, *known)),
            Rule::DistinctFromLast => self.last.iter().all(|(_, known)| values.distinct(value, *known)),
            Rule::Present => !values.elements(value).is_empty(),
        }
        .then_some(value)
    }

    /// Takes back the last device added, which is one of the request at that place.
    pub(super) fn remove(&mut self, request: u32) {
        self.values.pop();
        self.last.retain(|(of, _)| *of != request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_meets_no_constraint_where_lists_are_values() {
        let empty = AttributeValue::Strings(Box::new([]));
        assert_eq!(Values::new(true).number(&empty), None);
        // Elsewhere it is as odd as any list: the first may have it, nothing can join.
        let mut values = Values::new(false);
        let odd = values.number(&empty).unwrap();
        let mut state = ConstraintState::new(Rule::Match);
        assert!(state.add(odd, 0, &mut values));
        assert!(!state.add(odd, 0, &mut values));
    }
}
