//! The state of one evaluation: the cost so far, local variables, and containers that are being built.
//!
//! Besides CEL's cost there are budgets of work and memory. Some operations cost next to nothing in CEL and do a great
//! deal (comparing a list that holds itself twice over and over, replacing every letter by a long text). Go would run out
//! of time or memory; here such an expression ends in an error. No expression that is any use comes near the budgets.

use std::sync::Arc;

use super::Slot;
use crate::plan::Frame;
use crate::release::Release;
use crate::value::device::DeviceInput;
use crate::value::list::{Elements, List};
use crate::value::map::{Entries, Map};
use crate::value::{Fault, Value};
use dra_values::Quantity;

/// Elementary steps of an evaluation that CEL's cost does not bound.
const MAX_WORK: u64 = 20_000_000;
/// Bytes that an evaluation may allocate altogether.
const MAX_MEMORY: u64 = 64 << 20;
/// Steps that every evaluation is worth.
const EFFORT_TO_BEGIN: u64 = 16;
/// Lists, maps and optionals inside of each other.
const MAX_NESTING: u32 = 400;

/// The state of one evaluation.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) device: &'a DeviceInput,
    pub(super) cost: u64,
    limit: u64,
    pub(super) slots: Vec<Slot<'a>>,
    pub(crate) release: Release,
    building: Building<'a>,
    /// Quantities that a comparison has turned into decimals, by address.
    decimals: Vec<usize>,
    work: u64,
    memory: u64,
    nesting: u32,
}

/// Containers that are being built.
#[derive(Debug, Default)]
struct Building<'a> {
    lists: Vec<Growing<'a>>,
    maps: Vec<Entries<'a>>,
    /// Accumulators that began with a container to grow.
    accumulators: Vec<usize>,
}

/// A list that grows in place. Mirrors `mutableList` (`common/types/list.go`, cel-go v0.29).
#[derive(Debug, Default)]
struct Growing<'a> {
    items: Vec<Value<'a>>,
    /// The elements instead of `items`, since they became the result of a comprehension and until the list grows again.
    complete: Option<Arc<Elements<'a>>>,
    /// The reported size. A list that is added to itself counts its elements once they are twice as many, so that it
    /// reports more than it has.
    size: usize,
}

impl<'a> Growing<'a> {
    fn items(&self) -> &[Value<'a>] {
        self.complete.as_ref().map_or(&self.items, |items| &**items)
    }

    /// An element, where the list does not claim one that it does not have.
    fn get(&self, index: usize) -> Result<Option<Value<'a>>, Fault> {
        let items = self.items();
        match items.get(index) {
            None if index < self.size => Err(Fault::panic(format_args!(
                "runtime error: index out of range [{index}] with length {}",
                items.len()
            ))),
            found => Ok(found.cloned()),
        }
    }
}

impl<'a> Context<'a> {
    #[inline]
    pub(crate) fn new(device: &'a DeviceInput, frame: Frame, limit: u64) -> Self {
        Self {
            device,
            cost: 0,
            limit,
            slots: vec![None; frame.slots],
            release: frame.release,
            building: Building::default(),
            decimals: Vec::new(),
            work: 0,
            memory: 0,
            nesting: 0,
        }
    }

    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// Returns what the evaluation has taken, in steps: cost, and work that the cost does not bound.
    pub(crate) fn effort(&self) -> u64 {
        EFFORT_TO_BEGIN + self.cost.min(self.limit).saturating_add(self.work)
    }

