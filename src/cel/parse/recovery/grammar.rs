//! `CEL.g4` (cel-go v0.29) as data, and as the graph of states that ANTLR makes of it.
//!
//! The graph decides what messages say: which tokens are expected where, and how far prediction looks ahead. Left-recursive
//! rules are in the form to which ANTLR rewrites them: an operand and a loop guarded by precedences.

mod rules;

use std::sync::OnceLock;

use super::super::lexer::Token;
use rules::{Part, definition};

/// A set of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Set(u64);

impl Set {
    pub(super) const EMPTY: Self = Self(0);
    /// Stands for the end of a rule.
    pub(super) const RULE_END: Self = Self(1 << 63);

    pub(super) const fn of(token: Token) -> Self {
        Self(1 << token as u64)
    }

    pub(super) fn contains(self, token: Token) -> bool {
        self.0 & Self::of(token).0 != 0
    }

    pub(super) fn ends_rule(self) -> bool {
        self.0 & Self::RULE_END.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without_rule_end(self) -> Self {
        Self(self.0 & !Self::RULE_END.0)
    }

    /// The first of the tokens, of those that have names.
    pub(super) fn first(self) -> Option<Token> {
        NAMES
            .iter()
            .map(|(token, _)| *token)
            .find(|token| self.contains(*token))
    }

    /// The tokens as messages list them: the end of the input first.
    pub(super) fn describe(self) -> String {
        let mut names = Vec::new();
        if self.contains(Token::End) {
            names.push("<EOF>");
        }
        names.extend(
            NAMES
                .iter()
                .filter(|(token, _)| self.contains(*token))
                .map(|(_, name)| *name),
        );
        match names.as_slice() {
            [] => "{}".to_owned(),
            [name] => (*name).to_owned(),
            _ => format!("{{{}}}", names.join(", ")),
        }
    }
}

const NAMES: [(Token, &str); 35] = [
    (Token::Equals, "'=='"),
    (Token::NotEquals, "'!='"),
    (Token::In, "'in'"),
    (Token::Less, "'<'"),
    (Token::LessEquals, "'<='"),
    (Token::GreaterEquals, "'>='"),
    (Token::Greater, "'>'"),
    (Token::And, "'&&'"),
    (Token::Or, "'||'"),
    (Token::LeftBracket, "'['"),
    (Token::RightBracket, "']'"),
    (Token::LeftBrace, "'{'"),
    (Token::RightBrace, "'}'"),
    (Token::LeftParen, "'('"),
    (Token::RightParen, "')'"),
    (Token::Dot, "'.'"),
    (Token::Comma, "','"),
    (Token::Minus, "'-'"),
    (Token::Exclamation, "'!'"),
    (Token::Question, "'?'"),
    (Token::Colon, "':'"),
    (Token::Plus, "'+'"),
    (Token::Star, "'*'"),
    (Token::Slash, "'/'"),
    (Token::Percent, "'%'"),
    (Token::True, "'true'"),
    (Token::False, "'false'"),
    (Token::Null, "'null'"),
    (Token::Float, "NUM_FLOAT"),
    (Token::Int, "NUM_INT"),
    (Token::Uint, "NUM_UINT"),
    (Token::String, "STRING"),
    (Token::Bytes, "BYTES"),
    (Token::Identifier, "IDENTIFIER"),
    (Token::EscapedIdentifier, "ESC_IDENTIFIER"),
];

/// The rules of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rule {
    Start,
    Expr,
    ConditionalOr,
    ConditionalAnd,
    Relation,
    Calc,
    Unary,
    Member,
    Primary,
    ExprList,
    ListInit,
    FieldInitializerList,
    OptField,
    MapInitializerList,
    EscapeIdent,
    OptExpr,
    Literal,
}

pub(super) const RULE_COUNT: usize = 17;

const RULES: [Rule; RULE_COUNT] = [
    Rule::Start,
    Rule::Expr,
    Rule::ConditionalOr,
    Rule::ConditionalAnd,
    Rule::Relation,
    Rule::Calc,
    Rule::Unary,
    Rule::Member,
    Rule::Primary,
    Rule::ExprList,
    Rule::ListInit,
    Rule::FieldInitializerList,
    Rule::OptField,
    Rule::MapInitializerList,
    Rule::EscapeIdent,
    Rule::OptExpr,
    Rule::Literal,
];

