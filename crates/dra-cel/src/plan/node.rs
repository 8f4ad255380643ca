//! The form in which expressions are evaluated.

use std::collections::HashSet;
use std::sync::Arc;

use crate::cost::Rule;
use crate::library::Overload;
use crate::value::device::DeviceMap;
use crate::value::map::{MapKey, Unhashable};
use crate::value::{Fault, Value};
use dra_values::Str;

/// A step of an evaluation.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Value<'static>),
    /// A constant that is an error.
    Broken(Fault),
    /// A call whose arguments are constants, with what it yields and costs.
    Known(Box<Known>),
    /// A variable or other value with selections and indexes behind it.
    Attribute(Box<Attribute>),
    /// A value of the device by names that are constants, the frequent case of the above.
    Lookup(Box<Lookup>),
    /// `has(…)`.
    Present(Box<Attribute>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Equal(Box<[Node; 2]>),
    NotEqual(Box<[Node; 2]>),
    NotStrictlyFalse(Box<Node>),
    Call(Box<Call>),
    OptionalOr(Box<[Node; 2]>),
    OptionalOrValue(Box<[Node; 2]>),
    /// `in` with a list of constants.
    Member(Box<Member>),
    /// A function of regular expressions with a constant one.
    Regex(Box<RegexCall>),
    List(Box<ListNode>),
    Map(Vec<MapEntry>),
    Message(Box<MessageNode>),
    Fold(Box<Fold>),
}

/// A call that was evaluated when planning.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) outcome: Result<Value<'static>, Fault>,
    pub(crate) cost: u64,
}

/// Root of an attribute.
#[derive(Debug)]
pub(crate) enum Root {
    Device,
    /// A variable of a comprehension.
    Variable(usize),
    /// The accumulator of a comprehension, which is computed when it is first needed.
    Accumulator(usize, Arc<Node>),
    Operand(Node),
    /// `condition ? truthy : falsy`. Both branches get the qualifiers that follow.
    Conditional(Box<Conditional>),
}

#[derive(Debug)]
pub(crate) struct Conditional {
    pub(crate) condition: Node,
    pub(crate) truthy: Attribute,
    pub(crate) falsy: Attribute,
}

/// A root with qualifiers.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) root: Root,
    pub(crate) qualifiers: Vec<Arc<Qualifier>>,
}

impl From<Root> for Attribute {
    fn from(root: Root) -> Self {
        Self {
            root,
            qualifiers: Vec::new(),
        }
    }
}

/// A selection or an index.
#[derive(Debug)]
pub(crate) struct Qualifier {
    pub(crate) key: QualifierKey,
    /// Written with `?`.
    pub(crate) optional: bool,
    /// The last step of `has(…)`.
    pub(crate) presence: bool,
}

#[derive(Debug)]
pub(crate) enum QualifierKey {
    Constant(Value<'static>),
    Computed(Attribute),
}

/// `device.attributes["domain"].id` and `device.capacity["domain"].id`.
#[derive(Debug)]
pub(crate) struct Lookup {
    pub(crate) map: DeviceMap,
    pub(crate) domain: Str,
    pub(crate) id: Str,
}

#[derive(Debug)]
pub(crate) struct Call {
    /// The overload that the checker settled on, or all of the function.
    pub(crate) overloads: Vec<&'static Overload>,
    pub(crate) args: Vec<Node>,
    pub(crate) rule: Rule,
    /// True if arguments behind one that is an error are left out.
    pub(crate) stepwise: bool,
}

impl Call {
    /// The name of the function.
    pub(crate) fn function(&self) -> &'static str {
        self.overloads.first().map_or("", |overload| overload.function)
    }
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) value: Node,
    /// The strings in the set, so that one can be looked up by a borrowed text.
    strings: HashSet<Arc<str>>,
    others: HashSet<MapKey>,
}

impl Member {
    pub(super) fn new(value: Node, keys: HashSet<MapKey>) -> Self {
        let (mut strings, mut others) = (HashSet::new(), HashSet::new());
        for key in keys {
            match key {
                MapKey::String(text) => {
                    strings.insert(text);
                }
                other => {
                    others.insert(other);
                }
            }
        }
        Self {
            value,
            strings,
            others,
        }
    }

    /// Returns whether the set has `value`.
    ///
    /// # Errors
    ///
    /// The value cannot be looked up.
    pub(crate) fn contains(&self, value: &Value<'_>) -> Result<bool, Unhashable> {
        match value {
            Value::String(text) => Ok(self.strings.contains(&**text)),
            _ => MapKey::of(value).map(|key| self.others.contains(&key)),
        }
    }
}

/// Function that a constant regular expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegexFunction {
    Matches,
    Find,
    FindAll,
}

#[derive(Debug)]
pub(crate) struct RegexCall {
    pub(crate) function: RegexFunction,
    pub(crate) regex: crate::library::regex::Regex,
    pub(crate) args: Vec<Node>,
    pub(crate) rule: Rule,
}

#[derive(Debug)]
pub(crate) struct ListNode {
    pub(crate) elements: Vec<Node>,
    /// Elements written with `?`.
    pub(crate) optional: Vec<bool>,
}

#[derive(Debug)]
pub(crate) struct MapEntry {
    pub(crate) key: Node,
    pub(crate) value: Node,
    pub(crate) optional: bool,
}

#[derive(Debug)]
pub(crate) struct MessageNode {
    pub(crate) type_name: String,
    pub(crate) fields: Vec<MessageField>,
}

#[derive(Debug)]
pub(crate) struct MessageField {
    pub(crate) name: String,
    pub(crate) value: Node,
    pub(crate) optional: bool,
}

/// A comprehension.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) range: Node,
    pub(crate) accumulator: usize,
    pub(crate) variable: usize,
    pub(crate) variable2: Option<usize>,
    pub(crate) condition: Node,
    pub(crate) step: Node,
    pub(crate) result: Node,
}
