//! Finds what else is wrong with a text that has been parsed with recovery: reserved names, literals, arguments of macros.
//!
//! cel-go makes nodes of whatever its parser recovered, and what it reports on the way it lists beside the syntax errors. Mirrors
//! the visitor half of `parser/parser.go` (cel-go v0.29), also in what it does not visit. The nodes themselves are of no use.

use super::super::builder::{Builder, NOWHERE};
use super::super::lexer::Token;
use super::super::parser::MAX_DEPTH;
use super::grammar::Rule;
use super::tree::{ContextId, Tree};
use crate::cel::ast::{Entry, Expr, ExprKind, Field, Literal, operators};

/// Alternatives of `unary`.
const MEMBER: usize = 0;
const LOGICAL_NOT: usize = 1;
/// Alternatives of `member`.
const PRIMARY: usize = 0;
const SELECT: usize = 1;
const MEMBER_CALL: usize = 2;
/// Alternatives of `primary`.
const IDENT: usize = 0;
const GLOBAL_CALL: usize = 1;
const NESTED: usize = 2;
const CREATE_LIST: usize = 3;
const CREATE_STRUCT: usize = 4;
const CREATE_MESSAGE: usize = 5;
const CONSTANT: usize = 6;

/// Visiting ends: the tree is nested too deeply, or macros have blown it up.
#[derive(Debug)]
pub(super) struct Stop(pub(super) &'static str);

/// Notes the problems of the context in `builder`.
pub(super) fn visit(tree: &Tree, root: ContextId, builder: &mut Builder<'_>) -> Result<(), Stop> {
    let mut visitor = Visitor {
        tree,
        builder,
        depth: 0,
    };
    visitor.visit(Some(root)).map(drop)
}

struct Visitor<'t, 'b, 's> {
    tree: &'t Tree,
    builder: &'b mut Builder<'s>,
    /// Open operators, selections, calls and indexes.
    depth: u32,
}