impl Rule {
    /// Whether the rule was left-recursive.
    pub(super) fn has_precedences(self) -> bool {
        matches!(self, Self::Relation | Self::Calc | Self::Member)
    }
}

pub(super) type StateId = u16;

/// What prediction and recovery want to know of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Basic,
    /// Begins an optional or alternatives.
    BlockStart,
    /// Enters a loop that may have no rounds.
    LoopEntry,
    LoopBack,
    BlockEnd,
    RuleStop,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Edge {
    Epsilon(StateId),
    /// Out of a rule to a place behind a call of it; `whole` if it was called with the lowest precedence.
    Return {
        to: StateId,
        whole: bool,
    },
    Match(Set, StateId),
    Call {
        rule: Rule,
        precedence: u8,
        follow: StateId,
    },
    Precedence(u8, StateId),
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) kind: Kind,
    pub(super) rule: Rule,
    pub(super) edges: Vec<Edge>,
    /// For the entry of a loop, the end of the block in it.
    pub(super) block_end: Option<StateId>,
}

/// A part of a rule as the generated parser runs it, with the states that it notes on the way.
#[derive(Debug)]
pub(super) enum Item {
    Match(StateId, Set),
    Call(StateId, Rule, u8),
    Precedence(StateId, u8),
    /// Entered if the next token is in the set.
    Optional(StateId, Set, Vec<Item>),
    Alternatives(StateId, Choice, Vec<Vec<Item>>),
    Star {
        entry: StateId,
        back: StateId,
        choice: Choice,
        body: Vec<Item>,
    },
    Plus {
        entry: StateId,
        back: StateId,
        choice: Choice,
        body: Vec<Item>,
    },
}

/// How the generated parser chooses.
#[derive(Debug, Clone)]
pub(super) enum Choice {
    /// By the next token: the first set that has it.
    Next(Vec<Set>),
    /// By prediction from this state.
    Predict(StateId),
}

/// The grammar.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) states: Vec<State>,
    starts: Vec<StateId>,
    bodies: Vec<Vec<Item>>,
}

impl Grammar {
    pub(super) fn get() -> &'static Self {
        static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
        GRAMMAR.get_or_init(Builder::build)
    }

    pub(super) fn state(&self, id: StateId) -> &State {
        &self.states[usize::from(id)]
    }

    pub(super) fn start(&self, rule: Rule) -> StateId {
        self.starts[rule as usize]
    }

    pub(super) fn body(&self, rule: Rule) -> &[Item] {
        &self.bodies[rule as usize]
    }

    /// The state behind the first edge.
    pub(super) fn behind(&self, id: StateId) -> StateId {
        match self.state(id).edges.first() {
            Some(Edge::Call { rule, .. }) => self.start(*rule),
            Some(
                Edge::Epsilon(to) | Edge::Return { to, .. } | Edge::Match(_, to) | Edge::Precedence(_, to),
            ) => *to,
            None => id,
        }
    }

    /// The tokens that can come next, and whether the rule can end here.
    pub(super) fn next_tokens(&self, from: StateId) -> Set {
        let mut found = Set::EMPTY;
        self.look(from, &mut vec![false; self.states.len()], &mut found);
        found
    }

    /// No rule can be empty, so what follows a call does not matter.
    fn look(&self, at: StateId, seen: &mut [bool], found: &mut Set) {
        if std::mem::replace(&mut seen[usize::from(at)], true) {
            return;
        }
        let state = self.state(at);
        if state.kind == Kind::RuleStop {
            *found = found.with(Set::RULE_END);
            return;
        }
        for edge in &state.edges {
            match edge {
                Edge::Match(set, _) => *found = found.with(*set),
                Edge::Call { rule, .. } => self.look(self.start(*rule), seen, found),
                Edge::Epsilon(to) | Edge::Return { to, .. } | Edge::Precedence(_, to) => {
                    self.look(*to, seen, found);
                }
            }
        }
    }
}

