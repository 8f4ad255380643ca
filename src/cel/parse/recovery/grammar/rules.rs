//! The rules of `CEL.g4`, one after the other.

use super::{Rule, Set};
use crate::cel::parse::lexer::Token;

/// A part of a rule as it is written down.
pub(super) enum Part {
    Token(Set),
    Call(Rule, u8),
    Precedence(u8),
    Optional(Vec<Part>),
    /// With prediction.
    Alternatives(bool, Vec<Vec<Part>>),
    Star(bool, Vec<Vec<Part>>),
    Plus(bool, Vec<Part>),
}

fn token(token: Token) -> Part {
    Part::Token(Set::of(token))
}

fn any(tokens: &[Token]) -> Part {
    Part::Token(
        tokens
            .iter()
            .fold(Set::EMPTY, |set, token| set.with(Set::of(*token))),
    )
}

fn call(rule: Rule) -> Part {
    Part::Call(rule, 0)
}

fn optional(parts: Vec<Part>) -> Part {
    Part::Optional(parts)
}

/// What a rule is, with left recursion rewritten.
pub(super) fn definition(rule: Rule) -> Vec<Part> {
    use Token::{
        And, Bytes, Colon, Comma, Dot, End, Equals, EscapedIdentifier, Exclamation, False, Float, Greater,
        GreaterEquals, Identifier, In, Int, LeftBrace, LeftBracket, LeftParen, Less, LessEquals, Minus,
        NotEquals, Null, Or, Percent, Plus, Question, RightBrace, RightBracket, RightParen, Slash, Star,
        String, True, Uint,
    };
    let list_of = |element: Rule| {
        vec![
            call(element),
            Part::Star(true, vec![vec![token(Comma), call(element)]]),
        ]
    };
    let entries = |key: Rule| {
        let entry = || vec![call(key), token(Colon), call(Rule::Expr)];
        let mut further = vec![token(Comma)];
        further.extend(entry());
        let mut parts = entry();
        parts.push(Part::Star(true, vec![further]));
        parts
    };
    match rule {
        Rule::Start => vec![call(Rule::Expr), token(End)],
        Rule::Expr => vec![
            call(Rule::ConditionalOr),
            optional(vec![
                token(Question),
                call(Rule::ConditionalOr),
                token(Colon),
                call(Rule::Expr),
            ]),
        ],
        Rule::ConditionalOr => vec![
            call(Rule::ConditionalAnd),
            Part::Star(false, vec![vec![token(Or), call(Rule::ConditionalAnd)]]),
        ],
        Rule::ConditionalAnd => {
            vec![
                call(Rule::Relation),
                Part::Star(false, vec![vec![token(And), call(Rule::Relation)]]),
            ]
        }
        Rule::Relation => vec![
            call(Rule::Calc),
            Part::Star(
                true,
                vec![vec![
                    Part::Precedence(1),
                    any(&[Less, LessEquals, GreaterEquals, Greater, Equals, NotEquals, In]),
                    Part::Call(Rule::Relation, 2),
                ]],
            ),
        ],
        Rule::Calc => vec![
            call(Rule::Unary),
            Part::Star(
                true,
                vec![
                    vec![
                        Part::Precedence(2),
                        any(&[Star, Slash, Percent]),
                        Part::Call(Rule::Calc, 3),
                    ],
                    vec![
                        Part::Precedence(1),
                        any(&[Plus, Minus]),
                        Part::Call(Rule::Calc, 2),
                    ],
                ],
            ),
        ],
        Rule::Unary => vec![Part::Alternatives(
            true,
            vec![
                vec![call(Rule::Member)],
                vec![Part::Plus(false, vec![token(Exclamation)]), call(Rule::Member)],
                vec![Part::Plus(true, vec![token(Minus)]), call(Rule::Member)],
            ],
        )],
        Rule::Member => vec![
            call(Rule::Primary),
            Part::Star(
                true,
                vec![
                    vec![
                        Part::Precedence(3),
                        token(Dot),
                        optional(vec![token(Question)]),
                        call(Rule::EscapeIdent),
                    ],
                    vec![
                        Part::Precedence(2),
                        token(Dot),
                        token(Identifier),
                        token(LeftParen),
                        optional(vec![call(Rule::ExprList)]),
                        token(RightParen),
                    ],
                    vec![
                        Part::Precedence(1),
                        token(LeftBracket),
                        optional(vec![token(Question)]),
                        call(Rule::Expr),
                        token(RightBracket),
                    ],
                ],
            ),
        ],
        Rule::Primary => vec![Part::Alternatives(
            true,
            vec![
                vec![optional(vec![token(Dot)]), token(Identifier)],
                vec![
                    optional(vec![token(Dot)]),
                    token(Identifier),
                    token(LeftParen),
                    optional(vec![call(Rule::ExprList)]),
                    token(RightParen),
                ],
                vec![token(LeftParen), call(Rule::Expr), token(RightParen)],
                vec![
                    token(LeftBracket),
                    optional(vec![call(Rule::ListInit)]),
                    optional(vec![token(Comma)]),
                    token(RightBracket),
                ],
                vec![
                    token(LeftBrace),
                    optional(vec![call(Rule::MapInitializerList)]),
                    optional(vec![token(Comma)]),
                    token(RightBrace),
                ],
                vec![
                    optional(vec![token(Dot)]),
                    token(Identifier),
                    Part::Star(false, vec![vec![token(Dot), token(Identifier)]]),
                    token(LeftBrace),
                    optional(vec![call(Rule::FieldInitializerList)]),
                    optional(vec![token(Comma)]),
                    token(RightBrace),
                ],
                vec![call(Rule::Literal)],
            ],
        )],
        Rule::ExprList => {
            vec![
                call(Rule::Expr),
                Part::Star(false, vec![vec![token(Comma), call(Rule::Expr)]]),
            ]
        }
        Rule::ListInit => list_of(Rule::OptExpr),
        Rule::FieldInitializerList => entries(Rule::OptField),
        Rule::OptField => vec![optional(vec![token(Question)]), call(Rule::EscapeIdent)],
        Rule::MapInitializerList => entries(Rule::OptExpr),
        Rule::EscapeIdent => {
            vec![Part::Alternatives(
                false,
                vec![vec![token(Identifier)], vec![token(EscapedIdentifier)]],
            )]
        }
        Rule::OptExpr => vec![optional(vec![token(Question)]), call(Rule::Expr)],
        Rule::Literal => vec![Part::Alternatives(
            true,
            vec![
                vec![optional(vec![token(Minus)]), token(Int)],
                vec![token(Uint)],
                vec![optional(vec![token(Minus)]), token(Float)],
                vec![token(String)],
                vec![token(Bytes)],
                vec![token(True)],
                vec![token(False)],
                vec![token(Null)],
            ],
        )],
    }
}