impl Visitor<'_, '_, '_> {
    /// What stands in for a part that is missing.
    fn nothing(&mut self, at: usize) -> Expr {
        self.builder.node(at, ExprKind::Unspecified)
    }

    fn visit(&mut self, context: Option<ContextId>) -> Result<Expr, Stop> {
        let Some(context) = self.unnest(context) else {
            return Ok(self.nothing(NOWHERE));
        };
        if self.builder.is_too_large() {
            return Err(Stop("expression is too large"));
        }
        let at = self.tree.context(context);
        match at.rule {
            Rule::ConditionalOr => self.chain(context, operators::OR, Rule::ConditionalAnd, Token::Or),
            Rule::ConditionalAnd => self.chain(context, operators::AND, Rule::Relation, Token::And),
            Rule::Expr | Rule::Relation | Rule::Calc | Rule::Member => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(Stop("max recursion depth exceeded"));
                }
                let found = match at.rule {
                    Rule::Expr => self.conditional(context),
                    Rule::Member => self.member(context),
                    rule => self.binary(context, rule),
                };
                self.depth -= 1;
                found
            }
            Rule::Unary => self.unary(context),
            Rule::Primary => self.primary(context),
            Rule::Literal => Ok(self.literal(context)),
            _ => Ok(self.nothing(NOWHERE)),
        }
    }

    /// The first context in this one, or itself, that is more than another one in it.
    fn unnest(&self, mut context: Option<ContextId>) -> Option<ContextId> {
        loop {
            let id = context?;
            let at = self.tree.context(id);
            let has = |token| self.tree.token(id, token).is_some();
            let inner = match (at.rule, at.alternative) {
                (Rule::Start, _) | (Rule::Primary, Some(NESTED)) => Rule::Expr,
                (Rule::Expr, _) if !has(Token::Question) => Rule::ConditionalOr,
                (Rule::ConditionalOr, _) if !has(Token::Or) => Rule::ConditionalAnd,
                (Rule::ConditionalAnd, _) if !has(Token::And) => Rule::Relation,
                (Rule::Relation, _) if self.tree.tokens(id).next().is_none() => Rule::Calc,
                (Rule::Calc, _) if self.tree.tokens(id).next().is_none() => Rule::Unary,
                (Rule::Unary, Some(MEMBER)) => Rule::Member,
                (Rule::Member, Some(PRIMARY)) => Rule::Primary,
                (Rule::Primary, Some(CONSTANT)) => Rule::Literal,
                _ => return Some(id),
            };
            context = self.tree.rule(id, inner);
        }
    }

    /// The first context of a rule in this one.
    fn visit_in(&mut self, context: ContextId, rule: Rule) -> Result<Expr, Stop> {
        self.visit(self.tree.rule(context, rule))
    }

    fn conditional(&mut self, context: ContextId) -> Result<Expr, Stop> {
        let condition = self.visit_in(context, Rule::ConditionalOr)?;
        let if_true = self.visit(self.tree.rules(context, Rule::ConditionalOr).nth(1))?;
        let if_false = self.visit_in(context, Rule::Expr)?;
        Ok(self.operator(
            context,
            operators::CONDITIONAL,
            vec![condition, if_true, if_false],
        ))
    }

    /// An operator whose place does not matter: nothing is said of it.
    fn operator(&mut self, context: ContextId, function: &str, operands: Vec<Expr>) -> Expr {
        let at = self.tree.tokens(context).next();
        let at = at.map_or(NOWHERE, |(_, range)| range.start);
        self.builder.operator(at, function, operands)
    }

    fn chain(
        &mut self,
        context: ContextId,
        function: &str,
        term: Rule,
        operator: Token,
    ) -> Result<Expr, Stop> {
        let tree = self.tree;
        let terms: Result<Vec<_>, _> = tree
            .rules(context, term)
            .map(|term| self.visit(Some(term)))
            .collect();
        let operators: Vec<_> = tree
            .tokens(context)
            .filter(|(token, _)| *token == operator)
            .map(|(_, range)| range.start)
            .collect();
        Ok(self.builder.balance(function, terms?, &operators))
    }

    fn binary(&mut self, context: ContextId, rule: Rule) -> Result<Expr, Stop> {
        let left = self.visit_in(context, rule)?;
        let right = self.visit(self.tree.rules(context, rule).nth(1))?;
        // Which operator it is does not matter for what is reported.
        Ok(self.operator(context, operators::EQUALS, vec![left, right]))
    }

    fn unary(&mut self, context: ContextId) -> Result<Expr, Stop> {
        let at = self.tree.context(context);
        let function = match at.alternative {
            None => {
                let text = Literal::String("<<error>>".into());
                return Ok(self.builder.literal(at.start, text));
            }
            Some(LOGICAL_NOT) => operators::NOT,
            Some(_) => operators::NEGATE,
        };
        let count = self.tree.tokens(context).count();
        let operand = self.visit_in(context, Rule::Member)?;
        if count.is_multiple_of(2) {
            return Ok(operand);
        }
        Ok(self.operator(context, function, vec![operand]))
    }

    fn member(&mut self, context: ContextId) -> Result<Expr, Stop> {
        let operand = self.visit_in(context, Rule::Member)?;
        let at = self.tree.context(context);
        match at.alternative {
            Some(SELECT) => Ok(self.select(context, operand)),
            Some(MEMBER_CALL) => {
                let (Some(name), Some(open)) = (
                    self.tree.token(context, Token::Identifier),
                    self.tree.token(context, Token::LeftParen),
                ) else {
                    return Ok(self.nothing(at.start));
                };
                let args = self.arguments(context)?;
                let name = &self.builder.source[name];
                Ok(self.builder.member_call(operand, name, open.start, args))
            }
            _ => {
                if self.tree.token(context, Token::LeftBracket).is_none() {
                    return Ok(self.nothing(at.start));
                }
                let index = self.visit_in(context, Rule::Expr)?;
                let function = match self.tree.token(context, Token::Question) {
                    Some(_) => operators::OPT_INDEX,
                    None => operators::INDEX,
                };
                Ok(self.operator(context, function, vec![operand, index]))
            }
        }
    }

    fn select(&mut self, context: ContextId, operand: Expr) -> Expr {
        let (Some(dot), Some(name)) = (
            self.tree.token(context, Token::Dot),
            self.tree.rule(context, Rule::EscapeIdent),
        ) else {
            return self.nothing(self.tree.context(context).start);
        };
        let at = self.tree.context(name).start;
        let field = field_name(self.tree, name).unwrap_or_else(|message| {
            self.builder.error(at, message);
            ""
        });
        let optional = self.tree.token(context, Token::Question).is_some();
        self.builder.select(operand, dot.start, field, at, optional)
    }

    fn primary(&mut self, context: ContextId) -> Result<Expr, Stop> {
        let at = self.tree.context(context);
        match at.alternative {
            Some(IDENT) => Ok(match self.tree.token(context, Token::Identifier) {
                Some(name) => {
                    let text = &self.builder.source[name.clone()];
                    let dot = self.tree.token(context, Token::Dot).map(|dot| dot.start);
                    self.builder.ident(dot, name.start, text)
                }
                None => self.nothing(at.start),
            }),
            Some(GLOBAL_CALL) => self.global_call(context),
            Some(CREATE_LIST) => self.list(context),
            Some(CREATE_STRUCT) => {
                let entries = match self.tree.rule(context, Rule::MapInitializerList) {
                    Some(entries) => self.entries(entries)?,
                    None => Vec::new(),
                };
                Ok(self.builder.node(at.start, ExprKind::Map { entries }))
            }
            Some(CREATE_MESSAGE) => {
                let fields = match self.tree.rule(context, Rule::FieldInitializerList) {
                    Some(fields) => self.fields(fields)?,
                    None => Vec::new(),
                };
                let name = "message".into();
                let brace = self.tree.token(context, Token::LeftBrace);
                let start = brace.map_or(at.start, |brace| brace.start);
                Ok(self.builder.node(start, ExprKind::Struct { name, fields }))
            }
            _ => Ok(self.nothing(NOWHERE)),
        }
    }

    /// A call of a function by its name, of whose arguments nothing is said if the name is reserved.
    fn global_call(&mut self, context: ContextId) -> Result<Expr, Stop> {
        let (Some(name), Some(open)) = (
            self.tree.token(context, Token::Identifier),
            self.tree.token(context, Token::LeftParen),
        ) else {
            return Ok(self.nothing(self.tree.context(context).start));
        };
        let text = &self.builder.source[name.clone()];
        let args = if Builder::is_reserved(text) {
            Vec::new()
        } else {
            self.arguments(context)?
        };
        let dot = self.tree.token(context, Token::Dot).map(|dot| dot.start);
        Ok(self.builder.global_call(dot, name.start, text, open.start, args))
    }

    fn arguments(&mut self, context: ContextId) -> Result<Vec<Expr>, Stop> {
        let tree = self.tree;
        let list = tree.rule(context, Rule::ExprList);
        list.into_iter()
            .flat_map(|list| tree.rules(list, Rule::Expr))
            .map(|arg| self.visit(Some(arg)))
            .collect()
    }

    fn list(&mut self, context: ContextId) -> Result<Expr, Stop> {
        let tree = self.tree;
        let mut elements = Vec::new();
        if let Some(list) = tree.rule(context, Rule::ListInit) {
            for element in tree.rules(list, Rule::OptExpr) {
                elements.push(self.visit_in(element, Rule::Expr)?);
            }
        }
        let at = tree.context(context).start;
        let optional = Vec::new();
        Ok(self.builder.node(at, ExprKind::List { elements, optional }))
    }

    fn entries(&mut self, context: ContextId) -> Result<Vec<Entry>, Stop> {
        let tree = self.tree;
        let keys: Vec<_> = tree.rules(context, Rule::OptExpr).collect();
        let values: Vec<_> = tree.rules(context, Rule::Expr).collect();
        let colons = tree.tokens(context).filter(|(token, _)| *token == Token::Colon);
        let mut entries = Vec::new();
        for number in 0..colons.count() {
            let (Some(key), Some(value)) = (keys.get(number), values.get(number)) else {
                return Ok(Vec::new());
            };
            let key = self.visit_in(*key, Rule::Expr)?;
            let value = self.visit(Some(*value))?;
            let optional = false;
            entries.push(Entry { key, value, optional });
        }
        Ok(entries)
    }

    fn fields(&mut self, context: ContextId) -> Result<Vec<Field>, Stop> {
        let tree = self.tree;
        let values: Vec<_> = tree.rules(context, Rule::Expr).collect();
        let colons = tree.tokens(context).filter(|(token, _)| *token == Token::Colon);
        let complete = values.len().min(colons.count());
        let mut fields = Vec::new();
        for (number, field) in tree.rules(context, Rule::OptField).enumerate() {
            if number >= complete {
                return Ok(Vec::new());
            }
            let name = match tree
                .rule(field, Rule::EscapeIdent)
                .map_or(Err(NO_NAME), |name| field_name(tree, name))
            {
                Ok(name) => name,
                Err(message) => {
                    self.builder.error(tree.context(context).start, message);
                    continue;
                }
            };
            let value = self.visit(values.get(number).copied())?;
            fields.push(Field {
                id: value.id,
                name: name.into(),
                value,
                optional: false,
            });
        }
        Ok(fields)
    }

    fn literal(&mut self, context: ContextId) -> Expr {
        let at = self.tree.context(context).start;
        let mut tokens = self.tree.tokens(context);
        let mut next = tokens.next();
        let negative = matches!(next, Some((Token::Minus, _)));
        if negative {
            next = tokens.next();
        }
        let Some((token, range)) = next else {
            return self.nothing(NOWHERE);
        };
        let text = &self.builder.source[range];
        match token {
            Token::Int => self.builder.int(at, text, negative),
            Token::Uint => self.builder.uint(at, text),
            Token::Float => self.builder.double(at, text, negative),
            Token::String => self.builder.string(at, text),
            Token::Bytes => self.builder.bytes(at, text),
            _ => self.builder.literal(at, Literal::Null),
        }
    }
}

const NO_NAME: &str = "unsupported ident kind";

/// The name of a field: any, since nothing depends on it. Mirrors `normalizeIdent`.
fn field_name(tree: &Tree, context: ContextId) -> Result<&'static str, &'static str> {
    tree.tokens(context).next().map_or(Err(NO_NAME), |_| Ok("field"))
}