/// Makes the graph.
struct Builder {
    states: Vec<State>,
    starts: Vec<StateId>,
    stops: Vec<StateId>,
    rule: Rule,
}

impl Builder {
    fn build() -> Grammar {
        let mut builder = Self {
            states: Vec::new(),
            starts: Vec::new(),
            stops: Vec::new(),
            rule: Rule::Start,
        };
        for rule in RULES {
            builder.rule = rule;
            let start = builder.state(Kind::Basic);
            builder.starts.push(start);
            let stop = builder.state(Kind::RuleStop);
            builder.stops.push(stop);
        }
        let mut bodies = Vec::new();
        for rule in RULES {
            builder.rule = rule;
            let first = builder.states.len() as StateId;
            let stop = builder.stops[rule as usize];
            let start = builder.starts[rule as usize];
            let (left, items) = builder.sequence(definition(rule), stop);
            builder.edge(start, Edge::Epsilon(left));
            for state in first..builder.states.len() as StateId {
                builder.states[usize::from(state)].rule = rule;
            }
            bodies.push(items);
        }
        builder.link_returns();
        let Self { states, starts, .. } = builder;
        let mut grammar = Grammar {
            states,
            starts,
            bodies: Vec::new(),
        };
        for body in &mut bodies {
            grammar.fill_choices(body);
        }
        grammar.bodies = bodies;
        grammar
    }

    fn state(&mut self, kind: Kind) -> StateId {
        self.states.push(State {
            kind,
            rule: self.rule,
            edges: Vec::new(),
            block_end: None,
        });
        (self.states.len() - 1) as StateId
    }

    fn edge(&mut self, from: StateId, edge: Edge) {
        self.states[usize::from(from)].edges.push(edge);
    }

    /// Builds parts from right to left, the last leading to `end`. The result is where they begin.
    fn sequence(&mut self, parts: Vec<Part>, end: StateId) -> (StateId, Vec<Item>) {
        let mut next = end;
        if self.states[usize::from(end)].kind != Kind::BlockEnd {
            next = self.state(Kind::Basic);
            self.edge(next, Edge::Epsilon(end));
        }
        let mut items = Vec::new();
        for part in parts.into_iter().rev() {
            let (left, item) = self.part(part, next);
            next = left;
            items.push(item);
        }
        items.reverse();
        (next, items)
    }

    fn part(&mut self, part: Part, next: StateId) -> (StateId, Item) {
        match part {
            Part::Token(set) => {
                let left = self.state(Kind::Basic);
                self.edge(left, Edge::Match(set, next));
                (left, Item::Match(left, set))
            }
            Part::Call(rule, precedence) => {
                let left = self.state(Kind::Basic);
                self.edge(
                    left,
                    Edge::Call {
                        rule,
                        precedence,
                        follow: next,
                    },
                );
                (left, Item::Call(left, rule, precedence))
            }
            Part::Precedence(precedence) => {
                let left = self.state(Kind::Basic);
                self.edge(left, Edge::Precedence(precedence, next));
                (left, Item::Precedence(left, precedence))
            }
            Part::Optional(parts) => {
                let start = self.state(Kind::BlockStart);
                let end = self.state(Kind::BlockEnd);
                self.edge(end, Edge::Epsilon(next));
                let (left, items) = self.sequence(parts, end);
                self.edge(start, Edge::Epsilon(left));
                self.edge(start, Edge::Epsilon(end));
                (start, Item::Optional(start, Set::EMPTY, items))
            }
            Part::Alternatives(predict, alternatives) => {
                let end = self.state(Kind::BlockEnd);
                self.edge(end, Edge::Epsilon(next));
                self.alternatives(predict, alternatives, end)
            }
            Part::Star(predict, alternatives) => {
                let entry = self.state(Kind::LoopEntry);
                let back = self.state(Kind::LoopBack);
                let end = self.state(Kind::BlockEnd);
                self.edge(end, Edge::Epsilon(back));
                self.edge(back, Edge::Epsilon(entry));
                let (start, block) = self.alternatives(predict, alternatives, end);
                self.edge(entry, Edge::Epsilon(start));
                self.edge(entry, Edge::Epsilon(next));
                self.states[usize::from(entry)].block_end = Some(end);
                let body = match block {
                    Item::Alternatives(_, _, mut alternatives) if alternatives.len() == 1 => {
                        alternatives.pop().unwrap_or_default()
                    }
                    block => vec![block],
                };
                let choice = if predict {
                    Choice::Predict(entry)
                } else {
                    Choice::Next(Vec::new())
                };
                (
                    entry,
                    Item::Star {
                        entry,
                        back,
                        choice,
                        body,
                    },
                )
            }
            Part::Plus(predict, parts) => {
                let entry = self.state(Kind::BlockStart);
                let back = self.state(Kind::LoopBack);
                let end = self.state(Kind::BlockEnd);
                self.edge(end, Edge::Epsilon(back));
                let (left, body) = self.sequence(parts, end);
                self.edge(entry, Edge::Epsilon(left));
                self.edge(back, Edge::Epsilon(entry));
                self.edge(back, Edge::Epsilon(next));
                let choice = if predict {
                    Choice::Predict(back)
                } else {
                    Choice::Next(Vec::new())
                };
                (
                    entry,
                    Item::Plus {
                        entry,
                        back,
                        choice,
                        body,
                    },
                )
            }
        }
    }

