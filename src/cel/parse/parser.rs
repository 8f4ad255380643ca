//! The parser: recursive descent over the rules of `CEL.g4`, giving up at the first syntax error.
//!
//! cel-go bounds nesting twice, and both bounds are counted here as its generated parser counts them: 250 open contexts
//! of any one grammar rule while reading, and 250 nested operators, selections, calls and indexes when building the
//! tree. What was wrong with a text that does not parse is for [`super::recovery`] to say.

use std::ops::Range;

use super::builder::Builder;
use super::lexer::{Lexeme, Token};
use crate::cel::ast::{Entry, Expr, ExprKind, Field, Literal, operators};

/// Nesting that is allowed.
const MAX_DEPTH: u32 = 250;

/// Why parsing stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text is not in the language.
    Syntax,
    /// A rule is nested too deeply.
    RuleDepth,
    /// Macros made too many nodes.
    TooLarge,
}

/// A node and how many counted contexts are nested in it.
type Parsed = (Expr, u32);

pub(super) struct Parser<'b, 's> {
    builder: &'b mut Builder<'s>,
    lexemes: &'b [Lexeme],
    position: usize,
    /// Open contexts of the rules that can nest most: `expr`, `relation` and `calc`.
    expr_depth: u32,
    relation_depth: u32,
    calc_depth: u32,
}

/// Parses all of `lexemes`. The second value says whether the tree is nested too deeply.
pub(super) fn parse(builder: &mut Builder<'_>, lexemes: &[Lexeme]) -> Result<(Expr, bool), Stop> {
    let mut parser =
        Parser { builder, lexemes, position: 0, expr_depth: 0, relation_depth: 0, calc_depth: 0 };
    let (expr, height) = parser.expr()?;
    if parser.peek() != Token::End {
        return Err(Stop::Syntax);
    }
    Ok((expr, height > MAX_DEPTH))
}

