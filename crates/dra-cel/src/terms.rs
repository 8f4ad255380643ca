//! The terms of a selector: what `&&` joins at its top, in parentheses and below names that `cel.bind` gives, too.
//!
//! They are read from the syntax tree, so that an operator in a text, a comment or an argument joins nothing.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::ast::{Ast, Comprehension, Expr, ExprKind, Literal, NodeId, operators};
use super::parse::{self, Macros};

/// The terms of an expression in the order of its text, for relaxing it.  All versions of Kubernetes read the same
/// terms, so no environment is needed. An invalid expression is one term.
#[derive(Debug)]
pub struct Terms<'t> {
    text: &'t str,
    places: Vec<Place>,
}

/// Place of a term in the text.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The term; nothing stands for the whole text.
    written: Option<Range<usize>>,
    /// The term with what joins it to the others, and the whole text if there is no other.
    cut: Option<Range<usize>>,
}

impl<'t> Terms<'t> {
    /// Of `expression`.
    pub fn of(expression: &'t str) -> Self {
        let places = match parse::parse(expression, Macros { sort_by: true }) {
            Ok(ast) => terms(&ast).into_iter().map(|term| term.place).collect(),
            Err(_) => vec![Place::default()],
        };
        Self {
            text: expression,
            places,
        }
    }

    /// Each term as it is written.
    pub fn iter(&self) -> impl Iterator<Item = &'t str> {
        self.places.iter().map(|place| place.text(self.text))
    }

    /// The expression with `other` instead of the term at `place`, every other byte kept.
    pub fn with(&self, place: usize, other: &str) -> Option<String> {
        let place = self.places.get(place)?;
        let Some(written) = place.written.clone() else {
            return Some(other.to_owned());
        };
        let (before, behind) = (self.text.get(..written.start)?, self.text.get(written.end..)?);
        Some(format!("{before}{other}{behind}"))
    }

    /// The expression without the term at `place`, every other byte kept; nothing, if there is no other term.
    pub fn without(&self, place: usize) -> Option<String> {
        let Some(place) = self.places.get(place) else {
            return Some(self.text.to_owned());
        };
        let cut = place.cut.clone()?;
        let (before, behind) = (self.text.get(..cut.start)?, self.text.get(cut.end..)?);
        Some(format!("{before}{behind}").trim().to_owned())
    }
}

impl Place {
    fn text<'t>(&self, whole: &'t str) -> &'t str {
        let written = self.written.clone();
        written.and_then(|range| whole.get(range)).unwrap_or(whole).trim()
    }
}

/// A term with the names that are given around it.
pub(super) struct Term<'e> {
    pub(super) expr: &'e Expr,
    pub(super) binds: Vec<&'e Comprehension>,
    place: Place,
}

impl Term<'_> {
    /// Returns how it is written in `expression`, with the names that are given to it alone.
    pub(super) fn text<'t>(&self, expression: &'t str) -> &'t str {
        self.place.text(expression)
    }
}

/// The drivers of the devices that a selector can match, as far as it says so by a term `device.driver == "NAME"` or
/// `device.driver in ["NAME", …]`. Nothing where no term names drivers.
pub fn drivers_wanted(expression: &str) -> Option<BTreeSet<String>> {
    let ast = parse::parse(expression, Macros { sort_by: true }).ok()?;
    let wanted = terms(&ast).into_iter().filter_map(|term| drivers_of(term.expr));
    wanted.reduce(|all, one| all.intersection(&one).cloned().collect())
}

/// A text that a selector wants an attribute to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeWanted {
    /// The domain of the attribute.
    pub domain: String,
    /// Its name without the domain.
    pub name: String,
    /// The text.
    pub value: String,
}

/// Returns what a selector wants an attribute to be, where it asks for nothing else: `device.attributes["DOMAIN"].NAME == "TEXT"`.
pub fn attribute_wanted(expression: &str) -> Option<AttributeWanted> {
    wanted(expression, text_of)
}