    fn alternatives(&mut self, predict: bool, alternatives: Vec<Vec<Part>>, end: StateId) -> (StateId, Item) {
        let start = self.state(Kind::BlockStart);
        let mut items = Vec::new();
        for parts in alternatives {
            let (left, alternative) = self.sequence(parts, end);
            self.edge(start, Edge::Epsilon(left));
            items.push(alternative);
        }
        let choice = if predict {
            Choice::Predict(start)
        } else {
            Choice::Next(Vec::new())
        };
        (start, Item::Alternatives(start, choice, items))
    }

    /// Where each rule returns to.
    fn link_returns(&mut self) {
        let mut returns = Vec::new();
        for edge in self.states.iter().flat_map(|state| &state.edges) {
            if let Edge::Call {
                rule,
                precedence,
                follow,
            } = edge
            {
                let whole = *precedence == 0 && rule.has_precedences();
                returns.push((self.stops[*rule as usize], Edge::Return { to: *follow, whole }));
            }
        }
        for (stop, edge) in returns {
            self.edge(stop, edge);
        }
    }
}

impl Grammar {
    /// The sets by which is chosen where the next token is enough.
    fn fill_choices(&self, items: &mut [Item]) {
        for item in items {
            match item {
                Item::Match(..) | Item::Call(..) | Item::Precedence(..) => {}
                Item::Optional(_, set, body) => {
                    *set = self.first_of(body);
                    self.fill_choices(body);
                }
                Item::Alternatives(_, choice, alternatives) => {
                    if let Choice::Next(sets) = choice {
                        *sets = alternatives.iter().map(|items| self.first_of(items)).collect();
                    }
                    for items in alternatives {
                        self.fill_choices(items);
                    }
                }
                Item::Star { choice, body, .. } | Item::Plus { choice, body, .. } => {
                    if let Choice::Next(sets) = choice {
                        *sets = vec![self.first_of(body)];
                    }
                    self.fill_choices(body);
                }
            }
        }
    }

    fn first_of(&self, items: &[Item]) -> Set {
        let state = match items.first() {
            Some(
                Item::Match(state, _)
                | Item::Call(state, ..)
                | Item::Precedence(state, _)
                | Item::Optional(state, ..)
                | Item::Alternatives(state, ..)
                | Item::Star { entry: state, .. }
                | Item::Plus { entry: state, .. },
            ) => *state,
            None => return Set::EMPTY,
        };
        self.next_tokens(state).without_rule_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_an_expression_begins_with() {
        let grammar = Grammar::get();
        assert_eq!(
            grammar.next_tokens(grammar.start(Rule::Expr)).describe(),
            "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, \
             IDENTIFIER}"
        );
        assert_eq!(
            grammar.next_tokens(grammar.start(Rule::EscapeIdent)).describe(),
            "{IDENTIFIER, ESC_IDENTIFIER}"
        );
    }
}