impl<'s> Parser<'_, 's> {
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.lexemes.get(self.position + ahead).map_or(Token::End, |lexeme| lexeme.token)
    }

    fn range(&self) -> Range<usize> {
        self.lexemes.get(self.position).map_or(0..0, |lexeme| lexeme.range.clone())
    }

    /// Where the current token begins.
    fn here(&self) -> usize {
        self.range().start
    }

    fn advance(&mut self) -> usize {
        let start = self.here();
        self.position += 1;
        start
    }

    fn accept(&mut self, token: Token) -> Option<usize> {
        (self.peek() == token).then(|| self.advance())
    }

    fn expect(&mut self, token: Token) -> Result<usize, Stop> {
        self.accept(token).ok_or(Stop::Syntax)
    }

    fn text(&self) -> &'s str {
        let source: &'s str = self.builder.source;
        &source[self.range()]
    }

    fn enter(depth: &mut u32) -> Result<(), Stop> {
        *depth += 1;
        if *depth > MAX_DEPTH { Err(Stop::RuleDepth) } else { Ok(()) }
    }

    fn expr(&mut self) -> Result<Parsed, Stop> {
        Self::enter(&mut self.expr_depth)?;
        if self.builder.is_too_large() {
            return Err(Stop::TooLarge);
        }
        let (mut expr, mut height) = self.logical_or()?;
        if let Some(question) = self.accept(Token::Question) {
            let (if_true, true_height) = self.logical_or()?;
            self.expect(Token::Colon)?;
            let (if_false, false_height) = self.expr()?;
            height = 1 + height.max(true_height).max(false_height);
            expr = self.builder.operator(question, operators::CONDITIONAL, vec![expr, if_true, if_false]);
        }
        self.expr_depth -= 1;
        Ok((expr, height))
    }

    fn logical_or(&mut self) -> Result<Parsed, Stop> {
        let (first, mut height) = self.logical_and()?;
        if self.peek() != Token::Or {
            return Ok((first, height));
        }
        let (mut terms, mut ops) = (vec![first], Vec::new());
        while let Some(op) = self.accept(Token::Or) {
            ops.push(op);
            let (term, term_height) = self.logical_and()?;
            height = height.max(term_height);
            terms.push(term);
        }
        Ok((self.builder.balance(operators::OR, terms, &ops), height))
    }

    fn logical_and(&mut self) -> Result<Parsed, Stop> {
        let start = self.here();
        let (first, mut height) = self.relation(1)?;
        if self.peek() != Token::And {
            return Ok((first, height));
        }
        let previous_end = |parser: &Self| parser.lexemes[parser.position - 1].range.end;
        let range = start..previous_end(self);
        self.builder.terms.push((first.id, range));
        let (mut terms, mut ops) = (vec![first], Vec::new());
        while let Some(op) = self.accept(Token::And) {
            ops.push(op);
            let start = self.here();
            let (term, term_height) = self.relation(1)?;
            let range = start..previous_end(self);
            self.builder.terms.push((term.id, range));
            height = height.max(term_height);
            terms.push(term);
        }
        Ok((self.builder.balance(operators::AND, terms, &ops), height))
    }

    fn relation(&mut self, precedence: u8) -> Result<Parsed, Stop> {
        Self::enter(&mut self.relation_depth)?;
        let (mut left, mut height) = self.calc(0)?;
        while precedence <= 1 {
            let function = match self.peek() {
                Token::Less => operators::LESS,
                Token::LessEquals => operators::LESS_EQUALS,
                Token::GreaterEquals => operators::GREATER_EQUALS,
                Token::Greater => operators::GREATER,
                Token::Equals => operators::EQUALS,
                Token::NotEquals => operators::NOT_EQUALS,
                Token::In => operators::IN,
                _ => break,
            };
            let op = self.advance();
            let (right, right_height) = self.relation(2)?;
            height = 1 + height.max(right_height);
            left = self.builder.operator(op, function, vec![left, right]);
        }
        self.relation_depth -= 1;
        Ok((left, height))
    }

    fn calc(&mut self, precedence: u8) -> Result<Parsed, Stop> {
        Self::enter(&mut self.calc_depth)?;
        let (mut left, mut height) = self.unary()?;
        loop {
            let (function, own) = match self.peek() {
                Token::Star => (operators::MULTIPLY, 2),
                Token::Slash => (operators::DIVIDE, 2),
                Token::Percent => (operators::MODULO, 2),
                Token::Plus => (operators::ADD, 1),
                Token::Minus => (operators::SUBTRACT, 1),
                _ => break,
            };
            if own < precedence {
                break;
            }
            let op = self.advance();
            let (right, right_height) = self.calc(own + 1)?;
            height = 1 + height.max(right_height);
            left = self.builder.operator(op, function, vec![left, right]);
        }
        self.calc_depth -= 1;
        Ok((left, height))
    }

    /// Signs cancel out in pairs. The last minus before a number belongs to the number if it is the only one.
    fn unary(&mut self) -> Result<Parsed, Stop> {
        let sign = self.peek();
        let literal_follows = matches!(self.peek_at(1), Token::Int | Token::Float);
        let function = match sign {
            Token::Exclamation => operators::NOT,
            Token::Minus if !literal_follows => operators::NEGATE,
            _ => return self.member(),
        };
        let first = self.here();
        let mut count = 0_u32;
        while self.accept(sign).is_some() {
            count += 1;
        }
        let (operand, height) = self.member()?;
        if count.is_multiple_of(2) {
            return Ok((operand, height));
        }
        Ok((self.builder.operator(first, function, vec![operand]), height))
    }

    fn member(&mut self) -> Result<Parsed, Stop> {
        let (mut expr, mut height) = self.primary()?;
        loop {
            if let Some(dot) = self.accept(Token::Dot) {
                let optional = self.accept(Token::Question).is_some();
                let (field_at, text) = (self.here(), self.text());
                match self.peek() {
                    Token::Identifier => {
                        self.position += 1;
                        if !optional && self.peek() == Token::LeftParen {
                            let open = self.advance();
                            let (args, args_height) = self.arguments()?;
                            height = 1 + height.max(args_height);
                            expr = self.builder.member_call(expr, text, open, args);
                            continue;
                        }
                        expr = self.builder.select(expr, dot, text, field_at, optional);
                    }
                    Token::EscapedIdentifier => {
                        self.position += 1;
                        let name = &text[1..text.len() - 1];
                        expr = self.builder.select(expr, dot, name, field_at, optional);
                    }
                    _ => return Err(Stop::Syntax),
                }
                height += 1;
            } else if let Some(bracket) = self.accept(Token::LeftBracket) {
                let optional = self.accept(Token::Question).is_some();
                let (index, index_height) = self.expr()?;
                self.expect(Token::RightBracket)?;
                height = 1 + height.max(index_height);
                let function = if optional { operators::OPT_INDEX } else { operators::INDEX };
                expr = self.builder.operator(bracket, function, vec![expr, index]);
            } else {
                return Ok((expr, height));
            }
        }
    }

    /// Arguments up to and with the closing parenthesis.
    fn arguments(&mut self) -> Result<(Vec<Expr>, u32), Stop> {
        let (mut args, mut height) = (Vec::new(), 0);
        if self.accept(Token::RightParen).is_some() {
            return Ok((args, height));
        }
        loop {
            let (arg, arg_height) = self.expr()?;
            height = height.max(arg_height);
            args.push(arg);
            if self.accept(Token::Comma).is_none() {
                self.expect(Token::RightParen)?;
                return Ok((args, height));
            }
        }
    }

    fn primary(&mut self) -> Result<Parsed, Stop> {
        let (at, text) = (self.here(), self.text());
        let token = self.peek();
        match token {
            Token::Dot | Token::Identifier => return self.name(),
            Token::LeftParen => {
                self.position += 1;
                let nested = self.expr()?;
                self.expect(Token::RightParen)?;
                return Ok(nested);
            }
            Token::LeftBracket => return self.list(),
            Token::LeftBrace => return self.map(),
            _ => self.position += 1,
        }
        let literal = match token {
            Token::Minus => {
                let number = self.text();
                match self.peek() {
                    Token::Int => {
                        self.position += 1;
                        self.builder.int(at, number, true)
                    }
                    Token::Float => {
                        self.position += 1;
                        self.builder.double(at, number, true)
                    }
                    _ => return Err(Stop::Syntax),
                }
            }
            Token::Int => self.builder.int(at, text, false),
            Token::Uint => self.builder.uint(at, text),
            Token::Float => self.builder.double(at, text, false),
            Token::String => self.builder.string(at, text),
            Token::Bytes => self.builder.bytes(at, text),
            Token::True => self.builder.literal(at, Literal::Bool(true)),
            Token::False => self.builder.literal(at, Literal::Bool(false)),
            Token::Null => self.builder.literal(at, Literal::Null),
            _ => return Err(Stop::Syntax),
        };
        Ok((literal, 0))
    }

    /// An identifier, a call of a function by name, or a message.
    fn name(&mut self) -> Result<Parsed, Stop> {
        let dot = self.accept(Token::Dot);
        let (at, text) = (self.here(), self.text());
        self.expect(Token::Identifier)?;
        let mut ahead = 0;
        while self.peek_at(ahead) == Token::Dot && self.peek_at(ahead + 1) == Token::Identifier {
            ahead += 2;
        }
        if self.peek_at(ahead) == Token::LeftBrace {
            return self.message(dot, text);
        }
        if self.peek() == Token::LeftParen {
            let open = self.advance();
            let (args, height) = self.arguments()?;
            return Ok((self.builder.global_call(dot, at, text, open, args), height));
        }
        Ok((self.builder.ident(dot, at, text), 0))
    }

    fn list(&mut self) -> Result<Parsed, Stop> {
        let at = self.advance();
        let (mut elements, mut optional, mut height) = (Vec::new(), Vec::new(), 0);
        loop {
            if self.accept(Token::RightBracket).is_some() {
                break;
            }
            // A comma may follow the last element, and stand alone.
            if elements.is_empty() && self.accept(Token::Comma).is_some() {
                self.expect(Token::RightBracket)?;
                break;
            }
            if self.accept(Token::Question).is_some() {
                optional.push(elements.len());
            }
            let (element, element_height) = self.expr()?;
            height = height.max(element_height);
            elements.push(element);
            if self.accept(Token::Comma).is_none() {
                self.expect(Token::RightBracket)?;
                break;
            }
        }
        Ok((self.builder.node(at, ExprKind::List { elements, optional }), height))
    }

    fn map(&mut self) -> Result<Parsed, Stop> {
        let at = self.advance();
        let (mut entries, mut height) = (Vec::new(), 0);
        loop {
            if self.accept(Token::RightBrace).is_some() {
                break;
            }
            if entries.is_empty() && self.accept(Token::Comma).is_some() {
                self.expect(Token::RightBrace)?;
                break;
            }
            let optional = self.accept(Token::Question).is_some();
            let (key, key_height) = self.expr()?;
            self.expect(Token::Colon)?;
            let (value, value_height) = self.expr()?;
            height = height.max(key_height).max(value_height);
            entries.push(Entry { key, value, optional });
            if self.accept(Token::Comma).is_none() {
                self.expect(Token::RightBrace)?;
                break;
            }
        }
        Ok((self.builder.node(at, ExprKind::Map { entries }), height))
    }

    /// The rest of a message whose name begins with `first`.
    fn message(&mut self, dot: Option<usize>, first: &str) -> Result<Parsed, Stop> {
        let mut name = if dot.is_some() { format!(".{first}") } else { first.to_owned() };
        while self.accept(Token::Dot).is_some() {
            name.push('.');
            name.push_str(self.text());
            self.position += 1;
        }
        let at = self.expect(Token::LeftBrace)?;
        let (mut fields, mut height) = (Vec::new(), 0);
        loop {
            if self.accept(Token::RightBrace).is_some() {
                break;
            }
            if fields.is_empty() && self.accept(Token::Comma).is_some() {
                self.expect(Token::RightBrace)?;
                break;
            }
            let optional = self.accept(Token::Question).is_some();
            let text = self.text();
            let name = match self.peek() {
                Token::Identifier => text,
                Token::EscapedIdentifier => &text[1..text.len() - 1],
                _ => return Err(Stop::Syntax),
            };
            self.position += 1;
            let colon = self.expect(Token::Colon)?;
            let id = self.builder.node(colon, ExprKind::Unspecified).id;
            let (value, value_height) = self.expr()?;
            height = height.max(value_height);
            fields.push(Field { id, name: name.into(), value, optional });
            if self.accept(Token::Comma).is_none() {
                self.expect(Token::RightBrace)?;
                break;
            }
        }
        Ok((self.builder.node(at, ExprKind::Struct { name: name.into(), fields }), height))
    }
}
