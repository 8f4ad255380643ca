//! What the recovering parser made of a text: which rules it went through, and which tokens fitted in them.
//!
//! Mirrors the contexts of ANTLR's generated parser. They are kept in one list, so that a chain of selections however
//! long is no deep structure.

use std::ops::Range;

use super::super::lexer::Token;
use super::grammar::Rule;

/// A context in a [`Tree`].
pub(super) type ContextId = usize;

/// A rule that the parser went through, perhaps not to its end.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) rule: Rule,
    /// Which alternative of the rule, from zero, if the parser found one. Of a member, what was appended: nothing, a selection,
    /// a call or an index.
    pub(super) alternative: Option<usize>,
    /// Where the text of the rule begins.
    pub(super) start: usize,
    children: Vec<Child>,
}

#[derive(Debug)]
enum Child {
    Token(Token, Range<usize>),
    Context(ContextId),
}

/// All contexts of a text.
#[derive(Debug, Default)]
pub(super) struct Tree {
    contexts: Vec<Context>,
}

impl Tree {
    /// Opens a context in another one.
    pub(super) fn open(&mut self, rule: Rule, start: usize) -> ContextId {
        // Left-recursive rules begin with their operand alone.
        let alternative = rule.has_precedences().then_some(0);
        self.contexts.push(Context {
            rule,
            alternative,
            start,
            children: Vec::new(),
        });
        self.contexts.len() - 1
    }

    /// Opens the context of an operator of a left-recursive rule around its first operand.
    pub(super) fn open_around(&mut self, operand: ContextId, alternative: usize) -> ContextId {
        let Context { rule, start, .. } = self.contexts[operand];
        let context = self.open(rule, start);
        self.choose(context, alternative);
        self.add_context(context, operand);
        context
    }

    pub(super) fn choose(&mut self, context: ContextId, alternative: usize) {
        self.contexts[context].alternative = Some(alternative);
    }

    pub(super) fn add_context(&mut self, parent: ContextId, child: ContextId) {
        self.contexts[parent].children.push(Child::Context(child));
    }

    pub(super) fn add_token(&mut self, parent: ContextId, token: Token, range: Range<usize>) {
        self.contexts[parent].children.push(Child::Token(token, range));
    }

    pub(super) fn context(&self, id: ContextId) -> &Context {
        &self.contexts[id]
    }

    /// The contexts of a rule directly in a context.
    pub(super) fn rules(&self, context: ContextId, rule: Rule) -> impl Iterator<Item = ContextId> + '_ {
        let children = self.contexts[context].children.iter();
        children.filter_map(move |child| match child {
            Child::Context(id) if self.contexts[*id].rule == rule => Some(*id),
            _ => None,
        })
    }

    /// The first context of a rule directly in a context.
    pub(super) fn rule(&self, context: ContextId, rule: Rule) -> Option<ContextId> {
        self.rules(context, rule).next()
    }

    /// The tokens directly in a context, and where they are.
    pub(super) fn tokens(&self, context: ContextId) -> impl Iterator<Item = (Token, Range<usize>)> + '_ {
        let children = self.contexts[context].children.iter();
        children.filter_map(|child| match child {
            Child::Token(token, range) => Some((*token, range.clone())),
            Child::Context(_) => None,
        })
    }

    /// The first of a kind of token directly in a context.
    pub(super) fn token(&self, context: ContextId, wanted: Token) -> Option<Range<usize>> {
        self.tokens(context)
            .find(|(token, _)| *token == wanted)
            .map(|(_, range)| range)
    }
}
