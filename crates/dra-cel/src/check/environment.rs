//! Meaning of names: the variable `device`, types, functions, by Kubernetes version and feature gates.
//!
//! kube-scheduler compiles with the environment for stored expressions, which has everything its version knows. The API
//! server checks new expressions with what the version before knew too, so that a rollback leaves nothing unreadable.
//! Mirrors `compile.go`, `newCompiler`, and `environment/base.go`.

use super::Reference;
use crate::ast::operators;
use crate::library::{Overload, functions};
use crate::parse::Macros;
use crate::release::Release;
use crate::types::{Param, Type};

/// Feature gates that change the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Features {
    /// `DRAConsumableCapacity`
    pub consumable_capacity: bool,
    /// `DRAListTypeAttributes`
    pub list_type_attributes: bool,
}

/// Kind of expression that an environment is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One that is in the cluster, as kube-scheduler compiles it.
    Stored,
    /// One that is being written, as the API server checks it.
    New,
}

/// Meaning of names in one version and mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) release: Release,
    /// Newest release in which a function may have been introduced.
    used: Release,
    mode: Mode,
    features: Features,
}

impl Scope {
    pub(crate) fn new(minor: u32, compatible_with: u32, mode: Mode, features: Features) -> Self {
        Self {
            release: Release::of(minor),
            used: match mode {
                Mode::Stored => Release::used(u32::MAX),
                Mode::New => Release::used(compatible_with),
            },
            mode,
            features,
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn has_list_type_attributes(&self) -> bool {
        self.features.list_type_attributes
    }

    pub(crate) fn macros(&self) -> Macros {
        Macros {
            sort_by: self.used.extends_lists,
        }
    }

    /// The overloads of a function, none if it does not exist.
    pub(crate) fn function(&self, name: &str) -> Vec<&'static Overload> {
        let name = name.strip_prefix('.').unwrap_or(name);
        let overloads = functions().get(name).map(Vec::as_slice).unwrap_or_default();
        overloads.iter().filter(|overload| self.has(overload)).collect()
    }

    fn has(&self, overload: &Overload) -> bool {
        if overload.function == "includes" {
            let may_use = self.features.list_type_attributes || self.used.lists_need_no_gate;
            return self.release.knows_lists && may_use && overload.is_in(self.release);
        }
        if matches!(overload.function, "indexOf" | "lastIndexOf") {
            // The functions of lists have a version of their own, by what is used.
            return overload.is_in(self.release.bounded_by(self.used));
        }
        let extends_lists = matches!(
            overload.function,
            "slice" | "flatten" | "sort" | "reverse" | "distinct"
        ) || matches!(overload.function, "lists.range" | operators::SORT_BY);
        overload.is_in(self.release) && (!extends_lists || self.used.extends_lists)
    }

    /// Returns whether devices may have attributes that are lists.
    pub(crate) fn takes_lists(&self) -> bool {
        self.release.lists_need_no_gate || self.knows_lists_by_gate()
    }

    fn knows_lists_by_gate(&self) -> bool {
        self.release.knows_lists && self.features.list_type_attributes
    }

    /// Returns whether a selector may be of this type.
    pub(crate) fn selects(&self, output: &Type) -> bool {
        match output {
            Type::Bool => true,
            Type::Any if self.release.selects_by_any => true,
            _ => *output == self.attribute_type(),
        }
    }

    /// The type of attributes.
    pub(crate) fn attribute_type(&self) -> Type {
        let is_stored = self.mode == Mode::Stored;
        let lists = self.release.lists_need_no_gate && is_stored || self.knows_lists_by_gate();
        if lists { Type::Dyn } else { Type::Any }
    }

    fn has_allow_multiple_allocations(&self) -> bool {
        match self.mode {
            Mode::Stored => true,
            Mode::New => self.features.consumable_capacity,
        }
    }

    /// The type of a field of a message.
    ///
    /// # Errors
    /// There is no such field, or no such message.
    pub(crate) fn field(&self, message: &str, field: &str) -> Result<Type, String> {
        if message != "kubernetes.DRADevice" {
            return Err(format!("unexpected failed resolution of '{message}'"));
        }
        let by_domain = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
        Ok(match field {
            "driver" => Type::String,
            "attributes" => by_domain(self.attribute_type()),
            "capacity" => by_domain(Type::Struct("kubernetes.Quantity")),
            "allowMultipleAllocations" if self.has_allow_multiple_allocations() => Type::Bool,
            _ => return Err(format!("undefined field '{field}'")),
        })
    }

    /// Returns what the types of lists and maps in general are of.
    fn type_variable(&self, letter: char) -> Type {
        if self.release.declares_type_variables {
            Type::Param(Param::Declared(letter))
        } else {
            Type::Dyn
        }
    }

    /// The type and the meaning of a global name.
    pub(crate) fn global(&self, name: &str) -> Option<(Type, Reference)> {
        let types = |inner: Type| {
            let reference = Reference::Type(inner.name());
            Some((Type::type_of(inner), reference))
        };
        // Names of the API server's own table of types, which the planner does not know.
        let unknown = |inner: Type| Some((Type::type_of(inner), Reference::UnknownType(name.into())));
        match name {
            "device" => Some((Type::Struct("kubernetes.DRADevice"), Reference::Device)),
            "bool" => types(Type::Bool),
            "bytes" => types(Type::Bytes),
            "double" => types(Type::Double),
            "google.protobuf.Duration" => types(Type::Duration),
            "google.protobuf.Timestamp" => types(Type::Timestamp),
            "int" => types(Type::Int),
            "list" => types(Type::list(self.type_variable('A'))),
            "map" => types(Type::map(self.type_variable('A'), self.type_variable('B'))),
            "null_type" => types(Type::Null),
            "string" => types(Type::String),
            "type" => types(Type::Type(None)),
            "uint" => types(Type::Uint),
            "optional_type" if self.release.optional_type_is_bare => {
                types(Type::Opaque("optional_type", Vec::new()))
            }
            "optional_type" => types(Type::optional(Type::Dyn)),
            "net.IP" => types(Type::Opaque("net.IP", Vec::new())),
            "net.CIDR" => types(Type::Opaque("net.CIDR", Vec::new())),
            "google.protobuf.NullValue.NULL_VALUE" => Some((Type::Int, Reference::Int(0))),
            "duration" => unknown(Type::Duration),
            "timestamp" => unknown(Type::Timestamp),
            "kubernetes.DRADevice" => unknown(Type::Struct("kubernetes.DRADevice")),
            "kubernetes.DRADevice.attributes" | "kubernetes.DRADevice.capacity" => {
                let (message, field) = name.rsplit_once('.')?;
                unknown(self.field(message, field).ok()?)
            }
            _ => None,
        }
    }
}