/// The same with an integer or a text, which is written the same.
pub fn value_wanted(expression: &str) -> Option<AttributeWanted> {
    let value_of = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(number.to_string()),
        _ => text_of(expr),
    };
    wanted(expression, value_of)
}

fn wanted(expression: &str, value_of: impl Fn(&Expr) -> Option<String>) -> Option<AttributeWanted> {
    of_only_term(expression, |term| match call(term)? {
        (operators::EQUALS, [left, right]) => {
            let (domain, name) = of_map(left, "attributes")?;
            let value = value_of(right)?;
            Some(AttributeWanted { domain, name, value })
        }
        _ => None,
    })
}

/// Returns what is read of an expression that is one term.
fn of_only_term<T>(expression: &str, read: impl FnOnce(&Expr) -> Option<T>) -> Option<T> {
    let ast = parse::parse(expression, Macros { sort_by: true }).ok()?;
    match terms(&ast).as_slice() {
        [only] => read(only.expr),
        _ => None,
    }
}

/// An amount of a capacity that a term wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountWanted {
    /// The domain of the capacity.
    pub domain: String,
    /// Its name without the domain.
    pub name: String,
    /// The least amount, as a quantity.
    pub least: String,
    /// True if more is too much.
    pub is_exact: bool,
}

/// The amount that a term wants of a capacity, where it does nothing else: `device.capacity["DOMAIN"].NAME.compareTo(quantity("LEAST")) >= 0`,
/// or `> 0`, or `.isGreaterThan(quantity("LEAST"))`, or `device.capacity["DOMAIN"].NAME == quantity("LEAST")`.
pub fn amount_wanted(term: &str) -> Option<AmountWanted> {
    of_only_term(term, amount_of)
}

