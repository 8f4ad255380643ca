//! Lists, maps and messages that are written down.

use super::Checker;
use crate::ast::{Entry, Expr, Field, NodeId};
use crate::types::{Name, Type};

impl Checker<'_> {
    /// The type inside an element, entry or field that is written with `?`.
    fn unwrap_written_optional(&mut self, id: NodeId, of: Type) -> Type {
        let (inner, is_optional) = of.unwrap_optional();
        if !is_optional && !inner.is_dyn() {
            self.mismatch(id, &Type::optional(of.clone()), &of);
        }
        inner.clone()
    }

    pub(super) fn check_list(&mut self, id: NodeId, elements: &mut [Expr], optional: &[usize]) {
        let mut joined = None;
        for (position, element) in elements.iter_mut().enumerate() {
            self.check(element);
            let mut of = self.type_of(element.id);
            if optional.contains(&position) {
                of = self.unwrap_written_optional(element.id, of);
            }
            joined = Some(self.join(joined, of));
        }
        let element = joined.unwrap_or_else(|| self.unifier.fresh());
        self.set_type(id, Type::list(element));
    }

    pub(super) fn check_map(&mut self, id: NodeId, entries: &mut [Entry]) {
        let (mut key, mut value) = (None, None);
        for entry in entries {
            self.check(&mut entry.key);
            key = Some(self.join(key, self.type_of(entry.key.id)));
            self.check(&mut entry.value);
            let mut of = self.type_of(entry.value.id);
            if entry.optional {
                of = self.unwrap_written_optional(entry.value.id, of);
            }
            value = Some(self.join(value, of));
        }
        let key = key.unwrap_or_else(|| self.unifier.fresh());
        let value = value.unwrap_or_else(|| self.unifier.fresh());
        self.set_type(id, Type::map(key, value));
    }

    /// The type of both; dynamic if they have nothing in common, which `validate` then looks at.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        match previous {
            None => current,
            Some(previous) if self.unifier.assignable(&previous, &current) => {
                self.unifier.most_general(&previous, &current)
            }
            Some(_) => Type::Dyn,
        }
    }

    pub(super) fn check_message(&mut self, id: NodeId, name: &mut Name, fields: &mut [Field]) {
        let global = name.strip_prefix('.').unwrap_or(name);
        let Some((Type::Type(Some(inner)), _)) = self.scope.global(global) else {
            self.undeclared(id, name);
            return;
        };
        *name = global.into();
        let message = if let Type::Struct(message) = *inner {
            self.set_type(id, Type::Struct(message));
            message
        } else {
            self.report(id, format!("'{}' is not a message type", inner.plain_text()));
            self.set_type(id, Type::Error);
            &**name
        };
        for field in fields {
            self.check(&mut field.value);
            let declared = self.field_type(field.id, message, &field.name);
            let mut of = self.type_of(field.value.id);
            if field.optional {
                of = self.unwrap_written_optional(field.value.id, of);
            }
            if !self.unifier.assignable(&declared, &of) {
                let message = format!(
                    "expected type of field '{}' is '{}' but provided type is '{}'",
                    field.name,
                    declared.checker_text(),
                    of.checker_text()
                );
                self.report(field.id, message);
            }
        }
    }
}
