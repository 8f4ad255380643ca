//! The parser: recursive descent over the rules of `CEL.g4`, giving up at the first syntax error.
//!
//! cel-go bounds nesting twice, and both bounds are counted here as its generated parser counts them: 250 open contexts
//! of any one grammar rule while reading, and 250 nested operators, selections, calls and indexes when building the
//! tree.

use std::ops::Range;

use super::builder::Builder;
use super::lexer::{Lexeme, Token};
use crate::ast::{Entry, Expr, ExprKind, Field, Literal, operators};

/// Nesting that is allowed.
pub(super) const MAX_DEPTH: u32 = 250;

/// The reason why parsing stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text is not in the language: this token of it is not expected. At the end of the text it is empty.
    Syntax(Range<usize>),
    /// A rule is nested too deeply.
    RuleDepth,
    /// Macros made too many nodes.
    TooLarge,
}

/// Precedence of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Relation,
    /// The right side of a relation.
    RelationOperand,
    Addition,
    Multiplication,
    /// The right side of a multiplication.
    Factor,
}

impl Level {
    /// Returns what binds more tightly.
    fn next(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Relation,
            Self::Relation => Self::RelationOperand,
            Self::RelationOperand => Self::Addition,
            Self::Addition => Self::Multiplication,
            Self::Multiplication | Self::Factor => Self::Factor,
        }
    }
}

/// A node and how many counted contexts are nested in it.
type Parsed = (Expr, u32);

/// A node above others of this height.
///
/// A tree that is too deep is refused whatever is in it, once the text has been read to its end. It is let go of by recursion, so
/// what is too deep is cut off before more is put on top.
fn above(expr: Expr, height: u32) -> Parsed {
    if height < MAX_DEPTH {
        return (expr, height + 1);
    }
    let kind = ExprKind::Unspecified;
    (Expr { id: expr.id, kind }, MAX_DEPTH + 1)
}

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
    let mut parser = Parser {
        builder,
        lexemes,
        position: 0,
        expr_depth: 0,
        relation_depth: 0,
        calc_depth: 0,
    };
    let (expr, height) = parser.expr()?;
    if parser.peek() != Token::End {
        return Err(parser.unexpected());
    }
    Ok((expr, height > MAX_DEPTH))
}