fn amount_of(term: &Expr) -> Option<AmountWanted> {
    let (function, target, args) = method(term)?;
    let (capacity, least) = match (function, target, args) {
        ("isGreaterThan", Some(capacity), [least]) | (operators::EQUALS, None, [capacity, least]) => {
            (capacity, least)
        }
        (operators::GREATER | operators::GREATER_EQUALS, None, [compared, zero]) => {
            match (method(compared)?, &zero.kind) {
                (("compareTo", Some(capacity), [least]), ExprKind::Literal(Literal::Int(0))) => {
                    (capacity, least)
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    let (domain, name) = of_map(capacity, "capacity")?;
    Some(AmountWanted {
        domain,
        name,
        least: quantity_of(least)?,
        is_exact: function == operators::EQUALS,
    })
}

/// The quantity that `quantity("TEXT")` makes.
fn quantity_of(expr: &Expr) -> Option<String> {
    match call(expr)? {
        ("quantity", [text]) => text_of(text),
        _ => None,
    }
}

/// Domain and name of what the expression takes out of that map of the device.
fn of_map(expr: &Expr, map: &str) -> Option<(String, String)> {
    let (domain, name) = match &expr.kind {
        ExprKind::Select {
            operand,
            field,
            test_only: false,
        } => (&**operand, field.to_string()),
        _ => {
            let (domain, name) = indexed(expr)?;
            (domain, text_of(name)?)
        }
    };
    let (whole, domain) = indexed(domain)?;
    is_of_device(whole, map).then_some((text_of(domain)?, name))
}

/// Returns what is indexed, and by what.
fn indexed(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match call(expr)? {
        (operators::INDEX, [whole, index]) => Some((whole, index)),
        _ => None,
    }
}

/// The function, the receiver and the arguments of a call.
fn method(expr: &Expr) -> Option<(&str, Option<&Expr>, &[Expr])> {
    match &expr.kind {
        ExprKind::Call {
            function,
            target,
            args,
        } => Some((function, target.as_deref(), args)),
        _ => None,
    }
}

/// The function and the arguments of a call that is not of a method.
fn call(expr: &Expr) -> Option<(&str, &[Expr])> {
    match method(expr)? {
        (function, None, args) => Some((function, args)),
        _ => None,
    }
}

fn text_of(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => Some(text.to_string()),
        _ => None,
    }
}

/// The drivers that one term is true for.
fn drivers_of(term: &Expr) -> Option<BTreeSet<String>> {
    match call(term)? {
        (operators::EQUALS, [left, right]) if is_driver(left) => Some([text_of(right)?].into()),
        (operators::EQUALS, [left, right]) if is_driver(right) => Some([text_of(left)?].into()),
        (operators::IN, [left, right]) if is_driver(left) => match &right.kind {
            ExprKind::List { elements, .. } => elements.iter().map(text_of).collect(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether this is `device.driver`.
fn is_driver(expr: &Expr) -> bool {
    is_of_device(expr, "driver")
}

/// Returns whether this is that field of `device`.
fn is_of_device(expr: &Expr, wanted: &str) -> bool {
    let ExprKind::Select {
        operand,
        field,
        test_only: false,
    } = &expr.kind
    else {
        return false;
    };
    &**field == wanted && matches!(&operand.kind, ExprKind::Ident(name) if &**name == "device")
}

/// The terms in the order of the text.
pub(super) fn terms(ast: &Ast) -> Vec<Term<'_>> {
    let mut collector = Collector {
        written: ast.terms.iter().cloned().collect(),
        binds: Vec::new(),
        terms: Vec::new(),
    };
    collector.collect(&ast.root, Place::default());
    collector.terms
}

struct Collector<'e> {
    /// Places of the operands of each `&&`.
    written: HashMap<NodeId, Range<usize>>,
    binds: Vec<&'e Comprehension>,
    terms: Vec<Term<'e>>,
}

impl<'e> Collector<'e> {
    fn collect(&mut self, expr: &'e Expr, place: Place) {
        match &expr.kind {
            ExprKind::Comprehension(bind) if bind.is_bind() => {
                self.binds.push(bind);
                self.collect(&bind.result, place);
                self.binds.pop();
                return;
            }
            ExprKind::Call { .. } => {
                let mut operands = Vec::new();
                if self.operands(expr, &mut operands) {
                    for (at, (operand, written)) in operands.iter().enumerate() {
                        let cut = match (at.checked_sub(1), operands.get(at + 1)) {
                            (Some(before), _) => operands[before].1.end..written.end,
                            (None, Some((_, behind))) => written.start..behind.start,
                            (None, None) => written.clone(),
                        };
                        let place = Place {
                            written: Some(written.clone()),
                            cut: Some(cut),
                        };
                        self.collect(operand, place);
                    }
                    return;
                }
            }
            _ => {}
        }
        self.terms.push(Term {
            expr,
            binds: self.binds.clone(),
            place,
        });
    }

    /// The operands of one chain of `&&`, which is a balanced tree. Returns whether `expr` is such a chain.
    fn operands(&self, expr: &'e Expr, found: &mut Vec<(&'e Expr, Range<usize>)>) -> bool {
        let Some((operators::AND, args)) = call(expr) else {
            return false;
        };
        args.iter().all(|arg| match self.written.get(&arg.id) {
            Some(written) => {
                found.push((arg, written.clone()));
                true
            }
            None => self.operands(arg, found),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{DeviceInput, Environment, Features, Mode};

    /// The terms, and the text without each of them.
    fn split(expression: &str) -> Vec<(&str, Option<String>)> {
        let terms = Terms::of(expression);
        let texts = terms.iter().enumerate();
        texts.map(|(place, text)| (text, terms.without(place))).collect()
    }

    #[test]
    fn a_term_can_name_the_drivers() {
        for (expression, expected) in [
            ("device.driver == 'a'", Some(vec!["a"])),
            ("'a' == device.driver && true", Some(vec!["a"])),
            ("device.driver in ['b', 'a'] && x", Some(vec!["a", "b"])),
            (
                "device.driver in ['b', 'a'] && device.driver == 'b'",
                Some(vec!["b"]),
            ),
            ("device.driver == 'a' && device.driver == 'b'", Some(vec![])),
            ("device.driver != 'a'", None),
            ("device.driver == 'a' || true", None),
            ("device.driver.startsWith('a')", None),
            ("other.driver == 'a'", None),
            ("device.driver in names", None),
            ("device.driver == 'a", None),
        ] {
            let drivers = drivers_wanted(expression);
            let drivers = drivers
                .as_ref()
                .map(|drivers| drivers.iter().map(String::as_str).collect());
            assert_eq!(drivers, expected, "{expression}");
        }
    }

    #[test]
    fn a_selector_can_compare_one_attribute_and_nothing_else() {
        for (expression, expected) in [
            (
                "device.attributes['d'].model == 'H100-SXM5-80GB'",
                Some(("model", "H100-SXM5-80GB")),
            ),
            (
                r#"device.attributes["d"].model == "A100""#,
                Some(("model", "A100")),
            ),
            (
                "device.attributes['d']['profile'] == 'full'",
                Some(("profile", "full")),
            ),
            ("device.attributes['d'] == 'full'", None),
            ("device.attributes['d'].model != 'A100'", None),
            ("device.attributes['d'].model == 'A100' && true", None),
            ("device.attributes['d'].model == 'A100' || true", None),
            ("device.attributes['d'].model.lowerAscii() == 'a100'", None),
            ("device.attributes['d'].model == 'a' + 'b'", None),
            ("device.capacity['d'].memory == 'a'", None),
            ("device.driver == 'gpu.example.com'", None),
            ("device.attributes['d'].model == 'A100", None),
        ] {
            let wanted = attribute_wanted(expression);
            let wanted = wanted
                .as_ref()
                .map(|wanted| (wanted.name.as_str(), wanted.value.as_str()));
            assert_eq!(wanted, expected, "{expression}");
        }
    }

    #[test]
    fn a_term_can_want_an_amount() {
        for (term, expected) in [
            (
                "device.capacity['d'].memory.compareTo(quantity('24Gi')) >= 0",
                Some(("d", "memory", "24Gi")),
            ),
            (
                "device.capacity['d'].memory.compareTo(quantity('1')) > 0",
                Some(("d", "memory", "1")),
            ),
            (
                "device.capacity['d']['memory'].isGreaterThan(quantity('1Gi'))",
                Some(("d", "memory", "1Gi")),
            ),
            (
                "device.capacity['d'].memory.compareTo(quantity('24Gi')) == 0",
                None,
            ),
            (
                "device.capacity['d'].memory.compareTo(quantity('24Gi')) >= 1",
                None,
            ),
            ("device.capacity['d'].memory.isLessThan(quantity('24Gi'))", None),
            (
                "device.attributes['d'].memory.isGreaterThan(quantity('24Gi'))",
                None,
            ),
        ] {
            let wanted = amount_wanted(term);
            let wanted = wanted.as_ref().map(|wanted| {
                (
                    wanted.domain.as_str(),
                    wanted.name.as_str(),
                    wanted.least.as_str(),
                )
            });
            assert_eq!(wanted, expected, "{term}");
        }
    }

    #[test]
    fn terms_are_what_and_joins_at_the_top() {
        for (expression, expected) in [
            ("a", vec![("a", None)]),
            (" a // why && not", vec![("a // why && not", None)]),
            ("a && b", vec![("a", Some("b")), ("b", Some("a"))]),
            ("a&&b", vec![("a", Some("b")), ("b", Some("a"))]),
            (
                "a == '&&' && (b && c) && d[\"x && y\"]",
                vec![
                    ("a == '&&'", Some("(b && c) && d[\"x && y\"]")),
                    ("b", Some("a == '&&' && (c) && d[\"x && y\"]")),
                    ("c", Some("a == '&&' && (b) && d[\"x && y\"]")),
                    ("d[\"x && y\"]", Some("a == '&&' && (b && c)")),
                ],
            ),
            ("a && b || c", vec![("a && b || c", None)]),
            (
                "a && (b || c && d)",
                vec![("a", Some("(b || c && d)")), ("(b || c && d)", Some("a"))],
            ),
            ("a ? b : c && d", vec![("a ? b : c && d", None)]),
            (
                "a.?b.orValue(false) && (c ? d && e : f)",
                vec![
                    ("a.?b.orValue(false)", Some("(c ? d && e : f)")),
                    ("(c ? d && e : f)", Some("a.?b.orValue(false)")),
                ],
            ),
            (
                "a == r'\\' && b == '\\'' && c",
                vec![
                    ("a == r'\\'", Some("b == '\\'' && c")),
                    ("b == '\\''", Some("a == r'\\' && c")),
                    ("c", Some("a == r'\\' && b == '\\''")),
                ],
            ),
            (
                "a == '''x' && \ny''' && b",
                vec![
                    ("a == '''x' && \ny'''", Some("b")),
                    ("b", Some("a == '''x' && \ny'''")),
                ],
            ),
            (
                "// all of\na // first && foremost\n && b // && last",
                vec![
                    ("a", Some("// all of\nb // && last")),
                    ("b", Some("// all of\na // && last")),
                ],
            ),
            (
                "'ä && ö' == a && // ü\n\tb\n&& c",
                vec![
                    ("'ä && ö' == a", Some("b\n&& c")),
                    ("b", Some("'ä && ö' == a\n&& c")),
                    ("c", Some("'ä && ö' == a && // ü\n\tb")),
                ],
            ),
            (
                "[1].all(x, x > 0 && x < 2) && !(a && b)",
                vec![
                    ("[1].all(x, x > 0 && x < 2)", Some("!(a && b)")),
                    ("!(a && b)", Some("[1].all(x, x > 0 && x < 2)")),
                ],
            ),
            (
                "cel.bind(x, a && b, x && c) && d",
                vec![
                    ("x", Some("cel.bind(x, a && b, c) && d")),
                    ("c", Some("cel.bind(x, a && b, x) && d")),
                    ("d", Some("cel.bind(x, a && b, x && c)")),
                ],
            ),
            (
                "cel.bind(x, a, !x) && d",
                vec![
                    ("cel.bind(x, a, !x)", Some("d")),
                    ("d", Some("cel.bind(x, a, !x)")),
                ],
            ),
            ("((a && b))", vec![("a", Some("((b))")), ("b", Some("((a))"))]),
            ("a && && b", vec![("a && && b", None)]),
            ("a && 'b", vec![("a && 'b", None)]),
            ("", vec![("", None)]),
        ] {
            let found = split(expression);
            let found: Vec<_> = found
                .iter()
                .map(|(text, rest)| (*text, rest.as_deref()))
                .collect();
            assert_eq!(found, expected, "{expression}");
        }
    }

    #[test]
    fn one_after_the_other_goes_from_the_last() {
        let mut text = "a && (b && cel.bind(x, y, x && c)) && d".to_owned();
        let mut left = Vec::new();
        loop {
            let terms = Terms::of(&text);
            let last = terms.iter().count() - 1;
            left.push(terms.iter().collect::<Vec<_>>().join("|"));
            let Some(rest) = terms.without(last) else { break };
            text = rest;
        }
        assert_eq!(
            left,
            ["a|b|x|c|d", "a|b|x|c", "a|b|cel.bind(x, y, x)", "a|(b)", "a"]
        );
    }

    /// Result of a term.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Comes {
        Yes,
        No,
        Fails,
    }

    impl Comes {
        /// False if one is, whatever the others come to.
        fn and(all: impl IntoIterator<Item = Self>) -> Self {
            all.into_iter()
                .fold(Self::Yes, |before, next| match (before, next) {
                    (Self::No, _) | (_, Self::No) => Self::No,
                    (Self::Fails, _) | (_, Self::Fails) => Self::Fails,
                    (Self::Yes, Self::Yes) => Self::Yes,
                })
        }
    }

    fn evaluate(expression: &str) -> Comes {
        let features = Features {
            consumable_capacity: true,
            list_type_attributes: true,
        };
        let program = Environment::new(37, features)
            .compile(expression, Mode::Stored)
            .unwrap_or_else(|why| panic!("{expression}: {why}"));
        match program
            .evaluate(&DeviceInput::new("d.example.com", [], [], false))
            .result
        {
            Ok(true) => Comes::Yes,
            Ok(false) => Comes::No,
            Err(_) => Comes::Fails,
        }
    }

    /// A text with the terms in it.
    type Made = (String, Vec<Comes>);

    fn leaf() -> impl Strategy<Value = Made> {
        let fails = "device.attributes['d.example.com'].none";
        prop_oneof![
            Just(("device.driver == 'd.example.com'".to_owned(), Comes::Yes)),
            Just(("'&& ü && \\' //' != device.driver".to_owned(), Comes::Yes)),
            Just(("r\"\\\" != '''&&' \n && '''".to_owned(), Comes::Yes)),
            Just(("(false || true && true)".to_owned(), Comes::Yes)),
            Just(("!(true && false)".to_owned(), Comes::Yes)),
            Just(("[true, false].exists(x, x && !false)".to_owned(), Comes::Yes)),
            Just(("false".to_owned(), Comes::No)),
            Just(("(true ? false && true : true)".to_owned(), Comes::No)),
            Just(("has(device.attributes['&& x'].a)".to_owned(), Comes::No)),
            Just((format!("{fails} == 1"), Comes::Fails)),
            Just((fails.to_owned(), Comes::Fails)),
            Just((format!("(true && {fails} || false)"), Comes::Fails)),
        ]
        .prop_map(|(text, comes)| (text, vec![comes]))
    }

    fn gap() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            4 => Just(" "),
            1 => Just(""),
            1 => Just("\n\t"),
            1 => Just(" // a && 'b\n"),
            1 => Just("\r\n// ü (\n // )\n"),
        ]
    }

    fn made() -> impl Strategy<Value = Made> {
        leaf().prop_recursive(4, 16, 4, |inner| {
            let parts = prop::collection::vec((inner, gap(), gap()), 1..4);
            let chain = parts.prop_map(|parts| {
                let text = |((text, _), before, behind): &(Made, &str, &str)| format!("{before}{text}{behind}");
                let texts: Vec<String> = parts.iter().map(text).collect();
                let comes = parts.into_iter().flat_map(|((_, comes), ..)| comes);
                (texts.join("&&"), comes.collect::<Vec<_>>())
            });
            let chain = chain.boxed();
            prop_oneof![
                3 => chain.clone(),
                2 => (chain.clone(), gap()).prop_map(|((text, comes), gap)| (format!("({text}{gap})"), comes)),
                1 => chain.prop_map(|(text, mut comes)| {
                    comes.insert(0, Comes::Yes);
                    (format!("cel.bind(x,1 + 0, x == 1 &&\n{text})"), comes)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_left_means_what_is_left((text, comes) in made()) {
            let terms = Terms::of(&text);
            prop_assert_eq!(terms.iter().count(), comes.len(), "{}", text);
            prop_assert_eq!(evaluate(&text), Comes::and(comes.iter().copied()), "{}", text);
            for place in 0..comes.len() {
                let others = comes.iter().enumerate().filter(|(other, _)| *other != place);
                let expected = Comes::and(others.map(|(_, comes)| *comes));
                match terms.without(place) {
                    Some(rest) => prop_assert_eq!(evaluate(&rest), expected, "{} without {}: {}", text, place, rest),
                    None => prop_assert_eq!(comes.len(), 1, "{}", text),
                }
            }
        }
    }
}