    /// Adds the cost of one step.
    #[inline]
    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), Fault> {
        self.cost = self.cost.wrapping_add(cost);
        if self.cost > self.limit {
            Err(Fault::abort("operation cancelled: actual cost limit exceeded"))
        } else {
            Ok(())
        }
    }

    /// Takes a step back, as the presence test of a conditional does in cel-go.
    pub(crate) fn refund(&mut self) -> Result<(), Fault> {
        self.charge(u64::MAX)
    }

    /// Stops before a step that will cost `cost` once it is done, if that passes the limit.
    pub(crate) fn afford(&mut self, cost: u64) -> Result<(), Fault> {
        if self.cost.wrapping_add(cost) > self.limit {
            self.charge(cost)
        } else {
            Ok(())
        }
    }

    /// Accounts for work that CEL's cost does not bound.
    #[inline]
    pub(crate) fn work(&mut self, steps: u64) -> Result<(), Fault> {
        self.work = self.work.saturating_add(steps);
        if self.work > MAX_WORK {
            return Err(Fault::abort("operation cancelled: work limit exceeded"));
        }
        Ok(())
    }

    /// Accounts for memory before it is allocated.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Result<(), Fault> {
        self.memory = self.memory.saturating_add(bytes as u64);
        if self.memory > MAX_MEMORY {
            return Err(Fault::abort("operation cancelled: memory limit exceeded"));
        }
        self.work(bytes as u64 / 16)
    }

    /// Accounts for a list before it is made.
    pub(crate) fn allocate_list(&mut self, length: usize) -> Result<(), Fault> {
        self.allocate(length.saturating_mul(size_of::<Value<'_>>()))
    }

    /// Refuses to put into a list, map or optional what is nested too deeply already: values are walked and let go of by recursion.
    pub(crate) fn bound_nesting(value: &Value<'a>) -> Result<(), Fault> {
        if value.nesting() >= MAX_NESTING {
            return Err(Self::over_nesting());
        }
        Ok(())
    }

    fn over_nesting() -> Fault {
        Fault::abort("operation cancelled: value nesting limit exceeded")
    }

    /// Runs `walk` one level deeper into a value, which can hold itself while it is being built.
    pub(crate) fn nested<T>(&mut self, walk: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.nesting >= MAX_NESTING {
            return Err(Self::over_nesting());
        }
        self.nesting += 1;
        let result = walk(self);
        self.nesting -= 1;
        result
    }

    fn built_list(&self, number: usize) -> Option<&Growing<'a>> {
        self.building.lists.get(number)
    }

    fn building_list(&mut self, number: usize) -> Option<&mut Growing<'a>> {
        self.building.lists.get_mut(number)
    }

    fn building_map(&mut self, number: usize) -> Option<&mut Entries<'a>> {
        self.building.maps.get_mut(number)
    }

    /// The number of elements, as the list tells it.
    pub(crate) fn list_len(&self, list: &List<'a>) -> usize {
        match list {
            List::Mutable(number) => self.built_list(*number).map_or(0, |list| list.size),
            _ => list.len(),
        }
    }

    /// An element.
    ///
    /// # Errors
    /// The list reports an element that it does not have.
    pub(crate) fn list_get(&self, list: &List<'a>, index: usize) -> Result<Option<Value<'a>>, Fault> {
        if matches!(list, List::Concat(_)) && index >= list.len() {
            return Ok(None);
        }
        let (part, index) = list.part(index);
        match part {
            List::Mutable(number) => self.built_list(*number).map_or(Ok(None), |list| list.get(index)),
            List::Seen { number, .. } => self
                .built_list(*number as usize)
                .map_or(Ok(None), |list| list.get(index)),
            _ => Ok(part.get(index)),
        }
    }

    /// All elements.
    pub(crate) fn list_items(&mut self, list: &List<'a>) -> Result<Vec<Value<'a>>, Fault> {
        let length = self.list_len(list);
        self.allocate_list(length)?;
        (0..length)
            .filter_map(|index| self.list_get(list, index).transpose())
            .collect()
    }

    /// The value without what only this evaluation can read.
    pub(crate) fn settled(&mut self, value: Value<'a>) -> Result<Value<'a>, Fault> {
        match value {
            Value::List(list @ (List::Concat(_) | List::Mutable(_))) => {
                Ok(Value::list(self.list_items(&list)?))
            }
            other => Ok(other),
        }
    }

    /// A list to append to.
    pub(super) fn new_list(&mut self) -> List<'a> {
        let lists = &mut self.building.lists;
        lists.push(Growing::default());
        List::Mutable(lists.len() - 1)
    }

    /// A map to add to.
    pub(super) fn new_map(&mut self) -> Map<'a> {
        let maps = &mut self.building.maps;
        maps.push(Entries::default());
        Map::Mutable(maps.len() - 1)
    }

    /// The list `left + right`. A list that is being built grows in place.
    pub(crate) fn concat(&mut self, left: &List<'a>, right: &List<'a>) -> Result<List<'a>, Fault> {
        if let List::Mutable(number) = left {
            self.append(*number, right)?;
            return Ok(left.clone());
        }
        let (left_length, right_length) = (self.list_len(left), self.list_len(right));
        if left_length == 0 {
            return Ok(right.clone());
        }
        if right_length == 0 {
            return Ok(left.clone());
        }
        self.allocate_list(2)?;
        let right = match right {
            List::Mutable(number) => List::Seen {
                // Memory runs out long before.
                number: u32::try_from(*number).unwrap_or(u32::MAX),
                len: u32::try_from(right_length).unwrap_or(u32::MAX),
            },
            complete => complete.clone(),
        };
        Ok(left.followed_by(&right))
    }

    /// Lets a list grow by the elements of another, which may be itself, or a view of it that shows how it grows.
    fn append(&mut self, number: usize, other: &List<'a>) -> Result<(), Fault> {
        if let Some(complete) = self.building_list(number).and_then(|list| list.complete.take()) {
            self.allocate_list(complete.len())?;
            if let Some(list) = self.building_list(number) {
                list.items = complete.to_vec();
            }
        }
        let count = match other {
            List::Mutable(other) => self.built_list(*other).map_or(0, |list| list.items().len()),
            other => self.list_len(other),
        };
        self.allocate_list(count)?;
        for index in 0..count {
            if let Some(element) = self.list_get(other, index)?
                && let Some(list) = self.building_list(number)
            {
                list.items.push(element);
                list.size += 1;
            }
        }
        if let List::Mutable(other) = other
            && *other == number
            && let Some(list) = self.building_list(number)
        {
            list.size = list.size.saturating_add(count);
        }
        Ok(())
    }

    /// Notes whether an accumulator begins with a container to grow.
    pub(super) fn note_accumulator(&mut self, slot: usize, grows: bool) {
        let accumulators = &mut self.building.accumulators;
        if grows {
            accumulators.push(slot);
        } else {
            accumulators.retain(|known| *known != slot);
        }
    }

    /// Adds an entry to a map that is being built.
    pub(crate) fn map_insert(
        &mut self,
        map: usize,
        key: Value<'a>,
        value: Option<Value<'a>>,
    ) -> Result<(), Fault> {
        self.allocate_list(4)?;
        if let Some(value) = &value {
            Self::bound_nesting(value)?;
        }
        let Some(entries) = self.building_map(map) else {
            return Ok(());
        };
        if entries.find(&key).is_some() {
            let key = crate::value::text::plain(&key);
            return Err(Fault::error(format!("insert failed: key {key} already exists")));
        }
        entries.set(key, value);
        Ok(())
    }

    /// The result of a comprehension: what is being built, complete, if the accumulator began with something to grow.
    pub(super) fn finish(&mut self, accumulator: usize, value: Value<'a>) -> Value<'a> {
        if !self.building.accumulators.contains(&accumulator) {
            return value;
        }
        match value {
            Value::List(List::Mutable(number)) => {
                let items = self.building_list(number).map(|list| {
                    let items = std::mem::take(&mut list.items);
                    Arc::clone(list.complete.get_or_insert_with(|| Arc::new(items.into())))
                });
                Value::List(List::Items(items.unwrap_or_else(|| Arc::new(Vec::new().into()))))
            }
            Value::Map(Map::Mutable(number)) => {
                let entries = self.building_map(number).map(std::mem::take).unwrap_or_default();
                Value::Map(Map::of_entries(entries))
            }
            other => other,
        }
    }

    /// The size of a value that has one, otherwise one. Mirrors `library/cost.go`, `actualSize` (apiserver v0.37.1).
    #[inline]
    pub(crate) fn size(&self, value: &Value<'a>) -> u64 {
        match value {
            Value::String(text) => count_characters(text) as u64,
            Value::Bytes(bytes) => bytes.len() as u64,
            Value::List(list) => self.list_len(list) as u64,
            Value::Map(map) => map.len() as u64,
            Value::Ip(address) => {
                if address.is_ipv4() {
                    4
                } else {
                    16
                }
            }
            Value::Cidr(cidr) => u64::from(cidr.bits().div_ceil(8)),
            _ => 1,
        }
    }

    /// The same, looking into optionals. Mirrors `interpreter/runtimecost.go`, `actualSize` (cel-go v0.29).
    #[inline]
    pub(crate) fn size_in_optional(&self, value: &Value<'a>) -> u64 {
        match value {
            Value::Optional(Some(value)) => self.size_in_optional(value),
            other => self.size(other),
        }
    }

    /// Returns whether a quantity is stored as decimal digits, by now.
    pub(crate) fn is_decimal(&self, quantity: &Quantity) -> bool {
        quantity.is_decimal() || self.decimals.contains(&(std::ptr::from_ref(quantity) as usize))
    }

    /// Notes that `left` was compared with `right`, which may have turned it into decimal digits.
    pub(crate) fn note_comparison(&mut self, left: &Quantity, right: &Quantity) {
        if self.is_decimal(right) && !self.is_decimal(left) {
            self.decimals.push(std::ptr::from_ref(left) as usize);
        }
    }

    /// Notes that a quantity is made of decimal digits, which its value does not tell.
    pub(crate) fn note_decimal(&mut self, quantity: &Quantity) {
        self.decimals.push(std::ptr::from_ref(quantity) as usize);
    }

    /// Forgets about a quantity that is made anew.
    pub(crate) fn forget_decimal(&mut self, quantity: &Quantity) {
        let address = std::ptr::from_ref(quantity) as usize;
        self.decimals.retain(|decimal| *decimal != address);
    }
}

fn count_characters(text: &str) -> usize {
    if text.len() < 64 && text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}