impl<'s> Parser<'_, 's> {
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.lexemes
            .get(self.position + ahead)
            .map_or(Token::End, |lexeme| lexeme.token)
    }

    fn range(&self) -> Range<usize> {
        self.lexemes
            .get(self.position)
            .map_or(0..0, |lexeme| lexeme.range.clone())
    }

    /// The current token is none that the grammar has here.
    fn unexpected(&self) -> Stop {
        Stop::Syntax(self.range())
    }

    /// Returns where the current token begins.
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
        self.accept(token).ok_or_else(|| self.unexpected())
    }

    fn text(&self) -> &'s str {
        let source: &'s str = self.builder.source;
        &source[self.range()]
    }

    fn enter(depth: &mut u32) -> Result<(), Stop> {
        *depth += 1;
        if *depth > MAX_DEPTH {
            Err(Stop::RuleDepth)
        } else {
            Ok(())
        }
    }

    fn expr(&mut self) -> Result<Parsed, Stop> {
        Self::enter(&mut self.expr_depth)?;
        if self.builder.is_too_large() {
            return Err(Stop::TooLarge);
        }
        let mut expr = self.binary(Level::Or)?;
        if self.peek() == Token::Question {
            expr = self.conditional(expr)?;
        }
        self.expr_depth -= 1;
        Ok(expr)
    }

    /// The branches of a conditional.
    fn conditional(&mut self, condition: Parsed) -> Result<Parsed, Stop> {
        let question = self.advance();
        let (if_true, true_height) = self.binary(Level::Or)?;
        self.expect(Token::Colon)?;
        let (if_false, false_height) = self.expr()?;
        let height = condition.1.max(true_height).max(false_height);
        let operands = vec![condition.0, if_true, if_false];
        let expr = self.builder.operator(question, operators::CONDITIONAL, operands);
        Ok(above(expr, height))
    }

    /// Operands and the operators between them that bind at least as tightly as `level`.
    ///
    /// One function for five rules keeps the stack small; the open contexts follow the grammar.
    fn binary(&mut self, level: Level) -> Result<Parsed, Stop> {
        if level < Level::Addition {
            Self::enter(&mut self.relation_depth)?;
        }
        Self::enter(&mut self.calc_depth)?;
        let start = self.here();
        let mut left = self.unary()?;
        while let Some((function, own)) = self.calculation()
            && own >= level
        {
            let op = self.advance();
            let right = self.binary(own.next())?;
            left = self.join(op, function, left, right);
        }
        self.calc_depth -= 1;
        if level >= Level::Addition {
            return Ok(left);
        }
        if level <= Level::Relation {
            while let Some(function) = self.relation() {
                let op = self.advance();
                let right = self.binary(Level::Relation.next())?;
                left = self.join(op, function, left, right);
            }
        }
        self.relation_depth -= 1;
        if level <= Level::And && self.peek() == Token::And {
            left = self.conjunction(start, left)?;
        }
        if level <= Level::Or && self.peek() == Token::Or {
            left = self.disjunction(left)?;
        }
        Ok(left)
    }

    fn join(&mut self, op: usize, function: &str, left: Parsed, right: Parsed) -> Parsed {
        let expr = self.builder.operator(op, function, vec![left.0, right.0]);
        above(expr, left.1.max(right.1))
    }

    fn relation(&self) -> Option<&'static str> {
        Some(match self.peek() {
            Token::Less => operators::LESS,
            Token::LessEquals => operators::LESS_EQUALS,
            Token::GreaterEquals => operators::GREATER_EQUALS,
            Token::Greater => operators::GREATER,
            Token::Equals => operators::EQUALS,
            Token::NotEquals => operators::NOT_EQUALS,
            Token::In => operators::IN,
            _ => return None,
        })
    }

    fn calculation(&self) -> Option<(&'static str, Level)> {
        Some(match self.peek() {
            Token::Star => (operators::MULTIPLY, Level::Multiplication),
            Token::Slash => (operators::DIVIDE, Level::Multiplication),
            Token::Percent => (operators::MODULO, Level::Multiplication),
            Token::Plus => (operators::ADD, Level::Addition),
            Token::Minus => (operators::SUBTRACT, Level::Addition),
            _ => return None,
        })
    }

    /// The further terms of a chain of `&&` whose first one began at `start`.
    fn conjunction(&mut self, mut start: usize, first: Parsed) -> Result<Parsed, Stop> {
        let (mut terms, mut ops, mut height) = (Vec::new(), Vec::new(), 0);
        let mut next = first;
        loop {
            height = height.max(next.1);
            let end = self
                .position
                .checked_sub(1)
                .map_or(start, |last| self.lexemes[last].range.end);
            self.builder.terms.push((next.0.id, start..end));
            terms.push(next.0);
            let Some(op) = self.accept(Token::And) else {
                return Ok((self.builder.balance(operators::AND, terms, &ops), height));
            };
            ops.push(op);
            start = self.here();
            next = self.binary(Level::Relation)?;
        }
    }

    /// The further terms of a chain of `||`.
    fn disjunction(&mut self, first: Parsed) -> Result<Parsed, Stop> {
        let (mut terms, mut ops, mut height) = (vec![first.0], Vec::new(), first.1);
        while let Some(op) = self.accept(Token::Or) {
            ops.push(op);
            let (term, term_height) = self.binary(Level::And)?;
            height = height.max(term_height);
            terms.push(term);
        }
        Ok((self.builder.balance(operators::OR, terms, &ops), height))
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
        let mut operand = self.primary()?;
        loop {
            operand = match self.peek() {
                Token::Dot => self.selection(operand)?,
                Token::LeftBracket => self.index(operand)?,
                _ => return Ok(operand),
            };
        }
    }

    /// A selection or call of what precedes the dot.
    fn selection(&mut self, (operand, height): Parsed) -> Result<Parsed, Stop> {
        let dot = self.advance();
        let optional = self.accept(Token::Question).is_some();
        let field_at = self.here();
        let escaped = self.peek() == Token::EscapedIdentifier;
        let name = self.field()?;
        if escaped || optional || self.peek() != Token::LeftParen {
            let expr = self.builder.select(operand, dot, name, field_at, optional);
            return Ok(above(expr, height));
        }
        let open = self.advance();
        let (args, args_height) = self.arguments()?;
        let expr = self.builder.member_call(operand, name, open, args);
        Ok(above(expr, height.max(args_height)))
    }

    fn index(&mut self, (operand, height): Parsed) -> Result<Parsed, Stop> {
        let bracket = self.advance();
        let optional = self.accept(Token::Question).is_some();
        let (index, index_height) = self.expr()?;
        self.expect(Token::RightBracket)?;
        let function = if optional {
            operators::OPT_INDEX
        } else {
            operators::INDEX
        };
        let expr = self.builder.operator(bracket, function, vec![operand, index]);
        Ok(above(expr, height.max(index_height)))
    }

    /// Items with commas between them, up to and with the closing token. Returns the height of the highest.
    fn items(
        &mut self,
        close: Token,
        mut item: impl FnMut(&mut Self) -> Result<u32, Stop>,
    ) -> Result<u32, Stop> {
        // A comma may follow the last item, and stand alone.
        if self.accept(Token::Comma).is_some() {
            self.expect(close)?;
            return Ok(0);
        }
        let mut height = 0;
        while self.accept(close).is_none() {
            height = height.max(item(self)?);
            if self.accept(Token::Comma).is_none() {
                self.expect(close)?;
                break;
            }
        }
        Ok(height)
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
        match self.peek() {
            Token::Dot | Token::Identifier => self.name(),
            Token::LeftParen => {
                self.position += 1;
                let nested = self.expr()?;
                self.expect(Token::RightParen)?;
                Ok(nested)
            }
            Token::LeftBracket => self.list(),
            Token::LeftBrace => self.map(),
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Parsed, Stop> {
        let (at, text) = (self.here(), self.text());
        let token = self.peek();
        self.position += 1;
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
                    _ => return Err(self.unexpected()),
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
            _ => {
                self.position -= 1;
                return Err(self.unexpected());
            }
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
            // cel-go does not look at what a reserved word is called with.
            let before = Builder::is_reserved(text).then(|| std::mem::take(&mut self.builder.issues));
            let (args, height) = self.arguments()?;
            if let Some(before) = before {
                self.builder.issues = before;
            }
            return Ok((self.builder.global_call(dot, at, text, open, args), height));
        }
        Ok((self.builder.ident(dot, at, text), 0))
    }

    fn list(&mut self) -> Result<Parsed, Stop> {
        let at = self.advance();
        let (mut elements, mut optional) = (Vec::new(), Vec::new());
        let height = self.items(Token::RightBracket, |parser| {
            if parser.accept(Token::Question).is_some() {
                optional.push(elements.len());
            }
            let (element, height) = parser.expr()?;
            elements.push(element);
            Ok(height)
        })?;
        let list = ExprKind::List { elements, optional };
        Ok((self.builder.node(at, list), height))
    }

    fn map(&mut self) -> Result<Parsed, Stop> {
        let at = self.advance();
        let mut entries = Vec::new();
        let height = self.items(Token::RightBrace, |parser| {
            let optional = parser.accept(Token::Question).is_some();
            let (key, key_height) = parser.expr()?;
            parser.expect(Token::Colon)?;
            let (value, value_height) = parser.expr()?;
            entries.push(Entry { key, value, optional });
            Ok(key_height.max(value_height))
        })?;
        Ok((self.builder.node(at, ExprKind::Map { entries }), height))
    }

    /// The rest of a message whose name begins with `first`.
    fn message(&mut self, dot: Option<usize>, first: &str) -> Result<Parsed, Stop> {
        let mut name = if dot.is_some() {
            format!(".{first}")
        } else {
            first.to_owned()
        };
        while self.accept(Token::Dot).is_some() {
            name.push('.');
            name.push_str(self.text());
            self.position += 1;
        }
        let at = self.expect(Token::LeftBrace)?;
        let mut fields = Vec::new();
        let height = self.items(Token::RightBrace, |parser| {
            let optional = parser.accept(Token::Question).is_some();
            let name = parser.field()?.into();
            let colon = parser.expect(Token::Colon)?;
            let id = parser.builder.node(colon, ExprKind::Unspecified).id;
            let (value, height) = parser.expr()?;
            fields.push(Field {
                id,
                name,
                value,
                optional,
            });
            Ok(height)
        })?;
        let name = name.into();
        Ok((self.builder.node(at, ExprKind::Struct { name, fields }), height))
    }

    /// The name of a field, which may be between backquotes.
    fn field(&mut self) -> Result<&'s str, Stop> {
        let text = self.text();
        let name = match self.peek() {
            Token::Identifier => text,
            Token::EscapedIdentifier => &text[1..text.len() - 1],
            _ => return Err(self.unexpected()),
        };
        self.position += 1;
        Ok(name)
    }
}
